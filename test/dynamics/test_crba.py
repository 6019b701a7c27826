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
"""The mass matrix, by hand and against other ways to it."""

from __future__ import annotations

from dataclasses import replace

from drawn_robots import assert_close, cases, for_drawn
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.crba import mass_matrix
from ros2_rnea.model.description import Mimic
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Motion, Vector
from rotations import skew
from small_robots import ARM_WITH_GRIPPER, joint, link, robot


def test_a_pendulum_by_hand():
    """1 kg at (0.1, 0, −0.2) from the pin along y, 0.03 kg m^2 about its centre."""
    tree = build_tree(parse_urdf(robot(link('wall'), link('rod'), joint('pin', 'wall', 'rod'))))
    assert mass_matrix(tree, [0.7]) == [[pytest.approx(0.03 + 1.0 * (0.01 + 0.04))]]


def test_a_floating_body_by_hand():
    stone = Robot.from_urdf(robot(link('stone', mass=2.0)), floating_base=True)
    c = np.array([0.1, 0.0, -0.2])
    about_origin = np.diag([0.02, 0.03, 0.02]) + 2.0 * skew(c).T @ skew(c)
    expected = np.block([[about_origin, 2.0 * skew(c)], [2.0 * skew(c).T, 2.0 * np.eye(3)]])
    for seed in range(3):  # in the body's axes it is the same everywhere
        q = np.random.default_rng(seed).normal(size=7)
        q[3:] /= np.linalg.norm(q[3:])
        np.testing.assert_allclose(stone.mass_matrix(q), expected, atol=1e-15)


def test_a_mimicking_joint_s_mass_counts_at_its_leader():
    """M of the coordinates that are left is Gᵀ M G of all, with q̇ = G v."""
    tied = parse_urdf(ARM_WITH_GRIPPER)
    tied = replace(tied, joints=tuple(
        replace(j, mimic=Mimic('elbow', -2.0, 0.1)) if j.mimic else j for j in tied.joints))
    free = replace(tied, joints=tuple(replace(j, mimic=None) for j in tied.joints))
    q = np.array([0.3, -0.7, 0.02])
    G = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -2.0, 0.0]])
    all_of_it = Robot.from_description(free).mass_matrix(G @ q + [0.0, 0.0, 0.0, 0.1])
    np.testing.assert_allclose(
        Robot.from_description(tied).mass_matrix(q), G.T @ all_of_it @ G, rtol=1e-13)


@for_drawn(cases())
def test_the_mass_matrix_is_the_sum_over_the_bodies(case):
    """M = Σ Jᵀ I J, with each body's Jacobian in its own frame."""
    M = np.zeros((case.robot.nv, case.robot.nv))
    for body in case.tree.bodies:
        J = case.robot.jacobian(case.q, body.link)
        inertia = np.array([[*(body.inertia @ column)] for column in columns_of(J)]).T
        M += J.T @ inertia
        own = np.zeros(case.robot.nv)
        own[body.v_slice] = body.armature
        M += np.diag(own)
    assert_close(case.robot.mass_matrix(case.q), M)


def columns_of(J):
    return [Motion(Vector(*column[:3]), Vector(*column[3:])) for column in J.T]
