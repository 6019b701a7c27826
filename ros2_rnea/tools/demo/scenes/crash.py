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
"""The node is killed while it holds the arm, and started again while its driver goes on."""

from __future__ import annotations

from ros2_rnea.tools.demo.commander import FEEDFORWARD_NODE
from ros2_rnea.tools.demo.figures import Episode, Section
from ros2_rnea.tools.demo.stage import Stage

HOLDING = 1.5
"""Time for which the node holds the arm before it is killed [s]."""

DEAD = 0.5
"""Least time for which the node is dead [s]; until then the driver holds its last effort."""

WATCHED = 1.5
"""Time for which the arm is watched after the node's first effort [s]."""


def play(stage: Stage) -> Episode:
    """Kill the node, start it again, and record from which effort it starts."""
    arm, commander, children = stage.arm, stage.commander, stage.children
    stage.settle()
    start = commander.now()
    commander.spin_for(HOLDING)
    children.kill('node')
    killed = (commander.now() - start) * 1e-9
    commander.spin_for(DEAD)
    children.restart('node')  # Its parameters are those of the start again, so it is disabled.
    commander.set_parameter(FEEDFORWARD_NODE, 'enabled', True)
    commander.wait_for_efforts()
    commander.spin_for(WATCHED)
    log = commander.recorded(start, commander.now())
    back = float(log.sent_times[log.sent_times > killed + 0.5 * DEAD].min())
    sections = (Section('holds', 0.0, killed),
                Section('dead', killed, back),
                Section('back', back, float(log.times[-1])))
    return Episode('node dies', sections, log, arm.displayed(log.positions - arm.start),
                   UNTIMED, stage.engine.holding_effort(arm.start))


UNTIMED = {'states_answered': 0, 'engine_ticks': 0}
"""The delay until the node runs again is not a fault of the machine."""
