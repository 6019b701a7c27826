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
Object files in the user's cache folder, so that a robot is compiled once and not at each start.

What comes out of the cache is run.  So it is used only where nobody else can put something in: in
a folder that is the user's own, that others cannot write to, and that is no symbolic link.  It is
held on to while it is used, so that nothing can be put in its place meanwhile.  Everywhere else,
what is put in is kept in memory, and the reason is said once.

Object files may also be shipped, for example with a container image, in the folders that an
environment variable names.  These are only read, and may belong to root too, who can change every
program anyway; nobody else may write to them or to their files.

Each file says what it is, under which key, how long, and the SHA-256 of what it holds.  A file
that is torn, foreign, old or damaged is removed, and the caller finds nothing.  Files are written
beside their place and moved there at once, so processes may read and write as they like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
import errno
import hashlib
import os
from pathlib import Path
import secrets
import stat
import struct
import time

MAGIC = b'ros2_rnea object'
FORMAT = 1
HEADER = struct.Struct('<16s I 32s Q 32s')  # magic, format, key, length, SHA-256

MOST_FILES = 500
MOST_BYTES = 200_000_000
MOST_IN_MEMORY = 50

ABANDONED = 3600.0
"""Age from which an unfinished file is taken as abandoned by its writer [s]."""

SHIPPED = 'ROS2_RNEA_KERNEL_PATH'
"""The environment variable with folders of shipped object files, separated by colons."""

ROOT = 0
"""The user identifier of root."""

_SUFFIX = '.object'
_UNFINISHED = '.writing'


def key_of(*parts: str) -> str:
    """Return the key for all that an object file depends on."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, 'little') + data)
    return digest.hexdigest()


class ObjectCache:
    """
    Object files by key, in a folder or, where that cannot be used, in memory.

    :param folder: of its own, made where it is missing; None for memory alone.
    :param reason: why there is no folder.
    :param shipped: folders that are only read, after the own one.
    :param is_public: whether other users may read the folder and its files, to ship them.
    :ivar refused: why folders of shipped object files are not used, a sentence for each.
    """

    def __init__(
            self,
            folder: Path | None,
            reason: str | None = None,
            shipped: Sequence[Path] = (),
            is_public: bool = False) -> None:
        self._folder = folder
        self._shipped = tuple(shipped)
        self._folder_mode, self._file_mode = (0o755, 0o644) if is_public else (0o700, 0o600)
        self.refused = tuple(filter(None, map(_why_not_shipped, self._shipped)))
        self._memory: dict[str, bytes] = {}
        self._reason = reason
        self._said = False

    @property
    def folder(self) -> Path | None:
        """Return the folder of its own."""
        return self._folder

    def take_reason(self) -> str | None:
        """Return why object files are kept in memory only, at the first call; later None."""
        if self._said or self._reason is None:
            return None
        self._said = True
        return self._reason

    def get(self, key: str) -> bytes | None:
        """Return the object file of a key; None where there is none, or a damaged one."""
        if key in self._memory:
            return self._memory[key]
        data = None
        if self._folder is not None:
            try:
                with _private(self._folder) as folder:
                    data = _read(folder, key)
            except FileNotFoundError:
                pass
            except OSError as error:
                self._keep_reason(error)
        for path in self._shipped:
            if data is None:
                with suppress(OSError), _private(path, ROOT) as folder:
                    data = _contents(folder, key, ROOT)
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keep the object file of a key; in memory where it cannot be written to disk."""
        if self._folder is not None:
            try:
                _make_folder(self._folder, self._folder_mode)
                with _private(self._folder) as folder:
                    _write(folder, key, data, self._file_mode)
                    _make_room(folder)
                return
            except OSError as error:
                self._keep_reason(error)
        while len(self._memory) >= MOST_IN_MEMORY:
            del self._memory[next(iter(self._memory))]
        self._memory[key] = data

    def _keep_reason(self, error: OSError) -> None:
        self._reason = self._reason or f'{self._folder}: {error.strerror or error}'


def open_cache(
        folder: Path | None = None, environment: Mapping[str, str] = os.environ) -> ObjectCache:
    """
    Return the user's cache.

    :param folder: None for ``ros2_rnea`` in ``$XDG_CACHE_HOME``, or in ``~/.cache``.
    :param environment: where :data:`SHIPPED` names further folders to read.
    """
    if not {os.open, os.stat, os.unlink, os.rename} <= os.supports_dir_fd:
        return ObjectCache(None, 'this system cannot hold on to a folder while it is used')
    shipped = [Path(name) for name in environment.get(SHIPPED, '').split(os.pathsep) if name]
    folder = folder or _folder_of_user(environment)
    if folder is None:
        return ObjectCache(None, 'neither XDG_CACHE_HOME nor HOME names a folder', shipped)
    return ObjectCache(folder, shipped=shipped)


def _folder_of_user(environment: Mapping[str, str]) -> Path | None:
    # The XDG base directory specification says that relative paths are to be ignored.
    for variable, inside in (('XDG_CACHE_HOME', ''), ('HOME', '.cache')):
        path = Path(environment.get(variable, ''))
        if path.is_absolute():
            return path / inside / 'ros2_rnea'
    return None


def _why_not_shipped(path: Path) -> str:
    """Return why a folder of shipped object files is not used; empty where it is."""
    try:
        if not path.is_absolute():
            raise OSError(errno.EINVAL, 'it is not an absolute path')
        with _private(path, ROOT):
            return ''
    except OSError as error:
        return (f'{SHIPPED} names {path}, which is not used, so that robots may be compiled '
                f'again: {error.strerror or error}')


def _make_folder(path: Path, mode: int) -> None:
    """Make a folder, with its mode whatever the user's mask says, unless it exists."""
    with suppress(FileExistsError):
        path.mkdir(mode=mode, parents=True)
        path.chmod(mode)


@contextmanager
def _private(path: Path, *more_owners: int) -> Iterator[int]:
    """
    Open a folder that belongs to the user, and return its descriptor.

    Whatever is done through the descriptor is done in this folder, even if its path is changed.

    :param more_owners: user identifiers of others whom it may belong to.
    :raises OSError: where it cannot be opened, or is not private.
    """
    if path.is_symlink():  # for the message; what counts is O_NOFOLLOW
        raise PermissionError(errno.EPERM, 'it is a symbolic link, so it is not used')
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        check_private(os.fstat(folder), *more_owners)
        yield folder
    finally:
        os.close(folder)


def check_private(status: os.stat_result, *more_owners: int) -> None:
    """
    Check that nobody else can change a file, or put one into a folder.

    :param more_owners: user identifiers of others whom it may belong to.
    :raises PermissionError: where it belongs to another user, or others may write to it.
    """
    owners = (os.geteuid(), *more_owners)
    if status.st_uid not in owners:
        raise PermissionError(errno.EPERM, f'it belongs to user {status.st_uid}, not to '
                                           f'{" or ".join(map(str, owners))}, so it is not used')
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, f'others may write to it '
                                           f'({stat.filemode(status.st_mode)}), so it is not used')


def _read(folder: int, key: str) -> bytes | None:
    """Return a file's contents and mark it as used; remove it where it is damaged."""
    name = key + _SUFFIX
    data = None
    with suppress(PermissionError):
        data = _contents(folder, key)
    if data is None:
        _remove(folder, name)
        return None
    with suppress(OSError):  # a folder on a read-only disk is good to read
        os.utime(name, dir_fd=folder)
    return data


def _contents(folder: int, key: str, *more_owners: int) -> bytes | None:
    """Return the contents of a file, or None where it is damaged or of another key."""
    name = key + _SUFFIX
    try:
        # A pipe of that name would let the opening wait forever.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:  # a symbolic link
            return None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        check_private(status, *more_owners)
        with open(descriptor, 'rb', closefd=False) as file:
            header, data = file.read(HEADER.size), file.read()
    finally:
        os.close(descriptor)
    return data if header == _header(key, data) else None


def _header(key: str, data: bytes) -> bytes:
    return HEADER.pack(
        MAGIC, FORMAT, bytes.fromhex(key), len(data), hashlib.sha256(data).digest())


def _write(folder: int, key: str, data: bytes, mode: int) -> None:
    """Write a temporary file in the same folder and rename it."""
    unfinished = f'{key}.{os.getpid()}.{secrets.token_hex(8)}{_UNFINISHED}'
    descriptor = os.open(
        unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    try:
        with open(descriptor, 'wb') as file:
            os.fchmod(descriptor, mode)
            file.write(_header(key, data))
            file.write(data)
        os.replace(unfinished, key + _SUFFIX, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        _remove(folder, unfinished)
        raise


def _make_room(folder: int) -> None:
    """Remove the least recently used files, and those that were never finished."""
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # another process makes room as well
                status = entry.stat(follow_symlinks=False)
                files.append((status.st_mtime, status.st_size, entry.name))
    size = number = 0
    for used, length, name in sorted(files, reverse=True):
        if name.endswith(_UNFINISHED):
            if used < time.time() - ABANDONED:
                _remove(folder, name)
        elif name.endswith(_SUFFIX):
            size += length
            number += 1
            if size > MOST_BYTES or number > MOST_FILES:
                _remove(folder, name)


def _remove(folder: int, name: str) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)
