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
"""The reaction to a contact: what it changes, from its first moment until motions are followed."""

from __future__ import annotations

from collections.abc import Mapping

from ros2_rnea.control.output.effort_ramp import EffortRamp
from ros2_rnea.control.output.final_fade import FinalFade

CONTACT_BLEND_TIME = 0.05
"""Longest blend from the effort that presses against a contact to that which only holds [s].

Where the rate limit allows less than the effort needs, it takes that much longer."""


class Contact:
    """
    How far the reaction to a contact has come.

    It begins with a blend to the effort that holds the arm.  Until somebody ends it, no motion is
    followed.  Afterwards a controller's reference, which has gone on meanwhile, has to come near
    the arm first.

    :param ramp: of the efforts that are sent.
    :param final_fade: of the same efforts.
    :ivar where: for people: at which joints the contact is, with their external efforts; empty
        while there is no reaction.
    :ivar awaits_reference: whether a controller's reference is not followed before it is near.
    """

    def __init__(self, ramp: EffortRamp, final_fade: FinalFade) -> None:
        self._ramp = ramp
        self._final_fade = final_fade
        self._fades = False  # whether the blend at the begin of the reaction may not have ended
        self.where = ''
        self.awaits_reference = False

    def adopt(self, older: Contact) -> None:
        """Continue the reaction of an earlier object."""
        self._fades = older._fades
        self.where, self.awaits_reference = older.where, older.awaits_reference

    def begin(self, efforts: Mapping[str, float], blend_time: float) -> None:
        """
        Begin to blend from the effort that presses.

        :param efforts: the external efforts by joint [Nm or N].
        :param blend_time: of all blends [s]; a longer one than :data:`CONTACT_BLEND_TIME` is
            not used.
        """
        self.where = ', '.join(f'{value:+.3g} at {name}' for name, value in efforts.items())
        self._fades = True
        self._ramp.blend(min(blend_time, CONTACT_BLEND_TIME))

    def end(self) -> None:
        """End the reaction; a controller's reference is followed once it is near."""
        self.where, self.awaits_reference = '', True

    def can_begin(self, now: float, settling_time: float) -> bool:
        """
        Return whether an external effort comes from the environment, so that a reaction may begin.

        It does not before efforts are sent, and until they have settled: motors may be off, or
        brakes on.

        :param now: on the steady clock [s].
        :param settling_time: how long efforts have to be sent before they have settled [s].
        """
        return (not self.where
                and self._ramp.is_sending and not self._final_fade.is_active
                and now - self._ramp.sending_since > settling_time)

    def allows_blend(self, remaining: float, is_asked: bool) -> bool:
        """
        Return whether a change may prolong the present blend.

        What presses fades in time, whatever changes meanwhile, unless somebody has asked for a
        duration.

        :param remaining: of the present blend [s].
        :param is_asked: whether somebody has asked for the duration of the new one.
        """
        self._fades = self._fades and remaining > 0.0
        return is_asked or not self._fades
