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
"""The documents' recursions, Lagrange's equations and the package are the same function."""

from comparison import assert_same
from lagrangian import Lagrangian
import numpy as np
import pytest
from random_robots import random_serial_arm, random_states
from ros2_rnea.robots.robot import Robot
from rotations import rotation_from_rpy
from seeds import for_seeds
from serial_recursions import body_frame, hollerbach, manipulator, serial_arm, seven_dof
from spatial_recursion import spatial_inverse_dynamics
from uicker_kahn import uicker_kahn

REVOLUTE = ('revolute',)
MIXED = ('revolute', 'prismatic')


def case(seed, kinds):
    """Return a random arm, a state, a wrench on its last link, and Caron's efforts for them."""
    robot = random_serial_arm(seed, size=7, kinds=kinds)
    state = random_states(seed, robot.columns())
    wrench = np.random.default_rng(seed).normal(size=6) * 10.0
    return robot, state, wrench, spatial_inverse_dynamics(robot, *state, {'link_7': wrench})


@pytest.mark.parametrize('kinds', [REVOLUTE, MIXED], ids=['revolute', 'mixed'])
@pytest.mark.parametrize('recursion', [hollerbach, manipulator, body_frame])
@for_seeds(12)
def test_serial_recursions_agree_with_the_spatial_one(seed, recursion, kinds):
    robot, state, wrench, expected = case(seed, kinds)
    assert_same(recursion(serial_arm(robot), *state, tip_wrench=wrench), expected)


@for_seeds(12)
def test_seven_dof_recursion_agrees_with_the_spatial_one(seed):
    robot, state, wrench, expected = case(seed, REVOLUTE)
    assert_same(seven_dof(serial_arm(robot), *state, tip_wrench=wrench), expected)


@for_seeds(12)
def test_seven_dof_base_orientation_turns_gravity_into_base_axes(seed):
    robot, state, _, _ = case(seed, REVOLUTE)
    R_world_base = rotation_from_rpy([0.4, -1.1, 2.0])
    gravity = np.array([0.3, -0.7, -9.6])
    assert_same(
        seven_dof(serial_arm(robot), *state, gravity=gravity, R_world_base=R_world_base),
        spatial_inverse_dynamics(robot, *state, gravity=R_world_base.T @ gravity))


@pytest.mark.parametrize('kinds', [REVOLUTE, MIXED], ids=['revolute', 'mixed'])
@for_seeds(12)
def test_lagrange_agrees_with_the_spatial_recursion(seed, kinds):
    robot, state, wrench, expected = case(seed, kinds)
    assert_same(Lagrangian(robot).inverse_dynamics(*state, {'link_7': wrench}), expected)


@for_seeds(4)
def test_uicker_and_kahn_agree_with_the_spatial_recursion(seed):
    robot, state, _, _ = case(seed, MIXED)
    tau, _ = uicker_kahn(serial_arm(robot), *state)
    assert_same(tau, spatial_inverse_dynamics(robot, *state))


@pytest.mark.parametrize('kinds', [REVOLUTE, MIXED], ids=['revolute', 'mixed'])
@for_seeds(12)
def test_robot_agrees_with_the_spatial_recursion(seed, kinds):
    robot, state, wrench, expected = case(seed, kinds)
    ours = Robot.from_urdf(robot.urdf())
    assert_same(ours.inverse_dynamics(*state, f_ext={'link_7': wrench}), expected)
