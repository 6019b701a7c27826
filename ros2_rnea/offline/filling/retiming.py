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
The fastest timing of a path within the limits of effort, velocity and acceleration.

The path of a trajectory is kept, and only the times change.  The algorithm is TOPP-RA, by its
authors' library toppra (H. Pham and Q.-C. Pham, A New Approach to Time-Optimal Path
Parameterization Based on Reachability Analysis, IEEE Transactions on Robotics 34(3), 2018).

Along a path q(s), the effort is a(s) s̈ + b(s) ṡ² + c(s), and the limits of effort are linear in
s̈ and ṡ²; inverse dynamics gives the three.  Viscous friction is proportional to ṡ, which does not
fit: it is that at the ṡ of the solution before, and some solutions suffice.

The parameter s is the length of the path in joint space.  The path is divided where the robot has
to stop: where it turns back or has a corner, as at points without velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import logging
from typing import Any

import numpy as np
from ros2_rnea.dynamics.friction import friction_slope
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.offline.filling.effort_along import EffortAlong
from ros2_rnea.offline.filling.effort_filler import Plan, Start
from ros2_rnea.offline.filling.motion_check import MotionLimits, ROUNDING
from ros2_rnea.offline.filling.torque_report import Checked
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import Array, Trajectory, Waypoint
from toppra.algorithm import TOPPRA
from toppra.constraint import (
    canlinear_colloc_to_interpolate,
    JointAccelerationConstraint,
    JointVelocityConstraint,
    LinearConstraint,
)
from toppra.interpolator import SplineInterpolator

_GRID = 200
"""Intervals of each section of the path, closer to each other towards its ends."""

_DENSE, _MIN_DENSE = 4000, 20
"""Samples of the path to measure its length: in all, and at least in each segment."""

_CORNER, _REVERSAL = 0.02, 1.0
"""Angles [rad] between the directions before and after: at a point, and between samples."""

_REST = 1e-9
"""A length of the path, or a velocity, below which the robot does not move."""

_SOLUTIONS, _SETTLED = 30, 1e-3
"""Most solutions where friction is viscous, and the relative change of ṡ that ends them."""

_UNLIMITED = 1e4
"""A velocity limit for joints that have none [rad/s or m/s]; toppra needs a number."""

_CHECKS = 10
"""Times that the result is checked; it nearly always keeps the limits at the second check."""

_MARGIN = 4.0
"""Each check that fails adds a margin to the times, as many times larger than the one before."""

_SLIDING = 1e3
"""A speed at which Coulomb friction no longer grows with speed."""

logging.getLogger('toppra').setLevel(logging.ERROR)  # it warns of what it then solves


def retime(
        robot: Robot,
        given: Checked,
        start: Start,
        limits: tuple[Array, Mapping[str, MotionLimits]],
        checked: Callable[[Plan], Checked]) -> Checked:
    """
    Return a filled trajectory with the fastest timing of its path within the limits.

    Between grid points, interpolation may exceed a limit slightly.  Therefore the result is
    checked as every filled trajectory is, and all its times are multiplied by what the check
    demands, and a margin that grows from check to check, until it keeps the limits.  A result
    that keeps them at no speed, as with a position out of range, is returned with its report.

    :param given: the trajectory as it was, of which only the path counts.
    :param start: positions of joints that it omits.
    :param limits: of effort, shape (nv,) [Nm or N]; and of motion by joint.  Jerk cannot be
        limited: the accelerations of the fastest timing jump.
    :param checked: fills a trajectory with efforts and checks it.
    :raises TrajectoryError: where no timing keeps the limits, no limit bounds the speed, or the
        last check still finds a limit exceeded.
    """
    filled, (efforts, motion) = given.filled, limits
    joints = [motion.get(name, MotionLimits()) for name in filled.joint_names]
    for name, limit in zip(filled.joint_names, joints):
        if limit.jerk < np.inf:
            raise TrajectoryError(
                f'joint {name!r} has a jerk limit of {limit.jerk:g}, and the fastest timing has '
                'jumps of acceleration: retime without jerk limits, and smooth the result')
    along = EffortAlong(robot, filled.trajectory, start.positions)
    waypoints = retimed_waypoints(along, filled.v_index, efforts[filled.v_index], joints)
    efforts_held = [filled.points[-1].effort.tolist()]  # a gripper takes it as its force
    for check in range(_CHECKS):
        result = checked(Plan(filled.joint_names, waypoints, efforts_held * len(waypoints)))
        scaling = result.report.time_scaling
        if not result.report.exceeded or scaling == np.inf:
            return result
        waypoints = _slower(waypoints, max(1.0, scaling) * (1.0 + ROUNDING * _MARGIN**check))
    exceeded = result.report.exceeded[0]
    raise TrajectoryError(
        f'the fastest timing still exceeds a limit after it was slowed down {_CHECKS} times: the '
        f'{exceeded.quantity} of joint {exceeded.joint!r} is {exceeded.value:.6g} at '
        f'{exceeded.time:.3f} s, its limit is {exceeded.limit:.6g}')


def _slower(waypoints: Sequence[Waypoint], factor: float) -> list[Waypoint]:
    """Return points without accelerations, with their times multiplied by a factor."""
    return [
        Waypoint(factor * point.time, point.positions,
                 np.asarray(point.velocities, dtype=float) / factor)
        for point in waypoints]


def retimed_waypoints(
        along: EffortAlong,
        v_index: Array,
        effort_limits: Array,
        motion_limits: Sequence[MotionLimits]) -> list[Waypoint]:
    """
    Return points on the path of a trajectory with the fastest timing within limits.

    The points have velocities and no accelerations, because the accelerations of the fastest
    timing jump.  The robot rests at the first and the last point, and where the path has a
    corner.  A rest keeps its duration.

    :param along: the trajectory, with the efforts of the robot along it.
    :param v_index: indices of the efforts that are limited, shape (k,).
    :param effort_limits: shape (k,) [Nm or N]; infinite: none.
    :param motion_limits: of each joint of the trajectory; positions and jerks are not used.
    :raises TrajectoryError: where no timing keeps the limits, or no limit bounds the speed.
    """
    limited = np.isfinite(effort_limits)
    if not limited.any() and not all(limits.velocity < np.inf for limits in motion_limits):
        raise TrajectoryError(
            'no limit bounds the speed of the motion: its joints have no effort limits and not '
            'all of them have a velocity limit')
    dynamics = _PathDynamics(along, v_index[limited], effort_limits[limited])
    trajectory = along.trajectory
    waypoints: list[Waypoint] = []
    now = 0.0
    for start, end in _sections(trajectory):
        path = _path(trajectory, start, end)
        if path is None:
            times, states = np.array([0.0, end - start]), np.zeros((2, 2, len(motion_limits)))
            states[:, 0] = trajectory.at(start)[0]
        else:
            times, states = _fastest(path, dynamics, motion_limits, (start, end))
        waypoints += [Waypoint(now + float(time), q, qd)
                      for time, (q, qd) in zip(times[bool(waypoints):], states[bool(waypoints):])]
        now += float(times[-1])
    return waypoints


# ---- the path ---------------------------------------------------------------------------------


def _sections(trajectory: Trajectory) -> list[tuple[float, float]]:
    """Return start and end times of the sections between which the robot has to stop [s]."""
    splines = trajectory.splines
    ends = splines.starts + splines.durations
    count = max(_MIN_DENSE, _DENSE // max(1, len(ends)))
    dense = np.concatenate([np.linspace(start, end, count, endpoint=False)
                            for start, end in zip(splines.starts, ends)] + [ends[-1:]])
    chords = np.diff([trajectory.at(time)[0] for time in dense], axis=0)
    turns = dense[1:-1][_angles(chords[:-1], chords[1:]) > _REVERSAL]
    stops = {float(time) for time in turns if not np.isclose(time, ends).any()}
    for time, before, after in zip(ends[:-1], splines.durations[:-1], splines.durations[1:]):
        here = trajectory.at(time)
        into = here[0] - trajectory.at(time - 1e-3 * before)[0]
        out = trajectory.at(time + 1e-3 * after)[0] - here[0]
        is_at_rest = np.linalg.norm(here[1]) < _REST
        if is_at_rest or _angles(into[np.newaxis], out[np.newaxis])[0] > _CORNER:
            stops.add(float(time))
    times = [float(splines.starts[0]), *sorted(stops), float(ends[-1])]
    return list(zip(times[:-1], times[1:]))


def _angles(before: Array, after: Array) -> Array:
    """Return the angles between directions as rows; 0 where one has no length."""
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    with np.errstate(divide='ignore', invalid='ignore'):
        cosines = np.where(lengths > _REST**2, (before * after).sum(axis=1) / lengths, 1.0)
    return np.sqrt(2.0 * np.maximum(1.0 - cosines, 0.0))  # the chord of the angle, nearly as long


def _path(trajectory: Trajectory, start: float, end: float) -> SplineInterpolator | None:
    """Return the path over its length; None where nothing moves."""
    dense = np.linspace(start, end, _DENSE)
    lengths = _lengths(np.array([trajectory.at(time)[0] for time in dense[:-1]]
                                + [trajectory.at(np.nextafter(end, start))[0]]))
    if lengths[-1] < _REST:
        return None
    share = np.linspace(0.0, 1.0, _GRID + 1)
    at = np.interp(share * share * (3.0 - 2.0 * share) * lengths[-1], lengths, dense)
    positions = np.array([trajectory.at(time)[0] for time in at[:-1]]
                         + [trajectory.at(np.nextafter(end, start))[0]])
    return SplineInterpolator(_lengths(positions), positions)


def _lengths(positions: Array) -> Array:
    """Return the length of a polygon up to each of its corners, shape (N,)."""
    chords = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    return np.concatenate(([0.0], np.cumsum(chords)))


# ---- the timing -------------------------------------------------------------------------------


class _PathDynamics(LinearConstraint):
    """
    The limits of effort as TOPP-RA's joint torque constraint, by this package's dynamics.

    :ivar speeds: ṡ at the grid points, which viscous friction is computed for, shape (N + 1,).
    """

    def __init__(self, along: EffortAlong, v_index: Array, limits: Array) -> None:
        super().__init__()
        self.identical = True
        self.set_discretization_type(1)  # the limits hold at both ends of an interval
        self.dof = len(along.trajectory.joint_names)
        self._format_string = f'    effort limits: {limits}'
        self._along, self._v_index, self._limits = along, v_index, limits
        nv = along.robot.nv
        tree, friction = along.robot.tree, along.robot.friction
        self._at_rest = friction(np.zeros(nv))  # the offset
        # One row each for the positive and the negative direction.
        self._damping = np.array([
            friction_slope(tree, [speed] * nv) for speed in (_SLIDING**3, -_SLIDING**3)])
        self._coulomb = np.array([
            friction(np.full(nv, speed)) - damping * speed - self._at_rest
            for speed, damping in zip((_SLIDING, -_SLIDING), self._damping)])
        self.is_viscous = bool(self._damping[:, v_index].any())
        self.speeds: Array | None = None

    def compute_constraint_params(self, path: Any, gridpoints: Array) -> tuple[Any, ...]:
        """
        Return a, b, c, F and g of F (a s̈ + b ṡ² + c) ≤ g at the grid points.

        Coulomb friction counts where it needs effort, and not where it helps to brake, since it
        vanishes as the joint comes to rest.  Therefore c differs for the two limits of a joint.
        """
        a, b, c, viscous, coulomb = self._terms(path, gridpoints)
        if self.speeds is not None:
            c = c + viscous * self.speeds[:, np.newaxis]
        c = np.hstack((c + np.maximum(coulomb, 0.0), c + np.minimum(coulomb, 0.0)))
        signs = np.repeat((1.0, -1.0), len(self._limits))
        return canlinear_colloc_to_interpolate(
            np.hstack((a, a)), np.hstack((b, b)), c, np.diag(signs), np.tile(self._limits, 2),
            None, None, gridpoints, identical=True)

    def _terms(self, path: Any, gridpoints: Array) -> tuple[Array, Array, Array, Array, Array]:
        """
        Return the terms of the effort, each of shape (N + 1, efforts).

        They are a, b, c without friction but its offset, the viscous friction by ṡ, and the
        Coulomb friction.  Breakaway friction is not among them: the check of the result has it.
        """
        q, first, second = (path(gridpoints, order) for order in range(3))
        still = np.zeros_like(q)
        c = self._effort(q, still, still)
        velocity = self._along.whole_velocity(first)
        a = self._effort(q, still, first) - c
        b = (self._effort(q, first, second) - c
             - (self._along.robot.friction(velocity) - self._at_rest)[:, self._v_index])
        damping = np.where(velocity > 0.0, *self._damping)
        coulomb = np.where(velocity > 0.0, *self._coulomb) * (velocity != 0.0)
        return a, b, c, (velocity * damping)[:, self._v_index], coulomb[:, self._v_index]

    def highest_speeds(self, path: Any, gridpoints: Array) -> Array:
        """Return the largest ṡ at which gravity and friction alone keep the limits."""
        _, _, c, viscous, coulomb = self._terms(path, gridpoints)
        with np.errstate(divide='ignore', invalid='ignore'):
            speeds = np.where(viscous == 0.0, np.inf, (
                self._limits - np.sign(viscous) * (c + coulomb)) / np.abs(viscous))
        return np.maximum(speeds.min(axis=1, initial=np.inf), 0.0)

    def _effort(self, q: Array, qd: Array, qdd: Array) -> Array:
        samples = self._along.of(np.zeros(len(q)), np.stack((q, qd, qdd), axis=1))
        return samples.effort[:, self._v_index]


def _fastest(
        path: SplineInterpolator,
        dynamics: _PathDynamics,
        limits: Sequence[MotionLimits],
        section: tuple[float, float]) -> tuple[Array, Array]:
    """Return times from 0 on, shape (N + 1,), and positions and velocities, (N + 1, 2, joints)."""
    grid = path.waypoints[0]
    constraints = [
        dynamics,
        JointVelocityConstraint([min(limit.velocity, _UNLIMITED) for limit in limits])]
    accelerations = np.array([limit.acceleration for limit in limits])
    if np.isfinite(accelerations).any():
        constraints.append(JointAccelerationConstraint(
            np.minimum(accelerations, _UNLIMITED**2), discretization_scheme=1))
    dynamics.speeds = None
    for _ in range(_SOLUTIONS):
        solver = TOPPRA(constraints, path, gridpoints=grid, solver_wrapper='seidel')
        _, speeds, _ = solver.compute_parameterization(0.0, 0.0)
        if speeds is None or not np.isfinite(speeds).all():
            raise TrajectoryError(
                f'between {section[0]:.3f} s and {section[1]:.3f} s of the trajectory, no timing '
                'keeps the limits: at rest, gravity and Coulomb friction need more than a joint '
                'has, or the path is too short')
        steps = 2.0 * np.diff(grid) / (speeds[1:] + speeds[:-1])
        times = np.concatenate(([0.0], np.cumsum(steps)))
        assumed = np.zeros_like(speeds) if dynamics.speeds is None else dynamics.speeds
        change = speeds - assumed
        if not dynamics.is_viscous or np.abs(change).max() < _SETTLED * speeds.max():
            break
        step = 1.0 if dynamics.speeds is None else 0.5
        dynamics.speeds = np.minimum(assumed + step * change, dynamics.highest_speeds(path, grid))
    return times, np.stack((path(grid), path(grid, 1) * speeds[:, np.newaxis]), axis=1)
