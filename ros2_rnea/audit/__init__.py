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
What is impossible, suspicious or worth knowing about a robot whose dynamics can be computed.

Each kind of finding is named in :class:`~ros2_rnea.audit.findings.Kind` and found in the file
that its subject has given the name: links, joints, bodies, loads, spelling.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ros2_rnea.audit.bodies import body_findings
from ros2_rnea.audit.findings import Finding, Kind, Severity
from ros2_rnea.audit.joints import joint_findings
from ros2_rnea.audit.links import link_findings
from ros2_rnea.audit.loads import load_findings, Loads, sample_loads
from ros2_rnea.audit.spelling import spelling_findings
from ros2_rnea.model.description import RobotDescription
from ros2_rnea.robot import Robot

__all__ = ['Examination', 'Finding', 'Kind', 'Loads', 'Severity', 'audit', 'examine']

QUICK, THOROUGH = 500, 20_000
"""
How many positions are sampled for the loads, while a node starts and for a report.

For the real robots tried, from arms to humanoids, the loads so found are on average 97 and 99.7 %
of what 300 000 positions give, and never less than 78 and 93 %.
"""

MANY_JOINTS = 200
"""Robots with more joints than any that we know of are sampled less, so that time is bounded."""


@dataclass(frozen=True, eq=False)
class Examination:
    """
    All that was found out about a model.

    :ivar robot: in which any link may move without an ``<inertial>``.
    :ivar loads: what gravity asks of its joints.
    :ivar findings: the worst first, and of one severity in the order of the description.
    """

    description: RobotDescription
    robot: Robot
    loads: Loads
    findings: tuple[Finding, ...]


def audit(
        description: RobotDescription,
        text: str = '',
        massless_links: Collection[str] = ()) -> tuple[Finding, ...]:
    """
    Return what is to be found about a model in milliseconds, the worst first.

    Arguments and errors are those of :func:`examine`.
    """
    return examine(description, text, massless_links, QUICK).findings


def examine(
        description: RobotDescription,
        text: str = '',
        massless_links: Collection[str] = (),
        samples: int = THOROUGH) -> Examination:
    """
    Look at a model from all sides.

    :param description: as read or written.
    :param text: of the URDF that it was read from, where the spelling is to be looked at too.
    :param massless_links: links that may move without an ``<inertial>``.
    :param samples: number of positions at which the load of gravity is computed.
    :raises DescriptionError: where the description is not one robot.
    """
    undescribed = [link.name for link in description.links if link.inertial is None]
    robot = Robot.from_description(description, massless_links={*undescribed, *massless_links})
    loads = sample_loads(robot, samples // max(1, robot.nv // MANY_JOINTS))
    mass = sum(link.inertial.mass for link in description.links if link.inertial)
    findings = [
        *link_findings(description),
        *joint_findings(description),
        *body_findings(description, robot.tree, massless_links),
        *load_findings(robot, loads, mass),
        *(spelling_findings(text) if text else ()),
    ]
    findings.sort(key=lambda finding: -finding.severity)
    return Examination(description, robot, loads, tuple(findings))
