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
"""The services, through real requests."""

from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.terms import TERM_NAMES
from small_robots import ARM, ARM_WITH_GRIPPER

pytestmark = pytest.mark.ros

interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
JOINTS = ['elbow', 'shoulder']


@pytest.fixture
def arm(bench):
    """Return an arm that has a robot and no joint states."""
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    return arm


def test_gravity_at_named_positions(arm):
    reply = arm.call(
        interfaces.ComputeGravity, 'compute_gravity',
        names=['shoulder', 'elbow'], positions=[0.3, -0.8])
    assert reply.success and reply.message == ''
    assert list(reply.effort.name) == JOINTS
    assert list(reply.effort.position) == [-0.8, 0.3]
    expected = Robot.from_urdf(ARM).gravity([0.3, -0.8])[::-1]
    np.testing.assert_allclose(reply.effort.effort, expected, rtol=1e-12)


def test_gravity_at_the_measured_state_and_in_another_direction(arm):
    arm.answer(['shoulder', 'elbow'], [0.3, -0.8])
    reply = arm.call(
        interfaces.ComputeGravity, 'compute_gravity', gravity=[9.81, 0.0, 0.0])
    expected = Robot.from_urdf(ARM).gravity([0.3, -0.8], gravity=[9.81, 0.0, 0.0])[::-1]
    np.testing.assert_allclose(reply.effort.effort, expected, rtol=1e-12)


def test_joints_that_are_not_named_keep_their_measured_position(arm):
    arm.answer(['shoulder', 'elbow'], [0.3, -0.8])
    reply = arm.call(
        interfaces.ComputeGravity, 'compute_gravity', names=['elbow'], positions=[0.5])
    assert list(reply.effort.position) == [0.5, 0.3]


@pytest.mark.parametrize('fields, said', [
    ({}, 'no fresh one'),
    ({'names': ['shoulder'], 'positions': [0.0]}, "joint 'elbow' is not given"),
    ({'names': ['shoulder', 'elbw'], 'positions': [0.0, 0.0]}, "did you mean 'elbow'"),
    ({'names': ['shoulder', 'elbow'], 'positions': [0.0]}, '1 positions are given for 2 names'),
    ({'names': ['shoulder', 'elbow'], 'positions': []}, '0 positions are given for 2 names'),
    ({'names': ['shoulder', 'shoulder'], 'positions': [0.0, 0.0]}, 'twice'),
    ({'names': [], 'positions': [0.0, 0.0]}, 'no names'),
    ({'names': JOINTS, 'positions': [0.0, float('inf')]}, 'must be finite'),
    ({'names': JOINTS, 'positions': [0.0, 0.0], 'gravity': [9.81]}, 'gravity'),
])
def test_a_bad_request_is_answered_with_the_reason(arm, fields, said):
    reply = arm.call(interfaces.ComputeGravity, 'compute_gravity', **fields)
    assert not reply.success
    assert said in reply.message


def test_without_a_robot_the_reply_says_so(bench):
    reply = bench().call(interfaces.ComputeGravity, 'compute_gravity')
    assert not reply.success and 'robot_description' in reply.message


def test_inverse_dynamics_comes_with_its_terms(arm):
    wrench = WrenchStamped()
    wrench.header.frame_id = 'tool'
    wrench.wrench.force.x = 4.0
    q, qd, qdd = [0.3, -0.8], [0.5, 1.5], [2.0, -1.0]
    reply = arm.call(
        interfaces.ComputeInverseDynamics, 'compute_inverse_dynamics',
        names=['shoulder', 'elbow'], positions=q, velocities=qd, accelerations=qdd,
        wrenches=[wrench])
    assert reply.success, reply.message
    robot = Robot.from_urdf(ARM)
    pushed = {'tool': [0.0, 0.0, 0.0, 4.0, 0.0, 0.0]}
    expected = robot.inverse_dynamics(q, qd, qdd, f_ext=pushed)[::-1]
    np.testing.assert_allclose(reply.effort.effort, expected, rtol=1e-12)
    terms = reply.terms
    assert list(terms.name) == JOINTS
    np.testing.assert_allclose(terms.gravity, robot.gravity(q)[::-1], rtol=1e-12)
    np.testing.assert_allclose(terms.friction, [0.0, 0.25], rtol=1e-12)
    parts = [getattr(terms, name) for name in TERM_NAMES]
    np.testing.assert_allclose(np.sum(parts, axis=0), terms.total, rtol=1e-12)
    assert not any(terms.saturated)
    of_a_cycle = (
        terms.sent, terms.measured, terms.residual, terms.rate_limited, terms.restrained)
    assert [len(values) for values in of_a_cycle] == [0] * 5


def test_rotors_of_the_parameters_are_in_inverse_and_forward_dynamics(bench):
    q, rest, qdd = [0.3, -0.8], [0.0, 0.0], [2.0, -1.0]
    armatures = np.array([0.5, 1.5])
    arm = bench(joints=['shoulder', 'elbow'], state_timeout=9.0, robot_description=ARM,
                armature__shoulder=0.5, armature__elbow=1.5)
    robot = Robot.from_urdf(ARM)
    expected = robot.inverse_dynamics(q, rest, qdd) + armatures * qdd
    named = {'names': ['shoulder', 'elbow'], 'positions': q, 'velocities': rest}
    needed = arm.call(interfaces.ComputeInverseDynamics, 'compute_inverse_dynamics',
                      accelerations=qdd, **named)
    np.testing.assert_allclose(needed.effort.effort, expected, rtol=1e-12)
    np.testing.assert_allclose(
        needed.terms.inertia, (robot.mass_matrix(q) + np.diag(armatures)) @ qdd, rtol=1e-12)
    caused = arm.call(interfaces.ComputeForwardDynamics, 'compute_forward_dynamics',
                      efforts=expected.tolist(), **named)
    np.testing.assert_allclose(caused.accelerations, qdd, rtol=1e-10)


def test_for_a_wrench_in_an_unknown_frame_the_reason_returns(arm):
    wrench = WrenchStamped()
    wrench.header.frame_id = 'tol'
    reply = arm.call(
        interfaces.ComputeInverseDynamics, 'compute_inverse_dynamics',
        names=JOINTS, positions=[0.0, 0.0], wrenches=[wrench])
    assert not reply.success and "did you mean 'tool'" in reply.message


@pytest.mark.parametrize('force, velocity', [(float('inf'), 0.0), (0.0, 1e200)])
def test_an_effort_that_is_not_finite_is_no_success(arm, force, velocity):
    wrench = WrenchStamped()
    wrench.header.frame_id = 'tool'
    wrench.wrench.force.x = force
    reply = arm.call(
        interfaces.ComputeInverseDynamics, 'compute_inverse_dynamics',
        names=JOINTS, positions=[0.1, 0.2], velocities=[velocity, 0.0], wrenches=[wrench])
    assert not reply.success and 'far too large' in reply.message


def test_services_work_without_joints_and_name_the_gripper_too(bench):
    arm = bench()
    arm.describe(ARM_WITH_GRIPPER)
    reply = arm.call(
        interfaces.ComputeGravity, 'compute_gravity',
        names=['grip', 'elbow', 'shoulder'], positions=[0.02, -0.8, 0.3])
    assert list(reply.effort.name) == ['shoulder', 'elbow', 'grip']
    expected = Robot.from_urdf(ARM_WITH_GRIPPER).gravity([0.3, -0.8, 0.02])
    np.testing.assert_allclose(reply.effort.effort, expected, rtol=1e-12)
