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
"""The arms of the bench: what is true of them, and the model that the policy gets of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
import re

from example_robots import example_urdf
import numpy as np
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools import models


@dataclass(frozen=True)
class Arm:
    """
    An arm on a fixed base.  The joints of all arrays are in the order of ``joints``.

    :ivar urdf: without the friction of the joints, which stands here.
    :ivar joints: those that the node controls; the arm has no other moving joints.
    :ivar tip: the link that is pushed and carries payloads.
    :ivar start: where the arm waits, shape (joints,) [rad].
    :ivar viscous: friction, shape (joints,) [Nm s/rad].
    :ivar coulomb: friction, shape (joints,) [Nm].
    :ivar armature: inertia of the rotors as it acts on the joints, shape (joints,) [kg m^2].
    :ivar payload: the mass that it can lift [kg].
    """

    name: str
    urdf: str
    joints: tuple[str, ...]
    tip: str
    start: np.ndarray
    viscous: np.ndarray
    coulomb: np.ndarray
    armature: np.ndarray
    payload: float

    @property
    def size(self) -> int:
        """Return the number of joints."""
        return len(self.joints)

    def model(self, coulomb: float = 0.0, armature: float = 0.0) -> AdjustableRobot:
        """
        Return the model of the arm, which may carry a payload at its tip.

        It has all of the viscous friction.

        :param coulomb: the share of the Coulomb friction that the model has.
        :param armature: likewise of the armature.
        """
        robot = AdjustableRobot.of(
            Robot.from_urdf(self.urdf), payload_links=(self.tip,),
            optional_parameters=('armature',) if armature else ())
        self._set(robot, 'damping', self.viscous)
        self._set(robot, 'friction', coulomb * self.coulomb)
        if armature:
            self._set(robot, 'armature', armature * self.armature)
        return robot

    def _set(self, robot: AdjustableRobot, parameter: str, values: np.ndarray) -> None:
        robot.set_joint_parameters(parameter, dict(zip(self.joints, values.tolist())))


def effort_limits(robot: Robot) -> np.ndarray:
    """Return what the motors of an arm can exert, shape (joints,) [Nm]."""
    return np.array(robot.effort_limits)


@cache
def seven_joints() -> Arm:
    """Return the arm of the demo, which has the figures of a Franka Panda."""
    text = (Path(models.__file__).parent / 'seven_dof_arm.urdf').read_text(encoding='utf-8')
    return Arm(
        name='seven joints',
        urdf=_without_friction(text),
        joints=tuple(f'joint{number}' for number in range(1, 8)),
        tip='hand',
        start=np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.6]),
        viscous=np.array([1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.2]),
        coulomb=np.array([1.5, 1.5, 1.5, 1.5, 0.4, 0.4, 0.3]),
        armature=np.full(7, 0.1),
        payload=3.0)


STRETCHED = np.array([0.0, 1.2, 0.0, -0.5, 0.0, 1.7, 0.0])
"""A pose of the arm with seven joints in which it reaches far out, shape (7,) [rad]."""


@cache
def light() -> Arm:
    """
    Return the SO-101, an arm of 0.6 kg with servos of 3 Nm; its gripper is closed.

    Friction and armature are those of its model in MuJoCo Menagerie; the description has 10 Nm
    and 10 rad/s for every servo, which none of them reaches.
    """
    text = example_urdf('so_arm_description/urdf/so101.urdf')
    text = text.replace('<joint name="gripper" type="revolute">',
                        '<joint name="gripper" type="fixed">')
    return Arm(
        name='SO-101',
        urdf=text.replace('effort="10" velocity="10"', 'effort="3" velocity="5"'),
        joints=('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll'),
        tip='gripper_link',
        start=np.array([0.0, -0.3, 0.4, 0.5, 0.0]),
        viscous=np.full(5, 0.6),
        coulomb=np.full(5, 0.052),
        armature=np.full(5, 0.028),
        payload=0.2)


@cache
def heavy() -> Arm:
    """Return the UR10, an arm of 29 kg; friction and armature are of the size that gears have."""
    return Arm(
        name='UR10',
        urdf=_without_friction(example_urdf('ur_description/urdf/ur10_robot.urdf')),
        joints=('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
                'wrist_2_joint', 'wrist_3_joint'),
        tip='wrist_3_link',
        start=np.array([0.0, -1.2, 1.6, -1.8, -1.5, 0.0]),
        viscous=np.array([12.0, 12.0, 8.0, 2.0, 2.0, 2.0]),
        coulomb=np.array([10.0, 10.0, 8.0, 2.0, 2.0, 2.0]),
        armature=np.array([2.0, 2.0, 1.0, 0.3, 0.3, 0.3]),
        payload=5.0)


def _without_friction(urdf: str) -> str:
    return re.sub(r'<dynamics[^>]*/>', '', urdf)
