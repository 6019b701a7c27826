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
"""What the supervisor has to know in a cycle, from what is known, wanted and remembered."""

from __future__ import annotations

from ros2_rnea.control.decision import Cause, State, Status
from ros2_rnea.control.inputs.snapshot import Snapshot
from ros2_rnea.control.memory import Memory
from ros2_rnea.control.output.start_effort import Start
from ros2_rnea.control.settings import OnStop
from ros2_rnea.control.stages import Stages
from ros2_rnea.control.supervisor import Situation
from ros2_rnea.control.target.motion import Target

OLDEST_STATE = 2.0
"""Largest age of the last state in a final fade, as a multiple of ``state_timeout``."""


def needs_start(memory: Memory, stop: Cause | None) -> bool:
    """Return whether efforts are to begin, and it has to be found out from which one."""
    return stop is None and not memory.sent.has_start


def situation(
        stages: Stages, memory: Memory, known: Snapshot, target: Target, start: Start | None,
        stop: Cause | None) -> Situation:
    """Return what the supervisor has to know."""
    now, supervisor, sent = known.now.steady, memory.supervisor, memory.sent
    is_off, follows = supervisor.state is State.OFF, supervisor.state.follows
    begins, obstacle = is_off or not sent.has_start, None
    if begins and stop is None:
        if start is not None and start.effort is None:
            obstacle = Cause(Status.UNKNOWN_START, detail=(
                f'{start.reason}; set start_from to say from which effort to start'))
        obstacle = obstacle or stages.obstacle(known, memory.period)
    trip = memory.pending.trip
    if not is_off:  # before efforts begin, it waits for them
        memory.pending.trip = None
    fast = None
    if known.is_fresh and not is_off:
        fast = stages.trips.too_fast(known.measured_velocities)
        off = stages.trips.out_of_control(
            target.deviation if follows and stages.law.has_feedback else None,
            sent.saturated, now)
        slow = stages.unstable_feedback(memory.period, now)
        trip = trip or off or slow or (fast if follows else None)
    is_settled = not stages.settings.blend_time if begins else (
        not sent.is_late and now >= memory.hand_over.end and memory.pending.hand_over is None)
    brakes = bool(stages.alone.any()) and known.has_velocity
    # After an error the arm is held, whatever on_stop says.
    wants_stop_effort = stop is not None and stop.status is not Status.FAILED
    is_braked = supervisor.state is State.BRAKING and _is_braked(
        stages, memory, known, is_settled, brakes, wants_stop_effort)
    return Situation(
        now, stop, obstacle, trip, None if follows else fast, target.wanted,
        Cause(target.status, detail=target.detail), brakes and known.is_fresh, is_settled,
        is_braked and (stop is None or memory.has_sent_stop_effort), is_off or sent.has_start,
        known.age > OLDEST_STATE * stages.settings.state_timeout,
        stages.settings.may_send_last and not stages.judgement.unknown_positions(),
        sent.is_late, memory.releases, wants_stop_effort, is_braked and stop is not None)


def _is_braked(
        stages: Stages, memory: Memory, known: Snapshot, is_settled: bool, brakes: bool,
        wants_stop_effort: bool) -> bool:
    """Return whether the arm rests at the effort of ``on_stop``, or the time is over."""
    if not known.is_fresh:
        return is_settled and (memory.releases or stages.settings.on_stop is not OnStop.ZERO)
    is_at_rest = not brakes or memory.rest.is_reached(stages.alone)
    if known.now.steady - memory.supervisor.since > stages.settings.longest_braking:
        return True
    is_released = memory.releases or not wants_stop_effort or (
        stages.settings.on_stop is not OnStop.ZERO)
    return is_settled and is_at_rest and is_released
