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
"""What the springs of joints do, such as those that balance the weight of an arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ros2_rnea.dynamics.joints import joint_position
from ros2_rnea.model.tree import Body, Tree
from ros2_rnea.spatial import Number


def spring_effort(tree: Tree, q: Sequence[Number]) -> list[Number]:
    """
    Return the effort against the springs, k (q − q₀) for each joint that has one.

    :param q: joint positions, nq numbers [rad or m].
    :return: nv numbers [Nm or N]; a mimicking joint's spring counts at the joint it follows.
    """
    tau: list[Number] = [0.0] * tree.nv
    for body, deflection in _deflections(tree, q):
        k = body.v_index
        tau[k] = tau[k] + deflection * body.spring_stiffness * body.multiplier
    return tau


def spring_slope(tree: Tree) -> list[Number]:
    """
    Return how the effort against the springs changes with the position of each joint.

    :return: nv numbers [Nm/rad or N/m]; no spring depends on the position of another joint.
    """
    slopes: list[Number] = [0.0] * tree.nv
    for body in tree.bodies:
        if body.type.nv == 1:
            k = body.v_index
            slopes[k] = slopes[k] + body.spring_stiffness * body.multiplier**2
    return slopes


def spring_energy(tree: Tree, q: Sequence[Number]) -> Number:
    """
    Return the energy in the springs, ½ k (q − q₀)² each [J].

    :param q: joint positions, nq numbers [rad or m].
    """
    energy: Number = 0.0
    for body, deflection in _deflections(tree, q):
        energy = energy + deflection * deflection * (0.5 * body.spring_stiffness)
    return energy


def _deflections(tree: Tree, q: Sequence[Number]) -> Iterator[tuple[Body, Number]]:
    """Yield the bodies whose joints have a spring, and how far it is deflected, q − q₀."""
    for body in tree.bodies:
        if body.type.nv == 1 and body.spring_stiffness:
            position, = joint_position(body, q)
            yield body, position - body.spring_reference
