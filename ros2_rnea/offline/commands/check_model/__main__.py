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
"""Check a model: ``ros2 run ros2_rnea check_model --help``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path
import sys
from typing import Any

from ros2_rnea.command_line.command import command
from ros2_rnea.command_line.output_files import json_path, STANDARD_OUTPUT, write_json
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.audit import examine, Finding, refusal, Severity
from ros2_rnea.offline.commands.check_model.as_json import as_json, findings_as_json
from ros2_rnea.offline.commands.check_model.figures import Figures
from ros2_rnea.offline.commands.check_model.report import findings_report, report, verdict
from ros2_rnea.offline.commands.check_model.source import read_source


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    GOOD = 0
    FINDINGS = 1
    NOT_A_ROBOT = 2


@command('check_model', ExitCode.NOT_A_ROBOT)
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Check one model and print the report.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.file is None:
        parser.print_help(sys.stderr)
        print('\ncheck_model: name the file of a robot description', file=sys.stderr)
        return ExitCode.NOT_A_ROBOT
    text = read_source(options.file, options.mappings)
    try:
        description = parse_urdf(text)
    except DescriptionError:
        findings = refusal(text)
        _show('\n'.join(['not the description of one robot', '', *findings_report(findings)]),
              {'robot': None, 'findings': findings_as_json(findings)}, findings, options.json)
        return ExitCode.NOT_A_ROBOT
    figures = Figures(examine(description, text, options.massless))
    findings = figures.examination.findings
    _show(report(figures), as_json(figures), findings, options.json)
    worst = max((finding.severity for finding in findings), default=Severity.NOTE)
    return ExitCode.FINDINGS if worst > Severity.NOTE else ExitCode.GOOD


def _show(text: str, data: dict[str, Any], findings: Iterable[Finding], path: Path | None) -> None:
    """Print the text and the verdict, and write the data where a path is given."""
    if path is not None:
        write_json(data, path)
    if path != STANDARD_OUTPUT:
        print(f'{text}\n\n{verdict(findings)}')


def _parser() -> argparse.ArgumentParser:
    severities = '\n'.join(
        f'  {severity.name:<11}{severity.meaning}' for severity in reversed(Severity))
    parser = argparse.ArgumentParser(
        prog='ros2_rnea check_model',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"""\
Show the dynamics of a robot description, and report suspicious values.

The report shows the kinematic tree, the joints, mass and centre of mass, the range of effort that
gravity needs at each joint compared with its effort limit, and then the findings, the most severe
first:
{severities}""",
        epilog="""\
exit codes:  0 only notes; 1 other findings; 2 no description of one robot, with all reasons
examples:
  ros2_rnea check_model panda.urdf
  ros2_rnea check_model ur.urdf.xacro ur_type:=ur5e name:=ur
  ros2_rnea check_model robot.urdf --json - | jq '.findings[] | select(.severity != "note")'""")
    parser.add_argument('file', nargs='?',
                        help='a URDF file; a xacro file, if xacro is installed; or - for the '
                             'standard input')
    parser.add_argument('mappings', nargs='*', metavar='NAME:=VALUE', help='arguments for xacro')
    parser.add_argument('--massless', action='append', default=[], metavar='LINK',
                        help='a link that may move without <inertial>, as in the parameter '
                             'massless_links of the node; may be repeated')
    parser.add_argument('--json', type=json_path, metavar='FILE',
                        help='write the report as JSON, too; -: to the standard output, alone')
    return parser


if __name__ == '__main__':
    sys.exit(main())
