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
"""
Every robot of example-robot-data against Pinocchio and MuJoCo: a sample of the whole proof.

``./run test --full`` compares many more states and writes docs/proof.rst.
"""

from __future__ import annotations

from dataclasses import replace
from fcntl import flock, LOCK_EX
from functools import cache
import os
from pathlib import Path
import pickle

import numpy as np
import pytest

pytest.importorskip('pinocchio')
pytest.importorskip('mujoco')
from proof.measure import MUJOCO, PINOCCHIO, Proof  # noqa: E402, I100 (needs the engines)
from proof.page import page, verdict  # noqa: E402
from proof.quantities import QUANTITIES, relative_errors  # noqa: E402
from proof.robots import example_robots, massless_groups  # noqa: E402

STATES = 3
SHARED = Path(os.environ['XDG_CACHE_HOME'])
ROBOTS = example_robots()
pytestmark = pytest.mark.skipif(not ROBOTS, reason='example-robot-data is not installed')

# Robots that neither base lets be measured, and why.
LEFT_OUT = {
    'alex/alex_psyonic_hands': "mimics the joint 'index_q1', which does not exist",
    'ur/ur3': 'robot has no name',
}
NOTHING_MOVES = {'hector/quadrotor_base', 'iris/iris_simple'}
WITHOUT_ACCELERATIONS = {'romeo/romeo', 'romeo/romeo_laas_small'}


@cache
def sample(name):
    """Return the proof of one robot on both bases, which one of the processes that test makes."""
    kept = SHARED / f'{name.replace("/", "_")}.proof'
    with kept.with_suffix('.lock').open('w') as lock:
        flock(lock, LOCK_EX)
        if kept.exists():
            return pickle.loads(kept.read_bytes())
        proof = Proof()
        robot = next(robot for robot in ROBOTS if robot.name == name)
        for floating_base in (False, True):
            proof.add(robot, floating_base, STATES)
        kept.write_bytes(pickle.dumps(proof))
        return proof


@pytest.mark.parametrize('robot', ROBOTS, ids=lambda robot: robot.name)
def test_quantities_agree_with_the_engines_or_are_known_as_unmeasured(robot):
    proof = sample(robot.name)
    assert proof.failures() == []
    reasons = [skipped.reason for skipped in proof.skipped if skipped.engine == PINOCCHIO]
    measured = [m.floating_base for m in proof.measurements if m.engine == PINOCCHIO]
    if robot.name in LEFT_OUT:
        assert measured == []
        assert all(LEFT_OUT[robot.name] in reason for reason in reasons)
    elif robot.name in NOTHING_MOVES:
        assert (measured, reasons) == ([True], ['nothing moves'])
    else:
        assert (measured, reasons) == ([False, True], [])
    for m in proof.measurements:  # accelerations of what has no inertia are left out, and no more
        if m.engine == PINOCCHIO:
            missing = {q.short for q in QUANTITIES} - set(m.errors)
            undefined = {'ABA', 'ABA → RNEA'} if m.robot in WITHOUT_ACCELERATIONS else set()
            assert missing == undefined
            assert bool(m.massless) == bool(undefined)


def test_all_robots_are_there_under_names_of_their_own():
    assert len({robot.name for robot in ROBOTS}) == len(ROBOTS) >= 69


def test_mujoco_is_a_second_opinion_on_most_robots():
    loaded = {m.robot for robot in ROBOTS for m in sample(robot.name).measurements
              if m.engine == MUJOCO}
    assert len(loaded) >= 40


def test_the_page_names_every_robot_and_what_failed():
    proof = Proof()
    for robot in ROBOTS:
        proof.measurements += sample(robot.name).measurements
        proof.skipped += sample(robot.name).skipped
    first = proof.measurements[0]
    proof.measurements[0] = replace(first, errors={**first.errors, 'M': np.nan})
    core = pytest.importorskip('docutils.core', reason='docutils is not installed')
    document = core.publish_doctree(page(proof, ROBOTS), settings_overrides={'halt_level': 2})
    cells = {node.astext() for node in document.findall() if node.tagname == 'entry'}
    assert {robot.name for robot in ROBOTS} <= cells
    assert f'{first.robot}, fixed, Pinocchio: M nan' in document.astext()
    assert '1 figures are too large' in verdict(proof, ROBOTS)


def test_a_page_without_any_robot_is_a_page():
    core = pytest.importorskip('docutils.core', reason='docutils is not installed')
    core.publish_doctree(page(Proof(), []), settings_overrides={'halt_level': 2})


@pytest.mark.parametrize('ours, theirs, errors', [
    ([[1.0, 2.0]], [[1.0, 4.0]], [0.5]),
    ([[[1.0], [2.0]], [[0.0], [0.0]]], [[[1.0], [2.0]], [[0.0], [0.0]]], [0.0, 0.0]),
    ([1e-20], [0.0], [1e-8]),
    ([1.0], [0.0], [1e12]),
])
def test_an_error_is_relative_to_its_state_s_largest_magnitude(ours, theirs, errors):
    assert relative_errors(ours, theirs) == pytest.approx(errors)


def test_rows_of_another_shape_are_not_compared():
    with pytest.raises(ValueError, match='shape'):
        relative_errors([[1.0]], [1.0])


def test_one_link_with_inertia_is_enough_for_its_group():
    assert massless_groups("""
        <robot name="r"><link name="base"/><link name="a"/><link name="b"/><link name="c"/>
        <link name="tip"><inertial/></link>
        <joint name="1" type="revolute"><parent link="base"/><child link="a"/></joint>
        <joint name="2" type="revolute"><parent link="a"/><child link="b"/></joint>
        <joint name="3" type="fixed"><parent link="b"/><child link="c"/></joint>
        <joint name="4" type="fixed"><parent link="c"/><child link="tip"/></joint>
        </robot>""") == ('a',)
