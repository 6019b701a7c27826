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

from importlib.metadata import PackageNotFoundError
import json
import shutil

from benchmark.agreement import agree, relative_error
from benchmark.chains import chain
from benchmark.errors import Absent
from benchmark.export import __main__ as export, ours, peers
from benchmark.export.__main__ import Figure, figures_of
from benchmark.export.ours import C, KERNEL, TAPE
from benchmark.measure import Settings
from benchmark.peers import PINOCCHIO
from benchmark.peers.pinocchio import Pinocchio
from benchmark.problem import pose_problem, STATES
from benchmark.robots import Description
from benchmark.statement import Statement
from benchmark.summary import Spread
import numpy as np
import pytest
from ros2_rnea.kernels import machine
from small_robots import ARM, joint, link, robot

pytest.importorskip('pinocchio')
if not machine.available():
    pytest.skip('llvmlite is not installed', allow_module_level=True)
if shutil.which('cc') is None:
    pytest.skip('there is no C compiler cc here', allow_module_level=True)

SHORT = Settings(rounds=2, block=1)
BARE = ARM.replace('<dynamics damping="0.5"/>', '')

SLIDING = robot(
    link('base'), link('slide'), link('wheel', 2.0), link('fork'),
    joint('rail', 'base', 'slide', kind='prismatic', axis='0.6 0 0.8'),
    joint('spin', 'slide', 'wheel', kind='continuous'),
    joint('turn', 'wheel', 'fork', axis='1 0 0'),
).replace('xyz="0 0 0.3"', 'xyz="0 0.1 0.3" rpy="0.3 -0.5 0.7"')
TREE = robot(
    link('trunk', 10.0), link('right'), link('left'), link('wheel'),
    joint('z_first', 'trunk', 'right'),  # Pinocchio sorts children by name
    joint('a_second', 'trunk', 'left', axis='1 0 0'),
    joint('roll', 'left', 'wheel', kind='continuous'))

COPIES_VELOCITIES = """#!/bin/sh
cat <<'end'
static void generated(const double *q, const double *qd, const double *qdd, double *out) {
  for (int i = 0; i < NV; ++i) out[i] = qd[i];
}
end
"""


def test_command_prints_a_table_and_writes_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(export, 'QUICK', SHORT)
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(ARM, encoding='utf-8')
    assert export.main(['--urdf', str(urdf), '--quick', '--output', str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for name in (TAPE, C, KERNEL, PINOCCHIO):
        assert f' {name} ' in printed
    figures = json.loads((tmp_path / 'export.json').read_text(encoding='utf-8'))['figures']
    assert {one['contender'] for one in figures} == {TAPE, C, KERNEL, PINOCCHIO, *peers.PEERS}
    assert all(one['reason'] or one['nanoseconds'][0] > 0.0 for one in figures)
    operations = next(one['operations'] for one in figures if one['contender'] == TAPE)
    assert f'arm: {operations} operations' in printed


def test_contender_that_differs_ends_the_run(monkeypatch):
    monkeypatch.setattr(ours, 'LOOPS', ours.LOOPS.replace(
        'robot_parameters, out)', 'robot_parameters, out); out[0] += 1.0'))
    with pytest.raises(export.BenchmarkError, match='arm: the generated C differs from Pinocchio'):
        figures_of(Description('arm', 'Arm', BARE), SHORT)


def test_missing_compiler_is_said(monkeypatch, capsys):
    monkeypatch.setenv('CC', 'no-such-compiler')
    assert export.main(['--robots', 'chain7', '--quick']) == 2
    assert 'there is no C compiler; install one' in capsys.readouterr().err


def test_peer_that_differs_is_left_out_with_the_reason(monkeypatch):
    wrong = Statement('pass', 'row', [0], {'out': np.zeros((STATES, 2))}, 'out')
    monkeypatch.setattr(peers, 'PEERS', {'wrong': lambda problem, folder: wrong})
    figures = figures_of(Description('arm', 'Arm', BARE), SHORT)
    reasons = {one.contender: one.reason for one in figures if one.nanoseconds is None}
    assert reasons == {'wrong': 'it differs from Pinocchio by 1.0e+00'}


@pytest.mark.parametrize('error, reason', [
    (Absent('it is not here [really]'), 'it is not here [really]'),
    (RuntimeError('too many joints'), 'refuses the robot: too many joints')])
def test_missing_peer_is_said_with_the_reason(monkeypatch, tmp_path, capsys, error, reason):
    def make(problem, folder):
        raise error

    monkeypatch.setattr(peers, 'PEERS', {'gone': make})
    monkeypatch.setattr(export, 'QUICK', SHORT)
    assert export.main(['--robots', 'chain7', '--quick', '--output', str(tmp_path)]) == 0
    assert f'chain7: gone is not timed: {reason}' in capsys.readouterr().out
    figures = json.loads((tmp_path / 'export.json').read_text(encoding='utf-8'))['figures']
    assert next(one for one in figures if one['contender'] == 'gone')['reason'] == reason


def test_kdl_gives_pinocchios_efforts(tmp_path):
    problem = pose_problem(Description('sliding', 'Sliding', SLIDING), 5)
    try:
        statement = peers.kdl(problem, tmp_path)
    except Absent as reason:
        pytest.skip(str(reason))
    asked = Pinocchio(problem).inverse_dynamics().compiled().answers()
    assert agree(relative_error(statement.compiled().answers()[0], asked))


@pytest.mark.parametrize('text, floating', [(TREE, False), (SLIDING, True)])
def test_kdl_takes_chains_only(tmp_path, text, floating):
    problem = pose_problem(Description('other', 'Other', text, floating), 5)
    with pytest.raises(Absent, match='chains on a fixed base only'):
        peers.kdl(problem, tmp_path)


def test_missing_headers_are_named_with_what_installs_them(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, 'SOURCES', tmp_path)
    (tmp_path / 'kdl.cpp').write_text('#include <no/such.hpp>\n', encoding='utf-8')
    problem = pose_problem(Description('chain', 'Chain', chain(2)), 5)
    with pytest.raises(Absent, match=r'no/such\.hpp: No such file.*apt install liborocos-kdl-dev'):
        peers.kdl(problem, tmp_path)


def test_missing_packages_are_named_with_what_installs_them(tmp_path, monkeypatch, request):
    def distribution(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(peers, 'distribution', distribution)
    peers._generator.cache_clear()
    request.addfinalizer(peers._generator.cache_clear)
    problem = pose_problem(Description('chain', 'Chain', chain(2)), 5)
    for make, package in ((peers.casadi, 'casadi'), (peers.cppadcodegen, 'cmeel-cppadcodegen')):
        with pytest.raises(Absent, match=f'; pip install {package} cmeel-eigen libpinocchio'):
            make(problem, tmp_path)


def test_generated_c_gets_states_and_gives_efforts_in_pinocchios_order(tmp_path, monkeypatch):
    generator = tmp_path / 'generator'
    generator.write_text(COPIES_VELOCITIES, encoding='utf-8')
    generator.chmod(0o755)
    monkeypatch.setattr(peers, '_generator', lambda *_: generator)
    problem = pose_problem(Description('tree', 'Tree', TREE, True), 5)
    velocities = peers.casadi(problem, tmp_path).compiled().answers()[0]
    assert np.array_equal(velocities, problem.states.qd)


@pytest.mark.parametrize('contender, of_pinocchio, of_c, verdict', [
    (TAPE, 1.0, 5.0, 'of Pinocchio ≤ 1: met'),
    (TAPE, 1.1, 5.0, 'of Pinocchio ≤ 1: [bold]missed[/]'),
    (PINOCCHIO, 1.0, 1.1, 'of generated C > 1: met'),
    ('KDL', 0.3, 1.0, 'of generated C > 1: [bold]missed[/]'), (C, 2.0, 1.0, ''),
    (KERNEL, 0.1, 0.9, '')])
def test_verdicts_say_what_is_asked(contender, of_pinocchio, of_c, verdict):
    figure = Figure('arm', contender, of_pinocchio=Spread(*3 * [of_pinocchio]),
                    of_c=Spread(*3 * [of_c]))
    assert export._verdict(figure, judged=True) == verdict
    assert export._verdict(figure, judged=False) == verdict.partition(':')[0]
