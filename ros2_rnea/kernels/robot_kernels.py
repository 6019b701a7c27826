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
The kernels of one robot: found or made when they are first asked for, and called.

A kernel that is loaded is found without a lock, so that no call waits while another one is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
import threading
from typing import Any
import weakref

import numpy as np
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS
from ros2_rnea.dynamics.quantity_definition import Quantity
from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels.cache import key_of
from ros2_rnea.kernels.call import (
    check_arrays,
    Kernel,
    KernelCall,
    one_call,
    Resolve,
    rows_call,
    Target,
)
from ros2_rnea.kernels.code_version import code_version
from ros2_rnea.kernels.tracing import arrays, input_size, KernelSpec, PARAMETERS, Variant
from ros2_rnea.model.description import JointLimits
from ros2_rnea.model.tree import Tree

Array = np.ndarray
Function = Callable[..., Any]

SOURCES = ('dynamics', 'kernels', 'model', 'spatial')
"""The modules and packages that determine kernels."""

VERSION = code_version(Path(__file__).parent.parent, SOURCES)
"""Version of the code that this process makes kernels with."""


class Kernels:
    """
    The kernels of one robot.

    :param tree: without payloads.
    :cvar CODE: what their code is, in a word.
    """

    CODE = ''

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._signature = signature(tree)
        self._loaded: dict[tuple[str, str, Variant], Kernel] = {}
        self._locks: dict[tuple[str, str, Variant], threading.RLock] = {}
        self._predecessor: Callable[[], Kernels | None] = lambda: None

    def successor(self) -> Kernels:
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
        return rows_call(
            self.kernel('rows', quantity, variant), self._shapes(quantity, variant), parameters)

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
        :raises ArgumentError: where a kernel may not access one of them.
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
        """Return what a call needs of a kernel; load or make it first."""
        kernel = self.kernel('one', quantity, variant)
        return kernel, kernel.address('one'), kernel.context, parameters

    def kernel(self, function: str, quantity: Quantity, variant: Variant) -> Kernel:
        """Return the kernel with the function ``one`` or ``rows``, loaded or made if needed."""
        spec = KernelSpec(function, quantity, variant.relevant_to(quantity))
        loaded = self._loaded.get(spec.name)
        if loaded is None:
            with self._locks.setdefault(spec.name, threading.RLock()):
                loaded = self._loaded.get(spec.name)  # another thread may have been first
                if loaded is None:
                    loaded = self._keep(spec, self.code(spec))
        return loaded

    def cached(self, spec: KernelSpec) -> bytes | None:
        """Return what :meth:`code` does if nothing has to be compiled for it; else None."""
        raise NotImplementedError

    def code(self, spec: KernelSpec) -> bytes:
        """Return a kernel in a form that another process can load."""
        raise NotImplementedError

    def load(self, spec: KernelSpec, code: bytes) -> None:
        """
        Load what :meth:`code` of the same robot returned in another process on this machine.

        :raises CompilerError: where it is no code, or that of another kernel.
        """
        if self._symbol(spec).encode() not in code:
            raise CompilerError(f'{len(code)} bytes are no {self.CODE} of {spec.quantity.name} of '
                                f'{self._tree.name!r}')
        if spec.name in self._loaded:
            return
        before = self._predecessor()
        loaded = None if before is None else before._loaded.get(spec.name)
        if loaded is None:
            self._keep(spec, code)
        else:
            self._loaded.setdefault(spec.name, loaded)

    def _keep(self, spec: KernelSpec, code: bytes) -> Kernel:
        """Load a kernel's code, or return the kernel that another thread has loaded first."""
        loaded = self._load(spec, code)
        loaded.address(spec.function)  # which is known from now on
        return self._loaded.setdefault(spec.name, loaded)

    def _load(self, spec: KernelSpec, code: bytes) -> Kernel:
        """
        Return the kernel of its code.

        :raises CompilerError: where it is none.
        """
        raise NotImplementedError

    def _symbol(self, spec: KernelSpec) -> str:
        return f'kernel_{identity(self._signature, spec)}'

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
