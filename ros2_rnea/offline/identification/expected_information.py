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
inverse is the covariance of the estimate.  What no motion tells apart is left out: directions of
theta in which the efforts of random states of the robot do not change.

M. Gautier and W. Khalil, "Exciting Trajectories for the Identification of Base Inertial Parameters
of Robots", International Journal of Robotics Research 11(4), 1992.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from ros2_rnea.errors import ArgumentError
from ros2_rnea.offline.identification.base_parameters import DETERMINED
from ros2_rnea.offline.identification.effort_columns import Columns, Sought
from ros2_rnea.offline.identification.moving_joints import States
from ros2_rnea.robots.arguments import Array
from scipy.linalg import eigh

_SMALLEST_SHARE = 1e-9
"""A direction counts as not identifiable with less of the largest eigenvalue of the information
of random states, whose columns have unit length."""

_FULLY = 1e-6
"""
The share of an unknown's axis, squared, that may be outside of the identifiable directions if the
unknown counts as identifiable by itself.
"""

_TINY = 1e-300

_DIFFERENCE = 1e-5
"""Step of positions and velocities for derivatives of the columns [rad or m, and per s]."""


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

    :ivar standard_error: in its unit; None where it is identifiable only in combination with
        others.
    """

    sought: Sought
    standard_error: float | None

    @property
    def is_identifiable(self) -> bool:
        """Return whether it is known by itself, to a part of its size."""
        return (self.standard_error is not None
                and self.standard_error <= DETERMINED * self.sought.size)


class ExpectedInformation:
    """
    The information of motions about what is to be identified.

    :param columns: of what is to be identified.
    :param q_index: of the joints that move, in q, shape (joints,); v_index, in q̇.
    :param noise: standard deviation of each one's measured effort, shape (joints,) [Nm or N].
    :param anywhere: states all over the limits, for what is identifiable at all.
    :raises ArgumentError: where no motion of these joints tells anything.
    """

    def __init__(
            self, columns: Columns, q_index: Array, v_index: Array, noise: Array,
            anywhere: States) -> None:
        self.columns = columns
        self._q_index, self._v_index, self._noise = q_index, v_index, noise
        rows = self._rows(anywhere)
        flat = rows.reshape(-1, rows.shape[2])
        self._scale = np.sqrt(np.mean(flat * flat, axis=0))
        smallest = _SMALLEST_SHARE * self._scale.max(initial=0.0)
        if not self._scale.max(initial=0.0) > 0.0:
            raise ArgumentError(
                'no motion of these joints tells anything about what is to be identified')
        self._seen = self._scale > smallest
        scaled = flat[:, self._seen] / self._scale[self._seen]
        values, vectors = eigh(scaled.T @ scaled / len(scaled))
        kept = values > _SMALLEST_SHARE * values[-1]
        # From all unknowns to directions that are identifiable: rows @ directions.
        self._axes = np.zeros((len(columns.sought), int(kept.sum())))
        self._axes[self._seen] = vectors[:, kept]
        self._divisor = np.where(self._seen, self._scale, 1.0)
        self._directions = self._axes / self._divisor[:, np.newaxis]
        self._anywhere = rows @ self._directions

    @property
    def rank(self) -> int:
        """Return how many combinations of the unknowns a motion can tell."""
        return int(self._axes.shape[1])

    def _rows(self, states: States) -> Array:
        """Return the columns of moving joints, divided by their noise: (N, joints, columns)."""
        columns = self.columns.at(*states)[:, self._v_index]
        return columns / self._noise[:, np.newaxis]

    def of(self, states: States) -> Array:
        """Return the mean information of a sample of these states, shape (rank, rank)."""
        rows = (self._rows(states) @ self._directions).reshape(-1, self.rank)
        return rows.T @ rows / len(states.q)

    def cost(self, states: States) -> tuple[float, Array]:
        """
        Return the cost of a motion, and its derivative by the states of moving joints.

        :return: a number and shape (3, N, joints): by positions, velocities and accelerations.
        """
        rows = self._rows(states)
        reduced = rows @ self._directions
        flat = reduced.reshape(-1, self.rank)
        value, by_information = cost(flat.T @ flat / len(rows))
        # d cost = 2 sum (W G) * dW over all elements, here in the columns of all unknowns.
        by_rows = (2.0 / len(rows)) * (reduced @ by_information) @ self._directions.T
        by_rows = by_rows / self._noise[:, np.newaxis]
        slopes = np.zeros((3, len(rows), len(self._v_index)))
        for order, (places, step) in enumerate((
                (self._q_index, _DIFFERENCE), (self._v_index, _DIFFERENCE),
                (self._v_index, 1.0))):  # the columns are linear in the acceleration
            for joint, place in enumerate(places):
                ahead, behind = (
                    self.columns.at(*_moved(states, order, place, way))[:, self._v_index]
                    for way in (step, -step))
                change = (ahead - behind) / (2.0 * step)
                slopes[order, :, joint] = np.sum(by_rows * change, axis=(1, 2))
        return value, slopes

    def standard_errors(self, information: Array) -> tuple[ExpectedError, ...]:
        """
        Return the standard error of each unknown.

        :param information: of all samples of a recording: their number times :meth:`of`.
        """
        spread = self.covariance_root(information)
        deviations = np.sqrt(np.sum(spread * spread, axis=1))
        contained = np.abs(np.sum(self._axes * self._axes, axis=1) - 1.0) < _FULLY
        return tuple(
            ExpectedError(sought, float(deviation) if known else None)
            for sought, deviation, known in zip(self.columns.sought, deviations, contained))

    def covariance_root(self, information: Array) -> Array:
        """Return A with A A^T the covariance of all unknowns, shape (columns, rank)."""
        return np.asarray(self._directions @ _root(information))

    def effort_errors(self, information: Array) -> Array:
        """
        Return how far efforts will be off that are computed with what was identified.

        :param information: of all samples of a recording.
        :return: standard error of each moving joint's effort, RMS over states all over the limits,
            shape (joints,) [Nm or N].
        """
        spread = self._anywhere @ _root(information)
        return np.asarray(
            self._noise * np.sqrt(np.mean(np.sum(spread * spread, axis=2), axis=0)))


def _root(information: Array) -> Array:
    """Return A with A A^T the inverse of an information matrix."""
    values, vectors = eigh(information)
    return np.asarray(vectors / np.sqrt(np.maximum(values, _TINY)))


def condition_number(information: Array) -> float:
    """Return the condition number of the scaled columns behind an information matrix."""
    values = eigh(information, eigvals_only=True)
    return float(np.sqrt(values[-1] / max(values[0], _TINY)))


def volume_gain(information: Array, other: Array) -> float:
    """
    Return by what factor standard errors are smaller than with another information.

    It is the geometric mean over all combinations that are identifiable.
    """
    return float(np.exp(0.5 * (cost(other)[0] - cost(information)[0])))


def _moved(states: States, order: int, place: int, step: float) -> States:
    changed = states[order].copy()
    changed[:, place] += step
    return states._replace(**{states._fields[order]: changed})
