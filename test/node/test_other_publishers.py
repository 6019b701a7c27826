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
import subprocess
import sys

from patience import until
import pytest
from ros2_rnea.node.controllers import other_publishers
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
    arm.until(lambda: arm.node._other_publishers.is_listening)
    arm.until(lambda: arm.other.get_subscription_count() == 2)


def publish_both(arm, effort=OTHER):
    """Let the other one publish, and the node answer a joint state."""
    arm.other.publish(Float64MultiArray(data=array('d', effort)))
    publish_state(arm)


def said(arm, words):
    return words in arm.told(other_publishers.SUBJECT)


def own_commands(controller):
    return [command for command in controller.commands if command != OTHER]


def test_it_does_not_begin_while_commands_of_another_publisher_arrive(start, controller):
    arm = start(blend_time=60.0)
    arm.until(lambda: publish_both(arm) or said(arm, 'this node sends none before'))
    assert '/robot/peer' in arm.told(other_publishers.SUBJECT)
    efforts = len(arm.efforts)
    arm.until(lambda: publish_both(arm) or len(arm.efforts) > efforts + 20)
    controller.flush(arm)
    assert own_commands(controller) == []
    # When they have stopped, it begins from what the other one has commanded last.
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    assert own_commands(controller)[0] == pytest.approx(OTHER, abs=0.1)
    arm.until(lambda: not arm.told(other_publishers.SUBJECT))


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


def test_another_one_that_sends_the_same_efforts_is_seen_too(start, controller):
    arm = start(is_listed=False)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    list_other(arm)

    def is_seen():
        publish_both(arm, controller.commands[-1])
        arm.settle(0.0)  # so that no message is lost
        return said(arm, 'alternate')

    arm.until(is_seen)


def test_a_node_that_is_enabled_again_waits_for_others_too(start, controller):
    arm = start(is_listed=False)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    assert arm.set_parameter('enabled', False).successful
    arm.until(lambda: publish_state(arm) or not arm.node.policy.is_sending)
    list_other(arm)
    arm.until(lambda: publish_both(arm) or said(arm, 'this node sends none before'))
    controller.flush(arm)
    count = len(own_commands(controller))
    assert arm.set_parameter('enabled', True).successful
    efforts = len(arm.efforts)
    arm.until(lambda: publish_both(arm) or len(arm.efforts) > efforts + 20)
    assert len(own_commands(controller)) == count
    assert arm.set_parameter('blend_time', 60.0).successful
    arm.until(lambda: publish_state(arm) or len(own_commands(controller)) > count)
    assert own_commands(controller)[count] == pytest.approx(OTHER, abs=0.1)


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


def test_a_publisher_that_was_killed_and_is_still_listed_does_not_keep_the_node_from_sending(
        start_arm, controller):
    arm = start_arm(is_described=False)
    predecessor = subprocess.Popen([sys.executable, '-c', PREDECESSOR])
    try:
        until(lambda: OTHER in controller.commands)
        arm.until(lambda: arm.node._other_publishers.are_heard)
    finally:
        predecessor.kill()
        predecessor.wait()
    arm.until(lambda: not arm.node._other_publishers.are_heard)
    if arm.node.count_publishers(TOPIC) < 2:
        pytest.skip('this machine is so busy that DDS has forgotten the killed process already')
    arm.describe(ARM)
    arm.until(lambda: publish_state(arm) or own_commands(controller))
    assert not arm.told(other_publishers.SUBJECT)
