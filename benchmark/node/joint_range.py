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
"""Joint states for the benchmark: inside all limits, so that no limit is active."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from ros2_rnea.model.description import JointLimits

REACH = 0.5
SPEED = 0.5

FOR_RANDOM_STATES = {
    'start_from': 'zero', 'plausible_speed_factor': 0.0, 'path_tolerance': 0.0,
    'path_tolerance_prismatic': 0.0}
"""Parameters with which the node follows a trajectory although states and efforts are random."""


class JointRange(NamedTuple):
    """
    What a joint's states are drawn from.

    :ivar middle: of its travel; zero where that has no two bounds [rad or m].
    :ivar reach: how far it goes to either side; half of what its limits allow, at most REACH.
    :ivar speed: how fast it goes; half of what its limits allow, at most SPEED [rad/s or m/s].
    """

    middle: float
    reach: float
    speed: float


def joint_range(limits: JointLimits) -> JointRange:
    """
    Return where a joint may be.

    Some descriptions have an empty range or a velocity limit of zero as a placeholder; these are
    ignored.
    """
    speed = min(SPEED, 0.5 * limits.velocity) if limits.velocity > 0.0 else SPEED
    reach = 0.25 * (limits.upper - limits.lower)
    if not 0.0 < reach < inf:
        return JointRange(0.0, REACH, speed)
    return JointRange(0.5 * (limits.lower + limits.upper), min(REACH, reach), speed)
