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
The time of a node under test, which does not run on while a busy machine keeps the test waiting.

A node fades efforts and finds inputs stale by the time that has passed.  By the clock on the wall,
a fade of 0.3 s is over, and a joint state is stale, before a test whose process had no processor
for as long has asked for the next effort; and what is logged once a second is logged again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import time

import pytest
from ros2_rnea.node import diagnostics, guarded_node, inverse_dynamics_node
from ros2_rnea.node.controllers import other_publishers
from ros2_rnea.node.timing import clocks
from ros2_rnea.node.topics import sender

LONGEST_TURN = 0.02
"""A turn of the executor takes no longer than this by the clock [s]."""

LONGEST_EXCHANGE = 0.01
"""A message and its answer take little longer than this by the clock [s]."""

SLOW = 0.01
"""How fast the clock runs in an exchange that takes longer; above 0, so that no test hangs."""


class PatientClock:
    """
    A clock that runs with the turns of the test's executor.

    On an idle machine it agrees with the clock on the wall.
    """

    def __init__(self) -> None:
        self._last = self._now = time.monotonic()
        self._ros_offset = time.time_ns() - round(1e9 * self._now)
        self._left: float | None = None  # of an exchange, at full speed [s]

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let nodes use it, where their time is not simulated."""
        monkeypatch.setattr(clocks, 'monotonic', self.monotonic)
        monkeypatch.setattr(clocks, 'time_ns', self.time_ns)
        monkeypatch.setattr(clocks, 'time', lambda: 1e-9 * self.time_ns())
        for module in (diagnostics, guarded_node, inverse_dynamics_node, other_publishers, sender):
            monkeypatch.setattr(module, 'monotonic', self.monotonic)
        monkeypatch.setattr(inverse_dynamics_node, 'sleep', self.sleep)

    def monotonic(self) -> float:
        """Return the time on the steady clock [s]."""
        return self._now

    def time_ns(self) -> int:
        """Return the time since the epoch [ns]."""
        return round(1e9 * self._now) + self._ros_offset

    def sleep(self, seconds: float) -> None:
        """Sleep, and take that for the time that has passed."""
        time.sleep(seconds)
        self._now += seconds
        self._last = time.monotonic()

    def stand_still(self, seconds: float) -> None:
        """Let time pass in which the process does not run."""
        self._now += seconds

    def set_wall_clock(self, step: float) -> None:
        """Set the system clock forward, or back where the step is negative [s]."""
        self._ros_offset += round(1e9 * step)

    def turn(self) -> None:
        """Let the time run on by that of a turn of the executor."""
        now = time.monotonic()
        passed = min(now - self._last, LONGEST_TURN)
        self._last = now
        if self._left is not None:
            fast = min(passed, self._left)
            self._left -= fast
            passed = fast + SLOW * (passed - fast)
        self._now += passed

    @contextmanager
    def exchange(self) -> Iterator[None]:
        """Let little time pass while a message and its answer are on their ways."""
        outer, self._left = self._left, LONGEST_EXCHANGE if self._left is None else self._left
        try:
            yield
        finally:
            self._left = outer
