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
Let random arms live through random missions, in closed loop, until the time is over.

    ./run missions --minutes 10 --seed 1

Each episode draws an arm, a model of it with errors of up to 30 %, sensors, a use of the node and
a dozen events: motions that replace each other, points that are streamed, references that jump
and pause, pushes, gaps, other modes, gains and payloads, a clock that is set, a base that tilts, a
node that starts again.  The true arm is simulated by MuJoCo.  test/support/missions/judge.py says
by what it is judged.

Each episode is repeated by two numbers: ./run missions --seed 1 --episode 7.
"""

from __future__ import annotations

import argparse
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
import os
import sys
from time import monotonic

from missions.episode import Episode, Outcome, run_episode
from missions.summary import MAXIMA, Summary
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

SHOWN = 5
"""So many failing episodes are printed with their events."""


def main() -> int:
    """Run episodes, and return the exit code."""
    options = arguments()
    console = Console(soft_wrap=True, highlight=False)
    if options.episode is not None:
        return show_one(console, options.seed, options.episode)
    summary = run(console, options)
    console.print(summary.table())
    for outcome in summary.failures[:SHOWN]:
        console.print('\n' + outcome.report, markup=False)
    if len(summary.failures) > SHOWN:
        others = ' '.join(str(outcome.number) for outcome in summary.failures[SHOWN:])
        console.print(f'\nepisodes that also failed: {others}')
    for line in summary.excesses():
        console.print(line, markup=False)
    return int(bool(summary.failures or summary.excesses()))


def run(console: Console, options: argparse.Namespace) -> Summary:
    """Run episodes in several processes until the time is over."""
    summary = Summary(options.seed)
    started = monotonic()
    end = started + 60.0 * options.minutes
    with ProcessPoolExecutor(options.jobs) as pool, Progress(
            TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
            console=console, transient=True) as progress:
        task = progress.add_task('', total=end - started)
        running: set[Future[Outcome]] = set()
        number = 0
        while monotonic() < end or running:
            while monotonic() < end and len(running) < 2 * options.jobs:
                running.add(pool.submit(run_episode, options.seed, number))
                number += 1
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                summary.add(future.result())
            progress.update(
                task, completed=monotonic() - started, description=(
                    f'{len(summary.outcomes)} episodes, {len(summary.failures)} failed'))
    return summary


def show_one(console: Console, seed: int, number: int) -> int:
    """Run one episode, and print all that happens in it."""
    episode = Episode(seed, number)
    outcome = episode.run()
    console.print(outcome.report if outcome.failure else '\n'.join(
        [str(outcome.setup), *outcome.events, *outcome.refused]), markup=False)
    before = None
    for time, decision in episode.loop.record.decided():
        present = decision.state.name, decision.status.name
        if present != before:
            console.print(
                f'{time:6.3f} s  {" ".join(present)}  {decision.detail}', markup=False)
        before = present
    return int(bool(outcome.failure))


def arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    maxima = ', '.join(f'{what} {share:.0%}' for what, share in MAXIMA.items())
    parser = argparse.ArgumentParser(
        prog='./run missions', description=__doc__, epilog=f'Largest shares: {maxima}.',
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--minutes', type=float, default=10.0,
                        help='after which no episode begins any more (default: 10)')
    parser.add_argument('--seed', type=int, default=1, help='of all episodes (default: 1)')
    parser.add_argument('--episode', type=int, help='run this one alone, and show its states')
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)),
                        help='processes (default: one for each processor)')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
