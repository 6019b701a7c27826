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

A controller without a timeout holds its last command for as long as its process lives.  What a
receiver holds is decided by its process, never by the name of its node:

=====================  ================================  =============  ====================
It has received        and                               so it holds    and is
=====================  ================================  =============  ====================
the last command       this or an earlier process of     that command   ``Receiver.SAME``
                       this node has sent it
earlier commands only  it was not heard, or others sent  not known      ``Receiver.UNKNOWN``
                       the last one
nothing                it may be older than this node    not known      ``Receiver.UNKNOWN``
nothing                it has started after this node    nothing        ``Receiver.NEW``
=====================  ================================  =============  ====================

If receivers hold different efforts, the effort counts as not known.  It is not known either if the
middleware does not tell the process.

Three rules prevent the node from taking another receiver for the controller.  Once a receiver with
the controller's name has been seen, only receivers of that name count; others, such as recorders,
only listen.  Where that name is not known, and some receivers are in processes that publish the
joint states, those decide: they are the drivers of the robot.  Where that is not known either, the
receivers to which commands went first decide, for as long as one of them is there.  An additional
receiver replaces none of them, unless one of them has gone and no efforts are sent, as after a
crash of the driver.

A controller that is not active does not write commands to the hardware.  It is sent none, except
while another controller holds the arm, or while an arm holds itself that will not do so
afterwards.  In these cases each command is a first one: the first command that counts arrives
without delay.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import inf
from time import monotonic

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from ros2_rnea.control.output.start_effort import Evidence, HANDING_OVER, Receiver
from ros2_rnea.node.controllers.last_command import LastCommand
from ros2_rnea.node.controllers.receiver_graph import processes, ReceiverGraph
from ros2_rnea.node.controllers.receiver_table import Received, ReceiverTable
from ros2_rnea.node.controllers.receiver_waits import ReceiverWaits
from ros2_rnea.node.topics.command_record import Endpoint, record_path

DISCOVERY_TIME = 10.0
"""
A process that is discovered later than this after the first look [s] is younger than this node.

The node also waits for this time for the controller of an earlier process of this node, while only
receivers of other names are there.
"""

LONGEST_WAIT = 5.0
"""
Longest wait for a receiver that is known in part, while no efforts are being sent [s].

The endpoint of a receiver and the name of its node become known one after the other.  If a process
of that name has crashed, this may take seconds.
"""

LONGEST_PAUSE = 0.1
"""
Longest wait for a receiver that is known in part, while efforts are being sent [s].

During this wait the controller holds the last effort.  The node waits even if the controller is
known: DDS lists a crashed process together with its successor, and a message goes to both.
"""

LONGEST_CYCLE = 0.01
"""In a pause between two cycles that is longer [s], another receiver may replace the known one."""


@dataclass(slots=True)
class OtherCommands:
    """
    What else commands the arm.

    :ivar are_first: whether commands of another publisher arrive; then this node sends none.
    :ivar is_controller_active: whether the controller writes the commands to the hardware.
    :ivar holder: who has held the arm since the controller stopped writing, until the next
        command; None: nothing suggests that the effort is another one than before.
    """

    are_first: bool = False
    is_controller_active: bool = True
    holder: Receiver | None = None


class Receivers:
    """
    Who receives ~/commands, and which command they hold.

    :param publisher: of ~/commands.
    :param publishing_nodes: returns the names of nodes that publish ~/commands, as far as there
        are others than this one; they only listen.
    :ivar present: the receivers that are sent commands, as far as they are discovered.
    :ivar is_checked: whether what must be known of the controller before it is sent anything is
        known; while it is not, receivers are incomplete.
    :ivar on_appearance: called when the controller appears among the receivers.
    :ivar is_handing_over: whether another controller than that of the commands holds the arm, or
        the arm holds itself, until the first command.
    :ivar is_supported: whether other controllers, active together with that of the commands, let
        the drives hold all joints.
    :ivar are_incomplete: whether a receiver is being discovered.  It may be the controller after a
        restart: nothing should be sent until it is known.
    """

    def __init__(
            self, node: Node, publisher: Publisher,
            publishing_nodes: Callable[[], frozenset[str]] = frozenset) -> None:
        self.present: frozenset[Endpoint] = frozenset()
        self.is_checked = True
        self.on_appearance: Callable[[], None] = lambda: None
        self.is_handing_over = False
        self.is_supported = False
        self.are_incomplete = False
        self._publisher = publisher
        self._last = LastCommand(record_path(node.get_fully_qualified_name()))
        self._table = ReceiverTable(
            ReceiverGraph(node, publisher.topic_name, publishing_nodes), self._last.recorded)
        self._waits = ReceiverWaits(self._last.recorded.receivers)
        self._others = OtherCommands()
        self._count, self._checked = 0, -inf

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
        now = monotonic()
        self._count = self._publisher.handle.get_subscription_count()
        if self._table.look(controller, now, DISCOVERY_TIME):
            self._waits.has_given_up = False
            self.on_appearance()
        if not self._last.is_own:
            self._waits.look_for_recorded(
                self._table, controller, now, DISCOVERY_TIME, LONGEST_WAIT)
        self.are_incomplete = self._waits.are_incomplete(
            self._partial(LONGEST_PAUSE if is_sending else LONGEST_WAIT), now) or (
            not is_sending and self._table.may_list_the_dead(now))
        self.present = frozenset() if self._why_silent() else self._table.reachable
        if self.are_incomplete:
            return False
        if not self.present:  # whoever comes back holds what it received until now
            self._table.served = frozenset()
            return False
        if not self._drivers():
            self._take_in_added(is_sending)
        return not self._deciding() <= processes(self._table.served)

    def set_active(self, is_active: bool, holder: Receiver | None = None) -> None:
        """
        Note whether the controller is active.

        :param holder: who holds the effort, of a controller that is not active or that has just
            become active; None: nothing suggests that it is another effort than before.
        """
        self._others.is_controller_active, self._others.holder = is_active, holder
        self.is_handing_over = not is_active and holder in HANDING_OVER
        if not is_active:
            self.present = self._table.served = frozenset()
        self._checked = -inf  # look again in the next cycle

    def note_command_of_others(self, command: tuple[float, ...], is_commanding: bool) -> None:
        """
        Note that another node has sent a command, in the units of the drives.

        A controller ignores one that has a wrong size or is not finite, and holds the one before.

        :param is_commanding: whether this node sends commands at present, too.
        """
        if not self._last.take_of_others(command):
            return
        self._table.note_served_by_others()
        if not is_commanding:
            self._last.record.discard()
            self._table.served = frozenset()

    def let_others_go_first(self, is_needed: bool) -> None:
        """Send no commands while those of another node arrive."""
        if is_needed is not self._others.are_first:
            self._others.are_first = is_needed
            self._checked = -inf

    def record(self, joints: Sequence[str], effort: np.ndarray) -> None:
        """
        Record a command that was sent to the present receivers, if they hold it.

        :param effort: shape (joints,), in the units of the drives; the array is kept and must not
            change.
        """
        if self.is_handing_over:
            return
        if self._table.served != self.present or self._last.joints != joints:
            self._table.note_served(self.present)
            self._last.begin(joints, self.present, self._table.earlier())
            self._others.holder = None
        self._last.write(effort)

    def evidence(self, joints: Sequence[str]) -> Evidence:
        """
        Return what is known of the effort that the receivers hold.

        :param joints: the joints of the next command; see :meth:`.LastCommand.held`.
        """
        table = self._table
        deciding = self._deciding()
        known = {(table.kind(each), table.processes[each].received) for each in deciding}
        receiver, received = known.pop() if len(known) == 1 else (Receiver.UNKNOWN, None)
        if not deciding:
            return Evidence(
                Receiver.NONE, self._last.efforts(), self._last.is_own,
                self._why_silent() or 'nobody receives the commands')
        holder = self._others.holder
        if holder in HANDING_OVER or holder is not None and receiver in (
                Receiver.SAME, Receiver.NEW):
            receiver = holder
        elif receiver is Receiver.SAME:
            return self._last.held(joints, received is Received.RECORDED)
        elif receiver is Receiver.UNKNOWN and self.is_supported:
            receiver = Receiver.SUPPORTED
        return Evidence(receiver, self._last.efforts(), self._last.is_own)

    @property
    def nodes(self) -> frozenset[str]:
        """Return the names of the nodes that receive, also of those that only record."""
        return frozenset(each.node for each in self._table.found if each.node)

    @property
    def is_serving(self) -> bool:
        """Return whether somebody has received commands, and has not gone since."""
        return bool(self._table.served)  # also while another subscriber is being discovered

    @property
    def record_error(self) -> str:
        """Return why commands are not recorded; empty where they are."""
        return self._last.record.error

    @property
    def ambiguity(self) -> str:
        """Return why it is not known which receiver is the controller; empty where it is."""
        if self._table.is_controller_known or len(self.nodes) < 2:
            return ''
        return (
            f'several nodes receive {self._publisher.topic_name}: '
            f'{", ".join(sorted(self.nodes))}. It is not known which of them is the controller '
            'that holds the efforts, and a node that only listens may be taken for it: set '
            'effort_controller')

    @property
    def controller_awaited(self) -> str:
        """Return which controller of an earlier process is waited for; empty where none is."""
        return self._waits.awaited and (
            f'{self._waits.awaited} is waited for, at most {self._waits.patience:g} s, and '
            'nothing is sent meanwhile. It received the last command of an earlier process of '
            f'this node ({self._last.record.path}) and may still hold it; '
            f'{", ".join(sorted(self.nodes)) or "another receiver"} may be a recorder. If the '
            'controller has another name now, remap ~/commands to a topic with that name, or set '
            'effort_controller')

    @property
    def controller_given_up(self) -> str:
        """Return what follows if that controller has not appeared; empty where it has."""
        return (
            f'the controller that received the last command of an earlier process of this node '
            f'({self._last.record.path}) has not appeared within {self._waits.patience:g} s: the '
            'commands go to all that receive them now') if self._waits.has_given_up else ''

    def _why_silent(self) -> str:
        """Return why nobody is sent commands although somebody is there; empty where they are."""
        if self._waits.awaited:
            return f'{self._waits.awaited}, which received the last command, is waited for'
        if not self._table.reachable:
            return ''
        if self._others.are_first:
            return f'another node publishes {self._publisher.topic_name}, so that none are sent'
        if not self._others.is_controller_active and not self.is_handing_over:
            return 'the controller is not active, so that it is sent no commands'
        return ''

    def _partial(self, patience: float) -> dict[Hashable, float]:
        """
        Return what is not known of the receivers, and how long each may be waited for [s].

        :param patience: that of a receiver that is discovered in part.
        """
        table = self._table
        partial: dict[Hashable, float] = {
            each.process: patience for each in table.found if not each.node}
        if table.number < self._count:
            partial[self._count - table.number] = patience  # falling further behind is another
        # A controller that has appeared now is not waited for later.
        partial.update(dict.fromkeys(table.named, 0.0 if self.is_checked else LONGEST_WAIT))
        return partial

    def _drivers(self) -> frozenset[str]:
        """
        Return the processes that are known to drive the robot.

        They have the controller's name, or publish the joint states.
        """
        present = processes(self.present)
        return present if self._table.is_controller_known else frozenset(
            each for each in present if self._table.processes[each].is_driver)

    def _first(self) -> frozenset[str]:
        """Return the processes that are there of those to which the commands went first."""
        return self._table.first & processes(self.present)

    def _deciding(self) -> frozenset[str]:
        """Return the processes whose effort counts."""
        return self._drivers() or self._first() or processes(self.present)

    def _take_in_added(self, is_sending: bool) -> None:
        """
        Let added receivers count as well, if one that counted has gone.

        One of them may be the driver, started again.  It is not while efforts go on to another
        one that counts: then they are recorders.
        """
        table = self._table
        present, served = processes(self.present), processes(table.served)
        goes_on = is_sending and bool(served & self._first())
        if present - served - table.first and table.has_lost(present) and not goes_on:
            table.first |= present
