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
from ros2_rnea.feedforward.policy import allowed_efforts, FeedforwardPolicy
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


class Circumstances(NamedTuple):
    """
    What counts for a request besides what it says itself.

    :ivar controlled: the joints to fill in.
    :ivar limits: of the efforts of all joints, shape (nv,).
    :ivar terms: that are to be in the efforts.
    :ivar arm_gravity: for which the arm adds gravity by itself; empty: that of the robot.
    :ivar allow_nonzero_end_velocity: whether the controller takes trajectories that end in motion.
    :ivar here: by joint, where it is measured, or else assumed to be.
    :ivar velocities: of the measured joints while the controlled ones are fresh; without one, a
        joint's position is not where a motion could begin.
    """

    controlled: tuple[str, ...]
    limits: np.ndarray
    terms: Terms
    arm_gravity: tuple[float, ...]
    allow_nonzero_end_velocity: bool
    here: Mapping[str, tuple[float, ...]]
    velocities: Mapping[str, float]


def circumstances(policy: FeedforwardPolicy, now: float) -> Circumstances:
    """Return what counts while a policy is in force, at a time on the steady clock [s]."""
    settings, states = policy.settings, policy.states
    positions = zip(states.names, states.positions.tolist())
    measured = {name: (position,) for name, position in positions if isfinite(position)}
    velocities = dict(zip(states.names, states.fresh_velocities(now).tolist()))
    return Circumstances(
        policy.controlled, allowed_efforts(policy.robot, settings), settings.sent_terms,
        settings.arm_gravity, settings.rules.allow_nonzero_velocity_at_trajectory_end,
        {**settings.assumed_positions, **measured},
        {name: velocities[name] for name in measured} if states.is_fresh(now) else {})


def answer_bytes(request: bytes, robot: Robot, given: Sequence[Any]) -> bytes:
    """Return what :func:`answer` does, request and response as they are serialized."""
    return serialize_message(answer(
        deserialize_message(request, FillTrajectoryEfforts.Request), robot,
        Circumstances(*given)))


def answer(
        request: FillTrajectoryEfforts.Request,
        robot: Robot,
        given: Circumstances) -> FillTrajectoryEfforts.Response:
    """
    Return the filled trajectory with its report, or why there is none.

    :param robot: with payloads and gravity.
    """
    response = FillTrajectoryEfforts.Response()
    at = request.payload_position
    try:
        filled = fill_efforts(
            robot, given.controlled, _plan(request.trajectory), _start(request, robot, given),
            FillSettings(
                request.tolerance or DEFAULT.tolerance, request.max_points or DEFAULT.max_points,
                given.allow_nonzero_end_velocity, given.terms, given.arm_gravity))
        report = TorqueCheck(robot, filled, given.limits).report(
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


# ---- what was asked -------------------------------------------------------------------------


def _plan(message: JointTrajectory) -> Plan:
    efforts = [tuple(point.effort) for point in message.points]
    return Plan(
        list(message.joint_names), waypoints(message), efforts if any(efforts) else ())


def _start(
        request: FillTrajectoryEfforts.Request, robot: Robot, given: Circumstances) -> Start:
    names = request.trajectory.joint_names
    here = {name: position for name, position in given.here.items()
            if name in given.velocities or name not in names}
    asked = request.start
    _check_start(asked, [*single_joints(robot), *robot.tree.mimics, *names])
    positions = {name: (position,) for name, position in zip(asked.name, asked.position)}
    at_rest = dict.fromkeys(asked.name, 0.0)
    return Start(
        {**here, **positions},
        {**given.velocities, **at_rest, **dict(zip(asked.name, asked.velocity))})


def _check_start(start: JointState, known: list[str]) -> None:
    for label, values in (('position', start.position), ('velocity', start.velocity)):
        if len(values) != len(start.name) and (label == 'position' or len(values)):
            raise ArgumentError(f'start has {len(values)} of {label} for {len(start.name)} names')
        for name, value in zip(start.name, values):
            if not isfinite(value):
                raise ArgumentError(f'start has {value} as the {label} of joint {name!r}; it '
                                    'must be finite')
    for index, name in enumerate(start.name):
        if name not in known:
            raise ArgumentError(
                f'start names {name!r}, which is no joint of one degree of freedom'
                f'{did_you_mean(name, known)}')
        if name in start.name[:index]:
            raise ArgumentError(f'start names {name!r} twice')


# ---- what is answered -----------------------------------------------------------------------


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
    _tell(report.scaling_decided_by, message, 'time_scaling')
    if report.payload is not None:
        message.payload_link = report.payload.link
        message.largest_payload = report.payload.mass
        _tell(report.payload.decided_by, message, 'payload')
    return message


def _tell(moment: Moment | None, message: EffortReport, prefix: str) -> None:
    if moment is not None:
        setattr(message, f'{prefix}_joint', moment.joint)
        setattr(message, f'{prefix}_time', moment.time)
