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
"""C for the tests of exports: compilers, the interpreter behind ctypes, random states."""

from __future__ import annotations

import ctypes
from pathlib import Path
import shutil
import subprocess

import numpy as np
import pytest
from repository import PACKAGE
from ros2_rnea.export.tape import INPUTS

TAPE_C = PACKAGE / 'export' / 'tape.c'

COMPILERS = ('gcc', 'clang')
WARNINGS = ('-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wdouble-promotion', '-Werror')
LANGUAGES = {'C99': ('-std=c99',), 'C++': ('-x', 'c++', '-std=c++11')}

Doubles = ctypes.POINTER(ctypes.c_double)


def compiler(name: str = '') -> str:
    """Return a compiler, by default any; skip the test where there is none."""
    found = next(filter(None, map(shutil.which, [name] if name else ['cc', *COMPILERS])), None)
    if found is None:
        pytest.skip(f'there is no compiler {name or "cc, gcc or clang"} here')
    return found


def compiled(output: Path, *arguments: str | Path, using: str = '') -> Path:
    """Compile to an output file; what the compiler says, a warning too, fails the test."""
    command = [compiler(using), *WARNINGS, *map(str, arguments), '-o', str(output), '-lm']
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return output


def shared_library(folder: Path, source: Path, *options: str) -> ctypes.CDLL:
    """Return C as a library of this process; its products and sums are rounded one by one."""
    path = compiled(folder / f'{source.stem}.so', '-std=c99', '-O2', '-fPIC', '-shared',
                    '-ffp-contract=off', *options, source)
    return ctypes.CDLL(str(path))


class _Model(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in (
            'bytes', 'header', 'joints', 'bodies', 'parameters', 'values', 'tapes', 'text')),
        ('registers', ctypes.c_uint32)]


class _Inputs(ctypes.Structure):
    _fields_ = [(name, Doubles) for name in INPUTS]


class Interpreter:
    """``tape.c`` with one model file loaded."""

    def __init__(self, library: ctypes.CDLL, content: bytes, size: int | None = None) -> None:
        library.rnea_load.restype = ctypes.c_char_p
        library.rnea_find.restype = ctypes.c_void_p
        self._library = library
        self._content = np.zeros(len(content) // 8 + 1)  # aligned, and kept
        self._content.view(np.uint8)[:len(content)] = np.frombuffer(content, np.uint8)
        self._model = _Model()
        error = library.rnea_load(
            ctypes.c_void_p(self._content.ctypes.data),
            ctypes.c_size_t(len(content) if size is None else size), ctypes.byref(self._model))
        self.error = error and error.decode()

    @property
    def registers(self) -> int:
        """Return how many registers the largest tape needs."""
        return self._model.registers

    def run(self, quantity: str, inputs: dict, size: int) -> np.ndarray | None:
        """Return the numbers of a quantity, or None where a guard's bound is exceeded."""
        tape = self._library.rnea_find(ctypes.byref(self._model), quantity.encode())
        assert tape, quantity
        arrays = {name: np.ascontiguousarray(value, float) for name, value in inputs.items()}
        given = _Inputs(**{name: array.ctypes.data_as(Doubles) for name, array in arrays.items()})
        registers, output = np.full(self.registers, np.nan), np.full(size, np.nan)
        status = self._library.rnea_run(
            ctypes.byref(self._model), ctypes.c_void_p(tape), ctypes.byref(given),
            registers.ctypes.data_as(Doubles), output.ctypes.data_as(Doubles))
        assert status in (0, 1)
        return None if status else output


def random_inputs(robot, rng, parameters) -> dict:
    """Return all that tapes read, for a random state: arrays by the names of ``INPUTS``."""
    return {
        'q': robot.integrate(robot.neutral(), rng.uniform(-3.0, 3.0, robot.nv)),
        'qd': rng.uniform(-3.0, 3.0, robot.nv), 'qdd': rng.uniform(-3.0, 3.0, robot.nv),
        'tau': rng.uniform(-3.0, 3.0, robot.nv),
        'f_ext': rng.uniform(-10.0, 10.0, (len(robot.tree.bodies), 6)).ravel(),
        'parameters': parameters}
