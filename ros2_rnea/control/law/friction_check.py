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
Whether friction that is sent could drive a joint by itself.

Friction acts in the direction of the motion.  Where the model has far too much of it, each joint
runs away at its effort limit as soon as it moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ros2_rnea.control.output.effort_limits import ROUNDING
from ros2_rnea.dynamics.friction import SIGN_WIDTH
from ros2_rnea.model.tree import Body, Tree
from ros2_rnea.robots.robot import Robot

MAX_FRICTION = 1.0
"""No friction that is sent may become a larger share of an effort limit than this."""

SPEED_WITHOUT_LIMIT = 0.1
"""Speed up to which friction of a joint without velocity limit is computed [rad/s or m/s]."""

SPEEDS_OF_FRICTION = 16
"""Speeds in each direction at which friction is computed, from the least to the largest."""


class FrictionShares:
    """
    The largest friction of each joint, in either direction, as a share of its effort limit.

    It is the largest of all speeds up to half the velocity limit, since breakaway friction is
    largest at a low speed.  It is computed once for each change of joint parameters: for 30 joints
    that takes as long as a whole cycle.

    :param robot: the model, with the joint parameters that it has at each call.
    :param bodies: those that the controlled joints move.
    :param v_index: the indices of these joints in q̇ and in efforts.
    """

    def __init__(
            self, robot: Robot, bodies: Sequence[Body], v_index: slice | np.ndarray) -> None:
        self._robot = robot
        self._names = [body.joint for body in bodies]
        self._v_index = v_index
        limits = np.array([body.limits.velocity for body in bodies])
        has_limit = (limits > 0.0) & np.isfinite(limits)
        fastest = np.where(has_limit, 0.5 * limits, SPEED_WITHOUT_LIMIT)
        speeds = np.geomspace(SIGN_WIDTH, np.maximum(fastest, SIGN_WIDTH), SPEEDS_OF_FRICTION)
        self._velocities = [np.zeros_like(fastest), *speeds, *-speeds]
        self._tree: Tree | None = None  # whose friction is known
        self._largest = np.zeros(len(bodies))

    def of(self, limits: np.ndarray) -> dict[str, float]:
        """
        Return the shares by joint.

        :param limits: of the joints, shape (joints,) [Nm or N].
        """
        tree = self._robot.tree_without_payloads  # which a change of joint parameters replaces
        if self._tree is not tree:
            self._tree, self._largest = tree, self._largest_friction()
        return dict(zip(self._names, (self._largest / limits).tolist()))

    def _largest_friction(self) -> np.ndarray:
        """Return the largest friction, shape (joints,) [Nm or N]."""
        qd, largest = np.zeros(self._robot.nv), np.zeros(len(self._names))
        for velocities in self._velocities:
            qd[self._v_index] = velocities
            largest = np.maximum(largest, np.abs(self._robot.friction(qd)[self._v_index]))
        return largest


def reason_to_refuse(shares: Mapping[str, float], before: Mapping[str, float]) -> str:
    """
    Return why friction is not sent; empty where it may be.

    :param shares: of the friction after a change.
    :param before: of that before it; what is as large already may stay.
    """
    for name, share in shares.items():
        is_allowed = share <= MAX_FRICTION  # false where it is no number
        if not (is_allowed or share <= before.get(name, 0.0) * (1.0 + ROUNDING)):
            return (
                f'up to half the velocity limit of joint {name!r}, the friction that is sent '
                f'would be {share:.3g} times its effort limit. Efforts are being sent, and the '
                'joint would be driven on as soon as it moves: check damping, friction, '
                'friction_offset and the other friction parameters, or set enabled to false first')
    return ''
