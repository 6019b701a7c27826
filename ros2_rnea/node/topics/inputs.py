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
"""The input topics of the policy: one row each, with the handler of its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, NamedTuple

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError, MessageError, RneaError
from ros2_rnea.node.bounds import MAX_SENSOR_BYTES, MAX_STATE_BYTES
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.controller_messages import (
    controller_reference,
    JointTrajectoryControllerState,
)
from ros2_rnea.node.topics.conversions import deserialized, moment_force
from ros2_rnea.node.topics.qos import sensor_data
from sensor_msgs.msg import Imu
from std_msgs.msg import Header


PENDING = 'pending'
"""The result of a handler that reports later whether the message is accepted."""


class Input(NamedTuple):
    """
    A topic that the node subscribes to.

    :ivar message: the type of its messages; None where the package that defines it is missing.
    :ivar most_bytes: a larger message is refused, without being read.
    :ivar handle: passes a message to the policy; raises an RneaError to refuse it.  It returns
        :data:`PENDING` or None.  It receives the policy, the message and the time, and the age
        of the message [s] where the topic has a ``timeout``.
    :ivar finish: called once after all messages that were queued have been handled; None: messages
        are handled one at a time.
    :ivar raw: whether the handler receives the message as serialized bytes; otherwise it is
        deserialized before.
    :ivar with_info: whether the handler receives a pair of these bytes and their MessageInfo.
    :ivar timeout: returns how old a message may be [s]; None: its age is not needed here.
    :ivar is_wanted: returns whether the policy's settings need the topic; None: always.
    :ivar refusal_without_robot: the reason why a message is refused while there is no robot;
        empty where it is ignored.
    """

    topic: str
    message: Any
    qos: QoSProfile
    most_bytes: int
    handle: Callable[..., str | None]
    finish: Callable[[Policy, Instant], None] | None = None
    raw: bool = False
    with_info: bool = False
    timeout: Callable[[Settings], float] | None = None
    is_wanted: Callable[[Settings], bool] | None = None
    refusal_without_robot: str = ''


def take_controller_state(
        policy: Policy, message: Any, now: Instant, age: float = 0.0) -> None:
    """Follow the reference of a controller."""
    policy.take_controller_state(controller_reference(message), now, age)


def take_wrench(
        policy: Policy, message: WrenchStamped, now: Instant, age: float = 0.0,
        ) -> None:
    """Use a measured wrench."""
    policy.take_wrench(message.header.frame_id, moment_force(message.wrench), now, age)


def take_imu(policy: Policy, message: Imu, now: Instant, age: float = 0.0) -> None:
    """Use the gravity that an accelerometer measures."""
    if message.linear_acceleration_covariance[0] == -1.0:
        raise MessageError(
            'the first covariance of linear_acceleration is -1: the sensor does not measure it')
    acceleration = message.linear_acceleration
    policy.take_imu(
        message.header.frame_id, (acceleration.x, acceleration.y, acceleration.z), now, age)


INPUTS = (
    Input('controller_state', JointTrajectoryControllerState, sensor_data(1), MAX_STATE_BYTES,
          take_controller_state, timeout=lambda settings: settings.controller_state_timeout),
    Input('wrench', WrenchStamped, sensor_data(1), MAX_SENSOR_BYTES, take_wrench,
          timeout=lambda settings: settings.wrenches.timeout),
    Input('imu', Imu, sensor_data(1), MAX_SENSOR_BYTES, take_imu,
          timeout=lambda settings: settings.state_timeout,
          is_wanted=lambda settings: settings.gravity_from_imu),
)
"""The inputs whose messages are handled here; the node adds those that need more."""


class Inputs:
    """
    The subscriptions of a node to a table of input topics.

    :param policy: returns the policy in use, or None while there is no robot.
    :param now: returns the time on both clocks.
    :param age: returns the age of a message [s]; it receives the topic, the MessageInfo, the
        header of the message, the time, and how old the message may be.
    :ivar subscriptions: by topic.
    """

    def __init__(
            self,
            node: Node,
            table: Iterable[Input],
            policy: Callable[[], Policy | None],
            now: Callable[[], Instant],
            age: Callable[[str, Any, Header, Instant, float], float],
            diagnostics: Diagnostics) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        self._node = node
        self._policy = policy
        self._now = now
        self._age = age
        self._diagnostics = diagnostics
        self._table = [row for row in table if row.message is not None]
        for row in table:
            if row.message is None:
                node.get_logger().info(
                    f'{row.topic} is not subscribed to: the package of its messages is not '
                    'installed')
        self.poll()

    def poll(self) -> None:
        """Subscribe to the topics that the settings need, and unsubscribe from the others."""
        policy = self._policy()
        for row in self._table:
            is_wanted = row.is_wanted is None or (
                policy is not None and row.is_wanted(policy.settings))
            if is_wanted and row.topic not in self.subscriptions:
                self.subscriptions[row.topic] = self._node.create_subscription(
                    row.message, row.topic, self._callback(row), row.qos, raw=True)
            elif not is_wanted and row.topic in self.subscriptions:
                self._node.destroy_subscription(self.subscriptions.pop(row.topic))

    def take(self, topic: str, policy: Policy, now: Instant) -> None:
        """
        Pass the queued messages of a topic to the policy, without an executor.

        :param topic: one of the table whose messages are handled all at once.
        """
        for row in self._table:
            if row.topic == topic and topic in self.subscriptions:
                for queued in self._queued(row, 0, row.qos.depth):
                    self._handle(row, policy, queued, now)

    def _callback(self, row: Input) -> Callable[[Any], None]:
        topic, finish, refusal = row.topic, row.finish, row.refusal_without_robot
        policy_in_use, now, diagnostics = self._policy, self._now, self._diagnostics

        def receive(*taken: Any) -> None:
            policy = policy_in_use()
            if policy is None:
                if refusal:
                    diagnostics.refused(topic, ArgumentError(refusal))
                return
            instant = now()
            first = _pair(taken)
            self._handle(row, policy, first, instant)
            if finish is not None:
                for queued in self._queued(row, len(first[0]), row.qos.depth - 1):
                    self._handle(row, policy, queued, instant)
                finish(policy, instant)

        receive.__signature__ = _WITH_INFO  # type: ignore[attr-defined]
        return receive

    def _handle(
            self, row: Input, policy: Policy, taken: tuple[bytes, Any], now: Instant,
            ) -> None:
        message, info = taken
        try:
            if len(message) > row.most_bytes:
                raise MessageError(
                    f'it has {len(message)} bytes; at most {row.most_bytes} are accepted')
            content: Any = taken if row.with_info else (
                message if row.raw else deserialized(message, row.message))
            if row.timeout is None:
                state = row.handle(policy, content, now)
            else:
                longest = row.timeout(policy.settings)
                state = row.handle(policy, content, now, self._age(
                    row.topic, info, content.header, now, longest))
        except RneaError as error:
            self._diagnostics.refused(row.topic, error)
        else:
            if state is not PENDING:
                self._diagnostics.accepted(row.topic)

    def _queued(self, row: Input, size: int, most: int) -> Iterator[tuple[bytes, Any]]:
        """
        Take the messages that are queued behind the one that the executor has taken.

        The executor then finds an empty queue, as after a message that another thread has taken.
        At most one queue is taken at once: a publisher that is too fast blocks nothing.  No more
        are taken once they have the size that one message may have: the executor takes the rest.

        :param size: of the first message [bytes].
        :param most: how many are taken at most.
        """
        handle = self.subscriptions[row.topic].handle
        for _ in range(most):
            if size > row.most_bytes:
                return
            with handle:
                taken = handle.take_message(row.message, True)
            if taken is None:
                return
            size += len(taken[0])
            yield taken


def source_of(info: Any) -> bytes | None:
    """
    Return the gid of the publisher of a message, by its MessageInfo.

    :return: None where this version of rclpy does not tell it.
    """
    gid = info.get('publisher_gid')
    if isinstance(gid, Mapping):  # with the name of the middleware
        gid = gid.get('data')
    if not isinstance(gid, (bytes, bytearray, memoryview, list, tuple)):
        return None
    return bytes(gid) or None


def _pair(taken: tuple[Any, ...]) -> tuple[bytes, Any]:
    """
    Return a message and its MessageInfo.

    :param taken: the arguments of a callback.  The events executor of Jazzy passes both as one
        tuple, and not as two arguments, as others do.
    """
    message, info = taken[0] if isinstance(taken[0], tuple) else taken
    return message, info


_WITH_INFO = Signature([
    Parameter(name, Parameter.POSITIONAL_ONLY) for name in ('message', 'info')])
"""The signature by which rclpy decides that a callback receives a MessageInfo."""
