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
Recordings from rosbag2 bags: joint states of any topics.

Joints of a robot may come from several publishers (arm, gripper, each wheel), as in ROS 2 they
often do.  The one with the most messages gives the times; the others are interpolated linearly
between their neighbours, and are not a number where those are too far apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ros2_rnea.errors import did_you_mean, RecordingError
from ros2_rnea.model.description import Inertial
from ros2_rnea.offline.identification.bag import (
    JOINT_STATE,
    messages_of,
    opened_bag,
    seconds,
    topics_of,
)
from ros2_rnea.offline.identification.recording import first_row, Recording
from ros2_rnea.offline.identification.time_base import LARGEST_GAP

_FIELDS = {'positions': 'position', 'velocities': 'velocity', 'efforts': 'effort'}


class _Stream(NamedTuple):
    """
    What one publisher has sent.

    :ivar names: of the joints, in the order of the columns.
    :ivar received: when each message was received, since the begin of the bag [s].
    :ivar times: of the messages [s].
    :ivar rows: their numbers, each of shape (fields, joints).
    """

    names: tuple[str, ...]
    received: list[float]
    times: list[float]
    rows: list[np.ndarray]


def read_bag(
        path: Path, topics: Sequence[str] = (), received: bool = False,
        payloads: Mapping[str, tuple[str, Inertial]] | None = None) -> Recording:
    """
    Read a recording from a bag.

    :param path: of the bag's folder, or of a file in it.
    :param topics: by default all topics with joint states, whose joints have to differ.
    :param received: use the times at which messages were recorded, not their stamps.
    :param payloads: what the robot carried.
    :raises RecordingError: naming the topic, message, time and joint that cannot be read, or the
        file that is damaged.
    """
    streams: dict[tuple[str, frozenset[str]], _Stream] = {}
    without_stamp: set[str] = set()
    with opened_bag(path) as reader:
        there = topics_of(reader, JOINT_STATE)
        if not there:
            others = ', '.join(topics_of(reader)) or 'nothing'
            raise RecordingError(f'{path} has no topic of type {JOINT_STATE}; it has {others}')
        for topic in topics:
            if topic not in there:
                hint = did_you_mean(topic, there) or f'; it has on {", ".join(there)}'
                raise RecordingError(f'{path} has no {JOINT_STATE} on {topic}{hint}')
        topics = topics or there
        start = 1e-9 * reader.start_time
        for number, (topic, arrival, message) in enumerate(messages_of(reader, topics)):
            stamp = seconds(message.header.stamp)
            if not stamp:
                without_stamp.add(topic)
            time = stamp if stamp and not received else arrival
            stream = streams.setdefault(
                (topic, frozenset(message.name)), _Stream(tuple(message.name), [], [], []))
            stream.received.append(max(arrival - start, 0.0))
            stream.times.append(time)
            stream.rows.append(_row(
                f'message {number} of {path}, on {topic} at {time:.3f} s,', message, stream.names))
    if not streams:
        raise RecordingError(f'{path} has no messages on {", ".join(topics)}')
    owner: dict[str, _Stream] = {}
    for stream in streams.values():
        for joint in stream.names:
            if owner.setdefault(joint, stream) is not stream:
                raise RecordingError(
                    f'recording {path.name!r} has joint {joint!r} in several streams of joint '
                    f'states: {", ".join(owner[joint].names)}; and {", ".join(stream.names)}. '
                    'Select one topic')
    leading = max(streams.values(), key=lambda stream: len(stream.times))
    times = np.array(leading.times)
    fields = dict(zip(_FIELDS, np.moveaxis(np.concatenate([
        _at_times(times, stream) for stream in streams.values()], axis=2), 1, 0)))
    if not np.isfinite(fields['velocities']).any():
        del fields['velocities']
    remarks = []
    if len(streams) > 1:
        remarks.append(
            f'Joint states of {len(streams)} publishers are merged at the times of the one with '
            'the most messages.')
    if without_stamp and not received:
        remarks.append(
            f'Messages on {", ".join(sorted(without_stamp))} have no stamp: the times at which '
            'they were recorded are used, which vary with the network.')
    return Recording(
        path.name, times, tuple(owner),
        **fields, payloads=payloads or {}, remarks=tuple(remarks),
        begin=leading.received[first_row(times)])


def _row(where: str, message: Any, joints: tuple[str, ...]) -> np.ndarray:
    """Return the fields of a message, shape (3, joints); an empty one is not a number."""
    names = list(message.name)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RecordingError(f'{where} has joint {twice!r} twice')
    row = np.full((len(_FIELDS), len(names)), np.nan)
    for place, (field, attribute) in enumerate(_FIELDS.items()):
        values = getattr(message, attribute)
        if len(values) not in (0, len(names)):
            raise RecordingError(
                f'{where} has {len(values)} {field} for {len(names)} joints: {", ".join(names)}')
        if len(values):
            row[place] = values
    return row if tuple(names) == joints else row[:, [names.index(name) for name in joints]]


def _at_times(times: np.ndarray, stream: _Stream) -> np.ndarray:
    """
    Return what a stream has at other times, linearly between neighbours.

    :return: not a number outside, and between neighbours that are too far apart; rows that do not
        follow in time are left out.
    """
    of, values = np.array(stream.times), np.array(stream.rows)
    if np.array_equal(of, times):
        return values
    later = np.concatenate([[True], of[1:] > np.maximum.accumulate(of)[:-1]])
    of, values = of[later], values[later]
    if len(of) < 2:
        return np.full((len(times), *values.shape[1:]), np.nan)
    steps = np.diff(of)
    left = np.clip(np.searchsorted(of, times), 1, len(of) - 1) - 1
    result = np.apply_along_axis(
        lambda column: np.interp(times, of, column, np.nan, np.nan), 0, values)
    result[steps[left] > LARGEST_GAP * np.median(steps)] = np.nan
    return result
