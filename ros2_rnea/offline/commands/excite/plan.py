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
"""From the options of the command to the motion, and what was checked."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import Any, TYPE_CHECKING

import numpy as np

from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.model.tree import BASE
from ros2_rnea.offline.commands.check_model.source import read_source
from ros2_rnea.offline.commands.fill_efforts.limits_file import read_limits
from ros2_rnea.offline.commands.identify.unknown_list import unknowns_from
from ros2_rnea.offline.commands.robot_options import robot_of, with_payloads
from ros2_rnea.offline.identification.excitation import (
    Excitation,
    ExcitationPlanner,
    ExcitationSettings,
)
from ros2_rnea.offline.identification.moving_joints import JointBounds, MovingJoints
from ros2_rnea.offline.identification.unknowns import Design
from ros2_rnea.robots.arguments import Array
from ros2_rnea.robots.joint_index_map import check_joint_names, joint_body, single_joints
from ros2_rnea.robots.robot import Robot

if TYPE_CHECKING:
    from ros2_rnea.offline.commands.excite import collision

_POSES = 200
"""Random ones, to tell which links always touch."""

_GRIPPER = 'gripper'
"""A word in the name of a single joint that is the last one and moves one jaw."""


@dataclass(frozen=True, eq=False)
class Plan:
    """
    A motion that was found.

    :ivar options: of the command line.
    :ivar hand: positions at which joints of hands are assumed, which the user said nothing of
        [rad or m].
    :ivar noise: standard deviations of the efforts, shape (joints,) [Nm or N].
    :ivar bounds: the limits of the joints that move, without margins.
    :ivar moving: these joints, with their limits less the margins.
    :ivar checked: what was checked for collisions; None: nothing was.
    :ivar closest: the links that come closest, if any come near.
    """

    options: argparse.Namespace
    hand: Mapping[str, float]
    noise: Array
    bounds: tuple[JointBounds, ...]
    moving: MovingJoints
    settings: ExcitationSettings
    excitation: Excitation
    checked: collision.Checked | None
    closest: str


def planned(options: argparse.Namespace, progress: Callable[[float], None]) -> Plan:
    """
    Return the best motion that is found.

    :raises RneaError: where the options do not fit the robot, a limit is missing, or no motion is
        within them.
    """
    settings = ExcitationSettings(
        options.period, options.harmonics, options.periods, options.rate, options.starts,
        options.iterations, options.seed, options.scale)
    urdf = read_source(options.urdf, options.mappings)
    robot = with_payloads(robot_of(urdf, options), options.payload)
    limits, hands = read_limits(options.limits, robot), hand_joints(robot)
    joints = tuple(options.joints or (
        name for name in single_joints(robot) if name not in hands))
    check_joint_names(robot, joints, '--joints')
    hand = {name: min(max(0.0, body.limits.lower), body.limits.upper) for name in hands
            for body in (joint_body(robot, name),)
            if not options.joints and name not in options.assume}
    posture = _posture(robot, joints, {
        **{name: (place,) for name, place in hand.items()}, **options.assume})
    start = _start(joints, options.assume)
    bounds = tuple(
        JointBounds(motion.lower, motion.upper, motion.velocity,
                    float(limits.efforts[joint_body(robot, joint).v_index]), motion.acceleration)
        for joint in joints for motion in (limits.motion[joint],))
    noise = _noise(joints, bounds, options.noise)
    design = _design(robot, joints, options.unknown)
    moving = MovingJoints(robot, joints, bounds, posture, options.margin / 100.0,
                          options.effort_margin / 100.0, least=options.clearance)
    checked, closest = _check_collisions(options, urdf, moving)
    try:
        excitation = ExcitationPlanner(moving, design, noise, settings, start).plan(progress)
    except RneaError as error:
        distance, pair = closest((moving.center if start is None else start)[np.newaxis])
        if distance >= options.clearance:
            raise
        raise type(error)(f'{error} (closest there: {pair}, {distance:.4g} m)') from error
    _, pair = closest(excitation.motion.at(np.linspace(0.0, settings.period, 500))[0])
    return Plan(options, hand, noise, bounds, moving, settings, excitation, checked, pair)


def hand_joints(robot: Robot) -> tuple[str, ...]:
    """
    Return the independent joints of hands, of one coordinate each.

    A hand is all that several joints move on one body, if at least as many joints are before this
    body as are behind it, mimics among them; or the last joint, if it is called a gripper.
    """
    bodies = robot.tree.bodies
    children: list[list[int]] = [[] for _ in (*bodies, BASE)]  # those of the base are the last
    for index, body in enumerate(bodies):
        children[body.parent].append(index)

    @cache
    def before(index: int) -> int:
        return 0 if index == BASE else 1 + before(bodies[index].parent)

    @cache
    def behind(index: int) -> int:
        return max((1 + behind(child) for child in children[index]), default=0)

    @cache
    def is_of_hand(index: int) -> bool:
        parent = bodies[index].parent
        return parent != BASE and (
            is_of_hand(parent)
            or len(children[parent]) > 1 and before(parent) >= behind(parent)
            or not children[index] and _GRIPPER in bodies[index].joint.lower())

    return tuple(
        name for name in single_joints(robot) if is_of_hand(robot.tree.joints[name]))


def _posture(
        robot: Robot, joints: Sequence[str], given: dict[str, tuple[float, ...]]) -> Array:
    """Return q with the positions of joints that do not move, which have to be known."""
    q = robot.neutral()
    check_joint_names(
        robot, [name for name in given if name not in robot.joint_names][:1], '--assume')
    missing = [name for name in robot.joint_names if name not in (*given, *joints)]
    if missing:
        raise ArgumentError(
            'the positions of joints that do not move are not known: '
            f'--assume {",".join(f"{name}=POSITION" for name in missing)}')
    for name, values in given.items():
        body = joint_body(robot, name)
        if len(values) != body.type.nq:
            raise ArgumentError(
                f'--assume gives {name!r} {len(values)} positions; it needs {body.type.nq}')
        q[body.q_slice] = values
    return q


def _start(joints: Sequence[str], given: dict[str, tuple[float, ...]]) -> Array | None:
    """Return the pose to start from; None: it is free."""
    missing = [name for name in joints if name not in given]
    if missing and len(missing) < len(joints):
        raise ArgumentError(
            f'--assume names some of the joints that move, but not {", ".join(missing)}: name '
            'all of them for the pose to start from, or none, and it is chosen')
    return None if missing else np.array([given[name][0] for name in joints])


def _noise(
        joints: Sequence[str], bounds: Sequence[JointBounds], given: Mapping[str, float]) -> Array:
    """Return the noise of the measured efforts [Nm or N]; by default 1 % of each limit."""
    for name in given:
        if name not in joints:
            raise ArgumentError(
                f'--noise names {name!r}, which is none of the joints that move: '
                f'{", ".join(joints)}')
    noise = {name: given.get(name, 0.01 * limits.effort) for name, limits in zip(joints, bounds)}
    for name, value in noise.items():
        if not 0.0 < value < inf:
            raise ArgumentError(
                f'the noise of joint {name!r} is {value:g}; a positive number is needed: give '
                f'--noise {name}=STANDARD_DEVIATION, or the effort limit in --limits, of which it '
                'is 1 % else')
    return np.array([*noise.values()])


def _design(robot: Robot, joints: tuple[str, ...], text: str) -> Design:
    """Return the columns of what is unknown; friction and rotors are those of joints that move."""
    unknowns = unknowns_from(text)
    if unknowns.gains or unknowns.stribeck:
        raise ArgumentError(
            '--unknown has gains or stribeck, for which no motion is searched: leave them out')
    if unknowns.payload not in {None, *(link for link, _ in robot.payloads.values())}:
        raise ArgumentError(
            f'the payload on {unknowns.payload!r} is not in the URDF, so the efforts would be '
            f'computed without it: --payload {unknowns.payload}:KG:X,Y,Z says how heavy it may be '
            'at most')
    moved: dict[str, Any] = {
        name: joints for name in ('friction', 'rotor_inertia') if getattr(unknowns, name) == 'all'}
    return Design(robot, replace(unknowns, **moved), np.zeros(robot.nv))


def _check_collisions(
        options: argparse.Namespace, urdf: str, moving: MovingJoints,
        ) -> tuple[collision.Checked | None, Callable[[Array], tuple[float, str]]]:
    """
    Let the moving joints keep clear of collisions, unless the options say otherwise.

    :return: what is checked, and a function from positions of the joints, shape (N, joints), to
        the least distance [m] and what is so close.
    """
    if options.no_collision_check:
        return None, lambda positions: (inf, '')
    try:
        from ros2_rnea.offline.commands.excite import collision
    except ImportError as error:
        raise ArgumentError(
            f'collisions are checked with MuJoCo: pip install mujoco ({error}), or '
            '--no-collision-check to search without') from error
    gravity = np.array(options.gravity)
    if options.floor is not None and not gravity.any():
        raise ArgumentError('without gravity, nothing says where the floor is: --floor none')
    geometry = collision.Geometry(
        moving.robot, urdf, collision.mesh_folders(options.urdf), options.floor, -gravity)
    draws = np.random.default_rng(options.seed).uniform(-1.0, 1.0, (_POSES, len(moving.joints)))
    center, half = moving.center, moving.half_range
    neutral = np.clip(0.0, center - half, center + half)
    checked = geometry.prepare(
        options.clearance, moving.q(center + draws * half), moving.q(neutral[np.newaxis])[0])
    moving.clearance = geometry.distances
    return checked, lambda positions: geometry.closest(moving.q(positions))
