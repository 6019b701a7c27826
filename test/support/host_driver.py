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
The driver of an arm and its effort controller, on a host of their own.

Reads orders from its standard input: positions to move to slowly, as JSON.  Writes a line of JSON
for each command that comes: the time, the number of the command, its efforts.  For each message on
~/effort it writes how old its joint state was when it was sent; both hosts have the same clock.
"""

from __future__ import annotations

import json
from math import cos, pi
import sys
from threading import Thread
from time import monotonic

import rclpy
from rclpy.clock import ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from ros2_rnea.tools.models import ur5
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

PERIOD = 0.005
"""Of the joint states [s]."""

MOTION = 0.5
"""How long a motion takes [s]."""

NAMESPACE = '/arm'


class Driver(Node):
    """Publishes a description and the states of an arm that stands or moves slowly."""

    def __init__(self, joints: list[str]) -> None:
        super().__init__('driver', namespace=NAMESPACE)
        self._joints = joints
        self._from = self._to = list(ur5().start)
        self._began = -MOTION
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self.create_publisher(String, 'robot_description', latched)
        self._description.publish(String(data=ur5().urdf))
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        self.create_timer(PERIOD, self._publish)

    def move(self, positions: list[float]) -> None:
        """Begin to move."""
        self._from, self._to, self._began = self._to, positions, monotonic()

    def _publish(self) -> None:
        share = min(1.0, (monotonic() - self._began) / MOTION)
        blend = 0.5 - 0.5 * cos(pi * share)
        state = JointState(
            name=self._joints, velocity=[0.0] * len(self._joints),
            position=[(1.0 - blend) * a + blend * b for a, b in zip(self._from, self._to)])
        state.header.stamp = self.get_clock().now().to_msg()
        self._states.publish(state)


class Controller(Node):
    """An effort controller, with the parameters by which the node knows it."""

    def __init__(self, joints: list[str]) -> None:
        super().__init__('effort_controller', namespace=NAMESPACE)
        self.declare_parameter('joints', joints)
        self.declare_parameter('interface_name', 'effort')
        self.create_subscription(
            Float64MultiArray, 'effort_controller/commands', self._on_command, 100)
        self.create_subscription(JointState, 'inverse_dynamics/effort', self._on_effort, 100)

    def _on_command(self, message: Float64MultiArray, info: dict) -> None:
        _write([monotonic(), info['publication_sequence_number'], list(message.data)])

    def _on_effort(self, message: JointState, info: dict) -> None:
        sent = Time(nanoseconds=info['source_timestamp'], clock_type=ClockType.ROS_TIME)
        _write(1e-9 * (sent - Time.from_msg(message.header.stamp)).nanoseconds)


def _write(line: object) -> None:
    sys.stdout.write(json.dumps(line) + '\n')
    sys.stdout.flush()


def obey(driver: Driver) -> None:
    """Move to where each line says."""
    for line in sys.stdin:
        driver.move(json.loads(line))


def main() -> None:
    """Run until the process is ended."""
    rclpy.init()
    joints = sys.argv[1:]
    driver = Driver(joints)
    executor = SingleThreadedExecutor()
    executor.add_node(driver)
    executor.add_node(Controller(joints))
    Thread(target=obey, args=[driver], daemon=True).start()
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
