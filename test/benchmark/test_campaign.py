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
"""Who is timed, and who is named instead: with peers made up for it."""

from __future__ import annotations

from typing import ClassVar

from benchmark.agreement import agree, relative_error
from benchmark.campaign import Campaign
from benchmark.errors import Absent, BenchmarkError
from benchmark.measure import Settings
from benchmark.peers import OURS, PINOCCHIO
from benchmark.robots import Description
from benchmark.statement import Statement
import numpy as np
import pytest
from small_robots import ARM, ROVER

SETTINGS = Settings(rounds=2, block=1_000)


class FakeEngine:
    """Computes the gravity of our robot, times a factor."""

    WITHOUT: ClassVar[dict[str, str]] = {'bias': 'it is too lazy'}

    def __init__(self, problem, factor):
        self._problem, self._factor = problem, factor

    def gravity(self):
        robot = self._problem.robot
        return Statement(
            'tau = factor * gravity(q)', '(q,)', [(q,) for q in self._problem.states.q],
            {'gravity': robot.gravity, 'factor': self._factor}, 'tau')


class AbleEngine(FakeEngine):
    """Has the quantity that the other has not."""

    bias = FakeEngine.gravity


class FakePeer:

    def __init__(self, name, factor=1.0, absent='', engine=FakeEngine):
        self.name, self._factor, self._absent, self._engine = name, factor, absent, engine

    def load(self, problem):
        if self._absent:
            raise Absent(self._absent)
        return self._engine(problem, self._factor)


def run(*peers, quantity='gravity', text=ARM):
    campaign = Campaign(SETTINGS, 10, [FakePeer(PINOCCHIO, engine=AbleEngine), *peers])
    engines = campaign.load(Description('arm', 'Arm', text))
    campaign.compare('arm', quantity, engines)
    return {result.peer: result for result in campaign.results}


def test_peer_with_the_same_answer_is_timed():
    result = run(FakePeer(OURS, factor=1.0 + 1e-12))[OURS]
    assert result.nanoseconds is not None and result.nanoseconds.median > 0.0
    assert result.of_pinocchio is not None and result.reason == ''
    assert result.error == pytest.approx(1e-12, rel=0.1)
    assert result.code == 'tau = factor * gravity(q)'


@pytest.mark.parametrize('factor', [1.0 + 1e-8, -1.0, np.nan, np.inf])
def test_peer_with_another_answer_is_refused_and_said_so(factor):
    result = run(FakePeer('wrong', factor))['wrong']
    assert result.nanoseconds is None and result.of_pinocchio is None
    assert 'its answer differs by' in result.reason


def test_peer_that_is_not_installed_is_named_with_the_reason():
    result = run(FakePeer('gone', absent="No module named 'gone'; pip install gone"))['gone']
    assert result.reason == "No module named 'gone'; pip install gone"
    assert result.nanoseconds is None


def test_a_quantity_that_a_peer_lacks_has_a_reason():
    results = run(FakePeer('lazy'), quantity='bias')
    assert results[PINOCCHIO].reason == ''
    assert results['lazy'].reason == 'it is too lazy'


def test_without_the_yardstick_nothing_is_measured():
    campaign = Campaign(SETTINGS, 10, [FakePeer(PINOCCHIO, absent='pip install pin')])
    with pytest.raises(BenchmarkError, match='pip install pin'):
        campaign.load(Description('arm', 'Arm', ARM))


def test_joint_that_not_all_write_alike_is_refused_by_name():
    with pytest.raises(BenchmarkError, match="joint 'drive' of 'arm' is planar"):
        run(text=ROVER)


def test_error_is_relative_to_the_largest_number_of_each_state():
    expected = np.array([[1000.0, 1.0], [1.0, 0.5]])
    answers = expected + [[0.0, 1e-9], [0.0, 1e-7]]
    assert relative_error(answers, expected) == pytest.approx(1e-7)


@pytest.mark.parametrize('answers', [np.zeros((2, 3)), np.full((2, 2), np.nan)])
def test_other_shape_or_no_number_is_no_agreement(answers):
    error = relative_error(answers, np.ones((2, 2)))
    assert error == np.inf and not agree(error)
