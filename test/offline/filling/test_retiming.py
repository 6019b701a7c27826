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
"""The fastest timing of a path: by hand for one joint, and within all limits for an arm."""

from dataclasses import replace
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.offline.filling.effort_filler import fill_efforts, Plan, Start
from ros2_rnea.offline.filling.motion_check import described_limits, Moment, MotionLimits
from ros2_rnea.offline.filling.torque_report import Checked, TorqueCheck
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.models import panda
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot

retiming = pytest.importorskip('ros2_rnea.offline.filling.retiming', exc_type=ImportError)

NAMES = ('shoulder', 'elbow')
ZERO = (0.0, 0.0)
INERTIA = 0.02  # of a disc about its axis [kg m^2], as in small_robots


def disc(effort=1.0, dynamics=''):
    """Return a disc that gravity does not load."""
    return Robot.from_urdf(robot(
        '<link name="base"/>', link('disc', com='0 0 0'),
        joint('turn', 'base', 'disc', axis='0 0 1', effort=effort, extra=dynamics)))


def retimed(model, waypoints, names, motion=None, start=None):
    """Return a trajectory before and after."""
    start, motion = start or Start(), {**described_limits(model), **(motion or {})}

    def checked(plan):
        filled = fill_efforts(model, names, plan, start)
        return Checked(filled, TorqueCheck(model, filled, None, motion).report())
    given = checked(Plan(names, waypoints))
    return given, retiming.retime(
        model, given, start, (model.effort_limits, motion), checked)


def turned(model, angle, **limits):
    """Return the duration in which a disc is turned by an angle."""
    motion = {'turn': MotionLimits(**limits)}
    _, result = retimed(model, [
        Waypoint(0.0, (0.0,), (0.0,), (0.0,)), Waypoint(9.0, (angle,), (0.0,), (0.0,))], ['turn'],
        motion)
    return result.filled.trajectory.duration


def test_with_an_effort_limit_alone_the_motion_is_bang_bang():
    assert turned(disc(1.0), 2.0) == pytest.approx(2.0 * sqrt(2.0 * INERTIA), rel=2e-3)


def test_a_velocity_limit_cuts_the_top():
    acceleration = 1.0 / INERTIA
    assert turned(disc(1.0), 2.0, velocity=4.0) == pytest.approx(
        2.0 / 4.0 + 4.0 / acceleration, rel=2e-3)


def test_an_acceleration_limit_counts():
    assert turned(disc(1.0), 2.0, acceleration=5.0) == pytest.approx(
        2.0 * sqrt(2.0 / 5.0), rel=2e-3)


def test_coulomb_friction_takes_effort_and_does_not_brake():
    speeding, braking = 0.6 / INERTIA, 1.0 / INERTIA
    top = sqrt(2.0 * 2.0 / (1.0 / speeding + 1.0 / braking))
    assert turned(disc(1.0, '<dynamics friction="0.4"/>'), 2.0) == pytest.approx(
        top / speeding + top / braking, rel=5e-3)


@pytest.mark.parametrize('damping', [0.02, 0.2, 1.0])
def test_viscous_friction_counts_at_the_speed_that_there_is(damping):
    effort, angle, rate = 1.0, 2.0, damping / INERTIA
    final = effort / damping  # the speed at which all effort goes into friction

    def durations(speeding):
        top = final * (1.0 - exp(-rate * speeding))
        braking = log(1.0 + top / final) / rate
        turned = (final * speeding - top / rate
                  + (top + final) * (1.0 - exp(-rate * braking)) / rate - final * braking)
        return turned, speeding + braking
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if durations(middle)[0] < angle else (low, middle)
    assert turned(disc(effort, f'<dynamics damping="{damping}"/>'), angle) == pytest.approx(
        durations(low)[1], rel=0.01)


@pytest.mark.parametrize('angle, of_direction', [(2.0, 'positive'), (-2.0, 'negative')])
def test_friction_of_each_direction_counts_as_it_acts(angle, of_direction):
    def identified(**numbers):
        tree = disc().tree
        return Robot(replace(tree, bodies=tuple(
            replace(body, **numbers) for body in tree.bodies)))

    other = 'negative' if of_direction == 'positive' else 'positive'
    alike = turned(identified(friction=0.4, damping=0.1), angle)
    by_direction = {f'friction_{of_direction}': 0.4, f'damping_{of_direction}': 0.1}
    assert turned(identified(**by_direction), angle) == pytest.approx(alike, rel=2e-3)
    # While the smooth sign changes, an eighth of the other direction's friction still counts.
    assert turned(identified(**{f'friction_{other}': 0.4, f'damping_{other}': 0.1}),
                  angle) == pytest.approx(
                      turned(disc(1.0), angle) / sqrt(1.0 - 0.4 / 8.0), rel=2e-3)
    # Against an offset, speeding up has 0.6 Nm and braking 1.4 Nm.
    top = sqrt(2.0 * 2.0 / (INERTIA / 0.6 + INERTIA / 1.4))
    against = turned(identified(friction_offset=0.4 * np.sign(angle)), angle)
    assert against == pytest.approx(INERTIA * (top / 0.6 + top / 1.4), rel=5e-3)


def seven_joints():
    """Return an arm with a motion of all its joints, slow enough for all limits."""
    model = Robot.from_urdf(panda().urdf)
    names = tuple(f'joint{i}' for i in range(1, 8))
    fast = 0.2 * np.sin(np.arange(7.0))
    rest = np.zeros(7)
    return model, names, [
        Waypoint(0.0, (0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.6), rest, rest),
        Waypoint(2.0, (1.0, 0.5, -0.5, -1.0, 0.5, 2.0, 0.0), fast, rest),
        Waypoint(4.0, (0.3, 0.1, 0.4, -1.5, -0.5, 1.0, 1.0), rest, rest)]


def test_the_retimed_motion_keeps_and_uses_all_limits():
    model, names, waypoints = seven_joints()
    given, result = retimed(model, waypoints, names)
    trajectory = result.filled.trajectory
    assert trajectory.duration < 0.3 * given.filled.trajectory.duration
    assert result.report.first_break is None
    # All joints of the description, in the order of the robot, at instants that are not its grid.
    times = np.linspace(0.0, trajectory.duration, 7001)[:-1]
    states = np.array([trajectory.at(time) for time in times])
    columns = [list(names).index(name) for name in model.joint_names]
    q, qd, qdd = np.moveaxis(states[:, :, columns], 1, 0)
    efforts = np.abs(model.inverse_dynamics(q, qd, qdd)) / model.effort_limits
    velocities = np.abs(qd) / [described_limits(model)[name].velocity
                               for name in model.joint_names]
    # Up to interpolation between the samples that the report sees: 1 % of an effort limit.
    assert efforts.max() <= 1.01 and velocities.max() <= 1.0 + 1e-4
    used = np.maximum(efforts.max(axis=1), velocities.max(axis=1))
    assert np.median(used) > 0.95  # at nearly every instant, something is at its limit


def path_of(trajectory):
    """Return points of a path at equal distances along it."""
    times = np.linspace(0.0, trajectory.duration, 20_001)
    q = np.array([trajectory.at(time)[0] for time in times])
    lengths = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))))
    shares = np.linspace(0.0, lengths[-1], 500)
    return np.stack([np.interp(shares, lengths, column) for column in q.T], axis=1)


def test_the_path_stays():
    model, names, waypoints = seven_joints()
    given, result = retimed(model, waypoints, names)
    before, after = path_of(given.filled.trajectory), path_of(result.filled.trajectory)
    assert np.abs(before - after).max() < 1e-4  # [rad]


def rests(result):
    """Return at how many points of a retimed motion all joints stand still."""
    return sum(np.abs(np.asarray(point.waypoint.velocities)).max() < 1e-9
               for point in result.filled.points)


def test_it_stops_at_corners_and_passes_through_smooth_points():
    model = Robot.from_urdf(ARM)
    corner = [Waypoint(0.0, ZERO), Waypoint(1.0, (1.0, 0.0)), Waypoint(2.0, (1.0, 1.0))]
    _, result = retimed(model, corner, NAMES)
    assert rests(result) == 3  # start, corner, end
    smooth = [Waypoint(0.0, ZERO, ZERO, ZERO), Waypoint(1.0, (0.5, 0.5), (0.5, 0.5), ZERO),
              Waypoint(2.0, (1.0, 1.0), ZERO, ZERO)]
    _, result = retimed(model, smooth, NAMES)
    assert rests(result) == 2


def test_it_turns_back_where_the_motion_does():
    # A cubic that swings beyond its end, and comes back.
    there = [Waypoint(0.0, (0.0,), (0.0,)), Waypoint(1.0, (1.0,), (-3.0,)),
             Waypoint(2.0, (0.0,), (0.0,))]
    given, result = retimed(disc(), there, ['turn'])
    highest = Trajectory(['turn'], there)
    top = max(highest.at(time)[0, 0] for time in np.linspace(0.0, 2.0, 5001))
    [motion] = result.report.motion.joints
    assert motion.highest.value == pytest.approx(top, abs=1e-4)
    assert motion.lowest.value == pytest.approx(given.report.motion.joints[0].lowest.value,
                                                abs=1e-4)


def test_a_rest_keeps_its_duration():
    rest = [Waypoint(0.0, (0.0,), (0.0,)), Waypoint(1.0, (1.0,), (0.0,)),
            Waypoint(4.0, (1.0,), (0.0,)), Waypoint(5.0, (2.0,), (0.0,))]
    _, result = retimed(disc(), rest, ['turn'])
    moved = turned(disc(), 1.0, velocity=2.0)
    assert result.filled.trajectory.duration == pytest.approx(2.0 * moved + 3.0, rel=1e-3)


def test_a_gripper_keeps_the_effort_of_the_last_point():
    model = Robot.from_urdf(ARM_WITH_GRIPPER)
    names = ('shoulder', 'elbow', 'grip')
    motion, start = described_limits(model), Start()

    def checked(plan):
        filled = fill_efforts(model, NAMES, plan, start)
        return Checked(filled, TorqueCheck(model, filled).report())
    given = checked(Plan(names, [Waypoint(0.0, (0.0,) * 3), Waypoint(2.0, (1.0, 0.5, 0.02))],
                         [(0.0, 0.0, 5.0), (0.0, 0.0, 7.0)]))
    result = retiming.retime(model, given, start, (model.effort_limits, motion), checked)
    assert {point.effort[2] for point in result.filled.points} == {7.0}


def demanding(model, start, count):
    """Return a function whose first checks find an effort that exceeds its limit by 1 %."""
    checks = []

    def checked(plan):
        filled = fill_efforts(model, ['turn'], plan, start)
        report = TorqueCheck(model, filled).report()
        checks.append(filled.trajectory.duration)
        if len(checks) <= count:
            over = Moment('turn', 0.5, 1.01, 1.0)
            report = replace(report, first_break=over, exceeded=(over,), time_scaling=1.01)
        return Checked(filled, report)
    return checked, checks


def test_it_is_slowed_down_until_the_limits_are_kept():
    model, start = disc(), Start()
    checked, durations = demanding(model, start, 7)
    plan = Plan(['turn'], [Waypoint(0.0, (0.0,), (0.0,)), Waypoint(9.0, (2.0,), (0.0,))])
    given = checked(plan)
    result = retiming.retime(
        model, given, start, (model.effort_limits, described_limits(model)), checked)
    assert result.report.first_break is None
    assert len(durations) == 8 and np.diff(durations[1:]).min() > 0.0
    assert result.filled.trajectory.duration == durations[-1]
    assert durations[-1] == pytest.approx(1.01**6 * durations[1], rel=0.01)


def test_limits_exceeded_at_any_speed_are_an_error():
    model, start = disc(), Start()
    checked, _ = demanding(model, start, 1000)
    given = checked(Plan(
        ['turn'], [Waypoint(0.0, (0.0,), (0.0,)), Waypoint(9.0, (2.0,), (0.0,))]))
    with pytest.raises(TrajectoryError, match="effort of joint 'turn' is 1.01 at 0.500 s"):
        retiming.retime(
            model, given, start, (model.effort_limits, described_limits(model)), checked)


def test_a_position_out_of_range_is_reported():
    _, result = retimed(disc(), [Waypoint(0.0, (0.0,), (0.0,)), Waypoint(9.0, (5.0,), (0.0,))],
                        ['turn'])
    assert result.report.time_scaling == inf
    assert result.report.first_break.quantity == 'position'


def test_what_no_timing_can_do_is_refused_with_the_reason():
    weak = Robot.from_urdf(ARM.replace('effort="40.0"', 'effort="0.5"'))
    waypoints = [Waypoint(0.0, ZERO, ZERO), Waypoint(1.0, (0.0, 1.5), ZERO)]
    with pytest.raises(TrajectoryError, match='gravity and Coulomb friction need more'):
        retimed(weak, waypoints, NAMES)


def test_a_jerk_limit_is_refused_because_the_fastest_timing_jumps():
    with pytest.raises(TrajectoryError, match="joint 'turn' has a jerk limit of 50"):
        turned(disc(), 1.0, jerk=50.0)


def test_without_any_limit_there_is_no_fastest_timing():
    free = Robot.from_urdf(robot(
        '<link name="base"/>', link('disc', com='0 0 0'),
        '<joint name="turn" type="continuous"><parent link="base"/><child link="disc"/>'
        '<axis xyz="0 0 1"/></joint>'))
    assert described_limits(free)['turn'].velocity == inf
    with pytest.raises(TrajectoryError, match='no limit bounds the speed'):
        retimed(free, [Waypoint(0.0, (0.0,)), Waypoint(1.0, (1.0,))], ['turn'])
