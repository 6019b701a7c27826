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
The other publishers of ~/commands, whose efforts would alternate with those of this node.

A controller obeys whoever has published last.  A publisher that is only listed proves nothing,
because DDS lists a killed one for about 20 s longer.  Therefore this node listens to its own topic
while others are listed, and only commands that arrive count.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import monotonic

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from ros2_rnea.errors import MessageError
from ros2_rnea.node.bounds import MAX_COMMAND_BYTES
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.conversions import deserialized
from ros2_rnea.node.topics.publishers import publishers_of
from ros2_rnea.node.topics.qos import sensor_data
from std_msgs.msg import Float64MultiArray

LOOK_PERIOD = 0.25
"""Period at which the node looks for other publishers [s]."""

SHORTEST_LOOK_PERIOD = 0.02
"""Shortest period at which the node looks for other publishers before its first command [s]."""

LISTENING_TIME = 0.3
"""Time for which the node listens to other publishers before its first command [s]."""

MEMORY_TIME = 1.0
"""Time after a command of another node in which it counts as still publishing [s]."""

SUBJECT = 'other publishers'
"""Subject of the notices about other publishers in /diagnostics."""

DEPTH = 10
"""Number of messages that are queued until the node reads them."""


class OtherPublishers:
    """
    Who else publishes ~/commands, and whether commands of theirs arrive.

    :param publisher: of ~/commands.
    :param is_commanding: returns whether this node sends commands at present.
    :param on_command: called with each command of others, in the order of the message, and whether
        this node sends commands at present.
    :ivar nodes: the names of all nodes that publish; empty where this is the only one.
    :ivar is_listening: whether this node has subscribed to its own topic.
    """

    def __init__(
            self, node: Node, publisher: Publisher, diagnostics: Diagnostics,
            is_commanding: Callable[[], bool],
            on_command: Callable[[tuple[float, ...], bool], object]) -> None:
        self.nodes: frozenset[str] = frozenset()
        self.is_listening = False
        self._node = node
        self._own_name = node.get_fully_qualified_name()
        self._publisher = publisher
        self._diagnostics = diagnostics
        self._is_commanding = is_commanding
        self._on_command_of_others = on_command
        self._names: tuple[str, ...] = ()
        self._subscription: Subscription | None = None
        self._own: deque[bytes] = deque(maxlen=4 * DEPTH)
        self._looked_at = self._listening_since = self._heard_at = -inf
        node.create_timer(
            LOOK_PERIOD, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def are_heard(self) -> bool:
        """Return whether commands of others arrive at present."""
        return monotonic() - self._heard_at < MEMORY_TIME

    def may_begin(self) -> bool:
        """Return, before the first command, whether nobody else is known to command."""
        if monotonic() - self._looked_at >= SHORTEST_LOOK_PERIOD:
            self.look()
        if not self.is_listening:
            return True
        has_listened = monotonic() - self._listening_since >= LISTENING_TIME
        return has_listened and not self.are_heard

    def look(self) -> None:
        """Look who publishes, and listen to others while there are any."""
        self._looked_at = monotonic()
        topic = self._publisher.topic_name
        if self._node.count_publishers(topic) > 1:
            names = [*publishers_of(self._node, topic).values()]
            self.nodes = frozenset(filter(None, names))
            own = self._own_name if self._own_name in names else ''  # which may be lost
            if own in names:
                names.remove(own)  # once: another one may have the same name
            self._names = tuple(sorted(name or 'a node whose name is not known' for name in names))
            self._listen()
        elif self.is_listening:
            self._stop_listening()
        self._report()

    def note_own(self, command: np.ndarray) -> None:
        """Note a command of this node, to tell it from those of others that arrive."""
        if self.is_listening:
            self._own.append(command.tobytes())

    def _report(self) -> None:
        """Report others whose commands arrive."""
        others = ', '.join(self._names) or 'another node'
        consequence = (
            'the controller obeys whoever came last, so that its efforts alternate; stop one of '
            'the publishers' if self._is_commanding() else
            'this node sends none before they have stopped')
        self._diagnostics.notice(SUBJECT, '' if not self.are_heard else (
            f'commands of {others} arrive on {self._publisher.topic_name}: {consequence}'),
            is_error=self._is_commanding())  # else it is waited for

    def _listen(self) -> None:
        if self._subscription is None:
            self.is_listening, self._listening_since = True, monotonic()
            self._subscription = self._node.create_subscription(
                Float64MultiArray, self._publisher.topic_name, self._on_command,
                sensor_data(DEPTH), raw=True)

    def _stop_listening(self) -> None:
        self.is_listening, self.nodes, self._names = False, frozenset(), ()
        self._own.clear()
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _on_command(self, message: bytes) -> None:
        """Note a command of another node; one that is too large to be read is no effort."""
        command = array('d')
        if len(message) <= MAX_COMMAND_BYTES:
            with suppress(MessageError):
                command = array('d', deserialized(message, Float64MultiArray).data)
            if not command:
                return
        content = command.tobytes()
        if content in self._own:
            self._own.remove(content)  # two nodes may send the same efforts
            return
        is_news = not self.are_heard
        self._heard_at = monotonic()
        if command:
            self._on_command_of_others(tuple(command), self._is_commanding())
        if is_news:
            self._report()
