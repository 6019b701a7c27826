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
Spatial (6-D) algebra in the order [angular; linear], over numbers of any kind.

A *number* here is anything with ``+ - * /``, unary minus, and a sine, cosine and square root (from
``math`` for floats, otherwise NumPy's, which calls the object's own ``sin()``): a float, a NumPy
column with one value for each row of a batch, or a node of an expression graph.

Every type is a small value with no hidden state.  Notation and formulas are Featherstone's,
*Rigid Body Dynamics Algorithms* (2008), chapter 2 and appendix A; the inertia of a rigid body is
kept as (m, h, I) and a coordinate transform as (E, r), which costs less than 6x6 matrices and has
the same content.
"""

from __future__ import annotations

from collections.abc import Iterator
import math
from typing import Any, overload

import numpy as np

Number = Any
"""A float, a NumPy array (one value a row) or a node of an expression graph."""


def sin(angle: Number) -> Number:
    """Return the sine of an angle [rad] of any kind of number; NaN where it is not finite."""
    if isinstance(angle, float):
        return math.sin(angle) if math.isfinite(angle) else math.nan
    return np.sin(angle)


def cos(angle: Number) -> Number:
    """Return the cosine of an angle [rad] of any kind of number; NaN where it is not finite."""
    if isinstance(angle, float):
        return math.cos(angle) if math.isfinite(angle) else math.nan
    return np.cos(angle)


def sqrt(number: Number) -> Number:
    """Return the square root of any kind of number; NaN where it is negative."""
    if isinstance(number, float):
        return math.sqrt(number) if number >= 0.0 else math.nan
    return np.sqrt(number)


def quotient(number: Number, divisor: Number) -> Number:
    """Return number / divisor; NaN where a float is divided by zero."""
    if isinstance(divisor, float) and divisor == 0.0:
        return math.nan
    return number / divisor


class Vector:
    """Three numbers: coordinates of a 3-D vector."""

    __slots__ = ('x', 'y', 'z')

    def __init__(self, x: Number, y: Number, z: Number) -> None:
        self.x = x
        self.y = y
        self.z = z

    def __iter__(self) -> Iterator[Number]:
        return iter((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f'Vector({self.x}, {self.y}, {self.z})'

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, scale: Number) -> Vector:
        return Vector(self.x * scale, self.y * scale, self.z * scale)

    def dot(self, other: Vector) -> Number:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x)


ZERO = Vector(0.0, 0.0, 0.0)


def angle_between(one: Vector, other: Vector) -> float:
    """Return the angle between two vectors of floats, 0 to pi; 0 where one of them is zero."""
    sine = one.cross(other)
    return math.atan2(math.hypot(*sine), one.dot(other))


class Matrix:
    """A 3x3 matrix, kept as its three rows."""

    __slots__ = ('rows',)

    def __init__(self, row_x: Vector, row_y: Vector, row_z: Vector) -> None:
        self.rows = (row_x, row_y, row_z)

    def __repr__(self) -> str:
        return f'Matrix{self.rows}'

    @property
    def T(self) -> Matrix:  # noqa: N802 (the name that NumPy gave to the transpose)
        """Return the transpose."""
        a, b, c = self.rows
        return Matrix(Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z))

    @overload
    def __matmul__(self, other: Vector) -> Vector: ...

    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...

    def __matmul__(self, other: Vector | Matrix) -> Vector | Matrix:
        a, b, c = self.rows
        if isinstance(other, Vector):
            return Vector(a.dot(other), b.dot(other), c.dot(other))
        return Matrix(
            other.transpose_times(a), other.transpose_times(b), other.transpose_times(c))

    def __add__(self, other: Matrix) -> Matrix:
        (a, b, c), (x, y, z) = self.rows, other.rows
        return Matrix(a + x, b + y, c + z)

    def __sub__(self, other: Matrix) -> Matrix:
        (a, b, c), (x, y, z) = self.rows, other.rows
        return Matrix(a - x, b - y, c - z)

    def __mul__(self, scale: Number) -> Matrix:
        a, b, c = self.rows
        return Matrix(a * scale, b * scale, c * scale)

    def transpose_times(self, v: Vector) -> Vector:
        """Return the transpose of this matrix times v."""
        a, b, c = self.rows
        return Vector(
            a.x * v.x + b.x * v.y + c.x * v.z,
            a.y * v.x + b.y * v.y + c.y * v.z,
            a.z * v.x + b.z * v.y + c.z * v.z)


IDENTITY = Matrix(Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))


def skew(v: Vector) -> Matrix:
    """Return the matrix v× with (v×) u = v × u."""
    return Matrix(Vector(0.0, -v.z, v.y), Vector(v.z, 0.0, -v.x), Vector(-v.y, v.x, 0.0))


def outer(u: Vector, v: Vector) -> Matrix:
    """Return the matrix u vᵀ."""
    return Matrix(v * u.x, v * u.y, v * u.z)


def rotation_about(axis: Vector, angle: Number) -> Matrix:
    """
    Return the rotation by an angle [rad] about a unit axis: it turns vectors (Rodrigues).

    The coordinate transform E from the fixed to the turned axes is its transpose.
    """
    c = cos(angle)
    return IDENTITY * c + outer(axis, axis) * (1.0 - c) + skew(axis) * sin(angle)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Matrix:
    """Return the orientation Rz(yaw) Ry(pitch) Rx(roll) of URDF's fixed-axis angles [rad]."""
    if roll == pitch == yaw == 0.0:  # as for most links
        return IDENTITY
    x_axis, y_axis, z_axis = IDENTITY.rows
    return (rotation_about(z_axis, yaw)
            @ rotation_about(y_axis, pitch)
            @ rotation_about(x_axis, roll))


def rpy_from_rotation(rotation: Matrix) -> tuple[float, float, float]:
    """
    Return URDF's fixed-axis angles of an orientation [rad], see :func:`rotation_from_rpy`.

    The yaw is that of what is left after the roll: the three are exact also where the pitch is a
    right angle, and both turn about the same axis.
    """
    x, y, z = rotation.rows
    roll = math.atan2(z.y, z.z)
    c, s = math.cos(roll), math.sin(roll)
    return (roll, math.atan2(-z.x, math.hypot(z.y, z.z)),
            math.atan2(s * x.z - c * x.y, c * y.y - s * y.z))


def rotation_from_quaternion(x: Number, y: Number, z: Number, w: Number) -> Matrix:
    """Return the orientation that a quaternion (x, y, z, w) of any length but zero stands for."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return Matrix(
        Vector(1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        Vector(s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        Vector(s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)))


class Motion:
    """A spatial motion vector (velocity or acceleration): [angular; linear]."""

    __slots__ = ('angular', 'linear')

    def __init__(self, angular: Vector, linear: Vector) -> None:
        self.angular = angular
        self.linear = linear

    def __repr__(self) -> str:
        return f'Motion({self.angular}, {self.linear})'

    def __iter__(self) -> Iterator[Number]:
        return iter((*self.angular, *self.linear))

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __mul__(self, scale: Number) -> Motion:
        return Motion(self.angular * scale, self.linear * scale)

    def dot(self, force: Force) -> Number:
        """Return the power that a force delivers along this motion."""
        return self.angular.dot(force.moment) + self.linear.dot(force.force)

    def cross(self, other: Motion) -> Motion:
        """Return v × m: how a motion vector that moves with v changes (RBDA eq. 2.31)."""
        return Motion(
            self.angular.cross(other.angular),
            self.angular.cross(other.linear) + self.linear.cross(other.angular))

    def cross_dual(self, force: Force) -> Force:
        """Return v ×* f = −(v×)ᵀ f: how a force vector that moves with v changes (eq. 2.32)."""
        return Force(
            self.angular.cross(force.moment) + self.linear.cross(force.force),
            self.angular.cross(force.force))


class Force:
    """A spatial force vector (wrench): [moment; force]."""

    __slots__ = ('moment', 'force')

    def __init__(self, moment: Vector, force: Vector) -> None:
        self.moment = moment
        self.force = force

    def __repr__(self) -> str:
        return f'Force({self.moment}, {self.force})'

    def __iter__(self) -> Iterator[Number]:
        return iter((*self.moment, *self.force))

    def __mul__(self, scale: Number) -> Force:
        return Force(self.moment * scale, self.force * scale)

    def __add__(self, other: Force) -> Force:
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        return Force(self.moment - other.moment, self.force - other.force)


NO_MOTION = Motion(ZERO, ZERO)
NO_FORCE = Force(ZERO, ZERO)


class Inertia:
    """
    The spatial inertia of a rigid body in some frame.

    ``m`` mass, ``h`` = m c first moment of mass, ``I_origin`` rotational inertia about the
    frame's *origin* (not the centre of mass), all in the frame's axes (RBDA eq. 2.63).
    """

    __slots__ = ('m', 'h', 'I_origin')

    def __init__(self, m: Number, h: Vector, I_origin: Matrix) -> None:
        self.m = m
        self.h = h
        self.I_origin = I_origin

    @classmethod
    def about_center(cls, m: Number, c: Vector, I_center: Matrix) -> Inertia:
        """Return the inertia of mass m with centre c and I_center about c (parallel axes)."""
        h = c * m
        return cls(m, h, I_center + IDENTITY * h.dot(c) - outer(h, c))

    def __repr__(self) -> str:
        return f'Inertia({self.m}, {self.h}, {self.I_origin})'

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.I_origin + other.I_origin)

    def __sub__(self, other: Inertia) -> Inertia:
        return Inertia(self.m - other.m, self.h - other.h, self.I_origin - other.I_origin)

    def __mul__(self, scale: Number) -> Inertia:
        return Inertia(self.m * scale, self.h * scale, self.I_origin * scale)

    @property
    def second_moment(self) -> Matrix:
        """Return the integral of P Pᵀ over the mass: tr(I)/2 − I, of the pseudo-inertia matrix."""
        a, b, c = self.I_origin.rows
        return IDENTITY * (0.5 * (a.x + b.y + c.z)) - self.I_origin

    def __matmul__(self, v: Motion) -> Force:
        """Return the momentum of a body that moves with v, or the force that accelerates it."""
        return Force(
            self.I_origin @ v.angular + self.h.cross(v.linear),
            v.linear * self.m - self.h.cross(v.angular))


class MotionToForce:
    """
    A 6x6 matrix from motions to forces, in 3x3 blocks: [moment; force] = [[A, B], [C, D]] v.

    Articulated-body inertias are of this kind, and so is what the Coriolis matrix is made of.
    """

    __slots__ = ('A', 'B', 'C', 'D')

    def __init__(self, A: Matrix, B: Matrix, C: Matrix, D: Matrix) -> None:
        self.A = A
        self.B = B
        self.C = C
        self.D = D

    @classmethod
    def from_inertia(cls, inertia: Inertia) -> MotionToForce:
        """Return a rigid body's inertia as a full matrix (RBDA eq. 2.63)."""
        hx = skew(inertia.h)
        return cls(inertia.I_origin, hx, hx.T, IDENTITY * inertia.m)

    @classmethod
    def outer(cls, f: Force, g: Force) -> MotionToForce:
        """Return f gᵀ, which maps v to f times the power of g along v."""
        return cls(outer(f.moment, g.moment), outer(f.moment, g.force),
                   outer(f.force, g.moment), outer(f.force, g.force))

    def __add__(self, other: MotionToForce) -> MotionToForce:
        return MotionToForce(
            self.A + other.A, self.B + other.B, self.C + other.C, self.D + other.D)

    def __sub__(self, other: MotionToForce) -> MotionToForce:
        return MotionToForce(
            self.A - other.A, self.B - other.B, self.C - other.C, self.D - other.D)

    def __mul__(self, scale: Number) -> MotionToForce:
        return MotionToForce(self.A * scale, self.B * scale, self.C * scale, self.D * scale)

    def __matmul__(self, v: Motion) -> Force:
        return Force(
            self.A @ v.angular + self.B @ v.linear, self.C @ v.angular + self.D @ v.linear)

    @property
    def T(self) -> MotionToForce:  # noqa: N802
        """Return the transpose."""
        return MotionToForce(self.A.T, self.C.T, self.B.T, self.D.T)


class Transform:
    """
    A Plücker coordinate transform X from frame A to frame B, kept as (E, r).

    ``r`` is the position of B's origin in A; ``E`` turns coordinates from A's to B's axes.
    X_a_to_b satisfies v_b = X_a_to_b @ v_a for motions.  Forces transform with the dual X*, and
    ``@`` applies that one to a Force.  :meth:`to_parent` goes back, from B to A.
    (RBDA eq. 2.24 to 2.27 and table A.2.)
    """

    __slots__ = ('E', 'r')

    def __init__(self, E: Matrix, r: Vector) -> None:
        self.E = E
        self.r = r

    @classmethod
    def from_pose(cls, orientation: Matrix, position: Vector) -> Transform:
        """Return the transform into a frame with this placement (its axes as columns)."""
        return cls(orientation.T, position)

    def __repr__(self) -> str:
        return f'Transform({self.E}, {self.r})'

    @overload
    def __matmul__(self, other: Motion) -> Motion: ...

    @overload
    def __matmul__(self, other: Force) -> Force: ...

    @overload
    def __matmul__(self, other: Transform) -> Transform: ...

    def __matmul__(
            self, other: Motion | Force | Transform) -> Motion | Force | Transform:
        E, r = self.E, self.r
        if isinstance(other, Motion):
            return Motion(E @ other.angular, E @ (other.linear - r.cross(other.angular)))
        if isinstance(other, Force):
            return Force(E @ (other.moment - r.cross(other.force)), E @ other.force)
        return Transform(E @ other.E, other.r + other.E.transpose_times(r))

    @overload
    def to_parent(self, other: Motion) -> Motion: ...

    @overload
    def to_parent(self, other: Force) -> Force: ...

    @overload
    def to_parent(self, other: Inertia) -> Inertia: ...

    @overload
    def to_parent(self, other: MotionToForce) -> MotionToForce: ...

    def to_parent(
            self, other: Motion | Force | Inertia | MotionToForce,
            ) -> Motion | Force | Inertia | MotionToForce:
        """Return in A what is given in B: X⁻¹ v for a motion, Xᵀ f for a force, Xᵀ I X."""
        E, r = self.E, self.r
        if isinstance(other, Motion):
            angular = E.transpose_times(other.angular)
            return Motion(angular, E.transpose_times(other.linear) + r.cross(angular))
        if isinstance(other, Force):
            force = E.transpose_times(other.force)
            return Force(E.transpose_times(other.moment) + r.cross(force), force)
        if isinstance(other, MotionToForce):
            A, B, C, D = (E.T @ block @ E for block in (other.A, other.B, other.C, other.D))
            rx = skew(r)
            C_moved = C - D @ rx
            return MotionToForce(A - B @ rx + rx @ C_moved, B + rx @ D, C_moved, D)
        turned_h = E.transpose_times(other.h)
        h = turned_h + r * other.m
        turned_I = E.T @ other.I_origin @ E
        return Inertia(other.m, h, turned_I - skew(r) @ skew(turned_h) - skew(h) @ skew(r))

    def inverse(self) -> Transform:
        """Return the transform from B to A."""
        return Transform(self.E.T, -(self.E @ self.r))


NO_TRANSFORM = Transform(IDENTITY, ZERO)
