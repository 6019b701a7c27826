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
"""What is left of an effort near a bound: never less than what holds, and without a step."""

from math import inf, nan, sqrt

import numpy as np
import pytest
from ros2_rnea.control.output.joint_bounds import (
    DECELERATION,
    JointBounds,
    POSITION_BAND,
    VELOCITY_BAND,
)
from ros2_rnea.model.description import JointLimits

LIMITS = JointLimits(lower=-1.0, upper=2.0, velocity=3.0)
HOLDING = 5.0
BRAKING_TIME = 0.1
FASTEST = DECELERATION * 3.0 / BRAKING_TIME


def left(effort, position, velocity, limits=LIMITS, margin=0.0, factor=1.0):
    """Return what is left of an effort, next to a joint at rest within its limits."""
    bounds = JointBounds(np.array([limits.bounds, LIMITS.bounds]), margin, factor, BRAKING_TIME)
    measured = np.array([[position, 0.0], [velocity, 0.0]])
    rest = bounds.restrained(
        np.array([effort, 77.0]), np.array([HOLDING, 0.0]), *measured)
    assert rest[1] == 77.0
    assert bounds.may_matter(*measured) or rest[0] == effort
    return rest[0]


@pytest.mark.parametrize('position, velocity', [
    (0.0, 0.0), (1.97, 0.0), (-0.97, 0.0), (0.0, 2.69), (0.0, -2.69), (1.99, -2.6)])
@pytest.mark.parametrize('effort', [-90.0, 90.0])
def test_within_its_bounds_a_joint_has_the_whole_effort(effort, position, velocity):
    if (position, velocity) == (1.99, -2.6) and effort > 0.0:
        return  # it brakes there, but at the end of its range
    assert left(effort, position, velocity) == effort


@pytest.mark.parametrize('position, velocity', [(2.0, 0.0), (2.1, -0.5), (0.0, 3.0), (0.0, 9.0)])
@pytest.mark.parametrize('effort, expected', [
    (9.0, HOLDING),       # pushes on: held against gravity, and no more
    (HOLDING, HOLDING),   # gravity's share is never removed
    (2.0, 2.0),           # lets it sink back
    (-90.0, -90.0)])      # brakes
def test_at_the_upper_bound_the_holding_effort_is_left(effort, expected, position, velocity):
    assert left(effort, position, velocity) == expected


@pytest.mark.parametrize('position, velocity', [
    (-1.0, 0.0), (-1.1, 0.5), (0.0, -3.0), (0.0, -9.0)])
@pytest.mark.parametrize('effort, expected', [
    (2.0, HOLDING),       # without its gravity's share, the joint would be pulled on
    (HOLDING, HOLDING),
    (-90.0, HOLDING),
    (9.0, 9.0)])
def test_at_the_lower_bound_the_holding_effort_is_left(effort, expected, position, velocity):
    assert left(effort, position, velocity) == expected


def test_a_joint_far_beyond_an_end_can_be_guided_back():
    assert left(-90.0, 2.5, -0.5) == -90.0
    assert left(90.0, -1.5, 0.5) == 90.0


@pytest.mark.parametrize('end, sign', [(2.0, 1.0), (-1.0, -1.0)])
def test_the_effort_goes_to_that_which_holds_over_a_band(end, sign):
    """A step would be switched on and off by the noise of a sensor."""
    effort = HOLDING + sign * 40.0
    for share in (1.0, 0.5, 0.25, 0.0):
        position = end - sign * share * POSITION_BAND
        assert left(effort, position, 0.0) == pytest.approx(HOLDING + sign * share * 40.0)


def test_the_effort_is_continuous_in_position_and_velocity():
    places = np.linspace(1.9, 2.01, 12)
    speeds = np.linspace(-3.5, 3.5, 15)
    bounds = JointBounds(np.array([LIMITS.bounds]), 0.0, 1.0, BRAKING_TIME)

    def at(q, qd):
        return bounds.restrained(
            np.array([45.0]), np.array([HOLDING]), np.array([q]), np.array([qd]))[0]

    for q in places:
        for qd in speeds:
            for dq, dqd in ((1e-7, 0.0), (0.0, 1e-7)):
                # The fastest speed has an infinite slope at the end of the range alone.
                assert at(q + dq, qd + dqd) == pytest.approx(at(q, qd), abs=0.15)


@pytest.mark.parametrize('distance', [0.01, 0.1, 0.25])
def test_a_joint_is_no_faster_than_can_be_stopped(distance):
    bounds = JointBounds(np.array([LIMITS.bounds]), 0.0, 1.0, BRAKING_TIME)
    fastest = sqrt(2.0 * FASTEST * distance)
    for end, sign in ((2.0, 1.0), (-1.0, -1.0)):
        position = np.array([end - sign * distance])
        for factor, excess in ((0.99, 0.0), (1.1, 0.1), (-1.1, 0.0)):
            velocity = np.array([sign * factor * fastest])
            assert bounds.excess(position, velocity) == pytest.approx(
                [sign * excess * fastest], abs=1e-12)
            assert not excess or bounds.may_matter(position, velocity)


def test_with_that_deceleration_a_joint_stops_at_the_end():
    q, qd, step = 1.0, 2.9, 1e-4
    bounds = JointBounds(np.array([LIMITS.bounds]), 0.0, 1.0, BRAKING_TIME)
    for _ in range(30000):
        if bounds.excess(np.array([q]), np.array([qd]))[0] > 0.0:
            qd -= 1.01 * FASTEST * step
        q += qd * step
        assert q < 2.002
    assert abs(qd) < 0.05


@pytest.mark.parametrize('position, margin, expected', [
    (1.85, 0.1, 90.0), (1.95, 0.1, HOLDING), (0.6, 99.0, HOLDING), (0.4, 99.0, 90.0)])
def test_the_margin_reaches_no_further_than_the_middle(position, margin, expected):
    assert left(90.0, position, 0.0, margin=margin) == expected
    mirrored = 1.0 - position  # between -1 and 2 the middle is 0.5
    assert left(-90.0, mirrored, 0.0, margin=margin) == (
        HOLDING if expected == HOLDING else -90.0)


@pytest.mark.parametrize('velocity, factor, expected', [
    (1.3, 0.5, 9.0), (1.6, 0.5, HOLDING), (5.0, 2.0, 9.0), (5.0, inf, 9.0)])
def test_the_velocity_limit_is_used_to_a_share(velocity, factor, expected):
    assert left(9.0, 0.0, velocity, factor=factor) == expected


@pytest.mark.parametrize('limit', [1e-3, 0.5, 1.0])
def test_a_low_velocity_limit_is_one_too(limit):
    limits = JointLimits(lower=-1.0, upper=2.0, velocity=limit)
    assert left(9.0, 0.0, limit, limits) == HOLDING
    assert left(-9.0, 0.0, -limit, limits) == HOLDING
    assert left(9.0, 0.0, (0.999 - VELOCITY_BAND) * limit, limits) == 9.0
    assert left(9.0, 0.0, (1.0 - 0.5 * VELOCITY_BAND) * limit, limits) == pytest.approx(7.0)


@pytest.mark.parametrize('limits', [
    JointLimits(), JointLimits(lower=0.0, upper=0.0), JointLimits(velocity=0.0)])
@pytest.mark.parametrize('effort', [9.0, -9.0])
@pytest.mark.parametrize('place', [1e6, -1e6])
def test_what_is_no_bound_does_not_count(limits, effort, place):
    assert left(effort, place, place, limits) == effort
    bounds = JointBounds(np.array([limits.bounds]), 0.0, 1.0, BRAKING_TIME)
    assert not bounds.may_matter(np.array([place]), np.array([place]))
    assert bounds.excess(np.array([place]), np.array([place])).tolist() == [0.0]


def test_a_joint_that_nobody_has_measured_is_at_no_bound():
    bounds = JointBounds(np.array([LIMITS.bounds]), 0.0, 1.0, BRAKING_TIME)
    assert not bounds.may_matter(np.array([nan]), np.array([0.0]))


def test_a_range_without_a_margin_and_what_is_no_range():
    described = np.array([one.bounds for one in (
        LIMITS, JointLimits(lower=1.0, upper=1.0), JointLimits(lower=0.0, upper=0.1),
        JointLimits(lower=-inf, upper=2.0))])
    bounds = JointBounds(described, 0.1, 1.0, BRAKING_TIME)
    assert bounds.lower.tolist() == [-0.9, -inf, 0.05, -inf]
    assert bounds.upper.tolist() == [1.9, inf, 0.05, 1.9]
