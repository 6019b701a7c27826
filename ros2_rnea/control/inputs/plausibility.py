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
"""Whether joints can be where a message says that they are, and as fast as it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, pi
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.arrays import any_set, Indices
from ros2_rnea.control.inputs.joint_arrays import same_names, without_turns
from ros2_rnea.model.description import JointLimits

SHORTEST_ELAPSED = 0.01
"""Elapsed time that a motion may always use [s], because messages arrive in bursts."""

SHORTEST_PERIOD = 0.001
"""Shortest time that the speed of a jump is computed with [s]."""

TRAVELS_PER_SECOND = 10.0
"""Speed of a joint without a velocity limit, in multiples of its travel [1/s]."""

SLOWEST = 2.0
"""Speed that each joint may have [rad/s or m/s]; a hand or noise exceeds the limits of some."""

FAR_SHARE, FAR_AT_LEAST = 0.5, 0.5
"""A position is far outside a range beyond this share of it, and this distance [rad or m]."""

AGREEING = 3
"""Number of implausible positions in succession that are believed if they agree."""

MEMORY = 0.5
"""Time for which a joint that was believed to exceed its speed limit may do so again [s]."""


class Reading(NamedTuple):
    """
    What a message says of some joints, compared with what was accepted last.

    :ivar joints: indices of the joints in the order of all arrays here.
    :ivar positions: [rad or m].
    :ivar velocities: [rad/s or m/s]; 0 where none is measured.
    :ivar former: positions that were accepted last; NaN: none.
    :ivar elapsed: time since then [s]; infinite where it is not known.
    """

    joints: Indices
    positions: np.ndarray
    velocities: np.ndarray
    former: np.ndarray
    elapsed: np.ndarray


@dataclass
class PlausibilityMemory:
    """
    The implausible positions that came last, by joint; arrays have shape (joints,).

    :ivar names: of the joints, in the order of the arrays.
    :ivar suspects: shape (3, joints): where the joint is said to be [rad or m], when that was
        received [s], and how fast it moves there [rad/s or m/s].
    :ivar jumped_at: when the joint has moved faster than it should [s]; −inf: never.
    :ivar agreeing: how many positions in succession have agreed.
    :ivar has_believed: see :class:`Plausibility`.
    """

    names: tuple[str, ...]
    suspects: np.ndarray
    jumped_at: np.ndarray
    agreeing: np.ndarray
    has_believed: bool = False

    @classmethod
    def of(cls, names: Sequence[str]) -> PlausibilityMemory:
        """Return that of joints of which no implausible position has come."""
        n = len(names)
        return cls(tuple(names), np.zeros((3, n)), np.full(n, -inf), np.zeros(n, dtype=int))

    def for_joints(self, names: Sequence[str]) -> PlausibilityMemory:
        """Return a copy for other joints; of those that are not known here, nothing has come."""
        new = PlausibilityMemory.of(names)
        here, there = same_names(self.names, new.names)
        new.suspects[:, there] = self.suspects[:, here]
        new.jumped_at[there] = self.jumped_at[here]
        new.agreeing[there] = self.agreeing[here]
        new.has_believed = self.has_believed
        return new


class PlausibleMotion(NamedTuple):
    """
    How joints can move; arrays of shape (joints,).

    :ivar limits: of each joint.
    :ivar turn: a whole turn, infinite where there is none [rad].
    :ivar speeds: velocity limits, or what stands for them [rad/s or m/s].
    :ivar lowest: lower ends of the ranges within which a position may be true [rad or m].
    :ivar highest: upper ends of these ranges [rad or m].
    """

    limits: tuple[JointLimits, ...]
    turn: np.ndarray
    speeds: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray

    @classmethod
    def of(cls, limits: Sequence[JointLimits], continuous: Sequence[bool]) -> PlausibleMotion:
        """
        Return that of joints.

        :param limits: of each joint.
        :param continuous: true for joints that turn without end; whole turns are no motion.
        """
        both = [*zip(limits, continuous, strict=True)]
        ranges = np.array([_widest(one, wraps) for one, wraps in both]).reshape(-1, 2).T
        return cls(
            tuple(limits), np.where(np.array(continuous, dtype=bool), 2.0 * pi, inf),
            np.array([_speed(one, wraps) for one, wraps in both]), *ranges.copy())


class Plausibility:
    """
    Compares positions and velocities with the last accepted ones and with limits of the joints.

    An encoder or a bus that is disturbed reports positions where the joint is not.  A position is
    implausible if the joint would have moved faster than ``speed_factor`` times its velocity limit
    since the last accepted one, and faster than :data:`SLOWEST`, or if it is far outside its range
    and the last one was not.

    Implausible positions are believed where :data:`AGREEING` in succession agree with each other:
    each is reachable from the one before, or from where that one would have moved at its speed.
    In the first case it is the last accepted one that was wrong, or the joint was moved while
    nothing was measured; in the second the joint really is faster than its limit, as after a
    collision or in a hand.  A position far outside is never believed.

    A velocity above the same speed is accepted only where the positions change at that speed.

    :param names: of the joints, in the order of all arrays.
    :param motion: how they can move.
    :param memory: of the same joints; None: no implausible position has come.
    :raises ValueError: where the memory is that of other joints.
    :ivar has_believed: whether implausible positions were believed that do not continue a motion
        that is believed already; the reader resets it.
    """

    def __init__(
            self, names: Sequence[str], motion: PlausibleMotion,
            memory: PlausibilityMemory | None = None) -> None:
        self._names = tuple(names)
        self.memory = memory or PlausibilityMemory.of(self._names)
        if self.memory.names != self._names:
            raise ValueError(f'the memory is that of {self.memory.names}')
        self._limits, self._turn, self._speeds, self._lowest, self._highest = motion
        self._suspect, self._suspect_at, self._suspect_speed = self.memory.suspects
        self._jumped_at, self._agreeing = self.memory.jumped_at, self.memory.agreeing
        self._has_suspects = bool(self._agreeing.any())
        self.set_speed_factor(1.0)

    @property
    def has_believed(self) -> bool:
        """Return whether implausible positions were believed since this was reset."""
        return self.memory.has_believed

    @has_believed.setter
    def has_believed(self, value: bool) -> None:
        self.memory.has_believed = value

    def set_speed_factor(self, factor: float) -> None:
        """Use another factor on the velocity limits from now on, above 0."""
        self._factor = factor
        self._allowed = np.maximum(self._speeds * factor, SLOWEST)
        self._time_per_distance = 1.0 / self._allowed

    def is_small(
            self, joints: Indices, positions: np.ndarray, velocities: np.ndarray,
            former: np.ndarray) -> bool:
        """
        Return whether a motion needs no more time than may always be used, at allowed speeds.

        Then it is accepted.  Nearly all motions between two messages are so small, and the test
        needs few operations.  Parameters are those of :class:`Reading`.
        """
        if self._has_suspects:
            return False
        time_per_distance = self._time_per_distance[joints]
        needed = (positions - former) * time_per_distance
        if not needed.dot(needed) <= SHORTEST_ELAPSED * SHORTEST_ELAPSED:
            return False
        share = velocities * time_per_distance
        return bool(share.dot(share) <= 1.0)

    def refused(self, reading: Reading, needed: int, now: float) -> np.ndarray:
        """
        Return which joints are not believed, and remember them.

        :param needed: number of the first joints without each of which nothing is accepted.
        :param now: time of reception [s].
        """
        joints, positions, velocities, former, elapsed = reading
        allowed = self._allowed[joints]
        outside = self._is_outside(positions, joints) & ~self._is_outside(former, joints)
        distance = self._distance(joints, positions, former)
        with np.errstate(invalid='ignore'):  # of infinite speeds and times
            jumps = np.abs(distance) > allowed * np.maximum(elapsed, SHORTEST_ELAPSED)
            unlike = ~(np.abs(velocities * elapsed - distance) < allowed * elapsed)
        too_fast = (np.abs(velocities) > allowed) & unlike
        agreeing = self._count_agreeing(joints, positions, distance, elapsed, jumps, now)
        refused = outside | too_fast | (jumps & (agreeing < AGREEING))
        if any_set(refused[:needed]):  # nothing is accepted, so nothing is believed now
            agreeing = np.minimum(agreeing, AGREEING - 1)
        else:
            self.has_believed = self.has_believed or any_set(jumps & (agreeing == AGREEING))
        self._agreeing[joints] = agreeing
        self._has_suspects = bool(self._agreeing.any())
        return refused

    def explain(self, reading: Reading, at: int) -> str:
        """Return why a joint is not believed, by its place in the reading."""
        joint = int(np.arange(len(self._names))[reading.joints][at])
        position, velocity = reading.positions[at], reading.velocities[at]
        name, elapsed = self._names[joint], reading.elapsed[at]
        if self._is_outside(reading.positions, reading.joints)[at]:
            return (
                f'joint {name!r} is at {position:g}, far outside its limits; it needs a position '
                f'from {self._lowest[joint]:g} to {self._highest[joint]:g}')
        distance = self._distance(reading.joints, reading.positions, reading.former)[at]
        counted = max(elapsed, SHORTEST_ELAPSED)
        explained = self._allowed[joint] * counted
        if abs(distance) > explained:
            return (
                f'joint {name!r} is at {position:g}, {distance:+g} from where it was {elapsed:.4f}'
                f' s before; {self._allowance(joint)}, for {counted:.4f} s, explains '
                f'{explained:g}.  {AGREEING} messages that agree are believed.  If the joint is '
                'so fast, correct its velocity limit, or increase plausible_speed_factor')
        return (
            f'joint {name!r} has velocity {velocity:g}, but its position has changed by '
            f'{distance:+g} in {elapsed:.4f} s; more than {self._allowance(joint)}, is accepted '
            'only if the positions change at that speed.  It needs the velocity in rad/s or m/s, '
            'or plausible_speed_factor: 0')

    def _allowance(self, joint: int) -> str:
        """Return the allowed speed in words."""
        speed = self._speeds[joint]
        what = f'its velocity limit {speed:g}'
        if speed != self._limits[joint].velocity:
            what = (f'{TRAVELS_PER_SECOND:g}/s times its travel (it has no velocity limit), '
                    f'{speed:g}')
        least = f' (at least {SLOWEST:g})' if speed * self._factor < SLOWEST else ''
        return f'plausible_speed_factor {self._factor:g} times {what}{least}'

    def _is_outside(self, positions: np.ndarray, joints: Indices) -> np.ndarray:
        return (positions < self._lowest[joints]) | (positions > self._highest[joints])

    def _distance(self, joints: Indices, new: np.ndarray, last: np.ndarray) -> np.ndarray:
        return without_turns(new - last, self._turn[joints])

    def _count_agreeing(
            self, joints: Indices, positions: np.ndarray, distance: np.ndarray,
            elapsed: np.ndarray, jumps: np.ndarray, now: float) -> np.ndarray:
        """
        Store where joints are that jump, and return how many positions in succession agree.

        A motion that is believed may be slow for a while, since it varies about the limit.
        """
        former, speed = self._agreeing[joints], self._suspect_speed[joints]
        since = np.maximum(now - self._suspect_at[joints], 0.0)
        step = self._distance(joints, positions, self._suspect[joints])
        reach = self._allowed[joints] * np.maximum(since, SHORTEST_ELAPSED)
        agrees = (former > 0) & (
            (np.abs(step) <= reach) | (np.abs(step - speed * since) <= reach))
        with np.errstate(divide='ignore', invalid='ignore'):
            first = distance / np.maximum(elapsed, SHORTEST_PERIOD)
            speed = np.where(agrees, np.where(since > 0.0, step / since, speed), first)
        self._suspect[joints] = positions
        self._suspect_at[joints] = now
        self._suspect_speed[joints] = speed
        self._jumped_at[joints] = np.where(jumps, now, self._jumped_at[joints])
        is_recent = np.abs(now - self._jumped_at[joints]) < MEMORY
        goes_on = agrees & (jumps | ((former >= AGREEING) & is_recent))
        return np.where(goes_on, former + 1, np.where(jumps, 1, 0))


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
