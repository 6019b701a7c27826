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
"""Whose joint states count: each joint has one owner, and others are only compared with it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from ros2_rnea.control.inputs.joint_arrays import same_names, without_turns

NOISE = 0.01
"""Two sources of a joint may differ by this much [rad or m], and by what the velocity explains."""

LATENCY = 0.05
"""A source may be later than another by this much [s]."""

BASELINE = 0.02
"""The speed of a joint is computed from positions that are so far apart [s]."""

CLEARING = 1.0
"""A conflict is over when the sources have not contradicted each other for so long [s]."""

PACE = 0.01
"""The states of a source are compared with those of others once in this time [s]."""

AGREEING = 3
"""Number of contradictions in succession that show that lists of names have several publishers."""

FORGETTING = 10.0
"""A source that owns nothing is forgotten when it has been silent for so long [s]."""

MAX_SOURCES = 16
"""Maximum number of sources that are kept, apart from those that own a joint."""

MAX_NAMED = 8
"""Maximum number of joints of a source that are named."""


@dataclass(eq=False)
class Source:
    """
    One publisher of joint states; arrays have shape (joints,).

    :ivar key: what tells it from others: the gid of the publisher, or else the set of its names.
    :ivar names: of the joints in its newest message, for people.
    :ivar is_named: whether the key is the set of names, because no gid is known.
    :ivar covers: true for each joint that it has reported.
    :ivar positions: of its newest state [rad or m]; NaN: none.
    :ivar speeds: how fast the joints move by these states [rad/s or m/s].
    :ivar is_timed: whether that was computed from positions.
    :ivar received: when the newest state of each joint was received [s]; −inf: never.
    :ivar anchors: earlier positions, from which speeds are computed, and when they were received.
    :ivar has_stamps: whether its newest message has a stamp.
    :ivar heard: when it has sent last [s].
    """

    key: Hashable
    names: tuple[str, ...]
    is_named: bool
    covers: np.ndarray
    positions: np.ndarray
    speeds: np.ndarray
    is_timed: np.ndarray
    received: np.ndarray
    anchors: np.ndarray
    has_stamps: bool = False
    heard: float = -inf

    @classmethod
    def of(cls, key: Hashable, names: tuple[str, ...], is_named: bool, size: int) -> Source:
        """Return one that has sent nothing yet, of which ``size`` joints may be of use."""
        return cls(
            key, names, is_named, np.zeros(size, dtype=bool), np.full(size, np.nan),
            np.zeros(size), np.zeros(size, dtype=bool), np.full(size, -inf),
            np.full((2, size), -inf))


@dataclass
class OwnerMemory:
    """
    Which source owns the state of which joint.

    :ivar names: of the joints.
    :ivar owners: the source of each joint's state; None: it has none yet.
    :ivar sources: all that are known, by their key.
    :ivar contradictions: of two sources, by their keys: how many in succession, and when the last
        one was found that counts [s].
    :ivar conflict: for people: which sources contradict each other now; empty: none do.
    :ivar conflict_at: when they did last [s].
    :ivar labels: what people call a source, by its key.
    """

    names: tuple[str, ...]
    owners: list[Source | None]
    sources: dict[Hashable, Source] = field(default_factory=dict)
    contradictions: dict[frozenset[Hashable], tuple[int, float]] = field(default_factory=dict)
    conflict: str = ''
    conflict_at: float = -inf
    labels: dict[Hashable, str] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Sequence[str]) -> OwnerMemory:
        """Return that of joints that nobody owns."""
        return cls(tuple(names), [None] * len(names))

    def for_joints(self, names: Sequence[str]) -> OwnerMemory:
        """Return a copy for other joints; nobody owns those that are not known here."""
        new = OwnerMemory.of(names)
        here, there = same_names(self.names, new.names)
        for key, old in self.sources.items():
            source = Source.of(key, old.names, old.is_named, len(new.names))
            source.has_stamps, source.heard = old.has_stamps, old.heard
            for part in ('covers', 'positions', 'speeds', 'is_timed', 'received', 'anchors'):
                getattr(source, part)[..., there] = getattr(old, part)[..., here]
            new.sources[key] = source
        for old_joint, joint in zip(here, there):
            owner = self.owners[old_joint]
            new.owners[joint] = None if owner is None else new.sources[owner.key]
        new.contradictions = dict(self.contradictions)
        new.conflict, new.conflict_at = self.conflict, self.conflict_at
        new.labels = dict(self.labels)
        return new


class JointOwners:
    """
    Decides which source's states of a joint are used.

    The first source of a joint owns it.  The states of other sources are only compared with those
    of the owner.  While nothing is being sent, another source takes over where the owner is
    silent, or where it gives stamps and the owner does not.

    Where the publisher is not known, its names stand for it.  A list of names that contains
    another one, or is contained in it, then counts as one of the same publisher, unless the states
    of the two contradict each other again and again.

    :param names: of all joints.
    :param controlled: how many of them are controlled, which are the first ones.
    :param turn: a whole turn of each joint, infinite where there is none; shape (joints,) [rad].
    :param memory: of the same joints.
    """

    def __init__(
            self, names: Sequence[str], controlled: int, turn: np.ndarray,
            memory: OwnerMemory) -> None:
        self._names = tuple(names)
        self._count = controlled
        self._turn = turn
        self.memory = memory

    def source(
            self, key: Hashable, names: Sequence[str], is_named: bool, has_stamp: bool,
            joints: np.ndarray, now: float) -> tuple[Source, bool]:
        """
        Return the source of a message, and whether it reports joints that it has not before.

        :param key: what tells it from others.
        :param is_named: whether the key is the set of names.
        :param joints: indices of the known joints in the message.
        :param now: when the message was received [s].
        """
        memory = self.memory
        if memory.conflict and not 0.0 <= now - memory.conflict_at <= CLEARING:
            memory.conflict = ''
        source = memory.sources.get(key)
        if source is None:
            source = Source.of(key, tuple(names), is_named, len(self._names))
            memory.sources[key] = source
        is_new = not source.covers[joints].all()
        source.names, source.has_stamps, source.heard = tuple(names), has_stamp, now
        source.covers[joints] = True
        self._forget_silent(source, now)
        return source, is_new

    def admits(
            self, source: Source, joints: np.ndarray, fresh: np.ndarray, may_change: bool,
            now: float) -> np.ndarray:
        """
        Return for which joints the state of a source is used, shape (joints,).

        :param fresh: of which joints the state in use is fresh, shape (joints,).
        :param may_change: whether a joint may get another owner now.
        :param now: when the message was received [s].
        """
        used = []
        for joint, is_fresh in zip(joints.tolist(), fresh.tolist()):
            owner = self.memory.owners[joint]
            used.append(
                owner is None or owner is source or self._is_same(source, owner, now)
                or may_change and (
                    not is_fresh or source.has_stamps and not owner.has_stamps))
        return np.array(used, dtype=bool)

    def claim(self, source: Source, joints: np.ndarray, now: float) -> list[int]:
        """
        Note that a source's states of some joints are used from now on.

        :return: the joints that another source has owned so far.
        """
        taken = []
        owners = self.memory.owners
        for joint in joints.tolist():
            owner = owners[joint]
            if owner is source or owner is not None and self._is_same(source, owner, now):
                continue
            if owner is not None:
                taken.append(joint)
            owners[joint] = source
        return taken

    def is_alone(self, source: Source, joints: np.ndarray) -> bool:
        """Return whether no other source has reported some joints, and none other owns them."""
        others = [other for other in self.memory.sources.values() if other is not source]
        return (not self.memory.conflict
                and not any((other.covers & source.covers).any() for other in others)
                and all(self.memory.owners[joint] in (None, source) for joint in joints.tolist()))

    def note(
            self, source: Source, joints: np.ndarray, positions: np.ndarray,
            velocities: np.ndarray, received: float, timeout: float) -> None:
        """
        Note the states of a source, and compare them with those of the owners, or of all others.

        Only controlled joints are compared.

        States that follow others sooner than :data:`PACE` are not compared, to save time.

        :param positions: of the joints [rad or m]; not finite: none.
        :param velocities: of the joints [rad/s or m/s].
        :param received: when they were received [s].
        :param timeout: states are fresh for so long [s].
        """
        if len(self.memory.sources) < 2:
            return
        ages = (received - source.received[joints]).tolist()
        if not ages or 0.0 <= min(ages) and max(ages) < PACE:
            return
        is_used = np.isfinite(positions) & (joints < self._count)
        joints, q, qd = joints[is_used], positions[is_used], np.abs(velocities[is_used])
        anchors, anchored_at = source.anchors
        since = received - anchored_at[joints]
        moves = (since >= BASELINE) & np.isfinite(anchors[joints])
        shift = np.abs(without_turns(
            q - np.where(moves, anchors[joints], q), self._turn[joints]))
        source.speeds[joints] = np.maximum(
            np.where(moves, shift / np.where(moves, since, 1.0), source.speeds[joints]),
            np.where(np.isfinite(qd), qd, 0.0))
        source.is_timed[joints] |= moves
        is_due = ~((since >= 0.0) & (since < BASELINE))
        anchors[joints[is_due]], anchored_at[joints[is_due]] = q[is_due], received
        source.positions[joints], source.received[joints] = q, received
        for other in [*self.memory.sources.values()]:
            if other is not source:
                self._compare(source, other, joints, received, timeout)

    def _compare(
            self, one: Source, other: Source, joints: np.ndarray, now: float, timeout: float,
            ) -> None:
        """Compare the states that a source has just sent, of joints that one of the two owns."""
        memory = self.memory
        joints = joints[[memory.owners[joint] in (one, other) for joint in joints.tolist()]]
        lag = now - other.received[joints]
        both = (lag >= 0.0) & (lag <= timeout)
        needed = 1
        if _are_related(one, other):  # they may be of one publisher: it must be sure
            needed = AGREEING
            both &= one.is_timed[joints] & other.is_timed[joints]
        if not both.any():
            return
        joints, lag = joints[both], lag[both]
        difference = np.abs(without_turns(
            one.positions[joints] - other.positions[joints], self._turn[joints]))
        explained = NOISE + np.maximum(one.speeds[joints], other.speeds[joints]) * (lag + LATENCY)
        excess = difference - explained
        pair = frozenset((one.key, other.key))
        count, at = memory.contradictions.get(pair, (0, -inf))
        if not (excess > 0.0).any():
            memory.contradictions[pair] = 0, at
            return
        count += 1
        if count >= needed:
            at = memory.conflict_at = now
            joint = int(joints[np.argmax(excess)])
            memory.conflict = (
                f'joint {self._names[joint]!r} is at {one.positions[joint]:.4g} by '
                f'{self._called(one)}, and at {other.positions[joint]:.4g} by '
                f'{self._called(other)}')
        memory.contradictions[pair] = count, at

    def _called(self, source: Source) -> str:
        """Return what people call a source."""
        names = ', '.join(source.names[:MAX_NAMED])
        if len(source.names) > MAX_NAMED:
            names += f' and {len(source.names) - MAX_NAMED} more'
        label = self.memory.labels.get(source.key, '')
        return f'{label} (joints {names})' if label else f'the publisher of joints {names}'

    def _is_same(self, one: Source, other: Source, now: float) -> bool:
        """Return whether two sources are taken for the same publisher."""
        if not _are_related(one, other):
            return False
        _, at = self.memory.contradictions.get(frozenset((one.key, other.key)), (0, -inf))
        return not 0.0 <= now - at <= CLEARING

    def _forget_silent(self, present: Source, now: float) -> None:
        """Forget sources that own nothing and are silent, or are more than may be kept."""
        memory = self.memory
        needed = {id(owner) for owner in memory.owners} | {id(present)}
        others = [one for one in memory.sources.values() if id(one) not in needed]
        others.sort(key=lambda one: one.heard)
        for place, one in enumerate(others):
            too_many = len(others) - place > MAX_SOURCES
            if too_many or not 0.0 <= now - one.heard <= FORGETTING:
                del memory.sources[one.key]
                memory.contradictions = {
                    pair: what for pair, what in memory.contradictions.items()
                    if one.key not in pair}


def _are_related(one: Source, other: Source) -> bool:
    """Return whether the names of one source contain those of another, if these are the keys."""
    if not (one.is_named and other.is_named):
        return False
    ones, others = one.key, other.key
    return isinstance(ones, frozenset) and isinstance(others, frozenset) and (
        ones <= others or ones >= others)
