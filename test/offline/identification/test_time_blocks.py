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
"""Blocks of time: where a motion is repeated, and what that does to standard errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_robots import random_serial_arm
from ros2_rnea import Robot
from ros2_rnea.offline.identification import time_blocks as time_blocks_module
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.offline.identification.time_blocks import BLOCKS, period_of, time_blocks
from ros2_rnea.offline.identification.unknowns import Unknowns
from synthetic_recordings import motion, recording


@pytest.fixture
def robot() -> Robot:
    """Return an arm of two joints."""
    return Robot.from_urdf(random_serial_arm(3, 2, ('revolute',)).urdf())


def blocks_of(recordings, stops):
    """Return the block of each sample, and the recording and the phase of each block."""
    found = time_blocks(recordings, stops)
    return ([own(one.times) for own, one in zip(found.of_samples, recordings)],
            found.recordings, found.phases)


def sines(samples, period, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(samples)[:, None]
    return sum(rng.normal(size=2) * np.sin(2.0 * np.pi * k * t / period + rng.uniform(0, 6, 2))
               for k in (1, 2, 3))


@pytest.mark.parametrize('samples, period', [
    (1000, 400), (1000, 100), (4000, 1234.5), (100_000, 30_000)])
def test_periods_are_found(samples, period):
    noise = np.random.default_rng(1).normal(size=(samples, 2)) * 0.01
    assert period_of(sines(samples, period) + noise) == pytest.approx(period, rel=0.01)


@pytest.mark.parametrize('periods, period', [(60, 10_000.0), (120, 5000.37), (300, 1000.4)])
def test_phases_stay_the_same_over_many_periods(periods, period):
    found = period_of(sines(int(periods * period), period))
    assert abs(found - period) * periods < 0.5 * period / BLOCKS


@pytest.mark.parametrize('q', [
    sines(1000, 1500), np.zeros((1000, 2)), np.cumsum(np.ones((1000, 2)), axis=0),
    np.random.default_rng(0).normal(size=(1000, 2)), np.zeros((3, 2)),
    np.zeros((0, 2)),
], ids=['longer than the recording', 'rest', 'a line', 'noise', 'three samples', 'no sample'])
def test_no_period_is_found_where_none_is(q):
    assert period_of(q) is None


def test_blocks_divide_all_recordings_evenly(robot):
    two = [recording(robot, motion(robot, count, seed)) for seed, count in ((1, 600), (2, 400))]
    two = [replace(one, q=np.cumsum(one.qd + 1.0, axis=0)) for one in two]  # never returns
    (first, second), recordings, phases = blocks_of(two, [600, 400])
    sizes = np.bincount(np.concatenate([first, second]), minlength=BLOCKS)
    assert (np.abs(sizes - 50) <= 2).all()
    assert (np.diff(first) >= 0).all() and first[-1] + 1 == second[0] == BLOCKS * 6 // 10
    assert recordings.tolist() == [0] * 12 + [1] * 8
    assert phases.tolist() == [*range(20)]


def test_each_recording_has_a_block_however_short_it_is(robot):
    many = [recording(robot, motion(robot, count, seed)) for seed, count in enumerate(
        [2000, *[20] * 30])]
    blocks, recordings, _ = blocks_of(many, [len(one.times) for one in many])
    assert {*recordings.tolist()} == {*range(31)}
    assert all(recordings[own].tolist() == [k] * len(own) for k, own in enumerate(blocks))


def test_a_repeated_motion_has_its_blocks_again(robot):
    once = motion(robot, 600, 1)  # which repeats itself in the middle
    (blocks,), _, _ = blocks_of([recording(robot, once)], [600])
    assert (blocks[:300] == blocks[300:]).mean() > 0.95
    assert {*blocks.tolist()} == {*range(BLOCKS)}


def test_gaps_have_no_blocks(robot):
    t, q, qd, qdd = motion(robot, 800, 1)
    once = recording(robot, (t, np.cumsum(qd + 1.0, axis=0), qd, qdd))
    later = replace(once, times=t + np.where(np.arange(800) < 500, 0.0, 3600.0),
                    pieces=(slice(0, 500), slice(500, 800)))
    (found,), _, _ = blocks_of([later], [700])
    (expected,), _, _ = blocks_of([once], [700])
    assert (found == expected).mean() > 0.98  # rounding moves single samples at the edges
    assert {*found[:700]} == {*range(BLOCKS)}


@pytest.mark.parametrize('is_repeated', [True, False])
def test_recordings_of_one_motion_have_the_same_phases(robot, is_repeated):
    t, *state = motion(robot, 1000, 1)  # of two periods
    whole, part = slice(0, 1000 if is_repeated else 480), slice(33, 880 if is_repeated else 400)
    several = [
        recording(robot, (t[rows] + begin, *(each[rows] for each in state)))
        for rows, begin in ((part, 7.0), (whole, 0.0), (part, 100.0))]
    several.append(recording(robot, motion(robot, 1000, 2)))
    several[2] = replace(several[2], **{name: getattr(several[2], name)[::2] for name in (
        'times', 'q', 'qd', 'qdd', 'tau', 'moves')}, pieces=(slice(0, len(t[part]) // 2),))
    blocks, recordings, phases = blocks_of(several, [len(one.times) for one in several])
    first, second, third, other = (phases[own] for own in blocks)
    assert (first == second[part]).mean() > 0.95
    assert (third == second[part][::2][:len(third)]).mean() > 0.95
    assert not {*other} & {*second}
    assert {*second} | {*other} == {*range(phases.max() + 1)}
    assert [{*recordings[own]} for own in blocks] == [{0}, {1}, {2}, {3}]


def test_the_work_is_proportional_to_the_number_of_recordings(robot, monkeypatch):
    compared = []
    lag_of = time_blocks_module._lag
    monkeypatch.setattr(
        time_blocks_module, '_lag', lambda *both: compared.append(both) or lag_of(*both))
    many = [recording(robot, motion(robot, 400, seed)) for seed in range(60)]
    many += [replace(one, tau=one.tau + 1.0) for one in many[:5]]
    _, _, phases = blocks_of(many, [400] * len(many))
    assert len(compared) <= 8 * len(many)  # 1835 pairs without a bound
    assert phases[-5:].tolist() == phases[:5].tolist()  # repetitions are found all the same


def test_recordings_at_rest_are_no_repetitions(robot):
    t, q, qd, qdd = motion(robot, 200, 1)
    resting = [recording(robot, (t, 0.0 * q + 1.0, 0.0 * qd, 0.0 * qdd))] * 2
    _, _, phases = blocks_of([*resting, recording(robot, (t, q, qd, qdd))], [200] * 3)
    assert len({*phases}) == len(phases)


def test_what_the_model_lacks_does_not_average_out_over_repetitions(robot):
    def error_of(repetitions):
        t, q, qd, qdd = motion(robot, 1000, 1)
        states = [np.tile(each[:500], (repetitions, 1)) for each in (q, qd, qdd)]
        one = recording(robot, (np.arange(500 * repetitions) * (t[1] - t[0]), *states))
        noise = np.random.default_rng(0).normal(size=one.tau.shape) * 1e-3
        lost = np.sin(5.0 * one.q) * np.tanh(20.0 * one.qd)
        result = identify([replace(one, tau=one.tau + lost + noise)], robot,
                          Unknowns(links=()), held_back=0.0)
        return np.array([one.standard_error for one in result.parameters])

    assert (error_of(16) > 0.7 * error_of(2)).all()  # independent samples would give 0.35


def test_errors_of_the_model_do_not_average_out(robot):
    def error_of(number):
        state = motion(robot, 1000, 1)
        recordings = []
        for seed in range(number):
            one = recording(robot, state)
            noise = np.random.default_rng(seed).normal(size=one.tau.shape) * 1e-3
            recordings.append(replace(
                one, tau=one.tau + np.sin(5.0 * one.q) * np.tanh(20.0 * one.qd) + noise))
        result = identify(recordings, robot, Unknowns(links=()), held_back=0.0)
        return np.array([one.standard_error for one in result.parameters])

    assert (error_of(9) > 0.7 * error_of(1)).all()  # independent recordings would give 0.33


def test_recordings_that_differ_make_large_errors(robot):
    rng = np.random.default_rng(0)

    def error_of(amount):
        recordings = []
        for friction in 2.0 + amount * np.array([-0.75, -0.25, 0.25, 0.75]):
            one = recording(robot, motion(robot, 2000, 1))
            warm = friction * one.qd / np.sqrt(one.qd**2 + 1e-4)
            recordings.append(replace(
                one, tau=one.tau + warm + 0.1 * rng.normal(size=one.tau.shape)))
        result = identify(recordings, robot, Unknowns(links=()))
        return next(one.standard_error for one in result.parameters
                    if one.quantity == 'coulomb')

    # Coulomb friction of 1.25 to 2.75 Nm has a standard deviation of 0.65, of its mean 0.32.
    assert error_of(1.0) == pytest.approx(0.32, rel=0.05)
    assert error_of(0.0) < 0.02
