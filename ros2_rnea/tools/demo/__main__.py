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
from functools import partial
import os
from pathlib import Path
import signal
import sys
from types import FrameType

import rclpy
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ros2_rnea.tools.demo.commander import Commander, FEEDFORWARD_NODE, NoAnswerError
from ros2_rnea.tools.demo.experiment import gravity_errors, PHASES, run_phase
from ros2_rnea.tools.demo.figures import Recording, Results
from ros2_rnea.tools.demo.judge import judge, machine_too_slow
from ros2_rnea.tools.demo.motion import EASING, MultiSine
from ros2_rnea.tools.demo.picture import draw
from ros2_rnea.tools.demo.processes import ChildError, Children
from ros2_rnea.tools.demo.report import show, summary, write_summary
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea.tools.simulated_driver.engine import Engine


SHORTEST = 4.0 * EASING
"""A motion shorter than this [s] is over before the push at the tip is at its strongest."""


class ExitCode(IntEnum):
    """What the exit code of the demo says."""

    PASSED = 0
    FAILED = 1
    NOT_RUN = 2
    TOO_SLOW = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the experiment, show it and judge it.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    # No other robot of the network or of this machine takes part.
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    if os.environ.get('ROS_DISTRO') == 'humble':  # It does not know the variable above.
        os.environ['ROS_LOCALHOST_ONLY'] = '1'
    os.environ['ROS_DOMAIN_ID'] = str(options.domain)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        results = _measure(options.out, options.seconds, console)
    except (ChildError, NoAnswerError) as error:
        console.print(f'The demo could not run: {error}', markup=False, style='red')
        return ExitCode.NOT_RUN
    finally:
        rclpy.try_shutdown()
    return present(results, options.out, console)


def _measure(out: Path, seconds: float, console: Console) -> Results:
    engine = Engine(seven_dof_arm())
    motion = MultiSine(seconds)
    bar = Progress(TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
                   console=console, transient=True)
    with Children(out) as children, bar:
        children.start('driver', [sys.executable, '-m', 'ros2_rnea.tools.simulated_driver'])
        children.start('node', _node_command(engine.joint_names))
        commander = Commander(engine.joint_names, check=children.check)
        task = bar.add_task('starting driver and node', total=len(PHASES))
        commander.wait_for_robot()
        recordings: dict[str, Recording] = {}
        for number, phase in enumerate(PHASES):
            bar.update(task, description=f'{phase.title:22}', completed=number)
            recordings[phase.key] = run_phase(
                commander, phase, motion, partial(_advance, bar, task, number))
        bar.update(task, description=f'{"gravity service":22}', completed=len(PHASES))
        differences = gravity_errors(commander, engine)
    return Results(engine.joint_names, recordings, differences)


def _advance(bar: Progress, task: TaskID, phases_over: int, share: float) -> None:
    bar.update(task, completed=phases_over + share)


def present(results: Results, out: Path, console: Console) -> int:
    """
    Judge the results, print them and write the files.

    :param out: folder of the files.
    :returns: exit code.
    """
    slow = machine_too_slow(results)
    checks = [] if slow else judge(results)
    failed = [check.name for check in checks if not check.passed]
    verdict = 'machine too slow, not judged' if slow else 'failed' if failed else 'passed'
    show(results, checks, console)
    write_summary(out / 'summary.json', summary(results, checks, verdict))
    for suffix in ('png', 'svg'):
        draw(results, out / f'tracking.{suffix}')
    console.print(f'\n{out}/tracking.png shows it, {out}/summary.json has the figures.',
                  soft_wrap=True)
    if slow:
        console.print('machine too slow, not judged: after '
                      f'{results.share_late():.1%} of the joint states no command came for 20 ms, '
                      f'{results.share_slow():.1%} of the simulated time was as late',
                      style='yellow')
        return ExitCode.TOO_SLOW
    if failed:
        console.print('failed: ' + '; '.join(failed), style='bold red')
        return ExitCode.FAILED
    console.print('passed', style='green')
    return ExitCode.PASSED


def _node_command(joint_names: Sequence[str]) -> list[str]:
    return [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args',
            '-r', f'__node:={FEEDFORWARD_NODE}',
            '-r', '~/commands:=/effort_controller/commands',
            '-p', f'joints:=[{", ".join(joint_names)}]',
            '-p', 'enabled:=false']


def _leave(number: int, _: FrameType | None) -> None:
    """End by way of all context managers, undisturbed by a second signal."""
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def _phase_seconds(text: str) -> float:
    seconds = float(text)
    if not SHORTEST <= seconds <= 60.0:
        raise argparse.ArgumentTypeError(f'{text} is not from {SHORTEST:g} to 60 seconds')
    return seconds


def _parser() -> argparse.ArgumentParser:
    phases = '\n'.join(f'  {number}. {phase.title}' for number, phase in enumerate(PHASES, 1))
    parser = argparse.ArgumentParser(
        prog='python -m ros2_rnea.tools.demo',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"""\
What feedforward from inverse dynamics does for an arm that follows a fast motion.

A simulated 7-joint arm (MuJoCo, with a joint PD loop of its own at 1 kHz) and the node run
as processes of their own and talk over DDS. The same motion, several sines on every joint,
is followed with the same gains in each phase:
{phases}
Then the node's gravity service is held against the effort that the engine says holds the arm.""",
        epilog="""\
files:       summary.json (all figures), tracking.png and .svg, driver.log, node.log
exit codes:  0 passed; 1 a threshold failed; 2 could not run; 3 machine too slow, not judged""")
    parser.add_argument('--out', type=Path, default=Path('out/demo'), metavar='FOLDER',
                        help='where the files go (default: %(default)s)')
    parser.add_argument('--seconds', type=_phase_seconds, default=7.0,
                        help='length of the motion in each phase (default: %(default)s)')
    parser.add_argument('--domain', type=int, default=1 + os.getpid() % 100, metavar='ID',
                        help='ROS_DOMAIN_ID to run in (default: one of its own)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
