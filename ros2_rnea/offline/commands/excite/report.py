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
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from ros2_rnea.command_line.terminal import figure_table
from ros2_rnea.offline.commands.excite.plan import Plan
from ros2_rnea.offline.identification.base_parameters import DETERMINED

_MAX_ERRORS = 40
"""Rows of the table of expected errors; all are in the JSON."""


def motion_table(plan: Plan) -> RenderableType:
    """Return the table of the joints and how far they move."""
    table = figure_table(
        'joint', 'start', 'from', 'to', 'limits', 'velocity', 'effort', 'noise', 'error')
    peaks, motion = plan.excitation.peaks, plan.excitation.motion
    for i, (joint, limits) in enumerate(zip(plan.moving.joints, plan.bounds)):
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


def error_table(plan: Plan) -> RenderableType:
    """Return the table of expected standard errors, and what will have none."""
    table = figure_table('to be identified', 'expected standard error', 'unit')
    errors = plan.excitation.errors
    known = [error for error in errors if error.is_identifiable]
    for error in known[:_MAX_ERRORS]:
        table.add_row(error.unknown.name, f'{error.standard_error:.2g}', error.unknown.unit)
    notes = []
    if len(known) > _MAX_ERRORS:
        notes.append(f'{len(known) - _MAX_ERRORS} more are in the JSON. ')
    large = [error.unknown.name for error in errors
             if error.standard_error is not None and not error.is_identifiable]
    if large:
        notes.append(
            'Not identifiable by this motion, since the standard error would be more than '
            f'{DETERMINED:.0%} of the size of the body: {", ".join(large)}. ')
    if len(known) + len(large) < len(errors):
        notes.append(f'{len(errors) - len(known) - len(large)} others are identifiable only in '
                     'combinations, or not at all. ')
    return Group(table, Text(f'{"".join(notes)}\n', style='dim'))


def sentences(plan: Plan) -> Iterator[str]:
    """Yield what the motion tells, and what was checked."""
    excitation, settings, checked = plan.excitation, plan.settings, plan.checked
    gain, of_all = excitation.gain, '' if settings.scale == 1.0 else 'of full size '
    yield (f'{settings.periods} periods of {settings.period:g} s, up to '
           f'{settings.harmonics / settings.period:g} Hz; found with seed {settings.seed}.')
    if of_all:
        yield (f'The path is {settings.scale:g} of what the limits allow (--scale); the errors '
               'are those of this small motion.')
    yield (f'{excitation.rank} combinations of {len(excitation.errors)} unknowns are '
           f'identifiable, with a condition number of {excitation.condition_number:.3g}.')
    yield (f'The standard errors are {max(gain, 1.0 / gain):.2g} times '
           f'{"smaller" if gain >= 1.0 else "larger"}, as a geometric mean, than with the median '
           f'of random motions {of_all}within the same limits.')
    if excitation.payload_center:
        shown = ', '.join(f'{1e3 * error:.2g}' for error in excitation.payload_center)
        yield f'The centre of the payload will be known to {shown} mm (x, y, z; standard error).'
    if not plan.options.noise:
        yield ('The noise is assumed, as 1 % of each effort limit: give --noise when a recording '
               'has shown the true value.')
    if checked is None or not checked.has_geometry:
        return
    yield (f'Links keep {plan.options.clearance:g} m from each other'
           f'{" and from the floor" if plan.options.floor is not None else ""}'
           f'{f"; closest are {plan.closest}" if plan.closest else ""}. Meshes count as their '
           'convex hulls.')
    for why, pairs in checked.left_out.items():
        if pairs:
            yield f'Not checked are links that are {why}: {"; ".join(pairs)}.'
    if checked.reduced:
        shown = '; '.join(f'{pair}: {least:.3f} m' for pair, least in checked.reduced.items())
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
    elif plan.options.floor is None:
        yield 'There is no floor (--floor none).'
    if checked is not None and not checked.has_geometry:
        yield ('The URDF has no collision geometry, so collisions of the links with each other '
               'and with what is around were not checked.')
        if plan.options.floor is not None:
            yield 'Of the floor, only the origins of the links were kept clear.'
    if plan.hand:
        places = ', '.join(f'{name}={place:g}' for name, place in plan.hand.items())
        yield (f'Joints of a hand or gripper do not move, and are assumed at {places}: --assume '
               'says where they are, and --joints which joints move.')
    start = ', '.join(f'{joint}={position:.4f}' for joint, position in zip(
        plan.moving.joints, plan.excitation.motion.start))
    yield (f'The trajectory begins at once at {start}. Take the arm there first with a goal of '
           'your own, along a free way: from anywhere else, the controller jumps.')


def as_json(plan: Plan) -> dict[str, Any]:
    """Return all figures as plain data; what is not known is null."""
    excitation, checked = plan.excitation, plan.checked
    motion, peaks = excitation.motion, excitation.peaks
    return {
        'robot': plan.moving.robot.name,
        'unknown': plan.options.unknown,
        **asdict(plan.settings),
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
        } for i, joint in enumerate(plan.moving.joints)],
        'expected_errors': [
            {'name': error.unknown.name, 'unit': error.unknown.unit,
             'standard_error': error.standard_error, 'identifiable': error.is_identifiable}
            for error in excitation.errors],
        'payload_center_errors_m': excitation.payload_center,
        'collisions': None if checked is None else {
            **asdict(checked), 'demanded_m': plan.options.clearance,
            'least_m': excitation.clearance, 'closest': plan.closest},
    }
