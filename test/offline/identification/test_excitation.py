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
"""Motions to record: within all limits, clear of obstacles, and worth more than random ones."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
from paired_robots import QUICK_ENGINE
import pytest
from ros2_rnea import Robot
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.tools.models import panda
from small_robots import ARM, ARM_WITH_GRIPPER

excitation = pytest.importorskip('ros2_rnea.offline.identification.excitation')
from ros2_rnea.offline.identification.moving_joints import (  # noqa: E402, I100
    JointBounds,
    MovingJoints,
)
from ros2_rnea.offline.identification.unknowns import Design, Unknowns  # noqa: E402

ARM_ROBOT = Robot.from_urdf(ARM, engine=QUICK_ENGINE)
ARM_JOINTS = ('shoulder', 'elbow')
ARM_BOUNDS = (JointBounds(-3.0, 3.0, 2.0, 100.0), JointBounds(-3.0, 3.0, 2.0, 40.0))
QUICK = excitation.ExcitationSettings(
    period=4.0, harmonics=3, starts=2, iterations=30)
COARSE = replace(QUICK, starts=1, iterations=5)
"""For what does not depend on how good a motion is."""

ALL, PAYLOAD = Unknowns(), Unknowns(friction=(), links=(), payload='tool')


def planner(
        robot=ARM_ROBOT, joints=ARM_JOINTS, bounds=ARM_BOUNDS, unknowns=ALL, settings=QUICK,
        noise=None, start=None, posture=None, **other):
    posture = robot.neutral() if posture is None else posture
    noise = np.full(len(joints), 0.5) if noise is None else noise
    return excitation.ExcitationPlanner(
        MovingJoints(robot, joints, bounds, posture, least=0.05, **other),
        Design(robot, unknowns, np.zeros(robot.nv)), noise, settings, start)


def random_motion(search):
    """Return a random motion within the limits."""
    return search._random_motion(
        search._moving.start_pose(np.random.default_rng(9), search._start))


def gain_over(search, found, motion):
    """Return by what factor the standard errors of a plan are smaller than those of a motion."""
    return excitation.volume_gain(
        search._information_of(found.motion), search._information_of(motion))


@pytest.fixture(scope='module')
def arm_plan():
    """Return a planner of the arm, and the motion that it has found."""
    search = planner()
    return search, search.plan()


def columns_of(design, q, qd, qdd):
    """Return the columns of all efforts, shape (N, nv, columns)."""
    columns = np.zeros((*qd.shape, design.columns))
    numbers = design.evaluate({}, q, qd, qdd, np.zeros_like(qd))
    for v, (part, expansion) in enumerate(zip(design.parts, design.expansions)):
        columns[:, v, design.of_coordinate[v]] = numbers[:, part] @ expansion[:, :-2]
    return columns


def dense(motion, samples: int = 7919):
    """Return the motion at times that are on no grid of the optimization."""
    times = np.random.default_rng(8).uniform(0.0, motion.period, samples)
    return motion.at(times)


def test_all_limits_hold_off_the_grid_with_their_margins(arm_plan):
    _, found = arm_plan
    q, qd, qdd = dense(found.motion)
    tau = ARM_ROBOT.inverse_dynamics(q, qd, qdd)
    assert np.abs(q).max() <= 2.7 * (1.0 + 1e-4)
    assert np.abs(qd).max() <= 1.8 * (1.0 + 1e-4)
    assert (np.abs(tau).max(axis=0) <= np.array([70.0, 28.0]) * (1.0 + 1e-4)).all()
    assert np.abs(qd).max() > 1.5, 'a motion that uses little of its limits tells little'
    assert np.allclose(found.peaks.velocity, np.abs(qd).max(axis=0), rtol=1e-3)
    assert np.allclose(found.peaks.effort, np.abs(tau).max(axis=0), rtol=1e-3)


def test_effort_limits_bind_where_they_are_small(arm_plan):
    weak = (ARM_BOUNDS[0]._replace(effort=1.8), ARM_BOUNDS[1]._replace(effort=1.5))
    found = planner(bounds=weak, effort_margin=0.0).plan()
    q, qd, qdd = dense(found.motion)
    tau = np.abs(ARM_ROBOT.inverse_dynamics(q, qd, qdd)).max(axis=0)
    assert (tau <= np.array([1.8, 1.5]) * (1.0 + 1e-4)).all()
    assert (tau / [1.8, 1.5]).max() > 0.9
    assert arm_plan[1].peaks.effort[0] > 1.8, 'without the limit, the motion needs more'


def test_acceleration_limits_hold_where_there_are_any(arm_plan):
    slow = tuple(bounds._replace(acceleration=1.0) for bounds in ARM_BOUNDS)
    found = planner(bounds=slow).plan()
    assert np.abs(dense(found.motion)[2]).max() <= 0.9 * (1.0 + 1e-4)
    assert arm_plan[1].peaks.acceleration.max() > 0.9


def test_standard_errors_are_smaller_than_with_any_random_motion(arm_plan):
    _, found = arm_plan
    search = planner(settings=replace(QUICK, seed=2))
    gains = [gain_over(search, found, motion)
             for motion in (random_motion(search) for _ in range(100))]
    assert min(gains) > 1.0
    assert min(gains) < found.gain < max(gains), 'it is said for the median of some of them'


def test_derivatives_are_those_of_the_value():
    def obstacle(q):
        return 0.4 * q[:, 0] + 0.02

    search = planner(clearance=obstacle, bounds=(
        ARM_BOUNDS[0]._replace(effort=6.0), ARM_BOUNDS[1]._replace(acceleration=1.0)))
    random = np.random.default_rng(4)
    x = random.normal(size=2 + 2 * 4)
    value, slopes = search._value(x, 2.0)
    for _ in range(4):
        way = random.normal(size=x.shape)
        ahead, behind = (search._value(x + step * way, 2.0)[0] for step in (1e-6, -1e-6))
        assert (ahead - behind) / 2e-6 == pytest.approx(slopes @ way, rel=2e-4, abs=1e-4)


def test_obstacles_are_kept_clear_of(arm_plan):
    def wall(q):
        """Return the distance of the lower link's end from a wall beside the arm."""
        return 0.2 - 0.3 * np.sin(q[:, 0]) - 0.4 * np.sin(q.sum(axis=1))

    _, free = arm_plan
    assert wall(dense(free.motion)[0]).min() < 0.05, 'the wall is in the way'
    found = planner(clearance=wall).plan()
    assert wall(dense(found.motion)[0]).min() >= 0.05 * (1.0 - 1e-3)
    assert found.clearance == pytest.approx(wall(dense(found.motion)[0]).min(), abs=1e-3)


def test_a_start_that_is_given_is_kept():
    start = np.array([0.4, -0.7])
    found = planner(start=start, settings=COARSE).plan()
    assert np.allclose(found.motion.start, start, rtol=0.0, atol=1e-12)
    with pytest.raises(excitation.ExcitationError, match='position of elbow is 107%'):
        planner(start=np.array([0.0, 2.9])).plan()


def test_without_any_possible_pose_the_reason_is_told():
    with pytest.raises(excitation.ExcitationError, match='clearance is 0.01 m, and 0.05 m are'):
        planner(clearance=lambda q: np.full(len(q), 0.01)).plan()
    weak = tuple(bounds._replace(effort=1e-3) for bounds in ARM_BOUNDS)
    with pytest.raises(excitation.ExcitationError, match=(
            r"do not carry the arm in any of 200 poses .* of joint 'shoulder' \(limit 0.001 Nm, "
            '.* The motors cannot hold it there')):
        planner(bounds=weak).plan()


def test_each_seed_gives_a_motion_of_its_own():
    first, again, other = (
        planner(settings=replace(COARSE, seed=seed)).plan().motion.coefficients
        for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


def test_progress_goes_from_nothing_to_all():
    shares = []
    planner().plan(shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 10


def test_a_smaller_path_is_the_same_and_tells_less(arm_plan):
    _, found = arm_plan
    small = planner(settings=replace(QUICK, scale=0.3)).plan()
    assert np.allclose(small.motion.coefficients, 0.3 * found.motion.coefficients, rtol=1e-12)
    assert np.array_equal(small.motion.start, found.motion.start)
    assert small.peaks.velocity == pytest.approx(0.3 * found.peaks.velocity)
    assert small.gain < found.gain


def test_expected_errors_are_those_of_a_fit():
    """Many fits of a noisy recording spread as the expected errors say."""
    search = planner(noise=np.array([0.5, 0.2]), settings=COARSE)
    found = search.plan()
    settings = COARSE
    times = (np.arange(settings.samples) / settings.rate) % settings.period
    q, qd, qdd = found.motion.at(times)
    rows = (columns_of(Design(ARM_ROBOT, Unknowns(), np.zeros(2)), q, qd, qdd)
            / np.array([0.5, 0.2])[:, np.newaxis]).reshape(-1, len(found.errors))
    random = np.random.default_rng(5)
    fits = np.linalg.lstsq(rows, random.normal(size=(len(rows), 400)), rcond=1e-9)[0]
    known = [index for index, error in enumerate(found.errors)
             if error.standard_error is not None]
    expected = np.array([found.errors[index].standard_error for index in known])
    assert {found.errors[index].unknown.quantity for index in known} >= {
        'viscous', 'coulomb', 'offset'}
    assert np.allclose(fits[known].std(axis=1), expected, rtol=0.15)
    assert np.linalg.matrix_rank(rows, tol=1e-6) == found.rank


def test_a_payload_is_found_in_the_frame_of_its_link():
    """The columns of a payload, times its parameters, are what it adds to the efforts."""
    urdf = ARM.replace('<joint name="flange" type="fixed"><parent link="lower"/>'
                       '<child link="tool"/><origin xyz="0 0 0.3"/>',
                       '<joint name="flange" type="fixed"><parent link="lower"/>'
                       '<child link="tool"/><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.5 1.1"/>')
    assert urdf != ARM
    robot = Robot.from_urdf(urdf)
    inertial = Inertial(1.5, Pose((0.1, -0.2, 0.3)), (0.02, 0.0, 0.0, 0.03, 0.0, 0.04))
    center, mass = np.array(inertial.origin.xyz), inertial.mass
    about_origin = np.diag([0.02, 0.03, 0.04]) + mass * (
        center @ center * np.eye(3) - np.outer(center, center))
    parameters = [mass, *mass * center, *about_origin[np.triu_indices(3)]]
    random = np.random.default_rng(6)
    q, qd, qdd = random.normal(size=(3, 20, 2))
    added = robot.with_payload('load', 'tool', inertial).inverse_dynamics(
        q, qd, qdd) - robot.inverse_dynamics(q, qd, qdd)
    columns = columns_of(Design(robot, PAYLOAD, np.zeros(2)), q, qd, qdd)
    assert np.allclose(columns @ parameters, added, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize('links', ['all', ()])
def test_columns_times_the_robots_numbers_are_its_efforts(links):
    robot = Robot.from_urdf(ARM.replace('damping="0.5"', 'damping="0.5" friction="0.8"'))
    design = Design(robot, Unknowns(rotor_inertia='all', links=links), np.zeros(2))
    numbers = np.array([unknown.urdf_value for unknown in design.unknowns])
    q, qd, qdd = np.random.default_rng(7).normal(size=(3, 20, 2))
    expected = robot.inverse_dynamics(q, qd, qdd) if links else robot.friction(qd)
    assert np.allclose(
        columns_of(design, q, qd, qdd) @ numbers, expected, rtol=0.0, atol=1e-11)


def test_a_motion_that_tells_nothing_of_what_is_unknown_is_refused():
    robot = Robot.from_urdf(ARM_WITH_GRIPPER)
    with pytest.raises(ArgumentError, match='no motion of these joints tells anything'):
        planner(robot, unknowns=Unknowns(friction=('grip',), links=()))


@pytest.mark.parametrize('bounds, words', [
    (JointBounds(-inf, inf, 2.0, 10.0), "'elbow' has no usable limit of position"),
    (JointBounds(-1.0, 1.0, inf, 10.0), "'elbow' has no usable limit of velocity"),
    (JointBounds(-1.0, 1.0, 2.0, 0.0), "'elbow' has no usable limit of effort"),
    (JointBounds(-1.0, 1.0), 'no usable limit of velocity and effort'),
    (JointBounds(1.0, 1.0, 2.0, 10.0), 'no usable limit of position .lower 1, upper 1'),
    (JointBounds(-1.0, 1.0, 2.0, 10.0, 0.0), 'no usable limit of acceleration .* acceleration 0'),
])
def test_nothing_is_guessed_where_a_limit_is_missing(bounds, words):
    with pytest.raises(ArgumentError, match=words):
        planner(bounds=(ARM_BOUNDS[0], bounds))


def test_all_joints_without_limits_are_named_at_once():
    with pytest.raises(ArgumentError, match=(
            "'shoulder' has no usable limit of velocity .*; joint 'elb")):
        planner(bounds=(JointBounds(-1.0, 1.0, effort=1.0),) * 2)


def test_the_size_of_a_number_is_that_of_its_body():
    load = Inertial(2.0, Pose((0.0, 0.0, 0.3)), (0.01, 0.0, 0.0, 0.02, 0.0, 0.03))
    robot = ARM_ROBOT.with_payload('load', 'tool', load)
    found = planner(robot, unknowns=replace(PAYLOAD, friction='all'), settings=COARSE).plan()
    spread = 2.0 * 0.3**2 + 0.5 * 0.06
    sizes = {error.unknown.quantity: error.size for error in found.errors}
    assert sizes['m'] == 2.0
    assert sizes['hx'] == pytest.approx(2.0 * np.sqrt(spread / 2.0))
    assert sizes['Ixy'] == pytest.approx(spread)
    assert sizes['viscous'] == inf


@pytest.mark.parametrize('setting', [
    {'rate': 0.0}, {'period': 0.0}, {'period': inf}, {'harmonics': 1}, {'scale': 0.0},
    {'scale': 1.1}, {'periods': 0}, {'starts': 0}, {'iterations': -1}, {'seed': -1}])
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(ArgumentError, match=next(iter(setting))):
        excitation.ExcitationSettings(**setting)


@pytest.mark.parametrize('setting, named', [
    ({'margin': 1.0}, 'margin of motion is 1'), ({'effort_margin': -0.1}, 'margin of effort'),
    ({'clearance': lambda q: np.ones(len(q)), 'least': 0.0}, 'clearance is 0')])
def test_margins_and_clearance_out_of_range_are_refused(setting, named):
    with pytest.raises(ArgumentError, match=named):
        MovingJoints(ARM_ROBOT, ARM_JOINTS, ARM_BOUNDS, ARM_ROBOT.neutral(), **setting)


def test_joints_that_do_not_move_stay_where_they_are():
    robot = Robot.from_urdf(ARM_WITH_GRIPPER)
    posture = robot.neutral()
    posture[2] = 0.04
    seen = []

    def clearance(q):
        seen.append(q[:, 2].copy())
        return np.ones(len(q))

    found = planner(robot, posture=posture, clearance=clearance, settings=COARSE).plan()
    assert found.motion.start.shape == (2,)
    assert (np.concatenate(seen) == 0.04).all()


@pytest.mark.usefixtures('fastest_engine')
@pytest.mark.parametrize('unknowns, rank', [(ALL, 64), (PAYLOAD, 10)])
def test_a_real_arm_needs_few_iterations(unknowns, rank):
    robot = Robot.from_urdf(panda().urdf)
    limits = [robot.tree.bodies[index].limits for index in robot.tree.joints.values()]
    bounds = [JointBounds(one.lower, one.upper, one.velocity, one.effort) for one in limits]
    search = planner(
        robot, robot.joint_names, bounds, unknowns,
        replace(QUICK, period=10.0, harmonics=5, starts=1, iterations=12),
        noise=0.01 * robot.effort_limits)
    found = search.plan()
    assert found.rank == rank
    assert min(gain_over(search, found, motion)
               for motion in (random_motion(search) for _ in range(20))) > 1.0
    assert search.holds(found.motion)
