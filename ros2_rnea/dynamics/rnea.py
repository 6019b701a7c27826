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

from ros2_rnea.dynamics.kinematics import body_accelerations, body_velocities, BodyVelocities
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Force, Motion, NO_FORCE, Number, Vector, ZERO


def inverse_dynamics(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        qdd: Sequence[Number],
        gravity: Vector,
        f_ext: Mapping[int, Force] | None = None) -> list[Number]:
    """
    Return the effort that a motion of the rigid bodies needs: M(q) q̈ + C(q, q̇) q̇ + g(q) − Jᵀ f.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :param qdd: joint accelerations, nv numbers.
    :param gravity: acceleration of free fall in the base's axes [m/s^2].
    :param f_ext: wrench that the environment applies to a body, by its index, in its frame.
    :return: nv numbers [Nm or N]; a mimicking joint's effort counts at the joint it follows.
    """
    moving, f = transmitted_forces(tree, q, qd, qdd, gravity, f_ext)
    tau: list[Number] = [0.0] * tree.nv
    for i, body in enumerate(tree.bodies):
        for k, column in enumerate(moving.joints[i].S, start=body.v_index):
            tau[k] = tau[k] + column.dot(f[i]) * body.multiplier
    return tau


def transmitted_forces(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        qdd: Sequence[Number],
        gravity: Vector,
        f_ext: Mapping[int, Force] | None = None) -> tuple[BodyVelocities, list[Force]]:
    """
    Return the velocities and the force that each joint passes on to its body, in the body's frame.

    Gravity enters as an upward acceleration of the base.  The accelerations therefore are not the
    physical ones, but the forces are (RBDA, page 94).  The last force is what the base feels.
    Arguments are those of :func:`inverse_dynamics`.
    """
    moving = body_velocities(tree, q, qd)
    X, v = moving.X, moving.v
    a = body_accelerations(tree, moving, qdd, a_base=Motion(ZERO, -gravity))
    f_ext = f_ext or {}
    f = [NO_FORCE] * (len(tree.bodies) + 1)
    for i, body in enumerate(tree.bodies):
        f[i] = body.inertia @ a[i] + v[i].cross_dual(body.inertia @ v[i])
        if i in f_ext:
            f[i] = f[i] - f_ext[i]
    for i in reversed(range(len(tree.bodies))):
        parent = tree.bodies[i].parent
        f[parent] = f[parent] + X[i].to_parent(f[i])
    return moving, f
