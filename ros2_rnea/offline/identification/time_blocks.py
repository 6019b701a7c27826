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
motion.  Standard errors from blocks (cluster-robust, or "sandwich") cover them, whatever the
correlation within a block is; ``docs/identification.rst`` says why, and names the sources.

Where a motion is repeated, its model errors are repeated too.  A block then is a phase of the
period, also where several recordings are of one motion.  What is the same throughout a recording
is only seen in several: each is then a block of its own, in a second estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.linalg import norm
from ros2_rnea.offline.identification.recording import PreparedRecording
from scipy.signal import correlate

BLOCKS = 20
"""
Approximate number of blocks: enough to tell a standard deviation to 16 %, and each as long as
possible, for neighbours to have little in common.
"""

SAME = 0.02
"""Motions that differ by less than this share of their variance are repetitions."""

MAX_SAMPLES = 2**15
"""The most samples in which a period is searched: every second, third ... of more."""

FEWEST_RECORDINGS = 3
"""Fewer recordings tell nothing about how much recordings differ."""

LONGEST_PERIOD = 0.75
"""The longest period, as a share of the recording: the rest has to be a repetition."""

MAX_COMPARED = 2**14
"""The most samples that are compared with other recordings: every second, third ... of more."""

MAX_OTHERS = 8
"""The most motions that one is compared with: those with the most similar positions."""

MIN_OVERLAP = 0.5
"""The share of the shorter of two recordings in which their motions have to agree."""


SampleBlocks = Callable[[np.ndarray], np.ndarray]
"""A function from times of samples, shape (m,) [s], to their blocks."""


class TimeBlocks(NamedTuple):
    """
    The blocks of several recordings; none belongs to two recordings.

    :ivar of_samples: for each recording the blocks of its samples.
    :ivar recordings: the recording of each block, by index.
    :ivar phases: the phase of each block, by index: blocks of different recordings share one where
        these are of one motion.
    """

    of_samples: tuple[SampleBlocks, ...]
    recordings: np.ndarray
    phases: np.ndarray


def time_blocks(recordings: Sequence[PreparedRecording], stops: Sequence[int]) -> TimeBlocks:
    """
    Divide motions into about BLOCKS blocks of one length, at least one for each motion.

    :param stops: how many samples of each recording are used.
    """
    motions = [_Motion(one, stop) for one, stop in zip(recordings, stops)]
    firsts, lags = _repeated(motions)
    total = sum(motions[k].span for k in {*firsts})
    counts = [max(round(BLOCKS * motion.span / total), 1) if total > 0.0 else 1
              for motion in motions]
    begins = np.cumsum([0, *(counts[k] if k == first else 0 for k, first in enumerate(firsts))])
    own = [counts[first] for first in firsts]
    of_samples = tuple(
        partial(_blocks_at, motions[first], motion.start - lag, end - count, count)
        for motion, first, lag, end, count in zip(
            motions, firsts, lags, np.cumsum(own).tolist(), own))
    return TimeBlocks(of_samples, np.repeat(range(len(own)), own), np.concatenate(
        [begins[first] + np.arange(count) for first, count in zip(firsts, own)]))


def _blocks_at(
        motion: _Motion, start: float, first: int, count: int, times: np.ndarray) -> np.ndarray:
    """
    Return the blocks at times.

    :param motion: that is divided.
    :param start: when it starts, in these times [s].
    :param first: its first block, of so many.
    """
    return first + np.minimum((count * motion.place(times - start)).astype(int), count - 1)


class _Motion:
    """
    The motion of one recording.

    :ivar start: its first time [s].
    :ivar span: its duration without gaps, or the period where it is repeated [s].
    :ivar begin: the time since the first sample at which its longest piece begins [s].
    :ivar q: the positions of this piece, shape (m, nq), ``step`` seconds apart.
    """

    def __init__(self, recording: PreparedRecording, stop: int) -> None:
        self.start = float(recording.times[0])
        self.step = recording.period if np.isfinite(recording.period) else 0.0
        longest = max((range(piece.start, min(piece.stop, stop)) for piece in recording.pieces),
                      key=len, default=range(0))
        self.q = recording.q[longest.start:longest.stop]
        self.begin = float(recording.times[longest.start]) - self.start if len(longest) else 0.0
        # Gaps count as one step, and have no blocks of their own.
        ends = [index for piece in recording.pieces if piece.start < stop
                for index in (piece.start, min(piece.stop, stop) - 1)]
        self._since = recording.times[ends] - self.start
        steps = np.diff(self._since, prepend=-self.step)
        steps[::2] = np.minimum(steps[::2], self.step)
        self._used = np.cumsum(steps) - self.step
        period = period_of(self.q)
        duration = float(steps.sum())
        self._period = None if period is None else min(period * self.step, duration)
        self.span = self._period or duration

    @cached_property
    def signature(self) -> np.ndarray:
        """Return the means and standard deviations of the positions, shape (2 nq,)."""
        return np.concatenate([self.q.mean(axis=0), self.q.std(axis=0)])

    def place(self, since: np.ndarray) -> np.ndarray:
        """Return which share of the span is before times since the first sample [s]."""
        if not self.span > 0.0:
            return np.zeros(len(since))
        if self._period:
            return np.mod(since, self._period) / self._period
        return np.interp(since, self._since, self._used) / self.span


def _repeated(motions: Sequence[_Motion]) -> tuple[list[int], list[float]]:
    """
    Return for each recording the one that it repeats the motion of, or itself.

    Comparing all of many recordings with each other would take the square of their number.  Each
    is compared with MAX_OTHERS, those whose positions have the most similar mean and spread: those
    of repetitions are equal, whatever their order.

    :return: their indices, and what is added to the time in the recording to have the time in the
        repeated one [s].
    """
    firsts, lags = list(range(len(motions))), [0.0] * len(motions)
    usable = [k for k, motion in enumerate(motions) if motion.step > 0.0 and len(motion.q) >= 8]
    if len(usable) < 2:
        return firsts, lags
    longest = max(motions[k].step * len(motions[k].q) for k in usable)
    step = max(longest / MAX_COMPARED, min(motions[k].step for k in usable))
    usable.sort(key=lambda k: -len(motions[k].q) * motions[k].step)
    for place, k in enumerate(usable):
        q = _sampled(motions[k], step)
        others = [other for other in usable[:place] if firsts[other] == other]
        apart = [norm(motions[other].signature - motions[k].signature) for other in others]
        for other in (others[nearest] for nearest in np.argsort(apart)[:MAX_OTHERS]):
            # sampled anew, since all together would fill the memory
            lag = _lag(_sampled(motions[other], step), q)
            if lag is not None:
                firsts[k] = other
                lags[k] = lag * step + motions[other].begin - motions[k].begin
                break
    return firsts, lags


def _sampled(motion: _Motion, step: float) -> np.ndarray:
    """Return the positions of the longest piece of a motion at another period."""
    times = np.arange(len(motion.q)) * motion.step
    at = np.arange(0.0, times[-1] + motion.step * (1.0 - 1e-6), step)
    return np.array([np.interp(at, times, column) for column in motion.q.T]).T


def _lag(q: np.ndarray, other: np.ndarray) -> int | None:
    """
    Return by how many samples later a motion begins in one recording than in another.

    :param q: shape (N, nq); ``other`` has this form too, and is not longer.
    :return: None where it is another motion, or no motion.
    """
    least = max(int(MIN_OVERLAP * len(other)), 1)
    lags = np.arange(least - len(other), len(q) - least + 1)
    both, differs = _difference(q, other, lags)
    differs[both <= SAME * both.max()] = 1.0
    best = int(np.argmin(differs))
    return int(lags[best]) if differs[best] < SAME else None


def _difference(
        q: np.ndarray, other: np.ndarray, lags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Compare two motions, the other one at several lags.

    :param q: shape (N, nq); ``other`` is of shape (M, nq).
    :param lags: by how many samples it begins later; some samples overlap.
    :return: for each lag the squares of both in these samples, and which share of them the squares
        of the difference are, shapes (lags,).
    """
    q, other = q - q.mean(axis=0), other - q.mean(axis=0)
    products = sum(correlate(one, another, method='fft') for one, another in zip(q.T, other.T))
    squares, others = (np.concatenate([[0.0], np.cumsum(np.square(each).sum(axis=1))])
                       for each in (q, other))
    low, high = np.maximum(lags, 0), np.minimum(len(q), len(other) + lags)
    both = squares[high] - squares[low] + others[high - lags] - others[low - lags]
    return both, (both - 2.0 * products[lags + len(other) - 1]) / np.where(both > 0.0, both, 1.0)


def period_of(q: np.ndarray) -> float | None:
    """
    Return after how many samples a motion is repeated; None where it is not.

    :param q: at one sampling period, shape (N, nq).
    """
    if len(q) < 8:
        return None
    stride = -(-len(q) // MAX_SAMPLES)
    q = q[::stride]
    _, differs = _difference(q, q, np.arange(int(LONGEST_PERIOD * len(q))))
    other = np.flatnonzero(differs > 0.5)  # the motion has gone elsewhere before it returns
    if not len(other):
        return None
    again = np.flatnonzero(differs[other[0]:] < SAME) + other[0]
    if not len(again):
        return None
    end = again[0] + int(np.argmax(np.diff(again, append=len(q)) > 1)) + 1
    lag = int(again[0] + np.argmin(differs[again[0]:end]))
    if lag + 1 == len(differs):
        return float(stride * lag)
    # In a hundred periods, half a sample would add up to some blocks: a parabola tells the rest.
    before, lowest, after = differs[lag - 1:lag + 2]
    bend = before - 2.0 * lowest + after
    return float(stride * (lag + (0.5 * (before - after) / bend if bend > 0.0 else 0.0)))
