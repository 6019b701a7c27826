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
"""How a link moves: its Jacobian, and its velocity and acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ros2_rnea.dynamics.joints import joint_models, joint_position
from ros2_rnea.dynamics.kinematics import (
    body_accelerations,
    body_transforms,
    body_velocities,
    link_rotation,
    link_transform,
    path_to_base,
)
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Matrix, Motion, NO_MOTION, Number, Vector


class LinkMotion(NamedTuple):
    """
    How a link moves, in its own frame.

    :ivar velocity: [angular; linear], the linear part that of the link's origin.
    :ivar acceleration: the spatial one [angular; linear].  Its linear part is the rate of the
        link's velocity at a point fixed in space that the origin passes, not at the origin itself.
    :ivar linear_acceleration: a, of the link's origin itself [m/s^2]; an accelerometer there
        measures a − g.
    """

    velocity: Motion
    acceleration: Motion
    linear_acceleration: Vector


def link_motion(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        qdd: Sequence[Number],
        link: str) -> LinkMotion:
    """
    Return a link's physical motion; with q̈ = 0 its acceleration is J̇ q̇.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :param qdd: joint accelerations, nv numbers.
    """
    moving = body_velocities(tree, q, qd)
    frame = tree.links[link]
    v = frame.X_body_to_link @ moving.v[frame.body]
    a = frame.X_body_to_link @ body_accelerations(tree, moving, qdd)[frame.body]
    return LinkMotion(v, a, a.linear + v.angular.cross(v.linear))


def free_fall_felt(orientation: Matrix, acceleration: Vector) -> Vector:
    """
    Return g − a in the world's axes: what pulls at a link as gravity does where it rests.

    :param orientation: R with v_world = R v_link.
    :param acceleration: as an accelerometer on the link reads it, R⁻¹ (a − g).
    """
    return -(orientation @ acceleration)


def link_jacobian(tree: Tree, q: Sequence[Number], link: str) -> list[Motion]:
    """
    Return the columns of J with v = J q̇, the link's spatial velocity in its own frame.

    :param q: joint positions, nq numbers [rad or m].
    :return: nv columns [angular; linear].
    """
    joints = joint_models(tree)
    frame = tree.links[link]
    columns = [NO_MOTION] * tree.nv
    X = frame.X_body_to_link  # from the body at hand to the link
    for i in path_to_base(tree, frame.body):
        body = tree.bodies[i]
        for k, S in enumerate(joints[i].S, start=body.v_index):
            columns[k] = columns[k] + (X @ S) * body.multiplier
        X = X @ joints[i].transform(joint_position(body, q)) @ body.X_tree
    return columns


def world_jacobian(tree: Tree, q: Sequence[Number], link: str) -> list[Motion]:
    """
    Return the same columns in the world's frame, the linear part being that of its origin.

    Arguments are those of :func:`link_jacobian`.
    """
    X_base_to_link = link_transform(tree, body_transforms(tree, q), link)
    return [X_base_to_link.to_parent(column) for column in link_jacobian(tree, q, link)]


def jacobian_in_axes(
        tree: Tree, q: Sequence[Number], link: str, axes: str) -> list[Motion]:
    """
    Return the same columns about the link's origin, but in the axes of another link.

    Arguments are those of :func:`link_jacobian`.

    :param axes: the link in whose axes the result is; the root link for those of the world.
    """
    R = link_rotation(tree, q, axes).T @ link_rotation(tree, q, link)
    return [Motion(R @ column.angular, R @ column.linear)
            for column in link_jacobian(tree, q, link)]
