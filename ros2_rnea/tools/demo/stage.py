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
"""The parts that all scenes of the demo share: the arm, its motions, and timed actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ros2_rnea.tools.demo.arm import Arm, PUSH_PERIOD
from ros2_rnea.tools.demo.commander import Commander, DRIVER, FEEDFORWARD_NODE
from ros2_rnea.tools.demo.figures import FULL_RATE, Log
from ros2_rnea.tools.demo.motion import TimedMotion
from ros2_rnea.tools.demo.processes import Children
from ros2_rnea.tools.simulated_driver.engine import Engine

POINT_SPACING = 0.02
"""Time between two points of the trajectories [s]."""

LEAD = 0.5
"""Time by which trajectories are stamped ahead [s]."""

SETTLING = 0.7
"""Time for the arm to come to rest before each motion [s]."""

MOMENT = round(1e9 * PUSH_PERIOD)
"""Time between two looks at what is to be done [ns]."""

Meanwhile = Callable[[float], None]
"""Called again and again with the time since the start of a motion [s]."""


@dataclass(frozen=True)
class Stage:
    """
    The arm, the processes and the commander of a scene.

    :param engine: computes the effort that holds the arm.
    :param children: the processes of driver and node.
    :param progress: called with the share of the scene that is over, 0 to 1.
    :param rate: of joint states at most, and so of commands [Hz].
    :param ready: since when driver and node run, on the commander's clock [ns].
    """

    arm: Arm
    engine: Engine
    commander: Commander
    children: Children
    progress: Callable[[float], None]
    rate: float = FULL_RATE
    ready: int = 0

    def settle(self, mode: str = 'feedforward', rate: float = FULL_RATE) -> None:
        """
        Set driver and node to a mode and rate, and let the arm come to rest.

        :param mode: of the node; empty: the node is disabled.
        :param rate: of joint states, and so of commands, unless the stage has a lower one [Hz].
        """
        self.commander.set_parameter(DRIVER, 'rate', min(rate, self.rate))
        if mode:
            self.commander.set_parameter(FEEDFORWARD_NODE, 'mode', mode)
        self.commander.enable(bool(mode))
        self.commander.spin_for(SETTLING)
        self.commander.driver_report()  # Forget what happened before.

    def follow(self, motion: TimedMotion, meanwhile: Meanwhile | None = None) -> Log:
        """
        Let the arm follow a motion to its end.

        :param meanwhile: called all along.
        :returns: what was recorded, over times since the motion's start.
        """
        start = self.move(motion, meanwhile)
        return self.commander.recorded(start, start + int(motion.duration * 1e9))

    def move(self, motion: TimedMotion, meanwhile: Meanwhile | None = None,
             until: float | None = None) -> int:
        """
        Let the arm follow a motion.

        :param meanwhile: called all along.
        :param until: when to go on, since the motion's start [s]; None: at its end.
        :returns: the motion's start, on the commander's clock [ns].
        """
        commander = self.commander
        duration = motion.duration if until is None else until
        times = np.arange(0.0, motion.duration + 0.5 * POINT_SPACING, POINT_SPACING)
        start = commander.now() + int(LEAD * 1e9)
        end = start + int(duration * 1e9)
        commander.send_motion(start, times, motion.at(times))
        while (now := commander.now()) < end:
            seconds = (now - start) * 1e-9
            self.progress(max(0.0, seconds / duration))
            if meanwhile:
                meanwhile(seconds)
            commander.spin_until(min(now + MOMENT, end))
        commander.spin_for(0.02)  # The last joint states are still under way.
        return start


class TimedActions:
    """
    Actions that are each executed once, in the order of their times.

    :param actions: times since the start of the motion [s], with the action for each.
    """

    def __init__(self, *actions: tuple[float, Callable[[], None]]) -> None:
        self._left: Sequence[tuple[float, Callable[[], None]]] = actions

    def __call__(self, time: float) -> None:
        """Execute the next action, if it is due."""
        if self._left and time >= self._left[0][0]:
            (_, do), *self._left = self._left
            do()
