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
"""Position, velocity, acceleration and jerk of a trajectory: by hand, and by many samples."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.offline.filling.effort_filler import fill_efforts, Plan, Start
from ros2_rnea.offline.filling.motion_check import check_motion, described_limits, MotionLimits
from ros2_rnea.offline.filling.torque_report import TorqueCheck
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot

NAMES = ('shoulder', 'elbow')
ZERO = (0.0, 0.0)


def one(waypoints, **limits):
    """Return the report of the motion of one joint."""
    return check_motion(Trajectory(['hinge'], waypoints), {'hinge': MotionLimits(**limits)})


def quintic(distance=1.0, duration=1.0):
    """Return a motion from rest to rest."""
    return [Waypoint(0.0, (0.0,), (0.0,), (0.0,)), Waypoint(duration, (distance,), (0.0,), (0.0,))]


def wavy():
    """Return quintic segments of two joints, whose extremes are between the points."""
    random = np.random.default_rng(3)
    times = np.cumsum(random.uniform(0.2, 1.5, 12))
    fields = random.normal(size=(12, 3, 2))
    fields[-1, 1:] = 0.0
    return Trajectory(NAMES, [Waypoint(time, *row) for time, row in zip(times, fields)])


def test_peaks_of_a_quintic_are_known_by_hand():
    [motion] = one(quintic(2.0, 0.5)).joints
    assert motion.velocity.value == pytest.approx(15 / 8 * 2.0 / 0.5, rel=1e-9)
    assert motion.velocity.time == pytest.approx(0.25, abs=1e-4)
    assert abs(motion.acceleration.value) == pytest.approx(
        10 / np.sqrt(3.0) * 2.0 / 0.5**2, rel=1e-9)
    assert motion.jerk.value == pytest.approx(60.0 * 2.0 / 0.5**3)


def test_peaks_are_those_of_very_many_samples():
    trajectory = wavy()
    first = trajectory.splines.coefficients[0, 1]  # the robot already moves like this
    report = check_motion(
        trajectory, dict.fromkeys(NAMES, MotionLimits()), dict(zip(NAMES, first)))
    times = np.linspace(0.0, trajectory.duration, 200_001)
    q, qd, qdd = np.moveaxis([trajectory.at(time) for time in times], 1, 0)
    for index, motion in enumerate(report.joints):
        for largest, sampled in (
                (-motion.lowest.value, -q[:, index].min()),
                (motion.highest.value, q[:, index].max()),
                (abs(motion.velocity.value), np.abs(qd[:, index]).max()),
                (abs(motion.acceleration.value), np.abs(qdd[:, index]).max())):
            assert largest >= sampled - 1e-9
            assert largest == pytest.approx(sampled, rel=1e-4)
        for row, peak in ((0, motion.lowest), (0, motion.highest), (1, motion.velocity)):
            assert trajectory.at(peak.time)[row, index] == pytest.approx(peak.value, rel=1e-9)


def extremes(polynomial, duration):
    """Return the smallest and largest value of a polynomial, by the zeros of its derivative."""
    zeros = [zero.real for zero in polynomial.deriv().roots() if abs(zero.imag) < 1e-6]
    times = [0.0, duration, *(time for time in zeros if 0.0 < time < duration)]
    return min(map(polynomial, times)), max(map(polynomial, times))


def test_the_larger_of_two_similar_peaks_is_found():
    count, duration = 300, 1.3
    names = [f'joint{index}' for index in range(count)]
    scale = np.array([1.0, 2.0, 10.0])[:, np.newaxis]
    first, last = scale * np.random.default_rng(5).uniform(-1.0, 1.0, (2, 3, count))
    trajectory = Trajectory(
        names, [Waypoint(0.0, *first), Waypoint(duration, *last)],
        allow_nonzero_end_velocity=True)
    report = check_motion(trajectory, dict.fromkeys(names, MotionLimits(velocity=1.0)))
    for index, motion in enumerate(report.joints):
        position = np.polynomial.Polynomial(trajectory.splines.coefficients[0, :, index])
        lowest, highest = extremes(position, duration)
        assert motion.lowest.value == pytest.approx(lowest, rel=1e-9, abs=1e-12)
        assert motion.highest.value == pytest.approx(highest, rel=1e-9, abs=1e-12)
        speed = max(map(abs, extremes(position.deriv(), duration)))
        assert abs(motion.velocity.value) == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize('limits, quantity, value, limit', [
    ({'upper': 0.7}, 'position', 0.7, 0.7),
    ({'lower': 0.2}, 'position', 0.0, 0.2),
    ({'velocity': 1.0}, 'velocity', 1.0, 1.0),
    ({'acceleration': 3.0}, 'acceleration', 3.0, 3.0),
    ({'jerk': 3.0}, 'jerk', 60.0, 3.0),
])
def test_each_limit_that_is_exceeded_is_named_with_the_moment(limits, quantity, value, limit):
    report = one(quintic(), **limits)
    first = report.first_break
    assert (first.joint, first.quantity, first.limit) == ('hinge', quantity, limit)
    assert first.value == pytest.approx(value, abs=0.02)
    [exceeded] = report.exceeded
    assert exceeded.quantity == quantity


def test_the_first_of_several_breaks_is_reported():
    report = one(quintic(), upper=0.9, velocity=1.0, acceleration=5.7)
    assert report.first_break.quantity == 'acceleration'
    assert {moment.quantity for moment in report.exceeded} == {
        'position', 'velocity', 'acceleration'}


@pytest.mark.parametrize('share', [1.0, 1.0 + 1e-9])
def test_a_limit_that_is_used_to_the_full_is_kept(share):
    report = one(quintic(share), upper=1.0, lower=0.0, velocity=15 / 8)
    assert report.first_break is None and report.exceeded == ()


@pytest.mark.parametrize('limits, order', [
    ({'velocity': 0.3}, 1), ({'acceleration': 0.4}, 2), ({'velocity': 30.0}, 1)])
def test_with_times_scaled_as_reported_the_limit_is_just_met(limits, order):
    report = one(quintic(), **limits)
    [(quantity, limit)] = limits.items()
    scaled = one(quintic(duration=report.time_scaling), **limits)
    [motion] = scaled.joints
    assert abs(getattr(motion, quantity).value) == pytest.approx(limit, rel=1e-9)
    assert scaled.time_scaling == pytest.approx(1.0)
    assert report.scaling_decided_by.quantity == quantity


def test_no_speed_helps_where_a_position_is_out_of_range():
    report = one(quintic(9.0), upper=2.9)
    assert report.time_scaling == inf
    assert report.scaling_decided_by.quantity == 'position'
    assert report.scaling_decided_by.value == pytest.approx(9.0)


def test_without_limits_nothing_decides():
    report = one(quintic())
    assert (report.time_scaling, report.scaling_decided_by) == (0.0, None)


def test_a_limit_of_zero_allows_rest_alone():
    assert one(quintic(), velocity=0.0).time_scaling == inf
    still = one([Waypoint(0.0, (0.5,)), Waypoint(1.0, (0.5,))], velocity=0.0)
    assert (still.time_scaling, still.exceeded) == (0.0, ())


def test_straight_lines_jump_in_velocity_at_every_point():
    report = one([Waypoint(0.0, (0.0,)), Waypoint(1.0, (1.0,)), Waypoint(2.0, (3.0,))],
                 acceleration=100.0)
    assert report.velocity_jumps == (0.0, 1.0, 2.0)
    [motion] = report.joints
    assert motion.velocity.value == pytest.approx(2.0)
    assert motion.acceleration.value == inf
    assert report.time_scaling == inf
    assert report.first_break.quantity == 'acceleration'


SET_OFF = [Waypoint(0.0, (0.0,), (0.5,), (0.0,)), Waypoint(1.0, (1.0,), (0.0,), (0.0,))]


@pytest.mark.parametrize('before, jumps', [
    ({}, True), ({'hinge': 0.009}, True), ({'hinge': 0.5}, False), ({'hinge': 0.4}, False)])
def test_a_start_in_motion_needs_a_robot_in_motion(before, jumps):
    report = check_motion(
        Trajectory(['hinge'], SET_OFF), {'hinge': MotionLimits(acceleration=100.0)}, before)
    assert report.velocity_jumps == ((0.0,) if jumps else ())
    assert (report.time_scaling == inf) == jumps
    if jumps:
        assert report.first_break[:3] == ('hinge', 0.0, inf)


def test_a_start_from_the_measured_velocity_is_no_jump():
    slow = [Waypoint(0.0, (0.0,), (0.005,), (0.0,)), Waypoint(1.0, (1.0,), (0.0,), (0.0,))]
    report = check_motion(
        Trajectory(['hinge'], slow), {'hinge': MotionLimits()}, {'hinge': 0.005})
    assert report.velocity_jumps == ()


@pytest.mark.parametrize('before, scaling', [({}, inf), ({'hinge': 0.5}, None)])
def test_a_robot_at_rest_jumps_to_a_first_acceleration(before, scaling):
    starts = [Waypoint(0.0, (0.0,), (0.0,), (1.0,)), Waypoint(1.0, (1.0,), (0.0,), (0.0,))]
    report = check_motion(
        Trajectory(['hinge'], starts), {'hinge': MotionLimits(jerk=1e3)}, before)
    assert report.velocity_jumps == ()
    assert report.time_scaling == scaling or scaling is None and report.time_scaling < 1.0


def test_the_state_before_a_motion_tells_of_a_jump():
    model = Robot.from_urdf(ARM)
    moving = [Waypoint(0.0, ZERO, (0.3, 0.0), ZERO), Waypoint(2.0, (0.5, 0.5), ZERO, ZERO)]
    for velocities, jumps in (({}, (0.0,)), ({'shoulder': 0.3}, ())):
        filled = fill_efforts(model, NAMES, Plan(NAMES, moving), Start({}, velocities))
        assert TorqueCheck(model, filled).report().motion.velocity_jumps == jumps


def test_cubics_jump_in_acceleration_alone():
    cubic = [Waypoint(0.0, (0.0,), (0.0,)), Waypoint(1.0, (1.0,), (0.0,))]
    report = one(cubic, acceleration=6.1)
    assert report.velocity_jumps == ()
    assert report.exceeded == ()
    assert one(cubic, jerk=1e9).time_scaling == inf


def test_a_point_alone_has_a_position():
    report = one([Waypoint(0.0, (9.0,))], upper=2.9)
    [motion] = report.joints
    assert motion.highest.value == 9.0 and motion.velocity.value == 0.0
    assert report.first_break.value == 9.0


def test_limits_are_those_of_the_description_unless_others_are_told():
    model = Robot.from_urdf(robot(
        '<link name="base"/>', link('bob'), link('disc'), joint('hinge', 'base', 'bob'),
        joint('turn', 'bob', 'disc', kind='continuous')))
    limits = described_limits(model)
    assert limits['hinge'] == MotionLimits(-3.0, 3.0, 2.0)
    assert limits['turn'] == MotionLimits(velocity=2.0)  # it turns without end


def test_limits_of_urdf_1_2_are_used():
    """A motion has one limit of acceleration: the smaller one of both directions of time."""
    text = ARM_WITH_GRIPPER.replace(
        '<limit', '<limit acceleration="4" deceleration="3" jerk="20"')
    limits = described_limits(Robot.from_urdf(text))
    assert {limit[3:] for limit in limits.values()} == {(3.0, 20.0)}
    assert described_limits(Robot.from_urdf(ARM_WITH_GRIPPER))['elbow'][3:] == (np.inf, np.inf)


def test_joints_that_are_not_filled_count_as_well():
    model = Robot.from_urdf(ARM_WITH_GRIPPER)
    names = ('shoulder', 'elbow', 'grip')
    filled = fill_efforts(model, ['shoulder', 'elbow'], Plan(names, [
        Waypoint(0.0, (0.0, 0.0, 0.0), (0.0,) * 3), Waypoint(2.0, (0.1, 0.1, 7.0), (0.0,) * 3)]))
    report = TorqueCheck(model, filled).report()
    assert [load.joint for load in report.joints] == ['shoulder', 'elbow']
    assert [motion.joint for motion in report.motion.joints] == list(names)
    assert {moment.joint for moment in report.exceeded} == {'grip'}


def test_the_report_combines_efforts_and_motion():
    model = Robot.from_urdf(ARM)
    waypoints = [Waypoint(0.0, (0.0, 0.5), ZERO, ZERO), Waypoint(0.5, (1.2, -1.0), ZERO, ZERO)]
    filled = fill_efforts(model, NAMES, Plan(NAMES, waypoints))
    efforts = TorqueCheck(model, filled, None, dict.fromkeys(NAMES, MotionLimits())).report()
    assert efforts.first_break is None and efforts.time_scaling < 1.0
    report = TorqueCheck(model, filled).report()
    assert report.first_break.quantity == 'velocity'
    assert report.time_scaling == pytest.approx(15 / 8 * 1.5 / 0.5 / 2.0)  # 2 rad/s are allowed
    told = TorqueCheck(model, filled, None, {'elbow': MotionLimits(jerk=1e-3)}).report()
    assert told.scaling_decided_by.quantity == 'jerk'
