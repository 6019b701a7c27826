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
"""Kernels from graphs that tests draw by hand, for any CPU that this one can play."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
from ros2_rnea.kernels import llvm, machine
from ros2_rnea.kernels.graph import Graph
from ros2_rnea.kernels.tracing import Trace

NAMED = {
    'x86-64': machine.X86_64,
    'AVX2': machine.X86_64_AVX2,
    'AVX-512': machine.X86_64_AVX512,
    '64-bit Arm': machine.AARCH64,
}
THIS_CPU = 'this CPU'


@dataclass(frozen=True)
class Lanes(machine.Target):
    """A CPU whose kernels take so many numbers at a time, whatever its registers hold."""

    lanes: int = 1

    @property
    def width(self):
        """Return the number of lanes."""
        return self.lanes


def with_lanes(target, lanes):
    """Return a target of the same code with other lanes."""
    return Lanes(target.triple, target.cpu, target.features, lanes)


def played_by_host():
    """Return the CPUs whose code runs here, by name, this one as it is among them."""
    host = machine.host()
    can = set(host.features.split(','))
    return {THIS_CPU: host, **{
        name: machine.Target(host.triple, target.cpu, target.features)
        for name, target in NAMED.items()
        if target.architecture == host.architecture
        and set(filter(None, target.features.split(','))) <= can | {'+neon'}}}


def traced(function, *sizes, guards=()):
    """
    Return the trace of a function of arrays of such sizes; the last one is the parameters.

    :param guards: functions that make guards from the same arrays.
    """
    graph = Graph()
    names = [*'abcdefgh'[:len(sizes) - 1], 'parameters']
    arrays = [graph.inputs(name, size) for name, size in zip(names, sizes)]
    outputs = tuple(function(*arrays))
    return Trace(graph, tuple(zip(names, sizes)), outputs, (len(outputs),),
                 tuple(guard(*arrays) for guard in guards))


def code_of(trace, function='one', target=None):
    """Return the machine code of ``one`` or ``rows``."""
    target = target or machine.host()
    return machine.compile_object(getattr(llvm, function)(trace, target), target)


def one_of(trace, target=None):
    """Return a function of arrays, the output last, that returns the kernel's status."""
    kernel = machine.load(code_of(trace, 'one', target))
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
        kernel.address('one'))
    function.kernel = kernel  # keeps it alive
    return lambda *arrays: function(_pointers(arrays), None)


def rows_of(trace, target=None):
    """Return the same for many rows; it takes their count from the output."""
    kernel = machine.load(code_of(trace, 'rows', target))
    function = ctypes.CFUNCTYPE(
        ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(kernel.address('rows'))
    function.kernel = kernel
    return lambda *arrays: function(len(arrays[-1]), _pointers(arrays), None)


def _pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def values_of(trace, *arrays):
    """Return what a trace's outputs are for these arrays, operation by operation in NumPy."""
    given = dict(zip((name for name, _ in trace.inputs), arrays))
    does = {'add': np.add, 'subtract': np.subtract, 'multiply': np.multiply,
            'divide': np.divide, 'sine': np.sin, 'cosine': np.cos, 'square root': np.sqrt}
    values = []
    for kind, left, right in trace.graph.operations:
        if kind == 'constant':
            values.append(np.float64(left))
        elif kind == 'input':
            values.append(np.asarray(given[left])[..., right])
        elif right is None:
            values.append(does[kind](values[left]))
        else:
            values.append(does[kind](values[left], values[right]))
    rows = np.broadcast_shapes(*(np.shape(array)[:-1] for array in arrays))
    return np.stack([np.broadcast_to(
        output if isinstance(output, float) else (
            -values[output.node] if output.negative else values[output.node]), rows)
        for output in trace.outputs], axis=-1)
