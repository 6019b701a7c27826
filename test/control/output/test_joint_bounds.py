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

from math import inf, nan

import numpy as np
import pytest
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.model.description import JointLimits

LIMITS = JointLimits(lower=-1.0, upper=2.0, velocity=3.0)
HOLDING = 5.0


def left(effort, position, velocity, limits=LIMITS, margin=0.0, factor=1.0):
    """Return what is left of an effort, next to a joint at rest within its limits."""
    bounds = JointBounds([limits, LIMITS], margin, factor)
    measured = np.array([[position, 0.0], [velocity, 0.0]])
    rest = bounds.restrained(np.array([effort, 77.0]), np.array([HOLDING, 0.0]), measured)
    assert rest[1] == 77.0
    assert bounds.are_reached(measured) or rest[0] == effort
    return rest[0]


@pytest.mark.parametrize('position, velocity', [(0.0, 0.0), (1.99, 2.99), (-0.99, -2.99)])
@pytest.mark.parametrize('effort', [-90.0, 90.0])
def test_within_its_bounds_a_joint_has_the_whole_effort(effort, position, velocity):
    assert left(effort, position, velocity) == effort


@pytest.mark.parametrize('position, velocity', [(2.0, 0.0), (2.1, -0.5), (0.0, 3.0), (0.0, 9.0)])
@pytest.mark.parametrize('effort, expected', [
    (9.0, HOLDING),       # pushes on: held against gravity, and no more
    (HOLDING, HOLDING),   # gravity's share is never removed
    (2.0, 2.0),           # lets it sink back
    (-90.0, -90.0)])      # brakes
def test_at_the_upper_bound_no_more_than_the_holding_effort_is_left(
        effort, expected, position, velocity):
    assert left(effort, position, velocity) == expected


@pytest.mark.parametrize('position, velocity', [
    (-1.0, 0.0), (-1.1, 0.5), (0.0, -3.0), (0.0, -9.0)])
@pytest.mark.parametrize('effort, expected', [
    (2.0, HOLDING),       # without its gravity's share, the joint would be pulled on
    (HOLDING, HOLDING),
    (-90.0, HOLDING),
    (9.0, 9.0)])
def test_at_the_lower_bound_no_less_than_the_holding_effort_is_left(
        effort, expected, position, velocity):
    assert left(effort, position, velocity) == expected


@pytest.mark.parametrize('effort', [-90.0, 90.0])
def test_beyond_one_end_and_on_the_way_back_too_fast_a_joint_is_only_held(effort):
    assert left(effort, 2.5, -4.0) == HOLDING


@pytest.mark.parametrize('position, margin, expected', [
    (1.85, 0.1, 90.0), (1.95, 0.1, HOLDING), (0.6, 99.0, HOLDING), (0.4, 99.0, 90.0)])
def test_the_margin_lies_before_both_ends_and_reaches_no_further_than_the_middle(
        position, margin, expected):
    assert left(90.0, position, 0.0, margin=margin) == expected
    mirrored = 1.0 - position  # between -1 and 2 the middle is 0.5
    assert left(-90.0, mirrored, 0.0, margin=margin) == (
        HOLDING if expected == HOLDING else -90.0)


@pytest.mark.parametrize('velocity, factor, expected', [
    (1.4, 0.5, 9.0), (1.6, 0.5, HOLDING), (5.0, 2.0, 9.0), (5.0, inf, 9.0)])
def test_the_velocity_limit_is_used_to_a_share(velocity, factor, expected):
    assert left(9.0, 0.0, velocity, factor=factor) == expected


@pytest.mark.parametrize('limit', [1e-3, 0.5, 1.0])
def test_a_low_velocity_limit_is_one_too(limit):
    limits = JointLimits(lower=-1.0, upper=2.0, velocity=limit)
    assert left(9.0, 0.0, limit, limits) == HOLDING
    assert left(-9.0, 0.0, -limit, limits) == HOLDING
    assert left(9.0, 0.0, 0.99 * limit, limits) == 9.0


@pytest.mark.parametrize('limits', [
    JointLimits(), JointLimits(lower=0.0, upper=0.0), JointLimits(velocity=0.0)])
@pytest.mark.parametrize('effort', [9.0, -9.0])
@pytest.mark.parametrize('place', [1e6, -1e6])
def test_what_is_no_bound_does_not_count(limits, effort, place):
    assert left(effort, place, place, limits) == effort
    measured = np.array([[place], [place]])
    assert not JointBounds([limits], 0.0, 1.0).are_reached(measured)


def test_a_joint_that_nobody_has_measured_is_at_no_bound():
    bounds = JointBounds([LIMITS], 0.0, 1.0)
    assert not bounds.are_reached(np.array([[nan], [0.0]]))
