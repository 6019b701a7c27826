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
"""The benchmark of identification: its contenders agree, and it says what it measured."""

from __future__ import annotations

import json

from benchmark.errors import BenchmarkError
from benchmark.identification import __main__ as command
from benchmark.identification.contenders import (
    compiled, FIGAROH, ours, pinocchio_loop, PRODUCTS, REDUCTION, REGRESSOR, Rows)
from benchmark.measure import Settings
from benchmark.peers import OURS, PINOCCHIO
from benchmark.problem import pose_problem, Problem
from benchmark.robots import Description
import numpy as np
import pytest

pytest.importorskip('pinocchio')

ARM = """
<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.1 0.02 0"/><mass value="3"/>
<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0.1 0.05"/><mass value="2"/>
<inertia ixx="0.01" ixy="0" ixz="0.001" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
<joint name="lift" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="99" velocity="9"/></joint>
<joint name="bend" type="{kind}"><parent link="upper"/><child link="lower"/>
<origin xyz="0.4 0 0" rpy="0.3 0 0"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="99" velocity="9"/></joint></robot>"""


@pytest.fixture
def problem() -> Problem:
    """Return an arm with a motion of 40 rows."""
    return pose_problem(Description('arm', 'Arm', ARM.format(kind='revolute')), 40)


def test_regressors_agree(problem):
    found, missing = compiled(problem, Rows.of(problem))
    assert {OURS, PINOCCHIO} <= found[REGRESSOR].keys()
    assert {*found[REGRESSOR], PRODUCTS} == {*found[REDUCTION]}
    if FIGAROH not in found[REGRESSOR]:
        assert missing and 'pip install figaroh' in missing[0]


def test_reductions_hold_the_same_inertial_products(problem):
    rows = Rows.of(problem)
    mine, theirs = ours(problem, rows)[REDUCTION], pinocchio_loop(problem, rows)[REDUCTION]
    information = mine.compiled().answer(mine.rows[0])
    XX, _, yy = theirs.compiled().answer(theirs.rows[0])
    squares = [products[-1, -1] for products in information.products]
    assert sum(squares) == pytest.approx(yy, rel=1e-12)
    masses_of_lower = [products[-12, -12] for products in information.products]  # before b and y
    assert sum(masses_of_lower) == pytest.approx(XX[10, 10], rel=1e-12)


def test_a_regressor_that_differs_ends_the_run(problem, monkeypatch):
    monkeypatch.setattr('benchmark.identification.contenders.FROM_PINOCCHIO', list(range(10)))
    with pytest.raises(BenchmarkError, match='ros2_rnea differs from that of Pinocchio'):
        compiled(problem, Rows.of(problem))


def test_continuous_joints_are_refused():
    problem = pose_problem(Description('arm', 'Arm', ARM.format(kind='continuous')), 4)
    with pytest.raises(BenchmarkError, match="'bend' of 'arm' has 2 coordinates"):
        compiled(problem, Rows.of(problem))


def test_command_prints_tables_and_writes_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, 'SIZES', (16, 64))
    monkeypatch.setattr(command, 'QUICK', Settings(rounds=2, block=1))
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(ARM.format(kind='revolute'), encoding='utf-8')
    assert command.main(
        ['--urdf', str(urdf), '--quick', '--explain', '--output', str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert 'regressor and reduction, Pinocchio' in printed
    assert 'X.T @ X' in printed
    content = json.loads((tmp_path / 'identification.json').read_text(encoding='utf-8'))
    assert [one['rows'] for one in content['growth']] == [16, 64]
    times = [one['times']['median'] for one in content['figures'] if one['contender'] == OURS]
    assert np.allclose(times, 1.0)


def test_command_names_a_robot_that_there_is_not(capsys):
    assert command.main(['--robots', 'pandora']) == 2
    assert "no robot 'pandora'" in capsys.readouterr().err
