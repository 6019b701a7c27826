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
What is done in which situation: one table, and the only memory of decisions.

In each cycle the first row whose state is the present one and whose guard holds is taken, then the
table is read again, until no row fits or a row ends the cycle.  :func:`table` returns it as text.

A state that may follow a motion takes it up again by itself after a gap of the joint states or of
the imu.  After a fault, and after somebody has stopped an arm that the node moves alone, it does
not.

The node moves a joint *alone* where no other active controller commands its position or velocity.
Where it moves one alone, every stop with fresh states brakes; elsewhere the effort only fades,
because another controller holds the arm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import NamedTuple

from ros2_rnea.control.decision import Cause, State, Status

LONGEST_ARMING = 10.0
"""Longest time from the first effort to gravity [s]; only a very low rate limit needs more."""


class Situation(NamedTuple):
    """
    What the guards ask about, in one cycle.

    :ivar now: on the steady clock [s].
    :ivar stop: why nothing is to be sent; None: efforts are wanted.
    :ivar obstacle: why no effort can begin now; None: one can.
    :ivar trip: why the arm has to be braked and held until somebody acknowledges it; of several
        reasons the first one.
    :ivar too_fast: why the arm has to be braked, although nobody has to acknowledge it.
    :ivar wanted: GRAVITY, TRACKING or HOLDING, by the desired motion.
    :ivar reason: why that is wanted.
    :ivar is_alone: whether the node moves a joint alone.
    :ivar is_settled: whether the effort of the state has been reached after a hand-over.
    :ivar is_over: whether braking has come to its end: at rest, or out of time.
    :ivar is_held: whether it is known which effort the actuators hold.
    :ivar is_out_of_time: whether the states are too old even for the last effort.
    :ivar may_send_last: false where not even the effort of braking may be sent.
    :ivar is_late: whether the rate limit holds the effort back.
    :ivar is_released: whether no effort holds the arm, as ``on_stop`` wants it.
    :ivar wants_stop_effort: whether the effort of ``on_stop`` is wanted, since nothing is to be
        sent any more.
    :ivar sends_stop_effort: whether this cycle sends it, since the arm has been braked.
    """

    now: float
    stop: Cause | None
    obstacle: Cause | None
    trip: Cause | None
    too_fast: Cause | None
    wanted: State
    reason: Cause
    is_alone: bool
    is_settled: bool
    is_over: bool
    is_held: bool = True
    is_out_of_time: bool = False
    may_send_last: bool = True
    is_late: bool = False
    is_released: bool = False
    wants_stop_effort: bool = False
    sends_stop_effort: bool = False


@dataclass
class SupervisorMemory:
    """
    What the supervisor remembers.

    :ivar state: the present one.
    :ivar since: when it was entered [s].
    :ivar cause: why the arm was braked last.
    :ivar may_resume: whether braking ends as soon as its cause has gone, and not first at rest.
    :ivar latch: what somebody has to acknowledge before a motion is followed; None: nothing.
    :ivar status: the reason that was reported last.
    """

    state: State = State.OFF
    since: float = -inf
    cause: Cause = Cause(Status.WAITING)
    may_resume: bool = False
    latch: Cause | None = None
    status: Status = Status.WAITING


class HandOver(Enum):
    """Transitions of the effort from that of one state to that of the next."""

    NONE = 'at once'
    START = 'from the effort that the actuators hold, for blend_time'
    BRAKE = 'damping at once, the rest within 0.05 s'
    BLEND = 'for blend_time'
    BLEND_IN_MOTION = 'for blend_time where the arm moves, else at once'
    RESUME = 'within 0.05 s where the node moves the arm alone and it moves, else for blend_time'
    RAMP = 'at once where the motion begins at the arm, else for blend_time'


Guard = Callable[[Situation, SupervisorMemory], bool]
Action = Callable[[Situation, SupervisorMemory], None]


class Row(NamedTuple):
    """One transition of the table; the text of guard and action is in their docstrings."""

    states: tuple[State, ...]
    guard: Guard
    to: State
    hand_over: HandOver = HandOver.NONE
    action: Action | None = None


# ---- guards -------------------------------------------------------------------------------------

def not_even_last(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether no effort may be sent at all: it could reach other joints."""
    return not situation.may_send_last


def is_out_of_time(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether the last states are older than twice their timeout."""
    return situation.stop is not None and situation.is_out_of_time


def is_not_held(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether others receive the commands, and what they hold is not known."""
    return not situation.is_held


def can_start(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether efforts are wanted, and the effort is known that the actuators hold."""
    return situation.stop is None and situation.obstacle is None and situation.may_send_last


def is_tripped(situation: Situation, memory: SupervisorMemory) -> bool:
    """Return whether a limit that stops the motion is exceeded, or there is a contact or error."""
    # A cause that lasts must not keep the arm braked for ever: the first one is enough.
    is_known = memory.state is State.BRAKING and memory.latch is not None
    return situation.trip is not None and not is_known


def has_to_stop(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether nothing is to be sent any more."""
    return situation.stop is not None


def is_too_fast(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether a joint is far beyond its velocity limit, where no motion is followed."""
    return situation.too_fast is not None


def takes_too_long(situation: Situation, memory: SupervisorMemory) -> bool:
    """Return whether the rate limit has kept gravity from being reached within 10 s."""
    return situation.is_late and situation.now - memory.since > LONGEST_ARMING


def is_settled_and_latched(situation: Situation, memory: SupervisorMemory) -> bool:
    """Return whether gravity is reached, and a fault has not been acknowledged."""
    return situation.is_settled and memory.latch is not None


def is_settled(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether gravity is reached."""
    return situation.is_settled


def follows(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether a motion is to be followed."""
    return situation.wanted is State.TRACKING


def holds(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether the end of a motion is to be held."""
    return situation.wanted is State.HOLDING


def leaves_alone(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether no motion is followed any more, and nobody else holds the arm."""
    return situation.wanted is State.GRAVITY and situation.is_alone


def leaves(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether no motion is followed any more."""
    return situation.wanted is State.GRAVITY


def stop_is_over(situation: Situation, _: SupervisorMemory) -> bool:
    """Return whether the arm rests or the time is over, and nothing is to be sent."""
    return situation.stop is not None and situation.is_over


def fault_is_over(situation: Situation, memory: SupervisorMemory) -> bool:
    """Return whether the arm rests or the time is over, and a fault has not been acknowledged."""
    return memory.latch is not None and situation.is_over


def can_resume(situation: Situation, memory: SupervisorMemory) -> bool:
    """Return whether the arm rests or the time is over, or the reason to stop has gone."""
    return situation.stop is None and memory.latch is None and (
        memory.may_resume and not situation.is_released or situation.is_over)


def is_acknowledged(_: Situation, memory: SupervisorMemory) -> bool:
    """Return whether ~/enable was called with true; the arm rests, and the cause has gone."""
    return memory.latch is None


# ---- actions ------------------------------------------------------------------------------------

def note_stop(situation: Situation, memory: SupervisorMemory) -> None:
    """Note the reason to stop."""
    memory.cause, memory.may_resume = situation.stop or memory.cause, True


def latch(situation: Situation, memory: SupervisorMemory) -> None:
    """Note the fault, which has to be acknowledged."""
    if situation.trip is not None:
        memory.cause = memory.latch = situation.trip
        memory.may_resume = False


def latch_long_start(_: Situation, memory: SupervisorMemory) -> None:
    """Note the fault, which has to be acknowledged."""
    memory.cause = memory.latch = Cause(Status.STARTING, detail=(
        f'gravity was not reached within {LONGEST_ARMING:g} s after the first effort: '
        'effort_rate_limit is too low'))
    memory.may_resume = False


def note_reason(situation: Situation, memory: SupervisorMemory) -> None:
    """Note why the motion is not followed."""
    memory.cause, memory.may_resume = situation.too_fast or situation.reason, False


# ---- the table ----------------------------------------------------------------------------------

SENDING = tuple(state for state in State if state is not State.OFF)
USUAL = (State.ARMING, State.GRAVITY, State.TRACKING, State.HOLDING)

TABLE = (
    Row(SENDING, not_even_last, State.OFF, action=note_stop),
    Row(SENDING, is_out_of_time, State.OFF, action=note_stop),
    Row(SENDING, is_not_held, State.OFF),
    Row((State.OFF,), can_start, State.ARMING, HandOver.START),
    Row((*USUAL, State.BRAKING), is_tripped, State.BRAKING, HandOver.BRAKE, latch),
    Row((*USUAL, State.FAULT), has_to_stop, State.BRAKING, HandOver.BRAKE, note_stop),
    Row((State.ARMING, State.GRAVITY), is_too_fast, State.BRAKING, HandOver.BRAKE, note_reason),
    Row((State.ARMING,), takes_too_long, State.BRAKING, HandOver.BRAKE, latch_long_start),
    Row((State.ARMING,), is_settled_and_latched, State.FAULT),
    Row((State.ARMING,), is_settled, State.GRAVITY, HandOver.BLEND_IN_MOTION),
    Row((State.GRAVITY,), follows, State.TRACKING, HandOver.RAMP),
    Row((State.GRAVITY,), holds, State.HOLDING, HandOver.RAMP),
    Row((State.HOLDING,), follows, State.TRACKING),
    Row((State.TRACKING,), holds, State.HOLDING),
    Row((State.TRACKING, State.HOLDING), leaves_alone, State.BRAKING, HandOver.BRAKE,
        note_reason),
    Row((State.TRACKING, State.HOLDING), leaves, State.GRAVITY, HandOver.BLEND),
    Row((State.BRAKING,), stop_is_over, State.OFF),
    Row((State.BRAKING,), fault_is_over, State.FAULT),
    Row((State.BRAKING,), can_resume, State.GRAVITY, HandOver.RESUME),
    Row((State.FAULT,), is_acknowledged, State.GRAVITY, HandOver.BLEND),
)
"""The order of the rows is their priority."""

ENDS_CYCLE = (State.BRAKING, State.FAULT)
"""States whose effort is sent at least once before the table is read again."""


def supervise(situation: Situation, memory: SupervisorMemory) -> list[Row]:
    """
    Go through the table, change the state in the memory, and return the rows that were taken.

    :param situation: of this cycle.
    :param memory: it is changed.
    """
    memory.since = min(memory.since, situation.now)  # a simulated clock may jump back
    taken: list[Row] = []
    while not (taken and taken[-1].to in ENDS_CYCLE):
        row = next((row for row in TABLE if memory.state in row.states
                    and row not in taken and row.guard(situation, memory)), None)
        if row is None:
            break
        is_again = row.to is memory.state
        if row.action is not None:
            row.action(situation, memory)
        if is_again:  # a trip while the arm is braked already
            break
        memory.state, memory.since = row.to, situation.now
        taken.append(row)
    return taken


def table() -> list[tuple[str, str, str, str, str]]:
    """Return the table as text: from, when, to, how the effort gets there, what is noted."""
    return [
        (' '.join(state.name for state in row.states), _when(row.guard), row.to.name,
         row.hand_over.value, (row.action.__doc__ or '').strip() if row.action else '')
        for row in TABLE]


def _when(guard: Guard) -> str:
    """Return what a guard asks, as a sentence."""
    asked = (guard.__doc__ or '').removeprefix('Return whether ')
    return asked[:1].upper() + asked[1:]
