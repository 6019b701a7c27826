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
Periodic motions that start and end at rest, as finite Fourier series.

Each joint moves as q(t) = q0 + Re sum_k z_k (exp(i k w t) - 1), k = 1 ... harmonics, with w = 2 pi
over the period.  Such a motion has no frequency above that of its last harmonic, so it does not
excite the elasticity of the arm, and averages over its periods reduce the noise.

J. Swevers, C. Ganseman, D. B. Tuekel, J. de Schutter and H. Van Brussel, "Optimal Robot Excitation
and Identification", IEEE Transactions on Robotics and Automation 13(5), 1997.  Unlike there,
velocity and acceleration are zero at t = 0, so the motion can start and end at rest: of the
coefficients z_k, only those combinations are free that keep sum k Im z_k and sum k^2 Re z_k at 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi

import numpy as np
from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.arguments import Array
from scipy.linalg import block_diag, null_space

FEWEST_HARMONICS = 2
"""Minimum number: no motion of one harmonic starts and ends at rest."""


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """
    A periodic motion of some joints that is at rest at the start of each period.

    :ivar period: [s].
    :ivar start: positions at the start of each period, shape (joints,) [rad or m].
    :ivar coefficients: complex z_k, shape (joints, harmonics) [rad or m]; as a
        :class:`.FourierBasis` makes them from free numbers.
    """

    period: float
    start: Array
    coefficients: np.ndarray

    def at(self, times: Array) -> Array:
        """
        Return positions, velocities and accelerations at some times [s], shape (3, N, joints).

        The motion goes on periodically before 0 and after the period.
        """
        rates = 2j * pi / self.period * np.arange(1, self.coefficients.shape[1] + 1)
        waves = np.exp(np.asarray(times, dtype=float)[:, np.newaxis] * rates)
        z = self.coefficients.T
        return np.stack((
            self.start + ((waves - 1.0) @ z).real,
            ((waves * rates) @ z).real,
            ((waves * rates * rates) @ z).real))

    def scaled(self, factor: float) -> FourierMotion:
        """Return the motion with each joint's way from the start multiplied by a factor."""
        return replace(self, coefficients=factor * self.coefficients)


class FourierBasis:
    """
    The motions of one joint with a period and some harmonics, as combinations of free numbers.

    :param period: [s].
    :param harmonics: how many, at least 2.
    :raises ArgumentError: naming the value that is out of range.
    """

    def __init__(self, period: float, harmonics: int) -> None:
        if not 0.0 < period < float('inf'):
            raise ArgumentError(f'the period is {period} s; it needs a positive finite time')
        if harmonics < FEWEST_HARMONICS:
            raise ArgumentError(
                f'{harmonics} harmonics are asked for; at least {FEWEST_HARMONICS} are needed for '
                'a motion that starts and ends at rest')
        self.period = period
        self.harmonics = harmonics
        orders = np.arange(1.0, harmonics + 1.0)
        even, odd = null_space([orders ** 2]), null_space([orders])
        # The columns of `free` are real and imaginary parts of z, one after the other.
        self._free = block_diag(even, odd)

    @property
    def size(self) -> int:
        """Return how many free numbers a joint has besides the position at its start."""
        return int(self._free.shape[1])

    def motion(self, start: Array, free: Array) -> FourierMotion:
        """
        Return the motion of several joints.

        :param start: positions at the start, shape (joints,).
        :param free: the free numbers of each joint, shape (joints, size).
        """
        real, imaginary = np.split(free @ self._free.T, 2, axis=1)
        return FourierMotion(self.period, np.array(start, dtype=float), real + 1j * imaginary)

    def free_of(self, motion: FourierMotion) -> Array:
        """Return the free numbers behind a motion, shape (joints, size)."""
        parts = np.hstack((motion.coefficients.real, motion.coefficients.imag))
        return np.asarray(parts @ self._free)  # whose columns are orthonormal

    def at(self, times: Array) -> Array:
        """
        Return by which matrices the free numbers become a motion.

        :return: shape (3, N, size): position from the start, velocity and acceleration.
        """
        return self.motion(np.zeros(self.size), np.eye(self.size)).at(times)
