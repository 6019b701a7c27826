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
Synchronizes simulated time with a clock: which ticks are due, and how late they are.

Nothing here knows ROS.
"""

from __future__ import annotations

OVERDUE = 20_000_000
"""A tick later than this means that the machine is too slow for the robot [ns]."""

JUMP = 250_000_000
"""A clock that is further off than this has jumped, or the machine has slept [ns]."""


class Pacer:
    """
    A grid of ticks at a fixed period, to be taken one after the other when they are due.

    A tick that is taken late keeps its own time, so simulated time never stretches.  Only where
    clock and grid are more than ``JUMP`` apart does the grid start anew.

    :param period: between two ticks [ns].
    :param now: time of the first tick [ns].
    """

    def __init__(self, period: int, now: int) -> None:
        self.period = period
        self._next = now
        self.clear()

    def time_left(self, now: int) -> int:
        """
        Return how long it is until the next tick [ns]; zero or negative when it is due.

        :param now: time of the clock [ns].
        """
        left = self._next - now
        if abs(left) <= JUMP:
            return left
        if left < 0:
            self._count(-left, ticks=-left // self.period)
        self._next = now
        return 0

    def take(self, now: int) -> int:
        """
        Return the time of the next tick [ns] and go on to the one after.

        :param now: time of the clock; a tick more than a period late counts as an overrun [ns].
        """
        tick = self._next
        self._next += self.period
        self._count(now - tick, ticks=1)
        return tick

    def clear(self) -> None:
        """Begin to count anew."""
        self.ticks = 0
        self.overruns = 0
        self.overdue = 0
        self.worst_lateness = 0

    def _count(self, lateness: int, ticks: int) -> None:
        self.ticks += ticks
        self.overruns += ticks if lateness > self.period else 0
        self.overdue += ticks if lateness > OVERDUE else 0
        self.worst_lateness = max(self.worst_lateness, lateness)
