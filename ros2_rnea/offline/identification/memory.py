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
How much of a recording is read, and whether that fits into memory, which is asked before reading.

A recording is filtered forward and backward, so it is in memory as a whole while it is prepared.
What is prepared takes a sixth of that, and may be on the disk (:mod:`.sample_store`).  So a
recording of hours is prepared in parts, each as if it were a recording: with a low-pass and delays
of its own, and without some tenths of a second at its ends, where the filter settles.
"""

from __future__ import annotations

from math import ceil, inf
from pathlib import Path
from typing import NamedTuple

from ros2_rnea.errors import RecordingError

try:
    import resource
except ImportError:  # not on Windows, where the limit of a process is not known
    resource = None  # type: ignore[assignment]

BYTES = 300
"""
Memory that reading and preparing take for each sample of a joint, at most (measured); and once
more for each sample, for its time and for the joints of the robot that were not recorded.
"""


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


def parts_of(part: Part, duration: float, longest: float) -> list[Part]:
    """
    Return parts of the same length, which together are a part of a recording.

    :param part: to be divided.
    :param duration: of the whole recording [s].
    :param longest: that each may have [s].
    :raises RecordingError: where that is no length, or the recording has none.
    """
    if not duration >= 0.0:
        raise RecordingError('a recording without times cannot be read in parts')
    if not longest > 0.0:
        raise RecordingError(f'parts of {longest:g} s are asked for; they need a positive length')
    end = min(part.end, duration)
    count = max(1, ceil((end - part.begin) / longest))
    edges = [part.begin + (end - part.begin) * k / count for k in range(count)]
    return [Part(*ends) for ends in zip(edges, [*edges[1:], part.end])]


def check_memory(name: str, samples: float, joints: int) -> None:
    """
    Check that a recording can be prepared in the memory that is available.

    :param name: of the recording.
    :param samples: how many it has, about.
    :raises RecordingError: with both sizes, and what would do.
    """
    needed, available = BYTES * samples * (joints + 1), available_memory()
    if needed > available:
        raise RecordingError(
            f'recording {name!r} has about {samples:.2g} samples of {joints} joints; preparing '
            f'them takes up to {_gigabytes(needed)}, and {_gigabytes(available)} of memory are '
            f'available: use parts of at most {100.0 * available / needed:.2g} % of it, one after '
            'the other (--parts-of, in seconds) or one alone (--from and --to; part of the reader '
            'in Python)')


def available_memory() -> float:
    """Return how many bytes this process can still allocate; infinite where that is not known."""
    free = inf
    try:
        for line in Path('/proc/meminfo').read_text(encoding='ascii').splitlines():
            if line.startswith('MemAvailable:'):
                free = 1024.0 * float(line.split()[1])
        if resource is not None:
            limit, _ = resource.getrlimit(resource.RLIMIT_AS)
            if limit != resource.RLIM_INFINITY:
                pages = int(Path('/proc/self/statm').read_text(encoding='ascii').split()[0])
                free = min(free, limit - pages * resource.getpagesize())
    except OSError:  # no Linux
        return free
    return max(min(free, available_in_container()), 0.0)


def available_in_container(groups: Path = Path('/sys/fs/cgroup')) -> float:
    """
    Return how many bytes the container of this process can still take; infinite without a limit.

    A container has a control group (version 2) of Linux.  Pages of files that the kernel gives up
    first do not count as taken.

    :param groups: where the control groups are mounted.
    """
    try:
        limit = (groups / 'memory.max').read_text(encoding='ascii').strip()
        if limit == 'max':
            return inf
        taken = int((groups / 'memory.current').read_text(encoding='ascii'))
        statistics = dict(line.split() for line in (
            groups / 'memory.stat').read_text(encoding='ascii').splitlines())
    except OSError:  # no container, or none of this kind
        return inf
    return float(int(limit) - taken + int(statistics.get('inactive_file', 0)))


def _gigabytes(size: float) -> str:
    return f'{1e-9 * size:.2g} GB' if size < 1e11 else f'{1e-9 * size:.0f} GB'
