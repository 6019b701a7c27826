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
"""One frame's wrench, from reading to reading: its bias, its filter and its deadbands."""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

import numpy as np

from ros2_rnea.feedforward.state.low_pass import LowPass


class Smoothing(NamedTuple):
    """
    What is done to the wrenches of a frame, one after the other.

    :ivar time_constant: of a low-pass filter [s]; 0: none.
    :ivar timeout: the longest gap that counts in full for the filter [s].
    :ivar moment_deadband: what counts of a moment is what exceeds this [Nm].
    :ivar force_deadband: likewise of a force [N].
    """

    time_constant: float
    timeout: float
    moment_deadband: float
    force_deadband: float


class WrenchSignal:
    """
    The wrenches in one frame, all as [moment; force], shape (6,).

    :ivar value: what counts of the newest one.
    """

    def __init__(self, smoothing: Smoothing) -> None:
        self.value = np.zeros(6)
        self._deadbands = smoothing.moment_deadband, smoothing.force_deadband
        self._low_pass = LowPass(smoothing.time_constant, np.zeros(6), smoothing.timeout)
        self._bias: np.ndarray | None = None

    @property
    def received(self) -> float:
        """Return when the newest wrench came [s]."""
        return self._low_pass.received

    def update(self, wrench: np.ndarray, now: float, share: float = 1.0) -> None:
        """
        Take over a wrench.

        :param wrench: finite numbers, in an array that nobody changes afterwards.
        :param share: of the one before that had not faded yet.
        """
        if share != 1.0:
            self._low_pass.value = share * self._low_pass.value
        if self._bias is not None:
            wrench = wrench - self._bias
        self._count(self._low_pass.update(wrench, now))

    def zero(self) -> None:
        """Take what the filter says now for the bias, so that the signal is zero at once."""
        filtered = self._low_pass.value
        self._bias = filtered if self._bias is None else self._bias + filtered
        self._low_pass.value = self.value = np.zeros(6)

    def forget(self) -> None:
        """Be without a wrench, as before the first; the bias is the sensor's and stays."""
        self.value = np.zeros(6)
        self._low_pass.restart(self.value)

    def adopt(self, older: WrenchSignal, sign: float) -> None:
        """Go on with an earlier signal's bias and filter, by a sign that tells them now."""
        self._low_pass.adopt(older._low_pass)
        self._bias = None if older._bias is None else sign * older._bias
        self._low_pass.value = sign * self._low_pass.value
        self._count(self._low_pass.value)

    def _count(self, filtered: np.ndarray) -> None:
        """Set the value to what exceeds the deadbands."""
        if any(self._deadbands):
            filtered = filtered.copy()
            for part, deadband in zip((filtered[:3], filtered[3:]), self._deadbands):
                part *= share_beyond(hypot(*part.tolist()), deadband)
        self.value = filtered


def share_beyond(size: float, deadband: float) -> float:
    """Return the share of a size that exceeds a deadband: without a step, as 0 grows to 1."""
    return 1.0 - deadband / size if size > deadband else 0.0
