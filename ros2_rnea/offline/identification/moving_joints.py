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
"""What a robot does while some of its joints move: states, efforts, and whether limits hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from ros2_rnea.offline.identification.motion_bounds import AllowedMotion
from ros2_rnea.robots.arguments import Array
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot

Clearance = Callable[[Array], Array]
"""
A function from q (N, nq) to the least distance between what must not touch, shape (N,) [m]; it may
be cut off at more than what is demanded.
"""

POSITION, VELOCITY, ACCELERATION, EFFORT = range(4)
"""The rows of :meth:`.AllowedMotion.shares`."""


class States(NamedTuple):
    """
    States of a robot.

    :ivar q: shape (N, nq) [rad or m].
    :ivar qd: shape (N, nv), per s; qdd, shape (N, nv), per s^2.
    """

    q: Array
    qd: Array
    qdd: Array


class MovingJoints:
    """
    Some joints of a robot, which move, and the others, which rest.

    :param robot: with the payloads that it carries, which count in the efforts.
    :param allowed: the joints that move, and their limits.
    :param posture: positions of the whole robot, shape (nq,), of which those of joints that do
        not move count.
    :param clearance: from configurations to the least distance [m]; None: it is not checked.
    :param least: clearance that is demanded [m].
    :ivar q_index: of the joints that move, in q, shape (joints,); v_index, in q̇.
    """

    def __init__(
            self, robot: Robot, allowed: AllowedMotion, posture: Array,
            clearance: Clearance | None = None, least: float = 0.0) -> None:
        self.robot, self.allowed, self.clearance, self.least = robot, allowed, clearance, least
        self._posture = np.array(posture, dtype=float)
        bodies = [joint_body(robot, joint) for joint in allowed.joints]
        self.q_index = np.array([body.q_index for body in bodies])
        self.v_index = np.array([body.v_index for body in bodies])

    def q(self, positions: Array) -> Array:
        """Return the positions of all joints, (N, nq), from those of moving ones, (N, joints)."""
        q = np.tile(self._posture, (len(positions), 1))
        q[:, self.q_index] = positions
        return q

    def states(self, motion: Array) -> States:
        """Return states of the whole robot from those of moving joints, shape (3, N, joints)."""
        qd, qdd = np.zeros((2, motion.shape[1], self.robot.nv))
        qd[:, self.v_index], qdd[:, self.v_index] = motion[1:]
        return States(self.q(motion[0]), qd, qdd)

    def at_rest(self, pose: Array) -> Array:
        """Return the motion that rests in a pose of moving joints, shape (3, 1, joints)."""
        return np.stack((pose, 0.0 * pose, 0.0 * pose))[:, np.newaxis]

    def efforts(self, states: States) -> Array:
        """Return the efforts of moving joints, shape (N, joints) [Nm or N]."""
        return self.robot.inverse_dynamics(*states)[:, self.v_index]

    def shares(self, motion: Array, states: States) -> Array:
        """Return the shares of what is allowed, as :meth:`.AllowedMotion.shares`."""
        return self.allowed.shares(motion, self.efforts(states))

    def holds(self, motion: Array) -> bool:
        """Return whether all limits are kept in a motion of shape (3, N, joints)."""
        states = self.states(motion)
        return bool(np.abs(self.shares(motion, states)).max() <= 1.0) and (
            self.clearance is None or bool(self.clearance(states.q).min() >= self.least))
