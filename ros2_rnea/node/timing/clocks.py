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
"""The two clocks of the node: steady time for ages and timeouts, ROS time for stamps."""

from __future__ import annotations

from time import monotonic, time, time_ns

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from ros2_rnea.control.decision import Instant
from ros2_rnea.trajectories.ros_time import RosTime

LONGEST_STANDSTILL = 5.0
"""Longest standstill of simulated time that is not reported [s]."""


class Clocks:
    """
    The time of one node.

    :ivar is_simulated: whether the node uses the time on /clock.
    """

    def __init__(self, node: Node) -> None:
        self._own = node.get_clock()
        self.is_simulated: bool = node.get_parameter('use_sim_time').value
        self._last, self._last_change = 0.0, monotonic()

    def standstill(self) -> str:
        """Return that simulated time stands still, if it does; to be called regularly."""
        now = self.ros()
        if now != self._last:
            self._last, self._last_change = now, monotonic()
        if not now:
            return ('use_sim_time is true, and no time but 0 has been received on /clock: nothing '
                    'is sent. Start or continue the simulation, or set use_sim_time to false for '
                    'a real robot')
        return '' if monotonic() - self._last_change <= LONGEST_STANDSTILL else (
            f'the time on /clock has not changed for {LONGEST_STANDSTILL:g} s, so that no age '
            'grows and no trajectory goes on. That is right while the simulation is paused')

    def now(self) -> Instant:
        """
        Return the time on both clocks.

        Where time is not simulated, these are the monotonic clock and the system clock, which are
        read without creating objects of rclpy.
        """
        if self.is_simulated:
            simulated = RosTime(self._own.now().nanoseconds)
            return Instant(simulated.seconds, simulated)
        return Instant(monotonic(), RosTime(time_ns()))

    def ros(self) -> float:
        """Return the ROS time, as in stamps [s]."""
        return 1e-9 * self._own.now().nanoseconds if self.is_simulated else time()

    def steady(self) -> float:
        """Return the time on the steady clock, by which ages are measured [s]."""
        return self.now().steady

    def of_timers(self) -> Clock:
        """Return the clock of timers that detect stale input."""
        return self._own if self.is_simulated else Clock(clock_type=ClockType.STEADY_TIME)
