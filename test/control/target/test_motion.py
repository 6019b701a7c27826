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
"""What is desired before, during and after trajectories, and when one replaces another."""

from math import nan, pi

import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, State, Status
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.control.target.motion import Motion, MotionMemory
from ros2_rnea.errors import MessageError, TrajectoryError
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from trajectories import follow, motion_of, target_of

NAMES = ('shoulder', 'elbow', 'wrist')
NOW = RosTime.from_seconds(100.0)
MEASURED = np.array((0.1, 0.2, 0.3))
AT_REST = np.zeros(3)
ONES = np.ones(3)


def desired(target):
    return target.positions, target.velocities, target.accelerations


# Led in from the measured state for a second, then at 1 rad/s from 0 to 1 rad.
TO_ONES = (Waypoint(1.0, (0.0, 0.0, 0.0)), Waypoint(2.0, (1.0, 1.0, 1.0)))


@pytest.fixture
def motion():
    """Return the desired motion of an arm whose wrist turns without end, not yet moving."""
    return motion_of(NAMES, (False, False, True), hold_tolerance=0.05)


@pytest.fixture
def moving(motion):
    """Return the same from NOW on the way to ones."""
    follow(motion, NAMES, TO_ONES, None, NOW, MEASURED, AT_REST)
    return motion


def test_before_a_trajectory_the_measured_state_is_wanted(motion):
    target = target_of(motion, NOW, MEASURED)
    assert (target.status, target.wanted) == (Status.NO_TRAJECTORY, State.GRAVITY)
    assert np.array_equal(desired(target), (MEASURED, AT_REST, AT_REST))
    assert target.deviation is None


@pytest.mark.parametrize(('elapsed', 'kind', 'positions', 'velocities'), [
    (0.0, Status.FOLLOWING, MEASURED, -MEASURED),
    (0.5, Status.FOLLOWING, MEASURED / 2, -MEASURED),
    (1.0, Status.FOLLOWING, 0 * ONES, ONES),
    (1.75, Status.FOLLOWING, 0.75 * ONES, ONES),
    (2.0, Status.HOLDING_END, ONES, AT_REST),
    (1e6, Status.HOLDING_END, ONES, AT_REST),
])
def test_a_trajectory_is_followed_and_its_end_held(moving, elapsed, kind, positions, velocities):
    target = target_of(moving, NOW + elapsed, ONES)
    assert target.status is kind
    assert target.wanted is (State.TRACKING if kind is Status.FOLLOWING else State.HOLDING)
    assert target.detail == ''
    assert target.positions == pytest.approx(positions)
    assert target.velocities == pytest.approx(velocities)
    assert target.accelerations == pytest.approx(AT_REST)


@pytest.mark.parametrize(('time', 'step', 'is_discarded'), [
    (1.5, 1.0, True),     # it was to be at 0.5 s of the way
    (3.0, 1.5, True),
    (3.0, 1.0, False),    # it had ended, and the clock has only gone farther on
    (9.0, 1.0, False),
    (1.5, -1.0, True),
    (1.0, -5.0, True)])   # it had ended, and its end would come again
def test_a_trajectory_whose_clock_was_set_is_discarded(moving, time, step, is_discarded):
    assert moving.discard_trajectory(NOW + time, step) is is_discarded
    status = target_of(moving, NOW + time, ONES).status
    assert (status is Status.NO_TRAJECTORY) is is_discarded


@pytest.mark.parametrize('velocity', [0.0, 3.0])
def test_the_end_is_held_where_the_last_point_moves(velocity):
    rules = ControllerRules(allow_nonzero_velocity_at_trajectory_end=velocity > 0.0)
    motion = motion_of(NAMES, (False,) * 3, hold_tolerance=0.05, rules=rules)
    last = Waypoint(0.0, (1.0,) * 3, (velocity,) * 3, (7.0,) * 3)
    follow(motion, NAMES, [last], None, NOW, MEASURED, AT_REST)
    target = target_of(motion, NOW, ONES)
    assert target.wanted is State.HOLDING
    assert np.array_equal(desired(target), (ONES, AT_REST, AT_REST))


@pytest.mark.parametrize(('deviation', 'kind'), [
    ((0.0, 0.0, 0.0), Status.HOLDING_END),
    ((0.049, -0.049, 0.049), Status.HOLDING_END),
    ((0.0, 0.051, 0.0), Status.GOAL_DEVIATION),
    ((-0.051, 0.0, 0.0), Status.GOAL_DEVIATION),
    ((0.0, 2 * pi, 0.0), Status.GOAL_DEVIATION),
    ((0.0, 0.0, 2 * pi), Status.HOLDING_END),
    ((0.0, 0.0, -6 * pi + 0.049), Status.HOLDING_END),
    ((0.0, 0.0, 4 * pi - 0.051), Status.GOAL_DEVIATION),
    ((0.0, 0.0, pi), Status.GOAL_DEVIATION),
])
def test_the_end_is_held_within_the_tolerance_of_each_joint(moving, deviation, kind):
    measured = ONES + deviation
    target = target_of(moving, NOW + 3.0, measured)
    assert target.status is kind
    holding = kind is Status.HOLDING_END
    assert np.array_equal(target.positions, ONES if holding else measured)
    assert np.array_equal((target.velocities, target.accelerations), (AT_REST, AT_REST))


def test_joints_off_by_half_of_the_tolerance_are_named(moving):
    target = target_of(moving, NOW + 3.0, ONES + (0.5, 0.024, 2 * pi - 0.026))
    assert target.deviation == pytest.approx((0.5, 0.024, -0.026))
    explanation = target.detail
    assert 'shoulder by +0.500, wrist by -0.026' in explanation
    assert 'elbow' not in explanation
    assert 'hold_tolerance 0.05' in explanation


# --- when it starts ---


@pytest.mark.parametrize(('stamp', 'elapsed', 'positions'), [
    (0.0, 1.5, 0.5 * ONES),
    (NOW, 1.5, 0.5 * ONES),
    (NOW + 2.0, 3.25, 0.25 * ONES),
    (NOW + 3.0, 1.0, 0.75 * MEASURED),  # led in to from its reception on
    (NOW - 1.5, 0.0, 0.5 * ONES),
    (NOW - 1.0, 0.0, 0.0 * ONES),
])
def test_a_trajectory_starts_at_its_stamp_or_at_reception(motion, stamp, elapsed, positions):
    follow(motion, NAMES, TO_ONES, stamp, NOW, MEASURED, AT_REST)
    target = target_of(motion, NOW + elapsed, MEASURED)
    assert target.status is Status.FOLLOWING
    assert target.positions == pytest.approx(positions)


def test_the_lead_in_starts_with_the_measured_velocities(motion):
    rest = Waypoint(1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    follow(motion, NAMES, [rest], None, NOW, AT_REST, (1.0, 0.0, 0.0))
    assert target_of(motion, NOW + 0.5, MEASURED).positions == pytest.approx((0.125, 0.0, 0.0))


def test_a_continuous_joint_is_led_in_from_the_nearest_turn(motion):
    follow(motion, NAMES, TO_ONES, None, NOW, MEASURED + 2 * pi, AT_REST)
    positions = target_of(motion, NOW + 0.5, MEASURED).positions
    assert positions == pytest.approx((0.05 + pi, 0.1 + pi, 0.15))


def test_the_measured_state_may_change_after_reception(motion):
    positions, velocities = MEASURED.copy(), AT_REST.copy()
    follow(motion, NAMES[:1], [Waypoint(1.0, (0.0,), (0.0,))], None, NOW, positions, velocities)
    before = target_of(motion, NOW + 0.5, MEASURED).positions
    positions[:] = velocities[:] = 9.0
    assert np.array_equal(target_of(motion, NOW + 0.5, MEASURED).positions, before)


# --- names ---


def test_values_go_to_the_joints_that_they_are_named_for(motion):
    follow(
        motion, ('wrist', 'shoulder', 'elbow'), [Waypoint(0.0, (3.0, 1.0, 2.0))],
        0.0, NOW, MEASURED)
    target = target_of(motion, NOW, np.array((1.0, 2.0, 3.0)))
    assert np.array_equal(target.positions, (1.0, 2.0, 3.0))


# The present target, a second after reception, where the first trajectory is at 0 or held at 1.
@pytest.mark.parametrize(('first', 'measured', 'held'), [
    (None, 0.7, 0.7),
    (TO_ONES, 0.7, 0.0),
    ((Waypoint(0.0, (1.0, 1.0, 1.0)),), 0.99, 1.0),
    ((Waypoint(0.0, (1.0, 1.0, 1.0)),), 0.7, 0.7),
], ids=['no trajectory', 'following', 'holding the end', 'off the end'])
def test_joints_without_a_name_stay_at_the_present_target(motion, first, measured, held):
    if first:
        follow(motion, NAMES, first, None, NOW, MEASURED, AT_REST)
    elbow = (Waypoint(0.0, (5.0,), (0.0,)), Waypoint(1.0, (6.0,), (0.0,)))
    follow(motion, ('elbow',), elbow, None, NOW + 1.0, measured * ONES, 3 * ONES)
    target = target_of(motion, NOW + 1.5, ONES)
    assert target.positions == pytest.approx((held, 5.5, held))
    assert target.velocities == pytest.approx((0.0, 1.5, 0.0))
    assert target.accelerations == pytest.approx((0.0, 0.0, 0.0))


def test_joints_without_a_name_are_led_to_their_place(moving):
    follow(moving, ('elbow',), [Waypoint(1.0, (5.0,))], None, NOW + 1.0, MEASURED, AT_REST)
    assert target_of(moving, NOW + 1.0, ONES).positions == pytest.approx(MEASURED)
    assert target_of(moving, NOW + 1.5, ONES).positions == pytest.approx((0.05, 2.6, 0.15))


# --- replacement ---


def test_a_new_trajectory_replaces_the_one_before_on_reception(moving):
    follow(moving, NAMES, [Waypoint(4.0, (3.0,) * 3)], NOW, NOW + 1.0, ONES, AT_REST)
    assert target_of(moving, NOW + 1.0, ONES).positions == pytest.approx(ONES)
    assert target_of(moving, NOW + 2.5, ONES).positions == pytest.approx(2 * ONES)


@pytest.mark.parametrize(('names', 'waypoints', 'stamp', 'measured', 'reason'), [
    (NAMES, (), 0.0, ONES, 'no points'),
    ((), TO_ONES, 0.0, ONES, 'no joints'),
    (NAMES, (Waypoint(0.0, (nan,) * 3),), 0.0, ONES, 'nan'),
    (('ankle',), (Waypoint(0.0, (1.0,)),), 0.0, ONES, "moves 'ankle', but .* 'shoulder'"),
    (NAMES, (Waypoint(0.0, (1.0,) * 3, (1.0,) * 3),), 0.0, ONES, 'velocity 1.0'),
    (NAMES, TO_ONES, NOW - 2.25, ONES, r'ended 0.250 s ago: it is stamped 97.750 s and lasts 2'),
    (NAMES, TO_ONES, 0.0, nan * ONES, 'No finite spline'),
])
def test_a_trajectory_that_is_refused_leaves_the_one_before_running(
        moving, names, waypoints, stamp, measured, reason):
    with pytest.raises(TrajectoryError, match=reason):
        follow(moving, names, waypoints, stamp, NOW, measured, AT_REST)
    assert target_of(moving, NOW + 1.75, ONES).positions == pytest.approx(0.75 * ONES)


def test_a_trajectory_that_ends_just_now_is_accepted(motion):
    follow(motion, NAMES, TO_ONES, NOW - 2.0, NOW, MEASURED, AT_REST)
    assert target_of(motion, NOW, ONES).status is Status.HOLDING_END


# --- the controller's reference ---

REFERENCE = np.array(((5.0, 6.0, 7.0), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
TIMEOUT = 0.1
STEADY = 7.0


@pytest.fixture
def controlled(moving):
    """Return a motion that a controller's reference took over, while a trajectory ran."""
    moving.take_reference(ControllerReference(NAMES, *REFERENCE, 100.0, 1.0), STEADY)
    return moving


def reached(motion, age, measured=REFERENCE[0], time=NOW + 1.75):
    """Return the target at a time after the reference."""
    return target_of(motion, time, measured, STEADY + age, State.TRACKING)


@pytest.mark.parametrize(('age', 'kind', 'share', 'moves'), [
    (0.0, Status.FOLLOWING_CONTROLLER, 1.0, True),
    (TIMEOUT, Status.FOLLOWING_CONTROLLER, 1.0, True),
    (1.5 * TIMEOUT, Status.CONTROLLER_LOST, 0.5, True),
    (2.0 * TIMEOUT + 1e-9, Status.CONTROLLER_LOST, 0.0, False),
    (1e6, Status.CONTROLLER_LOST, 0.0, False),
])
def test_a_reference_replaces_the_trajectory_and_is_held_afterwards(
        controlled, age, kind, share, moves):
    target = reached(controlled, age)
    assert target.status is kind
    assert (target.wanted is State.TRACKING) is moves
    assert np.array(desired(target)) == pytest.approx(REFERENCE * ((1.0,), (share,), (share,)))
    assert target.detail == ''


@pytest.mark.parametrize(('age', 'kind'), [
    (0.0, Status.FOLLOWING_CONTROLLER),
    (1.5 * TIMEOUT, Status.CONTROLLER_LOST),
    (3.0 * TIMEOUT, Status.GOAL_DEVIATION),
])
def test_off_a_faded_reference_it_is_gravity_where_measured(controlled, age, kind):
    target = reached(controlled, age, REFERENCE[0] + (0.0, 0.5, 4 * pi))
    assert target.status is kind
    if kind is Status.GOAL_DEVIATION:
        assert target.wanted is State.GRAVITY
        assert 'deviates from the goal' in target.detail
        assert 'elbow by +0.500;' in target.detail


def test_a_reference_that_is_refused_leaves_the_trajectory_running(moving):
    with pytest.raises(MessageError, match="no joint 'wrist'"):
        moving.take_reference(ControllerReference(NAMES[:2], *REFERENCE[:, :2], NOW, 1.0), STEADY)
    assert reached(moving, 0.0).status is Status.FOLLOWING
    assert reached(moving, 0.0).positions == pytest.approx(0.75 * ONES)


def test_with_fresh_references_a_trajectory_is_left_to_the_controller(controlled):
    rest = [Waypoint(0.0, (9.0,) * 3)]
    now = Instant(STEADY + TIMEOUT, NOW)
    start = controlled.start(now, np.zeros((2, 3)), State.TRACKING, Status.FOLLOWING_CONTROLLER)
    assert start.is_only_checked
    follow(controlled, NAMES, rest, None, NOW, MEASURED, AT_REST, STEADY + TIMEOUT)
    assert reached(controlled, TIMEOUT).status is Status.FOLLOWING_CONTROLLER
    assert reached(controlled, 1e6).status is Status.CONTROLLER_LOST


def test_a_trajectory_that_comes_after_references_have_stopped_is_followed(controlled):
    follow(controlled, NAMES, TO_ONES, None, NOW, MEASURED, AT_REST, STEADY + 3.0 * TIMEOUT)
    target = reached(controlled, 3.0 * TIMEOUT)
    assert target.status is Status.FOLLOWING
    assert target.positions == pytest.approx(0.75 * ONES)


def test_joints_without_a_name_stay_at_the_last_reference(controlled):
    near = REFERENCE[0] + 0.01
    follow(
        controlled, ('elbow',), [Waypoint(0.0, (9.0,))], 0.0, NOW, near, AT_REST,
        STEADY + 3.0 * TIMEOUT)
    target = reached(controlled, 3.0 * TIMEOUT, np.array((5.0, 9.0, 7.0)))
    assert target.positions == pytest.approx((5.0, 9.0, 7.0))


def test_references_that_come_again_take_over_again(controlled):
    follow(controlled, NAMES, TO_ONES, None, NOW, MEASURED, AT_REST, STEADY + 3.0 * TIMEOUT)
    controlled.take_reference(ControllerReference(NAMES, *REFERENCE, 101.0, 1.0), STEADY + 1.0)
    assert reached(controlled, 1.0).status is Status.FOLLOWING_CONTROLLER
    assert reached(controlled, 2.0).status is Status.CONTROLLER_LOST


@pytest.mark.parametrize('fixture', ['moving', 'controlled'])
def test_after_clear_there_is_no_motion(fixture, request):
    motion = request.getfixturevalue(fixture)
    motion.clear()
    assert reached(motion, 0.0).status is Status.NO_TRAJECTORY


@pytest.mark.parametrize('fixture', ['moving', 'controlled'])
def test_another_object_goes_on_with_the_motion(fixture, request):
    older = request.getfixturevalue(fixture)
    newer = motion_of(NAMES, (False, False, True), older.memory, hold_tolerance=0.05)
    before, after = reached(older, 0.0), reached(newer, 0.0)
    assert after.status is before.status
    assert np.array_equal(desired(after), desired(before))


def test_the_motion_of_other_joints_is_none(moving):
    assert moving.memory.for_joints(NAMES) is moving.memory
    other = moving.memory.for_joints(NAMES[:2])
    assert other.path is None and other.changes > moving.memory.changes


# --- off the path and back on it, with hysteresis ---

PATH = np.array([1.0, -2.0, 3.0])


def guarded(**settings):
    """Return a motion that rests on a path: a turning joint, one without end, and a slide."""
    names = ('turn', 'wheel', 'slide')
    motion = Motion(
        names, (False, True, False), (True, True, False),
        Settings(**{'path_tolerance': 0.2, 'path_tolerance_prismatic': 0.05, **settings}),
        MotionMemory(names))
    follow(motion, motion.joints, [Waypoint(9.0, PATH, (0.0,) * 3)], None, NOW, PATH)
    return motion


def off(motion, *distance, last=Status.FOLLOWING):
    return target_of(motion, NOW + 1.0, PATH + distance, 0.0, State.TRACKING, last)


@pytest.mark.parametrize('joint, tolerance', [(0, 0.2), (1, 0.2), (2, 0.05)])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_joint_leaves_at_its_tolerance_and_returns_at_half(joint, tolerance, sign):
    one, motion, last = sign * np.eye(3)[joint], guarded(), Status.FOLLOWING
    for share, has_left in (
            (0.99, False), (1.01, True), (0.99, True), (0.51, True), (0.49, False),
            (0.99, False)):
        target = off(motion, *(share * tolerance * one), last=last)
        last = target.status
        assert last is (Status.PATH_DEVIATION if has_left else Status.FOLLOWING)
        assert target.wanted is (State.GRAVITY if has_left else State.TRACKING)
        assert bool(target.detail) is has_left


def test_a_robot_returns_to_the_end_at_half_the_tolerance():
    motion = guarded(hold_tolerance=0.1)
    last = Status.HOLDING_END
    for distance, is_off in ((0.09, False), (0.11, True), (0.06, True), (0.04, False)):
        measured = PATH + (distance, 0.0, 0.0)
        last = target_of(motion, NOW + 10.0, measured, 0.0, State.HOLDING, last).status
        assert last is (Status.GOAL_DEVIATION if is_off else Status.HOLDING_END)


def test_joints_count_each_for_itself():
    motion = guarded()
    assert off(motion, 0.19, 0.19, 0.049).status is Status.FOLLOWING
    assert off(motion, 0.19, 0.19, 0.051).deviation == pytest.approx([0.19, 0.19, 0.051])
    assert off(motion, 0.09, -0.11, 0.0, last=Status.PATH_DEVIATION).deviation == pytest.approx(
        [0.09, -0.11, 0.0])


def test_whole_turns_of_a_continuous_joint_are_no_distance():
    motion = guarded()
    assert off(motion, 0.0, 2.0 * pi + 0.1, 0.0).status is Status.FOLLOWING
    assert off(motion, 0.0, 2.0 * pi - 0.3, 0.0).deviation == pytest.approx([0.0, -0.3, 0.0])
    assert off(motion, 2.0 * pi, 0.0, 0.0).status is Status.PATH_DEVIATION


def test_what_has_no_tolerance_may_be_anywhere():
    motion = guarded(path_tolerance=0.0)
    assert off(motion, 9.0, -9.0, 0.049).status is Status.FOLLOWING
    assert off(motion, 0.0, 0.0, 0.051).status is Status.PATH_DEVIATION


def test_it_says_which_tolerance_a_joint_is_not_within():
    said = off(guarded(), 0.09, -0.3, 0.03).detail
    assert 'wheel by -0.300, beyond path_tolerance 0.2' in said
    assert 'slide by +0.030, not yet within half of path_tolerance_prismatic 0.05' in said
    assert 'turn' not in said.partition('(')[2]
    assert 'gravity at the measured state' in said


FEEDBACK = {
    'mode': Mode.COMPUTED_TORQUE, 'position_gains': (100.0,), 'velocity_gains': (20.0,)}


def test_feedback_takes_up_only_what_is_near():
    motion = guarded(**FEEDBACK)
    target = off(motion, 0.5, 0.0, 0.0)
    assert (target.status, target.wanted) == (Status.PATH_DEVIATION, State.TRACKING)
    assert 'feedback of a bounded error' in target.detail
    for distance, status, wanted in (
            (0.5, Status.PATH_DEVIATION, State.GRAVITY), (0.19, Status.FOLLOWING, State.TRACKING)):
        measured = PATH + (distance, 0.0, 0.0)
        target = target_of(motion, NOW + 1.0, measured)
        assert (target.status, target.wanted) == (status, wanted)


def test_a_fast_motion_is_taken_up_at_its_begin():
    rules = ControllerRules(allow_nonzero_velocity_at_trajectory_end=True)
    motion = motion_of(NAMES, (False,) * 3, hold_tolerance=0.01, rules=rules, **FEEDBACK)
    follow(motion, NAMES, [Waypoint(1.0, 2.0 * ONES, 2.0 * ONES)], None, NOW, AT_REST, 2.0 * ONES)
    assert target_of(motion, NOW + 0.05, AT_REST).status is Status.FOLLOWING
    assert target_of(motion, NOW + 0.2, AT_REST).status is Status.MOTION_TOO_FAR


@pytest.mark.parametrize('first, begins', [(0.1, True), (0.0, False)])
def test_without_a_lead_in_a_motion_begins_elsewhere(first, begins):
    motion = motion_of(NAMES, (False,) * 3)
    follow(motion, NAMES, [Waypoint(first, ONES), Waypoint(1.0, ONES)], None, NOW, AT_REST)
    assert motion.begins_at_arm(Instant(0.0, NOW + 0.05), AT_REST[0]) is begins
    assert not motion.begins_at_arm(Instant(0.0, NOW + 0.2), AT_REST[0])


@pytest.mark.parametrize('off, begins', [(0.009, True), (0.011, False)])
@pytest.mark.parametrize('when', [-0.1, 0.0, 0.05])
def test_after_waiting_a_motion_begins_where_the_arm_still_is(off, begins, when):
    motion = motion_of(NAMES, (False,) * 3, **FEEDBACK)
    start = motion.start(
        Instant(0.0, NOW), np.zeros((2, 3)), State.ARMING, Status.STARTING, held_in=0.3)
    motion.follow(start.planned(TrajectoryCommand(NAMES, [Waypoint(1.0, ONES)])), 0.0)
    now = Instant(0.0, NOW + 0.3 + when)
    here = motion.memory.path.sample(now.ros)[0]
    assert motion.begins_at_arm(now, here + off * np.eye(3)[1]) is begins
    assert not motion.begins_at_arm(Instant(0.0, NOW + 0.5), here)


def test_after_a_fault_only_a_near_reference_is_followed(controlled):
    controlled.leave()
    far = REFERENCE[0] + (0.0, 0.5, 0.0)
    target = target_of(controlled, NOW, far, STEADY)
    assert (target.status, target.wanted) == (Status.MOTION_TOO_FAR, State.GRAVITY)
    assert 'reference of the controller is farther' in target.detail
    near = REFERENCE[0] + (0.0, 0.04, 0.0)
    assert target_of(controlled, NOW, near, STEADY).status is Status.FOLLOWING_CONTROLLER
    assert target_of(controlled, NOW, far, STEADY).status is Status.FOLLOWING_CONTROLLER


# --- what is only to be read, and at the bounds ---


@pytest.mark.parametrize('hold, path, slide, expected', [
    (0.1, 0.2, 0.05, [0.2, 0.2, 0.1]), (0.3, 0.2, 0.05, [0.3, 0.3, 0.3]),
    (0.0, 0.2, 0.05, [0.2, 0.2, 0.05]), (0.0, 0.0, 0.0, [0.01, 0.01, 0.01])])
def test_feedback_corrects_an_error_up_to_the_larger_tolerance(hold, path, slide, expected):
    motion = guarded(hold_tolerance=hold, path_tolerance=path, path_tolerance_prismatic=slide)
    assert motion.largest_error.tolist() == expected


def test_the_rest_is_only_to_be_read(motion):
    target = target_of(motion, NOW, MEASURED)
    for array in (target.velocities, target.accelerations):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0
