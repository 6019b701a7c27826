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
Trajectories are checked and sampled by joint_trajectory_controller's rules.

The oracle solves the boundary conditions of each segment, where the code has them solved once.
"""

from dataclasses import replace
from itertools import pairwise
from math import factorial, inf, nan, pi

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.robots.arguments import LARGEST
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint, whole_turns

NAMES = ('shoulder', 'elbow')
START = RosTime.from_seconds(100.0)
# half of a number near the least one is rounded
values = st.one_of(st.just(0.0), st.floats(1e-300, 10.0), st.floats(-10.0, -1e-300))
joint_values = st.tuples(values, values)


def fields(waypoint):
    """Return positions, velocities and accelerations, as many as the waypoint has."""
    given = (waypoint.positions, waypoint.velocities, waypoint.accelerations)
    return [np.array(field) for field in given if field is not None]


def points(*waypoints):
    """Return waypoints from tuples."""
    return [Waypoint(*waypoint) for waypoint in waypoints]


@st.composite
def trajectories(draw):
    """Draw waypoints of every kind, mixed, and the trajectory through them."""
    time, waypoints = 0.0, []
    for _ in range(draw(st.integers(1, 4))):
        time += draw(st.integers(1, 40)) / 8.0
        count = draw(st.integers(1, 3))
        waypoints.append(Waypoint(time, *(draw(joint_values) for _ in range(count))))
    return waypoints, Trajectory(NAMES, waypoints, START, allow_nonzero_end_velocity=True)


def derivatives(coefficients, t):
    """Return a polynomial and its first two derivatives at t."""
    return np.array([np.polynomial.polynomial.polyval(
        t, np.polynomial.polynomial.polyder(coefficients, order)) for order in range(3)])


def solved_segment(before, after, duration, t):
    """Return (q, qd, qdd) at t after ``before``, from the conditions at both ends."""
    count = min(len(before), len(after))

    def condition(order, time):
        return [factorial(n) / factorial(n - order) * time ** (n - order) if n >= order else 0.0
                for n in range(2 * count)]

    conditions = [condition(order, time) for time in (0.0, duration) for order in range(count)]
    ends = np.concatenate((before[:count], after[:count]))
    return derivatives(np.linalg.solve(conditions, ends), t)


# --- what is refused ---


@pytest.mark.parametrize(('names', 'waypoints', 'reason'), [
    ((), points((0.0, ())), 'names no joints'),
    (('elbow', 'elbow'), points((0.0, (1.0, 2.0))), "'elbow' twice"),
    (NAMES, [], 'no points'),
    (NAMES, points((-0.5, (1.0, 2.0))), 'Point 0 has time_from_start -0.5 s'),
    (NAMES, points((nan, (1.0, 2.0))), 'Point 0 has time_from_start nan s'),
    (NAMES, points((inf, (1.0, 2.0))), 'Point 0 has time_from_start inf s'),
    (NAMES, points((1.0, (1.0, 2.0)), (1.0, (1.0, 2.0))), 'Point 1 .* later than the 1.0 s'),
    (NAMES, points((1.0, (1.0, 2.0)), (0.5, (1.0, 2.0))), 'Point 1 .* later than the 1.0 s'),
    (NAMES, points((0.0, (1.0,))), 'Point 0 has 1 positions for 2 joints'),
    (NAMES, points((0.0, (1.0, 2.0, 3.0))), 'Point 0 has 3 positions for 2 joints'),
    (NAMES, points((0.0, (1.0, 2.0), (0.0,))), 'Point 0 has 1 velocities for 2 joints'),
    (NAMES, points((0.0, (1.0, 2.0), (0.0, 0.0), (0.0,))), '1 accelerations for 2 joints'),
    (NAMES, points((0.0, (1.0, 2.0)), (1.0, (0.0, nan))), "Point 1 .* nan .* positions.*'elbow'"),
    (NAMES, points((0.0, (1.0, 2.0), (inf, 0.0))), "Point 0 .* inf .* velocities.*'shoulder'"),
    (NAMES, points((0.0, (1.0, 2.0), (0.0, 0.0), (0.0, -inf))), "-inf .* accelerations.*'elbow'"),
    (NAMES, points((0.0, None, (0.0, 0.0))), 'Point 0 has no positions'),
    (NAMES, points((0.0, (), (0.0, 0.0))), 'Point 0 has no positions'),
    (NAMES, points((0.0, (1.0, 2.0), None, (0.0, 0.0))), 'accelerations and no velocities'),
    (NAMES, points((0.0, (1.0, 2.0), (), (0.0, 0.0))), 'accelerations and no velocities'),
    (NAMES, points((0.0, (1.0, 2.0), (0.0, 2e-7))), "velocity 2e-07 for joint 'elbow'"),
    (NAMES, points((0.0, (1.0, 2.0), (0.0, -0.1))), "velocity -0.1 for joint 'elbow'"),
    (NAMES, points((0.0, (0.0, -9e99)), (1e-250, (0.0, 9e99))), "No finite spline .*'elbow'"),
    (NAMES, points(
        (0.0, (0.0, 0.0), (0.0, 0.0)), (1e-90, (0.0, 9e99), (0.0, 0.0))), "No finite .*'elbow'"),
    (NAMES, points((0.0, (0.0, 1e100))), "Point 0 has 1e\\+100 among .*'elbow'"),
    (NAMES, points((0.0, (0.0, -1e308)), (1.0, (0.0, 1e308))),
     "-1e\\+308 .*'elbow'.*below 1e\\+100"),
    (NAMES, points((3e9, (0.0, 0.0))), 'it must be 0 or more, and at most 2.14748e'),
    (['elbow', *map(str, range(30_000)), 'elbow'], points((0.0, (0.0,))), "'elbow' twice"),
])
@pytest.mark.filterwarnings('error')
def test_a_bad_trajectory_is_refused_with_the_reason(names, waypoints, reason):
    with pytest.raises(TrajectoryError, match=reason):
        Trajectory(names, waypoints)


@pytest.mark.parametrize(('waypoint', 'allow_nonzero_end_velocity'), [
    (Waypoint(0.0, (1.0, 2.0)), False),
    (Waypoint(0.0, (1.0, 2.0), (), ()), False),
    (Waypoint(0.0, (1.0, 2.0), (0.0, 0.0), ()), False),
    (Waypoint(0.0, (1.0, 2.0), (0.0, 1e-7), (5.0, 6.0)), False),
    (Waypoint(0.0, (1.0, 2.0), (0.0, 3.0)), True),
    (Waypoint(0.0, np.array((1.0, 2.0)), np.zeros(2), np.zeros(2)), False),
])
def test_a_point_may_lack_fields_and_end_at_rest(waypoint, allow_nonzero_end_velocity):
    trajectory = Trajectory(NAMES, [waypoint], START, allow_nonzero_end_velocity)
    assert trajectory.sample(START)[0] == pytest.approx((1.0, 2.0))


# --- sampling ---


@pytest.mark.parametrize(('rest', 'u', 'expected'), [
    ((), 0.25, (0.25, 1.0, 0.0)),
    (((0.0,),), 0.25, (10 / 64, 1.125, 3.0)),
    (((0.0,),), 0.5, (0.5, 1.5, 0.0)),
    (((0.0,), (0.0,)), 0.25, (106 / 1024, 135 / 128, 5.625)),
    (((0.0,), (0.0,)), 0.5, (0.5, 1.875, 0.0)),
])
def test_from_rest_to_rest_each_spline_has_its_known_values(rest, u, expected):
    trajectory = Trajectory(('joint',), points((1.0, (0.0,), *rest), (2.0, (1.0,), *rest)), START)
    assert trajectory.sample(START + 1.0 + u)[:, 0] == pytest.approx(expected)


@given(trajectories(), st.integers(0, 63))
def test_a_segment_is_the_spline_of_common_fields(drawn, sixty_fourths):
    waypoints, trajectory = drawn
    u = sixty_fourths / 64.0  # so that no time is rounded into the next segment
    for before, after in pairwise(waypoints):
        duration = after.time - before.time
        expected = solved_segment(fields(before), fields(after), duration, u * duration)
        sampled = trajectory.sample(START + before.time + u * duration)
        assert sampled == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(trajectories(), st.floats(0.0, 0.9), st.floats(0.01, 0.1))
def test_velocity_integrates_to_position_and_acceleration_to_velocity(drawn, u, width):
    waypoints, trajectory = drawn
    nodes, weights = np.polynomial.legendre.leggauss(3)  # exact for these polynomials
    for before, after in pairwise(waypoints):
        duration = after.time - before.time
        start = before.time + u * duration
        half = 0.49 * width * duration
        samples = [trajectory.at(start + half * (1.0 + node)) for node in nodes]
        integral = half * np.tensordot(weights, samples, 1)
        change = trajectory.at(start + 2.0 * half) - trajectory.at(start)
        assert change[:2] == pytest.approx(integral[1:], rel=1e-7, abs=1e-7)


@given(trajectories())
def test_every_point_is_passed_without_rounding(drawn):
    waypoints, trajectory = drawn
    for before, after in pairwise(waypoints):
        count = min(len(fields(before)), len(fields(after)))
        assert np.array_equal(
            trajectory.sample(START + before.time)[:count], fields(before)[:count])
    last = fields(waypoints[-1])
    assert np.array_equal(trajectory.sample(trajectory.end)[:len(last)], last)


@given(trajectories())
def test_every_segment_arrives_with_the_fields_that_both_ends_have(drawn):
    waypoints, trajectory = drawn
    for before, after in pairwise(waypoints):
        count = min(len(fields(before)), len(fields(after)))
        at_end = trajectory.at(np.nextafter(after.time, -inf))
        assert at_end[:count] == pytest.approx(np.array(fields(after)[:count]), abs=1e-6)
        if after is waypoints[-1]:
            assert trajectory.end_of_spline() == pytest.approx(at_end, abs=1e-6)


huge = st.floats(-1e307, 1e307)


@given(
    st.lists(st.tuples(st.integers(1, 10 ** 12), st.lists(huge, min_size=1, max_size=3)),
             min_size=1, max_size=3),
    st.floats(allow_nan=False), st.floats(0.0, 1.0))
def test_whatever_is_accepted_is_finite_at_any_time(drawn, any_time, share):
    time, waypoints = 0, []
    for nanoseconds, numbers in drawn:
        time += nanoseconds
        waypoints.append(Waypoint(1e-9 * time, *([number] for number in numbers)))
    try:
        trajectory = Trajectory(('joint',), waypoints, START, allow_nonzero_end_velocity=True)
    except TrajectoryError:
        return
    for when in (any_time, share * 1e-9 * time):
        assert np.isfinite(trajectory.at(when)).all()


def test_a_segment_holds_its_start_and_not_its_end():
    trajectory = Trajectory(('joint',), points((0.0, (0.0,)), (1.0, (1.0,)), (2.0, (-1.0,))))
    assert trajectory.at(np.nextafter(1.0, 0.0))[1] == 1.0
    assert trajectory.at(1.0)[1] == -2.0


@pytest.mark.parametrize('late', [0.0, 1e-9, 1e6])
@pytest.mark.parametrize(('last', 'expected'), [
    (Waypoint(2.0, (1.0, 2.0)), ((1, 2), (0, 0), (0, 0))),
    (Waypoint(2.0, (1.0, 2.0), (3.0, 4.0)), ((1, 2), (3, 4), (0, 0))),
    (Waypoint(2.0, (1.0, 2.0), (3.0, 4.0), (5.0, 6.0)), ((1, 2), (3, 4), (5, 6))),
])
def test_from_the_last_point_on_the_sample_is_that_point(last, expected, late):
    waypoints = [Waypoint(1.0, (0.0, 0.0)), last]
    trajectory = Trajectory(NAMES, waypoints, START, allow_nonzero_end_velocity=True)
    assert (trajectory.sample(START + 2.0 + late) == expected).all()


def test_before_the_first_point_time_stands_still():
    trajectory = Trajectory(('joint',), points((1.0, (3.0,)), (2.0, (4.0,))), START)
    assert (trajectory.sample(START - 5.0) == trajectory.sample(START + 1.0)).all()


def test_the_end_is_on_the_clock_of_the_start():
    trajectory = Trajectory(('joint',), points((1.0, (3.0,)), (2.0, (4.0,))), START)
    assert trajectory.end == START + 2.0


@pytest.mark.parametrize('time', [0.5, 2.0])
def test_a_sample_may_be_written_without_harm(time):
    trajectory = Trajectory(('joint',), points((0.0, (3.0,)), (1.0, (4.0,))))
    expected = trajectory.at(time).copy()
    trajectory.at(time)[:] = 99.0
    assert (trajectory.at(time) == expected).all()


# --- the robot's joints ---


@given(trajectories(), st.floats(0.0, 25.0))
def test_the_order_of_names_does_not_matter(drawn, time):
    waypoints, trajectory = drawn
    swapped = Trajectory(
        NAMES[::-1],
        [Waypoint(w.time, *(field[::-1] for field in fields(w))) for w in waypoints],
        START, allow_nonzero_end_velocity=True)
    reordered = swapped.for_joints(NAMES, np.zeros(2))
    assert reordered.joint_names == NAMES
    assert reordered.sample(START + time) == pytest.approx(
        trajectory.sample(START + time), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize('time', [-1.0, 0.0, 0.7, 1.0, 1.5, 2.0, 9.0])
def test_a_joint_not_named_rests_where_it_is_held(time):
    trajectory = Trajectory(('elbow',), points(
        (0.0, (1.0,), (2.0,)), (1.0, (3.0,), (4.0,), (5.0,)), (2.0, (6.0,), (0.0,), (7.0,))))
    robot = trajectory.for_joints(('wrist', 'elbow', 'finger'), np.array((0.1, 0.2, 0.3)))
    sample = robot.at(time)
    assert (sample[:, (0, 2)] == ((0.1, 0.3), (0.0, 0.0), (0.0, 0.0))).all()
    assert sample[:, 1] == pytest.approx(trajectory.at(time)[:, 0])


def test_a_joint_that_the_robot_lacks_is_refused_by_name():
    trajectory = Trajectory(NAMES, points((0.0, (1.0, 2.0))))
    with pytest.raises(TrajectoryError, match="moves 'elbow', but .* 'shoulder', 'wrist'"):
        trajectory.for_joints(('shoulder', 'wrist'), np.zeros(2))


# --- the lead-in ---

MEASURED = (np.array((0.3, -0.4)), np.array((0.5, -0.6)))
FIRST = ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))


@pytest.mark.parametrize('t', [0.5, 1.1, 2.0])
@pytest.mark.parametrize('count', [1, 2, 3])
def test_the_lead_in_is_the_first_points_spline(count, t):
    motion = Trajectory(NAMES, points((2.0, *FIRST[:count]), (3.0, (0.0, 0.0))), START)
    led_in = motion.entered_from(START - 0.5, *MEASURED)
    expected = solved_segment([*MEASURED, np.zeros(2)], FIRST[:count], 2.5, t)
    assert led_in.sample(START - 0.5 + t) == pytest.approx(expected)
    for time in (2.0, 2.4, 3.0):
        assert (led_in.sample(START + time) == motion.sample(START + time)).all()


def test_the_lead_in_starts_at_the_measured_state():
    led_in = Trajectory(NAMES, points((2.0, *FIRST[:2]), (3.0, (0.0, 0.0))), START).entered_from(
        START + 1.0, *MEASURED)
    assert led_in.sample(START + 1.0)[:2] == pytest.approx(np.array(MEASURED))
    assert (led_in.sample(START) == led_in.sample(START + 1.0)).all()


def test_velocities_that_are_not_measured_count_as_zero():
    motion = Trajectory(NAMES, points((2.0, *FIRST), (3.0, (0.0, 0.0))), START)
    expected = motion.entered_from(START, MEASURED[0], np.zeros(2)).sample(START + 1.0)
    assert (motion.entered_from(START, MEASURED[0]).sample(START + 1.0) == expected).all()


@pytest.mark.parametrize('reception', [2.0, 2.5])
def test_a_first_point_not_ahead_is_not_led_to(reception):
    motion = Trajectory(NAMES, points((2.0, *FIRST[:1]), (3.0, (0.0, 0.0))), START)
    led_in = motion.entered_from(START + reception, *MEASURED)
    assert led_in.sample(START + 2.5) == pytest.approx(np.array(((0.5, 1), (-1, -2), (0, 0))))
    assert (led_in.sample(START + 1.0) == motion.sample(START + 2.0)).all()


def test_the_lead_in_starts_with_the_accelerations_that_are_known():
    motion = Trajectory(NAMES, points((2.0, *FIRST), (3.0, (0.0, 0.0))), START)
    known = np.array((0.7, -0.8))
    led_in = motion.entered_from(START, *MEASURED, accelerations=known)
    assert led_in.sample(START) == pytest.approx(np.array((*MEASURED, known)))


def test_the_waypoints_are_those_given_whatever_leads_in():
    given_points = points((1.0, (1.0, 2.0)), (2.0, *FIRST), (3.0, (0.0, 0.0), (0.0, 0.0)))
    motion = Trajectory(NAMES, given_points, START)
    for trajectory in (motion, motion.entered_from(START, *MEASURED)):
        assert [point.time for point in trajectory.waypoints] == [1.0, 2.0, 3.0]
        for point, expected in zip(trajectory.waypoints, given_points, strict=True):
            assert np.array_equal(fields(point), fields(expected))


def test_entering_leaves_the_trajectory_itself_as_it_was():
    motion = Trajectory(NAMES, points((2.0, *FIRST[:1]), (3.0, (0.0, 0.0))), START)
    motion.entered_from(START, *MEASURED)
    assert (motion.sample(START) == motion.sample(START + 2.0)).all()
    assert (motion.sample(START + 2.0)[0] == FIRST[0]).all()


def test_a_measured_state_that_is_not_finite_is_refused():
    motion = Trajectory(NAMES, points((2.0, *FIRST[:1]), (3.0, (0.0, 0.0))), START)
    with pytest.raises(TrajectoryError, match="No finite spline .*'elbow'"):
        motion.entered_from(START, np.array((0.0, nan)))


@pytest.mark.parametrize(('measured', 'first', 'entry'), [
    (0.1, 0.3, 0.1),
    (0.1 + 6 * pi, 0.3, 0.1),
    (0.1 - 6 * pi, 0.3, 0.1),
    (3.0, -3.0, 3.0 - 2 * pi),
    (-3.0, 3.0, -3.0 + 2 * pi),
    (0.0, pi, 0.0),
    (0.0, -pi, 0.0),
    (0.0, 3 * pi, 2 * pi),
    (0.0, -3 * pi, -2 * pi),
    (0.0, pi + 5e-10, 0.0),
    (0.0, pi + 5e-9, 2 * pi),
    (0.0, -pi - 5e-9, -2 * pi),
])
def test_a_continuous_joint_enters_at_the_nearest_turn(measured, first, entry):
    motion = Trajectory(NAMES, points((1.0, (first, first))), START)
    led_in = motion.entered_from(START, np.full(2, measured), None, (True, False))
    assert led_in.sample(START)[0] == pytest.approx((entry, measured), abs=1e-12)


def test_between_points_a_continuous_joint_makes_whole_turns():
    motion = Trajectory(('joint',), points((1.0, (0.0,)), (2.0, (4 * pi,))), START)
    led_in = motion.entered_from(START, np.zeros(1), None, (True,))
    assert led_in.sample(START + 1.5)[0] == pytest.approx((2 * pi,))


@given(st.floats(-1e3, 1e3))
def test_whole_turns_leave_half_a_turn_at_most(difference):
    turns, none = whole_turns(np.full(2, difference), (True, False))
    assert none == 0.0
    assert turns / (2 * pi) == pytest.approx(round(turns / (2 * pi)), abs=1e-9)
    assert abs(difference - turns) <= pi + 2e-9


def test_a_spline_of_infinite_motion_is_refused():
    """The largest coefficient of its positions is 6/T^5 = 1e308, and 20 times that is infinite."""
    points = [Waypoint(time, (position,), (0.0,), (0.0,))
              for time, position in ((0.0, 0.0), (3.6e-62, 1.0))]
    with pytest.raises(TrajectoryError, match='No finite spline'):
        Trajectory(['elbow'], points)
    Trajectory(['elbow'], [points[0], replace(points[1], time=7.2e-62)])


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('duration', [1e-3, 1.0, 1e3, 2.0**31])
def test_the_largest_numbers_that_are_accepted_make_a_finite_motion(duration):
    """Between its points it goes far beyond them."""
    largest = np.nextafter(LARGEST, 0.0)
    motion = Trajectory(['elbow'], [
        Waypoint(0.0, (largest,), (largest,), (-largest,)),
        Waypoint(duration, (-largest,), (-largest,), (largest,))], START, True)
    samples = np.array([motion.at(time) for time in np.linspace(0.0, duration, 101)])
    assert np.isfinite(samples).all()
    assert duration < 1e3 or np.abs(samples[:, 0]).max() > 1e3 * largest


def test_joints_with_ends_lead_in_as_numbers_say():
    motion = Trajectory(['elbow'], [Waypoint(1.0, (0.0,)), Waypoint(2.0, (0.0,))], START)
    assert motion.entered_from(START, np.array([6.0])).sample(START)[0] == pytest.approx([6.0])


def test_a_final_velocity_may_be_a_rounding_of_zero():
    least = float(np.finfo(np.float32).eps)
    Trajectory(['elbow'], [Waypoint(1.0, (0.0,), (least,))])
    with pytest.raises(TrajectoryError, match='nonzero velocity at the end'):
        Trajectory(['elbow'], [Waypoint(1.0, (0.0,), (2.0 * least,))])
