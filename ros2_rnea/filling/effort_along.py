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
"""The whole robot's motion along a trajectory of some of its joints, and the efforts it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import TrajectoryError
from ros2_rnea.feedforward.reference.trajectory import Array, Trajectory
from ros2_rnea.feedforward.settings import Terms
from ros2_rnea.feedforward.state.joint_index_map import JointIndexMap, single_joints
from ros2_rnea.robot import Robot


class Samples(NamedTuple):
    """
    The whole robot at moments of a motion, a row each, in the order of its vectors.

    :ivar times: shape (N,) [s], not falling; two are equal where velocity or acceleration jumps.
    :ivar q: shape (N, nq), and likewise qd, qdd, effort and sent, shape (N, nv).
    :ivar effort: that the motion needs.
    :ivar sent: the terms of it that are to be sent.
    """

    times: Array
    q: Array
    qd: Array
    qdd: Array
    effort: Array
    sent: Array


class EffortAlong:
    """
    A robot whose joints follow a trajectory while its others stand still.

    Joints of the trajectory that are none of the robot's, or that mimic one, have no say.

    :param trajectory: from time 0 on.
    :param standing: by joint name, the positions of joints that the trajectory does not move;
        what it says of others does not count.
    :param terms: that are to be sent; not ``Terms.AUTOMATIC``, which says nothing by itself.
    :raises TrajectoryError: where nothing tells the position of a joint.
    """

    def __init__(
            self,
            robot: Robot,
            trajectory: Trajectory,
            standing: Mapping[str, Sequence[float]],
            terms: Terms = Terms.FULL) -> None:
        known = single_joints(robot)
        moving = [name for name in trajectory.joint_names if name in known]
        whole = JointIndexMap(robot, moving, standing)
        missing = whole.unknown(np.zeros(len(moving)))
        if missing:
            raise TrajectoryError(
                f'the position of joint {missing[0]!r} is not known: the trajectory does not name '
                'it, nothing measures it and nothing is assumed; give one to stand at')
        self.robot = robot
        self.trajectory = trajectory
        self._left_out = terms.left_out
        self._columns = [trajectory.joint_names.index(name) for name in moving]
        self._standing = whole.positions(np.full(len(moving), np.nan))
        self._q_index, self._v_index = whole.q_index, whole.v_index

    def samples(self, times: Array, before: bool = False) -> Samples:
        """
        Return the motion and its efforts at times, shape (N,) [s].

        :param before: where two segments meet, take the end of the earlier one and not the start
            of the later one.
        """
        asked = np.nextafter(times, -np.inf) if before else times
        states = np.array([self.trajectory.sample(time) for time in asked.tolist()])
        return self._of(times, states.reshape(len(times), 3, len(self.trajectory.joint_names)))

    def at_rest(self, time: float) -> Samples:
        """Return the one sample of standing still where the motion is at a time."""
        states = self.trajectory.sample(time)[np.newaxis].copy()
        states[:, 1:] = 0.0
        return self._of(np.array([time]), states)

    def _of(self, times: Array, states: Array) -> Samples:
        q = np.tile(self._standing, (len(times), 1))
        qd, qdd = np.zeros((2, len(times), self.robot.nv))
        q[:, self._q_index] = states[:, 0, self._columns]
        qd[:, self._v_index] = states[:, 1, self._columns]
        qdd[:, self._v_index] = states[:, 2, self._columns]
        effort = self.robot.inverse_dynamics(q, qd, qdd)
        return Samples(times, q, qd, qdd, effort, self._sent(q, qd, qdd, effort))

    def _sent(self, q: Array, qd: Array, qdd: Array, effort: Array) -> Array:
        if not self._left_out:
            return effort
        terms = self.robot.effort_terms(q, qd, qdd)
        return effort - sum(getattr(terms, name) for name in self._left_out)


def joined(parts: Sequence[Samples]) -> Samples:
    """Return samples one after the other."""
    return Samples(*(np.concatenate(arrays) for arrays in zip(*parts)))
