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
"""The effort limits of the controlled joints, from the description or from the settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.description import largest_plausible_effort
from ros2_rnea.robots.joint_index_map import (
    followed_joint,
    joint_body,
    single_joints,
)
from ros2_rnea.robots.robot import Robot

ROUNDING = 1e-9
"""Relative difference of efforts that may be one of rounding."""


def check_effort_limits(robot: Robot, limits: Mapping[str, float]) -> None:
    """
    Check that joints can have the effort limits that are given for them.

    :raises ArgumentError: naming the first joint that cannot.
    """
    for name, limit in limits.items():
        if name not in robot.tree.joints:
            continue
        kind = joint_body(robot, name).type
        if kind.nv > 1:
            raise ArgumentError(
                f'effort_limits.{name}: joint {name!r} is {kind.label} and has several efforts; '
                'only a joint of one coordinate can have a limit')
        largest = largest_plausible_effort(kind)
        if limit > largest:
            raise ArgumentError(
                f'effort_limits.{name} is {limit:g}; it needs the limit of the motor, which is at '
                f'most {largest:g} for a {kind.label} joint')


def effort_limits(robot: Robot, settings: Settings) -> np.ndarray:
    """Return the limits of the settings and else of the robot, shape (nv,); infinite: none."""
    limits = robot.effort_limits.copy()
    for name, limit in settings.effort_limits.items():
        if name in robot.tree.joints:
            limits[joint_body(robot, name).v_slice] = limit
    return limits


def raised_limits(robot: Robot, settings: Settings) -> dict[str, tuple[float, float]]:
    """
    Return the limits of the settings that are above usable ones of the description, by joint.

    :return: both, that of the settings first [Nm or N].
    """
    raised = {}
    for name, limit in settings.effort_limits.items():
        if name in robot.tree.joints:
            body = joint_body(robot, name)
            described = body.limits.effort
            if limit > described * (1.0 + ROUNDING) and not body.limits.effort_defect(body.type):
                raised[name] = limit, described
    return raised


def allowed_efforts(robot: Robot, settings: Settings) -> np.ndarray:
    """Return the largest effort that is sent, shape (nv,) [Nm or N]; infinite: no limit."""
    return share_of(effort_limits(robot, settings), settings.effort_limit_factor)


def share_of(limits: np.ndarray, share: float) -> np.ndarray:
    """Return a share of effort limits; a joint without a limit stays without."""
    return np.multiply(limits, share, out=limits.copy(), where=np.isfinite(limits))


class LimitDefects(NamedTuple):
    """
    Why the effort limits cannot be used; while there is a reason, nothing is sent.

    :ivar names: the joints without a usable limit, and names in the settings that are no joint's.
    :ivar text: what is wrong and what mends it; empty: nothing is wrong.
    """

    names: tuple[str, ...] = ()
    text: str = ''

    def __bool__(self) -> bool:
        """Return whether anything is wrong."""
        return bool(self.names)


def effort_limit_defects(
        robot: Robot, joints: Sequence[str], settings: Settings) -> LimitDefects:
    """
    Return what is wrong with the effort limits of joints.

    A limit in the description may be a placeholder.  A limit in the settings may have a misspelt
    joint name; that is always a defect, because the joint it was meant for would have no limit.

    :param joints: to check; those with a limit in the settings need none in the description.
    """
    names = tuple(name for name in settings.effort_limits if name not in robot.tree.joints)
    if names:
        return LimitDefects(names, '; '.join(_no_joint(robot, name) for name in names))
    defects = {}
    for name in joints:
        body = joint_body(robot, name)
        defect = body.limits.effort_defect(body.type)
        if defect and name not in settings.effort_limits:
            defects[name] = defect
    return LimitDefects(tuple(defects), _limits_to_add(defects) if defects else '')


def _no_joint(robot: Robot, name: str) -> str:
    """Return what is wrong with a limit for a name that is no independent joint's."""
    known = single_joints(robot)
    if name in robot.tree.mimics:
        return (f'effort_limits.{name}: joint {name!r} follows {followed_joint(robot, name)!r} '
                'and has no effort of its own: give the limit to that joint')
    return (f'effort_limits.{name}: {robot.name!r} has no such joint{did_you_mean(name, known)}; '
            f'its joints are {", ".join(known)}')


def _limits_to_add(defects: Mapping[str, str]) -> str:
    """Return the defects and the line of the configuration that mends them."""
    found = ', '.join(f'{defect} for {name}' for name, defect in defects.items())
    entries = ', '.join(f'{name}: ...' for name in defects)
    return (f'the description has the effort limit {found}; add those of the motors [Nm or N] to '
            f'the parameters:   effort_limits: {{{entries}}}')


def overloads(
        joints: Iterable[str], needed: np.ndarray, allowed: np.ndarray,
        accepted: Mapping[str, float] = MappingProxyType({})) -> dict[str, str]:
    """
    Return the joints that need a larger effort than they may have, and why.

    :param needed: sizes of the efforts, shape (joints,) [Nm or N].
    :param allowed: shape (joints,) [Nm or N].
    :param accepted: by how much the limit may be exceeded, by joint [Nm or N]; else by nothing.
    """
    return {
        name: f'{name} needs {effort:.4g}, and its limit is {limit:.4g} [Nm or N]'
        for name, effort, limit in zip(joints, needed.tolist(), allowed.tolist())
        if not effort <= (limit + accepted.get(name, 0.0)) * (1.0 + ROUNDING)}
