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
Limits of joints that move for a recording, with margins.

Nothing is guessed: a joint without a limit of position, velocity or effort is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.arguments import Array


class JointBounds(NamedTuple):
    """
    The limits of one joint; infinite: none.

    :ivar lower: smallest position [rad or m]; upper, the largest.
    :ivar velocity: [rad/s or m/s], acceleration per s^2.
    :ivar effort: [Nm or N].
    """

    lower: float = -inf
    upper: float = inf
    velocity: float = inf
    effort: float = inf
    acceleration: float = inf


@dataclass(frozen=True)
class Margins:
    """
    The shares of the limits that stay free.

    :ivar motion: of the range of positions, half of it at each end, and of velocity and
        acceleration.
    :ivar effort: of effort; larger, because the efforts are those of a model that the recording
        shall correct.
    :raises ArgumentError: where one is not from 0 up to, but not including, 1.
    """

    motion: float = 0.1
    effort: float = 0.3

    def __post_init__(self) -> None:
        for name in ('motion', 'effort'):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ArgumentError(
                    f'the margin of {name} is {getattr(self, name)}; it needs a share of the '
                    'limit, from 0 to less than 1')


class AllowedMotion:
    """
    What joints may do: their limits less the margins.

    :param joints: their names.
    :param bounds: the limits of each.
    :raises ArgumentError: naming the joint and the limit that is missing or leaves no room.
    :ivar center: of the range of positions, shape (joints,) [rad or m]; half_range, half its
        width.
    :ivar velocity: shape (joints,) [rad/s or m/s], as for acceleration [per s^2] and effort [Nm or
        N]; effort_limit is the effort without the margin.
    """

    def __init__(
            self, joints: Sequence[str], bounds: Sequence[JointBounds], margins: Margins) -> None:
        _check(joints, bounds)
        lower, upper, velocity, effort, acceleration = np.array(bounds).T
        self.joints = tuple(joints)
        self.center = 0.5 * (lower + upper)
        self.half_range = 0.5 * (upper - lower) * (1.0 - margins.motion)
        self.velocity = velocity * (1.0 - margins.motion)
        self.acceleration = acceleration * (1.0 - margins.motion)
        self.effort = effort * (1.0 - margins.effort)
        self.effort_limit = effort

    def shares(self, motion: Array, efforts: Array) -> Array:
        """
        Return the shares of what is allowed, with the sign of the quantity.

        :param motion: positions, velocities and accelerations, shape (3, N, joints).
        :param efforts: shape (N, joints) [Nm or N].
        :return: of position (from the centre of the range), velocity, acceleration and effort,
            shape (4, N, joints).
        """
        q, qd, qdd = motion
        return np.stack((
            (q - self.center) / self.half_range, qd / self.velocity, qdd / self.acceleration,
            efforts / self.effort))


def _check(joints: Sequence[str], bounds: Sequence[JointBounds]) -> None:
    lacking = []
    for joint, limits in zip(joints, bounds):
        missing = [
            name for name in ('velocity', 'effort') if not 0.0 < getattr(limits, name) < inf]
        missing += [] if limits.upper - limits.lower < inf else ['position']
        if missing:
            lacking.append(
                f'joint {joint!r} has no limit of {" and ".join(missing)} (lower '
                f'{limits.lower:g}, upper {limits.upper:g}, velocity {limits.velocity:g}, effort '
                f'{limits.effort:g})')
    if lacking:
        raise ArgumentError(
            f'{"; ".join(lacking)}: a motion is only planned within finite positive limits; give '
            'them, or leave these joints at rest')
    for joint, limits in zip(joints, bounds):
        if not limits.lower < limits.upper:
            raise ArgumentError(
                f'joint {joint!r} may go from {limits.lower:g} to {limits.upper:g}, so it cannot '
                'move: leave it at rest')
        if not limits.acceleration > 0.0:
            raise ArgumentError(
                f'joint {joint!r} has the acceleration limit {limits.acceleration:g}; a positive '
                'one is needed')
