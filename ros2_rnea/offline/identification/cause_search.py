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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    DEPENDENT,
    MODEL,
    ReducedEquations,
    scale_of,
    SURE,
)
from ros2_rnea.robots.robot import Robot
from scipy.linalg import eigh
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

PROMISING = 3
"""Number of causes of each kind of which a set is fitted, those that promise most."""

STEP = 1e-6
"""Step of derivatives by differences, which are exact for products of parameters."""

LITTLE, MOST = 0.03, 0.16
"""
Causes explain a difference where they leave this share of the measured effort's RMS at most, or
that share of the squares of what could be explained before.
"""

LEAST = 1.0
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
        for cause, part in fit.parts:
            without = fit.without(cause)
            found.append(Found(
                cause, fit.parameters[part], fit.errors[part], fit.covariance[part, part],
                without.squares - fit.squares, _rms(self.equations, without)))
        return tuple(found)


def search(robot: Robot, equations: Reduced) -> Explanation:
    """Search the causes that explain the differences: of one coordinate's equations at least."""
    searched = _Search(robot, equations)
    best, rivals = searched.best()
    lacks = {j: each.lack_of_fit(best.coefficients[j]) for j, each in equations.items()}
    is_rough = max(lacks.values()) > TOLERATED
    if is_rough:
        searched = _Search(robot, {
            j: each.with_more_noise(max(lacks[j], 1.0)) for j, each in equations.items()})
        best, rivals = searched.best()
    before, discarded = coefficients(robot, []), []
    squares = np.array([  # before, after, and what is no noise of a sensor
        np.square([each.misfit(before[j]), each.misfit(best.coefficients[j]), each.slow])
        / each.measured_rms ** 2 for j, each in equations.items() if each.measured_rms])
    differs = squares[:, 0] > LITTLE ** 2
    was, left, slow = squares[differs].sum(axis=0)
    is_explained = bool(left <= MOST * was and (squares[~differs, 1] <= LITTLE ** 2).all())
    if not is_explained or left + slow > MOST * (was + slow):
        best, rivals, discarded = searched.only_signs(), [], [best, *rivals]
    return Explanation(
        searched.equations, best, rivals, discarded,
        {j: each.misfit(best.coefficients[j]) for j, each in equations.items()},
        is_explained, is_rough)


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


class Fit:
    """
    The best parameters of some causes.

    :ivar causes: which ones.
    :ivar parts: each with the place of its parameters.
    :ivar parameters: those of all causes.
    :ivar squares: what they leave of the weighted squared differences.
    """

    def __init__(self, robot: Robot, equations: Mapping[int, np.ndarray],
                 causes: Sequence[Cause], start: np.ndarray | None = None) -> None:
        self._robot, self._equations = robot, equations
        self.causes = tuple(causes)
        ends = np.cumsum([cause.size for cause in causes]).tolist()
        self.parts = [(cause, slice(end - cause.size, end)) for cause, end in zip(causes, ends)]
        if start is not None:
            self.parameters, self.squares = self._descend(start)

    def _descend(self, parameters: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the end of Gauss-Newton iterations, and its squares."""
        residual = self._residual(parameters)
        squares = float(residual @ residual)
        for _ in range(ITERATIONS if len(parameters) else 0):
            step = _step(self._slopes(parameters), residual)
            for share in (1.0, 0.5, 0.1):
                tried = parameters + share * step
                tried = np.concatenate(
                    [cause.settled(self._robot, tried[part]) for cause, part in self.parts])
                residual_there = self._residual(tried)
                squares_there = float(residual_there @ residual_there)
                if squares_there < squares:
                    break
            else:
                break
            gained = squares - squares_there
            parameters, residual, squares = tried, residual_there, squares_there
            if gained < CONVERGED * max(squares, 1.0):
                break
        return parameters, squares

    def _coefficients(self, parameters: np.ndarray) -> np.ndarray:
        return coefficients(self._robot, [(cause, parameters[part]) for cause, part in self.parts])

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Return the coefficients of all coordinates' equations, shape (nv, columns)."""
        return self._coefficients(self.parameters)

    @property
    def by_parameters(self) -> np.ndarray:
        """Return the coefficients' derivatives by the parameters, shape (nv, columns, size)."""
        return self._derivatives(self.parameters)

    def _derivatives(self, parameters: np.ndarray) -> np.ndarray:
        here = self._coefficients(parameters)
        slopes = np.empty((*here.shape, len(parameters)))
        for k, one in enumerate(STEP * np.eye(len(parameters))):
            slopes[..., k] = (self._coefficients(parameters + one) - here) / STEP
        return slopes

    def _residual(self, parameters: np.ndarray) -> np.ndarray:
        coefficients = self._coefficients(parameters)
        return np.concatenate([rows @ coefficients[j] for j, rows in self._equations.items()])

    def _slopes(self, parameters: np.ndarray) -> np.ndarray:
        slopes = self._derivatives(parameters)
        return np.concatenate([rows @ slopes[j] for j, rows in self._equations.items()])

    @cached_property
    def _identified(self) -> tuple[np.ndarray, np.ndarray]:
        return _identified(self._slopes(self.parameters))

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
        return self._identified[0].shape[1] + sum(not cause.size for cause in self.causes)

    def without(self, cause: Cause) -> Fit:
        """Return the fit of all causes but one."""
        parts = dict(self.parts)
        kept = [other for other in self.causes if other != cause]
        start = np.concatenate([np.zeros(0), *(self.parameters[parts[other]] for other in kept)])
        return Fit(self._robot, self._equations, kept, start)

    def after_a_step(self, cause: Cause) -> tuple[float, np.ndarray]:
        """Return the squares after the best first step with another cause, and its start."""
        longer = Fit(self._robot, self._equations, [*self.causes, cause])
        steps = []
        for start in cause.starts(self._robot):
            parameters = np.concatenate([self.parameters, start])
            slopes, residual = longer._slopes(parameters), longer._residual(parameters)
            left = residual + slopes @ _step(slopes, residual)
            steps.append((float(left @ left), parameters))
        return min(steps, key=lambda each: each[0])

    def with_one_more(self, cause: Cause) -> Fit:
        """Return the fit of these causes and another one."""
        start = self.after_a_step(cause)[1]
        return Fit(self._robot, self._equations, [*self.causes, cause], start)


def _step(slopes: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return the shortest of the best steps of Gauss and Newton."""
    half, _ = _identified(slopes)
    return -half @ (half.T @ (slopes.T @ residual))


def _identified(slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return what equations tell about their parameters.

    :return: half of the covariance, shape (size, rank): it times its transpose is the covariance;
        and which parameters are identifiable, shape (size,).
    """
    if not slopes.shape[1]:
        return np.zeros((0, 0)), np.zeros(0, dtype=bool)
    scale = scale_of(slopes)
    scaled = slopes / scale
    squares, directions = eigh(scaled.T @ scaled)
    is_held = squares > DEPENDENT ** 2 * squares[-1]
    loose = np.square(directions[:, ~is_held]).sum(axis=1)
    half = directions[:, is_held] / np.sqrt(squares[is_held]) / scale[:, np.newaxis]
    return half, loose < DEPENDENT


class _Search:
    """The search among all causes that are conceivable for a robot."""

    def __init__(self, robot: Robot, equations: Reduced) -> None:
        self.equations, self._robot = equations, robot
        self._rows = {j: each.mechanics for j, each in equations.items()}
        self._candidates = conceivable(robot)
        self._penalty = float(np.log(max(2.0, sum(
            each.samples / each.correlation for each in equations.values()))))
        self._freedom = sum(each.freedom for each in equations.values())
        heaviest = HEAVIEST * mass(robot)
        self._most = heaviest * np.array([1.0, *[reach(robot)] * 3])

    def best(self) -> tuple[Fit, list[Fit]]:
        """Return the causes that explain most with few parameters, and what does as well."""
        factors = [Cause(What.FACTOR, j) for j in self.equations]
        starts: list[tuple[list[Cause], float]] = [
            ([], 0.0), (self._turned(), -2.0), (factors, 0.0)]
        tried = {frozenset(causes): self._fit(causes, start) for causes, start in starts}
        beam = sorted(tried.values(), key=self._criterion)
        best = beam[0]
        for _ in range(MAX_CAUSES):
            grown = []
            for fit in beam:
                for cause in self._promising(fit):
                    causes = frozenset((*fit.causes, cause))
                    if causes not in tried:
                        tried[causes] = longer = fit.with_one_more(cause)
                        if self._is_possible(longer) and self._is_significant(longer, fit):
                            grown.append(longer)
            grown.sort(key=self._criterion)
            if not grown or self._criterion(grown[0]) >= self._criterion(best):
                break
            best = grown[0]
            beam = list({
                (fit.causes[-1].what, sum(each.is_factor for each in fit.causes)): fit
                for fit in reversed(grown)}.values())
        best = self._pruned(best)
        tried.update({frozenset(each.causes): each for each in self._on_other_links(best)})
        return best, sorted((
            other for causes, other in tried.items() if not causes >= {*best.causes}
            and len(causes) <= len(best.causes) and self._is_possible(other)
            and self._criterion(other) < self._criterion(best) + TELLS_APART),
            key=self._criterion)

    def _fit(self, causes: Sequence[Cause], start: float) -> Fit:
        return Fit(self._robot, self._rows, causes, np.full(len(causes), start))

    def _on_other_links(self, fit: Fit) -> Iterator[Fit]:
        """Yield fits in which one load or mass belongs to another link."""
        for cause in fit.causes:
            if cause.body is not None:
                rest = fit.without(cause)
                yield from (rest.with_one_more(other) for other in self._candidates
                            if other.what is cause.what and other != cause
                            and are_compatible((*rest.causes, other)))

    def _promising(self, fit: Fit) -> list[Cause]:
        """Return those of each kind of cause that a first step tells to explain most."""
        of_kind: dict[What, list[tuple[float, int, Cause]]] = {}
        for k, cause in enumerate(self._candidates):
            if cause not in fit.causes and are_compatible((*fit.causes, cause)):
                squares, _ = fit.after_a_step(cause)
                if squares < fit.squares:
                    of_kind.setdefault(cause.what, []).append((squares, k, cause))
        return [cause for each in of_kind.values() for _, _, cause in sorted(each)[:PROMISING]]

    def only_signs(self) -> Fit:
        """Return nothing but the efforts that have the opposite sign."""
        return self._pruned(self._fit(self._turned(), -2.0))

    def _turned(self) -> list[Cause]:
        """Return factors for the coordinates whose efforts seem to have the opposite sign."""
        turned: list[Cause] = []
        for j, rows in self._rows.items():
            model, measured = rows[:, MODEL], rows[:, -1]
            sizes = float(np.linalg.norm(model) * np.linalg.norm(measured))
            if sizes > 0.0 and float(model @ measured) < TURNED * sizes:
                turned.append(Cause(What.FACTOR, j))
        return turned

    def _criterion(self, fit: Fit) -> float:
        return fit.squares + self._penalty * fit.freedom

    def _is_possible(self, fit: Fit) -> bool:
        """Return whether no mass is negative, and no load beyond what the robot could carry."""
        most = np.full(len(fit.parameters), np.inf)
        for cause, part in fit.parts:
            if cause.what is What.LOAD:
                most[part][:4] = self._most
            elif cause.what is What.MASS and fit.parameters[part.start] < 0.0:
                most[part] = 1.0  # nothing has less than no mass
        return bool((np.abs(fit.parameters) - SURE * fit.errors < most).all())

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
