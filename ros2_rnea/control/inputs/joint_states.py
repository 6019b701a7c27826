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
"""The newest measured state of each joint, merged by name from all messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import hypot, inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.arrays import any_set, as_indices, Indices, LARGEST
from ros2_rnea.control.inputs.plausibility import AGREEING, Plausibility, Reading
from ros2_rnea.control.inputs.state_ages import check_age
from ros2_rnea.errors import MessageError

MAX_PLANS = 64
MAX_PLANNED_NAMES = 10_000
"""How many lists of names are remembered, and how many names in all of them."""

LONGEST_DISORDER = 1.0
"""No message is overtaken by one whose stamp is newer by more than this [s]."""

Floats = Sequence[float] | np.ndarray


class MeasuredJoints(NamedTuple):
    """
    The content of a JointState message.

    :ivar names: of the joints, in the order of all values.
    :ivar positions: one for each joint [rad or m].
    :ivar velocities: likewise [rad/s or m/s]; empty where the message has none.
    :ivar efforts: likewise [Nm or N]; empty where the message has none, None where they were not
        read because nothing needs them.
    :ivar stamp: time of the measurement on the publisher's clock [s]; 0: not given.
    :ivar age: how long ago the message was received [s].
    """

    names: Sequence[str]
    positions: Floats
    velocities: Floats = ()
    efforts: Floats | None = None
    stamp: float = 0.0
    age: float = 0.0


class _Plan(NamedTuple):
    """How the values of messages with a certain list of names are stored."""

    source: Indices       # of the values in the message
    target: Indices       # of the same joints here, in rising order
    size: int             # number of these joints
    controlled: bool      # whether one of them is a controlled joint
    all_controlled: bool  # whether all controlled joints are among them
    controlled_count: int  # number of controlled joints, which are the first ones


class JointStates:
    """
    The newest position and velocity of each known joint.

    Joints of messages that are not known here are ignored.  The state is fresh while the values
    of all *controlled* joints are younger than the timeout.  Times are those of a steady clock
    [s]; should it jump back, as simulated time can, nothing is fresh.  Message stamps [s] are
    compared with each other only, and a stamp of zero means "not given".

    :param controlled: names of the controlled joints.
    :param others: names of further joints whose state is of use.
    :param timeout: a state is fresh for this long [s].
    :param plausibility: of positions and velocities of all joints, in the order of ``names``;
        None: all are believed.
    :ivar positions: by joint, the controlled ones first, then the others [rad or m]; NaN before
        the first measurement.
    :ivar velocities: likewise [rad/s or m/s]; zero where a message has none.
    :ivar measured: both in one array, shape (2, joints).
    :ivar efforts: likewise [Nm or N], where messages were read with efforts; NaN elsewhere.
    :ivar oldest: when the oldest value of the controlled joints was received [s]; −inf: never.
    :ivar ignored: by joint that is not controlled, why its newest value is not used.
    """

    def __init__(
            self, controlled: Sequence[str], others: Sequence[str], timeout: float,
            plausibility: Plausibility | None = None) -> None:
        self.names = (*controlled, *others)
        self.timeout = timeout
        self.plausibility = plausibility
        self.measured = np.zeros((2, len(self.names)))
        self.positions, self.velocities = self.measured
        self.positions[:] = np.nan
        self.efforts = np.full(len(self.names), np.nan)
        self._has_velocity = np.ones(len(self.names), dtype=bool)
        self._some_lack_velocity = False
        self._count = len(controlled)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._received = np.full(len(self.names), -inf)
        self._stamps = np.zeros(len(self.names))
        self._newest_stamp, self._newest_stamp_at = 0.0, -inf
        self._leading_stamp, self._leading_stamp_at, self._leading = 0.0, -inf, 0
        self._late_stamp, self._late_at, self._late = 0.0, -inf, 0
        self.ignored: dict[str, str] = {}
        self._places = np.arange(len(self.names))
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._last_names: Sequence[str] | None = None
        self._last_plan = _Plan(slice(0), slice(0), 0, controlled=False, all_controlled=False,
                                controlled_count=0)
        self._summarize()

    def update(self, message: MeasuredJoints, now: float) -> bool:
        """
        Merge a message: either all of it, or nothing where it is refused.

        A position that is not finite is ignored, unless the joint is controlled.  A velocity of
        NaN means that none is measured; joint_state_broadcaster writes it so.  A stamp older than
        that of a fresh state is out of order and refused; after the timeout an older stamp is
        accepted, because the publisher's clock may have been reset.  A position or velocity that
        is not plausible is refused; of a joint that is not controlled it is ignored.

        :param now: present time on the steady clock [s].
        :return: whether the message contains a controlled joint.
        :raises MessageError: for wrong lengths, values that are not finite or larger than
            :data:`~ros2_rnea.control.arrays.LARGEST`, an old stamp, or a message that was
            received longer ago than the timeout.
        """
        names, positions, velocities, efforts, stamp, age = message
        check_age(age, self.timeout, 'state_timeout')
        received = now - age
        _check_lengths(names, positions, velocities)
        plan = self._plan(names)
        if not plan.size:
            return False
        source, target = plan.source, plan.target
        q = np.asarray(positions, dtype=float)[source]
        moves: bool | np.ndarray = len(velocities) > 0
        qd = np.asarray(velocities, dtype=float)[source] if moves else np.zeros(len(q))
        # One test of the norm costs less than one of each value, and it does not overflow.
        if not hypot(*q.tolist(), *qd.tolist()) < LARGEST:
            moves &= ~np.isnan(qd)
            qd = np.where(np.isnan(qd), 0.0, qd)
            usable = (np.abs(q) < LARGEST) & (np.abs(qd) < LARGEST)
            target = self._places[target]
            self._refuse_unless_others(target[~usable], q[~usable], qd[~usable])
            target, q, qd, moves = target[usable], q[usable], qd[usable], moves[usable]
        if 0.0 < stamp < self._newest_stamp:
            self._refuse_late(target, stamp, now)
        if self.plausibility is not None and not self.plausibility.is_small(
                target, q, qd, self.positions[target]):
            reading = Reading(
                target, q, qd, self.positions[target],
                self._elapsed(target, stamp, received))
            refused = self.plausibility.refused(reading, plan.controlled_count, received)
            if any_set(refused):
                self._refuse_unless_ignored(
                    self.plausibility, reading, refused, plan.controlled_count)
                used = ~refused
                target, q, qd = self._places[target][used], q[used], qd[used]
                moves = moves[used] if isinstance(moves, np.ndarray) else moves
        if self.ignored:
            for joint in self._places[target].tolist():
                self.ignored.pop(self.names[joint], None)
        if stamp:
            self._take_stamp(target, stamp, received)
        self.positions[target] = q
        self.velocities[target] = qd
        self._received[target] = received
        if moves is not True or self._some_lack_velocity:
            self._has_velocity[target] = moves
            self._some_lack_velocity = not self._has_velocity[:self._count].all()
        if efforts is not None:
            self._take_efforts(efforts, plan, len(names))
        if plan.all_controlled:
            self.oldest = self._newest = received
        else:
            self._summarize()
        return plan.controlled

    def adopt(self, older: JointStates) -> None:
        """Copy the state of joints of the same names from an earlier object."""
        for name, here in self._index.items():
            there = older._index.get(name)
            if there is not None:
                self.positions[here] = older.positions[there]
                self.velocities[here] = older.velocities[there]
                self._received[here] = older._received[there]
                self._stamps[here] = older._stamps[there]
                self._has_velocity[here] = older._has_velocity[there]
        self._find_newest_stamp()
        self._some_lack_velocity = not self._has_velocity[:self._count].all()
        self._summarize()

    def unmeasured(self) -> tuple[str, ...]:
        """Return the controlled joints that no message has contained yet."""
        return tuple(
            name for name, when in zip(self.names[:self._count], self._received) if when == -inf)

    def without_velocity(self) -> tuple[str, ...]:
        """Return the controlled joints whose newest message has no velocity for them."""
        if not self._some_lack_velocity:
            return ()
        return tuple(
            name for name, has in zip(self.names[:self._count], self._has_velocity) if not has)

    def silent_others(self, now: float, longest: float) -> tuple[str, ...]:
        """Return the other joints whose newest value is older than ``longest`` [s]."""
        others = zip(self.names[self._count:], self._received[self._count:])
        return tuple(name for name, when in others if -inf < when < now - longest)

    def stale(self, now: float) -> tuple[str, ...]:
        """Return the controlled joints whose value is older than the timeout."""
        return tuple(
            name for name, when in zip(self.names[:self._count], self._received)
            if not 0.0 <= now - when <= self.timeout)

    def is_fresh(self, now: float) -> bool:
        """Return whether the values of all controlled joints are younger than the timeout."""
        return self._newest <= now and now - self.oldest <= self.timeout

    def age(self, now: float) -> float:
        """Return the age of the oldest value of the controlled joints [s]; infinite: none."""
        return now - self.oldest if self._newest <= now else inf

    def fresh_velocities(self, now: float) -> np.ndarray:
        """
        Return the velocities, with zero for joints whose value is older than the timeout.

        The array is valid until the next update and must not be written to.
        """
        if self._count == len(self.names) and self.is_fresh(now):
            return self.velocities
        return np.where(self._are_fresh(now), self.velocities, 0.0)

    def _are_fresh(self, now: float) -> np.ndarray:
        age = now - self._received
        return (age >= 0.0) & (age <= self.timeout)

    def _take_efforts(self, efforts: Floats, plan: _Plan, count: int) -> None:
        self.efforts[plan.target] = (
            np.asarray(efforts, dtype=float)[plan.source] if len(efforts) == count else np.nan)

    def _summarize(self) -> None:
        """Store when the oldest and the newest value of the controlled joints were received."""
        controlled = self._received[:self._count]
        self.oldest = float(controlled.min()) if self._count else -inf
        self._newest = float(controlled.max()) if self._count else -inf

    def _plan(self, names: Sequence[str]) -> _Plan:
        if names is not self._last_names:
            key = tuple(names)
            self._last_plan = self._plans.get(key) or self._make_plan(key)
            # A list may change and still be the same object; a tuple cannot.
            self._last_names = names if isinstance(names, tuple) else None
        return self._last_plan

    def _make_plan(self, names: tuple[str, ...]) -> _Plan:
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise MessageError(f'joint {twice[0]!r} occurs twice in one message')
        pairs = sorted((self._index[n], i) for i, n in enumerate(names) if n in self._index)
        controlled = [i for i, _ in pairs if i < self._count]
        plan = _Plan(
            source=as_indices([i for _, i in pairs]),
            target=as_indices([i for i, _ in pairs]),
            size=len(pairs),
            controlled=bool(controlled),
            all_controlled=len(controlled) == self._count,
            controlled_count=len(controlled))
        known = sum(map(len, self._plans))
        if len(self._plans) >= MAX_PLANS or known + len(names) > MAX_PLANNED_NAMES:
            self._plans.clear()
        if len(names) <= MAX_PLANNED_NAMES:
            self._plans[names] = plan
        return plan

    def _refuse_unless_others(
            self, target: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
        for joint, position, velocity in zip(target, q, qd):
            if joint < self._count:
                raise MessageError(
                    f'joint {self.names[joint]!r} has position {position} and velocity '
                    f'{velocity}; both must be finite, and smaller than {LARGEST:g}')

    def _elapsed(self, target: Indices, stamp: float, now: float) -> np.ndarray:
        """
        Return the time since the last values, infinite where time has jumped back [s].

        It is that between the receptions or that between the stamps, whichever is longer: messages
        may arrive in a burst.  A stamp that leads the receptions by more than the timeout is
        ignored, because it may be wrong.
        """
        ages, stamps = now - self._received[target], self._stamps[target]
        # Of two publishers, the message that was received first may be read last.
        elapsed = np.where(ages < -self.timeout, inf, np.maximum(ages, 0.0))
        if not stamp:
            return elapsed
        between = np.where(stamps > 0.0, stamp - stamps, 0.0)
        return np.where(between <= ages + self.timeout, np.maximum(elapsed, between), elapsed)

    def _refuse_unless_ignored(
            self, plausibility: Plausibility, reading: Reading, refused: np.ndarray,
            controlled_count: int) -> None:
        """Raise an error for a controlled joint; note why others are ignored."""
        for at in np.flatnonzero(refused).tolist():
            reason = plausibility.explain(reading, at)
            if at < controlled_count:
                raise MessageError(reason)
            self.ignored[self.names[self._places[reading.joints][at]]] = reason

    def _refuse_late(self, target: Indices, stamp: float, now: float) -> None:
        """
        Refuse a stamp that is older than that of a fresh state.

        Several that are much older, and agree with each other, show that the newer one was wrong.
        """
        late = (stamp < self._stamps[target]) & self._are_fresh(now)[target]
        if late.any():
            lead = float((self._stamps[target] - stamp).max())
            agrees = 0.0 <= stamp - self._late_stamp <= now - self._late_at + self.timeout
            self._late = self._late + 1 if agrees and lead > LONGEST_DISORDER else 1
            self._late_stamp, self._late_at = stamp, now
            if self._late >= AGREEING:
                self._late = 0
                return
            joint = self._places[target][np.argmax(late)]
            raise MessageError(
                f'joint {self.names[joint]!r} has a stamp that is '
                f'{self._stamps[joint] - stamp:.6f} s older than that of the state in use')

    def _take_stamp(self, target: Indices, stamp: float, now: float) -> None:
        """
        Store the stamp of an accepted message.

        A stamp far ahead of the receptions would refuse all later messages with right stamps.  It
        is not stored, unless several in succession agree: then the clock was set forward.
        """
        if stamp - self._newest_stamp > now - self._newest_stamp_at + self.timeout:
            if self._leads(target, stamp, now):
                return
        self._stamps[target] = stamp
        if stamp >= self._newest_stamp:
            self._newest_stamp, self._newest_stamp_at = stamp, now
        else:
            self._find_newest_stamp()

    def _leads(self, target: Indices, stamp: float, now: float) -> bool:
        """Return whether a stamp leads the receptions, and not enough others agree with it."""
        stamps, ages = self._stamps[target], now - self._received[target]
        leads = (stamps > 0.0) & self._are_fresh(now)[target] & (
            stamp - stamps > ages + self.timeout)
        if not any_set(leads):
            return False
        since = now - self._leading_stamp_at
        agrees = 0.0 <= stamp - self._leading_stamp <= since + self.timeout
        self._leading = self._leading + 1 if agrees else 1
        self._leading_stamp, self._leading_stamp_at = stamp, now
        return self._leading < AGREEING

    def _find_newest_stamp(self) -> None:
        newest = int(self._stamps.argmax()) if len(self._stamps) else -1
        if newest >= 0:
            self._newest_stamp = float(self._stamps[newest])
            self._newest_stamp_at = float(self._received[newest])


def _check_lengths(
        names: Sequence[str], positions: Floats, velocities: Floats) -> None:
    if len(positions) != len(names):
        raise MessageError(f'{len(positions)} positions for {len(names)} joint names')
    if len(velocities) not in (0, len(names)):
        raise MessageError(f'{len(velocities)} velocities for {len(names)} joint names')
