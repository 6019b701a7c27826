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
"""What is said about a motion: tables, sentences and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from ros2_rnea.command_line.terminal import figure_table
from ros2_rnea.offline.commands.excite.plan import Plan
from ros2_rnea.offline.identification.base_parameters import DETERMINED
from ros2_rnea.offline.identification.effort_columns import payload_link
from ros2_rnea.offline.identification.expected_information import ExpectedError

_MAX_ERRORS = 40
"""Rows of the table of expected errors; all are in the JSON."""


def tables(plan: Plan) -> Iterator[RenderableType]:
    """Yield the table of the motion and that of the expected errors."""
    yield _motion_table(plan)
    yield _error_table(plan)


def _motion_table(plan: Plan) -> RenderableType:
    table = figure_table(
        'joint', 'start', 'from', 'to', 'limits', 'velocity', 'effort', 'noise', 'error')
    peaks, motion = plan.excitation.peaks, plan.excitation.motion
    for i, (joint, limits) in enumerate(zip(plan.excitation.joints, plan.bounds)):
        table.add_row(
            joint, f'{motion.start[i]:.2f}', f'{peaks.lowest[i]:.2f}', f'{peaks.highest[i]:.2f}',
            f'{limits.lower:.2f} to {limits.upper:.2f}',
            f'{peaks.velocity[i] / limits.velocity:.0%}',
            f'{peaks.effort[i] / limits.effort:.0%}', f'{plan.noise[i]:.2g}',
            f'{plan.excitation.effort_errors[i]:.2g}')
    return Group(table, Text(
        'Positions in rad or m; velocity and effort: largest share of the limit; noise: of the '
        'measured efforts [Nm or N]; error: expected of efforts that are computed with what is '
        'identified.\n', style='dim'))


def _error_table(plan: Plan) -> RenderableType:
    table = figure_table('to be identified', 'expected standard error', 'unit')
    known = [error for error in plan.excitation.errors if error.is_identifiable]
    for error in known[:_MAX_ERRORS]:
        table.add_row(error.sought.name, f'{error.standard_error:.2g}', error.sought.unit)
    notes = []
    if len(known) > _MAX_ERRORS:
        notes.append(f'{len(known) - _MAX_ERRORS} more are in the JSON. ')
    large = [error.sought.name for error in plan.excitation.errors
             if error.standard_error is not None and not error.is_identifiable]
    if large:
        notes.append(
            'Not identifiable by this motion, since the standard error would be more than '
            f'{DETERMINED:.0%} of the size of the body: {", ".join(large)}. ')
    combined = sum(error.standard_error is None for error in plan.excitation.errors)
    if combined:
        notes.append(f'{combined} others are identifiable only in combinations, or not at all. ')
    return Group(table, Text(f'{"".join(notes)}\n', style='dim'))


def sentences(plan: Plan) -> Iterator[str]:
    """Yield what the motion tells, and what was checked."""
    excitation, settings, options = plan.excitation, plan.settings, plan.options
    yield (f'{settings.periods} periods of {settings.period:g} s, up to '
           f'{settings.harmonics / settings.period:g} Hz; found in {plan.seconds:.1f} s with seed '
           f'{settings.seed}.')
    if options.scale != 1.0:
        yield (f'The path is {options.scale:g} of what the limits allow (--scale); the errors are '
               'those of this small motion.')
    yield (f'{excitation.rank} combinations of {len(excitation.errors)} unknowns are '
           f'identifiable, with a condition number of {excitation.condition_number:.3g}.')
    gain = excitation.gain
    yield (f'The standard errors are {max(gain, 1.0 / gain):.2g} times '
           f'{"smaller" if gain >= 1.0 else "larger"}, as a geometric mean, than with the median '
           f'of random motions {"of full size " if options.scale != 1.0 else ""}within the same '
           'limits.')
    for link, mass, errors in _payload_centers(plan):
        shown = ', '.join(f'{1e3 * error:.2g}' for error in errors)
        yield (f'The centre of a payload of {mass:g} kg on {link} will be known to {shown} mm '
               '(x, y, z; standard error).')
    if not plan.options.noise:
        yield ('The noise is assumed, as 1 % of each effort limit: give --noise when a recording '
               'has shown the true value.')
    checked = plan.checked
    if checked is None or not checked.has_geometry:
        return
    yield (f'Links keep {plan.options.clearance:g} m from each other'
           f'{" and from the floor" if options.floor is not None else ""}'
           f'{f"; closest are {plan.closest}" if plan.closest else ""}. Meshes count as their '
           'convex hulls.')
    for title, pairs in (('that one joint holds together', checked.adjacent),
                         ('that touch with all joints at zero', checked.touching),
                         ('that touch in every pose', checked.always)):
        if pairs:
            yield f'Not checked are neighbours {title}: {"; ".join(map(str, pairs))}.'
    if checked.reduced:
        shown = '; '.join(f'{pair}: {demanded:.3f} m' for pair, demanded in checked.reduced)
        yield f'Less clearance is demanded of links that are always close: {shown}.'
    if checked.points:
        yield ('Without geometry, so that only their origins stay clear of the floor: '
               f'{", ".join(checked.points)}.')


def warnings(plan: Plan) -> Iterator[str]:
    """Yield what was not checked, and what has to be done before the motion is sent."""
    checked = plan.checked
    if checked is None:
        yield ('Collisions were not checked (--no-collision-check): neither of the links with '
               'each other, nor with the floor.')
    else:
        if not checked.has_geometry:
            floor = (' Of the floor, only the origins of the links were kept clear.'
                     if plan.options.floor is not None else '')
            yield ('The URDF has no collision geometry, so collisions of the links with each '
                   f'other and with what is around were not checked.{floor}')
        if plan.options.ignore_collision_of:
            yield ('Collisions of these links were not checked (--ignore-collision-of): '
                   f'{", ".join(plan.options.ignore_collision_of)}.')
        if plan.options.floor is None:
            yield 'There is no floor (--floor none).'
    if plan.hand:
        places = ', '.join(f'{name}={place:g}' for name, place in plan.hand.items())
        yield (f'Joints of a hand or gripper do not move, and are assumed at {places}: --assume '
               'says where they are, and --joints which joints move.')
    start = ', '.join(f'{joint}={position:.4f}' for joint, position in zip(
        plan.excitation.joints, plan.excitation.motion.start))
    yield (f'The trajectory begins at once at {start}. Take the arm there first with a goal of '
           'your own, along a free way: from anywhere else, the controller jumps.')


def _payload_centers(plan: Plan) -> Iterator[tuple[str, float, list[float]]]:
    """
    Yield link, mass and standard errors of the centre of mass of payloads [kg, m].

    The centre is first moment by mass, so its error follows by linearization.
    """
    for kind in plan.options.kinds:
        link = payload_link(kind)
        for owner, inertial in plan.moving.robot.payloads.values():
            if not link or owner != link or not inertial.mass:
                continue
            columns = [index for index, error in enumerate(plan.excitation.errors)
                       if error.sought.of == link and error.sought.quantity in
                       ('m', 'hx', 'hy', 'hz')]
            if any(plan.excitation.errors[index].standard_error is None for index in columns):
                continue
            mass, *moments = plan.excitation.covariance_root[columns]
            yield link, inertial.mass, [
                float(np.linalg.norm((moment - place * mass) / inertial.mass))
                for moment, place in zip(moments, inertial.origin.xyz)]


def as_json(plan: Plan) -> dict[str, Any]:
    """Return all figures as plain data; what is not known is null."""
    excitation, settings, options = plan.excitation, plan.settings, plan.options
    motion, peaks = excitation.motion, excitation.peaks
    return {
        'robot': plan.moving.robot.name,
        'for': list(options.kinds),
        'period_s': settings.period,
        'periods': settings.periods,
        'harmonics': settings.harmonics,
        'rate_hz': settings.rate,
        'scale': options.scale,
        'seed': settings.seed,
        'seconds': plan.seconds,
        'identifiable_combinations': excitation.rank,
        'condition_number': excitation.condition_number,
        'errors_smaller_than_random_by': excitation.gain,
        'joints': [{
            'name': joint,
            'start': motion.start[i],
            'coefficients': [[z.real, z.imag] for z in motion.coefficients[i].tolist()],
            **{name: each[i] for name, each in peaks._asdict().items()},
            'limits': {
                name: value if np.isfinite(value) else None
                for name, value in plan.bounds[i]._asdict().items()},
            'noise': plan.noise[i],
            'expected_effort_error': excitation.effort_errors[i],
        } for i, joint in enumerate(excitation.joints)],
        'expected_errors': [_error(error) for error in excitation.errors],
        'payload_centers': [
            {'link': link, 'mass_kg': mass, 'standard_error_m': errors}
            for link, mass, errors in _payload_centers(plan)],
        'collisions': _collisions(plan),
    }


def _error(error: ExpectedError) -> dict[str, Any]:
    return {'of': error.sought.of, 'quantity': error.sought.quantity, 'unit': error.sought.unit,
            'standard_error': error.standard_error, 'identifiable': error.is_identifiable}


def _collisions(plan: Plan) -> dict[str, Any]:
    checked = plan.checked
    if checked is None:
        return {'checked': False}
    return {
        'checked': checked.has_geometry,
        'floor': plan.options.floor is not None,
        'demanded_m': plan.options.clearance,
        'least_m': plan.excitation.clearance,
        'closest': plan.closest or None,
        'links_without_geometry': list(checked.points),
        'links_ignored': list(plan.options.ignore_collision_of),
        'left_out': {name: list(map(str, getattr(checked, name)))
                     for name in ('adjacent', 'touching', 'always')},
        'reduced_m': {str(pair): demanded for pair, demanded in checked.reduced},
    }
