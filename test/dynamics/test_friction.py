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
"""What the joints' own friction takes."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.friction import joint_friction, SLOW
from ros2_rnea.model.description import JointType, Mimic
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER

VISCOUS, COULOMB = 0.5, 3.0


def described(text, **changes):
    """Return a description with other joints: by name, what is to change."""
    description = parse_urdf(text)
    return replace(description, joints=tuple(
        replace(joint, **changes.get(joint.name, {})) for joint in description.joints))


def arm(**shoulder):
    elbow = {'damping': 0.0, 'friction': 0.0}
    return build_tree(described(ARM, shoulder=shoulder, elbow=elbow))


def test_viscous_friction_is_in_proportion_to_the_velocity():
    tree = arm(damping=VISCOUS)
    assert joint_friction(tree, [4.0, 1.0]) == [2.0, 0.0]
    assert joint_friction(tree, [-4.0, 1.0]) == [-2.0, 0.0]


@pytest.mark.parametrize('rate', [1.0, -1.0, 30.0])
def test_coulomb_friction_goes_against_the_motion_with_all_of_it(rate):
    effort, _ = joint_friction(arm(damping=0.0, friction=COULOMB), [rate, 0.0])
    assert effort == pytest.approx(np.sign(rate) * COULOMB, rel=1e-4)


def test_at_rest_there_is_none():
    assert joint_friction(arm(damping=VISCOUS, friction=COULOMB), [0.0, 0.0]) == [0.0, 0.0]


def test_at_the_slow_speed_there_is_seven_tenths_of_it():
    effort, _ = joint_friction(arm(damping=0.0, friction=COULOMB), [SLOW, 0.0])
    assert effort == pytest.approx(COULOMB / sqrt(2.0))


def test_the_sign_is_smooth_odd_and_grows():
    """No step between two velocities gives more than the steepest slope, which is at rest."""
    tree = arm(damping=0.0, friction=COULOMB)
    rates = np.linspace(-5.0 * SLOW, 5.0 * SLOW, 1001)
    efforts = np.array([joint_friction(tree, [rate, 0.0])[0] for rate in rates])
    np.testing.assert_allclose(efforts, -efforts[::-1], atol=1e-15)
    steps = np.diff(efforts)
    assert np.all(steps > 0.0)
    assert np.max(steps) <= COULOMB / SLOW * (rates[1] - rates[0]) * (1.0 + 1e-9)


def test_the_noise_of_a_joint_at_rest_brings_little_of_it():
    effort, _ = joint_friction(arm(damping=0.0, friction=COULOMB), [0.001, 0.0])
    assert 0.0 < effort < 0.15 * COULOMB


def test_a_mimicking_joint_s_friction_counts_at_its_leader():
    tree = build_tree(described(
        ARM_WITH_GRIPPER, grip={'damping': 1.0}, thumb_joint={
            'damping': 2.0, 'friction': COULOMB, 'mimic': Mimic('grip', -3.0, 0.1)}))
    effort = joint_friction(tree, [0.0, 0.0, 0.5])[2]
    assert effort == pytest.approx(0.5 + 3.0 * (2.0 * 1.5 + COULOMB), rel=1e-4)


def test_every_velocity_of_a_joint_has_the_same_friction():
    tree = build_tree(described(
        ARM, shoulder={'type': JointType.CYLINDRICAL, 'damping': VISCOUS, 'friction': 0.0}))
    assert joint_friction(tree, [1.0, 2.0, 0.0]) == pytest.approx([0.5, 1.0, 0.0])


def test_the_robot_adds_it_to_what_motion_takes_and_takes_it_from_what_moves():
    rough = Robot.from_description(described(ARM, elbow={'damping': VISCOUS, 'friction': COULOMB}))
    plain = Robot.from_description(described(ARM, shoulder={'damping': 0.0}))
    q, qd, qdd = np.array([[0.3, -0.8], [1.0, -2.0], [3.0, 4.0]])
    friction = rough.friction(qd)
    assert friction == pytest.approx([0.5, -1.0 - COULOMB], rel=1e-4)
    without = plain.inverse_dynamics(q, qd, qdd)
    assert rough.inverse_dynamics(q, qd, qdd) == pytest.approx(without + friction)
    assert rough.bias(q, qd) == pytest.approx(plain.bias(q, qd) + friction)
    assert rough.effort_terms(q, qd, qdd).friction == pytest.approx(friction)
    assert rough.gravity(q) == pytest.approx(plain.gravity(q))
    assert rough.forward_dynamics(q, qd, without + friction) == pytest.approx(qdd)


def test_the_robot_takes_velocities_in_rows():
    robot = Robot.from_description(described(ARM, elbow={'friction': COULOMB}))
    rates = np.array([[1.0, 0.0], [0.0, -1.0], [0.5, 0.001]])
    assert robot.friction(rates) == pytest.approx(np.array([robot.friction(r) for r in rates]))
