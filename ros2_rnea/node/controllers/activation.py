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
"""Whether a controller is active, and what may have commanded its joints while it was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ros2_rnea.control.output.start_effort import Receiver

ACTIVE = 'active'

NOT_ACTIVE = ('unconfigured', 'inactive', 'finalized')
"""States in which a controller commands nothing; in others, such as transitions, it may."""

NOT_LOADED = 'not loaded'
"""The text that is reported in place of a state if a controller is no longer listed."""

ZEROING_TYPES = (
    'effort_controllers/JointGroupEffortController',
    'joint_trajectory_controller/JointTrajectoryController',
)
"""
Types of controllers that write zero to their effort interfaces when they are deactivated.

The source is ``on_deactivate`` of both types.  That of ``forward_command_controller`` writes
nothing: the hardware keeps the last command.
"""


class ControllerKind(NamedTuple):
    """
    What a controller is and commands.

    :ivar plugin: its type, such as ``forward_command_controller/ForwardCommandController``.
    :ivar interfaces: the command interfaces that it needs, such as ``elbow/effort``.
    """

    plugin: str
    interfaces: tuple[str, ...]

    @property
    def zeroes_effort(self) -> bool:
        """Return whether its efforts are zero once it is deactivated."""
        return self.plugin in ZEROING_TYPES and any(
            interface.endswith('/effort') for interface in self.interfaces)

    def commands_any(self, joints: Sequence[str]) -> bool:
        """Return whether it commands any of some joints."""
        return any(interface.rpartition('/')[0] in joints for interface in self.interfaces)

    @property
    def held(self) -> frozenset[str]:
        """Return the joints whose drives hold them for it, by position or velocity."""
        parts = [interface.rpartition('/') for interface in self.interfaces]
        if any(interface == 'effort' for *_, interface in parts):
            return frozenset()
        return frozenset(
            joint for joint, _, interface in parts if interface in ('position', 'velocity'))

    @property
    def positioned(self) -> frozenset[str]:
        """
        Return the joints whose position or velocity it commands.

        A chained controller commands that of another one, as ``pid_controller/elbow/position``,
        which closes a loop around the joint then.
        """
        names = set()
        for owner, _, interface in (each.rpartition('/') for each in self.interfaces):
            if interface in ('position', 'velocity'):
                names |= {owner, owner.rpartition('/')[2]}
        return frozenset(names)


class ManagerReport(NamedTuple):
    """
    What a controller manager says of all its controllers and hardware components.

    :ivar controllers: the state of each loaded controller, by name.
    :ivar hardware: the state of each hardware component, by name; empty where it is not known.
    """

    controllers: Mapping[str, str]
    hardware: Mapping[str, str] = {}


class Activation:
    """
    Follows the state of one controller through the reports of its controller manager.

    A controller counts as not active only in one of the states :data:`NOT_ACTIVE`, or if it was
    listed before and is no longer listed.  A node that was never listed is not a controller of
    ros2_control.  It never counts as not active.

    :param name: of the controller, as its controller manager lists it.
    :param companion: of a controller that is meant to be active together with it, if it commands
        no efforts; it hands over nothing.  Empty: there is none.
    :ivar obstacle: why the controller commands nothing, one of :data:`NOT_ACTIVE` or
        :data:`NOT_LOADED`; empty where it is active, and where that is not known.
    :ivar active: the names of all active controllers, itself included.
    """

    def __init__(self, name: str, companion: str = '') -> None:
        self.name = name
        self.companion = companion
        self.obstacle = ''
        self.active: frozenset[str] = frozenset()
        self._was_listed = False
        self._beside: frozenset[str] = frozenset()  # active together with it
        self._others: frozenset[str] = frozenset()  # active while it was not
        self._last_others: frozenset[str] = frozenset()  # in the last report while it was not
        self._last_active: frozenset[str] = frozenset()  # in that report, _beside included
        self._hardware: frozenset[str] = frozenset()  # active when the controller last was
        self._hardware_stopped = False  # some hardware, while the controller was not active

    def take(self, report: ManagerReport | None) -> None:
        """Accept a report of the controller manager; None if the controller manager has gone."""
        self.active = frozenset() if report is None else _names_of_active(report.controllers)
        if report is None:
            self.obstacle = ''
            return
        state = report.controllers.get(self.name, NOT_LOADED)
        if state == NOT_LOADED and not self._was_listed:
            return
        self._was_listed = True
        if state == ACTIVE:
            self.obstacle = ''
            self._beside, self._hardware = self.active, _names_of_active(report.hardware)
        elif state in (*NOT_ACTIVE, NOT_LOADED):
            if not self.obstacle:
                self._others, self._hardware_stopped = frozenset(), False
            self.obstacle = state
            self._last_active = self.active
            self._last_others = self.active - self._beside  # _beside have other interfaces
            self._others |= self._last_others
            self._hardware_stopped |= any(
                report.hardware.get(name) in NOT_ACTIVE for name in self._hardware)

    def holder(
            self, joints: Sequence[str], kinds: Mapping[str, ControllerKind],
            are_all_known: bool = True, can_arm_hold_itself: bool = False) -> Receiver | None:
        """
        Return who holds the effort while the controller is not active, or just was not.

        :param joints: the joints that it commands.
        :param kinds: all known controllers, by name.
        :param are_all_known: whether no other kinds will be known soon.  Then a controller of an
            unknown kind may command the joints.
        :param can_arm_hold_itself: whether the arm holds itself while no controller commands it.
        :return: None where nothing suggests that this is another effort than the last command.
        """
        last_others, others = self._last_others, self._others
        if not are_all_known:
            last_others, others = last_others & frozenset(kinds), others & frozenset(kinds)
        companion = kinds.get(self.companion)
        beside = {self.companion} if companion and companion.held.intersection(joints) else set()
        if _may_command(last_others - beside, joints, kinds):
            return Receiver.HANDED_OVER
        if can_arm_hold_itself and not _may_command(self._last_active, joints, kinds):
            return Receiver.ARM_HOLDS_ITSELF
        if self._hardware_stopped:
            return Receiver.UNKNOWN
        commanding = _may_command(others - beside, joints, kinds)
        if commanding:
            are_zero = all(kind is not None and kind.zeroes_effort for kind in commanding)
            return Receiver.ZEROED if are_zero else Receiver.UNKNOWN
        own = kinds.get(self.name)
        return Receiver.ZEROED if own is not None and own.zeroes_effort else None

    def is_supported(self, joints: Sequence[str], kinds: Mapping[str, ControllerKind]) -> bool:
        """Return whether controllers active together with it let the drives hold all joints."""
        held = frozenset(
            joint for name in self._beside if name in kinds for joint in kinds[name].held)
        return not self.obstacle and bool(joints) and held.issuperset(joints)

    def positioned(self, kinds: Mapping[str, ControllerKind]) -> dict[str, frozenset[str]]:
        """
        Return the joints whose position or velocity active controllers command, by controller.

        :param kinds: all known controllers, by name.
        """
        found = {name: kinds[name].positioned for name in sorted(self.active & kinds.keys())}
        return {name: joints for name, joints in found.items() if joints}


def _may_command(
        names: frozenset[str], joints: Sequence[str],
        kinds: Mapping[str, ControllerKind]) -> list[ControllerKind | None]:
    """Return the kinds of those controllers that may command some of the joints."""
    found = [kinds.get(name) for name in names]
    return [kind for kind in found if kind is None or kind.commands_any(joints)]


def _names_of_active(states: Mapping[str, str]) -> frozenset[str]:
    return frozenset(name for name, state in states.items() if state == ACTIVE)
