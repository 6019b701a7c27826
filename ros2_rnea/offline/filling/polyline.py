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
"""Approximation of sampled curves by straight lines between few of the samples."""

from __future__ import annotations

import numpy as np

from ros2_rnea.trajectories.trajectory import Array

_FIRST_WINDOW = 64


def knots(times: Array, values: Array, tolerance: Array) -> list[int]:
    """
    Return the samples to keep: straight lines between them are near all others.

    From each kept sample, a line leads to the last sample for which it deviates from none of the
    samples between by more than the tolerance.

    :param times: shape (N,), increasing.
    :param values: of several curves, shape (N, curves).
    :param tolerance: by curve, shape (curves,), positive.
    :return: increasing indices, including the first and the last sample.
    """
    kept = [0]
    last = len(times) - 1
    while kept[-1] < last:
        here, window = kept[-1], _FIRST_WINDOW
        reach = _reach(times[here:here + window], values[here:here + window], tolerance)
        while reach == window - 1:  # the line may continue beyond the window
            window *= 4
            reach = _reach(times[here:here + window], values[here:here + window], tolerance)
        kept.append(here + reach)
    return kept


def _reach(times: Array, values: Array, tolerance: Array) -> int:
    """Return the last sample that a line from the first one may lead to."""
    run = (times[1:] - times[0])[:, np.newaxis]
    rise = values[1:] - values[0]
    # A line is near a sample where its slope is in a range, and near several in all their ranges.
    least = np.maximum.accumulate((rise - tolerance) / run)
    most = np.minimum.accumulate((rise + tolerance) / run)
    slope = rise / run
    near = np.ones(len(slope), dtype=bool)
    near[1:] = np.all((least[:-1] <= slope[1:]) & (slope[1:] <= most[:-1]), axis=1)
    return 1 + int(np.flatnonzero(near)[-1])


def lines_at(times: Array, knot_times: Array, knot_values: Array) -> Array:
    """
    Return the values of straight lines between knots, from the first to the last knot.

    :param times: shape (N,).
    :param knot_times: shape (K,), increasing.
    :param knot_values: shape (K, curves).
    :return: shape (N, curves).
    """
    return np.stack(
        [np.interp(times, knot_times, curve) for curve in knot_values.T], axis=1)
