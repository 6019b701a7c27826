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
Whether a change of settings, robot or gravity leaves the arm held.

A change is judged first, on a twin of the robot, and made afterwards: the robot in use never has
numbers that may be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType

import numpy as np

from ros2_rnea.control.inputs.external_effort import check_external_wrench_link
from ros2_rnea.control.law.effort_law import EffortLaw
from ros2_rnea.control.law.friction_check import FrictionShares, reason_to_refuse
from ros2_rnea.control.law.guiding import check_guiding
from ros2_rnea.control.law.state_feedback import check_gains
from ros2_rnea.control.output.effort_limits import (
    allowed_efforts,
    check_effort_limits,
    effort_limit_defects,
    effort_limits,
    LimitDefects,
    overloads,
)
from ros2_rnea.control.robot_joints import controlled_joints, RobotJoints
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.dynamics.wrenches import weight
from ros2_rnea.errors import ArgumentError, UnsafeChangeError
from ros2_rnea.model.description import Inertial
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.joint_index_map import (
    check_assumed_positions,
    check_joint_names,
    joint_body,
)
from ros2_rnea.robots.robot import Robot
from ros2_rnea.spatial import Vector

FIRST = 'change this, or set enabled to false first'


Payloads = Mapping[str, tuple[str, Inertial]]
"""The link and the mass properties in its frame, by name, as an AdjustableRobot has them."""

NO_PAYLOADS: Payloads = MappingProxyType({})


def check_settings(robot: Robot, settings: Settings) -> None:
    """
    Check that settings fit a robot.

    :raises ArgumentError: naming the setting, what was given and what would do.
    """
    check_joint_names(robot, settings.joints, 'joints')
    check_assumed_positions(robot, settings.assumed_positions)
    check_effort_limits(robot, settings.effort_limits)
    check_guiding(robot, settings)
    check_external_wrench_link(robot, settings.external_wrench_link)
    if settings.mode is Mode.COMPUTED_TORQUE:
        joints = controlled_joints(robot, settings)
        check_gains('position_gains', settings.position_gains, joints)
        check_gains('velocity_gains', settings.velocity_gains, joints)


def twin_of(robot: AdjustableRobot) -> AdjustableRobot:
    """Return another robot with the same numbers, and with the kernels that are loaded."""
    return AdjustableRobot.of(robot, robot.payload_links, robot.optional_parameters)


def effort_of_payloads(
        robot: Robot, payloads: Payloads, gravity: np.ndarray, q: np.ndarray) -> np.ndarray:
    """
    Return the effort that holds payloads which a robot does not have, shape (nv,) [Nm or N].

    :param gravity: acceleration of free fall in the world's axes, shape (3,) [m/s^2].
    :param q: positions, shape (nq,) [rad or m].
    """
    weights = {link: np.zeros(6) for link, _ in payloads.values()}
    poses = robot.link_poses(q, weights)
    for link, body in payloads.values():
        free_fall = Vector(*(gravity @ poses[link].rotation).tolist())
        of_body = weight(body.mass, Vector(*body.origin.xyz), free_fall)
        weights[link] += [*of_body.moment, *of_body.force]
    rest = np.zeros(robot.nv)
    if not np.isfinite([*weights.values()]).all():
        return np.full_like(rest, inf)
    with_weights = robot.inverse_dynamics(q, rest, rest, f_ext=weights)
    return with_weights - robot.inverse_dynamics(q, rest, rest)


def lost_bound(joints: RobotJoints, before: RobotJoints) -> tuple[str, str]:
    """
    Return the first controlled joint that has no bound any more where it had one.

    This is part of a swap, which calls few functions.

    :param before: the joints of the robot that is in use until now.
    :return: its name, and what it had; empty: no joint has lost any, or others are controlled.
    """
    if joints.controlled != before.controlled:
        return '', ''
    for joint, which in np.argwhere(np.isinf(joints.bounds) > np.isinf(before.bounds)).tolist():
        lower, upper, velocity = before.bounds[joint].tolist()
        if which < 2:
            return joints.controlled[joint], f'the range {lower:g} to {upper:g}'
        return joints.controlled[joint], f'the velocity limit {velocity:g}'
    return '', ''


class Judgement:
    """
    Judges changes while efforts are sent, against what holds the arm where it is.

    :param joints: of the robot in use.
    :param positions: of its joints with one degree of freedom, an array that is written to
        elsewhere; NaN: not measured [rad or m].
    :ivar positions: the same array; it is replaced with the inputs.
    :ivar twin: a robot with the same numbers, to which those of a change may be given.  Who gives
        it numbers that are refused gives it those in use again.
    """

    def __init__(self, joints: RobotJoints, positions: np.ndarray) -> None:
        self._joints = joints
        self.positions = positions
        self.twin = twin_of(joints.robot)
        self._friction = FrictionShares(self.twin, joints.bodies, joints.motions.controlled)
        self._all_known = False
        self._judged_limits: Mapping[str, float] | None = None
        self._defects = LimitDefects()
        self._tau = np.zeros(joints.robot.nv)

    # ---- what is the case ---------------------------------------------------------------------

    def unknown_positions(self) -> tuple[str, ...]:
        """Return the joints whose position is neither measured nor assumed."""
        if self._all_known:  # a known position stays known
            return ()
        unknown = self._joints.index_map.unknown(self.positions)
        self._all_known = not unknown
        return unknown

    def remedy(self, joint: str) -> str:
        """Return what makes a joint's position known."""
        assume = f'set the parameter assumed_positions.{joint} to its position'
        if joint_body(self._joints.robot, joint).type.nv > 1:
            return assume
        return f'publish {joint!r} in joint_states, or {assume}'

    def limit_defects(self, settings: Settings) -> LimitDefects:
        """Return what is wrong with the effort limits; equal ones are judged only once."""
        if settings.effort_limits != self._judged_limits:
            self._defects = effort_limit_defects(
                self._joints.robot, self._joints.controlled, settings)
            self._judged_limits = dict(settings.effort_limits)
        return self._defects

    def not_finite(self, settings: Settings, gravity: np.ndarray) -> tuple[str, ...]:
        """Return the joints that no finite effort holds."""
        needed, _ = self._load(settings, gravity, self.positions)
        return tuple(name for name, is_finite in zip(
            self._joints.controlled, np.isfinite(needed).tolist()) if not is_finite)

    def overloads(self, settings: Settings, gravity: np.ndarray) -> dict[str, str]:
        """Return the joints that need more than they may have, and how much of it."""
        return overloads(
            self._joints.controlled, *self._load(settings, gravity, self.positions))

    def excess(self, settings: Settings, gravity: np.ndarray) -> dict[str, float]:
        """Return by how much gravity exceeds the limit of each joint; 0: not [Nm or N]."""
        needed, allowed = self._load(settings, gravity, self.positions)
        excess = np.nan_to_num(np.maximum(needed - allowed, 0.0), nan=inf, posinf=inf)
        return dict(zip(self._joints.controlled, excess.tolist()))

    def friction_shares(self, settings: Settings) -> dict[str, float]:
        """
        Return the largest friction that is sent as a share of the effort limit, by joint.

        Where the arm adds friction by itself, or a limit is missing, there is none.
        """
        if 'friction' in settings.sent_terms.left_out or self.limit_defects(settings):
            return {}
        is_same = self.twin.tree_without_payloads is self._joints.robot.tree_without_payloads
        shares = self._joints.friction_shares if is_same else self._friction
        return shares.of(
            effort_limits(self.twin, settings)[self._joints.motions.controlled])

    # ---- the verdict ----------------------------------------------------------------------------

    def check(
            self, settings: Settings, gravity: np.ndarray, is_sending: bool,
            accepted: Mapping[str, float], friction: Mapping[str, float] | None = None,
            coming: Payloads = NO_PAYLOADS) -> None:
        """
        Check that an effort can be computed, and, while efforts are sent, that the arm is held.

        Otherwise gravity, a mass or a payload of 1e308 would be accepted, and nothing sent.

        :param settings: with which the arm is to be held.
        :param gravity: with which the arm is to be held, shape (3,) [m/s^2].
        :param is_sending: whether efforts are being sent.
        :param accepted: the overload that is there already, by joint [Nm or N].
        :param friction: the shares of friction before the change; None: they do not change.
        :param coming: payloads that the robot will carry, and the twin cannot have yet.
        :raises ArgumentError: naming the first joint whose effort is not a finite number.
        :raises UnsafeChangeError: where none could be sent, or less than what holds the arm, or
            friction that drives a joint by itself.
        """
        if not is_sending:
            positions = self._joints.index_map.with_zero_where_unknown(self.positions)
            self._check_numbers(self._load(settings, gravity, positions, coming)[0])
            return
        reason = self.limit_defects(settings).text
        unknown = self.unknown_positions()
        if unknown and not reason:
            reason = (
                f'the position of joint {unknown[0]!r} is unknown: {self.remedy(unknown[0])}')
        if not reason:
            needed, allowed = self._load(settings, gravity, self.positions, coming)
            self._check_numbers(needed)
            reason = '; '.join(
                overloads(self._joints.controlled, needed, allowed, accepted).values())
        if reason:
            raise UnsafeChangeError(
                f'{reason}. Efforts are being sent, and the arm would not be held any more: '
                f'{FIRST}')
        if friction is not None:
            driven = reason_to_refuse(self.friction_shares(settings), friction)
            if driven:
                raise UnsafeChangeError(driven)

    def _check_numbers(self, needed: np.ndarray) -> None:
        """Check that efforts are finite numbers."""
        for name, effort in zip(self._joints.controlled, needed.tolist()):
            if not effort < inf:
                raise ArgumentError(
                    f'the effort that holds joint {name!r} is no finite number: gravity, a mass '
                    'or a spring is far too large')

    def _load(
            self, settings: Settings, gravity: np.ndarray, positions: np.ndarray,
            coming: Payloads = NO_PAYLOADS) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the sizes of the efforts that hold the joints at positions, and their limits.

        Both have the shape (joints,) [Nm or N].
        """
        self.twin.set_gravity(gravity)
        law = EffortLaw(self.twin, settings.sent_terms, settings.arm_gravity)
        motion = self._joints.motions.held(positions)
        needed = law.effort(motion, self._tau)
        if coming:
            sent = gravity
            if 'gravity' in settings.sent_terms.left_out:  # by the arm, for the gravity it knows
                sent = gravity - (settings.arm_gravity or gravity)
            needed = needed + effort_of_payloads(self.twin, coming, sent, motion.q)
        controlled = self._joints.motions.controlled
        return np.abs(needed[controlled]), allowed_efforts(self.twin, settings)[controlled]
