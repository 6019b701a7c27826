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
"""The report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ros2_rnea.command_line.terminal import figure_table
from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.commands.report.report import Report
from ros2_rnea.offline.identification.conclusions import Conclusion, Kind


def report_table(report: Report) -> RenderableType:
    """Return the figures of each joint, then what follows from them."""
    table = figure_table(
        'joint', '', 'measured', 'difference', 'share', 'unexplained', 'noise')
    for row in report.rows():
        table.add_row(Text(row.joint), row.unit, number(row.measured), number(row.difference),
                      row.share, number(row.unexplained), number(row.noise))
    return Group(
        Text(report.scope), Text(report.verdict, style='bold'),
        *(Text(remark, style='dim') for remark in report.remarks),
        table, Text(
            'RMS of the measured effort, of its difference to the model, and of the residual '
            'after all conclusions have been applied, with friction and offset of each joint '
            'removed; the noise is what no rigid bodies explain.\n',
            style='dim'), *_conclusions(report))


def _conclusions(report: Report) -> Iterator[RenderableType]:
    for count, conclusion in enumerate(report.diagnosis.conclusions, start=1):
        yield Text.assemble((f'{count}. ', 'bold'), (conclusion.sentence, 'bold'))
        yield Padding(Text(f'{evidence(conclusion)} {conclusion.advice}'), (0, 0, 0, 3))
    for question in report.diagnosis.open_questions:
        yield Text(f'Not known: {question}', style='dim')
    for note in report.notes:
        yield Text(f'Note: {note}', style='dim')


def evidence(conclusion: Conclusion) -> str:
    """Return a sentence about what a conclusion rests on."""
    if conclusion.kind is Kind.SATURATED:
        return ('Evidence: the effort is the same number, to the last digit, while that of the '
                'model changes.')
    whose = '' if len(conclusion.quantities) < 2 else (
        'the clearest figure is ' if conclusion.kind is Kind.FRICTION else 'together ')
    sigma = f'{whose}{conclusion.significance:.0f} standard errors from zero'
    better = [str(each) for each in conclusion.improvements if each.after < 0.99 * each.before]
    return f'Evidence: {sigma}; RMS of the difference: {", ".join(better)}.' if better else (
        f'Evidence: {sigma}.')
