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

"""Limits of effort, of its rate and of the joints, as the policy keeps them."""

from math import inf

from decisions import limited_joints
import numpy as np
import pytest
from ride import ARM_ROBOT, GRAVITY, HELD, JOINTS, PERIOD, Ride
from ros2_rnea.control.decision import Status
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import BALANCED
from wrench_settings import COMPENSATED_AT_ONCE


@pytest.mark.parametrize('others', [{}, HELD])
def test_a_lowered_limit_holds_at_once_without_other_steps(others):
    """The wrench asks for more than the new limit; gravity, for less."""
    pushed = {'effort_rate_limit': 10.0, 'wrench_timeout': 9.0, **COMPENSATED_AT_ONCE, **others}
    ride = Ride(**pushed)
    ride.policy.take_wrench('tool', [0.0, 9.0, 0.0, 0.0, 0.0, 0.0], ride.now)
    before = ride.go(2.0).sent[-1]
    assert abs(before[1]) > 10.0
    ride.change(effort_limit_factor=0.2, **pushed).go(PERIOD)
    assert abs(ride.sent[-1][1]) == 8.0
    assert abs(ride.sent[-1][0] - before[0]) <= 10.0 * PERIOD + 1e-9
    ride.go(0.4)
    assert abs(ride.sent[-1][1]) == 8.0


@pytest.mark.parametrize('end', [(1.3, 0.2), (-2.0, 2.0)])
def test_start_replacement_and_abrupt_end_stay_within_the_rate(end):
    ride = Ride(effort_rate_limit=50.0, blend_time=0.0, **HELD).go(1.0)
    for _ in range(2):  # a spline whose acceleration jumps at either end
        ride.policy.take_trajectory(
            TrajectoryCommand(JOINTS, [Waypoint(0.2, end, (0.0, 0.0))]), ride.now)
        ride.go(0.1)
        assert limited_joints(ride.decision, 'rate_limited')
    ride.go(0.5, q=end)
    assert np.abs(np.diff(ride.sent, axis=0)).max() <= 50.0 * PERIOD * (1 + 1e-9)
    assert ride.decision.status is Status.HOLDING_END
    assert not limited_joints(ride.decision, 'rate_limited')
    ride.is_at(ARM_ROBOT.gravity(end))


def test_clamped_and_held_back_are_told_apart_by_joint():
    ride = Ride(blend_time=0.0, **HELD).go(0.2, q=BALANCED)
    ride.change(gravity=(0.0, 0.0, -9.81e3), blend_time=0.0, **HELD).go(PERIOD)
    assert limited_joints(ride.decision, 'saturated') == JOINTS
    assert limited_joints(ride.decision, 'rate_limited') == JOINTS
    np.testing.assert_allclose(
        np.abs(ride.sent[-1]), np.multiply([1000.0, 800.0], PERIOD), rtol=1e-6)
    ride.go(0.06)
    assert limited_joints(ride.decision, 'rate_limited') == ('shoulder',)
    ride.go(0.1)
    assert limited_joints(ride.decision, 'saturated') == JOINTS
    assert limited_joints(ride.decision, 'rate_limited') == ()
    ride.is_at(np.sign(GRAVITY) * [100.0, 40.0])


@pytest.mark.parametrize('q, qd', [((3.0, -0.8), ()), ((0.3, -0.8), (2.5, 0.0))])
@pytest.mark.parametrize('moment', [35.0, -35.0])
def test_a_joint_at_a_bound_has_at_most_holding_effort(q, qd, moment):
    ride = Ride(blend_time=0.0, effort_rate_limit=inf, **COMPENSATED_AT_ONCE)
    push = np.array([0.0, moment, 0.0, 0.0, 0.0, 0.0])
    ride.policy.take_wrench('tool', push, ride.now)
    ride.go(PERIOD, q, qd)
    free = ARM_ROBOT.inverse_dynamics(q, np.zeros(2), np.zeros(2), f_ext={'tool': push})
    free = np.clip(free, [-100.0, -40.0], [100.0, 40.0])
    holding = ARM_ROBOT.gravity(q)
    pushes = free[0] > holding[0]
    assert pushes is np.bool_(moment < 0.0)
    assert limited_joints(ride.decision, 'restrained') == (('shoulder',) if pushes else ())
    ride.is_at([min(free[0], holding[0]), free[1]])


@pytest.mark.parametrize('setting, q, qd', [
    ({'position_limit_margin': 0.2}, (2.9, -0.8), ()),
    ({'velocity_limit_factor': 0.5}, (0.3, -0.8), (1.5, 0.0))])
def test_the_bounds_are_settings(setting, q, qd):
    for settings, restrained in ((setting, ('shoulder',)), ({}, ())):
        ride = Ride(blend_time=0.0, **settings, **COMPENSATED_AT_ONCE)
        ride.policy.take_wrench('tool', [0.0, -60.0, 0.0, 0.0, 0.0, 0.0], ride.now)
        assert limited_joints(ride.go(PERIOD, q, qd).decision, 'restrained') == restrained
