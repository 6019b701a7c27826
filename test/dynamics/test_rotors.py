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
"""Rotors: what they add to the mass matrix, to efforts and to energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.rotors import rotor_effort
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER

Q, QD, QDD = np.array([[0.3, -0.8], [1.0, -2.0], [3.0, 4.0]])
ROTOR, RATIO = 1e-3, -50.0
SEEN = 2.5  # [kg m^2], the rotor through its gear: inertia times ratio squared


def with_rotor(text, joint):
    description = parse_urdf(text)
    return replace(description, joints=tuple(
        replace(j, rotor_inertia=ROTOR, gear_ratio=RATIO) if j.name == joint else j
        for j in description.joints))


@pytest.fixture(scope='module')
def plain():
    return Robot.from_urdf(ARM)


@pytest.fixture(scope='module')
def geared():
    return Robot.from_description(with_rotor(ARM, 'elbow'))


def test_a_rotor_is_felt_by_its_gear_ratio_squared(geared):
    assert rotor_effort(geared.tree, [3.0, 4.0]) == pytest.approx([0.0, 4.0 * SEEN])


def test_without_a_gear_it_is_felt_as_it_is():
    description = with_rotor(ARM, 'elbow')
    joints = tuple(replace(joint, gear_ratio=1.0) for joint in description.joints)
    tree = build_tree(replace(description, joints=joints))
    assert rotor_effort(tree, [0.0, 1.0]) == pytest.approx([0.0, ROTOR])


def test_it_stands_on_the_diagonal_of_the_mass_matrix_alone(plain, geared):
    added = geared.mass_matrix(Q) - plain.mass_matrix(Q)
    np.testing.assert_allclose(added, np.diag([0.0, SEEN]), atol=1e-13)
    np.testing.assert_array_equal(geared.coriolis_matrix(Q, QD), plain.coriolis_matrix(Q, QD))


def test_it_takes_effort_to_accelerate_and_nothing_else(plain, geared):
    added = geared.inverse_dynamics(Q, QD, QDD) - plain.inverse_dynamics(Q, QD, QDD)
    np.testing.assert_allclose(added, [0.0, 4.0 * SEEN], atol=1e-12)
    np.testing.assert_array_equal(geared.bias(Q, QD), plain.bias(Q, QD))
    np.testing.assert_allclose(
        geared.effort_terms(Q, QD, QDD).inertia - plain.effort_terms(Q, QD, QDD).inertia,
        [0.0, 4.0 * SEEN], atol=1e-12)


def test_a_mimicking_joint_s_rotor_is_felt_at_its_leader():
    """The thumb goes at −1 times the grip's rate: its rotor counts once."""
    geared, plain = (
        Robot.from_description(description)
        for description in (with_rotor(ARM_WITH_GRIPPER, 'thumb_joint'),
                            parse_urdf(ARM_WITH_GRIPPER)))
    assert rotor_effort(geared.tree, [0.0, 0.0, 2.0]) == pytest.approx([0.0, 0.0, 2.0 * SEEN])
    q = np.array([0.1, 0.2, 0.03])
    np.testing.assert_allclose(
        geared.mass_matrix(q) - plain.mass_matrix(q), np.diag([0.0, 0.0, SEEN]), atol=1e-12)


def test_a_rotor_alone_makes_a_massless_link_move():
    bare = ARM.replace('<link name="tool"/>', '<link name="tool"/><link name="pointer"/>').replace(
        '</robot>', '<joint name="turn" type="continuous"><parent link="tool"/>'
        '<child link="pointer"/></joint></robot>')
    description = with_rotor(bare, 'turn')
    robot = Robot.from_description(description, massless_links=['pointer'])
    still, effort = np.zeros(3), np.array([0.0, 0.0, 5.0])
    weight = robot.gravity(still)
    assert robot.forward_dynamics(still, still, weight + effort) == pytest.approx(
        [0.0, 0.0, 5.0 / SEEN])
