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
"""The joint types: the motion subspace S of each is the derivative of its transform."""

from __future__ import annotations

from math import pi
from types import SimpleNamespace

import numpy as np
import pytest
from random_robots import random_axis
from ros2_rnea.dynamics.joints import joint_models, joint_position, joint_rate, MODELS
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Vector
from rotations import rotation_about
from seeds import for_seeds
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot

WITH_QUATERNION = (JointType.SPHERICAL, JointType.FLOATING)
MOVING = [kind for kind in JointType if kind is not JointType.FIXED]
FOR_EACH_TYPE = pytest.mark.parametrize('kind', MOVING, ids=lambda kind: kind.label)
SEEDS = for_seeds(5)
STEP = 1e-30  # of a complex step, which loses no digits

ODD_AXES = [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (0.6, 0, 0.8), (0, 1e-9, -1), (2, -3, 6)]


def unit(values):
    return np.array(values) / np.linalg.norm(values)


def model(kind, axis):
    return MODELS[kind](SimpleNamespace(axis=Vector(*axis), pitch=0.3))


def numbers(vector):
    return np.array([*vector])


def matrix(rotation):
    return np.array([numbers(row) for row in rotation.rows])


def placement(joint_model, q):
    """Return where the body is in the joint's frame: R with its axes as columns, and p."""
    X = joint_model.transform(list(q))
    return matrix(X.E).T, numbers(X.r)


def dense_S(joint_model):
    """Return the motion subspace as a matrix (6, nv)."""
    return np.column_stack(
        [np.concatenate([numbers(c.angular), numbers(c.linear)]) for c in joint_model.S])


def position_rate(kind, joint_model, q, v):
    """Return the derivative of the position coordinates while the joint moves with v."""
    if kind is JointType.PLANAR:
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
    if kind in WITH_QUATERNION:
        R, _ = placement(joint_model, q)
        vector, w, turn = q[-4:-1], q[-1], v[:3]
        quaternion_rate = 0.5 * np.append(w * turn + np.cross(vector, turn), -vector @ turn)
        return np.concatenate([R @ v[3:] if len(v) > 3 else [], quaternion_rate])
    return v


def random_position(kind, rng):
    q = rng.uniform(-3.0, 3.0, kind.nq)
    if kind in WITH_QUATERNION:
        q[-4:] = unit(q[-4:])
    return q


def velocity_of(joint_model, q, qd):
    """Return the body's velocity [angular; linear] in its own axes, from its placement alone."""
    R, p = placement(joint_model, np.asarray(q))
    R_next, p_next = placement(joint_model, np.asarray(q) + 1j * STEP * qd)
    turn = R.T @ R_next.imag / STEP
    return np.array([turn[2, 1], turn[0, 2], turn[1, 0], *(R.T @ p_next.imag / STEP)])


def assert_S_is_the_derivative(kind, axis, rng):
    joint_model = model(kind, axis)
    q, v = random_position(kind, rng), rng.uniform(-2.0, 2.0, kind.nv)
    qd = position_rate(kind, joint_model, q, v)
    np.testing.assert_allclose(
        velocity_of(joint_model, q, qd), dense_S(joint_model) @ v, rtol=0.0, atol=1e-14)


@SEEDS
@FOR_EACH_TYPE
def test_the_motion_subspace_is_the_derivative_of_the_transform(kind, seed):
    rng = np.random.default_rng(seed)
    assert_S_is_the_derivative(kind, random_axis(rng), rng)


@pytest.mark.parametrize('axis', ODD_AXES)
@FOR_EACH_TYPE
def test_so_it_is_for_odd_axes(kind, axis):
    assert_S_is_the_derivative(kind, unit(axis), np.random.default_rng(0))


def test_every_type_has_a_model():
    assert set(MODELS) == set(JointType)


@FOR_EACH_TYPE
def test_the_model_has_the_sizes_of_its_type(kind):
    joint_model = model(kind, (0.0, 0.0, 1.0))
    assert np.linalg.matrix_rank(dense_S(joint_model)) == len(joint_model.S) == kind.nv
    q = random_position(kind, np.random.default_rng(0))
    at_rest = placement(joint_model, q)
    for k in range(kind.nq):  # every coordinate matters, and there is no further one
        moved = placement(joint_model, q + 0.1 * np.eye(kind.nq)[k])
        assert not all(np.allclose(a, b) for a, b in zip(moved, at_rest)), k


@FOR_EACH_TYPE
def test_at_neutral_the_body_s_frame_is_the_joint_s(kind):
    origin = np.array(model(kind, (0.0, 0.0, 1.0)).neutral())
    R, p = placement(model(kind, unit((1, 2, 3))), origin)
    np.testing.assert_allclose(R, np.eye(3), atol=1e-15)
    assert not p.any()


@pytest.mark.parametrize('kind', [JointType.REVOLUTE, JointType.CONTINUOUS])
def test_a_positive_angle_turns_counterclockwise_about_the_axis(kind):
    R, p = placement(model(kind, (0.0, 0.0, 1.0)), [pi / 2])
    np.testing.assert_allclose(R[:, 0], [0.0, 1.0, 0.0], atol=1e-15)
    assert not p.any()


def test_a_positive_slide_goes_along_the_axis():
    R, p = placement(model(JointType.PRISMATIC, (0.0, 0.6, 0.8)), [2.0])
    np.testing.assert_allclose(p, [0.0, 1.2, 1.6])
    assert np.array_equal(R, np.eye(3))


def test_a_floating_joint_s_position_is_in_parent_axes():
    quarter = np.sin(pi / 4)
    R, p = placement(
        model(JointType.FLOATING, (1.0, 0.0, 0.0)), [1.0, 2.0, 3.0, 0.0, 0.0, quarter, quarter])
    np.testing.assert_allclose(p, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(R[:, 0], [0.0, 1.0, 0.0], atol=1e-15)


@pytest.mark.parametrize('axis, x_direction, y_direction', [
    ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
    ((0, 0, -1), (1, 0, 0), (0, -1, 0)),
    ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    ((0, 1, 0), (1, 0, 0), (0, 0, -1)),
    ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
])
def test_the_plane_s_axes_are_turned_the_shortest_way(axis, x_direction, y_direction):
    planar = model(JointType.PLANAR, axis)
    np.testing.assert_allclose(placement(planar, [1.0, 0.0, 0.0])[1], x_direction, atol=1e-15)
    np.testing.assert_allclose(placement(planar, [0.0, 1.0, 0.0])[1], y_direction, atol=1e-15)


@pytest.mark.parametrize('axis', ODD_AXES)
def test_a_planar_joint_slides_normal_to_its_axis(axis):
    normal, planar = unit(axis), model(JointType.PLANAR, unit(axis))
    x_axis, y_axis = (placement(planar, [*step, 0.0])[1] for step in ((1.0, 0.0), (0.0, 1.0)))
    np.testing.assert_allclose(np.cross(x_axis, y_axis), normal, atol=1e-15)
    R, _ = placement(planar, [0.0, 0.0, 0.7])
    np.testing.assert_allclose(R, rotation_about(normal, 0.7), atol=1e-15)


# ---- the joints of a tree ---------------------------------------------------------------------


def tree_of(text):
    return build_tree(parse_urdf(text))


def test_a_mimicking_joint_scales_and_shifts_its_leader_s_coordinates():
    tree = tree_of(ARM_WITH_GRIPPER)
    leader, follower = (tree.bodies[i] for i in (tree.joints['grip'], tree.mimics['thumb_joint']))
    q = [9.0, 9.0, 0.03]
    assert joint_position(leader, q) == [0.03]
    assert joint_position(follower, q) == pytest.approx([0.07])
    assert joint_rate(leader, q) == [0.03]
    assert joint_rate(follower, q) == [-0.03]


def test_a_tree_s_models_are_in_the_order_of_bodies():
    tree = tree_of(robot(
        link('a'), link('b'), link('c'),
        joint('slide', 'b', 'c', kind='prismatic'), joint('turn', 'a', 'b')))
    turn, slide = joint_models(tree)
    assert dense_S(turn)[:3].any() and not dense_S(turn)[3:].any()
    assert dense_S(slide)[3:].any() and not dense_S(slide)[:3].any()


def test_each_tree_has_models_of_its_own():
    upright, lying = tree_of(ARM), tree_of(ARM.replace('0 1 0', '0 0 1'))
    assert joint_models(upright)[0].S[0].angular.y == 1.0
    assert joint_models(lying)[0].S[0].angular.z == 1.0


def same_place(kind, joint_model, one, other):
    for mine, theirs in zip(placement(joint_model, one), placement(joint_model, other)):
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-13)


@SEEDS
@FOR_EACH_TYPE
def test_difference_is_what_integrate_needs(kind, seed):
    rng = np.random.default_rng(seed)
    joint_model = model(kind, random_axis(rng))
    start, end = random_position(kind, rng), random_position(kind, rng)
    way = joint_model.difference(start.tolist(), end.tolist())
    assert len(way) == kind.nv
    same_place(kind, joint_model, joint_model.integrate(start.tolist(), way), end)


@pytest.mark.parametrize('size', [0.0, 1e-9, 1e-4, 0.99e-3, 1.01e-3, 0.1, 2.5])
@FOR_EACH_TYPE
def test_integrate_and_difference_agree_for_turns_of_any_size(kind, size):
    rng = np.random.default_rng(1)
    joint_model = model(kind, random_axis(rng))
    start, v = random_position(kind, rng).tolist(), size * unit(rng.normal(size=kind.nv))
    way = joint_model.difference(start, joint_model.integrate(start, v.tolist()))
    np.testing.assert_allclose(way, v, rtol=0.0, atol=1e-13)


@FOR_EACH_TYPE
def test_to_integrate_is_to_move_with_a_constant_velocity(kind):
    """Many small steps along the position's rate, taken by the classical Runge-Kutta method."""
    rng = np.random.default_rng(2)
    joint_model = model(kind, random_axis(rng))
    q, v, steps = random_position(kind, rng), rng.uniform(-1.0, 1.0, kind.nv), 200
    moved = q.copy()
    for _ in range(steps):
        k1 = position_rate(kind, joint_model, moved, v) / steps
        k2 = position_rate(kind, joint_model, moved + 0.5 * k1, v) / steps
        k3 = position_rate(kind, joint_model, moved + 0.5 * k2, v) / steps
        k4 = position_rate(kind, joint_model, moved + k3, v) / steps
        moved = moved + (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
    for mine, theirs in zip(
            placement(joint_model, joint_model.integrate(q.tolist(), v.tolist())),
            placement(joint_model, moved)):
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-10)
