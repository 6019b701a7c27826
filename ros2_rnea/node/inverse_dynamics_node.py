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
"""The node: its topics and its cycle, around a policy."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from math import inf
import sys
from time import monotonic, perf_counter, sleep
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
import rclpy
from rclpy.clock import Clock, ClockType, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from ros2_rnea.control.decision import Decision, Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.inputs.state_ages import StateAges
from ros2_rnea.control.output.start_effort import Evidence
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.situation import OLDEST_STATE
from ros2_rnea.control.transitions import LONGEST_FADE
from ros2_rnea.errors import ArgumentError, RneaError, shortened
from ros2_rnea.node import monitor, parameters
from ros2_rnea.node.bounds import (
    check_description_size,
    MAX_SENSOR_BYTES,
    MAX_STATE_BYTES,
    MAX_TRAJECTORY_BYTES,
)
from ros2_rnea.node.controllers.compensating_controllers import CompensatingControllers
from ros2_rnea.node.controllers.controllers import Controllers
from ros2_rnea.node.controllers.other_publishers import OtherPublishers
from ros2_rnea.node.controllers.receivers import Receivers
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.guarded_node import GuardedNode
from ros2_rnea.node.log_output import fill_standard_descriptors, unblocked_log
from ros2_rnea.node.migration import Migration
from ros2_rnea.node.models.configuration import Configuration
from ros2_rnea.node.models.wanted_settings import WantedSettings
from ros2_rnea.node.parameter_file import files_in, files_of_others, start_error
from ros2_rnea.node.parameter_requests import Rules
from ros2_rnea.node.process import (
    EndSignals,
    lock_memory,
    make_executor,
    prepare_logging,
    raise_priority,
    shared_memory_warning,
    Spinning,
    SWITCH_INTERVAL,
)
from ros2_rnea.node.services.change_services import ChangeServices
from ros2_rnea.node.services.compute_services import Services
from ros2_rnea.node.slow_engine import SlowEngine
from ros2_rnea.node.timing.clock_steps import ClockSteps
from ros2_rnea.node.timing.clocks import Clocks
from ros2_rnea.node.timing.cycle_timers import CycleTimers
from ros2_rnea.node.topics.conversions import deserialized, listed
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.topics.external_effort_publishers import ExternalEffortPublishers
from ros2_rnea.node.topics.inputs import Input, INPUTS, Inputs, source_of
from ros2_rnea.node.topics.model_publisher import ModelPublisher
from ros2_rnea.node.topics.qos import LATCHED_BY_SEVERAL, sensor_data, TRAJECTORIES
from ros2_rnea.node.topics.serialized_states import StateReader
from ros2_rnea.node.topics.terms_publisher import TermsPublisher
from ros2_rnea.node.topics.trajectory_input import TOPIC, TrajectoryInput
from ros2_rnea.node.transports import avoid_shared_memory
from ros2_rnea.node.usage import USAGE, wants_help
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Header, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

OLDEST_PLAUSIBLE_STATE = 10.0
"""A state older than this [s] was stamped by another clock: its latency is not measured."""

LARGEST_SIMULATED_STEP = 10.0
"""A larger step of simulated time [s] is a jump: no clock of a simulation ticks so slowly."""

STATES = 'joint_states'
"""The topic of the measured states."""

SHUTDOWN_PERIOD = 0.002
"""Period at which efforts are sent while the node ends [s]."""

PAUSE_AFTER_ERROR = 0.001
"""Pause after an error of the executor itself [s]: repeated errors leave time to others."""


class InverseDynamicsNode(GuardedNode):
    """Publishes the effort that the desired motion needs, for each joint state that arrives."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__('inverse_dynamics', **arguments)
        prepare_logging()
        self._refused_values = parameters.declare(self)
        self._descriptions: Subscription | None = None
        self.add_on_set_parameters_callback(self._refuse_deletion)
        self._reader = StateReader()
        self._state_ages, self._joy_ages = StateAges(), StateAges()
        self._input_ages = {row.topic: StateAges() for row in INPUTS}
        self._state_stamp = (0, 0)
        self._knows_sources = False  # whether messages tell who has published them
        self._is_due = False  # an effort, for joint states that have been received
        self._has_failed = False  # even the last effort: nothing is sent before ~/enable
        self._alone: object = None  # held_by_others, of which it was logged what is moved alone
        self._clocks = Clocks(self)
        self._now = ClockSteps(self._clocks, self._on_clock_step).now
        self._diagnostics = Diagnostics(self)
        self._effort_publishers = EffortPublishers(self)
        self._receivers = Receivers(
            self, self._effort_publishers.of_commands, lambda: self._other_publishers.nodes)
        self._other_publishers = OtherPublishers(
            self, self._effort_publishers.of_commands, self._diagnostics, self._is_commanding,
            self._receivers.note_command_of_others)
        self._terms_publisher = TermsPublisher(self)
        self._external = ExternalEffortPublishers(
            self, self._diagnostics, lambda: self._configuration.observes)
        self._cycle_timers = CycleTimers(self, self._clocks, self._on_rate, self._on_watch)
        self._controllers = Controllers(
            self, self._diagnostics, self._effort_publishers.of_commands.topic_name,
            self._receivers, lambda: self._configuration.refresh())
        self._compensating = CompensatingControllers(
            self, self._diagnostics, self._clocks.steady, self._on_compensation)
        self._engine = SlowEngine(self._diagnostics, lambda: self._configuration.refresh())
        self._former = Migration(parameters.overrides(self))
        self._configuration = Configuration(
            self, self._diagnostics, self._clocks, self._cycle_timers, self._effort_publishers,
            WantedSettings(
                self._reason_to_send_nothing, self._controllers.may_reach_other_joints,
                self._controllers.held_joints, lambda: self._compensating.joints))
        self.prepare()
        self._answers = Services(
            self, lambda: self.policy, self._clocks.steady,
            lambda cause: self._diagnostics.worker_exited('answers services', cause),
            lambda: self._controllers.trajectory_joints, self._diagnostics,
            self._compensating.why_twice)
        self._model_publisher = ModelPublisher(
            self, self._diagnostics, lambda: self._configuration.source, lambda: self.policy,
            self._answers.call_in_background, self._answers.process)
        ChangeServices(self, self._configuration, self._clocks)
        self.create_service(SetBool, '~/enable', self._on_enable)
        self._receive_descriptions()
        states = Input(
            STATES, JointState, sensor_data(self.get_parameter('state_depth').value),
            MAX_STATE_BYTES, self._take_joint_state, self._cycle_if_due, raw=True,
            with_info=True)
        self._trajectories = TrajectoryInput(
            self, lambda: self.policy, self._now, self._age_of_trajectory, self._diagnostics)
        trajectories = Input(
            TOPIC, JointTrajectory, TRAJECTORIES, MAX_TRAJECTORY_BYTES, self._trajectories.take,
            raw=True, with_info=True,
            refusal_without_robot='there is no robot yet that could follow the trajectory')
        joy = Input(
            'joy', Joy, sensor_data(1), MAX_SENSOR_BYTES, self._take_joy, raw=True,
            with_info=True, is_wanted=lambda settings: settings.dead_man_button >= 0)
        self._inputs = Inputs(
            self, (states, trajectories, joy, *INPUTS), lambda: self.policy, self._now,
            self._age_of_input, self._diagnostics)
        self.create_timer(
            monitor.PERIOD, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._jumps = self.get_clock().create_jump_callback(
            JumpThreshold(
                min_forward=Duration(seconds=LARGEST_SIMULATED_STEP),
                min_backward=Duration(nanoseconds=-1)),
            post_callback=self._on_time_jump)
        self._publish_terms = self.guarded(self._send_terms)
        self._report = self.guarded(self._report_decision)
        for warning in (*parameters.unknown_parameters(self), *self._former.warnings):
            self.get_logger().warning(warning)
        self._diagnostics.notice('former parameters', self._former.error, is_error=True)

    def prepare(self) -> None:
        """
        Begin as soon as the node exists.

        :raises RneaError: where a parameter has an invalid value.
        """
        self.begin()

    def begin(self) -> None:
        """
        Use the parameters, and load the robot.

        :raises RneaError: where a parameter has an invalid value.
        """
        for error in self._refused_values.values():
            raise error
        self._configuration.begin()
        self._controllers.poll()

    # ---- what others may look at ----------------------------------------------------------------

    @property
    def policy(self) -> Policy | None:
        """Return the policy in use; None while there is no robot."""
        return self._configuration.policy

    @property
    def configuration(self) -> Configuration:
        """Return what replaces the robot and the parameters, as the services ask it to."""
        return self._configuration

    @property
    def diagnostics(self) -> Diagnostics:
        """Return what is reported in /diagnostics and in the log."""
        return self._diagnostics

    @property
    def clocks(self) -> Clocks:
        """Return the clocks by which the node sends efforts and judges the age of messages."""
        return self._clocks

    @property
    def input_ages(self) -> dict[str, StateAges]:
        """Return what measures how old messages are, by input topic."""
        return {STATES: self._state_ages, 'joy': self._joy_ages, **self._input_ages}

    # ---- life -----------------------------------------------------------------------------------

    def destroy_node(self) -> None:
        """Stop the worker processes too."""
        self._answers.close()
        self._trajectories.close()
        self._configuration.close()
        super().destroy_node()

    def configure_process(self) -> None:
        """Lock memory and set the priority as the parameters say, or report why that failed."""
        own = parameters.read(parameters.values_of(self)).own
        if own['lock_memory']:
            self._diagnostics.notice('lock_memory', lock_memory())
        if own['thread_priority']:
            self._diagnostics.notice('thread_priority', raise_priority(own['thread_priority']))

    # ---- messages -----------------------------------------------------------------------------

    def _receive_descriptions(self) -> None:
        """Receive all descriptions that are published, again if they have been received before."""
        if self._descriptions is not None:
            self.destroy_subscription(self._descriptions)
        self._descriptions = self.create_subscription(
            String, 'robot_description', self._take_description, LATCHED_BY_SEVERAL, raw=True)

    def _take_description(self, message: bytes) -> None:
        """Read a description, unless it is far larger than that of any robot."""
        try:
            check_description_size(len(message))
            self._on_description(deserialized(message, String))
        except RneaError as error:
            self._configuration.refuse_description(error)

    def _on_description(self, message: String) -> None:
        self._configuration.take_description(message.data)

    def _take_joint_state(
            self, policy: Policy, taken: tuple[bytes, Any], now: Instant) -> None:
        """Pass joint states to the policy, and note whether an effort is due."""
        message, info = taken
        source = source_of(info)
        self._knows_sources = source is not None
        names, positions, velocities, stamp, efforts = self._reader.read(
            message, self._terms_publisher.has_subscriber or not policy.has_start
            or self._receivers.is_handing_over or self._external.is_needed(policy))
        measured = MeasuredJoints(
            names, positions, velocities, efforts, stamp[0] + 1e-9 * stamp[1],
            self._age(self._state_ages, info, stamp, names, now, policy.settings.state_timeout),
            source)
        try:
            if policy.take_joint_state(measured, now):
                self._state_stamp, self._is_due = stamp, True
        finally:
            waiting = self._configuration.waiting_policy
            if waiting is not None:  # it may wait for joints that the robot in use does not have
                self.guarded(_take_if_usable)(waiting, measured, now)

    def _take_joy(
            self, policy: Policy, taken: tuple[bytes, Any], now: Instant) -> None:
        """Read the dead-man switch."""
        message, info = taken
        joy = deserialized(message, Joy)
        stamp = joy.header.stamp.sec, joy.header.stamp.nanosec
        policy.take_buttons(joy.buttons, now, self._age(
            self._joy_ages, info, stamp, joy.header.frame_id, now,
            policy.settings.dead_man_timeout))

    def _age_of_input(
            self, topic: str, info: Any, header: Header, now: Instant, timeout: float) -> float:
        """Return the age of a message on a topic of :data:`.INPUTS` [s]; infinite: any."""
        stamp = header.stamp.sec, header.stamp.nanosec
        return self._age(
            self._input_ages[topic], info, stamp, header.frame_id, now, timeout)

    def _age_of_trajectory(self, info: Any, now: Instant) -> float:
        """Return the age of a trajectory [s]; infinite: it is not known."""
        if self._clocks.is_simulated:
            return 0.0
        timeout = self._cycle_timers.state_timeout
        self._state_ages.note_alive(now.steady, timeout)
        return self._state_ages.age_of_command(
            info['received_timestamp'], info['source_timestamp'], now.steady,
            now.ros.nanoseconds, timeout)

    def _age(
            self, ages: StateAges, info: Any, stamp: tuple[int, int], publisher: Hashable,
            now: Instant, timeout: float) -> float:
        """
        Return the age of a message [s].

        With simulated time it is 0: a simulation may run at any speed, or stop.

        :param ages: those of the messages on its topic.
        :param publisher: what tells messages of different publishers apart.
        """
        if self._clocks.is_simulated:
            return 0.0
        ages.note_alive(now.steady, max(timeout, self._cycle_timers.shortest_timeout))
        sent = info['source_timestamp'] or stamp[0] * 1_000_000_000 + stamp[1]
        return ages.age(
            info['received_timestamp'], sent, now.steady, now.ros.nanoseconds, publisher, timeout)

    def _cycle_if_due(self, policy: Policy, now: Instant) -> None:
        """Run one cycle for all joint states that were queued."""
        is_due, self._is_due = self._is_due, False
        if not is_due:
            return
        is_observed = self._external.is_needed(policy)
        if is_observed and policy.reacts_to_contacts:
            self.guarded(policy.observe)(now, self._time_of_state(now))
        if not self._cycle_timers.keeps_rate:
            self._cycle(policy, now)
        if is_observed:
            if not policy.reacts_to_contacts:  # the command need not wait for it
                self.guarded(policy.observe)(now, self._time_of_state(now))
            self.guarded(self._external.publish)(policy, self._state_stamp)

    def _time_of_state(self, now: Instant) -> float:
        """Return when the newest joint state was measured: its stamp, or else now [s]."""
        seconds, nanoseconds = self._state_stamp
        return seconds + 1e-9 * nanoseconds if seconds or nanoseconds else now.steady

    def _on_enable(
            self, request: SetBool.Request, response: SetBool.Response
            ) -> SetBool.Response:
        was_sending = self.policy is not None and self.policy.is_sending
        result = self.set_parameters([Parameter('enabled', value=request.data)])[0]
        response.success = result.successful
        response.message = result.reason
        if result.successful and not request.data:
            response.message = self._what_will_be_held(was_sending)
        elif result.successful:
            if self._has_failed and self.policy is not None:
                self.policy.memory.pending.trip = None  # the error that no cycle could note
            self._has_failed = False
            if self.policy is not None:
                response.message = self.policy.acknowledge(self._clocks.now())
                response.success = not response.message
        return response

    def _reason_to_send_nothing(self, own: Mapping[str, Any]) -> str:
        """Return why no effort may be sent with values of parameters; empty where one may be."""
        return (self._former.error or self._controllers.reason_to_send_nothing(own)
                or self._engine.reason or self._compensating.why_twice(own['joints']))

    def _on_compensation(self) -> None:
        """Stop, or go on, where a controller compensates other joints than before."""
        self._configuration.refresh()
        self._report_compensation()

    def _report_compensation(self) -> None:
        if self._configuration.has_begun:
            self._compensating.report(self.get_parameter('joints').value)

    def _refuse_deletion(self, changed: list[Parameter]) -> SetParametersResult:
        """Refuse to delete parameters, since all of them are read whenever one changes."""
        reasons = filter(None, map(self._why_not_deleted, changed))
        for reason in reasons:
            return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _why_not_deleted(self, parameter: Parameter) -> str:
        is_deleted = parameter.type_ == Parameter.Type.NOT_SET
        return '' if not is_deleted or not self.has_parameter(parameter.name) else (
            f'the parameter {parameter.name} cannot be deleted; set another value')

    def parameter_rules(self) -> Rules:
        """Return what is known of the node's parameters: the request to send nothing is first."""
        return Rules(self._why_impossible, lambda message: (
            message.name == 'enabled' and message.value.type == Parameter.Type.BOOL.value
            and not message.value.bool_value))

    def _why_impossible(self, parameter: Parameter) -> str:
        """Return why a value is refused whatever the other parameters are."""
        try:
            parameters.check_alone(parameter.name, parameter.value)
        except ArgumentError as error:
            return shortened(str(error))
        return self._why_not_deleted(parameter)

    def _what_will_be_held(self, was_sending: bool) -> str:
        """Return sentences about the effort that a controller holds while the node is disabled."""
        policy = self.policy
        if policy is None or not was_sending:
            return '; '.join(filter(None, ('nothing was being sent', self._what_is_held())))
        return (f'the arm is braked, and the effort leads to that of on_stop: '
                f'{policy.settings.on_stop.value}; then nothing '
                'is sent; a controller without a timeout then holds about '
                f'{_efforts(policy.effort_after_stop())}, unless the arm moves meanwhile; the log '
                'has the values at the end')

    def _what_is_held(self) -> str:
        """Return a sentence about the effort that was sent last; empty where none was."""
        held = {} if self.policy is None else self.policy.held_effort()
        return f'a controller without a timeout holds {_efforts(held)}' if held else ''

    def _log_silence(self) -> None:
        """Log that nothing is sent from now on, and what is held if that is known."""
        said = filter(None, ('nothing is sent any more', self._what_is_held()))
        self.get_logger().info(': '.join(said))

    # ---- the cycle ----------------------------------------------------------------------------

    def _cycle(self, policy: Policy, now: Instant) -> Decision | None:
        """
        Decide and publish; return the decision, or None where none could be made.

        After any exception the arm is braked, and the effort leads to that of ``on_stop``.  An
        RneaError is about what came from outside, and says what: efforts are sent again from the
        next good cycle on.  An unexpected exception is a fault of the policy, which somebody has
        to acknowledge.  If the next good cycle were enough, an error that comes and goes with the
        motion would make the effort swing between both.  Where not even the arm can be braked,
        nothing is sent any more.
        """
        if self._has_failed:
            return None
        try:
            return self._decide_and_send(policy, now)
        except RneaError as error:
            self._diagnostics.refused('cycle', error)
            return self._brake(policy, now, Status.NOT_COMPUTED, shortened(str(error)))
        except Exception as error:  # noqa: BLE001 (no defect may end the control)
            self.report_unexpected('the cycle', error)
            detail = shortened(f'{type(error).__name__}: {error}')
            self.guarded(policy.fail)(detail)
            return self._brake(policy, now, Status.FAILED, detail)

    def _decide_and_send(self, policy: Policy, now: Instant) -> Decision | None:
        """
        Decide and publish.

        :return: None while it is being discovered who receives the commands, if the state has
            become too old during the cycle, and before simulated time has begun.
        :raises RneaError: where no decision can be made.
        """
        if not now.ros.nanoseconds:  # before the first time on /clock no age is known
            return None
        started = perf_counter()
        has_commands = self._effort_publishers.has_commands
        had_start = self._check_start(policy, has_commands)
        if has_commands and self._receivers.are_incomplete:
            return None
        was_sending = policy.is_sending
        decision = policy.decide(now)
        if decision.effort is not None and not self._send(
                policy, decision.effort, self._latest_moment(policy, decision, now)):
            return None  # this process stood still: the state is old by now
        self._conclude(policy, decision, was_sending, had_start, started)
        return decision

    def _brake(self, policy: Policy, now: Instant, status: Status, detail: str = '',
               ) -> Decision | None:
        """
        Brake the arm in a cycle that has failed, or send the next effort on the way to on_stop.

        :param status: why; the detail has more words.
        :return: None while it is being discovered who receives the commands, and where even this
            fails: then nothing is sent before somebody enables the node again.
        """
        was_sending = policy.is_sending
        self.guarded(self._end_for_others)(policy)  # which may be what has failed
        if self._effort_publishers.has_commands and self._receivers.are_incomplete:
            return None
        try:
            decision = policy.decide_last(now, status, detail)
            if decision.effort is not None:
                self._send(policy, decision.effort, self._latest_moment(policy, decision, now))
        except Exception as error:  # noqa: BLE001 (no defect may end the control)
            self._has_failed = True
            self.report_unexpected('braking after an error', error)
            policy.memory.sent.pause()
            self._conclude(policy, Decision(status, detail=detail), was_sending)
            return None
        self._conclude(policy, decision, was_sending)
        return decision

    def _conclude(
            self, policy: Policy, decision: Decision, was_sending: bool, had_start: bool = True,
            started: float | None = None) -> None:
        """
        Report a decision, and run the timer of the final effort as long as that is approached.

        Nothing here may end the cycle: what is only reported is guarded.

        :param had_start: whether it was known before from which effort to start.
        :param started: when the cycle began, on the clock of perf_counter [s]; None: its time is
            of no interest.
        """
        self._cycle_timers.final_fade(decision.status is Status.STOPPING)
        self._report(policy, decision, was_sending, had_start, started)
        if decision.effort is not None and self._terms_publisher.has_subscriber:
            self._publish_terms(policy, decision)

    def _report_decision(
            self, policy: Policy, decision: Decision, was_sending: bool, had_start: bool,
            started: float | None) -> None:
        if decision.effort is not None:
            if not had_start and not self._receivers.is_handing_over:
                self.get_logger().info(f'the effort starts from {policy.start_reason}')
            if policy.settings.enabled and policy.settings.held_by_others is not self._alone:
                self._explain_alone(policy)
            if started is not None:
                self._diagnostics.timed(self._state_age(), perf_counter() - started)
        elif was_sending:
            self._log_silence()
            self._configuration.note_silence()
        self._diagnostics.decided(decision)

    def _explain_alone(self, policy: Policy) -> None:
        """Log which joints the node moves alone, and why it thinks so."""
        self._alone = held = policy.settings.held_by_others
        alone = [name for name in policy.controlled if name not in held]
        others = [name for name in policy.controlled if name in held]
        parts = [] if not alone else [
            f'the node moves {listed(alone)} alone: it brakes where the effort ends, and stops a '
            'motion that gets out of control']
        if others:
            parts.append(f'another controller or the drives hold {listed(others)}')
        self._diagnostics.log_once(
            f'{"; ".join(parts)}. {self._configuration.why_alone()}')

    def _check_start(self, policy: Policy, has_commands: bool) -> bool:
        """Return whether the policy knows from which effort to start; else pass what is known."""
        if not has_commands:
            policy.evidence = Evidence(
                absence='no joints are set, so that efforts are published by name only')
            return policy.has_start
        if not self._is_commanding():
            self._receivers.let_others_go_first(not self._other_publishers.may_begin())
        is_handing_over = self._receivers.is_handing_over  # each command is a first one
        if self._receivers.have_changed(
                self._controllers.effort_controller, policy.is_sending) or is_handing_over:
            policy.restart(has_efforts=is_handing_over)
        if not policy.has_start:
            policy.evidence = self._receivers.evidence(policy.controlled)
        return policy.has_start

    def _end_for_others(self, policy: Policy) -> None:
        """Send no last effort to others than those who hold the one before."""
        if self._effort_publishers.has_commands and self._receivers.have_changed(
                self._controllers.effort_controller, policy.is_sending):
            policy.restart()

    def _latest_moment(
            self, policy: Policy, decision: Decision, now: Instant) -> float:
        """
        Return until when a decision's effort may be published, on the monotonic clock [s].

        The process may stand still between the decision and the publication.  Only the effort on
        the way to that of ``on_stop`` may come from a stale state.

        :param now: when the decision was made.
        """
        if self._clocks.is_simulated:
            return inf
        longest = policy.settings.state_timeout
        if decision.status is Status.STOPPING and not policy.states.is_fresh(now.steady):
            longest *= OLDEST_STATE
        return now.steady - policy.states.age(now.steady) + longest

    def _send(self, policy: Policy, effort: np.ndarray, latest: float) -> bool:
        """
        Publish an effort; as a command only to known receivers, who hold it from then on.

        :param latest: nothing is published later than this, on the monotonic clock [s].
        :return: whether it was published in time.
        """
        publishers = self._effort_publishers
        command = None
        if publishers.has_commands and self._receivers.present:
            command = policy.in_drive_units(effort)
        if not publishers.send(effort, self._state_stamp, command, latest):
            policy.withdraw()
            return False
        if command is not None or not publishers.has_commands:
            policy.note_driven()
        if command is not None:
            self._receivers.record(policy.controlled, command)
            self._other_publishers.note_own(command)
        return True

    def _is_commanding(self) -> bool:
        """Return whether the last cycle sent a command to the present receivers."""
        return (self.policy is not None and self.policy.is_sending
                and self._receivers.is_serving)

    def _send_terms(self, policy: Policy, decision: Decision) -> None:
        terms = policy.terms(decision)
        if terms is not None:
            self._terms_publisher.send(policy.controlled, terms, self._state_stamp)

    def send_last(self, is_hurried: Callable[[], bool] = lambda: False) -> None:
        """
        Brake the arm, lead the effort to the one of ``on_stop``, and wait for its delivery.

        Until then joint states are the only messages that the node receives.

        :param is_hurried: tells whether to end at once.
        """
        policy, start, started = self.policy, self._clocks.now(), monotonic()
        if policy is None or not policy.is_sending:
            return
        longest = policy.settings.longest_braking + LONGEST_FADE
        decision: Decision | None = None
        while not is_hurried() and (elapsed := monotonic() - started) < longest:
            now = Instant(start.steady + elapsed, start.ros + elapsed)
            self.guarded(self._inputs.take)(STATES, policy, now)
            self.guarded(self._end_for_others)(policy)
            decision = policy.decide_last(now)
            if decision.effort is None:
                break
            self._send(policy, decision.effort, self._latest_moment(policy, decision, now))
            sleep(SHUTDOWN_PERIOD)
            self._note_alive(self._clocks.now())
        self._is_due = False
        if is_hurried():
            self.get_logger().warning('ended at once, before the arm was braked')
        self._log_silence()
        if decision is not None and decision.effort is None and decision.detail:
            self.get_logger().warning(decision.detail)
        if not is_hurried():
            self._effort_publishers.wait_for_delivery()

    def _state_age(self) -> float | None:
        stamp = self._state_stamp[0] + 1e-9 * self._state_stamp[1]
        age = self._clocks.ros() - stamp
        return age if stamp and 0.0 <= age < OLDEST_PLAUSIBLE_STATE else None

    def _on_rate(self) -> None:
        if self.policy is not None:
            self._cycle(self.policy, self._now())

    def _on_watch(self) -> None:
        """Note that this process runs, with a robot or without one, and look at the states."""
        now = self._now()
        self._note_alive(now)
        self._watch(now)

    def _note_alive(self, now: Instant) -> None:
        if not self._clocks.is_simulated:
            timers = self._cycle_timers
            self._state_ages.note_alive(now.steady, timers.state_timeout)
            for ages in (self._joy_ages, *self._input_ages.values()):
                ages.note_alive(now.steady, timers.shortest_timeout)

    def _watch(self, now: Instant) -> None:
        """Run a cycle while joint states are stale, since no message triggers one."""
        policy = self.policy
        if policy is None:
            is_building = self._configuration.description is not None
            self._diagnostics.waiting('robot', (
                'the model of robot_description is being built' if is_building else
                'waiting for a usable robot_description'))
        elif not policy.states.is_fresh(now.steady):
            self._cycle(policy, now)

    def _on_time_jump(self, jump: TimeJump) -> None:
        """Discard the motion and the wrenches, whose times are no longer valid."""
        if self.policy is None:  # as at the first message of a simulation that has run for long
            return
        step = 1e-9 * jump.delta.nanoseconds
        how = f'jumped forward by {step:.3f} s' if step > 0.0 else 'jumped back'
        self.get_logger().warning(
            f'time has {how} or comes from another clock: the trajectory and the wrenches '
            'are discarded')
        self.policy.reset_after_time_jump()

    def _on_clock_step(self, now: Instant, step: float) -> None:
        """
        Discard a trajectory, whose times are on the system clock, because that clock was set.

        :param step: by how much it was set forward [s].
        """
        is_discarded = self.policy is not None and self.policy.discard_trajectory(now, step)
        in_progress = ('the trajectory in progress is discarded' if is_discarded
                       else 'no trajectory was in progress')
        self._diagnostics.transient_notice('system clock', (
            f'it was set {"forward" if step > 0.0 else "back"} by {abs(step):.3f} s: '
            f'{in_progress}; a trajectory that is still being read is discarded; wrenches and the '
            'reference of a controller go on, because their ages are on another clock'))

    def _poll(self) -> None:
        """Check what no message tells; an error in one step does not prevent the other steps."""
        for step in (
                self._terms_publisher.poll, self._poll_external, self._model_publisher.poll,
                self._inputs.poll, self._poll_configuration, self._poll_controllers,
                self._poll_engine,
                self._compensating.poll, self._report_compensation, self._poll_receivers,
                self._poll_states, self._poll_policy, self._poll_clock):
            self.guarded(step)()

    def _poll_external(self) -> None:
        self._external.poll(self.policy)

    def _poll_configuration(self) -> None:
        if self._configuration.has_begun and self._configuration.poll():
            self._receive_descriptions()

    def _poll_engine(self) -> None:
        self._engine.poll(self.policy)

    def _poll_controllers(self) -> None:
        if self._configuration.has_begun:
            self._controllers.poll()

    def _poll_states(self) -> None:
        self._diagnostics.notice('state times', '' if not self._state_ages.uses_delays else (
            'the middleware gives no times of reception (rmw_cyclonedds): the age of a joint '
            'state is by how much its delay exceeds the smallest one'))
        states = self._inputs.subscriptions[STATES]
        monitor.check_publishers(self, states, self._diagnostics)
        if self.policy is not None and self._knows_sources:
            monitor.name_publishers(self, states, self.policy)

    def _poll_policy(self) -> None:
        if self.policy is not None:
            monitor.check_policy(self.policy, self._clocks.steady(), self._diagnostics)

    def _poll_clock(self) -> None:
        self._diagnostics.notice(
            'clock', self._clocks.standstill(), is_error=not self._clocks.ros())

    def _poll_receivers(self) -> None:
        """Look for receivers from the start on, to know which of them are older than this node."""
        is_sending = self.policy is not None and self.policy.is_sending
        has_changed = self._receivers.poll(self._controllers.effort_controller, is_sending)
        if has_changed and self.policy is not None and self._effort_publishers.has_commands:
            self.policy.restart()
        self._diagnostics.notice(
            'receivers', self._receivers.controller_awaited or self._receivers.ambiguity)
        if self._receivers.controller_given_up:
            self._diagnostics.log_once(self._receivers.controller_given_up, is_warning=True)
        error = self._receivers.record_error
        self._diagnostics.notice('command record', '' if not error else (
            'the commands are not recorded, so that a restart of this node after a crash cannot '
            f'start from the last one: {error}'))


def main(args: list[str] | None = None) -> None:
    """Run the plain node until a signal ends it."""
    run(InverseDynamicsNode, args)


def run(create: Callable[[], InverseDynamicsNode], args: list[str] | None = None) -> None:
    """
    Run a node until a signal ends it.

    rclpy's own signal handlers would invalidate the context in the middle of a callback: its next
    publication would raise.  Here the running callback finishes first.
    """
    fill_standard_descriptors()
    arguments = sys.argv[1:] if args is None else args
    if wants_help(arguments):
        print(USAGE, end='')  # noqa: T201 (nothing where the output is closed)
        return
    sys.setswitchinterval(SWITCH_INTERVAL)
    signals = EndSignals()
    signals.handle()
    with unblocked_log():
        middleware = rclpy.get_rmw_implementation_identifier()
        avoid_shared_memory(middleware)
        warning = shared_memory_warning(middleware)
        if warning:  # before the middleware is started, because that may end the process
            get_logger('inverse_dynamics').warning(warning)
        try:
            rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        except RuntimeError as error:
            raise SystemExit(f'inverse_dynamics: {start_error(error)}') from error
        try:
            _run_until(signals, create, files_in(arguments))
        except RneaError as error:
            raise SystemExit(f'inverse_dynamics: {error}') from error
        finally:
            rclpy.try_shutdown()


def _run_until(
        signals: EndSignals, create: Callable[[], InverseDynamicsNode], files: list[str]) -> None:
    """
    Run a node until a signal comes, and brake the arm; a second request ends that at once.

    :param files: with parameters, which may be for other nodes.
    """
    node = create()
    for warning in files_of_others(node.get_fully_qualified_name(), files):
        node.get_logger().warning(warning)
    executor = make_executor(node.get_parameter('executor').value)
    signals.handle()  # again, because the events executor installs its own handlers
    executor.add_node(node)
    node.configure_process()
    spinning = Spinning(node, executor, signals.have_come)
    try:
        while rclpy.ok() and not signals.have_come():
            _spin_guarded(node, spinning)
    finally:
        signals.forget()
        node.guarded(node.send_last)(signals.are_repeated)
        executor.shutdown()
        node.destroy_node()


def _spin_guarded(node: InverseDynamicsNode, spinning: Spinning) -> None:
    """Let the executor work, and go on after an exception, as for an unreadable message."""
    try:
        spinning.spin()
    except ExternalShutdownException:
        pass  # the loop ends
    except Exception as error:  # noqa: BLE001 (no message may end the node)
        node.report_unexpected('the executor', error)
        sleep(PAUSE_AFTER_ERROR)


def _take_if_usable(policy: Policy, measured: MeasuredJoints, now: Instant) -> None:
    """Pass joint states to a policy that is not in use, whose refusals nobody needs to know."""
    with suppress(RneaError):
        policy.take_joint_state(measured, now)


def _efforts(by_joint: Mapping[str, float]) -> str:
    """Return efforts as text."""
    return ', '.join(
        f'{joint} {effort:.3f}' for joint, effort in by_joint.items()) + ' [Nm or N]'


if __name__ == '__main__':
    main()
