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
The model, the settings and the payloads that are in use, and how they are replaced.

The :class:`.ModelWorker` builds new models; its answer is swapped in here by assignments.  Until
then, and where the answer is an error, the last model and the last settings stay in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from time import monotonic
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.timer import Timer
from ros2_rnea.arguments import check_link
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.feedforward.policy import check_settings, FeedforwardPolicy
from ros2_rnea.feedforward.settings import Settings
from ros2_rnea.model.checks import check_payload
from ros2_rnea.model.tree import BASE
from ros2_rnea.node import parameters
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.models.introduction import introduce, NO_ROBOT
from ros2_rnea.node.models.models import (
    check_strictly,
    Model,
    Numbers,
    Payload,
    Source,
)
from ros2_rnea.node.parameters import NodeParameters
from ros2_rnea.node.timing.clocks import Clocks
from ros2_rnea.node.timing.cycle_timers import CycleTimers
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.worker.model_worker import Answer, Built, ModelWorker, Request

TURN = 0.005
"""How often it is looked whether the worker has answered [s]."""

NOTABLE_WAIT = 1.0
"""A model that takes longer is said to be under construction [s]."""

DECLARATIONS_A_TURN = 4
"""How many parameters are declared at once; each takes about 0.1 ms."""


class Configuration:
    """
    The policy in force, and all that puts another one in force.

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
        self._model: Model | None = None  # in force
        self._payloads: tuple[Payload, ...] = ()  # in force, or once the robot is made for them
        self._coming: Source | None = None
        self._transition: float | None = None  # to what is coming [s]
        self._parameter_transition: float | None = None
        self._asked_at = 0.0
        self._answer: Answer | None = None
        self._declarations: Iterator[None] = iter(())
        self._turns: Timer | None = None
        self._refused: Source | None = None
        self._is_new = False  # a robot that is in force has yet to be introduced
        self._is_declaring = False
        self._next_turn: Timer | None = None  # on which parameters come into force
        self._parameters = parameters.read(parameters.values_of(node))

    def begin(self) -> None:
        """
        Put the parameters in force that the node was started with.

        :raises RneaError: where one does not fit.
        """
        own, settings = self._parameters.own, self._settings()
        # Only now: a node whose parameters are refused starts no process.
        self._worker = ModelWorker(
            lambda cause: self._diagnostics.worker_exited('builds models', cause))
        self._timers.restart(own['rate'], settings)
        if own['robot_description']:
            self.take_description(own['robot_description'])
        self._node.add_on_set_parameters_callback(self._check_parameters)
        if hasattr(self._node, 'add_post_set_parameters_callback'):
            self._node.add_post_set_parameters_callback(lambda _: self._apply_parameters())

    @property
    def description(self) -> str | None:
        """Return the description that is in force, or else on its way to be."""
        source = self._latest
        return None if source is None else source.description

    @property
    def is_settled(self) -> bool:
        """Tell whether nothing is on its way into force."""
        return self._turns is None and self._next_turn is None

    def take_description(self, description: str) -> None:
        """Ask for the model of a description; if it is refused, the one before stays."""
        self._refused = None
        self._request(self._source(description))

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    # ---- payloads -------------------------------------------------------------------------------

    def take_payload(self, payload: Payload, transition: float | None = None) -> bool:
        """
        Let a link carry something, in place of what has that name.

        :param transition: over which the effort goes over [s]; None: as for other changes.
        :return: whether that is in force already; if not, the robot is compiled for it.
        :raises RneaError: where it cannot be; then nothing has changed.
        """
        self._described()
        check_payload(payload.name, payload.inertial)
        if self._model is not None:
            tree = self._model.tree
            check_link(tree, payload.link)
            if tree.links[payload.link].body == BASE:
                raise ArgumentError(
                    f'no joint moves the link {payload.link!r}: what it carries changes no effort')
        others = (other for other in self._payloads if other.name != payload.name)
        return self._change_payloads((*others, payload), transition)

    def drop_payload(self, name: str, transition: float | None = None) -> bool:
        """
        Take away what a link carries; as :meth:`take_payload`.

        :raises RneaError: where nothing has that name.
        """
        self._described()
        names = [payload.name for payload in self._payloads]
        if name not in names:
            raise ArgumentError(
                f'there is no payload {name!r}; there is {", ".join(names) or "none"}')
        others = (other for other in self._payloads if other.name != name)
        return self._change_payloads(tuple(others), transition)

    def _described(self) -> Source:
        source = self._latest
        if source is None:
            raise ArgumentError(NO_ROBOT)
        return source

    def _change_payloads(self, payloads: tuple[Payload, ...], transition: float | None) -> bool:
        former, self._payloads = self._payloads, payloads
        try:
            self._apply_numbers(transition)
        except RneaError:
            self._payloads = former
            raise
        is_in_force = self._model is not None and all(map(self._model.can_carry, payloads))
        if not is_in_force or self._coming is not None:  # which must be able to carry them, too
            self._request(self._source(self._described().description), transition)
        return is_in_force

    def _apply_numbers(self, transition: float | None) -> None:
        """
        Write payloads and joint parameters into the robot, as far as it is made for them.

        :raises RneaError: where one is not possible.
        """
        if self._model is None or self.policy is None:
            return
        if self._model.change(self._numbers):
            self.policy.blend(transition)
        self._diagnostics.payloads = tuple(
            payload for payload in self._payloads if payload.name in self._model.robot.payloads)

    @property
    def _numbers(self) -> Numbers:
        return Numbers(self._parameters.joint_parameters, self._payloads)

    # ---- parameters -----------------------------------------------------------------------------

    def set_parameter(
            self, name: str, value: Any, transition: float | None = None) -> SetParametersResult:
        """
        Set a parameter of the node, as anyone may; it is in force when this returns.

        :param transition: over which the effort goes over [s]; None: as the parameters say.
        """
        self._parameter_transition = transition
        try:
            result = self._node.set_parameters([Parameter(name, value=value)])[0]
            if self._next_turn is not None:
                self._apply_parameters()
        finally:
            self._parameter_transition = None
        return result

    def refresh(self) -> None:
        """Ask anew whether an effort may be sent."""
        self._apply_settings()

    def _check_parameters(self, changed: list[Parameter]) -> SetParametersResult:
        """Tell whether parameters may be set; others may object still, so nothing changes here."""
        if self._is_declaring:
            return SetParametersResult(successful=True)
        new = {parameter.name: parameter.value for parameter in changed}
        try:
            # That nothing is to be sent any more is never refused, whatever else is wrong.
            if new != {'enabled': False}:
                self._check(parameters.read({**parameters.values_of(self._node), **new}))
        except RneaError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if not hasattr(self._node, 'add_post_set_parameters_callback') and (
                self._next_turn is None):  # Humble
            self._next_turn = self._timer(0.0, self._apply_parameters)
        return SetParametersResult(successful=True)

    def _check(self, asked: NodeParameters) -> None:
        """
        Check parameters against what is in force.

        :raises RneaError: where they do not fit it.
        """
        self._objection(asked.own)  # which checks names
        if self._model is not None and not self._is_for_another_robot(asked):
            check_settings(self._model.robot, asked.settings)
            check_strictly(asked.own['strict_model'], self._model.findings)
            self._model.check(Numbers(asked.joint_parameters))

    def _is_for_another_robot(self, asked: NodeParameters) -> bool:
        """
        Tell whether parameters may be meant for another robot than the one in force.

        That is so where they bring its description, while it is being built, and while it waits
        for parameters that fit it.  In the last case the node can be enabled only with parameters
        for the robot in force.
        """
        if asked.own['robot_description'] not in (
                '', self._parameters.own['robot_description']):
            return True
        if self._is_of_another_robot(self._coming):
            return True
        is_enabled_now = asked.settings.enabled and not self._parameters.settings.enabled
        return self._is_of_another_robot(self._refused) and not is_enabled_now

    def _is_of_another_robot(self, source: Source | None) -> bool:
        return source is not None and (
            self._model is None or source.description != self._model.source.description)

    def _apply_parameters(self) -> None:
        """Put the stored parameters in force; what has to be built for them comes later."""
        if self._is_declaring:
            return
        if self._next_turn is not None:
            self._node.destroy_timer(self._next_turn)
            self._next_turn = None
        if not self._node.get_parameter('enabled').value:
            self._disable()  # first, so that no error below keeps it from being so
        try:
            self._apply_all_parameters()
        except RneaError as error:
            self._diagnostics.notice('parameters', f'not all are in force: {error}')
        else:
            self._diagnostics.notice('parameters', '')

    def _disable(self) -> None:
        if self.policy is not None and self.policy.settings.enabled:
            self.policy.change_settings(
                replace(self.policy.settings, enabled=False), self._parameter_transition)

    def _apply_all_parameters(self) -> None:
        former, self._parameters = (
            self._parameters, parameters.read(parameters.values_of(self._node)))
        self._clocks.is_simulated = self._node.get_parameter('use_sim_time').value
        self._apply_settings()
        own, source = self._parameters.own, self._latest
        if own['robot_description'] and (
                own['robot_description'] != former.own['robot_description']):
            self.take_description(own['robot_description'])
        elif self._refused is not None:
            wanted = self._source(self._refused.description)
            may_fit_now = (
                self._is_of_another_robot(self._refused) and self._parameters != former)
            if wanted != self._refused or may_fit_now:
                self._request(wanted, self._transition)
        elif source is not None:
            self._request(self._source(source.description), self._transition)
        self._apply_numbers(self._parameter_transition)

    def _apply_settings(self) -> None:
        """Put the settings in force for the robot that is."""
        settings = self._settings()
        self._timers.restart(self._parameters.own['rate'], settings)
        if self._model is None or self.policy is None or settings == self.policy.settings:
            return
        try:
            self._change_settings(self.policy, settings)
        except ArgumentError as error:
            self._node.get_logger().warning(
                'the parameters are for another robot than the one in force, which keeps those '
                f'that it has: {error}')
            if not settings.enabled:
                self._disable()

    def _change_settings(self, policy: FeedforwardPolicy, settings: Settings) -> None:
        """
        Put settings in force, in another policy only where they are about other joints.

        :raises ArgumentError: where they do not fit the robot; then nothing has changed.
        """
        transition = self._parameter_transition
        if policy.can_change_to(settings):
            policy.change_settings(settings, transition)
        else:
            self._replace_policy(FeedforwardPolicy(policy.robot, settings), transition)

    def _settings(self) -> Settings:
        settings = self._parameters.settings
        if settings.enabled and self._objection(self._parameters.own):
            return replace(settings, enabled=False)
        return settings

    def _source(self, description: str) -> Source:
        """Return what a model of a description is made from by the present parameters."""
        own, model = self._parameters.own, self._model
        links = {*own['payload_links']}
        if model is not None and model.source.description != description:
            model = None
        for source in (self._coming, None if model is None else model.source):
            if source is not None and source.description == description:
                links.update(source.payload_links)  # what is compiled once stays so
        links.update(payload.link for payload in self._payloads
                     if model is None or not model.can_carry(payload))
        return Source(
            description, own['massless_links'], own['strict_model'], tuple(sorted(links)))

    # ---- the worker -----------------------------------------------------------------------------

    @property
    def _latest(self) -> Source | None:
        if self._coming is not None:
            return self._coming
        return None if self._model is None else self._model.source

    def _request(self, source: Source, transition: float | None = None) -> None:
        """
        Ask for a model, unless it is in force or on its way.

        :param transition: over which the effort goes over to its [s]; None: as for other changes.
        """
        if source == self._coming:
            if transition is not None:
                self._transition = max(transition, self._transition or 0.0)
            return
        if self._refused is not None and self._refused.description == source.description:
            self._refused = None
        self._discard_answer()
        if self._model is not None and source == self._model.source:
            self._worker.cancel()
            self._stop_waiting()
            return
        self._coming, self._transition, self._asked_at = source, transition, monotonic()
        self._worker.request(Request(source, self._numbers, self._settings()))
        if self._turns is None:
            self._turns = self._timer(TURN, self._on_turn)

    def _timer(self, period: float, callback: Callable[[], None]) -> Timer:
        return self._node.create_timer(
            period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_turn(self) -> None:
        """Take what the worker has made, a little of the work on each turn."""
        if self._is_new:
            self._introduce()
        if self._coming is None:
            self._stop_turns()
            return
        if self._answer is None:
            self._answer = self._worker.take()
            if self._answer is not None and isinstance(self._answer.result, Built):
                self._declarations = parameters.declare_for_joints(
                    self._node, self._answer.result.model.degrees_of_freedom)
        if self._answer is None:
            self._tell_of_long_wait()
            return
        source, result = self._answer.request.source, self._answer.result
        if isinstance(result, RneaError):
            self._refuse(source, result)
        elif not self._declare_some():
            self._swap(source, result)

    def _tell_of_long_wait(self) -> None:
        if monotonic() - self._asked_at > NOTABLE_WAIT:
            self._diagnostics.notice(
                'model', 'a new model is being made; until it is there, all stays as it is')

    def _declare_some(self) -> bool:
        """Declare some of the parameters of joints, and tell whether there may be more."""
        self._is_declaring = True
        try:
            return len([*islice(self._declarations, DECLARATIONS_A_TURN)]) > 0
        except ParameterException as error:  # another callback of the node refuses it
            self._node.get_logger().warning(
                f'the parameters of some joints cannot be declared: {error}')
            return False
        finally:
            self._is_declaring = False

    def _discard_answer(self) -> None:
        """Let the worker's thread free an answer that has been overtaken."""
        if self._answer is not None:
            answer, self._answer = self._answer, None
            self._worker.discard(answer)

    def _stop_waiting(self) -> None:
        self._discard_answer()
        self._coming = self._transition = None
        self._diagnostics.notice('model', '')

    def _stop_turns(self) -> None:
        if self._turns is not None:
            self._node.destroy_timer(self._turns)
            self._turns = None

    def _refuse(self, source: Source, error: RneaError) -> None:
        """Say why a model does not come into force."""
        self._stop_waiting()
        self._refused = source
        model = self._model
        if model is None:
            self._diagnostics.refused('robot_description', error)
        elif source.description != model.source.description:
            self._diagnostics.refused('robot_description', error)
            self._drop_payloads(
                lambda payload: payload.link in model.tree.links,
                f'{model.robot.name!r} has no such link')
            wanted = self._source(model.source.description)
            if wanted != model.source:  # a payload has come meanwhile
                self._request(wanted)
        else:
            self._drop_payloads(model.can_carry, 'the model for it is refused')
            self._diagnostics.notice('model', f'the new model does not come into force: {error}')

    def _swap(self, source: Source, built: Built) -> None:
        """
        Put a model in force.

        :param source: that it was asked for.
        """
        model, policy = built
        former, settings, transition = self._model, self._settings(), self._transition
        former_policy = self.policy
        missing = {payload.link for payload in self._payloads
                   if payload.link in model.tree.links and not model.can_carry(payload)}
        if missing:
            self._request(source._replace(
                payload_links=tuple(sorted({*source.payload_links, *missing}))), transition)
            return
        try:
            if policy.settings != settings:  # other parameters have come meanwhile
                policy = FeedforwardPolicy(model.robot, settings)
            model.change(self._numbers)  # if others have come meanwhile
        except RneaError as error:
            self._refuse(source, error)
            return
        self._answer = None
        self._stop_waiting()
        self._model = model
        self._drop_payloads(
            lambda payload: payload.link in model.tree.links,
            f'{model.robot.name!r} has no such link')
        self._replace_policy(policy, transition)
        self._diagnostics.robot = model.robot.name
        self._diagnostics.findings = model.findings
        self._diagnostics.payloads = self._payloads
        if former is None or former.source.description != model.source.description:
            self._refused = None
            self._diagnostics.accepted('robot_description')
            self._is_new = True
        self._worker.discard(former, former_policy)
        self._request(self._source(model.source.description))  # for what has changed meanwhile

    def _introduce(self) -> None:
        """Log what robot is in force; not in the turn that has put it there, for want of time."""
        self._is_new = False
        self._diagnostics.notice('robot', '')
        if self._model is not None and self.policy is not None:
            introduce(self._model, self.policy, parameters.overrides(self._node),
                      self._node.get_logger())

    def _replace_policy(self, policy: FeedforwardPolicy, transition: float | None) -> None:
        if self.policy is not None:
            policy.take_over(self.policy, transition)
        self._publishers.prepare(policy.controlled, has_commands=bool(policy.settings.joints))
        self.policy = policy

    def _drop_payloads(self, can_stay: Callable[[Payload], bool], reason: str) -> None:
        """Drop the payloads that cannot stay, and say which and why."""
        for payload in self._payloads:
            if not can_stay(payload):
                self._node.get_logger().warning(
                    f'the payload {payload.name!r} on link {payload.link!r} is dropped: {reason}')
        self._payloads = tuple(filter(can_stay, self._payloads))
