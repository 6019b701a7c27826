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

POSITION, VELOCITY, ACCELERATION, EFFORT = range(4)
"""The rows of :meth:`.MovingJoints.shares`."""

_POSES = 200
"""Random poses among which one to start from is searched."""


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


class States(NamedTuple):
    """
    States of a robot.

    :ivar q: shape (N, nq) [rad or m].
    :ivar qd: shape (N, nv), per s; qdd, shape (N, nv), per s^2.
    """

    q: Array
    qd: Array
    qdd: Array


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
    :ivar clearance: from configurations to the least distance [m]; None: it is not checked.
    :ivar least: clearance that is demanded [m].
    """

    def __init__(
            self, robot: Robot, joints: Sequence[str], bounds: Sequence[JointBounds],
            posture: Array, margin: float = 0.1, effort_margin: float = 0.3,
            clearance: Clearance | None = None, least: float = 0.0) -> None:
        for name, share in (('motion', margin), ('effort', effort_margin)):
            if not 0.0 <= share < 1.0:
                raise ArgumentError(
                    f'the margin of {name} is {share}; it needs a share of the limit, from 0 to '
                    'less than 1')
        if clearance is not None and not 0.0 < least < inf:
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

    def states(self, motion: Array) -> States:
        """Return states of the whole robot from those of moving joints, shape (3, N, joints)."""
        qd, qdd = np.zeros((2, motion.shape[1], self.robot.nv))
        qd[:, self.v_index], qdd[:, self.v_index] = motion[1:]
        return States(self.q(motion[0]), qd, qdd)

    def efforts(self, states: States) -> Array:
        """Return the efforts of moving joints, shape (N, joints) [Nm or N]."""
        return self.robot.inverse_dynamics(*states)[:, self.v_index]

    def shares(self, motion: Array, states: States) -> Array:
        """
        Return the shares of what is allowed, with the sign of the quantity.

        :param motion: positions, velocities and accelerations, shape (3, N, joints).
        :param states: those of the whole robot.
        :return: of position (from the centre of the range), velocity, acceleration and effort,
            shape (4, N, joints).
        """
        q, qd, qdd = motion
        return np.stack((
            (q - self.center) / self.half_range, qd / self.velocity, qdd / self.acceleration,
            self.efforts(states) / self.effort))

    def holds(self, motion: Array) -> bool:
        """Return whether all limits are kept in a motion of shape (3, N, joints)."""
        states = self.states(motion)
        return bool(np.abs(self.shares(motion, states)).max() <= 1.0) and (
            self.clearance is None or bool(self.clearance(states.q).min() >= self.least))

    def start_pose(self, random: np.random.Generator, given: Array | None = None) -> Array:
        """
        Return a pose that keeps the limits at rest, shape (joints,).

        :param given: the only one that is possible; None: any.
        :raises ExcitationError: with the limits that are exceeded.
        """
        if given is not None:
            defects = self._defects(given)
            if defects:
                raise ExcitationError(f'the pose to start from is not possible: {defects}')
            return given
        nearest, lightest, least = '', self.center, inf
        for number in range(_POSES):
            draw = random.uniform(-0.7, 0.7, len(self.joints)) if number else 0.0
            pose = self.center + draw * self.half_range
            defects = self._defects(pose)
            if not defects:
                return pose
            nearest = nearest or defects
            load = float(np.max(np.abs(self._holding(pose)) / self.effort))
            lightest, least = (pose, load) if load < least else (lightest, least)
        if least > 1.0:
            raise ExcitationError(
                f'the motors do not carry the arm in any of {_POSES} poses to start from; in that '
                f'which takes least, {self._too_heavy(lightest)}')
        raise ExcitationError(
            f'none of {_POSES} poses to start from is possible; in the middle of the ranges of '
            f'{", ".join(self.joints)}, {nearest}. Give a pose to start from, other limits or '
            'less clearance')

    def _defects(self, pose: Array) -> str:
        """Return which limit is exceeded at rest; empty: none."""
        shares = np.abs((pose - self.center) / self.half_range)
        worst = int(shares.argmax())
        if shares[worst] > 1.0:
            return (f'the position of {self.joints[worst]} is {shares[worst]:.0%} of what is '
                    'allowed')
        if (np.abs(self._holding(pose)) / self.effort).max() > 1.0:
            return self._too_heavy(pose)
        if self.clearance is not None:
            distance = float(self.clearance(self.q(pose[np.newaxis]))[0])
            if distance < self.least:
                return f'the clearance is {distance:.4g} m, and {self.least:g} m are demanded'
        return ''

    def _holding(self, pose: Array) -> Array:
        """Return the efforts that hold moving joints in a pose, shape (joints,) [Nm or N]."""
        rest = np.stack((pose, 0.0 * pose, 0.0 * pose))[:, np.newaxis]
        return self.efforts(self.states(rest))[0]

    def _too_heavy(self, pose: Array) -> str:
        """Return which joints gravity loads too much in a pose, and what would do."""
        efforts, said = np.abs(self._holding(pose)), []
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
        missing += [] if limits.upper - limits.lower < inf else ['position']
        if missing:
            lacking.append(
                f'joint {joint!r} has no limit of {" and ".join(missing)} (lower '
                f'{limits.lower:g}, upper {limits.upper:g}, velocity {limits.velocity:g}, effort '
                f'{limits.effort:g})')
    if lacking:
        raise ArgumentError(
            f'{"; ".join(lacking)}: a motion is only planned within finite positive limits; give '
            'them, or leave these joints at rest')
    for joint, limits in zip(joints, bounds):
        if not limits.lower < limits.upper:
            raise ArgumentError(
                f'joint {joint!r} may go from {limits.lower:g} to {limits.upper:g}, so it cannot '
                'move: leave it at rest')
        if not limits.acceleration > 0.0:
            raise ArgumentError(
                f'joint {joint!r} has the acceleration limit {limits.acceleration:g}; a positive '
                'one is needed')
