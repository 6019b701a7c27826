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
"""The publishers of efforts, for controllers and for observers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from ros2_rnea.node.topics.qos import RELIABLE
from ros2_rnea.node.topics.sender import Sender
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

LONGEST_DELIVERY = 0.5
"""Longest time that the last message may take to arrive [s]."""


class EffortPublishers:
    """
    The topics ~/commands, in the order of the parameter ``joints``, and ~/effort, by name.

    :ivar of_commands: the publisher of ~/commands.
    """

    def __init__(self, node: Node) -> None:
        self.of_commands = node.create_publisher(Float64MultiArray, '~/commands', RELIABLE)
        self._publishers = (
            self.of_commands, node.create_publisher(JointState, '~/effort', RELIABLE))
        self._prepared_for: tuple[str, ...] | None = None
        self.use((), has_commands=False)

    def prepare(self, joints: Sequence[str]) -> None:
        """Make the messages for controlled joints early: :meth:`use` then takes little time."""
        commands, effort = self._publishers
        self._prepared_for, count = tuple(joints), len(joints)
        self._prepared = (
            Sender(commands, Float64MultiArray(), 'data', count),
            Sender(effort, JointState(name=list(joints)), 'effort', count))

    def use(self, joints: Sequence[str], has_commands: bool) -> None:
        """
        Publish the efforts of these joints from now on.

        :param has_commands: whether to publish ~/commands, since the order of the joints is known.
        """
        if tuple(joints) != self._prepared_for:
            self.prepare(joints)
        commands, self._effort = self._prepared
        self._commands = commands if has_commands else None

    @property
    def has_commands(self) -> bool:
        """Return whether ~/commands is published."""
        return self._commands is not None

    def send(
            self, effort: np.ndarray, stamp: tuple[int, int], command: np.ndarray | None,
            latest: float) -> bool:
        """
        Publish an effort, and return whether that was in time.

        :param effort: shape (joints,) [Nm or N].
        :param stamp: of the joint state that caused it, in s and ns.
        :param command: the effort in the units of the drives, for ~/commands; None: no command.
        :param latest: nothing is published later than this, on the monotonic clock [s].
        """
        if command is None or self._commands is None:
            return self._effort.send(effort, stamp, latest)
        was_in_time = self._commands.send(command, latest=latest)
        self._effort.send(effort, stamp, latest)
        return was_in_time

    def wait_for_delivery(self) -> None:
        """Wait until all subscribers have received the last message."""
        for publisher in self._publishers:
            publisher.wait_for_all_acked(Duration(seconds=LONGEST_DELIVERY))
