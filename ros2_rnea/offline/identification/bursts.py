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
Short parts of a motion in which efforts differ as no masses and no friction law can make them.

A person who pushes the arm does that, or a cable that catches.  All masses, gravity, friction and
rotors are fitted freely before, so a wrong model causes no bursts.  Friction may be any function
of the velocity there: that of gears does not grow in proportion to it, which shows most in a few
fast motions among slow ones.  The residual is averaged over a short window and compared with its
own median, which a push does not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from ros2_rnea.offline.identification.comparison import Comparison
from ros2_rnea.offline.identification.conclusions import Burst
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.reduced_equations import (
    Columns,
    linear_equations,
    ReducedEquations,
    without,
)
from scipy.ndimage import minimum_filter1d, uniform_filter1d

WINDOW = 0.1
"""Window over which the residual is averaged [s]; a push lasts longer."""

BEYOND = 8.0
"""A burst is larger than so many standard deviations of the averages."""

NORMAL = 1.4826
"""The standard deviation of normal numbers by the median of their magnitudes."""

FEWEST = 100
"""Fewer averages tell nothing."""

RESOLUTION = 1e-3
"""The smallest deviation that counts, as a share of the effort's RMS."""

KNOTS = 16
"""Friction is linear between so many velocities."""

TOGETHER = 0.5
"""Bursts that are no more seconds apart are one."""

MOST = 0.1
"""
What takes a larger share of all recordings is no burst, but something that the model lacks.  In a
recording of which it takes a larger share, something is different throughout, such as the
temperature.  Each burst counts as TOGETHER at least: there is no other one within that time.
"""


def bursts(
        comparison: Comparison, columns: Columns, equations: Mapping[int, ReducedEquations],
        ) -> tuple[Burst, ...]:
    """
    Return the bursts in recordings, in the order of time.

    Only samples in which a joint moves are looked at: at rest, friction can bear a push.

    :param equations: by the index of the coordinate.
    """
    labels = [coordinate.label for coordinate in comparison.coordinates]
    of_joints = {labels[j]: _marked(columns, each, j) for j, each in equations.items()}
    pieces, found, lasting = iter(columns.pieces), [], 0.0
    for recording in (run.recording for run in comparison.runs):
        own = [burst for piece in islice(pieces, len(recording.pieces))
               for burst in _of_piece(recording, piece, columns.times, of_joints)]
        lasts = sum(max(burst.end - burst.begin, TOGETHER) for burst in own)
        lasting += lasts
        if lasts > max(MOST * recording.duration, TOGETHER):
            own = [replace(
                own[0], end=own[-1].end, is_throughout=True,
                joints=tuple(joint for joint in of_joints if any(
                    joint in burst.joints for burst in own)))]
        found += own
    return tuple(found) if lasting <= max(MOST * comparison.duration, TOGETHER) else ()


def _of_piece(
        recording: PreparedRecording, piece: slice, times: np.ndarray,
        of_joints: Mapping[str, np.ndarray]) -> Iterator[Burst]:
    """Yield the bursts in a piece of a recording."""
    marked = {joint: all_of_it[piece] for joint, all_of_it in of_joints.items()
              if all_of_it[piece].any()}
    if not marked:
        return
    start = recording.times[recording.pieces[0].start]
    times = times[piece] - start
    for begin, end in _spans(times, np.any(list(marked.values()), axis=0)):
        inside = (times >= begin) & (times <= end)
        yield Burst(
            recording.name, begin, end,
            tuple(joint for joint, own in marked.items() if own[inside].any()),
            since=recording.begin, length=float(recording.times[-1] - start))


def _marked(columns: Columns, equations: ReducedEquations, j: int) -> np.ndarray:
    """Return which samples belong to a burst of a coordinate, shape (n,)."""
    left = _beside_any_friction(columns, equations, j)
    count = len(columns.times)
    averages, widths = np.zeros(count), np.zeros(count, dtype=int)
    counts, marked = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    for piece in columns.pieces:
        if piece.stop - piece.start < 2:
            continue
        period = float(np.median(np.diff(columns.times[piece])))
        width = max(round(WINDOW / period), 1) if period > 0.0 else 1
        widths[piece] = width
        averages[piece] = uniform_filter1d(left[piece], width)
        counts[piece] = minimum_filter1d(
            columns.moves[piece, j].astype(np.uint8), 2 * width + 1).astype(bool)
    if not equations.moves:
        return marked
    sizes = np.abs(averages)
    effort = float(np.sqrt(np.nanmean(np.square(columns.measured[:, j]))))
    for width in np.unique(widths[counts]):  # an average over fewer samples has more noise
        own = counts & (widths == width)
        if np.count_nonzero(own) >= FEWEST:
            spread = max(NORMAL * float(np.median(sizes[own])), RESOLUTION * effort)
            marked |= own & (sizes > BEYOND * spread)
    return marked


def _beside_any_friction(columns: Columns, equations: ReducedEquations, j: int) -> np.ndarray:
    """Return what is left where friction is any function of the velocity, shape (n,)."""
    left, rows = equations.left.copy(), np.flatnonzero(equations.left)
    if not len(rows):
        return left
    speeds = columns.own[rows, j, 1]
    knots, step = np.linspace(speeds.min(), speeds.max(), KNOTS, retstep=True)
    if step > 0.0:
        between = np.maximum(1.0 - np.abs(speeds[:, None] - knots) / step, 0.0)
        # Both are fitted together: of this friction, the other columns had made something else.
        others = linear_equations(columns, rows, j, equations.own)
        left[rows] = without(left[rows, None], without(between, others))[:, 0]
    return left


def _spans(times: np.ndarray, marked: np.ndarray) -> Sequence[tuple[float, float]]:
    """Return where marked samples begin and end, those close to each other together [s]."""
    at = times[marked]
    breaks = np.flatnonzero(np.diff(at) > TOGETHER)
    begins, ends = at[[0, *(breaks + 1)]], at[[*breaks, len(at) - 1]]
    return list(zip(begins.tolist(), ends.tolist()))
