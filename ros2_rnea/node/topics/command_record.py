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
The last command, in memory that outlives this process.

After a crash the controller holds the last command, and the next process of this node has to start
from it.  Each cycle writes it to a file that is mapped into memory, in a folder that exists only
in memory: no disk delays the cycle.  The record is lost with a restart of the machine, after which
nobody holds anything.  It is also lost with a restart of this node's container, although a
controller outside the container may hold the last command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
import hashlib
import json
from mmap import mmap
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ros2_rnea.kernels.cache import check_private
from ros2_rnea.model.regular_file import MIB, read_regular_file

MEMORY = Path('/dev/shm')
"""A file system in memory, whatever the user's environment is."""

VERSION = 1
HEADER = 8192
"""Version of the format, and size of the header [bytes]; it is JSON, padded with spaces."""

LARGEST = MIB
"""Largest size of a record [bytes]; the header has no room for the names of so many joints."""

SLOTS = 2
"""Number of copies of the numbers; they are written in turn, and one is whole at any time."""


class Endpoint(NamedTuple):
    """
    Who receives the commands.

    :ivar node: the fully qualified name of the node; empty while it is not known.
    :ivar process: identifier of its process, which no later process has.
    """

    node: str
    process: str


class RecordedCommand(NamedTuple):
    """
    The last command of an earlier process of this node.

    :ivar receivers: those that received it.
    :ivar efforts: by joint, in the units of the drives (see ``command_scale``).
    :ivar earlier: the processes that received an earlier command, as far as they are remembered.
    """

    receivers: frozenset[Endpoint] = frozenset()
    efforts: Mapping[str, float] = {}
    earlier: frozenset[str] = frozenset()


def record_path(node_name: str, environment: Mapping[str, str] = os.environ) -> Path:
    """
    Return where a node's record is.

    :param node_name: fully qualified.
    """
    folder = MEMORY / f'ros2_rnea-{os.geteuid()}'
    domain = environment.get('ROS_DOMAIN_ID', '0')
    return folder / hashlib.sha256(f'{domain} {node_name}'.encode()).hexdigest()[:32]


class CommandRecord:
    """
    Writes the last command of this process.

    :param path: see :func:`record_path`.
    :ivar error: why commands are not recorded; empty where they are.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._slots: np.ndarray | None = None
        self._unfinished = path.with_suffix(f'.{os.getpid()}')
        self._count = 0
        self._content_read = b''
        self.error = ''

    def read(self) -> RecordedCommand:
        """Return what an earlier process has recorded; nothing where there is none."""
        with suppress(OSError, LookupError, TypeError, ValueError):
            check_private(os.stat(self.path.parent, follow_symlinks=False))
            content = read_regular_file(self.path, LARGEST)
            header = json.loads(content[:HEADER])
            slots = np.frombuffer(content[HEADER:]).reshape(SLOTS, -1)
            newest = slots[slots[:, 0].argmax()]
            joints = header['joints']
            if header['version'] == VERSION and newest[0] > 0.0 and len(newest) == 1 + len(joints):
                receivers = frozenset(Endpoint(*map(str, each)) for each in header['receivers'])
                efforts = dict(zip(joints, newest[1:].tolist()))
                earlier = frozenset(map(str, header.get('earlier', ())))
                self._content_read = content
                return RecordedCommand(receivers, efforts, earlier)
        return RecordedCommand()

    def begin(
            self, joints: Sequence[str], receivers: frozenset[Endpoint],
            earlier: Sequence[str] = ()) -> None:
        """
        Record commands of these joints to these receivers from now on.

        :param earlier: the processes that received earlier commands.

        The previous record is replaced at the first :meth:`write`.  Where no file can be written,
        there is none, and :attr:`error` says why.
        """
        self._slots, self._content_read, self.error = None, b'', ''
        try:
            self._begin(joints, receivers, earlier)
        except (OSError, ValueError) as error:
            self._give_up(error)

    def _begin(
            self, joints: Sequence[str], receivers: frozenset[Endpoint], earlier: Sequence[str],
            ) -> None:
        header = json.dumps({
            'version': VERSION, 'joints': list(joints), 'receivers': sorted(receivers),
            'earlier': list(earlier)}).encode()
        if len(header) > HEADER:
            raise OSError(f'{len(header)} bytes are too many for the header of a record')
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        check_private(os.stat(self.path.parent, follow_symlinks=False))
        size = HEADER + SLOTS * (1 + len(joints)) * np.dtype(float).itemsize
        self._unfinished.write_bytes(header.ljust(HEADER) + bytes(size - HEADER))
        with self._unfinished.open('r+b') as file:
            memory = mmap(file.fileno(), size)
        self._slots = np.frombuffer(memory, offset=HEADER).reshape(SLOTS, -1)
        self._count = 0

    def write(self, effort: np.ndarray) -> None:
        """Record a command, shape (joints,), in the units of the drives."""
        if self._slots is None:
            return
        self._count += 1
        slot = self._slots[self._count % SLOTS]
        slot[0] = 0.0  # not whole
        slot[1:] = effort
        slot[0] = self._count
        if self._count == 1:
            try:
                self._unfinished.replace(self.path)
            except OSError as error:
                self._give_up(error)

    def discard(self) -> None:
        """
        Record nothing until :meth:`begin`, since the last command is not held any more.

        The record that :meth:`read` has found is removed, too, unless it has been written to
        since: then it belongs to another living process, whose node has the same name.
        """
        if self._slots is not None or self._is_as_read():
            self._unlink()
        self._slots, self._content_read = None, b''

    def _is_as_read(self) -> bool:
        try:
            return bool(self._content_read) and (
                read_regular_file(self.path, LARGEST) == self._content_read)
        except OSError:
            return False

    def _give_up(self, error: Exception) -> None:
        """Go on without a record, and without the previous one, which is no longer true."""
        self._slots = None
        self.error = f'{self.path}: {getattr(error, "strerror", None) or error}'
        self._unlink()

    def _unlink(self) -> None:
        for path in (self._unfinished, self.path):
            with suppress(OSError):
                path.unlink()
