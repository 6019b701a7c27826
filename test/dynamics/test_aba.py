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
"""Forward dynamics by articulated bodies, by hand and through the mass matrix."""

from __future__ import annotations

from math import cos, isfinite, sin

import numpy as np
import pytest
from ros2_rnea.dynamics.aba import forward_dynamics
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Vector
from rotations import rotation_from_quaternion
from small_robots import ARM, joint, link, robot

DOWN = Vector(0.0, 0.0, -9.81)
INERTIA = np.diag([0.02, 0.03, 0.02])


def tree_of(*parts, **options):
    return build_tree(parse_urdf(robot(*parts)), **options)


def test_a_pendulum_falls_by_hand():
    """1 kg at 0.2 m below the pin along y: it is pulled back by m g l sin q."""
    tree = tree_of(link('wall'), link('bob', com='0 0 -0.2'), joint('pin', 'wall', 'bob'))
    qdd, = forward_dynamics(tree, [0.6], [3.0], [0.5], DOWN)
    assert qdd == pytest.approx((0.5 - 9.81 * 0.2 * sin(0.6)) / (0.03 + 0.04))


def test_a_cart_with_a_pole_by_hand():
    """The cart of 1 kg slides along x, the pole's 0.5 kg are 0.4 m above the pin along y."""
    tree = tree_of(
        link('rail'), link('cart', com='0 0 0'), link('pole', mass=0.5, com='0 0 0.4'),
        joint('slide', 'rail', 'cart', kind='prismatic', axis='1 0 0'),
        joint('pin', 'cart', 'pole'))
    angle, rate, push, twist = 0.5, 2.0, 3.0, 0.1
    M = np.array([[1.5, 0.5 * 0.4 * cos(angle)], [0.5 * 0.4 * cos(angle), 0.03 + 0.5 * 0.16]])
    right = [push + 0.5 * 0.4 * rate**2 * sin(angle), twist + 0.5 * 9.81 * 0.4 * sin(angle)]
    qdd = forward_dynamics(tree, [0.0, angle], [1.0, rate], [push, twist], DOWN)
    np.testing.assert_allclose(qdd, np.linalg.solve(M, right), rtol=1e-13)


def test_what_nothing_holds_falls_freely():
    tree = tree_of(link('stone', com='0 0 0'), floating_base=True)
    q = np.array([1.0, 2.0, 3.0, 0.5, -0.5, 0.1, 0.7])
    q[3:] /= np.linalg.norm(q[3:])
    qdd = forward_dynamics(tree, q.tolist(), [0.0] * 6, [0.0] * 6, DOWN)
    expected = np.append(np.zeros(3), rotation_from_quaternion(q[3:]).T @ [*DOWN])
    np.testing.assert_allclose(qdd, expected, atol=1e-14)


def test_what_tumbles_follows_euler_s_equations():
    tree = tree_of(link('stone', com='0 0 0'), floating_base=True)
    turn, moment = np.array([0.5, -2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    qdd = forward_dynamics(
        tree, [0.0] * 6 + [1.0], [*turn, 0.0, 0.0, 0.0], [*moment, 0.0, 0.0, 0.0],
        Vector(0.0, 0.0, 0.0))
    expected = np.linalg.solve(INERTIA, moment - np.cross(turn, INERTIA @ turn))
    np.testing.assert_allclose(qdd, [*expected, 0.0, 0.0, 0.0], atol=1e-12)


def test_where_a_joint_moves_nothing_the_acceleration_is_not_finite():
    bare = ARM.replace(link('lower'), '<link name="lower"/>')
    tree = build_tree(parse_urdf(bare), massless_links=['lower'])
    qdd = forward_dynamics(tree, [0.3, -0.8], [0.0, 0.0], [0.0, 0.0], DOWN)
    assert not all(map(isfinite, qdd))
