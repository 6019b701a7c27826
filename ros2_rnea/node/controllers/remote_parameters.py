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
"""The parameters of another node, read periodically and without blocking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future
from ros2_rnea.node.guarded_node import call_when_done

POLLS_PER_REQUEST, MAX_POLLS_PER_REQUEST = 3, 48
"""
First and largest number of polls without an answer after which the request is sent again.

The number doubles each time, because a late answer does not count: if each answer took longer than
the polls, none would ever count.
"""


class RemoteParameters:
    """
    Reads some parameters of a node each time that :meth:`poll` is called.

    If one requested parameter is not declared, the other node returns none at all, and versions of
    controllers differ in their parameters.  Therefore it is first asked which parameters it has.
    These two clients cost less than rclpy's AsyncParameterClient, which creates clients of all six
    parameter services.

    :param name: of the other node, relative to the namespace of this node.
    :param wanted: the names of the parameters.
    :param on_answer: called with the declared ones of these parameters, by name, or with None
        while the other node does not run.
    """

    def __init__(
            self,
            node: Node,
            name: str,
            wanted: Sequence[str],
            on_answer: Callable[[dict[str, Any] | None], None]) -> None:
        self.name = name
        self._node = node
        self.wanted = wanted
        self._on_answer = on_answer
        self._list = node.create_client(ListParameters, f'{name}/list_parameters')
        self._get = node.create_client(GetParameters, f'{name}/get_parameters')
        self._pending: tuple[Client, Future] | None = None
        self._polls, self._patience = 0, POLLS_PER_REQUEST

    def poll(self) -> None:
        """Request the parameters, unless an answer is pending."""
        if not self._is_ready():
            self._cancel()
            self._on_answer(None)
            return
        self._polls += 1
        if self._pending is None or self._polls >= self._patience:
            self._patience = POLLS_PER_REQUEST if self._pending is None else min(
                2 * self._patience, MAX_POLLS_PER_REQUEST)
            self._cancel()
            self._ask(self._list, ListParameters.Request(), self._on_names)

    def look_again(self) -> None:
        """Request the parameters of a node that may have started since the last :meth:`poll`."""
        if self._pending is None and self._is_ready():
            self._ask(self._list, ListParameters.Request(), self._on_names)

    def ask_anew(self) -> None:
        """Request the parameters of a node that has just appeared; an older request is void."""
        self._cancel()
        self._patience = POLLS_PER_REQUEST
        self.look_again()

    def close(self) -> None:
        """Stop reading."""
        self._cancel()
        for client in (self._list, self._get):
            self._node.destroy_client(client)

    def _is_ready(self) -> bool:
        return self._list.service_is_ready() and self._get.service_is_ready()

    def _ask(self, client: Client, request: Any, then: Callable[[Any], None]) -> None:
        future = client.call_async(request)
        self._pending = client, future

        def on_done(done: Future) -> None:
            if self._pending == (client, done):  # else it was cancelled
                self._pending = None
                then(done.result())

        call_when_done(self._node, future, on_done)

    def _cancel(self) -> None:
        self._polls = 0
        if self._pending is not None:
            client, future = self._pending
            self._pending = None
            client.remove_pending_request(future)

    def _on_names(self, response: Any) -> None:
        there = set(response.result.names)
        names = [name for name in self.wanted if name in there]
        self._ask(self._get, GetParameters.Request(names=names), lambda answer: self._on_answer(
            dict(zip(names, map(parameter_value_to_python, answer.values)))))
