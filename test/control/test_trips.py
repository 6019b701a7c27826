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
"""The limits that stop a motion: each at its value, and only where the node moves alone."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.decision import Status
from ros2_rnea.control.settings import Settings
from ros2_rnea.control.trips import FAST_SAMPLES, GROWTH, TripMemory, Trips
from ros2_rnea.model.description import JointLimits

NAMES = ('shoulder', 'elbow')
LIMITS = [JointLimits(velocity=2.0), JointLimits(velocity=1.0)]
TOLERANCES = np.array([0.2, 0.05])
BOTH = np.array([True, True])


def trips(alone=BOTH, tolerances=TOLERANCES, memory=None, limits=LIMITS, **settings):
    return Trips(
        NAMES, limits, Settings(**settings), np.array(alone), tolerances,
        TripMemory() if memory is None else memory)


def off(one, deviation, saturated=None, now=1.0):
    """Return the cause of a trip, with saturated joints."""
    return one.out_of_control(
        None if deviation is None else np.array(deviation),
        None if saturated is None else np.array(saturated), now)


@pytest.mark.parametrize('deviation, joints', [
    ((0.39, 0.09), ()), ((0.41, 0.0), ('shoulder',)), ((-0.41, 0.0), ('shoulder',)),
    ((0.0, 0.11), ('elbow',)), ((9.0, -9.0), NAMES)])
def test_a_deviation_of_twice_the_tolerance_stops(deviation, joints):
    cause = off(trips(), deviation)
    assert (() if cause is None else cause.joints) == joints
    if joints:
        assert cause.status is Status.TOO_FAR_OFF
        assert all(f'joint {name!r} is off its motion by' in cause.detail for name in joints)


def test_the_limits_are_settings_and_zero_switches_each_off():
    assert off(trips(trip_deviation=3.0), (0.59, 0.0)) is None
    assert off(trips(trip_deviation=3.0), (0.61, 0.0))
    assert off(trips(trip_deviation=0.0), (99.0, 99.0)) is None
    assert off(trips(tolerances=np.array([inf, inf])), (99.0, 99.0)) is None
    calm = trips(trip_deviation=0.0, trip_saturation_time=0.0)
    for step in range(100):
        assert off(calm, (0.1 * step, 0.0), (True, False), float(step)) is None
    slow = trips(trip_velocity_factor=0.0)
    assert not any(slow.too_fast(np.array([1e6, 1e6])) for _ in range(9))


def test_without_a_motion_there_is_no_deviation():
    assert off(trips(), None, (True, True)) is None


@pytest.mark.parametrize('growth, stops', [(0.9 * GROWTH, False), (1.1 * GROWTH, True)])
def test_a_joint_at_its_limit_stops_where_its_deviation_grows(growth, stops):
    one = trips()
    assert off(one, (0.1, 0.0), (True, False), 1.0) is None
    assert off(one, (-0.1 - growth, 0.0), (True, False), 1.2) is None  # not for long enough
    cause = off(one, (-0.1 - growth, 0.0), (True, False), 1.21)
    assert (cause is not None) is stops
    if stops:
        assert (cause.status, cause.joints) == (Status.SATURATED, ('shoulder',))


def test_a_joint_returning_at_its_limit_is_not_stopped():
    one = trips()
    for step in range(100):
        assert off(one, (0.3 - 0.003 * step, 0.0), (True, False), 1.0 + 0.01 * step) is None


def test_only_uninterrupted_time_at_the_limit_counts():
    one = trips()
    for step in range(40):
        saturated = (step % 10 != 9, False)
        assert off(one, (0.1 + 0.005 * step, 0.0), saturated, 1.0 + 0.02 * step) is None


def test_each_joint_has_its_own_time():
    one = trips()
    off(one, (0.1, 0.01), (True, False), 1.0)
    off(one, (0.1, 0.01), (True, True), 1.15)
    cause = off(one, (0.1, 0.04), (True, True), 1.3)  # the elbow has grown, for 0.15 s
    assert cause is None
    assert off(one, (0.1, 0.04), (True, True), 1.36).joints == ('elbow',)


@pytest.mark.parametrize('velocities, joints', [
    ((2.9, 1.4), ()), ((3.1, 0.0), ('shoulder',)), ((0.0, -1.6), ('elbow',))])
def test_beyond_one_and_a_half_velocity_limits_several_states_stop(velocities, joints):
    one = trips()
    causes = [one.too_fast(np.array(velocities)) for _ in range(FAST_SAMPLES)]
    assert causes[:-1] == [None] * (FAST_SAMPLES - 1)
    assert (() if causes[-1] is None else causes[-1].joints) == joints
    assert not joints or causes[-1].status is Status.TOO_FAST


def test_one_wrong_velocity_is_none():
    one = trips()
    for _ in range(20):
        assert one.too_fast(np.array([50.0, 0.0])) is None
        assert one.too_fast(np.array([0.0, 0.0])) is None


@pytest.mark.parametrize('limit', [0.0, inf])
def test_a_placeholder_is_no_velocity_limit(limit):
    one = trips(limits=[JointLimits(velocity=limit)] * 2)
    assert not any(one.too_fast(np.array([1e6, 1e6])) for _ in range(9))


def test_joints_that_another_controller_holds_are_not_judged():
    one = trips(alone=(False, True))
    assert off(one, (9.0, 0.0)) is None
    assert off(one, (9.0, 9.0)).joints == ('elbow',)
    held = trips(alone=(False, False))
    for step in range(100):
        assert off(held, (0.1 * step, 9.0), (True, True), float(step)) is None
        assert held.too_fast(np.array([99.0, 99.0])) is None


def test_other_settings_go_on_with_what_is_remembered():
    memory = TripMemory()
    off(trips(memory=memory), (0.1, 0.0), (True, False), 1.0)
    trips(memory=memory).too_fast(np.array([9.0, 0.0]))
    newer = trips(memory=memory)
    assert off(newer, (0.15, 0.0), (True, False), 1.3).status is Status.SATURATED
    assert [newer.too_fast(np.array([9.0, 0.0])) is None for _ in range(2)] == [True, False]
