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
The processes that receive ~/commands, and what is known of the effort that they hold.

A controller without a timeout holds its last command for as long as its process lives.  Processes
are told apart by the identifiers of their participants in DDS, which are never used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.utilities import get_rmw_implementation_identifier
from ros2_rnea.feedforward.effort.start_effort import Evidence, Receiver
from ros2_rnea.node.topics.command_record import CommandRecord, record_path

DISCOVERY_TIME = 10.0
"""A receiver that appears later than this after the start of this node [s] is younger."""

PARTICIPANT_BYTES = 12
"""How many bytes at the beginning of an endpoint's identifier are its participant's."""

WITH_PARTICIPANTS = ('rmw_fastrtps', 'rmw_cyclonedds', 'rmw_connextdds')
"""Where they are; of others nothing is known but whether an endpoint is the same."""


class Receivers:
    """
    Who receives ~/commands, since when, and what they received last.

    :param publisher: of ~/commands.
    """

    def __init__(self, node: Node, publisher: Publisher) -> None:
        self._node = node
        self._publisher = publisher
        self._record = CommandRecord(record_path(node.get_fully_qualified_name()))
        # Who holds the last command, and which; at first, from an earlier process of this node.
        self._holding, self._last_command = self._record.read()
        self._joints: tuple[str, ...] = ()
        self._effort: np.ndarray | None = None
        self._served: frozenset[str] = frozenset()  # those that our commands go to
        self._count = 0
        self._present: frozenset[str] = frozenset()
        self._is_one_controller = False
        self._seen: set[str] = set()
        self._early: set[str] = set()  # those that may be older than this node
        self._since = monotonic()
        rmw = get_rmw_implementation_identifier()
        self._has_participants = rmw.startswith(WITH_PARTICIPANTS)

    def have_changed(self, controller: str) -> bool:
        """
        Tell, in each cycle, whether the commands go to others than until now.

        :param controller: the name of the node that receives them; empty: it is not known.
        """
        count = self._publisher.handle.get_subscription_count()
        return count != self._count and self.poll(controller)

    def poll(self, controller: str) -> bool:
        """Look who receives the commands; parameter and result are those of have_changed()."""
        self._count = self._publisher.handle.get_subscription_count()
        self._look(controller)
        if not self._present:  # whoever comes back holds what it received until now
            self._served = frozenset()
            return False
        if self._is_one_controller:
            return not self._present <= self._served
        return self._present.isdisjoint(self._served)

    def evidence(self) -> Evidence:
        """Return what is known of the effort that the receivers hold."""
        if self._effort is not None:
            self._last_command = dict(zip(self._joints, self._effort.tolist()))
        return Evidence(self._receiver(), self._last_command)

    def served(self, joints: Sequence[str], effort: np.ndarray) -> None:
        """
        Record that a command was sent.

        :param effort: shape (joints,) [Nm or N]; the array is kept and must not change.
        """
        if not self._present:
            return
        if self._served != self._present or self._joints != joints:
            self._served = self._holding = self._present
            self._joints = tuple(joints)
            self._record.begin(self._joints, self._holding)
        self._effort = effort
        self._record.write(effort)

    @property
    def record_error(self) -> str:
        """Return why commands are not recorded; empty where they are."""
        return self._record.error

    def _receiver(self) -> Receiver:
        others = self._present - self._holding
        if not self._present or (others and not others & self._early):
            return Receiver.NEW
        if not others:
            return Receiver.SAME
        if self._holding and (self._is_one_controller or others == self._present):
            return Receiver.REPLACED
        return Receiver.UNKNOWN

    def _look(self, controller: str) -> None:
        """Find the receivers; where one has the controller's name, others only listen."""
        topic = self._publisher.topic_name
        name = controller or topic.rsplit('/', 1)[0]
        found = self._node.get_subscriptions_info_by_topic(topic)
        named = [info for info in found if f'/{_full_name(info)}'.endswith(f'/{name.strip("/")}')]
        self._is_one_controller = bool(named)
        self._present = frozenset(map(self._process, named or found))
        if monotonic() - self._since < DISCOVERY_TIME or not self._has_participants:
            own = {self._process(info)
                   for info in self._node.get_publishers_info_by_topic(topic)
                   if _full_name(info) == self._node.get_fully_qualified_name().strip('/')}
            self._early |= self._present - self._seen - own
        self._seen |= self._present

    def _process(self, info: TopicEndpointInfo) -> str:
        identifier = bytes(info.endpoint_gid)
        return (identifier[:PARTICIPANT_BYTES] if self._has_participants else identifier).hex()


def _full_name(info: TopicEndpointInfo) -> str:
    return f'{info.node_namespace}/{info.node_name}'.strip('/')
