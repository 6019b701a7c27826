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
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import monotonic

import numpy as np

from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.model.tree import BASE
from ros2_rnea.offline.commands.check_model.source import read_source
from ros2_rnea.offline.commands.fill_efforts.limits_file import read_limits
from ros2_rnea.offline.commands.robot_options import robot_of, with_payloads
from ros2_rnea.offline.identification.effort_columns import columns_for, payload_link
from ros2_rnea.offline.identification.excitation import (
    Excitation,
    ExcitationPlanner,
    ExcitationSettings,
)
from ros2_rnea.offline.identification.moving_joints import JointBounds, MovingJoints
from ros2_rnea.robots.arguments import Array
from ros2_rnea.robots.joint_index_map import check_joint_names, joint_body, single_joints
from ros2_rnea.robots.robot import Robot

try:
    from ros2_rnea.offline.commands.excite import collision
except ImportError as error:
    WHY_NO_COLLISIONS = str(error)
else:
    WHY_NO_COLLISIONS = ''

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
    :ivar seconds: that the search took.
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
    seconds: float


def planned(options: argparse.Namespace, progress: Callable[[float], None]) -> Plan:
    """
    Return the best motion that is found.

    :raises RneaError: where the options do not fit the robot, a limit is missing, or no motion is
        within them.
    """
    began = monotonic()
    urdf = read_source(options.urdf, options.mappings)
    robot = with_payloads(robot_of(urdf, options), options.payload)
    limits, hands = read_limits(options.limits, robot), hand_joints(robot)
    joints = tuple(options.joints or (
        name for name in single_joints(robot) if name not in hands))
    check_joint_names(robot, joints, '--joints')
    hand = () if options.joints else tuple(name for name in hands if name not in options.assume)
    posture = _posture(robot, joints, {**dict.fromkeys(hand), **options.assume})
    start = _start(joints, options.assume)
    noise = _noise(robot, joints, limits.efforts, options.noise)
    settings = ExcitationSettings(
        options.period, options.harmonics, options.periods, options.rate, options.starts,
        options.iterations, options.seed)
    _check_payloads(robot, options)
    bounds = tuple(
        JointBounds(motion.lower, motion.upper, motion.velocity,
                    float(limits.efforts[joint_body(robot, joint).v_index]), motion.acceleration)
        for joint in joints for motion in (limits.motion[joint],))
    moving = MovingJoints(robot, joints, bounds, posture, options.margin / 100.0,
                          options.effort_margin / 100.0, least=options.clearance)
    geometry, checked = None, None
    if not options.no_collision_check:
        geometry, checked = _geometry(options, urdf, moving)
        moving.clearance = geometry.distances
    planner = ExcitationPlanner(
        moving, columns_for(robot, joints, options.kinds), noise, settings, start)
    try:
        excitation = planner.plan(progress)
    except RneaError as error:
        pose = moving.center if start is None else start
        distance, pair = (inf, None) if geometry is None else geometry.closest(moving.q(
            pose[np.newaxis]))
        if pair is None or distance >= options.clearance:
            raise
        raise type(error)(f'{error} (closest there: {pair}, {distance:.4g} m)') from error
    if options.scale != 1.0:
        excitation = planner.scaled(excitation, options.scale)
    times = np.arange(500) * (settings.period / 500)
    pair = None if geometry is None else geometry.closest(
        moving.q(excitation.motion.at(times)[0]))[1]
    return Plan(
        options, {name: float(posture[joint_body(robot, name).q_index]) for name in hand}, noise,
        bounds, moving, settings, excitation, checked, '' if pair is None else str(pair),
        monotonic() - began)


def hand_joints(robot: Robot) -> tuple[str, ...]:
    """
    Return the independent joints of hands, of one coordinate each.

    A hand is all that several joints move on one body, if at least as many joints are before this
    body as are behind it, mimics among them; or the last joint, if it is called a gripper.
    """
    bodies = robot.tree.bodies
    before: list[int] = []
    behind, children = [0] * len(bodies), [0] * len(bodies)
    for body in bodies:
        before.append(1 if body.parent == BASE else before[body.parent] + 1)
    for index in reversed(range(len(bodies))):
        parent = bodies[index].parent
        if parent != BASE:
            behind[parent] = max(behind[parent], behind[index] + 1)
            children[parent] += 1
    joints: dict[int, str] = {}
    for index, body in enumerate(bodies):
        parent = body.parent
        if parent != BASE and (
                parent in joints or children[parent] > 1 and before[parent] >= behind[parent]
                or not children[index] and _GRIPPER in body.joint.lower()):
            joints[index] = body.joint
    return tuple(name for name in single_joints(robot) if name in joints.values())


def _posture(
        robot: Robot, joints: Sequence[str], given: dict[str, tuple[float, ...] | None]) -> Array:
    """
    Return q with the positions of joints that do not move, which have to be known.

    :param given: None for a joint that is assumed as near to 0 as its limits allow.
    """
    q = robot.neutral()
    check_joint_names(
        robot, [name for name in given if name not in robot.joint_names][:1], '--assume')
    missing = [name for name in robot.joint_names if name not in (*given, *joints)]
    if missing:
        names = ', '.join(map(repr, missing))
        raise ArgumentError(
            (f'joint {names} does not move, and its position is not known: '
             if len(missing) == 1 else
             f'joints {names} do not move, and their positions are not known: ')
            + f'--assume {",".join(f"{name}=POSITION" for name in missing)}')
    for name, values in given.items():
        body = joint_body(robot, name)
        if values is None:
            q[body.q_index] = np.clip(q[body.q_index], body.limits.lower, body.limits.upper)
            continue
        if len(values) != body.type.nq:
            raise ArgumentError(
                f'--assume gives {name!r} {len(values)} positions; it needs {body.type.nq}')
        q[body.q_slice] = values
    return q


def _start(joints: Sequence[str], given: dict[str, tuple[float, ...]]) -> Array | None:
    """Return the pose to start from; None: it is free."""
    missing = [name for name in joints if name not in given]
    if len(missing) == len(joints):
        return None
    if missing:
        raise ArgumentError(
            f'--assume names some of the joints that move, but not {", ".join(missing)}: name '
            'all of them for the pose to start from, or none, and it is chosen')
    return np.array([given[name][0] for name in joints])


def _noise(
        robot: Robot, joints: Sequence[str], limits: np.ndarray,
        given: Sequence[tuple[str, float]]) -> Array:
    """Return the noise of the measured efforts [Nm or N]; by default 1 % of each limit."""
    noise = dict(zip(joints, (
        0.01 * limits[joint_body(robot, name).v_index] for name in joints)))
    for name, value in given:
        if name and name not in noise:
            raise ArgumentError(
                f'--noise names {name!r}, which is none of the joints that move: '
                f'{", ".join(joints)}')
        noise.update({name: value} if name else dict.fromkeys(joints, value))
    for name, value in noise.items():
        if not 0.0 < value < inf:
            raise ArgumentError(
                f'the noise of joint {name!r} would be 1 % of its effort limit, which is missing '
                f'or 0: give the limit in --limits, or --noise {name}=STANDARD_DEVIATION')
    return np.array([noise[name] for name in joints])


def _check_payloads(robot: Robot, options: argparse.Namespace) -> None:
    """Check that a payload that is to be identified counts in the efforts."""
    carrying = {link for link, _ in robot.payloads.values()}
    for link in filter(None, map(payload_link, options.kinds)):
        if link not in carrying:
            raise ArgumentError(
                f'the payload on {link!r} is not in the URDF, so the efforts would be computed '
                f'without it: --payload {link}:KG:X,Y,Z says how heavy it may be at most')


def _geometry(
        options: argparse.Namespace, urdf: str, moving: MovingJoints,
        ) -> tuple[collision.Geometry, collision.Checked]:
    """Return the collision geometry and what of it is checked."""
    if WHY_NO_COLLISIONS:
        raise ArgumentError(
            f'collisions are checked with MuJoCo: pip install mujoco ({WHY_NO_COLLISIONS}), or '
            '--no-collision-check to search without')
    gravity = np.array(options.gravity)
    if options.floor is not None and not gravity.any():
        raise ArgumentError('without gravity, nothing says where the floor is: --floor none')
    geometry = collision.Geometry(
        moving.robot, urdf, collision.mesh_folders(
            None if options.urdf == '-' else Path(options.urdf), options.meshes),
        options.floor, -gravity, options.ignore_collision_of)
    draws = np.random.default_rng(options.seed).uniform(-1.0, 1.0, (_POSES, len(moving.joints)))
    center, half = moving.center, moving.half_range
    neutral = np.clip(0.0, center - half, center + half)
    return geometry, geometry.prepare(
        options.clearance, moving.q(center + draws * half), moving.q(neutral[np.newaxis])[0])
