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
Latencies between the joint states that were sent and the efforts that answer them.

Nothing here knows ROS.
"""

from __future__ import annotations

from collections import deque

import numpy as np

OVERDUE = 20_000_000
"""An arm that gets no effort for a state this old, or for a newer one, is on its own [ns]."""

LOST = 100_000_000
"""A joint state that has had no answer for this long will not get one [ns]."""


class LatencyLog:
    """The events since the last report; all times in ns of one clock."""

    def __init__(self) -> None:
        self._open: deque[tuple[int, int]] = deque()  # stamps and deadlines, oldest first
        self._clear()

    def published(self, stamp: int, deadline: int) -> None:
        """
        Note that a joint state went out.

        :param stamp: of the state, later than that of the one before [ns].
        :param deadline: when its answer is due at the latest [ns].
        """
        self._give_up(stamp)
        self._open.append((stamp, deadline))
        self._published += 1

    def answered(self, stamp: int, now: int) -> None:
        """
        Note that the effort for a joint state arrived; it answers older ones too, if late.

        :param stamp: of the state that it answers [ns].
        :param now: time of arrival [ns].
        """
        self._latencies.append(now - stamp)
        while self._open and self._open[0][0] <= stamp:
            answered, deadline = self._open.popleft()
            self._overdue += now - answered > OVERDUE
            if answered < stamp:
                self._lost += 1
            else:
                self._misses += now > deadline

    def report(self, now: int) -> dict[str, float | int | None]:
        """
        Return the figures since the last report, and begin anew.

        States that may still be answered stay open and belong to the next report.

        :param now: time of the clock [ns].
        """
        self._give_up(now)
        latencies = np.array(self._latencies, dtype=float) * 1e-6
        figures: dict[str, float | int | None] = {
            'states_published': self._published,
            'states_answered': len(latencies),
            'states_lost': self._lost,
            'deadline_misses': self._misses,
            'older_than_20_ms': self._overdue,
            'latency_median_ms': _percentile(latencies, 50),
            'latency_99_percent_ms': _percentile(latencies, 99),
            'latency_worst_ms': _percentile(latencies, 100),
        }
        self._clear()
        return figures

    def _give_up(self, now: int) -> None:
        while self._open and now - self._open[0][0] > LOST:
            self._open.popleft()
            self._lost += 1
            self._overdue += 1

    def _clear(self) -> None:
        self._latencies: list[int] = []
        self._published = 0
        self._lost = 0
        self._misses = 0
        self._overdue = 0


def _percentile(values: np.ndarray, percent: float) -> float | None:
    return float(np.percentile(values, percent)) if len(values) else None
