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
"""Measure one robot against one engine, and say what cannot be measured and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from mujoco_oracle import MujocoOracle, Refused
import numpy as np
from pinocchio_oracle import PinocchioOracle
from proof.quantities import QUANTITIES, random_states, relative_errors
from ros2_rnea.errors import DescriptionError
from ros2_rnea.robots.robot import Robot

TOLERANCE = 1e-11
"""The largest relative error, of accelerations where rounding lets anyone be as good."""
BATCH = 100  # states at a time: more need memory, fewer time

PINOCCHIO, MUJOCO = 'Pinocchio', 'MuJoCo'
ROUNDINGS = {PINOCCHIO: 10.0, MUJOCO: 100.0}
"""
Accelerations may differ by so many times what one rounding of M and the efforts changes.

MuJoCo rounds more often: it keeps inertias by their principal axes.
"""


@dataclass(frozen=True)
class Measurement:
    """
    One robot, on a base that is fixed or floats, against one engine.

    :ivar errors: worst relative error of all states by a quantity's short name.
    :ivar rounding: what one rounding changes in accelerations; see :func:`rounding`.
    :ivar massless: joints that move nothing with inertia, for which accelerations are undefined.
    """

    robot: str
    floating_base: bool
    engine: str
    nv: int
    states: int
    errors: dict
    rounding: float
    massless: tuple = ()

    def too_large(self):
        """Return the names of the quantities that are not as close as they have to be."""
        return [name for name, error in self.errors.items() if not error <= self._limit(name)]

    def _limit(self, name):
        uncertain = ROUNDINGS[self.engine] * self.rounding if name == 'ABA' else 0.0
        return max(TOLERANCE, uncertain)


@dataclass(frozen=True)
class Skipped:
    """What was not measured, and why."""

    robot: str
    floating_base: bool
    engine: str
    reason: str


@dataclass
class Proof:
    """Everything that was measured and everything that was not."""

    measurements: list = field(default_factory=list)
    skipped: list = field(default_factory=list)

    def add(self, example, floating_base, states, seed=0):
        """Measure one robot against both engines."""
        for engine, oracle_class in ((PINOCCHIO, PinocchioOracle), (MUJOCO, MujocoOracle)):
            try:
                self.measurements.append(
                    measure(example, floating_base, engine, oracle_class, states, seed))
            except CannotMeasure as reason:
                self.skipped.append(Skipped(example.name, floating_base, engine, str(reason)))

    def failures(self):
        """Return a sentence for each quantity of a robot that is not close enough."""
        return [f'{m.robot}, {base(m.floating_base)}, {m.engine}: {name} {m.errors[name]:.1e}'
                for m in self.measurements for name in m.too_large()]


class CannotMeasure(Exception):
    """There is nothing to compare; the text says why."""


def base(floating_base):
    """Return the word for a base."""
    return 'floating' if floating_base else 'fixed'


def measure(example, floating_base, engine, oracle_class, count, seed=0):
    """
    Return the worst errors of a robot over random states.

    :raises CannotMeasure: where the package or the engine does not take the robot.
    """
    try:
        robot = Robot.from_urdf(example.text, floating_base, example.massless)
    except DescriptionError as error:
        raise CannotMeasure(f'refused by this package: {error}') from error
    if robot.nv == 0:
        raise CannotMeasure('nothing moves')
    try:
        oracle = oracle_class(example.text, floating_base)
    except Refused as error:
        raise CannotMeasure(f'refused by {engine}: {error}') from error
    if (oracle.joint_names, oracle.link_names) != (robot.joint_names, robot.link_names):
        raise ValueError(f'{example.name}: joints or links are in another order')

    massless = _joints_without_inertia(oracle)
    quantities = [quantity for quantity in QUANTITIES
                  if (quantity.mujoco or engine == PINOCCHIO)
                  and not (quantity.needs_inertia and massless)]
    errors = {quantity.short: 0.0 for quantity in quantities}
    uncertain = 0.0
    for number, start in enumerate(range(0, count, BATCH)):
        s = random_states(oracle, (seed, number), min(BATCH, count - start))
        for quantity in quantities:
            found = relative_errors(quantity.ours(robot, s), quantity.theirs(oracle, s))
            errors[quantity.short] = float(np.max([errors[quantity.short], *found]))
        if not massless:
            uncertain = max(uncertain, rounding(oracle, s))
    return Measurement(
        example.name, floating_base, engine, robot.nv, count, errors, uncertain, massless)


def rounding(oracle, s):
    """
    Return how much of the accelerations is lost where M and the efforts are rounded once.

    That is Skeel's condition of M q̈ = τ − b, times half of the distance between doubles at 1:
    nobody who computes in doubles can promise more.  Friction is in τ and in b.
    """
    M = oracle.mass_matrix(s.q)
    efforts = np.abs(s.tau) + np.abs(oracle.bias(s.q, s.qd))
    rounded = (np.abs(M) @ np.abs(s.qdd)[..., None])[..., 0] + efforts
    changes = (np.abs(np.linalg.inv(M)) @ rounded[..., None])[..., 0] * np.finfo(float).eps / 2.0
    return float(np.max(np.max(changes, axis=1) / np.max(np.abs(s.qdd), axis=1)))


def _joints_without_inertia(oracle):
    """Return the joints whose motion takes no effort at all, whatever the position."""
    q, _, _ = oracle.random_states(0)
    diagonal = np.diag(oracle.mass_matrix(q))
    return tuple(column.name for column in oracle.columns
                 if np.any(diagonal[column.v] < 1e-15 * np.max(diagonal)))
