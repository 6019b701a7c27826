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
"""The robots whose node is measured: by name from the package example-robot-data, or a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmark.errors import BenchmarkError
from benchmark.node.joint_range import joint_range, JointRange
from benchmark.robots import EXAMPLES
from ros2_rnea import Robot
from ros2_rnea.robots.joint_index_map import joint_body, single_joints


class BenchmarkRobot(NamedTuple):
    """
    A robot whose node is measured.

    :ivar urdf: its description, as the node gets it.
    :ivar links: two that may carry a payload.
    :ivar joints: those that are controlled, in their order, and where each is.
    """

    name: str
    urdf: str
    joints: Mapping[str, JointRange]
    links: tuple[str, ...] = ()


def find_robot(name: str) -> BenchmarkRobot:
    """
    Return a robot by its name in :data:`EXAMPLES`, or from the URDF file of that path.

    It stands on the ground, as the node takes every robot, and is the whole of its description.

    :raises BenchmarkError: where there is neither.
    :raises RneaError: where the description leaves the dynamics undefined.
    """
    if name in EXAMPLES:
        urdf = EXAMPLES[name].read()
    elif Path(name).is_file():
        urdf, name = Path(name).read_text(encoding='utf-8'), Path(name).stem
    else:
        raise BenchmarkError(
            f'{name!r} is neither a URDF file nor one of {", ".join(EXAMPLES)}')
    robot = Robot.from_urdf(urdf)
    return BenchmarkRobot(name, urdf, {
        joint: joint_range(joint_body(robot, joint).limits) for joint in single_joints(robot)},
        tuple(joint_body(robot, joint).link for joint in single_joints(robot))[-2:])
