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
"""What becomes of a command on its way to the motors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from closed_loop.plant import Plant
import numpy as np

Reference = Callable[[float], tuple[np.ndarray, np.ndarray]]
"""Returns desired positions [rad] and velocities [rad/s] for a time [s], shape (joints,) each."""


class EffortDrives:
    """
    Drives that hold their last command for ever, as forward_command_controller does.

    :param plant: whose effort limits are those of the motors.
    :param delay: from a command until it acts [s].
    :ivar held: the last command that has arrived, shape (joints,) [Nm].  At the beginning it is
        what holds the arm.
    """

    def __init__(self, plant: Plant, delay: float = 0.0) -> None:
        self.plant, self._delay = plant, delay
        self._limits = plant.effort_limits
        self._on_the_way: deque[tuple[float, np.ndarray]] = deque()
        self.held = plant.holding_effort()

    def forget_commands(self) -> None:
        """Let no command act that is on the way."""
        self._on_the_way.clear()

    def command(self, time: float, efforts: np.ndarray) -> None:
        """Send a command now, shape (joints,) [Nm]."""
        self._on_the_way.append((time + self._delay, efforts.copy()))

    def efforts(self, time: float) -> np.ndarray:
        """Return what the motors exert from now on, shape (joints,) [Nm]."""
        while self._on_the_way and self._on_the_way[0][0] <= time + 1e-9:
            self.held = self._on_the_way.popleft()[1]
        return np.clip(self.held + self._feedback(time), -self._limits, self._limits)

    def _feedback(self, time: float) -> np.ndarray | float:
        return 0.0


class PositionDrives(EffortDrives):
    """
    Drives with a position loop of their own, to which the command is added.

    :param reference: the motion that the loop follows.
    :param frequency: of the loop with the inertia of each joint at the beginning [rad/s].
    """

    def __init__(
            self, plant: Plant, reference: Reference, delay: float = 0.0,
            frequency: float = 20.0) -> None:
        super().__init__(plant, delay)
        inertia = np.diagonal(plant.mass_matrix()).copy()
        self._stiffness = inertia * frequency ** 2
        self._damping = 2.0 * inertia * frequency
        self.reference = reference
        self.held = np.zeros_like(self.held)

    def _feedback(self, time: float) -> np.ndarray:
        positions, velocities = self.reference(time)
        return (self._stiffness * (positions - self.plant.positions)
                + self._damping * (velocities - self.plant.velocities))
