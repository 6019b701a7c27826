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
The effort that brakes the joints which the node moves alone.

It gives each of them the acceleration −q̇/T.  As an effort, M(q) (−q̇/T), it always takes energy
out of the arm, whatever the true inertia is, because M is positive definite; and with the true
inertia the arm comes to rest with the time constant T, in each joint.  A damping by joint,
M_ii/T, does the same more slowly for joints that move together.

The effort is held for a period and acts after a delay.  Too short a T would oscillate: it is at
least four times the sum of both.
"""

from __future__ import annotations

import numpy as np

from ros2_rnea.robots.robot import Robot

LEAST_TIMES = 4.0
"""Shortest time constant, in multiples of period and delay."""


class Braking:
    """
    Damping of all joints that are braked.

    :param robot: the model, at the positions of each call.
    :param controlled: indices of the controlled joints in q̇ and in efforts.
    :param alone: true for joints that the node moves alone, shape (joints,).
    :param time_constant: T [s].
    :param delay: from a measurement until its effort acts, not including the period [s].
    """

    def __init__(
            self, robot: Robot, controlled: np.ndarray | slice, alone: np.ndarray,
            time_constant: float, delay: float) -> None:
        self._robot = robot
        self._controlled = controlled
        self._alone = alone
        self._time_constant = time_constant
        self._delay = delay
        self._rest, self._qdd, self._with, self._without = np.zeros((4, robot.nv))

    def effort(self, q: np.ndarray, velocities: np.ndarray, period: float) -> np.ndarray:
        """
        Return the damping, shape (joints,) [Nm or N].

        :param q: of the robot, shape (nq,).
        :param velocities: that are braked, shape (joints,) [rad/s or m/s]; 0: not at all.
        :param period: of the cycle [s].
        """
        time = max(self._time_constant, LEAST_TIMES * (period + self._delay))
        return self.inertia(q, np.where(self._alone, velocities, 0.0) * (-1.0 / time))

    def inertia(self, q: np.ndarray, accelerations: np.ndarray) -> np.ndarray:
        """
        Return the efforts M(q) q̈ that accelerations of the controlled joints need.

        :param accelerations: shape (joints,) [rad/s^2 or m/s^2].
        :return: shape (joints,) [Nm or N]; exactly 0 where no joint is accelerated.
        """
        if not accelerations.any():
            return np.zeros(len(accelerations))
        self._qdd[self._controlled] = accelerations
        effort = self._robot.inverse_dynamics(q, self._rest, self._qdd, out=self._with)
        effort -= self._robot.inverse_dynamics(q, self._rest, self._rest, out=self._without)
        return effort[self._controlled]
