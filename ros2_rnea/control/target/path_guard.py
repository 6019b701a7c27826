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
"""Whether the robot follows its trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_rnea.control.target.trajectory import Array, whole_turns

RETURN_SHARE = 0.5
"""Share of the tolerance within which a robot that has left its path is on it again."""


class PathGuard:
    """
    Compares measured with desired positions, with hysteresis.

    A controller that tracks a trajectory keeps the robot near it.  Where the robot is far off, it
    is blocked, guided by hand or moved by something else.  Then the effort of the desired motion
    fits neither the position nor the velocity of the robot.

    :param continuous: true for joints that turn without end; their distance is taken the shorter
        way round.
    :ivar tolerances: largest distance of each joint from its path, shape (joints,) [rad or m];
        infinite: any.
    :ivar parameters: for each joint the name of the parameter that its tolerance is from.
    :ivar has_left: whether the robot has left its path.
    """

    def __init__(self, continuous: Sequence[bool]) -> None:
        self._continuous = np.array(continuous, dtype=bool)
        count = len(self._continuous)
        self.set_tolerances(np.full(count, inf), [''] * count)
        self.has_left = False

    def set_tolerances(self, tolerances: Array, parameters: Sequence[str]) -> None:
        """
        Use other tolerances from now on.

        :param tolerances: above 0, shape (joints,) [rad or m].
        :param parameters: for each joint the name of the parameter that it is from.
        """
        self.tolerances = tolerances
        self.parameters = tuple(parameters)
        self._per_distance = 1.0 / tolerances  # 0 where there is no tolerance
        self._is_off = not self._per_distance.any()

    def reset(self) -> None:
        """Forget the former path, because the robot starts on another one."""
        self.has_left = False

    def explain(self, deviation: Array) -> dict[int, str]:
        """Return how far joints are off their path, and which tolerance it is, by index."""
        explained = {}
        for joint, (distance, tolerance) in enumerate(
                zip(deviation.tolist(), self.tolerances.tolist(), strict=True)):
            share = abs(distance) / tolerance
            if share > RETURN_SHARE:
                how = 'beyond' if share > 1.0 else 'not yet within half of'
                explained[joint] = (
                    f'by {distance:+.3f}, {how} {self.parameters[joint]} {tolerance:g}')
        return explained

    def deviation(self, desired: Array, measured: Array) -> Array | None:
        """
        Return the distance of each joint from its path if the robot has left it; None: it has not.

        :param desired: positions, shape (joints,) [rad or m].
        :param measured: likewise.
        """
        if self._is_off:
            self.has_left = False
            return None
        distance = measured - desired
        share = distance * self._per_distance
        if not self.has_left and share.dot(share) <= 1.0:  # then no joint has a share above 1
            return None
        distance -= whole_turns(distance, self._continuous)
        largest = np.abs(distance * self._per_distance).max()
        self.has_left = bool(largest > (RETURN_SHARE if self.has_left else 1.0))
        return distance if self.has_left else None
