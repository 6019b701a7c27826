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
"""From what a force-torque sensor shows to the wrench that counts, step by step."""

from __future__ import annotations

from math import exp, inf, nan

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.inputs.wrenches import ExternalWrenches
from ros2_rnea.control.settings import ExertedBy, WrenchSettings
from ros2_rnea.errors import MessageError, RneaError
from small_robots import joint, link, robot

# The sensor sits where the tool is fixed to the wrist, and tells of all beyond.
MASS, CENTER = 2.5, (0.1, 0.02, -0.2)
TEXT = robot(
    link('base'), link('arm'), link('wrist'), link('tool', MASS, '0.1 0.02 -0.2'),
    joint('turn', 'base', 'arm', axis='1 0 0'), joint('bend', 'arm', 'wrist'),
    joint('sensor', 'wrist', 'tool', kind='fixed'))
ARM = Robot.from_urdf(TEXT, lump_fixed_joints=False)
TREE = Robot.from_urdf(TEXT).tree
GRAVITY = np.array([0.5, 1.0, -9.81])
POSTURES = [(0.0, 0.0), (0.7, -1.1), (3.0, 2.0)]
TOOL = {'tool_mass': MASS, 'tool_center': CENTER}

TIMEOUT = 0.1
NOW = 50.0
PUSH = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])
REST = [0.0, 0.0]

pytestmark = pytest.mark.filterwarnings('error')


def conditioned(sign=1.0, after=None, **how):
    """Return wrenches with these settings, which continue after others."""
    exerted_by = ExertedBy.ROBOT if sign < 0.0 else ExertedBy.ENVIRONMENT
    return ExternalWrenches(
        TREE, WrenchSettings(TIMEOUT, exerted_by=exerted_by, **how), after and after.memory)


def pushed(**how):
    """Return wrenches that have received a push just now."""
    wrenches = conditioned(**how)
    wrenches.update('tool', PUSH, NOW)
    return wrenches


def shown(posture, push=0.0 * PUSH, sign=1.0):
    """Return what the sensor shows: what the wrist and the tool do to each other."""
    by_robot = ARM.joint_wrenches(posture, REST, REST, {'tool': push}, GRAVITY)['sensor']
    return -sign * by_robot


def felt(posture):
    """Return the free fall in the tool's axes."""
    return ARM.link_rotation(posture, 'tool').T @ GRAVITY


def counts(wrenches, now=NOW):
    return wrenches.active(now)['tool']


def held(wrenches, wrench, seconds=30.0):
    """Let the sensor show a wrench for so long until NOW, so that its filter does too."""
    for age in reversed(range(round(20.0 * seconds))):
        wrenches.update('tool', wrench, NOW - 0.05 * age)


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, atol=1e-12)


# ---- the tool ---------------------------------------------------------------------------------


@pytest.mark.parametrize('posture', POSTURES)
@pytest.mark.parametrize('push', [0.0 * PUSH, PUSH])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_beside_the_tool_s_weight_what_touches_it_is_left(posture, push, sign):
    wrenches = conditioned(sign, **TOOL)
    wrenches.update('tool', shown(posture, push, sign), NOW, felt(posture))
    near(counts(wrenches), push)


@pytest.mark.parametrize('posture', POSTURES)
def test_an_unknown_tool_is_a_load_like_any_other(posture):
    """So a robot whose description lacks the tool gets the efforts of one that has it."""
    wrenches = conditioned()
    wrenches.update('tool', shown(posture), NOW)
    bare = Robot.from_urdf(TEXT.replace(f'mass value="{MASS}"', 'mass value="1e-12"'))
    efforts = bare.inverse_dynamics(posture, REST, REST, wrenches.on_bodies(NOW), GRAVITY)
    np.testing.assert_allclose(efforts, ARM.gravity(posture, GRAVITY), rtol=1e-9)


def test_the_free_fall_may_be_any_three_numbers():
    wrenches = conditioned(**TOOL)
    wrenches.update('tool', [0.0] * 6, NOW, (0, 0, -10))
    near(counts(wrenches), [0.5, -2.5, 0.0, 0.0, 0.0, 25.0])


@pytest.mark.parametrize('free_fall, message', [
    (None, "'tool' contains the weight of a tool of 2.5 kg, and the direction of gravity in that"),
    ((nan, 0.0, 0.0), "frame 'tool' without the weight of a tool of 2.5 kg.*nan"),
    ((0.0, -inf, 0.0), 'which falls with .*-inf.*6 finite numbers'),
    ((-1e308, 0.0, 1e308), 'which falls with .*1e.308.*nan'),
    ((0.0, 1e300, 1e308), 'which falls with .*1e.308.*below 1e.09'),
])
def test_a_wrench_whose_tool_cannot_be_told_is_refused(free_fall, message):
    wrenches = conditioned(tool_mass=np.float64(MASS), tool_center=np.array(CENTER))
    wrenches.update('tool', shown(REST, PUSH), NOW, felt(REST))
    with pytest.raises(MessageError, match=message):
        wrenches.update('tool', PUSH, NOW, None if free_fall is None else np.array(free_fall))
    near(counts(wrenches), PUSH)


@pytest.mark.parametrize('value', [
    nan, inf, -inf, 1e9, -1e9, 1e160, 1.7e308])
@pytest.mark.parametrize('how', [{}, {**TOOL, 'time_constant': 1.0, 'force_deadband': 1.0}])
def test_what_no_sensor_can_mean_is_refused(value, how):
    wrenches = conditioned(**how)
    with pytest.raises(MessageError, match="in frame 'tool' is .*6 finite numbers.*below 1e.09"):
        wrenches.update('tool', [0.0, 0.0, value, 0.0, 0.0, 0.0], NOW, felt(REST))
    assert wrenches.active(NOW) == {}
    assert wrenches.stale(NOW) == ()


# ---- zero -------------------------------------------------------------------------------------


def test_what_was_there_at_zero_counts_no_more():
    wrenches = pushed()
    assert wrenches.zero(NOW) == ('tool',)
    near(counts(wrenches), 0.0 * PUSH)
    wrenches.update('tool', 3.0 * PUSH, NOW)
    near(counts(wrenches), 2.0 * PUSH)
    wrenches.zero(NOW)
    wrenches.update('tool', 3.0 * PUSH, NOW)
    near(counts(wrenches), 0.0 * PUSH)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_bias_found_in_one_posture_holds_in_another(sign):
    wrenches, bias = conditioned(sign, **TOOL), 0.5 * PUSH[::-1]
    wrenches.update('tool', bias + shown(POSTURES[1], sign=sign), NOW, felt(POSTURES[1]))
    wrenches.zero(NOW)
    wrenches.update('tool', bias + shown(POSTURES[2], PUSH, sign), NOW, felt(POSTURES[2]))
    near(counts(wrenches), PUSH)


def test_the_bias_is_what_the_filter_says():
    """One noisy reading would make a bias of its noise."""
    wrenches = conditioned(time_constant=1.0)
    held(wrenches, PUSH)
    wrenches.update('tool', 9.0 * PUSH, NOW + 1e-9)
    wrenches.zero(NOW + 1e-9)
    near(counts(wrenches, NOW + 1e-9), 0.0 * PUSH)
    wrenches.update('tool', 2.0 * PUSH, NOW + 0.1)
    np.testing.assert_allclose(
        counts(wrenches, NOW + 0.1), (1.0 - exp(-0.1)) * PUSH, rtol=1e-7)


def test_what_the_deadband_hides_is_bias_too():
    wrenches = pushed(force_deadband=100.0, moment_deadband=100.0)
    wrenches.zero(NOW)
    plain = pushed(after=wrenches)
    near(counts(plain), 0.0 * PUSH)


def test_only_fresh_frames_are_set_to_zero():
    wrenches = conditioned(frames=('tool', 'wrist'))
    wrenches.update('wrist', PUSH, NOW)
    wrenches.update('tool', PUSH, NOW + 0.2)
    assert wrenches.zero(NOW + 0.2) == ('tool',)
    wrenches.update('wrist', PUSH, NOW + 0.2)
    near(wrenches.active(NOW + 0.2)['wrist'], PUSH)


@pytest.mark.parametrize('came, message', [
    (None, 'no wrench can be set to zero: none was received within the last 0.1 s$'),
    (NOW - 0.2, 'none was received within the last 0.1 s; the newest one in tool is older$'),
    (NOW + 1.0, 'the newest one in tool is older'),
])
def test_without_a_fresh_wrench_nothing_is_set_to_zero(came, message):
    wrenches = conditioned()
    if came is not None:
        wrenches.update('tool', PUSH, came)
    with pytest.raises(RneaError, match=message):
        wrenches.zero(NOW)
    wrenches.update('tool', PUSH, NOW)
    near(counts(wrenches), PUSH)


def test_only_the_bias_of_a_forgotten_wrench_counts_again():
    wrenches = pushed()
    wrenches.zero(NOW)
    wrenches.update('tool', 3.0 * PUSH, NOW)
    wrenches.forget()
    for now in (1.0, NOW, NOW + 0.05, NOW + 9.0):
        assert not wrenches.active(now)
    wrenches.update('tool', 3.0 * PUSH, 1.0)
    near(counts(wrenches, 1.0), 2.0 * PUSH)


# ---- low-pass and deadbands -------------------------------------------------------------------


@pytest.mark.parametrize('gap, share', [
    (0.05, 1.0 - exp(-0.25)), (0.09, 1.0 - exp(-0.45)), (0.5, 1.0 - exp(-0.5)), (-1.0, 0.0)])
def test_a_wrench_comes_through_the_low_pass(gap, share):
    wrenches = conditioned(time_constant=0.2)
    wrenches.update('tool', 0.0 * PUSH, NOW)
    wrenches.update('tool', PUSH, NOW + gap)
    near(counts(wrenches, NOW + gap), share * PUSH)


@pytest.mark.parametrize('age', [0.05, 0.1, 0.15, 0.25, 0.3, 9.0])
def test_the_low_pass_goes_on_from_what_has_not_faded(age):
    wrenches = conditioned(time_constant=0.2, fade_time=0.2)
    held(wrenches, PUSH)
    before = wrenches.active(NOW + age).get('tool', 0.0 * PUSH)
    wrenches.update('tool', 0.0 * PUSH, NOW + age)
    near(counts(wrenches, NOW + age), exp(-5.0 * min(age, TIMEOUT)) * before)


def test_each_frame_has_a_filter_of_its_own():
    wrenches = conditioned(time_constant=0.2, frames=('tool', 'wrist'))
    for now in (NOW, NOW + 0.05):
        wrenches.update('tool', PUSH, now)
    wrenches.update('wrist', -PUSH, NOW + 0.05)
    active = wrenches.active(NOW + 0.05)
    near(active['wrist'], 0.0 * PUSH)
    near(active['tool'], (1.0 - exp(-0.25)) * PUSH)


@pytest.mark.parametrize('how, moment, force', [
    ({}, 1.0, 1.0),
    ({'force_deadband': 2.0}, 1.0, 0.6),
    ({'force_deadband': 5.0}, 1.0, 0.0),
    ({'force_deadband': 9.0}, 1.0, 0.0),
    ({'moment_deadband': 7.5}, 0.25, 1.0),
    ({'moment_deadband': 10.0, 'force_deadband': 1.0}, 0.0, 0.8),
    ({'moment_deadband': inf, 'force_deadband': inf}, 0.0, 0.0),
])
def test_of_moment_and_force_what_exceeds_the_deadband_counts(how, moment, force):
    push = np.array([0.0, 6.0, 8.0, -3.0, 0.0, 4.0])
    wrenches = conditioned(**how)
    wrenches.update('tool', push, NOW)
    near(counts(wrenches), push * np.repeat([moment, force], 3))


def test_the_deadband_makes_no_step():
    wrenches, sizes = conditioned(force_deadband=2.0), np.linspace(0.0, 4.0, 401)
    forces = []
    for size in sizes:
        wrenches.update('tool', size * np.array([0.0, 0.0, 0.0, 0.6, 0.0, 0.8]), NOW)
        forces.append(np.linalg.norm(counts(wrenches)))
    assert np.abs(np.diff(forces)).max() == pytest.approx(sizes[1])


def test_the_deadband_does_not_shake_the_filter():
    """What is filtered is the wrench, not what is left of it."""
    wrenches = conditioned(time_constant=0.2, force_deadband=1.0)
    held(wrenches, [0.0, 0.0, 0.0, 4.0, 0.0, 0.0])
    near(counts(wrenches), [0.0, 0.0, 0.0, 3.0, 0.0, 0.0])


def test_wrenches_of_any_allowed_size_add_up_without_warning():
    frames = ('arm', 'wrist', 'tool')
    wrenches = conditioned(time_constant=0.001, force_deadband=1.0, frames=frames)
    for step, sign in enumerate((1.0, -1.0, 1.0)):
        for frame in frames:
            wrenches.update(frame, sign * np.full(6, 4e8), NOW + 0.01 * step)
        now = NOW + 0.01 * step + 0.008
        for frame in frames:
            wrenches.update(frame, sign * np.full(6, 4e8), now)
        wrenches.zero(now)
        for frame in frames:
            wrenches.update(frame, -sign * np.full(6, 4e8), now + 0.001)
        assert 1e8 < np.abs(wrenches.on_bodies(now + 0.001)).max() < 1e10


def test_an_unsettled_filter_is_not_set_to_zero():
    """The first sample has no weight, so that the bias would be that of nothing."""
    wrenches = conditioned(time_constant=0.05)
    for step in range(71):
        now = NOW + 0.005 * step
        wrenches.update('tool', PUSH, now)
        if step < 70:
            with pytest.raises(RneaError, match="'tool' cannot be set to zero yet.* 0.35 s"):
                wrenches.zero(now)
    assert wrenches.zero(now) == ('tool',)
    for step in range(200):
        wrenches.update('tool', PUSH, now + 0.005 * step)
        assert np.abs(counts(wrenches, now + 0.005 * step)).max() < 1e-3 * np.abs(PUSH).max()


def test_after_a_silence_the_filter_has_to_settle_again():
    wrenches = conditioned(time_constant=0.01)
    held(wrenches, PUSH)
    assert wrenches.zero(NOW) == ('tool',)
    wrenches.update('tool', -PUSH, NOW + 9.0)
    with pytest.raises(RneaError, match='received for 0.000 s'):
        wrenches.zero(NOW + 9.0)


@pytest.mark.parametrize('change, is_lost', [
    ({'tool_mass': 0.001}, True), ({'gain': 0.7}, False), ({}, False)])
def test_a_bias_lost_with_another_tool_is_named(change, is_lost):
    older = pushed()
    older.zero(NOW)
    newer = conditioned(**change, after=older)
    assert newer.lost_biases == ({'tool'} if is_lost else set())
    another = conditioned(**change, after=newer)
    assert another.lost_biases == newer.lost_biases
    another.update('tool', PUSH, NOW, GRAVITY)
    another.zero(NOW)
    assert not another.lost_biases


# ---- successors -------------------------------------------------------------------------------


@pytest.mark.parametrize('signs', [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
def test_a_successor_goes_on_by_its_own_sign(signs):
    older = conditioned(signs[0], time_constant=0.2)
    held(older, 7.0 * PUSH)
    older.zero(NOW)
    older.update('tool', 8.0 * PUSH, NOW + 0.05)
    near(counts(older, NOW + 0.05), signs[0] * (1.0 - exp(-0.25)) * PUSH)
    newer = conditioned(signs[1], time_constant=0.2, after=older)
    near(counts(newer, NOW + 0.05), signs[1] * (1.0 - exp(-0.25)) * PUSH)
    newer.update('tool', 8.0 * PUSH, NOW + 0.1)
    near(counts(newer, NOW + 0.1), signs[1] * (1.0 - exp(-0.5)) * PUSH)
    newer.zero(NOW + 0.1)
    newer.update('tool', 9.0 * PUSH, NOW + 0.15)
    near(counts(newer, NOW + 0.15),
         signs[1] * (1.0 - exp(-0.25)) * (1.0 + exp(-0.5)) * PUSH)


def test_a_successor_has_its_own_deadband():
    older = pushed(force_deadband=100.0)
    newer = conditioned(moment_deadband=100.0, after=older)
    near(counts(newer), [0.0, 0.0, 0.0, *PUSH[3:]])


@pytest.mark.parametrize('before, after, kept', [
    ({}, {}, True),
    (TOOL, TOOL, True),
    (TOOL, {'tool_mass': MASS, 'tool_center': np.array(CENTER)}, True),
    ({'tool_center': CENTER}, {}, True),  # of nothing
    ({}, TOOL, False),
    (TOOL, {}, False),
    (TOOL, {**TOOL, 'tool_mass': 2.0}, False),
    (TOOL, {**TOOL, 'tool_center': (0.0, 0.0, 0.0)}, False),
    (TOOL, {**TOOL, 'sign': -1.0}, False),
])
def test_what_lacks_another_tool_is_not_taken_over(before, after, kept):
    older = conditioned(**before)
    older.update('tool', PUSH, NOW, (0.0, 0.0, 0.0))
    older.zero(NOW)
    newer = conditioned(**after, after=older)
    assert list(newer.active(NOW)) == ['tool'] * kept
    newer.update('tool', 2.0 * PUSH, NOW, (0.0, 0.0, 0.0))
    near(counts(newer), (2.0 - kept) * after.get('sign', 1.0) * PUSH)


# ---- limits before the filter -----------------------------------------------------------------

STEP, T = 0.001, 0.05


def streamed(wrenches, wrench, count, began):
    """Let the sensor show a wrench in so many messages, and return the time of the last."""
    for k in range(count):
        wrenches.update('tool', wrench, began + STEP * k)
    return began + STEP * (count - 1)


@pytest.mark.parametrize('direction', [
    (0.0, 0.0, 0.0, 1e6, 0.0, 0.0), (1e6, 0.0, 0.0, 0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0, 0.0, -1e6, 0.0), (0.0, 1e6, 0.0, 0.0, 0.0, 1e8)])
@pytest.mark.parametrize('gain', [0.5, 1.0])
def test_one_sample_counts_by_its_share_of_the_limit(direction, gain):
    wrenches = conditioned(time_constant=T, gain=gain, force_limit=50.0, moment_limit=10.0)
    now = streamed(wrenches, 0.0 * PUSH, 100, NOW)
    wrenches.update('tool', direction, now + STEP)
    wrench = counts(wrenches, now + STEP)
    assert 0.0 < np.linalg.norm(wrench)
    assert np.linalg.norm(wrench[3:]) <= 50.0 * STEP / T
    assert np.linalg.norm(wrench[:3]) <= 10.0 * STEP / T
    np.testing.assert_allclose(  # one factor for force and moment
        wrench * np.abs(direction).max(), np.array(direction) * np.abs(wrench).max(), atol=1e-9)
    assert wrenches.limited == ('tool',)


def test_a_wrench_beyond_the_limit_is_compensated_up_to_it():
    wrenches = conditioned(
        time_constant=T, gain=0.5, force_limit=50.0, moment_limit=10.0, force_deadband=5.0)
    now = streamed(wrenches, [0.0, 0.0, 0.0, 300.0, 0.0, 400.0], 2000, NOW)
    np.testing.assert_allclose(
        counts(wrenches, now), [0.0, 0.0, 0.0, 30.0, 0.0, 40.0], rtol=1e-6)


@pytest.mark.parametrize('how', [
    {'gain': 0.0, 'force_limit': 50.0}, {'force_limit': 0.0, 'moment_limit': 0.0}])
def test_without_gain_or_limit_nothing_is_compensated(how):
    wrenches = conditioned(time_constant=T, **how)
    now = streamed(wrenches, 1e3 * PUSH, 100, NOW)
    near(counts(wrenches, now), 0.0 * PUSH)


def test_an_offset_beyond_the_limits_is_zeroed_after_settling():
    wrenches = conditioned(time_constant=T, gain=0.5, force_limit=50.0, moment_limit=10.0)
    offset = np.array([0.0, 0.0, 90.0, 0.0, 300.0, 0.0])
    now = streamed(wrenches, offset, 360, NOW)  # seven time constants
    with pytest.raises(RneaError, match='without a gap or a jump'):
        wrenches.zero(now)
    now = streamed(wrenches, offset, 2000, now + STEP)
    assert wrenches.zero(now) == ('tool',)
    now = streamed(wrenches, offset + PUSH, 2000, now + STEP)
    np.testing.assert_allclose(counts(wrenches, now), 0.5 * PUSH, rtol=1e-3)


def test_without_a_filter_any_offset_is_zeroed_at_once():
    wrenches = conditioned(force_limit=5.0, moment_limit=1.0)
    wrenches.update('tool', 9.0 * PUSH, NOW)
    wrenches.zero(NOW)
    wrenches.update('tool', 9.1 * PUSH, NOW)
    near(counts(wrenches), 0.1 * PUSH)


def test_one_wrong_sample_makes_no_wrong_bias():
    wrenches = conditioned(time_constant=T, gain=0.5, force_limit=50.0, moment_limit=10.0)
    now = streamed(wrenches, PUSH, 1000, NOW)
    wrenches.update('tool', [0.0, 0.0, 0.0, 0.0, 0.0, 1e6], now + STEP)
    with pytest.raises(RneaError, match='for 0.000 s without a gap or a jump'):
        wrenches.zero(now + STEP)
    now = streamed(wrenches, PUSH, 360, now + 2.0 * STEP)
    wrenches.zero(now)
    now = streamed(wrenches, PUSH, 360, now + STEP)
    assert np.abs(counts(wrenches, now)).max() < 50.0 * 2e-3 * STEP / T
