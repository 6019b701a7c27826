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
"""Which joints of a robot are those of a hand or a gripper, which no arm's controller moves."""

from __future__ import annotations

from ros2_rnea.model.tree import BASE
from ros2_rnea.robots.joint_index_map import single_joints
from ros2_rnea.robots.robot import Robot

_NAME = 'gripper'
"""A word in the name of a single joint that is the last one and moves one jaw."""


def hand_joints(robot: Robot) -> tuple[str, ...]:
    """
    Return the independent joints of hands, of one coordinate each.

    A hand is all that several joints move on one body, if at least as many joints are before this
    body as are behind it, mimics among them; or the last joint, if it is called a gripper.
    """
    bodies = robot.tree.bodies
    before: list[int] = []
    behind, children = [0] * len(bodies), [0] * len(bodies)
    for body in bodies:
        before.append(1 if body.parent == BASE else before[body.parent] + 1)
    for index in reversed(range(len(bodies))):
        parent = bodies[index].parent
        if parent != BASE:
            behind[parent] = max(behind[parent], behind[index] + 1)
            children[parent] += 1
    joints: dict[int, str] = {}
    for index, body in enumerate(bodies):
        parent = body.parent
        if parent != BASE and (
                parent in joints or children[parent] > 1 and before[parent] >= behind[parent]
                or not children[index] and _NAME in body.joint.lower()):
            joints[index] = body.joint
    return tuple(name for name in single_joints(robot) if name in joints.values())
