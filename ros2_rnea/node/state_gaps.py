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
"""Gaps in the joint states: the log reports the first one, and later how many followed."""

from __future__ import annotations

from math import inf

from ros2_rnea.control.decision import Decision, Status

QUIET_PERIOD = 10.0
"""Time after a log line about gaps in which further gaps are only counted [s]."""

LONG_GAP = 1.0
"""Duration of a gap above which it is logged in any case [s]."""


class StateGaps:
    """
    When joint states stop, and come back.

    A driver or a computer that is too slow causes gap after gap.  A line for the beginning and the
    end of each would fill the log.

    :ivar count: how many gaps there were.
    :ivar longest: how long the longest one lasted beyond ``state_timeout`` [s].
    """

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0.0
        self._before: Decision | None = None  # the last one that was logged before the gap
        self._since: float | None = None  # when the present gap began
        self._is_logged = True  # whether the present or last gap is
        self._logged_at = -inf
        self._unlogged = 0
        self._longest_unlogged = 0.0

    def note(self, decision: Decision, logged: Decision, now: float) -> None:
        """
        Note a decision.

        :param logged: the last one that was logged.
        :param now: on the steady clock [s].
        """
        if is_gap(decision):
            if self._since is None:
                self.count += 1
                self._since, self._before = now, logged
                self._is_logged = now - self._logged_at >= QUIET_PERIOD
                self._unlogged += not self._is_logged
        elif self._since is not None:
            length, self._since = now - self._since, None
            self.longest = max(self.longest, length)
            if self._is_logged:
                self._logged_at = now
            else:
                self._longest_unlogged = max(self._longest_unlogged, length)

    def is_known(self, decision: Decision, previous: Decision) -> bool:
        """Return whether a decision only begins or ends a gap that is not logged."""
        if self._is_logged:
            return False
        return is_gap(decision) or (
            is_gap(previous) and self._before is not None
            and decision.status is self._before.status)

    def becomes_long(self, now: float) -> bool:
        """Return once whether a gap has to be logged after all; to be called regularly."""
        if self._is_logged or self._since is None or now - self._since <= LONG_GAP:
            return False
        self._is_logged = True
        self._unlogged -= 1
        return True

    def report(self, now: float) -> str:
        """Return what to log of the gaps that were not logged; to be called regularly."""
        if not self._unlogged or self._since is not None or now - self._logged_at < QUIET_PERIOD:
            return ''
        count = 'once more' if self._unlogged == 1 else f'{self._unlogged} more times'
        text = (f'joint states have stopped {count}, for up to {self._longest_unlogged:.2g} s '
                'beyond state_timeout')
        self._logged_at, self._unlogged, self._longest_unlogged = now, 0, 0.0
        return text


def is_gap(decision: Decision) -> bool:
    """Return whether a decision is made because joint states have stopped."""
    return Status.STALE in (decision.status, decision.next_status)
