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
Oracle: the classical Lagrangian of Uicker and Kahn, in 4x4 transforms and traces.

It is the Lagrangian form that the O(n) recursions are compared with.  It takes O(n^4) traces and
counts them, so that a test can see that.
"""

from __future__ import annotations

import numpy as np
from serial_recursions import GRAVITY, screw_exponential, transform_matrix


def _generator(axis, prismatic):
    """Return the 4x4 matrix whose exponential moves link i in the frame of its joint."""
    x, y, z = np.zeros(3) if prismatic else axis
    D = np.zeros((4, 4))
    D[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    D[:3, 3] = axis if prismatic else 0.0
    return D


def _pseudo_inertia(mass, com, inertia):
    """Return the 4x4 sum of m x x^T over a link's points x = (position in the link; 1)."""
    second = np.trace(inertia) / 2.0 * np.eye(3) - inertia + mass * np.outer(com, com)
    return np.block([[second, mass * com[:, None]], [mass * com[None, :], mass * np.ones((1, 1))]])


def _differentiated(steps, generators, link, joints):
    """Return the transform of a link, differentiated by the position of each of the joints."""
    T = np.eye(4)
    for k in range(link + 1):
        home, turn = steps[k]
        T = T @ home
        for _ in range(joints.count(k)):
            T = T @ generators[k]
        T = T @ turn
    return T


def uicker_kahn(arm, q, qd, qdd, gravity=GRAVITY):
    """
    Return tau and the number of traces that were taken.

    tau_i = sum_j [sum_k tr(U_jk J_j U_ji^T) qdd_k + sum_k sum_l tr(U_jkl J_j U_ji^T) qd_k qd_l
    - m_j g^T U_ji c_j], where j runs over the links that joint i moves, k and l over the joints
    that move link j, and U are derivatives of link j's transform.

    :param arm: a :class:`serial_recursions.SerialArm`
    """
    n, traces = len(arm), 0
    steps, generators = [], []
    for i in range(n):
        screw = np.concatenate([np.zeros(3), arm.axis[i]] if arm.prismatic[i]
                               else [arm.axis[i], np.zeros(3)])
        steps.append((transform_matrix(arm.R_home[i], arm.p_home[i]),
                      screw_exponential(screw, q[i])))
        generators.append(_generator(arm.axis[i], arm.prismatic[i]))
    tau = np.zeros(n)
    for j in range(n):
        J = _pseudo_inertia(arm.mass[j], arm.com[j], arm.inertia[j])
        first = [_differentiated(steps, generators, j, [k]) for k in range(j + 1)]
        second = [[_differentiated(steps, generators, j, [k, m]) for m in range(j + 1)]
                  for k in range(j + 1)]
        for i in range(j + 1):
            for k in range(j + 1):
                tau[i] += np.trace(first[k] @ J @ first[i].T) * qdd[k]
                traces += 1
                for m in range(j + 1):
                    tau[i] += np.trace(second[k][m] @ J @ first[i].T) * qd[k] * qd[m]
                    traces += 1
            center = np.append(arm.com[j], 1.0)
            tau[i] -= arm.mass[j] * np.append(gravity, 0.0) @ first[i] @ center
    return tau, traces
