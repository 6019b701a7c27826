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
"""Gravity is a vector: tilting it is the same as tilting the mount the other way."""

from __future__ import annotations

from dataclasses import replace

from comparison import assert_differs, assert_same
import numpy as np
from random_robots import random_states, random_tree
from robot_data import JointData, LinkData
from ros2_rnea.robots.robot import Robot
from rotations import rotation_from_rpy
from seeds import for_seeds

GRAVITY = np.array([0.0, 0.0, -9.81])
SEEDS = for_seeds(10)
REMAINING_KINDS = ('revolute', 'prismatic', 'fixed')


def mounted(robot, rpy):
    """Return the robot on a fixed first joint that is turned by rpy and stands beside."""
    mount = JointData('mount', 'fixed', 'floor', robot.root(), xyz=np.array([0.3, -0.2, 1.0]),
                      rpy=np.asarray(rpy))
    return replace(robot, links=(*robot.links, LinkData('floor')), joints=(mount, *robot.joints))


@SEEDS
def test_tilted_gravity_equals_a_rotated_mount(seed):
    data = random_tree(seed, kinds=REMAINING_KINDS)
    rpy = np.random.default_rng(seed).uniform(-3.0, 3.0, 3)
    states = random_states(seed, data.columns(), 20)
    upright = Robot.from_urdf(data.urdf())
    turned = Robot.from_urdf(mounted(data, rpy).urdf())
    in_root_axes = rotation_from_rpy(rpy).T @ GRAVITY
    assert_same(upright.inverse_dynamics(*states, gravity=in_root_axes),
                turned.inverse_dynamics(*states), f'seed {seed}')
    assert_differs(upright.inverse_dynamics(*states), turned.inverse_dynamics(*states))


@SEEDS
def test_a_floating_base_turned_under_gravity_equals_tilted_gravity(seed):
    data = random_tree(seed, kinds=REMAINING_KINDS)
    robot = Robot.from_urdf(data.urdf(), floating_base=True)
    (q, qd, qdd), R = turned_base(robot, data, seed)
    level = np.append([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], q[7:])
    assert_same(robot.inverse_dynamics(q, qd, qdd),
                robot.inverse_dynamics(level, qd, qdd, gravity=R.T @ GRAVITY), f'seed {seed}')


def turned_base(robot, data, seed):
    """Return a random state whose base is turned by R about its yaw, pitch and roll axes."""
    state = random_states(seed, data.columns(floating_base=True))
    yaw, pitch, roll = np.random.default_rng(seed).uniform(-3.0, 3.0, 3)
    # Unit quaternions of the three turns, multiplied in the order of URDF's rpy.
    quaternion = np.array([0.0, 0.0, np.sin(yaw / 2.0), np.cos(yaw / 2.0)])
    for axis, angle in ((1, pitch), (0, roll)):
        turn = np.append(np.sin(angle / 2.0) * np.eye(3)[axis], np.cos(angle / 2.0))
        quaternion = quaternion_product(quaternion, turn)
    state[0][3:7] = quaternion
    return state, rotation_from_rpy([roll, pitch, yaw])


def quaternion_product(a, b):
    """Return a b for quaternions (x, y, z, w)."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])
