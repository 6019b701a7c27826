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
"""The decision of each cycle: what effort to send, or why nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_rnea.errors import did_you_mean, MessageError, TrajectoryError
from ros2_rnea.feedforward.array_indices import as_indices
from ros2_rnea.feedforward.decision import Decision, Instant, SentTerms, Status
from ros2_rnea.feedforward.effort.effort_law import EffortLaw, RobotMotion
from ros2_rnea.feedforward.effort.effort_limiter import EffortLimiter
from ros2_rnea.feedforward.effort.effort_ramp import EffortRamp
from ros2_rnea.feedforward.effort.joint_bounds import JointBounds
from ros2_rnea.feedforward.effort.state_feedback import StateFeedback
from ros2_rnea.feedforward.reference.desired_motion import DesiredMotion, Target
from ros2_rnea.feedforward.reference.trajectory import Waypoint
from ros2_rnea.feedforward.settings import (
    ExertedBy,
    Mode,
    OnShutdown,
    OnStaleState,
    Settings,
)
from ros2_rnea.feedforward.state.joint_index_map import (
    check_assumed_positions,
    check_joint_names,
    joint_body,
    JointIndexMap,
    single_joints,
)
from ros2_rnea.feedforward.state.joint_states import Floats, JointStates
from ros2_rnea.feedforward.state.measured_gravity import MeasuredGravity
from ros2_rnea.feedforward.state.wrenches import ExternalWrenches
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import BASE
from ros2_rnea.results import EffortTerms
from ros2_rnea.robot import Robot


class FeedforwardPolicy:
    """
    The feedforward of one robot with one set of settings, without ROS and without a clock.

    It is told what messages say and asked, once a cycle, what to send.

    :param robot: whose inverse dynamics is computed.
    :param settings: checked against the robot.
    :ivar gravity: that counts now, in the root link's axes, shape (3,) [m/s^2].
    :raises ArgumentError: where a setting does not fit the robot.
    """

    def __init__(self, robot: Robot, settings: Settings) -> None:
        check_joint_names(robot, settings.joints, 'joints')
        check_assumed_positions(robot, settings.assumed_positions)
        self.settings = settings
        self.controlled = settings.joints or tuple(
            name for name in single_joints(robot) if name not in settings.assumed_positions)
        others = tuple(name for name in single_joints(robot) if name not in self.controlled)
        mimics = tuple(robot.tree.mimics)
        bodies = [joint_body(robot, name) for name in self.controlled]
        continuous = [body.type is JointType.CONTINUOUS for body in bodies]
        self.states = JointStates(self.controlled, (*others, *mimics), settings.state_timeout)
        self.motion = DesiredMotion(
            self.controlled, continuous, settings.hold_tolerance, settings.rules,
            settings.controller_state_timeout)
        self.wrenches = ExternalWrenches(
            robot.tree, settings.wrench_timeout, settings.wrench_fade_time,
            settings.wrench_exerted_by is ExertedBy.ROBOT,
            time_constant=settings.wrench_time_constant,
            force_deadband=settings.wrench_force_deadband,
            moment_deadband=settings.wrench_moment_deadband,
            tool_mass=settings.wrench_tool_mass,
            tool_center=settings.wrench_tool_center)
        self.measured_gravity = MeasuredGravity(settings.gravity_time_constant, settings.gravity)
        self.gravity = np.array(settings.gravity)
        self._law = EffortLaw(robot.with_gravity(settings.gravity), settings.sent_terms)
        self._feedback = None
        if settings.mode is Mode.COMPUTED_TORQUE:
            self._feedback = StateFeedback(
                self.controlled, settings.position_gains, settings.velocity_gains, continuous)
        self._index_map = JointIndexMap(
            robot, (*self.controlled, *others), settings.assumed_positions)
        self._single_count = len(self.controlled) + len(others)
        self._all_known = False
        n = len(self.controlled)
        self._controlled_q = as_indices(self._index_map.q_index[:n])
        self._controlled_v = as_indices(self._index_map.v_index[:n])
        self._others_v = as_indices(self._index_map.v_index[n:])
        self._ramp = EffortRamp(self.controlled, settings.effort_rate_limit)
        self._limiter = EffortLimiter(
            self.controlled, allowed_efforts(robot, settings)[self._controlled_v],
            settings.beyond_limits,
            JointBounds([body.limits for body in bodies],
                        settings.position_limit_margin, settings.velocity_limit_factor),
            self._ramp)
        # The cycle writes into these, so that it need not allocate any.
        self._q = self._index_map.positions(np.full(self._single_count, np.nan))
        self._held_q = self._q.copy()
        (self._qd, self._desired_qd, self._qdd, self._correction, self._at_rest, self._tau,
         self._held_tau) = np.zeros((7, robot.nv))
        self._measured = self.states.measured[:, :n]  # views, as are the next two
        self._measured_q = self._measured[0]
        self._singles = self.states.positions[:self._single_count]
        self._lookahead = settings.lookahead
        self._last_status = Status.WAITING
        self._resting = RobotMotion(self._q, self._at_rest, self._at_rest)
        self._moving = RobotMotion(self._q, self._qd, self._qdd)
        self._corrected = RobotMotion(
            self._q, self._qd, self._qdd, self._correction, friction_qd=self._desired_qd)
        self._held = RobotMotion(self._held_q, self._at_rest, self._at_rest)
        self._last_motion = self._resting
        self._gravity_only = settings.mode is Mode.GRAVITY_COMPENSATION
        self._count_wrenches = not self._gravity_only or settings.wrench_in_gravity_compensation

    @property
    def robot(self) -> Robot:
        """Return the robot as it counts now, with gravity and payloads."""
        return self._law.robot

    # ---- what messages say ----------------------------------------------------------------------

    def take_over(self, older: FeedforwardPolicy, duration: float | None = None) -> None:
        """
        Go on from where an earlier policy was: states, motion, wrenches, and what it sent.

        :param duration: how long the difference in effort takes to fade [s]; None: as the
            settings say.
        """
        self.states.adopt(older.states)
        if older.controlled == self.controlled:
            self.motion.adopt(older.motion)
            self._last_status = older._last_status
        self.wrenches.adopt(older.wrenches)
        same_root = older.robot.tree.root == self.robot.tree.root
        if older.settings.gravity_from_imu and self.settings.gravity_from_imu and same_root:
            self.measured_gravity.adopt(older.measured_gravity)
            self._use_measured_gravity()
        self._ramp.adopt(older._ramp)
        asked = self.settings.blend_time if duration is None else duration
        self._ramp.blend(max(asked, older._ramp.remaining))

    def start_afresh(self) -> None:
        """Forget motion and wrenches, and blend in what comes next; for when time has jumped."""
        self.motion.clear()
        self.wrenches.forget()
        self._ramp.blend(self.settings.blend_time)

    def forget_what_was_sent(self) -> None:
        """Set out from zero, and blend in; for when the controller that held it is gone."""
        self._ramp.forget()

    def take_joint_state(
            self,
            names: Sequence[str],
            positions: Floats,
            velocities: Floats,
            stamp: float,
            now: Instant,
            efforts: Floats | None = None) -> bool:
        """
        Take over measured joints, and tell whether that calls for a command.

        :param efforts: where :meth:`terms` is going to be asked for, which shows them.
        :raises MessageError: where the message is refused.
        """
        carries_controlled = self.states.update(
            names, positions, velocities, stamp, now.steady, efforts)
        return carries_controlled and self.states.is_fresh(now.steady)

    def take_trajectory(
            self,
            names: Sequence[str],
            waypoints: Sequence[Waypoint],
            stamp: float,
            now: Instant) -> None:
        """
        Follow a trajectory from now on.

        :raises TrajectoryError: where it cannot be followed; the present one stays in force.
        """
        if not self.states.is_fresh(now.steady):
            raise TrajectoryError(
                'a trajectory starts from the measured state, and there is no fresh one')
        positions, velocities = self._measured
        self.motion.accept(
            names, waypoints, stamp, now.ros, positions, velocities, now.steady)

    def take_controller_state(
            self,
            names: Sequence[str],
            positions: Floats,
            velocities: Floats,
            accelerations: Floats,
            stamp: float,
            speed_scaling: float,
            now: Instant) -> None:
        """
        Follow a controller's reference, in place of any trajectory, for as long as it comes.

        :param speed_scaling: by which the controller slows its trajectory down; 0: unknown.
        :raises MessageError: where it cannot be followed.
        """
        self.motion.take_reference(
            names, positions, velocities, accelerations, stamp, now.steady, speed_scaling)

    def take_wrench(self, frame: str, moment_force: Sequence[float], now: Instant) -> None:
        """
        Take over a wrench that acts on the robot.

        :raises MessageError: where its frame or a value cannot be used.
        """
        free_fall = None
        if self.settings.wrench_tool_mass:
            free_fall = self._rotation(frame, now).T @ self.gravity
        self.wrenches.update(frame, moment_force, now.steady, free_fall)

    def zero_wrench(self, now: Instant) -> tuple[str, ...]:
        """
        Let what the wrenches are now be nothing from now on, and return their frames.

        :raises RneaError: where there is none.
        """
        frames = self.wrenches.zero(now.steady)
        self._ramp.blend(self.settings.blend_time)
        return frames

    def take_imu(self, frame: str, acceleration: Sequence[float], now: Instant) -> None:
        """
        Take over an accelerometer's reading, for gravity where the settings say so.

        :param frame: the link whose axes the reading is in.
        :raises MessageError: where it cannot be used.
        """
        if not self.settings.gravity_from_imu:
            return
        is_first = self.measured_gravity.received == -inf
        self.measured_gravity.update(acceleration, self._rotation(frame, now), now.steady)
        self._use_measured_gravity()
        if is_first:
            self._ramp.blend(self.settings.blend_time)

    def _use_measured_gravity(self) -> None:
        """Compute with the gravity that is measured."""
        self.gravity = self.measured_gravity.vector
        self._law.set_gravity(self.gravity)

    def _rotation(self, frame: str, now: Instant) -> np.ndarray:
        """Return R with v_root = R v_frame, at the measured state."""
        if frame not in self.robot.tree.links:
            raise MessageError(
                f'the frame {frame!r} is no link of {self.robot.name!r}'
                f'{did_you_mean(frame, self.robot.tree.links)}')
        measured = self._singles
        if self.robot.tree.links[frame].body != BASE:  # else no joint turns it
            unknown = self._index_map.unknown(measured) or self.states.stale(now.steady)
            if unknown:
                raise MessageError(
                    f'how the link {frame!r} is turned depends on joint {unknown[0]!r}, of which '
                    'no fresh joint state tells')
        return self.robot.link_rotation(self._index_map.positions(measured), frame)

    # ---- what is sent ---------------------------------------------------------------------------

    def decide(self, now: Instant) -> Decision:
        """Return what to send at a moment; it counts as sent."""
        decision = self._decide(now)
        self._last_status = decision.status
        if decision.effort is None:
            self._ramp.pause()
        return decision

    def decide_last(self, now: Instant) -> Decision:
        """
        Return what to send at a moment while the node ends, until :attr:`is_settled`.

        There is an effort only where one was sent in the last cycle.
        """
        how = self.settings.on_shutdown
        if (how is OnShutdown.NONE or not self._ramp.is_sending
                or not self.settings.enabled):
            return Decision(Status.DISABLED)
        self._lead_to_rest(Status.SHUTTING_DOWN)
        self._last_motion = self._held
        needed = self._holding_effort()
        if how is OnShutdown.ZERO:
            needed = np.zeros_like(needed)
        return self._sent(needed, Status.SHUTTING_DOWN, now, detail=how.value)

    @property
    def is_settled(self) -> bool:
        """Tell whether the last effort was no longer on its way from an earlier one."""
        return self._ramp.is_settled

    def terms(self, decision: Decision) -> SentTerms | None:
        """Return what the effort of the last decision consists of; None: there was none."""
        if decision.effort is None:
            return None
        of_robot, correcting = self._law.terms(self._last_motion)
        of_model = EffortTerms(*(term[self._controlled_v] for term in of_robot))
        feedback = correcting[self._controlled_v]
        total = of_model.total + feedback
        measured = self.states.efforts[:len(self.controlled)].copy()
        saturated, rate_limited, restrained = (
            np.array([name in names for name in self.controlled], dtype=bool)
            for names in (decision.saturated, decision.rate_limited, decision.restrained))
        return SentTerms(**{
            **of_model._asdict(), 'feedback': feedback, 'total': total, 'sent': decision.effort,
            'measured': measured, 'residual': measured - total, 'saturated': saturated,
            'rate_limited': rate_limited, 'restrained': restrained})

    def mimic_deviations(self) -> dict[str, float]:
        """Return by how much measured mimic joints are off what they should follow [rad or m]."""
        deviations = {}
        bodies = self.robot.tree.bodies
        singles = self._singles
        if self._index_map.unknown(singles):
            return {}  # the leader may be among them
        positions = self._index_map.positions(singles)
        for name, measured in zip(
                self.robot.tree.mimics, self.states.positions[self._single_count:]):
            body = bodies[self.robot.tree.mimics[name]]
            expected = body.multiplier * positions[body.q_index] + body.offset
            if abs(measured - expected) > self.settings.mimic_tolerance:
                deviations[name] = float(measured - expected)
        return deviations

    def _decide(self, now: Instant) -> Decision:
        if not self.settings.enabled:
            return Decision(Status.DISABLED)
        is_fresh = self.states.is_fresh(now.steady)
        if not is_fresh and not self._may_decay():
            return self._without_state(now)
        measured = self._singles
        if not self._all_known:  # once they are, they stay so
            unknown = self._index_map.unknown(measured)
            if unknown:
                return Decision(Status.UNKNOWN_POSITION, unknown, self._how_to_tell(unknown[0]))
            self._all_known = True
        if not is_fresh:
            self._lead_to_rest(Status.DECAYING)
            self._last_motion = self._held
            return self._sent(
                self._holding_effort(), Status.DECAYING, now, self.states.stale(now.steady))
        if self._last_status in _AT_REST or not self._ramp.is_sending:
            self._ramp.blend(self.settings.blend_time)
        if self._gravity_only:
            self._index_map.fill_positions(self._q, measured)
            return self._effort(self._resting, Status.GRAVITY, now)
        if self._feedback is not None:
            blind = self.states.without_velocity()
            if blind:
                return Decision(Status.UNKNOWN_VELOCITY, blind)
        return self._along_motion(measured, now)

    def _may_decay(self) -> bool:
        """Tell whether there is an effort to decay from and a state to decay to."""
        return (self.settings.on_stale_state is OnStaleState.DECAY
                and self._ramp.is_sending and not self.states.unmeasured())

    def _lead_to_rest(self, status: Status) -> None:
        """Begin to blend from what was sent for a state that counts no more, but only once."""
        if self._last_status is not status:
            self._last_status = status
            self._ramp.blend(self.settings.state_timeout)

    def _without_state(self, now: Instant) -> Decision:
        never = self.states.unmeasured()
        if never:
            return Decision(Status.WAITING, never)
        return Decision(Status.STALE, self.states.stale(now.steady))

    def _holding_effort(self) -> np.ndarray:
        """Return the effort that holds the measured state."""
        self._index_map.fill_positions(self._held_q, self._singles)
        return self._law.effort(self._held, self._held_tau)[self._controlled_v]

    def _along_motion(self, measured: np.ndarray, now: Instant) -> Decision:
        n = len(self.controlled)
        target = self.motion.target(
            now.ros + self._lookahead, self._measured_q, now.steady)
        status = target.status
        if status is not self._last_status:
            self._soften(status)
        positions, motion = target.positions, self._resting
        if target.moves or self._feedback is not None:
            motion = self._moving
            self._qd[self._controlled_v] = target.velocities
            self._qdd[self._controlled_v] = target.accelerations
            if len(measured) > n:
                velocities = self.states.fresh_velocities(now.steady)
                self._qd[self._others_v] = velocities[n:len(measured)]
        if self._feedback is not None:
            positions, motion = self._measured_q, self._corrected
            self._correct(self._feedback, target, now)
        self._q[self._controlled_q] = positions
        if len(measured) > n:
            self._index_map.fill_positions(self._q, measured[n:], start=n)
        detail = self.motion.explain(target) if status is Status.GOAL_DEVIATION else ''
        return self._effort(motion, status, now, detail)

    def _soften(self, status: Status) -> None:
        """Blend from the end of a motion into one that nobody asked for, and into feedback."""
        came_to_rest = status in _WITHOUT_GOAL or status in (
            Status.HOLDING_END, Status.CONTROLLER_LOST)
        if status is Status.GOAL_DEVIATION or (
                self._last_status in _WITHOUT_GOAL
                and (came_to_rest or self._feedback is not None)):
            self._ramp.blend(self.settings.blend_time)

    def _correct(self, feedback: StateFeedback, ahead: Target, now: Instant) -> None:
        """
        Make the motion one at the measured velocity whose acceleration corrects the errors.

        The errors are those of now, however far ahead the acceleration was read.
        """
        positions, velocities = self._measured
        target = ahead
        if self._lookahead:
            target = self.motion.target(now.ros, positions, now.steady)
        self._correction[self._controlled_v] = feedback.acceleration(
            target.positions, target.velocities, positions, velocities)
        self._qdd += self._correction
        self._desired_qd[:] = self._qd
        self._qd[self._controlled_v] = velocities

    def _effort(
            self, motion: RobotMotion, status: Status, now: Instant, detail: str = '',
            ) -> Decision:
        wrenches = self.wrenches.rows(now.steady) if self._count_wrenches else None
        if wrenches is not None:
            motion = motion._replace(wrenches=wrenches)
        self._last_motion = motion
        tau = self._law.effort(motion, self._tau)
        return self._sent(tau[self._controlled_v], status, now, detail=detail)

    def _sent(
            self, needed: np.ndarray, status: Status, now: Instant,
            joints: tuple[str, ...] = (), detail: str = '') -> Decision:
        """Return the decision to send what is needed, as far as it harms nothing."""
        measured = None if status is Status.SHUTTING_DOWN else self._measured
        effort, not_finite, saturated, restrained, rate_limited = self._limiter.limit(
            needed, now.steady, measured, self._holding_effort)
        if effort is None:
            return Decision(Status.NOT_FINITE, not_finite)
        return Decision(status, joints, detail, effort, saturated, restrained, rate_limited)

    def _how_to_tell(self, joint: str) -> str:
        assume = f'set the parameter assumed_positions.{joint} to where it stands'
        if joint_body(self.robot, joint).type.nv > 1:
            return assume
        return f'publish {joint!r} in joint_states, or {assume}'


_AT_REST = (Status.DECAYING, Status.SHUTTING_DOWN)
"""Where what is sent leads to rest, whatever motion there was."""

_WITHOUT_GOAL = (Status.NO_TRAJECTORY, Status.GOAL_DEVIATION)
"""Where the measured place is the one to stay in."""


def allowed_efforts(robot: Robot, settings: Settings) -> np.ndarray:
    """Return the largest effort that may be sent, shape (nv,); infinite without a limit."""
    limits = robot.effort_limits
    return np.where(np.isinf(limits), limits, limits * settings.effort_limit_factor)
