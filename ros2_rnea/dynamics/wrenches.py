# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""External wrenches: from the frame they are given in to the body they act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from numpy.typing import ArrayLike

from ros2_rnea.dynamics.kinematics import body_transforms, link_transform
from ros2_rnea.dynamics.linear import solve_symmetric
from ros2_rnea.model.tree import BASE, LinkFrame, Tree
from ros2_rnea.spatial import Force, NO_TRANSFORM, Number, Vector


class Frame(Enum):
    """Frames that are not a link's."""

    WORLD = 'world'


WORLD = Frame.WORLD
"""
The inertial frame.

It is the root link's frame of a robot with a fixed base; a floating base's position and
orientation are given in it.
"""


@dataclass(frozen=True, eq=False)
class Wrench:
    """
    A wrench [moment; force] that the environment applies to a link.

    :ivar value: six numbers, or shape (N, 6) for a batch [Nm, Nm, Nm, N, N, N]; the moment is
        taken about the frame's origin, all in the frame's axes.
    :ivar frame: a link's name, WORLD, or None for the frame of the link it acts on.
    """

    value: ArrayLike
    frame: str | Frame | None = None


def weight(mass: Number, center: Vector, free_fall: Vector) -> Force:
    """
    Return [c × m g; m g]: a body's weight about the origin of the frame that its centre is in.

    :param mass: m [kg].
    :param center: c, of the mass [m].
    :param free_fall: g, its acceleration in the frame's axes [m/s^2].
    """
    force = free_fall * mass
    return Force(center.cross(force), force)


def wrench_matrix_to_body(link: LinkFrame) -> list[list[Number]]:
    """
    Return the 6 × 6 matrix Xᵀ that takes a wrench at a link's frame to its body's frame.

    :return: rows; f_body = Xᵀ f_link for wrenches [moment; force].
    """
    columns = [[*link.X_body_to_link.to_parent(Force(Vector(*unit[:3]), Vector(*unit[3:])))]
               for unit in _UNIT_WRENCHES]
    return [list(row) for row in zip(*columns)]


def wrench_of_effort(
        transposed_jacobian: Sequence[Sequence[Number]], effort: Sequence[Number],
        damping: Number) -> list[Number]:
    """
    Return the wrench whose effort Jᵀ f is closest to an effort: f = (J Jᵀ + λ² 1)⁻¹ J τ.

    The least squares are damped: near a singular posture, and for a robot with fewer than six
    joints, components that the joints do not sense stay small.

    :param transposed_jacobian: Jᵀ, one row of six numbers a joint.
    :param damping: λ; components with smaller singular values are suppressed.
    :return: [moment; force], about the point and in the axes of the Jacobian.
    """
    normal = [[sum((row[i] * row[k] for row in transposed_jacobian), 0.0)
               + (damping * damping if i == k else 0.0) for k in range(6)] for i in range(6)]
    right = [sum((row[i] * number for row, number in zip(transposed_jacobian, effort)), 0.0)
             for i in range(6)]
    return solve_symmetric(normal, right)


_UNIT_WRENCHES = [[float(row == column) for row in range(6)] for column in range(6)]


def body_forces(
        tree: Tree,
        q: Sequence[Number],
        wrenches: Mapping[str, tuple[Force, str | Frame]]) -> dict[int, Force]:
    """
    Return the sum of the wrenches on each body, in the body's frame.

    A force transforms with the dual: f_body = X* f_frame, which is (X⁻¹)ᵀ f_frame.

    :param q: joint positions, nq numbers; they count where a frame is not the body's own.
    :param wrenches: by the link they act on: the force and the frame it is given in.
    """
    forces: dict[int, Force] = {}
    X_base_to_body = None
    for link, (force, frame) in wrenches.items():
        body = tree.links[link].body
        if body == BASE:
            continue  # the ground takes it
        if isinstance(frame, str) and tree.links[frame].body == body:
            in_body = tree.links[frame].X_body_to_link.to_parent(force)
        else:
            if X_base_to_body is None:
                X_base_to_body = body_transforms(tree, q)
            X_base_to_frame = (
                NO_TRANSFORM if frame is WORLD else link_transform(tree, X_base_to_body, frame))
            in_body = X_base_to_body[body] @ X_base_to_frame.to_parent(force)
        forces[body] = forces[body] + in_body if body in forces else in_body
    return forces
