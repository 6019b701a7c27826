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
Low-pass and derivatives, both without a delay.

Both sides of the equation go through the same filter: the motion, from which its columns are
computed, and the measured efforts (Khalil and Dombre, Modeling, Identification and Control of
Robots, 2002, section 12.6).  What the filter takes from the motion is then missing on both sides,
so a cut-off that is too low loses information and makes no number wrong.  One that is too high
does: noise of accelerations makes inertias too small.

The columns are computed from the filtered motion, which differs from filtered columns where a
column is not linear.  Only the sign of a velocity, which Coulomb friction has, is far from it: it
is filtered itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.signal import butter, savgol_filter, sosfiltfilt, welch

ORDER = 4
"""Order of the Butterworth filter, which is applied forward and backward."""

SETTLED = 3.0
"""Number of inverse cut-offs after which 0.1 % of the disturbance by a filter's start is left."""

STENCIL = 7
"""Derivatives are those of the polynomial through so many neighbours: an error of sixth order."""

AT_REST = 0.01
"""With a smaller RMS velocity, a joint is taken to rest [rad/s or m/s]."""

HEADROOM = 5.0
"""The cut-off as a multiple of the bandwidth: most products of the motion's sines are below."""

MAX_NOISE = 0.01
"""Share of the power of accelerations that may be noise: inertias become too small by it."""

_ABOVE_NOISE = 10.0  # a power spectral density that is so many times the noise's is a motion's
_SHARE = 0.99  # of the power of a velocity is below the bandwidth of the motion
_KEPT, _SLOWEST = 2.0, 1.0  # bandwidths, and [Hz], that noise never takes away
_LOWEST, _HIGHEST = 5.0, 0.4  # [Hz], and of the sampling rate
_SEGMENTS = 8  # into which a signal is divided; fewer, if they would be shorter than
_LONG = 20.0  # [s]


class Spectrum(NamedTuple):
    """
    What the spectrum of a signal says of the motion of a joint.

    :ivar frequencies: shape (n,) [Hz].
    :ivar power: of the velocity at these, as far as it stands out from the noise, shape (n,)
        [(rad/s)^2 or (m/s)^2].
    :ivar noise: power spectral density of the noise, at the upper end of the band [unit^2/Hz].
    :ivar derivatives: how many times the signal is differentiated to make a velocity.
    """

    frequencies: np.ndarray
    power: np.ndarray
    noise: float
    derivatives: int

    @property
    def speed(self) -> float:
        """Return the root of the mean square of the velocity; 0 at rest [rad/s or m/s]."""
        speed = float(np.sqrt(self.power.sum()))
        return speed if speed > AT_REST else 0.0

    def acceleration(self, highest: float) -> float:
        """Return that of the acceleration, up to a frequency [rad/s^2 or m/s^2]."""
        rates = 2.0 * np.pi * self.frequencies * (self.frequencies <= highest)
        return float(np.sqrt(np.sum(self.power * rates**2)))

    def noise_of(self, order: int, cutoff: float) -> float:
        """
        Return the standard deviation that the noise has in a low-passed derivative.

        :param order: 1 for the velocity, 2 for the acceleration.
        """
        power = 2 * (self.derivatives + order - 1) + 1
        return float(np.sqrt(self.noise * (2.0 * np.pi)**(power - 1) * cutoff**power / power))


def spectrum(signal: np.ndarray, period: float, derivatives: int) -> Spectrum:
    """
    Return what the spectrum of a signal says.

    :param signal: shape (n,), at one period [s].
    :param derivatives: how many times it is differentiated to make a velocity.
    """
    frequencies, density = _density(signal, period)
    noise = float(np.median(density[3 * len(density) // 4:]))
    rates = 2.0 * np.pi * frequencies
    of_velocity = density if not derivatives else _density(np.gradient(signal, period), period)[1]
    motion = of_velocity * frequencies[1] * (
        of_velocity > _ABOVE_NOISE * noise * rates**(2 * derivatives))
    return Spectrum(frequencies, motion, noise, derivatives)


def bandwidth(frequencies: np.ndarray, power: np.ndarray) -> float:
    """
    Return below which frequency nearly all power is, 0 where there is none [Hz].

    That of velocities is meant.  Most of the power of accelerations may be vibration that no rigid
    body has.
    """
    total = np.cumsum(power)
    return float(frequencies[np.searchsorted(total, _SHARE * total[-1])]) if total[-1] else 0.0


def _density(signal: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [Hz] and the power spectral density, of segments."""
    length = max(len(signal) // _SEGMENTS, min(len(signal), int(_LONG / period)))
    # This window's side lobes are so low that they are not taken for fast motion.
    return welch(
        signal, 1.0 / period, window='blackmanharris', nperseg=length, detrend='constant')


class Band(NamedTuple):
    """
    The band that is kept of a recording.

    :ivar bandwidth: of the motion [Hz]; 0 where nothing stands out from the noise.
    :ivar cutoff: of the low-pass [Hz].
    :ivar noise: share of noise in the power of the accelerations of the joint with most.
    """

    bandwidth: float
    cutoff: float
    noise: float


def band(signals: Sequence[Sequence[Spectrum]], period: float) -> Band:
    """
    Return the band of a motion of all joints, each of which counts alike.

    Noise only ever widens a band.  Where positions and velocities were recorded, the narrower one
    of both is the motion's.  A joint that is ten times slower than another does not count.

    :param signals: the spectra of each joint: of positions, and of velocities if there are any.
    """
    own = [min(found, key=lambda one: bandwidth(one.frequencies, one.power) or np.inf)
           for found in signals]
    fastest = max(one.speed for one in own)
    joints = [(one, found) for one, found in zip(own, signals) if one.speed > 0.1 * fastest]
    motion = bandwidth(own[0].frequencies, sum(
        (one.power / one.speed**2 for one, _ in joints), np.zeros(len(own[0].frequencies))))

    def noise(cutoff: float) -> float:
        return max((min(each.noise_of(2, cutoff) for each in found)**2
                    / max(one.acceleration(motion)**2, 1e-300) for one, found in joints),
                   default=0.0)

    highest, least = _HIGHEST / period, max(_KEPT * motion, _SLOWEST)
    cutoff = min(max(HEADROOM * motion, _LOWEST), highest)
    while cutoff > least and noise(cutoff) > MAX_NOISE:
        cutoff *= 0.95
    return Band(motion, cutoff, noise(cutoff))


def low_passed(signal: np.ndarray, period: float, cutoff: float) -> np.ndarray:
    """
    Return a signal without what is above the cut-off; its phase stays.

    :param signal: shape (n, k), at one period [s].
    :param cutoff: at which half of an amplitude is left [Hz]; infinite for the signal itself.
    """
    if not np.isfinite(cutoff):
        return signal
    sections = butter(ORDER, cutoff, fs=1.0 / period, output='sos')
    padding = min(len(signal) - 1, int(SETTLED / (cutoff * period)) + 1)
    return sosfiltfilt(sections, signal, axis=0, padlen=padding)


def derivative(signal: np.ndarray, period: float, order: int = 1) -> np.ndarray:
    """Return the first or second derivative of rows at one period [s]; no fewer than STENCIL."""
    return savgol_filter(
        signal, STENCIL, STENCIL - 1, deriv=order, delta=period, axis=0, mode='interp')
