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
The ends of the range and the velocity limits of joints.

Only the part of an effort that drives a joint on is taken away: the effort beyond that which holds
it against gravity, in the direction of the bound.  It goes to zero continuously, over a band
inside the bound, so sensor noise does not switch it on and off.  What holds and what brakes always
stays, so a joint that starts beyond its range can be guided back.

A joint that moves towards the end of its range may be as fast as a constant deceleration stops it
there, √(2 a d) at the distance d.  :meth:`JointBounds.excess` is what it is faster.

Some descriptions contain an empty range or a velocity limit of zero as a placeholder; these are
ignored.
"""

from __future__ import annotations

import numpy as np

from ros2_rnea.control.arrays import any_set

POSITION_BAND = 0.02
"""Width of the band inside the end of a range [rad or m]; at most a hundredth of the range."""

SMALLEST_BAND = 1e-9
"""Width of the band where the margins of a range meet [rad or m]."""

VELOCITY_BAND = 0.1
"""Width of the band below a velocity limit, as a share of it."""

USUAL_SPEED = 2.0
"""Speed limit where the description has none, for the deceleration alone [rad/s or m/s]."""

DECELERATION = 0.5
"""Deceleration before the end of a range, as a share of the speed limit by ``braking_time``."""


class JointBounds:
    """
    The bounds of some joints.

    :param described: ranges and velocity limits, shape (joints, 3), as ``RobotJoints.bounds``.
    :param margin: distance from the end of its range at which a joint is at the bound [rad or m].
    :param velocity_factor: share of the velocity limits that may be reached.
    :param braking_time: time constant of braking [s].
    :ivar lower: lower ends of the ranges, less the margin, shape (joints,) [rad or m]; −inf: none.
    :ivar upper: upper ends of the ranges, less the margin, shape (joints,) [rad or m]; +inf: none.
    """

    def __init__(
            self, described: np.ndarray, margin: float, velocity_factor: float,
            braking_time: float) -> None:
        lower, upper, velocity = described.T
        margins = np.fmin(margin, 0.5 * (upper - lower))  # at least the middle is left
        self.lower, self.upper = lower + margins, upper - margins
        self._speeds = speeds = velocity * velocity_factor
        usual = np.where(np.isinf(speeds), USUAL_SPEED, speeds)
        self._deceleration = DECELERATION * usual / braking_time
        with np.errstate(invalid='ignore'):  # ranges without an end
            self._band = np.maximum(
                np.fmin(POSITION_BAND, 0.01 * (self.upper - self.lower)), SMALLEST_BAND)
        self._speed_band = VELOCITY_BAND * usual
        # Outside of these, something may have to be restrained.
        reach = usual * usual / (2.0 * self._deceleration) + self._band
        self._inner_lower, self._inner_upper = self.lower + reach, self.upper - reach
        self._inner_speeds = (1.0 - VELOCITY_BAND) * speeds

    def may_matter(self, positions: np.ndarray, velocities: np.ndarray) -> bool:
        """Return whether a joint is near a bound; arrays of shape (joints,)."""
        return any_set((positions > self._inner_upper) | (positions < self._inner_lower)
                       | (np.abs(velocities) > self._inner_speeds))

    def restrained(
            self, effort: np.ndarray, holding: np.ndarray, positions: np.ndarray,
            velocities: np.ndarray) -> np.ndarray:
        """
        Return an effort without the part of it that drives a joint beyond a bound.

        :param effort: shape (joints,) [Nm or N]; all other arrays have this shape too.
        :param holding: the effort that holds the joints where they are.
        :param positions: [rad or m].
        :param velocities: [rad/s or m/s]; 0 where they are not known.
        """
        driving = effort - holding
        up, down = self._shares(positions, velocities)
        return np.where(
            (up < 1.0) & (driving > 0.0), holding + up * driving,
            np.where((down < 1.0) & (driving < 0.0), holding + down * driving, effort))

    def excess(self, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """
        Return the part of the velocity that is too fast to stop at the end of the range.

        :return: shape (joints,) [rad/s or m/s]; 0 where a joint is slow enough.
        """
        up, down = self._fastest(positions)
        return np.maximum(velocities - up, 0.0) + np.minimum(velocities + down, 0.0)

    def _fastest(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest speed towards the upper and the lower end of the range."""
        return (np.sqrt(2.0 * self._deceleration * np.maximum(self.upper - positions, 0.0)),
                np.sqrt(2.0 * self._deceleration * np.maximum(positions - self.lower, 0.0)))

    def _shares(
            self, positions: np.ndarray, velocities: np.ndarray,
            ) -> tuple[np.ndarray, np.ndarray]:
        """Return which share of a driving effort stays, upwards and downwards."""
        fastest_up, fastest_down = self._fastest(positions)
        up = np.minimum(
            (self.upper - positions) / self._band,
            (np.minimum(fastest_up, self._speeds) - velocities) / self._speed_band)
        down = np.minimum(
            (positions - self.lower) / self._band,
            (np.minimum(fastest_down, self._speeds) + velocities) / self._speed_band)
        return np.clip(up, 0.0, 1.0), np.clip(down, 0.0, 1.0)
