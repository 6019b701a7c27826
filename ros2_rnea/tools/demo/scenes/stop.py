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
"""The trajectory is replaced half-way by a stop, as a controller does when its goal is aborted."""

from __future__ import annotations

import numpy as np

from ros2_rnea.tools.demo.figures import Episode, Section
from ros2_rnea.tools.demo.motion import Motion
from ros2_rnea.tools.demo.stage import Stage, TimedActions

STOPS = 2.6
"""Time since the start of the motion [s]: the arm is in full swing."""

BRAKING = 0.3
"""How long the arm takes to come to rest [s]."""

DURATION = 5.2
"""Of the motion that is given up [s]."""

WATCHED = 1.6
"""How long is watched what happens after the stop [s]."""


def play(stage: Stage) -> Episode:
    """Send a trajectory, and half-way one of a single point close ahead."""
    arm, commander = stage.arm, stage.commander
    stage.settle()
    motion = arm.motion(DURATION)
    (position,), (velocity,), (rest,) = motion.at([STOPS])._replace(
        accelerations=np.zeros((1, len(arm.start))))
    place = position + 0.5 * BRAKING * velocity  # where an even deceleration ends
    halt = Motion(*(row[None] for row in (place, rest, rest)))
    start = stage.move(
        motion, TimedActions((STOPS, lambda: commander.send_motion(0, np.array([BRAKING]), halt))),
        until=STOPS + WATCHED)
    log = commander.recorded(start, commander.now())

    desired = motion.at(log.times).positions
    desired[log.times > STOPS] = np.nan  # how the arm brakes is the driver's affair
    desired[log.times > STOPS + 2.0 * BRAKING] = place
    sections = (Section('follows', 0.0, STOPS),
                Section('stopped', STOPS, STOPS + WATCHED))
    return Episode('goal aborted', sections, log, arm.displayed(log.positions - desired),
                   commander.driver_report(), stage.engine.holding_effort(place))
