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
"""Each peer that is installed gives Pinocchio's answers for every quantity that it offers."""

from __future__ import annotations

from types import SimpleNamespace

from benchmark import startup
from benchmark.agreement import agree, relative_error
from benchmark.chains import chain
from benchmark.errors import Absent
from benchmark.peers import ENGINES, PEERS, PINOCCHIO, statement
from benchmark.problem import pose_problem
from benchmark.quantities import BY_NAME
from benchmark.robots import Description, reduce_to_dynamics
import pytest
from small_robots import joint, link, robot

BATCH = 5

QUADRUPED = robot(
    link('trunk', 10.0), link('right'), link('left'), link('wheel'),
    joint('z_first', 'trunk', 'right'),  # Pinocchio sorts children by name
    joint('a_second', 'trunk', 'left', axis='1 0 0'),
    joint('roll', 'left', 'wheel', kind='continuous'))

DESCRIPTIONS = (
    Description('chain', 'Chain', chain(4)),
    Description('tree', 'Tree on a floating base', reduce_to_dynamics(QUADRUPED), True),
    Description('fixed', 'Tree on a fixed base', reduce_to_dynamics(QUADRUPED)),
)


@pytest.fixture(params=DESCRIPTIONS, ids=lambda description: description.name)
def problem(request):
    return pose_problem(request.param, BATCH)


@pytest.fixture
def pinocchio(problem):
    pytest.importorskip('pinocchio', reason='pinocchio is not installed')
    return next(peer for peer in PEERS if peer.name == PINOCCHIO).load(problem)


@pytest.mark.parametrize('peer', PEERS, ids=lambda peer: peer.name)
def test_answers_are_those_of_pinocchio(peer, problem, pinocchio, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where compiled code is kept
    try:
        engine = peer.load(problem)
    except Absent as reason:
        pytest.skip(str(reason))
    for quantity in BY_NAME:
        try:
            asked = statement(engine, quantity).compiled()
        except Absent:
            continue
        error = relative_error(
            asked.answers(), statement(pinocchio, quantity).compiled().answers())
        assert agree(error), f'{quantity}: {error:.1e}'


def test_reasons_are_given_for_quantities_that_there_are():
    for peer in PEERS:
        try:
            engine = peer.load(pose_problem(DESCRIPTIONS[0], BATCH))
        except Absent:
            continue
        assert set(engine.WITHOUT) <= set(BY_NAME), peer.name


@pytest.mark.parametrize('name', ENGINES)
def test_engines_are_peers(name, monkeypatch):
    problem = pose_problem(DESCRIPTIONS[0], BATCH)
    peer = next(peer for peer in PEERS if peer.name == name)
    try:
        engine = peer.load(problem)
    except Absent as reason:
        pytest.skip(str(reason))
    robot = statement(engine, 'inverse_dynamics').names['robot']
    assert robot.engine.value == ENGINES[name]
    asked = []
    monkeypatch.setattr(startup.subprocess, 'run', lambda *_, env, **__: (
        asked.append(env['ROS2_RNEA_ENGINE']), SimpleNamespace(returncode=0, stdout='7'))[1])
    startup._first_effort(name, DESCRIPTIONS[0], 'cache')
    assert asked == [ENGINES[name]]
