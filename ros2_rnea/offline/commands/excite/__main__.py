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
from ros2_rnea.offline.commands.excite.picture import draw
from ros2_rnea.offline.commands.excite.plan import Plan, planned
from ros2_rnea.offline.commands.excite.report import (
    as_json,
    error_table,
    motion_table,
    sentences,
    warnings,
)
from ros2_rnea.offline.commands.fill_efforts.files import write_trajectory
from ros2_rnea.offline.commands.fill_efforts.found import FileError
from ros2_rnea.offline.commands.identify.unknown_list import HELP
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
    figures = options.json or options.out.with_suffix('.json')
    if not options.dry_run:
        write_trajectory(options.out, plan.moving.joints, [
            FilledPoint(waypoint, np.empty(0)) for waypoint in _waypoints(plan)])
        draw(plan, options.out.with_suffix('.png'))
    if figures == STANDARD_OUTPUT or not options.dry_run:
        write_json(as_json(plan), figures)
    if figures == STANDARD_OUTPUT:
        return ExitCode.FOUND
    console.print(motion_table(plan), error_table(plan))
    console.print(*sentences(plan), sep='\n', markup=False)
    console.print(*warnings(plan), sep='\n', markup=False, style='bold red')
    if not options.dry_run:
        say_written(console, [options.out, options.out.with_suffix('.png'), figures])
    return ExitCode.FOUND


def _check_place(out: Path) -> None:
    """Check before the search what would lose its result."""
    if out.suffix not in _SUFFIXES:
        ending = f'ends in {out.suffix!r}' if out.suffix else 'has no ending'
        raise FileError(f'{out} {ending}; it needs {" or ".join(_SUFFIXES)}')
    if not out.parent.is_dir():
        raise FileError(f'{out} cannot be written: there is no folder {out.parent}')


def _waypoints(plan: Plan) -> list[Waypoint]:
    """Return the points of a motion, with positions, velocities and accelerations."""
    each = POINTS_PER_WAVE * plan.settings.harmonics
    times = np.arange(each * plan.settings.periods + 1) * (plan.settings.period / each)
    motion = plan.excitation.motion.at(times)
    motion[:, ::each] = 0.0  # at rest exactly, which the controller demands of the last point
    motion[0, ::each] = plan.excitation.motion.start
    return [Waypoint(float(time), *motion[:, index]) for index, time in enumerate(times)]


# ---- the command line ---------------------------------------------------------------------------


def _noises(text: str) -> dict[str, float]:
    try:
        return {name: value for name, (value,) in assumed(text).items()}
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f'{text!r} needs to be JOINT=NUMBER,..., as in shoulder=0.5,elbow=0.2') from error


def _floor(text: str) -> float | None:
    if text == 'none':
        return None
    values = finite_numbers(text)
    if len(values) != 1:
        raise argparse.ArgumentTypeError(f'{text!r} needs to be a height in metres, or none')
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
        epilog=f"""\
what is to be identified (--unknown, separated by commas, as for identify):
{HELP}

send it, once the arm stands in the first point:
  ros2 topic pub --once /my_controller/joint_trajectory trajectory_msgs/msg/JointTrajectory \\
    "$(cat excite.yaml)"

Begin with a small motion: --scale 0.2 makes the same path smaller, about the pose in which it
starts.  The same options and seed give the same path.

exit codes:  0 a motion is found; 2 none, with the reason
examples:
  ros2_rnea excite --urdf panda.urdf --scale 0.2
  ros2_rnea excite --urdf ur.urdf.xacro ur_type:=ur5e name:=ur --unknown friction --floor -0.8
  ros2_rnea excite --urdf panda.urdf --unknown payload:panda_hand \\
    --payload panda_hand:1.5:0,0,0.1""")
    parser.add_argument('mappings', nargs='*', metavar='NAME:=VALUE', help='arguments for xacro')
    robot = parser.add_argument_group('the robot')
    add_robot_options(robot)
    robot.add_argument('--limits', type=Path, metavar='FILE',
                       help='limits that are used instead of those of the URDF, and those that it '
                            'lacks: a joint_limits.yaml of MoveIt, also with acceleration')
    robot.add_argument('--joints', type=names, metavar='JOINT,...',
                       help='the joints of the controller, in its order (default: all that have '
                            'one coordinate, but those of hands and grippers)')
    robot.add_argument('--assume', action=OfJoints, type=assumed, default={}, metavar=ASSUMED,
                       help='positions of joints that do not move, and of all that move for the '
                            'pose to start from (default: it is chosen) [rad or m]')
    robot.add_argument('--payload', action='append', type=payload_of, default=[], metavar=PAYLOAD,
                       help=f'what the arm carries in addition to the URDF: {PAYLOAD_NUMBERS}; of '
                            'an unknown one, the largest that it may be, because the efforts are '
                            'held within their limits with it')
    motion = parser.add_argument_group('the motion')
    motion.add_argument('--period', type=float, default=10.0, metavar='SECONDS',
                        help='of the motion (default %(default)g)')
    motion.add_argument('--harmonics', type=int, default=5, metavar='N',
                        help='of the Fourier series; the highest frequency is N / period '
                             '(default %(default)s)')
    motion.add_argument('--periods', type=int, default=3, metavar='N',
                        help='how often it is repeated (default %(default)s)')
    motion.add_argument('--margin', type=float, default=10.0, metavar='PERCENT',
                        help='of the ranges of positions, and of the limits of velocity and '
                             'acceleration, that stay free (default %(default)g)')
    motion.add_argument('--effort-margin', type=float, default=30.0, metavar='PERCENT',
                        help='of the effort limits that stay free; large, because the efforts are '
                             'those of the URDF, which is to be corrected (default %(default)g)')
    motion.add_argument('--scale', type=float, default=1.0, metavar='FACTOR',
                        help='make the path that is found smaller, about the pose in which it '
                             'starts (default %(default)g); begin with 0.2')
    motion.add_argument('--clearance', type=float, default=0.03, metavar='METRES',
                        help='least distance between links, and to the floor (default '
                             '%(default)g)')
    motion.add_argument('--floor', type=_floor, default=0.0, metavar='METRES',
                        help="its height above the root link's origin, against gravity, or none "
                             '(default %(default)g)')
    motion.add_argument('--no-collision-check', action='store_true',
                        help='search a motion without checking collisions')
    search = parser.add_argument_group('the search')
    search.add_argument('--unknown', default='friction,rotor,inertia', metavar='KINDS',
                        help='what is to be identified, see below (default %(default)s)')
    search.add_argument('--noise', action=OfJoints, type=_noises, default={},
                        metavar='JOINT=NOISE,...',
                        help='standard deviation of the measured efforts [Nm or N] (default: 1 %% '
                             'of each limit)')
    search.add_argument('--rate', type=float, default=100.0, metavar='HZ',
                        help='of the samples to be recorded, for the expected errors (default '
                             '%(default)g)')
    search.add_argument('--seed', type=int, default=1, metavar='N',
                        help='of the random numbers (default %(default)s)')
    search.add_argument('--starts', type=int, default=3, metavar='N',
                        help='random motions from which the search starts (default %(default)s)')
    search.add_argument('--iterations', type=int, default=60, metavar='N',
                        help='of each, at most (default %(default)s)')
    output = parser.add_argument_group('output')
    output.add_argument('--out', type=Path, default=Path('excite.yaml'), metavar='FILE',
                        help='the trajectory, .yaml, with a picture beside it, .png (default '
                             '%(default)s in the current folder)')
    output.add_argument('--json', type=json_path, metavar='FILE',
                        help='all figures as JSON (default: beside the trajectory); -: to the '
                             'standard output, alone')
    output.add_argument('--dry-run', action='store_true', help='write no files')
    return parser


if __name__ == '__main__':
    sys.exit(main())
