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
"""The services that change something at run time: payloads, gravity, the zero of wrenches."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from geometry_msgs.msg import Inertia as InertiaMessage
import numpy as np
from rclpy.node import Node
from ros2_rnea.arguments import check_link
from ros2_rnea.audit.findings import Severity
from ros2_rnea.audit.links import link_findings
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.feedforward.queries import RequestedState, state_query
from ros2_rnea.model.description import Inertial, LinkDescription, Pose, RobotDescription
from ros2_rnea.node.models.configuration import Configuration
from ros2_rnea.node.models.introduction import NO_ROBOT
from ros2_rnea.node.models.models import Payload
from ros2_rnea.node.timing.clocks import Clocks
from std_srvs.srv import Trigger

try:
    from ros2_rnea_interfaces.srv import SetGravity, SetPayload
except ImportError:  # which is said with the other services
    SetGravity = SetPayload = None


class ChangeServices:
    """The services ~/set_payload, ~/set_gravity and ~/zero_wrench."""

    def __init__(self, node: Node, configuration: Configuration, clocks: Clocks) -> None:
        self._configuration = configuration
        self._clocks = clocks
        if SetPayload is not None:
            node.create_service(SetPayload, '~/set_payload', _answered_by(self._set_payload))
            node.create_service(SetGravity, '~/set_gravity', _answered_by(self._set_gravity))
        node.create_service(Trigger, '~/zero_wrench', _answered_by(self._zero_wrench))

    def _set_payload(self, request: Any) -> str:
        transition = _transition(request.transition_time)
        if not request.name:
            raise ArgumentError(
                'the name is empty; it needs one, by which the payload is replaced or removed')
        if request.remove:
            is_in_force = self._configuration.drop_payload(request.name, transition)
            remark = ''
        else:
            inertial = _inertial(request.inertia)
            remark = _checked(request.name, inertial)
            is_in_force = self._configuration.take_payload(
                Payload(request.name, request.link, inertial), transition)
        return ('in force' if is_in_force else 'comes into force once it is compiled') + remark

    def _set_gravity(self, request: Any) -> str:
        policy, vector = self._policy(), request.gravity.vector
        if policy.settings.gravity_from_imu:
            raise ArgumentError(
                'the parameter gravity_from_imu is true, so that the topic imu tells gravity; '
                'set it to false first')
        gravity = np.array([vector.x, vector.y, vector.z])
        if not np.isfinite(gravity).all():
            raise ArgumentError(f'the gravity is {gravity.tolist()}; it needs 3 finite numbers')
        link = request.gravity.header.frame_id
        if link and link != policy.robot.tree.root:
            gravity = self._rotation(policy, link) @ gravity
        result = self._configuration.set_parameter(
            'gravity', gravity.tolist(), _transition(request.transition_time))
        if not result.successful:
            raise ArgumentError(result.reason)
        return f'in force: {gravity.round(4).tolist()} m/s^2 in the axes of the root link'

    def _zero_wrench(self, _: Any) -> str:
        frames = self._policy().zero_wrench(self._clocks.now())
        return f'the present wrench is taken as the zero in {", ".join(frames)}'

    def _policy(self) -> FeedforwardPolicy:
        policy = self._configuration.policy
        if policy is None:
            raise ArgumentError(NO_ROBOT)
        return policy

    def _rotation(self, policy: FeedforwardPolicy, link: str) -> np.ndarray:
        """Return R with v_root = R v_link where the robot is now."""
        steady = self._clocks.steady()
        if not policy.states.is_fresh(steady):
            raise ArgumentError(
                f'how the link {link!r} is turned is not known, as there is no fresh joint state '
                f'of {", ".join(policy.states.stale(steady))}; the root link, '
                f'{policy.robot.tree.root!r}, needs none')
        check_link(policy.robot.tree, link)
        # of all links at once, as a kernel for one of them would first have to be compiled
        return policy.robot.link_rotation(state_query(policy, steady, RequestedState()).q, link)


def _answered_by(change: Callable[[Any], str]) -> Callable[[Any, Any], Any]:
    """Return a service's callback: it makes a change and says what came of it."""
    def answer(request: Any, response: Any) -> Any:
        try:
            response.message = change(request)
        except RneaError as error:
            response.success, response.message = False, str(error)
        else:
            response.success = True
        return response

    return answer


def _transition(seconds: float) -> float | None:
    """Return over which time a change goes over [s]; None: as the parameters say."""
    if not isfinite(seconds) or seconds < 0.0:
        raise ArgumentError(
            f'the transition_time is {seconds}; it needs a finite number from 0 on, where 0 '
            'stands for the parameter blend_time')
    return seconds or None


def _inertial(message: InertiaMessage) -> Inertial:
    center = message.com
    return Inertial(
        message.m, Pose(xyz=(center.x, center.y, center.z)),
        (message.ixx, message.ixy, message.ixz, message.iyy, message.iyz, message.izz))


def _checked(name: str, inertial: Inertial) -> str:
    """
    Return what is suspicious about a payload, in words that may follow others.

    :raises ArgumentError: where no body can be so.
    """
    alone = RobotDescription(name, (LinkDescription(name, inertial),), ())
    findings = [f for f in link_findings(alone) if f.severity > Severity.NOTE]
    for finding in findings:
        if finding.impossible:
            raise ArgumentError(f'the payload {name!r} is impossible: {finding.text}')
    return ''.join(f'; {finding.text}' for finding in findings)
