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
"""Compiled contenders: a shared library that goes through the states, as a statement."""

from __future__ import annotations

from collections.abc import Callable
import ctypes
import os
from pathlib import Path
import shutil
import subprocess
from typing import Any

from benchmark.errors import Absent
from benchmark.problem import Problem, STATES
from benchmark.statement import Statement
import numpy as np

REPEATED = 16
"""How often C goes through the states in one call, so that the call itself costs nothing."""

OPTIMIZATION = '-O2'
"""Of everything that is compiled here and timed."""

SOURCES = Path(__file__).parent

FLAGS = (OPTIMIZATION, '-fPIC', '-shared', f'-DSTATES={STATES}', f'-DREPEATED={REPEATED}',
         f'-I{SOURCES}')
"""Of every shared library."""


def compiler(variable: str, usual: str, language: str) -> str:
    """
    Return the path of a compiler.

    :param variable: of the environment, which may name another one than the usual.
    :raises Absent: where it is not installed.
    """
    found = shutil.which(os.environ.get(variable, usual))
    if found is None:
        raise Absent(
            f'there is no {language} compiler; install one, or name it in ${variable}')
    return found


def run(*command: str | Path, **options: Any) -> str:
    """
    Run a program and return what it prints.

    :param options: of subprocess.run.
    :raises Absent: where it fails, with the first error that it names.
    """
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or [f'exit code {result.returncode}']
        error = next(
            (line for line in lines if 'error' in line or 'undefined' in line), lines[-1])
        raise Absent(f'{Path(command[0]).name} fails: {error}')
    return result.stdout


def sizes(nq: int, nv: int) -> tuple[str, ...]:
    """Return what ``loop.h`` needs besides ``FLAGS``."""
    return f'-DNQ={nq}', f'-DNV={nv}'


def rows_of(problem: Problem) -> np.ndarray:
    """Return q, qd and qdd of each state, one behind the other, shape (states, nq + 2 nv)."""
    return np.hstack(problem.states[:3])


def loop_statement(
        loop: Callable[..., Any], inputs: np.ndarray, nv: int, *arguments: Any,
        to_ours: Callable[[int, np.ndarray], np.ndarray] = lambda i, tau: tau) -> Statement:
    """
    Return the statement that calls a loop in C.

    :param loop: takes the inputs, where the efforts go, and the arguments.
    :param inputs: q, qd and qdd of each state in its own coordinates.
    :param to_ours: the efforts of state i in our coordinates.
    """
    inputs = np.ascontiguousarray(inputs)
    out = np.full((STATES, nv), np.nan)
    given = (*(ctypes.c_void_p(each.ctypes.data) for each in (inputs, out)), *arguments)
    return Statement(
        'loop(*arguments)', 'arguments', [given],
        {'loop': loop, 'inputs': inputs, 'out': out}, 'out',
        lambda _, efforts: np.array([to_ours(i, tau) for i, tau in enumerate(efforts)]),
        evaluations=STATES * REPEATED)
