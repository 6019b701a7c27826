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
The identification of a robot from recordings: parameters, their errors, and how well they fit.

The efforts of the model are judged on held-back data: samples that the fit did not see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import is_consistent
from ros2_rnea.errors import ArgumentError
from ros2_rnea.offline.identification.base_parameters import (
    base_parameters,
    condition_number,
    DETERMINED,
    why_not_identifiable,
)
from ros2_rnea.offline.identification.identified_model import changed_robot, changes_of
from ros2_rnea.offline.identification.information import (
    check_finite,
    Chunk,
    chunks,
    Information,
    one_thread,
    reduced,
    Residuals,
    residuals,
)
from ros2_rnea.offline.identification.recording import PreparedRecording, slowest_speeds
from ros2_rnea.offline.identification.reduced_equations import least_squares
from ros2_rnea.offline.identification.results import Identification, Parameter
from ros2_rnea.offline.identification.solver import (
    best_knees,
    fitted,
    inverse_of_seen,
    least_variance,
    natural_scales,
    Prior,
    quadratic,
    residual_of,
    slope_of,
    squares,
)
from ros2_rnea.offline.identification.time_blocks import FEWEST_RECORDINGS, time_blocks, TimeBlocks
from ros2_rnea.offline.identification.unknowns import coordinate_names, Design, GAIN, Unknowns
from ros2_rnea.robots.robot import Robot
from scipy.linalg import eigh

MAX_APART = 100
"""Of more recordings, none is compared with a fit of itself alone."""

ALONE = 1e-9
"""Directions of a recording's columns with a smaller share of their power tell nothing."""

HELD = 1.1
"""Spheres hold a fit back where it leaves so many times what it would leave without them."""

HELD_BACK = 0.3
"""The part of each recording, its last, on which the result is judged."""


def identify(
        recordings: Sequence[PreparedRecording],
        robot: Robot,
        unknowns: Unknowns = Unknowns(),  # noqa: B008 (it never changes)
        held_back: float = HELD_BACK,
        executor: Executor | None = None) -> Identification:
    """
    Return the robot that agrees best with recordings.

    :param recordings: prepared for this robot, each with its known payloads.
    :param robot: as the URDF has it, without those payloads.
    :param unknowns: what may differ from it.
    :param held_back: the part of each recording, its last, that the fit does not see and on which
        it is judged, from 0 on and below 1.  The preparation has seen it: delays and cut-offs are
        those of whole recordings.
    :param executor: reduces the recordings, in any number of processes or machines; otherwise
        this process does.
    :raises ArgumentError: where a recording does not fit the robot or holds too little, naming
        what is missing.
    """
    recordings = tuple(recordings)
    _check(recordings, robot, unknowns, held_back)
    splits = [round(len(one.times) * (1.0 - held_back)) for one in recordings]

    blocks = time_blocks(recordings, splits)

    def training() -> Iterator[Chunk]:
        for one, split, own in zip(recordings, splits, blocks.of_samples):
            yield from chunks(one, 0, split, blocks=own)

    def test() -> Iterator[Chunk]:
        for one, split in zip(recordings, splits):
            yield from chunks(one, split, len(one.times))

    design = Design(robot, unknowns, _largest_speeds(recordings, splits),
                    slowest_speeds([(one.qd[:split], one.moves[:split])
                                    for one, split in zip(recordings, splits)]))
    check_finite(recordings, design)
    several = 1 < len(recordings) <= MAX_APART
    each = [reduced(design, chunks(one, 0, split), executor)
            for one, split in zip(recordings, splits)] if several else []
    seen = sum(each[1:], each[0]) if several else reduced(design, training(), executor)
    _check_amount(design, seen)
    unseen = reduced(design, test(), executor)
    with one_thread():
        fit = _Fit(design, seen, blocks)

    def left() -> Residuals:
        return residuals(
            design, residual_of(design, fit.x), training(), seen.rows,
            fit.parameters_of_coordinate, len(blocks.recordings), executor)

    if any(one.quantity == 'stribeck' for one in design.unknowns):
        found = left()
        with one_thread():
            fit.take_noise(found)
            fit.choose(found)
    found = left()
    with one_thread():
        fit.take_noise(found)
        result = fit.result(found, unseen)
        return replace(result, apart=np.array([
            _apart_from_alone(own, residual_of(design, fit.x), one)
            for own, one in zip(each, recordings)])) if several and not result.gains else result


class _Fit:
    """
    A fit while its weights and its choice of unknowns are found.

    The weight of a coordinate is one over the variance of its residual.  How long the residuals
    are correlated decides the weight of all against the URDF, and the standard errors, but not the
    weights of the coordinates against each other: a residual that is long correlated is rather
    something that the model lacks than noise, and a coordinate of little weight would lack more.
    """

    def __init__(self, design: Design, seen: Information, blocks: TimeBlocks) -> None:
        self.design = design
        self.blocks = blocks
        self.seen = seen
        self.prior = Prior.of(design, seen)
        self.x = self.prior.center.copy()
        self.chosen = np.array([one.quantity != 'stribeck' for one in design.unknowns])
        self.variance = self._variance()  # of what the model before leaves
        self.samples_per_one = 1.0  # of all coordinates: how many count as one independent one
        self.parameters_of_coordinate = np.zeros(len(seen.rows))
        self._fit()

    @property
    def precision(self) -> np.ndarray:
        """Return the weight of each coordinate, shape (nv,)."""
        rows = np.maximum(self.seen.rows, 1)
        left = np.maximum(1.0 - self.parameters_of_coordinate / rows, 0.1)
        return left / (self.variance * self.samples_per_one)

    def take_noise(self, found: Residuals) -> None:
        """Weight the data by how many independent samples it has, and fit again."""
        rows = self.seen.rows
        self.samples_per_one = float(rows.sum() / (rows / found.correlation).sum())
        self._fit()

    def choose(self, found: Residuals) -> None:
        """Let joints have breakaway friction where the data shows it, and fit again."""
        self.chosen = best_knees(
            self.design, self.seen, self.seen.rows / found.correlation, self.chosen)
        self._fit()

    def hessian(self, weights: np.ndarray) -> np.ndarray:
        """Return that of half the weighted sum of squares, of what the fit could change."""
        _, hessian = quadratic(self.design, self.seen, weights, self.x)
        return np.where(self.chosen[:, None] & self.chosen[None, :], hessian, 0.0)

    def slopes_apart(self, found: Residuals) -> tuple[np.ndarray, ...]:
        """
        Return how far noise, and parts of the data, pull the unknowns, shapes (parts, unknowns).

        The sum of squares over the parts is the covariance of the gradient: for noise as long
        correlated as the residual, or whatever model error and noise are within a part of the
        data; :mod:`.time_blocks` says more.

        :return: for noise, by blocks of time, and by recordings where there are enough of them.
        """
        values, vectors = eigh(self.hessian(
            self.precision * found.correlation / self.samples_per_one))
        noise = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        slopes = slope_of(self.design, self.x, [
            weight * own for weight, own in zip(self.precision, found.scores)])
        slopes = np.where(self.chosen, slopes, 0.0)
        parts = [_summed(slopes, self.blocks.phases)]
        by_recording = _summed(slopes, self.blocks.recordings)
        if len(by_recording) >= FEWEST_RECORDINGS:
            parts.append(by_recording)
        return noise, *(_apart(own) for own in parts if len(own) > 1)

    def _fit(self) -> None:
        for _ in range(10):
            before = self.precision
            self.x = fitted(
                self.design, self.seen, before, self.prior, self.chosen, self.x)
            if self.design.payload_link is not None:
                self.prior = self.prior.around_payload(self.design, self.x)
            self.variance = self._variance()
            self.parameters_of_coordinate = self._parameters()
            if np.allclose(self.precision, before, rtol=1e-3, atol=0.0):
                break

    def _variance(self) -> np.ndarray:
        """Return the variance of the residual of each coordinate, shape (nv,)."""
        return np.maximum(
            squares(self.seen, residual_of(self.design, self.x)) / np.maximum(self.seen.rows, 1),
            least_variance(self.seen))

    def _parameters(self) -> np.ndarray:
        """Return how many parameters each coordinate determines, shape (nv,); they add up."""
        inverse, _ = inverse_of_seen(
            self.hessian(self.precision), natural_scales(self.prior, self.x))
        return np.array([
            max(float(np.sum(self.hessian(only) * inverse)), 0.0)
            for only in np.diag(self.precision)])

    def result(self, found: Residuals, unseen: Information) -> Identification:
        """Return the fit, judged on data that it did not see."""
        design, x = self.design, self.x
        scales = natural_scales(self.prior, x)
        at_x, hessian = quadratic(design, self.seen, self.precision, x)
        # At the center; linearized at x, since the residual is not linear in gains.
        gradient = at_x + hessian @ (self.prior.center - x)
        slopes = self.slopes_apart(found)
        inverse, hidden = inverse_of_seen(self.hessian(self.precision), scales)
        errors = np.sqrt(hidden + np.max(
            [np.square(one @ inverse).sum(axis=0) for one in slopes], axis=0))
        determined = self.chosen & (errors <= DETERMINED * scales)
        if not determined.any():
            raise ArgumentError(
                'the recordings determine none of the unknown numbers: the efforts hardly depend '
                'on them in this motion, or are mostly noise; record a motion of all joints, in '
                'both directions and at several speeds')
        gains = _gains(design, x)
        measured, urdf = _measured(design, gains), _urdf(design, gains)
        left = [gain * own for gain, own in zip(gains, residual_of(design, x))]
        changes = changes_of(design, x, self.chosen)
        return Identification(
            robot=changed_robot(design, x, changes),
            parameters=self._named(errors, determined),
            base_parameters=tuple(
                one for one in base_parameters(
                    design.unknowns, self.chosen, hessian, gradient, slopes, self.prior.center,
                    scales)
                if not (len(one.terms) == 1 and one.name.startswith(f'{GAIN} of '))),
            joints=coordinate_names(design.robot.tree),
            measured_rms=_rms(unseen, measured),
            urdf_rms=_rms(unseen, urdf),
            identified_rms=_rms(unseen, left),
            noise_rms=_rms(self.seen, left),
            physically_consistent=all(
                is_consistent(x[first:first + 10]) for first in design.bodies),
            condition_number=condition_number(self.chosen, hessian),
            recordings=int(self.blocks.recordings.max()) + 1,
            samples=self.seen.rows,
            independent_samples=self.seen.rows / found.correlation,
            not_identifiable=why_not_identifiable(
                design, self.seen, self.chosen & ~determined),
            slow_joints=design.slow_joints,
            **self._without_spheres(_rms(self.seen, left)),
            **vars(changes))

    def _room(self, first: int) -> float:
        """Return how much of its sphere the mass of a body leaves, by what the URDF's leaves."""
        bound, part = self.prior.spheres[first], slice(first, first + 10)
        now, before = (bound @ x[part] / x[first] for x in (self.x, self.prior.center))
        return float(now / before)

    def _without_spheres(self, left: np.ndarray) -> dict[str, Any]:
        """Return what a fit without spheres says of them, by fields of Identification."""
        if not self.prior.spheres:
            return {}
        design = self.design
        x = fitted(design, self.seen, self.precision, self.prior.without_spheres(), self.chosen,
                   self.x)
        free = _rms(self.seen, [
            gain * own for gain, own in zip(_gains(design, x), residual_of(design, x))])
        return {
            'tightest': design.unknowns[min(self.prior.spheres, key=self._room)].owner,
            'held_by_spheres': np.where(
                left > HELD * free, np.sqrt(np.maximum(left**2 - free**2, 0.0)), 0.0)}

    def _named(self, errors: np.ndarray, determined: np.ndarray) -> tuple[Parameter, ...]:
        result = []
        for index in np.flatnonzero(self.chosen):
            unknown, value = self.design.unknowns[index], float(self.x[index])
            error = float(errors[index])
            if unknown.quantity == GAIN:  # the model's effort for a unit of measured effort
                value, error = 1.0 / value, error / value**2
            result.append(Parameter(
                unknown.name, unknown.quantity, unknown.owner, unknown.unit, value,
                error if determined[index] else None, unknown.urdf_value))
        return tuple(result)


def _apart_from_alone(
        seen: Information, weights: Sequence[np.ndarray], recording: PreparedRecording,
        ) -> list[float]:
    """
    Return by coordinate what is left of one recording, by what a fit of it alone would leave.

    :param weights: what (X, b, y) of each coordinate is multiplied by to give the residual.
    """
    result = []
    share = min(1.0, 2.0 * recording.cutoff * recording.period)  # of the rows is independent
    for count, products, own in zip(seen.rows, seen.products, weights):
        difference = np.zeros(len(products))
        difference[-2:] = -1.0, 1.0  # of the measured effort and that of the model before
        scale = np.sqrt(np.maximum(np.diag(products)[:-2], 1e-300))
        columns = products[:-2, :-2] / scale / scale[:, None]
        best, rank = least_squares(columns, products[:-2] @ difference / scale, ALONE)
        whole = float(difference @ products @ difference)
        freedom = share * float(count)
        if freedom < 3.0 * rank or not whole > 0.0:
            result.append(np.nan)
            continue
        left = whole - float(best @ (products[:-2] @ difference / scale))
        alone = max(left * freedom / (freedom - rank), 1e-6 * whole)
        result.append(float(np.sqrt(max(float(own @ products @ own), 0.0) / alone)))
    return result


def _summed(slopes: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return sums of slopes over blocks of the same group, shape (groups, unknowns)."""
    result = np.zeros((int(groups.max()) + 1, slopes.shape[1]))
    np.add.at(result, groups, slopes)
    return result


def _apart(slopes: np.ndarray) -> np.ndarray:
    """Return slopes without their mean, corrected for the degree of freedom that it takes."""
    return (slopes - slopes.mean(axis=0)) * np.sqrt(len(slopes) / (len(slopes) - 1))


def _largest_speeds(
        recordings: Sequence[PreparedRecording], splits: Sequence[int]) -> np.ndarray:
    """Return the largest speed of each coordinate before the split of each recording."""
    return np.max([
        np.maximum(one.qd[:split].max(axis=0, initial=0.0), -one.qd[:split].min(
            axis=0, initial=0.0)) for one, split in zip(recordings, splits)], axis=0)


def _gains(design: Design, x: np.ndarray) -> np.ndarray:
    """Return by coordinate the true effort for a unit of the measured one, shape (nv,)."""
    gains = np.ones(len(design.of_coordinate))
    for index, coordinates in design.gained_coordinates():
        gains[coordinates] = 1.0 / x[index]
    return gains


def _measured(design: Design, gains: np.ndarray) -> list[np.ndarray]:
    """Return what (X, b, y) of each coordinate is multiplied by to give the measured effort."""
    return [gain * np.eye(len(columns) + 2)[-1]
            for gain, columns in zip(gains, design.of_coordinate)]


def _urdf(design: Design, gains: np.ndarray) -> list[np.ndarray]:
    """Return what gives its difference from the model before."""
    return [own - np.eye(len(own))[-2] for own in _measured(design, gains)]


def _rms(information: Information, weights: Sequence[np.ndarray]) -> np.ndarray:
    """Return the root of the mean square by coordinate; NaN where there are no rows."""
    rows = np.where(information.rows > 0, information.rows, np.nan)
    return np.sqrt(squares(information, weights) / rows)


def _check(
        recordings: Sequence[PreparedRecording], robot: Robot, unknowns: Unknowns,
        held_back: float) -> None:
    """Check what can be checked before a sample is looked at."""
    if not 0.0 <= held_back < 1.0:
        raise ArgumentError(
            f'held_back is {held_back}; it needs a part of each recording, from 0 on and below 1')
    if not recordings:
        raise ArgumentError('no recording is given; a fit needs at least one')
    for one in recordings:
        shapes = {
            'q': (len(one.times), robot.nq), 'qd': (len(one.times), robot.nv),
            'qdd': (len(one.times), robot.nv), 'tau': (len(one.times), robot.nv),
            'moves': (len(one.times), robot.nv)}
        for name, shape in shapes.items():
            if getattr(one, name).shape != shape:
                raise ArgumentError(
                    f'recording {one.name!r}: {name} has shape {getattr(one, name).shape}; '
                    f'{robot.name!r} needs {shape}: prepare the recording for this robot')
        if len(one.times) < 2:
            raise ArgumentError(
                f'recording {one.name!r} has {len(one.times)} sample; a motion needs many')
    if all((one.q == one.q[0]).all() for one in recordings):
        names = ', '.join(repr(one.name) for one in recordings)
        raise ArgumentError(
            f'nothing moves in {names}: all positions are constant; record a motion of the joints '
            'whose numbers are unknown')
    if len(unknowns.gains) and not any(one.payloads for one in recordings):
        raise ArgumentError(
            'drive gains are unknown, but no recording is of a known payload: efforts and masses '
            'then have a common factor that no data tells; attach a known mass, record the motion '
            'again, and say its mass and centre as the payload of that recording')


def _check_amount(design: Design, seen: Information) -> None:
    """Check that there are more rows than unknowns."""
    if int(seen.rows.sum()) < len(design.unknowns):
        raise ArgumentError(
            f'{int(seen.rows.sum())} efforts of moving joints are left for '
            f'{len(design.unknowns)} unknown numbers; record more motion, or let fewer numbers be '
            'unknown')
