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
What each conceivable cause would add to a measured effort, reduced to small matrices.

Each sample of a joint is an equation that is linear in what may be wrong with the model: inertial
parameters, gravity, a factor on the effort, a delay, friction and an offset.  The equations of a
joint are reduced by a QR factorization to a triangle.  Friction and offset come first in it, so
the rows below theirs are the equations in which both are eliminated.

The noise is what is left when all columns are fitted freely.  It is correlated in time
(:mod:`.correlation`), and has to be known at the frequencies of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from ros2_rnea.dynamics.friction import sign_width, smooth_sign
from ros2_rnea.offline.identification.comparison import Comparison, Run
from ros2_rnea.offline.identification.correlation import correlation_of
from ros2_rnea.offline.identification.recording import PreparedRecording, slowest_speeds
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot
from scipy.linalg import lstsq, qr

FRICTION = ('offset', 'viscous', 'coulomb', 'viscous by direction')
"""The columns of a joint's own: 1, v, sign v and the magnitude of v."""

MODEL = -4
"""The column of the model's effort, friction included; the last column is what was measured."""

MAX_SAMPLES = 12_000
"""The most samples that are used of a recording: more tell a cause no better."""

SAMPLES_A_COLUMN = 3
"""Fewer samples for each column of the equations tell nothing about the noise."""

COLUMNS_BAND = 0.5
"""
The highest frequency of the columns, as a share of the cut-off that a preparation chooses: they
are products of sines of the motion, whose own band ends at a quarter of the cut-off.
"""

RESOLUTION = 1e-4
"""The smallest noise that is believed, as a share of the effort's RMS: no drive is better."""

DEPENDENT = 1e-6
"""A column of which a smaller share is independent of the others cannot be told from them."""


@dataclass(frozen=True, eq=False)
class Columns:
    """
    The samples of all recordings, as the columns that the equations are made of.

    :ivar pieces: uninterrupted samples at one period.
    :ivar highest: frequency of the columns [1/samples]; infinite where it is not known.
    :ivar regressor: shape (n, nv, 10 bodies), of the inertial parameters in the unit of each.
    :ivar by_gravity: shape (n, nv, 3), the effort against 1 m/s^2 of gravity along each axis.
    :ivar model: shape (n, nv) [Nm or N].
    :ivar model_rate: shape (n, nv), its derivative by time, friction apart [Nm/s or N/s].
    :ivar qd: shape (n, nv) [rad/s or m/s].
    :ivar qdd: shape (n, nv) [rad/s^2 or m/s^2].
    :ivar moves: shape (n, nv), as that of the recordings.
    :ivar signs: shape (n, nv), the column of Coulomb friction.
    :ivar measured: shape (n, nv) [Nm or N]; NaN for a joint whose efforts are cut off, throughout
        the recording.
    :ivar times: shape (n,) [s].
    """

    pieces: tuple[slice, ...]
    highest: float
    regressor: np.ndarray
    by_gravity: np.ndarray
    model: np.ndarray
    model_rate: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    moves: np.ndarray
    signs: np.ndarray
    measured: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, comparison: Comparison, most: int = MAX_SAMPLES) -> Columns:
        """Return the columns of all runs, of at most so many samples (and one a piece)."""
        stride = -(-comparison.samples // most)
        parts = [_piece_columns(run, piece, stride)
                 for run in comparison.runs for piece in run.recording.pieces]
        ends = np.cumsum([len(part[-1]) for part in parts])
        pieces = tuple(slice(end - len(part[-1]), end) for end, part in zip(ends, parts))
        arrays = [np.concatenate([part[k] for part in parts]) for k in range(len(parts[0]))]
        highest = min(
            COLUMNS_BAND * run.recording.cutoff * stride * run.recording.period
            for run in comparison.runs)
        columns = cls(pieces, highest, *arrays)
        widths = [sign_width(float(each))
                  for each in slowest_speeds([(columns.qd, columns.moves)])]
        for v, width in enumerate(widths):
            unknown = np.isnan(columns.signs[:, v])
            columns.signs[unknown, v] = smooth_sign(columns.qd[unknown, v], width)
        columns.model[:] += _sharper_friction(comparison.robot, columns)
        return columns

    @property
    def levers(self) -> np.ndarray:
        """Return the RMS of the effort that 1 kg more of a body takes: (nv, bodies)."""
        return np.sqrt(np.square(self.regressor[:, :, ::10]).mean(axis=0))

    def measured_later(self, delay: float) -> np.ndarray:
        """Return what was measured so much later, shape (n, nv); NaN beyond the end of a piece."""
        later = np.full_like(self.measured, np.nan)
        for piece in self.pieces:
            times = self.times[piece]
            for j in range(later.shape[1]):
                later[piece, j] = np.interp(
                    times + delay, times, self.measured[piece, j], left=np.nan, right=np.nan)
        return later


def _piece_columns(run: Run, piece: slice, stride: int) -> tuple[np.ndarray, ...]:
    recording, robot = run.recording, run.robot
    times = recording.times[piece]
    model = run.model(piece)
    smooth = model - robot.friction(recording.qd[piece])
    rate = np.gradient(smooth, times, axis=0) if len(times) > 1 else np.zeros_like(smooth)
    q, qd, qdd = (each[piece][::stride] for each in (recording.q, recording.qd, recording.qdd))
    by_gravity = np.stack([robot.gravity(q, gravity=axis) - robot.gravity(q, gravity=(0, 0, 0))
                           for axis in np.eye(3)], axis=-1)
    return (robot.regressor(q, qd, qdd), by_gravity,
            model[::stride].copy(), rate[::stride].copy(),  # views would keep all samples alive
            qd, qdd, recording.moves[piece][::stride],
            _signs(run.recording, piece)[::stride].copy(),  # is completed later
            _whole_efforts(run, piece)[::stride],
            times[::stride])


def _sharper_friction(robot: Robot, columns: Columns) -> np.ndarray:
    """Return what Coulomb friction has more than the model's rounded one, shape (n, nv)."""
    more = np.zeros_like(columns.qd)
    for index in robot.tree.joints.values():
        body, v = robot.tree.bodies[index], robot.tree.bodies[index].v_index
        if body.type.nv == 1 and body.friction:
            more[:, v] = body.friction * (columns.signs[:, v] - smooth_sign(columns.qd[:, v]))
    return more


def _signs(recording: PreparedRecording, piece: slice) -> np.ndarray:
    """Return the columns of Coulomb friction; NaN where nothing but velocities tells them."""
    if recording.direction is None:
        return np.full(recording.qd[piece].shape, np.nan)
    return recording.direction[piece]


def _whole_efforts(run: Run, piece: slice) -> np.ndarray:
    """Return the measured efforts, without those of joints for which they are cut off."""
    tau, saturations = run.recording.tau[piece], run.recording.saturations
    if saturations:
        tau = tau.copy()
        tau[:, [joint_body(run.robot, joint).v_index for joint in saturations]] = np.nan
    return tau


@dataclass(frozen=True, eq=False)
class ReducedEquations:
    """
    The equations of one coordinate, weighted to give their noise unit variance.

    Their columns are those of friction that this coordinate can show, the regressor, the three of
    gravity, the model, its rate, the acceleration, and what was measured.

    :ivar moves: whether the coordinate moves for long enough to show its friction.
    :ivar friction: which of :data:`FRICTION` are in the equations, by index.
    :ivar triangle: shape (columns, columns); its first rows belong to friction.
    :ivar noise: standard deviation of a sample [Nm or N].
    :ivar correlation: how many samples count as one independent sample.
    :ivar samples: how many equations were reduced.
    :ivar rank: of their columns.
    :ivar freedom: degrees of freedom of the noise.
    :ivar left: what all columns together leave of each sample, 0 where it was not reduced, shape
        (n,) [Nm or N].
    """

    moves: bool
    friction: tuple[int, ...]
    triangle: np.ndarray
    noise: float
    correlation: float
    samples: int
    rank: int
    freedom: float
    left: np.ndarray

    @property
    def independent_samples(self) -> float:
        """Return how many independent samples these equations count as."""
        return self.samples / self.correlation

    @property
    def mechanics(self) -> np.ndarray:
        """Return the equations in which friction is eliminated."""
        own = len(self.friction)
        return self.triangle[own:, own:]

    @property
    def deviation(self) -> float:
        """Return the weight that was divided by [Nm or N]."""
        return self.noise * self.correlation ** 0.5

    @property
    def model_rms(self) -> float:
        """Return the RMS of the model's effort, less what friction could be of it [Nm or N]."""
        return self.rms_of(self.mechanics[:, MODEL])

    @property
    def measured_rms(self) -> float:
        """Return the RMS of the measured effort, less an offset [Nm or N]."""
        offset = [FRICTION[k] == 'offset' for k in self.friction]
        return self.rms_of(without(
            self.triangle[:, [-1]], self.triangle[:, :len(self.friction)][:, offset])[:, 0])

    def friction_rms(self, friction: np.ndarray) -> float:
        """Return the RMS of a friction, less its offset [Nm or N]."""
        turning = [FRICTION[k] != 'offset' for k in self.friction]
        return self.rms_of(self.triangle[:, :len(self.friction)] @ (friction * turning))

    def rms_of(self, weighted: np.ndarray) -> float:
        """Return the RMS of a combination of the columns, which are weighted [Nm or N]."""
        return float(np.sqrt(weighted @ weighted / self.samples) * self.deviation)

    def rms(self, coefficients: np.ndarray) -> float:
        """Return the RMS of the difference that is left, friction eliminated [Nm or N]."""
        return self.rms_of(self.mechanics @ coefficients)

    def lack_of_fit(self, coefficients: np.ndarray) -> float:
        """
        Return what coefficients leave beyond the noise, relative to what noise would make of it.

        All columns together leave the noise.  Coefficients that are true leave as many squares
        more as there are columns, on average; those of a model without some cause leave more.
        """
        left = self.mechanics @ coefficients
        noise = (self.samples - self.rank) / self.correlation
        return float(left @ left - noise) / max(self.rank - len(self.friction), 1)

    def with_more_noise(self, factor: float) -> ReducedEquations:
        """Return the same equations with another variance of the noise in the columns' band."""
        return replace(
            self, triangle=self.triangle / factor ** 0.5, correlation=self.correlation * factor)

    def friction_beside_mechanics(self) -> np.ndarray:
        """Return by how much friction differs from all others: (columns, friction)."""
        own = len(self.friction)
        others = np.delete(self.triangle[:, own:], [MODEL, -1], axis=1)
        return without(self.triangle[:, :own], others)


class TooShortError(Exception):
    """
    The recordings are too short to judge a coordinate.

    :ivar factor: about how many times as long they have to be.
    """

    def __init__(self, factor: float) -> None:
        super().__init__(f'too short by a factor of {factor:.2g}')
        self.factor = factor


def reduce_equations(columns: Columns, measured: np.ndarray, j: int) -> ReducedEquations:
    """
    Reduce the equations of one coordinate.

    Of a coordinate that moves, only those samples count in which it does: at rest, friction takes
    any value up to that of the start.

    :param measured: shape (n, nv), as in the columns, or at other times.
    :param j: index of the coordinate.
    :raises TooShortError: where there are too few samples for so many columns, or nothing would be
        left of the noise at the columns' frequencies.
    """
    known = np.isfinite(measured[:, j])
    moving = known & columns.moves[:, j]
    least = SAMPLES_A_COLUMN * (columns.regressor.shape[2] + 6)
    is_moving = np.count_nonzero(moving) >= least
    rows = moving if is_moving else known
    samples = int(np.count_nonzero(rows))
    if samples < least:
        raise TooShortError(least / samples if samples else inf)
    friction = _independent(_own_columns(columns, rows, j))
    effort = measured[rows, j]
    equations = np.column_stack([equations_of(columns, rows, j, friction), effort])
    triangle = qr(equations, mode='r', check_finite=False)[0][:equations.shape[1]]
    best, rank = least_squares(triangle[:, :-1], triangle[:, -1], 1e-12)
    left = np.zeros(len(rows))
    left[rows] = effort - equations[:, :-1] @ best
    noise = float(np.sqrt(left @ left / (samples - rank)))
    time, freedom, highest = correlation_of(
        [left[piece] for piece in columns.pieces], samples, rank)
    finest = RESOLUTION * float(np.sqrt(effort @ effort / samples))
    if noise < finest:
        noise, time, freedom = finest, 1.0, samples - rank
    elif highest > columns.highest:
        raise TooShortError(highest / columns.highest)
    if not noise:
        raise TooShortError(inf)
    return ReducedEquations(
        is_moving, friction, triangle / (noise * time ** 0.5), noise, time, samples, rank,
        freedom, left)


def equations_of(
        columns: Columns, rows: np.ndarray, j: int, friction: Sequence[int]) -> np.ndarray:
    """
    Return the columns of one coordinate that are reduced, shape (rows, columns).

    :param friction: which columns of its friction.
    """
    return np.column_stack([
        _own_columns(columns, rows, j)[:, friction], columns.regressor[rows, j],
        columns.by_gravity[rows, j], columns.model[rows, j], columns.model_rate[rows, j],
        columns.qdd[rows, j]])


def _own_columns(columns: Columns, rows: np.ndarray, j: int) -> np.ndarray:
    """Return the columns of :data:`FRICTION`, shape (rows, 4)."""
    qd = columns.qd[rows, j]
    return np.stack([np.ones_like(qd), qd, columns.signs[rows, j], np.abs(qd)], axis=1)


def _independent(columns: np.ndarray) -> tuple[int, ...]:
    """Return the columns that differ from a combination of those before them."""
    kept: list[int] = []
    for k in range(columns.shape[1]):
        rest = without(columns[:, [k]], columns[:, kept])
        if rest.any() and np.linalg.norm(rest) > DEPENDENT * np.linalg.norm(columns[:, k]):
            kept.append(k)
    return tuple(kept)


def without(columns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return columns less what a combination of others makes of them."""
    if not others.shape[1]:
        return columns
    scale = np.linalg.norm(others, axis=0)
    scaled = others / np.where(scale > 0.0, scale, 1.0)
    return columns - scaled @ least_squares(scaled, columns, DEPENDENT)[0]


def least_squares(columns: np.ndarray, values: np.ndarray, cond: float) -> tuple[np.ndarray, int]:
    """
    Return the smallest of the best coefficients, and the rank of the columns.

    They come from a QR factorization: the singular values, which are usual, may not converge.

    :param cond: what is this much smaller than the largest column tells nothing.
    """
    found, _, rank, _ = lstsq(columns, values, cond=cond, lapack_driver='gelsy')
    return found, int(rank)
