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
(:mod:`.cause_search`), then friction, offset and rotor of each joint in addition to these
(:mod:`.own_terms`).  A cause is concluded only where it explains most of the difference, has an
effort of some size, and no other one explains the recordings as well.  Nothing is concluded of a
quantity that the recordings do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, inf

import numpy as np
from ros2_rnea.offline.identification.bursts import bursts
from ros2_rnea.offline.identification.cause_search import Found, search, SIZE
from ros2_rnea.offline.identification.cause_words import CauseWords, conclude, MOST_NAMED
from ros2_rnea.offline.identification.causes import Cause, What
from ros2_rnea.offline.identification.comparison import Comparison
from ros2_rnea.offline.identification.conclusions import Conclusion, Diagnosis, Estimate, Kind
from ros2_rnea.offline.identification.information import one_thread
from ros2_rnea.offline.identification.own_terms import MOSTLY, OwnTerms
from ros2_rnea.offline.identification.reduced_equations import (
    Columns,
    reduce_equations,
    ReducedEquations,
    SURE,
    unweighted_equations,
)

CLEAR, BESIDE_FRICTION = 0.5, 0.25
"""
A sign or a factor is judged where the RMS of the model's effort, times this factor, is this share
at least of the noise, and that share of friction.  The noise is white noise that has the power of
the residual at low frequencies, where the motion and what the model lacks are.
"""

FAR = 2.0
"""
A factor on the effort that is larger than this, or smaller than its inverse, is a wrong unit or
another joint's effort rather than a wrong mass.
"""

INEXPLICABLE, MOSTLY_SLOW = 0.15, 0.7
"""
What no model explains is told where it is this share of the RMS of an effort at least, and no
noise of a sensor: averages over a short time keep that share of its RMS.
"""


def diagnose(comparison: Comparison) -> Diagnosis:
    """
    Conclude from recordings what is wrong with a model.

    The probability that anything is concluded where all is right is 0.2 % at most, half of it for
    friction and offsets, as far as the noise is normal and the recordings are much longer than the
    time in which it is correlated.

    :param comparison: the recordings compared with the model.
    """
    with one_thread():
        columns = Columns.of(comparison)
        reduced = {j: reduce_equations(columns, j) for j in range(comparison.robot.nv)}
        equations = {j: each for j, each in reduced.items() if isinstance(each, ReducedEquations)}
        too_short = {j: each for j, each in reduced.items() if isinstance(each, float)}
        saturated = tuple(_saturated(comparison))
        unknown = tuple(_not_known(comparison, columns, too_short))
        if equations:
            few = {j: unweighted_equations(columns, j) for j in too_short}
            return _Judgement(comparison, columns, equations, {
                j: rows for j, rows in few.items() if rows is not None}).diagnosis(
                    saturated, unknown)
    nothing = 'The recordings have too few samples in motion for any conclusion, or no efforts.'
    none = np.full(comparison.robot.nv, np.nan)
    return Diagnosis(saturated, (nothing, *unknown), none, none, saturated)


def _saturated(comparison: Comparison) -> Iterator[Conclusion]:
    """Yield which efforts are cut off, a conclusion for each joint."""
    for coordinate in comparison.coordinates:
        found = [run.recording.saturations[coordinate.label] for run in comparison.runs
                 if coordinate.label in run.recording.saturations]
        if found:
            yield conclude(
                Kind.SATURATED, f'joint {coordinate.label!r}',
                [Estimate('share', 100.0 * max(each.share for each in found), 0.0, '%'),
                 Estimate('excess', max(each.excess for each in found), 0.0,
                          coordinate.effort_unit)], inf,
                bounds=' and '.join(dict.fromkeys(
                    f'{bound:.4g}' for each in found for bound in each.bounds)))


def _not_known(
        comparison: Comparison, columns: Columns, too_short: Mapping[int, float]) -> Iterator[str]:
    """Yield why coordinates without equations are not judged."""
    for j, factor in too_short.items():
        label = comparison.coordinates[j].label
        if any(label in run.recording.saturations for run in comparison.runs):
            yield (f'Nothing else is concluded from the effort of joint {label!r}, since it is '
                   'cut off.')
        elif not np.isfinite(columns.measured[:, j]).any():
            yield f'The effort of joint {label!r} was not recorded, or is constant.'
        elif not columns.measured[:, j].any():
            yield f'The recorded effort of joint {label!r} is always zero.'
        else:
            yield (f'The recordings are too short to judge joint {label!r}: record about '
                   f'{ceil(factor + 0.5)} times as long.')


class _Judgement:
    """What is concluded of the explanation of differences, and what stays open."""

    def __init__(self, comparison: Comparison, columns: Columns,
                 equations: Mapping[int, ReducedEquations],
                 others: Mapping[int, np.ndarray]) -> None:
        robot = comparison.robot
        self._comparison, self._columns = comparison, columns
        self._explanation = explanation = search(robot, equations, others)
        self._words = CauseWords(robot, explanation, columns.levers)
        self._own = {j: OwnTerms(robot, explanation, j, comparison.coordinates[j],
                                 float(comparison.measured_rms[j]))
                     for j in explanation.equations}
        factors = [found for found in explanation.found if found.cause.is_factor]
        self._unclear = {found.cause for found in factors if not self._is_clear(found)}
        unrelated = {found.cause for found in factors if _is_near_zero(found)}
        near_one = {found.cause for found in factors if not _is_far(1.0 + found.parameters[0])}
        self._may_be_masses = Cause(What.FACTOR) in near_one
        open_ones = self._unclear | unrelated
        if explanation.is_rough or self._may_be_masses:  # beside more that is wrong
            open_ones |= near_one
        if self._may_be_masses or Cause(What.FACTOR) in self._unclear:
            open_ones |= {cause for cause in explanation.fit.values if cause.body is not None}
        if unrelated and len(factors) < len(explanation.found):
            open_ones |= {*explanation.fit.values}  # for the sake of such an effort
        self._certain = {*explanation.fit.values}.intersection(
            *(fit.values for fit in explanation.rivals)) - open_ones

    def diagnosis(self, saturated: Sequence[Conclusion], unknown: Sequence[str]) -> Diagnosis:
        """Return all that follows, after efforts that are cut off and before those not judged."""
        explanation, coordinates = self._explanation, self._comparison.coordinates
        touched = bursts(self._comparison, self._columns, explanation.equations)
        conclusions, wrong, questions = [*saturated], [*saturated], [*map(str, touched)]
        for found in explanation.found:
            conclusion = self._words.conclusion(found)
            if found.cause in self._unclear:
                questions.append(
                    f'{_as_begin(self._words.name(found.cause))} could explain something, but '
                    'the model has too little effort beside friction and noise to tell a sign or '
                    'a factor: move further where gravity or acceleration take more of it.')
            if _is_near_zero(found):
                wrong.append(self._words.conclusion(found, Kind.UNRELATED))
                questions.append(f'{wrong[-1].sentence} {wrong[-1].advice}')
            elif found.cause in self._certain and self._has_size(found):
                conclusions.append(conclusion)
                if conclusion.kind in (Kind.SIGN, Kind.LACKS) or (
                        conclusion.kind is Kind.GAIN and _is_far(1.0 + found.parameters[0])):
                    wrong.append(conclusion)
            elif conclusion.kind is Kind.SIGN and found.cause not in self._unclear:
                wrong.append(conclusion)
        questions += self._alternatives()
        noise, unexplained = np.full((2, len(coordinates)), np.nan)
        inexplicable = []
        for j, equations in explanation.equations.items():
            noise[j], unexplained[j] = equations.noise, explanation.rms[j]
            label, unit = coordinates[j].label, coordinates[j].effort_unit
            if equations.slow > max(INEXPLICABLE * equations.measured_rms,
                                    MOSTLY_SLOW * equations.noise):
                inexplicable.append(label)
                questions.append(
                    f'Of the effort of joint {label!r}, {equations.slow:.2g} {unit} '
                    f'({100.0 * equations.slow / equations.measured_rms:.0f} % of its RMS) follow '
                    'from no masses, no gravity and no friction of this kind: its sensor may '
                    'drift, its friction may follow another law, or its position, its axis or '
                    'its effort may not be what the model takes it for.')
            told, unknown_ones, driven = self._own[j].said(self._factor(j))
            conclusions, questions, wrong = (
                conclusions + told, questions + unknown_ones, wrong + driven)
        conclusions.sort(key=lambda each: -each.significance)
        return Diagnosis(
            tuple(conclusions), (*questions, *unknown), noise, unexplained, tuple(wrong),
            explanation.is_explained, touched, tuple(inexplicable))

    def _is_clear(self, found: Found) -> bool:
        """Return whether the model's effort is large enough to tell a sign and a factor."""
        for j, equations in self._explanation.equations.items():
            size, most = equations.model_rms, inf  # a model of its size, where nothing is like it
            if not _is_near_zero(found):
                size *= abs(1.0 + found.parameters[0])
                most = equations.measured_rms / MOSTLY
            least = max(CLEAR * equations.deviation, BESIDE_FRICTION * self._own[j].rms)
            if _acts_on(found.cause, j) and least < size < most:
                return True
        return False

    def _factor(self, j: int) -> Estimate | None:
        """Return measured by true effort of a coordinate; None where it is open."""
        explanation = self._explanation
        if not self._certain.issuperset(
                cause for fit in (explanation.fit, *explanation.rivals)
                for cause in fit.values if _acts_on(cause, j)):
            return None
        found = (each for each in explanation.found if _acts_on(each.cause, j))
        return next((Estimate('factor', 1.0 + float(each.parameters[0]), float(each.errors[0]))
                     for each in found), Estimate('factor', 1.0, 0.0))

    def _has_size(self, found: Found) -> bool:
        """Return whether a cause has an effort of some size in a joint."""
        rms = self._explanation.rms
        return any(found.rms_without[j] ** 2 - rms[j] ** 2 > (SIZE * each.measured_rms) ** 2
                   for j, each in self._explanation.equations.items())

    def _alternatives(self) -> Iterator[str]:
        """Yield which causes may be there, where the recordings do not tell them apart."""
        told, rivals = self._certain | self._unclear, self._explanation.rivals
        open_ones = [found for found in self._explanation.found if found.cause not in told]
        said = self._said(open_ones)
        if self._may_be_masses:
            said = (self._said([found for found in open_ones if found.cause.is_factor])
                    + '; or all masses differ by about this factor: only a known payload tells '
                    'which.')
            rest = self._said([found for found in open_ones if not found.cause.is_factor])
            if rest:
                said += (f' In the first case: {rest}. In the second case, all these masses are '
                         'to be multiplied by this factor.')
        if rivals and open_ones:
            others = dict.fromkeys(' together with '.join(
                self._words.name(each) for each in fit.values if each not in told) or 'chance'
                for fit in rivals)
            yield (f'{said.removesuffix(".")}; or the cause is '
                   f'{", or ".join([*others][:MOST_NAMED])}: the recordings do not tell which.')
        elif self._may_be_masses:
            yield said

    def _said(self, found: Sequence[Found]) -> str:
        return ' '.join(self._words.conclusion(each).sentence for each in found).removesuffix('.')


def _as_begin(words: str) -> str:
    """Return words that begin a sentence; names keep their capitals."""
    return words[0].upper() + words[1:]


def _acts_on(cause: Cause, j: int) -> bool:
    return cause.is_factor and cause.where in (None, j)


def _is_near_zero(found: Found) -> bool:
    """Return whether it is an effort that has little to do with the model's."""
    return found.cause.is_factor and abs(1.0 + found.parameters[0]) <= SURE * found.errors[0]


def _is_far(factor: float) -> bool:
    return not 1.0 / FAR <= factor <= FAR
