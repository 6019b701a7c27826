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
"""The service that fills trajectories with efforts, beside the node's cycle."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.node.services.background_services import BackgroundService, BackgroundServices
from ros2_rnea.node.services.fill_answer import fill_context, FillContext
from ros2_rnea.node.worker.channel import Message
from ros2_rnea.node.worker.plain_data import to_plain
from ros2_rnea.robot import Robot
from ros2_rnea_interfaces.srv import FillTrajectoryEfforts
from trajectory_msgs.msg import JointTrajectory


class FillService(BackgroundServices):
    """
    The service; see :class:`.BackgroundServices`.

    :param now: returns the time on the steady clock [s].
    """

    def __init__(
            self,
            node: Node,
            policy: Callable[[], FeedforwardPolicy | None],
            now: Callable[[], float],
            on_exit: Callable[[str], None]) -> None:
        self._now = now
        super().__init__(node, 'filling', policy, on_exit, {
            'fill_trajectory_efforts': BackgroundService(FillTrajectoryEfforts, self._fill)})

    def _fill(
            self, policy: FeedforwardPolicy, request: FillTrajectoryEfforts.Request,
            ) -> FillTrajectoryEfforts.Response:
        question = serialize_message(request)
        request.trajectory = JointTrajectory()  # frees its objects before the next collection
        answer = self.process.ask(fill_request(
            question, policy.robot, fill_context(policy, self._now())))
        return deserialize_message(answer.blobs[0], FillTrajectoryEfforts.Response)


def fill_request(question: bytes, robot: Robot, context: FillContext) -> Message:
    """Return the message to the worker process: the serialized request and its context."""
    _, arguments = robot.__reduce__()
    return Message(
        {'task': 'fill', 'robot': to_plain(arguments), 'context': to_plain(tuple(context))},
        (question,))
