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
"""Whether joints can be where a message says that they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, pi
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import MessageError
from ros2_rnea.feedforward.arrays import any_set, Indices
from ros2_rnea.model.description import JointLimits

SHORTEST_ELAPSED = 0.01
"""Elapsed time that a motion may always use [s], because messages arrive in bursts."""

TRAVELS_PER_SECOND = 10.0
"""Speed of a joint without a velocity limit, in multiples of its travel [1/s]."""

FAR_SHARE, FAR_AT_LEAST = 0.5, 0.5
"""A position is far outside a range beyond this share of it, and this distance [rad or m]."""

AGREEING = 3
"""Number of implausible messages in succession that are believed if they agree."""


class _Suspect(NamedTuple):
    """Positions that were not believed, when they came, and how many agreed in succession."""

    positions: np.ndarray
    when: float
    agreeing: int


class Plausibility:
    """
    Compares new positions with the last accepted ones and with the ranges of the joints.

    An encoder or a bus that is disturbed reports positions where the joint is not.  A position is
    implausible if the joint would have moved faster than ``speed_factor`` times its velocity limit
    since the last accepted one, or if it is far outside its range and the last one was not.  Where
    several messages in succession agree with each other, it is the last accepted one that was
    wrong, or the joint was moved while nothing was measured; then they are believed.  A position
    far outside is never believed so.

    All arrays are of joints with the indices that :class:`.JointStates` gives to controlled ones.

    :param names: of the joints.
    :param limits: of each joint.
    :param continuous: true for joints that turn without end; whole turns are no motion.
    :ivar has_believed: whether implausible positions were believed; the reader resets it.
    """

    def __init__(
            self, names: Sequence[str], limits: Sequence[JointLimits],
            continuous: Sequence[bool]) -> None:
        self._names = tuple(names)
        self._turn = np.where(np.array(continuous, dtype=bool), 2.0 * pi, inf)
        self._speeds = np.array([
            _speed(one, wraps) for one, wraps in zip(limits, continuous, strict=True)])
        ranges = [_widest(one, wraps) for one, wraps in zip(limits, continuous, strict=True)]
        self._lowest, self._highest = np.array(ranges).reshape(-1, 2).T.copy()
        self._suspects: dict[tuple[str, ...], _Suspect] = {}
        self.has_believed = False
        self.set_speed_factor(1.0)

    def set_speed_factor(self, factor: float) -> None:
        """Use another factor on the velocity limits from now on, above 0."""
        self._allowed = self._speeds * factor
        self._time_per_distance = 1.0 / self._allowed

    def is_small(
            self, names: Sequence[str], joints: Indices, new: np.ndarray, last: np.ndarray,
            ) -> bool:
        """
        Return whether a motion needs no more time than may always be used.

        Then it is accepted.  Nearly all motions between two messages are so small, and the test
        needs few operations.  Parameters are those of :meth:`check`.
        """
        needed = (new - last) * self._time_per_distance[joints]
        if not needed.dot(needed) <= SHORTEST_ELAPSED * SHORTEST_ELAPSED:
            return False
        if self._suspects:
            self._suspects.pop(tuple(names), None)
        return True

    def check(
            self, names: Sequence[str], joints: Indices, new: np.ndarray, last: np.ndarray,
            ages: np.ndarray, now: float) -> None:
        """
        Accept positions or refuse them.

        :param names: of the whole message, by which messages of one publisher are recognized.
        :param joints: indices of the joints of the next three arrays.
        :param new: positions [rad or m].
        :param last: those that were accepted last; NaN: none.
        :param ages: time since then [s]; negative where time has jumped back.
        :param now: time of reception [s].
        :raises MessageError: naming the first joint that cannot be there.
        """
        key = tuple(names)
        elapsed = np.where(ages < 0.0, inf, ages)
        outside = self._is_outside(new, joints) & ~self._is_outside(last, joints)
        if any_set(outside):
            self._refuse(joints, outside, new, last, elapsed)
        jumps = self._are_jumps(joints, new, last, elapsed)
        if any_set(jumps):
            if self._count_agreeing(key, joints, new, now) < AGREEING:
                self._refuse(joints, jumps, new, last, elapsed)
            self.has_believed = True
        self._suspects.pop(key, None)

    def _is_outside(self, positions: np.ndarray, joints: Indices) -> np.ndarray:
        return (positions < self._lowest[joints]) | (positions > self._highest[joints])

    def _are_jumps(
            self, joints: Indices, new: np.ndarray, last: np.ndarray,
            elapsed: np.ndarray | float) -> np.ndarray:
        """Return true for joints that would have moved too fast; false where ``last`` is NaN."""
        distance = self._distance(joints, new, last)
        return np.abs(distance) > self._allowed[joints] * np.maximum(elapsed, SHORTEST_ELAPSED)

    def _distance(self, joints: Indices, new: np.ndarray, last: np.ndarray) -> np.ndarray:
        distance, turn = new - last, self._turn[joints]
        turns = np.round(distance / turn)
        return distance - np.where(turns == 0.0, 0.0, turns) * np.where(turn == inf, 0.0, turn)

    def _count_agreeing(
            self, names: tuple[str, ...], joints: Indices, new: np.ndarray, now: float) -> int:
        """Store implausible positions, and return how many in succession agree with them."""
        former, count = self._suspects.get(names), 1
        if former is not None and not any_set(self._are_jumps(
                joints, new, former.positions, max(now - former.when, 0.0))):
            count = former.agreeing + 1
        self._suspects[names] = _Suspect(new.copy(), now, count)
        return count

    def _refuse(
            self, joints: Indices, flags: np.ndarray, new: np.ndarray, last: np.ndarray,
            elapsed: np.ndarray) -> None:
        at = int(np.argmax(flags))
        joint = int(np.arange(len(self._names))[joints][at])
        where = f'joint {self._names[joint]!r} is at {new[at]:g}'
        if self._is_outside(new, joints)[at]:
            raise MessageError(
                f'{where}, far outside its limits; it needs a position from '
                f'{self._lowest[joint]:g} to {self._highest[joint]:g}')
        distance = self._distance(joints, new, last)[at]
        raise MessageError(
            f'{where}, {distance:+g} from where it was {elapsed[at]:.4f} s before; its velocity '
            f'limit explains {self._allowed[joint] * max(elapsed[at], SHORTEST_ELAPSED):g}. '
            f'{AGREEING} messages that agree are believed')


def _speed(limits: JointLimits, wraps: bool) -> float:
    """Return how fast a joint may be [rad/s or m/s]; infinite: nothing is known."""
    if 0.0 < limits.velocity < inf:
        return limits.velocity
    travel = 2.0 * pi if wraps else limits.upper - limits.lower
    return TRAVELS_PER_SECOND * travel if 0.0 < travel < inf else inf


def _widest(limits: JointLimits, wraps: bool) -> tuple[float, float]:
    """Return the lowest and the highest position that are not far outside the range."""
    travel = limits.upper - limits.lower
    if wraps or not (0.0 < travel and isfinite(travel)):
        return -inf, inf
    margin = max(FAR_SHARE * travel, FAR_AT_LEAST)
    return limits.lower - margin, limits.upper + margin
