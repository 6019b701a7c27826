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
Parts of recordings, by time.

A recording is filtered forward and backward, which takes some fifteen times the memory of its
numbers.  So one of hours is prepared in parts, each as if it were a recording: with a low-pass and
delays of its own, and without some tenths of a second at its ends, where the filter settles.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.recording import Recording

_ARRAYS = ('times', 'positions', 'velocities', 'efforts', 'wrenches')


class Part(NamedTuple):
    """
    The part of a recording that is read.

    :ivar begin: its first time, from the begin of the recording on [s].
    :ivar end: the time before which it ends, from there on [s].
    """

    begin: float = 0.0
    end: float = inf

    def words(self) -> str:
        """Return where it is, to be said after the name of the recording; nothing for all."""
        if self == Part():
            return ''
        return f' from {self.begin:g} s ' + (f'to {self.end:g} s' if self.end < inf else 'on')

    def check(self) -> None:
        """
        Check that there is such a part.

        :raises RecordingError: with the two times.
        """
        if not 0.0 <= self.begin < self.end:
            raise RecordingError(
                f'the part from {self.begin:g} s to {self.end:g} s of a recording is given; it '
                'needs a begin that is not negative, and a later end')


def parts_of(part: Part, recording: Recording, longest: float) -> list[Part]:
    """
    Return parts of the same length, which together have all samples of a recording.

    :param part: that the recording is of a whole one, by which they are told.
    :param longest: that each may have [s].
    :raises RecordingError: where that is no length, or the recording has no times.
    """
    since = _since_begin(recording)
    since = since[np.isfinite(since)]
    if not len(since):
        raise RecordingError(f'recording {recording.name!r} has no times to divide it by')
    if not longest > 0.0:
        raise RecordingError(f'parts of {longest:g} s are asked for; they need a positive length')
    end = max(min(part.end, float(since[-1])), part.begin)
    count = max(1, ceil((end - part.begin) / longest))
    inner = [part.begin + (end - part.begin) * k / count for k in range(1, count)]
    # A bag is cut by the times of reception, from which stamps differ a little.
    first = min(part.begin, float(since.min()))
    last = max(part.end, float(np.nextafter(since.max(), inf)))
    return [Part(*ends) for ends in zip([first, *inner], [*inner, last])]


def cut(recording: Recording, part: Part, path: Path) -> Recording:
    """
    Return the samples of a recording whose times are in a part of it, also where times go back.

    :param part: that is cut out; :class:`Part` without times for the recording itself.
    :param path: of the recording; the parts of one recording have the same.
    :raises NothingUsableError: where they are fewer than two.
    """
    if part == Part():
        return recording
    since = _since_begin(recording)
    rows = np.flatnonzero((since >= part.begin) & (since < part.end))
    arrays = {name: array[rows] for name in _ARRAYS
              for array in (getattr(recording, name),) if array is not None}
    return replace(
        recording, name=path.name + part.words(), part_of=str(path),
        begin=float(since[rows[0]]) if len(rows) else part.begin, **arrays)


def _since_begin(recording: Recording) -> np.ndarray:
    """Return the times of the samples since the begin of the whole recording, shape (n,) [s]."""
    times = recording.times
    return recording.begin + times - next(iter(times[np.isfinite(times)]), np.nan)
