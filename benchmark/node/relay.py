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
The empty relay: a simple node that computes nothing, as a reference for the cost of a node.

It receives the same message as the node under test and sends the same two, typed, with ROS 2's
defaults: ``rclpy.spin``, queues of ten.  Run it: ``python -m benchmark.node.relay``.
"""

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray


class Relay(Node):
    """Answers each joint state with the efforts in it."""

    def __init__(self) -> None:
        super().__init__('inverse_dynamics')
        self.commands = self.create_publisher(Float64MultiArray, '~/commands', 10)
        self.efforts = self.create_publisher(JointState, '~/effort', 10)
        self.create_subscription(JointState, 'joint_states', self.on_joint_state, 10)

    def on_joint_state(self, state: JointState) -> None:
        """Send the state's efforts back, once without names and once with them."""
        self.commands.publish(Float64MultiArray(data=state.effort))
        effort = JointState(name=state.name, effort=state.effort)
        effort.header.stamp = state.header.stamp
        self.efforts.publish(effort)


def main() -> None:
    """Run the relay until SIGINT or SIGTERM."""
    rclpy.init()
    try:
        rclpy.spin(Relay())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
