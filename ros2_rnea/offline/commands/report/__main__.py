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
"""Report on recordings and a model: ``ros2 run ros2_rnea report --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
import sys


from ros2_rnea.command_line.command import command
from ros2_rnea.command_line.output_files import json_path, STANDARD_OUTPUT, write_json
from ros2_rnea.command_line.terminal import PrintableConsole, say_written
from ros2_rnea.offline.commands.check_model.source import read_source
from ros2_rnea.offline.commands.recordings import (
    add_recording_options,
    EXAMPLES,
    prepared_recordings,
)
from ros2_rnea.offline.commands.report.node_numbers import with_numbers_of
from ros2_rnea.offline.commands.report.page import PAGE, write_page
from ros2_rnea.offline.commands.report.report import (
    as_json,
    NOTHING_WRONG,
    Report,
    report_table,
)
from ros2_rnea.offline.commands.robot_options import add_robot_options, robot_of
from ros2_rnea.robots.arguments import STANDARD_GRAVITY


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    NOTHING_WRONG = 0
    DOUBTFUL = 1
    NO_REPORT = 2


@command('report', ExitCode.NO_REPORT)
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Compare recordings with a model, print what follows and write the files.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    robot = robot_of(read_source(options.urdf), options)
    remarks: list[str] = []
    if options.parameters is not None:
        robot, remark = with_numbers_of(
            robot, options.parameters, options.node, options.gravity is not STANDARD_GRAVITY)
        remarks.append(remark)
    prepared = list(prepared_recordings(options, robot, remarks))
    report = Report.of('model', prepared, robot, remarks)
    if not options.dry_run:
        write_page([report], options.out)
    if options.json is not None and (options.json == STANDARD_OUTPUT or not options.dry_run):
        write_json(as_json([report]), options.json)
    if options.json != STANDARD_OUTPUT:
        console = PrintableConsole(highlight=False)
        console.print(report_table(report))
        if not options.dry_run:
            say_written(console, [options.out / PAGE])
    return ExitCode.NOTHING_WRONG if report.verdict == NOTHING_WRONG else ExitCode.DOUBTFUL


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='ros2_rnea report',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Compare recorded efforts with those that the model needs for the recorded motion, and say what is
wrong: efforts that are cut off, a turned sign, a factor, an offset, another direction of gravity,
the zero of a joint, a load that the URDF lacks, a wrong mass, friction.  Each conclusion has its
evidence; nothing is concluded that the recordings do not show.  It writes a page of HTML with
pictures of each joint, which needs no network, and JSON where that is asked for.""",
        epilog=EXAMPLES + """
exit codes:  0 the recordings show nothing wrong with the model; 1 something is concluded or stays
             open, as its verdict says; 2 what was given is refused, with the reason; 3 a defect
             of this program
examples:
  ros2_rnea report my_bag --urdf panda.urdf
  ros2_rnea report my_bag --urdf identified/identified.urdf --parameters identified/parameters.yaml
  ros2_rnea report swing.csv tool.csv --payload tool.csv=tool0:2.5:0,0,0.1 --urdf ur5e.urdf
""")
    add_recording_options(parser)
    group = parser.add_argument_group('the robot')
    add_robot_options(group)
    group.add_argument('--parameters', type=Path, metavar='FILE',
                       help="the node's parameters, such as parameters.yaml of identify: its "
                            'friction, rotors (armature) and gravity replace those of the URDF')
    group.add_argument('--node', default='/inverse_dynamics', metavar='NAME',
                       help='whose parameters these are (default %(default)s)')
    results = parser.add_argument_group('output')
    results.add_argument('--out', type=Path, default=Path('report'), metavar='FOLDER',
                         help='folder of the page (default: report in the current folder)')
    results.add_argument('--json', type=json_path, metavar='FILE',
                         help='write JSON to this file; -: to the standard output, without the '
                              'table')
    results.add_argument('--dry-run', action='store_true', help='write no files')
    return parser


if __name__ == '__main__':
    sys.exit(main())
