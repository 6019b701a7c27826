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
"""Who subscribes to ~/commands, as the middleware tells it: nodes by name, and their processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.utilities import get_rmw_implementation_identifier
from ros2_rnea.node.topics.command_record import Endpoint
from ros2_rnea.node.topics.publishers import node_name, UNKNOWN_NODE

PARTICIPANT_BYTES = 12
"""Number of bytes at the start of an endpoint's identifier that identify its participant."""

WITH_PARTICIPANTS = ('rmw_fastrtps', 'rmw_cyclonedds', 'rmw_connextdds')
"""
The RMW implementations whose endpoint identifiers begin with that of the participant.

With other implementations, endpoints can be told apart, but not the processes that own them.
"""

MAX_NAMES = 1000
"""Largest number of endpoints whose names are stored."""


class ReceiverGraph:
    """
    Reads the graph around ~/commands.

    :param topic: the fully qualified name of ~/commands.
    :param publishing_nodes: returns the names of nodes that publish ~/commands, as far as there
        are others than this one.
    :ivar tells_processes: whether the middleware tells which process an endpoint belongs to.
    """

    def __init__(
            self, node: Node, topic: str, publishing_nodes: Callable[[], frozenset[str]]) -> None:
        self.tells_processes = get_rmw_implementation_identifier().startswith(WITH_PARTICIPANTS)
        self._node = node
        self._topic = topic
        self._publishing_nodes = publishing_nodes
        self._names: dict[bytes, str] = {}  # by identifiers of endpoints, never used again

    def receivers(self, controller: str) -> tuple[frozenset[Endpoint], int]:
        """
        Return who receives the commands, without those that only hear other publishers.

        :param controller: the name of the controller's node; empty: it is not known.
        :return: the receivers, and the number of all subscribers.
        """
        listed = self._node.get_subscriptions_info_by_topic(self._topic)
        return self._endpoints(
            info for info in listed if not self._only_listens(info, controller)), len(listed)

    def drivers(self) -> frozenset[str]:
        """Return the processes that publish the joint states: those of the robot's drivers."""
        states = self._node.resolve_topic_name('joint_states')
        return processes(self._endpoints(self._node.get_publishers_info_by_topic(states)))

    def own_process(self) -> frozenset[str]:
        """
        Return the process of this node, as far as it is known who publishes its commands.

        The middleware may have lost the name of this node, for instance when another node of that
        name in the same process has ended.  Then the only publisher is that of this node.
        """
        name = self._node.get_fully_qualified_name()
        publishers = self._endpoints(self._node.get_publishers_info_by_topic(self._topic))
        return processes(each for each in publishers
                         if each.node == name or len(publishers) == 1 and not each.node)

    def _only_listens(self, info: TopicEndpointInfo, controller: str) -> bool:
        """
        Return whether a subscriber is one of those by which nodes like this one hear each other.

        Such a subscriber is in a node that also publishes ~/commands, and does not ask for
        reliable messages.  A driver or a bridge that publishes on the topic, too, is a receiver.
        """
        name = self._name(info)
        if name == self._node.get_fully_qualified_name():
            return True
        return name != controller and name in self._publishing_nodes() and (
            info.qos_profile.reliability is ReliabilityPolicy.BEST_EFFORT)

    def _endpoints(self, found: Iterable[TopicEndpointInfo]) -> frozenset[Endpoint]:
        return frozenset(Endpoint(self._name(info), self._process(info)) for info in found)

    def _name(self, info: TopicEndpointInfo) -> str:
        """Return the full name of an endpoint's node; empty where it has never been known."""
        known, identifier = self._names, bytes(info.endpoint_gid)
        if info.node_name != UNKNOWN_NODE:
            if len(known) >= MAX_NAMES and identifier not in known:
                del known[next(iter(known))]
            known[identifier] = node_name(info)
        return known.get(identifier, '')

    def _process(self, info: TopicEndpointInfo) -> str:
        """Return the identifier of an endpoint's process; empty where there is none."""
        identifier = bytes(info.endpoint_gid)
        if not any(identifier):
            return ''
        return (identifier[:PARTICIPANT_BYTES] if self.tells_processes else identifier).hex()


def processes(endpoints: Iterable[Endpoint]) -> frozenset[str]:
    """Return the processes of endpoints; an empty text: of one that cannot be told."""
    return frozenset(endpoint.process for endpoint in endpoints)
