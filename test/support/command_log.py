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
The commands that another process has received from the node under test.

"The first command from now on" cannot be told from the length of a list: a message that was sent
before may still be on its way.  So a test sends a mark behind it, by the same publisher: messages
of one publisher arrive in order, and what comes after the mark was sent after it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from node_bench import Bench
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

_NUMBERS = count(1)
_LABEL = 'mark of a test'


class CommandLog:
    """
    The commands that a subscription receives.

    :ivar commands: all of them, without marks.
    """

    def __init__(self) -> None:
        self.commands: list[list[float]] = []
        self._mark = 0

    def receive(self, message: Float64MultiArray) -> None:
        """Keep a command; this is the callback of the subscription."""
        if message.layout.dim and message.layout.dim[0].label == _LABEL:
            self._mark = max(self._mark, message.layout.dim[0].size)
        else:
            self.commands.append([*message.data])

    def flush(self, bench: Bench, turn: Callable[[], object] = lambda: None) -> int:
        """
        Wait for all commands that answer the joint states published until now.

        :param turn: lets the subscription receive, where no thread does.
        :returns: how many commands have been received.
        """
        bench.settle(0.0)
        number = next(_NUMBERS)
        mark = Float64MultiArray()
        mark.layout.dim = [MultiArrayDimension(label=_LABEL, size=number)]
        topic = bench.node.resolve_topic_name('~/commands')
        publisher = next(each for each in bench.node.publishers if each.topic_name == topic)

        def has_arrived() -> bool:
            publisher.publish(mark)  # the node ignores it: an empty command is no effort
            turn()
            return self._mark >= number

        bench.until(has_arrived)
        return len(self.commands)

    def first_command(
            self, bench: Bench, publish_state: Callable[[], object],
            turn: Callable[[], object] = lambda: None) -> list[float]:
        """Return the first command that answers a joint state which is published from now on."""
        known = self.flush(bench, turn)

        def is_there() -> bool:
            publish_state()
            turn()
            return len(self.commands) > known

        bench.until(is_there)
        return self.commands[known]
