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
How many samples of what a fit leaves count as one independent sample.

Noise of a recording is correlated in time, since signals are filtered and no model is complete.
An estimate from n such samples is as good as one from n / time independent ones, where the time is
1 + 2 Σ ρ_k, the integrated autocorrelation.  That is the power of the noise at low frequencies,
relative to white noise of the same variance.

A fit removes noise at just these frequencies, because its columns have those of the motion.  The
power is therefore divided by the number of Fourier coefficients that the fit leaves, not by that
of all.  At first it is taken over the lowest frequencies, as many as leave :data:`MIN_FREEDOM`
coefficients, which gives a first estimate of the time.  If this is short, more frequencies are
taken: all whose period is longer than :data:`PERIODS` times the estimate (Sokal's rule for the
window of a sum of autocorrelations).

A. Sokal, "Monte Carlo Methods in Statistical Mechanics: Foundations and New Algorithms", in
Functional Integration, NATO ASI Series 361, 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.fft import next_fast_len, rfft, rfftfreq

MIN_FREEDOM = 20
"""Coefficients that a fit leaves: they tell a power to a third."""

PERIODS = 10.0
"""The shortest period that is taken, in correlation times: its half is five of them."""


class Correlation(NamedTuple):
    """
    The correlation of a noise in time.

    :ivar time: how many successive samples count as one, at least 1.
    :ivar freedom: degrees of freedom from which this was told.
    :ivar highest: the highest frequency that was needed to leave MIN_FREEDOM [1/samples].
    """

    time: float
    freedom: float
    highest: float


def correlation_of(pieces: Sequence[np.ndarray], samples: float, fitted: float) -> Correlation:
    """
    Return the correlation of what a fit leaves.

    :param pieces: uninterrupted samples of it, zeros where a sample does not count; one has some.
    :param samples: how many count.
    :param fitted: how many parameters were fitted to them.
    """
    frequencies, powers, counts = (np.concatenate(each) for each in zip(
        *map(_spectrum, filter(len, pieces))))
    order = np.argsort(frequencies, kind='stable')
    frequencies, power = frequencies[order], np.cumsum(powers[order])
    count = np.cumsum(counts[order])
    count *= samples / count[-1]
    left = np.maximum(count - fitted, 0.1 * count)
    last = len(count) - 1
    if not power[last] > 0.0:
        return Correlation(1.0, float(left[last]), float(frequencies[0]))
    variance = power[last] / left[last]
    first = min(int(np.searchsorted(count, fitted + MIN_FREEDOM)), last)
    time = power[first] / left[first] / variance
    end = max(first, int(np.searchsorted(frequencies, 1.0 / (PERIODS * max(time, 1.0)))) - 1)
    time = power[end] / left[end] / variance
    return Correlation(max(float(time), 1.0), float(left[end]), float(frequencies[first]))


def _spectrum(piece: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return frequencies [1/samples], powers and how many real coefficients each stands for."""
    size = int(next_fast_len(len(piece), real=True))
    counts = np.full(size // 2 + 1, 2.0)
    counts[0] = 1.0
    if size % 2 == 0:
        counts[-1] = 1.0
    return rfftfreq(size), counts * np.square(np.abs(rfft(piece, size))) / size, counts
