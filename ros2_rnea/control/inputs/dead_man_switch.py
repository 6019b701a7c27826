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
"""The dead-man switch: a button that has to be pressed for efforts to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite

from ros2_rnea.errors import MessageError


@dataclass
class DeadManMemory:
    """
    The last press of the switch.

    :ivar button: the index of the button that was pressed; negative: there is no switch.
    :ivar pressed_at: when the message of the press was received [s]; −inf: it does not count.
    """

    button: int = -1
    pressed_at: float = -inf


class DeadManSwitch:
    """
    One button of a joystick, as far as its messages tell.

    A press is valid until the timeout after the reception of its message.  After that, only a new
    message can allow efforts again, even if the timeout grows or the time jumps back.

    :param button: its index; negative: there is no switch.
    :param timeout: how long a press is valid [s].
    :param memory: the last press, which counts no more where it was that of another button; None:
        none.
    """

    def __init__(
            self, button: int = -1, timeout: float = 0.0,
            memory: DeadManMemory | None = None) -> None:
        self.button = button
        self._timeout = timeout
        self.memory = memory or DeadManMemory(button)
        if self.memory.button != button:
            self.memory.button, self.memory.pressed_at = button, -inf

    def take(self, buttons: Sequence[int], now: float, age: float = 0.0) -> None:
        """
        Accept the buttons of a message.  A release counts however old it is.

        :param now: on the steady clock [s].
        :param age: time since the reception of the message [s]; infinite: it may be of any age.
        :raises MessageError: where the button of the switch is not among them, or its press is
            older than the timeout.
        """
        memory = self.memory
        if self.button < 0:
            return
        if self.button >= len(buttons):
            raise MessageError(
                f'dead_man_button is {self.button}, and the message has {len(buttons)} buttons; '
                'the first one is 0')
        if not buttons[self.button]:
            memory.pressed_at = -inf
        elif age > self._timeout:
            raise MessageError(
                f'the press has waited for {age:.3f} s before it was read, longer than '
                f'dead_man_timeout ({self._timeout:g} s)' if isfinite(age) else
                'the press may have waited while this process did not run')
        else:
            is_earlier = memory.pressed_at <= now  # else the time has jumped back
            memory.pressed_at = max(memory.pressed_at, now - age) if is_earlier else now - age

    def allows(self, now: float) -> bool:
        """Return whether efforts may be sent; to be asked in each cycle."""
        memory = self.memory
        if not 0.0 <= now - memory.pressed_at <= self._timeout:
            memory.pressed_at = -inf
        return self.button < 0 or memory.pressed_at > -inf
