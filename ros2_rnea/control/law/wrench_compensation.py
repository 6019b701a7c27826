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

import numpy as np

from ros2_rnea.control.arrays import any_set
from ros2_rnea.control.signals import remaining_weight
from ros2_rnea.robot import Robot


class WrenchCompensation:
    """
    Fades the compensation of wrenches in and out, and keeps it within its share of the limits.

    All wrenches are reduced by one factor: the effort of a joint that was reduced alone would
    belong to a wrench of another direction.

    :param robot: the model, at the positions of each call.
    :param controlled: indices of the controlled joints in q̇ and in efforts.
    :ivar limits: of the efforts that compensate wrenches, shape (joints,) [Nm or N].
    :ivar fade_time: duration of a complete fade [s].
    :ivar is_limited: true for the joints whose limit reduced the wrenches in the last call.
    """

    def __init__(self, robot: Robot, controlled: np.ndarray | slice) -> None:
        self._robot = robot
        self._controlled = controlled
        self._rest, self._with, self._without = np.zeros((3, robot.nv))
        self._faded_in: float | None = None  # share of the fade; None before the first call
        self._last = 0.0
        self.limits = np.zeros(0)
        self.fade_time = 0.0
        self.is_limited: np.ndarray | None = None

    def fade(self, is_followed: bool, now: float) -> float:
        """
        Return the weight of wrenches, which goes to 1 while a motion is followed, else to 0.

        :param is_followed: whether there is a motion, or its end, at which the controller holds
            the arm.  Where nothing holds it, the effort against a wrench accelerates it.
        :param now: on the steady clock [s].
        """
        target = 1.0 if is_followed else 0.0
        if self._faded_in is None or not self.fade_time:
            self._faded_in = target
        else:
            step = min(max(now - self._last, 0.0) / self.fade_time, 1.0)
            self._faded_in = min(max(target, self._faded_in - step), self._faded_in + step)
        self._last = now
        return 1.0 - remaining_weight(self._faded_in, 1.0)

    def end(self, now: float) -> None:
        """Compensate no wrench from now on, as after a contact, until it is faded in again."""
        self._faded_in, self._last, self.is_limited = 0.0, now, None

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
        exceeds = sizes > self.limits
        if not any_set(exceeds):
            self.is_limited = None
            return wrenches
        self.is_limited = exceeds
        return (self.limits[exceeds] / sizes[exceeds]).min() * wrenches
