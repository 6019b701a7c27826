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

A request may take seconds, and reading one of ten thousand points alone takes tens of
milliseconds.  So neither happens in the thread of the cycle: the service has a thread that reads
and writes messages, and a worker process of its own computes, one request after
the other.  Since an executor serves whole nodes, the thread has a node of its own, whose name
begins with an underscore: tools do not list it.

A coroutine as the service's callback would still read in the thread of the cycle, and rclpy's
executor of events takes none.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.errors import RneaError
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.node.models.introduction import NO_ROBOT
from ros2_rnea.node.services.fill_answer import Circumstances, circumstances
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
    The service, from now on until it is closed; one request after the other.

    :param node: whose service it is.
    :param policy: gives the policy in force, or None while there is no robot.
    :param now: gives the time on the steady clock [s].
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
        """End thread and process; a request that is being answered fails."""
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
                if not self._node.context.ok():  # a wait set is half made then
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
        request.trajectory = JointTrajectory()  # garbage collection goes through what there is
        try:
            answer = self._process.ask(fill_request(
                question, policy.robot, circumstances(policy, self._now())))
            return deserialize_message(answer.blobs[0], FillTrajectoryEfforts.Response)
        except RneaError as error:
            response.message = str(error)
        except Exception as error:  # noqa: BLE001 (whoever asks gets an answer)
            response.message = f'{type(error).__name__}: {error}'
        return response


def fill_request(question: bytes, robot: Robot, given: Circumstances) -> Message:
    """Return what a worker process is asked: a serialized request, and what else counts."""
    _, made_from = robot.__reduce__()
    return Message(
        {'task': 'fill', 'robot': to_plain(made_from), 'given': to_plain(tuple(given))},
        (question,))
