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


def test_a_stop_together_with_it_is_accepted_and_the_start_is_refused(arm):
    arm.until(lambda: holds(arm))
    assert arm.node.set_parameters_atomically([
        Parameter('enabled', value=False), Parameter('gravity', value=[0.0, 0.0, -1e308]),
    ]).successful
    arm.until(lambda: not arm.sends(JOINTS, Q))
    assert not arm.call(SetBool, 'enable', data=True).success
