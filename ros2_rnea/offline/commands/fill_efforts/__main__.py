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
"""Fill the efforts of a trajectory: ``ros2 run ros2_rnea fill_efforts --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
import sys


from ros2_rnea.command_line.command import command
from ros2_rnea.command_line.terminal import PrintableConsole, progress_bar, say_written
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import did_you_mean
from ros2_rnea.offline.commands.check_model.source import read_source
from ros2_rnea.offline.commands.fill_efforts.files import read_trajectory, write_trajectory
from ros2_rnea.offline.commands.fill_efforts.found import FileError, Found
from ros2_rnea.offline.commands.fill_efforts.limits_file import Limits, read_limits
from ros2_rnea.offline.commands.fill_efforts.report import (
    comparison_table,
    report_table,
    sentences,
)
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
    robot_of,
    with_payloads,
)
from ros2_rnea.offline.filling.effort_filler import fill_efforts, Filled, FillSettings, Plan, Start
from ros2_rnea.offline.filling.omitted_joints import with_joints_at_rest
from ros2_rnea.offline.filling.torque_report import Checked, ORIGIN, TorqueCheck
from ros2_rnea.robots.joint_index_map import single_joints
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Arm


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    WITHIN_LIMITS = 0
    OVER_A_LIMIT = 1
    NOT_FILLED = 2


@command('fill_efforts', ExitCode.NOT_FILLED)
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Fill one trajectory, print the report and write the files.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_intermixed_args(arguments)
    console = PrintableConsole(highlight=False)
    robot = with_payloads(
        robot_of(read_source(options.urdf, options.mappings), options), options.payload)
    found = _with_all_joints(
        robot, read_trajectory(options.file, options.topic, options.message), options)
    limits = read_limits(options.limits, robot)
    given = _checked(robot, found.plan, found, limits, options)
    result = _retimed(robot, given, found, limits, options) if options.retime else given
    if not options.dry_run:
        _write(given, result, options, console)
    console.print(report_table(result))
    if options.retime:
        console.print(comparison_table(given, result))
    for remark in (*found.remarks, *_omissions(robot, result.filled, options)):
        console.print(f'{options.file}: {remark}.', markup=False)
    for sentence in sentences(result, len(found.plan.waypoints)):
        console.print(sentence, markup=False)
    return ExitCode.OVER_A_LIMIT if result.report.first_break else ExitCode.WITHIN_LIMITS


def _with_all_joints(robot: Robot, found: Found, options: argparse.Namespace) -> Found:
    """Add the joints of the controller that the trajectory omits, at rest where they start."""
    known = [*robot.joint_names, *robot.tree.mimics, *found.plan.joint_names]
    for option, said in (('--controller-joints', options.controller_joints),
                         ('--assume', options.assume)):
        for name in said:
            hint = did_you_mean(name, known)
            if name not in known and (hint or option == '--assume'):
                raise FileError(
                    f'{option} names {name!r}, which {robot.name!r} does not have{hint}')
        known += said  # of which --assume may give the positions
    positions = {**found.start.positions, **options.assume}
    omitted = [name for name in options.controller_joints if name not in found.plan.joint_names]
    for name in omitted:
        if name not in positions:
            raise FileError(
                f'the trajectory omits joint {name!r} of --controller-joints, and its position is '
                f'not known: --assume {name}=POSITION, as the controller commands it')
    return found._replace(plan=with_joints_at_rest(
        found.plan, {name: positions[name][0] for name in omitted}))


def _omissions(robot: Robot, filled: Filled, options: argparse.Namespace) -> list[str]:
    omitted = [name for name in options.joints or single_joints(robot)
               if name not in filled.joint_names]
    return [] if options.controller_joints or not omitted else [
        f'the trajectory omits {", ".join(omitted)}, to which the controller commands no effort '
        'if it has these joints: name its joints in --controller-joints']


def _checked(
        robot: Robot, plan: Plan, found: Found, limits: Limits, options: argparse.Namespace,
        ) -> Checked:
    """Return a trajectory, filled, with its report."""
    sent = Settings(
        arm=Arm(options.arm), gravity=tuple(options.gravity),
        arm_gravity=tuple(options.arm_gravity))
    settings = FillSettings(
        options.tolerance / 100.0, options.max_points, options.allow_nonzero_end_velocity,
        sent.sent_terms, sent.arm_gravity)
    with progress_bar(says_what_remains=True) as bar:
        task = bar.add_task('efforts along the trajectory', total=1.0)
        filled = fill_efforts(
            robot, options.joints or single_joints(robot), plan, _start(found, options), settings,
            lambda share: bar.update(task, completed=share))
    return Checked(filled, TorqueCheck(robot, filled, limits.efforts, limits.motion).report(
        *options.largest_payload))


def _start(found: Found, options: argparse.Namespace) -> Start:
    return Start({**found.start.positions, **options.assume}, found.start.velocities)


def _retimed(
        robot: Robot, given: Checked, found: Found, limits: Limits, options: argparse.Namespace,
        ) -> Checked:
    try:
        from ros2_rnea.offline.filling.retiming import retime
    except ImportError as error:
        raise FileError(
            f'--retime needs the library toppra: pip install toppra ({error})') from error
    return retime(robot, given, _start(found, options), limits,
                  lambda plan: _checked(robot, plan, found, limits, options))


def _write(
        given: Checked, result: Checked, options: argparse.Namespace, console: PrintableConsole,
        ) -> None:
    suffix = options.file.suffix if options.file.suffix in ('.csv', '.yml') else '.yaml'
    out = options.out or Path(f'{options.file.stem}.filled{suffix}')
    plot = options.plot or Path(f'{options.file.stem}.efforts.png')
    try:
        from ros2_rnea.offline.commands.fill_efforts.picture import draw, draw_comparison
    except ImportError as error:
        raise FileError(
            'the plot needs matplotlib, which is not installed: apt install '
            'python3-matplotlib, or pip install matplotlib; --dry-run draws no plot') from error
    write_trajectory(out, result.filled.joint_names, result.filled.points)
    draw(result.filled, result.report, plot)
    written = [out, plot]
    if options.retime:
        written.append(plot.with_stem(f'{plot.stem}.retimed'))
        draw_comparison(given, result, written[-1])
    say_written(console, written)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='ros2_rnea fill_efforts',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Fill every point of a trajectory with the effort that its motion needs, and compare the efforts
with the limits of the robot, and its positions, velocities, accelerations and jerks with theirs.

joint_trajectory_controller (Jazzy from 4.22, Kilted, Rolling) adds the efforts of a trajectory's
points to its command, if one of its command_interfaces is effort.  It interpolates linearly
between the points, uses 0 for a missing effort, and keeps the last one for ever.  So the filled
trajectory has a first point at time 0, more points where linear interpolation would deviate from
the needed effort by more than the tolerance, and the effort of gravity in the last point.  The
motion does not change: new points lie on its splines.  Joints that are not selected, such as
those of a gripper, keep their efforts.""",
        epilog="""\
files that hold a trajectory:
  .yaml  a JointTrajectory, or a DisplayTrajectory of MoveIt, as `ros2 topic echo --once
         --full-length` prints it; as JointTrajectory,
         `ros2 topic pub --once TOPIC TYPE "$(cat FILE)"` takes it:
             joint_names: [shoulder, elbow]
             points:
             - positions: [0.0, 0.5]
               time_from_start: {sec: 1, nanosec: 0}
  .csv   one row for each point, in any order of columns after the first:
             time, shoulder.position, elbow.position, shoulder.velocity, elbow.velocity
             1.0, 0.0, 0.5, 0.0, 0.0
         and also JOINT.acceleration, JOINT.effort [s, rad or m, Nm or N]
  a bag  the folder of a rosbag2, or a .mcap or .db3 file in it; needs `pip install rosbags`.
         Its joint states before the trajectory are used as the start of the motion.

limits: those of effort, position and velocity are in the URDF, and since URDF 1.2 those of
acceleration, deceleration and jerk.  --limits takes a joint_limits.yaml of MoveIt, whose values
are used instead:
             joint_limits:
               shoulder: {has_velocity_limits: true, max_velocity: 1.5,
                          has_acceleration_limits: true, max_acceleration: 5.0}
exit codes:  0 filled, within all limits that are known; 1 filled, a limit is exceeded;
             2 not filled, with the reason
examples:
  ros2_rnea fill_efforts swing.yaml --urdf panda.urdf --payload panda_hand:1.5:0,0,0.1
  ros2_rnea fill_efforts swing.yaml --urdf panda.urdf --largest-payload panda_hand:0,0,0.1
  ros2_rnea fill_efforts swing.csv --urdf ur.urdf.xacro ur_type:=ur5e name:=ur --tolerance 0.5
  ros2_rnea fill_efforts my_bag --topic /arm/joint_trajectory --message 3 --urdf robot.urdf
  ros2_rnea fill_efforts swing.yaml --urdf panda.urdf --retime
  ros2_rnea fill_efforts reach.yaml --urdf arm.urdf --assume shoulder=0.1,elbow=-0.5""")
    parser.add_argument('file', type=Path, help='the trajectory: .yaml, .csv or a bag')
    parser.add_argument('mappings', nargs='*', metavar='NAME:=VALUE', help='arguments for xacro')
    _add_more_about_the_robot(parser.add_argument_group('the robot'))
    _add_filling_options(parser.add_argument_group('filling'))
    parser.add_argument('--retime', action='store_true',
                        help='give the same path its fastest timing within the limits of effort, '
                             'velocity and acceleration (needs pip install toppra); the robot '
                             'rests where the path has a corner')
    results = parser.add_argument_group('output')
    results.add_argument('--largest-payload', type=_link_and_position, default=(),
                         metavar='LINK[:X,Y,Z]',
                         help='also report the largest payload on this link within all limits, in '
                              "addition to --payload; its centre of mass from the link's origin "
                              '[m] (default 0,0,0)')
    results.add_argument('--out', type=Path, metavar='FILE',
                         help='the filled trajectory, .yaml or .csv (default: FILE.filled.yaml in '
                              'the current folder; .csv if FILE is)')
    results.add_argument('--plot', type=Path, metavar='FILE',
                         help='the plot, .png, .svg or .pdf (default: FILE.efforts.png there); '
                              'with --retime, PLOT.retimed compares both timings')
    results.add_argument('--dry-run', action='store_true', help='write no files')
    return parser


def _add_more_about_the_robot(group: argparse._ArgumentGroup) -> None:
    add_robot_options(group)
    group.add_argument('--limits', type=Path, metavar='FILE',
                       help='limits of the motion that are used instead of those of the URDF: a '
                            'joint_limits.yaml of MoveIt')
    group.add_argument('--assume', action=OfJoints, type=assumed, default={}, metavar=ASSUMED,
                       help='positions of joints that the trajectory does not name, and the start '
                            'of all, at rest, if its first point is not at time 0 [rad or m]')
    group.add_argument('--payload', action='append', type=payload_of, default=[], metavar=PAYLOAD,
                       help=f'what the robot carries: {PAYLOAD_NUMBERS}')


def _link_and_position(text: str) -> tuple[str, tuple[float, ...]]:
    """Return a link and a point in its frame, the type of ``--largest-payload``."""
    link, separator, numbers = text.partition(':')
    point = finite_numbers(numbers) if separator else ORIGIN
    if not link or len(point) != 3:
        raise argparse.ArgumentTypeError(f'{text!r} needs to be LINK[:X,Y,Z], as in tool0:0,0,0.1')
    return link, point


def _add_filling_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--joints', type=names, metavar='JOINT,...',
                       help='the joints to fill (default: all that have an effort)')
    group.add_argument('--controller-joints', type=names, default=(), metavar='JOINT,...',
                       help='all joints of the controller: those that the trajectory omits are '
                            'added at rest where --assume says, because the controller commands '
                            'them no effort otherwise')
    group.add_argument('--arm', choices=[arm.value for arm in Arm], default=Arm.GENERIC.value,
                       help='leave out the terms that this arm adds by itself: generic, none '
                            '(default); franka, gravity and friction; ur, gravity')
    group.add_argument('--arm-gravity', nargs=3, type=float, default=(), metavar=('X', 'Y', 'Z'),
                       help='the gravity that this arm compensates by itself, if it is not the '
                            'true one: 0 0 -9.81 for a Franka that is tilted (then --gravity is '
                            'the true one) [m/s^2]')
    group.add_argument('--tolerance', type=float, default=1.0, metavar='PERCENT',
                       help="largest interpolation error, in percent of each joint's effort "
                            'limit, or of its largest effort if it has no limit (default 1)')
    group.add_argument('--max-points', type=int, default=10_000, metavar='N',
                       help='largest number of points of the result (default 10000)')
    group.add_argument('--allow-nonzero-end-velocity', action='store_true',
                       help='accept a trajectory that ends in motion, as the controller does with '
                            'allow_nonzero_velocity_at_trajectory_end')
    group.add_argument('--topic', help='the topic, for a bag with trajectories on several topics')
    group.add_argument('--message', type=int, metavar='N',
                       help='number of the trajectory on that topic of a bag (default 1)')


if __name__ == '__main__':
    sys.exit(main())
