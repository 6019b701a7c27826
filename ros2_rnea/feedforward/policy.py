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
from enum import Enum
from typing import NamedTuple

import numpy as np

from ros2_rnea.errors import TrajectoryError
from ros2_rnea.feedforward.controller_rules import ControllerRules
from ros2_rnea.feedforward.desired_motion import DesiredMotion, TargetKind
from ros2_rnea.feedforward.effort_ramp import EffortRamp
from ros2_rnea.feedforward.joint_bounds import JointBounds
from ros2_rnea.feedforward.joint_states import Floats, JointStates
from ros2_rnea.feedforward.limits import clamp
from ros2_rnea.feedforward.places import as_places
from ros2_rnea.feedforward.settings import Mode, OnShutdown, OnStaleState, Settings
from ros2_rnea.feedforward.trajectory import Waypoint
from ros2_rnea.feedforward.whole_state import (
    check_assumed_positions,
    check_joint_names,
    joint_body,
    single_joints,
    WholeState,
)
from ros2_rnea.feedforward.wrenches import ExternalWrenches
from ros2_rnea.model.description import JointType
from ros2_rnea.robot import Robot


LARGEST_EFFORT = 1e150
"""Cuts what is limited by nothing else, so that squares of efforts are finite [Nm or N]."""


class Instant(NamedTuple):
    """One moment on the two clocks that count [s]."""

    steady: float  # ages and timeouts; it jumps only where time is simulated
    ros: float     # that of trajectory stamps


class Status(Enum):
    """What a decision came to; only the last nine come with an effort."""

    DISABLED = 'disabled: nothing is sent'
    WAITING = 'no joint state yet'
    STALE = 'joint states have stopped: nothing is sent'
    UNKNOWN_POSITION = 'nothing tells where a joint is: nothing is sent'
    NOT_FINITE = 'the effort is not a finite number: nothing is sent'
    DECAYING = 'joint states have stopped: gravity at the last one'
    ENDING = 'the node ends: this is sent last'
    GRAVITY = 'gravity at the measured state'
    NO_TRAJECTORY = TargetKind.NO_TRAJECTORY.value
    FOLLOWING = TargetKind.FOLLOWING.value
    HOLDING_END = TargetKind.HOLDING_END.value
    FOLLOWING_CONTROLLER = TargetKind.FOLLOWING_CONTROLLER.value
    CONTROLLER_LOST = TargetKind.CONTROLLER_LOST.value
    OFF_END = TargetKind.OFF_END.value


class Decision(NamedTuple):
    """
    What to send now.

    :ivar joints: those that the status is about, where it is about some.
    :ivar detail: more words for people.
    :ivar effort: shape (controlled joints,) [Nm or N], within the limits; None: send nothing.
    :ivar saturated: joints whose effort was cut to its limit.
    :ivar restrained: joints at a bound of position or velocity, with what pushed on removed.
    :ivar rate_limited: joints whose effort is still on its way at the highest rate.
    """

    status: Status
    joints: tuple[str, ...] = ()
    detail: str = ''
    effort: np.ndarray | None = None
    saturated: tuple[str, ...] = ()
    restrained: tuple[str, ...] = ()
    rate_limited: tuple[str, ...] = ()


class FeedforwardPolicy:
    """
    The feedforward of one robot with one set of settings, without ROS and without a clock.

    It is told what messages say and asked, once a cycle, what to send.

    :param robot: whose inverse dynamics is computed.
    :param settings: checked against the robot.
    :raises ArgumentError: where a setting does not fit the robot.
    """

    def __init__(self, robot: Robot, settings: Settings) -> None:
        check_joint_names(robot, settings.joints, 'joints')
        check_assumed_positions(robot, settings.assumed_positions)
        self.robot = robot.with_gravity(settings.gravity)
        self.settings = settings
        self.controlled = settings.joints or tuple(
            name for name in single_joints(robot) if name not in settings.assumed_positions)
        others = tuple(name for name in single_joints(robot) if name not in self.controlled)
        mimics = tuple(robot.tree.mimics)
        self.states = JointStates(self.controlled, (*others, *mimics), settings.state_timeout)
        self.motion = DesiredMotion(
            self.controlled,
            [joint_body(robot, n).type is JointType.CONTINUOUS for n in self.controlled],
            settings.hold_tolerance,
            controller_state_timeout=settings.controller_state_timeout)
        self.motion.rules = ControllerRules(
            settings.allow_nonzero_velocity_at_trajectory_end,
            settings.allow_partial_joints_goal,
            settings.allow_trajectory_replacement,
            settings.interpolate_from_desired_state,
            settings.omitted_joints_stay_where_commanded)
        self.wrenches = ExternalWrenches(
            robot.tree, settings.wrench_timeout, settings.wrench_fade_time,
            settings.wrench_exerted_by_robot)
        self._ramp = EffortRamp(self.controlled, settings.effort_rate_limit)
        self._bounds = JointBounds(
            [joint_body(robot, name).limits for name in self.controlled],
            settings.position_limit_margin, settings.velocity_limit_factor)
        self._whole = WholeState(robot, (*self.controlled, *others), settings.assumed_positions)
        self._single_count = len(self.controlled) + len(others)
        self._all_known = False
        n = len(self.controlled)
        self._controlled_q = as_places(self._whole.q_index[:n])
        self._controlled_v = as_places(self._whole.v_index[:n])
        self._others_v = as_places(self._whole.v_index[n:])
        self._limits = np.minimum(
            allowed_efforts(robot, settings)[self._controlled_v], LARGEST_EFFORT)
        # The cycle writes into these, so that it need not allocate any.
        self._q = self._whole.positions(np.full(self._single_count, np.nan))
        self._qd, self._qdd, self._at_rest, self._tau, self._holding = np.zeros((5, robot.nv))
        self._measured = self.states.measured[:, :n]
        self._has_stopped = False  # the joint states, or the node
        self._gravity_only = settings.mode is Mode.GRAVITY_COMPENSATION
        self._count_wrenches = not self._gravity_only or settings.wrench_in_gravity_compensation

    def take_over(self, older: FeedforwardPolicy) -> None:
        """Go on from where an earlier policy was: states, motion, wrenches, and what it sent."""
        self.states.adopt(older.states)
        if older.controlled == self.controlled:
            self.motion.adopt(older.motion)
        self.wrenches.adopt(older.wrenches)
        self._ramp.adopt(older._ramp)
        self._ramp.blend(self.settings.blend_time)

    def start_afresh(self) -> None:
        """Forget the trajectory, and blend in what comes next; for when time has jumped."""
        self.motion.clear()
        self._ramp.pause()

    def take_joint_state(
            self,
            names: Sequence[str],
            positions: Floats,
            velocities: Floats,
            stamp: float,
            now: Instant) -> bool:
        """
        Take over measured joints, and tell whether that calls for a command.

        :raises MessageError: where the message is refused.
        """
        carries_controlled = self.states.update(names, positions, velocities, stamp, now.steady)
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
        n = len(self.controlled)
        self.motion.accept(
            names, waypoints, stamp, now.ros,
            self.states.positions[:n], self.states.velocities[:n], now.steady)

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
        self.wrenches.update(frame, moment_force, now.steady)

    def decide(self, now: Instant) -> Decision:
        """Return what to send at a moment; it counts as sent."""
        decision = self._decide(now)
        if decision.effort is None:
            self._ramp.pause()
        return decision

    def decide_last(self, now: Instant) -> Decision:
        """
        Return what to send at a moment while the node ends, until :attr:`is_settled`.

        There is an effort only where one was sent in the last cycle.
        """
        how = self.settings.on_shutdown
        if how is OnShutdown.NONE or not self._ramp.is_sending:
            return Decision(Status.DISABLED)
        self._lead_to_rest()
        needed = self._holding_effort()
        if how is OnShutdown.ZERO:
            needed = np.zeros_like(needed)
        return self._sent(needed, Status.ENDING, how.value, now)

    @property
    def is_settled(self) -> bool:
        """Tell whether the last effort was no longer on its way from an earlier one."""
        return self._ramp.is_settled

    def _decide(self, now: Instant) -> Decision:
        if not self.settings.enabled:
            return Decision(Status.DISABLED)
        is_fresh = self.states.is_fresh(now.steady)
        if not is_fresh and not self._may_decay():
            return self._without_state(now)
        measured = self.states.positions[:self._single_count]
        if not self._all_known:  # once they are, they stay so
            unknown = self._whole.unknown(measured)
            if unknown:
                return Decision(Status.UNKNOWN_POSITION, unknown, self._how_to_tell(unknown[0]))
            self._all_known = True
        if not is_fresh:
            self._lead_to_rest()
            decision = self._sent(self._holding_effort(), Status.DECAYING, '', now)
            return decision._replace(joints=self.states.stale(now.steady))
        if self._has_stopped or not self._ramp.is_sending:
            self._has_stopped = False
            self._ramp.blend(self.settings.blend_time)
        return self._effort(measured, now)

    def _may_decay(self) -> bool:
        """Tell whether there is an effort to decay from and a state to decay to."""
        return (self.settings.on_stale_state is OnStaleState.DECAY
                and self._ramp.is_sending and not self.states.unmeasured())

    def _lead_to_rest(self) -> None:
        """Begin to blend from what was sent for a state that counts no more, but only once."""
        if not self._has_stopped:
            self._has_stopped = True
            self._ramp.blend(self.settings.state_timeout)

    def _holding_effort(self) -> np.ndarray:
        """Return the effort that holds the measured state."""
        q = self._whole.positions(self.states.positions[:self._single_count])
        tau = self.robot.inverse_dynamics(q, self._at_rest, self._at_rest, out=self._holding)
        return tau[self._controlled_v]

    def mimic_deviations(self) -> dict[str, float]:
        """Return by how much measured mimic joints are off what they should follow [rad or m]."""
        deviations = {}
        bodies = self.robot.tree.bodies
        singles = self.states.positions[:self._single_count]
        if self._whole.unknown(singles):
            return {}  # the leader may be among them
        positions = self._whole.positions(singles)
        for name, measured in zip(
                self.robot.tree.mimics, self.states.positions[self._single_count:]):
            body = bodies[self.robot.tree.mimics[name]]
            expected = body.multiplier * positions[body.q_index] + body.offset
            if abs(measured - expected) > self.settings.mimic_tolerance:
                deviations[name] = float(measured - expected)
        return deviations

    def _without_state(self, now: Instant) -> Decision:
        never = self.states.unmeasured()
        if never:
            return Decision(Status.WAITING, never)
        return Decision(Status.STALE, self.states.stale(now.steady))

    def _effort(self, measured: np.ndarray, now: Instant) -> Decision:
        n = len(self.controlled)
        status, detail = Status.GRAVITY, ''
        positions, qd, qdd = measured[:n], self._at_rest, self._at_rest
        if not self._gravity_only:
            target = self.motion.target(
                now.ros + self.settings.lookahead, positions, now.steady)
            status = Status[target.kind.name]
            positions = target.positions
            if target.moves:
                qd, qdd = self._qd, self._qdd
                qd[self._controlled_v] = target.velocities
                qdd[self._controlled_v] = target.accelerations
                if len(measured) > n:
                    velocities = self.states.fresh_velocities(now.steady)
                    qd[self._others_v] = velocities[n:len(measured)]
            elif target.kind is TargetKind.OFF_END:
                detail = self.motion.explain(target)
        self._q[self._controlled_q] = positions
        if len(measured) > n:
            self._whole.fill_positions(self._q, measured[n:], start=n)
        wrenches = self.wrenches.rows(now.steady) if self._count_wrenches else None
        if wrenches is None:
            tau = self.robot.inverse_dynamics(self._q, qd, qdd, out=self._tau)
        else:
            tau = self.robot.inverse_dynamics(self._q, qd, qdd, f_ext=wrenches, out=self._tau)
        return self._sent(tau[self._controlled_v], status, detail, now)

    def _sent(self, needed: np.ndarray, status: Status, detail: str, now: Instant) -> Decision:
        """Return the decision to send what is needed, as far as it harms nothing."""
        saturated: tuple[str, ...] = ()
        within = np.abs(needed) <= self._limits  # false for what is not finite too
        if np.count_nonzero(within) == len(needed):
            needed = needed.copy()
        else:
            finite = np.isfinite(needed)  # no clamp makes sense of infinity
            if not finite.all():
                return Decision(Status.NOT_FINITE, self._names(~finite))
            needed, cut = clamp(needed, self._limits)
            saturated = self._names(cut)
        restrained: tuple[str, ...] = ()
        if status is not Status.ENDING and self._bounds.are_reached(self._measured):
            allowed = self._not_pushing_on(needed)
            restrained = self._names(allowed != needed)
            needed = allowed
        blended = self._ramp.blended(needed, now.steady)
        if blended is not needed:
            blended, _ = clamp(blended, self._limits)
        effort, late = self._ramp.stride(blended, now.steady)
        rate_limited = () if late is None else self._names(late)
        return Decision(status, (), detail, effort, saturated, restrained, rate_limited)

    def _not_pushing_on(self, effort: np.ndarray) -> np.ndarray:
        """Return an effort without what pushes joints beyond a bound."""
        holding, _ = clamp(np.nan_to_num(self._holding_effort()), self._limits)
        return self._bounds.restrained(effort, holding, self._measured)

    def _how_to_tell(self, joint: str) -> str:
        assume = f'set the parameter assumed_positions.{joint} to where it stands'
        if joint_body(self.robot, joint).type.nv > 1:
            return assume
        return f'publish {joint!r} in joint_states, or {assume}'

    def _names(self, which: np.ndarray) -> tuple[str, ...]:
        return tuple(name for name, here in zip(self.controlled, which) if here)


def allowed_efforts(robot: Robot, settings: Settings) -> np.ndarray:
    """Return the largest effort that may be sent, shape (nv,); infinite without a limit."""
    limits = robot.effort_limits
    return np.where(np.isinf(limits), limits, limits * settings.effort_limit_factor)
