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
"""What parameters, description and payloads amount to: made whole, then put in force at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.timer import Timer
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.feedforward.settings import Settings
from ros2_rnea.model.tree import BASE
from ros2_rnea.node import parameters
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.models.introduction import introduce, NO_ROBOT
from ros2_rnea.node.models.models import Model, Models, Payload, Source
from ros2_rnea.node.timing.clocks import Clocks
from ros2_rnea.node.timing.cycle_timers import CycleTimers
from ros2_rnea.node.topics.effort_publishers import EffortPublishers

COMPILING_PERIOD = 0.05
"""How often it is looked whether a robot is compiled [s]."""


class Configuration:
    """
    The policy in force, and all that makes another one of it.

    :ivar policy: what decides at present; None while there is no robot.
    :param objection: says of the node's parameters why no effort may be sent; empty: it may.
    """

    def __init__(
            self,
            node: Node,
            diagnostics: Diagnostics,
            clocks: Clocks,
            timers: CycleTimers,
            publishers: EffortPublishers,
            objection: Callable[[Mapping[str, Any]], str]) -> None:
        self.policy: FeedforwardPolicy | None = None
        self._node = node
        self._diagnostics = diagnostics
        self._clocks = clocks
        self._timers = timers
        self._publishers = publishers
        self._objection = objection
        self._models = Models()
        self._compiling: Timer | None = None
        self._refused_description: str | None = None
        self._declaring = False
        self._transition: float | None = None

    def begin(self) -> None:
        """
        Put the parameters in force that the node was started with.

        :raises RneaError: where one does not fit.
        """
        values = parameters.values_of(self._node)
        self._configure(values, None)
        if values['robot_description']:
            self.take_description(values['robot_description'])
        self._node.add_on_set_parameters_callback(self._on_set_parameters)

    @property
    def description(self) -> str | None:
        """Return the description that is in force, or else on its way to be."""
        model = self._latest
        return None if model is None else model.source.description

    def take_description(self, description: str) -> None:
        """Put a description in force, or say why not; then the one before stays."""
        try:
            self._configure(parameters.values_of(self._node), description)
        except RneaError as error:
            self._refused_description = description
            self._diagnostics.refused('robot_description', error)
        else:
            self._refused_description = None
            self._diagnostics.accepted('robot_description')

    def close(self) -> None:
        """Give up what is on its way."""
        self._models.close()

    # ---- payloads -------------------------------------------------------------------------------

    def take_payload(self, payload: Payload, transition: float | None = None) -> bool:
        """
        Let a link carry something, in place of what has that name.

        :param transition: over which the effort goes over [s]; None: as for other changes.
        :return: whether that is in force already; if not, it is being compiled.
        :raises RneaError: where it cannot be; then nothing has changed.
        """
        robot = self._described_model().unloaded
        robot.with_payload(*payload)  # says what is wrong
        if robot.tree.links[payload.link].body == BASE:
            raise ArgumentError(
                f'no joint moves the link {payload.link!r}: what it carries changes no effort')
        others = (other for other in self._payloads if other.name != payload.name)
        return self._carry((*others, payload), transition)

    def drop_payload(self, name: str, transition: float | None = None) -> bool:
        """
        Take away what a link carries; as :meth:`take_payload`.

        :raises RneaError: where nothing has that name.
        """
        self._described_model().robot.without_payload(name)  # says what is wrong
        return self._carry(
            tuple(other for other in self._payloads if other.name != name), transition)

    def _carry(self, payloads: tuple[Payload, ...], transition: float | None) -> bool:
        self._configure(
            parameters.values_of(self._node), self.description, payloads, transition=transition)
        return self._models.coming is None

    def _described_model(self) -> Model:
        model = self._latest
        if model is None:
            raise ArgumentError(NO_ROBOT)
        return model

    # ---- parameters -----------------------------------------------------------------------------

    def set_parameter(
            self, name: str, value: Any, transition: float | None = None) -> SetParametersResult:
        """
        Set a parameter of the node, as anyone may.

        :param transition: over which the effort goes over [s]; None: as the parameters say.
        """
        self._transition = transition
        try:
            return self._node.set_parameters([Parameter(name, value=value)])[0]
        finally:
            self._transition = None

    def refresh(self) -> None:
        """Ask anew whether an effort may be sent."""
        self._replace_settings(self._settings(parameters.values_of(self._node)))

    def _on_set_parameters(self, changed: list[Parameter]) -> SetParametersResult:
        if self._declaring:
            return SetParametersResult(successful=True)
        new = {parameter.name: parameter.value for parameter in changed}
        values = {**parameters.values_of(self._node), **new}
        is_simulated = new.get('use_sim_time', self._clocks.is_simulated)
        try:
            description = (new.get('robot_description') or self.description
                           or self._usable_now(values))
            self._configure(
                values, description, is_simulated=is_simulated, transition=self._transition)
        except RneaError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if self._refused_description is not None and (
                self.description == self._refused_description):
            self._refused_description = None
            self._diagnostics.accepted('robot_description')
        return SetParametersResult(successful=True)

    def _usable_now(self, values: dict[str, Any]) -> str | None:
        """Return the description that was refused, where with these values it would do."""
        if self._refused_description is None:
            return None
        settings = parameters.settings_from(values)
        try:
            model = self._models.load(self._source(self._refused_description, values))
            FeedforwardPolicy(model.robot, settings)
        except RneaError:
            return None
        return self._refused_description

    # ---- all together ---------------------------------------------------------------------------

    def _configure(
            self,
            values: dict[str, Any],
            description: str | None,
            payloads: tuple[Payload, ...] | None = None,
            is_simulated: bool | None = None,
            transition: float | None = None) -> None:
        """
        Make everything that the arguments amount to, then put it in force at once.

        :param payloads: None: those that there are.
        :param is_simulated: whether time is; None: as it is.
        :param transition: over which the effort goes over [s]; None: as the parameters say.
        :raises RneaError: where something does not fit; then nothing has changed.
        """
        settings = self._settings(values)
        if description is not None:
            source = self._source(description, values, payloads)
            model = self._models.load(source, transition)
            policy = FeedforwardPolicy(model.robot, settings)
            is_ready = self._models.is_ready(model)
            self._tell_of_payloads_left_out(source, model)
            if is_ready:
                self._put_in_force(model, policy, values, transition)
            else:
                self._wait_for(model)
                # settings do not wait; the transition is theirs, unless it is the payloads'
                self._replace_settings_where_they_fit(
                    settings, transition if payloads is None else None)
        if is_simulated is not None:
            self._clocks.is_simulated = is_simulated
        self._timers.restart(parameters.checked(values)['rate'], settings)

    def _settings(self, values: Mapping[str, Any]) -> Settings:
        settings = parameters.settings_from(values)
        if self._objection(parameters.checked(values)):
            settings = replace(settings, enabled=False)
        return settings

    def _source(
            self, description: str, values: Mapping[str, Any],
            payloads: tuple[Payload, ...] | None = None) -> Source:
        own = parameters.checked(values)
        return Source(
            description, own['massless_links'], own['strict_model'],
            parameters.joint_friction_from({**self._given, **values}),
            self._payloads if payloads is None else payloads)

    def _put_in_force(
            self, model: Model, policy: FeedforwardPolicy, values: dict[str, Any],
            transition: float | None) -> None:
        former = self._models.in_force
        if former is None or model.source.description != former.source.description:
            self._declare_parameters_of_joints(model)
            settings = self._settings({**parameters.values_of(self._node), **values})
            policy = FeedforwardPolicy(model.robot, settings)
            self._introduce(model, policy)
        self._models.put_in_force(model)
        self._diagnostics.findings = model.findings
        self._diagnostics.payloads = model.source.payloads
        self._replace_policy(policy, transition if model is former else model.transition)

    def _replace_settings(self, settings: Settings, transition: float | None = None) -> None:
        """Put settings in force for the robot that is."""
        if self._models.in_force is not None:
            self._replace_policy(
                FeedforwardPolicy(self._models.in_force.robot, settings), transition)

    def _replace_settings_where_they_fit(
            self, settings: Settings, transition: float | None) -> None:
        """Put settings in force unless they are for the robot that comes, of other joints."""
        try:
            self._replace_settings(settings, transition)
        except ArgumentError as error:
            self._node.get_logger().info(f'until the new robot is compiled, all stays: {error}')

    def _replace_policy(
            self, policy: FeedforwardPolicy, transition: float | None = None) -> None:
        if self.policy is not None:
            policy.take_over(self.policy, transition)
        self._publishers.prepare(policy.controlled, has_commands=bool(policy.settings.joints))
        self.policy = policy

    def _tell_of_payloads_left_out(self, source: Source, model: Model) -> None:
        for payload in source.payloads:
            if payload not in model.source.payloads:
                self._node.get_logger().warning(
                    f'the payload {payload.name!r} is dropped: {model.robot.name!r} has no link '
                    f'{payload.link!r}')

    def _declare_parameters_of_joints(self, model: Model) -> None:
        self._declaring = True
        try:
            parameters.declare_for_joints(self._node, model.robot.joint_names)
        finally:
            self._declaring = False

    def _introduce(self, model: Model, policy: FeedforwardPolicy) -> None:
        self._diagnostics.robot = model.robot.name
        self._diagnostics.notice('robot', '')
        introduce(model, policy, self._given, self._node.get_logger())

    @property
    def _given(self) -> dict[str, Any]:
        """Return parameters in a file or on the command line, also of joints not known yet."""
        given = getattr(self._node, '_parameter_overrides', {})
        return {name: parameter.value for name, parameter in given.items()}

    # ---- compiling ------------------------------------------------------------------------------

    @property
    def _latest(self) -> Model | None:
        return self._models.coming or self._models.in_force

    @property
    def _payloads(self) -> tuple[Payload, ...]:
        """Return what links carry, or will once it is compiled."""
        model = self._latest
        return () if model is None else model.source.payloads

    def _wait_for(self, model: Model) -> None:
        """Look now and then whether a robot is compiled; what is in force goes on meanwhile."""
        self._diagnostics.notice('compiling', f'{model.robot.name!r} is being compiled')
        if self._compiling is None:
            clock = Clock(clock_type=ClockType.STEADY_TIME)
            self._compiling = self._node.create_timer(
                COMPILING_PERIOD, self._on_compiling, clock=clock)

    def _on_compiling(self) -> None:
        if self._models.is_compiling():
            return
        coming = self._models.coming
        if coming is not None:
            self._take_compiled(coming)
        if self._models.coming is None and self._compiling is not None:
            self._diagnostics.notice('compiling', '')
            self._node.destroy_timer(self._compiling)
            self._compiling = None

    def _take_compiled(self, model: Model) -> None:
        in_force = self._models.in_force
        if in_force is None or model.source.description != in_force.source.description:
            self.take_description(model.source.description)
            return
        try:
            self._configure(parameters.values_of(self._node), model.source.description)
        except RneaError as error:  # in force stays what was
            self._node.get_logger().error(f'what was to come into force does not: {error}')
