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

from rich.console import Group, RenderableType
from rich.text import Text

from ros2_rnea.identification.conclusions import Estimate
from ros2_rnea.identification.identification import HELD_BACK
from ros2_rnea.identification.results import Identification
from ros2_rnea.tools.identify.files import PARAMETERS, SUMMARY, URDF
from ros2_rnea.tools.number_text import number
from ros2_rnea.tools.report.files import PAGE
from ros2_rnea.tools.report.report import Report
from ros2_rnea.tools.terminal import figure_table

MOST_CAUSES = 3
"""So many are named of those that remain."""

NOTHING = 1e-3
"""What is less than this part of a standard error is shown as 0."""

LARGEST_RATIO = 3.0
"""Of a mass that the data does not determine to that of the URDF: one further off is doubtful."""


def effort_table(
        identification: Identification, held_back: float = HELD_BACK) -> RenderableType:
    """
    Return what the model leaves of the measured effort by joint, before and after.

    :param held_back: the part of each recording that this is about.
    """
    table = figure_table('joint', 'measured', 'URDF leaves', 'identified leaves', 'times smaller')
    for joint, measured, before, after in zip(
            identification.joints, identification.measured_rms, identification.urdf_rms,
            identification.identified_rms):
        ratio = f'{before / after:.1f}' if after > 0.0 and isfinite(before / after) else '-'
        table.add_row(Text(joint), number(measured), number(before), number(after), ratio)
    return Group(table, Text(
        f'Root mean square [Nm or N] on the last {100.0 * held_back:.0f} % of each recording, '
        f'which the fit did not see.  {PAGE} compares all samples, so its figures are others.\n',
        style='dim'))


def parameter_table(identification: Identification) -> RenderableType:
    """Return the parameters that the data determines; all are in the summary."""
    table = figure_table('parameter', 'URDF', 'identified ± standard error')
    determined = [one for one in identification.parameters if one.standard_error is not None]
    for one in determined:
        error = one.standard_error or 0.0
        before = one.urdf_value if abs(one.urdf_value) > NOTHING * error else 0.0
        table.add_row(Text(one.name), number(before), str(
            Estimate(one.name, one.value, error, one.unit)))
    others = len(identification.parameters) - len(determined)
    return Group(table, Text(
        (f'{others} more are in {SUMMARY}: the recordings do not determine them one by one, but '
         'only the combinations of them that stand there.\n') if others else '', style='dim'))


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
    advice = (
        'if it cannot be true, let fewer numbers be unknown, or record a richer motion'
        if identification.rotor_inertias else
        'something else is probably unknown, such as the inertia of rotors: add rotor to '
        '--unknown')
    for one in identification.parameters:
        if one.quantity == 'm' and one.standard_error is None and one.urdf_value > 0.0 and not (
                one.urdf_value / LARGEST_RATIO < one.value < one.urdf_value * LARGEST_RATIO):
            found.append(
                f'the {one.name} is {number(one.value)} kg, and {number(one.urdf_value)} kg in '
                f'the URDF, although the data does not determine it; {advice}')
    return found


def sentences(identification: Identification) -> Iterator[str]:
    """Yield what a person has to know beside the tables."""
    for doubt in doubts(identification):
        yield f'WARNING: {doubt}.'
    if identification.physically_consistent and identification.links:
        yield 'Every identified body is one that can exist: the result is physically consistent.'
    if identification.rotor_inertias:
        yield (f'The inertias of rotors are in {PARAMETERS} (armature), because no URDF has them: '
               f'the model is complete only with both files, and a later identification from '
               f'{URDF} needs rotor among its unknowns again.')
    yield (f'The condition number is {identification.condition_number:.3g}: so many times larger '
           'than that of the efforts the relative error of a parameter can become. Below 100 the '
           'motion is a good excitation.')


def remaining_causes(after: Report) -> list[str]:
    """Return a warning if the recordings still show causes with the identified model."""
    found = [conclusion.sentence for conclusion in after.diagnosis.conclusions]
    if not found:
        return []
    more = f' {len(found) - MOST_CAUSES} more are in {PAGE}.' if len(found) > MOST_CAUSES else ''
    return ['WARNING: the identified model leaves differences that still have a cause, to be '
            f'corrected or to be among the unknowns: {" ".join(found[:MOST_CAUSES])}{more}']
