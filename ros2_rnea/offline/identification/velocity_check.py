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
from typing import NamedTuple

import numpy as np
from ros2_rnea.offline.identification.smoothing import AT_REST

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


class Disagreement(NamedTuple):
    """
    Why the velocities of a joint are not the derivatives of its positions.

    :ivar sentence: without a capital, to follow other words.
    :ivar is_unit: whether either has another unit than it is taken for; which, is not known.
    """

    sentence: str
    is_unit: bool = False


def disagreements(
        joints: Sequence[str], velocities: np.ndarray, derivatives: np.ndarray,
        ) -> dict[str, Disagreement]:
    """
    Return the joints whose velocities are not the derivatives of their positions, and why.

    :param velocities: shape (n, joints), as recorded [rad/s or m/s].
    :param derivatives: shape (n, joints), of the positions.
    """
    found = {}
    for column, joint in enumerate(joints):
        why = _disagreement(velocities[:, column], derivatives[:, column])
        if why:
            found[joint] = why._replace(sentence=f'velocities of joint {joint!r} {why.sentence}')
    return found


def _disagreement(velocity: np.ndarray, derivative: np.ndarray) -> Disagreement | None:
    power, expected = float(velocity @ velocity), float(derivative @ derivative)
    if expected <= AT_REST**2 * len(derivative):
        return None
    if power == 0.0:
        return Disagreement(
            'are 0 throughout, although its positions change: were they measured?')
    product = float(velocity @ derivative)
    correlation = product / (power * expected)**0.5
    if abs(correlation) < ALIKE:
        return Disagreement(
            f'are not the derivative of its positions (their correlation is {correlation:.2f}): '
            'are they those of another joint, or late?')
    ratio = product / expected
    if abs(ratio - 1.0) <= TOLERANCE:
        return None
    if abs(ratio + 1.0) <= TOLERANCE:
        return Disagreement('are the derivative of its positions with the sign turned')
    causes = [cause for known, cause in KNOWN_RATIOS.items()
              if abs(abs(ratio) / known - 1.0) <= TOLERANCE]
    cause = f': {causes[0]}' if causes else ''
    return Disagreement(
        f'are {ratio:.4g} times the derivative of its positions{cause}', is_unit=bool(causes))
