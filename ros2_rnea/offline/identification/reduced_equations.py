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

Each sample of a joint is an equation in what may be wrong with the model: inertial parameters,
gravity, products of both, a factor on the effort, and what the joint has of its own: friction, an
offset, the inertia of its rotor.  The equations of a joint are reduced by a QR factorization to a
triangle.  The joint's own columns come first in it, so the rows below theirs are the equations in
which these are eliminated: nothing that they can explain counts as evidence for a wrong model.

The noise is what is left when all columns are fitted freely.  It is correlated in time
(:mod:`.correlation`), and has to be known at the frequencies of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from ros2_rnea.dynamics.friction import sign_width, smooth_sign
from ros2_rnea.dynamics.rotations import sines_of_turn
from ros2_rnea.offline.identification.causes import turning
from ros2_rnea.offline.identification.comparison import Comparison, Run
from ros2_rnea.offline.identification.correlation import correlation_of
from ros2_rnea.offline.identification.recording import slowest_speeds
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot
from scipy.linalg import eigh, inv, lstsq, qr
from scipy.ndimage import uniform_filter1d

OWN = ('offset', 'viscous', 'coulomb', 'viscous by direction', 'inertia')
"""The columns of a joint's own: 1, v, sign v, the magnitude of v, and the acceleration."""

OFFSET, VISCOUS, COULOMB, BY_DIRECTION, ROTOR = range(len(OWN))

MODEL = -2
"""The column of the model's effort, friction included; the last column is what was measured."""

MAX_SAMPLES = 12_000
"""The most samples that are used of a recording: more tell a cause no better."""

MAX_NUMBERS = 1.2e8
"""The most numbers that the columns have, for robots of many bodies: about one gigabyte."""

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

ROUNDING = 1e-10
"""A column or an equation so much smaller than the largest is nothing but rounding."""

OF_ZEROS = 4
"""How many columns belong to the zero of a position: see :func:`.sines_of_turn`."""

SLOW = 0.25
"""What is left of an average over this time is no noise of a sensor [s]."""

SURE = 3.0
"""What is no more standard deviations from zero, or from its mean, may be chance."""


@dataclass(frozen=True, eq=False)
class Columns:
    """
    The samples of all recordings, as the columns that the equations are made of.

    :ivar pieces: uninterrupted samples at one period.
    :ivar highest: frequency of the columns [1/samples]; infinite where it is not known.
    :ivar mechanics: shape (n, nv, columns) [Nm or N], in the order of :func:`.coefficients`.
    :ivar levers: RMS of the effort that 1 kg more of a body takes, shape (nv, bodies) [Nm/kg].
    :ivar own: shape (n, nv, 5), those of :data:`OWN`.
    :ivar moves: shape (n, nv), as that of the recordings.
    :ivar measured: shape (n, nv) [Nm or N]; NaN for a joint whose efforts are cut off, throughout
        the recording.
    :ivar times: shape (n,) [s].
    """

    pieces: tuple[slice, ...]
    highest: float
    mechanics: np.ndarray
    levers: np.ndarray
    own: np.ndarray
    moves: np.ndarray
    measured: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, comparison: Comparison) -> Columns:
        """Return the columns of all runs, of :data:`MAX_SAMPLES` at most (and one a piece)."""
        robot = comparison.robot
        width = 22 * len(robot.body_names) + OF_ZEROS * robot.nv + 4
        stride = -(-comparison.samples // min(MAX_SAMPLES, int(MAX_NUMBERS / (width * robot.nv))))
        parts = [_piece_columns(run, piece, stride)
                 for run in comparison.runs for piece in run.recording.pieces]
        ends = np.cumsum([len(part[-1]) for part in parts])
        pieces = tuple(slice(end - len(part[-1]), end) for end, part in zip(ends, parts))
        mechanics, qd, qdd, moves, signs, measured, times = (
            np.concatenate(arrays) for arrays in zip(*parts))
        for v, speed in enumerate(slowest_speeds([(qd, moves)])):
            unknown = np.isnan(signs[:, v])
            signs[unknown, v] = smooth_sign(qd[unknown, v], sign_width(float(speed)))
        for index in robot.tree.joints.values():  # the model rounds Coulomb friction more
            body, v = robot.tree.bodies[index], robot.tree.bodies[index].v_index
            if body.type.nv == 1 and body.friction:
                mechanics[:, v, -1] += body.friction * (signs[:, v] - smooth_sign(qd[:, v]))
        return cls(
            pieces, min(COLUMNS_BAND * run.recording.cutoff * stride * run.recording.period
                        for run in comparison.runs), mechanics,
            np.sqrt(np.square(mechanics[:, :, :10 * len(robot.body_names):10]).mean(axis=0)),
            np.stack([np.ones_like(qd), qd, signs, np.abs(qd), qdd], axis=-1),
            moves, measured, times)

    def linear(self, rows: np.ndarray, j: int, own: Sequence[int]) -> np.ndarray:
        """
        Return what a model of one coordinate can have: inertias, gravity and friction.

        Shape (rows, columns).

        :param own: which columns of its own.
        """
        mechanics = self.mechanics[rows, j]
        return np.column_stack([self.own[rows, j][:, own],
                                mechanics[:, :10 * self.levers.shape[1]], mechanics[:, -4:]])


def _piece_columns(run: Run, piece: slice, stride: int) -> tuple[np.ndarray, ...]:
    recording, robot = run.recording, run.robot
    rows = slice(piece.start, piece.stop, stride)
    q, qd, qdd = recording.q[rows], recording.qd[rows], recording.qdd[rows]
    still = np.zeros_like(qd)
    gravity = [robot.gravity(q, gravity=axis) - robot.gravity(q, gravity=(0.0, 0.0, 0.0))
               for axis in np.eye(3)]
    moments = [robot.regressor(q, still, still, gravity=axis).reshape(*qd.shape, -1, 10)[..., :4]
               for axis in np.eye(3)]
    by_zeros = np.zeros((*qd.shape, OF_ZEROS, robot.nv))
    for v, k in turning(robot).items():
        by_zeros[..., v] = _by_zero(robot, q, qd, qdd, np.arange(robot.nq) == k)
    mechanics = np.concatenate([
        robot.regressor(q, qd, qdd), np.stack(moments, axis=-1).reshape(*qd.shape, -1),
        by_zeros.reshape(*qd.shape, -1), np.stack(gravity, axis=-1),
        run.model(rows)[..., np.newaxis]], axis=-1)
    signs = np.full(qd.shape, np.nan) if recording.direction is None else (
        recording.direction[rows].copy())  # those unknown are completed later
    measured = recording.tau[rows].copy()
    measured[:, [joint_body(robot, joint).v_index for joint in recording.saturations]] = np.nan
    return mechanics, qd, qdd, recording.moves[rows], signs, measured, recording.times[rows]


def _by_zero(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray,
             turned: np.ndarray) -> np.ndarray:
    """Return the columns of the zero of one position, shape (n, nv, OF_ZEROS)."""
    def efforts(zero: float) -> np.ndarray:  # what a spring makes of it is an offset
        return robot.inverse_dynamics(q + zero * turned, qd, qdd) - robot.spring(q + zero * turned)

    angles = (2.0 * np.pi / 5.0 * np.arange(1, 5)).tolist()  # as many as there are columns
    changes = np.stack([efforts(angle) - efforts(0.0) for angle in angles], axis=-1)
    return changes @ inv(np.array(list(map(sines_of_turn, angles)))).T


@dataclass(frozen=True, eq=False)
class ReducedEquations:
    """
    The equations of one coordinate, weighted to give their noise unit variance.

    Their columns are those of the coordinate's own that it can show, those of the mechanics, and
    what was measured.

    :ivar bodies: how many the robot has.
    :ivar moves: whether the coordinate moves for long enough to show its friction.
    :ivar own: which of :data:`OWN` are in the equations, by index.
    :ivar triangle: shape (rows, columns), with as many rows as the columns have independent
        equations; the first ones belong to the coordinate's own.
    :ivar noise: standard deviation of a sample [Nm or N].
    :ivar correlation: how many samples count as one independent sample.
    :ivar samples: how many equations were reduced.
    :ivar rank: of those columns that a model can have.
    :ivar freedom: degrees of freedom of the noise.
    :ivar slow: RMS of what no model explains and is no noise of a sensor [Nm or N].
    :ivar left: what all columns together leave of each sample, 0 where it was not reduced, shape
        (n,) [Nm or N].
    """

    bodies: int
    moves: bool
    own: tuple[int, ...]
    triangle: np.ndarray
    noise: float
    correlation: float
    samples: int
    rank: int
    freedom: float
    slow: float
    left: np.ndarray

    @property
    def mechanics(self) -> np.ndarray:
        """Return the equations in which what is the coordinate's own is eliminated."""
        return self.triangle[len(self.own):, len(self.own):]

    @property
    def own_columns(self) -> np.ndarray:
        """Return the coordinate's own columns, shape (rows, own)."""
        return self.triangle[:, :len(self.own)]

    @property
    def deviation(self) -> float:
        """Return the weight that was divided by [Nm or N]."""
        return self.noise * sqrt(self.correlation)

    @property
    def model_rms(self) -> float:
        """Return the RMS of the model's effort, less what friction could be of it [Nm or N]."""
        return self.rms_of(self.triangle[sum(k < ROTOR for k in self.own):, MODEL])

    @property
    def measured_rms(self) -> float:
        """Return the RMS of the measured effort, less an offset [Nm or N]."""
        offset = self.own_columns[:, [k == OFFSET for k in self.own]]
        return self.rms_of(without(self.triangle[:, [-1]], offset)[:, 0])

    def rms_of(self, weighted: np.ndarray) -> float:
        """Return the RMS of a combination of the columns, which are weighted [Nm or N]."""
        return float(np.sqrt(weighted @ weighted / self.samples) * self.deviation)

    def rms(self, coefficients: np.ndarray) -> float:
        """Return the RMS of the difference that is left, own columns eliminated [Nm or N]."""
        return self.rms_of(self.mechanics @ coefficients)

    def _lack_of_fit(self, coefficients: np.ndarray) -> tuple[float, int]:
        """
        Return the squares that coefficients leave beyond the noise, and by how many columns.

        All columns together leave the noise.  Coefficients that are true leave as many squares
        more as there are columns, on average; those of a model without some cause leave more.
        """
        left = self.mechanics @ coefficients
        noise = (self.samples - self.rank) / self.correlation
        return float(left @ left - noise), max(self.rank - len(self.own), 1)

    def misfit(self, coefficients: np.ndarray) -> float:
        """
        Return the RMS of what is left and all columns together could explain [Nm or N].

        What they explain of the noise is not counted.
        """
        squares, columns = self._lack_of_fit(coefficients)
        chance = columns + SURE * sqrt(2.0 * columns)  # of a sum of squares of normal numbers
        return sqrt(max(squares - chance, 0.0) / self.samples) * self.deviation

    def with_noise_of(self, coefficients: np.ndarray) -> ReducedEquations:
        """Return equations in whose noise, in the columns' band, is what coefficients leave."""
        squares, columns = self._lack_of_fit(coefficients)
        factor = max(squares / columns, 1.0)
        return replace(
            self, triangle=self.triangle / sqrt(factor), correlation=self.correlation * factor)

    def errors_beside_mechanics(self, kept: list[int]) -> np.ndarray:
        """Return standard errors of own columns if all inertias and gravity are unknown, too."""
        own, first = self.own_columns, len(self.own)
        beside = without(own, self.triangle[:, [
            *range(first, first + 10 * self.bodies), *range(MODEL - 3, MODEL)]])
        is_told = np.linalg.norm(beside, axis=0) > DEPENDENT * np.linalg.norm(own, axis=0)
        half, is_held = identified((beside * is_told)[:, kept])
        return np.where(is_held, np.linalg.norm(half, axis=1), inf)


def reduce_equations(columns: Columns, j: int) -> ReducedEquations | float:
    """
    Reduce the equations of one coordinate.

    Of a coordinate that moves, only those samples count in which it does: at rest, friction takes
    any value up to that of the start.

    :return: where there are too few samples for so many columns, or nothing would be left of the
        noise at the columns' frequencies: about how many times as long the recordings have to be.
    """
    known = np.isfinite(columns.measured[:, j])
    moving = known & columns.moves[:, j]
    bodies = columns.levers.shape[1]
    least = SAMPLES_A_COLUMN * (10 * bodies + len(OWN) + 3)
    is_moving = bool(np.count_nonzero(moving) >= least)
    rows = moving if is_moving else known
    samples = int(np.count_nonzero(rows))
    if samples < least:
        return least / samples if samples else inf
    own, effort = _independent(columns.own[rows, j]), columns.measured[rows, j]
    triangle = _triangle(np.column_stack([
        columns.own[rows, j][:, own], columns.mechanics[rows, j], effort]))
    linear = [*range(len(own) + 10 * bodies), *range(-5, -1)]
    best, rank = least_squares(triangle[:, linear], triangle[:, -1], 1e-12)
    left = np.zeros(len(rows))
    left[rows] = effort - columns.linear(rows, j, own) @ best
    noise = float(np.sqrt(left @ left / (samples - rank)))
    time, freedom, highest = correlation_of(
        [left[piece] for piece in columns.pieces], samples, rank)
    finest = RESOLUTION * float(np.sqrt(effort @ effort / samples))
    if noise < finest:
        noise, time, freedom = finest, 1.0, samples - rank
    elif highest > columns.highest:
        return highest / columns.highest
    if not noise:
        return inf
    mechanics, order = qr(triangle[len(own):, len(own):], mode='r', pivoting=True)
    sizes = np.abs(np.diag(mechanics))
    independent = np.count_nonzero(sizes > ROUNDING * sizes[0])
    triangle = triangle[:len(own) + independent]
    triangle[len(own):, len(own) + order] = mechanics[:independent]
    slow = averages(columns, left, SLOW)[0][rows]
    return ReducedEquations(
        bodies, is_moving, own, triangle / (noise * time ** 0.5), noise, time, samples, rank,
        freedom, float(np.sqrt(slow @ slow / samples)), left)


def unweighted_equations(columns: Columns, j: int) -> np.ndarray | None:
    """
    Return the equations of one coordinate of which there are too few samples to tell the noise.

    They have the columns of :attr:`ReducedEquations.mechanics`: their sum of squares is the mean
    one of a sample [Nm² or N²].

    :return: None where no effort was measured, or friction alone could be all of it.
    """
    known = np.isfinite(columns.measured[:, j])
    rows = known & columns.moves[:, j] if (known & columns.moves[:, j]).any() else known
    own = _independent(columns.own[rows, j]) if rows.any() else ()
    if rows.sum() <= 2 * len(own) or not columns.measured[rows, j].any():
        return None
    triangle = _triangle(np.column_stack([
        columns.own[rows, j][:, own], columns.mechanics[rows, j], columns.measured[rows, j]]))
    return triangle[len(own):, len(own):] / sqrt(rows.sum())


def _triangle(equations: np.ndarray) -> np.ndarray:
    """Return as many equations as there are columns, which have the same sums of squares."""
    reduced: np.ndarray = qr(equations, mode='r', check_finite=False)[0]
    return reduced[:equations.shape[1]]


def averages(columns: Columns, values: np.ndarray, time: float) -> tuple[
        np.ndarray, np.ndarray]:
    """
    Return the averages of samples over a time, and of how many samples each is.

    Both have shape (n,); an average is of samples of one piece.

    :param time: over which it is taken [s].
    """
    averaged, widths = np.zeros(len(values)), np.ones(len(values), dtype=int)
    for piece in columns.pieces:
        steps = np.diff(columns.times[piece])
        if len(steps) and np.median(steps) > 0.0:
            widths[piece] = max(round(time / float(np.median(steps))), 1)
        averaged[piece] = uniform_filter1d(values[piece], widths[piece][0])
    return averaged, widths


def _independent(columns: np.ndarray) -> tuple[int, ...]:
    """Return the columns that differ from a combination of those before them."""
    rest = np.abs(np.diag(_triangle(columns)))
    lengths = np.linalg.norm(columns, axis=0)
    return tuple(np.flatnonzero((rest > DEPENDENT * lengths) & (rest > 0.0)).tolist())


def without(columns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return columns less what a combination of others makes of them."""
    if not others.shape[1]:
        return columns
    scaled = others / scale_of(others)
    return columns - scaled @ least_squares(scaled, columns, DEPENDENT)[0]


def scale_of(columns: np.ndarray) -> np.ndarray:
    """Return the lengths of columns, infinite for those that are nothing but rounding."""
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > ROUNDING * lengths.max(initial=0.0), lengths, np.inf)


def least_squares(columns: np.ndarray, values: np.ndarray, cond: float) -> tuple[np.ndarray, int]:
    """
    Return the smallest of the best coefficients, and the rank of the columns.

    They come from a QR factorization: the singular values, which are usual, may not converge.

    :param cond: what is this much smaller than the largest column tells nothing.
    """
    found, _, rank, _ = lstsq(columns, values, cond=cond, lapack_driver='gelsy')
    return found, int(rank)


def identified(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return what equations of unit noise tell about the coefficients of their columns.

    :return: half of the covariance, shape (columns, rank): it times its transpose is the
        covariance; and which coefficients are identifiable, shape (columns,).
    """
    if not columns.shape[1]:
        return np.zeros((0, 0)), np.zeros(0, dtype=bool)
    scale = scale_of(columns)
    scaled = columns / scale
    squares, directions = eigh(scaled.T @ scaled)
    is_held = squares > DEPENDENT ** 2 * squares[-1]
    loose = np.square(directions[:, ~is_held]).sum(axis=1)
    half = directions[:, is_held] / np.sqrt(squares[is_held]) / scale[:, np.newaxis]
    return half, loose < DEPENDENT
