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
"""What the driver of an arm reports of it, and when."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from math import exp, pi
from typing import NamedTuple

from closed_loop.plant import Plant
import numpy as np
from ros2_rnea.control.inputs.joint_states import MeasuredJoints


class Velocities(Enum):
    """Where the reported velocities come from."""

    MEASURED = 'true velocities with noise'
    DIFFERENCES = 'differences of the measured positions, through a filter of first order'
    NONE = 'none are reported'


class Dropouts(NamedTuple):
    """
    Gaps in which no state is received.

    :ivar per_second: how many begin on average [1/s].
    :ivar shortest: duration [s].
    :ivar longest: likewise.
    """

    per_second: float
    shortest: float
    longest: float


@dataclass(frozen=True)
class SensorQuality:
    """
    How well an arm is measured; by default perfectly.

    :ivar position_noise: standard deviation [rad].
    :ivar position_bits: of an encoder that divides a turn by 2 to this power; 0: no steps.
    :ivar velocities: where they come from.
    :ivar velocity_noise: standard deviation [rad/s].
    :ivar filter_time: time constant of the filter of differences [s].
    :ivar delay: from the measurement until it is received [s].
    :ivar dropouts: gaps; None: there are none.
    :ivar has_efforts: whether the efforts of the motors are reported.
    """

    position_noise: float = 0.0
    position_bits: int = 0
    velocities: Velocities = Velocities.MEASURED
    velocity_noise: float = 0.0
    filter_time: float = 0.01
    delay: float = 0.0
    dropouts: Dropouts | None = None
    has_efforts: bool = True


PERFECT = SensorQuality()
"""Exact, at once and always."""


class Sensors:
    """
    The sensors of a plant, with the driver that publishes what they measure.

    :param period: between two measurements [s].
    :ivar spike: added once to the next measured velocities, shape (joints,) [rad/s]; None: no.
    :ivar position_spike: likewise to the positions [rad].
    :ivar silent_until: nothing is received before this time [s].
    :ivar repeats: whether the driver repeats what it measured last, with new stamps.
    """

    def __init__(
            self, plant: Plant, quality: SensorQuality, period: float,
            random: np.random.Generator) -> None:
        self._plant, self._quality, self._period, self._random = plant, quality, period, random
        self._on_the_way: deque[MeasuredJoints] = deque()
        self._last: np.ndarray | None = None
        self._filtered = np.zeros(plant.arm.size)
        self.spike: np.ndarray | None = None
        self.position_spike: np.ndarray | None = None
        self.silent_until = -np.inf
        self.repeats = False
        self._newest: MeasuredJoints | None = None

    def measure(self, time: float, efforts: np.ndarray) -> None:
        """Measure the plant now, with the efforts that its motors exert."""
        if self.repeats and self._newest is not None:
            self._on_the_way.append(self._newest._replace(stamp=time))
            return
        quality = self._quality
        positions = self._measured_positions()
        velocities = self._measured_velocities(positions)
        if self.spike is not None:
            velocities, self.spike = velocities + self.spike, None
        self._newest = MeasuredJoints(
            self._plant.arm.joints, positions.tolist(),
            () if quality.velocities is Velocities.NONE else velocities.tolist(),
            efforts.tolist() if quality.has_efforts else None, time, source='driver')
        self._on_the_way.append(self._newest)

    def received(self, time: float) -> MeasuredJoints | None:
        """Return the measurement that is received now; None: there is none."""
        dropouts = self._quality.dropouts
        if dropouts is not None and time > self.silent_until and (
                self._random.random() < dropouts.per_second * self._period):
            self.silent_until = time + self._random.uniform(dropouts.shortest, dropouts.longest)
        newest = None
        while self._on_the_way and self._on_the_way[0].stamp <= time - self._quality.delay + 1e-9:
            newest = self._on_the_way.popleft()
        return None if time <= self.silent_until else newest

    def _measured_positions(self) -> np.ndarray:
        positions = self._plant.positions
        if self._quality.position_noise:
            positions += self._random.normal(0.0, self._quality.position_noise, len(positions))
        if self.position_spike is not None:
            positions, self.position_spike = positions + self.position_spike, None
        if self._quality.position_bits:
            tick = 2.0 * pi / 2 ** self._quality.position_bits
            positions = np.round(positions / tick) * tick
        return positions

    def _measured_velocities(self, positions: np.ndarray) -> np.ndarray:
        quality = self._quality
        if quality.velocities is Velocities.DIFFERENCES:
            last = positions if self._last is None else self._last
            weight = 1.0 - exp(-self._period / quality.filter_time)
            self._filtered += weight * ((positions - last) / self._period - self._filtered)
            self._last = positions
            velocities = self._filtered.copy()
        else:
            velocities = self._plant.velocities
        if quality.velocity_noise:
            velocities += self._random.normal(0.0, quality.velocity_noise, len(velocities))
        return velocities
