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
The processes that receive ~/commands, one row each: whether it may be older, and what it received.

Processes are told apart by the identifiers of their participants in DDS, which are never used
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf

from ros2_rnea.control.output.start_effort import Receiver
from ros2_rnea.node.controllers.receiver_graph import processes, ReceiverGraph
from ros2_rnea.node.topics.command_record import Endpoint, RecordedCommand

MAX_KNOWN = 64
"""Number of processes that are remembered as receivers of commands: the latest ones."""


LONGEST_LEASE = 25.0
"""Longest time for which a middleware lists a process that was killed [s]; Fast DDS: 20 s."""


class Received(Enum):
    """Which command a process has received most recently."""

    NOTHING = 'nothing'
    EARLIER = 'an earlier command'
    RECORDED = 'the last command of an earlier process of this node'
    LAST = 'the last command'


@dataclass(slots=True)
class Process:
    """
    What is known of a process.

    :ivar may_be_older: whether it may have started before this node, and then hold an effort.
    :ivar is_driver: whether it publishes the joint states, or has done so.
    :ivar since: when it was first there as a receiver [s]; infinite: it has not been since this
        node was started.
    """

    may_be_older: bool
    received: Received = Received.NOTHING
    is_driver: bool = False
    since: float = inf


class ReceiverTable:
    """
    The table of the processes, filled from the graph.

    :param recorded: the last command of an earlier process of this node.
    :ivar processes: the rows, by process; those that received a command most recently are last.
    :ivar found: all receivers that are discovered.
    :ivar number: of all subscribers that are discovered.
    :ivar named: the receivers that have the controller's name.
    :ivar is_controller_known: whether a receiver of that name is there, or has been.
    :ivar served: the receivers that are there, and to which commands went.
    :ivar first: the processes of which one drives the robot, if nothing else tells which: those
        to which the first commands of this node went, those of its earlier processes included,
        and those that were taken in since.
    """

    def __init__(self, graph: ReceiverGraph, recorded: RecordedCommand) -> None:
        self.processes = {each: Process(True, Received.EARLIER) for each in recorded.earlier}
        for each in sorted(processes(recorded.receivers)):
            self.processes[each] = Process(True, Received.RECORDED)
        self.found: frozenset[Endpoint] = frozenset()
        self.number = 0
        self.named: frozenset[Endpoint] = frozenset()
        self.is_controller_known = False
        self.served: frozenset[Endpoint] = frozenset()
        self.first: frozenset[str] = frozenset()
        self._graph = graph
        self._seen: set[str] = set()  # names of the controller under which it was there
        self._own: frozenset[str] = frozenset()
        self._since = inf  # the first look

    def look(self, controller: str, now: float, discovery_time: float) -> bool:
        """
        Find the receivers.

        :param controller: the name of the controller's node; empty: it is not known.
        :param now: a time that never jumps [s].
        :param discovery_time: for how long after the first look processes are discovered that may
            be older than this node [s].
        :return: whether the controller has appeared.
        """
        self.found, self.number = self._graph.receivers(controller)
        self._since = min(self._since, now)
        self._fill(now, now - self._since < discovery_time)
        before = self.named
        self.named = frozenset(each for each in self.found if controller and (
            each.node == controller))
        if self.named:
            self._seen.add(controller)
        self.is_controller_known = controller in self._seen
        return bool(self.named - before)

    @property
    def reachable(self) -> frozenset[Endpoint]:
        """Return the receivers to whom commands would go: the controller, where it is known."""
        return self.named if self.is_controller_known else self.found

    def kind(self, process: str) -> Receiver:
        """Return what is known of the effort that a process holds."""
        row = self.processes[process]
        if not process:
            return Receiver.UNKNOWN
        if row.received in (Received.LAST, Received.RECORDED):
            return Receiver.SAME
        may_hold_effort = row.received is Received.EARLIER or row.may_be_older
        return Receiver.UNKNOWN if may_hold_effort or not self._graph.tells_processes else (
            Receiver.NEW)

    def note_served(self, present: frozenset[Endpoint]) -> None:
        """Note that these hold the last command from now on, and no others."""
        self._replace_last((Received.LAST,), present)
        self.served = present
        self.first = self.first or frozenset(self.earlier())

    def note_served_by_others(self) -> None:
        """Note that all present receivers hold a command of another node."""
        self._replace_last((Received.LAST, Received.RECORDED), self.found)

    def has_lost(self, present: frozenset[str]) -> bool:
        """
        Return whether one of the first has gone since this node was started.

        :param present: the processes that receive now.
        """
        return any(self.processes[each].since < inf for each in self.first - present)

    def may_list_the_dead(self, now: float) -> bool:
        """
        Return whether one of several drivers may have died, in whose place another one is.

        The middleware lists a process that was killed for up to :data:`LONGEST_LEASE`.

        :param now: a time that never jumps [s].
        """
        drivers = [each for each in processes(self.reachable) if self.processes[each].is_driver]
        return len({self.kind(each) for each in drivers}) > 1 and any(
            now - self.processes[each].since < LONGEST_LEASE for each in drivers)

    def earlier(self) -> Sequence[str]:
        """Return the processes that have received commands, the latest last."""
        return [process for process, row in self.processes.items()
                if row.received is not Received.NOTHING]

    def _replace_last(
            self, replaced: Sequence[Received], receivers: frozenset[Endpoint]) -> None:
        for row in self.processes.values():
            if row.received in replaced:
                row.received = Received.EARLIER
        for process in sorted(processes(receivers)):
            row = self.processes.pop(process)  # the order is by the last command
            row.received = Received.LAST
            self.processes[process] = row
        for process in self.earlier()[:-MAX_KNOWN]:
            self.processes[process].received = Received.NOTHING

    def _fill(self, now: float, may_be_older: bool) -> None:
        """Add the processes that have been discovered, and forget others that have gone."""
        receiving = there = processes(self.found)
        needs_drivers = may_be_older or len(self.found) > 1
        drivers = self._graph.drivers() if needs_drivers else frozenset()
        if may_be_older:
            there |= drivers
        for process in there - self.processes.keys():
            self.processes[process] = Process(may_be_older)
        for process, row in self.processes.items():
            row.is_driver |= process in drivers
            if process in receiving:
                row.since = min(row.since, now)
        if may_be_older or not self._own:  # on a busy machine it may be discovered late
            self._own |= self._graph.own_process()
        for process in self._own & self.processes.keys():
            self.processes[process].may_be_older = False
        self.processes = {process: row for process, row in self.processes.items() if (
            process in there or row.may_be_older or row.received is not Received.NOTHING)}
        self.first &= self.processes.keys()
