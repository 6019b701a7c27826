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
"""Trajectories and wrenches through real messages: what the node makes of them."""

import math

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.settings import Settings
from ros2_rnea.node.timing import clock_steps, clocks
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM, BALANCED
from wrench_settings import COMPENSATED_AT_ONCE

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']


@pytest.fixture
def arm(bench):
    """Return an arm that knows its robot and its state, and that another controller moves."""
    arm = bench(joints=JOINTS, state_timeout=5.0, position_loop='present')
    arm.describe(ARM)
    arm.answer(JOINTS, [0.0, 0.0])
    return arm


def status(arm) -> str:
    """Return what the last cycle came to."""
    return arm.status().name


def test_before_a_trajectory_gravity_at_the_measured_state_counts(arm):
    effort = arm.answer(JOINTS, [0.4, 0.3])
    np.testing.assert_allclose(effort, Robot.from_urdf(ARM).gravity([0.4, 0.3]), rtol=1e-12)
    assert status(arm) == 'NO_TRAJECTORY'


def test_a_trajectory_is_followed_at_the_desired_state(arm, monkeypatch):
    # constant acceleration: of the desired state only position and velocity depend on when
    q0, qdd = np.array([0.2, -0.1]), np.array([0.5, 1.0])
    points = [(t, q0 + 0.5 * qdd * t * t, qdd * t, qdd) for t in (0.0, 1.0, 2.0)]
    points.append((9.0, points[2][1], [0.0, 0.0], [0.0, 0.0]))
    now = arm.node.clocks.now()
    monkeypatch.setattr(clock_steps, '_STEP', math.inf)  # only the time of trajectories goes on
    monkeypatch.setattr(clocks, 'monotonic', lambda: now.steady)
    whole_second = RosTime.from_seconds(math.floor(now.ros.seconds))
    monkeypatch.setattr(clocks, 'time_ns', lambda: now.ros.nanoseconds)
    arm.send_trajectory(JOINTS, points, stamp=math.floor(now.ros.seconds))
    arm.until(lambda: arm.accepted('joint_trajectory') == 1)
    for t in (0.3, 1.3):
        now = Instant(now.steady, whole_second + t)
        effort = arm.answer(JOINTS, [0.0, 0.0])
        assert status(arm) == 'FOLLOWING'
        expected = Robot.from_urdf(ARM).inverse_dynamics(q0 + 0.5 * qdd * t * t, qdd * t, qdd)
        np.testing.assert_allclose(effort, expected, atol=1e-9)


def test_gravity_of_the_last_point_holds_until_the_robot_leaves(arm):
    end = [0.05, -0.05]
    arm.send_trajectory(JOINTS, [(0.01, end)])
    arm.until(lambda: arm.answer(JOINTS, [0.0, 0.0]) and status(arm) == 'HOLDING_END')
    robot = Robot.from_urdf(ARM)
    np.testing.assert_allclose(arm.answer(JOINTS, [0.0, 0.0]), robot.gravity(end), rtol=1e-12)
    np.testing.assert_allclose(
        arm.answer(JOINTS, [0.5, 0.0]), robot.gravity([0.5, 0.0]), rtol=1e-12)
    assert status(arm) == 'GOAL_DEVIATION'


def test_a_streamed_point_is_led_in_to(arm):
    arm.send_trajectory(JOINTS, [(30.0, [0.3, 0.3])])
    arm.until(lambda: arm.answer(JOINTS, [0.0, 0.0]) and status(arm) == 'FOLLOWING')


@pytest.mark.parametrize('names, points', [
    (JOINTS, []),
    (['shoulder', 'wrist'], [(1.0, [0.0, 0.0])]),
    (JOINTS, [(1.0, [0.0])]),
    (JOINTS, [(1.0, [0.0, float('nan')])]),
    (JOINTS, [(1.0, [0.0, 0.0]), (1.0, [0.1, 0.0])]),
])
def test_a_bad_trajectory_is_refused_and_the_running_one_stays(arm, names, points):
    arm.send_trajectory(JOINTS, [(60.0, [0.3, 0.3])])
    arm.until(lambda: arm.answer(JOINTS, [0.0, 0.0]) and status(arm) == 'FOLLOWING')
    arm.send_trajectory(names, points)
    arm.until(lambda: arm.refused('joint_trajectory') == 1)
    arm.answer(JOINTS, [0.0, 0.0])
    assert status(arm) == 'FOLLOWING'


def test_the_mode_can_be_changed_and_the_trajectory_goes_on(arm):
    arm.send_trajectory(JOINTS, [(60.0, [0.3, 0.3])])
    arm.until(lambda: arm.answer(JOINTS, [0.0, 0.0]) and status(arm) == 'FOLLOWING')
    assert arm.set_parameter('mode', 'gravity_compensation').successful
    arm.answer(JOINTS, [0.0, 0.0])
    assert status(arm) == 'GRAVITY'
    assert arm.set_parameter('mode', 'feedforward').successful
    arm.answer(JOINTS, [0.0, 0.0])
    assert status(arm) == 'FOLLOWING'


def follow_rest(arm, q):
    """Let the arm follow a trajectory that ends at once where it is."""
    arm.answer(JOINTS, q)
    arm.send_trajectory(JOINTS, [(0.001, q)])
    arm.until(lambda: arm.answer(JOINTS, q) and status(arm) == 'HOLDING_END')


def test_half_of_a_wrench_is_compensated_along_a_trajectory(arm, capfd):
    for name, value in (
            ('wrench_timeout', 60.0), ('wrench_gain', 0.5),
            ('wrench_in_gravity_compensation', False)):
        assert arm.set_parameter(name, value).successful
    arm.push('tool', force=(3.0, 0.0, 1.0))
    arm.until(lambda: arm.accepted('wrench') == 1)
    robot, q, zeros = Robot.from_urdf(ARM), [0.2, 0.3], [0.0, 0.0]
    np.testing.assert_allclose(arm.answer(JOINTS, q), robot.gravity(q), rtol=1e-12)
    follow_rest(arm, q)
    half = robot.inverse_dynamics(q, zeros, zeros, f_ext={'tool': [0, 0, 0, 1.5, 0, 0.5]})
    np.testing.assert_allclose(arm.answer(JOINTS, q), half, rtol=1e-12)
    logged = ''

    def is_logged():
        nonlocal logged
        logged += capfd.readouterr().err
        return 'Set 1 for a wrench that is known' in logged

    arm.until(is_logged)
    assert logged.count('the share 0.5 of the measured wrench') == 1


def test_a_huge_wrench_adds_only_its_share_of_the_limits(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0, wrench_timeout=60.0, wrench_effort_share=0.2)
    arm.describe(ARM)
    q = [0.2, 0.3]
    gravity = Robot.from_urdf(ARM).gravity(q)
    arm.push('tool', force=(1e6, 0.0, 0.0))
    arm.until(lambda: arm.accepted('wrench') == 1)
    added = np.abs(np.array(arm.answer(JOINTS, q)) - gravity)
    assert np.max(added / [20.0, 8.0]) == pytest.approx(1.0)
    arm.until(lambda: 'wrench_effort_share' in arm.told('limited wrenches'))


def test_by_default_half_a_wrench_is_compensated_within_limits(bench):
    """All parameters of wrenches are as they are shipped, but the timeout and the fade time."""
    shipped = {name: getattr(Settings(), name) for name in COMPENSATED_AT_ONCE}
    arm = bench(joints=JOINTS, wrench_fade_time=0.2, state_timeout=5.0, **{
        **shipped, 'wrench_timeout': 60.0})
    arm.describe(ARM)
    robot, q, zeros = Robot.from_urdf(ARM), [0.2, 0.3], [0.0, 0.0]
    gravity = robot.gravity(q)
    follow_rest(arm, q)

    def added_by(force):
        arm.push('tool', force=force)
        return np.array(arm.answer(JOINTS, q)) - gravity

    half = robot.inverse_dynamics(
        q, zeros, zeros, f_ext={'tool': [0, 0, 0, 1.5, 0, 0.5]}) - gravity
    arm.until(lambda: np.abs(added_by((3.0, 0.0, 1.0)) - half).max() < 1e-3)
    arm.push('upper', force=(3.0, 0.0, 1.0))
    arm.until(lambda: arm.refused('wrench') == 1)
    assert 'wrench_frames: [tool, upper]' in arm.told('wrench')
    largest = np.max([np.abs(added_by((3e5, 0.0, 1e5))) for _ in range(50)], 0)
    most = Settings().wrench_force_limit / np.hypot(1.5, 0.5) * np.abs(half)
    assert np.all(largest <= np.minimum(most, 0.2 * np.array([100.0, 40.0])) + 1e-9)
    assert np.all(largest > 5.0 * np.abs(half))
    arm.until(lambda: added_by((3e5, 0.0, 1e5)) is not None
              and 'tool' in arm.told('limited wrenches'))


def test_a_wrench_counts_in_its_frame_and_several_add(arm):
    force, moment = (3.0, 0.0, 1.0), (0.0, 0.5, 0.0)
    for name, value in (('wrench_timeout', 60.0), ('wrench_frames', ['tool', 'upper'])):
        assert arm.set_parameter(name, value).successful
    arm.push('tool', moment, force)
    arm.until(lambda: arm.accepted('wrench') == 1)
    arm.push('upper', force=force)
    arm.until(lambda: arm.accepted('wrench') == 2)
    effort = arm.answer(JOINTS, [0.2, 0.3])
    zeros = [0.0, 0.0]
    expected = Robot.from_urdf(ARM).inverse_dynamics(
        [0.2, 0.3], zeros, zeros,
        f_ext={'tool': [*moment, *force], 'upper': [0.0, 0.0, 0.0, *force]})
    np.testing.assert_allclose(effort, expected, rtol=1e-12)


def test_where_no_frames_are_named_one_of_two_wrenches_remains(arm):
    for name, value in (('wrench_timeout', 60.0), ('wrench_frames', ['tool', 'upper'])):
        assert arm.set_parameter(name, value).successful
    for count, frame in enumerate(('upper', 'tool'), 1):
        arm.push(frame, force=(3.0, 0.0, 1.0))
        arm.until(lambda expected=count: arm.accepted('wrench') == expected)
    assert arm.set_parameter('wrench_frames', []).successful
    expected = Robot.from_urdf(ARM).inverse_dynamics(
        [0.2, 0.3], [0.0, 0.0], [0.0, 0.0], f_ext={'tool': [0.0, 0.0, 0.0, 3.0, 0.0, 1.0]})
    np.testing.assert_allclose(arm.answer(JOINTS, [0.2, 0.3]), expected, rtol=1e-12)
    arm.push('upper', force=(3.0, 0.0, 1.0))
    arm.until(lambda: arm.refused('wrench') == 1)
    assert 'wrench_frames: [tool, upper]' in arm.told('wrench')
    arm.push('tool', force=(3.0, 0.0, 1.0))
    arm.until(lambda: arm.accepted('wrench') == 3)


def test_a_wrench_may_be_what_the_robot_exerts(arm):
    arm.set_parameter('wrench_timeout', 60.0)
    at_rest = JOINTS, [0.2, 0.3], [0.0, 0.0]
    plain = np.array(arm.answer(*at_rest))
    arm.push('tool', force=(3.0, 0.0, 1.0))
    arm.until(lambda: arm.accepted('wrench') == 1)
    pushed = arm.answer(*at_rest) - plain
    arm.set_parameter('wrench_exerted_by', 'robot')
    np.testing.assert_allclose(arm.answer(*at_rest) - plain, -pushed, rtol=1e-9)


def test_a_wrench_is_off_in_gravity_compensation_unless_asked_for(arm):
    arm.set_parameter('wrench_timeout', 60.0)
    arm.set_parameter('wrench_in_gravity_compensation', False)
    arm.set_parameter('mode', 'gravity_compensation')
    arm.push('tool', force=(3.0, 0.0, 1.0))
    arm.until(lambda: arm.accepted('wrench') == 1)
    gravity = Robot.from_urdf(ARM).gravity([0.2, 0.3])
    np.testing.assert_allclose(arm.answer(JOINTS, [0.2, 0.3]), gravity, rtol=1e-12)
    arm.set_parameter('wrench_in_gravity_compensation', True)
    assert np.abs(arm.answer(JOINTS, [0.2, 0.3]) - gravity).max() > 0.1


def test_an_old_wrench_no_longer_counts(arm):
    arm.set_parameter('wrench_timeout', 0.05)
    arm.push('tool', force=(3.0, 0.0, 1.0))
    arm.until(lambda: arm.accepted('wrench') == 1)
    arm.settle(0.1)
    gravity = Robot.from_urdf(ARM).gravity([0.2, 0.3])
    np.testing.assert_allclose(arm.answer(JOINTS, [0.2, 0.3]), gravity, rtol=1e-12)


@pytest.mark.parametrize('frame, force, said', [
    ('tol', 1.0, "did you mean 'tool'"),
    ('base', 1.0, 'would change no effort'),
    ('tool', float('nan'), 'needs 6 finite numbers'),
])
def test_a_wrench_that_cannot_count_is_refused(arm, frame, force, said):
    arm.push(frame, force=(force, 0.0, 0.0))
    arm.until(lambda: arm.refused('wrench') == 1)
    assert said in arm.told('wrench')


def test_a_point_in_motion_is_followed_where_that_is_allowed(arm):
    arm.send_trajectory(JOINTS, [(60.0, [0.3, 0.3], [0.1, 0.1])])
    arm.until(lambda: arm.refused('joint_trajectory') == 1)
    assert arm.set_parameter('allow_nonzero_velocity_at_trajectory_end', True).successful
    arm.send_trajectory(JOINTS, [(60.0, [0.3, 0.3], [0.1, 0.1])])
    arm.until(lambda: arm.answer(JOINTS, [0.0, 0.0]) and status(arm) == 'FOLLOWING')


# ---- modes and terms --------------------------------------------------------------------------


def test_computed_torque_corrects_the_error_and_needs_velocities(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0, mode='computed_torque', hold_tolerance=10.0,
                position_gains=[100.0], velocity_gains=[20.0])
    arm.describe(ARM)
    arm.state(JOINTS, [0.1, 0.2])
    arm.until(lambda: status(arm) == 'UNKNOWN_VELOCITY')
    assert not arm.commands
    begin, q, qd = np.array([0.1, 0.2]), np.array([0.12, 0.19]), np.array([0.05, -0.02])
    arm.answer(JOINTS, begin, [0.0, 0.0])
    arm.send_trajectory(JOINTS, [(0.0, begin.tolist())])
    arm.until(lambda: arm.accepted('joint_trajectory') == 1)
    arm.answer(JOINTS, begin, [0.0, 0.0])  # the motion begins where the arm is
    effort = arm.answer(JOINTS, q, qd)
    robot = Robot.from_urdf(ARM)
    correction = 100.0 * (begin - q) - 20.0 * qd
    expected = robot.inverse_dynamics(q, qd, correction) - robot.friction(qd)
    np.testing.assert_allclose(effort, expected, rtol=1e-12)


def test_gains_that_are_missing_are_refused(arm):
    result = arm.set_parameter('mode', 'computed_torque')
    assert not result.successful
    assert 'position_gains is empty' in result.reason


@pytest.mark.parametrize('name', ['franka', 'ur'])
def test_an_arm_that_adds_gravity_is_sent_none(arm, name):
    assert arm.set_parameter('arm', name).successful
    assert arm.answer(JOINTS, [0.4, 0.3]) == [0.0, 0.0]
    refused = arm.set_parameter('terms', 'full')
    assert not refused.successful
    assert f'arm is {name}' in refused.reason


def test_scaling_for_one_joint_lets_no_other_fall(arm):
    gravity = Robot.from_urdf(ARM).gravity([0.4, 0.3])
    arm.answer(JOINTS, BALANCED)
    assert arm.set_parameter('beyond_limits', 'scale').successful
    assert arm.set_parameter('effort_limit_factor', 0.01).successful
    effort = arm.answer(JOINTS, [0.4, 0.3])
    assert abs(gravity[1]) > 0.4
    np.testing.assert_allclose(effort, [gravity[0], np.copysign(0.4, gravity[1])], rtol=1e-12)
