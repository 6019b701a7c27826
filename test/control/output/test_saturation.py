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
"""Efforts within the limits of the motors, in two ways."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.output.saturation import clamp, LARGEST_EFFORT, scale

LIMITS = np.array([100.0, 40.0])


def test_what_is_within_passes_as_it_is():
    for effort, flags in (
            clamp(np.array([5.0, -6.0]), LIMITS),
            scale(np.array([5.0, -6.0]), LIMITS, np.array([7.0, 0.0]))):
        assert effort.tolist() == [5.0, -6.0]
        assert not flags.any()


def test_beyond_a_limit_there_are_two_ways():
    clamped, flags = clamp(np.array([5.0, -80.0]), LIMITS)
    assert clamped.tolist() == [5.0, -40.0]
    assert flags.tolist() == [False, True]
    scaled, flags = scale(np.array([5.0, -80.0]), LIMITS, np.array([7.0, 0.0]))
    assert scaled.tolist() == [6.0, -40.0]
    assert flags.tolist() == [False, True]


@pytest.mark.parametrize('holding, expected', [
    ((7.0, 0.0), [10.0, -40.0]),      # half of what is added
    ((19.0, 20.0), [17.0, -40.0]),
    ((7.0, -40.0), [7.0, -40.0])])    # the elbow has no room left
def test_to_scale_takes_nothing_from_what_holds(holding, expected):
    """The arm would fall, since too large an effort of one joint counts for all."""
    needed = np.array([13.0, -80.0 if holding[1] != 20.0 else -160.0])
    effort, flags = scale(needed, LIMITS, np.array(holding))
    assert effort == pytest.approx(expected)
    assert flags.tolist() == [False, True]


@pytest.mark.parametrize('size', [1e4, 1e140, -1e140])
def test_to_scale_away_any_effort_leaves_what_holds(size):
    effort, _ = scale(np.array([-3.03, size]), LIMITS, np.array([-3.03, -1.6]))
    assert effort == pytest.approx([-3.03, np.copysign(40.0, size)])


def test_a_limit_of_zero_is_a_placeholder_and_scales_nothing():
    effort, flags = scale(np.array([50.0, 9.0]), np.array([100.0, 0.0]), np.zeros(2))
    assert effort.tolist() == [50.0, 0.0]
    assert flags.tolist() == [False, True]


def test_without_a_limit_nothing_is_saturated_and_squares_are_finite():
    effort, flags = clamp(np.array([1e99, -5.0]), np.array([inf, inf]))
    assert effort.tolist() == [1e99, -5.0]
    assert not flags.any()
    assert np.isfinite(LARGEST_EFFORT**2)
