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
Which bodies there can be: the pseudo-inertia matrix, and a distance between inertias.

A body's ten parameters are those of some distribution of mass, nowhere negative, if and only if
the symmetric 4 x 4 matrix J = [[Σ, h], [hᵀ, m]] is positive semidefinite, Σ being the second
moment of mass: P. M. Wensing, S. Kim and J.-J. E. Slotine, "Linear Matrix Inequalities for
Physically Consistent Inertial Parameter Identification: A Statistical Perspective on the Mass
Distribution", IEEE Robotics and Automation Letters 3(1), 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.dynamics.regressor import inertia_from, parameters_of
from ros2_rnea.dynamics.solid import moved_to_center
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.spatial import IDENTITY, Inertia, Number, Vector

THINNEST = 1e-3
"""The least root mean square extent of a reference body along any axis [m]."""


def pseudo_inertia(parameters: Sequence[Number]) -> list[list[Number]]:
    """Return J of ten parameters; it is linear in them."""
    inertia = inertia_from(parameters)
    rows = zip(inertia.second_moment.rows, inertia.h)
    return [*([*row, moment] for row, moment in rows), [*inertia.h, inertia.m]]


BASIS = np.array([pseudo_inertia(unit) for unit in np.eye(10).tolist()])
"""J of each parameter alone, shape (10, 4, 4): J of any ten numbers is their weighted sum."""

FROM_PSEUDO_INERTIA = np.linalg.pinv(BASIS.reshape(10, 16))
"""The ten parameters of each entry of a symmetric J, shape (16, 10)."""

SYMMETRIC = np.array([
    unit if i == j else (unit + unit.T) / sqrt(2.0)
    for i in range(4) for j in range(i, 4)
    for unit in [np.outer(np.eye(4)[i], np.eye(4)[j])]])
"""An orthonormal basis of the symmetric matrices, shape (10, 4, 4)."""


def is_consistent(parameters: np.ndarray) -> bool:
    """Return whether a body can have these ten parameters: J is positive definite."""
    return bool(np.linalg.eigvalsh(np.tensordot(parameters, BASIS, 1))[0] > 0.0)


def log_det_divergence(
        parameters: np.ndarray, reference: np.ndarray, sums: ArrayLike = (),
        weights: ArrayLike = ()) -> tuple[float, np.ndarray, np.ndarray]:
    """
    Return how far a body is from another, and how that changes, in coordinates of its own.

    It is the Bregman divergence of −log det, tr(J₀⁻¹ J) − log det(J₀⁻¹ J) − 4: the same in all
    frames and units, half the square of the relative change for a small one, and infinite at the
    boundary of what bodies can be.  T. Lee, P. M. Wensing and F. C. Park, "Geometric Robot
    Dynamic Identification: A Convex Programming Approach", IEEE Transactions on Robotics 36(2),
    2020.

    With J = L Lᵀ, a symmetric matrix S of ten numbers changes J by L S Lᵀ.  In these coordinates
    the Hessian of the divergence is the unit matrix, however thin the body.

    :param parameters: ten, of a consistent body.
    :param reference: ten, of another one.
    :param sums: each ten factors of the parameters whose sum has to be positive too, as it is for
        the reference, shape (k, 10); the divergence is then that of J with each sum as one more
        block.
    :param weights: of these blocks, shape (k,).
    :return: the divergence, infinite where a body is not consistent or a sum not positive; its
        gradient in those coordinates, shape (10,); and the change of the ten parameters with each
        coordinate as a column, shape (10, 10).
    """
    J_reference = np.tensordot(reference, BASIS, 1)
    try:
        L = np.linalg.cholesky(np.tensordot(parameters, BASIS, 1))
    except np.linalg.LinAlgError:
        return np.inf, np.zeros(10), np.zeros((10, 10))
    L_reference = np.linalg.cholesky(J_reference)
    relative = np.linalg.solve(L_reference, L)  # whose square is J seen from the reference
    square = relative.T @ relative
    logarithms = 2.0 * np.sum(np.log(np.diag(L) / np.diag(L_reference)))
    gradient = np.tensordot(SYMMETRIC, square - np.eye(4), 2)
    changes = ((L @ SYMMETRIC @ L.T).reshape(10, 16) @ FROM_PSEUDO_INERTIA).T
    value = float(np.trace(square) - 4.0 - logarithms)
    sums, weights = np.reshape(sums, (-1, 10)), np.array(weights, dtype=float)
    left = sums @ parameters
    if not (left > 0.0).all():
        return np.inf, np.zeros(10), np.zeros((10, 10))
    ratios, slopes = left / (sums @ reference), sums @ changes / left[:, np.newaxis]
    value += float(weights @ (ratios - 1.0 - np.log(ratios)))
    gradient += (weights * (ratios - 1.0)) @ slopes
    root = np.linalg.inv(np.linalg.cholesky(np.eye(10) + (slopes.T * weights) @ slopes))
    return value, root @ gradient, changes @ root.T


def about_sphere(center: np.ndarray, radius: float) -> np.ndarray:
    """
    Return the ten factors of parameters whose sum is that of radius² − distance² over the mass.

    The distance is that from the center.  A body fits into the sphere if and only if J is positive
    semidefinite and this sum is not negative (Wensing, Kim and Slotine 2018).

    :param center: shape (3,) [m].
    :param radius: [m].
    """
    return np.array([
        radius**2 - center @ center, *(2.0 * center), -0.5, 0.0, 0.0, -0.5, 0.0, -0.5])


def ball(mass: float, center: Sequence[float], density: float) -> np.ndarray:
    """Return the ten parameters of a uniform ball [kg, m, kg/m^3]."""
    radius = (3.0 * mass / (4.0 * pi * density))**(1.0 / 3.0)
    about_center = IDENTITY * (0.4 * mass * radius * radius)
    return np.array(parameters_of(
        Inertia.about_center(mass, Vector(*center), about_center)))


def nearest_consistent(parameters: np.ndarray) -> np.ndarray:
    """
    Return a body that can be, close to what a description says, whose masses may be impossible.

    The second moment of mass about the centre is thickened to ``THINNEST`` along each of its
    principal axes where it is less.

    :param parameters: ten, of positive mass.
    """
    mass, center = parameters[0], parameters[1:4] / parameters[0]
    J = np.tensordot(parameters, BASIS, 1)
    spread, axes = np.linalg.eigh(J[:3, :3] - mass * np.outer(center, center))
    if spread[0] >= mass * THINNEST**2:
        return parameters
    thick = (axes * np.maximum(spread, mass * THINNEST**2)) @ axes.T
    thick += mass * np.outer(center, center)
    rotational = np.trace(thick) * np.eye(3) - thick
    return np.array([*parameters[:4], *rotational[np.triu_indices(3)]])


def inertial_of(parameters: Sequence[float]) -> Inertial:
    """Return ten parameters as a description has them: mass, centre, inertia about the centre."""
    inertia = inertia_from(parameters)
    center = inertia.h * (1.0 / inertia.m)
    x, y, z = moved_to_center(inertia.m, center, inertia.I_origin).rows
    return Inertial(
        inertia.m, Pose((center.x, center.y, center.z)), (x.x, x.y, x.z, y.y, y.z, z.z))
