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
"""
What each type of joint does: the only place that knows.

A joint model is made for one body.  It gives the transform from the joint's frame (fixed to the
parent) to the body's frame as a function of position, and the motion subspace S: the columns of
a 6 x nv matrix, in the body's frame, with v_joint = S q̇.  For all types here S is constant in
the body's frame, so that the acceleration has no further term (RBDA section 4.4 and table 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, hypot, pi
from typing import Protocol

from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import Body, Tree
from ros2_rnea.spatial import (
    IDENTITY,
    Matrix,
    Motion,
    Number,
    rotation_about,
    rotation_from_quaternion,
    Transform,
    Vector,
    ZERO,
)


class JointModel(Protocol):
    """What the algorithms ask of a joint."""

    S: tuple[Motion, ...]

    def transform(self, q: Sequence[Number]) -> Transform:
        """Return X_joint_to_body: v_body = X_joint_to_body @ v_joint_frame."""


class Revolute:
    """A turn by q[0] about the axis."""

    def __init__(self, axis: Vector) -> None:
        self._axis = axis
        self.S = (Motion(axis, ZERO),)

    def transform(self, q: Sequence[Number]) -> Transform:
        return Transform(rotation_about(self._axis, -q[0]), ZERO)


class Prismatic:
    """A slide by q[0] along the axis."""

    def __init__(self, axis: Vector) -> None:
        self._axis = axis
        self.S = (Motion(ZERO, axis),)

    def transform(self, q: Sequence[Number]) -> Transform:
        return Transform(IDENTITY, self._axis * q[0])


class Planar:
    """
    A slide in the plane normal to the axis and a turn about it.

    q = (x, y, theta): position along the plane's axes, which stay with the parent, and heading.
    v = (vx, vy, omega): the same in the body's axes.  The plane's axes are the joint frame's x
    and y, turned together with z by the shortest rotation that brings z to the joint's axis.
    """

    def __init__(self, axis: Vector) -> None:
        turn = _shortest_rotation_from_z(axis)
        self._x, self._y = turn @ IDENTITY.rows[0], turn @ IDENTITY.rows[1]
        self._normal = axis
        self.S = (Motion(ZERO, self._x), Motion(ZERO, self._y), Motion(axis, ZERO))

    def transform(self, q: Sequence[Number]) -> Transform:
        x, y, theta = q
        return Transform(rotation_about(self._normal, -theta), self._x * x + self._y * y)


class Floating:
    """
    Free motion.

    q = (x, y, z, qx, qy, qz, qw): position in the parent's axes and unit quaternion.
    v = (angular; linear) in the body's axes.
    """

    S = (
        *(Motion(unit, ZERO) for unit in IDENTITY.rows),
        *(Motion(ZERO, unit) for unit in IDENTITY.rows))

    def __init__(self, axis: Vector) -> None:
        del axis  # it has no meaning here

    def transform(self, q: Sequence[Number]) -> Transform:
        position, quaternion = q[:3], q[3:]
        return Transform.from_pose(rotation_from_quaternion(*quaternion), Vector(*position))


MODELS: dict[JointType, type] = {
    JointType.REVOLUTE: Revolute,
    JointType.CONTINUOUS: Revolute,
    JointType.PRISMATIC: Prismatic,
    JointType.PLANAR: Planar,
    JointType.FLOATING: Floating,
}


def joint_models(tree: Tree) -> tuple[JointModel, ...]:
    """Return the model of each body's joint, in the order of the bodies."""
    return tuple(MODELS[body.type](body.axis) for body in tree.bodies)


def joint_position(body: Body, q: Sequence[Number]) -> list[Number]:
    """Return a joint's own coordinates; a mimicking joint follows its leader's."""
    return [body.multiplier * value + body.offset for value in q[body.q_slice]]


def joint_rate(body: Body, qd: Sequence[Number]) -> list[Number]:
    """Return a joint's own velocities, or accelerations where those are given."""
    return [body.multiplier * value for value in qd[body.v_slice]]


def _shortest_rotation_from_z(axis: Vector) -> Matrix:
    x_axis, _, _ = IDENTITY.rows
    sine = hypot(axis.x, axis.y)
    if sine == 0.0:
        return IDENTITY if axis.z > 0.0 else rotation_about(x_axis, pi)
    return rotation_about(Vector(-axis.y / sine, axis.x / sine, 0.0), atan2(sine, axis.z))
