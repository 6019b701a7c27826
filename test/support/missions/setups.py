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
"""What is drawn once for an episode: the arm, its model, its sensors and the use of the node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from closed_loop.arms import Arm, heavy, light, seven_joints
from closed_loop.drives import PositionDrives
from closed_loop.loop import ClosedLoop, COMPUTED_TORQUE, GUIDED
from closed_loop.plant import Plant
from closed_loop.sensors import Dropouts, SensorQuality, Velocities
import numpy as np
from ros2_rnea.control.settings import Mode
from ros2_rnea.control.target.controller_rules import ControllerRules

LARGEST_ERROR = 0.3
"""Of masses and friction in the model, relative to the true ones."""

DAMPING_TIME = 0.1
"""Time constant of the damping with which arms are guided [s]; it is that of braking, too."""

ARMS: Mapping[str, Callable[[], Arm]] = {
    'seven joints': seven_joints, 'SO-101': light, 'UR10': heavy}
"""By name."""


class Use(Enum):
    """What the node is used for."""

    COMPUTED_TORQUE = 'computed torque, alone'
    FEEDFORWARD = 'feedforward, beside a position loop'
    GUIDED = 'gravity compensation, guided by hand'


@dataclass(frozen=True)
class Setup:
    """
    An arm in its world.

    :ivar mass_factor: true masses and inertias, relative to those of the model.
    :ivar friction_factor: the same of the friction.
    :ivar breakaway: see :class:`.Plant`.
    :ivar rate: of sensors and drives [Hz].
    :ivar bus_delay: of commands [s].
    :ivar has_imu: whether gravity is measured.
    :ivar settings: those that are drawn.
    """

    use: Use
    arm: str
    mass_factor: float
    friction_factor: float
    breakaway: float
    rate: int
    bus_delay: float
    sensors: SensorQuality
    has_imu: bool
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        return (f'{self.arm}, {self.use.value}, {self.rate} Hz; true masses '
                f'{self.mass_factor:.2f} and friction {self.friction_factor:.2f} of the model')

    def plant(self) -> Plant:
        """Return the true arm, at rest."""
        return Plant(
            ARMS[self.arm](), mass_factor=self.mass_factor, viscous=self.friction_factor,
            coulomb=self.friction_factor, breakaway=self.breakaway, armature=1.0, has_stops=True,
            step=min(1e-3, 1.0 / self.rate))

    def loop(self, seed: int) -> ClosedLoop:
        """Return the closed loop of the episode."""
        plant = self.plant()
        drives = None
        settings = dict(self.settings)
        if self.use is Use.FEEDFORWARD:
            start = plant.positions
            drives = PositionDrives(
                plant, lambda time: (start, np.zeros_like(start)), self.bus_delay)
            settings['held_by_others'] = frozenset(plant.arm.joints)
        damping = np.diagonal(plant.mass_matrix()) / DAMPING_TIME
        settings['guiding_damping'] = dict(zip(plant.arm.joints, damping.round(3).tolist()))
        return ClosedLoop(
            plant, rate=float(self.rate), bus_delay=self.bus_delay, sensors=self.sensors,
            drives=drives, model=plant.arm.model(coulomb=1.0, armature=1.0), seed=seed,
            gravity_from_imu=self.has_imu, **settings)


USED_AS: Mapping[Use, Mapping[str, Any]] = {
    Use.COMPUTED_TORQUE: {**COMPUTED_TORQUE, 'rules': ControllerRules(
        allow_nonzero_velocity_at_trajectory_end=True)},
    Use.FEEDFORWARD: {'mode': Mode.FEEDFORWARD},
    Use.GUIDED: GUIDED,
}
"""The settings of each use."""

SHARES = {Use.COMPUTED_TORQUE: 0.5, Use.FEEDFORWARD: 0.25, Use.GUIDED: 0.25}
"""Of the episodes."""


def drawn_setup(random: np.random.Generator, arms: tuple[str, ...] = tuple(ARMS)) -> Setup:
    """Draw a setup."""
    use = list(SHARES)[int(random.choice(len(SHARES), p=list(SHARES.values())))]
    rate = int(random.choice([1000, 500, 250]))
    # Half of the models are good ones: most faults do not need an error to be seen.
    error = LARGEST_ERROR * float(random.random() < 0.5)
    sensors = drawn_sensors(random, 1.0 / rate)
    settings = dict(USED_AS[use])
    settings['feedback_delay'] = 0.004
    if sensors.velocities is Velocities.DIFFERENCES:
        settings['velocity_filter_time'] = sensors.filter_time
    return Setup(
        use, arms[int(random.integers(len(arms)))],
        mass_factor=float(1.0 + random.uniform(-error, error)),
        friction_factor=float(1.0 + random.uniform(-error, error)),
        breakaway=float(random.choice([0.0, 0.3])),
        rate=rate, bus_delay=float(random.choice([0.0, 1.0 / rate])), sensors=sensors,
        has_imu=bool(random.random() < 0.2), settings=settings)


def drawn_sensors(random: np.random.Generator, period: float) -> SensorQuality:
    """Draw how well the arm is measured."""
    is_perfect = random.random() < 0.3
    if is_perfect:
        return SensorQuality()
    velocities = Velocities.DIFFERENCES if random.random() < 0.4 else Velocities.MEASURED
    return SensorQuality(
        position_bits=int(random.choice([0, 17, 20])),
        position_noise=float(random.choice([0.0, 1e-5])),
        velocities=velocities,
        velocity_noise=0.0 if velocities is Velocities.DIFFERENCES else 0.005,
        filter_time=float(random.choice([0.002, 0.005])),
        delay=float(random.choice([0.0, period])),
        dropouts=Dropouts(0.5, period, 0.03) if random.random() < 0.3 else None)
