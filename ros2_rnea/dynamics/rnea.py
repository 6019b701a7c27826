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
Inverse dynamics by the recursive Newton-Euler algorithm (Luh, Walker and Paul 1980).

The recursion uses accelerations of points, so linear velocities do not enter: the point P of a
body accelerates by a + U P, where a is the acceleration of the body's origin and

    U = ω̇× + (ω×)²

(the notation is Khalil and Dombre's, *Modeling, Identification and Control of Robots*, section
9.3.3).  Integrated over the mass, that acceleration is the force on the body, and its moment the
moment.  This costs a third less than :mod:`ros2_rnea.dynamics.kinematics`'s spatial accelerations
(RBDA table 5.1), and gives the same forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ros2_rnea.dynamics.joints import joint_models, joint_rate
from ros2_rnea.dynamics.kinematics import combine, parent_transforms
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import (
    Force,
    Inertia,
    Motion,
    NO_FORCE,
    Number,
    skew,
    Transform,
    Vector,
    ZERO,
)


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
    joints = joint_models(tree)
    f = transmitted_forces(tree, q, qd, qdd, gravity, f_ext)
    tau: list[Number] = [0.0] * tree.nv
    for i, body in enumerate(tree.bodies):
        for k, column in enumerate(joints[i].S, start=body.v_index):
            tau[k] = tau[k] + column.dot(f[i]) * body.multiplier
    return tau


def transmitted_forces(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        qdd: Sequence[Number],
        gravity: Vector,
        f_ext: Mapping[int, Force] | None = None) -> list[Force]:
    """
    Return the force that each joint passes on to its body, in the body's frame.

    The last one is the sum of those that the base passes on, in its frame.  Gravity enters as an
    upward acceleration of the base: the accelerations therefore are not the physical ones, but
    the forces are (RBDA, page 94).
    Arguments are those of :func:`inverse_dynamics`.
    """
    joints = joint_models(tree)
    X = parent_transforms(tree, joints, q)
    f_ext = f_ext or {}

    moving = [AT_REST] * len(tree.bodies) + [BodyAcceleration(ZERO, ZERO, -gravity)]
    f = [NO_FORCE] * (len(tree.bodies) + 1)
    for i, body in enumerate(tree.bodies):
        v_joint = combine(joints[i].S, joint_rate(body, qd))
        a_joint = combine(joints[i].S, joint_rate(body, qdd))
        moving[i] = moving[body.parent].carried(X[i], v_joint, a_joint)
        f[i] = moving[i].force(body.inertia)
        if i in f_ext:
            f[i] = f[i] - f_ext[i]
    for i in reversed(range(len(tree.bodies))):
        parent = tree.bodies[i].parent
        f[parent] = f[parent] + X[i].to_parent(f[i])
    return f


class BodyAcceleration:
    """
    How the points of a body accelerate, in its frame.

    :ivar omega: angular velocity, and omega_dot its rate, the angular acceleration.
    :ivar a: acceleration of the frame's origin.
    :ivar U: the point P accelerates by a + U P.
    """

    __slots__ = ('omega', 'omega_dot', 'a', 'U')

    def __init__(self, omega: Vector, omega_dot: Vector, a: Vector) -> None:
        self.omega = omega
        self.omega_dot = omega_dot
        self.a = a
        self.U = skew(omega_dot) + skew(omega) @ skew(omega)

    def carried(self, X: Transform, v_joint: Motion, a_joint: Motion) -> BodyAcceleration:
        """
        Return the acceleration of the body that a joint of this one carries.

        :param X: from this body to the carried one.
        :param v_joint: velocity of the carried one relative to this one, S q̇.
        :param a_joint: S q̈.
        """
        before = X.E @ self.omega
        omega = before + v_joint.angular
        return BodyAcceleration(
            omega,
            X.E @ self.omega_dot + before.cross(v_joint.angular) + a_joint.angular,
            X.E @ (self.a + self.U @ X.r)
            + (before + omega).cross(v_joint.linear) + a_joint.linear)

    def force(self, inertia: Inertia) -> Force:
        """
        Return the force that accelerates a body like this: ∫ a + U P dm, with its moment.

        The moment ∫ P × (a + U P) dm is h × a and the axial vector of U Σ, where Σ = ∫ P Pᵀ dm.
        """
        (_, xy, xz), (yx, _, yz), (zx, zy, _) = (self.U @ inertia.second_moment).rows
        return Force(
            inertia.h.cross(self.a) + Vector(zy - yz, xz - zx, yx - xy),
            self.a * inertia.m + self.U @ inertia.h)


AT_REST = BodyAcceleration(ZERO, ZERO, ZERO)
