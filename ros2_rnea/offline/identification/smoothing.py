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

Positions and velocities are filtered, because derivatives amplify their noise.  The cut-off is
above the band of the motion, so the filter leaves the motion as it is.

Efforts are not filtered.  Coulomb friction has a step wherever a joint turns back.  A filter of
efforts distributes the step over its own length, and the columns of a regression, which are
computed from velocities, do not have that.  In a fast motion, friction would be 10 % wrong, and no
standard error would show it.  Textbooks filter both sides of the equation instead (Khalil and
Dombre, Modeling, Identification and Control of Robots, 2002, section 12.6): that takes the noise
out of the pictures, but tells a fit nothing more, since it averages the noise anyway.  Only where
fewer samples are kept than were recorded, an effort is averaged over its neighbours that are not.
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

_ABOVE_NOISE = 10.0  # a power spectral density that is so many times the noise's is a motion's
_SHARE = 0.999  # of the power of a velocity is below the bandwidth of the motion
_HEADROOM = 4.0  # at a quarter of the cut-off, the filter takes 1.5e-5 of an amplitude
_LOWEST, _HIGHEST = 5.0, 0.4  # [Hz], and of the sampling rate
_SEGMENTS = 8  # into which a signal is divided; fewer, if they would be shorter than
_SHORTEST = 3.0  # [s], but no fewer than
_FEWEST = 3


class Spectrum(NamedTuple):
    """
    What the spectrum of a signal says.

    :ivar bandwidth: below which the motion's velocity has nearly all its power [Hz]; 0 where
        nothing stands out from the noise.  It is not that of the acceleration, most of whose power
        may be vibration that no rigid body has.
    :ivar noise: power spectral density of the noise, at the upper end of the band [unit^2/Hz].
    """

    bandwidth: float
    noise: float


def spectrum(signal: np.ndarray, period: float, derivatives: int) -> Spectrum:
    """
    Return bandwidth and noise of a signal.

    :param signal: shape (n,), at one period [s].
    :param derivatives: how many times it is differentiated to make a velocity.
    """
    length = max(len(signal) // _SEGMENTS, min(len(signal) // _FEWEST, int(_SHORTEST / period)))
    length = min(len(signal), max(64, length))
    # This window's side lobes are so low that they are not taken for fast motion.
    frequencies, density = welch(
        signal, 1.0 / period, window='blackmanharris', nperseg=length, detrend='linear')
    noise = float(np.median(density[3 * len(density) // 4:]))
    motion = np.where(density > _ABOVE_NOISE * noise, density, 0.0)
    power = np.cumsum(motion * (2.0 * np.pi * frequencies)**(2 * derivatives))
    if not power[-1] * frequencies[1] > AT_REST**2:
        return Spectrum(0.0, noise)
    return Spectrum(float(frequencies[np.searchsorted(power, _SHARE * power[-1])]), noise)


def proposed_cutoff(bandwidth: float, period: float) -> float:
    """Return a cut-off that leaves a motion of that bandwidth as it is [Hz]."""
    return min(max(_HEADROOM * bandwidth, _LOWEST), _HIGHEST / period)


def velocity_noise(noise: float, cutoff: float) -> float:
    """
    Return the standard deviation of the derivative of a low-passed noise.

    :param noise: power spectral density of the signal, one-sided [unit^2/Hz].
    :param cutoff: of the low-pass [Hz].
    """
    return float(np.sqrt(noise * (2.0 * np.pi)**2 * cutoff**3 / 3.0))


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


def averaged(signal: np.ndarray, reach: int) -> np.ndarray:
    """
    Return a signal averaged over neighbours: the values of the parabolas through them.

    A mean would flatten the motion.  This leaves 99.8 % of a motion with a period that is four
    times as long as all neighbours together.  Of white noise it leaves about what a mean of
    ``reach`` samples leaves.

    :param signal: shape (n, k); a column that is not a number anywhere stays as it is.
    :param reach: how many neighbours on each side.
    """
    reach = min(reach, (len(signal) - 1) // 2)
    if reach < 2:
        return signal
    result, known = signal.copy(), np.isfinite(signal).all(axis=0)
    if known.any():
        result[:, known] = savgol_filter(signal[:, known], 2 * reach + 1, 2, axis=0)
    return result


def derivative(signal: np.ndarray, period: float, order: int = 1) -> np.ndarray:
    """Return the first or second derivative of rows at one period [s]; no fewer than STENCIL."""
    return savgol_filter(
        signal, STENCIL, STENCIL - 1, deriv=order, delta=period, axis=0, mode='interp')
