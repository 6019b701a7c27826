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
"""The node: subscriptions, publishers, services and timers around a feedforward policy."""

from __future__ import annotations

from collections.abc import Sequence
import signal
from threading import Event
from time import monotonic, perf_counter, sleep, time
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rcl_interfaces.msg import SetParametersResult
import rclpy
from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.timer import Timer
from ros2_rnea.errors import ArgumentError, did_you_mean, RneaError
from ros2_rnea.feedforward.policy import FeedforwardPolicy, Instant
from ros2_rnea.feedforward.settings import OnStaleState, Settings
from ros2_rnea.feedforward.whole_state import joint_body
from ros2_rnea.node import parameters
from ros2_rnea.node.controller_messages import (
    JointTrajectoryControllerState,
    reference_of,
    speed_scaling_of,
)
from ros2_rnea.node.conversions import listed, moment_force, seconds, waypoints
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.models import Model, Models, Source
from ros2_rnea.node.process import (
    lock_memory,
    make_executor,
    QuietCollector,
    raise_priority,
    spin_for,
)
from ros2_rnea.node.sender import Sender
from ros2_rnea.node.serialized_states import StateReader
from ros2_rnea.node.services import Services
from ros2_rnea.robot import Robot
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
TRAJECTORIES = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)

OLDEST_PLAUSIBLE_STATE = 10.0
"""A state older than this [s] at reception was stamped by another clock: no latency follows."""


COMPILING_PERIOD = 0.05
"""How often it is looked whether a robot is compiled [s]."""

DECAYING_PERIOD = 0.005
"""How often an effort is sent at least while joint states have stopped, where one is [s]."""

ENDING_PERIOD = 0.002
LONGEST_ENDING = 3.0
"""How often, and for how long at most, efforts are sent when the node ends [s]."""

SIGNAL_LATENCY = 0.1
"""How long a signal may wait for the executor to look up [s]."""


def sensor_data(depth: int) -> QoSProfile:
    """Return the QoS that receives from reliable and best-effort publishers alike."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)


class InverseDynamicsNode(Node):
    """Publishes the effort that the desired motion needs, for each joint state that arrives."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__('inverse_dynamics', **arguments)
        parameters.declare(self)
        self._models = Models()
        self._compiling: Timer | None = None
        self._policy: FeedforwardPolicy | None = None
        self._refused_description: str | None = None
        self._declaring = False
        self._reader = StateReader()
        self._state_stamp = (0, 0)
        self._rate_timer: Timer | None = None
        self._watchdog: Timer | None = None
        self._timing = (0.0, 0.0, False)
        self._on_sim_time = self.get_parameter('use_sim_time').value

        self._diagnostics = Diagnostics(self)
        self._command_publisher = self.create_publisher(Float64MultiArray, '~/commands', RELIABLE)
        self._effort_publisher = self.create_publisher(JointState, '~/effort', RELIABLE)
        Services(self, lambda: self._policy, self._steady_time)
        self.create_service(SetBool, '~/enable', self._on_enable)

        values = parameters.values_of(self)
        self._configure(values, None)
        if values['robot_description']:
            self._take_description(values['robot_description'])
        self.add_on_set_parameters_callback(self._on_set_parameters)

        depth = parameters.checked(values)['state_depth']
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        self._states_subscription = self.create_subscription(
            JointState, 'joint_states', self._on_joint_state, sensor_data(depth), raw=True)
        self.create_subscription(
            JointTrajectory, 'joint_trajectory', self._on_trajectory, TRAJECTORIES)
        if JointTrajectoryControllerState is not None:
            self.create_subscription(
                JointTrajectoryControllerState, 'controller_state', self._on_controller_state,
                sensor_data(1))
        self.create_subscription(WrenchStamped, 'wrench', self._on_wrench, sensor_data(1))
        self.create_timer(1.0, self._look_around)
        self._jumps = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1)),
            post_callback=self._on_time_jump)
        if JointTrajectoryControllerState is None:
            self.get_logger().info(
                'control_msgs is not installed: controller_state is not listened to')
        self._say_what_was_not_understood()

    @property
    def policy(self) -> FeedforwardPolicy | None:
        """Return what decides at present; None while there is no robot."""
        return self._policy

    def settle_process(self) -> None:
        """Give the process the memory and priority that the parameters ask for, or say why not."""
        own = parameters.checked(parameters.values_of(self))
        if own['lock_memory']:
            self._diagnostics.notice('lock_memory', lock_memory())
        if own['thread_priority']:
            self._diagnostics.notice('thread_priority', raise_priority(own['thread_priority']))

    # ---- time ---------------------------------------------------------------------------------

    def _now(self) -> Instant:
        """
        Return the time on both clocks.

        Where time is not simulated, ages go by a steady clock, and the node's own is that of the
        day: asked directly, it comes without an object of rclpy's.
        """
        if self._on_sim_time:
            simulated = 1e-9 * self.get_clock().now().nanoseconds
            return Instant(simulated, simulated)
        return Instant(monotonic(), time())

    def _steady_time(self) -> float:
        return self._now().steady

    def _on_time_jump(self, _: object) -> None:
        """Forget the trajectory, whose times mean nothing after a jump back."""
        self.get_logger().warning(
            'time has jumped back or goes by another clock: the trajectory is forgotten')
        if self._policy is not None:
            self._policy.start_afresh()

    # ---- messages -----------------------------------------------------------------------------

    def _on_description(self, message: String) -> None:
        if message.data != self._description:
            self._take_description(message.data)

    def _take_description(self, description: str) -> None:
        try:
            self._configure(parameters.values_of(self), description)
        except RneaError as error:
            self._refused_description = description
            self._diagnostics.refused('robot_description', error)
        else:
            self._refused_description = None
            self._diagnostics.accepted('robot_description')

    def _on_joint_state(self, message: bytes) -> None:
        policy, now = self._policy, self._now()
        if policy is None:
            return
        try:
            names, positions, velocities, stamp = self._reader.read(message)
            due = policy.take_joint_state(
                names, positions, velocities, stamp[0] + 1e-9 * stamp[1], now)
        except RneaError as error:
            self._diagnostics.refused('joint_states', error)
            return
        self._diagnostics.accepted('joint_states')
        if due:
            self._state_stamp = stamp
            if self._rate_timer is None:
                self._cycle(policy, now)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        policy = self._policy
        try:
            if policy is None:
                raise ArgumentError('there is no robot yet that could follow it')
            policy.take_trajectory(
                message.joint_names, waypoints(message), seconds(message.header.stamp),
                self._now())
        except RneaError as error:
            self._diagnostics.refused('joint_trajectory', error)
        else:
            self._diagnostics.accepted('joint_trajectory')

    def _on_controller_state(self, message: Any) -> None:
        if self._policy is None:
            return
        reference = reference_of(message)
        try:
            self._policy.take_controller_state(
                message.joint_names, reference.positions, reference.velocities,
                reference.accelerations, seconds(message.header.stamp),
                speed_scaling_of(message), self._now())
        except RneaError as error:
            self._diagnostics.refused('controller_state', error)
        else:
            self._diagnostics.accepted('controller_state')

    def _on_wrench(self, message: WrenchStamped) -> None:
        if self._policy is None:
            return
        try:
            self._policy.take_wrench(
                message.header.frame_id, moment_force(message.wrench), self._now())
        except RneaError as error:
            self._diagnostics.refused('wrench', error)
        else:
            self._diagnostics.accepted('wrench')

    def _on_enable(
            self, request: SetBool.Request, response: SetBool.Response
            ) -> SetBool.Response:
        result = self.set_parameters([Parameter('enabled', value=request.data)])[0]
        response.success = result.successful
        response.message = result.reason
        if result.successful and not request.data:
            response.message = (
                'nothing more is sent; a controller without a timeout holds the last command')
        return response

    # ---- the cycle ----------------------------------------------------------------------------

    def _cycle(self, policy: FeedforwardPolicy, now: Instant) -> None:
        """Decide and publish."""
        started = perf_counter()
        try:
            decision = policy.decide(now)
        except RneaError as error:
            self._diagnostics.refused('cycle', error)
            return
        if decision.effort is not None:
            self._send(policy, decision.effort)
            self._diagnostics.timed(self._state_age(), perf_counter() - started)
        self._diagnostics.decided(decision)

    def _send(self, policy: FeedforwardPolicy, effort: np.ndarray) -> None:
        if policy.settings.joints:
            self._commands.send(effort)
        self._efforts.send(effort, self._state_stamp)

    def send_last(self) -> None:
        """
        Lead the effort to what the parameter ``on_shutdown`` says, and see that it arrives.

        Nothing is spun meanwhile, so that the last joint state is the one that counts.
        """
        policy, start, began = self._policy, self._now(), monotonic()
        if policy is None:
            return
        elapsed = 0.0
        while elapsed < LONGEST_ENDING:
            decision = policy.decide_last(
                Instant(start.steady + elapsed, start.ros + elapsed))
            if decision.effort is None:
                return
            self._send(policy, decision.effort)
            if policy.is_settled:
                break
            sleep(ENDING_PERIOD)
            elapsed = monotonic() - began
        for publisher in (self._command_publisher, self._effort_publisher):
            publisher.wait_for_all_acked(Duration(seconds=0.5))

    def _state_age(self) -> float | None:
        stamp = self._state_stamp[0] + 1e-9 * self._state_stamp[1]
        age = self._now().ros - stamp
        return age if stamp and 0.0 <= age < OLDEST_PLAUSIBLE_STATE else None

    def _on_rate(self) -> None:
        if self._policy is not None:
            self._cycle(self._policy, self._now())

    def _on_watchdog(self) -> None:
        """Notice what no message tells: that none comes."""
        policy, now = self._policy, self._now()
        if policy is None:
            self._diagnostics.notice('robot', 'waiting for a usable robot_description')
        elif not policy.states.is_fresh(now.steady):
            self._cycle(policy, now)

    def _look_around(self) -> None:
        """Notice what is not worth a look in every cycle."""
        count = self.count_publishers(self._states_subscription.topic_name)
        depth = self._states_subscription.qos_profile.depth
        self._diagnostics.notice('state_depth', '' if count < 2 or depth > 1 else (
            f'{count} publishers share joint_states, and at depth 1 one may displace another: '
            f'set state_depth to {2 * count} or more'))
        if self._policy is not None:
            old = self._policy.wrenches.stale(self._steady_time())
            self._diagnostics.notice('old wrenches', '' if not old else (
                f'{listed(old)} came longer ago than wrench_timeout and counts no more, or fades'))
            missing = self._policy.motion.controller.missing
            self._diagnostics.notice('controller_state', '' if not missing else (
                f'its reference has no {listed(missing)}, which then counts as zero'))
            off = self._policy.mimic_deviations()
            self._diagnostics.notice('mimic joints', ', '.join(
                f'{name} is {value:+.4f} off what it should follow'
                for name, value in off.items()))

    # ---- configuration ------------------------------------------------------------------------

    def _on_set_parameters(self, changed: list[Parameter]) -> SetParametersResult:
        if self._declaring:
            return SetParametersResult(successful=True)
        new = {parameter.name: parameter.value for parameter in changed}
        values = {**parameters.values_of(self), **new}
        on_sim_time = new.get('use_sim_time', self._on_sim_time)
        try:
            description = (new.get('robot_description') or self._description
                           or self._usable_now(values))
            self._configure(values, description, on_sim_time)
        except RneaError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if self._refused_description is not None and (
                self._description == self._refused_description):
            self._refused_description = None
            self._diagnostics.accepted('robot_description')
        return SetParametersResult(successful=True)

    def _usable_now(self, values: dict[str, Any]) -> str | None:
        """Return the description that was refused, where with these values it would do."""
        if self._refused_description is None:
            return None
        own = parameters.checked(values)
        settings = parameters.settings_from(values)
        try:
            model = self._models.load(Source(
                self._refused_description, own['massless_links'], own['strict_model']))
            FeedforwardPolicy(model.robot, settings)
        except RneaError:
            return None
        return self._refused_description

    def _configure(
            self,
            values: dict[str, Any],
            description: str | None,
            on_sim_time: bool | None = None) -> None:
        """
        Make everything that parameters and description amount to, then put it in force at once.

        :raises RneaError: where something does not fit; then nothing has changed.
        """
        settings = parameters.settings_from(values)
        own = parameters.checked(values)
        if description is not None:
            model = self._models.load(
                Source(description, own['massless_links'], own['strict_model']))
            policy = FeedforwardPolicy(model.robot, settings)
            if self._models.is_ready(model):
                self._put_in_force(model, policy, values)
            else:
                self._wait_for(model)
                if self._policy is not None:  # settings do not wait
                    self._replace_policy(FeedforwardPolicy(self._policy.robot, settings))
        if on_sim_time is not None:
            self._on_sim_time = on_sim_time
        self._restart_timers(own['rate'], settings)

    def _put_in_force(
            self, model: Model, policy: FeedforwardPolicy, values: dict[str, Any]) -> None:
        if model is not self._models.in_force:
            self._declare_assumed_positions(policy)
            settings = parameters.settings_from({**parameters.values_of(self), **values})
            policy = FeedforwardPolicy(model.robot, settings)
            self._introduce(model, policy)
        self._models.put_in_force(model)
        self._replace_policy(policy)

    def _replace_policy(self, policy: FeedforwardPolicy) -> None:
        if self._policy is not None:
            policy.take_over(self._policy)
        self._prepare_messages(policy.controlled)
        self._policy = policy

    def _prepare_messages(self, joints: Sequence[str]) -> None:
        count = len(joints)
        self._commands = Sender(self._command_publisher, Float64MultiArray(), 'data', count)
        self._efforts = Sender(
            self._effort_publisher, JointState(name=list(joints)), 'effort', count)

    def _wait_for(self, model: Model) -> None:
        """Look now and then whether a robot is compiled; what is in force goes on meanwhile."""
        self._diagnostics.notice('compiling', f'{model.robot.name!r} is being compiled')
        if self._compiling is None:
            clock = Clock(clock_type=ClockType.STEADY_TIME)
            self._compiling = self.create_timer(
                COMPILING_PERIOD, self._on_compiling, clock=clock)

    def _on_compiling(self) -> None:
        if self._models.is_compiling():
            return
        coming = self._models.coming
        if coming is not None:
            self._take_description(coming.source.description)
        if self._models.coming is None and self._compiling is not None:
            self._diagnostics.notice('compiling', '')
            self.destroy_timer(self._compiling)
            self._compiling = None

    @property
    def _description(self) -> str | None:
        model = self._models.coming or self._models.in_force
        return None if model is None else model.source.description

    def _declare_assumed_positions(self, policy: FeedforwardPolicy) -> None:
        self._declaring = True
        try:
            parameters.declare_assumed_positions(self, policy.robot.joint_names)
        finally:
            self._declaring = False

    def _introduce(self, model: Model, policy: FeedforwardPolicy) -> None:
        """Say, once a robot, what there is and what the user may want to add."""
        robot, findings, logger = model.robot, model.findings, self.get_logger()
        self._diagnostics.robot = robot.name
        self._diagnostics.findings = findings
        self._diagnostics.notice('robot', '')
        logger.info(f'{robot!r}; controlled: {listed(policy.controlled)}')
        self._warn_of_unknown_assumptions(robot)
        if findings:
            logger.warning(
                f'{len(findings)} findings about the model, all in /diagnostics; first: '
                f'{findings[0]}')
        if not policy.settings.joints:
            names = ', '.join(policy.controlled)
            logger.warning(
                'the parameter joints is empty, so ~/commands stays silent; for the order of '
                f'the description, set   joints: [{names}]')
        held = [name for name in robot.joint_names if joint_body(robot, name).type.nv > 1]
        if held:
            logger.warning(
                f'joint states cannot hold {listed(held)}: the position in assumed_positions '
                'counts, at rest')

    def _warn_of_unknown_assumptions(self, robot: Robot) -> None:
        """Warn of assumed positions, in a file or on the command line, of joints there are not."""
        for name in getattr(self, '_parameter_overrides', {}):
            joint = name[len(parameters.ASSUMED):]
            if name.startswith(parameters.ASSUMED) and joint not in robot.joint_names:
                self.get_logger().warning(
                    f'assumed_positions.{joint} is of no independent moving joint of '
                    f'{robot.name!r}{did_you_mean(joint, robot.joint_names)}')

    def _restart_timers(self, rate: float, settings: Settings) -> None:
        watch = max(0.5 * settings.state_timeout, 0.01)
        if settings.on_stale_state is OnStaleState.DECAY:
            watch = min(0.5 * settings.state_timeout, DECAYING_PERIOD)
        timing = (rate, watch, self._on_sim_time)
        if timing == self._timing:
            return
        self._timing = timing
        for timer in (self._rate_timer, self._watchdog):
            if timer is not None:
                self.destroy_timer(timer)
        # None is the node's own clock, which is the simulation's
        clock = None if self._on_sim_time else Clock(clock_type=ClockType.STEADY_TIME)
        self._rate_timer = (
            self.create_timer(1.0 / rate, self._on_rate, clock=clock) if rate else None)
        self._watchdog = self.create_timer(watch, self._on_watchdog, clock=clock)

    def _say_what_was_not_understood(self) -> None:
        """Warn of parameters in a file or on the command line that the node does not have."""
        for warning in parameters.not_understood(self):
            self.get_logger().warning(warning)


def main(args: list[str] | None = None) -> None:
    """
    Run the node until SIGINT or SIGTERM.

    rclpy's own handlers would invalidate the context in the middle of a callback, whose next
    publication then raises; here the callback at hand ends first.
    """
    stopping = Event()
    _set_on_signal(stopping)
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = InverseDynamicsNode()
        executor = make_executor(node.get_parameter('executor').value)
        _set_on_signal(stopping)  # again: the executor of events has brought handlers of its own
        executor.add_node(node)
        node.settle_process()
        collector = QuietCollector()
        try:
            while rclpy.ok() and not stopping.is_set():
                spin_for(executor, SIGNAL_LATENCY)
                collector.between_turns(node.policy)
        finally:  # after an error in the cycle too
            node.send_last()
        executor.shutdown()
    except RneaError as error:
        raise SystemExit(f'inverse_dynamics: {error}') from error
    finally:
        rclpy.try_shutdown()


def _set_on_signal(stopping: Event) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())


if __name__ == '__main__':
    main()
