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
A rod that presses against a stiff wall, as physics for tests of the compensation of wrenches.

A one-joint arm about a vertical axis is held by a position controller, whose target lies behind
the wall.  The effort of the node is added.
"""

from __future__ import annotations

from math import sqrt

from small_robots import joint, robot

INERTIA = 0.3  # of the rod about the joint [kg m^2]
LENGTH = 0.5   # from the joint to the tip [m]
PRESSING = 5.0  # force of the position controller alone [N]
SUBSTEPS = 20  # in a millisecond
WALL_DAMPING = 0.05  # damping ratio of the tip on the wall
HOLD_STIFFNESS, HOLD_DAMPING = INERTIA * 10.0 ** 2, 2.0 * INERTIA * 10.0  # critically damped
TARGET = PRESSING * LENGTH / HOLD_STIFFNESS  # of the position controller [rad]

ROD = robot(
    '<link name="base"/>',
    '<link name="rod"><inertial><mass value="1"/>'
    f'<inertia ixx="{INERTIA}" ixy="0" ixz="0" iyy="{INERTIA}" iyz="0" izz="{INERTIA}"/>'
    '</inertial></link>',
    '<link name="tip"/>',
    joint('hinge', 'base', 'rod', axis='0 0 1', effort=1000.0),
    '<joint name="mount" type="fixed"><parent link="rod"/><child link="tip"/>'
    f'<origin xyz="{LENGTH} 0 0"/></joint>', name='rod')


class PressingRod:
    """
    The rod, which at first touches the wall at rest.

    :param stiffness: of the wall [N/m].
    :ivar q: the angle of the hinge [rad]; the wall is where it is above 0.
    :ivar qd: its velocity [rad/s].
    """

    def __init__(self, stiffness: float) -> None:
        self.q = self.qd = 0.0
        self._stiffness = stiffness
        self._damping = 2.0 * WALL_DAMPING * sqrt(stiffness * INERTIA) / LENGTH

    @property
    def force(self) -> float:
        """Return the force of the wall on the tip, which does not hold it back [N]."""
        depth = LENGTH * self.q
        if depth <= 0.0:
            return 0.0
        return max(0.0, self._stiffness * depth + self._damping * LENGTH * self.qd)

    def move(self, effort: float, seconds: float) -> None:
        """Let time pass with a constant effort of the node [Nm]."""
        count = round(1e3 * SUBSTEPS * seconds)
        held = effort + HOLD_STIFFNESS * (TARGET - self.q) - HOLD_DAMPING * self.qd
        for _ in range(count):
            self.qd += seconds / count * (held - LENGTH * self.force) / INERTIA
            self.q += seconds / count * self.qd
