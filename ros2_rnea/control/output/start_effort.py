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
"""The effort from which the first command starts: the one that the actuators hold already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.inputs.snapshot import AT_REST
from ros2_rnea.control.settings import StartFrom
from ros2_rnea.robots.sent_terms import Arm


class Receiver(Enum):
    """What is known of the process that receives the commands, usually a controller manager."""

    SAME = 'the same'
    """The receiver got the last recorded command, and has not been restarted since."""

    NEW = 'a new one'
    """The receiver started after the last recorded command or this node, and holds nothing."""

    HANDED_OVER = 'one to which another controller hands over the arm'
    """Another controller holds the arm until the first command is received."""

    ARM_HOLDS_ITSELF = 'one whose arm holds itself until then'
    """No controller is active, and the arm holds itself until the first command is received."""

    ZEROED = 'the same, in which a controller wrote zero'
    """The receiver got commands, but a controller has written zero since, when deactivated."""

    SUPPORTED = 'one beside which another controller holds the arm'
    """The commands are added to the effort of drives that hold a position; none was received."""

    NONE = 'nobody'
    """Nobody receives commands, as in a simulation that begins."""

    UNKNOWN = 'an unknown one'
    """The receiver may hold something other than the last recorded command."""


HANDING_OVER = (Receiver.HANDED_OVER, Receiver.ARM_HOLDS_ITSELF)
"""Receivers whose first command must be the whole effort, since nobody else then holds the arm."""


class Evidence(NamedTuple):
    """
    What is known outside the measured state about the effort that the actuators hold.

    :ivar last_command: the last command to this receiver, by joint, in the unit of its drive; it
        may come from an earlier process of this node.
    :ivar is_own: whether this process has sent it.
    :ivar absence: for people: why nobody receives commands, where nobody does.
    """

    receiver: Receiver = Receiver.NONE
    last_command: Mapping[str, float] = MappingProxyType({})
    is_own: bool = False
    absence: str = 'nobody receives the commands'


class Start(NamedTuple):
    """
    Where the efforts start.

    :ivar effort: shape (joints,) [Nm or N]; None where nothing may be sent.
    :ivar reason: for people: where the effort comes from, or why there is none.
    """

    effort: np.ndarray | None
    reason: str


class StartRule:
    """
    Decides where the efforts start.

    A controller without a timeout holds its last command for as long as its process lives, also
    after the end of the node that sent it.  A first command that differs from it is a step of the
    arm's effort: zero, where gravity is held, drops the arm.

    :param start_from: what to start from.
    :param arm: the controlled arm.
    :param joints: the controlled joints.
    :param command_scale: what one Nm (or N) is in the unit of their drives, shape (joints,).
    :param measured_lacks: the terms that the measured effort lacks; None: it is no effort.
    :param assumes_other_gravity: whether the arm compensates another gravity than the one that
        acts on it: the controller may hold the difference.
    """

    def __init__(
            self, start_from: StartFrom, arm: Arm, joints: Sequence[str],
            command_scale: np.ndarray | float = 1.0,
            measured_lacks: Sequence[str] | None = (),
            assumes_other_gravity: bool = False) -> None:
        self._command_scale = command_scale
        self._assumes_other_gravity = assumes_other_gravity
        self._measured_lacks = measured_lacks
        self._start_from = start_from
        self._arm = arm
        self._joints = tuple(joints)

    def start(
            self,
            evidence: Evidence,
            velocities: np.ndarray,
            measured: np.ndarray,
            holding: Callable[[], np.ndarray]) -> Start:
        """
        Return where the efforts start.

        ``start_from`` is about the first command.  Where this node has sent commands already, and
        the same process receives them, that one still holds the last command, even if it was not
        heard for a while.

        :param velocities: measured, shape (joints,); NaN where they are not known.
        :param measured: the measured efforts, shape (joints,); NaN where they are not known.
        :param holding: returns the effort that holds the joints where they are, shape (joints,),
            without the terms that the arm adds by itself.
        """
        if evidence.is_own and evidence.receiver is Receiver.SAME:
            last = self._from_last(evidence)
            if last.effort is not None:
                return last
        wanted = self._start_from
        zero = np.zeros(len(self._joints))
        if wanted is StartFrom.ZERO:
            return Start(zero, 'zero, as start_from says')
        if wanted is StartFrom.GRAVITY:
            return Start(holding(), 'gravity at the measured state, as start_from says')
        if wanted is StartFrom.LAST:
            return self._from_last(evidence)
        if wanted is StartFrom.MEASURED:
            return self._from_measured(velocities, measured)
        if evidence.receiver is Receiver.HANDED_OVER:
            return Start(holding(), 'gravity: another controller hands over the arm')
        if evidence.receiver is Receiver.ARM_HOLDS_ITSELF:
            return Start(holding(), 'the difference in gravity: the arm has held itself')
        if evidence.receiver is Receiver.SAME:
            last = self._from_last(evidence)
            if last.effort is not None:
                return last
        if evidence.receiver is Receiver.NEW:
            return Start(zero, 'zero: the process that receives the commands is a new one')
        if evidence.receiver is Receiver.ZEROED:
            return Start(zero, 'zero, which a controller wrote when it was deactivated')
        if evidence.receiver is Receiver.SUPPORTED:
            return Start(zero, (
                'zero: another controller, active together with the effort controller, holds the '
                'arm'))
        if evidence.receiver is Receiver.NONE:
            return Start(zero, f'zero: {evidence.absence}')
        if self._assumes_other_gravity:
            return Start(None, 'the arm compensates another gravity than the true one, and the '
                               'controller may hold the difference, which is not measured')
        if self._arm is not Arm.GENERIC:
            return Start(zero, 'zero: the arm compensates gravity by itself')
        return self._from_measured(velocities, measured)

    def _from_last(self, evidence: Evidence) -> Start:
        last = [evidence.last_command.get(joint, np.nan) for joint in self._joints]
        if not np.isfinite(last).all():
            return Start(None, 'no last command of all joints is recorded')
        return Start(np.array(last) / self._command_scale, 'the last command before')

    def _from_measured(self, velocities: np.ndarray, measured: np.ndarray) -> Start:
        """
        Return the measured effort of joints at rest.

        It is what holds them: gravity, what the arm carries and the model lacks, and friction.
        """
        if self._measured_lacks is None or 'gravity' in self._measured_lacks:
            return Start(None, 'the efforts in joint_states are not the whole efforts, as '
                               'measured_lacks or arm says')
        for values, lack in ((measured, 'joint_states have no effort'),
                             (velocities, 'joint_states have no velocity')):
            unknown = ~np.isfinite(values)
            if unknown.any():
                return Start(None, f'{lack} of joint {self._joints[int(unknown.argmax())]!r}')
        moving = np.abs(velocities) > AT_REST
        if moving.any():
            index = int(moving.argmax())
            return Start(None, (
                f'joint {self._joints[index]!r} moves at {velocities[index]:.3g} rad/s or m/s; '
                'the measured effort is that of gravity only at rest'))
        return Start(measured.copy(), 'the measured effort of the arm at rest')
