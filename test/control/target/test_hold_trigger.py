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
"""When the effort that a trajectory controller holds has to be replaced."""

import pytest
from ros2_rnea.control.target.hold_trigger import DELAY, GoalState, HoldTrigger

GOAL, NEXT, OWN = b'goal', b'next', b'own'


@pytest.fixture
def trigger():
    """Return a trigger beside a controller that has executed a goal until now, 0 s."""
    trigger = HoldTrigger()
    trigger.take_publication(True, -9.0)
    trigger.done()
    trigger.take_goals({GOAL: GoalState.EXECUTING}, -1.0)
    return trigger


@pytest.mark.parametrize('state', [GoalState.CANCELED, GoalState.ABORTED])
def test_it_is_due_once_after_an_interrupted_goal(trigger, state):
    assert trigger.active == {GOAL}
    trigger.take_goals({GOAL: state}, 0.0)
    assert not trigger.active
    assert not trigger.is_due(0.99 * DELAY)
    assert trigger.is_due(DELAY)
    trigger.done()
    trigger.take_goals({GOAL: state}, 1.0)  # it is listed for minutes
    assert not trigger.is_due(9.0)


def test_a_goal_that_succeeds_holds_its_own_effort(trigger):
    trigger.take_goals({GOAL: GoalState.SUCCEEDED}, 0.0)
    assert not trigger.is_due(9.0)


@pytest.mark.parametrize('after', [0.0, 0.01, 0.05, 0.99 * DELAY])
@pytest.mark.parametrize('state', [GoalState.ACCEPTED, GoalState.EXECUTING, GoalState.CANCELING])
def test_a_goal_that_arrives_meanwhile_is_not_disturbed(trigger, after, state):
    trigger.take_goals({GOAL: GoalState.ABORTED}, 0.0)
    trigger.take_goals({GOAL: GoalState.ABORTED, NEXT: state}, after)
    assert trigger.active == {NEXT}
    assert not trigger.is_due(9.0)
    trigger.take_goals({GOAL: GoalState.ABORTED, NEXT: GoalState.SUCCEEDED}, 9.0)
    assert not trigger.is_due(10.0)


def test_goals_of_this_node_do_not_count(trigger):
    trigger.take_goals({GOAL: GoalState.ABORTED}, 0.0)
    trigger.done()
    trigger.add_own(OWN)
    trigger.take_goals({GOAL: GoalState.ABORTED}, 0.3)  # sent, and not yet accepted
    for state in GoalState:
        trigger.take_goals({GOAL: GoalState.ABORTED, OWN: state}, 0.4)
        assert not trigger.active and not trigger.is_due(9.0)


def test_what_was_interrupted_before_the_node_came_is_no_reason():
    trigger = HoldTrigger()
    trigger.take_goals({GOAL: GoalState.ABORTED}, 0.0)
    assert not trigger.is_due(9.0)


def test_it_is_due_after_an_activation_without_a_goal():
    trigger = HoldTrigger()
    trigger.take_publication(True, 0.0)
    assert trigger.is_due(DELAY)
    trigger.take_publication(True, 1.0)
    trigger.done()
    assert not trigger.is_due(9.0)
    trigger.take_publication(False, 10.0)
    trigger.take_publication(True, 11.0)
    assert not trigger.is_due(11.0) and trigger.is_due(11.0 + DELAY)
    trigger.take_publication(False, 12.0)
    assert not trigger.is_due(13.0)
    trigger.take_publication(True, 14.0)
    trigger.take_goals({GOAL: GoalState.EXECUTING}, 14.1)
    assert not trigger.is_due(15.0)
