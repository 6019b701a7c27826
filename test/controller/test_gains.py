# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http:#www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The gains that the core accepts: those that the node accepts."""

from __future__ import annotations

import ctypes
from itertools import product

import numpy as np
from ros2_rnea.control.law.gain_check import unstable_gains

PERIODS = (1e-4, 0.001, 0.004, 0.025)
DELAYS = (0.0, 0.0007, 0.002, 0.01, 0.3)
POSITION_GAINS = np.geomspace(1.0, 3e4, 6)
DAMPING_RATIOS = (0.1, 0.3, 0.7, 1.0, 4.0)
SLIGHTLY_LARGER = 1.001
"""At the limit itself, rounding decides."""


def node_accepts(kp, kd, period, delay):
    return not unstable_gains([kp], [kd], ['joint'], period, delay, 0.0)


def test_core_and_node_accept_the_same_gains(library):
    def core_accepts(*numbers):
        return bool(library.core_is_stable(*map(ctypes.c_double, numbers)))

    counts = {True: 0, False: 0}
    for period, delay, kp, ratio in product(PERIODS, DELAYS, POSITION_GAINS, DAMPING_RATIOS):
        kd = 2.0 * ratio * np.sqrt(kp)
        accepted = core_accepts(kp, kd, period, delay)
        counts[accepted] += 1
        assert any(
            accepted is node_accepts(kp * scale ** 2, kd * scale, period, delay)
            for scale in (1.0, SLIGHTLY_LARGER, 1.0 / SLIGHTLY_LARGER)), (kp, kd, period, delay)
    assert min(counts.values()) > 150
