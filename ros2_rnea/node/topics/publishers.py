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
"""The publishers and subscribers of a topic, as the ROS graph lists them."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

UNKNOWN_NODE = '_NODE_NAME_UNKNOWN_'
"""
The name that rcl gives to the node of an endpoint until its real name has been discovered.

After a network cut of 20 s and more, rmw_fastrtps discovers the same endpoints again, but never
the names of their nodes.
"""


def node_name(info: TopicEndpointInfo) -> str:
    """Return the full name of an endpoint's node; empty where it is not known."""
    if info.node_name == UNKNOWN_NODE:
        return ''
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


def publishers_of(node: Node, topic: str) -> dict[bytes, str]:
    """Return the full names of the nodes that publish a topic, by identifiers in DDS."""
    return {bytes(info.endpoint_gid): node_name(info)
            for info in node.get_publishers_info_by_topic(topic)}
