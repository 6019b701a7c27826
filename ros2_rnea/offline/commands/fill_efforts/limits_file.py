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
"""Limits of joints from a joint_limits.yaml of MoveIt."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ros2_rnea.model.regular_file import read_regular_file
from ros2_rnea.model.strict_yaml import read_yaml, Value
from ros2_rnea.offline.commands.fill_efforts.found import FileError
from ros2_rnea.offline.filling.motion_check import described_limits, MotionLimits
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import Array

_SCALES = ('default_velocity_scaling_factor', 'default_acceleration_scaling_factor')
"""Factors with which MoveIt plans unless a request says otherwise; they are no limits."""

_MAGNITUDES = {'velocity': 'max_velocity', 'acceleration': 'max_acceleration', 'jerk': 'max_jerk',
               'effort': 'max_effort'}
_RANGE = ('min_position', 'max_position')


class Limits(NamedTuple):
    """
    The limits of a robot.

    :ivar efforts: shape (nv,) [Nm or N].
    :ivar motion: by joint.
    """

    efforts: Array
    motion: dict[str, MotionLimits]


def read_limits(path: Path | None, robot: Robot) -> Limits:
    """
    Return the limits in a robot's description, replaced by those that a file has.

    :raises RneaError: naming the key, its line and value, if the file is not of that form.
    """
    limits = Limits(np.array(robot.effort_limits), described_limits(robot))
    if path is None:
        return limits
    try:
        text = read_regular_file(path).decode('utf-8-sig')
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f'{path} cannot be read: {error}') from error
    joints = read_yaml(text, path.name).by_key(['joint_limits'], _SCALES)['joint_limits']
    for name, value in joints.by_key([], limits.motion).items():
        _replace(limits, robot, name, value)
    return limits


def _replace(limits: Limits, robot: Robot, name: str, value: Value) -> None:
    """Replace the limits of a joint; ``has_…_limits: false`` takes them away."""
    flags = [f'has_{quantity}_limits' for quantity in ('position', *_MAGNITUDES)]
    found = value.by_key([], [*flags, *_RANGE, *_MAGNITUDES.values()])
    changed: dict[str, float] = {}
    for quantity, key in _MAGNITUDES.items():
        if _is_told(found, quantity, [key]):
            changed[quantity] = _positive(found[key])
        elif f'has_{quantity}_limits' in found:
            changed[quantity] = inf
    if _is_told(found, 'position', _RANGE):
        changed['lower'], changed['upper'] = (found[key].number() for key in _RANGE)
        if changed['lower'] > changed['upper']:
            raise found[_RANGE[0]].refused(f'at most max_position, {changed["upper"]}, is needed')
    elif 'has_position_limits' in found:
        changed['lower'], changed['upper'] = -inf, inf
    if 'effort' in changed:
        limits.efforts[joint_body(robot, name).v_index] = changed.pop('effort')
    limits.motion[name] = limits.motion[name]._replace(**changed)


def _is_told(found: dict[str, Value], quantity: str, keys: list[str] | tuple[str, ...]) -> bool:
    """Return whether a limit is set: by its flag, or by its values where the flag is missing."""
    flag = found.get(f'has_{quantity}_limits')
    if flag is None:
        told = [key for key in keys if key in found]
        for key in keys:
            if told and key not in found:
                raise found[told[0]].refused(f'with it, {key} is needed, too')
        return bool(told)
    if flag.text() not in ('true', 'True', 'false', 'False'):
        raise flag.refused('true or false is needed')
    if flag.text().lower() == 'false':
        return False
    for key in keys:
        if key not in found:
            raise flag.refused(f'then {key} is needed, too')
    return True


def _positive(value: Value) -> float:
    if value.number() < 0.0:
        raise value.refused('0 or more is needed')
    return value.number()
