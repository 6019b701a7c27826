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
"""Settings that change while a policy is at work: what they change, and what stays as it was."""

from math import exp, inf, pi

import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings, StartFrom
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM, BALANCED
from unchecked import UNCHECKED
from wrench_settings import COMPENSATED_AT_ONCE

ROBOT = Robot.from_urdf(ARM)
JOINTS = ('shoulder', 'elbow')
Q = [0.3, -0.8]
DOWN, ACROSS = (0.0, 0.0, -9.81), (9.81, 0.0, 0.0)
AT_ONCE = {'blend_time': 0.0, 'effort_rate_limit': inf, 'wrench_fade_time': 0.0,
           **COMPENSATED_AT_ONCE, **UNCHECKED}
GUIDED = {'mode': Mode.GRAVITY_COMPENSATION, 'wrench_in_gravity_compensation': False}
PUSH = (0.0, 2.0, 0.0, 3.0, 0.0, 1.0)


def settings(**changes):
    return Settings(**{'joints': JOINTS, 'state_timeout': 10.0, 'wrench_timeout': 10.0,
                       **AT_ONCE, **changes})


def at(seconds):
    return Instant(steady=50.0 + seconds, ros=RosTime.from_seconds(1000.0 + seconds))


def effort(policy, time=0.0, q=Q):
    policy.take_joint_state(MeasuredJoints(JOINTS, q), at(time))
    return policy.decide(at(time)).effort


@pytest.fixture
def policy():
    """Return a policy at work, to whose arm somebody does something."""
    policy = Policy(ROBOT, settings())
    policy.take_joint_state(MeasuredJoints(JOINTS, Q), at(0.0))
    policy.take_wrench('tool', PUSH, at(0.0))
    np.testing.assert_allclose(effort(policy), needed(f_ext={'tool': np.array(PUSH)}))
    return policy


def needed(gravity=DOWN, **wrenches):
    still = np.zeros(2)
    return ROBOT.inverse_dynamics(Q, still, still, gravity=gravity, **wrenches)


@pytest.mark.parametrize('changes, can', [
    ({}, True), ({'mode': Mode.GRAVITY_COMPENSATION}, True), ({'gravity': ACROSS}, True),
    ({'joints': JOINTS[::-1]}, False), ({'joints': ()}, False),
    ({'assumed_positions': {'elbow': (0.0,)}}, False)])
def test_only_settings_about_the_same_joints_need_no_other_policy(policy, changes, can):
    assert policy.can_change_to(settings(**changes)) is can


def test_they_count_with_the_next_decision_and_wrenches_stay(policy):
    policy.change_settings(settings(gravity=ACROSS))
    np.testing.assert_allclose(
        effort(policy, 0.1), needed(ACROSS, f_ext={'tool': np.array(PUSH)}))
    policy.change_settings(settings(**GUIDED))
    np.testing.assert_allclose(effort(policy, 0.2), needed())
    policy.change_settings(settings(enabled=False, may_send_last=False))
    assert policy.decide(at(0.3)).status is Status.DISABLED
    policy.change_settings(settings(enabled=False, may_be_enabled=False))
    assert policy.decide(at(0.4)).status is Status.NOT_ALLOWED


@pytest.mark.parametrize('duration, blend_time', [(None, 2.0), (2.0, 0.0), (2.0, 9.0)])
def test_the_effort_goes_over_in_the_time_asked_for(policy, duration, blend_time):
    before = effort(policy, 0.9)
    policy.change_settings(
        settings(**GUIDED, blend_time=blend_time), duration)
    np.testing.assert_allclose(effort(policy, 1.0), before)
    left = 0.5 * exp(-1.0)  # (1 − s) e^(−2 s) at half of the duration
    np.testing.assert_allclose(
        effort(policy, 2.0), left * before + (1.0 - left) * needed())
    np.testing.assert_allclose(effort(policy, 3.0), needed())


@pytest.mark.parametrize('was, will_be', [(True, True), (True, False), (False, True)])
def test_measured_gravity_stays_only_where_it_counted_and_counts(policy, was, will_be):
    measured = {'gravity_time_constant': 0.0, 'gravity_tolerance': pi}
    policy = Policy(ROBOT, settings(gravity_from_imu=was, **measured))
    policy.take_joint_state(MeasuredJoints(JOINTS, Q), at(0.0))
    for time in (0.0, 0.1):
        policy.take_imu('base', (-9.81, 0.0, 0.0), at(time))
    np.testing.assert_allclose(effort(policy, 0.2), needed(ACROSS if was else DOWN), atol=1e-12)
    policy.change_settings(settings(gravity_from_imu=will_be, **measured))
    np.testing.assert_allclose(
        effort(policy, 0.3), needed(ACROSS if was and will_be else DOWN), atol=1e-12)


def test_a_share_of_the_limits_is_reached_no_faster():
    low = {'effort_rate_limit': 0.0, 'effort_limit_factor': 0.1, 'start_from': StartFrom.ZERO,
           'held_by_others': frozenset(JOINTS)}  # of joints moved alone, gravity has no rate limit
    policy = Policy(ROBOT, settings(**low, gravity=(0.0, 0.0, -9.81e3)))
    sent = [effort(policy, 0.001 * i, BALANCED) for i in range(3)]
    sent += [effort(policy, 0.001 * i) for i in range(3, 60)]
    allowed = 0.1 * ROBOT.effort_limits
    assert (np.abs(np.diff(sent, axis=0)) <= 0.001 * allowed / 0.05 + 1e-9).all()
    np.testing.assert_allclose(np.abs(sent[-1]), allowed)
