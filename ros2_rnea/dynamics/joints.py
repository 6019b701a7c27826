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
a 6 x nv matrix, in the body's frame, with v_joint = S q̇.  For all types here S is constant in the
body's frame, so the acceleration has no further term (RBDA section 4.4 and table 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atan2, hypot, pi
from typing import Protocol

from ros2_rnea.dynamics.rotations import (
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_integral,
    rotation_integral_inverse,
    rotation_vector_from_quaternion,
    unit_quaternion,
)
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import Body, Tree
from ros2_rnea.spatial import (
    IDENTITY,
    Matrix,
    Motion,
    NO_TRANSFORM,
    Number,
    rotation_about,
    rotation_from_quaternion,
    Transform,
    Vector,
    ZERO,
)


class JointModel(Protocol):
    """The interface of a joint to the algorithms."""

    S: tuple[Motion, ...]

    def transform(self, q: Sequence[Number]) -> Transform:
        """Return X_joint_to_body: v_body = X_joint_to_body @ v_joint_frame."""

    def neutral(self) -> list[float]:
        """Return the position at which body and joint frame coincide."""

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        """Return the position that velocity v, held for a unit of time, leads to from q."""

    def difference(self, start: Sequence[float], end: Sequence[float]) -> list[float]:
        """Return the v with which :meth:`integrate` leads from start to end."""


class _VectorSpaceJoint:
    """A joint whose velocity is the rate of its position, number by number."""

    S: tuple[Motion, ...]

    def neutral(self) -> list[float]:
        return [0.0] * len(self.S)

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        return [position + rate for position, rate in zip(q, v)]

    def difference(self, start: Sequence[float], end: Sequence[float]) -> list[float]:
        return [there - here for here, there in zip(start, end)]


class Fixed(_VectorSpaceJoint):
    """No motion; met only where fixed joints are not lumped."""

    S: tuple[Motion, ...] = ()

    def __init__(self, body: Body) -> None:
        del body

    def transform(self, q: Sequence[Number]) -> Transform:
        return NO_TRANSFORM


class Revolute(_VectorSpaceJoint):
    """A turn by q[0] about the axis."""

    def __init__(self, body: Body) -> None:
        self._axis = body.axis
        self.S = (Motion(body.axis, ZERO),)

    def transform(self, q: Sequence[Number]) -> Transform:
        return Transform(rotation_about(self._axis, -q[0]), ZERO)


class Prismatic(_VectorSpaceJoint):
    """A slide by q[0] along the axis."""

    def __init__(self, body: Body) -> None:
        self._axis = body.axis
        self.S = (Motion(ZERO, body.axis),)

    def transform(self, q: Sequence[Number]) -> Transform:
        return Transform(IDENTITY, self._axis * q[0])


class Helical(_VectorSpaceJoint):
    """A turn by q[0] about the axis and with it a slide by the pitch times q[0] along it."""

    def __init__(self, body: Body) -> None:
        self._axis = body.axis
        self._advance = body.axis * body.pitch
        self.S = (Motion(body.axis, self._advance),)

    def transform(self, q: Sequence[Number]) -> Transform:
        return Transform(rotation_about(self._axis, -q[0]), self._advance * q[0])


class Cylindrical(_VectorSpaceJoint):
    """A turn by q[0] about the axis and a slide by q[1] along it."""

    def __init__(self, body: Body) -> None:
        self._axis = body.axis
        self.S = (Motion(body.axis, ZERO), Motion(ZERO, body.axis))

    def transform(self, q: Sequence[Number]) -> Transform:
        return Transform(rotation_about(self._axis, -q[0]), self._axis * q[1])


class Planar:
    """
    A slide in the plane normal to the axis and a turn about it.

    q = (x, y, theta): position along the plane's axes, which stay with the parent, and heading.
    v = (vx, vy, omega): the velocity in the body's axes.  The plane's axes are the joint frame's x
    and y, turned together with z by the shortest rotation that brings z to the joint's axis.
    Whole turns count, and no velocity leads elsewhere with just whole turns on the way.
    """

    def __init__(self, body: Body) -> None:
        turn = _shortest_rotation_from_z(body.axis)
        self._x, self._y = turn @ IDENTITY.rows[0], turn @ IDENTITY.rows[1]
        self._normal = body.axis
        self.S: tuple[Motion, ...] = (
            Motion(ZERO, self._x), Motion(ZERO, self._y), Motion(body.axis, ZERO))

    def transform(self, q: Sequence[Number]) -> Transform:
        x, y, theta = q
        return Transform(rotation_about(self._normal, -theta), self._x * x + self._y * y)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0]

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        x, y, theta = q
        z_axis = IDENTITY.rows[2]
        step = rotation_integral(z_axis * v[2]) @ Vector(v[0], v[1], 0.0)
        moved = rotation_about(z_axis, theta) @ step
        return [x + moved.x, y + moved.y, theta + v[2]]

    def difference(self, start: Sequence[float], end: Sequence[float]) -> list[float]:
        z_axis = IDENTITY.rows[2]
        omega = end[2] - start[2]
        moved = Vector(end[0] - start[0], end[1] - start[1], 0.0)
        step = rotation_integral_inverse(z_axis * omega) @ (
            rotation_about(z_axis, -start[2]) @ moved)
        return [step.x, step.y, omega]


class Spherical:
    """
    Free turning.

    q = (qx, qy, qz, qw): unit quaternion.  v: angular velocity in the body's axes.
    """

    S: tuple[Motion, ...] = tuple(Motion(unit, ZERO) for unit in IDENTITY.rows)

    def __init__(self, body: Body) -> None:
        del body  # an axis has no meaning here

    def transform(self, q: Sequence[Number]) -> Transform:
        return Transform.from_pose(rotation_from_quaternion(*q), ZERO)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0]

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        turn = quaternion_from_rotation_vector(Vector(*v))
        return unit_quaternion(quaternion_product(q, turn))

    def difference(self, start: Sequence[float], end: Sequence[float]) -> list[float]:
        x, y, z, w = start
        return [*rotation_vector_from_quaternion(quaternion_product([-x, -y, -z, w], end))]


class Floating:
    """
    Free motion.

    q = (x, y, z, qx, qy, qz, qw): position in the parent's axes and unit quaternion.
    v = (angular; linear) in the body's axes.
    """

    S: tuple[Motion, ...] = (
        *Spherical.S, *(Motion(ZERO, unit) for unit in IDENTITY.rows))

    def __init__(self, body: Body) -> None:
        self._turning = Spherical(body)

    def transform(self, q: Sequence[Number]) -> Transform:
        position, quaternion = q[:3], q[3:]
        return Transform.from_pose(rotation_from_quaternion(*quaternion), Vector(*position))

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, *self._turning.neutral()]

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        turn, slide = Vector(*v[:3]), Vector(*v[3:])
        moved = rotation_from_quaternion(*q[3:]) @ (rotation_integral(turn) @ slide)
        return [*(Vector(*q[:3]) + moved), *self._turning.integrate(q[3:], v[:3])]

    def difference(self, start: Sequence[float], end: Sequence[float]) -> list[float]:
        turn = Vector(*self._turning.difference(start[3:], end[3:]))
        moved = rotation_from_quaternion(*start[3:]).transpose_times(
            Vector(*end[:3]) - Vector(*start[:3]))
        return [*turn, *(rotation_integral_inverse(turn) @ moved)]


MODELS: dict[JointType, Callable[[Body], JointModel]] = {
    JointType.FIXED: Fixed,
    JointType.REVOLUTE: Revolute,
    JointType.CONTINUOUS: Revolute,
    JointType.PRISMATIC: Prismatic,
    JointType.HELICAL: Helical,
    JointType.CYLINDRICAL: Cylindrical,
    JointType.PLANAR: Planar,
    JointType.SPHERICAL: Spherical,
    JointType.FLOATING: Floating,
}


def joint_models(tree: Tree) -> tuple[JointModel, ...]:
    """Return the model of each body's joint, in the order of the bodies."""
    return tuple(MODELS[body.type](body) for body in tree.bodies)


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
