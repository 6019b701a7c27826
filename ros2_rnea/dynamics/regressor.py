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
The regressor: effort as a linear function of the bodies' inertial parameters.

A body's ten parameters are those of :class:`~ros2_rnea.spatial.Inertia` in its frame: mass, first
moment of mass and inertia about the frame's origin, (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz).

C. G. Atkeson, C. H. An and J. M. Hollerbach, "Estimation of Inertial Parameters of Manipulator
Loads and Links", International Journal of Robotics Research 5(3), 1986.
"""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.kinematics import body_accelerations, body_velocities, path_to_base
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Force, Inertia, Matrix, Motion, Number, Vector, ZERO

PARAMETERS = ('m', 'hx', 'hy', 'hz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')


def regressor(
        tree: Tree,
        q: Sequence[Number],
        qd: Sequence[Number],
        qdd: Sequence[Number],
        gravity: Vector) -> list[list[Number]]:
    """
    Return Y with Y φ the effort of the rigid bodies, φ all bodies' parameters one after the other.

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :param qdd: joint accelerations, nv numbers.
    :param gravity: acceleration of free fall in the base's axes [m/s^2].
    :return: nv rows of 10 numbers for each body.
    """
    moving = body_velocities(tree, q, qd)
    joints, X, v = moving.joints, moving.X, moving.v
    a = body_accelerations(tree, moving, qdd, a_base=Motion(ZERO, -gravity))
    Y: list[list[Number]] = [[0.0] * (10 * len(tree.bodies)) for _ in range(tree.nv)]
    for i in range(len(tree.bodies)):
        for col, unit in enumerate(UNIT_INERTIAS, start=10 * i):
            force: Force = unit @ a[i] + v[i].cross_dual(unit @ v[i])
            for j in path_to_base(tree, i):
                body = tree.bodies[j]
                for row, S in enumerate(joints[j].S, start=body.v_index):
                    Y[row][col] = Y[row][col] + S.dot(force) * body.multiplier
                force = X[j].to_parent(force)
    return Y


def inertial_parameters(tree: Tree) -> list[Number]:
    """Return φ as the tree has it, ten numbers for each body."""
    return [number for body in tree.bodies for number in parameters_of(body.inertia)]


def parameters_of(inertia: Inertia) -> list[Number]:
    """Return one inertia as ten numbers."""
    x, y, z = inertia.I_origin.rows
    return [inertia.m, *inertia.h, x.x, x.y, x.z, y.y, y.z, z.z]


def inertia_from(parameters: Sequence[Number]) -> Inertia:
    """Return the inertia that ten numbers stand for."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = parameters
    about_origin = Matrix(Vector(xx, xy, xz), Vector(xy, yy, yz), Vector(xz, yz, zz))
    return Inertia(m, Vector(hx, hy, hz), about_origin)


UNIT_INERTIAS = tuple(
    inertia_from([1.0 if i == k else 0.0 for i in range(10)]) for k in range(10))
