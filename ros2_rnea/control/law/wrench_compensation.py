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
"""How much of the measured wrenches is compensated: while a motion is followed, within limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_rnea.control.arrays import any_set
from ros2_rnea.control.signals import remaining_weight
from ros2_rnea.robots.robot import Robot


@dataclass
class WrenchFadeMemory:
    """
    How far the compensation of wrenches has been faded in.

    :ivar share: of the fade, 0 to 1; None before the first cycle.
    :ivar at: when it was that large [s].
    """

    share: float | None = None
    at: float = 0.0


class WrenchCompensation:
    """
    Fades the compensation of wrenches in and out, and keeps it within its share of the limits.

    All wrenches are reduced by one factor: the effort of a joint that was reduced alone would
    belong to a wrench of another direction.

    :param robot: the model, at the positions of each call.
    :param controlled: indices of the controlled joints in q̇ and in efforts.
    :param limits: of the efforts that compensate wrenches, shape (joints,) [Nm or N].
    :param fade_time: duration of a complete fade [s].
    :ivar memory: how far it is faded in; another one may be set.
    :ivar is_limited: true for the joints whose limit reduced the wrenches in the last call.
    """

    def __init__(
            self, robot: Robot, controlled: np.ndarray | slice, limits: np.ndarray,
            fade_time: float) -> None:
        self._robot = robot
        self._controlled = controlled
        self._limits = limits
        self._fade_time = fade_time
        self.memory = WrenchFadeMemory()
        self._rest, self._with, self._without = np.zeros((3, robot.nv))
        self.is_limited: np.ndarray | None = None

    def fade(self, is_followed: bool, now: float) -> float:
        """
        Return the weight of wrenches, which goes to 1 while a motion is followed, else to 0.

        :param is_followed: whether there is a motion, or its end, at which the controller holds
            the arm.  Where nothing holds it, the effort against a wrench accelerates it.
        :param now: on the steady clock [s].
        """
        memory, target = self.memory, 1.0 if is_followed else 0.0
        if memory.share is None or not self._fade_time:
            memory.share = target
        else:
            step = min(max(now - memory.at, 0.0) / self._fade_time, 1.0)
            memory.share = min(max(target, memory.share - step), memory.share + step)
        memory.at = now
        return 1.0 - remaining_weight(memory.share, 1.0)

    def end(self, now: float) -> None:
        """Compensate no wrench from now on, until it is faded in again."""
        self.memory.share, self.memory.at, self.is_limited = 0.0, now, None

    def within_share(self, q: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """
        Return wrenches whose effort is within the limits of all controlled joints.

        :param q: shape (nq,).
        :param wrenches: applied by the environment, shape (bodies, 6).
        """
        rest, robot = self._rest, self._robot
        effort = robot.inverse_dynamics(q, rest, rest, f_ext=wrenches, out=self._with)
        effort -= robot.inverse_dynamics(q, rest, rest, out=self._without)
        sizes = np.abs(effort[self._controlled])
        exceeds = sizes > self._limits
        if not any_set(exceeds):
            self.is_limited = None
            return wrenches
        self.is_limited = exceeds
        return (self._limits[exceeds] / sizes[exceeds]).min() * wrenches
