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
"""The motion that the demo lets the arm follow: several sines on every joint, eased in and out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

# One row for each joint, and again from the first for arms with more.  The frequencies are in no
# simple ratio: the joints meet in ever new poses, and every term of the dynamics is at work.
AMPLITUDES = ((0.45, 0.18, 0.07),
              (0.30, 0.16, 0.07),
              (0.38, 0.16, 0.06),
              (0.32, 0.14, 0.06),
              (0.36, 0.16, 0.06),
              (0.32, 0.15, 0.06),
              (0.36, 0.15, 0.06))
"""Amplitudes of the three sines of each joint [rad or m]."""

FREQUENCIES = ((0.23, 0.61, 1.07),
               (0.31, 0.67, 1.13),
               (0.29, 0.59, 1.19),
               (0.37, 0.71, 1.09),
               (0.41, 0.73, 1.27),
               (0.43, 0.79, 1.23),
               (0.47, 0.83, 1.31))
"""Frequencies of the three sines of each joint [Hz]."""

EASING = 1.5
"""Seconds from rest to full swing, and from full swing to rest."""


class Motion(NamedTuple):
    """Positions, velocities and accelerations of the joints [rad or m, and s]."""

    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    accelerations: NDArray[np.float64]


class TimedMotion(Protocol):
    """A motion that begins and ends at rest."""

    @property
    def duration(self) -> float:
        """Return for how long it lasts [s]."""

    def at(self, times: ArrayLike) -> Motion:
        """Return the motion at given times, shape (N,) [s], as arrays of shape (N, joints)."""


@dataclass(frozen=True)
class MultiSine:
    """
    A sum of sines on each joint under an envelope that rises from 0, stays at 1 and falls to 0.

    The envelope's flanks are quintic polynomials: position, velocity and acceleration are
    continuous, and the motion begins and ends at rest at the start pose.

    :param start: positions where the motion begins and ends, shape (n,) [rad or m].
    :param sizes: by which the amplitudes of each joint are multiplied, shape (n,).
    :param duration: of the whole motion, at least twice ``EASING`` [s].
    """

    start: NDArray[np.float64]
    sizes: NDArray[np.float64]
    duration: float

    def at(self, times: ArrayLike) -> Motion:
        """
        Return the motion at given times; before the start and after the end the arm rests.

        :param times: since the start of the motion, shape (N,) [s].
        :returns: arrays of shape (N, number of joints).
        """
        t = np.clip(np.asarray(times, dtype=float), 0.0, self.duration)
        e, ed, edd = (part[:, None] for part in self._envelope(t))
        s, sd, sdd = (self.sizes * part for part in _swing(t, len(self.sizes)))
        return Motion(self.start + e * s,
                      ed * s + e * sd,
                      edd * s + 2.0 * ed * sd + e * sdd)

    def _envelope(self, t: NDArray[np.float64]) -> Motion:
        """Return the envelope with its first and second derivative, shape (N,) each."""
        rising, falling = smooth_step(t / EASING), smooth_step((self.duration - t) / EASING)
        # Only one flank is underway at a time: derivatives of the other one are zero.
        return Motion(rising.positions * falling.positions,
                      (rising.velocities - falling.velocities) / EASING,
                      (rising.accelerations + falling.accelerations) / EASING**2)


def push_share(times: ArrayLike, duration: float) -> NDArray[np.float64]:
    """
    Return the share of the strongest push: eased in while the arm swings, held, and eased out.

    :param times: since the start of the motion, any shape [s].
    :param duration: of the motion [s].
    :returns: the shape of ``times``.
    """
    t = np.asarray(times, dtype=float)
    rising = smooth_step((t - 0.5 * EASING) / EASING)
    falling = smooth_step((duration - 0.5 * EASING - t) / EASING)
    return rising.positions * falling.positions


def _swing(t: NDArray[np.float64], joints: int) -> Motion:
    """Return the sums of sines without the envelope, shape (N, joints) each."""
    rows = np.arange(joints) % len(AMPLITUDES)
    a, w = np.array(AMPLITUDES)[rows], 2.0 * np.pi * np.array(FREQUENCIES)[rows]
    phase = w * t[:, None, None]
    return Motion((a * np.sin(phase)).sum(axis=2),
                  (a * w * np.cos(phase)).sum(axis=2),
                  (-a * w**2 * np.sin(phase)).sum(axis=2))


def smooth_step(x: NDArray[np.float64]) -> Motion:
    """
    Return the quintic from 0 at x <= 0 to 1 at x >= 1 with its first and second derivative by x.

    :param x: any shape.
    """
    x = np.clip(x, 0.0, 1.0)
    return Motion(x**3 * (10.0 - 15.0 * x + 6.0 * x**2),
                  30.0 * x**2 * (1.0 - x)**2,
                  60.0 * x * (1.0 - x) * (1.0 - 2.0 * x))
