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
"""The files that an identification leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
import re

from ros2_rnea.command_line.output_files import writing
from ros2_rnea.errors import printable
from ros2_rnea.offline.commands.report.report import recording_as_json
from ros2_rnea.offline.identification.node_parameters import DIGITS, node_parameters
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import Doubt, Identification, summary
from ros2_rnea.offline.identification.urdf_file import decoded, RewrittenUrdf, with_parameters_of

URDF, PARAMETERS, SUMMARY = 'identified.urdf', 'parameters.yaml', 'summary.json'

DECLARATION = re.compile(r'\s*<\?xml[^>]*\?>')
"""The XML declaration, before which no comment may stand."""


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
    text, encoding = decoded(document)
    declaration = DECLARATION.match(text)
    top = declaration.end() if declaration else 0
    said = '\n'.join(f'- {printable(doubt.sentence)}' for doubt in doubts).replace('--', '- -')
    comment = f'<!-- WARNING: do not use this file as it is, for these reasons:\n{said}\n-->'
    comment = f'\n{comment}' if top else f'{comment}\n'
    return (text[:top] + comment + text[top:]).encode(encoding, 'xmlcharrefreplace')
