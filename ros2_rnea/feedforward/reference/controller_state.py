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
The motion that a trajectory controller says it executes, taken from its controller_state.

That message is the one way to follow action goals, speed scaling, cancels and aborts: none of them
is on the topic of trajectories.  joint_trajectory_controller publishes in each of its cycles what
it has sampled for this moment, always with velocities and accelerations, except that with
``interpolation_method: none`` a point's missing fields are missing here too.  A missing field
counts as zero, as in the controller's own last point.  It is not differenced from the field before
it, which jumps from point to point then and whose difference would be a blow.

The controller tells velocities and accelerations by the trajectory's own time.  That runs at the
speed scaling factor s, so that the joints are to move at s times the one and s^2 times the other.
A change of s itself is left out; only its steps are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import MessageError
from ros2_rnea.feedforward.reference.trajectory import Array
from ros2_rnea.feedforward.state.joint_states import Floats

# As many references as these in one place, one after the other, are a robot that is to stand
# still.  Two might be the sides of a turning point.
_STANDING = 3


class ControllerReference(NamedTuple):
    """
    The content of a JointTrajectoryControllerState message: the reference of the controller.

    :ivar joint_names: in the order of all values.
    :ivar positions: one for each joint [rad or m].
    :ivar velocities: likewise, or empty [rad/s or m/s].
    :ivar accelerations: likewise, or empty [rad/s^2 or m/s^2].
    :ivar stamp: time of the sample on the controller's clock [s]; 0: not given.
    :ivar speed_scaling: the factor by which the controller slows the trajectory's time down.  0
        is taken as "not given" until the controller has sent another value, because
        ros2_controllers before 4.39 never fills the field in.
    """

    joint_names: Sequence[str]
    positions: Floats
    velocities: Floats = ()
    accelerations: Floats = ()
    stamp: float = 0.0
    speed_scaling: float = 0.0


class Reference(NamedTuple):
    """
    A controller's reference; each array of shape (joints,) and only to be read.

    :ivar strength: what share of the motion is left in the velocities and accelerations: 1 while
        the reference counts, 0 from twice the timeout on.
    """

    positions: Array
    velocities: Array
    accelerations: Array
    strength: float


class ControllerState:
    """
    The newest reference of a controller, and for how long it counts.

    After the timeout its velocities and accelerations fade to zero over the same time again, so
    that a controller that dies makes no step.

    A controller repeats a trajectory's last point for ever, with whatever velocity and
    acceleration that has, and does the same with any point while it is paused.  A reference that
    stays in one place therefore stands still here.

    Times are those of one steady clock [s]; should it jump back all the same, nothing is fresh.

    :ivar timeout: how long a reference counts after it came [s].
    :ivar missing: the fields that the newest reference lacks.
    """

    def __init__(self, joint_names: Sequence[str], timeout: float) -> None:
        """
        Start without a reference.

        :param joint_names: the joints to follow; a controller may have more.
        :param timeout: how long a reference counts after it came [s].
        """
        self.joint_names = tuple(joint_names)
        self.timeout = timeout
        self.missing: tuple[str, ...] = ()
        self._names: Sequence[str] = ()
        self._places = np.zeros(0, dtype=int)
        self._scales = False
        self.clear()

    def clear(self) -> None:
        """Forget the reference."""
        self._newest: Reference | None = None
        self._received = -inf
        self._stamp = 0.0
        self._in_one_place = 0

    def adopt(self, older: ControllerState) -> None:
        """Go on with the reference of an earlier object for the same joints."""
        self.missing, self._scales = older.missing, older._scales
        self._newest, self._received = older._newest, older._received
        self._stamp, self._in_one_place = older._stamp, older._in_one_place

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
        joint_names, positions, velocities, accelerations, stamp, speed_scaling = message
        if list(joint_names) != self._names:
            self._places = self._places_of(joint_names)
            self._names = list(joint_names)
        fields = {
            'positions': positions, 'velocities': velocities, 'accelerations': accelerations}
        state = np.array([self._picked(field, values) for field, values in fields.items()])
        if not speed_scaling >= 0.0 or not isfinite(speed_scaling):
            raise MessageError(
                f'the speed scaling factor of the reference is {speed_scaling}; '
                'it must be a finite number from 0 on')
        if stamp:
            if stamp == self._stamp:
                return
            self._check_order(stamp, now)
        self._stamp, self._received = stamp, now
        self.missing = tuple(field for field, values in fields.items() if not len(values))
        self._scales = self._scales or speed_scaling > 0.0
        self._take(state, speed_scaling if self._scales else 1.0)

    def is_fresh(self, now: float) -> bool:
        """Tell whether the reference counts."""
        return 0.0 <= now - self._received <= self.timeout

    def reference(self, now: float) -> Reference | None:
        """Return the newest reference, as far as it counts; None before the first."""
        newest = self._newest
        if newest is None or self.is_fresh(now):
            return newest
        age = now - self._received
        strength = max(2.0 - age / self.timeout, 0.0) if self.timeout and age > 0.0 else 0.0
        return Reference(
            newest.positions, strength * newest.velocities, strength * newest.accelerations,
            strength)

    def _take(self, state: Array, factor: float) -> None:
        unmoved = self._newest is not None and np.array_equal(state[0], self._newest.positions)
        self._in_one_place = self._in_one_place + 1 if unmoved else 1
        if self._in_one_place >= _STANDING:
            factor = 0.0
        state[1] *= factor
        state[2] *= factor * factor
        state.setflags(write=False)
        self._newest = Reference(state[0], state[1], state[2], 1.0)

    def _check_order(self, stamp: float, now: float) -> None:
        if stamp < self._stamp and self.is_fresh(now):
            raise MessageError(
                f'the reference has a stamp that is {self._stamp - stamp:.6f} s older than the '
                'one already taken')

    def _places_of(self, joint_names: Sequence[str]) -> np.ndarray:
        lacking = [name for name in self.joint_names if name not in joint_names]
        if lacking:
            raise MessageError(
                f"the reference has no joint {', '.join(map(repr, lacking))}: its controller must "
                'move all the joints that are controlled here')
        return np.array([list(joint_names).index(name) for name in self.joint_names], dtype=int)

    def _picked(self, field: str, values: Floats) -> Array:
        """Return a field's values in the order of the joints here; zeros where it is missing."""
        if field != 'positions' and not len(values):
            return np.zeros(len(self.joint_names))
        if len(values) != len(self._names):
            raise MessageError(
                f'the reference has {len(values)} {field} for {len(self._names)} joints')
        picked = np.asarray(values, dtype=float)[self._places]
        if not np.isfinite(picked).all():
            joint = int(np.argmin(np.isfinite(picked)))
            raise MessageError(
                f'the reference has {picked[joint]} among its {field}, '
                f'for joint {self.joint_names[joint]!r}; it must be finite')
        return picked
