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
"""The transition from the effort that was sent last to the wanted one, at a limited rate."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.signals import remaining_weight

LONGEST_STEP = 0.01
"""Longest cycle time that the rate limit uses [s]."""

PERIODS_OF_CREDIT = 2.0
"""Number of cycle periods that the rate limit uses at most, so that a gap allows no large step."""

FIRST_PERIOD = 0.001
"""Cycle period before one has been measured [s]."""

PERIOD_WEIGHT = 0.1
"""Weight of a cycle time in the measured cycle period, if it is as long as this period."""


SHORTEST_RISE = 0.05
"""Shortest time from zero to the effort limit of a joint [s]."""

USUAL_HIGHEST_RATE = 1000.0
"""Largest rate of an effort whose limit is not very large [Nm/s or N/s]; some arms stop beyond."""

LONGEST_RISE = 0.15
"""Longest time from zero to an effort limit, however large [s]; slower feedback oscillates."""


def effort_rate_limits(effort_limits: np.ndarray, highest: float = 0.0) -> np.ndarray:
    """
    Return how fast each effort may change, shape (joints,) [Nm/s or N/s].

    Each effort may reach its limit within :data:`SHORTEST_RISE`, so that a small joint has a lower
    rate limit than a large one.  Without a ``highest`` rate, it is also at most
    :data:`USUAL_HIGHEST_RATE`, or what reaches the limit within :data:`LONGEST_RISE` where that is
    more: with less, the feedback of computed torque oscillates after a disturbance.

    :param effort_limits: shape (joints,) [Nm or N]; 0 and infinite ones are taken for unknown.
    :param highest: upper bound for all joints [Nm/s or N/s]; 0: as above; infinite: no limit.
    """
    if highest == inf:
        return np.full(len(effort_limits), inf)
    is_known = (effort_limits > 0.0) & np.isfinite(effort_limits)
    known = np.where(is_known, effort_limits, inf)
    if not highest:
        large = np.where(is_known, effort_limits, 0.0)
        return np.minimum(
            known / SHORTEST_RISE, np.maximum(USUAL_HIGHEST_RATE, large / LONGEST_RISE))
    return np.minimum(known / SHORTEST_RISE, highest)


class _Blend(NamedTuple):
    """A difference of efforts, shape (joints,), that fades from a time on, for a duration [s]."""

    offset: np.ndarray
    since: float
    duration: float

    def rest(self, now: float) -> np.ndarray | None:
        """Return what is left of the difference at a time, shape (joints,); None: nothing."""
        weight = remaining_weight(now - self.since, self.duration)
        return weight * self.offset if weight else None


class EffortRamp:
    """
    Blend and rate limit, which start from the effort that was sent last.

    Effort controllers hold their last command until the next one, however old it is.  Therefore an
    effort after a pause starts from the last one before it, and the first one from the effort that
    :meth:`start_at` says.

    :param joints: names, in the order of the efforts.
    :param rate_limits: largest change of each effort per second, shape (joints,) or one number for
        all, above 0 [Nm/s or N/s]; infinite: no limit.
    :ivar sent: the effort that was sent last, shape (joints,).
    :ivar has_start: whether it is known from which effort to start.
    :ivar is_sending: whether the last cycle sent an effort.
    :ivar sending_since: when the first effort after the last pause or final fade was sent [s];
        infinite: with the next effort.
    """

    def __init__(self, joints: Sequence[str], rate_limits: np.ndarray | float) -> None:
        self.joints = tuple(joints)
        self.sent = np.zeros(len(self.joints))
        self.has_start = False
        self.is_sending = False
        self.sending_since = inf
        self._held: dict[str, float] = {}  # sent by earlier objects, by joint
        self._sent_at = -inf
        self._before_last = (self.sent, self._sent_at, False, inf)
        self._period = FIRST_PERIOD
        self._is_behind = False
        self._blend: _Blend | None = None
        self._asked: float | None = None  # the duration of a blend that the next effort begins
        self._asks_for_model = False  # whether that one is because of another model
        self._last_of_model: _Blend | None = None  # also after its end
        self.set_rate_limits(rate_limits)

    def set_rate_limits(self, rate_limits: np.ndarray | float) -> None:
        """Use other rate limits from now on, given as for a new object."""
        limits = np.broadcast_to(np.array(rate_limits, dtype=float), len(self.joints))
        self._seconds_per_effort = 1.0 / limits  # 0 where there is no limit
        self._rate_limits = np.where(np.isinf(limits), 0.0, limits)  # then it is not used
        self._sent_before, self._credit = self.sent, 0.0  # of the moment of the last effort
        self._effort_limits: tuple[np.ndarray, float] | None = None
        self._excess_rates: np.ndarray | None = None

    def use_effort_limits(self, effort_limits: np.ndarray, highest: float = 0.0) -> None:
        """
        Use the rate limits that follow from effort limits, see :func:`effort_rate_limits`.

        What was sent before may exceed them.  It comes down to them as fast as with a limit of its
        own size: the smaller the new limit, the longer it would otherwise be exceeded, also in a
        final fade, which would be over before.
        """
        self.set_rate_limits(effort_rate_limits(effort_limits, highest))
        self._effort_limits = effort_limits, highest
        self._note_excess()

    def _note_excess(self) -> None:
        """Determine how fast efforts that exceed their limits come down."""
        self._excess_rates = None
        if self._effort_limits is not None:
            limits, highest = self._effort_limits
            size = np.abs(self.sent)
            if (size > limits).any():
                self._excess_rates = effort_rate_limits(np.maximum(size, limits), highest)

    @property
    def has_sent(self) -> bool:
        """Return whether an effort was sent, and is still held where there is no timeout."""
        return self.has_start and self._sent_at > -inf

    @property
    def is_settled(self) -> bool:
        """Return whether the effort that was sent last is known to be the wanted one."""
        return self._blend is None and self._asked is None and not self._is_behind

    @property
    def remaining(self) -> float:
        """Return the remaining time of the blend after the last effort [s]; 0: none."""
        if self._asked is not None:
            return self._asked
        if self._blend is None or self._sent_at == -inf:
            return 0.0
        return max(self._blend.since + self._blend.duration - self._sent_at, 0.0)

    def lack_of_model(self, now: float) -> np.ndarray:
        """
        Return how much of the last change of the model is not sent yet, shape (joints,) [Nm or N].

        Blends that were started later for other reasons are not considered.  Before the next
        effort, it is infinite.
        """
        if self._asks_for_model:
            return np.full(len(self.joints), inf)
        rest = None if self._last_of_model is None else self._last_of_model.rest(now)
        return np.zeros(len(self.joints)) if rest is None else np.abs(rest)

    def adopt(self, older: EffortRamp) -> None:
        """
        Start from the efforts that an earlier object sent, for joints of the same names.

        A blend of this object, which has sent nothing, is forgotten.
        """
        sent = zip(older.joints, older.sent.tolist()) if older.has_start else ()
        self._held = {**older._held, **dict(sent)}
        self.sent = np.array([self._held.get(name, 0.0) for name in self.joints])
        self.has_start = older.has_start and self._held.keys() >= {*self.joints}
        self.is_sending, self.sending_since = older.is_sending, older.sending_since
        self._sent_at, self._period = older._sent_at, older._period
        self._sent_before, self._credit = self.sent, 0.0
        self._is_behind = older.is_sending  # until the wanted effort is known
        self._blend = self._asked = None
        self._asks_for_model = False
        self._note_excess()

    def start_at(self, effort: np.ndarray) -> None:
        """
        Start from an effort, shape (joints,), as if it had been sent.

        A joint to which an earlier object has sent an effort starts from that one.
        """
        self.sent = self._sent_before = np.array([
            self._held.get(joint, value) for joint, value in zip(self.joints, effort.tolist())])
        self.has_start = True
        self._note_excess()

    def forget(self) -> None:
        """Forget the effort that was sent last, because it is not held any more."""
        self._held = {}
        self._sent_at = -inf
        self.has_start = self.is_sending = False
        self._last_of_model = None
        self._asks_for_model = False
        self.blend(0.0)  # there is nothing from which to blend

    def pause(self) -> None:
        """Record that this cycle sends no effort; a start from which none was sent is void."""
        self.is_sending = False
        self.has_start = self.has_start and self._sent_at > -inf

    def withdraw(self) -> None:
        """Record that the effort of the last :meth:`limit_rate` was not sent after all."""
        self.sent, self._sent_at, self.is_sending, self.sending_since = self._before_last
        self._sent_before, self._credit = self.sent, 0.0
        self._is_behind = self.is_sending
        self._note_excess()

    def blend(self, duration: float, of_model: bool = False) -> None:
        """
        Start a blend from the effort that was sent last, in place of any other.

        :param duration: of the blend [s]; 0: only the rate is limited.
        :param of_model: whether the effort of the model may have changed, see
            :meth:`lack_of_model`.
        """
        self._blend = None
        self._asked = duration if duration > 0.0 else None
        self._asks_for_model = self._asks_for_model or of_model
        self._is_behind = self.is_sending  # until the wanted effort is known

    def crossfade(self, wanted: np.ndarray, now: float) -> np.ndarray:
        """Return the wanted effort plus the part of the old difference that has not faded yet."""
        blend = self._blend
        if blend is not None and now < blend.since:  # a simulated clock has jumped back
            self._asked = blend.duration
            self._asks_for_model = blend is self._last_of_model
        if self._asked is not None or self._asks_for_model:
            self._blend = blend = _Blend(self.sent - wanted, now, self._asked or 0.0)
            self._asked = None
            if self._asks_for_model:
                self._last_of_model, self._asks_for_model = blend, False
        if blend is None:
            return wanted
        rest = blend.rest(now)
        if rest is None:
            self._blend = None
            return wanted
        return wanted + rest

    def forget_ended_blend(self) -> None:
        """Forget when the last blend of another model was, because the clock has jumped."""
        self._last_of_model = self._blend if self._blend is self._last_of_model else None

    def limit_rate(self, wanted: np.ndarray, now: float) -> tuple[np.ndarray, np.ndarray | None]:
        """
        Return the effort within the rate limit, and store it as sent.

        Cycles of the same moment share what the effort may change then.  There are many of them
        where the clock is simulated and ticks slowly.

        :param wanted: shape (joints,), finite [Nm or N]; the array is kept and must not change.
        :return: the effort, and flags of the joints that the rate limit holds back; None instead
            of flags where it is no joint.
        """
        self._before_last = self.sent, self._sent_at, self.is_sending, self.sending_since
        if now != self._sent_at:
            self._credit, self._sent_before = self._credit_at(now), self.sent
        credit, before = self._credit, self._sent_before
        if not self.is_sending or now < self.sending_since:  # a simulated clock may jump back
            self.is_sending, self.sending_since = True, now
        change = wanted - before
        needed = change * self._seconds_per_effort
        late = None
        if not needed.dot(needed) <= credit * credit:  # else no joint needs more than the credit
            largest = self._largest_changes(before, change)
            late = (np.abs(needed) > credit) & (np.abs(change) > largest)
            if late.any():
                wanted = np.where(late, before + np.copysign(largest, change), wanted)
            else:
                late = None
        self._is_behind = late is not None
        self.sent = wanted
        return wanted, late

    def _largest_changes(self, before: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return how far each effort may change at this moment, shape (joints,) [Nm or N]."""
        usual = self._credit * self._rate_limits
        if self._excess_rates is None or self._effort_limits is None:
            return usual
        excess = np.abs(before) - self._effort_limits[0]
        if not (excess > 0.0).any():
            self._excess_rates = None
            return usual
        comes_down = np.minimum(self._credit * self._excess_rates, excess)
        return np.where(change * before < 0.0, np.maximum(usual, comes_down), usual)

    def _credit_at(self, now: float) -> float:
        """
        Return the time for which the rate limit allows a change at a new moment [s].

        It is the time since the last effort, but no more than two cycle periods after a gap.  Each
        cycle time counts for the measured period in proportion to itself, so that the period is
        Σdt²/Σdt: short cycle times beside a long one, as where several publishers report different
        joints, do not shorten it.
        """
        elapsed = min(max(now - self._sent_at, 0.0), LONGEST_STEP)
        self._sent_at = now
        credit = min(elapsed, PERIODS_OF_CREDIT * self._period)
        self._period += PERIOD_WEIGHT * credit / self._period * (credit - self._period)
        return credit
