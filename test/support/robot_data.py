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
A robot as the plain numbers that the oracles compute with, and the URDF that says the same.

The oracles never read URDF and the package never sees these classes: one set of numbers goes two
ways, once straight into an oracle, once through URDF text (with all digits) into the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from rotations import rotation_from_rpy

# Sizes (nq, nv) of the coordinates of a joint.
SIZES = {
    'fixed': (0, 0), 'revolute': (1, 1), 'continuous': (1, 1), 'prismatic': (1, 1),
    'planar': (3, 3), 'floating': (7, 6),
}
FLOATING_BASE = 'floating_base'


def _zeros():
    return field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, eq=False)
class LinkData:
    """A link: mass, centre of mass in link axes, inertia about it in axes turned by ``rpy``."""

    name: str
    mass: float = 0.0
    com: np.ndarray = _zeros()
    rpy: np.ndarray = _zeros()
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def inertia_in_link_axes(self):
        """Return the inertia about the centre of mass in the axes of the link."""
        R = rotation_from_rpy(self.rpy)
        return R @ self.inertia @ R.T


@dataclass(frozen=True, eq=False)
class MimicData:
    """Position = multiplier * (position of ``joint``) + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class JointData:
    """A joint, as URDF has it; ``axis`` has unit length."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: np.ndarray = _zeros()
    rpy: np.ndarray = _zeros()
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    damping: float = 0.0
    mimic: MimicData | None = None


@dataclass(frozen=True)
class Column:
    """Where the coordinates of one joint stand in the flat vectors q and v."""

    name: str
    kind: str
    q: slice
    v: slice


@dataclass(frozen=True, eq=False)
class RobotData:
    """Links and joints in the order of the file."""

    name: str
    links: tuple[LinkData, ...]
    joints: tuple[JointData, ...]

    def link(self, name):
        """Return the link of that name."""
        return next(link for link in self.links if link.name == name)

    def joint(self, name):
        """Return the joint of that name."""
        return next(joint for joint in self.joints if joint.name == name)

    def root(self):
        """Return the name of the link that is nobody's child."""
        children = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in children)

    def depth_first(self):
        """Return all joints depth first from the root, children in the order of the file."""
        found, waiting = [], [self.root()]
        while waiting:
            link = waiting.pop()
            below = [joint for joint in self.joints if joint.parent == link]
            found += [joint for joint in self.joints if joint.child == link]
            waiting += [joint.child for joint in reversed(below)]
        return found

    def columns(self, floating_base=False):
        """Return the columns of q and v: a floating base first, no fixed or mimic joints."""
        kinds = [(FLOATING_BASE, 'floating')] if floating_base else []
        kinds += [(joint.name, joint.kind) for joint in self.depth_first()
                  if joint.kind != 'fixed' and joint.mimic is None]
        columns, nq, nv = [], 0, 0
        for name, kind in kinds:
            dq, dv = SIZES[kind]
            columns.append(Column(name, kind, slice(nq, nq + dq), slice(nv, nv + dv)))
            nq, nv = nq + dq, nv + dv
        return columns

    def without_mimic(self):
        """Return the same robot with every mimic joint set free."""
        joints = tuple(replace(joint, mimic=None) for joint in self.joints)
        return replace(self, joints=joints)

    def urdf(self):
        """Return URDF text with every digit of every number."""
        parts = [f'<robot name="{self.name}">']
        parts += [_link_xml(link) for link in self.links]
        parts += [_joint_xml(joint) for joint in self.joints]
        return '\n'.join(parts + ['</robot>'])


def _numbers(values):
    return ' '.join(repr(float(value)) for value in values)


def _link_xml(link):
    if link.mass == 0.0:
        return f'<link name="{link.name}"/>'
    inertia = link.inertia
    entries = ' '.join(
        f'i{"xyz"[row]}{"xyz"[col]}="{float(inertia[row, col])!r}"'
        for row in range(3) for col in range(row, 3))
    return (f'<link name="{link.name}"><inertial>'
            f'<origin xyz="{_numbers(link.com)}" rpy="{_numbers(link.rpy)}"/>'
            f'<mass value="{float(link.mass)!r}"/><inertia {entries}/></inertial></link>')


def _joint_xml(joint):
    parts = [f'<joint name="{joint.name}" type="{joint.kind}">',
             f'<parent link="{joint.parent}"/><child link="{joint.child}"/>',
             f'<origin xyz="{_numbers(joint.xyz)}" rpy="{_numbers(joint.rpy)}"/>']
    if joint.kind not in ('fixed', 'floating'):
        parts.append(f'<axis xyz="{_numbers(joint.axis)}"/>')
    if joint.kind in ('revolute', 'prismatic'):
        parts.append('<limit lower="-9" upper="9" effort="1000" velocity="100"/>')
    if joint.damping:
        parts.append(f'<dynamics damping="{float(joint.damping)!r}"/>')
    if joint.mimic is not None:
        parts.append(f'<mimic joint="{joint.mimic.joint}"'
                     f' multiplier="{float(joint.mimic.multiplier)!r}"'
                     f' offset="{float(joint.mimic.offset)!r}"/>')
    return ''.join(parts) + '</joint>'


def expand_mimic(robot, q, qd, qdd):
    """
    Return (q, qd, qdd) of the robot whose mimic joints are free, and the matrix G = d qd / d v.

    :param robot: a robot whose joints have one degree of freedom each, some of them mimics
    """
    full = robot.without_mimic().columns()
    own = {column.name: column.v.start for column in robot.columns()}
    G, offset = np.zeros((len(full), len(own))), np.zeros(len(full))
    for row, column in enumerate(full):
        mimic = robot.joint(column.name).mimic
        if mimic is None:
            G[row, own[column.name]] = 1.0
        else:
            G[row, own[mimic.joint]] = mimic.multiplier
            offset[row] = mimic.offset
    return G @ q + offset, G @ qd, G @ qdd, G
