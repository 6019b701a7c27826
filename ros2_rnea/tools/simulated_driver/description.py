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
The part of a robot description that is simulated.

Nothing here knows ROS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.description import RobotDescription
from ros2_rnea.model.safe_xml import read_xml
from ros2_rnea.model.urdf import parse_urdf, with_rpy_alone

LOAD = 'load of the simulation'
"""The link that a load becomes."""

# Take the inertias as they are after `balanced`, and keep each link as a body of its own.
_COMPILER = {'balanceinertia': 'false', 'discardvisual': 'true', 'fusestatic': 'false'}


class Load(NamedTuple):
    """
    A rigid body that a link carries.

    :param link: its name.
    :param mass: [kg]; 0: there is no load.
    :param center: of mass, in the link's axes from its origin [m].
    :param inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre, in the link's axes [kg m^2].
    """

    link: str
    mass: float = 0.0
    center: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Balanced(NamedTuple):
    """
    An inertia that was changed for the engine, because no rigid body has it.

    :ivar link: its name.
    :ivar given: the principal moments in the description, ascending [kg m^2].
    :ivar used: those that the engine uses.
    """

    link: str
    given: tuple[float, ...]
    used: tuple[float, ...]

    @property
    def share(self) -> float:
        """Return by how much a principal moment was changed, of the largest one."""
        return max(abs(a - b) for a, b in zip(self.given, self.used)) / max(self.given)


_BALANCED_BEYOND = 1e-6
"""Share by which the largest moment stays below the sum of the others."""


def simplified(urdf: str, with_friction: bool = False) -> tuple[str, tuple[str, ...]]:
    """
    Return a description of what can be simulated faithfully.

    Mimic joints, and the joints that they follow, are fixed: mostly the fingers of grippers, which
    nothing in a simulation would couple.  Joints that move no mass are fixed, too: no effort says
    how they move.  Coulomb friction is left out unless it is asked for: it is a jump, which every
    engine makes smooth in another way.  Springs are left out too, which the engine does not read.

    :param urdf: robot description.
    :param with_friction: whether the joints keep their Coulomb friction.
    :returns: the description, unchanged where there is neither, and the names of the joints that
        stand still at their zero.
    :raises DescriptionError: when the description is none.
    """
    description = parse_urdf(urdf)
    joints = description.joints
    still = {name for joint in joints if joint.mimic for name in (joint.name, joint.mimic.joint)}
    still |= _moving_no_mass(description)
    if not still and not any(
            joint.spring_stiffness or joint.friction and not with_friction for joint in joints):
        return urdf, ()
    root = read_xml(urdf)
    for element in root.findall('gazebo'):
        _remove(element, 'springStiffness', 'springReference')
    for element in root.findall('joint'):
        for dynamics in element.findall('dynamics'):
            if not with_friction:
                dynamics.attrib.pop('friction', None)
        if element.get('name') in still:
            element.set('type', 'fixed')
            _remove(element, 'axis', 'limit', 'dynamics', 'mimic', 'safety_controller')
    return (tostring(root, encoding='unicode'),
            tuple(joint.name for joint in joints if joint.name in still))


def _moving_no_mass(description: RobotDescription) -> set[str]:
    """Return the moving joints beyond which no link has mass."""
    masses = {link.name: link.inertial.mass if link.inertial else 0.0
              for link in description.links}
    children: dict[str, list[str]] = {}
    for joint in description.joints:
        children.setdefault(joint.parent, []).append(joint.child)

    def has_mass(link: str) -> bool:
        waiting = [link]
        while waiting:
            name = waiting.pop()
            if masses.get(name):
                return True
            waiting += children.get(name, [])
        return False

    return {joint.name for joint in description.joints
            if joint.type.moves and not has_mass(joint.child)}


def balanced(urdf: str) -> tuple[str, tuple[Balanced, ...]]:
    """
    Return a description with inertias that rigid bodies can have, and those that were changed.

    What is changed by rounding only is not among those, such as the inertia of a thin rod.

    No principal moment of a rigid body exceeds the sum of the two others, and MuJoCo insists on
    it.  Inverse dynamics is defined without, so many descriptions break this rule.  The changed
    inertia is the nearest one that keeps it: what the largest moment has too much is shared among
    the three.

    :raises DescriptionError: where an inertia has a negative moment, with the link and its values.
    """
    root = read_xml(urdf)
    changes = []
    for link in root.findall('link'):
        inertia = link.find('inertial/inertia')
        if inertia is None:
            continue
        change = _balance(link.get('name', ''), inertia)
        if change is not None:
            changes.append(change)
    return (tostring(root, encoding='unicode') if changes else urdf), tuple(
        change for change in changes if change.share > 2.0 * _BALANCED_BEYOND)


def _balance(link: str, element: Element) -> Balanced | None:
    """Change an <inertia> where it has to be changed, and return how."""
    xx, xy, xz, yy, yz, zz = (float(element.get(name, '0')) for name in _ENTRIES)
    moments, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    too_much = moments[2] * (1.0 + _BALANCED_BEYOND) - moments[0] - moments[1]
    if too_much <= 0.0 or moments[2] <= 0.0:
        return None
    used = moments + too_much / 3.0 * np.array((1.0, 1.0, -1.0))
    # Where the two larger ones are nearly equal, as those of a rod, the middle one is now the
    # largest, and the smallest one has to make up for it.
    largest = used.max()
    used[0] += max(0.0, largest * (1.0 + _BALANCED_BEYOND) - (used.sum() - largest))
    shown = ', '.join(f'{moment:.4g}' for moment in moments)
    if moments[0] < -_BALANCED_BEYOND * moments[2]:
        raise DescriptionError(
            f'link {link!r} has the principal moments of inertia {shown} kg m^2; a negative one '
            'cannot be simulated: correct the signs and the off-diagonal elements of its '
            '<inertia>')
    matrix = axes * used @ axes.T
    for name, (row, column) in zip(_ENTRIES, _PLACES):
        element.set(name, repr(float(matrix[row, column])))
    return Balanced(link, tuple(moments.tolist()), tuple(used.tolist()))


_ENTRIES = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def for_mujoco(urdf: str, load: Load | None = None) -> str:
    """
    Return the links and joints of a description, as MuJoCo is to read them.

    :param urdf: robot description.
    :param load: to add; its link must be there.
    :raises DescriptionError: when a joint is of a kind that is not simulated.
    """
    for joint in parse_urdf(urdf).joints:
        if joint.type.nv > 1 or joint.mimic:
            kind = 'mimic' if joint.mimic else joint.type.label
            raise DescriptionError(f'joint {joint.name!r} is {kind}; the simulated arm can have '
                                   'fixed, revolute, continuous and prismatic joints')
    root = read_xml(urdf)
    with_rpy_alone(root)
    _rename_world(root)
    for element in list(root):
        if element.tag not in ('link', 'joint'):
            root.remove(element)
    for link in root.findall('link'):
        _remove(link, 'visual', 'collision')
    mujoco = Element('mujoco')
    SubElement(mujoco, 'compiler', _COMPILER)
    root.insert(0, mujoco)
    if load and load.mass:
        root.extend(_as_link(load))
    return tostring(root, encoding='unicode')


def _as_link(load: Load) -> list[Element]:
    """Return the elements of a load: a link and the joint that fixes it."""
    link = Element('link', name=LOAD)
    inertial = SubElement(link, 'inertial')
    SubElement(inertial, 'origin', xyz=' '.join(map(repr, load.center)))
    SubElement(inertial, 'mass', value=repr(load.mass))
    entries = zip(_ENTRIES, map(repr, load.inertia))
    SubElement(inertial, 'inertia', dict(entries))
    joint = Element('joint', name=LOAD, type='fixed')
    SubElement(joint, 'parent', link=load.link)
    SubElement(joint, 'child', link=LOAD)
    return [link, joint]


def _rename_world(root: Element) -> None:
    """Give another name to a link 'world', which MuJoCo would take for its own world."""
    for element in root.iter():
        for attribute in ('name', 'link'):
            if element.tag in ('link', 'parent', 'child') and element.get(attribute) == 'world':
                element.set(attribute, 'link named world')


def _remove(element: Element, *tags: str) -> None:
    for child in list(element):
        if child.tag in tags:
            element.remove(child)
