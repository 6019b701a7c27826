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
"""The spatial algebra: its identities, its matrices written out, and numbers of any kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ros2_rnea.spatial import (
    cos,
    Force,
    IDENTITY,
    Inertia,
    Matrix,
    Motion,
    NO_FORCE,
    NO_MOTION,
    NO_TRANSFORM,
    outer,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    sin,
    skew,
    Transform,
    Vector,
    ZERO,
)
import rotations

RNG = np.random.default_rng(5)
ANGLES = pytest.mark.parametrize('angle', [0.0, 1e-9, 0.7, -2.0, math.pi, 9.0])


# ---- the same things, as dense NumPy ----------------------------------------------------------


def dense(thing):
    """Return a vector as (3,) or (6,), a matrix as (3, 3)."""
    if isinstance(thing, Vector):
        return np.array([*thing])
    if isinstance(thing, Matrix):
        return np.array([dense(row) for row in thing.rows])
    if isinstance(thing, Motion):
        return np.concatenate([dense(thing.angular), dense(thing.linear)])
    return np.concatenate([dense(thing.moment), dense(thing.force)])


def motion(values):
    return Motion(Vector(*values[:3]), Vector(*values[3:]))


def force(values):
    return Force(Vector(*values[:3]), Vector(*values[3:]))


def columns(linear_map, make):
    """Return the 6x6 matrix of a linear map, one column for each unit vector."""
    return np.column_stack([dense(linear_map(make(unit))) for unit in np.eye(6)])


def matrix_of(X):
    """Return the 6x6 matrix of a coordinate transform of motions, as RBDA eq. 2.24 has it."""
    E, r = dense(X.E), dense(X.r)
    return np.block([[E, np.zeros((3, 3))], [-E @ rotations.skew(r), E]])


def matrix_of_inertia(inertia):
    """Return the 6x6 matrix of an inertia, as RBDA eq. 2.63 has it."""
    h = rotations.skew(dense(inertia.h))
    return np.block([[dense(inertia.I_origin), h], [h.T, inertia.m * np.eye(3)]])


def random_vector():
    return Vector(*RNG.normal(size=3))


def random_motion():
    return motion(RNG.normal(size=6))


def random_force():
    return force(RNG.normal(size=6))


def random_transform():
    return Transform.from_pose(rotation_from_rpy(*RNG.uniform(-3.0, 3.0, 3)), random_vector())


def random_inertia():
    root = RNG.normal(size=(3, 3))
    about_center = Matrix(*(Vector(*row) for row in root @ root.T))
    return Inertia.about_center(RNG.uniform(0.5, 2.0), random_vector(), about_center)


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=1e-13)


# ---- 3-D --------------------------------------------------------------------------------------


def test_vectors_add_scale_dot_and_cross_as_numpy_s():
    u, v = random_vector(), random_vector()
    near(dense(u + v), dense(u) + dense(v))
    near(dense(u - v), dense(u) - dense(v))
    near(dense(-u), -dense(u))
    near(dense(u * 3.0), 3.0 * dense(u))
    near(u.dot(v), dense(u) @ dense(v))
    near(dense(u.cross(v)), np.cross(dense(u), dense(v)))


def test_matrices_add_scale_multiply_and_transpose_as_numpy_s():
    A, B = (Matrix(*(random_vector() for _ in range(3))) for _ in range(2))
    v = random_vector()
    near(dense(A + B), dense(A) + dense(B))
    near(dense(A - B), dense(A) - dense(B))
    near(dense(A * 3.0), 3.0 * dense(A))
    near(dense(A @ B), dense(A) @ dense(B))
    near(dense(A @ v), dense(A) @ dense(v))
    near(dense(A.T), dense(A).T)
    near(dense(A.transpose_times(v)), dense(A).T @ dense(v))


def test_skew_is_the_cross_product_and_outer_the_dyad():
    u, v = random_vector(), random_vector()
    near(dense(skew(u)), rotations.skew(dense(u)))
    near(dense(skew(u) @ v), np.cross(dense(u), dense(v)))
    near(dense(outer(u, v)), np.outer(dense(u), dense(v)))


# ---- rotations --------------------------------------------------------------------------------


@ANGLES
def test_rotation_about_an_axis_turns_vectors_counterclockwise(angle):
    _, _, z_axis = IDENTITY.rows
    turned = rotation_about(z_axis, angle) @ Vector(1.0, 0.0, 5.0)
    near(dense(turned), [math.cos(angle), math.sin(angle), 5.0])


@ANGLES
def test_rotation_about_any_axis_is_rodrigues_formula(angle):
    axis = RNG.normal(size=3)
    axis /= np.linalg.norm(axis)
    near(dense(rotation_about(Vector(*axis), angle)), rotations.rotation_about(axis, angle))


@pytest.mark.parametrize('rpy', [
    (0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.3), (0.3, -1.2, 2.9), (3.0, math.pi / 2, -1.0)])
def test_rpy_turns_about_fixed_axes_roll_first(rpy):
    near(dense(rotation_from_rpy(*rpy)), rotations.rotation_from_rpy(rpy))


@pytest.mark.parametrize('length', [1.0, 0.5, 30.0])
def test_a_quaternion_of_any_length_is_normalized(length):
    axis, angle = np.array([0.6, 0.0, -0.8]), 2.1
    quaternion = length * np.append(math.sin(angle / 2) * axis, math.cos(angle / 2))
    near(dense(rotation_from_quaternion(*quaternion)), rotations.rotation_about(axis, angle))


@pytest.mark.parametrize('function', [sin, cos])
@pytest.mark.parametrize('angle', [math.inf, -math.inf, math.nan])
def test_sine_and_cosine_of_what_is_not_finite_are_nan(function, angle):
    assert math.isnan(function(angle))
    with np.errstate(invalid='ignore'):
        assert np.isnan(function(np.array([angle, 0.0]))).tolist() == [True, False]


@pytest.mark.parametrize('ours, theirs', [(sin, math.sin), (cos, math.cos)])
@pytest.mark.parametrize('angle', [0, 1, -0.4, np.float64(2.5)])
def test_sine_and_cosine_of_plain_numbers(ours, theirs, angle):
    assert ours(angle) == theirs(angle)


# ---- 6-D --------------------------------------------------------------------------------------


def test_power_is_the_sum_of_both_parts():
    v, f = random_motion(), random_force()
    near(v.dot(f), dense(v) @ dense(f))


def test_motions_and_forces_add_subtract_and_scale_by_parts():
    v, w, f, g = random_motion(), random_motion(), random_force(), random_force()
    near(dense(v + w), dense(v) + dense(w))
    near(dense(v * 3.0), 3.0 * dense(v))
    near(dense(f + g), dense(f) + dense(g))
    near(dense(f - g), dense(f) - dense(g))


def test_cross_is_the_matrix_of_the_book():
    v = random_motion()
    w, u = rotations.skew(dense(v.angular)), rotations.skew(dense(v.linear))
    near(columns(v.cross, motion), np.block([[w, np.zeros((3, 3))], [u, w]]))


def test_cross_dual_is_minus_the_transpose_of_cross():
    v = random_motion()
    near(columns(v.cross_dual, force), -columns(v.cross, motion).T)


def test_a_motion_does_not_change_what_moves_along_it():
    v = random_motion()
    near(dense(v.cross(v)), np.zeros(6))


def test_nothing_is_nothing():
    near(dense(NO_MOTION), np.zeros(6))
    near(dense(NO_FORCE), np.zeros(6))
    v = random_motion()
    assert np.array_equal(dense(NO_TRANSFORM @ v), dense(v))


# ---- transforms -------------------------------------------------------------------------------


def test_a_transform_of_motions_is_the_matrix_of_the_book():
    X = random_transform()
    near(columns(X.__matmul__, motion), matrix_of(X))


def test_a_transform_of_forces_is_the_dual():
    X = random_transform()
    near(columns(X.__matmul__, force), np.linalg.inv(matrix_of(X)).T)


def test_to_parent_inverts_for_motions_and_transposes_for_forces():
    X = random_transform()
    near(columns(X.to_parent, motion), np.linalg.inv(matrix_of(X)))
    near(columns(X.to_parent, force), matrix_of(X).T)


def test_transforms_compose_from_right_to_left():
    X_a_to_b, X_b_to_c = random_transform(), random_transform()
    near(matrix_of(X_b_to_c @ X_a_to_b), matrix_of(X_b_to_c) @ matrix_of(X_a_to_b))


def test_a_transform_and_its_inverse_leave_everything_as_it_is():
    X = random_transform()
    near(matrix_of(X.inverse()), np.linalg.inv(matrix_of(X)))


def test_power_is_the_same_in_every_frame():
    X, v, f = random_transform(), random_motion(), random_force()
    near((X @ v).dot(X @ f), v.dot(f))


def test_cross_is_the_same_in_every_frame():
    X, v, w, f = random_transform(), random_motion(), random_motion(), random_force()
    near(dense((X @ v).cross(X @ w)), dense(X @ v.cross(w)))
    near(dense((X @ v).cross_dual(X @ f)), dense(X @ v.cross_dual(f)))


def test_a_pose_places_the_frame_that_is_transformed_into():
    """A frame a metre along x, turned to the left: what is ahead is at its right hand."""
    _, _, z_axis = IDENTITY.rows
    X = Transform.from_pose(rotation_about(z_axis, math.pi / 2), Vector(1.0, 0.0, 0.0))
    near(dense(X @ Force(ZERO, Vector(1.0, 0.0, 0.0))), [0.0, 0.0, 0.0, 0.0, -1.0, 0.0])
    turning_about_origin = Motion(Vector(0.0, 0.0, 1.0), ZERO)
    near(dense(X @ turning_about_origin), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0])


# ---- inertia ----------------------------------------------------------------------------------


def test_an_inertia_is_the_matrix_of_the_book():
    inertia = random_inertia()
    near(columns(inertia.__matmul__, motion), matrix_of_inertia(inertia))


def test_parallel_axes_add_what_the_distance_brings():
    rod = Inertia.about_center(3.0, Vector(2.0, 0.0, 0.0), IDENTITY)
    near(dense(rod.h), [6.0, 0.0, 0.0])
    near(dense(rod.I_origin), np.diag([1.0, 13.0, 13.0]))


def test_an_inertia_transforms_as_its_matrix():
    X, inertia = random_transform(), random_inertia()
    expected = matrix_of(X).T @ matrix_of_inertia(inertia) @ matrix_of(X)
    np.testing.assert_allclose(
        matrix_of_inertia(X.to_parent(inertia)), expected, rtol=1e-12, atol=1e-12)


def test_kinetic_energy_is_the_same_in_every_frame():
    X, inertia, v = random_transform(), random_inertia(), random_motion()
    near(v.dot(X.to_parent(inertia) @ v), (X @ v).dot(inertia @ (X @ v)))


def test_inertias_of_bodies_that_move_together_add():
    one, other, v = random_inertia(), random_inertia(), random_motion()
    near(dense((one + other) @ v), dense(one @ v) + dense(other @ v))


# ---- numbers of any kind ----------------------------------------------------------------------


class Symbol:
    """A number that only writes down what is done with it: the least that the algebra asks for."""

    def __init__(self, tape, text):
        self.tape = tape
        self.name = f't{len(tape)}'
        tape.append(f'{self.name} = {text}')

    def _operation(self, text, other=None):
        other_text = other.name if isinstance(other, Symbol) else repr(other)
        return Symbol(self.tape, text.format(self.name, other_text))

    def __add__(self, other):
        return self._operation('{} + {}', other)

    def __radd__(self, other):
        return self._operation('{1} + {0}', other)

    def __sub__(self, other):
        return self._operation('{} - {}', other)

    def __rsub__(self, other):
        return self._operation('{1} - {0}', other)

    def __mul__(self, other):
        return self._operation('{} * {}', other)

    def __rmul__(self, other):
        return self._operation('{1} * {0}', other)

    def __rtruediv__(self, other):
        return self._operation('{1} / {0}', other)

    def __neg__(self):
        return self._operation('-{}')

    def sin(self):
        return self._operation('sin({})')

    def cos(self):
        return self._operation('cos({})')


def all_operations(q):
    """Return numbers that depend on every operation of the algebra, from 13 numbers."""
    axis = Vector(0.0, 0.6, 0.8)
    X = (Transform.from_pose(rotation_from_quaternion(*q[:4]), Vector(*q[4:7]))
         @ Transform(rotation_about(axis, q[7]), axis * q[8]).inverse())
    v = Motion(Vector(*q[7:10]), Vector(*q[10:13]))
    inertia = X.to_parent(Inertia.about_center(2.0, axis, IDENTITY))
    momentum = inertia @ (X @ v + X.to_parent(v) * 0.5)
    f = v.cross_dual(momentum) - X.to_parent(momentum) + X @ momentum
    return [v.cross(X @ v).dot(f), *f.moment, *(-f.force)]


ROWS = RNG.uniform(-1.0, 1.0, (4, 13))


def test_a_batch_is_its_rows_one_by_one():
    batch = np.array(all_operations(list(ROWS.T))).T
    single = np.array([all_operations(row) for row in ROWS.tolist()])
    np.testing.assert_allclose(batch, single, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('q', ROWS.tolist())
def test_a_trace_computes_what_it_was_traced_from(q):
    tape = []
    results = all_operations([Symbol(tape, f'q[{i}]') for i in range(len(q))])
    values = {'q': q, 'sin': math.sin, 'cos': math.cos}
    exec('\n'.join(tape), values)
    traced = [values[result.name] for result in results]
    np.testing.assert_allclose(traced, all_operations(q), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('value', [
    ZERO, IDENTITY, NO_MOTION, NO_FORCE, NO_TRANSFORM, Inertia(1.0, ZERO, IDENTITY)])
def test_everything_shows_its_kind_and_its_numbers(value):
    assert repr(value).startswith(type(value).__name__)
    assert '0.0' in repr(value)
