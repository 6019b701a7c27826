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
"""The way from the effort that was sent last to the one that is wanted: never a step."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_rnea.feedforward.signals import remaining_weight

LONGEST_STEP = 0.01
"""The time that counts between two efforts at most [s]: after a gap there is no step either."""


class EffortRamp:
    """
    What was sent last, from which every effort sets out.

    Controllers of effort hold their last command until the next, however long ago it came, and
    one that has had none commands zero.  So zero is where the first effort sets out from, and an
    effort after a pause from the last before it; never a measured effort, of which friction and
    the controller's own feedback are part.

    :param joints: names, in the order of the efforts.
    :param rate_limit: how fast an effort may change [Nm/s or N/s]; infinite: at once.
    """

    def __init__(self, joints: Sequence[str], rate_limit: float) -> None:
        self.joints = tuple(joints)
        self.rate_limit = rate_limit
        self.sent = np.zeros(len(self.joints))
        self.is_sending = False
        self._held: dict[str, float] = {}  # by joints that earlier objects sent to
        self._sent_at = -inf
        self._is_behind = False
        self._offset: np.ndarray | None = None
        self._blend_asked = False
        self._blend_since = 0.0
        self._blend_time = 0.0

    @property
    def is_settled(self) -> bool:
        """Tell whether what was sent last is what was wanted."""
        return self._offset is None and not self._blend_asked and not self._is_behind

    @property
    def remaining(self) -> float:
        """Return how long a blend still takes from the last effort on [s]; 0: there is none."""
        if self._blend_asked:
            return self._blend_time
        if self._offset is None:
            return 0.0
        return max(self._blend_since + self._blend_time - self._sent_at, 0.0)

    def adopt(self, older: EffortRamp) -> None:
        """Set out from what earlier objects sent to joints of the same names."""
        self._held = {**older._held, **dict(zip(older.joints, older.sent.tolist()))}
        self.sent = np.array([self._held.get(name, 0.0) for name in self.joints])
        self.is_sending = older.is_sending
        self._sent_at = older._sent_at

    def forget(self) -> None:
        """Set out from zero: whoever holds what was sent is gone."""
        self.sent = np.zeros(len(self.joints))
        self._held = {}
        self.is_sending = False

    def pause(self) -> None:
        """Take note that nothing is sent now."""
        self.is_sending = False

    def blend(self, duration: float) -> None:
        """
        Let the difference between what was sent and what is wanted next fade.

        :param duration: [s]; 0: only the rate is limited.
        """
        self._blend_asked, self._blend_time = duration > 0.0, duration
        self._offset = None

    def crossfade(self, wanted: np.ndarray, now: float) -> np.ndarray:
        """Return what is wanted, with what has yet to fade of the difference from before."""
        if self._blend_asked or (self._offset is not None and now < self._blend_since):
            self._blend_asked = False
            self._offset = self.sent - wanted
            self._blend_since = now
        if self._offset is None:
            return wanted
        share = remaining_weight(now - self._blend_since, self._blend_time)
        if not share:
            self._offset = None
            return wanted
        return wanted + share * self._offset

    def limit_rate(self, wanted: np.ndarray, now: float) -> tuple[np.ndarray, np.ndarray | None]:
        """
        Return what may be sent now, and which joints cannot yet have what is wanted.

        It counts as sent.

        :param wanted: shape (joints,), finite [Nm or N]; it is kept, and is not to be changed.
        :return: the effort, and a boolean array, or None for no joint.
        """
        most = self._most(now)
        self.is_sending, self._sent_at = True, now
        change = wanted - self.sent
        late = None
        if not change.dot(change) <= most * most:  # else no change is larger than this
            late = np.abs(change) > most
            self._is_behind = bool(late.any())
            if self._is_behind:
                wanted = self.sent + np.minimum(np.maximum(change, -most), most)
            else:
                late = None
        else:
            self._is_behind = False
        self.sent = wanted
        return wanted, late

    def _most(self, now: float) -> float:
        """Return by how much an effort may change now."""
        if self.rate_limit == inf:
            return inf
        return self.rate_limit * min(max(now - self._sent_at, 0.0), LONGEST_STEP)
