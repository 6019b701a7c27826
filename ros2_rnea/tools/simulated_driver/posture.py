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
The start pose of an arm for which none is given.

Nothing here knows ROS.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ros2_rnea.tools.simulated_driver.engine import Engine

BEND = 0.6
"""Each joint's distance from the middle of its range, in alternating directions [rad or m]."""

BENDS = (1.0, 0.5, 0.25, 0.0)
"""Shares of it that are tried one after the other, until the arm can hold itself with ease."""

EASE = 0.3
"""Share of the motors' efforts that may go into holding the arm."""


def bent_pose(engine: Engine) -> NDArray[np.float64]:
    """
    Return a pose in the middle of the joints' ranges, somewhat bent: no arm is stretched.

    :param engine: which is left in one of the poses that were tried.
    :returns: joint positions, shape (n,) [rad or m].
    """
    poses = [_bent(engine, share) for share in BENDS]
    loads = [effort_share(engine, engine.holding_effort(pose)) for pose in poses]
    for pose, load in zip(poses, loads):
        if load <= EASE:
            return pose
    return poses[int(np.argmin(loads))]


def effort_share(engine: Engine, effort: NDArray[np.float64]) -> float:
    """
    Return what share of its limit the most loaded joint needs.

    :param effort: shape (..., n) [Nm or N].
    """
    with np.errstate(divide='ignore', invalid='ignore'):
        return float(np.nanmax(np.abs(effort) / engine.effort_limits, initial=0.0))


def _bent(engine: Engine, share: float) -> NDArray[np.float64]:
    lower, upper = np.clip(engine.position_limits, -np.pi, np.pi)
    signs = np.where(np.arange(len(lower)) % 2, 1.0, -1.0)
    return 0.5 * (lower + upper) + share * signs * np.minimum(BEND, 0.25 * (upper - lower))
