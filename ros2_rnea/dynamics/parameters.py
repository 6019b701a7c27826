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
The numbers of a robot that may change while it runs, in one array of a fixed layout.

Gravity, the parameters of the joints and the inertia of payloads have positions that depend only
on the number of bodies.  All kernels of a robot read the same array at each call, each of them
only what its quantity depends on; so a number that changes needs no new robot and no new kernel.

The layout, for n bodies: gravity, 3 numbers; each of ``JOINT_PARAMETERS``, n numbers; payloads,
10 n numbers, for each body the inertial parameters of all payloads on it, see
:mod:`ros2_rnea.dynamics.regressor`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.model.description import JOINT_NUMBERS, REFLECTED_INERTIA
from ros2_rnea.model.tree import MASSLESS, Tree
from ros2_rnea.spatial import Inertia

ARMATURE = REFLECTED_INERTIA.name

JOINT_PARAMETERS = tuple(number.name for number in JOINT_NUMBERS)
"""The numbers of a joint, by the names of the fields of its child body."""


class ParameterLayout:
    """
    The positions of a robot's parameters in the array.

    :param bodies: how many the robot has.
    :ivar size: of the array.
    :ivar gravity: acceleration of free fall in the base's axes [m/s^2].
    """

    gravity = slice(0, 3)

    def __init__(self, bodies: int) -> None:
        self._joints = {
            name: slice(3 + place * bodies, 3 + (place + 1) * bodies)
            for place, name in enumerate(JOINT_PARAMETERS)}
        self._payloads = 3 + len(JOINT_PARAMETERS) * bodies
        self.size = self._payloads + 10 * bodies

    def joints(self, name: str) -> slice:
        """Return the places of one of ``JOINT_PARAMETERS``, indexed by the joint's child body."""
        return self._joints[name]

    def payload(self, body: int) -> slice:
        """Return the places of the inertial parameters of the payloads on a body."""
        return slice(self._payloads + 10 * body, self._payloads + 10 * body + 10)


class RobotParameters:
    """
    The parameters of a robot.

    :param tree: says the joint parameters.
    :param gravity: acceleration of free fall in the base's axes [m/s^2].
    :param payloads: the inertia of the payloads on each body, in its frame.
    :ivar values: the array.  It is overwritten in place, never replaced, so that a kernel may keep
        a reference to it.
    """

    def __init__(
            self, tree: Tree, gravity: Sequence[float], payloads: Mapping[int, Inertia]) -> None:
        self.layout = ParameterLayout(len(tree.bodies))
        self.values = np.zeros(self.layout.size)
        self.set_gravity(gravity)
        for name in JOINT_PARAMETERS:
            self.values[self.layout.joints(name)] = [getattr(body, name) for body in tree.bodies]
        for index, inertia in payloads.items():
            self.set_payload(index, inertia)

    @property
    def gravity(self) -> list[float]:
        """Return the acceleration of free fall [m/s^2]."""
        return self.values[:3].tolist()

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Write the acceleration of free fall, 3 numbers [m/s^2]."""
        self.values[:3] = gravity

    def set_joint(self, name: str, body: int, value: float) -> None:
        """Write one of ``JOINT_PARAMETERS`` of the joint whose child is a body."""
        self.values[self.layout.joints(name)][body] = value

    def set_payload(self, body: int, inertia: Inertia = MASSLESS) -> None:
        """Write the inertia of all payloads on a body, in its frame; by default none."""
        self.values[self.layout.payload(body)] = parameters_of(inertia)

    def with_gravity(self, gravity: Sequence[float]) -> np.ndarray:
        """Return a copy of the array with another gravity, for one call."""
        values = self.values.copy()
        values[self.layout.gravity] = gravity
        return values
