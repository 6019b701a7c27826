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
"""Efforts that help to guide an arm by hand: damping, friction assistance and end stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot


class Guiding:
    """
    The efforts that are added to gravity while an arm is guided by hand.

    - *Damping* is opposed to the measured velocity.
    - *Friction assistance* is a share of the joint's friction at the measured velocity.  It is
      zero up to the deadband and has its full share from twice the deadband on: near rest, the
      sign of a measured velocity is noise, and the joint would be pushed to and fro.  As the share
      is less than 1, friction still brakes the joint.
    - *End stops* are springs that begin ``position_limit_margin`` before the ends of the range.

    :param robot: the model, whose friction is assisted.
    :param joints: the controlled joints.
    :param controlled: their indices in the robot's vectors.
    :param lower: where the lower end stops begin, shape (joints,) [rad or m].
    :param upper: where the upper ones begin, shape (joints,) [rad or m].
    :param settings: that are used.
    :ivar helped_by_velocity: the joints whose measured velocity is needed.
    :ivar damping: of each joint, shape (joints,) [Nm s/rad or N s/m].
    """

    def __init__(
            self, robot: Robot, joints: Sequence[str], controlled: slice | np.ndarray,
            lower: np.ndarray, upper: np.ndarray, settings: Settings) -> None:
        self._robot = robot
        self._joints = joints
        self._controlled = controlled
        self._qd, self._rest = np.zeros((2, robot.nv))
        self._lower, self._upper = lower, upper
        self._stiffness = self._of_joints(settings.end_stop_stiffness)
        self.damping = self._of_joints(settings.guiding_damping)
        self._assistance = settings.friction_assistance
        self._deadband = settings.friction_assistance_deadband
        self._has_stops = bool(self._stiffness.any())
        self._needs_velocities = bool(self.damping.any() or self._assistance)
        self.helped_by_velocity = frozenset(
            name for name, damping in zip(self._joints, self.damping)
            if damping or self._assistance)

    def _of_joints(self, values: Mapping[str, float]) -> np.ndarray:
        return np.array([values.get(name, 0.0) for name in self._joints])

    def effort(self, measured: np.ndarray, share: float = 1.0) -> np.ndarray | None:
        """
        Return the effort to add; None where nothing is set.

        :param measured: positions and velocities of the joints, shape (2, joints).
        :param share: of the damping that is stable.
        :return: shape (joints,) [Nm or N].
        """
        if not (self._needs_velocities or self._has_stops):
            return None
        q, qd = measured
        effort = -share * self.damping * qd
        if self._has_stops:
            beyond = np.maximum(q - self._upper, 0.0) + np.minimum(q - self._lower, 0.0)
            effort -= self._stiffness * beyond
        if self._assistance:
            self._qd[self._controlled] = qd
            friction = self._friction_of_motion()
            effort += self._assistance * self._weight(qd) * friction
        return effort

    def _friction_of_motion(self) -> np.ndarray:
        """Return the friction less its offset, which is sent at rest, too."""
        friction = self._robot.friction(self._qd) - self._robot.friction(self._rest)
        return friction[self._controlled]

    def _weight(self, qd: np.ndarray) -> np.ndarray:
        """Return 0 within the deadband, rising to 1 at twice the deadband."""
        return np.clip(np.abs(qd) / self._deadband - 1.0, 0.0, 1.0)


def check_guiding(robot: Robot, settings: Settings) -> None:
    """
    Check that joints can have the damping, end stops and scales that are set for them.

    :raises ArgumentError: naming the first one that cannot.
    """
    for family in ('guiding_damping', 'end_stop_stiffness'):
        for name in getattr(settings, family):
            if name in robot.tree.joints and joint_body(robot, name).type.nv > 1:
                raise ArgumentError(
                    f'{family}.{name}: joint {name!r} is {joint_body(robot, name).type.label}; '
                    'only a joint of one coordinate can have it')
    for name in settings.command_scale:
        if name not in robot.tree.joints:  # a drive would get Nm in place of its own unit
            raise ArgumentError(
                f'command_scale.{name}: {robot.name!r} has no joint {name!r} with an effort of '
                f'its own{did_you_mean(name, robot.tree.joints)}')
    for name in settings.end_stop_stiffness:
        if name in robot.tree.joints:
            limits = joint_body(robot, name).limits
            if not -np.inf < limits.lower < limits.upper < np.inf:
                raise ArgumentError(
                    f'end_stop_stiffness.{name}: joint {name!r} has no range in the description, '
                    'so that it has no end stop')
