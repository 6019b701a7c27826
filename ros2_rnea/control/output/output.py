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
The last stage of the cycle: what is sent of the effort that is needed.

In this order: saturation, the bounds of joints, the hand-over, the rate limit, and once more the
effort limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.arrays import all_set, any_set
from ros2_rnea.control.decision import LimitFlags
from ros2_rnea.control.output.hand_over import Blend, HandOverMemory
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.output.rate_limit import effort_rate_limits, limited
from ros2_rnea.control.output.saturation import clamp, LARGEST_EFFORT, scale
from ros2_rnea.control.settings import BeyondLimits, Settings

SMALL_CHANGE = 0.01
"""A smaller change of the model's effort, as a share of the effort limit, may be one of motion."""

RESTRAINED_FOR = 0.1
"""A joint counts as restrained for this long after it was [s]: flags do not flicker."""


class Needed(NamedTuple):
    """
    The effort that the law of a state needs; arrays of shape (joints,) [Nm or N].

    :ivar effort: all of it.
    :ivar free: the part whose rate is not limited: gravity, damping and feedback of joints that
        the node moves alone; 0 for others.
    :ivar holding: what holds the joints where they are.
    :ivar model: the part that no measured velocity changes, for a hand-over from another model.
    :ivar brakes: whether each joint is braked or guided by itself: one at its limit takes nothing
        from the others, whatever ``beyond_limits`` says.
    """

    effort: np.ndarray
    free: np.ndarray
    holding: np.ndarray
    model: np.ndarray
    brakes: bool = False


LastSent = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float, bool, float]


@dataclass
class SentMemory:
    """
    What was sent last, which an actuator without a timeout holds.

    :ivar joints: names, in the order of the arrays.
    :ivar effort: shape (joints,) [Nm or N].
    :ivar limited: the part of it whose rate is limited.
    :ivar model: the part that the model alone gives.
    :ivar holding: what held the joints where they were then.
    :ivar restrained_at: when each joint was restrained last [s].
    :ivar last_restrained_at: when any of them was [s].
    :ivar at: when it was sent [s]; −inf: nothing was sent.
    :ivar has_start: whether it is known from which effort to start.
    :ivar is_sending: whether the last cycle sent an effort.
    :ivar since: when the first effort after the last pause was sent [s]; infinite: there is none.
    :ivar is_late: whether the rate limit holds an effort back.
    :ivar alone: true for joints that the node moved alone then, shape (joints,); None: unknown.
    :ivar saturated: true for joints whose effort was saturated then; None: no joint's was.
    :ivar of_others: what was sent to joints that are not controlled any more.
    """

    joints: tuple[str, ...]
    effort: np.ndarray
    limited: np.ndarray
    model: np.ndarray
    holding: np.ndarray
    restrained_at: np.ndarray
    last_restrained_at: float = -inf
    at: float = -inf
    has_start: bool = False
    is_sending: bool = False
    since: float = inf
    is_late: bool = False
    alone: np.ndarray | None = None
    saturated: np.ndarray | None = None
    of_others: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, joints: Sequence[str]) -> SentMemory:
        """Return the memory of joints to which nothing was sent."""
        zero = np.zeros(len(joints))
        return cls(tuple(joints), zero, zero, zero, zero, np.full(len(joints), -inf))

    def for_joints(self, joints: Sequence[str]) -> SentMemory:
        """Return this memory for other joints, some of which may be new."""
        if tuple(joints) == self.joints:
            return self
        held = {**self.of_others, **dict(zip(self.joints, self.effort.tolist()))} \
            if self.has_start else self.of_others
        memory = SentMemory.of(joints)
        memory.effort = np.array([held.get(name, 0.0) for name in joints])
        memory.limited = memory.effort
        memory.has_start = self.has_start and held.keys() >= {*joints}
        memory.at, memory.since = self.at, self.since
        memory.is_sending, memory.of_others = self.is_sending, held
        return memory

    @property
    def has_sent(self) -> bool:
        """Return whether an effort was sent, and is still held where there is no timeout."""
        return self.has_start and self.at > -inf

    @property
    def last(self) -> LastSent:
        """Return what :meth:`withdraw` needs."""
        return (self.effort, self.limited, self.model, self.holding, self.at, self.is_sending,
                self.since)

    def withdraw(self, before: LastSent) -> None:
        """Note that the last effort was not sent after all; ``before`` it was :attr:`last`."""
        (self.effort, self.limited, self.model, self.holding, self.at, self.is_sending,
         self.since) = before

    def start_at(self, effort: np.ndarray) -> None:
        """Start from an effort as if it had been sent; a joint that was sent one, from that."""
        self.effort = np.array([
            self.of_others.get(name, value) for name, value in zip(self.joints, effort.tolist())])
        self.has_start = True

    def pause(self) -> None:
        """Note that this cycle sends nothing; a start from which nothing was sent is void."""
        self.is_sending, self.since, self.saturated = False, inf, None
        self.has_start = self.has_sent

    def forget(self) -> None:
        """Forget what was sent, because it is not held any more."""
        self.of_others = {}
        self.at, self.since = -inf, inf
        self.has_start = self.is_sending = False


class Output:
    """
    The limits of some joints.

    :param limits: largest efforts, shape (joints,) [Nm or N]; infinite: no limit.
    :param settings: of the rates, and of what happens beyond the limits.
    :param bounds: of positions and velocities.
    :param alone: true for joints that the node moves alone, shape (joints,).
    """

    def __init__(
            self, limits: np.ndarray, settings: Settings, bounds: JointBounds,
            alone: np.ndarray) -> None:
        self.limits = np.minimum(limits, LARGEST_EFFORT)
        self.bounds = bounds
        self._seconds_per_effort = 1.0 / effort_rate_limits(
            limits, settings.effort_rate_limit)
        self._scales = settings.beyond_limits is BeyondLimits.SCALE
        self._longest = settings.state_timeout
        self._alone = alone
        self._none = np.zeros(len(limits), dtype=bool)
        self._none.flags.writeable = False

    def saturated(self, effort: np.ndarray) -> np.ndarray:
        """Return an effort that holds, each joint's within its own limit, shape (joints,)."""
        if all_set(np.abs(effort) <= self.limits):
            return effort
        return clamp(np.nan_to_num(effort), self.limits)[0]

    def within_bounds(
            self, needed: Needed, measured: tuple[np.ndarray, np.ndarray] | None,
            sent: SentMemory, now: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return the effort within the limits of efforts and joints, and flags of both.

        :param measured: positions and velocities; None: bounds of joints are ignored.
        :return: the effort, the joints whose effort was saturated, and those restrained at a bound
            within the last :data:`RESTRAINED_FOR`; arrays of shape (joints,).
        """
        effort, saturated = needed.effort, self._none
        if not all_set(np.abs(effort) <= self.limits):
            if self._scales and not needed.brakes:
                effort, saturated = scale(effort, self.limits, self.saturated(needed.holding))
            else:
                effort, saturated = clamp(effort, self.limits)
        if measured is not None and self.bounds.may_matter(*measured):
            inside = self.bounds.restrained(effort, self.saturated(needed.holding), *measured)
            is_restrained = inside != effort
            if any_set(is_restrained):
                sent.restrained_at = np.where(is_restrained, now, sent.restrained_at)
                sent.last_restrained_at = now
            effort = inside
        if abs(now - sent.last_restrained_at) > RESTRAINED_FOR:
            return effort, saturated, self._none
        return effort, saturated, np.abs(now - sent.restrained_at) <= RESTRAINED_FOR

    def send(
            self, needed: Needed, measured: tuple[np.ndarray, np.ndarray] | None,
            sent: SentMemory, hand_over: HandOverMemory, now: float,
            blend: Blend | None, period: float,
            ) -> tuple[np.ndarray, LimitFlags | None]:
        """
        Return the effort to send now, and store it as sent.

        :param needed: finite.
        :param measured: positions and velocities; None: bounds of joints are ignored.
        :param sent: what was sent last; it is changed.
        :param hand_over: it is changed.
        :param now: on the steady clock [s].
        :param blend: the hand-over that begins now; None: none begins.
        :param period: of the cycle, which the first effort after a pause may use [s].
        :return: the effort, shape (joints,), and flags of the joints whose effort was limited;
            None: no joint's.
        """
        wanted, saturated, restrained = self.within_bounds(needed, measured, sent, now)
        free = self.saturated(needed.free)
        if blend is not None:
            duration, of_model, damps, changes_model = blend
            if of_model:
                change = sent.model - needed.model
                # Gravity is among what is free: its change comes with the hand-over alone.
                sent.limited = sent.limited + np.where(
                    self._alone, sent.holding - needed.holding, 0.0)
                if (np.abs(change) < SMALL_CHANGE * self.limits).all():
                    # A slow hand-over is not hurried by a change of something else.
                    hand_over.add(change, now, duration)
                else:
                    hand_over.begin(hand_over.rest(now) + change, now, duration, of_model=True)
            else:
                # Damping of joints that are braked acts at once.
                damping = needed.free - needed.holding if damps else 0.0
                from_here = wanted - np.where(self._alone, damping, 0.0)
                hand_over.begin(sent.effort - from_here, now, duration)
                hand_over.is_of_model = hand_over.is_active and (
                    hand_over.is_of_model or changes_model)
                sent.limited = sent.effort - free + np.where(self._alone, damping, 0.0)
        if sent.alone is not self._alone:
            if sent.alone is None or not np.array_equal(sent.alone, self._alone):
                sent.limited = sent.effort - free
            sent.alone = self._alone
        changing = wanted - free
        if hand_over.is_active:
            changing = changing + hand_over.rest(now)
        elapsed = min(max(now - sent.at, 0.0), self._longest) if sent.is_sending else period
        changing, late = limited(
            changing, sent.limited, self._seconds_per_effort, elapsed)
        is_needed = late is None and not hand_over.is_active  # else it would be rounded
        effort = wanted if is_needed else self.saturated(free + changing)
        if not sent.is_sending or now < sent.since:  # a simulated clock may jump back
            sent.is_sending, sent.since = True, now
        sent.effort, sent.limited, sent.at = effort, changing, now
        sent.model, sent.holding = needed.model, needed.holding
        sent.is_late = late is not None
        sent.saturated = None if saturated is self._none else saturated
        if late is None and saturated is self._none and restrained is self._none:
            return effort, None
        return effort, LimitFlags(
            sent.joints, saturated, restrained, self._none if late is None else late)
