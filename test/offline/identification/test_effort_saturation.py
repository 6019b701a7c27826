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
"""Efforts that are cut off are found, and those that are constant for other reasons are not."""

from dataclasses import replace
from math import inf, pi

import numpy as np
import pytest
from ros2_rnea.offline.identification.comparison import compare
from ros2_rnea.offline.identification.conclusions import Kind
from ros2_rnea.offline.identification.diagnosis import diagnose
from ros2_rnea.offline.identification.preparation import Preparation, prepare
from ros2_rnea.offline.identification.recording import Recording
from ros2_rnea.robots.robot import Robot
from small_robots import ARM

SERIAL = ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="1 0 0"/>', 1)
TIMES = np.arange(0.0, 30.0, 0.01)
MASSES = [1.3, 0.8]
"""Of the true bodies, as factors on those of the file."""


@pytest.fixture(scope='module')
def model():
    return Robot.from_urdf(SERIAL)


@pytest.fixture(scope='module')
def truth(model):
    return model.with_inertial_parameters(np.repeat(MASSES, 10) * model.inertial_parameters)


def swing(seed=4):
    """Return positions, velocities and accelerations of two joints."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = np.zeros((3, len(TIMES), 2))
    for harmonic in range(1, 6):
        omega = 2.0 * pi * 0.1 * harmonic
        size = rng.uniform(0.3, 0.6, 2) / harmonic**0.5
        angle = omega * TIMES[:, None] + rng.uniform(0.0, 6.0, 2)
        q += size * np.sin(angle)
        qd += size * omega * np.cos(angle)
        qdd -= size * omega**2 * np.sin(angle)
    return q, qd, qdd


def trapezoid(speed=1.0, acceleration=2.0):
    """Return the same of joints that go to and fro by constant accelerations, with rests."""
    ramp = speed / acceleration
    phases = [(ramp, acceleration), (1.0, 0.0), (ramp, -acceleration), (0.7, 0.0),
              (ramp, -acceleration), (1.0, 0.0), (ramp, acceleration), (0.7, 0.0)]
    accelerations = np.concatenate(
        [np.full(round(100 * seconds), value) for seconds, value in phases])
    qdd = np.resize(accelerations, len(TIMES))
    qd = np.cumsum(qdd) * 0.01
    q = np.cumsum(qd) * 0.01
    return tuple(np.stack([each, 0.5 * each], axis=1) for each in (q, qd, qdd))


def efforts_of(robot, motion, friction=(1.5, 0.8), noise=0.05):
    tau = robot.inverse_dynamics(*motion) + np.multiply(friction, np.sign(motion[1]))
    return tau + noise * np.random.default_rng(2).standard_normal(tau.shape)


def cut_off(efforts, share):
    """Cut the second joint's efforts off at a share of the largest one, and return this bound."""
    bound = round(share * float(np.abs(efforts[:, 1]).max()), 3)
    efforts[:, 1] = np.clip(efforts[:, 1], -bound, bound)
    return bound


def prepared(model, motion, efforts, **settings):
    return prepare(
        Recording('swing', TIMES, model.joint_names, motion[0], efforts, motion[1]), model,
        Preparation(**settings))


@pytest.mark.parametrize('kept', [0.3, 0.5, 0.8])
def test_saturated_efforts_are_found_with_bounds_and_share(model, truth, kept):
    motion = swing()
    efforts = efforts_of(truth, motion)
    bound = cut_off(efforts, kept)
    result = prepared(model, motion, efforts)
    assert set(result.prepared.saturations) == {'elbow'}
    found = result.prepared.saturations['elbow']
    assert set(found.bounds) <= {-bound, bound} and found.bounds
    share = np.isin(efforts[:, 1], found.bounds).mean()
    assert found.share == pytest.approx(share, rel=0.5)  # of all samples, also those at rest
    warning, = (step.text for step in result.steps if step.is_warning)
    assert "'elbow' is cut off at" in warning and f'{bound:g}' in warning


def test_one_bound_alone_is_found(model, truth):
    motion = swing()
    efforts = efforts_of(truth, motion)
    bound = round(0.3 * float(efforts[:, 0].max()), 3)
    efforts[:, 0] = np.minimum(efforts[:, 0], bound)
    assert prepared(model, motion, efforts).prepared.saturations['shoulder'].bounds == (bound,)


def test_a_few_samples_beyond_a_bound_do_not_hide_it(model, truth):
    motion = swing()
    efforts = efforts_of(truth, motion)
    bound = cut_off(efforts, 0.5)
    alone = prepared(model, motion, efforts).prepared.saturations['elbow']
    efforts[[700, 1500, 1501], 1] = -bound - 0.5, bound + 0.5, bound + 0.7
    with_spikes = prepared(model, motion, efforts).prepared.saturations['elbow']
    assert with_spikes.bounds == alone.bounds
    assert with_spikes.share == pytest.approx(alone.share, abs=0.01)


@pytest.mark.filterwarnings('error')
def test_a_lowest_value_of_nearly_all_samples_raises_no_warning(model):
    motion = swing()
    efforts = np.zeros((len(TIMES), 2))
    some = np.random.default_rng(1).permutation(len(TIMES))[:len(TIMES) // 20]
    efforts[some, 1] = np.linspace(0.1, 5.0, len(some))
    prepared(model, motion, efforts)


def test_a_joint_that_mostly_rests_is_judged_by_its_motion(model, truth):
    motion, rest = swing(), 20 * len(TIMES)
    long = [np.pad(each, ((0, rest), (0, 0)), mode='edge' if each is motion[0] else 'constant')
            for each in motion]
    efforts = efforts_of(truth, long)
    bound = cut_off(efforts, 0.8)
    assert (np.abs(efforts[:, 1]) == bound).mean() < 0.01
    times = 0.01 * np.arange(len(efforts))
    found = prepare(
        Recording('swing', times, model.joint_names, long[0], efforts, long[1]), model).prepared
    assert set(found.saturations) == {'elbow'}
    assert found.saturations['elbow'].share > 0.05


def test_a_diagnosis_concludes_nothing_else_from_a_saturated_effort(model, truth):
    motion = swing()
    efforts = efforts_of(truth, motion)
    whole = prepared(model, motion, efforts).prepared
    bound = cut_off(efforts, 0.4)
    found = diagnose(compare([prepared(model, motion, efforts).prepared], model))
    first = found.conclusions[0]
    assert (first.kind, first.subject) == (Kind.SATURATED, "joint 'elbow'")
    assert f'cut off at {-bound:.4g} Nm: ' in first.sentence
    assert first in found.wrong_efforts and first.significance == inf
    assert np.isnan(found.noise[1]) and np.isfinite(found.noise[0])
    assert any('Nothing else' in each and "'elbow'" in each for each in found.open_questions)
    # beside a recording of the same joint that is whole, that one is used
    both = diagnose(compare(
        [prepared(model, motion, efforts).prepared, replace(whole, name='whole')], model))
    assert both.conclusions[0].kind is Kind.SATURATED and np.isfinite(both.noise).all()


# ---- what is constant for other reasons ---------------------------------------------------------


@pytest.mark.parametrize('step', [0.01, 0.1, 0.5, 2.0])
@pytest.mark.parametrize('noise', [0.0, 0.05])
def test_the_steps_of_a_sensor_are_no_bounds(model, truth, step, noise):
    motion = swing()
    efforts = step * np.round(efforts_of(truth, motion, noise=noise) / step)
    assert prepared(model, motion, efforts).prepared.saturations == {}


@pytest.mark.parametrize('motion', [swing(), trapezoid()], ids=['swing', 'trapezoid'])
@pytest.mark.parametrize('digits', [2, 9])
def test_a_simulation_without_noise_has_no_bounds(model, truth, motion, digits):
    for friction in ((0.0, 0.0), (5.0, 5.0)):
        efforts = np.round(efforts_of(truth, motion, friction, noise=0.0), digits)
        assert prepared(model, motion, efforts).prepared.saturations == {}


def test_a_joint_resting_at_its_largest_effort_has_no_bound(model, truth):
    motion = swing()
    for each in motion:
        each[1500:] = each[1500] if each is motion[0] else 0.0
    efforts = efforts_of(truth, motion, noise=0.0)
    efforts[1500:] = efforts.max(axis=0) + 1.0
    assert prepared(model, motion, efforts).prepared.saturations == {}


def test_a_joint_that_pushes_against_a_stop_has_no_bound(model, truth):
    motion = swing()
    stop = 0.5 * float(motion[0][:, 1].max())
    beyond = motion[0][:, 1] > stop
    assert 0.05 < beyond.mean() < 0.5
    motion[0][beyond, 1] = stop
    for each in motion[1:]:
        each[beyond, 1] = 0.0
    efforts = efforts_of(truth, motion)
    efforts[beyond, 1] = efforts[:, 1].max() + 3.0
    assert prepared(model, motion, efforts).prepared.saturations == {}


def test_a_motion_that_follows_the_limited_effort_has_no_bound(model, truth):
    q, qd, qdd = swing()
    limit = 0.6 * float(np.abs(truth.inverse_dynamics(q, qd, qdd)[:, 1]).max())
    state = np.concatenate([q[0], qd[0]])
    states, accelerations, efforts = [], [], []
    for row in range(len(TIMES)):  # computed torque, cut off at the limit of the drive
        position, speed = state[:2], state[2:]
        wanted = qdd[row] + 25.0 * (q[row] - position) + 10.0 * (qd[row] - speed)
        effort = truth.inverse_dynamics(position, speed, wanted)
        effort[1] = np.clip(effort[1], -limit, limit)
        for _ in range(10):
            acceleration = truth.forward_dynamics(state[:2], state[2:], effort)
            state = state + 0.001 * np.concatenate([state[2:], acceleration])
        states.append(np.concatenate([position, speed]))
        accelerations.append(acceleration)
        efforts.append(effort)
    states, efforts = np.array(states), np.array(efforts)
    assert (np.abs(efforts[:, 1]) == limit).mean() > 0.02
    motion = (states[:, :2], states[:, 2:], np.array(accelerations))
    assert prepared(model, motion, efforts).prepared.saturations == {}
