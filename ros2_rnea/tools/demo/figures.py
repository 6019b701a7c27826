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
"""The results of the demo, computed from the recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ros2_rnea.tools.demo.arm import Arm

Array = NDArray[np.float64]
Timing = Mapping[str, 'float | int | None']


FULL_RATE = 500.0
"""Rate of joint states, where the machine is fast enough [Hz]."""

LOWER_RATES = (250.0, 125.0)
"""Rates that are tried otherwise [Hz]."""

QUEUED = 25
"""Maximum number of efforts that arrive together, because the recording process had to wait."""

SETTLING = 0.8
"""Time for the arm to come to rest after a change [s]."""


class Log(NamedTuple):
    """
    A recording, with all times relative to one start time [s].

    :param times: of the joint states, shape (N,).
    :param positions: of the joints, shape (N, n) [rad or m].
    :param motors: what the motors exert, feedback and feedforward, shape (N, n) [Nm or N].
    :param sent_times: when efforts of the node arrived, shape (M,).
    :param sent: these efforts, shape (M, n) [Nm or N].
    """

    times: Array
    positions: Array
    motors: Array
    sent_times: Array
    sent: Array


class Section(NamedTuple):
    """
    A part of a scene.

    :param title: for people.
    :param start: [s].
    :param end: [s].
    :param settling: from the start until errors are those of the section [s].
    """

    title: str
    start: float
    end: float
    settling: float = SETTLING


class Stop(NamedTuple):
    """
    A stop in the middle of a motion.

    :param at: when it was asked for [s].
    :param rest: when the arm has to be at rest [s].
    :param velocities: of the joints at that time, shape (n,) [rad/s or m/s].
    :param accelerations: of the joints at that time, shape (n,) [rad/s^2 or m/s^2].
    """

    at: float
    rest: float
    velocities: Array
    accelerations: Array

    def ways(self, log: Log) -> Array:
        """Return how far each joint was from where the stop was asked for, shape (n,)."""
        positions = log.positions[log.times >= self.at]
        if not len(positions):
            return np.full(len(self.velocities), np.nan)
        return np.max(np.abs(positions - positions[0]), axis=0)

    def time_to_rest(self, log: Log, speed: float) -> float:
        """
        Return how long it took until no joint was faster than a speed any more [s].

        :param speed: [rad/s or m/s].
        """
        after = log.times >= self.at
        if after.sum() < 2:
            return float('nan')
        speeds = np.abs(np.diff(log.positions[after], axis=0)).max(axis=1)
        steps = np.diff(log.times[after])
        fast = log.times[after][1:][speeds > speed * steps]
        return float(np.max(fast, initial=self.at) - self.at)

    def drift(self, log: Log) -> float:
        """Return how far any joint has moved after it had to be at rest [rad or m]."""
        positions = log.positions[log.times >= self.rest]
        return float(np.max(np.abs(positions - positions[0]))) if len(positions) else (
            float('nan'))


@dataclass(frozen=True)
class Episode:
    """
    The recording of one scene and its evaluation.

    :param title: for people.
    :param sections: of the scene, one after the other.
    :param log: of its whole course.
    :param errors: measured minus desired positions at the times of the log, not a number while
        none is desired, shape (N, n) [deg or mm].
    :param timing: the driver's figures on messages, by name.
    :param new_start: when another process begins to receive the efforts, which start anew then;
        none: never.
    :param right_effort: what should be sent at last, shape (n,) [Nm or N]; none: that is open.
    :param limited_commands: how many commands the rate limit has to hold back, because the
        motion itself needs a faster change.
    :param stop: where the node moves the arm alone, and is disabled in motion; none: never.
    """

    title: str
    sections: tuple[Section, ...]
    log: Log
    errors: Array
    timing: Timing
    right_effort: Array | None = None
    new_start: float | None = None
    limited_commands: int = 0
    stop: Stop | None = None

    def rms(self, section: Section) -> float:
        """
        Return the root of the joints' summed mean squared errors in a section, once settled.

        It is not a number for a section in which nothing is desired or measured.
        """
        times = self.log.times
        squares = np.sum(self.errors**2, axis=1)[
            (times >= section.start + section.settling) & (times < section.end)]
        return float(np.sqrt(np.mean(squares))) if len(squares) else float('nan')

    @property
    def improvement(self) -> float:
        """Return by what factor the last section's errors are smaller than the one's before."""
        *_, unknown, known = map(self.rms, self.sections)
        return unknown / known

    def largest_step(self, section: Section | None = None) -> float:
        """Return the largest difference between an effort sent and the one before [Nm or N]."""
        steps, times = np.abs(np.diff(self.log.sent, axis=0)), self.log.sent_times[1:]
        if self.new_start is not None:  # nobody has received both efforts of that step
            others = np.arange(len(times)) != np.searchsorted(times, self.new_start)
            steps, times = steps[others], times[others]
        if section is not None:
            steps = steps[(times >= section.start) & (times < section.end)]
        return float(np.max(steps, initial=0.0))

    def beyond_rate(self, rate: float) -> float:
        """
        Return by how much an effort was more than a rate limit away from the one before [Nm or N].

        What waited in a queue arrives together after a pause: the longest of the last
        :data:`QUEUED` times between arrivals is what an effort may have had.

        :param rate: the limit [Nm/s or N/s].
        """
        steps, pauses = np.abs(np.diff(self.log.sent, axis=0)), np.diff(self.log.sent_times)
        longest = np.array([
            pauses[max(0, place - QUEUED):place + 1].max() for place in range(len(pauses))])
        beyond = steps - rate * longest[:, None]
        if self.new_start is not None:  # nobody has received both efforts of that step
            others = np.arange(len(pauses)) != np.searchsorted(
                self.log.sent_times[1:], self.new_start)
            beyond = beyond[others]
        return float(np.max(beyond, initial=0.0))

    @property
    def cycle_period(self) -> float:
        """
        Return the median of the times between efforts [s].

        It is not a number for fewer than two efforts.
        """
        periods = np.diff(self.log.sent_times)
        return float(np.median(periods)) if len(periods) else float('nan')

    @property
    def first_after_start(self) -> float:
        """Return the largest effort of the first that another process received [Nm or N]."""
        if self.new_start is None:
            return float('nan')
        index = int(np.searchsorted(self.log.sent_times, self.new_start))
        return float(np.max(np.abs(self.log.sent[index]))) if index < len(self.log.sent) else (
            float('nan'))

    @property
    def final_deviation(self) -> float:
        """Return how far the effort that was sent last is from the right one [Nm or N]."""
        if self.right_effort is None or not len(self.log.sent):
            return float('nan')
        return float(np.max(np.abs(self.log.sent[-1] - self.right_effort)))

    def sent_after(self, section: Section) -> float:
        """Return for how long efforts still came after a section had begun, within it [s]."""
        times = self.log.sent_times
        inside = times[(times >= section.start) & (times < section.end)]
        return float(np.max(inside, initial=section.start) - section.start)


@dataclass(frozen=True)
class Recording:
    """
    The tracking error during one motion, from its first moment to its last.

    The lead-in before the motion and the rest after it are not part of it.

    :param times: of the joint states since the start of the motion, increasing, shape (N,) [s].
    :param errors: measured minus desired position at these times, shape (N, n) [degrees, or
        millimetres of sliding joints; so are all others].
    :param timing: the driver's figures on messages, by name.
    """

    times: Array
    errors: Array
    timing: Timing

    @property
    def rms(self) -> Array:
        """Return the root of the mean squared error of each joint, shape (n,) [degrees]."""
        return np.sqrt(np.mean(self.errors**2, axis=0))

    @property
    def maximum(self) -> Array:
        """Return the largest error of each joint, shape (n,) [degrees]."""
        return np.max(np.abs(self.errors), axis=0)

    @property
    def arm_rms(self) -> float:
        """Return the root of the joints' summed squared RMS [degrees]."""
        return float(np.linalg.norm(self.rms))

    @property
    def arm_errors(self) -> Array:
        """Return the root of the joints' summed squared errors at each time, shape (N,)."""
        return np.linalg.norm(self.errors, axis=1)

    def minus(self, other: Recording) -> Recording:
        """
        Return what this recording has more than another one of the same motion.

        :param other: whose errors, interpolated to the times of this one, are subtracted.
        """
        others = [np.interp(self.times, other.times, column) for column in other.errors.T]
        return Recording(self.times, self.errors - np.stack(others, axis=1), self.timing)


class LimitedCommands(NamedTuple):
    """
    How many commands of the node its rate limit held back, by its diagnostics.

    :param limited: these.
    :param commands: all.
    """

    limited: float
    commands: float

    @property
    def share(self) -> float:
        """Return the share of all commands; it is not a number where there were none."""
        return self.limited / self.commands if self.commands else float('nan')


@dataclass(frozen=True)
class Results:
    """
    All measurements of the demo.

    :param arm: whose joints' order is that of all columns.
    :param recordings: by the key of the phase; none when the scene ``tracking`` was left out.
    :param gravity_errors: of the gravity service against the engine, largest over the joints for
        each pose asked [Nm].
    :param episodes: of the other scenes, by their names.
    :param rate_limited: the node's commands that its rate limit held back.
    :param repeated: titles of the phases and scenes that were played again because the machine
        had paused.
    :param rate: of the joint states of all phases but those that have a lower one [Hz].
    """

    arm: Arm
    recordings: Mapping[str, Recording]
    gravity_errors: tuple[float, ...]
    episodes: Mapping[str, Episode]
    rate_limited: LimitedCommands
    repeated: tuple[str, ...] = ()
    rate: float = FULL_RATE

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names of the joints."""
        return self.arm.joint_names

    def added_error(self, phase: str) -> float:
        """
        Return by how much a force at the tip makes full feedforward worse [degrees].

        The errors of the full feedforward without force are subtracted, time by time and joint
        by joint; the root of the summed mean squares is taken of what is left.

        :param phase: key of the phase with the force.
        """
        return self.recordings[phase].minus(self.recordings['feedforward']).arm_rms

    def share_late(self) -> float:
        """
        Return the share of the joint states after which the arm waited over 20 ms for a command.

        Phases in which the node sends nothing at all do not count.
        """
        return _share(self._timings(), *_LATE)

    def share_slow(self) -> float:
        """Return the share of the simulated milliseconds that came more than 20 ms late."""
        return _share(self._timings(), *_SLOW)

    def _timings(self) -> list[Timing]:
        return [*(recording.timing for recording in self.recordings.values()),
                *(episode.timing for episode in self.episodes.values())]


def share_too_late(timing: Timing) -> float:
    """Return the larger of the shares of :class:`Results` in a single phase or scene."""
    return max(_share([timing], *names) for names in (_LATE, _SLOW))


_LATE = 'older_than_20_ms', 'states_published', 'states_answered'
_SLOW = 'engine_20_ms_late', 'engine_ticks', 'engine_ticks'


def _share(timings: Sequence[Timing], part: str, whole: str, where: str) -> float:
    """Return what part of the whole is late, of timings that have what `where` names."""
    timings = [timing for timing in timings if timing[where]]
    parts, wholes = (sum(timing[name] or 0 for timing in timings) for name in (part, whole))
    return parts / wholes if wholes else 0.0
