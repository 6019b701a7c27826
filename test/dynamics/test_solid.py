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
"""What mass and inertia say of a body, against bodies whose size and density are known."""

from math import inf, isnan, pi, sqrt

from hypothesis import given, strategies as st
import numpy as np
import pytest
from ros2_rnea.dynamics.solid import (
    least_density,
    least_density_of_a_ball,
    moved_to_center,
    principal_moments,
    radius_of_gyration,
)
from ros2_rnea.spatial import Inertia, Matrix, rotation_from_rpy, Vector

SIZE = st.floats(0.01, 2.0)
ANGLE = st.floats(-3.0, 3.0)


def diagonal(x, y, z):
    return Matrix(Vector(x, 0.0, 0.0), Vector(0.0, y, 0.0), Vector(0.0, 0.0, z))


def ellipsoid(mass, a, b, c):
    return tuple(mass / 5.0 * (u * u + v * v) for u, v in ((b, c), (c, a), (a, b)))


def box(mass, a, b, c):
    return tuple(mass / 12.0 * (u * u + v * v) for u, v in ((b, c), (c, a), (a, b)))


@given(ANGLE, ANGLE, ANGLE)
def test_principal_moments_do_not_depend_on_the_axes(roll, pitch, yaw):
    R = rotation_from_rpy(roll, pitch, yaw)
    moments = principal_moments(R @ diagonal(3.0, 1.0, 2.5) @ R.T)
    np.testing.assert_allclose(moments, (1.0, 2.5, 3.0), rtol=1e-12)


def test_principal_moments_of_what_overflows_are_not_numbers():
    assert all(map(isnan, principal_moments(diagonal(inf, inf, float('nan')))))


def test_a_thin_ring_s_radius_of_gyration_is_its_radius():
    mass, radius = 3.0, 0.2
    ring = (0.5 * mass * radius ** 2, 0.5 * mass * radius ** 2, mass * radius ** 2)
    assert radius_of_gyration(mass, ring) == pytest.approx(radius)


@given(SIZE, SIZE, SIZE)
def test_an_ellipsoid_has_its_own_density(a, b, c):
    mass = 700.0 * 4.0 / 3.0 * pi * a * b * c
    assert least_density(mass, ellipsoid(mass, a, b, c)) == pytest.approx(700.0)


@given(SIZE, SIZE, SIZE)
def test_a_box_is_a_bit_denser_than_the_least(a, b, c):
    mass = 700.0 * a * b * c
    share = least_density(mass, box(mass, a, b, c)) / 700.0
    assert share == pytest.approx(6.0 / pi * (3.0 / 5.0) ** 1.5)
    assert share < 1.0


def test_a_plate_without_thickness_has_no_finite_density():
    assert least_density(1.0, (1.0, 1.0, 2.0)) == inf


@given(SIZE, SIZE, SIZE)
def test_no_ellipsoid_is_less_dense_than_its_ball(a, b, c):
    moments = ellipsoid(1.0, a, b, c)
    assert least_density_of_a_ball(1.0, moments) <= least_density(1.0, moments) * (1.0 + 1e-9)


def test_a_ball_has_a_known_radius_of_gyration():
    radius, mass = 0.3, 2.0
    assert radius_of_gyration(mass, ellipsoid(mass, radius, radius, radius)) == pytest.approx(
        sqrt(3.0 / 5.0) * radius)


def test_a_rod_is_moved_from_its_end_to_its_centre():
    mass, length = 1.5, 0.8
    about_end = mass * length ** 2 / 3.0
    moved = moved_to_center(
        mass, Vector(0.5 * length, 0.0, 0.0), diagonal(0.0, about_end, about_end))
    about_center = mass * length ** 2 / 12.0
    np.testing.assert_allclose(
        [list(row) for row in moved.rows], np.diag([0.0, about_center, about_center]), atol=1e-15)


@given(SIZE, SIZE, SIZE)
def test_moving_to_the_centre_undoes_the_parallel_shift(x, y, z):
    center, about_center = Vector(x, -y, z), diagonal(0.1, 0.2, 0.25)
    shifted = Inertia.about_center(1.3, center, about_center).I_origin
    back = moved_to_center(1.3, center, shifted)
    np.testing.assert_allclose(
        [list(row) for row in back.rows], [list(row) for row in about_center.rows], atol=1e-14)
