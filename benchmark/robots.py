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
The robots that are measured, as descriptions that every peer interprets in the same way.

Elements that peers interpret differently are removed beforehand: visuals, collisions and limits,
``<dynamics>`` (friction is in our inverse dynamics, not in Pinocchio's ``rnea``) and ``<mimic>``
(mimic joints move freely here, as by default in Pinocchio).  Elements that some peers cannot read
are rewritten so that all can.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import distribution, PackageNotFoundError
from pathlib import Path
from xml.etree import ElementTree

from benchmark.chains import chain
from benchmark.errors import BenchmarkError
import numpy as np

PACKAGE = 'example-robot-data'
FOLDER = 'share/example-robot-data/robots/'

CHAINS = (7, 14, 28, 56, 112)
"""Numbers of joints of the chains made in code."""


@dataclass(frozen=True)
class Description:
    """
    A robot to measure.

    :ivar title: for people; what was changed about it is part of it.
    :ivar text: URDF, as every peer gets it.
    :ivar chain_joints: the number of joints of a chain made in code; None for a real robot.
    """

    name: str
    title: str
    text: str
    floating_base: bool = False
    chain_joints: int | None = None


@dataclass(frozen=True)
class Example:
    """A robot of the package example-robot-data."""

    title: str
    path: str
    floating_base: bool = False
    locked: tuple[str, ...] = ()

    def read(self) -> str:
        """
        Return its URDF, as the package has it.

        :raises BenchmarkError: where the package is not installed.
        """
        try:
            package = distribution(PACKAGE)
        except PackageNotFoundError as error:
            raise BenchmarkError(
                f'robots by name are those of the package {PACKAGE}, which is not installed; '
                'pip install it, or measure a URDF of your own') from error
        file = next(f for f in package.files or () if str(f).endswith(FOLDER + self.path))
        return Path(str(package.locate_file(file))).read_text(encoding='utf-8')

    def describe(self, name: str) -> Description:
        """Return it under a name, as every peer gets it."""
        return Description(
            name, self.title, reduce_to_dynamics(self.read(), self.locked), self.floating_base)


EXAMPLES = {
    'panda': Example(
        'Panda, fingers locked', 'panda_description/urdf/panda.urdf',
        locked=('panda_finger_joint1', 'panda_finger_joint2')),
    'ur5': Example('UR5', 'ur_description/urdf/ur5_robot.urdf'),
    'anymal': Example(
        'ANYmal B, floating base', 'anymal_b_simple_description/robots/anymal.urdf',
        floating_base=True),
    'talos': Example(
        'Talos, floating base', 'talos_data/robots/talos_full_v2.urdf', floating_base=True),
}


CHAIN_NAMES = {f'chain{joints}': joints for joints in CHAINS}

NAMES = (*EXAMPLES, *CHAIN_NAMES)
"""What ``--robots`` takes."""


def describe(name: str) -> Description:
    """
    Return a robot by its name.

    :raises BenchmarkError: where there is none of that name, or it is not installed.
    """
    if name in EXAMPLES:
        return EXAMPLES[name].describe(name)
    if name in CHAIN_NAMES:
        joints = CHAIN_NAMES[name]
        return Description(name, f'Chain of {joints} joints', reduce_to_dynamics(chain(joints)),
                           chain_joints=joints)
    raise BenchmarkError(f'there is no robot {name!r}; there are {", ".join(NAMES)}')


def describe_file(path: Path, floating_base: bool) -> Description:
    """
    Return a robot from a URDF file.

    :raises BenchmarkError: where the file cannot be read or is no XML.
    """
    try:
        text = reduce_to_dynamics(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        raise BenchmarkError(f'{path} cannot be read: {error}') from error
    base = ', floating base' if floating_base else ''
    return Description(path.stem, f'{path.stem}{base}', text, floating_base)


KEPT = {
    'robot': ('link', 'joint'),
    'link': ('inertial',),
    'inertial': ('origin', 'mass', 'inertia'),
    'joint': ('origin', 'parent', 'child', 'axis', 'limit'),
}


def reduce_to_dynamics(text: str, locked: Collection[str | None] = ()) -> str:
    """
    Return a URDF without all that rigid-body dynamics has no use for.

    :param locked: joints that become fixed.
    """
    robot = ElementTree.fromstring(text)
    _keep_known_children(robot)
    for joint in robot.findall('joint'):
        if joint.get('name') in locked:
            joint.set('type', 'fixed')
        _give_origin(joint)
        for limit in joint.findall('limit'):  # peers warn of limits that say nothing
            limit.attrib = {'lower': '-9', 'upper': '9', 'effort': '1e6', 'velocity': '1e3'}
    for inertial in robot.findall('link/inertial'):
        _make_readable(inertial)
    ElementTree.indent(robot)  # PyBullet cuts lines of more than 8192 characters
    return ElementTree.tostring(robot, encoding='unicode')


def _keep_known_children(element: ElementTree.Element) -> None:
    for child in list(element):
        if child.tag in KEPT.get(element.tag, ()):
            _keep_known_children(child)
        else:
            element.remove(child)


def _make_readable(inertial: ElementTree.Element) -> None:
    """Write an inertial so that adam knows its origin, and MuJoCo takes it for an inertia."""
    _give_origin(inertial)
    inertia = inertial.find('inertia')
    if inertia is None:
        return
    xx, xy, xz, yy, yz, zz = (
        float(inertia.get(name, '0')) for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    smallest = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])[0]
    if smallest <= 1e-12 * max(xx, yy, zz):  # a placeholder, such as six times 1e-6
        inertia.attrib.update(ixy='0', ixz='0', iyz='0')


def _give_origin(element: ElementTree.Element) -> None:
    """Write out what the absence of an origin stands for."""
    if element.find('origin') is None:
        ElementTree.SubElement(element, 'origin', xyz='0 0 0', rpy='0 0 0')
