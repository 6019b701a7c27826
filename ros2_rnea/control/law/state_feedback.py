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
"""The acceleration that corrects errors of position and velocity, for computed torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf

import numpy as np

from ros2_rnea.errors import ArgumentError
from ros2_rnea.trajectories.trajectory import whole_turns


CATCH_UP_SPEED = 0.15
"""Speed at which a joint catches up with a motion that has begun without it [rad/s or m/s]."""


RAMP_CONSTANTS = 4.0
"""Time constants in which other gains come, within the duration of a hand-over."""

SAME_GAINS = 1e-3
"""Gains that differ less than by this share of the new ones are the new ones."""


@dataclass
class GainMemory:
    """
    The gains that were used last.

    :ivar used: for position and velocity, shape (2, joints); None: there were none.
    :ivar at: when that was [s].
    """

    used: np.ndarray | None = None
    at: float = -inf


class StateFeedback:
    """
    A proportional-derivative law with accelerations as output.

    Because the mass matrix turns these into efforts, the closed loop of each joint is the same
    oscillator for every load: frequency √position_gain [rad/s], damping ratio
    velocity_gain / (2 √position_gain).

    :param joints: names, in the order of all arrays.
    :param position_gains: one for all joints or one for each [1/s^2].
    :param velocity_gains: one for all joints or one for each [1/s].
    :param continuous: true for joints that turn without end; their error is taken the shorter
        way round.
    :raises ArgumentError: where the number of gains fits neither.
    """

    def __init__(
            self,
            joints: Sequence[str],
            position_gains: Sequence[float],
            velocity_gains: Sequence[float],
            continuous: Sequence[bool]) -> None:
        check_gains('position_gains', position_gains, joints)
        check_gains('velocity_gains', velocity_gains, joints)
        self._gains = np.array([
            np.broadcast_to(np.array(gains, dtype=float), len(joints))
            for gains in (position_gains, velocity_gains)])
        self._continuous = np.array(continuous, dtype=bool)
        with np.errstate(divide='ignore', invalid='ignore'):  # gains may be 0
            caught_up = CATCH_UP_SPEED * self._gains[1] / self._gains[0]
        self._first_error = np.where(self._gains[0] > 0.0, caught_up, np.inf)

    def gains(self, memory: GainMemory, now: float, duration: float) -> np.ndarray:
        """
        Return the gains to use, shape (2, joints): they change gradually, without a step.

        :param memory: it is changed.
        :param now: on the steady clock [s].
        :param duration: of a hand-over [s]; 0: there is none.
        """
        if memory.used is not self._gains:
            used = self._gains
            if memory.used is not None and duration > 0.0 and now >= memory.at:
                left = (memory.used - used) * exp(-RAMP_CONSTANTS * (now - memory.at) / duration)
                if (np.abs(left) > SAME_GAINS * np.abs(used)).any():
                    used = used + left
            memory.used = used
        memory.at = now
        return memory.used

    def catch_up_error(
            self, first: np.ndarray, present: np.ndarray, duration: float) -> np.ndarray | None:
        """
        Return the error that is corrected while joints catch up with their motion.

        They should come nearer by :data:`CATCH_UP_SPEED`.  A joint that is farther away than that
        explains, because of friction or a load, has its whole error beyond that corrected.

        :param first: how far each joint was from the motion at first, shape (joints,) [rad or m].
        :param present: how far it is now.
        :param duration: since then [s].
        :return: shape (joints,) [rad or m]; None: all should have caught up.
        """
        expected = first - CATCH_UP_SPEED * duration
        if not (expected > 0.0).any():
            return None
        return self._first_error + np.maximum(present - np.maximum(expected, 0.0), 0.0)

    def acceleration(
            self,
            desired_positions: np.ndarray,
            desired_velocities: np.ndarray,
            positions: np.ndarray,
            velocities: np.ndarray,
            largest_error: np.ndarray | None = None,
            weight: float = 1.0,
            gains: np.ndarray | None = None) -> np.ndarray:
        """
        Return the accelerations that correct the errors, shape (joints,) [rad/s^2 or m/s^2].

        :param largest_error: of position, beyond which the correction does not grow, shape
            (joints,) [rad or m]; None: there is none.
        :param weight: of the motion, 0 to 1; the damping always has its full weight.
        :param gains: as of :meth:`gains`; None: those given at first.
        """
        stiffness, damping = self._gains if gains is None else gains
        error = desired_positions - positions
        error -= whole_turns(error, self._continuous)
        if largest_error is not None:
            error = np.clip(error, -largest_error, largest_error)
        return (weight * stiffness * error
                + damping * (weight * desired_velocities - velocities))


def check_gains(what: str, gains: Sequence[float], joints: Sequence[str]) -> None:
    """
    Check that there is one gain for all joints or one for each.

    :raises ArgumentError: where there are more or fewer.
    """
    if len(gains) not in (1, len(joints)):
        raise ArgumentError(
            f'{what} has {len(gains)} numbers; it needs one for all joints or {len(joints)}, one '
            f'for each of {", ".join(joints)}')
