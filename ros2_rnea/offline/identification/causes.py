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

A cause has a few parameters, zero where it does not exist, and says what they make of the model.
Several causes act together exactly: a load under another gravity weighs what it weighs there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple

import numpy as np

from ros2_rnea.dynamics.rotations import sines_of_turn
from ros2_rnea.offline.identification.comparison import coordinates_of
from ros2_rnea.robots.robot import Robot

WHOLE = 1.1
"""The largest share of gravity that may be lacking, by the errors of masses."""


class What(Enum):
    """What is wrong, in words that lack the joint or the link."""

    NO_MODEL = 'efforts that are external ones'
    FACTOR = 'a factor on the effort of {}'
    NO_GRAVITY = 'efforts that lack gravity'
    TILT = 'another direction of gravity'
    ZERO = 'another zero of the position of {}'
    LOAD = 'a load on {}'
    MASS = 'another mass of {}'


class Cause(NamedTuple):
    """
    One cause.

    NO_MODEL has no parameters; FACTOR a share of the effort, MASS one of all inertial parameters
    of a body, NO_GRAVITY the share of gravity that the efforts lack; ZERO an angle that is added
    to the position [rad]; TILT three numbers that are added to gravity, which keeps its magnitude
    [m/s^2]; LOAD ten inertial parameters, which are added to those of a body.

    :ivar where: index of the coordinate or body; None for all.
    """

    what: What
    where: int | None = None

    @property
    def size(self) -> int:
        """Return the number of its parameters."""
        return {What.NO_MODEL: 0, What.TILT: 3, What.LOAD: 10}.get(self.what, 1)

    @property
    def body(self) -> int | None:
        """Return the body of which it alters the inertia."""
        return self.where if self.what in (What.LOAD, What.MASS) else None

    @property
    def is_factor(self) -> bool:
        """Return whether it is a factor on efforts."""
        return self.what is What.FACTOR

    def starts(self, robot: Robot) -> np.ndarray:
        """Return where a fit may begin, one of which is close to any solution: (starts, size)."""
        if self.what is What.TILT:
            axes = np.linalg.norm(robot.free_fall) * np.concatenate([np.eye(3), -np.eye(3)])
            return np.concatenate([np.zeros((1, 3)), axes - np.array(robot.free_fall)])
        if self.what is What.ZERO:
            return np.radians([[0.0], [90.0], [180.0], [-90.0]])
        return np.full((1, self.size), float(self.what is What.NO_GRAVITY))

    def settled(self, robot: Robot, parameters: np.ndarray) -> np.ndarray:
        """Return the parameters in their plain form, where several forms are equivalent."""
        if self.what is What.TILT:
            altered = np.array(robot.free_fall) + parameters
            return altered * (np.linalg.norm(robot.free_fall) / np.linalg.norm(altered)) - (
                np.array(robot.free_fall))
        if self.what is What.ZERO:
            return np.remainder(parameters + np.pi, 2.0 * np.pi) - np.pi
        return parameters


def coefficients(robot: Robot, causes: Mapping[Cause, np.ndarray]) -> np.ndarray:
    """
    Return the coefficients of the reduced equations, shape (nv, columns), own columns apart.

    :param causes: what is wrong, each with its parameters.
    """
    inertial, gravity = np.zeros((len(robot.body_names), 10)), np.zeros(3)
    zeros, factor, model = np.zeros((4, robot.nv)), np.ones(robot.nv), 1.0
    for cause, parameters in causes.items():
        what, where = cause
        if what is What.NO_MODEL:
            model = 0.0
        elif what is What.FACTOR:
            factor[slice(None) if where is None else where] *= 1.0 + parameters[0]
        elif what is What.NO_GRAVITY:
            gravity -= min(max(float(parameters[0]), 0.0), WHOLE) * np.array(robot.free_fall)
        elif what is What.TILT:
            gravity += cause.settled(robot, parameters)
        elif what is What.ZERO:
            zeros[:, where] = sines_of_turn(float(parameters[0]))
        elif what is What.LOAD:
            inertial[where] += parameters
        else:
            inertial[where] += parameters[0] * robot.inertial_parameters.reshape(-1, 10)[where]
    moments = inertial[:, :4].reshape(-1, 1) * gravity
    shared = np.concatenate(
        [inertial.ravel(), moments.ravel(), zeros.ravel(), gravity, [model]])
    return np.column_stack([factor[:, np.newaxis] * shared, np.full(robot.nv, -1.0)])


def turning(robot: Robot) -> dict[int, int]:
    """
    Return the coordinates of which all efforts are sines of the position and its double.

    These are joints that turn, without another joint that mimics them.

    :return: the index of the position by that of the coordinate.
    """
    moving, coordinates = [body.v_index for body in robot.tree.bodies], coordinates_of(robot)
    return {body.v_index: body.q_index for body in robot.tree.bodies
            if body.type.nv == 1 and moving.count(body.v_index) == 1
            and coordinates[body.v_index].position_unit == 'rad'}


def are_compatible(causes: Collection[Cause]) -> bool:
    """Return whether causes can exist together, and tell different things."""
    kinds = {cause.what for cause in causes}
    bodies = [cause.body for cause in causes if cause.body is not None]
    factors = [cause.where for cause in causes if cause.is_factor]
    return (len(bodies) == len({*bodies}) and not {What.TILT, What.NO_GRAVITY} <= kinds
            and (None not in factors or len(factors) == 1)
            and (What.NO_MODEL not in kinds or kinds <= {What.NO_MODEL, What.LOAD}))


def conceivable(robot: Robot) -> list[Cause]:
    """Return all causes that may exist for a robot."""
    bodies = robot.inertial_parameters.reshape(-1, 10)
    gravity = [Cause(What.NO_GRAVITY), Cause(What.TILT)] if any(robot.free_fall) else []
    return [Cause(What.NO_MODEL), *(Cause(What.FACTOR, j) for j in range(robot.nv)),
            *[Cause(What.FACTOR)] * (robot.nv > 1), *gravity,
            *(Cause(What.ZERO, v) for v in turning(robot)),
            *(Cause(What.LOAD, body) for body in range(len(bodies))),
            *(Cause(What.MASS, body) for body in np.flatnonzero(bodies.any(axis=1)).tolist())]
