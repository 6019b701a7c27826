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
"""What is written to files and what is printed of an identification, each with its doubts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import json
from math import isfinite
from pathlib import Path
import re

from rich.console import Group, RenderableType
from rich.text import Text

from ros2_rnea.command_line.output_files import writing
from ros2_rnea.command_line.terminal import figure_table
from ros2_rnea.errors import printable
from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.commands.report.page import PAGE
from ros2_rnea.offline.commands.report.report import recording_as_json
from ros2_rnea.offline.identification.conclusions import Estimate
from ros2_rnea.offline.identification.identification import HELD_BACK
from ros2_rnea.offline.identification.node_parameters import DIGITS, node_parameters
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import Doubt, Identification, summary
from ros2_rnea.offline.identification.time_blocks import FEWEST_RECORDINGS
from ros2_rnea.offline.identification.urdf_file import RewrittenUrdf, with_parameters_of

URDF, PARAMETERS, SUMMARY = 'identified.urdf', 'parameters.yaml', 'summary.json'

NOTHING = 1e-3
"""Numbers below this part of their standard error are shown as 0."""

TOP = re.compile(rb'(\xef\xbb\xbf)?(\s*<\?xml[^>]*\?>\s*)?')
"""The byte order mark and the XML declaration, before which no comment may stand."""


def write_files(
        identification: Identification, document: bytes, folder: Path,
        doubts: Sequence[Doubt] = (), recordings: Sequence[PreparedRecording] = (),
        ) -> RewrittenUrdf:
    """
    Write the URDF, the node's parameters and the summary.

    :param document: the content of the URDF file that the robot was read from.
    :param folder: is made if it does not exist.
    :param doubts: why the result should not be used as it is; they stand at the top of each file.
    :param recordings: from which it was identified, for the summary.
    :return: what has become of the URDF.
    :raises RneaError: where the URDF cannot have the result, or a file cannot be written.
    """
    urdf = with_parameters_of(document, identification.robot, DIGITS)
    contents = {
        URDF: _with_doubts(urdf.document, doubts),
        PARAMETERS: node_parameters(identification, doubts).encode(),
        SUMMARY: (json.dumps(
            {'doubts': [doubt.sentence for doubt in doubts], **summary(identification),
             'recordings': [recording_as_json(each) for each in recordings],
             'urdf': {
                 'links': urdf.links, 'joints': urdf.joints, 'remarks': urdf.remarks}},
            indent=2, allow_nan=False, ensure_ascii=False) + '\n').encode()}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    return urdf


def _with_doubts(document: bytes, doubts: Sequence[Doubt]) -> bytes:
    """Return a URDF file with the doubts in a comment at its top."""
    if not doubts:
        return document
    said = '\n'.join(f'- {printable(doubt.sentence)}' for doubt in doubts).replace('--', '- -')
    comment = f'<!-- WARNING: do not use this file as it is, for these reasons:\n{said}\n-->\n'
    return TOP.sub(lambda top: top[0] + comment.encode(), document, count=1)


# ---- what is printed ---------------------------------------------------------------------------


def effort_table(
        identification: Identification, held_back: float = HELD_BACK) -> RenderableType:
    """
    Return the residuals of the measured effort by joint, before and after.

    :param held_back: the part of each recording that this is about.
    """
    table = figure_table(
        'joint', 'measured', 'residual, URDF', 'residual, identified', 'times smaller')
    for joint, measured, before, after in zip(
            identification.joints, identification.measured_rms, identification.urdf_rms,
            identification.identified_rms):
        ratio = f'{before / after:.1f}' if after > 0.0 and isfinite(before / after) else '-'
        table.add_row(Text(joint), number(measured), number(before), number(after), ratio)
    gained = ('  Measured efforts are multiplied by the identified gains.'
              if identification.gains else '')
    return Group(table, Text(
        f'Root mean square [Nm or N] on the last {100.0 * held_back:.0f} % of each recording, '
        f'which the fit did not see.{gained}  {PAGE} compares all samples, those at '
        'rest, too, so its figures are others.\n', style='dim'))


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
         f'only the combinations of them that stand there.  {URDF} and {PARAMETERS} have values '
         'for them that agree with these combinations, and may be far from the truth one by '
         'one.\n') if others else '', style='dim'))


def sentences(
        identification: Identification, doubts: Sequence[Doubt]) -> Iterator[str]:
    """Yield what a person has to know in addition to the tables."""
    for doubt in doubts:
        yield f'WARNING: {doubt.sentence.removesuffix(".")}.'
    if identification.physically_consistent and identification.links:
        yield 'Every identified body is one that can exist: the result is physically consistent.'
    if identification.rotor_inertias:
        yield (f'The inertias of rotors are in {PARAMETERS} (armature), because no URDF has them: '
               f'the model is complete only with both files, and a later identification from '
               f'{URDF} needs rotor among its unknowns again.')
    if identification.slow_joints:
        yield (f'Some samples in which {", ".join(identification.slow_joints)} move are slower '
               'than 0.03 rad/s or m/s.  At such speeds the fit takes the whole Coulomb friction, '
               'as a machine has it, and the node sends less: half of it at 0.006, and 98 % at '
               '0.05 rad/s or m/s.')
    used = [(count, joint) for count, joint in zip(
        identification.independent_samples.tolist(), identification.joints) if count]
    if used:
        fewest, joint = min(used)
        yield (f'Residuals are correlated in time: the samples of {joint} count as '
               f'{fewest:.0f} independent ones, the fewest of all joints.')
    if identification.recordings < FEWEST_RECORDINGS:
        yield ('Standard errors do not cover what is the same throughout a recording, such as '
               f'friction at one temperature: identify from {FEWEST_RECORDINGS} or more '
               'recordings of different times together, and they do.')
