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
"""What a controller manager says of its controllers, asked for without blocking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.client import Client
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from ros2_rnea.node.controllers.activation import ACTIVE, ControllerKind, ManagerReport
from ros2_rnea.node.guarded_node import call_when_done

try:
    from controller_manager_msgs.srv import ListControllers
except ImportError:
    ListControllers = None

try:
    from controller_manager_msgs.msg import ControllerManagerActivity
except ImportError:  # before Jazzy
    ControllerManagerActivity = None

ACTIVITY = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The QoS of ~/activity as controller managers publish it, with room for several changes."""

POLLS_PER_REQUEST = 3
"""Number of polls without an answer after which the list is requested again."""


class ControllerManager:
    """
    Follows a controller manager, wherever one runs and controller_manager_msgs is installed.

    Where it publishes ``~/activity``, each change is seen at once, and the service
    ``~/list_controllers`` is only asked which kinds of controllers there are; in older releases
    the service is asked at each :meth:`poll`.

    :param name: fully qualified.
    :param on_report: called with the last report when it or :attr:`kinds` may have changed; with
        None when the controller manager has gone.
    :ivar kinds: all controllers that have been listed, by name.
    """

    def __init__(
            self,
            node: Node,
            name: str,
            on_report: Callable[[ManagerReport | None], None]) -> None:
        self.name = name
        self.kinds: dict[str, ControllerKind] = {}
        self._node = node
        self._on_report = on_report
        self._activity_topic = f'{name}/activity'
        self._has_activity = False
        self._report: ManagerReport | None = None
        self._pending: Future | None = None
        self._polls = 0
        self._list: Client | None = None
        self._subscription = None
        if ListControllers is not None:
            self._list = node.create_client(ListControllers, f'{name}/list_controllers')
        if ControllerManagerActivity is not None:
            self._subscription = node.create_subscription(
                ControllerManagerActivity, self._activity_topic, self._on_activity, ACTIVITY)

    @property
    def awaits_answer(self) -> bool:
        """Return whether it runs, and it is not known yet what its active controllers command."""
        if self._report is None:
            return self._list is not None and self._list.service_is_ready()
        return any(state == ACTIVE and name not in self.kinds
                   for name, state in self._report.controllers.items())

    def poll(self) -> None:
        """Look whether the controller manager is still there, and ask for what is not known."""
        if self._has_activity and not self._node.count_publishers(self._activity_topic):
            self._has_activity = False
        is_ready = self._list is not None and self._list.service_is_ready()
        if not self._has_activity and not is_ready and self._report is not None:
            self._report = None
            self._on_report(None)
        self._polls += 1
        if not is_ready:
            self._cancel()
        elif self._pending is None and not (self._has_activity and self.kinds):
            self._request()
        elif self._pending is not None and self._polls >= POLLS_PER_REQUEST:
            self._cancel()
            self._request()

    def look_again(self) -> None:
        """Ask a controller manager that may have started since the last :meth:`poll`."""
        if self._pending is None and self.awaits_answer:
            self._request()

    def close(self) -> None:
        """Stop following."""
        self._cancel()
        if self._list is not None:
            self._node.destroy_client(self._list)
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)

    def _on_activity(self, message: Any) -> None:
        self._has_activity = True
        self._report = ManagerReport(
            {each.name: each.state.label for each in message.controllers},
            {each.name: each.state.label for each in message.hardware_components})
        self._on_report(self._report)
        if self._list is not None and self._list.service_is_ready():
            self._cancel()
            self._request()  # controllers may have been loaded or configured

    def _request(self) -> None:
        if self._list is not None:
            self._polls = 0
            self._pending = self._list.call_async(ListControllers.Request())
            call_when_done(self._node, self._pending, self._on_list)

    def _cancel(self) -> None:
        if self._list is not None and self._pending is not None:
            self._list.remove_pending_request(self._pending)
        self._pending = None

    def _on_list(self, done: Future) -> None:
        if done is not self._pending:  # this request was cancelled
            return
        self._pending = None
        controllers = done.result().controller
        for each in controllers:
            interfaces = tuple(each.required_command_interfaces)
            if interfaces or each.state in (ACTIVE, 'inactive'):  # none before configuration
                self.kinds[each.name] = ControllerKind(each.type, interfaces)
        if not self._has_activity:
            self._report = ManagerReport({each.name: each.state for each in controllers})
        self._on_report(self._report)  # the same report, but other kinds may be known now
