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
"""The events of an episode, drawn so that an arm without faults can do what is asked of it."""

from __future__ import annotations

from closed_loop.loop import ClosedLoop
from missions.events import (
    Acknowledge,
    Change,
    ClockStep,
    Event,
    Gap,
    Hit,
    Imu,
    Move,
    Off,
    Payload,
    References,
    Restart,
    Stream,
)
from missions.setups import Setup, Use
import numpy as np
from ros2_rnea.control.settings import Mode

QUIET = 2.5
"""Nothing happens in the last seconds of an episode [s]."""

LARGEST_SHARE = 0.5
"""Of the velocity limits, that a motion needs at most."""

ACCELERATION = 4.0
"""That a motion needs at most [rad/s^2]."""

KINDS = {
    Use.COMPUTED_TORQUE: {
        'move': 5.0, 'slow': 3.0, 'stream': 2.0, 'references': 2.0, 'hit': 2.0, 'gap': 2.0,
        'off': 1.5, 'mode': 1.0, 'payload': 1.0, 'clock': 0.7, 'settings': 2.0, 'restart': 0.7,
        'enable': 1.0},
    Use.FEEDFORWARD: {
        'move': 5.0, 'slow': 3.0, 'references': 3.0, 'hit': 1.0, 'gap': 2.0, 'off': 1.5,
        'payload': 1.0, 'clock': 0.7, 'settings': 1.0, 'restart': 0.7},
    Use.GUIDED: {
        'hit': 6.0, 'gap': 2.0, 'off': 1.5, 'payload': 1.5, 'clock': 0.3, 'settings': 1.0,
        'restart': 0.7, 'move': 0.5},
}
"""How often each kind of event happens, relative to the others."""


HITS = ((0.15, 0.2, 1.0), (0.7, 0.01, 0.06), (2.0, 0.005, 0.05), (0.9, 0.3, 0.8))
"""Pushes by a hand, light and hard blows, and a load: share of the effort limits, and time [s]."""


def drawn_events(
        random: np.random.Generator, setup: Setup, loop: ClosedLoop, length: float,
        ) -> list[Event]:
    """
    Draw the events of an episode.

    :param length: of the episode [s].
    """
    draw = _Draw(random, setup, loop)
    weights = KINDS[setup.use]
    shares = np.array(list(weights.values())) / sum(weights.values())
    events: list[Event] = []
    if setup.has_imu:
        events.append(draw.imu(length))
    time = 0.1 + float(random.exponential(0.4))
    if setup.use is Use.COMPUTED_TORQUE:
        events.append(draw.move(time))
        time += float(random.exponential(0.8))
    while time < length - QUIET:
        kind = list(weights)[int(random.choice(len(shares), p=shares))]
        event = getattr(draw, kind)(time)
        latest = length - QUIET - time
        if kind in ('stream', 'references', 'restart', 'off') and event.duration > latest:
            break
        if kind not in ('move', 'slow'):
            event.duration = min(event.duration, latest)
        events.append(event)
        time += float(random.exponential(0.7))
        if kind in ('off', 'restart', 'stream', 'references', 'mode'):
            time = max(time, event.at + event.duration + 0.1)
    return events


class _Draw:
    """One event of each kind."""

    def __init__(
            self, random: np.random.Generator, setup: Setup, loop: ClosedLoop) -> None:
        self._random, self._setup, self._loop = random, setup, loop
        plant = loop.plant
        self._speeds = plant.velocity_limits * LARGEST_SHARE
        lower, upper = plant.position_limits
        start = plant.arm.start
        self._lower = np.maximum(lower + 0.25, start - 0.7)
        self._upper = np.minimum(upper - 0.25, start + 0.7)
        self._size = plant.arm.size

    def _goal(self) -> np.ndarray:
        return self._random.uniform(self._lower, self._upper)

    def _duration(self, distance: float) -> float:
        """Return how long a motion takes at least, wherever it begins [s]."""
        return max(1.875 * distance / float(self._speeds.min()),
                   np.sqrt(5.8 * distance / ACCELERATION), 0.4)

    def move(self, at: float) -> Event:
        goal = self._goal()
        shortest = self._duration(1.4)
        return Move(at, float(shortest * self._random.uniform(1.0, 2.0)), goal)

    def slow(self, at: float) -> Event:
        return Move(at, float(self._random.uniform(5.0, 9.0)), self._goal())

    def stream(self, at: float) -> Event:
        velocity = self._random.uniform(-0.3, 0.3, self._size)
        return Stream(at, float(self._random.uniform(0.8, 1.5)), velocity)

    def references(self, at: float) -> Event:
        duration = self._duration(1.4) * float(self._random.uniform(1.0, 1.5))
        jump = np.zeros(self._size)
        if self._random.random() < 0.4:
            largest = 0.03 if self._setup.use is Use.FEEDFORWARD else float(
                self._random.choice([0.15, 0.6]))
            jump = self._random.uniform(-largest, largest, self._size)
        pause = float(self._random.choice([0.0, 0.0, 0.05, 0.3]))
        return References(at, float(duration), self._goal(), jump, pause)

    def hit(self, at: float) -> Event:
        limits = self._loop.plant.effort_limits
        share, shortest, longest = 0.15, 0.2, 1.0  # a hand
        if self._setup.use is not Use.GUIDED:
            share, shortest, longest = HITS[int(self._random.integers(len(HITS)))]
        hit = self._random.random(self._size) < 0.4
        return Hit(at, float(self._random.uniform(shortest, longest)),
                   hit * self._random.uniform(-share, share, self._size) * limits)

    def gap(self, at: float) -> Event:
        return Gap(at, float(self._random.choice([0.02, 0.045, 0.15, 0.4])))

    def off(self, at: float) -> Event:
        return Off(at, float(self._random.choice([0.03, 0.3, 2.5])))

    def mode(self, at: float) -> Event:
        return Change(at, float(self._random.uniform(0.2, 1.5)), {
            'mode': Mode.GRAVITY_COMPENSATION})

    def payload(self, at: float) -> Event:
        largest = self._loop.arm.payload
        told = bool(self._random.random() < 0.6)
        mass = float(self._random.uniform(0.2, 1.0) * largest)
        return Payload(at, float(self._random.uniform(0.5, 3.0)), mass, told)

    def clock(self, at: float) -> Event:
        return ClockStep(at, 0.0, float(self._random.choice([-3600.0, -0.5, 0.2, 30.0])))

    def settings(self, at: float) -> Event:
        options = [
            {'blend_time': float(self._random.choice([0.05, 0.5, 1.0]))},
            {'path_tolerance': float(self._random.uniform(0.15, 0.3))},
            {'effort_rate_limit': float(self._random.choice([0.0, 200.0, 1000.0]))},
            {'gravity': (0.1, 0.0, -9.8)} if not self._setup.has_imu else {'imu_timeout': 0.3},
        ]
        if self._setup.use is Use.COMPUTED_TORQUE:
            gain = float(self._random.choice([64.0, 81.0, 121.0]))
            options += 2 * [{
                'position_gains': (gain,), 'velocity_gains': (2.0 * gain ** 0.5,)}]
        chosen = options[int(self._random.integers(len(options)))]
        return Change(at, float(self._random.uniform(0.2, 2.0)), chosen)

    def restart(self, at: float) -> Event:
        return Restart(at, float(self._random.uniform(2.4, 3.0)))

    def enable(self, at: float) -> Event:
        return Acknowledge(at, 0.0)

    def imu(self, length: float) -> Event:
        silent = (0.0, 0.0)
        if self._random.random() < 0.3:
            begin = float(self._random.uniform(1.5, length - QUIET - 2.0))
            silent = (begin, begin + float(self._random.uniform(0.2, 1.5)))
        return Imu(0.0, length, float(np.radians(self._random.uniform(0.0, 20.0))),
                   float(self._random.uniform(0.5, 3.0)), silent)
