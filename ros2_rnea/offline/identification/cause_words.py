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
"""The causes that were found, in words."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Sequence
from math import degrees, inf, isfinite, nan, sqrt

import numpy as np

from ros2_rnea.offline.identification.cause_search import (
    Explanation,
    Found,
    MIN_MASS,
    MIN_REACH,
    reach,
)
from ros2_rnea.offline.identification.causes import (
    Cause,
    Factor,
    Load,
    Mass,
    NoGravity,
    NoModel,
    Tilt,
    Zero,
)
from ros2_rnea.offline.identification.comparison import coordinates_of
from ros2_rnea.offline.identification.conclusions import Conclusion, Estimate, Improvement, Kind
from ros2_rnea.offline.identification.reduced_equations import MODEL
from ros2_rnea.robots.robot import Robot

MAX_IMPROVEMENTS = 3

LONG = 0.5
"""
A mass is stated where a joint was judged on which it has at least this share of its largest lever:
with shorter ones, errors of friction or of a factor make up too much of it.
"""

STANDARD_ERRORS = 4.0
"""A figure that is this far from zero, in standard errors, is told as positive or negative."""


class CauseWords:
    """
    Words for causes.

    :param robot: the model.
    :param explanation: in which they were found.
    :param levers: RMS of the effort that 1 kg more of a body takes, shape (nv, bodies).
    """

    def __init__(self, robot: Robot, explanation: Explanation, levers: np.ndarray) -> None:
        self._robot = robot
        self._levers = levers
        self._explanation = explanation
        self._coordinates = coordinates_of(robot)
        bodies = robot.inertial_parameters.reshape(-1, 10)
        self._heaviest = max(float(bodies[:, 0].sum()), MIN_MASS)
        self._reach = max(reach(robot), MIN_REACH)
        self._words: dict[type[Cause], Callable[..., Conclusion]] = {
            Factor: self._factor, Tilt: self._tilt, Load: self._load, Mass: self._mass,
            NoGravity: self._no_gravity, NoModel: self._no_model, Zero: self._zero}

    def conclusion(self, found: Found) -> Conclusion:
        """Return a cause in words."""
        return self._words[type(found.cause)](found)

    def name(self, cause: Cause) -> str:
        """Return what a cause is, without figures."""
        if isinstance(cause, Factor):
            return f'a factor on the effort of {self._of(cause.coordinate)}'
        if isinstance(cause, Tilt):
            return 'another direction of gravity'
        if isinstance(cause, NoGravity):
            return 'efforts that lack gravity'
        if isinstance(cause, Zero):
            return f'another zero of the position of {self._of(cause.coordinate)}'
        if isinstance(cause, NoModel):
            return 'efforts that are external ones'
        if isinstance(cause, Mass):
            return f'another mass of link {self._link(cause.body)!r}'
        if isinstance(cause, Load):
            return f'a load on link {self._link(cause.body)!r}'
        raise TypeError(f'no words for {cause!r}')

    def _of(self, coordinate: int | None) -> str:
        return 'all joints' if coordinate is None else (
            f'joint {self._coordinates[coordinate].label!r}')

    def _link(self, body: int) -> str:
        return self._robot.body_names[body]

    def _conclude(
            self, found: Found, kind: Kind, subject: str, sentence: str, advice: str,
            *quantities: Estimate) -> Conclusion:
        rms = self._explanation.rms
        improvements = [
            Improvement(coordinate.label, found.rms_without[j], rms[j], coordinate.effort_unit)
            for j, coordinate in enumerate(self._coordinates) if j in rms]
        noises = {self._coordinates[j].label: each.noise
                  for j, each in self._explanation.equations.items()}
        improvements.sort(key=lambda each: (each.after - each.before) / noises[each.label])
        return Conclusion(
            kind, subject, sentence, advice, quantities, sqrt(max(found.statistic, 0.0)),
            tuple(improvements[:MAX_IMPROVEMENTS]))

    def _factor(self, found: Found) -> Conclusion:
        assert isinstance(found.cause, Factor)  # noqa: S101
        rest, j = 1.0, found.cause.coordinate
        if j is not None:  # what other causes make of the effort of all joints
            rest = float(self._explanation.coefficients[j, MODEL]) / (
                1.0 + float(found.parameters[0]))
        factor = Estimate('factor', rest * (1.0 + float(found.parameters[0])),
                          abs(rest) * _error(found, 0))
        whose = self._of(found.cause.coordinate)
        if factor.value < 0.0:
            return self._conclude(
                found, Kind.SIGN, whose,
                f'The effort of {whose} has the opposite sign: the measured effort is {factor} '
                'times that of the model.',
                'Turn the sign where the effort is recorded; if the position of the joint counts '
                'in the other direction, too, turn the axis in the URDF.', factor)
        return self._conclude(
            found, Kind.GAIN, whose,
            f'The measured effort of {whose} is {factor} times that of the model.',
            'The effort may be a current (then this is the number of amperes for one Nm), or '
            'counted before the gear, or in another unit. Give the recording the right factor.',
            factor)

    def _zero(self, found: Found) -> Conclusion:
        assert isinstance(found.cause, Zero)  # noqa: S101
        unit = self._coordinates[found.cause.coordinate].position_unit
        scale, shown = (degrees(1.0), '°') if unit == 'rad' else (1e3, 'mm')
        zero = Estimate(
            'zero', scale * float(found.parameters[0]), scale * _error(found, 0), shown)
        return self._conclude(
            found, Kind.ZERO, self._of(found.cause.coordinate),
            f'The position of {self._of(found.cause.coordinate)} has another zero than the model: '
            f'the efforts belong to positions that are {zero} larger.',
            'Calibrate the joint, or turn the origin of the joint in the URDF.', zero)

    def _tilt(self, found: Found) -> Conclusion:
        assert isinstance(found.cause, Tilt)  # noqa: S101
        before = np.array(found.cause.gravity)
        after = found.cause.direction(found.parameters)
        size = float(np.linalg.norm(before))
        cosine = float(before @ after) / size ** 2
        tilt = cmath.phase(complex(cosine, sqrt(max(0.0, 1.0 - cosine ** 2))))
        away = after * cosine - before
        length = float(np.linalg.norm(away))
        spread = found.covariance if length < 1e-6 * size else np.array(
            [[away @ found.covariance @ away / length ** 2]])
        error = sqrt(max(float(np.trace(spread)), 0.0)) / size
        x, y, z = (f'{each:.2f}' for each in after)
        angle = Estimate('angle', degrees(tilt), degrees(error), '°')
        return self._conclude(
            found, Kind.GRAVITY, 'the base',
            f'Gravity points elsewhere, by {angle}: it is ({x}, {y}, {z}) m/s² in the axes of '
            f'{self._robot.tree.root!r}.',
            f'If the arm is mounted like that, set gravity: [{x}, {y}, {z}].', angle,
            *(Estimate(f'gravity {axis}', float(value), sqrt(float(variance)), 'm/s²')
              for axis, value, variance in zip('xyz', after, np.diag(found.covariance))))

    def _no_gravity(self, found: Found) -> Conclusion:
        share = Estimate('share', 100.0 * float(found.parameters[0]), 100.0 * _error(found, 0),
                         '%')
        return self._conclude(
            found, Kind.LACKS, 'all joints', f'The measured efforts lack gravity: {share} of it.',
            'Some drivers take it off before they report an effort. Record the whole effort, or '
            'compare with a model without gravity (--gravity 0 0 0).', share)

    def _no_model(self, found: Found) -> Conclusion:
        return self._conclude(
            found, Kind.LACKS, 'all joints',
            'The measured efforts contain nothing of the model: they are external efforts, or '
            'those of a driver that takes its own model off.',
            'Record the whole effort of the joints (of the motors, or of their sensors).')

    def _load(self, found: Found) -> Conclusion:
        assert isinstance(found.cause, Load)  # noqa: S101
        link = self._link(found.cause.body)
        mass = self._of_load(found, 0, 'mass')
        levers = self._levers[:, found.cause.body]
        longest = int(np.argmax(levers))
        is_judged = max(levers[[*self._explanation.equations]]) >= LONG * levers[longest]
        if not is_judged or not abs(mass.value) >= STANDARD_ERRORS * mass.standard_error:
            moments = tuple(self._of_load(found, k, f'moment {axis}')
                            for k, axis in enumerate('xyz', start=1))
            shown = _along_axes(moments)
            unjudged = '' if is_judged else (
                f' Its mass is not stated, since {self._of(longest)}, on which it acts most, '
                'is not judged.')
            return self._conclude(
                found, Kind.MASS_DISTRIBUTION, f'link {link!r}',
                f'The mass of link {link!r} is distributed otherwise than in the URDF'
                + (f': its first moment of mass differs by {shown}.' if shown else '.')
                + _not_held('first moment of mass', moments) + unjudged,
                'Look at its centre of mass and inertia in the URDF, or identify them.', *moments)
        if mass.value < 0.0:
            given = float(self._robot.inertial_parameters[10 * found.cause.body])
            return self._conclude(
                found, Kind.LINK_MASS, f'link {link!r}',
                f'The mass of link {link!r} is {-mass.value:.3g} ± {mass.standard_error:.2g} kg '
                f'less than the {given:.4g} kg of the URDF (with all that is fixed to it).',
                'Correct the mass in the URDF, or identify the link.', mass)
        centre = _centre(found, self._reach)
        where = _along_axes(centre)
        return self._conclude(
            found, Kind.LOAD, f'link {link!r}',
            f'Link {link!r} carries {mass} more than in the URDF'
            + (f', with the centre of mass at {where} in its frame.' if where else '.')
            + _not_held('centre of mass', centre),
            'Attach it as a payload, or add it to the URDF.', mass, *centre)

    def _of_load(self, found: Found, k: int, name: str) -> Estimate:
        """Return a mass or a first moment of mass, unknown where its error is beyond the robot."""
        bound, unit = (self._heaviest, 'kg') if k == 0 else (
            self._heaviest * self._reach, 'kg m')
        return _bounded(name, float(found.parameters[k]), _error(found, k), unit, bound)

    def _mass(self, found: Found) -> Conclusion:
        assert isinstance(found.cause, Mass)  # noqa: S101
        link, given = self._link(found.cause.body), found.cause.inertial[0]
        mass = Estimate('mass', given * (1.0 + float(found.parameters[0])),
                        given * _error(found, 0), 'kg')
        return self._conclude(
            found, Kind.LINK_MASS, f'link {link!r}',
            f'The mass of link {link!r} is {mass}, not the {given:.4g} kg of the URDF (with all '
            'that is fixed to it).',
            'Correct the mass in the URDF, or identify the link.', mass)


def _error(found: Found, k: int) -> float:
    return sqrt(max(float(found.covariance[k, k]), 0.0)) if found.held[k] else inf


def _bounded(name: str, value: float, error: float, unit: str, bound: float) -> Estimate:
    """Return a figure; no number where its error is larger than what the figure itself can be."""
    if error > bound:
        return Estimate(name, nan, inf, unit)
    return Estimate(name, value, error, unit)


def _along_axes(figures: Sequence[Estimate]) -> str:
    """Return those of three figures that the recordings hold."""
    return ', '.join(f'{axis} {each}' for axis, each in zip('xyz', figures)
                     if isfinite(each.standard_error))


def _not_held(what: str, figures: Sequence[Estimate]) -> str:
    """Return a sentence that says along which axes there is no figure."""
    axes = [axis for axis, each in zip('xyz', figures) if not isfinite(each.standard_error)]
    return (f' Its {what} along {" and ".join(axes)} is not identifiable from these recordings.'
            if axes else '')


def _centre(found: Found, reach: float) -> tuple[Estimate, ...]:
    """Return the centre of mass: first moments by mass, with their errors to the first order."""
    mass = float(found.parameters[0])
    centre = []
    for k, axis in enumerate('xyz', start=1):
        position = float(found.parameters[k]) / mass
        slopes = np.zeros(len(found.parameters))
        slopes[[0, k]] = -position / mass, 1.0 / mass
        variance = float(slopes @ found.covariance @ slopes)
        error = sqrt(max(variance, 0.0)) if found.held[k] else inf
        centre.append(_bounded(f'centre {axis}', position, error, 'm', reach))
    return tuple(centre)
