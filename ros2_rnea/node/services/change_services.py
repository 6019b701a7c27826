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
"""The services that change payloads, gravity and the sensor bias of wrenches at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import Inertia as InertiaMessage
import numpy as np
from rclpy.node import Node
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.queries import RequestedState, state_query
from ros2_rnea.errors import ArgumentError, RneaError, shortened
from ros2_rnea.model.description import Inertial, LinkDescription, Pose, RobotDescription
from ros2_rnea.node.bounds import check_name, MAX_TRANSITION_TIME
from ros2_rnea.node.models.configuration import Configuration
from ros2_rnea.node.models.model_building import Payload
from ros2_rnea.node.models.model_summary import NO_ROBOT
from ros2_rnea.node.timing.clocks import Clocks
from ros2_rnea.offline.audit.findings import Severity
from ros2_rnea.offline.audit.links import link_findings
from ros2_rnea.robots.arguments import check_link
from std_srvs.srv import Trigger

try:
    from ros2_rnea_interfaces.srv import SetGravity, SetPayload
except ImportError:  # compute_services.py logs that
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
                'the name is empty; a payload needs one, so that it can be replaced or removed')
        for field in ('name', 'link'):
            check_name(field, getattr(request, field))
        if request.remove:
            is_in_use = self._configuration.remove_payload(request.name, transition)
            remark = ''
        else:
            inertial = _inertial(request.inertia)
            if not any((inertial.mass, *inertial.inertia)):
                raise ArgumentError(
                    'the mass and the inertia are zero, as in a request without values; to remove '
                    'a payload, set remove to true')
            remark = _checked(request.name, inertial)
            is_in_use = self._configuration.set_payload(
                Payload(request.name, request.link, inertial), transition)
        return ('in use' if is_in_use else 'will be used once it is compiled') + remark

    def _set_gravity(self, request: Any) -> str:
        policy, vector = self._policy(), request.gravity.vector
        if policy.settings.gravity_from_imu:
            raise ArgumentError(
                'the parameter gravity_from_imu is true, so that gravity is measured by the imu; '
                'set it to false first')
        gravity = np.array([vector.x, vector.y, vector.z])
        if not np.isfinite(gravity).all():
            raise ArgumentError(f'the gravity is {gravity.tolist()}; it needs 3 finite numbers')
        if not gravity.any():
            raise ArgumentError(
                'the gravity is zero, as in a request without values; in weightlessness, set the '
                'parameter gravity to [0.0, 0.0, 0.0]')
        link = request.gravity.header.frame_id
        if link and link != policy.robot.tree.root:
            gravity = self._rotation(policy, link) @ gravity
        result = self._configuration.set_parameter(
            'gravity', gravity.tolist(), _transition(request.transition_time))
        if not result.successful:
            raise ArgumentError(result.reason)
        if self._configuration.misfit:
            raise ArgumentError(
                'the gravity is stored for the robot that is being built, and the one in use '
                f'keeps the previous one: {self._configuration.misfit}')
        return f'in use: {gravity.round(4).tolist()} m/s^2 in the axes of the root link'

    def _zero_wrench(self, _: Any) -> str:
        frames = self._policy().zero_wrench(self._clocks.now())
        return f'the present wrench is now the sensor bias in {", ".join(frames)}'

    def _policy(self) -> Policy:
        policy = self._configuration.policy
        if policy is None:
            raise ArgumentError(NO_ROBOT)
        return policy

    def _rotation(self, policy: Policy, link: str) -> np.ndarray:
        """Return R with v_root = R v_link at the measured positions."""
        steady = self._clocks.steady()
        if not policy.states.is_fresh(steady):
            raise ArgumentError(
                f'the orientation of the link {link!r} is unknown, because there is no fresh '
                f'joint state of {", ".join(policy.states.stale(steady))}; the root link, '
                f'{policy.robot.tree.root!r}, needs none')
        check_link(policy.robot.tree, link)
        return policy.robot.link_rotation(state_query(policy, steady, RequestedState()).q, link)


def _answered_by(change: Callable[[Any], str]) -> Callable[[Any, Any], Any]:
    """Return a service's callback, which makes a change and answers with its result."""
    def answer(request: Any, response: Any) -> Any:
        try:
            response.message = change(request)
        except RneaError as error:
            response.success, response.message = False, shortened(str(error))
        else:
            response.success = True
        return response

    return answer


def _transition(seconds: float) -> float | None:
    """Return the duration of the blend after a change [s]; None: ``blend_time``."""
    if not 0.0 <= seconds <= MAX_TRANSITION_TIME:
        raise ArgumentError(
            f'the transition_time is {seconds:g}; it must be between 0, which means the parameter '
            f'blend_time, and {MAX_TRANSITION_TIME:g} s')
    return seconds or None


def _inertial(message: InertiaMessage) -> Inertial:
    center = message.com
    return Inertial(
        message.m, Pose(xyz=(center.x, center.y, center.z)),
        (message.ixx, message.ixy, message.ixz, message.iyy, message.iyz, message.izz))


def _checked(name: str, inertial: Inertial) -> str:
    """
    Return the suspicious properties of a payload, as text to append to an answer.

    :raises ArgumentError: where its mass and inertia are physically impossible.
    """
    alone = RobotDescription(name, (LinkDescription(name, inertial),), ())
    findings = [f for f in link_findings(alone) if f.severity > Severity.NOTE]
    for finding in findings:
        if finding.impossible:
            raise ArgumentError(f'the payload {name!r} is impossible: {finding.text}')
    return ''.join(f'; {finding.text}' for finding in findings)
