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
"""The timers that run the cycle when no joint state triggers it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from rclpy.node import Node
from rclpy.timer import Timer
from ros2_rnea.control.settings import Settings
from ros2_rnea.node.timing.clocks import Clocks

LOOKS = 4
"""Number of checks in the shortest timeout whether joint states have stopped."""

FINAL_FADE_EFFORTS = 20
"""Smallest number of efforts in each ``state_timeout`` while the effort fades out."""

SHORTEST_PERIOD, LONGEST_FINAL_FADE_PERIOD = 0.001, 0.005
"""
Bounds of the timers' periods [s].

The first is the shortest period that may follow from :data:`LOOKS` or :data:`FINAL_FADE_EFFORTS`.
The second is the longest period in the final fade.
"""


class CycleTimers:
    """
    The timers of the parameter ``rate``, of the detection of stale states and of the final fade.

    :param on_rate: called ``rate`` times a second, and regularly while the effort fades out.
    :param on_watch: called often enough to detect that joint states have stopped.
    :ivar state_timeout: of the settings [s].
    :ivar shortest_timeout: that, or the one of the dead-man switch [s].
    """

    def __init__(
            self,
            node: Node,
            clocks: Clocks,
            on_rate: Callable[[], None],
            on_watch: Callable[[], None]) -> None:
        self._node = node
        self._clocks = clocks
        self._on_rate = on_rate
        self._on_watch = on_watch
        self.state_timeout = self.shortest_timeout = inf
        self._timing = (0.0, 0.0, False)
        self._rate_timer: Timer | None = None
        self._watch_timer: Timer | None = None
        self._final_fade_timer: Timer | None = None
        self._final_fade_period = LONGEST_FINAL_FADE_PERIOD

    @property
    def keeps_rate(self) -> bool:
        """Return whether the cycle runs at a fixed rate instead of with each joint state."""
        return self._rate_timer is not None

    def restart(self, rate: float, settings: Settings) -> None:
        """Restart the timers where the settings or the clock have changed."""
        self.state_timeout = settings.state_timeout
        self.shortest_timeout = settings.shortest_timeout
        watch = max(settings.shortest_timeout / LOOKS, SHORTEST_PERIOD)
        self._final_fade_period = min(LONGEST_FINAL_FADE_PERIOD, max(
            settings.state_timeout / FINAL_FADE_EFFORTS, SHORTEST_PERIOD))
        timing = (rate, watch, self._clocks.is_simulated)
        if timing == self._timing:
            return
        self._timing = timing
        for timer in (self._rate_timer, self._watch_timer):
            if timer is not None:
                self._node.destroy_timer(timer)
        clock = self._clocks.of_timers()
        self._rate_timer = (
            self._node.create_timer(1.0 / rate, self._on_rate, clock=clock) if rate else None)
        self._watch_timer = self._node.create_timer(watch, self._on_watch, clock=clock)

    def final_fade(self, is_active: bool) -> None:
        """Run the cycle regularly while the effort fades out, with joint states or without."""
        if is_active is (self._final_fade_timer is not None):
            return
        if self._final_fade_timer is None:
            self._final_fade_timer = self._node.create_timer(
                self._final_fade_period, self._on_rate, clock=self._clocks.of_timers())
        else:
            self._node.destroy_timer(self._final_fade_timer)
            self._final_fade_timer = None
