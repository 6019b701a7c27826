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
Conditions that a description must meet for the robot's dynamics to be defined.

Descriptions written in code are held to the same rules as those read from URDF.  What is merely
suspicious, such as an inertia that no real body has or a limit that leaves no position, is not an
error and not found here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import hypot, isfinite, isnan
from typing import TypeVar

from ros2_rnea.errors import ArgumentError, DescriptionError, did_you_mean
from ros2_rnea.model.description import (
    Inertial,
    JOINT_NUMBERS,
    JointDescription,
    LinkDescription,
    Pose,
    RobotDescription,
)

Part = TypeVar('Part', LinkDescription, JointDescription)

# Within these, the square of an axis' length neither vanishes nor overflows.
_SHORTEST_AXIS, _LONGEST_AXIS = 1e-100, 1e100


def check_description(description: RobotDescription) -> None:
    """
    Refuse a description that leaves the dynamics undefined.

    :raises DescriptionError: for the first of its :func:`description_errors`.
    """
    for error in description_errors(description):
        raise DescriptionError(error)


def description_errors(description: RobotDescription) -> Iterator[str]:
    """
    Yield all that leaves the dynamics undefined, a sentence each.

    It is a name that is missing, given twice or unknown; a number that is not finite or not
    possible; joints that do not make one tree of the links; a mimic that cannot be followed.
    """
    if not description.links:
        yield f'robot {description.name!r} has no links; one is needed'
        return
    yield from _name_errors('link', (link.name for link in description.links))
    yield from _name_errors('joint', (joint.name for joint in description.joints))
    for link in description.links:
        yield from _raised(check_link, link)
    for joint in description.joints:
        yield from _raised(_check_joint, joint)
    yield from _tree_errors(description)
    yield from _mimic_errors(description.joints)


def _raised(check: Callable[[Part], None], part: Part) -> Iterator[str]:
    try:
        check(part)
    except DescriptionError as error:
        yield str(error)


def _name_errors(kind: str, names: Iterable[str]) -> Iterator[str]:
    for name, count in Counter(names).items():
        if not name:
            yield f'a {kind} has an empty name'
        if count > 1:
            yield f'{count} {kind}s have the name {name!r}; names must differ'


# ---- Numbers --------------------------------------------------------------------------------


def check_link(link: LinkDescription) -> None:
    inertial = link.inertial
    if inertial is None:
        return
    where = f'link {link.name!r}'
    _check_finite(where, 'mass', [inertial.mass])
    _check_finite(where, 'inertia', inertial.inertia)
    _check_pose(f'{where} <inertial>', inertial.origin)
    _check_not_negative(where, 'mass', inertial.mass)


def check_payload(name: str, inertial: Inertial) -> None:
    """
    Refuse what no body that is attached can be.

    The audit, which would warn of a link's negative inertia, does not see payloads.  With a mass
    it may be what an identification found; without one nothing else is left of the payload.

    :raises RneaError: naming the payload and its number that cannot be.
    """
    if not isinstance(name, str):
        raise ArgumentError(f'the name of a payload is {name!r}; it needs to be a string')
    if not isinstance(inertial, Inertial):
        raise ArgumentError(f'payload {name!r} is {inertial!r}; it needs an Inertial')
    link = LinkDescription(f'payload {name}', inertial)
    try:
        check_link(link)
    except OverflowError as error:
        raise ArgumentError(
            f'payload {name!r} is {inertial}; it needs smaller numbers: {error}') from error
    ixx, _, _, iyy, _, izz = inertial.inertia
    if inertial.mass == 0.0:
        for what, moment in (('ixx', ixx), ('iyy', iyy), ('izz', izz)):
            _check_not_negative(f'link {link.name!r}', f'mass 0 and the {what}', moment)


def _check_joint(joint: JointDescription) -> None:
    where = f'joint {joint.name!r}'
    _check_pose(where, joint.origin)
    _check_finite(where, 'axis', joint.axis)
    _check_finite(where, 'gear ratio', [joint.gear_ratio])
    _check_finite(where, 'rotor inertia', [joint.rotor_inertia])
    _check_not_negative(where, 'rotor inertia', joint.rotor_inertia)
    for parameter in JOINT_NUMBERS:
        name, value = parameter.name.replace('_', ' '), getattr(joint, parameter.name)
        _check_finite(where, name, [value])
        if not parameter.is_signed:
            _check_not_negative(where, name, value)
        if value and parameter.of_one_coordinate and joint.type.nv > 1:
            raise DescriptionError(
                f'{where} is {joint.type.label} and has the {name} {value}; only a joint of one '
                'coordinate can have one')
    _check_finite(where, 'pitch', [joint.pitch])
    if joint.mimic is not None:
        _check_finite(where, 'mimic multiplier', [joint.mimic.multiplier])
        _check_finite(where, 'mimic offset', [joint.mimic.offset])
    _check_limits(joint)
    _check_axis(joint)


def _check_axis(joint: JointDescription) -> None:
    if not joint.type.has_axis:
        return
    if not _SHORTEST_AXIS < hypot(*joint.axis) < _LONGEST_AXIS:
        given = ' '.join(map(str, joint.axis))
        raise DescriptionError(
            f'joint {joint.name!r} is {joint.type.label}, but its axis {given} gives no '
            'direction; give a vector of about unit length')


def _check_limits(joint: JointDescription) -> None:
    limits = joint.limits
    for what, value in {'lower': limits.lower, 'upper': limits.upper, **limits.sizes}.items():
        if isnan(value):
            raise DescriptionError(
                f'joint {joint.name!r} has the {what} limit nan; it must be a number')


def _check_pose(where: str, pose: Pose) -> None:
    _check_finite(where, 'origin xyz', pose.xyz)
    _check_finite(where, 'origin rpy', pose.rpy)


def _check_finite(where: str, what: str, values: Sequence[float]) -> None:
    if not all(map(isfinite, values)):
        given = ' '.join(map(str, values))
        raise DescriptionError(f'{where} has the {what} {given}; it must be finite')


def _check_not_negative(where: str, what: str, value: float) -> None:
    if not value >= 0.0:  # NaN is refused too
        raise DescriptionError(f'{where} has the {what} {value}; it must be zero or more')


# ---- One tree -------------------------------------------------------------------------------


def _tree_errors(description: RobotDescription) -> Iterator[str]:
    links = [link.name for link in description.links]
    carriers: dict[str, JointDescription] = {}
    errors = list(_tie_errors(links, description.joints, carriers))
    yield from errors
    if errors:
        return
    loop = _find_loop({link: carriers[link].parent for link in links if link in carriers})
    if loop:
        downward = loop[::-1]
        joints = [carriers[link].name for link in downward[1:]]
        yield (f'the links {_arrows(downward)} form a loop, through the joints '
               f'{_listed(joints)}; links and joints must form a tree')
        return
    roots = [link for link in links if link not in carriers]
    if len(roots) > 1:
        yield (f'{len(roots)} links are the child of no joint: {_listed(roots)}; '
               'only one may be, the root: join the others to it')


def _tie_errors(
        links: Sequence[str], joints: Sequence[JointDescription],
        carriers: dict[str, JointDescription]) -> Iterator[str]:
    """Yield what is wrong with the links that joints name; ``carriers`` gets a joint for each."""
    known = frozenset(links)
    for joint in joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                yield (f'joint {joint.name!r} names the {role} link {link!r}, '
                       f'which does not exist{did_you_mean(link, links)}')
        other = carriers.setdefault(joint.child, joint)
        if other is not joint:
            yield (f'link {joint.child!r} is the child of two joints, {other.name!r} (parent '
                   f'{other.parent!r}) and {joint.name!r} (parent {joint.parent!r}); '
                   'a link has one parent')


# ---- Mimics ---------------------------------------------------------------------------------


def _mimic_errors(joints: Sequence[JointDescription]) -> Iterator[str]:
    by_name = {joint.name: joint for joint in joints}
    leaders = {}
    for joint, leader in _mimics_of_moving_joints(joints):
        if leader not in by_name:
            yield (f'joint {joint.name!r} mimics the joint {leader!r}, '
                   f'which does not exist{did_you_mean(leader, by_name)}')
            continue
        for one in (joint, by_name[leader]):
            if one.type.nv != 1:
                yield (f'joint {joint.name!r} mimics the joint {leader!r}, but {one.name!r} is '
                       f'{one.type.label}; both must have one degree of freedom')
        leaders[joint.name] = leader
    loop = _find_loop(leaders)
    if loop:
        yield f'the joints {_arrows(loop)} mimic each other in a ring; one of them must lead'


def _mimics_of_moving_joints(
        joints: Sequence[JointDescription]) -> Iterator[tuple[JointDescription, str]]:
    """Yield each joint that mimics, with the leader's name; a fixed joint can follow nothing."""
    for joint in joints:
        if joint.mimic is not None and joint.type.moves:
            yield joint, joint.mimic.joint


# ---- Help for the above ---------------------------------------------------------------------


def _find_loop(following: Mapping[str, str]) -> list[str]:
    """
    Return one loop of a map from each name to the next, its first name again at its end.

    Without recursion, and every name is visited once, whatever the length of a chain.
    """
    finished: set[str] = set()
    for start in following:
        path: dict[str, None] = {}
        name = start
        while name in following and name not in finished and name not in path:
            path[name] = None
            name = following[name]
        if name in path:
            visited = list(path)
            return [*visited[visited.index(name):], name]
        finished.update(path)
    return []


def _arrows(names: Sequence[str]) -> str:
    return ' -> '.join(_shortened(names))


def _listed(names: Sequence[str]) -> str:
    return ', '.join(_shortened(names))


def _shortened(names: Sequence[str], most: int = 12) -> list[str]:
    """Return the names in quotes; of a great many, the first and the last ones."""
    quoted = [repr(name) for name in names]
    if len(quoted) <= most:
        return quoted
    return [*quoted[:most // 2], f'({len(quoted) - most} more)', *quoted[-most // 2:]]
