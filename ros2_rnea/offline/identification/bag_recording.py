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
"""Recordings from rosbag2 bags: joint states of any topics, and wrenches where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ros2_rnea.errors import NothingUsableError, RecordingError
from ros2_rnea.model.description import Inertial
from ros2_rnea.offline.identification.bag import (
    check_topic,
    JOINT_STATE,
    messages_of,
    opened_bag,
    seconds,
    topics_of,
    WRENCH,
)
from ros2_rnea.offline.identification.merging import at_times, merged, Stream
from ros2_rnea.offline.identification.parts import Part
from ros2_rnea.offline.identification.recording import Recording

_FIELDS = {'positions': 'position', 'velocities': 'velocity', 'efforts': 'effort'}
_WRENCHES, _WRENCH_AXES = 'wrenches', ('mx', 'my', 'mz', 'fx', 'fy', 'fz')


@dataclass(frozen=True)
class BagTopics:
    """
    Which topics of a bag are read.

    :ivar states: with JointState; empty for the only ones that the bag has.
    :ivar wrench: with WrenchStamped, on the robot, in the frame that it names.
    :ivar received: use the times at which messages were recorded, not their stamps.
    """

    states: tuple[str, ...] = ()
    wrench: str = ''
    received: bool = False


def read_bag(
        path: Path, topics: BagTopics | None = None,
        payloads: Mapping[str, tuple[str, Inertial]] | None = None,
        part: Part = Part()) -> Recording:  # noqa: B008 (it never changes)
    """
    Read a recording from a bag.

    :param path: of the bag's folder, or of a file in it.
    :param topics: by default all topics with joint states, whose joints have to differ.
    :param payloads: what the robot carried.
    :param part: that is read, by the times at which messages were recorded.
    :raises RecordingError: naming the topic, message, time and joint that cannot be read, or the
        file that is damaged.  NothingUsableError, where there are no joint states.
    """
    part.check()
    topics = topics or BagTopics()
    streams: dict[tuple[str, frozenset[str]], Stream] = {}
    begins: dict[tuple[str, frozenset[str]], float] = {}
    wrenches: dict[str, Stream] = {}  # by frame
    without_stamp: set[str] = set()
    with opened_bag(path) as reader:
        states = _state_topics(reader, path, topics)
        for number, (topic, received, message) in enumerate(messages_of(
                reader, [*states, topics.wrench], part)):
            stamp = seconds(message.header.stamp)
            if not stamp:
                without_stamp.add(topic)
            time = stamp if stamp and not topics.received else received
            if topic == topics.wrench:
                _add_wrench(wrenches, time, message)
                continue
            fields = {field: getattr(message, attribute) for field, attribute in _FIELDS.items()}
            _check_sizes(f'message {number} of {path}, on {topic} at {time:.3f} s,',
                         message.name, fields)
            key = topic, frozenset(message.name)
            if key not in streams:
                streams[key] = Stream(message.name, list(_FIELDS))
                begins[key] = max(received - 1e-9 * reader.start_time, 0.0)
            streams[key].add(time, message.name, fields)
    if not streams:
        raise NothingUsableError(f'{path} has no messages on {", ".join(states)}{part.words()}')
    if len(wrenches) > 1:
        raise RecordingError(
            f'{path} has wrenches in several frames on {topics.wrench}: {", ".join(wrenches)}')
    times, joints, merged_fields = merged(list(streams.values()), list(_FIELDS), path.name)
    velocities = merged_fields['velocities']
    leading = max(streams, key=lambda key: len(streams[key]))  # as merged() has it
    remarks = []
    if len(streams) > 1:
        remarks.append(
            f'joint states of {len(streams)} publishers are merged at the times of the one with '
            'the most messages')
    if without_stamp and not topics.received:
        remarks.append(
            f'messages on {", ".join(sorted(without_stamp))} have no stamp: the times at which '
            'they were recorded are used, which vary with the network')
    frame, wrench = next(iter(wrenches.items()), ('', None))
    return Recording(
        path.name + part.words(), times, joints, merged_fields['positions'],
        merged_fields['efforts'],
        velocities=velocities if np.isfinite(velocities).any() else None,
        wrenches=None if wrench is None else at_times(
            times, wrench.times, wrench.field(_WRENCHES)),
        wrench_link=frame, payloads=payloads or {}, remarks=tuple(remarks),
        part_of='' if part == Part() else str(path), begin=begins[leading])


def _state_topics(reader: Any, path: Path, topics: BagTopics) -> list[str]:
    """
    Return the topics with joint states that are read.

    :raises RecordingError: where a topic is not there, or has other messages.
    """
    for topic in topics.states:
        check_topic(reader, path, topic, JOINT_STATE)
    if topics.wrench:
        check_topic(reader, path, topics.wrench, WRENCH)
    states = list(topics.states) or topics_of(reader, JOINT_STATE)
    if not states:
        there = ', '.join(topics_of(reader)) or 'nothing'
        raise RecordingError(f'{path} has no topic of type {JOINT_STATE}; it has {there}')
    return states


def _check_sizes(
        where: str, names: Sequence[str], fields: Mapping[str, Sequence[float]]) -> None:
    if len(set(names)) != len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise RecordingError(f'{where} has joint {twice!r} twice')
    for field, values in fields.items():
        if len(values) not in (0, len(names)):
            raise RecordingError(
                f'{where} has {len(values)} {field} for {len(names)} joints: {", ".join(names)}')


def _add_wrench(wrenches: dict[str, Stream], time: float, message: Any) -> None:
    frame = message.header.frame_id
    if frame not in wrenches:
        wrenches[frame] = Stream(_WRENCH_AXES, [_WRENCHES])
    torque, force = message.wrench.torque, message.wrench.force
    wrenches[frame].add(time, _WRENCH_AXES, {_WRENCHES: (
        torque.x, torque.y, torque.z, force.x, force.y, force.z)})
