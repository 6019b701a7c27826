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
"""The exponential maps of rotations and rigid motions, against series summed up as matrices."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest
from random_robots import random_axis
from ros2_rnea.dynamics.rotations import (
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_integral,
    rotation_integral_inverse,
    rotation_vector_from_quaternion,
    SMALL,
)
from ros2_rnea.spatial import Vector
from rotations import rotation_about, rotation_from_quaternion, skew
from seeds import for_seeds

ANGLES = [0.0, 1e-12, 1e-6, 0.999 * SMALL, SMALL, 1.001 * SMALL, 0.3, 1.0, 3.0, 3.141592]
AXES = [random_axis(np.random.default_rng(seed)) for seed in range(4)] + list(np.eye(3))
TURNS = [(axis, angle) for axis in AXES for angle in ANGLES]


def numbers(matrix):
    return np.array([[*row] for row in matrix.rows])


def series(generator, terms=60):
    """Return the sum of A^k / (k + 1)!: the mean of exp(s A) for s from 0 to 1."""
    total, term = np.eye(len(generator)), np.eye(len(generator))
    for k in range(1, terms):
        term = term @ generator / (k + 1)
        total = total + term
    return total


def quaternions(seed):
    q = np.random.default_rng(seed).normal(size=(2, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


@for_seeds(4)
def test_the_product_of_quaternions_is_that_of_their_rotations(seed):
    p, q = quaternions(seed)
    np.testing.assert_allclose(
        rotation_from_quaternion(quaternion_product(p, q)),
        rotation_from_quaternion(p) @ rotation_from_quaternion(q), rtol=0.0, atol=1e-14)


def test_two_quarter_turns_bring_z_to_x():
    half = sin(pi / 4)
    turned = quaternion_product([half, 0.0, 0.0, half], [0.0, half, 0.0, half])
    np.testing.assert_allclose(
        rotation_from_quaternion(turned)[:, 2], [1.0, 0.0, 0.0], atol=1e-15)


def test_a_rotation_vector_s_quaternion_turns_as_rodrigues_says():
    for axis, angle in TURNS:
        quaternion = quaternion_from_rotation_vector(Vector(*(axis * angle)))
        np.testing.assert_allclose(
            quaternion, [*(axis * sin(0.5 * angle)), cos(0.5 * angle)],
            rtol=1e-13, atol=1e-15 * (angle > 1.0))  # relative, for turns by next to nothing
        np.testing.assert_allclose(
            rotation_from_quaternion(quaternion), rotation_about(axis, angle),
            rtol=0.0, atol=1e-14)


@pytest.mark.parametrize('length', [1.0, -1.0, 0.5])
def test_a_quaternion_gives_back_its_rotation_vector(length):
    for axis, angle in TURNS:
        turn = axis * angle
        quaternion = length * np.array(quaternion_from_rotation_vector(Vector(*turn)))
        back = [*rotation_vector_from_quaternion(quaternion.tolist())]
        np.testing.assert_allclose(back, turn, rtol=1e-13, atol=1e-14 * (angle > 1.0))


@pytest.mark.parametrize('angle', [3.5, 4.0, 6.28, 7.0])
def test_the_rotation_vector_goes_the_short_way(angle):
    quaternion = quaternion_from_rotation_vector(Vector(0.0, 0.0, angle))
    _, _, z = rotation_vector_from_quaternion(quaternion)
    assert z == pytest.approx((angle + pi) % (2.0 * pi) - pi, abs=1e-14)


def test_half_a_turn_is_known_either_way():
    for quaternion in ([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, -0.0]):
        assert abs(rotation_vector_from_quaternion(quaternion).x) == pytest.approx(pi)


def test_the_integral_is_the_mean_rotation_on_the_way():
    for axis, angle in TURNS:
        turn = axis * angle
        np.testing.assert_allclose(
            numbers(rotation_integral(Vector(*turn))), series(skew(turn)), rtol=0.0, atol=1e-14)


def test_the_inverse_of_the_integral_is_its_inverse():
    for axis, angle in TURNS:
        turn = axis * angle
        np.testing.assert_allclose(
            numbers(rotation_integral_inverse(Vector(*turn))) @ series(skew(turn)), np.eye(3),
            rtol=0.0, atol=1e-14)


def test_driving_a_half_circle_ends_beside_the_start():
    """It goes forward along x, turning left: the diameter lies along y."""
    x, y, z = rotation_integral(Vector(0.0, 0.0, pi)) @ Vector(pi, 0.0, 0.0)
    assert (x, y, z) == pytest.approx((0.0, 2.0, 0.0), abs=1e-15)


@pytest.mark.parametrize('function', [rotation_integral, rotation_integral_inverse])
def test_nothing_jumps_where_the_series_takes_over(function):
    below, above = (
        numbers(function(Vector(0.0, 0.0, SMALL * (1.0 + step)))) for step in (-1e-12, 1e-12))
    np.testing.assert_allclose(below, above, rtol=0.0, atol=3e-15)
