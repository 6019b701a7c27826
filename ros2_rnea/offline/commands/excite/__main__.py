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
"""The motion to record for an identification: ``ros2 run ros2_rnea excite --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
import sys

import numpy as np

from ros2_rnea.command_line.command import command
from ros2_rnea.command_line.output_files import json_path, STANDARD_OUTPUT, write_json
from ros2_rnea.command_line.terminal import PrintableConsole, progress_bar, say_written
from ros2_rnea.offline.commands.excite.plan import Plan, planned
from ros2_rnea.offline.commands.excite.report import as_json, sentences, tables, warnings
from ros2_rnea.offline.commands.fill_efforts.files import write_trajectory
from ros2_rnea.offline.commands.fill_efforts.found import FileError
from ros2_rnea.offline.commands.robot_options import (
    add_robot_options,
    ASSUMED,
    assumed,
    finite_numbers,
    names,
    OfJoints,
    PAYLOAD,
    PAYLOAD_NUMBERS,
    payload_of,
)
from ros2_rnea.offline.filling.effort_filler import FilledPoint
from ros2_rnea.trajectories.trajectory import Waypoint

POINTS_PER_WAVE = 20
"""Points in a wave of the highest harmonic: splines between them are within 1e-6 of it."""

_SUFFIXES = ('.yaml', '.yml')


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    FOUND = 0
    NOT_FOUND = 2


@command('excite', ExitCode.NOT_FOUND)
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Search a motion, print what it does and tells, and write the files.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_intermixed_args(arguments)
    console = PrintableConsole(highlight=False)
    if not options.dry_run:
        _check_place(options.out)
    with progress_bar() as bar:
        task = bar.add_task('optimizing the motion', total=1.0)
        plan = planned(options, lambda share: bar.update(task, completed=share))
    files = [] if options.dry_run else _write(plan)
    if options.json == STANDARD_OUTPUT:
        write_json(as_json(plan), STANDARD_OUTPUT)
        return ExitCode.FOUND
    for table in tables(plan):
        console.print(table)
    for sentence in sentences(plan):
        console.print(sentence, markup=False)
    for sentence in warnings(plan):
        console.print(sentence, markup=False, style='bold red')
    if files:
        say_written(console, files)
    return ExitCode.FOUND


def _check_place(out: Path) -> None:
    """Check before the search what would lose its result."""
    if out.suffix not in _SUFFIXES:
        ending = f'ends in {out.suffix!r}' if out.suffix else 'has no ending'
        raise FileError(f'{out} {ending}; it needs {" or ".join(_SUFFIXES)}')
    if not out.parent.is_dir():
        raise FileError(f'{out} cannot be written: there is no folder {out.parent}')


def _write(plan: Plan) -> list[Path]:
    """Write trajectory, picture and figures, and return their names."""
    try:
        from ros2_rnea.offline.commands.excite.picture import draw
    except ImportError as error:
        raise FileError(
            'the picture needs matplotlib, which is not installed: apt install '
            'python3-matplotlib, or pip install matplotlib; --dry-run draws no picture'
        ) from error
    options, out = plan.options, plan.options.out
    picture, figures = out.with_suffix('.png'), options.json or out.with_suffix('.json')
    write_trajectory(out, plan.excitation.joints, [
        FilledPoint(waypoint, np.empty(0)) for waypoint in _waypoints(plan)])
    draw(plan, picture)
    if figures != STANDARD_OUTPUT:
        write_json(as_json(plan), figures)
    return [out, picture, figures]


def _waypoints(plan: Plan) -> list[Waypoint]:
    """Return the points of a motion, with positions, velocities and accelerations."""
    each = POINTS_PER_WAVE * plan.settings.harmonics
    times = np.arange(each * plan.settings.periods + 1) * (plan.settings.period / each)
    motion = plan.excitation.motion.at(times)
    motion[:, ::each] = 0.0  # at rest exactly, which the controller demands of the last point
    motion[0, ::each] = plan.excitation.motion.start
    return [Waypoint(float(time), *motion[:, index]) for index, time in enumerate(times)]


# ---- the command line ---------------------------------------------------------------------------


def _joint_noises(text: str) -> list[tuple[str, float]]:
    return list(map(_joint_noise, text.split(',')))


def _joint_noise(text: str) -> tuple[str, float]:
    name, separator, number = text.rpartition('=')
    values = finite_numbers(number)
    if len(values) != 1 or not values[0] > 0.0 or bool(separator) != bool(name):
        raise argparse.ArgumentTypeError(
            f'{text!r} needs to be a positive standard deviation, of all joints, or JOINT=NOISE, '
            'as in elbow=0.2')
    return name, values[0]


def _floor(text: str) -> float | None:
    if text == 'none':
        return None
    values = finite_numbers(text)
    if len(values) != 1:
        raise argparse.ArgumentTypeError(f'{text!r} needs to be a height in metres, or none')
    return values[0]


def _positive(text: str) -> float:
    values = finite_numbers(text)
    if len(values) != 1 or not values[0] > 0.0:
        raise argparse.ArgumentTypeError(f'{text!r} needs to be a positive number')
    return values[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='ros2_rnea excite',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Search the motion to record for an identification: a Fourier series that starts and ends at rest,
within the limits of position, velocity and effort less a margin, clear of the robot itself and of
the floor, and as informative as possible about what shall be identified.

The result is a JointTrajectory for joint_trajectory_controller, without efforts.  Its first point
is at time 0: the arm has to be there already.  Take it there with a goal of your own, along a way
that you know to be free, because nothing here knows where the arm is now.""",
        epilog="""\
send it, once the arm stands in the first point:
  ros2 topic pub --once /my_controller/joint_trajectory trajectory_msgs/msg/JointTrajectory \\
    "$(cat excite.yaml)"

Begin with a small motion: --scale 0.2 makes the same path smaller, about the pose in which it
starts.  The same options and seed give the same path.

exit codes:  0 a motion is found; 2 none, with the reason
examples:
  ros2_rnea excite --urdf panda.urdf --scale 0.2
  ros2_rnea excite --urdf ur.urdf.xacro ur_type:=ur5e name:=ur --for inertia,friction --floor -0.8
  ros2_rnea excite --urdf panda.urdf --for payload:panda_hand --payload panda_hand:1.5:0,0,0.1""")
    parser.add_argument('mappings', nargs='*', metavar='NAME:=VALUE', help='arguments for xacro')
    parser.add_argument('--for', dest='kinds', type=names, metavar='WHAT,...',
                        default=('inertia', 'friction'),
                        help='what shall be identified: inertia (of all moving bodies), friction, '
                             'rotor, payload:LINK (default: inertia,friction)')
    _add_more_about_the_robot(parser.add_argument_group('the robot'))
    _add_motion_options(parser.add_argument_group('the motion'))
    _add_collision_options(parser.add_argument_group('collisions'))
    _add_search_options(parser.add_argument_group('the search'))
    _add_output_options(parser.add_argument_group('output'))
    return parser


def _add_more_about_the_robot(group: argparse._ArgumentGroup) -> None:
    add_robot_options(group)
    group.add_argument('--limits', type=Path, metavar='FILE',
                       help='limits that are used instead of those of the URDF, and those that it '
                            'lacks: a joint_limits.yaml of MoveIt, also with acceleration')
    group.add_argument('--joints', type=names, metavar='JOINT,...',
                       help='the joints of the controller, in its order (default: all that have '
                            'one coordinate, but those of hands and grippers)')
    group.add_argument('--assume', action=OfJoints, type=assumed, default={}, metavar=ASSUMED,
                       help='positions of joints that do not move, and of all that move for the '
                            'pose to start from (default: it is chosen) [rad or m]')
    group.add_argument('--payload', action='append', type=payload_of, default=[],
                       metavar=PAYLOAD,
                       help=f'what the arm carries in addition to the URDF: {PAYLOAD_NUMBERS}; of '
                            'an unknown one, the largest that it may be, because the efforts are '
                            'held within their limits with it')


def _add_motion_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--period', type=_positive, default=10.0, metavar='SECONDS',
                       help='of the motion (default 10)')
    group.add_argument('--harmonics', type=int, default=5, metavar='N',
                       help='of the Fourier series; the highest frequency is N / period '
                            '(default 5)')
    group.add_argument('--periods', type=int, default=3, metavar='N',
                       help='how often it is repeated (default 3)')
    group.add_argument('--margin', type=float, default=10.0, metavar='PERCENT',
                       help='of the ranges of positions, and of the limits of velocity and '
                            'acceleration, that stay free (default 10)')
    group.add_argument('--effort-margin', type=float, default=30.0, metavar='PERCENT',
                       help='of the effort limits that stay free; large, because the efforts are '
                            'those of the URDF, which is to be corrected (default 30)')
    group.add_argument('--scale', type=_positive, default=1.0, metavar='FACTOR',
                       help='make the path that is found smaller, about the pose in which it '
                            'starts (default 1); begin with 0.2')


def _add_collision_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--clearance', type=_positive, default=0.03, metavar='METRES',
                       help='least distance between links, and to the floor (default 0.03)')
    group.add_argument('--floor', type=_floor, default=0.0, metavar='METRES',
                       help="its height above the root link's origin, against gravity, or none "
                            '(default 0)')
    group.add_argument('--meshes', nargs='+', type=Path, default=(), metavar='FOLDER',
                       help='where packages with meshes are, besides those of the environment '
                            'and the folders above the URDF')
    group.add_argument('--ignore-collision-of', type=names, default=(), metavar='LINK,...',
                       help='leave out the collision geometry of these links, whose meshes '
                            'cannot be read; nothing then keeps them clear')
    group.add_argument('--no-collision-check', action='store_true',
                       help='search a motion without checking collisions')


def _add_search_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--noise', type=_joint_noises, default=(),
                       metavar='[JOINT=]NOISE,...',
                       help='standard deviation of the measured efforts, of all joints or by '
                            'joint [Nm or N] (default: 1 %% of each limit)')
    group.add_argument('--rate', type=_positive, default=100.0, metavar='HZ',
                       help='of the samples to be recorded, for the expected errors (default 100)')
    group.add_argument('--seed', type=int, default=1, metavar='N',
                       help='of the random numbers (default 1)')
    group.add_argument('--starts', type=int, default=3, metavar='N',
                       help='random motions from which the search starts (default 3)')
    group.add_argument('--iterations', type=int, default=60, metavar='N',
                       help='of each, at most (default 60)')


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--out', type=Path, default=Path('excite.yaml'), metavar='FILE',
                       help='the trajectory, .yaml, with a picture beside it, .png (default: '
                            'excite.yaml in the current folder)')
    group.add_argument('--json', type=json_path, metavar='FILE',
                       help='all figures as JSON (default: beside the trajectory); -: to the '
                            'standard output, alone')
    group.add_argument('--dry-run', action='store_true', help='write no files')


if __name__ == '__main__':
    sys.exit(main())
