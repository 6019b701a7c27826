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
The node moves the arm alone, with feedback, and is disabled in full swing.

The joints have dry friction here, as those of each real arm.  Without any, no constant effort
holds an arm that stands on its base: it falls from where it rests, as a pencil does.
"""

from __future__ import annotations

import numpy as np

from ros2_rnea.tools.demo.commander import DRIVER, FEEDFORWARD_NODE
from ros2_rnea.tools.demo.figures import Episode, Section, Stop
from ros2_rnea.tools.demo.motion import Motion
from ros2_rnea.tools.demo.stage import Stage, TimedActions

STOPS = 2.6
"""Time since the start of the motion [s]: the arm is in full swing."""

DURATION = 5.2
"""Duration of the motion that is given up [s]."""

AT_REST = 1.0
"""Time after the call of ~/enable at which the arm has to be at rest [s]."""

WATCHED = 2.2
"""Time for which the arm is watched after that call [s]."""

CHANGING = 0.7
"""Time for the node to come to rest in another mode [s]."""

WAY_BACK = 2.5
"""Duration of the motion to where the arm waits [s]."""

CALM = 0.3
"""Time before the stop at which the driver's figures on messages are taken [s]."""

DRY_FRICTION = 0.5
"""Friction of each joint over its inertia [rad/s^2 or m/s^2]; the node does not know it."""

POSITION_GAINS, VELOCITY_GAINS = [100.0], [20.0]
"""Feedback gains of the node [1/s^2, 1/s]."""


def play(stage: Stage) -> Episode:
    """Let the driver leave the arm to the node, and call ~/enable with false in the motion."""
    arm, commander = stage.arm, stage.commander
    stage.settle()
    _leave_alone(stage, True)
    motion = arm.motion(DURATION)
    stopped: list[int] = []
    timing: dict[str, float | int | None] = {}

    def disable() -> None:
        stopped.append(commander.now())
        commander.enable(False)

    start = stage.move(motion, TimedActions(
        (STOPS - CALM, lambda: timing.update(commander.driver_report())), (STOPS, disable)),
        until=STOPS + WATCHED)
    log = commander.recorded(start, commander.now())
    _bring_back(stage)
    _leave_alone(stage, False)
    at = (stopped[0] - start) * 1e-9
    rest = at + AT_REST
    wanted = motion.at(log.times).positions
    wanted[log.times > at] = log.positions[log.times > at][:1]  # then it is the way of the arm
    sections = (Section('follows', 0.0, at),
                Section('braked', at, rest),
                Section('held', rest, float(log.times[-1]), settling=0.0))
    _, (velocities,), (accelerations,) = motion.at([at])
    # The effort of the motion ends as fast as the rate limit allows.
    return Episode('disabled', sections, log, arm.displayed(log.positions - wanted), timing,
                   limited_commands=int((log.sent_times > at).sum()),
                   stop=Stop(at, rest, velocities, accelerations))


def _leave_alone(stage: Stage, alone: bool) -> None:
    """Let the node move the arm alone, at rest, or let the driver close its position loop."""
    commander = stage.commander
    loop, mode = ('none', 'computed_torque') if alone else ('present', 'feedforward')
    if not alone:
        commander.set_parameter(DRIVER, 'position_loop', True)
    commander.set_parameter(FEEDFORWARD_NODE, 'position_loop', loop)
    commander.set_parameter(FEEDFORWARD_NODE, 'position_gains', POSITION_GAINS)
    commander.set_parameter(FEEDFORWARD_NODE, 'velocity_gains', VELOCITY_GAINS)
    commander.set_parameter(FEEDFORWARD_NODE, 'mode', mode)
    inertia = np.diagonal(stage.engine.mass_matrix(stage.arm.start))
    commander.set_parameter(DRIVER, 'dry_friction', (alone * DRY_FRICTION * inertia).tolist())
    commander.spin_for(CHANGING)
    if alone:
        commander.set_parameter(DRIVER, 'position_loop', False)


def _bring_back(stage: Stage) -> None:
    """Let the node move the arm to where it waits."""
    commander, start = stage.commander, stage.arm.start
    commander.enable(True)
    commander.wait_for_efforts()
    commander.spin_for(CHANGING)
    rest = np.zeros(len(start))
    commander.send_motion(0, np.array([WAY_BACK]), Motion(start[None], rest[None], rest[None]))
    commander.spin_for(WAY_BACK + CHANGING)
