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
The text of a URDF, in which numbers can be replaced and elements be added.

Nothing else in the text changes: comments, order, white space and line ends stay.  Numbers are
written with all digits, or with fewer where that is asked for: an identification has no nine
digits that count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from math import isclose, sqrt
import re
from types import MappingProxyType

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import is_consistent
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.model.description import Inertial, JointDescription, LinkDescription
from ros2_rnea.model.tree import Body, link_inertia
from ros2_rnea.model.urdf import rpy_of
from ros2_rnea.offline.identification.link_inertias import SAME

ALL_DIGITS = 17
"""Number of significant digits that tell all double-precision numbers apart."""

_MARKUP = re.compile(
    r'<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>'
    r'|<(?P<ends>/)?(?P<tag>[^\s/>]+)(?:[^"\'>]|"[^"]*"|\'[^\']*\')*?(?P<is_empty>/)?>', re.DOTALL)
"""What begins with < in XML that the parser of descriptions accepts; a > may be quoted."""

_ATTRIBUTE = re.compile(r'([^\s=/>]+)\s*=\s*("[^"]*"|\'[^\']*\')')
_NEW_LINE = re.compile(r'(?:\r\n|\n|\r)[ \t]*\Z')

LONGEST_INDENTATION = 1000

ORIGIN = {'xyz': '0 0 0', 'rpy': '0 0 0'}
NO_FRICTION = {'damping': '0', 'friction': '0'}
"""Values of missing attributes."""


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
        return unescape(self.attributes[name][2][1:-1])


class UrdfText:
    """
    The text of a URDF and its changes.

    :param text: a URDF that the parser of descriptions accepts, so it is not hostile.
    :param digits: significant ones of numbers that are written.
    """

    def __init__(self, text: str, digits: int) -> None:
        self._text = text
        self._edits: list[tuple[int, int, str]] = []
        self._digits = digits
        self._root = _root(text)
        self._step = self._indentation_step()

    def result(self) -> str:
        """Return the text with all changes."""
        parts, position = [], 0
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            parts += [self._text[position:start], text]
            position = end
        return ''.join([*parts, self._text[position:]])

    def set_inertial(self, link: LinkDescription, inertial: Inertial) -> None:
        """Write the inertial of a link; numbers that stay keep their text."""
        element = self._named('link', link.name)
        exact, values = _attributes(inertial), _attributes(_rounded(inertial, self._digits))
        present = element.child('inertial')
        if present is None:
            self._append(element, 'inertial', values)
            return
        for child in present.children:
            self._set_attributes(
                child, values.get(child.tag, {}), ORIGIN, exact.get(child.tag, {}))
        if present.child('origin') is None and not all(
                _equal(ORIGIN[name], value) for name, value in exact['origin'].items()):
            self._insert_first(present, _empty_tag('origin', values['origin']))

    def set_dynamics(self, joint: JointDescription, body: Body) -> None:
        """Write the viscous and Coulomb friction of a joint; numbers that stay keep their text."""
        element = self._named('joint', joint.name)
        exact = {'damping': repr(float(body.damping)), 'friction': repr(float(body.friction))}
        values = {name: repr(_with_digits(float(text), self._digits))
                  for name, text in exact.items()}
        present = element.child('dynamics')
        if present is None:
            self._append(element, 'dynamics', attributes=values)
        else:
            self._set_attributes(present, values, NO_FRICTION, exact)

    def _named(self, tag: str, name: str) -> _Element:
        return next(element for element in self._root.children
                    if element.tag == tag and 'name' in element.attributes
                    and element.value('name') == name)

    def _set_attributes(
            self, element: _Element, values: dict[str, str], absent: dict[str, str],
            exact: dict[str, str]) -> None:
        """
        Replace the values of attributes that mean other numbers, and add those that are missing.

        :param absent: what a missing attribute means.
        :param exact: the values before they were rounded: a text that means these stays.
        """
        present = element.attributes
        end = max((place.end() for place in present.values()),
                  default=element.start + len(f'<{element.tag}'))
        for name, value in values.items():
            if name == 'rpy' and 'quat_xyzw' in present:
                if not _equal(rpy_of(element.value('quat_xyzw')), exact[name]):
                    self._edits.append((*present['quat_xyzw'].span(), f'{name}="{value}"'))
            elif name not in present:
                if not _equal(absent[name], exact[name]):
                    self._edits.append((end, end, f' {name}="{value}"'))
            elif not _equal(element.value(name), exact[name]):
                place = present[name]
                self._edits.append((place.start(2) + 1, place.end(2) - 1, value))

    def _append(
            self, element: _Element, tag: str,
            children: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
            attributes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Add an element behind all that another one holds, indented as the file is."""
        inside = self._text[element.inside:element.closing].rstrip()
        line = self._new_line(element.start)
        first = next((self._new_line(child.start) for child in element.children), line)
        if first == line:
            first = line and line + self._step
        if children:
            inner = first and first + self._step
            lines = ''.join(inner + _empty_tag(*child) for child in children.items())
            text = f'{first}<{tag}>{lines}{first}</{tag}>'
        else:
            text = first + _empty_tag(tag, attributes)
        if element.closing == element.inside == element.end:  # <link name="camera"/>
            at = self._text.rindex('/>', element.start, element.end)
            at = len(self._text[:at].rstrip())
            self._edits.append((at, element.end, f'>{text}{line}</{element.tag}>'))
        else:
            at = element.inside + len(inside)
            is_on_its_line = at < element.closing or not first
            self._edits.append((at, at, text if is_on_its_line else text + line))

    def _insert_first(self, element: _Element, text: str) -> None:
        """Add an element before the first child of another one."""
        at = element.children[0].start
        self._edits.append((at, at, text + self._new_line(at)))

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


def _attributes(inertial: Inertial) -> dict[str, dict[str, str]]:
    """Return the attributes of the elements in an ``<inertial>``."""
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    return {
        'origin': {'xyz': _numbers(inertial.origin.xyz), 'rpy': _numbers(inertial.origin.rpy)},
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
    nothing = SAME * size
    return [_with_digits(value, digits) if abs(value) > nothing else 0.0 for value in values]


def _with_digits(value: float, digits: int) -> float:
    return float(f'{value:.{digits}g}')


def _numbers(values: Iterable[float]) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _equal(text: str, other: str) -> bool:
    """Return whether two texts are the same numbers, but for rounding."""
    ours, theirs = ([*map(float, each.split())] for each in (text, other))
    return all(isclose(a, b, rel_tol=SAME) for a, b in zip(ours, theirs))
