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
"""What the demo's identification has brought: figures, thresholds, files and the picture."""

from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
import json
from math import inf
import os
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from ros2_rnea.tools.demo.arm import arm_of
from ros2_rnea.tools.demo.figures import Recording
from ros2_rnea.tools.demo.identify.machine import machine_of
from ros2_rnea.tools.demo.identify.outcome import judge, MARGIN, Outcome, Push
from ros2_rnea.tools.demo.judge import NOT_JUDGED
from ros2_rnea.tools.models import MODELS

FORCE = np.array([3.0, 0.0, -4.0])
TIMES = np.arange(0.0, 2.5, 0.002)
TIMING = {
    'older_than_20_ms': 0, 'states_published': 3500, 'states_answered': 3500,
    'engine_20_ms_late': 0, 'engine_ticks': 7000}


def push(delay=0.0, factor=1.0, noise=0.01):
    """Return a push from 1 s to 2 s that is estimated late and wrongly."""
    acting = (TIMES >= 1.0 + delay) & (TIMES < 2.0)
    free = noise * np.cos(50.0 * TIMES)[:, None] * np.ones(3)
    return Push(FORCE, 1.0, 2.0, TIMES, free + factor * acting[:, None] * FORCE,
                TIMING)


class Identification:
    """As much of an identification as is shown."""

    joints = ('a', 'b')
    measured_rms = np.array([5.0, 2.0])
    urdf_rms = np.array([1.0, 0.5])
    identified_rms = np.array([0.1, 0.05])
    physically_consistent = True


@pytest.fixture(scope='module')
def outcome():
    arm = arm_of(MODELS['panda']())
    times = np.arange(0.0, 7.0, 0.002)
    errors = np.outer(np.sin(times), np.ones(7))
    return Outcome(arm, machine_of(arm), Recording(times, errors, TIMING),
                   Recording(times, errors / 25.0, TIMING), 0.1, push(), Identification())


def test_a_push_is_seen_once_its_estimate_leaves_the_noise():
    assert push().threshold == pytest.approx(MARGIN * 0.01 * np.sqrt(3.0), rel=1e-3)
    assert push(delay=0.012).seen_after == pytest.approx(0.012)
    assert push(factor=0.0).seen_after == inf
    assert push(delay=0.012, noise=10.0).seen_after == inf


def test_the_force_error_is_that_of_the_settled_estimate():
    assert push(delay=0.1).relative_error == pytest.approx(0.0, abs=1e-3)
    assert push(factor=0.8).relative_error == pytest.approx(0.2, abs=1e-3)
    assert replace(push(), end=1.1).relative_error == inf


@pytest.mark.parametrize(('changes', 'failed'), [
    ({}, []),
    ({'largest_step': 1e3}, ['largest step while the new model is blended in']),
    ({'push': push(delay=0.03)}, ['time until the push is seen']),
    ({'push': push(factor=0.85)}, ['error of the estimated force'])])
def test_each_threshold_counts(outcome, changes, failed):
    assert [check.name for check in judge(replace(outcome, **changes))
            if not check.passed] == failed


def test_the_error_has_to_be_ten_times_smaller(outcome):
    assert outcome.improvement == pytest.approx(25.0)
    worse = replace(outcome, after=Recording(
        outcome.after.times, outcome.before.errors / 9.0, TIMING))
    assert not judge(worse)[0].passed
    assert judge(replace(worse, rate=250.0))[0].limit == 5.0


@pytest.mark.parametrize(('late', 'code', 'verdict'), [
    ('', 0, 'passed'), ('before', 3, NOT_JUDGED), ('after', 3, NOT_JUDGED),
    ('push', 3, NOT_JUDGED)])
def test_files_and_exit_code_say_what_came_of_it(outcome, tmp_path, late, code, verdict):
    pytest.importorskip('rclpy')
    pytest.importorskip('ros2_rnea_interfaces')
    from ros2_rnea.tools.demo.__main__ import present_identification
    disturbed = {late: replace(
        getattr(outcome, late), timing={**TIMING, 'older_than_20_ms': 100})} if late else {}
    output = StringIO()
    assert present_identification(
        replace(outcome, **disturbed), tmp_path, Console(file=output, width=80)) == code
    figures = json.loads((tmp_path / 'identification.json').read_text())
    assert figures['verdict'] == verdict
    assert figures['arm_rms_deg']['description'] == pytest.approx(outcome.before.arm_rms)
    assert len(figures['checks']) == (4 if code == 0 else 0)
    assert (tmp_path / 'identification.png').stat().st_size > 20_000
    assert verdict in output.getvalue()


def test_the_picture_names_its_colours(outcome, tmp_path):
    picture = pytest.importorskip('ros2_rnea.tools.demo.identify.picture')
    picture.draw_identification(outcome, tmp_path / 'p.svg')
    text = (tmp_path / 'p.svg').read_text(encoding='utf-8')
    for name in ('the push', 'estimate of x', 'y', 'z', 'identified: RMS'):
        assert f'<!-- {name}' in text


@pytest.mark.parametrize('late, code', [(0, 0), (100, 3)])
def test_a_recording_of_too_slow_a_machine_is_not_identified(
        tmp_path, monkeypatch, capsys, late, code):
    pytest.importorskip('rclpy')
    pytest.importorskip('ros2_rnea_interfaces')
    from ros2_rnea.tools.demo import __main__ as demo
    from ros2_rnea.tools.demo.identify.play import _Session

    def record(*_):
        _Session.record(SimpleNamespace(
            _commander=SimpleNamespace(
                bag=lambda folder: nullcontext(),
                driver_report=lambda: {**TIMING, 'older_than_20_ms': late}),
            _stage=SimpleNamespace(settle=lambda: None, follow=lambda motion: None)),
            None, tmp_path)

    monkeypatch.setattr(demo, 'play_identification', record)
    monkeypatch.setattr(demo, 'present_identification', lambda *_: 0)
    monkeypatch.setattr(demo, 'rclpy', SimpleNamespace(
        init=lambda **_: None, try_shutdown=lambda: None))
    domain = os.environ['ROS_DOMAIN_ID']
    assert demo.main(['--identify', '--out', str(tmp_path), '--domain', domain]) == code
    assert (NOT_JUDGED in capsys.readouterr().out) == (code == 3)
