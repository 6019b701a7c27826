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
The description of another robot, which must not take over from the robot that is driven.

``robot_description`` is a topic that many nodes publish.  A second robot in the same namespace
would be taken for the one that is driven, and its efforts would be sent to that.  An identified
model of the same robot has the same name in ``<robot name="...">``, and is used at once.  Where
two robots are described before anything has been sent, as after a crash of this node, nothing
tells which of them is driven here: then nothing is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from enum import Enum
from time import monotonic
from typing import NamedTuple

from rclpy.node import Node
from ros2_rnea.errors import UnsafeChangeError
from ros2_rnea.model.safe_xml import read_root
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.node.topics.publishers import publishers_of

TOPIC = 'robot_description'

SETTLING = 1.0
"""Within this time [s], a new subscription is expected to receive all texts there are."""


class Verdict(Enum):
    """What is done with a description."""

    USE = 'it is used'
    WITHHOLD = 'it is of another robot than the one that is driven, and is not used'
    WAIT = 'it is used when the effort for the previous robot has faded out'


class Present(NamedTuple):
    """
    The robot that is present, and may be driven.

    :ivar parameter: the description in the parameter ``robot_description``; empty: there is none.
    :ivar latest: the description that is requested, or else in use; None: there is none.
    :ivar name: of the robot in use; None: there is none.
    :ivar has_driven: whether somebody has received an effort for it.
    :ivar is_sending: whether efforts are sent.
    :ivar is_meant_to_send: whether the user wants efforts to be sent, also where none can be at
        present.
    """

    parameter: str
    latest: str | None
    name: str | None
    has_driven: bool
    is_sending: bool
    is_meant_to_send: bool

    @property
    def is_decided(self) -> bool:
        """Return whether it is known which robot is driven."""
        return bool(self.parameter) or self.has_driven

    @property
    def is_that_of_the_parameter(self) -> bool:
        """Return whether the parameter describes the robot that is requested, or else in use."""
        return bool(self.parameter) and self.latest is not None and (
            self.latest == self.parameter
            or robot_name(self.latest) == robot_name(self.parameter) != '')


class DescriptionGuard:
    """
    Who publishes the robot's description, and which description is not used for the time being.

    :ivar withheld: the description of another robot; None: there is none.
    :ivar is_undecided: whether several robots are described, and nothing tells which one is
        driven.
    :ivar decided: the name of the robot that turned out to be the only one that is described.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topic = node.resolve_topic_name(TOPIC)
        self._in_use: Mapping[bytes, str] = {}  # who published when the one in use arrived
        self._arrived: Mapping[bytes, str] = {}  # the same for the one that arrived last
        self._withheld_of: Mapping[bytes, str] = {}  # the same for the withheld one
        self._have_differed = False
        self._robots: set[str] = set()  # names of those whose descriptions have arrived
        self._known: Set[bytes] = frozenset()  # publishers at the last poll
        self._asked_at = 0.0  # when the descriptions were received again
        self._is_outdated = False  # what has arrived, because more has come since
        self.withheld: str | None = None
        self.is_undecided = False
        self.decided = ''

    def verdict(self, name: str, description: str, present: Present) -> Verdict:
        """
        Return what is to be done with a description.

        :param name: of its robot.
        """
        if not self._takes_over(name, description, present):
            return Verdict.USE
        if present.is_meant_to_send or self.is_still_there(present):
            return Verdict.WITHHOLD
        return Verdict.WAIT

    def _takes_over(self, name: str, description: str, present: Present) -> bool:
        """Return whether a description, which nobody asked for, is not of the robot in use."""
        if description == present.parameter:
            return False
        if present.is_that_of_the_parameter:
            return name != robot_name(present.parameter)
        return present.name is not None and name != present.name and (
            present.has_driven and present.is_sending or self.is_still_there(present))

    def is_still_there(self, present: Present) -> bool:
        """
        Return whether efforts may be sent again to the robot in use, because it has not gone.

        They are missing, for instance, while joint states or the controller are, while nobody
        presses a dead-man switch, or while the user has paused the node.  Nobody describes a robot
        any more that was taken down, and a single publisher describes another one in its place.
        """
        if present.is_that_of_the_parameter:
            return True  # who wants another robot sets the parameter
        return present.name is not None and present.has_driven and self.is_robot_described and (
            present.is_meant_to_send or self.has_several_publishers)

    def note_arrival(
            self, description: str, latest: str | None, is_in_use: bool,
            is_decided: bool = True) -> None:
        """
        Note who publishes when a description arrives.

        :param latest: the description that is requested, or else in use; None: there is none.
        :param is_in_use: whether the one that arrives is in use, so that it is not from a rival.
        :param is_decided: whether it is known which robot is driven.
        """
        before, self._arrived = self._arrived, publishers_of(self._node, self._topic)
        if is_in_use:  # it comes from a new publisher, as after a crash, or from one of before
            self._in_use = {
                identifier: name for identifier, name in self._arrived.items()
                if identifier in self._in_use or identifier not in before}
        if description == self.withheld:
            self._withheld_of = self._arrived
        are_several = len(self._arrived) > 1
        if are_several and description != (latest or description):
            self._have_differed = True
        if not are_several and not self.is_undecided:
            self._robots.clear()
        name = robot_name(description)
        if name and len(self._robots) < 2:
            self._robots.add(name)
        if self.is_undecided:
            self._is_outdated |= monotonic() - self._asked_at > SETTLING
        elif are_several and len(self._robots) > 1 and not is_decided:
            self.is_undecided, self._asked_at = True, monotonic()
            self._known |= self._arrived.keys()  # one may go before the next poll

    def note_use(self, description: str) -> None:
        """Note that a description is used from now on; another one that is withheld stays so."""
        if self.withheld not in (None, description):
            rivals = self._rivals.keys()
            self._in_use = {identifier: name for identifier, name in self._arrived.items()
                            if identifier not in rivals}
        else:
            self._in_use, self.withheld = self._arrived, None

    def decide(self) -> None:
        """Note that the user has told which robot is driven."""
        self.is_undecided = False
        self.withheld = None
        self._robots.clear()

    def withhold(self, description: str, other: str, present: str) -> UnsafeChangeError:
        """
        Note that a description is not used for the time being, and return why.

        :param other: the name of its robot.
        :param present: that of the robot in use.
        """
        self.withheld, self._withheld_of = description, self._arrived
        before, since = self._names(self._in_use), self._names(self._rivals)
        return UnsafeChangeError(
            f'it describes the robot {other!r}, while {present!r} is driven, which stays in '
            f'use. {self._topic} was published by {before or "no node"} when {present!r} '
            f'arrived; {since or "no other node"} came later. Stop the publisher that is wrong. '
            f'{other!r} is used when {present!r} is not published any more (DDS lists a killed '
            'process for some 20 s) and ~/enable has been called with false, or if the parameter '
            f'{TOPIC} is set to its description')

    @property
    def is_robot_described(self) -> bool:
        """Return whether one still publishes who did when the description in use arrived."""
        return not self._in_use.keys().isdisjoint(publishers_of(self._node, self._topic))

    @property
    def has_several_publishers(self) -> bool:
        """Return whether several nodes publish; the last text of a single one is the only one."""
        return len(publishers_of(self._node, self._topic)) > 1

    def poll(self) -> bool:
        """
        Look who publishes, and return whether all descriptions have to be received again.

        The graph does not tell who has sent a text.  After a publisher has gone, those that are
        received by a new subscription are of the others.
        """
        known, self._known = self._known, publishers_of(self._node, self._topic).keys()
        is_to_ask = False
        if self.withheld is not None and not self._withheld_of.keys() <= self._known:
            is_to_ask = True  # it comes again if another one has gone
            self.withheld = None
        if self.is_undecided:
            if self._is_outdated or not known <= self._known:
                is_to_ask = True
            elif len(self._robots) == 1 and monotonic() - self._asked_at > SETTLING:
                self.is_undecided, self.withheld = False, None
                self.decided = next(iter(self._robots))
        if is_to_ask:
            self._robots.clear()
            self._asked_at, self._is_outdated = monotonic(), False
        return is_to_ask

    def ambiguity(self) -> str:
        """Return who publishes descriptions that differ; empty where that is one node."""
        if self.is_undecided:
            return (
                f'{self._names(self._arrived) or "no node"} published {self._topic} with the '
                'descriptions of several robots, and nothing tells which of them is driven: '
                'nothing is sent. Stop the publisher that is wrong, or set the parameter '
                f'{TOPIC} to the description of the robot')
        if not self._have_differed:
            return ''
        publishers = publishers_of(self._node, self._topic)
        self._have_differed = len(publishers) > 1
        return '' if not self._have_differed else (
            f'{self._names(publishers)} publish {self._topic}, and their texts differ: of '
            'several texts of one robot, the last one is used; stop all but one')

    @property
    def _rivals(self) -> Mapping[bytes, str]:
        """Return the publishers of the withheld description that came after the one in use."""
        return {identifier: name for identifier, name in self._withheld_of.items()
                if identifier not in self._in_use}

    def _names(self, publishers: Mapping[bytes, str]) -> str:
        return listed(sorted({name or 'a node without a name' for name in publishers.values()}))


def robot_name(description: str) -> str:
    """Return the name of the robot in a description; empty where its beginning has none."""
    tag, attributes = read_root(description)
    return attributes.get('name', '') if tag == 'robot' else ''
