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
"""Motions that are commanded in the tests."""

from __future__ import annotations

from collections.abc import Callable

from closed_loop.loop import Point
import numpy as np


class Sine:
    """
    A motion of sinusoids from rest, of all joints with one frequency.

    :param start: shape (joints,) [rad].
    :param sizes: how far each joint goes at most, shape (joints,) [rad].
    :param frequency: [Hz].
    """

    def __init__(self, start: np.ndarray, sizes: np.ndarray, frequency: float) -> None:
        self._start, self._sizes = start, sizes
        self._rate = 2.0 * np.pi * frequency

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, velocities and accelerations at a time since the start [s]."""
        w = self._rate
        return (self._start + 0.5 * self._sizes * (1.0 - np.cos(w * time)),
                0.5 * self._sizes * w * np.sin(w * time),
                0.5 * self._sizes * w * w * np.cos(w * time))

    def points(self, duration: float, after: float = 0.0, count: int = 120) -> list[Point]:
        """
        Return the waypoints of a trajectory.

        :param duration: of the motion [s].
        :param after: time from the reception to the start of the motion [s].
        """
        times = duration * np.arange(1, count + 1) / count
        return [(time + after, *self.at(time)) for time in times.tolist()]

    def path(
            self, begin: float, duration: float = np.inf) -> Callable[[np.ndarray], np.ndarray]:
        """
        Return the positions as a function of times [s].

        :param begin: when the motion begins [s].
        :param duration: after which it rests [s].
        """
        def positions(times: np.ndarray) -> np.ndarray:
            since = np.clip(times - begin, 0.0, duration)
            return self._start + 0.5 * self._sizes * (
                1.0 - np.cos(self._rate * since))[:, np.newaxis]

        return positions


class QuinticFrom:
    """
    The spline of a trajectory controller from where an arm is to a goal where it rests.

    It begins with a velocity and without an acceleration, as the measured state has none.

    :param positions: shape (joints,) [rad]; likewise all others.
    :param velocities: [rad/s].
    :param goal: [rad].
    :param duration: [s].
    """

    def __init__(
            self, positions: np.ndarray, velocities: np.ndarray, goal: np.ndarray,
            duration: float) -> None:
        self._goal, self._duration = goal, duration
        T = duration
        rest = goal - positions - velocities * T
        self._coefficients = np.array([
            positions, velocities, np.zeros_like(positions),
            (10.0 * rest + 4.0 * velocities * T) / T ** 3,
            (-15.0 * rest - 7.0 * velocities * T) / T ** 4,
            (6.0 * rest + 3.0 * velocities * T) / T ** 5])

    def from_other(self, positions: np.ndarray, velocities: np.ndarray) -> QuinticFrom:
        """Return the spline to the same goal from another state, as fast."""
        return QuinticFrom(positions, velocities, self._goal, self._duration)

    def at(self, time: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """
        Return positions and velocities at times since the start [s].

        :return: shape (joints,) each, or (times, joints) for times of shape (times,).
        """
        t = np.clip(np.asarray(time), 0.0, self._duration)[..., np.newaxis]
        powers = t ** np.arange(6)
        slopes = np.arange(6) * t ** np.maximum(np.arange(6) - 1, 0)
        return powers @ self._coefficients, slopes @ self._coefficients
