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
Blocks of time: parts of the recordings whose model errors count as independent of each other.

What a model lacks, such as friction that depends on the load, leaves errors that depend on the
motion.  A fit makes its residuals orthogonal to its columns, so that the residuals alone do not
show by how much such errors change the result.  Parts of the motion do: fitted to each of them,
parameters differ by more than noise explains.  Standard errors from blocks (cluster-robust, or
"sandwich") hold this, whatever the correlation within a block is.

Where a motion is repeated, as a periodic excitation is, its model errors are repeated too and do
not average out.  A block then is a phase of the period, not a part of the recording.

What is the same throughout a recording, such as friction at one temperature, only several
recordings show: each is then a block of its own, in a second estimate.

H. White, "A Heteroskedasticity-Consistent Covariance Matrix Estimator and a Direct Test for
Heteroskedasticity", Econometrica 48(4), 1980; K.-Y. Liang and S. L. Zeger, "Longitudinal Data
Analysis Using Generalized Linear Models", Biometrika 73(1), 1986; A. C. Cameron and D. L. Miller,
"A Practitioner's Guide to Cluster-Robust Inference", Journal of Human Resources 50(2), 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from ros2_rnea.identification.recording import PreparedRecording
from scipy.fft import irfft, next_fast_len, rfft

BLOCKS = 20
"""
About how many there are: enough to tell a standard deviation to 16 %, and each as long as
possible, so that neighbours have little in common.
"""

SAME = 0.02
"""Motions that differ by less than this share of their variance are repetitions."""

MOST_SAMPLES = 2**15
"""Of longer recordings, a period is searched in every second, third ... sample."""

FEWEST_RECORDINGS = 3
"""From fewer, nothing is told about how much recordings differ."""

LONGEST_PERIOD = 0.75
"""As a share of the recording: the rest has to be a repetition."""


class TimeBlocks(NamedTuple):
    """
    The blocks of several recordings; none belongs to two recordings.

    :ivar of_samples: for each recording the block of each of its samples, shape (n,).
    :ivar recordings: the recording of each block, by index.
    """

    of_samples: tuple[np.ndarray, ...]
    recordings: np.ndarray


def time_blocks(recordings: Sequence[PreparedRecording], stops: Sequence[int]) -> TimeBlocks:
    """
    Divide recordings into about BLOCKS blocks of one length, at least one for each recording.

    :param stops: how many samples of each recording are used.
    """
    spans = np.array([_span(one, stop) for one, stop in zip(recordings, stops)])
    total = spans.sum()
    shares = spans / total if total > 0.0 else 0.0 * spans
    counts = np.maximum(np.round(BLOCKS * shares), 1.0).astype(int)
    firsts = np.cumsum(counts) - counts
    of_samples = []
    for one, span, first, count in zip(recordings, spans, firsts, counts):
        since = one.times - one.times[0]
        phase = np.mod(since, span) / span if span > 0.0 else 0.0 * since
        of_samples.append(first + np.minimum((count * phase).astype(int), count - 1))
    return TimeBlocks(tuple(of_samples), np.repeat(np.arange(len(counts)), counts))


def _span(recording: PreparedRecording, stop: int) -> float:
    """Return how long a recording is, or the period of its motion where it is repeated [s]."""
    if not stop:
        return 0.0
    times, q = recording.times[:stop], recording.q[:stop]
    longest = max((range(piece.start, min(piece.stop, stop)) for piece in recording.pieces),
                  key=len, default=range(0))
    duration = float(times[-1] - times[0]) + recording.period
    period = period_of(q[longest.start:longest.stop])
    return duration if period is None else min(period * recording.period, duration)


def period_of(q: np.ndarray) -> float | None:
    """
    Return after how many samples a motion is repeated; None where it is not.

    :param q: at one sampling period, shape (N, nq).
    """
    stride = -(-len(q) // MOST_SAMPLES)
    q = q[::stride]
    count = len(q)
    if count < 8:
        return None
    q = q - q.mean(axis=0)
    size = next_fast_len(2 * count, real=True)
    products = irfft(np.square(np.abs(rfft(q, size, axis=0))).sum(axis=1), size)[:count]
    squares = np.concatenate([[0.0], np.cumsum(np.square(q).sum(axis=1))])
    lags = np.arange(count)
    both = squares[count - lags] + squares[count] - squares[lags]  # of the parts that overlap
    differs = (both - 2.0 * products) / np.where(both > 0.0, both, 1.0)
    differs = differs[:int(LONGEST_PERIOD * count)]
    other = np.flatnonzero(differs > 0.5)  # the motion has gone elsewhere before it returns
    if not len(other):
        return None
    again = np.flatnonzero(differs[other[0]:] < SAME) + other[0]
    if not len(again):
        return None
    end = again[0] + int(np.argmax(np.diff(again, append=count) > 1)) + 1
    return float(stride * (again[0] + int(np.argmin(differs[again[0]:end]))))
