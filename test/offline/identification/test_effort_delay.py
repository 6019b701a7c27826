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
"""The delay of efforts, of robots that are larger than those of the other tests."""

from dataclasses import replace

import numpy as np
import pytest
from ros2_rnea.offline.identification.effort_delay import effort_delay
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.offline.identification.preparation import prepare
from ros2_rnea.offline.identification.recording import PreparedRecording, Recording
from ros2_rnea.offline.identification.unknowns import Unknowns
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.models import MODELS
from synthetic_recordings import changed_inertias, deviations, with_joint_numbers

BODIES = 70
"""Their regressor has more columns than a third of the instants that are enough for an arm."""

PERIOD = 0.01


@pytest.fixture(scope='module')
def ur5():
    return Robot.from_urdf(MODELS['ur5']().urdf)


def test_many_bodies_need_no_longer_recording_than_their_columns():
    robot = Robot.from_urdf(_pendulums(BODIES), engine='textbook')
    times = PERIOD * np.arange(2 * 3 * (10 * BODIES + 4) - 50)
    q, qd, qdd = np.zeros((3, len(times), BODIES))
    for rate, phase in ((2.0, 0.0), (3.1, 1.0), (5.3, 2.0)):
        q[:, 0] += 0.4 * np.sin(rate * times + phase)
        qd[:, 0] += 0.4 * rate * np.cos(rate * times + phase)
        qdd[:, 0] -= 0.4 * rate * rate * np.sin(rate * times + phase)
    moves = np.zeros((len(times), BODIES), dtype=bool)
    moves[:, 0] = True
    tau = robot.inverse_dynamics(q, qd, qdd)
    late = 2
    tau[late:] = tau[:-late]
    recording = PreparedRecording(
        'swing', times, q, qd, qdd, tau, moves, (slice(late, len(times)),))
    found = effort_delay(robot, recording, [0])
    assert found.seconds == pytest.approx(late * PERIOD, abs=1e-4)
    assert not found.reason


def _pendulums(count):
    parts = [
        f'<link name="link{i}"><inertial><origin xyz="0.1 0 0.2"/><mass value="1"/>'
        '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>'
        f'<joint name="joint{i}" type="continuous"><parent link="base"/><child link="link{i}"/>'
        f'<origin xyz="{i} 0 0"/><axis xyz="0 1 0"/></joint>' for i in range(count)]
    return f'<robot name="pendulums"><link name="base"/>{"".join(parts)}</robot>'


# ---- friction that is late ----------------------------------------------------------------------


FRICTION, ROTOR, WAY = 8.0, 1.0, 5e-4
"""Of each joint [Nm, kg m^2, rad]; and the delay of the efforts where there is one [s]."""


def drawn(robot, seed, delay=0.0, rate=100.0, way=WAY, duration=40.0):
    """Return an arm that slides after a way where it turns back (Dahl), and its recording."""
    rng = np.random.default_rng(seed)
    truth = with_joint_numbers(
        changed_inertias(robot, seed, 0.05), damping=2.0, friction=FRICTION, armature=ROTOR)
    times = np.arange(0.0, duration, 1e-3)
    q, qd, qdd = np.zeros((3, len(times), robot.nv))
    for harmonic in range(1, 6):
        w = 0.2 * np.pi * harmonic
        size = 0.8 * rng.uniform(0.3, 1.0, robot.nv) / harmonic
        angle = w * times[:, None] + rng.uniform(0.0, 6.0, robot.nv)
        q += size * np.sin(angle)
        qd += size * w * np.cos(angle)
        qdd -= size * w * w * np.sin(angle)
    slides, signs = np.zeros_like(q), np.sign(np.diff(q, axis=0))
    shares = np.exp(-np.abs(np.diff(q, axis=0)) / way)
    for k, (sign, share) in enumerate(zip(signs, shares), start=1):
        slides[k] = sign + (slides[k - 1] - sign) * share
    tau = with_joint_numbers(truth, friction=0.0).inverse_dynamics(q, qd, qdd) + FRICTION * slides
    late = round(delay / 1e-3)
    tau = np.concatenate([tau[:1].repeat(late, axis=0), tau[:len(tau) - late]])
    rows = slice(None, None, round(1e3 / rate))
    noise = rng.normal(size=(3, *q[rows].shape))
    return truth, Recording(
        'swing', times[rows], robot.joint_names, q[rows] + 2e-5 * noise[0],
        tau[rows] + 0.1 * noise[1], qd[rows] + 1e-3 * noise[2])


@pytest.mark.parametrize(('delay', 'rate'), [(0.0, 100.0), (0.02, 100.0), (0.0, 500.0)])
def test_friction_that_is_late_is_no_delay(ur5, delay, rate):
    for seed in range(3):
        result = prepare(drawn(ur5, seed, delay, rate)[1], ur5)
        assert result.prepared.delay == pytest.approx(delay, abs=2e-3 * bool(delay))


def test_intervals_hold_where_friction_is_late(ur5):
    errors, rotors = [], []
    for seed in range(5):
        truth, recording = drawn(ur5, seed)
        found = identify(
            [prepare(recording, ur5).prepared], ur5, Unknowns(rotor_inertia='all'))
        for several in deviations(truth, found):
            errors += list(several)
        rotors += [(one.value - ROTOR) / one.standard_error for one in found.parameters
                   if one.quantity == 'rotor_inertia' and one.standard_error is not None]
    assert len(errors) > 200 and len(rotors) > 10
    assert np.mean(np.abs(errors) < 2.0) >= 0.9
    assert np.mean(np.abs(rotors) < 2.0) >= 0.9


def test_which_friction_is_late_is_told(ur5):
    result = prepare(drawn(ur5, 0)[1], ur5)
    text, = (step.text for step in result.steps if step.name == 'friction')
    assert text.startswith('Coulomb friction slides only after a way')
    assert all(joint in text for joint in ur5.joint_names)
    sharp = prepare(drawn(ur5, 0, way=1e-7)[1], ur5)
    assert not [step for step in sharp.steps if 'after a way' in step.text]


def test_a_delay_of_one_joint_is_none_of_the_recording(ur5):
    recording = drawn(ur5, 1)[1]
    efforts = recording.efforts.copy()
    efforts[:, 2] = np.roll(efforts[:, 2], 3)
    result = prepare(replace(recording, efforts=efforts), ur5)
    assert result.prepared.delay == 0.0
    text, = (step.text for step in result.steps if step.name == 'delay')
    assert 'No delay was found' in text
