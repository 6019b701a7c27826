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
"""That the efforts of two publishers of ~/commands do not alternate without a word."""

from array import array
from math import nan
import subprocess
import sys
from types import SimpleNamespace

from made_parts import made_by
import numpy as np
from patience import until
import pytest
from ros2_rnea.node import inverse_dynamics_node
from ros2_rnea.node.controllers import other_publishers
from ros2_rnea.node.topics.command_record import Endpoint
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.topics.publishers import UNKNOWN_NODE
from simulated_ros2_control import GRAVITY, publish_state, SimulatedRos2Control, TOPIC
from small_robots import ARM
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

OTHER = [11.0, -7.0]


@pytest.fixture
def controller():
    """Return a controller in a participant of its own, which keeps all commands."""
    controller = SimulatedRos2Control(has_manager=False)
    yield controller
    controller.end()


@pytest.fixture
def seen(monkeypatch):
    """Return what watches the other publishers, in the order of their making."""
    return made_by(monkeypatch, inverse_dynamics_node, 'OtherPublishers')


@pytest.fixture
def start(start_arm, controller):
    """Return a function that starts the node, beside another publisher that is listed."""
    def start(is_listed=True, **parameters):
        arm = start_arm(is_described=False, **parameters)
        if is_listed:
            list_other(arm)
        arm.describe(ARM)
        return arm

    return start


def list_other(arm):
    """Let another publisher be discovered."""
    arm.other = arm.peer.create_publisher(Float64MultiArray, TOPIC, 1)
    arm.until(lambda: arm.node.count_publishers(TOPIC) == 2)
    arm.until(lambda: arm.subscription(TOPIC))
    arm.until(lambda: arm.other.get_subscription_count() == 2)


def publish_both(arm, effort=OTHER):
    """Let the other one publish, and the node answer a joint state."""
    arm.other.publish(Float64MultiArray(data=array('d', effort)))
    publish_state(arm)


def said(arm, words):
    return words in arm.told(other_publishers.SUBJECT)


def own_commands(controller):
    return [command for command in controller.commands if command != OTHER]


@pytest.fixture
def sent(monkeypatch):
    """Return the commands that the node sends, of which a busy machine may lose the first."""
    commands, send = [], EffortPublishers.send

    def noted(publishers, effort, stamp, command, latest):
        was_in_time = send(publishers, effort, stamp, command, latest)
        if was_in_time and command is not None:
            commands.append(command.tolist())
        return was_in_time

    monkeypatch.setattr(EffortPublishers, 'send', noted)
    return commands


def test_it_does_not_begin_while_commands_of_another_publisher_arrive(start, controller, sent):
    arm = start(blend_time=60.0)
    arm.until(lambda: publish_both(arm) or said(arm, 'this node sends none before'))
    assert '/robot/peer' in arm.told(other_publishers.SUBJECT)
    efforts = len(arm.efforts)
    arm.until(lambda: publish_both(arm) or len(arm.efforts) > efforts + 20)
    controller.flush(arm)
    assert own_commands(controller) == []
    # When they have stopped, it begins from what the other one has commanded last.
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    assert sent[0] == pytest.approx(OTHER, abs=0.1)
    arm.until(lambda: not arm.told(other_publishers.SUBJECT))


def test_the_log_names_another_publisher_as_the_reason_for_silence(start, controller, capfd):
    arm = start()
    efforts = len(arm.efforts)
    arm.until(lambda: publish_both(arm) or len(arm.efforts) > efforts)
    assert f'the effort starts from zero: another node publishes {TOPIC}' in capfd.readouterr().err


def test_a_publisher_that_is_only_listed_does_not_count(start, controller):
    arm = start()
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    assert not arm.told(other_publishers.SUBJECT)


def test_who_sends_already_goes_on_and_that_is_said(start, controller):
    arm = start(is_listed=False)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    list_other(arm)
    arm.until(lambda: publish_both(arm) or said(arm, 'its efforts alternate'))
    count = len(own_commands(controller))
    arm.until(lambda: publish_both(arm) or len(own_commands(controller)) > count + 20)
    assert all(command == pytest.approx(GRAVITY) for command in own_commands(controller)[count:])
    arm.until(lambda: publish_state(arm) or not arm.told(other_publishers.SUBJECT))


@pytest.mark.parametrize('lost, others', [
    (['peer'], 'a node whose name is not known'),
    (['inverse_dynamics'], '/robot/peer'),
    (['inverse_dynamics', 'peer'], 'a node whose name is not known')])
def test_a_node_whose_name_is_not_known_is_not_named(start, seen, monkeypatch, lost, others):
    """The middleware may have lost the name, as after a network cut; also that of this node."""
    arm = start()
    listed = arm.node.get_publishers_info_by_topic

    def without_names(topic):
        return [SimpleNamespace(
            endpoint_gid=info.endpoint_gid,
            node_name=UNKNOWN_NODE if info.node_name in lost else info.node_name,
            node_namespace='/' if info.node_name in lost else info.node_namespace)
            for info in listed(topic)]

    monkeypatch.setattr(arm.node, 'get_publishers_info_by_topic', without_names)
    seen[-1].look()
    arm.until(lambda: publish_both(arm) or said(arm, f'commands of {others} arrive on'))
    assert UNKNOWN_NODE not in arm.told(other_publishers.SUBJECT)
    assert all(UNKNOWN_NODE not in name for name in seen[-1].nodes)


def test_another_one_that_sends_the_same_efforts_is_seen_too(start, controller):
    arm = start(is_listed=False)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    list_other(arm)

    def is_seen():
        publish_both(arm, controller.commands[-1])
        arm.settle(0.0)  # so that no message is lost
        return said(arm, 'alternate')

    arm.until(is_seen)


def test_a_node_that_is_enabled_again_waits_for_others_too(start, controller, sent):
    arm = start(is_listed=False)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    assert arm.set_parameter('enabled', False).successful
    arm.until(lambda: publish_state(arm) or not arm.node.policy.is_sending)
    list_other(arm)
    arm.until(lambda: publish_both(arm) or said(arm, 'this node sends none before'))
    controller.flush(arm)
    count = len(own_commands(controller))
    sent.clear()
    assert arm.set_parameter('enabled', True).successful
    efforts = len(arm.efforts)
    arm.until(lambda: publish_both(arm) or len(arm.efforts) > efforts + 20)
    assert len(own_commands(controller)) == count
    assert arm.set_parameter('blend_time', 60.0).successful
    arm.until(lambda: publish_state(arm) or len(own_commands(controller)) > count)
    assert sent[0] == pytest.approx(OTHER, abs=0.1)


def test_commands_of_others_are_held_to_the_effort_limits(start, controller):
    arm = start()
    absurd = [1e30, 0.0]
    arm.until(lambda: publish_both(arm, absurd) or said(arm, 'this node sends none before'))

    def own():
        return [command for command in controller.commands if command != absurd]

    arm.until(lambda: publish_state(arm) or len(own()) > 20)
    assert np.all(np.abs(own()) <= arm.node.policy.robot.effort_limits)


@pytest.mark.parametrize('useless', [[1.0, 2.0, 3.0], [nan, 0.0]])
def test_a_command_that_is_ignored_does_not_count_as_held(start, controller, useless):
    arm = start(is_listed=False)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    assert arm.set_parameter('enabled', False).successful
    arm.until(lambda: publish_state(arm) or not arm.node.policy.is_sending)
    list_other(arm)
    arm.until(lambda: publish_both(arm, useless) or said(arm, 'this node sends none before'))
    controller.flush(arm)
    count = len(controller.commands)
    assert arm.set_parameter('enabled', True).successful
    arm.until(lambda: publish_state(arm) or len(controller.commands) > count)
    assert controller.commands[count] == pytest.approx(GRAVITY)


def test_a_driver_that_publishes_on_the_topic_too_still_receives(start_arm):
    topic = '/robot/torques'
    driver = SimulatedRos2Control(
        topic=topic, name='motor_driver', has_manager=False, parameters={'baud': 1})
    try:
        arm = start_arm(commands=topic)
        arm.until(lambda: publish_state(arm) or driver.commands)
        driver.advertise()
        arm.until(lambda: arm.node.count_publishers(topic) == 2)
        arm.until(lambda: arm.subscription(topic))
        count = len(driver.commands)
        arm.until(lambda: publish_state(arm) or len(driver.commands) > count + 20)
    finally:
        driver.end()


def test_who_sends_goes_on_while_another_subscriber_is_discovered(
        start, seen, controller, monkeypatch):
    receivers = made_by(monkeypatch, inverse_dynamics_node, 'Receivers')
    arm = start(is_listed=False)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    _, _, _, is_commanding, _ = seen[-1].made_with
    assert is_commanding()
    receivers[-1].present |= {Endpoint('', 'of a process whose name is not known yet')}
    assert is_commanding()


def test_a_command_too_large_to_be_read_counts_too(start, controller):
    arm = start()
    large = [1.0] * 10_000
    arm.until(lambda: publish_both(arm, large) or said(arm, 'this node sends none before'))
    arm.until(lambda: publish_state(arm) or len(own_commands(controller)) > 20)
    assert own_commands(controller)[-1] == pytest.approx(GRAVITY)


PREDECESSOR = f"""
from array import array
from time import sleep
import rclpy
from std_msgs.msg import Float64MultiArray

rclpy.init()
node = rclpy.create_node('inverse_dynamics', namespace='/robot')
publisher = node.create_publisher(Float64MultiArray, {TOPIC!r}, 1)
while True:
    publisher.publish(Float64MultiArray(data=array('d', {OTHER})))
    sleep(0.001)
"""


def test_a_killed_publisher_does_not_keep_the_node_from_sending(start_arm, seen, controller):
    arm = start_arm(is_described=False)
    predecessor = subprocess.Popen([sys.executable, '-c', PREDECESSOR])
    try:
        until(lambda: OTHER in controller.commands)
        arm.until(lambda: seen[-1].are_heard)
    finally:
        predecessor.kill()
        predecessor.wait()
    arm.until(lambda: not seen[-1].are_heard)
    if arm.node.count_publishers(TOPIC) < 2:
        pytest.skip('this machine is so busy that DDS has forgotten the killed process already')
    arm.describe(ARM)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    arm.until(lambda: not arm.told(other_publishers.SUBJECT))  # once it has looked again
