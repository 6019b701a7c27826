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
Trajectories with efforts: the motion is what it was, and lines between efforts are near the need.

The oracle samples both densely: motion by the sampler, efforts by lines from point to point.
"""

from bisect import bisect_right
from math import inf, pi

from example_robots import example_urdf
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from paired_robots import QUICK_ENGINE
import pytest
from ros2_rnea.errors import ArgumentError, TrajectoryError
from ros2_rnea.offline.filling.densifier import FINEST
from ros2_rnea.offline.filling.effort_filler import fill_efforts, FillSettings, Plan, Start
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Terms
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot

NAMES = ('shoulder', 'elbow')
ZERO = (0.0, 0.0)
ARM_ROBOT = Robot.from_urdf(ARM)
AT_REST = Start()


def swing(count, duration=2.0):
    """Return a swing there and back, with as many fields as are asked for in every point."""
    rest = (ZERO, ZERO)[:count - 1]
    return [Waypoint(0.0, (0.0, 0.5), *rest), Waypoint(duration / 2, (1.2, -1.0), *rest),
            Waypoint(duration, (-0.4, 0.3), *rest)]


def fill(waypoints, start=AT_REST, **settings):
    """Return the trajectory of the arm through these points, filled."""
    return fill_efforts(ARM_ROBOT, NAMES, Plan(NAMES, waypoints), start, FillSettings(**settings))


def lines(filled, times):
    """Return efforts as joint_trajectory_controller draws them, shape (times, joints)."""
    at = [point.waypoint.time for point in filled.points]
    rows = []
    for time in times:
        i = bisect_right(at, time) - 1
        if i == len(at) - 1:
            rows.append(filled.points[i].effort)
            continue
        (one, e0), (two, e1) = filled.points[i:i + 2]
        rows.append(e0 + (e1 - e0) * (time - one.time) / (two.time - one.time))
    return np.array(rows)


def needed(model, trajectory, times):
    q, qd, qdd = np.moveaxis([trajectory.at(time) for time in times], 1, 0)
    return model.inverse_dynamics(q, qd, qdd)


def off(filled, model, trajectory, times):
    """Return how far the lines are from the need, shape (times, joints)."""
    return np.abs(lines(filled, times) - needed(model, trajectory, times))


def off_ramps(filled, times):
    """Return the times outside of the ramps that lead to jumps."""
    on_ramp = [(jump - FINEST <= times) & (times < jump) for jump in filled.jumps]
    return times[~np.any([times < 0.0, *on_ramp], axis=0)]


# ---- the tolerance is kept ------------------------------------------------------------------


@pytest.mark.parametrize('count', [1, 2, 3])
@pytest.mark.parametrize('tolerance', [0.003, 0.0003, 0.00003])
def test_lines_are_near_the_effort_that_the_motion_needs(count, tolerance):
    filled = fill(swing(count), tolerance=tolerance)
    times = off_ramps(filled, np.linspace(0.0, 2.0, 20_011)[:-1])
    errors = off(filled, ARM_ROBOT, Trajectory(NAMES, swing(count)), times)
    share = (errors / ARM_ROBOT.effort_limits).max()
    assert 0.5 * tolerance < share <= tolerance
    assert (filled.tolerances == tolerance * ARM_ROBOT.effort_limits).all()
    assert filled.errors == pytest.approx(errors.max(axis=0), abs=0.1 * filled.tolerances.min())


def test_a_real_arm_needs_few_points():
    text = example_urdf('panda_description/urdf/panda.urdf')
    panda = Robot.from_urdf(text)
    names = [f'panda_joint{i}' for i in range(1, 8)]
    rest = np.zeros(7)
    start = Start({'panda_finger_joint1': (0.02,), 'panda_finger_joint2': (0.02,)})
    plan = Plan(names, [
        Waypoint(0.0, (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785), rest, rest),
        Waypoint(2.0, (1.0, 0.3, -0.5, -1.6, 0.7, 2.2, 0.0), rest, rest)])
    filled = fill_efforts(panda, names, plan, start)
    assert len(filled.points) == 8
    assert (filled.errors < 0.01 * panda.effort_limits[:7]).all()


def test_dry_friction_that_changes_sign_is_followed():
    model = Robot.from_urdf(ARM.replace('damping="0.5"', 'friction="20"'))
    plan = Plan(NAMES, swing(3))
    filled = fill_efforts(model, NAMES, plan)
    times = np.linspace(0.0, 2.0, 20_011)[:-1]
    assert (off(filled, model, Trajectory(*plan[:2]), times) <= filled.tolerances).all()


def test_a_robot_of_a_hundred_joints_is_filled():
    count = 100
    model = Robot.from_urdf(robot(
        '<link name="l0"/>', *(link(f'l{i + 1}', 0.2) for i in range(count)),
        *(joint(f'j{i}', f'l{i}', f'l{i + 1}', axis='0 1 0' if i % 2 else '0 0 1', effort=500)
          for i in range(count))), engine=QUICK_ENGINE)
    rest = np.zeros(count)
    plan = Plan(model.joint_names, [
        Waypoint(0.0, rest, rest), Waypoint(2.0, np.linspace(0.01, 0.1, count), rest)])
    filled = fill_efforts(model, model.joint_names, plan)
    assert len(filled.points) < 100
    assert (filled.errors <= filled.tolerances).all()


# A link's mass lies 0.5 m below its hinge: about it, I = 0.03 + 1 * 0.5².
PENDULUM = Robot.from_urdf(robot(
    '<link name="base"/>', link('bob', mass=1.0, com='0 0 -0.5'),
    joint('hinge', 'base', 'bob', effort=5.0)))


def test_a_pendulum_needs_what_is_known_by_hand():
    def hand(u):  # of the quintic from 0 to 1 rad in 1 s, at rest at both ends
        q, qdd = 10 * u**3 - 15 * u**4 + 6 * u**5, 60 * u - 180 * u**2 + 120 * u**3
        return (0.03 + 0.25) * qdd + 9.81 * 0.5 * np.sin(q)

    plan = Plan(('hinge',), [Waypoint(0.0, (0,), (0,), (0,)), Waypoint(1.0, (1,), (0,), (0,))])
    filled = fill_efforts(PENDULUM, ['hinge'], plan)
    assert len(filled.points) > 4
    for waypoint, effort in filled.points:
        assert effort == pytest.approx([hand(waypoint.time)], abs=1e-9)
    times = np.linspace(0.0, 1.0, 5001)
    assert np.abs(lines(filled, times)[:, 0] - hand(times)).max() <= 0.05


def test_a_small_jump_is_part_of_a_lines_tolerance():
    # Damping makes effort jump by 0.035 Nm at 1 s, and the line to there passes a bow of 0.039.
    damped = Robot.from_urdf(robot(
        '<link name="base"/>', link('bob', mass=1.0, com='0 0 -0.5'),
        joint('hinge', 'base', 'bob', extra='<dynamics damping="1"/>', effort=5.0)))
    plan = Plan(('hinge',), [
        Waypoint(0.0, (0.7,)), Waypoint(1.0, (0.995,)), Waypoint(2.0, (1.255,))])
    filled = fill_efforts(damped, ['hinge'], plan)
    times = np.linspace(0.0, 1.0, 1001)[:-1]
    assert 0.03 < off(filled, damped, Trajectory(*plan[:2]), times).max() <= 0.04
    assert 1.0 not in filled.jumps


# ---- the motion stays what it was -----------------------------------------------------------


angles = st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))


@st.composite
def waypoints_of_all_kinds(draw):
    time, waypoints = draw(st.sampled_from([0.0, 0.75])), []
    for _ in range(draw(st.integers(1, 4))):
        waypoints.append(Waypoint(time, *(draw(angles) for _ in range(draw(st.integers(1, 3))))))
        time += draw(st.integers(1, 16)) / 8.0
    return waypoints


@given(waypoints_of_all_kinds(), angles, angles)
def test_the_motion_stays_what_it_was(waypoints, position, velocity):
    start = Start({n: (p,) for n, p in zip(NAMES, position)}, dict(zip(NAMES, velocity)))
    filled = fill(waypoints, start, allow_nonzero_end_velocity=True)
    before = Trajectory(NAMES, waypoints, RosTime(0), True).entered_from(
        RosTime(0), np.array(position), np.array(velocity))
    after = Trajectory(NAMES, [point.waypoint for point in filled.points], RosTime(0), True)
    assert after.duration == before.duration
    for time in np.linspace(0.0, before.duration + 0.1, 301)[1:]:
        assert after.at(time) == pytest.approx(
            before.at(time), rel=1e-9, abs=1e-5), time  # [m/s²] an acceleration's rounding
        assert after.at(time)[:2] == pytest.approx(before.at(time)[:2], abs=1e-8)


@given(waypoints_of_all_kinds(), st.floats(0.001, 0.1))
def test_lines_are_near_whatever_the_motion(waypoints, tolerance):
    start = Start({'shoulder': (0.0,), 'elbow': (0.0,)})
    filled = fill(waypoints, start, tolerance=tolerance, allow_nonzero_end_velocity=True)
    trajectory = Trajectory(NAMES, [point.waypoint for point in filled.points], RosTime(0), True)
    times = np.linspace(0.0, trajectory.duration, 1001)[:-1]
    times = off_ramps(filled, np.append(times, np.nextafter([w.time for w in waypoints], 0.0)))
    if trajectory.duration > 0.0:
        assert (off(filled, ARM_ROBOT, trajectory, times) <= filled.tolerances).all()


@pytest.mark.parametrize('count, fields', [
    (1, ['positions']), (2, ['positions', 'velocities']),
    (3, ['positions', 'velocities', 'accelerations'])])
def test_inserted_points_have_the_fields_of_their_spline(count, fields):
    given_points = swing(count)
    filled = fill(given_points, tolerance=0.001)
    inserted = [p.waypoint for p in filled.points if p.waypoint not in given_points]
    assert len(inserted) >= 3
    for waypoint in inserted:
        assert [f for f in ('positions', 'velocities', 'accelerations')
                if getattr(waypoint, f) is not None] == fields
        assert round(waypoint.time, 9) == waypoint.time
    assert [p.waypoint for p in filled.points if p.waypoint in given_points] == given_points


def test_what_is_filled_already_gets_no_more_points():
    once = fill(swing(2))
    again = fill([point.waypoint for point in once.points])
    assert len(again.points) == len(once.points)
    assert again.jumps == once.jumps
    assert (again.errors <= again.tolerances).all()


def test_points_stay_as_far_apart_as_splines_need():
    waypoints = [Waypoint(time, (angle, 0.5 - angle), ZERO) for time, angle in (
        (0.0, 0.0), (0.5, 0.8), (0.50015, 0.8), (1.0, 0.0))]
    filled = fill(waypoints, tolerance=1e-5)
    times = [point.waypoint.time for point in filled.points]
    assert set(filled.jumps) == {0.5, 0.50015, 1.0}
    assert [time for time in times if 0.5 <= time <= 0.50015] == [0.5, 0.50015]
    assert np.diff(times).min() > 0.99 * FINEST


# ---- the first and the last point -----------------------------------------------------------


@pytest.mark.parametrize('count', [1, 2, 3])
def test_the_last_point_holds_gravity(count):
    filled = fill(swing(count))
    assert filled.points[-1].effort == pytest.approx(ARM_ROBOT.gravity([-0.4, 0.3]), abs=1e-12)
    assert filled.points[-1].waypoint == swing(count)[-1]


def test_a_motion_that_brakes_to_its_end_jumps_to_gravity():
    filled = fill(swing(2))
    assert 2.0 in filled.jumps
    brink, last = filled.points[-2:]
    assert brink.waypoint.time == pytest.approx(2.0 - FINEST, abs=1e-9)
    assert np.abs(brink.effort - last.effort).max() > 1.0


def test_a_motion_without_jumps_has_no_brinks():
    filled = fill(swing(3))
    assert filled.jumps == ()
    assert np.diff([p.waypoint.time for p in filled.points]).min() > 10 * FINEST


def test_a_later_trajectory_gets_the_measured_state_first():
    start = Start({'shoulder': (0.3,), 'elbow': (-0.2,)}, {'elbow': 0.4})
    waypoints = [Waypoint(1.5, (1.0, 1.0), ZERO, ZERO)]
    filled = fill(waypoints, start)
    first = filled.points[0].waypoint
    assert (first.time, tuple(first.positions), tuple(first.velocities)) == (
        0.0, (0.3, -0.2), (0.0, 0.4))
    assert tuple(first.accelerations) == ZERO
    assert filled.points[0].effort == pytest.approx(
        ARM_ROBOT.inverse_dynamics([0.3, -0.2], [0.0, 0.4], ZERO))


def test_a_first_point_at_zero_stays_the_first():
    filled = fill(swing(3), Start({'elbow': (9.0,)}))
    assert filled.points[0].waypoint == swing(3)[0]


def test_a_continuous_joint_starts_at_the_controllers_nearest_turn():
    wheel = Robot.from_urdf(robot(
        '<link name="base"/>', link('wheel'), joint('axle', 'base', 'wheel', 'continuous')))
    plan = Plan(('axle',), [Waypoint(1.0, (0.2,), (0.0,))])
    filled = fill_efforts(wheel, ['axle'], plan, Start({'axle': (4 * pi + 0.1,)}))
    assert filled.points[0].waypoint.positions == pytest.approx([0.1])


def test_a_single_point_at_zero_is_gravity_alone():
    filled = fill([Waypoint(0.0, (0.7, 0.1))])
    [point] = filled.points
    assert point.effort == pytest.approx(ARM_ROBOT.gravity([0.7, 0.1]))
    assert (filled.errors == 0.0).all()


# ---- joints that are not filled -------------------------------------------------------------


GRIPPING = Robot.from_urdf(ARM_WITH_GRIPPER)
THREE = ('shoulder', 'grip', 'elbow')


def test_a_gripper_keeps_its_efforts_and_its_motion_counts():
    waypoints = [Waypoint(0.0, (0.0, 0.0, 0.5)), Waypoint(2.0, (1.0, 0.2, 0.0))]
    plan = Plan(THREE, waypoints, [(0, 4.0, 0), (0, 8.0, 0)])
    filled = fill_efforts(GRIPPING, NAMES, plan)
    assert filled.filled == NAMES
    for waypoint, effort in filled.points:
        assert effort[1] == pytest.approx(4.0 + 2.0 * waypoint.time)
    assert filled.points[-1].effort[[0, 2]] == pytest.approx(
        GRIPPING.gravity([1.0, 0.0, 0.2])[:2])


def test_efforts_that_are_missing_count_as_zero():
    waypoints = [Waypoint(0.0, (0.0, 0.0, 0.5)), Waypoint(2.0, (1.0, 0.2, 0.0))]
    for efforts in [(), [(), (0, 6.0, 0)]]:
        filled = fill_efforts(GRIPPING, NAMES, Plan(THREE, waypoints, efforts))
        assert filled.points[0].effort[1] == 0.0
        assert filled.points[-1].effort[1] == (6.0 if efforts else 0.0)


def test_a_gripper_has_its_first_effort_from_the_start():
    plan = Plan(THREE, [Waypoint(1.0, (0.0, 0.1, 0.5))], [(0, 4.0, 0)])
    start = Start({'shoulder': (0.2,), 'grip': (0.0,), 'elbow': (0.0,)})
    filled = fill_efforts(GRIPPING, NAMES, plan, start)
    assert {point.effort[1] for point in filled.points} == {4.0}


def test_a_mimic_joint_and_an_unknown_one_are_left_alone():
    names = ('shoulder', 'thumb_joint', 'lamp')
    waypoints = [Waypoint(0.0, (0.0, 0.1, 0.0)), Waypoint(1.0, (1.0, 0.2, 0.0))]
    start = Start({'elbow': (0.5,), 'grip': (0.0,)})
    filled = fill_efforts(GRIPPING, NAMES, Plan(names, waypoints), start)
    assert filled.filled == ('shoulder',)
    assert (np.array([p.effort for p in filled.points])[:, 1:] == 0.0).all()


def test_joints_not_in_the_trajectory_stand_where_told():
    plan = Plan(('shoulder',), [Waypoint(0.0, (0.4,))])
    filled = fill_efforts(ARM_ROBOT, NAMES, plan, Start({'elbow': (0.9,)}))
    assert filled.points[0].effort == pytest.approx(ARM_ROBOT.gravity([0.4, 0.9])[:1])


# ---- tolerances without a limit -------------------------------------------------------------


LIMIT = '<limit lower="-3" upper="3" effort="40.0" velocity="2"/>'


@pytest.mark.parametrize('limit, text', [
    (0.0, ARM.replace('effort="40.0"', 'effort="0"')),
    (inf, ARM.replace(LIMIT, '').replace('elbow" type="revolute"', 'elbow" type="continuous"'))])
def test_without_a_limit_the_tolerance_shares_the_largest_effort(limit, text):
    model = Robot.from_urdf(text)
    assert model.effort_limits[1] == limit
    plan = Plan(NAMES, swing(3))
    filled = fill_efforts(model, NAMES, plan)
    peak = np.abs(needed(model, Trajectory(*plan[:2]), np.linspace(0, 2, 2001))[:, 1]).max()
    assert filled.tolerances[0] == 1.0
    assert filled.tolerances[1] == pytest.approx(0.01 * peak, rel=0.01)
    assert (filled.errors <= filled.tolerances).all()


def test_a_joint_without_limit_and_effort_asks_no_points():
    text = robot('<link name="base"/>', link('post', com='0 0 0.1'),
                 joint('turn', 'base', 'post', 'continuous', axis='0 0 1', effort=0.0))
    plan = Plan(('turn',), [Waypoint(0.0, (0.0,)), Waypoint(9.0, (1.0,))])
    filled = fill_efforts(Robot.from_urdf(text), ['turn'], plan)
    assert len(filled.points) == 2
    assert filled.tolerances == [1e-3]


# ---- progress, and what is refused ----------------------------------------------------------


def test_progress_rises_to_one():
    shares = []
    fill_efforts(ARM_ROBOT, NAMES, Plan(NAMES, swing(3)), progress=shares.append)
    assert shares == pytest.approx([1 / 3, 2 / 3, 1.0])


TWO = [Waypoint(0.0, ZERO, ZERO, ZERO), Waypoint(1.0, (1.0, 1.0), ZERO, ZERO)]


@pytest.mark.parametrize('plan, start, options, message', [
    (Plan(NAMES, TWO), Start(), {'tolerance': 1e-4, 'max_points': 20}, 'More than 20 points'),
    (Plan(NAMES, TWO), Start(), {'tolerance': 1e-9, 'max_points': 20}, 'More than 400 samples'),
    (Plan(NAMES, swing(3)), Start(), {'max_points': 2}, 'itself has 3 points, with one at 0 s'),
    (Plan(NAMES, TWO[1:]), Start({'elbow': (0.0,)}), {}, "joint 'shoulder' is not known: give"),
    (Plan(('elbow',), [Waypoint(0.0, (0.0,))]), Start(), {}, "of joint 'shoulder' is not known"),
    (Plan(('shoulde',), [Waypoint(0.0, (0.0,))]), Start(), {}, "did you mean 'shoulder'"),
    (Plan(NAMES, TWO, [(1.0,), ()]), Start(), {}, 'Point 0 has 1 efforts for 2 joints'),
    (Plan(NAMES, TWO, [ZERO]), Start(), {}, '1 rows of efforts for 2 points'),
    (Plan(NAMES, []), Start(), {}, 'has no points'),
    (Plan((), TWO), Start(), {}, 'names no joints'),
    (Plan(NAMES, [Waypoint(0.0, ZERO, ZERO), Waypoint(1.0, ZERO, (1.0, 0.0))]), Start(), {},
     "velocity 1.0 for joint 'shoulder'"),
])
def test_what_cannot_be_filled_is_refused_with_the_reason(plan, start, options, message):
    with pytest.raises(TrajectoryError, match=message):
        fill_efforts(ARM_ROBOT, NAMES, plan, start, FillSettings(**options))


def test_a_motion_that_ends_moving_may_be_allowed():
    waypoints = [Waypoint(0.0, ZERO, ZERO), Waypoint(1.0, ZERO, (1.0, 0.0))]
    filled = fill(waypoints, allow_nonzero_end_velocity=True)
    assert filled.points[-1].effort == pytest.approx(ARM_ROBOT.gravity(ZERO), abs=1e-12)


@pytest.mark.parametrize('options, message', [
    ({'tolerance': 0.0}, 'tolerance is 0.0'), ({'tolerance': 1.01}, 'tolerance is 1.01'),
    ({'tolerance': float('nan')}, 'tolerance is nan'), ({'max_points': 1}, 'max_points is 1')])
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        FillSettings(**options)


@pytest.mark.parametrize('terms, parts', [
    (Terms.FULL, ('gravity', 'coriolis', 'inertia', 'friction')),
    (Terms.NO_GRAVITY, ('coriolis', 'inertia', 'friction')),
    (Terms.NO_GRAVITY_NO_FRICTION, ('coriolis', 'inertia')),
    (Terms.NO_GRAVITY_NO_CORIOLIS, ('inertia', 'friction')),
    (Terms.GRAVITY_ONLY, ('gravity',)),
])
def test_what_the_arm_adds_by_itself_is_in_no_point(terms, parts):
    filled = fill(swing(3), tolerance=5e-4, terms=terms)
    trajectory = Trajectory(NAMES, swing(3))
    for waypoint, effort in filled.points[:-1]:
        each = ARM_ROBOT.effort_terms(*trajectory.at(waypoint.time))
        expected = sum(getattr(each, part) for part in parts)
        np.testing.assert_allclose(effort, expected, rtol=1e-9, atol=1e-9)
    rest = ARM_ROBOT.gravity(filled.points[-1].waypoint.positions)
    np.testing.assert_allclose(filled.points[-1].effort, rest * ('gravity' in parts), atol=1e-9)
    assert (filled.errors <= filled.tolerances).all()


def test_a_tilted_arm_gets_the_gravity_it_lacks():
    tilted, upright = (9.81, 0.0, 0.0), (0.0, 0.0, -9.81)
    filled = fill_efforts(
        ARM_ROBOT.with_gravity(tilted), NAMES, Plan(NAMES, swing(3)),
        settings=FillSettings(5e-4, terms=Terms.NO_GRAVITY, arm_gravity=upright))
    q = filled.points[-1].waypoint.positions
    expected = ARM_ROBOT.gravity(q, tilted) - ARM_ROBOT.gravity(q, upright)
    assert np.abs(expected).min() > 0.1
    np.testing.assert_allclose(filled.points[-1].effort, expected, rtol=1e-12)


def test_only_what_is_sent_decides_where_points_come_in():
    assert fill(swing(1), terms=Terms.NO_GRAVITY).jumps == (1.0,)
    assert fill(swing(1), terms=Terms.GRAVITY_ONLY).jumps == ()


def test_without_a_limit_the_tolerance_shares_what_is_sent():
    unlimited = Robot.from_urdf(ARM.replace('effort="100.0"', '').replace('effort="40.0"', ''))
    filled = fill_efforts(unlimited, NAMES, Plan(NAMES, swing(3)),
                          settings=FillSettings(terms=Terms.GRAVITY_ONLY))
    trajectory = Trajectory(NAMES, swing(3))
    q = np.array([trajectory.at(time)[0] for time in np.linspace(0.0, 2.0, 200)])
    largest = np.abs(unlimited.gravity(q)).max(axis=0)
    np.testing.assert_allclose(filled.tolerances, 0.01 * largest, rtol=1e-9)


def test_automatic_terms_say_nothing_here():
    with pytest.raises(ArgumentError, match='automatic'):
        FillSettings(terms=Terms.AUTOMATIC)


def test_joints_to_fill_must_be_the_robots():
    with pytest.raises(ArgumentError, match="controlled names 'wrist'"):
        fill_efforts(ARM_ROBOT, ['wrist'], Plan(NAMES, TWO))
