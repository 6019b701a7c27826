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
"""The planar arm of two joints: closed forms, with and without rotational inertia."""

from comparison import assert_same, TOLERANCE
from lagrangian import Lagrangian
import numpy as np
from planar_2r import GRAVITY_ALONG_MINUS_Y, PlanarArm, PointMassArm
import pytest
from random_robots import random_states
from ros2_rnea.robots.robot import Robot
from seeds import for_seeds
from serial_recursions import body_frame, hollerbach, manipulator, serial_arm, seven_dof

ARMS = pytest.mark.parametrize(
    'arm', [PointMassArm(), PlanarArm()], ids=['point masses', 'full inertia'])
SEEDS = for_seeds(20)


def state_of(arm, seed):
    """Return a random state of the arm."""
    return random_states(seed, arm.robot().columns())


@ARMS
@SEEDS
def test_robot_has_the_efforts_of_the_closed_form(arm, seed):
    state = state_of(arm, seed)
    robot = Robot.from_urdf(arm.robot().urdf())
    assert_same(robot.inverse_dynamics(*state, gravity=GRAVITY_ALONG_MINUS_Y),
                arm.inverse_dynamics(*state))


@ARMS
@SEEDS
def test_robot_has_each_term_of_the_closed_form(arm, seed):
    q, qd, qdd = state_of(arm, seed)
    robot = Robot.from_urdf(arm.robot().urdf())
    still, weightless = np.zeros(2), np.zeros(3)
    assert_same(robot.gravity(q, gravity=GRAVITY_ALONG_MINUS_Y), arm.gravity(q))
    assert_same(robot.bias(q, qd, gravity=weightless), arm.coriolis_matrix(q, qd) @ qd)
    assert_same(robot.inverse_dynamics(q, still, qdd, gravity=weightless),
                arm.mass_matrix(q) @ qdd)


@ARMS
@SEEDS
def test_robot_has_the_matrices_of_the_closed_form(arm, seed):
    q, qd, _ = state_of(arm, seed)
    robot = Robot.from_urdf(arm.robot().urdf())
    assert_same(robot.mass_matrix(q).ravel(), arm.mass_matrix(q).ravel())
    assert_same(robot.coriolis_matrix(q, qd).ravel(), arm.coriolis_matrix(q, qd).ravel())


@SEEDS
def test_robot_has_the_determinant_of_the_closed_form(seed):
    arm = PointMassArm()
    q, _, _ = state_of(arm, seed)
    M = Robot.from_urdf(arm.robot().urdf()).mass_matrix(q)
    assert np.linalg.det(M) == pytest.approx(arm.determinant(q), rel=1e-11)


@ARMS
@SEEDS
@pytest.mark.parametrize('recursion', [seven_dof, hollerbach, manipulator, body_frame])
def test_recursions_have_the_efforts_of_the_closed_form(recursion, arm, seed):
    state = state_of(arm, seed)
    assert_same(recursion(serial_arm(arm.robot()), *state, gravity=GRAVITY_ALONG_MINUS_Y),
                arm.inverse_dynamics(*state))


@ARMS
@SEEDS
def test_christoffel_symbols_give_the_coriolis_matrix_of_the_closed_form(arm, seed):
    q, qd, _ = state_of(arm, seed)
    lagrangian = Lagrangian(arm.robot(), GRAVITY_ALONG_MINUS_Y)
    assert_same(lagrangian.coriolis_matrix(q, qd).ravel(), arm.coriolis_matrix(q, qd).ravel())
    assert_same(lagrangian.mass_matrix(q).ravel(), arm.mass_matrix(q).ravel())


@SEEDS
def test_rate_of_mass_matrix_less_twice_coriolis_matrix_is_skew(seed):
    arm = PointMassArm()
    q, qd, _ = state_of(arm, seed)
    N = arm.mass_matrix_rate(q, qd) - 2.0 * arm.coriolis_matrix(q, qd)
    np.testing.assert_allclose(N, -N.T, rtol=0.0, atol=TOLERANCE * np.max(np.abs(N)))


@SEEDS
def test_determinant_of_the_mass_matrix(seed):
    arm = PointMassArm()
    q, _, _ = state_of(arm, seed)
    assert np.linalg.det(arm.mass_matrix(q)) == pytest.approx(arm.determinant(q), rel=TOLERANCE)
    assert arm.determinant(q) > 0.0
