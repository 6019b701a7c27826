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
"""What a transition changes besides the state: the hand-over, and what is forgotten."""

from __future__ import annotations

import numpy as np

from ros2_rnea.control.decision import Cause, State, Status
from ros2_rnea.control.inputs.snapshot import AT_REST, Snapshot
from ros2_rnea.control.memory import Memory, Pending
from ros2_rnea.control.output.hand_over import Blend
from ros2_rnea.control.settings import OnStop
from ros2_rnea.control.situation import OLDEST_STATE
from ros2_rnea.control.stages import Stages
from ros2_rnea.control.supervisor import HandOver, Row, Situation

BRAKE_TIME = 0.05
"""Duration of the hand-over to braking [s]; damping acts at once."""

LONGEST_FADE = 1.0
"""Longest duration of a final fade, however long ``state_timeout`` is [s]."""

FADE_SHARE = 0.8
"""Share of the time left that a final fade uses; the rest is for efforts that lag behind it."""


def hand_over(
        stages: Stages, memory: Memory, known: Snapshot, situation: Situation, rows: list[Row],
        ) -> Blend | None:
    """Return the hand-over that begins now; None: none does."""
    settings, pending, now = stages.settings, memory.pending, known.now
    blend, changes_model = None, pending.changes_model
    moves = memory.rest.moving_joint() is not None
    if pending.hand_over is not None:
        duration = pending.hand_over
        if memory.supervisor.state is State.BRAKING:  # what presses ends in time
            left = memory.hand_over.end - now.steady
            duration = min(duration, left if left > 0.0 else BRAKE_TIME)
        # In motion, one wrong velocity would be in the difference, and act for the whole duration.
        at_rest = bool((np.abs(known.velocities) < AT_REST).all())
        blend = Blend(duration, pending.of_model and not (pending.changes_law and at_rest))
        memory.pending = Pending(trip=pending.trip)
    for row in rows:
        if row.hand_over in (HandOver.START, HandOver.BLEND):
            blend = Blend(settings.blend_time)
        elif row.hand_over is HandOver.BLEND_IN_MOTION and moves:
            blend = Blend(settings.blend_time)
        elif row.hand_over is HandOver.RESUME:  # damping of a velocity that has gone would drive
            longest = BRAKE_TIME if moves and stages.alone.any() else settings.blend_time
            blend = Blend(min(settings.blend_time, longest))
        elif row.hand_over is HandOver.BRAKE:
            memory.trips.restart(len(stages.alone))
            blend = Blend(_fade_time(stages, known), damps=True)
        elif row.hand_over is HandOver.RAMP and not stages.motion.begins_at_arm(
                now, known.positions):
            if stages.law.has_feedback:
                memory.ramp_since = memory.behind_since = now.steady
                memory.behind_by = None
            else:
                blend = Blend(settings.blend_time)
        if row.to is State.GRAVITY and State.BRAKING in row.states:
            memory.sent.since = now.steady
        if row.to is State.BRAKING:
            memory.cut_short, memory.releases = '', False
            if memory.supervisor.latch is not None:
                stages.motion.leave()
    if memory.releases and not situation.wants_stop_effort:
        # Nothing holds the arm, and it shall be held again.
        memory.releases, memory.supervisor.may_resume = False, False
        if memory.supervisor.latch is None:
            memory.supervisor.cause = Cause(Status.STOPPING, detail='nothing has held the arm')
        blend = Blend(_fade_time(stages, known), damps=True)
    if memory.supervisor.state is State.BRAKING and not memory.releases and (
            situation.wants_stop_effort and _releases_now(stages, memory, known)):
        memory.releases = True
        blend = Blend(_fade_time(stages, known._replace(is_fresh=False)))
    return blend and blend._replace(changes_model=changes_model)


def _releases_now(stages: Stages, memory: Memory, known: Snapshot) -> bool:
    """Return whether ``on_stop`` leads to no effort from now on: nothing is braked any more."""
    if stages.settings.on_stop is not OnStop.ZERO:
        return False
    is_braked = known.is_fresh and known.has_velocity and bool(stages.alone.any())
    return not is_braked or memory.rest.is_reached(stages.alone)


def _fade_time(stages: Stages, known: Snapshot) -> float:
    """Return the duration of a hand-over to braking, or of a fade where nothing is braked [s]."""
    timeout = stages.settings.state_timeout
    if known.is_fresh and known.has_velocity and stages.alone.any():
        return min(BRAKE_TIME, stages.settings.blend_time or BRAKE_TIME)
    left = OLDEST_STATE * timeout - known.age
    return max(min(FADE_SHARE * left, timeout, LONGEST_FADE), 0.0)
