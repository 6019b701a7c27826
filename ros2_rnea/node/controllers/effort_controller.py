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
"""The controller that receives the commands: its joints, and whether it is active."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer
from ros2_rnea.control.output.start_effort import HANDING_OVER, Receiver
from ros2_rnea.node.controllers.activation import Activation, ManagerReport
from ros2_rnea.node.controllers.controller_manager import ControllerManager
from ros2_rnea.node.controllers.receivers import Receivers
from ros2_rnea.node.controllers.remote_parameters import RemoteParameters
from ros2_rnea.node.controllers.trajectory_controller import TRAJECTORY
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.robots.sent_terms import Arm

EFFORT, MANAGER = 'effort_controller', 'controller_manager'
"""The node's parameters that name the controller, and its controller manager."""

ARM, ARM_GRAVITY = 'arm', 'arm_gravity'
"""The node's parameters that say what the arm adds to commands by itself."""

HOLDERS = {
    Receiver.HANDED_OVER: 'another controller holds the arm',
    Receiver.ARM_HOLDS_ITSELF: 'the arm holds itself',
}
"""Texts that say who holds the arm until the controller is active."""

WANTED = ('joints', 'interface_name')
"""The parameters that are read from the controller."""

SHORT_PERIOD = 0.05
"""Period at which the node looks for a controller whose answer it needs [s]."""

POLLS_WITHOUT_ANSWER = 5
"""
Number of polls after which a controller that does not answer is reported.

Drivers without services for their parameters, as on microcontrollers, never answer.
"""


class EffortController:
    """
    What is known of the controller that receives ~/commands.

    Commands contain no joint names.  Therefore the joints of the controller must be those of the
    node, in the same order; where they are not, nothing is sent.  If the parameter
    ``effort_controller`` names the controller, its joints must be known before anything is sent.
    Otherwise the name comes from the topic: the receiver of ``X/commands`` is expected to be the
    node X, which may also be a driver whose joints cannot be read.

    If a controller manager lists the controller, commands are sent only while it is active, while
    another controller holds the arm for it, or while the arm holds itself.  A known arm is assumed
    to hold itself while no controller commands it.  This matters if such an arm compensates
    another gravity than the true one: it would fall with the first command.

    :param topic: the fully qualified name of ~/commands.
    :param changed: called when the result of :meth:`reason_to_send_nothing` or of
        :meth:`held_joints` may have changed.
    :ivar node_name: the fully qualified name of the controller's node; empty: it is not known.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics, topic: str, receivers: Receivers,
            changed: Callable[[], object]) -> None:
        self.node_name = ''
        self._node = node
        self._diagnostics = diagnostics
        self._topic = topic
        self._receivers = receivers
        self._changed = changed
        self._parameters: RemoteParameters | None = None
        self._answer: Mapping[str, Any] | None = None
        self._polls_without_answer = 0
        self._manager: ControllerManager | None = None
        self._activation = Activation('')
        self._can_arm_hold_itself = False
        self._holder: Receiver | None = None
        self._reason = ''
        self._fitted: tuple[str, tuple[str, ...]] = '', ()  # the controller's node, and its joints
        self._positioned: dict[str, frozenset[str]] = {}  # joints of active controllers, by name
        self._timer: Timer | None = None
        receivers.on_appearance = self._ask_anew

    def poll(self) -> None:
        """Ask the controller and its manager, and report what keeps efforts from being sent."""
        own = self._own()
        self._follow(own)
        if self._parameters is not None:
            self._parameters.poll()
        if self._manager is not None:
            self._manager.poll()
        self._report_missing_answer(own)
        self._update()

    def reason_to_send_nothing(self, own: Mapping[str, Any]) -> str:
        """
        Return why no efforts may be sent to the controller; empty where they may be sent.

        :param own: the values of the node's parameters, which are names of nodes.
        """
        named = own[EFFORT]
        name = self._full_name(named)
        answer = self._answer_of(name)
        if named and answer is None:
            return f'{named!r} is not available: nothing is sent until its joints are known'
        if answer is None or not own['joints']:
            return ''
        return mismatch(
            named or name, answer, own['joints'], bool(named), name in self._receivers.nodes)

    def may_reach_other_joints(self, own: Mapping[str, Any]) -> bool:
        """
        Return whether efforts could reach other joints than they are meant for.

        A controller that has had the right joints, and does not answer any more, still has them
        until one appears among the receivers.
        """
        if not self.reason_to_send_nothing(own):
            return False
        name = self._full_name(own[EFFORT])
        return self._answer_of(name) is not None or self._fitted != (name, tuple(own['joints']))

    def held_joints(self) -> tuple[frozenset[str], str]:
        """
        Return the joints whose position or velocity active controllers command.

        :return: their names, and a text that says how they are known.
        """
        if self._manager is None:
            return frozenset(), 'no controller manager is asked which controllers are active'
        if not self._activation.active and not self._positioned:
            return frozenset(), f'the controller manager {self._manager.name!r} does not answer'
        held: frozenset[str] = frozenset().union(*self._positioned.values())
        return held, f'by the controller manager {self._manager.name!r}, ' + (
            f'{", ".join(self._positioned)} command position or velocity' if self._positioned else
            'no active controller commands a position or velocity')

    def _note_positioned(self) -> None:
        """
        Note around which joints active controllers close a loop; report where that changes.

        While the controller manager does not answer, its last answer counts.
        """
        if self._manager is not None and self._positioned and not self._activation.active:
            return
        positioned = {} if self._manager is None else self._activation.positioned(
            self._manager.kinds)
        if positioned != self._positioned:
            self._positioned = positioned
            self._changed()

    def _answer_of(self, name: str) -> Mapping[str, Any] | None:
        """Return the parameters of the controller's node; None while they are not known."""
        return self._answer if name == self.node_name else None

    def _own(self) -> dict[str, Any]:
        return {name: self._node.get_parameter(name).value
                for name in (EFFORT, MANAGER, TRAJECTORY, ARM, ARM_GRAVITY, 'joints')}

    def _full_name(self, named: str) -> str:
        """Return the fully qualified name of the controller's node; empty: it is not known."""
        if named:
            suffix = '/get_parameters'
            return self._node.resolve_service_name(named + suffix)[:-len(suffix)]
        owner = self._topic.rpartition('/')[0]
        return '' if owner == self._node.get_fully_qualified_name() else owner

    # ---- whom to ask ----------------------------------------------------------------------------

    def _follow(self, own: Mapping[str, Any]) -> None:
        """
        Ask another controller, or another controller manager, where parameters changed.

        While the controller is not active, a change of what the arm adds counts at once.
        """
        name = self._full_name(own[EFFORT])
        if name != self.node_name:
            self.node_name = name
            self._fitted = '', ()
            self._forget_answer()
            self._diagnostics.notice(EFFORT, '')
            if self._parameters is not None:
                self._parameters.close()
            self._parameters = (
                RemoteParameters(self._node, name, WANTED, self._on_answer) if name else None)
        namespace, _, base_name = name.rpartition('/')
        manager = own[MANAGER] if name else ''
        if manager and not manager.startswith('/'):
            manager = f'{namespace}/{manager}'
        companion = own[TRAJECTORY].rpartition('/')[2]
        self._activation.companion = companion
        known = '' if self._manager is None else self._manager.name
        if (manager, base_name) != (known, self._activation.name):
            if self._manager is not None:
                self._manager.close()
            self._activation = Activation(base_name, companion)
            self._receivers.set_active(True)
            self._receivers.is_supported = False
            self._manager = (
                ControllerManager(self._node, manager, self._on_report) if manager else None)
            if self._positioned:
                self._positioned = {}
                self._changed()
        can_arm_hold_itself = own[ARM] != Arm.GENERIC.value and bool(own[ARM_GRAVITY])
        if can_arm_hold_itself is not self._can_arm_hold_itself:
            self._can_arm_hold_itself = can_arm_hold_itself
            if self._activation.obstacle:
                self._note_holder()

    # ---- its joints -----------------------------------------------------------------------------

    def _on_answer(self, values: dict[str, Any] | None) -> None:
        if values is None:
            self._forget_answer()
        else:
            self._answer = values
            self._polls_without_answer = 0
        self._update()

    def _forget_answer(self) -> None:
        self._answer = None
        self._receivers.is_checked = not self.node_name

    def _ask_anew(self) -> None:
        """Let a controller that has just appeared tell its joints before anything is sent."""
        self._fitted = '', ()
        self._forget_answer()
        if self._parameters is not None:
            self._parameters.ask_anew()
        self._update()

    def _report_missing_answer(self, own: Mapping[str, Any]) -> None:
        """Log once where the joints of a receiver cannot be compared."""
        if own[EFFORT] or not own['joints'] or self.node_name not in self._receivers.nodes:
            return
        self._polls_without_answer += self._answer is None
        unknown = self._answer is not None and not _are_joints(self._answer.get('joints'))
        if unknown or self._polls_without_answer >= POLLS_WITHOUT_ANSWER:
            self._diagnostics.log_once(
                f'{self.node_name!r}, which receives the commands, has no parameter joints that '
                'can be read: make sure that its order is that of the parameter joints of this '
                f'node: {", ".join(own["joints"])}')

    def _update(self) -> None:
        """Apply and report a changed reason to send nothing."""
        own = self._own()
        reason = self.reason_to_send_nothing(own)
        awaits_kinds = self._manager is not None and self._manager.awaits_answer
        if self._answer is not None:
            self._receivers.is_checked = not awaits_kinds or (
                self._receivers.is_checked and self._receivers.is_serving)
            self._fitted = (self.node_name, tuple(own['joints'])) if not reason else ('', ())
        if reason != self._reason:
            self._reason = reason
            self._changed()
        obstacle = self._activation.obstacle
        if not reason and obstacle and own['joints']:
            name = own[EFFORT] or self.node_name
            self._diagnostics.waiting(EFFORT, (
                f'{name!r} is {obstacle} while {HOLDERS[self._holder]}: the node sends it the '
                'effort from which the first command will start'
                if self._holder in HANDING_OVER else
                f'{name!r} is {obstacle}: nothing is sent on ~/commands until it is active'))
        elif reason and self._answer is None:
            self._diagnostics.waiting(EFFORT, reason)
        else:
            self._diagnostics.notice(EFFORT, reason, is_error=True)
        self._look_often(bool(self.node_name) and (self._answer is None or awaits_kinds) and (
            bool(own[EFFORT]) or self.node_name in self._receivers.nodes))

    def _look_often(self, is_needed: bool) -> None:
        """Look more often than once a second while an answer is needed."""
        if is_needed and self._timer is None:
            self._timer = self._node.create_timer(
                SHORT_PERIOD, self._look_again, clock=Clock(clock_type=ClockType.STEADY_TIME))
        elif not is_needed and self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _look_again(self) -> None:
        if self._parameters is not None and self._answer is None:
            self._parameters.look_again()
        if self._manager is not None:
            self._manager.look_again()

    # ---- whether it is active -------------------------------------------------------------------

    def _on_report(self, report: ManagerReport | None) -> None:
        was_active = not self._activation.obstacle
        self._activation.take(report)
        is_active = not self._activation.obstacle
        kinds = {} if self._manager is None else self._manager.kinds
        self._receivers.is_supported = self._activation.is_supported(self._own()['joints'], kinds)
        if not (is_active and was_active):
            self._note_holder()
        self._note_positioned()
        self._update()

    def _note_holder(self) -> None:
        """Note who holds the arm while the controller is not active, or did until just now."""
        kinds = {} if self._manager is None else self._manager.kinds
        are_all_known = self._manager is None or not self._manager.awaits_answer
        self._holder = self._activation.holder(
            self._own()['joints'], kinds, are_all_known, self._can_arm_hold_itself)
        self._receivers.set_active(not self._activation.obstacle, self._holder)


def mismatch(
        name: str, values: Mapping[str, Any], joints: Sequence[str],
        is_named: bool, is_receiver: bool) -> str:
    """
    Return why a controller must not receive efforts of these joints; empty where it may.

    :param values: those of its parameters in :data:`WANTED` that it has.
    :param is_named: whether a parameter says that it is the controller.
    :param is_receiver: whether it subscribes to ~/commands.  Then it may also be a driver without
        such parameters.
    """
    theirs: Any = values.get('joints')
    if not _are_joints(theirs):
        return '' if is_receiver or not is_named else (
            f'{name!r} has no parameter joints and does not receive ~/commands: it is not the '
            'controller')
    if is_named and not is_receiver and 'interface_name' not in values:
        return (
            f'{name!r} has no parameter interface_name and does not receive ~/commands: it is not '
            'an effort controller')
    interface = values.get('interface_name') or 'effort'
    if interface != 'effort':
        return (f'{name!r} would write efforts to its interface {interface!r}: nothing is sent; '
                'set its parameter   interface_name: effort')
    if list(theirs) != list(joints):
        return (f'{name!r} has the joints {", ".join(theirs)}; those of this node are '
                f'{", ".join(joints) or "none"}: nothing is sent; set   '
                f'joints: [{", ".join(theirs)}]')
    return ''


def _are_joints(value: Any) -> bool:
    """Return whether the value of a parameter is a list of names, and not empty."""
    return bool(value) and isinstance(value, (list, tuple)) and all(
        isinstance(item, str) for item in value)
