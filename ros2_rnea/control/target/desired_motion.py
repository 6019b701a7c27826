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
"""The desired state at a time: on a motion, at its end, or the measured position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.ros_time import RosTime
from ros2_rnea.control.signals import remaining_weight
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import (
    ControllerReference,
    ControllerState,
)
from ros2_rnea.control.target.desired_state import DesiredState, DEVIATIONS
from ros2_rnea.control.target.path_guard import PathGuard
from ros2_rnea.control.target.planned_motion import MotionStart, PlannedMotion
from ros2_rnea.control.target.trajectory import Array, Trajectory, whole_turns

MIN_TAKEUP_TOLERANCE = 0.01
"""Tolerances may be 0, but a motion is near a robot that is as far from it as this [rad or m]."""


class DesiredMotion:
    """
    The present motion: a controller's reference, a trajectory, or none.

    A reference is the motion that the controller really executes, also for goals that appear on
    no topic.  It therefore ends every trajectory, and trajectories that arrive while it is fresh
    are not followed.

    Each trajectory starts from the measured state, as in the controller.  By that alone a robot
    that is blocked would never deviate from points that arrive in a stream: each of them would
    start where the robot is.  Therefore the measured positions are compared with another path, on
    which each trajectory starts from where the one before wants the robot to be.

    All arrays are in the order of ``joint_names``.  Times of trajectories are on the clock of
    their stamps; those called *steady* are seconds on the clock for ages of references.

    :ivar hold_tolerance: largest distance from the end of a motion at which the end is held
        [rad or m].
    :ivar rules: how the controller follows trajectories.
    :ivar controller: the newest reference.
    :ivar path: compares the measured positions with the trajectory.
    :ivar keeps_tracking: whether the target of a robot that deviates is still its motion, so that
        feedback returns the robot to it.
    :ivar fade_time: duration of the fade of that motion after its end [s].
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        continuous: Sequence[bool],
        hold_tolerance: float,
        rules: ControllerRules = ControllerRules(),  # noqa: B008
        controller_state_timeout: float = 0.1,
    ) -> None:
        """
        Start without a motion.

        :param joint_names: the controlled joints.
        :param continuous: true for joints that turn without end.
        :param hold_tolerance: largest distance from the end of a motion at which the end is held
            [rad or m].
        :param rules: how the controller follows trajectories.
        :param controller_state_timeout: a controller's reference is fresh for this long [s].
        """
        self.joint_names = tuple(joint_names)
        self.hold_tolerance = hold_tolerance
        self.rules = rules
        self.controller = ControllerState(joint_names, controller_state_timeout)
        self.path = PathGuard(continuous)
        self._continuous = np.array(continuous, dtype=bool)
        self._at_rest = np.zeros(len(self.joint_names))
        self._at_rest.setflags(write=False)
        self.keeps_tracking = False
        self.fade_time = 0.0
        self._trajectory: Trajectory | None = None
        self._intended: Trajectory | None = None  # the same, started from the desired state
        self._changes = 0  # of the trajectory

    def adopt(self, older: DesiredMotion) -> None:
        """Continue with the motion of an earlier object for the same joints."""
        self._trajectory, self._intended = older._trajectory, older._intended
        self._changes = older._changes
        self.path.has_left = older.path.has_left
        self.controller.adopt(older.controller)

    def clear(self) -> None:
        """Discard the motion, also one that is being planned."""
        self._trajectory = self._intended = None
        self._changes += 1
        self.controller.clear()

    def discard_trajectory(self, time: RosTime, step: float) -> bool:
        """
        Discard the trajectory, also one that is being planned, because its clock was set.

        One that has ended stays where the clock was set forward: nothing of it comes again.

        :param time: the present time, on the clock of trajectory stamps.
        :param step: by how much that clock was set forward [s].
        :return: whether a trajectory was discarded.
        """
        self._changes += 1
        trajectory = self._trajectory
        if trajectory is None or step > 0.0 and time - step >= trajectory.end:
            return False
        self._trajectory = self._intended = None
        return True

    @property
    def has_reference(self) -> bool:
        """Return whether the motion is a controller's reference, also one that comes no more."""
        return self.controller.has_reference

    def start(self, now: Instant, measured: Array, age: float = 0.0) -> MotionStart:
        """
        Return what a trajectory that is read now starts from.

        Its motion may then be computed by another thread, since that takes long for a trajectory
        of many points.  While a controller's reference is fresh, the trajectory is only checked:
        the controller receives it too, and its reference shows how it executes it.

        :param now: the present time.
        :param measured: positions and velocities at that time, shape (2, joints).
        :param age: time since the reception of the trajectory [s]; infinite: it is not known.
        """
        positions, velocities = measured.copy()
        return MotionStart(
            self.joint_names, self._continuous, self.rules, now, positions, velocities,
            self._target(now.ros, positions, now.steady), self._trajectory, self._intended,
            self._changes, self.controller.is_fresh(now.steady), age)

    def follow(self, planned: PlannedMotion | None, steady: float) -> None:
        """
        Follow a planned motion, unless another one, or none, was begun since its start.

        :param planned: what :meth:`.MotionStart.planned` has returned.
        :param steady: the present time on the steady clock [s].
        """
        if planned is None:
            return
        is_superseded = (
            planned.start.changes != self._changes
            or planned.start.joint_names != self.joint_names)
        if is_superseded or self.controller.is_fresh(steady):
            return
        if not planned.is_continued:
            self.path.reset()
        self._trajectory, self._intended = planned.trajectory, planned.intended
        self._changes += 1
        self.controller.clear()

    def take_reference(self, reference: ControllerReference, steady: float) -> None:
        """
        Follow a controller's reference, which ends any trajectory.

        :param steady: time of reception on the steady clock [s].
        :raises MessageError: when it cannot be followed; the present motion then continues.
        """
        self.controller.update(reference, steady)
        self._trajectory = self._intended = None

    def target(
        self, time: RosTime, measured_positions: Array, steady: float | None = None,
        lookahead: float = 0.0,
    ) -> DesiredState:
        """
        Return the desired state at a time.

        Feedback tracks the velocity and the acceleration of a path also where the robot deviates
        from it.  If the path ends there, they fade, so that the effort does not step.

        :param time: the present time, on the clock of trajectory stamps.
        :param measured_positions: shape (joints,) [rad or m].
        :param steady: the present time on the steady clock; None: references are ignored.
        :param lookahead: how far ahead of the present time a trajectory is sampled [s].  A
            reference does not depend on it, because its future is unknown.
        """
        desired = self._target(time, measured_positions, steady, lookahead)
        path = self._intended
        if path is None or not self.keeps_tracking or not self.path.has_left or (
                desired.status is not Status.GOAL_DEVIATION):
            return desired
        weight = remaining_weight(time + lookahead - path.end, self.fade_time)
        if not weight:
            return desired
        _, velocities, accelerations = weight * path.end_of_spline()
        return desired._replace(velocities=velocities, accelerations=accelerations)

    def _target(
        self, time: RosTime, measured_positions: Array, steady: float | None = None,
        lookahead: float = 0.0,
    ) -> DesiredState:
        """Return the same as :meth:`target`, at rest as soon as the motion has ended."""
        reference = None if steady is None else self.controller.reference(steady)
        if reference is not None:
            *desired, strength = reference
            if strength == 1.0:
                return DesiredState(Status.FOLLOWING_CONTROLLER, *desired)
            if strength > 0.0:
                return DesiredState(Status.CONTROLLER_LOST, *desired)
            return self._holding(Status.CONTROLLER_LOST, desired[0], measured_positions)
        if self._trajectory is None or self._intended is None:
            return self._resting(Status.NO_TRAJECTORY, measured_positions)
        ahead = time + lookahead
        sample = self._trajectory.sample(ahead)
        if ahead >= self._trajectory.end:
            return self._holding(Status.HOLDING_END, sample[0], measured_positions)
        is_sampled = self._intended is self._trajectory and not lookahead
        intended = sample if is_sampled else self._intended.sample(time)
        deviation = self.path.deviation(intended[0], measured_positions)
        if deviation is None:
            return DesiredState(Status.FOLLOWING, *sample)
        if self.keeps_tracking:
            desired, velocities, accelerations = self._intended.sample(ahead)
            return DesiredState(
                Status.PATH_DEVIATION, desired, velocities, accelerations, deviation)
        return self._resting(Status.PATH_DEVIATION, measured_positions, deviation)

    def deviation(self, positions: Array, measured_positions: Array) -> Array:
        """Return how far a robot is from positions, without whole turns, shape (joints,)."""
        deviation = measured_positions - positions
        deviation -= whole_turns(deviation, self._continuous)
        return deviation

    def largest_error(self, status: Status) -> Array | None:
        """
        Return the largest tracking error that feedback corrects, shape (joints,) [rad or m].

        It bounds the effort of feedback on a robot that is blocked; None: any error.
        """
        if status not in DEVIATIONS:
            return None
        tolerances = self.path.tolerances
        largest = np.where(np.isinf(tolerances), self.hold_tolerance, tolerances)
        if status is Status.PATH_DEVIATION:
            return largest
        return np.maximum(largest, self.hold_tolerance)

    @property
    def takeup_tolerance(self) -> Array:
        """
        Return how far a motion may be from a robot that takes it up, shape (joints,) [rad or m].

        It is the error that feedback corrects at the goal, so that no joint is pushed more.
        """
        tolerances = self.path.tolerances
        along_path = np.where(np.isinf(tolerances), 0.0, tolerances)
        return np.maximum(along_path, max(self.hold_tolerance, MIN_TAKEUP_TOLERANCE))

    def out_of_reach(self, measured_positions: Array) -> DesiredState:
        """Return what is desired while the motion is too far to be taken up: rest."""
        return self._resting(Status.MOTION_TOO_FAR, measured_positions)

    def explain(self, target: DesiredState) -> str:
        """Return a sentence that explains a target of this motion."""
        if target.deviation is None or target.status not in DEVIATIONS:
            return target.status.value
        sent = 'gravity at the measured state'
        if self.keeps_tracking:
            sent = 'feedback of a bounded error'
        if target.status is Status.PATH_DEVIATION:
            explained = self.path.explain(target.deviation)
            joints = '; '.join(f'{self.joint_names[i]} {how}' for i, how in explained.items())
            return f'{target.status.value}: {sent} ({joints})'
        joints = ', '.join(
            f'{name} by {distance:+.3f}'
            for name, distance in zip(self.joint_names, target.deviation, strict=True)
            if abs(distance) > self.hold_tolerance)
        return f'{target.status.value}: {sent} ({joints}; hold_tolerance {self.hold_tolerance})'

    def _holding(
        self, status: Status, positions: Array, measured_positions: Array,
    ) -> DesiredState:
        """Return the end of the motion as target, or where it deviates the measured position."""
        deviation = self.deviation(positions, measured_positions)
        if np.abs(deviation).max() <= self.hold_tolerance:
            return self._resting(status, positions, deviation)
        kept = positions if self.keeps_tracking else measured_positions
        return self._resting(Status.GOAL_DEVIATION, kept, deviation)

    def _resting(
        self, status: Status, positions: Array, deviation: Array | None = None,
    ) -> DesiredState:
        return DesiredState(status, positions, self._at_rest, self._at_rest, deviation)
