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

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, ExitStack
from pathlib import Path
from typing import Any

from ros2_rnea.errors import did_you_mean, RecordingError

SUFFIXES = ('.db3', '.mcap')

JOINT_STATE = 'sensor_msgs/msg/JointState'


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
        import rosbags.highlevel  # noqa: F401
    except ImportError as error:
        raise RecordingError(
            f'the bag {path} needs the library rosbags, which is not installed: '
            'pip install rosbags') from error
    if not path.exists():
        raise RecordingError(f'{path} cannot be read as a bag: it does not exist')
    folder = path if path.is_dir() else path.parent
    if not (folder / 'metadata.yaml').is_file():
        raise RecordingError(
            f'{folder} cannot be read as a bag: it has no metadata.yaml, as when its recorder was '
            f'killed; `ros2 bag reindex {folder}` writes one')
    with ExitStack() as stack:
        try:
            reader = stack.enter_context(_reader(folder))
        except Exception as error:  # of any type: rosbags does not check all that it reads
            raise RecordingError(
                f'{_damaged(folder)} cannot be read as a bag: {error}') from error
        yield reader


def _reader(path: Path) -> Any:
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import get_typestore, Stores
    return AnyReader([path], default_typestore=get_typestore(Stores.LATEST))


def topics_of(reader: Any, kind: str, wanted: Collection[str] = ()) -> list[str]:
    """
    Return the topics of a bag that have messages of a type.

    :param wanted: the only ones of these; all where none is given.
    :raises RecordingError: where there is none, or not one that is wanted.
    """
    kinds = {connection.topic: connection.msgtype for connection in reader.connections}
    there = sorted(topic for topic in kinds if kinds[topic] == kind)
    if not there:
        raise RecordingError(f'{reader.paths[0]} has no topic of type {kind}; it has '
                             f'{", ".join(sorted(kinds)) or "nothing"}')
    for topic in wanted:
        if topic not in there:
            hint = did_you_mean(topic, there) or f'; it has on {", ".join(there)}'
            raise RecordingError(f'{reader.paths[0]} has no {kind} on {topic}{hint}')
    return list(wanted) or there


def messages_of(reader: Any, topics: Iterable[str]) -> Iterator[tuple[str, float, Any]]:
    """
    Yield the messages of topics, in the order of reception.

    :return: of each the topic, the time of its reception [s], and itself.
    :raises RecordingError: naming the file that is damaged.
    """
    wanted = {*topics}
    connections = [c for c in reader.connections if c.topic in wanted]
    if not connections:  # rosbags takes none for all
        return
    try:
        for connection, received, data in reader.messages(connections):
            yield (connection.topic, 1e-9 * received,
                   reader.deserialize(data, connection.msgtype))
    except Exception as error:
        raise RecordingError(
            f'{_damaged(reader.paths[0], wanted)} cannot be read as a bag: {error}') from error


def _damaged(folder: Path, topics: Collection[str] = ()) -> Path:
    """Return the first file of a bag whose messages cannot be read, or its folder."""
    for path in sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES):
        try:
            with _reader(path) as reader:
                for connection, _, data in reader.messages():
                    if connection.topic in topics:
                        reader.deserialize(data, connection.msgtype)
        except Exception:  # noqa: BLE001 (as above)
            return path
    return folder


def seconds(time: Any) -> float:
    """Return a Time or Duration as a number."""
    return float(time.sec + 1e-9 * time.nanosec)
