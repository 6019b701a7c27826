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
"""The table of real robots: what its rows say of a robot that loads and of one that does not."""

from json import dumps
import runpy

import pytest
from repository import ROOT
from small_robots import ARM

pytest.importorskip('pinocchio')
pytest.importorskip('mujoco')
pytest.importorskip('rich')


@pytest.fixture(scope='module')
def program():
    return runpy.run_path(str(ROOT / 'docs' / 'make_real_robots.py'))


def row_of(program, tmp_path, text):
    path = tmp_path / 'robot.urdf'
    path.write_text(text, encoding='utf-8')
    return program['row_of']('robot.urdf', path)


def test_a_robot_has_its_figures(program, tmp_path):
    row = row_of(program, tmp_path, ARM)
    nv, time, findings, pinocchio, demo = row.cells
    assert (nv, findings, demo) == ('2', '0 / 0 / 0', 'accepted')
    assert time.endswith(' µs')
    assert 0.0 <= row.difference < 1e-12
    assert pinocchio == f'{row.difference:.0e}'
    assert row.notes == []


def test_a_refusal_has_its_reason(program, tmp_path):
    shapes = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">' \
             '<parent link="a"/><child link="b"/></joint></robot>'
    row = row_of(program, tmp_path, shapes)
    assert row.cells == ['-', '-', '1 / 0 / 1', '-', 'refused']
    assert 'no link has an <inertial>' in row.notes[0]
    text = program['page']([row, row_of(program, tmp_path, ARM)], [])
    assert '1 of 2 load' in text
    assert '* **robot.urdf**: no link has an <inertial>' in text


def test_equal_files_are_looked_at_once(program, tmp_path):
    for name in ('a.urdf', 'b.urdf'):
        (tmp_path / name).write_text(ARM, encoding='utf-8')
    found = program['descriptions']([tmp_path])
    assert 'a.urdf' in found and 'b.urdf' not in found


def test_different_files_of_one_name_have_a_row_each(program, tmp_path):
    paths = [tmp_path / folder / 'same.urdf' for folder in ('left', 'right/urdf')]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(ARM.replace('arm', path.parent.name), encoding='utf-8')
    found = program['descriptions'](paths)
    assert found['same.urdf'] == paths[0]
    assert found['right/urdf/same.urdf'] == paths[1]


def test_demos_of_named_arms_are_rows_of_their_own(program, tmp_path):
    files = program['descriptions']([])
    assert 'ur10e.urdf' not in program['arms_among'](files)
    arm = program['arms_among']({'ur10e.urdf': tmp_path})['ur10e.urdf']
    phases = {'pd': 8.0, 'gravity': 4.0, 'feedforward': 0.5}
    (tmp_path / 'summary.json').write_text(dumps({
        'verdict': 'failed',
        'phases': {name: {'arm_rms_deg': value} for name, value in phases.items()}}))
    result = program['demo_result'](tmp_path / 'ur10e.urdf', tmp_path)
    cells = program['demo_row'](arm, result)
    assert cells[0] == 'Universal Robots UR10e' and 'ur\\_type:=ur10e' in cells[1]
    assert cells[2:] == ['failed', '16 times', '8 times']
    text = program['page']([row_of(program, tmp_path, ARM)], [cells])
    assert '   * - Universal Robots UR10e\n' in text
