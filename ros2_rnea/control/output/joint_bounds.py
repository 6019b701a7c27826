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
"""No effort pushes a joint further beyond its position range or velocity limit."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_rnea.control.arrays import any_set
from ros2_rnea.model.description import JointLimits


class JointBounds:
    """
    Bounds of position and velocity, and the limits of efforts at a bound.

    At a bound, an effort pushes further where it exceeds the effort that holds the robot against
    gravity there.  Only this excess is removed: without the holding effort, gravity would push
    the joint further, or the arm would fall.  An effort that brakes or leads back is not changed.

    Some descriptions contain an empty range or a velocity limit of zero as a placeholder; these
    are ignored.

    :param limits: of each joint.
    :param margin: distance from the end of its range at which a joint is at the bound [rad or m].
    :param velocity_factor: share of the velocity limits that may be reached.
    """

    def __init__(
            self, limits: Sequence[JointLimits], margin: float, velocity_factor: float) -> None:
        bounds = [_bounds(one, margin, velocity_factor) for one in limits]
        self._lower = np.array([lower for lower, _ in bounds]).reshape(-1, 2).T.copy()
        self._upper = np.array([upper for _, upper in bounds]).reshape(-1, 2).T.copy()

    def are_reached(self, measured: np.ndarray) -> bool:
        """
        Return whether any joint is at a bound or beyond.

        :param measured: positions and velocities, shape (2, joints).
        """
        return any_set(measured >= self._upper) or any_set(measured <= self._lower)

    def restrained(
            self, effort: np.ndarray, holding: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """
        Return an effort without its part that pushes further beyond a bound.

        :param holding: the effort that holds the joints where they are, shape (joints,).
        :param measured: positions and velocities, shape (2, joints).
        """
        return self._within(effort, holding, holding, measured)

    def not_driven_on(
            self, effort: np.ndarray, holding: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """
        Return an effort of a blend without its part that drives a joint beyond a bound.

        A blend starts with less than the holding effort, often with zero.  Then gravity may
        push the joint further, but the effort does not drive it, so that it is not changed.

        Parameters are those of :meth:`restrained`.
        """
        return self._within(
            effort, np.maximum(holding, 0.0), np.minimum(holding, 0.0), measured)

    def _within(
            self, effort: np.ndarray, highest: np.ndarray, lowest: np.ndarray,
            measured: np.ndarray) -> np.ndarray:
        """Limit efforts from above at upper bounds and from below at lower bounds."""
        above = (measured >= self._upper).any(axis=0)
        below = (measured <= self._lower).any(axis=0)
        effort = np.where(above, np.minimum(effort, highest), effort)
        return np.where(below, np.maximum(effort, lowest), effort)


def reduced_range(limits: JointLimits, margin: float) -> tuple[float, float]:
    """
    Return the range of a joint without a margin at both ends; infinite where it is no range.

    :param margin: [rad or m]; where it is more than half of the range, the middle is left.
    """
    if not limits.lower < limits.upper:
        return -inf, inf
    margin = min(margin, 0.5 * (limits.upper - limits.lower))
    return limits.lower + margin, limits.upper - margin


def _bounds(
        limits: JointLimits, margin: float, velocity_factor: float,
        ) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the lower and the upper bound, each of position and velocity."""
    lower, upper = reduced_range(limits, margin)
    fastest = limits.velocity * velocity_factor if 0.0 < limits.velocity < inf else inf
    return (lower, -fastest), (upper, fastest)
