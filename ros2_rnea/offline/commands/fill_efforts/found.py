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
"""The content of a file with a trajectory."""

from __future__ import annotations

from typing import NamedTuple

from ros2_rnea.errors import RneaError
from ros2_rnea.node.bounds import MAX_FILLED_POINTS
from ros2_rnea.offline.filling.effort_filler import Plan, Start


class FileError(RneaError):
    """A file cannot be read, does not hold a trajectory, or is of an unknown kind."""


class Found(NamedTuple):
    """
    A trajectory from a file.

    :ivar start: the state of the robot before the trajectory, as far as the file has it.
    :ivar remarks: sentences for the user.
    """

    plan: Plan
    start: Start = Start()
    remarks: tuple[str, ...] = ()


def check_points(number: int, name: str) -> None:
    """
    Check the number of points of a trajectory, before its text is read.

    :param name: of the file.
    :raises FileError: where there are too many.
    """
    if number > MAX_FILLED_POINTS:
        raise FileError(f'{name} has {number} points; at most {MAX_FILLED_POINTS} are filled')


def stamp_remarks(stamp: float) -> tuple[str, ...]:
    """Return the remarks on the stamp of a trajectory [s]."""
    if not stamp:
        return ()
    return (f'its stamp, {stamp:.3f} s, is left out: the filled trajectory starts on reception, '
            'because until a later start the controller interpolates from the effort that it '
            'commands on reception',)
