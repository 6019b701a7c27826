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
"""What the node asks the controllers with which it works, and what follows from the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node.controllers.effort_controller import EFFORT, EffortController, MANAGER
from ros2_rnea.node.controllers.receivers import Receivers
from ros2_rnea.node.controllers.trajectory_controller import TRAJECTORY, TrajectoryController
from ros2_rnea.node.diagnostics import Diagnostics


class Controllers:
    """
    Asks the two controllers that the node works with, never waiting for an answer.

    :param topic: the fully qualified name of ~/commands.
    :param receivers: who receives them.
    :param changed: called when the result of :meth:`reason_to_send_nothing` or of
        :meth:`held_joints` may have changed.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, topic: str, receivers: Receivers,
            changed: Callable[[], object]) -> None:
        self._node = node
        self._effort = EffortController(node, diagnostics, topic, receivers, changed)
        self._trajectory = TrajectoryController(node, diagnostics)

    @property
    def effort_controller(self) -> str:
        """Return the full name of the node that receives ~/commands; empty: it is not known."""
        return self._effort.node_name

    @property
    def trajectory_joints(self) -> tuple[str, ...]:
        """Return the joints of the trajectory controller; none while they are not known."""
        return self._trajectory.joints

    def poll(self) -> None:
        """Ask the controllers; only while the parameters of the node are valid."""
        self._effort.poll()
        self._trajectory.poll()

    def reason_to_send_nothing(self, own: Mapping[str, Any]) -> str:
        """
        Return why no efforts may be sent to the effort controller; empty where they may be sent.

        :param own: the values of the node's parameters.
        :raises ArgumentError: where a parameter is not the name of a node.
        """
        self.check_names(own)
        return self._effort.reason_to_send_nothing(own)

    def may_reach_other_joints(self, own: Mapping[str, Any]) -> bool:
        """
        Return whether efforts could reach other joints than they are meant for.

        :param own: the values of the node's parameters.
        :raises ArgumentError: where a parameter is not the name of a node.
        """
        self.check_names(own)
        return self._effort.may_reach_other_joints(own)

    def held_joints(self) -> tuple[frozenset[str], str]:
        """
        Return the joints whose position or velocity active controllers command.

        :return: their names, and a text that says how they are known.
        """
        return self._effort.held_joints()

    def check_names(self, own: Mapping[str, Any]) -> None:
        """
        Check the names of controllers.

        :param own: values of some of the node's parameters.
        :raises ArgumentError: where one of them is not the name of a node.
        """
        for role in own.keys() & {EFFORT, MANAGER, TRAJECTORY}:
            try:
                self._node.resolve_service_name(f'{own[role]}/get_parameters')
            except (RuntimeError, NameValidationException) as error:  # by version of rclpy
                raise ArgumentError(
                    f'{role} is {own[role]!r}; it needs the name of a node, or an empty text'
                    ) from error
