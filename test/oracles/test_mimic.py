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
"""Mimic joints: tau = G^T tau_full(G q + offset, G qd, G qdd), and G is what they say."""

from __future__ import annotations

from dataclasses import replace

from comparison import assert_differs, assert_same
import numpy as np
from random_robots import random_serial_arm, random_states, random_tree
from robot_data import expand_mimic, MimicData
from ros2_rnea.robots.robot import Robot
from seeds import for_seeds

PLAIN = ('revolute', 'continuous', 'prismatic', 'fixed')


def with_mimics(arm, mimics):
    """Return an arm some of whose joints mimic others, by name."""
    return replace(arm, joints=tuple(
        replace(joint, mimic=mimics.get(joint.name)) for joint in arm.joints))


@for_seeds(20)
def test_mimics_project_the_efforts_of_the_free_robot(seed):
    data = random_tree(seed, kinds=PLAIN, mimics=3, damping=True)
    assert sum(joint.mimic is not None for joint in data.joints) == 3
    robot, free = Robot.from_urdf(data.urdf()), Robot.from_urdf(data.without_mimic().urdf())
    assert robot.nv == free.nv - 3
    state = random_states(seed, data.columns())
    *full_state, G = expand_mimic(data, *state)
    assert_same(robot.inverse_dynamics(*state), G.T @ free.inverse_dynamics(*full_state),
                f'seed {seed}')


def test_a_pair_of_fingers():
    arm = random_serial_arm(1, size=3, kinds=('prismatic',))
    fingers = with_mimics(arm, {'joint_3': MimicData('joint_2', -0.5, 0.2)})
    q, qd, qdd = random_states(1, fingers.columns())
    free = Robot.from_urdf(arm.urdf()).inverse_dynamics(
        [q[0], q[1], -0.5 * q[1] + 0.2], [qd[0], qd[1], -0.5 * qd[1]],
        [qdd[0], qdd[1], -0.5 * qdd[1]])
    ours = Robot.from_urdf(fingers.urdf()).inverse_dynamics(q, qd, qdd)
    assert_same(ours, np.array([free[0], free[1] - 0.5 * free[2]]))
    assert_differs(ours, free[:2])


def test_a_mimic_of_a_mimic():
    arm = random_serial_arm(2, size=4, kinds=('revolute',))
    chained = with_mimics(arm, {
        'joint_1': MimicData('joint_3', 2.0, 0.1), 'joint_3': MimicData('joint_4', -0.5, 0.3)})
    q, qd, qdd = random_states(2, chained.columns())  # of joint_2 and joint_4
    G = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, -0.5], [0.0, 1.0]])
    offset = np.array([2.0 * 0.3 + 0.1, 0.0, 0.3, 0.0])
    free = Robot.from_urdf(arm.urdf()).inverse_dynamics(G @ q + offset, G @ qd, G @ qdd)
    assert_same(Robot.from_urdf(chained.urdf()).inverse_dynamics(q, qd, qdd), G.T @ free)
