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
The graph as LLVM's text: for one state, and for many as the rows of matrices.

Both functions take an array of pointers, to the inputs in the order of the trace and then to the
output, all of float64 and contiguous::

    i64 one(double** arguments, i8* context)
    i64 rows(i64 count, double** arguments, i8* context)

The count is at least the width of the target.  The context is for other kernels, see ``call.py``.
They return 0, or 1 where a number was beyond its bound.  ``one`` has read all inputs before it
writes, and does not write if it returns 1, so the output may be one of the inputs.  The output of
``rows`` must not overlap them, and means nothing if ``rows`` returns 1.

For rows, as many states are computed at a time as a register holds: LLVM's vectors know the same
operations as its numbers do.  Since each state's numbers lie together in memory, blocks of them
are transposed on the way into registers and out.  For one state, only the sines and cosines of
all joints are computed at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ros2_rnea.kernels import sine
from ros2_rnea.kernels.graph import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    Expression,
    Graph,
    INPUT,
    MULTIPLY,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Symbol,
)
from ros2_rnea.kernels.machine import pointer, Target
from ros2_rnea.kernels.text import DOUBLES, Text
from ros2_rnea.kernels.tracing import PARAMETERS, Trace

INSTRUCTIONS = {ADD: 'fadd', SUBTRACT: 'fsub', MULTIPLY: 'fmul', DIVIDE: 'fdiv'}
TRIGONOMETRY = (SINE, COSINE)

ARGUMENTS = pointer(DOUBLES)
CONTEXT = pointer('i8')
OUTPUT = 'output'


def one(trace: Trace, target: Target) -> str:
    """Return the module with the function ``one`` of a trace."""
    text = Text(1, target.fused)
    arrays = _arrays(text, trace)
    writer = _Operations(trace.graph, text, lambda array, place: text.load(arrays[array], place))
    writer.angles_together(
        trace, target.width,
        lambda wide, array, place, count: wide.load(arrays[array], place, count))
    results = writer.all_of(trace)
    text.lines += [f'  br i1 {writer.outside}, label %refused, label %within', 'within:']
    for place, result in enumerate(results):
        text.store(result, arrays[OUTPUT], place)
    return _module(text, f'i64 @one({ARGUMENTS} %arguments, {CONTEXT} %context)', [
        *text.lines, '  ret i64 0', 'refused:', '  ret i64 1'])


def rows(trace: Trace, target: Target) -> str:
    """Return the module with the function ``rows`` of a trace."""
    width = target.width
    text = Text(width, target.fused)
    arrays = _arrays(text, trace)
    text.lines += [
        f'  %last = sub i64 %count, {width}',
        '  br label %block',
        'block:',
        '  %row = phi i64 [0, %entry], [%following, %block]',
        '  %outside = phi i1 [false, %entry], [%outside_so_far, %block]']

    sizes = {**dict(trace.inputs), OUTPUT: len(trace.outputs)}
    places = {name: text.address(arrays[name], text.write(f'mul i64 %row, {sizes[name]}'))
              for name in sizes if name != PARAMETERS}
    columns = _Columns(text, places, sizes)

    def read(array: str, place: int) -> str:
        if array == PARAMETERS:
            return text.spread(text.on(1).load(arrays[PARAMETERS], place))
        return columns.read(array, place)

    writer = _Operations(trace.graph, text, read)
    columns.write(writer.all_of(trace))
    return _module(text, f'i64 @rows(i64 %count, {ARGUMENTS} %arguments, {CONTEXT} %context)', [
        *text.lines,
        f'  %outside_so_far = or i1 %outside, {writer.outside}',
        f'  %next = add i64 %row, {width}',
        '  %is_over = icmp sgt i64 %next, %last',
        '  %following = select i1 %is_over, i64 %last, i64 %next',  # some rows twice, at the end
        '  %is_done = icmp sge i64 %row, %last',
        '  br i1 %is_done, label %done, label %block',
        'done:',
        '  %status = zext i1 %outside_so_far to i64',
        '  ret i64 %status'])


class _Operations:
    """
    Writes every operation of a graph once, where it is first needed.

    :param read: writes the reading of an element of an array.
    :ivar outside: whether a number is beyond its bound.
    """

    def __init__(self, graph: Graph, text: Text, read: Callable[[str, int], str]) -> None:
        self.outside = 'false'
        self._graph = graph
        self._text = text
        self._read = read
        self._names: dict[int, str] = {}  # of the values of nodes

    def all_of(self, trace: Trace) -> list[str]:
        """Write what outputs and guards need, and return the outputs."""
        self._write(self._graph.scheduled((*trace.outputs, *(g.value for g in trace.guards))))
        for guard in trace.guards:
            self._guard(self._text, self._value(guard.value), guard.bound, guard.nan)
        return [self._value(output) for output in trace.outputs]

    def angles_together(
            self, trace: Trace, width: int, read: Callable[[Text, str, int, int], str]) -> None:
        """
        Write all sines and cosines whose angles need none themselves, ``width`` at a time.

        :param read: writes the reading of elements that lie side by side, into a vector.
        """
        graph = self._graph
        angles = dict.fromkeys(
            graph.operations[node].left for node in graph.needed(trace.outputs)
            if graph.operations[node].kind in TRIGONOMETRY)
        below = {angle: graph.needed([Symbol(graph, angle)]) for angle in angles}
        first = [angle for angle in angles if not any(
            graph.operations[node].kind in TRIGONOMETRY for node in below[angle])]
        for start in range(0, len(first), width):
            group = first[start:start + width]
            text = self._text.on(_power_of_two(len(group)))
            if text.width == 1:
                continue  # where it is needed
            inputs = [graph.operations[angle] for angle in group]
            kind, array, place = inputs[0]
            if kind == INPUT and inputs == [(kind, array, place + i) for i in range(len(group))]:
                vector = read(text, array, place, len(group))
            else:
                for angle in group:
                    self._write(below[angle])
                vector = text.pack([self._names[angle] for angle in group])
            both = self._sine_and_cosine(text, vector)
            for place, angle in enumerate(group):
                self._keep(angle, *(text.place(values, place) for values in both))

    def _write(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            if node in self._names:
                continue
            kind, left, right = self._graph.operations[node]
            if kind == CONSTANT:
                self._names[node] = self._text.constant(left)
            elif kind == INPUT:
                self._names[node] = self._read(left, right)
            elif kind == SQUARE_ROOT:
                self._names[node] = self._text.call('sqrt', self._names[left])
            elif kind in TRIGONOMETRY:
                self._keep(left, *self._sine_and_cosine(self._text, self._names[left]))
            else:
                self._names[node] = self._text.arithmetic(
                    INSTRUCTIONS[kind], self._names[left], self._names[right])

    def _sine_and_cosine(self, text: Text, angle: str) -> tuple[str, str]:
        self._guard(text, angle, sine.bound(text.fused))
        return sine.sine_and_cosine(text, angle)

    def _keep(self, angle: int, sine_: str, cosine: str) -> None:
        self._names[self._graph.node(SINE, angle)] = sine_
        self._names[self._graph.node(COSINE, angle)] = cosine

    def _guard(self, text: Text, value: str, bound: float, nan: bool = False) -> None:
        beyond = text.any(text.is_beyond(value, bound, nan))
        self.outside = text.write(f'or i1 {self.outside}, {beyond}')

    def _value(self, expression: Expression) -> str:
        if not isinstance(expression, Symbol):
            return self._text.constant(expression)
        name = self._names[expression.node]
        return self._text.negative(name) if expression.negative else name


class _Columns:
    """
    Columns of matrices as vectors: a number of each of as many rows as a vector holds.

    :param starts: where the first of these rows starts, by array.
    :param sizes: of a row.
    """

    def __init__(self, text: Text, starts: dict[str, str], sizes: dict[str, int]) -> None:
        self._text = text
        self._starts = starts
        self._sizes = sizes
        self._columns: dict[tuple[str, int], str] = {}

    def read(self, array: str, column: int) -> str:
        """Return a column; reading the first of a block reads the block."""
        if (array, column) not in self._columns:
            start = self._block_of(array, column)
            vectors = [
                self._text.load(self._starts[array], row * self._sizes[array] + start,
                                self._sizes[array] - start)
                for row in range(self._text.width)]
            for place, vector in enumerate(self._text.transposed(vectors), start=start):
                self._columns.setdefault((array, place), vector)
        return self._columns[array, column]

    def write(self, columns: list[str]) -> None:
        """Write the output."""
        size, width = len(columns), self._text.width
        for start in sorted({self._block_of(OUTPUT, column) for column in range(size)}):
            block = columns[start:start + width]
            block += [block[0]] * (width - len(block))
            for row, vector in enumerate(self._text.transposed(block)):
                self._text.store(vector, self._starts[OUTPUT], row * size + start, size - start)

    def _block_of(self, array: str, column: int) -> int:
        """Return where a column's block starts; the last one ends with the row if it can."""
        width, size = self._text.width, self._sizes[array]
        start = column // width * width
        return start if start + width <= size else max(size - width, 0)


def _arrays(text: Text, trace: Trace) -> dict[str, str]:
    """Write the reading of the pointers to inputs and output."""
    names = [*(name for name, _ in trace.inputs), OUTPUT]
    arrays = {}
    for place, name in enumerate(names):
        slot = text.write(f'getelementptr {DOUBLES}, {ARGUMENTS} %arguments, i64 {place}')
        arrays[name] = text.write(f'load {DOUBLES}, {ARGUMENTS} {slot}, align 8')
    return arrays


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()


def _module(text: Text, head: str, lines: list[str]) -> str:
    return '\n'.join([
        *sorted(text.declarations), f'define {head} {{', 'entry:', *lines, '}', ''])
