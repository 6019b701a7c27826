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
"""The report of check_model as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import isfinite

from ros2_rnea.errors import counted, printable
from ros2_rnea.model.description import JOINT_DYNAMICS, JointDescription
from ros2_rnea.offline.audit import Finding, Severity
from ros2_rnea.offline.commands.check_model.figures import Figures
from ros2_rnea.offline.commands.check_model.table import clipped, paragraph, table
from ros2_rnea.offline.commands.number_text import number

TREE_WIDTH, DEEPEST = 64, 16
"""Width of the first column of the tree, and the largest depth that is indented."""


def report(figures: Figures) -> str:
    """Return the whole report; the findings are last, where a terminal shows them."""
    sections = {
        'Tree': _tree(figures),
        'Joints (rad or m, rad/s or m/s, Nm or N)': _joints(figures),
        'Mass': _mass(figures),
        'Gravity (Nm or N)': _loads(figures),
        'Findings': findings_report(figures.examination.findings),
    }
    lines = [f'{figures.examination.description.name}: {_counts(figures)}']
    for title, body in sections.items():
        if body:
            lines += ['', title, '-' * len(title), *body]
    return '\n'.join(map(printable, lines))


def _counts(figures: Figures) -> str:
    robot = figures.examination.robot
    fixed = sum(
        not joint.type.moves for joint in figures.examination.description.joints)
    return (f'{counted(len(figures.links), "link")}, '
            f'{counted(len(robot.joint_names), "independent joint")}, '
            f'{len(robot.tree.mimics)} mimic, {fixed} fixed')


def _tree(figures: Figures) -> list[str]:
    rows = []
    waiting: list[tuple[int, str, str]] = [(0, figures.examination.robot.tree.root, '')]
    while waiting:
        depth, link, joint = waiting.pop()
        mass = figures.mass(link)
        indent = '  ' * min(depth, DEEPEST)
        rows.append((indent + clipped(link, TREE_WIDTH - len(indent)), joint,
                     'no inertial' if mass is None else f'{number(mass)} kg'))
        waiting += [(depth + 1, child.child, child.type.label)
                    for child in reversed(figures.children[link])]
    return table(('link', 'joint', 'mass'), rows)


def _joints(figures: Figures) -> list[str]:
    moving = [joint for joint in figures.examination.description.joints
              if joint.type.moves]
    dynamics = [parameter.name for parameter in JOINT_DYNAMICS
                if any(getattr(joint, parameter.name) for joint in moving)]
    lines = table(
        ('joint', 'axis', 'lower', 'upper', 'velocity', 'effort',
         *(name.replace('_', ' ') for name in dynamics)),
        [_joint_row(joint, dynamics) for joint in moving])
    for joint in moving:
        if joint.mimic is not None:
            mimic = joint.mimic
            lines += paragraph(
                f'{joint.name} = {number(mimic.multiplier)} * {mimic.joint} '
                f'+ {number(mimic.offset)}', '  ')
    return lines


def _joint_row(joint: JointDescription, dynamics: Sequence[str]) -> tuple[str, ...]:
    limits = joint.limits
    return (clipped(joint.name, 26), ' '.join(number(x, 3) for x in joint.axis),
            number(limits.lower), number(limits.upper), number(limits.velocity),
            number(limits.effort), *(number(getattr(joint, name), 3) for name in dynamics))


def _mass(figures: Figures) -> list[str]:
    lines = [f'{number(figures.total_mass, 5)} kg, of which joints can move '
             f'{number(figures.moving_mass, 5)} kg']
    if figures.center_of_mass is not None:
        x, y, z = (f'{coordinate:.4f}' for coordinate in figures.center_of_mass)
        lines += paragraph(
            f'centre of mass at x {x}, y {y}, z {z} m in the frame of the root link, with every '
            'joint as close to 0 as its limits allow', '')
    return lines


def _loads(figures: Figures) -> list[str]:
    robot, loads = figures.examination.robot, figures.examination.loads
    rows = []
    for name, index in robot.tree.joints.items():
        body = robot.tree.bodies[index]
        labels = body.type.coordinates if body.type.nv > 1 else ('',)
        for label, k in zip(labels, range(body.v_index, body.v_index + body.type.nv)):
            limit = float(robot.effort_limits[k])
            share = f'{100 * loads.largest[k] / limit:.0f} %' if isfinite(limit) and limit else '-'
            rows.append((clipped(f'{name} {label}'.rstrip()), _rounded(loads.low[k]),
                         _rounded(loads.high[k]), number(limit), share))
    if not rows:
        return []
    return [*table(('joint', 'least', 'most', 'limit', 'of limit'), rows), *paragraph(
        'Sampled within the position limits of all joints, with the root link fixed and z up; '
        'the true range may be a few percent wider.', '')]


def _rounded(effort: float) -> str:
    return f'{round(float(effort), 3) + 0.0:.4g}'


def findings_report(findings: Iterable[Finding]) -> list[str]:
    """Return the findings by severity; equal findings of several parts are merged."""
    lines: list[str] = []
    for severity, group in groupby(findings, key=lambda finding: finding.severity):
        found = list(group)
        lines += [f'{severity.name} ({len(found)}): {severity.meaning}']
        for subjects, text, effect in merged(found):
            lines += paragraph(subjects, '  ')
            lines += paragraph(text, '      ')
            if effect and severity > Severity.NOTE:
                lines += paragraph(f'Effect: {effect}.', '      ')
    return lines or ['none']


def merged(findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    """Yield subjects, text and effect; subjects with the same text and effect are merged."""
    subjects: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        subjects.setdefault((finding.text, finding.effect), []).append(finding.subject)
    for (text, effect), names in subjects.items():
        kinds = {name.split(' ')[0] for name in names}
        if len(names) > 1 and len(kinds) == 1:  # joint 'a', joint 'b' -> joints 'a', 'b'
            kind = kinds.pop()
            yield f'{kind}s {", ".join(name[len(kind) + 1:] for name in names)}', text, effect
        else:
            yield ', '.join(names), text, effect


def verdict(findings: Iterable[Finding]) -> str:
    """Return one line that says how many findings of each severity there are."""
    counts = dict.fromkeys(reversed(Severity), 0)
    for finding in findings:
        counts[finding.severity] += 1
    names = {Severity.ERROR: 'errors', Severity.NOTE: 'notes'}
    return ', '.join(
        f'{count} {names.get(severity, severity.name.lower())}'
        for severity, count in counts.items())
