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
Short parts of a motion in which efforts differ as no masses and no friction can make them.

A person who pushes the arm does that, or a cable that catches.  All masses, gravity, friction and
rotors are fitted freely before, so that a wrong model makes none.  Friction may be any function of
the velocity there: that of gears does not grow in proportion to it, which shows most in a few fast
motions among slow ones.  What is left is averaged over a short window and compared with its own
median, which a push does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from ros2_rnea.identification.comparison import Comparison
from ros2_rnea.identification.conclusions import Burst
from ros2_rnea.identification.recording import PreparedRecording
from ros2_rnea.identification.reduced_equations import (
    Columns,
    equations_of,
    ReducedEquations,
    without,
)
from scipy.ndimage import minimum_filter1d, uniform_filter1d

WINDOW = 0.1
"""What is left is averaged over so many seconds; a push lasts longer."""

BEYOND = 8.0
"""A burst is larger than so many standard deviations of the averages."""

NORMAL = 1.4826
"""The standard deviation of normal numbers by the median of their magnitudes."""

FEWEST = 100
"""From fewer averages, nothing is told."""

RESOLUTION = 1e-3
"""The smallest deviation that counts, as a share of the effort's RMS."""

KNOTS = 16
"""Friction is linear between so many velocities."""

TOGETHER = 0.5
"""Bursts that are no more seconds apart are one."""

MOST = 0.1
"""
What takes a larger share of the motion is no burst, but something that the model lacks.  Each
burst counts as TOGETHER at least: there is no other one within that time.
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
    found = []
    for piece, recording in _pieces(comparison, columns):
        times = columns.times[piece] - recording.times[recording.pieces[0].start]
        marked = {joint: all_of_it[piece] for joint, all_of_it in of_joints.items()
                  if all_of_it[piece].any()}
        if not marked:
            continue
        for begin, end in _spans(times, np.any(list(marked.values()), axis=0)):
            inside = (times >= begin) & (times <= end)
            found.append(Burst(recording.name, begin, end, tuple(
                joint for joint, own in marked.items() if own[inside].any()), recording.begin))
    lasting = sum(max(burst.end - burst.begin, TOGETHER) for burst in found)
    return tuple(found) if lasting <= max(MOST * comparison.duration, TOGETHER) else ()


def _pieces(
        comparison: Comparison, columns: Columns) -> Iterable[tuple[slice, PreparedRecording]]:
    """Return each piece of the columns, and its recording."""
    return zip(columns.pieces, (
        run.recording for run in comparison.runs for _ in run.recording.pieces))


def _marked(columns: Columns, equations: ReducedEquations, j: int) -> np.ndarray:
    """Return which samples belong to a burst of a coordinate, shape (n,)."""
    left = _beside_any_friction(columns, equations, j)
    averages, counts = np.zeros(len(columns.times)), np.zeros(len(columns.times), dtype=bool)
    for piece in columns.pieces:
        if piece.stop - piece.start < 2:
            continue
        period = float(np.median(np.diff(columns.times[piece])))
        width = max(round(WINDOW / period), 1) if period > 0.0 else 1
        averages[piece] = uniform_filter1d(left[piece], width)
        counts[piece] = minimum_filter1d(
            columns.moves[piece, j].astype(np.uint8), 2 * width + 1).astype(bool)
    if not equations.moves or np.count_nonzero(counts) < FEWEST:
        return np.zeros(len(counts), dtype=bool)
    sizes = np.abs(averages)
    effort = float(np.sqrt(np.nanmean(np.square(columns.measured[:, j]))))
    spread = max(NORMAL * float(np.median(sizes[counts])), RESOLUTION * effort)
    return counts & (sizes > BEYOND * spread)


def _beside_any_friction(columns: Columns, equations: ReducedEquations, j: int) -> np.ndarray:
    """Return what is left where friction is any function of the velocity, shape (n,)."""
    left, rows = equations.left.copy(), np.flatnonzero(equations.left)
    if not len(rows):
        return left
    speeds = columns.qd[rows, j]
    knots, step = np.linspace(speeds.min(), speeds.max(), KNOTS, retstep=True)
    if step > 0.0:
        between = np.maximum(1.0 - np.abs(speeds[:, None] - knots) / step, 0.0)
        # Both are fitted together: of this friction, the other columns had made something else.
        others = equations_of(columns, rows, j, equations.friction)
        left[rows] = without(left[rows, None], without(between, others))[:, 0]
    return left


def _spans(times: np.ndarray, marked: np.ndarray) -> Sequence[tuple[float, float]]:
    """Return where marked samples begin and end, those close to each other together [s]."""
    at = times[marked]
    breaks = np.flatnonzero(np.diff(at) > TOGETHER)
    begins, ends = at[[0, *(breaks + 1)]], at[[*breaks, len(at) - 1]]
    return list(zip(begins.tolist(), ends.tolist()))
