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
"""Whether an arm can execute a motion: positions, velocities and efforts from its entry on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Array, differentiated, Trajectory

SAMPLES = 2000
"""Approximate number of instants of a motion that are checked."""

FEWEST, MOST = 3, 65
"""Fewest and most of them in a segment."""

POSITION_MARGIN = 1e-3
"""Distance that a motion may go beyond the range of a joint [rad or m], as points are rounded."""

VELOCITY_MARGIN = 0.02
"""Share by which a motion may exceed a velocity limit, as points are rounded."""


class MotionCheck(NamedTuple):
    """
    The limits of the arm; arrays of shape (joints,).

    :ivar names: of the controlled joints.
    :ivar refuses: whether a motion beyond them is refused; else another controller executes it.
    :ivar checked: true for the joints that are judged.
    :ivar lower: lower ends of the ranges [rad or m]; −inf: none.
    :ivar upper: upper ends of the ranges [rad or m]; +inf: none.
    :ivar velocities: [rad/s or m/s]; infinite: none.
    :ivar efforts: [Nm or N]; infinite: none.
    :ivar jumps: how far the end of a motion without duration may be from the arm [rad or m].
    :ivar robot: the model, which nobody changes; None: efforts are not judged.
    :ivar q: positions of the whole robot, shape (nq,).
    :ivar q_index: of the controlled joints in q.
    :ivar v_index: of the controlled joints in efforts.
    :ivar gravity: shape (3,) [m/s^2].
    """

    names: Sequence[str]
    refuses: bool
    checked: np.ndarray
    lower: Array
    upper: Array
    velocities: Array
    efforts: Array
    jumps: Array
    robot: Robot | None
    q: Array
    q_index: np.ndarray
    v_index: np.ndarray
    gravity: Array

    def defect(
            self, path: Trajectory, entry: RosTime, positions: Array, velocities: Array) -> str:
        """
        Return what the arm cannot execute, with joint, time and value; empty: nothing.

        What the arm exceeds already, where it is, it may exceed as much: it can be led back.

        :param path: of all joints.
        :param entry: the motion before is not looked at.
        :param positions: measured, shape (joints,) [rad or m].
        :param velocities: measured, shape (joints,) [rad/s or m/s].
        """
        lower = np.minimum(self.lower, positions) - POSITION_MARGIN
        upper = np.maximum(self.upper, positions) + POSITION_MARGIN
        times, states = samples(path, entry - path.start)
        if not len(times):
            return self._defect_of_end(path.sample(entry)[0], positions, lower, upper)
        q, qd, qdd = states
        times = times - (entry - path.start)
        found = self._first(((q < lower) | (q > upper)), times)
        if found is not None:
            row, joint = found
            return (f'{self._where(times[row], joint)} is at {q[row, joint]:.4g}, outside its '
                    f'range from {self.lower[joint]:.4g} to {self.upper[joint]:.4g}')
        fastest = np.maximum(
            (1.0 + VELOCITY_MARGIN) * self.velocities, np.abs(np.nan_to_num(velocities)))
        found = self._first(np.abs(qd) > fastest, times)
        if found is not None:
            row, joint = found
            return (f'{self._where(times[row], joint)} has the velocity {qd[row, joint]:.4g}, and '
                    f'its limit is {self.velocities[joint]:.4g}: allow more time')
        if self.robot is None:
            return ''
        efforts = self._efforts(self.robot, q, qd, qdd)
        found = self._first(np.abs(efforts) > self.efforts, times)
        if found is not None:
            row, joint = found
            return (f'{self._where(times[row], joint)} needs the effort '
                    f'{efforts[row, joint]:.4g}, and its limit is {self.efforts[joint]:.4g}: '
                    'allow more time')
        return ''

    def _defect_of_end(
            self, end: Array, positions: Array, lower: Array, upper: Array) -> str:
        """Return the defect of a motion of which only its last point is left."""
        for what, exceeds in (
                ('outside its range', (end < lower) | (end > upper)),
                ('too far from where it is', np.abs(end - positions) > self.jumps)):
            found = self._first(exceeds[np.newaxis], np.zeros(1))
            if found is not None:
                return (f'{self._where(0.0, found[1])} has to be at {end[found[1]]:.4g} at once, '
                        f'{what}: allow more time')
        return ''

    def _efforts(self, robot: Robot, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts of the controlled joints, shape (N, joints) [Nm or N]."""
        count, nv = len(q), robot.nv
        whole_q = np.tile(self.q, (count, 1))
        whole_q[:, self.q_index] = q
        whole_qd, whole_qdd = np.zeros((2, count, nv))
        whole_qd[:, self.v_index], whole_qdd[:, self.v_index] = qd, qdd
        return robot.inverse_dynamics(
            whole_q, whole_qd, whole_qdd, gravity=self.gravity)[:, self.v_index]

    def _first(self, exceeds: np.ndarray, times: Array) -> tuple[int, int] | None:
        """Return the first instant and joint where a limit is exceeded."""
        exceeds = exceeds & self.checked
        if not exceeds.any():
            return None
        row = int(exceeds.any(axis=1).argmax())
        return row, int(exceeds[row].argmax())

    def _where(self, time: float, joint: int) -> str:
        return f'{max(time, 0.0):.3f} s after its begin, joint {self.names[joint]!r}'


def samples(path: Trajectory, after: float) -> tuple[Array, Array]:
    """
    Return instants of a motion with their states.

    :param path: the motion; a single point has no instants.
    :param after: segments that end before are left out; relative to the start of the path [s].
    :return: times relative to the start of the path, shape (N,) [s], and positions, velocities
        and accelerations, shape (3, N, joints).
    """
    starts, durations, coefficients, _ = path.splines_from(after)
    joints = coefficients.shape[2]
    if not len(starts):
        return np.zeros(0), np.zeros((3, 0, joints))
    count = min(max(SAMPLES // len(starts), FEWEST), MOST)
    within = durations[:, np.newaxis] * np.linspace(0.0, 1.0, count)
    powers = within[:, :, np.newaxis] ** np.arange(6.0)
    velocities = differentiated(coefficients)
    states = np.array([
        (powers @ each).reshape(-1, joints)
        for each in (coefficients, velocities, differentiated(velocities))])
    times = (starts[:, np.newaxis] + within).reshape(-1)
    keep = times >= after
    return times[keep], states[:, keep]
