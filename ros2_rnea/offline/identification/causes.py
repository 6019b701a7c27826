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
What may be wrong with a model or a measurement, apart from what a joint has of its own.

A cause has a few parameters and says what they make of the model.  Several causes act together
exactly: a load under another gravity weighs what it weighs there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ros2_rnea.dynamics.rotations import sines_of_turn
from ros2_rnea.offline.identification.comparison import coordinates_of
from ros2_rnea.robots.robot import Robot

WHOLE = 1.1
"""The largest share of gravity that may be lacking, by the errors of masses."""


@dataclass(eq=False)
class Altered:
    """
    What causes make of the model and the measurement.

    :ivar inertial: what is added to the inertial parameters, shape (10 bodies,).
    :ivar gravity: what is added to gravity, shape (3,) [m/s^2].
    :ivar zeros: what other zeros of positions add: four numbers by :meth:`Zero.apply` for each
        coordinate, shape (4, nv).
    :ivar factor: measured effort by true effort, shape (nv,).
    :ivar model: 1, or 0 where the efforts do not contain the model's.
    """

    inertial: np.ndarray
    gravity: np.ndarray
    zeros: np.ndarray
    factor: np.ndarray
    model: float = 1.0

    @classmethod
    def not_at_all(cls, robot: Robot) -> Altered:
        """Return a model and a measurement that are as they should be."""
        return cls(np.zeros(10 * len(robot.body_names)), np.zeros(3), np.zeros((4, robot.nv)),
                   np.ones(robot.nv))

    def coefficients(self) -> np.ndarray:
        """Return those of each coordinate's reduced equations, its own apart: (nv, columns)."""
        moments = self.inertial.reshape(-1, 10)[:, :4].ravel()
        shared = np.concatenate([
            self.inertial, (moments[:, np.newaxis] * self.gravity).ravel(),
            self.zeros.ravel(), self.gravity, [self.model]])
        return np.column_stack(
            [self.factor[:, np.newaxis] * shared, np.full(len(self.factor), -1.0)])


def turning(robot: Robot) -> np.ndarray:
    """
    Return of which coordinates all efforts are sines of the position and its double, shape (nv,).

    These are joints that turn, without another joint that mimics them.
    """
    moving = [body.v_index for body in robot.tree.bodies]
    return np.array([each.position_unit == 'rad' and moving.count(v) == 1
                     for v, each in enumerate(coordinates_of(robot))], dtype=bool)


class Cause(ABC):
    """
    One cause, with parameters that are zero where it does not exist.

    :ivar size: the number of its parameters.
    """

    size = 1

    def starts(self) -> np.ndarray:
        """Return where a fit may begin, a row for each start: (starts, size)."""
        return np.zeros((1, self.size))

    def settled(self, parameters: np.ndarray) -> np.ndarray:
        """Return the parameters in their plain form, where several forms are equivalent."""
        return parameters

    @abstractmethod
    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Alter the model or the measurement."""


@dataclass(frozen=True)
class Factor(Cause):
    """
    The effort of a coordinate is measured in another unit or direction, or that of all.

    :ivar coordinate: its index; None for all alike.
    """

    coordinate: int | None

    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Alter the factor: by itself plus the parameter."""
        to.factor[slice(None) if self.coordinate is None else self.coordinate] *= 1 + parameters[0]


@dataclass(frozen=True)
class Zero(Cause):
    """
    The position of a joint has another zero than the model's, by the parameter [rad or m].

    :ivar coordinate: its index.
    :ivar turns: whether it has the same efforts after a turn.
    """

    coordinate: int
    turns: bool

    def starts(self) -> np.ndarray:
        """Return quarters of a turn."""
        return np.radians([[0.0], [90.0], [180.0], [-90.0]]) if self.turns else np.zeros((1, 1))

    def settled(self, parameters: np.ndarray) -> np.ndarray:
        """Return an angle between half a turn to either side."""
        return np.remainder(parameters + np.pi, 2.0 * np.pi) - np.pi if self.turns else parameters

    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Add the parameter to the position: exactly where it turns, else to the second order."""
        zero = float(parameters[0])
        to.zeros[:, self.coordinate] = sines_of_turn(zero) if self.turns else (
            zero, 0.5 * zero ** 2, 0.0, 0.0)


@dataclass(frozen=True)
class Tilt(Cause):
    """
    Gravity has another direction and its old magnitude; the parameters are added to it.

    :ivar gravity: that of the model [m/s^2].
    """

    gravity: tuple[float, float, float]
    size = 3

    def starts(self) -> np.ndarray:
        """Return directions of which one is close to any other."""
        axes = np.linalg.norm(self.gravity) * np.concatenate([np.eye(3), -np.eye(3)])
        return np.concatenate([np.zeros((1, 3)), axes - np.array(self.gravity)])

    def settled(self, parameters: np.ndarray) -> np.ndarray:
        """Return parameters that lead to gravity of the old magnitude."""
        return self.direction(parameters) - np.array(self.gravity)

    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Alter gravity."""
        to.gravity[:] += self.settled(parameters)

    def direction(self, parameters: np.ndarray) -> np.ndarray:
        """Return the altered gravity [m/s^2]."""
        altered = np.array(self.gravity) + parameters
        return altered * (np.linalg.norm(self.gravity) / np.linalg.norm(altered))


@dataclass(frozen=True)
class NoGravity(Cause):
    """
    The measured efforts lack gravity, or the parameter's share of it.

    :ivar gravity: that of the model [m/s^2].
    """

    gravity: tuple[float, float, float]

    def starts(self) -> np.ndarray:
        """Return that all of it is lacking."""
        return np.ones((1, 1))

    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Take the share off gravity: not less than none, and hardly more than the whole."""
        to.gravity[:] -= min(max(float(parameters[0]), 0.0), WHOLE) * np.array(self.gravity)


@dataclass(frozen=True)
class NoModel(Cause):
    """The measured efforts are external ones: they contain nothing of the model."""

    size = 0

    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Leave the model out."""
        to.model = 0.0


@dataclass(frozen=True)
class Load(Cause):
    """
    A body has other inertial parameters: by a load, or since the description's are wrong.

    :ivar body: its index.
    """

    body: int
    size = 10

    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Add ten inertial parameters to those of the body."""
        to.inertial[10 * self.body:10 * (self.body + 1)] += parameters


@dataclass(frozen=True)
class Mass(Cause):
    """
    All inertial parameters of a body are too large or too small, by one factor.

    :ivar body: its index.
    :ivar inertial: its ten parameters in the model.
    """

    body: int
    inertial: tuple[float, ...]

    def apply(self, parameters: np.ndarray, to: Altered) -> None:
        """Add a share of the body's parameters to them."""
        to.inertial[10 * self.body:10 * (self.body + 1)] += (
            parameters[0] * np.array(self.inertial))


def are_compatible(causes: Collection[Cause]) -> bool:
    """Return whether causes can exist together, and tell different things."""
    bodies = [cause.body for cause in causes if isinstance(cause, (Load, Mass))]
    if len(bodies) > len({*bodies}) or len({type(cause) for cause in causes}
                                           & {Tilt, NoGravity}) > 1:
        return False
    return NoModel() not in causes or all(isinstance(cause, (NoModel, Load)) for cause in causes)


def conceivable(robot: Robot) -> list[Cause]:
    """Return all causes that may exist for a robot."""
    bodies = robot.inertial_parameters.reshape(-1, 10)
    causes: list[Cause] = [NoModel(), *(Factor(j) for j in range(robot.nv))]
    if robot.nv > 1:
        causes.append(Factor(None))
    if any(robot.free_fall):
        causes += [NoGravity(robot.free_fall), Tilt(robot.free_fall)]
    turns = turning(robot).tolist()
    moved = (robot.tree.bodies[index] for index in robot.tree.joints.values())
    causes += [Zero(body.v_index, turns[body.v_index]) for body in moved if body.type.nv == 1]
    causes += [Load(body) for body in range(len(bodies))]
    return [*causes, *(Mass(body, tuple(row))
                       for body, row in enumerate(bodies.tolist()) if any(row))]
