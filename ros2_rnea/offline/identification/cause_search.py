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

A set of causes grows by the one that lowers the Bayesian information criterion most: a cause with
many parameters has to explain more than one with few.  Each has to pass an F-test, whose level is
shared by all candidates, and is taken out again where others make it superfluous.  Then each cause
is exchanged for each other one: a set that explains the recordings as well is a rival, which they
do not tell apart.  A set that leaves much of what could be explained is no
explanation, nor is one that a coordinate contradicts of which too little was recorded to be
searched.

G. Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6(2), 1978.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot
from typing import NamedTuple

import numpy as np
from ros2_rnea.offline.identification.causes import (
    are_compatible,
    Cause,
    coefficients,
    conceivable,
    What,
)
from ros2_rnea.offline.identification.reduced_equations import (
    identified,
    MODEL,
    ReducedEquations,
    SURE,
)
from ros2_rnea.robots.robot import Robot
from scipy.stats import f

FALSE_ALARMS = 1e-3
"""
The probability that any cause is found in recordings in which all is right.  Friction and offsets
(:mod:`.own_terms`) have the same probability for themselves.
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

PROMISING = 6
"""Number of causes with which a set is fitted to the end, those that are best after one step."""

STEP = 1e-6
"""Step of derivatives by differences, which are exact for products of parameters."""

SIZE, MOST = 0.05, 0.16
"""
What is a smaller share of the RMS of an effort, offset apart, is not told.  Causes explain what is
larger where they leave that share at most of the squares of what could be explained before.
"""

LEAST = 1.0
"""A robot counts as at least so heavy [kg] and so large [m], whatever its description lacks."""

HEAVIEST = 3.0
"""No load, and no more mass of a link, is so many times as heavy as the whole robot."""

CONTRADICTS = 2.0
"""
Causes that leave so many times the squares that the model alone leaves in the effort of a
coordinate, contradict it.
"""

Reduced = Mapping[int, ReducedEquations]
"""The equations by the index of the coordinate, where there are enough samples for them."""


class Found(NamedTuple):
    """
    A cause that the recordings speak for.

    :ivar parameters: shape (size,).
    :ivar errors: their standard errors, infinite where the recordings do not hold a parameter,
        whose value is only one of many that do as well.
    :ivar covariance: of the parameters, shape (size, size).
    :ivar statistic: by how much the weighted squares rise without this cause.
    :ivar rms_without: as :attr:`Explanation.rms`, with all causes but this one.
    """

    cause: Cause
    parameters: np.ndarray
    errors: np.ndarray
    covariance: np.ndarray
    statistic: float
    rms_without: Mapping[int, float]


@dataclass(frozen=True, eq=False)
class Explanation:
    """
    What explains the differences between recordings and model, apart from what is a joint's own.

    :ivar equations: by coordinate.
    :ivar fit: of the causes.
    :ivar rivals: of no more causes, which explain the recordings nearly as well.
    :ivar discarded: of causes that do not explain enough.
    :ivar misfit: for each coordinate, the RMS of what a model could explain and the causes do not
        [Nm or N].
    :ivar is_explained: whether the causes explain most of what a model can explain.
    :ivar is_rough: whether any causes leave clearly more than noise.
    """

    equations: Reduced
    fit: Fit
    rivals: Sequence[Fit]
    discarded: Sequence[Fit]
    misfit: Mapping[int, float]
    is_explained: bool
    is_rough: bool

    @cached_property
    def rms(self) -> dict[int, float]:
        """Return the RMS of the differences that are left, own columns eliminated [Nm or N]."""
        return _rms(self.equations, self.fit)

    @cached_property
    def found(self) -> tuple[Found, ...]:
        """Return the causes that were found."""
        found, fit = [], self.fit
        for cause, part in fit.parts.items():
            without = fit.without(cause)
            found.append(Found(
                cause, fit.values[cause], fit.errors[part], fit.covariance[part, part],
                without.squares - fit.squares, _rms(self.equations, without)))
        return tuple(found)


def search(robot: Robot, equations: Reduced,
           others: Mapping[int, np.ndarray] | None = None) -> Explanation:
    """
    Search the causes that explain the differences.

    :param equations: of one coordinate at least.
    :param others: :func:`.unweighted_equations` of coordinates that only may contradict.
    """
    def misfits(fit: Fit) -> dict[int, float]:
        return {j: each.misfit(fit.coefficients[j]) for j, each in equations.items()}

    searched = _Search(robot, equations)
    best, rivals = searched.best()
    is_rough = any(misfits(best).values())
    if is_rough:  # what the model lacks and no cause stands for counts as noise
        searched = _Search(robot, {
            j: each.with_noise_of(best.coefficients[j]) for j, each in equations.items()})
        best, rivals = searched.best()
    before, after = misfits(searched.nothing), misfits(best)
    squares = np.array([  # before, after, and what is no noise of a sensor
        np.square([before[j], after[j], each.slow]) / each.measured_rms ** 2
        for j, each in equations.items() if each.measured_rms])
    differs, discarded = squares[:, 0] > SIZE ** 2, []
    was, left, slow = squares[differs].sum(axis=0)
    is_explained = bool(
        left <= MOST * was and (squares[~differs, 1] <= SIZE ** 2).all()
        and not any(_contradicts(rows, searched.nothing.coefficients[j], best.coefficients[j])
                    for j, rows in (others or {}).items()))
    if not is_explained or left + slow > MOST * (was + slow):
        best, rivals, discarded = searched.only_signs(), [], [best, *rivals]
    return Explanation(
        searched.equations, best, rivals, discarded, misfits(best), is_explained, is_rough)


def _contradicts(rows: np.ndarray, before: np.ndarray, after: np.ndarray) -> bool:
    """Return whether causes leave clearly more of an effort than the model, and not little."""
    left, most, measured = (float(each @ each) for each in (
        rows @ after, rows @ before, rows[:, -1]))
    return left > max(CONTRADICTS * most, SIZE ** 2 * measured)


def reach(robot: Robot) -> float:
    """Return the length of all links one after the other, with their centres of mass [m]."""
    lengths = [hypot(*body.X_tree.r) for body in robot.tree.bodies]
    centres = [hypot(*body.inertia.h) / body.inertia.m
               for body in robot.tree.bodies if body.inertia.m > 0.0]
    return max(sum(lengths) + max(centres, default=0.0), LEAST)


def mass(robot: Robot) -> float:
    """Return the mass of a robot [kg]."""
    return max(float(robot.inertial_parameters[::10].sum()), LEAST)


def _rms(equations: Reduced, fit: Fit) -> dict[int, float]:
    return {j: each.rms(fit.coefficients[j]) for j, each in equations.items()}


@dataclass(frozen=True, eq=False)
class Fit:
    """
    Some causes with their parameters, which :meth:`best` improves.

    :ivar robot: the model.
    :ivar equations: of the mechanics, by coordinate.
    :ivar values: the parameters by cause.
    """

    robot: Robot
    equations: Mapping[int, np.ndarray]
    values: Mapping[Cause, np.ndarray]

    @cached_property
    def parts(self) -> dict[Cause, slice]:
        """Return the place of the parameters of each cause among all of them."""
        ends = np.cumsum([0, *map(len, self.values.values())]).tolist()
        return dict(zip(self.values, map(slice, ends, ends[1:])))

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Return the coefficients of all coordinates' equations, shape (nv, columns)."""
        return coefficients(self.robot, self.values)

    @property
    def by_parameters(self) -> np.ndarray:
        """Return the coefficients' derivatives by the parameters, shape (nv, columns, size)."""
        size = sum(map(len, self.values.values()))
        slopes = np.empty((*self.coefficients.shape, size))
        for k, one in enumerate(STEP * np.eye(size)):
            slopes[..., k] = (self._moved(one).coefficients - self.coefficients) / STEP
        return slopes

    @cached_property
    def _residual(self) -> np.ndarray:
        return np.concatenate([
            rows @ self.coefficients[j] for j, rows in self.equations.items()])

    @property
    def _slopes(self) -> np.ndarray:
        by_parameters = self.by_parameters
        return np.concatenate([rows @ by_parameters[j] for j, rows in self.equations.items()])

    @cached_property
    def squares(self) -> float:
        """Return what is left of the weighted squared differences."""
        return float(self._residual @ self._residual)

    @cached_property
    def _identified(self) -> tuple[np.ndarray, np.ndarray]:
        return identified(self._slopes)

    @property
    def covariance(self) -> np.ndarray:
        """Return the parameters' covariance, zero where they are not identifiable."""
        return self._identified[0] @ self._identified[0].T

    @property
    def errors(self) -> np.ndarray:
        """Return the parameters' standard errors, infinite where they are not identifiable."""
        half, held = self._identified
        return np.where(held, np.linalg.norm(half, axis=1), np.inf)

    @property
    def freedom(self) -> int:
        """Return how many combinations of the parameters count, and causes without any."""
        return self._identified[0].shape[1] + sum(not cause.size for cause in self.values)

    def _moved(self, step: np.ndarray) -> Fit:
        return replace(self, values={
            cause: cause.settled(self.robot, self.values[cause] + step[part])
            for cause, part in self.parts.items()})

    def best(self, iterations: int = ITERATIONS) -> Fit:
        """Return the end of Gauss-Newton iterations, each with the shortest of best steps."""
        fit = self
        for _ in range(iterations if any(cause.size for cause in self.values) else 0):
            slopes = fit._slopes  # not kept: of a robot of many bodies, they are large
            half, _ = identified(slopes)
            step = -half @ (half.T @ (slopes.T @ fit._residual))
            before, tried = fit, (fit._moved(share * step) for share in (1.0, 0.5, 0.1))
            fit = next((each for each in tried if each.squares < before.squares), before)
            if before.squares - fit.squares < CONVERGED * max(fit.squares, 1.0):
                break
        return fit

    def without(self, cause: Cause) -> Fit:
        """Return the best fit of all causes but one."""
        return replace(self, values={
            other: each for other, each in self.values.items() if other != cause}).best()

    def with_one_more(self, cause: Cause) -> Fit:
        """Return the best fit after one step with another cause."""
        return min((replace(self, values={**self.values, cause: start}).best(1)
                    for start in cause.starts(self.robot)), key=lambda fit: fit.squares)


def _distinct(fits: Iterable[Fit]) -> list[Fit]:
    """Return the first fit of each set of causes."""
    return [*{frozenset(fit.values): fit for fit in reversed([*fits])}.values()][::-1]


def _without_factor_of_nothing(fit: Fit) -> Fit:
    """
    Return a fit with external efforts for a factor of all efforts that may be zero.

    Beside it, loads may have any mass: both are the same, and no rivals of each other.
    """
    factor, nothing = Cause(What.FACTOR), Cause(What.NO_MODEL)
    if factor not in fit.values:
        return fit
    kept = {nothing: np.zeros(0), **fit.values}
    share = 1.0 + float(kept.pop(factor)[0])
    if not are_compatible(kept) or abs(share) > SURE * fit.errors[fit.parts[factor]][0]:
        return fit
    return replace(fit, values=kept).best()


class _Search:
    """The search among all causes that are conceivable for a robot."""

    def __init__(self, robot: Robot, equations: Reduced) -> None:
        self.equations, self._robot = equations, robot
        self.nothing = Fit(robot, {j: each.mechanics for j, each in equations.items()}, {})
        self._candidates = conceivable(robot)
        self._begun: dict[frozenset[Cause], Fit] = {}  # by its causes, after one step
        self._penalty = float(np.log(max(2.0, sum(
            each.samples / each.correlation for each in equations.values()))))
        self._freedom = sum(each.freedom for each in equations.values())
        heaviest = HEAVIEST * mass(robot)
        self._most = heaviest * np.array([1.0, *[reach(robot)] * 3])
        self._masses = np.maximum(robot.inertial_parameters[::10], 1e-9 * heaviest)

    def best(self) -> tuple[Fit, list[Fit]]:
        """Return the causes that explain most with few parameters, and what does as well."""
        of_each = {Cause(What.FACTOR, j): np.zeros(1) for j in self.equations}
        of_all = {cause: np.zeros(1) for cause in self._candidates if cause == Cause(What.FACTOR)}
        small = [cause for cause in self._candidates if cause.what is not What.LOAD]
        begun = _distinct(self._pruned(replace(self.nothing, values=start).best())
                          for start in ({}, self._turned(), of_each, of_all))
        tried = [self._grown(fit, self._candidates) for fit in _distinct((
            self.nothing, *(self._grown(fit, small) for fit in begun)))]
        best = min(tried, key=self._criterion)
        for _ in range(MAX_CAUSES):
            for cause in best.values:
                rest = best.without(cause)
                tried += [rest, *self._longer(rest, self._candidates)]
            better = min(tried, key=self._criterion)
            if self._criterion(better) >= self._criterion(best):
                break
            best = self._pruned(better)
        rivals = sorted(map(self._plain, tried), key=self._criterion)
        return best, [fit for fit in _distinct(rivals)
                      if self._criterion(fit) < self._criterion(best) + TELLS_APART
                      and len(fit.values) <= len(best.values) and self._is_possible(fit)
                      and fit.values.keys() != best.values.keys()]

    def _plain(self, fit: Fit) -> Fit:
        """Return a fit without a factor of nothing, unless the recordings need it."""
        plain = _without_factor_of_nothing(fit)
        return plain if self._criterion(plain) < self._criterion(fit) + TELLS_APART else fit

    def _grown(self, fit: Fit, candidates: Sequence[Cause]) -> Fit:
        """Return a fit with all causes that improve it."""
        for _ in range(MAX_CAUSES):
            longer = min(self._longer(fit, candidates), key=self._criterion, default=fit)
            if self._criterion(longer) >= self._criterion(fit):
                break
            fit = self._pruned(longer)
        return fit

    def _longer(self, fit: Fit, candidates: Sequence[Cause]) -> Iterator[Fit]:
        """Yield the fits with one more cause, which is possible and significant."""
        sets = {frozenset((*fit.values, cause)): cause for cause in candidates
                if cause not in fit.values and are_compatible((*fit.values, cause))}
        for causes, cause in sets.items():
            if causes not in self._begun:
                self._begun[causes] = fit.with_one_more(cause)
        begun = sorted((self._begun[causes] for causes in sets), key=self._criterion)
        for longer in (each.best() for each in begun[:PROMISING]):
            if self._is_possible(longer) and self._is_significant(longer, fit):
                yield longer

    def only_signs(self) -> Fit:
        """Return nothing but the efforts that have the opposite sign."""
        return self._pruned(replace(self.nothing, values=self._turned()).best())

    def _turned(self) -> dict[Cause, np.ndarray]:
        """Return factors for the coordinates whose efforts seem to have the opposite sign."""
        turned = {}
        for j, rows in self.nothing.equations.items():
            model, measured = rows[:, MODEL], rows[:, -1]
            if model @ measured < TURNED * np.linalg.norm(model) * np.linalg.norm(measured):
                turned[Cause(What.FACTOR, j)] = np.full(1, -2.0)
        return turned

    def _criterion(self, fit: Fit) -> float:
        return fit.squares + self._penalty * fit.freedom

    def _is_possible(self, fit: Fit) -> bool:
        """Return whether no mass is negative, or beyond what the robot could carry."""
        most = np.full(len(fit.errors), np.inf)
        for cause, part in fit.parts.items():
            if cause.what is What.LOAD:
                most[part][:4] = self._most
            elif cause.what is What.MASS:  # nothing has less than no mass
                most[part] = 1.0 if fit.values[cause] < 0.0 else (
                    self._most[0] / self._masses[cause.where])
        parameters = np.concatenate([np.zeros(0), *fit.values.values()])
        return bool((np.abs(parameters) - SURE * fit.errors < most).all())

    def _is_significant(self, longer: Fit, fit: Fit) -> bool:
        freedom = longer.freedom - fit.freedom
        if freedom <= 0:
            return False
        chance = f.sf((fit.squares - longer.squares) / freedom, freedom, self._freedom)
        return bool(chance * len(self._candidates) < FALSE_ALARMS)

    def _pruned(self, fit: Fit) -> Fit:
        """Return a fit without those causes that the others make superfluous."""
        for cause in fit.values:
            without = fit.without(cause)
            if self._is_possible(without) and (
                    self._criterion(without) < self._criterion(fit)
                    or not self._is_significant(fit, without)):
                fit = without
        return fit
