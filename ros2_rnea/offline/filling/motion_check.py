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
"""The motion of a trajectory compared with the limits of position, velocity and so on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ros2_rnea.robots.joint_index_map import joint_body, single_joints
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import Array, differentiated, Splines, Trajectory

Mask = NDArray[np.bool_]

POSITION, VELOCITY, ACCELERATION, JERK, EFFORT = (
    'position', 'velocity', 'acceleration', 'jerk', 'effort')

ROUNDING = 1e-6
"""A limit is exceeded by more than this share of it; planners use limits to the full."""

_JUMP = 1e-6
"""The velocity, or the acceleration, jumps by more than this share of its largest magnitude."""

_SMALLEST_JUMP = 1e-9

AT_REST = 0.01
"""
Up to this velocity [rad/s or m/s], a joint rests before a trajectory begins.

It is the default of joint_trajectory_controller's stopped_velocity_tolerance: a measured velocity
is hardly ever 0.
"""

_BISECTIONS = 30
"""Number of times that an interval in which a derivative may be zero is divided by two."""

_FINE = 1000
"""Samples of the segment in which a limit is first exceeded."""


class MotionLimits(NamedTuple):
    """
    The limits of a joint's motion; infinite: none.

    :ivar lower: smallest position [rad or m]; upper, the largest.
    :ivar velocity: [rad/s or m/s], acceleration and jerk per s^2 and s^3.
    """

    lower: float = -inf
    upper: float = inf
    velocity: float = inf
    acceleration: float = inf
    jerk: float = inf


class Moment(NamedTuple):
    """The value that decides a result, with its joint, time [s] and limit."""

    joint: str
    time: float
    value: float
    limit: float
    quantity: str = EFFORT


class Peak(NamedTuple):
    """
    The extreme value of a quantity, with its sign and time [s].

    :ivar value: infinite where the derivative of a quantity jumps.
    :ivar limit: infinite: none.
    """

    value: float
    time: float
    limit: float


class JointMotion(NamedTuple):
    """The extremes of a joint's motion: two positions, and the largest magnitudes of the rest."""

    joint: str
    lowest: Peak
    highest: Peak
    velocity: Peak
    acceleration: Peak
    jerk: Peak


@dataclass(frozen=True)
class MotionReport:
    """
    The motion of a trajectory and its margins.

    :ivar exceeded: the peaks that are beyond a limit.
    :ivar first_break: the first moment at which a limit is exceeded.
    :ivar time_scaling: the smallest factor of the trajectory's times from which on all limits are
        kept; infinite where one is exceeded at any speed, 0 where none is.
    :ivar scaling_decided_by: the peak that decides it.
    :ivar velocity_jumps: the times at which a velocity jumps [s], which no effort can achieve;
        the first is that of a trajectory that begins in motion with a robot at rest.
    """

    joints: tuple[JointMotion, ...] = ()
    exceeded: tuple[Moment, ...] = ()
    first_break: Moment | None = None
    time_scaling: float = 0.0
    scaling_decided_by: Moment | None = None
    velocity_jumps: tuple[float, ...] = ()


def described_limits(robot: Robot) -> dict[str, MotionLimits]:
    """Return the limits in a robot's description, by joint, of those with one coordinate."""
    limits = {}
    for name in single_joints(robot):
        body = joint_body(robot, name)
        bounds = (body.limits.lower, body.limits.upper) if body.type.is_bounded else (-inf, inf)
        limits[name] = MotionLimits(
            *bounds, body.limits.velocity,
            min(body.limits.acceleration, body.limits.deceleration), body.limits.jerk)
    return limits


def check_motion(
        trajectory: Trajectory,
        limits: Mapping[str, MotionLimits],
        velocities: Mapping[str, float] = MappingProxyType({})) -> MotionReport:
    """
    Compare a trajectory, as splines join its points, with limits.

    :param limits: by joint; joints of the trajectory that are not in it are left out.
    :param velocities: of the robot before the trajectory, by joint; 0 where missing [rad/s or
        m/s].  Whether a joint in motion begins with a jump is not judged, because its measured
        velocity is not exact enough.
    """
    names = [name for name in trajectory.joint_names if name in limits]
    motion = _Motion(trajectory, [velocities.get(name, 0.0) for name in names], names)
    bounds = np.array([limits[name] for name in names]).reshape(-1, 5).T
    curves = [
        motion.curve(POSITION, -motion.positions, -bounds[0], sign=-1.0),
        motion.curve(POSITION, motion.positions, bounds[1]),
        motion.curve(VELOCITY, motion.velocities, bounds[2]),
        motion.curve(ACCELERATION, motion.accelerations, bounds[3], motion.velocity_jumps),
        motion.curve(JERK, motion.jerks, bounds[4],
                     motion.velocity_jumps | motion.acceleration_jumps)]
    peaks = [curve.peaks() for curve in curves]
    scaling, decided_by = _time_scaling(names, curves, peaks)
    breaks = [moment for curve in curves for moment in curve.first_break(names)]
    return MotionReport(
        tuple(JointMotion(*row) for row in zip(names, *peaks)),
        tuple(Moment(name, peak.time, peak.value, peak.limit, curve.quantity)
              for index, name in enumerate(names) for curve, of_joints in zip(curves, peaks)
              for peak in [of_joints[index]] if curve.exceeded[:, index].any()),
        min(breaks, key=lambda moment: moment.time, default=None),
        scaling, decided_by,
        tuple(motion.boundaries[motion.velocity_jumps.any(axis=1)].tolist()))


class _Motion:
    """
    The polynomials of a trajectory's joints, each of shape (segments, 6, joints).

    :ivar boundaries: times of the start and of the ends of all segments, shape (segments + 1,).
    :ivar velocity_jumps: whether the velocity jumps at these times, shape (segments + 1, joints);
        acceleration_jumps, whether the acceleration does.
    """

    def __init__(
            self, trajectory: Trajectory, velocities: Sequence[float], names: Sequence[str],
            ) -> None:
        splines = _or_one_point(trajectory)
        columns = [trajectory.joint_names.index(name) for name in names]
        self.starts, self.durations = splines.starts, splines.durations
        self.boundaries = np.concatenate((self.starts[:1], self.starts + self.durations))
        self.positions = splines.coefficients[:, :, columns]
        self.velocities = differentiated(self.positions)
        self.accelerations = differentiated(self.velocities)
        self.jerks = differentiated(self.accelerations)
        self._times = _extreme_times(
            (self.positions, self.velocities, self.accelerations, self.jerks), self.durations)
        before = np.asarray(velocities, dtype=float)
        self.velocity_jumps = self._jumps(self.velocities, before)
        self.velocity_jumps[0] &= np.abs(self.velocities[0, 0] - before) > AT_REST
        self.acceleration_jumps = self._jumps(self.accelerations, np.zeros_like(before))
        for jumps in (self.velocity_jumps, self.acceleration_jumps):
            jumps[0] &= np.abs(before) <= AT_REST

    def curve(
            self, quantity: str, polynomials: Array, bounds: Array, jumps: Mask | None = None,
            sign: float = 1.0) -> _Curve:
        """
        Return a quantity's peaks in each segment.

        :param bounds: shape (joints,).
        :param jumps: whether it is infinite at ``boundaries``, shape (segments + 1, joints).
        :param sign: -1 where the polynomials and bounds are those of the negative quantity.
        """
        values, times = _peaks(polynomials, self._times[quantity], quantity == POSITION)
        at = self.starts[:, np.newaxis] + times
        if jumps is not None:
            values = np.where(jumps[1:], inf, values)
            at = np.where(jumps[1:], self.boundaries[1:, np.newaxis], at)
            values[0] = np.where(jumps[0], inf, values[0])
            at[0] = np.where(jumps[0], self.boundaries[0], at[0])
        return _Curve(
            quantity, sign, polynomials, self.starts, self.durations, values, at, bounds)

    def _jumps(self, polynomials: Array, before: Array) -> Mask:
        """
        Return where values jump; after the last segment they are zero.

        :param before: the values before the first segment, shape (joints,).
        """
        ends = np.vstack((before, _at(polynomials, self.durations[:, np.newaxis])))
        starts = np.vstack((polynomials[:, 0], np.zeros_like(before)))
        largest = np.abs(np.stack((ends, starts))).max(axis=(0, 1), initial=0.0)
        return np.asarray(np.abs(ends - starts) > _JUMP * largest + _SMALLEST_JUMP)


def _or_one_point(trajectory: Trajectory) -> Splines:
    """Return the splines; of a single point, one of no duration."""
    splines = trajectory.splines
    if len(splines.starts):
        return splines
    still = np.zeros((1, 6, len(trajectory.joint_names)))
    still[0, 0] = trajectory.at(trajectory.duration)[0]
    return Splines(np.array([trajectory.duration]), np.zeros(1), still, np.array([3]))


class _Curve(NamedTuple):
    """
    A quantity along a trajectory.

    :ivar sign: -1 where all numbers are those of the negative quantity, to find the smallest.
    :ivar values: the extreme value in each segment, at ``times``, shape (segments, joints): of
        positions the largest, of other quantities that of the largest magnitude.
    :ivar bounds: shape (joints,).
    """

    quantity: str
    sign: float
    polynomials: Array
    starts: Array
    durations: Array
    values: Array
    times: Array
    bounds: Array

    @property
    def magnitudes(self) -> Array:
        """Return what is compared with the bounds, shape (segments, joints)."""
        return self.values if self.quantity == POSITION else np.abs(self.values)

    @property
    def exceeded(self) -> Mask:
        """Return whether the limit is exceeded, shape (segments, joints)."""
        finite = np.abs(np.where(np.isfinite(self.bounds), self.bounds, 0.0))
        slack = ROUNDING * np.maximum(finite, ROUNDING)
        return np.asarray(self.magnitudes > self.bounds + slack)

    def peaks(self) -> list[Peak]:
        """Return the largest value of each joint."""
        rows = self.magnitudes.argmax(axis=0)
        columns = np.arange(len(self.bounds))
        return list(map(Peak, (self.sign * self.values[rows, columns] + 0.0).tolist(),
                        self.times[rows, columns].tolist(), (self.sign * self.bounds).tolist()))

    def first_break(self, names: Sequence[str]) -> Iterator[Moment]:
        """Yield the first moments at which joints exceed their limits, of the first segment."""
        exceeded = self.exceeded
        if not exceeded.any():
            return
        row = int(exceeded.any(axis=1).argmax())
        elapsed = np.linspace(0.0, self.durations[row], _FINE)
        fine = _at(self.polynomials[row], elapsed[:, np.newaxis])
        compared = fine if self.quantity == POSITION else np.abs(fine)
        for column in np.flatnonzero(exceeded[row]).tolist():
            bound = self.bounds[column]
            beyond = np.flatnonzero(compared[:, column] > bound)
            time, value = self.times[row, column], self.values[row, column]
            if len(beyond) and self.starts[row] + elapsed[beyond[0]] < time:
                time, value = self.starts[row] + elapsed[beyond[0]], fine[beyond[0], column]
            yield Moment(names[column], float(time), self.sign * float(value),
                         self.sign * float(bound), self.quantity)


def _time_scaling(
        names: Sequence[str], curves: Sequence[_Curve], peaks: Sequence[Sequence[Peak]],
        ) -> tuple[float, Moment | None]:
    """
    Return the factor of the times, and the peak that decides it.

    With times multiplied by s, the velocity is divided by s, the acceleration by s² and the jerk
    by s³; positions stay.
    """
    worst, decided_by = 0.0, None
    for curve, of_joints in zip(curves, peaks):
        order = _ORDERS[curve.quantity]
        for index, (name, peak) in enumerate(zip(names, of_joints)):
            if order:
                share = abs(peak.value) / peak.limit if peak.limit else (
                    inf if peak.value else 0.0)
                factor = share ** (1.0 / order) if abs(peak.limit) < inf else 0.0
            else:
                factor = inf if curve.exceeded[:, index].any() else 0.0
            if factor > worst:
                worst = factor
                decided_by = Moment(name, peak.time, peak.value, peak.limit, curve.quantity)
    return worst, decided_by


_ORDERS = {POSITION: 0, VELOCITY: 1, ACCELERATION: 2, JERK: 3}
"""Power of the times' factor by which a quantity is divided."""


def _at(polynomials: Array, times: Array) -> Array:
    """
    Return values of polynomials.

    :param polynomials: shape (..., powers, joints), by the powers of the time from 0 on.
    :param times: to broadcast with shape (..., joints).
    """
    values = np.zeros(np.broadcast_shapes(times.shape, polynomials[..., 0, :].shape))
    for power in reversed(range(polynomials.shape[-2])):
        values = values * times + polynomials[..., power, :]
    return values


def _extreme_times(polynomials: Sequence[Array], durations: Array) -> dict[str, Array]:
    """
    Return by quantity the times at which it can be extreme, each of shape (N, segments, joints).

    They are the ends of a segment and the zeros of the derivative.  Between two times at which the
    derivative itself is extreme, it is monotonic, so bisection finds its zero.  Where it has none,
    the time that bisection ends with is one more sample.

    :param polynomials: positions, velocities, accelerations and jerks, quintic and so on down to
        quadratic, each of shape (segments, 6, joints).
    """
    shape = len(durations), polynomials[0].shape[2]
    times = np.stack((np.zeros(shape), np.broadcast_to(durations[:, np.newaxis], shape)))
    derivatives = (*polynomials[1:], differentiated(polynomials[-1]))
    found = {}
    for order, quantity in reversed([*enumerate((POSITION, VELOCITY, ACCELERATION, JERK))]):
        derivative = derivatives[order][:, :5 - order]
        low, high = times[:-1], times[1:]
        is_rising = _at(derivative, high) > _at(derivative, low)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            is_past = (_at(derivative, middle) > 0.0) == is_rising
            low, high = np.where(is_past, low, middle), np.where(is_past, middle, high)
        times = np.concatenate((times[:1], 0.5 * (low + high), times[-1:]))
        found[quantity] = times
    return found


def _peaks(polynomials: Array, times: Array, signed: bool) -> tuple[Array, Array]:
    """
    Return the largest values of polynomials, and when.

    :param times: when the values can be extreme, shape (N, segments, joints).
    :param signed: whether the largest value is meant; otherwise the largest magnitude.
    """
    values = _at(polynomials, times)
    best = (values if signed else np.abs(values)).argmax(axis=0)[np.newaxis]
    return np.take_along_axis(values, best, axis=0)[0], np.take_along_axis(times, best, axis=0)[0]
