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
"""Identify a robot: ``ros2 run ros2_rnea identify --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
import sys

import numpy as np

from ros2_rnea.command_line.command import command
from ros2_rnea.command_line.terminal import PrintableConsole, progress_bar, say_written
from ros2_rnea.errors import ArgumentError
from ros2_rnea.offline.commands.check_model.source import read_document
from ros2_rnea.offline.commands.identify.doubts import doubts, wrong_efforts
from ros2_rnea.offline.commands.identify.output import (
    effort_table,
    parameter_table,
    PARAMETERS,
    sentences,
    SUMMARY,
    URDF,
    write_files,
)
from ros2_rnea.offline.commands.identify.unknown_list import HELP, unknowns_from
from ros2_rnea.offline.commands.recordings import (
    add_recording_options,
    EXAMPLES,
    prepared_recordings,
)
from ros2_rnea.offline.commands.report.page import PAGE, write_page
from ros2_rnea.offline.commands.report.report import Report
from ros2_rnea.offline.commands.robot_options import add_robot_options, robot_of
from ros2_rnea.offline.identification.identification import HELD_BACK, identify
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import Identification
from ros2_rnea.offline.identification.unknowns import Unknowns
from ros2_rnea.offline.identification.urdf_file import decoded


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    BETTER = 0
    DOUBTFUL = 1
    NOT_IDENTIFIED = 2


@command('identify', ExitCode.NOT_IDENTIFIED)
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Identify one robot, print the result and write the files.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    console = PrintableConsole(highlight=False)
    unknowns = unknowns_from(options.unknown)
    _check_payloads(options, unknowns)
    document = read_document(options.urdf)
    robot = robot_of(decoded(document), options)
    remarks: list[str] = []
    with progress_bar() as progress:
        prepared = list(progress.track(
            prepared_recordings(options, robot, remarks), total=len(options.recordings),
            description='reading and preparing'))
        before = Report.of('before', prepared, robot, remarks)
        if not options.anyway:
            _check_efforts(before, unknowns)
        task = progress.add_task('identifying', total=None)
        identification = identify(prepared, robot, unknowns, options.held_back)
        progress.remove_task(task)
    gained = with_gains(prepared, identification)
    after = Report.of('after', gained, identification.robot)
    found = doubts(identification, before.diagnosis, after.diagnosis, unknowns.gains, gained)
    urdf = write_files(identification, document, options.out, found, prepared)
    for remark in (*remarks, *identification.not_identifiable):
        console.print(remark, markup=False, style='dim')
    console.print(parameter_table(identification))
    console.print(effort_table(identification, options.held_back))
    for sentence in (*sentences(identification, found), *urdf.remarks):
        console.print(sentence, markup=False)
    warnings = [f'WARNING: {doubt.sentence}' for doubt in found]
    write_page([before, replace(after, remarks=tuple(warnings))], options.out)
    say_written(console, [options.out / name for name in (URDF, PARAMETERS, SUMMARY, PAGE)])
    return ExitCode.DOUBTFUL if found else ExitCode.BETTER


def _check_payloads(options: argparse.Namespace, unknowns: Unknowns) -> None:
    """
    Check that payloads by which drive gains are determined have a centre of mass.

    :raises ArgumentError: naming the payload.
    """
    for told in options.payload:
        if unknowns.gains and not told.has_center:
            raise ArgumentError(
                f'--payload {told.link}:{told.inertial.mass:g} has no centre of mass, and unknown '
                'drive gains are determined by its effort: give it, as in '
                f'{told.link}:{told.inertial.mass:g}:0,0,0.1')


def _check_efforts(before: Report, unknowns: Unknowns) -> None:
    """
    Check that the recorded efforts are those of these joints, in their direction and unit.

    :raises ArgumentError: with the conclusions that speak against it.
    """
    joints = tuple(row.joint for row in before.rows())
    wrong = wrong_efforts(before.diagnosis, joints, unknowns.gains)
    if wrong:
        raise ArgumentError(
            f'{" ".join(doubt.sentence for doubt in wrong)}\n'
            'Nothing is identified, because masses and friction that fit such efforts can drop '
            'the arm: correct the recording (report shows the pictures), or say --anyway.')


def with_gains(
        recordings: Sequence[PreparedRecording], identification: Identification,
        ) -> list[PreparedRecording]:
    """Return recordings with the efforts that the identified gains make of the measured ones."""
    if not identification.gains:
        return list(recordings)
    tree = identification.robot.tree
    factors = np.ones(tree.nv)
    for joint, gain in identification.gains.items():
        factors[tree.bodies[tree.joints[joint]].v_slice] = gain
    return [replace(recording, tau=recording.tau * factors, saturations={
                joint: each.times(identification.gains.get(joint, 1.0))
                for joint, each in recording.saturations.items()})
            for recording in recordings]


def _share(text: str) -> float:
    share = float(text)
    if not 0.0 < share < 1.0:
        raise argparse.ArgumentTypeError(f'{text} needs to be between 0 and 1')
    return share


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='ros2_rnea identify',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Identify what a URDF does not know of a robot: from recorded motions, compute friction, masses,
centres of mass and inertias with which the model needs the efforts that were measured.

The last 30 % of each recording are held back: the fit does not see them, and the table compares
the efforts of the URDF and of the identified model on them.  Every identified body is one that can
exist.  Where the recordings say nothing of a parameter, it stays near that of the URDF; where they
determine only a sum of several, each of these may go far from it.  The result says which motion
would determine more.  Efforts that cannot be those of these joints (a turned sign, another unit),
and those that are cut off at a bound, are refused.""",
        epilog=f"""\
what may be unknown (--unknown, separated by commas):
{HELP}

{EXAMPLES}
files that are written:
  {URDF:16} the URDF with other numbers in <inertial> and <dynamics>, all else byte for byte
                   (and a comment where there is a warning)
  {PARAMETERS:16} parameters of the node: friction, also what no URDF can say of it, and gravity
  {SUMMARY:16} all figures, with standard errors and the values of the URDF
  {PAGE:16} pictures of each joint before and after, and what the recordings still show

exit codes:  0 identified, better than the URDF in every joint, and nothing that remains has a
             cause; 1 identified, with a warning why the result should not be used as it is;
             2 not identified: what was given is refused, with the reason; 3 a defect of this
             program
examples:
  ros2_rnea identify swing --urdf my_arm.urdf
  ros2_rnea identify swing wave --urdf my_arm.urdf --unknown friction --out friction
  ros2_rnea identify swing --urdf my_arm.urdf --unknown friction,payload:tool0
  ros2_rnea identify days/* --urdf my_arm.urdf""")
    add_recording_options(parser)
    add_robot_options(parser.add_argument_group('the robot'))
    group = parser.add_argument_group('identification')
    group.add_argument('--unknown', default='friction,rotor,inertia', metavar='KINDS',
                       help='what is unknown, see below (default %(default)s)')
    group.add_argument('--held-back', type=_share, default=HELD_BACK, metavar='SHARE',
                       help='share of each recording, its last, on which the result is judged '
                            f'(default {HELD_BACK:g})')
    group.add_argument('--anyway', action='store_true',
                       help='identify from efforts that are refused, too; the reason then stands '
                            'at the top of each file')
    group.add_argument('--out', type=Path, default=Path('identified'), metavar='FOLDER',
                       help='folder of the files (default identified, in the current folder)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
