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
Conclusions from the differences between recordings and a model.

:func:`diagnose` first searches what is wrong with the rigid bodies, the measurement or gravity
(:mod:`.cause_search`), then friction, offset and rotor of each joint in addition to these.  A
cause is concluded only where it explains most of the difference, has an effort of some size, and
no other one explains the recordings as well.  Nothing is concluded of a quantity that the
recordings do not hold: a joint that stands still shows no friction, and an offset that also a load
could make is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from math import ceil, hypot, inf, sqrt

import numpy as np
from ros2_rnea.offline.identification.bursts import bursts
from ros2_rnea.offline.identification.cause_search import (
    Explanation,
    FALSE_ALARMS,
    Found,
    search,
)
from ros2_rnea.offline.identification.cause_words import CauseWords
from ros2_rnea.offline.identification.causes import Cause, Factor, Load, Mass
from ros2_rnea.offline.identification.comparison import Comparison, Coordinate
from ros2_rnea.offline.identification.conclusions import Conclusion, Diagnosis, Estimate, Kind
from ros2_rnea.offline.identification.information import one_thread
from ros2_rnea.offline.identification.reduced_equations import (
    Columns,
    DEPENDENT,
    MODEL,
    OWN,
    ReducedEquations,
)
from ros2_rnea.robots.robot import Robot
from scipy.linalg import inv, solve_triangular
from scipy.stats import t as student

ZERO = 3.0
"""A factor that is no more standard errors from zero than this may be zero."""

CLEAR = 0.5
"""
A sign or a factor is judged where the RMS of the model's effort, times this factor, is this share
of the noise at least: of white noise that has the power of the residual at low frequencies, where
the motion and what the model lacks are.
"""

BESIDE_FRICTION = 0.25
"""It also has this share of the RMS of friction at least."""

MOSTLY = 0.5
"""Friction with such a share of an effort's RMS is most of it; more than its inverse, none."""

FAR = 2.0
"""
A factor on the effort that is larger than this, or smaller than its inverse, is a wrong unit or
another joint's effort rather than a wrong mass.
"""

SIZE, OWN_SIZE = 0.05, 0.02
"""
A cause changes the RMS of an effort, offset apart, by this share at least, and friction, an offset
or a rotor by that one: a smaller one is not told.
"""

INEXPLICABLE, MOSTLY_SLOW = 0.15, 0.7
"""
What no model explains is told where it is this share of the RMS of an effort at least, and no
noise of a sensor: averages over a short time keep that share of its RMS.
"""

MAX_RIVALS = 3
"""Maximum number of other explanations that are named."""

OFFSET, VISCOUS, COULOMB, BY_DIRECTION, ROTOR = range(len(OWN))


def diagnose(comparison: Comparison) -> Diagnosis:
    """
    Conclude from recordings what is wrong with a model.

    The probability that anything is concluded where all is right is 0.2 % at most, half of it for
    friction and offsets, as far as the noise is normal and the recordings are much longer than the
    time in which it is correlated.

    :param comparison: the recordings compared with the model.
    """
    with one_thread():
        return _diagnosed(comparison)


def _diagnosed(comparison: Comparison) -> Diagnosis:
    robot = comparison.robot
    columns = Columns.of(comparison)
    explanation = search(robot, columns)
    noise, unexplained = np.full(robot.nv, np.nan), np.full(robot.nv, np.nan)
    saturated = tuple(_saturated(comparison))
    if not explanation.equations:
        return Diagnosis(saturated, (
            'The recordings have too few samples in motion for any conclusion, or no efforts.',
            *_not_known(comparison, explanation, columns)), noise, unexplained, saturated)
    words = CauseWords(robot, explanation, columns.levers)
    terms = {j: _JointTerms(robot, explanation, j, comparison.coordinates[j])
             for j in explanation.equations}
    unclear = _unclear(explanation, terms)
    conclusions, questions, wrong = [*saturated], [], [*saturated]
    questions += [f'{words.name(cause).capitalize()} could explain something, but the model has '
                  'too little effort beside friction and noise to tell a sign or a factor: move '
                  'further where gravity or acceleration take more of it.' for cause in unclear]
    certain = _certain(explanation).difference(unclear)
    inexplicable = [j for j, each in explanation.equations.items()
                    if each.slow > max(INEXPLICABLE * each.measured_rms, MOSTLY_SLOW * each.noise)]
    for found in explanation.found:
        conclusion = words.conclusion(found)
        if conclusion.kind in (Kind.GAIN, Kind.SIGN) and _is_near_zero(conclusion):
            wrong.append(_unrelated(conclusion))
            questions.append(f'{wrong[-1].sentence} {wrong[-1].advice}')
        elif found.cause in certain and _has_size(explanation, found):
            conclusions.append(conclusion)
            if conclusion.kind in (Kind.SIGN, Kind.LACKS) or _is_far_from_one(conclusion):
                wrong.append(conclusion)
        elif conclusion.kind is Kind.SIGN and found.cause not in unclear:
            wrong.append(conclusion)
    questions += _alternatives(explanation, words, certain.union(unclear))
    questions += [_inexplicable(comparison.coordinates[j], explanation.equations[j])
                  for j in inexplicable]
    for j, equations in explanation.equations.items():
        noise[j], unexplained[j] = equations.noise, explanation.rms[j]
        of_joint = terms[j].divided_by(_factor(explanation, certain, j))
        told = list(of_joint.conclusions())
        conclusions += told
        if of_joint.is_driven and terms[j].is_most_of_the_effort:
            wrong += [each for each in told if each.kind is Kind.FRICTION]
        questions += of_joint.questions()
    touched = bursts(comparison, columns, explanation.equations)
    questions = [*map(str, touched), *questions]
    questions += _not_known(comparison, explanation, columns)
    conclusions.sort(key=lambda each: -each.significance)
    return Diagnosis(
        tuple(conclusions), tuple(questions), noise, unexplained, tuple(wrong),
        explanation.is_explained, touched,
        tuple(comparison.coordinates[j].label for j in inexplicable))


def _inexplicable(coordinate: Coordinate, equations: ReducedEquations) -> str:
    share = equations.slow / equations.measured_rms
    return (f'Of the effort of joint {coordinate.label!r}, {equations.slow:.2g} '
            f'{coordinate.effort_unit} ({100.0 * share:.0f} % of its RMS) follow from no masses, '
            'no gravity and no friction of this kind: its sensor may drift, its friction may '
            'follow another law, or its position, its axis or its effort may not be what the '
            'model takes it for.')


def _certain(explanation: Explanation) -> set[Cause]:
    """
    Return the causes that are part of all explanations; none where an effort is unrelated.

    Where more is wrong than the causes, a factor near 1 may as well stand for masses.
    """
    if any(abs(1.0 + found.parameters[0]) < ZERO * sqrt(max(float(found.covariance[0, 0]), 0.0))
           for found in explanation.found if isinstance(found.cause, Factor)):
        return set()
    certain = {found.cause for found in explanation.found}.intersection(*explanation.rivals)
    if explanation.is_rough:
        certain -= {found.cause for found in explanation.found if isinstance(found.cause, Factor)
                    and 1.0 / FAR <= 1.0 + found.parameters[0] <= FAR}
    if not _may_be_masses(explanation):
        return certain
    return {cause for cause in certain if not isinstance(cause, (Load, Mass))}.difference(
        {Factor(None)})


def _factor(explanation: Explanation, certain: set[Cause], j: int) -> Estimate | None:
    """Return measured by true effort of a coordinate; None where it is open."""
    def acts(cause: Cause) -> bool:
        return isinstance(cause, Factor) and cause.coordinate in (None, j)

    found = [each for each in explanation.found if acts(each.cause)]
    if any(acts(cause) and cause not in certain for causes in (
            [each.cause for each in found], *explanation.rivals) for cause in causes):
        return None
    factor, variance = 1.0, 0.0
    for each in found:
        of_cause = 1.0 + float(each.parameters[0])
        factor *= of_cause
        variance += max(float(each.covariance[0, 0]), 0.0) / of_cause ** 2
    return Estimate('factor', factor, abs(factor) * sqrt(variance))


def _may_be_masses(explanation: Explanation) -> bool:
    """Return whether a factor on all efforts can as well be one on all masses."""
    return any(found.cause == Factor(None) and 1.0 / FAR <= 1.0 + found.parameters[0] <= FAR
               for found in explanation.found)


def _has_size(explanation: Explanation, found: Found) -> bool:
    """Return whether a cause has an effort of some size in a joint."""
    rms = explanation.rms
    return any(found.rms_without[j] ** 2 - rms[j] ** 2 > (SIZE * each.measured_rms) ** 2
               for j, each in explanation.equations.items())


def _alternatives(
        explanation: Explanation, words: CauseWords, certain: set[Cause]) -> Iterator[str]:
    """Yield which causes may be there, where the recordings do not tell them apart."""
    def named(causes: Iterable[Cause]) -> str:
        return ' together with '.join(words.name(each) for each in causes if each not in certain)

    open_ones = [found for found in explanation.found if found.cause not in certain]
    said = ' '.join(words.conclusion(each).sentence for each in open_ones).removesuffix('.')
    if explanation.rivals and open_ones:
        others = ', or '.join(map(named, explanation.rivals[:MAX_RIVALS]))
        yield f'{said}; or the cause is {others}: the recordings do not tell which.'
    elif _may_be_masses(explanation):
        yield (f'{said}; or all masses differ by about this factor: only a known payload tells '
               'which.')


def _saturated(comparison: Comparison) -> Iterator[Conclusion]:
    """Yield which efforts are cut off, a conclusion for each joint."""
    for coordinate in comparison.coordinates:
        found = [run.recording.saturations[coordinate.label] for run in comparison.runs
                 if coordinate.label in run.recording.saturations]
        if not found:
            continue
        bounds = dict.fromkeys(f'{bound:.4g}' for each in found for bound in each.bounds)
        share, excess = (max(getattr(each, name) for each in found)
                         for name in ('share', 'excess'))
        yield Conclusion(
            Kind.SATURATED, f'joint {coordinate.label!r}',
            f'The effort of joint {coordinate.label!r} is cut off at {" and ".join(bounds)} '
            f'{coordinate.effort_unit}: {100.0 * share:.2g} % of the samples in which the joint '
            'moves are exactly there, where the motion takes about '
            f'{excess:.2g} {coordinate.effort_unit} more.',
            'Record it in a range that is wide enough, or a slower motion.',
            (Estimate('share', 100.0 * share, 0.0, '%'),
             Estimate('excess', excess, 0.0, coordinate.effort_unit)), inf)


def _unclear(
        explanation: Explanation, terms: Mapping[int, _JointTerms]) -> list[Cause]:
    """Return the factors that nothing tells: the model's effort is too small in these joints."""
    unclear: list[Cause] = []
    for found in explanation.found:
        if isinstance(found.cause, Factor) and not any(
                _is_clear(explanation, terms[j], j, found) for j in explanation.equations
                if found.cause.coordinate in (None, j)):
            unclear.append(found.cause)
    return unclear


def _is_clear(explanation: Explanation, terms: _JointTerms, j: int, found: Found) -> bool:
    """Return whether the effort of a coordinate is large enough to tell its sign and factor."""
    equations = explanation.equations[j]
    factor = abs(float(explanation.coefficients[j, MODEL]))
    size, most = factor * equations.model_rms, equations.measured_rms / MOSTLY
    if abs(1.0 + found.parameters[0]) < ZERO * sqrt(max(float(found.covariance[0, 0]), 0.0)):
        size, most = equations.model_rms, inf  # a model of its size
    return max(CLEAR * equations.deviation, BESIDE_FRICTION * terms.rms) < size < most


def _is_near_zero(conclusion: Conclusion) -> bool:
    factor = conclusion.quantities[0]
    return not abs(factor.value) > ZERO * factor.standard_error


def _is_far_from_one(conclusion: Conclusion) -> bool:
    return conclusion.kind is Kind.GAIN and not (
        1.0 / FAR <= conclusion.quantities[0].value <= FAR)


def _unrelated(conclusion: Conclusion) -> Conclusion:
    return replace(
        conclusion, kind=Kind.UNRELATED,
        sentence=f'The measured effort of {conclusion.subject} has little to do with that of the '
                 'model.',
        advice='Is it the effort of this joint, and does the recording have its motion?')


def _not_known(
        comparison: Comparison, explanation: Explanation, columns: Columns) -> Iterator[str]:
    for j, factor in explanation.too_short.items():
        coordinate = comparison.coordinates[j]
        if any(coordinate.label in run.recording.saturations for run in comparison.runs):
            yield (f'Nothing else is concluded from the effort of joint {coordinate.label!r}, '
                   'since it is cut off.')
        elif not np.isfinite(columns.measured[:, j]).any():
            yield f'The effort of joint {coordinate.label!r} was not recorded.'
        elif not columns.measured[:, j].any():
            yield f'The recorded effort of joint {coordinate.label!r} is always zero.'
        else:
            yield (f'The recordings are too short to judge joint {coordinate.label!r}: record '
                   f'about {ceil(factor + 0.5)} times as long.')


def _ratio(figure: Estimate, factor: Estimate) -> Estimate:
    """Return a figure by a factor, with the errors of both."""
    value = figure.value / factor.value
    error = hypot(figure.standard_error, value * factor.standard_error) / abs(factor.value)
    return replace(figure, value=value, standard_error=error)


def _changes(parts: Mapping[int, Estimate]) -> dict[int, Estimate]:
    """Return those of friction that the URDF can have, too."""
    return {column: parts[column] for column in (VISCOUS, COULOMB) if column in parts}


class _JointTerms:
    """Friction, offset and rotor of one coordinate, in addition to the causes that were found."""

    def __init__(
            self, robot: Robot, explanation: Explanation, j: int, coordinate: Coordinate) -> None:
        self._coordinate = coordinate
        self._equations = explanation.equations[j]
        body = next(each for each in robot.tree.bodies
                    if each.v_index <= j < each.v_index + each.type.nv)
        self._model = model = float(explanation.coefficients[j, MODEL])
        self._given = {
            VISCOUS: model * float(body.damping), COULOMB: model * float(body.friction)}
        self._limit = float(student.isf(
            FALSE_ALARMS / (2.0 * len(OWN) * robot.nv), self._equations.freedom))
        self._is_open = False
        self._has_friction = bool(body.damping or body.friction)
        self._misfit = explanation.misfit[j]
        self._is_loaded = any(isinstance(found.cause, Load) for found in explanation.found)
        self._values, self._covariance = self._estimate(explanation, j)
        self._kept, self._doubtful = self._select()

    def _estimate(self, explanation: Explanation, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of the own columns, as measured efforts, and their covariance."""
        own = len(self._equations.own)
        rows = self._equations.triangle[:own]
        inverse = solve_triangular(rows[:, :own], np.eye(own))
        values, *others = (-inverse @ rows[:, own:] @ each[j] for each in (
            explanation.coefficients, *explanation.rival_coefficients))
        by_causes = inverse @ rows[:, own:] @ explanation.by_parameters[j]
        covariance = inverse @ inverse.T + by_causes @ explanation.covariance @ by_causes.T
        by_misfit = np.square(self._misfit / self._equations.own_sizes())
        covariance += np.diag(by_misfit)  # what is left has any correlation with these columns
        by_rivals = np.square([other - values for other in others]).max(axis=0, initial=0.0)
        return values, covariance + np.diag(by_rivals * np.ones(own))

    def _select(self) -> tuple[dict[int, Estimate], list[Estimate]]:
        """Return what is significant, by column, and what only another cause may make so."""
        kept = list(range(len(self._values)))
        values, covariance = self._values, self._covariance
        while kept:
            scores = np.abs(values) / np.sqrt(np.diag(covariance))
            weakest = int(np.argmin(scores))
            if scores[weakest] > self._limit:
                break
            # the others' best values if this one is zero
            values = values - covariance[:, weakest] * (
                values[weakest] / covariance[weakest, weakest])
            covariance = covariance - covariance[:, [weakest]] * covariance[weakest] / (
                covariance[weakest, weakest])
            rest = [k for k in range(len(kept)) if k != weakest]
            kept, values = [kept[k] for k in rest], values[rest]
            covariance = covariance[np.ix_(rest, rest)]
        quantities, doubtful = {}, []
        sizes = self._equations.own_sizes()[kept] * np.abs(values)
        alone = _errors_beside_mechanics(self._equations, kept)
        for k, value, variance, error, size in zip(
                kept, values, np.diag(covariance), alone, sizes):
            column = self._equations.own[k]
            if size < OWN_SIZE * self._equations.measured_rms:
                continue
            quantity = Estimate(
                OWN[column], float(value), sqrt(float(variance)), self._unit(column))
            if abs(value) > self._limit * error or (
                    column == ROTOR and value * self._model > 0.0 and not self._is_loaded):
                quantities[column] = quantity
            else:
                doubtful.append(quantity)
        return quantities, doubtful

    def divided_by(self, factor: Estimate | None) -> _JointTerms:
        """
        Return the same terms of the true effort.

        :param factor: measured by true effort; None where it is open: friction is then all of
            the measured effort, and an inertia is doubtful, since the model's depends on it.
        """
        other = copy(self)
        if factor is None:
            other._is_open = True
            other._kept = {
                column: replace(each, value=each.value + self._given.get(column, 0.0))
                for column, each in self._kept.items() if column != ROTOR}
            other._given = dict.fromkeys(self._given, 0.0)
            other._doubtful = [*self._doubtful, *(
                each for column, each in self._kept.items() if column == ROTOR)]
            return other
        other._given = {column: each / factor.value for column, each in self._given.items()}
        other._kept = {column: _ratio(each, factor) for column, each in self._kept.items()}
        other._doubtful = [_ratio(each, factor) for each in self._doubtful]
        return other

    def _unit(self, column: int) -> str:
        effort, position = self._coordinate.effort_unit, self._coordinate.position_unit
        if column == ROTOR:
            return 'kg m²' if effort == 'Nm' else 'kg'
        return f'{effort} s/{position}' if column in (VISCOUS, BY_DIRECTION) else effort

    def conclusions(self) -> Iterator[Conclusion]:
        """Yield what is concluded."""
        label = self._coordinate.label
        offset = self._kept.get(OFFSET)
        if offset is not None:
            also = ''
            if COULOMB in self._kept:
                coulomb = self._kept[COULOMB].value + self._given[COULOMB]
                also = (f' Coulomb friction of {coulomb + offset.value:.3g} '
                        f'{offset.unit} in positive and {coulomb - offset.value:.3g} '
                        f'{offset.unit} in negative direction is the same.')
            yield Conclusion(
                Kind.OFFSET, f'joint {label!r}',
                f'The effort of joint {label!r} has an offset of {offset}{self._remark}.{also}',
                'Tare the sensor, or give the offset to the friction of this joint.', (offset,),
                abs(offset.value) / offset.standard_error)
        if not self._equations.moves:
            return
        if ROTOR in self._kept:
            yield self._rotor(label, self._kept[ROTOR])
        parts = {column: each for column, each in self._kept.items()
                 if column not in (OFFSET, ROTOR)}
        if parts:
            yield self._friction(label, parts)

    @staticmethod
    def _rotor(label: str, inertia: Estimate) -> Conclusion:
        if inertia.value > 0.0:
            sentence = (f'Joint {label!r} moves {inertia} more than the links, as a rotor behind '
                        'a gear does.')
            advice = ('Add this inertia to the parameter armature of the node for this joint, or '
                      'identify it.')
        else:
            sentence = (f'Joint {label!r} moves {inertia} compared with the model, which has too '
                        'much inertia about its axis.')
            advice = 'Look at the inertias of the links beyond it.'
        return Conclusion(Kind.ROTOR, f'joint {label!r}', sentence, advice, (inertia,),
                          abs(inertia.value) / inertia.standard_error)

    def _friction(self, label: str, parts: dict[int, Estimate]) -> Conclusion:
        said = []
        for column, name in ((VISCOUS, 'viscous'), (COULOMB, 'Coulomb')):
            if column in parts:
                given = self._given[column]
                said.append(f'{name} {parts[column]}' + (
                    f' beside the {given:.3g} of the URDF' if given else ''))
        if BY_DIRECTION in parts:
            half, sides = parts[BY_DIRECTION], self._kept.get(VISCOUS)
            middle = self._given[VISCOUS] + (0.0 if sides is None else sides.value)
            said.append(
                f'viscous by direction: {middle + half.value:.3g} in positive, '
                f'{middle - half.value:.3g} {half.unit} in negative direction')
        sentence, advice = self._judged(label, parts)
        return Conclusion(
            Kind.FRICTION, f'joint {label!r}',
            f'{sentence}: {"; ".join(said)}{self._remark}.', advice, tuple(parts.values()),
            max(abs(each.value) / each.standard_error for each in parts.values()))

    def _judged(self, label: str, parts: Mapping[int, Estimate]) -> tuple[str, str]:
        """Return what the friction is compared with the URDF, and what to do about it."""
        set_it = 'Set its friction in <dynamics>, or by the parameters of the node.'
        changes = _changes(parts)
        if not changes:
            return f'Joint {label!r} has friction that depends on the direction', set_it
        if self._is_open and (self._has_friction or not all(
                each.value > 0.0 for each in changes.values())):
            return f'Joint {label!r} has other friction than the URDF says', set_it
        if any(each.value > 0.0 for each in changes.values()):
            return f'Joint {label!r} has friction that the URDF lacks', set_it
        if self.is_driven:
            return (f'Friction drives joint {label!r} instead of resisting it',
                    'The sign of its velocity or of its effort may be turned.')
        return f'Joint {label!r} has less friction than the URDF says', set_it

    @property
    def _remark(self) -> str:
        return (', counted in the measured effort, of which a factor is open'
                if self._is_open else '')

    @property
    def is_driven(self) -> bool:
        """Return whether friction drives the joint instead of resisting it."""
        changes = _changes(self._kept)
        return (self._equations.moves and not self._is_open
                and not any(each.value > 0.0 for each in changes.values())
                and any(self._given[column] + each.value < -self._limit * each.standard_error
                        for column, each in changes.items()))

    @property
    def rms(self) -> float:
        """Return the RMS that friction has of the measured effort, less an offset [Nm or N]."""
        return self._equations.own_rms(np.array([
            0.0 if column == ROTOR else self._given.get(column, 0.0) + (
                self._kept[column].value if column in self._kept else 0.0)
            for column in self._equations.own]))

    @property
    def is_most_of_the_effort(self) -> bool:
        """Return whether most of the effort is friction, so that it tells a sign."""
        return self.rms > MOSTLY * self._equations.measured_rms

    def questions(self) -> Iterator[str]:
        """Yield what is not known."""
        label = self._coordinate.label
        if not self._equations.moves:
            yield (f'Joint {label!r} moves too little to show its friction: let it move at '
                   'several speeds in both directions.')
        elif COULOMB not in self._equations.own:
            yield (f'Joint {label!r} moves in one direction only, so that its Coulomb friction '
                   'and an offset cannot be told apart.')
        for quantity in self._doubtful:
            if quantity.name == OWN[OFFSET] or self._equations.moves:
                yield (f'The effort of joint {label!r} differs by {quantity} ({quantity.name}), '
                       'but masses or gravity that are not true can do that, too: let this joint '
                       'and those before it move further.')


def _errors_beside_mechanics(equations: ReducedEquations, kept: list[int]) -> np.ndarray:
    """Return the standard errors if also all inertias and gravity are unknown."""
    columns = equations.own_beside_mechanics()[:, kept]
    sizes = np.linalg.norm(columns, axis=0)
    given = np.linalg.norm(equations.triangle[:, :len(equations.own)], axis=0)[kept]
    errors = np.full(len(kept), np.inf)
    told = sizes > DEPENDENT * given
    if told.any():
        scaled = columns[:, told] / sizes[told]
        errors[told] = np.sqrt(np.diag(inv(scaled.T @ scaled))) / sizes[told]
    return errors
