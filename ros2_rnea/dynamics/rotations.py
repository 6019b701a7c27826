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
Turns that take time: the exponential map of rotations and rigid motions, and its inverse.

These are for floats: near a turn by nothing they change to a series.  Formulas after Lynch and
Park, *Modern Robotics* (2017), section 3.3; quaternions are (x, y, z, w).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, sqrt

from ros2_rnea.spatial import cos, IDENTITY, Matrix, sin, skew, Vector

SMALL = 1e-3
"""Below this angle [rad] the series, cut after the angle's 4th power, is exact to rounding."""


def sines_of_turn(angle: float) -> tuple[float, float, float, float]:
    """
    Return sin a, cos a - 1, sin 2a and cos 2a - 1 of an angle a [rad].

    Where one joint turns by the angle, the change of each effort is a sum of these: a rotation
    matrix is linear in the sine and the cosine, and no effort has more than two of one joint.
    """
    return sin(angle), cos(angle) - 1.0, sin(2.0 * angle), cos(2.0 * angle) - 1.0


def quaternion_product(p: Sequence[float], q: Sequence[float]) -> list[float]:
    """Return the quaternion of the turn q, seen from what p has turned: R(p) R(q)."""
    px, py, pz, pw = p
    qx, qy, qz, qw = q
    return [
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
        pw * qw - px * qx - py * qy - pz * qz]


def unit_quaternion(quaternion: Sequence[float]) -> list[float]:
    """Return a quaternion brought to length 1, so that errors of its length do not add up."""
    length = sqrt(sum(value * value for value in quaternion))
    return [value / length for value in quaternion]


def quaternion_from_rotation_vector(turn: Vector) -> list[float]:
    """Return the unit quaternion of a turn by its length [rad] about its direction."""
    angle2 = turn.dot(turn)
    angle = sqrt(angle2)
    if angle < SMALL:
        half_sinc = 0.5 - angle2 / 48.0 + angle2 * angle2 / 3840.0
    else:
        half_sinc = sin(0.5 * angle) / angle
    return [*(turn * half_sinc), cos(0.5 * angle)]


def rotation_vector_from_quaternion(quaternion: Sequence[float]) -> Vector:
    """Return the turn, by at most pi, that a quaternion of any length but zero stands for."""
    x, y, z, w = quaternion if quaternion[3] >= 0.0 else [-value for value in quaternion]
    axis = Vector(x, y, z)
    sine = sqrt(axis.dot(axis))
    if sine < 1e-12 * w:
        return axis * (2.0 / w)
    return axis * (2.0 * atan2(sine, w) / sine)


def rotation_integral(turn: Vector) -> Matrix:
    """
    Return the mean of the rotations on the way to a turn that goes at constant speed.

    It takes a constant velocity in the body's axes to the displacement in the axes at the start.
    """
    angle2 = turn.dot(turn)
    angle = sqrt(angle2)
    if angle < SMALL:
        a = 0.5 - angle2 / 24.0 + angle2 * angle2 / 720.0
        b = 1.0 / 6.0 - angle2 / 120.0 + angle2 * angle2 / 5040.0
    else:
        a = 2.0 * (sin(0.5 * angle) / angle)**2  # (1 - cos angle) / angle^2, without its loss
        b = (angle - sin(angle)) / (angle2 * angle)
    w = skew(turn)
    return IDENTITY + w * a + (w @ w) * b


def rotation_integral_inverse(turn: Vector) -> Matrix:
    """Return the inverse of :func:`rotation_integral`; it exists below a whole turn."""
    angle2 = turn.dot(turn)
    angle = sqrt(angle2)
    if angle < SMALL:
        b = 1.0 / 12.0 + angle2 / 720.0 + angle2 * angle2 / 30240.0
    else:
        half = 0.5 * angle
        b = (1.0 - half * cos(half) / sin(half)) / angle2
    w = skew(turn)
    return IDENTITY - w * 0.5 + (w @ w) * b
