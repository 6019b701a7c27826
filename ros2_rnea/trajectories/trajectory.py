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
A trajectory of joints, sampled as ros2_control's joint_trajectory_controller does it.

Two neighbouring points are joined by the spline that the fields of *both* determine:

================================  =============  ==================================
positions                         linear         velocity: the slope, acceleration 0
and velocities                    cubic Hermite
and velocities and accelerations  quintic
================================  =============  ==================================

A segment includes its start and excludes its end.  From the last point on the sample is that
point, with 0 for fields that it lacks.  Before the first point the motion starts from the measured
state, which has all fields.  (Source: ros2_controllers 6.9, ``trajectory.cpp``.)  The choices that
the controller's parameters leave are in ``controller_rules.py``.

Trajectories that the controller refuses are refused here.  So are those that it executes wrongly:
with numbers that are not finite, or with accelerations but no velocities, for which it sets all
fields to zero, positions included.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from math import inf, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ros2_rnea.errors import shortened, TrajectoryError
from ros2_rnea.robots.arguments import LARGEST
from ros2_rnea.trajectories.ros_time import RosTime

Array = NDArray[np.float64]

# The controller takes a final velocity up to the first as zero, and half a turn to within the
# second as half a turn.
_ZERO_VELOCITY = float(np.finfo(np.float32).eps)
_HALF_TURN_TOLERANCE = 1e-9

_EPOCH = RosTime(0)

_LONGEST = 2.0 ** 31
"""Longest duration in a message [s]."""

_FIELDS = ('positions', 'velocities', 'accelerations')

# A segment is a polynomial q0 + q0' u + ... in its own time u = 0 ... 1.  Its start determines as
# many coefficients as both ends have fields.  The matrix, by this number, computes the others from
# the derivatives by u at both ends: (q0', q0'', q1 - q0, q1', q1''), as far as they are given.
_SPLINES = {
    1: np.array([[1.0]]),
    2: np.array([
        [-2.0, 3.0, -1.0],
        [1.0, -2.0, 1.0],
    ]),
    3: np.array([
        [-6.0, -1.5, 10.0, -4.0, 0.5],
        [8.0, 1.5, -15.0, 7.0, -1.0],
        [-3.0, -0.5, 6.0, -3.0, 0.5],
    ]),
}
_FACTORIALS = np.array([[1.0], [1.0], [2.0]])
_EXPONENTS = np.arange(6.0)[:, np.newaxis]


@dataclass(frozen=True)
class Waypoint:
    """
    A point of a trajectory, like a message's: one value for each of the trajectory's joints.

    ``time`` is time_from_start [s].  A field that is not given is None or empty.
    """

    time: float
    positions: Sequence[float] | Array
    velocities: Sequence[float] | Array | None = None
    accelerations: Sequence[float] | Array | None = None


class TrajectoryCommand(NamedTuple):
    """
    The content of a JointTrajectory message.

    :ivar joint_names: in the order of the waypoints' values.
    :ivar waypoints: in the order of time.
    :ivar stamp: the start time; None: on reception.
    """

    joint_names: Sequence[str]
    waypoints: Sequence[Waypoint]
    stamp: RosTime | None = None

    @property
    def duration(self) -> float:
        """Return the time of the last waypoint [s]; 0: there is none."""
        return self.waypoints[-1].time if self.waypoints else 0.0


class Splines(NamedTuple):
    """
    The polynomials between the points of a trajectory.

    :ivar starts: of the segments, shape (segments,) [s].
    :ivar durations: of the segments, shape (segments,) [s].
    :ivar coefficients: of the positions, for the powers 0 to 5 of the time since the segment's
        start, shape (segments, 6, joints).
    :ivar field_counts: 1 where a segment is a straight line, 2 where it is a cubic and 3 where it
        is a quintic polynomial, shape (segments,).
    """

    starts: Array
    durations: Array
    coefficients: Array
    field_counts: Array


class Trajectory:
    """Waypoints joined by splines; read-only once it is built."""

    def __init__(
        self,
        joint_names: Sequence[str],
        waypoints: Sequence[Waypoint],
        start: RosTime = _EPOCH,
        allow_nonzero_end_velocity: bool = False,
    ) -> None:
        """
        Check the waypoints and compute the splines between them.

        :param joint_names: the joints, in the order of the waypoints' values.
        :param waypoints: at least one, at strictly increasing times that are not negative.
        :param start: the time that the waypoints' times are relative to.
        :param allow_nonzero_end_velocity: accept a last point with a velocity.
        :raises TrajectoryError: when joint_trajectory_controller would refuse it or execute it
            wrongly.
        """
        _check_joint_names(joint_names)
        _check_times(waypoints)
        self.joint_names = tuple(joint_names)
        self.start = start
        self._times = [waypoint.time for waypoint in waypoints]
        self._states, self._field_counts = _stack(joint_names, waypoints)
        if not allow_nonzero_end_velocity:
            _check_end_velocity(joint_names, self._states[-1, 1])
        self._segments = _segments(
            joint_names, self._times, self._states, self._field_counts)
        self._lead_ins = 0

    @property
    def end(self) -> RosTime:
        """Return the time of the last point."""
        return self.start + self.duration

    @property
    def duration(self) -> float:
        """Return the time from the start to the last point [s]."""
        return self._times[-1]

    @property
    def point_count(self) -> int:
        """Return the number of points, without the start state added to them."""
        return len(self._times) - self._lead_ins

    @property
    def waypoints(self) -> list[Waypoint]:
        """Return the points for ``joint_names``, without the start state added to them."""
        return [
            Waypoint(self._times[i], *self._states[i, :self._field_counts[i]])
            for i in range(self._lead_ins, len(self._times))]

    @property
    def splines(self) -> Splines:
        """Return the polynomials between the points."""
        return self.splines_from(self._times[0])

    def splines_from(self, seconds: float) -> Splines:
        """
        Return the polynomials between the points that end later than a time.

        :param seconds: since ``start``, as the times of the waypoints.
        """
        count = len(self.joint_names)
        first = max(bisect_right(self._times, seconds) - 1, 0)
        times, fields = np.array(self._times[first:]), self._field_counts[first:]
        coefficients = [segment[:, :count] for segment in self._segments[first:]]
        return Splines(
            times[:-1], np.diff(times), np.array(coefficients).reshape(-1, 6, count),
            np.minimum(fields[:-1], fields[1:]))

    def sample(self, time: RosTime) -> Array:
        """Return the state at a time of the clock, as :meth:`at` does."""
        return self.at(time - self.start)

    def at(self, seconds: float) -> Array:
        """
        Return positions, velocities and accelerations at a time, as the rows of one new array.

        Before the first point the sample is that point.

        :param seconds: since ``start``, as the times of the waypoints.
        :returns: shape (3, joints) [rad or m, and per s, per s^2].
        """
        t = max(seconds, self._times[0])
        segment = bisect_right(self._times, t) - 1
        if segment == len(self._segments):
            return self._states[-1].copy()
        t -= self._times[segment]
        t2 = t * t
        t3 = t * t2
        t4 = t * t3
        powers = np.array((1.0, t, t2, t3, t4, t * t4))
        return powers.dot(self._segments[segment]).reshape(3, -1)

    def end_of_spline(self) -> Array:
        """
        Return the state with which the motion arrives at the last point, as :meth:`at` does.

        A spline of cubics has an acceleration there that is not among the fields of the point.
        """
        if not self._segments:
            return self._states[-1].copy()
        powers = (self._times[-1] - self._times[-2]) ** np.arange(6.0)
        return powers.dot(self._segments[-1]).reshape(3, -1)

    def for_joints(self, joint_names: Sequence[str], held_positions: Array) -> Trajectory:
        """
        Return this motion for other joints: in another order, and with joints that it omits.

        :param joint_names: all of this trajectory's joints, and others, in any order.
        :param held_positions: positions of the joints that this trajectory omits, at rest,
            shape (len(joint_names),) [rad or m].
        :raises TrajectoryError: when this trajectory has a joint that is not in ``joint_names``.
        """
        place = {name: column for column, name in enumerate(joint_names)}
        unknown = [name for name in self.joint_names if name not in place]
        if unknown:
            raise TrajectoryError(shortened(
                f"The trajectory moves {', '.join(map(repr, unknown))}, "
                f"but the joints here are {', '.join(map(repr, joint_names))}."))
        columns = [place[name] for name in self.joint_names]

        states = np.zeros((len(self._times), 3, len(joint_names)))
        states[:, 0] = held_positions
        states[:, :, columns] = self._states
        other = copy(self)
        other.joint_names = tuple(joint_names)
        other._states = states
        other._segments = _segments(joint_names, self._times, states, self._field_counts)
        return other

    def entered_from(
        self,
        time: RosTime,
        positions: Array,
        velocities: Array | None = None,
        continuous: ArrayLike = False,
        accelerations: Array | None = None,
    ) -> Trajectory:
        """
        Return this motion with a start state before it, if the first point is still ahead.

        The spline is that for the fields of the first point.  The start of a continuous joint is
        its measured position plus the whole turns that bring it nearest to the first point.

        :param time: when the state was measured.
        :param positions: measured, shape (joints,) [rad or m].
        :param velocities: measured, shape (joints,) [rad/s or m/s]; None: zero.
        :param continuous: true for joints that turn without end, shape (joints,).
        :param accelerations: shape (joints,) [rad/s^2 or m/s^2]; None: zero.
        :raises TrajectoryError: when the state is not finite.
        """
        t = time - self.start
        if t >= self._times[0]:
            return self
        first = self._states[0]
        entry = np.zeros_like(first)
        entry[0] = positions + whole_turns(first[0] - positions, continuous)
        entry[1] = 0.0 if velocities is None else velocities
        entry[2] = 0.0 if accelerations is None else accelerations

        start = copy(self)
        start._times, start._states, start._field_counts, start._segments = (
            [t], entry[np.newaxis], [3], [])
        other = start.followed_by(self)
        other._lead_ins += 1
        return other

    def part(self, start: RosTime, after: float, before: float) -> Trajectory | None:
        """
        Return the motion from the first to the last point in a span of time; None: there is none.

        Its splines are those of this motion and are not computed again, which would take long for
        many points.

        :param start: what the times of the part are relative to.
        :param after: its points are later than this, relative to ``start`` [s].
        :param before: and earlier than this [s].
        """
        offset = self.start - start
        first = max(self._lead_ins, bisect_right(self._times, after, key=lambda t: offset + t))
        end = bisect_left(self._times, before, key=lambda t: offset + t)
        if first >= end:
            return None
        part = copy(self)
        part.start = start
        part._times = [offset + t for t in self._times[first:end]]
        part._states = self._states[first:end]
        part._field_counts = self._field_counts[first:end]
        part._segments = self._segments[first:end - 1]
        part._lead_ins = 0
        return part

    def followed_by(self, later: Trajectory) -> Trajectory:
        """
        Return this motion and then another one, with a spline between them.

        :param later: of the same joints, with times that are relative to the same start and later
            than all of this motion.
        :raises TrajectoryError: when no finite spline joins the two.
        """
        both = copy(self)
        both._times = self._times + later._times
        both._states = np.concatenate((self._states, later._states))
        both._field_counts = self._field_counts + later._field_counts
        between = slice(len(self._times) - 1, len(self._times) + 1)
        both._segments = self._segments + _segments(
            self.joint_names, both._times[between], both._states[between],
            both._field_counts[between]) + later._segments
        return both

    def with_resting(self, joints: Sequence[int], positions: Array) -> Trajectory:
        """
        Return this motion with some joints at rest.

        :param joints: their indices.
        :param positions: of all joints, of which those of the resting ones are used,
            shape (joints,) [rad or m].
        """
        count, resting = len(self.joint_names), np.array(joints, dtype=int)
        other = copy(self)
        other._states = self._states.copy()
        other._states[:, :, resting] = 0.0
        other._states[:, 0, resting] = positions[resting]
        segments = np.array(self._segments).reshape(-1, 6, 3 * count)
        for field in range(3):
            segments[:, :, field * count + resting] = 0.0
        segments[:, 0, resting] = positions[resting]
        other._segments = list(segments)
        return other


def whole_turns(differences: Array, continuous: ArrayLike) -> Array:
    """
    Return the whole turns nearest to differences of position; 0 for joints with a range.

    Half a turn, and a rounding error more, is not a whole one.  A joint that goes to the opposite
    side therefore turns in the direction that the given positions have.

    :param differences: shape (joints,) [rad].
    :param continuous: true for joints that turn without end, shape (joints,).
    :returns: multiples of 2 pi, shape (joints,) [rad].
    """
    beyond_half_a_turn = np.abs(differences) - pi - _HALF_TURN_TOLERANCE
    turns = np.ceil(beyond_half_a_turn / (2.0 * pi))
    return np.where(continuous, np.copysign(2.0 * pi * turns, differences), 0.0)


def _check_joint_names(joint_names: Sequence[str]) -> None:
    if not joint_names:
        raise TrajectoryError('The trajectory names no joints.')
    seen: set[str] = set()
    for name in joint_names:
        if name in seen:
            raise TrajectoryError(f'The trajectory names joint {name!r} twice.')
        seen.add(name)


def _check_times(waypoints: Sequence[Waypoint]) -> None:
    if not waypoints:
        raise TrajectoryError('The trajectory has no points.')
    previous = -inf
    for index, waypoint in enumerate(waypoints):
        if not 0.0 <= waypoint.time <= _LONGEST:
            raise TrajectoryError(
                f'Point {index} has time_from_start {waypoint.time} s: '
                f'it must be 0 or more, and at most {_LONGEST:g}.')
        if waypoint.time <= previous:
            raise TrajectoryError(
                f'Point {index} has time_from_start {waypoint.time} s: '
                f'it must be later than the {previous} s of point {index - 1}.')
        previous = waypoint.time


def _stack(
    joint_names: Sequence[str], waypoints: Sequence[Waypoint],
) -> tuple[Array, list[int]]:
    """Return all fields, 0 where missing, (points, 3, joints), and their number by point."""
    states = np.zeros((len(waypoints), 3, len(joint_names)))
    field_counts = []
    for index, waypoint in enumerate(waypoints):
        fields = [getattr(waypoint, field) for field in _FIELDS]
        sizes = [0 if values is None else len(values) for values in fields]
        if not sizes[0]:
            raise TrajectoryError(f'Point {index} has no positions: give one for each joint.')
        if sizes[2] and not sizes[1]:
            raise TrajectoryError(
                f'Point {index} has accelerations and no velocities; '
                'joint_trajectory_controller sets such a point to zero: give both or neither.')
        field_count = int(np.count_nonzero(sizes))
        for row in range(field_count):
            if sizes[row] != len(joint_names):
                raise TrajectoryError(
                    f'Point {index} has {sizes[row]} {_FIELDS[row]} '
                    f'for {len(joint_names)} joints.')
            states[index, row] = fields[row]
        field_counts.append(field_count)
    unusable = np.argwhere(~(np.abs(states) < LARGEST))
    if len(unusable):
        index, row, joint = unusable[0]
        raise TrajectoryError(
            f'Point {index} has {states[index, row, joint]} among its {_FIELDS[row]}, '
            f'for joint {joint_names[joint]!r}: give a finite number below {LARGEST:g}.')
    return states, field_counts


def _check_end_velocity(joint_names: Sequence[str], velocities: Array) -> None:
    for name, velocity in zip(joint_names, velocities, strict=True):
        if abs(velocity) > _ZERO_VELOCITY:
            raise TrajectoryError(
                f'The last point has velocity {velocity} for joint {name!r}: '
                'it must be 0, unless a nonzero velocity at the end is allowed.')


def _segments(
    joint_names: Sequence[str], times: Sequence[float], states: Array, field_counts: Sequence[int],
) -> list[Array]:
    """
    Return the coefficients of 1, t, ... t^5 of each segment, with t from its start on [s].

    The columns are all positions, then velocities, then accelerations: one product gives all
    three; each array has shape (6, 3 joints).
    """
    durations = np.diff(times)[:, np.newaxis, np.newaxis]
    with np.errstate(all='ignore'):  # an overflow is refused below
        positions = _coefficients(durations, states, field_counts)
        velocities = differentiated(positions)
        motion = np.concatenate(
            (positions, velocities, differentiated(velocities)), axis=2)
        largest = (np.abs(motion) * durations ** _EXPONENTS).sum(axis=1)
    not_finite = np.argwhere(~np.isfinite(largest))
    if len(not_finite):
        segment, column = not_finite[0]
        joint = column % len(joint_names)
        raise TrajectoryError(
            f'No finite spline leads joint {joint_names[joint]!r} '
            f'in {times[segment + 1] - times[segment]} s '
            f'from {states[segment, :, joint]} to {states[segment + 1, :, joint]}.')
    return list(motion)


def _coefficients(durations: Array, states: Array, field_counts: Sequence[int]) -> Array:
    """Return the coefficients of 1, t, ... t^5 from each point on, (points - 1, 6, joints)."""
    coefficients = np.zeros((len(durations), 6, states.shape[2]))
    fields_at_both_ends = np.minimum(field_counts[:-1], field_counts[1:])
    for count, spline in _SPLINES.items():
        here = np.flatnonzero(fields_at_both_ends == count)
        # With u = t / T the n-th derivative by u is T^n times the one by t ...
        powers = durations[here] ** _EXPONENTS[:2 * count]
        starts = states[here, :count] * powers[:, :count]
        ends = states[here + 1, :count] * powers[:, :count]
        ends[:, 0] -= starts[:, 0]
        others = spline @ np.concatenate((starts[:, 1:], ends), axis=1)
        # ... and the coefficient of u^n is T^n times the one of t^n.
        coefficients[here, count:2 * count] = others / powers[:, count:]
        # The coefficients of the start are exact, so the motion meets its own points.
        coefficients[here, :count] = states[here, :count] / _FACTORIALS[:count]
    return coefficients


def differentiated(coefficients: Array) -> Array:
    """Return the derivatives of polynomials, both by the powers 0 to 5, shape (N, 6, joints)."""
    derivative = np.zeros_like(coefficients)
    derivative[:, :-1] = coefficients[:, 1:] * _EXPONENTS[1:]
    return derivative
