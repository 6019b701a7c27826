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
The audit of a robot's description for impossible, suspicious and noteworthy values.

The dynamics can be computed for all these robots; the findings show whether the results can be
trusted.  :class:`~ros2_rnea.offline.audit.findings.Kind` lists the kinds of findings, and each
file of this folder finds those of one subject: links, proportions, joints, bodies, loads,
spelling.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from ros2_rnea.errors import DescriptionError
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.model.description import RobotDescription
from ros2_rnea.model.urdf import read_urdf
from ros2_rnea.offline.audit.bodies import body_findings
from ros2_rnea.offline.audit.effects import with_effect
from ros2_rnea.offline.audit.findings import Finding, Kind, Severity
from ros2_rnea.offline.audit.joints import joint_findings
from ros2_rnea.offline.audit.links import link_findings
from ros2_rnea.offline.audit.loads import load_findings, Loads, sample_loads
from ros2_rnea.offline.audit.proportions import proportion_findings
from ros2_rnea.offline.audit.spelling import text_findings
from ros2_rnea.robots.robot import Robot

__all__ = ['Examination', 'Finding', 'Kind', 'Loads', 'Severity', 'audit', 'examine', 'refusal']

SAMPLES = 20_000
"""
Number of sampled positions for the loads, in the node and in the report, whose figures agree.

For real robots from arms to humanoids, the loads found are on average 99.7 % of those of 300 000
positions, and never less than 93 %.
"""

MANY_JOINTS = 50
"""Robots with more joints than this get fewer samples, which bounds the time."""


def refusal(text: str) -> tuple[Finding, ...]:
    """
    Return what is found in a text that is not the description of one robot.

    These are all errors, and what else can be said of it: about the spelling, and about the links
    and joints that are sound in themselves.

    :param text: a text for which :func:`~ros2_rnea.model.urdf.parse_urdf` raises an error.
    """
    try:
        description, errors = read_urdf(text)
    except DescriptionError as error:
        return (Finding(Kind.UNDEFINED, 'robot', str(error), effect=Kind.UNDEFINED.effect),)
    findings = [
        *(Finding(Kind.UNDEFINED, 'robot', error) for error in errors),
        *link_findings(description), *joint_findings(description), *text_findings(text)]
    return _by_severity(  # that of an inertia depends on the robot
        replace(finding, effect='' if finding.moment else finding.kind.effect)
        for finding in findings)


def _by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: -finding.severity))


@dataclass(frozen=True, eq=False)
class Examination:
    """
    The results of an audit.

    :ivar robot: the model, in which any link may move without an ``<inertial>``.
    :ivar loads: the range of each joint's gravity term.
    :ivar findings: the worst first; findings of one severity are in the description's order.
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
    Return the findings of the audit, the worst first.

    Arguments and errors are those of :func:`examine`.
    """
    return examine(description, text, massless_links).findings


def examine(
        description: RobotDescription,
        text: str = '',
        massless_links: Collection[str] = (),
        samples: int = SAMPLES) -> Examination:
    """
    Audit a model.

    :param description: read from a URDF, or made in Python.
    :param text: the URDF that it was read from, to check the spelling too; empty: no check.
    :param massless_links: links that may move without an ``<inertial>``.
    :param samples: number of positions at which the load of gravity is computed.
    :raises DescriptionError: where the description does not form one robot.
    """
    undescribed = [link.name for link in description.links if link.inertial is None]
    # The textbook computes all positions at once, in less time than a compilation takes.
    robot = Robot.from_description(
        description, massless_links={*undescribed, *massless_links}, engine=Engine.TEXTBOOK)
    loads = sample_loads(robot, samples // max(1, robot.nv // MANY_JOINTS))
    mass = sum(link.inertial.mass for link in description.links if link.inertial)
    of_links = list(link_findings(description))
    findings = [
        *of_links,
        *proportion_findings(description, robot.tree, {finding.subject for finding in of_links}),
        *joint_findings(description),
        *body_findings(description, robot.tree, massless_links),
        *load_findings(robot, loads, mass),
        *(text_findings(text) if text else ()),
    ]
    findings = [with_effect(finding, robot) for finding in findings]
    return Examination(description, robot, loads, _by_severity(findings))
