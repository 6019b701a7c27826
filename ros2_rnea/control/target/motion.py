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
What is wanted: the state on the motion at this time, or none.

The motion is a controller's reference, which is what the controller really executes, also for
goals that appear on no topic; or a trajectory.  A reference therefore ends every trajectory, and
trajectories that arrive while it is fresh are only checked.

There is one path.  The effort is computed from it, and the deviation of the arm is judged by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.decision import Instant, State, Status
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.control.target.controller_state import (
    ControllerReference,
    ControllerState,
    ReferenceMemory,
)
from ros2_rnea.control.target.motion_check import MotionCheck
from ros2_rnea.control.target.planned_motion import (
    AT_ARM,
    DEVIATIONS,
    MotionStart,
    PlannedMotion,
)
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Array, Trajectory, whole_turns

RETURN_SHARE = 0.5
"""Share of a tolerance within which an arm that has left its path or goal is there again."""

MIN_TAKEUP_TOLERANCE = 0.01
"""Tolerances may be 0, but a motion is near a robot that is as far from it as this [rad or m]."""

FRESH = 0.1
"""A motion begins at the arm for this long after its entry [s]."""


@dataclass
class MotionMemory:
    """
    The present motion.

    :ivar joints: names, in the order of all arrays.
    :ivar reference: of a controller; None before the first cycle.
    :ivar path: of a trajectory, from where the arm was; None: there is none.
    :ivar entry: when the motion has begun.
    :ivar begins_at_arm: whether it has begun there where the arm was.
    :ivar has_waited: whether it has begun later than it was planned, when the arm was held.
    :ivar changes: how often the path has changed.
    :ivar awaits_reference: whether a controller's reference is not followed before it is near.
    """

    joints: tuple[str, ...] = ()
    reference: ReferenceMemory | None = None
    path: Trajectory | None = None
    entry: RosTime = RosTime(0)  # noqa: RUF009 (it is immutable)
    begins_at_arm: bool = False
    has_waited: bool = False
    changes: int = 0
    awaits_reference: bool = False

    def for_joints(self, joints: Sequence[str]) -> MotionMemory:
        """Return the motion for joints; there is none for other ones."""
        return self if tuple(joints) == self.joints else MotionMemory(
            tuple(joints), changes=self.changes + 1, awaits_reference=self.awaits_reference)


class Target(NamedTuple):
    """
    What is wanted now; each array has shape (joints,) and must not be written to.

    :ivar status: the reason.
    :ivar wanted: whether a motion is to be followed, its end to be held, or none of them.
    :ivar positions: of the motion, ahead of the present time by ``lookahead`` [rad or m].
    :ivar velocities: of the motion, at that time [rad/s or m/s].
    :ivar accelerations: of the motion, at that time [rad/s^2 or m/s^2].
    :ivar present: positions and velocities of the motion at the present time, shape (2, joints).
    :ivar deviation: of the measured from these positions; None: there is no motion.
    :ivar detail: for people.
    """

    status: Status
    wanted: State
    positions: Array
    velocities: Array
    accelerations: Array
    present: Array
    deviation: Array | None = None
    detail: str = ''


class Motion:
    """
    The desired motion of some joints.

    :param joints: names of the controlled joints, in the order of all arrays.
    :param continuous: true for joints that turn without end.
    :param turns: true for joints whose position is an angle.
    :param settings: tolerances, rules of the controller and times.
    :param memory: it is changed.
    :ivar controller: the newest reference.
    :ivar tolerances: largest distance of each joint from its path, shape (joints,) [rad or m];
        infinite: any.
    """

    def __init__(
            self, joints: Sequence[str], continuous: Sequence[bool], turns: Sequence[bool],
            settings: Settings, memory: MotionMemory) -> None:
        self.joints = tuple(joints)
        self.memory = memory
        self.controller = ControllerState(
            joints, settings.controller_state_timeout, memory.reference)
        memory.reference = self.controller.memory
        self._settings = settings
        self._has_feedback = settings.mode is Mode.COMPUTED_TORQUE
        self._is_held = settings.held_by_others >= {*joints}
        self._continuous = np.array(continuous, dtype=bool)
        self._turn_without_end = bool(self._continuous.any())
        self._parameters = [
            'path_tolerance' if angle else 'path_tolerance_prismatic' for angle in turns]
        self.tolerances = np.array([
            getattr(settings, name) or np.inf for name in self._parameters])
        finite = np.where(np.isinf(self.tolerances), 0.0, self.tolerances)
        self._takeup = np.maximum(finite, max(settings.hold_tolerance, MIN_TAKEUP_TOLERANCE))
        self._at_rest = np.zeros(len(self.joints))
        self._at_rest.setflags(write=False)

    # ---- what changes the motion ------------------------------------------------------------

    def clear(self) -> None:
        """Discard the motion, also one that is being planned."""
        self.memory.path = None
        self.memory.changes += 1
        self.controller.clear()

    def leave(self) -> None:
        """Discard the trajectory, and follow a reference only once it is near the arm."""
        self.memory.path = None
        self.memory.changes += 1
        self.memory.awaits_reference = True

    def discard_trajectory(self, time: RosTime, step: float) -> bool:
        """
        Discard the trajectory, also one that is being planned, because its clock was set.

        One that has ended, by both times, stays: nothing of it comes again.

        :param time: the present time, on the clock of trajectory stamps.
        :param step: by how much that clock was set forward [s].
        :return: whether a trajectory was discarded.
        """
        self.memory.changes += 1
        path = self.memory.path
        if path is None or min(time, time - step) >= path.end:
            return False
        self.memory.path = None
        return True

    @property
    def has_reference(self) -> bool:
        """Return whether the motion is a controller's reference, also one that comes no more."""
        return self.controller.has_reference

    def begins_at_arm(self, now: Instant, measured: Array) -> bool:
        """
        Return whether the motion has begun where the arm is, just now.

        Something may have moved the arm while the motion waited for it.

        :param measured: positions, shape (joints,) [rad or m].
        """
        memory = self.memory
        if self.has_reference or memory.path is None or not memory.begins_at_arm:
            return False
        since = now.ros - memory.entry
        if not memory.has_waited:
            return 0.0 <= since <= FRESH
        distance = self.distance(memory.path.sample(now.ros)[0], measured)
        return since <= FRESH and bool((np.abs(distance) <= AT_ARM).all())

    def start(
            self, now: Instant, measured: Array, state: State, last: Status, age: float = 0.0,
            check: MotionCheck | None = None, held_in: float = 0.0) -> MotionStart:
        """
        Return what a trajectory that is read now starts from.

        Its motion may then be computed by another thread, since that takes long for a trajectory
        of many points.  While a controller's reference is fresh, the trajectory is only checked:
        the controller receives it too, and its reference shows how it executes it.

        :param now: the present time.
        :param measured: positions and velocities at that time, shape (2, joints).
        :param state: what is done.
        :param last: the reason that was reported last.
        :param age: time since the reception of the trajectory [s]; infinite: it is not known.
        :param check: of the whole motion.
        :param held_in: time until the arm is held, where it is being armed [s].
        """
        positions, velocities = measured.copy()
        target = self.target(now, positions, state, last)
        desired = np.array((target.positions, target.velocities, target.accelerations))
        path, is_followed = self.memory.path, state.follows and target.wanted is not State.GRAVITY
        if self._is_held and path is not None and target.status in DEVIATIONS:
            # Otherwise an arm that is blocked would begin each point anew, and never deviate.
            desired, is_followed = path.sample(now.ros + self._settings.lookahead), True
        return MotionStart(
            self.joints, self._continuous, self._settings.rules, now, positions, velocities,
            target.status, desired, is_followed, self._has_feedback, self._is_held, path,
            self.memory.changes, self.controller.is_fresh(now.steady), age, check,
            held_in if self._has_feedback else 0.0)

    def follow(self, planned: PlannedMotion | None, steady: float) -> None:
        """
        Follow a planned motion, unless another one, or none, was begun since its start.

        :param planned: what :meth:`.MotionStart.planned` has returned.
        :param steady: the present time on the steady clock [s].
        """
        if planned is None:
            return
        is_superseded = (planned.start.changes != self.memory.changes
                         or planned.start.joint_names != self.joints)
        if is_superseded or self.controller.is_fresh(steady):
            return
        self.memory.path, self.memory.entry = planned.path, planned.start.entry
        self.memory.begins_at_arm = planned.begins_at_arm
        self.memory.has_waited = planned.start.age < 0.0
        self.memory.changes += 1
        self.controller.clear()

    def take_reference(self, reference: ControllerReference, steady: float) -> bool:
        """
        Follow a controller's reference, which ends any trajectory.

        :param steady: time of reception on the steady clock [s].
        :return: whether it begins, or goes on after a pause; the arm may be off it.
        :raises MessageError: when it cannot be followed; the present motion then continues.
        """
        begins, goes_on = not self.has_reference, self.controller.is_fresh(steady)
        self.controller.update(reference, steady)
        self.memory.path = None
        if begins and self._has_feedback:
            self.memory.awaits_reference = True
        return begins or not goes_on

    # ---- what is wanted -------------------------------------------------------------------------

    def target(
            self, now: Instant, measured: Array, state: State, last: Status) -> Target:
        """
        Return what is wanted now.

        :param measured: positions, shape (joints,) [rad or m].
        :param state: what is done.  Feedback keeps following a motion from which the arm deviates.
        :param last: the reason that was reported last, since an arm that has left its path is on
            it again only within a share of the tolerance.
        """
        reference = self.controller.reference(now.steady)
        path, ahead = self.memory.path, now.ros + self._settings.lookahead
        if reference is not None:
            *desired, strength = reference
            if strength > 0.0:
                status = Status.FOLLOWING_CONTROLLER if strength == 1.0 else (
                    Status.CONTROLLER_LOST)
                sample = np.array(desired)
                return self._reachable(
                    self._along(status, sample, sample, measured, state, last), state, now,
                    measured)
            return self._reachable(
                self._at_end(Status.CONTROLLER_LOST, desired[0], measured, state, last), state,
                now, measured)
        if path is None:
            return self.resting(Status.NO_TRAJECTORY, measured)
        if ahead >= path.end:
            return self._reachable(
                self._at_end(Status.HOLDING_END, path.sample(ahead)[0], measured, state, last),
                state, now, measured)
        sample = path.sample(ahead)
        present = sample if ahead == now.ros else path.sample(now.ros)
        target = self._along(Status.FOLLOWING, sample, present, measured, state, last)
        if target.status is Status.PATH_DEVIATION and not (self._has_feedback and state.follows):
            return self.resting(
                Status.PATH_DEVIATION, measured, target.deviation, target.detail)
        return self._reachable(target, state, now, measured)

    def resting(
            self, status: Status, measured: Array, deviation: Array | None = None,
            detail: str = '') -> Target:
        """Return what is wanted where no motion is followed: rest where the arm is."""
        return Target(
            status, State.GRAVITY, measured, self._at_rest, self._at_rest,
            np.array((measured, self._at_rest)), deviation, detail)

    def distance(self, positions: Array, measured: Array) -> Array:
        """Return how far a robot is from positions, without whole turns, shape (joints,)."""
        distance = measured - positions
        if self._turn_without_end:
            distance -= whole_turns(distance, self._continuous)
        return distance

    @property
    def largest_error(self) -> Array:
        """
        Return the largest tracking error that feedback corrects, shape (joints,) [rad or m].

        It bounds the effort of feedback on a robot that is blocked.  It is also how far a motion
        may be from a robot that takes it up.
        """
        return self._takeup

    def _along(
            self, status: Status, sample: Array, present: Array, measured: Array, state: State,
            last: Status) -> Target:
        """Return a motion that is followed, or from which the arm deviates."""
        deviation = self.distance(present[0], measured)
        share = RETURN_SHARE if last is Status.PATH_DEVIATION else 1.0
        detail = ''
        if status is Status.FOLLOWING and np.any(np.abs(deviation) > share * self.tolerances):
            status = Status.PATH_DEVIATION
            detail = self._explain(deviation, state)
        positions, velocities, accelerations = sample
        return Target(
            status, State.TRACKING, positions, velocities, accelerations, present[:2], deviation,
            detail)

    def _at_end(
            self, status: Status, end: Array, measured: Array, state: State, last: Status,
            ) -> Target:
        """Return the end of a motion, or the measured position where the arm deviates from it."""
        deviation = self.distance(end, measured)
        tolerance = self._settings.hold_tolerance
        share = RETURN_SHARE if last is Status.GOAL_DEVIATION else 1.0
        is_there = np.abs(deviation).max() <= share * tolerance
        detail = '' if is_there else self._explain_goal(deviation, state)
        if not is_there:
            status = Status.GOAL_DEVIATION
            if not (self._has_feedback and state.follows):
                return self.resting(status, measured, deviation, detail)
        return Target(
            status, State.HOLDING, end, self._at_rest, self._at_rest,
            np.array((end, self._at_rest)), deviation, detail)

    def _reachable(
            self, target: Target, state: State, now: Instant, measured: Array) -> Target:
        """
        Return a motion that may be taken up, or rest as long as it is too far from the arm.

        A controller's reference goes on while the robot does not follow it.  Feedback would drive
        the robot to it at once.
        """
        memory = self.memory
        awaits = self.has_reference and memory.awaits_reference
        if target.deviation is None or self.begins_at_arm(now, measured) or not (
                awaits or self._has_feedback and not state.follows):
            return target
        if np.all(np.abs(target.deviation) <= self._takeup):
            memory.awaits_reference = False
            return target
        what = 'reference of the controller' if self.has_reference else 'trajectory'
        return self.resting(Status.MOTION_TOO_FAR, target.positions, target.deviation, (
            f'the {what} is farther from the arm than path_tolerance and hold_tolerance; it is '
            'followed as soon as it is nearer'))

    def _explain(self, deviation: Array, state: State) -> str:
        """Return how far joints are off their path, and which tolerance it is."""
        explained = []
        for name, distance, tolerance, parameter in zip(
                self.joints, deviation.tolist(), self.tolerances.tolist(), self._parameters):
            if abs(distance) > RETURN_SHARE * tolerance:
                how = 'beyond' if abs(distance) > tolerance else 'not yet within half of'
                explained.append(f'{name} by {distance:+.3f}, {how} {parameter} {tolerance:g}')
        return self._sentence(Status.PATH_DEVIATION, '; '.join(explained), state)

    def _explain_goal(self, deviation: Array, state: State) -> str:
        tolerance = self._settings.hold_tolerance
        joints = ', '.join(
            f'{name} by {distance:+.3f}' for name, distance in zip(
                self.joints, deviation.tolist()) if abs(distance) > RETURN_SHARE * tolerance)
        return self._sentence(
            Status.GOAL_DEVIATION, f'{joints}; hold_tolerance {tolerance}', state)

    def _sentence(self, status: Status, which: str, state: State) -> str:
        keeps = self._has_feedback and state.follows
        sent = 'feedback of a bounded error' if keeps else 'gravity at the measured state'
        return f'{status.value}: {sent} ({which})'
