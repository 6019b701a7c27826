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

"""A start, and changes while efforts are sent: they go over to what is needed without a step."""

from dataclasses import replace
from math import exp, inf

import numpy as np
import pytest
from ride import (
    ARM_ROBOT,
    CORRECTED,
    GRAVITY,
    GUARDED,
    HELD,
    JOINTS,
    MOON,
    on_path,
    PERIOD,
    Q,
    Ride,
    STEEPEST,
    TRAJECTORY,
)
from ros2_rnea.control.decision import Status
from ros2_rnea.control.output.start_effort import Evidence, Receiver
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, StartFrom
from ros2_rnea.model.description import Inertial
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import TrajectoryCommand
from small_robots import ARM


# ---- start --------------------------------------------------------------------------------------


def test_efforts_go_from_zero_to_gravity_in_the_blend():
    ride = Ride().go(PERIOD)
    assert ride.sent[0].tolist() == [0.0, 0.0]
    ride.go(0.25)
    np.testing.assert_allclose(ride.sent[-1], (1.0 - 0.5 * exp(-1.0)) * GRAVITY, rtol=1e-9)
    ride.go(0.25).is_at(GRAVITY)
    assert ride.largest_rate() < STEEPEST * np.abs(GRAVITY).max() / 0.5


def test_a_start_at_the_end_of_travel_is_blended():
    ride = Ride().go(0.02, q=(-3.0, 0.0))
    assert np.abs(ride.sent).max() < 0.2
    ride.go(0.6, q=(-3.0, 0.0)).is_at(ARM_ROBOT.gravity([-3.0, 0.0]))


def test_what_is_enabled_sets_out_from_what_the_controller_holds():
    ride = Ride().go(1.0).change(enabled=False).go(5.0)
    assert ride.decision.effort is None
    count = len(ride.sent)
    ride.change(gravity=(0.0, 0.0, 9.81)).go(PERIOD)
    assert len(ride.sent) == count + 1
    ride.is_at(GRAVITY)
    ride.go(0.6).is_at(-GRAVITY)


def test_after_a_restart_efforts_start_from_zero():
    ride = Ride(effort_rate_limit=inf).go(1.0)
    ride.policy.restart()
    ride.go(PERIOD).is_at([0.0, 0.0])
    ride.go(0.6).is_at(GRAVITY)


def test_a_new_policy_continues_from_its_process_s_last_effort():
    ride = Ride(start_from=StartFrom.GRAVITY)
    ride.policy.evidence = Evidence(
        Receiver.SAME, {'shoulder': 1.0, 'elbow': -2.0}, is_own=True)
    ride.go(PERIOD).is_at([1.0, -2.0])


def test_a_withdrawn_first_effort_is_no_later_start():
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


# ---- settings and robots ------------------------------------------------------------------------


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


@pytest.mark.parametrize('duration', [10.0, None])
def test_a_removed_payload_leaves_no_more_effort_than_before(duration):
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


def test_a_discarded_motion_leaves_no_effort_of_its_feedback():
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


# ---- jumps of time ------------------------------------------------------------------------------


def test_a_time_jump_drops_the_trajectory_without_a_step():
    ride = Ride(**HELD).go(1.0)
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
    before = ride.go(0.1).sent[-1]
    ride.policy.reset_after_time_jump()
    ride.time = 1.0
    ride.go(PERIOD).is_at(before)
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
