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
"""Joints at the end of their travel, or too fast, are not pushed on."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_rnea.feedforward.arrays import any_set
from ros2_rnea.model.description import JointLimits


class JointBounds:
    """
    Where joints may be and how fast they may move, and what effort is left beyond.

    At a bound, what pushes on is the part of an effort by which it exceeds the one that holds the
    robot against gravity where it is.  Only that part is removed: without the rest, gravity would
    push on, or the arm would fall back.  An effort that brakes or leads back stays as it is.

    A range that is empty, or a velocity limit of zero, is what some descriptions have for want of
    a number; it does not count.

    :param limits: of each joint.
    :param margin: how far before the end of its travel a joint is at it [rad or m].
    :param velocity_factor: share of the velocity limits that may be reached.
    """

    def __init__(
            self, limits: Sequence[JointLimits], margin: float, velocity_factor: float) -> None:
        bounds = [_bounds(one, margin, velocity_factor) for one in limits]
        self._lower = np.array([lower for lower, _ in bounds]).reshape(-1, 2).T.copy()
        self._upper = np.array([upper for _, upper in bounds]).reshape(-1, 2).T.copy()

    def are_reached(self, measured: np.ndarray) -> bool:
        """
        Tell whether a joint is at a bound or beyond.

        :param measured: positions and velocities, shape (2, joints).
        """
        return any_set(measured >= self._upper) or any_set(measured <= self._lower)

    def restrained(
            self, effort: np.ndarray, holding: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """
        Return an effort without what pushes on.

        :param holding: the effort that holds the joints where they are, shape (joints,).
        :param measured: positions and velocities, shape (2, joints).
        """
        return self._within(effort, holding, holding, measured)

    def not_driven_on(
            self, effort: np.ndarray, holding: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """
        Return an effort on its way to a restrained one, without what drives a joint on.

        Less than what holds the joint, such as none at all where efforts start, lets gravity push
        on, but drives nothing: it may stay on its way.

        Parameters are those of :meth:`restrained`.
        """
        return self._within(
            effort, np.maximum(holding, 0.0), np.minimum(holding, 0.0), measured)

    def _within(
            self, effort: np.ndarray, highest: np.ndarray, lowest: np.ndarray,
            measured: np.ndarray) -> np.ndarray:
        """Return at most the highest at an upper bound, at least the lowest at a lower one."""
        above = (measured >= self._upper).any(axis=0)
        below = (measured <= self._lower).any(axis=0)
        effort = np.where(above, np.minimum(effort, highest), effort)
        return np.where(below, np.maximum(effort, lowest), effort)


def _bounds(
        limits: JointLimits, margin: float, velocity_factor: float,
        ) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the least and the greatest position and velocity of a joint."""
    lower, upper = limits.lower, limits.upper
    if lower < upper:
        margin = min(margin, 0.5 * (upper - lower))
        lower, upper = lower + margin, upper - margin
    else:
        lower, upper = -inf, inf
    fastest = limits.velocity * velocity_factor if 0.0 < limits.velocity < inf else inf
    return (lower, -fastest), (upper, fastest)
