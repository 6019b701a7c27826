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
"""Compare the library with others: ``python -m benchmark --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import sys
import time

from benchmark.campaign import Campaign
from benchmark.disturbance import Watch
from benchmark.errors import BenchmarkError
from benchmark.machine import machine
from benchmark.measure import Settings
from benchmark.options import chosen_robots, common_options
from benchmark.quantities import BY_NAME, QUANTITIES, Quantity
from benchmark.report import tables
from benchmark.report.picture import draw
from benchmark.report.record import record
from benchmark.robots import Description, NAMES
from benchmark.startup import measure_startup, Startup
from rich.console import Console
from rich.progress import (
    BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn)
from ros2_rnea.errors import RneaError

STARTUP = 'startup'

FULL = Settings(rounds=101, block=1_000_000)
QUICK = Settings(rounds=15, block=300_000)

HELP = f"""\
Compare the library with every peer (other library) that is installed.

All peers compute the same quantity of the same robot for the same 64 states.  A peer whose result
differs from Pinocchio's by more than 1e-9 is listed and not timed.  The peers are timed in turn,
in blocks of calls of about a millisecond, for {FULL.rounds} rounds, on one core, without the
garbage collector.  Ratios to Pinocchio are computed within a round; their median and quartiles
are shown.  The last lines say how busy the machine was: what was measured on a busy machine is not
compared with what is asked.

Every robot is measured without friction, armature and mimic joints, which peers treat differently.
"""

EPILOG = f"""\
robots:      {', '.join(NAMES)}
quantities:  {', '.join(BY_NAME)},
             {STARTUP} (from description to first effort)

examples:
  python -m benchmark                              everything; some minutes
  python -m benchmark --quick --robots panda       a first look
  python -m benchmark --quantities bound,batch     two quantities of all robots
  python -m benchmark --urdf my.urdf --floating    your own robot
  python -m benchmark --explain                    also the statement behind each figure
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; return the exit code."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else tables.WIDTH)
    try:
        run = Run(options)
        run.measure(console)
    except (BenchmarkError, RneaError) as error:
        sys.stderr.write(f'benchmark: {error}\n')
        return 2
    run.report(console)
    return 0


class Run:
    """One run: what is asked for, and what came out."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._settings = QUICK if options.quick else FULL
        self._descriptions = _descriptions(options)
        self._quantities, self._with_startup = _quantities(options.quantities)
        self._campaign = Campaign(self._settings, 1_000 if options.quick else 10_000)
        self._startups: list[Startup] = []

    def measure(self, console: Console) -> None:
        """Measure everything, with a bar that says how far it is."""
        watch = Watch()
        columns = [TextColumn('{task.description:50.50}'), BarColumn(20), MofNCompleteColumn(),
                   TimeElapsedColumn()]
        began = time.monotonic()
        with Progress(*columns, console=console, transient=True) as progress:
            steps = sum(len(self._of(d)) + self._starts(d) for d in self._descriptions)
            task = progress.add_task('', total=steps)
            for description in self._descriptions:
                progress.update(task, description=f'{description.name}: loading')
                engines = self._campaign.load(description)
                for quantity in self._of(description):
                    progress.update(task, description=f'{description.name}: {quantity.title}')
                    self._campaign.compare(description.name, quantity.name, engines)
                    progress.advance(task)
                if self._starts(description):
                    progress.update(task, description=f'{description.name}: first effort')
                    repetitions = 1 if self._options.quick else 5
                    self._startups += measure_startup(description, repetitions)
                    progress.advance(task)
        self._seconds = time.monotonic() - began
        self._disturbance = watch.disturbance(tables.noise(self._campaign.results))

    def report(self, console: Console) -> None:
        """Print the tables; write the picture and JSON."""
        results, folder = self._campaign.results, self._options.output
        judged = self._disturbance.is_small
        for description in self._descriptions:
            if description.chain_joints is None and self._quantities:
                console.print(tables.robot_table(description, results, judged))
        chains = [d for d in self._descriptions if d.chain_joints is not None]
        if chains and any(self._of(chain) for chain in chains):
            console.print(tables.chain_table(chains, results, judged))
        if self._startups:
            console.print(tables.startup_table(self._startups, judged))
        if self._options.explain:
            console.print(tables.statement_table(results))
        console.print(tables.left_out_table(results))

        folder.mkdir(parents=True, exist_ok=True)
        record(folder / 'benchmark.json', self._settings, self._descriptions, results,
               self._startups, self._disturbance)
        paths = draw(self._descriptions, results, folder / 'benchmark') if results else []
        for line in tables.missed(results) if judged else ():
            console.print(f'missed: {line}', style='yellow')
        console.print(f'{machine()["cpu"]}; {self._seconds:.0f} s; {self._disturbance}')
        if not judged:
            console.print(
                'The machine was busy, so the figures are not compared with what is asked: '
                f'{"; ".join(self._disturbance.reasons())}.', style='yellow')
        console.print(*[folder / 'benchmark.json', *paths], sep='  ', soft_wrap=True)

    def _of(self, description: Description) -> list[Quantity]:
        """Return what is measured on a robot."""
        return [quantity for quantity in self._quantities
                if description.chain_joints is None or quantity.on_chains]

    def _starts(self, description: Description) -> bool:
        return self._with_startup and description.chain_joints is None


def _descriptions(options: argparse.Namespace) -> list[Description]:
    if options.floating and not options.urdf:
        raise BenchmarkError('--floating says how to take a --urdf; there is none')
    return chosen_robots(options, options.floating)


def _quantities(names: str) -> tuple[list[Quantity], bool]:
    """Return the quantities of these names, and whether the first effort is among them."""
    chosen = names.split(',') if names else [*BY_NAME, STARTUP]
    for name in chosen:
        if name not in BY_NAME and name != STARTUP:
            raise BenchmarkError(
                f'there is no quantity {name!r}; there are {", ".join([*BY_NAME, STARTUP])}')
    return [quantity for quantity in QUANTITIES if quantity.name in chosen], STARTUP in chosen


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='python -m benchmark', formatter_class=argparse.RawDescriptionHelpFormatter,
        description=HELP, epilog=EPILOG,
        parents=[common_options(NAMES, QUICK.rounds, 'picture and JSON')])
    parser.add_argument('--floating', action='store_true', help='with a floating base')
    parser.add_argument('--quantities', default='', metavar='NAME,…',
                        help='only these quantities (default: all)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
