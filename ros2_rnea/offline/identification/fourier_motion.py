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
velocity and acceleration are zero at t = 0, so the motion can start and end at rest: sum k Im z_k
and sum k^2 Re z_k are 0, which needs two harmonics at least.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi

import numpy as np
from ros2_rnea.robots.arguments import Array
from scipy.linalg import null_space


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """
    A periodic motion of some joints.

    :ivar period: [s].
    :ivar start: positions at the start of each period, shape (joints,) [rad or m].
    :ivar coefficients: complex z_k, shape (joints, harmonics) [rad or m].
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

    def scaled(self, factor: float | Array) -> FourierMotion:
        """Return the motion with each joint's way from the start multiplied by a factor."""
        return replace(self, coefficients=(factor * self.coefficients.T).T)


def basis_at_rest(harmonics: int) -> np.ndarray:
    """Return coefficients, shape (N, harmonics), whose real sums are those of motions at rest."""
    orders = np.arange(1.0, harmonics + 1.0)
    return np.vstack((null_space([orders**2]).T, 1j * null_space([orders]).T))
