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
A traced quantity as data: operations on numbered registers, in runs of one kind.

The first registers are numbers that are read from the inputs, then come constants, then the
results of all operations, each in a register of its own.  So an operation needs no more than the
registers of its operands, and those of a run write registers that lie side by side.  An
interpreter (``tape.c``, or :func:`evaluate`) branches once for a run, not for each operation.

A product that only one sum or difference needs is computed together with it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from ros2_rnea import spatial
from ros2_rnea.dynamics.quantity_definition import WRENCHES
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels.graph import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    Expression,
    INPUT,
    MULTIPLY,
    Operation,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Symbol,
)
from ros2_rnea.kernels.tracing import PARAMETERS, Trace

INPUTS = ('q', 'qd', 'qdd', 'tau', WRENCHES, PARAMETERS)
"""The arrays that a tape may read; a tape names them by their place here."""

MOST_REGISTERS = 1 << 16
"""A register is named by 16 bits, and so is a place of an input."""


class Kind(IntEnum):
    """What the operations of a run do; the numbers are those of the file."""

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    MULTIPLY_ADD = 3
    MULTIPLY_SUBTRACT = 4
    SUBTRACT_PRODUCT = 5
    DIVIDE = 6
    SQUARE_ROOT = 7
    SINE_COSINE = 8


FUNCTIONS: dict[Kind, Callable[..., tuple[Any, ...]]] = {
    Kind.ADD: lambda a, b: (a + b,),
    Kind.SUBTRACT: lambda a, b: (a - b,),
    Kind.MULTIPLY: lambda a, b: (a * b,),
    Kind.MULTIPLY_ADD: lambda a, b, c: (a * b + c,),
    Kind.MULTIPLY_SUBTRACT: lambda a, b, c: (a * b - c,),
    Kind.SUBTRACT_PRODUCT: lambda a, b, c: (c - a * b,),
    Kind.DIVIDE: lambda a, b: (spatial.quotient(a, b),),
    Kind.SQUARE_ROOT: lambda a: (spatial.sqrt(a),),
    Kind.SINE_COSINE: lambda a: (spatial.sin(a), spatial.cos(a)),
}
"""The results of each kind of operation, of its operands."""

OPERANDS = {kind: function.__code__.co_argcount for kind, function in FUNCTIONS.items()}
RESULTS = {kind: 2 if kind is Kind.SINE_COSINE else 1 for kind in Kind}

PLAIN = {ADD: Kind.ADD, SUBTRACT: Kind.SUBTRACT, MULTIPLY: Kind.MULTIPLY, DIVIDE: Kind.DIVIDE,
         SQUARE_ROOT: Kind.SQUARE_ROOT}
PRODUCT_ON_THE_LEFT = {ADD: Kind.MULTIPLY_ADD, SUBTRACT: Kind.MULTIPLY_SUBTRACT}
PRODUCT_ON_THE_RIGHT = {ADD: Kind.MULTIPLY_ADD, SUBTRACT: Kind.SUBTRACT_PRODUCT}


class Run(NamedTuple):
    """Operations of one kind, one after the other: the registers of the operands of each."""

    kind: Kind
    operands: tuple[tuple[int, ...], ...]


class Load(NamedTuple):
    """The number at a place of an input, one of ``INPUTS``."""

    array: str
    place: int


class TapeGuard(NamedTuple):
    """A register whose magnitude must not exceed a bound; see :class:`.tracing.Guard`."""

    register: int
    bound: float
    nan: bool


@dataclass(frozen=True)
class Tape:
    """
    A quantity as operations on registers.

    :ivar shape: of the result, rows and columns; a vector is one row.
    :ivar loads: what the first registers hold.
    :ivar constants: what the registers after those hold.
    :ivar outputs: the registers of the result's numbers, row by row.
    """

    name: str
    shape: tuple[int, int]
    loads: tuple[Load, ...]
    constants: tuple[float, ...]
    guards: tuple[TapeGuard, ...]
    runs: tuple[Run, ...]
    outputs: tuple[int, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the arrays that it reads, of ``INPUTS``."""
        read = {load.array for load in self.loads}
        return tuple(name for name in INPUTS if name in read)

    @property
    def operations(self) -> int:
        """Return how many operations it has; a sine with its cosine is one."""
        return sum(len(run.operands) for run in self.runs)

    @property
    def registers(self) -> int:
        """Return how many registers it needs."""
        return len(self.loads) + len(self.constants) + sum(
            RESULTS[run.kind] * len(run.operands) for run in self.runs)


def evaluate(tape: Tape, inputs: Mapping[str, Sequence[Any]]) -> list[Any] | None:
    """
    Return the numbers of a tape's result, row by row; None where a guard's bound is exceeded.

    It is the reference for interpreters in other languages.

    :param inputs: floats by the names of ``INPUTS``.
    """
    registers = [*(inputs[array][place] for array, place in tape.loads), *tape.constants]
    for kind, operands in tape.runs:
        for operation in operands:
            registers += FUNCTIONS[kind](*(registers[place] for place in operation))
    for register, bound, nan in tape.guards:
        value = abs(registers[register])
        if value > bound or (nan and value != value):
            return None
    return [registers[place] for place in tape.outputs]


# ---- as bytes -----------------------------------------------------------------------------------

TAPE_FIELDS = ('name', 'rows', 'columns', 'inputs', 'loads', 'constants', 'guards', 'runs',
               'operands', 'registers', 'data', 'unused')
"""The whole numbers of the structure ``rnea_tape``, of 4 bytes each."""

GUARD = np.dtype([('bound', '<f8'), ('register', '<u4'), ('nan', '<u4')])
WORD = np.dtype('<u2')


def tape_record(name: int, tape: Tape, data: int = 0) -> tuple[int, ...]:
    """
    Return the numbers of ``TAPE_FIELDS``.

    :param name: the place of its name among the texts.
    :param data: the place of its data among the bytes.
    """
    return (name, *tape.shape, bits_of(tape.inputs), len(tape.loads), len(tape.constants),
            len(tape.guards), len(tape.runs),
            sum(OPERANDS[run.kind] * len(run.operands) for run in tape.runs), tape.registers,
            data, 0)


def bits_of(inputs: Iterable[str]) -> int:
    """Return a number with a bit for each of these inputs."""
    return sum(1 << INPUTS.index(array) for array in inputs)


def tape_data(tape: Tape) -> bytes:
    """Return the data of a tape in a file: numbers of 8 bytes, and then words of 2."""
    words = [
        *((INPUTS.index(load.array), load.place) for load in tape.loads),
        *((run.kind, len(run.operands)) for run in tape.runs),
        tape.outputs,
        *(operation for run in tape.runs for operation in run.operands)]
    return padded(b''.join((
        np.array(tape.constants, '<f8').tobytes(),
        np.array([(g.bound, g.register, g.nan) for g in tape.guards], GUARD).tobytes(),
        np.array([word for group in words for word in group], WORD).tobytes())))


def aligned(size: int) -> int:
    """Return the next multiple of 8."""
    return -(-size // 8) * 8


def padded(content: bytes) -> bytes:
    """Return content with zeros after it, up to a multiple of 8 bytes."""
    return content.ljust(aligned(len(content)), b'\0')


# ---- from a trace to a tape ---------------------------------------------------------------------


class _Step(NamedTuple):
    """
    An operation with the values that it needs and makes.

    A value is the node of a graph, or the operation of an input or a constant.  That of a sine or
    a cosine which nobody needs is None.
    """

    kind: Kind
    operands: tuple[Any, ...]
    results: tuple[Any, ...]


def tape_of(name: str, trace: Trace) -> Tape:
    """
    Return a trace as a tape.

    :raises ArgumentError: where it has more operations, or more inputs, than 16 bits can name.
    """
    steps, outputs, guarded = _steps(trace)
    runs = _in_runs(steps)
    leaves = dict.fromkeys(
        value for value in (*(value for step in steps for value in step.operands), *outputs,
                            *guarded)
        if isinstance(value, Operation))
    loads = [leaf for leaf in leaves if leaf.kind == INPUT]
    constants = [leaf for leaf in leaves if leaf.kind == CONSTANT]
    made = [*loads, *constants, *(value for run in runs for step in run for value in step.results)]
    if len(made) > MOST_REGISTERS:
        raise ArgumentError(
            f'{name} takes {len(made)} registers; a tape has {MOST_REGISTERS} at most')
    last = max((leaf.right for leaf in loads), default=0)
    if last >= MOST_REGISTERS:
        raise ArgumentError(
            f'{name} reads number {last} of an input; a tape reads the first {MOST_REGISTERS}')
    register = {value: place for place, value in enumerate(made)}
    columns = trace.shape[-1]
    return Tape(
        name, (len(outputs) // columns if columns else 0, columns),
        tuple(Load(leaf.left, leaf.right) for leaf in loads),
        tuple(float(leaf.left) for leaf in constants),
        tuple(TapeGuard(register[value], guard.bound, guard.nan)
              for value, guard in zip(guarded, trace.guards)),
        tuple(Run(run[0].kind, tuple(
            tuple(register[value] for value in step.operands) for step in run)) for run in runs),
        tuple(register[value] for value in outputs))


def _steps(trace: Trace) -> tuple[list[_Step], list[Any], list[Any]]:
    """Return the steps of a trace, each after those that it needs, its outputs and guards."""
    graph = trace.graph
    ends = [*trace.outputs, *(guard.value for guard in trace.guards)]
    needed = graph.needed(ends)
    uses = Counter(operand for node in needed for operand in graph.operands(node))
    uses.update(end.node for end in ends if isinstance(end, Symbol))

    def value(node: int) -> Any:
        operation = graph.operations[node]
        return operation if operation.kind in (INPUT, CONSTANT) else node

    def is_part(node: int) -> bool:
        """Return whether a node is a product that one other operation needs."""
        return graph.operations[node].kind == MULTIPLY and uses[node] == 1

    nodes = {graph.operations[node]: node for node in needed}
    steps: dict[Any, _Step] = {}
    for node in needed:
        kind, left, right = graph.operations[node]
        if kind in (SINE, COSINE):
            both = tuple(nodes.get(Operation(each, left)) for each in (SINE, COSINE))
            steps[both] = _Step(Kind.SINE_COSINE, (value(left),), both)
        elif kind in PRODUCT_ON_THE_LEFT and (is_part(left) or is_part(right)):
            kinds, product, other = (
                (PRODUCT_ON_THE_LEFT, left, right) if is_part(left) else
                (PRODUCT_ON_THE_RIGHT, right, left))
            factors = steps.pop(product).operands
            steps[node] = _Step(kinds[kind], (*factors, value(other)), (node,))
        elif kind in PLAIN:
            steps[node] = _Step(
                PLAIN[kind], tuple(map(value, graph.operands(node))), (node,))

    def end(expression: Expression) -> Any:
        """Return the value of an output, for whose negative sign there is a step more."""
        if not isinstance(expression, Symbol):
            return Operation(CONSTANT, float(expression))
        if not expression.negative:
            return value(expression.node)
        negative = ('negative', expression.node)
        steps[negative] = _Step(Kind.MULTIPLY, (
            Operation(CONSTANT, -1.0), value(expression.node)), (negative,))
        return negative

    values = [*map(end, ends)]
    count = len(trace.outputs)
    return [*steps.values()], values[:count], values[count:]


def _in_runs(steps: Sequence[_Step]) -> list[list[_Step]]:
    """
    Return steps in runs of one kind, each step after those that it needs.

    The next run is of the kind of that step after which most other runs have to come.  It takes
    all steps of this kind that can follow.
    """
    maker = {value: place for place, step in enumerate(steps)
             for value in step.results if value is not None}
    needs = [{maker[value] for value in step.operands if value in maker} for step in steps]
    users: dict[int, list[int]] = defaultdict(list)
    for place, needed in enumerate(needs):
        for other in needed:
            users[other].append(place)
    to_come = [0] * len(steps)  # so many runs at least, with that of the step
    for place in reversed(range(len(steps))):
        to_come[place] = max((
            to_come[user] + (steps[user].kind is not steps[place].kind)
            for user in users[place]), default=1)

    missing = [len(needed) for needed in needs]
    ready: dict[Kind, list[int]] = defaultdict(list)
    for place, step in enumerate(steps):
        if not missing[place]:
            ready[step.kind].append(place)
    runs = []
    while ready:
        kind = max(ready, key=lambda kind: (
            max(to_come[place] for place in ready[kind]), len(ready[kind])))
        run: list[int] = []
        while kind in ready:
            group = ready.pop(kind)
            run += group
            for user in (user for place in group for user in users[place]):
                missing[user] -= 1
                if not missing[user]:
                    ready[steps[user].kind].append(user)
        runs.append([steps[place] for place in run])
    return runs
