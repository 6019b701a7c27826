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
The share of a damping by joint that is stable with the period and the delay of the bus.

Joints that are damped each by itself act on each other through the mass matrix: with dampings D,
the rate of the fastest mode of q̈ = −M⁻¹ D q̇ is the inverse of the smallest eigenvalue of
D^-½ M D^-½.  It may be as fast as :func:`.largest_damping` allows.  Joints without damping move
freely and give way: M is then the apparent inertia of the damped joints.  The mass matrix changes
slowly, so only one of its columns is computed in each cycle.
"""

from __future__ import annotations

import numpy as np

from ros2_rnea.control.law.braking import Braking
from ros2_rnea.control.law.gain_check import largest_damping
from ros2_rnea.dynamics.apparent_inertia import apparent_inertia

SAME_PERIOD = 1.2
"""The period has to change by this factor before its consequence is computed again."""


class StableDamping:
    """
    The largest stable share of some dampings.

    :param braking: computes inertial efforts.
    :param damping: of each joint, shape (joints,) [Nm s/rad or N s/m]; 0: it is not damped.
    :param delay: from a measurement until its effort acts, not including the period [s].
    """

    def __init__(self, braking: Braking, damping: np.ndarray, delay: float) -> None:
        self._braking = braking
        self._delay = delay
        self._damped, self._free = np.flatnonzero(damping > 0.0), np.flatnonzero(damping <= 0.0)
        self._scaling = 1.0 / np.sqrt(damping[self._damped])
        self._inertia = np.zeros((len(damping), len(damping)))
        self._next = -1  # the column that is computed next; −1: all of them
        self._period = self._largest = 0.0
        self._share = 1.0

    def share(self, q: np.ndarray, period: float) -> float:
        """
        Return the share of the damping that is stable, up to 1.

        :param q: positions of the robot, shape (nq,).
        :param period: of the cycle [s].
        """
        if not len(self._damped):
            return 1.0
        if not 1.0 / SAME_PERIOD < period / (self._period or 1.0) < SAME_PERIOD or (
                not self._period):
            self._period, self._largest = period, largest_damping(1.0, period, self._delay)
        is_first = self._next < 0
        count = len(self._inertia)
        for joint in range(count) if is_first else (self._next,):
            unit = np.zeros(count)
            unit[joint] = 1.0
            self._inertia[:, joint] = self._braking.inertia(q, unit)
        self._next = 0 if is_first else (self._next + 1) % count
        if self._next == 0:
            self._share = self._stable_share()
        return self._share

    def _stable_share(self) -> float:
        inertia = 0.5 * (self._inertia + self._inertia.T)
        among = apparent_inertia(inertia, self._damped, self._free)
        scaled = self._scaling[:, np.newaxis] * among * self._scaling
        slowest = float(np.linalg.eigvalsh(scaled)[0])
        return min(max(self._largest * slowest, 0.0), 1.0)
