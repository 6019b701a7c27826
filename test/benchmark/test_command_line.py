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
"""The command, from arguments to files, on a robot that takes no time."""

from __future__ import annotations

import json
from pathlib import Path
import subprocess
import sys

from benchmark.disturbance import Disturbance
from benchmark.peers import OURS, PINOCCHIO, TAPE, TEXTBOOK
import pytest
from repository import ROOT
from small_robots import ARM

pytest.importorskip('rich', reason='rich is not installed')
pytest.importorskip('matplotlib', reason='matplotlib is not installed')
from benchmark.__main__ import main  # noqa: E402, I100 (needs both)


@pytest.mark.slow
def test_measures_a_robot_of_ones_own(tmp_path: Path):
    pytest.importorskip('pinocchio', reason='pinocchio is not installed')
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(ARM)
    result = subprocess.run(
        [sys.executable, '-m', 'benchmark', '--quick', '--urdf', str(urdf), '--quantities',
         'inverse_dynamics,startup', '--output', str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert 'ros2_rnea' in result.stdout and 'Pinocchio' in result.stdout
    content = json.loads((tmp_path / 'benchmark.json').read_text())
    timed = {r['peer'] for r in content['results'] if r['nanoseconds']}
    assert {'ros2_rnea', 'Pinocchio'} <= timed
    assert {'others', 'load_before', 'spread', 'reasons'} <= content['disturbance'].keys()
    assert 'load before the run' in ' '.join(result.stdout.split())
    assert {s['cache'] for s in content['startup']} >= {'cold', 'cached'}
    assert {s['peer'] for s in content['startup']} == {OURS, TAPE, TEXTBOOK, PINOCCHIO}


@pytest.mark.slow
@pytest.mark.parametrize('others, is_busy', [(0.01, False), (1.5, True)])
def test_busy_machine_is_said(capsys, monkeypatch, tmp_path, others, is_busy):
    pytest.importorskip('pinocchio', reason='pinocchio is not installed')

    class Watch:

        def disturbance(self, spread):
            return Disturbance(cores=2, load_before=0.1, others=others, spread=0.02)

    monkeypatch.setattr('benchmark.__main__.Watch', Watch)
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(ARM)
    assert main(['--quick', '--urdf', str(urdf), '--quantities', 'gravity',
                 '--output', str(tmp_path)]) == 0
    text = ' '.join(capsys.readouterr().out.split())
    assert f'other processes used {others:.2f} processors' in text
    assert ('The machine was busy, so the figures are not compared' in text) is is_busy


@pytest.mark.parametrize('arguments, words', [
    (['--robots', 'pandda'], "there is no robot 'pandda'"),
    (['--quantities', 'speed'], "there is no quantity 'speed'"),
    (['--floating'], 'there is none'),
    (['--urdf', '/does/not/exist'], '/does/not/exist cannot be read'),
])
def test_what_cannot_be_measured_is_said(capsys, arguments, words):
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
