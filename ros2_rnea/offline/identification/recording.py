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
What was recorded of a robot, and what is left of it once it is prepared for a comparison.

A :class:`Recording` is what a file says, by joint name and in SI units.  From it, a
:class:`PreparedRecording` is made for one robot: positions, velocities, accelerations and efforts
at the same instants, in the order of the robot's coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import NamedTuple

import numpy as np

from ros2_rnea.dynamics.friction import smooth_sign
from ros2_rnea.errors import ArgumentError, RecordingError
from ros2_rnea.model.description import Inertial
from ros2_rnea.offline.identification.smoothing import STENCIL
from ros2_rnea.robots.arguments import floats

FEWEST_SAMPLES = 2

ASTRAY = 6.0
"""
A time is astray that is so many median distances from the median of all: if it is right, the
recording has paused next to it for longer than all the rest takes.
"""


@dataclass(frozen=True)
class Recording:
    """
    Measurements of one run of a robot, as they were recorded.

    :ivar name: how messages name it, such as the name of its file.
    :ivar times: shape (n,) [s].
    :ivar joints: their names, in the order of the columns.
    :ivar positions: shape (n, joints) [rad or m].
    :ivar velocities: shape (n, joints) [rad/s or m/s]; None where none were recorded.
    :ivar efforts: shape (n, joints) [Nm or N], of the drives on the joints.
    :ivar payloads: what the robot carried, as :meth:`ros2_rnea.Robot.with_payload` takes it: link
        and inertial by the payload's name.
    :ivar remarks: sentences of its reader for the user, such as where the times come from.
    :ivar begin: the time of the first sample since the begin of the whole recording [s]; the first
        one whose time is not astray (:func:`first_row`).
    :raises RecordingError: where names and arrays do not fit each other.  Numbers that are not
        finite and times that do not increase are no errors here, because the preparation cuts
        these rows out.
    """

    name: str
    times: np.ndarray
    joints: tuple[str, ...]
    positions: np.ndarray
    efforts: np.ndarray
    velocities: np.ndarray | None = None
    payloads: Mapping[str, tuple[str, Inertial]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    begin: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, 'joints', tuple(self.joints))
        if not self.joints:
            raise RecordingError(f'recording {self.name!r} has no joints')
        for place, joint in enumerate(self.joints):
            if not isinstance(joint, str) or not joint:
                raise RecordingError(
                    f'joint {place} of recording {self.name!r} is {joint!r}; it needs a name')
            if joint in self.joints[:place]:
                raise RecordingError(f'recording {self.name!r} has joint {joint!r} twice')
        self._set_array('times')
        if len(self.times) < FEWEST_SAMPLES:
            raise RecordingError(
                f'recording {self.name!r} has {len(self.times)} samples; it needs at least '
                f'{FEWEST_SAMPLES}, and seconds of motion to say something')
        for name in ('positions', 'efforts', 'velocities'):
            if name != 'velocities' or self.velocities is not None:
                self._set_array(name)

    def _set_array(self, name: str) -> None:
        """Replace a field by an array of floats, which is the given one where that is one."""
        try:
            array = floats(name, getattr(self, name))
        except ArgumentError as error:
            raise RecordingError(f'recording {self.name!r}: {error}') from error
        shape: tuple[int, ...] = array.size,
        columns = ''
        if name != 'times':
            shape = len(self.times), len(self.joints)
            columns = f' for the joints {", ".join(self.joints)}'
        if array.shape != shape:
            raise RecordingError(
                f'{name} of recording {self.name!r} have shape {array.shape}; they need '
                f'{shape}{columns}')
        object.__setattr__(self, name, array)

    def between(self, begin: float, end: float) -> Recording:
        """
        Return the samples of a part, also where times go back.

        :param begin: the first time, since the begin of the whole recording [s]; ``end``, that
            before which it ends.
        :raises RecordingError: where that is no part, or it has fewer than two samples.
        """
        if not 0.0 <= begin < end:
            raise RecordingError(
                f'the part from {begin:g} s to {end:g} s of a recording is given; it needs a '
                'begin that is not negative, and a later end')
        if (begin, end) == (0.0, inf):
            return self
        since = self.begin + self.times - self.times[first_row(self.times)]
        rows = np.flatnonzero((since >= begin) & (since < end))
        first = since[rows][first_row(self.times[rows])] if len(rows) else begin
        arrays = {name: array[rows] for name in (
            'times', 'positions', 'velocities', 'efforts')
            for array in (getattr(self, name),) if array is not None}
        until = f'to {end:g} s' if end < inf else 'on'
        return replace(self, name=f'{self.name} from {begin:g} s {until}', begin=float(first),
                       **arrays)


class Step(NamedTuple):
    """
    What one step of the preparation has done.

    :ivar name: short, and equal for all recordings.
    :ivar text: sentences for the user.
    :ivar is_warning: whether the recording may not be what it should be.
    """

    name: str
    text: str
    is_warning: bool = False


class Saturation(NamedTuple):
    """
    Efforts of one joint that are cut off at a bound.

    :ivar bounds: where they are cut off, in the unit of the recording [Nm or N].
    :ivar share: of the samples in which the joint moves, that which is exactly at a bound.
    :ivar excess: by how much the motion takes more at the bound, as the other samples predict it:
        the mean, and the larger one of two bounds [Nm or N].
    """

    bounds: tuple[float, ...]
    share: float
    excess: float

    def times(self, factor: float) -> Saturation:
        """Return the saturation of efforts that are multiplied by a factor."""
        return Saturation(
            tuple(sorted(factor * bound for bound in self.bounds)), self.share,
            abs(factor) * self.excess)


@dataclass(frozen=True)
class PreparedRecording:
    """
    A recording that was prepared for one robot.

    :ivar name: of the recording.
    :ivar times: shape (n,) [s].
    :ivar q: shape (n, nq), in the order of the robot's coordinates [rad or m].
    :ivar qd: shape (n, nv) [rad/s or m/s].
    :ivar qdd: shape (n, nv) [rad/s^2 or m/s^2].
    :ivar tau: shape (n, nv) [Nm or N]; NaN throughout for a coordinate whose effort was not
        recorded, or is constant.
    :ivar moves: shape (n, nv), whether a coordinate moves fast enough to tell the direction of its
        Coulomb friction.
    :ivar pieces: uninterrupted runs of samples at one period, in the order of time.
    :ivar payloads: as those of the recording.
    :ivar cutoff: of the low-pass that motion and efforts went through [Hz]; infinite where there
        was none.
    :ivar delay: by which efforts were late [s], and which was taken out.
    :ivar saturations: by joint, efforts that are cut off; empty where none are.
    :ivar begin: as that of the recording, of the first sample that is left.
    :ivar direction: shape (n, nv), the signs of the velocities, through the same low-pass; None
        where they went through none.
    """

    name: str
    times: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    moves: np.ndarray
    pieces: tuple[slice, ...]
    payloads: Mapping[str, tuple[str, Inertial]] = field(default_factory=dict)
    cutoff: float = inf
    delay: float = 0.0
    saturations: Mapping[str, Saturation] = field(default_factory=dict)
    begin: float = 0.0
    direction: np.ndarray | None = None

    @property
    def signs(self) -> np.ndarray:
        """Return the columns of Coulomb friction, shape (n, nv)."""
        return smooth_sign(self.qd) if self.direction is None else self.direction

    @property
    def duration(self) -> float:
        """Return for how long it was recorded, gaps left out [s]."""
        return float(sum(self.times[piece][-1] - self.times[piece][0] for piece in self.pieces))

    @property
    def period(self) -> float:
        """Return the period of the samples [s]; NaN where no piece has two."""
        steps = [self.times[piece.start + 1] - self.times[piece.start]
                 for piece in self.pieces if piece.stop - piece.start > 1]
        return float(np.median(steps)) if steps else nan


def first_row(times: np.ndarray) -> int:
    """
    Return the first row whose time is near those of the others; 0 where no time is finite.

    Some loggers give the first rows no time, or one of long before.  So many that they are a piece
    of their own (STENCIL) are part of the recording, and a pause follows them.

    :param times: shape (n,) [s], with at least one.
    """
    rows = np.flatnonzero(np.isfinite(times))
    if not len(rows):
        return 0
    away = np.abs(times[rows] - np.median(times[rows]))
    astray = int(np.argmax(away <= ASTRAY * np.median(away)))
    return int(rows[astray if astray < STENCIL else 0])


def slowest_speeds(recorded: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """
    Return the least speed of each coordinate while it moves, infinite where it never does.

    :param recorded: qd and ``moves`` of each recording, shapes (n, nv) [rad/s or m/s].
    :return: shape (nv,).
    """
    return np.min([np.min(np.abs(qd), axis=0, initial=np.inf, where=moves)
                   for qd, moves in recorded], axis=0)
