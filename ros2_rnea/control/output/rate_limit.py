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
"""How fast efforts may change."""

from __future__ import annotations

import numpy as np

SHORTEST_RISE = 0.05
"""Shortest time from zero to the effort limit of a joint [s]."""

USUAL_HIGHEST_RATE = 1000.0
"""Largest rate of an effort whose limit is not very large [Nm/s or N/s]; some arms stop beyond."""

LONGEST_RISE = 0.15
"""Longest time from zero to an effort limit, however large [s]."""


def effort_rate_limits(effort_limits: np.ndarray, highest: float = 0.0) -> np.ndarray:
    """
    Return how fast each effort may change, shape (joints,) [Nm/s or N/s].

    Each effort may reach its limit within :data:`SHORTEST_RISE`: a small joint has a lower rate
    limit than a large one.  Without a ``highest`` rate, it is also at most
    :data:`USUAL_HIGHEST_RATE`, or what reaches the limit within :data:`LONGEST_RISE` where that is
    more.

    :param effort_limits: shape (joints,) [Nm or N]; 0 and infinite ones are taken for unknown.
    :param highest: upper bound for all joints [Nm/s or N/s]; 0: as above; infinite: no limit.
    """
    if highest == np.inf:
        return np.full(len(effort_limits), np.inf)
    is_known = (effort_limits > 0.0) & np.isfinite(effort_limits)
    known = np.where(is_known, effort_limits, np.inf)
    if not highest:
        large = np.where(is_known, effort_limits, 0.0)
        return np.minimum(
            known / SHORTEST_RISE, np.maximum(USUAL_HIGHEST_RATE, large / LONGEST_RISE))
    return np.minimum(known / SHORTEST_RISE, highest)


def limited(
        wanted: np.ndarray, before: np.ndarray, seconds_per_effort: np.ndarray, elapsed: float,
        ) -> tuple[np.ndarray, np.ndarray | None]:
    """
    Return what may be reached in a time, and which joints are held back; None: no joint.

    :param wanted: shape (joints,) [Nm or N].
    :param before: where they are, shape (joints,) [Nm or N].
    :param seconds_per_effort: inverse of the rates, shape (joints,) [s/Nm or s/N]; 0: no limit.
    :param elapsed: [s].
    """
    change = wanted - before
    needed = change * seconds_per_effort
    if needed.dot(needed) <= elapsed * elapsed:  # then no joint needs more time
        return wanted, None
    late = np.abs(needed) > elapsed
    if True not in late:
        return wanted, None
    with np.errstate(divide='ignore', invalid='ignore'):  # where there is no limit
        reached = before + np.copysign(elapsed / seconds_per_effort, change)
    return np.where(late, reached, wanted), late
