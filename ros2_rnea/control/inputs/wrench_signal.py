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

from math import hypot, inf

import numpy as np

from ros2_rnea.control.settings import WrenchSettings
from ros2_rnea.control.signals import deadband_factor, LowPass


class WrenchSignal:
    """
    The conditioned wrench of one frame; all wrenches are [moment; force], shape (6,).

    :param settings: the low-pass filter's time constant, the deadbands, the gain and the limits.
        The wrench timeout is the longest gap between samples that the filter counts in full.
    :ivar value: the newest wrench after all of these.
    :ivar is_limited: whether it is smaller than without the limits.
    :ivar began: when the first of the samples was received that the filter has seen without a
        longer gap between them [s].
    """

    def __init__(self, settings: WrenchSettings) -> None:
        self.value = np.zeros(6)
        self.is_limited = False
        self._deadbands = settings.moment_deadband, settings.force_deadband
        self._gain = settings.gain
        self._limits = settings.moment_limit, settings.force_limit
        self._low_pass = LowPass(settings.time_constant, np.zeros(6), settings.timeout)
        self._longest_gap = settings.timeout
        self.began = inf
        self._bias: np.ndarray | None = None

    @property
    def has_bias(self) -> bool:
        """Return whether :meth:`zero` has been called."""
        return self._bias is not None

    @property
    def received(self) -> float:
        """Return when the newest wrench was received [s]; −inf before the first."""
        return self._low_pass.received

    def update(self, wrench: np.ndarray, now: float, faded: float = 1.0) -> None:
        """
        Condition a new wrench.

        :param wrench: finite numbers; the caller must not change the array afterwards.
        :param now: time of reception on the steady clock [s].
        :param faded: weight of the wrench before, which may have begun to fade out; the filter
            continues from the faded value.
        """
        if not 0.0 <= now - self.received <= self._longest_gap:
            self.began = now
        if faded != 1.0:
            self._low_pass.value = faded * self._low_pass.value
        if self._bias is not None:
            wrench = wrench - self._bias
        self._set_value(self._low_pass.update(wrench, now))

    def zero(self) -> None:
        """Add the filtered wrench to the bias, so that the signal becomes zero at once."""
        filtered = self._low_pass.value
        self._bias = filtered if self._bias is None else self._bias + filtered
        self._low_pass.value = self.value = np.zeros(6)
        self.is_limited = False

    def forget(self) -> None:
        """Discard the wrench but keep the bias, which belongs to the sensor."""
        self.value = np.zeros(6)
        self.is_limited = False
        self._low_pass.restart(self.value)
        self.began = inf

    def adopt(self, older: WrenchSignal, sign: float) -> None:
        """
        Continue from the bias and the filter state of another signal.

        :param sign: −1 where the two signals count wrenches with opposite signs, else 1.
        """
        self._low_pass.adopt(older._low_pass)
        self.began = older.began
        self._bias = None if older._bias is None else sign * older._bias
        self._low_pass.value = sign * self._low_pass.value
        self._set_value(self._low_pass.value)

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
