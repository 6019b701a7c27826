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
"""Whether the textbook is fast enough for the joint states, where nothing faster is installed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter
import weakref

import numpy as np
from ros2_rnea.control.policy import Policy
from ros2_rnea.kernels.engines import Engine, engine_of, reason_for_slow_calls
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.robots.robot import Robot

SUBJECT = 'computing time'

CALLS = 3
"""Number of calls of which the shortest is what a call takes: the others may have waited."""


class SlowEngine:
    """
    Why nothing is sent where an effort takes longer to compute than joint states are apart.

    Each effort would be late, and most joint states would have none.  Only the textbook is so
    slow; it is measured where it stands in for an engine that is missing.

    :param changed: called when :attr:`reason` has changed.
    :ivar reason: why no effort may be sent; empty where one may be.
    """

    def __init__(self, diagnostics: Diagnostics, changed: Callable[[], object]) -> None:
        missing = reason_for_slow_calls()
        diagnostics.notice('engine', missing)
        self._diagnostics = diagnostics
        self._changed = changed
        self._is_slow = bool(missing) and engine_of(None) is Engine.TEXTBOOK
        self._measured: Callable[[], Robot | None] = lambda: None
        self._time, self._period = 0.0, inf
        self.reason = 'it is not known yet how long an effort takes' if self._is_slow else ''
        if self.reason:
            diagnostics.waiting(SUBJECT, self.reason)

    def poll(self, policy: Policy | None) -> None:
        """Measure a new robot, and compare; to be called regularly."""
        if not self._is_slow or policy is None or not policy.memory.period.is_known:
            return
        if self._measured() is not policy.robot:
            self._time = time_of_effort(policy.robot)
            self._measured, self._period = weakref.ref(policy.robot), inf
            self._diagnostics.log_once(
                f'an effort of {policy.robot.name} takes {1e3 * self._time:.2g} ms to compute')
        # A cycle that is late, because of its effort or of other processes, misses joint states.
        self._period = min(self._period, policy.memory.period.value)
        before, self.reason = self.reason, '' if self._time <= self._period else (
            f'an effort takes {1e3 * self._time:.2g} ms to compute, and joint states come every '
            f'{1e3 * self._period:.2g} ms')
        self._diagnostics.notice(
            SUBJECT, self.reason and f'{self.reason}: nothing is sent', is_error=True)
        if bool(before) is not bool(self.reason):
            self._changed()


def time_of_effort(robot: Robot) -> float:
    """Return how long a robot takes for one effort [s]."""
    q, rest = robot.neutral(), np.zeros(robot.nv)
    times = []
    for _ in range(CALLS):
        started = perf_counter()
        robot.inverse_dynamics(q, rest, rest)
        times.append(perf_counter() - started)
    return min(times)
