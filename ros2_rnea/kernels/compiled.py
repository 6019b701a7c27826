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
The kernels of one robot as machine code, made when they are first asked for.

Each is looked for in memory, then in the cache on disk, and only then compiled.  The key is the
tree and what is asked of it, so finding one needs no trace.

A kernel that is loaded is found without a lock, and its functions without a call of LLVM: llvmlite
has one lock for all calls of LLVM, which a compilation holds for as long as a minute.  So neither
a call nor a process that is forked during a compilation waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
import functools
import logging
from pathlib import Path
import threading
from typing import Any
import weakref

import numpy as np
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS
from ros2_rnea.dynamics.quantity_definition import Quantity
from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels import llvm, machine
from ros2_rnea.kernels.cache import key_of, ObjectCache, open_cache
from ros2_rnea.kernels.call import (
    check_arrays,
    KernelCall,
    one_call,
    Resolve,
    rows_call,
    Target,
)
from ros2_rnea.kernels.code_version import code_version
from ros2_rnea.kernels.tracing import (
    arrays,
    input_size,
    KernelSpec,
    PARAMETERS,
    trace,
    Variant,
)
from ros2_rnea.model.description import JointLimits
from ros2_rnea.model.tree import Tree

Array = np.ndarray
Function = Callable[..., Any]

WRITERS = {'one': llvm.one, 'rows': llvm.rows}

LOGGER = logging.getLogger('ros2_rnea')

MANY_OPERATIONS = 20_000
"""Number of operations from which a compilation is announced in the log."""

OPERATIONS_A_SECOND = 3_500
"""Approximate number of operations compiled per second in kernels of that size."""

SOURCES = ('dynamics', 'kernels', 'model', 'spatial')
"""The modules and packages that determine the machine code of kernels."""

VERSION = code_version(Path(__file__).parent.parent, SOURCES)
"""Version of the code that this process makes kernels with."""


class CompiledKernels:
    """
    The kernels of one robot.

    :param tree: without payloads.
    :param store: where object files are kept; None for the cache of this process.
    :param target: the CPU to compile for; None for this machine, which then also takes object
        files for :func:`.machine.portable`.
    """

    def __init__(
            self,
            tree: Tree,
            store: ObjectCache | None = None,
            target: machine.Target | None = None) -> None:
        self._tree = tree
        self._store = store
        self._target = target
        self._signature = signature(tree)
        self._loaded: dict[tuple[str, str, Variant], machine.Loaded] = {}
        self._locks: dict[tuple[str, str, Variant], threading.RLock] = {}
        self._predecessor: Callable[[], CompiledKernels | None] = lambda: None

    def successor(self) -> CompiledKernels:
        """
        Return kernels of the same tree, for a robot that takes the place of another one.

        A kernel that is loaded here is not loaded again there, as long as these kernels exist.
        The successor does not keep what its robot does not need; if both robots had the same
        kernels, those for all links that ever carried a payload would stay in memory.
        """
        other = copy(self)
        other._loaded, other._locks, other._predecessor = {}, {}, weakref.ref(self)
        return other

    def one(self, quantity: Quantity, variant: Variant, parameters: Array) -> Function:
        """Return a function ``f(*inputs, output) -> bool`` for one state."""
        return one_call(
            self.kernel('one', quantity, variant), self._shapes(quantity, variant), parameters)

    def rows(self, quantity: Quantity, variant: Variant, parameters: Array) -> Function:
        """Return a function for many states: all arrays but the parameters have rows of states."""
        rows = rows_call(
            self.kernel('rows', quantity, variant), self._shapes(quantity, variant), parameters)
        width = machine.host().width

        def call(*given: Array) -> bool:
            count = len(given[-1])
            if count == 0 or count >= width:
                return count == 0 or rows(*given)
            enough = [_repeated(array, width) for array in given]
            done = rows(*enough)
            if done:
                given[-1][...] = enough[-1][:count]
            return done

        return call

    def call(self, quantity: Quantity, resolve: Resolve, general: Function) -> Function:
        """
        Return what calls a quantity's kernel for one state, made when it is first called.

        :param resolve: its argument tells whether there are wrenches; see :meth:`target`.
        :param general: see :class:`.PythonKernelCall`.
        """
        return KernelCall(*self._arguments(quantity), resolve, general)

    def bound(
            self, quantity: Quantity, arrays: Sequence[Array], resolve: Resolve,
            general: Function) -> Function:
        """
        Return a call without arguments, which reads and writes the given arrays each time.

        :param arrays: the inputs, the wrenches if there are any, and the output.
        :raises ArgumentError: where machine code may not access one of them.
        """
        names, shapes, required = self._arguments(quantity)
        if len(arrays) < len(names):  # without wrenches
            check_arrays(arrays, (*shapes[:required], shapes[-1]))
            given = *arrays[:-1], None, arrays[-1]
        else:
            check_arrays(arrays, shapes)
            given = *arrays,
        return KernelCall(names, shapes, required, resolve, general, given)

    def target(self, quantity: Quantity, variant: Variant, parameters: Array) -> Target:
        """Return what a call needs of a kernel; load or compile it first."""
        kernel = self.kernel('one', quantity, variant)
        return kernel, kernel.address('one'), parameters

    def kernel(self, function: str, quantity: Quantity, variant: Variant) -> machine.Loaded:
        """Return the machine code of ``one`` or ``rows``, loaded or compiled if needed."""
        spec = KernelSpec(function, quantity, variant.relevant_to(quantity))
        loaded = self._loaded.get(spec.name)
        if loaded is None:
            with self._locks.setdefault(spec.name, threading.RLock()):
                loaded = self._loaded.get(spec.name)  # another thread may have been first
                if loaded is None:
                    loaded = self._keep(spec, self.code(spec))
        return loaded

    def code(self, spec: KernelSpec) -> bytes:
        """Return the object file of a kernel, from the cache or the compiler."""
        code = self.cached(spec)
        if code is None:
            traced = trace(self._tree, spec.quantity, spec.variant)
            operations = sum(traced.graph.count(traced.outputs).values())
            if operations > MANY_OPERATIONS:
                LOGGER.info(
                    f'compiling {spec.quantity.name} of {self._tree.name!r}, {operations} '
                    f'operations: about {operations // OPERATIONS_A_SECOND + 1} s, once')
            target = self._target or machine.host()
            text = WRITERS[spec.function](traced, target)
            text += f'@{self._symbol(spec)} = constant i8 0\n'  # the object file's name
            code = machine.compile_object(text, target)
            (self._store or cache()).put(self._key(spec, target), code)
            self._say_what_is_not_used()
        return code

    def cached(self, spec: KernelSpec) -> bytes | None:
        """Return the object file of a kernel if it need not be compiled."""
        host = machine.host()
        targets = [self._target or host]
        if self._target is None and spec.function == 'one':  # rows are laid out for one width
            targets.extend(machine.portable(host))
        store = self._store or cache()
        code = None
        for target in targets:
            if code is None:
                code = store.get(self._key(spec, target))
        self._say_what_is_not_used()
        return code

    def _say_what_is_not_used(self) -> None:
        # A caller who has given a store has to say why nothing can be stored in it.
        for text in what_is_not_used(cache()) if self._store is None else self._store.refused:
            say_once(text)

    def load(self, spec: KernelSpec, code: bytes) -> None:
        """
        Load a kernel's object file, which was made for this tree on this machine.

        :raises CompilerError: where it is no object file, or that of another kernel.
        """
        if self._symbol(spec).encode() not in code:
            raise CompilerError(f'{len(code)} bytes are no object file of {spec.quantity.name} of '
                                f'{self._tree.name!r}')
        if spec.name in self._loaded:
            return
        before = self._predecessor()
        loaded = None if before is None else before._loaded.get(spec.name)
        if loaded is None:
            self._keep(spec, code)
        else:
            self._loaded.setdefault(spec.name, loaded)

    def _keep(self, spec: KernelSpec, code: bytes) -> machine.Loaded:
        """Load a kernel's object file, or return the one that another thread has loaded first."""
        loaded = machine.load(code)
        loaded.address(spec.function)  # which is known from now on
        return self._loaded.setdefault(spec.name, loaded)

    def _symbol(self, spec: KernelSpec) -> str:
        return f'kernel_{identity(self._signature, spec)}'

    def _key(self, spec: KernelSpec, target: machine.Target) -> str:
        return key_of(VERSION, self._signature, repr(spec.name), *machine.identity(target))

    def _arguments(
            self, quantity: Quantity) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...], int]:
        """Return names and shapes of a call's arguments, and how many inputs it always needs."""
        variant = Variant(wrenches=True)
        names = [name for name in arrays(quantity, variant) if name != PARAMETERS]
        shapes = tuple(self._shapes(quantity, variant))
        return (*names, 'out'), shapes, len(quantity.inputs)

    def _shapes(self, quantity: Quantity, variant: Variant) -> list[tuple[int, ...]]:
        """Return the shapes of the inputs, parameters left out, and of the output."""
        names = [name for name in arrays(quantity, variant) if name != PARAMETERS]
        sizes = [input_size(self._tree, name) for name in names]
        return [*((size // 6, 6) if name == 'f_ext' else (size,)
                  for name, size in zip(names, sizes)), quantity.shape(self._tree)]


@functools.cache
def say_once(message: str) -> None:
    """Log a warning, unless this process has logged it already."""
    LOGGER.warning(message)


def what_is_not_used(store: ObjectCache) -> list[str]:
    """Return why shipped object files are not used, and why others are kept in memory only."""
    memory = f'compiled robots are kept in memory only: {store.reason}' if store.reason else ''
    return [*store.refused, *filter(None, [memory])]


@functools.cache
def cache() -> ObjectCache:
    """Return the cache of this process."""
    return open_cache()


def signature(tree: Tree) -> str:
    """Return everything in a tree that kernels depend on, except for their inputs."""
    unset: dict[str, Any] = dict.fromkeys(JOINT_PARAMETERS, 0.0)
    bodies = [
        replace(body, joint='', link='', limits=JointLimits(), **unset) for body in tree.bodies]
    return repr((bodies, list(tree.links.items())))


def identity(signature_: str, spec: KernelSpec) -> str:
    """
    Return what tells a kernel from all others, on whatever CPU.

    :param signature_: of the tree, see :func:`signature`.
    """
    return key_of(VERSION, signature_, repr(spec.name))


def _repeated(array: Array, count: int) -> Array:
    """Return a copy with so many rows: those of the array, and then its last one again."""
    return array[np.minimum(np.arange(count), len(array) - 1)]
