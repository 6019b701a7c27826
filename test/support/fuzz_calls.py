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
Calls both types of calls with whatever comes to mind, and expects the same of both.

Run as a program, so that a crash is the program's: ``fuzz_calls.py SEED CALLS``.
"""

import gc
import random
import sys
from tempfile import TemporaryFile
import threading
import warnings

import numpy as np
from ros2_rnea.kernels.call import KernelCall, PythonKernelCall
from tiny_kernel import call_of, tiny_kernel

SHAPES = ((3,), (3, 4), (2, 3, 2))  # the kernel takes the first three numbers of each


class Subclass(np.ndarray):
    """An array that is not exactly an array."""


def good(shape, draw):
    return np.full(shape, draw.uniform(-1, 1))


def mapped(shape, draw):
    with TemporaryFile() as file:
        return np.memmap(file, dtype=float, shape=shape, mode='w+')


def read_only(shape, draw):
    array = good(shape, draw)
    array.flags.writeable = False
    return array


def misaligned(shape, draw):
    size = 8 * int(np.prod(shape))
    return np.frombuffer(bytearray(size + 1), dtype=float, offset=1).reshape(shape)


def changed_in_place(shape, draw):
    array = np.zeros(shape)
    if draw.random() < 0.3:
        array.resize(draw.choice([(0,), (1,), (2, 2), (50,)]), refcheck=False)
    elif draw.random() < 0.5:
        array.shape = (-1,)
    else:
        array.dtype = draw.choice(['i8', 'u1', 'c16']) if array.shape[-1] % 2 == 0 else 'i8'
    return array


REAL = ['f2', 'f4', 'g', 'b', 'u8', '?', '>f4', '>i2']
UNREAL = ['c8', 'c16', 'O', 'S8', 'U8', 'M8[s]', 'm8[s]']


class Troublesome:
    """Is converted by code that raises, calls, or changes an array that is just being used."""

    def __init__(self, draw):
        self._turn = draw.randrange(4)

    def __array__(self, *_, **__):
        """Make trouble."""
        if self._turn == 0:
            raise LookupError('on purpose')
        if self._turn == 1:
            BUSY[0](np.ones(SHAPES[0]), np.ones(SHAPES[1]))
        elif self._turn == 2:
            for array in BUSY[1:]:
                if type(array) is np.ndarray and array.base is None:
                    array.resize((0,), refcheck=False)
        return np.array(1.0)

    def __float__(self):
        """Make the same trouble where NumPy asks for a number."""
        return float(self.__array__())


BUSY = []
"""The call that is being made, and its arguments."""

KINDS = [
    *[good] * 100, mapped, read_only, misaligned, changed_in_place,
    lambda shape, draw: good(shape[::-1], draw),
    lambda shape, draw: good((*shape, 1), draw),
    lambda shape, draw: good((5, *shape), draw),
    lambda shape, draw: good(shape, draw).T,
    lambda shape, draw: np.asfortranarray(good(shape, draw)),
    lambda shape, draw: np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2],
    lambda shape, draw: good(shape, draw)[::-1],
    lambda shape, draw: np.zeros(shape, dtype=draw.choice(['>f8', 'f4', 'i8', 'O', 'M8[s]'])),
    lambda shape, draw: np.zeros(shape).view(Subclass),
    lambda shape, draw: np.ma.zeros(shape),
    lambda shape, draw: np.zeros(shape).tolist(),
    lambda shape, draw: np.array(1.0),
    lambda shape, draw: np.zeros((0,)),
    lambda shape, draw: np.float64(1.0),
    lambda shape, draw: np.broadcast_to(1.0, shape),
    lambda shape, draw: np.full(shape, draw.choice([np.nan, np.inf, -np.inf, 1e300])),
    lambda shape, draw: None,
    lambda shape, draw: np.ndarray,
    lambda shape, draw: draw,
    lambda shape, draw: 'text',
    lambda shape, draw: 1,
    *[lambda shape, draw: good(shape, draw).tolist()] * 5,
    *[lambda shape, draw: good(shape, draw).astype(draw.choice(REAL))] * 5,
    lambda shape, draw: good(shape, draw).astype(draw.choice(UNREAL)),
    lambda shape, draw: [Troublesome(draw)] * shape[0],
    lambda shape, draw: [[1.0], [2.0, 3.0], 4.0],
    lambda shape, draw: [1.0, 'a', None],
]


def arguments(draw):
    """Draw the arguments of a call, most of them right or nearly so."""
    positional = [draw.choice(KINDS)(shape, draw) for shape in SHAPES[:-1]]
    named = {'out': draw.choice(KINDS)(SHAPES[-1], draw)}
    turn = draw.random()
    if turn < 0.02:
        positional.append(named.pop('out'))
    elif turn < 0.04:
        positional = positional[:draw.randrange(3)]
    elif turn < 0.06:
        positional *= draw.randrange(1, 200)
    elif turn < 0.08:
        named[draw.choice(['gravity', 'f_ext', ''])] = None
    elif turn < 0.10:
        named = {draw.choice(['', 'Out', 'q', '\ud800']): named['out']}
    elif turn < 0.12:
        named = {''.join(['o', 'ut']): named['out']}  # equal, but another string
    elif turn < 0.14:
        named = {'qd': positional.pop(), **named}
    elif turn < 0.16:
        named = {}
    return positional, named


class General:
    """A general function that remembers how it was called, and sometimes calls again."""

    def __init__(self):
        self.called = None
        self.again = None

    def __call__(self, *positional, **named):
        """Return no array; now and then raise."""
        self.called = positional, named
        if len(positional) % 7 == 5:
            raise LookupError('on purpose')
        if self.again:
            again, self.again = self.again, None
            again()
            self.called = positional, named


def outcome(call, general, positional, named):
    """Return what came of a call: whether the general function was called, and the output."""
    general.called = None
    BUSY[:] = call, *positional, *named.values()
    try:
        result = call(*positional, **named)
    except LookupError:
        result = 'raised'
    if general.called is None:
        assert named.get('out') is None or result is named['out']
        return 'computed', result.ravel()[:3].tobytes()  # what the kernel has written
    assert [*map(id, general.called[0])] == [*map(id, positional)]
    assert general.called[1].keys() == named.keys()
    assert all(general.called[1][name] is named[name] for name in named)
    return 'general', result


def is_trouble(argument):
    return isinstance(argument, list) and argument and isinstance(argument[0], Troublesome)


def main(seed, calls):
    """Compare both types of calls."""
    # Of ragged lists, of changing arrays in place, and of casting what is no number.
    warnings.simplefilter('ignore')
    draw = random.Random(seed)
    kernel, parameters = tiny_kernel(), np.array([2.0])
    assert KernelCall is not PythonKernelCall
    seen = {}
    for turn in range(calls):
        if turn % 100 == 0:  # calls come and go
            general = General()
            fast, slow = (
                call_of(each, kernel, parameters, general, SHAPES)
                for each in (KernelCall, PythonKernelCall))
            if turn % 1000 == 0:
                gc.collect()
        positional, named = arguments(draw)
        if draw.random() < 0.01:
            general.again = lambda call=fast: call(1.0, 2.0)
        fast_outcome = outcome(fast, general, positional, named)
        seen[fast_outcome[0]] = seen.get(fast_outcome[0], 0) + 1
        if not any(map(is_trouble, (*positional, *named.values()))):  # it changes the arguments
            slow_outcome = outcome(slow, general, positional, named)
            assert fast_outcome == slow_outcome, (
                positional, named, fast_outcome, slow_outcome)
    workers = [threading.Thread(target=hammer, args=(kernel, parameters)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(FINISHED) == len(workers)
    print(seen)


FINISHED = []
SHARED = []


def hammer(kernel, parameters):
    """Call from many threads at once, making and dropping calls, also each other's."""
    q, qd, out = map(np.ones, SHAPES)
    for _ in range(50):
        call = call_of(KernelCall, kernel, parameters, tuple, SHAPES)
        bound = call_of(KernelCall, kernel, parameters, tuple, SHAPES, (q, qd, out))
        SHARED.append(call)
        others = SHARED[-8:]
        for turn in range(200):
            other = others[turn % len(others)]
            assert call(q, qd, out=out) is out and bound() is out
            assert other(q, qd, out=out) is out and other(q, qd).shape == SHAPES[-1]
    FINISHED.append(True)


if __name__ == '__main__':
    main(int(sys.argv[1]), int(sys.argv[2]))
