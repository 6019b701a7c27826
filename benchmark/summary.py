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
"""Medians and quartiles of the measured rounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Spread(NamedTuple):
    """The quartiles of some samples; the outer two are the noise."""

    low: float
    median: float
    high: float


def spread(samples: np.ndarray) -> Spread:
    """Return the quartiles of samples, shape (rounds,)."""
    return Spread(*(float(value) for value in np.percentile(samples, [25, 50, 75])))


def ratio(samples: np.ndarray, reference: np.ndarray) -> Spread:
    """
    Return the quartiles of the ratios that each round has by itself.

    A machine that was slow for a while was so for both sides of a round's ratio.
    """
    return spread(samples / reference)
