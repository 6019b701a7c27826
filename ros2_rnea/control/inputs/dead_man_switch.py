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
from math import inf, isfinite

from ros2_rnea.errors import MessageError


class DeadManSwitch:
    """
    One button of a joystick, as far as its messages tell.

    A press is valid until the timeout after the reception of its message.  After that, only a new
    message can allow efforts again, even if the timeout grows or the time jumps back.

    :ivar button: its index; negative: there is no switch.
    """

    def __init__(self) -> None:
        self.button = -1
        self._timeout = 0.0
        self._pressed_at = -inf

    def use(self, button: int, timeout: float) -> None:
        """
        Use another button or timeout [s] from now on; a press of another button is ignored.

        :param button: its index; negative: there is no switch.
        """
        if button != self.button:
            self._pressed_at = -inf
        self.button, self._timeout = button, timeout

    def adopt(self, older: DeadManSwitch) -> None:
        """Continue with what is known of the same button."""
        if older.button == self.button:
            self._pressed_at = older._pressed_at

    def take(self, buttons: Sequence[int], now: float, age: float = 0.0) -> None:
        """
        Accept the buttons of a message.  A release counts however old it is.

        :param now: on the steady clock [s].
        :param age: time since the reception of the message [s]; infinite: it may be of any age.
        :raises MessageError: where the button of the switch is not among them, or its press is
            older than the timeout.
        """
        if self.button < 0:
            return
        if self.button >= len(buttons):
            raise MessageError(
                f'dead_man_button is {self.button}, and the message has {len(buttons)} buttons; '
                'the first one is 0')
        if not buttons[self.button]:
            self._pressed_at = -inf
        elif age > self._timeout:
            raise MessageError(
                f'the press has waited for {age:.3f} s before it was read, longer than '
                f'dead_man_timeout ({self._timeout:g} s)' if isfinite(age) else
                'the press may have waited while this process did not run')
        else:
            is_earlier = self._pressed_at <= now  # else the time has jumped back
            self._pressed_at = max(self._pressed_at, now - age) if is_earlier else now - age

    def allows(self, now: float) -> bool:
        """Return whether efforts may be sent; to be asked in each cycle."""
        if not 0.0 <= now - self._pressed_at <= self._timeout:
            self._pressed_at = -inf
        return self.button < 0 or self._pressed_at > -inf
