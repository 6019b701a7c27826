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
"""Publishes the robot in use as a model file, for a controller in the control loop."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
import pickle
from queue import SimpleQueue
from time import monotonic
from typing import NamedTuple

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message
from ros2_rnea.control.policy import Policy
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.models.model_building import Source
from ros2_rnea.node.topics.qos import LATCHED
from ros2_rnea.node.worker.channel import Message
from ros2_rnea.node.worker.worker_process import WorkerProcess
from ros2_rnea.robots.adjustable_robot import RobotSnapshot

try:
    from ros2_rnea_interfaces.msg import Model, ModelParameters
    IS_DEFINED = True
except ImportError:
    IS_DEFINED = False

MISSING = (
    'the topics ~/model, ~/model_parameters and compensated_joints are missing, because the '
    'package ros2_rnea_interfaces is not installed or is too old; everything else works. Build it '
    'again')

PERIOD = 0.02
"""Period at which the node looks whether parameters of the model have changed [s]."""

RETRY_PERIOD = 10.0
"""Time after which a file is made again where that has failed [s]."""

SUBJECT = 'model file'
"""Subject of the notices in /diagnostics."""


class _Origin(NamedTuple):
    """What a model file is made from, but for the numbers that are parameters."""

    source: Source
    left_out: tuple[str, ...]
    arm_gravity: tuple[float, ...]


class _Made(NamedTuple):
    """
    A model file, or why there is none.

    :ivar message: of ~/model, serialized.
    :ivar checksum: of the file.
    """

    origin: _Origin
    message: bytes = b''
    checksum: int = 0
    error: str = ''


class ModelPublisher:
    """
    Publishes ~/model once somebody has subscribed to it, and then ~/model_parameters.

    A thread has the file made by a worker process; the control thread only publishes what is
    ready.  The parameters follow each change that is in use, also one by the imu, at most once a
    period; no cycle has to do with that.

    :param source: returns what the model in use was made from; None: there is none.
    :param policy: returns the policy in use.
    :param in_background: calls a function in the thread that asks the worker process.
    :param process: that process.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, source: Callable[[], Source | None],
            policy: Callable[[], Policy | None],
            in_background: Callable[[Callable[[], None]], None],
            process: WorkerProcess) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._source = source
        self._policy = policy
        self._in_background = in_background
        self._process = process
        self._is_wanted = False
        self._is_being_made = False
        self._failed: _Origin | None = None  # for which no file could be made
        self._retry_at = 0.0  # on the monotonic clock
        self._made: SimpleQueue[_Made] = SimpleQueue()
        self._published: _Made | None = None
        self._values = b''  # of the parameters that were published
        if not IS_DEFINED:
            node.get_logger().warning(MISSING)
            return
        self._models = node.create_publisher(Model, '~/model', LATCHED)
        self._parameters = self._parameter_publisher()

    def _parameter_publisher(self) -> Publisher:
        return self._node.create_publisher(ModelParameters, '~/model_parameters', LATCHED)

    def poll(self) -> None:
        """Request a file where somebody wants one of the robot in use, and there is none."""
        if not IS_DEFINED:
            return
        if not self._is_wanted and self._models.get_subscription_count() > 0:
            self._is_wanted = True
            self._node.create_timer(
                PERIOD, self._turn, clock=Clock(clock_type=ClockType.STEADY_TIME))
        if not self._is_wanted or self._is_being_made:
            return
        policy, origin = self._policy(), self._origin()
        if origin is None or policy is None:
            self.withdraw()
        elif (self._published is None or origin != self._published.origin) and (
                origin != self._failed or monotonic() > self._retry_at):
            self._is_being_made = True
            self._in_background(partial(self._make, origin, policy.snapshot, policy.robot.name))

    def _origin(self) -> _Origin | None:
        """Return what a file of the robot in use is made from; None: there is no robot."""
        source, policy = self._source(), self._policy()
        return None if source is None or policy is None else _Origin(
            source, policy.settings.sent_terms.left_out, policy.settings.arm_gravity)

    def withdraw(self) -> None:
        """
        Publish that there is no robot any more, and none of its payloads.

        Parameters that follow have another publisher, as those of a node that was started again:
        a controller that has not seen the message does not take them for those of this robot.
        """
        self._failed = None
        self._diagnostics.notice(SUBJECT, '')
        if self._published is not None:
            self._published = None
            message = Model()
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._models.publish(message)
            self._node.destroy_publisher(self._parameters)
            self._parameters = self._parameter_publisher()

    def _make(self, origin: _Origin, snapshot: RobotSnapshot, robot: str) -> None:
        """Have a file made; in the thread of the services."""
        try:
            answer = self._process.ask(export_request(origin, snapshot))
            message = Model(robot=robot, joints=list(answer['joints']),
                            file=array('B', answer['file']))
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._made.put(_Made(origin, serialize_message(message), answer['checksum']))
        except Exception as error:  # noqa: BLE001 (the node says it, and goes on)
            self._made.put(_Made(
                origin, error=f'the model file of {robot!r} cannot be made: {error}'))

    def _turn(self) -> None:
        """Publish a file that has been made, and parameters that have changed."""
        if not self._made.empty():
            self._take(self._made.get())
        policy, published = self._policy(), self._published
        if policy is None or published is None or published.origin != self._origin():
            return
        values = policy.robot.parameter_values.tobytes()
        if values != self._values:
            self._values = values
            message = ModelParameters(model=published.checksum, values=array('d', values))
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._parameters.publish(message)

    def _take(self, made: _Made) -> None:
        """Publish a file, unless another robot is in use by now."""
        self._is_being_made = False
        if made.origin != self._origin():
            return
        self._diagnostics.notice(SUBJECT, made.error)
        if made.error:
            self._failed, self._retry_at = made.origin, monotonic() + RETRY_PERIOD
        else:
            self._models.publish(made.message)
            self._published, self._values = made, b''


def export_request(origin: _Origin, robot: RobotSnapshot) -> Message:
    """Return the message to the worker process."""
    return {'task': 'export', 'robot': pickle.dumps(robot), 'left_out': origin.left_out,
            'description': origin.source.description, 'arm_gravity': origin.arm_gravity}
