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
"""What the demo shows and writes."""

from io import StringIO
import json

from matplotlib.figure import Figure
import numpy as np
import pytest
from rich.console import Console

from ros2_rnea.tools.demo.experiment import PHASES
from ros2_rnea.tools.demo.judge import judge, LIMITS
from ros2_rnea.tools.demo.picture import draw, LABEL_HEIGHT, spread
from ros2_rnea.tools.demo.report import show, summary, write_summary


@pytest.fixture
def text_of():
    """Return a function that gives the lines that a terminal of 80 columns shows."""
    def render(results, checks):
        console = Console(width=80, file=StringIO())
        show(results, checks, console)
        return console.file.getvalue().splitlines()
    return render


def test_the_tables_fit_80_columns_with_nothing_cut(make_results, text_of):
    results = make_results(pd=12.3456, feedforward=0.00012)
    lines = text_of(results, judge(results, LIMITS['panda']))
    assert max(map(len, lines)) <= 80
    assert not any('…' in line for line in lines)
    for phase in PHASES:
        assert sum(line.startswith(phase.title) for line in lines) >= 3
    assert any('12.35' in line for line in lines)
    assert any('0.0001' in line for line in lines)


def test_a_failed_threshold_is_shown_as_failed(make_results, text_of):
    results = make_results(gravity_errors=(1.0,))
    lines = text_of(results, judge(results, LIMITS['panda']))
    assert [line.split()[:2] for line in lines if 'FAILED' in line] == [['gravity', 'service']]


def test_a_phase_without_commands_has_no_latency(make_results, text_of):
    results = make_results(timing={'states_answered': 0, 'latency_median_ms': None})
    line = next(line for line in text_of(results, []) if line.split()[-5:] == ['-'] * 5)
    assert line.startswith('PD alone')


def test_without_checks_there_are_no_thresholds(make_results, text_of):
    assert not any('Thresholds' in line for line in text_of(make_results(), []))


def test_the_summary_has_the_figures_of_the_tables(make_results, tmp_path):
    results = make_results()
    checks = judge(results, LIMITS['panda'])
    path = tmp_path / 'summary.json'
    write_summary(path, summary(results, checks, 'passed'))
    read = json.loads(path.read_text())
    assert read['verdict'] == 'passed'
    assert list(read['phases']) == [phase.key for phase in PHASES]
    assert read['phases']['pd']['rms_deg']['joint4'] == pytest.approx(1.0)
    assert read['phases']['pd']['timing']['states_lost'] == 1
    assert read['phases']['feedforward_240']['rate_hz'] == 240.0
    assert read['gravity_service_errors_nm'] == [1e-12, 2e-12]
    assert [check['passed'] for check in read['checks']] == [True] * len(checks)


@pytest.mark.parametrize(('name', 'beginning'), [
    ('tracking.png', b'\x89PNG'), ('tracking.svg', b'<?xml')])
def test_the_picture_is_drawn(make_results, tmp_path, name, beginning):
    path = tmp_path / name
    draw(make_results(), path)
    content = path.read_bytes()
    assert content.startswith(beginning)
    if name.endswith('.png'):
        assert int.from_bytes(content[16:20], 'big') == 1600


@pytest.fixture
def episodes(make_episode):
    """Return two scenes, in one of which the driver is dead for a while."""
    return {'payload': make_episode(),
            'restart': make_episode(title='driver dies', silent=(2.1, 4.0))}


def test_every_section_line_has_error_and_largest_step(make_results, episodes, text_of):
    results = make_results(phases=(), episodes=episodes)
    lines = text_of(results, judge(results, LIMITS['panda']))
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if line.endswith(' Nm')]
    assert rows[:3] == ['2 kg picked up before 0.0265 deg 0.00 Nm'.split(),
                        'unknown 2.6458 deg 1.00 Nm'.split(),
                        'known 0.0529 deg 0.00 Nm'.split()]
    assert rows[4] == 'unknown - 0.00 Nm'.split()
    assert not any('RMS error in degrees' in line for line in lines)


def test_the_summary_has_the_sections(make_results, episodes):
    figures = summary(make_results(phases=(), episodes=episodes), [], 'passed')
    sections = figures['scenes']['restart']['sections']
    assert [section['title'] for section in sections] == ['before', 'unknown', 'known']
    assert sections[1]['arm_rms_deg'] is None
    assert [section['largest_step_nm'] for section in sections] == [0.0, 0.0, 1.0]
    assert figures['phases'] == {}


def test_of_many_joints_the_table_shows_those_that_err_most(
        make_results, text_of, monkeypatch):
    monkeypatch.setattr('ros2_rnea.tools.demo.report.MAX_JOINTS', 5)
    lines = text_of(make_results(pd=[4.0, 5.0, 1.0, 3.0, 7.0, 1.0, 6.0]), [])
    title = lines.index(next(line for line in lines if 'the 5 with the largest errors' in line))
    assert lines[title + 1].split() == ['1', '2', '4', '5', '7', 'arm']


@pytest.mark.parametrize('heights', [
    (1e-6, 1.0, 1e9), (1.0, 1.0, 1.0), (1e-3, 1.1e-3, 1.2e-3), (19.0, 19.5, 19.9)])
def test_labels_of_curves_are_inside_and_do_not_overlap(heights):
    axes = Figure().subplots()
    axes.set_yscale('log')
    axes.set_ylim(1e-3, 20.0)
    labels = [axes.text(0.5, height, 'a curve') for height in heights]
    spread(axes, labels)
    shares = sorted((axes.transScale + axes.transLimits).transform(label.get_position())[1]
                    for label in labels)
    assert shares[0] >= 0.05 and shares[-1] <= 0.951
    assert np.diff(shares).min() >= LABEL_HEIGHT - 1e-9


@pytest.mark.parametrize(('limit', 'drawn'), [(0.05, True), (float('inf'), False)])
def test_the_picture_shows_a_limit_only_where_there_is_one(
        make_results, tmp_path, limit, drawn):
    path = tmp_path / 'tracking.svg'
    draw(make_results(), path, limit)
    assert ('<!-- limit 0.05° -->' in path.read_text()) is drawn
