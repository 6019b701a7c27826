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
A program that runs kernels on arrays with fences around, which no kernel may touch.

Each array stands at one end of a page of memory; next to it is a page that kills the process which
reads or writes there.  What is left of its own page is filled, and looked at afterwards.  A test
starts it, since it may die.

    python fenced_kernels.py     prints the number of calls
"""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
from written_kernels import (
    one_of,
    played_by_host,
    rows_of,
    THIS_CPU,
    traced,
    values_of,
    with_lanes,
)

LANES = (1, 2, 4, 8)
SIZES = range(1, 21)
SIZES_OF_OTHERS = (1, 2, 3, 7, 8, 9, 20)
"""Of arrays on the CPUs that this one plays: their code is the same but for the registers."""

FILLED = -123.5
PROT_NONE = 0

_c = ctypes.CDLL(None, use_errno=True)
_c.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class Fenced:
    """Memory between two pages that nobody may touch."""

    def __init__(self, pages: int) -> None:
        self._memory = mmap.mmap(-1, (pages + 2) * mmap.PAGESIZE)
        whole = np.frombuffer(self._memory)
        page = mmap.PAGESIZE // whole.itemsize
        self._inside = whole[page:-page]
        for fence in (whole, whole[-page:]):
            if _c.mprotect(fence.ctypes.data, mmap.PAGESIZE, PROT_NONE):
                raise OSError(ctypes.get_errno(), 'mprotect')

    def array(self, shape: tuple[int, ...], at_end: bool) -> np.ndarray:
        """Return an array at the start or the end; the rest is filled."""
        self._inside[:] = FILLED
        size = int(np.prod(shape))
        place = slice(len(self._inside) - size, None) if at_end else slice(0, size)
        self._rest = np.delete(np.arange(len(self._inside)), place)
        return self._inside[place].reshape(shape)

    def is_untouched(self) -> bool:
        """Return whether what is around the array is as it was."""
        return bool(np.all(self._inside[self._rest] == FILLED))


def kernel(inputs: int, outputs: int):
    """Return a trace that uses all of its inputs, also as angles; each output is another."""
    return traced(
        lambda a, b, p: [a[i % inputs] * p[0] - b[i % outputs] * float(i + 1) + p[1]
                         for i in range(outputs - 1)] + [sum(map(np.sin, a)) + sum(b)],
        inputs, outputs, 2)


def check(trace, call, rows: tuple[int, ...], memories: list[Fenced], at_end: bool) -> None:
    """Call a kernel on fenced arrays."""
    rng = np.random.default_rng(sum(rows))
    sizes = [size for _, size in trace.inputs]
    *shapes, last = [(*rows, sizes[0]), (*rows, sizes[1]), (2,), (*rows, len(trace.outputs))]
    arrays = [memory.array(shape, at_end) for memory, shape in zip(memories, shapes)]
    for array in arrays:
        array[...] = rng.integers(-8, 9, array.shape)
    expected = values_of(trace, *arrays)
    output = memories[-1].array(last, at_end)
    status = call(*arrays, output)
    if status != 0 or not np.allclose(output, expected, 0.0, 1e-12):
        raise ValueError(f'{rows} rows of {sizes}: status {status}, {output} for {expected}')
    if not all(memory.is_untouched() for memory in memories):
        raise ValueError(f'{rows} rows of {sizes}: something around an array was written')


def main() -> None:
    """Run all sizes, lanes and counts of rows."""
    memories = [Fenced(pages=2) for _ in range(4)]
    calls = 0
    for name, cpu in played_by_host().items():
        for size in SIZES if name == THIS_CPU else SIZES_OF_OTHERS:
            trace = kernel(size, SIZES[-size])
            for lanes in LANES:
                target = with_lanes(cpu, lanes)
                rows = rows_of(trace, target)
                counts = [(count,) for count in range(lanes, 3 * lanes + 2)]
                for call, shape in ((one_of(trace, target), ()), *((rows, c) for c in counts)):
                    for at_end in (False, True):
                        check(trace, call, shape, memories, at_end)
                        calls += 1
    print(calls)


if __name__ == '__main__':
    main()
