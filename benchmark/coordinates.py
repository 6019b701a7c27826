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
The ways in which peers write the state of a floating base.

Ours is q = (x, y, z, qx, qy, qz, qw) and v = [angular; linear] in the axes of the base.  With it
stand the joints' own numbers, which peers only put in another order.
"""

from __future__ import annotations

import numpy as np

SWAP = [3, 4, 5, 0, 1, 2]
"""[angular; linear] <-> [linear; angular]."""

BASE = 6
"""So many velocities are those of a floating base."""


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion (x, y, z, w)."""
    x, y, z, w = quaternion
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def in_world_axes(
        q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the base's linear velocity in the world's axes, and that vector's derivative.

    In axes that turn, a vector's coordinates change for that alone: d(R v)/dt = R (v̇ + ω × v).
    """
    R, angular, linear = rotation(q[3:7]), qd[0:3], qd[3:6]
    return R @ linear, R @ (qdd[3:6] + np.cross(angular, linear))
