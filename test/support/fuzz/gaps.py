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
Gaps between efforts while joint states arrive.

A machine that is busy with other things makes gaps, too.  So the time in which the states
themselves were late, and in which the node's threads waited for a processor, is taken off.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import time
from typing import NamedTuple

PERIOD = 0.01
"""Time between two states [s]."""


class Gap(NamedTuple):
    """
    The time between two efforts [s].

    :ivar own: without the part that the machine explains.
    :ivar after: what was sent just before.
    """

    own: float
    whole: float
    after: str


class Beat(NamedTuple):
    """
    A state that was sent.

    :ivar at: the time of the system [s].
    :ivar waited: for how long the node's threads have waited for a processor so far [s].
    """

    at: float
    waited: float


class Gaps:
    """What was sent and answered lately."""

    def __init__(self) -> None:
        self._beats: deque[Beat] = deque(maxlen=20_000)
        self._sent: deque[tuple[float, str]] = deque(maxlen=1000)
        self._efforts: deque[float] = deque()

    def state(self, beat: Beat) -> None:
        """Take note of a state that was sent."""
        self._beats.append(beat)

    def hostile(self, at: float, what: str) -> None:
        """Take note of a hostile message that was sent."""
        self._sent.append((at, what))

    def effort(self, at: float) -> None:
        """Take note of an effort."""
        self._efforts.append(at)

    def found(self) -> list[Gap]:
        """Return the gaps between efforts that were not looked at before, up to the last state."""
        gaps, beats = [], list(self._beats)
        while len(self._efforts) > 1 and beats and self._efforts[1] <= beats[-1].at:
            last = self._efforts.popleft()
            if self._efforts[0] - last > 2.0 * PERIOD:
                gaps.append(self._gap(last, self._efforts[0], beats))
        return gaps

    def waited_since(self, at: float) -> float:
        """Return for how long the node's threads have waited for a processor since a time [s]."""
        waited = [beat.waited for beat in list(self._beats) if beat.at >= at]
        return waited[-1] - waited[0] if waited else 0.0

    def _gap(self, last: float, now: float, beats: list[Beat]) -> Gap:
        times = [beat.at for beat in beats]
        spanned = beats[max(0, bisect_right(times, last) - 1):bisect_left(times, now) + 1]
        silent = sum(max(0.0, later.at - earlier.at - 2.0 * PERIOD)
                     for earlier, later in zip(spanned, spanned[1:]))
        waited = spanned[-1].waited - spanned[0].waited
        before = ['nothing', *(what for at, what in self._sent if at <= last + PERIOD)]
        return Gap(max(0.0, now - last - silent - waited), now - last, before[-1])


class Pulse(Thread):
    """
    A thread that sends states steadily, whatever else the process does.

    :param send: sends one.
    :param process: the number of the node's.
    """

    def __init__(self, gaps: Gaps, send: Callable[[], None], process: int) -> None:
        super().__init__(daemon=True)
        self._gaps = gaps
        self._send = send
        self._threads = Path(f'/proc/{process}/task')
        self._waited: dict[Path, int] = {}  # by thread, also of those that have ended [ns]
        self._is_over = Event()

    def run(self) -> None:
        """Send until the end."""
        while not self._is_over.wait(PERIOD):
            self._gaps.state(Beat(time(), self._look()))
            self._send()

    def end(self) -> None:
        """Send no more."""
        self._is_over.set()
        if self.is_alive():
            self.join()

    def _look(self) -> float:
        """Return for how long all threads of the node have waited for a processor so far [s]."""
        with suppress(OSError):  # the node has ended
            for each in self._threads.iterdir():
                with suppress(OSError):  # it has ended, or the kernel does not count this
                    self._waited[each] = int((each / 'schedstat').read_text().split()[1])
        return 1e-9 * sum(self._waited.values())
