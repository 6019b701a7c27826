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
"""From the options of the command to a motion that is found and checked."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np

from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.offline.commands.fill_efforts.limits_file import Limits
from ros2_rnea.offline.identification.effort_columns import columns_for, payload_link
from ros2_rnea.offline.identification.excitation import (
    Excitation,
    ExcitationPlanner,
    ExcitationSettings,
)
from ros2_rnea.offline.identification.motion_bounds import AllowedMotion, JointBounds, Margins
from ros2_rnea.offline.identification.moving_joints import MovingJoints
from ros2_rnea.robots.arguments import Array
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot

try:
    from ros2_rnea.offline.commands.excite import collision
except ImportError as error:
    WHY_NO_COLLISIONS = str(error)
else:
    WHY_NO_COLLISIONS = ''

_POSES = 200
"""Random ones, to tell which links always touch."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """
    What the user asks for.

    :ivar robot: with all payloads.
    :ivar urdf: its description.
    :ivar urdf_file: where that is from; None: from the standard input.
    :ivar joints: that move.
    :ivar hand: positions at which joints of hands are assumed, which the user said nothing of
        [rad or m].
    :ivar posture: q, of which positions of joints that do not move count, shape (nq,).
    :ivar start: the pose to start from, shape (joints,); None: free.
    :ivar noise: standard deviations of the efforts, shape (joints,) [Nm or N].
    :ivar noise_is_given: whether the user gave any of it.
    :ivar options: of the command line.
    """

    robot: Robot
    urdf: str
    urdf_file: Path | None
    joints: tuple[str, ...]
    limits: Limits
    hand: Mapping[str, float]
    posture: Array
    start: Array | None
    noise: Array
    noise_is_given: bool
    options: argparse.Namespace


@dataclass(frozen=True, eq=False)
class Plan:
    """
    A motion that was found.

    :ivar bounds: the limits of the joints that move, without margins.
    :ivar moving: these joints, with their limits less the margins.
    :ivar checked: what was checked for collisions; None: nothing was.
    :ivar closest: the links that come closest, if any come near.
    :ivar seconds: that the search took.
    """

    wanted: Wanted
    bounds: tuple[JointBounds, ...]
    moving: MovingJoints
    settings: ExcitationSettings
    excitation: Excitation
    checked: collision.Checked | None
    closest: str
    seconds: float


def planned(
        wanted: Wanted, progress: Callable[[float], None], is_over: Callable[[], bool]) -> Plan:
    """
    Return the best motion that is found.

    :raises RneaError: where a limit is missing, or no motion is within them.
    """
    began = monotonic()
    options = wanted.options
    settings = ExcitationSettings(
        options.period, options.harmonics, options.periods, options.rate, options.clearance,
        options.starts, options.iterations, options.seed)
    _check_payloads(wanted)
    bounds = tuple(_bounds(wanted, joint) for joint in wanted.joints)
    allowed = AllowedMotion(wanted.joints, bounds, Margins(
        options.margin / 100.0, options.effort_margin / 100.0))
    moving = MovingJoints(wanted.robot, allowed, wanted.posture)
    geometry, checked = None, None
    if not options.no_collision_check:
        geometry, checked = _geometry(wanted, moving, settings)
    planner = ExcitationPlanner(
        wanted.robot, columns_for(wanted.robot, wanted.joints, options.kinds), allowed,
        wanted.noise, wanted.posture, settings,
        None if geometry is None else geometry.distances, wanted.start)
    try:
        excitation = planner.plan(progress, is_over)
    except RneaError as error:
        raise _with_pair(error, wanted, moving, geometry) from error
    if options.scale != 1.0:
        excitation = planner.scaled(excitation, options.scale)
    return Plan(
        wanted, bounds, moving, settings, excitation, checked,
        _closest(moving, excitation, geometry), monotonic() - began)


def _check_payloads(wanted: Wanted) -> None:
    """Check that a payload that is to be identified counts in the efforts."""
    carrying = {link for link, _ in wanted.robot.payloads.values()}
    for kind in wanted.options.kinds:
        link = payload_link(kind)
        if link and link not in carrying:
            raise ArgumentError(
                f'the payload on {link!r} is not in the URDF, so the efforts would be computed '
                f'without it: --payload {link}:KG:X,Y,Z says how heavy it may be at most')


def _bounds(wanted: Wanted, joint: str) -> JointBounds:
    motion = wanted.limits.motion[joint]
    effort = float(wanted.limits.efforts[joint_body(wanted.robot, joint).v_index])
    return JointBounds(motion.lower, motion.upper, motion.velocity, effort, motion.acceleration)


def _geometry(
        wanted: Wanted, moving: MovingJoints, settings: ExcitationSettings,
        ) -> tuple[collision.Geometry, collision.Checked]:
    """Return the collision geometry and what of it is checked."""
    options = wanted.options
    if WHY_NO_COLLISIONS:
        raise ArgumentError(
            f'collisions are checked with MuJoCo: pip install mujoco ({WHY_NO_COLLISIONS}), or '
            '--no-collision-check to search without')
    gravity = np.array(options.gravity)
    if options.floor is not None and not gravity.any():
        raise ArgumentError('without gravity, nothing says where the floor is: --floor none')
    geometry = collision.Geometry(
        wanted.robot, wanted.urdf, collision.mesh_folders(wanted.urdf_file, options.meshes),
        options.floor, -gravity, options.ignore_collision_of)
    draws = np.random.default_rng(settings.seed).uniform(
        -1.0, 1.0, (_POSES, len(wanted.joints)))
    center, half = moving.allowed.center, moving.allowed.half_range
    neutral = np.clip(0.0, center - half, center + half)
    return geometry, geometry.prepare(
        settings.clearance, moving.q(center + draws * half), moving.q(neutral[np.newaxis])[0])


def _closest(
        moving: MovingJoints, excitation: Excitation, geometry: collision.Geometry | None,
        ) -> str:
    """Return the links that come closest on the way; empty: none comes near."""
    if geometry is None:
        return ''
    times = np.arange(500) * (excitation.motion.period / 500)
    _, pair = geometry.closest(moving.q(excitation.motion.at(times)[0]))
    return '' if pair is None else str(pair)


def _with_pair(
        error: RneaError, wanted: Wanted, moving: MovingJoints,
        geometry: collision.Geometry | None) -> RneaError:
    """Return an error that also names what is too close at the start."""
    if geometry is None:
        return error
    pose = moving.allowed.center if wanted.start is None else wanted.start
    distance, pair = geometry.closest(moving.q(pose[np.newaxis]))
    if pair is None or distance >= wanted.options.clearance:
        return error
    return type(error)(f'{error} (closest there: {pair}, {distance:.4g} m)')
