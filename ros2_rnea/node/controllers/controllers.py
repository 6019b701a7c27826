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
"""The controllers around the node: whether they and our parameters fit together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea.errors import ArgumentError
from ros2_rnea.feedforward.reference.controller_rules import (
    ControllerRules,
    not_as_the_trajectory_says,
    PARAMETERS,
)
from ros2_rnea.node.controllers.remote_parameters import RemoteParameters
from ros2_rnea.node.diagnostics import Diagnostics

EFFORT, TRAJECTORY = 'effort_controller', 'trajectory_controller'
"""Our parameters that name them."""

ABSENCES = 3
"""After how many looks that did not find a controller it is gone, and not only out of hearing."""


class Controllers:
    """
    Looks at the controllers that two parameters name, and goes on looking.

    Of the one that takes ~/commands the joints must be ours, in their order, as commands carry no
    names: until that is known, and where it is not so, nothing is sent.  Of the other, which is a
    joint_trajectory_controller, the rules become ours.

    :param changed: called when :meth:`objection` may be another one.
    :param lost: called when the controller of efforts is gone, and with it what it held.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, changed: Callable[[], None],
            lost: Callable[[], None]) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._changed = changed
        self._lost = lost
        self._absences = 0
        self._readers: dict[str, RemoteParameters] = {}
        self._answers: dict[str, dict[str, Any] | None] = {}

    def poll(self) -> None:
        """Ask the controllers once more."""
        own = {name: self._node.get_parameter(name).value
               for name in (EFFORT, TRAJECTORY, 'joints')}
        self._read(EFFORT, own[EFFORT], ('joints', 'interface_name'), self._on_effort_controller)
        self._read(TRAJECTORY, own[TRAJECTORY], PARAMETERS, self._on_trajectory_controller)
        self._tell(own)

    def objection(self, own: Mapping[str, Any]) -> str:
        """
        Return why the controller of efforts must not be sent any; empty: it may.

        :param own: the values of our parameters.
        :raises ArgumentError: where one names no node.
        """
        for role in (EFFORT, TRAJECTORY):
            self._check_name(role, own[role])
        name = own[EFFORT]
        return _objection(name, self._answer(EFFORT, name), own['joints']) if name else ''

    def _check_name(self, role: str, name: str) -> None:
        try:
            self._node.resolve_service_name(f'{name}/get_parameters')
        except (RuntimeError, NameValidationException) as error:  # by version of rclpy
            raise ArgumentError(
                f'{role} is {name!r}; it needs the name of a node, or nothing') from error

    def _answer(self, role: str, name: str) -> dict[str, Any] | None:
        """Return what is known of a controller; None where it is not there."""
        reader = self._readers.get(role)
        return self._answers.get(role) if reader is not None and reader.name == name else None

    def _read(
            self, role: str, name: str, wanted: Sequence[str],
            on_answer: Callable[[dict[str, Any] | None], None]) -> None:
        reader = self._readers.get(role)
        if reader is not None and reader.name != name:
            reader.close()
            del self._readers[role]
            self._answers.pop(role, None)
            self._diagnostics.notice(role, '')
            if role == EFFORT:  # another one holds nothing of ours
                self._lost()
        if name and role not in self._readers:
            self._readers[role] = RemoteParameters(self._node, name, wanted, on_answer)
        if name:
            self._readers[role].poll()

    # ---- the controller of efforts --------------------------------------------------------------

    def _on_effort_controller(self, values: dict[str, Any] | None) -> None:
        if values != self._answers.get(EFFORT):
            self._answers[EFFORT] = values
            self._changed()
        self._absences = self._absences + 1 if values is None else 0
        if self._absences == ABSENCES:
            self._lost()

    def _tell(self, own: Mapping[str, Any]) -> None:
        if own[EFFORT]:
            is_there = self._answer(EFFORT, own[EFFORT]) is not None
            self._diagnostics.notice(EFFORT, self.objection(own), is_error=is_there)

    # ---- the controller of trajectories ---------------------------------------------------------

    def _on_trajectory_controller(self, values: dict[str, Any] | None) -> None:
        is_new = values != self._answers.get(TRAJECTORY)
        self._answers[TRAJECTORY] = values
        name = self._readers[TRAJECTORY].name
        if values is None:
            self._diagnostics.notice(
                TRAJECTORY, f'{name!r} is not there: the parameters that are its rules stay')
        elif not _are_names(values.get('command_interfaces')):
            self._diagnostics.notice(
                TRAJECTORY, f'{name!r} is no joint_trajectory_controller: it has no parameter '
                'command_interfaces')
        elif is_new:
            self._follow(name, values)

    def _follow(self, name: str, values: dict[str, Any]) -> None:
        """Make the rules of a controller ours."""
        rules = asdict(ControllerRules.from_parameters(values))
        other = {rule: value for rule, value in rules.items()
                 if self._node.get_parameter(rule).value != value}
        result = self._node.set_parameters_atomically(
            [Parameter(rule, value=value) for rule, value in other.items()])
        if not result.successful:
            self._diagnostics.notice(
                TRAJECTORY, f'the rules of {name!r} are not taken over: {result.reason}')
            return
        for rule, value in other.items():
            self._node.get_logger().info(f'{rule} is {str(value).lower()} now, as for {name!r}')
        changes = not_as_the_trajectory_says(values)
        said = ', '.join(f'{parameter}: {change}' for parameter, change in changes.items())
        self._diagnostics.notice(TRAJECTORY, '' if not changes else (
            f'{name!r} moves otherwise than its trajectories say ({said}): let its '
            'controller_state be heard'))


def _objection(name: str, values: Mapping[str, Any] | None, joints: Sequence[str]) -> str:
    """Return why a controller with these parameters must not be sent efforts of these joints."""
    if values is None:
        return f'{name!r} is not there: nothing is sent before its joints are known'
    theirs = values.get('joints')
    if not theirs or not _are_names(theirs):
        return f'{name!r} has no parameter joints: it is no controller that takes ~/commands'
    interface = values.get('interface_name') or 'effort'
    if interface != 'effort':
        return (f'{name!r} would take efforts for its interface {interface!r}: nothing is sent; '
                'set its parameter   interface_name: effort')
    if list(theirs) != list(joints):
        return (f'{name!r} takes the joints {", ".join(theirs)}; joints here are '
                f'{", ".join(joints) or "none"}: nothing is sent; set   '
                f'joints: [{", ".join(theirs)}]')
    return ''


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
