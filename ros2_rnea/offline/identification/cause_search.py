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

Sets of causes are grown one cause at a time, from the best set that ends with each kind of cause
and has so many factors: what two causes explain only together is found, too.  The best set makes
the recordings most probable by the Bayesian information criterion: a cause with many parameters
has to explain more than one with few.  Each of its causes has to pass an F-test, whose level is
shared by all candidates.  A set that leaves much of what could be explained is no explanation.

G. Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6(2), 1978.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import hypot
from typing import NamedTuple

import numpy as np
from ros2_rnea.offline.identification.causes import (
    Altered,
    are_compatible,
    Cause,
    conceivable,
    Factor,
    Load,
    Mass,
    NoGravity,
    NoModel,
    Tilt,
    Zero,
)
from ros2_rnea.offline.identification.reduced_equations import (
    Columns,
    DEPENDENT,
    MODEL,
    reduce_equations,
    ReducedEquations,
    SURE,
    TooShortError,
)
from ros2_rnea.robots.robot import Robot
from scipy.linalg import eigh, qr, svd
from scipy.stats import f

FALSE_ALARMS = 1e-3
"""
The probability that any cause is found in recordings in which all is right.  Friction and offsets
(:mod:`.diagnosis`) have the same probability for themselves.
"""

TELLS_APART = 2.0 * np.log(1.0 / FALSE_ALARMS)
"""Difference between the criteria of two sets of causes from which the data tells them apart."""

ITERATIONS = 30
CONVERGED = 1e-6
"""Changes of the weighted squares of this share, or size, mean nothing."""

MAX_CAUSES = 6
"""A model of which more is wrong than this is to be identified, not to be corrected."""

TURNED = -0.5
"""
Correlation of measured and modelled effort, friction eliminated, from which on a fit begins with
the sign of that effort turned.
"""

NOTHING = 1e-13
"""An equation so much smaller than the largest is nothing but rounding."""

ROUNDING = 1e-10
"""A column so much shorter than the longest is nothing but rounding."""

PROMISING = 3
"""Number of causes of each kind of which a set is fitted, those that promise most."""

STEP = 1e-6
"""Step of derivatives by differences, which are exact for products of parameters."""

LITTLE, MOST = 0.03, 0.16
"""
Causes explain a difference where they leave this share of the measured effort's RMS at most, or
that share of the squares of what could be explained before.
"""

MIN_MASS, MIN_REACH = 1.0, 1.0
"""A robot counts as at least so heavy [kg] and so large [m], whatever its description lacks."""

HEAVIEST = 3.0
"""No load is so many times as heavy as the whole robot."""

TOLERATED = 2.0
"""
By how much more than noise the causes that were found may leave.  What is left beyond that, since
the model lacks something that no cause stands for, counts as noise in another search.
"""

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
    :ivar rms_without: the RMS of the differences by coordinate, own columns eliminated, with all
        causes but this one [Nm or N].
    """

    cause: Cause
    parameters: np.ndarray
    covariance: np.ndarray
    held: np.ndarray
    statistic: float
    rms_without: Mapping[int, float]


@dataclass(frozen=True, eq=False)
class Explanation:
    """
    What explains the differences between recordings and model, apart from what is a joint's own.

    :ivar equations: by coordinate.
    :ivar found: the causes.
    :ivar coefficients: of the equations, with all causes: shape (nv, columns).
    :ivar by_parameters: their derivatives, shape (nv, columns, parameters).
    :ivar covariance: of all causes' parameters, in their order; zero where not identifiable.
    :ivar too_short: for each coordinate without equations, how many times as long the recordings
        need to be to judge it.
    :ivar rivals: other sets, of no more causes, that explain the recordings nearly as well.
    :ivar rival_coefficients: the coefficients with each of these, and with causes that were
        discarded since they do not explain enough.
    :ivar misfit: for each coordinate, the RMS of what a model could explain and the causes do not
        [Nm or N].
    :ivar is_explained: whether the causes explain most of what a model can explain.
    :ivar is_rough: whether any causes leave clearly more than noise.
    """

    equations: Reduced
    found: tuple[Found, ...]
    coefficients: np.ndarray
    by_parameters: np.ndarray
    covariance: np.ndarray
    too_short: Mapping[int, float]
    rivals: tuple[tuple[Cause, ...], ...] = ()
    rival_coefficients: tuple[np.ndarray, ...] = ()
    misfit: Mapping[int, float] = field(default_factory=dict)
    is_explained: bool = True
    is_rough: bool = False

    @property
    def rms(self) -> dict[int, float]:
        """Return the RMS of the differences that are left, own columns eliminated [Nm or N]."""
        return _rms(self.equations, self.coefficients)


class System(NamedTuple):
    """
    The equations of all coordinates, in as few rows as they need.

    :ivar robot: the model.
    :ivar coordinates: which of its coordinates have equations, by index.
    :ivar triangles: shape (coordinates, rows, columns).
    """

    robot: Robot
    coordinates: list[int]
    triangles: np.ndarray

    @classmethod
    def of(cls, robot: Robot, equations: Reduced) -> System:
        """Return the system of reduced equations."""
        found = [_without_empty_rows(each.mechanics) for each in equations.values()]
        most = max(map(len, found))
        return cls(robot, list(equations), np.stack([
            np.pad(each, ((0, most - len(each)), (0, 0))) for each in found]))


def _without_empty_rows(triangle: np.ndarray) -> np.ndarray:
    """Return as many equations as the columns have independent ones."""
    factor, order = qr(triangle, mode='r', pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(factor))
    kept = np.empty_like(triangle[:np.count_nonzero(sizes > NOTHING * sizes[0])])
    kept[:, order] = factor[:len(kept)]
    return kept


class Fit:
    """
    The best parameters of some causes.

    :ivar causes: which ones.
    :ivar parts: each with the place of its parameters.
    :ivar parameters: those of all causes.
    :ivar squares: what they leave of the weighted squared differences.
    """

    def __init__(self, system: System, causes: Sequence[Cause], starts: np.ndarray) -> None:
        self._system = system
        self.causes = tuple(causes)
        ends = np.cumsum([cause.size for cause in causes]).tolist()
        self.parts = [(cause, slice(end - cause.size, end)) for cause, end in zip(causes, ends)]
        if not len(starts):
            return
        found = [self._descend(start) for start in starts]
        least = min(squares for _, squares in found)
        self.parameters, self.squares = next(
            each for each in found if each[1] <= least + CONVERGED * max(least, 1.0))

    def _descend(self, parameters: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the end of Gauss-Newton iterations, and its squares."""
        residual = self._residual(parameters)
        squares = float(residual @ residual)
        for _ in range(ITERATIONS if len(parameters) else 0):
            step = -_solution(self._slopes(parameters), residual)
            for share in (1.0, 0.5, 0.1):
                tried = self._settled(parameters + share * step)
                residual_there = self._residual(tried)
                if residual_there @ residual_there < squares:
                    break
            else:
                break
            gained = squares - float(residual_there @ residual_there)
            parameters, residual = tried, residual_there
            squares -= gained
            if gained < CONVERGED * max(squares, 1.0):
                break
        return parameters, squares

    def _settled(self, parameters: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [cause.settled(parameters[part]) for cause, part in self.parts])

    def coefficients(self, parameters: np.ndarray) -> np.ndarray:
        """Return the coefficients of all coordinates' equations, shape (nv, columns)."""
        altered = Altered.not_at_all(self._system.robot)
        for cause, part in self.parts:
            cause.apply(parameters[part], altered)
        return altered.coefficients()

    def _residual(self, parameters: np.ndarray) -> np.ndarray:
        coefficients = self.coefficients(parameters)[self._system.coordinates]
        return np.matmul(self._system.triangles, coefficients[..., np.newaxis]).ravel()

    def derivatives(self, parameters: np.ndarray) -> np.ndarray:
        """Return the coefficients' derivatives by the parameters, shape (nv, columns, size)."""
        here = self.coefficients(parameters)
        slopes = np.empty((*here.shape, len(parameters)))
        for k, one in enumerate(STEP * np.eye(len(parameters))):
            slopes[..., k] = (self.coefficients(parameters + one) - here) / STEP
        return slopes

    def _slopes(self, parameters: np.ndarray) -> np.ndarray:
        slopes = np.matmul(self._system.triangles,
                           self.derivatives(parameters)[self._system.coordinates])
        return slopes.reshape(slopes.shape[0] * slopes.shape[1], len(parameters))

    def covariance(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters' covariance, and which of them are identifiable."""
        if not len(self.parameters):
            return np.zeros((0, 0)), np.zeros(0, dtype=bool)
        slopes = self._slopes(self.parameters)
        scale = _scale(slopes)
        _, sizes, directions = svd(
            slopes / scale, full_matrices=False, lapack_driver='gesvd')  # gesdd may not converge
        held = sizes > DEPENDENT * sizes[0]
        loose = np.square(directions[~held]).sum(axis=0)
        half = directions[held].T / sizes[held] / scale[:, np.newaxis]
        return half @ half.T, loose < DEPENDENT

    @cached_property
    def freedom(self) -> int:
        """Return how many combinations of the parameters count, and causes without any."""
        alone = sum(not cause.size for cause in self.causes)
        if not len(self.parameters):
            return alone
        slopes = self._slopes(self.parameters)
        scaled = slopes / _scale(slopes)
        squares = np.linalg.eigvalsh(scaled.T @ scaled)  # faster than singular values
        return alone + int(np.count_nonzero(squares > DEPENDENT ** 2 * squares[-1]))

    def without(self, cause: Cause) -> Fit:
        """Return the fit of all causes but one."""
        parts = dict(self.parts)
        kept = [other for other in self.causes if other != cause]
        start = np.concatenate([np.zeros(0), *(self.parameters[parts[other]] for other in kept)])
        return Fit(self._system, kept, start[np.newaxis])

    def squares_after_a_step(self, cause: Cause) -> float:
        """Return what another cause would leave after the first step of its fit."""
        if isinstance(cause, (NoGravity, NoModel, Tilt)):
            return 0.0  # the only one of its kind
        return min(self._squares_after_steps(cause))

    def _squares_after_steps(self, cause: Cause) -> list[float]:
        """Return what another cause would leave after the first step from each of its starts."""
        longer = Fit(self._system, [*self.causes, cause], np.zeros((0, 0)))
        squares = []
        for start in cause.starts():
            parameters = np.concatenate([self.parameters, start])
            slopes, residual = longer._slopes(parameters), longer._residual(parameters)
            left = residual - slopes @ _solution(slopes, residual)
            squares.append(float(left @ left))
        return squares

    def with_one_more(self, cause: Cause) -> Fit:
        """Return the fit of these causes and another one."""
        starts = cause.starts()
        if isinstance(cause, Zero):
            starts = starts[[int(np.argmin(self._squares_after_steps(cause)))]]
        return Fit(self._system, [*self.causes, cause], np.column_stack(
            [np.tile(self.parameters, (len(starts), 1)), starts]))


def _kind(fit: Fit) -> tuple[type[Cause], int]:
    """Return what its last cause is, and how many factors it has."""
    return type(fit.causes[-1]), sum(isinstance(cause, Factor) for cause in fit.causes)


def _rms(equations: Reduced, coefficients: np.ndarray) -> dict[int, float]:
    return {j: each.rms(coefficients[j]) for j, each in equations.items()}


def _solution(slopes: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return the smallest of the best solutions, by the eigenvalues of the squared slopes."""
    scale = _scale(slopes)
    scaled = slopes / scale
    squares, directions = eigh(scaled.T @ scaled)
    is_held = squares > DEPENDENT ** 2 * squares[-1]
    held = directions[:, is_held]
    return held @ ((scaled.T @ residual) @ held / squares[is_held]) / scale


def _scale(slopes: np.ndarray) -> np.ndarray:
    """Return the lengths of the columns, infinite for those that are nothing but rounding."""
    lengths = np.linalg.norm(slopes, axis=0)
    return np.where(lengths > ROUNDING * lengths.max(initial=0.0), lengths, np.inf)


def search(robot: Robot, columns: Columns) -> Explanation:
    """
    Search the causes that explain the differences.

    :return: without equations where no coordinate has enough samples.
    """
    equations, too_short = {}, {}
    for j in range(robot.nv):
        try:
            equations[j] = reduce_equations(columns, j)
        except TooShortError as error:
            too_short[j] = error.factor
    if not equations:
        none = np.zeros((robot.nv, 0))
        return Explanation({}, (), none, none[..., np.newaxis], np.zeros((0, 0)), too_short)
    searched = _Search(robot, equations)
    explanation = searched.explanation()
    lacks = {j: each.lack_of_fit(explanation.coefficients[j]) for j, each in equations.items()}
    is_rough = max(lacks.values()) > TOLERATED
    if is_rough:
        searched = _Search(robot, {
            j: each.with_more_noise(max(lacks[j], 1.0)) for j, each in equations.items()})
        explanation = searched.explanation()
    before = Altered.not_at_all(robot).coefficients()
    misfit = {j: each.misfit(explanation.coefficients[j]) for j, each in equations.items()}
    judged = [each for each in equations.items() if each[1].measured_rms]
    was, left, slow = (np.square([rms / each.measured_rms for rms, (_, each) in zip(of, judged)])
                       for of in ([each.misfit(before[j]) for j, each in judged],
                                  [misfit[j] for j, _ in judged],
                                  [each.slow for _, each in judged]))
    differing = was > LITTLE ** 2
    is_explained = left[~differing].max(initial=0.0) <= LITTLE ** 2 and (
        left[differing].sum() <= MOST * was[differing].sum())
    is_sufficient = is_explained and (
        (left + slow)[differing].sum() <= MOST * (was + slow)[differing].sum())
    if not is_sufficient:
        discarded = explanation.coefficients, *explanation.rival_coefficients
        explanation = replace(searched.only_signs(), rival_coefficients=discarded)
        misfit = {j: each.misfit(explanation.coefficients[j]) for j, each in equations.items()}
    return replace(
        explanation, too_short=too_short, misfit=misfit, is_explained=bool(is_explained),
        is_rough=is_rough)


def reach(robot: Robot) -> float:
    """Return the length of all links one after the other, with their centres of mass [m]."""
    lengths = [hypot(*body.X_tree.r) for body in robot.tree.bodies]
    centres = [hypot(*body.inertia.h) / body.inertia.m
               for body in robot.tree.bodies if body.inertia.m > 0.0]
    return sum(lengths) + max(centres, default=0.0)


class _Search:
    """The search among all causes that are conceivable for a robot."""

    def __init__(self, robot: Robot, equations: Reduced) -> None:
        self._equations = equations
        self._system = System.of(robot, equations)
        self._candidates = conceivable(robot)
        self._penalty = float(np.log(max(2.0, sum(
            each.independent_samples for each in equations.values()))))
        self._freedom = sum(each.freedom for each in equations.values())
        self._reach = max(reach(robot), MIN_REACH)
        self._heaviest = HEAVIEST * max(float(robot.inertial_parameters[::10].sum()), MIN_MASS)

    def explanation(self) -> Explanation:
        """Return the causes that explain most, with as few parameters as possible."""
        turned, factors = self._turned(), [Factor(j) for j in self._equations]
        tried: dict[frozenset[Cause], Fit] = {frozenset(causes): Fit(
            self._system, causes, np.full((1, len(causes)), start))
            for causes, start in (((), 0.0), (turned, -2.0), (factors, 0.0))}
        beam = sorted(tried.values(), key=self._criterion)
        best = beam[0]
        for _ in range(MAX_CAUSES):
            grown = []
            for fit in beam:
                for cause in self._promising(fit):
                    causes = frozenset((*fit.causes, cause))
                    if causes in tried:
                        continue
                    tried[causes] = longer = fit.with_one_more(cause)
                    if self._is_possible(longer) and self._is_significant(longer, fit):
                        grown.append(longer)
            grown.sort(key=self._criterion)
            if not grown or self._criterion(grown[0]) >= self._criterion(best):
                break
            best = grown[0]
            beam = list({_kind(fit): fit for fit in reversed(grown)}.values())
        best = self._pruned(best)
        return self._explained(best, [*tried.values(), *self._on_other_links(best)])

    def _on_other_links(self, fit: Fit) -> Iterator[Fit]:
        """Yield fits in which one load or mass belongs to another link."""
        for cause in fit.causes:
            if isinstance(cause, (Load, Mass)):
                rest = fit.without(cause)
                yield from (rest.with_one_more(other) for other in self._candidates
                            if type(other) is type(cause) and other != cause
                            and are_compatible((*rest.causes, other)))

    def _promising(self, fit: Fit) -> list[Cause]:
        """Return those of each kind of cause that a first step tells to explain most."""
        of_kind: dict[type[Cause], list[tuple[float, int, Cause]]] = {}
        for k, cause in enumerate(self._candidates):
            if cause not in fit.causes and are_compatible((*fit.causes, cause)):
                squares = fit.squares_after_a_step(cause)
                if squares < fit.squares:
                    of_kind.setdefault(type(cause), []).append((squares, k, cause))
        return [cause for each in of_kind.values() for _, _, cause in sorted(each)[:PROMISING]]

    def only_signs(self) -> Explanation:
        """Return nothing but the efforts that have the opposite sign."""
        turned = self._turned()
        return self._explained(self._pruned(
            Fit(self._system, turned, np.full((1, len(turned)), -2.0))), ())

    def _turned(self) -> list[Factor]:
        """Return factors for the coordinates whose efforts seem to have the opposite sign."""
        turned = []
        for j, each in self._equations.items():
            model, measured = each.mechanics[:, MODEL], each.mechanics[:, -1]
            sizes = float(np.linalg.norm(model) * np.linalg.norm(measured))
            if sizes > 0.0 and float(model @ measured) < TURNED * sizes:
                turned.append(Factor(j))
        return turned

    def _criterion(self, fit: Fit) -> float:
        return fit.squares + self._penalty * fit.freedom

    def _is_possible(self, fit: Fit) -> bool:
        """Return whether no mass is negative, and no load beyond what the robot could carry."""
        bound = np.full(len(fit.parameters), np.inf)
        for cause, part in fit.parts:
            if isinstance(cause, Load):
                bound[part.start] = self._heaviest
                bound[part.start + 1:part.start + 4] = self._heaviest * self._reach
            elif isinstance(cause, Mass) and fit.parameters[part.start] < 0.0:
                bound[part.start] = 1.0  # nothing has less than no mass
        if (np.abs(fit.parameters) < bound).all():
            return True
        covariance, held = fit.covariance()
        least = np.abs(fit.parameters) - SURE * np.sqrt(np.diag(covariance))
        return bool((least < bound)[held].all())

    def _is_significant(self, longer: Fit, fit: Fit) -> bool:
        freedom = longer.freedom - fit.freedom
        if freedom <= 0:
            return False
        chance = f.sf((fit.squares - longer.squares) / freedom, freedom, self._freedom)
        return bool(chance * len(self._candidates) < FALSE_ALARMS)

    def _pruned(self, fit: Fit) -> Fit:
        """Return a fit without those causes that the others make superfluous."""
        for cause in fit.causes:
            without = fit.without(cause)
            if self._criterion(without) < self._criterion(fit) or not self._is_significant(
                    fit, without):
                fit = without
        return fit

    def _explained(self, fit: Fit, tried: Collection[Fit]) -> Explanation:
        covariance, held = fit.covariance()
        found = []
        for cause, part in fit.parts:
            without = fit.without(cause)
            found.append(Found(
                cause, fit.parameters[part], covariance[part, part], held[part],
                without.squares - fit.squares,
                _rms(self._equations, without.coefficients(without.parameters))))
        rivals = sorted({frozenset(other.causes): other for other in tried if not (
            {*other.causes} >= {*fit.causes}) and len(other.causes) <= len(fit.causes)
            and self._is_possible(other)
            and self._criterion(other) < self._criterion(fit) + TELLS_APART}.values(),
            key=self._criterion)
        return Explanation(
            self._equations, tuple(found), fit.coefficients(fit.parameters),
            fit.derivatives(fit.parameters), covariance, {},
            tuple(other.causes for other in rivals),
            tuple(other.coefficients(other.parameters) for other in rivals))
