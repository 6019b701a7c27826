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
By how much all efforts are recorded later than the state that they belong to.

The delay is the one at which the efforts fit best what *any* masses of the robot could need along
the recorded motion: of the model, only kinematics is used (the columns of the regressor), so wrong
masses in the description, an unknown payload or unknown friction do not show as a delay.
Cross-correlation with the modelled effort would need masses that are right; and with a velocity it
would take gravity, which follows positions, for a delay.

Friction is late by itself: where a joint turns back, its teeth and bearings bend before they
slide, and the friction follows the way since then, not the sign of the velocity.  A delay explains
that, too, though gravity and inertia then fit worse.  So it has a rival without any delay:
friction that is late in each joint, as a sum of elements that slide after a given way each (G.
Ferretti et al., Single and multistate integral friction models, IEEE Trans. Automatic Control
49(12), 2004).  A delay is taken where the arm as a whole fits better with it than with its rival,
or better with both than with the rival alone, and not only for the sake of one joint.  Coulomb
friction that is late is then a column of its own in all that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from ros2_rnea.dynamics.friction import presliding
from ros2_rnea.offline.identification.correlation import correlation_of
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.smoothing import low_passed
from ros2_rnea.robots.robot import Robot
from scipy.interpolate import CubicSpline
from scipy.linalg import qr
from scipy.optimize import minimize_scalar, nnls

ROWS = 2000
"""Number of instants that are enough, evenly over the recording."""

ROWS_A_COLUMN = 3
"""Minimum number of instants for each column with which a delay is estimated."""

SIGNIFICANT = 10.0
"""The logarithm of the likelihood has to be larger by this with a delay than without."""

PRESLIDING_DISTANCES = 1e-4 * 2.0**np.arange(9)
"""Distances after which friction slides, as shares of the range in which a joint moves."""

LATE = len(PRESLIDING_DISTANCES)
"""The number of columns of friction that is late."""

_RANK = 1e-9  # of the largest pivot, below which a column says nothing new
_RESOLUTION = 1e-3  # share of an effort's RMS below which no residual says anything


class Delay(NamedTuple):
    """
    An estimated delay.

    :ivar seconds: by which the efforts are late; 0 where no delay was found.
    :ivar gain: by how much the logarithm of the likelihood is larger than without a delay.
    :ivar reason: why ``seconds`` is 0, if it is.
    :ivar friction: by coordinate, the column of Coulomb friction that fits better than that of
        the model, shape (n,).
    :ivar late: the coordinates whose friction is late, mostly.
    """

    seconds: float
    gain: float = 0.0
    reason: str = ''
    friction: Mapping[int, np.ndarray] = MappingProxyType({})
    late: frozenset[int] = frozenset()


def effort_delay(
        robot: Robot, recording: PreparedRecording, coordinates: dict[str, int], period: float,
        largest: float) -> Delay:
    """
    Estimate the delay of efforts.

    :param recording: with filtered efforts, at one period in each piece.
    :param coordinates: by joint, those whose efforts were measured.
    :param period: of the samples [s].
    :param largest: magnitude that is searched [s].
    """
    margin = int(np.ceil(largest / period)) + 1
    least = ROWS_A_COLUMN * (10 * len(robot.tree.bodies) + LATE + 4)
    rows, pieces = _rows(recording.pieces, margin, max(ROWS, least))
    if len(rows) < least:
        return Delay(0.0, reason=f'no piece is long enough to search within ±{largest:g} s')
    moving = [k for k in coordinates.values() if recording.moves[rows, k].mean() > 0.1]
    if not moving:
        return Delay(0.0, reason='no joint whose effort was recorded moves')
    efforts = _shifted(recording, pieces, moving)
    ends = np.cumsum([len(chosen) for chosen in pieces])[:-1].tolist()
    others, *friction = zip(*_bases(robot, recording, rows, moving))
    plain, late = (_Search(bases, efforts, largest, period, ends) for bases in friction)
    # the rival's parameters count, by the Bayesian information criterion
    penalty = 0.5 * np.log(plain.independent) * [
        more.shape[1] - less.shape[1] for more, less in zip(late.bases, plain.bases)]
    rival = late.likelihood(0.0, plain.independent) - penalty
    gains = plain.likelihood(plain.best, plain.independent) - np.maximum(
        rival, plain.likelihood(0.0, plain.independent))
    found = plain.found(gains)
    if found.reason:
        found = late.found(late.likelihood(late.best, late.independent)
                           - late.likelihood(0.0, late.independent))
    lags = late.likelihood(found.seconds, plain.independent) - penalty - plain.likelihood(
        found.seconds, plain.independent) > SIGNIFICANT
    measured = efforts(found.seconds)
    columns, lagging = {}, set()
    for place, k in enumerate(moving):
        if not lags[place]:
            continue
        shares = _shares(_friction(recording, k)[rows], others[place], measured[:, place])
        if shares.any():
            columns[k] = _friction(recording, k) @ shares
            if shares[-LATE:].sum() > 0.5:
                lagging.add(k)
    return found._replace(friction=columns, late=frozenset(lagging))


class _Search:
    """
    The search for the delay at which efforts fit best.

    :ivar bases: orthonormal columns that span what the effort of each joint could be.
    :ivar independent: how many independent samples each joint has, shape (joints,).
    :ivar best: the delay of all joints together [s].
    """

    def __init__(
            self, bases: Sequence[np.ndarray], shifted: Callable[[float], np.ndarray],
            largest: float, period: float, ends: Sequence[int]) -> None:
        self.bases = bases
        self._shifted = shifted
        count = max(3, 2 * int(np.ceil(largest / min(period, largest / 20.0))) + 1)
        grid = np.linspace(-largest, largest, count)
        self._step, self._largest = float(grid[1] - grid[0]), largest
        costs = np.array([self._costs(delay) for delay in grid])
        self.independent = self._independent_samples(grid[np.argmin(costs, axis=0)], ends)
        at = float(grid[np.argmin(costs @ self.independent)])
        self.best = float(minimize_scalar(
            lambda delay: self._costs(delay) @ self.independent,
            bounds=(at - self._step, at + self._step), method='bounded',
            options={'xatol': 1e-3 * self._step}).x)

    def _costs(self, delay: float) -> np.ndarray:
        """Return the logarithms of the powers of the residuals, shape (joints,)."""
        return np.array([_log_power(_residual(basis, effort), effort)
                         for basis, effort in zip(self.bases, self._shifted(delay).T)])

    def likelihood(self, delay: float, independent: np.ndarray) -> np.ndarray:
        """Return the logarithm of the likelihood of each joint."""
        return -0.5 * independent * self._costs(delay)

    def _independent_samples(self, delays: np.ndarray, ends: Sequence[int]) -> np.ndarray:
        """Return how many independent samples each joint has at its best delay."""
        result = []
        for k, (basis, delay) in enumerate(zip(self.bases, delays)):
            residual = _residual(basis, self._shifted(delay)[:, k])
            fitted = basis.shape[1]
            time = correlation_of(np.split(residual, ends), len(residual), fitted).time
            result.append(max((len(residual) - fitted) / time, 1.0))
        return np.array(result)

    def found(self, gains: np.ndarray) -> Delay:
        """
        Return what is taken.

        :param gains: by how much the logarithm of the likelihood of each joint is larger with the
            best delay than without.
        """
        gain, best = float(gains.sum()), f'{1e3 * self.best:.2f} ms'
        others = gain - max(float(gains.max()), 0.0) if len(gains) > 1 else gain
        if gain < SIGNIFICANT:
            reason = f'{best} fit no better than none, or than friction that is late'
        elif others < SIGNIFICANT:
            reason = f'{best} fit better than none at one joint only'
        elif abs(self.best) > self._largest - self._step:
            reason = f'the best fit is beyond ±{self._largest:g} s'
        else:
            reason = ''
        return Delay(0.0 if reason else self.best, gain, reason)


def _rows(
        pieces: Sequence[slice], margin: int, enough: int,
        ) -> tuple[np.ndarray, list[np.ndarray]]:
    """
    Return rows whose neighbours within the margin are in the same piece, and those by piece.

    :param enough: of more rows, every second, third ... is taken, but no fewer than this.
    """
    inner = [np.arange(piece.start + margin, piece.stop - margin) for piece in pieces]
    total = sum(map(len, inner))
    every = max(1, total // enough)
    inner = [rows[::every] for rows in inner]
    return np.concatenate([np.empty(0, dtype=int), *inner]), inner


def _bases(
        robot: Robot, recording: PreparedRecording, rows: np.ndarray, coordinates: Sequence[int],
        ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """
    Yield for each coordinate orthonormal columns that span what its effort could be.

    :return: without Coulomb friction, with it, and where it may be late.
    """
    q, qd, qdd = recording.q[rows], recording.qd[rows], recording.qdd[rows]
    regressor = robot.regressor(q, qd, qdd)
    for k in coordinates:
        friction = _friction(recording, k)[rows]
        columns = np.column_stack([
            regressor[:, k], qdd[:, k], qd[:, k], np.ones(len(rows)), friction])
        yield _span(columns[:, :-LATE - 2]), _span(columns[:, :-LATE]), _span(columns)


def _span(columns: np.ndarray) -> np.ndarray:
    size = np.sqrt((columns**2).sum(axis=0))
    columns = columns[:, size > 0.0] / size[size > 0.0]
    q_factor, r_factor, _ = qr(columns, mode='economic', pivoting=True)
    pivots = np.abs(np.diagonal(r_factor))
    return q_factor[:, pivots > _RANK * pivots[0]]


def _friction(recording: PreparedRecording, k: int) -> np.ndarray:
    """
    Return columns of Coulomb friction through the filter: two without a lag, and LATE with one.

    Of the two, the one is rounded off at low speed, as in the model.
    """
    result = np.empty((len(recording.times), 2 + LATE))  # long, and the only such array
    result[:, 0] = recording.signs[:, k]
    for piece in recording.pieces:
        rate, columns = recording.qd[piece, k], result[piece]
        steps = 0.5 * (rate[:-1] + rate[1:]) * recording.period
        distances = PRESLIDING_DISTANCES * max(float(np.ptp(np.cumsum(steps))), 1e-9)
        columns[:, 1] = np.sign(rate)
        ends = [0, *(np.flatnonzero(np.diff(columns[:, 1])) + 1), len(rate)]
        held = np.zeros(LATE)
        for begin, end in zip(ends, ends[1:]):  # between two turns of its direction
            sign, since = columns[begin, 1], 0.0
            if begin:  # since the turn, which is between two samples
                since = 0.5 * recording.period * rate[begin]**2 / (rate[begin] - rate[begin - 1])
            way = np.abs(since + np.cumsum([0.0, *steps[begin:end - 1]]))[:, None]
            columns[begin:end, 2:] = presliding(sign, held, way / distances)
            held = columns[end - 1, 2:].copy()
        for column in columns.T[1:]:
            column[:] = low_passed(column, recording.period, recording.cutoff)
    return result


def _shares(columns: np.ndarray, others: np.ndarray, effort: np.ndarray) -> np.ndarray:
    """
    Return of which columns Coulomb friction is a mixture that fits best; 0 where of none.

    :param others: what the effort may be beside friction.
    """
    shares, _ = nnls(_residual(others, columns), _residual(others, effort))
    return shares / (shares.sum() or 1.0)


def _shifted(
        recording: PreparedRecording, pieces: Sequence[np.ndarray], coordinates: Sequence[int],
        ) -> Callable[[float], np.ndarray]:
    """
    Return a function that gives the efforts a while after some rows, shape (rows, coordinates).

    :param pieces: these rows, by piece.
    """
    splines = [CubicSpline(recording.times[piece], recording.tau[piece][:, coordinates])
               for piece, chosen in zip(recording.pieces, pieces) if len(chosen)]
    chosen = [recording.times[chosen] for chosen in pieces if len(chosen)]

    def at(delay: float) -> np.ndarray:
        return np.concatenate([spline(times + delay) for spline, times in zip(splines, chosen)])
    return at


def _residual(basis: np.ndarray, effort: np.ndarray) -> np.ndarray:
    """Return what no column explains of an effort."""
    return effort - basis @ (basis.T @ effort)


def _log_power(residual: np.ndarray, effort: np.ndarray) -> float:
    """Return the logarithm of the power of a residual, with that of the resolution."""
    power = float(effort @ effort)
    return float(np.log(float(residual @ residual) + max(_RESOLUTION**2 * power, 1e-300)))
