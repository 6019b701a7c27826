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
"""The pseudo-inertia matrix, and the divergence that draws an identification to its URDF."""

import numpy as np
import pytest
from random_robots import random_serial_arm
from ros2_rnea import Robot
from ros2_rnea.dynamics.friction import SHARP
from ros2_rnea.dynamics.joint_regressor import JOINT_COLUMNS
from ros2_rnea.dynamics.pseudo_inertia import (
    ball,
    BASIS,
    inertial_of,
    is_consistent,
    log_det_divergence,
    nearest_consistent,
    pseudo_inertia,
    THINNEST,
)
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.model.tree import link_inertia
from synthetic_recordings import with_joint_numbers


def bodies(seed=0):
    robot = Robot.from_urdf(random_serial_arm(seed, 4).urdf())
    return robot.inertial_parameters.reshape(-1, 10)


def test_pseudo_inertia_is_the_integral_over_the_mass():
    rng = np.random.default_rng(0)
    points, masses = rng.normal(size=(20, 3)), rng.uniform(0.1, 1.0, 20)
    ten = np.zeros(10)
    for point, mass in zip(points, masses):
        inertia = mass * (point @ point * np.eye(3) - np.outer(point, point))
        ten += [mass, *mass * point, *inertia[np.triu_indices(3)]]
    with_ones = np.column_stack([points, np.ones(20)])
    expected = with_ones.T @ (masses[:, None] * with_ones)
    assert np.allclose(pseudo_inertia(ten.tolist()), expected, atol=1e-12)
    assert np.allclose(np.tensordot(ten, BASIS, 1), expected, atol=1e-12)


def test_bodies_that_can_be_are_told_from_others():
    for ten in bodies():
        assert is_consistent(ten)
        thin = ten.copy()
        thin[4] += thin[7] + thin[9]  # more than the triangle inequality allows
        assert not is_consistent(thin)
        repaired = nearest_consistent(thin)
        assert is_consistent(repaired)
        assert np.array_equal(repaired[:4], thin[:4])
        assert np.array_equal(nearest_consistent(ten), ten)
        assert log_det_divergence(thin, ten)[0] == np.inf
    assert THINNEST > 0.0


def test_log_det_divergence_has_its_slope_and_unit_curvature():
    one, other = bodies()[:2]
    J, J_reference = (np.tensordot(ten, BASIS, 1) for ten in (one, other))
    value, gradient, changes = log_det_divergence(one, other)
    relative = np.linalg.solve(J_reference, J)
    assert value == pytest.approx(
        np.trace(relative) - np.log(np.linalg.det(relative)) - 4.0, rel=1e-10)
    step = 1e-5
    for k in range(10):
        ahead, behind = (log_det_divergence(one + sign * step * changes[:, k], other)[0]
                         for sign in (1.0, -1.0))
        assert (ahead - behind) / (2.0 * step) == pytest.approx(
            gradient[k], rel=1e-6, abs=1e-5 * value)
        assert (ahead + behind - 2.0 * value) / step**2 == pytest.approx(1.0, rel=0.05, abs=0.05)
    assert log_det_divergence(one, one)[0] == pytest.approx(0.0, abs=1e-12)


def test_each_sum_is_one_more_barrier_in_the_divergence():
    one, other = bodies()[:2]
    weights = np.array([3.0, 0.5])
    sums = np.array([[1.0, 0.0, 0.0, 0.0, -0.5, 0.0, 0.0, -0.5, 0.0, -0.5], np.eye(10)[0]])
    sums[0, 0] -= 1.5 * min(sums[0] @ one / one[0], sums[0] @ other / other[0], 0.0)
    ratios = sums @ one / (sums @ other)
    assert (ratios > 0.0).all()
    value, gradient, changes = log_det_divergence(one, other, sums, weights)
    assert value == pytest.approx(
        log_det_divergence(one, other)[0] + weights @ (ratios - np.log(ratios) - 1.0))

    def slope(ten):  # by the ten parameters
        _, gradient, changes = log_det_divergence(ten, other, sums, weights)
        return np.linalg.solve(changes.T, gradient)

    step, hessian = 1e-6, np.zeros((10, 10))
    for k, change in enumerate(step * changes.T):
        ahead, behind = (log_det_divergence(one + sign * change, other, sums, weights)[0]
                         for sign in (1.0, -1.0))
        assert (ahead - behind) / (2.0 * step) == pytest.approx(gradient[k], rel=1e-6, abs=1e-7)
        hessian[k] = changes.T @ (slope(one + change) - slope(one - change)) / (2.0 * step)
    np.testing.assert_allclose(hessian, np.eye(10), atol=1e-6)
    sums[0, 0] -= 1.001 * (sums[0] @ one) / one[0]
    assert is_consistent(one) and log_det_divergence(one, other, sums, weights)[0] == np.inf


def test_a_ball_and_an_inertial_are_what_they_say():
    ten = ball(2.0, (0.1, -0.2, 0.3), 1000.0)
    found = inertial_of(ten.tolist())
    radius = (3.0 * 2.0 / (4.0 * np.pi * 1000.0))**(1.0 / 3.0)
    assert found.mass == 2.0
    assert found.origin.xyz == pytest.approx((0.1, -0.2, 0.3))
    assert found.inertia == pytest.approx(
        (0.8 * radius**2, 0.0, 0.0, 0.8 * radius**2, 0.0, 0.8 * radius**2), abs=1e-14)
    assert parameters_of(link_inertia(found)) == pytest.approx(ten.tolist(), abs=1e-14)


@pytest.mark.parametrize('column, numbers', [
    ('viscous', {'damping': 1.0}),
    ('viscous_forward', {'damping_positive': 1.0}),
    ('viscous_backward', {'damping_negative': 1.0}),
    ('coulomb', {'friction': 1.0}),
    ('offset', {'friction_offset': 1.0}),
    ('stribeck', {'breakaway_friction': 1.0, 'stribeck_velocity': 0.3}),
    ('rotor_inertia', {'armature': 1.0}),
])
def test_columns_of_a_joint_are_efforts_for_numbers_of_one(column, numbers):
    robot = Robot.from_urdf(random_serial_arm(0, 1, ('revolute',)).urdf())
    qd, qdd = np.random.default_rng(0).normal(size=(2, 50, 1))
    q = np.zeros((50, 1))
    expected = (with_joint_numbers(robot, **numbers).inverse_dynamics(q, qd, qdd)
                - robot.inverse_dynamics(q, qd, qdd))
    speed = numbers.get('stribeck_velocity', 0.0)  # 0: signs are rounded off as in a robot
    assert np.allclose(JOINT_COLUMNS[column](qd, qdd, speed), expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize('column, forward, backward', [
    ('coulomb', 1.0, -1.0), ('viscous_forward', 0.005, 0.0), ('viscous_backward', 0.0, -0.005)])
def test_columns_of_a_slow_joint_have_the_whole_friction(
        column, forward, backward):
    rates = np.array([0.005, -0.005])
    efforts = JOINT_COLUMNS[column](rates, np.zeros(2), 0.005 / SHARP)
    assert np.allclose(efforts, [forward, backward], rtol=1e-3, atol=1e-5)
    rounded_off = JOINT_COLUMNS[column](rates, np.zeros(2), 0.0)
    assert abs(rounded_off[0] - forward) > 0.2 * 0.005
