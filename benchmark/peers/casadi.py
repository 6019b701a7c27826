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
CasADi's generated C: the textbook of ``ros2_rnea.dynamics`` traced by CasADi, compiled by gcc.

PyPI's Pinocchio comes without ``pinocchio.casadi``, and the textbook takes numbers of any kind.
It is called through FunctionBuffer, CasADi's shortest way from Python, bound to arrays beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
import os
from pathlib import Path
import shutil
import subprocess
from typing import Any, ClassVar

from benchmark.errors import Absent
from benchmark.machine import cpu_model
from benchmark.problem import GRAVITY, Problem
from benchmark.statement import Statement
import casadi
import numpy as np
from ros2_rnea.dynamics import rnea
from ros2_rnea.dynamics.aba import forward_dynamics
from ros2_rnea.dynamics.crba import mass_matrix
from ros2_rnea.spatial import Force, Vector

FLAGS = ('-O3', '-march=native', '-fPIC', '-shared')

CACHE = Path('out', 'benchmark', 'casadi')
"""Compiled code stays here, by its content, for the next run."""

MAX_OPERATIONS = 60_000
"""gcc takes minutes for more."""

if hasattr(casadi.GlobalOptions, 'setNumpyMode'):
    casadi.GlobalOptions.setNumpyMode(-1)  # numpy.sin of a symbol is a symbol, without a warning


class CasADi:
    """Functions of one robot, in our own coordinates."""

    WITHOUT: ClassVar[dict[str, str]] = {
        'derivatives': 'ours differentiates in the tangent of a floating base; CasADi does not',
    }

    def __init__(self, problem: Problem) -> None:
        if shutil.which('gcc') is None:
            raise Absent('there is no gcc to compile what it generates')
        self._problem = problem
        self._tree = tree = problem.robot.tree
        self._q = casadi.SX.sym('q', tree.nq)
        self._qd, self._qdd, self._tau = (
            casadi.SX.sym(name, tree.nv) for name in ('qd', 'qdd', 'tau'))
        self._gravity = Vector(*GRAVITY)
        self._vector = (tree.nv,)
        self._matrix = (tree.nv, tree.nv)

    def inverse_dynamics(self) -> Statement:
        return self._statement('q qd qdd', self._rnea(self._qd, self._qdd), self._vector)

    def bound(self) -> Statement:
        return self.inverse_dynamics()

    def gravity(self) -> Statement:
        return self._statement('q', self._rnea(None, None), self._vector)

    def bias(self) -> Statement:
        return self._statement('q qd', self._rnea(self._qd, None), self._vector)

    def mass_matrix(self) -> Statement:
        rows = mass_matrix(self._tree, casadi.vertsplit(self._q))
        return self._statement('q', casadi.blockcat(rows), self._matrix)

    def f_ext(self) -> Statement:
        wrenches = casadi.SX.sym('f_ext', 6, len(self._tree.bodies))
        forces = {i: Force(Vector(*column[:3]), Vector(*column[3:]))
                  for i, column in enumerate(map(casadi.vertsplit, casadi.horzsplit(wrenches)))}
        return self._statement(
            'q qd qdd f_ext', self._rnea(self._qd, self._qdd, forces), self._vector, wrenches)

    def forward_dynamics(self) -> Statement:
        q, qd, tau = map(casadi.vertsplit, (self._q, self._qd, self._tau))
        accelerations = forward_dynamics(self._tree, q, qd, tau, self._gravity)
        return self._statement('q qd tau', casadi.vertcat(*accelerations), self._vector)

    def derivatives(self) -> Statement:
        if self._problem.floating_base:
            raise Absent(self.WITHOUT['derivatives'])
        motion = self._q, self._qd, self._qdd
        tau = self._rnea(self._qd, self._qdd)
        return self._statement(
            'q qd qdd', casadi.horzcat(*(casadi.jacobian(tau, x) for x in motion)),
            (3, *self._matrix))

    def _rnea(self, qd: Any, qdd: Any, f_ext: dict[int, Force] | None = None) -> Any:
        zeros = [0.0] * self._tree.nv
        return casadi.vertcat(*rnea.inverse_dynamics(
            self._tree, casadi.vertsplit(self._q),
            zeros if qd is None else casadi.vertsplit(qd),
            zeros if qdd is None else casadi.vertsplit(qdd), self._gravity, f_ext))

    def batch(self) -> Statement:
        batch = self._problem.batch
        count = len(batch.q)
        motion = (self._q, self._qd, self._qdd)
        function = compiled(casadi.Function('f', motion, [self._rnea(*motion[1:])])).map(count)
        out = np.empty((count, self._tree.nv))
        return self._buffered(function, [(batch.q, batch.qd, batch.qdd)], out, Statement(
            'evaluate()', '(evaluate,)', [], {}, 'out', evaluations=count,
            remark='Function.map of the compiled function, through FunctionBuffer'))

    def _statement(
            self, inputs: str, expression: Any, shape: tuple[int, ...], wrenches: Any = None,
            ) -> Statement:
        """
        Return the statement that evaluates an expression of these inputs, compiled.

        :param shape: of the answer in our coordinates; CasADi stores columns.
        """
        symbols = {'q': self._q, 'qd': self._qd, 'qdd': self._qdd, 'tau': self._tau,
                   'f_ext': wrenches}
        names = inputs.split()
        function = compiled(casadi.Function(
            'f', [symbols[name] for name in names], [casadi.densify(expression)]))
        states = self._problem.states
        rows = list(zip(*(getattr(states, name) for name in names)))
        return self._buffered(function, rows, np.empty(shape), Statement(
            'evaluate()', '(evaluate,)', [], {}, 'out', _from_columns,
            remark=f'FunctionBuffer of compiled C, bound to ({", ".join(names)}) beforehand'))

    def _buffered(
            self, function: Any, inputs: Sequence[tuple[np.ndarray, ...]], out: np.ndarray,
            statement: Statement) -> Statement:
        """Return a statement with a function bound to each row's inputs and to ``out``."""
        buffers, rows = [], []
        for arrays in inputs:
            buffer, evaluate = function.buffer()
            for i, array in enumerate(arrays):
                buffer.set_arg(i, array.data)
            buffer.set_res(0, out.data)
            buffers.append((buffer, arrays))
            rows.append((evaluate,))
        return replace(statement, rows=rows, names={'out': out, 'buffers': buffers})


def _from_columns(i: int, answer: np.ndarray) -> np.ndarray:
    return answer.copy() if answer.ndim == 1 else np.swapaxes(answer, -1, -2).copy()


def compiled(function: Any) -> Any:
    """
    Return a function as machine code.

    :raises Absent: where it is too large for a C compiler.
    """
    operations = function.n_instructions()
    if operations > MAX_OPERATIONS:
        raise Absent(f'its C has {operations} operations, for which gcc takes minutes')
    generator = casadi.CodeGenerator('f.c')
    generator.add(function)
    source = generator.dump()
    CACHE.mkdir(parents=True, exist_ok=True)
    key = '\n'.join([source, *FLAGS, cpu_model()])
    library = CACHE / f'{sha256(key.encode()).hexdigest()[:16]}.so'
    if not library.exists():
        unfinished = library.with_suffix(f'.{os.getpid()}')
        subprocess.run(
            ['gcc', *FLAGS, '-x', 'c', '-', '-o', str(unfinished), '-lm'], input=source,
            text=True, check=True)
        unfinished.replace(library)
    return casadi.external('f', str(library.resolve()))
