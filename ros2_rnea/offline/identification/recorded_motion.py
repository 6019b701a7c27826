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
Velocities and accelerations of recorded joints, and when their friction has a direction.

Recorded velocities are used where they are the derivatives of the positions and have less noise.
"""

from __future__ import annotations

from math import ceil, inf, isfinite, pi

import numpy as np
from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.recording import Step
from ros2_rnea.offline.identification.smoothing import AT_REST, derivative, Spectra
from ros2_rnea.offline.identification.time_base import Signals
from scipy.ndimage import minimum_filter1d

SLOW_SPEED = 0.05
"""From this speed on a joint is taken to move, if it is ever much faster [rad/s or m/s]."""

SLOW_SHARE = 0.05
"""Share of a joint's own high speed (99 % of its samples are slower) from which it moves."""

MIN_SPEED = 0.002
"""Below, nothing moves: a controller that holds a joint makes it creep [rad/s or m/s]."""

FEW_SIGMA = 4.0
"""A velocity that is so many standard deviations of its noise has a sign that is known."""

TOO_NOISY = 0.1
"""Share of noise in the power of accelerations from which on the user is warned."""

TOLERANCE = 0.05
"""Share by which the ratio of velocity and derivative may differ from what it should be."""

ALIKE = 0.9
"""Velocities and derivatives that correlate less are those of different motions."""

KNOWN_RATIOS = {
    180.0 / pi: 'are the velocities in degrees per second, or were positions in rad taken for '
                'degrees?',
    pi / 180.0: 'are the positions in degrees, or were velocities in rad/s taken for degrees per '
                'second?',
    30.0 / pi: 'are the velocities in revolutions per minute?',
    1.0 / (2.0 * pi): 'are the velocities in revolutions per second?',
    1e3: 'are the velocities in mm/s?',
    1e-3: 'are the positions in mm, or the times in ms?',
}


def cutoff_of(
        raw: Signals, found: Spectra, given: float | None, steps: list[Step]) -> float:
    """
    Return the cut-off of the low-pass [Hz].

    :param given: used if there is one.
    :raises RecordingError: where the given one is too high.
    """
    motion, cutoff, noise = found.band(raw.period)
    highest = 0.5 / raw.period
    if given is not None and highest <= given < inf:
        raise RecordingError(
            f'the cut-off is {given:g} Hz; for recording {raw.name!r}, which has '
            f'{1.0 / raw.period:.4g} samples a second, it needs less than {highest:.4g} Hz, or '
            'infinity for no low-pass')
    chosen = cutoff if given is None else given
    text = (f'Motion and efforts, forward and backward, at {chosen:.3g} Hz'
            if isfinite(chosen) else 'None')
    text += (f'; the motion has nearly all its speed below {motion:.2g} Hz.'
             if motion else '; no motion stands out from the noise.')
    is_noisy = given is None and noise > TOO_NOISY
    if is_noisy:
        text += (f'  {noise:.0%} of the power of an acceleration is noise, which makes '
                 'inertias too small: record a faster motion.')
    steps.append(Step('low-pass', text, is_noisy))
    return chosen


def rates_of(
        smooth: Signals, found: Spectra, ignores_velocities: bool, cutoff: float,
        steps: list[Step]) -> tuple[np.ndarray, np.ndarray]:
    """
    Return velocities and accelerations, shape (n, joints).

    :param smooth: through the low-pass.
    :param ignores_velocities: whether the derivatives of positions are used in any case.
    :raises RecordingError: where velocities have another unit than positions.
    """
    qd, qdd = (smooth.by_piece(derivative, smooth.values[:, 0], order) for order in (1, 2))
    if smooth.values.shape[1] < 3:
        steps.append(Step('velocities', 'They are the derivatives of positions, since not those '
                          'of all joints were recorded.'))
        return qd, qdd
    velocities = smooth.values[:, 2]
    noise = found.noise_of(2, min(cutoff, 0.5 / smooth.period))
    uses = (noise[1] < noise[0]) & (not ignores_velocities)
    for k, name in enumerate(smooth.joints):
        why, is_unit = _disagreement(velocities[:, k], qd[:, k])
        if is_unit and not ignores_velocities:
            raise RecordingError(
                f'recording {smooth.name!r}: velocities of joint {name!r} {why} Give the right '
                'units (--csv-units), or correct them where they are recorded. Where the '
                'positions are known to be right, --ignore-velocities differentiates them')
        if why:
            uses[k] = False
            steps.append(Step('velocities', f'Velocities of joint {name!r} {why} The derivatives '
                              'are used instead.', is_warning=True))
    steps.append(Step('velocities', ' '.join(
        f'{what} of {", ".join(np.compress(which, smooth.joints))}.'
        for what, which in (('Recorded velocities are used', uses),
                            ('Derivatives of positions are used', ~uses)) if which.any())))
    qd[:, uses] = velocities[:, uses]
    qdd[:, uses] = smooth.by_piece(derivative, velocities)[:, uses]
    return qd, qdd


def _disagreement(velocity: np.ndarray, derivatives: np.ndarray) -> tuple[str, bool]:
    """
    Return why velocities are not the derivatives of positions, and whether a unit is wrong.

    :return: words that follow those of what; empty where they are.
    """
    power, expected = float(velocity @ velocity), float(derivatives @ derivatives)
    if expected <= AT_REST**2 * len(derivatives):
        return '', False
    if power == 0.0:
        return 'are 0 throughout, although its positions change: were they measured?', False
    product = float(velocity @ derivatives)
    correlation, ratio = product / (power * expected)**0.5, product / expected
    if abs(correlation) < ALIKE:
        return (f'are not the derivative of its positions (their correlation is '
                f'{correlation:.2f}): are they those of another joint, or late?'), False
    if abs(ratio - 1.0) <= TOLERANCE:
        return '', False
    if abs(ratio + 1.0) <= TOLERANCE:
        return 'are the derivative of its positions with the sign turned.', False
    cause = next((f': {cause}' for known, cause in KNOWN_RATIOS.items()
                  if abs(abs(ratio) / known - 1.0) <= TOLERANCE), '')
    return f'are {ratio:.4g} times the derivative of its positions{cause or "."}', bool(cause)


def moves_of(
        smooth: Signals, qd: np.ndarray, found: Spectra, cutoff: float,
        steps: list[Step]) -> np.ndarray:
    """
    Return whether each joint moves fast enough, and long enough for the filter, shape (n, joints).

    Near to where its direction turns, a joint may stick, which the filter hides.  A joint that
    turns back between two samples was slow in none of them.
    """
    noise = found.noise_of(1, min(cutoff, 0.5 / smooth.period))[0]
    limits = np.maximum(
        np.clip(SLOW_SHARE * np.percentile(np.abs(qd), 99.0, axis=0), MIN_SPEED, SLOW_SPEED),
        FEW_SIGMA * noise)
    moves = np.abs(qd) > limits
    reach = 2 * int(ceil(0.5 / (cutoff * smooth.period))) + 1 if isfinite(cutoff) else 1
    for piece in smooth.pieces:
        turns = qd[piece][1:] * qd[piece][:-1] < 0.0
        moves[piece][1:] &= ~turns
        moves[piece][:-1] &= ~turns
        moves[piece] = minimum_filter1d(moves[piece].astype(np.uint8), reach, axis=0)
    each = ', '.join(
        f'{name} {share:.0%} (faster than {limit:.2g})'
        for name, share, limit in zip(smooth.joints, moves.mean(axis=0), limits))
    steps.append(Step(
        'standstill', 'Kept for gravity, cut for the direction of friction.  Share of the samples '
        f'in which a joint moves: {each}.'))
    return moves
