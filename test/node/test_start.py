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
"""
From which effort the first command starts, over DDS, with the receiver in other participants.

A participant of its own stands for a process of its own: that is all that the node sees of it.
"""

from math import inf
import os

from command_log import CommandLog
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2_rnea.node.controllers import receivers
from ros2_rnea.robots.robot import Robot
from small_robots import ARM
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
REST = [0.0, 0.0]
GRAVITY = Robot.from_urdf(ARM).gravity(Q).tolist()
TOPIC = '/robot/inverse_dynamics/commands'


class Receiver:
    """A process that receives ~/commands, such as a controller manager."""

    def __init__(self, name='effort_controller'):
        self._log = CommandLog()
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node(name, namespace='/robot', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self.load()

    def load(self):
        self._subscription = self._node.create_subscription(
            Float64MultiArray, TOPIC, self._log.receive, 100)

    def unload(self):
        self._node.destroy_subscription(self._subscription)

    def flush(self, arm):
        """Wait for the answers to all joint states until now, and return their count."""
        return self._log.flush(arm, self._spin)

    def first_command(self, arm, efforts=(), velocities=REST):
        """Return the first command that answers a joint state which is published from now on."""
        return self._log.first_command(
            arm, lambda: arm.state(JOINTS, Q, velocities, efforts=efforts), self._spin)

    def _spin(self):
        self._executor.spin_once(timeout_sec=0.0)

    def end(self):
        if self._context.ok():
            self._executor.shutdown()
            self._node.destroy_node()
            rclpy.shutdown(context=self._context)


@pytest.fixture
def receiver():
    """Return a function that starts a receiver; all are ended afterwards."""
    started = []

    def start(name='effort_controller'):
        started.append(Receiver(name))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture
def start(bench, monkeypatch):
    """Return a function that starts the node, which compensates gravity in a long blend."""
    monkeypatch.setattr(receivers, 'DISCOVERY_TIME', inf)

    def start(**parameters):
        arm = bench(**{
            'joints': JOINTS, 'mode': 'gravity_compensation', 'state_timeout': 9.0,
            'blend_time': 60.0, 'start_from': 'automatic',
            **parameters})
        # The bench subscribes too, in the node's own process; here, only others count.
        arm.peer.destroy_subscription(next(
            each for each in arm.peer.subscriptions if each.topic_name == TOPIC))
        arm.describe(ARM)
        return arm

    return start


def connect(arm, *receivers_):
    publisher, = (each for each in arm.node.publishers if each.topic_name == TOPIC)
    arm.until(lambda: publisher.get_subscription_count() == len(receivers_))
    arm.until(lambda: {*map(len, [arm.node.get_subscriptions_info_by_topic(TOPIC)])}
              == {len(receivers_)})


def assert_silent(arm, receiver, said, efforts=(), velocities=REST):
    count = receiver.flush(arm)
    arm.until(lambda: not arm.sends(JOINTS, Q, velocities, efforts=efforts) and any(
        said in status.message for status in arm.diagnostics))
    assert receiver.flush(arm) == count


def lead_to_gravity(arm, receiver):
    """Let the effort become that of gravity, and return the last command."""
    assert arm.set_parameter('blend_time', 0.0).successful
    arm.until(lambda: receiver.first_command(arm, GRAVITY) == pytest.approx(GRAVITY))
    assert arm.set_parameter('blend_time', 60.0).successful
    return receiver.first_command(arm, GRAVITY)


def kill(arm):
    """End a node without its last commands, as kill -9 does."""
    arm.close()


def test_after_a_crash_the_last_command_is_the_first_one(start, receiver):
    controller = receiver()
    arm = start()
    connect(arm, controller)
    last = lead_to_gravity(arm, controller)
    kill(arm)
    arm = start()
    connect(arm, controller)
    assert controller.first_command(arm) == pytest.approx(last, abs=0.01)


def test_without_measured_efforts_a_receiver_needs_the_parameter(start, receiver):
    controller = receiver()
    arm = start()
    connect(arm, controller)
    assert_silent(arm, controller, "no effort of joint 'shoulder'")
    assert any('start_from' in status.message for status in arm.diagnostics)
    assert_silent(arm, controller, "'elbow' moves", GRAVITY, [0.0, 0.3])
    assert arm.set_parameter('start_from', 'gravity').successful
    assert controller.first_command(arm) == pytest.approx(GRAVITY)


HALF = [0.5 * effort for effort in GRAVITY]


@pytest.mark.parametrize('parameters, efforts, expected', [
    ({}, REST, REST),  # somebody supports the arm
    ({}, HALF, HALF),
    ({'arm': 'franka'}, GRAVITY, REST),  # what it measures has its own gravity in it
    ({'start_from': 'zero'}, GRAVITY, REST),
    ({'start_from': 'measured'}, GRAVITY, GRAVITY),
])
def test_first_start_follows_the_measured_effort(start, receiver, parameters, efforts, expected):
    controller = receiver()
    arm = start(**parameters)
    connect(arm, controller)
    assert controller.first_command(arm, efforts) == pytest.approx(expected, abs=0.01)


def test_a_controller_manager_restarted_after_the_record_may_hold_efforts(start, receiver):
    """It may be older than this node, which tells processes apart and not names."""
    controller = receiver()
    arm = start()
    connect(arm, controller)
    lead_to_gravity(arm, controller)
    kill(arm)
    controller.end()
    controller = receiver()
    arm = start()
    connect(arm, controller)
    assert_silent(arm, controller, "no effort of joint 'shoulder'")
    assert controller.first_command(arm, HALF) == pytest.approx(HALF, abs=0.01)


def test_a_controller_manager_restarted_beside_the_node_holds_nothing(
        start, receiver, monkeypatch):
    monkeypatch.setattr(receivers, 'DISCOVERY_TIME', 0.0)
    controller = receiver()
    arm = start()
    connect(arm, controller)
    lead_to_gravity(arm, controller)
    controller.end()
    connect(arm)
    arm.settle(2.0 * receivers.LONGEST_CYCLE)
    controller = receiver()
    connect(arm, controller)
    assert controller.first_command(arm, GRAVITY) == pytest.approx(REST, abs=0.01)


def test_a_controller_loaded_again_under_living_hardware_gets_no_step(start, receiver):
    controller = receiver()
    arm = start()
    connect(arm, controller)
    last = lead_to_gravity(arm, controller)
    controller.unload()
    connect(arm)
    arm.sends(JOINTS, Q)
    controller.load()
    connect(arm, controller)
    assert controller.first_command(arm) == pytest.approx(last, abs=0.01)


def test_who_only_listens_changes_nothing(start, receiver):
    controller = receiver()
    arm = start(effort_controller='')
    connect(arm, controller)
    lead_to_gravity(arm, controller)
    recorder = receiver('recorder')
    connect(arm, controller, recorder)
    assert controller.first_command(arm) == pytest.approx(GRAVITY, abs=0.01)
    recorder.end()
    connect(arm, controller)
    assert controller.first_command(arm) == pytest.approx(GRAVITY, abs=0.01)


def test_recorders_of_one_name_come_and_go_beside_a_driver(start, receiver):
    """Nothing tells that the driver is the controller, and joint states have no effort."""
    driver = receiver('motor_driver')
    arm = start(effort_controller='')
    connect(arm, driver)
    lead_to_gravity(arm, driver)
    for _ in range(2):
        recorder = receiver('recorder')
        connect(arm, driver, recorder)
        assert driver.first_command(arm) == pytest.approx(GRAVITY, abs=0.01)
        recorder.end()
        connect(arm, driver)
        assert driver.first_command(arm) == pytest.approx(GRAVITY, abs=0.01)


def test_without_a_private_folder_it_says_that_nothing_is_recorded(start, receiver, tmp_path):
    folder = tmp_path / f'ros2_rnea-{os.geteuid()}'
    folder.mkdir()
    os.chmod(folder, 0o777)
    controller = receiver()
    arm = start()
    connect(arm, controller)
    assert controller.first_command(arm, GRAVITY) == pytest.approx(GRAVITY, abs=0.01)
    arm.until(lambda: 'others may write to it' in arm.told('command record'))
