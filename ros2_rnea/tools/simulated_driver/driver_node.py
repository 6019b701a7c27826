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
"""The ROS node of the driver: topics, parameters, a service, and a tick each millisecond."""

from __future__ import annotations

from collections.abc import Sequence
import json

from geometry_msgs.msg import InertiaStamped, WrenchStamped
import numpy as np
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, qos_profile_system_default, QoSProfile
from rclpy.time import Time
from ros2_rnea.errors import ArgumentError, TrajectoryError
from ros2_rnea.tools.simulated_driver.command import EffortCommand
from ros2_rnea.tools.simulated_driver.description import Load, simplified
from ros2_rnea.tools.simulated_driver.engine import Engine, GRAVITY
from ros2_rnea.tools.simulated_driver.latency import LatencyLog
from ros2_rnea.tools.simulated_driver.pacer import Pacer
from ros2_rnea.tools.simulated_driver.posture import bent_pose
from ros2_rnea.tools.simulated_driver.servo import gains_in, JointServo
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

TICK = 1_000_000
"""Period of the PD loop [ns]."""

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=10)


class DriverNode(Node):
    """
    A simulated arm as a ROS node; :meth:`tick` is to be called once a millisecond.

    :param urdf: the arm's robot description.
    :param start: where it waits, unless the parameter says otherwise; empty: a bent pose [rad].
    :param with_friction: whether the joints keep their Coulomb friction.
    """

    def __init__(
            self, urdf: str, start: Sequence[float] = (), with_friction: bool = False) -> None:
        super().__init__('simulated_driver')
        urdf, still = simplified(urdf, with_friction)
        if still:
            self.get_logger().info(f'mimic joints and their leaders are fixed: {", ".join(still)}')
        self._engine = Engine(urdf)
        self._steps_per_tick = round(TICK * 1e-9 / self._engine.step)
        self._joint_names = self._engine.joint_names
        pose = self._declare_joint_values(
            'start_positions', start or bent_pose(self._engine).tolist(), '[rad or m]')
        self._servo = self._declare_servo(pose)
        self._engine.place(pose)
        self._period = self._declare_rate()
        self._publish_wrench = self._declare_publish_wrench()
        self._holds_position = self._declare_position_loop()
        self._engine.set_dry_friction(self._declare_dry_friction())
        self._engine.set_gravity(self._declare_gravity())
        self.add_on_set_parameters_callback(self._set_parameters)

        self._command = EffortCommand(len(self._joint_names))
        self._trajectory = Trajectory(self._joint_names, [Waypoint(0.0, pose)])
        self._latency = LatencyLog()
        self._wrench = WrenchStamped()
        self._publication_due = self._now()
        self.pacer = Pacer(TICK, self._publication_due)
        self._connect(urdf)

    def tick(self, now: int) -> None:
        """
        Let the robot and its PD loop live through the next millisecond that is due.

        :param now: time of the clock [ns].
        """
        stamp = self.pacer.take(now)
        measured = self._engine.positions, self._engine.velocities
        desired = measured
        if self._holds_position:
            sample = self._trajectory.sample(RosTime(stamp))
            desired = sample[0], sample[1]
        effort = self._servo.effort(measured, desired, self._command.efforts)
        # A driver that has fallen behind does not send what is already out of date.
        if stamp >= self._publication_due and now - stamp < TICK:
            self._publish_state(stamp, *measured, effort)
        self._engine.advance(effort, self._steps_per_tick)

    def _connect(self, urdf: str) -> None:
        self._description_publisher = self.create_publisher(String, 'robot_description', LATCHED)
        self._description_publisher.publish(String(data=urdf))
        self._state_publisher = self.create_publisher(JointState, 'joint_states', RELIABLE)
        self._wrench_publisher = self.create_publisher(WrenchStamped, 'wrench', RELIABLE)
        self.create_subscription(Float64MultiArray, 'effort_controller/commands',
                                 self._on_command, qos_profile_system_default)
        self.create_subscription(JointTrajectory, 'joint_trajectory', self._on_trajectory,
                                 RELIABLE)
        self.create_subscription(WrenchStamped, 'tip_wrench', self._on_tip_wrench, RELIABLE)
        self.create_subscription(InertiaStamped, 'tip_load', self._on_tip_load, RELIABLE)
        self.create_subscription(JointState, 'inverse_dynamics/effort', self._on_effort, RELIABLE)
        self.create_service(Trigger, '~/report', self._on_report)

    def _publish_state(self, stamp: int, positions: np.ndarray, velocities: np.ndarray,
                       effort: np.ndarray) -> None:
        self._publication_due = max(self._publication_due + self._period, stamp)
        message = JointState(name=self._joint_names, position=positions.tolist(),
                             velocity=velocities.tolist(), effort=effort.tolist())
        message.header.stamp = Time(nanoseconds=stamp).to_msg()
        if self._publish_wrench and self._wrench.header.frame_id:
            self._wrench.header.stamp = message.header.stamp
            self._wrench_publisher.publish(self._wrench)
        self._state_publisher.publish(message)
        self._latency.published(stamp, deadline=stamp + self._period)

    def _on_command(self, message: Float64MultiArray) -> None:
        refusal = self._command.accept(message.data)
        if refusal:
            self.get_logger().error(f'{refusal}; the last valid one stays in use',
                                    throttle_duration_sec=1.0)

    def _on_effort(self, message: JointState) -> None:
        self._latency.answered(Time.from_msg(message.header.stamp).nanoseconds, self._now())

    def _on_trajectory(self, message: JointTrajectory) -> None:
        now = self._now()
        stamp = Time.from_msg(message.header.stamp).nanoseconds or now
        try:
            trajectory = Trajectory(message.joint_names, _waypoints(message),
                                    start=RosTime(stamp))
            self._trajectory = trajectory.for_joints(
                self._joint_names, self._engine.positions,
            ).entered_from(RosTime(now), self._engine.positions, self._engine.velocities)
        except TrajectoryError as error:
            self.get_logger().error(f'trajectory refused: {error}')

    def _on_tip_wrench(self, message: WrenchStamped) -> None:
        moment, force = message.wrench.torque, message.wrench.force
        wrench = [moment.x, moment.y, moment.z, force.x, force.y, force.z]
        if not np.all(np.isfinite(wrench)):
            self.get_logger().error(f'tip_wrench is not finite: {wrench}')
            return
        try:
            self._engine.push(message.header.frame_id, wrench)
        except ArgumentError as error:
            self.get_logger().error(f'tip_wrench refused: {error}')
            return
        self._wrench = message

    def _on_tip_load(self, message: InertiaStamped) -> None:
        load = load_of(message)
        try:
            self._engine.carry(load)
        except ArgumentError as error:
            self.get_logger().error(f'tip_load refused: {error}')

    def _on_report(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        figures = self._latency.report(self._now())
        figures['commands_accepted'] = self._command.accepted
        figures['commands_refused'] = self._command.refused
        figures['engine_ticks'] = self.pacer.ticks
        figures['engine_overruns'] = self.pacer.overruns
        figures['engine_20_ms_late'] = self.pacer.overdue
        figures['engine_worst_lateness_ms'] = self.pacer.worst_lateness * 1e-6
        self._command.accepted = self._command.refused = 0
        self.pacer.clear()
        response.success = True
        response.message = json.dumps(figures)
        return response

    def _set_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == 'rate':
                self._period = round(1e9 / parameter.value)
            elif parameter.name == 'publish_wrench':
                self._publish_wrench = parameter.value
            elif parameter.name == 'position_loop':
                self._holds_position = parameter.value
            elif parameter.name == 'dry_friction':
                reason = reason_against_friction(parameter.value, len(self._joint_names))
                if reason:
                    return SetParametersResult(successful=False, reason=reason)
                self._engine.set_dry_friction(parameter.value)
            elif parameter.name == 'gravity':
                if not is_vector(parameter.value):
                    return SetParametersResult(successful=False, reason=(
                        f'gravity is {list(parameter.value)}; it needs 3 finite numbers'))
                self._engine.set_gravity(parameter.value)
        return SetParametersResult(successful=True)

    def _declare_servo(self, pose: np.ndarray) -> JointServo:
        stiffness, damping = gains_in(pose, self._engine)
        return JointServo(
            stiffness=self._declare_joint_values(
                'stiffness', stiffness.tolist(), '[Nm/rad or N/m]'),
            damping=self._declare_joint_values(
                'damping', damping.tolist(), '[Nm s/rad or N s/m]'),
            effort_limits=self._engine.effort_limits)

    def _declare_joint_values(self, name: str, default: Sequence[float], unit: str) -> np.ndarray:
        descriptor = ParameterDescriptor(
            description=f'{name.replace("_", " ")} of each joint {unit}', read_only=True)
        values = self.declare_parameter(name, list(default), descriptor).value
        if len(values) != len(self._joint_names):
            raise ArgumentError(f'parameter {name} has {len(values)} values; this arm has '
                                f'{len(self._joint_names)} joints: {", ".join(self._joint_names)}')
        return np.array(values)

    def _declare_rate(self) -> int:
        descriptor = ParameterDescriptor(
            description='joint states per second [Hz]',
            floating_point_range=[FloatingPointRange(from_value=1.0, to_value=1000.0)])
        return round(1e9 / self.declare_parameter('rate', 500.0, descriptor).value)

    def _declare_publish_wrench(self) -> bool:
        descriptor = ParameterDescriptor(
            description='publish the tip_wrench on wrench, as a force-torque sensor would')
        return self.declare_parameter('publish_wrench', False, descriptor).value

    def _declare_position_loop(self) -> bool:
        descriptor = ParameterDescriptor(
            description='let each joint follow joint_trajectory; false: the joints get the '
                        'commanded efforts alone')
        return self.declare_parameter('position_loop', True, descriptor).value

    def _declare_dry_friction(self) -> list[float]:
        descriptor = ParameterDescriptor(description='Coulomb friction of each joint [Nm or N]')
        friction = self.declare_parameter(
            'dry_friction', self._engine.dry_friction.tolist(), descriptor).value
        reason = reason_against_friction(friction, len(self._joint_names))
        if reason:
            raise ArgumentError(f'parameter {reason}')
        return friction

    def _declare_gravity(self) -> list[float]:
        descriptor = ParameterDescriptor(
            description="acceleration of free fall in the root link's axes [m/s^2]: where it is "
                        'another, the mount is tilted')
        gravity = self.declare_parameter('gravity', list(GRAVITY), descriptor).value
        if not is_vector(gravity):
            raise ArgumentError(f'parameter gravity is {gravity}; it needs 3 finite numbers')
        return gravity

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds


def reason_against_friction(value: Sequence[float], joints: int) -> str:
    """Return what is wrong with a parameter dry_friction for so many joints; empty: nothing."""
    if len(value) == joints and bool((np.isfinite(value) & (np.asarray(value) >= 0.0)).all()):
        return ''
    return f'dry_friction is {list(value)}; it needs {joints} finite numbers, 0 or more'


def is_vector(value: Sequence[float]) -> bool:
    """Return whether a parameter has three finite numbers."""
    return len(value) == 3 and bool(np.isfinite(value).all())


def load_of(message: InertiaStamped) -> Load:
    """Return the load that a message describes; its frame is the link that carries it."""
    inertia, center = message.inertia, message.inertia.com
    return Load(message.header.frame_id, inertia.m, (center.x, center.y, center.z),
                (inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy, inertia.iyz, inertia.izz))


def _waypoints(message: JointTrajectory) -> list[Waypoint]:
    return [Waypoint(point.time_from_start.sec + point.time_from_start.nanosec * 1e-9,
                     point.positions, point.velocities, point.accelerations)
            for point in message.points]
