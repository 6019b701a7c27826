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
Object files in the user's cache folder: a robot is compiled once, not at each start.

What comes out of the cache is run.  So it is used only where nobody else can put something in: in
a folder that is the user's own, that others cannot write to, and that is no symbolic link.  Nor
may others rename or replace one of the folders above it.  It is kept open while it is used, so
nothing can take its place.  Everywhere else, what is put in is kept in memory, and the reason is
said once.

Object files may also be shipped, for example with a container image, in the folders that an
environment variable names.  These are only read, and may belong to root too, who can change every
program anyway; nobody else may write to them or to their files.

Each file says what it is, under which key, how long, and the SHA-256 of what it holds.  A file
that is torn, foreign, old or damaged is removed, and the caller finds nothing.  Files are written
next to their place and moved there in one step, so processes may read and write as they like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
import errno
import grp
import hashlib
import os
from pathlib import Path
import pwd
import secrets
import stat
import struct
import time

MAGIC = b'ros2_rnea object'
FORMAT = 1
HEADER = struct.Struct('<16s I 32s Q 32s')  # magic, format, key, length, SHA-256

MAX_FILES = 500
MAX_BYTES = 200_000_000
MAX_IN_MEMORY = 50

ABANDONED = 3600.0
"""Age from which an unfinished file is taken as abandoned by its writer [s]."""

SHIPPED = 'ROS2_RNEA_KERNEL_PATH'
"""The environment variable with folders of shipped object files, separated by colons."""

ROOT = 0
"""The user identifier of root."""

MAX_LINKS = 40
"""Maximum number of symbolic links in a path; Linux has the same limit."""

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
    """

    def __init__(
            self,
            folder: Path | None,
            reason: str | None = None,
            shipped: Sequence[Path] = (),
            is_public: bool = False) -> None:
        self._folder = folder
        self._shipped = tuple(shipped)
        self._is_public = is_public
        self._refused = {
            path: text for path in self._shipped if (text := _why_not_shipped(path))}
        self._memory: dict[str, bytes] = {}
        self._reason = reason

    @property
    def folder(self) -> Path | None:
        """Return the folder of its own."""
        return self._folder

    @property
    def refused(self) -> tuple[str, ...]:
        """Return why shipped folders, or the first file in one, are not used, in sentences."""
        return tuple(self._refused.copy().values())  # another thread may add one

    @property
    def reason(self) -> str | None:
        """Return why object files are kept in memory only; None as long as they are stored."""
        return self._reason

    def get(self, key: str) -> bytes | None:
        """Return the object file of a key; None where there is none, or a damaged one."""
        data = self._memory.get(key)
        if data is not None:
            return data
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
                data = self._shipped_data(path, key)
        return data

    def _shipped_data(self, path: Path, key: str) -> bytes | None:
        """Return the object file of a key in a shipped folder, or keep why it is not used."""
        reason = 'it is damaged'
        try:
            with _private(path, ROOT) as folder:
                data = _contents(folder, key, ROOT)
            if data is not None:
                return data
        except FileNotFoundError:  # another robot's kernels are shipped there
            return None
        except OSError as error:
            reason = error.strerror or str(error)
        self._refused.setdefault(path, (
            f'{SHIPPED} names {path}, of which {key}{_SUFFIX} is refused and compiled '
            f'again: {reason}'))
        return None

    def put(self, key: str, data: bytes) -> None:
        """Keep the object file of a key; in memory where it cannot be written to disk."""
        if self._folder is not None:
            try:
                if self._is_public:
                    _make_public_folder(self._folder)
                else:
                    self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                with _private(self._folder) as folder:
                    _write(folder, key, data, 0o644 if self._is_public else 0o600)
                    if not self._is_public:  # others decide what is shipped
                        _make_room(folder)
                return
            except OSError as error:
                self._keep_reason(error)
        # Each step is atomic, because other threads run this too.  A lock would stay locked in a
        # process that is forked while it is held.
        self._memory[key] = data
        for oldest in list(self._memory)[:-MAX_IN_MEMORY]:
            self._memory.pop(oldest, None)

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


def _make_public_folder(path: Path) -> None:
    """Make a folder and those above it, readable by all whatever the user's mask says."""
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)


def why_not_readable(path: Path) -> str:
    """Return why other users cannot read a folder and its object files; empty where they can."""
    for entry in (path, *sorted(path.glob('*' + _SUFFIX))):
        mode = entry.stat().st_mode
        needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
        if mode & needed != needed:
            return f'others cannot read {entry} ({stat.filemode(mode)})'
    return ''


def why_not_reachable(path: Path) -> str:
    """Return which folder above an absolute path keeps other users from it; empty: none does."""
    for folder in _folders_above(path):
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            return f'others cannot enter {folder} ({stat.filemode(mode)})'
    return ''


@contextmanager
def _private(path: Path, *more_owners: int) -> Iterator[int]:
    """
    Open a folder that belongs to the user, and return its descriptor.

    Whatever is done through the descriptor is done in this folder, even if its path is changed.

    :param more_owners: user identifiers of others whom it may belong to.
    :raises OSError: where it cannot be opened, or others could change it or put another folder
        in its place.
    """
    if path.is_symlink():  # for the message; what counts is O_NOFOLLOW
        raise PermissionError(errno.EPERM, 'it is a symbolic link, so it is not used')
    _check_folders_above(path.absolute())
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


def _check_folders_above(path: Path) -> None:
    """
    Check that only root and the user decide which file or folder is at an absolute path.

    The condition is that of sshd for the files of a user: every folder on the way belongs to one
    of them, and nobody else may write to it.  Two more things are allowed: a folder with the
    sticky bit, such as /tmp, in which others cannot rename what is not theirs, and a folder that
    the user's private group may write to, as folders are with the usual umask 002.

    :raises PermissionError: naming the folder that others may change.
    """
    owners = (os.geteuid(), ROOT)
    for folder in _folders_above(path):
        status = folder.stat()
        others = stat.S_IWOTH if _is_private_group(status.st_gid) else stat.S_IWGRP | stat.S_IWOTH
        reason = ''
        if status.st_uid not in owners:
            reason = f'belongs to user {status.st_uid}'
        elif status.st_mode & others and not status.st_mode & stat.S_ISVTX:
            reason = f'may be changed by others ({stat.filemode(status.st_mode)})'
        if reason:
            raise PermissionError(
                errno.EPERM, f'{folder}, above it, {reason}, so it is not used')


def _folders_above(path: Path) -> Iterator[Path]:
    """
    Yield the folders whose entries decide what is at an absolute path; links are followed.

    :raises OSError: where a symbolic link belongs to another user, or there are too many.
    """
    folder, names, links = Path(path.anchor), [*reversed(path.parts[1:])], 0
    while names:
        yield folder
        name = names.pop()
        entry = folder / name
        if name == '..':
            folder = folder.parent
        elif not entry.is_symlink():
            folder = entry
        else:
            links += 1
            owner = entry.lstat().st_uid
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if owner not in (os.geteuid(), ROOT):
                raise PermissionError(
                    errno.EPERM, f'the symbolic link {entry} belongs to user {owner}, so it is '
                                 'not used')
            target = Path(os.readlink(entry))
            if target.is_absolute():
                folder, target = Path(target.anchor), target.relative_to(target.anchor)
            names.extend(reversed(target.parts))


def _is_private_group(group: int) -> bool:
    """Return whether a group has the user's name and no member but the user."""
    try:
        user, members = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return members.gr_name == user and {*members.gr_mem} <= {user}


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
            if size > MAX_BYTES or number > MAX_FILES:
                _remove(folder, name)


def _remove(folder: int, name: str) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)
