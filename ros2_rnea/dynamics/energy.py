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
"""Energy, momentum and centre of mass of the whole robot."""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.joints import joint_rate
from ros2_rnea.dynamics.kinematics import body_transforms, body_velocities, moving_bodies
from ros2_rnea.dynamics.springs import spring_energy
from ros2_rnea.model.tree import MASSLESS, Tree
from ros2_rnea.spatial import Force, Inertia, NO_FORCE, Number, quotient, Vector


def kinetic_energy(tree: Tree, q: Sequence[Number], qd: Sequence[Number]) -> Number:
    """
    Return half of q̇ᵀ M q̇ [J], rotors included.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    """
    v = body_velocities(tree, q, qd).v
    energy: Number = 0.0
    for i, body in enumerate(tree.bodies):
        energy = energy + v[i].dot(body.inertia @ v[i]) * 0.5
        for rate in joint_rate(body, qd):
            energy = energy + rate * rate * (0.5 * body.armature)
    return energy


def potential_energy(tree: Tree, q: Sequence[Number], gravity: Vector) -> Number:
    """
    Return the energy of the moving bodies' weight and of the springs of joints [J].

    It is zero with all mass at the world's origin and all springs relaxed.

    :param q: joint positions, nq numbers [rad or m].
    :param gravity: acceleration of free fall in the base's axes [m/s^2].
    """
    return -gravity.dot(whole_inertia(tree, q).h) + spring_energy(tree, q)


def center_of_mass(tree: Tree, q: Sequence[Number]) -> Vector:
    """Return the centre of the moving bodies' mass in the base's frame [m]."""
    whole = whole_inertia(tree, q)
    return Vector(*(quotient(moment, whole.m) for moment in whole.h))


def momentum(tree: Tree, q: Sequence[Number], qd: Sequence[Number]) -> Force:
    """
    Return [angular; linear] momentum about the world's origin, in the base's axes.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    """
    v = body_velocities(tree, q, qd).v
    X_base_to_body = body_transforms(tree, q)
    total = NO_FORCE
    for i, body in enumerate(tree.bodies):
        total = total + X_base_to_body[i].to_parent(body.inertia @ v[i])
    return total


def whole_inertia(tree: Tree, q: Sequence[Number]) -> Inertia:
    """Return the inertia of all moving bodies, held in place, in the base's frame."""
    X_base_to_body = body_transforms(tree, q)
    total = MASSLESS
    for i in moving_bodies(tree):
        total = total + X_base_to_body[i].to_parent(tree.bodies[i].inertia)
    return total
