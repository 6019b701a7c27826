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

The functions of a kernel that is loaded are found without a call of LLVM: llvmlite has one lock
for all calls of LLVM, which a compilation holds for as long as a minute.  So neither a call nor a
process that is forked during a compilation waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import logging
from typing import Any

import numpy as np
from ros2_rnea.dynamics.quantity_definition import Quantity
from ros2_rnea.kernels import llvm, machine
from ros2_rnea.kernels.cache import key_of, ObjectCache, open_cache
from ros2_rnea.kernels.robot_kernels import Kernels, VERSION
from ros2_rnea.kernels.tracing import KernelSpec, trace, Variant
from ros2_rnea.model.tree import Tree

Array = np.ndarray
Function = Callable[..., Any]

WRITERS = {'one': llvm.one, 'rows': llvm.rows}

LOGGER = logging.getLogger('ros2_rnea')

MANY_OPERATIONS = 20_000
"""Number of operations from which a compilation is announced in the log."""

OPERATIONS_A_SECOND = 3_500
"""Approximate number of operations compiled per second in kernels of that size."""


class CompiledKernels(Kernels):
    """
    The kernels of one robot as machine code.

    :param tree: without payloads.
    :param store: where object files are kept; None for the cache of this process.
    :param target: the CPU to compile for; None for this machine, which then also takes object
        files for :func:`.machine.portable`.
    """

    CODE = 'object file'

    def __init__(
            self,
            tree: Tree,
            store: ObjectCache | None = None,
            target: machine.Target | None = None) -> None:
        super().__init__(tree)
        self._store = store
        self._target = target

    def rows(self, quantity: Quantity, variant: Variant, parameters: Array) -> Function:
        """Return a function for many states: all arrays but the parameters have rows of states."""
        rows = super().rows(quantity, variant, parameters)
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

    def _load(self, spec: KernelSpec, code: bytes) -> machine.Loaded:
        return machine.load(code)

    def _say_what_is_not_used(self) -> None:
        # A caller who has given a store has to say why nothing can be stored in it.
        for text in what_is_not_used(cache()) if self._store is None else self._store.refused:
            say_once(text)

    def _key(self, spec: KernelSpec, target: machine.Target) -> str:
        return key_of(VERSION, self._signature, repr(spec.name), *machine.identity(target))


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


def _repeated(array: Array, count: int) -> Array:
    """Return a copy with so many rows: those of the array, and then its last one again."""
    return array[np.minimum(np.arange(count), len(array) - 1)]
