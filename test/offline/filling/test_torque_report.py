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
"""What a trajectory asks of joints: by hand for a pendulum, and by trying what is allowed."""

from dataclasses import replace
from math import inf, pi, sqrt

import numpy as np
import pytest
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.filling.effort_filler import fill_efforts, Plan, Start
from ros2_rnea.offline.filling.motion_check import MotionLimits
from ros2_rnea.offline.filling.torque_report import first_root, TorqueCheck
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from small_robots import ARM, joint, link, robot

NAMES = ('shoulder', 'elbow')
ZERO = (0.0, 0.0)
AT_REST = Start()


def pendulum(effort, dynamics=''):
    """Return a pendulum with 1 kg 0.5 m from its hinge, about which I = 0.03 + 0.25."""
    return Robot.from_urdf(robot(
        '<link name="base"/>', link('bob', mass=1.0, com='0 0 -0.5'),
        joint('hinge', 'base', 'bob', extra=dynamics, effort=effort)))


def swing(scale=1.0):
    """Return a swing from rest to rest, stretched in time."""
    return [Waypoint(scale * time, positions, ZERO, ZERO) for time, positions in (
        (0.0, (0.0, 0.5)), (1.0, (1.2, -1.0)), (1.8, (-0.4, 0.3)))]


def check_of(model, waypoints, names=NAMES, limits=None, start=AT_REST):
    """Return the check of efforts alone: the motion has no limits."""
    return TorqueCheck(
        model, fill_efforts(model, names, Plan(names, waypoints), start), limits,
        {name: MotionLimits() for name in model.joint_names})


def held(angle):
    return [Waypoint(0.0, (angle,)), Waypoint(1.0, (angle,))]


# ---- peak, mean square, first break ---------------------------------------------------------


def test_what_is_held_loads_the_joint_by_gravity():
    [load] = check_of(pendulum(10.0), held(pi / 6), ['hinge']).report().joints
    assert load.joint == 'hinge'
    assert load.limit == 10.0
    assert load.peak == pytest.approx(9.81 * 0.5 * 0.5)
    assert load.rms == pytest.approx(9.81 * 0.5 * 0.5)


def test_the_peak_has_its_sign_and_its_time():
    waypoints = [Waypoint(0.0, (0.2,)), Waypoint(1.0, (-1.0,)), Waypoint(2.0, (0.1,))]
    [load] = check_of(pendulum(10.0), waypoints, ['hinge']).report().joints
    assert load.peak == pytest.approx(-9.81 * 0.5 * np.sin(1.0))
    assert load.peak_time == 1.0


def test_the_mean_square_is_over_time():
    # q from -a to a at a constant rate, so effort is w sin(q): its mean square is known.
    a, w = 1.3, 9.81 * 0.5
    waypoints = [Waypoint(0.0, (-a,)), Waypoint(2.0, (a,))]
    [load] = check_of(pendulum(10.0), waypoints, ['hinge']).report().joints
    assert load.rms == pytest.approx(w * sqrt(0.5 - np.sin(2 * a) / (4 * a)), rel=1e-4)


def test_a_single_point_s_mean_square_is_its_effort():
    [load] = check_of(pendulum(10.0), [Waypoint(0.0, (-pi / 6,))], ['hinge']).report().joints
    assert load.rms == pytest.approx(9.81 * 0.5 * 0.5)
    assert load.peak == pytest.approx(-9.81 * 0.5 * 0.5)


def test_the_first_break_is_found():
    waypoints = [Waypoint(0.0, (0.0,)), Waypoint(1.0, (1.0,))]  # effort w sin(t)
    limit = 9.81 * 0.5 * np.sin(0.6)
    first = check_of(pendulum(limit), waypoints, ['hinge']).report().first_break
    assert first.joint == 'hinge'
    assert first.time == pytest.approx(0.6, abs=0.006)
    assert first.value > first.limit == pytest.approx(limit)


def test_there_is_no_break_within_the_limits():
    assert check_of(Robot.from_urdf(ARM), swing()).report().first_break is None


def test_other_limits_may_count():
    model = Robot.from_urdf(ARM)
    report = check_of(model, swing(), limits=0.05 * model.effort_limits).report()
    assert report.first_break.limit in (5.0, 2.0)
    assert [load.limit for load in report.joints] == [5.0, 2.0]


@pytest.mark.parametrize('limits', [[1.0], [1.0, -1.0], [1.0, float('nan')]])
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(ArgumentError, match="'arm' needs 2 numbers, 0 or more"):
        check_of(Robot.from_urdf(ARM), swing(), limits=limits)


# ---- time scaling ---------------------------------------------------------------------------


def efforts_of(model, waypoints):
    """Return efforts at very many moments of a motion."""
    trajectory = Trajectory(NAMES, waypoints)
    times = np.linspace(0.0, trajectory.duration, 20_001)[:-1]
    q, qd, qdd = np.moveaxis([trajectory.at(time) for time in times], 1, 0)
    return model.inverse_dynamics(q, qd, qdd)


def limits_of(model, share, dry_friction=0.0):
    """Return limits between what the swing needs however slow (0) and what it needs (1)."""
    most = np.abs(efforts_of(model, swing())).max(axis=0)
    standing = np.abs(efforts_of(model, swing(1e3))).max(axis=0) + dry_friction
    return standing + share * (most - standing)


@pytest.mark.parametrize('share', [0.05, 0.6, 2.0, 20.0])
@pytest.mark.parametrize('damping, dry, offset', [
    (0, 0, 0), (3, 0, 0), (2, 1, 0), (0, 0, 0.5), (3, 0, -0.5)])
def test_with_time_scaled_as_reported_the_limit_is_just_met(share, damping, dry, offset):
    tree = Robot.from_urdf(ARM.replace(
        '<dynamics damping="0.5"/>', f'<dynamics damping="{damping}" friction="{dry}"/>')).tree
    model = Robot(replace(tree, bodies=tuple(
        replace(body, friction_offset=float(offset)) for body in tree.bodies)))
    limits = limits_of(model, share, np.array([dry, 0.0]))
    scaling = check_of(model, swing(), limits=limits).report().time_scaling
    assert (scaling > 1.0) == (share < 1.0)
    used = (np.abs(efforts_of(model, swing(scaling))) / limits).max()
    assert used == pytest.approx(1.0, rel=3e-4)  # samples are 5 ms apart
    for slower in (1.001, 1.1, 3.0):
        assert (np.abs(efforts_of(model, swing(scaling * slower))) < limits).all()


@pytest.mark.parametrize('a, b, c, x', [
    (1, 0, 4, 2), (0, 2, 4, 2), (-1, 5, 6, 2), (3, -2, 1, 1), (1, 1e8, 1, 1e-8),
    (1, -1e8, 1, 1e8), (1, -1, 0, 1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, -1, 0),
    (0, 0, 0, inf), (-1, 0, 4, inf), (0, -1, 1, inf), (-1, -1, 1, inf), (-1, 2, 4, inf)])
def test_the_first_root_is_found(a, b, c, x):
    assert first_root(*(np.array([part], dtype=float) for part in (a, b, c))) == pytest.approx([x])


def test_time_scaling_is_exact_at_the_moment_that_decides():
    model = Robot.from_urdf(ARM)
    report = check_of(model, swing(), limits=limits_of(model, 0.4)).report()
    moment = report.scaling_decided_by
    q, qd, qdd = Trajectory(NAMES, swing()).at(moment.time)
    s = report.time_scaling
    effort = model.inverse_dynamics(q, qd / s, qdd / s**2)[NAMES.index(moment.joint)]
    assert abs(effort) == pytest.approx(moment.limit, rel=1e-9)
    assert moment.value == pytest.approx(model.gravity(q)[NAMES.index(moment.joint)])


@pytest.mark.parametrize('dynamics', ['', '<dynamics friction="1"/>'])
def test_slowness_does_not_help_against_gravity_and_dry_friction(dynamics):
    w = 9.81 * 0.5 * np.sin(1.0)
    waypoints = [Waypoint(0.0, (0.0,)), Waypoint(1.0, (1.0,))]
    report = check_of(pendulum(0.99 * (w + bool(dynamics)), dynamics), waypoints, ['hinge'])
    report = report.report()
    assert report.time_scaling == inf
    assert report.scaling_decided_by.value == pytest.approx(w + bool(dynamics), abs=1e-4)


def test_a_joint_without_effort_cannot_move_however_slowly():
    turntable = Robot.from_urdf(robot(
        '<link name="base"/>', link('disc', com='0 0 0'),
        joint('turn', 'base', 'disc', axis='0 0 1', effort=0.0)))
    moved = [Waypoint(0.0, (0.0,), (0.0,)), Waypoint(1.0, (1.0,), (0.0,))]
    assert check_of(turntable, moved, ['turn']).report().time_scaling == inf
    assert check_of(turntable, held(0.3), ['turn']).report().time_scaling == 0.0


def test_what_stands_still_may_stand_as_briefly_as_one_likes():
    report = check_of(pendulum(10.0), held(0.5), ['hinge']).report()
    assert report.time_scaling == 0.0
    assert report.scaling_decided_by is None


def test_a_motion_that_relies_on_gravity_is_not_slowed():
    # Held at a right angle the limit is broken; let fall, no effort is needed.
    fall = -9.81 * 0.5 / 0.28
    waypoints = [Waypoint(0.0, (pi / 2,), (0.0,), (fall,)),
                 Waypoint(0.02, (pi / 2 + fall * 0.0002,), (fall * 0.02,), (fall,)),
                 Waypoint(2.0, (0.0,), (0.0,), (0.0,))]
    report = check_of(pendulum(4.9), waypoints, ['hinge']).report()
    assert report.time_scaling == inf
    assert report.scaling_decided_by.time < 0.02


# ---- the largest payload --------------------------------------------------------------------


POINT = (0.05, -0.02, 0.1)


def peak_share(model, limits=None):
    limits = model.effort_limits if limits is None else limits
    return (np.abs(efforts_of(model, swing())) / limits).max()


def test_with_the_largest_payload_the_limit_is_just_met():
    model = Robot.from_urdf(ARM)
    payload = check_of(model, swing()).largest_payload('tool', POINT)
    assert payload.link == 'tool'
    assert 0.1 < payload.mass < inf
    loaded = model.with_payload('box', 'tool', Inertial(payload.mass, Pose(POINT)))
    assert peak_share(loaded) == pytest.approx(1.0, rel=1e-5)
    q, qd, qdd = Trajectory(NAMES, swing()).at(payload.decided_by.time)
    effort = loaded.inverse_dynamics(q, qd, qdd)[NAMES.index(payload.decided_by.joint)]
    assert abs(effort) == pytest.approx(payload.decided_by.limit, rel=1e-9)


def test_a_held_pendulums_payload_is_known_by_hand():
    # w sin(30 deg) (0.5 m 1 kg + 0.8 m x) = 10 Nm
    payload = check_of(pendulum(10.0), held(pi / 6), ['hinge']).largest_payload(
        'bob', (0.0, 0.0, -0.8))
    assert payload.mass == pytest.approx((10.0 / (9.81 * 0.5) - 0.5) / 0.8)


def test_it_comes_on_top_of_the_payloads_that_there_are():
    bare = Robot.from_urdf(ARM)
    all_of_it = check_of(bare, swing()).largest_payload('tool').mass
    loaded = bare.with_payload('gripper', 'tool', Inertial(1.5))
    assert check_of(loaded, swing()).largest_payload('tool').mass == pytest.approx(
        all_of_it - 1.5, rel=1e-9)


def test_where_a_limit_is_broken_already_there_is_none():
    payload = check_of(pendulum(1.0), held(pi / 6), ['hinge']).largest_payload('bob')
    assert payload.mass == 0.0
    assert payload.decided_by.value > 1.0


def test_a_limit_that_is_just_met_leaves_none():
    limit = 9.81 * 0.5 * 0.5 - 5e-10
    payload = check_of(pendulum(limit), held(pi / 6), ['hinge']).largest_payload(
        'bob', (0.0, 0.0, -0.8))
    assert payload.mass == 0.0


def test_what_nothing_moves_carries_anything():
    payload = check_of(pendulum(10.0), held(pi / 6), ['hinge']).largest_payload('base')
    assert payload.mass == inf
    assert payload.decided_by is None


def test_the_report_has_it_where_a_link_is_named():
    check = check_of(Robot.from_urdf(ARM), swing())
    assert check.report().payload is None
    assert check.report('tool', POINT).payload == check.largest_payload('tool', POINT)


def test_an_unknown_link_is_refused():
    with pytest.raises(ArgumentError, match="no link 'tol'; did you mean 'tool'"):
        check_of(Robot.from_urdf(ARM), swing()).report('tol')


def test_only_filled_joints_count():
    model = Robot.from_urdf(ARM)
    check = check_of(model, [Waypoint(0.0, (0.5,))], ['elbow'], start=Start({'shoulder': (1.0,)}))
    assert [load.joint for load in check.report().joints] == ['elbow']
