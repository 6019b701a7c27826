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
"""The quality of service of the node's publishers and subscriptions."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

LATCHED_BY_SEVERAL = QoSProfile(  # the last message of each of them
    depth=10, reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
TRAJECTORIES = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)


def sensor_data(depth: int) -> QoSProfile:
    """Return the QoS that receives from reliable and best-effort publishers alike."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)
