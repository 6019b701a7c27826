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
"""Jacobians and motions of links, by hand; what holds for all robots is in test_identities."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.jacobian import (
    free_fall_felt,
    link_jacobian,
    link_motion,
    world_jacobian,
)
from ros2_rnea.dynamics.kinematics import link_rotation
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Vector
from small_robots import ARM, ARM_WITH_GRIPPER, FREE_FLYER, joint, link, robot

PENDULUM = robot(link('wall'), link('rod'), '<link name="bob"/>', joint('pin', 'wall', 'rod'),
                 joint('weld', 'rod', 'bob', kind='fixed'))  # 0.3 m up, and 0.3 m further
Q, QD, QDD = 0.6, 2.0, 5.0


def tree_of(text, **options):
    return build_tree(parse_urdf(text), **options)


def dense(columns):
    return np.array([[*column] for column in columns]).T


@pytest.fixture
def pendulum():
    return tree_of(PENDULUM)


def test_a_pendulum_s_tip_goes_sideways(pendulum):
    assert dense(link_jacobian(pendulum, [Q], 'bob')).ravel() == pytest.approx(
        [0.0, 1.0, 0.0, 0.3, 0.0, 0.0])


def test_in_the_world_a_turn_moves_the_origin(pendulum):
    for name in ('rod', 'bob'):  # one body: the world's origin, 0.3 m below the pin
        assert dense(world_jacobian(pendulum, [Q], name)).ravel() == pytest.approx(
            [0.0, 1.0, 0.0, -0.3, 0.0, 0.0])


def test_the_root_link_does_not_move(pendulum):
    assert not dense(link_jacobian(pendulum, [Q], 'wall')).any()
    motion = link_motion(pendulum, [Q], [QD], [QDD], 'wall')
    assert not any([*motion.velocity, *motion.acceleration, *motion.linear_acceleration])


def test_a_pendulum_s_tip_is_drawn_to_the_pin(pendulum):
    motion = link_motion(pendulum, [Q], [QD], [QDD], 'bob')
    assert [*motion.velocity] == pytest.approx([0.0, QD, 0.0, 0.3 * QD, 0.0, 0.0])
    assert [*motion.linear_acceleration] == pytest.approx([0.3 * QDD, 0.0, -0.3 * QD**2])
    # As a spatial vector it is the rate of the velocity in the tip's axes.
    assert [*motion.acceleration] == pytest.approx([0.0, QDD, 0.0, 0.3 * QDD, 0.0, 0.0])


def test_a_mimicking_joint_s_link_moves_with_its_leader():
    tree = tree_of(ARM_WITH_GRIPPER)
    finger, thumb = (
        dense(link_jacobian(tree, [0.3, 0.4, 0.05], name))[:, 2] for name in ('finger', 'thumb'))
    assert finger == pytest.approx([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert thumb == pytest.approx(-finger)


def test_a_floating_body_s_own_jacobian_is_the_identity():
    tree = tree_of(FREE_FLYER)
    q = [1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5, 0.2]
    np.testing.assert_allclose(
        dense(link_jacobian(tree, q, 'drone')), np.eye(6, 7), atol=1e-15)


def test_in_another_link_s_axes_it_is_the_same_velocity():
    arm = Robot.from_urdf(ARM)
    q, qd = np.random.default_rng(3).normal(size=(2, 2))
    step = 1e-6
    ahead, behind = (arm.link_poses(q + sign * step * qd)['tool'] for sign in (1.0, -1.0))
    velocity = (ahead.position - behind.position) / (2.0 * step)
    turning = (ahead.rotation - behind.rotation) / (2.0 * step) @ arm.link_rotation(q, 'tool').T
    angular = [turning[2, 1], turning[0, 2], turning[1, 0]]
    in_base = arm.jacobian(q, 'tool', 'base')
    np.testing.assert_allclose(in_base @ qd, [*angular, *velocity], atol=1e-8)
    to_upper = np.kron(np.eye(2), arm.link_rotation(q, 'upper').T)
    np.testing.assert_allclose(
        arm.jacobian(q, 'tool', 'upper'), to_upper @ in_base, atol=1e-14)
    np.testing.assert_allclose(
        arm.jacobian(q, 'tool', 'tool'), arm.jacobian(q, 'tool'), atol=1e-14)


def test_a_pose_has_the_link_s_axes_as_columns():
    pose = Robot.from_urdf(PENDULUM).link_poses([Q])['bob']
    assert pose.position == pytest.approx([0.3 * sin(Q), 0.0, 0.3 + 0.3 * cos(Q)])
    assert pose.rotation[:, 2] == pytest.approx([sin(Q), 0.0, cos(Q)])


def test_a_pendulum_s_accelerometer_feels_that_it_swings(pendulum):
    """The tip of 0.3 m, up at q = 0, is pulled towards the pin, and on along its way."""
    rotation = link_rotation(pendulum, [Q], 'bob')
    moves = link_motion(pendulum, [Q], [QD], [QDD], 'bob').linear_acceleration
    shown = moves + rotation.T @ Vector(0.0, 0.0, 9.81)
    along, up = 0.3 * QDD, -0.3 * QD ** 2
    assert [*free_fall_felt(rotation, shown)] == pytest.approx([
        -(cos(Q) * along + sin(Q) * up), 0.0, -9.81 - (-sin(Q) * along + cos(Q) * up)])
