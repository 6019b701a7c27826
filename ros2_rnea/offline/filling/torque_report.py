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
"""The efforts and the motion of a trajectory compared with the limits, and the margins left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_rnea.dynamics.friction import friction_slope
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial, Pose, Triple
from ros2_rnea.offline.filling.effort_filler import Filled
from ros2_rnea.offline.filling.motion_check import (
    check_motion,
    described_limits,
    Moment,
    MotionLimits,
    MotionReport,
)
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import Array

ORIGIN: Triple = (0.0, 0.0, 0.0)

_ROUNDING = 1e-9  # [Nm or N] below which an effort is taken as zero
_ALL_SLIDING = 1e9  # a speed at which dry friction no longer grows with speed


class JointLoad(NamedTuple):
    """
    The effort of one joint [Nm or N].

    :ivar limit: infinite: no limit.
    :ivar peak: the effort that is largest in magnitude, with its sign, at ``peak_time`` [s].
    :ivar rms: root mean square over time, which determines the heating of the motor.
    """

    joint: str
    limit: float
    peak: float
    peak_time: float
    rms: float


@dataclass(frozen=True)
class LargestPayload:
    """
    The largest point mass that the motion allows as payload.

    :ivar link: the link that it is attached to, at ``position`` in the link's frame [m].
    :ivar mass: the largest mass for which it and every smaller one keep all limits [kg]; 0 where
        a limit is exceeded without payload, infinite where no mass exceeds one.
    :ivar decided_by: the limit that would be exceeded next, and the effort without payload there.
    """

    link: str
    position: Triple
    mass: float
    decided_by: Moment | None


@dataclass(frozen=True)
class TorqueReport:
    """
    The efforts and the motion of a trajectory, and its margins.

    :ivar motion: the positions, velocities, accelerations and jerks, by themselves.
    :ivar exceeded: the peaks of efforts and of the motion that exceed a limit.
    :ivar first_break: the first time at which a limit is exceeded.
    :ivar time_scaling: the smallest factor of the trajectory's times for which it and every
        larger one keep all limits: above 1 the motion has to be slower, below 1 it could be
        faster.  Infinite where the limits are exceeded at any speed, 0 where at none.
    :ivar scaling_decided_by: the limit that would be exceeded next; if it is one of effort, with
        the effort of gravity and dry friction there, which do not depend on speed.
    """

    joints: tuple[JointLoad, ...]
    first_break: Moment | None
    time_scaling: float
    scaling_decided_by: Moment | None
    payload: LargestPayload | None = None
    exceeded: tuple[Moment, ...] = ()
    motion: MotionReport = MotionReport()


class Checked(NamedTuple):
    """A filled trajectory and its report."""

    filled: Filled
    report: TorqueReport


class TorqueCheck:
    """
    A filled trajectory and its limits.

    :param robot: the one that the trajectory was filled for.
    :param filled: the efforts of its filled joints are checked, and the motion of all its joints.
    :param limits: of effort, shape (nv,) [Nm or N]; by default those of the description.
    :param motion_limits: by joint; by default those of the description, for every joint.
    """

    def __init__(
            self,
            robot: Robot,
            filled: Filled,
            limits: Array | None = None,
            motion_limits: Mapping[str, MotionLimits] | None = None) -> None:
        limits = robot.effort_limits if limits is None else np.asarray(limits, dtype=float)
        if limits.shape != (robot.nv,) or not (limits >= 0.0).all():
            raise ArgumentError(
                f'limits are {limits}; {robot.name!r} needs {robot.nv} numbers, 0 or more')
        self._robot = robot
        self._joints = filled.filled
        self._v_index = filled.v_index
        self._samples = filled.samples
        self._limits = limits[self._v_index]
        self._effort = self._samples.effort[:, self._v_index]
        self._motion = check_motion(
            filled.trajectory, {**described_limits(robot), **(motion_limits or {})},
            filled.velocities)

    def report(self, payload_link: str = '', payload_position: Triple = ORIGIN) -> TorqueReport:
        """
        Return the report.

        :param payload_link: the link to find the largest payload for; empty: none.
        :param payload_position: of its centre of mass in the link's frame [m].
        :raises ArgumentError: where the robot has no such link.
        """
        loads, motion = self._loads(), self._motion
        over = tuple(Moment(load.joint, load.peak_time, load.peak, load.limit)
                     for load in loads if abs(load.peak) > load.limit + _ROUNDING)
        breaks = [moment for moment in (self._first_break(), motion.first_break) if moment]
        scaling, decided_by = max(
            self._time_scaling(), (motion.time_scaling, motion.scaling_decided_by),
            key=lambda factor_and_moment: factor_and_moment[0])
        return TorqueReport(
            loads, min(breaks, key=lambda moment: moment.time, default=None), scaling, decided_by,
            self.largest_payload(payload_link, payload_position) if payload_link else None,
            over + motion.exceeded, motion)

    def _loads(self) -> tuple[JointLoad, ...]:
        times, effort = self._samples.times, self._effort
        largest = np.abs(effort).argmax(axis=0)
        columns = range(len(self._joints))
        return tuple(map(
            JointLoad, self._joints, self._limits.tolist(), effort[largest, columns].tolist(),
            times[largest].tolist(), _rms(times, effort).tolist()))

    def _first_break(self) -> Moment | None:
        """Return the first moment at which an effort exceeds its limit."""
        broken = np.abs(self._effort) > self._limits + _ROUNDING
        if not broken.any():
            return None
        row = int(broken.any(axis=1).argmax())
        excess = np.where(broken[row], np.abs(self._effort[row]) - self._limits, -inf)
        return self._moment(row, int(excess.argmax()), self._effort)

    def _time_scaling(self) -> tuple[float, Moment | None]:
        """
        Return the factor of the times that efforts allow, and the effort that decides it.

        With times multiplied by s, the effort is static + viscous / s + dynamic / s²: inertia,
        Coriolis and centrifugal effort are proportional to the square of the speed, viscous
        friction to the speed; gravity and dry friction do not depend on it.  The factor is the
        inverse of the smallest positive root in 1/s at which any joint reaches a limit.
        """
        robot, samples = self._robot, self._samples
        rest = np.zeros_like(samples.qd)
        holding, friction = (
            effort[:, self._v_index]
            for effort in (robot.inverse_dynamics(samples.q, rest, rest),
                           # whose offset is in the effort that holds, too
                           robot.friction(samples.qd) - robot.friction(rest)))
        damping = [np.array(friction_slope(robot.tree, [speed] * robot.nv))
                   for speed in (_ALL_SLIDING, -_ALL_SLIDING)]
        viscous = (np.where(samples.qd > 0.0, *damping) * samples.qd)[:, self._v_index]
        dynamic = self._effort - holding - friction
        static = holding + friction - viscous
        speeds = np.minimum(
            first_root(dynamic, viscous, self._limits - static),
            first_root(-dynamic, -viscous, self._limits + static))
        row, column = np.unravel_index(speeds.argmin(), speeds.shape)
        speed = float(speeds[row, column])
        if speed == inf:
            return 0.0, None
        if speed == 0.0:
            row, column = np.unravel_index(
                (np.abs(static) - self._limits).argmax(), static.shape)
        moment = self._moment(int(row), int(column), static)
        return (1.0 / speed if speed else inf), moment

    def largest_payload(self, link: str, position: Triple = ORIGIN) -> LargestPayload:
        """
        Return the largest point mass on a link; the effort is linear in this mass.

        :param position: in the link's frame [m].
        :raises ArgumentError: where the robot has no such link.
        """
        loaded = self._robot.with_payload(
            f'1 kg on {link}', link, Inertial(1.0, Pose(position)))
        broken = self._first_break()
        if broken is not None:
            return LargestPayload(link, position, 0.0, broken)
        samples = self._samples
        effort = loaded.inverse_dynamics(samples.q, samples.qd, samples.qdd)[:, self._v_index]
        per_kilogram = effort - self._effort
        margin = self._limits - np.sign(per_kilogram) * self._effort
        with np.errstate(divide='ignore', invalid='ignore'):
            masses = np.where(
                np.abs(per_kilogram) < _ROUNDING, inf, margin / np.abs(per_kilogram))
        row, column = np.unravel_index(masses.argmin(), masses.shape)
        mass = max(0.0, float(masses[row, column]))
        moment = self._moment(int(row), int(column), self._effort) if mass < inf else None
        return LargestPayload(link, position, mass, moment)

    def _moment(self, row: int, column: int, effort: Array) -> Moment:
        return Moment(
            self._joints[column], float(self._samples.times[row]), float(effort[row, column]),
            float(self._limits[column]))


def _rms(times: Array, effort: Array) -> Array:
    duration = times[-1] - times[0]
    if not duration:
        return np.abs(effort[-1])
    squares = effort**2
    areas = np.diff(times)[:, np.newaxis] * (squares[1:] + squares[:-1]) / 2.0
    return np.sqrt(areas.sum(axis=0) / duration)


def first_root(a: Array, b: Array, c: Array) -> Array:
    """
    Return the smallest x ≥ 0 at which a x² + b x reaches c and then exceeds it; else infinity.

    Where c is negative, x is 0.
    """
    a, b, c = (np.where(np.abs(part) < _ROUNDING, 0.0, part) for part in (a, b, c))
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        root = np.sqrt(b * b + 4.0 * a * c)  # NaN where it never reaches c
        # Of the two forms of the same root, the one without cancellation.
        x = np.where(b >= 0.0, 2.0 * c / (b + root), (root - b) / (2.0 * a))
        x = np.where((b < 0.0) & (a <= 0.0), inf, x)
    x = np.where((c == 0.0) & (b == 0.0), np.where(a > 0.0, 0.0, inf), x)
    return np.where(c < 0.0, 0.0, np.where(np.isnan(x), inf, x))
