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
The effort that the joints' own friction takes.

Besides viscous friction d v and Coulomb friction f sign(v), which a description gives, a joint of
one coordinate may have what an identification finds in real gears:

- an *offset*, the same at all velocities, also at rest;
- viscous and Coulomb friction *by direction*: what one direction has more than the other;
- *breakaway friction*, which fades with speed.  Of the velocity laws in use for this Stribeck
  effect, the one here is b sign(v) / (1 + v²/(v_s² + w²)): about half is left at the Stribeck
  velocity v_s, where that is well above w (Hess and Soom, "Friction at a Lubricated Line Contact
  Operating at Oscillating Sliding Velocities", 1990; Armstrong-Hélouvry, Dupont and Canudas de
  Wit, "A Survey of Models, Analysis Tools and Compensation Methods for the Control of Machines
  with Friction", Automatica 1994).

The sign is smooth, v / sqrt(v² + w²): nothing at rest, and 0.7 at w, which is SIGN_WIDTH.  Numbers
that are zero cost nothing: the graph of a kernel does not contain their terms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ros2_rnea.dynamics.joints import joint_rate
from ros2_rnea.model.description import FRICTION_LAW
from ros2_rnea.model.tree import Body, Tree
from ros2_rnea.spatial import Number, sqrt

SIGN_WIDTH = 0.01
"""The speed [rad/s or m/s] around which Coulomb friction goes over from one sign to the other."""

TELLS_DIRECTION = 3.0
"""At this multiple of the speed that rounds off a sign, 95 % of Coulomb friction act."""

SHARP = 25.0
"""At this multiple of that speed, 99.9 % of Coulomb friction act, which a fit needs."""

AT_REST = 1e-5
"""Slower than this, a joint rests, whatever is said of it [rad/s or m/s]."""

FRICTION_NUMBERS = ('damping', 'friction', *(number.name for number in FRICTION_LAW))
"""The numbers of a joint that its friction depends on."""


def joint_friction(tree: Tree, qd: Sequence[Number]) -> list[Number]:
    """
    Return the effort that overcomes the friction of the joints.

    Coulomb friction is steep around rest.  Compensated at a measured velocity, it would drive a
    resting joint to and fro: use it with a desired velocity.

    :param qd: joint velocities, nv numbers.
    :return: nv numbers [Nm or N]; a mimicking joint's friction counts at the joint it follows.
    """
    tau: list[Number] = [0.0] * tree.nv
    for body in tree.bodies:
        for k, rate in enumerate(joint_rate(body, qd), start=body.v_index):
            tau[k] = tau[k] + _resistance(body, rate) * body.multiplier
    return tau


def friction_slope(tree: Tree, qd: Sequence[Number]) -> list[Number]:
    """
    Return how the friction of each coordinate changes with its velocity.

    Arguments are those of :func:`joint_friction`, whose derivative this is.

    :return: nv numbers [Nm s/rad or N s/m]; no joint's friction depends on another's velocity.
    """
    slopes: list[Number] = [0.0] * tree.nv
    for body in tree.bodies:
        for k, rate in enumerate(joint_rate(body, qd), start=body.v_index):
            slopes[k] = slopes[k] + _slope(body, rate) * body.multiplier**2
    return slopes


def _resistance(body: Body, rate: Number) -> Number:
    """Return the friction of a joint at a velocity of one of its coordinates."""
    resistance = rate * body.damping + body.friction_offset
    if not _depends_on_direction(body):
        return resistance
    sign = smooth_sign(rate)
    dry = body.friction
    if body.damping_positive or body.friction_positive:
        forward = 0.5 + 0.5 * sign
        resistance = resistance + forward * rate * body.damping_positive
        dry = dry + forward * body.friction_positive
    if body.damping_negative or body.friction_negative:
        backward = 0.5 - 0.5 * sign
        resistance = resistance + backward * rate * body.damping_negative
        dry = dry + backward * body.friction_negative
    if body.breakaway_friction:
        dry = dry + stribeck_share(rate, body.stribeck_velocity) * body.breakaway_friction
    return resistance + sign * dry


def _slope(body: Body, rate: Number) -> Number:
    """Return the derivative of :func:`_resistance` by the velocity."""
    slope = body.damping
    if not _depends_on_direction(body):
        return slope
    square = rate * rate + SIGN_WIDTH * SIGN_WIDTH
    root = sqrt(square)
    sign, steepness = rate / root, SIGN_WIDTH * SIGN_WIDTH / (square * root)
    dry, dry_slope = body.friction, 0.0
    if body.damping_positive or body.friction_positive:
        forward, change = 0.5 + 0.5 * sign, 0.5 * steepness
        slope = slope + (forward + rate * change) * body.damping_positive
        dry = dry + forward * body.friction_positive
        dry_slope = dry_slope + change * body.friction_positive
    if body.damping_negative or body.friction_negative:
        backward, change = 0.5 - 0.5 * sign, -0.5 * steepness
        slope = slope + (backward + rate * change) * body.damping_negative
        dry = dry + backward * body.friction_negative
        dry_slope = dry_slope + change * body.friction_negative
    if body.breakaway_friction:
        share = stribeck_share(rate, body.stribeck_velocity)
        width = _stribeck_width(body.stribeck_velocity)
        dry = dry + share * body.breakaway_friction
        dry_slope = dry_slope - 2.0 * rate * share * share / width * body.breakaway_friction
    return slope + steepness * dry + sign * dry_slope


def _depends_on_direction(body: Body) -> bool:
    """Return whether the sign of the velocity enters the friction of a joint."""
    return any(number for number in (
        body.friction, body.damping_positive, body.damping_negative, body.friction_positive,
        body.friction_negative, body.breakaway_friction))


def smooth_sign(rate: Number, width: Number = SIGN_WIDTH) -> Number:
    """Return the sign of a velocity, smooth around rest: 0.7 at the width."""
    return rate / sqrt(rate * rate + width * width)


def sign_width(slowest: float) -> float:
    """
    Return the speed at which the sign of a recorded velocity is rounded off, SIGN_WIDTH at most.

    The friction of a machine has its full value at any speed.  In a fit of a joint that is always
    slow, a sign that is rounded off at SIGN_WIDTH would make it too large.  Where samples at rest
    are among those that are said to move, nothing tells the sign, and it is SIGN_WIDTH, too.

    :param slowest: the least speed of the samples in which the joint moves [rad/s or m/s].
    """
    is_known = AT_REST < slowest < TELLS_DIRECTION * SIGN_WIDTH
    return slowest / SHARP if is_known else SIGN_WIDTH


def stribeck_share(rate: Number, stribeck_velocity: Number) -> Number:
    """Return the share of breakaway friction that is left at a velocity: 1 at rest, then less."""
    width = _stribeck_width(stribeck_velocity)
    return width / (width + rate * rate)


def presliding(direction: float, start: np.ndarray, way: np.ndarray) -> np.ndarray:
    """
    Return the share of Coulomb friction that acts after a way in one direction, from -1 to 1.

    Bearings and the teeth of gears bend before they slide (P. R. Dahl, A Solid Friction Model,
    1968).

    :param direction: in which the joint moves, -1 or 1.
    :param start: the share where it began to move in this direction.
    :param way: since then, in distances after which friction slides, 0 or more.
    """
    return direction + (start - direction) * np.exp(-way)


def _stribeck_width(stribeck_velocity: Number) -> Number:
    """Return the square of the speed at which half is left; SIGN_WIDTH keeps it above 0."""
    return stribeck_velocity * stribeck_velocity + SIGN_WIDTH * SIGN_WIDTH
