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
The motion of a trajectory that has been received, from where the robot and its motion were then.

It is computed from values that nothing changes any more, so that a thread beside the cycle can do
it: that takes long for a trajectory of many points.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.decision import Instant
from ros2_rnea.control.ros_time import RosTime
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.desired_state import DesiredState, DEVIATIONS
from ros2_rnea.control.target.trajectory import Array, Trajectory, TrajectoryCommand
from ros2_rnea.control.target.trajectory_replacement import joined
from ros2_rnea.errors import shortened, TrajectoryError

LONGEST_PAUSE = 0.5
"""A trajectory that begins within this time after the end of another one continues it [s]."""

LONGEST_LATENCY = 0.1
"""
A trajectory that is read later than this after its reception is entered when it is read [s].

One that is read earlier is entered at its reception, from the state in which the robot was then by
its present velocity.  So a point that is streamed leaves it as much time as the
controller does, however little of that is left.
"""


class PlannedMotion(NamedTuple):
    """
    A motion that can be followed.

    :ivar trajectory: from the measured state, as the controller executes it.
    :ivar intended: from where the motion before wants the robot to be.
    :ivar is_continued: whether there was a motion before that this one continues.
    """

    start: MotionStart
    trajectory: Trajectory
    intended: Trajectory
    is_continued: bool


class MotionStart(NamedTuple):
    """
    What a trajectory starts from; all arrays have shape (joints,).

    :ivar joint_names: the controlled joints.
    :ivar continuous: true for joints that turn without end.
    :ivar rules: how the controller follows trajectories.
    :ivar now: the time at which the trajectory was read, and of everything else here.
    :ivar positions: measured [rad or m].
    :ivar velocities: measured [rad/s or m/s].
    :ivar present: the desired state.
    :ivar former: the trajectory before, from the measured state; None: there is none.
    :ivar former_intended: the same from the desired state.
    :ivar changes: how often the motion has changed before.
    :ivar is_only_checked: whether the reference of a controller is followed, which receives the
        trajectory too.
    :ivar age: time from the reception of the trajectory to ``now`` [s]; infinite: it is not known.
    """

    joint_names: tuple[str, ...]
    continuous: np.ndarray
    rules: ControllerRules
    now: Instant
    positions: Array
    velocities: Array
    present: DesiredState
    former: Trajectory | None
    former_intended: Trajectory | None
    changes: int
    is_only_checked: bool
    age: float = 0.0

    @property
    def received(self) -> RosTime:
        """Return when the trajectory was received, or read where that is not known."""
        return self.now.ros - self.age if isfinite(self.age) else self.now.ros

    @property
    def entry(self) -> RosTime:
        """Return when the motion enters the trajectory, from the state here."""
        return self.received if self.age <= LONGEST_LATENCY else self.now.ros

    def positions_to_join(self, joint_names: Sequence[str]) -> int:
        """
        Return how many positions of the trajectory before are changed where another one joins it.

        :param joint_names: those of the other one.  Where it omits none, nothing is changed.
        """
        if not self.rules.allow_trajectory_replacement or {*self.joint_names} <= {*joint_names}:
            return 0
        formers = (self.former, self.former_intended)
        points = max(0 if former is None else former.point_count for former in formers)
        return points * len(self.joint_names)

    def planned(self, command: TrajectoryCommand) -> PlannedMotion | None:
        """
        Return the motion of a trajectory of some or all of the joints; None: it is only checked.

        :raises TrajectoryError: when it cannot be followed.
        """
        trajectory, entry = self._checked(command), self.entry
        if self.is_only_checked:
            return None
        if command.stamp is None and not isfinite(self.age):
            raise TrajectoryError(
                'The trajectory may have waited while this process did not run, so that it is not '
                'known when it has begun.')
        motion = self._replacing(self.former, trajectory).entered_from(entry, *self._entry())
        former = self.former_intended
        if former is None or entry - former.end > LONGEST_PAUSE:
            return PlannedMotion(self, motion, motion, is_continued=False)
        intended = self._replacing(former, trajectory).entered_from(
            entry, *self._state_on(former))
        return PlannedMotion(self, motion, intended, is_continued=True)

    def _checked(self, command: TrajectoryCommand) -> Trajectory:
        joint_names, waypoints, stamp = command
        now: RosTime = self.now.ros
        trajectory = Trajectory(
            joint_names, waypoints, stamp or self.received,
            self.rules.allow_nonzero_velocity_at_trajectory_end)
        if stamp and trajectory.end < now:
            raise TrajectoryError(
                f'The trajectory ended {now - trajectory.end:.3f} s ago: '
                f'it is stamped {trajectory.start.seconds:.3f} s and lasts '
                f'{trajectory.duration:.3f} s.')
        named = {*joint_names}
        omitted = [name for name in self.joint_names if name not in named]
        if omitted and not self.rules.allow_partial_joints_goal:
            raise TrajectoryError(shortened(
                f"The trajectory does not move {', '.join(map(repr, omitted))}: "
                'it must name all joints, unless partial goals are allowed.'))
        return trajectory

    def _replacing(self, old: Trajectory | None, trajectory: Trajectory) -> Trajectory:
        """Return a trajectory for all joints, joined to an old one where rules demand it."""
        # A robot that deviates was moved by something else, so nothing is replaced.
        if (self.rules.allow_trajectory_replacement and old is not None
                and old.point_count > 1 and self.present.status not in DEVIATIONS):
            return joined(old, trajectory, self.received, self.continuous)
        commanded = self.rules.omitted_joints_stay_where_commanded
        return trajectory.for_joints(
            self.joint_names, self.present.positions if commanded else self.positions)

    def _entry(self) -> tuple[Array, Array | None, Array, Array | None]:
        """Return the state that the motion starts from, for :meth:`Trajectory.entered_from`."""
        present, back = self.present, self.now.ros - self.entry
        if self.rules.interpolate_from_desired_state:
            return (present.positions - back * np.nan_to_num(present.velocities),
                    present.velocities, self.continuous, present.accelerations)
        return (self.positions - back * np.nan_to_num(self.velocities), self.velocities,
                self.continuous, None)

    def _state_on(self, trajectory: Trajectory) -> tuple[Array, Array, Array, Array]:
        """Return the state on a trajectory, for :meth:`Trajectory.entered_from`."""
        positions, velocities, accelerations = trajectory.sample(self.entry)
        if self.entry >= trajectory.end:
            velocities = accelerations = np.zeros(len(self.joint_names))
        return positions, velocities, self.continuous, accelerations
