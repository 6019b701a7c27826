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
An expression graph that the textbook's code traces through without knowing.

A :class:`Symbol` stands where that code expects a float.  It is a node of a :class:`Graph`, with a
sign: adding or multiplying two of them writes the operation down and gives the symbol that stands
for its result.  Because every operation is looked up before it is written,

* equal operations are one node,
* operations on constants are done at once, and those on 0 and 1 vanish,
* signs move outwards, so -x costs nothing until it is an output.

What no output needs is never visited (:meth:`Graph.needed`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

CONSTANT = 'constant'
INPUT = 'input'
ADD = 'add'
SUBTRACT = 'subtract'
MULTIPLY = 'multiply'
DIVIDE = 'divide'
SINE = 'sine'
COSINE = 'cosine'
SQUARE_ROOT = 'square root'

BINARY = frozenset((ADD, SUBTRACT, MULTIPLY, DIVIDE))
UNARY = frozenset((SINE, COSINE, SQUARE_ROOT))


class Operation(NamedTuple):
    """
    An operation and the nodes that it is applied to.

    A constant has its value on the left; it is positive.  An input has the name of an array on the
    left and the place in it on the right.
    """

    kind: str
    left: Any
    right: Any = None


class Graph:
    """Operations, each after its operands; a *node* is the index of one."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._nodes: dict[Operation, int] = {}

    def inputs(self, array: str, size: int) -> list[Symbol]:
        """Return symbols for the elements of an array."""
        return [Symbol(self, self.node(INPUT, array, place)) for place in range(size)]

    def node(self, kind: str, left: Any, right: Any = None) -> int:
        """Return the node of an operation; equal operations share one."""
        operation = Operation(kind, left, right)
        node = self._nodes.get(operation)
        if node is None:
            node = self._nodes[operation] = len(self.operations)
            self.operations.append(operation)
        return node

    def operands(self, node: int) -> tuple[int, ...]:
        """Return the nodes that a node uses."""
        kind, left, right = self.operations[node]
        if kind in BINARY:
            return left, right
        return (left,) if kind in UNARY else ()

    def needed(self, outputs: Iterable[Expression]) -> list[int]:
        """Return the nodes that outputs need, each after those that it uses."""
        found: set[int] = set()
        waiting = [output.node for output in outputs if isinstance(output, Symbol)]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting.extend(self.operands(node))
        return sorted(found)

    def scheduled(self, outputs: Iterable[Expression]) -> list[int]:
        """
        Return the same nodes in an order that keeps few results waiting.

        What is used once stands right before its use, so its result need not be stored.
        """
        outputs = list(outputs)
        needed = self.needed(outputs)
        uses = Counter(operand for node in needed for operand in self.operands(node))
        results = {output.node for output in outputs if isinstance(output, Symbol)}
        order: dict[int, None] = {}
        for node in needed:
            if uses[node] == 1 and node not in results:
                continue  # its user brings it
            waiting = [node]
            while waiting:
                missing = [operand for operand in self.operands(waiting[-1])
                           if operand not in order]
                if missing:
                    waiting.extend(reversed(missing))
                else:
                    order[waiting.pop()] = None
        return list(order)

    def count(self, outputs: Iterable[Expression]) -> Counter[str]:
        """Return how many operations of each kind outputs need; signs and constants cost none."""
        kinds = (self.operations[node].kind for node in self.needed(outputs))
        return Counter(kind for kind in kinds if kind in BINARY or kind in UNARY)


class Symbol:
    """A node of a graph, or its negative, which takes part in arithmetic as a float does."""

    __slots__ = ('graph', 'node', 'negative')

    def __init__(self, graph: Graph, node: int, negative: bool = False) -> None:
        self.graph = graph
        self.node = node
        self.negative = negative

    def __repr__(self) -> str:
        return f'{"-" if self.negative else ""}{self.graph.operations[self.node]}'

    def __neg__(self) -> Symbol:
        return Symbol(self.graph, self.node, not self.negative)

    def __add__(self, other: Expression) -> Expression:
        graph = self.graph
        if not isinstance(other, Symbol):
            if other == 0.0:
                return self
            other = _constant(graph, other)
        if self.negative is other.negative:
            return _signed(_sum(graph, self.node, other.node), self.negative)
        if self.negative:
            return _difference(graph, other.node, self.node)
        return _difference(graph, self.node, other.node)

    __radd__ = __add__

    def __sub__(self, other: Expression) -> Expression:
        return self + -other

    def __rsub__(self, other: float) -> Expression:
        return -self + other

    def __mul__(self, other: Expression) -> Expression:
        if not isinstance(other, Symbol):
            other = float(other)
            scaled = _scaled(self.graph, abs(other), self.node)
            return _signed(scaled, self.negative is not (other < 0.0))
        node = self.graph.node(MULTIPLY, *sorted((self.node, other.node)))
        return Symbol(self.graph, node, self.negative is not other.negative)

    __rmul__ = __mul__

    def __truediv__(self, other: Expression) -> Expression:
        if not isinstance(other, Symbol):
            return self * (1.0 / other)
        node = self.graph.node(DIVIDE, self.node, other.node)
        return Symbol(self.graph, node, self.negative is not other.negative)

    def __rtruediv__(self, other: float) -> Expression:
        return 0.0 if other == 0.0 else _constant(self.graph, other) / self

    def sin(self) -> Symbol:
        """Return the sine; ``numpy.sin`` calls this."""
        return Symbol(self.graph, self.graph.node(SINE, self.node), self.negative)

    def cos(self) -> Symbol:
        """Return the cosine; ``numpy.cos`` calls this."""
        return Symbol(self.graph, self.graph.node(COSINE, self.node))

    def sqrt(self) -> Symbol:
        """Return the square root; ``numpy.sqrt`` calls this."""
        if self.negative:
            raise ValueError(f'{self!r} has no square root that could be written down')
        return Symbol(self.graph, self.graph.node(SQUARE_ROOT, self.node))


Expression = Symbol | float
"""The result of arithmetic on symbols: a symbol, or a float where it is a constant."""


# ---- one operation each, on nodes without a sign ------------------------------------------------


def _sum(graph: Graph, left: int, right: int) -> Expression:
    if left == right:
        return _scaled(graph, 2.0, left)
    for one, other in ((left, right), (right, left)):
        kind, minuend, subtrahend = graph.operations[other]
        if kind == SUBTRACT and subtrahend == one:
            return _expression(graph, minuend)  # a + (b - a)
    return Symbol(graph, graph.node(ADD, *sorted((left, right))))


def _difference(graph: Graph, left: int, right: int) -> Expression:
    if left == right:
        return 0.0
    for one, other, negative in ((left, right, False), (right, left, True)):
        kind, first, second = graph.operations[other]
        if kind == SUBTRACT and first == one:
            return _signed(_expression(graph, second), negative)  # a - (a - b)
        if kind == ADD and one in (first, second):
            rest = _expression(graph, second if first == one else first)
            return _signed(rest, not negative)  # a - (a + b)
    if left > right:
        return Symbol(graph, graph.node(SUBTRACT, right, left), negative=True)
    return Symbol(graph, graph.node(SUBTRACT, left, right))


def _scaled(graph: Graph, factor: float, node: int) -> Expression:
    """Return a node times a factor that is not negative."""
    if factor in (0.0, 1.0):
        return Symbol(graph, node) if factor else 0.0
    kind, left, right = graph.operations[node]
    if kind == MULTIPLY and graph.operations[left].kind == CONSTANT:
        return _scaled(graph, factor * graph.operations[left].left, right)
    return Symbol(graph, graph.node(MULTIPLY, graph.node(CONSTANT, factor), node))


def _signed(expression: Expression, negative: bool) -> Expression:
    return -expression if negative else expression


def _constant(graph: Graph, value: float) -> Symbol:
    """Return a constant as an operand; for internal use only."""
    value = float(value)  # NumPy's would be compared to NumPy's truth values
    return Symbol(graph, graph.node(CONSTANT, abs(value)), value < 0.0)


def _expression(graph: Graph, node: int) -> Expression:
    kind, value, _ = graph.operations[node]
    return value if kind == CONSTANT else Symbol(graph, node)
