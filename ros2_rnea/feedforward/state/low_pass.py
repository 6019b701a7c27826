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
"""A first-order low-pass filter for readings that come when they like."""

from __future__ import annotations

from math import expm1, inf

import numpy as np


class LowPass:
    """
    Follows readings u by T dy/dt = u − y, solved exactly for the time since the reading before.

    A reading is taken to have held for that time, so that it counts by 1 − exp(−dt/T) and what was
    by the rest: y never leaves the range of what it began with and of the readings, however
    irregular they come.  No reading counts at once: the first moves nothing yet, nor does one by
    which the clock went back, and a gap counts as no longer than the longest.

    :param time_constant: T [s]; 0: the newest reading is the answer.
    :param initial: what y begins with.
    :param longest_gap: between readings, that counts in full [s].
    :ivar value: y, an array that is replaced, never written into.
    :ivar received: when the newest reading came [s]; −inf before the first.
    """

    def __init__(self, time_constant: float, initial: np.ndarray, longest_gap: float) -> None:
        self.value = initial
        self.received = -inf
        self._time_constant = time_constant
        self._longest_gap = longest_gap

    def update(self, reading: np.ndarray, now: float) -> np.ndarray:
        """
        Take a reading over and return y.

        :param reading: finite numbers, in an array that nobody changes afterwards.
        :param now: on any clock [s].
        """
        gap = now - self.received if self.received > -inf else 0.0
        self.received = now
        if not self._time_constant:
            self.value = reading
        else:
            share = -expm1(-min(max(gap, 0.0), self._longest_gap) / self._time_constant)
            self.value = share * reading + (1.0 - share) * self.value  # no difference overflows
        return self.value

    def restart(self, initial: np.ndarray) -> None:
        """Begin anew with a value, as before the first reading."""
        self.value, self.received = initial, -inf

    def adopt(self, older: LowPass) -> None:
        """Go on from where an earlier filter was."""
        self.value, self.received = older.value, older.received
