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
"""The reference of a controller, where its messages are installed."""

from types import SimpleNamespace

import pytest
from ros2_rnea import Robot
from ros2_rnea.errors import MessageError
from ros2_rnea.node import inverse_dynamics_node
from ros2_rnea.node.topics import controller_messages, inputs
from small_robots import ARM

JOINTS = ['shoulder', 'elbow']


def point(positions, velocities=(), accelerations=()):
    return SimpleNamespace(
        positions=positions, velocities=velocities, accelerations=accelerations)


def message(stamp=1, **fields):
    """Return a message as control_msgs has it, in any of its versions."""
    header = SimpleNamespace(stamp=SimpleNamespace(sec=stamp, nanosec=0))
    return SimpleNamespace(header=header, joint_names=JOINTS, **fields)


@pytest.mark.parametrize('field', ['reference', 'desired'])
def test_the_effort_is_that_of_the_reference(bench, field):
    node = bench(joints=JOINTS)
    node.describe(ARM)
    node.answer(JOINTS, [0.1, 0.2])
    wanted = [0.1, 0.2], [0.5, -0.5], [1.0, 2.0]
    inputs.take_controller_state(
        node.node.policy, message(**{field: point(*wanted)}), node.node.clocks.now())
    assert node.answer(JOINTS, [0.1, 0.2]) == pytest.approx(
        Robot.from_urdf(ARM).inverse_dynamics(*wanted))


def test_a_reference_that_cannot_be_followed_is_refused(bench):
    node = bench(joints=JOINTS)
    node.describe(ARM)
    with pytest.raises(MessageError):
        inputs.take_controller_state(
            node.node.policy, message(reference=point([0.1])), node.node.clocks.now())


def test_it_is_said_where_the_messages_are_missing(bench, capfd, monkeypatch):
    rows = tuple(row._replace(message=None) if row.topic == 'controller_state' else row
                 for row in inputs.INPUTS)
    monkeypatch.setattr(inverse_dynamics_node, 'INPUTS', rows)
    bench(joints=JOINTS)
    assert 'controller_state is not subscribed to' in capfd.readouterr().err


def test_a_factor_of_speed_is_unknown_to_older_messages():
    assert controller_messages.speed_scaling_of(message()) == 0.0
    assert controller_messages.speed_scaling_of(message(speed_scaling_factor=0.5)) == 0.5


def test_it_is_heard_over_dds(bench):
    messages = pytest.importorskip('control_msgs.msg')
    node = bench(joints=JOINTS)
    node.describe(ARM)
    node.answer(JOINTS, [0.1, 0.2])
    publisher = node.peer.create_publisher(
        messages.JointTrajectoryControllerState, 'controller_state', 10)
    node.until(publisher.get_subscription_count)
    sent = messages.JointTrajectoryControllerState(joint_names=JOINTS)
    sent.reference.positions = [0.1, 0.2]
    publisher.publish(sent)
    node.until(lambda: node.node.policy.motion.controller.is_fresh(
        node.node.clocks.steady()))
