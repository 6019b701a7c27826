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
"""The Coriolis matrix against closed forms; what holds for all robots is in test_identities."""

from __future__ import annotations

from math import sin

import numpy as np
from ros2_rnea import Robot
from ros2_rnea.dynamics.coriolis import coriolis_matrix
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from rotations import skew
from small_robots import joint, link, robot


def planar_arm():
    """Return two links that turn about parallel axes, 0.3 m apart."""
    return build_tree(parse_urdf(robot(
        link('base'), link('upper'), link('lower', mass=2.0, com='0 0 0.25'),
        joint('shoulder', 'base', 'upper'), joint('elbow', 'upper', 'lower'))))


def test_the_two_link_arm_by_hand():
    q2, rate1, rate2 = 0.8, 1.5, -0.7
    h = -2.0 * 0.3 * 0.25 * sin(q2)
    expected = [[h * rate2, h * (rate1 + rate2)], [-h * rate1, 0.0]]
    C = coriolis_matrix(planar_arm(), [0.4, q2], [rate1, rate2])
    np.testing.assert_allclose(C, expected, atol=1e-15)


def test_a_body_that_tumbles_feels_euler_s_equations():
    """About its centre: C ω = ω × I ω, and no force."""
    stone = Robot.from_urdf(robot(link('stone', com='0 0 0')), floating_base=True)
    turn = np.array([0.5, -2.0, 3.0])
    v = np.append(turn, np.zeros(3))
    C = stone.coriolis_matrix(stone.neutral(), v)
    inertia = np.diag([0.02, 0.03, 0.02])
    np.testing.assert_allclose(
        C @ v, np.append(np.cross(turn, inertia @ turn), np.zeros(3)), atol=1e-15)
    # The connection without torsion: ½ (ω × u + I⁻¹ (ω × I u + u × I ω)), times I.
    np.testing.assert_allclose(
        C[:3, :3], 0.5 * (inertia @ skew(turn) + skew(turn) @ inertia - skew(inertia @ turn)),
        atol=1e-15)
