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
from collections.abc import Mapping, Sequence
import ctypes
from dataclasses import asdict, dataclass
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from benchmark.agreement import agree, relative_error
from benchmark.disturbance import Watch
from benchmark.errors import BenchmarkError
from benchmark.machine import machine, versions
from benchmark.measure import measure, Settings
from benchmark.options import chosen_robots, common_options
from benchmark.peers import PINOCCHIO
from benchmark.peers.pinocchio import Pinocchio
from benchmark.problem import pose_problem, Problem, STATES
from benchmark.report.tables import WIDTH
from benchmark.robots import Description
from benchmark.statement import Statement
from benchmark.summary import ratio, Spread, spread
import numpy as np
from rich.console import Console
from rich.table import Table
from ros2_rnea import AdjustableRobot, kernels
from ros2_rnea.dynamics.quantities import INVERSE_DYNAMICS
from ros2_rnea.errors import RneaError
from ros2_rnea.export.c_code import c_files, Style
from ros2_rnea.export.model import model_of, traces_of
from ros2_rnea.export.model_file import encoded
from ros2_rnea.kernels.compiled import CompiledKernels

ROBOTS = ('ur5', 'panda', 'anymal', 'talos')
TAPE, C, KERNEL = 'tape', 'generated C', 'kernel of LLVM'

REPEATED = 16
"""How often C goes through the states in one call, so that the call itself costs nothing."""

FULL = Settings(rounds=101, block=1_000_000)
QUICK = Settings(rounds=15, block=300_000)

HELP = f"""\
Measure inverse dynamics of exported models in C: the tape in its interpreter, the generated code,
and for comparison the kernel that LLVM compiles, and Pinocchio's C++.

Ours have what the command export writes: friction, springs and gravity read from the array of
parameters, which Pinocchio does not compute.  All have the same {STATES} states; C loops over
them, and Pinocchio by rneaInParallel with one thread.  Who differs from Pinocchio by more than
1e-9 ends the run.  They are timed in turn for {FULL.rounds} rounds, on one core; ratios are
computed within a round.  The compiler is $CC or cc, with -O2.
"""

LOOPS = """
#include "robot.h"
#include "tape.h"

#define LOOP(...) \\
  for (int r = 0; r < REPEATED; ++r) \\
    for (int i = 0; i < STATES; ++i) { \\
      const double *q = states[0] + i * ROBOT_NQ, *qd = states[1] + i * ROBOT_NV, \\
                   *qdd = states[2] + i * ROBOT_NV; \\
      double *out = states[3] + i * ROBOT_NV; \\
      __VA_ARGS__; \\
    }

static double registers[65536];

int tape_loop(const void *bytes, size_t size, double **states) {
  rnea_model model;
  if (rnea_load(bytes, size, &model)) return 1;
  const rnea_tape *tape = model.tapes;
  LOOP({
    rnea_inputs inputs = {q, qd, qdd, NULL, NULL, model.values};
    rnea_run(&model, tape, &inputs, registers, out);
  })
  return 0;
}

void c_loop(double **states) {
  LOOP(robot_inverse_dynamics(q, qd, qdd, robot_parameters, out))
}

void kernel_loop(int64_t (*kernel)(const double **, const void *), double **states) {
  LOOP({
    const double *arguments[] = {q, qd, qdd, robot_parameters, out};
    kernel(arguments, NULL);
  })
}
"""


@dataclass(frozen=True)
class Figure:
    """
    The result of one contender.

    :ivar operations: of its tape; 0 where it has none.
    :ivar of_pinocchio: the ratio to Pinocchio's time in the same round.
    """

    robot: str
    contender: str
    operations: int
    nanoseconds: Spread
    of_pinocchio: Spread


class Exported:
    """The contenders of one robot, in one shared library; they write what they compute here."""

    def __init__(self, problem: Problem, folder: Path) -> None:
        robot = AdjustableRobot.of(problem.robot)
        traces = traces_of(robot, [INVERSE_DYNAMICS])
        self.model = model_of(robot, problem.description.text, traces)
        files = c_files(robot, self.model, [INVERSE_DYNAMICS], traces, Style('robot'))
        for name, text in {**files, 'loops.c': LOOPS}.items():
            (folder / name).write_text(text, encoding='utf-8')
        self._library = ctypes.CDLL(str(_compiled(folder)))
        self._kernels = CompiledKernels(robot.tree_without_payloads)
        kernel = self._kernels.kernel('one', INVERSE_DYNAMICS, robot.variant)
        self._kernel = ctypes.c_void_p(kernel.address('one'))
        content = encoded(self.model)
        self._content = np.frombuffer(content, '<f8').copy()  # aligned
        states = problem.states
        self.out = np.zeros_like(states.qd)
        self._arrays = [np.ascontiguousarray(each) for each in (states.q, states.qd, states.qdd)]
        self._states = (ctypes.c_void_p * 4)(
            *(array.ctypes.data for array in (*self._arrays, self.out)))

    def statements(self) -> Mapping[str, Statement]:
        """Return what is timed, by contender."""
        content = ctypes.c_void_p(self._content.ctypes.data)
        size = ctypes.c_size_t(self._content.nbytes)
        library = self._library
        calls: dict[str, tuple[Any, tuple[Any, ...]]] = {
            TAPE: (library.tape_loop, (content, size)), C: (library.c_loop, ()),
            KERNEL: (library.kernel_loop, (self._kernel,))}
        return {
            name: Statement(
                'loop(*arguments)', 'arguments', [(*given, self._states)],
                {'loop': loop, 'out': self.out}, 'out.copy()', evaluations=STATES * REPEATED)
            for name, (loop, given) in calls.items()}


def _compiled(folder: Path) -> Path:
    compiler = shutil.which(os.environ.get('CC', 'cc'))
    if compiler is None:
        raise BenchmarkError('there is no C compiler; install one, or name it in $CC')
    library, sources = folder / 'exported.so', Path(kernels.__path__[0])
    result = subprocess.run(
        [compiler, '-std=c99', '-O2', '-fPIC', '-shared', f'-DSTATES={STATES}',
         f'-DREPEATED={REPEATED}', f'-I{sources}', f'-I{folder}', folder / 'robot.c',
         folder / 'loops.c', sources / 'tape.c', '-lm', '-o', library],
        capture_output=True, text=True, check=False)
    if result.returncode:
        raise BenchmarkError(f'{compiler} fails: {result.stderr}')
    return library


def figures_of(description: Description, settings: Settings) -> list[Figure]:
    """
    Return what was measured on one robot.

    :raises BenchmarkError: where somebody's efforts are not those of Pinocchio.
    """
    problem = pose_problem(description, STATES * REPEATED)
    pinocchio = Pinocchio(problem)
    asked = pinocchio.inverse_dynamics().compiled().answers()
    with TemporaryDirectory() as folder:
        exported = Exported(problem, Path(folder))
        statements = exported.statements()
        for name, statement in statements.items():
            exported.out.fill(np.nan)  # nobody inherits the answer of another
            error = relative_error(statement.compiled().answers()[0], asked)
            if not agree(error):
                raise BenchmarkError(
                    f'{description.name}: the {name} differs from Pinocchio by {error:.1e}')
        samples = measure({
            **{name: statement.compiled() for name, statement in statements.items()},
            PINOCCHIO: pinocchio.batch().compiled()}, settings)
    operations = exported.model.tapes[0].operations
    return [
        Figure(description.name, name, operations if name == TAPE else 0, spread(own),
               ratio(own, samples[PINOCCHIO]))
        for name, own in samples.items()]


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
        for one in figures])
    disturbance = watch.disturbance(float(typical))
    for description in descriptions:
        console.print(_table(description, figures, disturbance.is_small))
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
    for heading in ('', 'ns', 'of Pinocchio', 'quartiles', 'asked'):
        table.add_column(heading, justify='left' if not heading else 'right')
    for one in sorted(own, key=lambda one: one.nanoseconds.median):
        low, median, high = one.of_pinocchio
        is_peer = one.contender == PINOCCHIO
        table.add_row(
            one.contender, f'{one.nanoseconds.median:.0f}', '' if is_peer else f'{median:.2f}',
            '' if is_peer else f'{low:.2f}–{high:.2f}',
            _verdict(one, judged) if one.contender in (TAPE, C) else '')
    return table


def _verdict(one: Figure, judged: bool) -> str:
    """Return what is asked: C ahead of Pinocchio, a tape not behind it."""
    goal, is_met = ('< 1', one.of_pinocchio.median < 1.0) if one.contender == C else (
        '≤ 1', one.of_pinocchio.median <= 1.0)
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
