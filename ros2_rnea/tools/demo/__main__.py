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
"""Run the demo: ``python -m ros2_rnea.tools.demo --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from enum import IntEnum
import os
from pathlib import Path
import sys

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ros2_rnea.command_line.command import ends_with_its_reader
from ros2_rnea.errors import counted, RneaError
from ros2_rnea.model.regular_file import read_regular_file
from ros2_rnea.node.topics.command_record import record_path
from ros2_rnea.node.transports import stay_on_this_machine
from ros2_rnea.tools.demo.arm import Arm, arm_of
from ros2_rnea.tools.demo.commander import FEEDFORWARD_NODE, NoAnswerError
from ros2_rnea.tools.demo.experiment import PHASES
from ros2_rnea.tools.demo.figures import FULL_RATE, Results
from ros2_rnea.tools.demo.identify.outcome import (
    judge as judge_identification,
    Outcome,
    summary as identification_summary,
)
from ros2_rnea.tools.demo.identify.picture import draw_identification
from ros2_rnea.tools.demo.identify.play import play_identification
from ros2_rnea.tools.demo.judge import (
    Check,
    GENERAL,
    judge,
    LIMITS,
    Limits,
    machine_too_slow,
    NOT_JUDGED,
    TooSlowError,
)
from ros2_rnea.tools.demo.motion import EASING
from ros2_rnea.tools.demo.picture import draw
from ros2_rnea.tools.demo.play import play, TRACKING
from ros2_rnea.tools.demo.processes import ChildError, exit_at_signals
from ros2_rnea.tools.demo.report import check_table, show, summary, WIDTH, write_summary
from ros2_rnea.tools.demo.scenes import SCENES
from ros2_rnea.tools.demo.timeline import draw_timeline
from ros2_rnea.tools.models import add_model_options, Model, MODELS
from ros2_rnea.tools.ros_domain import reserve_domain
from ros2_rnea.tools.simulated_driver.description import Balanced


SHORTEST, LONGEST = 4.0 * EASING, 60.0
"""A motion shorter than this [s] is over before the push at the tip is at its strongest."""


class ExitCode(IntEnum):
    """Exit codes of the demo."""

    PASSED = 0
    FAILED = 1
    NOT_RUN = 2
    TOO_SLOW = 3


@ends_with_its_reader
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the experiment, show it and judge it.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    options.out = options.out.resolve()  # the processes have a working directory of their own
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    with exit_at_signals():
        return _run(options, console)


def _run(options: argparse.Namespace, console: Console) -> int:
    stay_on_this_machine()  # no other robot takes part
    has_ros = False
    try:
        domain = reserve_domain() if options.domain is None else options.domain
        os.environ['ROS_DOMAIN_ID'] = str(domain)
        # An earlier robot of this domain is no evidence of what the simulated one holds.
        record_path(f'/{FEEDFORWARD_NODE}').unlink(missing_ok=True)
        arm = _arm(options)
        console.print(introduction(arm), markup=False)
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        has_ros = True
        if options.identify:
            outcome = play_identification(arm, options.seconds, options.out, _bar(console))
            return present_identification(outcome, options.out, console)
        scenes = options.scene or [TRACKING, *SCENES]
        results = play(arm, scenes, options.seconds, options.out, _bar(console))
    except TooSlowError as error:
        console.print(f'{NOT_JUDGED}: {error}', markup=False, style='yellow')
        return ExitCode.TOO_SLOW
    except (ChildError, NoAnswerError, RneaError, OSError) as error:
        console.print(f'The demo could not run: {error}', markup=False, style='red')
        return ExitCode.NOT_RUN
    finally:
        if has_ros:  # else it may be that of a caller
            rclpy.try_shutdown()
    limits = GENERAL if options.urdf else LIMITS.get(options.robot, GENERAL)
    return present(results, options.out, console, limits)


def _arm(options: argparse.Namespace) -> Arm:
    if options.urdf:
        return arm_of(Model(read_regular_file(options.urdf).decode()), options.tip)
    return arm_of(MODELS[options.robot](), options.tip)


def introduction(arm: Arm) -> str:
    """Return sentences about the simulation, and about what it changes of the description."""
    lines = [f'{arm.name}: {counted(len(arm.joint_names), "joint")}; motion at '
             f'{arm.sizes.max():.0%} of its size, '
             f'push of {np.linalg.norm(arm.tip_force):.2g} N and payload of '
             f'{arm.load.mass:.2g} kg at {arm.tip!r}']
    if arm.still:
        lines.append(f'Fixed: {", ".join(arm.still)} (mimic joints and those that they follow, '
                     'such as fingers of a gripper, or joints that move no mass).')
    for link, given, used in arm.balanced:
        before, after = (', '.join(f'{moment:.3g}' for moment in moments)
                         for moments in (given, used))
        share = Balanced(link, given, used).share
        lines.append(
            f'No rigid body has the inertia of link {link!r}: the largest of the principal '
            f'moments {before} kg m^2 exceeds the sum of the others. The physics engine alone '
            f'uses {after} (changed by {share:.1%} of the largest).')
    return '\n'.join(lines)


def _bar(console: Console) -> Progress:
    return Progress(TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
                    console=console, transient=True)


def present(results: Results, out: Path, console: Console, limits: Limits) -> int:
    """
    Judge the results, print them and write the files.

    :param out: folder of the files.
    :param limits: thresholds for the results, with joint states at :data:`FULL_RATE`.
    :returns: exit code.
    """
    slow = machine_too_slow(results)
    checks = [] if slow else judge(results, limits)
    show(results, checks, console, None if not slow else NOT_JUDGED)
    write_summary(out / 'summary.json', summary(results, checks, _verdict(checks, slow)))
    pictures = _draw(results, out, limits.at(results.rate), judged=not slow)
    why = (f'{NOT_JUDGED}: {results.share_late():.1%} of the states had no answer within 20 ms, '
           f'{results.share_slow():.1%} of the simulated time was as late') if slow else ''
    return _conclude(
        checks, why, results,
        f'Pictures: {" and ".join(pictures)}; figures: {out}/summary.json', console)


def present_identification(outcome: Outcome, out: Path, console: Console) -> int:
    """
    Judge the identification, print the result and write the files.

    :param out: folder of the files.
    :returns: exit code.
    """
    slow = outcome.is_disturbed
    checks = [] if slow else judge_identification(outcome)
    write_summary(out / 'identification.json',
                  identification_summary(outcome, checks, _verdict(checks, slow)))
    for suffix in ('.svg', '.png'):
        draw_identification(outcome, out / f'identification{suffix}', judged=not slow)
    console.print(
        f'\nTracking error of the arm: {outcome.before.arm_rms:.3g} deg with the description, '
        f'{outcome.after.arm_rms:.3g} deg identified', highlight=False)
    if checks:
        console.print(check_table(checks), width=min(WIDTH, console.width))
    return _conclude(
        checks, NOT_JUDGED if slow else '', outcome,
        f'Picture: {out}/identification.png; figures: {out}/identification.json; recording: '
        f'{out}/recording; identified description: {out}/identified.urdf', console)


def _verdict(checks: Sequence[Check], slow: bool) -> str:
    passed = all(check.passed for check in checks)
    return NOT_JUDGED if slow else 'passed' if passed else 'failed'


def _conclude(
        checks: Sequence[Check], why_not_judged: str, played: Results | Outcome, files: str,
        console: Console) -> int:
    """
    Print what both parts of the demo end with.

    :param why_not_judged: empty if the checks count.
    :param played: at which rate, and what was played again because this machine had paused.
    :param files: a sentence about those that were written.
    :returns: exit code.
    """
    if played.rate < FULL_RATE:
        console.print(f'\nThis machine is too slow for {FULL_RATE:g} Hz: no phase was played at '
                      f'more than {played.rate:g} Hz')
    if played.repeated:
        console.print(
            f'\nPlayed again, because this machine had paused: {", ".join(played.repeated)}')
    console.print(f'\n{files}', soft_wrap=True)
    if why_not_judged:
        console.print(why_not_judged, style='yellow')
        return ExitCode.TOO_SLOW
    failed = [check.name for check in checks if not check.passed]
    if failed:
        console.print('failed: ' + '; '.join(failed), style='bold red')
        return ExitCode.FAILED
    console.print('passed', style='green')
    return ExitCode.PASSED


def _draw(results: Results, out: Path, limits: Limits, judged: bool) -> list[str]:
    """Draw the pictures of the scenes that were played, and return their names."""
    pictures = []
    if results.recordings:
        pictures.append(out / 'tracking.png')
        for suffix in ('.svg', '.png'):
            draw(results, pictures[-1].with_suffix(suffix), limits.worst_joint, judged)
    if results.episodes:
        pictures.append(out / 'timeline.png')
        for suffix in ('.svg', '.png'):
            draw_timeline(results, pictures[-1].with_suffix(suffix), judged)
    return [str(picture) for picture in pictures]


def _phase_seconds(text: str) -> float:
    seconds = float(text)
    if not SHORTEST <= seconds <= LONGEST:
        raise argparse.ArgumentTypeError(
            f'{text} is not from {SHORTEST:g} to {LONGEST:g} seconds')
    return seconds


def _parser() -> argparse.ArgumentParser:
    phases = '\n'.join(f'  {number}. {phase.title}' for number, phase in enumerate(PHASES, 1))
    parser = argparse.ArgumentParser(
        prog='ros2_rnea demo',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"""\
Show the effect of feedforward from inverse dynamics on an arm, and its behaviour at disturbances.

A simulated arm (MuJoCo, with a joint PD loop at 1 kHz) and the node run in separate processes and
communicate over DDS.  The scenes:

tracking: the same motion, several sines on every joint, with the same gains in each phase:
{phases}
  Then the gravity service of the node is compared with the holding effort of the physics engine.
payload:  the arm picks up a payload during the motion; later ~/set_payload sets it in the node.
tilt:     the mount is tilted during the motion; later ~/set_gravity sets gravity in the node.
restart:  the driver is killed during the motion and started again.
crash:    the node is killed while it holds the arm, and started again.
stop:     the trajectory is replaced half-way by a stop, as when a goal is aborted.
disable:  the node moves the arm alone, and is disabled in motion: it brakes the arm.""",
        epilog="""\
Motion, push and payload of other arms are as large as their limits allow, but no larger than those
of the Panda.  Their thresholds are ratios that any arm should reach; the Panda has its own ones.

files:       summary.json (all figures); tracking and timeline as .png and .svg; driver.log,
             node.log; robot.urdf, the simulated description
exit codes:  0 passed; 1 a threshold failed; 2 could not run; 3 not judged: the machine was too
             slow, although the rate of the joint states was lowered as far as possible
examples:    ./run demo --robot ur5
             ./run demo --urdf my_arm.urdf --scene payload --scene restart
             ./run demo --identify""")
    add_model_options(parser)
    parser.add_argument('--tip', default='', metavar='LINK',
                        help='the link with the push and the payload (default: that at the end of '
                             'the longest chain)')
    parser.add_argument('--scene', action='append', choices=(TRACKING, *SCENES),
                        help='play only this scene; may be given several times')
    parser.add_argument('--identify', action='store_true',
                        help='instead of the scenes: an arm that is unlike its description is '
                             'excited, recorded and identified, and follows the same motion '
                             'before and after; then it is pushed')
    parser.add_argument('--seconds', type=_phase_seconds, default=7.0,
                        help=f'length of the motion in each phase of tracking, {SHORTEST:g} to '
                             f'{LONGEST:g} (default: %(default)s)')
    parser.add_argument('--out', type=Path, default=Path('out/demo'), metavar='FOLDER',
                        help='folder of the files (default: %(default)s)')
    parser.add_argument('--domain', type=int, metavar='ID',
                        help='ROS_DOMAIN_ID of the demo (default: one that nobody uses)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
