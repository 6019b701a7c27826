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
"""What follows from the robot and the choice of the controlled joints, for all settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.inputs.plausibility import PlausibleMotion
from ros2_rnea.control.law.friction_check import FrictionShares
from ros2_rnea.control.law.motion_buffers import MotionBuffers
from ros2_rnea.control.settings import Settings
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import Body
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.joint_index_map import joint_body, JointIndexMap, single_joints
from ros2_rnea.robots.robot import Robot


class JointKind(NamedTuple):
    """
    How a joint moves.

    :ivar axis: unit vector in the joint's frame.
    """

    type: JointType  # noqa: A003
    axis: tuple[float, float, float]

    def __str__(self) -> str:
        return f'{self.type.label} with the axis {" ".join(f"{part:g}" for part in self.axis)}'


class RobotJoints:
    """
    The joints of one robot: the controlled ones first, then others with one degree of freedom.

    :param robot: the model.
    :param joints: the controlled joints, in the order of the command; empty: all that may be.
    :param assumed_positions: by name, for joints that no joint state reports.
    :ivar controlled: the names of the controlled joints.
    :ivar others: of other joints with one degree of freedom.
    :ivar measured: all joints whose state is of use: these, and those that follow others.
    :ivar bodies: those that the controlled joints move.
    :ivar kinds: of the controlled joints.
    :ivar bounds: their ranges and velocity limits, shape (joints, 3) [rad or m, and per s].
    :ivar continuous: true for controlled joints that turn without end.
    :ivar turns: true for controlled joints whose position is an angle.
    :ivar index_map: the indices of all these joints in q and q̇.
    :ivar motions: composes motions of the whole robot.
    :ivar friction_shares: the largest friction of the controlled joints.
    :ivar wrapping: the measured joints that turn without end.
    :ivar plausible: how the measured joints can move.
    """

    def __init__(
            self, robot: AdjustableRobot, joints: Sequence[str],
            assumed_positions: Mapping[str, Sequence[float]]) -> None:
        self.robot = robot
        self.controlled = tuple(joints) or tuple(
            name for name in single_joints(robot) if name not in assumed_positions)
        self.others = tuple(
            name for name in single_joints(robot) if name not in self.controlled)
        self.measured = (*self.controlled, *self.others, *robot.tree.mimics)
        self.bodies = [joint_body(robot, name) for name in self.controlled]
        self.kinds = [JointKind(body.type, (*body.axis,)) for body in self.bodies]
        self.bounds = np.array([body.limits.bounds for body in self.bodies]).reshape(-1, 3)
        self.continuous = [body.type.wraps for body in self.bodies]
        self.turns = [body.type.turns_about_axis for body in self.bodies]
        self.index_map = JointIndexMap(
            robot, (*self.controlled, *self.others), assumed_positions)
        self.motions = MotionBuffers(self.index_map, len(self.controlled))
        self.friction_shares = FrictionShares(robot, self.bodies, self.motions.controlled)
        measured = self.measured_bodies()
        wraps = [body.type.wraps for body in measured]
        self.wrapping = [name for name, wrap in zip(self.measured, wraps) if wrap]
        self.plausible = PlausibleMotion.of([body.limits for body in measured], wraps)

    def measured_bodies(self) -> list[Body]:
        """Return the bodies that these joints move."""
        tree = self.robot.tree
        return [tree.bodies[tree.mimics[name] if name in tree.mimics else tree.joints[name]]
                for name in self.measured]


def controlled_joints(robot: Robot, settings: Settings) -> tuple[str, ...]:
    """Return the joints whose efforts are sent, in the order of the command."""
    return settings.joints or tuple(
        name for name in single_joints(robot) if name not in settings.assumed_positions)
