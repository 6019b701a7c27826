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
Friction, offset and rotor of one coordinate, in addition to the causes that were found.

Each is judged against all that is not known: noise, the causes' figures, what no cause explains,
and other causes that explain the recordings as well.  What masses or gravity that are not true can
do as well is doubtful: a joint that stands still shows no offset.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import hypot

import numpy as np
from ros2_rnea.offline.identification.cause_search import Explanation, FALSE_ALARMS
from ros2_rnea.offline.identification.cause_words import conclude
from ros2_rnea.offline.identification.causes import What
from ros2_rnea.offline.identification.comparison import Coordinate
from ros2_rnea.offline.identification.conclusions import Conclusion, Estimate, Kind
from ros2_rnea.offline.identification.reduced_equations import (
    BY_DIRECTION,
    COULOMB,
    MODEL,
    OFFSET,
    OWN,
    ROTOR,
    VISCOUS,
)
from ros2_rnea.robots.robot import Robot
from scipy.linalg import solve_triangular
from scipy.stats import t as student

MOSTLY = 0.5
"""What has such a share of an effort's RMS is most of it; nothing has more than its inverse."""

SIZE = 0.02
"""Friction, an offset or a rotor is told where it has this share of the RMS of the effort."""

IMPOSSIBLE = 10.0
"""No friction, offset or rotor has so many times the RMS of the effort that was measured."""


class OwnTerms:
    """
    Friction, offset and rotor of one coordinate.

    :param robot: the model.
    :param explanation: of the recordings.
    :param j: index of the coordinate.
    :param measured_rms: of its whole effort, offset included [Nm or N].
    """

    def __init__(
            self, robot: Robot, explanation: Explanation, j: int, coordinate: Coordinate,
            measured_rms: float) -> None:
        self._coordinate, self._equations = coordinate, explanation.equations[j]
        body = next(each for each in robot.tree.bodies
                    if each.v_index <= j < each.v_index + each.type.nv)
        model = float(explanation.fit.coefficients[j, MODEL])
        self._given = {VISCOUS: model * float(body.damping), COULOMB: model * float(body.friction)}
        self._limit = float(student.isf(
            FALSE_ALARMS / (2.0 * len(OWN) * robot.nv), self._equations.freedom))
        kept, values, errors = self._significant(*self._estimate(explanation, j))
        alone = self._limit * self._equations.errors_beside_mechanics(kept)
        is_loaded = any(cause.what is What.LOAD for cause in explanation.fit.values)
        self._kept: dict[int, Estimate] = {}
        self._questions: list[str] = []
        self._is_like_masses = False
        for k, value, error, bound in zip(kept, values.tolist(), errors.tolist(), alone.tolist()):
            column = self._equations.own[k]
            size = self._equations.rms_of(self._equations.own_columns[:, k] * value)
            if size < SIZE * self._equations.measured_rms or not (
                    self._equations.moves or column == OFFSET):
                continue
            may_be_rotor = column == ROTOR and value * model > 0.0 and not is_loaded
            quantity = Estimate(OWN[column], value, error, self._unit(column))
            if size > IMPOSSIBLE * measured_rms:
                self._questions.append(
                    f'The effort of joint {coordinate.label!r} would have to differ by {quantity} '
                    f'({quantity.name}), far more than its measured effort: a position, or its '
                    'unit, may not be what the model takes it for.')
            elif column == ROTOR and abs(value) > bound and (
                    np.sign(model) * value + abs(model) * body.armature < -self._limit * error):
                self._questions.append(  # masses would not explain it, either
                    f'The effort of joint {coordinate.label!r} differs by {quantity} '
                    f'({quantity.name}), less than no rotor: friction that is late where the '
                    'joint turns back, or a sensor that is slow, looks like that.')
            elif abs(value) > bound or may_be_rotor:
                self._kept[column] = quantity
                self._is_like_masses |= abs(value) <= bound
            else:
                self._questions.append(self._doubt(quantity))

    def _doubt(self, quantity: Estimate) -> str:
        return (f'The effort of joint {self._coordinate.label!r} differs by {quantity} '
                f'({quantity.name}), but masses or gravity that are not true can do that, too: '
                'let this joint and those before it move further.')

    def _estimate(self, explanation: Explanation, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of the own columns, as measured efforts, and their covariance."""
        own = self._equations.own_columns
        rows = self._equations.triangle[:own.shape[1], own.shape[1]:]
        inverse = solve_triangular(own[:own.shape[1]], np.eye(own.shape[1]))
        values, *others = (-inverse @ rows @ fit.coefficients[j] for fit in (
            explanation.fit, *explanation.rivals, *explanation.discarded))
        by_causes = inverse @ rows @ explanation.fit.by_parameters[j]
        sizes = np.array([self._equations.rms_of(column) for column in own.T])
        by_rivals = np.square([other - values for other in others]).max(axis=0, initial=0.0)
        by_misfit = np.square(explanation.misfit[j] / sizes)  # may be correlated with the columns
        covariance = by_causes @ explanation.fit.covariance @ by_causes.T
        return values, inverse @ inverse.T + covariance + np.diag(by_misfit + by_rivals)

    def _significant(
            self, values: np.ndarray, covariance: np.ndarray,
            ) -> tuple[list[int], np.ndarray, np.ndarray]:
        """Return which values are not zero, and these with their errors if all others are."""
        kept, errors = [*range(len(values))], np.sqrt(np.diag(covariance))
        while kept and min(ratios := np.abs(values) / errors) <= self._limit:
            weakest = int(np.argmin(ratios))
            column = covariance[:, weakest] / covariance[weakest, weakest]
            values = np.delete(values - column * values[weakest], weakest)
            covariance = covariance - column[:, np.newaxis] * covariance[weakest]
            covariance = np.delete(np.delete(covariance, weakest, axis=0), weakest, axis=1)
            errors = np.sqrt(np.diag(covariance))
            del kept[weakest]
        return kept, values, errors

    def _unit(self, column: int) -> str:
        effort, position = self._coordinate.effort_unit, self._coordinate.position_unit
        if column == ROTOR:
            return 'kg m²' if effort == 'Nm' else 'kg'
        return f'{effort} s/{position}' if column in (VISCOUS, BY_DIRECTION) else effort

    @property
    def rms(self) -> float:
        """Return the RMS that friction has of the measured effort, less an offset [Nm or N]."""
        values = [0.0 if column in (OFFSET, ROTOR) else self._given.get(column, 0.0) + (
            self._kept[column].value if column in self._kept else 0.0)
            for column in self._equations.own]
        return self._equations.rms_of(self._equations.own_columns @ np.array(values))

    def said(self, factor: Estimate | None) -> tuple[
            list[Conclusion], list[str], list[Conclusion]]:
        """
        Return conclusions, what is not known, and which conclusions speak for a turned sign.

        :param factor: measured by true effort; None where it is open: friction is then all of
            the measured effort, and an inertia is doubtful, since the model's depends on it.
        """
        label, kept, given = self._coordinate.label, dict(self._kept), self._given
        conclusions: list[Conclusion] = []
        questions = [*self._questions]
        if factor is None:
            if ROTOR in kept:
                questions.append(self._doubt(kept.pop(ROTOR)))
            kept = {column: replace(each, value=each.value + given.get(column, 0.0))
                    for column, each in kept.items()}
            given = dict.fromkeys(given, 0.0)
        else:
            kept = {column: _ratio(each, factor) for column, each in kept.items()}
            given = {column: each / factor.value for column, each in given.items()}

        def tell(kind: Kind, columns: Collection[int], **words: str) -> None:
            parts = [kept.pop(column) for column in columns if column in kept]
            if parts:
                conclusions.append(conclude(
                    kind, f'joint {label!r}', parts,
                    max(abs(each.value) / each.standard_error for each in parts), (), **words))

        remark = ', counted in the measured effort, of which a factor is open' * (factor is None)
        tell(Kind.OFFSET, [OFFSET], remark=remark)
        tell(Kind.ROTOR, [ROTOR], like=(
            'which has too much of it in the model' if ROTOR in kept and kept[ROTOR].value < 0.0
            else 'as a rotor behind a gear does' + self._is_like_masses * (
                ', or as masses beyond it that are too small in the model: the recordings do not '
                'tell which')))
        changes = {column: kept[column] for column in given if column in kept}
        is_driven = factor is not None and all(
            each.value <= 0.0 for each in changes.values()) and any(
            given[column] + each.value < -self._limit * each.standard_error
            for column, each in changes.items())
        figures = [
            f'{name} {kept[column]}' + (
                f' beside the {given[column]:.3g} of the URDF' if given[column] else '')
            for column, name in ((VISCOUS, 'viscous'), (COULOMB, 'Coulomb')) if column in kept]
        if BY_DIRECTION in kept:
            half = kept[BY_DIRECTION]
            middle = given[VISCOUS] + (kept[VISCOUS].value if VISCOUS in kept else 0.0)
            figures.append(
                f'viscous by direction: {middle + half.value:.3g} in positive, '
                f'{middle - half.value:.3g} {half.unit} in negative direction')
        what = ('friction that drives it instead of resisting it' if is_driven else
                'other friction than the URDF says' if any(self._given.values()) else
                'friction that the URDF lacks')
        tell(Kind.FRICTION, [*kept], what=what, figures='; '.join(figures), remark=remark, advice=(
            'The sign of its velocity or of its effort may be turned.' if is_driven else
            'Set its friction in <dynamics>, or by the parameters of the node.'))
        is_sure = is_driven and self.rms > MOSTLY * self._equations.measured_rms
        if not self._equations.moves:
            questions.append(
                f'Joint {label!r} moves too little to show its friction: let it move at several '
                'speeds in both directions.')
        elif COULOMB not in self._equations.own:
            questions.append(
                f'Joint {label!r} moves in one direction only, so that its Coulomb friction and '
                'an offset cannot be told apart.')
        return conclusions, questions, conclusions[-1:] * is_sure


def _ratio(figure: Estimate, factor: Estimate) -> Estimate:
    """Return a figure by a factor, with the errors of both."""
    value = figure.value / factor.value
    error = hypot(figure.standard_error, value * factor.standard_error) / abs(factor.value)
    return replace(figure, value=value, standard_error=error)
