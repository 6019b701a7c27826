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

"""Feedback sets in without a step, and takes up no motion that is far from the arm."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from ride import ARM_ROBOT, CORRECTED, GRAVITY, GUARDED, JOINTS, PERIOD, Q, Ride, SLOW
from ros2_rnea.control.decision import Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.settings import Mode
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import UnsafeChangeError
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import joint, link, robot


def following(reference, **settings):
    """Return a ride in computed_torque, and a function that goes on with a reference."""
    ride = Ride(**{'effort_rate_limit': inf, **CORRECTED, **settings}).go(1.0, qd=(0.0, 0.0))

    def go(seconds, at=reference, q=Q):
        for _ in range(round(seconds / PERIOD)):
            if at is not None:
                ride.policy.take_controller_state(
                    ControllerReference(JOINTS, at, (0.0, 0.0), (), 0.0, 0.0), ride.now)
            ride.go(PERIOD, q, (0.0, 0.0))
        return ride.decision.status

    return ride, go


FAR, NEAR = (Q[0] + 1.2, Q[1]), (Q[0] + 0.05, Q[1])


@pytest.mark.parametrize('come', ['trajectory', 'controller'])
def test_feedback_sets_in_without_a_step(come):
    ride = Ride(mode=Mode.COMPUTED_TORQUE, position_gains=(100.0,), velocity_gains=(20.0,),
                effort_rate_limit=inf, hold_tolerance=9.0).go(1.0, qd=(0.0, 0.0))
    before, far = ride.sent[-1], (0.8, -0.5)
    if come == 'trajectory':
        ride.policy.take_trajectory(TrajectoryCommand(JOINTS, [Waypoint(0.0, far)]), ride.now)
    else:
        ride.policy.take_controller_state(
            ControllerReference(JOINTS, far, (0.0, 0.0), (), 0.0, 0.0), ride.now)
    ride.go(PERIOD, qd=(0.0, 0.0))
    assert ride.decision.status in (Status.HOLDING_END, Status.FOLLOWING_CONTROLLER)
    np.testing.assert_allclose(ride.sent[-1], before, atol=1e-3)


def test_a_far_reference_is_followed_once_it_is_near():
    ride, go = following(FAR)
    assert go(1.0) is Status.MOTION_TOO_FAR
    assert 'reference of the controller is farther from the arm' in ride.decision.detail
    ride.is_at(GRAVITY)
    for _ in range(200):  # it is lost meanwhile, which fades
        assert go(PERIOD, None) in (Status.MOTION_TOO_FAR, Status.GOAL_DEVIATION)
        ride.is_at(GRAVITY)
    assert go(0.1, FAR) is Status.MOTION_TOO_FAR
    before = ride.sent[-1]
    assert go(PERIOD, NEAR) is Status.FOLLOWING_CONTROLLER
    np.testing.assert_allclose(ride.sent[-1], before, atol=1e-3)
    assert go(0.5, NEAR) is Status.FOLLOWING_CONTROLLER  # the weight of the error rises
    slowly = 0.15 * 20.0 / 100.0  # the error with which it is caught up with at 0.15 rad/s
    assert go(1.0, NEAR) is Status.FOLLOWING_CONTROLLER
    ride.is_at(ARM_ROBOT.inverse_dynamics(Q, np.zeros(2), [100.0 * 0.05, 0.0]))  # in full
    go(0.1, NEAR, (NEAR[0] - 0.9 * slowly, NEAR[1]))
    assert go(0.1, FAR) is Status.FOLLOWING_CONTROLLER  # it has been followed all the time
    ride.is_at(ARM_ROBOT.inverse_dynamics(Q, np.zeros(2), [100.0 * 0.1, 0.0]))


@pytest.mark.parametrize('how', ['disabled', 'guided'])
def test_an_arm_moved_meanwhile_is_not_driven_back(how):
    ride, go = following(Q)
    assert go(0.1) is Status.FOLLOWING_CONTROLLER
    settings = ride.policy.settings
    ride.policy.change_settings(
        replace(settings, enabled=False) if how == 'disabled'
        else replace(settings, mode=Mode.GRAVITY_COMPENSATION))
    moved = (Q[0] - 1.0, Q[1])
    go(1.0, q=moved)
    ride.policy.change_settings(settings)
    assert go(1.0, q=moved) is Status.MOTION_TOO_FAR
    ride.is_at(ARM_ROBOT.gravity(moved))
    assert go(1.0, q=(Q[0] - 0.09, Q[1])) is Status.FOLLOWING_CONTROLLER


def test_a_lost_reference_is_caught_up_with_a_bounded_error():
    ride, go = following(Q)
    assert go(0.5) is Status.FOLLOWING_CONTROLLER
    assert go(1.0, None) is Status.CONTROLLER_LOST
    assert go(2 * PERIOD, FAR) is Status.FOLLOWING_CONTROLLER
    slowly = 0.15 * 20.0 / 100.0  # the error with which it is caught up with at 0.15
    ride.is_at(ARM_ROBOT.inverse_dynamics(Q, np.zeros(2), [100.0 * slowly, 0.0]))
    bounded = ARM_ROBOT.inverse_dynamics(Q, np.zeros(2), [100.0 * 0.1, 0.0])
    assert go(1.0, FAR) is Status.FOLLOWING_CONTROLLER
    ride.is_at(bounded)
    go(7.5, FAR)  # by now it should be there
    almost = (FAR[0] - 0.11, FAR[1])
    go(0.1, FAR, almost)
    ride.is_at(ARM_ROBOT.inverse_dynamics(almost, np.zeros(2), [100.0 * 0.1, 0.0]))
    near = (FAR[0] - 0.09, FAR[1])
    go(0.1, FAR, near)
    ride.is_at(ARM_ROBOT.inverse_dynamics(near, np.zeros(2), [100.0 * 0.09, 0.0]))
    go(0.1, FAR, Q)  # the error of feedback is bounded all the time
    ride.is_at(bounded)


def test_without_its_controller_the_arm_is_held_by_bounded_feedback():
    """The smallest load that the description lacks would accelerate it away."""
    ride, go = following(Q)
    assert go(0.5) is Status.FOLLOWING_CONTROLLER
    sagging = (Q[0], Q[1] - 0.15)
    assert go(0.5, Q, sagging) is Status.FOLLOWING_CONTROLLER
    assert go(1.0, None, sagging) is Status.GOAL_DEVIATION
    ride.is_at(ARM_ROBOT.inverse_dynamics(sagging, np.zeros(2), [0.0, 100.0 * 0.1]))
    assert go(1.0, None, (Q[0], Q[1] - 0.06)) is Status.GOAL_DEVIATION  # not yet near again
    assert go(1.0, None, (Q[0], Q[1] - 0.04)) is Status.CONTROLLER_LOST


def test_without_a_tolerance_no_far_trajectory_is_taken_up():
    ride = Ride(**{**GUARDED, **CORRECTED, 'path_tolerance': 0.0}).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW), ride.now)
    ride.go(0.5, qd=(0.0, 0.0))
    assert ride.decision.status is Status.FOLLOWING
    settings = ride.policy.settings
    ride.policy.change_settings(replace(settings, mode=Mode.GRAVITY_COMPENSATION))
    moved = (Q[0] - 1.0, Q[1])
    ride.go(3.0, moved, (0.0, 0.0))
    ride.policy.change_settings(settings)
    ride.go(1.0, moved, (0.0, 0.0))
    assert ride.decision.status is Status.MOTION_TOO_FAR
    assert 'the trajectory is farther from the arm' in ride.decision.detail
    ride.is_at(ARM_ROBOT.gravity(moved))


@pytest.mark.parametrize('turn', [0.0, 0.5])
def test_one_joint_s_tolerance_does_not_cover_another_joint(turn):
    """The path deviation of the other one has not brought this one nearer."""
    names = ('turn', 'slide')
    mixed = Robot.from_urdf(robot(
        '<link name="base"/>', link('upper'), link('lower'), joint('turn', 'base', 'upper'),
        joint('slide', 'upper', 'lower', kind='prismatic', axis='1 0 0')))
    ride = Ride(mixed, joints=names, **{
        **GUARDED, **CORRECTED, 'path_tolerance_prismatic': 0.0})

    def go(seconds, *q):
        for _ in range(round(seconds / PERIOD)):
            ride.time += PERIOD
            ride.policy.take_joint_state(MeasuredJoints(names, q, (0.0, 0.0)), ride.now)
            ride.decision = ride.policy.decide(ride.now)
        return ride.decision.status

    go(1.0, 0.0, 0.0)
    ride.policy.take_trajectory(
        TrajectoryCommand(names, [Waypoint(30.0, (0.3, 0.0))]), ride.now)
    assert go(1.0, 0.0, 0.0) is Status.FOLLOWING
    settings = ride.policy.settings
    ride.policy.change_settings(replace(settings, mode=Mode.GRAVITY_COMPENSATION))
    go(0.5, 0.0, 0.0)
    ride.policy.change_settings(settings)
    assert go(1.0, turn, 0.8) is (Status.PATH_DEVIATION if turn else Status.MOTION_TOO_FAR)
    assert go(1.0, 0.05, 0.8) is Status.MOTION_TOO_FAR


@pytest.mark.parametrize('path_tolerance, error, is_followed', [
    (0.2, 0.19, True), (0.2, 0.21, False), (0.0, 0.11, False), (0.0, 0.09, True)])
def test_a_reference_is_near_within_the_larger_tolerance(path_tolerance, error, is_followed):
    ride, go = following((Q[0] + error, Q[1]), path_tolerance=path_tolerance)
    status = Status.FOLLOWING_CONTROLLER if is_followed else Status.MOTION_TOO_FAR
    assert go(0.1) is status


def test_tolerances_of_zero_let_a_reference_be_followed():
    ride, go = following(Q, path_tolerance=0.0, hold_tolerance=0.0)
    assert go(0.1, (Q[0] + 0.005, Q[1])) is Status.FOLLOWING_CONTROLLER
    go(0.5, None)
    assert go(1.0, (Q[0] + 0.05, Q[1])) is Status.FOLLOWING_CONTROLLER
    ride.is_at(ARM_ROBOT.inverse_dynamics(Q, np.zeros(2), [100.0 * 0.01, 0.0]))


@pytest.mark.parametrize('source', ['reference', 'trajectory'])
@pytest.mark.parametrize('how', ['in place', 'another policy'])
def test_feedback_switched_on_does_not_take_up_far_motions(source, how):
    feedforward = {'mode': Mode.FEEDFORWARD, 'path_tolerance': 0.0}
    ride, go = following(FAR, **feedforward)
    if source == 'reference':
        go(0.5)
    else:
        ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW), ride.now)
        ride.go(5.0, qd=(0.0, 0.0))
    corrected = {'path_tolerance': 0.0, 'effort_rate_limit': inf, **CORRECTED}
    if how == 'in place':
        ride.policy.change_settings(replace(ride.policy.settings, **corrected))
    else:
        ride.change(**corrected)
    go(1.0, FAR if source == 'reference' else None)
    assert ride.decision.status is Status.MOTION_TOO_FAR
    ride.is_at(GRAVITY)


def test_another_model_does_not_unbound_what_is_caught_up():
    ride, go = following(Q)
    go(0.5)
    go(1.0, None)
    go(1.0, FAR)
    bounded = ride.sent[-1]
    ride.change(effort_rate_limit=inf, **CORRECTED)
    assert go(1.0, FAR) is Status.FOLLOWING_CONTROLLER
    np.testing.assert_allclose(ride.sent[-1], bounded, atol=1e-9)


@pytest.mark.parametrize('error', [0.25, 1.2])
def test_a_reference_that_jitters_does_not_wind_up_the_effort(error):
    ride, go = following(Q)
    go(0.5)
    at, regular = (Q[0] + error, Q[1]), len(ride.sent)
    for _ in range(30):
        go(0.16, None)
        go(0.1, at)
    largest, bounded = (
        np.abs(ARM_ROBOT.inverse_dynamics(Q, np.zeros(2), [100.0 * most, 0.0]) - GRAVITY).max()
        for most in (error, 0.1))
    assert np.abs(ride.sent[regular:] - GRAVITY).max() < bounded + 0.1 < largest


@pytest.mark.parametrize('hold_tolerance', [0.1, 0.01])
def test_a_trajectory_is_followed_at_once_while_efforts_are_sent(hold_tolerance):
    rules = ControllerRules(allow_nonzero_velocity_at_trajectory_end=True)
    ride = Ride(**{**CORRECTED, 'path_tolerance': 0.0, 'hold_tolerance': hold_tolerance,
                   'rules': rules})
    ride.go(1.0, qd=(0.0, 0.0))
    fast = (Waypoint(0.0, Q, (2.0, 0.0)), Waypoint(0.1, (Q[0] + 0.2, Q[1]), (2.0, 0.0)))
    for _ in range(20):
        ride.policy.take_trajectory(TrajectoryCommand(JOINTS, fast), ride.now)
        ride.time += 0.02
        ride.go(PERIOD, qd=(0.0, 0.0))
        assert ride.decision.status is Status.FOLLOWING


def test_an_arm_back_at_a_lost_reference_makes_no_step():
    ride = Ride(effort_rate_limit=inf).go(1.0)
    ride.policy.take_controller_state(
        ControllerReference(JOINTS, (1.3, 0.2), (0.0, 0.0), (), 0.0, 0.0), ride.now)
    ride.go(1.0)
    assert ride.decision.status is Status.GOAL_DEVIATION
    before = ride.sent[-1]
    ride.go(PERIOD, q=(1.3, 0.2))
    assert ride.decision.status is Status.CONTROLLER_LOST
    np.testing.assert_allclose(ride.sent[-1], before, atol=1e-3)


# ---- feedback without velocities ----------------------------------------------------------------


def test_feedback_without_velocities_is_refused_while_efforts_are_sent():
    ride = Ride(mode=Mode.GRAVITY_COMPENSATION).go(1.0)
    feedback = replace(ride.policy.settings, **CORRECTED)
    with pytest.raises(UnsafeChangeError, match="needs the velocity of joint 'shoulder'"):
        ride.policy.change_settings(feedback)
    with pytest.raises(UnsafeChangeError, match="needs the velocity of joint 'shoulder'"):
        ride.policy.change_settings(replace(feedback, enabled=False))  # it is braked with them
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    ride.go(1.0, qd=(0.0, 0.0))
    ride.policy.change_settings(feedback)
    ride.go(1.0, qd=(0.0, 0.0)).is_at(GRAVITY)


def test_feedback_without_velocities_is_refused_with_another_policy_too():
    ride = Ride(mode=Mode.GRAVITY_COMPENSATION).go(1.0)
    with pytest.raises(UnsafeChangeError, match='needs the velocity'):
        ride.change(**CORRECTED)
