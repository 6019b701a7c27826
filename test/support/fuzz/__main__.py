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
"""
Send hostile messages to the real node until it breaks, or until the time is over.

    ./run fuzz --minutes 10 --seed 1

Every topic that the node subscribes to and every service that it offers is found in the ROS graph
and attacked: with wrong sizes, numbers that are none or too large, foreign, repeated, empty and
very long names, impossible stamps, changing layouts, and bytes that are no message.  Also
parameters of any type and value, robot descriptions that are nearly right, and messages of 4 MB.

After each batch an honest joint state has to be answered with the effort that the library
computes, and every service has to answer.  Commands must stay within the effort limits and the
rate limit, also while processes that only listen to them come and go, log and memory must be
bounded, no exception may escape, and a signal must end the node.  Between two efforts no more than
state_timeout and 50 ms may pass while states arrive; what a busy machine delays is taken off.

Each round has a seed and a node of its own.  If one breaks, hypothesis reduces the batch to the
messages that are needed, and the command that repeats the round is printed.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from ros2_rnea.node.transports import stay_on_this_machine
from ros2_rnea.tools.ros_domain import reserve_domain

stay_on_this_machine()
os.environ.setdefault('ROS2_RNEA_TEST_PATIENCE', '60')


def main() -> int:
    """Run rounds, and return the exit code."""
    options = arguments()
    os.environ['ROS_DOMAIN_ID'] = str(reserve_domain())
    import rclpy
    from fuzz.record import Record
    from fuzz.rounds import Round, RoundError, VARIANTS

    console, record, seed, step = Console(), Record(), options.seed, 1
    if options.variant:
        step = len(VARIANTS)
        number = [variant.name for variant in VARIANTS].index(options.variant)
        seed += (number - seed) % step
    first = seed
    rclpy.init()
    started = monotonic()
    end = started + 60.0 * options.minutes
    with TemporaryDirectory(prefix='ros2_rnea_fuzz_') as folder, Progress(
            TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
            console=console, transient=True) as progress:
        os.environ['XDG_CACHE_HOME'] = folder
        task = progress.add_task('', total=end - started)

        def on_batch() -> None:
            progress.update(
                task, completed=monotonic() - started,
                description=f'seed {seed}: {record.messages} messages in {record.batches} batches')

        while seed == first or monotonic() < end and not options.one_round:
            try:
                Round(seed, Path(folder), record, on_batch).run(options.batches)
            except RoundError as error:
                progress.stop()
                console.print(record.table())
                console.print(str(error), markup=False, highlight=False, soft_wrap=True)
                console.print(f'\nTo repeat it: ./run fuzz --one-round --seed {seed} '
                              f'--batches {options.batches}', markup=False, highlight=False)
                return 1
            seed += step
    rclpy.try_shutdown()
    console.print(record.table())
    console.print(f'{record.messages} hostile messages in {record.batches} batches, seeds {first} '
                  f'to {seed - step}: the node withstood them', highlight=False)
    return 0


def arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    from fuzz.rounds import VARIANTS

    parser = argparse.ArgumentParser(
        prog='./run fuzz', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--minutes', type=float, default=10.0,
                        help='after which no round begins any more (default: 10)')
    parser.add_argument('--seed', type=int, default=1,
                        help='of the first round; the next ones count up (default: 1)')
    parser.add_argument('--batches', type=int, default=40, help='in each round (default: 40)')
    parser.add_argument('--variant', choices=[variant.name for variant in VARIANTS],
                        help='of the node in all rounds, which then have each fifth seed '
                        '(default: one after another)')
    parser.add_argument('--one-round', action='store_true', help='end after the first round')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
