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
"""A robot with the friction, rotors and gravity that a file of the node's parameters has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ros2_rnea.errors import ArgumentError
from ros2_rnea.offline.commands.compile.parameter_file import read_parameters
from ros2_rnea.robots.adjustable_robot import ADJUSTABLE, AdjustableRobot, OPTIONAL
from ros2_rnea.robots.robot import Robot

GRAVITY = 'gravity'


def with_numbers_of(
        robot: Robot, path: Path, node: str, gravity_given: bool = False) -> tuple[Robot, str]:
    """
    Return a robot with what the node's parameters say of its joints and of gravity.

    :param path: of the file, such as ``parameters.yaml`` of identify.
    :param node: its full name, such as ``/inverse_dynamics``.
    :param gravity_given: whether the user has given the robot's gravity; the file may not, then.
    :return: the robot, and a sentence that says what was taken from the file.
    :raises ArgumentError: where the file is no parameter file, or the robot cannot have a number.
    """
    parameters = read_parameters(path, node)
    by_name = {name: _by_joint(path, parameters, name) for name in ADJUSTABLE}
    used = [name for name, values in by_name.items() if values]
    adjustable = AdjustableRobot.of(
        robot, optional_parameters=[name for name in used if name in OPTIONAL])
    gravity = parameters.get(GRAVITY)
    if gravity is not None and gravity_given:
        raise ArgumentError(
            f'{path} has gravity, {gravity}; leave out the option --gravity, or the parameter')
    try:
        for name in used:
            adjustable.set_joint_parameters(name, by_name[name])
        changed = adjustable.with_gravity(robot.free_fall if gravity is None else gravity)
    except ArgumentError as error:
        raise ArgumentError(f'{path}: {error}') from error
    counting = [name for name in used if any(by_name[name].values())]
    taken = [*(counting or used), *([] if gravity is None else [GRAVITY])]
    if not taken:
        return changed, (f'{path} has no parameter that changes the model: no friction, no '
                         'armature and no gravity.')
    return changed, (f'The model has {", ".join(taken)} of {path}.  Joints and numbers that this '
                     'file does not name stay as in the URDF.')


def _by_joint(path: Path, parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the values of a parameter by joint, which are below its name or after a dot."""
    nested = parameters.get(name)
    if nested is not None and not isinstance(nested, Mapping):
        raise ArgumentError(
            f'{path}: {name} is {nested!r}; it needs a number for each joint, below its name')
    dotted = {key.removeprefix(f'{name}.'): value for key, value in parameters.items()
              if key.startswith(f'{name}.')}
    return {**(nested or {}), **dotted}
