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
_DERIVATIVES = np.array([[1], [0]])  # of positions and velocities that make velocities


class Spectra(NamedTuple):
    """
    What the spectra of positions, and of velocities if there are any, say of a motion.

    :ivar frequencies: shape (n,) [Hz].
    :ivar power: of the velocities at these, as far as it stands out from the noise, shape
        (n, 1 or 2, joints) [(rad/s)^2 or (m/s)^2].
    :ivar noise: power spectral density of the noise, at the upper end of the band, shape
        (1 or 2, joints) [unit^2/Hz].
    """

    frequencies: np.ndarray
    power: np.ndarray
    noise: np.ndarray

    @classmethod
    def of(cls, signals: np.ndarray, period: float) -> Spectra:
        """
        Return what the spectra of signals say.

        :param signals: shape (n, 1 or 2, joints), at one period [s].
        """
        frequencies, density = _density(signals, period)
        noise = np.median(density[3 * len(density) // 4:], axis=0)
        limit = _ABOVE_NOISE * noise * (2.0 * np.pi * frequencies[:, None, None])**(
            2 * _DERIVATIVES[:len(noise)])
        density[:, 0] = _density(np.gradient(signals[:, 0], period, axis=0), period)[1]
        return cls(frequencies, density * frequencies[1] * (density > limit), noise)

    def noise_of(self, order: int, cutoff: float) -> np.ndarray:
        """
        Return the standard deviation that the noise of each signal has in a low-passed derivative.

        :param order: 1 for the velocity, 2 for the acceleration.
        :return: shape (1 or 2, joints).
        """
        power = 2 * (_DERIVATIVES[:len(self.noise)] + order - 1) + 1
        return np.sqrt(self.noise * (2.0 * np.pi)**(power - 1) * cutoff**power / power)

    def band(self, period: float) -> tuple[float, float, float]:
        """
        Return the band of the motion of all joints, each of which counts alike.

        Noise only ever widens a band.  Where positions and velocities were recorded, the narrower
        one of both is the motion's.  A joint that is ten times slower than another does not count.

        :return: the bandwidth of the motion, 0 where nothing stands out from the noise [Hz]; the
            cut-off of the low-pass [Hz]; and the share of noise in the power of the accelerations
            of the joint with most.
        """
        widths = _bandwidth(self.frequencies, self.power)
        own = np.argmin(np.where(widths > 0.0, widths, np.inf), axis=0)
        power = self.power[:, own, np.arange(len(own))]
        speeds = np.sqrt(power.sum(axis=0))
        moving = (speeds > AT_REST) & (speeds > 0.1 * speeds.max())
        motion = float(_bandwidth(
            self.frequencies, (power[:, moving] / speeds[moving]**2).sum(axis=1)))
        rates = 2.0 * np.pi * self.frequencies * (self.frequencies <= motion)
        accelerations = np.maximum(rates**2 @ power[:, moving], 1e-300)

        def noise(cutoff: float) -> float:
            least = self.noise_of(2, cutoff).min(axis=0)[moving]
            return float(np.max(least**2 / accelerations, initial=0.0))

        highest, least = _HIGHEST / period, max(_KEPT * motion, _SLOWEST)
        cutoff = min(max(HEADROOM * motion, _LOWEST), highest)
        while cutoff > least and noise(cutoff) > MAX_NOISE:
            cutoff *= 0.95
        return motion, cutoff, noise(cutoff)


def _bandwidth(frequencies: np.ndarray, power: np.ndarray) -> np.ndarray:
    """
    Return below which frequency nearly all power is, 0 where there is none [Hz].

    That of velocities is meant.  Most of the power of accelerations may be vibration that no rigid
    body has.

    :param power: shape (n, ...), of which the result has the last axes.
    """
    total = np.cumsum(power, axis=0)
    return frequencies[(total < _SHARE * total[-1]).sum(axis=0)]


def _density(signals: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [Hz] and the power spectral densities, of segments."""
    length = max(len(signals) // _SEGMENTS, min(len(signals), int(_LONG / period)))
    # This window's side lobes are so low that they are not taken for fast motion.
    return welch(signals, 1.0 / period, window='blackmanharris', nperseg=length,
                 detrend='constant', axis=0)


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
