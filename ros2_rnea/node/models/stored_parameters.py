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
"""The parameters that the node stores: checked before they are stored, read again afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import thread_time
from typing import Any, NamedTuple

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.timer import Timer
from ros2_rnea.errors import RneaError, shortened
from ros2_rnea.node import parameters
from ros2_rnea.node.parameters import NodeParameters


class _Checked(NamedTuple):
    """
    Parameters that have been checked, and that the node stores unless they are refused elsewhere.

    :ivar candidate: all parameters of the node, if it stores the changed ones.
    """

    changed: Sequence[Parameter]
    candidate: NodeParameters


class StoredParameters:
    """
    The parameters of the node, in the types of their declarations.

    Another callback of the node may refuse what has been checked here.  Therefore nothing is used
    before it is stored.

    :ivar values: those that were read last.
    :ivar transition: duration of the blend of the effort for those that are being set [s]; None:
        ``blend_time``.
    :param check: called with the new values by name, and with all parameters of the node if it
        stores them; raises RneaError where that must not be.
    :param use: called when parameters have been stored.
    """

    def __init__(
            self, node: Node, check: Callable[[Mapping[str, Any], NodeParameters], None],
            use: Callable[[], None]) -> None:
        self._node = node
        self._check = check
        self._use = use
        self.transition: float | None = None
        self._checked: _Checked | None = None
        self._may_differ = False  # whether the node may store other values than these
        self._is_declaring = False
        self._use_timer: Timer | None = None  # its callback uses what is stored, in Humble
        self._ending = ExitStack()

    def begin(self) -> None:
        """
        Read the parameters.

        :raises RneaError: where one has an invalid value.
        """
        self.values = parameters.read(parameters.values_of(self._node))
        self._checked, self._may_differ = None, False

    def follow(self) -> None:
        """Check the parameters from now on before they are set, and use them when they are."""
        self._node.add_on_set_parameters_callback(self._check_changed)
        self._ending.callback(self._node.remove_on_set_parameters_callback, self._check_changed)
        if self._has_post_set_callbacks:
            self._node.add_post_set_parameters_callback(self._on_set)
            self._ending.callback(
                self._node.remove_post_set_parameters_callback, self._on_set)

    def close(self) -> None:
        """Follow the parameters no longer."""
        self._ending.close()
        self._stop_timer()

    @property
    def _has_post_set_callbacks(self) -> bool:
        return hasattr(self._node, 'add_post_set_parameters_callback')  # not in Humble

    @property
    def are_pending(self) -> bool:
        """Return whether some are stored and not used yet."""
        return self._use_timer is not None

    def set_one(self, name: str, value: Any, transition: float | None) -> SetParametersResult:
        """
        Set a parameter as a ROS client would, and use it before returning.

        :param transition: see the attribute.
        """
        self.transition = transition
        try:
            result = self._node.set_parameters([Parameter(name, value=value)])[0]
            if self._use_timer is not None:
                self._use_stored()
        finally:
            self.transition = None
        return result

    def read(self) -> NodeParameters:
        """
        Read what is stored, unless it has just been read to be checked.

        :return: the values until now.
        :raises RneaError: where one is invalid; then the values stay, but for ``enabled: false``.
        """
        previous = self.values
        checked, self._checked = self._checked, None
        if checked is not None and all(
                self._node.get_parameter(parameter.name) is parameter
                for parameter in checked.changed):
            self.values = checked.candidate
        else:
            if not self._node.get_parameter('enabled').value:
                self.values = previous._replace(
                    settings=replace(previous.settings, enabled=False))
            self.values = parameters.read(parameters.values_of(self._node))
        self._may_differ = False
        return previous

    def declare(self, declarations: Iterator[None], longest: float) -> bool:
        """
        Declare some parameters of joints, and return whether more may remain.

        :param longest: how long [s of processor time].
        """
        self._is_declaring = True
        started = thread_time()
        try:
            for _ in declarations:
                if thread_time() - started > longest:
                    return True
        except ParameterException as error:  # refused by another callback of the node
            self._node.get_logger().warning(
                f'the parameters of some joints cannot be declared: {error}')
        finally:
            self._is_declaring = False
        return False

    # ---- callbacks of the node ------------------------------------------------------------------

    def _check_changed(self, changed: list[Parameter]) -> SetParametersResult:
        """Return whether parameters may be set."""
        if not self._is_declaring:
            new = {parameter.name: parameter.value for parameter in changed}
            self._checked = None
            try:
                # The request to send nothing is never refused, whatever else is wrong.
                if new != {'enabled': False}:
                    candidate = self._candidate(new)
                    self._check(new, candidate)
                    self._checked = _Checked(changed, candidate)
            except RneaError as error:
                return SetParametersResult(successful=False, reason=shortened(str(error)))
            if not self._has_post_set_callbacks and self._use_timer is None:
                self._use_timer = self._node.create_timer(
                    0.0, self._use_stored, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._may_differ = True
        return SetParametersResult(successful=True)

    def _candidate(self, new: Mapping[str, Any]) -> NodeParameters:
        """
        Return all parameters of the node, if it stores some new values.

        :raises RneaError: where a value is invalid.
        """
        candidate = None if self._may_differ else parameters.with_changes(self.values, new)
        if candidate is None:
            candidate = parameters.read({**parameters.values_of(self._node), **new})
        return candidate

    def _on_set(self, _: list[Parameter]) -> None:
        if not self._is_declaring:
            self._use_stored()

    def _use_stored(self) -> None:
        self._stop_timer()
        self._use()

    def _stop_timer(self) -> None:
        if self._use_timer is not None:
            self._node.destroy_timer(self._use_timer)
            self._use_timer = None
