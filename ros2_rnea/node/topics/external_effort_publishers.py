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
"""The topics ~/external_effort and ~/external_wrench: what the environment exerts on the robot."""

from __future__ import annotations

from collections.abc import Callable

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3, WrenchStamped
from rclpy.node import Node
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import ContactReaction, Settings
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.qos import RELIABLE
from sensor_msgs.msg import JointState


class ExternalEffortPublishers:
    """
    Observes the external effort while somebody listens or a reaction needs it, and publishes it.

    :param diagnostics: says where a contact is, and what joint states lack.
    :param is_ready: whether the robot in use is compiled for the observation.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, is_ready: Callable[[], bool]) -> None:
        self._diagnostics = diagnostics
        self._is_ready = is_ready
        self._effort = node.create_publisher(JointState, '~/external_effort', RELIABLE)
        self._wrench = node.create_publisher(WrenchStamped, '~/external_wrench', RELIABLE)
        self._effort_is_wanted = self._wrench_is_wanted = False

    def poll(self, policy: Policy | None) -> None:
        """Check whether there are subscribers, and report why they receive nothing."""
        self._effort_is_wanted = self._effort.get_subscription_count() > 0
        self._wrench_is_wanted = self._wrench.get_subscription_count() > 0
        self._diagnostics.notice(
            'external effort', '' if policy is None else self._reason_for_silence(policy))
        if policy is None or not self.is_needed(policy):
            self._diagnostics.notice('contact', '')

    def _reason_for_silence(self, policy: Policy) -> str:
        """Return why a subscriber or the reaction gets nothing; empty where none needs it."""
        if not policy.settings.observe_external_effort:
            listens = self._effort_is_wanted or self._wrench_is_wanted
            return 'the parameter observe_external_effort is false' if listens else ''
        if not self._is_wanted(policy.settings):
            return ''
        if not self._is_ready():
            return ('no contact is observed before the model for it is compiled, or if '
                    'robot_description is refused')
        if self._wrench_is_wanted and not policy.settings.external_wrench_link:
            return policy.external.missing or 'the parameter external_wrench_link is not set'
        return policy.external.missing

    def _is_wanted(self, settings: Settings) -> bool:
        """Return whether somebody listens, or the node itself has to react."""
        return (self._effort_is_wanted or self._wrench_is_wanted
                or settings.contact_reaction is not ContactReaction.NONE)

    def is_needed(self, policy: Policy) -> bool:
        """Return whether the external effort has to be observed, and can be."""
        settings = policy.settings
        return (settings.observe_external_effort and self._is_wanted(settings)
                and self._is_ready())

    def publish(self, policy: Policy, stamp: tuple[int, int]) -> None:
        """
        Publish what has been observed.

        :param stamp: of the joint state that it was observed in, in s and ns.
        """
        external, time = policy.external, Time(sec=stamp[0], nanosec=stamp[1])
        self._diagnostics.notice('contact', ', '.join(external.contacts) and (
            'an external effort exceeds external_effort_threshold at '
            + ', '.join(external.contacts)))
        if external.effort is None:
            return
        if self._effort_is_wanted:
            message = JointState(
                name=list(policy.controlled), effort=external.effort.tolist())
            message.header.stamp = time
            self._effort.publish(message)
        wrench = external.wrench() if self._wrench_is_wanted else None
        if wrench is not None:
            stamped = WrenchStamped()
            stamped.header.stamp = time
            stamped.header.frame_id = policy.settings.external_wrench_link
            x, y, z, *force = wrench.tolist()
            stamped.wrench.torque = Vector3(x=x, y=y, z=z)
            stamped.wrench.force = Vector3(x=force[0], y=force[1], z=force[2])
            self._wrench.publish(stamped)
