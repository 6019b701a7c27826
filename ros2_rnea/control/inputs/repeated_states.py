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
Joints whose driver repeats one state that says that they move, which cannot last.

A driver that has lost its hardware may go on to publish the state that it read last, with new
stamps.  Damping of a velocity that is not there would drive the arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ros2_rnea.control.arrays import any_set, Indices

FARTHEST = 0.01
"""
A joint whose position has not changed has not moved by more than this [rad or m].

It is far above what the sensor of a joint behind a gear resolves.
"""

SLOWEST = 0.05
"""A slower velocity may be an error at rest, as of a filter that rounds [rad/s or m/s]."""


@dataclass
class RepeatMemory:
    """
    The time since which each joint's state is repeated, to the bit.

    :ivar since: when it was repeated first [s], shape (joints,); infinite: it is not repeated.
    :ivar are_impossible: whether its velocity would have moved the joint since, shape (joints,).
    :ivar is_clear: whether no state is repeated.
    """

    since: np.ndarray
    are_impossible: np.ndarray
    is_clear: bool = True

    @classmethod
    def of(cls, names: Sequence[str]) -> RepeatMemory:
        """Return that of joints of which nothing is known."""
        return cls(np.full(len(names), np.inf), np.zeros(len(names), dtype=bool))

    def take(self, other: RepeatMemory, theirs: Sequence[int], ours: Sequence[int]) -> None:
        """Take what another memory knows of joints, with their indices in both."""
        self.since[ours], self.are_impossible[ours] = (
            other.since[theirs], other.are_impossible[theirs])
        self.is_clear = not (self.since < np.inf).any()

    def note(
            self, target: Indices, are_same: np.ndarray, velocities: np.ndarray, received: float,
            ) -> bool:
        """
        Note new states, and return whether one of them is an impossible repetition.

        :param are_same: which positions and velocities are those of before.
        :param velocities: of the same joints [rad/s or m/s].
        :param received: when they were received [s].
        """
        if not any_set(are_same):  # as nearly always while an arm moves
            if not self.is_clear:
                self.since[target], self.are_impossible[target] = np.inf, False
                self.is_clear = not (self.since < np.inf).any()
            return False
        speeds = np.abs(velocities)
        since = np.where(are_same, np.minimum(self.since[target], received), np.inf)
        with np.errstate(invalid='ignore'):  # of velocity 0 and infinite time
            are_impossible = (speeds > SLOWEST) & (speeds * (received - since) > FARTHEST)
        self.since[target], self.are_impossible[target] = since, are_impossible
        self.is_clear = False
        return any_set(are_impossible)
