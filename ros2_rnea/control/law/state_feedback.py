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

import numpy as np

from ros2_rnea.errors import ArgumentError
from ros2_rnea.trajectories.trajectory import whole_turns


CATCH_UP_SPEED = 0.15
"""How much faster a joint is than a motion that has begun without it [rad/s or m/s]."""


class StateFeedback:
    """
    A proportional-derivative law with accelerations as output.

    Because the mass matrix turns these into efforts, the closed loop of each joint is the same
    oscillator for every load: frequency √position_gain [rad/s], damping ratio
    velocity_gain / (2 √position_gain).

    :param joints: names, in the order of all arrays.
    :param position_gains: one for all joints or one for each [1/s^2].
    :param velocity_gains: likewise [1/s].
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
        self._stiffness = np.broadcast_to(np.array(position_gains, dtype=float), len(joints))
        self._damping = np.broadcast_to(np.array(velocity_gains, dtype=float), len(joints))
        self._continuous = np.array(continuous, dtype=bool)
        with np.errstate(divide='ignore', invalid='ignore'):  # gains may be 0
            caught_up = CATCH_UP_SPEED * self._damping / self._stiffness
        self._first_error = np.where(self._stiffness > 0.0, caught_up, np.inf)

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
            weight: float = 1.0) -> np.ndarray:
        """
        Return the accelerations that correct the errors, shape (joints,) [rad/s^2 or m/s^2].

        :param largest_error: of position, beyond which the correction does not grow, shape
            (joints,) [rad or m]; None: there is none.
        :param weight: of the motion, 0 to 1; the damping always has its full weight.
        """
        error = desired_positions - positions
        error -= whole_turns(error, self._continuous)
        if largest_error is not None:
            error = np.clip(error, -largest_error, largest_error)
        return (weight * self._stiffness * error
                + self._damping * (weight * desired_velocities - velocities))


def check_gains(what: str, gains: Sequence[float], joints: Sequence[str]) -> None:
    """
    Check that there is one gain for all joints or one for each.

    :raises ArgumentError: where there are more or fewer.
    """
    if len(gains) not in (1, len(joints)):
        raise ArgumentError(
            f'{what} has {len(gains)} numbers; it needs one for all joints or {len(joints)}, one '
            f'for each of {", ".join(joints)}')
