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
"""Efforts of a robot of which one joint turns are sums of the sines of that turn."""

import numpy as np
from random_robots import random_tree
from ros2_rnea.dynamics.rotations import sines_of_turn
from ros2_rnea.robots.robot import Robot
from seeds import for_seeds

ANGLES = np.linspace(-3.0, 3.0, 12)


@for_seeds(10)
def test_one_joint_of_a_random_tree(seed):
    robot = Robot.from_urdf(random_tree(seed, kinds=('revolute', 'continuous', 'fixed')).urdf())
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1.5, 1.5, (3, robot.nv))
    sines = np.array([sines_of_turn(angle) for angle in ANGLES])
    left = []
    for j in range(robot.nv):
        turned = q + ANGLES[:, np.newaxis] * np.eye(robot.nv)[j]
        changes = np.array([robot.inverse_dynamics(each, qd, qdd) for each in turned]) - (
            robot.inverse_dynamics(q, qd, qdd))
        factors, *_ = np.linalg.lstsq(sines, changes, rcond=None)
        assert np.abs(changes - sines @ factors).max() < 1e-12 * max(np.abs(changes).max(), 1.0)
        fewer, *_ = np.linalg.lstsq(sines[:, :2], changes, rcond=None)
        left.append(np.abs(changes - sines[:, :2] @ fewer).max())
    assert max(left) > 1e-3, 'those of the angle alone do not do'
