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
"""Oracle: the derivative of a traced quantity, node by node of its graph (forward mode)."""

import numpy as np
from ros2_rnea.kernels.graph import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    INPUT,
    MULTIPLY,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Symbol,
)


def derivatives_of(trace, array, values):
    """Return how each output changes with each element of an input array, at these values."""
    size = dict(trace.inputs)[array]
    numbers, changes = {}, {}
    for node in trace.graph.needed(trace.outputs):
        numbers[node], changes[node] = _step(
            trace.graph.operations[node], numbers, changes, array, size, values)
    rows = np.zeros((len(trace.outputs), size))
    for row, output in zip(rows, trace.outputs):
        if isinstance(output, Symbol):
            row[:] = -changes[output.node] if output.negative else changes[output.node]
    return rows


def _step(operation, numbers, changes, array, size, values):
    """Return a node's value and its change with each element."""
    kind, left, right = operation
    if kind == CONSTANT:
        return left, np.zeros(size)
    if kind == INPUT:
        return values[left][right], np.eye(size)[right] if left == array else np.zeros(size)
    x, dx = numbers[left], changes[left]
    if kind == SINE:
        return np.sin(x), np.cos(x) * dx
    if kind == COSINE:
        return np.cos(x), -np.sin(x) * dx
    if kind == SQUARE_ROOT:
        return np.sqrt(x), 0.5 / np.sqrt(x) * dx
    y, dy = numbers[right], changes[right]
    return {
        ADD: (x + y, dx + dy),
        SUBTRACT: (x - y, dx - dy),
        MULTIPLY: (x * y, dx * y + x * dy),
        DIVIDE: (x / y if y else 0.0, (dx - x / y * dy) / y if y else dx),
    }[kind]
