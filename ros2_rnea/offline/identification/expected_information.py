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
How much a motion tells about what is to be identified, before it is recorded.

With efforts tau = W theta + noise, independent and of a known standard deviation by joint, the
information about theta is the sum of W^T W over the samples, each row divided by its noise; its
inverse is the covariance of the estimate.  What no motion tells apart is left out: columns that
are sums of others in random states of the robot.

M. Gautier and W. Khalil, "Exciting Trajectories for the Identification of Base Inertial Parameters
of Robots", International Journal of Robotics Research 11(4), 1992.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.tree import link_inertia, MASSLESS
from ros2_rnea.offline.identification.base_parameters import DETERMINED, independent, STRUCTURAL
from ros2_rnea.offline.identification.moving_joints import MovingJoints
from ros2_rnea.offline.identification.unknowns import Design, PAYLOAD, Unknown
from ros2_rnea.robots.arguments import Array
from scipy.linalg import eigh

_TINY = 1e-300


def cost(information: Array) -> tuple[float, Array]:
    """
    Return what is minimized, and its derivative by the information.

    It is the volume of the confidence ellipsoid: the mean logarithm of its squared axes.

    :param information: shape (r, r), symmetric.
    :return: a number without unit, and shape (r, r).
    """
    values, vectors = eigh(information)
    values = np.maximum(values, _TINY)
    return -float(np.mean(np.log(values))), -(vectors / (len(values) * values)) @ vectors.T


class ExpectedError(NamedTuple):
    """
    The standard error that an unknown will have.

    :ivar size: how large it may be for the body of the model, whatever its axes, in its unit;
        infinite where no model tells.
    :ivar standard_error: in its unit; None where it is identifiable only in combination with
        others.
    """

    unknown: Unknown
    size: float
    standard_error: float | None

    @property
    def is_identifiable(self) -> bool:
        """Return whether it is known by itself, to a part of its size."""
        return self.standard_error is not None and self.standard_error <= DETERMINED * self.size


class ExpectedInformation:
    """
    The information of motions about what is to be identified.

    :param design: of the robot that moves, with what it carries in the motion.
    :param moving: its joints that move.
    :param noise: standard deviation of each one's measured effort, shape (joints,) [Nm or N].
    :param anywhere: a motion all over the limits, for what is identifiable at all, shape
        (3, N, joints).
    :raises ArgumentError: where no motion of these joints tells anything.
    """

    def __init__(
            self, design: Design, moving: MovingJoints, noise: Array, anywhere: Array) -> None:
        self._design, self._moving, self._noise = design, moving, noise
        self._parts = [design.parts[v] for v in moving.v_index]
        # What the numbers of a joint are multiplied by to give its columns, divided by its noise.
        self._factors = []
        for v, deviation in zip(moving.v_index, noise):
            factors = np.zeros((len(design.expansions[v]), design.columns))
            factors[:, design.of_coordinate[v]] = design.expansions[v][:, :-2] / deviation
            self._factors.append(factors)
        self._anywhere = self._rows(self.numbers(anywhere))
        flat = self._anywhere.reshape(-1, design.columns)
        taken, _, sums = independent(np.ones(design.columns, bool), flat.T @ flat)
        if not len(taken):
            raise ArgumentError(
                'no motion of these joints tells anything about what is to be identified')
        # From all unknowns to those with independent columns of unit length: rows @ directions.
        self._directions = np.eye(design.columns)[:, taken] / np.linalg.norm(
            flat[:, taken], axis=0)
        self._is_contained = np.zeros(design.columns, dtype=bool)
        self._is_contained[taken] = (np.abs(sums) < STRUCTURAL).all(axis=1)
        self._factors = [factors @ self._directions for factors in self._factors]

    @property
    def rank(self) -> int:
        """Return how many combinations of the unknowns a motion can tell."""
        return int(self._directions.shape[1])

    def numbers(self, motion: Array) -> Array:
        """Return what columns of a motion, shape (3, N, joints), are linear in: (N, numbers)."""
        q, qd, qdd = self._moving.states(motion)
        return self._design.evaluate({}, q, qd, qdd, np.zeros_like(qd))

    def _rows(self, numbers: Array) -> Array:
        """Return the columns of moving joints, divided by their noise: (N, joints, columns)."""
        return np.stack([
            numbers[:, part] @ own for part, own in zip(self._parts, self._factors)], axis=1)

    def of(self, numbers: Array) -> Array:
        """Return the mean information of a sample, shape (rank, rank)."""
        rows = self._rows(numbers).reshape(-1, self.rank)
        return rows.T @ rows / len(numbers)

    def cost(self, numbers: Array) -> tuple[float, Array]:
        """Return the cost of a motion, and its derivative by the numbers, in their shape."""
        value, by_information = cost(self.of(numbers))
        # d cost = 2 sum (W G) * dW over all elements.
        by_rows = (2.0 / len(numbers)) * self._rows(numbers) @ by_information
        by_numbers = np.zeros_like(numbers)
        for joint, (part, factors) in enumerate(zip(self._parts, self._factors)):
            by_numbers[:, part] = by_rows[:, joint] @ factors.T
        return value, by_numbers

    def covariance_root(self, information: Array) -> Array:
        """
        Return A with A A^T the covariance of all unknowns, shape (columns, rank).

        :param information: of all samples of a recording: their number times :meth:`of`.
        """
        values, vectors = eigh(information)
        return np.asarray(self._directions @ (vectors / np.sqrt(np.maximum(values, _TINY))))

    def standard_errors(self, root: Array) -> tuple[ExpectedError, ...]:
        """Return the standard error of each unknown, from the root of their covariance."""
        return tuple(
            ExpectedError(unknown, self._size(unknown), float(error) if known else None)
            for unknown, error, known in zip(
                self._design.unknowns, np.linalg.norm(root, axis=1), self._is_contained))

    def _payload(self) -> list[float]:
        """Return the ten parameters of what the link of the unknown payload carries."""
        return parameters_of(sum(
            (link_inertia(inertial) for link, inertial in self._moving.robot.payloads.values()
             if link == self._design.payload_link), start=MASSLESS))

    def _size(self, unknown: Unknown) -> float:
        """Return the size of an unknown, which mass of its body and radius about axes tell."""
        if not unknown.is_inertial:
            return inf
        ten = self._payload() if unknown.owner == PAYLOAD else parameters_of(
            self._moving.robot.tree.bodies[unknown.body].inertia)
        mass, spread = ten[0], 0.5 * (ten[4] + ten[7] + ten[9])  # of the mass from the origin
        sizes = {'kg': mass, 'kg m': sqrt(max(mass * spread, 0.0)), 'kg m^2': spread}
        return sizes[unknown.unit] if spread > 0.0 else inf

    def payload_center(self, root: Array) -> list[float]:
        """
        Return the standard errors of the centre of an unknown payload, x, y and z [m].

        The centre is first moment by mass, so its error follows by linearization.

        :param root: of the covariance of the unknowns.
        :return: empty where there is no such payload, or its mass is not identifiable.
        """
        if self._design.payload_link is None or not self._is_contained[-10:-6].all():
            return []
        (mass, *moments), (kg, *h) = root[-10:-6], self._payload()[:4]
        return [float(np.linalg.norm(moment - place / kg * mass)) / kg
                for moment, place in zip(moments, h)] if kg else []

    def effort_errors(self, root: Array) -> Array:
        """
        Return how far efforts will be off that are computed with what was identified.

        :param root: of the covariance of the unknowns.
        :return: standard error of each moving joint's effort, RMS over states all over the limits,
            shape (joints,) [Nm or N].
        """
        spread = self._anywhere @ root
        return np.asarray(self._noise * np.sqrt(np.mean(np.sum(spread**2, axis=2), axis=0)))


def volume_gain(information: Array, other: Array) -> float:
    """
    Return by what factor standard errors are smaller than with another information.

    It is the geometric mean over all combinations that are identifiable.
    """
    return float(np.exp(0.5 * (cost(other)[0] - cost(information)[0])))
