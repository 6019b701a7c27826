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
"""What is suspicious about a robot's description, though its dynamics can be computed."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf

import numpy as np

from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointType,
    LinkDescription,
    RobotDescription,
)

ROUNDING = 1e-6
"""Relative slack for inertias that were rounded when they were written down."""


@dataclass(frozen=True)
class Finding:
    """
    One thing to look at.

    :ivar subject: the link or joint it is about.
    :ivar text: what is wrong and what it does.
    :ivar impossible: whether no rigid body can be so.
    """

    subject: str
    text: str
    impossible: bool = False

    def __str__(self) -> str:
        return f'{self.subject}: {self.text}'


def audit(description: RobotDescription) -> tuple[Finding, ...]:
    """Return what is suspicious, links first, in the order of the description."""
    findings: list[Finding] = []
    for link in description.links:
        if link.inertial is not None:
            findings += _link_findings(link, link.inertial)
    for joint in description.joints:
        if joint.type is not JointType.FIXED:
            findings += _joint_findings(joint)
    return tuple(findings)


def _link_findings(link: LinkDescription, inertial: Inertial) -> list[Finding]:
    ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
    matrix = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    small, middle, large = np.linalg.eigvalsh(matrix)
    slack = ROUNDING * max(abs(small), abs(large))
    shown = f'principal moments {small:.4g}, {middle:.4g}, {large:.4g} kg m^2'
    if small < -slack:
        return [Finding(
            f'link {link.name!r}', f'its inertia is not positive: {shown}', impossible=True)]
    if small + middle < large - slack:
        return [Finding(
            f'link {link.name!r}',
            f'its inertia belongs to no body: the largest of the {shown} exceeds the sum of the '
            'other two', impossible=True)]
    if inertial.mass == 0.0 and large > 0.0:
        return [Finding(
            f'link {link.name!r}', 'it has a rotational inertia but no mass', impossible=True)]
    return []


def _joint_findings(joint: JointDescription) -> list[Finding]:
    findings = []
    subject = f'joint {joint.name!r}'
    if joint.mimic is None and joint.type.nv == 1:
        if isinf(joint.limits.effort):
            findings.append(Finding(
                subject, 'it has no effort limit: what is sent to it is not clamped'))
        elif joint.limits.effort == 0.0:
            findings.append(Finding(
                subject, 'its effort limit is 0: what is sent to it is clamped to nothing'))
    if joint.type in (JointType.REVOLUTE, JointType.PRISMATIC) and isinf(
            joint.limits.upper - joint.limits.lower):
        findings.append(Finding(subject, 'it has no position limits'))
    if joint.friction > 0.0:
        findings.append(Finding(
            subject, f'its Coulomb friction of {joint.friction:g} is not compensated'))
    return findings
