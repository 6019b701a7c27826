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
"""The decision of each cycle: which effort is sent, or why none is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from ros2_rnea.adjustable_robot import AdjustableRobot
from ros2_rnea.control.contact import Contact
from ros2_rnea.control.decision import Decision, Instant, SentTerms, Status
from ros2_rnea.control.holding import check_settings, controlled_joints, Holding
from ros2_rnea.control.inputs.dead_man_switch import DeadManSwitch
from ros2_rnea.control.inputs.external_effort import ExternalEffort, MeasuredMotion
from ros2_rnea.control.inputs.joint_index_map import (
    joint_body,
    JointIndexMap,
    single_joints,
)
from ros2_rnea.control.inputs.joint_states import JointStates, MeasuredJoints
from ros2_rnea.control.inputs.measured_gravity import MeasuredGravity
from ros2_rnea.control.inputs.plausibility import Plausibility
from ros2_rnea.control.inputs.state_ages import check_age
from ros2_rnea.control.inputs.wrenches import ExternalWrenches
from ros2_rnea.control.law.effort_law import EffortLaw, RobotMotion
from ros2_rnea.control.law.friction_check import FrictionShares, reason_to_refuse
from ros2_rnea.control.law.guiding import Guiding
from ros2_rnea.control.law.motion_buffers import MotionBuffers
from ros2_rnea.control.law.state_feedback import StateFeedback
from ros2_rnea.control.law.wrench_compensation import WrenchCompensation
from ros2_rnea.control.output.effort_limiter import EffortLimiter
from ros2_rnea.control.output.effort_limits import (
    effort_limits,
    raised_limits,
    share_of,
)
from ros2_rnea.control.output.effort_ramp import EffortRamp
from ros2_rnea.control.output.final_fade import FinalFade
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.output.start_effort import Evidence, StartRule
from ros2_rnea.control.settings import ContactReaction, Mode, OnStop, Settings, StartFrom
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.control.target.desired_motion import DesiredMotion
from ros2_rnea.control.target.desired_state import DesiredState, DEVIATIONS
from ros2_rnea.control.target.planned_motion import MotionStart
from ros2_rnea.control.target.trajectory import TrajectoryCommand
from ros2_rnea.control.transitions import FOLLOWED, INTERRUPTED, TRACKED, Transitions
from ros2_rnea.errors import (
    ArgumentError,
    did_you_mean,
    MessageError,
    TrajectoryError,
    UnsafeChangeError,
)
from ros2_rnea.model.tree import BASE, Body
from ros2_rnea.results import EffortTerms
from ros2_rnea.robot import Robot


class FeedforwardPolicy:
    """
    The feedforward of one robot with one set of settings, without ROS and without a clock.

    It accepts the content of messages and returns one :class:`.Decision` per cycle.  The caller
    passes the time to every method, so that tests and simulations run at any speed.

    :param robot: the model.  An :class:`.AdjustableRobot` belongs to the policy from now on, which
        replaces its gravity; of another robot the policy makes an adjustable copy.
    :param settings: they are checked against the robot.
    :ivar robot: the model with its present gravity, payloads and joint parameters.
    :ivar snapshot: what the robot in use is made from; it is replaced once for each change that
        is in use.  Other threads read this and not the robot, which also changes for a moment
        while it is judged whether the arm would be held after a change.
    :ivar settings: those in use.
    :ivar requested: those that were set last.  They are used after the final fade where they
        disable, and the arm would fall with them meanwhile.
    :ivar evidence: what is known outside about the effort that the actuators hold, for the first
        command; by default nothing is held, as in a simulation that begins.
    :ivar start_reason: for people: from which effort the first command started, and why.
    :ivar gravity: the present acceleration of free fall in the root link's axes, shape (3,)
        [m/s^2].
    :ivar external: what the environment exerts on the robot, as far as :meth:`observe` is called.
    :ivar controlled: the names of the controlled joints, in the order of all efforts that are
        passed or returned, shape (joints,) [Nm or N].
    :ivar states: the measured joints.
    :ivar motion: the desired motion.
    :ivar wrenches: those that are measured at links.
    :ivar measured_gravity: gravity from the imu.
    :ivar has_driven: whether somebody has received an effort for this robot.
    :raises ArgumentError: where a setting does not fit the robot.
    """

    def __init__(self, robot: Robot, settings: Settings) -> None:
        check_settings(robot, settings)
        self.robot = (
            robot if isinstance(robot, AdjustableRobot) else AdjustableRobot.of(robot))
        self.controlled = controlled_joints(robot, settings)
        others = tuple(name for name in single_joints(robot) if name not in self.controlled)
        self._bodies = [joint_body(robot, name) for name in self.controlled]
        self._continuous = [body.type.wraps for body in self._bodies]
        n = len(self.controlled)
        # State: the measured joints, and their indices in the robot's vectors.
        self._index_map = JointIndexMap(
            robot, (*self.controlled, *others), settings.assumed_positions)
        self.states = JointStates(
            self.controlled, (*others, *robot.tree.mimics), settings.state_timeout)
        measured_bodies = [self._measured_body(name) for name in self.states.names]
        self._plausibility = Plausibility(
            self.states.names, [body.limits for body in measured_bodies],
            [body.type.wraps for body in measured_bodies])
        self._dead_man_switch = DeadManSwitch()
        self._measured = self.states.measured[:, :n]  # a view: the controlled joints
        self._measured_q = self._measured[0]
        self._single_count = n + len(others)
        self._singles = self.states.positions[:self._single_count]  # likewise: no mimics
        # Reference: the desired motion.
        self.motion = DesiredMotion(
            self.controlled, self._continuous, settings.hold_tolerance, settings.rules,
            settings.controller_state_timeout)
        # Effort: inverse dynamics and all limits.
        self._law = EffortLaw(self.robot, settings.sent_terms, settings.arm_gravity)
        self._motions = MotionBuffers(self._index_map, n)
        self._holding = Holding(
            self.robot, self.controlled, self._index_map, self._singles, self._motions)
        self._friction_shares = FrictionShares(
            self.robot, self._bodies, self._motions.controlled)
        self._compensation = WrenchCompensation(self.robot, self._motions.controlled)
        self._guiding = Guiding(self.robot, self.controlled, self._motions.controlled)
        self._guiding_effort: np.ndarray | None = None
        self.external = ExternalEffort(
            self.robot, self.controlled, self._index_map, self._motions.controlled)
        self._ramp = EffortRamp(self.controlled, inf)
        self._final_fade = FinalFade(self._ramp)
        self._contact = Contact(self._ramp, self._final_fade)
        self.evidence = Evidence()
        self.start_reason = ''
        self._starts_anew = False  # whether the last command may not be held any more
        self._started_anew = False  # the same before the last decision
        self.has_driven = False  # see note_driven()
        self._tau, self._held_tau = np.zeros((2, robot.nv))
        self._cut_short = ''  # what the last final fade did not reach
        self._transitions = Transitions()
        self._last_motion = self._motions.held(self._singles)
        self._lacked_at = -inf  # when efforts last lacked a part of another model
        self._may_be_far = False  # whether feedback tracks a motion that it was not near yet
        self._feedback: StateFeedback | None = None
        self.requested = settings
        self._use(settings)
        self.take_snapshot()

    def _measured_body(self, joint: str) -> Body:
        """Return the body that a joint moves, also one that follows another joint."""
        tree = self.robot.tree
        return tree.bodies[tree.mimics[joint] if joint in tree.mimics else tree.joints[joint]]

    def _use(self, settings: Settings) -> None:
        """Set everything that follows from the settings, without the state it had before."""
        self.settings = settings
        self.states.timeout = settings.state_timeout
        self._shortest_gap = GAP_SHARE * settings.state_timeout
        self.states.plausibility = None
        if settings.plausible_speed_factor:
            self.states.plausibility = self._plausibility
            self._plausibility.set_speed_factor(settings.plausible_speed_factor)
        self._dead_man_switch.use(settings.dead_man_button, settings.dead_man_timeout)
        self.wrenches = ExternalWrenches(self.robot.tree, settings.wrenches)
        self._use_gravity_of(settings)
        self.motion.hold_tolerance = settings.hold_tolerance
        self.motion.fade_time = settings.blend_time
        parameters = [
            'path_tolerance' if body.type.turns_about_axis else 'path_tolerance_prismatic'
            for body in self._bodies]
        self.motion.path.set_tolerances(
            np.array([getattr(settings, name) or inf for name in parameters]), parameters)
        self.motion.rules = settings.rules
        self.motion.controller.timeout = settings.controller_state_timeout
        had_feedback, self._feedback = self._feedback is not None, None
        if settings.mode is Mode.COMPUTED_TORQUE:
            self._may_be_far = self._may_be_far or not had_feedback
            self._feedback = StateFeedback(
                self.controlled, settings.position_gains, settings.velocity_gains,
                self._continuous)
        else:
            self.motion.keeps_tracking = False
        self._law.set_terms(settings.sent_terms, settings.arm_gravity)
        self._defects = self._holding.limit_defects(settings)
        limits = effort_limits(self.robot, settings)[self._motions.controlled]
        if self._defects:
            limits[:] = 0.0  # nothing is sent
        self._limits = limits
        self._allowed = share_of(limits, settings.effort_limit_factor)
        self._ramp.use_effort_limits(self._allowed, settings.effort_rate_limit)
        self._compensation.limits = share_of(self._allowed, settings.wrench_effort_share)
        self._compensation.fade_time = settings.wrench_fade_time
        self._command_scale = np.array([
            settings.command_scale.get(name, 1.0) for name in self.controlled])
        self._start = StartRule(
            settings.start_from, settings.arm, self.controlled, self._command_scale,
            settings.lacking_terms, settings.assumes_other_gravity)
        self._limiter = EffortLimiter(
            self._allowed,
            settings.beyond_limits,
            JointBounds([body.limits for body in self._bodies],
                        settings.position_limit_margin, settings.velocity_limit_factor),
            self._ramp)
        self._guiding.use(settings)
        if settings.observe_external_effort:
            self.external.use(settings, limits)
        if not self.reacts_to_contacts:
            self.end_contact()
        self._gravity_only = settings.mode is Mode.GRAVITY_COMPENSATION

    def _use_gravity_of(self, settings: Settings) -> None:
        """Use the gravity of settings, until the imu measures another one."""
        self.measured_gravity = MeasuredGravity(
            settings.gravity_time_constant, settings.gravity, settings.gravity_tolerance)
        self.gravity = np.array(settings.gravity)
        self.robot.set_gravity(self.gravity)

    # ---- changes at run time --------------------------------------------------------------------

    def can_change_to(self, settings: Settings) -> bool:
        """Return whether settings are about the same joints, so that no other policy is needed."""
        return (settings.joints == self.settings.joints
                and settings.assumed_positions == self.settings.assumed_positions)

    def change_settings(self, settings: Settings, duration: float | None = None) -> None:
        """
        Use other settings from now on; states, motion, wrenches and the last effort are kept.

        Settings that disable, and with which the final fade would let the arm fall, are used in
        full as soon as no effort is sent any more.

        :param settings: about the same joints, see :meth:`can_change_to`.
        :param duration: how long the difference in effort takes to fade [s]; None: as the new
            settings say.
        :raises ArgumentError: as :meth:`check_change` does; then nothing changes.
        """
        self.check_change(settings)
        self.requested = settings
        is_to_end = self._ramp.is_sending and not settings.enabled
        if is_to_end and self._holding.reason_to_refuse(
                settings, self._gravity_with(settings), self.overload()):
            settings = replace(
                self.settings, enabled=False, may_be_enabled=settings.may_be_enabled,
                on_stop=settings.on_stop)
        self._change_to(settings)
        self.blend(duration, of_model=True)

    def reset_settings(self, settings: Settings) -> None:
        """
        Use other settings in a policy that has decided nothing yet.

        Only what it has measured of the joints stays.  Making another policy takes a millisecond
        for thirty joints.

        :param settings: about the same joints, see :meth:`can_change_to`.
        :raises ArgumentError: where they do not fit the robot; then nothing changes.
        """
        check_settings(self.robot, settings)
        self.requested = settings
        self._feedback, self._may_be_far = None, False
        self._use(settings)
        self.take_snapshot()

    def _change_to(self, settings: Settings) -> None:
        """Use other settings, and keep what has been measured."""
        wrenches, gravity, from_imu = (
            self.wrenches, self.measured_gravity, self.settings.gravity_from_imu)
        self._use(settings)
        self.wrenches.adopt(wrenches)
        if from_imu and settings.gravity_from_imu:
            self.measured_gravity.adopt(gravity)
            self._use_measured_gravity()
        self.take_snapshot()

    def take_snapshot(self) -> None:
        """Let other threads read the robot as it is now; to be called after each change of it."""
        self.snapshot = self.robot.snapshot()

    def check_change(self, settings: Settings) -> None:
        """
        Check that other settings fit the robot, and that it is still held with them.

        :raises ArgumentError: where one does not fit the robot.
        :raises UnsafeChangeError: where efforts are being sent and shall be, and with these
            settings none could be, or less than what holds a joint where it is.
        """
        check_settings(self.robot, settings)
        if settings.command_scale != self.settings.command_scale:
            raise ArgumentError(
                'command_scale cannot change at run time, because the command that a drive holds '
                'would be taken in another unit; restart the node')
        if settings.enabled:
            self.check_overload(self.overload(), settings)
            if self._ramp.is_sending:
                self._check_velocities(settings, self._feedback is not None)
                if settings.sent_terms is not self.settings.sent_terms:
                    self.check_friction(self.friction_shares(), settings)

    def _check_velocities(self, settings: Settings, had_feedback: bool) -> None:
        """Check that feedback, which needs velocities, would not end what is sent now."""
        without = self.states.without_velocity()
        if without and settings.mode is Mode.COMPUTED_TORQUE and not had_feedback:
            raise UnsafeChangeError(
                f'mode is {settings.mode.value!r}, which needs the velocity of joint '
                f'{without[0]!r}, and joint_states does not contain it. Efforts are being sent, '
                'and would end: choose another mode, or set enabled to false first')

    def check_finite(self, settings: Settings | None = None) -> None:
        """
        Check that an effort can be computed where the joints are, or at 0 where that is unknown.

        Otherwise gravity, a mass or a payload of 1e308 would be accepted, and nothing sent.

        :param settings: in place of those in use.
        :raises ArgumentError: naming the first joint whose effort is not a finite number.
        """
        chosen = settings or self.settings
        self._holding.check_finite(chosen, self._gravity_with(chosen))

    def check_overload(
            self, before: Mapping[str, float], settings: Settings | None = None) -> None:
        """
        Check that a change has not added to what the motors cannot hold.

        :param before: the :meth:`overload` before the change.
        :param settings: in place of those in use.
        :raises ArgumentError: as :meth:`check_finite` does.
        :raises UnsafeChangeError: where efforts are being sent, and it has.
        """
        chosen = settings or self.settings
        if self._ramp.is_sending:
            self._holding.check(chosen, self._gravity_with(chosen), before)
        else:
            self.check_finite(chosen)

    def check_friction(
            self, before: Mapping[str, float], settings: Settings | None = None) -> None:
        """
        Check that a change does not let a joint be driven by friction with all its effort.

        See :mod:`.friction_check`.

        :param before: the :meth:`friction_shares` before the change.
        :param settings: in place of those in use.
        :raises UnsafeChangeError: where efforts are being sent, and friction that has become
            larger needs more than the effort limit of a joint up to half its velocity limit.
        """
        if self._ramp.is_sending:
            self._check_friction(before, settings)

    def _check_friction(
            self, before: Mapping[str, float], settings: Settings | None = None) -> None:
        reason = reason_to_refuse(self.friction_shares(settings), before)
        if reason:
            raise UnsafeChangeError(reason)

    def overload(self) -> dict[str, float]:
        """
        Return by how much gravity exceeds the effort limit of each joint where it is [Nm or N].

        It is 0 for a joint that is held, and for all joints while nothing is being sent.
        """
        if not self._ramp.is_sending or self._holding.unknown_positions():
            return dict.fromkeys(self.controlled, 0.0)
        return self._holding.excess(self.settings, self.gravity)

    def _gravity_with(self, settings: Settings) -> np.ndarray:
        """Return the gravity that would be used with some settings, shape (3,) [m/s^2]."""
        if settings.gravity_from_imu and self.settings.gravity_from_imu:
            return self.gravity  # as measured
        return np.array(settings.gravity)

    def blend(
            self, duration: float | None = None, at_least: float = 0.0, of_model: bool = False,
            ) -> None:
        """
        Blend from the last effort to the next, as after a change of the robot's parameters.

        A transition that has begun is not made shorter.  A final fade is not made longer, and the
        fade of an effort that presses in a contact only by a ``duration`` that is asked for.

        :param duration: of the transition [s]; None: as the settings say.
        :param at_least: the remaining time of an earlier policy's transition [s].
        :param of_model: whether the effort of the model may have changed, so that what is still
            blended looks like an external effort.
        """
        chosen = self.settings.blend_time if duration is None else duration
        remaining = max(at_least, self._ramp.remaining)
        is_allowed = self._contact.allows_blend(remaining, is_asked=duration is not None)
        if self._final_fade.is_active or not is_allowed:
            chosen = 0.0  # what fades has to end in time
        self._ramp.blend(max(chosen, remaining), of_model)

    # ---- input ----------------------------------------------------------------------------------

    def continue_from(self, previous: FeedforwardPolicy, duration: float | None = None) -> None:
        """
        Continue from the states, motion, wrenches and sent effort of the previous policy.

        :param duration: duration of the blend between their efforts [s]; None: the
            settings' ``blend_time``.
        :raises ArgumentError: where no finite effort holds the joints where they are.
        :raises UnsafeChangeError: where the previous policy is sending efforts, and this one could
            send none, or less than what holds a joint where it is, or friction that
            :meth:`check_friction` refuses.  Then the previous one has to go on, so that a robot
            which cannot be driven does not decide what is held.  It does so with its own gravity,
            also where both policies have the same robot.
        """
        self.states.adopt(previous.states)
        same_root = previous.robot.tree.root == self.robot.tree.root
        if previous.settings.gravity_from_imu and self.settings.gravity_from_imu and same_root:
            self.measured_gravity.adopt(previous.measured_gravity)
            self._use_measured_gravity()
        try:
            if previous.is_sending:
                self._check_velocities(self.settings, previous._feedback is not None)
                self._holding.check(self.settings, self.gravity, previous.overload())
                self._check_friction(previous.friction_shares())
            else:
                self.check_finite()
        except ArgumentError:
            self._use_gravity_of(self.settings)
            previous.robot.set_gravity(previous.gravity)  # both may have the same robot
            raise
        if previous.controlled == self.controlled:
            self.motion.adopt(previous.motion)
            self.motion.keeps_tracking = (
                previous.motion.keeps_tracking and self._feedback is not None)
            self._transitions.adopt(previous._transitions)
            if previous._feedback is not None:
                self._may_be_far = previous._may_be_far
        self.wrenches.adopt(previous.wrenches)
        self.external.adopt(previous.external)
        self._contact.adopt(previous._contact)
        self.evidence = previous.evidence
        self._starts_anew = previous._starts_anew
        self.has_driven = previous.has_driven and previous.robot.name == self.robot.name
        self._dead_man_switch.adopt(previous._dead_man_switch)
        self._ramp.adopt(previous._ramp)
        self._final_fade.adopt(previous._final_fade)
        self._cut_short = previous._cut_short
        self.take_snapshot()
        self.blend(duration, previous._ramp.remaining, of_model=True)
        if not self.reacts_to_contacts:
            self.end_contact()

    def reset_after_time_jump(self) -> None:
        """Discard motion and wrenches, whose times are no longer valid, and blend."""
        self.motion.clear()
        self.wrenches.forget()
        self._transitions.forget_gaps()
        self._ramp.forget_ended_blend()
        self._lacked_at = -inf
        self.blend()

    def discard_trajectory(self, now: Instant, step: float) -> bool:
        """
        Discard a trajectory whose clock was set, and blend; return whether there was one.

        Wrenches and the reference of a controller stay, because their ages are on a steady clock.

        :param now: the time after the clock was set.
        :param step: by how much it was set forward [s].
        """
        is_discarded = self.motion.discard_trajectory(now.ros, step)
        if is_discarded:
            self.blend()
        return is_discarded

    @property
    def has_start(self) -> bool:
        """Return whether the effort is known from which the next one starts."""
        return self._ramp.has_start

    def restart(self, has_efforts: bool = False) -> None:
        """
        Determine the start effort again from the evidence, because the receivers have changed.

        :param has_efforts: whether the last joint states came with the measured efforts.
        """
        if self._ramp.has_start:
            self._ramp.forget()
            if not has_efforts:
                self.states.efforts[:] = np.nan  # those of an earlier joint state

    def take_joint_state(self, measured: MeasuredJoints, now: Instant) -> bool:
        """
        Accept measured joints, and return whether a new effort is due.

        It is due where the message contains a controlled joint and all of them are fresh.

        :param measured: its efforts are needed only for :meth:`terms`, and without a start.
        :raises MessageError: where the message is refused.
        """
        before = self.states.oldest
        has_controlled = self.states.update(measured, now.steady)
        has_leapt = self._plausibility.has_leapt or self.states.plausibility is None
        if self._plausibility.has_believed:
            self._plausibility.has_believed = False
            self.blend()
        elif self.states.oldest - before > self._shortest_gap and self._transitions.end_gap(
                before, self.states.oldest, self.settings.blend_time):
            if has_leapt and not self._final_fade.is_active:
                self.blend()
        if self.states.oldest != before:  # not earlier: each publisher may report other joints
            self._plausibility.has_leapt = False
        return has_controlled and self.states.is_fresh(now.steady)

    def take_trajectory(self, command: TrajectoryCommand, now: Instant) -> None:
        """
        Follow a trajectory from now on.

        :raises TrajectoryError: where it cannot be followed; the present one then continues.
        """
        self.motion.follow(self.motion_start(now).planned(command), now.steady)

    def motion_start(self, now: Instant, age: float = 0.0) -> MotionStart:
        """
        Return what a trajectory that is read now starts from, to plan it in another thread.

        ``motion.follow`` begins the planned motion afterwards.

        :param age: time since its reception [s]; infinite: it is not known.
        :raises TrajectoryError: where there is no fresh state.
        """
        if not self.states.is_fresh(now.steady):
            raise TrajectoryError(
                'a trajectory starts from the measured state, and there is no fresh one')
        return self.motion.start(now, self._measured, age)

    def take_controller_state(
            self, reference: ControllerReference, now: Instant, age: float = 0.0) -> None:
        """
        Follow a controller's reference in place of any trajectory, for as long as it is fresh.

        :param age: time since the reception of the message [s]; infinite: it may be of any age.
        :raises MessageError: where it cannot be followed, or is too old.
        """
        check_age(age, self.settings.controller_state_timeout, 'controller_state_timeout')
        self.motion.take_reference(reference, now.steady - age)

    def take_wrench(
            self, frame: str, moment_force: Sequence[float], now: Instant, age: float = 0.0,
            ) -> None:
        """
        Accept a measured wrench.

        :param frame: the link in whose frame it is given.
        :param moment_force: about the frame's origin, shape (6,) [Nm, N].
        :param age: time since the reception of the message [s]; infinite: it may be of any age.
        :raises MessageError: where the frame or a value cannot be used, or it is too old.
        """
        check_age(age, self.settings.wrenches.timeout, 'wrench_timeout')
        free_fall = None
        if self.settings.wrench_tool_mass:
            free_fall = self._rotation(frame, now).T @ self.gravity
        self.wrenches.update(frame, moment_force, now.steady, free_fall, age)

    def zero_wrench(self, now: Instant) -> tuple[str, ...]:
        """
        Tare the sensors: take the present wrenches as bias, and return their frames.

        :raises RneaError: where no wrench is fresh.
        """
        frames = self.wrenches.zero(now.steady)
        self.blend()
        return frames

    def take_imu(
            self, frame: str, acceleration: Sequence[float], now: Instant, age: float = 0.0,
            ) -> None:
        """
        Accept an accelerometer's reading; it is ignored unless ``gravity_from_imu`` is set.

        :param frame: the link in whose axes the reading is given.
        :param acceleration: shape (3,) [m/s^2]; at rest it points up.
        :param age: time since the reception of the message [s]; infinite: it may be of any age.
        :raises MessageError: where it cannot be used, or is older than the joint states may be
            with which it is used.
        """
        if not self.settings.gravity_from_imu:
            return
        check_age(age, self.settings.state_timeout, 'state_timeout')
        is_first = self.measured_gravity.received == -inf
        self.measured_gravity.update(
            acceleration, self._rotation(frame, now), now.steady - age, frame)
        self._use_measured_gravity()
        self.take_snapshot()
        if is_first:
            self.blend(of_model=True)

    def take_buttons(self, buttons: Sequence[int], now: Instant, age: float = 0.0) -> None:
        """
        Accept the buttons of a joystick, of which one may be the dead-man switch.

        :param age: time since the reception of the message [s].
        :raises MessageError: where there is no such button, or the message is too old.
        """
        self._dead_man_switch.take(buttons, now.steady, age)

    def observe(self, now: Instant, time: float) -> None:
        """
        Observe the external effort at the measured state, and react to a contact as settings say.

        :param time: of the measured state, on any clock [s].
        """
        if not self.settings.observe_external_effort:
            return
        n, measures = len(self.controlled), not self._holding.unknown_positions()
        if not (measures and self.states.is_fresh(now.steady)):
            self.external.restart()
            return
        self.external.update(MeasuredMotion(
            self._singles, self.states.velocities[:self._single_count], self.states.efforts[:n],
            self.states.without_velocity(), time))
        if self.reacts_to_contacts and self._lacks_effort(now.steady):
            self._lacked_at = now.steady
        if self.external.contacts and self._can_react(now):
            self._contact.begin(self.external.contacts, self.settings.blend_time)
            self.motion.clear()

    @property
    def reacts_to_contacts(self) -> bool:
        """Return whether a contact can change what the next cycle decides."""
        return self.settings.contact_reaction is not ContactReaction.NONE

    def _can_react(self, now: Instant) -> bool:
        """Return whether a contact that begins now changes what is sent."""
        settings = self.settings
        observer_time = TIME_CONSTANTS / settings.external_effort_gain
        return (self.reacts_to_contacts and not self._gravity_only
                and self._contact.can_begin(now.steady, max(settings.blend_time, observer_time))
                and now.steady - self._lacked_at > observer_time)

    def _lacks_effort(self, now: float) -> bool:
        """
        Return whether the blend of another model looks like a contact.

        The model has a new payload at once, so that the part of its weight which the efforts do
        not hold yet looks like an external effort.  The reaction would send the whole weight at
        once, and throw the arm where the payload is not there yet.

        :param now: on the steady clock [s].
        """
        thresholds = self.settings.external_effort_threshold
        return any(lack > LACK_SHARE * thresholds.get(name, inf) for name, lack in zip(
            self.controlled, self._ramp.lack_of_model(now).tolist()))

    def end_contact(self) -> None:
        """
        Follow motions again that begin from now on, after the reaction to a contact.

        The reference of a controller, which has gone on meanwhile, is followed once it is near
        the measured state.
        """
        if self._contact.where:
            self._contact.end()
            self.external.restart()
            self.motion.clear()
            self.blend()

    def _use_measured_gravity(self) -> None:
        """Use the measured gravity for all efforts from now on."""
        self.gravity = self.measured_gravity.vector
        self.robot.set_gravity(self.gravity)

    def _rotation(self, frame: str, now: Instant) -> np.ndarray:
        """Return R with v_root = R v_frame at the measured positions, shape (3, 3)."""
        if frame not in self.robot.tree.links:
            raise MessageError(
                f'the frame {frame!r} is not a link of {self.robot.name!r}'
                f'{did_you_mean(frame, self.robot.tree.links)}')
        measured = self._singles
        if self.robot.tree.links[frame].body != BASE:  # no joint moves the base
            unknown = self._index_map.unknown(measured) or self.states.stale(now.steady)
            if unknown:
                raise MessageError(
                    f'the orientation of link {frame!r} depends on joint {unknown[0]!r}, which '
                    'has no fresh joint state')
        return self.robot.link_rotation(self._index_map.positions(measured), frame)

    # ---- output ---------------------------------------------------------------------------------

    def decide(self, now: Instant) -> Decision:
        """
        Return what to send now, and store it as sent.

        Where there is a reason to send nothing, the effort first fades to that of ``on_stop``,
        because the controller holds the last one.
        """
        decision = self._decide(now)
        if decision.effort is None:
            decision = self._fading_out(decision, now)
        return self._stored(decision)

    def decide_last(
            self, now: Instant, status: Status = Status.SHUT_DOWN, detail: str = '') -> Decision:
        """
        Return what to send while the effort of ``on_stop`` is approached.

        :param status: why nothing is sent afterwards: the node ends, or its cycle has failed.
        :param detail: the same for people, in more words.
        """
        return self._stored(self._fading_out(Decision(status, detail=detail), now))

    def withdraw(self) -> None:
        """Record that the effort of the last decision was not sent, so that nobody holds it."""
        self._ramp.withdraw()
        self._starts_anew = self._started_anew

    def effort_after_stop(self) -> dict[str, float]:
        """
        Return the effort by joint that a controller holds if nothing is sent from now on.

        It is that of ``on_stop`` if the effort first fades to it, else the one that was sent last.
        """
        held = self._ramp.sent
        if self._may_fade_out():
            held = self._limiter.saturated(self._stop_effort())
        return dict(zip(self.controlled, held.tolist()))

    def held_effort(self) -> dict[str, float]:
        """
        Return the effort that was sent last, by joint, which a controller holds [Nm or N].

        It is empty where none was sent, or where nobody holds it any more.
        """
        if not self._ramp.has_sent:
            return {}
        return dict(zip(self.controlled, self._ramp.sent.tolist()))

    def effort_to_hold(self, positions: np.ndarray) -> np.ndarray:
        """
        Return the effort that holds the controlled joints at rest, within the limits.

        :param positions: of the controlled joints, shape (joints,) [rad or m]; all others are as
            measured.
        :raises ArgumentError: where the position of another joint is not known.
        """
        singles = self._singles.copy()
        singles[:len(self.controlled)] = positions
        unknown = self._index_map.unknown(singles)
        if unknown:
            raise ArgumentError(
                f'the position of joint {unknown[0]!r} is not known: it is neither measured nor '
                'assumed')
        tau = self._law.effort(self._motions.held(singles), np.zeros(self.robot.nv))
        return self._limiter.saturated(tau[self._motions.controlled])

    def note_driven(self) -> None:
        """Note that somebody has received an effort for this robot."""
        self.has_driven = True

    @property
    def is_sending(self) -> bool:
        """Return whether the last cycle sent an effort."""
        return self._ramp.is_sending

    def terms(self, decision: Decision) -> SentTerms | None:
        """Return the terms of the last decision's effort; None where it sent none."""
        if decision.effort is None:
            return None
        of_robot, correcting = self._law.terms(self._last_motion)
        of_model = EffortTerms(*(term[self._motions.controlled] for term in of_robot))
        feedback = correcting[self._motions.controlled]
        if self._guiding_effort is not None:
            feedback = feedback + self._guiding_effort
        total = of_model.total + feedback
        measured = self.states.efforts[:len(self.controlled)].copy()
        saturated = rate_limited = restrained = np.zeros(len(self.controlled), dtype=bool)
        if decision.limited is not None:
            _, saturated, restrained, rate_limited = decision.limited
        return SentTerms(**{
            **of_model._asdict(), 'feedback': feedback, 'total': total, 'sent': decision.effort,
            'measured': measured, 'residual': self._residual(of_model, total, measured),
            'saturated': saturated, 'rate_limited': rate_limited, 'restrained': restrained})

    def _residual(
            self, of_model: EffortTerms, total: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Return the measured effort less what it should be; NaN where it is no effort."""
        lacking = self.settings.lacking_terms
        if lacking is None:
            return np.full_like(measured, np.nan)
        terms = of_model
        if self.settings.arm_gravity and 'gravity' in lacking:  # what the arm adds by itself
            gravity = self.robot.gravity(self._last_motion.q, self.settings.arm_gravity)
            terms = of_model._replace(gravity=gravity[self._motions.controlled])
        return measured - (total - sum(getattr(terms, name) for name in lacking))

    def in_drive_units(self, effort: np.ndarray) -> np.ndarray:
        """Return an effort times ``command_scale``, as it is commanded, shape (joints,)."""
        return effort * self._command_scale if self.settings.command_scale else effort

    def joints_limiting_wrenches(self) -> tuple[str, ...]:
        """Return the joints whose share of the effort limit reduced the wrenches last."""
        flags = self._compensation.is_limited
        return () if flags is None else tuple(
            name for name, flag in zip(self.controlled, flags.tolist()) if flag)

    def friction_shares(self, settings: Settings | None = None) -> dict[str, float]:
        """
        Return the largest friction that is sent as a share of the effort limit, by joint.

        See :class:`.FrictionShares`.  Where the arm adds friction by itself, or a limit is
        missing, there is none.

        :param settings: in place of those in use.
        """
        chosen = settings or self.settings
        if 'friction' in chosen.sent_terms.left_out or self._holding.limit_defects(chosen):
            return {}
        return self._friction_shares.of(
            effort_limits(self.robot, chosen)[self._motions.controlled])

    def raised_limits(self) -> dict[str, tuple[float, float]]:
        """Return the effort limits of the settings above those of the description, and these."""
        return raised_limits(self.robot, self.settings)

    def rotor_accelerations(self) -> dict[str, float]:
        """
        Return how fast the effort limit accelerates the rotor alone [rad/s^2 or m/s^2].

        There is one for each joint with an armature, by name.
        """
        armatures = [self.robot.tree.bodies[self.robot.tree.joints[name]].armature
                     for name in self.controlled]
        return {name: limit / armature for name, limit, armature in zip(
            self.controlled, self._limits.tolist(), armatures) if armature > 0.0 < limit}

    def mimic_deviations(self) -> dict[str, float]:
        """Return the deviations of mimic joints beyond ``mimic_tolerance``, by name [rad or m]."""
        deviations = {}
        bodies = self.robot.tree.bodies
        singles = self._singles
        if self._index_map.unknown(singles):
            return {}  # the followed joint may be one of them
        positions = self._index_map.positions(singles)
        for name, measured in zip(
                self.robot.tree.mimics, self.states.positions[self._single_count:]):
            body = bodies[self.robot.tree.mimics[name]]
            expected = body.multiplier * positions[body.q_index] + body.offset
            if abs(measured - expected) > self.settings.mimic_tolerance:
                deviations[name] = float(measured - expected)
        return deviations

    def _decide(self, now: Instant) -> Decision:
        self._guiding_effort = None
        is_allowed = self._dead_man_switch.allows(now.steady)
        if not self.settings.enabled:
            return Decision(
                Status.DISABLED if self.settings.may_be_enabled else Status.NOT_ALLOWED)
        if not is_allowed:
            return Decision(Status.RELEASED, detail=(
                f'button {self.settings.dead_man_button} of the topic joy has to be pressed'))
        if self._defects:
            return Decision(
                Status.NO_EFFORT_LIMIT, self._defects.names, self._defects.text)
        if not self.states.is_fresh(now.steady):
            return self._without_state(now)
        unknown = self._holding.unknown_positions()
        if unknown:
            return Decision(Status.UNKNOWN_POSITION, unknown, self._holding.remedy(unknown[0]))
        if not self._ramp.has_start:
            reason = self._try_to_start()
            if reason:
                return Decision(Status.UNKNOWN_START, detail=reason)
        if self._gravity_only:
            return self._while_guided(now)
        if self._contact.where:
            self.motion.keeps_tracking = False
            self._guiding_effort = self._guiding.damping(self._measured[1])
            return self._effort(
                self._motions.at_rest(self._singles), Status.CONTACT, now, self._contact.where)
        if self._feedback is not None:
            without = self.states.without_velocity()
            if without:
                return Decision(Status.UNKNOWN_VELOCITY, without)
        return self._along_motion(now)

    def _while_guided(self, now: Instant) -> Decision:
        """Return the decision for gravity at the measured state, with what helps to guide."""
        self._guiding_effort = self._guiding.effort(self._measured)
        detail = ''
        unknown = self._guiding.helped_by_velocity.intersection(self.states.without_velocity())
        if unknown:
            detail = ('no damping nor friction assistance of ' + ', '.join(sorted(unknown))
                      + ', whose velocity is not in joint_states')
        return self._effort(self._motions.at_rest(self._singles), Status.GRAVITY, now, detail)

    def _stored(self, decision: Decision) -> Decision:
        """Store what later cycles need to know of a decision, and return it."""
        self._transitions.last_status = decision.status
        self._started_anew = self._starts_anew
        if decision.effort is not None:
            self._starts_anew = False
            if decision.status in (*TRACKED, *DEVIATIONS):  # a motion is followed
                self._contact.awaits_reference = False
        else:
            self._ramp.pause()
            self.motion.keeps_tracking = False
            self._final_fade.end()
            if self.settings is not self.requested:
                self._change_to(self.requested)
            is_over = decision.status in (Status.DISABLED, Status.NOT_ALLOWED)
            if is_over and self.settings.start_from in (StartFrom.GRAVITY, StartFrom.MEASURED):
                self._ramp.forget()  # it may be another effort when the node is enabled again
                self._starts_anew = True
        return decision

    def _try_to_start(self) -> str:
        """Determine the effort to start from; return why that is not possible, or nothing."""
        velocities = self._measured[1].copy()
        velocities[[name in self.states.without_velocity() for name in self.controlled]] = np.nan
        evidence = self.evidence._replace(is_own=False) if self._starts_anew else self.evidence
        effort, reason = self._start.start(
            evidence, velocities, self.states.efforts[:len(self.controlled)],
            self._holding_effort)
        if effort is None:
            return f'{reason}; set start_from to say from which effort to start'
        self._ramp.start_at(np.clip(effort, -self._limits, self._limits))
        self.start_reason = reason
        return ''

    def _fading_out(self, silence: Decision, now: Instant) -> Decision:
        """
        Return the next effort on the way to that of ``on_stop``.

        :param silence: the decision without an effort that takes effect afterwards; it is
            returned where the final fade is over, and where no effort was being sent.
        """
        goes_on = self._may_fade_out() and self._final_fade.goes_on(
            now.steady, self.states.age(now.steady), self.settings.state_timeout)
        if goes_on:
            self._guiding_effort = None
            self._last_motion = self._motions.held(self._singles)
            fading = self._sent(
                self._stop_effort(), Status.STOPPING, now, silence.joints,
                '; '.join(filter(None, (
                    silence.detail,
                    f'on_stop: {self.settings.on_stop.value}; then {silence.status.value}'))))
            if fading.effort is not None:
                return fading._replace(next_status=silence.status)
        if not self._final_fade.was_cut_short:
            return silence
        if self._ramp.is_sending:  # until now
            self._cut_short = self._what_was_cut_short()
        return silence._replace(detail='; '.join(filter(None, (silence.detail, self._cut_short))))

    def _what_was_cut_short(self) -> str:
        """Return which joints have not reached the effort of ``on_stop``, and what is held."""
        wanted = self._limiter.saturated(self._stop_effort())
        lacking = ', '.join(
            f'{name} {held:.3f} instead of {effort:.3f}'
            for name, held, effort in zip(
                self.controlled, self._ramp.sent.tolist(), wanted.tolist())
            if abs(held - effort) > MIN_TO_REPORT)
        return lacking and (
            f'the final fade was cut short: a controller without a timeout holds {lacking} '
            '[Nm or N]')

    def _may_fade_out(self) -> bool:
        """
        Return whether an effort was being sent, and that of ``on_stop`` can be computed.

        What a joint holds that has just become a controlled one may be unknown.
        """
        return (self._ramp.is_sending and self._ramp.has_start
                and self.settings.on_stop is not OnStop.NONE
                and not self._holding.unknown_positions())

    def _stop_effort(self) -> np.ndarray:
        """Return the effort of ``on_stop``."""
        holding = self._holding_effort()
        return np.zeros_like(holding) if self.settings.on_stop is OnStop.ZERO else holding

    def _without_state(self, now: Instant) -> Decision:
        never = self.states.unmeasured()
        if never:
            return Decision(Status.WAITING, never)
        return Decision(Status.STALE, self.states.stale(now.steady), (
            f'none for {self.states.age(now.steady):.2g} s, and state_timeout is '
            f'{self.settings.state_timeout:g} s: the driver has stopped, or it or this computer '
            'is too slow'))

    def _holding_effort(self) -> np.ndarray:
        """Return the effort that holds the measured positions against gravity."""
        motion = self._motions.held(self._singles)
        return self._law.effort(motion, self._held_tau)[self._motions.controlled]

    def _is_far(self, target: DesiredState) -> bool:
        """Return whether a motion is farther from the robot than it may be to be taken up."""
        deviation = self.motion.deviation(target.positions, self._measured_q)
        return bool(np.any(np.abs(deviation) > self.motion.takeup_tolerance))

    def _along_motion(self, now: Instant) -> Decision:
        """Return the decision for the desired motion, with feedback in computed_torque."""
        target = self.motion.target(
            now.ros, self._measured_q, now.steady, self.settings.lookahead)
        target, reason = self._within_reach(target, now)
        status = target.status
        if status is not self._transitions.last_status and self._transitions.need_blend(
                status, has_feedback=self._feedback is not None):
            self._ramp.blend(self.settings.blend_time)
        n = len(self.controlled)
        if self._single_count > n:
            velocities = self.states.fresh_velocities(now.steady)
            self._motions.set_other_joints(
                self._singles[n:], velocities[n:self._single_count])
        if self._feedback is None:
            motion = self._motions.desired(target)
        else:
            # Feedback returns a robot only to a motion that it has followed before.
            self.motion.keeps_tracking = status in FOLLOWED or (
                self.motion.keeps_tracking and status in INTERRUPTED)
            motion = self._motions.corrected(
                target, self._measured, self._correction(self._feedback, target, now))
        detail = self.motion.explain(target) if status in DEVIATIONS else reason
        return self._effort(motion, status, now, detail)

    def _within_reach(self, target: DesiredState, now: Instant) -> tuple[DesiredState, str]:
        """
        Return a motion that is taken up, or rest where the robot is as long as it is too far.

        A controller's reference goes on while the robot does not follow it: after a contact, and
        with feedback also while the node was disabled or received no reference.  Feedback would
        drive the robot back at once, and as fast as its velocity limits allow.  So it would to a
        trajectory without a tolerance.  A robot whose reference was only interrupted catches up
        with a bounded error.

        :return: the target, and for people why it is not that of the motion.
        """
        status = target.status
        if self._contact.awaits_reference:
            if self.motion.has_reference:
                if status is not Status.FOLLOWING_CONTROLLER or self._is_far(target):
                    return self.motion.out_of_reach(self._measured_q), (
                        'after a contact: the reference of the controller is farther from the arm '
                        'than path_tolerance and hold_tolerance, or is no longer received')
                self.blend()  # it may be in motion
        if self._feedback is None or status not in (*TRACKED, Status.PATH_DEVIATION):
            self._may_be_far = False
            return target, ''
        begins = self._transitions.begins_motion(status)
        if status is Status.PATH_DEVIATION:  # joints without a tolerance may be far, too
            self._may_be_far = self._may_be_far or begins
            return target, ''
        self._may_be_far = (begins or self._may_be_far) and self._is_far(
            self._present(target, now))
        if not self._may_be_far:
            return target, ''
        if self.motion.keeps_tracking:
            if begins:
                self._ramp.blend(self.settings.blend_time)
            return target, ''
        what = 'reference of the controller' if self.motion.has_reference else 'trajectory'
        return self.motion.out_of_reach(self._measured_q), (
            f'the {what} is farther from the arm than path_tolerance and hold_tolerance; it is '
            'followed as soon as it is nearer')

    def _present(self, ahead: DesiredState, now: Instant) -> DesiredState:
        """Return the target at the present time for one that may be read ahead of it."""
        if not self.settings.lookahead:
            return ahead
        return self.motion.target(now.ros, self._measured_q, now.steady)

    def _correction(
            self, feedback: StateFeedback, ahead: DesiredState, now: Instant) -> np.ndarray:
        """
        Return the acceleration that corrects the errors of position and velocity.

        The errors are those at the present time, even where the target is read ahead of it.
        """
        target = self._present(ahead, now)
        positions, velocities = self._measured
        # At the goal, a robot that comes from beside its path is not suddenly pushed harder.
        both_deviate = ahead.status in DEVIATIONS and target.status in DEVIATIONS
        largest_error = self.motion.largest_error(
            self._transitions.first_deviation if both_deviate else target.status)
        if self._may_be_far and target.status in TRACKED:
            largest_error = self.motion.takeup_tolerance
        return feedback.acceleration(
            target.positions, target.velocities, positions, velocities, largest_error)

    def _effort(
            self, motion: RobotMotion, status: Status, now: Instant, detail: str = '',
            ) -> Decision:
        wrenches = self._compensated_wrenches(motion.q, status, now.steady)
        if wrenches is not None:
            motion = motion._replace(wrenches=wrenches)
        self._last_motion = motion
        tau = self._law.effort(motion, self._tau)[self._motions.controlled]
        if self._guiding_effort is not None:
            tau = self._with_guiding(tau, self._guiding_effort)
        is_start = self._final_fade.is_active or not self._ramp.is_sending
        if is_start and np.isfinite(tau).all():
            overload = {} if self._ramp.is_sending else self._holding.overloads(
                self.settings, self.gravity)
            if overload:
                return Decision(Status.OVERLOADED, tuple(overload), '; '.join(overload.values()))
            self._final_fade.cancel()
            self._ramp.blend(self.settings.blend_time)
        return self._sent(tau, status, now, detail=detail)

    def _with_guiding(self, tau: np.ndarray, guiding: np.ndarray) -> np.ndarray:
        """
        Return an effort with what helps to guide, as far as the limit of each joint leaves room.

        Otherwise, with ``BeyondLimits.SCALE``, an end stop would take gravity from other joints.
        """
        limits = np.maximum(self._allowed, np.abs(tau))
        with_guiding = np.clip(tau + guiding, -limits, limits)
        self._guiding_effort = with_guiding - tau
        return with_guiding

    def _compensated_wrenches(
            self, q: np.ndarray, status: Status, now: float) -> np.ndarray | None:
        """Return the wrenches that the effort balances, shape (bodies, 6); None: no wrench."""
        if self._contact.where:  # it would press on, and more, the more the sensor measures
            self._compensation.end(now)
            return None
        weight = self._compensation.fade(
            status in FOLLOWED or self.settings.wrench_in_gravity_compensation, now)
        wrenches = self.wrenches.on_bodies(now) if weight else None
        if wrenches is None:
            self._compensation.is_limited = None
            return None
        wrenches *= weight
        return self._compensation.within_share(q, wrenches)

    def _sent(
            self, needed: np.ndarray, status: Status, now: Instant,
            joints: tuple[str, ...] = (), detail: str = '') -> Decision:
        """Return the decision to send an effort within all limits."""
        measured = None if status is Status.STOPPING else self._measured
        effort, flags, not_finite = self._limiter.limit(
            needed, now.steady, measured, self._holding_effort)
        if not_finite is not None:
            return Decision(Status.NOT_FINITE, tuple(
                name for name, flag in zip(self.controlled, not_finite) if flag))
        return Decision(status, joints, detail, effort, flags)


GAP_SHARE = 0.5
"""States that are missing for more than this share of ``state_timeout`` are a gap."""

MIN_TO_REPORT = 5e-4
"""Smallest difference of a held effort from that of ``on_stop`` that is reported [Nm or N]."""

LACK_SHARE = 0.5
"""An effort that lacks more than this share of a threshold may look like a contact."""

TIME_CONSTANTS = 5.0
"""Time constants of the observer, after which an older sample weighs less than a hundredth."""
