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
from math import inf
from time import monotonic

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.utilities import get_rmw_implementation_identifier
from ros2_rnea.feedforward.effort.start_effort import Evidence, Receiver
from ros2_rnea.node.topics.command_record import CommandRecord, Endpoint, record_path

DISCOVERY_TIME = 10.0
"""A receiver that appears later than this after the start of this node [s] is younger."""

LONGEST_CYCLE = 0.01
"""In a pause that is longer [s], one receiver may have taken the place of another."""

NAME_DISCOVERY_TIME = 0.5
"""How long the name of a receiver's node may be unknown [s]; DDS sends it after the endpoint."""

PARTICIPANT_BYTES = 12
"""How many bytes at the beginning of an endpoint's identifier are its participant's."""

WITH_PARTICIPANTS = ('rmw_fastrtps', 'rmw_cyclonedds', 'rmw_connextdds')
"""Where they are; of others nothing is known but whether an endpoint is the same."""


UNKNOWN_NODE = '_NODE_NAME_UNKNOWN_'
"""What rcl calls the node of an endpoint until its name has been discovered."""


class Receivers:
    """
    Who receives ~/commands, since when, and what they received last.

    :param publisher: of ~/commands.
    :ivar are_unknown: whether one has been discovered and its name has not, so that it may be the
        controller again, which then starts from zero; it takes some milliseconds.
    """

    def __init__(self, node: Node, publisher: Publisher) -> None:
        self._node = node
        self._publisher = publisher
        self._record = CommandRecord(record_path(node.get_fully_qualified_name()))
        # Who holds the last command, and which; at first, from an earlier process of this node.
        self._holding, self._last_command = self._record.read()
        self._joints: tuple[str, ...] = ()
        self._effort: np.ndarray | None = None
        self._served: frozenset[Endpoint] = frozenset()  # those that our commands go to
        self._count, self._checked = 0, -inf
        self._present: frozenset[Endpoint] = frozenset()
        self._seen: dict[str, float] = {}  # since when, by process
        self._early: set[str] = set()  # processes that may be older than this node
        self._since = monotonic()
        self.are_unknown = False
        rmw = get_rmw_implementation_identifier()
        self._has_participants = rmw.startswith(WITH_PARTICIPANTS)

    def have_changed(self, controller: str) -> bool:
        """
        Tell, in each cycle, whether the commands go to others than until now.

        :param controller: the name of the node that receives them; empty: it is not known.
        """
        checked, self._checked = self._checked, monotonic()
        count = self._publisher.handle.get_subscription_count()
        is_same = count == self._count and self._checked - checked < LONGEST_CYCLE
        if is_same and not self.are_unknown:
            return False
        return self.poll(controller)

    def poll(self, controller: str) -> bool:
        """Look who receives the commands; parameter and result are those of have_changed()."""
        self._count = self._publisher.handle.get_subscription_count()
        self._look(controller)
        self.are_unknown = any(
            not each.node and monotonic() - self._seen[each.process] < NAME_DISCOVERY_TIME
            for each in self._others(self._served))
        if self.are_unknown:
            return False
        if not self._present:  # whoever comes back holds what it received until now
            self._served = frozenset()
            return False
        return self._is_replaced(self._served)

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
        others = self._others(self._holding)
        if self._present and not others:
            return Receiver.SAME
        are_younger = not any(each.process in self._early for each in others)
        has_successor = bool(self._holding) and self._is_replaced(self._holding)
        return Receiver.NEW if are_younger or has_successor else Receiver.UNKNOWN

    def _is_replaced(self, earlier: frozenset[Endpoint]) -> bool:
        """
        Tell whether the present receivers are others than earlier ones.

        After a crash, DDS lists an earlier one for some time beside its successor, which has the
        same name.  Others that are added, such as recorders, replace nobody.
        """
        others = self._others(earlier)
        names = {endpoint.node for endpoint in earlier if endpoint.node}
        return len(others) == len(self._present) or any(each.node in names for each in others)

    def _others(self, earlier: frozenset[Endpoint]) -> list[Endpoint]:
        """Return the present receivers in other processes; names may be discovered later."""
        processes = {endpoint.process for endpoint in earlier}
        return [endpoint for endpoint in self._present if endpoint.process not in processes]

    def _look(self, controller: str) -> None:
        """Find the receivers; where one has the controller's name, others only listen."""
        topic = self._publisher.topic_name
        suffix = '/' + (controller or topic.rsplit('/', 1)[0]).strip('/')
        found = frozenset(map(self._endpoint, self._node.get_subscriptions_info_by_topic(topic)))
        named = frozenset(each for each in found if each.node.endswith(suffix))
        self._present = named or found
        processes = {endpoint.process for endpoint in self._present}
        if monotonic() - self._since < DISCOVERY_TIME or not self._has_participants:
            own_name = self._node.get_fully_qualified_name()
            own = {each.process for each in map(
                self._endpoint, self._node.get_publishers_info_by_topic(topic))
                if each.node == own_name}
            self._early |= processes - self._seen.keys() - own
        for process in processes:
            self._seen.setdefault(process, monotonic())

    def _endpoint(self, info: TopicEndpointInfo) -> Endpoint:
        identifier = bytes(info.endpoint_gid)
        if self._has_participants:
            identifier = identifier[:PARTICIPANT_BYTES]
        name = f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        return Endpoint('' if info.node_name == UNKNOWN_NODE else name, identifier.hex())
