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
"""Conclusions in words: a sentence and an advice for each kind, and the figures of the causes."""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from math import degrees, inf, isfinite, nan, sqrt
from typing import Any

import numpy as np

from ros2_rnea.offline.identification.cause_search import Explanation, Found, mass, reach
from ros2_rnea.offline.identification.causes import Cause, What
from ros2_rnea.offline.identification.comparison import coordinates_of
from ros2_rnea.offline.identification.conclusions import Conclusion, Estimate, Improvement, Kind
from ros2_rnea.offline.identification.reduced_equations import SURE
from ros2_rnea.robots.robot import Robot

WORDS = {
    Kind.SIGN: (
        'The effort of {subject} has the opposite sign: the measured effort is {factor} times '
        'that of the model.',
        'Turn the sign where the effort is recorded; if the position of the joint counts in the '
        'other direction, too, turn the axis in the URDF.'),
    Kind.GAIN: (
        'The measured effort of {subject} is {factor} times that of the model.',
        'The effort may be a current (then this is the number of amperes for one Nm), or counted '
        'before the gear, or in another unit. Give the right one: for a text file, --csv-units '
        'effort=A --current-gains JOINT=NM_PER_A,...; for a bag, or where it is not known, '
        'let identify find it (--unknown friction,inertia,gains, with a known --payload).'),
    Kind.UNRELATED: (
        'The measured effort of {subject} has little to do with that of the model.',
        'Is it the effort of this joint, and does the recording have its motion?'),
    Kind.SATURATED: (
        'The effort of {subject} is cut off at {bounds} {excess.unit}: {share.value:.2g} % of the '
        'samples in which the joint moves are exactly there, where the motion takes about '
        '{excess.value:.2g} {excess.unit} more.',
        'Record it in a range that is wide enough, or a slower motion.'),
    Kind.GRAVITY: (
        'Gravity points elsewhere, by {angle}: it is ({gravity}) m/s² in the axes of {root!r}.',
        'If the arm is mounted like that, set gravity: [{gravity}].'),
    Kind.ZERO: (
        'The position of {subject} has another zero than the model: the efforts belong to '
        'positions that are {zero} larger.',
        'Calibrate the joint, or turn the origin of the joint in the URDF.'),
    Kind.LACKS: (
        'The measured efforts {lack}.',
        'Some drivers take a part off before they report an effort: record the whole effort of '
        'the joints. Where it is gravity, compare with a model without it (--gravity 0 0 0).'),
    Kind.LOAD: (
        '{Subject} carries {mass} more than in the URDF.{vector}',
        'Attach it as a payload, or add it to the URDF.'),
    Kind.LINK_MASS: (
        'The mass of {subject} is {mass}, not the {given:.4g} kg of the URDF (with all that is '
        'fixed to it).',
        'Correct the mass in the URDF, or identify the link.'),
    Kind.MASS_DISTRIBUTION: (
        'The mass of {subject} is distributed otherwise than in the URDF.{vector}{unjudged}',
        'Look at its centre of mass and inertia in the URDF, or identify them.'),
    Kind.OFFSET: (
        'The effort of {subject} has an offset of {offset}{remark}.',
        'Tare the sensor, or give the offset to the friction of this joint: beside Coulomb '
        'friction, it is the same as friction that depends on the direction.'),
    Kind.ROTOR: (
        '{Subject} moves {inertia} more than the links, {like}.',
        'Add this inertia to the parameter armature of the node for this joint, or identify it.'),
    Kind.FRICTION: ('{Subject} has {what}: {figures}{remark}.', '{advice}')}
"""The sentence of each kind of conclusion, and what to do about it."""

MOST_NAMED = 3
"""Of joints that a cause improves, and of other explanations, no more are named."""

LONG = 0.5
"""
A mass is stated where a joint was judged on which it has at least this share of its largest lever:
with shorter ones, errors of friction or of a factor make up too much of it.
"""

Figures = tuple[Kind, list[Estimate], dict[str, Any]]
"""The kind of a conclusion, its quantities, and its other words."""


def conclude(
        kind: Kind, subject: str, quantities: Sequence[Estimate], significance: float,
        improvements: Sequence[Improvement] = (), **words: Any) -> Conclusion:
    """Return a conclusion in the words of its kind, which name its quantities and other words."""
    words.update({each.name: each for each in quantities}, subject=subject,
                 Subject=subject[0].upper() + subject[1:])
    sentence, advice = (text.format(**words) for text in WORDS[kind])
    return Conclusion(kind, subject, sentence, advice, tuple(quantities), significance,
                      tuple(improvements))


class CauseWords:
    """
    Words for causes.

    :param robot: the model.
    :param explanation: in which they were found.
    :param levers: RMS of the effort that 1 kg more of a body takes, shape (nv, bodies).
    """

    def __init__(self, robot: Robot, explanation: Explanation, levers: np.ndarray) -> None:
        self._robot, self._explanation, self._levers = robot, explanation, levers
        self._coordinates = coordinates_of(robot)

    def name(self, cause: Cause) -> str:
        """Return what a cause is, without figures."""
        return cause.what.value.format(self._subject(cause))

    def _subject(self, cause: Cause) -> str:
        if cause.where is None:
            return 'the base' if cause.what is What.TILT else 'all joints'
        if cause.body is not None:
            return f'link {self._robot.body_names[cause.body]!r}'
        return f'joint {self._coordinates[cause.where].label!r}'

    def conclusion(self, found: Found, kind: Kind | None = None) -> Conclusion:
        """Return a cause in words, of another kind where that is given."""
        rms, equations = self._explanation.rms, self._explanation.equations
        improvements = sorted(equations, key=lambda j: (
            rms[j] - found.rms_without[j]) / equations[j].noise)
        own_kind, quantities, words = self._figures(found)
        return conclude(
            kind or own_kind, self._subject(found.cause), quantities,
            sqrt(max(found.statistic, 0.0)),
            [Improvement(self._coordinates[j].label, found.rms_without[j], rms[j],
                         self._coordinates[j].effort_unit)
             for j in improvements[:MOST_NAMED]], **words)

    def _figures(self, found: Found) -> Figures:
        """Return the kind of a conclusion, its quantities, and other words."""
        what = found.cause.what
        if what is What.TILT:
            return self._tilt(found)
        if what is What.LOAD:
            return self._load(found)
        if what is What.NO_MODEL:
            return Kind.LACKS, [], {
                'lack': 'contain nothing of the model: they are external efforts, or those of a '
                        'driver that takes its own model off'}
        value, error = float(found.parameters[0]), float(found.errors[0])
        if what is What.NO_GRAVITY:
            share = Estimate('share', 100.0 * value, 100.0 * error, '%')
            return Kind.LACKS, [share], {'lack': f'lack gravity: {share} of it'}
        if what is What.ZERO:
            return Kind.ZERO, [Estimate('zero', degrees(value), degrees(error), '°')], {}
        if what is What.MASS:
            given = self._mass(found.cause)
            return _link_mass(given, given * value, given * error)
        return Kind.SIGN if value < -1.0 else Kind.GAIN, [
            Estimate('factor', 1.0 + value, error)], {}

    def _tilt(self, found: Found) -> Figures:
        before = np.array(self._robot.free_fall)
        after, size = before + found.parameters, float(np.linalg.norm(before))
        cosine = float(before @ after) / size ** 2
        tilt = cmath.phase(complex(cosine, sqrt(max(0.0, 1.0 - cosine ** 2))))
        across = np.eye(3) - after[:, np.newaxis] * after / size ** 2  # the magnitude is known
        covariance = across @ found.covariance @ across
        worst = sqrt(float(np.linalg.norm(covariance, 2)))  # whichever way it may turn more
        quantities = [Estimate('angle', degrees(tilt), degrees(worst / size), '°')]
        quantities += [Estimate(f'gravity {axis}', float(value), sqrt(max(error, 0.0)), 'm/s²')
                       for axis, value, error in zip('xyz', after, np.diag(covariance))]
        return Kind.GRAVITY, quantities, {
            'gravity': ', '.join(f'{each:.2f}' for each in after), 'root': self._robot.tree.root}

    def _mass(self, cause: Cause) -> float:
        return float(self._robot.inertial_parameters[10 * (cause.body or 0)])

    def _load(self, found: Found) -> Figures:
        body, heaviest, size = found.cause.body, mass(self._robot), reach(self._robot)
        more, error = float(found.parameters[0]), float(found.errors[0])
        longest = int(np.argmax(self._levers[:, body]))
        is_judged = max(self._levers[[*self._explanation.equations], body]) >= (
            LONG * self._levers[longest, body])
        is_told = is_judged and abs(more) >= SURE * error and error <= heaviest
        if is_told and more < 0.0:
            return _link_mass(self._mass(found.cause), more, error)
        moments, errors = found.parameters[1:4], found.errors[1:4]
        if is_told:
            slopes = np.column_stack([-moments / more, np.eye(3)]) / more  # of a centre
            held = np.diag(slopes @ found.covariance[:4, :4] @ slopes.T)
            errors = np.where(np.isfinite(errors), np.sqrt(np.maximum(held, 0.0)), inf)
            centre = _along_axes('centre', moments / more, errors, 'm', size)
            return Kind.LOAD, [Estimate('mass', more, error, 'kg'), *centre], {
                'vector': _sentences('centre of mass', 'in its frame is', centre)}
        figures = _along_axes('moment', moments, errors, 'kg m', heaviest * size)
        return Kind.MASS_DISTRIBUTION, figures, {
            'vector': _sentences('first moment of mass', 'differs by', figures),
            'unjudged': '' if is_judged else (
                f' Its mass is not stated, since joint {self._coordinates[longest].label!r}, on '
                'which it acts most, is not judged.')}


def _link_mass(given: float, more: float, error: float) -> Figures:
    return Kind.LINK_MASS, [Estimate('mass', given + more, error, 'kg')], {'given': given}


def _along_axes(name: str, values: np.ndarray, errors: np.ndarray, unit: str,
                bound: float) -> list[Estimate]:
    """Return three figures; no number where an error is larger than what it can be itself."""
    return [Estimate(f'{name} {axis}', value if error <= bound else nan,
                     error if error <= bound else inf, unit)
            for axis, value, error in zip('xyz', values.tolist(), errors.tolist())]


def _sentences(what: str, differs: str, figures: Sequence[Estimate]) -> str:
    """Return sentences about figures along the axes of a link, of which some are unknown."""
    held = ', '.join(
        f'{axis} {each}' for axis, each in zip('xyz', figures) if isfinite(each.standard_error))
    missing = ' and '.join(
        axis for axis, each in zip('xyz', figures) if not isfinite(each.standard_error))
    return (f' Its {what} {differs} {held}.' if held else '') + (
        f' Its {what} along {missing} is not identifiable from these recordings.' * bool(missing))
