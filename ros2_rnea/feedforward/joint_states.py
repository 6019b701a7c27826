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
"""The latest measured state of each joint, merged by name from whatever messages bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import MessageError

MAXIMUM_PLANS = 64


class _Plan(NamedTuple):
    """Where the values of messages with a certain list of names go."""

    source: np.ndarray  # places in the message
    target: np.ndarray  # the same joints' places here
    controlled: bool    # whether one of them is a controlled joint


class JointStates:
    """
    Position and velocity of each known joint, each the newest that any message brought.

    Joints that nobody asked about are passed over.  Of the others, the *controlled* ones decide
    whether a state is fresh.  Times are those of one steady clock [s]; should it jump back all
    the same, as simulated time does, nothing is fresh.  Message stamps [s] are compared with
    each other only, and a stamp of zero says nothing.

    :ivar positions: by joint, the controlled ones first, then the others [rad or m]; NaN before
        the first measurement.
    :ivar velocities: likewise [rad/s or m/s]; zero where a message gives none.
    """

    def __init__(
            self, controlled: Sequence[str], others: Sequence[str], timeout: float) -> None:
        self.names = (*controlled, *others)
        self.timeout = timeout
        self.positions = np.full(len(self.names), np.nan)
        self.velocities = np.zeros(len(self.names))
        self._count = len(controlled)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._received = np.full(len(self.names), -inf)
        self._stamps = np.zeros(len(self.names))
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def update(
            self,
            names: Sequence[str],
            positions: Sequence[float],
            velocities: Sequence[float],
            stamp: float,
            now: float) -> bool:
        """
        Take over what a message says; all of it, or nothing where it is refused.

        A position that is not finite counts as not measured, unless the joint is controlled.  A
        velocity of NaN means that there is none, as joint_state_broadcaster writes it.  While
        what is held is fresh, older stamps are out of order; afterwards they are a new clock.

        :return: whether the message carried a controlled joint.
        :raises MessageError: for wrong lengths, values that are not finite, or an old stamp.
        """
        _check_lengths(names, positions, velocities)
        key = tuple(names)
        plan = self._plans.get(key) or self._make_plan(key)
        source, target = plan.source, plan.target
        if not len(target):
            return False
        q = np.asarray(positions, dtype=float)[source]
        qd = np.asarray(velocities, dtype=float)[source] if len(velocities) else np.zeros(len(q))
        qd = np.where(np.isnan(qd), 0.0, qd)
        usable = np.isfinite(q) & np.isfinite(qd)
        if not usable.all():
            self._refuse_unless_others(target[~usable], q[~usable], qd[~usable])
            source, target, q, qd = source[usable], target[usable], q[usable], qd[usable]
        self._check_order(target, stamp, now)
        self.positions[target] = q
        self.velocities[target] = qd
        self._received[target] = now
        if stamp:
            self._stamps[target] = stamp
        return plan.controlled

    def adopt(self, older: JointStates) -> None:
        """Take over what an earlier object has of the same joints."""
        for name, here in self._index.items():
            there = older._index.get(name)
            if there is not None:
                self.positions[here] = older.positions[there]
                self.velocities[here] = older.velocities[there]
                self._received[here] = older._received[there]
                self._stamps[here] = older._stamps[there]

    def unmeasured(self) -> tuple[str, ...]:
        """Return the controlled joints that no message has brought yet."""
        return tuple(
            name for name, when in zip(self.names[:self._count], self._received) if when == -inf)

    def stale(self, now: float) -> tuple[str, ...]:
        """Return the controlled joints whose value is older than the timeout."""
        return tuple(
            name for name, when in zip(self.names[:self._count], self._received)
            if not 0.0 <= now - when <= self.timeout)

    def is_fresh(self, now: float) -> bool:
        """Tell whether there are controlled joints, each with a value within the timeout."""
        received = self._received[:self._count]
        return self._count > 0 and bool(
            received.max() <= now and now - received.min() <= self.timeout)

    def fresh_velocities(self, now: float) -> np.ndarray:
        """Return the velocities, with zero for joints whose value is older than the timeout."""
        return np.where(self._are_fresh(now), self.velocities, 0.0)

    def _are_fresh(self, now: float) -> np.ndarray:
        age = now - self._received
        return (age >= 0.0) & (age <= self.timeout)

    def _make_plan(self, names: tuple[str, ...]) -> _Plan:
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise MessageError(f'joint {twice[0]!r} stands twice in one message')
        pairs = [(i, self._index[name]) for i, name in enumerate(names) if name in self._index]
        source = np.array([i for i, _ in pairs], dtype=int)
        target = np.array([i for _, i in pairs], dtype=int)
        plan = _Plan(source, target, controlled=bool(np.any(target < self._count)))
        if len(self._plans) >= MAXIMUM_PLANS:
            self._plans.clear()
        self._plans[names] = plan
        return plan

    def _refuse_unless_others(
            self, target: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
        for joint, position, velocity in zip(target, q, qd):
            if joint < self._count:
                raise MessageError(
                    f'joint {self.names[joint]!r} has position {position} and velocity '
                    f'{velocity}; both must be finite')

    def _check_order(self, target: np.ndarray, stamp: float, now: float) -> None:
        if stamp == 0.0:
            return
        late = (stamp < self._stamps[target]) & self._are_fresh(now)[target]
        if late.any():
            joint = target[np.argmax(late)]
            raise MessageError(
                f'joint {self.names[joint]!r} has a stamp that is '
                f'{self._stamps[joint] - stamp:.6f} s older than the state already taken')


def _check_lengths(
        names: Sequence[str], positions: Sequence[float], velocities: Sequence[float]) -> None:
    if len(positions) != len(names):
        raise MessageError(f'{len(positions)} positions for {len(names)} joint names')
    if len(velocities) not in (0, len(names)):
        raise MessageError(f'{len(velocities)} velocities for {len(names)} joint names')
