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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rclpy.node import Node
from ros2_rnea.control.policy import Policy
from ros2_rnea.errors import UnsafeChangeError
from ros2_rnea.model.safe_xml import read_root
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.node.topics.publishers import publishers_of

TOPIC = 'robot_description'

OTHER_ROBOT = 'other robot'
"""Subject of the notice in /diagnostics about a description that is withheld."""

DIFFERENT_TEXTS = 'publishers of robot_description'
"""Subject of the notice that several nodes publish descriptions, and their texts differ."""

SAME_AXIS = 0.99
"""Least scalar product of the unit vectors of two axes that count as one, perhaps calibrated."""


class Withheld(NamedTuple):
    """
    The description of another robot, which is not used for the time being.

    :ivar description: None while it is not known whether it is still published.
    :ivar present: the name of the robot that stays.
    :ivar difference: a text that says how the robot differs from that one.
    :ivar is_undecided: whether nothing told which of the two robots is driven.
    """

    description: str | None
    present: str
    difference: str
    is_undecided: bool


class PresentRobot(NamedTuple):
    """
    The robot that stays where another one is described, and what tells that it is the right one.

    :ivar has_driven: whether efforts to it have been received.
    :ivar is_driven: whether efforts to it are wanted now, too.
    :ivar parameter: the description in the parameter ``robot_description``; may be empty.
    """

    name: str
    has_driven: bool
    is_driven: bool
    parameter: str

    @property
    def is_in_parameter(self) -> bool:
        """Return whether the parameter describes this robot."""
        return bool(self.parameter) and self.name == robot_name(self.parameter) != ''


class OtherRobots:
    """
    Which description is withheld, and why.

    :ivar withheld: the description of another robot, if there is one.
    :ivar publishers: of descriptions.
    """

    def __init__(self, node: Node, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self.publishers = DescriptionPublishers(node)
        self.withheld: Withheld | None = None

    def reset(self) -> None:
        """Begin again, with nothing withheld."""
        self.forget()
        self._diagnostics.notice(DIFFERENT_TEXTS, '')

    @property
    def is_undecided(self) -> bool:
        """Return whether two robots are described, and nothing tells which one is driven."""
        return self.withheld is not None and self.withheld.is_undecided

    def why_withheld(self, description: str | None, present: PresentRobot) -> str:
        """Return why another robot cannot be used now, with what to do; empty where it can be."""
        if description != present.parameter:
            if present.is_in_parameter:
                return (f'the parameter robot_description describes {present.name!r}. To use the '
                        'other robot, set the parameter to its description')
            if self.publishers.are_several:
                return (f'{self.publishers.names} publish robot_description. Stop the publisher '
                        'that is wrong (DDS lists a killed process for some 20 s); to use the '
                        'other robot, then call ~/enable with false at rest')
        if present.is_driven:
            return ('the node is enabled. To use the other robot, call ~/enable with false at '
                    'rest, then with true')
        return ''

    def withhold(self, description: str, present: PresentRobot, difference: str) -> None:
        """Withhold a description, and report why."""
        self.withheld = Withheld(
            description, present.name, difference,
            is_undecided=not (present.has_driven or present.is_in_parameter))
        self._diagnostics.refused(
            TOPIC, self._refusal(self.withheld, present), about=OTHER_ROBOT, is_error=True)

    def forget(self) -> None:
        """Withhold nothing any more."""
        self.withheld = None
        self._diagnostics.notice(OTHER_ROBOT, '')

    def stay_undecided(self, withheld: Withheld) -> None:
        """Wait for the descriptions that are received again, where several are published."""
        if withheld.is_undecided and self.publishers.are_several:
            self.withheld = withheld._replace(description=None)

    def report(self, present: Callable[[str], PresentRobot]) -> None:
        """
        Report what is withheld, and why that is so by now.

        :param present: returns what is known of the robot with a name.
        """
        if self.withheld is not None:
            refusal = self._refusal(self.withheld, present(self.withheld.present))
            self._diagnostics.notice(OTHER_ROBOT, f'refused: {refusal}', is_error=True)
        self._diagnostics.notice(DIFFERENT_TEXTS, self.publishers.difference())

    def _refusal(self, withheld: Withheld, present: PresentRobot) -> UnsafeChangeError:
        undecided = '' if not withheld.is_undecided else (
            '. Nothing tells which of the two robots is driven: nothing is sent, until the wrong '
            'publisher has ended or the parameter robot_description describes the robot')
        return UnsafeChangeError(
            f'{withheld.difference}. The robot in use stays, since '
            f'{self.why_withheld(withheld.description, present)}{undecided}')


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
        """Return the names of their nodes as text."""
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

    :return: a text; empty where it is the same robot, even with other numbers.
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
