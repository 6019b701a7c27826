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
"""What happens to the node and to the arm in an episode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TYPE_CHECKING

from closed_loop.motions import QuinticFrom
import numpy as np

if TYPE_CHECKING:
    from missions.episode import Episode

AHEAD = 0.04
"""How far ahead the points of a stream are [s]."""

STEP_RESPONSE = 3.7
"""Largest speed after a step of the reference by one radian, critically damped at 10 rad/s."""


@dataclass
class Event:
    """
    Something that begins at a time and lasts for a while.

    :ivar at: when it begins [s].
    :ivar duration: how long it lasts [s].
    """

    at: float
    duration: float

    def begin(self, episode: Episode) -> None:
        """Do what happens at the beginning."""

    def each(self, episode: Episode) -> None:
        """Do what happens before each cycle while it lasts."""

    def end(self, episode: Episode) -> None:
        """Do what happens at the end."""

    @property
    def what(self) -> str:
        """Return what happens, for people."""
        return type(self).__name__.lower()

    def __str__(self) -> str:
        return f'{self.at:6.3f} s  {self.what}'


@dataclass
class Move(Event):
    """A trajectory to a goal, from wherever the arm is, which may replace another one."""

    goal: np.ndarray

    def begin(self, episode: Episode) -> None:
        loop = episode.loop
        rest = np.zeros(loop.arm.size)
        path = QuinticFrom(
            loop.plant.positions, loop.plant.velocities, self.goal, self.duration)
        if episode.attempt(lambda: loop.follow([(self.duration, self.goal, rest, rest)])):
            episode.lead(path, self.duration)

    @property
    def what(self) -> str:
        return f'move within {self.duration:.2f} s to {_text(self.goal)}'


@dataclass
class Stream(Event):
    """Points at 50 Hz, each 40 ms ahead, with a velocity that rises first and falls at last."""

    velocity: np.ndarray
    _position: np.ndarray = field(init=False)
    _next: float = field(init=False)
    _is_followed: bool = field(init=False, default=False)

    RISE = 0.3

    def begin(self, episode: Episode) -> None:
        self._position, self._next = episode.loop.plant.positions, episode.loop.time
        peak = float(np.abs(self.velocity).max())
        present = float(np.abs(episode.loop.plant.velocities).max())
        episode.allow(1.5 * peak, self.duration)
        # Its first point is where the arm is, in motion and beside where it is wanted.
        beside = 1.875 * episode.deviation() / AHEAD
        episode.allow(1.5 * peak + present + beside, self.RISE)

    def each(self, episode: Episode) -> None:
        if episode.loop.time < self._next - 1e-9:
            return
        self._next += 0.02
        since = episode.loop.time - self.at
        share = float(np.clip(
            min(since, self.duration - AHEAD - since) / self.RISE, 0.0, 1.0))
        self._position = self._position + 0.02 * share * self.velocity
        ahead = self._position + AHEAD * share * self.velocity
        self._is_followed = episode.attempt(
            lambda: episode.loop.follow([(AHEAD, ahead, share * self.velocity)]))

    def end(self, episode: Episode) -> None:
        if self._is_followed:
            episode.note_end(self._position)

    @property
    def what(self) -> str:
        return f'stream for {self.duration:.2f} s with {_text(self.velocity)} rad/s'


@dataclass
class References(Event):
    """
    The references of a trajectory controller, at 100 Hz.

    :ivar goal: to which its motion leads, shape (joints,) [rad].
    :ivar jump: by how much its reference jumps at half the time, shape (joints,) [rad].
    :ivar pause: for how long nothing is received, from a third of the time on [s].
    """

    goal: np.ndarray
    jump: np.ndarray
    pause: float
    _path: QuinticFrom = field(init=False)

    def begin(self, episode: Episode) -> None:
        loop = episode.loop
        self._path = QuinticFrom(
            loop.plant.positions, np.zeros(loop.arm.size), self.goal, self.duration)
        peak = episode.lead(self._path, self.duration, is_reference=True)
        size = float(np.abs(self.jump).max())
        if size:
            episode.allow(peak + STEP_RESPONSE * size, 1.0, after=0.5 * self.duration)
        if self.pause:
            episode.allow(
                peak + STEP_RESPONSE * peak * self.pause, 1.0,
                after=self.duration / 3.0 + self.pause)
        if peak * self.pause > SMALLEST_CAUSE:
            episode.disturb(self.pause, 'pause', after=self.duration / 3.0)
        if size > SMALLEST_CAUSE:
            episode.disturb(0.5 * self.duration, 'jump')

    def each(self, episode: Episode) -> None:
        loop = episode.loop
        since = loop.time - self.at
        third = self.duration / 3.0
        if loop.cycle % max(1, round(0.01 / loop.period)):
            return
        positions, velocities = self._path.at(since)
        if since > 0.5 * self.duration:
            positions = positions + self.jump
        if episode.has_position_loop:
            loop.drives.reference = lambda time: (positions, velocities)
        if not third < since < third + self.pause:
            episode.attempt(lambda: loop.refer(positions, velocities))

    @property
    def what(self) -> str:
        return (f'references for {self.duration:.2f} s to {_text(self.goal)}, jump '
                f'{_text(self.jump)}, pause {self.pause:.2f} s')


@dataclass
class Hit(Event):
    """Somebody or something pushes the joints."""

    efforts: np.ndarray

    def begin(self, episode: Episode) -> None:
        episode.disturb(self.duration, 'hit')
        episode.loop.plant.push[:] = self.efforts

    def end(self, episode: Episode) -> None:
        episode.loop.plant.push[:] = 0.0

    @property
    def what(self) -> str:
        return f'push of {_text(self.efforts)} Nm for {self.duration:.3f} s'


@dataclass
class Gap(Event):
    """No joint states are received."""

    def begin(self, episode: Episode) -> None:
        episode.loop.sensors.silent_until = episode.loop.steady + self.duration
        if self.duration > 0.5 * episode.loop.policy.settings.state_timeout:
            episode.disturb(self.duration, 'gap')

    @property
    def what(self) -> str:
        return f'no joint states for {self.duration:.3f} s'


@dataclass
class Off(Event):
    """Disabled for a while."""

    def begin(self, episode: Episode) -> None:
        episode.attempt(lambda: episode.loop.enable(False))

    def end(self, episode: Episode) -> None:
        episode.attempt(episode.loop.enable)

    @property
    def what(self) -> str:
        return f'disabled for {self.duration:.2f} s'


@dataclass
class Acknowledge(Event):
    """Somebody calls ~/enable with true, as after a fault."""

    def begin(self, episode: Episode) -> None:
        episode.attempt(episode.loop.enable)

    @property
    def what(self) -> str:
        return 'enable'


@dataclass
class Change(Event):
    """Other settings for a while, or for good where it lasts for ever."""

    settings: dict[str, Any]
    _before: dict[str, Any] = field(init=False)

    def begin(self, episode: Episode) -> None:
        settings = episode.loop.policy.settings
        self._before = {name: getattr(settings, name) for name in self.settings}
        episode.attempt(lambda: episode.loop.change(**self.settings))

    def end(self, episode: Episode) -> None:
        episode.attempt(lambda: episode.loop.change(**self._before))

    @property
    def what(self) -> str:
        return f'for {self.duration:.2f} s ' + ', '.join(
            f'{name} = {getattr(value, "value", value)}' for name, value in self.settings.items())


@dataclass
class Payload(Event):
    """
    The arm carries something for a while.

    :ivar mass: [kg].
    :ivar told: whether the node is told, before it is picked up.
    """

    mass: float
    told: bool

    def begin(self, episode: Episode) -> None:
        self._set(episode, self.mass)

    def end(self, episode: Episode) -> None:
        self._set(episode, 0.0)

    def _set(self, episode: Episode, mass: float) -> None:
        episode.disturb(0.5, 'payload')
        episode.judge.holds_other_load = not episode.loop.policy.is_sending
        episode.loop.plant.set_payload(mass)
        if self.told:
            episode.attempt(lambda: episode.loop.set_model_payload(mass))

    @property
    def what(self) -> str:
        known = '' if self.told else ', of which the node knows nothing,'
        return f'payload of {self.mass:.2f} kg{known} for {self.duration:.2f} s'


@dataclass
class ClockStep(Event):
    """Somebody sets the ROS clock."""

    seconds: float

    def begin(self, episode: Episode) -> None:
        episode.loop.step_ros_clock(self.seconds)

    @property
    def what(self) -> str:
        return f'the ROS clock is set by {self.seconds:+.2f} s'


@dataclass
class Imu(Event):
    """
    The imu at the base, which is tilted.

    :ivar largest: angle of the tilt [rad].
    :ivar tilt_at: when it begins; it takes 2 s [s].
    :ivar silent: from when to when the imu sends nothing [s].
    """

    largest: float
    tilt_at: float
    silent: tuple[float, float]

    def begin(self, episode: Episode) -> None:
        if self.silent[1] - self.silent[0] > 0.0:
            episode.disturb(self.silent[1] - self.silent[0] + 1.0, 'imu', after=self.silent[0])

    def each(self, episode: Episode) -> None:
        loop = episode.loop
        angle = self.largest * np.clip((loop.time - self.tilt_at) / 2.0, 0.0, 1.0)
        gravity = np.array([-9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)])
        loop.plant.set_gravity(gravity)
        is_due = loop.cycle % max(1, round(0.005 / loop.period)) == 0
        if is_due and not self.silent[0] < loop.time < self.silent[1]:
            base = loop.policy.robot.tree.root
            episode.attempt(
                lambda: loop.policy.take_imu(base, (-gravity).tolist(), loop.now))

    @property
    def what(self) -> str:
        silence = '' if self.silent[0] == self.silent[1] else (
            f', silent from {self.silent[0]:.2f} to {self.silent[1]:.2f} s')
        return (f'imu; the base tilts by {np.degrees(self.largest):.0f} degrees from '
                f'{self.tilt_at:.2f} s on{silence}')


@dataclass
class Restart(Event):
    """The node ends as after SIGINT, and starts again."""

    def begin(self, episode: Episode) -> None:
        episode.loop.end_node()

    def end(self, episode: Episode) -> None:
        episode.loop.restart_node()

    @property
    def what(self) -> str:
        return f'SIGINT, and another start {self.duration:.2f} s later'


SMALLEST_CAUSE = 0.1
"""A jump of the reference by more than this may lead to a fault [rad]."""


def _text(values: np.ndarray) -> str:
    return '[' + ' '.join(f'{value:.3g}' for value in values) + ']'
