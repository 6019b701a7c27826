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
from dataclasses import dataclass
from math import degrees, hypot, inf, isfinite, nan, pi

import numpy as np

from ros2_rnea.control.signals import FilterMemory, LowPass
from ros2_rnea.dynamics.jacobian import free_fall_felt
from ros2_rnea.errors import MessageError
from ros2_rnea.spatial import angle_between, Matrix, Vector

SMALLEST = 1.5
"""Smaller readings are refused [m/s^2]; gravity on the Moon is 1.62."""

LARGEST = 40.0
"""Larger readings are shocks and refused [m/s^2]; gravity on the Earth is 9.81."""

LONGEST_GAP = 0.1
"""Longest time that one reading represents [s]: a single one has little weight."""

LARGEST_NORM_ERROR = 0.05
"""A reading whose norm differs by more than this share from that of gravity is no tilt alone.

A cheap accelerometer has a scale error of 3 %, noise and an offset.  With this share, an
acceleration upwards or downwards of 0.5 m/s^2 is recognized, a horizontal one of 3.1 m/s^2; of
smaller ones the low-pass filter leaves little."""

SMALLEST_SHARE = 1e-3
"""A sum of directions that is shorter than this has no direction."""


@dataclass
class GravityMemory:
    """
    What is known of gravity from the accelerometer.

    :ivar filtered: the acceleration of free fall, shape (3,) [m/s^2], None before the first
        reading; and when the newest reading was received [s], whether it was taken or not.
    :ivar taken_at: when the newest reading was received that was taken as gravity [s]; −inf: none.
    :ivar gap: the time from the one before to that one [s].
    :ivar norm: of the newest reading [m/s^2]; NaN before the first.
    """

    filtered: FilterMemory | None = None
    taken_at: float = -inf
    gap: float = 0.0
    norm: float = nan


class MeasuredGravity:
    """
    The low-pass filtered direction of gravity in the root link's axes.

    The size of gravity is known, it is that of the initial value.  Only the direction is measured:
    the mount may tilt.  An accelerometer also measures the acceleration of its link, and cannot
    tell it from a tilt.  A reading whose norm is not that of gravity therefore changes nothing;
    of what remains, the low-pass filter suppresses what is short.
    Where the initial value is zero, neither size nor direction is known, and each reading counts
    in full.

    A reading near zero is refused.  It could mean free fall, but also a broken accelerometer or
    a driver that subtracts gravity, and dropping an arm is the worse mistake.  For a robot in
    weightlessness, set the parameter ``gravity`` to zero instead.

    A direction far from the initial one is refused, too, because it is that of a sensor whose
    axes differ from those of its link: the arm would be pulled down instead of held up.

    The last value remains in use while readings are refused or missing, however long; then it is
    :meth:`lost <is_lost>`.  A reading takes effect gradually, also the first one and the first
    after a gap, because it may be a shock.

    :param time_constant: of the low-pass filter [s].
    :param initial: the value before the first reading, shape (3,) [m/s^2].
    :param tolerance: largest angle between a reading and that value [rad]; it is not checked where
        the value is zero.
    :param memory: what is known from the accelerometer, in the axes of the same root link; None:
        nothing.
    """

    def __init__(
            self, time_constant: float, initial: Sequence[float], tolerance: float = pi,
            memory: GravityMemory | None = None) -> None:
        self._initial, self._tolerance = Vector(*initial), tolerance
        self._norm = hypot(*initial)
        self.memory = memory or GravityMemory()
        first = np.array(initial, dtype=float)
        self._low_pass = LowPass(time_constant, first, LONGEST_GAP, self.memory.filtered)
        if self.memory.filtered is not None:  # the size of gravity may be another one now
            self.memory.filtered.value = self._with_known_norm(self._low_pass.value, first)

    @property
    def vector(self) -> np.ndarray:
        """Return the acceleration of free fall, shape (3,) [m/s^2]; the array never changes."""
        return self._low_pass.value

    @property
    def received(self) -> float:
        """Return when the newest reading was received [s], which need not be gravity alone."""
        return self._low_pass.received

    @property
    def is_accelerated(self) -> bool:
        """Return whether the newest reading is not that of gravity alone, by its norm."""
        return bool(self._norm) and (
            abs(self.memory.norm - self._norm) > LARGEST_NORM_ERROR * self._norm)

    def is_lost(self, now: float, imu_timeout: float) -> bool:
        """
        Return whether no reading was taken as gravity for longer than a timeout.

        That is so before the first one, where readings have stopped, and where all of them are
        accelerated.  It ends with two readings within the timeout: readings that are a little too
        rare do not end and begin motions.

        :param now: on the steady clock [s].
        :param imu_timeout: [s].
        """
        return not 0.0 <= now - self.memory.taken_at <= imu_timeout or (
            self.memory.gap > imu_timeout)

    def explain_loss(self, now: float, imu_timeout: float) -> str:
        """Return why gravity is lost, for people; empty where it is not."""
        if not self.is_lost(now, imu_timeout):
            return ''
        if self.received == -inf:
            return 'the imu has sent no reading yet'
        if 0.0 <= now - self.received <= imu_timeout and self.is_accelerated:
            return (
                f'the imu reads {self.memory.norm:.3g} m/s^2, and gravity has {self._norm:.3g} '
                'm/s^2: the robot is accelerated, or the imu or the parameter gravity is wrong by '
                f'more than {100.0 * LARGEST_NORM_ERROR:g} %')
        silence = max(now - self.received, self.memory.gap)
        return (
            f'the imu has sent no reading for {silence:.2g} s, and imu_timeout is '
            f'{imu_timeout:g} s')

    def update(
            self, acceleration: Sequence[float], rotation: np.ndarray, now: float,
            frame: str = '') -> None:
        """
        Accept a reading.

        One that is accelerated changes no direction, but shows that the accelerometer works.

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
        memory, before = self.memory, self._low_pass.value
        is_gravity = not self._norm or abs(size - self._norm) <= LARGEST_NORM_ERROR * self._norm
        if is_gravity:
            self._check_direction(Vector(*free_fall.tolist()), frame)
            memory.gap = now - memory.taken_at if memory.taken_at > -inf else 0.0
            memory.taken_at = now
            after = self._low_pass.update(self._with_known_norm(free_fall, before), now)
            self._low_pass.memory.value = self._with_known_norm(after, before)
        else:
            self._low_pass.memory.received = now
        memory.norm, memory.filtered = size, self._low_pass.memory

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

    def _with_known_norm(self, vector: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Return a vector with the norm of gravity; another one where it has no direction."""
        if not self._norm:
            return vector
        size = hypot(*vector.tolist())
        return (self._norm / size) * vector if size > SMALLEST_SHARE * self._norm else otherwise
