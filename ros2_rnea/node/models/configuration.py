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

The :class:`.ModelWorker` builds new models; this class swaps them in by assignments.  Until a
model is built, and where that fails, the previous model and settings stay in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from time import monotonic, thread_time
from typing import Any, NamedTuple

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.timer import Timer
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.robot_joints import controlled_joints
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError, RneaError, shortened, UnsafeChangeError
from ros2_rnea.model.checks import check_payload
from ros2_rnea.model.tree import BASE
from ros2_rnea.node import parameters
from ros2_rnea.node.bounds import MAX_PAYLOADS
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.models.build_report import BuildReport
from ros2_rnea.node.models.model_building import (
    check_strictly,
    Model,
    ModelParameters,
    needed_optional_parameters,
    Payload,
    Source,
)
from ros2_rnea.node.models.model_in_use import ModelInUse, take_over, updated
from ros2_rnea.node.models.model_summary import log_model_summary, NO_ROBOT
from ros2_rnea.node.models.other_robots import (
    difference_of_robots,
    OtherRobots,
    PresentRobot,
    robot_name,
)
from ros2_rnea.node.models.requested_model import RequestedModel
from ros2_rnea.node.parameters import (
    FRICTION_FROM_DESCRIPTION,
    NodeParameters,
    PositionLoop,
)
from ros2_rnea.node.timing.clocks import Clocks
from ros2_rnea.node.timing.cycle_timers import CycleTimers
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.worker.model_worker import Answer, Built, ModelWorker, Request
from ros2_rnea.node.worker.worker_process import WorkerError
from ros2_rnea.robots.arguments import check_link
from ros2_rnea.robots.robot import Robot

POLL_PERIOD = 0.005
"""How often the worker is asked for its answer [s]."""

FIRST_REBUILD_PERIOD, LONGEST_REBUILD_PERIOD = 1.0, 60.0
"""Delay before a model whose worker process has failed is requested again [s]; it doubles each
time."""

LONGEST_DECLARATIONS = 0.0003
"""How long parameters are declared in one callback [s of processor time]; each takes 0.1 ms."""

LONGEST_FIRST_DECLARATIONS = 0.01
"""How long for the first robot, for which the first effort waits and no cycle does [s]."""


class _Checked(NamedTuple):
    """
    Parameters that have been checked, and that the node stores unless they are refused elsewhere.

    :ivar candidate: all parameters of the node, if it stores the changed ones.
    """

    changed: Sequence[Parameter]
    candidate: NodeParameters


class Configuration:
    """
    The policy in use, and everything that replaces it.

    :ivar misfit: why the parameters do not fit the robot in use; empty where they do.
    :ivar has_begun: whether it is between :meth:`begin` and :meth:`close`, which may follow each
        other several times.
    :ivar is_active: whether the node may send efforts, as a managed node may while it is active.
    :param reason_to_send_nothing: returns, for values of the node's parameters, why no effort may
        be sent; empty where efforts may be sent.
    :param may_reach_other_joints: tells, likewise, whether efforts could reach other joints than
        they are meant for, so that not even a last effort may be sent.
    :param held_joints: returns the joints whose position or velocity other controllers command,
        and for people how that is known.
    """

    def __init__(
            self,
            node: Node,
            diagnostics: Diagnostics,
            clocks: Clocks,
            timers: CycleTimers,
            publishers: EffortPublishers,
            reason_to_send_nothing: Callable[[Mapping[str, Any]], str],
            may_reach_other_joints: Callable[[Mapping[str, Any]], bool],
            held_joints: Callable[[], tuple[frozenset[str], str]]) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._clocks = clocks
        self._timers = timers
        self._publishers = publishers
        self._reason_to_send_nothing = reason_to_send_nothing
        self._may_reach_other_joints = may_reach_other_joints
        self._held_joints = held_joints
        self._poll_timer: Timer | None = None
        self._deferred_apply: Timer | None = None  # its callback applies the stored parameters
        self._others = OtherRobots(node, diagnostics)
        self._report = BuildReport(node, diagnostics)
        self.is_active = True
        self._ending = ExitStack()  # undoes what begin() does
        self._reset()

    def _reset(self) -> None:
        """Begin with no robot, and with nothing that was requested for one."""
        self.has_begun = False
        self.misfit = ''
        self._in_use: ModelInUse | None = None
        self._payloads: tuple[Payload, ...] = ()  # some may wait for a model that accepts them
        self._wanted: str | None = None  # the description of the robot that is to be used
        self._requested: RequestedModel | None = None
        self._parameter_transition: float | None = None
        self._checked: _Checked | None = None
        self._may_differ = False  # whether the node may store other values than _parameters
        self._is_postponed = False  # a part of the settings, until nothing is sent any more
        self._refused: Source | None = None
        self._rebuild_at = inf  # a model is requested again, since its worker has failed
        self._rebuild_period = FIRST_REBUILD_PERIOD
        self._refusal = ''  # why another model of the description in use is refused
        self._is_summary_due = False
        self._is_declaring = False

    def begin(self) -> None:
        """
        Apply the parameters, now and when they change, and start the worker.

        :raises RneaError: where a parameter has an invalid value.
        """
        self._parameters = parameters.read(parameters.values_of(self._node))
        own, settings = self._parameters.own, self._settings()
        self._clocks.is_simulated = self._node.get_parameter('use_sim_time').value
        # Only now: a node whose parameters are refused starts no process.
        self._worker = ModelWorker(
            lambda cause: self._diagnostics.worker_exited('builds models', cause))
        self._ending.callback(self._worker.close)
        self._timers.restart(own['rate'], settings)
        if own['robot_description']:
            self.set_description(own['robot_description'])
        self._node.add_on_set_parameters_callback(self._check_parameters)
        self._ending.callback(
            self._node.remove_on_set_parameters_callback, self._check_parameters)
        if hasattr(self._node, 'add_post_set_parameters_callback'):
            self._node.add_post_set_parameters_callback(self._on_parameters_set)
            self._ending.callback(
                self._node.remove_post_set_parameters_callback, self._on_parameters_set)
        self.has_begun = True

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
        source = self._latest
        return None if source is None else source.description

    @property
    def observes(self) -> bool:
        """Return whether the robot in use has what the observation of external efforts needs."""
        return self._model is not None and self._model.source.observes

    @property
    def is_settled(self) -> bool:
        """Return whether no change is pending, except for one that could not be used safely."""
        is_waiting = self._requested is not None and self._requested.is_waiting
        return (self._poll_timer is None or is_waiting) and self._deferred_apply is None

    @property
    def waiting_policy(self) -> Policy | None:
        """Return the policy of a new robot that is not used yet, because it would not be held."""
        return None if self._requested is None else self._requested.waiting_policy

    def poll(self) -> bool:
        """
        Look what has changed around the requested descriptions; to be called regularly.

        :return: whether the descriptions have to be received again.
        """
        self._rebuild_if_due()
        self.note_silence()
        withheld = self._others.withheld
        is_to_be_received = self._others.publishers.poll() and (
            self.is_withholding or self.description is None)
        if is_to_be_received:
            self._others.publishers.forget_difference()
            self._forget_withheld_of_topic()
        elif withheld is not None and withheld.description is None:
            self._others.withheld = None  # those that were received again are of one robot
            self._apply_settings()
        self.use_withheld_description()
        self._others.report(self._present)
        return is_to_be_received

    def _rebuild_if_due(self) -> None:
        """
        Request a model again whose worker process has failed.

        The process may have been killed because memory was scarce for a moment.
        """
        if self._refused is not None and self._requested is None and (
                monotonic() >= self._rebuild_at):
            self._rebuild_at = inf
            self._rebuild_period = min(2.0 * self._rebuild_period, LONGEST_REBUILD_PERIOD)
            self._refused = None
            self._request_wanted_model()

    def take_description(self, description: str) -> None:
        """Request the model of a description that has arrived, unless it is known."""
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
        if description == latest == self._wanted:
            self._note_usable_description()
            return
        if latest is None and self._refused is not None and self._rebuild_at < inf:
            latest = self._refused.description
        name, known = robot_name(description), '' if latest is None else robot_name(latest)
        if self.policy is not None and self._drives(self._parameters.settings):
            known = self.policy.robot.name  # also while another one is being built
        present = self._present(known)
        if name and known and name != known and self._others.why_withheld(description, present):
            self._withhold(description, present, f'it describes the robot {name!r}, not {known!r}')
        else:
            self._request_description(description)

    def _request_description(self, description: str) -> None:
        self._rebuild_period = FIRST_REBUILD_PERIOD
        self._wanted, self._refused = description, None
        self._request_wanted_model()
        self._note_usable_description()

    def _note_usable_description(self) -> None:
        """Note that nothing is wrong with the description that has come, if it is in use."""
        if self._requested is None and not self.is_withholding:
            self._diagnostics.notice('robot_description', '')

    # ---- other robots ---------------------------------------------------------------------------

    @property
    def is_withholding(self) -> bool:
        """Return whether another robot is described, too, which is not used."""
        return self._others.withheld is not None

    def _present(self, name: str) -> PresentRobot:
        """
        Return what is known of the robot that would stay.

        :param name: of the robot.
        """
        return PresentRobot(
            name, self.policy is not None and self.policy.has_driven,
            self._drives(self._parameters.settings), self._parameters.own['robot_description'])

    def _drives(self, settings: Settings) -> bool:
        """Return whether efforts to the robot in use are wanted, and some have been received."""
        return (self.policy is not None and self.policy.has_driven and self.is_active
                and settings.enabled)

    def _withhold(self, description: str, present: PresentRobot, difference: str) -> None:
        """Go on with the robot in use, or with the one that is being built."""
        self._others.withhold(description, present, difference)
        if self._others.is_undecided:
            self._apply_settings()

    def _forget_withheld_of_topic(self) -> None:
        """
        Withhold no description any more that may not be published now.

        Where it was undecided, and several are left, it stays so until the descriptions that are
        received again have told whether they are of one robot.
        """
        withheld = self._others.withheld
        if withheld is not None and withheld.description != (
                self._parameters.own['robot_description']):
            self._forget_withheld()
            self._others.stay_undecided(withheld)

    def _forget_withheld(self) -> None:
        """Withhold no description any more; where it was undecided, no robot is in use then."""
        if self._others.is_undecided:
            self._worker.cancel()
            self._stop_waiting()
            self._discard_robot()
            self._wanted, self._refused, self._rebuild_at = None, None, inf
        self._others.forget()
        if self._requested is not None:
            self._requested.try_now()

    def use_withheld_description(self) -> None:
        """Request the model of another robot that was withheld, if it can be used now."""
        withheld = self._others.withheld
        if withheld is not None and withheld.description is not None and (
                not self._others.why_withheld(
                    withheld.description, self._present(withheld.present))):
            self.set_description(withheld.description)

    def set_description(self, description: str) -> None:
        """Request the model of a description; the previous one stays in use if it is refused."""
        if self.is_withholding:
            self._forget_withheld()
        self._request_description(description)

    def _discard_robot(self) -> None:
        self._in_use = None
        self._diagnostics.discard_robot()

    def discard_superseded(self) -> None:
        """Drop the robot in use where another one is requested, which has to be waited for."""
        if self._model is not None and self._is_another_requested:
            self._discard_robot()

    def close(self) -> None:
        """Stop the worker, drop the robot, and follow the parameters no longer."""
        self._ending.close()
        self._others.reset()
        self._stop_polling()
        self._stop_deferred_apply()
        self._reset()

    # ---- payloads -------------------------------------------------------------------------------

    def set_payload(self, payload: Payload, transition: float | None = None) -> bool:
        """
        Attach a payload to a link, in place of a payload of the same name.

        :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
        :return: whether the payload is in use; if not, it will be once a model is built for it.
        :raises RneaError: where the payload or its link is invalid; then nothing has changed.
        """
        self._require_source()
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
        self._require_source()
        names = [payload.name for payload in self._payloads]
        if name not in names:
            raise ArgumentError(
                f'there is no payload {name!r}; there is {", ".join(names) or "none"}')
        others = (other for other in self._payloads if other.name != name)
        return self._set_payloads(tuple(others), transition)

    def _require_source(self) -> Source:
        source = self._latest
        if source is None:
            raise ArgumentError(NO_ROBOT)
        return source

    def _set_payloads(self, payloads: tuple[Payload, ...], transition: float | None) -> bool:
        previous, self._payloads = self._payloads, payloads
        try:
            self._apply_model_parameters(transition)
        except BaseException:
            self._payloads = previous
            raise
        is_in_use = self._model is not None and all(map(self._model.accepts_payload, payloads))
        if not is_in_use or self._requested is not None:  # the requested model must accept them
            if not self._is_of_another_description(self._refused):
                self._refused = None  # it may be built with these payloads, or now
            self._request_wanted_model(transition)
        return is_in_use

    def _apply_model_parameters(self, transition: float | None) -> None:
        """
        Set payloads and joint parameters in the robot, those that its model accepts.

        :raises RneaError: where a value is not possible; then nothing has changed.
        """
        in_use, wanted = self._in_use, self._model_parameters
        if in_use is None or wanted == in_use.applied:
            return
        in_use.set_parameters(wanted, transition)
        self._diagnostics.payloads = tuple(
            payload for payload in self._payloads if payload.name in in_use.model.robot.payloads)

    @property
    def _model_parameters(self) -> ModelParameters:
        return ModelParameters(self._parameters.joint_parameters, self._payloads)

    # ---- parameters -----------------------------------------------------------------------------

    def set_parameter(
            self, name: str, value: Any, transition: float | None = None) -> SetParametersResult:
        """
        Set a parameter of the node as a ROS client would, and apply it before returning.

        :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
        """
        self._parameter_transition = transition
        try:
            result = self._node.set_parameters([Parameter(name, value=value)])[0]
            if self._deferred_apply is not None:
                self._apply_parameters()
        finally:
            self._parameter_transition = None
        return result

    def refresh(self) -> str:
        """
        Check again whether an effort may be sent.

        :return: why the parameters do not fit the robot in use; empty where they do.
        """
        if self.has_begun:
            self._apply_settings()
        return self.misfit

    def _check_parameters(self, changed: list[Parameter]) -> SetParametersResult:
        """
        Return whether parameters may be set.

        Nothing is applied here, because another callback may still refuse them.
        """
        if self._is_declaring:
            self._may_differ = True
            return SetParametersResult(successful=True)
        new = {parameter.name: parameter.value for parameter in changed}
        self._checked = None
        try:
            # The request to send nothing is never refused, whatever else is wrong.
            if new != {'enabled': False}:
                self._check_clock(new.get('use_sim_time', self._clocks.is_simulated))
                candidate = self._candidate(new)
                self._check(candidate)
                self._checked = _Checked(changed, candidate)
        except RneaError as error:
            return SetParametersResult(successful=False, reason=shortened(str(error)))
        self._may_differ = True
        if not hasattr(self._node, 'add_post_set_parameters_callback') and (
                self._deferred_apply is None):  # Humble
            self._deferred_apply = self._timer(0.0, self._apply_parameters)
        return SetParametersResult(successful=True)

    def _candidate(self, new: Mapping[str, Any]) -> NodeParameters:
        """
        Return all parameters of the node, if it stores some new values.

        :raises RneaError: where a value is invalid.
        """
        candidate = None if self._may_differ else parameters.with_changes(self._parameters, new)
        if candidate is None:
            candidate = parameters.read({**parameters.values_of(self._node), **new})
        return candidate

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

    def _check(self, candidate: NodeParameters) -> None:
        """
        Check parameters against the model in use.

        :raises RneaError: where they do not fit it.
        """
        self._reason_to_send_nothing(candidate.own)  # raises where a controller has no valid name
        self._check_joints(candidate.settings.joints)
        self._check_description(candidate)
        in_use = self._in_use
        if in_use is not None and not self._is_for_another_robot(candidate):
            settings = self._with_held_joints(candidate, in_use.model.robot)
            in_use.check_settings(settings)
            check_strictly(candidate.own['strict_model'], in_use.model.findings)
            of_model = ModelParameters(candidate.joint_parameters, self._payloads)
            if settings.enabled:
                in_use.check_parameters(of_model, settings)
            else:
                in_use.model.check(of_model)

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
        description = candidate.own['robot_description']
        if description == self._parameters.own['robot_description']:
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
        if candidate.own['robot_description'] not in (
                '', self._parameters.own['robot_description']):
            return True
        if self._is_another_requested:
            return True
        is_enabled_now = candidate.settings.enabled and not self._parameters.settings.enabled
        return self._is_of_another_description(self._refused) and not is_enabled_now

    @property
    def _is_another_requested(self) -> bool:
        """Return whether the model of another description is requested than the one in use."""
        return self._requested is not None and self._is_of_another_description(
            self._requested.source)

    def _is_of_another_description(self, source: Source | None) -> bool:
        model = self._model
        return source is not None and (
            model is None or source.description != model.source.description)

    def _on_parameters_set(self, _: list[Parameter]) -> None:
        self._apply_parameters()

    def _apply_parameters(self) -> None:
        """Apply the stored parameters, and request a new model where they need one."""
        if self._is_declaring or not self.has_begun:
            return
        self._stop_deferred_apply()
        if not self._node.get_parameter('enabled').value and self._in_use is not None:
            # First: no error below can prevent it.
            self._in_use.disable(self._parameters.settings, self._parameter_transition)
        if self._requested is not None:
            self._requested.try_now()
        try:
            self._apply_all_parameters()
        except RneaError as error:
            self._diagnostics.notice('parameters', f'not all could be applied: {error}')
        else:
            self._diagnostics.notice('parameters', '')
        self.use_withheld_description()

    def _stop_deferred_apply(self) -> None:
        if self._deferred_apply is not None:
            self._node.destroy_timer(self._deferred_apply)
            self._deferred_apply = None

    def _apply_all_parameters(self) -> None:
        previous, self._parameters = self._parameters, self._stored_parameters()
        self._may_differ = False
        self._clocks.is_simulated = self._node.get_parameter('use_sim_time').value
        self._apply_settings()
        if self._is_of_another_description(self._refused) and self._parameters != previous:
            self._refused = None  # it may fit now
        description = self._parameters.own['robot_description']
        if description and description != previous.own['robot_description']:
            self.set_description(description)
        else:
            self._request_wanted_model(
                None if self._requested is None else self._requested.transition)
        self._apply_model_parameters(self._parameter_transition)

    def _stored_parameters(self) -> NodeParameters:
        """Return the parameters of the node, which have been read already if just checked."""
        checked, self._checked = self._checked, None
        if checked is not None and all(
                self._node.get_parameter(parameter.name) is parameter
                for parameter in checked.changed):
            return checked.candidate
        return parameters.read(parameters.values_of(self._node))

    def _apply_settings(self) -> None:
        """Apply the settings to the policy of the robot in use, or note why they do not fit."""
        settings = self._settings()
        self._timers.restart(self._parameters.own['rate'], settings)
        self.misfit, self._is_postponed = '', False
        in_use = self._in_use
        if in_use is None or settings == in_use.policy.settings:
            return
        try:
            in_use.change_settings(settings, self._parameter_transition, self._publish_for)
        except ArgumentError as error:
            if not settings.enabled:
                in_use.disable(settings, self._parameter_transition)
                if in_use.policy.is_sending:
                    self._is_postponed = True
                    return
            self.misfit = str(error)
            self._node.get_logger().warning(
                'the parameters do not fit the robot in use, which keeps the previous ones: '
                f'{error}')

    def note_silence(self) -> None:
        """Apply what has waited until nothing is sent any more."""
        if self._is_postponed and self.policy is not None and not self.policy.is_sending:
            self._apply_settings()

    def _settings(self, robot: Robot | None = None) -> Settings:
        """
        Return the settings to be used, by all that is known.

        :param robot: for which; None: the one in use, if there is one.
        """
        own = self._parameters.own
        if robot is None and self._model is not None:
            robot = self._model.robot
        settings = self._with_held_joints(self._parameters, robot)
        if settings.enabled and (
                not self.is_active or self._others.is_undecided
                or self._reason_to_send_nothing(own)):
            settings = replace(settings, enabled=False, may_be_enabled=False)
        if self._others.is_undecided or self._may_reach_other_joints(own):
            settings = replace(settings, enabled=False, may_send_last=False)
        return settings

    def _with_held_joints(self, parameters: NodeParameters, robot: Robot | None) -> Settings:
        """Return the settings of parameters, with the joints that others hold."""
        settings, loop = parameters.settings, parameters.own['position_loop']
        held = self._held_joints()[0] if loop is PositionLoop.AUTOMATIC else frozenset()
        if not held and loop is not PositionLoop.PRESENT:
            return settings
        joints = frozenset(settings.joints)
        if not joints and robot is not None:
            joints = frozenset(controlled_joints(robot, settings))
        return replace(settings, held_by_others=joints & held if held else joints)

    def why_alone(self) -> str:
        """Return a sentence on how it is known which joints the node moves alone."""
        loop = self._parameters.own['position_loop']
        how = f' ({self._held_joints()[1]})' if loop is PositionLoop.AUTOMATIC else ''
        return (f'This follows from position_loop: {loop.value}{how}; set it to '
                f'{_listed_others(loop)} where it is wrong')

    def _source(self, description: str) -> Source:
        """Return the source of a description's model with the present parameters and payloads."""
        own, model = self._parameters.own, self._model
        links = {*own['payload_links']}
        optional = {*needed_optional_parameters(self._parameters.joint_parameters)}
        if model is not None and model.source.description != description:
            if robot_name(description) == model.robot.name:  # its links still accept payloads
                links.update(model.tree.links.keys() & {*model.source.payload_links})
            model = None
        for other in (self._requested, model):
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

    # ---- the worker -----------------------------------------------------------------------------

    @property
    def _latest(self) -> Source | None:
        if self._requested is not None:
            return self._requested.source
        return None if self._model is None else self._model.source

    def _request_wanted_model(self, transition: float | None = None) -> None:
        """
        Request the model that is wanted by now.

        Where the wanted description is refused, the robot in use stays, and its model is the one
        that has to fit the parameters and payloads.

        :param transition: duration of the blend to its effort [s]; None: ``blend_time``.
        """
        model = self._model
        for description in (self._wanted, None if model is None else model.source.description):
            source = None if description is None else self._source(description)
            if source is not None and not self._is_refused(source):
                self._request(source, transition)
                return

    def _is_refused(self, source: Source) -> bool:
        """
        Return whether a model is not requested again by itself.

        Payloads are those of the robot in use: another description is refused whatever they are.
        """
        refused = self._refused
        if refused is None or source.description != refused.description:
            return False
        return source == refused or self._is_of_another_description(refused)

    def _request(self, source: Source, transition: float | None = None) -> None:
        """
        Request a model, unless it is in use or requested already.

        :param transition: duration of the blend to its effort [s]; None: ``blend_time``.
        """
        if self._requested is not None and source == self._requested.source:
            self._requested.prolong(transition)
            return
        if self._refused is not None and self._refused.description == source.description:
            self._refused = None
        self._discard_answer()
        model = self._model
        if model is not None and source == model.source:
            self._worker.cancel()
            self._stop_waiting()
            return
        self._report.begin()
        self._requested = RequestedModel(source, transition)
        self._worker.request(Request(source, self._model_parameters, self._settings()))
        if self._poll_timer is None:
            self._poll_timer = self._timer(POLL_PERIOD, self._poll_worker)

    def _timer(self, period: float, callback: Callable[[], None]) -> Timer:
        return self._node.create_timer(
            period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _poll_worker(self) -> None:
        """Fetch the worker's answer and use it, in steps that each take little time."""
        if self._is_summary_due:
            self._log_summary()
        requested = self._requested
        if requested is None:
            self._stop_polling()
            self._diagnostics.notice('model', self._refusal)
            return
        if requested.answer is None:
            requested.answer = self._worker.take()
            progress = self._worker.progress
            if requested.answer is None:
                self._report.go_on(progress, self._model is not None)
                return
            self._report.answered(progress, requested.answer.result)
            if isinstance(requested.answer.result, Built):
                model, policy = requested.answer.result
                self._publishers.prepare(policy.controlled)
                requested.declarations = parameters.declare_for_joints(
                    self._node, model.degrees_of_freedom)
        result = requested.answer.result
        if isinstance(result, RneaError):
            self._refuse(requested.source, result)
        elif not self._declare_some(requested.declarations):
            self._swap(requested, requested.answer, result)

    def _declare_some(self, declarations: Iterator[None]) -> bool:
        """Declare some of the joints' parameters, and return whether more may remain."""
        self._is_declaring = True
        started = thread_time()
        longest = LONGEST_FIRST_DECLARATIONS if self.policy is None else LONGEST_DECLARATIONS
        try:
            for _ in declarations:
                if thread_time() - started > longest:
                    return True
            return False
        except ParameterException as error:  # refused by another callback of the node
            self._node.get_logger().warning(
                f'the parameters of some joints cannot be declared: {error}')
            return False
        finally:
            self._is_declaring = False

    def _discard_answer(self) -> None:
        """Let the worker's thread free an answer that a newer request has superseded."""
        requested = self._requested
        if requested is None:
            return
        if requested.is_waiting and self._is_another_requested and not self.is_withholding:
            self._diagnostics.notice('robot_description', '')
        if requested.answer is not None:
            replaced: list[object] = [requested.answer]
            requested.answer = None
            self._worker.discard(replaced)

    def _stop_waiting(self) -> None:
        """Wait for no model; the next poll resolves the notice, which takes longer than a swap."""
        self._discard_answer()
        self._report.end()
        self._requested = None
        self._refusal = ''
        if self._poll_timer is None:
            self._diagnostics.notice('model', '')

    def _stop_polling(self) -> None:
        if self._poll_timer is not None:
            self._node.destroy_timer(self._poll_timer)
            self._poll_timer = None

    def _refuse(self, source: Source, error: RneaError) -> None:
        """Report why a model is not used."""
        self._stop_waiting()
        self._refused = source
        is_requested_again = isinstance(error, WorkerError)
        self._rebuild_at = monotonic() + self._rebuild_period if is_requested_again else inf
        model = self._model
        if model is not None and source.description == model.source.description:
            self._wanted = source.description  # the one that was refused before is given up
        if model is None or (
                is_requested_again and source.description != model.source.description):
            self._diagnostics.refused('robot_description', error)
            self._request_wanted_model()  # a payload may have been added
        elif is_requested_again:
            self._refusal = (
                'the new model is not built yet, and the previous one stays in use: it is '
                f'requested again, since {error}')
            self._diagnostics.notice('model', self._refusal)
        elif source.description != model.source.description:
            self._diagnostics.refused('robot_description', error)
            self._remove_payloads(
                lambda payload: payload.link in model.tree.links,
                f'{model.robot.name!r} has no such link')
            self._request_wanted_model()  # a payload may have been added
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
                payload_links=tuple(sorted({*source.payload_links, *missing}))),
                requested.transition)
            return
        try:
            request = answer.request._replace(
                parameters=self._model_parameters, settings=settings)
            if request != answer.request:  # parameters have changed meanwhile
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
        self._requested = None  # with its answer, which is used
        self._stop_waiting()
        is_new = self._is_of_another_description(model.source)
        self._in_use = ModelInUse(model, policy, self._model_parameters)
        self._remove_payloads(
            lambda payload: payload.link in model.tree.links,
            f'{model.robot.name!r} has no such link')
        self._diagnostics.robot = model.robot.name
        self._diagnostics.findings = model.findings
        self._diagnostics.payloads = self._payloads
        if is_new:
            self._refused = None
            self._diagnostics.accepted(
                'robot_description', is_resolved=not self.is_withholding)
            self._is_summary_due = True
        self._worker.discard(replaced)
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
            self._stop_waiting()
            self._withhold(description, present, difference)
            self._wanted = self.description  # that of the robot in use
            self._request_wanted_model()  # payloads may have been added
            return True
        if policy.has_driven and policy.is_sending:
            if not requested.is_waiting:
                self._diagnostics.notice('robot_description', (
                    f'{difference}. It is used when nothing is sent to the robot in use any more'))
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
            remedy = (
                f'. The payload {", ".join(waiting)} waits for it: remove the payload, or move '
                'the arm to where it can be held' if waiting else '')
            self._diagnostics.notice('robot_description' if is_robot else 'model', (
                f'the new {"robot" if is_robot else "model"} is not used yet, and the previous '
                f'one stays in use: {error}{remedy}'), is_error=is_robot)
        requested.wait()
        if requested.answer is not None:
            requested.answer = requested.answer._replace(result=built)

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

    def _remove_payloads(self, can_stay: Callable[[Payload], bool], reason: str) -> None:
        """Remove the payloads that cannot stay, and log which and why."""
        for payload in self._payloads:
            if not can_stay(payload):
                self._node.get_logger().warning(
                    f'the payload {payload.name!r} on link {payload.link!r} is removed: {reason}')
        self._payloads = tuple(filter(can_stay, self._payloads))


def _listed_others(loop: PositionLoop) -> str:
    """Return the other values of the parameter as text."""
    return ' or '.join(other.value for other in PositionLoop if other is not loop)
