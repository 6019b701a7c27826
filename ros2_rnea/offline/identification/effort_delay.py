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
By how much efforts are recorded later than the state that they belong to.

The delay is the one at which the efforts fit best what *any* masses of the robot could need along
the recorded motion: of the model, only kinematics is used (the columns of the regressor), so wrong
masses in the description, an unknown payload or unknown friction do not show as a delay.
Cross-correlation with the modelled effort would need masses that are right; and with a velocity it
would take gravity, which follows positions, for a delay.

Drives and sensors differ, so each joint may have a delay of its own.  It is used where the effort
of this joint fits significantly better with it than with the common delay, which is that of the
joints that have none of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from ros2_rnea.dynamics.friction import smooth_sign
from ros2_rnea.offline.identification.correlation import correlation_of
from ros2_rnea.offline.identification.recording import JointDelay, PreparedRecording
from ros2_rnea.offline.identification.smoothing import low_passed
from ros2_rnea.robots.robot import Robot
from scipy.interpolate import CubicSpline
from scipy.linalg import qr
from scipy.optimize import minimize_scalar

ROWS = 2000
"""Number of instants that are enough, evenly over the recording."""

ROWS_A_COLUMN = 3
"""Minimum number of instants for each column with which a delay is estimated."""

SIGNIFICANT = 10.0
"""
The logarithm of the likelihood has to be larger by this with a delay than without, and with that
of one joint than with that of all.
"""

COMMON, BY_JOINT = 'common', 'joint'
WAYS = (COMMON, BY_JOINT)
"""Ways to remove delays: one from the efforts of all joints, or one of its own from each."""

MAX_ROUNDS = 10
"""Maximum number of estimates of the common delay without the joints that have their own."""

_RANK = 1e-9  # of the largest pivot, below which a column says nothing new
_ROUNDING = 1e-12  # share of an effort's power that no residual is below


class Delay(NamedTuple):
    """
    An estimated delay.

    :ivar seconds: by which the efforts of the joints without a delay of their own are late; 0
        where none was found.
    :ivar by_joint: the delay of each joint that moves.
    :ivar gain: by how much the logarithm of the likelihood is larger than without a delay.
    :ivar reason: why ``seconds`` is 0, if it is.
    """

    seconds: float
    by_joint: dict[str, JointDelay] = {}
    gain: float = 0.0
    reason: str = ''


def effort_delay(
        robot: Robot, recording: PreparedRecording, coordinates: dict[str, int], period: float,
        largest: float, way: str = BY_JOINT) -> Delay:
    """
    Estimate the delay of efforts.

    :param recording: with filtered efforts, at one period in each piece.
    :param coordinates: by joint, those whose efforts were measured.
    :param period: of the samples [s].
    :param largest: magnitude that is searched [s].
    :param way: one of :data:`WAYS`.
    """
    margin = int(np.ceil(largest / period)) + 1
    least = ROWS_A_COLUMN * (10 * len(robot.tree.bodies) + 4)
    rows, pieces = _rows(recording.pieces, margin, max(ROWS, least))
    if len(rows) < least:
        return Delay(0.0, reason=f'no piece is long enough to search within ±{largest:g} s')
    moving = {joint: k for joint, k in coordinates.items()
              if recording.moves[rows, k].mean() > 0.1}
    if not moving:
        return Delay(0.0, reason='no joint whose effort was recorded moves')
    search = _Search(
        _bases(robot, recording, rows, list(moving.values())),
        _shifted(recording, pieces, list(moving.values())), largest, period,
        [len(chosen) for chosen in pieces if len(chosen)])
    alone = [search.lowest(search.costs[:, k], [k]) for k in range(len(moving))]
    search.take_noise(alone)
    common = search.common(range(len(moving)))
    others = set[int](range(len(moving)))
    for _ in range(MAX_ROUNDS if way == BY_JOINT else 0):
        before, others = others, {
            k for k, own in enumerate(alone) if search.is_at_end(own)
            or search.gain(own, common.seconds, [k]) <= SIGNIFICANT}
        if not others or others == before:
            break
        common = search.common(sorted(others))
    return common._replace(by_joint={
        joint: JointDelay(own, search.standard_error(k, own),
                          common.seconds if k in others else own)
        for k, (joint, own) in enumerate(zip(moving, alone))})


class _Search:
    """
    The search for delays at which efforts fit best.

    :ivar costs: logarithms of the powers of the residuals, shape (delays, joints), over a grid of
        delays.
    :ivar independent: how many independent samples each joint has, shape (joints,).
    """

    def __init__(
            self, bases: Sequence[np.ndarray], shifted: Callable[[float], np.ndarray],
            largest: float, period: float, pieces: Sequence[int]) -> None:
        self._bases = bases
        self._shifted = shifted
        self._ends = np.cumsum(pieces)[:-1].tolist()
        count = max(3, 2 * int(np.ceil(largest / min(period, largest / 20.0))) + 1)
        self._grid = np.linspace(-largest, largest, count)
        self._step = float(self._grid[1] - self._grid[0])
        self.independent = np.ones(len(bases))
        self.costs = np.array([
            [_log_power(_residual(basis, effort), effort)
             for basis, effort in zip(bases, efforts.T)]
            for efforts in map(shifted, self._grid)])

    def cost(self, delay: float, joints: Sequence[int]) -> float:
        """Return the sum of the logarithms of the powers of joints, by independent samples."""
        efforts = self._shifted(delay)
        return float(sum(
            self.independent[k] * _log_power(_residual(self._bases[k], efforts[:, k]),
                                             efforts[:, k]) for k in joints))

    def lowest(self, costs: np.ndarray, joints: Sequence[int]) -> float:
        """Return the delay with the lowest cost, near the lowest on the grid."""
        at = float(self._grid[np.argmin(costs)])
        found = minimize_scalar(
            lambda delay: self.cost(delay, joints), bounds=(at - self._step, at + self._step),
            method='bounded', options={'xatol': 1e-3 * self._step})
        return float(found.x)

    def take_noise(self, delays: Sequence[float]) -> None:
        """Take the number of independent samples from the residuals at these delays."""
        for k, delay in enumerate(delays):
            residual = _residual(self._bases[k], self._shifted(delay)[:, k])
            fitted = self._bases[k].shape[1]
            time = correlation_of(np.split(residual, self._ends), len(residual), fitted).time
            self.independent[k] = max((len(residual) - fitted) / time, 1.0)

    def common(self, joints: Sequence[int]) -> Delay:
        """Return the delay of joints together."""
        best = self.lowest(self.costs[:, joints] @ self.independent[joints], joints)
        gain = self.gain(best, 0.0, joints)
        if self.is_at_end(best):
            reason = f'the best fit is beyond ±{self._grid[-1]:g} s'
        elif gain < SIGNIFICANT:
            reason = f'{1e3 * best:.2f} ms fit no better than none'
        else:
            reason = ''
        return Delay(0.0 if reason else best, {}, gain, reason)

    def gain(self, delay: float, other: float, joints: Sequence[int]) -> float:
        """Return by how much the logarithm of the likelihood is larger than with another delay."""
        return 0.5 * (self.cost(other, joints) - self.cost(delay, joints))

    def standard_error(self, joint: int, delay: float) -> float:
        """Return that of the delay of one joint, by the curvature of the likelihood [s]."""
        step = 0.1 * self._step
        curvature = (self.cost(delay - step, [joint]) - 2.0 * self.cost(delay, [joint])
                     + self.cost(delay + step, [joint])) / step**2
        return float((2.0 / curvature)**0.5) if curvature > 0.0 else inf

    def is_at_end(self, delay: float) -> bool:
        """Return whether the best delay may be beyond what is searched."""
        return abs(delay) > self._grid[-1] - self._step


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
        ) -> list[np.ndarray]:
    """Return for each coordinate orthonormal columns that span what its effort could be."""
    q, qd, qdd = recording.q[rows], recording.qd[rows], recording.qdd[rows]
    # The filter of the efforts rounds the steps of Coulomb friction off, so it does here too.
    signs = smooth_sign(recording.qd)
    signs = np.concatenate([
        low_passed(signs[piece], recording.period, recording.cutoff)
        for piece in recording.pieces])[rows]
    regressor = robot.regressor(q, qd, qdd)
    bases = []
    for k in coordinates:
        columns = np.column_stack([
            regressor[:, k], qdd[:, k], qd[:, k], signs[:, k], np.ones(len(rows))])
        size = np.sqrt((columns**2).sum(axis=0))
        columns = columns[:, size > 0.0] / size[size > 0.0]
        q_factor, r_factor, _ = qr(columns, mode='economic', pivoting=True)
        pivots = np.abs(np.diagonal(r_factor))
        bases.append(q_factor[:, pivots > _RANK * pivots[0]])
    return bases


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
    """Return the logarithm of the power of a residual, which rounding bounds from below."""
    power = float(effort @ effort)
    return float(np.log(max(float(residual @ residual), _ROUNDING * power, 1e-300)))
