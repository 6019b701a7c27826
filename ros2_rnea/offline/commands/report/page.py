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
"""The files of a report: a page of HTML that needs nothing else, JSON, and pictures."""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
import re

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ros2_rnea.command_line.output_files import writing
from ros2_rnea.errors import printable
from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.commands.report.picture import draw_joint, reach_of, svg_parts
from ros2_rnea.offline.commands.report.report import as_json, Report
from ros2_rnea.offline.commands.report.table import evidence

TEMPLATE = 'page.html'

PAGE, DATA = 'report.html', 'report.json'


def page(reports: Sequence[Report]) -> str:
    """
    Return the page.

    :param reports: of the same robot's coordinates, such as one *before* and one *after* an
        identification; their pictures have the same scales.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value)
    environment.filters.update(number=number, evidence=evidence)
    comparisons = [report.comparison for report in reports]
    joints = []
    for j, coordinate in enumerate(comparisons[0].coordinates):
        reach = reach_of(comparisons, j)
        joints.append({
            'label': coordinate.label,
            'pictures': [svg_parts(comparison, j, reach) for comparison in comparisons]
            if reach[0] < reach[1] else []})
    return environment.get_template(TEMPLATE).render(
        reports=reports, joints=joints, rows=list(zip(*(report.rows() for report in reports))))


def write_report(reports: Sequence[Report], folder: Path) -> None:
    """
    Write the page, the data, and a picture of each joint of the last report.

    :param folder: is made where it does not exist.
    :raises OutputError: if a file cannot be written.
    """
    contents = {PAGE: page(reports), DATA: json.dumps(as_json(reports), indent=2) + '\n'}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            (folder / name).write_text(text, encoding='utf-8')
    comparison = reports[-1].comparison
    for j, coordinate in enumerate(comparison.coordinates):
        name = re.sub(r'[^\w.-]+', '_', coordinate.label)
        draw_joint(comparison, j, folder / f'{name}.svg')
