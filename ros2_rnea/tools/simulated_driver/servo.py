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
The joint PD loop that an arm's own controller runs, once a millisecond.

Nothing here knows ROS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class JointServo:
    """
    Proportional and derivative feedback on each joint, plus an effort that comes from outside.

    :param stiffness: shape (n,) [Nm/rad].
    :param damping: shape (n,) [Nm s/rad].
    :param effort_limits: what the motors can exert, shape (n,) [Nm].
    """

    stiffness: Vector
    damping: Vector
    effort_limits: Vector

    def effort(self, measured: tuple[Vector, Vector], desired: tuple[Vector, Vector],
               feedforward: Vector) -> Vector:
        """
        Return the effort of the motors.

        :param measured: positions [rad] and velocities [rad/s], shape (n,) each.
        :param desired: the same of the motion to follow.
        :param feedforward: effort to add, shape (n,) [Nm].
        :returns: effort within the limits, shape (n,) [Nm].
        """
        feedback = (self.stiffness * (desired[0] - measured[0])
                    + self.damping * (desired[1] - measured[1]))
        return np.clip(feedback + feedforward, -self.effort_limits, self.effort_limits)
