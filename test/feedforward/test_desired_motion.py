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
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.feedforward.desired_motion import DesiredMotion, TargetKind
from ros2_rnea.feedforward.trajectory import Waypoint

NAMES = ('shoulder', 'elbow', 'wrist')
NOW = 100.0
MEASURED = np.array((0.1, 0.2, 0.3))
AT_REST = np.zeros(3)
ONES = np.ones(3)
# Led in from the measured state for a second, then at 1 rad/s from 0 to 1 rad.
TO_ONES = (Waypoint(1.0, (0.0, 0.0, 0.0)), Waypoint(2.0, (1.0, 1.0, 1.0)))


@pytest.fixture
def motion():
    """Return the desired motion of an arm whose wrist turns without end, not yet moving."""
    return DesiredMotion(NAMES, (False, False, True), hold_tolerance=0.05)


@pytest.fixture
def moving(motion):
    """Return the same from NOW on the way to ones."""
    motion.accept(NAMES, TO_ONES, 0.0, NOW, MEASURED, AT_REST)
    return motion


def test_before_any_trajectory_the_target_is_the_measured_state_at_rest(motion):
    kind, *desired, off_end = motion.target(NOW, MEASURED)
    assert kind is TargetKind.NO_TRAJECTORY
    assert np.array_equal(desired, (MEASURED, AT_REST, AT_REST))
    assert off_end is None


@pytest.mark.parametrize(('elapsed', 'kind', 'positions', 'velocities'), [
    (0.0, TargetKind.FOLLOWING, MEASURED, -MEASURED),
    (0.5, TargetKind.FOLLOWING, MEASURED / 2, -MEASURED),
    (1.0, TargetKind.FOLLOWING, 0 * ONES, ONES),
    (1.75, TargetKind.FOLLOWING, 0.75 * ONES, ONES),
    (2.0, TargetKind.HOLDING_END, ONES, AT_REST),
    (1e6, TargetKind.HOLDING_END, ONES, AT_REST),
])
def test_a_trajectory_is_led_in_to_followed_and_its_end_held(
        moving, elapsed, kind, positions, velocities):
    target = moving.target(NOW + elapsed, ONES)
    assert target.kind is kind
    assert target.positions == pytest.approx(positions)
    assert target.velocities == pytest.approx(velocities)
    assert target.accelerations == pytest.approx(AT_REST)


def test_accelerations_of_the_trajectory_are_desired(motion):
    rest = ((0.0,) * 3, (0.0,) * 3)
    motion.accept(
        NAMES, [Waypoint(0.0, (0.0,) * 3, *rest), Waypoint(1.0, (1.0,) * 3, *rest)], 0.0, NOW,
        MEASURED, AT_REST)
    assert motion.target(NOW + 0.25, ONES).accelerations == pytest.approx(5.625 * ONES)


def test_while_following_the_measured_positions_do_not_matter(moving):
    far = moving.target(NOW + 1.5, 100.0 * ONES)
    assert np.array_equal(far.positions, moving.target(NOW + 1.5, ONES).positions)


@pytest.mark.parametrize('at_end', [{}, {'allow_nonzero_end_velocity': True}])
def test_the_end_is_held_at_rest_even_where_the_last_point_moves(at_end):
    motion = DesiredMotion(NAMES, (False,) * 3, 0.05, **at_end)
    velocity = 3.0 if at_end else 0.0
    last = Waypoint(0.0, (1.0,) * 3, (velocity,) * 3, (7.0,) * 3)
    motion.accept(NAMES, [last], 0.0, NOW, MEASURED, AT_REST)
    _, *desired, _ = motion.target(NOW, ONES)
    assert np.array_equal(desired, (ONES, AT_REST, AT_REST))


@pytest.mark.parametrize(('off_end', 'kind'), [
    ((0.0, 0.0, 0.0), TargetKind.HOLDING_END),
    ((0.049, -0.049, 0.049), TargetKind.HOLDING_END),
    ((0.0, 0.051, 0.0), TargetKind.OFF_END),
    ((-0.051, 0.0, 0.0), TargetKind.OFF_END),
    ((0.0, 2 * pi, 0.0), TargetKind.OFF_END),
    ((0.0, 0.0, 2 * pi), TargetKind.HOLDING_END),
    ((0.0, 0.0, -6 * pi + 0.049), TargetKind.HOLDING_END),
    ((0.0, 0.0, 4 * pi - 0.051), TargetKind.OFF_END),
    ((0.0, 0.0, pi), TargetKind.OFF_END),
])
def test_the_end_is_held_where_every_joint_is_within_the_tolerance(moving, off_end, kind):
    measured = ONES + off_end
    target = moving.target(NOW + 3.0, measured)
    assert target.kind is kind
    holding = kind is TargetKind.HOLDING_END
    assert np.array_equal(target.positions, ONES if holding else measured)
    assert np.array_equal((target.velocities, target.accelerations), (AT_REST, AT_REST))


def test_off_the_end_the_joints_and_how_far_they_are_off_are_named(moving):
    target = moving.target(NOW + 3.0, ONES + (0.5, 0.0, 2 * pi - 0.25))
    assert target.off_end == pytest.approx((0.5, 0.0, -0.25))
    explanation = moving.explain(target)
    assert 'shoulder by +0.500, wrist by -0.250' in explanation
    assert 'elbow' not in explanation
    assert 'hold_tolerance 0.05' in explanation


@pytest.mark.parametrize('time', [NOW, NOW + 3.0])
def test_other_targets_are_explained_by_their_kind(moving, time):
    target = moving.target(time, ONES)
    assert moving.explain(target) == target.kind.value


def test_a_robot_that_returns_to_the_end_is_held_there_again(moving):
    assert moving.target(NOW + 3.0, 2 * ONES).kind is TargetKind.OFF_END
    assert moving.target(NOW + 4.0, ONES).kind is TargetKind.HOLDING_END


def test_the_tolerance_may_change_while_a_trajectory_is_held(moving):
    moving.hold_tolerance = 2.0
    assert moving.target(NOW + 3.0, 2 * ONES).kind is TargetKind.HOLDING_END


# --- when it starts ---


@pytest.mark.parametrize(('stamp', 'elapsed', 'positions'), [
    (0.0, 1.5, 0.5),
    (NOW, 1.5, 0.5),
    (NOW + 2.0, 3.25, 0.25),
    (NOW - 1.5, 0.0, 0.5),
    (NOW - 1.0, 0.0, 0.0),
])
def test_a_trajectory_starts_at_its_stamp_or_at_reception(motion, stamp, elapsed, positions):
    motion.accept(NAMES, TO_ONES, stamp, NOW, MEASURED, AT_REST)
    assert motion.target(NOW + elapsed, MEASURED).positions == pytest.approx(positions * ONES)


def test_a_trajectory_stamped_ahead_is_led_in_to_from_reception(motion):
    motion.accept(NAMES, TO_ONES, NOW + 3.0, NOW, MEASURED, AT_REST)
    target = motion.target(NOW + 1.0, MEASURED)
    assert target.kind is TargetKind.FOLLOWING
    assert target.positions == pytest.approx(0.75 * MEASURED)


@pytest.mark.parametrize(('velocities', 'expected'), [
    (np.array((1.0, 0.0, 0.0)), (0.125, 0.0, 0.0)),
    (None, (0.0, 0.0, 0.0)),
])
def test_the_lead_in_starts_with_the_measured_velocities(motion, velocities, expected):
    rest = Waypoint(1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    motion.accept(NAMES, [rest], 0.0, NOW, AT_REST, velocities)
    assert motion.target(NOW + 0.5, MEASURED).positions == pytest.approx(expected)


def test_a_continuous_joint_is_led_in_from_the_nearest_turn(motion):
    motion.accept(NAMES, TO_ONES, 0.0, NOW, MEASURED + 2 * pi, AT_REST)
    positions = motion.target(NOW + 0.5, MEASURED).positions
    assert positions == pytest.approx((0.05 + pi, 0.1 + pi, 0.15))


def test_the_measured_state_may_change_after_reception(motion):
    positions, velocities = MEASURED.copy(), AT_REST.copy()
    motion.accept(NAMES[:1], [Waypoint(1.0, (0.0,), (0.0,))], 0.0, NOW, positions, velocities)
    before = motion.target(NOW + 0.5, MEASURED).positions
    positions[:] = velocities[:] = 9.0
    assert np.array_equal(motion.target(NOW + 0.5, MEASURED).positions, before)


# --- names ---


def test_values_go_to_the_joints_that_they_are_named_for(motion):
    motion.accept(
        ('wrist', 'shoulder', 'elbow'), [Waypoint(0.0, (3.0, 1.0, 2.0))], 0.0, NOW, MEASURED, None)
    assert np.array_equal(motion.target(NOW, np.array((1.0, 2.0, 3.0))).positions, (1.0, 2.0, 3.0))


# The present target, a second after reception, where the first trajectory is at 0 or held at 1.
@pytest.mark.parametrize(('first', 'measured', 'held'), [
    (None, 0.7, 0.7),
    (TO_ONES, 0.7, 0.0),
    ((Waypoint(0.0, (1.0, 1.0, 1.0)),), 0.99, 1.0),
    ((Waypoint(0.0, (1.0, 1.0, 1.0)),), 0.7, 0.7),
], ids=['no trajectory', 'following', 'holding the end', 'off the end'])
def test_joints_that_are_not_named_stay_where_the_present_target_has_them(
        motion, first, measured, held):
    if first:
        motion.accept(NAMES, first, 0.0, NOW, MEASURED, AT_REST)
    elbow = (Waypoint(0.0, (5.0,), (0.0,)), Waypoint(1.0, (6.0,), (0.0,)))
    motion.accept(('elbow',), elbow, 0.0, NOW + 1.0, measured * ONES, 3 * ONES)
    _, *desired, _ = motion.target(NOW + 1.5, ONES)
    assert desired[0] == pytest.approx((held, 5.5, held))
    assert desired[1] == pytest.approx((0.0, 1.5, 0.0))
    assert desired[2] == pytest.approx((0.0, 0.0, 0.0))


def test_joints_that_are_not_named_are_led_in_to_where_they_stay(moving):
    moving.accept(('elbow',), [Waypoint(1.0, (5.0,))], 0.0, NOW + 1.0, MEASURED, AT_REST)
    assert moving.target(NOW + 1.0, ONES).positions == pytest.approx(MEASURED)
    assert moving.target(NOW + 1.5, ONES).positions == pytest.approx((0.05, 2.6, 0.15))


# --- replacement ---


def test_a_new_trajectory_replaces_the_one_before_on_reception(moving):
    moving.accept(NAMES, [Waypoint(4.0, (3.0,) * 3)], NOW, NOW + 1.0, ONES, AT_REST)
    assert moving.target(NOW + 1.0, ONES).positions == pytest.approx(ONES)
    assert moving.target(NOW + 2.5, ONES).positions == pytest.approx(2 * ONES)


@pytest.mark.parametrize(('names', 'waypoints', 'stamp', 'measured', 'reason'), [
    (NAMES, (), 0.0, ONES, 'no points'),
    (NAMES, (Waypoint(0.0, (nan,) * 3),), 0.0, ONES, 'nan'),
    (('ankle',), (Waypoint(0.0, (1.0,)),), 0.0, ONES, "moves 'ankle', but .* 'shoulder'"),
    (NAMES, (Waypoint(0.0, (1.0,) * 3, (1.0,) * 3),), 0.0, ONES, 'velocity 1.0'),
    (NAMES, TO_ONES, NOW - 2.25, ONES, r'ended 0.250 s ago: it is stamped 97.750 s and lasts 2'),
    (NAMES, TO_ONES, 0.0, nan * ONES, 'No finite spline'),
])
def test_a_trajectory_that_is_refused_leaves_the_one_before_running(
        moving, names, waypoints, stamp, measured, reason):
    with pytest.raises(TrajectoryError, match=reason):
        moving.accept(names, waypoints, stamp, NOW, measured, AT_REST)
    assert moving.target(NOW + 1.75, ONES).positions == pytest.approx(0.75 * ONES)


def test_a_trajectory_that_ends_just_now_is_accepted(motion):
    motion.accept(NAMES, TO_ONES, NOW - 2.0, NOW, MEASURED, AT_REST)
    assert motion.target(NOW, ONES).kind is TargetKind.HOLDING_END


def test_after_clear_there_is_no_trajectory(moving):
    moving.clear()
    assert moving.target(NOW + 1.5, MEASURED).kind is TargetKind.NO_TRAJECTORY
