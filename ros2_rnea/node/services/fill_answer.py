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
from ros2_rnea.control.output.effort_limits import allowed_efforts
from ros2_rnea.control.policy import Policy
from ros2_rnea.errors import ArgumentError, did_you_mean, RneaError, shortened, TrajectoryError
from ros2_rnea.node.topics.conversions import listed, nanoseconds, waypoints
from ros2_rnea.offline.filling.effort_filler import (
    fill_efforts,
    Filled,
    FilledPoint,
    FillSettings,
    Plan,
    Start,
)
from ros2_rnea.offline.filling.motion_check import (
    described_limits,
    Moment,
    MotionLimits,
    MotionReport,
)
from ros2_rnea.offline.filling.omitted_joints import Controller, with_joints_at_rest
from ros2_rnea.offline.filling.torque_report import TorqueCheck, TorqueReport
from ros2_rnea.robots.joint_index_map import check_joint_names, single_joints
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Terms
from ros2_rnea.trajectories.trajectory import Trajectory
from ros2_rnea_interfaces import msg as interfaces
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
    :ivar stale: why no motion can start from the measured state; empty where it can.
    :ivar controller: which executes the trajectory, as the arguments of :class:`.Controller`.
    :ivar starts_from_reference: whether the controller starts a motion from its reference, and
        not from the measured state.
    """

    controlled: tuple[str, ...]
    limits: np.ndarray
    terms: Terms
    arm_gravity: tuple[float, ...]
    allow_nonzero_end_velocity: bool
    positions: Mapping[str, tuple[float, ...]]
    velocities: Mapping[str, float]
    stale: str = ''
    controller: tuple[Any, ...] = ()
    starts_from_reference: bool = False


def fill_context(
        policy: Policy, now: float, controller_joints: Sequence[str] = (),
        ) -> FillContext:
    """
    Return the context of a request.

    :param now: the time on the steady clock [s].
    :param controller_joints: the joints of the trajectory controller; empty: they are known from
        its controller_state only.
    """
    settings, states = policy.settings, policy.states
    positions = zip(states.names, states.positions.tolist())
    measured = {name: (position,) for name, position in positions if isfinite(position)}
    velocities = dict(zip(states.names, states.fresh_velocities(now).tolist()))
    return FillContext(
        policy.controlled, allowed_efforts(policy.robot, settings), settings.sent_terms,
        settings.arm_gravity, settings.rules.allow_nonzero_velocity_at_trajectory_end,
        {**settings.assumed_positions, **measured},
        {name: velocities[name] for name in measured} if states.is_fresh(now) else {},
        _staleness(policy, now),
        _controller(policy, now, controller_joints),
        settings.rules.interpolate_from_desired_state)


def is_stale(policy: Policy, now: float) -> bool:
    """Return whether joint states or references have been received, and the newest is too old."""
    controller = policy.motion.controller
    return bool(_staleness(policy, now)) or (
        controller.reference(now) is not None and not controller.is_fresh(now))


def _staleness(policy: Policy, now: float) -> str:
    states = policy.states
    unmeasured = states.unmeasured()
    stale = [name for name in states.stale(now) if name not in unmeasured]
    return '' if not stale else (
        f'the joint state of {listed(map(repr, stale))} is stale: the newest one is older than '
        f'state_timeout, {policy.settings.state_timeout} s')


def _controller(
        policy: Policy, now: float, joints: Sequence[str]) -> tuple[Any, ...]:
    state, rules = policy.motion.controller, policy.settings.rules
    newest = state.reference(now) if state.is_fresh(now) else None
    positions, moving = {}, []
    if newest is not None:
        positions = dict(zip(state.joint_names, newest.positions.tolist()))
        moves = (newest.velocities != 0.0) | (newest.accelerations != 0.0)
        moving = [name for name, moves_now in zip(state.joint_names, moves) if moves_now]
    return (
        tuple(joints) or state.controller_joints, rules.allow_partial_joints_goal,
        rules.omitted_joints_stay_where_commanded, positions, tuple(moving))


def answer_bytes(request: bytes, robot: Robot, context: FillContext) -> bytes:
    """Call :func:`answer` with a serialized request, and return the response serialized."""
    return serialize_message(answer(
        deserialize_message(request, FillTrajectoryEfforts.Request), robot, context))


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
        plan, start = _plan(request.trajectory), _start(request, robot, context)
        held = _positions_to_hold(plan, context)
        at_rest = Start(
            {**start.positions, **{name: (position,) for name, position in held.items()}},
            {**start.velocities, **dict.fromkeys(held, 0.0)})
        filled = fill_efforts(
            robot, context.controlled, with_joints_at_rest(plan, held), at_rest,
            FillSettings(
                request.tolerance or DEFAULT.tolerance, request.max_points or DEFAULT.max_points,
                context.allow_nonzero_end_velocity, context.terms, context.arm_gravity))
        motion_limits = _motion_limits(request.limits, robot)
        report = TorqueCheck(robot, filled, context.limits, motion_limits).report(
            request.payload_link, (at.x, at.y, at.z))
    except RneaError as error:
        response.message = shortened(str(error))
        return response
    response.success = True
    response.message = '; '.join([*_additions(held), *_warnings(report.motion)])
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
    commanded = _commanded(names, context)
    _check_fresh(request, {**usable, **commanded, **positions}, context)
    return Start(
        {**usable, **commanded, **positions},
        {**context.velocities, **dict.fromkeys(commanded, 0.0), **at_rest,
         **dict(zip(start.name, start.velocity))})


def _commanded(names: Sequence[str], context: FillContext) -> dict[str, tuple[float, ...]]:
    """Return where the controller starts a motion that it starts from its reference."""
    controller = Controller(*context.controller)
    if not context.starts_from_reference or controller.moving:
        return {}
    return {name: (controller.reference[name],) for name in names if name in controller.reference}


def _check_fresh(
        request: FillTrajectoryEfforts.Request, known: Mapping[str, Any], context: FillContext,
        ) -> None:
    trajectory = request.trajectory
    is_at_zero = not trajectory.points or nanoseconds(trajectory.points[0].time_from_start) == 0
    if context.stale and not is_at_zero and not all(
            name in known for name in trajectory.joint_names):
        raise TrajectoryError(
            f'{context.stale}. The first point is later than 0 s, so that the motion starts from '
            'the present position: give a first point at 0 s, or the start')


def _positions_to_hold(plan: Plan, context: FillContext) -> dict[str, float]:
    Trajectory(*plan[:2], allow_nonzero_end_velocity=True)  # raises where it is malformed
    controller = Controller(*context.controller)
    names = controller.omitted(plan, context.controlled)
    if not names:
        return {}
    measured = {name: context.positions[name][0]
                for name in context.velocities if name in context.positions}
    try:
        return controller.positions_to_hold(names, measured)
    except TrajectoryError as error:
        raise TrajectoryError(f'{error}. Besides, {context.stale}' if context.stale else str(error)
                              ) from error


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


def _motion_limits(
        message: interfaces.MotionLimits, robot: Robot) -> dict[str, MotionLimits]:
    """Return the limits of the request, with those of the description where it has none."""
    known = described_limits(robot)
    names = list(message.name)
    check_joint_names(robot, names, 'limits')
    for quantity in ('velocity', 'acceleration', 'jerk'):
        values = getattr(message, quantity)
        if len(values) not in (0, len(names)):
            raise ArgumentError(
                f'limits has {len(values)} values of {quantity} for {len(names)} names')
        for name, value in zip(names, values):
            if not value >= 0.0:
                raise ArgumentError(
                    f'limits has {value} as the {quantity} of joint {name!r}; 0 or more is needed')
            if value:
                known[name] = known[name]._replace(**{quantity: value})
    return known


# ---- the response ---------------------------------------------------------------------------


def _additions(held: Mapping[str, float]) -> list[str]:
    return [] if not held else ['added, because the trajectory omits them: ' + ', '.join(
        f'{name} at rest at {position:.4f}' for name, position in held.items())]


def _warnings(motion: MotionReport) -> list[str]:
    jumps = motion.velocity_jumps
    return [] if not jumps else [
        f'the velocity jumps at {listed(f"{time:.3f} s" for time in jumps)}, which no effort can '
        'achieve: give all points velocities and accelerations, and the first one the velocity '
        'of the robot, which is 0 at rest']


def _point_message(point: FilledPoint) -> JointTrajectoryPoint:
    waypoint, effort = point
    sec, nanosec = divmod(round(1e9 * waypoint.time), 1_000_000_000)
    return JointTrajectoryPoint(
        positions=_numbers(waypoint.positions), velocities=_numbers(waypoint.velocities),
        accelerations=_numbers(waypoint.accelerations), effort=_numbers(effort),
        time_from_start=Duration(sec=sec, nanosec=nanosec))


def _numbers(values: Any) -> array:
    return array('d', () if values is None else values)


def _report_message(filled: Filled, report: TorqueReport) -> interfaces.EffortReport:
    joints = report.joints
    message = interfaces.EffortReport(
        name=[load.joint for load in joints],
        limit=[load.limit for load in joints],
        peak=[load.peak for load in joints],
        peak_time=[load.peak_time for load in joints],
        rms=[load.rms for load in joints],
        tolerance=filled.tolerances.tolist(),
        interpolation_error=filled.errors.tolist(),
        jump_times=list(filled.jumps),
        motion=_motion_message(report.motion),
        within_limits=report.first_break is None,
        time_scaling=report.time_scaling)
    first, decided_by = report.first_break, report.scaling_decided_by
    _set_moment(first, message, 'first_break')
    _set_moment(decided_by, message, 'time_scaling')
    if first is not None:
        message.first_break_quantity = first.quantity
        message.first_break_value, message.first_break_limit = first.value, first.limit
    if decided_by is not None:
        message.time_scaling_quantity = decided_by.quantity
    if report.payload is not None:
        message.payload_link = report.payload.link
        message.largest_payload = report.payload.mass
        _set_moment(report.payload.decided_by, message, 'payload')
    return message


def _motion_message(report: MotionReport) -> interfaces.MotionReport:
    joints = report.joints
    magnitudes = {quantity: [getattr(joint, quantity) for joint in joints]
                  for quantity in ('velocity', 'acceleration', 'jerk')}
    return interfaces.MotionReport(
        name=[joint.joint for joint in joints],
        lowest=[joint.lowest.value for joint in joints],
        highest=[joint.highest.value for joint in joints],
        lower_limit=[joint.lowest.limit for joint in joints],
        upper_limit=[joint.highest.limit for joint in joints],
        velocity_jump_times=list(report.velocity_jumps),
        **{quantity: [abs(peak.value) for peak in peaks]
           for quantity, peaks in magnitudes.items()},
        **{f'{quantity}_limit': [peak.limit for peak in peaks]
           for quantity, peaks in magnitudes.items()})


def _set_moment(moment: Moment | None, message: interfaces.EffortReport, prefix: str) -> None:
    if moment is not None:
        setattr(message, f'{prefix}_joint', moment.joint)
        setattr(message, f'{prefix}_time', moment.time)
