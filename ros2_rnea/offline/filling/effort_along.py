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
"""The motion of the whole robot along a trajectory of some joints, and its efforts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import did_you_mean, TrajectoryError
from ros2_rnea.robots.joint_index_map import JointIndexMap, single_joints
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Terms
from ros2_rnea.trajectories.trajectory import Array, Trajectory


class Samples(NamedTuple):
    """
    States of the whole robot on a motion, one row for each time.

    :ivar times: shape (N,) [s], sorted; two are equal where velocity or acceleration jumps.
    :ivar q: shape (N, nq); qd, qdd, effort and sent have shape (N, nv).
    :ivar effort: the effort that the motion needs.
    :ivar sent: the terms of the effort that are sent.
    """

    times: Array
    q: Array
    qd: Array
    qdd: Array
    effort: Array
    sent: Array


def _unknown_position(robot: Robot, names: Sequence[str], missing: Sequence[str]) -> str:
    """Say of which joint the position is missing, or which name of a trajectory is misspelt."""
    said = (f'the position of joint {missing[0]!r} is not known: it is not in the trajectory, not '
            'measured and not assumed; give its position')
    for name in names:
        if name not in robot.joint_names and name not in robot.tree.mimics:
            stranger = f'the trajectory names {name!r}, which {robot.name!r} does not have'
            hint = did_you_mean(name, missing)
            if hint:
                return stranger + hint
            said = f'{said}; {stranger}'
    return said


class EffortAlong:
    """
    A robot with some joints on a trajectory and all others at rest.

    Joints of the trajectory that the robot lacks, and mimic joints, are ignored.

    :param trajectory: from time 0 on.
    :param fixed_positions: by name, the positions of joints that the trajectory omits; other
        joints in it are ignored.
    :param terms: the terms to send; not ``Terms.AUTOMATIC``, which has to be resolved before.
    :param arm_gravity: acceleration of free fall for which the arm adds gravity by itself, shape
        (3,) [m/s^2]; empty: that of the robot.
    :raises TrajectoryError: where the position of a joint is unknown.
    """

    def __init__(
            self,
            robot: Robot,
            trajectory: Trajectory,
            fixed_positions: Mapping[str, Sequence[float]],
            terms: Terms = Terms.FULL,
            arm_gravity: Sequence[float] = ()) -> None:
        known = single_joints(robot)
        moving = [name for name in trajectory.joint_names if name in known]
        whole = JointIndexMap(robot, moving, fixed_positions)
        missing = whole.unknown(np.zeros(len(moving)))
        if missing:
            raise TrajectoryError(_unknown_position(robot, trajectory.joint_names, missing))
        self.robot = robot
        self.trajectory = trajectory
        self._left_out = terms.left_out
        self._arm_gravity = arm_gravity
        self._columns = [trajectory.joint_names.index(name) for name in moving]
        self._fixed = whole.positions(np.full(len(moving), np.nan))
        self._q_index, self._v_index = whole.q_index, whole.v_index

    def samples(self, times: Array, before: bool = False) -> Samples:
        """
        Return the motion and its efforts at times, shape (N,) [s].

        :param before: at a point where two segments meet, return the end of the earlier one
            instead of the start of the later one.
        """
        asked = np.nextafter(times, -np.inf) if before else times
        states = np.array([self.trajectory.at(time) for time in asked.tolist()])
        return self.of(times, states.reshape(len(times), 3, len(self.trajectory.joint_names)))

    def at_rest(self, time: float) -> Samples:
        """Return one sample, at rest at the position of the motion at a time."""
        states = self.trajectory.at(time)[np.newaxis].copy()
        states[:, 1:] = 0.0
        return self.of(np.array([time]), states)

    def of(self, times: Array, states: Array) -> Samples:
        """
        Return the efforts in given states of the trajectory's joints.

        :param states: positions, velocities and accelerations, shape (N, 3, joints).
        """
        q = np.tile(self._fixed, (len(times), 1))
        q[:, self._q_index] = states[:, 0, self._columns]
        qd, qdd = self.whole_velocity(states[:, 1]), self.whole_velocity(states[:, 2])
        effort = self.robot.inverse_dynamics(q, qd, qdd)
        return Samples(times, q, qd, qdd, effort, self._sent(q, qd, qdd, effort))

    def whole_velocity(self, velocities: Array) -> Array:
        """Return velocities of all joints, (N, nv), from those of the trajectory, (N, joints)."""
        qd = np.zeros((len(velocities), self.robot.nv))
        qd[:, self._v_index] = velocities[:, self._columns]
        return qd

    def _sent(self, q: Array, qd: Array, qdd: Array, effort: Array) -> Array:
        if not self._left_out:
            return effort
        terms = self.robot.effort_terms(q, qd, qdd)
        if len(self._arm_gravity):
            terms = terms._replace(gravity=self.robot.gravity(q, self._arm_gravity))
        return effort - sum(getattr(terms, name) for name in self._left_out)


def joined(parts: Sequence[Samples]) -> Samples:
    """Return samples in one, in the order of the parts."""
    return Samples(*(np.concatenate(arrays) for arrays in zip(*parts)))
