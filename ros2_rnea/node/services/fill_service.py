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
The service that fills trajectories with efforts, beside the node's cycle.

The answer to a request may take seconds; deserializing a trajectory of ten thousand points takes
tens of milliseconds.  Therefore neither happens in the thread of the cycle.  The service has its
own thread, which reads and writes messages, and its own worker process, which computes one answer
after the other.  An executor serves whole nodes, so the thread also has its own node.  The name of
this node begins with an underscore, so that tools do not list it.

A coroutine as the service's callback would not do: it would still deserialize in the thread of the
cycle, and rclpy's events executor does not support coroutines.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.errors import RneaError
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.node.models.model_summary import NO_ROBOT
from ros2_rnea.node.services.fill_answer import fill_context, FillContext
from ros2_rnea.node.worker.background_thread import BackgroundThread
from ros2_rnea.node.worker.channel import Message
from ros2_rnea.node.worker.plain_data import to_plain
from ros2_rnea.node.worker.worker_process import WorkerProcess
from ros2_rnea.robot import Robot
from ros2_rnea_interfaces.srv import FillTrajectoryEfforts
from trajectory_msgs.msg import JointTrajectory

PAUSE = 0.1
"""How long the thread waits after an error of the executor [s]."""


class FillService:
    """
    The service, which answers one request after the other until :meth:`close`.

    :param node: the node that the service belongs to.
    :param policy: returns the policy in use, or None while there is no robot.
    :param now: returns the time on the steady clock [s].
    :param on_exit: called, by the service's thread, when its process has exited.
    """

    def __init__(
            self,
            node: Node,
            policy: Callable[[], FeedforwardPolicy | None],
            now: Callable[[], float],
            on_exit: Callable[[str], None]) -> None:
        self._policy = policy
        self._now = now
        self._process = WorkerProcess(on_exit)
        self._node = Node(
            f'_{node.get_name()}_filling', namespace=node.get_namespace(), context=node.context,
            use_global_arguments=False, enable_rosout=False, start_parameter_services=False)
        self._node.create_service(
            FillTrajectoryEfforts, node.resolve_service_name('~/fill_trajectory_efforts'),
            self._on_request)
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self._node)
        self._closing = Event()
        self._thread = BackgroundThread(
            target=self._spin, name='fill_trajectory_efforts', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread and the process; a request that is being answered fails."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._process.close()
        self._executor.create_task(lambda: None)  # wakes the thread
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()

    def _spin(self) -> None:
        while not self._closing.is_set():
            try:
                self._executor.spin_once()
            except ExternalShutdownException:
                return
            except Exception as error:  # noqa: BLE001 (the service must not end with a request)
                if not self._node.context.ok():  # its wait set is incomplete
                    return
                self._node.get_logger().error(
                    f'fill_trajectory_efforts: {type(error).__name__}: {error}')
                self._closing.wait(PAUSE)

    def _on_request(
            self,
            request: FillTrajectoryEfforts.Request,
            response: FillTrajectoryEfforts.Response) -> FillTrajectoryEfforts.Response:
        policy = self._policy()
        if policy is None:
            response.message = NO_ROBOT
            return response
        question = serialize_message(request)
        request.trajectory = JointTrajectory()  # frees its objects before the next collection
        try:
            answer = self._process.ask(fill_request(
                question, policy.robot, fill_context(policy, self._now())))
            return deserialize_message(answer.blobs[0], FillTrajectoryEfforts.Response)
        except RneaError as error:
            response.message = str(error)
        except Exception as error:  # noqa: BLE001 (every request gets an answer)
            response.message = f'{type(error).__name__}: {error}'
        return response


def fill_request(question: bytes, robot: Robot, context: FillContext) -> Message:
    """Return the message to the worker process: the serialized request and its context."""
    _, arguments = robot.__reduce__()
    return Message(
        {'task': 'fill', 'robot': to_plain(arguments), 'context': to_plain(tuple(context))},
        (question,))
