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
"""The result of an identification as tables and sentences for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from rich.table import Table

from ros2_rnea.identification.results import Identification, Parameter
from ros2_rnea.tools.identify.files import SUMMARY


LARGEST_RATIO = 3.0
"""Of a mass that the data does not determine to that of the URDF: one further off is doubtful."""


def effort_table(identification: Identification) -> Table:
    """Return what the model leaves of the measured effort by joint, before and after."""
    table = Table(
        title='Root mean square on held-back data [Nm or N]', title_justify='left')
    table.add_column('joint')
    for title in ('measured', 'URDF leaves', 'identified leaves', 'times smaller'):
        table.add_column(title, justify='right')
    for joint, measured, before, after in zip(
            identification.joints, identification.measured_rms, identification.urdf_rms,
            identification.identified_rms):
        ratio = f'{before / after:.1f}' if after > 0.0 and isfinite(before / after) else '-'
        table.add_row(joint, _number(measured), _number(before), _number(after), ratio)
    return table


def parameter_table(identification: Identification) -> Table:
    """Return the parameters that were unknown."""
    table = Table(title='Parameters', title_justify='left')
    table.add_column('parameter')
    for title in ('URDF', 'identified', 'standard error'):
        table.add_column(title, justify='right')
    table.add_column('unit')
    for one in identification.parameters:
        table.add_row(one.name, _number(one.urdf_value), _number(one.value), _error(one), one.unit)
    return table


def doubts(identification: Identification) -> list[str]:
    """Return why the result should not be used as it is; nothing where it may be."""
    found = []
    if not identification.physically_consistent:
        found.append('a body of the result cannot exist (it is not physically consistent); do not '
                     'use it for control')
    worse = [joint for joint, before, after in zip(
        identification.joints, identification.urdf_rms, identification.identified_rms)
        if after > before]
    if worse:
        found.append(f'on held-back data the identified model is worse than the URDF for '
                     f'{", ".join(worse)}; record a longer and richer motion')
    for one in identification.parameters:
        if one.quantity == 'm' and one.standard_error is None and one.urdf_value > 0.0 and not (
                one.urdf_value / LARGEST_RATIO < one.value < one.urdf_value * LARGEST_RATIO):
            found.append(
                f'the {one.name} is {_number(one.value)} kg, and {_number(one.urdf_value)} kg in '
                'the URDF, although the data does not determine it; something else is probably '
                'unknown, such as the inertia of rotors: add rotor to --unknown')
    return found


def sentences(identification: Identification) -> Iterator[str]:
    """Yield what a person has to know beside the tables."""
    for doubt in doubts(identification):
        yield f'WARNING: {doubt}.'
    if identification.physically_consistent and identification.links:
        yield 'Every identified body is one that can exist: the result is physically consistent.'
    yield (f'The condition number is {identification.condition_number:.3g}: so many times larger '
           'than that of the efforts the relative error of a parameter can become. Below 100 the '
           'motion is a good excitation.')
    undetermined = sum(one.standard_error is None for one in identification.parameters)
    if undetermined:
        yield (f'{undetermined} of {len(identification.parameters)} parameters have no standard '
               'error: the recordings do not determine them one by one, but only the combinations '
               f'of them in {SUMMARY}.')
    yield from identification.not_identifiable


def _error(parameter: Parameter) -> str:
    return 'not determined' if parameter.standard_error is None else _number(
        parameter.standard_error)


def _number(value: float) -> str:
    return f'{value:.4g}' if isfinite(value) else '-'
