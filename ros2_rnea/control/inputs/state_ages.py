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
How old a message is when it is read: a joint state, and each other input.

Middleware says when it received a message, on the wall clock.  A callback may run much later: the
thread that runs it was busy, or the whole process was stopped.  In the latter case the time of
reception is not reliable either, because the thread that records it was stopped too.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import inf, isfinite

from ros2_rnea.errors import MessageError

WINDOW = 10.0
"""The smallest delay of the last one to two windows counts [s], because clocks drift."""

SAMPLING_PERIOD, SAMPLING_TIME = 0.05, 0.005
"""Period at which delays are measured while they are not needed, and duration of this [s]."""

LARGEST_DRIFT = 0.01
"""A wall clock that moves by more than this against the steady clock was set [s]."""

LONGEST_DOUBT = 2.0
"""Time for which delays count after the node stood still [s]; later, clocks may have been set."""

CATCHING_UP = 0.005
"""Messages whose delay becomes smaller by more than this [s] come from a queue."""

LONGEST_RESENDING = 10.0
"""Messages lost while the node stood still are sent again within this time after it [s]."""

LARGEST_CLOCK_DIFFERENCE = 0.05
"""Clocks of hosts that differ by no more than this are taken for the same one [s]."""

MAX_PUBLISHERS = 64
"""Delays of more publishers than this are not kept."""

TIMES_PER_SECOND = 1_000_000_000
"""The times of middleware are in nanoseconds."""


def check_age(age: float, timeout: float, parameter: str) -> None:
    """
    Check that a message is young enough to be used.

    :param age: when it is read [s]; infinite: it may be of any age.
    :param timeout: up to which it is used [s]; the name of that parameter is for people.
    :raises MessageError: where it is not.
    """
    if age > timeout:
        raise MessageError(
            f'it has waited for {age:.3f} s before it was read, longer than {parameter} '
            f'({timeout:g} s)' if isfinite(age) else
            'it may have waited while this process did not run')


class StateAges:
    """
    The age of each message on one topic, from the times that the middleware gives.

    The time of reception gives the age at once: a wall clock that is set later does not matter.  A
    middleware that gives none (rmw_cyclonedds) leaves the delay since the message was sent: as the
    clocks of two hosts may differ, the age is how much longer it took than the fastest message of
    that publisher.

    After a gap of the steady clock in which this process did not run, messages may be older than
    their reception says.  Then the delay decides, until one of that publisher has come without
    waiting.  Where no delay from before the gap is known, because the wall clock was set or the
    publisher is new, none has come without waiting before the delays have ceased to shrink, as
    they do while a queue is read.

    :ivar uses_delays: whether the middleware gives no times of reception.
    """

    def __init__(self) -> None:
        self.uses_delays = False
        self._alive_at = inf
        self._last_gap = -inf, -inf
        self._clock_difference = 0.0  # to the publisher of the last command, with its latency [s]
        self._gap_end: float | None = None  # of a gap after which messages may have waited
        self._known: set[Hashable] = set()  # publishers whose delays are known from before it
        self._prompt: set[Hashable] = set()  # those of which one came without waiting after it
        self._paces: dict[Hashable, tuple[float, float]] = {}  # since when, and from which delay
        self._wall_less_steady = 0.0
        self._sampling_ends = self._next_sampling = -inf
        self._delays: dict[Hashable, _SmallestDelay] = {}
        self._publisher: Hashable = None
        self._smallest = _SmallestDelay()

    @property
    def publisher_count(self) -> int:
        """Return of how many publishers a delay or its decrease is kept."""
        return max(len(self._delays), len(self._paces))

    def note_alive(self, now: float, longest_gap: float) -> None:
        """
        Note that this process runs; to be called several times in each ``longest_gap``.

        :param now: on the steady clock [s].
        :param longest_gap: if the last call is longer ago, the process stood still [s].
        """
        if now - self._alive_at > longest_gap:
            self._known = set(self._delays) if self._gap_end is None else (
                self._known | self._prompt)
            self._gap_end = now
            self._last_gap = self._alive_at, now
            self._prompt.clear()
            self._paces.clear()
        self._alive_at = now

    def age(
            self, received: int, sent: int, now: float, wall: int, publisher: Hashable,
            longest: float) -> float:
        """
        Return the age of a message that is read now [s]; infinite: it may be of any age.

        :param received: when it was received, on the wall clock [ns]; 0: not given.
        :param sent: when it was sent or measured, on the publisher's clock [ns]; 0: not given.
        :param now: on the steady clock [s].
        :param wall: on the wall clock [ns].
        :param publisher: what tells messages of different publishers apart.
        :param longest: age up to which a message counts as one that did not wait [s].
        """
        if received > 0 and self._gap_end is None and self._is_enough_known(now):
            return max((wall - received) / TIMES_PER_SECOND, 0.0)
        self._discard_delays_if_clock_was_set(now, 1e-9 * wall)
        delay = self._delay_beyond_smallest(sent, now, wall, publisher)
        if received > 0:
            age = max((wall - received) / TIMES_PER_SECOND, 0.0)
        else:
            self.uses_delays = True
            age = 0.0 if delay is None else delay
        if self._gap_end is None:
            return age
        if now - self._gap_end > LONGEST_DOUBT:
            self._gap_end = None
            return age
        if publisher not in self._prompt:
            if self._may_have_waited(sent, delay, now, wall, publisher, longest):
                return inf
            self._prompt.add(publisher)
            if publisher in self._paces:  # what waited is no measure, as where clocks were set
                self._smallest.restart((wall - sent) / TIMES_PER_SECOND, now)
                age = age if received > 0 else 0.0
        return age

    def age_of_command(
            self, received: int, sent: int, now: float, wall: int, longest: float) -> float:
        """
        Return the age of a message that is not one of a stream, whose delays would tell it [s].

        Where it may have waited in a gap, or was sent in one and lost, and then sent again, it is
        the time since the message was sent first.  That is as good as the clock of its publisher,
        like a time in the message; one that was lost is recognized where that clock has agreed
        with this host's before.  Where the clock does not fit the gap, the age of a message that
        may have waited is infinite: not known.

        :param longest: how long after the end of a gap messages may still come from a queue [s].
        """
        age = max((wall - received) / TIMES_PER_SECOND, 0.0) if received > 0 else 0.0
        begin, end = self._last_gap
        since_sent = (wall - sent) / TIMES_PER_SECOND
        fits = sent > 0 and (age - LARGEST_CLOCK_DIFFERENCE <= since_sent
                             <= now - begin + LARGEST_CLOCK_DIFFERENCE)
        if begin <= now - age <= end + min(longest, LONGEST_DOUBT):
            return max(age, since_sent) if fits else inf
        was_lost = (
            fits and now - since_sent <= end and now - end <= LONGEST_RESENDING
            and abs(self._clock_difference) <= LARGEST_CLOCK_DIFFERENCE)
        if sent > 0 and not was_lost and now - age > end + LONGEST_DOUBT:
            self._clock_difference = since_sent - age
        return since_sent if was_lost else age

    def _may_have_waited(
            self, sent: int, delay: float | None, now: float, wall: int, publisher: Hashable,
            longest: float) -> bool:
        """Return whether a message after a gap may have waited for longer than ``longest``."""
        if not sent:  # nothing is known but when it was read
            return self._gap_end is not None and now - self._gap_end <= longest
        if delay is not None and publisher in self._known:
            return delay > longest
        if len(self._paces) >= MAX_PUBLISHERS:
            self._paces.clear()
        total = (wall - sent) / TIMES_PER_SECOND
        since, former = self._paces.setdefault(publisher, (now, total))
        if total < former - CATCHING_UP:
            self._paces[publisher] = now, total
            return True
        return now - since <= longest

    def _is_enough_known(self, now: float) -> bool:
        """Return whether no delay is needed now, since those of some messages are enough."""
        if self._sampling_ends < now < self._next_sampling:
            return True
        if now >= self._next_sampling:
            self._sampling_ends = now + SAMPLING_TIME
            self._next_sampling = now + SAMPLING_PERIOD
        return False

    def _delay_beyond_smallest(
            self, sent: int, now: float, wall: int, publisher: Hashable) -> float | None:
        """Return by how much longer a message took than others; None where that is unknown."""
        if not sent:
            return None
        if publisher != self._publisher or not self._delays:
            if len(self._delays) >= MAX_PUBLISHERS:
                self._forget_delays()
            self._publisher = publisher
            self._smallest = self._delays.setdefault(publisher, _SmallestDelay())
        return self._smallest.excess((wall - sent) / TIMES_PER_SECOND, now)

    def _discard_delays_if_clock_was_set(self, now: float, wall: float) -> None:
        difference = wall - now
        if abs(difference - self._wall_less_steady) > LARGEST_DRIFT:
            self._forget_delays()
        self._wall_less_steady = difference

    def _forget_delays(self) -> None:
        self._delays.clear()
        self._known.clear()
        self._prompt.clear()
        self._paces.clear()


class _SmallestDelay:
    """The smallest delay of the last one to two windows."""

    def __init__(self) -> None:
        self._former = self._present = inf
        self._window_end = -inf

    def restart(self, delay: float, now: float) -> None:
        """Let a delay be the smallest one so far."""
        self._former, self._present, self._window_end = inf, delay, now + WINDOW

    def excess(self, delay: float, now: float) -> float | None:
        """Return by how much a delay exceeds the smallest one so far; None: it is the first."""
        if now > self._window_end:
            self._former, self._present = self._present, inf
            self._window_end = now + WINDOW
        smallest = min(self._former, self._present)
        if delay < self._present:
            self._present = delay
        return None if smallest == inf else max(delay - smallest, 0.0)
