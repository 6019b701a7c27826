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
"""The answer to a request to fill a trajectory with efforts: messages and mechanics, no node."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from builtin_interfaces.msg import Duration
import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.errors import ArgumentError, did_you_mean, RneaError
from ros2_rnea.feedforward.effort.effort_limits import allowed_efforts
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.feedforward.settings import Terms
from ros2_rnea.feedforward.state.joint_index_map import single_joints
from ros2_rnea.filling.effort_filler import (
    fill_efforts,
    Filled,
    FilledPoint,
    FillSettings,
    Plan,
    Start,
)
from ros2_rnea.filling.torque_report import Moment, TorqueCheck, TorqueReport
from ros2_rnea.node.topics.conversions import waypoints
from ros2_rnea.robot import Robot
from ros2_rnea_interfaces.msg import EffortReport
from ros2_rnea_interfaces.srv import FillTrajectoryEfforts
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

DEFAULT = FillSettings()


class FillContext(NamedTuple):
    """
    The node's state and settings that affect the answer to a request.

    :ivar controlled: the joints to compute efforts for.
    :ivar limits: effort limits of all joints, shape (nv,) [Nm or N].
    :ivar terms: the terms that the efforts contain.
    :ivar arm_gravity: the gravity that the arm compensates by itself, shape (3,) [m/s^2]; empty:
        that of the robot.
    :ivar allow_nonzero_end_velocity: whether the controller accepts trajectories that end in
        motion.
    :ivar positions: the measured position of each joint, or else the assumed one.
    :ivar velocities: of the measured joints while the controlled ones are fresh.  A motion can
        start only at the position of a joint that has a velocity.
    """

    controlled: tuple[str, ...]
    limits: np.ndarray
    terms: Terms
    arm_gravity: tuple[float, ...]
    allow_nonzero_end_velocity: bool
    positions: Mapping[str, tuple[float, ...]]
    velocities: Mapping[str, float]


def fill_context(policy: FeedforwardPolicy, now: float) -> FillContext:
    """Return the context of a request, for a policy and a time on the steady clock [s]."""
    settings, states = policy.settings, policy.states
    positions = zip(states.names, states.positions.tolist())
    measured = {name: (position,) for name, position in positions if isfinite(position)}
    velocities = dict(zip(states.names, states.fresh_velocities(now).tolist()))
    return FillContext(
        policy.controlled, allowed_efforts(policy.robot, settings), settings.sent_terms,
        settings.arm_gravity, settings.rules.allow_nonzero_velocity_at_trajectory_end,
        {**settings.assumed_positions, **measured},
        {name: velocities[name] for name in measured} if states.is_fresh(now) else {})


def answer_bytes(request: bytes, robot: Robot, context: Sequence[Any]) -> bytes:
    """Call :func:`answer` with a serialized request, and return the response serialized."""
    return serialize_message(answer(
        deserialize_message(request, FillTrajectoryEfforts.Request), robot,
        FillContext(*context)))


def answer(
        request: FillTrajectoryEfforts.Request,
        robot: Robot,
        context: FillContext) -> FillTrajectoryEfforts.Response:
    """
    Return the filled trajectory with its report, or the error.

    :param robot: with its present payloads and gravity.
    """
    response = FillTrajectoryEfforts.Response()
    at = request.payload_position
    try:
        filled = fill_efforts(
            robot, context.controlled, _plan(request.trajectory), _start(request, robot, context),
            FillSettings(
                request.tolerance or DEFAULT.tolerance, request.max_points or DEFAULT.max_points,
                context.allow_nonzero_end_velocity, context.terms, context.arm_gravity))
        report = TorqueCheck(robot, filled, context.limits).report(
            request.payload_link, (at.x, at.y, at.z))
    except RneaError as error:
        response.message = str(error)
        return response
    response.success = True
    response.trajectory = JointTrajectory(
        header=request.trajectory.header, joint_names=list(filled.joint_names),
        points=list(map(_point_message, filled.points)))
    response.report = _report_message(filled, report)
    return response


# ---- the request ----------------------------------------------------------------------------


def _plan(message: JointTrajectory) -> Plan:
    efforts = [tuple(point.effort) for point in message.points]
    return Plan(
        list(message.joint_names), waypoints(message), efforts if any(efforts) else ())


def _start(
        request: FillTrajectoryEfforts.Request, robot: Robot, context: FillContext) -> Start:
    names = request.trajectory.joint_names
    usable = {name: position for name, position in context.positions.items()
              if name in context.velocities or name not in names}
    start = request.start
    _check_start(start, [*single_joints(robot), *robot.tree.mimics, *names])
    positions = {name: (position,) for name, position in zip(start.name, start.position)}
    at_rest = dict.fromkeys(start.name, 0.0)
    return Start(
        {**usable, **positions},
        {**context.velocities, **at_rest, **dict(zip(start.name, start.velocity))})


def _check_start(start: JointState, known: list[str]) -> None:
    for label, values in (('position', start.position), ('velocity', start.velocity)):
        if len(values) != len(start.name) and (label == 'position' or len(values)):
            raise ArgumentError(
                f'start has {len(values)} values of {label} for {len(start.name)} names')
        for name, value in zip(start.name, values):
            if not isfinite(value):
                raise ArgumentError(f'start has {value} as the {label} of joint {name!r}; it '
                                    'must be finite')
    for index, name in enumerate(start.name):
        if name not in known:
            raise ArgumentError(
                f'start names {name!r}, which is not a joint of one degree of freedom'
                f'{did_you_mean(name, known)}')
        if name in start.name[:index]:
            raise ArgumentError(f'start names {name!r} twice')


# ---- the response ---------------------------------------------------------------------------


def _point_message(point: FilledPoint) -> JointTrajectoryPoint:
    waypoint, effort = point
    sec, nanosec = divmod(round(1e9 * waypoint.time), 1_000_000_000)
    return JointTrajectoryPoint(
        positions=_numbers(waypoint.positions), velocities=_numbers(waypoint.velocities),
        accelerations=_numbers(waypoint.accelerations), effort=_numbers(effort),
        time_from_start=Duration(sec=sec, nanosec=nanosec))


def _numbers(values: Any) -> array:
    return array('d', () if values is None else values)


def _report_message(filled: Filled, report: TorqueReport) -> EffortReport:
    joints = report.joints
    message = EffortReport(
        name=[load.joint for load in joints],
        limit=[load.limit for load in joints],
        peak=[load.peak for load in joints],
        peak_time=[load.peak_time for load in joints],
        rms=[load.rms for load in joints],
        tolerance=filled.tolerances.tolist(),
        interpolation_error=filled.errors.tolist(),
        jump_times=list(filled.jumps),
        within_limits=report.first_break is None,
        time_scaling=report.time_scaling)
    if report.first_break is not None:
        message.first_break_joint = report.first_break.joint
        message.first_break_time = report.first_break.time
        message.first_break_effort = report.first_break.effort
    _set_moment(report.scaling_decided_by, message, 'time_scaling')
    if report.payload is not None:
        message.payload_link = report.payload.link
        message.largest_payload = report.payload.mass
        _set_moment(report.payload.decided_by, message, 'payload')
    return message


def _set_moment(moment: Moment | None, message: EffortReport, prefix: str) -> None:
    if moment is not None:
        setattr(message, f'{prefix}_joint', moment.joint)
        setattr(message, f'{prefix}_time', moment.time)
