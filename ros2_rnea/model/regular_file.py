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
Files from outside: nothing else than a regular file is read, and only one of a bounded size.

A pipe that this process already holds is another matter: who started it meant it to be read.

A FIFO would keep its reader waiting for ever, and ``/dev/zero`` fills the memory.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
import re
import stat
from typing import BinaryIO

MIB = 1 << 20

LARGEST_TEXT = 64 * MIB
"""Largest size of a file that is read as a whole and holds text [bytes]; no robot needs more."""


def read_regular_file(path: Path | str, most: int = LARGEST_TEXT) -> bytes:
    """
    Return the content of a file.

    :param most: the largest size that it may have [bytes].
    :raises OSError: where it cannot be read, is no regular file or is larger; the last two are
        known before anything is read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a FIFO would block
    with open(descriptor, 'rb') as file:
        _check(os.fstat(descriptor), path, most)
        content = file.read(most + 1)
    check_size(len(content), most)  # it may have grown
    return content


def open_pipe(path: Path | str) -> int | None:
    """
    Return the pipe that a path such as ``/dev/fd/63`` stands for, which a shell has opened.

    A shell writes such a path for ``<(command)``.  A FIFO with a name of its own is none.

    :raises OSError: where this process has no such file open.
    """
    name = {'/dev/stdin': '/dev/fd/0'}.get(os.fspath(path), os.fspath(path))
    found = re.fullmatch(r'/(?:dev|proc/self)/fd/([0-9]{1,9})', name)
    descriptor = int(found.group(1)) if found else None
    return descriptor if descriptor is not None and stat.S_ISFIFO(
        os.fstat(descriptor).st_mode) else None


def read_pipe(file: BinaryIO, most: int = LARGEST_TEXT) -> bytes:
    """
    Return what comes through an open pipe, until it ends.

    :raises OSError: where that is more than ``most`` bytes, of which no more are read.
    """
    content = file.read(most + 1)
    check_size(len(content), most)
    return content


def check_regular_file(path: Path | str) -> None:
    """
    Check that a file is a regular one, whatever its size.

    :raises OSError: where it is not, or is not there.
    """
    _check(os.stat(path), path)


def check_size(size: int, most: int) -> None:
    """
    Check the size of a file [bytes].

    :raises OSError: where it is too large.
    """
    if size > most:
        raise OSError(f'it has {size} bytes or more; at most {most} are read')


def _check(status: os.stat_result, path: Path | str, most: int | None = None) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError('it is no regular file, but a pipe, a device or a socket')
    if most is not None:
        check_size(status.st_size, most)
