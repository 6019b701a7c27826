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
The two computations of the demo's identification: the motion to record, and the model that fits.

Nothing here knows ROS; the library does the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.identification.bag_recording import read_bag
from ros2_rnea.offline.identification.excitation import ExcitationPlanner, ExcitationSettings
from ros2_rnea.offline.identification.fourier_motion import FourierMotion
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.offline.identification.moving_joints import JointBounds, MovingJoints
from ros2_rnea.offline.identification.preparation import prepare
from ros2_rnea.offline.identification.results import Identification
from ros2_rnea.offline.identification.unknowns import Design, Unknowns
from ros2_rnea.offline.identification.urdf_file import with_parameters_of
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import Arm
from ros2_rnea.tools.demo.motion import Motion

SETTINGS = ExcitationSettings(period=12.0, harmonics=6, periods=2, rate=500.0, starts=1)
"""Settings of the search for the motion."""

NOISE_SHARE = 0.01
"""Standard deviation of measured efforts that the search expects, of their limits."""


class ExcitingMotion(NamedTuple):
    """
    A periodic motion, from its start to the end of its last period.

    :ivar motion: one period, in the order of the robot's joints.
    :ivar columns: for each joint of the arm, its column there.
    :ivar duration: of all periods [s].
    """

    motion: FourierMotion
    columns: list[int]
    duration: float

    def at(self, times: ArrayLike) -> Motion:
        """Return the motion at given times [s]; before the start and after the end it rests."""
        clipped = np.clip(np.asarray(times, dtype=float), 0.0, self.duration)
        return Motion(*self.motion.at(clipped)[:, :, self.columns])


def exciting_motion(arm: Arm) -> ExcitingMotion:
    """
    Return a motion from the arm's start whose recording tells its inertias and its friction.

    :raises RneaError: where the description has no limits for it, or no motion keeps them.
    """
    robot = Robot.from_urdf(arm.urdf)
    joints = robot.joint_names
    limits = {joint.name: joint.limits.usable for joint in parse_urdf(arm.urdf).joints}
    bounds = [JointBounds(*(
        getattr(limits[name], field) for field in ('lower', 'upper', 'velocity', 'effort')))
        for name in joints]
    start = arm.start[[arm.joint_names.index(name) for name in joints]]
    moving = MovingJoints(robot, joints, bounds, start)
    planner = ExcitationPlanner(
        moving, Design(robot, Unknowns(), np.zeros(robot.nv)), NOISE_SHARE * moving.effort,
        SETTINGS, start)
    return ExcitingMotion(
        planner.plan().motion, [joints.index(name) for name in arm.joint_names],
        SETTINGS.period * SETTINGS.periods)


class Found(NamedTuple):
    """
    What was identified of an arm.

    :ivar urdf: the description with the identified inertias.
    :ivar friction: the node's parameters of the joints' friction, and their values.
    """

    urdf: str
    friction: Mapping[str, float]
    identification: Identification


def identified(arm: Arm, recording: Path) -> Found:
    """
    Return what fits the recording of an arm.

    :param recording: the folder of a bag.
    :raises RneaError: where the recording does not say enough.
    """
    robot = Robot.from_urdf(arm.urdf)
    if robot.nq != len(arm.joint_names):
        raise ArgumentError(f'{robot.name!r} has joints that the simulation has fixed')
    prepared = prepare(read_bag(recording), robot).prepared
    result = identify([prepared], robot, Unknowns())
    urdf = with_parameters_of(arm.urdf.encode(), result.robot).document.decode()
    friction = {
        f'{name}.{joint}': value for joint, law in result.friction.items()
        for name, value in law.numbers().items() if value}
    return Found(urdf, friction, result)
