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
"""Simulated time for nodes under test, which stands still until the test sets it."""

from collections.abc import Callable

from node_bench import Bench
from rosgraph_msgs.msg import Clock


def time_setter(arm: Bench) -> Callable[[float], None]:
    """Return a function that sets the simulated time, and waits until the node has it."""
    clock = arm.peer.create_publisher(Clock, '/clock', 10)

    def set_time(seconds: float) -> None:
        nanoseconds = round(1e9 * seconds)
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(nanoseconds, 10**9)

        def has_come() -> bool:
            clock.publish(message)
            return arm.node.get_clock().now().nanoseconds == nanoseconds

        arm.until(has_come)

    return set_time
