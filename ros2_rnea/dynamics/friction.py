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
"""The effort that the joints' own friction takes."""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.joints import joint_rate
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Number, sqrt

SLOW = 0.01
"""The speed [rad/s or m/s] around which Coulomb friction goes over from one sign to the other."""


def joint_friction(tree: Tree, qd: Sequence[Number]) -> list[Number]:
    """
    Return the effort that overcomes viscous and Coulomb friction, as ``<dynamics>`` gives them.

    The sign of Coulomb friction is smooth, v / sqrt(v² + SLOW²): nothing at rest, and 0.7 of it at
    SLOW.  Still it is steep there, so that to compensate it at a measured velocity would drive a
    resting joint to and fro; a desired velocity is what it is for.

    :param qd: joint velocities, nv numbers.
    :return: nv numbers [Nm or N]; a mimicking joint's friction counts at the joint it follows.
    """
    tau: list[Number] = [0.0] * tree.nv
    for body in tree.bodies:
        for k, rate in enumerate(joint_rate(body, qd), start=body.v_index):
            resistance = rate * body.damping
            if body.friction:
                sign = rate / sqrt(rate * rate + SLOW * SLOW)
                resistance = resistance + sign * body.friction
            tau[k] = tau[k] + resistance * body.multiplier
    return tau


def friction_slope(tree: Tree, qd: Sequence[Number]) -> list[Number]:
    """
    Return how the friction of each coordinate changes with its velocity.

    Arguments are those of :func:`joint_friction`, whose derivative this is.

    :return: nv numbers [Nm s/rad or N s/m]; no joint's friction depends on another's velocity.
    """
    slopes: list[Number] = [0.0] * tree.nv
    for body in tree.bodies:
        for k, rate in enumerate(joint_rate(body, qd), start=body.v_index):
            slope = body.damping
            if body.friction:
                square = rate * rate + SLOW * SLOW
                slope = slope + body.friction * (SLOW * SLOW / (square * sqrt(square)))
            slopes[k] = slopes[k] + slope * body.multiplier**2
    return slopes
