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
"""
The limits that stop a motion, where the node moves the arm alone.

A joint that is farther from its motion than the feedback explains, that moves away at its effort
limit, or that is much faster than its limit, is not under control any more: it is braked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from ros2_rnea.control.arrays import any_set
from ros2_rnea.control.decision import Cause, Status
from ros2_rnea.control.settings import Settings
from ros2_rnea.model.description import JointLimits

FAST_SAMPLES = 3
"""Number of successive states that have to be too fast, since one may be wrong."""

GROWTH = 0.01
"""A deviation that has become larger by this much grows [rad or m]."""


@dataclass
class TripMemory:
    """
    What has been exceeded, and for how long; arrays of shape (joints,).

    :ivar saturated_since: when the effort of each joint became saturated [s]; infinite: it is not.
    :ivar deviation: of each joint at that time [rad or m].
    :ivar fast: number of states in succession that were too fast.
    """

    saturated_since: np.ndarray = field(default_factory=lambda: np.zeros(0))
    deviation: np.ndarray = field(default_factory=lambda: np.zeros(0))
    fast: int = 0

    def restart(self, count: int) -> None:
        """Forget everything; there are so many joints."""
        self.saturated_since, self.deviation = np.full(count, inf), np.zeros(count)


class Trips:
    """
    The limits of some joints.

    :param names: of the joints, in the order of all arrays.
    :param limits: of each joint.
    :param settings: how far each may be exceeded.
    :param alone: true for joints that the node moves alone, which alone are judged.
    :param tolerances: of the deviation, shape (joints,) [rad or m]; infinite: any.
    :param memory: it is changed.
    """

    def __init__(
            self, names: Sequence[str], limits: Sequence[JointLimits], settings: Settings,
            alone: np.ndarray, tolerances: np.ndarray, memory: TripMemory) -> None:
        self._names = names
        self._alone = alone
        self._memory = memory
        self._saturation_time = settings.trip_saturation_time or inf
        self._largest = settings.trip_deviation * tolerances if settings.trip_deviation else (
            np.full(len(names), inf))
        factor = settings.trip_velocity_factor or inf
        self._fastest = np.array([
            one.velocity * factor if 0.0 < one.velocity < inf else inf for one in limits])
        if len(memory.saturated_since) != len(names):
            memory.restart(len(names))

    def too_fast(self, velocities: np.ndarray) -> Cause | None:
        """Return the joints that have been too fast for several states in succession."""
        exceeds = (np.abs(velocities) > self._fastest) & self._alone
        self._memory.fast = self._memory.fast + 1 if any_set(exceeds) else 0
        if self._memory.fast < FAST_SAMPLES:
            return None
        return self._cause(Status.TOO_FAST, exceeds, velocities, self._fastest, (
            'has the velocity', 'trip_velocity_factor times its limit'))

    def out_of_control(
            self, deviation: np.ndarray | None, saturated: np.ndarray | None, now: float,
            ) -> Cause | None:
        """
        Return the joints that feedback does not keep near their motion.

        :param deviation: from the motion, shape (joints,) [rad or m]; None: there is no motion.
        :param saturated: true for joints whose last effort was saturated; None: no joint.
        :param now: on the steady clock [s].
        """
        memory = self._memory
        if deviation is None:
            memory.restart(len(self._names))
            return None
        size = np.abs(deviation)
        exceeds = (size > self._largest) & self._alone
        if any_set(exceeds):
            return self._cause(Status.TOO_FAR_OFF, exceeds, deviation, self._largest, (
                'is off its motion by', 'trip_deviation times its tolerance'))
        if saturated is None or not any_set(saturated & self._alone):
            if not np.isinf(memory.saturated_since).all():
                memory.restart(len(self._names))
            return None
        is_new = saturated & np.isinf(memory.saturated_since)
        memory.deviation = np.where(is_new, size, memory.deviation)
        memory.saturated_since = np.where(
            saturated, np.where(is_new, now, memory.saturated_since), inf)
        grows = (self._alone & (now - memory.saturated_since > self._saturation_time)
                 & (size > memory.deviation + GROWTH))
        if not any_set(grows):
            return None
        return self._cause(Status.SATURATED, grows, deviation, memory.deviation, (
            'at its effort limit has left its motion by', 'where it was when that began'))

    def _cause(
            self, status: Status, flags: np.ndarray, values: np.ndarray, limits: np.ndarray,
            words: tuple[str, str]) -> Cause:
        what, of = words
        rows = [row for row in zip(self._names, flags.tolist(), values.tolist(), limits.tolist())
                if row[1]]
        return Cause(status, tuple(name for name, *_ in rows), '; '.join(
            f'joint {name!r} {what} {value:.3g}, and {of} is {limit:.3g}'
            for name, _, value, limit in rows))
