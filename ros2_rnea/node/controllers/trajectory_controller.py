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
"""The joint_trajectory_controller whose rules for trajectories the node adopts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea.control.target.controller_rules import (
    ControllerRules,
    deviations_from_trajectory,
    parameters_to_read,
)
from ros2_rnea.node.controllers.remote_parameters import RemoteParameters
from ros2_rnea.node.diagnostics import Diagnostics

TRAJECTORY = 'trajectory_controller'
"""The node's parameter that names the controller."""


class TrajectoryController:
    """
    Copies the rules by which a controller follows trajectories into the node's parameters.

    They are copied each time that they change there, or that the controller comes back.
    """

    def __init__(self, node: Node, diagnostics: Diagnostics) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._parameters: RemoteParameters | None = None
        self._answer: dict[str, Any] | None = None
        self._refusal = ''  # why the rules were not adopted

    @property
    def joints(self) -> tuple[str, ...]:
        """Return the joints of the controller; none while they are not known."""
        joints = (self._answer or {}).get('joints') or ()
        return tuple(joints) if _are_names(joints) else ()

    def poll(self) -> None:
        """Request the parameters of the controller."""
        name = self._node.get_parameter(TRAJECTORY).value
        wanted = parameters_to_read(self._node.get_parameter('joints').value)
        if self._parameters is not None and (
                self._parameters.name, self._parameters.wanted) != (name, wanted):
            self._parameters.close()
            self._parameters = self._answer = None
            self._diagnostics.notice(TRAJECTORY, '')
        if name and self._parameters is None:
            self._parameters = RemoteParameters(
                self._node, name, wanted, lambda values: self._on_answer(name, values))
        if self._parameters is not None:
            self._parameters.poll()

    def _on_answer(self, name: str, values: dict[str, Any] | None) -> None:
        is_new = values != self._answer
        self._answer = values
        if values is None:
            self._diagnostics.waiting(
                TRAJECTORY,
                f'{name!r} is not available, and its parameters cannot be read: the node keeps '
                'its own five trajectory parameters')
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
            return f'the trajectory parameters of {name!r} cannot be used: {result.reason}'
        for rule, value in changed.items():
            self._node.get_logger().info(f'{rule} is now {str(value).lower()}, as in {name!r}')
        return ''


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
