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
"""Descriptions with one odd thing in them, and what is found about it."""

from __future__ import annotations

from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Pose,
    RobotDescription,
)
from ros2_rnea.offline.audit import audit

LIMITS = JointLimits(-1.0, 1.0, 2.0, 300.0)
BRICK = Inertial(1.0, Pose((0.1, 0.0, 0.0)), (0.002, 0.0, 0.0, 0.003, 0.0, 0.004))


def findings_of_link(
        inertial: Inertial, base: Inertial | None = None) -> list[tuple[str, str]]:
    """Return kind and text of what is found about one link that is no root."""
    links = (LinkDescription('base', base), LinkDescription('part', inertial))
    joint = JointDescription('bolts', JointType.FIXED, 'base', 'part')
    return [(finding.kind.name, finding.text)
            for finding in audit(RobotDescription('r', links, (joint,)))
            if finding.subject == "link 'part'"]


def findings_of_joint(kind: JointType = JointType.REVOLUTE, **values: object) -> dict[str, str]:
    """Return kind and text of what is found about one joint."""
    values = {'axis': (0.0, 1.0, 0.0), 'limits': LIMITS, **values}
    links = (LinkDescription('a'), LinkDescription('b', BRICK), LinkDescription('c', BRICK))
    joints = (
        JointDescription('hinge', kind, 'a', 'b', **values),
        JointDescription('other', JointType.REVOLUTE, 'a', 'c', axis=(0.0, 1.0, 0.0),
                         limits=LIMITS))
    return {finding.kind.name: finding.text
            for finding in audit(RobotDescription('r', links, joints))
            if finding.subject == "joint 'hinge'"}
