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

It is computed from values that nothing changes any more, so a thread apart from the cycle can do
it: that takes long for a trajectory of many points.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.snapshot import AT_REST
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.motion_check import MotionCheck
from ros2_rnea.control.target.trajectory_replacement import joined
from ros2_rnea.errors import shortened, TrajectoryError
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import (
    Array,
    Trajectory,
    TrajectoryCommand,
    whole_turns,
)

JUST_BEFORE = 1e-6
"""Time before a trajectory joins another one from which the motion into it is checked [s]."""

LONGEST_PAUSE = 0.5
"""A trajectory that begins within this time after the end of another one continues it [s]."""

AT_ARM = 0.01
"""A motion that is nearer than this begins where the arm is [rad or m]."""

FAR_WHEN_HELD = 0.05
"""A motion that would have led farther than this waits until the arm is held [rad or m]."""

DEVIATIONS = (Status.PATH_DEVIATION, Status.GOAL_DEVIATION)
"""Reasons that say that the robot is not where its motion wants it."""

SLIP = 0.5
"""A joint that is slower than its motion by a larger share may be blocked."""

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

    :ivar start: from which it was planned.
    :ivar path: of all joints, from where the arm was.
    :ivar begins_at_arm: whether it does; not where its first point is over already.
    :ivar doubt: for people: what is wrong with it, where another controller executes it anyway.
    """

    start: MotionStart
    path: Trajectory
    begins_at_arm: bool
    doubt: str = ''


class MotionStart(NamedTuple):
    """
    What a trajectory starts from; all arrays have shape (joints,) where nothing else is said.

    :ivar joint_names: the controlled joints.
    :ivar continuous: true for joints that turn without end.
    :ivar rules: how the controller follows trajectories.
    :ivar now: the time at which the trajectory was read, and of everything else here.
    :ivar positions: measured [rad or m].
    :ivar velocities: measured [rad/s or m/s].
    :ivar status: the reason for the desired state.
    :ivar desired: the desired state, shape (3, joints).
    :ivar is_followed: whether the arm is at the desired state.
    :ivar has_feedback: whether feedback keeps it there.
    :ivar is_held: whether another controller holds all joints, which executes the trajectory.
    :ivar former: the path before; None: there is none.
    :ivar changes: how often the motion has changed before.
    :ivar is_only_checked: whether the reference of a controller is followed, which receives the
        trajectory too.
    :ivar age: time from the reception of the trajectory to ``now`` [s]; infinite: it is not known;
        negative: the motion begins that much later than ``now``.
    :ivar check: of the whole motion; None: it is not checked.
    :ivar held_in: time until the arm is held, where it is being armed [s].
    """

    joint_names: tuple[str, ...]
    continuous: np.ndarray
    rules: ControllerRules
    now: Instant
    positions: Array
    velocities: Array
    status: Status
    desired: Array
    is_followed: bool
    has_feedback: bool
    is_held: bool
    former: Trajectory | None
    changes: int
    is_only_checked: bool
    age: float = 0.0
    check: MotionCheck | None = None
    held_in: float = 0.0

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
        points = 0 if self.former is None else self.former.point_count
        return points * len(self.joint_names)

    def planned(self, command: TrajectoryCommand) -> PlannedMotion | None:
        """
        Return the motion of a trajectory of some or all of the joints; None: it is only checked.

        A trajectory without a stamp waits until the arm is held if it would leave the arm before:
        there is no feedback yet that moves the arm.  One that is over by then is a point of a
        stream, which does not wait.

        :raises TrajectoryError: when it cannot be followed.
        """
        motion = self._planned(command)
        may_wait = command.stamp is None and 0.0 < self.held_in < command.duration
        if may_wait and motion is not None and self._leaves_arm(motion.path):
            return self._when_held()._planned(command)
        return motion

    def _leaves_arm(self, path: Trajectory) -> bool:
        """Return whether a motion is far from where it has begun when the arm is held."""
        begin, then = (path.sample(time)[0] for time in (self.entry, self.now.ros + self.held_in))
        return bool((np.abs(then - begin) > FAR_WHEN_HELD).any())

    def _when_held(self) -> MotionStart:
        """Return the start of a motion that waits until the arm is held, at rest."""
        rest = np.zeros_like(self.velocities)
        return self._replace(
            age=-self.held_in, velocities=rest,
            desired=np.array((self.desired[0], rest, rest)))

    def _planned(self, command: TrajectoryCommand) -> PlannedMotion | None:
        """Return the motion of a trajectory that begins at its stamp, or at its reception."""
        trajectory, entry = self._checked(command), self.entry
        if self.is_only_checked:
            return None
        if command.stamp is None and not isfinite(self.age):
            raise TrajectoryError(
                'The trajectory may have waited while this process did not run, so that it is not '
                'known when it has begun.')
        path = self._replacing(trajectory).entered_from(entry, *self._entry())
        new = entry  # what comes from the former path has been checked
        if self._joins and trajectory.start > entry:
            new = trajectory.start - JUST_BEFORE
        doubt = '' if self.check is None else self.check.defect(
            path, new, self.positions, self.velocities)
        if doubt and self.check is not None and self.check.refuses:
            raise TrajectoryError(doubt)
        return PlannedMotion(self, path, self._begins_at_arm(path), doubt)

    def _begins_at_arm(self, path: Trajectory) -> bool:
        """Return whether a motion is at its entry where the arm, or its motion, is."""
        begin = path.sample(self.entry)[0]
        distances = begin - np.array((self.positions, self.desired[0]))[:1 + self.is_followed]
        distances -= whole_turns(distances, self.continuous)
        return bool((np.abs(distances) <= AT_ARM).all(axis=1).any())

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

    def _replacing(self, trajectory: Trajectory) -> Trajectory:
        """Return a trajectory for all joints, joined to the former one where rules demand it."""
        if self._joins and self.former is not None:
            return joined(self.former, trajectory, self.received, self.continuous)
        commanded = self.rules.omitted_joints_stay_where_commanded
        return trajectory.for_joints(
            self.joint_names, self.desired[0] if commanded else self.positions)

    def _entry(self) -> tuple[Array, Array | None, Array, Array | None]:
        """
        Return the state from which the motion starts, for :meth:`Trajectory.entered_from`.

        An arm that follows a motion goes on from where it is wanted, without a step; any other
        from where it is, and so does one that another controller moves, as that controller does.
        The acceleration is that of a controller: 0, unless it starts from the desired state.  With
        another one, a slow motion would begin with a long detour.
        """
        back = self.now.ros - self.entry
        positions, velocities, accelerations = self.desired
        if self.rules.interpolate_from_desired_state:
            return (positions - back * velocities, velocities, self.continuous, accelerations)
        if self.is_followed and (self.has_feedback or self._is_continued) and not (
                self.is_held and not self.has_feedback and self._moves_as_wanted):
            return positions - back * velocities, velocities, self.continuous, None
        velocities = np.nan_to_num(self.velocities)
        return self.positions - back * velocities, velocities, self.continuous, None

    @property
    def _joins(self) -> bool:
        """
        Return whether a trajectory is joined to the former one.

        A robot that deviates was moved by something else, so nothing is replaced.
        """
        return (self.rules.allow_trajectory_replacement and self.former is not None
                and self.former.point_count > 1 and self.status not in DEVIATIONS)

    @property
    def _moves_as_wanted(self) -> bool:
        """
        Return whether the velocities are about those of the desired motion.

        An arm that is blocked would begin each point of a stream anew, and never deviate.
        """
        if self.status in DEVIATIONS:
            return False
        wanted = self.desired[1]
        off = np.abs(np.nan_to_num(self.velocities) - wanted)
        return bool((off <= SLIP * np.abs(wanted) + AT_REST).all())

    @property
    def _is_continued(self) -> bool:
        """Return whether the former motion has not ended long ago."""
        return self.former is None or self.entry - self.former.end <= LONGEST_PAUSE
