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
"""The benchmark of standard errors: what its arms are, and what it counts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
import json

from benchmark import coverage
from benchmark.coverage import BODIES, Case, CASES, deviations, FRICTION, KINDS, Row, SUMS
from benchmark.robots import Description
import numpy as np
import pytest
from random_robots import random_serial_arm
from ros2_rnea import Robot
from ros2_rnea.offline.identification.preparation import prepare

ARM = random_serial_arm(3, 6, ('revolute',)).urdf()


@pytest.fixture(autouse=True)
def arm_instead_of_ur5(monkeypatch):
    """Let the benchmark identify a random arm of six joints."""
    monkeypatch.setattr(coverage, 'describe', lambda name: Description(name, name, ARM))


def friction_of(case):
    """Return the true friction numbers of a draw, shape (3, nv), and its Coulomb friction."""
    rng, urdf = np.random.default_rng(1), Robot.from_urdf(ARM)
    arm, loaded, coulomb = coverage._arm(urdf, case, rng)
    recording, friction = coverage._recorded(loaded, coulomb, case, 100, rng)
    prepared = prepare(recording, urdf).prepared
    return coverage._nearest(recording, friction, prepared), coulomb


def test_true_friction_is_that_of_the_arm_where_its_law_is_that_of_the_model():
    """The model rounds the sign of a velocity off, and the arm does not: a few per cent."""
    found, coulomb = friction_of(Case())
    np.testing.assert_allclose(found[0], 0.8 * coulomb, rtol=0.05)
    np.testing.assert_allclose(found[1], coulomb, rtol=0.02)
    np.testing.assert_allclose(found[2] / coulomb, 0.0, atol=0.005)


def test_true_friction_is_larger_with_breakaway_friction_and_smaller_once_warm():
    plain, coulomb = friction_of(Case())
    assert (friction_of(Case(breakaway=0.4))[0][1] > 1.01 * plain[1]).all()
    assert (friction_of(Case(drift=0.2))[0][1] < 0.95 * plain[1]).all()


@pytest.mark.usefixtures('fastest_engine')
def test_numbers_of_all_kinds_are_compared_with_the_truth():
    found = deviations('noise alone', 100, 0)
    assert len(found[FRICTION]) == 18 and found[BODIES] and found[SUMS]
    assert np.sqrt(np.mean(np.square(found[FRICTION]))) < 3.0
    load = deviations('load', 100, 0)
    assert 4 <= len(load[BODIES]) <= 10  # the load alone


def test_shares_are_counted():
    row = Row.of('noise alone', 100, [
        {BODIES: [0.1, -1.9, 2.0, -5.0], SUMS: [], FRICTION: [1.0]}] * 2)
    assert row.shares == {BODIES: 0.5, FRICTION: 1.0}
    assert row.counts == {BODIES: 8, SUMS: 0, FRICTION: 2}


def test_command_prints_a_table_and_fails_where_intervals_are_too_narrow(
        tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        coverage, 'ProcessPoolExecutor', lambda workers, mp_context: ThreadPoolExecutor(workers))
    found = {kind: [0.5] * 10 for kind in KINDS}
    monkeypatch.setattr(coverage, 'deviations', lambda *job: found)
    path = tmp_path / 'coverage.json'
    options = ['--draws', '2', '--rates', '100', '--json', str(path)]
    assert coverage.main(options) == 0
    printed = capsys.readouterr().out
    assert 'Hz' in printed and 'breakaway friction' in printed
    rows = json.loads(path.read_text(encoding='utf-8'))
    assert [row['case'] for row in rows] == list(CASES)
    found[FRICTION] = [0.5, 2.5]
    assert coverage.main(options) == 1


def test_command_names_a_case_that_there_is_not(capsys):
    with pytest.raises(SystemExit):
        coverage.main(['--cases', 'rust'])
    assert "no case 'rust'" in capsys.readouterr().err
