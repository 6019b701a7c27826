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
"""The driver is killed during the motion and started again."""

from __future__ import annotations

import numpy as np

from ros2_rnea.node.controllers.receivers import DISCOVERY_TIME
from ros2_rnea.tools.demo.figures import Episode, Section
from ros2_rnea.tools.demo.motion import EASING
from ros2_rnea.tools.demo.stage import Stage, TimedActions

DIES = 1.4 * EASING
"""Time since the start of the motion [s]."""

DURATION = 2.0 * EASING
"""Duration of the motion [s]: it is over when the driver is back, and ends where that begins."""

WATCHED = 1.5
"""Time for which the arm is watched after the node has found the new driver [s]."""

UNTIMED = {'states_answered': 0, 'engine_ticks': 0}
"""Delays while driver and node discover each other are not a fault of the machine."""


def play(stage: Stage) -> Episode:
    """Kill the driver, start it after the motion, and record how the effort comes back."""
    arm, commander, children = stage.arm, stage.commander, stage.children
    stage.settle()
    motion = arm.motion(DURATION)
    killed = []

    def kill() -> None:
        children.kill('driver')
        killed.append(commander.now())

    start = stage.move(motion, TimedActions((DIES, kill)))
    dead = (killed[0] - start) * 1e-9  # later than planned where this process had to wait
    # A process that is discovered sooner may be older than the node, and hold an effort.
    commander.spin_until(stage.ready + int(DISCOVERY_TIME * 1e9))
    children.restart('driver')
    commander.wait_for_efforts()  # The node has found the new driver,
    commander.wait_for_states()  # and so has the commander.
    commander.spin_for(WATCHED)
    log = commander.recorded(start, commander.now())
    came = np.concatenate((log.times, log.sent_times))
    back = float(came[came > DURATION].min())
    errors = arm.displayed(log.positions - motion.at(log.times).positions)
    sections = (Section('follows', 0.0, dead),
                Section('dead', dead, back),
                Section('back', back, float(log.times[-1])))
    return Episode('driver dies', sections, log, errors, UNTIMED,
                   stage.engine.holding_effort(arm.start),
                   float(log.sent_times[log.sent_times > DURATION].min()))
