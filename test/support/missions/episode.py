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
"""One episode: what is drawn, what happens, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from closed_loop.drives import PositionDrives
from closed_loop.motions import QuinticFrom
from missions.drawing import drawn_events
from missions.events import Event
from missions.judge import Command, Disturbance, Failure, Judge
from missions.setups import ARMS, drawn_setup, Setup, Use
import numpy as np
from ros2_rnea.errors import RneaError

LENGTH = 9.0
"""Duration of an episode [s]."""

BRAKES_CLOSE = 0.1
"""After nothing was sent for this long, the brakes of the arm close [s]."""


@dataclass
class Outcome:
    """
    What became of an episode.

    :ivar failure: which criterion is not met; empty: all are.
    :ivar events: what happened, for people.
    :ivar refused: the inputs that were refused, with the reason.
    :ivar statuses: those that were reported.
    :ivar worst: see :class:`.Judge`.
    :ivar took: processor time [s].
    """

    seed: int
    number: int
    setup: Setup
    failure: str = ''
    events: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    statuses: tuple[str, ...] = ()
    has_fault: bool = False
    has_started: bool = False
    worst: tuple[float, float] = (0.0, 0.0)
    took: float = 0.0

    @property
    def report(self) -> str:
        """Return a failure for people, with the command that repeats it."""
        refused = [f'  refused: {line}' for line in self.refused]
        return '\n'.join([
            f'./run missions --seed {self.seed} --episode {self.number}', f'  {self.setup}',
            *(f'  {line}' for line in self.events), *refused, f'  FAILED {self.failure}'])


class Episode:
    """
    An episode that is repeated exactly by its two numbers.

    :param seed: of the mission.
    :param number: of the episode.
    :param arms: among which one is drawn.
    """

    def __init__(self, seed: int, number: int, arms: tuple[str, ...] = tuple(ARMS)) -> None:
        self._random = np.random.default_rng([seed, number])
        self.setup = drawn_setup(self._random, arms)
        self.loop = self.setup.loop(int(self._random.integers(2 ** 31)))
        self.judge = Judge(self.loop, self.setup.use)
        self.events = drawn_events(self._random, self.setup, self.loop, LENGTH)
        self.outcome = Outcome(seed, number, self.setup, events=[str(one) for one in self.events])
        self.has_position_loop = isinstance(self.loop.drives, PositionDrives)
        self._ends: list[tuple[float, Event]] = []
        self._has_brakes_closed = False
        self._silent_since = 0.0

    # ---- for events -----------------------------------------------------------------------------

    def attempt(self, command: Callable[[], object]) -> bool:
        """Do something that the policy may refuse; return whether it is accepted."""
        try:
            command()
        except RneaError as error:
            line = f'{self.loop.time:6.3f} s  {error}'
            if len(self.outcome.refused) < MOST_LINES:
                self.outcome.refused.append(line)
            return False
        return True

    def lead(self, path: QuinticFrom, duration: float, is_reference: bool = False) -> float:
        """
        Note a motion that is commanded from now on, and return its largest speed [rad/s].

        Drives with a position loop follow it.

        :param path: from where the arm is.
        :param is_reference: whether it is that of a controller, which begins nowhere else.
        """
        begin, times = self.loop.time, np.linspace(0.0, duration, 200)
        may_wait = self.judge.use is Use.COMPUTED_TORQUE and not is_reference
        paths = [path]
        commands = self.judge.commands
        if not is_reference:
            for wanted in commands[-1].paths if commands else ():
                paths.append(path.from_other(*wanted.at(begin - commands[-1].begin)))
        peak = max(float(np.abs(one.at(times)[1]).max()) for one in paths)
        for earlier in commands:
            earlier.end = min(earlier.end, begin)
        commands.append(
            Command(begin, begin + duration, peak, () if is_reference else tuple(paths[:MOST]),
                    begin if may_wait else None))
        if self.has_position_loop:
            first = self.loop.steady
            self.loop.drives.reference = lambda time: path.at(time - first)
        return peak

    def note_end(self, positions: np.ndarray) -> None:
        """Note where a motion ends whose path is not known in advance, shape (joints,) [rad]."""
        now, rest = self.loop.time, np.zeros_like(positions)
        self.judge.commands.append(
            Command(now, now, 0.0, (QuinticFrom(positions, rest, positions, 1.0),)))

    def deviation(self) -> float:
        """Return how far the arm is at most from where it may be wanted [rad]."""
        time, positions = self.loop.time, self.loop.plant.positions
        command = self.judge.commands[-1] if self.judge.commands else Command(time, time, 0.0)
        return max((float(np.abs(path.at(time - command.begin)[0] - positions).max())
                    for path in command.paths), default=0.0)

    def allow(self, speed: float, duration: float, after: float = 0.0) -> None:
        """Note that joints may move with a speed for a while [rad/s, s]."""
        begin = self.loop.time + after
        self.judge.commands.append(Command(begin, begin + duration, speed))

    def disturb(self, duration: float, what: str, after: float = 0.0) -> None:
        """Note that something moves the arm away for a while [s]."""
        begin = self.loop.time + after
        self.judge.disturbances.append(Disturbance(begin, begin + duration, what))

    # ---- run ------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run the episode, and return what became of it."""
        started = perf_counter()
        outcome, loop = self.outcome, self.loop
        try:
            while loop.time < LENGTH:
                self._let_events_happen()
                decision = loop.step()
                self._use_brakes(decision is not None and decision.effort is not None,
                                 decision is not None)
                self.judge.look(decision)
        except Failure as failure:
            outcome.failure = f'at {loop.time:.3f} s: {failure}'
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a failure to report)
            outcome.failure = f'at {loop.time:.3f} s: {type(error).__name__}: {error}'
        outcome.statuses = tuple(loop.record.statuses)
        outcome.has_fault = self.judge.faults > 0
        outcome.has_started = self.judge.has_sent
        outcome.worst = self.judge.worst
        outcome.took = perf_counter() - started
        return outcome

    def _let_events_happen(self) -> None:
        now = self.loop.time + 1e-9
        while self.events and self.events[0].at <= now:
            event = self.events.pop(0)
            event.begin(self)
            self._ends.append((event.at + event.duration, event))
        for end, event in list(self._ends):
            if end <= now:
                self._ends.remove((end, event))
                event.end(self)
            else:
                event.each(self)

    def _use_brakes(self, is_sent: bool, is_decided: bool) -> None:
        """Close the brakes of the arm where nothing is sent, until the next effort."""
        time = self.loop.time
        if is_sent:
            self._silent_since = np.inf
        elif is_decided:
            self._silent_since = min(self._silent_since, time)
        closes = time - self._silent_since > BRAKES_CLOSE
        if self.has_position_loop or closes == self._has_brakes_closed:
            return
        self._has_brakes_closed = closes
        self.loop.plant.close_brakes(closes)


MOST = 4
"""Paths of a motion that replaces another one: each of these may be continued."""

MOST_LINES = 8
"""So many refusals of an episode are kept."""


def run_episode(seed: int, number: int) -> Outcome:
    """Run one episode, and return what became of it; for a process of its own."""
    return Episode(seed, number).run()
