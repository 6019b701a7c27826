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
"""What the command export writes, compiled: the tape, the C; and the library's own kernel."""

from __future__ import annotations

from collections.abc import Mapping
import ctypes
from pathlib import Path
from typing import Any

from benchmark.errors import Absent, BenchmarkError
from benchmark.export.loops import compiler, FLAGS, loop_statement, rows_of, run, sizes
from benchmark.problem import Problem
from benchmark.statement import Statement
import numpy as np
from ros2_rnea import AdjustableRobot, kernels
from ros2_rnea.dynamics.quantities import INVERSE_DYNAMICS
from ros2_rnea.export.c_code import c_files, Style
from ros2_rnea.export.model import model_of, traces_of
from ros2_rnea.export.model_file import encoded
from ros2_rnea.kernels.compiled import CompiledKernels

TAPE, C, KERNEL = 'tape', 'generated C', 'kernel of LLVM'

LOOPS = """
#include "loop.h"
#include "robot.h"
#include "tape.h"

static double registers[65536];

int tape_loop(const double *inputs, double *outputs, const void *bytes, size_t size) {
  rnea_model model;
  if (rnea_load(bytes, size, &model)) return 1;
  const rnea_tape *tape = model.tapes;
  LOOP({
    rnea_inputs inputs = {q, qd, qdd, NULL, NULL, model.values};
    rnea_run(&model, tape, &inputs, registers, out);
  })
  return 0;
}

void c_loop(const double *inputs, double *outputs) {
  LOOP(robot_inverse_dynamics(q, qd, qdd, robot_parameters, out))
}

void kernel_loop(
    const double *inputs, double *outputs, int64_t (*kernel)(const double **, const void *)) {
  LOOP({
    const double *arguments[] = {q, qd, qdd, robot_parameters, out};
    kernel(arguments, NULL);
  })
}
"""


class Exported:
    """
    The three ways of one robot, in one shared library.

    :ivar operations: of its tape.
    """

    def __init__(self, problem: Problem, folder: Path) -> None:
        """
        Compile them in a folder.

        :raises BenchmarkError: where that fails.
        """
        robot = AdjustableRobot.of(problem.robot)
        traces = traces_of(robot, [INVERSE_DYNAMICS])
        model = model_of(robot, problem.description.text, traces)
        self.operations = model.tapes[0].operations
        files = c_files(robot, model, [INVERSE_DYNAMICS], traces, Style('robot'))
        for name, text in {**files, 'loops.c': LOOPS}.items():
            (folder / name).write_text(text, encoding='utf-8')
        library, sources = folder / 'exported.so', Path(kernels.__path__[0])
        try:
            run(compiler('CC', 'cc', 'C'), '-std=c99', *FLAGS,
                *sizes(robot.nq, robot.nv), f'-I{sources}', folder / 'robot.c',
                folder / 'loops.c', sources / 'tape.c', '-lm', '-o', library)
        except Absent as reason:
            raise BenchmarkError(str(reason)) from reason
        self._library = ctypes.CDLL(str(library))
        self._kernels = CompiledKernels(robot.tree_without_payloads)
        self._kernel = self._kernels.kernel('one', INVERSE_DYNAMICS, robot.variant)
        self._content = np.frombuffer(encoded(model), '<f8').copy()  # aligned
        self._inputs, self._nv = rows_of(problem), robot.nv

    def statements(self) -> Mapping[str, Statement]:
        """Return what is timed, by contender."""
        library, content = self._library, self._content
        calls: dict[str, tuple[Any, ...]] = {
            TAPE: (library.tape_loop, ctypes.c_void_p(content.ctypes.data),
                   ctypes.c_size_t(content.nbytes)),
            C: (library.c_loop,),
            KERNEL: (library.kernel_loop, ctypes.c_void_p(self._kernel.address('one')))}
        return {name: loop_statement(loop, self._inputs, self._nv, *arguments)
                for name, (loop, *arguments) in calls.items()}
