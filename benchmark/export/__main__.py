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
"""Measure what exported models cost where they run: ``python -m benchmark.export --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
import json
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

from benchmark.agreement import agree, relative_error
from benchmark.disturbance import Watch
from benchmark.errors import Absent, BenchmarkError
from benchmark.export import peers
from benchmark.export.loops import OPTIMIZATION, REPEATED
from benchmark.export.ours import C, Exported, KERNEL, TAPE
from benchmark.machine import machine, versions
from benchmark.measure import measure, Settings
from benchmark.options import chosen_robots, common_options
from benchmark.peers import PINOCCHIO
from benchmark.peers.pinocchio import Pinocchio
from benchmark.problem import pose_problem, STATES
from benchmark.report.tables import WIDTH
from benchmark.robots import Description
from benchmark.summary import ratio, Spread, spread
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from ros2_rnea.errors import RneaError

ROBOTS = ('ur5', 'panda', 'anymal', 'talos')

FULL = Settings(rounds=101, block=1_000_000)
QUICK = Settings(rounds=15, block=300_000)

HELP = f"""\
Measure inverse dynamics of exported models in C: the tape in its interpreter and the generated
code, beside the kernel that LLVM compiles, against Pinocchio, the C that CasADi and CppADCodeGen
generate from its algorithm, and KDL.

Ours have what the command export writes: friction, springs and gravity read from the array of
parameters, which the others do not compute.  All have the same {STATES} states; C loops over
them, and Pinocchio by its rneaInParallel with one thread.  They are timed in turn for
{FULL.rounds} rounds, on one core; ratios are computed within a round.  The compilers are $CC or
cc and $CXX or c++, with {OPTIMIZATION} for all; libraries are as they were installed.  If a result
of ours differs from Pinocchio's by more than 1e-9, the run ends; a peer that does, or that is not
installed, is left out with the reason.  The two programs that generate C are compiled in the first
run, which takes some minutes and 4 GB of memory.
"""


@dataclass(frozen=True)
class Figure:
    """
    The result of one contender.

    :ivar operations: of its tape; 0 where it has none.
    :ivar of_pinocchio: the ratio to Pinocchio's time in the same round.
    :ivar of_c: the ratio to the time of our generated C in the same round.
    :ivar reason: why it was not timed, then all else is empty.
    """

    robot: str
    contender: str
    operations: int = 0
    nanoseconds: Spread | None = None
    of_pinocchio: Spread | None = None
    of_c: Spread | None = None
    reason: str = ''


def figures_of(description: Description, settings: Settings) -> list[Figure]:
    """
    Return what was measured on one robot.

    :raises BenchmarkError: where efforts of ours are not those of Pinocchio.
    """
    problem = pose_problem(description, STATES * REPEATED)
    pinocchio = Pinocchio(problem)
    asked = pinocchio.inverse_dynamics().compiled().answers()
    able, reasons = {PINOCCHIO: pinocchio.batch().compiled()}, {}
    with TemporaryDirectory() as folder:
        exported = Exported(problem, Path(folder))
        own = exported.statements()
        for name, statement in {**own, **peers.statements(problem, Path(folder))}.items():
            if isinstance(statement, Absent):
                reasons[name] = str(statement)
                continue
            compiled = statement.compiled()
            error = relative_error(compiled.answers()[0], asked)
            if agree(error):
                able[name] = compiled
            elif name in own:
                raise BenchmarkError(
                    f'{description.name}: the {name} differs from Pinocchio by {error:.1e}')
            else:
                reasons[name] = f'it differs from Pinocchio by {error:.1e}'
        samples = measure(able, settings)
    return [
        *(Figure(description.name, name, exported.operations if name == TAPE else 0,
                 spread(taken), ratio(taken, samples[PINOCCHIO]), ratio(taken, samples[C]))
          for name, taken in samples.items()),
        *(Figure(description.name, name, reason=reason) for name, reason in reasons.items())]


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the benchmark and print its table.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    watch = Watch()
    figures: list[Figure] = []
    try:
        descriptions = chosen_robots(options, options.floating)
        for description in descriptions:
            figures += figures_of(description, QUICK if options.quick else FULL)
    except (BenchmarkError, RneaError) as error:
        sys.stderr.write(f'benchmark export: {error}\n')
        return 2
    typical = np.median([
        (one.of_pinocchio.high - one.of_pinocchio.low) / one.of_pinocchio.median
        for one in figures if one.of_pinocchio and one.contender != PINOCCHIO])
    disturbance = watch.disturbance(float(typical))
    for description in descriptions:
        console.print(_table(description, figures, disturbance.is_small))
    for one in figures:
        if one.reason:
            console.print(
                f'{one.robot}: {one.contender} is not timed: {escape(one.reason)}',
                soft_wrap=True)
    console.print(f'{machine()["cpu"]}; {disturbance}')
    if not disturbance.is_small:
        console.print('The machine was busy, so the figures are not compared with what is asked: '
                      f'{"; ".join(disturbance.reasons())}.', style='yellow')
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / 'export.json'
    path.write_text(json.dumps({
        'machine': machine(), 'versions': versions(), 'disturbance': asdict(disturbance),
        'figures': [asdict(one) for one in figures]}, indent=2) + '\n', encoding='utf-8')
    console.print(path, soft_wrap=True)
    return 0


def _table(description: Description, figures: Sequence[Figure], judged: bool) -> Table:
    own = [one for one in figures if one.robot == description.name]
    operations = next(one.operations for one in own if one.contender == TAPE)
    table = Table(title=f'{description.title}: {operations} operations', title_justify='left')
    for heading in ('', 'ns', 'of Pinocchio', 'quartiles', 'of generated C', 'asked'):
        table.add_column(heading, justify='left' if not heading else 'right')
    for one in sorted(own, key=_nanoseconds):
        if one.nanoseconds and one.of_pinocchio and one.of_c:
            low, median, high = one.of_pinocchio
            table.add_row(
                one.contender, f'{one.nanoseconds.median:.0f}', f'{median:.2f}',
                f'{low:.2f}–{high:.2f}', f'{one.of_c.median:.2f}', _verdict(one, judged))
    return table


def _nanoseconds(figure: Figure) -> float:
    return figure.nanoseconds.median if figure.nanoseconds else np.inf


def _verdict(one: Figure, judged: bool) -> str:
    """Return what is asked: a tape not behind Pinocchio, each peer behind our generated C."""
    if one.contender in (C, KERNEL) or one.of_pinocchio is None or one.of_c is None:
        return ''
    goal, is_met = (
        ('of Pinocchio ≤ 1', one.of_pinocchio.median <= 1.0) if one.contender == TAPE else
        ('of generated C > 1', one.of_c.median > 1.0))
    return goal if not judged else f'{goal}: {"met" if is_met else "[bold]missed[/]"}'


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='benchmark export', description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common_options(ROBOTS, QUICK.rounds, 'JSON')])
    parser.add_argument('--floating', action='store_true', help='--urdf with a floating base')
    return parser


if __name__ == '__main__':
    sys.exit(main())
