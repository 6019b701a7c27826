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
The process that simulates the controllers: it records when the answer to each joint state arrives.

It receives the effort with the stamp of its state, in bytes.  The commands are delivered over DDS
too, but are not read.  It reads requests as JSON lines from its standard input.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
import json
import sys
from threading import Thread
import time

from benchmark.node.stamps import read_stamp
from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from ros2_rnea.tools.executor import lean_executor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

QUEUE = QoSProfile(depth=1000)


class Receiver(Node):
    """
    Collects how old the answers of some robots are on arrival.

    :ivar latencies: of the first answer to each state, since they were last taken away [ns].
    :ivar longest_gap: between two answers that followed each other [ns].
    :ivar diagnoses: the newest values of each node that diagnoses itself, by its name.
    """

    def __init__(self, controller: Node) -> None:
        super().__init__('benchmark_receiver')
        self._controller = controller
        self._shift = 0
        self._topics: list[str] = []
        self._measured: set[str] = set()
        self.latencies: list[int] = []
        self.longest_gap = 0
        self._arrived = 0
        self._answered = 0  # the stamp of the state that was answered last
        self.diagnoses: dict[str, dict[str, str]] = {}
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def listen(self, namespace: str) -> None:
        """Take the efforts of one robot, and have its commands delivered."""
        topic = f'{namespace}/inverse_dynamics/effort'
        self._topics.append(topic)
        self.create_subscription(
            JointState, topic, partial(self._on_effort, namespace), QUEUE, raw=True)
        self._controller.create_subscription(
            Float64MultiArray, f'{namespace}/inverse_dynamics/commands', _ignore, 1)

    def lists_killed(self) -> bool:
        """Return whether DDS still lists a process that was killed among those that answer."""
        return any(self.count_publishers(topic) > 1 for topic in self._topics)

    def begin(self, namespaces: Sequence[str], shift: int) -> None:
        """
        Begin anew, with stamps that are so far from the monotonic clock [ns].

        :param namespaces: of the robots whose answers count; a node that is not measured at
            present still fades its effort out after its own last state.
        """
        self._measured = set(namespaces)
        self._shift = shift
        self.latencies = []
        self.longest_gap = self._arrived = 0

    def take(self) -> list[int]:
        """Return the latencies since they were last taken away, and take them away."""
        taken, self.latencies = self.latencies, []
        return taken

    def _on_effort(self, namespace: str, message: bytes) -> None:
        now = time.monotonic_ns()
        if namespace not in self._measured:
            return
        stamp = read_stamp(message)
        if len(self._measured) == 1:  # several robots have their states at the same time
            if stamp == self._answered:  # the effort fades out while there are no states
                return
            self._answered = stamp
        self.latencies.append(now + self._shift - stamp)
        if self._arrived:
            self.longest_gap = max(self.longest_gap, now - self._arrived)
        self._arrived = now

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.diagnoses[status.name] = {item.key: item.value for item in status.values}


def _ignore(_: object) -> None:
    """Do nothing: the controller's node is in no executor."""


def obey(receiver: Receiver) -> None:
    """Obey the orders that come in, until there are no more."""
    for line in sys.stdin:
        order = json.loads(line)
        answer: object = None
        if order['do'] == 'listen':
            for name in order['robots']:
                receiver.listen(name)
        elif order['do'] == 'begin':
            receiver.begin(order['robots'], order['shift'])
        elif order['do'] == 'lists_killed':
            answer = receiver.lists_killed()
        elif order['do'] == 'take':
            answer = receiver.take()
        elif order['do'] == 'report':
            answer = {'latencies': receiver.latencies, 'diagnoses': receiver.diagnoses,
                      'longest_gap': receiver.longest_gap}
        sys.stdout.write(json.dumps(answer) + '\n')
        sys.stdout.flush()
    rclpy.try_shutdown()


def main() -> None:
    """Receive until the standard input ends."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    receiver = Receiver(Node('benchmark_controller'))
    executor = lean_executor()
    executor.add_node(receiver)
    Thread(target=obey, args=[receiver], daemon=True).start()
    while rclpy.ok():
        executor.spin_once(timeout_sec=0.1)


if __name__ == '__main__':
    main()
