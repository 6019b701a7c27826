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
"""The limits between the computed effort and the motors: saturation, joint bounds, rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.arrays import all_set, any_set
from ros2_rnea.control.decision import LimitFlags
from ros2_rnea.control.output.effort_ramp import EffortRamp
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.settings import BeyondLimits

LARGEST_EFFORT = 1e150
"""Limit where the description has none [Nm or N]: squares of such efforts do not overflow."""


class LimitedEffort(NamedTuple):
    """
    An effort within all limits.

    :ivar effort: shape (joints,) [Nm or N]; None where the computed one is not finite.
    :ivar flags: the joints whose effort was limited; None: no joint's.
    :ivar not_finite: joints with an effort that is not finite; None: no joint.
    """

    effort: np.ndarray | None
    flags: LimitFlags | None = None
    not_finite: np.ndarray | None = None


class EffortLimiter:
    """
    Limits efforts before they are sent, and stores the effort that was sent last.

    :param limits: of the efforts, shape (joints,); infinite: no limit.
    :param beyond: whether efforts beyond the limits are clamped or scaled.
    :param bounds: of positions and velocities.
    :param ramp: rate limit and blend, from one effort to the next.
    """

    def __init__(
            self,
            limits: np.ndarray,
            beyond: BeyondLimits,
            bounds: JointBounds,
            ramp: EffortRamp) -> None:
        self.ramp = ramp
        self._limits = np.minimum(limits, LARGEST_EFFORT)
        self._scales = beyond is BeyondLimits.SCALE
        self._bounds = bounds
        self._none = np.zeros(len(limits), dtype=bool)
        self._none.flags.writeable = False

    def limit(
            self,
            computed: np.ndarray,
            now: float,
            measured: np.ndarray | None,
            holding: Callable[[], np.ndarray]) -> LimitedEffort:
        """
        Return the effort to send now and store it as sent.

        :param computed: the effort before all limits, shape (joints,); it is not kept.
        :param now: on the steady clock [s].
        :param measured: positions and velocities, shape (2, joints); None: bounds are ignored.
        :param holding: returns the effort that holds the joints at their measured positions; it
            is called only where a joint is at a bound, or an effort is scaled.
        """
        saturated = restrained = self._none
        if all_set(np.abs(computed) <= self._limits):  # false for NaN too
            within = computed.copy()
        else:
            finite = np.isfinite(computed)
            if not finite.all():
                return LimitedEffort(None, not_finite=~finite)
            if self._scales:
                within, saturated = scale(computed, self._limits, self.saturated(holding()))
            else:
                within, saturated = clamp(computed, self._limits)
        if measured is None or not self._bounds.are_reached(measured):
            allowed = self._crossfade(within, now)
        else:
            held = self.saturated(holding())
            inside = self._bounds.restrained(within, held, measured)
            blended = self._crossfade(inside, now)
            allowed = self._bounds.not_driven_on(blended, held, measured)
            restrained = (inside != within) | (allowed != blended)
        effort, rate_limited = self.ramp.limit_rate(allowed, now)
        if rate_limited is None:
            if saturated is self._none and not any_set(restrained):
                return LimitedEffort(effort)
            rate_limited = self._none
        return LimitedEffort(
            effort, LimitFlags(self.ramp.joints, saturated, restrained, rate_limited))

    def saturated(self, effort: np.ndarray) -> np.ndarray:
        """Return an effort that holds, each joint's within its own limit, shape (joints,)."""
        return clamp(np.nan_to_num(effort), self._limits)[0]

    def _crossfade(self, wanted: np.ndarray, now: float) -> np.ndarray:
        blended = self.ramp.crossfade(wanted, now)
        return wanted if blended is wanted else clamp(blended, self._limits)[0]


def clamp(effort: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the effort clipped to ±limits, and flags of the joints where it exceeded them.

    :param effort: shape (n,) [Nm or N].
    :param limits: shape (n,), not negative; infinite for no limit.
    :return: the clamped effort and a boolean array, both of shape (n,).
    """
    return np.clip(effort, -limits, limits), np.abs(effort) > limits


def scale(
        effort: np.ndarray, limits: np.ndarray, held: np.ndarray,
        ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the effort with what exceeds the held one scaled down by one factor for all joints.

    So too large an effort of one joint never takes from another what holds that against gravity.
    A limit of 0, which some descriptions contain as a placeholder, sets the effort of its own
    joint to zero and does not change the factor.

    :param effort: shape (n,) [Nm or N].
    :param limits: shape (n,), not negative; infinite for no limit.
    :param held: the part that is not scaled, within the limits, shape (n,) [Nm or N].
    :return: the effort, and flags as of :func:`clamp`.
    """
    exceeds = np.abs(effort) > limits
    scaling = exceeds & (limits > 0.0)
    added = effort - held
    room = np.where(added > 0.0, limits - held, limits + held)
    factor = (room[scaling] / np.abs(added[scaling])).min(initial=1.0)
    return np.clip(held + factor * added, -limits, limits), exceeds
