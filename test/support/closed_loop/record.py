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
"""What an arm has done, and the figures by which it is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from ros2_rnea.control.decision import Decision

AT_REST = 0.02
"""Largest velocity of a joint that rests [rad/s]."""


class Record:
    """
    All cycles of a closed loop, or those of a span of time.

    :param joints: in the order of all arrays.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self.joints = tuple(joints)
        self._times: list[float] = []
        self._rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._decisions: list[Decision | None] = []
        self._work: list[float] = []

    def add(
            self, time: float, positions: np.ndarray, velocities: np.ndarray,
            commands: np.ndarray, decision: Decision | None, work: float) -> None:
        """Add a cycle: arrays of shape (joints,), the decision, and the work so far [s, J]."""
        self._times.append(time)
        self._rows.append((positions, velocities, commands))
        self._decisions.append(decision)
        self._work.append(work)

    def since(self, start: float, end: float = np.inf) -> Record:
        """Return the cycles from a time on, up to another one [s]."""
        first = int(np.searchsorted(self._times, start - 1e-9))
        last = int(np.searchsorted(self._times, end + 1e-9))
        part = Record(self.joints)
        part._times, part._rows = self._times[first:last], self._rows[first:last]
        part._decisions, part._work = self._decisions[first:last], self._work[first:last]
        return part

    @property
    def times(self) -> np.ndarray:
        """Return the times of the cycles, shape (cycles,) [s]."""
        return np.array(self._times)

    @property
    def positions(self) -> np.ndarray:
        """Return the true positions, shape (cycles, joints) [rad]."""
        return np.array([row[0] for row in self._rows])

    @property
    def velocities(self) -> np.ndarray:
        """Return the true velocities, shape (cycles, joints) [rad/s]."""
        return np.array([row[1] for row in self._rows])

    @property
    def commands(self) -> np.ndarray:
        """Return the last command in each cycle, shape (cycles, joints) [Nm]."""
        return np.array([row[2] for row in self._rows])

    @property
    def decisions(self) -> list[Decision]:
        """Return the decisions that were made."""
        return [decision for decision in self._decisions if decision is not None]

    def decided(self) -> list[tuple[float, Decision]]:
        """Return the decisions with their times [s]."""
        return [(time, decision) for time, decision in zip(self._times, self._decisions)
                if decision is not None]

    @property
    def statuses(self) -> Counter[str]:
        """Return how often each status was decided, by its name."""
        return Counter(decision.status.name for decision in self.decisions)

    @property
    def states(self) -> Counter[str]:
        """Return how often each state was decided, by its name."""
        return Counter(decision.state.name for decision in self.decisions)

    @property
    def last(self) -> Decision:
        """Return the last decision."""
        return self.decisions[-1]

    @property
    def first_effort_at(self) -> float:
        """Return when an effort was sent first [s]; infinite: none was."""
        return next((time for time, decision in zip(self._times, self._decisions)
                     if decision is not None and decision.effort is not None), np.inf)

    @property
    def work(self) -> float:
        """Return what the motors have put into the arm [J]."""
        return self._work[-1] - self._work[0]

    def largest_speed(self) -> float:
        """Return the largest speed of any joint [rad/s]."""
        return float(np.abs(self.velocities).max())

    def farthest(self, path: np.ndarray | Callable[[np.ndarray], np.ndarray]) -> float:
        """
        Return the largest distance of any joint from a pose or a path [rad].

        :param path: positions of shape (joints,), or a function that returns those of shape
            (cycles, joints) for times of shape (cycles,) [s].
        """
        wanted = path(self.times) if callable(path) else path
        return float(np.abs(self.positions - wanted).max())

    def time_to_rest(self) -> float:
        """Return after which time the arm rests until the end [s]; infinite: it does not."""
        moving = np.flatnonzero(np.abs(self.velocities).max(axis=1) > AT_REST)
        if not len(moving):
            return 0.0
        if moving[-1] == len(self._times) - 1:
            return np.inf
        return self._times[moving[-1]] - self._times[0]

    def drift(self) -> float:
        """Return how far the joint that moves most is from where it began, at the end [rad]."""
        return float(np.abs(self.positions[-1] - self.positions[0]).max())

    def oscillation(self) -> float:
        """Return the standard deviation of the velocity of the worst joint [rad/s]."""
        return float(self.velocities.std(axis=0).max())

    def span_of_commands(self) -> float:
        """Return how much the command of the worst joint varies, from peak to peak [Nm]."""
        return float(np.ptp(self.commands, axis=0).max())

    def largest_step(self) -> float:
        """Return the largest change of a command from one cycle to the next [Nm]."""
        return float(np.abs(np.diff(self.commands, axis=0)).max(initial=0.0))

    def changes_of_status(self) -> int:
        """Return how often the status changed."""
        names = [decision.status for decision in self.decisions]
        return sum(first is not second for first, second in zip(names, names[1:]))

    def changes_of_flag(self, flag: str) -> int:
        """
        Return how often a joint began or ceased to be limited.

        :param flag: ``saturated``, ``restrained`` or ``rate_limited``.
        """
        rows = np.array([
            np.zeros(len(self.joints), dtype=bool) if decision.limited is None
            else getattr(decision.limited, flag) for decision in self.decisions])
        return int((rows[1:] != rows[:-1]).sum())
