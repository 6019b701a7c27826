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
for byte.  So the file is not written from what was read; numbers are replaced where they stand,
and missing elements are added.  Numbers are written with all digits, or with fewer where that is
asked for: an identification has no nine digits that count.  How the inertia of a body is divided
among its links, :mod:`.link_inertias` says.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from math import isclose, sqrt
import re
from xml.parsers import expat

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import is_consistent
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.description import Inertial, JointDescription, LinkDescription
from ros2_rnea.model.tree import link_inertia, Tree
from ros2_rnea.model.urdf import parse_urdf, rpy_of
from ros2_rnea.offline.identification.link_inertias import links_of_body, SAME
from ros2_rnea.robots.robot import Robot

ALL_DIGITS = 17
"""Number of significant digits that tell all double-precision numbers apart."""

_MARKUP = re.compile(
    r'<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>'
    r'|<(?P<ends>/)?(?P<tag>[^\s/>]+)(?:[^"\'>]|"[^"]*"|\'[^\']*\')*?(?P<is_empty>/)?>', re.DOTALL)
"""What begins with < in XML that the parser of descriptions accepts; a > may be quoted."""

_ATTRIBUTE = re.compile(r'([^\s=/>]+)\s*=\s*("[^"]*"|\'[^\']*\')')
_NEW_LINE = re.compile(r'(?:\r\n|\n|\r)[ \t]*\Z')

LONGEST_INDENTATION = 1000

_ABSENT = {'xyz': '0 0 0', 'rpy': '0 0 0', 'damping': '0', 'friction': '0'}
"""Values of missing attributes."""

Attributes = Mapping[str, Mapping[str, str]]
"""The attributes of elements, by tag and name."""


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
    file = _UrdfText(text)
    remarks: list[str] = []
    inertials: dict[str, Inertial] = {}
    for index in range(len(robot.tree.bodies)):
        changed, found = links_of_body(robot.tree, index, links)
        inertials.update(changed)
        remarks += found
    for name, inertial in inertials.items():
        file.set_inertial(name, _attributes(inertial), _attributes(_rounded(inertial, digits)))
    frictions = {
        joint.name: {'damping': float(body.damping), 'friction': float(body.friction)}
        for body in robot.tree.bodies for joint in (joints.get(body.joint),)
        if joint and (joint.damping, joint.friction) != (body.damping, body.friction)}
    for name, numbers in frictions.items():
        file.set_dynamics(name, *({each: repr(_with_digits(number, count))
                                   for each, number in numbers.items()}
                                  for count in (ALL_DIGITS, digits)))
    result = file.result()
    parse_urdf(result)  # what cannot be read is not written
    return RewrittenUrdf(
        result.encode(encoding), tuple(name for name in links if name in inertials),
        tuple(name for name in joints if name in frictions), tuple(remarks))


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


# ---- the text -----------------------------------------------------------------------------------


@dataclass(eq=False)
class _Element:
    """
    An element and where it stands in the text.

    :ivar attributes: each with its name and its value in quotes.
    :ivar start: of its start tag; end: behind its last tag.
    :ivar inside: behind its start tag.
    :ivar closing: of its end tag; behind its start tag where that is also its end.
    """

    tag: str
    attributes: dict[str, re.Match[str]]
    start: int
    inside: int
    closing: int
    end: int
    children: list[_Element] = field(default_factory=list)

    def child(self, tag: str) -> _Element | None:
        return next((child for child in self.children if child.tag == tag), None)

    def value(self, name: str) -> str:
        return unescape(self.attributes[name][2][1:-1]) if name in self.attributes else (
            _ABSENT.get(name, ''))


class _UrdfText:
    """
    The text of a URDF, in which numbers can be replaced and elements be added.

    :param text: a URDF that the parser of descriptions accepts, so it is not hostile.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: list[tuple[int, int, str]] = []
        self._root = _root(text)
        self._step = self._indentation_step()

    def result(self) -> str:
        """Return the text with all changes."""
        parts, position = [], 0
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            parts += [self._text[position:start], text]
            position = end
        return ''.join([*parts, self._text[position:]])

    def set_inertial(self, link: str, exact: Attributes, rounded: Attributes) -> None:
        """Write the inertial of a link; numbers that stay keep their text."""
        element = self._named('link', link)
        present = element.child('inertial')
        if present is None:
            self._append(element, 'inertial', rounded, {})
            return
        for child in present.children:
            self._set_attributes(child, exact.get(child.tag, {}), rounded.get(child.tag, {}))
        if present.child('origin') is None and not all(
                _equal(_ABSENT[name], value) for name, value in exact['origin'].items()):
            at = present.children[0].start
            self._edits.append(
                (at, at, _empty_tag('origin', rounded['origin']) + self._new_line(at)))

    def set_dynamics(
            self, joint: str, exact: Mapping[str, str], rounded: Mapping[str, str]) -> None:
        """Write the viscous and Coulomb friction of a joint; numbers that stay keep their text."""
        element = self._named('joint', joint)
        present = element.child('dynamics')
        if present is None:
            self._append(element, 'dynamics', {}, rounded)
        else:
            self._set_attributes(present, exact, rounded)

    def _named(self, tag: str, name: str) -> _Element:
        return next(element for element in self._root.children
                    if element.tag == tag and element.value('name') == name)

    def _set_attributes(
            self, element: _Element, exact: Mapping[str, str], rounded: Mapping[str, str]) -> None:
        """
        Replace the values of attributes that mean other numbers, and add those that are missing.

        :param exact: the values before they were rounded: a text that means these stays.
        """
        present = element.attributes
        end = max((place.end() for place in present.values()),
                  default=element.start + len(f'<{element.tag}'))
        for name, value in rounded.items():
            is_turned = name == 'rpy' and 'quat_xyzw' in present
            if _equal(rpy_of(element.value('quat_xyzw')) if is_turned else element.value(name),
                      exact[name]):
                continue
            if is_turned:
                self._edits.append((*present['quat_xyzw'].span(), f'{name}="{value}"'))
            elif name in present:
                start, stop = present[name].span(2)
                self._edits.append((start + 1, stop - 1, value))
            else:
                self._edits.append((end, end, f' {name}="{value}"'))

    def _append(
            self, element: _Element, tag: str, children: Attributes,
            attributes: Mapping[str, str]) -> None:
        """Add an element behind all that another one holds, indented as the file is."""
        line = self._new_line(element.start)
        first = next((self._new_line(child.start) for child in element.children), line)
        if first == line:
            first = line and line + self._step
        text = first + _empty_tag(tag, attributes)
        if children:
            inner = first and first + self._step
            lines = ''.join(inner + _empty_tag(*child) for child in children.items())
            text = f'{first}<{tag}>{lines}{first}</{tag}>'
        if element.closing == element.inside == element.end:  # <link name="camera"/>
            at = self._text.rindex('/>', element.start, element.end)
            at = len(self._text[:at].rstrip())
            self._edits.append((at, element.end, f'>{text}{line}</{element.tag}>'))
        else:
            at = element.inside + len(self._text[element.inside:element.closing].rstrip())
            is_on_its_line = at < element.closing or not first
            self._edits.append((at, at, text if is_on_its_line else text + line))

    def _new_line(self, at: int) -> str:
        """Return the line break and the indentation before a tag; nothing if it has none."""
        match = _NEW_LINE.search(self._text, max(0, at - LONGEST_INDENTATION), at)
        return match.group() if match else ''

    def _indentation_step(self) -> str:
        """Return by how much the first child on a line of its own is indented further."""
        for element in (self._root, *self._root.children):
            line = self._new_line(element.start)
            for child in element.children:
                inner = self._new_line(child.start)
                if line and inner.startswith(line) and inner != line:
                    return inner[len(line):]
        return '  '


def _root(text: str) -> _Element:
    """Return the root element of a text, with all that is in it, each with its place."""
    opened = [_Element('', {}, 0, 0, 0, 0)]
    for found in _MARKUP.finditer(text):
        if found['tag'] is None:
            continue
        if found['ends']:
            element = opened.pop()
            element.closing, element.end = found.span()
            continue
        attributes = {each[1]: each for each in _ATTRIBUTE.finditer(text, *found.span())}
        end = found.end()
        element = _Element(found['tag'], attributes, found.start(), end, end, end)
        opened[-1].children.append(element)
        if not found['is_empty']:
            opened.append(element)
    return opened[0].children[0]


def _empty_tag(tag: str, attributes: Mapping[str, str]) -> str:
    return f'<{tag} ' + ' '.join(f'{name}="{text}"' for name, text in attributes.items()) + '/>'


def _attributes(inertial: Inertial) -> Attributes:
    """Return the attributes of the elements in an ``<inertial>``."""
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    return {
        'origin': {name: ' '.join(repr(float(number)) for number in getattr(inertial.origin, name))
                   for name in ('xyz', 'rpy')},
        'mass': {'value': repr(float(inertial.mass))},
        'inertia': {name: repr(float(number)) for name, number in zip(names, inertial.inertia)}}


def _rounded(inertial: Inertial, digits: int) -> Inertial:
    """Return an inertial with fewer digits; as it is, if none with fewer can exist."""
    if digits >= ALL_DIGITS:
        return inertial
    largest = max(map(abs, inertial.inertia))
    extent = sqrt(largest / inertial.mass) if inertial.mass > 0.0 else 0.0  # radius of gyration
    x, y, z = _all_with_digits(inertial.origin.xyz, digits, extent)
    ixx, ixy, ixz, iyy, iyz, izz = _all_with_digits(inertial.inertia, digits, largest)
    rounded = replace(
        inertial, mass=_with_digits(inertial.mass, digits),
        origin=replace(inertial.origin, xyz=(x, y, z)), inertia=(ixx, ixy, ixz, iyy, iyz, izz))
    exists = [is_consistent(np.array(parameters_of(link_inertia(each))))
              for each in (inertial, rounded)]
    return inertial if exists == [True, False] else rounded


def _all_with_digits(values: Sequence[float], digits: int, size: float) -> list[float]:
    """Round numbers; one that is only rounding error for the size of their body becomes 0."""
    return [_with_digits(value, digits) if abs(value) > SAME * size else 0.0 for value in values]


def _with_digits(value: float, digits: int) -> float:
    return float(f'{value:.{digits}g}')


def _equal(text: str, other: str) -> bool:
    """Return whether two texts are the same numbers, but for rounding."""
    ours, theirs = ([*map(float, each.split())] for each in (text, other))
    return len(ours) == len(theirs) and all(
        isclose(a, b, rel_tol=SAME) for a, b in zip(ours, theirs))
