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
"""How far float may be from double: the rounding of each operation of a trace, carried along."""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

import numpy as np
from ros2_rnea.kernels.graph import (
    ADD, CONSTANT, COSINE, DIVIDE, INPUT, MULTIPLY, SINE, SQUARE_ROOT, SUBTRACT, Symbol)

UNIT = 2.0**-24
"""Half the distance of 1 to the next float: the largest relative error of a rounding."""


class Bounded(NamedTuple):
    """A number, and how far from it what float computes can be."""

    value: float
    error: float


def rounded(value, error):
    """Return a number with an error after one more rounding."""
    return Bounded(value, error + UNIT * (abs(value) + error))


def float_bound(trace, inputs):
    """
    Return for each output how far the result in float may be from the true one.

    Libraries round a sine or a cosine to within 2 units in the last place; everything else of
    IEEE 754 is rounded once.  Inputs and constants are rounded to float first.

    :param inputs: arrays of doubles by name.
    """
    known = {}
    for node in trace.graph.needed(trace.outputs):
        kind, left, right = trace.graph.operations[node]
        a, b = known.get(left), known.get(right)
        if kind == CONSTANT:
            known[node] = rounded(left, 0.0)
        elif kind == INPUT:
            known[node] = rounded(float(inputs[left][right]), 0.0)
        elif kind in (SINE, COSINE):
            known[node] = Bounded((sin if kind == SINE else cos)(a.value), a.error + 4.0 * UNIT)
        elif kind == SQUARE_ROOT:
            root = sqrt(a.value)
            known[node] = rounded(root, root - sqrt(a.value - a.error))
        elif kind == ADD:
            known[node] = rounded(a.value + b.value, a.error + b.error)
        elif kind == SUBTRACT:
            known[node] = rounded(a.value - b.value, a.error + b.error)
        elif kind == MULTIPLY:
            known[node] = rounded(a.value * b.value, (
                abs(a.value) * b.error + abs(b.value) * a.error + a.error * b.error))
        elif kind == DIVIDE:
            known[node] = rounded(a.value / b.value, (
                abs(a.value) * b.error + abs(b.value) * a.error) / (
                    abs(b.value) * (abs(b.value) - b.error)))
    return np.array([known[output.node].error if isinstance(output, Symbol) else
                     abs(output) * UNIT for output in trace.outputs])
