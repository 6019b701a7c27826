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
"""Forward dynamics by the articulated-body algorithm (RBDA table 7.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ros2_rnea.dynamics.kinematics import body_velocities, combine
from ros2_rnea.dynamics.linear import inverse_symmetric
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Force, Motion, MotionToForce, NO_MOTION, Number, Vector, ZERO


def forward_dynamics(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        tau: Sequence[Number],
        gravity: Vector,
        f_ext: Mapping[int, Force] | None = None) -> list[Number]:
    """
    Return the accelerations that efforts cause; friction is not among these efforts.

    The tree must be without mimic joints, which tie bodies together otherwise than as a tree.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :param tau: efforts, nv numbers [Nm or N].
    :param gravity: acceleration of free fall in the base's axes [m/s^2].
    :param f_ext: wrench that the environment applies to a body, by its index, in its frame.
    :return: nv numbers; not finite where a joint moves nothing that has inertia.
    """
    joints, X, v_joint, v = body_velocities(tree, q, qd)
    bodies, f_ext = tree.bodies, f_ext or {}

    # Pass 1: what each body takes by itself.  c is the acceleration that velocity alone brings.
    I_A = [MotionToForce.from_inertia(body.inertia) for body in bodies]
    p_A = [v[i].cross_dual(body.inertia @ v[i]) for i, body in enumerate(bodies)]
    c = [v[i].cross(v_joint[i]) for i in range(len(bodies))]
    for i, force in f_ext.items():
        p_A[i] = p_A[i] - force

    # Pass 2, tips to base: what each body takes with all that hangs on it by joints that give way.
    U: list[list[Force]] = [[]] * len(bodies)
    D_inverse: list[list[list[Number]]] = [[]] * len(bodies)
    u: list[list[Number]] = [[]] * len(bodies)
    for i in reversed(range(len(bodies))):
        body, S = bodies[i], joints[i].S
        U[i] = [I_A[i] @ column for column in S]
        D = [[column.dot(force) for force in U[i]] for column in S]
        for k in range(len(S)):
            D[k][k] = D[k][k] + body.armature
        D_inverse[i] = inverse_symmetric(D)
        u[i] = [tau[k] - column.dot(p_A[i]) for k, column in enumerate(S, start=body.v_index)]
        if body.parent != BASE:
            gives_way = I_A[i]
            for k, row in enumerate(D_inverse[i]):
                for m, entry in enumerate(row):
                    gives_way = gives_way - MotionToForce.outer(U[i][k], U[i][m]) * entry
            p = p_A[i] + gives_way @ c[i]
            for force, share in zip(U[i], _times(D_inverse[i], u[i])):
                p = p + force * share
            I_A[body.parent] = I_A[body.parent] + X[i].to_parent(gives_way)
            p_A[body.parent] = p_A[body.parent] + X[i].to_parent(p)

    # Pass 3, base to tips: what is left over accelerates.
    qdd: list[Number] = [0.0] * tree.nv
    a = [NO_MOTION] * len(bodies) + [Motion(ZERO, -gravity)]
    for i, body in enumerate(bodies):
        carried = X[i] @ a[body.parent] + c[i]
        left = [effort - carried.dot(force) for effort, force in zip(u[i], U[i])]
        qdd[body.v_slice] = _times(D_inverse[i], left)
        a[i] = carried + combine(joints[i].S, qdd[body.v_slice])
    return qdd


def _times(matrix: list[list[Number]], vector: list[Number]) -> list[Number]:
    return [sum((a * b for a, b in zip(row[1:], vector[1:])), row[0] * vector[0])
            for row in matrix]
