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
"""The thresholds of the demo: each passes at its limit and fails beyond it."""

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest

from ros2_rnea.tools.demo.commander import RateLimited
from ros2_rnea.tools.demo.figures import FULL_RATE, LimitedCommands, Stop
from ros2_rnea.tools.demo.judge import (
    Check,
    GENERAL,
    is_disturbed,
    judge,
    LIMITS,
    Limits,
    machine_too_slow,
)
from ros2_rnea.tools.demo.play import MAX_REPEATS, Repeats
from ros2_rnea.tools.demo.scenes import stop

WORST_JOINT = 'full feedforward: RMS of the worst joint'
AT_240_HZ = 'the same at 240 Hz'
OVER_PD = 'arm RMS: PD alone / full feedforward'
OVER_GRAVITY = 'arm RMS: PD + gravity / full feedforward'
MIN_IMPROVED = 'least improved joint over PD alone'
TIP_FORCE = 'error by a tip force: wrench unknown / known'
GRAVITY_SERVICE = 'gravity service against the engine'


PAYLOAD = 'error when 2 kg picked up: unknown / known'
DRIVER_BACK = 'driver dies: effort at last, off gravity'
NEW_START = 'driver dies: first effort to the new one'
DRIVER_SILENT = 'driver dies: efforts still sent for'
RATE_LIMITED = 'share of commands limited in rate'
STEP = 'largest step of an effort beyond its rate limit'


def failed(results, limits=LIMITS['panda']):
    """Return the names of the checks that fail."""
    return [check.name for check in judge(results, limits) if not check.passed]


def one_joint(value, others):
    """Return errors by joint, one of them another than the others."""
    return [others] * 3 + [value] + [others] * 3


def test_good_results_pass_every_check(make_results):
    assert failed(make_results()) == []


@pytest.mark.parametrize(('rate', 'passing', 'failing', 'name'), [
    (500.0, {'feedforward': one_joint(0.0499, 0.001)},
     {'feedforward': one_joint(0.0501, 0.001), 'pd': 9.0, 'gravity': 2.0}, WORST_JOINT),
    (125.0, {'feedforward': one_joint(0.199, 0.01)},
     {'feedforward': one_joint(0.201, 0.01), 'pd': 9.0, 'gravity': 2.0}, WORST_JOINT),
    (500.0, {'feedforward_240': one_joint(0.0499, 0.01)},
     {'feedforward_240': one_joint(0.0501, 0.01)}, AT_240_HZ),
    (250.0, {'feedforward_240': one_joint(0.0499, 0.01)},
     {'feedforward_240': one_joint(0.0501, 0.01)}, AT_240_HZ),
    (125.0, {'feedforward_240': one_joint(0.0959, 0.01)},
     {'feedforward_240': one_joint(0.0961, 0.01)}, AT_240_HZ),
    (500.0, {'pd': 0.501}, {'pd': 0.499}, OVER_PD),
    (125.0, {'pd': 0.126}, {'pd': 0.124}, OVER_PD),
    (500.0, {'gravity': 0.0801}, {'gravity': 0.0799}, OVER_GRAVITY),
    (125.0, {'gravity': 0.0201}, {'gravity': 0.0199}, OVER_GRAVITY),
    (500.0, {'pd': one_joint(0.101, 1.0)},
     {'pd': one_joint(0.101, 1.0), 'feedforward': one_joint(0.0102, 0.01)}, MIN_IMPROVED),
    (500.0, {'tip_force': 0.111, 'tip_force_wrench': 0.015},
     {'tip_force': 0.109, 'tip_force_wrench': 0.015}, TIP_FORCE),
    (500.0, {'gravity_errors': (0.0, 0.99e-6)}, {'gravity_errors': (0.0, 1.01e-6)},
     GRAVITY_SERVICE),
    (125.0, {'gravity_errors': (0.0, 0.99e-6)}, {'gravity_errors': (0.0, 1.01e-6)},
     GRAVITY_SERVICE),
])
def test_each_threshold_fails_alone_beyond_its_limit(make_results, rate, passing, failing, name):
    """Tracking errors grow with the time between joint states, and their thresholds do so."""
    assert failed(replace(make_results(**passing), rate=rate)) == []
    assert failed(replace(make_results(**failing), rate=rate)) == [name]


def test_feedforward_must_improve_at_every_rate():
    assert Limits(0.1, 50.0, 8.0, 2.0, 3.0, 4.0).at(125.0) == Limits(0.4, 12.5, 2.0, 1.0, 1.0, 1.0)
    assert GENERAL.at(FULL_RATE) == GENERAL
    assert GENERAL.at(2.0 * FULL_RATE) == GENERAL


def test_a_joint_that_hardly_errs_needs_no_improvement(make_results):
    assert failed(make_results(pd=one_joint(0.0999, 1.0), feedforward=one_joint(0.02, 0.01))) == []


def test_what_is_not_a_number_never_passes(make_results):
    phases = ('pd', 'gravity', 'feedforward', 'feedforward_240', 'tip_force', 'tip_force_wrench')
    results = make_results(
        gravity_errors=(nan,), rate_limited=nan, **dict.fromkeys(phases, nan))
    assert len(failed(results)) == len(judge(results, LIMITS['panda']))


@pytest.mark.parametrize(('value', 'at_least', 'passed'), [
    (5.0, True, True), (4.9, True, False), (5.1, True, True), (nan, True, False),
    (5.0, False, True), (4.9, False, True), (5.1, False, False), (nan, False, False)])
def test_the_limit_itself_passes(value, at_least, passed):
    assert Check('', value, 5.0, '', at_least).passed is passed


@pytest.mark.parametrize(('timing', 'slow'), [
    ({}, False),
    ({'states_published': 1000, 'older_than_20_ms': 10}, False),
    ({'states_published': 1000, 'older_than_20_ms': 11}, True),
    ({'engine_ticks': 1000, 'engine_20_ms_late': 10}, False),
    ({'engine_ticks': 1000, 'engine_20_ms_late': 11}, True),
])
def test_beyond_one_percent_too_late_it_is_the_machine(make_results, timing, slow):
    assert machine_too_slow(make_results(timing=timing)) is slow


@pytest.mark.parametrize(('late', 'slow', 'disturbed'), [
    (2, 0, False), (3, 0, True), (0, 2, False), (0, 3, True)])
def test_a_pause_in_one_scene_spoils_its_figures(make_episode, late, slow, disturbed):
    assert is_disturbed(timing(make_episode, late, slow)) is disturbed


def timing(make_episode, late=0, slow=0):
    return make_episode(
        states_published=1000, older_than_20_ms=late,
        engine_ticks=1000, engine_20_ms_late=slow).timing


@pytest.mark.parametrize(('late', 'played'), [
    ([0, 3], 1), ([3, 0, 3], 2), ([3, 3, 0], 3), ([3, 3, 3, 0], 1 + MAX_REPEATS)])
def test_what_a_pause_spoiled_is_repeated_and_finally_judged(make_episode, late, played):
    repeats, takes = Repeats(), iter(late)
    last = repeats.play('tilt', lambda: next(takes), lambda late: timing(make_episode, late))
    assert last == late[played - 1]
    assert repeats.titles == ['tilt'] * (played - 1)
    again = repeats.play('push', lambda: 3, lambda late: timing(make_episode, late))
    assert again == 3
    assert len(repeats.titles) == MAX_REPEATS  # of all scenes together


@pytest.fixture
def make_restart(make_episode):
    """Return a function that makes the scene of a driver that dies; it passes by default."""
    def make(silent=(2.1, 4.0), deviation=0.009, step=0.0, first=0.05):
        """Return one whose effort starts at `first`, is soon 1 and steps from there at last."""
        episode = make_episode(title='driver dies', silent=silent, step=0.0)
        times, sent = episode.log.sent_times, episode.log.sent
        sent[np.searchsorted(times, silent[1])] = first
        sent[times >= 5.0, 3] += step
        return replace(
            episode, right_effort=sent[-1] + deviation, new_start=silent[1])
    return make


@pytest.mark.parametrize(('payload', 'restart', 'names'), [
    ({'errors': (0.01, 1.0, 0.099)}, {}, []),
    ({'errors': (0.01, 1.0, 0.101)}, {}, [PAYLOAD]),
    ({'errors': (0.01, 1.0, nan)}, {}, [PAYLOAD]),
    ({}, {'deviation': 0.011}, [DRIVER_BACK]),
    ({}, {'silent': (2.26, 4.0)}, []),
    ({}, {'silent': (2.27, 4.0)}, [DRIVER_SILENT]),
    ({'step': 11.99}, {}, []),
    ({'step': 12.01}, {}, [STEP]),
    ({}, {'step': 12.01}, [STEP]),
    ({}, {'first': -0.09}, []),
    ({}, {'first': -0.11}, [NEW_START]),
    ({}, {'first': nan}, [NEW_START, STEP]),
])
def test_each_scene_is_judged_alone(
        make_results, make_episode, make_restart, payload, restart, names):
    results = make_results(phases=(), episodes={
        'payload': make_episode(**payload), 'restart': make_restart(**restart)})
    results = replace(results, arm=replace(results.arm, rate_limit=400.0))
    assert failed(results) == names
    assert len(judge(results, GENERAL)) == 6


@pytest.mark.parametrize(('period', 'step', 'names'), [
    (0.002, 0.99 * 400.0 * 0.006, []), (0.002, 1.01 * 400.0 * 0.006, [STEP]),
    (0.001, 1.01 * 400.0 * 0.003, [STEP]), (0.02, 0.99 * 400.0 * 0.06, []),
    (0.02, 1.01 * 400.0 * 0.06, [STEP])])
def test_a_step_may_cover_its_time_and_two_periods(
        make_results, make_episode, period, step, names):
    episode = make_episode(step=0.0)
    times = period * np.arange(len(episode.log.sent_times))
    sent = episode.log.sent.copy()
    sent[300:, 3] += step
    results = make_results(phases=(), episodes={
        'payload': replace(episode, log=episode.log._replace(sent_times=times, sent=sent))})
    results = replace(results, arm=replace(results.arm, rate_limit=400.0))
    assert failed(results) == names


def test_an_effort_may_change_within_its_rate_after_a_pause(make_results, make_episode):
    for step, names in ((0.5 * 400.0, []), (0.55 * 400.0, [STEP])):
        results = make_results(phases=(), episodes={
            'payload': make_episode(step=step, silent=(2.6, 3.1))})
        results = replace(results, arm=replace(results.arm, rate_limit=400.0))
        assert failed(results) == names


WAY = 'disabled in motion: way of joint2 until it rests'
REST = 'disabled in motion: time until the arm rests'
STILL_SENT = 'disabled in motion: efforts still sent for'
DRIFT = 'disabled in motion: drift afterwards of any joint'


@pytest.fixture
def make_stop(make_episode):
    """Return a function that makes the scene of a stop at 2 s, from 0.5 rad/s of a joint."""
    def make(way=0.1, lasts=0.5, drift=0.0, silent=(2.5, 6.0), step=0.0):
        episode = make_episode(title='disabled', step=step, silent=silent)
        times = np.arange(0.0, 6.0, 0.002)
        positions = np.zeros((len(times), 7))
        share = np.clip((times - 2.0) / lasts, 0.0, 1.0)
        positions[:, 1] = way * np.sin(0.5 * np.pi * share)  # which ends at rest
        positions[:, 4] = drift * np.clip((times - 3.0) / 3.0, 0.0, 1.0)
        log = episode.log._replace(times=times, positions=positions)
        velocities = np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
        accelerations = np.array([0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        return replace(episode, log=log, stop=Stop(2.0, 3.0, velocities, accelerations))
    return make


@pytest.mark.parametrize(('scene', 'names'), [
    ({}, []),
    ({'step': 1e3}, []),  # damping and feedback have no rate limit
    ({'way': 0.159}, []),
    ({'way': -0.161}, [WAY]),  # twice 0.1 s of 0.5 rad/s + 0.05 s of 4 rad/s^2, and 0.02 rad
    ({'lasts': 2.0}, [REST, DRIFT]),
    ({'silent': (2.99, 6.0)}, []),
    ({'silent': (3.02, 6.0)}, [STILL_SENT]),
    ({'drift': 0.0199}, []),
    ({'drift': -0.0201}, [DRIFT]),
])
def test_an_arm_disabled_in_motion_is_braked_and_held(make_results, make_stop, scene, names):
    results = make_results(phases=(), episodes={'disable': make_stop(**scene)})
    assert failed(results) == names
    assert len(judge(results, GENERAL)) == 5


def test_a_stop_without_a_recording_does_not_pass(make_results, make_stop):
    episode = make_stop()
    log = episode.log._replace(times=np.zeros(0), positions=np.zeros((0, 7)))
    results = make_results(phases=(), episodes={'disable': replace(episode, log=log)})
    assert set(failed(results)) >= {REST, DRIFT}


@pytest.mark.parametrize(('limited', 'names'), [
    (50, []), (51, [RATE_LIMITED]), (nan, [RATE_LIMITED])])
def test_commands_that_the_rate_limit_holds_back_are_counted(make_results, limited, names):
    assert failed(make_results(rate_limited=limited)) == names


def test_a_node_that_sent_nothing_does_not_pass(make_results):
    results = replace(make_results(), rate_limited=LimitedCommands(0, 0))
    assert failed(results) == [RATE_LIMITED]


@pytest.mark.parametrize(('limited', 'names'), [(80, []), (81, [RATE_LIMITED])])
def test_commands_that_the_motion_needs_limited_are_allowed_besides(
        make_results, make_episode, limited, names):
    aborted = replace(make_episode(title='goal aborted', step=0.0), limited_commands=30)
    assert failed(make_results(rate_limited=limited, episodes={'stop': aborted})) == names


def test_a_lower_rate_limits_more_commands_of_an_abort(arm):
    motion = arm.motion(stop.DURATION)
    moment = motion.at([stop.STOPS])
    (position,), (velocity,), _ = moment
    place = position + 0.5 * stop.BRAKING * velocity

    def limited(rate):
        return stop.limited_commands(replace(arm, rate_limit=rate), moment, place)

    # The highest rate is that of the effort limits, with which only the first step takes longer.
    assert limited(1e9) < limited(2.0 * arm.rate_limit) < limited(arm.rate_limit)
    assert limited(arm.rate_limit) < 2.0 * stop.BRAKING * FULL_RATE


def test_other_arms_need_no_absolute_figure_and_smaller_ratios(make_results):
    results = make_results(feedforward=0.06, feedforward_240=0.06, tip_force=1.0,
                           tip_force_wrench=0.1)
    assert failed(results) == [WORST_JOINT, AT_240_HZ, OVER_PD, OVER_GRAVITY]
    assert failed(results, GENERAL) == [OVER_GRAVITY]
    assert not {WORST_JOINT, AT_240_HZ} & {check.name for check in judge(results, GENERAL)}


def test_commands_of_several_nodes_are_summed_up():
    counts = RateLimited()
    assert isnan(counts.total.share)
    for limited, commands in ((0, 100), (3, 1000), (1, 500), (2, 1000)):
        counts.update({
            'commands': f'{commands}', 'commands limited in rate': f'{limited} (0.30%)'})
    counts.update({'state': 'of another node'})
    assert counts.total == (5, 2000)
    assert counts.total.share == 5 / 2000
