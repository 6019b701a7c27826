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
The control core of one robot, without ROS and without a clock.

``cycle.py`` is what happens in each cycle, ``supervisor.py`` decides, ``memory.py`` has all that
is remembered.  Here is what the messages and the services of a node do to these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from types import MappingProxyType

import numpy as np

from ros2_rnea.control import cycle
from ros2_rnea.control.decision import Cause, Decision, Instant, SentTerms, State, Status
from ros2_rnea.control.inputs.external_effort import ExternalEffort, MeasuredMotion
from ros2_rnea.control.inputs.joint_states import JointStates, MeasuredJoints
from ros2_rnea.control.inputs.measured_gravity import MeasuredGravity
from ros2_rnea.control.inputs.state_ages import check_age
from ros2_rnea.control.inputs.wrenches import ExternalWrenches
from ros2_rnea.control.judgement import check_settings, NO_PAYLOADS, Payloads, twin_of
from ros2_rnea.control.law.feedback_check import unstable_feedback
from ros2_rnea.control.memory import Memory
from ros2_rnea.control.output.effort_limits import raised_limits
from ros2_rnea.control.output.start_effort import Evidence
from ros2_rnea.control.robot_joints import RobotJoints
from ros2_rnea.control.settings import ContactReaction, Mode, Settings
from ros2_rnea.control.stages import Stages
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.control.target.motion import Motion
from ros2_rnea.control.target.motion_check import MotionCheck
from ros2_rnea.control.target.planned_motion import MotionStart
from ros2_rnea.errors import (
    ArgumentError,
    did_you_mean,
    MessageError,
    TrajectoryError,
    UnsafeChangeError,
)
from ros2_rnea.model.tree import BASE
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.results import EffortTerms
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import TrajectoryCommand


class Policy:
    """
    Decides in each cycle which effort is sent.

    It accepts the content of messages and returns one :class:`.Decision` per cycle.  The caller
    passes the time to every method: tests and simulations run at any speed.

    :param robot: the model.  An :class:`.AdjustableRobot` belongs to the policy from now on, which
        replaces its gravity; of another robot the policy makes an adjustable copy.
    :param settings: they are checked against the robot.
    :param memory: of another policy, to go on with; None: nothing is known yet.
    :ivar robot: the model with its present gravity, payloads and joint parameters.
    :ivar settings: those in use.
    :ivar memory: all that is remembered.
    :ivar joints: of the robot.
    :ivar stages: of the cycle.
    :ivar snapshot: what the robot in use is made from; it is replaced once for each change that
        is in use.  Other threads read this and not the robot.
    :raises ArgumentError: where a setting does not fit the robot.
    """

    def __init__(self, robot: Robot, settings: Settings, memory: Memory | None = None) -> None:
        check_settings(robot, settings)
        self.robot = (
            robot if isinstance(robot, AdjustableRobot) else AdjustableRobot.of(robot))
        self.settings = settings
        self.joints = RobotJoints(self.robot, settings.joints, settings.assumed_positions)
        self.memory = (
            Memory.of(self.joints) if memory is None else memory.for_joints(self.joints))
        self.stages = Stages(self.joints, settings, self.memory)
        self._use_law()
        self._remembered()
        self._checked_robot: tuple[object, AdjustableRobot] | None = None
        self._use_gravity()
        self.take_snapshot()
        self.friction_shares()  # they are computed here and not between two cycles

    # ---- what is known of it ------------------------------------------------------------------

    @property
    def controlled(self) -> tuple[str, ...]:
        """Return the controlled joints, in the order of all efforts that are passed around."""
        return self.joints.controlled

    @property
    def state(self) -> State:
        """Return what the policy does."""
        return self.memory.supervisor.state

    @property
    def gravity(self) -> np.ndarray:
        """Return the acceleration of free fall in the root link's axes, shape (3,) [m/s^2]."""
        return self.stages.gravity

    @property
    def states(self) -> JointStates:
        """Return the measured joints."""
        return self.stages.states

    @property
    def motion(self) -> Motion:
        """Return the desired motion."""
        return self.stages.motion

    @property
    def wrenches(self) -> ExternalWrenches:
        """Return the wrenches that are measured at links."""
        return self.stages.wrenches

    @property
    def measured_gravity(self) -> MeasuredGravity:
        """Return gravity from the imu."""
        return self.stages.measured_gravity

    @property
    def external(self) -> ExternalEffort:
        """Return what the environment exerts, as far as :meth:`observe` is called."""
        return self.stages.external

    @property
    def evidence(self) -> Evidence:
        """Return what is known outside about the effort that the actuators hold."""
        return self.memory.evidence

    @evidence.setter
    def evidence(self, evidence: Evidence) -> None:
        self.memory.evidence = evidence

    @property
    def start_reason(self) -> str:
        """Return, for people, from which effort the first command started, and why."""
        return self.memory.start_reason

    @property
    def has_driven(self) -> bool:
        """Return whether somebody has received an effort for this robot."""
        return self.memory.has_driven

    @property
    def is_sending(self) -> bool:
        """Return whether the last cycle sent an effort."""
        return self.memory.sent.is_sending

    @property
    def has_start(self) -> bool:
        """Return whether the effort is known from which the next one starts."""
        return self.memory.sent.has_start

    # ---- changes at run time ------------------------------------------------------------------

    def can_change_to(self, settings: Settings) -> bool:
        """Return whether settings are about the same joints and thus need no other policy."""
        return (settings.joints == self.settings.joints
                and settings.assumed_positions == self.settings.assumed_positions)

    def change_settings(self, settings: Settings, duration: float | None = None) -> None:
        """
        Use other settings from now on; what is remembered is kept.

        :param settings: about the same joints, see :meth:`can_change_to`.
        :param duration: of the hand-over of the effort [s]; None: as the new settings say.
        :raises ArgumentError: as :meth:`check_change` does; then nothing changes.
        """
        self.check_change(settings)
        before = self.settings
        self._use(settings)
        self.hand_over(duration)
        if law_of(settings) != law_of(before):
            self.memory.pending.changes_law = True

    def _use(self, settings: Settings) -> None:
        """Make the stages anew, over the same memory."""
        self.settings = settings
        self.stages = Stages(self.joints, settings, self.memory, self.stages.judgement)
        self._use_law()
        self._use_gravity()
        self.take_snapshot()

    def _use_law(self) -> None:
        """Hand over to the law of another mode; feedback takes up only a motion that is near."""
        memory, settings = self.memory, self.settings
        before, memory.settings = memory.settings, settings
        if before is None or settings.mode is before.mode:
            return
        begins = settings.mode is Mode.COMPUTED_TORQUE
        self.hand_over(settings.blend_time, of_model=begins)
        if begins and memory.supervisor.state.follows:
            memory.supervisor.state = State.GRAVITY

    def hand_over(self, duration: float | None = None, of_model: bool = True) -> None:
        """
        Hand the effort over from that of the last cycle to that of the next.

        :param duration: [s]; None: as the settings say.
        :param of_model: whether only the effort of the model may have changed, as after a change
            of the robot's numbers; feedback and damping then act as before.
        """
        pending = self.memory.pending
        pending.hand_over = self.settings.blend_time if duration is None else duration
        pending.of_model = pending.of_model and of_model
        pending.changes_model = pending.changes_model or of_model

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
            self.check_held(settings)
        elif self.is_sending and replace(settings, enabled=True) != replace(
                self.settings, enabled=True):
            self.check_held(settings)  # the arm is braked and held with them

    def check_held(
            self, settings: Settings | None = None, changes_friction: bool = True,
            coming: Payloads = NO_PAYLOADS) -> None:
        """
        Check that the arm is held with other settings, or with the numbers of the twin.

        The numbers of a change are given to ``stages.judgement.twin`` before, and taken from it
        again where this raises.

        :param settings: in place of those in use.
        :param changes_friction: whether the friction that is sent may become another.
        :param coming: payloads that the robot will carry, and the twin cannot have yet.
        :raises ArgumentError: where an effort is not a finite number.
        :raises UnsafeChangeError: where efforts are being sent, and the arm would not be held.
        """
        chosen, judgement = settings or self.settings, self.stages.judgement
        accepted = self.overload()
        friction = self.friction_shares() if changes_friction else None
        judgement.check(
            chosen, self._gravity_with(chosen), self.is_sending, accepted, friction,
            coming)
        if self.is_sending:
            self._check_feedback(chosen, self.settings)

    def _check_feedback(self, settings: Settings, before: Settings) -> None:
        """
        Check that feedback can begin, or become another.

        :param before: the settings until now.
        :raises UnsafeChangeError: where it cannot.
        """
        if settings.mode is not Mode.COMPUTED_TORQUE:
            return
        without = self.stages.states.without_velocity()
        if without and before.mode is not settings.mode:
            raise UnsafeChangeError(
                f'mode is {settings.mode.value!r}, which needs the velocity of joint '
                f'{without[0]!r}, and joint_states does not contain it. Efforts are being sent, '
                'and would end: choose another mode, or set enabled to false first')
        if feedback_of(settings) != feedback_of(before):
            unstable = unstable_feedback(settings, self.controlled, self.memory.period)
            if unstable:
                raise UnsafeChangeError(unstable)

    def overload(self) -> dict[str, float]:
        """
        Return by how much gravity exceeds the effort limit of each joint where it is [Nm or N].

        It is 0 for a joint that is held, and for all joints while nothing is being sent.
        """
        if not self.is_sending or self.stages.judgement.unknown_positions():
            return dict.fromkeys(self.controlled, 0.0)
        holding = np.abs(self.stages.law.holding(self.stages.singles))
        excess = np.nan_to_num(
            np.maximum(holding - self.stages.allowed, 0.0), nan=inf, posinf=inf)
        return dict(zip(self.controlled, excess.tolist()))

    def _gravity_with(self, settings: Settings) -> np.ndarray:
        """Return the gravity that would be used with some settings, shape (3,) [m/s^2]."""
        if settings.gravity_from_imu and self.settings.gravity_from_imu:
            return self.gravity  # as measured
        return np.array(settings.gravity)

    def _use_gravity(self) -> None:
        self.robot.set_gravity(self.gravity)

    def resume(
            self, memory: Memory, duration: float | None = None,
            accepted: Mapping[str, float] = MappingProxyType({}),
            friction: Mapping[str, float] | None = None) -> None:
        """
        Go on with the memory of the policy that was in use.

        :param accepted: the :meth:`overload` of that one, by joint [Nm or N].
        :param friction: its :meth:`friction_shares`; None: they are not compared.
        :param duration: of the hand-over between their efforts [s]; None: as the settings say.
        :raises ArgumentError: where no finite effort holds the joints where they are.
        :raises UnsafeChangeError: where efforts are being sent, and this policy could send none,
            or less than what holds a joint where it is, or too much friction.  Then this policy is
            as before, and the other one has to go on.
        """
        mine, stages = self.memory, self.stages
        is_sending = memory.sent.is_sending
        self.memory = memory.for_joints(self.joints)
        if self.memory.joints is not None and memory.joints is not None and (
                mine.joints is not None):  # it may have waited for joints of its own
            self.memory.joints.complete(memory.joints, mine.joints)
        stages.go_on(self.memory)
        try:
            stages.judgement.check(
                self.settings, self.gravity, is_sending, accepted, friction)
            if is_sending:
                self._check_feedback(self.settings, memory.settings or self.settings)
        except ArgumentError:
            self.memory = mine
            stages.go_on(mine)
            raise
        self._use_law()
        self._use_gravity()
        self.take_snapshot()
        same_joints = memory.sent.joints == self.controlled
        self.hand_over(duration, of_model=same_joints)

    def restart(self, has_efforts: bool = False) -> None:
        """
        Determine the start effort again from the evidence, because the receivers have changed.

        :param has_efforts: whether the last joint states came with the measured efforts.
        """
        if self.has_start:
            self.memory.sent.forget()
            if not has_efforts:
                self.stages.states.efforts[:] = np.nan  # those of an earlier joint state

    def reset_after_time_jump(self) -> None:
        """Discard motion and wrenches, whose times are no longer valid."""
        self.stages.motion.clear()
        self.stages.wrenches.forget()
        memory = self.memory
        memory.lacked_at = memory.ramp_since = -inf
        memory.behind_since = inf
        memory.trips.restart(len(self.controlled))
        self.hand_over(of_model=False)

    def discard_trajectory(self, now: Instant, step: float) -> bool:
        """
        Discard a trajectory whose clock was set; return whether there was one.

        Wrenches and the reference of a controller stay, because their ages are on a steady clock.

        :param now: the time after the clock was set.
        :param step: by how much it was set forward [s].
        """
        return self.stages.motion.discard_trajectory(now.ros, step)

    # ---- faults ---------------------------------------------------------------------------------

    def fail(self, detail: str) -> None:
        """
        Brake the arm and hold it until somebody acknowledges it, after an unexpected error.

        :param detail: for people.
        """
        self.memory.pending.trip = Cause(Status.FAILED, detail=detail)

    def acknowledge(self, now: Instant) -> str:
        """
        Leave a fault; return what is missing for that, or nothing.

        :param now: the present time.
        """
        supervisor = self.memory.supervisor
        latch = supervisor.latch
        if latch is None:
            if supervisor.state is State.OFF:  # an error before efforts begin
                self.memory.pending.trip = None
            return ''
        if not self.stages.states.is_fresh(now.steady):
            return f'the fault stays ({latch.status.value}): there is no fresh joint state'
        moving = self.memory.rest.moving_joint()
        if moving is not None:
            return (f'the fault stays ({latch.status.value}): joint {self.controlled[moving]!r} '
                    'still moves')
        stays = {Status.CONTACT: self._contact_that_stays,
                 Status.UNSTABLE_GAINS: lambda: self.stages.instability}.get(latch.status)
        reason = '' if stays is None else stays()
        if reason:
            return f'the fault stays ({latch.status.value}): {reason}'
        supervisor.latch = self.memory.pending.trip = None
        self.stages.motion.leave()
        self.external.restart()
        return ''

    def _contact_that_stays(self) -> str:
        """Return why a contact may not have ended, as far as it is observed at all."""
        external = self.external
        if not self.settings.observe_external_effort or not self.reacts_to_contacts:
            return ''
        if external.contacts:
            return f'{", ".join(external.contacts)} is still in contact'
        if external.missing:
            return (f'whether the contact has ended is not known, because {external.missing}; '
                    'with contact_reaction none it is not asked')
        if external.duration < self._observer_time:
            return (f'the external effort is observed for {external.duration:.2f} s only; ask '
                    f'again when it has been for {self._observer_time:.2f} s')
        return ''

    # ---- input ----------------------------------------------------------------------------------

    def take_joint_state(self, measured: MeasuredJoints, now: Instant) -> bool:
        """
        Accept measured joints, and return whether a new effort is due.

        It is due where the message contains a controlled joint and all of them are fresh.

        :param measured: its efforts are needed only for :meth:`terms`, and without a start.
        :raises MessageError: where the message is refused.
        """
        states = self.stages.states
        states.may_change_owner = not self.is_sending
        has_controlled = states.update(measured, now.steady)
        if self.stages.plausibility.has_believed:
            self.stages.plausibility.has_believed = False
            self.hand_over(of_model=False)
        return has_controlled and states.is_fresh(now.steady)

    def take_trajectory(self, command: TrajectoryCommand, now: Instant) -> None:
        """
        Follow a trajectory from now on.

        :raises TrajectoryError: where it cannot be followed; the present one then continues.
        """
        self.stages.motion.follow(self.motion_start(now).planned(command), now.steady)

    def motion_start(self, now: Instant, age: float = 0.0) -> MotionStart:
        """
        Return what a trajectory that is read now starts from, to plan it in another thread.

        ``motion.follow`` begins the planned motion afterwards.

        :param age: time since its reception [s]; infinite: it is not known.
        :raises TrajectoryError: where there is no fresh state; and of an arm that the node moves
            alone, where there is a fault, or somebody has stopped it.
        """
        if not self.stages.states.is_fresh(now.steady):
            raise TrajectoryError(
                'a trajectory starts from the measured state, and there is no fresh one')
        supervisor = self.memory.supervisor
        if self.stages.alone.any():
            stop = self.stages.stopped_by_somebody(now)
            if supervisor.latch is not None:
                raise TrajectoryError(
                    f'no motion is followed after a fault ({supervisor.latch.status.value}): call '
                    '~/enable with true first')
            if stop is not None:
                raise TrajectoryError(
                    f'no motion begins as long as this holds: {stop.status.value}. Send the '
                    'trajectory again afterwards')
        return self.stages.motion.start(
            now, self.stages.states.median_measured(), supervisor.state, supervisor.status, age,
            self._motion_check(), self._held_in(now))

    def _held_in(self, now: Instant) -> float:
        """Return after what time an arm that the node moves alone is held; 0: it is [s]."""
        if not self.stages.alone.all() or self.state not in (State.OFF, State.ARMING):
            return 0.0
        if self.state is State.OFF:  # it is armed from the next cycle on
            return self.settings.blend_time
        return max(0.0, self.memory.hand_over.end - now.steady)

    def _motion_check(self) -> MotionCheck:
        """Return the limits of the arm, with a robot that nobody changes."""
        stages, bodies = self.stages, self.joints.bodies
        key = self.robot.tree
        if self._checked_robot is None or self._checked_robot[0] is not key:
            self._checked_robot = key, twin_of(self.robot)
        lower, upper, velocity = self.joints.bounds.T
        count, known = len(bodies), not stages.judgement.unknown_positions()
        sends_all = not self.settings.sent_terms.left_out
        return MotionCheck(
            self.controlled, bool(stages.alone.any()), stages.alone.copy(),
            lower, upper, velocity * self.settings.velocity_limit_factor,
            np.where(stages.limits > 0.0, stages.allowed, inf),
            np.where(self.joints.continuous, inf, stages.motion.largest_error),
            self._checked_robot[1] if known and sends_all else None,
            self.joints.index_map.positions(stages.singles),
            self.joints.index_map.q_index[:count], self.joints.index_map.v_index[:count],
            self.gravity.copy())

    def take_controller_state(
            self, reference: ControllerReference, now: Instant, age: float = 0.0) -> None:
        """
        Follow a controller's reference in place of any trajectory, for as long as it is fresh.

        :param age: time since the reception of the message [s]; infinite: it may be of any age.
        :raises MessageError: where it cannot be followed, or is too old.
        """
        check_age(age, self.settings.controller_state_timeout, 'controller_state_timeout')
        begins = self.stages.motion.take_reference(reference, now.steady - age)
        if begins and self.stages.law.has_feedback:
            self.memory.behind_since, self.memory.behind_by = now.steady, None

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
        self.stages.wrenches.update(frame, moment_force, now.steady, free_fall, age)

    def zero_wrench(self, now: Instant) -> tuple[str, ...]:
        """
        Tare the sensors: take the present wrenches as bias, and return their frames.

        :raises RneaError: where no wrench is fresh, or the arm moves.
        """
        moving = self.memory.rest.moving_joint()
        if self.is_sending and moving is not None:
            raise MessageError(
                f'joint {self.controlled[moving]!r} moves, so that the wrench '
                'is not that of a sensor which nothing touches: zero it at rest')
        frames = self.stages.wrenches.zero(now.steady)
        self.hand_over(of_model=False)
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
        gravity = self.stages.measured_gravity
        is_first = gravity.received == -inf
        gravity.update(acceleration, self._rotation(frame, now), now.steady - age, frame)
        self._use_gravity()
        self.take_snapshot()
        if is_first:
            self.hand_over()

    def take_buttons(self, buttons: Sequence[int], now: Instant, age: float = 0.0) -> None:
        """
        Accept the buttons of a joystick, of which one may be the dead-man switch.

        :param age: time since the reception of the message [s].
        :raises MessageError: where there is no such button, or the message is too old.
        """
        self.stages.dead_man_switch.take(buttons, now.steady, age)

    def observe(self, now: Instant, time: float) -> None:
        """
        Observe the external effort at the measured state, and react to a contact as settings say.

        :param time: of the measured state, on any clock [s].
        """
        if not self.settings.observe_external_effort:
            return
        states, n = self.stages.states, len(self.controlled)
        measures = not self.stages.judgement.unknown_positions()
        if not (measures and states.is_fresh(now.steady)):
            self.external.restart()
            return
        singles = len(self.stages.singles)
        self.external.update(MeasuredMotion(
            self.stages.singles, states.velocities[:singles], states.efforts[:n],
            states.without_velocity(), time))
        if self.reacts_to_contacts and self._lacks_effort(now.steady):
            self.memory.lacked_at = now.steady
        if self.external.contacts and self._can_react(now.steady):
            where = ', '.join(
                f'{value:+.3g} at {name}' for name, value in self.external.contacts.items())
            self.memory.pending.trip = Cause(
                Status.CONTACT, tuple(self.external.contacts), where)

    @property
    def reacts_to_contacts(self) -> bool:
        """Return whether a contact can change what the next cycle decides."""
        return self.settings.contact_reaction is not ContactReaction.NONE

    def _can_react(self, now: float) -> bool:
        """
        Return whether an external effort comes from the environment and thus is a contact.

        It does not before efforts are sent, and until they have settled: motors may be off, or
        brakes on.
        """
        settings, sent, observer_time = self.settings, self.memory.sent, self._observer_time
        return (self.reacts_to_contacts and settings.mode is not Mode.GRAVITY_COMPENSATION
                and self.state in (State.GRAVITY, State.TRACKING, State.HOLDING)
                and now - sent.since > max(settings.blend_time, observer_time)
                and now - self.memory.lacked_at > observer_time)

    @property
    def _observer_time(self) -> float:
        """Return after which time an observation does not depend on how it began [s]."""
        return TIME_CONSTANTS / self.settings.external_effort_gain

    def _lacks_effort(self, now: float) -> bool:
        """
        Return whether the hand-over of another model looks like a contact.

        The model has a new payload at once: the part of its weight that the efforts do not hold
        yet looks like an external effort.

        :param now: on the steady clock [s].
        """
        memory, thresholds = self.memory, self.settings.external_effort_threshold
        if memory.pending.hand_over is not None and memory.pending.changes_model:
            return True
        if not memory.hand_over.is_of_model or now >= memory.hand_over.end:
            return False
        return any(abs(lack) > LACK_SHARE * thresholds.get(name, inf) for name, lack in zip(
            self.controlled, memory.hand_over.difference.tolist()))

    def _rotation(self, frame: str, now: Instant) -> np.ndarray:
        """Return R with v_root = R v_frame at the measured positions, shape (3, 3)."""
        if frame not in self.robot.tree.links:
            raise MessageError(
                f'the frame {frame!r} is not a link of {self.robot.name!r}'
                f'{did_you_mean(frame, self.robot.tree.links)}')
        measured = self.stages.singles
        if self.robot.tree.links[frame].body != BASE:  # no joint moves the base
            unknown = self.joints.index_map.unknown(measured) or self.stages.states.stale(
                now.steady)
            if unknown:
                raise MessageError(
                    f'the orientation of link {frame!r} depends on joint {unknown[0]!r}, which '
                    'has no fresh joint state')
        return self.robot.link_rotation(self.joints.index_map.positions(measured), frame)

    # ---- output ---------------------------------------------------------------------------------

    def decide(self, now: Instant) -> Decision:
        """Return what to send now, and store it as sent; see :mod:`.cycle`."""
        return self._decided(cycle.decide(self._remembered(), self.memory, now))

    def decide_last(
            self, now: Instant, status: Status = Status.SHUT_DOWN, detail: str = '') -> Decision:
        """
        Return what to send while nothing is to be sent any more.

        :param status: why: the node ends, or its cycle has failed.
        :param detail: the reason for people, in more words.
        """
        return self._decided(cycle.decide(
            self._remembered(), self.memory, now, Cause(status, detail=detail)))

    def _remembered(self) -> Stages:
        """Keep what was sent before, for :meth:`withdraw`; return the stages."""
        self._before = self.memory.sent.last, self.memory.starts_anew
        return self.stages

    def _decided(self, decision: Decision) -> Decision:
        if decision.effort is not None:
            self.memory.starts_anew = False
        return decision

    def withdraw(self) -> None:
        """Record that the effort of the last decision was not sent: nobody holds it."""
        sent, self.memory.starts_anew = self._before
        self.memory.sent.withdraw(sent)

    def effort_after_stop(self) -> dict[str, float]:
        """
        Return the effort by joint that a controller holds if nothing is sent from now on.

        It is that of ``on_stop`` if the effort first leads to it, else the one that was sent last.
        """
        sent = self.memory.sent
        held = sent.effort
        if sent.is_sending and sent.has_start and not self.stages.judgement.unknown_positions():
            held = self.stages.stop_effort()
        return dict(zip(self.controlled, held.tolist()))

    def held_effort(self) -> dict[str, float]:
        """
        Return the effort that was sent last, by joint, which a controller holds [Nm or N].

        It is empty where none was sent, or where nobody holds it any more.
        """
        sent = self.memory.sent
        return dict(zip(self.controlled, sent.effort.tolist())) if sent.has_sent else {}

    def effort_to_hold(self, positions: np.ndarray) -> np.ndarray:
        """
        Return the effort that holds the controlled joints at rest, within the limits.

        :param positions: of the controlled joints, shape (joints,) [rad or m]; all others are as
            measured.
        :raises ArgumentError: where the position of another joint is not known.
        """
        singles = self.stages.singles.copy()
        singles[:len(self.controlled)] = positions
        unknown = self.joints.index_map.unknown(singles)
        if unknown:
            raise ArgumentError(
                f'the position of joint {unknown[0]!r} is not known: it is neither measured nor '
                'assumed')
        return self.stages.output.saturated(self.stages.law.holding(singles))

    def note_driven(self) -> None:
        """Note that somebody has received an effort for this robot."""
        self.memory.has_driven = True

    def terms(self, decision: Decision) -> SentTerms | None:
        """Return the terms of the last decision's effort; None where it sent none."""
        if decision.effort is None:
            return None
        law, controlled = self.stages.law, self.joints.motions.controlled
        of_robot, correcting = law.of_robot.terms(law.last_motion)
        of_model = EffortTerms(*(term[controlled] for term in of_robot))
        feedback = correcting[controlled] + law.last_guiding
        total = of_model.total + feedback
        measured = self.stages.states.efforts[:len(self.controlled)].copy()
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
            gravity = self.robot.gravity(
                self.stages.law.last_motion.q, self.settings.arm_gravity)
            terms = of_model._replace(gravity=gravity[self.joints.motions.controlled])
        return measured - (total - sum(getattr(terms, name) for name in lacking))

    def in_drive_units(self, effort: np.ndarray) -> np.ndarray:
        """Return an effort times ``command_scale``, as it is commanded, shape (joints,)."""
        return effort * self.stages.command_scale if self.settings.command_scale else effort

    # ---- reports --------------------------------------------------------------------------------

    def joints_limiting_wrenches(self) -> tuple[str, ...]:
        """Return the joints whose share of the effort limit reduced the wrenches last."""
        flags = self.stages.law.compensation.is_limited
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
        if 'friction' in chosen.sent_terms.left_out or self.stages.judgement.limit_defects(
                chosen):
            return {}
        return self.joints.friction_shares.of(self.stages.limits)

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
            self.controlled, self.stages.limits.tolist(), armatures) if armature > 0.0 < limit}

    def mimic_deviations(self) -> dict[str, float]:
        """Return the deviations of mimic joints beyond ``mimic_tolerance``, by name [rad or m]."""
        deviations = {}
        tree, singles = self.robot.tree, self.stages.singles
        if self.joints.index_map.unknown(singles):
            return {}  # the followed joint may be one of them
        positions = self.joints.index_map.positions(singles)
        for name, measured in zip(tree.mimics, self.stages.states.positions[len(singles):]):
            body = tree.bodies[tree.mimics[name]]
            expected = body.multiplier * positions[body.q_index] + body.offset
            if abs(measured - expected) > self.settings.mimic_tolerance:
                deviations[name] = float(measured - expected)
        return deviations


def law_of(settings: Settings) -> tuple[object, ...]:
    """Return what decides about the effort, apart from the model and its terms."""
    return (settings.position_gains, settings.velocity_gains, settings.wrenches,
            settings.guiding_damping, settings.end_stop_stiffness, settings.friction_assistance,
            settings.position_limit_margin)


def feedback_of(settings: Settings) -> tuple[object, ...]:
    """Return what decides whether feedback is stable, apart from the period."""
    return (settings.mode, settings.position_gains, settings.velocity_gains,
            settings.feedback_delay, settings.velocity_filter_time, settings.held_by_others)


LACK_SHARE = 0.5
"""An effort that lacks more than this share of a threshold may look like a contact."""

TIME_CONSTANTS = 5.0
"""Time constants of the observer, after which an older sample weighs less than a hundredth."""
