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
"""How fast efforts may change, in time and not in cycles."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.output.rate_limit import (
    effort_rate_limits,
    limited,
    LONGEST_RISE,
    SHORTEST_RISE,
    USUAL_HIGHEST_RATE,
)


@pytest.mark.parametrize('limit, highest, expected', [
    (40.0, 0.0, 40.0 / SHORTEST_RISE),           # each joint by itself
    (100.0, 0.0, USUAL_HIGHEST_RATE),            # what some arms stop beyond
    (900.0, 0.0, 900.0 / LONGEST_RISE),          # a very large one needs not longer than this
    (40.0, 50.0, 50.0), (0.5, 50.0, 0.5 / SHORTEST_RISE), (40.0, inf, inf),
    (0.0, 0.0, USUAL_HIGHEST_RATE), (inf, 0.0, USUAL_HIGHEST_RATE), (inf, 50.0, 50.0)])
def test_the_rate_follows_from_the_limit_of_the_joint(limit, highest, expected):
    assert effort_rate_limits(np.array([limit]), highest) == pytest.approx([expected])


@pytest.mark.parametrize('period', [0.001, 0.01, 0.02, 0.1])
def test_a_rise_takes_the_same_time_at_every_period(period):
    """A slow bus is an ordinary bus."""
    effort, time = np.zeros(2), 0.0
    while not np.array_equal(effort, [10.0, 1.0]):
        effort, late = limited(
            np.array([10.0, 1.0]), effort, np.array([1.0 / 20.0, 1.0 / 20.0]), period)
        time += period
        assert late is None or late.tolist() == [True, effort[1] != 1.0]
    assert time == pytest.approx(0.5, abs=1.01 * period)


def test_only_the_joint_that_needs_more_time_is_held_back():
    seconds_per_effort = np.array([1.0 / 1000.0, 1.0 / 1000.0])
    effort, late = limited(np.array([-9.0, 0.9]), np.zeros(2), seconds_per_effort, 0.001)
    assert effort == pytest.approx([-1.0, 0.9])
    assert late.tolist() == [True, False]
    effort, late = limited(np.array([-0.9, 0.9]), np.zeros(2), seconds_per_effort, 0.001)
    assert effort.tolist() == [-0.9, 0.9]  # the norm of both needs more, and neither does
    assert late is None


def test_without_a_limit_all_is_reached_at_once():
    effort, late = limited(np.array([1e9, -1e9]), np.zeros(2), np.zeros(2), 0.0)
    assert effort.tolist() == [1e9, -1e9]
    assert late is None


def test_no_time_changes_nothing():
    effort, late = limited(np.array([5.0, 1.0]), np.array([1.0, 1.0]), np.full(2, 1e-3), 0.0)
    assert effort.tolist() == [1.0, 1.0]
    assert late.tolist() == [True, False]
