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
A joint PD loop at 1 kHz, as the controller of a real arm has it.

Nothing here knows ROS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ros2_rnea.tools.simulated_driver.engine import Engine

Vector = NDArray[np.float64]

SLOWEST, FASTEST = 25.0, 80.0
"""Natural frequencies of the heaviest and of the lightest joints [rad/s]."""

DAMPING_RATIO = 0.7

MIN_SHARE = 0.12
"""
Share of the inertia that a joint feels on which its gains may rely where others give way.

Two axes in line feel the whole arm each, but hardly anything against each other; a loop that is
sampled once a millisecond would then be too strong for its inertia.
"""


RETURN = 20.0
"""Least rate at which the stiffness overcomes the joint's own damping [1/s]."""


POSES = 100
"""Number of random poses in which the gains have to be stable."""


def gains_in(pose: Vector, engine: Engine) -> tuple[Vector, Vector]:
    """
    Return the :func:`gains` of an arm that waits in a pose.

    :param pose: joint positions, shape (n,) [rad or m].
    :param engine: which is left in one of the poses that were tried.
    :returns: stiffness [Nm/rad or N/m] and damping [Nm s/rad or N s/m], shape (n,) each.
    """
    anywhere = [engine.mass_matrix(other) for other in engine.random_poses(POSES, seed=1)]
    return gains(engine.mass_matrix(pose), np.array(anywhere), engine.damping)


def gains(at_start: Vector, anywhere: Vector, own_damping: Vector) -> tuple[Vector, Vector]:
    """
    Return gains as a manufacturer would set them: faster for joints with less inertia.

    The natural frequency of the joint with the largest inertia is ``SLOWEST``; that of the others
    grows with the fourth root of what their inertia is less, up to ``FASTEST``.  A joint that is
    damped strongly by itself is stiffer.

    :param at_start: mass matrix where the arm waits, shape (n, n) [kg m^2 and kg].
    :param anywhere: mass matrices in many poses, shape (N, n, n).
    :param own_damping: of the joints, shape (n,) [Nm s/rad or N s/m].
    :returns: stiffness [Nm/rad or N/m] and damping [Nm s/rad or N s/m], shape (n,) each.
    """
    felt = np.diagonal(at_start)
    left = 1.0 / np.diagonal(np.linalg.inv(anywhere), axis1=1, axis2=2).max(axis=0)
    inertia = np.minimum(felt, left / MIN_SHARE)
    frequency = np.minimum(SLOWEST * (inertia.max() / inertia)**0.25, FASTEST)
    stiffness = np.maximum(inertia * frequency**2, RETURN * own_damping)
    return stiffness, 2.0 * DAMPING_RATIO * inertia * frequency


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
        :param desired: positions and velocities of the motion to follow, shape (n,) each.
        :param feedforward: effort to add, shape (n,) [Nm].
        :returns: effort within the limits, shape (n,) [Nm].
        """
        feedback = (self.stiffness * (desired[0] - measured[0])
                    + self.damping * (desired[1] - measured[1]))
        return np.clip(feedback + feedforward, -self.effort_limits, self.effort_limits)
