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
"""Processes that only listen to ~/commands come and go, and the effort on the driver stays."""

from collections.abc import Callable
import subprocess
import sys

from arm_driver import arm_driver
from patience import PATIENCE, until
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2_rnea import Robot
from small_robots import ARM
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

GRAVITY = Robot.from_urdf(ARM).gravity([0.3, 0.1])
PARAMETERS = {
    'robot_description': repr(ARM), 'joints': '[shoulder, elbow]', 'mode': 'gravity_compensation',
    'state_timeout': 10.0, 'start_from': 'zero'}
"""With ``start_from``, an effort that starts anew does so at zero, whoever receives it."""

COMMANDS = 20
"""Number of commands in which a change among the receivers is seen."""


class Listener:
    """A process of its own, which receives the commands of a node in a namespace."""

    def __init__(self, name: str, namespace: str) -> None:
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node(name, namespace=namespace, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self.received: list[Float64MultiArray] = []
        self._node.create_subscription(
            Float64MultiArray, 'inverse_dynamics/commands', self.received.append, 10)

    def turn(self) -> None:
        self._executor.spin_once(timeout_sec=0.0)

    def end(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)


@pytest.fixture
def start_node():
    """Return a function that starts the node in a namespace; it is gone after the test."""
    processes = []

    def start(namespace: str) -> None:
        given = [word for name, value in PARAMETERS.items() for word in ('-p', f'{name}:={value}')]
        processes.append(subprocess.Popen([
            sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args', *given,
            '-r', f'__ns:={namespace}']))

    yield start
    for process in processes:
        process.kill()
        process.wait(timeout=PATIENCE)


@pytest.mark.parametrize('moves', ['aabb', 'abab', 'abba', 'cadb'])
def test_the_effort_stays_while_others_listen_and_go(start_node, moves):
    """The commands are not remapped, effort_controller is not set, and two names are equal."""
    here = f'/recorded_{moves}'
    names = {'a': 'recorder', 'b': 'recorder', 'c': 'driver', 'd': '_ros2cli_echo'}
    listeners: dict[str, Listener] = {}
    start_node(here)
    with arm_driver(here) as driver:

        def wait(condition: Callable[[], object]) -> None:
            def turn() -> None:
                driver.turn()
                for each in listeners.values():
                    each.turn()

            until(condition, turn)

        def holds() -> bool:
            return list(driver.commands[-1].data) == pytest.approx(GRAVITY)

        try:
            wait(lambda: driver.commands and holds())
            for move in moves:
                driver.commands.clear()
                if move in listeners:
                    listeners.pop(move).end()
                else:
                    listeners[move] = Listener(names[move], here)
                    wait(lambda: listeners[move].received)  # noqa: B023 (it is called now)
                wait(lambda: driver.node.count_subscribers(
                    'inverse_dynamics/commands') == 1 + len(listeners))
                seen = len(driver.commands)
                wait(lambda: len(driver.commands) > seen + COMMANDS)  # noqa: B023
                for command in driver.commands:
                    assert list(command.data) == pytest.approx(GRAVITY), move
        finally:
            for each in listeners.values():
                each.end()
