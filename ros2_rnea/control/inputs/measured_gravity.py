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
"""Gravity from an accelerometer, for a robot on a mount that tilts or accelerates."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees, hypot, isfinite, pi

import numpy as np

from ros2_rnea.control.signals import LowPass
from ros2_rnea.dynamics.jacobian import free_fall_felt
from ros2_rnea.errors import MessageError
from ros2_rnea.spatial import angle_between, Matrix, Vector

SMALLEST = 1.5
"""Smaller readings are refused [m/s^2]; gravity on the Moon is 1.62."""

LARGEST = 40.0
"""Larger readings are shocks and refused [m/s^2]; gravity on the Earth is 9.81."""

LONGEST_GAP = 0.1
"""Longest time that one reading represents [s], so that a single one has little weight."""


class MeasuredGravity:
    """
    The low-pass filtered acceleration of free fall in the root link's axes.

    An acceleration of the mount acts on the robot like gravity and needs the same efforts; an
    accelerometer on the mount measures the sum of both.  An accelerometer on a moving link also
    measures the motion of that link, which the low-pass filter has to suppress.

    A reading near zero is refused.  It could mean free fall, but also a broken accelerometer or
    a driver that subtracts gravity, and dropping an arm is the worse mistake.  For a robot in
    weightlessness, set the parameter ``gravity`` to zero instead.

    A direction far from the initial one is refused, too, because it is that of a sensor whose
    axes differ from those of its link: the arm would be pulled down instead of held up.

    The last value remains in use while readings are refused or missing.  A reading takes effect
    gradually, also the first one and the first after a gap, because it may be a shock.

    :param time_constant: of the low-pass filter [s].
    :param initial: the value before the first reading, shape (3,) [m/s^2].
    :param tolerance: largest angle between a reading and that value [rad]; it is not checked where
        the value is zero.
    """

    def __init__(
            self, time_constant: float, initial: Sequence[float], tolerance: float = pi) -> None:
        self._initial, self._tolerance = Vector(*initial), tolerance
        self._low_pass = LowPass(time_constant, np.array(initial, dtype=float), LONGEST_GAP)

    @property
    def vector(self) -> np.ndarray:
        """Return the acceleration of free fall, shape (3,) [m/s^2]; the array never changes."""
        return self._low_pass.value

    @property
    def received(self) -> float:
        """Return when the newest accepted reading was received [s]."""
        return self._low_pass.received

    def update(
            self, acceleration: Sequence[float], rotation: np.ndarray, now: float,
            frame: str = '') -> None:
        """
        Accept a reading.

        :param acceleration: in the axes of a link [m/s^2]; at rest it points up.
        :param rotation: R with v_root = R v_link, shape (3, 3).
        :param now: on a steady clock [s].
        :param frame: the name of that link, for errors.
        :raises MessageError: where it is not three finite numbers, too small or too large to be
            gravity, or points elsewhere than the initial value.
        """
        reading = [float(number) for number in acceleration]
        size = hypot(*reading)
        if len(reading) != 3 or not SMALLEST <= size <= LARGEST:
            raise MessageError(
                f'the accelerometer reads {reading}, which is {size:.3g} m/s^2; it needs 3 '
                f'numbers with a norm of {SMALLEST:g} to {LARGEST:g} m/s^2, at rest 9.81 upwards: '
                'in m/s^2, not in g, and without subtraction of gravity')
        axes = Matrix(*(Vector(*row) for row in rotation.tolist()))
        free_fall = np.array([*free_fall_felt(axes, Vector(*reading))])
        if not isfinite(free_fall.sum()):
            raise MessageError(
                f'the axes of the accelerometer are {rotation.tolist()} in those of the root '
                'link; they need to be finite numbers')
        self._check_direction(Vector(*free_fall.tolist()), frame)
        self._low_pass.update(free_fall, now)

    def _check_direction(self, free_fall: Vector, frame: str) -> None:
        angle = angle_between(free_fall, self._initial)
        if angle > self._tolerance:
            measured, known = (
                [round(number, 2) + 0.0 for number in each] for each in (free_fall, self._initial))
            raise MessageError(
                f'the accelerometer on link {frame!r} measures the gravity {measured} in the axes '
                f'of the root link, and the parameter gravity is {known}: {degrees(angle):.0f} '
                f'degrees apart, while gravity_tolerance allows {degrees(self._tolerance):.0f}. '
                'Check how the link is mounted in the URDF, the sign of the reading (at rest it '
                'points up) and the parameter gravity; for a base that tilts farther, set a '
                'larger gravity_tolerance')

    def adopt(self, older: MeasuredGravity) -> None:
        """Continue from the filter state of an earlier object."""
        self._low_pass.adopt(older._low_pass)
