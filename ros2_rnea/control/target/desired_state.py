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
"""The desired state of the controlled joints at one moment."""

from __future__ import annotations

from typing import NamedTuple

from ros2_rnea.control.decision import Status
from ros2_rnea.control.target.trajectory import Array

DEVIATIONS = (Status.GOAL_DEVIATION, Status.PATH_DEVIATION)
"""Statuses in which the robot is not where its motion wants it."""


class DesiredState(NamedTuple):
    """
    The desired state; each array has shape (joints,) and must not be written to.

    ``deviation`` is the distance of the measured positions from the end of the motion, or from its
    path where the robot has left it, the shorter way round for continuous joints; None while the
    motion is followed.  Where the robot deviates, the desired state is the measured one at rest,
    unless ``keeps_tracking`` of the motion is set.
    """

    status: Status
    positions: Array
    velocities: Array
    accelerations: Array
    deviation: Array | None = None

    @property
    def moves(self) -> bool:
        """Return whether velocities or accelerations may differ from zero."""
        return self.deviation is None and self.status not in (
            Status.NO_TRAJECTORY, Status.MOTION_TOO_FAR)
