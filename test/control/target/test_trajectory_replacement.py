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
"""
Where replacement is allowed, a trajectory runs on until its successor takes over.

In most tests the old trajectory moves all joints at 1 rad/s, from 0 at NOW to 4 with a point each
second, and is replaced half a second on its way, when the robot is measured 0.1 rad ahead.
"""

from itertools import pairwise
from math import pi

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from ros2_rnea.control.decision import Status
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.trajectory_replacement import joined
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from trajectories import follow, motion_of, target_of

NAMES = ('shoulder', 'elbow')
NOW = RosTime.from_seconds(100.0)
THEN = NOW + 0.5
ONES = np.ones(2)
MEASURED = 0.6 * ONES
OLD = [Waypoint(float(k), (float(k),) * 2) for k in range(5)]


@pytest.fixture
def motion():
    """Return the motion of an arm on the old trajectory."""
    rules = ControllerRules(allow_trajectory_replacement=True)
    motion = motion_of(NAMES, (False, False), hold_tolerance=0.05, rules=rules)
    follow(motion, NAMES, OLD, None, NOW, np.zeros(2), None)
    return motion


def at(motion, time, measured=MEASURED):
    """Return the desired positions and velocities at a time."""
    target = target_of(motion, time, measured)
    return [*target.positions, *target.velocities]


# --- the new trajectory starts now ---


def test_a_new_trajectory_starts_from_the_desired_state(motion):
    follow(motion, NAMES, [Waypoint(1.0, (2.5, 3.5))], None, THEN, MEASURED, None)
    assert at(motion, THEN) == pytest.approx((0.5, 0.5, 2.0, 3.0))
    assert at(motion, THEN + 0.5) == pytest.approx((1.5, 2.0, 2.0, 3.0))
    assert target_of(motion, THEN + 1.0, np.array((2.5, 3.5))).status is Status.HOLDING_END


def test_the_joining_state_has_the_velocity_of_the_old(motion):
    follow(motion, NAMES, [Waypoint(1.0, (2.5,) * 2, (0.0,) * 2)], None, THEN, MEASURED, None)
    assert at(motion, THEN) == pytest.approx((0.5, 0.5, 1.0, 1.0))
    assert at(motion, THEN + 0.5) == pytest.approx((1.625, 1.625, 2.75, 2.75))


def test_a_point_at_the_start_is_stepped_to(motion):
    points = [Waypoint(0.0, (7.0, 8.0)), Waypoint(1.0, (8.0, 9.0))]
    follow(motion, NAMES, points, None, THEN, MEASURED, None)
    assert at(motion, THEN) == pytest.approx((7.0, 8.0, 1.0, 1.0))


def test_a_start_that_has_passed_is_now(motion):
    points = [Waypoint(0.0, (7.0, 8.0)), Waypoint(2.0, (9.0, 10.0))]
    follow(motion, NAMES, points, THEN - 1.0, THEN, MEASURED, None)
    assert at(motion, THEN + 1.0) == pytest.approx((8.0, 9.0, 1.0, 1.0))


# --- the new trajectory starts later ---


def test_until_the_new_stamp_the_old_runs_on(motion):
    follow(motion, NAMES, [Waypoint(1.0, (0.0, 5.0))], NOW + 2.5, THEN, MEASURED, None)
    assert at(motion, THEN) == pytest.approx((0.6, 0.6, 0.8, 0.8))
    assert at(motion, NOW + 1.0) == pytest.approx((1.0, 1.0, 1.0, 1.0))
    assert at(motion, NOW + 2.25) == pytest.approx((2.25, 2.25, 1.0, 1.0))
    assert at(motion, NOW + 2.5) == pytest.approx((2.5, 2.5, -2.5, 2.5))
    assert at(motion, NOW + 3.0) == pytest.approx((1.25, 3.75, -2.5, 2.5))


def test_before_the_next_point_it_leads_to_the_new_start(motion):
    follow(motion, NAMES, [Waypoint(1.0, (0.0, 5.0))], NOW + 0.75, THEN, MEASURED, None)
    assert at(motion, THEN) == pytest.approx((0.6, 0.6, 0.0, 0.0))
    assert at(motion, NOW + 0.75 - 1e-9) == pytest.approx((0.75, 0.75, 1.0, 1.0))
    assert at(motion, NOW + 0.75) == pytest.approx((0.75, 0.75, -0.75, 4.25))


# --- joints that the new trajectory omits ---


def test_omitted_joints_follow_the_old_and_named_ones_wait(motion):
    follow(motion, ('elbow',), [Waypoint(1.0, (6.5,))], None, THEN, MEASURED, None)
    assert at(motion, THEN) == pytest.approx((0.5, 0.5, 1.0, 6.0))
    assert at(motion, THEN + 0.5) == pytest.approx((1.0, 3.5, 1.0, 6.0))
    assert at(motion, NOW + 1.75) == pytest.approx((1.75, 6.5, 1.0, 0.0))
    assert at(motion, NOW + 3.5) == pytest.approx((3.5, 6.5, 1.0, 0.0))
    assert target_of(motion, NOW + 4.0, np.array((4.0, 6.5))).status is Status.HOLDING_END


def test_omitted_joints_have_the_fields_of_the_new_points(motion):
    stop = Waypoint(1.0, (6.5,), (0.0,))
    follow(motion, ('elbow',), [Waypoint(0.5, (3.5,), (6.0,)), stop], None, THEN, MEASURED, None)
    for elapsed in (0.0, 0.25, 0.5, 0.75, 0.99):
        assert at(motion, THEN + elapsed)[::2] == pytest.approx((0.5 + elapsed, 1.0))


def test_named_joints_wait_at_rest_with_all_fields():
    old = Trajectory(
        NAMES, [Waypoint(0.0, (0.0, 0.0)), Waypoint(2.0, (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)),
                Waypoint(3.0, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))], NOW)
    still = ((0.0,), (0.0,))
    both = joined(old, Trajectory(('elbow',), [Waypoint(1.0, (5.0,), *still)], NOW), NOW)
    assert both.sample(NOW + 1.5)[:, 1] == pytest.approx((5.0, 0.0, 0.0))
    assert both.sample(NOW + 2.0) == pytest.approx(np.array(((1, 5), (2, 0), (3, 0))))


def test_old_points_during_the_new_trajectory_are_left_out():
    new = Trajectory(('elbow',), [Waypoint(3.0, (6.5,))], THEN)
    both = joined(Trajectory(NAMES, OLD, NOW), new, THEN)
    assert [point.time for point in both.waypoints] == [0.0, 3.0, 3.5]


# --- a driver that wraps the positions of a joint that turns without end ---


TURN = 2.0 * pi
ELBOW_TURNS = (False, True)


@pytest.mark.parametrize('turns', [-2, -1, 0, 1])
@pytest.mark.parametrize('seconds', [0.5, 3.5, 4.0, 14.0])
def test_a_continuous_joint_goes_on_by_the_shorter_way(seconds, turns):
    """The old motion ends after 4 s, and stays in use."""
    now, old = NOW + seconds, Trajectory(NAMES, OLD, NOW)
    entry = min(seconds, 4.0)
    new = Trajectory(NAMES, [Waypoint(1.0, (entry + 0.3 + TURN * turns,) * 2)], now)
    both = joined(old, new, now, ELBOW_TURNS)
    assert both.sample(now)[0] == pytest.approx((entry, entry))
    assert both.sample(now + 0.5)[:2, 1] == pytest.approx((entry + 0.15, 0.3))
    assert both.sample(now + 1.0)[0, 1] == pytest.approx(entry + 0.3)
    # The shoulder has a range, so that its whole turns are motion.
    assert both.sample(now + 0.5)[1, 0] == pytest.approx(0.3 + TURN * turns)


def test_whole_turns_are_those_where_the_new_trajectory_starts():
    """The old motion turns by 17.5 rad until then."""
    old = Trajectory(NAMES, [Waypoint(float(k), (7.0 * k,) * 2) for k in range(5)], NOW)
    new = Trajectory(NAMES, [Waypoint(1.0, (0.0, 21.5 - 4 * TURN))], NOW + 3.0)
    both = joined(old, new, THEN, ELBOW_TURNS)
    assert both.sample(NOW + 2.0)[:2, 1] == pytest.approx((14.0, 7.0))
    assert both.sample(NOW + 3.5)[:2, 1] == pytest.approx((21.25, 0.5))


def test_a_point_at_the_start_makes_no_whole_turn():
    points = [Waypoint(0.0, (0.5, 0.6 - TURN)), Waypoint(1.0, (0.5, 1.6 - TURN))]
    both = joined(Trajectory(NAMES, OLD, NOW), Trajectory(NAMES, points, THEN), THEN, ELBOW_TURNS)
    assert both.sample(THEN)[:2, 1] == pytest.approx((0.6, 1.0))


def test_between_its_points_a_trajectory_turns_as_they_say():
    points = [Waypoint(1.0, (0.0, 1.0 + TURN)), Waypoint(2.0, (0.0, 1.0 - 2 * TURN)),
              Waypoint(3.0, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))]
    both = joined(Trajectory(NAMES, OLD, NOW), Trajectory(NAMES, points, THEN), THEN, ELBOW_TURNS)
    assert [both.sample(THEN + time)[0, 1] for time in (1.0, 1.5, 2.0, 3.0)] == pytest.approx(
        [1.0, 1.0 - 1.5 * TURN, 1.0 - 3 * TURN, -TURN])
    assert both.sample(THEN + 1.5)[1, 1] == pytest.approx(-3 * TURN)
    assert both.sample(THEN + 3.0)[1:] == pytest.approx(np.zeros((2, 2)))


def test_a_continuous_joint_waits_at_its_turn_for_omitted_ones():
    new = Trajectory(('elbow',), [Waypoint(1.0, (0.8 + TURN,))], THEN)
    both = joined(Trajectory(NAMES, OLD, NOW), new, THEN, (True, True))
    for time in (1.5, 2.0, 3.5, 4.0):
        assert both.sample(NOW + time)[0] == pytest.approx((time, 0.8))


def test_an_omitted_continuous_joint_follows_the_old_turns():
    old = Trajectory(NAMES, [Waypoint(float(k), (5.0 * k,) * 2) for k in range(5)], NOW)
    new = Trajectory(('elbow',), [Waypoint(0.5, (7.5 - TURN,)), Waypoint(1.0, (8.0 - TURN,))],
                     NOW + 1.0)
    both = joined(old, new, THEN, (True, True))
    for time in (1.0, 1.25, 1.75, 2.0, 2.5, 3.5):
        assert both.sample(NOW + time)[:2, 0] == pytest.approx((5.0 * time, 5.0))
    assert both.sample(NOW + 3.0)[0, 1] == pytest.approx(8.0)


def test_goals_in_succession_turn_a_continuous_joint_on():
    """Each is 1 rad ahead of where the driver says that the joint is, and replaces the last."""
    rules = ControllerRules(allow_trajectory_replacement=True)
    motion = motion_of(('wrist',), (True,), hold_tolerance=0.05, rules=rules)
    follow(motion, ('wrist',), [Waypoint(0.0, (0.0,)), Waypoint(1.0, (1.0,))], None, NOW,
           np.zeros(1))
    for seconds in np.arange(0.5, 20.0, 0.5):
        measured = np.array([(seconds + pi) % TURN - pi])
        follow(motion, ('wrist',), [Waypoint(1.0, measured + 1.0)], None, NOW + seconds, measured)
        for ahead in (0.0, 0.25, 0.49):
            assert motion.memory.path.sample(NOW + (seconds + ahead))[:2, 0] == pytest.approx(
                (seconds + ahead, 1.0))


# --- when nothing is joined ---


@pytest.mark.parametrize('old', [
    None,
    [Waypoint(1.0, (1.0, 1.0))],
], ids=['none', 'a single point'])
def test_without_several_old_points_it_starts_where_measured(motion, old):
    motion.clear()
    if old:
        follow(motion, NAMES, old, None, NOW, np.zeros(2), None)
    follow(motion, NAMES, [Waypoint(1.0, (2.6, 3.6))], None, THEN, MEASURED, None)
    assert at(motion, THEN) == pytest.approx((0.6, 0.6, 2.0, 3.0))


def test_a_robot_off_the_old_end_starts_where_measured(motion):
    follow(motion, NAMES, [Waypoint(1.0, (2.6, 3.6))], None, NOW + 9.0, MEASURED, None)
    assert at(motion, NOW + 9.0) == pytest.approx((0.6, 0.6, 2.0, 3.0))


def test_a_robot_at_the_old_end_starts_from_that_end(motion):
    measured = np.array((4.01, 3.99))
    follow(motion, NAMES, [Waypoint(1.0, (5.0, 6.0))], None, NOW + 9.0, measured, None)
    assert at(motion, NOW + 9.0) == pytest.approx((4.0, 4.0, 1.0, 2.0))


def test_a_joined_motion_is_replaced_like_any_other(motion):
    follow(motion, ('elbow',), [Waypoint(1.0, (6.5,))], None, THEN, MEASURED, None)
    follow(motion, ('elbow',), [Waypoint(1.0, (0.0,))], None, THEN + 0.5, MEASURED, None)
    assert at(motion, THEN + 0.5) == pytest.approx((1.0, 3.5, 1.0, -3.5))
    assert at(motion, NOW + 3.5) == pytest.approx((3.5, 0.0, 1.0, 0.0))


def test_on_a_large_clock_old_points_keep_their_distances():
    start = 1.7e9 + 0.123456789
    old = Trajectory(NAMES, [Waypoint(1e-3 * k, (k, k)) for k in range(9)], start)
    both = joined(old, Trajectory(('elbow',), [Waypoint(1e-3, (1.0,))], start), start + 1e-3)
    times = [point.time for point in both.waypoints]
    assert np.diff(times[2:]) == pytest.approx(1e-3, rel=1e-9)


# --- any two trajectories ---

numbers = st.floats(-10.0, 10.0)


@st.composite
def trajectories(draw, names, start):
    """Draw a trajectory of points with any fields, at multiples of 1/8 s."""
    time, points = 0.0, []
    for _ in range(draw(st.integers(1, 4))):
        time += draw(st.integers(1, 16)) / 8.0
        fields = draw(st.integers(1, 3))
        points.append(Waypoint(
            time, *(draw(st.tuples(*[numbers] * len(names))) for _ in range(fields))))
    return Trajectory(names, points, start, allow_nonzero_end_velocity=True)


@given(trajectories(NAMES, NOW), trajectories(('elbow',), NOW + 1.0), st.integers(0, 24))
def test_a_joined_motion_passes_its_points_and_is_differentiable(old, new, eighths):
    now = NOW + eighths / 8.0
    both = joined(old, new, now)
    start = max(new.start, now)
    for point in new.waypoints:
        assert both.sample(start + point.time)[0, 1] == point.positions[0]
        expected = old.sample(start + point.time)[0, 0]
        assert both.sample(start + point.time)[0, 0] == pytest.approx(expected)
    nodes, weights = np.polynomial.legendre.leggauss(3)  # exact for these polynomials
    for before, after in pairwise(both.waypoints):
        half = 0.49 * (after.time - before.time)
        middle = now + 0.5 * (before.time + after.time)
        integral = half * np.tensordot(
            weights, [both.sample(middle + half * node) for node in nodes], 1)
        change = both.sample(middle + half) - both.sample(middle - half)
        assert change[:2] == pytest.approx(integral[1:], rel=1e-7, abs=1e-7)


def test_one_of_two_points_runs_on_too(motion):
    motion.clear()
    follow(motion, NAMES, [OLD[0], OLD[4]], None, NOW, np.zeros(2), None)
    follow(motion, NAMES, [Waypoint(1.0, (2.5, 3.5))], NOW + 1.0, THEN, 0.5 * ONES, ONES)
    assert at(motion, NOW + 0.75) == pytest.approx((0.75, 0.75, 1.0, 1.0))
