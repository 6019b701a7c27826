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
"""What arithmetic on symbols writes down, what it leaves out, and that its value is the same."""

from fractions import Fraction
import math

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from ros2_rnea.kernels.graph import Graph, Symbol
from ros2_rnea.kernels.tape import evaluate as evaluate_tape, tape_of
from ros2_rnea.kernels.tracing import Trace

KINDS = [float, np.float64, np.float32, int, Fraction]


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def xyz(graph):
    return graph.inputs('x', 3)


def same(one, other):
    """Return whether two expressions are one node with one sign."""
    return (one.node, one.negative) == (other.node, other.negative)


def cost(graph, *outputs):
    """Return how many operations outputs need."""
    return sum(graph.count(outputs).values())


# --- 0, 1 and constants

@pytest.mark.parametrize('kind', KINDS)
def test_nothing_is_written_for_zero_and_one(graph, xyz, kind):
    x, *_ = xyz
    zero, one = kind(0), kind(1)
    for result in (x + zero, zero + x, x - zero, -(zero - x), x * one, one * x, x / one,
                   -(x * -one)):
        assert same(result, x)
    for result in (x * zero, zero * x, zero / x):
        assert result == 0.0 and not isinstance(result, Symbol)
    assert len(graph.operations) == 3


@pytest.mark.parametrize('kind', KINDS)
def test_factors_meet_and_fold(graph, xyz, kind):
    x, *_ = xyz
    assert same(kind(2) * (x * kind(3)) / kind(-4), -1.5 * x)
    assert same(kind(-2) * (x * -0.5), x)
    assert cost(graph, kind(2) * (x * kind(3))) == 1


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('value', [2, -2])
def test_constants_of_all_kinds_and_signs_are_one(graph, xyz, kind, value):
    x, *_ = xyz
    assert same(kind(value) + x, x + float(value))
    assert same(x - kind(value), x + float(-value))
    assert same(kind(value) - x, -(x - float(value)))
    assert same(kind(value) * x, x * float(value))
    assert same(kind(value) / x, float(value) / x)
    constants = [op.left for op in graph.operations if op.kind == 'constant']
    assert set(constants) == {2.0} and all(type(value) is float for value in constants)


def test_negative_zero_is_zero(graph, xyz):
    x, *_ = xyz
    assert same(x + -0.0, x)
    assert x * -0.0 == 0.0


# --- equal expressions

def test_equal_expressions_are_one_node(graph, xyz):
    x, y, z = xyz
    assert same(x + y, y + x)
    assert same(x * y, y * x)
    assert same(x - y, -(y - x))
    assert same(x + x, 2.0 * x)
    assert same(np.sin(x + y) * z, z * np.sin(y + x))
    assert cost(graph, x * y + z, y * x - z, -(z + y * x)) == 3
    assert cost(graph, x / y, y / x) == 2


# --- signs

def test_signs_move_outwards(graph, xyz):
    x, y, _ = xyz
    for expression, negative in [
            (-x + -y, x + y), (-x * y, x * y), (x / -y, x / y), (-x - y, x + y),
            (np.sin(-x), np.sin(x))]:
        assert same(expression, -negative)
    for expression, positive in [
            (-x * -y, x * y), (-x / -y, x / y), (np.cos(-x), np.cos(x)), (x - -y, x + y)]:
        assert same(expression, positive)
    assert cost(graph, -x, -y) == 0


def test_negative_square_root_is_refused(xyz):
    with pytest.raises(ValueError, match='no square root'):
        np.sqrt(-xyz[0])


# --- cancellations

def test_what_cancels_out_is_not_there(xyz):
    x, y, z = xyz
    sums = [x + y, -x + y, x - y, -x - y]
    for sum_ in sums:
        assert (sum_ - sum_, x - x) == (0.0, 0.0)
    for result in (x + (y - x), (y - x) + x, (y + x) - x, x + y - x, x - (x - y), -x + (x + y),
                   -(x - y) + x, (x + y) + -x):
        assert same(result, y)
    for result in (x - (x + y), (x - y) - x, -x + (x - y)):
        assert same(result, -y)
    assert same(z * y + (x - z * y), x)


def test_constants_come_back_from_cancellations_as_floats(xyz):
    x, *_ = xyz
    for result, value in ((2.5 + x - x, 2.5), (x + (2.5 - x), 2.5), (x - (x - 2.5), 2.5),
                          (x - (2.5 + x), -2.5), ((-2.5 - x) + x, -2.5)):
        assert type(result) is float and result == value


# --- what is needed

def test_dead_parts_are_not_counted(graph, xyz):
    x, y, z = xyz
    product = x * y
    np.sin(product) / z
    assert dict(graph.count([product + 1.0, 0.5])) == {'multiply': 1, 'add': 1}
    assert graph.needed([0.5]) == []
    assert z.node not in graph.needed([product])


def test_each_node_stands_after_what_it_uses(graph, xyz):
    x, y, z = xyz
    needed = graph.needed([np.sqrt(x * x + 1.0) / (y - z), x * 3.0])
    for place, node in enumerate(needed):
        assert set(graph.operands(node)) <= set(needed[:place])


# --- the value

def exactly():
    """Draw expressions of sums and products whose values floats hold exactly."""
    leaves = st.one_of(
        st.integers(0, 2).map(lambda place: ('x', place)),
        st.integers(-16, 16).map(lambda n: ('number', n / 8.0)))
    return st.recursive(leaves, lambda inner: st.one_of(
        st.tuples(st.sampled_from('+-*'), inner, inner), st.tuples(st.just('neg'), inner)),
        max_leaves=8)


def roughly():
    """Draw expressions with all operations, divisors and roots kept away from zero."""
    return st.recursive(exactly(), lambda inner: st.one_of(
        st.tuples(st.sampled_from('+-*/'), inner, inner),
        st.tuples(st.sampled_from(['sin', 'cos', 'sqrt', 'neg']), inner)), max_leaves=4)


def evaluate(expression, x, kind=float):
    """Return the value of an expression, and the size of the terms that it is made of."""
    operation, *rest = expression
    if operation == 'x':
        return x[rest[0]], 2.0
    if operation == 'number':
        return kind(rest[0]), abs(rest[0])
    values, sizes = zip(*(evaluate(inner, x, kind) for inner in rest))
    if operation in '+-':
        return (values[0] + values[1] if operation == '+' else values[0] - values[1]), sum(sizes)
    if operation == '*':
        return values[0] * values[1], sizes[0] * sizes[1]
    if operation == '/':
        return values[0] / (np.sin(values[1]) + 2.0), sizes[0] * (1.0 + sizes[1])
    if operation == 'neg':
        return -values[0], sizes[0]
    if operation == 'sqrt':
        return np.sqrt(values[0] * values[0] + 1.0), 1.0 + sizes[0]
    return getattr(np, operation)(values[0]), 1.0 + sizes[0]  # as far as its argument is off


def by_graph(expression, x, kind):
    """Return the value of an expression by way of the graph and the tape that it becomes."""
    graph = Graph()
    output, _ = evaluate(expression, graph.inputs('q', 3), kind)
    tape = tape_of('drawn', Trace(graph, (('q', 3),), (output,), (1,), ()))
    return evaluate_tape(tape, {'q': x})[0]


STATES = st.tuples(*[st.integers(-16, 16).map(lambda n: n / 8.0)] * 3)
SETTINGS = settings(max_examples=300)
NUMBERS = st.sampled_from([float, np.float64])


@SETTINGS
@given(exactly(), STATES, NUMBERS)
def test_sums_and_products_have_the_very_same_value(expression, x, kind):
    assert by_graph(expression, x, kind) == evaluate(expression, x)[0]


@SETTINGS
@given(roughly(), STATES, NUMBERS)
def test_all_operations_have_the_same_value_to_rounding(expression, x, kind):
    value, size = evaluate(expression, x)
    assert math.isclose(by_graph(expression, x, kind), value, rel_tol=0.0, abs_tol=1e-14 * size)
