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
Several streams of joint states, each with its own joints and times, as one recording.

Joints of a robot may come from several publishers (arm, gripper, each wheel), as in ROS 2 they
often do.  The stream with the most samples gives the times; the others are interpolated linearly
between their neighbours, and are not a number where those are too far apart.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import numpy as np

from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.time_base import LARGEST_GAP


class Stream:
    """
    Rows of numbers by time, which grow in memory as plain doubles.

    :ivar names: of the joints, in the order of the columns.
    """

    def __init__(self, names: Sequence[str], fields: Sequence[str]) -> None:
        self.names = tuple(names)
        self._places = {name: place for place, name in enumerate(self.names)}
        self._times = array('d')
        self._fields = {field: array('d') for field in fields}

    def __len__(self) -> int:
        return len(self._times)

    def add(
            self, time: float, names: Sequence[str], fields: Mapping[str, Sequence[float]],
            ) -> None:
        """
        Add a row.

        :param time: [s].
        :param names: the same joints as always, in any order.
        :param fields: their numbers; an empty one is not a number throughout.
        """
        self._times.append(time)
        same = tuple(names) == self.names
        for field, column in self._fields.items():
            values = fields[field]
            if not len(values):
                column.extend([np.nan] * len(self.names))
            elif same:
                column.extend(values)
            else:
                row = [0.0] * len(self.names)
                for name, value in zip(names, values):
                    row[self._places[name]] = value
                column.extend(row)

    @property
    def times(self) -> np.ndarray:
        """Return the times of all rows, shape (n,)."""
        return np.frombuffer(self._times)

    def field(self, name: str) -> np.ndarray:
        """Return the numbers of one field, shape (n, joints)."""
        return np.frombuffer(self._fields[name]).reshape(len(self), len(self.names))


def merged(
        streams: Sequence[Stream], fields: Sequence[str], name: str,
        ) -> tuple[np.ndarray, tuple[str, ...], dict[str, np.ndarray]]:
    """
    Return times, joints and fields of several streams.

    :param name: of the recording, for errors.
    :raises RecordingError: where a joint is in several streams.
    """
    owner: dict[str, Stream] = {}
    for stream in streams:
        for joint in stream.names:
            if joint in owner:
                raise RecordingError(
                    f'recording {name!r} has joint {joint!r} in several streams of joint states: '
                    f'{", ".join(owner[joint].names)}; and {", ".join(stream.names)}. Select one '
                    'topic')
            owner[joint] = stream
    leading = max(streams, key=len)
    joints = tuple(joint for stream in streams for joint in stream.names)
    times = leading.times
    parts = {field: [
        stream.field(field) if stream is leading else at_times(
            times, stream.times, stream.field(field)) for stream in streams]
        for field in fields}
    return times, joints, {field: part[0] if len(part) == 1 else np.hstack(part)
                           for field, part in parts.items()}


def at_times(times: np.ndarray, of: np.ndarray, values: np.ndarray) -> np.ndarray:
    """
    Return rows at other times, linearly between neighbours.

    :param times: shape (n,).
    :param of: times of the values, shape (m,); rows that do not follow in time are left out.
    :param values: shape (m, k).
    :return: shape (n, k), not a number outside, and between neighbours that are too far apart.
    """
    result = np.full((len(times), values.shape[1]), np.nan)
    later = np.concatenate([[True], of[1:] > np.maximum.accumulate(of)[:-1]])
    of, values = of[later], values[later]
    if len(of) < 2:
        return result
    right = np.clip(np.searchsorted(of, times), 1, len(of) - 1)
    left, steps = right - 1, np.diff(of)
    inside = (times >= of[0]) & (times <= of[-1]) & (
        steps[left] <= LARGEST_GAP * np.median(steps))
    for column in range(values.shape[1]):
        result[inside, column] = np.interp(times[inside], of, values[:, column])
    return result
