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
"""Answers to service requests, where the package that defines the services is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import Any

import numpy as np
from rclpy.node import Node
from ros2_rnea.control.output.effort_limits import allowed_efforts
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.queries import (
    answered_joints,
    AnsweredJoints,
    RequestedState,
    state_query,
)
from ros2_rnea.dynamics.terms import TERM_NAMES
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.services.background_services import (
    BackgroundService,
    BackgroundServices,
    ServiceOwner,
)
from ros2_rnea.node.topics.conversions import wrenches_by_frame
from ros2_rnea.node.worker.worker_process import WorkerProcess
from ros2_rnea.robots.adjustable_robot import RobotSnapshot
from ros2_rnea.robots.robot import Robot
from sensor_msgs.msg import JointState

try:
    from ros2_rnea.node.services.fill_service import FillService
    from ros2_rnea.node.services.hold_service import HoldService, is_possible
    from ros2_rnea_interfaces.msg import EffortTerms as EffortTermsMessage
    from ros2_rnea_interfaces.srv import (
        ComputeGravity,
        ComputeInverseDynamics,
        FillTrajectoryEfforts,
    )
    ARE_DEFINED = (all(hasattr(EffortTermsMessage, name) for name in TERM_NAMES)
                   and hasattr(FillTrajectoryEfforts.Request, 'limits'))
except ImportError:
    ARE_DEFINED = False
try:
    from ros2_rnea.node.services.model_services import ModelServices
    HAS_MATRICES = True
except ImportError:
    HAS_MATRICES = False

MISSING = (
    'the topic ~/terms and all services but ~/enable and ~/zero_wrench are missing, because the '
    'package ros2_rnea_interfaces is not installed or is too old; everything else works. It is in '
    'the same repository: build both packages with colcon, or install it with pip')

WITHOUT_MATRICES = (
    'the services ~/compute_mass_matrix, ~/compute_jacobian and ~/compute_forward_dynamics are '
    'missing, because the package ros2_rnea_interfaces is too old; everything else works. Build '
    'it again')


WITHOUT_ACTION = (
    'hold_after_goal has no effect, because the package control_msgs is not installed')


class Services:
    """
    The services that compute, and ~/hold.

    :param policy: returns the policy in use, or None while there is no robot.
    :param now: returns the time on the steady clock [s].
    :param on_exit: called, by another thread, with the reason, when the process that computes
        answers has exited.
    :param controller_joints: returns the joints of the trajectory controller, where they are
        known.
    :param diagnostics: of the node; None: no trajectories are sent to hold a pose.
    :param why_twice: see :class:`.ServiceOwner`.
    :ivar process: computes the answers that take long.
    """

    def __init__(
            self,
            node: Node,
            policy: Callable[[], Policy | None],
            now: Callable[[], float] = monotonic,
            on_exit: Callable[[str], None] = lambda _: None,
            controller_joints: Callable[[], Sequence[str]] = tuple,
            diagnostics: Diagnostics | None = None,
            why_twice: Callable[[Iterable[str]], str] = lambda _: '') -> None:
        self._hold: HoldService | None = None
        self._in_background: list[BackgroundServices] = []
        self._of_process: BackgroundServices | None = None
        self.process = WorkerProcess(on_exit)
        if not ARE_DEFINED:
            node.get_logger().warning(MISSING)
            return
        owner = ServiceOwner(node, policy, now, self.process, why_twice)
        in_process = FillService(owner, controller_joints).services
        if HAS_MATRICES:
            in_process |= ModelServices(owner).services
        else:
            node.get_logger().warning(WITHOUT_MATRICES)
        self._of_process = BackgroundServices(owner, 'process', in_process)
        self._in_background += [
            BackgroundServices(owner, 'efforts', ComputeServices(owner).services),
            self._of_process]
        if diagnostics is not None:
            if is_possible():
                self._hold = HoldService(owner, diagnostics)
                self._in_background.append(
                    BackgroundServices(owner, 'holding', self._hold.services))
            elif node.get_parameter('hold_after_goal').value:
                node.get_logger().warning(WITHOUT_ACTION)

    def call_in_background(self, function: Callable[[], None]) -> None:
        """Call a function in the thread that may ask the process."""
        if self._of_process is not None:
            self._of_process.call(function)

    def close(self) -> None:
        """Stop the threads and the process of the services; what is being answered fails."""
        if self._hold is not None:
            self._hold.close()
        self.process.close()
        for services in self._in_background:
            services.close()


class ComputeServices:
    """
    ~/compute_gravity and ~/compute_inverse_dynamics.

    A request may be large, and deserializing it takes longer than a cycle.  The thread of the
    services computes the answer itself, as the textbook does, since the kernels of the robot in
    use belong to the cycle.

    :ivar services: by their names, for :class:`.BackgroundServices`.
    """

    def __init__(self, owner: ServiceOwner) -> None:
        self._now = owner.now
        self._made: tuple[RobotSnapshot, Robot] | None = None
        self.services = {
            'compute_gravity': BackgroundService(ComputeGravity, self._gravity),
            'compute_inverse_dynamics': BackgroundService(
                ComputeInverseDynamics, self._inverse_dynamics)}

    def _gravity(
            self, policy: Policy, request: ComputeGravity.Request,
            ) -> ComputeGravity.Response:
        """Answer with the gravity term; the springs of joints are not part of it."""
        question = state_query(
            policy, self._now(), RequestedState(request.names, request.positions))
        tau = self._robot(policy).gravity(question.q, _gravity(request))
        response = ComputeGravity.Response(success=True)
        _fill_effort(response.effort, answered_joints(policy), question.q, tau)
        return response

    def _inverse_dynamics(
            self, policy: Policy, request: ComputeInverseDynamics.Request,
            ) -> ComputeInverseDynamics.Response:
        question = state_query(
            policy, self._now(), RequestedState(
                request.names, request.positions, request.velocities, request.accelerations))
        terms = self._robot(policy).effort_terms(
            *question, wrenches_by_frame(request.wrenches), _gravity(request))
        joints = answered_joints(policy)
        response = ComputeInverseDynamics.Response(success=True)
        _fill_effort(response.effort, joints, question.q, terms.total)
        response.effort.velocity = question.qd[joints.v_index].tolist()
        filled = response.terms
        filled.name = list(joints.names)
        for name, values in terms._asdict().items():
            setattr(filled, name, values[joints.v_index].tolist())
        filled.feedback = [0.0] * len(joints.names)
        beyond = np.abs(terms.total) > allowed_efforts(policy.robot, policy.settings)
        filled.saturated = beyond[joints.v_index].tolist()
        return response

    def _robot(self, policy: Policy) -> Robot:
        """Return the robot in use, without kernels; it is made anew only where it has changed."""
        snapshot = policy.snapshot
        if self._made is None or self._made[0] is not snapshot:
            tree, payloads, gravity, *_ = snapshot
            self._made = snapshot, Robot(tree, payloads, gravity, Engine.TEXTBOOK)
        return self._made[1]


def _gravity(request: Any) -> Sequence[float] | None:
    return list(request.gravity) or None


def _fill_effort(
        message: JointState, joints: AnsweredJoints, q: np.ndarray, tau: np.ndarray) -> None:
    effort = tau[joints.v_index]
    for name, value in zip(joints.names, effort):
        if not np.isfinite(value):
            raise ArgumentError(f'the effort of joint {name!r} is {value}: a velocity, '
                                'acceleration or wrench is not finite or far too large')
    message.name = list(joints.names)
    message.position = q[joints.q_index].tolist()
    message.effort = effort.tolist()
