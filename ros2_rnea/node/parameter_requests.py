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
Requests to set parameters, answered in a time that does not grow with their number.

rclpy sets the parameters of a request one after the other, and the node reads and applies all of
its parameters each time.  Here a value that does not change is not set, and the others are set
together.  If they are refused together, the node searches for those that have to be refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from time import thread_time
from typing import Any, NamedTuple

from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node.bounds import check_parameter, MAX_CHANGED_PARAMETERS

LONGEST_SEARCH = 0.006
"""Longest search for the parameters that have to be refused [s of processor time]."""

PARAMETER_TYPES = frozenset(kind.value for kind in Parameter.Type)
"""The types of parameter values that rclpy knows."""

SUCCESS = SetParametersResult(successful=True)


class Rules(NamedTuple):
    """
    What a node knows of its parameters.

    :ivar why_impossible: returns why a value is refused whatever the others are; empty where that
        depends on them.  It has to be quick.
    :ivar comes_first: tells whether a rcl_interfaces/Parameter is set before the others and by
        itself; then no other value of the same parameter counts.
    """

    why_impossible: Callable[[Parameter], str] = lambda _: ''
    comes_first: Callable[[Any], bool] = lambda _: False


def set_each(
        node: Node, rules: Rules, messages: Sequence[Any],
        report: Callable[[Exception], None]) -> list[SetParametersResult]:
    """
    Set parameters, of which each has its own result, and a refused one does not stop the others.

    :param messages: rcl_interfaces/Parameter; of a parameter that is named twice, the last value
        counts, unless there is one that comes first.
    :param report: called with each unexpected exception.
    """
    changes = _Changes(node, report)
    counting: dict[str, int] = {}  # which index, by name
    readable: dict[int, Any] = {}
    for index, message in enumerate(messages):
        reason = _why_impossible(node, message)
        if not reason and node.describe_parameter(message.name).read_only:  # all others may be set
            reason = f'{message.name} is read-only: it can be set only when the node is started'
        if reason:
            changes.refuse(index, reason)
            continue
        readable[index] = _as_in_a_file(node, message)
        before = counting.get(message.name)
        if before is None or not rules.comes_first(messages[before]):
            counting[message.name] = index
    for index, message in readable.items():
        counts = counting[message.name]
        if index != counts:
            changes.refuse(index, f'{message.name} is named twice in this request; value number '
                           f'{counts + 1} of the request is used')
        elif is_unchanged(node, message):
            changes.results[index] = SUCCESS
        else:
            parameter = Parameter.from_parameter_msg(message)
            impossible = rules.why_impossible(parameter)
            if impossible:
                changes.refuse(index, impossible)
            else:
                changes.due[index] = parameter
    for index in [*changes.due]:
        if rules.comes_first(messages[index]):
            changes.apply([index])
    others = [index for index in changes.due if index not in changes.results]
    if len(others) <= MAX_CHANGED_PARAMETERS:
        changes.apply(others)
    else:
        for index in others:
            changes.refuse(index, _why_too_many(len(others)))
    return [changes.results[index] for index in range(len(messages))]


def why_not_together(node: Node, messages: Sequence[Any]) -> str:
    """Return why parameters cannot be set together; empty where nothing is seen against it."""
    changed = 0
    names = Counter(message.name for message in messages)
    for message in messages:
        reason = _why_impossible(node, message) or (
            f'{message.name} is named twice in this request' if names[message.name] > 1 else '')
        if reason:
            return reason
        changed += not is_unchanged(node, message)
    return _why_too_many(changed) if changed > MAX_CHANGED_PARAMETERS else ''


def _as_in_a_file(node: Node, message: Any) -> Any:
    """
    Return a parameter with the value of the file from which `ros2 param load` has read it.

    rclpy turns each value of the file into a text and reads that: no value, an infinite one and
    1e-05 arrive as texts, where this node has numbers.
    """
    if message.value.type != Parameter.Type.STRING.value:
        return message
    text, kind = message.value.string_value, node.get_parameter(message.name).type_
    if kind is Parameter.Type.NOT_SET and text == str(None):
        return Parameter(message.name, kind).to_parameter_msg()
    if kind is Parameter.Type.DOUBLE:
        with suppress(ValueError):
            return Parameter(message.name, kind, float(text)).to_parameter_msg()
    return message


def is_unchanged(node: Node, message: Any) -> bool:
    """Return whether a declared parameter that may be set has a value already."""
    present = node.get_parameter(message.name)
    kind = present.type_.value
    if kind != message.value.type or node.describe_parameter(message.name).read_only:
        return False
    if kind == Parameter.Type.NOT_SET.value:
        return True
    value, now = getattr(message.value, _FIELDS[kind]), present.value
    return list(value) == list(now) if kind in _ARRAYS else value == now


_FIELDS = {
    Parameter.Type.BOOL.value: 'bool_value',
    Parameter.Type.INTEGER.value: 'integer_value',
    Parameter.Type.DOUBLE.value: 'double_value',
    Parameter.Type.STRING.value: 'string_value',
    Parameter.Type.BYTE_ARRAY.value: 'byte_array_value',
    Parameter.Type.BOOL_ARRAY.value: 'bool_array_value',
    Parameter.Type.INTEGER_ARRAY.value: 'integer_array_value',
    Parameter.Type.DOUBLE_ARRAY.value: 'double_array_value',
    Parameter.Type.STRING_ARRAY.value: 'string_array_value'}

_ARRAYS = frozenset(kind for kind, field in _FIELDS.items() if field.endswith('array_value'))


class _Changes:
    """
    The parameters of a request that change.

    :ivar due: the parameters by their index in the request.
    :ivar results: by the same index.
    """

    def __init__(self, node: Node, report: Callable[[Exception], None]) -> None:
        self._node = node
        self._report = report
        self._until = thread_time() + LONGEST_SEARCH
        self.due: dict[int, Parameter] = {}
        self.results: dict[int, SetParametersResult] = {}

    def refuse(self, index: int, reason: str) -> None:
        """Refuse a parameter."""
        self.results[index] = SetParametersResult(successful=False, reason=reason)

    def apply(self, indices: Sequence[int]) -> None:
        """Set parameters together, or else both halves of them by themselves."""
        if not indices:
            return
        result = self._set_together([self.due[index] for index in indices])
        if result.successful or len(indices) == 1:
            self.results.update((index, result) for index in indices)
        elif thread_time() > self._until:
            for index in indices:
                self.refuse(index, (
                    'it is refused together with others of this request, and there are too many '
                    f'to try each: set it in a request of its own. Together: {result.reason}'))
        else:
            for part in _halves(indices):
                self.apply(part)

    def _set_together(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            return self._node.set_parameters_atomically(parameters)
        except Exception as error:  # noqa: BLE001 (no request may end the node)
            self._report(error)
            return SetParametersResult(
                successful=False, reason=f'{type(error).__name__}: {error}')


def _halves(indices: Sequence[int]) -> Iterator[Sequence[int]]:
    middle = len(indices) // 2
    yield indices[:middle]
    yield indices[middle:]


def _why_impossible(node: Node, message: Any) -> str:
    """Return why a parameter cannot be set, by what is seen without reading its value."""
    name, kind = message.name, message.value.type
    if kind not in PARAMETER_TYPES:
        return (f'{name[:100]} has a value of type {kind}; the types of '
                'rcl_interfaces/ParameterType are '
                f'{min(PARAMETER_TYPES)} to {max(PARAMETER_TYPES)}')
    try:
        check_parameter(
            name, getattr(message.value, _FIELDS[kind]) if kind in _FIELDS else None)
    except ArgumentError as error:
        return str(error)
    if not node.has_parameter(name):
        return str(ParameterNotDeclaredException([name]))
    return ''


def _why_too_many(count: int) -> str:
    return (
        f'the request changes {count} parameters; at most {MAX_CHANGED_PARAMETERS} can change '
        'in one request: use several')
