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
49(12), 2004).  At each delay, the effort of a joint is explained with such friction where that is
more likely, by the Bayesian information criterion, and without it elsewhere.  A delay is taken
where the arm as a whole is more likely with it than without one, and not only for the sake of one
joint.  Coulomb friction that is late is then a column of its own in all that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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

LARGEST_DELAY = 0.06
"""Up to which a delay is searched, late and early [s]."""

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
    :ivar reason: why ``seconds`` is 0, if it is.
    :ivar friction: by coordinate, the column of Coulomb friction that fits better than that of
        the model, shape (n,).
    :ivar late: the coordinates whose friction is late, mostly.
    """

    seconds: float
    reason: str = ''
    friction: Mapping[int, np.ndarray] = MappingProxyType({})
    late: frozenset[int] = frozenset()


def effort_delay(
        robot: Robot, recording: PreparedRecording, coordinates: Collection[int]) -> Delay:
    """
    Estimate the delay of efforts.

    :param recording: with filtered efforts, at one period in each piece.
    :param coordinates: those whose efforts were measured.
    """
    step = min(recording.period, LARGEST_DELAY / 20.0)
    margin = int(np.ceil(LARGEST_DELAY / recording.period)) + 1
    least = ROWS_A_COLUMN * (10 * len(robot.tree.bodies) + LATE + 4)
    inner = [np.arange(piece.start + margin, piece.stop - margin) for piece in recording.pieces]
    every = max(1, sum(map(len, inner)) // max(ROWS, least))
    pieces = [rows[::every] for rows in inner]
    rows = np.concatenate(pieces)
    if len(rows) < least:
        return Delay(0.0, f'no piece is long enough to search within ±{LARGEST_DELAY:g} s')
    moving = [k for k in coordinates if recording.moves[rows, k].mean() > 0.1]
    if not moving:
        return Delay(0.0, 'no joint whose effort was recorded moves')
    efforts = _shifted(recording, pieces, moving)
    others, *models = zip(*_bases(robot, recording, rows, moving))
    grid = np.linspace(-LARGEST_DELAY, LARGEST_DELAY, 2 * int(np.ceil(LARGEST_DELAY / step)) + 1)
    costs = [[_costs(spans, efforts(delay)) for spans in models] for delay in grid]
    half, ends = np.empty(len(moving)), np.cumsum([*map(len, pieces)])[:-1].tolist()
    best_of_each = grid[np.argmin([plain for plain, _ in costs], axis=0)]
    for k, (span, delay) in enumerate(zip(models[0], best_of_each)):
        residual, fitted = _residual(span, efforts(delay)[:, k]), span.shape[1]
        time = correlation_of(np.split(residual, ends), len(residual), fitted).time
        half[k] = 0.5 * max((len(residual) - fitted) / time, 1.0)
    # more parameters count, by the Bayesian information criterion
    more = [late.shape[1] - plain.shape[1] for plain, late in zip(*models)]
    penalties = np.stack([np.zeros(len(moving)), 0.5 * np.log(2.0 * half) * more])

    def likelihoods(delay: float) -> np.ndarray:
        """Return the logarithms, shape (models, joints)."""
        return -half * [_costs(spans, efforts(delay)) for spans in models] - penalties

    scores = (-half * costs - penalties).max(axis=1).sum(axis=1)
    near, step = float(grid[np.argmax(scores)]), float(grid[1] - grid[0])
    best = float(minimize_scalar(
        lambda delay: -likelihoods(delay).max(axis=0).sum(), bounds=(near - step, near + step),
        method='bounded', options={'xatol': 1e-3 * step}).x)
    gains = likelihoods(best).max(axis=0) - likelihoods(0.0).max(axis=0)
    reason, text = '', f'{1e3 * best:.2f} ms'
    if gains.sum() < SIGNIFICANT:
        reason = f'{text} fit no better than none, or than friction that is late'
    elif len(gains) > 1 and gains.sum() - gains.max() < SIGNIFICANT:
        reason = f'{text} fit better than none at one joint only'
    elif not grid[1] <= best <= grid[-2]:
        reason = f'the best fit is beyond ±{LARGEST_DELAY:g} s'
    found = 0.0 if reason else best
    plain, late = likelihoods(found)
    columns, lagging = {}, set()
    for place in np.flatnonzero(late - plain > SIGNIFICANT).tolist():
        k, friction = moving[place], _friction(recording, moving[place])
        shares, _ = nnls(_residual(others[place], friction[rows]),
                         _residual(others[place], efforts(found)[:, place]))
        if shares.any():
            columns[k] = friction @ (shares / shares.sum())
            if shares[-LATE:].sum() > 0.5 * shares.sum():
                lagging.add(k)
    return Delay(found, reason, columns, frozenset(lagging))


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
        columns = np.column_stack([
            regressor[:, k], qdd[:, k], qd[:, k], np.ones(len(rows)),
            _friction(recording, k)[rows]])
        yield _span(columns[:, :-LATE - 2]), _span(columns[:, :-LATE]), _span(columns)


def _span(columns: np.ndarray) -> np.ndarray:
    columns = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
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

    return lambda delay: np.concatenate([
        spline(times + delay) for spline, times in zip(splines, chosen)])


def _residual(basis: np.ndarray, effort: np.ndarray) -> np.ndarray:
    """Return what no column explains of an effort."""
    return effort - basis @ (basis.T @ effort)


def _costs(spans: Sequence[np.ndarray], efforts: np.ndarray) -> np.ndarray:
    """Return the logarithms of the powers of what no column explains, shape (joints,)."""
    costs = []
    for span, effort in zip(spans, efforts.T):
        residual = _residual(span, effort)
        resolved = max(_RESOLUTION**2 * float(effort @ effort), 1e-300)
        costs.append(np.log(float(residual @ residual) + resolved))
    return np.array(costs)
