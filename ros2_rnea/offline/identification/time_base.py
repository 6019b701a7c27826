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

Filters and derivatives need samples at one period.  Rows that cannot be used are cut out.  A gap
that is short against the motion is joined; at a longer one, the recording falls into pieces:
nothing is made up for the time between them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from ros2_rnea.errors import counted, RecordingError
from ros2_rnea.offline.identification.recording import Step
from ros2_rnea.offline.identification.smoothing import STENCIL
from scipy.interpolate import CubicSpline, PchipInterpolator

LARGEST_GAP = 2.5
"""Neighbours further apart than so many median periods are not joined,"""

SHORT_GAP = 0.05
"""
unless they are closer than this [s]: splines through samples so far apart miss less than 1 % of a
sine of 4 Hz, which is faster than arms swing, and each end of a piece costs what the filter needs
to settle.
"""

JITTER = 0.01
"""Samples that deviate less from the uniform base, in periods, are taken as they are."""

FEWEST_RUNS = 20
"""Fewer changes tell nothing about how often samples are refreshed."""

SLOWEST, FASTEST = 5.0, 1e5
"""Rates out of this range are those of wrong units, or too slow to differentiate [Hz]."""

SHORTEST, USUAL = 1.0, 20.0
"""Without so long a piece, a motion is not known [s]; and how long recordings usually are."""

SIGNALS = ('positions', 'efforts', 'velocities')


class Signals(NamedTuple):
    """
    What was recorded of the joints of a robot.

    :ivar name: of the recording.
    :ivar joints: their names.
    :ivar times: shape (n,) [s].
    :ivar values: positions [rad or m], efforts [Nm or N], which are 0 where they were not
        measured, and velocities [rad/s or m/s] where there are any: shape (n, 2 or 3, joints).
    :ivar period: of the samples in each piece [s].
    :ivar pieces: uninterrupted runs of samples.
    """

    name: str
    joints: Sequence[str]
    times: np.ndarray
    values: np.ndarray
    period: float = nan
    pieces: tuple[slice, ...] = ()

    def by_piece(
            self, function: Callable[..., np.ndarray], values: np.ndarray, *arguments: float,
            ) -> np.ndarray:
        """Return what a function makes of each piece of values and their period."""
        return np.concatenate([
            function(values[piece], self.period, *arguments) for piece in self.pieces])


def on_uniform_base(
        recorded: Signals, turning: Collection[str], largest_gap: float | None,
        steps: list[Step]) -> Signals:
    """
    Return signals at one period in uninterrupted pieces.

    :param turning: joints whose angles may have been recorded within one turn.
    :param largest_gap: neighbours further apart are not joined [s]; None for ``LARGEST_GAP``
        median periods, or ``SHORT_GAP`` if that is longer.
    :param steps: gets what is done.
    :raises RecordingError: where the times cannot be in seconds, or too little is left.
    """
    finite = np.isfinite(recorded.times) & np.isfinite(recorded.values).all(axis=(1, 2))
    times, kept = _samples(recorded, np.flatnonzero(finite), steps)
    runs, period = _without_gaps(recorded, times, kept, finite, largest_gap, steps)
    turns = np.isin(recorded.joints, list(turning))
    joined = np.zeros(len(turns), dtype=bool)
    parts = []
    for rows in runs:
        if len(rows) >= STENCIL:
            values = recorded.values[rows]
            values[:, 0, turns] = np.unwrap(values[:, 0, turns], axis=0)
            joined |= (values[:, 0] != recorded.values[rows, 0]).any(axis=0)
            parts.append(_interpolated(times[rows], values, period))
    # samples of a piece may be closer together than the others
    parts = [part for part in parts if len(part[0]) >= STENCIL]
    lengths = [len(part[0]) for part in parts]
    longest = period * max(lengths, default=0)
    if not parts or longest < SHORTEST:
        raise RecordingError(
            f'recording {recorded.name!r} has at most {longest:.3g} s without a gap; it needs '
            f'{SHORTEST:g} s and {STENCIL} samples, and better {USUAL:g} s')
    if joined.any():
        names = ', '.join(np.compress(joined, recorded.joints))
        steps.append(Step('turns', f'Angles that jump by a turn are joined: {names}.'))
    text = f'{sum(lengths)} samples at {1.0 / period:.4g} Hz in {counted(len(parts), "piece")}.'
    if len(parts) < len(runs):
        text += (f' Cut out: {counted(len(runs) - len(parts), "piece")} of fewer than {STENCIL} '
                 'samples.')
    steps.append(Step('time base', text))
    ends = np.cumsum([0, *lengths]).tolist()
    times, values = map(np.concatenate, zip(*parts))
    return recorded._replace(
        times=times, values=values, period=period, pieces=tuple(map(slice, ends, ends[1:])))


def _samples(
        recorded: Signals, kept: np.ndarray, steps: list[Step]) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the times of all rows, and which rows of those with finite numbers are samples.

    Where two have one stamp, and next to it is room for a sample, one of them gets its middle.
    """
    changes = np.ones(len(kept), dtype=bool)
    changes[1:] = np.diff(recorded.values[kept], axis=0).any(axis=(1, 2))
    held, refreshed = _refreshed(changes)
    if held > 1:
        steps.append(Step(
            'stamps', f'Each sample is repeated in {held} rows, of which the first is used: the '
            'state was published faster than it was measured.'))
    kept = kept[refreshed]
    times = recorded.times.copy()
    times[kept], shared = _with_own_stamps(times[kept], changes[refreshed])
    if shared:
        steps.append(Step(
            'stamps', f'{counted(shared, "stamp")} of two rows: one of both is taken to be where '
            'a sample is missing next to them.'))
    return times, kept


def _without_gaps(
        recorded: Signals, times: np.ndarray, kept: np.ndarray, finite: np.ndarray,
        largest_gap: float | None, steps: list[Step]) -> tuple[list[np.ndarray], float]:
    """Return the rows of each uninterrupted piece, and the mean distance of neighbours [s]."""
    name = recorded.name
    # a single time that is too late makes all that follow too early, and not those after it
    later, earlier = _ordered(times[kept]), [each[::-1] for each in _ordered(-times[kept][::-1])]
    ordered, astray = max(later, earlier, key=lambda order: np.count_nonzero(order[0]))
    wrong, kept = kept[~ordered], kept[ordered]
    if len(kept) < 2:
        raise RecordingError(
            f'recording {name!r} has {len(kept)} rows with finite numbers at increasing times, of '
            f'{len(times)}; it needs more')
    distances = np.diff(times[kept])
    median = float(np.median(distances))
    if not SLOWEST <= 1.0 / median <= FASTEST:
        raise RecordingError(
            f'recording {name!r} has {1.0 / median:.3g} samples a second; it needs {SLOWEST:g} to '
            f'{FASTEST:g}: are its times in seconds?  Tell their unit, such as --csv-units '
            'time=ms, or correct them where they are recorded')
    limit = max(LARGEST_GAP * median, SHORT_GAP) if largest_gap is None else largest_gap
    breaks = np.flatnonzero(distances > limit)
    cut = []
    for row in np.flatnonzero(~finite)[:1]:
        what = ['time', *(f'{SIGNALS[signal]} of {recorded.joints[joint]}' for signal, joint in
                          np.argwhere(~np.isfinite(recorded.values[row])))]
        cut.append(f'{counted(int((~finite).sum()), "row")} with a number that is not finite '
                   f'(first {what[int(np.isfinite(times[row]))]}, row {row + 1}, at '
                   f'{times[row]:.6g} s)')
    for row in wrong[:1]:
        which = 'not later than those before' if ordered is later[0] else 'later than those after'
        cut.append(f'{counted(len(wrong), "row")} whose time is {which} (first row {row + 1}, '
                   f'{recorded.times[row]:.6g} s)')
    for row in breaks[:1]:
        first, last = times[kept[row:row + 2]]
        cut.append(f'{counted(len(breaks), "gap")} longer than {limit:.3g} s (first from '
                   f'{first:.3f} s to {last:.3f} s)')
    joined = distances[(distances > LARGEST_GAP * median) & (distances <= limit)]
    told = [f'Cut out: {"; ".join(cut)}.'] if cut else []
    if len(joined):
        told.append(f'Joined: {counted(len(joined), "gap")} of {joined.max():.3g} s at most.')
    steps.append(Step('gaps', ' '.join(told) or 'No gaps and no duplicate times.'))
    # where a clock was set, neighbours in time were measured apart, with other rows between
    short = min(limit, LARGEST_GAP * median)
    between = median * np.diff(np.cumsum(astray > short)[ordered])
    ends = np.flatnonzero((distances > limit) | (between > short)) + 1
    usual = distances[distances <= max(short, median)]
    return np.split(kept, ends), float(np.mean(usual))


def _ordered(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which times are later than all before, and by how much each one is earlier."""
    latest = np.maximum.accumulate(times)
    return np.diff(latest, prepend=-np.inf) > 0.0, latest - times


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
    usual = 1.5 * float(np.median(steps)) if len(steps) else 0.0
    same = np.flatnonzero((steps[1:-1] == 0.0) & changes[2:-1]) + 1
    before, after = steps[same - 1], steps[same + 1]
    early = (0.0 < before) & (before <= usual) & (usual < after)
    late = (0.0 < after) & (after <= usual) & (usual < before)
    times[same[early] + 1] += 0.5 * after[early]
    times[same[late]] -= 0.5 * before[late]
    return times, int(early.sum() + late.sum())


def _interpolated(
        times: np.ndarray, values: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """
    Return times at one period, and signals at those, by cubic splines.

    Where two times nearly coincide, as of messages that were delivered together, splines swing far
    beyond a signal with noise.  A low-pass that follows takes most of that away.  Signals without
    one are between their neighbours instead, by the monotone cubic polynomials of Fritsch and
    Butland (SIAM J. Sci. Stat. Comput. 5(2), 1984).
    """
    grid = times[0] + period * np.arange(len(times))
    if len(times) < 4 or np.abs(times - grid).max() <= JITTER * period:
        return grid, values
    count = int((times[-1] - times[0]) / period + JITTER) + 1
    grid = np.minimum(times[0] + period * np.arange(count), times[-1])
    result = CubicSpline(times, values)(grid)
    result[:, 1] = PchipInterpolator(times, values[:, 1])(grid)
    return grid, result
