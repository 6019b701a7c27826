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
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from math import hypot, inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.arrays import any_set, as_indices, Indices
from ros2_rnea.control.inputs.joint_arrays import same_names, turns_of, whole_turns
from ros2_rnea.control.inputs.owners import JointOwners, OwnerMemory, Source
from ros2_rnea.control.inputs.plausibility import AGREEING, Plausibility, Reading
from ros2_rnea.control.inputs.repeated_states import RepeatMemory
from ros2_rnea.control.inputs.state_ages import check_age
from ros2_rnea.control.inputs.velocity_estimate import EstimateMemory, VelocityEstimate
from ros2_rnea.errors import MessageError
from ros2_rnea.robots.arguments import LARGEST

MAX_PLANS = 64
MAX_PLANNED_NAMES = 10_000
"""Maximum number of remembered lists of names, and of the names in all of them."""

LONGEST_DISORDER = 1.0
"""No message is overtaken by one whose stamp is newer by more than this [s]."""

RECENT = 3
"""Number of accepted states of each joint that are kept, for their median."""

Floats = Sequence[float] | np.ndarray


class MeasuredJoints(NamedTuple):
    """
    The content of a JointState message.

    :ivar names: of the joints, in the order of all values.
    :ivar positions: one for each joint [rad or m].
    :ivar velocities: one for each joint [rad/s or m/s]; empty where the message has none.
    :ivar efforts: one for each joint [Nm or N]; empty where the message has none, None where they
        were not read because nothing needs them.
    :ivar stamp: time of the measurement on the publisher's clock [s]; 0: not given.
    :ivar age: how long ago the message was received [s].
    :ivar source: what tells its publisher from others, as the gid of the publisher; None: the
        names of the joints stand for it.
    """

    names: Sequence[str]
    positions: Floats
    velocities: Floats = ()
    efforts: Floats | None = None
    stamp: float = 0.0
    age: float = 0.0
    source: Hashable = None


@dataclass
class StampOrder:
    """
    The order of stamps, by which wrong ones are recognized.

    :ivar newest: the newest stamp that is in use [s], and when it was received [s].
    :ivar leading: the last stamp that was too far ahead [s], when it was received [s], and how
        many have agreed.
    :ivar late: the last stamp that was too old, with these two numbers.
    """

    newest: float = 0.0
    newest_at: float = -inf
    leading: float = 0.0
    leading_at: float = -inf
    leading_count: int = 0
    late: float = 0.0
    late_at: float = -inf
    late_count: int = 0


@dataclass
class JointMemory:
    """
    What is known of each joint; the last index of all arrays is that of the joint.

    Arrays are written in place, and never replaced.

    :ivar names: of the joints.
    :ivar recent: the last accepted states, the newest one last, each of position [rad or m; NaN:
        none], velocity [rad/s or m/s] and time of reception [s; −inf: none]; shape (3, 3, joints).
    :ivar efforts: the last ones [Nm or N]; NaN where there are none.
    :ivar stamps: of the newest states on the publishers' clocks [s]; 0: not given.
    :ivar has_velocity: whether the newest state has a velocity.
    :ivar order: which stamps are in order.
    :ivar ignored: why the newest value of a joint is not used, by name.
    :ivar owners: which source owns the state of which joint.
    :ivar estimate: velocities from positions.
    :ivar repeats: which joints' states are repeated.
    """

    names: tuple[str, ...]
    recent: np.ndarray
    efforts: np.ndarray
    stamps: np.ndarray
    has_velocity: np.ndarray
    owners: OwnerMemory
    estimate: EstimateMemory
    repeats: RepeatMemory
    order: StampOrder = field(default_factory=StampOrder)
    ignored: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Sequence[str]) -> JointMemory:
        """Return that of joints that were never measured."""
        n = len(names)
        recent = np.zeros((RECENT, 3, n))
        recent[:, 0], recent[:, 2] = np.nan, -inf
        return cls(
            tuple(names), recent, np.full(n, np.nan), np.zeros(n), np.ones(n, dtype=bool),
            OwnerMemory.of(names), EstimateMemory.of(names), RepeatMemory.of(names))

    def for_joints(self, names: Sequence[str]) -> JointMemory:
        """
        Return a copy for other joints; those that are not known here were never measured.

        Efforts are not copied.  They are not in all messages, and so may be older than the rest.
        """
        new = JointMemory.of(names)
        here, there = same_names(self.names, new.names)
        for part in ('recent', 'stamps', 'has_velocity'):
            getattr(new, part)[..., there] = getattr(self, part)[..., here]
        if there and new.stamps.max() > 0.0:
            newest = int(new.stamps.argmax())
            new.order.newest = float(new.stamps[newest])
            new.order.newest_at = float(new.recent[-1, 2, newest])
        new.owners = self.owners.for_joints(names)
        new.estimate = self.estimate.for_joints(names)
        new.repeats.take(self.repeats, here, there)
        return new

    def complete(self, former: JointMemory, other: JointMemory) -> None:
        """Take from another memory of the same joints what a former one did not know."""
        for joint, name in enumerate(self.names):
            if name not in former.names:
                for part in ('recent', 'stamps', 'has_velocity'):
                    getattr(self, part)[..., joint] = getattr(other, part)[..., joint]
                self.repeats.take(other.repeats, [joint], [joint])


@dataclass(eq=False, slots=True)
class _Plan:
    """The places in which values of messages with a certain list of names are stored."""

    source: Indices       # of the values in the message
    target: Indices       # of the same joints here, in rising order
    size: int             # number of these joints
    controlled: bool      # whether one of them is a controlled joint
    all_controlled: bool  # whether all controlled joints are among them
    controlled_count: int  # number of controlled joints, which are the first ones
    key: Hashable = None  # the set of names
    settled: Source | None = None  # the owner of all of them, if no other source reports them


class JointStates:
    """
    The newest position and velocity of each known joint.

    Joints of messages that are not known here are ignored.  The state is fresh while the values
    of all *controlled* joints are younger than the timeout.  Each joint has one owner, see
    :class:`.JointOwners`; what others say of it changes nothing.  Times are those of a steady
    clock [s]; should it jump back, as simulated time can, nothing is fresh.  Message stamps [s]
    are compared with each other only, and a stamp of zero means "not given".

    :param controlled: names of the controlled joints.
    :param others: names of further joints whose state is of use.
    :param timeout: a state is fresh for this long [s].
    :param plausibility: of positions and velocities of all joints, in the order of ``names``;
        None: all are believed.
    :param continuous: names of the joints that turn without end.
    :param memory: what is known of the same joints; None: nothing.
    :raises ValueError: where the memory is that of other joints.
    :ivar may_change_owner: whether a joint whose owner is silent may get another one, as while
        nothing is sent.
    :ivar positions: by joint, the controlled ones first, then the others [rad or m]; NaN before
        the first measurement.
    :ivar velocities: in this order [rad/s or m/s]; zero where a message has none.
    :ivar measured: positions and velocities in one array, shape (2, joints), which is never
        replaced.
    :ivar efforts: in this order [Nm or N], where messages were read with efforts; NaN elsewhere.
    :ivar oldest: when the oldest value of the controlled joints was received [s]; −inf: never.
    :ivar ignored: by joint that is not controlled, why its newest value is not used.
    """

    def __init__(
            self, controlled: Sequence[str], others: Sequence[str], timeout: float,
            plausibility: Plausibility | None = None, continuous: Collection[str] = (),
            memory: JointMemory | None = None) -> None:
        self.names = (*controlled, *others)
        self.timeout = timeout
        self.plausibility = plausibility
        self.may_change_owner = True
        self.memory = memory or JointMemory.of(self.names)
        if self.memory.names != self.names:
            raise ValueError(f'the memory is that of {self.memory.names}')
        self._recent = self.memory.recent
        self.measured = self._recent[-1, :2]
        self.positions, self.velocities, self._received = self._recent[-1]
        self.efforts, self._stamps = self.memory.efforts, self.memory.stamps
        self._has_velocity, self._order = self.memory.has_velocity, self.memory.order
        self.ignored = self.memory.ignored
        self._count = len(controlled)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._turn = turns_of(self.names, continuous)
        self._owners = JointOwners(self.names, self._count, self._turn, self.memory.owners)
        self._estimate = VelocityEstimate(self._turn, self.memory.estimate)
        self._places = np.arange(len(self.names))
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._last_names: Sequence[str] | None = None
        self._last_plan = _Plan(slice(0), slice(0), 0, controlled=False, all_controlled=False,
                                controlled_count=0)
        self._note_velocities()
        self._summarize()

    def update(self, message: MeasuredJoints, now: float) -> bool:
        """
        Merge a message: either all of it, or nothing where it is refused.

        A position that is not finite is ignored, unless the joint is controlled.  A velocity of
        NaN means that none is measured; joint_state_broadcaster writes it so.  A stamp older than
        that of a fresh state is out of order and refused; after the timeout an older stamp is
        accepted, because the publisher's clock may have been reset.  A position or velocity that
        is not plausible is refused; of a joint that is not controlled it is ignored.  What belongs
        to another source is not used, see :attr:`conflict`.  The state of a joint that is repeated
        although it says that the joint moves becomes no younger, see :mod:`.repeated_states`.

        :param now: present time on the steady clock [s].
        :return: whether the state of a controlled joint was taken from the message.
        :raises MessageError: for wrong lengths, values that are not finite or larger than
            :data:`~ros2_rnea.robots.arguments.LARGEST`, an old stamp, or a message that was
            received longer ago than the timeout.
        """
        names, positions, velocities, efforts, stamp, age, given = message
        check_age(age, self.timeout, 'state_timeout')
        received = now - age
        _check_lengths(names, positions, velocities)
        plan = self._plan(names)
        if not plan.size:
            return False
        publisher, whole = None, plan
        if plan.settled is None or plan.settled.key != (plan.key if given is None else given):
            publisher, plan = self._owned_part(plan, message, received)
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
        if 0.0 < stamp < self._order.newest:
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
        if publisher is not None:
            self._own(publisher, whole, self._places[target], q, qd, received)
        if self.ignored:
            for joint in self._places[target].tolist():
                self.ignored.pop(self.names[joint], None)
        if stamp:
            self._take_stamp(target, stamp, received)
        is_repeated = self._is_repeated(target, q, qd, received)
        self._recent[:-1, :, target] = self._recent[1:, :, target]
        self.positions[target] = q
        self.velocities[target] = qd
        self._received[target] = received if not is_repeated else np.where(
            self.memory.repeats.are_impossible[target], self._received[target], received)
        if moves is not True or self._any_lacks_velocity:
            self._has_velocity[target] = moves
            self._note_velocities()
            self._estimate_velocities(target, q, moves, stamp, received)
        if efforts is not None:
            self._take_efforts(efforts, plan, len(names))
        if plan.all_controlled and not is_repeated:
            self.oldest = self._newest = received
        else:
            self._summarize()
        return plan.controlled

    @property
    def conflict(self) -> str:
        """
        Return which sources contradict each other about a controlled joint, for people.

        It is empty where none do, or have not done so for a second, see :mod:`.owners`.
        """
        return self.memory.owners.conflict

    @property
    def plan_count(self) -> int:
        """Return how many lists of names are remembered, see ``MAX_PLANS``."""
        return len(self._plans)

    def call_source(self, source: Hashable, label: str) -> None:
        """Let people know a source of messages by a label, as the name of its node."""
        self.memory.owners.labels[source] = label

    @property
    def estimated_velocities(self) -> np.ndarray:
        """
        Return the velocities, estimated from positions where they are not measured.

        :return: shape (joints,) [rad/s or m/s]; NaN where there are too few positions without a
            gap; valid until the next update.
        """
        if not self._any_lacks_velocity:
            return self.velocities
        return np.where(self._has_velocity, self.velocities, self._estimate.velocities)

    def median_measured(self) -> np.ndarray:
        """
        Return a state of the controlled joints that one wrong message does not change.

        :return: the median of the last three positions and velocities of each joint, the newest
            ones where there are fewer without a gap; shape (2, controlled joints).  As in
            ``measured``, a velocity that is not measured is 0.
        """
        recent = self._recent[:, :, :self._count]
        states, received = recent[:, :2].copy(), recent[:, 2]
        newest = states[-1]
        states[:, 0] -= whole_turns(states[:, 0] - newest[0], self._turn[:self._count])
        with np.errstate(invalid='ignore'):  # of infinite times
            gaps = np.diff(received, axis=0)
        goes_on = ((gaps >= 0.0) & (gaps <= self.timeout)).all(axis=0)
        return np.where(goes_on, np.sort(states, axis=0)[RECENT // 2], newest)

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

    def repeated(self) -> tuple[str, ...]:
        """Return the controlled joints whose state is repeated although it says that they move."""
        are_impossible = self.memory.repeats.are_impossible[:self._count]
        return tuple(name for name, is_one in zip(self.names, are_impossible) if is_one)

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

    def _owned_part(
            self, plan: _Plan, message: MeasuredJoints, received: float) -> tuple[Source, _Plan]:
        """Return the source of a message, and the plan for the joints that it may change."""
        joints = self._places[plan.target]
        is_named = message.source is None
        source, is_new = self._owners.source(
            plan.key if is_named else message.source, message.names, is_named,
            message.stamp != 0.0, joints, received)
        if is_new:
            self._unsettle()
        used = self._owners.admits(
            source, joints, self._are_fresh(received)[joints], self.may_change_owner, received)
        if used.all():
            return source, plan
        places = np.arange(len(message.names))[plan.source]
        q = np.asarray(message.positions, dtype=float)[places]
        qd = (np.asarray(message.velocities, dtype=float)[places] if len(message.velocities)
              else np.zeros(len(q)))
        self._owners.note(
            source, joints[~used], q[~used], qd[~used], received, self.timeout)
        controlled = int((joints[used] < self._count).sum())
        return source, _Plan(
            source=as_indices(places[used]), target=as_indices(joints[used]),
            size=int(used.sum()), controlled=controlled > 0,
            all_controlled=controlled == self._count, controlled_count=controlled)

    def _own(
            self, source: Source, plan: _Plan, joints: np.ndarray, q: np.ndarray, qd: np.ndarray,
            received: float) -> None:
        """Note that the states of a source are used."""
        taken = self._owners.claim(source, joints, received)
        if taken:
            self._estimate.restart(np.array(taken))
            self._unsettle()
        self._owners.note(source, joints, q, qd, received, self.timeout)
        if self._owners.is_alone(source, self._places[plan.target]):
            plan.settled = source

    def _unsettle(self) -> None:
        for plan in self._plans.values():
            plan.settled = None

    def _is_repeated(
            self, target: Indices, q: np.ndarray, qd: np.ndarray, received: float) -> bool:
        """Note which states are repeated, and return whether a controlled joint cannot be so."""
        are_same = q == self.positions[target]
        if any_set(are_same):
            # At rest, all numbers may repeat.  A joint that is not controlled gets no effort.
            are_same &= (qd != 0.0) & (qd == self.velocities[target]) & (
                self._places[target] < self._count)
        return self.memory.repeats.note(target, are_same, qd, received)

    def _note_velocities(self) -> None:
        """Store whether joints lack a velocity."""
        self._any_lacks_velocity = not self._has_velocity.all()
        self._some_lack_velocity = (
            self._any_lacks_velocity and not self._has_velocity[:self._count].all())

    def _estimate_velocities(
            self, target: Indices, q: np.ndarray, moves: bool | np.ndarray, stamp: float,
            received: float) -> None:
        """Take positions without velocities for the estimate."""
        if moves is False:
            self._estimate.update(target, q, stamp, received, self.timeout)
        elif moves is not True and not moves.all():
            lacking = ~moves
            self._estimate.update(
                self._places[target][lacking], q[lacking], stamp, received, self.timeout)

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
            controlled_count=len(controlled),
            key=frozenset(names))
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
        order = self._order
        late = (stamp < self._stamps[target]) & self._are_fresh(now)[target]
        if late.any():
            lead = float((self._stamps[target] - stamp).max())
            agrees = 0.0 <= stamp - order.late <= now - order.late_at + self.timeout
            order.late_count = order.late_count + 1 if agrees and lead > LONGEST_DISORDER else 1
            order.late, order.late_at = stamp, now
            if order.late_count >= AGREEING:
                order.late_count = 0
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
        order = self._order
        if stamp - order.newest > now - order.newest_at + self.timeout:
            if self._leads(target, stamp, now):
                return
        self._stamps[target] = stamp
        if stamp >= order.newest:
            order.newest, order.newest_at = stamp, now
        else:
            self._find_newest_stamp()

    def _leads(self, target: Indices, stamp: float, now: float) -> bool:
        """Return whether a stamp leads the receptions, and not enough others agree with it."""
        stamps, ages = self._stamps[target], now - self._received[target]
        leads = (stamps > 0.0) & self._are_fresh(now)[target] & (
            stamp - stamps > ages + self.timeout)
        if not any_set(leads):
            return False
        order = self._order
        since = now - order.leading_at
        agrees = 0.0 <= stamp - order.leading <= since + self.timeout
        order.leading_count = order.leading_count + 1 if agrees else 1
        order.leading, order.leading_at = stamp, now
        return order.leading_count < AGREEING

    def _find_newest_stamp(self) -> None:
        newest = int(self._stamps.argmax())
        self._order.newest = float(self._stamps[newest])
        self._order.newest_at = float(self._received[newest])


def _check_lengths(
        names: Sequence[str], positions: Floats, velocities: Floats) -> None:
    if len(positions) != len(names):
        raise MessageError(f'{len(positions)} positions for {len(names)} joint names')
    if len(velocities) not in (0, len(names)):
        raise MessageError(f'{len(velocities)} velocities for {len(names)} joint names')
