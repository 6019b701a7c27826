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
Prepared recordings in memory, and on the disk where they are long.

Prepared samples are read several times: for the comparison with the URDF, the fit, its residuals,
and the comparison with the result.  Each time they are read in order and in chunks, so they need
not be in memory.  Those of an hour at 500 Hz of six joints take 0.4 GB.
"""

from __future__ import annotations

from dataclasses import replace
import os
from pathlib import Path
from tempfile import gettempdir, TemporaryFile
from typing import Any

import numpy as np

from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.recording import PreparedRecording

IN_MEMORY = 2**28
"""Default number of bytes of samples that a store keeps in memory."""

FOLDER = '/var/tmp'  # noqa: S108 (the file has no name)
"""Folder of temporary files on the disk (``/tmp`` often is memory); TMPDIR prevails."""

FILE_SIZE = 2**27
"""
Bytes of a temporary file, unless one recording needs more.

A process may have some 1000 files open, and each file stays open as long as one of its recordings
is used: a recording that is prepared in parts of a minute may have as many parts.
"""

ALIGNMENT = 64
"""Arrays begin at a multiple of so many bytes."""

_ARRAYS = ('times', 'q', 'qd', 'qdd', 'tau', 'moves')


class SampleStore:
    """
    Keeps the samples of prepared recordings: the first ones in memory, all others on the disk.

    They are in temporary files without a name, which the system removes with the recordings.

    :param in_memory: how many bytes are kept in memory.
    :param folder: of the temporary files; None for that of the variable TMPDIR, or
        :data:`FOLDER`.
    """

    def __init__(self, in_memory: int = IN_MEMORY, folder: Path | None = None) -> None:
        self._left = in_memory
        self._folder = folder
        self._file: _File | None = None

    def kept(self, recording: PreparedRecording) -> PreparedRecording:
        """
        Return a recording with the same samples, which may be on the disk and cannot be changed.

        :raises RecordingError: where the disk has no room for them.
        """
        size = sum(getattr(recording, name).nbytes for name in _ARRAYS)
        if size <= self._left:
            self._left -= size
            return recording
        folder = self._folder or _folder()
        needed = size + ALIGNMENT * len(_ARRAYS)
        try:
            if self._file is None or self._file.left < needed:
                self._file = _File(folder, max(needed, FILE_SIZE))
            written: dict[str, Any] = {
                name: self._file.written(getattr(recording, name)) for name in _ARRAYS}
        except OSError as error:
            self._file = None
            raise RecordingError(
                f'the samples of {recording.name!r} take {1e-6 * size:.3g} MB, which cannot be '
                f'written to a temporary file in {folder}: {error.strerror or error}; set the '
                'variable TMPDIR to a folder on a disk with more room') from error
        return replace(recording, **written)


def _folder() -> Path:
    """Return where temporary files are."""
    return Path(os.environ.get('TMPDIR') or (
        FOLDER if Path(FOLDER).is_dir() else gettempdir()))  # not on Windows


class _File:
    """
    A temporary file without a name, to which arrays are appended.

    It has its full size from the beginning: one mapping serves all arrays, and what is not written
    takes no room on the disk.

    :ivar left: how many bytes are not written.
    """

    def __init__(self, folder: Path, size: int) -> None:
        # Without a buffer, an array that is not written as a whole is an error at once.
        self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (arrays outlive it)
        self._file.truncate(size)
        self._pages = np.memmap(self._file, np.uint8, 'r', 0, (size,))
        self.left = size

    def written(self, array: np.ndarray) -> np.ndarray:
        """
        Append an array, and return it as the pages of this file.

        :raises OSError: where the disk has no room for it.
        """
        if not array.size:
            return array
        begin = len(self._pages) - self.left
        self._file.seek(begin)
        rest = np.ascontiguousarray(array).data.cast('B')
        while len(rest):
            rest = rest[self._file.write(rest):]
        self.left -= -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        pages = self._pages[begin:begin + array.nbytes]
        return np.asarray(pages.view(array.dtype).reshape(array.shape))
