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
"""The bounded transition to the effort that a controller may hold, before nothing is sent."""

from __future__ import annotations

from math import inf

from ros2_rnea.control.output.effort_ramp import EffortRamp

LONGEST_BLEND = 1.0
"""Longest duration of the blend [s], however long ``state_timeout`` is."""

LONGEST_FINAL_FADE = 3.0
"""Longest duration of the whole final fade [s], where the rate limit delays its end."""

OLDEST_FINAL_STATE = 2.0
"""How old the last state may become in the final fade, as a multiple of ``state_timeout``."""

FADE_SHARE = 0.8
"""Share of the time left that the blend uses; the rest is for efforts that lag behind it."""


class FinalFade:
    """
    The timing of the transition before the node falls silent, for whatever reason.

    Effort controllers hold their last command for ever.  An effort that was computed for a motion
    would then accelerate the arm, so that the last effort has to be one that may be held.  The
    transition to it uses the last measured state.  It ends when that effort is reached, and at
    the latest when that state is two timeouts old.

    :param ramp: of the efforts that are sent; the final fade starts its blend.
    :ivar is_active: whether a final fade has begun and is not over.
    :ivar was_cut_short: whether the time was over before the effort was reached.
    """

    def __init__(self, ramp: EffortRamp) -> None:
        self._ramp = ramp
        self._latest_end = -inf
        self.is_active = False
        self.was_cut_short = False

    def adopt(self, older: FinalFade) -> None:
        """Continue the final fade of an earlier object."""
        self._latest_end = older._latest_end
        self.is_active, self.was_cut_short = older.is_active, older.was_cut_short

    def goes_on(self, now: float, state_age: float, state_timeout: float) -> bool:
        """
        Return whether one more effort is to be sent; the first call begins the final fade.

        :param now: on the steady clock [s].
        :param state_age: age of the last measured state [s]; infinite where it has none.
        :param state_timeout: a state is fresh for this long [s].
        """
        time_left = OLDEST_FINAL_STATE * state_timeout - state_age
        if not self.is_active:
            if not time_left > 0.0:
                self.was_cut_short = True
                return False
            self.is_active, self.was_cut_short = True, False
            self._latest_end = now + LONGEST_FINAL_FADE
            self._ramp.blend(min(FADE_SHARE * time_left, state_timeout, LONGEST_BLEND))
            return True
        if self._ramp.is_settled:
            return False
        self.was_cut_short = not (time_left > 0.0 and now < self._latest_end)
        return not self.was_cut_short

    def end(self) -> None:
        """Record that nothing is sent from now on."""
        self.is_active = False

    def cancel(self) -> None:
        """Record that efforts are sent as usual again, from the next one on."""
        self._ramp.sending_since = inf
        self.is_active = self.was_cut_short = False
