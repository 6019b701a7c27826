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
"""Identification of robots whose true parameters are known."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
import multiprocessing
import tracemalloc

import numpy as np
import pytest
from random_robots import random_serial_arm, random_tree
from ros2_rnea import Robot
from ros2_rnea.dynamics.pseudo_inertia import is_consistent
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.identification import information, solver
from ros2_rnea.offline.identification.comparison import compare
from ros2_rnea.offline.identification.diagnosis import diagnose
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.offline.identification.information import chunks, one_thread, reduced
from ros2_rnea.offline.identification.preparation import Preparation, prepare
from ros2_rnea.offline.identification.recording import Recording
from ros2_rnea.offline.identification.unknowns import Design, Unknowns
from ros2_rnea.tools.models import ur5
from scipy.signal import lfilter
from small_robots import ARM_WITH_GRIPPER
from synthetic_recordings import (
    changed_inertias,
    deviations,
    motion,
    recording,
    with_joint_numbers,
)
import threadpoolctl


def arm(seed=3, size=3, kinds=('revolute',)):
    return Robot.from_urdf(random_serial_arm(seed, size, kinds).urdf())


def with_far_ends(robot_data, distance):
    """Return the URDF with frames so far away on each link [m] that its mass can be anywhere."""
    frames = ''.join(
        f'<link name="{link.name}{x}"/><joint name="{link.name}{x}" type="fixed">'
        f'<parent link="{link.name}"/><child link="{link.name}{x}"/>'
        f'<origin xyz="{x} 0 0"/></joint>'
        for link in robot_data.links for x in (-distance, distance))
    return robot_data.urdf().replace('</robot>', f'{frames}</robot>')


def unconstrained_rms(one, design, held_back=0.3):
    """Return what plain least squares leaves on held-back data, by coordinate."""
    split = round(len(one.times) * (1.0 - held_back))

    def rows(part):
        numbers = design.evaluate(
            {}, *(getattr(one, name)[part] for name in ('q', 'qd', 'qdd', 'tau')))
        return [numbers[:, own] @ expansion
                for own, expansion in zip(design.parts, design.expansions)]

    A, y = [], []
    for columns, X in zip(design.of_coordinate, rows(slice(0, split))):
        full = np.zeros((len(X), design.columns))
        full[:, columns] = X[:, :-2]
        A.append(full)
        y.append(X[:, -1] - X[:, -2])
    theta = np.linalg.lstsq(np.concatenate(A), np.concatenate(y), rcond=1e-9)[0]
    return np.array([
        np.sqrt(np.mean((X[:, -1] - X[:, -2] - X[:, :-2] @ theta[columns])**2))
        for columns, X in zip(design.of_coordinate, rows(slice(split, None)))])


@pytest.mark.parametrize('colour', [0.0, 0.9], ids=['white noise', 'correlated noise'])
@pytest.mark.usefixtures('fastest_engine')
def test_intervals_hold_true_values_as_often_as_they_say(colour):
    robot = arm()
    truth = with_joint_numbers(
        changed_inertias(robot, 1), damping=0.4, friction=0.6, armature=0.05)
    state = motion(robot, 3000, 2)
    clean = recording(truth, state)
    rng = np.random.default_rng(4)
    alone, sums = [], []
    for _ in range(40):
        noise = lfilter([1.0 - colour], [1.0, -colour], rng.normal(size=clean.tau.shape), axis=0)
        result = identify(
            [replace(clean, tau=clean.tau + 0.3 * noise)], robot, Unknowns(rotor_inertia='all'))
        one, several = deviations(truth, result)
        alone.append(one)
        sums.append(several)
    for found in (np.concatenate(alone), np.concatenate(sums)):
        assert len(found) > 300
        assert 0.90 <= np.mean(np.abs(found) < 1.96) <= 0.99


@pytest.mark.parametrize('kind', ['prismatic', 'revolute'])
@pytest.mark.parametrize('largest', [0.04, 0.1, 0.4])
@pytest.mark.usefixtures('fastest_engine')
def test_friction_of_slow_joints_is_within_its_intervals(kind, largest):
    """The friction of a machine has its full value at any speed, not from SIGN_WIDTH on."""
    robot = arm(size=2, kinds=(kind,))
    t, q, qd, qdd = motion(robot, 3000, 2)
    share = largest / np.abs(qd).max(axis=0)
    clean = recording(robot, (t, q * share, qd * share, qdd * share))
    speed = np.abs(clean.qd)
    truth = {'viscous': 0.4, 'coulomb': 2.0, 'offset': 0.0}
    clean = replace(clean, moves=speed > 0.05 * np.percentile(speed, 99.0, axis=0),
                    tau=clean.tau + 2.0 * np.sign(clean.qd) + 0.4 * clean.qd)
    rng, found = np.random.default_rng(4), []
    for _ in range(25):
        noisy = replace(clean, tau=clean.tau + 0.1 * rng.normal(size=clean.tau.shape))
        result = identify([noisy], robot, Unknowns(links=()))
        assert result.slow_joints == robot.joint_names
        found += [(one.value - truth[one.quantity]) / one.standard_error
                  for one in result.parameters if one.quantity == 'coulomb']
    assert np.mean(np.abs(found) < 1.96) >= 0.85  # of 50 draws; 0.00 with the sign of the node
    report = diagnose(compare([noisy], result.robot))
    assert not [each.sentence for each in report.conclusions]


@pytest.mark.parametrize('delay', [0.0, 0.007], ids=['prompt', 'late'])
@pytest.mark.parametrize('count', [3000, 1000], ids=['slow', 'fast'])
@pytest.mark.usefixtures('fastest_engine')
def test_the_preparation_keeps_true_values_within_the_intervals(count, delay):
    """Neither filter nor delay may change friction, which has a step where a joint turns back."""
    robot = arm()
    truth = with_joint_numbers(changed_inertias(robot, 1), damping=1.5, friction=1.5)
    rng = np.random.default_rng(4)
    alone, sums, friction = [], [], []
    for draw in range(12):
        t, q, qd, qdd = motion(robot, count, draw)
        earlier = motion(robot, count, draw, delay=delay)[1:]
        tau = truth.inverse_dynamics(*earlier) + 0.05 * rng.normal(size=q.shape)
        prepared = prepare(
            Recording('swing', t, robot.joint_names, q, tau, qd), robot,
            Preparation(delay=delay)).prepared
        assert np.isfinite(prepared.cutoff)
        result = identify([prepared], robot)
        one, several = deviations(truth, result)
        alone.append(one)
        sums.append(several)
        friction.append([(each.value - 1.5) / each.standard_error for each in result.parameters
                         if each.quantity in ('viscous', 'coulomb')])
    for found in (alone, sums, friction):
        assert 0.90 <= np.mean(np.abs(np.concatenate(found)) < 1.96) <= 0.99


@pytest.mark.usefixtures('fastest_engine')
def test_intervals_hold_the_true_load_under_another_friction_law():
    """Friction that grows with the load is no column, and no noise: it comes with the motion."""
    robot = arm(5, 4)
    link = robot.link_names[-1]
    load = Inertial(1.3, Pose((0.02, -0.03, 0.08)), (2e-3, 0.0, 0.0, 2e-3, 0.0, 1e-3))
    known = with_joint_numbers(changed_inertias(robot, 1), damping=0.2, friction=0.4)
    truth = known.with_payload('load', link, load)
    true = {'m': 1.3, 'hx': 1.3 * 0.02, 'hy': 1.3 * -0.03, 'hz': 1.3 * 0.08}
    rng = np.random.default_rng(4)
    found = []
    for draw in range(40):
        one = recording(truth, motion(robot, 3000, draw, 0.02))
        sign = one.qd / np.sqrt(one.qd**2 + 1e-4)
        lost = sign * (0.1 * np.abs(truth.gravity(one.q)) + 0.5 / (1.0 + (one.qd / 0.1)**2))
        noise = 0.05 * rng.normal(size=lost.shape)
        result = identify(
            [replace(one, tau=one.tau + lost + noise)], known, Unknowns(links=(), payload=link))
        found += [(one.value - true[one.quantity]) / one.standard_error
                  for one in result.parameters
                  if one.quantity in true and one.standard_error is not None]
    assert len(found) > 100
    assert 0.90 <= np.mean(np.abs(found) < 1.96) <= 0.99


def test_a_heavy_payload_far_from_its_link_is_found_to_the_noise():
    """It is first taken for a ball of 1 kg at the link; solvers have stopped on the way."""
    robot = Robot.from_urdf(ur5().urdf)
    link, load = robot.body_names[-1], Inertial(
        5.0, Pose((0.1, -0.05, 0.25)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01))
    times, q, qd, qdd = motion(robot, 3000, 3)
    lost = np.array([8.0, 12.0, 8.0, 2.0, 2.0, 2.0]) * (np.sign(qd) + qd)
    sigma = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
    noise = sigma * np.random.default_rng(0).normal(size=qd.shape)
    one = recording(robot.with_payload('load', link, load), (times, q, qd, qdd), lost + noise)
    result = identify([one], robot, Unknowns(links=(), payload=link))
    mass, = (each for each in result.parameters if each.quantity == 'm')
    assert mass.value == pytest.approx(5.0, abs=0.02)
    assert mass.standard_error < 0.01
    np.testing.assert_allclose(result.identified_rms, sigma, rtol=0.1)


@pytest.mark.parametrize('seed', range(4))
def test_trees_of_all_joint_types_return(seed):
    data = random_tree(seed, 6, ('revolute', 'continuous', 'prismatic', 'planar', 'fixed'),
                       mimics=1)
    robot = Robot.from_urdf(data.urdf())
    truth = with_joint_numbers(changed_inertias(robot, seed), damping=0.4, friction=0.6)
    state = motion(robot, 5000, seed)
    noise = np.random.default_rng(seed).normal(size=(5000, robot.nv)) * 0.2
    one = recording(truth, state, noise)
    one = replace(one, tau=np.round(one.tau / 0.05) * 0.05)  # quantized
    result = identify([one], robot)
    alone, sums = deviations(truth, result)
    assert len(sums) > 10
    assert np.mean(np.abs(np.concatenate([alone, sums])) < 3.5) > 0.97
    assert result.physically_consistent
    assert all(is_consistent(ten) for ten in result.robot.inertial_parameters.reshape(-1, 10))
    assert result.identified_rms == pytest.approx(result.noise_rms, rel=0.1)
    assert (result.identified_rms < 0.3).all()


@pytest.mark.parametrize('seed', range(3))
def test_consistency_costs_no_accuracy_on_data_that_was_not_used(seed):
    robot = Robot.from_urdf(with_far_ends(random_serial_arm(seed, 5, ('revolute',)), 3.0))
    truth = changed_inertias(robot, seed + 10, 0.3)
    noise = np.random.default_rng(seed).normal(size=(1500, robot.nv))
    one = recording(truth, motion(robot, 1500, seed), noise, moves=np.ones((1500, 5), bool))
    result = identify([one], robot)
    plain = unconstrained_rms(one, Design(robot, Unknowns(), np.ones(robot.nv)))
    assert (result.identified_rms <= 1.1 * plain).all()
    assert result.physically_consistent


def test_the_identified_robot_has_the_efforts_of_the_fit():
    robot = arm()
    truth = with_joint_numbers(
        changed_inertias(robot, 1), damping=0.4, friction=0.6, armature=0.05)
    state = motion(robot, 1000, 2)
    result = identify([recording(truth, state)], robot, Unknowns(rotor_inertia='all'))
    ours = result.robot.inverse_dynamics(*state[1:])
    difference = ours - truth.inverse_dynamics(*state[1:])
    assert np.abs(difference).max() < 1e-3 * np.abs(ours).max()


def test_without_noise_a_robot_that_is_its_urdf_stays_so():
    robot = arm()
    result = identify([recording(robot, motion(robot, 1000, 2))], robot)
    assert np.allclose(result.robot.inertial_parameters, robot.inertial_parameters, atol=1e-5)
    assert all(one.value == pytest.approx(one.urdf_value, abs=1e-4) for one in result.parameters)


def test_payload_returns_with_its_centre():
    robot = arm(5, 6)
    link = robot.link_names[-1]
    load = Inertial(1.3, Pose((0.02, -0.03, 0.08)), (2e-3, 0.0, 0.0, 2e-3, 0.0, 1e-3))
    noise = np.random.default_rng(0).normal(size=(4000, robot.nv)) * 0.3
    truth = with_joint_numbers(robot.with_payload('load', link, load), damping=0.2, friction=0.5)
    one = recording(truth, motion(robot, 4000, 1), noise)
    result = identify([one], robot, Unknowns(links=(), payload=link))
    where, found = result.payload
    assert where == link
    assert found.mass == pytest.approx(1.3, rel=0.03)
    assert found.origin.xyz == pytest.approx(load.origin.xyz, abs=0.01)
    assert result.physically_consistent
    assert result.robot.payloads['payload'] == result.payload


def test_direction_of_gravity_returns():
    robot = arm(5, 4)
    tilted = np.array([1.2, -0.8, -9.7])
    tilted *= 9.81 / np.linalg.norm(tilted)
    noise = np.random.default_rng(0).normal(size=(2000, robot.nv)) * 0.3
    one = recording(robot.with_gravity(tilted), motion(robot, 2000, 1), noise)
    result = identify([one], robot, Unknowns(links=(), gravity=True))
    assert result.gravity == pytest.approx(tilted, abs=0.05)
    assert np.linalg.norm(result.gravity) == pytest.approx(9.81, abs=1e-3)
    errors = [one.standard_error for one in result.parameters if 'gravity' in one.quantity]
    assert (np.abs(result.gravity - tilted) < 4.0 * np.array(errors) + 1e-3).all()


def test_drive_gains_return_with_a_known_load():
    robot = arm(5, 3)
    truth = changed_inertias(robot, 2)
    weight = Inertial(3.0, Pose((0.1, 0.1, 0.1)), (0.02, 0.0, 0.0, 0.02, 0.0, 0.02))
    load = {'weight': (robot.link_names[-1], weight)}
    gains = np.array([0.8, 1.3, 1.1])
    rng = np.random.default_rng(0)
    recordings = []
    for seed, payloads in ((1, {}), (2, load)):
        one = recording(truth, motion(robot, 3000, seed), payloads=payloads, name=str(seed))
        recordings.append(replace(
            one, tau=one.tau / gains + rng.normal(size=one.tau.shape) * 0.1))
    unknowns = Unknowns(gains='all')
    result = identify(recordings, robot, unknowns)
    # what is left of currents is in the unit of the model, too
    state = [motion(robot, 3000, seed) for seed in (1, 2)]
    loaded = robot.with_payload('weight', *load['weight'])
    ends = [slice(2100, 3000)] * 2
    true = [one.tau[end] * gains for one, end in zip(recordings, ends)]
    before = [tau - model.inverse_dynamics(*(each[end] for each in own[1:]))
              for tau, end, own, model in zip(true, ends, state, (robot, loaded))]
    for found, expected in ((result.measured_rms, true), (result.urdf_rms, before)):
        assert found == pytest.approx(
            np.sqrt(np.mean(np.square(np.concatenate(expected)), axis=0)), rel=0.05)
    assert result.identified_rms == pytest.approx(0.1 * gains, rel=0.1)
    assert result.noise_rms == pytest.approx(0.1 * gains, rel=0.1)
    errors = [one.standard_error for one in result.parameters if one.quantity == 'gain']
    assert list(result.gains.values()) == pytest.approx(gains, rel=0.03)
    assert (np.abs(np.array([*result.gains.values()]) - gains) < 4.0 * np.array(errors)).all()
    by_name = {one.name: one for one in result.parameters}
    alone = [one for one in result.base_parameters if one.name in by_name]
    assert len(alone) > 5 and not any(one.name.startswith('gain') for one in alone)
    for one in alone:
        assert abs(one.value - by_name[one.name].value) < 4.0 * one.standard_error
    with pytest.raises(ArgumentError, match='known payload'):
        identify(recordings[:1], robot, unknowns)


def with_friction(friction):
    """
    Return an arm, and a recording with noise and more friction than the arm's description has.

    :param friction: takes speeds of two joints, shape (n, 2) [rad/s], and returns efforts against
        positive velocities, shape (n, 2) [Nm].
    """
    robot = arm(5, 2)
    state = motion(robot, 6000, 1)
    qd = state[2]
    noise = np.random.default_rng(0).normal(size=qd.shape) * 0.1
    sign = qd / np.sqrt(qd**2 + 1e-4)
    return robot, recording(robot, state, noise + sign * friction(np.abs(qd)))


def test_breakaway_friction_is_found_where_it_is_and_only_there():
    robot, one = with_friction(lambda speed: [1.5, 0.0] / (1.0 + (speed / 0.1)**2))
    result = identify([one], robot, Unknowns(links=(), stribeck=True))
    with_it, without = (result.friction[name] for name in robot.joint_names)
    assert with_it.stribeck == pytest.approx(1.5, rel=0.3)
    assert 0.05 < with_it.stribeck_velocity < 0.2
    assert without.stribeck == 0.0
    assert not any(one.owner == robot.joint_names[1] for one in result.parameters
                   if one.quantity == 'stribeck')


def test_friction_that_falls_at_low_speed_is_no_breakaway():
    """The Stribeck effect the other way around: a law that the model does not have."""
    robot, one = with_friction(lambda speed: 2.0 - 1.5 / (1.0 + (speed / 0.1)**2))
    result, plain = (
        identify([one], robot, Unknowns(links=(), stribeck=stribeck))
        for stribeck in (True, False))
    assert not any(one.quantity == 'stribeck' for one in result.parameters)
    assert all(one.stribeck_velocity == 0.0 for one in result.friction.values())
    for mine, its in zip(result.parameters, plain.parameters):
        assert mine.value == pytest.approx(its.value, rel=1e-2, abs=1e-2)
        assert mine.standard_error == pytest.approx(its.standard_error, rel=0.1)


def test_stribeck_velocities_do_not_depend_on_held_back_data():
    robot = arm(5, 2)
    t, q, qd, qdd = motion(robot, 2000, 1)
    faster = np.where(t[:, None] >= t[1400], 3.0 * qd, qd)
    unknowns = Unknowns(links=(), stribeck=True)
    noise = np.random.default_rng(0).normal(size=qd.shape) * 0.1
    sign = qd / np.sqrt(qd**2 + 1e-4)
    planted = noise + sign * 1.5 / (1.0 + (qd / 0.1)**2)
    first, second = (
        identify([recording(robot, (t, q, speeds, qdd), planted)], robot, unknowns)
        for speeds in (qd, faster))
    for joint, friction in first.friction.items():
        assert friction.stribeck_velocity > 0.0
        assert second.friction[joint].stribeck_velocity == friction.stribeck_velocity


def test_friction_of_every_kind_is_in_the_identified_robot():
    robot = arm(5, 2)
    truth = with_joint_numbers(
        robot, damping=0.3, damping_positive=0.6, friction=0.2, friction_offset=0.1,
        breakaway_friction=1.5, stribeck_velocity=0.1)
    state = motion(robot, 6000, 1, 0.002)  # up to 1.4 and 2.5 rad/s
    noise = np.random.default_rng(0).normal(size=(6000, 2)) * 0.1
    unknowns = Unknowns(links=(), by_direction=True, stribeck=True)
    result = identify([recording(truth, state, noise)], robot, unknowns)
    for friction in result.friction.values():
        assert friction.viscous == pytest.approx(0.9, abs=0.1)
        assert friction.viscous_backward == pytest.approx(0.3, abs=0.1)
        assert friction.offset == pytest.approx(0.1, abs=0.05)
        numbers = friction.numbers()
        assert numbers['damping'] == friction.viscous_backward
        assert numbers['damping'] + numbers['damping_positive'] == pytest.approx(friction.viscous)
    speeds = np.linspace(-1.0, 1.0, 101)[:, None] * [1.0, 1.0]
    assert np.allclose(result.robot.friction(speeds), truth.friction(speeds), atol=0.15)
    again = identify([recording(truth, state, noise)], truth, unknowns)
    assert np.allclose(again.robot.friction(speeds), result.robot.friction(speeds), atol=1e-2)


@pytest.mark.parametrize('multiplier', [0.1, -1.0, 2.0])
def test_a_mimic_joint_has_its_whole_coulomb_friction_too(multiplier):
    robot = Robot.from_urdf(ARM_WITH_GRIPPER.replace(
        'multiplier="-1"', f'multiplier="{multiplier}"'))
    dry = Robot(replace(robot.tree, bodies=tuple(
        replace(body, friction=3.0) if body.joint == 'thumb_joint' else body
        for body in robot.tree.bodies)))
    qd = np.array([-1.0, -0.05, 0.02, 1.0])[:, None] * [0.0, 0.0, 1.0]
    still = np.zeros(qd.shape)
    design = Design(dry, Unknowns(), np.ones(3))
    numbers = design.evaluate({}, still, qd, still, still, direction=np.sign(qd))
    frictionless = robot.inverse_dynamics(still, qd, still)[:, 2]
    assert numbers[:, design.parts[2].stop - 2] - frictionless == pytest.approx(
        3.0 * abs(multiplier) * np.sign(qd[:, 2]))


@pytest.mark.parametrize('unknowns', [
    Unknowns(rotor_inertia='all'),
    Unknowns(links=(), gravity=True, by_direction=True),
    Unknowns(links=('some',), stribeck=True),
    Unknowns(links=('some',), payload='last', stribeck=True),
], ids=['all', 'gravity', 'links', 'payload'])
@pytest.mark.parametrize('seed', range(3))
def test_independent_columns_give_all_of_them(seed, unknowns):
    data = random_tree(seed, 6, ('revolute', 'continuous', 'prismatic', 'planar'), mimics=1)
    robot = with_joint_numbers(Robot.from_urdf(data.urdf()), damping=0.4, friction=0.6)
    tip = robot.body_names[-1]
    if unknowns.links == ('some',):
        unknowns = replace(
            unknowns, links=robot.body_names[1:3], payload=tip if unknowns.payload else None)
    design = Design(robot, unknowns, np.ones(robot.nv))
    _, q, qd, qdd = motion(robot, 50, seed + 10, 0.1)
    tau = np.random.default_rng(seed).normal(size=qd.shape)
    load = {'load': (robot.link_names[-1], Inertial(2.0, Pose((0.1, 0.2, 0.3))))}
    numbers = design.evaluate(load, q, qd, qdd, tau)
    Y = robot.regressor(q, qd, qdd).reshape(len(q), robot.nv, -1, 10)
    loaded = robot.with_payload('load', *load['load'])
    before = loaded.inverse_dynamics(q, qd, qdd)
    used = sum(part.stop - part.start for part in design.parts)
    assert used < sum(len(columns) + 2 for columns in design.of_coordinate) or not design.bodies
    for i, columns in enumerate(design.of_coordinate):
        X = numbers[:, design.parts[i]] @ design.expansions[i]
        assert np.allclose(X[:, -2:].T, [before[:, i], tau[:, i]], rtol=1e-12, atol=1e-12)
        for place, column in enumerate(columns):
            unknown = design.unknowns[column]
            if unknown.is_inertial and unknown.owner != 'payload':
                row = ('m', 'hx', 'hy', 'hz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz').index(
                    unknown.quantity)
                expected = Y[:, i, unknown.body, row]
            elif unknown.is_inertial and unknown.quantity == 'm':
                there = robot.with_payload('unit', tip, Inertial(1.0))
                expected = (there.inverse_dynamics(q, qd, qdd)
                            - robot.inverse_dynamics(q, qd, qdd))[:, i]
            elif unknown.quantity == 'gravity_x':
                expected = loaded.gravity(q, gravity=(1.0, 0.0, 0.0))[:, i]
            elif unknown.quantity == 'stribeck':
                sign = qd[:, i] / np.sqrt(qd[:, i]**2 + 1e-4)
                width = unknown.knee**2 + 1e-4
                expected = sign * width / (width + qd[:, i]**2)
            elif unknown.quantity == 'rotor_inertia':
                expected = qdd[:, i]
            elif unknown.quantity == 'viscous':
                expected = qd[:, i]
            else:
                continue
            assert np.allclose(
                X[:, place], expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max(initial=1.0))


def test_chunks_and_executors_give_the_same():
    robot = arm()
    one = recording(robot, motion(robot, 1000, 2), np.ones(3))
    design = Design(robot, Unknowns(), np.ones(3))
    whole = reduced(design, chunks(one, 0, 1000, 1000), None)
    small = reduced(design, chunks(one, 0, 1000, 37), None)
    with ProcessPoolExecutor(2, multiprocessing.get_context('spawn')) as pool:
        elsewhere = reduced(design, chunks(one, 0, 1000, 100), pool)
    for other in (small, elsewhere):
        assert (other.rows == whole.rows).all()
        for mine, theirs in zip(whole.products, other.products):
            assert np.allclose(theirs, mine, rtol=1e-9, atol=1e-9 * np.abs(mine).max())


def test_threads_give_the_same_and_leave_blas_as_it_was():
    robot = arm()
    one = recording(robot, motion(robot, 60_000, 1, 1e-3))
    # BLAS has no two threads by itself on a machine with one processor
    with threadpoolctl.threadpool_limits(2, 'blas'):
        alone = identify([one], robot, Unknowns())
        with ThreadPoolExecutor(4) as executor:
            together = identify([one], robot, Unknowns(), executor=executor)
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        inside = blas_threads()
        second.__exit__(None, None, None)
        assert (inside, blas_threads()) == ({1}, {2})
    assert together.parameters == alone.parameters


def blas_threads():
    return {one['num_threads'] for one in threadpoolctl.threadpool_info()
            if one['user_api'] == 'blas'}


def test_a_dask_cluster_gives_the_same():
    distributed = pytest.importorskip('distributed', reason='Dask is not installed')
    robot = arm()
    noise = np.random.default_rng(0).normal(size=(1500, 3))
    one = recording(robot, motion(robot, 1500, 2), noise)
    here = identify([one], robot)
    with distributed.Client(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        there = identify([one], robot, executor=client.get_executor())
    for mine, theirs in zip(here.parameters, there.parameters):
        assert theirs.value == pytest.approx(mine.value, rel=1e-9, abs=1e-9)


def test_memory_of_the_reduction_does_not_grow_with_the_data():
    robot = arm()
    design = Design(robot, Unknowns(), np.ones(3))
    peaks = []
    for count in (8000, 32000):
        one = recording(robot, motion(robot, count, 2))
        reduced(design, chunks(one, 0, 4000), None)
        tracemalloc.start()
        reduced(design, chunks(one, 0, count), None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


# ---- data that says little ----------------------------------------------------------------------

def test_a_joint_at_rest_keeps_its_urdf_s_numbers():
    robot = arm()
    t, q, qd, qdd = motion(robot, 1000, 2)
    for array in (qd, qdd):
        array[:, 1] = 0.0
    q[:, 1] = 0.3
    noise = np.random.default_rng(0).normal(size=qd.shape) * 0.1
    name = robot.joint_names[1]
    truth = with_joint_numbers(robot, damping=0.4, friction=0.6)
    result = identify([recording(truth, (t, q, qd, qdd), noise)], robot)
    of_joint = [one for one in result.parameters if one.owner == name]
    assert [one.standard_error for one in of_joint] == [None, None, None]
    assert [one.value for one in of_joint] == [one.urdf_value for one in of_joint]
    assert any(name in text and 'never moves' in text for text in result.not_identifiable)


@pytest.mark.parametrize('change, words', [
    (lambda one: replace(one, q=one.q * 0.0, qd=one.qd * 0.0), 'nothing moves'),
    (lambda one: replace(one, times=one.times[:1], q=one.q[:1], qd=one.qd[:1], qdd=one.qdd[:1],
                         tau=one.tau[:1], moves=one.moves[:1], pieces=(slice(0, 1),)),
     '1 sample'),
    (lambda one: replace(one, qd=np.where(one.times[:, None] == one.times[7], np.nan, one.qd)),
     "qd of 'joint_1' is nan at 0.07 s"),
    (lambda one: replace(one, tau=np.where(one.times[:, None] == one.times[7], np.inf, one.tau)),
     "tau of 'joint_1' is inf at 0.07 s"),
    (lambda one: replace(one, tau=one.tau[:, :2]), 'tau has shape'),
    (lambda one: replace(one, moves=one.moves & False), '0 efforts of moving joints'),
    (lambda one: replace(one, tau=one.tau * np.nan), '0 efforts of moving joints'),
    (lambda one: replace(one, pieces=(slice(0, 5),)), 'record more motion'),
])
def test_recordings_that_hold_nothing_are_refused(change, words):
    robot = arm()
    with pytest.raises(ArgumentError, match=words):
        identify([change(recording(robot, motion(robot, 500, 2)))], robot)


def test_numbers_that_are_not_finite_are_searched_in_one_pass(monkeypatch):
    """Whether an effort was recorded at all is told once, or the time grows with the square."""
    robot = arm()
    one = recording(robot, motion(robot, 500, 2))
    monkeypatch.setattr(information, 'ROWS', 10)
    passes = []
    unrecorded = information._unrecorded
    monkeypatch.setattr(
        information, '_unrecorded', lambda each: passes.append(each) or unrecorded(each))
    information.check_finite([one, one], Design(robot, Unknowns(), np.ones(3)))
    assert len(passes) == 2


@pytest.mark.parametrize('unknowns, words', [
    (Unknowns(friction=('joint1',)), "did you mean 'joint_1'"),
    (Unknowns(friction='some'), "'all'"),
    (Unknowns(links=('nowhere',)), 'no link'),
    (Unknowns(links=('link_0',)), 'nothing moves'),
    (Unknowns(payload='link_0'), 'nothing moves'),
    (Unknowns(payload='link_3'), 'sum only'),
    (Unknowns(gravity=True), 'product'),
    (Unknowns(friction=(), links=()), 'nothing is unknown'),
    (Unknowns(gains='all'), 'known payload'),
])
def test_unknowns_that_cannot_be_are_refused(unknowns, words):
    robot = arm()
    with pytest.raises(ArgumentError, match=words):
        identify([recording(robot, motion(robot, 500, 2))], robot, unknowns)


def test_noise_alone_gives_no_numbers():
    robot = arm(5, 2)
    noise = np.random.default_rng(0).normal(size=(300, 2)) * 1e3
    one = recording(robot, motion(robot, 300, 2), noise, moves=np.ones((300, 2), bool))
    with pytest.raises(ArgumentError, match='mostly noise'):
        identify([one], robot, Unknowns(friction=()))


def test_recordings_and_held_back_are_checked():
    robot = arm()
    with pytest.raises(ArgumentError, match='no recording'):
        identify([], robot)
    with pytest.raises(ArgumentError, match='held_back is 1.0'):
        identify([recording(robot, motion(robot, 500, 2))], robot, held_back=1.0)


def test_recordings_of_two_arms_contradict_each_other():
    robot = arm()
    truths = [changed_inertias(robot, seed, 0.3) for seed in (1, 2)]
    rng = np.random.default_rng(4)

    def apart(*whose):
        ones = []
        for number, truth in enumerate(whose):
            state = motion(robot, 2000, number)
            ones.append(recording(
                truth, state, 0.05 * rng.normal(size=state[2].shape), f'{number}'))
        return identify(ones, robot).apart

    assert np.nanmax(apart(truths[0], truths[0])) < 1.2
    assert np.nanmax(apart(*truths)) > 2.0
    assert apart(truths[0]) is None


def test_few_steps_lead_to_the_minimum_from_masses_that_are_far_off(monkeypatch):
    """Near the boundary of what bodies can be, steps at the last weight alone are too short."""
    truth = with_joint_numbers(arm(), damping=2.0, friction=3.0)
    clean = recording(truth, motion(truth, 3000, 2))
    noise = 0.1 * np.random.default_rng(0).normal(size=clean.tau.shape)
    steps, factor = [], solver.cho_factor
    monkeypatch.setattr(solver, 'cho_factor', lambda *given: [steps.append(0), factor(*given)][1])
    data = random_serial_arm(3, 3, ('revolute',))
    light = Robot.from_urdf(replace(data, links=tuple(
        replace(link, mass=0.001 * link.mass, inertia=0.001 * link.inertia)
        for link in data.links)).urdf())
    result = identify([replace(clean, tau=clean.tau + noise)], light,
                      Unknowns(rotor_inertia='all'))
    assert (result.identified_rms < 0.11).all()
    assert len(steps) < 3000
