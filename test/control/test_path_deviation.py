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

"""An arm that leaves its path or its goal: it is held where it is until it is near again."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from ride import (
    ARM_ROBOT,
    CORRECTED,
    GRAVITY,
    GUARDED,
    HELD,
    JOINTS,
    on_path,
    PERIOD,
    Q,
    Ride,
    SLOW,
    TRAJECTORY,
)
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM_WITH_GRIPPER


def at_goal(**settings):
    """Return the same as on_path for a trajectory that ends at once where the robot is."""
    ride = Ride(**{**GUARDED, **settings}).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW[:1]), ride.now)

    def beside(distance, seconds=PERIOD):
        ride.q = (Q[0], Q[1] + distance)
        return ride.go(seconds, ride.q, (0.0, 0.0)).decision.status

    assert beside(0.0, 0.1) is Status.HOLDING_END
    return ride, beside


def test_off_its_path_an_arm_is_held_where_it_is():
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


@pytest.mark.parametrize('status', [Status.PATH_DEVIATION, Status.GOAL_DEVIATION])
def test_beyond_the_tolerance_feedback_stays_that_of_the_tolerance(status):
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


def test_without_a_path_tolerance_hold_tolerance_bounds_the_feedback():
    ride, beside = at_goal(**CORRECTED, path_tolerance=0.0)
    assert beside(1.2, 1.0) is Status.GOAL_DEVIATION
    pull = ride.sent[-1] - ARM_ROBOT.gravity(ride.q)
    expected = ARM_ROBOT.mass_matrix(ride.q) @ [0.0, -100.0 * ride.policy.settings.hold_tolerance]
    np.testing.assert_allclose(pull, expected, rtol=1e-9)


def test_feedback_has_one_bound_in_motion_and_at_the_goal():
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
def test_a_deviating_arm_is_held_at_the_motion_s_end(fields, lookahead):
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


def test_after_a_goal_that_was_left_motions_begin_at_rest():
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
def test_feedback_tracks_only_what_it_has_held_without_a_break(to):
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


def test_a_trajectory_from_the_arm_leads_back_onto_a_path():
    ride, beside = on_path()
    assert beside(0.5) is Status.PATH_DEVIATION
    here = Waypoint(0.0, ride.q, (0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, (here, SLOW[1])), ride.now)
    ride.go(0.2, ride.q, (0.0, 0.0))  # it was braked
    assert ride.decision.status is Status.FOLLOWING


def test_a_trajectory_after_a_goal_deviation_starts_at_the_arm():
    ride, beside = at_goal()
    assert beside(0.5, 0.6) is Status.GOAL_DEVIATION
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW[1:]), ride.now)
    assert ride.go(PERIOD, ride.q, (0.0, 0.0)).decision.status is Status.FOLLOWING


@pytest.mark.parametrize('moves', [True, False])
@pytest.mark.parametrize('ahead', [0.1, 0.01])
@pytest.mark.parametrize('settings', [{}, CORRECTED])
def test_points_streamed_to_a_blocked_arm_end_in_a_deviation(moves, ahead, settings):
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


def test_points_streamed_to_an_arm_that_follows_are_followed():
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


def test_at_the_end_of_the_motion_hold_tolerance_counts():
    _, beside = on_path((SLOW[0], Waypoint(1.0, (0.9, -0.2), (0.0, 0.0), (0.0, 0.0))))
    assert beside(0.3, 0.2) is Status.PATH_DEVIATION
    assert beside(0.3, 0.5) is Status.GOAL_DEVIATION
    assert beside(0.06) is Status.GOAL_DEVIATION  # not yet near again
    assert beside(0.04) is Status.HOLDING_END


def test_a_controller_s_reference_has_no_path_tolerance():
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


def test_leaving_and_reaching_the_goal_make_no_step():
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


def test_the_planned_end_has_its_effort_at_once():
    """To blend would push the arm on that has come to rest."""
    ride = Ride(effort_rate_limit=inf, **HELD).go(1.0)
    ride.policy.take_trajectory(
        TrajectoryCommand(JOINTS, [Waypoint(0.5, (1.3, 0.2), (0.0, 0.0))]), ride.now)
    while ride.go(PERIOD, q=(1.3, 0.2)).decision.status is Status.FOLLOWING:
        pass
    assert ride.decision.status is Status.HOLDING_END
    ride.is_at(ARM_ROBOT.gravity((1.3, 0.2)))
