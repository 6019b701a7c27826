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
"""The wrench measured in one frame, after bias, filter, deadbands, gain and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import hypot, inf

import numpy as np

from ros2_rnea.control.settings import WrenchSettings
from ros2_rnea.control.signals import deadband_factor, FilterMemory, LowPass


def _at_zero() -> FilterMemory:
    return FilterMemory(np.zeros(6))


@dataclass
class WrenchMemory:
    """
    What is known of the wrench of one frame; all wrenches are [moment; force], shape (6,).

    :ivar bias: of the sensor [Nm, N]; None: none was taken.
    :ivar filtered: the filtered wrench, of samples that were reduced to the limits.
    :ivar felt: the filtered wrench that is taken as bias, which may be larger than the limits.
    :ivar began: when the first of the samples was received that the filters have seen without a
        longer gap between them, and without a jump beyond the limits [s].
    """

    bias: np.ndarray | None = None
    filtered: FilterMemory = field(default_factory=_at_zero)
    felt: FilterMemory = field(default_factory=_at_zero)
    began: float = inf

    def negate(self) -> None:
        """Count all wrenches with the opposite sign from now on."""
        self.bias = None if self.bias is None else -self.bias
        for memory in (self.filtered, self.felt):
            memory.value = -memory.value


class WrenchSignal:
    """
    The conditioned wrench of one frame; all wrenches are [moment; force], shape (6,).

    Before it is filtered, each sample is reduced to what the limits let through: one wrong sample
    has little weight, however large it is.  The wrench that becomes the bias is filtered on its
    own, because the offset of a sensor may be larger than the limits.  There a sample counts as no
    farther from the filtered wrench than the limits are from zero.

    :param settings: the low-pass filter's time constant, the deadbands, the gain and the limits.
        The wrench timeout is the longest gap between samples that the filter counts in full.
    :param memory: the bias and the filtered wrenches to continue from; None: there are none.
    :ivar value: the newest wrench after all of these.
    :ivar is_limited: whether it is smaller than without the limits.
    """

    def __init__(self, settings: WrenchSettings, memory: WrenchMemory | None = None) -> None:
        self.memory = memory or WrenchMemory()
        self._deadbands = settings.moment_deadband, settings.force_deadband
        self._gain = settings.gain
        self._limits = settings.moment_limit, settings.force_limit
        # A sample may be this large: what is left of it beyond the deadband is then at its limit.
        self._largest = [
            limit / self._gain + deadband if self._gain else inf
            for limit, deadband in zip(self._limits, self._deadbands)]
        self._has_largest = min(self._largest) < inf
        self._has_filter = settings.time_constant > 0.0
        self._low_pass, self._felt = (
            LowPass(settings.time_constant, np.zeros(6), settings.timeout, each)
            for each in (self.memory.filtered, self.memory.felt))
        self._longest_gap = settings.timeout
        self.is_limited = False
        self._set_value(self.memory.filtered.value)

    @property
    def received(self) -> float:
        """Return when the newest wrench was received [s]; −inf before the first."""
        return self.memory.filtered.received

    @property
    def began(self) -> float:
        """Return when the first sample was received without a gap or a jump since then [s]."""
        return self.memory.began

    def update(self, wrench: np.ndarray, now: float, faded: float = 1.0) -> None:
        """
        Condition a new wrench.

        :param wrench: finite numbers; the caller must not change the array afterwards.
        :param now: time of reception on the steady clock [s].
        :param faded: weight of the wrench before, which may have begun to fade out; the filter
            continues from the faded value.
        """
        memory = self.memory
        if not 0.0 <= now - self.received <= self._longest_gap:
            memory.began = now
        if faded != 1.0:
            memory.filtered.value = faded * memory.filtered.value
            memory.felt.value = faded * memory.felt.value
        if memory.bias is not None:
            wrench = wrench - memory.bias
        allowed = near = wrench
        reduction = 1.0
        if self._has_largest:
            reduction = _reduction(wrench, self._largest)
            if reduction < 1.0:
                allowed = reduction * wrench
            away = wrench - memory.felt.value
            share = _reduction(away, self._largest)
            if share < 1.0 and self._has_filter:
                near = memory.felt.value + share * away
                memory.began = now
        self._felt.update(near, now)
        self._set_value(self._low_pass.update(allowed, now))
        self.is_limited = bool(self.is_limited or reduction < 1.0)

    def zero(self) -> None:
        """Add the filtered wrench to the bias: the signal becomes zero at once."""
        memory, felt = self.memory, self.memory.felt.value
        memory.bias = felt if memory.bias is None else memory.bias + felt
        memory.filtered.value = memory.felt.value = self.value = np.zeros(6)
        self.is_limited = False

    def forget(self) -> None:
        """Discard the wrench but keep the bias, which belongs to the sensor."""
        self.value = np.zeros(6)
        self.is_limited = False
        self._low_pass.restart(self.value)
        self._felt.restart(self.value)
        self.memory.began = inf

    def _set_value(self, filtered: np.ndarray) -> None:
        """
        Set the value to the share of a filtered wrench that is compensated.

        The limits reduce moment and force by one common factor: reduced each by its own, they
        would belong to a force with another line of action.
        """
        moment, force = filtered[:3], filtered[3:]
        sizes = hypot(*moment.tolist()), hypot(*force.tolist())
        factors = [self._gain * deadband_factor(size, deadband) if deadband else self._gain
                   for size, deadband in zip(sizes, self._deadbands)]
        common = min(
            [limit / (factor * size)
             for size, factor, limit in zip(sizes, factors, self._limits)
             if factor * size > limit], default=1.0)
        self.is_limited = bool(common < 1.0)
        if any(self._deadbands) or common * self._gain != 1.0:
            filtered = np.concatenate(
                (common * factors[0] * moment, common * factors[1] * force))
        self.value = filtered


def _reduction(wrench: np.ndarray, largest: list[float]) -> float:
    """Return the factor that reduces moment and force to their largest norms; 1: they are less."""
    moment, force = hypot(*wrench[:3].tolist()), hypot(*wrench[3:].tolist())
    return min([most / size for size, most in zip((moment, force), largest) if size > most],
               default=1.0)
