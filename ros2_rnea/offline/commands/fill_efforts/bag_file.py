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
"""Trajectories in rosbag2 bags, read with the library rosbags, which needs no ROS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ros2_rnea.offline.commands.fill_efforts.found import (
    check_points,
    FileError,
    Found,
    stamp_remarks,
)
from ros2_rnea.offline.filling.effort_filler import Plan, Start
from ros2_rnea.offline.identification.bag import (
    JOINT_STATE,
    messages_of,
    opened_bag,
    seconds,
    topics_of,
)
from ros2_rnea.trajectories.trajectory import Waypoint

_TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'


def read(path: Path, topic: str | None, number: int) -> Found:
    """
    Return a trajectory from a bag, with the joint states before it as its start.

    :param path: of the bag's folder, or of a file in it.
    :param topic: None if only one topic has trajectories.
    :param number: of the message there, from 1.
    :raises RneaError: if it is no bag, or has no such message.
    """
    with opened_bag(path) as reader:
        topics = topics_of(reader, _TRAJECTORY, () if topic is None else (topic,))
        if len(topics) > 1:
            raise FileError(
                f'{path} has trajectories on {", ".join(topics)}: select one with --topic')
        states = [each.topic for each in reader.connections if each.msgtype == JOINT_STATE]
        messages = (message for _, _, message in messages_of(reader, [*topics, *states]))
        return _search(messages, path, number)


def _search(messages: Iterator[Any], path: Path, number: int) -> Found:
    positions: dict[str, tuple[float, ...]] = {}
    velocities: dict[str, float] = {}
    count = 0
    for message in messages:
        if message.__msgtype__ == JOINT_STATE:
            positions.update((n, (float(q),)) for n, q in zip(message.name, message.position))
            velocities.update((n, float(v)) for n, v in zip(message.name, message.velocity))
            continue
        count += 1
        if count == number:
            check_points(len(message.points), str(path))
            return Found(
                _plan(message), Start(positions, velocities),
                stamp_remarks(seconds(message.header.stamp)))
    raise FileError(
        f'{path} has {count} trajectories on that topic, but number {number} is requested')


def _plan(message: Any) -> Plan:
    points = message.points
    efforts = [tuple(map(float, point.effort)) for point in points]
    return Plan(
        tuple(message.joint_names),
        [Waypoint(seconds(point.time_from_start), *(
            tuple(map(float, values))
            for values in (point.positions, point.velocities, point.accelerations)))
         for point in points],
        efforts if any(efforts) else ())
