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
Steps of the system clock, which NTP or a user may set while the node runs.

The times of trajectories are on that clock.  All ages and timeouts are on the steady clock, which
is never set.  The difference of both therefore tells a clock that was set from a process that
stood still: after a pause, both have gone on.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan

from ros2_rnea.control.decision import Instant
from ros2_rnea.node.timing.clocks import Clocks
from ros2_rnea.trajectories.ros_time import NANOSECONDS

SMALLEST_STEP = 0.05
"""Smallest step of the system clock that counts [s]; a clock that NTP slews has smaller ones."""

LONGEST_READING = 0.001
"""Longest reading of both clocks [s]; after a longer one they are read again."""

MAX_READINGS = 10
"""Largest number of readings of both clocks, on a machine that is too busy for a short one."""


class ClockSteps:
    """
    The time on both clocks, and a call when the system clock was set.

    Simulated time is not watched: rclpy tells its jumps.

    :param on_step: called with the time after a step and by how much the clock was set forward
        [s], before that time is used for anything else.
    """

    def __init__(self, clocks: Clocks, on_step: Callable[[Instant, float], None]) -> None:
        self._clocks = clocks
        self._on_step = on_step
        self._difference = nan  # of the clocks [ns]
        self._was_simulated = False

    def now(self) -> Instant:
        """Return the time on both clocks; to be called in the control thread."""
        now = self._clocks.now()
        difference = now.ros.nanoseconds - NANOSECONDS * now.steady
        if not -_STEP < difference - self._difference < _STEP:
            return self._look()
        self._difference = difference
        return now

    def _look(self) -> Instant:
        """Read the clocks without a pause in between, and return whether one was set."""
        now, after = self._clocks.now(), self._clocks.now()
        for _ in range(MAX_READINGS):
            if after.steady - now.steady < LONGEST_READING:
                break
            now, after = after, self._clocks.now()
        known, was_simulated = self._difference, self._was_simulated
        self._difference = now.ros.nanoseconds - NANOSECONDS * now.steady
        self._was_simulated = self._clocks.is_simulated
        step = self._difference - known
        if abs(step) >= _STEP and not (was_simulated or self._was_simulated):
            self._on_step(now, step / NANOSECONDS)
        return now


_STEP = SMALLEST_STEP * NANOSECONDS
