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
"""The topics whose messages the policy is told, a row each, and how each message is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from ros2_rnea.errors import ArgumentError, MessageError, RneaError
from ros2_rnea.feedforward.decision import Instant
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.feedforward.settings import Settings
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.controller_messages import (
    controller_reference,
    JointTrajectoryControllerState,
)
from ros2_rnea.node.topics.conversions import moment_force, trajectory_command
from ros2_rnea.node.topics.qos import sensor_data, TRAJECTORIES
from sensor_msgs.msg import Imu
from trajectory_msgs.msg import JointTrajectory


class Input(NamedTuple):
    """
    A topic that the node subscribes to.

    :ivar message: the type of its messages; None where the package that defines it is missing.
    :ivar handle: tells the policy what a message says; it raises an RneaError to refuse it.
    :ivar raw: whether the handler takes the message as serialized bytes.
    :ivar is_wanted: tells by the policy's settings whether the topic is subscribed to.
    :ivar without_robot: why a message is refused while there is no robot; empty: it is ignored.
    """

    topic: str
    message: type | None
    qos: QoSProfile
    handle: Callable[[FeedforwardPolicy, Any, Instant], None]
    raw: bool = False
    is_wanted: Callable[[Settings], bool] | None = None
    without_robot: str = ''


def take_trajectory(policy: FeedforwardPolicy, message: JointTrajectory, now: Instant) -> None:
    """Follow a trajectory."""
    policy.take_trajectory(trajectory_command(message), now)


def take_controller_state(policy: FeedforwardPolicy, message: Any, now: Instant) -> None:
    """Follow the reference of a controller."""
    policy.take_controller_state(controller_reference(message), now)


def take_wrench(policy: FeedforwardPolicy, message: WrenchStamped, now: Instant) -> None:
    """Count a wrench on the robot."""
    policy.take_wrench(message.header.frame_id, moment_force(message.wrench), now)


def take_imu(policy: FeedforwardPolicy, message: Imu, now: Instant) -> None:
    """Take gravity from an accelerometer."""
    if message.linear_acceleration_covariance[0] == -1.0:
        raise MessageError(
            'the first covariance of linear_acceleration is -1: the sensor measures none')
    acceleration = message.linear_acceleration
    policy.take_imu(
        message.header.frame_id, (acceleration.x, acceleration.y, acceleration.z), now)


INPUTS = (
    Input('joint_trajectory', JointTrajectory, TRAJECTORIES, take_trajectory,
          without_robot='there is no robot yet that could follow it'),
    Input('controller_state', JointTrajectoryControllerState, sensor_data(1),
          take_controller_state),
    Input('wrench', WrenchStamped, sensor_data(1), take_wrench),
    Input('imu', Imu, sensor_data(1), take_imu,
          is_wanted=lambda settings: settings.gravity_from_imu),
)


class Inputs:
    """
    The subscriptions of a node to the topics of a table.

    :param policy: gives the policy in force, or None while there is no robot.
    :param now: gives the time on both clocks.
    :ivar subscriptions: by topic.
    """

    def __init__(
            self,
            node: Node,
            table: Iterable[Input],
            policy: Callable[[], FeedforwardPolicy | None],
            now: Callable[[], Instant],
            diagnostics: Diagnostics) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        self._node = node
        self._policy = policy
        self._now = now
        self._diagnostics = diagnostics
        self._table = [row for row in table if row.message is not None]
        for row in table:
            if row.message is None:
                node.get_logger().info(
                    f'{row.topic} is not subscribed to: the package of its messages is not '
                    'installed')
        self.poll()

    def poll(self) -> None:
        """Subscribe to the topics that the settings ask for, and to no others."""
        policy = self._policy()
        for row in self._table:
            is_wanted = row.is_wanted is None or (
                policy is not None and row.is_wanted(policy.settings))
            if is_wanted and row.topic not in self.subscriptions:
                self.subscriptions[row.topic] = self._node.create_subscription(
                    row.message, row.topic, self._callback(row), row.qos, raw=row.raw)
            elif not is_wanted and row.topic in self.subscriptions:
                self._node.destroy_subscription(self.subscriptions.pop(row.topic))

    def _callback(self, row: Input) -> Callable[[Any], None]:
        topic, handle, without_robot = row.topic, row.handle, row.without_robot
        in_force, now, diagnostics = self._policy, self._now, self._diagnostics

        def receive(message: Any) -> None:
            policy = in_force()
            if policy is None:
                if without_robot:
                    diagnostics.refused(topic, ArgumentError(without_robot))
                return
            try:
                handle(policy, message, now())
            except RneaError as error:
                diagnostics.refused(topic, error)
            else:
                diagnostics.accepted(topic)

        return receive
