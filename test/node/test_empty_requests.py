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
"""A request or message without values, as a mistyped command sends it, changes no effort."""

from importlib import import_module

from geometry_msgs.msg import Inertia, Vector3, Vector3Stamped
from node_bench import LATCHED
import numpy as np
import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from sensor_msgs.msg import Imu, Joy
from small_robots import ARM
from std_msgs.msg import Header
from std_srvs.srv import SetBool

interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
TOOL = Inertial(1.0)
GRAVITY = Robot.from_urdf(ARM).with_payload('tool', 'tool', TOOL).gravity(Q)
ALL_INPUTS = {
    'joints': JOINTS, 'state_timeout': 10.0, 'position_loop': 'present', 'dead_man_button': 0,
    'dead_man_timeout': 10.0, 'payload_links': ['tool']}
"""Parameters with which the node subscribes to all topics but the imu."""


def active(**arguments) -> ManagedInverseDynamicsNode:
    node = ManagedInverseDynamicsNode(**arguments)
    node.trigger_configure()
    node.trigger_activate()
    return node


def holds(arm) -> bool:
    return np.allclose(arm.answer(JOINTS, Q), GRAVITY, atol=1e-9)


@pytest.fixture
def start(bench):
    """Return a function that starts an arm which carries a tool, and holds it."""
    def start(**parameters):
        arm = bench(**{**ALL_INPUTS, **parameters})
        arm.describe(ARM)
        arm.until(lambda: arm.subscription('joy'))
        joy = arm.peer.create_publisher(Joy, 'joy', 10)
        arm.connect(joy)
        arm.in_each_turn.append(lambda: joy.publish(Joy(buttons=[1])))
        arm.until(lambda: arm.accepted('joy'))
        assert arm.call(interfaces.SetPayload, 'set_payload', name='tool', link='tool',
                        inertia=Inertia(m=TOOL.mass)).success
        arm.until(lambda: holds(arm))
        return arm

    return start


def services(arm) -> dict:
    """Return the types of the services that the node and its helpers have, by name."""
    first = f'{arm.node.get_fully_qualified_name()}/'
    return {name.removeprefix(first): definition(kind) for name, (kind, *_) in
            arm.peer.get_service_names_and_types() if name.startswith(first)}


def definition(kind: str) -> type:
    package, folder, name = kind.split('/')
    return getattr(import_module(f'{package}.{folder}'), name)


@pytest.mark.parametrize('create', [{}, {'create': active}], ids=['plain', 'managed'])
def test_no_empty_request_changes_the_effort(start, create, short_fade):
    arm = start(**create)
    found = services(arm)
    assert {'enable', 'set_gravity', 'set_payload', 'zero_wrench', 'set_parameters',
            'compute_gravity'} <= {*found}
    assert bool(create) is ('change_state' in found)
    assert found.pop('enable') is SetBool  # whose data is false by default: a stop
    for name, kind in sorted(found.items()):
        arm.call(kind, name)
        assert holds(arm), name
    arm.call(SetBool, 'enable')
    arm.until(lambda: not arm.sends(JOINTS, Q))
    assert arm.commands[-1] == pytest.approx(GRAVITY)


def test_no_empty_message_changes_the_effort(start):
    arm = start()
    topics = {each.topic_name: each.msg_type for each in arm.node.subscriptions}
    assert len(topics) > 5
    for topic, kind in sorted(topics.items()):
        publisher = arm.peer.create_publisher(kind, topic, LATCHED)
        arm.connect(publisher)
        publisher.publish(kind())
        arm.settle()
        assert holds(arm), topic
        arm.peer.destroy_publisher(publisher)


def test_an_empty_reading_of_the_imu_is_no_weightlessness(start):
    arm = start()
    assert arm.set_parameter('gravity_from_imu', True).successful
    imu = arm.peer.create_publisher(Imu, 'imu', 10)
    arm.connect(imu)
    imu.publish(Imu(header=Header(frame_id='base'), linear_acceleration=Vector3(z=9.81)))
    arm.until(lambda: arm.accepted('imu'))
    for reading in (Imu(), Imu(header=Header(frame_id='base'))):
        imu.publish(reading)
        arm.settle()
        assert holds(arm)
    assert arm.refused('imu') == 2


@pytest.mark.parametrize('frame', ['', 'base', 'tool'])
def test_a_gravity_without_values_is_refused(start, frame):
    arm = start()
    reply = arm.call(interfaces.SetGravity, 'set_gravity', gravity=Vector3Stamped(
        header=Header(frame_id=frame)))
    assert not reply.success
    assert reply.message == ('the gravity is zero, as in a request without values; in '
                             'weightlessness, set the parameter gravity to [0.0, 0.0, 0.0]')
    assert holds(arm)
    assert arm.set_parameter('gravity', [0.0, 0.0, 0.0]).successful
    assert arm.answer(JOINTS, Q) == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_payload_without_a_mass_replaces_none(start):
    arm = start()
    reply = arm.call(interfaces.SetPayload, 'set_payload', name='tool', link='tool')
    assert not reply.success
    assert reply.message == ('the mass and the inertia are zero, as in a request without values; '
                             'to remove a payload, set remove to true')
    assert holds(arm)


def test_parameters_without_values_keep_those_that_they_have(start):
    arm = start()
    names = sorted(arm.node.list_parameters([], 0).names)
    assert {'gravity', 'effort_limits.shoulder', 'enabled', 'joints', 'mode'} <= {*names}
    before = arm.node.get_parameters(names)
    empty = [ParameterMessage(name=name) for name in names]
    arm.call(SetParameters, 'set_parameters', parameters=empty)
    for each in empty[:5]:
        arm.call(SetParametersAtomically, 'set_parameters_atomically', parameters=[each])
    assert holds(arm)
    assert [each.value for each in arm.node.get_parameters(names)] == [
        each.value for each in before]
