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

from enum import Enum
import os
from typing import NamedTuple

from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import call, machine
from ros2_rnea.kernels.compiled import (
    cache,
    CompiledKernels,
    say_once,
    what_is_not_used,
)
from ros2_rnea.kernels.robot_kernels import Kernels
from ros2_rnea.kernels.taped import TapeKernels
from ros2_rnea.model.tree import Tree

VARIABLE = 'ROS2_RNEA_ENGINE'
"""The environment variable with the engine of robots for which none is given."""


class Engine(Enum):
    """
    How the dynamics of a robot is computed; the results are equal except for rounding.

    COMPILED: by machine code for this robot, which needs llvmlite.  TAPE: by a list of operations
    for this robot, which needs the extension in C.  TEXTBOOK: by the algorithms as they stand in
    ``dynamics/``, step by step.
    """

    COMPILED = 'compiled'
    TAPE = 'tape'
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


def engine_of(wish: Engine | str | None) -> Engine:
    """
    Return the engine that a user asks for, or the fastest that is available.

    :raises ArgumentError: where there is none of that name, or it needs what is not installed.
    """
    wish = wish or os.environ.get(VARIABLE) or None
    if wish is None:
        if machine.available():
            return Engine.COMPILED
        say_once(_without_llvmlite())
        return Engine.TEXTBOOK if call.EXTENSION_ERROR else Engine.TAPE
    try:
        engine = Engine(wish)
    except ValueError as error:
        names = ', '.join(repr(known.value) for known in Engine)
        raise ArgumentError(f'the engine is {wish!r}; there are {names}') from error
    if engine is Engine.COMPILED and not machine.available():
        raise ArgumentError(
            "the engine 'compiled' needs llvmlite, which is not installed; 'tape' and 'textbook' "
            'do not')
    if engine is Engine.TAPE and call.EXTENSION_ERROR:
        raise ArgumentError(
            "the engine 'tape' needs the extension in C, without which ros2_rnea was installed "
            f"({call.EXTENSION_ERROR}); 'textbook' does not")
    return engine


def kernels_of(tree: Tree, engine: Engine) -> Kernels | None:
    """Return the factory of a robot's kernels; None for the textbook, which has none."""
    if engine is Engine.TEXTBOOK:
        return None
    if engine is Engine.TAPE:
        return TapeKernels(tree)
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
        return _without_llvmlite()
    return _without_extension() if call.EXTENSION_ERROR else ''


def _without_llvmlite() -> str:
    if not call.EXTENSION_ERROR:
        return ('llvmlite is not installed: robots are computed as tapes, several times '
                'slower; install it as python3-numba or with pip')
    return ('llvmlite is not installed, nor is the extension in C of ros2_rnea: robots are '
            'computed in Python, a thousand times slower; install llvmlite as python3-numba or '
            'with pip, or, with a C compiler, Python.h and NumPy, ros2_rnea again '
            f'({call.EXTENSION_ERROR})')


def _without_extension() -> str:
    return (
        'kernels are called from Python, which takes microseconds longer: ros2_rnea was installed '
        'without its extension in C; with a C compiler, Python.h and NumPy, install it again '
        f'({call.EXTENSION_ERROR})')
