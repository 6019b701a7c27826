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
"""The transition from the effort that was sent last to the wanted one, at a limited rate."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_rnea.feedforward.signals import remaining_weight

LONGEST_STEP = 0.01
"""Longest cycle time that the rate limit uses [s], so that a gap does not allow a step."""


class EffortRamp:
    """
    Cross-fade and rate limit, which start from the effort that was sent last.

    Effort controllers hold their last command until the next one, however old it is.  Therefore an
    effort after a pause starts from the last one before it, and the first effort starts from zero:
    what the hardware holds before that is not known here.  A measured effort would be a wrong
    start, because it contains friction and the controller's own feedback.

    :param joints: names, in the order of the efforts.
    :param rate_limit: largest change of an effort per second [Nm/s or N/s]; infinite: no limit.
    :ivar sent: the effort that was sent last, shape (joints,).
    :ivar is_sending: whether the last cycle sent an effort.
    """

    def __init__(self, joints: Sequence[str], rate_limit: float) -> None:
        self.joints = tuple(joints)
        self.rate_limit = rate_limit
        self.sent = np.zeros(len(self.joints))
        self.is_sending = False
        self._held: dict[str, float] = {}  # sent by earlier objects, by joint
        self._sent_at = -inf
        self._is_behind = False
        self._offset: np.ndarray | None = None
        self._blend_asked = False
        self._blend_since = 0.0
        self._blend_time = 0.0

    @property
    def is_settled(self) -> bool:
        """Return whether the effort that was sent last was the wanted one."""
        return self._offset is None and not self._blend_asked and not self._is_behind

    @property
    def remaining(self) -> float:
        """Return the remaining time of the cross-fade after the last effort [s]; 0: none."""
        if self._blend_asked:
            return self._blend_time
        if self._offset is None:
            return 0.0
        return max(self._blend_since + self._blend_time - self._sent_at, 0.0)

    def adopt(self, older: EffortRamp) -> None:
        """Start from the efforts that an earlier object sent, for joints of the same names."""
        self._held = {**older._held, **dict(zip(older.joints, older.sent.tolist()))}
        self.sent = np.array([self._held.get(name, 0.0) for name in self.joints])
        self.is_sending = older.is_sending
        self._sent_at = older._sent_at

    def forget(self) -> None:
        """Start from zero, because the controller that held the last effort is gone."""
        self.sent = np.zeros(len(self.joints))
        self._held = {}
        self.is_sending = False

    def pause(self) -> None:
        """Record that this cycle sends no effort."""
        self.is_sending = False

    def blend(self, duration: float) -> None:
        """
        Start a cross-fade from the effort that was sent last.

        :param duration: of the cross-fade [s]; 0: only the rate is limited.
        """
        self._blend_asked, self._blend_time = duration > 0.0, duration
        self._offset = None

    def crossfade(self, wanted: np.ndarray, now: float) -> np.ndarray:
        """Return the wanted effort plus the part of the old difference that has not faded yet."""
        if self._blend_asked or (self._offset is not None and now < self._blend_since):
            self._blend_asked = False
            self._offset = self.sent - wanted
            self._blend_since = now
        if self._offset is None:
            return wanted
        weight = remaining_weight(now - self._blend_since, self._blend_time)
        if not weight:
            self._offset = None
            return wanted
        return wanted + weight * self._offset

    def limit_rate(self, wanted: np.ndarray, now: float) -> tuple[np.ndarray, np.ndarray | None]:
        """
        Return the effort within the rate limit, and store it as sent.

        :param wanted: shape (joints,), finite [Nm or N]; the array is kept and must not change.
        :return: the effort, and flags of the joints that the rate limit holds back; None instead
            of flags where it is no joint.
        """
        step = self._largest_step(now)
        self.is_sending, self._sent_at = True, now
        change = wanted - self.sent
        late = None
        if not change.dot(change) <= step * step:  # else every change is within the step
            late = np.abs(change) > step
            self._is_behind = bool(late.any())
            if self._is_behind:
                wanted = self.sent + np.minimum(np.maximum(change, -step), step)
            else:
                late = None
        else:
            self._is_behind = False
        self.sent = wanted
        return wanted, late

    def _largest_step(self, now: float) -> float:
        """Return the largest change of an effort that the rate limit allows now."""
        if self.rate_limit == inf:
            return inf
        return self.rate_limit * min(max(now - self._sent_at, 0.0), LONGEST_STEP)
