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
"""The engines that compute the dynamics of a robot, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
import os
from typing import NamedTuple, Protocol

import numpy as np
from ros2_rnea.dynamics.quantity_definition import Quantity
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import call, machine
from ros2_rnea.kernels.compiled import (
    cache,
    CompiledKernels,
    say_once,
    what_is_not_used,
)
from ros2_rnea.kernels.python import PythonKernels
from ros2_rnea.kernels.tracing import KernelSpec, Variant
from ros2_rnea.model.tree import Tree

VARIABLE = 'ROS2_RNEA_ENGINE'
"""The environment variable with the engine of robots for which none is given."""


class Engine(Enum):
    """
    How the dynamics of a robot is computed; the results are equal except for rounding.

    COMPILED: by machine code for this robot, which needs llvmlite.  PYTHON: by Python's text for
    this robot.  TEXTBOOK: by the algorithms as they stand in ``dynamics/``, step by step.
    """

    COMPILED = 'compiled'
    PYTHON = 'python'
    TEXTBOOK = 'textbook'


class Compilation(NamedTuple):
    """
    A kernel that is about to be compiled.

    :ivar quantity: the name of what it computes.
    :ivar number: of the kernel, from 1 to ``total``.
    :ivar total: how many kernels have to be compiled.
    """

    quantity: str
    number: int
    total: int


class Kernels(Protocol):
    """The kernels of one robot, made when they are first asked for."""

    def successor(self) -> Kernels:
        """Return kernels of the same tree, for a robot that takes the place of another one."""

    def one(
            self, quantity: Quantity, variant: Variant, parameters: np.ndarray,
            ) -> Callable[..., bool]:
        """Return a function ``f(*inputs, output) -> done`` for one state."""

    def rows(
            self, quantity: Quantity, variant: Variant, parameters: np.ndarray,
            ) -> Callable[..., bool]:
        """Return a function for many states: all arrays but the parameters have rows of states."""

    def cached(self, spec: KernelSpec) -> bytes | None:
        """Return what :meth:`code` does if nothing has to be compiled for it; else None."""

    def code(self, spec: KernelSpec) -> bytes:
        """Return a kernel in a form that another process can load."""

    def load(self, spec: KernelSpec, code: bytes) -> None:
        """
        Load what :meth:`code` of the same robot returned in another process.

        :raises CompilerError: where it is no code, or that of another kernel.
        """


def engine_of(wish: Engine | str | None) -> Engine:
    """
    Return the engine that a user asks for, or the fastest that is available.

    :raises ArgumentError: where there is none of that name, or it needs what is not installed.
    """
    wish = wish or os.environ.get(VARIABLE) or None
    if wish is None:
        if machine.available():
            return Engine.COMPILED
        say_once(_WITHOUT_LLVMLITE)
        return Engine.PYTHON
    try:
        engine = Engine(wish)
    except ValueError as error:
        names = ', '.join(repr(known.value) for known in Engine)
        raise ArgumentError(f'the engine is {wish!r}; there are {names}') from error
    if engine is Engine.COMPILED and not machine.available():
        raise ArgumentError(
            "the engine 'compiled' needs llvmlite, which is not installed; 'python' does not")
    return engine


def kernels_of(tree: Tree, engine: Engine) -> Kernels | None:
    """Return the factory of a robot's kernels; None for the textbook, which has none."""
    if engine is Engine.TEXTBOOK:
        return None
    if engine is Engine.PYTHON:
        return PythonKernels(tree)
    for text in what_is_not_used(cache()):
        say_once(text)
    if call.EXTENSION_ERROR:
        say_once(_without_extension())
    return CompiledKernels(tree)


def reason_for_slow_calls() -> str:
    """
    Return why robots are computed slower here than they could be; empty where they are not.

    An engine that the environment variable asks for is as fast as the user wants.
    """
    if os.environ.get(VARIABLE):
        return ''
    if not machine.available():
        return _WITHOUT_LLVMLITE
    return _without_extension() if call.EXTENSION_ERROR else ''


_WITHOUT_LLVMLITE = (
    'llvmlite is not installed: robots are computed in Python, hundreds of times slower; install '
    'it as python3-numba or with pip')


def _without_extension() -> str:
    return (
        'kernels are called from Python, which takes microseconds longer: ros2_rnea was installed '
        'without its extension in C; with a C compiler, Python.h and NumPy, install it again '
        f'({call.EXTENSION_ERROR})')
