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
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import IntEnum
from multiprocessing import get_context
from pathlib import Path
import sys

import numpy as np
from rich.console import Console
from rich.progress import Progress

from ros2_rnea.errors import RneaError
from ros2_rnea.identification.identification import HELD_BACK, identify
from ros2_rnea.identification.recording import PreparedRecording
from ros2_rnea.identification.results import Identification
from ros2_rnea.identification.urdf_file import decoded
from ros2_rnea.robot import Robot
from ros2_rnea.tools.broken_pipe import ends_with_its_reader
from ros2_rnea.tools.check_model.source import read_document
from ros2_rnea.tools.identify.files import PARAMETERS, SUMMARY, URDF, write_files
from ros2_rnea.tools.identify.tables import (
    doubts,
    effort_table,
    parameter_table,
    remaining_causes,
    sentences,
)
from ros2_rnea.tools.identify.unknown_list import HELP, unknowns_from
from ros2_rnea.tools.recordings import (
    add_recording_options,
    EXAMPLES,
    prepared_recordings,
    remarks_of,
)
from ros2_rnea.tools.report.files import PAGE, write_report
from ros2_rnea.tools.report.report import Report
from ros2_rnea.tools.robot_options import add_robot_options, robot_of
from ros2_rnea.tools.terminal import progress_bar, say_written


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    BETTER = 0
    DOUBTFUL = 1
    NOT_IDENTIFIED = 2


@ends_with_its_reader
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Identify one robot, print the result and write the files.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    console = Console(highlight=False)
    try:
        unknowns = unknowns_from(options.unknown)
        document = read_document(options.urdf)
        robot = robot_of(decoded(document)[0], options)
        with progress_bar() as progress, _executor(options.workers) as executor:
            prepared, remarks = _prepared(options, robot, progress)
            task = progress.add_task('identifying', total=None)
            identification = identify(prepared, robot, unknowns, options.held_back, executor)
            progress.remove_task(task)
        urdf = write_files(identification, document, options.out)
        for remark in (*remarks, *identification.not_identifiable):
            console.print(remark, markup=False, style='dim')
        console.print(parameter_table(identification))
        console.print(effort_table(identification, options.held_back))
        for sentence in (*sentences(identification), *urdf.remarks):
            console.print(sentence, markup=False)
        with progress_bar() as progress:
            progress.add_task('writing the report', total=None)
            after = Report.of(
                'after', with_gains(prepared, identification), identification.robot)
            write_report([Report.of('before', prepared, robot, remarks), after], options.out)
    except RneaError as error:
        print(f'identify: {error}', file=sys.stderr)
        return ExitCode.NOT_IDENTIFIED
    remaining = remaining_causes(after)
    for sentence in remaining:
        console.print(sentence, markup=False)
    say_written(console, [options.out / name for name in (URDF, PARAMETERS, SUMMARY, PAGE)])
    return ExitCode.DOUBTFUL if remaining or doubts(identification) else ExitCode.BETTER


def _executor(workers: int) -> AbstractContextManager[Executor | None]:
    """Return what reduces the recordings: worker processes, or nothing for this process alone."""
    return nullcontext() if workers == 1 else ProcessPoolExecutor(
        workers, mp_context=get_context('spawn'))  # BLAS has threads, which no fork may copy


def _prepared(
        options: argparse.Namespace, robot: Robot, progress: Progress,
        ) -> tuple[list[PreparedRecording], list[str]]:
    """Return the recordings, prepared for the robot, and what was done to them."""
    prepared, remarks = [], []
    for result in progress.track(
            prepared_recordings(options, robot), total=len(options.recordings),
            description='reading and preparing'):
        prepared.append(result.prepared)
        remarks += remarks_of(result)
    return prepared, remarks


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
    return [replace(recording, tau=recording.tau * factors) for recording in recordings]


def _share(text: str) -> float:
    share = float(text)
    if not 0.0 < share < 1.0:
        raise argparse.ArgumentTypeError(f'{text} needs to be between 0 and 1')
    return share


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f'{text} needs to be at least 1')
    return count


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='identify',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Identify what a URDF does not know of a robot: from recorded motions, compute friction, masses,
centres of mass and inertias with which the model needs the efforts that were measured.

The last 30 % of each recording are held back: the fit does not see them, and the table compares
the efforts of the URDF and of the identified model on them.  Every identified body is one that can
exist.  Where the recordings say nothing of a parameter, it stays near that of the URDF, and the
result says which motion would determine it.""",
        epilog=f"""\
what may be unknown (--unknown, separated by commas):
{HELP}

{EXAMPLES}
files that are written:
  {URDF:16} the URDF with other numbers in <inertial> and <dynamics>, all else byte for byte
  {PARAMETERS:16} parameters of the node: friction, also what no URDF can say of it, and gravity
  {SUMMARY:16} all figures, with standard errors and the values of the URDF
  {PAGE:16} pictures of each joint before and after, and what the recordings still show

exit codes:  0 identified, better than the URDF in every joint, and nothing that remains has a
             cause; 1 identified, with a warning why the result should not be used as it is;
             2 not identified, with the reason
examples:
  identify swing --urdf my_arm.urdf
  identify swing wave --urdf my_arm.urdf --unknown friction --out friction
  identify swing --urdf my_arm.urdf --unknown friction,payload:tool0
  identify days/* --urdf my_arm.urdf --unknown friction,rotor,inertia --workers 8""")
    add_recording_options(parser)
    add_robot_options(parser.add_argument_group('the robot'))
    group = parser.add_argument_group('identification')
    group.add_argument('--unknown', default='friction,inertia', metavar='KINDS',
                       help='what is unknown, see below (default friction,inertia)')
    group.add_argument('--held-back', type=_share, default=HELD_BACK, metavar='SHARE',
                       help='share of each recording, its last, on which the result is judged '
                            f'(default {HELD_BACK:g})')
    group.add_argument('--workers', type=_count, default=1, metavar='N',
                       help='processes that reduce the recordings (default 1)')
    group.add_argument('--out', type=Path, default=Path('identified'), metavar='DIR',
                       help='folder of the files (default identified, in the current folder)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
