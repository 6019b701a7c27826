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
"""The node is killed (kill -9) and started again, as launch files do with ``respawn``."""

from __future__ import annotations

import subprocess
import sys

from patience import PATIENCE, until
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2_rnea import Robot
from sensor_msgs.msg import JointState
from small_robots import ARM
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

NAMESPACE = '/respawned'
TOPIC = f'{NAMESPACE}/inverse_dynamics/commands'
Q = [0.3, 0.1]

DEPTH = 10
"""Number of messages that are queued."""

TRIES = 3
"""Between two looks, DDS may forget the killed process by chance."""


@pytest.fixture
def start():
    """Return a function that starts the node; it is gone after the test."""
    processes = []

    def start() -> subprocess.Popen:
        given = ['mode:=gravity_compensation', f'robot_description:={ARM!r}',
                 'joints:=[shoulder, elbow]', 'blend_time:=0.0', 'state_timeout:=10.0']
        processes.append(subprocess.Popen([
            sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args', '-r',
            f'__ns:={NAMESPACE}', *(word for each in given for word in ('-p', each))]))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait(timeout=PATIENCE)


class Driver:
    """Receives the commands, and holds the last one for ever."""

    def __init__(self):
        self.node, self._executor = Node('driver', namespace=NAMESPACE), SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.commands, self.efforts = [], []
        self.node.create_subscription(
            Float64MultiArray, TOPIC, lambda command: self.commands.append([*command.data]), DEPTH)
        self.node.create_subscription(
            JointState, 'inverse_dynamics/effort', self.efforts.append, DEPTH)
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)

    def turn(self):
        self._states.publish(JointState(
            name=['shoulder', 'elbow'], position=Q, velocity=[0.0, 0.0],
            effort=Robot.from_urdf(ARM).gravity(Q)))
        self._executor.spin_once(timeout_sec=0.01)

    def lists_killed(self):
        """Tell whether DDS still lists the killed process beside the present one."""
        return self.node.count_publishers(TOPIC) > 1

    def end(self):
        self._executor.shutdown()
        self.node.destroy_node()


@pytest.fixture
def driver():
    driver = Driver()
    yield driver
    driver.end()


def test_after_kill_9_it_sends_again_while_dds_still_lists_the_killed_process(start, driver):
    """DDS lists it for some 20 s, for which nothing may wait."""
    process = start()
    gravity = pytest.approx(Robot.from_urdf(ARM).gravity(Q))
    for _ in range(TRIES):
        until(lambda: driver.commands and driver.commands[-1] == gravity, driver.turn)
        process.kill()
        process.wait()
        for _ in range(5 * DEPTH):  # what has arrived before is read
            driver.turn()
        driver.commands.clear()
        driver.efforts.clear()
        process = start()
        until(lambda: driver.efforts or driver.commands, driver.turn)
        could_wait = driver.lists_killed()
        until(lambda: driver.commands, driver.turn)
        assert driver.commands[0] == gravity  # which the driver holds
        if could_wait and driver.lists_killed():
            return
    if not could_wait:
        pytest.skip('this machine is so busy that DDS has forgotten the killed process already')
    raise AssertionError('the node waits until DDS has forgotten the killed process')
