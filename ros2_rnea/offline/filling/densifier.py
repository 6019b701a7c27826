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
"""The points to insert for linear interpolation to be near the effort of the motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import TrajectoryError
from ros2_rnea.offline.filling.effort_along import EffortAlong, joined, Samples
from ros2_rnea.offline.filling.polyline import knots
from ros2_rnea.trajectories.trajectory import Array

FINEST = 1e-4
"""
Smallest distance of inserted points [s].

It is shorter than the period of any controller, and long enough for the controller's splines: the
acceleration of a quintic spline of duration T has a rounding error of about 60 eps q / T².
"""

_COARSEST = 0.02      # [s] between the first samples of the effort, ...
_LARGEST_GRID = 5000  # ... which are at most this many

_QUARTERS = np.array([0.25, 0.5, 0.75])[:, np.newaxis]

# Shares of the tolerance for the deviation at samples, and for the one between samples, which is
# estimated at four times their distance.
_AT_SAMPLES, _BETWEEN_SAMPLES = 0.8, 0.5


class Segment(NamedTuple):
    """
    The samples between two points of a trajectory.

    :ivar samples: closely spaced, from the start to the end of the segment.
    :ivar inserted: indices of the samples to insert as points.
    :ivar jumps: whether the effort jumps at the end by more than the tolerance.  Then the last
        inserted point is :data:`FINEST` seconds before the end, where a ramp starts, unless the
        whole segment is hardly longer.
    """

    samples: Samples
    inserted: list[int]
    jumps: bool


class Densifier:
    """
    Choose the points to insert.

    :param along: the motion and its efforts.
    :param v_index: indices of the efforts to fill in, shape (joints,).
    :param tolerances: largest deviation of each, shape (joints,), positive [Nm or N].
    :param most_samples: largest number of samples of one segment.
    """

    def __init__(
            self,
            along: EffortAlong,
            v_index: Array,
            tolerances: Array,
            most_samples: int) -> None:
        self._along = along
        self._v_index = v_index
        self._tolerances = tolerances
        self._most_samples = most_samples
        self._step = max(_COARSEST, along.trajectory.duration / _LARGEST_GRID)

    def segment(self, here: Samples, there: Samples) -> Segment:
        """
        Return the samples and inserted points between two points.

        :param here: one sample, at the start of this segment.
        :param there: one sample, at the start of the next segment.
        :raises TrajectoryError: where it would need too many samples.
        """
        end = self._along.samples(there.times, before=True)
        allowed = _AT_SAMPLES * self._tolerances
        jump = np.abs(self._efforts(end) - self._efforts(there))
        jumps = bool((jump > allowed).any())
        parts = self._between(here, end)
        ramp_start = _in_nanoseconds(there.times - FINEST)
        has_ramp = jumps and ramp_start[0] - here.times[0] >= FINEST  # else all of it is a ramp
        if has_ramp:
            parts.append(self._along.samples(ramp_start))
        samples = joined([here, _in_order(joined(parts)), end])
        efforts = self._efforts(samples)
        if has_ramp:
            count = int(np.searchsorted(samples.times, ramp_start[0], side='right'))
            inserted = knots(samples.times[:count], efforts[:count], allowed)[1:]
        else:
            efforts[-1] = self._efforts(there)  # the last line ends at this effort
            inserted = knots(samples.times, efforts, allowed)[1:-1]
        return Segment(samples, inserted, jumps)

    def _between(self, here: Samples, end: Samples) -> list[Samples]:
        """Return unordered samples, so close that lines between them are near the effort."""
        count = max(1, int(np.ceil((end.times[0] - here.times[0]) / self._step)))
        grid = self._along.samples(
            _in_nanoseconds(np.linspace(here.times[0], end.times[0], count + 1)[1:-1]))
        parts = [grid]
        ends = joined([here, grid, end])
        times, efforts = _intervals(ends.times), _intervals(self._efforts(ends))
        while times.size:
            inner, times, efforts = self._refine(times, efforts)
            parts.append(inner)
            if sum(len(part.times) for part in parts) > self._most_samples:
                raise TrajectoryError(
                    f'More than {self._most_samples} samples of effort are needed between '
                    f'{here.times[0]:.3f} s and {end.times[0]:.3f} s. Allow more points, or a '
                    'larger tolerance.')
        return parts

    def _refine(self, times: Array, efforts: Array) -> tuple[Samples, Array, Array]:
        """
        Return samples at the quarters of intervals, and the quarters that need refinement.

        :param times: of the intervals' ends, shape (2, N); those of the quarters have this form
            too.
        :param efforts: at the ends, shape (2, N, joints); those of the quarters have this form
            too.
        """
        wide = times[1] - times[0] > 4.0 * FINEST
        t, e = times[:, wide], efforts[:, wide]
        inner = self._along.samples(_in_nanoseconds((t[0] + (t[1] - t[0]) * _QUARTERS).ravel()))
        found = self._efforts(inner).reshape(3, *e.shape[1:])
        lines = e[0] + (e[1] - e[0]) * _QUARTERS[..., np.newaxis]
        far = (np.abs(found - lines) > _BETWEEN_SAMPLES * self._tolerances).any(axis=(0, 2))
        t = np.stack([t[0], *inner.times.reshape(3, -1), t[1]])[:, far]
        e = np.stack([e[0], *found, e[1]])[:, far]
        return inner, _intervals(t).reshape(2, -1), _intervals(e).reshape(2, -1, e.shape[2])

    def _efforts(self, samples: Samples) -> Array:
        return samples.sent[:, self._v_index]


def _intervals(values: Array) -> Array:
    """Return the values at the starts and at the ends of the intervals between them."""
    return np.stack([values[:-1], values[1:]])


def _in_nanoseconds(times: Array) -> Array:
    """Return times rounded to nanoseconds, the resolution of messages."""
    return np.round(times, 9).astype(float)


def _in_order(samples: Samples) -> Samples:
    _, order = np.unique(samples.times, return_index=True)
    return Samples(*(array[order] for array in samples))
