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
"""The mass matrix by the composite-rigid-body algorithm (RBDA table 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.joints import joint_models
from ros2_rnea.dynamics.kinematics import parent_transforms, path_to_base
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Number


def mass_matrix(tree: Tree, q: Sequence[Number]) -> list[list[Number]]:
    """
    Return M(q), rotors included: the effort that unit accelerations take.

    :param q: joint positions, nq numbers [rad or m].
    :return: nv rows of nv numbers, symmetric.
    """
    joints = joint_models(tree)
    X = parent_transforms(tree, joints, q)
    composite = [body.inertia for body in tree.bodies]
    M: list[list[Number]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for i in reversed(range(len(tree.bodies))):
        body = tree.bodies[i]
        if body.parent != BASE:
            composite[body.parent] = composite[body.parent] + X[i].to_parent(composite[i])
        for col, S in enumerate(joints[i].S, start=body.v_index):
            force = (composite[i] @ S) * body.multiplier
            M[col][col] = M[col][col] + body.armature * body.multiplier**2
            for j in path_to_base(tree, i):
                other = tree.bodies[j]
                for row, S_other in enumerate(joints[j].S, start=other.v_index):
                    entry = S_other.dot(force) * other.multiplier
                    M[row][col] = M[row][col] + entry
                    if j != i:
                        M[col][row] = M[col][row] + entry
                force = X[j].to_parent(force)
    return M
