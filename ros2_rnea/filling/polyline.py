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
"""Curves that are known at many moments, drawn with straight lines between few of them."""

from __future__ import annotations

import numpy as np

from ros2_rnea.feedforward.reference.trajectory import Array

_FIRST_LOOK = 64


def knots(times: Array, values: Array, tolerance: Array) -> list[int]:
    """
    Return which samples to keep so that straight lines between them stay near all others.

    From each one kept, the line goes as far as it can: to the last sample for which it passes
    within the tolerance of all samples on the way.

    :param times: shape (N,), rising.
    :param values: of several curves, shape (N, curves).
    :param tolerance: by curve, shape (curves,), positive.
    :return: indices, rising, the first and the last sample's among them.
    """
    kept = [0]
    last = len(times) - 1
    while kept[-1] < last:
        here, look = kept[-1], _FIRST_LOOK
        reach = _reach(times[here:here + look], values[here:here + look], tolerance)
        while reach == look - 1:  # perhaps the line goes on beyond what was looked at
            look *= 4
            reach = _reach(times[here:here + look], values[here:here + look], tolerance)
        kept.append(here + reach)
    return kept


def _reach(times: Array, values: Array, tolerance: Array) -> int:
    """Return the last sample that a line from the first one may lead to."""
    run = (times[1:] - times[0])[:, np.newaxis]
    rise = values[1:] - values[0]
    # A line passes near a sample when its slope is in a range; near several, in all their ranges.
    least = np.maximum.accumulate((rise - tolerance) / run)
    most = np.minimum.accumulate((rise + tolerance) / run)
    slope = rise / run
    near = np.ones(len(slope), dtype=bool)
    near[1:] = np.all((least[:-1] <= slope[1:]) & (slope[1:] <= most[:-1]), axis=1)
    return 1 + int(np.flatnonzero(near)[-1])


def lines_at(times: Array, knot_times: Array, knot_values: Array) -> Array:
    """
    Return what straight lines between knots have at times from the first to the last knot.

    :param times: shape (N,).
    :param knot_times: shape (K,), rising.
    :param knot_values: shape (K, curves).
    :return: shape (N, curves).
    """
    return np.stack(
        [np.interp(times, knot_times, curve) for curve in knot_values.T], axis=1)
