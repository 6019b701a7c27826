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
"""The page of a report: HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
import numpy as np

from ros2_rnea.command_line.output_files import writing
from ros2_rnea.errors import printable
from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.commands.report.picture import JointPictures
from ros2_rnea.offline.commands.report.report import Report

TEMPLATE, PAGE = 'page.html', 'report.html'


def page(reports: Sequence[Report]) -> str:
    """
    Return the page.

    :param reports: one, or one *before* and one *after* an identification, of the same recordings.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value)
    environment.filters['number'] = number
    comparisons = [report.comparison for report in reports]
    titles = [report.title for report in reports] if len(reports) > 1 else ['']
    pictures = [JointPictures(comparisons, j, titles).as_svg() if is_measured else []
                for j, is_measured in enumerate(np.isfinite(comparisons[0].measured_rms))]
    return environment.get_template(TEMPLATE).render(
        reports=reports, pictures=pictures, rows=list(zip(*(report.rows() for report in reports))))


def write_page(reports: Sequence[Report], folder: Path) -> None:
    """
    Write the page into a folder, which is made where it does not exist.

    :raises OutputError: if it cannot be written.
    """
    text = page(reports)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PAGE).write_text(text, encoding='utf-8')
