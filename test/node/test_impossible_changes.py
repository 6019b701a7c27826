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
"""Changes with which no effort could be computed: they are refused, also while nothing is sent."""

from geometry_msgs.msg import Inertia, Vector3, Vector3Stamped
import numpy as np
import pytest
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from small_robots import ARM
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
GRAVITY = Robot.from_urdf(ARM).gravity(Q)


def holds(arm) -> bool:
    return np.allclose(arm.answer(JOINTS, Q), GRAVITY)


def disable(arm):
    assert arm.call(SetBool, 'enable', data=False).success
    arm.until(lambda: not arm.sends(JOINTS, Q))


def wait_for_friction_notice(arm):
    arm.until(lambda: arm.sends(JOINTS, Q) and 'times its effort limit' in arm.told('model'))


@pytest.fixture(params=[True, False], ids=['sending', 'disabled before the first state'])
def arm(bench, request, short_fade):
    """Return an arm that is driven, or one that has received no state yet."""
    arm = bench(joints=JOINTS, state_timeout=10.0, payload_links=['tool'])
    arm.describe(ARM)
    if request.param:
        arm.until(lambda: holds(arm))
    return arm


def test_gravity(arm):
    result = arm.set_parameter('gravity', [0.0, 0.0, -1e308])
    assert not result.successful
    assert 'is no finite number: gravity, a mass or a spring is far too large' in result.reason
    assert holds(arm)


def test_gravity_by_the_service(arm):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    response = arm.call(interfaces.SetGravity, 'set_gravity', gravity=Vector3Stamped(
        vector=Vector3(z=-1e308)))
    assert not response.success
    assert "joint 'shoulder'" in response.message
    assert holds(arm)


def test_a_payload(arm):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    response = arm.call(
        interfaces.SetPayload, 'set_payload', name='star', link='tool',
        inertia=Inertia(m=1e308))
    assert not response.success
    assert 'far too large' in response.message or 'finite' in response.message
    assert holds(arm)


def test_a_mass_in_a_description(arm):
    arm.describe(ARM.replace('mass value="1.0"', 'mass value="1e308"', 1))
    assert 'finite' in arm.told('robot_description')
    assert holds(arm)


@pytest.mark.parametrize('name, reason', [
    ('damping', 'a finite number from 0 on, up to 1e+06'),
    ('friction', 'a finite number from 0 on, up to 1e+06'),
    ('damping_positive', 'a finite number from 0 on, up to 1e+06'),
    ('friction_negative', 'a finite number from 0 on, up to 1e+06'),
    ('breakaway_friction', 'a finite number from 0 on, up to 1e+06'),
    ('friction_offset', 'a number from -1e+06 to 1e+06')])
def test_friction_that_no_joint_has(arm, name, reason):
    arm.until(lambda: holds(arm))
    for size in (1e308, 1.1e6, *([-1e308] if name == 'friction_offset' else [])):
        result = arm.set_parameter(f'{name}.elbow', size)
        assert not result.successful
        assert reason in result.reason
    assert holds(arm)


@pytest.mark.parametrize('name, possible, impossible', [
    ('damping', 1.0, 1e4), ('friction', 39.0, 41.0), ('breakaway_friction', 1.0, 1e5),
    ('damping_negative', 1.0, 1e4)])
def test_friction_beyond_the_effort_limit_while_the_arm_is_driven(
        arm, name, possible, impossible):
    """It acts with the motion, so that the joint would run away at its limit."""
    arm.until(lambda: holds(arm))
    assert arm.set_parameter(f'{name}.elbow', possible).successful
    wait_for_settled(arm)
    result = arm.set_parameter(f'{name}.elbow', impossible)
    assert not result.successful
    assert 'times its effort limit' in result.reason and "'elbow'" in result.reason
    assert arm.node.get_parameter(f'{name}.elbow').value == possible
    disable(arm)
    assert arm.set_parameter(f'{name}.elbow', impossible).successful


def test_friction_that_is_too_large_already_may_become_smaller(arm):
    disable(arm)
    assert arm.set_parameter('friction.elbow', 80.0).successful
    assert arm.call(SetBool, 'enable', data=True).success
    arm.until(lambda: arm.sends(JOINTS, Q))
    assert not arm.set_parameter('friction.elbow', 81.0).successful
    assert arm.set_parameter('friction.elbow', 60.0).successful
    assert arm.set_parameter('friction.shoulder', 1.0).successful


def test_terms_with_too_much_friction_are_refused(arm):
    arm.until(lambda: holds(arm))
    assert arm.set_parameter('terms', 'no_gravity_no_friction').successful
    assert arm.set_parameter('friction.elbow', 80.0).successful
    result = arm.set_parameter('terms', 'no_gravity')
    assert not result.successful
    assert '2 times its effort limit' in result.reason


def test_friction_is_judged_with_terms_of_the_same_request(arm):
    arm.until(lambda: holds(arm))
    assert arm.set_parameter('terms', 'no_gravity_no_friction').successful
    result = arm.node.set_parameters_atomically([
        Parameter('terms', value='full'), Parameter('damping.elbow', value=1e5)])
    assert not result.successful
    assert 'times its effort limit' in result.reason
    assert arm.set_parameter('lookahead', 0.01).successful
    assert arm.node.set_parameters_atomically([
        Parameter('terms', value='full'), Parameter('damping.elbow', value=1.0)]).successful
    arm.until(arm.is_settled)
    assert not arm.told('parameters')
    assert arm.node.policy.robot.tree.bodies[-1].damping == 1.0


@pytest.mark.parametrize('change', [
    ('damping_positive.elbow', 1e4), ('friction_from', 'description')])
def test_a_model_with_too_much_friction_waits_for_a_stop(bench, change):
    arm = bench(joints=JOINTS, state_timeout=1.0, friction_from='none')
    arm.describe(ARM.replace('damping="0.5"', 'damping="1e4"'))
    arm.until(lambda: holds(arm))
    assert arm.set_parameter(*change).successful  # needs another model
    wait_for_friction_notice(arm)
    robot = arm.node.policy.robot
    assert holds(arm)
    disable(arm)
    arm.until(lambda: arm.node.policy.robot is not robot)
    arm.until(lambda: not arm.told('model'))
    assert max(abs(arm.node.policy.robot.friction([1.0, 1.0]))) > 1e3


def test_a_model_is_used_once_its_friction_is_corrected(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.until(lambda: holds(arm))
    assert arm.set_parameter('damping_positive.elbow', 1e4).successful
    wait_for_friction_notice(arm)
    robot = arm.node.policy.robot
    assert arm.set_parameter('damping_positive.elbow', 0.25).successful
    arm.until(lambda: arm.node.policy.robot is not robot and not arm.told('model'))
    assert arm.node.policy.robot.friction([0.0, 1.0])[1] == pytest.approx(0.25, rel=1e-3)
    assert arm.sends(JOINTS, Q)


def wait_for_settled(arm):
    """Wait until a model is in use that takes the parameters that were set."""
    arm.until(lambda: arm.sends(JOINTS, Q) and arm.is_settled())


def test_a_stop_with_impossible_gravity_succeeds_and_the_start_fails(arm):
    arm.until(lambda: holds(arm))
    assert arm.node.set_parameters_atomically([
        Parameter('enabled', value=False), Parameter('gravity', value=[0.0, 0.0, -1e308]),
    ]).successful
    arm.until(lambda: not arm.sends(JOINTS, Q))
    assert not arm.call(SetBool, 'enable', data=True).success
