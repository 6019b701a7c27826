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
A :class:`Tree` of rigid bodies, made once from a description and never changed.

Bodies are numbered so that a parent comes before its children; the base is number −1.  Links
that fixed joints hold together are one body: its frame is that of the link which its moving
joint carries.  Joints that mimic another keep a body of their own but no coordinate: the body
says which coordinate moves it, and how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from itertools import chain
from math import inf, isfinite
from types import MappingProxyType

import numpy as np

from ros2_rnea.errors import ArgumentError, DescriptionError, did_you_mean, shortened
from ros2_rnea.model.checks import check_description
from ros2_rnea.model.description import (
    Inertial,
    JOINT_NUMBERS,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from ros2_rnea.spatial import (
    Inertia,
    Matrix,
    NO_TRANSFORM,
    rotation_from_rpy,
    Transform,
    Vector,
    ZERO,
)

BASE = -1
FLOATING_BASE = 'floating_base'
"""The name of the joint that is added between the world and a floating robot's root link."""

MASSLESS = Inertia(0.0, ZERO, Matrix(ZERO, ZERO, ZERO))


@dataclass(frozen=True, eq=False)
class Body:
    """
    One rigid body and the joint that carries it.

    :ivar parent: index of the parent body, −1 for the base.
    :ivar X_tree: from the parent body's frame to the joint's frame at position zero.
    :ivar axis: unit vector in the joint's frame.
    :ivar inertia: of all links that are lumped in this body, in its frame.
    :ivar q_index: the first of its joint's position coordinates; v_index, the first of its
        velocity coordinates.
    :ivar pitch: advance of a helical joint for a turn of one radian [m/rad].
    :ivar armature: reflected rotor inertia: that of the motor's rotor times the gear ratio squared
        [kg m^2 or kg].
    :ivar multiplier: joint position = multiplier * q[q_index] + offset; 1 and 0 but for mimics.
    """

    joint: str
    link: str
    type: JointType  # noqa: A003
    parent: int
    X_tree: Transform
    axis: Vector
    inertia: Inertia
    limits: JointLimits
    damping: float
    friction: float
    spring_stiffness: float
    spring_reference: float
    friction_offset: float
    damping_positive: float
    damping_negative: float
    friction_positive: float
    friction_negative: float
    breakaway_friction: float
    stribeck_velocity: float
    armature: float
    pitch: float
    q_index: int
    v_index: int
    multiplier: float
    offset: float

    @property
    def q_slice(self) -> slice:
        """Return the position coordinates that move this body's joint."""
        return slice(self.q_index, self.q_index + self.type.nq)

    @property
    def v_slice(self) -> slice:
        """Return the velocity coordinates that move this body's joint."""
        return slice(self.v_index, self.v_index + self.type.nv)


def with_joint_number(body: Body, name: str, value: float) -> Body:
    """
    Return a body whose joint has another number, such as its ``damping``.

    ``replace`` of dataclasses takes five times as long, and a node changes many joints at once.
    """
    changed = copy(body)
    vars(changed)[name] = value  # nobody has seen it yet
    return changed


@dataclass(frozen=True, eq=False)
class LinkFrame:
    """A link's place: the body that carries it, and X from that body's frame to the link's."""

    body: int
    X_body_to_link: Transform


@dataclass(frozen=True, eq=False)
class Tree:
    """
    A robot as plain data, in the order of all its vectors.

    :ivar bodies: parent before child, depth first, children in the description's order.
    :ivar links: by link name, in depth-first order.
    :ivar joints: index of the body that each independent moving joint carries, by joint name.
    :ivar mimics: index of the body that each mimicking joint carries, by joint name.
    :ivar effort_limits: shape (nv,) [Nm or N], read-only; infinite where nothing is said.
    """

    name: str
    root: str
    bodies: tuple[Body, ...]
    links: Mapping[str, LinkFrame]
    joints: Mapping[str, int]
    mimics: Mapping[str, int]
    nq: int
    nv: int
    effort_limits: np.ndarray

    def __post_init__(self) -> None:
        for name in ('links', 'joints', 'mimics'):
            mapping = getattr(self, name)
            if not isinstance(mapping, MappingProxyType):  # one that is may be shared
                object.__setattr__(self, name, MappingProxyType(mapping))
        self.effort_limits.flags.writeable = False

    def __reduce__(self) -> tuple[type[Tree], tuple[object, ...]]:
        """Pickle and copy a read-only mapping as a dict, for it can do neither itself."""
        values = [getattr(self, field.name) for field in fields(self)]
        return Tree, tuple(
            dict(value) if isinstance(value, MappingProxyType) else value for value in values)


def build_tree(
        description: RobotDescription,
        floating_base: bool = False,
        massless_links: Iterable[str] = (),
        lump_fixed_joints: bool = True) -> Tree:
    """
    Build the tree of rigid bodies that a description defines.

    :param description: as read or written; it is checked first.  Its numbers may be of any real
        type; they become floats.
    :param floating_base: put a floating joint between the world and the root link.
    :param massless_links: links that may move without an ``<inertial>`` in their rigid group.
    :param lump_fixed_joints: make one body of the links that fixed joints hold together;
        otherwise each link is a body, and what a fixed joint transmits can be asked for.
    :raises DescriptionError: where the description leaves the dynamics undefined.
    """
    check_description(description)
    massless = frozenset(massless_links)
    _check_names(massless, description)
    root = _root_link(description)
    joints = _depth_first(description, root.name)
    if floating_base:
        joints.insert(0, _floating_joint(description, root.name))
    moving = [joint for joint in joints if joint.type.moves]
    frames, groups = _place_links(description, joints, moving, root)
    _check_groups_have_inertia(groups, moving, massless)
    if lump_fixed_joints:
        return _assemble(description.name, root.name, moving, frames, groups)
    frames, groups = _place_links(description, joints, joints, root)
    return _assemble(description.name, root.name, joints, frames, groups)


def attach(tree: Tree, payload_inertias: Mapping[int, Inertia]) -> Tree:
    """
    Return a tree with payloads; bodies that carry none are shared.

    :param payload_inertias: see :func:`payload_inertia`.
    """
    bodies = list(tree.bodies)
    for index, added in payload_inertias.items():
        bodies[index] = replace(bodies[index], inertia=bodies[index].inertia + added)
    return replace(tree, bodies=tuple(bodies)) if payload_inertias else tree


def inertia_on_body(tree: Tree, link: str, inertial: Inertial) -> Inertia:
    """Return mass properties in a link's frame as the inertia in its body's frame."""
    return tree.links[link].X_body_to_link.to_parent(link_inertia(inertial))


def payload_inertia(
        tree: Tree,
        payloads: Mapping[str, tuple[str, Inertial]],
        on_body: Callable[[Tree, str, Inertial], Inertia] = inertia_on_body,
        ) -> dict[int, Inertia]:
    """
    Return what payloads add to the bodies that carry them, by body and in its frame.

    :param payloads: the link and the mass properties in its frame, by name.
    :param on_body: computes or remembers :func:`inertia_on_body`.
    :raises ArgumentError: naming the payload from which on the inertia is not finite.
    """
    inertias: dict[int, Inertia] = {}
    for name, (link, inertial) in payloads.items():
        frame = tree.links[link]
        if frame.body != BASE:
            added = on_body(tree, link, inertial)
            total = inertias.get(frame.body, MASSLESS) + added
            if not all(map(isfinite, (total.m, *total.h, *chain(*total.I_origin.rows)))):
                raise ArgumentError(
                    f'payload {name!r} of mass {inertial.mass} at {inertial.origin.xyz} makes the '
                    f'inertia on link {link!r} too large to be a number; give mass [kg], '
                    'position [m] and inertia [kg m^2] in these units')
            inertias[frame.body] = total
    return inertias


def placement(pose: Pose) -> Transform:
    """Return the transform into a frame that stands at a pose."""
    return Transform.from_pose(
        rotation_from_rpy(*map(float, pose.rpy)), Vector(*map(float, pose.xyz)))


def link_inertia(inertial: Inertial) -> Inertia:
    """Return a link's spatial inertia in the link's frame."""
    ixx, ixy, ixz, iyy, iyz, izz = map(float, inertial.inertia)
    about_center = Matrix(Vector(ixx, ixy, ixz), Vector(ixy, iyy, iyz), Vector(ixz, iyz, izz))
    own_frame = Inertia(float(inertial.mass), ZERO, about_center)
    return placement(inertial.origin).to_parent(own_frame)


# ---- the steps of build_tree ----------------------------------------------------------------


def _check_names(massless: frozenset[str], description: RobotDescription) -> None:
    names = [link.name for link in description.links]
    for name in sorted(massless):
        if name not in names:
            raise DescriptionError(
                f'massless_links names {name!r}, which is not a link{did_you_mean(name, names)}')


def _root_link(description: RobotDescription) -> LinkDescription:
    children = {joint.child for joint in description.joints}
    return next(link for link in description.links if link.name not in children)


def _depth_first(description: RobotDescription, root: str) -> list[JointDescription]:
    outgoing: dict[str, list[JointDescription]] = {}
    for joint in description.joints:
        outgoing.setdefault(joint.parent, []).append(joint)
    order: list[JointDescription] = []
    waiting = outgoing.get(root, [])[::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(outgoing.get(joint.child, [])[::-1])
    return order


def _floating_joint(description: RobotDescription, root: str) -> JointDescription:
    if any(joint.name == FLOATING_BASE for joint in description.joints):
        raise DescriptionError(
            f'the joint name {FLOATING_BASE!r} is taken by the description; '
            'a floating base needs it for the joint above the root link: rename that joint')
    return JointDescription(FLOATING_BASE, JointType.FLOATING, parent='', child=root)


def _place_links(
        description: RobotDescription,
        joints: list[JointDescription],
        carrying: list[JointDescription],
        root: LinkDescription,
        ) -> tuple[dict[str, LinkFrame], dict[int, list[LinkDescription]]]:
    """
    Return where each link is, and the links of each body (the base's under −1).

    :param joints: all joints, parent before child.
    :param carrying: those of them that carry a body; the others hold links together.
    """
    links = {link.name: link for link in description.links}
    bodies = {joint.name: index for index, joint in enumerate(carrying)}
    frames = {root.name: LinkFrame(BASE, NO_TRANSFORM)}
    for joint in joints:
        if joint.name in bodies:
            frames[joint.child] = LinkFrame(bodies[joint.name], NO_TRANSFORM)
        else:
            parent = frames[joint.parent]
            frames[joint.child] = LinkFrame(
                parent.body, placement(joint.origin) @ parent.X_body_to_link)
    groups: dict[int, list[LinkDescription]] = {body: [] for body in (BASE, *bodies.values())}
    for name, frame in frames.items():
        groups[frame.body].append(links[name])
    return frames, groups


def _check_groups_have_inertia(
        groups: dict[int, list[LinkDescription]],
        moving: list[JointDescription],
        massless: frozenset[str]) -> None:
    missing = []
    for body, joint in enumerate(moving):
        links = groups[body]
        if not any(link.inertial is not None or link.name in massless for link in links):
            names = ', '.join(repr(link.name) for link in links)
            missing.append(f'joint {joint.name!r} moves (link {names})')
    if not missing:
        return
    if all(link.inertial is None for links in groups.values() for link in links):
        raise DescriptionError(
            'no link has an <inertial>: the description is one of shapes, without the masses that '
            'efforts follow from; use one with masses')
    if len(missing) == 1:
        raise DescriptionError(
            f'no <inertial> on what {missing[0]}: its effort would be a guess; give the link an '
            '<inertial>, or name it in massless_links')
    raise DescriptionError(shortened(
        f'no <inertial> on what {", ".join(missing)}: their efforts would be guesses; give the '
        'links an <inertial>, or name one of each joint in massless_links'))


def _assemble(
        name: str,
        root: str,
        carrying: list[JointDescription],
        frames: dict[str, LinkFrame],
        groups: dict[int, list[LinkDescription]]) -> Tree:
    """Return the tree of the bodies that these joints carry, one each and in this order."""
    first_q: dict[str, int] = {}
    first_v: dict[str, int] = {}
    nq = nv = 0
    for joint in carrying:
        if not _follows(joint):
            first_q[joint.name], first_v[joint.name] = nq, nv
            nq += joint.type.nq
            nv += joint.type.nv
    mimics = {joint.name: joint.mimic for joint in carrying if joint.mimic and _follows(joint)}
    leaders = _resolve_mimics(first_q, mimics)
    bodies = []
    for index, joint in enumerate(carrying):
        leader = leaders[joint.name]
        above_root = joint.name == FLOATING_BASE
        parent = LinkFrame(BASE, NO_TRANSFORM) if above_root else frames[joint.parent]
        bodies.append(Body(
            joint=joint.name,
            link=joint.child,
            type=joint.type,
            parent=parent.body,
            X_tree=placement(joint.origin) @ parent.X_body_to_link,
            axis=_unit(joint.axis),
            inertia=_lumped_inertia(groups[index], frames),
            limits=joint.limits.usable,
            **{number.name: float(getattr(joint, number.name)) for number in JOINT_NUMBERS},
            pitch=float(joint.pitch),
            q_index=first_q[leader.joint],
            v_index=first_v[leader.joint],
            multiplier=leader.multiplier,
            offset=leader.offset))
    indices = {body.joint: index for index, body in enumerate(bodies)}
    effort_limits = np.full(nv, inf)
    for joint in carrying:
        if joint.name in first_v and joint.type.nv == 1:
            effort_limits[first_v[joint.name]] = joint.limits.usable.effort
    return Tree(
        name=name,
        root=root,
        bodies=tuple(bodies),
        links=frames,
        joints={j: i for j, i in indices.items() if j in first_q and bodies[i].type.nv},
        mimics={j: i for j, i in indices.items() if j in mimics},
        nq=nq,
        nv=nv,
        effort_limits=effort_limits)


def _follows(joint: JointDescription) -> bool:
    """Return whether a joint mimics another; a fixed joint can follow nothing."""
    return joint.mimic is not None and joint.type.moves


def _resolve_mimics(
        independent: Iterable[str], mimics: Mapping[str, Mimic]) -> dict[str, Mimic]:
    """Return the independent joint behind each joint, with the factor and offset to reach it."""
    resolved = {joint: Mimic(joint) for joint in independent}
    for joint in mimics:
        chain = []
        while joint not in resolved:
            chain.append(joint)
            joint = mimics[joint].joint
        for follower in reversed(chain):
            step = mimics[follower]
            leader = resolved[step.joint]
            multiplier, offset = float(step.multiplier), float(step.offset)
            resolved[follower] = Mimic(
                leader.joint,
                multiplier * leader.multiplier,
                multiplier * leader.offset + offset)
    for joint, leader in resolved.items():
        if not (isfinite(leader.multiplier) and isfinite(leader.offset)):
            raise DescriptionError(
                f'the mimics from joint {joint!r} to {leader.joint!r} multiply to '
                f'{leader.multiplier} with offset {leader.offset}; both must be finite')
    return resolved


def _unit(axis: tuple[float, float, float]) -> Vector:
    numbers = [*map(float, axis)]
    return Vector(*numbers) * (1.0 / float(np.linalg.norm(numbers)))


def _lumped_inertia(links: list[LinkDescription], frames: dict[str, LinkFrame]) -> Inertia:
    total = MASSLESS
    for link in links:
        if link.inertial is not None:
            total = total + frames[link.name].X_body_to_link.to_parent(link_inertia(link.inertial))
    return total
