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

from array import array
from collections.abc import Iterator, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.bag import (
    JOINT_STATE,
    messages_of,
    opened_bag,
    seconds,
    topics_of,
)
from ros2_rnea.offline.identification.recording import first_row, Recording
from ros2_rnea.offline.identification.time_base import LARGEST_GAP


def read_bag(path: Path, topics: Sequence[str] = (), received: bool = False) -> Recording:
    """
    Read a recording from a bag.

    :param path: of the bag's folder, or of a file in it.
    :param topics: by default all topics with joint states, whose joints have to differ.
    :param received: use the times at which messages were recorded, not their stamps.
    :raises RecordingError: naming the topic, message, time and joint that cannot be read, or the
        file that is damaged.
    """
    samples: dict[str, array[float]] = {}  # by joint: time, reception, and the fields of each
    publishers: dict[str, tuple[str, frozenset[str]]] = {}
    without_stamp: set[str] = set()
    with opened_bag(path) as reader:
        topics = topics_of(reader, JOINT_STATE, topics)
        for number, (topic, arrival, message) in enumerate(messages_of(reader, topics)):
            stamp = seconds(message.header.stamp)
            if not stamp:
                without_stamp.add(topic)
            time = stamp if stamp and not received else arrival
            where = f'message {number} of {path}, on {topic} at {time:.3f} s,'
            publisher = topic, frozenset(message.name)
            for joint, *values in zip(message.name, *_fields(message, where)):
                if publishers.setdefault(joint, publisher) != publisher:
                    both = '; and '.join(
                        f'{", ".join(sorted(joints))} on {other}'
                        for other, joints in (publishers[joint], publisher))
                    raise RecordingError(
                        f'recording {path.name!r} has joint {joint!r} in several streams of joint '
                        f'states: {both}. Select one topic')
                samples.setdefault(joint, array('d')).extend((time, arrival, *values))
        start = 1e-9 * reader.start_time
    if not samples:
        raise RecordingError(f'{path} has no messages on {", ".join(topics)}')
    tables = [np.frombuffer(each).reshape(-1, 5) for each in samples.values()]
    leading = max(tables, key=len)
    times = leading[:, 0].copy()
    positions, velocities, efforts = np.stack(
        [_at_times(times, table[:, 0], table[:, 2:]) for table in tables], axis=2).swapaxes(0, 1)
    remarks = []
    if len(set(publishers.values())) > 1:
        remarks.append(
            f'Joint states of {len(set(publishers.values()))} publishers are merged at the times '
            'of the one with the most messages.')
    if without_stamp and not received:
        remarks.append(
            f'Messages on {", ".join(sorted(without_stamp))} have no stamp: the times at which '
            'they were recorded are used, which vary with the network.')
    return Recording(
        path.name, times, tuple(samples), positions, efforts,
        velocities if np.isfinite(velocities).any() else None, remarks=tuple(remarks),
        begin=max(float(leading[first_row(times), 1]) - start, 0.0))


def _fields(message: Any, where: str) -> Iterator[Sequence[float]]:
    """Yield the positions, velocities and efforts in a message, NaN where it has none."""
    names = list(message.name)
    for joint in names:
        if names.count(joint) > 1:
            raise RecordingError(f'{where} has joint {joint!r} twice')
    for what, values in (('positions', message.position), ('velocities', message.velocity),
                         ('efforts', message.effort)):
        if len(values) not in (0, len(names)):
            raise RecordingError(
                f'{where} has {len(values)} {what} for {len(names)} joints: {", ".join(names)}')
        yield values if len(values) else (nan,) * len(names)


def _at_times(times: np.ndarray, of: np.ndarray, values: np.ndarray) -> np.ndarray:
    """
    Return values at other times than their own, linearly between neighbours.

    :return: not a number outside, and between neighbours that are too far apart; rows that do not
        follow in time are left out.
    """
    if np.array_equal(of, times):
        return values
    later = np.diff(np.maximum.accumulate(of), prepend=-np.inf) > 0.0
    of, values = of[later], values[later]
    steps = np.diff(of, append=np.inf)
    left = np.maximum(np.searchsorted(of, times) - 1, 0)
    result = np.apply_along_axis(
        lambda column: np.interp(times, of, column, np.nan, np.nan), 0, values)
    result[steps[left] > LARGEST_GAP * np.median(steps)] = np.nan
    return result
