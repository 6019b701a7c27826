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

from __future__ import annotations

from dataclasses import replace
from math import exp, inf

from decisions import limited_joints
import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, State, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.output.start_effort import Evidence, Receiver
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, OnStop, Settings, StartFrom
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import MessageError, UnsafeChangeError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER, BALANCED, joint, link, robot
from unchecked import UNCHECKED
from wrench_settings import COMPENSATED_AT_ONCE

ARM_ROBOT = Robot.from_urdf(ARM)
JOINTS = ('shoulder', 'elbow')
Q = (0.3, -0.8)
GRAVITY = ARM_ROBOT.gravity(Q)
PERIOD = 0.002
HELD = {'held_by_others': frozenset(JOINTS)}
"""Another controller holds the arm: a stop only fades, and fast motions are only checked."""

TRAJECTORY = (Waypoint(0.0, Q, (0.0, 0.0), (0.0, 0.0)),
              Waypoint(0.5, (1.3, 0.2), (0.0, 0.0), (0.0, 0.0)))


class Ride:
    """A policy in a cycle of 2 ms, all that it sent, and its last decision."""

    def __init__(self, robot=ARM_ROBOT, **settings):
        self.time, self.sent, self.decision = 10.0, [], None
        self.policy = Policy(
            robot, Settings(**{'joints': JOINTS, **UNCHECKED, **settings}))

    @property
    def now(self):
        return Instant(self.time, RosTime.from_seconds(1000.0 + self.time))

    def go(self, seconds, q=Q, qd=(), measured=True, decide='decide'):
        """Let time pass; q may be a function of the time."""
        for _ in range(round(seconds / PERIOD)):
            self.time += PERIOD
            if callable(q):
                self.go_on(q(self.time), qd, measured, decide)
            else:
                self.go_on(q, qd, measured, decide)
        return self

    def go_on(self, q, qd, measured, decide):
        if measured:
            self.policy.take_joint_state(MeasuredJoints(JOINTS, q, qd), self.now)
        self.decision = getattr(self.policy, decide)(self.now)
        if self.decision.effort is not None:
            self.sent.append(self.decision.effort)

    def change(self, robot=ARM_ROBOT, **settings):
        """Put another policy in force."""
        older = self.policy
        self.policy = Policy(
            robot, Settings(**{'joints': JOINTS, **UNCHECKED, **settings}))
        self.policy.resume(older.memory)
        return self

    def largest_rate(self):
        steps = np.diff([np.zeros(2), *self.sent], axis=0)
        return np.abs(steps).max() / PERIOD

    def is_at(self, effort):
        np.testing.assert_allclose(self.sent[-1], effort, rtol=1e-12, atol=1e-12)


# ---- start, and changes -----------------------------------------------------------------------


def test_the_first_effort_is_zero_and_gravity_is_there_after_the_blend():
    ride = Ride().go(PERIOD)
    assert ride.sent[0].tolist() == [0.0, 0.0]
    ride.go(0.25)
    np.testing.assert_allclose(ride.sent[-1], (1.0 - 0.5 * exp(-1.0)) * GRAVITY, rtol=1e-9)
    ride.go(0.25).is_at(GRAVITY)
    assert ride.largest_rate() < STEEPEST * np.abs(GRAVITY).max() / 0.5


STEEPEST = 3.01
"""Largest slope of a hand-over, as a multiple of the mean one."""

MOON = {'gravity': (0.0, 0.0, -1.6)}


@pytest.mark.parametrize('robot, settings, expected', [
    (ARM_ROBOT, MOON, ARM_ROBOT.gravity(Q, MOON['gravity'])),
    (ARM_ROBOT, {'mode': Mode.GRAVITY_COMPENSATION}, GRAVITY),
    (Robot.from_urdf(ARM.replace('mass value="1.0"', 'mass value="3.0"')), {}, 3.0 * GRAVITY),
])
def test_new_settings_and_a_new_robot_are_blended_in(robot, settings, expected):
    ride = Ride().go(1.0)
    ride.change(robot, **settings).go(PERIOD).is_at(GRAVITY)
    ride.go(0.6).is_at(expected)
    assert ride.largest_rate() < STEEPEST * np.abs(2.0 * GRAVITY).max() / 0.5


@pytest.mark.parametrize('others', [{}, HELD])
def test_a_lowered_limit_holds_at_once_and_the_other_joints_do_not_step(others):
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


def test_a_joint_whose_held_effort_is_unknown_is_sent_nothing_in_a_final_fade():
    """It is a controlled one only since the change that disables."""
    ride = Ride(joints=JOINTS[1:], assumed_positions={'shoulder': (Q[0],)}).go(1.0)
    assert ride.sent[-1].shape == (1,)
    ride.change(enabled=False).go(0.5)
    assert ride.decision.status is Status.DISABLED
    assert ride.sent[-1].shape == (1,)  # the last one that was sent
    assert ride.policy.held_effort() == {}


def test_a_lowered_limit_does_not_keep_what_presses_in_the_final_fade():
    """The smaller the limit, the lower is its rate: the final fade would be over before."""
    pressing = {**CORRECTED, 'position_gains': (1000.0,), 'hold_tolerance': 9.0}
    ride = Ride(**pressing).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW[:1]), ride.now)
    ride.go(0.1, qd=(0.0, 0.0)).go(1.0, (Q[0] - 0.1, Q[1]), (0.0, 0.0))
    assert ride.sent[-1][0] > 15.0
    ride.policy.change_settings(replace(ride.policy.settings, effort_limit_factor=0.05))
    ride.go(0.02, (Q[0] - 0.1, Q[1]), (0.0, 0.0))
    ride.go(0.5, measured=False)
    assert ride.decision.status is Status.STALE and 'shoulder' not in ride.decision.detail
    wanted = np.clip(ARM_ROBOT.gravity((Q[0] - 0.1, Q[1])), [-5.0, -2.0], [5.0, 2.0])
    np.testing.assert_allclose(ride.sent[-1], wanted, atol=0.3)


def test_settings_that_change_no_effort_do_not_disturb_a_motion():
    plain, changed = (Ride(blend_time=0.0, **HELD) for _ in range(2))
    for ride in (plain, changed):
        ride.go(0.1)
        ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
        ride.go(0.1)
    plain.go(0.2)
    changed.change(mimic_tolerance=1.0, **HELD).go(0.2)
    assert plain.decision.status is changed.decision.status is Status.FOLLOWING
    step = np.abs(plain.sent[100] - plain.sent[99]).max()
    np.testing.assert_allclose(changed.sent, plain.sent, atol=3.0 * step)
    span = np.ptp(plain.sent[60:], axis=0)
    np.testing.assert_allclose(changed.sent, plain.sent, atol=0.02 * span.max())


def test_what_is_enabled_sets_out_from_what_the_controller_holds():
    ride = Ride().go(1.0).change(enabled=False).go(5.0)
    assert ride.decision.effort is None
    count = len(ride.sent)
    ride.change(gravity=(0.0, 0.0, 9.81)).go(PERIOD)
    assert len(ride.sent) == count + 1
    ride.is_at(GRAVITY)
    ride.go(0.6).is_at(-GRAVITY)


def test_after_a_time_jump_the_trajectory_is_forgotten_without_a_step():
    ride = Ride(**HELD).go(1.0)
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
    before = ride.go(0.1).sent[-1]
    ride.policy.reset_after_time_jump()
    ride.time = 1.0
    ride.go(PERIOD).is_at(before)
    ride.go(0.6).is_at(GRAVITY)


def test_a_wrench_from_before_a_reset_of_time_does_not_count_when_its_time_comes_again():
    ride = Ride(wrench_timeout=60.0, **COMPENSATED_AT_ONCE).go(1.0)
    ride.policy.take_wrench('tool', PUSH, ride.now)
    came = ride.time
    assert np.abs(ride.go(1.0).sent[-1] - GRAVITY).max() > 0.1
    ride.policy.reset_after_time_jump()
    ride.time = came - 1.0
    ride.go(2.0).is_at(GRAVITY)


def test_an_effort_that_nobody_holds_any_more_is_set_out_from_zero():
    ride = Ride(effort_rate_limit=inf).go(1.0)
    ride.policy.restart()
    ride.go(PERIOD).is_at([0.0, 0.0])
    ride.go(0.6).is_at(GRAVITY)


def test_a_time_jump_alone_is_blended_whatever_the_rate():
    ride = Ride(effort_rate_limit=inf, **HELD).go(1.0)
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
    before = ride.go(0.1).sent[-1]
    assert np.abs(before - GRAVITY).max() > 1.0
    ride.policy.reset_after_time_jump()
    ride.go(PERIOD)
    np.testing.assert_allclose(ride.sent[-1], before, atol=1e-6)
    ride.go(0.6).is_at(GRAVITY)


def test_a_robot_that_is_not_where_its_motion_ended_is_let_be_without_a_step():
    """And the same where it is brought back there."""
    ride = Ride(effort_rate_limit=inf, **HELD).go(1.0)
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
    ride.go(0.498)
    end = (1.3, 0.2)
    for q, status in (
            (Q, Status.GOAL_DEVIATION), (end, Status.HOLDING_END), (Q, Status.GOAL_DEVIATION)):
        before = ride.sent[-1]
        ride.go(2 * PERIOD, q=q)
        assert ride.decision.status is status
        assert np.abs(ride.sent[-1] - before).max() < 0.1
        ride.go(0.6, q=q).is_at(ARM_ROBOT.gravity(q))


def test_the_end_of_a_motion_that_was_planned_has_its_effort_at_once():
    """To blend would push the arm on that has come to rest."""
    ride = Ride(effort_rate_limit=inf, **HELD).go(1.0)
    ride.policy.take_trajectory(
        TrajectoryCommand(JOINTS, [Waypoint(0.5, (1.3, 0.2), (0.0, 0.0))]), ride.now)
    while ride.go(PERIOD, q=(1.3, 0.2)).decision.status is Status.FOLLOWING:
        pass
    assert ride.decision.status is Status.HOLDING_END
    ride.is_at(ARM_ROBOT.gravity((1.3, 0.2)))


def test_a_transition_goes_on_through_other_changes():
    ride = Ride(effort_rate_limit=inf).go(1.0)
    older, loaded = ride.policy, ARM_ROBOT.with_payload('box', 'tool', Inertial(mass=2.0))
    ride.policy = Policy(loaded, older.settings)
    ride.policy.resume(older.memory, 4.0)
    for _ in range(4):
        ride.go(0.5).change(loaded, effort_rate_limit=inf)
    gone = np.abs(ride.go(0.1).sent[-1] - GRAVITY) / np.abs(loaded.gravity(Q) - GRAVITY)
    np.testing.assert_allclose(gone, 1.0 - 0.475 * exp(-1.05), atol=0.01)
    ride.go(2.1).is_at(loaded.gravity(Q))


def test_a_transition_is_not_cut_short_where_nothing_else_happens():
    """A new policy has not seen the old one's status before, and that is no change of it."""
    ride = Ride(effort_rate_limit=inf, **HELD).go(1.0)
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
    ride.go(2.0)
    assert ride.decision.status is Status.GOAL_DEVIATION
    older, loaded = ride.policy, ARM_ROBOT.with_payload('box', 'tool', Inertial(mass=2.0))
    ride.policy = Policy(loaded, older.settings)
    ride.policy.resume(older.memory, 4.0)
    gone = np.abs(ride.go(2.0).sent[-1] - GRAVITY) / np.abs(loaded.gravity(Q) - GRAVITY)
    np.testing.assert_allclose(gone, 1.0 - 0.5 * exp(-1.0), atol=0.01)


def test_a_final_fade_is_not_longer_with_a_policy_that_has_waited():
    """One that waits receives joint states, too, and would blend after a gap of them."""
    ride = Ride(blend_time=5.0).go(6.0)
    waiting = Policy(ARM_ROBOT, ride.policy.settings)
    for q in (Q, (0.9, -0.4)):
        waiting.take_joint_state(MeasuredJoints(JOINTS, q, ()), ride.now)
        ride.go(0.4)
    waiting.hand_over(9.0)
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False), 0.2)
    ride.go(0.02)
    end = ride.policy.memory.hand_over.end
    waiting.change_settings(ride.policy.settings)
    waiting.resume(ride.policy.memory)
    ride.policy = waiting
    ride.go(PERIOD)
    assert ride.time < waiting.memory.hand_over.end <= end + 0.05


def test_zeroing_a_wrench_makes_no_step():
    ride = Ride(effort_rate_limit=inf, wrench_timeout=60.0, **COMPENSATED_AT_ONCE)
    ride.policy.take_wrench('tool', PUSH, ride.now)
    before = ride.go(1.0).sent[-1]
    assert ride.policy.zero_wrench(ride.now) == ('tool',)
    ride.go(PERIOD).is_at(before)
    ride.go(0.6).is_at(GRAVITY)


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


def test_a_far_reference_is_followed_only_after_it_has_come_near():
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
def test_an_arm_that_was_moved_meanwhile_is_not_driven_back_to_a_reference(how):
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


def test_a_reference_that_went_on_while_it_was_lost_is_caught_up_with_a_bounded_error():
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


def test_a_robot_that_has_lost_its_controller_is_still_held_near_the_last_reference():
    """The smallest load that the description lacks would accelerate it away."""
    ride, go = following(Q)
    assert go(0.5) is Status.FOLLOWING_CONTROLLER
    sagging = (Q[0], Q[1] - 0.15)
    assert go(0.5, Q, sagging) is Status.FOLLOWING_CONTROLLER
    assert go(1.0, None, sagging) is Status.GOAL_DEVIATION
    ride.is_at(ARM_ROBOT.inverse_dynamics(sagging, np.zeros(2), [0.0, 100.0 * 0.1]))
    assert go(1.0, None, (Q[0], Q[1] - 0.06)) is Status.GOAL_DEVIATION  # not yet near again
    assert go(1.0, None, (Q[0], Q[1] - 0.04)) is Status.CONTROLLER_LOST


def test_a_trajectory_without_a_tolerance_is_not_taken_up_from_afar():
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
def test_a_joint_without_a_tolerance_is_not_taken_up_behind_one_with_a_tolerance(turn):
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
def test_feedback_that_is_switched_on_does_not_take_up_a_far_motion(source, how):
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
def test_a_trajectory_that_arrives_while_efforts_are_sent_is_followed_at_once(hold_tolerance):
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


@pytest.mark.parametrize('duration', [10.0, None])
def test_a_payload_that_is_taken_back_leaves_the_effort_where_it_was(duration):
    """The grasp has failed: what was blended of the weight must not be taken off below nothing."""
    robot = AdjustableRobot.of(ARM_ROBOT, ['tool'])
    ride = Ride(robot, effort_rate_limit=inf).go(1.0)
    robot.set_payload('box', 'tool', Inertial(5.0))
    ride.policy.hand_over(duration, of_model=True)
    ride.go(0.2)
    robot.remove_payload('box')
    ride.policy.hand_over(of_model=True)
    undone = len(ride.sent)
    ride.go(12.0)
    excess = np.abs(ride.sent[undone:] - GRAVITY).max(axis=0)
    assert (excess <= 1.01 * np.abs(ride.sent[undone - 1] - GRAVITY)).all()  # one more cycle
    ride.is_at(GRAVITY)


def test_feedback_without_velocities_is_refused_with_another_policy_too():
    ride = Ride(mode=Mode.GRAVITY_COMPENSATION).go(1.0)
    with pytest.raises(UnsafeChangeError, match='needs the velocity'):
        ride.change(**CORRECTED)


def test_a_motion_that_is_discarded_in_a_transition_leaves_no_effort_of_its_feedback():
    """What is blended was computed with the feedback, which ends."""
    ride, beside = on_path(**CORRECTED)
    robot = AdjustableRobot.of(ARM_ROBOT, ['tool'])
    ride.change(robot, **GUARDED, **CORRECTED)
    beside(0.15, 1.0)
    robot.set_payload('box', 'tool', Inertial(5.0))
    ride.policy.hand_over(10.0, of_model=True)
    beside(0.15, 0.2)
    assert ride.policy.discard_trajectory(ride.now, 1.0)
    begun, weight = len(ride.sent), robot.gravity(ride.q)
    ride.go(10.5, ride.q, (0.0, 0.0))
    ends = np.array([ride.sent[begun - 1], weight])
    assert (np.array(ride.sent[begun:]) >= ends.min(axis=0) - 1e-6).all()
    assert (np.array(ride.sent[begun:]) <= ends.max(axis=0) + 1e-6).all()
    ride.is_at(weight)


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


def test_a_controller_that_was_lost_off_its_reference_is_let_be_without_a_step():
    ride = Ride(effort_rate_limit=inf).go(1.0)
    ride.policy.take_controller_state(
        ControllerReference(JOINTS, (1.3, 0.2), (0.0, 0.0), (), 0.0, 0.0), ride.now)
    ride.go(1.0)
    assert ride.decision.status is Status.GOAL_DEVIATION
    before = ride.sent[-1]
    ride.go(PERIOD, q=(1.3, 0.2))
    assert ride.decision.status is Status.CONTROLLER_LOST
    np.testing.assert_allclose(ride.sent[-1], before, atol=1e-3)


# ---- positions that cannot be -------------------------------------------------------------------


def test_a_glitch_changes_no_effort_and_a_new_place_is_blended_in():
    ride = Ride(plausible_speed_factor=3.0, effort_rate_limit=inf).go(1.0)
    far = (Q[0], Q[1] + 1.0)
    for count in range(200):
        ride.time += PERIOD
        q = far if count % 50 == 0 else Q
        try:
            ride.policy.take_joint_state(MeasuredJoints(JOINTS, q), ride.now)
        except MessageError:
            assert q is far
        ride.sent.append(ride.policy.decide(ride.now).effort)
    np.testing.assert_allclose(ride.sent[-200:], np.tile(GRAVITY, (200, 1)))
    for believed in (False, False, True):
        ride.time += PERIOD
        message = MeasuredJoints(JOINTS, far)
        if believed:
            ride.policy.take_joint_state(message, ride.now)
        else:
            with pytest.raises(MessageError, match='elbow'):
                ride.policy.take_joint_state(message, ride.now)
    ride.go(PERIOD, far)
    ride.is_at(GRAVITY)
    ride.go(0.6, far).is_at(ARM_ROBOT.gravity(far))


def test_refused_positions_do_not_keep_the_state_fresh():
    ride = Ride(plausible_speed_factor=3.0).go(1.0)
    for count in range(200):
        ride.time += PERIOD
        with pytest.raises(MessageError):
            ride.policy.take_joint_state(
                MeasuredJoints(JOINTS, (Q[0] - 9.0 * (-1.0)**count, Q[1])), ride.now)
        decision = ride.policy.decide(ride.now)
    assert decision.status is Status.STALE


@pytest.mark.parametrize('plausible_speed_factor', [0.0, 3.0])
@pytest.mark.parametrize('gap', [0.055, 0.09])
def test_after_a_gap_of_states_gravity_is_that_of_the_place_where_the_arm_is(
        gap, plausible_speed_factor):
    """It has its full weight in every cycle: another one would be wrong for longer."""
    ride = Ride(plausible_speed_factor=plausible_speed_factor).go(2.0)
    for place in (Q[1] + 0.3, Q[1]):
        ride.time += gap - PERIOD
        there = (Q[0], place)
        ride.go(PERIOD, there).is_at(ARM_ROBOT.gravity(there))


def test_after_a_gap_that_was_noticed_the_effort_is_handed_over():
    """The arm was braked meanwhile, with what it held at its last state."""
    ride = Ride(effort_rate_limit=inf).go(2.0).go(0.12, measured=False)
    assert ride.decision.status is Status.STOPPING
    there = (Q[0], Q[1] + 0.3)
    ride.go(PERIOD, there).is_at(GRAVITY)
    ride.go(0.6, there).is_at(ARM_ROBOT.gravity(there))


@pytest.mark.parametrize('order', [JOINTS, JOINTS[::-1]])
def test_of_two_publishers_either_may_be_the_first_after_a_gap(order):
    ride = Ride(effort_rate_limit=inf, plausible_speed_factor=3.0).go(2.0)
    ride.time += 0.09
    there = dict(zip(JOINTS, (Q[0], Q[1] + 0.3)))
    for name in order:
        ride.policy.take_joint_state(MeasuredJoints([name], [there[name]]), ride.now)
    np.testing.assert_allclose(
        ride.policy.decide(ride.now).effort, ARM_ROBOT.gravity([*there.values()]), rtol=1e-12)


@pytest.mark.parametrize('gap, distance', [(0.04, 0.2), (0.09, 0.05)])
def test_a_short_gap_of_states_or_a_short_way_delays_no_effort(gap, distance):
    ride = Ride(effort_rate_limit=inf, plausible_speed_factor=3.0).go(2.0)
    ride.time += gap
    there = (Q[0], Q[1] + distance)
    ride.go(PERIOD, there).is_at(ARM_ROBOT.gravity(there))


@pytest.mark.parametrize('regular', [0, 50])
def test_states_that_come_slowly_or_with_many_gaps_delay_no_effort(regular):
    """A blend for each of them would never let an effort be reached."""
    ride = Ride(effort_rate_limit=inf, plausible_speed_factor=3.0).go(2.0)
    for step in range(20):
        ride.time += 0.068
        there = (Q[0], Q[1] + 0.3 * (step % 2))
        ride.go(PERIOD, there)
        ride.go(PERIOD * regular, there)
        if step > 10:
            ride.is_at(ARM_ROBOT.gravity(there))


# ---- a robot that leaves its path ---------------------------------------------------------------

GUARDED = {'path_tolerance': 0.2, 'path_tolerance_prismatic': 0.05, 'effort_rate_limit': inf}
SLOW = (Waypoint(0.0, Q, (0.0, 0.0), (0.0, 0.0)),
        Waypoint(10.0, (0.9, -0.2), (0.0, 0.0), (0.0, 0.0)))


def on_path(waypoints=SLOW, **settings):
    """Return a ride that follows a trajectory, and a function that goes on beside the path."""
    ride = Ride(**{**GUARDED, **settings}).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, waypoints), ride.now)
    start = ride.now.ros

    def beside(distance, seconds=PERIOD):
        for _ in range(round(seconds / PERIOD)):
            phase = min((ride.now.ros + PERIOD - start) / waypoints[-1].time, 1.0)
            weight = phase**3 * (10.0 - 15.0 * phase + 6.0 * phase * phase)
            q = Q + weight * np.subtract(waypoints[-1].positions, Q)
            ride.q = (q[0], q[1] + distance)
            ride.go(PERIOD, ride.q, (0.0, 0.0))
        return ride.decision.status

    assert beside(0.0, 0.5) is Status.FOLLOWING
    return ride, beside


CORRECTED = {
    'mode': Mode.COMPUTED_TORQUE, 'position_gains': (100.0,), 'velocity_gains': (20.0,),
    'trip_deviation': 0.0}
"""Without the limit that stops the arm, which test_trips.py is about."""


def test_beyond_its_tolerance_a_robot_is_held_where_it_is_until_it_is_near_its_path_again():
    ride, beside = on_path()
    assert beside(0.19) is Status.FOLLOWING
    before = ride.sent[-1]
    assert beside(0.25) is Status.PATH_DEVIATION
    assert 'elbow by +0.25' in ride.decision.detail and 'shoulder' not in ride.decision.detail
    np.testing.assert_allclose(ride.sent[-1], before, atol=1e-9)
    assert beside(0.25, 0.6) is Status.PATH_DEVIATION
    ride.is_at(ARM_ROBOT.gravity(ride.q))
    assert beside(0.11) is Status.PATH_DEVIATION
    ride.is_at(ARM_ROBOT.gravity(ride.q))
    before = ride.sent[-1]
    assert beside(0.09) is Status.FOLLOWING
    np.testing.assert_allclose(ride.sent[-1], before, atol=1e-9)
    assert beside(0.19, 0.6) is Status.FOLLOWING
    assert np.abs(ride.sent[-1] - ARM_ROBOT.gravity(ride.q)).max() > 0.01


def test_a_tolerance_of_0_is_none():
    _, beside = on_path(path_tolerance=0.0)
    assert beside(1.5, 0.1) is Status.FOLLOWING


def test_another_tolerance_counts_at_once():
    ride, beside = on_path()
    assert beside(0.19) is Status.FOLLOWING
    ride.policy.change_settings(replace(ride.policy.settings, path_tolerance=0.1))
    assert beside(0.19) is Status.PATH_DEVIATION
    ride.change(**GUARDED)
    assert beside(0.19) is Status.PATH_DEVIATION  # a new policy knows of it


def at_goal(**settings):
    """Return the same for a trajectory that ends at once where the robot is."""
    ride = Ride(**{**GUARDED, **settings}).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW[:1]), ride.now)

    def beside(distance, seconds=PERIOD):
        ride.q = (Q[0], Q[1] + distance)
        return ride.go(seconds, ride.q, (0.0, 0.0)).decision.status

    assert beside(0.0, 0.1) is Status.HOLDING_END
    return ride, beside


@pytest.mark.parametrize('status', [Status.PATH_DEVIATION, Status.GOAL_DEVIATION])
def test_feedback_keeps_tracking_with_the_error_at_the_tolerance_and_no_more(status):
    """A robot that is blocked is pushed no harder, and one that is free comes back."""
    begin = at_goal if status is Status.GOAL_DEVIATION else on_path
    ride, beside = begin(**CORRECTED)
    beside(0.199, 0.1)
    at_tolerance = ride.sent[-1]
    assert beside(0.201) is status
    np.testing.assert_allclose(ride.sent[-1], at_tolerance, atol=0.05)
    for distance in (0.3, 1.0):
        ride, beside = begin(**CORRECTED)
        assert beside(distance, 1.0) is status
        assert 'feedback of a bounded error' in ride.decision.detail
        pull = ride.sent[-1] - ARM_ROBOT.gravity(ride.q)
        expected = ARM_ROBOT.mass_matrix(ride.q) @ [0.0, -100.0 * 0.2]
        np.testing.assert_allclose(pull, expected, rtol=0.1, atol=0.1)


def test_without_a_path_tolerance_feedback_at_the_goal_is_that_of_hold_tolerance():
    ride, beside = at_goal(**CORRECTED, path_tolerance=0.0)
    assert beside(1.2, 1.0) is Status.GOAL_DEVIATION
    pull = ride.sent[-1] - ARM_ROBOT.gravity(ride.q)
    expected = ARM_ROBOT.mass_matrix(ride.q) @ [0.0, -100.0 * ride.policy.settings.hold_tolerance]
    np.testing.assert_allclose(pull, expected, rtol=1e-9)


def test_on_the_way_and_at_the_goal_the_error_of_feedback_has_the_same_bound():
    ride, beside = on_path(
        (SLOW[0], Waypoint(1.0, (0.9, -0.2), (0.0, 0.0), (0.0, 0.0))), **CORRECTED,
        hold_tolerance=0.5)
    assert beside(0.6, 0.4) is Status.PATH_DEVIATION
    while beside(0.6) is Status.PATH_DEVIATION:
        pass
    assert ride.decision.status is Status.GOAL_DEVIATION
    np.testing.assert_allclose(ride.sent[-1], ride.sent[-2], atol=0.05)
    for change in (lambda: None, lambda: ride.change(
            **{**GUARDED, **CORRECTED, 'hold_tolerance': 0.5})):
        change()
        beside(0.6, 0.6)
        ride.is_at(ARM_ROBOT.inverse_dynamics(ride.q, np.zeros(2), [0.0, -100.0 * 0.5]))
    assert beside(0.24, 0.6) is Status.HOLDING_END


@pytest.mark.parametrize('lookahead', [0.0, 0.05])
@pytest.mark.parametrize('fields', [
    ((0.9, -0.2), (1.0, 1.0)), ((0.9, -0.2), (1.0, 1.0), (4.0, 4.0)), ((0.9, -0.2),)])
def test_a_motion_that_ends_while_the_robot_deviates_is_held_at_its_end(fields, lookahead):
    """Feedback is never blended: its damping would lag behind."""
    rules = ControllerRules(allow_nonzero_velocity_at_trajectory_end=True)
    ride = Ride(**GUARDED, **CORRECTED, rules=rules, lookahead=lookahead)
    ride.go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(
        TrajectoryCommand(JOINTS, (SLOW[0], Waypoint(0.7, *fields))), ride.now)
    ride.go(0.69 - lookahead, qd=(0.0, 0.0))
    assert ride.decision.status is Status.PATH_DEVIATION
    ride.go(0.02 + 2 * PERIOD, qd=(0.0, 0.0))
    assert ride.decision.status is Status.GOAL_DEVIATION
    blocked = ARM_ROBOT.inverse_dynamics(Q, np.zeros(2), [100.0 * 0.2, 100.0 * 0.2])
    ride.is_at(blocked)
    ride.go(0.7, qd=(0.0, 0.0)).is_at(blocked)


def test_a_motion_that_begins_at_a_goal_which_the_robot_has_left_begins_at_rest():
    """What fades at the end of the one before is not where this one starts from."""
    rules = ControllerRules(allow_nonzero_velocity_at_trajectory_end=True,
                            interpolate_from_desired_state=True)
    ride = Ride(**GUARDED, **CORRECTED, rules=rules).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, (
        SLOW[0], Waypoint(0.5, (0.9, -0.2), (1.0, 1.0)))), ride.now)
    ride.go(0.6, qd=(0.0, 0.0))
    assert ride.decision.status is Status.GOAL_DEVIATION
    start = ride.policy.motion_start(ride.now)
    assert start.desired[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize('to', ['another mode', 'disabled'])
def test_feedback_keeps_tracking_only_what_it_has_held_all_the_time(to):
    """Meanwhile a hand may have moved the arm, which must not go back by itself."""
    ride, beside = at_goal(**CORRECTED)
    settings = ride.policy.settings
    ride.policy.change_settings(replace(settings, mode=Mode.GRAVITY_COMPENSATION)
                                if to == 'another mode' else replace(settings, enabled=False))
    beside(0.5, 1.0)
    ride.policy.change_settings(settings)
    assert beside(0.5, 1.0) is (
        Status.MOTION_TOO_FAR if to == 'another mode' else Status.NO_TRAJECTORY)
    ride.is_at(ARM_ROBOT.gravity(ride.q))
    assert 'gravity at the measured state' in ride.decision.status.value


def test_a_successor_goes_on_leading_back():
    ride, beside = on_path(**CORRECTED)
    for settings in (CORRECTED, CORRECTED):
        assert beside(0.5, 1.0) is Status.PATH_DEVIATION
        pull = ride.sent[-1] - ARM_ROBOT.gravity(ride.q)
        assert pull[1] == pytest.approx(-20.0 * ARM_ROBOT.mass_matrix(ride.q)[1, 1], rel=0.1)
        ride.change(**{**GUARDED, **settings})
    ride.change(**GUARDED)
    beside(0.5, 1.0)
    ride.is_at(ARM_ROBOT.gravity(ride.q))


def test_a_trajectory_that_begins_where_the_robot_is_leads_it_back_onto_a_path():
    ride, beside = on_path()
    assert beside(0.5) is Status.PATH_DEVIATION
    here = Waypoint(0.0, ride.q, (0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, (here, SLOW[1])), ride.now)
    ride.go(0.2, ride.q, (0.0, 0.0))  # it was braked
    assert ride.decision.status is Status.FOLLOWING


def test_a_trajectory_some_time_after_the_end_of_another_starts_where_the_robot_is():
    ride, beside = at_goal()
    assert beside(0.5, 0.6) is Status.GOAL_DEVIATION
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW[1:]), ride.now)
    assert ride.go(PERIOD, ride.q, (0.0, 0.0)).decision.status is Status.FOLLOWING


@pytest.mark.parametrize('moves', [True, False])
@pytest.mark.parametrize('ahead', [0.1, 0.01])
@pytest.mark.parametrize('settings', [{}, CORRECTED])
def test_points_that_are_streamed_to_a_robot_that_is_blocked_are_not_followed_for_ever(
        moves, ahead, settings):
    """Each would start where the robot is, so that it would never deviate."""
    rules = ControllerRules(allow_nonzero_velocity_at_trajectory_end=moves)
    ride = Ride(**GUARDED, rules=rules, **settings, **HELD).go(1.0, qd=(0.0, 0.0))
    deviates = []
    for step in range(120):
        target = min(0.02 * step, 1.2)  # at 1 rad/s
        velocities = ((1.0 if target < 1.2 else 0.0), 0.0) if moves else None
        ride.policy.take_trajectory(TrajectoryCommand(
            JOINTS, [Waypoint(ahead, (Q[0] + target, Q[1]), velocities)]), ride.now)
        for _ in range(10):
            ride.go(PERIOD, qd=(0.0, 0.0))
            deviates.append(ride.decision.status in (
                Status.PATH_DEVIATION, Status.GOAL_DEVIATION))
    assert all(deviates[310:])
    push = ride.sent[-1] - GRAVITY
    expected = ARM_ROBOT.mass_matrix(Q) @ [100.0 * 0.2, 0.0] if settings else np.zeros(2)
    np.testing.assert_allclose(push, expected, atol=0.02)
    for _ in range(20):  # the points come to where the robot is
        ride.policy.take_trajectory(
            TrajectoryCommand(JOINTS, [Waypoint(0.1, Q, (0.0, 0.0))]), ride.now)
        ride.go(0.02, qd=(0.0, 0.0))
    assert ride.decision.status is Status.FOLLOWING


def test_points_that_are_streamed_to_a_robot_that_follows_are_followed():
    rules = ControllerRules(allow_nonzero_velocity_at_trajectory_end=True)
    ride = Ride(**GUARDED, rules=rules, **HELD).go(1.0, qd=(0.0, 0.0))
    for step in range(150):
        here = 0.02 * step
        ride.policy.take_trajectory(TrajectoryCommand(JOINTS, [
            Waypoint(0.1, (Q[0] + here + 0.1, Q[1]), (1.0, 0.0))]), ride.now)
        for part in range(10):
            lagging = max(here + 0.002 * part - 0.07, 0.0)
            ride.go(PERIOD, (Q[0] + lagging, Q[1]), (1.0, 0.0))
            assert ride.decision.status is Status.FOLLOWING


def test_what_lies_ahead_is_no_deviation():
    fast = (SLOW[0], Waypoint(1.0, (1.3, 0.2), (0.0, 0.0), (0.0, 0.0)))
    _, beside = on_path(fast, lookahead=0.2)
    assert beside(0.1, 0.2) is Status.FOLLOWING
    assert beside(0.25) is Status.PATH_DEVIATION


def test_at_the_end_of_the_motion_it_is_hold_tolerance_that_counts():
    _, beside = on_path((SLOW[0], Waypoint(1.0, (0.9, -0.2), (0.0, 0.0), (0.0, 0.0))))
    assert beside(0.3, 0.2) is Status.PATH_DEVIATION
    assert beside(0.3, 0.5) is Status.GOAL_DEVIATION
    assert beside(0.06) is Status.GOAL_DEVIATION  # not yet near again
    assert beside(0.04) is Status.HOLDING_END


def test_where_a_controller_s_reference_is_followed_it_is_the_controller_s_own_concern():
    ride = Ride(**GUARDED).go(1.0)
    ride.policy.take_controller_state(
        ControllerReference(JOINTS, (1.3, 0.2), (0.5, 0.5), (0.0, 0.0), 0.0, 1.0), ride.now)
    assert ride.go(PERIOD).decision.status is Status.FOLLOWING_CONTROLLER


def test_a_prismatic_joint_has_a_tolerance_of_its_own():
    robot = Robot.from_urdf(ARM_WITH_GRIPPER)
    names = ('shoulder', 'elbow', 'grip')
    policy = Policy(robot, Settings(
        joints=names, blend_time=0.0, held_by_others=frozenset(names)))
    start = (*Q, 0.02)
    now = Instant(1.0, RosTime.from_seconds(1.0))
    policy.take_joint_state(MeasuredJoints(names, start), now)
    policy.take_trajectory(
        TrajectoryCommand(names, [Waypoint(9.0, start, (0.0,) * 3)]), now)
    for time, grip, status in (
            (1.01, 0.069, Status.FOLLOWING), (1.02, 0.071, Status.PATH_DEVIATION),
            (1.03, 0.046, Status.PATH_DEVIATION), (1.04, 0.044, Status.FOLLOWING)):
        now = Instant(time, RosTime.from_seconds(time))
        policy.take_joint_state(MeasuredJoints(names, (*Q, grip)), now)
        assert policy.decide(now).status is status


# ---- rate -------------------------------------------------------------------------------------


@pytest.mark.parametrize('end', [(1.3, 0.2), (-2.0, 2.0)])
def test_a_trajectory_s_start_replacement_and_abrupt_end_stay_within_the_rate(end):
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


# ---- wrenches ---------------------------------------------------------------------------------

PUSH = np.array([0.0, 2.0, 0.0, 3.0, 0.0, 1.0])


@pytest.mark.parametrize('age, share', [
    (0.09, 1.0), (0.11, 0.99275), (0.2, 0.5), (0.29, 0.00725), (0.32, 0.0), (2.0, 0.0)])
def test_a_wrench_that_stops_fades(age, share):
    """It counts for 0.1 s and fades in another 0.2 s."""
    ride = Ride(blend_time=0.0, effort_rate_limit=inf, **COMPENSATED_AT_ONCE)
    ride.policy.take_wrench('tool', PUSH, ride.now)
    ride.go(age)
    still = np.zeros(2)
    full = ARM_ROBOT.inverse_dynamics(Q, still, still, f_ext={'tool': PUSH}) - GRAVITY
    np.testing.assert_allclose(ride.sent[-1] - GRAVITY, share * full, atol=1e-3 * abs(full).max())


# ---- bounds of the joints ---------------------------------------------------------------------


@pytest.mark.parametrize('q, qd', [((3.0, -0.8), ()), ((0.3, -0.8), (2.5, 0.0))])
@pytest.mark.parametrize('moment', [35.0, -35.0])
def test_a_joint_at_a_bound_has_no_more_than_what_holds_it_and_is_named(q, qd, moment):
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


def test_a_start_at_the_end_of_the_travel_is_blended_too():
    ride = Ride().go(0.02, q=(-3.0, 0.0))
    assert np.abs(ride.sent).max() < 0.2
    ride.go(0.6, q=(-3.0, 0.0)).is_at(ARM_ROBOT.gravity([-3.0, 0.0]))


# ---- three reasons to stop, and one way ---------------------------------------------------------


def tell_gravity(ride):
    ride.policy.take_imu('base', (0.0, 0.0, 9.81), ride.now)


def in_motion(**settings):
    """Return a ride whose effort is that of a motion, and this effort."""
    ride = Ride(**{**HELD, **settings})
    if ride.policy.settings.gravity_from_imu:
        tell_gravity(ride)
    ride.go(1.0)
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
    ride.go(0.1)
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 1.0
    return ride


def joint_states_stop(ride):
    while ride.go(PERIOD, measured=False).decision.status is Status.FOLLOWING:
        pass
    return ride.go(0.2, measured=False)


def the_node_is_disabled(ride):
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    return ride.go(0.2)


def the_node_ends(ride):
    return ride.go(0.2, measured=False, decide='decide_last')


REASONS = (joint_states_stop, the_node_is_disabled, the_node_ends)


@pytest.mark.parametrize('stop', REASONS)
@pytest.mark.parametrize('way, expected', [(OnStop.GRAVITY, GRAVITY), (OnStop.ZERO, [0.0, 0.0])])
def test_for_each_reason_the_effort_fades_to_that_of_on_stop_and_then_nothing_is_sent(
        stop, way, expected):
    ride = in_motion(on_stop=way, effort_rate_limit=inf)
    ride.policy.change_settings(ride.policy.settings, 0.0)
    before, count = ride.sent[-1], len(ride.sent)
    stop(ride).is_at(expected)
    assert ride.decision.effort is None
    # A hand-over has intermediate values, and a slope of at most three times the mean one.
    way_to_go = np.abs(before - expected).max()
    steps = np.abs(np.diff(ride.sent[count:], axis=0)).max(axis=1)
    assert steps.max() < STEEPEST * way_to_go * PERIOD / 0.05
    count = len(ride.sent)
    ride.go(1.0, measured=False, decide=(
        'decide_last' if stop is the_node_ends else 'decide'))
    assert len(ride.sent) == count


@pytest.mark.parametrize('stop', REASONS)
def test_nothing_more_is_sent_where_not_even_a_last_effort_may_be(stop):
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, may_send_last=False))
    count = len(ride.sent)
    if stop is joint_states_stop:
        ride.go(0.3, measured=False)
    else:
        stop(ride)
    assert ride.decision.effort is None
    assert ride.decision.state is State.OFF
    assert len(ride.sent) == count


@pytest.mark.parametrize('stop, status', [
    (joint_states_stop, Status.STALE), (the_node_is_disabled, Status.DISABLED),
    (the_node_ends, Status.SHUT_DOWN)])
def test_the_final_fade_has_a_status_of_its_own_that_names_what_comes_then(stop, status):
    ride, seen = in_motion(), []
    decide, decide_last = ride.policy.decide, ride.policy.decide_last
    ride.policy.decide = lambda now: (seen.append(decide(now)), seen[-1])[1]
    ride.policy.decide_last = lambda now: (seen.append(decide_last(now)), seen[-1])[1]
    stop(ride)
    fading = [decision for decision in seen if decision.status is Status.STOPPING]
    assert len(fading) > 10
    assert all(decision.effort is not None for decision in fading)
    assert all(status.value in decision.detail for decision in fading)
    assert seen[-1].status is status
    assert {decision.next_status for decision in fading} == {status}
    assert seen[-1].next_status is None
    assert 'cut short' not in seen[-1].detail


def test_after_two_timeouts_nothing_is_computed_from_an_old_state_even_if_the_way_is_long():
    ride = in_motion()
    last_state = ride.time
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=2.0))
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    assert 0.19 < ride.time - last_state <= 0.2 + PERIOD
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 0.1
    assert 'cut short' in ride.decision.detail
    assert 'cut short' in ride.go(1.0, measured=False).decision.detail
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=1000.0))
    assert 'cut short' not in ride.go(0.6).go(0.3, measured=False).decision.detail


def test_what_a_final_fade_has_not_reached_is_told_by_joint_also_by_a_policy_that_continues():
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=35.0))
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    lacks = np.abs(ride.sent[-1] - GRAVITY) > 1e-3
    assert lacks.tolist() == [True, False]
    told = (f'holds shoulder {ride.sent[-1][0]:.3f} instead of {GRAVITY[0]:.3f} [Nm or N]')
    assert told in ride.decision.detail
    assert told in ride.change().go(0.1, measured=False).decision.detail


def test_a_policy_that_has_sent_nothing_yet_continues_from_what_its_process_has_sent():
    ride = Ride(start_from=StartFrom.GRAVITY)
    ride.policy.evidence = Evidence(
        Receiver.SAME, {'shoulder': 1.0, 'elbow': -2.0}, is_own=True)
    ride.go(PERIOD).is_at([1.0, -2.0])


def test_a_first_effort_that_is_withdrawn_changes_not_what_the_next_starts_from():
    ride = Ride(start_from=StartFrom.GRAVITY)
    ride.policy.evidence = Evidence(
        Receiver.SAME, {'shoulder': 1.0, 'elbow': -2.0}, is_own=True)
    ride.go(0.1)
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    ride.go(2.0)
    assert ride.decision.status is Status.DISABLED
    ride.policy.change_settings(replace(ride.policy.settings, enabled=True))
    ride.go(PERIOD).is_at(GRAVITY)
    ride.policy.withdraw()
    ride.time += 0.3  # the process stood still
    assert ride.go(PERIOD, measured=False).decision.status is Status.STALE
    ride.go(PERIOD).is_at(GRAVITY)  # not at the command of before


def test_a_final_fade_that_starts_late_ends_in_time():
    ride = in_motion(effort_rate_limit=inf)
    ride.time += 0.17
    last_state = ride.time - 0.17
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    ride.is_at(GRAVITY)
    assert ride.time - last_state <= 0.2 + PERIOD


def test_states_that_have_stopped_for_two_timeouts_when_this_is_noticed_are_not_used():
    ride = in_motion()
    count = len(ride.sent)
    ride.time += 0.2
    assert ride.go(PERIOD, measured=False).decision.status is Status.STALE
    assert len(ride.sent) == count
    assert 'cut short' in ride.decision.detail


def test_a_slow_rate_limit_may_take_longer_than_the_fade_while_states_are_fresh():
    ride = in_motion()
    ride.policy.change_settings(
        replace(ride.policy.settings, enabled=False, effort_rate_limit=5.0))
    assert ride.go(0.3).decision.status is Status.STOPPING
    ride.go(2.0).is_at(GRAVITY)
    assert (ride.decision.status, ride.decision.detail) == (Status.DISABLED, '')


def test_it_takes_longest_braking_at_most():
    ride = in_motion()
    ride.policy.change_settings(
        replace(ride.policy.settings, enabled=False, effort_rate_limit=0.1))
    assert ride.go(1.9).decision.status is Status.STOPPING
    assert ride.go(0.2).decision.status is Status.DISABLED
    assert 'cut short' in ride.decision.detail


@pytest.mark.parametrize('moment', [0.01, 0.05, 0.5])
@pytest.mark.parametrize('stop', [joint_states_stop, the_node_is_disabled])
def test_it_is_blended_back_during_and_after_the_final_fade(stop, moment):
    ride = in_motion(effort_rate_limit=inf)
    if stop is joint_states_stop:
        ride.go(0.1 + moment, measured=False)
    else:
        ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
        ride.go(moment)
        ride.policy.change_settings(replace(ride.policy.settings, enabled=True))
    held = ride.sent[-1]
    assert ride.decision.status is not Status.FOLLOWING
    ride.go(PERIOD)
    assert ride.decision.status in (Status.FOLLOWING, Status.GOAL_DEVIATION)
    ride.is_at(held)
    ride.go(0.6)
    if ride.decision.status is Status.GOAL_DEVIATION:
        ride.go(0.6).is_at(GRAVITY)
    assert np.abs(np.diff(ride.sent[-300:], axis=0)).max() / PERIOD < 200.0


@pytest.mark.parametrize('rate', [inf, 200.0])
def test_a_payload_or_new_settings_during_the_final_fade_do_not_make_it_longer(rate):
    ride = in_motion(effort_rate_limit=rate)
    ride.go(0.14, measured=False)
    ride.policy.change_settings(replace(ride.policy.settings, mimic_tolerance=1.0))
    ride.go(0.05, measured=False)
    ride.change(effort_rate_limit=rate).go(0.01, measured=False).is_at(GRAVITY)
    assert ride.decision.effort is None


CHANGES = {
    'time jump': lambda ride: ride.policy.reset_after_time_jump(),
    'wrench zeroed': lambda ride: ride.policy.zero_wrench(ride.now),
    'imu message': tell_gravity,
    'settings': lambda ride: ride.policy.change_settings(
        replace(ride.policy.settings, wrench_gain=0.4))}


@pytest.mark.parametrize('change', CHANGES.values(), ids=CHANGES)
def test_nothing_that_happens_in_a_final_fade_lets_the_effort_of_the_motion_be_held(change):
    ride = in_motion(effort_rate_limit=inf, wrench_timeout=60.0, wrench_time_constant=0.0,
                     gravity_from_imu=True, imu_timeout=60.0)
    ride.policy.take_wrench('tool', np.zeros(6), ride.now)
    ride.go(0.12, measured=False)
    assert ride.decision.status is Status.STOPPING
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 1.0
    change(ride)
    ride.go(0.09, measured=False)
    assert ride.decision.status is Status.STALE
    assert 'cut short' not in ride.decision.detail
    np.testing.assert_allclose(ride.sent[-1], GRAVITY, rtol=1e-9)


@pytest.mark.parametrize('change', [
    lambda ride: ride.change(enabled=False, effort_rate_limit=5.0),
    lambda ride: ride.policy.change_settings(
        replace(ride.policy.settings, mimic_tolerance=1.0))], ids=['policy', 'settings'])
@pytest.mark.parametrize('moment', [0.08, 0.3, 0.5])
def test_a_change_while_the_rate_limit_delays_the_end_of_a_final_fade_does_not_end_it(
        change, moment):
    ride = in_motion()
    ride.policy.change_settings(
        replace(ride.policy.settings, enabled=False, effort_rate_limit=5.0))
    ride.go(moment)
    assert ride.decision.status is Status.STOPPING
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 0.3
    change(ride)
    ride.go(2.0).is_at(GRAVITY)
    assert (ride.decision.status, ride.decision.detail) == (Status.DISABLED, '')


def test_another_gravity_in_the_last_cycle_of_a_final_fade_is_that_which_is_held():
    ride = in_motion(effort_rate_limit=inf)
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    while ride.go(PERIOD).decision.effort is None or np.abs(ride.sent[-1] - GRAVITY).max() > 1e-12:
        pass
    ride.policy.change_settings(replace(ride.policy.settings, **MOON))
    ride.go(0.3).is_at(ARM_ROBOT.gravity(Q, MOON['gravity']))


@pytest.mark.parametrize('prepare', [
    lambda ride: ride,
    lambda ride: ride.go(0.2).change(enabled=False).go(1.0).change().go(0.0)])
def test_nothing_is_faded_out_where_nothing_was_sent(prepare):
    ride = Ride()
    ride.policy.take_joint_state(MeasuredJoints(JOINTS, Q), ride.now)
    prepare(ride)
    ride.time += 0.11
    assert ride.go(0.02, measured=False).decision.status is Status.STALE


@pytest.mark.parametrize('fault, status', [
    ('velocities', Status.UNKNOWN_VELOCITY), ('effort', Status.NOT_FINITE)])
def test_other_faults_brake_the_arm_too(fault, status):
    load = Inertial(1e250 if fault == 'effort' else 1.0, Pose((0.1, 0.0, 0.0)))
    ride = Ride(ARM_ROBOT.with_payload('load', 'tool', load), gravity=(0.0, 0.0, 0.0),
                mode=Mode.COMPUTED_TORQUE, position_gains=(100.0,), velocity_gains=(20.0,))
    ride.go(1.0, qd=(0.0, 0.0))
    if fault == 'velocities':
        ride.go(0.05)
    else:
        ride.policy.take_controller_state(ControllerReference(
            JOINTS, Q, (0.0, 0.0), (9e99, 9e99), 0.0, 1.0), ride.now)
        ride.go(0.05, qd=(0.0, 0.0))
    if fault == 'effort':  # that of the motion alone: gravity and damping are sent
        assert ride.decision.status is Status.NOT_FINITE
        assert ride.decision.state in (State.BRAKING, State.FAULT)
        assert ride.decision.effort.tolist() == [0.0, 0.0]
        return
    assert ride.decision.status is Status.STOPPING
    assert status.value in ride.decision.detail


def test_a_joint_at_the_end_of_its_travel_is_let_go_where_that_is_asked_for():
    ride = Ride(on_stop=OnStop.ZERO).go(1.0, q=(-3.0, 0.5))
    ride.go(0.2, measured=False, decide='decide_last').is_at([0.0, 0.0])


def along(start, velocity):
    """Return positions at constant velocities, as a function of time."""
    return lambda time: np.add(Q, np.multiply(velocity, time - start))


def test_the_effort_that_is_held_is_that_of_the_place_to_which_the_arm_has_moved():
    ride = in_motion()
    path = along(ride.time, (3.0, 0.0))
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    before = np.array([*ride.policy.effort_after_stop().values()])
    np.testing.assert_allclose(before, GRAVITY)
    ride.go(0.3, q=path)
    assert ride.decision.status is Status.DISABLED
    held = np.array([*ride.policy.held_effort().values()])
    assert held.tolist() == ride.sent[-1].tolist()
    assert np.abs(held - before).max() > 0.3
    of_place = [ARM_ROBOT.gravity(path(ride.time - age)) for age in np.arange(0.0, 0.3, PERIOD)]
    assert np.abs(of_place - held).max(axis=1).min() < 1e-9
    ride.go(1.0)
    assert [*ride.policy.held_effort().values()] == held.tolist()


def test_what_is_held_is_known_only_where_something_was_sent():
    ride = Ride()
    assert ride.policy.held_effort() == {}
    ride.go(0.1)
    assert [*ride.policy.held_effort()] == [*JOINTS]
    ride.policy.restart()  # the controller is another one
    assert ride.policy.held_effort() == {}


def test_the_effort_of_on_stop_is_known_before_it_is_reached():
    ride = in_motion()
    held = ride.policy.effort_after_stop()
    np.testing.assert_allclose([held[name] for name in JOINTS], GRAVITY)
    the_node_is_disabled(ride).is_at(GRAVITY)
    assert ride.policy.effort_after_stop() == held
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, may_send_last=False))
    ride.go(PERIOD)
    assert list(ride.policy.effort_after_stop().values()) == ride.sent[-1].tolist()


def test_a_final_fade_that_was_cut_short_names_what_is_held_and_what_would_be_right():
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=5.0))
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    off = [name for name, error in zip(JOINTS, np.abs(ride.sent[-1] - GRAVITY)) if error > 1e-3]
    assert off
    for name, held, wanted in zip(JOINTS, ride.sent[-1], GRAVITY):
        told = f'{name} {held:.3f} instead of {wanted:.3f}'
        assert (told in ride.decision.detail) is (name in off)
    _, mark, what = ride.decision.detail.partition('the final fade was cut short')
    assert mark
    assert ride.go(1.0, measured=False).decision.detail.endswith(mark + what)


def test_a_gap_of_joint_states_is_told_with_its_length_and_the_parameter():
    ride = in_motion().go(0.35, measured=False)
    assert ride.decision.status is Status.STALE
    assert 'none for 0.35 s, and state_timeout is 0.1 s' in ride.decision.detail


def test_the_return_of_joint_states_is_blended():
    ride = Ride().go(1.0).go(1.0, measured=False)
    assert ride.decision.status is Status.STALE
    ride.go(PERIOD, q=(1.0, 1.0)).is_at(GRAVITY)
    ride.go(0.6, q=(1.0, 1.0)).is_at(ARM_ROBOT.gravity([1.0, 1.0]))


def test_after_a_jump_of_time_the_state_is_of_no_use():
    ride = in_motion()
    ride.time = 1.0
    assert ride.go(0.1, measured=False).decision.status is Status.STALE


@pytest.mark.parametrize('ridden', [
    Ride, lambda: Ride(may_send_last=False).go(1.0),
    lambda: Ride().go(1.0).go(1.0, measured=False),
    lambda: Ride().go(1.0).change(enabled=False, may_send_last=False),
    lambda: Ride().go(1.0).change(enabled=False).go(1.0)])
def test_nothing_is_sent_last_where_nothing_was_sent_or_is_wanted(ridden):
    assert ridden().go(PERIOD, measured=False, decide='decide_last').decision.effort is None
