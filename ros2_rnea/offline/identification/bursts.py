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

from collections.abc import Mapping
from itertools import islice

import numpy as np
from ros2_rnea.offline.identification.comparison import Comparison
from ros2_rnea.offline.identification.conclusions import Burst
from ros2_rnea.offline.identification.reduced_equations import (
    averages,
    Columns,
    ReducedEquations,
    without,
)
from scipy.ndimage import minimum_filter1d

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
"""Bursts that are no more seconds apart are one, and count as so long at least."""

MOST = 0.1
"""What takes a larger share of a recording is no burst, but something that the model lacks."""


def bursts(comparison: Comparison, columns: Columns,
           equations: Mapping[int, ReducedEquations]) -> tuple[Burst, ...]:
    """
    Return the bursts in recordings, in the order of time.

    Only samples in which a joint moves are looked at: at rest, friction can bear a push.

    :param equations: by the index of the coordinate.
    """
    joints = np.array([comparison.coordinates[j].label for j in equations])
    marked = np.array([_marked(columns, each, j) for j, each in equations.items()])
    pieces, found = iter(columns.pieces), []
    for recording in (run.recording for run in comparison.runs):
        start = recording.times[recording.pieces[0].start] - recording.begin
        own = []
        for piece in islice(pieces, len(recording.pieces)):
            at = np.flatnonzero(marked[:, piece].any(axis=0)) + piece.start
            breaks = np.flatnonzero(np.diff(columns.times[at]) > TOGETHER) + 1
            own += [Burst(
                recording.name, float(columns.times[each[0]] - start),
                float(columns.times[each[-1]] - start),
                tuple(joints[marked[:, each].any(axis=1)].tolist()),
                float(recording.times[-1] - start)) for each in np.split(at, breaks) if len(each)]
        if sum(max(burst.end - burst.begin, TOGETHER) for burst in own) <= max(
                MOST * recording.duration, TOGETHER):
            found += own
    return tuple(found)


def _marked(columns: Columns, equations: ReducedEquations, j: int) -> np.ndarray:
    """Return which samples belong to a burst of a coordinate, shape (n,)."""
    averaged, widths = averages(columns, _beside_any_friction(columns, equations, j), WINDOW)
    for piece in columns.pieces:  # an average over samples at rest does not count
        widths[piece] *= equations.moves * minimum_filter1d(
            columns.moves[piece, j].astype(int), 2 * int(widths[piece][0]) + 1)
    sizes, marked = np.abs(averaged), np.zeros(len(widths), dtype=bool)
    least = RESOLUTION * float(np.sqrt(np.nanmean(np.square(columns.measured[:, j]))))
    for width in np.unique(widths[widths > 0]):  # an average over fewer samples has more noise
        own = widths == width
        if np.count_nonzero(own) >= FEWEST:
            spread = max(NORMAL * float(np.median(sizes[own])), least)
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
        others = columns.linear(rows, j, equations.own)
        left[rows] = without(left[rows, None], without(between, others))[:, 0]
    return left
