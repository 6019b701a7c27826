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
"""Filters of signals over time: low-pass, deadband and the weight of a blend."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, inf

import numpy as np


@dataclass
class FilterMemory:
    """
    The state of a low-pass filter.

    :ivar value: its output; the array is replaced by each update and never written to.
    :ivar received: time of the newest sample [s]; −inf before the first.
    """

    value: np.ndarray
    received: float = -inf


class LowPass:
    """
    A first-order low-pass filter, T dy/dt = u − y, for samples that arrive at irregular times.

    The equation is solved exactly for the time dt since the sample before, during which the new
    sample u is taken as constant: y becomes (1 − exp(−dt/T)) u + exp(−dt/T) y.  The output
    therefore never leaves the range of its initial value and the samples, however irregular they
    are.  A single sample has limited weight: the first one and one with a time before its
    predecessor have none (dt = 0), and dt is at most ``longest_gap``.

    :param time_constant: T [s]; with 0 the output is the newest sample.
    :param initial: initial value of y.
    :param longest_gap: upper bound of dt [s].
    :param memory: the state to continue from; None: a new one, with the initial value.
    """

    def __init__(
            self, time_constant: float, initial: np.ndarray, longest_gap: float,
            memory: FilterMemory | None = None) -> None:
        self.memory = memory or FilterMemory(initial)
        self._time_constant = time_constant
        self._longest_gap = longest_gap

    @property
    def value(self) -> np.ndarray:
        """Return y."""
        return self.memory.value

    @property
    def received(self) -> float:
        """Return the time of the newest sample [s]; −inf before the first."""
        return self.memory.received

    def update(self, sample: np.ndarray, now: float) -> np.ndarray:
        """
        Filter a sample and return y.

        :param sample: finite numbers; the caller must not change the array afterwards.
        :param now: time of the sample on any clock [s].
        """
        memory = self.memory
        gap = now - memory.received if memory.received > -inf else 0.0
        memory.received = now
        if not self._time_constant:
            memory.value = sample
        else:
            weight = -expm1(-min(max(gap, 0.0), self._longest_gap) / self._time_constant)
            # This form cannot overflow; the difference sample - value could.
            memory.value = weight * sample + (1.0 - weight) * memory.value
        return memory.value

    def restart(self, initial: np.ndarray) -> None:
        """Reset the filter to an initial value, as before the first sample."""
        self.memory.value, self.memory.received = initial, -inf


def deadband_factor(size: float, deadband: float) -> float:
    """
    Return the factor that reduces a quantity of this size to its part beyond the deadband.

    The result is continuous: it grows from 0 at the edge of the deadband towards 1.
    """
    return 1.0 - deadband / size if size > deadband else 0.0


def remaining_weight(elapsed: float, duration: float) -> float:
    """
    Return the weight of what is faded out, from 1 at the start down to 0 at the end.

    The curve is the cubic with zero slope at both ends (smoothstep): the faded signal has no
    corner there.

    :param elapsed: time since the start of the fade [s]; the weight is 1 before the start.
    :param duration: duration of the fade [s]; with 0 the weight is 0 at once.
    """
    if elapsed >= duration:
        return 0.0
    if elapsed <= 0.0:
        return 1.0
    phase = elapsed / duration
    return 1.0 - phase * phase * (3.0 - 2.0 * phase)
