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
"""What stands between the effort that is needed and the motors: limits, bounds, no step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ros2_rnea.feedforward.array_flags import all_set
from ros2_rnea.feedforward.effort.effort_limits import clamp, scale
from ros2_rnea.feedforward.effort.effort_ramp import EffortRamp
from ros2_rnea.feedforward.effort.joint_bounds import JointBounds
from ros2_rnea.feedforward.settings import BeyondLimits

LARGEST_EFFORT = 1e150
"""Cuts what is limited by nothing else, so that squares of efforts are finite [Nm or N]."""


class LimitedEffort(NamedTuple):
    """
    What is left of an effort, and why it is not the one that was needed.

    :ivar effort: shape (joints,) [Nm or N]; None where what was needed is not a number.
    :ivar not_finite: joints for which it is not.
    :ivar saturated: joints whose effort was beyond its limit.
    :ivar restrained: joints at a bound of position or velocity, with what pushed on removed.
    :ivar rate_limited: joints whose effort is still on its way at the highest rate.
    """

    effort: np.ndarray | None
    not_finite: tuple[str, ...] = ()
    saturated: tuple[str, ...] = ()
    restrained: tuple[str, ...] = ()
    rate_limited: tuple[str, ...] = ()


class EffortLimiter:
    """
    Limits efforts so that they harm nothing, and remembers what was sent last.

    :param joints: names, in the order of all arrays.
    :param limits: of the efforts, shape (joints,); infinite: none.
    :param beyond: what becomes of efforts beyond them.
    :param bounds: of positions and velocities.
    :param ramp: from one effort to the next.
    """

    def __init__(
            self,
            joints: Sequence[str],
            limits: np.ndarray,
            beyond: BeyondLimits,
            bounds: JointBounds,
            ramp: EffortRamp) -> None:
        self.ramp = ramp
        self._joints = tuple(joints)
        self._limits = np.minimum(limits, LARGEST_EFFORT)
        self._to_limits = clamp if beyond is BeyondLimits.CLAMP else scale
        self._bounds = bounds

    def limit(
            self,
            needed: np.ndarray,
            now: float,
            measured: np.ndarray | None,
            holding: Callable[[], np.ndarray]) -> LimitedEffort:
        """
        Return what may be sent now of the effort that is needed; it counts as sent.

        :param needed: shape (joints,); it is not kept.
        :param now: on the steady clock [s].
        :param measured: positions and velocities, shape (2, joints); None: no bound counts.
        :param holding: tells the effort that holds the joints where they are measured.
        """
        saturated: tuple[str, ...] = ()
        restrained: tuple[str, ...] = ()
        within = np.abs(needed) <= self._limits  # false for what is not finite too
        if all_set(within):
            needed = needed.copy()
        else:
            finite = np.isfinite(needed)  # no limit makes sense of infinity
            if not finite.all():
                return LimitedEffort(None, self._names(~finite))
            needed, beyond = self._to_limits(needed, self._limits)
            saturated = self._names(beyond)
        if measured is None or not self._bounds.are_reached(measured):
            allowed = self._blended(needed, now)
        else:
            held, _ = self._to_limits(np.nan_to_num(holding()), self._limits)
            rest = self._bounds.restrained(needed, held, measured)
            blended = self._blended(rest, now)
            allowed = self._bounds.not_driven_on(blended, held, measured)
            restrained = self._names((rest != needed) | (allowed != blended))
        effort, late = self.ramp.limit_rate(allowed, now)
        rate_limited = () if late is None else self._names(late)
        return LimitedEffort(effort, (), saturated, restrained, rate_limited)

    def _blended(self, wanted: np.ndarray, now: float) -> np.ndarray:
        blended = self.ramp.crossfade(wanted, now)
        return wanted if blended is wanted else self._to_limits(blended, self._limits)[0]

    def _names(self, which: np.ndarray) -> tuple[str, ...]:
        return tuple(name for name, here in zip(self._joints, which) if here)
