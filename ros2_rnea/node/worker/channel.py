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
import socket
import struct
from typing import Any, NamedTuple

_LENGTH = struct.Struct('>Q')

_MOST_AT_ONCE = 1 << 20
"""How many bytes are read in one call."""

_MOST = 1 << 32
"""More bytes than any part of a message has: a greater length is a sign of something else."""


class Message(NamedTuple):
    """
    One message.

    :ivar content: what JSON holds, which can be read without running any of it.
    :ivar blobs: bytes that stay as they are, such as machine code and serialized ROS messages.
    """

    content: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


class Channel:
    """
    One end of the connection.

    A message is the length of its header, the header in JSON, and the blobs, whose lengths the
    header has.  The socket serves nothing else, so that whatever a process prints does no harm.

    :param end: a connected stream socket.  Where it has a timeout, ``on_wait`` is called each
        time that it runs out, and may raise; without one, the calls here wait for ever.
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
        :raises ValueError: where what arrives is no message; so may KeyError and TypeError.
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
                parts.append(self._end.recv(min(length, _MOST_AT_ONCE)))
            except TimeoutError:
                self.on_wait()
                continue
            if not parts[-1]:
                raise EOFError('the other side has closed the connection')
            length -= len(parts[-1])
        return b''.join(parts)


def channel_pair(timeout: float) -> tuple[Channel, socket.socket]:
    """
    Return a connection: our end, and a socket for another process.

    :param timeout: of our end [s].
    """
    ours, theirs = socket.socketpair()
    ours.settimeout(timeout)
    return Channel(ours), theirs


def channel_of(descriptor: int) -> Channel:
    """Return the end that a process has inherited by its file descriptor."""
    return Channel(socket.socket(fileno=descriptor))
