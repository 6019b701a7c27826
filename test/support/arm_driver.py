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
"""A driver of the small arm at rest, beside a node that is a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray


class ArmDriver:
    """
    Publishes joint states, and receives commands.

    :param node: of the driver.
    :ivar commands: that have come back.
    :ivar velocity: in the states; empty: they have none.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.commands: list[Float64MultiArray] = []
        self.velocity: list[float] = []
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        node.create_subscription(
            Float64MultiArray, 'inverse_dynamics/commands', self.commands.append, 10)
        self._states = node.create_publisher(JointState, 'joint_states', 10)

    def turn(self) -> None:
        """Publish a state, and receive what has come."""
        self._states.publish(JointState(
            name=['shoulder', 'elbow'], position=[0.3, 0.1], velocity=self.velocity))
        self._executor.spin_once(timeout_sec=0.01)

    def close(self) -> None:
        """Take it down."""
        self._executor.shutdown()
        self.node.destroy_node()


@contextmanager
def arm_driver(namespace: str) -> Iterator[ArmDriver]:
    """Give a driver in a namespace."""
    driver = ArmDriver(Node('driver', namespace=namespace))
    try:
        yield driver
    finally:
        driver.close()
