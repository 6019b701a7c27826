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
The fit: the numbers that agree best with the data, each identified body one that can be.

It is the minimum of

    ½ Σ w_j (residuals of coordinate j)² + URDF_WEIGHT Σ (how far a body is from the URDF's)

over the unknowns.  The distance is the log-det divergence of pseudo-inertias (Lee, Wensing and
Park 2020, see :mod:`ros2_rnea.dynamics.pseudo_inertia`).  It is convex in the parameters, infinite
at the boundary of what bodies can be and where they can be (:mod:`.link_spheres`), and a
self-concordant barrier.  So a Newton method with a line search goes to the only minimum, and every
step of it is consistent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import ball, log_det_divergence, nearest_consistent
from ros2_rnea.offline.identification.information import Information
from ros2_rnea.offline.identification.link_spheres import ends_of_bodies, sphere_around
from ros2_rnea.offline.identification.unknowns import Design, GAIN, PAYLOAD
from scipy.linalg import cho_factor, cho_solve, eigh

URDF_WEIGHT = 0.1
"""
The weight of the URDF.  It counts as a measurement whose standard error is about three times the
size of the body itself.  Data that determines a number to some per cent outweighs it a thousand
times.
"""

MASS_WEIGHT, SPHERE_WEIGHT = 5.0, 2.0
"""
How many times as much as the distribution of mass count the mass and the extent of a body, which
scales and drawings tell better.  Where the data determines only sums, the mass stays near to that
of the URDF.
"""

DENSITY = 2000.0
"""Density of the ball that a body is compared with if only its mass is known [kg/m^3]."""

STARTING_MASS = 1.0
"""The mass from which the fit starts for a body of which nothing is known [kg]."""

CHOICE = 18.0
"""
The F statistic that breakaway friction has to reach.  One column alone reaches 11 by noise in one
of a thousand data sets; the rest is for the choice among many.
"""

UNSEEN_DEVIATION = 1e4
"""The standard deviation of what the data does not see, relative to its natural scale."""

MIN_NOISE = 1e-4
"""The least standard deviation of noise that is believed, relative to the measured effort."""

CONVERGED = 1e-9
"""
What is left to gain when a Newton method takes its last step, in units of half a squared standard
error; that step gains all of it but its square.
"""

PRIOR_DECAY = 0.5
"""
Factor by which the weight of the prior falls at a time.  Where bodies are far from the URDF's, a
tenth needs more than a thousand short steps at a time, and a half less than a hundred.
"""

NEAR, MAX_STEPS = 30, 1000
"""The most steps of a Newton method near the minimum, and on the way there, where it takes ten."""

GRAVITY_TOLERANCE = 1e-4
"""Standard error with which the magnitude of gravity is known [m/s^2]."""


@dataclass(frozen=True)
class Prior:
    """
    What is believed of the unknowns before the data: where they are, and on which scale.

    :ivar center: shape (unknowns,); of a body, the reference of its divergence.
    :ivar scales: of the others than inertial ones, shape (unknowns,).
    :ivar bodies: where ten inertial unknowns begin.
    :ivar is_positive: which unknowns cannot be negative.
    :ivar sums: by where the ten of a body begin, factors of these whose sums are positive, shape
        (1 or 2, 10): of its mass, and of the sphere into which it has to fit where the description
        has lengths.  A body without mass in the description, and a payload, have none.
    """

    center: np.ndarray
    scales: np.ndarray
    bodies: tuple[int, ...]
    is_positive: np.ndarray
    sums: Mapping[int, np.ndarray]

    @classmethod
    def of(cls, design: Design, information: Information) -> Prior:
        """Return that of the model before, with scales that the measured efforts have."""
        unknowns = design.unknowns
        center = np.array([unknown.urdf_value for unknown in unknowns])
        ends, margins = ends_of_bodies(design.robot.tree)
        sums = {}
        for first in design.bodies:
            part, body = slice(first, first + 10), unknowns[first].body
            if unknowns[first].owner == PAYLOAD or not center[first] > 0.0:
                center[part] = ball(STARTING_MASS, (0.0, 0.0, 0.0), DENSITY)
                continue
            center[part] = nearest_consistent(center[part])
            sums[first] = np.eye(1, 10)
            if margins[body] > 0.0:
                sums[first] = np.stack([*sums[first], sphere_around(
                    ends[body], margins[body], center[part])])
        is_positive = np.array([not unknown.is_signed for unknown in unknowns])
        center[is_positive] = np.maximum(center[is_positive], 0.0)
        return cls(center, _scales(design, information), design.bodies, is_positive, sums)

    def value(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """
        Return how far unknowns are from what is believed, and how that changes.

        It does in coordinates in which its Hessian is the unit matrix: the scale of an unknown,
        and for a body those of its divergence.

        :return: the distance, its gradient in these coordinates, and the change of the unknowns
            for each of them, shape (unknowns, unknowns).
        """
        gradient = (x - self.center) / self.scales
        changes = np.diag(self.scales)
        squares_of_others = gradient**2
        total = 0.0
        for first in self.bodies:
            part = slice(first, first + 10)
            squares_of_others[part] = 0.0
            sums = self.sums.get(first, ())
            value, gradient[part], changes[part, part] = log_det_divergence(
                x[part], self.center[part], sums, (MASS_WEIGHT, SPHERE_WEIGHT)[:len(sums)])
            total += value
        return total + 0.5 * float(np.sum(squares_of_others)), gradient, changes

    @property
    def spheres(self) -> dict[int, np.ndarray]:
        """Return the factors of the spheres, by where the ten of a body begin."""
        return {first: sums[1] for first, sums in self.sums.items() if len(sums) > 1}

    def without_spheres(self) -> Prior:
        """Return this with the masses only."""
        return replace(self, sums={first: sums[:1] for first, sums in self.sums.items()})

    def around_payload(self, design: Design, x: np.ndarray) -> Prior:
        """Return this with the payload a ball of the mass and centre that a fit has found."""
        center = self.center.copy()
        for first in self.bodies:
            if design.unknowns[first].owner == PAYLOAD:
                center[first:first + 10] = ball(
                    x[first], x[first + 1:first + 4] / x[first], DENSITY)
        return replace(self, center=center)


def residual_of(design: Design, x: np.ndarray) -> list[np.ndarray]:
    """Return for each coordinate what (X, b, y) is multiplied by to give the residual."""
    change = x - np.array([unknown.urdf_value for unknown in design.unknowns])
    result = []
    for coordinate, columns in enumerate(design.of_coordinate):
        scale = x[gain] if (gain := _gain(design, coordinate)) is not None else 1.0
        result.append(np.array([*(-scale * change[columns]), -scale, 1.0]))
    return result


def squares(information: Information, weights: Sequence[np.ndarray]) -> np.ndarray:
    """Return by coordinate the sum of squares of (X, b, y) times weights, shape (nv,)."""
    return np.array([
        max(float(one @ products @ one), 0.0)
        for products, one in zip(information.products, weights)])


def quadratic(
        design: Design, information: Information, precision: np.ndarray, x: np.ndarray,
        ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the gradient and Hessian of half the weighted sum of squares, at x.

    :param precision: the weight of each coordinate, shape (nv,).
    """
    size = len(design.unknowns)
    hessian = np.zeros((size, size))
    residuals = residual_of(design, x)
    gradient = slope_of(design, x, [
        weight * products @ left
        for weight, products, left in zip(precision, information.products, residuals)])
    for coordinate, columns in enumerate(design.of_coordinate):
        gain = _gain(design, coordinate)
        scale = 1.0 if gain is None else x[gain]
        products = information.products[coordinate] * precision[coordinate]
        places = np.ix_(columns, columns)
        hessian[places] += scale**2 * products[:-2, :-2]
        if gain is not None:
            along = residuals[coordinate] / scale  # the residual's derivative by the scale
            along[-1] = 0.0
            mixed = products @ along
            hessian[gain, gain] += along @ mixed
            hessian[columns, gain] -= scale * mixed[:-2]
            hessian[gain, columns] -= scale * mixed[:-2]
    if design.gravity:
        axes = np.array(design.gravity)
        length = np.linalg.norm(x[axes])
        normal = x[axes] / length
        excess = length - np.linalg.norm(design.robot.free_fall)
        gradient[axes] += normal * excess / GRAVITY_TOLERANCE**2
        hessian[np.ix_(axes, axes)] += normal[:, None] * normal / GRAVITY_TOLERANCE**2
    return gradient, hessian


def slope_of(design: Design, x: np.ndarray, scores: Sequence[np.ndarray]) -> np.ndarray:
    """
    Return the gradient of half a weighted sum of squares, for all rows or for blocks of them.

    :param scores: for each coordinate (X, b, y)ᵀ times its residual and its weight, shape
        (..., columns + 2).
    :return: shape (..., unknowns).
    """
    result = np.zeros((*scores[0].shape[:-1], len(design.unknowns)))
    residuals = residual_of(design, x)
    for coordinate, columns in enumerate(design.of_coordinate):
        gain = _gain(design, coordinate)
        scale = 1.0 if gain is None else x[gain]
        result[..., columns] -= scale * scores[coordinate][..., :-2]
        if gain is not None:
            along = residuals[coordinate] / scale  # the residual's derivative by the scale
            along[-1] = 0.0
            result[..., gain] += scores[coordinate] @ along
    return result


def fitted(
        design: Design,
        information: Information,
        precision: np.ndarray,
        prior: Prior,
        chosen: np.ndarray,
        x: np.ndarray) -> np.ndarray:
    """
    Return the unknowns at the minimum.

    The residual is linear in all but drive gains and gravity's direction, which are linearized
    anew until they stay.

    :param chosen: which unknowns may change, shape (unknowns,).
    :param x: where to start: consistent.
    """
    is_linear = not design.gravity and not design.gained_coordinates()
    for _ in range(1 if is_linear else 30):
        gradient, hessian = quadratic(design, information, precision, x)
        found = _minimum(gradient, hessian, prior, chosen, x)
        moved = np.max(np.abs(found - x) / np.maximum(prior.scales, np.abs(x)), initial=0.0)
        x = found
        if moved < 1e-10:
            break
    return x


def least_variance(information: Information) -> np.ndarray:
    """Return the least variance of noise that is believed, shape (nv,)."""
    measured = np.array([products[-1, -1] for products in information.products])
    return np.maximum(MIN_NOISE**2 * measured / np.maximum(information.rows, 1), 1e-30)


def best_knees(
        design: Design,
        information: Information,
        independent: np.ndarray,
        chosen: np.ndarray) -> np.ndarray:
    """
    Return which unknowns are chosen once breakaway friction is where the data shows it.

    The only number that is not linear, the Stribeck velocity, is searched on a grid: each of its
    values is a column already.  Of those with a positive breakaway friction, the best is taken if
    it lowers the sum of squares more than noise would in one of a thousand data sets.

    :param independent: how many independent samples each coordinate has.
    """
    result = chosen.copy()
    for coordinate, columns in enumerate(design.of_coordinate):
        tried = [place for place, column in enumerate(columns)
                 if design.unknowns[column].quantity == 'stribeck']
        if not tried or independent[coordinate] < 30:
            continue
        products = information.products[coordinate]
        total = np.eye(len(columns) + 2)[-1] - np.eye(len(columns) + 2)[-2]
        right = products @ total
        base = [*np.flatnonzero(chosen[columns])]
        sums = {}
        for place in (None, *tried):
            kept = base if place is None else [*base, place]
            rest, last = _remainder(
                products[np.ix_(kept, kept)], right[kept], float(total @ right))
            if place is None or last > 0.0:
                sums[place] = rest
        best = min(sums, key=lambda place: sums[place])
        gained = (sums[None] - sums[best]) / max(sums[best], 1e-300) * independent[coordinate]
        if best is not None and gained > CHOICE:
            result[columns[best]] = True
    return result


def inverse_of_seen(hessian: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the inverse of a Hessian in what the data sees, and the variances of what it does not.

    :param hessian: of half the weighted sum of squares, shape (unknowns, unknowns).
    :param scales: a large change of each unknown; along what the data does not see, the standard
        deviation is ``UNSEEN_DEVIATION`` of it.
    :return: shapes (unknowns, unknowns) and (unknowns,).
    """
    values, vectors = eigh(scales[:, None] * hessian * scales[None, :])
    seen = values > max(UNSEEN_DEVIATION**-2, 1e-12 * values[-1])
    vectors *= scales[:, None]
    hidden = UNSEEN_DEVIATION**2 * np.square(vectors[:, ~seen]).sum(axis=1)
    return (vectors[:, seen] / values[seen]) @ vectors[:, seen].T, hidden


def natural_scales(prior: Prior, x: np.ndarray) -> np.ndarray:
    """Return for each unknown how large a change at x is 1 in the prior, sizes of bodies aside."""
    _, _, changes = replace(prior, sums={}).value(x)
    return np.sqrt(np.sum(changes**2, axis=1))


def _minimum(
        gradient: np.ndarray,
        hessian: np.ndarray,
        prior: Prior,
        chosen: np.ndarray,
        start: np.ndarray) -> np.ndarray:
    """
    Return the minimum of a quadratic and the prior.

    Near to it, a Newton method finds it at once.  Else its steps would be many and short: from
    what is believed, the path of the minima is followed while the weight of the prior falls from
    that of the data (S. Boyd and L. Vandenberghe, "Convex Optimization", 2004, chapter 11).

    :param gradient: of the quadratic, at start; hessian is its Hessian there.
    """
    x, is_found = _newton(
        gradient, hessian, prior, chosen, start, start, URDF_WEIGHT, CONVERGED, NEAR)
    if is_found:
        return x
    x = prior.center
    slope = prior.value(x)[2].T @ (gradient + hessian @ (x - start))
    weight = max(float(np.max(np.abs(slope), initial=0.0)), URDF_WEIGHT)
    while weight > URDF_WEIGHT:
        x, _ = _newton(gradient, hessian, prior, chosen, start, x, weight, weight, MAX_STEPS)
        weight *= PRIOR_DECAY
    return _newton(
        gradient, hessian, prior, chosen, start, x, URDF_WEIGHT, CONVERGED, MAX_STEPS)[0]


def _newton(
        gradient: np.ndarray,
        hessian: np.ndarray,
        prior: Prior,
        chosen: np.ndarray,
        start: np.ndarray,
        x: np.ndarray,
        weight: float,
        converged: float,
        steps: int) -> tuple[np.ndarray, bool]:
    """
    Return the minimum at one weight of the prior, by a projected Newton method.

    D. P. Bertsekas, "Projected Newton Methods for Optimization Problems with Simple Constraints",
    SIAM Journal on Control and Optimization 20(2), 1982.

    :param x: where to begin; the others are those of :func:`_minimum`.
    :param converged: what may be left to gain.
    :param steps: the most.
    :return: where it has ended, and whether nothing more than that is left to gain.
    """
    def value_at(x: np.ndarray) -> float:
        change = x - start
        return (float(gradient @ change + 0.5 * change @ hessian @ change)
                + weight * prior.value(x)[0])

    value = value_at(x)
    for _ in range(steps):
        _, belief, changes = prior.value(x)
        slope = changes.T @ (gradient + hessian @ (x - start)) + weight * belief
        held = ~chosen | (prior.is_positive & (x <= 0.0) & (slope > 0.0))
        free = np.flatnonzero(~held)
        directions = changes[:, free]
        curvature = directions.T @ hessian @ directions + weight * np.eye(len(free))
        step = cho_solve(cho_factor(curvature), -slope[free])
        gain = -float(slope[free] @ step)
        step = directions @ step
        if gain < converged:
            last = _clipped(x + step, prior)
            return last if np.isfinite(value_at(last)) else x, True
        for halving in range(60):
            trial = _clipped(x + step * 0.5**halving, prior)
            next_value = value_at(trial)
            if next_value < value - 1e-4 * 0.5**halving * gain:
                break
        else:
            return x, True  # rounding hides what is left to gain
        x, value = trial, next_value
    return x, False


def _clipped(x: np.ndarray, prior: Prior) -> np.ndarray:
    """Return unknowns with none below zero that cannot be."""
    return np.where(prior.is_positive, np.maximum(x, 0.0), x)


def _remainder(
        products: np.ndarray, right: np.ndarray, total: float) -> tuple[float, float]:
    """
    Fit by least squares.

    :return: the sum of squares that is left, and the last coefficient.
    """
    norms = np.sqrt(np.diag(products))
    seen = norms > 0.0
    if not seen.any():
        return total, 0.0
    inner = 1.0 / norms[seen]
    values, vectors = eigh(inner[:, None] * products[np.ix_(seen, seen)] * inner[None, :])
    kept = values > 1e-12 * values[-1]
    along = vectors[:, kept].T @ (inner * right[seen])
    left = max(total - float(np.sum(along**2 / values[kept])), 0.0)
    last = inner[-1] * float(vectors[-1, kept] @ (along / values[kept])) if seen[-1] else 0.0
    return left, last


def _gain(design: Design, coordinate: int) -> int | None:
    for index, coordinates in design.gained_coordinates():
        if coordinates.start <= coordinate < coordinates.stop:
            return index
    return None


def _scales(design: Design, information: Information) -> np.ndarray:
    """Return for each unknown which change of it would change efforts as much as they are."""
    scales = np.ones(len(design.unknowns))
    for index, unknown in enumerate(design.unknowns):
        if unknown.quantity == GAIN or unknown.is_inertial:
            continue
        if index in design.gravity:
            scales[index] = max(float(np.linalg.norm(design.robot.free_fall)), 1.0)
            continue
        effort = column = 0.0
        for columns, products in zip(design.of_coordinate, information.products):
            for place in np.flatnonzero(columns == index):
                effort += products[-1, -1]
                column += products[place, place]
        if effort > 0.0 and column > 0.0:
            scales[index] = np.sqrt(effort / column)
    return scales
