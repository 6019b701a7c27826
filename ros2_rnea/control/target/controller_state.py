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
The reference of a trajectory controller, taken from its controller_state.

This message is the only way to follow action goals, speed scaling, cancellations and aborts,
because these do not appear on the topic of trajectories.  joint_trajectory_controller publishes
in each of its cycles the state that it has sampled, with velocities and accelerations; only with
``interpolation_method: none`` a field that a point lacks is missing here too.  A missing field is
taken as zero, as in the controller's own last point.  It is not computed by differences of the
field before it: that steps from point to point then, and its difference would be an impulse.

The controller publishes derivatives with respect to the trajectory's own time, which runs at the
speed scaling factor s.  The joints therefore move at s times the velocity and s^2 times the
acceleration.  The effect of a changing s is neglected, because only its steps are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.inputs.joint_states import Floats
from ros2_rnea.errors import MessageError
from ros2_rnea.robots.arguments import LARGEST
from ros2_rnea.trajectories.trajectory import Array

# The reference stands still after this many messages with the same positions in a row.  Two could
# be the samples before and after a turning point.
_STANDSTILL = 3


LARGEST_SCALING = 1000.0
"""No controller runs its trajectory faster than this, in multiples of the trajectory's time."""


class ControllerReference(NamedTuple):
    """
    The content of a JointTrajectoryControllerState message: the reference of the controller.

    :ivar joint_names: in the order of all values.
    :ivar positions: one for each joint [rad or m].
    :ivar velocities: one for each joint, or empty [rad/s or m/s].
    :ivar accelerations: one for each joint, or empty [rad/s^2 or m/s^2].
    :ivar stamp: time of the sample on the controller's clock [s]; 0: not given.
    :ivar speed_scaling: the factor by which the controller slows the trajectory's time down.  0
        is taken as "not given" until the controller has sent another value, because
        ros2_controllers before 4.39 never fills the field in.
    :ivar commanded_efforts: what the controller commands, or empty [Nm or N].
    """

    joint_names: Sequence[str]
    positions: Floats
    velocities: Floats = ()
    accelerations: Floats = ()
    stamp: float = 0.0
    speed_scaling: float = 0.0
    commanded_efforts: Floats = ()


class Reference(NamedTuple):
    """
    The reference to follow now; each array has shape (joints,) and must not be written to.

    :ivar strength: the factor of velocities and accelerations: 1 while the reference is fresh,
        then falling to 0 at twice the timeout.
    """

    positions: Array
    velocities: Array
    accelerations: Array
    strength: float


@dataclass
class ReferenceMemory:
    """
    The newest reference of a controller, and what its messages have told so far.

    :ivar joint_names: the joints that follow it, in the order of its arrays.
    :ivar newest: the reference; None: there is none.
    :ivar received: when it was received [s]; −inf: never.
    :ivar stamp: its stamp [s]; 0: not given.
    :ivar is_resuming: whether the newest one came after a pause that was longer than the timeout.
    :ivar repetitions: how many in succession have the same positions.
    :ivar scales: whether the controller fills in the speed scaling factor.
    :ivar names: all joints of the controller; none before its first message.
    :ivar missing: see :class:`ControllerState`, as for ``commanded_efforts``.
    """

    joint_names: tuple[str, ...]
    newest: Reference | None = None
    received: float = -inf
    stamp: float = 0.0
    is_resuming: bool = False
    repetitions: int = 0
    scales: bool = False
    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    commanded_efforts: Array | None = None

    def clear(self) -> None:
        """Discard the reference, but not what is known of the controller."""
        self.newest, self.received, self.stamp, self.repetitions = None, -inf, 0.0, 0
        self.is_resuming = False


class ControllerState:
    """
    The newest reference of a controller, and its age.

    After the timeout the velocities and accelerations fade to zero over the same time again: the
    effort does not step when a controller dies.  After a pause, two references within the timeout
    are needed: a controller that is a little too slow is not lost and found again with each of
    them.

    A controller repeats a trajectory's last point for ever, with the velocity and acceleration
    of that point, and repeats any point while it is paused.  A reference with constant positions
    is therefore taken as standing still.

    Times are those of a steady clock [s]; should it jump back, nothing is fresh.

    :ivar timeout: a reference is fresh for this long after its reception [s].
    :ivar missing: the fields that the newest reference lacks.
    :ivar commanded_efforts: the efforts that the controller commands, shape (joints,) [Nm or N];
        None where it commands none, or its message does not say.
    """

    def __init__(
            self, joint_names: Sequence[str], timeout: float,
            memory: ReferenceMemory | None = None) -> None:
        """
        Continue from the memory.

        :param joint_names: the joints to follow; a controller may have more.
        :param timeout: a reference is fresh for this long after its reception [s].
        :param memory: of the same joints; None: there is no reference.
        :raises ValueError: where the memory is that of other joints.
        """
        self.joint_names = tuple(joint_names)
        self.timeout = timeout
        self.memory = memory or ReferenceMemory(self.joint_names)
        if self.memory.joint_names != self.joint_names:
            raise ValueError(f'the memory is that of {self.memory.joint_names}')
        names = self.memory.names
        # In a message, of the joints here.
        self._indices = self._indices_in(names) if names else np.zeros(0, dtype=int)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the fields that the newest reference lacks."""
        return self.memory.missing

    @property
    def commanded_efforts(self) -> Array | None:
        """Return the efforts that the controller commands, shape (joints,); None: not known."""
        return self.memory.commanded_efforts

    @property
    def controller_joints(self) -> tuple[str, ...]:
        """Return all joints of the controller; none before its first reference."""
        return self.memory.names

    def clear(self) -> None:
        """Discard the reference."""
        self.memory.clear()

    def update(self, message: ControllerReference, now: float) -> None:
        """
        Accept a reference: either all of it, or nothing where it is refused.

        A repeated stamp marks a repeated message, which is ignored.  While the reference is
        fresh, an older stamp is out of order and refused; after the timeout an older stamp is
        accepted, because the controller's clock may have been reset.

        :param now: time of reception on the steady clock [s].
        :raises MessageError: for missing joints, wrong lengths, values that are not finite, or an
            old stamp.
        """
        joint_names, positions, velocities, accelerations, stamp, speed_scaling, efforts = message
        memory = self.memory
        names, indices = memory.names, self._indices
        if not names or tuple(joint_names) != names:
            names, indices = tuple(joint_names), self._indices_in(joint_names)
        fields = {
            'positions': positions, 'velocities': velocities, 'accelerations': accelerations}
        state = np.array([
            self._picked(field, values, len(names), indices) for field, values in fields.items()])
        if not 0.0 <= speed_scaling <= LARGEST_SCALING:
            raise MessageError(
                f'the speed scaling factor of the reference is {speed_scaling}; '
                f'it must be from 0 to {LARGEST_SCALING:g}')
        if stamp:
            if stamp == memory.stamp:
                return
            self._check_order(stamp, now)
        memory.is_resuming = memory.received > -inf and not (
            0.0 <= now - memory.received <= self.timeout)
        memory.stamp, memory.received = stamp, now
        memory.names, self._indices = names, indices
        has_efforts = len(efforts) == len(names)
        memory.commanded_efforts = (
            np.asarray(efforts, dtype=float)[indices] if has_efforts else None)
        memory.missing = tuple(field for field, values in fields.items() if not len(values))
        memory.scales = memory.scales or speed_scaling > 0.0
        self._take(state, speed_scaling if memory.scales else 1.0)

    def is_fresh(self, now: float) -> bool:
        """Return whether the reference is younger than the timeout, and no pause was before it."""
        return 0.0 <= now - self.memory.received <= self.timeout and not self.memory.is_resuming

    @property
    def has_reference(self) -> bool:
        """Return whether there is a reference, however old it is."""
        return self.memory.newest is not None

    def is_at_rest(self, now: float) -> bool:
        """Return whether the reference is fresh and stands still."""
        return self.is_fresh(now) and self.memory.repetitions >= _STANDSTILL

    def reference(self, now: float) -> Reference | None:
        """Return the newest reference, faded after the timeout; None before the first."""
        newest = self.memory.newest
        if newest is None or self.is_fresh(now):
            return newest
        age = now - self.memory.received
        fades = self.timeout and age > 0.0 and not self.memory.is_resuming
        strength = max(2.0 - age / self.timeout, 0.0) if fades else 0.0
        return Reference(
            newest.positions, strength * newest.velocities, strength * newest.accelerations,
            strength)

    def _take(self, state: Array, factor: float) -> None:
        memory = self.memory
        is_constant = memory.newest is not None and np.array_equal(
            state[0], memory.newest.positions)
        memory.repetitions = memory.repetitions + 1 if is_constant else 1
        if memory.repetitions >= _STANDSTILL:
            factor = 0.0
        state[1] *= factor
        state[2] *= factor * factor
        state.setflags(write=False)
        memory.newest = Reference(state[0], state[1], state[2], 1.0)

    def _check_order(self, stamp: float, now: float) -> None:
        if stamp < self.memory.stamp and now - self.memory.received <= self.timeout:
            raise MessageError(
                f'the reference has a stamp that is {self.memory.stamp - stamp:.6f} s older than '
                'the newest one')

    def _indices_in(self, joint_names: Sequence[str]) -> np.ndarray:
        index_of = {name: index for index, name in reversed([*enumerate(joint_names)])}
        lacking = [name for name in self.joint_names if name not in index_of]
        if lacking:
            raise MessageError(
                f"the reference has no joint {', '.join(map(repr, lacking))}: its controller must "
                'move all the joints that are controlled here')
        return np.array([index_of[name] for name in self.joint_names], dtype=int)

    def _picked(self, field: str, values: Floats, count: int, indices: np.ndarray) -> Array:
        """Return a field's values in the order of the joints here; zeros where it is missing."""
        if field != 'positions' and not len(values):
            return np.zeros(len(self.joint_names))
        if len(values) != count:
            raise MessageError(f'the reference has {len(values)} {field} for {count} joints')
        picked = np.asarray(values, dtype=float)[indices]
        usable = np.abs(picked) < LARGEST
        if not usable.all():
            joint = int(np.argmin(usable))
            raise MessageError(
                f'the reference has {picked[joint]} among its {field}, '
                f'for joint {self.joint_names[joint]!r}; it must be finite, and smaller than '
                f'{LARGEST:g}')
        return picked
