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
The URDF file of a robot, with the inertias and the friction that were identified.

Nothing else in the file changes: comments, order, white space, line ends and encoding stay, byte
for byte.  So the file is not written from what was read; numbers are replaced where they stand
(:mod:`.urdf_text`).  How the inertia of a body is divided among its links, :mod:`.link_inertias`
says.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from xml.parsers import expat

from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.description import Inertial, JointDescription, LinkDescription
from ros2_rnea.model.tree import Tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.identification.link_inertias import links_of_body
from ros2_rnea.offline.identification.urdf_text import ALL_DIGITS, UrdfText
from ros2_rnea.robots.robot import Robot


@dataclass(frozen=True)
class RewrittenUrdf:
    """
    The content of a URDF file after a change.

    :ivar document: the content of the file, in the encoding that it had.
    :ivar links: those whose ``<inertial>`` has changed, in the order of the file.
    :ivar joints: those whose ``<dynamics>`` has changed, in the order of the file.
    :ivar remarks: sentences about bodies whose links a person should look at.
    """

    document: bytes
    links: tuple[str, ...]
    joints: tuple[str, ...]
    remarks: tuple[str, ...]


def decoded(document: bytes) -> tuple[str, str]:
    """
    Return the text of an XML file, and the name of its encoding for Python.

    A file is UTF-8 if it can be, whatever it declares; so the parser of descriptions reads it.
    Other files are read as they declare.

    :raises DescriptionError: where they do not, or not as they say.
    """
    if document.startswith(codecs.BOM_UTF8):
        encodings = ['utf-8-sig']
    else:
        encodings = ['utf-8', *_declared_encoding(document)]
    for encoding in encodings:
        try:
            text = document.decode(encoding)
            if text.encode(encoding) == document:
                return text, encoding
        except (UnicodeError, LookupError):
            continue
    raise DescriptionError(
        f'the file is not encoded in {" or ".join(encodings)}: save it as UTF-8')


def with_parameters_of(
        document: bytes, robot: Robot, digits: int = ALL_DIGITS) -> RewrittenUrdf:
    """
    Return a URDF file with the inertias and the friction of a robot.

    :param document: the content of the file, xacro expanded.
    :param robot: a robot that was made from this file, with other inertial parameters, damping or
        friction.  Its payloads are left out.
    :param digits: significant ones of the numbers that change.  Where a body would become one that
        cannot exist, its link has all digits.
    :raises DescriptionError: where the file is not that of the robot, or where a body's parameters
        cannot be written, such as a first moment without a mass.
    """
    text, encoding = decoded(document)
    for payload in robot.payloads:
        robot = robot.without_payload(payload)
    description = parse_urdf(text)
    links = {link.name: link for link in description.links}
    joints = {joint.name: joint for joint in description.joints}
    _check_same_robot(robot.tree, links, joints)
    file = UrdfText(text, digits)
    remarks: list[str] = []
    inertials: dict[str, Inertial] = {}
    for index in range(len(robot.tree.bodies)):
        changed, found = links_of_body(robot.tree, index, links)
        inertials.update(changed)
        remarks += found
    for name, inertial in inertials.items():
        file.set_inertial(links[name], inertial)
    changed_joints = []
    for body in robot.tree.bodies:
        joint = joints.get(body.joint)
        if joint is not None and (joint.damping, joint.friction) != (body.damping, body.friction):
            changed_joints.append(joint.name)
            file.set_dynamics(joint, body)
    result = file.result()
    parse_urdf(result)  # what cannot be read is not written
    return RewrittenUrdf(
        result.encode(encoding), tuple(name for name in links if name in inertials),
        tuple(name for name in joints if name in changed_joints), tuple(remarks))


def _declared_encoding(document: bytes) -> Iterator[str]:
    """Yield the encoding that an XML declaration names, if there is one."""
    found: list[str] = []
    parser = expat.ParserCreate()
    parser.XmlDeclHandler = lambda version, encoding, standalone: found.append(encoding or '')
    try:
        parser.Parse(document[:1000], False)
    except (expat.ExpatError, LookupError):  # the one for XML, the other for the encoding
        pass
    yield from filter(None, found)


def _check_same_robot(
        tree: Tree, links: dict[str, LinkDescription], joints: dict[str, JointDescription],
        ) -> None:
    others = [f'link {name!r}' for name in links if name not in tree.links]
    others += [f'link {name!r}' for name in tree.links if name not in links]
    others += [f'joint {name!r}' for name, joint in joints.items()
               if joint.type.moves and name not in {*tree.joints, *tree.mimics}]
    if others:
        raise DescriptionError(
            f'the file is not that of the robot {tree.name!r}: {others[0]} is not in both')
