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
The process that changes the robot while it works: descriptions, payloads and gravity, in turn.

It reads requests as JSON lines from its standard input, and answers on its standard output.
"""

from __future__ import annotations

from itertools import cycle
import json
import sys
import time

from geometry_msgs.msg import Inertia, Vector3, Vector3Stamped
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from ros2_rnea_interfaces.srv import SetGravity, SetPayload
from std_msgs.msg import String

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

DESCRIPTION_PERIOD = 0.5
CHANGE_PERIOD = 0.02
"""How often the description changes, and payload or gravity [s]."""


class Changer(Node):
    """
    Changes one robot.

    :param namespace: of its node.
    """

    def __init__(self, namespace: str) -> None:
        super().__init__('benchmark_changer')
        self._description = self.create_publisher(
            String, f'{namespace}/robot_description', LATCHED)
        self._payload = self.create_client(
            SetPayload, f'{namespace}/inverse_dynamics/set_payload')
        self._gravity = self.create_client(
            SetGravity, f'{namespace}/inverse_dynamics/set_gravity')

    def change(self, urdfs: list[str], links: list[str], seconds: float) -> dict[str, int]:
        """
        Change everything for some time, and return how often.

        :param urdfs: the descriptions that take turns.
        :param links: that carry the payload in turn.
        """
        done = {'descriptions': 0, 'payloads and gravity': 0}
        texts, carriers = cycle(urdfs), cycle(links)
        start = described = time.monotonic()
        while time.monotonic() < start + seconds:
            if time.monotonic() >= described:
                described += DESCRIPTION_PERIOD
                self._description.publish(String(data=next(texts)))
                done['descriptions'] += 1
            self._payload.call_async(SetPayload.Request(
                name='load', link=next(carriers), inertia=Inertia(
                    m=1.0 + 0.1 * (done['descriptions'] % 7), ixx=0.01, iyy=0.01, izz=0.01)))
            tilt = 1e-3 * (done['payloads and gravity'] % 100)
            self._gravity.call_async(SetGravity.Request(
                gravity=Vector3Stamped(vector=Vector3(x=tilt, z=-9.81))))
            done['payloads and gravity'] += 2
            rclpy.spin_once(self, timeout_sec=0.0)
            time.sleep(CHANGE_PERIOD)
        return done


def main() -> None:
    """Obey the requests that come in, until there are no more."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    changer = Changer(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = changer.change(request['urdfs'], request['links'], request['seconds'])
        sys.stdout.write(json.dumps(answer) + '\n')
        sys.stdout.flush()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
