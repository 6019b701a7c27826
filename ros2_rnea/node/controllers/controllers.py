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
"""Checks that the parameters of the controllers and of the node fit together."""

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
    deviations_from_trajectory,
    parameters_to_read,
)
from ros2_rnea.node.controllers.remote_parameters import RemoteParameters
from ros2_rnea.node.diagnostics import Diagnostics

EFFORT, TRAJECTORY = 'effort_controller', 'trajectory_controller'
"""The node's parameters that name the controllers."""


class Controllers:
    """
    Polls the parameters of the two controllers that the node's parameters name.

    The effort controller receives ~/commands, which contain no joint names.  Therefore its joints
    must be those of the node, in the same order; until that is known, and where it is not the
    case, nothing is sent.  From the joint_trajectory_controller the node copies the rules by which
    trajectories are followed.

    :param changed: called when the result of :meth:`reason_to_send_nothing` may have changed.
    :ivar effort_controller: the name of the controller that receives ~/commands; empty where the
        parameters do not say.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, changed: Callable[[], None]) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._changed = changed
        self.effort_controller = ''
        self._readers: dict[str, RemoteParameters] = {}
        self._answers: dict[str, dict[str, Any] | None] = {}
        self._refusal = ''  # why the trajectory controller's rules were not adopted

    def begin(self) -> None:
        """Use the parameters, which have been checked."""
        self.effort_controller = self._node.get_parameter(EFFORT).value

    def poll(self) -> None:
        """Request the parameters of the controllers; only while those of the node are valid."""
        own = {name: self._node.get_parameter(name).value
               for name in (EFFORT, TRAJECTORY, 'joints')}
        self.effort_controller = own[EFFORT]
        self._read(EFFORT, own[EFFORT], ('joints', 'interface_name'), self._on_effort_controller)
        self._read(
            TRAJECTORY, own[TRAJECTORY], parameters_to_read(own['joints']),
            self._on_trajectory_controller)
        self._report_effort_controller(own)

    def reason_to_send_nothing(self, own: Mapping[str, Any]) -> str:
        """
        Return why no efforts may be sent to the effort controller; empty where they may be sent.

        :param own: the values of the node's parameters.
        :raises ArgumentError: where a parameter is not the name of a node.
        """
        self.check_names(own)
        name = own[EFFORT]
        return _mismatch(name, self._answer(EFFORT, name), own['joints']) if name else ''

    def check_names(self, own: Mapping[str, Any]) -> None:
        """
        Check the names of controllers.

        :param own: values of some of the node's parameters.
        :raises ArgumentError: where one of them is not the name of a node.
        """
        for role in own.keys() & {EFFORT, TRAJECTORY}:
            try:
                self._node.resolve_service_name(f'{own[role]}/get_parameters')
            except (RuntimeError, NameValidationException) as error:  # by version of rclpy
                raise ArgumentError(
                    f'{role} is {own[role]!r}; it needs the name of a node, or an empty text'
                    ) from error

    @property
    def trajectory_joints(self) -> tuple[str, ...]:
        """Return the joints of the trajectory controller; none while they are not known."""
        joints = (self._answers.get(TRAJECTORY) or {}).get('joints') or ()
        return tuple(joints) if _are_names(joints) else ()

    def _answer(self, role: str, name: str) -> dict[str, Any] | None:
        """Return the parameters of a controller; None while it is not available."""
        reader = self._readers.get(role)
        return self._answers.get(role) if reader is not None and reader.name == name else None

    def _read(
            self, role: str, name: str, wanted: Sequence[str],
            on_answer: Callable[[dict[str, Any] | None], None]) -> None:
        reader = self._readers.get(role)
        if reader is not None and (reader.name, reader.wanted) != (name, wanted):
            reader.close()
            del self._readers[role]
            self._answers.pop(role, None)
            self._diagnostics.notice(role, '')
        if name and role not in self._readers:
            self._readers[role] = RemoteParameters(self._node, name, wanted, on_answer)
        if name:
            self._readers[role].poll()

    # ---- the effort controller ------------------------------------------------------------------

    def _on_effort_controller(self, values: dict[str, Any] | None) -> None:
        if values != self._answers.get(EFFORT):
            self._answers[EFFORT] = values
            self._changed()

    def _report_effort_controller(self, own: Mapping[str, Any]) -> None:
        if own[EFFORT]:
            is_running = self._answer(EFFORT, own[EFFORT]) is not None
            self._diagnostics.notice(EFFORT, self.reason_to_send_nothing(own), is_error=is_running)

    # ---- the trajectory controller --------------------------------------------------------------

    def _on_trajectory_controller(self, values: dict[str, Any] | None) -> None:
        is_new = values != self._answers.get(TRAJECTORY)
        self._answers[TRAJECTORY] = values
        name = self._readers[TRAJECTORY].name
        if values is None:
            self._diagnostics.notice(
                TRAJECTORY, f'{name!r} is not available: the present rules for trajectories stay')
        elif not _are_names(values.get('command_interfaces')):
            self._diagnostics.notice(
                TRAJECTORY, f'{name!r} is not a joint_trajectory_controller: it has no parameter '
                'command_interfaces')
        else:
            if is_new:
                self._refusal = self._copy_rules(name, values)
            self._diagnostics.notice(TRAJECTORY, self._refusal or self._deviations(name, values))

    def _deviations(self, name: str, values: dict[str, Any]) -> str:
        """Return how a controller deviates from its trajectories, where that is not seen."""
        deviations = deviations_from_trajectory(values)
        if not deviations or self._node.count_publishers('controller_state'):
            return ''
        reasons = ', '.join(f'{rule}: {reason}' for rule, reason in deviations.items())
        return (f'the motion of {name!r} differs from its trajectories ({reasons}): let the node '
                'receive its controller_state')

    def _copy_rules(self, name: str, values: dict[str, Any]) -> str:
        """Set the node's rules for trajectories to a controller's, or return why that failed."""
        rules = asdict(ControllerRules.from_parameters(values))
        changed = {rule: value for rule, value in rules.items()
                   if self._node.get_parameter(rule).value != value}
        result = self._node.set_parameters_atomically(
            [Parameter(rule, value=value) for rule, value in changed.items()])
        if not result.successful:
            return f'the rules of {name!r} are not adopted: {result.reason}'
        for rule, value in changed.items():
            self._node.get_logger().info(f'{rule} is now {str(value).lower()}, as in {name!r}')
        return ''


def _mismatch(name: str, values: Mapping[str, Any] | None, joints: Sequence[str]) -> str:
    """Return why a controller must not receive efforts of these joints; empty where it may."""
    if values is None:
        return f'{name!r} is not available: nothing is sent until its joints are known'
    theirs = values.get('joints')
    if not theirs or not _are_names(theirs):
        return f'{name!r} has no parameter joints: it is not a controller that receives ~/commands'
    interface = values.get('interface_name') or 'effort'
    if interface != 'effort':
        return (f'{name!r} would write efforts to its interface {interface!r}: nothing is sent; '
                'set its parameter   interface_name: effort')
    if list(theirs) != list(joints):
        return (f'{name!r} has the joints {", ".join(theirs)}; those of this node are '
                f'{", ".join(joints) or "none"}: nothing is sent; set   '
                f'joints: [{", ".join(theirs)}]')
    return ''


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
