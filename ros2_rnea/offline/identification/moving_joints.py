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
Joints that move for a recording: their limits, less margins, and a pose in which they can start.

Nothing is guessed: a joint without a limit of position, velocity or effort is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.offline.identification.unknowns import unit_of
from ros2_rnea.robots.arguments import Array
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot

Clearance = Callable[[Array], Array]
"""
A function from q (N, nq) to the least distance between what must not touch, shape (N,) [m]; it may
be cut off at more than what is demanded.
"""

POSITION, EFFORT = 0, 3
"""Some of the rows of :meth:`.MovingJoints.shares`."""

_POSES = 200
"""Random poses among which one to start from is searched."""


def unchecked(q: Array) -> Array:
    """Return that nothing is near: the clearance where none is checked."""
    return np.full(len(q), inf)


class ExcitationError(RneaError):
    """No motion can be found within the limits, for the reason that the message gives."""


class JointBounds(NamedTuple):
    """
    The limits of one joint; infinite: none.

    :ivar lower: smallest position [rad or m]; upper, the largest.
    :ivar velocity: [rad/s or m/s], acceleration per s^2.
    :ivar effort: [Nm or N].
    """

    lower: float = -inf
    upper: float = inf
    velocity: float = inf
    effort: float = inf
    acceleration: float = inf


class MovingJoints:
    """
    Some joints of a robot, which move within limits, and the others, which rest.

    :param robot: with the payloads that it carries, which count in the efforts.
    :param joints: the names of those that move.
    :param bounds: the limits of each.
    :param posture: positions of the whole robot, shape (nq,), of which those of joints that do
        not move count.
    :param margin: share of the range of positions that stays free, half of it at each end, and of
        the limits of velocity and acceleration.
    :param effort_margin: that of the effort limits; larger, because the efforts are those of a
        model that the recording shall correct.
    :raises ArgumentError: where a margin is not from 0 up to, but not including, 1; or naming the
        joint and the limit that is missing or leaves no room.
    :ivar q_index: of the joints that move, in q, shape (joints,); v_index, in q̇.
    :ivar center: of the range of positions, shape (joints,) [rad or m]; half_range, half its
        width.
    :ivar velocity: shape (joints,) [rad/s or m/s], as for acceleration [per s^2] and effort [Nm or
        N]; effort_limit is the effort without the margin.
    :ivar clearance: from configurations to the least distance [m].
    :ivar least: clearance that is demanded [m].
    """

    def __init__(
            self, robot: Robot, joints: Sequence[str], bounds: Sequence[JointBounds],
            posture: Array, margin: float = 0.1, effort_margin: float = 0.3,
            clearance: Clearance = unchecked, least: float = 0.03) -> None:
        for name, share in (('motion', margin), ('effort', effort_margin)):
            if not 0.0 <= share < 1.0:
                raise ArgumentError(
                    f'the margin of {name} is {share}; it needs a share of the limit, from 0 to '
                    'less than 1')
        if not 0.0 < least < inf:
            raise ArgumentError(f'clearance is {least}; a positive finite number is needed')
        _check(joints, bounds)
        self.robot, self.joints = robot, tuple(joints)
        self.clearance, self.least = clearance, least
        self._posture = np.array(posture, dtype=float)
        bodies = [joint_body(robot, joint) for joint in joints]
        self.q_index = np.array([body.q_index for body in bodies])
        self.v_index = np.array([body.v_index for body in bodies])
        lower, upper, velocity, effort, acceleration = np.array(bounds).T
        self.center = 0.5 * (lower + upper)
        self.half_range = 0.5 * (upper - lower) * (1.0 - margin)
        self.velocity = velocity * (1.0 - margin)
        self.acceleration = acceleration * (1.0 - margin)
        self.effort = effort * (1.0 - effort_margin)
        self.effort_limit = effort

    def q(self, positions: Array) -> Array:
        """Return the positions of all joints, (N, nq), from those of moving ones, (N, joints)."""
        q = np.tile(self._posture, (len(positions), 1))
        q[:, self.q_index] = positions
        return q

    def states(self, motion: Array) -> tuple[Array, Array, Array]:
        """
        Return states of the whole robot.

        :param motion: positions, velocities and accelerations, shape (3, N, joints).
        :return: positions, shape (N, nq), velocities and accelerations, shape (N, nv).
        """
        qd, qdd = np.zeros((2, motion.shape[1], self.robot.nv))
        qd[:, self.v_index], qdd[:, self.v_index] = motion[1:]
        return self.q(motion[0]), qd, qdd

    def efforts(self, motion: Array) -> Array:
        """Return the efforts of moving joints, shape (N, joints) [Nm or N]."""
        return self.robot.inverse_dynamics(*self.states(motion))[:, self.v_index]

    def shares(self, motion: Array) -> Array:
        """
        Return the shares of what is allowed, with the sign of the quantity.

        :param motion: positions, velocities and accelerations, shape (3, N, joints).
        :return: of position (from the centre of the range), velocity, acceleration and effort,
            shape (4, N, joints).
        """
        q, qd, qdd = motion
        return np.stack((
            (q - self.center) / self.half_range, qd / self.velocity, qdd / self.acceleration,
            self.efforts(motion) / self.effort))

    def holds(self, motion: Array) -> bool:
        """Return whether all limits are kept in a motion of shape (3, N, joints)."""
        return bool(np.abs(self.shares(motion)).max() <= 1.0
                    and self.clearance(self.q(motion[0])).min() >= self.least)

    def start_pose(self, random: np.random.Generator, given: Array | None = None) -> Array:
        """
        Return a pose that keeps the limits at rest, shape (joints,).

        It is in the middle of the ranges if that one does, where cables are least twisted; else
        it is random.

        :param given: the only one that is possible; None: any.
        :raises ExcitationError: with the limits that are exceeded.
        """
        draws = random.uniform(-0.7, 0.7, (_POSES, len(self.joints)))
        draws[0] = 0.0
        poses = self.center + draws * self.half_range if given is None else given[np.newaxis]
        rest = np.stack((poses, 0.0 * poses, 0.0 * poses))
        shares = np.abs(self.shares(rest))
        loads = shares[EFFORT].max(axis=1)
        distances = self.clearance(self.q(poses))
        possible = (shares <= 1.0).all(axis=(0, 2)) & (distances >= self.least)
        if possible.any():
            return np.asarray(poses[possible][0])
        place = int(loads.argmin()) if loads.min() > 1.0 else 0
        worst = int(shares[POSITION, place].argmax())
        defects = (
            f'the position of {self.joints[worst]} is {shares[POSITION, place, worst]:.0%} of '
            'what is allowed' if shares[POSITION, place, worst] > 1.0 else
            self._too_heavy(self.efforts(rest)[place]) if loads[place] > 1.0 else
            f'the clearance is {distances[place]:.4g} m, and {self.least:g} m are demanded')
        if given is not None:
            raise ExcitationError(f'the pose to start from is not possible: {defects}')
        raise ExcitationError(
            f'the motors do not carry the arm in any of {_POSES} poses to start from; in that '
            f'which takes least, {defects}' if loads.min() > 1.0 else
            f'none of {_POSES} poses to start from is possible; in the middle of the ranges of '
            f'{", ".join(self.joints)}, {defects}. Give a pose to start from, other limits or '
            'less clearance')

    def _too_heavy(self, efforts: Array) -> str:
        """Return which joints gravity loads too much, by the efforts that hold it there."""
        efforts, said = np.abs(efforts), []
        for k in np.flatnonzero(efforts > self.effort).tolist():
            unit = unit_of(self.robot.tree, self.joints[k], 'Nm', 'N')
            said.append(
                f'gravity takes {efforts[k]:.4g} {unit} of joint {self.joints[k]!r} (limit '
                f'{self.effort_limit[k]:.4g} {unit}, of which the margin leaves '
                f'{self.effort[k]:.4g} {unit})')
        remedy = (
            'A smaller margin of effort allows it (--effort-margin)'
            if (efforts <= self.effort_limit).all() else
            'The motors cannot hold it there: correct the effort limit (--limits) or the masses '
            'of the URDF if they are wrong, or take a lighter payload')
        return f'{" and ".join(said)}. {remedy}, or start where gravity takes less (--assume)'


def _check(joints: Sequence[str], bounds: Sequence[JointBounds]) -> None:
    lacking = []
    for joint, limits in zip(joints, bounds):
        missing = [
            name for name in ('velocity', 'effort') if not 0.0 < getattr(limits, name) < inf]
        missing += [] if 0.0 < limits.upper - limits.lower < inf else ['position']
        missing += [] if limits.acceleration > 0.0 else ['acceleration']
        if missing:
            lacking.append(f'joint {joint!r} has no usable limit of {" and ".join(missing)} (' + (
                ', '.join(f'{name} {limit:g}' for name, limit in limits._asdict().items())) + ')')
    if lacking:
        raise ArgumentError(
            f'{"; ".join(lacking)}: a motion is only planned within finite positive limits; give '
            'them, or leave these joints at rest')
