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
A trajectory on which the trajectory controller holds the pose that it commands, with its effort.

It is sent by the service ~/hold, and with ``hold_after_goal`` by the node itself.  It is an action
goal, because a goal of another program then replaces it, and because the controller keeps the
effort of the goal that succeeded last.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from threading import Event
from time import monotonic
from typing import NamedTuple

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.target.hold_trigger import HoldTrigger
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.node.controllers.controller_goals import ControllerGoals
from ros2_rnea.node.controllers.trajectory_controller import TRAJECTORY
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.services.background_services import (
    BackgroundService,
    ServiceOwner,
)
from ros2_rnea.node.topics.controller_messages import FollowJointTrajectory
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

PERIOD = 0.02
"""Period at which the node checks whether to hold [s]."""

LONGEST_ANSWER = 5.0
"""Longest wait for the controller, in addition to the duration of the trajectory [s]."""

SHORTEST = 0.01
"""Duration of the shortest trajectory [s]: its last point has to be later than its first."""


class CommandedPose(NamedTuple):
    """
    The pose that a controller commands, with its efforts.

    :ivar goals: of the controller.
    :ivar positions: that it commands, shape (joints,) [rad or m].
    :ivar efforts: that it commands, shape (joints,) [Nm or N].
    """

    goals: ControllerGoals
    positions: np.ndarray
    efforts: np.ndarray


class HoldService:
    """
    The service ~/hold and the parameter ``hold_after_goal``.

    The thread of the services only waits.  The goal is made and sent in the control thread, at
    the moment at which the controller is seen to be idle.

    :param connect: returns the goals of a controller with a name.
    :ivar services: by their names, for :class:`.BackgroundServices`.
    """

    def __init__(
            self,
            owner: ServiceOwner,
            diagnostics: Diagnostics,
            connect: Callable[..., ControllerGoals] = ControllerGoals) -> None:
        self._node = owner.node
        self._policy = owner.policy
        self._now = owner.now
        self._diagnostics = diagnostics
        self._why_twice = owner.why_twice
        self._connect = connect
        self._goals: ControllerGoals | None = None
        self._trigger = HoldTrigger()
        self._requested: Callable[[str], None] | None = None
        self._busy_until = -inf  # while its own goal is executed
        self._is_closing = False
        self._timer = owner.node.create_timer(
            PERIOD, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.services = {'hold': BackgroundService(Trigger, self._hold)}

    def close(self) -> None:
        """Send nothing any more; a request that is being answered fails."""
        self._is_closing = True
        self._node.destroy_timer(self._timer)

    # ---- in the thread of the services ----------------------------------------------------------

    def _hold(self, policy: Policy, _: Trigger.Request) -> Trigger.Response:
        ended = Event()
        said: list[str] = []

        def on_end(reason: str) -> None:
            said.append(reason)
            ended.set()

        longest = policy.settings.blend_time + LONGEST_ANSWER
        deadline = monotonic() + longest
        self._requested = on_end
        while not ended.wait(PERIOD):
            if monotonic() > deadline:
                self._requested = None
                return Trigger.Response(
                    success=False,
                    message=f'the controller has not answered within {longest:g} s')
            if self._is_closing:
                return Trigger.Response(success=False, message='the node is ending')
        return Trigger.Response(success=not said[0], message=said[0])

    # ---- in the control thread -------------------------------------------------------------

    def _poll(self) -> None:
        policy, now = self._policy(), self._now()
        requested, self._requested = self._requested, None
        if policy is not None:  # only then the parameters are known to be valid
            self._follow(self._node.get_parameter(TRAJECTORY).value)
            controller = policy.motion.controller
            self._trigger.take_publication(controller.is_fresh(now), now)
            if requested is not None:
                self._send(policy, requested)
            elif self._trigger.is_due(now) and controller.is_at_rest(now) and (
                    now > self._busy_until):
                self._trigger.done()
                if self._node.get_parameter('hold_after_goal').value:
                    self._send(policy, self._report)

    def _follow(self, controller: str) -> None:
        """Connect to the goals of the controller that the parameter names."""
        if controller == (self._goals.controller if self._goals else ''):
            return
        if self._goals is not None:
            self._goals.close()
        self._trigger = HoldTrigger()
        self._goals = None if not controller else self._connect(
            self._node, controller,
            lambda goals: self._trigger.take_goals(goals, self._now()))

    def _send(self, policy: Policy, on_end: Callable[[str], None]) -> None:
        """Send the goal, or say why not."""
        try:
            pose = self._commanded_pose(policy)
            holding = policy.effort_to_hold(pose.positions)
        except RneaError as error:
            on_end(str(error))
            return
        trajectory = at_rest(
            policy.controlled, pose.positions, holding, policy.settings.blend_time)
        if policy.settings.rules.omitted_joints_stay_where_commanded:
            # It commands positions: its effort contains no feedback, and the blend starts from it.
            trajectory.points[0].effort = pose.efforts.tolist()

        def on_own_end(reason: str) -> None:
            self._busy_until = -inf
            on_end(reason)

        self._busy_until = self._now() + policy.settings.blend_time + LONGEST_ANSWER
        self._trigger.add_own(pose.goals.send(trajectory, on_own_end))

    def _report(self, reason: str) -> None:
        self._diagnostics.notice('hold_after_goal', reason and (
            f'the effort that the controller holds was not replaced: {reason}'))

    def _commanded_pose(self, policy: Policy) -> CommandedPose:
        """
        Return the pose that the controller commands.

        :raises ArgumentError: where no trajectory may be sent to hold it.
        """
        state, now = policy.motion.controller, self._now()
        twice = self._why_twice(policy.controlled)
        if twice:
            raise ArgumentError(f'{twice}: it holds the pose itself')
        if not policy.settings.enabled:
            raise ArgumentError(
                'the node is disabled or inactive: it sends no efforts, also not in a goal')
        if self._goals is None:
            raise ArgumentError(f'no controller is named in the parameter {TRAJECTORY}')
        name = self._goals.controller
        if policy.settings.command_scale:
            raise ArgumentError(
                'command_scale is set, so that commands are in the units of the drives; the '
                'efforts of a trajectory are not, and would be other efforts there')
        if self._trigger.active and self._goals.are_of_another_process:
            self._trigger.discard_goals()
        if self._trigger.active:
            raise ArgumentError(f'{name!r} executes a goal')
        if now <= self._busy_until:
            raise ArgumentError(f'{name!r} is already executing a trajectory to hold the pose')
        if not self._goals.is_available:
            raise ArgumentError(f'the action of {name!r} is not available')
        reference, efforts = state.reference(now), state.commanded_efforts
        if reference is None or not state.is_fresh(now):
            raise ArgumentError(f'no fresh controller_state of {name!r} is received')
        if not state.is_at_rest(now):
            raise ArgumentError(f'the reference of {name!r} moves')
        others = [joint for joint in state.controller_joints if joint not in policy.controlled]
        if others:
            raise ArgumentError(
                f'{name!r} also has the joint {others[0]!r}, whose effort is not known here: it '
                'is not among the joints of this node')
        if efforts is None or not np.isfinite(efforts).all():
            raise ArgumentError(f'{name!r} commands no efforts')
        return CommandedPose(self._goals, reference.positions, efforts)


def at_rest(
        joints: tuple[str, ...], positions: np.ndarray, efforts: np.ndarray, duration: float,
        ) -> JointTrajectory:
    """Return a trajectory of two points at the same positions, with the same efforts."""
    trajectory = JointTrajectory(joint_names=list(joints))
    zeros = np.zeros(len(joints)).tolist()
    for time in (0.0, max(duration, SHORTEST)):
        trajectory.points.append(JointTrajectoryPoint(
            positions=positions.tolist(), velocities=zeros, accelerations=zeros,
            effort=efforts.tolist(),
            time_from_start=Duration(seconds=time).to_msg()))
    return trajectory


def is_possible() -> bool:
    """Return whether the messages of the action are installed."""
    return FollowJointTrajectory is not None
