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
"""Inverse dynamics by the recursive Newton-Euler algorithm (RBDA table 5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ros2_rnea.dynamics.joints import joint_models, joint_position, joint_rate
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Force, Motion, NO_FORCE, NO_MOTION, Number, Vector, ZERO


def inverse_dynamics(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        qdd: Sequence[Number],
        gravity: Vector,
        f_ext: Mapping[int, Force] | None = None) -> list[Number]:
    """
    Return the effort that a motion of the rigid bodies needs: M(q) q̈ + C(q, q̇) q̇ + g(q) − Jᵀ f.

    Gravity enters as an upward acceleration of the base, so the accelerations inside are not
    the physical ones (RBDA, page 94).  An inner index of −1 is the base: the last of each list.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :param qdd: joint accelerations, nv numbers.
    :param gravity: acceleration of free fall in the base's axes [m/s^2].
    :param f_ext: wrench that the environment applies to a body, by its index, in its frame.
    :return: nv numbers [Nm or N]; a mimicking joint's effort counts at the joint it follows.
    """
    f_ext = f_ext or {}
    joints = joint_models(tree)
    n = len(tree.bodies)
    X = [joints[i].transform(joint_position(body, q)) @ body.X_tree
         for i, body in enumerate(tree.bodies)]
    v = [NO_MOTION] * (n + 1)
    a = [NO_MOTION] * n + [Motion(ZERO, -gravity)]
    f = [NO_FORCE] * (n + 1)

    # Pass 1, base to tips: the motion of each body, and the force which that motion takes.
    for i, body in enumerate(tree.bodies):
        S, inertia, parent = joints[i].S, body.inertia, body.parent
        v_joint = _combine(S, joint_rate(body, qd))
        v[i] = X[i] @ v[parent] + v_joint
        a[i] = X[i] @ a[parent] + _combine(S, joint_rate(body, qdd)) + v[i].cross(v_joint)
        f[i] = inertia @ a[i] + v[i].cross_dual(inertia @ v[i])
        if i in f_ext:
            f[i] = f[i] - f_ext[i]

    # Pass 2, tips to base: the force that each joint transmits, and its share along the joint.
    tau: list[Number] = [0.0] * tree.nv
    for i in reversed(range(n)):
        body = tree.bodies[i]
        for k, column in enumerate(joints[i].S, start=body.v_index):
            tau[k] = tau[k] + column.dot(f[i]) * body.multiplier
        f[body.parent] = f[body.parent] + X[i].to_parent(f[i])
    return tau


def _combine(S: Sequence[Motion], rates: Sequence[Number]) -> Motion:
    """Return S q̇."""
    total = S[0] * rates[0]
    for column, rate in zip(S[1:], rates[1:]):
        total = total + column * rate
    return total
