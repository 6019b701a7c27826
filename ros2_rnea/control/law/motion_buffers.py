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
"""The motion of the whole robot that a cycle computes an effort for."""

from __future__ import annotations

import numpy as np

from ros2_rnea.control.arrays import as_indices
from ros2_rnea.control.decision import State
from ros2_rnea.control.law.effort_law import RobotMotion
from ros2_rnea.control.target.motion import Target
from ros2_rnea.robots.joint_index_map import JointIndexMap


class MotionBuffers:
    """
    Composes motions of the whole robot, in arrays that each cycle overwrites.

    The controlled joints have their desired or measured state, all others their measured or
    assumed one.  The arrays and the motions over them are allocated once: allocation in every
    cycle would cost time and garbage collection.  A returned motion is valid until the next one
    is composed; only the one of :meth:`held` has positions of its own.

    :param index_map: the indices of the joints in q and q̇, the controlled ones first.
    :param controlled_count: how many of its joints are controlled.
    :ivar controlled: indices of the controlled joints in q̇ and in efforts.
    """

    def __init__(self, index_map: JointIndexMap, controlled_count: int) -> None:
        self._index_map = index_map
        self._count = controlled_count
        self._controlled_q = as_indices(index_map.q_index[:controlled_count])
        self.controlled = as_indices(index_map.v_index[:controlled_count])
        self._others_v = as_indices(index_map.v_index[controlled_count:])
        self._q = index_map.positions(np.full(len(index_map.q_index), np.nan))
        self._held_q = self._q.copy()
        rest, self._qd, self._desired_qd, self._qdd, self._correction = np.zeros(
            (5, index_map.nv))
        rest.flags.writeable = False
        self._resting = RobotMotion(self._q, rest, rest)
        self._moving = RobotMotion(self._q, self._qd, self._qdd)
        self._corrected = RobotMotion(
            self._q, self._qd, self._qdd, self._correction, friction_qd=self._desired_qd)
        self._held = RobotMotion(self._held_q, rest, rest)

    def held(self, positions: np.ndarray) -> RobotMotion:
        """
        Return rest at measured positions, without changing the other motions.

        :param positions: of all joints of the index map; NaN where a joint is not measured.
        """
        self._index_map.fill_positions(self._held_q, positions)
        return self._held

    def at_rest(self, positions: np.ndarray) -> RobotMotion:
        """Return rest at measured positions, given as for :meth:`held`."""
        self._index_map.fill_positions(self._q, positions)
        return self._resting

    def set_other_joints(self, positions: np.ndarray, velocities: np.ndarray) -> None:
        """Store the state of the joints that are not controlled; NaN: not measured."""
        self._index_map.fill_positions(self._q, positions, start=self._count)
        self._qd[self._others_v] = velocities

    def desired(self, target: Target) -> RobotMotion:
        """Return the desired motion of the controlled joints."""
        self._q[self._controlled_q] = target.positions
        if target.wanted is not State.TRACKING:
            return self._resting
        self._qd[self.controlled] = target.velocities
        self._qdd[self.controlled] = target.accelerations
        return self._moving

    def corrected(
            self, target: Target, measured: np.ndarray, correction: np.ndarray, weight: float,
            ) -> RobotMotion:
        """
        Return the measured motion with the desired acceleration and a correction of it.

        :param measured: positions and velocities of the controlled joints, shape (2, joints).
        :param correction: acceleration of the state feedback, shape (joints,).
        :param weight: of the desired motion, 0 to 1.
        """
        positions, velocities = measured
        self._correction[self.controlled] = correction
        self._qdd[self.controlled] = weight * target.accelerations + correction
        self._desired_qd[:] = self._qd
        self._desired_qd[self.controlled] = weight * target.velocities
        self._q[self._controlled_q] = positions
        self._qd[self.controlled] = velocities
        return self._corrected
