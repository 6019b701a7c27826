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
The graph as Python's text, for machines without LLVM: slower, with the same answers.

One text serves for one state and for many: its names stand for floats, or for NumPy columns with
a number for each row.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import marshal
from math import inf, nan
from typing import Any

import numpy as np
from ros2_rnea import spatial
from ros2_rnea.dynamics.quantity_definition import Quantity
from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels.compiled import identity, signature
from ros2_rnea.kernels.graph import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    Expression,
    Graph,
    INPUT,
    MULTIPLY,
    Operation,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Symbol,
)
from ros2_rnea.kernels.tracing import KernelSpec, Trace, trace, Variant
from ros2_rnea.model.tree import Tree

Array = np.ndarray
Function = Callable[..., Any]

FORMS = {
    ADD: '{} + {}',
    SUBTRACT: '{} - {}',
    MULTIPLY: '{} * {}',
    DIVIDE: 'quotient({}, {})',
    SINE: 'sin({})',
    COSINE: 'cos({})',
    SQUARE_ROOT: 'sqrt({})',
}

VOCABULARY = {
    'inf': inf, 'nan': nan,  # constants that are not finite are written so
    **{name: getattr(spatial, name) for name in ('quotient', 'sin', 'cos', 'sqrt')}}


class PythonKernels:
    """The kernels of one robot as functions in Python, made when they are first asked for."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._made: dict[tuple[str, str, Variant], Function] = {}

    def successor(self) -> PythonKernels:
        """
        Return kernels of the same tree, for a robot that takes the place of another one.

        Nothing is shared, since a function in Python is quickly made from its bytecode.
        """
        return PythonKernels(self._tree)

    def one(self, quantity: Quantity, variant: Variant, parameters: Array) -> Function:
        """Return a function ``f(*inputs, output) -> True`` for one state."""
        function = self._function(quantity, variant)

        def call(*arrays: Array) -> bool:
            *inputs, output = arrays
            numbers = function(
                *(array.ravel().tolist() for array in inputs), parameters.tolist())
            output[...] = np.reshape(numbers, output.shape)
            return True

        return call

    def rows(self, quantity: Quantity, variant: Variant, parameters: Array) -> Function:
        """Return a function for many states: all arrays but the parameters have rows of states."""
        function = self._function(quantity, variant)

        def call(*arrays: Array) -> bool:
            *inputs, output = arrays
            count = len(output)
            columns = function(*(_columns(array) for array in inputs), parameters.tolist())
            flat = np.empty((count, len(columns)))
            for place, column in enumerate(columns):
                flat[:, place] = column
            output[...] = flat.reshape(output.shape)
            return True

        return call

    def cached(self, spec: KernelSpec) -> None:
        """Return None: bytecode is kept in no cache."""

    def code(self, spec: KernelSpec) -> bytes:
        """Return a kernel's bytecode, which only this version of Python understands."""
        text = source(trace(self._tree, spec.quantity, spec.variant))
        name = f'<{spec.quantity.name} of {self._tree.name}>'
        return marshal.dumps((identity(self._signature, spec), compile(text, name, 'exec')))

    def load(self, spec: KernelSpec, code: bytes) -> None:
        """
        Load a kernel's bytecode, which was made for this tree by this version of Python.

        :raises CompilerError: where it is no bytecode, or that of another kernel.
        """
        try:
            made_for, program = marshal.loads(code)
        except (EOFError, TypeError, ValueError) as error:
            raise CompilerError(f'{len(code)} bytes are no bytecode: {error}') from error
        if made_for != identity(self._signature, spec):
            raise CompilerError(f'{len(code)} bytes are no bytecode of {spec.quantity.name} of '
                                f'{self._tree.name!r}')
        namespace = dict(VOCABULARY)
        exec(program, namespace)
        self._made[spec.name] = namespace['kernel']

    @functools.cached_property
    def _signature(self) -> str:
        return signature(self._tree)

    def _function(self, quantity: Quantity, variant: Variant) -> Function:
        spec = KernelSpec('one', quantity, variant.relevant_to(quantity))  # and for rows
        if spec.name not in self._made:
            self.load(spec, self.code(spec))
        return self._made[spec.name]


def _columns(array: Array) -> list[Array]:
    return list(array.reshape(len(array), int(np.prod(array.shape[1:]))).T)


def source(trace_: Trace) -> str:
    """Return a function ``kernel`` of the inputs, as sequences, that returns the outputs."""
    graph = trace_.graph
    lines = [f'def kernel({", ".join(name for name, _ in trace_.inputs)}):']
    for node in graph.needed(trace_.outputs):
        operation = graph.operations[node]
        if operation.kind != CONSTANT:
            lines.append(f'    n{node} = {_form(graph, operation)}')
    lines.append(f'    return [{", ".join(_value(graph, out) for out in trace_.outputs)}]')
    return '\n'.join([*lines, ''])


def _form(graph: Graph, operation: Operation) -> str:
    if operation.kind == INPUT:
        return f'{operation.left}[{operation.right}]'
    operands = (operation.left, operation.right)[:FORMS[operation.kind].count('{}')]
    return FORMS[operation.kind].format(*(_name(graph, node) for node in operands))


def _name(graph: Graph, node: int) -> str:
    kind, value, _ = graph.operations[node]
    return repr(value) if kind == CONSTANT else f'n{node}'


def _value(graph: Graph, expression: Expression) -> str:
    if not isinstance(expression, Symbol):
        return repr(float(expression))
    return ('-' if expression.negative else '') + _name(graph, expression.node)
