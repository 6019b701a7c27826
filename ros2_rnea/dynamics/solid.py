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
"""What a mass and an inertia say of the body that has them: its size and its density."""

from __future__ import annotations

from math import inf, nan, pi, sqrt

import numpy as np

from ros2_rnea.spatial import Inertia, Matrix, Vector, ZERO

Moments = tuple[float, float, float]

NOTHING = Matrix(ZERO, ZERO, ZERO)


def principal_moments(I_center: Matrix) -> Moments:
    """Return the eigenvalues of a rotational inertia [kg m^2], the smallest first, NaN if none."""
    numbers = np.array([list(row) for row in I_center.rows])
    if not np.isfinite(numbers).all():  # they overflowed on the way
        return nan, nan, nan
    small, middle, large = np.linalg.eigvalsh(numbers)
    return float(small), float(middle), float(large)


def radius_of_gyration(mass: float, moments: Moments) -> float:
    """
    Return the root mean square distance of the mass from its centre [m].

    The moments of a body sum up to twice the integral of the squared distance over its mass.
    """
    return sqrt(max(sum(moments), 0.0) / (2.0 * mass))


def least_density(mass: float, moments: Moments) -> float:
    """
    Return the density that no body with this mass and inertia can stay below [kg/m^3].

    It is that of the uniform ellipsoid which has them: of all bodies of no more than a given
    density, this one keeps its mass closest together (the product of its three second moments is
    the smallest).  Infinite for a body without thickness.  Its semi-axes a, b, c follow from
    A = m (b² + c²) / 5 and its like.
    """
    total = sum(moments)
    squares = [2.5 * (total - 2.0 * moment) / mass for moment in moments]
    a, b, c = (sqrt(max(square, 0.0)) for square in squares)
    volume = 4.0 / 3.0 * pi * a * b * c
    return mass / volume if volume else inf


def least_density_of_a_ball(mass: float, moments: Moments) -> float:
    """Return the density of the ball with this radius of gyration, the lightest reading of all."""
    third = sum(moments) / 3.0
    return least_density(mass, (third, third, third))


def moved_to_center(mass: float, center: Vector, I_origin: Matrix) -> Matrix:
    """Return about the centre of mass what is given about the origin, both in the same axes."""
    return I_origin - Inertia.about_center(mass, center, NOTHING).I_origin
