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

import json
from pathlib import Path

from ros2_rnea.identification.node_parameters import DIGITS, node_parameters
from ros2_rnea.identification.results import Identification
from ros2_rnea.identification.summary import summary
from ros2_rnea.identification.urdf_file import RewrittenUrdf, with_parameters_of
from ros2_rnea.tools.output_files import writing

URDF, PARAMETERS, SUMMARY = 'identified.urdf', 'parameters.yaml', 'summary.json'


def write_files(
        identification: Identification, document: bytes, folder: Path) -> RewrittenUrdf:
    """
    Write the URDF, the node's parameters and the summary.

    :param document: the content of the URDF file that the robot was read from.
    :param folder: is made if it does not exist.
    :return: what has become of the URDF.
    :raises RneaError: where the URDF cannot have the result, or a file cannot be written.
    """
    urdf = with_parameters_of(document, identification.robot, DIGITS)
    contents = {
        URDF: urdf.document,
        PARAMETERS: node_parameters(identification).encode(),
        SUMMARY: (json.dumps(
            {**summary(identification), 'urdf': {
                'links': urdf.links, 'joints': urdf.joints, 'remarks': urdf.remarks}},
            indent=2, allow_nan=False, ensure_ascii=False) + '\n').encode()}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    return urdf
