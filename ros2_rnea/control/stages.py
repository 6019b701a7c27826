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
"""The stages of the cycle, made from a robot and settings, over one memory."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_rnea.control.decision import Cause, Instant, Status
from ros2_rnea.control.inputs.cycle_period import CyclePeriod
from ros2_rnea.control.inputs.dead_man_switch import DeadManSwitch
from ros2_rnea.control.inputs.external_effort import ExternalEffort
from ros2_rnea.control.inputs.joint_states import JointStates
from ros2_rnea.control.inputs.measured_gravity import MeasuredGravity
from ros2_rnea.control.inputs.plausibility import Plausibility
from ros2_rnea.control.inputs.snapshot import Snapshot
from ros2_rnea.control.inputs.wrenches import ExternalWrenches
from ros2_rnea.control.judgement import Judgement
from ros2_rnea.control.law.feedback_check import (
    judge_again,
    lasting_instability,
    unstable_feedback,
)
from ros2_rnea.control.law.law import Law
from ros2_rnea.control.memory import Memory
from ros2_rnea.control.output.effort_limits import effort_limits, share_of
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.output.output import Output
from ros2_rnea.control.output.start_effort import Start, StartRule
from ros2_rnea.control.robot_joints import RobotJoints
from ros2_rnea.control.settings import Mode, OnStop, Settings, StartFrom
from ros2_rnea.control.target.motion import Motion, Target
from ros2_rnea.control.trips import Trips

MIN_TO_REPORT = 5e-4
"""Smallest difference of a held effort from that of ``on_stop`` that is reported [Nm or N]."""


class Stages:
    """
    What the cycle calls, and what it needs to know apart from the memory.

    :param joints: of the robot.
    :param settings: that are used.
    :param memory: with which the stages go on; it is changed.
    :param judgement: of the same robot.
    """

    def __init__(
            self, joints: RobotJoints, settings: Settings, memory: Memory,
            judgement: Judgement | None = None) -> None:
        self.joints = joints
        self.settings = settings
        robot, controlled = joints.robot, joints.controlled
        self._count = len(controlled)
        self._single_count = self._count + len(joints.others)
        self.judgement = judgement or Judgement(joints, np.full(self._single_count, np.nan))
        self.defects = self.judgement.limit_defects(settings)
        limits = effort_limits(robot, settings)[joints.motions.controlled]
        self.limits = np.zeros(self._count) if self.defects else limits
        self.allowed = share_of(self.limits, settings.effort_limit_factor)
        self.alone = np.array([name not in settings.held_by_others for name in controlled])
        bounds = JointBounds(
            joints.bounds, settings.position_limit_margin, settings.velocity_limit_factor,
            settings.braking_time)
        self.output = Output(self.allowed, settings, bounds, self.alone)
        self.law = Law(joints, settings, self.alone, self.allowed, bounds)
        self.command_scale = np.array([
            settings.command_scale.get(name, 1.0) for name in controlled])
        self._start_rule = StartRule(
            settings.start_from, settings.arm, controlled, self.command_scale,
            settings.lacking_terms, settings.assumes_other_gravity)
        self.go_on(memory)

    def go_on(self, memory: Memory) -> None:
        """
        Go on with a memory.

        It takes no longer than a swap of models between two cycles may.

        :param memory: of the same joints; it gets what a stage begins with.
        """
        joints, settings = self.joints, self.settings
        robot, controlled = joints.robot, joints.controlled
        # What is known.
        self.plausibility = Plausibility(joints.measured, joints.plausible, memory.plausibility)
        self.plausibility.set_speed_factor(settings.plausible_speed_factor or 1.0)
        self.states = JointStates(
            controlled, joints.measured[self._count:], settings.state_timeout,
            self.plausibility if settings.plausible_speed_factor else None,
            joints.wrapping, memory=memory.joints)
        self.dead_man_switch = DeadManSwitch(
            settings.dead_man_button, settings.dead_man_timeout, memory.dead_man)
        self.wrenches = ExternalWrenches(robot.tree, settings.wrenches, memory.wrenches)
        if not settings.gravity_from_imu:
            memory.gravity = None
        self.measured_gravity = MeasuredGravity(
            settings.gravity_time_constant, settings.gravity, settings.gravity_tolerance,
            memory=memory.gravity)
        self.external = ExternalEffort(
            robot, controlled, joints.index_map, joints.motions.controlled, memory.external)
        if settings.observe_external_effort:
            self.external.use(settings, self.limits)
        self.singles = self.states.positions[:self._single_count]
        self.judgement.positions = self.singles
        memory.plausibility, memory.joints = self.plausibility.memory, self.states.memory
        memory.dead_man, memory.wrenches = self.dead_man_switch.memory, self.wrenches.memory
        memory.gravity, memory.external = self.measured_gravity.memory, self.external.memory
        # What is wanted, and what is needed for it.
        self.motion = Motion(
            controlled, joints.continuous, joints.turns, settings, memory.motion)
        self.law.go_on(self.wrenches, memory.wrench_fade, memory.gains)
        # What stops it.
        self.trips = Trips(
            controlled, [body.limits for body in joints.bodies], settings, self.alone,
            np.where(np.isinf(self.motion.tolerances), inf, self.motion.largest_error),
            memory.trips)
        self._instability = memory.instability
        judge_again(self._instability, settings, controlled, memory.period)

    # ---- known --------------------------------------------------------------------------------

    def known(self, now: Instant) -> Snapshot:
        """Return what is known at a time."""
        states, n = self.states, self._count
        measured = states.measured
        without = states.without_velocity()
        velocities, has_velocity = measured[1, :n], True
        if without:
            estimated = states.estimated_velocities[:n]
            has_velocity = not np.isnan(estimated).any()
            velocities = np.nan_to_num(estimated)
        return Snapshot(
            now, states.is_fresh(now.steady), states.age(now.steady), measured[0, :n],
            measured[1, :n], velocities, has_velocity, without, self.singles,
            states.fresh_velocities(now.steady)[n:self._single_count],
            not self.settings.gravity_from_imu or not self.measured_gravity.is_lost(
                now.steady, self.settings.imu_timeout))

    def reason_to_stop(self, known: Snapshot) -> Cause | None:
        """Return why nothing is to be sent where nobody stops the arm; None: efforts are due."""
        if self.defects:
            return Cause(Status.NO_EFFORT_LIMIT, self.defects.names, self.defects.text)
        if not known.is_fresh:
            return self._without_state(known)
        unknown = self.judgement.unknown_positions()
        if unknown:
            return Cause(
                Status.UNKNOWN_POSITION, unknown, self.judgement.remedy(unknown[0]))
        if self.settings.mode is Mode.COMPUTED_TORQUE and known.without_velocity:
            return Cause(Status.UNKNOWN_VELOCITY, known.without_velocity)
        return None

    def stopped_by_somebody(self, now: Instant) -> Cause | None:
        """Return by what somebody has stopped the arm; None: nobody has."""
        settings, is_pressed = self.settings, self.dead_man_switch.allows(now.steady)
        if not settings.enabled:
            return Cause(
                Status.DISABLED if settings.may_be_enabled else Status.NOT_ALLOWED)
        return None if is_pressed else Cause(Status.RELEASED, detail=(
            f'button {settings.dead_man_button} of the topic joy has to be pressed'))

    def _without_state(self, known: Snapshot) -> Cause:
        never = self.states.unmeasured()
        if never:
            return Cause(Status.WAITING, never)
        stale = self.states.stale(known.now.steady)
        repeated = [name for name in self.states.repeated() if name in stale]
        if repeated:
            return Cause(Status.STALE, stale, (
                f'the driver repeats one position and one velocity that is not zero for '
                f'{", ".join(repeated)}: it has lost the hardware, or does not read it'))
        return Cause(Status.STALE, stale, (
            f'none for {known.age:.2g} s, and state_timeout is '
            f'{self.settings.state_timeout:g} s: the driver has stopped, or it or this computer '
            'is too slow'))

    def obstacle(self, known: Snapshot, period: CyclePeriod) -> Cause | None:
        """
        Return why no effort can begin now, although efforts are wanted; None: one can.

        :param period: of the cycle.
        """
        if self.states.conflict:
            return Cause(Status.TWO_SOURCES, detail=self.states.conflict)
        if not known.is_gravity_known:
            return Cause(Status.IMU_LOST, detail=self._imu_loss(known.now))
        infinite = self.judgement.not_finite(self.settings, self.gravity)
        if infinite:
            return Cause(Status.NOT_FINITE, infinite)
        overload = self.judgement.overloads(self.settings, self.gravity)
        if overload:
            return Cause(Status.OVERLOADED, tuple(overload), '; '.join(overload.values()))
        unstable = unstable_feedback(self.settings, self.joints.controlled, period)
        return Cause(Status.UNSTABLE_GAINS, detail=unstable) if unstable else None

    def _imu_loss(self, now: Instant) -> str:
        """Return, for people, why gravity is not measured any more."""
        return self.measured_gravity.explain_loss(now.steady, self.settings.imu_timeout)

    def unstable_feedback(self, period: CyclePeriod, now: float) -> Cause | None:
        """
        Return why the feedback has become unstable, after it has been so for a while.

        :param period: of the cycle.
        :param now: on the steady clock [s].
        """
        reason = lasting_instability(
            self._instability, self.settings, self.joints.controlled, period, now)
        return Cause(Status.UNSTABLE_GAINS, detail=reason) if reason else None

    @property
    def instability(self) -> str:
        """Return why the gains are too high for the measured period; empty: they are not."""
        return self._instability.reason

    @property
    def gravity(self) -> np.ndarray:
        """Return the acceleration of free fall in the root link's axes, shape (3,) [m/s^2]."""
        if self.settings.gravity_from_imu:
            return self.measured_gravity.vector
        return np.array(self.settings.gravity)

    # ---- wanted -------------------------------------------------------------------------------

    def wanted(self, known: Snapshot, memory: Memory, stop: Cause | None) -> Target:
        """Return what is wanted at a time."""
        supervisor = memory.supervisor
        resting = self.motion.resting
        if self.settings.mode is Mode.GRAVITY_COMPENSATION:
            if known.is_gravity_known:
                return resting(Status.GRAVITY, known.positions)
            return resting(
                Status.IMU_LOST, known.positions, detail=self._imu_loss(known.now))
        if stop is not None or supervisor.latch is not None:
            return resting(Status.NO_TRAJECTORY, known.positions)
        if not known.is_gravity_known:
            return resting(Status.IMU_LOST, known.positions, detail=self._imu_loss(known.now))
        return self.motion.target(
            known.now, known.positions, supervisor.state, supervisor.status)

    # ---- sent ---------------------------------------------------------------------------------

    def start(self, memory: Memory, known: Snapshot) -> Start:
        """Return from which effort the first command starts, or why that is not known."""
        velocities = known.measured_velocities.copy()
        velocities[[name in known.without_velocity for name in self.joints.controlled]] = np.nan
        evidence = memory.evidence
        if memory.starts_anew:
            evidence = evidence._replace(is_own=False)
        return self._start_rule.start(
            evidence, velocities, self.states.efforts[:self._count],
            lambda: self.law.holding(known.singles))

    def forget_if_disabled(self, memory: Memory, status: Status) -> None:
        """Forget the last effort where it may be another one when the node is enabled again."""
        is_over = status in (Status.DISABLED, Status.NOT_ALLOWED)
        if is_over and self.settings.start_from in (StartFrom.GRAVITY, StartFrom.MEASURED):
            memory.sent.forget()
            memory.starts_anew = True

    def stop_effort(self) -> np.ndarray:
        """Return the effort of ``on_stop`` at the measured positions, shape (joints,)."""
        from_gravity = self.output.saturated(self.law.holding(self.singles))
        return from_gravity if self.settings.on_stop is OnStop.GRAVITY else (
            np.zeros_like(from_gravity))

    def what_was_cut_short(self, memory: Memory, known: Snapshot) -> str:
        """Return which joints have not reached the effort of ``on_stop``, and what is held."""
        sent = memory.sent
        if not sent.has_sent or self.judgement.unknown_positions():
            return ''
        lacking = ', '.join(
            f'{name} {held:.3f} instead of {effort:.3f}'
            for name, held, effort in zip(
                self.joints.controlled, sent.effort.tolist(), self.stop_effort().tolist())
            if abs(held - effort) > MIN_TO_REPORT)
        is_late = sent.is_late or not memory.has_sent_stop_effort or (
            known.now.steady < memory.hand_over.end) or (
            self.settings.on_stop is OnStop.ZERO and not memory.releases)
        return lacking if not lacking else (
            f'the final fade was cut short: a controller without a timeout holds {lacking} '
            '[Nm or N]') if is_late else ''

    def without_help(self, status: Status) -> str:
        """Return which joints have no help in guiding, since their velocity is not measured."""
        if status is not Status.GRAVITY:
            return ''
        unknown = self.law.guiding.helped_by_velocity.intersection(
            self.states.without_velocity())
        return '' if not unknown else (
            'no damping nor friction assistance of ' + ', '.join(sorted(unknown))
            + ', whose velocity is not in joint_states')
