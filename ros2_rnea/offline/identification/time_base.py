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
A uniform time base for what was recorded.

Filters and derivatives need samples at one period.  Rows that cannot be used are cut out, and
where more than that is missing, the recording falls into pieces: nothing is made up for the time
between them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from ros2_rnea.errors import NothingUsableError, RecordingError
from ros2_rnea.offline.identification.recording import Recording
from scipy.interpolate import CubicSpline, PchipInterpolator

LARGEST_GAP = 2.5
"""Neighbours further apart than so many median periods are not joined."""

JITTER = 0.01
"""Samples that deviate less from the uniform base, in periods, are taken as they are."""

MAX_LATER = 0.5
"""Single times are wrong if a smaller share of the rows is at least as late as all before."""

MAX_WRONG = 5
"""The most single rows whose times are taken for wrong and named."""

FEWEST_RUNS = 20
"""Fewer changes tell nothing about how often samples are refreshed."""

SLOWEST, FASTEST = 5.0, 1e5
"""Rates out of this range are those of wrong units, or too slow to differentiate [Hz]."""


class Rows(NamedTuple):
    """
    The rows of a recording that can be used.

    :ivar times: of all rows, shape (n,) [s]: where two have one stamp, and next to it is room for
        a sample, one of them has its middle.
    :ivar pieces: indices of the rows of each uninterrupted piece.
    :ivar period: mean distance of neighbours in the pieces [s].
    :ivar not_finite: number of rows cut out for a number that is not finite.
    :ivar not_later: number of rows cut out because their time is not after all before.
    :ivar gaps: time before and after each gap [s].
    :ivar largest_gap: neighbours further apart are a gap [s].
    :ivar shared: number of stamps that two rows had.
    :ivar held: how many rows each sample was repeated in; 1 where samples are not repeated.
    """

    times: np.ndarray
    pieces: list[np.ndarray]
    period: float
    not_finite: int
    not_later: int
    gaps: list[tuple[float, float]]
    largest_gap: float
    shared: int
    held: int


def usable_rows(
        recording: Recording, columns: Sequence[np.ndarray], largest_gap: float | None) -> Rows:
    """
    Return the rows whose numbers are finite and whose times increase, in uninterrupted pieces.

    :param columns: arrays whose numbers count, each with a row for each time.
    :param largest_gap: neighbours further apart are not joined [s]; None for ``LARGEST_GAP``
        median periods.
    :raises RecordingError: where the times cannot be in seconds; NothingUsableError, where nothing
        is left or the samples are too far apart.
    """
    finite = np.isfinite(recording.times)
    for array in columns:
        finite &= np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    _check_order(recording.name, recording.times, finite)
    kept = np.flatnonzero(finite)
    changes = _changes([array[kept] for array in columns])
    held, refreshed = _refreshed(changes)
    kept, changes = kept[refreshed], changes[refreshed]
    times, shared = _with_own_stamps(recording.times[kept], changes)
    all_times = recording.times.copy()
    all_times[kept] = times
    latest = np.maximum.accumulate(times)
    later = np.concatenate([[True], times[1:] > latest[:-1]]) if len(times) else finite[:0]
    kept, times = kept[later], times[later]
    if len(kept) < 2:
        raise NothingUsableError(
            f'recording {recording.name!r} has {len(kept)} rows with finite numbers at increasing '
            f'times, of {len(recording.times)}; it needs more')
    steps = np.diff(times)
    median = float(np.median(steps))
    _check_rate(recording.name, 1.0 / median)
    limit = LARGEST_GAP * median if largest_gap is None else largest_gap
    breaks = np.flatnonzero(steps > limit)
    if len(breaks) == len(steps):
        raise NothingUsableError(
            f'recording {recording.name!r} has no two samples within {limit:g} s, which is the '
            'largest gap that is allowed')
    return Rows(
        all_times, np.split(kept, breaks + 1), float(np.mean(steps[steps <= limit])),
        len(finite) - int(finite.sum()), int(np.size(later) - later.sum()),
        [(float(times[k]), float(times[k + 1])) for k in breaks], limit, shared, held)


def _changes(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return in which rows any number differs from the row before, shape (n,)."""
    result = np.zeros(len(columns[0]), dtype=bool)
    result[:1] = True
    for array in columns:
        result[1:] |= (array[1:] != array[:-1]).any(axis=tuple(range(1, array.ndim)))
    return result


def _refreshed(changes: np.ndarray) -> tuple[int, np.ndarray]:
    """
    Return how many rows a sample is repeated in, and which rows are those of samples, shape (n,).

    Drivers may publish faster than they measure.  At rest, too, samples may be equal: they count
    as if they were as far apart as the others.
    """
    firsts = np.flatnonzero(changes)
    runs = np.diff(firsts)
    if len(runs) < FEWEST_RUNS or np.median(runs) < 1.5:
        return 1, np.ones(len(changes), dtype=bool)
    held = int(np.ceil(np.median(runs)))
    since = np.arange(len(changes)) - np.maximum.accumulate(
        np.where(changes, np.arange(len(changes)), 0))
    return held, since % held == 0


def _with_own_stamps(times: np.ndarray, changes: np.ndarray) -> tuple[np.ndarray, int]:
    """
    Return times in which no two neighbours have the same stamp, and how many stamps two rows had.

    One of both belongs where a sample is missing, before or after them.  A row that repeats the
    one before is none.
    """
    times, steps = times.copy(), np.diff(times)
    usual, count = 1.5 * float(np.median(steps)) if len(steps) else 0.0, 0
    for k in np.flatnonzero((steps[1:-1] == 0.0) & changes[2:-1]) + 1:
        before, after = steps[k - 1], steps[k + 1]
        if 0.0 < before <= usual < after:
            times[k + 1] += 0.5 * after
        elif 0.0 < after <= usual < before:
            times[k] -= 0.5 * before
        else:
            continue
        count += 1
    return times, count


def _check_order(name: str, times: np.ndarray, finite: np.ndarray) -> None:
    """Check that it is not a few rows with wrong times that make most others too early."""
    rows = np.flatnonzero(finite)
    wrong: list[int] = []
    while len(wrong) <= MAX_WRONG:
        later = times[rows] >= np.maximum.accumulate(times[rows])
        if np.count_nonzero(later) >= MAX_LATER * len(rows):
            break
        at = int(times[rows].argmax())
        wrong.append(int(rows[at]))
        rows = np.delete(rows, at)
    if 0 < len(wrong) <= MAX_WRONG:
        shown = ', '.join(f'row {row + 1} has {times[row]:.6g}' for row in sorted(wrong))
        raise RecordingError(
            f'recording {name!r} has wrong times, to which most rows that follow are earlier: '
            f'{shown} (seconds; rows are counted from 1, without a line of titles); take these '
            'rows out')


def _check_rate(name: str, rate: float) -> None:
    if not SLOWEST <= rate <= FASTEST:
        # Samples may be too far apart in one part; where times have a wrong unit, all parts do.
        raise (NothingUsableError if rate < SLOWEST else RecordingError)(
            f'recording {name!r} has {rate:.3g} samples a second; it needs {SLOWEST:g} to '
            f'{FASTEST:g}: are its times in seconds?')


def is_uniform(times: np.ndarray, period: float) -> bool:
    """Return whether times deviate less than the jitter from multiples of the period."""
    grid = times[0] + period * np.arange(len(times))
    return bool(np.abs(times - grid).max() <= JITTER * period)


def on_uniform_base(
        times: np.ndarray, signals: Mapping[str, np.ndarray], period: float,
        unfiltered: Collection[str] = ()) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """
    Return times at one period, and signals at those, by cubic splines.

    Where two times nearly coincide, as of messages that were delivered together, splines swing far
    beyond a signal with noise.  A low-pass that follows takes most of that away.  Signals without
    one are between their neighbours instead, by the monotone cubic polynomials of Fritsch and
    Butland (SIAM J. Sci. Stat. Comput. 5(2), 1984).

    :param times: shape (n,), increasing [s].
    :param signals: each with n rows.
    :param unfiltered: the names of signals that no low-pass follows.
    """
    if len(times) < 4 or is_uniform(times, period):
        return times[0] + period * np.arange(len(times)), dict(signals)
    count = int((times[-1] - times[0]) / period + JITTER) + 1
    grid = np.minimum(times[0] + period * np.arange(count), times[-1])
    return grid, {
        name: (PchipInterpolator if name in unfiltered else CubicSpline)(times, values)(grid)
        for name, values in signals.items()}
