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
"""The topic ~/terms: the terms that each effort consists of."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from builtin_interfaces.msg import Time
from rclpy.node import Node
from ros2_rnea.control.decision import SentTerms
from ros2_rnea.node.topics.qos import RELIABLE

try:
    from ros2_rnea_interfaces.msg import EffortTerms
except ImportError:  # compute_services.py logs that
    EffortTerms = None

FLAGS = ('saturated', 'rate_limited', 'restrained')


class TermsPublisher:
    """
    Publishes terms while there is a subscriber, since they cost as much as another cycle.

    :ivar has_subscriber: whether there is one.
    """

    def __init__(self, node: Node) -> None:
        self.has_subscriber = False
        self._publisher = None
        if all(hasattr(EffortTerms, name) for name in SentTerms._fields):  # old ones lack some
            self._publisher = node.create_publisher(EffortTerms, '~/terms', RELIABLE)

    def poll(self) -> None:
        """Check whether there is a subscriber."""
        if self._publisher is not None:
            self.has_subscriber = self._publisher.get_subscription_count() > 0

    def send(self, joints: Sequence[str], terms: SentTerms, stamp: tuple[int, int]) -> None:
        """
        Publish the terms of an effort.

        :param joints: in the order of the terms.
        :param stamp: of the joint state that caused it, in s and ns.
        """
        if self._publisher is None:
            return
        message = EffortTerms(name=list(joints))
        message.header.stamp = Time(sec=stamp[0], nanosec=stamp[1])
        for field, values in terms._asdict().items():
            setattr(message, field, values.tolist() if field in FLAGS else array('d', values))
        self._publisher.publish(message)
