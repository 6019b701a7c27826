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
"""The benchmark of exported models: its contenders agree, and it says what it measured."""

from __future__ import annotations

import json
import shutil

from benchmark import export
from benchmark.export import C, figures_of, KERNEL, TAPE
from benchmark.measure import Settings
from benchmark.peers import PINOCCHIO
from benchmark.robots import Description
import pytest
from ros2_rnea.kernels import machine
from small_robots import ARM

pytest.importorskip('pinocchio')
if not machine.available():
    pytest.skip('llvmlite is not installed', allow_module_level=True)
if shutil.which('cc') is None:
    pytest.skip('there is no C compiler cc here', allow_module_level=True)

SHORT = Settings(rounds=2, block=1)
BARE = ARM.replace('<dynamics damping="0.5"/>', '')


def test_command_prints_a_table_and_writes_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(export, 'QUICK', SHORT)
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(ARM, encoding='utf-8')
    assert export.main(['--urdf', str(urdf), '--quick', '--output', str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for name in (TAPE, C, KERNEL, PINOCCHIO):
        assert f' {name} ' in printed
    figures = json.loads((tmp_path / 'export.json').read_text(encoding='utf-8'))['figures']
    assert {one['contender'] for one in figures} == {TAPE, C, KERNEL, PINOCCHIO}
    assert all(one['nanoseconds'][0] > 0.0 for one in figures)
    operations = next(one['operations'] for one in figures if one['contender'] == TAPE)
    assert f'arm: {operations} operations' in printed


def test_contender_that_differs_ends_the_run(monkeypatch):
    monkeypatch.setattr(export, 'LOOPS', export.LOOPS.replace(
        'robot_parameters, out)', 'robot_parameters, out); out[0] += 1.0'))
    with pytest.raises(export.BenchmarkError, match='arm: the generated C differs from Pinocchio'):
        figures_of(Description('arm', 'Arm', BARE), SHORT)


def test_missing_compiler_is_said(monkeypatch, capsys):
    monkeypatch.setenv('CC', 'no-such-compiler')
    assert export.main(['--robots', 'chain7', '--quick']) == 2
    assert 'there is no C compiler; install one' in capsys.readouterr().err
