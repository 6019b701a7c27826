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

Nothing else in the file changes: comments, order, white space and line ends stay, byte for byte.
So the file is not written from what was read; numbers are replaced where they stand, and missing
elements are added.  Numbers are written with all digits, or with fewer where that is asked for: an
identification has no nine digits that count.  How the inertia of a body is divided among its
links, :mod:`.link_inertias` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from math import isclose, sqrt
import re
from typing import Any, Union

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
_INDENTED = re.compile(r'[\r\n]([ \t]+)<')
_NEW_LINE = re.compile(r'(?:\r\n|\n|\r)[ \t]*\Z')

LONGEST_INDENTATION = 1000

_ABSENT = {'xyz': '0 0 0', 'rpy': '0 0 0', 'damping': '0', 'friction': '0'}
"""Values of missing attributes."""

_Content = Mapping[str, Union['_Content', tuple[str, str]]]
"""Of an element: children by tag, or attributes by name, exact and as they are written."""


@dataclass(frozen=True)
class RewrittenUrdf:
    """
    The content of a URDF file after a change.

    :ivar document: the content of the file.
    :ivar links: those whose ``<inertial>`` has changed, in the order of the file.
    :ivar joints: those whose ``<dynamics>`` has changed, in the order of the file.
    :ivar remarks: sentences about bodies whose links a person should look at.
    """

    document: bytes
    links: tuple[str, ...]
    joints: tuple[str, ...]
    remarks: tuple[str, ...]


def decoded(document: bytes) -> str:
    """
    Return the text of a file, with the byte order mark that it may begin with.

    :raises DescriptionError: where it is not UTF-8, as all descriptions of robots are.
    """
    try:
        return document.decode()
    except UnicodeDecodeError as error:
        raise DescriptionError(
            f'the file is not encoded in UTF-8 ({error}): save it as UTF-8') from error


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
    text = decoded(document)
    for payload in robot.payloads:
        robot = robot.without_payload(payload)
    description = parse_urdf(text)
    links = {link.name: link for link in description.links}
    joints = {joint.name: joint for joint in description.joints}
    _check_same_robot(robot.tree, links, joints)
    remarks: list[str] = []
    inertials: dict[str, Inertial] = {}
    for index in range(len(robot.tree.bodies)):
        changed, found = links_of_body(robot.tree, index, links)
        inertials.update(changed)
        remarks += found
    bodies = {body.joint: body for body in robot.tree.bodies if body.joint in joints and any(
        getattr(body, name) != getattr(joints[body.joint], name)
        for name in ('damping', 'friction'))}
    file = _UrdfText(text)
    for name, inertial in inertials.items():
        file.write('link', name, {'inertial': _content(inertial, _rounded(inertial, digits))})
    for name, body in bodies.items():
        file.write('joint', name, {'dynamics': {
            each: (_text(getattr(body, each)), _text(getattr(body, each), digits))
            for each in ('damping', 'friction')}})
    result = file.result()
    parse_urdf(result)  # what cannot be read is not written
    return RewrittenUrdf(
        result.encode(), tuple(name for name in links if name in inertials),
        tuple(name for name in joints if name in bodies), tuple(remarks))


def _check_same_robot(
        tree: Tree, links: dict[str, LinkDescription], joints: dict[str, JointDescription],
        ) -> None:
    others = [f'link {name!r}' for name in [*links, *tree.links]
              if name not in links or name not in tree.links]
    others += [f'joint {name!r}' for name, joint in joints.items()
               if joint.type.moves and name not in {*tree.joints, *tree.mimics}]
    if others:
        raise DescriptionError(
            f'the file is not that of the robot {tree.name!r}: {others[0]} is not in both')


# ---- the text -----------------------------------------------------------------------------------


class _Element:
    """
    An element of a text.

    :ivar opening: the place of its start tag; closing: of its end tag, the same where it is empty.
    """

    def __init__(self, opening: re.Match[str]) -> None:
        self.tag, self.opening, self.closing = opening['tag'], opening, opening
        self.children: list[_Element] = []

    def value(self, name: str) -> str:
        """Return an attribute, or what a missing one means."""
        found = {each[1]: each[2][1:-1] for each in _ATTRIBUTE.finditer(self.opening[0])}
        return unescape(found[name]) if name in found else _ABSENT.get(name, '')


class _UrdfText:
    """
    The text of a URDF, in which numbers can be replaced and elements be added.

    :param text: a URDF that the parser of descriptions accepts, so it is not hostile.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: list[tuple[int, int, str]] = []
        opened: list[_Element] = []
        for found in filter(lambda found: found['tag'], _MARKUP.finditer(text)):
            if found['ends']:
                self._root = opened.pop()
                self._root.closing = found
                continue
            element = _Element(found)
            if opened:
                opened[-1].children.append(element)
            if not found['is_empty']:
                opened.append(element)
        indented = _INDENTED.search(text)
        self._step = indented[1] if indented else '  '

    def result(self) -> str:
        """Return the text with all changes."""
        text = self._text
        for start, end, new in sorted(self._edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def write(self, tag: str, name: str, content: _Content) -> None:
        """Write what is in a link or a joint; numbers that stay keep their text."""
        self._write(next(element for element in self._root.children
                         if element.tag == tag and element.value('name') == name), content)

    def _write(self, element: _Element, content: _Content) -> None:
        place = {child.tag: child for child in reversed(element.children)}
        tag = element.opening[0]
        for name, new in content.items():
            if isinstance(new, tuple):
                tag = _with_attribute(element, tag, name, *new)
            elif name in place:
                self._write(place[name], new)
            elif name != 'origin':
                self._append(element, name, new)
            elif not all(_equal(_ABSENT[each], exact) for each, (exact, _) in new.items()):
                at = element.children[0].opening.start()
                self._edits.append((at, at, _lines(name, new) + self._line(element.children[0])))
        if tag != element.opening[0]:
            self._edits.append((*element.opening.span(), tag))

    def _append(self, element: _Element, tag: str, content: _Content) -> None:
        """Add an element behind all that another one holds, indented as the file is."""
        line = self._line(element)
        first = self._line(element.children[0]) if element.children else line
        first = first if first != line else line and line + self._step
        text = first + _lines(tag, content, first, self._step)
        start, end = element.opening.span()
        if element.closing is element.opening:  # <link name="camera"/>
            at = start + len(element.opening[0][:-2].rstrip())
            self._edits.append((at, end, f'>{text}{line}</{element.tag}>'))
        else:
            closing = element.closing.start()
            at = end + len(self._text[end:closing].rstrip())
            is_on_its_line = at < closing or not first
            self._edits.append((at, at, text if is_on_its_line else text + line))

    def _line(self, element: _Element) -> str:
        """Return the line break and the indentation before an element; nothing if it has none."""
        at = element.opening.start()
        match = _NEW_LINE.search(self._text, max(0, at - LONGEST_INDENTATION), at)
        return match.group() if match else ''


def _with_attribute(element: _Element, tag: str, name: str, exact: str, written: str) -> str:
    """
    Return a start tag with another value of an attribute.

    :param exact: the value before it was rounded: a text that means it stays.
    """
    present = {each[1]: each for each in _ATTRIBUTE.finditer(tag)}
    is_turned = name == 'rpy' and 'quat_xyzw' in present
    if _equal(rpy_of(element.value('quat_xyzw')) if is_turned else element.value(name), exact):
        return tag
    if is_turned:
        start, end = present['quat_xyzw'].span()
        return f'{tag[:start]}{name}="{written}"{tag[end:]}'
    if name in present:
        start, end = present[name].span(2)
        return tag[:start + 1] + written + tag[end - 1:]
    end = max((place.end() for place in present.values()), default=1 + len(element.tag))
    return f'{tag[:end]} {name}="{written}"{tag[end:]}'


def _lines(tag: str, content: _Content, line: str = '', step: str = '') -> str:
    """Return a new element, its children on lines of their own if it is on one."""
    attributes = children = ''
    for name, new in content.items():
        if isinstance(new, tuple):
            attributes += f' {name}="{new[1]}"'
        else:
            children += (line and line + step) + _lines(name, new)
    return f'<{tag}>{children}{line}</{tag}>' if children else f'<{tag}{attributes}/>'


def _content(exact: Inertial, written: Inertial) -> _Content:
    """Return what is in an ``<inertial>``."""
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    return {
        'origin': {name: (' '.join(map(_text, getattr(exact.origin, name))),
                          ' '.join(map(_text, getattr(written.origin, name))))
                   for name in ('xyz', 'rpy')},
        'mass': {'value': (_text(exact.mass), _text(written.mass))},
        'inertia': {name: (_text(one), _text(other))
                    for name, one, other in zip(names, exact.inertia, written.inertia)}}


def _rounded(inertial: Inertial, digits: int) -> Inertial:
    """
    Return an inertial with fewer digits; as it is, if none with fewer can exist.

    A number that is only rounding error for the size of its body becomes 0.
    """
    if digits >= ALL_DIGITS:
        return inertial
    largest = max(map(abs, inertial.inertia))
    extent = sqrt(largest / inertial.mass) if inertial.mass > 0.0 else 0.0  # radius of gyration

    def rounded(values: Sequence[float], size: float) -> Any:
        return tuple(float(_text(value, digits)) if abs(value) > SAME * size else 0.0
                     for value in values)

    mass, = rounded([inertial.mass], 0.0)
    origin = replace(inertial.origin, xyz=rounded(inertial.origin.xyz, extent))
    result = replace(
        inertial, mass=mass, origin=origin, inertia=rounded(inertial.inertia, largest))
    exists = [is_consistent(np.array(parameters_of(link_inertia(each))))
              for each in (inertial, result)]
    return inertial if exists == [True, False] else result


def _text(value: float, digits: int = ALL_DIGITS) -> str:
    return repr(float(f'{value:.{digits}g}'))


def _equal(text: str, other: str) -> bool:
    """Return whether two texts are the same numbers, but for rounding."""
    ours, theirs = ([*map(float, each.split())] for each in (text, other))
    return len(ours) == len(theirs) and all(
        isclose(a, b, rel_tol=SAME) for a, b in zip(ours, theirs))
