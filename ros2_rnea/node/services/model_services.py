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
The services that answer with matrices and accelerations of the model, outside the control thread.

They are meant for inspection, planning and tuning, a few times a second.  A control loop computes
such quantities faster with the library, in its own process.
"""

from __future__ import annotations

from collections.abc import Sequence
import pickle
from typing import Any

import numpy as np
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.queries import (
    answered_joints,
    AnsweredJoints,
    held_joints,
    requested_efforts,
    RequestedState,
    state_query,
    StateQuery,
)
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node.services.background_services import (
    BackgroundService,
    ServiceOwner,
)
from ros2_rnea.node.topics.conversions import wrenches_by_frame
from ros2_rnea.node.worker.channel import Message
from ros2_rnea.robots.adjustable_robot import RobotSnapshot
from ros2_rnea_interfaces.msg import NamedMatrix
from ros2_rnea_interfaces.srv import ComputeForwardDynamics, ComputeJacobian, ComputeMassMatrix
from sensor_msgs.msg import JointState

TWIST = ('linear.x', 'linear.y', 'linear.z', 'angular.x', 'angular.y', 'angular.z')
"""The elements of geometry_msgs/Twist."""

LINEAR_FIRST = np.array([3, 4, 5, 0, 1, 2])
"""The rows of this package's Jacobian, [angular; linear], in the order of :data:`TWIST`."""


class ModelServices:
    """
    ~/compute_mass_matrix, ~/compute_jacobian and ~/compute_forward_dynamics.

    :ivar services: by their names, for :class:`.BackgroundServices`.
    """

    def __init__(self, owner: ServiceOwner) -> None:
        self._now = owner.now
        self._process = owner.process
        self.services = {
            'compute_mass_matrix': BackgroundService(ComputeMassMatrix, self._mass_matrix),
            'compute_jacobian': BackgroundService(ComputeJacobian, self._jacobian),
            'compute_forward_dynamics': BackgroundService(
                ComputeForwardDynamics, self._forward_dynamics)}

    def _mass_matrix(
            self, policy: Policy, request: ComputeMassMatrix.Request,
            ) -> ComputeMassMatrix.Response:
        joints, state = self._state(policy, request)
        matrix = self._ask(policy.snapshot, 'mass_matrix', q=state.q)
        return ComputeMassMatrix.Response(
            success=True, state=_state_message(joints, state), mass_matrix=_named(
                matrix[np.ix_(joints.v_index, joints.v_index)], joints.names, joints.names))

    def _jacobian(
            self, policy: Policy, request: ComputeJacobian.Request,
            ) -> ComputeJacobian.Response:
        joints, state = self._state(policy, request)
        axes = request.frame_id or policy.robot.tree.root
        matrix = self._ask(
            policy.snapshot, 'jacobian', q=state.q, link=request.link, frame=axes)
        return ComputeJacobian.Response(
            success=True, state=_state_message(joints, state), link=request.link, frame_id=axes,
            jacobian=_named(matrix[np.ix_(LINEAR_FIRST, joints.v_index)], TWIST, joints.names))

    def _forward_dynamics(
            self, policy: Policy, request: ComputeForwardDynamics.Request,
            ) -> ComputeForwardDynamics.Response:
        robot = policy.snapshot  # once: it may be replaced between the two questions
        joints, state = self._state(policy, request, request.velocities)
        tau = requested_efforts(policy, request.names, request.efforts)
        held = held_joints(policy, request.names)
        more = {'f_ext': wrenches_by_frame(request.wrenches),
                'gravity': list(request.gravity) or None}
        accelerations = self._ask(
            robot, 'forward_dynamics_with_locked_joints', q=state.q, qd=state.qd, tau=tau,
            held=held, **more)[joints.v_index]
        _check_finite('acceleration', accelerations, joints.names)
        message = _state_message(joints, state)
        message.velocity = state.qd[joints.v_index].tolist()
        message.effort = tau[joints.v_index].tolist()
        if held:
            qdd = np.zeros_like(state.qd)
            qdd[joints.v_index] = accelerations
            needed = self._ask(
                robot, 'inverse_dynamics', q=state.q, qd=state.qd, qdd=qdd, **more)
            for place, name in enumerate(joints.names):
                if name in held:
                    message.effort[place] = needed[joints.v_index[place]]
        return ComputeForwardDynamics.Response(
            success=True, state=message, accelerations=accelerations.tolist(), held=list(held))

    def _state(
            self, policy: Policy, request: Any, velocities: Sequence[float] = (),
            ) -> tuple[AnsweredJoints, StateQuery]:
        return answered_joints(policy), state_query(
            policy, self._now(), RequestedState(request.names, request.positions, velocities))

    def _ask(self, robot: RobotSnapshot, method: str, **arguments: Any) -> np.ndarray:
        """Return what a method of the robot returns, computed by the worker process."""
        return self._process.ask(query_request(robot, method, **arguments))['result']


def query_request(robot: RobotSnapshot, method: str, **arguments: Any) -> Message:
    """Return the message to the worker process: a call of a method of a robot."""
    return {'task': 'query', 'robot': pickle.dumps(robot), 'method': method,
            'arguments': arguments}


def _state_message(joints: AnsweredJoints, state: StateQuery) -> JointState:
    return JointState(name=list(joints.names), position=state.q[joints.q_index].tolist())


def _named(matrix: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> NamedMatrix:
    _check_finite('column', matrix.T, columns)
    return NamedMatrix(
        row_names=list(rows), column_names=list(columns), data=matrix.ravel().tolist())


def _check_finite(what: str, values: np.ndarray, joints: Sequence[str]) -> None:
    """
    Check a result.

    :param values: one element, or one row, for each joint.
    :raises ArgumentError: naming the first joint whose result is not finite.
    """
    for joint, value in zip(joints, values):
        if not np.isfinite(value).all():
            raise ArgumentError(
                f'the {what} of joint {joint!r} is not finite: a number in the request is not '
                'finite or far too large')
