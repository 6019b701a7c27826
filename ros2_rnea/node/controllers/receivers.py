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
The processes that receive ~/commands, and what is known of the effort that they hold.

A controller without a timeout holds its last command for as long as its process lives.  Processes
are told apart by the identifiers of their participants in DDS, which are never used again.  What a
receiver holds is decided by its process, never by the name of its node:

- A process that received the last command holds it, also where an earlier process of this node
  sent that.
- A process that received earlier commands only, and one that may be older than this node, holds an
  effort that is not known.
- A process that has started after this node holds nothing.

Receivers that hold different efforts hold one that is not known.  Neither is one known where the
middleware does not tell the process.

Two rules keep others than the controller from being taken for it.  Once a receiver with the
controller's name has been seen, only receivers of that name count; others, such as recorders,
only listen.  Where that name is not known, and some receivers are in processes that publish the
joint states, those decide: they are the drivers of the robot.  And while a receiver is being
discovered, the node looks again in every cycle.

Where only some of the processes are discovered that received the last command of an earlier
process of this node, the others are waited for: those that are there may be recorders.  So it is
where the controller is not discovered that received it.  The wait ends, because the controller may
be in another process since then.

A controller that is not active does not write commands to the hardware.  It is sent none, except
while another controller holds the arm, or an arm holds itself that will not do so afterwards: then
each command is a first one, so that the first that counts is received without delay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, isfinite
from time import monotonic

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.utilities import get_rmw_implementation_identifier
from ros2_rnea.control.output.start_effort import Evidence, HANDING_OVER, Receiver
from ros2_rnea.node.topics.command_record import CommandRecord, Endpoint, record_path
from ros2_rnea.node.topics.publishers import node_name, UNKNOWN_NODE

DISCOVERY_TIME = 10.0
"""
A process that is discovered later than this after the start of this node [s] is younger.

For the same time the controller of an earlier process of this node is waited for, while only
receivers of other names are there.
"""

LONGEST_LEASE = 25.0
"""How long a middleware may know a process that was killed [s]; Fast DDS: 20 s."""

LONGEST_WAIT = 5.0
"""
How long a receiver that is known in part is waited for before efforts are sent again [s].

Its endpoint and the name of its node become known one after the other; where a process of that
name has crashed, that may take seconds.
"""

LONGEST_PAUSE = 0.1
"""
The same while efforts are being sent [s]: the controller holds the last one meanwhile.

It is waited for although the controller is known: DDS lists a process that has crashed beside its
successor, and a message goes to both.
"""

MAX_KNOWN = 64
"""How many processes are remembered that have received commands; of more, the latest."""

LONGEST_CYCLE = 0.01
"""In a pause that is longer [s], one receiver may have taken the place of another."""

PARTICIPANT_BYTES = 12
"""How many bytes at the beginning of an endpoint's identifier are its participant's."""

WITH_PARTICIPANTS = ('rmw_fastrtps', 'rmw_cyclonedds', 'rmw_connextdds')
"""
The RMW implementations with such identifiers.

With others, endpoints can be told apart, but not the processes that they belong to.
"""

MAX_NAMES = 1000
"""Largest number of endpoints whose names are stored."""


class Receivers:
    """
    Who receives ~/commands, and which command they hold.

    :param publisher: of ~/commands.
    :ivar present: the receivers, as far as they are discovered.
    :ivar nodes: the names of all nodes that subscribe, also of those that only listen.
    :ivar is_checked: whether what must be known of the controller before it is sent anything is
        known; while it is not, receivers are incomplete.
    :ivar on_appearance: called when the controller appears among the receivers.
    :ivar is_handing_over: whether another controller than that of the commands holds the arm, or
        the arm holds itself, until the first command.
    :ivar is_supported: whether other controllers, active beside that of the commands, let the
        drives hold all joints.
    :ivar publishing_nodes: returns the names of nodes that publish ~/commands, as far as there are
        others than this one; they only listen.
    :ivar are_incomplete: whether one is being discovered; it may be the controller, started again,
        so that nothing should be sent meanwhile.
    """

    def __init__(self, node: Node, publisher: Publisher) -> None:
        self._node = node
        self._publisher = publisher
        self._record = CommandRecord(record_path(node.get_fully_qualified_name()))
        # Who holds the last command, and which; at first, from an earlier process of this node.
        self._recorded = self._record.read()
        self._holding, self._last_command = self._recorded.receivers, self._recorded.efforts
        self._known = dict.fromkeys((  # processes that have received commands, the latest last
            *sorted(self._recorded.earlier), *_processes(self._holding)))
        self._joints: tuple[str, ...] = ()
        self._effort: np.ndarray | None = None
        self._has_sent = False
        self.present: frozenset[Endpoint] = frozenset()
        self.nodes: frozenset[str] = frozenset()
        self.is_checked = True
        self.on_appearance: Callable[[], None] = lambda: None
        self.are_incomplete = False
        self._served: frozenset[Endpoint] = frozenset()  # the present ones that commands went to
        self._has_lost_some = False  # of the processes that have received the last command
        self._seen: set[str] = set()  # names of receivers that this process has served, or seen
        self._awaited = ''  # receivers in the record, while they are waited for
        self._awaited_since = inf  # since when others are there
        self._patience = 0.0  # how long it is waited
        self._has_given_up = False  # to wait for them
        self._names_of_endpoints: dict[bytes, str] = {}  # by identifiers, never used again
        self.is_handing_over = False
        self.is_supported = False
        self.publishing_nodes: Callable[[], frozenset[str]] = frozenset
        self._are_others_first = False  # commands of another publisher arrive
        self._command_of_others: tuple[float, ...] = ()  # it came after the last one of this node
        self._reachable: frozenset[Endpoint] = frozenset()  # to whom commands would go
        self._is_controller_active = True
        self._controller: frozenset[Endpoint] = frozenset()  # those that have its name
        self._is_controller_known = True
        self._appeared_at = -inf  # when the controller did
        self._holder_meanwhile: Receiver | None = None  # since it was active; None: as before
        self._first_seen: dict[str, float] = {}  # by process, of the present and early ones
        self._early: set[str] = set()  # processes that may be older than this node
        self._own: set[str] = set()  # that of this node
        self._drivers: set[str] = set()  # those that publish the joint states
        self._has_looked = False
        self._complete_at = -inf
        self._count, self._checked, self._since = 0, -inf, monotonic()
        self._has_participants = get_rmw_implementation_identifier().startswith(WITH_PARTICIPANTS)

    def have_changed(self, controller: str, is_sending: bool) -> bool:
        """
        Tell, in each cycle, whether the commands go to others than until now.

        :param controller: the fully qualified name of the node that receives them; empty: it is
            not known.
        :param is_sending: whether the last cycle sent an effort.
        """
        checked, self._checked = self._checked, monotonic()
        count = self._publisher.handle.get_subscription_count()
        may_differ = count != self._count or self._checked - checked >= LONGEST_CYCLE
        return (may_differ or self.are_incomplete) and self.poll(controller, is_sending)

    def poll(self, controller: str, is_sending: bool) -> bool:
        """Look who receives the commands; parameters and result are those of have_changed()."""
        self._look(controller, LONGEST_PAUSE if is_sending else LONGEST_WAIT)
        if self.are_incomplete:
            return False
        if not self.present:  # whoever comes back holds what it received until now
            self._served = frozenset()
            return False
        return self._may_hold_other_effort()

    def set_active(self, is_active: bool, holder: Receiver | None = None) -> None:
        """
        Note whether the controller is active.

        :param holder: who holds the effort, of a controller that is not active or that has just
            become active; None: nothing suggests that it is another effort than before.
        """
        self._is_controller_active = is_active
        self._holder_meanwhile = holder
        self.is_handing_over = not is_active and holder in HANDING_OVER
        if not is_active:
            self.present = self._served = frozenset()
        self._checked = -inf  # look again in the next cycle

    def note_command_of_others(self, command: tuple[float, ...], is_commanding: bool) -> None:
        """
        Note that another node has sent a command, in the units of the drives.

        A controller ignores one that has a wrong size or is not finite, and holds the one before.

        :param is_commanding: whether this node sends commands at present, too.
        """
        has_size = len(command) == (len(self._joints) or len(command))
        if not has_size or not all(map(isfinite, command)):
            return
        self._command_of_others = command
        self._holding = self._reachable
        if not is_commanding:
            self._record.discard()  # its command is not held any more
            self._served = frozenset()

    def let_others_go_first(self, is_needed: bool) -> None:
        """Send no commands while those of another node arrive."""
        if is_needed is not self._are_others_first:
            self._are_others_first = is_needed
            self._checked = -inf

    @property
    def is_serving(self) -> bool:
        """Return whether somebody has received commands, and has not gone since."""
        return bool(self._served)  # also while another subscriber is being discovered

    def evidence(self, joints: Sequence[str]) -> Evidence:
        """
        Return what is known of the effort that the receivers hold.

        :param joints: the joints of the next command.  Where as many others, or others in
            order, received the last one, it is not known which effort each joint holds: either
            list may have been wrong.
        """
        if self._effort is not None:
            self._last_command = dict(zip(self._joints, self._effort.tolist()))
        receiver = self._receiver()
        holder = self._holder_meanwhile
        if self._command_of_others and receiver is Receiver.SAME and holder is None:
            is_of_all = len(self._command_of_others) == len(joints)
            return Evidence(receiver, dict(zip(joints, self._command_of_others))) if (
                is_of_all) else Evidence(Receiver.UNKNOWN)
        if receiver is Receiver.NONE:
            return Evidence(receiver, self._last_command, self._has_sent, self._why_nobody())
        if holder in HANDING_OVER or holder is not None and receiver in (
                Receiver.SAME, Receiver.NEW):
            receiver = holder
        elif receiver is Receiver.SAME and len(self._last_command) == len(joints) and (
                tuple(self._last_command) != tuple(joints)):
            receiver = Receiver.UNKNOWN
        elif receiver is Receiver.UNKNOWN and self.is_supported:
            receiver = Receiver.SUPPORTED
        return Evidence(receiver, self._last_command, is_own=self._has_sent)

    def record(self, joints: Sequence[str], effort: np.ndarray) -> None:
        """
        Record a command that was sent to the present receivers, if they hold it.

        :param effort: shape (joints,), in the units of the drives; the array is kept and must not
            change.
        """
        if self.is_handing_over:
            return
        if self._served != self.present or self._joints != joints:
            self._note_served()
            self._joints = tuple(joints)
            self._record.begin(self._joints, self._holding, [*self._known])
            self._holder_meanwhile = None
            self._has_sent = True
        self._command_of_others = ()
        self._effort = effort
        self._record.write(effort)

    def _note_served(self) -> None:
        """Note that the present receivers hold the last command from now on, and no others."""
        before, now = _processes(self._holding), _processes(self.present)
        self._has_lost_some = bool(before - now) or self._has_lost_some and not now - before
        self._served = self._holding = self.present
        self._seen |= {endpoint.node for endpoint in self.present}
        for process in sorted(now):
            self._known.pop(process, None)  # so that it is the latest
            self._known[process] = None
        while len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]

    @property
    def record_error(self) -> str:
        """Return why commands are not recorded; empty where they are."""
        return self._record.error

    @property
    def ambiguity(self) -> str:
        """Return why it is not known which receiver is the controller; empty where it is."""
        if self._is_controller_known or len(self.nodes) < 2:
            return ''
        return (
            f'several nodes receive {self._publisher.topic_name}: '
            f'{", ".join(sorted(self.nodes))}. It is not known which of them is the controller '
            'that holds the efforts, and a node that only listens may be taken for it: set '
            'effort_controller')

    @property
    def controller_awaited(self) -> str:
        """Return which controller of an earlier process is waited for; empty where none is."""
        return self._awaited and (
            f'{self._awaited} is waited for, at most {self._patience:g} s, and nothing is sent '
            'meanwhile. It received the last command of an earlier process of this node '
            f'({self._record.path}) and may still hold it; '
            f'{", ".join(sorted(self.nodes)) or "another receiver"} may be a recorder. If the '
            'controller has another name now, remap ~/commands to a topic with that name, or set '
            'effort_controller')

    @property
    def controller_given_up(self) -> str:
        """Return what follows if that controller has not appeared; empty where it has."""
        return (
            f'the controller that received the last command of an earlier process of this node '
            f'({self._record.path}) has not appeared within {self._patience:g} s: the commands go '
            'to all that receive them now') if self._has_given_up else ''

    def _why_nobody(self) -> str:
        """Return why no commands are sent."""
        if self._awaited:
            return f'{self._awaited}, which received the last command, is waited for'
        if self._reachable and self._are_others_first:
            return f'another node publishes {self._publisher.topic_name}, so that none are sent'
        if self._reachable:
            return 'the controller is not active, so that it is sent no commands'
        return 'nobody receives the commands'

    def _receiver(self) -> Receiver:
        """Return what is known of the present receivers, where they agree."""
        kinds = {self._kind(process) for process in _processes(self._deciding()[0])}
        if not kinds:
            return Receiver.NONE
        return kinds.pop() if len(kinds) == 1 else Receiver.UNKNOWN

    def _kind(self, process: str) -> Receiver:
        """Return what is known of a process that receives the commands."""
        if not process:
            return Receiver.UNKNOWN
        if process in _processes(self._holding):
            return Receiver.SAME
        may_hold_effort = process in self._known or process in self._early
        return Receiver.UNKNOWN if may_hold_effort or not self._has_participants else Receiver.NEW

    def _deciding(self) -> tuple[frozenset[Endpoint], bool]:
        """
        Return the present receivers whose effort counts.

        :return: those, and whether they are known to drive the robot: by the controller's name, or
            because their processes publish the joint states.
        """
        if self._is_controller_known:
            return self.present, True
        drivers = frozenset(each for each in self.present if each.process in self._drivers)
        return drivers or self.present, bool(drivers)

    def _may_hold_other_effort(self) -> bool:
        """
        Return whether a receiver may hold another effort than the last command.

        Where it is not known which one drives the robot, others that are added, such as recorders,
        replace nobody, unless somebody who received the last command has gone.
        """
        deciding, are_drivers = self._deciding()
        others = _others(deciding, self._served)
        if not others or len(others) == len(deciding):
            return bool(others)
        return are_drivers or self._has_lost_some or any(
            each.process in self._known for each in others)

    def _look(self, controller: str, patience: float) -> None:
        """
        Find the receivers.

        :param patience: how long one may be known in part only [s].
        """
        topic, now = self._publisher.topic_name, monotonic()
        count = self._publisher.handle.get_subscription_count()
        listed = self._node.get_subscriptions_info_by_topic(topic)
        number = len(self._endpoints(listed))
        found = self._endpoints([
            info for info in listed if not self._only_listens(info, controller)])
        self._note_processes(topic, found, now)
        self.nodes = frozenset(each.node for each in found if each.node)
        self._find_controller(controller, found, now)
        self._reachable = self._controller if self._is_controller_known else found
        is_inactive = not self._is_controller_active and not self.is_handing_over
        has_to_wait = is_inactive or self._are_others_first or bool(self._awaited)
        self.present = frozenset() if has_to_wait else self._reachable
        if number >= count:
            self._complete_at = now
        since = [self._first_seen[each.process] for each in found if not each.node]
        if number < count:
            since.append(self._complete_at)
        is_unchecked = bool(self._controller) and not self.is_checked and (
            now - self._appeared_at < LONGEST_WAIT)
        self.are_incomplete = is_unchecked or any(now - each < patience for each in since) or (
            patience == LONGEST_WAIT and self._may_have_died(now))
        self._count = count

    def _may_have_died(self, now: float) -> bool:
        """
        Return whether one of several drivers may have died, so that it is waited for.

        The middleware still knows a process for a while that was killed.
        """
        processes = _processes(frozenset(
            each for each in self.present if each.process in self._drivers))
        return len({self._kind(process) for process in processes}) > 1 and any(
            now - self._first_seen.get(process, -inf) < LONGEST_LEASE for process in processes)

    def _only_listens(self, info: TopicEndpointInfo, controller: str) -> bool:
        """
        Return whether a subscriber is one of those by which nodes like this one hear each other.

        They publish ~/commands too, and do not ask for reliable messages.  A driver or a bridge
        that publishes on the topic besides is a receiver.
        """
        name = self._name(info)
        if name == self._node.get_fully_qualified_name():
            return True
        return name != controller and name in self.publishing_nodes() and (
            info.qos_profile.reliability is ReliabilityPolicy.BEST_EFFORT)

    def _find_controller(self, name: str, found: frozenset[Endpoint], now: float) -> None:
        """Note which of the receivers have the controller's name, if that is known."""
        named = frozenset(each for each in found if name and each.node == name)
        if named:
            self._seen.add(name)
        self._awaited = self._missing(name, named, found, now)
        self._is_controller_known = bool(name) and (name in self._seen or bool(self._awaited))
        has_appeared = bool(named - self._controller)
        self._controller = named
        if has_appeared:
            self._appeared_at = now
            self._remember_record(named)
            self.on_appearance()

    def _missing(
            self, name: str, named: frozenset[Endpoint], found: frozenset[Endpoint], now: float,
            ) -> str:
        """
        Return who is waited for, of those in the record; empty where nobody is.

        :param name: of the controller; empty: it is not known.
        :param named: the receivers of that name.
        :param found: all receivers.
        """
        recorded = self._recorded.receivers
        is_recorded = bool(name) and name in {each.node for each in recorded}
        if not found or self._has_sent or self._has_given_up or (
                is_recorded and not named and name in self._seen):
            return ''
        if named or is_recorded:
            recorded = frozenset(each for each in recorded if each.node in ('', name))
        there = _processes(found)
        missing = [each for each in recorded if each.process not in there]
        known = there & _processes(recorded)
        is_controller_missing = is_recorded and not named
        if not missing or known & self._drivers or not (known or is_controller_missing):
            return ''
        self._awaited_since = min(self._awaited_since, now)
        self._patience = DISCOVERY_TIME if is_controller_missing else LONGEST_WAIT
        if now - self._awaited_since < self._patience:
            return ', '.join(sorted({each.node or 'a receiver' for each in missing}))
        self._has_given_up = True
        return ''

    def _remember_record(self, appeared: frozenset[Endpoint]) -> None:
        """Take the record for true again where its controller appears after it was given up."""
        if self._has_given_up and not _others(appeared, self._recorded.receivers):
            self._holding, self._last_command = self._recorded.receivers, self._recorded.efforts
            self._served, self._effort, self._command_of_others = frozenset(), None, ()
            self._has_sent = False
        self._has_given_up = False

    def _note_processes(self, topic: str, found: frozenset[Endpoint], now: float) -> None:
        """Note since when processes are known; those of the robot's driver, too."""
        processes = {endpoint.process for endpoint in found}
        is_early = now - self._since < DISCOVERY_TIME or not self._has_looked
        if is_early or not self._own:  # on a busy machine it may be discovered late
            self._own |= self._own_process(topic)
            self._early -= self._own
        if is_early or len(found) > 1:
            states = self._node.resolve_topic_name('joint_states')
            self._drivers = {each.process for each in self._endpoints(
                self._node.get_publishers_info_by_topic(states)) if each.process}
        if is_early:
            processes |= self._drivers
            self._early |= processes - self._first_seen.keys() - self._own
        self._has_looked = True
        self._first_seen = {
            process: self._first_seen.get(process, now) for process in processes | self._early}

    def _own_process(self, topic: str) -> set[str]:
        """
        Return the process of this node, as far as it is known who publishes its commands.

        The middleware may have lost the name of this node, for instance when another node of that
        name in the same process has ended.  Then the only publisher is that of this node.
        """
        name = self._node.get_fully_qualified_name()
        publishers = self._endpoints(self._node.get_publishers_info_by_topic(topic))
        return {each.process for each in publishers
                if each.node == name or len(publishers) == 1 and not each.node}

    def _endpoints(self, found: Sequence[TopicEndpointInfo]) -> frozenset[Endpoint]:
        return frozenset(Endpoint(self._name(info), self._process(info)) for info in found)

    def _name(self, info: TopicEndpointInfo) -> str:
        """Return the full name of an endpoint's node; empty where it has never been known."""
        known, identifier = self._names_of_endpoints, bytes(info.endpoint_gid)
        if info.node_name != UNKNOWN_NODE:
            if len(known) >= MAX_NAMES and identifier not in known:
                del known[next(iter(known))]
            known[identifier] = node_name(info)
        return known.get(identifier, '')

    def _process(self, info: TopicEndpointInfo) -> str:
        """Return the identifier of an endpoint's process; empty where there is none."""
        identifier = bytes(info.endpoint_gid)
        if not any(identifier):
            return ''
        return (identifier[:PARTICIPANT_BYTES] if self._has_participants else identifier).hex()


def _processes(endpoints: Iterable[Endpoint]) -> frozenset[str]:
    """Return the processes of endpoints."""
    return frozenset(endpoint.process for endpoint in endpoints)


def _others(present: frozenset[Endpoint], earlier: frozenset[Endpoint]) -> list[Endpoint]:
    """Return the present ones in other processes than earlier ones, whatever their names."""
    processes = _processes(earlier)
    return [endpoint for endpoint in present if endpoint.process not in processes]
