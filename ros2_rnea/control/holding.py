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
"""Whether settings fit a robot, and whether it would be held where it is with them."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from ros2_rnea.adjustable_robot import AdjustableRobot
from ros2_rnea.control.inputs.external_effort import check_external_wrench_link
from ros2_rnea.control.inputs.joint_index_map import (
    check_assumed_positions,
    check_joint_names,
    joint_body,
    JointIndexMap,
    single_joints,
)
from ros2_rnea.control.law.effort_law import EffortLaw
from ros2_rnea.control.law.guiding import check_guiding
from ros2_rnea.control.law.motion_buffers import MotionBuffers
from ros2_rnea.control.law.state_feedback import check_gains
from ros2_rnea.control.output.effort_limits import (
    allowed_efforts,
    check_effort_limits,
    effort_limit_defects,
    LimitDefects,
    overloads,
)
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.errors import ArgumentError, UnsafeChangeError
from ros2_rnea.robot import Robot


def check_settings(robot: Robot, settings: Settings) -> None:
    """
    Check that settings fit a robot.

    :raises ArgumentError: naming the setting, what was given and what would do.
    """
    check_joint_names(robot, settings.joints, 'joints')
    check_assumed_positions(robot, settings.assumed_positions)
    check_effort_limits(robot, settings.effort_limits)
    check_guiding(robot, settings)
    check_external_wrench_link(robot, settings.external_wrench_link)
    if settings.mode is Mode.COMPUTED_TORQUE:
        joints = controlled_joints(robot, settings)
        check_gains('position_gains', settings.position_gains, joints)
        check_gains('velocity_gains', settings.velocity_gains, joints)


def controlled_joints(robot: Robot, settings: Settings) -> tuple[str, ...]:
    """Return the joints whose efforts are sent, in the order of the command."""
    return settings.joints or tuple(
        name for name in single_joints(robot) if name not in settings.assumed_positions)


class Holding:
    """
    The efforts that hold a robot where it is, compared with what its motors may have.

    Each question is about some settings and a gravity, which need not be those in use.  The robot
    gets that gravity until it is answered.

    :param robot: the model.
    :param controlled: the joints whose efforts are sent.
    :param index_map: the indices of the joints in q and q̇, the controlled ones first.
    :param positions: of the joints of the index map, an array that is written to elsewhere; NaN:
        not measured [rad or m].
    :param motions: composes the motion at rest.
    """

    def __init__(
            self, robot: AdjustableRobot, controlled: tuple[str, ...], index_map: JointIndexMap,
            positions: np.ndarray, motions: MotionBuffers) -> None:
        self._robot = robot
        self._controlled = controlled
        self._index_map = index_map
        self._positions = positions
        self._motions = motions
        self._all_known = False
        self._judged_limits: Mapping[str, float] | None = None
        self._defects = LimitDefects()
        self._tau = np.zeros(robot.nv)

    def unknown_positions(self) -> tuple[str, ...]:
        """Return the joints whose position is neither measured nor assumed."""
        if self._all_known:  # a known position stays known
            return ()
        unknown = self._index_map.unknown(self._positions)
        self._all_known = not unknown
        return unknown

    def remedy(self, joint: str) -> str:
        """Return what makes a joint's position known."""
        assume = f'set the parameter assumed_positions.{joint} to its position'
        if joint_body(self._robot, joint).type.nv > 1:
            return assume
        return f'publish {joint!r} in joint_states, or {assume}'

    def limit_defects(self, settings: Settings) -> LimitDefects:
        """Return what is wrong with the effort limits; equal ones are judged only once."""
        if settings.effort_limits != self._judged_limits:
            self._defects = effort_limit_defects(self._robot, self._controlled, settings)
            self._judged_limits = dict(settings.effort_limits)
        return self._defects

    def overloads(self, settings: Settings, gravity: np.ndarray) -> dict[str, str]:
        """Return the joints that need more than they may have, and how much of it."""
        return overloads(self._controlled, *self._load(settings, gravity, self._positions))

    def excess(self, settings: Settings, gravity: np.ndarray) -> dict[str, float]:
        """Return by how much gravity exceeds the limit of each joint; 0: not [Nm or N]."""
        needed, allowed = self._load(settings, gravity, self._positions)
        excess = np.nan_to_num(np.maximum(needed - allowed, 0.0), nan=inf, posinf=inf)
        return dict(zip(self._controlled, excess.tolist()))

    def check_finite(self, settings: Settings, gravity: np.ndarray) -> None:
        """
        Check that an effort can be computed where the joints are, or at 0 where that is unknown.

        :raises ArgumentError: naming the first joint whose effort is not a finite number.
        """
        positions = self._index_map.with_zero_where_unknown(self._positions)
        needed, _ = self._load(settings, gravity, positions)
        self._check_numbers(needed)

    def check(
            self, settings: Settings, gravity: np.ndarray, accepted: Mapping[str, float]) -> None:
        """
        Check that efforts could be sent which hold the robot where it is.

        :param accepted: the overload that is there already, by joint [Nm or N].
        :raises ArgumentError: naming the first joint whose effort is not a finite number.
        :raises UnsafeChangeError: where none could be sent, or they would not hold it.
        """
        reason = self._reason_to_send_nothing(settings)
        if not reason:
            needed, allowed = self._load(settings, gravity, self._positions)
            self._check_numbers(needed)
            reason = '; '.join(overloads(self._controlled, needed, allowed, accepted).values())
        if reason:
            raise UnsafeChangeError(
                f'{reason}. Efforts are being sent, and the arm would not be held any more: '
                'change this, or set enabled to false first')

    def reason_to_refuse(
            self, settings: Settings, gravity: np.ndarray, accepted: Mapping[str, float]) -> str:
        """Return why the robot could not be held; empty where it could."""
        reason = self._reason_to_send_nothing(settings)
        if reason:
            return reason
        load = self._load(settings, gravity, self._positions)
        return '; '.join(overloads(self._controlled, *load, accepted).values())

    def _reason_to_send_nothing(self, settings: Settings) -> str:
        """Return why no effort could be sent, whatever gravity is; empty where one could."""
        defects = self.limit_defects(settings)
        if defects:
            return defects.text
        unknown = self.unknown_positions()
        if unknown:
            return f'the position of joint {unknown[0]!r} is unknown: {self.remedy(unknown[0])}'
        return ''

    def _check_numbers(self, needed: np.ndarray) -> None:
        """Check that efforts are finite numbers."""
        for name, effort in zip(self._controlled, needed.tolist()):
            if not effort < inf:
                raise ArgumentError(
                    f'the effort that holds joint {name!r} is no finite number: gravity, a mass '
                    'or a spring is far too large')

    def _load(
            self, settings: Settings, gravity: np.ndarray, positions: np.ndarray,
            ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the sizes of the efforts that hold the joints at positions, and their limits.

        Both have the shape (joints,) [Nm or N].
        """
        law = EffortLaw(self._robot, settings.sent_terms, settings.arm_gravity)
        with self._robot.under_gravity(gravity):
            needed = law.effort(self._motions.held(positions), self._tau)
        controlled = self._motions.controlled
        return np.abs(needed[controlled]), allowed_efforts(self._robot, settings)[controlled]
