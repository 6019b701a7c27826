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
"""A node whose callbacks cannot end its process, whatever message or request arrives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from time import monotonic
from traceback import format_exception
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.task import Future
from rclpy.timer import Timer
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node.bounds import (
    check_name,
    MAX_PARAMETERS,
    MAX_PREFIXES,
    MAX_READ_PARAMETERS,
)
from ros2_rnea.node.log_output import PrintableLogger
from ros2_rnea.node.parameter_requests import Rules, set_each, why_not_together

LOG_PERIOD = 10.0
"""Shortest time after which an unexpected error is logged again [s]."""

BOUNDS = {
    GetParameters: ('names', MAX_READ_PARAMETERS),
    GetParameterTypes: ('names', MAX_READ_PARAMETERS),
    DescribeParameters: ('names', MAX_READ_PARAMETERS),
    ListParameters: ('prefixes', MAX_PREFIXES),
    SetParameters: ('parameters', MAX_PARAMETERS),
    SetParametersAtomically: ('parameters', MAX_PARAMETERS)}
"""Field and largest number of its elements in a request to rclpy's own services, by service."""


NO_TYPE_DESCRIPTIONS = [
    Parameter('start_type_description_service', value=False)
] if find_spec('rclpy.type_description_service') else []  # since Jazzy
"""
Parameters that leave out the service ``get_type_description``.

rcl writes what is asked for into the log, as it came: any length, lines and escape sequences.
"""


class GuardedNode(Node):
    """
    A node that goes on after an unexpected exception in a callback.

    rclpy raises such an exception out of the executor, which ends the process: one unforeseen
    message would end the control of a robot.  Here all callbacks of subscriptions,
    services and timers are called in one place, also those that rclpy itself adds, such as the
    services that set parameters.  An exception is logged with its traceback, and a service answers
    that it has failed.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._logged_at: dict[tuple[str, str], float] = {}
        self._unexpected: Counter[tuple[str, str]] = Counter()
        self._guarded_services: list[Service] = []
        self._printable_logger: PrintableLogger | None = None
        overrides = [*NO_TYPE_DESCRIPTIONS, *(keywords.pop('parameter_overrides', None) or ())]
        super().__init__(*arguments, parameter_overrides=overrides, **keywords)
        self.guard_services()

    def get_logger(self) -> PrintableLogger:
        """Return the logger of the node, which escapes what is not printable."""
        if self._printable_logger is None:
            self._printable_logger = PrintableLogger(super().get_logger().name)
        return self._printable_logger

    def create_subscription(
            self, msg_type: Any, topic: str, callback: Callable, *more: Any, **keywords: Any,
            ) -> Subscription:
        """Create a subscription whose callback is guarded; parameters are those of rclpy."""
        return super().create_subscription(
            msg_type, topic, self.guarded(callback), *more, **keywords)

    def create_timer(
            self, timer_period_sec: float, callback: Callable, *more: Any, **keywords: Any,
            ) -> Timer:
        """Create a timer whose callback is guarded; parameters are those of rclpy."""
        return super().create_timer(timer_period_sec, self.guarded(callback), *more, **keywords)

    def create_service(
            self, srv_type: Any, srv_name: str, callback: Callable, *more: Any, **keywords: Any,
            ) -> Service:
        """Create a service whose callback is guarded; parameters are those of rclpy."""
        if srv_type is SetParameters:
            callback = self._set_each
        elif srv_type is SetParametersAtomically:
            callback = self._set_together(callback)
        if srv_type in BOUNDS:
            callback = self._bounded(callback, srv_name, *BOUNDS[srv_type])
        service = super().create_service(
            srv_type, srv_name, self.guarded_service(callback), *more, **keywords)
        self._guarded_services.append(service)
        return service

    def guard_services(self) -> None:
        """Guard the services that rclpy has created without :meth:`create_service`."""
        for service in self.services:
            if service not in self._guarded_services:
                service.callback = self.guarded_service(service.callback)
                self._guarded_services.append(service)

    def guarded(self, callback: Callable) -> Callable:
        """Return a callback that reports exceptions instead of raising them."""
        @wraps(callback)
        def call(*arguments: Any) -> Any:
            try:
                return callback(*arguments)
            except ExternalShutdownException:
                raise
            except Exception as error:  # noqa: BLE001 (no message may end the node)
                self.report_unexpected(_name(callback), error)
                return None

        return call

    def guarded_service(self, callback: Callable) -> Callable:
        """Return the callback of a service that answers with a failure in place of an error."""
        @wraps(callback)
        def answer(request: Any, response: Any) -> Any:
            try:
                return callback(request, response)
            except ExternalShutdownException:
                raise
            except Exception as error:  # noqa: BLE001 (no request may end the node)
                self.report_unexpected(_name(callback), error)
                return _failure(request, response, f'{type(error).__name__}: {error}')

        return answer

    def _bounded(self, callback: Callable, service: str, field: str, most: int) -> Callable:
        """Return the callback of a service that refuses requests with too many elements."""
        @wraps(callback)
        def answer(request: Any, response: Any) -> Any:
            elements = getattr(request, field)
            reason = _why_too_large(elements, field, most)
            if not reason:
                return callback(request, response)
            self.get_logger().warning(f'{service}: {reason}', throttle_duration_sec=LOG_PERIOD)
            if isinstance(response, SetParameters.Response):  # one result for all
                response.results = [SetParametersResult(successful=False, reason=reason)]
                return response
            return _failure(request, response, reason)

        return answer

    def _set_each(self, request: Any, response: Any) -> Any:
        """Set parameters, each of which has its own result."""
        response.results = set_each(
            self, self.parameter_rules(), request.parameters,
            lambda error: self.report_unexpected('set_parameters', error))
        return response

    def _set_together(self, callback: Callable) -> Callable:
        """Return the callback of a service that sets all parameters or none."""
        @wraps(callback)
        def answer(request: Any, response: Any) -> Any:
            reason = why_not_together(self, request.parameters)
            if reason:
                response.result = SetParametersResult(successful=False, reason=reason)
                return response
            return callback(request, response)

        return answer

    def parameter_rules(self) -> Rules:
        """Return what is known of the node's parameters."""
        return Rules()

    def report_unexpected(self, where: str, error: Exception) -> None:
        """
        Log an unexpected exception with its traceback.

        :param where: the callback that has raised it.
        """
        kind, now = (where, type(error).__name__), monotonic()
        self._unexpected[kind] += 1
        if now - self._logged_at.get(kind, -LOG_PERIOD) < LOG_PERIOD:
            return
        self._logged_at[kind] = now
        times = self._unexpected[kind]
        self.get_logger().error(
            f'unexpected error in {where}{f", {times} times so far" if times > 1 else ""}; the '
            f'node goes on. Please report it: {"".join(format_exception(error))}')

    @property
    def unexpected_errors(self) -> int:
        """Return the number of unexpected exceptions so far."""
        return sum(self._unexpected.values())


def call_when_done(node: Node, future: Future, callback: Callable) -> None:
    """
    Call back when a future is done, guarded like the callbacks of the node.

    rclpy calls it from the executor, which an exception ends; EventsExecutor then crashes.
    """
    future.add_done_callback(
        node.guarded(callback) if isinstance(node, GuardedNode) else callback)


def _name(callback: Callable) -> str:
    return str(getattr(callback, '__qualname__', callback))


def _why_too_large(elements: Any, field: str, most: int) -> str:
    """Return why a list in a request about parameters is refused; empty where it is not."""
    if len(elements) > most:
        return f'the request has {len(elements)} {field}; at most {most} are accepted'
    if field == 'parameters':  # each has a result of its own
        return ''
    try:
        for name in elements:
            check_name('the name of a parameter', name)
    except ArgumentError as error:
        return str(error)
    if len({*elements}) < len(elements):  # each large value would be copied as often
        return f'the request has one of its {field} twice'
    return ''


def _failure(request: Any, response: Any, reason: str) -> Any:
    """Return the response of a service that has failed."""
    failure = type(response)()
    refused = SetParametersResult(successful=False, reason=reason)
    if isinstance(request, SetParameters.Request):
        failure.results = [refused for _ in request.parameters]
    elif isinstance(request, SetParametersAtomically.Request):
        failure.result = refused
    elif hasattr(failure, 'message'):  # success is false
        failure.message = reason
    return failure
