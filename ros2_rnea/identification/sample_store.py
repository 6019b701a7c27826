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
and the comparison with the result.  Each time they are read in order and in chunks, so that they
do not have to be in memory.  Those of an hour at 500 Hz of six joints take 0.4 GB.
"""

from __future__ import annotations

from dataclasses import replace
import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, IO

import numpy as np

from ros2_rnea.errors import RecordingError
from ros2_rnea.identification.recording import PreparedRecording

IN_MEMORY = 2**28
"""How many bytes of samples a store keeps in memory, by default."""

FOLDER = '/var/tmp'  # noqa: S108 (the file has no name)
"""Where temporary files are on the disk (``/tmp`` often is memory); TMPDIR prevails."""

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

    def kept(self, recording: PreparedRecording) -> PreparedRecording:
        """
        Return a recording with the same samples, which may be on the disk and cannot be changed.

        :raises RecordingError: where the disk has no room for them.
        """
        size = sum(getattr(recording, name).nbytes for name in _ARRAYS)
        if size <= self._left:
            self._left -= size
            return recording
        folder = self._folder or Path(os.environ.get('TMPDIR', FOLDER))
        try:
            with TemporaryFile(dir=folder) as file:
                written: dict[str, Any] = {
                    name: _on_disk(getattr(recording, name), file) for name in _ARRAYS}
                return replace(recording, **written)
        except OSError as error:
            raise RecordingError(
                f'the samples of {recording.name!r} take {1e-6 * size:.3g} MB, which cannot be '
                f'written to a temporary file in {folder}: {error.strerror or error}; set the '
                'variable TMPDIR to a folder on a disk with more room') from error


def _on_disk(array: np.ndarray, file: IO[bytes]) -> np.ndarray:
    """Append an array to a file, and return it as the pages of this file."""
    if not array.size:
        return array
    file.seek(0, os.SEEK_END)
    offset = file.tell()
    np.ascontiguousarray(array).tofile(file)
    return np.asarray(np.memmap(file, array.dtype, 'r', offset, array.shape))
