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
"""What the robot is meant to do at a time: follow a trajectory, hold its end, or be let be."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import TrajectoryError
from ros2_rnea.feedforward.trajectory import Array, Trajectory, Waypoint, whole_turns


class TargetKind(Enum):
    """Where a target comes from, in words."""

    NO_TRAJECTORY = 'there is no trajectory: gravity at the measured state'
    FOLLOWING = 'following the trajectory'
    HOLDING_END = 'the trajectory has ended: gravity at its last point'
    OFF_END = 'the robot is not where the trajectory ended: gravity at the measured state'


class Target(NamedTuple):
    """
    The motion to compute efforts for, each array of shape (joints,) and only to be read.

    ``off_end`` is how far the measured positions are from those at the trajectory's end, by the
    shorter way round for continuous joints; None until it has ended.
    """

    kind: TargetKind
    positions: Array
    velocities: Array
    accelerations: Array
    off_end: Array | None = None


class DesiredMotion:
    """
    The trajectory that runs now, if any, and what it asks for.

    All arrays are in the order of ``joint_names``; all times are seconds on one clock.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        continuous: Sequence[bool],
        hold_tolerance: float,
        allow_nonzero_end_velocity: bool = False,
    ) -> None:
        """
        Start without a trajectory.

        :param joint_names: the joints whose motion is desired.
        :param continuous: which of them turn without end.
        :param hold_tolerance: how far from the trajectory's end a joint still counts as holding
            it [rad or m].
        :param allow_nonzero_end_velocity: accept trajectories whose last point still moves.
        """
        self.joint_names = tuple(joint_names)
        self.hold_tolerance = hold_tolerance
        self._continuous = np.array(continuous, dtype=bool)
        self._allow_nonzero_end_velocity = allow_nonzero_end_velocity
        self._at_rest = np.zeros(len(self.joint_names))
        self._at_rest.setflags(write=False)
        self._trajectory: Trajectory | None = None

    def adopt(self, older: DesiredMotion) -> None:
        """Go on with the trajectory of an earlier object for the same joints."""
        self._trajectory = older._trajectory

    def clear(self) -> None:
        """Forget the trajectory."""
        self._trajectory = None

    def accept(
        self,
        joint_names: Sequence[str],
        waypoints: Sequence[Waypoint],
        stamp: float,
        now: float,
        measured_positions: Array,
        measured_velocities: Array | None,
    ) -> None:
        """
        Follow a trajectory from now on, in place of the one before.

        The one before ends on reception, as in joint_trajectory_controller up to 6.7, and later
        with ``allow_trajectory_replacement: false``.  Joints that the new one does not name stay
        where the present target has them.

        :param joint_names: some or all of the joints, in the order of the waypoints' values.
        :param waypoints: in the order of time.
        :param stamp: the time from which the waypoints count [s]; 0: now.
        :param now: the time of reception [s].
        :param measured_positions: at that time, where the motion leads in from, shape (joints,).
        :param measured_velocities: likewise; None: taken for zero.
        :raises TrajectoryError: when it cannot be followed; the one before then still runs.
        """
        trajectory = Trajectory(
            joint_names, waypoints, stamp or now, self._allow_nonzero_end_velocity)
        if trajectory.end < now:
            raise TrajectoryError(
                f'The trajectory ended {now - trajectory.end:.3f} s ago: '
                f'it is stamped {stamp:.3f} s and lasts {waypoints[-1].time:.3f} s.')
        held_positions = self.target(now, measured_positions).positions
        self._trajectory = trajectory.for_joints(self.joint_names, held_positions).entered_from(
            now, measured_positions, measured_velocities, self._continuous)

    def target(self, time: float, measured_positions: Array) -> Target:
        """
        Return what the robot is meant to do at a time.

        :param time: [s], usually not before the trajectory's reception.
        :param measured_positions: shape (joints,) [rad or m].
        """
        if self._trajectory is None:
            return self._resting(TargetKind.NO_TRAJECTORY, measured_positions)
        desired = self._trajectory.sample(time)
        if time < self._trajectory.end:
            return Target(TargetKind.FOLLOWING, *desired)
        off_end = measured_positions - desired[0]
        off_end -= whole_turns(off_end, self._continuous)
        if np.abs(off_end).max() <= self.hold_tolerance:
            return self._resting(TargetKind.HOLDING_END, desired[0], off_end)
        return self._resting(TargetKind.OFF_END, measured_positions, off_end)

    def explain(self, target: Target) -> str:
        """Return a sentence on where a target of this motion comes from, for people."""
        if target.kind is not TargetKind.OFF_END or target.off_end is None:
            return target.kind.value
        joints = ', '.join(
            f'{name} by {distance:+.3f}'
            for name, distance in zip(self.joint_names, target.off_end, strict=True)
            if abs(distance) > self.hold_tolerance)
        return f'{target.kind.value} ({joints}; hold_tolerance {self.hold_tolerance})'

    def _resting(
        self, kind: TargetKind, positions: Array, off_end: Array | None = None,
    ) -> Target:
        return Target(kind, positions, self._at_rest, self._at_rest, off_end)
