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
"""The motion as a file that joint_trajectory_controller takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ros2_rnea.offline.commands.fill_efforts.files import write_trajectory
from ros2_rnea.offline.commands.fill_efforts.found import FileError
from ros2_rnea.offline.filling.effort_filler import FilledPoint
from ros2_rnea.offline.identification.excitation import Excitation
from ros2_rnea.trajectories.trajectory import Waypoint

_SUFFIXES = ('.yaml', '.yml')


def waypoints(excitation: Excitation, periods: int, rate: float) -> list[Waypoint]:
    """
    Return the points of a motion, with positions, velocities and accelerations.

    :param periods: how often it is repeated.
    :param rate: of the points, rounded to a whole number of them in each period [Hz].
    """
    period = excitation.motion.period
    each = max(2, round(rate * period))
    times = np.arange(each * periods + 1) * (period / each)
    motion = excitation.motion.at(times)
    motion[:, ::each] = 0.0  # at rest exactly, which the controller demands of the last point
    motion[0, ::each] = excitation.motion.start
    return [Waypoint(float(time), *motion[:, index]) for index, time in enumerate(times)]


def write(excitation: Excitation, periods: int, rate: float, path: Path) -> None:
    """
    Write a motion as a JointTrajectory without efforts.

    :raises RneaError: if the suffix is another one, or the file cannot be written.
    """
    if path.suffix not in _SUFFIXES:
        ending = f'ends in {path.suffix!r}' if path.suffix else 'has no ending'
        raise FileError(f'{path} {ending}; it needs {" or ".join(_SUFFIXES)}')
    write_trajectory(path, excitation.joints, [
        FilledPoint(waypoint, np.empty(0)) for waypoint in waypoints(excitation, periods, rate)])
