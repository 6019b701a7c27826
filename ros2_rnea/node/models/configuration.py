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
What is wanted, what is in use, and how the one becomes the other.

Wanted are a description, the node's parameters and payloads.  In use are a model and its policy.
Each event changes what is wanted, and then calls ``_reconcile``, or that step of it which it
concerns: settings and numbers are judged on a copy of the robot and then used at once, and where
another model is needed, it is requested from the :class:`.ModelBuilder` and swapped in by
assignments when it is built.  Until then, and where one of these fails, what was in use stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError, RneaError, UnsafeChangeError
from ros2_rnea.model.checks import check_payload
from ros2_rnea.model.tree import BASE
from ros2_rnea.node import parameters
from ros2_rnea.node.bounds import MAX_PAYLOADS
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.models.model_builder import ModelBuilder
from ros2_rnea.node.models.model_building import (
    check_strictly,
    Model,
    ModelParameters,
    needed_optional_parameters,
    Payload,
    Source,
)
from ros2_rnea.node.models.model_in_use import check_bounds, ModelInUse, take_over, updated
from ros2_rnea.node.models.model_summary import log_model_summary, NO_ROBOT
from ros2_rnea.node.models.other_robots import (
    difference_of_robots,
    OtherRobots,
    PresentRobot,
    robot_name,
    TOPIC,
)
from ros2_rnea.node.models.requested_model import RequestedModel
from ros2_rnea.node.models.stored_parameters import StoredParameters
from ros2_rnea.node.models.wanted_settings import WantedSettings
from ros2_rnea.node.parameters import FRICTION_FROM_DESCRIPTION, NodeParameters
from ros2_rnea.node.timing.clocks import Clocks
from ros2_rnea.node.timing.cycle_timers import CycleTimers
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.worker.model_worker import Answer, Built, Request
from ros2_rnea.node.worker.worker_process import WorkerError
from ros2_rnea.robots.arguments import check_link
from ros2_rnea.robots.robot import Robot

LONGEST_DECLARATIONS = 0.0003
"""Time for which one callback declares parameters [s of processor time]; each takes 0.1 ms."""

LONGEST_FIRST_DECLARATIONS = 0.01
"""
Time for which one callback declares the parameters of the first robot [s of processor time].

The first effort waits for that, and no cycle does.
"""


class Configuration:
    """
    The policy in use, and everything that replaces it.

    :ivar misfit: why the parameters do not fit the robot in use; empty where they do.
    :ivar unused_description: why the newest description is not in use; empty where it is, or is
        being built, or is that of another robot.
    :ivar has_begun: whether it is between :meth:`begin` and :meth:`close`, which may follow each
        other several times.
    :ivar is_active: whether the node may send efforts, as a managed node may while it is active.
    :ivar wanted_settings: makes settings of parameters.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, clocks: Clocks, timers: CycleTimers,
            publishers: EffortPublishers, wanted_settings: WantedSettings) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._clocks = clocks
        self._timers = timers
        self._publishers = publishers
        self.wanted_settings = wanted_settings
        self._others = OtherRobots(node, diagnostics)
        self._stored = StoredParameters(node, self._check, self._use_stored)
        self._builder = ModelBuilder(
            node, diagnostics, self._use_answer, self._end_building,
            lambda: self._in_use is not None)
        self.is_active = True
        self._reset()

    def _reset(self) -> None:
        """Begin with no robot, and with nothing that was requested for one."""
        self.has_begun = False
        self.misfit = ''
        self.unused_description = ''
        self._in_use: ModelInUse | None = None
        self._wanted_description: str | None = None
        self._payloads: tuple[Payload, ...] = ()  # some may wait for a model that accepts them
        self._is_postponed = False  # a part of the settings, until nothing is sent any more
        self._refusal = ''  # why another model of the description in use is refused
        self._is_summary_due = False

    def begin(self) -> None:
        """
        Use the parameters, now and when they change, and start the worker.

        :raises RneaError: where a parameter has an invalid value.
        """
        self._stored.begin()
        own, settings = self._stored.values.own, self._settings()
        self._clocks.is_simulated = self._node.get_parameter('use_sim_time').value
        self._builder.begin()  # only now: a node whose parameters are refused starts no process
        self._timers.restart(own['rate'], settings)
        if own[TOPIC]:
            self._request_description(own[TOPIC])
        self._stored.follow()
        self.has_begun = True

    def close(self) -> None:
        """Stop the worker, drop the robot, and follow the parameters no longer."""
        self._stored.close()
        self._builder.close()
        self._others.reset()
        self._reset()

    # ---- what is in use -------------------------------------------------------------------------

    @property
    def policy(self) -> Policy | None:
        """Return what decides in each cycle which effort is sent; None while there is no robot."""
        return None if self._in_use is None else self._in_use.policy

    @property
    def _model(self) -> Model | None:
        """Return the model in use."""
        return None if self._in_use is None else self._in_use.model

    @property
    def description(self) -> str | None:
        """Return the requested description, or else the one in use."""
        if self._builder.requested is not None:
            return self._builder.requested.source.description
        return None if self._model is None else self._model.source.description

    @property
    def source(self) -> Source | None:
        """Return what the model in use was built from; None while there is no robot."""
        return None if self._model is None else self._model.source

    @property
    def observes(self) -> bool:
        """Return whether the robot in use has what the observation of external efforts needs."""
        return self._model is not None and self._model.source.observes

    @property
    def is_settled(self) -> bool:
        """Return whether no change is pending, except for one that could not be used safely."""
        return not (self._builder.is_busy or self._stored.are_pending)

    @property
    def waiting_policy(self) -> Policy | None:
        """Return the policy of a new robot that is not used yet, because it would not be held."""
        requested = self._builder.requested
        return None if requested is None else requested.waiting_policy

    def why_alone(self) -> str:
        """Return a sentence on how it is known which joints the node moves alone."""
        return self.wanted_settings.why_alone(self._stored.values)

    def poll(self) -> bool:
        """
        Look what has changed around the requested descriptions; to be called regularly.

        :return: whether the descriptions have to be received again.
        """
        if self._builder.retry_if_due():
            self._request_wanted_model()
        self.note_silence()
        withheld = self._others.withheld
        is_to_be_received = self._others.publishers.poll() and (
            self.is_withholding or self.description is None)
        if is_to_be_received:
            self._others.publishers.forget_difference()
            self._forget_withheld_of_topic()
        elif withheld is not None and withheld.description is None:
            self._others.forget()  # those that were received again are of one robot
            self._use_settings()
        self.use_withheld_description()
        self._others.report(self._present)
        return is_to_be_received

    # ---- reconciliation -------------------------------------------------------------------------

    def _reconcile(self, of_model: float | None = None) -> None:
        """
        Use what is wanted, as far as that is possible now, and request what is missing for it.

        :param of_model: duration of the blend to the effort of a model that is requested [s];
            None: ``blend_time``.
        :raises RneaError: where a payload or joint parameter is not possible.
        """
        self._use_settings()
        self._request_wanted_model(of_model)
        self._use_numbers(self._stored.transition)

    def _use_settings(self) -> None:
        """Use the settings in the policy of the robot in use, or note why they do not fit."""
        settings, transition = self._settings(), self._stored.transition
        self._timers.restart(self._stored.values.own['rate'], settings)
        before, self.misfit, self._is_postponed = self.misfit, '', False
        in_use = self._in_use
        if in_use is None or settings == in_use.policy.settings:
            return
        try:
            in_use.change_settings(settings, transition, self._publish_for)
        except ArgumentError as error:
            if not settings.enabled:
                in_use.disable(settings, transition)
                if in_use.policy.is_sending:
                    self._is_postponed = True
                    return
            self.misfit = str(error)
            if self.misfit != before:
                self._node.get_logger().warning(
                    'the parameters do not fit the robot in use, which keeps the previous ones: '
                    f'{error}')

    def _use_numbers(self, transition: float | None) -> None:
        """
        Set payloads and joint parameters in the robot, those that its model accepts.

        :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
        :raises RneaError: where a value is not possible; then nothing has changed.
        """
        in_use, wanted = self._in_use, self._numbers
        if in_use is None or wanted == in_use.applied:
            return
        in_use.set_parameters(wanted, transition)
        self._diagnostics.payloads = tuple(
            payload for payload in self._payloads if payload.name in in_use.model.robot.payloads)

    def _request_wanted_model(self, transition: float | None = None) -> None:
        """
        Request the model that is wanted by now.

        Where the wanted description is refused, the robot in use stays, and its model is the one
        that has to fit the parameters and payloads.

        :param transition: duration of the blend to its effort [s]; None: ``blend_time``.
        """
        model = self._model
        in_use = None if model is None else model.source.description
        for description in (self._wanted_description, in_use):
            source = None if description is None else self._source(description)
            if source is not None and not self._is_refused(source):
                self._request(source, transition)
                return

    def _request(self, source: Source, transition: float | None) -> None:
        """Request a model, unless it is in use or requested already."""
        requested, model = self._builder.requested, self._model
        if requested is not None and source.description == requested.source.description:
            requested.prolong(transition, self._stored.values.settings.blend_time)
            if source == requested.source:
                return
            transition = requested.transition
        self._resolve_waiting()
        refused = self._builder.refused
        if refused is not None and refused.description == source.description:
            self._builder.forgive()
        if model is not None and source == model.source:
            self._refusal = ''
            self._builder.cancel()
        else:
            self._builder.request(Request(source, self._numbers, self._settings()), transition)

    @property
    def _numbers(self) -> ModelParameters:
        """Return the payloads and joint parameters that are wanted."""
        return ModelParameters(self._stored.values.joint_parameters, self._payloads)

    def _settings(self, robot: Robot | None = None) -> Settings:
        """
        Return the settings that are wanted, by all that is known.

        :param robot: for which; None: the one in use, if there is one.
        """
        if robot is None and self._model is not None:
            robot = self._model.robot
        return self.wanted_settings.of(
            self._stored.values, robot, self.is_active, self.is_undecided)

    def _source(self, description: str) -> Source:
        """Return the source of a description's model with the wanted parameters and payloads."""
        values, model = self._stored.values, self._model
        own = values.own
        links = {*own['payload_links']}
        optional = {*needed_optional_parameters(values.joint_parameters)}
        if model is not None and model.source.description != description:
            if robot_name(description) == model.robot.name:  # its links still accept payloads
                links.update(model.tree.links.keys() & {*model.source.payload_links})
            model = None
        for other in (self._builder.requested, model):
            source = None if other is None else other.source
            if source is not None and source.description == description:
                links.update(source.payload_links)  # a link that accepts payloads continues to
                optional.update(source.optional_parameters)
        links.update(payload.link for payload in self._payloads
                     if model is None or not model.accepts_payload(payload))
        return Source(
            description, own['massless_links'], own['strict_model'], tuple(sorted(links)),
            own['friction_from'] == FRICTION_FROM_DESCRIPTION,
            tuple(sorted(optional)),
            own['observe_external_effort'])

    def _is_refused(self, source: Source) -> bool:
        """
        Return whether a model is not requested again by itself.

        Payloads are those of the robot in use: another description is refused whatever they are.
        """
        refused = self._builder.refused
        if refused is None or source.description != refused.description:
            return False
        return source == refused or self._is_of_another_description(refused)

    def _is_of_another_description(self, source: Source | None) -> bool:
        model = self._model
        return source is not None and (
            model is None or source.description != model.source.description)

    @property
    def _is_another_requested(self) -> bool:
        """Return whether the model of another description is requested than the one in use."""
        return self._builder.requested is not None and self._is_of_another_description(
            self._builder.requested.source)

    # ---- descriptions ---------------------------------------------------------------------------

    def take_description(self, description: str) -> None:
        """Use a description that has arrived, unless it is known or that of another robot."""
        publishers, withheld = self._others.publishers, self._others.withheld
        publishers.note_arrival(self.description not in (None, description))
        if withheld is not None:
            if description == withheld.description:
                return
            if not publishers.are_several:  # who published the other one has corrected that
                self._forget_withheld_of_topic()
            elif description == self.description:
                return
        latest = self.description
        if description == latest == self._wanted_description:
            self._note_usable_description()
            return
        if latest is None:
            latest = self._builder.postponed_description
        name, known = robot_name(description), '' if latest is None else robot_name(latest)
        if self.policy is not None and self._drives(self._stored.values.settings):
            known = self.policy.robot.name  # also while another one is being built
        present = self._present(known)
        if name and known and name != known and self._others.why_withheld(description, present):
            self._withhold(description, present, f'it describes the robot {name!r}, not {known!r}')
        else:
            self._request_description(description)

    def refuse_description(self, error: RneaError) -> None:
        """Report that a description is not used."""
        self.unused_description = f'refused: {error}'
        self._diagnostics.refused(TOPIC, error)

    def set_description(self, description: str) -> None:
        """Use a description, also that of another robot; if it is refused, the robot stays."""
        if self.is_withholding:
            self._forget_withheld()
        self._request_description(description)

    def _request_description(self, description: str) -> None:
        self._wanted_description = description
        self._builder.begin_anew()
        self._request_wanted_model()
        self._note_usable_description()

    def _note_usable_description(self) -> None:
        """Note that nothing is wrong with the description that has come, if it is in use."""
        if self._builder.requested is None:
            self._resolve_description()

    def _resolve_description(self) -> None:
        self.unused_description = ''
        self._diagnostics.notice(TOPIC, '')

    def _resolve_waiting(self) -> None:
        """Report no longer that another description waits, since it is not waited for."""
        requested = self._builder.requested
        if requested is not None and requested.is_waiting and self._is_another_requested:
            self._resolve_description()

    def discard_superseded(self) -> None:
        """Drop the robot in use where another one is requested, which has to be waited for."""
        if self._model is not None and self._is_another_requested:
            self._discard_robot()

    def _discard_robot(self) -> None:
        self._in_use, self.unused_description, self._refusal = None, '', ''
        self._diagnostics.discard_robot()

    # ---- other robots ---------------------------------------------------------------------------

    @property
    def is_withholding(self) -> bool:
        """Return whether another robot is described, too, which is not used."""
        return self._others.withheld is not None

    @property
    def is_undecided(self) -> bool:
        """Return whether two robots are described, and nothing tells which one is driven."""
        return self._others.is_undecided

    def _present(self, name: str) -> PresentRobot:
        """
        Return what is known of the robot that would stay.

        :param name: of the robot.
        """
        return PresentRobot(
            name, self.policy is not None and self.policy.has_driven,
            self._drives(self._stored.values.settings), self._stored.values.own[TOPIC])

    def _drives(self, settings: Settings) -> bool:
        """Return whether efforts to the robot in use are wanted, and some have been received."""
        return (self.policy is not None and self.policy.has_driven and self.is_active
                and settings.enabled)

    def _withhold(self, description: str, present: PresentRobot, difference: str) -> None:
        """Go on with the robot in use, or with the one that is being built."""
        self._others.withhold(description, present, difference)
        if self.is_undecided:
            self._use_settings()

    def _forget_withheld_of_topic(self) -> None:
        """
        Withhold no description any more that may not be published now.

        Where it was undecided, and several are left, it stays so until the descriptions that are
        received again have told whether they are of one robot.
        """
        withheld = self._others.withheld
        if withheld is not None and withheld.description != self._stored.values.own[TOPIC]:
            self._forget_withheld()
            self._others.stay_undecided(withheld)

    def _forget_withheld(self) -> None:
        """Withhold no description any more; where it was undecided, no robot is in use then."""
        if self.is_undecided:
            self._builder.cancel()
            self._discard_robot()
            self._builder.forgive()
            self._wanted_description = None
        self._others.forget()
        if self._builder.requested is not None:
            self._builder.requested.try_now()

    def use_withheld_description(self) -> None:
        """Request the model of another robot that was withheld, if it can be used now."""
        withheld = self._others.withheld
        if withheld is not None and withheld.description is not None and (
                not self._others.why_withheld(
                    withheld.description, self._present(withheld.present))):
            self.set_description(withheld.description)

    # ---- payloads -------------------------------------------------------------------------------

    def set_payload(self, payload: Payload, transition: float | None = None) -> bool:
        """
        Attach a payload to a link, in place of a payload of the same name.

        :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
        :return: whether the payload is in use; if not, it will be once a model is built for it.
        :raises RneaError: where the payload or its link is invalid; then nothing has changed.
        """
        self._require_robot()
        check_payload(payload.name, payload.inertial)
        if self._model is not None:
            tree = self._model.tree
            check_link(tree, payload.link)
            if tree.links[payload.link].body == BASE:
                raise ArgumentError(
                    f'no joint moves the link {payload.link!r}: a payload on it changes no effort')
        others = [other for other in self._payloads if other.name != payload.name]
        if len(others) >= MAX_PAYLOADS:
            raise ArgumentError(
                f'there are {len(others)} other payloads; at most {MAX_PAYLOADS} are accepted')
        return self._set_payloads((*others, payload), transition)

    def remove_payload(self, name: str, transition: float | None = None) -> bool:
        """
        Remove a payload; parameters and result are those of :meth:`set_payload`.

        :raises RneaError: where no payload has that name.
        """
        self._require_robot()
        names = [payload.name for payload in self._payloads]
        if name not in names:
            raise ArgumentError(
                f'there is no payload {name!r}; there is {", ".join(names) or "none"}')
        others = (other for other in self._payloads if other.name != name)
        return self._set_payloads(tuple(others), transition)

    def _require_robot(self) -> None:
        if self.description is None:
            raise ArgumentError(NO_ROBOT)

    def _set_payloads(self, payloads: tuple[Payload, ...], transition: float | None) -> bool:
        previous, self._payloads = self._payloads, payloads
        try:
            self._use_numbers(transition)
        except BaseException:
            self._payloads = previous
            raise
        is_in_use = self._model is not None and all(map(self._model.accepts_payload, payloads))
        if not is_in_use or self._builder.requested is not None:  # that must accept them, too
            if not self._is_of_another_description(self._builder.refused):
                self._builder.forgive()  # it may be built with these payloads, or now
            self._request_wanted_model(transition)
        return is_in_use

    def _remove_payloads(self, can_stay: Callable[[Payload], bool], reason: str) -> None:
        """Remove the payloads that cannot stay, and log which and why."""
        for payload in self._payloads:
            if not can_stay(payload):
                self._node.get_logger().warning(
                    f'the payload {payload.name!r} on link {payload.link!r} is removed: {reason}')
        self._payloads = tuple(filter(can_stay, self._payloads))

    # ---- parameters -----------------------------------------------------------------------------

    def set_parameter(
            self, name: str, value: Any, transition: float | None = None) -> SetParametersResult:
        """
        Set a parameter of the node as a ROS client would, and use it before returning.

        :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
        """
        return self._stored.set_one(name, value, transition)

    def refresh(self) -> str:
        """
        Check again whether an effort may be sent.

        :return: why the parameters do not fit the robot in use; empty where they do.
        """
        if self.has_begun:
            self._use_settings()
        return self.misfit

    def note_silence(self) -> None:
        """Use what has waited until nothing is sent any more."""
        if self._is_postponed and self.policy is not None and not self.policy.is_sending:
            self._use_settings()

    def _use_stored(self) -> None:
        """Use the parameters that the node has stored."""
        if not self.has_begun:
            return
        if not self._node.get_parameter('enabled').value and self._in_use is not None:
            # First: no error below can prevent it.
            self._in_use.disable(self._stored.values.settings, self._stored.transition)
        if self._builder.requested is not None:
            self._builder.requested.try_now()
        try:
            self._use_changes(self._stored.read())
        except RneaError as error:
            self._diagnostics.notice('parameters', f'not all could be applied: {error}')
        else:
            self._diagnostics.notice('parameters', '')
        self.use_withheld_description()

    def _use_changes(self, previous: NodeParameters) -> None:
        values = self._stored.values
        self._clocks.is_simulated = self._node.get_parameter('use_sim_time').value
        if self._is_of_another_description(self._builder.refused) and values != previous:
            self._builder.forgive()  # it may fit now
        if values.own[TOPIC] not in ('', previous.own[TOPIC]):
            self.set_description(values.own[TOPIC])
        requested = self._builder.requested
        self._reconcile(None if requested is None else requested.transition)

    def _check(self, new: Mapping[str, Any], candidate: NodeParameters) -> None:
        """
        Check parameters against the model in use, before the node stores them.

        :param new: those that change, by name.
        :param candidate: all of them.
        :raises RneaError: where they do not fit it.
        """
        self._check_clock(new.get('use_sim_time', self._clocks.is_simulated))
        self.wanted_settings.reason_to_send_nothing(candidate.own)  # raises for a wrong name
        self._check_joints(candidate.settings.joints)
        self._check_description(candidate)
        in_use = self._in_use
        if in_use is not None and not self._is_for_another_robot(candidate):
            settings = self.wanted_settings.with_held_joints(candidate, in_use.model.robot)
            in_use.check_settings(settings)
            check_strictly(candidate.own['strict_model'], in_use.model.findings)
            numbers = ModelParameters(candidate.joint_parameters, self._payloads)
            if settings.enabled:
                in_use.check_parameters(numbers, settings)
            else:
                in_use.model.check(numbers)

    def _check_clock(self, is_simulated: bool) -> None:
        """
        Check that the clock does not change while efforts are sent, unless it has stopped.

        :raises ArgumentError: where it does.
        """
        if is_simulated is not self._clocks.is_simulated and not self._clocks.standstill() and (
                self.policy is not None and self.policy.is_sending):
            raise ArgumentError(
                f'use_sim_time cannot change to {str(is_simulated).lower()} while efforts are '
                'sent, because all ages would be measured by another clock: call ~/enable with '
                'false, and set use_sim_time when the effort has faded out')

    def _check_joints(self, joints: Sequence[str]) -> None:
        """
        Check that the order of the commands does not change while any are sent.

        :raises ArgumentError: where it does.
        """
        if self.policy is None or not self.policy.is_sending:
            return
        now = self.policy.settings.joints
        if now and tuple(joints) != now:
            raise ArgumentError(
                f'joints cannot change from [{", ".join(now)}] to [{", ".join(joints)}] while '
                'efforts are sent, because motors would get the efforts of other joints: call '
                '~/enable with false, and set joints when the effort has faded out')

    def _check_description(self, candidate: NodeParameters) -> None:
        """
        Check that the parameter describes no other robot while efforts are sent to this one.

        :raises ArgumentError: where it does.
        """
        description = candidate.own[TOPIC]
        if description == self._stored.values.own[TOPIC]:
            return
        name = robot_name(description)
        if self.policy is not None and name not in ('', self.policy.robot.name) and (
                self._drives(candidate.settings)):
            raise ArgumentError(
                f'robot_description describes the robot {name!r}, and {self.policy.robot.name!r} '
                'is driven: call ~/enable with false at rest, and set it then')

    def _is_for_another_robot(self, candidate: NodeParameters) -> bool:
        """
        Return whether parameters may be meant for another robot than the one in use.

        That is the case where they contain its description, while its model is being built, and
        while its model is refused because of the parameters.  In the last case the node can be
        enabled only with parameters for the robot in use.
        """
        if candidate.own[TOPIC] not in ('', self._stored.values.own[TOPIC]):
            return True
        if self._is_another_requested:
            return True
        is_enabled_now = candidate.settings.enabled and not self._stored.values.settings.enabled
        return self._is_of_another_description(self._builder.refused) and not is_enabled_now

    # ---- the model that is built ----------------------------------------------------------------

    def _use_answer(self, requested: RequestedModel, answer: Answer) -> None:
        """Use the worker's answer, in steps that each take little time."""
        if self._is_summary_due:
            self._log_summary()
        if isinstance(answer.result, RneaError):
            self._refuse(requested.source, answer.result)
            return
        model, policy = answer.result
        if requested.declarations is None:
            self._publishers.prepare(policy.controlled)
            requested.declarations = parameters.declare_for_joints(
                self._node, model.degrees_of_freedom)
        longest = LONGEST_FIRST_DECLARATIONS if self.policy is None else LONGEST_DECLARATIONS
        if not self._stored.declare(requested.declarations, longest):
            self._swap(requested, answer, answer.result)

    def _end_building(self) -> None:
        """Report what is known when no model is built any more; this takes longer than a swap."""
        if self._is_summary_due:
            self._log_summary()
        self._diagnostics.notice('model', self._refusal)

    def _refuse(self, source: Source, error: RneaError) -> None:
        """Report why a model is not used."""
        model, is_requested_again = self._model, isinstance(error, WorkerError)
        is_of_another = self._is_of_another_description(source)
        self._resolve_waiting()
        self._refusal = ''
        self._builder.refuse(source, is_requested_again)
        if model is None or is_of_another:
            self.refuse_description(error)
            if model is not None and not is_requested_again:
                self._remove_payloads(
                    lambda payload: payload.link in model.tree.links,
                    f'{model.robot.name!r} has no such link')
            self._request_wanted_model()  # a payload may have been added
            return
        self._wanted_description = source.description  # one that was refused before is given up
        if is_requested_again:
            self._refusal = (
                'the new model is not built yet, and the previous one stays in use: it is '
                f'requested again, since {error}')
        else:
            self._remove_payloads(model.accepts_payload, 'its model is refused')
            self._refusal = f'the new model is refused, and the previous one stays in use: {error}'
        self._diagnostics.notice('model', self._refusal)

    def _swap(self, requested: RequestedModel, answer: Answer, built: Built) -> None:
        """Use the requested model from now on, where that is possible."""
        if not requested.is_due:
            return
        model, policy = built
        previous = self.policy
        source, settings = requested.source, self._settings(model.robot)
        missing = {payload.link for payload in self._payloads
                   if payload.link in model.tree.links and not model.accepts_payload(payload)}
        if missing:
            self._request(source._replace(
                payload_links=tuple(sorted({*source.payload_links, *missing}))), None)
            return
        try:
            request = answer.request._replace(
                parameters=self._numbers, settings=settings)
            if request != answer.request:  # parameters have changed during the build
                policy = updated(model, policy, request)
                requested.answer = Answer(request, Built(model, policy))
                if previous is not None and not requested.was_updated:
                    requested.was_updated = True  # the swap follows in the next turn: see updated
                    return
            difference = '' if previous is None else difference_of_robots(previous, policy)
            if difference and previous and self._has_to_stay_out(requested, previous, difference):
                return
            replaced: list[object] = [self._in_use]
            if previous is not None:
                if previous.is_sending or self._drives(settings):  # also in a gap of the states
                    check_bounds(model, policy, previous)
                take_over(policy, previous, requested.transition)
            if difference:
                policy.memory.has_driven = False
            self._publish_for(policy)
        except RneaError as error:
            if isinstance(error, UnsafeChangeError):
                self._wait_with(requested, Built(model, policy), error)
            else:
                self._refuse(source, error)
            return
        del previous  # freed by the worker's thread
        requested.answer = None  # since it is used
        self._refusal = self.misfit = ''
        self._builder.stop_waiting()
        is_new = self._is_of_another_description(model.source)
        self._in_use = ModelInUse(model, policy, self._numbers)
        self._remove_payloads(
            lambda payload: payload.link in model.tree.links,
            f'{model.robot.name!r} has no such link')
        self._diagnostics.robot = model.robot.name
        self._diagnostics.findings = model.findings
        self._diagnostics.payloads = self._payloads
        if is_new:
            self._builder.forgive()
            self.unused_description = ''
            self._diagnostics.accepted(TOPIC)
            self._is_summary_due = True
        self._builder.free(replaced)
        self._request_wanted_model()  # payload links may have been added

    def _has_to_stay_out(
            self, requested: RequestedModel, policy: Policy, difference: str) -> bool:
        """
        Return whether another robot is not used (yet), and see to what is done with it instead.

        :param policy: of the robot in use.
        :param difference: to that robot.
        """
        present = self._present(policy.robot.name)
        description = requested.source.description
        if self._others.why_withheld(description, present):
            self._resolve_waiting()
            self._refusal = ''
            self._builder.stop_waiting()
            self._withhold(description, present, difference)
            self._wanted_description = self.description  # that of the robot in use
            self._request_wanted_model()  # payloads may have been added
            return True
        if policy.has_driven and policy.is_sending:
            if not requested.is_waiting:
                self._report_waiting(
                    f'{difference}. It is used when nothing is sent to the robot in use any more')
            requested.wait()
            return True
        return False

    def _wait_with(
            self, requested: RequestedModel, built: Built, error: UnsafeChangeError) -> None:
        """
        Use a new robot or model as soon as it can be driven, or nothing is being sent.

        Until then the previous one stays in use, and decides what is held if it has to stop.
        """
        if not requested.is_reported:
            is_robot = self._is_of_another_description(built.model.source)
            waiting = [repr(payload.name) for payload in self._payloads
                       if self._model is not None and not self._model.accepts_payload(payload)]
            way_out = ('publish the previous description again' if is_robot else
                       'move the arm to where it can be held')
            remedy = (
                f'. The payload {", ".join(waiting)} waits for it: remove the payload, or '
                f'{way_out}' if waiting else '')
            text = (f'the new {"robot" if is_robot else "model"} is not used yet, and the '
                    f'previous one stays in use: {error}{remedy}')
            if is_robot:
                self._report_waiting(text, is_error=True)
            else:
                self._diagnostics.notice('model', text)
        requested.wait()
        if requested.answer is not None:
            requested.answer = requested.answer._replace(result=built)

    def _report_waiting(self, text: str, is_error: bool = False) -> None:
        """Report that the description that has come waits until it can be used."""
        self.unused_description = text
        self._diagnostics.notice(TOPIC, text, is_error)

    def _log_summary(self) -> None:
        """Log which robot is in use; later than the swap, which must take little time."""
        self._is_summary_due = False
        self._diagnostics.notice('robot', '')
        if self._model is not None and self.policy is not None:
            log_model_summary(
                self._model, self.policy, parameters.overrides(self._node),
                self._node.get_logger())

    def _publish_for(self, policy: Policy) -> None:
        self._publishers.use(policy.controlled, has_commands=bool(policy.settings.joints))
