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
"""Where a trajectory needs more points for straight lines to be near the effort of its motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import TrajectoryError
from ros2_rnea.feedforward.reference.trajectory import Array
from ros2_rnea.filling.effort_along import EffortAlong, joined, Samples
from ros2_rnea.filling.polyline import knots

FINEST = 1e-4
"""
How near to each other points come in [s].

It is less than the period of any controller, and long enough for the controller's splines: a
quintic's acceleration has a rounding error of some 60 eps q / T².
"""

_COARSEST = 0.02    # [s] between moments at which effort is looked at first, ...
_MOST_LOOKS = 5000  # ... unless the trajectory is very long

_QUARTERS = np.array([0.25, 0.5, 0.75])[:, np.newaxis]

# Shares of the tolerance: for lines at the samples, and for what lies between samples, which is
# looked at from four times as far.
_AT_SAMPLES, _BETWEEN_SAMPLES = 0.8, 0.5


class Segment(NamedTuple):
    """
    What was found between two points of a trajectory.

    :ivar samples: dense, from the start to the end; what the next point starts is not in it.
    :ivar inserted: those of them to insert as points.
    :ivar jumps: whether effort jumps at the end by more than a line may be off.  The last point
        inserted is then the brink, :data:`FINEST` seconds before, unless the whole segment is
        hardly longer than that.
    """

    samples: Samples
    inserted: list[int]
    jumps: bool


class Densifier:
    """
    Chooses the points to insert.

    :param along: the motion and its efforts, of which those to send count.
    :param v_index: the efforts that count, shape (joints,).
    :param tolerances: how far a line may be from each, shape (joints,), positive [Nm or N].
    :param most_samples: of one segment.
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
        self._step = max(_COARSEST, along.trajectory.end / _MOST_LOOKS)

    def segment(self, here: Samples, there: Samples) -> Segment:
        """
        Return what stands between two points.

        :param here: one sample, of what the first point starts.
        :param there: one sample, of what the second point starts.
        :raises TrajectoryError: where it would take too many samples.
        """
        end = self._along.samples(there.times, before=True)
        allowed = _AT_SAMPLES * self._tolerances
        jump = np.abs(self._efforts(end) - self._efforts(there))
        jumps = bool((jump > allowed).any())
        parts = self._between(here, end)
        brink = _in_nanoseconds(there.times - FINEST)
        has_brink = jumps and brink[0] - here.times[0] >= FINEST  # else it is itself a ramp
        if has_brink:
            parts.append(self._along.samples(brink))
        samples = joined([here, _in_order(joined(parts)), end])
        efforts = self._efforts(samples)
        if has_brink:
            count = int(np.searchsorted(samples.times, brink[0], side='right'))
            inserted = knots(samples.times[:count], efforts[:count], allowed)[1:]
        else:
            efforts[-1] = self._efforts(there)  # it is there that the last line leads
            inserted = knots(samples.times, efforts, allowed)[1:-1]
        return Segment(samples, inserted, jumps)

    def _between(self, here: Samples, end: Samples) -> list[Samples]:
        """Return samples, in no order, so dense that lines between them are near the effort."""
        count = max(1, int(np.ceil((end.times[0] - here.times[0]) / self._step)))
        grid = self._along.samples(
            _in_nanoseconds(np.linspace(here.times[0], end.times[0], count + 1)[1:-1]))
        parts = [grid]
        ends = joined([here, grid, end])
        times, efforts = _intervals(ends.times), _intervals(self._efforts(ends))
        while times.size:
            inner, times, efforts = self._look_inside(times, efforts)
            parts.append(inner)
            if sum(len(part.times) for part in parts) > self._most_samples:
                raise TrajectoryError(
                    f'More than {self._most_samples} samples of effort are needed between '
                    f'{here.times[0]:.3f} s and {end.times[0]:.3f} s, and many points then. '
                    'Allow more points, or a wider tolerance.')
        return parts

    def _look_inside(self, times: Array, efforts: Array) -> tuple[Samples, Array, Array]:
        """
        Return samples at the quarters of intervals, and the quarters that need another look.

        :param times: of the intervals' ends, shape (2, N); of the quarters likewise.
        :param efforts: at the ends, shape (2, N, joints); of the quarters likewise.
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
    """Return values by their order as those at the starts and those at the ends of intervals."""
    return np.stack([values[:-1], values[1:]])


def _in_nanoseconds(times: Array) -> Array:
    """Return times as a message can hold them."""
    return np.round(times, 9).astype(float)


def _in_order(samples: Samples) -> Samples:
    _, order = np.unique(samples.times, return_index=True)
    return Samples(*(array[order] for array in samples))
