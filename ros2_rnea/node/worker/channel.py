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
"""Messages between the node and its worker processes, over a socket: plain data and raw bytes."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import socket
import struct
from typing import Any, NamedTuple

import ros2_rnea
from ros2_rnea.kernels.code_version import code_version

VERSION = code_version(Path(ros2_rnea.__file__).parent)
"""That of the code that this process runs; it must be the same at both ends."""

PROGRESS = 'progress'
"""The key of a progress report in a message that is not yet the answer."""

_LENGTH = struct.Struct('>Q')

_MAX_AT_ONCE = 1 << 20
"""How many bytes are read in one call."""

_MOST = 1 << 32
"""More bytes than any part of a message has; a larger length means that the data is invalid."""


class Message(NamedTuple):
    """
    One message.

    :ivar content: values that JSON can represent; reading them executes no code.
    :ivar blobs: bytes that are sent unchanged, such as machine code and serialized ROS messages.
    """

    content: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


class Channel:
    """
    One end of the connection.

    A message consists of the length of its header, the header in JSON, and the blobs, whose
    lengths are in the header.  Output that a process prints does not go through this socket and
    therefore does no harm.

    :param end: a connected stream socket.  Where it has a timeout, ``on_wait`` is called each
        time that it expires, and may raise; without a timeout, the calls wait without end.
    """

    def __init__(self, end: socket.socket, on_wait: Callable[[], None] = lambda: None) -> None:
        self._end = end
        self.on_wait = on_wait

    def send(self, message: Message) -> None:
        """
        Send a message.

        :raises OSError: where the other side has closed.
        """
        header = json.dumps(
            {'content': message.content, 'blobs': list(map(len, message.blobs))}).encode()
        for part in (_LENGTH.pack(len(header)), header, *message.blobs):
            self._send(part)

    def receive(self) -> Message:
        """
        Return the next message.

        :raises EOFError: where the other side has closed.
        :raises OSError: where the connection is broken.
        :raises ValueError: where the data is not a message; likewise KeyError and TypeError.
        """
        (length,) = _LENGTH.unpack(self._receive(_LENGTH.size))
        header = json.loads(self._receive(length))
        return Message(header['content'], tuple(map(self._receive, header['blobs'])))

    def close(self) -> None:
        """Close this end; the other side notices."""
        self._end.close()

    def _send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[self._end.send(left):]
            except TimeoutError:
                self.on_wait()

    def _receive(self, length: int) -> bytes:
        if not 0 <= length <= _MOST:
            raise ValueError(f'a part of a message has {length} bytes; it needs 0 to {_MOST}')
        parts: list[bytes] = []
        while length:
            try:
                parts.append(self._end.recv(min(length, _MAX_AT_ONCE)))
            except TimeoutError:
                self.on_wait()
                continue
            if not parts[-1]:
                raise EOFError('the other side has closed the connection')
            length -= len(parts[-1])
        return b''.join(parts)


def channel_pair(timeout: float) -> tuple[Channel, socket.socket]:
    """
    Return a connection: the channel of this process, and a socket for another process.

    :param timeout: of the channel [s].
    """
    ours, theirs = socket.socketpair()
    ours.settimeout(timeout)
    return Channel(ours), theirs


def channel_of(descriptor: int) -> Channel:
    """Return the channel on a socket that this process has inherited as a file descriptor."""
    return Channel(socket.socket(fileno=descriptor))
