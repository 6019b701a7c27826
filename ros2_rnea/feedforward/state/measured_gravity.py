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
"""Gravity as an accelerometer measures it: which way is down for a robot on a moving mount."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, isfinite

import numpy as np

from ros2_rnea.dynamics.jacobian import free_fall_felt
from ros2_rnea.errors import MessageError
from ros2_rnea.feedforward.signals import LowPass
from ros2_rnea.spatial import Matrix, Vector

LEAST = 1.5
"""Weaker readings are none of gravity, that of the Moon (1.62) included [m/s^2]."""

MOST = 40.0
"""Stronger ones are of shocks, four times as strong as the Earth's gravity [m/s^2]."""

LONGEST_GAP = 0.1
"""Readings count for no longer than this [s], so that no single one counts for much."""


class MeasuredGravity:
    """
    The acceleration of free fall in the root link's axes, low-passed.

    A robot feels the acceleration of its mount as gravity and needs the same efforts against it;
    an accelerometer on the mount feels just that.  One on a moving link feels the link's own
    motion as well, which the low-pass has to take out.

    A reading near zero is refused.  A robot in free fall shows it, but so does an accelerometer
    that is broken or whose driver takes gravity out; and of the two mistakes the worse is to let
    go of an arm that has weight.  A robot without weight is told so by the parameter of gravity.

    What was known stays while readings are refused or do not come, and none counts at once, be it
    the first or the first after a gap: it may be of a shock.

    :param time_constant: of the low-pass [s].
    :param initial: what counts before the first reading, and is led away from.
    """

    def __init__(self, time_constant: float, initial: Sequence[float]) -> None:
        self._low_pass = LowPass(time_constant, np.array(initial, dtype=float), LONGEST_GAP)

    @property
    def vector(self) -> np.ndarray:
        """Return it, shape (3,) [m/s^2], in an array that stays as it is."""
        return self._low_pass.value

    @property
    def received(self) -> float:
        """Return when the newest reading came that was not refused [s]."""
        return self._low_pass.received

    def update(
            self, acceleration: Sequence[float], rotation: np.ndarray, now: float) -> None:
        """
        Take over a reading.

        :param acceleration: in the axes of a link [m/s^2]; at rest it points up.
        :param rotation: R with v_root = R v_link, shape (3, 3).
        :param now: on a steady clock [s].
        :raises MessageError: where it is not three finite numbers or cannot be gravity.
        """
        reading = [float(number) for number in acceleration]
        size = hypot(*reading)
        if len(reading) != 3 or not LEAST <= size <= MOST:
            raise MessageError(
                f'the accelerometer reads {reading}, which is {size:.3g} m/s^2; gravity is taken '
                f'from 3 numbers that make {LEAST:g} to {MOST:g} m/s^2, at rest 9.81 upwards: '
                'in m/s^2, not in g, and with gravity left in')
        axes = Matrix(*(Vector(*row) for row in rotation.tolist()))
        felt = np.array([*free_fall_felt(axes, Vector(*reading))])
        if not isfinite(felt.sum()):
            raise MessageError(
                f'the axes of the accelerometer are {rotation.tolist()} in those of the root '
                'link; they need to be finite numbers')
        self._low_pass.update(felt, now)

    def adopt(self, older: MeasuredGravity) -> None:
        """Go on from the gravity that an earlier object knows."""
        self._low_pass.adopt(older._low_pass)
