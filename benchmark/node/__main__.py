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
"""Measure the cycle of the node: ``python -m benchmark.node --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
import json
import os
from pathlib import Path
import sys

from benchmark.errors import BenchmarkError
from benchmark.machine import machine, versions
from benchmark.node.robots import BenchmarkRobot, find_robot
from benchmark.node.runs import (
    Effort,
    measure_cycle,
    measure_fleet,
    measure_gaps,
    measure_highest_rate,
    measure_imu,
    measure_respawns,
)
from benchmark.node.tables import (
    cycle_table,
    fleet_table,
    gap_table,
    rate_table,
    respawn_table,
)
from benchmark.robots import EXAMPLES
from rclpy.utilities import get_rmw_implementation_identifier
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from ros2_rnea.errors import RneaError
from ros2_rnea.node.transports import stay_on_this_machine
from ros2_rnea.tools.ros_domain import reserve_domain

ROBOTS = ('panda', 'talos')
RATES = (250.0, 500.0, 1000.0)
CHANGES_RATE = 500.0
IMU_RATE = 1000.0

THOROUGH = Effort(blocks=10, seconds=2.0)
QUICK = Effort(blocks=3, seconds=1.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the benchmark and print its tables.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    # Nobody else's messages, and no search for machines that have none.
    if not os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE'):
        stay_on_this_machine()
    if 'ROS_DOMAIN_ID' not in os.environ:
        os.environ['ROS_DOMAIN_ID'] = str(reserve_domain())
    console = Console(stderr=False)
    try:
        robots = [find_robot(name) for name in options.robot or ROBOTS]
        record = _measure(options, robots, console)
    except (BenchmarkError, RneaError) as error:
        console.print(f'benchmark node: {error}', style='red', markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        return 130
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=2) + '\n', encoding='utf-8')
        console.print(f'figures, versions and noise: {options.json}', markup=False)
    return 0


def _measure(
        options: argparse.Namespace, robots: Sequence[BenchmarkRobot], console: Console) -> dict:
    """Print a table after each part, and return everything that was measured."""
    effort = QUICK if options.quick else THOROUGH
    record: dict = {
        'machine': machine(),
        'versions': {**versions(), 'rmw': get_rmw_implementation_identifier(),
                     'rclpy': version('rclpy')},
        'robots': {}}
    with Progress(
            TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
            console=console, transient=True) as progress:
        if options.robots:
            for robot in robots[:1]:
                rows = measure_fleet(robot, options.robots, options.fleet_rate, effort, progress)
                progress.console.print(fleet_table(robot.name, options.fleet_rate, rows))
                record['fleet'] = {
                    'robot': robot.name,
                    'rows': {count: {way: figures.as_dict() for way, figures in by_way.items()}
                             for count, by_way in rows.items()}}
            return record
        if options.changes:
            gaps = {robot.name: measure_gaps(
                robot, CHANGES_RATE, options.parameter, effort, progress) for robot in robots}
            progress.console.print(gap_table(CHANGES_RATE, effort.seconds, gaps))
            record['gaps'] = gaps
            return record
        if options.imu:
            for robot in robots:
                subjects = measure_imu(robot, IMU_RATE, options.parameter, effort, progress)
                progress.console.print(cycle_table(robot.name, [subjects]))
                record['robots'][robot.name] = {'imu': {
                    name: figures.as_dict() for name, figures in subjects.items()}}
            return record
        if options.respawn:
            respawns = {robot.name: measure_respawns(
                robot, CHANGES_RATE, options.parameter, effort, progress) for robot in robots}
            progress.console.print(respawn_table(CHANGES_RATE, respawns))
            record['respawns'] = {
                robot: {name: [asdict(respawn) for respawn in of_subject]
                        for name, of_subject in by_subject.items()}
                for robot, by_subject in respawns.items()}
            return record
        highest = {}
        for robot in robots:
            by_rate = measure_cycle(robot, options.rates, options.parameter, effort, progress)
            progress.console.print(cycle_table(robot.name, by_rate))
            record['robots'][robot.name] = {'cycle': [
                {name: figures.as_dict() for name, figures in subjects.items()}
                for subjects in by_rate]}
            highest[robot.name] = measure_highest_rate(robot, options.parameter, effort, progress)
            record['robots'][robot.name]['highest_rate'] = highest[robot.name]
    console.print(rate_table(highest))
    return record


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='benchmark node',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
What the node costs between a joint state and its effort, over real DDS on this machine, against
an empty relay: what one would write first, which takes the same message and sends the same two,
typed, on rclpy's default executor, and computes nothing (benchmark/node/relay.py).

A publisher plays the robot, a receiver its controller; both are processes of their own, and so are
relay and node.  The node follows a trajectory with accelerations, which is all that it can do.
Relay and node are measured in short blocks in turn, so that whatever else this machine does meets
both.  Compare ratios; absolute figures are of this machine and this minute.

  CPU        of one core, by all threads of the process under test, those of DDS included
  latency    from the stamp of a state to the arrival of its effort in the receiver, which is
             sent after the command
  answered   of the states that were sent; both have a queue of ten
  highest    rate at which 99 % are still answered, from 1 kHz in steps of a quarter

All figures but the answers are the median of the blocks.""",
        epilog=f'Robots by name: {", ".join(EXAMPLES)}, from the package example-robot-data.')
    parser.add_argument('robot', nargs='*',
                        help=f'name, or URDF file (default: {" ".join(ROBOTS)})')
    parser.add_argument('--rates', type=float, nargs='+', default=RATES, metavar='HZ',
                        help='states per second (default: 250 500 1000)')
    parser.add_argument('--quick', action='store_true',
                        help=f'{QUICK.blocks} blocks of {QUICK.seconds:.0f} s each instead of '
                             f'{THOROUGH.blocks} of {THOROUGH.seconds:.0f} s')
    parser.add_argument('--robots', type=int, metavar='N',
                        help='instead: how CPU grows up to N robots, with all nodes in one '
                             'process and with a process for each')
    parser.add_argument('--changes', action='store_true',
                        help='instead: the longest gap between two answers while descriptions, '
                             'payloads and gravity change without end')
    parser.add_argument('--imu', action='store_true',
                        help='instead: the node with an IMU at 1 kHz beside the joint states, '
                             'and without')
    parser.add_argument('--respawn', action='store_true',
                        help='instead: how long no effort comes when the node is killed (kill -9) '
                             'and started again at once')
    parser.add_argument('--fleet-rate', type=float, default=100.0, metavar='HZ',
                        help='states of each of N robots per second (default: 100)')
    parser.add_argument('-p', '--parameter', action='append', default=[], metavar='NAME:=VALUE',
                        help='parameter of the node, such as executor:=single_threaded')
    parser.add_argument('--json', type=Path, metavar='FILE', help='where to write everything')
    return parser


if __name__ == '__main__':
    sys.exit(main())
