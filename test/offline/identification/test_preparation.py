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
"""Recordings prepared for a robot, against motions whose derivatives are known exactly."""

from dataclasses import replace
from math import inf, pi
import re

import numpy as np
import pytest
from ros2_rnea.dynamics.friction import sign_width, smooth_sign
from ros2_rnea.errors import RecordingError, RneaError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.identification.preparation import Preparation, prepare
from ros2_rnea.offline.identification.recording import Recording, slowest_speeds
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.models import MODELS

RATE = 100.0
DURATION = 20.0


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(MODELS['ur5']().urdf)


def motion(times, count):
    """Return positions, velocities and accelerations: sums of sines up to 0.5 Hz."""
    generator = np.random.default_rng(3)
    q, qd, qdd = (np.zeros((len(times), count)) for _ in range(3))
    for harmonic in range(1, 6):
        w = 2.0 * pi * 0.1 * harmonic
        amplitude = generator.uniform(0.1, 0.4, count) / harmonic
        angle = w * times[:, None] + generator.uniform(0.0, 6.0, count)
        q += amplitude * np.sin(angle)
        qd += amplitude * w * np.cos(angle)
        qdd -= amplitude * w**2 * np.sin(angle)
    return q, qd, qdd


def recorded(robot, late=0.0, noise=0.0, times=None, **other):
    """Return a recording whose efforts are those of a while ago, friction included."""
    times = np.arange(0.0, DURATION, 1.0 / RATE) if times is None else times
    generator = np.random.default_rng(8)
    q, qd, _ = motion(times, robot.nv)
    then = motion(times - late, robot.nv)
    efforts = robot.inverse_dynamics(*then) + 1.5 * then[1] + 2.0 * np.tanh(then[1] / 0.01)
    fields = {
        'positions': q + noise * 1e-4 * generator.normal(size=q.shape),
        'efforts': efforts + noise * 0.1 * generator.normal(size=q.shape),
        'velocities': qd + noise * 1e-2 * generator.normal(size=q.shape)}
    return Recording('swing', times, robot.joint_names, **{**fields, **other})


def step_of(result, name):
    steps = [step for step in result.steps if step.name == name]
    assert steps, f'no step {name}'
    return steps


def warnings_of(result):
    return [step.text for step in result.steps if step.is_warning]


# ---- motion -------------------------------------------------------------------------------------


@pytest.mark.parametrize('ignores', [True, False])
def test_derivatives_of_sines_are_exact_to_a_thousandth(robot, ignores):
    result = prepare(recorded(robot), robot, Preparation(ignores_velocities=ignores))
    prepared = result.prepared
    for found, true, error in zip(
            (prepared.q, prepared.qd, prepared.qdd), motion(prepared.times, robot.nv),
            (1e-4, 1e-4, 1e-3)):
        np.testing.assert_allclose(found, true, rtol=0.0, atol=error * np.abs(true).max())
    assert warnings_of(result) == []


def test_without_a_filter_derivatives_are_those_of_the_stencil(robot):
    result = prepare(recorded(robot), robot, Preparation(
        cutoff=inf, ignores_velocities=True, delay=0.0))
    prepared = result.prepared
    q, qd, qdd = motion(prepared.times, robot.nv)
    np.testing.assert_array_equal(prepared.q, q)
    inner = slice(3, -3)
    np.testing.assert_allclose(prepared.qd[inner], qd[inner], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(prepared.qdd[inner], qdd[inner], rtol=0.0, atol=1e-7)
    assert len(prepared.times) == DURATION * RATE
    assert prepared.cutoff == inf


def test_accelerations_have_less_noise_and_the_better_source(robot):
    recording = recorded(robot, noise=1.0)
    prepared = prepare(recording, robot).prepared
    true = motion(prepared.times, robot.nv)[2]
    plain = np.gradient(recording.velocities, 1.0 / RATE, axis=0)
    noise_before = np.std(plain - motion(recording.times, robot.nv)[2])
    assert np.std(prepared.qdd - true) < 0.05 * noise_before
    bad = recorded(robot, noise=1.0, velocities=motion(recording.times, robot.nv)[1] +
                   np.random.default_rng(1).normal(0.0, 0.3, recording.positions.shape))
    text = step_of(prepare(bad, robot), 'velocities')[-1].text
    assert 'Derivatives of positions are used' in text
    quantized = replace(recording, positions=np.round(recording.positions, 2),
                        velocities=motion(recording.times, robot.nv)[1])
    text = step_of(prepare(quantized, robot), 'velocities')[-1].text
    assert text.startswith('Recorded velocities are used')


def test_the_cutoff_follows_the_motion_and_can_be_given(robot):
    slow = prepare(recorded(robot, noise=1.0), robot).prepared.cutoff
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    q = 0.2 * np.sin(2.0 * pi * 4.0 * times[:, None] + np.arange(robot.nv))
    fast = prepare(recorded(robot, positions=q, velocities=None), robot).prepared.cutoff
    assert 5.0 <= slow < 8.0
    assert 16.0 <= fast < 30.0
    assert prepare(recorded(robot), robot, Preparation(cutoff=7.0)).prepared.cutoff == 7.0
    with pytest.raises(RecordingError, match='the cut-off is 60 Hz; .* less than 50 Hz'):
        prepare(recorded(robot), robot, Preparation(cutoff=60.0))


def test_the_cutoff_is_that_of_the_motion_whatever_else_shakes(robot):
    """Neither vibrations of one joint nor a coarse encoder may widen it: positions alone do."""
    times = np.arange(0.0, DURATION, 1e-3)
    recording = recorded(robot, times=times)
    rng = np.random.default_rng(5)
    coarse = np.round(recording.positions, 2)
    shaking = recording.positions + 1e-3 * np.sin(2.0 * pi * 120.0 * times)[:, None] * (
        np.arange(robot.nv) == 4)
    for positions in (coarse, shaking):
        velocities = recording.velocities + rng.normal(0.0, 1e-3, positions.shape)
        result = prepare(
            replace(recording, positions=positions, velocities=velocities), robot)
        assert 2.0 <= result.prepared.cutoff <= 5.0
        below = re.search(r'speed below (\S+) Hz', step_of(result, 'low-pass')[0].text)
        assert 0.0 < float(below[1]) < 1.0


def test_accelerations_that_are_noise_are_told(robot):
    recording = recorded(robot, velocities=None)
    noise = np.random.default_rng(5).normal(0.0, 8e-2, recording.positions.shape)
    prepared, steps = prepare(
        replace(recording, positions=recording.positions + noise), robot)
    told, = (step for step in steps if step.name == 'low-pass')
    assert told.is_warning and 'of the power of an acceleration is noise' in told.text
    assert prepared.cutoff < 2.5  # and the least noise is let through
    assert not step_of(prepare(recorded(robot, noise=1.0), robot), 'low-pass')[0].is_warning


def test_samples_are_as_many_as_the_cutoff_needs(robot):
    result = prepare(recorded(robot, times=np.arange(0.0, DURATION, 1e-3)), robot)
    np.testing.assert_allclose(np.diff(result.prepared.times), 0.01)
    assert result.prepared.cutoff == 5.0
    assert step_of(result, 'ends')[0].text.endswith(' in 1 piece, 100 a second.')


def test_samples_at_irregular_times_get_one_period(robot):
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    times += np.random.default_rng(2).uniform(-0.003, 0.003, len(times))
    prepared = prepare(recorded(robot, times=times), robot).prepared
    np.testing.assert_allclose(np.diff(prepared.times), 1.0 / RATE, rtol=1e-3)
    q, qd, qdd = motion(prepared.times, robot.nv)
    np.testing.assert_allclose(prepared.q, q, rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(prepared.qd, qd, rtol=0.0, atol=1e-3)
    np.testing.assert_allclose(prepared.qdd, qdd, rtol=0.0, atol=5e-3)


def test_nearly_equal_times_do_not_amplify_effort_noise(robot):
    rng = np.random.default_rng(2)
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    held_up = np.flatnonzero(rng.random(len(times)) < 0.05)
    stamps = times.copy()
    stamps[held_up] += 0.995 / RATE  # and delivered right before the next one
    smooth, rough = (replace(recorded(robot, noise=noise), times=stamps) for noise in (0.0, 1.0))
    both = [prepare(replace(smooth, efforts=one.efforts), robot, Preparation(delay=0.0)).prepared
            for one in (smooth, rough)]
    left = both[1].tau - both[0].tau
    assert left.std() < 0.11 and np.abs(left).max() < 0.6  # noise of 0.1, 6000 samples


def test_efforts_go_through_the_filter_of_the_motion(robot):
    times = np.arange(0.0, DURATION, 0.002)
    clean, noisy = (recorded(robot, times=times, noise=noise) for noise in (0.0, 1.0))
    state = motion(times, robot.nv)
    speeds = slowest_speeds([
        (one.qd, one.moves) for one in [prepare(clean, robot, Preparation(delay=0.0)).prepared]])
    sharp = robot.inverse_dynamics(*state) + 1.5 * state[1] + 2.0 * np.transpose([
        smooth_sign(rate, sign_width(slowest)) for rate, slowest in zip(state[1].T, speeds)])
    noisy = replace(clean, efforts=sharp + noisy.efforts - clean.efforts)
    clean = replace(clean, efforts=sharp)
    settings = Preparation(cutoff=5.0, delay=0.0)
    smooth, rough = (prepare(one, robot, settings).prepared for one in (clean, noisy))
    all_of_it = robot.inverse_dynamics(smooth.q, smooth.qd, smooth.qdd) + (
        1.5 * smooth.qd + 2.0 * smooth.direction)
    assert np.abs(smooth.tau - all_of_it)[smooth.moves].max() < 0.02  # no step at a turn
    left = rough.tau - smooth.tau
    assert left.std() == pytest.approx(0.1 * (2.0 * 5.0 / 500.0)**0.5, rel=0.15)


def test_angles_within_a_turn_are_joined():
    text = MODELS['ur5']().urdf.replace(
        'type="revolute"', 'type="continuous"')
    robot = Robot.from_urdf(text)
    recording = recorded(robot)
    turned = 10.0 * recording.positions
    wrapped = (turned + pi) % (2.0 * pi) - pi
    result = prepare(replace(recording, positions=wrapped, velocities=None), robot)
    assert 'Angles' in step_of(result, 'turns')[0].text
    expected = 10.0 * motion(result.prepared.times, robot.nv)[1]
    np.testing.assert_allclose(result.prepared.qd, expected, rtol=0.0, atol=1e-2)


def test_standstill_is_kept_and_does_not_move(robot):
    times = np.arange(0.0, 30.0, 1.0 / RATE)
    q = motion(np.clip(times - 5.0, 0.0, 20.0), robot.nv)[0]
    prepared = prepare(recorded(robot, times=times, positions=q, velocities=None), robot,
                       Preparation(delay=0.0)).prepared
    still = (prepared.times < 4.0) | (prepared.times > 26.0)
    assert still.any()
    assert not prepared.moves[still].any()
    assert prepared.moves[~still].mean() > 0.5
    # where the direction turns, both signs of friction are mixed
    turning = np.diff(np.sign(prepared.qd), axis=0) != 0.0
    assert not prepared.moves[1:][turning].any()


# ---- times --------------------------------------------------------------------------------------


def test_gaps_are_cut_out_and_not_bridged(robot):
    recording = recorded(robot)
    kept = np.r_[0:800, 900:1400, 1450:2000]
    result = prepare(_rows(recording, kept), robot, Preparation(delay=0.0))
    prepared = result.prepared
    assert step_of(result, 'gaps')[0].text == (
        'Cut out: 2 gaps longer than 0.05 s (first from 7.990 s to 9.000 s).')
    assert len(prepared.pieces) == 3
    inside = [prepared.times[piece] for piece in prepared.pieces]
    for times, (first, last) in zip(inside, [(0.0, 7.99), (9.0, 13.99), (14.5, 19.99)]):
        assert first < times[0]
        assert times[-1] < last
        np.testing.assert_allclose(np.diff(times), 1.0 / RATE)
    np.testing.assert_allclose(
        prepared.qdd, motion(prepared.times, robot.nv)[2], rtol=0.0, atol=0.02)


def test_gaps_that_are_short_against_the_motion_are_joined(robot):
    """As where a driver at 1 kHz loses some packets: each piece would lose what a filter needs."""
    times = np.delete(np.arange(0.0, 20.0, 1e-3), [
        first + k for first in (4000, 8000, 12000, 16000) for k in range(9)])
    q, qd, _ = motion(times, robot.nv)
    result = prepare(recorded(robot, times=times, positions=q, velocities=qd), robot,
                     Preparation(delay=0.0))
    prepared = result.prepared
    assert step_of(result, 'gaps')[0].text == 'Joined: 4 gaps of 0.01 s at most.'
    assert len(prepared.pieces) == 1
    assert prepared.duration > 17.0
    np.testing.assert_allclose(
        prepared.qdd, motion(prepared.times, robot.nv)[2], rtol=0.0, atol=0.02)


def test_a_burst_between_gaps_is_too_short_to_be_differentiated(robot):
    """It has samples enough, but not at the period of the others."""
    recording = recorded(robot)
    times = recording.times.copy()
    times[1600:1612] = 16.0 + 1e-3 * np.arange(12)
    burst = _rows(replace(recording, times=times), np.r_[0:1500, 1600:1612, 1700:2000])
    result = prepare(burst, robot)
    assert 'Cut out: 2 gaps' in step_of(result, 'gaps')[0].text
    base = step_of(result, 'time base')[0]
    assert 'Hz in 2 pieces.' in base.text
    assert 'Cut out: 1 piece of fewer than 7 samples' in base.text


def test_rows_with_nan_and_duplicate_times_are_cut_out(robot):
    recording = recorded(robot)
    efforts, times = recording.efforts.copy(), recording.times.copy()
    efforts[500:520, 2] = np.nan
    times[1000:1005] = times[999]
    result = prepare(replace(recording, efforts=efforts, times=times), robot)
    step = step_of(result, 'gaps')[0]
    assert all(what in step.text for what in (
        'Cut out: 20 rows with', '; 5 rows whose time is not later', '; 2 gaps longer'))
    assert f'efforts of {robot.joint_names[2]}, row 501, at 5 s' in step.text
    assert len(result.prepared.pieces) == 3
    assert np.isfinite(result.prepared.tau).all()


@pytest.mark.parametrize('first', [True, False])
def test_two_rows_with_one_stamp_are_taken_apart(robot, first):
    """Messages that are stamped when they are sent, and one of them late or early."""
    recording = recorded(robot, noise=1.0)
    times, rows = recording.times.copy(), np.arange(10, 1990, 20)
    times[rows] = times[rows + (1 if first else -1)]
    plain, result = (
        prepare(replace(recording, times=each), robot, Preparation(delay=0.0))
        for each in (recording.times, times))
    assert step_of(result, 'stamps')[0].text.startswith(f'{len(rows)} stamps of two rows:')
    assert step_of(result, 'gaps')[0].text == 'No gaps and no duplicate times.'
    assert result.prepared.cutoff == plain.prepared.cutoff
    for name in ('qdd', 'tau'):
        np.testing.assert_allclose(
            getattr(result.prepared, name), getattr(plain.prepared, name), rtol=0.0, atol=1e-9)


def test_a_row_that_is_sent_twice_is_used_once(robot):
    recording = recorded(robot)
    rows = np.sort(np.r_[0:2000, 500:1500:50])
    result = prepare(_rows(recording, rows), robot)
    assert 'Cut out: 20 rows whose' in step_of(result, 'gaps')[0].text
    assert not [step for step in result.steps if step.name == 'stamps']


@pytest.mark.parametrize('times', [2, 4])
def test_samples_that_are_published_several_times_are_used_once(robot, times):
    recording = recorded(robot, noise=1.0)
    held = _rows(recording, np.repeat(np.arange(2000), times))
    held = replace(held, times=np.arange(2000 * times) / (RATE * times))
    plain, result = (prepare(each, robot, Preparation(delay=0.0)) for each in (recording, held))
    assert f'is repeated in {times} rows' in step_of(result, 'stamps')[0].text
    assert warnings_of(result) == []
    np.testing.assert_allclose(result.prepared.times, plain.prepared.times, atol=1e-9)
    np.testing.assert_allclose(result.prepared.tau, plain.prepared.tau, rtol=0.0, atol=1e-6)


def test_an_arm_at_rest_is_not_published_several_times(robot):
    times = np.arange(0.0, 30.0, 1.0 / RATE)
    q, qd, _ = motion(np.clip(times - 5.0, 0.0, 20.0), robot.nv)
    recording = recorded(robot, times=times, positions=q, velocities=qd)
    recording.efforts[:480] = recording.efforts[0]
    result = prepare(recording, robot)
    assert not [step for step in result.steps if step.name == 'stamps']


def test_times_that_go_back_are_cut_out(robot):
    recording = recorded(robot)
    twice = _rows(recording, np.r_[0:1500, 1000:2000])
    result = prepare(twice, robot)
    assert 'Cut out: 500 rows whose' in step_of(result, 'gaps')[0].text
    assert (np.diff(result.prepared.times) > 0.0).all()


@pytest.mark.parametrize('back', [0.0, 1e-14])
def test_rows_on_both_sides_of_a_clock_that_was_set_back_are_not_joined(robot, back):
    recording = recorded(robot)
    times = recording.times.copy()
    times[1000:] = times[500:1500] + back  # the last 500 rows follow row 999, 5 s later
    result = prepare(replace(recording, times=times), robot, Preparation(delay=0.0))
    assert 'rows whose time is not later' in step_of(result, 'gaps')[0].text
    assert 'in 2 pieces' in step_of(result, 'time base')[0].text
    first, second = result.prepared.pieces
    for piece, late in ((first, 0.0), (second, 5.0)):
        expected = motion(result.prepared.times[piece] + late, robot.nv)
        for each, right in zip((result.prepared.q, result.prepared.qd), expected):
            np.testing.assert_allclose(each[piece], right, rtol=0.0, atol=5e-3)


def test_a_clock_that_was_set_back_by_less_than_a_gap_that_is_joined_divides_a_recording(robot):
    recording = recorded(robot)
    times = recording.times.copy()
    times[1000:] -= 8.0 / RATE
    result = prepare(replace(recording, times=times), robot, Preparation(delay=0.0))
    assert 'in 2 pieces' in step_of(result, 'time base')[0].text


def test_wrong_times_that_make_most_rows_early_are_cut_out_and_named(robot):
    recording = recorded(robot)
    times = recording.times.copy()
    times[[3, 700]] = 2.7e153, 3047.693
    result = prepare(replace(recording, times=times), robot)
    step, = step_of(result, 'gaps')
    assert step.text == (
        'Cut out: 2 rows whose time is later than those after (first row 4, 2.7e+153 s).')
    q = motion(result.prepared.times, robot.nv)[0]
    np.testing.assert_allclose(result.prepared.q, q, rtol=0.0, atol=1e-3)


def test_a_recording_that_its_file_repeats_is_used_once(robot):
    recording = recorded(robot)
    result = prepare(_rows(recording, np.r_[0:2000, 0:2000, 0:2000]), robot)
    assert 'Cut out: 4000 rows whose' in step_of(result, 'gaps')[0].text


@pytest.mark.parametrize(('scale', 'message'), [
    (1e3, '0.1 samples a second; it needs 5 to .*seconds'),
    (1e-6, r'1e\+08 samples a second')])
def test_times_in_other_units_are_refused(robot, scale, message):
    recording = recorded(robot)
    with pytest.raises(RecordingError, match=message):
        prepare(replace(recording, times=scale * recording.times), robot)


# ---- delay --------------------------------------------------------------------------------------


@pytest.mark.parametrize('late', [0.0137, -0.0062, 0.05])
@pytest.mark.parametrize('noise', [0.0, 1.0])
def test_a_delay_of_efforts_is_found_whatever_the_masses(robot, late, noise):
    wrong = robot.with_inertial_parameters(0.3 * robot.inertial_parameters).with_payload(
        'unknown', 'tool0', Inertial(5.0, Pose((0.1, 0.0, 0.2))))
    result = prepare(recorded(robot, late, noise), wrong)
    assert result.prepared.delay == pytest.approx(late, abs=0.5e-3)
    prepared = result.prepared
    q, qd, qdd = motion(prepared.times, robot.nv)
    expected = robot.inverse_dynamics(q, qd, qdd) + 1.5 * qd + 2.0 * np.sign(qd)
    error = np.where(prepared.moves, prepared.tau - expected, 0.0)
    assert np.sqrt((error**2).mean()) < 0.15


def one_vertical_joint():
    return """<robot name="bench"><link name="base"/><link name="arm"><inertial>
      <origin xyz="0.1 0 0"/><mass value="0.5"/>
      <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
      <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
      <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="10" velocity="5"/></joint></robot>"""


def friction(qd):
    return 1.5 * qd + 2.0 * np.tanh(qd / 0.01)


def test_no_delay_is_removed_where_absent_or_switched_off(robot):
    assert abs(prepare(recorded(robot, 0.0, 1.0), robot).prepared.delay) < 0.5e-3
    result = prepare(recorded(robot, 0.03), robot, Preparation(delay=0.0))
    assert step_of(result, 'delay')[0].text == (
        'The delay was not estimated, because it was given as 0.')
    given = prepare(recorded(robot, 0.03), robot, Preparation(delay=0.03))
    q, qd, qdd = motion(given.prepared.times, robot.nv)
    expected = robot.inverse_dynamics(q, qd, qdd) + 1.5 * qd + 2.0 * given.prepared.direction
    np.testing.assert_allclose(given.prepared.tau[given.prepared.moves],
                               expected[given.prepared.moves], rtol=0.0, atol=0.2)


def test_a_delay_beyond_what_is_searched_is_told(robot):
    result = prepare(recorded(robot, 0.12), robot)
    assert 'beyond ±0.06 s' in step_of(result, 'delay')[0].text
    assert result.prepared.delay == 0.0


# ---- what was recorded --------------------------------------------------------------------------


@pytest.mark.parametrize(('factor', 'cause'), [
    (180.0 / pi, '57.3 times .*are the velocities in degrees per second'),
    (pi / 180.0, '0.01745 times .*are the positions in degrees'),
    (30.0 / pi, 'revolutions per minute')])
def test_inconsistent_units_are_refused_unless_positions_are_known_right(robot, factor, cause):
    recording = recorded(robot)
    velocities = recording.velocities.copy()
    velocities[:, 1] *= factor
    recording = replace(recording, velocities=velocities)
    with pytest.raises(RecordingError, match=(
            f"'swing': velocities of joint {robot.joint_names[1]!r} .*{cause}.*"
            '--ignore-velocities differentiates them')):
        prepare(recording, robot)
    result = prepare(recording, robot, Preparation(ignores_velocities=True))
    warning, = warnings_of(result)
    assert re.search(cause, warning)
    np.testing.assert_allclose(
        result.prepared.qd, motion(result.prepared.times, robot.nv)[1], rtol=0.0, atol=1e-3)


@pytest.mark.parametrize(('factor', 'cause'), [
    (-1.0, 'with the sign turned'),
    (1.7, r'are 1.7 times the derivative of its positions\.'),
    (0.0, 'are 0 throughout')])
def test_velocities_that_are_no_derivatives_are_named_and_not_used(robot, factor, cause):
    recording = recorded(robot)
    velocities = recording.velocities.copy()
    velocities[:, 1] *= factor
    result = prepare(replace(recording, velocities=velocities), robot)
    warning, = warnings_of(result)
    assert f'Velocities of joint {robot.joint_names[1]!r}' in warning
    assert re.search(cause, warning)
    np.testing.assert_allclose(
        result.prepared.qd, motion(result.prepared.times, robot.nv)[1], rtol=0.0, atol=1e-3)


def test_velocities_of_another_joint_are_named(robot):
    recording = recorded(robot)
    swapped = recording.velocities[:, [1, 0, 2, 3, 4, 5]]
    warnings = warnings_of(prepare(replace(recording, velocities=swapped), robot))
    assert len(warnings) == 2
    assert all('another joint' in warning for warning in warnings)


def test_positions_in_degrees_are_refused(robot):
    recording = recorded(robot)
    with pytest.raises(RecordingError, match=r"'shoulder_pan_joint' .*are they in rad or m\?"):
        prepare(replace(recording, positions=60.0 * 180.0 / pi * recording.positions,
                        velocities=None), robot)


def test_degrees_within_the_limits_are_refused_by_their_speed(robot):
    recording = recorded(robot)
    degrees = 180.0 / pi
    with pytest.raises(RecordingError, match=(
            r"'shoulder_\w+_joint' .*, and it moves at \d.* its limit 3\.14.*csv-units")):
        prepare(replace(
            recording, positions=0.6 * degrees * recording.positions,
            velocities=0.6 * degrees * recording.velocities), robot)


def test_joints_are_matched_by_name_and_others_told(robot):
    order = [3, 0, 5, 1, 4]
    full = recorded(robot)
    names = [*(robot.joint_names[k] for k in order), 'gripper']
    columns = [*order, 2]
    partial = Recording(
        'swing', full.times, names, full.positions[:, columns], full.efforts[:, columns])
    result = prepare(partial, robot, Preparation(
        assumed_positions={robot.joint_names[2]: [0.4]}, delay=0.0))
    prepared = result.prepared
    assert 'no such joint: gripper' in step_of(result, 'joints')[0].text
    assert any(f'assumed to be at rest: {robot.joint_names[2]} at 0.4' in text
               for text in warnings_of(result))
    assert (prepared.q[:, 2] == 0.4).all()
    assert not prepared.qd[:, 2].any()
    assert np.isnan(prepared.tau[:, 2]).all()
    assert not prepared.moves[:, 2].any()
    others = [0, 1, 3, 4, 5]
    np.testing.assert_allclose(prepared.q[:, others], motion(
        prepared.times, robot.nv)[0][:, others], rtol=0.0, atol=1e-3)
    with pytest.raises(RecordingError, match="'elbow', which is no joint .*did you mean"):
        prepare(full, robot, Preparation(assumed_positions={'elbow': [0.0]}))
    with pytest.raises(RneaError, match="joint 'elbow_joint' needs 1 finite"):
        prepare(full, robot, Preparation(assumed_positions={'elbow_joint': [0.0, 1.0]}))


@pytest.mark.parametrize('written', ['shuolder_pan_joint', 'ShoulderPanJoint'])
def test_a_joint_whose_name_is_misspelt_is_named(robot, written):
    names = (written, *robot.joint_names[1:])
    warning, = warnings_of(prepare(replace(recorded(robot), joints=names), robot))
    assert warning == ('Not recorded and assumed to be at rest: shoulder_pan_joint at 0. The '
                       f"recording has {written!r}; did you mean 'shoulder_pan_joint'?")


def test_joints_that_follow_others_are_told_and_not_used(robot):
    follower = robot.joint_names[5]
    text = MODELS['ur5']().urdf.replace('<joint name="wrist_3_joint" type="revolute">', (
        '<joint name="wrist_3_joint" type="revolute"><mimic joint="wrist_2_joint"/>'))
    result = prepare(recorded(robot), Robot.from_urdf(text), Preparation(delay=0.0))
    assert f'since they follow other joints: {follower}.' in step_of(result, 'joints')[0].text
    assert result.prepared.tau.shape[1] == 5


def test_an_arm_at_rest_has_neither_bandwidth_nor_false_velocities(robot):
    still = recorded(robot, noise=1.0)
    generator = np.random.default_rng(4)
    result = prepare(replace(
        still, positions=1e-5 * generator.normal(size=still.positions.shape),
        velocities=1e-3 * generator.normal(size=still.positions.shape)), robot)
    assert 'no motion stands out' in step_of(result, 'low-pass')[0].text
    assert 'no joint whose effort was recorded moves' in step_of(result, 'delay')[0].text
    assert warnings_of(result) == []
    assert not result.prepared.moves.any()


def test_efforts_that_were_not_measured_are_told(robot):
    recording = recorded(robot)
    efforts = recording.efforts.copy()
    efforts[:, 0], efforts[:, 1] = 0.0, np.nan
    result = prepare(replace(recording, efforts=efforts), robot)
    assert [text.split(':')[0] for text in warnings_of(result)] == [
        f'Efforts of joint {robot.joint_names[0]!r} are 0 throughout',
        f'Efforts of joint {robot.joint_names[1]!r} were not recorded']
    assert np.isnan(result.prepared.tau[:, :2]).all()
    assert np.isfinite(result.prepared.tau[:, 2:]).all()
    with pytest.raises(RecordingError, match='has no efforts of shoulder_pan_joint'):
        prepare(replace(recording, efforts=0.0 * efforts), robot)


@pytest.mark.parametrize('name', ['positions', 'velocities', 'efforts'])
@pytest.mark.parametrize('value', [1e300, -1e10])
def test_numbers_that_no_robot_measures_are_refused_with_their_place(robot, name, value):
    recording = recorded(robot)
    array = getattr(recording, name).copy()
    array[1234, 2] = value
    with pytest.raises(RecordingError, match=re.escape(
            f'{value:g} among the {name} of {robot.joint_names[2]!r}, in row 1235 at 12.34 s')):
        prepare(replace(recording, **{name: array}), robot)


def test_efforts_far_above_the_limit_are_named_with_their_place(robot):
    recording = recorded(robot)
    assert not [step for step in prepare(recording, robot).steps if step.name == 'efforts']
    efforts = recording.efforts.copy()
    efforts[700, 1], efforts[900, 1], efforts[20, 1], efforts[30, 1] = -1e5, 585.0, inf, np.nan
    step, = step_of(prepare(replace(recording, efforts=efforts), robot), 'efforts')
    assert step.is_warning
    assert step.text.startswith(
        "1 effort of joint 'shoulder_lift_joint' is more than 4 times its limit of 150; the "
        'largest is -1e+05, in row 701 at 7 s.')
    step, *_ = step_of(prepare(replace(
        recording, efforts=1e3 * recording.efforts), robot), 'efforts')
    assert 'efforts of joint' in step.text and 'is this effort in Nm or N?' in step.text


def test_other_joints_constant_data_and_too_little_are_refused(robot):
    recording = recorded(robot)
    with pytest.raises(RecordingError, match='none of the joints of'):
        prepare(replace(recording, joints=[f'other_{k}' for k in range(6)]), robot)
    with pytest.raises(RecordingError, match='no position of shoulder_pan_joint, .* finite'):
        prepare(replace(recording, positions=np.full_like(recording.positions, np.nan)), robot)
    with pytest.raises(RecordingError, match='constant positions of all joints'):
        prepare(replace(recording, positions=np.ones_like(recording.positions)), robot)
    with pytest.raises(RecordingError, match='at most 0.2 s without a gap; it needs 1 s'):
        prepare(_rows(recording, np.arange(20)), robot)
    with pytest.raises(RecordingError, match='no piece longer than'):
        prepare(_rows(recording, np.arange(150)), robot, Preparation(cutoff=2.0))
    with pytest.raises(RecordingError, match='at most 0 s without a gap; .* 7 samples'):
        prepare(_rows(recording, np.arange(5)), robot)
    with pytest.raises(RecordingError, match='at most 0 s without a gap; .* 7 samples'):
        prepare(recording, robot, Preparation(largest_gap=0.001))
    with pytest.raises(RecordingError, match='has 0 rows with finite numbers'):
        prepare(replace(recording, times=np.full_like(recording.times, np.nan)), robot)


def test_one_sample_that_the_filter_leaves_is_too_few(robot):
    recording, settings = recorded(robot), Preparation(cutoff=3.0 / 0.995, delay=0)
    left = prepare(_rows(recording, np.arange(202)), robot, settings).prepared
    assert len(left.times) == 2
    with pytest.raises(RecordingError, match='no piece longer than 2.01 s'):
        prepare(_rows(recording, np.arange(201)), robot, settings)


@pytest.mark.parametrize(('field', 'value'), [
    ('cutoff', 0.0), ('largest_gap', -1.0), ('largest_gap', np.nan), ('delay', inf),
    ('delay', np.nan)])
def test_settings_that_mean_nothing_are_refused(field, value):
    with pytest.raises(RecordingError, match=f'{field} is .*; it needs'):
        Preparation(**{field: value})


def _rows(recording, rows):
    return replace(
        recording, times=recording.times[rows], positions=recording.positions[rows],
        velocities=recording.velocities[rows], efforts=recording.efforts[rows])
