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
The Coriolis matrix that belongs to the Christoffel symbols.

S. Echeandia and P. M. Wensing, "Numerical Methods to Compute the Coriolis Matrix and Christoffel
Symbols for Rigid-Body Systems", Journal of Computational and Nonlinear Dynamics 16 (2021),
algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.kinematics import body_velocities, path_to_base
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Inertia, Matrix, Motion, MotionToForce, Number, skew


def coriolis_matrix(
        tree: Tree, q: Sequence[Number], qd: Sequence[Number]) -> list[list[Number]]:
    """
    Return C(q, q̇): C q̇ is the Coriolis and centrifugal effort, and Ṁ − 2C is skew-symmetric.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :return: nv rows of nv numbers.
    """
    moving = body_velocities(tree, q, qd)
    X, v, joints, bodies = moving.X, moving.v, moving.joints, tree.bodies
    I_C = [MotionToForce.from_inertia(body.inertia) for body in bodies]
    B_C = [body_coriolis(body.inertia, v[i]) for i, body in enumerate(bodies)]
    C: list[list[Number]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for j in reversed(range(len(bodies))):
        body = bodies[j]
        if body.parent != BASE:
            I_C[body.parent] = I_C[body.parent] + X[j].to_parent(I_C[j])
            B_C[body.parent] = B_C[body.parent] + X[j].to_parent(B_C[j])
        for col, S in enumerate(joints[j].S, start=body.v_index):
            f1 = (I_C[j] @ v[j].cross(S) + B_C[j] @ S) * body.multiplier
            f2 = (I_C[j] @ S) * body.multiplier
            f3 = (B_C[j].T @ S) * body.multiplier
            for i in path_to_base(tree, j):
                other = bodies[i]
                for row, S_other in enumerate(joints[i].S, start=other.v_index):
                    C[row][col] = C[row][col] + S_other.dot(f1) * other.multiplier
                    if i != j:
                        turned = v[i].cross(S_other)
                        C[col][row] = C[col][row] + (
                            turned.dot(f2) + S_other.dot(f3)) * other.multiplier
                f1, f2, f3 = (X[i].to_parent(f) for f in (f1, f2, f3))
    return C


def body_coriolis(inertia: Inertia, v: Motion) -> MotionToForce:
    """
    Return B = ½ (v ×* I + (I v) ×̄* − I v×), with (f ×̄*) u = u ×* f.

    B v = v ×* I v is the force of one body's motion, and the rate of its inertia is B + Bᵀ.  In
    3x3 blocks, with v = (ω; u) and I v = (n; p)::

        v× = [ω×  0 ]    v×* = [ω×  u×]    (I v) ×̄* = [−n×  −p×]
             [u×  ω×]          [0   ω×]               [−p×   0 ]
    """
    momentum = inertia @ v
    I6 = MotionToForce.from_inertia(inertia)
    w, u = skew(v.angular), skew(v.linear)
    n, p = skew(momentum.moment), skew(momentum.force)
    zero = Matrix(*(row * 0.0 for row in w.rows))
    dual = MotionToForce(w @ I6.A + u @ I6.C, w @ I6.B + u @ I6.D, w @ I6.C, w @ I6.D)
    swapped = MotionToForce(n * -1.0, p * -1.0, p * -1.0, zero)
    plain = MotionToForce(I6.A @ w + I6.B @ u, I6.B @ w, I6.C @ w + I6.D @ u, I6.D @ w)
    return (dual + swapped - plain) * 0.5
