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
"""The period of the cycle, measured from its times."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

FIRST_PERIOD = 0.002
"""Period before one has been measured [s]."""

CYCLES_NEEDED = 10
"""Number of cycles without a gap that measure the period, and that are averaged afterwards."""

LONGEST_CYCLE = 2.0
"""A longer cycle counts as this multiple of the measured period, since it may be a gap."""


@dataclass
class CyclePeriod:
    """
    The measured period.

    Each cycle time counts in proportion to itself: the period is Σdt²/Σdt.  Short cycle times
    between long ones, as where several publishers report different joints, do not shorten it.

    :ivar value: [s].
    :ivar at: time of the last cycle [s].
    :ivar cycles: how many have been counted.
    :ivar total: the sum of their times, until the period is known [s].
    """

    value: float = FIRST_PERIOD
    at: float = -inf
    cycles: int = 0
    total: float = 0.0

    def count(self, now: float, longest: float) -> float:
        """
        Count a cycle, and return the period.

        :param now: its time [s].
        :param longest: a longer time between two cycles is a pause [s].
        """
        elapsed, self.at = now - self.at, now
        if not 0.0 < elapsed <= longest:
            return self.value
        if self.is_known:
            elapsed = min(elapsed, LONGEST_CYCLE * self.value)
            self.total = CYCLES_NEEDED * self.value
        else:
            self.cycles += 1
            self.total += elapsed
        self.value += elapsed / self.total * (elapsed - self.value)
        return self.value

    @property
    def is_known(self) -> bool:
        """Return whether enough cycles have been counted."""
        return self.cycles >= CYCLES_NEEDED
