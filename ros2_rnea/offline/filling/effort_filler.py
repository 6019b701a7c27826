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
Efforts for every point of a trajectory that joint_trajectory_controller executes.

The controller interpolates efforts linearly between points, whatever splines the motion follows,
takes a missing effort as 0, and repeats the last one for ever.  A trajectory therefore gets a
first point at time 0, additional points where linear interpolation would deviate too far from the
effort that the motion needs, and gravity in the last point.  The inserted points lie on the
splines and have the fields that determine the splines: the motion does not change.

Efforts are sums of the terms to send; terms that the arm adds by itself are not included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import ArgumentError, did_you_mean, TrajectoryError
from ros2_rnea.offline.filling.densifier import Densifier, FINEST, Segment
from ros2_rnea.offline.filling.effort_along import EffortAlong, joined, Samples
from ros2_rnea.offline.filling.polyline import lines_at
from ros2_rnea.robots.joint_index_map import check_joint_names, joint_body
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Terms
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Array, Trajectory, Waypoint

_SMALLEST_TOLERANCE = 1e-3  # [Nm or N], of a joint without a limit
_SAMPLES_PER_POINT = 20
_START = RosTime(0)
"""Start of a trajectory that is filled: only times since its start matter."""


@dataclass(frozen=True)
class FillSettings:
    """
    How efforts are filled in.

    :ivar tolerance: largest deviation of the interpolated from the true effort, as a share of each
        joint's effort limit; where the limit is missing or 0, of the joint's largest effort on the
        trajectory, but at least 1e-3 Nm or N.
    :ivar max_points: largest number of points of the filled trajectory.
    :ivar allow_nonzero_end_velocity: accept a last point with a velocity, as the controller may.
    :ivar terms: the terms to fill in, without those that the arm adds; not ``Terms.AUTOMATIC``.
    :ivar arm_gravity: acceleration of free fall for which the arm adds gravity by itself, shape
        (3,) [m/s^2]; empty: that of the robot.  It has no effect where gravity is filled in.
    :raises ArgumentError: naming the setting whose value is out of range.
    """

    tolerance: float = 0.01
    max_points: int = 10_000
    allow_nonzero_end_velocity: bool = False
    terms: Terms = Terms.FULL
    arm_gravity: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 < self.tolerance <= 1.0:
            raise ArgumentError(
                f'tolerance is {self.tolerance}; it needs a share of the effort limit, '
                'above 0 and up to 1')
        if self.max_points < 2:
            raise ArgumentError(f'max_points is {self.max_points}; it needs 2 or more')
        if self.terms is Terms.AUTOMATIC:
            raise ArgumentError(
                'terms is automatic, but the arm is not known here: name the terms')


class Plan(NamedTuple):
    """
    The content of a JointTrajectory message.

    :ivar efforts: empty, or for each point one for each joint or none.
    """

    joint_names: Sequence[str]
    waypoints: Sequence[Waypoint]
    efforts: Sequence[Sequence[float]] = ()


@dataclass(frozen=True)
class Start:
    """
    The state of the robot when the trajectory begins, by joint name.

    :ivar positions: of the joints that the trajectory omits, and of all its joints where its first
        point is later than time 0; each a sequence of the joint's coordinates [rad or m].
    :ivar velocities: 0 where missing [rad/s or m/s].
    """

    positions: Mapping[str, Sequence[float]] = field(default_factory=dict)
    velocities: Mapping[str, float] = field(default_factory=dict)


class FilledPoint(NamedTuple):
    """A point of a filled trajectory; ``effort`` has one value for each of its joints."""

    waypoint: Waypoint
    effort: Array


@dataclass(frozen=True, eq=False)
class Filled:
    """
    A trajectory with efforts, and the data to assess their accuracy.

    :ivar trajectory: the motion, as splines join the original points.
    :ivar joint_names: as in the trajectory.
    :ivar points: the original and the inserted points.
    :ivar filled: the joints whose efforts were computed; other efforts are not changed.
    :ivar v_index: indices of the filled joints in the robot's efforts.
    :ivar tolerances: largest deviations of their efforts [Nm or N].
    :ivar jumps: the times at which the true effort jumps by more than the tolerance [s]; the
        interpolated effort follows as a ramp in the :data:`.FINEST` seconds before.
    :ivar samples: the motion and its true efforts at closely spaced times.
    :ivar velocities: of the robot before the trajectory, by joint; 0 where missing.
    """

    trajectory: Trajectory
    joint_names: tuple[str, ...]
    points: tuple[FilledPoint, ...]
    filled: tuple[str, ...]
    v_index: Array
    tolerances: Array
    jumps: tuple[float, ...]
    samples: Samples
    velocities: Mapping[str, float] = field(default_factory=dict)

    def line_errors(self) -> Array:
        """
        Return the deviations of the interpolated efforts from the true ones, of filled joints.

        :return: shape (samples, filled joints) [Nm or N], with NaN on the ramps.
        """
        columns = [self.joint_names.index(name) for name in self.filled]
        times, true = self.samples.times, self.samples.sent[:, self.v_index]
        lines = lines_at(
            times,
            np.array([point.waypoint.time for point in self.points]),
            np.array([point.effort[columns] for point in self.points]))
        is_arrival = np.append(times[1:] == times[:-1], False)  # the next sample has the same time
        for jump in self.jumps:
            on_ramp = (jump - FINEST < times) & ((times < jump) | (times == jump) & is_arrival)
            lines[on_ramp] = np.nan
        return lines - true

    @property
    def errors(self) -> Array:
        """Return the largest of :meth:`line_errors` in magnitude, shape (filled joints,)."""
        return np.nanmax(np.abs(self.line_errors()), axis=0)


def fill_efforts(
        robot: Robot,
        controlled: Sequence[str],
        plan: Plan,
        start: Start = Start(),  # noqa: B008 (it never changes)
        settings: FillSettings = FillSettings(),  # noqa: B008
        progress: Callable[[float], None] = lambda share: None) -> Filled:
    """
    Return a trajectory with the effort that its motion needs in every point.

    :param robot: with its payloads and gravity.
    :param controlled: the joints to fill in.  Other joints of the trajectory keep their efforts,
        since for a gripper the effort of the last point can mean a maximum force.
    :param plan: the trajectory.
    :param start: the state before the trajectory.
    :param progress: called with the completed share, 0 to 1.
    :raises TrajectoryError: where the controller could not execute it, or it would need too many
        points.
    :raises ArgumentError: where ``controlled`` contains a name that cannot be used.
    """
    check_joint_names(robot, controlled, 'controlled')
    filled = tuple(name for name in plan.joint_names if name in controlled)
    if plan.joint_names and not filled:
        raise TrajectoryError(_nothing_to_fill(plan.joint_names, controlled))
    plan = _from_zero(robot, plan, start, settings.allow_nonzero_end_velocity)
    trajectory = Trajectory(
        plan.joint_names, plan.waypoints, _START, settings.allow_nonzero_end_velocity)
    along = EffortAlong(
        robot, trajectory, start.positions, settings.terms, settings.arm_gravity)
    v_index = np.array([joint_body(robot, name).v_index for name in filled], dtype=int)
    tolerances = _tolerances(along, v_index, settings.tolerance)
    densifier = Densifier(along, v_index, tolerances, _SAMPLES_PER_POINT * settings.max_points)
    arrivals = _arrivals(along, plan.waypoints)
    segments = _segments(densifier, arrivals, settings, progress)
    return Filled(
        trajectory,
        tuple(plan.joint_names),
        _points(plan, trajectory, filled, v_index, arrivals, segments),
        filled,
        v_index,
        tolerances,
        tuple(float(there.times[0])
              for there, segment in zip(arrivals[1:], segments) if segment.jumps),
        joined([*(segment.samples for segment in segments), arrivals[-1]]),
        start.velocities)


# ---- before the splines ---------------------------------------------------------------------


def _nothing_to_fill(names: Sequence[str], controlled: Sequence[str]) -> str:
    return (f'none of the joints of the trajectory ({", ".join(names)}) is among those to fill in '
            f'({", ".join(controlled)}){did_you_mean(names[0], controlled)}')


def _from_zero(robot: Robot, plan: Plan, start: Start, nonzero_end: bool) -> Plan:
    """Return the plan, checked, with a first point at time 0."""
    names, waypoints, efforts = plan
    trajectory = Trajectory(names, waypoints, _START, nonzero_end)
    _check_efforts(plan)
    time = waypoints[0].time
    if time == 0.0:
        return plan
    for name in names:
        if name not in start.positions:
            raise TrajectoryError(
                f'The first point is at {time} s, so that the motion starts from the present '
                f'position; the position of joint {name!r} is not known: give it, or a first '
                'point at 0 s.')
    measured = np.array([start.positions[name][0] for name in names], dtype=float)
    velocities = np.array([start.velocities.get(name, 0.0) for name in names])
    continuous = [_is_continuous(robot, name) for name in names]
    entered = trajectory.entered_from(_START, measured, velocities, continuous)
    first = Waypoint(0.0, entered.at(0.0)[0], velocities, np.zeros(len(names)))
    return Plan(names, [first, *waypoints], [*efforts[:1], *efforts])


def _check_efforts(plan: Plan) -> None:
    if plan.efforts and len(plan.efforts) != len(plan.waypoints):
        raise TrajectoryError(
            f'The trajectory has {len(plan.efforts)} rows of efforts for '
            f'{len(plan.waypoints)} points.')
    for index, effort in enumerate(plan.efforts):
        if len(effort) not in (0, len(plan.joint_names)):
            raise TrajectoryError(
                f'Point {index} has {len(effort)} efforts for {len(plan.joint_names)} joints.')


def _is_continuous(robot: Robot, joint: str) -> bool:
    return joint in robot.tree.joints and joint_body(robot, joint).type.wraps


def _tolerances(along: EffortAlong, v_index: Array, share: float) -> Array:
    times = np.linspace(0.0, along.trajectory.duration, 200)
    peaks = np.abs(along.samples(times).sent[:, v_index]).max(axis=0)
    limits = along.robot.effort_limits[v_index]
    limited = np.isfinite(limits) & (limits > 0.0)
    return np.where(limited, share * limits, np.maximum(share * peaks, _SMALLEST_TOLERANCE))


# ---- from point to point --------------------------------------------------------------------


def _arrivals(along: EffortAlong, waypoints: Sequence[Waypoint]) -> list[Samples]:
    """Return one sample for each point, at the start of its segment; the last one is at rest."""
    times = np.array([waypoint.time for waypoint in waypoints])
    moving = along.samples(times[:-1])
    rest = along.at_rest(times[-1])
    return [Samples(*(array[i:i + 1] for array in moving)) for i in range(len(times) - 1)] + [rest]


def _segments(
        densifier: Densifier,
        arrivals: Sequence[Samples],
        settings: FillSettings,
        progress: Callable[[float], None]) -> list[Segment]:
    _check_count(len(arrivals), settings)
    count = len(arrivals)
    segments = []
    for index, (here, there) in enumerate(zip(arrivals[:-1], arrivals[1:])):
        segments.append(densifier.segment(here, there))
        count += len(segments[-1].inserted)
        if count > settings.max_points:
            raise TrajectoryError(
                f'More than {settings.max_points} points are needed to keep the deviation within '
                f'{settings.tolerance:.3g} of the effort limits: they suffice until '
                f'{there.times[0]:.3f} s of {arrivals[-1].times[0]:.3f} s. Allow more points, or '
                'a larger tolerance: four times the tolerance needs half the points.')
        progress((index + 1) / len(arrivals))
    progress(1.0)
    return segments


def _check_count(given: int, settings: FillSettings) -> None:
    if given > settings.max_points:
        raise TrajectoryError(
            f'The trajectory itself has {given} points, with one at 0 s, and '
            f'{settings.max_points} are allowed: allow more, or give a shorter trajectory.')


# ---- after the splines ----------------------------------------------------------------------


def _points(
        plan: Plan,
        trajectory: Trajectory,
        filled: Sequence[str],
        v_index: Array,
        arrivals: Sequence[Samples],
        segments: Sequence[Segment]) -> tuple[FilledPoint, ...]:
    """Return the original and the inserted points, with all efforts."""
    waypoints, efforts = [], []
    for index, waypoint in enumerate(plan.waypoints):
        waypoints.append(waypoint)
        efforts.append(arrivals[index].sent[0, v_index])
        if index < len(segments):
            fields = min(map(_field_count, plan.waypoints[index:index + 2]))
            samples = segments[index].samples
            for i in segments[index].inserted:
                time = float(samples.times[i])
                waypoints.append(Waypoint(time, *trajectory.at(time)[:fields]))
                efforts.append(samples.sent[i, v_index])
    all_efforts = _given_efforts(plan, np.array([waypoint.time for waypoint in waypoints]))
    all_efforts[:, [plan.joint_names.index(name) for name in filled]] = efforts
    return tuple(map(FilledPoint, waypoints, all_efforts))


def _given_efforts(plan: Plan, times: Array) -> Array:
    """Return the plan's own efforts as the controller interpolates them; 0 where missing."""
    count = len(plan.joint_names)
    if not plan.efforts:
        return np.zeros((len(times), count))
    given = np.array([effort if len(effort) else np.zeros(count) for effort in plan.efforts])
    at = np.array([waypoint.time for waypoint in plan.waypoints])
    return np.stack([np.interp(times, at, column) for column in given.T], axis=1)


def _field_count(waypoint: Waypoint) -> int:
    fields = (waypoint.positions, waypoint.velocities, waypoint.accelerations)
    return sum(values is not None and len(values) > 0 for values in fields)
