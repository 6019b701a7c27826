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
the recorded motion: of the model, only kinematics is used (the columns of the regressor), so that
wrong masses in the description, an unknown payload or unknown friction do not show as a delay.
Cross-correlation with the modelled effort would need masses that are right; and with a velocity it
would take gravity, which follows positions, for a delay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from ros2_rnea.dynamics.friction import smooth_sign
from ros2_rnea.identification.recording import PreparedRecording
from ros2_rnea.identification.smoothing import low_passed
from ros2_rnea.robot import Robot
from scipy.interpolate import CubicSpline
from scipy.linalg import qr
from scipy.optimize import minimize_scalar

ROWS = 2000
"""So many instants are enough, evenly over the recording."""

SIGNIFICANT = 10.0
"""The logarithm of the likelihood has to be larger by this than without a delay."""

_RANK = 1e-9  # of the largest pivot, below which a column says nothing new
_ROUNDING = 1e-12  # share of an effort's power that no residual is below


class Delay(NamedTuple):
    """
    An estimated delay.

    :ivar seconds: by which efforts are late; 0 where none was found.
    :ivar by_joint: by which the effort of each joint alone is late [s].
    :ivar gain: by how much the logarithm of the likelihood is larger than without a delay.
    :ivar reason: why ``seconds`` is 0, if it is.
    """

    seconds: float
    by_joint: dict[str, float] = {}
    gain: float = 0.0
    reason: str = ''


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
    rows, pieces = _rows(recording.pieces, margin)
    columns = 10 * len(robot.tree.bodies) + 4
    if len(rows) < 3 * columns:
        return Delay(0.0, reason=f'no piece is long enough to search within ±{largest:g} s')
    moving = {joint: k for joint, k in coordinates.items()
              if recording.moves[rows, k].mean() > 0.1}
    if not moving:
        return Delay(0.0, reason='no joint whose effort was recorded moves')
    bases = _bases(robot, recording, rows, list(moving.values()), period)
    shifted = _shifted(recording, rows, pieces, list(moving.values()))

    def cost(delay: float, which: Sequence[int]) -> float:
        """Return the sum of the logarithms of the residuals' powers."""
        efforts = shifted(delay)
        return float(sum(_log_residual(bases[k], efforts[:, k]) for k in which))

    everything = range(len(moving))
    count = max(3, 2 * int(np.ceil(largest / min(period, largest / 20.0))) + 1)
    grid = np.linspace(-largest, largest, count)
    costs = np.array([
        [_log_residual(bases[k], efforts[:, k]) for k in everything]
        for efforts in map(shifted, grid)])
    by_joint = {joint: _lowest(cost, grid, costs[:, k], [k])
                for k, joint in enumerate(moving)}
    best = _lowest(cost, grid, costs.sum(axis=1), everything)
    independent = len(rows) if not np.isfinite(recording.cutoff) else min(
        float(len(rows)), 2.0 * recording.cutoff * len(recording.times) * period)
    gain = 0.5 * independent * (cost(0.0, everything) - cost(best, everything))
    if abs(best) > largest - (grid[1] - grid[0]):
        return Delay(0.0, by_joint, gain, f'the best fit is beyond ±{largest:g} s')
    if gain < SIGNIFICANT:
        return Delay(0.0, by_joint, gain, f'{1e3 * best:.2f} ms fit no better than none')
    return Delay(best, by_joint, gain)


def _rows(pieces: Sequence[slice], margin: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return rows whose neighbours within the margin are in the same piece, and those by piece."""
    inner = [np.arange(piece.start + margin, piece.stop - margin) for piece in pieces]
    total = sum(map(len, inner))
    every = max(1, total // ROWS)
    inner = [rows[::every] for rows in inner]
    return np.concatenate([np.empty(0, dtype=int), *inner]), inner


def _bases(
        robot: Robot, recording: PreparedRecording, rows: np.ndarray, coordinates: Sequence[int],
        period: float) -> list[np.ndarray]:
    """Return for each coordinate orthonormal columns that span what its effort could be."""
    q, qd, qdd = recording.q[rows], recording.qd[rows], recording.qdd[rows]
    # The filter of the efforts rounds the steps of Coulomb friction off, so it does here too.
    signs = smooth_sign(recording.qd)
    signs = np.concatenate([
        low_passed(signs[piece], period, recording.cutoff) for piece in recording.pieces])[rows]
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
        recording: PreparedRecording, rows: np.ndarray, pieces: Sequence[np.ndarray],
        coordinates: Sequence[int]) -> Callable[[float], np.ndarray]:
    """Return a function that gives the efforts a while after the rows, shape (rows, k)."""
    splines = [CubicSpline(recording.times[piece], recording.tau[piece][:, coordinates])
               for piece, chosen in zip(recording.pieces, pieces) if len(chosen)]
    chosen = [recording.times[chosen] for chosen in pieces if len(chosen)]

    def at(delay: float) -> np.ndarray:
        return np.concatenate([spline(times + delay) for spline, times in zip(splines, chosen)])
    return at


def _log_residual(basis: np.ndarray, effort: np.ndarray) -> float:
    """Return the logarithm of the power that no column explains."""
    power = float(effort @ effort)
    residual = effort - basis @ (basis.T @ effort)
    return float(np.log(max(float(residual @ residual), _ROUNDING * power, 1e-300)))


def _lowest(
        cost: Callable[[float, Sequence[int]], float], grid: np.ndarray, costs: np.ndarray,
        which: Sequence[int]) -> float:
    at, step = float(grid[np.argmin(costs)]), float(grid[1] - grid[0])
    found = minimize_scalar(
        lambda delay: cost(delay, which), bounds=(at - step, at + step), method='bounded',
        options={'xatol': 1e-3 * step})
    return float(found.x)
