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

from collections.abc import Iterable, Mapping

import numpy as np

from ros2_rnea.errors import ArgumentError
from ros2_rnea.feedforward.settings import Settings
from ros2_rnea.feedforward.state.joint_index_map import joint_body
from ros2_rnea.robot import Robot


def check_effort_limits(robot: Robot, limits: Mapping[str, float]) -> None:
    """
    Check that joints can have the effort limits that are given for them.

    :raises ArgumentError: naming the first joint that cannot.
    """
    for name in limits:
        if name in robot.tree.joints and joint_body(robot, name).type.nv > 1:
            raise ArgumentError(
                f'effort_limits.{name}: joint {name!r} is {joint_body(robot, name).type.label} '
                'and has several efforts; only a joint of one coordinate can have a limit')


def effort_limits(robot: Robot, settings: Settings) -> np.ndarray:
    """Return the limits of the settings and else of the robot, shape (nv,); infinite: none."""
    limits = robot.effort_limits.copy()
    for name, limit in settings.effort_limits.items():
        if name in robot.tree.joints:
            limits[joint_body(robot, name).v_slice] = limit
    return limits


def allowed_efforts(robot: Robot, settings: Settings) -> np.ndarray:
    """Return the largest effort that is sent, shape (nv,) [Nm or N]; infinite: no limit."""
    return share_of(effort_limits(robot, settings), settings.effort_limit_factor)


def share_of(limits: np.ndarray, share: float) -> np.ndarray:
    """Return a share of effort limits; a joint without a limit stays without."""
    return np.multiply(limits, share, out=limits.copy(), where=np.isfinite(limits))


def effort_limit_defects(
        robot: Robot, joints: Iterable[str], settings: Settings) -> dict[str, str]:
    """
    Return why effort limits of the description cannot be those of motors, by joint.

    :param joints: to check; those with a limit in the settings have no defect.
    """
    defects = {name: joint_body(robot, name).limits.effort_defect
               for name in joints if name not in settings.effort_limits}
    return {name: defect for name, defect in defects.items() if defect}


def limits_to_add(defects: Mapping[str, str]) -> str:
    """Return the defects and the line of the configuration that mends them."""
    found = ', '.join(f'{defect} for {name}' for name, defect in defects.items())
    entries = ', '.join(f'{name}: ...' for name in defects)
    return (f'the description has the effort limit {found}; add those of the motors [Nm or N] to '
            f'the parameters:   effort_limits: {{{entries}}}')
