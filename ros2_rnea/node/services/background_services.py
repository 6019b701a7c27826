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
Services that do not delay the cycle: a thread carries messages, and a process may compute.

The answer to a request may take seconds; deserializing a trajectory of ten thousand points takes
tens of milliseconds.  Therefore neither happens in the control thread.  Services whose answers
take equally long share a thread, in which each request waits for those before it: what the thread
computes itself, what a worker process computes, and what a controller has to do first.  The first
request that needs the process starts it.  An executor serves whole nodes, so each thread has its
own node.  The names of these nodes begin with an underscore: tools do not list them.

A coroutine as the service's callback would not do: it would still deserialize in the control
thread, and rclpy's events executor does not support coroutines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import Event
from typing import Any, NamedTuple

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from ros2_rnea.control.policy import Policy
from ros2_rnea.errors import RneaError, shortened
from ros2_rnea.node.guarded_node import NO_TYPE_DESCRIPTIONS
from ros2_rnea.node.models.model_summary import NO_ROBOT
from ros2_rnea.node.worker.background_thread import BackgroundThread
from ros2_rnea.node.worker.worker_process import WorkerProcess

PAUSE = 0.1
"""Time for which the thread waits after an error of the executor [s]."""


class BackgroundService(NamedTuple):
    """
    A service that is answered outside the control thread.

    :ivar definition: its type.
    :ivar answer: returns the response to a request, for the policy in use; an error that it raises
        becomes a response with its text.
    """

    definition: Any
    answer: Callable[[Policy, Any], Any]


class ServiceOwner(NamedTuple):
    """
    What services need of the node that they belong to.

    :ivar policy: returns the policy in use, or None while there is no robot.
    :ivar now: returns the time on the steady clock [s].
    :ivar process: computes the answers that take long.
    :ivar why_twice: returns why efforts on some joints would act twice; empty: they would not.
    """

    node: Node
    policy: Callable[[], Policy | None]
    now: Callable[[], float]
    process: WorkerProcess
    why_twice: Callable[[Iterable[str]], str] = lambda _: ''


class BackgroundServices:
    """
    Services that answer one request after the other until :meth:`close`.

    :param label: a word for the thread and its node.
    :param services: by their names without the node's.
    """

    def __init__(
            self, owner: ServiceOwner, label: str, services: Mapping[str, BackgroundService],
            ) -> None:
        node = owner.node
        self._policy = owner.policy
        self._node = Node(
            f'_{node.get_name()}_{label}', namespace=node.get_namespace(), context=node.context,
            use_global_arguments=False, enable_rosout=False, start_parameter_services=False,
            parameter_overrides=NO_TYPE_DESCRIPTIONS)
        for name, service in services.items():
            self._node.create_service(
                service.definition, node.resolve_service_name(f'~/{name}'),
                partial(self._answer, service))
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self._node)
        self._closing = Event()
        self._thread = BackgroundThread(target=self._spin, name=label, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread, once the request that is being answered has been."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._executor.create_task(lambda: None)  # wakes the thread
        if self._thread.wait():  # else they go with the process of this node
            self._executor.shutdown()
            self._node.destroy_node()

    def call(self, function: Callable[[], None]) -> None:
        """Call a function in the thread, after the requests that are there."""
        self._executor.create_task(function)

    def _spin(self) -> None:
        while not self._closing.is_set():
            try:
                self._executor.spin_once()
            except ExternalShutdownException:
                return
            except Exception as error:  # noqa: BLE001 (the services must not end with a request)
                if not self._node.context.ok():  # its wait set is incomplete
                    return
                self._node.get_logger().error(shortened(
                    f'{self._thread.name}: {type(error).__name__}: {error}'))
                self._closing.wait(PAUSE)

    def _answer(self, service: BackgroundService, request: Any, response: Any) -> Any:
        policy = self._policy()
        if policy is None:
            response.message = NO_ROBOT
            return response
        try:
            return service.answer(policy, request)
        except RneaError as error:
            response.message = shortened(str(error))
        except Exception as error:  # noqa: BLE001 (every request gets an answer)
            response.message = shortened(f'{type(error).__name__}: {error}')
        return response
