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
"""Measure what identification costs: ``python -m benchmark.identification --help``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
import json
import sys
from typing import Any

from benchmark.disturbance import Watch
from benchmark.errors import BenchmarkError
from benchmark.identification.contenders import (
    compiled,
    ours,
    PRODUCTS,
    REDUCTION,
    Rows,
)
from benchmark.machine import machine, versions
from benchmark.measure import measure, Settings
from benchmark.options import chosen_robots, common_options
from benchmark.peers import OURS
from benchmark.problem import pose_problem, Problem
from benchmark.report.tables import WIDTH
from benchmark.robots import Description
from benchmark.summary import ratio, Spread, spread
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from ros2_rnea.errors import RneaError
from ros2_rnea.offline.identification.information import one_thread

ROBOTS = ('panda', 'ur5')
SIZES = (4_096, 16_384, 65_536, 262_144)

GOAL = 30.0
"""How many times as many rows a second as the others are asked of us."""

MAX_GROWTH = 1.2
"""The time of a row in the largest recording, divided by that in the smallest."""

FULL = Settings(rounds=15, block=1)
QUICK = Settings(rounds=3, block=1)

HELP = f"""\
Measure the rows (samples of all joints) a second that become a regressor, and a regressor that is
reduced to what a fit needs, against the loop over Pinocchio's computeJointTorqueRegressor that one
would write first, and against FIGAROH.

All have the same {SIZES[0]} samples, the inertial parameters of all bodies, and friction with an
offset.  A contender whose regressor differs from Pinocchio's by more than 1e-9 ends the run.  They
are timed in turn for {FULL.rounds} rounds, on one core, with one thread of BLAS; ratios are
computed within a round.  "{PRODUCTS}" is the part of our reduction that no kernel makes faster:
the products of columns.  Then recordings of {SIZES[0]} to {SIZES[-1]} rows are reduced in turn:
a cost that is linear in the rows is the same for each row.
"""


@dataclass(frozen=True)
class Figure:
    """
    The result of one contender.

    :ivar rows: that a second is enough for.
    :ivar times: of the others: how many times as many rows the package has.
    """

    robot: str
    quantity: str
    contender: str
    code: str
    remark: str
    rows: Spread
    times: Spread


@dataclass(frozen=True)
class Growth:
    """The time of a row [ns] of a recording of so many rows, and as a multiple of the smallest."""

    robot: str
    rows: int
    nanoseconds: Spread
    multiple: Spread


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the benchmark and print its tables.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    settings = QUICK if options.quick else FULL
    watch = Watch()
    figures: list[Figure] = []
    growth: list[Growth] = []
    try:
        descriptions = chosen_robots(options)
        columns = [TextColumn('{task.description:50.50}'), BarColumn(20), TimeElapsedColumn()]
        with Progress(*columns, console=console, transient=True) as progress, one_thread():
            for description in descriptions:
                task = progress.add_task(f'{description.name}: regressors', total=None)
                problem = pose_problem(description, SIZES[0])
                found, missing = compiled(problem, Rows.of(problem))
                for quantity, contenders in found.items():
                    progress.update(task, description=f'{description.name}: {quantity}')
                    figures += _figures(description, quantity, measure(contenders, settings), {
                        name: (one.statement.code, one.statement.remark)
                        for name, one in contenders.items()})
                progress.update(task, description=f'{description.name}: growth')
                growth += _growth(problem, settings)
                progress.remove_task(task)
    except (BenchmarkError, RneaError) as error:
        sys.stderr.write(f'benchmark identification: {error}\n')
        return 2
    typical = np.median([(one.times.high - one.times.low) / one.times.median for one in figures])
    disturbance = watch.disturbance(float(typical))
    judged = disturbance.is_small
    for description in descriptions:
        console.print(_table(description, figures, judged))
    console.print(_growth_table(growth, judged))
    for reason in missing:
        console.print(reason, markup=False)
    if options.explain:
        for one in figures:
            console.print(f'{one.contender}, {one.quantity}: {one.code}'
                          f'{one.remark and f"  ({one.remark})"}', markup=False, soft_wrap=True)
    console.print(f'{machine()["cpu"]}; {disturbance}')
    if not judged:
        console.print('The machine was busy, so the figures are not compared with what is asked: '
                      f'{"; ".join(disturbance.reasons())}.', style='yellow')
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / 'identification.json'
    path.write_text(json.dumps({
        'machine': machine(), 'versions': versions(), 'disturbance': asdict(disturbance),
        'figures': [_plain(one) for one in figures],
        'growth': [_plain(one) for one in growth]}, indent=2) + '\n', encoding='utf-8')
    console.print(path, soft_wrap=True)
    return 0


def _figures(
        description: Description, quantity: str, samples: Mapping[str, np.ndarray],
        statements: Mapping[str, tuple[str, str]]) -> Iterator[Figure]:
    for name, nanoseconds in samples.items():
        yield Figure(description.name, quantity, name, *statements[name],
                     spread(1e9 / nanoseconds), ratio(nanoseconds, samples[OURS]))


def _growth(problem: Problem, settings: Settings) -> Iterator[Growth]:
    """Yield what a row costs in recordings of several lengths."""
    contenders = {}
    for size in SIZES:
        larger = Problem(problem.description, problem.robot, size)
        contenders[str(size)] = ours(larger, Rows.of(larger))[REDUCTION].compiled()
    samples = measure(contenders, settings)
    for size in SIZES:
        own = samples[str(size)]
        yield Growth(
            problem.description.name, size, spread(own), ratio(own, samples[str(SIZES[0])]))


def _table(description: Description, figures: Sequence[Figure], judged: bool) -> Table:
    table = Table(title=f'{description.title}: {SIZES[0]} rows', title_justify='left')
    for heading in ('', 'rows a second', 'ros2_rnea has', 'quartiles', 'asked'):
        table.add_column(heading, justify='left' if not heading else 'right')
    for one in figures:
        if one.robot != description.name:
            continue
        table.add_row(
            f'{one.quantity}, {one.contender}', f'{one.rows.median:,.0f}'.replace(',', ' '),
            *(('', '', '') if one.contender == OURS else (
                f'{one.times.median:.1f} times', f'{one.times.low:.1f} to {one.times.high:.1f}',
                _verdict(one.times.median >= GOAL, f'{GOAL:.0f}', judged)
                if one.quantity == REDUCTION and one.contender != PRODUCTS else '')))
    return table


def _growth_table(growth: Sequence[Growth], judged: bool) -> Table:
    table = Table(title='Reduction of longer recordings by ros2_rnea', title_justify='left')
    for heading in ('robot', 'rows', 'ns a row', 'as a multiple', 'asked'):
        table.add_column(heading, justify='left' if heading == 'robot' else 'right')
    for one in growth:
        table.add_row(
            one.robot, f'{one.rows:,}'.replace(',', ' '), f'{one.nanoseconds.median:.0f}',
            f'{one.multiple.median:.2f}',
            _verdict(one.multiple.median <= MAX_GROWTH, f'≤ {MAX_GROWTH}', judged)
            if one.rows == SIZES[-1] else '')
    return table


def _verdict(is_met: bool, goal: str, judged: bool) -> str:
    return goal if not judged else f'{goal}: {"met" if is_met else "[bold]missed[/]"}'


def _plain(figures: Figure | Growth) -> dict[str, Any]:
    own = {name: getattr(figures, name) for name in asdict(figures)}
    return {name: value._asdict() if isinstance(value, Spread) else value
            for name, value in own.items()}


def _parser() -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog='benchmark identification', description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common_options(ROBOTS, QUICK.rounds, 'JSON')])


if __name__ == '__main__':
    sys.exit(main())
