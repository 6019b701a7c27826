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
for byte.  So the file is not written from what was read; numbers are replaced at the places where
the XML parser found them.

What is identified is the inertia of a body, and a body may be several links that fixed joints hold
together.  The difference to the file goes to one of them, and the others keep what the file says:

1. to the link that the moving joint carries, if it has an ``<inertial>``, or no link of the body
   has one;
2. if it has none, or would then have an inertia that no body has, to the heaviest link for which
   this is not so;
3. if there is no such link, the heaviest one takes the difference, and the masses and inertias of
   the others are multiplied by one factor: half of the largest one that leaves to the heaviest an
   inertia that a body can have.  Their centres of mass stay.

In all cases the inertia of the body, which is all that efforts depend on, is the identified one.
Where a link could not take the difference, a remark says so.

Numbers are written with all digits, or with fewer where that is asked for: an identification has
no nine digits that count.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose, sqrt
import re
from types import MappingProxyType
from xml.parsers import expat

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import inertial_of, is_consistent, pseudo_inertia
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.description import Inertial, JointDescription, LinkDescription
from ros2_rnea.model.tree import Body, link_inertia, MASSLESS, Tree
from ros2_rnea.model.urdf import parse_urdf, rpy_of
from ros2_rnea.robots.robot import Robot
from ros2_rnea.spatial import Inertia
import scipy.linalg

ALL_DIGITS = 17
"""Number of significant digits that tell all double-precision numbers apart."""

SAME = 1e-13
"""Numbers whose relative difference is less than this are equal, except for rounding."""


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
    file = _UrdfText(text, digits)
    remarks: list[str] = []
    inertials: dict[str, Inertial] = {}
    for index in range(len(robot.tree.bodies)):
        changed, found = _links_of_body(robot.tree, index, links)
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


# ---- From a body to its links ---------------------------------------------------------------


def _links_of_body(
        tree: Tree, index: int, links: dict[str, LinkDescription],
        ) -> tuple[dict[str, Inertial], list[str]]:
    """Return the inertials of a body's links that change, by name, and remarks about them."""
    body = tree.bodies[index]
    inertials = {
        name: inertial for name, frame in tree.links.items() if frame.body == index
        for inertial in (links[name].inertial,) if inertial is not None}
    in_body = {name: tree.links[name].X_body_to_link.to_parent(link_inertia(inertial))
               for name, inertial in inertials.items()}
    if _same(body.inertia, _total(in_body.values())):
        return {}, []
    heaviest_first = sorted(in_body, key=lambda name: -in_body[name].m)
    own_first = sorted(heaviest_first, key=lambda name: name != body.link) or [body.link]
    others = {name: _total(inertia for link, inertia in in_body.items() if link != name)
              for name in own_first}
    try:
        shares = {name: _largest_share(others[name], body.inertia) for name in own_first}
    except scipy.linalg.LinAlgError:  # no part of a body that is impossible tells anything
        name = own_first[0]
        return {name: _rest(tree, body, name, others[name])}, [
            f'the inertia of what joint {body.joint!r} moves is one that no body has']
    for name in own_first:
        if shares[name] < 1.0:
            remarks = [] if name == own_first[0] else [
                f'link {own_first[0]!r} could not take the change without an inertia that no '
                f'body has, so link {name!r}, which is fixed to it, has taken it']
            return {name: _rest(tree, body, name, others[name])}, remarks
    heaviest, *reduced = heaviest_first
    factor = 0.5 / shares[heaviest]
    changed = {name: _scaled(inertials[name], factor) for name in reduced}
    changed[heaviest] = _rest(tree, body, heaviest, others[heaviest] * factor)
    return changed, [
        f'no link of what joint {body.joint!r} moves could take the change alone, so the masses '
        f'and inertias of {", ".join(map(repr, reduced))} are {factor:.3g} times those of the '
        f'file, and link {heaviest!r} has the rest']


def _total(inertias: Iterable[Inertia]) -> Inertia:
    return sum(inertias, start=MASSLESS)


def _same(one: Inertia, other: Inertia) -> bool:
    a, b = np.array(parameters_of(one)), np.array(parameters_of(other))
    return all(np.abs(a[part] - b[part]).max() <= SAME * np.abs(b[part]).max()
               for part in (slice(0, 1), slice(1, 4), slice(4, 10)))


def _largest_share(part: Inertia, whole: Inertia) -> float:
    """
    Return the least s for which s times the whole can have the part in it; below 1 it fits.

    It is the largest generalized eigenvalue of the pseudo-inertias.

    :raises scipy.linalg.LinAlgError: where the whole is an inertia that no body has.
    """
    J_part = pseudo_inertia(parameters_of(part))
    J_whole = pseudo_inertia(parameters_of(whole))
    return float(scipy.linalg.eigh(J_part, J_whole, eigvals_only=True)[-1])


def _rest(tree: Tree, body: Body, link: str, others: Inertia) -> Inertial:
    """Return the inertial of a link, in its axes, that makes the inertia of its body complete."""
    rest = tree.links[link].X_body_to_link.inverse().to_parent(body.inertia - others)
    if rest.m <= 0.0:
        raise DescriptionError(
            f'link {link!r} would have the mass {rest.m:.6g} kg, which no URDF can say: what '
            f'joint {body.joint!r} moves has {body.inertia.m:.6g} kg, and the links fixed to this '
            f'one have {others.m:.6g} kg; make the parameters physically consistent')
    return inertial_of(parameters_of(rest))


def _scaled(inertial: Inertial, factor: float) -> Inertial:
    ixx, ixy, ixz, iyy, iyz, izz = (factor * number for number in inertial.inertia)
    return replace(
        inertial, mass=factor * inertial.mass, inertia=(ixx, ixy, ixz, iyy, iyz, izz))


# ---- The text -------------------------------------------------------------------------------


@dataclass(eq=False)
class _Element:
    """
    An element and where it stands in the text, as offsets in bytes.

    :ivar start: of its start tag; end: behind its last tag.
    :ivar inside: behind its start tag.
    :ivar closing: of its end tag; behind its start tag where that is also its end.
    """

    tag: str
    attributes: dict[str, str]
    start: int
    inside: int
    closing: int = 0
    end: int = 0
    children: list[_Element] = field(default_factory=list)

    def child(self, tag: str) -> _Element | None:
        return next((child for child in self.children if child.tag == tag), None)


# What stands in a start tag that the parser has accepted, behind its name; a > may be quoted.
_IN_TAG = re.compile(rb'([^\s=/>]+)\s*=\s*("[^"]*"|\'[^\']*\')|/?>')
_NEW_LINE = re.compile(rb'(?:\r\n|\n|\r)[ \t]*\Z')

LONGEST_INDENTATION = 1000

ORIGIN = {'xyz': '0 0 0', 'rpy': '0 0 0'}
NO_FRICTION = {'damping': '0', 'friction': '0'}
"""Values of missing attributes."""

DEEPEST = 4
"""The depth of what is changed: robot, link, inertial, mass."""


class _UrdfText:
    """The text of a URDF, in which numbers can be replaced and elements be added."""

    def __init__(self, text: str, digits: int) -> None:
        """
        Find what may change.

        :param text: a URDF that the parser of descriptions accepts, so it is not hostile.
        :param digits: significant ones of numbers that are written.
        """
        document = text.lstrip('\ufeff \t\r\n')  # as the parser of descriptions does
        self._before = text[:len(text) - len(document)]
        self._bytes = document.encode('utf-8')
        self._edits: list[tuple[int, int, str]] = []
        self._digits = digits
        self._root = self._located()
        self._step = self._indentation_step()

    def result(self) -> str:
        """Return the text with all changes."""
        parts, position = [], 0
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            parts += [self._bytes[position:start], text.encode()]
            position = end
        return self._before + b''.join([*parts, self._bytes[position:]]).decode('utf-8')

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

    # ---- where it stands ------------------------------------------------------------------------

    def _located(self) -> _Element:
        """Return the root element with all that may change, each with its place."""
        parser = expat.ParserCreate(encoding='utf-8')
        open_elements: list[_Element] = []
        roots: list[_Element] = []
        depth = 0

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > DEEPEST:
                return
            at = parser.CurrentByteIndex
            *_, tag_end = self._in_tag(tag, at)
            element = _Element(tag, attributes, at, tag_end.end())
            (open_elements[-1].children if open_elements else roots).append(element)
            open_elements.append(element)

        def end(tag: str) -> None:
            nonlocal depth
            depth -= 1
            if depth >= DEEPEST:
                return
            element = open_elements.pop()
            if self._bytes.endswith(b'/>', element.start, element.inside):
                element.closing = element.end = element.inside
            else:
                element.closing = parser.CurrentByteIndex
                element.end = self._bytes.index(b'>', element.closing) + 1

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.Parse(self._bytes, True)
        return roots[0]

    def _in_tag(self, tag: str, at: int) -> Iterator[re.Match[bytes]]:
        """Yield the attributes of a start tag, and its end."""
        for match in _IN_TAG.finditer(self._bytes, at + len('<') + len(tag.encode())):
            yield match
            if match.group(1) is None:
                return

    def _named(self, tag: str, name: str) -> _Element:
        return next(element for element in self._root.children
                    if element.tag == tag and element.attributes.get('name') == name)

    # ---- changes --------------------------------------------------------------------------------

    def _set_attributes(
            self, element: _Element, values: dict[str, str], absent: dict[str, str],
            exact: dict[str, str]) -> None:
        """
        Replace the values of attributes that mean other numbers, and add those that are missing.

        :param absent: what a missing attribute means.
        :param exact: the values before they were rounded: a text that means these stays.
        """
        *places, _ = self._in_tag(element.tag, element.start)
        present = {place.group(1).decode(): place for place in places}
        end = places[-1].end() if places else element.start + len(f'<{element.tag}'.encode())
        for name, value in values.items():
            if name == 'rpy' and 'quat_xyzw' in present:
                if not _equal(rpy_of(element.attributes['quat_xyzw']), exact[name]):
                    self._edits.append((*present['quat_xyzw'].span(), f'{name}="{value}"'))
            elif name not in present:
                if not _equal(absent[name], exact[name]):
                    self._edits.append((end, end, f' {name}="{value}"'))
            elif not _equal(element.attributes[name], exact[name]):
                place = present[name]
                self._edits.append((place.start(2) + 1, place.end(2) - 1, value))

    def _append(
            self, element: _Element, tag: str,
            children: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
            attributes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Add an element behind all that another one holds, indented as the file is."""
        inside = self._bytes[element.inside:element.closing].rstrip()
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
            at = self._bytes.rindex(b'/>', element.start, element.end)
            at = len(self._bytes[:at].rstrip())
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
        match = _NEW_LINE.search(self._bytes, max(0, at - LONGEST_INDENTATION), at)
        return match.group().decode() if match else ''

    def _indentation_step(self) -> str:
        """Return by how much the first child on a line of its own is indented further."""
        for element in (self._root, *self._root.children):
            line = self._new_line(element.start)
            for child in element.children:
                inner = self._new_line(child.start)
                if line and inner.startswith(line) and inner != line:
                    return inner[len(line):]
        return '  '


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
