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
"""Each row of the table fires, in its order, and each state can be left."""

from __future__ import annotations

import pytest
from ros2_rnea.control.decision import Cause, State, Status
from ros2_rnea.control.supervisor import (
    ENDS_CYCLE,
    HandOver,
    LONGEST_ARMING,
    SENDING,
    Situation,
    supervise,
    SupervisorMemory,
    TABLE,
    table,
)

STOP, TRIP, FAST = Cause(Status.DISABLED), Cause(Status.TOO_FAR_OFF), Cause(Status.TOO_FAST)
LATCH = Cause(Status.CONTACT)
NOW = 100.0
CALM = {
    'now': NOW, 'stop': None, 'obstacle': None, 'trip': None, 'too_fast': None,
    'wanted': State.GRAVITY, 'reason': Cause(Status.NO_TRAJECTORY), 'is_alone': True,
    'is_settled': False, 'is_over': False}
STOPPED = {'stop': STOP}

# What fires each row, in the order of the table: of the situation, and of the memory.
REASONS = (
    ({'may_send_last': False, 'stop': STOP}, {}),
    ({'is_out_of_time': True, 'stop': STOP}, {}),
    ({'is_held': False, 'obstacle': Cause(Status.UNKNOWN_START)}, {}),
    ({}, {}),
    ({'trip': TRIP}, {}),
    ({'stop': STOP}, {}),
    ({'too_fast': FAST}, {}),
    ({'is_late': True}, {'since': NOW - LONGEST_ARMING - 1.0}),
    ({'is_settled': True}, {'latch': LATCH}),
    ({'is_settled': True}, {}),
    ({'wanted': State.TRACKING}, {}),
    ({'wanted': State.HOLDING}, {}),
    ({'wanted': State.TRACKING}, {}),
    ({'wanted': State.HOLDING}, {}),
    ({}, {}),
    ({'is_alone': False}, {}),
    ({'stop': STOP, 'is_over': True}, {}),
    ({'is_over': True}, {'latch': LATCH}),
    ({'is_over': True}, {}),
    ({}, {}))
ROWS = [(row, *reason) for row, reason in zip(TABLE, REASONS)]
FIRINGS = [pytest.param(row, state, situation, memory, id=f'{row.guard.__name__}-{state.name}')
           for row, situation, memory in ROWS for state in row.states]


def supervised(one, **situation):
    """Return the rows that are taken in a situation that is calm, but for what is given."""
    return supervise(Situation(**{**CALM, **situation}), one)


def remembered(state, **memory):
    """Return a memory; what is not acknowledged yet goes with a fault."""
    latch = LATCH if state is State.FAULT else None
    return SupervisorMemory(state, **{'since': NOW - 1.0, 'latch': latch, **memory})


def test_there_is_a_reason_for_each_row():
    assert len(REASONS) == len(TABLE)


@pytest.mark.parametrize('row, state, situation, memory', FIRINGS)
def test_each_row_fires_first_from_each_of_its_states(row, state, situation, memory):
    """So no row is in the shadow of another one."""
    if row.guard.__name__ == 'is_acknowledged':
        memory = {'latch': None}
    one = remembered(state, **memory)
    taken = supervised(one, **situation)
    if row.to is state:  # a trip while it is braked: what is latched is new
        assert taken == []
        assert one.latch == TRIP
        return
    assert taken[0] is row
    assert one.state is taken[-1].to
    assert one.since == NOW


@pytest.mark.parametrize('state', State)
def test_each_state_can_be_entered_and_left(state):
    assert any(row.to is state for row in TABLE)
    assert any(state in row.states and row.to is not state for row in TABLE)


def test_only_an_acknowledgement_leads_from_a_fault_to_gravity():
    ways = [row for row in TABLE if State.FAULT in row.states]
    assert {row.to for row in ways} == {State.OFF, State.BRAKING, State.GRAVITY}
    assert [row.guard.__name__ for row in ways if row.to is State.GRAVITY] == ['is_acknowledged']
    every = {'wanted': State.TRACKING, 'is_settled': True, 'is_over': True}
    one = remembered(State.FAULT)
    assert supervised(one, **every) == []
    assert one.state is State.FAULT


def test_a_fault_that_is_stopped_is_a_fault_again_afterwards():
    one = remembered(State.FAULT)
    supervised(one, stop=STOP)
    assert one.state is State.BRAKING and one.latch == LATCH
    supervised(one, stop=STOP, is_over=True)
    assert one.state is State.OFF and one.latch == LATCH
    supervised(one)
    assert one.state is State.ARMING
    supervised(one, is_settled=True)
    assert one.state is State.FAULT


@pytest.mark.parametrize('first, second, to, cause', [
    ({'may_send_last': False}, {'trip': TRIP}, State.OFF, STOP),
    ({'is_out_of_time': True}, {'trip': TRIP}, State.OFF, STOP),
    ({'trip': TRIP}, {'stop': STOP}, State.BRAKING, TRIP),
    ({'stop': STOP}, {'too_fast': FAST}, State.BRAKING, STOP),
    ({'stop': STOP}, {'wanted': State.GRAVITY}, State.BRAKING, STOP)])
@pytest.mark.parametrize('state', [State.GRAVITY, State.ARMING])
def test_the_order_of_the_rows_is_their_priority(first, second, to, cause, state):
    both = {**second, **first, **({} if to is State.BRAKING else {'stop': STOP})}
    one = remembered(state)
    supervised(one, **both)
    assert one.state is to
    assert one.cause == cause


def test_a_trip_and_a_stop_at_once_are_both_remembered():
    """The arm is braked, and nothing is followed after the next start."""
    one = remembered(State.TRACKING)
    supervised(one, stop=STOP, trip=TRIP)
    assert (one.state, one.latch) == (State.BRAKING, TRIP)
    supervised(one, stop=STOP, is_over=True)
    assert (one.state, one.latch) == (State.OFF, TRIP)


@pytest.mark.parametrize('to', ENDS_CYCLE)
def test_braking_and_fault_send_at_least_one_effort(to):
    one = remembered(State.GRAVITY if to is State.BRAKING else State.ARMING,
                     latch=None if to is State.BRAKING else LATCH)
    supervised(
        one, stop=STOP if to is State.BRAKING else None, is_over=True, is_settled=True)
    assert one.state is to


def test_a_start_without_a_blend_reaches_the_motion_at_once():
    one = remembered(State.OFF)
    taken = supervised(one, is_settled=True, wanted=State.TRACKING)
    assert [row.to for row in taken] == [State.ARMING, State.GRAVITY, State.TRACKING]


@pytest.mark.parametrize('situation', [
    {'stop': STOP}, {'obstacle': Cause(Status.OVERLOADED)}, {'may_send_last': False}])
def test_nothing_begins_where_it_is_not_wanted_or_cannot(situation):
    one = remembered(State.OFF)
    assert supervised(one, **situation) == []
    assert one.state is State.OFF


@pytest.mark.parametrize('is_alone, to, how', [
    (True, State.BRAKING, HandOver.BRAKE), (False, State.GRAVITY, HandOver.BLEND)])
@pytest.mark.parametrize('state', [State.TRACKING, State.HOLDING])
def test_only_an_arm_moved_alone_is_braked_after_a_motion(state, is_alone, to, how):
    row, = supervised(one := remembered(state), is_alone=is_alone)
    assert (one.state, row.hand_over) == (to, how)


@pytest.mark.parametrize('may_resume', [True, False])
def test_braking_ends_with_its_cause_or_at_rest(may_resume):
    one = remembered(State.BRAKING, may_resume=may_resume)
    supervised(one)
    assert one.state is (State.GRAVITY if may_resume else State.BRAKING)
    supervised(one, is_over=True)
    assert one.state is State.GRAVITY


def test_a_withdrawn_stop_is_resumed_but_a_fault_is_not():
    one = remembered(State.TRACKING)
    supervised(one, stop=STOP)
    assert one.may_resume
    supervised(one, trip=TRIP)
    assert not one.may_resume
    supervised(one)
    assert one.state is State.BRAKING
    supervised(one, is_over=True)
    assert one.state is State.FAULT


def test_too_long_an_arming_names_the_parameter():
    one = remembered(State.ARMING, since=NOW - LONGEST_ARMING)
    assert supervised(one, is_late=True) == []
    one.since -= 1e-6
    assert supervised(one) == []  # a long blend_time
    supervised(one, is_late=True)
    assert one.state is State.BRAKING
    assert 'effort_rate_limit' in one.latch.detail


@pytest.mark.parametrize('state', State)
@pytest.mark.parametrize('wanted', [State.GRAVITY, State.TRACKING, State.HOLDING])
@pytest.mark.parametrize('flags', range(32))
def test_every_situation_leads_from_every_state_to_a_state(state, wanted, flags):
    """It ends, and only by rows of the table."""
    bits = [bool(flags >> bit & 1) for bit in range(5)]
    one = remembered(state)
    taken = supervised(
        one, stop=STOP if bits[0] else None, trip=TRIP if bits[1] else None, wanted=wanted,
        is_settled=bits[2], is_over=bits[3], may_send_last=not bits[4])
    at = state
    for row in taken:
        assert row in TABLE and at in row.states
        at = row.to
    assert one.state is at
    if bits[4]:
        assert one.state is State.OFF


def test_the_table_is_complete_as_text():
    rows = table()
    assert len(rows) == len(TABLE)
    for row, (states, when, to, how, note) in zip(TABLE, rows):
        assert states.split() == [state.name for state in row.states]
        assert State[to] is row.to
        assert when.endswith('.') and len(when) < 99
        assert HandOver(how) is row.hand_over
        assert bool(note) is (row.action is not None)
    assert len({(states, when) for states, when, *_ in rows}) == len(rows)


def test_nothing_is_sent_in_off_alone():
    assert {*State} - {*SENDING} == {State.OFF}


def test_a_state_lasts_since_a_backward_jump_of_time():
    one = remembered(State.GRAVITY, since=NOW + 5.0)
    assert supervised(one) == []
    assert one.since == NOW
