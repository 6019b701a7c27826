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
"""Recordings from rosbag2 bags: joint states of any topics, commands and wrenches where asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

CONTROLLER_STATE = 'control_msgs/msg/JointTrajectoryControllerState'

_FIELDS = {'positions': 'position', 'velocities': 'velocity', 'efforts': 'effort'}
_COMMANDS = 'commands'
_WRENCH_AXES = ('mx', 'my', 'mz', 'fx', 'fy', 'fz')


@dataclass(frozen=True)
class BagTopics:
    """
    Which topics of a bag are read.

    :ivar states: with JointState; empty for the only ones that the bag has.
    :ivar commands: with JointState, whose positions were commanded, or with
        JointTrajectoryControllerState, whose reference was.
    :ivar wrench: with WrenchStamped, on the robot, in the frame that it names.
    :ivar received: use the times at which messages were recorded, not their stamps.
    """

    states: tuple[str, ...] = ()
    commands: str = ''
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
    with opened_bag(path) as reader:
        states = _state_topics(reader, path, topics)
        reading = _BagReading(path, topics, part, 1e-9 * reader.start_time)
        return reading.recording(
            messages_of(reader, [*states, topics.commands, topics.wrench], part), states,
            payloads or {})


def _state_topics(reader: Any, path: Path, topics: BagTopics) -> list[str]:
    """
    Return the topics with joint states that are read.

    :raises RecordingError: where a topic is not there, or has other messages.
    """
    for topic in topics.states:
        check_topic(reader, path, topic, JOINT_STATE)
    if topics.commands:
        check_topic(reader, path, topics.commands, JOINT_STATE, CONTROLLER_STATE)
    if topics.wrench:
        check_topic(reader, path, topics.wrench, WRENCH)
    states = list(topics.states) or [
        topic for topic in topics_of(reader, JOINT_STATE) if topic != topics.commands]
    if not states:
        there = ', '.join(topics_of(reader)) or 'nothing'
        raise RecordingError(f'{path} has no topic of type {JOINT_STATE}; it has {there}')
    return states


class _BagReading:
    """The reading of a part of a bag, message after message."""

    def __init__(self, path: Path, topics: BagTopics, part: Part, start: float) -> None:
        self._path = path
        self._topics = topics
        self._part = part
        self._start = start
        self._begins: dict[tuple[str, frozenset[str]], float] = {}
        self._remarks: list[str] = []
        self._without_stamp: set[str] = set()
        self._frames: dict[str, None] = {}
        self._wrench = Stream(_WRENCH_AXES, ['wrenches'])
        self._states: dict[tuple[str, frozenset[str]], Stream] = {}
        self._commands: dict[tuple[str, frozenset[str]], Stream] = {}

    def recording(
            self, messages: Iterable[tuple[str, float, Any]], states: Sequence[str],
            payloads: Mapping[str, tuple[str, Inertial]]) -> Recording:
        """
        Read all messages.

        :param states: the topics of joint states.
        """
        for number, (topic, received, message) in enumerate(messages):
            time = self._time(topic, received, message)
            if topic == self._topics.wrench:
                self._add_wrench(time, message)
            elif topic == self._topics.commands:
                self._add_command(time, message)
            else:
                key = topic, frozenset(message.name)
                self._begins.setdefault(key, max(received - self._start, 0.0))
                self._add_state(key, time, message, number)
        if not self._states:
            raise NothingUsableError(
                f'{self._path} has no messages on {", ".join(states)}{self._part.words()}')
        times, joints, fields = merged(
            list(self._states.values()), list(_FIELDS), self._path.name)
        if len(self._states) > 1:
            self._remarks.append(
                f'joint states of {len(self._states)} publishers are merged at the times of the '
                'one with the most messages')
        if self._without_stamp:
            self._remarks.append(
                f'messages on {", ".join(sorted(self._without_stamp))} have no stamp: the times '
                'at which they were recorded are used, which vary with the network')
        velocities = fields['velocities']
        leading = max(self._states, key=lambda key: len(self._states[key]))  # as merged() has it
        return Recording(
            self._path.name + self._part.words(), times, joints, fields['positions'],
            fields['efforts'],
            velocities=velocities if np.isfinite(velocities).any() else None,
            wrenches=self._wrenches(times), wrench_link=next(iter(self._frames), ''),
            commands=self._commanded(times, joints), payloads=payloads,
            remarks=tuple(self._remarks),
            part_of='' if self._part == Part() else str(self._path), begin=self._begins[leading])

    def _time(self, topic: str, received: float, message: Any) -> float:
        if self._topics.received:
            return received
        stamp = seconds(message.header.stamp)
        if stamp:
            return stamp
        self._without_stamp.add(topic)
        return received

    def _add_state(
            self, key: tuple[str, frozenset[str]], time: float, message: Any, number: int,
            ) -> None:
        fields = {field: getattr(message, attribute) for field, attribute in _FIELDS.items()}
        self._check_sizes(key[0], time, message.name, fields, number)
        if key not in self._states:
            self._states[key] = Stream(message.name, list(_FIELDS))
        self._states[key].add(time, message.name, fields)

    def _check_sizes(
            self, topic: str, time: float, names: Sequence[str],
            fields: Mapping[str, Sequence[float]], number: int) -> None:
        where = f'message {number} of {self._path}, on {topic} at {time:.3f} s,'
        if len(set(names)) != len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise RecordingError(f'{where} has joint {twice!r} twice')
        for field, values in fields.items():
            if len(values) not in (0, len(names)):
                raise RecordingError(
                    f'{where} has {len(values)} {field} for {len(names)} joints: '
                    f'{", ".join(names)}')

    def _add_command(self, time: float, message: Any) -> None:
        if message.__msgtype__ == JOINT_STATE:
            names, positions = message.name, message.position
        else:
            # `reference` since Humble, before that `desired`
            point = getattr(message, 'reference', None) or message.desired
            names, positions = message.joint_names, point.positions
        key = self._topics.commands, frozenset(names)
        if key not in self._commands:
            self._commands[key] = Stream(names, [_COMMANDS])
        if len(positions) == len(names):
            self._commands[key].add(time, names, {_COMMANDS: positions})

    def _commanded(self, times: np.ndarray, joints: Sequence[str]) -> np.ndarray | None:
        if not self._commands:
            return None
        commands = np.full((len(times), len(joints)), np.nan)
        for stream in self._commands.values():
            if not len(stream):
                continue
            values = at_times(times, stream.times, stream.field(_COMMANDS))
            for column, joint in enumerate(stream.names):
                if joint in joints:
                    commands[:, list(joints).index(joint)] = values[:, column]
        return commands

    def _add_wrench(self, time: float, message: Any) -> None:
        self._frames[message.header.frame_id] = None
        if len(self._frames) > 1:
            raise RecordingError(
                f'{self._path} has wrenches in several frames on {self._topics.wrench}: '
                f'{", ".join(self._frames)}')
        torque, force = message.wrench.torque, message.wrench.force
        self._wrench.add(time, _WRENCH_AXES, {'wrenches': (
            torque.x, torque.y, torque.z, force.x, force.y, force.z)})

    def _wrenches(self, times: np.ndarray) -> np.ndarray | None:
        if not len(self._wrench):
            return None
        return at_times(times, self._wrench.times, self._wrench.field('wrenches'))
