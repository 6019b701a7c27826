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
The description of another robot, which must not take over from the robot that is driven.

``robot_description`` is a topic that many nodes publish.  A second robot in the same namespace
would be taken for the one that is driven, and its efforts would be sent to that.  An identified
model of the same robot has the same name in ``<robot name="...">``, and is used at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from rclpy.node import Node
from ros2_rnea.errors import UnsafeChangeError
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.node.topics.publishers import publishers_of

TOPIC = 'robot_description'


class DescriptionGuard:
    """
    Who publishes the robot's description, and which description is not used for the time being.

    :ivar withheld: the description of another robot; None: there is none.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topic = node.resolve_topic_name(TOPIC)
        self._in_use: Mapping[bytes, str] = {}  # who published when the one in use arrived
        self._arrived: Mapping[bytes, str] = {}  # the same for the one that arrived last
        self._have_differed = False
        self.withheld: str | None = None

    def note_arrival(self, description: str, latest: str | None, is_in_use: bool) -> None:
        """
        Note who publishes when a description arrives.

        :param latest: the description that is requested, or else in use; None: there is none.
        :param is_in_use: whether the one that arrives is in use, so that it is not from a rival.
        """
        before, self._arrived = self._arrived, publishers_of(self._node, self._topic)
        if is_in_use:  # it comes from a new publisher, as after a crash, or from one of before
            self._in_use = {
                identifier: name for identifier, name in self._arrived.items()
                if identifier in self._in_use or identifier not in before}
        if len(self._arrived) > 1 and description != (latest or description):
            self._have_differed = True

    def note_use(self) -> None:
        """Note that the description that arrived last is used from now on."""
        self._in_use, self.withheld = self._arrived, None

    def withhold(self, description: str, other: str, present: str) -> UnsafeChangeError:
        """
        Note that a description is not used for the time being, and return why.

        :param other: the name of its robot.
        :param present: that of the robot in use.
        """
        self.withheld = description
        before, since = self._names(self._in_use), self._names(self._rivals)
        return UnsafeChangeError(
            f'it describes the robot {other!r}, while {present!r} is driven, which stays in '
            f'use. {self._topic} was published by {before or "no node"} when {present!r} '
            f'arrived; {since or "no other node"} came later. Stop the publisher that is wrong. '
            f'{other!r} is used when ~/enable has been called with false, or if the parameter '
            f'{TOPIC} is set to its description')

    @property
    def is_robot_described(self) -> bool:
        """Tell whether one still publishes who did when the description in use arrived."""
        return not self._in_use.keys().isdisjoint(publishers_of(self._node, self._topic))

    @property
    def has_gone(self) -> bool:
        """Tell whether nobody publishes the withheld description any more."""
        rivals = self._rivals.keys()
        return bool(rivals) and rivals.isdisjoint(publishers_of(self._node, self._topic))

    def ambiguity(self) -> str:
        """Return who publishes descriptions that differ; empty where that is one node."""
        if not self._have_differed:
            return ''
        publishers = publishers_of(self._node, self._topic)
        self._have_differed = len(publishers) > 1
        return '' if not self._have_differed else (
            f'{self._names(publishers)} publish {self._topic}, and their texts differ: of the '
            'same robot, the last one is used; stop all but one')

    @property
    def _rivals(self) -> Mapping[bytes, str]:
        """Return the publishers that came after the description in use."""
        return {identifier: name for identifier, name in self._arrived.items()
                if identifier not in self._in_use}

    def _names(self, publishers: Mapping[bytes, str]) -> str:
        return listed(sorted({name or 'a node without a name' for name in publishers.values()}))
