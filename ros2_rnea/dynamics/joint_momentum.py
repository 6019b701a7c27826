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
"""The generalized momentum M q̇, and Cᵀ q̇, by one recursion without a matrix."""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.kinematics import body_velocities
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Number


def momentum_of_links(
        tree: Tree, q: Sequence[Number], qd: Sequence[Number],
        ) -> tuple[list[Number], list[Number]]:
    """
    Return M q̇ and Cᵀ q̇ of the links; rotors are left out.

    The Coriolis matrix is the sum of Jᵀ (I J̇ + B J) over all bodies, see :mod:`.coriolis`.  As
    Bᵀ v is zero for the velocity v = J q̇ of a body, Cᵀ q̇ is the sum of J̇ᵀ I v.  So it needs the
    momentum h of what each joint carries, as M q̇ does: a joint with the axes S, whose body moves
    with v, has (M q̇) = Sᵀ h and (Cᵀ q̇) = (v × S)ᵀ h.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :return: nv numbers each [Nm s or N s, and Nm or N].
    """
    moving = body_velocities(tree, q, qd)
    h = [body.inertia @ v for body, v in zip(tree.bodies, moving.v)]
    momentum: list[Number] = [0.0] * tree.nv
    transposed: list[Number] = [0.0] * tree.nv
    for i in reversed(range(len(tree.bodies))):
        body = tree.bodies[i]
        for k, S in enumerate(moving.joints[i].S, start=body.v_index):
            momentum[k] = momentum[k] + S.dot(h[i]) * body.multiplier
            transposed[k] = (
                transposed[k] + moving.v[i].cross(S).dot(h[i]) * body.multiplier)
        if body.parent != BASE:
            h[body.parent] = h[body.parent] + moving.X[i].to_parent(h[i])
    return momentum, transposed
