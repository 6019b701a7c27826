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
The search for the causes that the recordings speak for.

Causes are added one at a time: always the one that makes the recordings most probable, by the
Bayesian information criterion: a cause with many parameters has to explain more than one with few.
What one cause explains is then no evidence for another.  A cause that later ones make superfluous
is removed.  Each has to pass an F-test, whose level is shared by all candidates.  Friction and
offsets of all joints are eliminated from the equations before: nothing that they can explain
counts as evidence.

G. Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6(2), 1978.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ros2_rnea.offline.identification.causes import Altered, Cause, conceivable, Delay, Factor
from ros2_rnea.offline.identification.reduced_equations import (
    Columns,
    DEPENDENT,
    least_squares,
    MODEL,
    reduce_equations,
    ReducedEquations,
    TooShortError,
)
from ros2_rnea.robots.robot import Robot
from scipy.linalg import svd
from scipy.stats import f

FALSE_ALARMS = 1e-3
"""
The probability that any cause is found in recordings in which all is right.  Friction and offsets
(:mod:`.diagnosis`) have the same probability for themselves.
"""

TELLS_APART = 2.0 * np.log(1.0 / FALSE_ALARMS)
"""Difference between the criteria of two causes from which the data tells them apart."""

ITERATIONS = 30
CONVERGED = 1e-6
"""Changes of the weighted squares of this share, or size, mean nothing."""
MAX_CAUSES = 12
"""A model of which more is wrong than this is to be identified, not to be corrected."""

TURNED = -0.5
"""
Correlation of measured and modelled effort, friction eliminated, from which on a fit begins with
the sign of that effort turned.
"""

STEP = 1e-4
"""Step of derivatives by central differences, which are exact for products of two parameters."""

TOLERATED = 2.0
"""
By how much more than noise the causes that were found may leave.  What is left beyond that, since
the model lacks something that no cause stands for, counts as noise in another search.
"""

PASSES = 3
"""Searches at most: with more noise, fewer causes are found, which leave more."""

ALIGNMENTS = 2
"""Number of times that efforts are shifted by the delay found, and equations reduced anew."""

Reduced = Mapping[int, ReducedEquations]
"""The equations by the index of the coordinate, where there are enough samples for them."""


@dataclass(frozen=True, eq=False)
class Found:
    """
    A cause that the recordings speak for.

    :ivar cause: which one.
    :ivar parameters: shape (size,).
    :ivar covariance: of the parameters, shape (size, size).
    :ivar held: which parameters the recordings hold, shape (size,); the value of another is only
        one of many that do as well.
    :ivar statistic: of the test of the model without this cause: by how much the weighted squares
        rise.
    :ivar freedom: its degrees of freedom.
    :ivar rms_without: the RMS of the differences by coordinate, friction eliminated, with all
        causes but this one [Nm or N].
    :ivar rivals: other causes that explain the recordings nearly as well.
    """

    cause: Cause
    parameters: np.ndarray
    covariance: np.ndarray
    held: np.ndarray
    statistic: float
    freedom: int
    rms_without: Mapping[int, float]
    rivals: tuple[Cause, ...] = ()


@dataclass(frozen=True, eq=False)
class Explanation:
    """
    What explains the differences between recordings and model, friction apart.

    :ivar equations: by coordinate.
    :ivar found: the causes.
    :ivar coefficients: of the equations, with all causes: shape (nv, columns).
    :ivar by_parameters: their derivatives, shape (nv, columns, parameters).
    :ivar covariance: of all causes' parameters, in their order; zero where not identifiable.
    :ivar too_short: for each coordinate without equations, how many times as long the recordings
        need to be to judge it.
    """

    equations: Reduced
    found: tuple[Found, ...]
    coefficients: np.ndarray
    by_parameters: np.ndarray
    covariance: np.ndarray
    too_short: Mapping[int, float]

    @property
    def rms(self) -> dict[int, float]:
        """Return the RMS of the differences that are left, friction eliminated [Nm or N]."""
        return _rms(self.equations, self.coefficients)


class Fit:
    """
    The best parameters of some causes.

    :ivar squares: what they leave of the weighted squared differences.
    """

    def __init__(
            self, robot: Robot, equations: Reduced, causes: Sequence[Cause], starts: np.ndarray,
            ) -> None:
        self._robot = robot
        self._rows = list(equations)
        self._triangles = np.stack([each.mechanics for each in equations.values()])
        self.causes = tuple(causes)
        ends = [self._descend(start) for start in starts]
        least = min(squares for _, squares in ends)
        self.parameters, self.squares = next(
            end for end in ends if end[1] <= least + CONVERGED * max(least, 1.0))

    def _descend(self, parameters: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the end of Gauss-Newton iterations, and its squares."""
        residual = self._residual(parameters)
        squares = float(residual @ residual)
        for _ in range(ITERATIONS if self.causes else 0):
            slopes = self._slopes(parameters)
            scale = _scale(slopes)
            step = -least_squares(slopes / scale, residual, DEPENDENT)[0] / scale
            for share in (1.0, 0.5, 0.1):
                tried = self._residual(parameters + share * step)
                if tried @ tried < squares:
                    break
            else:
                break
            gained = squares - float(tried @ tried)
            parameters, residual = self._settled(parameters + share * step), tried
            squares -= gained
            if gained < CONVERGED * max(squares, 1.0):
                break
        return parameters, squares

    def _settled(self, parameters: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [cause.settled(parameters[part]) for cause, part in self.parts()])

    def parts(self) -> list[tuple[Cause, slice]]:
        """Return the causes, and where their parameters are."""
        ends = np.cumsum([cause.size for cause in self.causes]).tolist()
        return [(cause, slice(end - cause.size, end)) for cause, end in zip(self.causes, ends)]

    def coefficients(self, parameters: np.ndarray) -> np.ndarray:
        """Return the coefficients of all coordinates' equations, shape (nv, columns)."""
        altered = Altered.not_at_all(self._robot)
        for cause, part in self.parts():
            cause.apply(parameters[part], altered)
        return altered.coefficients()

    def _residual(self, parameters: np.ndarray) -> np.ndarray:
        coefficients = self.coefficients(parameters)[self._rows]
        return np.matmul(self._triangles, coefficients[..., np.newaxis]).ravel()

    def derivatives(self, parameters: np.ndarray) -> np.ndarray:
        """Return the coefficients' derivatives by the parameters, shape (nv, columns, size)."""
        slopes = [self.coefficients(parameters + STEP * one)
                  - self.coefficients(parameters - STEP * one) for one in np.eye(len(parameters))]
        return np.stack([*slopes, np.zeros((self._robot.nv, self._triangles.shape[2]))],
                        axis=-1)[..., :-1] / (2.0 * STEP)

    def _slopes(self, parameters: np.ndarray) -> np.ndarray:
        slopes = np.matmul(self._triangles, self.derivatives(parameters)[self._rows])
        return slopes.reshape(slopes.shape[0] * slopes.shape[1], len(parameters))

    def covariance(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters' covariance, and which of them are identifiable."""
        if not self.causes:
            return np.zeros((0, 0)), np.zeros(0, dtype=bool)
        slopes = self._slopes(self.parameters)
        scale = _scale(slopes)
        _, sizes, directions = svd(
            slopes / scale, full_matrices=False, lapack_driver='gesvd')  # gesdd may not converge
        held = sizes > DEPENDENT * sizes[0]
        loose = np.square(directions[~held]).sum(axis=0)
        half = directions[held].T / sizes[held] / scale[:, np.newaxis]
        return half @ half.T, loose < DEPENDENT

    def rank(self) -> int:
        """Return how many combinations of the parameters count."""
        if not self.causes:
            return 0
        slopes = self._slopes(self.parameters)
        scaled = slopes / _scale(slopes)
        squares = np.linalg.eigvalsh(scaled.T @ scaled)  # faster than singular values
        return int(np.count_nonzero(squares > DEPENDENT ** 2 * squares[-1]))


def _rms(equations: Reduced, coefficients: np.ndarray) -> dict[int, float]:
    return {j: each.rms(coefficients[j]) for j, each in equations.items()}


def _scale(slopes: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(slopes, axis=0)
    return np.where(lengths > 0.0, lengths, 1.0)


def search(robot: Robot, columns: Columns, excluded: Collection[Cause] = ()) -> Explanation:
    """
    Search the causes that explain the differences.

    :param excluded: causes that are not among those to search.
    :return: without equations where no coordinate has enough samples.
    """
    explanation = _explanation(robot, columns, columns.measured, (), excluded)
    first = _delay_in(explanation)
    delay, late = 0.0, first
    for _ in range(ALIGNMENTS):
        if first is None or late is None or late.parameters[0] ** 2 < 0.01 * late.covariance[0, 0]:
            break
        delay += float(late.parameters[0])
        aligned = _explanation(
            robot, columns, columns.measured_later(delay), (Delay(),), excluded)
        late = _delay_in(aligned)
        if late is None:
            break
        explanation = _with_delay(aligned, replace(
            late, parameters=late.parameters + delay, statistic=first.statistic,
            # Some coordinates may have enough samples, or noise that is slow enough, only now.
            rms_without={**late.rms_without, **first.rms_without}))
    return explanation


def _explanation(
        robot: Robot, columns: Columns, measured: np.ndarray, certain: Sequence[Cause],
        excluded: Collection[Cause]) -> Explanation:
    """Return the causes, among them those that are certain to exist, without those excluded."""
    equations, too_short = {}, {}
    for j in range(robot.nv):
        try:
            equations[j] = reduce_equations(columns, measured, j)
        except TooShortError as error:
            too_short[j] = error.factor
    if not equations:
        none = np.zeros((robot.nv, 0))
        return Explanation({}, (), none, none[..., np.newaxis], np.zeros((0, 0)), too_short)
    explanation = _Search(robot, equations, excluded).explanation(certain)
    for _ in range(PASSES - 1):
        lacks = {
            j: each.lack_of_fit(explanation.coefficients[j]) for j, each in equations.items()}
        if max(lacks.values()) < TOLERATED:
            break
        equations = {j: each.with_more_noise(max(lacks[j], 1.0)) for j, each in equations.items()}
        explanation = _Search(robot, equations, excluded).explanation(certain)
    return replace(explanation, too_short=too_short)


def _delay_in(explanation: Explanation) -> Found | None:
    return next((each for each in explanation.found if isinstance(each.cause, Delay)), None)


def _with_delay(explanation: Explanation, delay: Found) -> Explanation:
    return replace(explanation, found=tuple(
        delay if isinstance(found.cause, Delay) else found for found in explanation.found))


class _Search:
    """The search among all causes that are conceivable for a robot."""

    def __init__(
            self, robot: Robot, equations: Reduced, excluded: Collection[Cause] = ()) -> None:
        self._robot = robot
        self._equations = equations
        self._excluded = excluded
        self._candidates = [
            cause for cause in conceivable(robot) if cause not in excluded]
        self._penalty = float(np.log(sum(
            each.independent_samples for each in equations.values())))
        self._freedom = sum(each.freedom for each in equations.values())

    def explanation(self, certain: Sequence[Cause] = ()) -> Explanation:
        """Return the causes, among them those that are certain to exist."""
        self._certain = certain
        turned = self._turned()
        fit = self._fit([*certain, *turned], np.concatenate([
            np.zeros(sum(cause.size for cause in certain)), np.full(len(turned), -2.0)])[None])
        rivals: dict[Cause, tuple[Cause, ...]] = {}
        while len(fit.causes) < MAX_CAUSES:
            best = self._best(fit)
            if best is None:
                break
            longer, others = best
            rivals[longer.causes[-1]] = others
            longer = self._pruned(longer, [*longer.causes[:-1]])
            if longer.squares >= fit.squares:
                break
            fit = longer
        return self._explained(self._pruned(fit, fit.causes), rivals)

    def _turned(self) -> list[Factor]:
        """Return factors for the coordinates whose efforts have the opposite sign."""
        turned = []
        for j, each in self._equations.items():
            model, measured = each.mechanics[:, MODEL], each.mechanics[:, -1]
            sizes = float(np.linalg.norm(model) * np.linalg.norm(measured))
            if sizes > 0.0 and Factor(j) not in self._excluded and (
                    float(model @ measured) < TURNED * sizes):
                turned.append(Factor(j))
        return turned

    def _fit(self, causes: Sequence[Cause], starts: np.ndarray) -> Fit:
        return Fit(self._robot, self._equations, causes, starts)

    def _best(self, fit: Fit) -> tuple[Fit, tuple[Cause, ...]] | None:
        """Return the fit with one cause more, and other causes that would do nearly as well."""
        rank = fit.rank()
        scored = []
        for cause in self._candidates:
            if cause in fit.causes:
                continue
            own = cause.starts()
            tried = self._fit([*fit.causes, cause], np.column_stack(
                [np.tile(fit.parameters, (len(own), 1)), own]))
            gained, freedom = fit.squares - tried.squares, tried.rank() - rank
            if freedom > 0 and self._is_significant(gained, freedom):
                scored.append((gained - freedom * self._penalty, tried))
        if not scored:
            return None
        highest, best = max(scored, key=lambda each: each[0])
        if highest <= 0.0:
            return None
        return best, tuple(
            tried.causes[-1] for score, tried in scored
            if tried is not best and score > highest - TELLS_APART)

    def _is_significant(self, gained: float, freedom: int) -> bool:
        chance = f.sf(gained / freedom, freedom, self._freedom)
        return bool(chance * len(self._candidates) < FALSE_ALARMS)

    def _pruned(self, fit: Fit, doubtful: Sequence[Cause]) -> Fit:
        """Return a fit without those doubtful causes that the others make superfluous."""
        for cause in doubtful:
            if cause in self._certain:
                continue
            without = self._fit_without(fit, cause)
            freedom = fit.rank() - without.rank()
            gained = without.squares - fit.squares
            if freedom == 0 or gained < freedom * self._penalty or not self._is_significant(
                    gained, freedom):
                fit = without
        return fit

    def _fit_without(self, fit: Fit, cause: Cause) -> Fit:
        parts = dict(fit.parts())
        kept = [other for other in fit.causes if other != cause]
        start = np.concatenate([np.zeros(0), *(fit.parameters[parts[other]] for other in kept)])
        return self._fit(kept, start[np.newaxis])

    def _explained(self, fit: Fit, rivals: Mapping[Cause, tuple[Cause, ...]]) -> Explanation:
        covariance, held = fit.covariance()
        found = []
        for cause, part in fit.parts():
            without = self._fit_without(fit, cause)
            found.append(Found(
                cause, fit.parameters[part], covariance[part, part], held[part],
                without.squares - fit.squares, fit.rank() - without.rank(),
                _rms(self._equations, without.coefficients(without.parameters)),
                tuple(other for other in rivals.get(cause, ()) if other not in fit.causes)))
        return Explanation(
            self._equations, tuple(found), fit.coefficients(fit.parameters),
            fit.derivatives(fit.parameters), covariance, {})
