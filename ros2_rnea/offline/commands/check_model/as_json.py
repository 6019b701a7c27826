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
"""The report of check_model as JSON, for programs."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from ros2_rnea.model.description import (
    JOINT_DYNAMICS,
    JointDescription,
    LinkDescription,
)
from ros2_rnea.offline.audit import Finding
from ros2_rnea.offline.commands.check_model.figures import Figures


def as_json(figures: Figures) -> dict[str, Any]:
    """Return the report as plain data; a value without limit or without data is null."""
    examination = figures.examination
    return {
        'robot': examination.description.name,
        'root': examination.robot.tree.root,
        'mass_kg': figures.total_mass,
        'moving_mass_kg': figures.moving_mass,
        'center_of_mass_m': figures.center_of_mass,
        'center_of_mass_at': dict(examination.robot.positions_by_joint(figures.zero_position)),
        'links': [_link(link) for link in examination.description.links],
        'joints': [_joint(joint, figures) for joint in examination.description.joints],
        'findings': findings_as_json(examination.findings),
    }


def findings_as_json(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return findings as plain data."""
    return [{
        'severity': finding.severity.name.lower(),
        'kind': finding.kind.name.lower(),
        'subject': finding.subject,
        'text': finding.text,
        'effect': finding.effect,
    } for finding in findings]


def _link(link: LinkDescription) -> dict[str, Any]:
    inertial = link.inertial
    if inertial is None:
        return {'name': link.name, 'mass_kg': None}
    return {
        'name': link.name,
        'mass_kg': inertial.mass,
        'center_of_mass_m': list(inertial.origin.xyz),
        'inertia_rpy_rad': list(inertial.origin.rpy),
        'inertia_kgm2': dict(zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), inertial.inertia)),
    }


def _joint(joint: JointDescription, figures: Figures) -> dict[str, Any]:
    limits = joint.limits
    data: dict[str, Any] = {
        'name': joint.name, 'type': joint.type.label,
        'parent': joint.parent, 'child': joint.child,
    }
    if not joint.type.moves:
        return data
    data |= {
        'axis': list(joint.axis),
        'lower': _finite(limits.lower), 'upper': _finite(limits.upper),
        'velocity': _finite(limits.velocity), 'effort': _finite(limits.effort),
        **{parameter.name: getattr(joint, parameter.name) for parameter in JOINT_DYNAMICS},
    }
    if joint.mimic is not None:
        data['mimic'] = {
            'joint': joint.mimic.joint, 'multiplier': joint.mimic.multiplier,
            'offset': joint.mimic.offset}
        return data
    robot, loads = figures.examination.robot, figures.examination.loads
    own = robot.tree.bodies[robot.tree.joints[joint.name]].v_slice
    data['gravity'] = {
        'least': loads.low[own].tolist(), 'most': loads.high[own].tolist(),
        'largest_at': loads.positions[loads.worst[own]].tolist()}
    return data


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
