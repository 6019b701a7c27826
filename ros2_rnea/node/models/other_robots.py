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
The description of another robot, which does not take over from the robot in use by itself.

``robot_description`` is a topic that many nodes publish.  A second robot in the same namespace
would be taken for the one that is driven, and its efforts would be sent to that.  An identified
model of the same robot has the same name in ``<robot name="...">`` and the same joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from rclpy.node import Node
from ros2_rnea.control.policy import Policy
from ros2_rnea.model.safe_xml import read_root
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.node.topics.publishers import publishers_of

TOPIC = 'robot_description'

SAME_AXIS = 0.99
"""Scalar product of two unit vectors above which the axis is the same, perhaps calibrated."""


class Withheld(NamedTuple):
    """
    The description of another robot, which is not used for the time being.

    :ivar description: None while it is not known whether it is still published.
    :ivar present: the name of the robot that stays.
    :ivar difference: to that robot, for people.
    :ivar is_undecided: whether nothing tells which of the two robots is driven.
    """

    description: str | None
    present: str
    difference: str
    is_undecided: bool


class DescriptionPublishers:
    """
    Who publishes robot descriptions, as of the last arrival or poll.

    The graph does not tell which of several publishers has sent a text.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topic = node.resolve_topic_name(TOPIC)
        self._present: dict[bytes, str] = {}
        self._known = frozenset[bytes]()  # since the last poll
        self._have_differed = False

    @property
    def are_several(self) -> bool:
        """Return whether several publish; the last text of a single one is the only one."""
        return len(self._known) > 1

    @property
    def names(self) -> str:
        """Return the names of their nodes, for people."""
        names = {name or 'a node without a name' for name in self._present.values()}
        return listed(sorted(names)) or 'no node'

    def note_arrival(self, is_another_text: bool) -> None:
        """Note who publishes as a text arrives."""
        self._present = publishers_of(self._node, self._topic)
        self._known |= self._present.keys()  # one may go before the next poll
        self._have_differed |= is_another_text and self.are_several

    def poll(self) -> bool:
        """Look who publishes, and return whether one has gone."""
        self._present = publishers_of(self._node, self._topic)
        known, self._known = self._known, frozenset(self._present)
        return not known <= self._known

    def forget_difference(self) -> None:
        """Forget that texts differed, since all are received again."""
        self._have_differed = False

    def difference(self) -> str:
        """Return that several publish texts that differ; empty where they do not."""
        self._have_differed &= self.are_several
        return '' if not self._have_differed else (
            f'{self.names} publish {self._topic}, and their texts differ: of several texts of '
            'one robot, the last one is used; stop all but one')


def robot_name(description: str) -> str:
    """Return the name of the robot in a description; empty where its beginning has none."""
    tag, attributes = read_root(description)
    return attributes.get('name', '') if tag == 'robot' else ''


def difference_of_robots(present: Policy, other: Policy) -> str:
    """
    Return what makes a robot another one: its name, or the controlled joints.

    This is part of a swap, which calls few functions.

    :return: for people; empty where it is the same robot, if with other numbers.
    """
    if other.robot.name != present.robot.name:
        return f'it describes the robot {other.robot.name!r}, not {present.robot.name!r}'
    if other.controlled != present.controlled:
        return (f'it describes a robot with the controlled joints [{", ".join(other.controlled)}],'
                f' not [{", ".join(present.controlled)}]')
    if other.joints.kinds == present.joints.kinds:
        return ''
    for joint, kind, before in zip(present.controlled, other.joints.kinds, present.joints.kinds):
        if kind.type is not before.type or np.dot(kind.axis, before.axis) < SAME_AXIS:
            return f'it describes a robot whose joint {joint!r} is {kind}, not {before}'
    return ''
