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
The controllers in the control loop that add the effort of the model by themselves.

On their joints an effort of this node would act twice.  Such a controller says on a latched topic
which joints it compensates at present; what it says counts for as long as its publisher is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rclpy.node import Node
from ros2_rnea.errors import ArgumentError, MessageError, RneaError
from ros2_rnea.node.bounds import check_name, MAX_CONTROLLERS, MAX_SENSOR_BYTES
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.conversions import deserialized, listed
from ros2_rnea.node.topics.publishers import publishers_of
from ros2_rnea.node.topics.qos import LATCHED_BY_SEVERAL

try:
    from ros2_rnea_interfaces.msg import CompensatedJoints
except ImportError:  # model_publisher.py logs that
    CompensatedJoints = None

TOPIC = 'compensated_joints'

SUBJECT = 'compensated joints'
"""Subject of the notices in /diagnostics."""

DISCOVERY_TIME = 2.0
"""Time for which a publisher that was heard may not be listed yet [s]."""


class _Statement(NamedTuple):
    """
    What a controller has said last.

    :ivar heard_at: on the steady clock [s].
    :ivar publishers: the identifiers of its node's publishers; empty: they are not known (yet).
    """

    joints: frozenset[str]
    heard_at: float
    publishers: frozenset[bytes] = frozenset()


class CompensatingControllers:
    """
    What controllers say on ``compensated_joints``.

    :param now: returns the time on the steady clock [s].
    :param changed: called when other joints are compensated than before.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, now: Callable[[], float],
            changed: Callable[[], object]) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._now = now
        self._changed = changed
        self._said: Mapping[str, _Statement] = MappingProxyType({})  # by controller; replaced only
        if CompensatedJoints is None:
            return
        self._topic = node.create_subscription(
            CompensatedJoints, TOPIC, self._take, LATCHED_BY_SEVERAL, raw=True).topic_name

    @property
    def joints(self) -> frozenset[str]:
        """Return all joints that controllers compensate."""
        return frozenset().union(*(said.joints for said in self._said.values()))

    def why_twice(self, joints: Iterable[str]) -> str:
        """Return why efforts on some joints would act twice; any thread may call; empty: none."""
        names = tuple(joints)
        found = {controller: [name for name in names if name in said.joints]
                 for controller, said in self._said.items()}
        parts = [f'{controller!r} adds the effort of the model to {listed(each)}'
                 for controller, each in found.items() if each]
        return f'{" and ".join(parts)}, so that gravity would act twice' if parts else ''

    def poll(self) -> None:
        """Forget what was said by publishers that are not there any more."""
        if not self._said:
            return
        present = publishers_of(self._node, self._topic)
        self._use({
            controller: said if said.publishers else said._replace(publishers=frozenset(
                identifier for identifier, name in present.items() if name == controller))
            for controller, said in self._said.items() if self._is_there(said, present)})

    def report(self, joints: Iterable[str]) -> None:
        """Report why nothing is sent to joints, or no longer."""
        why = self.why_twice(joints)
        self._diagnostics.notice(SUBJECT, why and f'{why}: nothing is sent')

    def _is_there(self, said: _Statement, present: Mapping[bytes, str]) -> bool:
        """
        Return whether the publisher of a statement is there.

        Where it is not known, because the controller does not have the name of its node, any will
        do.  One of a process that was started again is another one.

        :param present: the names of nodes by the identifiers of their publishers.
        """
        if said.publishers:
            return not said.publishers.isdisjoint(present)
        return bool(present) or self._now() - said.heard_at < DISCOVERY_TIME

    def _take(self, message: bytes) -> None:
        try:
            if len(message) > MAX_SENSOR_BYTES:
                raise MessageError(
                    f'it has {len(message)} bytes; at most {MAX_SENSOR_BYTES} are accepted')
            said = deserialized(message, CompensatedJoints)
            self._note(said.controller, _Statement(frozenset(said.joints), self._now()))
        except RneaError as error:
            self._diagnostics.refused(TOPIC, error)
        else:
            self._diagnostics.accepted(TOPIC)

    def _note(self, controller: str, statement: _Statement) -> None:
        if not controller:
            raise ArgumentError('the controller has no name')
        check_name('the name of the controller', controller)
        others = {name: said for name, said in self._said.items() if name != controller}
        if not statement.joints:
            self._use(others)
        elif len(others) < MAX_CONTROLLERS:
            self._use({**others, controller: statement})
        else:
            raise ArgumentError(
                f'{len(others)} other controllers compensate joints; at most {MAX_CONTROLLERS} '
                'are accepted')

    def _use(self, said: Mapping[str, _Statement]) -> None:
        before = {name: each.joints for name, each in self._said.items()}
        self._said = MappingProxyType(dict(said))
        if {name: each.joints for name, each in said.items()} != before:
            self._changed()
