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
"""The measured efforts compared with those that the model needs for the same motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ros2_rnea.errors import ArgumentError
from ros2_rnea.offline.identification.information import ROWS
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.unknowns import coordinate_names
from ros2_rnea.robots.robot import Robot

SLIDES = frozenset({'distance', 'x', 'y', 'z'})
"""The coordinates of joints whose effort is a force; those of all others are torques."""


@dataclass(frozen=True)
class Coordinate:
    """
    One velocity coordinate of a robot: that of a joint, or one of several.

    :ivar label: as :func:`.coordinate_names` has it.
    :ivar effort_unit: Nm or N.
    :ivar position_unit: rad or m.
    """

    label: str
    effort_unit: str
    position_unit: str


def coordinates_of(robot: Robot) -> tuple[Coordinate, ...]:
    """Return the velocity coordinates of a robot, in the order of its vectors."""
    names = [name for index in robot.tree.joints.values()
             for name in robot.tree.bodies[index].type.coordinates]
    return tuple(
        Coordinate(label, *(('N', 'm') if name in SLIDES else ('Nm', 'rad')))
        for label, name in zip(coordinate_names(robot.tree), names))


@dataclass(frozen=True, eq=False)
class Run:
    """
    One recording compared with the model, which carries the recording's payloads.

    The efforts of the model are computed when they are asked for and not kept: of a recording of
    hours, they would need as much memory as the recording itself.  They have the samples as rows
    and the robot's coordinates as columns.

    :ivar recording: what was measured.
    :ivar robot: the model, with the payloads of the recording.
    """

    recording: PreparedRecording
    robot: Robot

    def model(self, rows: slice = slice(None)) -> np.ndarray:  # noqa: B008 (it never changes)
        """
        Return the efforts that the model needs for the measured motion [Nm or N].

        :param rows: the samples, by default all.
        """
        recording = self.recording
        return self.robot.inverse_dynamics(
            recording.q[rows], recording.qd[rows], recording.qdd[rows])

    def gravity(self, rows: slice = slice(None)) -> np.ndarray:  # noqa: B008
        """Return the part of these efforts that holds the robot against gravity [Nm or N]."""
        return self.robot.gravity(self.recording.q[rows])

    def difference(self, rows: slice = slice(None)) -> np.ndarray:  # noqa: B008
        """Return the measured efforts less those of the model [Nm or N]."""
        return self.recording.tau[rows] - self.model(rows)


@dataclass(frozen=True, eq=False)
class Comparison:
    """
    Recordings of a robot compared with its model.

    :ivar robot: the model, without the payloads of the recordings.
    :ivar runs: a recording each.
    """

    robot: Robot
    runs: tuple[Run, ...]

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Return the robot's coordinates, in the order of all columns."""
        return coordinates_of(self.robot)

    @property
    def measured_rms(self) -> np.ndarray:
        """Return the RMS of the measured efforts, shape (nv,) [Nm or N]; NaN if there are none."""
        return self._figures[0]

    @property
    def difference_rms(self) -> np.ndarray:
        """Return the RMS of the differences, shape (nv,) [Nm or N]; NaN if none is measured."""
        return self._figures[1]

    @cached_property
    def _figures(self) -> np.ndarray:
        """Return these two, each over the recordings that have the effort of a coordinate."""
        counts, measured, differing = np.zeros((3, self.robot.nv))
        for run in self.runs:
            for first in range(0, len(run.recording.times), ROWS):
                rows = slice(first, first + ROWS)
                efforts, differences = run.recording.tau[rows], run.difference(rows)
                counts += np.isfinite(efforts).sum(axis=0)
                measured += np.nansum(np.square(efforts), axis=0)
                differing += np.nansum(np.square(differences), axis=0)
        counts[counts == 0] = np.nan
        return np.sqrt(np.stack([measured, differing]) / counts)

    @property
    def samples(self) -> int:
        """Return how many instants are compared."""
        return sum(len(run.recording.times) for run in self.runs)

    @property
    def duration(self) -> float:
        """Return for how long the robot was recorded, gaps left out [s]."""
        return sum(run.recording.duration for run in self.runs)


def compare(recordings: Sequence[PreparedRecording], robot: Robot) -> Comparison:
    """
    Compute the efforts that the model needs for what was recorded.

    :param recordings: prepared for this robot.
    :param robot: the model; the payloads of each recording are attached to it for that recording.
    :raises ArgumentError: if there is no recording, or one has no sample or not this robot's
        coordinates.
    """
    if not recordings:
        raise ArgumentError('there is no recording to compare; at least one is needed')
    return Comparison(robot, tuple(_run(recording, robot) for recording in recordings))


def _run(recording: PreparedRecording, robot: Robot) -> Run:
    if not recording.pieces:
        raise ArgumentError(
            f'recording {recording.name!r} has no uninterrupted piece; at least one is needed')
    if recording.q.shape[1:] != (robot.nq,) or recording.tau.shape[1:] != (robot.nv,):
        raise ArgumentError(
            f'recording {recording.name!r} has {recording.q.shape[1]} positions and '
            f'{recording.tau.shape[1]} efforts an instant; {robot.name!r} needs {robot.nq} and '
            f'{robot.nv}: prepare it for this robot')
    for name, (link, inertial) in recording.payloads.items():
        robot = robot.with_payload(name, link, inertial)
    return Run(recording, robot)
