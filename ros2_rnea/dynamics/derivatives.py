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
How the effort changes with position, velocity and acceleration.

S. Singh, R. P. Russell and P. M. Wensing, "Efficient Analytical Derivatives of Rigid-Body Dynamics
Using Spatial Vector Algebra", IEEE Robotics and Automation Letters 7 (2022).

A column s of joint j's motion subspace, times a small number, moves all bodies further out.  In
each one's own axes its velocity then changes by ψ̇ and its acceleration by ψ̈ + ψ̇ × v, with

    ψ̇ = v_λ × s,    ψ̈ = a_λ × s + v_λ × ψ̇

where λ is the parent of j.  The force on it changes by I ψ̈ + 2 B ψ̇, with the B of
:mod:`ros2_rnea.dynamics.coriolis`; so does the sum of forces on a whole subtree, with the sums of
I and B.  A change of the velocity along s has this effect with ψ̇ + v_j × s in place of ψ̈ and s
in place of ψ̇.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ros2_rnea.dynamics.coriolis import body_coriolis
from ros2_rnea.dynamics.kinematics import body_accelerations, body_velocities, path_to_base
from ros2_rnea.dynamics.rnea import transmitted_forces
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Force, Motion, Number, Vector, ZERO

Rows = list[list[Number]]


class Change(NamedTuple):
    """
    What a small motion of a joint, along one column of its motion subspace, does further out.

    :ivar s: the column, in the axes of the joint's body like all the rest.
    :ivar with_q: ψ̈ and ψ̇, of a change of position.
    :ivar with_qd: ψ̇ + v × s and s, of a change of velocity.
    """

    s: Motion
    with_q: tuple[Motion, Motion]
    with_qd: tuple[Motion, Motion]


def effort_derivatives(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        qdd: Sequence[Number],
        gravity: Vector,
        f_ext: Mapping[int, Force] | None = None) -> tuple[Rows, Rows, Rows]:
    """
    Return ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ of the rigid bodies and rotors, nv rows of nv numbers each.

    A position changes by a small velocity times a unit of time, so there are nv directions,
    whatever the coordinates.  Wrenches stay as they are in their body's frame.  Arguments are
    those of :func:`ros2_rnea.dynamics.rnea.inverse_dynamics`.
    """
    bodies = tree.bodies
    moving = body_velocities(tree, q, qd)
    X, v, v_joint = moving.X, moving.v, moving.v_joint
    a = body_accelerations(tree, moving, qdd, a_base=Motion(ZERO, -gravity))
    changes = []
    for j, body in enumerate(bodies):
        v_parent, a_parent = v[j] - v_joint[j], X[j] @ a[body.parent]
        changes.append([_change(s, v[j], v_parent, a_parent) for s in moving.joints[j].S])

    f = transmitted_forces(tree, q, qd, qdd, gravity, f_ext)
    I_C = [body.inertia for body in bodies]
    B_C = [body_coriolis(body.inertia, v[i]) * 2.0 for i, body in enumerate(bodies)]
    by_q, by_qd, M = ([[0.0] * tree.nv for _ in range(tree.nv)] for _ in range(3))
    for j in reversed(range(len(bodies))):
        body = bodies[j]
        if body.parent != BASE:
            I_C[body.parent] = I_C[body.parent] + X[j].to_parent(I_C[j])
            B_C[body.parent] = B_C[body.parent] + X[j].to_parent(B_C[j])
        for col, change in enumerate(changes[j], start=body.v_index):
            M[col][col] = M[col][col] + body.armature * body.multiplier**2
            # Forces of this change, and what makes efforts of this joint from others' changes.
            f_q, f_qd = (I_C[j] @ first + B_C[j] @ second
                         for first, second in (change.with_q, change.with_qd))
            by_first, by_second = I_C[j] @ change.s, B_C[j].T @ change.s
            for k in path_to_base(tree, j):
                other = bodies[k]
                factor = body.multiplier * other.multiplier
                for row, others in enumerate(changes[k], start=other.v_index):
                    by_q[row][col] = by_q[row][col] + others.s.dot(f_q) * factor
                    by_qd[row][col] = by_qd[row][col] + others.s.dot(f_qd) * factor
                    inertia = others.s.dot(by_first) * factor
                    M[row][col] = M[row][col] + inertia
                    if k != j:
                        M[col][row] = M[col][row] + inertia
                        for table, (first, second) in (
                                (by_q, others.with_q), (by_qd, others.with_qd)):
                            table[col][row] = table[col][row] + (
                                first.dot(by_first) + second.dot(by_second)) * factor
                if k == j:  # the forces further out turn along, as those further in see it
                    f_q = f_q + change.s.cross_dual(f[j])
                f_q, f_qd, by_first, by_second = (
                    X[k].to_parent(force) for force in (f_q, f_qd, by_first, by_second))
    return by_q, by_qd, M


def _change(s: Motion, v: Motion, v_parent: Motion, a_parent: Motion) -> Change:
    psi_dot = v_parent.cross(s)
    return Change(
        s,
        (a_parent.cross(s) + v_parent.cross(psi_dot), psi_dot),
        (psi_dot + v.cross(s), s))
