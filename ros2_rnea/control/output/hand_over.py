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
The hand-over of the effort from one law to the next, without a step.

The difference between what was sent and what is needed now is added, and decays to zero.  What is
needed is evaluated at the present state all the time, so gravity and damping have their full
weight from the first cycle on.  The decay is exponential, and ends after the duration: a hand-over
that begins again while another one lasts therefore never makes that one longer, however often.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import NamedTuple

import numpy as np

TIME_CONSTANTS = 2.0
"""Number of time constants of the exponential part in one duration."""


class Blend(NamedTuple):
    """
    A hand-over that begins.

    :ivar duration: [s]; 0: there is none.
    :ivar of_model: whether only the model has changed.
    :ivar damps: whether the damping of the new effort acts at once.
    :ivar changes_model: whether the model has changed, among others.
    """

    duration: float
    of_model: bool = False
    damps: bool = False
    changes_model: bool = False


@dataclass
class HandOverMemory:
    """
    What is left of the last hand-over.

    :ivar difference: that is added, shape (joints,) [Nm or N].
    :ivar at: when it was that large [s].
    :ivar end: when it is over [s].
    :ivar duration: of the whole hand-over [s].
    :ivar is_of_model: whether the difference comes from a change of the model, and thus looks like
        an effort of the environment.
    """

    difference: np.ndarray
    at: float = -inf
    end: float = -inf
    duration: float = 0.0
    is_of_model: bool = False

    @property
    def is_active(self) -> bool:
        """Return whether a difference is left."""
        return self.end > -inf

    def begin(
            self, difference: np.ndarray, now: float, duration: float,
            of_model: bool = False) -> None:
        """
        Begin a hand-over, in place of any other.

        :param difference: between what was sent and what is needed, shape (joints,).
        :param now: on the steady clock [s].
        :param duration: [s]; 0: there is none.
        :param of_model: whether the model has changed.
        """
        if not duration > 0.0:
            self.end_now()
            return
        self.is_of_model = of_model or (self.is_of_model and self.is_active)
        self.difference = difference
        self.at, self.end, self.duration = now, now + duration, duration

    def add(self, difference: np.ndarray, now: float, duration: float) -> None:
        """Add a small difference of the model to what is left, which ends no earlier for it."""
        rest = self.rest(now) + difference
        if self.end > now + duration:
            self.difference = rest
        else:
            self.begin(rest, now, duration, of_model=True)

    def end_now(self) -> None:
        """Forget what is left."""
        self.difference = np.zeros_like(self.difference)
        self.at = self.end = -inf
        self.is_of_model = False

    def rest(self, now: float) -> np.ndarray:
        """
        Return the difference that is left at a time, shape (joints,), and store it.

        A time before the last one does not change it: a simulated clock may jump back.
        """
        if not self.is_active:
            return self.difference
        if now < self.at:
            self.end += now - self.at
            self.at = now
        weight = _weight(now - self.end + self.duration, self.duration)
        if not weight:
            self.end_now()
            return self.difference
        before = _weight(self.at - self.end + self.duration, self.duration)
        self.difference, self.at = weight / before * self.difference, now
        return self.difference


def _weight(elapsed: float, duration: float) -> float:
    """Return the weight of the first difference, from 1 to 0."""
    share = elapsed / duration
    return (1.0 - share) * exp(-TIME_CONSTANTS * share) if share < 1.0 else 0.0
