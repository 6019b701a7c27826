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
The connection between a node and one of its worker processes.

The connection is anonymous, and the process inherits it: nobody else can send into it.  Therefore
messages are in pickle; the machine code in them is executed, too.  (multiprocessing.connection
also offers such a connection, but would make each start of the node longer.)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import pickle
import socket
import struct
from typing import Any

import ros2_rnea
from ros2_rnea.kernels.code_version import code_version

VERSION = code_version(Path(ros2_rnea.__file__).parent)
"""Version of the code that this process runs; both ends must have an equal one."""

PROGRESS = 'progress'
"""The key of a progress report in a message that is not yet the answer."""

LARGEST = 1 << 32
"""Largest size of a message [bytes]; a larger size means that the data is invalid."""

_SIZE = struct.Struct('>Q')

_MAX_AT_ONCE = 1 << 20
"""Largest number of bytes that are read in one call."""

Message = dict[str, Any]


class Channel:
    """
    One end of the connection.

    A message is its size and its content in pickle.  Output that a process prints does not go
    through this socket and therefore does no harm.

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
        data = pickle.dumps(message)
        for part in (_SIZE.pack(len(data)), data):
            left = memoryview(part)
            while left:
                try:
                    left = left[self._end.send(left):]
                except TimeoutError:
                    self.on_wait()

    def receive(self) -> Message:
        """
        Return the next message.

        :raises EOFError: where the other side has closed.
        :raises OSError: where the connection is broken.
        :raises ValueError: where the data is not a message.
        """
        data = self.receive_bytes()
        try:
            message = pickle.loads(data)
        except Exception as error:  # noqa: BLE001 (invalid data can raise any)
            raise ValueError(f'{type(error).__name__}: {error}') from error
        if not isinstance(message, dict):
            raise ValueError(f'it is a {type(message).__name__}, not a message')
        return message

    def receive_bytes(self) -> bytes:
        """Return the next message as it was sent; errors are those of :meth:`receive`."""
        (size,) = _SIZE.unpack(self._receive(_SIZE.size))
        if size > LARGEST:
            raise ValueError(f'a message has {size} bytes; it may have {LARGEST}')
        return self._receive(size)

    def close(self) -> None:
        """Close this end; the other side notices."""
        self._end.close()

    def _receive(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            try:
                parts.append(self._end.recv(min(size, _MAX_AT_ONCE)))
            except TimeoutError:
                self.on_wait()
                continue
            if not parts[-1]:
                raise EOFError('the other side has closed the connection')
            size -= len(parts[-1])
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
