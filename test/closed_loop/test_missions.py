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
"""A short run of the random missions, and whether their criteria see what they are for."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from missions.episode import Episode, run_episode  # noqa: E402, I100
from missions.judge import Failure  # noqa: E402
from missions.setups import Use  # noqa: E402
from missions.summary import Summary  # noqa: E402

SEED, EPISODES = 1, 20


@pytest.fixture(scope='module')
def summary():
    """Run some episodes."""
    summary = Summary(SEED)
    for number in range(EPISODES):
        summary.add(run_episode(SEED, number))
    return summary


@pytest.mark.slow
def test_no_episode_fails(summary):
    assert not summary.failures, '\n\n'.join(one.report for one in summary.failures)


@pytest.mark.slow
def test_the_episodes_are_worth_something(summary):
    assert not summary.excesses()
    assert {outcome.setup.use for outcome in summary.outcomes} == {*Use}
    assert len({outcome.setup.arm for outcome in summary.outcomes}) == 3
    assert any(outcome.has_fault for outcome in summary.outcomes)


def test_an_episode_is_repeated_by_its_numbers():
    first, second = (Episode(SEED, 3) for _ in range(2))
    assert list(map(str, first.events)) == list(map(str, second.events))
    for episode in (first, second):
        episode.loop.run(0.5)
    np.testing.assert_array_equal(
        first.loop.record.commands, second.loop.record.commands)


def test_a_table_fits_a_terminal(summary):
    from rich.console import Console

    console = Console(width=79, record=True, file=None, quiet=True)
    console.print(summary.table())
    assert summary.table().row_count == len(Use) + 1


def alone() -> Episode:
    """Return an episode of computed torque."""
    return next(episode for episode in (Episode(SEED, number) for number in range(20))
                if episode.setup.use is Use.COMPUTED_TORQUE)


def test_an_arm_that_moves_without_a_command_fails():
    episode = alone()
    episode.loop.run(0.2)
    episode.judge.look(episode.loop.step())
    episode.loop.plant.set_velocities(1.5 * np.eye(episode.loop.arm.size)[0])
    with pytest.raises(Failure, match='moves with 1.'):
        episode.judge.look(episode.loop.step())


def test_a_push_explains_it_for_a_while():
    episode = alone()
    episode.loop.run(0.2)
    episode.disturb(0.1, 'hit')
    episode.loop.plant.set_velocities(1.5 * np.eye(episode.loop.arm.size)[0])
    episode.judge.look(episode.loop.step())


def test_a_fault_without_a_cause_fails():
    episode = alone()
    episode.loop.run(0.2)
    decision = episode.loop.step()
    fault = decision._replace(
        state=next(state for state in type(decision.state) if state.name == 'FAULT'),
        status=next(one for one in type(decision.status) if one.name == 'TOO_FAR_OFF'))
    with pytest.raises(Failure, match='without a cause'):
        episode.judge.look(fault)
    episode = alone()
    episode.loop.run(0.2)
    episode.disturb(0.1, 'hit')
    episode.judge.look(fault)


def test_an_effort_beyond_its_limit_fails():
    episode = alone()
    episode.loop.run(0.2)
    decision = episode.loop.step()
    with pytest.raises(Failure, match='the limits are'):
        episode.judge.look(decision._replace(effort=1.1 * episode.loop.plant.effort_limits))
