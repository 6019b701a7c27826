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
URDF text → :class:`~ros2_rnea.model.description.RobotDescription`.

urdf_parser_py is the parser of ROS, but it guesses where a value is missing, accepts what is not
a number, and rejects a whole robot for a visual that it does not know.  So it is only given what
dynamics needs, checked, with every default written out: the part of URDF in the table ``URDF``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from math import hypot, inf, isfinite
import re
from typing import Any
from xml.etree import ElementTree

from ros2_rnea.errors import DescriptionError, did_you_mean
from ros2_rnea.model.checks import description_errors
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
    Triple,
)
from ros2_rnea.model.safe_xml import read_xml
from ros2_rnea.spatial import rotation_from_quaternion, rpy_from_rotation
from urdf_parser_py import urdf


def parse_urdf(text: str) -> RobotDescription:
    """
    Read a robot from the text of its URDF.

    Only direct children of ``<robot>``, ``<link>``, ``<joint>`` and ``<inertial>`` that the table
    ``URDF`` names are read, and of ``<gazebo reference="joint">`` the spring of a joint.  All else
    (visuals, ros2_control, …) never matters.

    :param text: the content of a URDF file, or of the topic ``robot_description``.
    :return: links and joints in the order of the text, for which
        :func:`~ros2_rnea.model.checks.check_description` passes.
    :raises DescriptionError: where the text is not XML, not URDF, or not one robot.
    """
    description, errors = read_urdf(text)
    for error in errors:
        raise DescriptionError(error)
    return description


def read_urdf(text: str) -> tuple[RobotDescription, list[str]]:
    """
    Read what can be read of a URDF.

    :param text: as :func:`parse_urdf` has it.
    :return: the description, without the links and joints that are wrong in themselves; and all
        that makes it none of one robot, a sentence each.
    :raises DescriptionError: where the text is not XML, not URDF, or xacro that is not expanded.
    """
    root = read_xml(text)
    if root.tag != URDF.tag:
        raise DescriptionError(
            f'the root element is <{_clip(root.tag)}>; a URDF has <{URDF.tag}> there')
    errors: list[str] = []
    needed = _checked_copy(root, URDF, URDF.tag, errors)
    needed.attrib.setdefault('name', 'unknown')  # an error, but not to those that show the rest
    newer = {joint.get('name'): {name: float(limit.attrib.pop(name)) for name in OF_URDF_1_2}
             for joint in needed.findall(JOINT.tag) for limit in joint.findall(LIMIT.tag)}
    description = _describe(_parse_with_ros(needed))
    description = replace(description, joints=tuple(
        replace(joint, limits=replace(joint.limits, **newer[joint.name]))
        for joint in description.joints))
    description = replace(description, open_loops=tuple(_open_loops(root)))
    if not errors:  # which would be followed by others
        description = _with_springs(description, root, errors)
        errors += description_errors(description)
    return description, errors


def unread(text: str) -> Iterator[tuple[str, str, bool, list[str]]]:
    """
    Find what stands in a URDF where dynamics reads, but is not read.

    :param text: a URDF that :func:`read_urdf` accepts.
    :return: where it stands; its name; whether it is an element (else an attribute); and the
        names that would have been read there but are absent, of which one may be meant.
    """
    return _unread(read_xml(text), URDF, where=URDF.tag)


def unusable(text: str) -> Iterator[tuple[str, str]]:
    """
    Find values of joints that other parsers of ROS refuse and dynamics does not need.

    These are whatever is wrong with the axis, limits, friction or mimic of a fixed joint, limits
    that are infinite, and what is no number among those of URDF 1.2.

    :param text: a URDF that :func:`read_urdf` accepts.
    :return: the joint, and what is wrong.
    """
    for number, joint in enumerate(read_xml(text).findall(JOINT.tag), start=1):
        where = _place(joint, JOINT, number, URDF.tag)
        if _is_rigid(joint):
            for rule in MOTION:
                errors: list[str] = []
                _checked_children(joint, rule, where, errors)
                for said in errors:
                    yield where, f'{said}; a fixed joint does not use it, other ROS parsers may'
            continue
        for limit in joint.findall(LIMIT.tag):
            for name in LIMIT.attributes:
                value = limit.get(name, '')
                if _INFINITE.fullmatch(value.strip()):
                    yield where, (f'its <limit> has {name}={value!r}, which other ROS parsers '
                                  'refuse: write a number')
                elif name in OF_URDF_1_2 and name in limit.attrib and not BOUND.accepts(value):
                    yield where, f'its <limit> has {name}={value!r}, which counts as none: ' \
                                 'write a number'


# ---- What is read of URDF, http://wiki.ros.org/urdf/XML -------------------------------------


@dataclass(frozen=True)
class Attribute:
    """
    An attribute of an element.

    :ivar accepts: the test that its text must pass.
    :ivar needed: the test in words, for people.
    :ivar absent: the text that its absence stands for; None where it may not be absent.
    """

    accepts: Callable[[str], bool]
    needed: str
    absent: str | None = None

    def default(self, text: str) -> Attribute:
        """Return the same attribute, but optional."""
        return replace(self, absent=text)


class Times(Enum):
    """Numbers of times that an element may stand in its parent."""

    ONCE = 'one is needed'
    OPTIONAL = 'one is allowed'
    MANY = 'any number is allowed'


@dataclass(frozen=True)
class Element:
    """
    An element, how often it may stand in its parent, and what of its content is read.

    :ivar absent: the element that the absence of an optional one stands for, if any.
    """

    tag: str
    times: Times
    attributes: dict[str, Attribute] = field(default_factory=dict)
    children: tuple[Element, ...] = ()
    absent: str | None = None


# Linear in the length of the text, however it fails: no digit can be matched in two ways.
_NUMBER = re.compile(r'[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?')
_INFINITE = re.compile(r'[+-]?inf(?:inity)?', re.IGNORECASE)
_MAX_NAME = 200
QUATERNION_TOLERANCE = 1e-3
"""How far the length of a quaternion may be from 1, to which it is scaled."""
_JOINT_TYPES = {kind.label: kind for kind in JointType if kind.in_urdf}


def _is_number(text: str) -> bool:
    return _are_numbers(text, count=1)


def _is_bound(text: str) -> bool:
    return _is_number(text) or _INFINITE.fullmatch(text.strip()) is not None


def _is_vector(text: str) -> bool:
    return _are_numbers(text, count=3)


def _are_numbers(text: str, count: int) -> bool:
    words = text.split()
    return len(words) == count and all(
        _NUMBER.fullmatch(word) and isfinite(float(word)) for word in words)


def _is_unit_quaternion(text: str) -> bool:
    return _are_numbers(text, count=4) and abs(
        hypot(*map(float, text.split())) - 1.0) < QUATERNION_TOLERANCE


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _MAX_NAME and not text.isspace()


NAME = Attribute(_is_name, f'a name of 1 to {_MAX_NAME} characters is needed')
NUMBER = Attribute(_is_number, 'a finite decimal number is needed, such as 0.5 or -1e-3')
VECTOR = Attribute(_is_vector, 'three finite decimal numbers are needed, such as "0 0.5 -1e-3"')
BOUND = Attribute(_is_bound, 'a finite decimal number is needed, or no such attribute at all '
                             'where there is no limit')
JOINT_TYPE = Attribute(_JOINT_TYPES.__contains__, f'one of {", ".join(_JOINT_TYPES)} is needed')
QUATERNION = Attribute(
    _is_unit_quaternion, 'four numbers x y z w are needed, of length 1, such as "0 0 0 1"')

ONCE, OPTIONAL, MANY = Times.ONCE, Times.OPTIONAL, Times.MANY

ORIGIN = Element('origin', OPTIONAL, {
    'xyz': VECTOR.default('0 0 0'),
    'rpy': VECTOR.default('0 0 0'),
    'quat_xyzw': QUATERNION.default(''),  # of URDF 1.1, instead of rpy
}, absent='<origin/>')

VERSIONS = ('1', '1.0', '1.1', '1.2')
"""The versions of URDF whose elements are known here."""

OF_URDF_1_2 = ('acceleration', 'deceleration', 'jerk')
"""Limits that urdf_parser_py does not know."""

LIMIT = Element('limit', OPTIONAL, {
    'lower': BOUND.default('-inf'),
    'upper': BOUND.default('inf'),
    'velocity': BOUND.default('inf'),
    'effort': BOUND.default('inf'),
    **dict.fromkeys(OF_URDF_1_2, BOUND.default('inf')),
}, absent='<limit/>')

MOTION = (
    Element('axis', OPTIONAL, {'xyz': VECTOR}, absent='<axis xyz="1 0 0"/>'),
    LIMIT,
    Element('dynamics', OPTIONAL, {
        'damping': NUMBER.default('0'),
        'friction': NUMBER.default('0'),
    }, absent='<dynamics/>'),
    Element('mimic', OPTIONAL, {
        'joint': NAME,
        'multiplier': NUMBER.default('1'),
        'offset': NUMBER.default('0'),
    }),
)
"""What matters of joints that are not fixed."""

JOINT = Element('joint', MANY, {'name': NAME, 'type': JOINT_TYPE}, (
    ORIGIN,
    Element('parent', ONCE, {'link': NAME}),
    Element('child', ONCE, {'link': NAME}),
    *MOTION,
))

URDF = Element('robot', ONCE, {'name': NAME}, (
    Element('link', MANY, {'name': NAME}, (
        Element('inertial', OPTIONAL, {}, (
            ORIGIN,
            Element('mass', ONCE, {'value': NUMBER}),
            Element('inertia', ONCE, {
                'ixx': NUMBER, 'ixy': NUMBER, 'ixz': NUMBER,
                'iyy': NUMBER, 'iyz': NUMBER, 'izz': NUMBER,
            }),
        )),
    )),
    JOINT,
))


# ---- The walk along the table ---------------------------------------------------------------


def _is_rigid(joint: ElementTree.Element) -> bool:
    kind = _JOINT_TYPES.get(joint.get('type', ''))
    return kind is not None and not kind.moves


_NOTHING = ElementTree.Element('nothing')


def _checked_copy(
        element: ElementTree.Element, rule: Element, where: str, errors: list[str],
        ) -> ElementTree.Element:
    """
    Return what the rule names of an element, with every default written out.

    Of children that may stand any number of times, those in which something is wrong are left out.

    :param errors: gets all that is wrong.
    """
    _refuse_xacro(element, where)
    copy = ElementTree.Element(rule.tag, _checked_attributes(element, rule, where, errors))
    is_rigid = rule is JOINT and _is_rigid(element)
    for child_rule in rule.children:
        unneeded = is_rigid and child_rule in MOTION
        wrong: list[str] = [] if unneeded else errors
        children = _checked_children(element, child_rule, where, wrong)
        if unneeded and wrong:
            children = _checked_children(_NOTHING, child_rule, where, wrong)
        copy.extend(children)
    return copy


def _checked_children(
        element: ElementTree.Element, rule: Element, where: str, errors: list[str],
        ) -> list[ElementTree.Element]:
    found = element.findall(rule.tag)
    too_few = not found and rule.times is ONCE
    too_many = len(found) > 1 and rule.times is not MANY
    if too_few or too_many:
        others = '; urdfdom takes the first: keep the one that is right' if found else ''
        errors.append(
            f'{where} has {len(found) or "no"} <{rule.tag}>, where {rule.times.value}{others}')
    elif not found and rule.absent is not None:
        found = [ElementTree.fromstring(rule.absent)]
    copies = []
    for number, child in enumerate(found, start=1):
        before = len(errors)
        copy = _checked_copy(child, rule, _place(child, rule, number, where), errors)
        if rule.times is not MANY or len(errors) == before:
            copies.append(copy)
    return copies


def _unread(
        element: ElementTree.Element, rule: Element, where: str,
        ) -> Iterator[tuple[str, str, bool, list[str]]]:
    attributes = [name for name in rule.attributes if name not in element.attrib]
    for name, text in element.attrib.items():
        if rule is URDF and name == 'version' and text in VERSIONS:
            continue
        if name not in rule.attributes and ':' not in name:
            yield where, name, False, attributes
    known = {child_rule.tag: child_rule for child_rule in rule.children}
    present = {child.tag for child in element}
    absent = [tag for tag in known if tag not in present]
    for child in element:
        if child.tag in known:
            child_rule = known[child.tag]
            yield from _unread(child, child_rule, _place(child, child_rule, 1, where))
        else:
            yield where, child.tag, True, absent


def _checked_attributes(
        element: ElementTree.Element, rule: Element, where: str, errors: list[str],
        ) -> dict[str, str]:
    checked = {}
    for name, attribute in rule.attributes.items():
        text = element.get(name, attribute.absent)
        if text is None:
            errors.append(f'{where} has no {name}: {attribute.needed}')
        elif name not in element.attrib:
            checked[name] = text
        elif '${' in text or '$(' in text:
            raise _xacro_error(f'{where} has {name}={_clip(text)!r}')
        elif attribute.accepts(text):
            checked[name] = text
        elif name in OF_URDF_1_2:  # other parsers do not look at it
            checked[name] = 'inf'
        else:
            errors.append(f'{where} has {name}={_clip(text)!r}: {attribute.needed}')
    quaternion = checked.pop('quat_xyzw', '')
    if quaternion and 'rpy' in element.attrib:
        errors.append(f'{where} has rpy and quat_xyzw: one rotation is needed, not two')
    elif quaternion:
        checked['rpy'] = rpy_of(quaternion)
    return checked


def with_rpy_alone(root: ElementTree.Element) -> None:
    """Write the rotations of URDF 1.1 as those of 1.0, for programs that know no others."""
    for origin in root.iter('origin'):
        quaternion = origin.attrib.pop('quat_xyzw', '')
        if QUATERNION.accepts(quaternion):  # of visuals, nobody has checked it
            origin.set('rpy', rpy_of(quaternion))


def rpy_of(quaternion: str) -> str:
    """Return the roll, pitch and yaw of a quaternion, both as the texts of attributes."""
    rotation = rotation_from_quaternion(*map(float, quaternion.split()))
    return ' '.join(map(repr, rpy_from_rotation(rotation)))


def _refuse_xacro(element: ElementTree.Element, where: str) -> None:
    for name in (*element.attrib, *(child.tag for child in element)):
        if name.startswith('xacro:'):
            raise _xacro_error(f'{where} has {_clip(name)}')


def _xacro_error(finding: str) -> DescriptionError:
    return DescriptionError(f'xacro was not expanded, run xacro first: {finding}')


def _place(element: ElementTree.Element, rule: Element, number: int, where: str) -> str:
    """Name an element for a person to find it, as in joint 'elbow' <axis>."""
    if rule.times is not MANY:
        return f'{where} <{rule.tag}>'
    name = element.get('name')
    return f'{rule.tag} {_clip(name)!r}' if name else f'{rule.tag} number {number}'


def _clip(text: str, length: int = 80) -> str:
    return text if len(text) <= length else f'{text[:length]}...'


# ---- From urdf_parser_py's objects to ours --------------------------------------------------


def _parse_with_ros(element: ElementTree.Element) -> urdf.Robot:
    text = ElementTree.tostring(element, encoding='unicode')
    try:
        robot = urdf.Robot.from_xml_string(text)
    except Exception as error:  # it raises whatever happens to it: AssertionError, KeyError, …
        raise DescriptionError(
            f'urdf_parser_py cannot read the robot: {_clip(str(error))}') from error
    for tag, parsed in (('link', robot.links), ('joint', robot.joints)):
        if [item.name for item in parsed] != [item.get('name') for item in element.findall(tag)]:
            raise DescriptionError(f'urdf_parser_py has lost a {tag} of the robot')
    return robot


def _describe(robot: urdf.Robot) -> RobotDescription:
    return RobotDescription(
        name=robot.name,
        links=tuple(_link(link) for link in robot.links),
        joints=tuple(_joint(joint) for joint in robot.joints))


# SDFormat reads them so from URDF (parser_urdf.cc): as text or as an attribute, in any number of
# elements <gazebo>.  Other than there, values that contradict each other are an error.
_SPRING = {'springStiffness': 'spring_stiffness', 'springReference': 'spring_reference'}


def _with_springs(
        description: RobotDescription, root: ElementTree.Element, errors: list[str],
        ) -> RobotDescription:
    """Return a description with the springs that elements ``<gazebo>`` give to its joints."""
    names = [joint.name for joint in description.joints]
    springs: dict[str, dict[str, float]] = {}
    for gazebo in root.findall('gazebo'):
        for element in gazebo:
            field_name = _SPRING.get(element.tag)
            if field_name is None:
                continue
            joint = gazebo.get('reference', '')
            where = f'<gazebo reference={_clip(joint)!r}> <{element.tag}>'
            text = element.get('value', element.text or '').strip()
            if joint not in names:
                errors.append(f'{where} is not of a joint{did_you_mean(joint, names)}')
            elif '${' in text or '$(' in text:
                raise _xacro_error(f'{where} has {_clip(text)!r}')
            elif not NUMBER.accepts(text):
                errors.append(f'{where} has {_clip(text)!r}: {NUMBER.needed}')
            elif springs.setdefault(joint, {}).setdefault(field_name, float(text)) != float(text):
                errors.append(
                    f'{where} has {float(text):g}, and another one has '
                    f'{springs[joint][field_name]:g}; one value is needed')
    changed: dict[str, Any] = springs
    return replace(description, joints=tuple(
        replace(joint, **changed.get(joint.name, {})) for joint in description.joints))


def _open_loops(root: ElementTree.Element) -> Iterator[str]:
    """
    Yield, in words, what closes loops in the text.

    It is a ``<loop_joint>`` (Drake), a ``<constraint>`` (proposed for URDF), or SDFormat's joint
    in ``<gazebo>``.  The latter closes none where it holds the base in SDFormat's ``world``, or
    carries a link that is in ``<gazebo>``, too.
    """
    known = {link.get('name') for link in root.findall('link')}
    for element in root:
        closing = element.findall('joint') if element.tag == 'gazebo' else (
            [element] if element.tag in ('loop_joint', 'constraint') else [])
        for joint in closing:
            links = [
                child.get('link') or (child.text or '').strip() for child in joint
                if child.tag in ('link1', 'link2', 'parent', 'child')]
            if len(links) == 2 and all(links) and (
                    element.tag != 'gazebo' or known.issuperset(links)):
                one, other = map(_clip, links)
                yield (f'<{element.tag}> {_clip(joint.get("name", ""))!r} between {one!r} and '
                       f'{other!r} closes a loop, which is left open')


def _link(link: urdf.Link) -> LinkDescription:
    return LinkDescription(link.name, _inertial(link.inertial) if link.inertial else None)


def _inertial(inertial: urdf.Inertial) -> Inertial:
    about = inertial.inertia
    return Inertial(
        mass=inertial.mass,
        origin=_pose(inertial.origin),
        inertia=(about.ixx, about.ixy, about.ixz, about.iyy, about.iyz, about.izz))


def _joint(joint: urdf.Joint) -> JointDescription:
    joint_type = _JOINT_TYPES[joint.type]
    return JointDescription(
        name=joint.name,
        type=joint_type,
        parent=joint.parent,
        child=joint.child,
        origin=_pose(joint.origin),
        axis=_triple(joint.axis),
        limits=_limits(joint.limit, joint_type),
        damping=joint.dynamics.damping,
        friction=joint.dynamics.friction,
        mimic=_mimic(joint.mimic) if joint.mimic else None)


def _limits(limit: urdf.JointLimit, joint_type: JointType) -> JointLimits:
    """Return the limits; URDF gives lower and upper a meaning for two types of joint only."""
    return JointLimits(
        lower=limit.lower if joint_type.is_bounded else -inf,
        upper=limit.upper if joint_type.is_bounded else inf,
        velocity=limit.velocity,
        effort=limit.effort)


def _mimic(mimic: urdf.JointMimic) -> Mimic:
    return Mimic(mimic.joint, mimic.multiplier, mimic.offset)


def _pose(pose: urdf.Pose) -> Pose:
    return Pose(xyz=_triple(pose.xyz), rpy=_triple(pose.rpy))


def _triple(values: list[float]) -> Triple:
    x, y, z = values
    return (x, y, z)
