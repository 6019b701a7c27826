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
Access to rosbag2 bags (sqlite3 and mcap) with the library rosbags, which needs no ROS.

Definitions of messages that the bag contains count before those of ROS 2's own packages: messages
of any package can be read from bags that carry their definitions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from ros2_rnea.errors import did_you_mean, RecordingError
from ros2_rnea.offline.identification.memory import Part

SUFFIXES = ('.db3', '.mcap')

JOINT_STATE = 'sensor_msgs/msg/JointState'
WRENCH = 'geometry_msgs/msg/WrenchStamped'


def is_bag(path: Path) -> bool:
    """Return whether a path is taken for a bag: a folder, or a file in one."""
    return path.is_dir() or path.suffix in SUFFIXES


@contextmanager
def opened_bag(path: Path) -> Iterator[Any]:
    """
    Open a bag.

    :param path: of its folder, or of a file in it, which stands for the whole bag.
    :return: a reader of rosbags, as long as the context lasts.
    :raises RecordingError: where it is no bag, is damaged, or the library is not installed.
    """
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import get_typestore, Stores
    except ImportError as error:
        raise RecordingError(
            f'the bag {path} needs the library rosbags, which is not installed: '
            'pip install rosbags') from error
    folder = path if path.is_dir() else path.parent
    if folder.is_dir() and not (folder / 'metadata.yaml').is_file():
        raise RecordingError(
            f'{folder} cannot be read as a bag: it has no metadata.yaml, as when its recorder was '
            f'killed; `ros2 bag reindex {folder}` writes one')
    try:
        with AnyReader([folder], default_typestore=get_typestore(Stores.LATEST)) as reader:
            yield reader
    except (AnyReaderError, OSError) as error:
        raise RecordingError(f'{folder} cannot be read as a bag: {error}') from error


def topics_of(reader: Any, *kinds: str) -> list[str]:
    """Return the topics of a bag that have messages of these types, all where none is given."""
    return sorted({connection.topic for connection in reader.connections
                   if not kinds or connection.msgtype in kinds})


def check_topic(reader: Any, path: Path, topic: str, *kinds: str) -> None:
    """
    Check that a topic of a bag has messages of these types.

    :raises RecordingError: with the topics that do.
    """
    topics = topics_of(reader, *kinds)
    if topic not in topics:
        there = f'; it has on {", ".join(topics)}' if topics else ''
        raise RecordingError(
            f'{path} has no {" or ".join(kinds)} on {topic}{did_you_mean(topic, topics) or there}')


Received = tuple[str, float, Any]
"""The topic of a message, the time of its reception [s], and the message."""


def messages_of(reader: Any, topics: Iterable[str]) -> Iterator[Received]:
    """Yield the messages of topics, in the order of reception."""
    [(_, messages)] = messages_by_part(reader, topics, [Part()])
    return messages


def messages_by_part(
        reader: Any, topics: Iterable[str], parts: Sequence[Part],
        ) -> Iterator[tuple[Part, Iterator[Received]]]:
    """
    Yield parts of a bag with the messages of topics in them, in the order of reception.

    All of it is one pass: not every storage finds a time without reading what is before it.

    :param parts: each of which begins where the one before ends.
    :return: messages, which have to be taken before the next part.
    """
    wanted = {*topics}
    connections = [c for c in reader.connections if c.topic in wanted]

    # The metadata of a bag may be wrong about its begin; all of it does not depend on them.
    begin = parts[0].begin
    start = reader.start_time + round(1e9 * begin) if begin else None
    stops = [reader.start_time + round(1e9 * part.end) if isfinite(part.end) else None
             for part in parts]
    # rosbags takes no connections for all
    messages = _messages(reader, connections, start, stops[-1]) if connections else iter(())
    ahead = deque(islice(messages, 1))

    def before(stop: int | None) -> Iterator[Received]:
        while ahead and (stop is None or ahead[0][1] < stop):
            topic, received, message = ahead.popleft()
            yield topic, 1e-9 * received, message
            ahead.extend(islice(messages, 1))

    for part, stop in zip(parts, stops):
        yield part, before(stop)


def _messages(
        reader: Any, connections: Sequence[Any], start: int | None, stop: int | None,
        ) -> Iterator[tuple[str, int, Any]]:
    """
    Yield messages with their topics and the times of their reception [ns], in this order.

    :raises RecordingError: where the bag is damaged.
    """
    try:
        for connection, received, data in reader.messages(connections, start, stop):
            yield connection.topic, received, reader.deserialize(data, connection.msgtype)
    except Exception as error:  # of any type: rosbags does not check all that it reads
        raise RecordingError(
            f'{reader.paths[0]} cannot be read as a bag: {error}') from error


def count_of(reader: Any, topic: str, part: Part) -> float:
    """Return about how many messages a topic has in a part of a bag, without reading them."""
    count = sum(c.msgcount for c in reader.connections if c.topic == topic)
    duration = 1e-9 * reader.duration
    share = (min(part.end, duration) - part.begin) / duration if duration > 0.0 else 1.0
    return count * min(max(share, 0.0), 1.0)


def seconds(time: Any) -> float:
    """Return a Time or Duration as a number."""
    return float(time.sec + 1e-9 * time.nanosec)
