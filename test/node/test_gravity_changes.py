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
"""Gravity that changes while the robot works: how fast, and what another root link means."""

from geometry_msgs.msg import Vector3, Vector3Stamped
from idle_worker import answers_held
import numpy as np
import pytest
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from sensor_msgs.msg import Imu
from small_robots import ARM
from std_msgs.msg import Header

interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
ROBOT = Robot.from_urdf(ARM)
ACROSS = [9.81, 0.0, 0.0]


@pytest.fixture
def arm(bench):
    """Return an arm that sends its efforts."""
    arm = bench(joints=JOINTS, state_timeout=10.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    return arm


def turn(arm, vector, **more):
    x, y, z = vector
    gravity = Vector3Stamped(vector=Vector3(x=x, y=y, z=z))
    return arm.call(interfaces.SetGravity, 'set_gravity', gravity=gravity, **more)


def test_the_request_says_how_long_the_transition_takes(arm):
    before = arm.answer(JOINTS, Q)
    assert turn(arm, ACROSS, transition_time=60.0).success
    np.testing.assert_allclose(arm.answer(JOINTS, Q), before, atol=1e-2)


def test_without_a_requested_time_that_of_the_parameter_counts(arm):
    assert turn(arm, ACROSS).success
    np.testing.assert_allclose(
        arm.answer(JOINTS, Q), ROBOT.gravity(Q, gravity=ACROSS), rtol=1e-9)


def test_gravity_that_cannot_be_held_is_not_called_in_use(arm):
    """While another robot is built, a parameter may be meant for that one, and is stored."""
    before = arm.answer(JOINTS, Q)
    other = Parameter('robot_description', value=ARM.replace('effort="100.0"', 'effort="1e4"'))
    with answers_held():
        assert arm.node.set_parameters([other])[0].successful
        reply = turn(arm, [0.0, 0.0, -900.0])
    assert not reply.success
    assert 'is stored for the robot that is being built' in reply.message
    assert 'shoulder needs' in reply.message
    assert arm.answer(JOINTS, Q) == pytest.approx(before)


def test_each_request_has_a_time_of_its_own(arm):
    assert turn(arm, [0.0, 0.0, -9.81], transition_time=60.0).success  # changes nothing
    assert arm.set_parameter('blend_time', 0.0).successful
    assert not turn(arm, [np.nan, 0.0, 0.0], transition_time=60.0).success
    assert arm.set_parameter('gravity', [*ACROSS]).successful  # at once
    np.testing.assert_allclose(
        arm.answer(JOINTS, Q), ROBOT.gravity(Q, gravity=ACROSS), rtol=1e-9)


def test_an_arm_on_a_wall_gets_what_its_compensation_lacks(arm):
    assert arm.set_parameter('arm', 'ur').successful
    assert arm.answer(JOINTS, Q) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert turn(arm, ACROSS).success
    assert arm.answer(JOINTS, Q) == pytest.approx([0.0, 0.0], abs=1e-12)  # the arm knows
    made_by = arm.node.policy.robot
    assert arm.set_parameter('arm_gravity', [0.0, 0.0, -9.81]).successful
    np.testing.assert_allclose(
        arm.answer(JOINTS, Q), ROBOT.gravity(Q, gravity=ACROSS) - ROBOT.gravity(Q), rtol=1e-9)
    assert arm.node.policy.robot is made_by  # nothing was built for it


def test_gravity_is_not_turned_while_arm_gravity_is_missing(arm):
    assert arm.set_parameter('arm', 'franka').successful
    reply = turn(arm, ACROSS)
    assert not reply.success
    assert 'it needs arm_gravity' in reply.message
    refused = arm.set_parameter('gravity_from_imu', True)
    assert not refused.successful
    assert 'gravity is taken from the imu' in refused.reason
    assert arm.set_parameter('arm_gravity', [0.0, 0.0, -9.81]).successful
    assert turn(arm, ACROSS).success
    np.testing.assert_allclose(
        arm.answer(JOINTS, Q), ROBOT.gravity(Q, gravity=ACROSS) - ROBOT.gravity(Q), rtol=1e-9)


def test_the_gravity_of_the_arm_comes_in_by_and_by(arm):
    assert arm.set_parameter('arm', 'ur').successful
    arm.answer(JOINTS, Q)
    assert arm.set_parameter('blend_time', 60.0).successful
    assert arm.set_parameter('arm_gravity', [0.0, 0.0, 9.81]).successful
    np.testing.assert_allclose(arm.answer(JOINTS, Q), [0.0, 0.0], atol=0.1)


def test_an_arm_that_adds_no_gravity_accepts_no_arm_gravity(arm):
    refused = arm.set_parameter('arm_gravity', [0.0, 0.0, -9.81])
    assert not refused.successful
    assert 'the whole gravity is sent' in refused.reason


def test_gravity_measured_for_one_root_link_does_not_count_elsewhere(arm):
    assert arm.set_parameter('gravity_time_constant', 0.0).successful
    assert arm.set_parameter('gravity_tolerance', 3.15).successful
    assert arm.set_parameter('gravity_from_imu', True).successful
    publisher = arm.peer.create_publisher(Imu, 'imu', 10)
    arm.connect(publisher)
    up = Imu(header=Header(frame_id='base'), linear_acceleration=Vector3(x=-9.81))

    def answers(gravity):
        return np.allclose(arm.answer(JOINTS, Q), ROBOT.gravity(Q, gravity=gravity), rtol=1e-9)

    def is_in_use():
        publisher.publish(up)
        return answers(ACROSS)

    arm.until(is_in_use)
    arm.describe(ARM.replace('name="arm"', 'name="same_root"'))
    assert answers(ACROSS)
    arm.describe(ARM.replace('"base"', '"stand"'))
    assert answers([0.0, 0.0, -9.81])
