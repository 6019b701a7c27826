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
What is needed: the effort of each state, from the model, the feedback and the wrenches.

It is a function of the state, of what is wanted and of what is known.
"""

from __future__ import annotations

import numpy as np

from ros2_rnea.control.decision import State
from ros2_rnea.control.inputs.snapshot import Snapshot
from ros2_rnea.control.inputs.wrenches import ExternalWrenches
from ros2_rnea.control.law.braking import Braking
from ros2_rnea.control.law.effort_law import EffortLaw, RobotMotion
from ros2_rnea.control.law.guiding import Guiding
from ros2_rnea.control.law.stable_damping import StableDamping
from ros2_rnea.control.law.state_feedback import GainMemory, StateFeedback
from ros2_rnea.control.law.wrench_compensation import WrenchCompensation, WrenchFadeMemory
from ros2_rnea.control.output.effort_limits import share_of
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.output.output import Needed
from ros2_rnea.control.robot_joints import RobotJoints
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.control.target.motion import Target

DAMPED = (State.ARMING, State.BRAKING, State.FAULT)
"""States that send gravity and damping alone."""


class Law:
    """
    The efforts of one robot with one set of settings.

    :param joints: of the robot.
    :param settings: of the effort.
    :param alone: true for joints that the node moves alone, shape (joints,).
    :param allowed: largest efforts, shape (joints,) [Nm or N].
    :param bounds: of positions and velocities.
    :ivar last_motion: of which the last effort was computed.
    :ivar damping_share: share of ``guiding_damping`` that is stable, and is sent.
    :ivar last_guiding: damping, friction assistance and end stops in that effort, shape (joints,).
    """

    def __init__(
            self, joints: RobotJoints, settings: Settings, alone: np.ndarray,
            allowed: np.ndarray, bounds: JointBounds) -> None:
        robot = joints.robot
        self._motions = joints.motions
        self._controlled = joints.motions.controlled
        self._count = len(joints.controlled)
        self._settings = settings
        self._alone = alone
        self._allowed = allowed
        self._bounds = bounds
        self.of_robot = EffortLaw(robot, settings.sent_terms, settings.arm_gravity)
        self.braking = Braking(
            robot, self._controlled, alone, settings.braking_time, settings.feedback_delay)
        self.guiding = Guiding(
            robot, joints.controlled, self._controlled, bounds.lower, bounds.upper, settings)
        self._stable_damping = StableDamping(
            self.braking, self.guiding.damping, settings.feedback_delay)
        self.damping_share = 1.0
        self._is_guided = settings.mode is Mode.GRAVITY_COMPENSATION
        self.compensation = WrenchCompensation(
            robot, self._controlled, share_of(allowed, settings.wrench_effort_share),
            settings.wrench_fade_time)
        self._feedback: StateFeedback | None = None
        if settings.mode is Mode.COMPUTED_TORQUE:
            self._feedback = StateFeedback(
                joints.controlled, settings.position_gains, settings.velocity_gains,
                joints.continuous)
        self._tau, self._held_tau = np.zeros((2, robot.nv))
        self._zero = np.zeros(self._count)
        self._zero.flags.writeable = False
        self.last_motion = self._motions.held(np.full(joints.index_map.q_index.shape, np.nan))
        self.last_guiding = self._zero

    def go_on(
            self, wrenches: ExternalWrenches, fade: WrenchFadeMemory, gains: GainMemory) -> None:
        """
        Go on with a memory.

        :param wrenches: that are measured.
        :param fade: how far these are compensated; it is changed.
        :param gains: those of feedback that were used last; it is changed.
        """
        self._wrenches, self.compensation.memory, self._gains = wrenches, fade, gains

    def catch_up_error(
            self, first: np.ndarray, present: np.ndarray, duration: float) -> np.ndarray | None:
        """Return the error that is corrected while an arm catches up; see StateFeedback."""
        if self._feedback is None:
            return None
        return self._feedback.catch_up_error(first, present, duration)

    @property
    def has_feedback(self) -> bool:
        """Return whether motions are followed with feedback."""
        return self._feedback is not None

    def holding(self, singles: np.ndarray) -> np.ndarray:
        """
        Return the effort that holds the arm at positions, shape (joints,) [Nm or N].

        :param singles: positions of all joints with one degree of freedom.
        """
        motion = self._motions.held(singles)
        return self.of_robot.effort(motion, self._held_tau)[self._controlled].copy()

    def needed(
            self, state: State, target: Target, known: Snapshot, weight: float, period: float,
            largest_error: np.ndarray) -> Needed:
        """
        Return the effort of a state.

        :param state: not OFF.
        :param target: what is wanted.
        :param known: of the joints and of the time.
        :param weight: of the motion and of the error of position under feedback, 0 to 1.
        :param period: of the cycle [s].
        :param largest_error: of position that feedback corrects, shape (joints,) [rad or m].
        """
        holding = self.holding(known.singles)
        if state in DAMPED:
            return self._damped(known, holding, period)
        if state is State.GRAVITY and self._feedback is None:
            needed = self._gravity(known, holding, period)
        elif self._feedback is None:
            needed = self._feedforward(state, target, known, holding)
        else:
            needed = self._with_feedback(
                self._feedback, state, target, known, holding, weight if state.follows else 0.0,
                largest_error)
        return self._slowed_down(needed, known, period)

    def released(self) -> Needed:
        """Return no effort, for an arm that its brakes hold."""
        self.last_guiding = self._zero
        return Needed(self._zero, self._zero, self._zero, self._zero)

    def _damped(self, known: Snapshot, holding: np.ndarray, period: float) -> Needed:
        self.compensation.end(known.now.steady)
        self.last_motion = self._motions.held(known.singles)
        self.last_guiding = self._zero
        if known.is_fresh:
            self.last_guiding = self.braking.effort(
                self.last_motion.q, known.velocities, period)
        effort = holding + self.last_guiding
        return Needed(
            effort, np.where(self._alone, effort, 0.0), holding, holding, brakes=True)

    def _gravity(self, known: Snapshot, holding: np.ndarray, period: float) -> Needed:
        model = self._model(
            self._motions.at_rest(known.singles), known,
            self._settings.wrench_in_gravity_compensation)
        guiding = None
        if self._is_guided:
            q = self._motions.held(known.singles).q
            self.damping_share = self._stable_damping.share(q, period)
            guiding = self.guiding.effort(
                np.array((known.positions, known.measured_velocities)), self.damping_share)
        if guiding is None:
            return Needed(model, np.where(self._alone, holding, 0.0), holding, model)
        limits = np.maximum(self._allowed, np.abs(model))  # ~/terms has what is sent
        self.last_guiding = np.clip(model + guiding, -limits, limits) - model
        free = np.where(self._alone, holding + self.last_guiding, 0.0)
        return Needed(model + self.last_guiding, free, holding, model, brakes=True)

    def _feedforward(
            self, state: State, target: Target, known: Snapshot, holding: np.ndarray) -> Needed:
        self._set_other_joints(known)
        model = self._model(self._motions.desired(target), known, state.follows)
        return Needed(model, np.where(self._alone, holding, 0.0), holding, model)

    def _with_feedback(
            self, feedback: StateFeedback, state: State, target: Target, known: Snapshot,
            holding: np.ndarray, weight: float, largest_error: np.ndarray) -> Needed:
        measured = np.array((known.positions, known.measured_velocities))
        correction = feedback.acceleration(
            target.present[0], target.present[1], measured[0], measured[1], largest_error,
            weight, feedback.gains(
                self._gains, known.now.steady, self._settings.blend_time))
        self._set_other_joints(known)
        motion = self._motions.corrected(target, measured, correction, weight)
        effort = self._model(motion, known, state.follows)
        correcting = self.braking.inertia(motion.q, correction)
        free = np.where(self._alone, holding + correcting, 0.0)
        return Needed(effort, free, holding, holding)

    def _model(self, motion: RobotMotion, known: Snapshot, compensates: bool) -> np.ndarray:
        """Return the effort of a motion with the wrenches on it, shape (joints,)."""
        now = known.now.steady
        weight = self.compensation.fade(compensates, now)
        wrenches = self._wrenches.on_bodies(now) if weight else None
        if wrenches is None:
            self.compensation.is_limited = None
        else:
            wrenches *= weight
            motion = motion._replace(
                wrenches=self.compensation.within_share(motion.q, wrenches))
        self.last_motion, self.last_guiding = motion, self._zero
        return self.of_robot.effort(motion, self._tau)[self._controlled].copy()

    def _slowed_down(self, needed: Needed, known: Snapshot, period: float) -> Needed:
        """Return an effort that also brakes joints which are too fast for the end of a range."""
        if not self._bounds.may_matter(known.positions, known.measured_velocities):
            return needed
        excess = self._bounds.excess(known.positions, known.measured_velocities)
        if not excess.any():
            return needed
        q = self._motions.held(known.singles).q
        braking = self.braking.effort(q, excess, period)
        self.last_guiding = self.last_guiding + braking
        return needed._replace(effort=needed.effort + braking, free=needed.free + braking)

    def _set_other_joints(self, known: Snapshot) -> None:
        if len(known.singles) > self._count:
            self._motions.set_other_joints(known.singles[self._count:], known.other_velocities)
