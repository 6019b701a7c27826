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
One cycle, from what is known to what is sent.

Known → wanted → done → needed → sent: five stages, of which the supervisor alone decides.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_rnea.control.decision import Cause, Decision, Instant, State, Status
from ros2_rnea.control.inputs.snapshot import Snapshot
from ros2_rnea.control.memory import Memory
from ros2_rnea.control.output.output import Needed
from ros2_rnea.control.situation import needs_start, situation as situation_of
from ros2_rnea.control.stages import Stages
from ros2_rnea.control.supervisor import Row, Situation, supervise
from ros2_rnea.control.target.motion import Target
from ros2_rnea.control.transitions import hand_over


def decide(stages: Stages, memory: Memory, now: Instant, stop: Cause | None = None) -> Decision:
    """
    Return what to send now, and store it as sent.

    :param stages: made from the robot and the settings.
    :param memory: it is changed.
    :param now: the time of the cycle.
    :param stop: a reason to send nothing any more, in addition to those that the stages know.
    """
    known = stages.known(now)
    memory.rest.update(known.velocities, now.steady)
    period = memory.period.count(now.steady, stages.settings.state_timeout)
    by_somebody = stages.stopped_by_somebody(now)
    if by_somebody is not None and stages.alone.any():
        stages.motion.leave()  # it does not go on by itself
    stop = stop or by_somebody or stages.reason_to_stop(known)
    target = stages.wanted(known, memory, stop)
    start = stages.start(memory, known) if needs_start(memory, stop) else None
    situation = situation_of(stages, memory, known, target, start, stop)
    rows = supervise(situation, memory.supervisor)
    state = memory.supervisor.state
    if start is not None and start.effort is not None and state is not State.OFF:
        memory.sent.start_at(np.clip(start.effort, -stages.limits, stages.limits))
        memory.start_reason = start.reason
    if state is State.OFF:
        return _nothing(stages, memory, known, situation, rows)
    blend = hand_over(stages, memory, known, situation, rows)
    memory.has_sent_stop_effort = situation.sends_stop_effort and state is State.BRAKING
    needed = _needed(stages, memory, known, target, state)
    if not np.isfinite(needed.effort).all():
        return _not_finite(stages, memory, now, needed, stop)
    effort, flags = stages.output.send(
        needed, (known.positions, known.measured_velocities) if known.is_fresh else None,
        memory.sent, memory.hand_over, now.steady, blend, period)
    status, joints, detail, after = _reason(stages, memory, target, state)
    memory.supervisor.status = status
    return Decision(status, joints, detail, effort, flags, after, state)


def _nothing(
        stages: Stages, memory: Memory, known: Snapshot, situation: Situation, rows: list[Row],
        ) -> Decision:
    """Return that nothing is sent, and why."""
    cause = situation.stop or situation.obstacle or memory.supervisor.cause
    if rows:  # until now something was
        memory.cut_short = stages.what_was_cut_short(memory, known)
    detail = cause.detail
    if memory.cut_short and situation.stop is not None:
        detail = '; '.join(filter(None, (detail, memory.cut_short)))
    memory.hand_over.end_now()
    memory.releases = False
    memory.sent.pause()
    stages.forget_if_disabled(memory, cause.status)
    memory.supervisor.status = cause.status
    return Decision(cause.status, cause.joints, detail)


def _needed(
        stages: Stages, memory: Memory, known: Snapshot, target: Target, state: State) -> Needed:
    """Return the effort of a state."""
    if state is State.BRAKING and memory.releases:
        return stages.law.released()
    if state is State.BRAKING and memory.has_sent_stop_effort:  # the last effort is that of rest
        known = known._replace(velocities=np.zeros_like(known.velocities))
    blend_time = stages.settings.blend_time
    elapsed = known.now.steady - memory.ramp_since
    weight = 1.0 if elapsed >= blend_time else max(elapsed, 0.0) / blend_time
    largest = stages.motion.largest_error
    if memory.behind_since < inf and state.follows and target.deviation is not None:
        size = np.abs(target.deviation)
        if weight < 1.0 or memory.behind_by is None:
            memory.behind_since, memory.behind_by = known.now.steady, size
        allowed = stages.law.catch_up_error(
            memory.behind_by, size, known.now.steady - memory.behind_since)
        if allowed is None:
            memory.behind_since, memory.behind_by = inf, None
        else:
            largest = np.minimum(largest, allowed)
    return stages.law.needed(state, target, known, weight, memory.period.value, largest)


def _not_finite(
        stages: Stages, memory: Memory, now: Instant, needed: Needed, stop: Cause | None,
        ) -> Decision:
    """Return the last effort of a robot whose effort cannot be computed."""
    names = tuple(name for name, is_finite in zip(
        stages.joints.controlled, np.isfinite(needed.effort).tolist()) if not is_finite)
    cause = Cause(Status.NOT_FINITE, names)
    if stop is None and memory.supervisor.latch is None:  # that of the motion
        memory.pending.trip = cause
        return decide(stages, memory, now)
    if stop is None:
        return decide(stages, memory, now, cause)
    memory.supervisor.state = State.OFF
    memory.sent.pause()
    memory.supervisor.status = stop.status
    return Decision(stop.status, stop.joints or names, stop.detail)


def _reason(
        stages: Stages, memory: Memory, target: Target, state: State,
        ) -> tuple[Status, tuple[str, ...], str, Status | None]:
    """Return the reason for an effort, its joints, its explanation, and the reason after it."""
    supervisor = memory.supervisor
    if state is State.BRAKING and supervisor.may_resume:
        cause = supervisor.cause
        return Status.STOPPING, cause.joints, '; '.join(filter(None, (
            cause.detail,
            f'on_stop: {stages.settings.on_stop.value}; then {cause.status.value}'))), cause.status
    if state is State.BRAKING:
        return *supervisor.cause, None
    if state is State.FAULT and supervisor.latch is not None:
        return *supervisor.latch, None
    if state is State.ARMING and target.wanted is not State.GRAVITY:
        return Status.STARTING, (), '', None
    return target.status, (), target.detail or stages.without_help(target.status), None
