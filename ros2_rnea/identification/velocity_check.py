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
"""Whether recorded velocities are the derivatives of recorded positions, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
from ros2_rnea.identification.smoothing import AT_REST

TOLERANCE = 0.05
"""By how much, as a share, the ratio of velocity and derivative may differ from what it should."""

ALIKE = 0.9
"""Velocities and derivatives that correlate less are those of different motions."""

KNOWN_RATIOS = {
    180.0 / pi: 'are the velocities in degrees per second?',
    pi / 180.0: 'are the positions in degrees?',
    30.0 / pi: 'are the velocities in revolutions per minute?',
    1.0 / (2.0 * pi): 'are the velocities in revolutions per second?',
    1e3: 'are the velocities in mm/s?',
    1e-3: 'are the positions in mm, or the times in ms?',
}


def disagreements(
        joints: Sequence[str], velocities: np.ndarray, derivatives: np.ndarray) -> dict[str, str]:
    """
    Return a sentence for each joint whose velocities are not the derivatives of its positions.

    :param velocities: shape (n, joints), as recorded [rad/s or m/s].
    :param derivatives: shape (n, joints), of the positions.
    """
    found = {}
    for column, joint in enumerate(joints):
        sentence = _disagreement(velocities[:, column], derivatives[:, column])
        if sentence:
            found[joint] = f'velocities of joint {joint!r} {sentence}'
    return found


def _disagreement(velocity: np.ndarray, derivative: np.ndarray) -> str:
    power, expected = float(velocity @ velocity), float(derivative @ derivative)
    if expected <= AT_REST**2 * len(derivative):
        return ''
    if power == 0.0:
        return 'are 0 throughout, although its positions change: were they measured?'
    product = float(velocity @ derivative)
    correlation = product / (power * expected)**0.5
    if abs(correlation) < ALIKE:
        return (f'are not the derivative of its positions (their correlation is '
                f'{correlation:.2f}): are they those of another joint, or late?')
    ratio = product / expected
    if abs(ratio - 1.0) <= TOLERANCE:
        return ''
    if abs(ratio + 1.0) <= TOLERANCE:
        return 'are the derivative of its positions with the sign turned'
    causes = [cause for known, cause in KNOWN_RATIOS.items()
              if abs(abs(ratio) / known - 1.0) <= TOLERANCE]
    cause = f': {causes[0]}' if causes else ''
    return f'are {ratio:.4g} times the derivative of its positions{cause}'
