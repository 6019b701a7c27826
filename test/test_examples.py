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
"""Every example runs as people run it, and prints what it promises."""

from __future__ import annotations

import os
from pathlib import Path
import re
import runpy
import subprocess
import sys

import numpy as np
from patience import PATIENCE
import pytest
from repository import ROOT
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint

README = (ROOT / 'README.md').read_text(encoding='utf-8')
EXAMPLES = sorted((ROOT / 'examples').glob('*.py'))


def output(name: str) -> str:
    """Return what an example prints, run as a program of its own."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get('PYTHONPATH')]))
    result = subprocess.run(
        [sys.executable, str(ROOT / 'examples' / name)], env={**os.environ, 'PYTHONPATH': path},
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def number_after(words: str, text: str) -> float:
    found = re.search(re.escape(words) + r'\s*([-+.\de]+)', text)
    assert found is not None, f'{words!r} is not in:\n{text}'
    return float(found.group(1))


def test_gravity_of_my_arm():
    text = output('gravity_of_my_arm.py')
    # As MuJoCo has them, of the same URDF in the same pose.
    for joint, effort in {'joint1': 0.0, 'joint2': -3.91, 'joint4': 21.88, 'joint6': 2.25}.items():
        assert number_after(joint, text) == pytest.approx(effort, abs=0.006)


def test_action_chunk():
    lines = output('action_chunk.py').splitlines()
    assert lines[-1] == '16 points, at rest after 0.8 s'
    # Gravity where it is largest, and a little more.  At the points alone, it would be 22.66 Nm.
    assert number_after('joint4', '\n'.join(lines)) == pytest.approx(23.22, abs=0.1)


def test_a_spline_through_the_points_of_a_chunk_has_no_steps():
    points = runpy.run_path(str(ROOT / 'examples' / 'action_chunk.py'))['points']
    chunk = np.cumsum(np.random.default_rng(3).normal(0.0, 0.02, (16, 2)), axis=0)
    times, states = zip(*points(chunk, 20.0))
    assert times[0] == 0.05 and times[-1] == 0.8
    assert np.array_equal(np.array(states)[:, 0], chunk)
    assert not states[-1][1:].any()
    path = Trajectory(('a', 'b'), [Waypoint(time, *state) for time, state in zip(times, states)])
    for time in times[1:-1]:
        assert np.allclose(path.at(time - 1e-9), path.at(time + 1e-9), atol=1e-4)


def test_planar_2r():
    assert 0.0 <= number_after('largest difference:', output('planar_2r.py')) < 1e-12


def test_identify_payload():
    lines = output('identify_payload.py').splitlines()
    rows = [[float(word) for word in line.split()[1:]] for line in lines[1:11]]
    assert lines[1].split()[:2] == ['m', '+1.5000']
    for true, found, deviation in rows:
        assert 0.0 < deviation < 0.005
        assert abs(found - true) < 4.0 * deviation


def test_quadruped():
    text = output('quadruped.py')
    assert 0.0 <= number_after('largest effort that remains at the base:', text) < 1e-11
    assert 'resulting acceleration of the base: [0. 0. 0. 1. 0. 0.]' in text
    # The rear feet carry more, and left and right the same.
    upward = {line.split()[0]: float(line.split()[3]) for line in text.splitlines()[1:5]}
    assert upward['front_left'] == upward['front_right'] < upward['rear_left']
    assert upward['rear_left'] == upward['rear_right']


def test_the_program_of_the_readme_runs_as_typed():
    [program] = re.findall(r'```python\n(.*?)```', README, re.DOTALL)
    exec(compile(program, 'README.md', 'exec'), names := {})
    ceiling, tau = names['hold'], names['tau']
    assert tau == pytest.approx(-ceiling, abs=1e-12) and abs(tau).max() > 1.0
    assert abs(names['pushed'] - tau).max() > 1.0


def test_the_readme_shows_the_shipped_parameters():
    [shown] = re.findall(r'```yaml\n(.*?)```', README, re.DOTALL)
    assert shown in (ROOT / 'config' / 'gravity_compensation.yaml').read_text(encoding='utf-8')


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.name)
def test_example_has_a_test_and_is_short(path: Path):
    assert f'def test_{path.stem}(' in Path(__file__).read_text(encoding='utf-8')
    without_licence = path.read_text(encoding='utf-8').splitlines()[13:]
    assert len(without_licence) <= 70, 'an example is to be read at one glance'
