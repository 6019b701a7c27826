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
Calls both kinds of entries with whatever comes to mind, and expects the same of both.

Run as a program, so that a crash is the program's: ``fuzz_entries.py SEED CALLS``.
"""

import gc
import random
import sys
from tempfile import TemporaryFile
import threading
import warnings

import numpy as np
from ros2_rnea.kernels.cache import open_cache
from ros2_rnea.kernels.entry import BuiltinEntries, Entries, open_entries
from tiny_kernel import tiny_kernel

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


def huge_strides(shape, draw):
    return np.lib.stride_tricks.as_strided(good(shape, draw), strides=(2 ** 60,) * len(shape))


def changed_in_place(shape, draw):
    array = np.zeros(shape)
    if draw.random() < 0.3:
        array.resize(draw.choice([(0,), (1,), (2, 2), (50,)]), refcheck=False)
    elif draw.random() < 0.5:
        array.shape = (-1,)
    else:
        array.dtype = draw.choice(['i8', 'u1', 'c16']) if array.shape[-1] % 2 == 0 else 'i8'
    return array


KINDS = [
    *[good] * 100, mapped, read_only, misaligned, huge_strides, changed_in_place,
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


class Slowly:
    """A fallback that remembers how it was called."""

    def __init__(self):
        self.called = None

    def __call__(self, *positional, **named):
        """Return no array; now and then raise."""
        self.called = positional, named
        if len(positional) % 7 == 5:
            raise LookupError('on purpose')


def outcome(function, slowly, positional, named):
    """Return what came of a call: whether the fallback was called, with what, and the output."""
    slowly.called = None
    try:
        result = function(*positional, **named)
    except LookupError:
        result = 'raised'
    if slowly.called is None:
        assert result is named['out']
        return 'computed', result.tobytes()
    assert [*map(id, slowly.called[0])] == [*map(id, positional)]
    assert slowly.called[1].keys() == named.keys()
    assert all(slowly.called[1][name] is named[name] for name in named)
    return 'fell back', result


def main(seed, calls):
    """Compare both kinds of entries."""
    warnings.simplefilter('ignore', DeprecationWarning)  # of changing arrays in place
    draw = random.Random(seed)
    kernel, parameters = tiny_kernel(), np.array([2.0])
    fast_entries, entries = open_entries(open_cache(environment={})), Entries()
    assert isinstance(fast_entries, BuiltinEntries)
    seen = {}
    for turn in range(calls):
        if turn % 100 == 0:  # functions come and go
            slowly = Slowly()
            fast, slow = (
                each.direct_call(kernel, SHAPES, ('out',), parameters, slowly)
                for each in (fast_entries, entries))
            if turn % 1000 == 0:
                gc.collect()
        positional, named = arguments(draw)
        fast_outcome = outcome(fast, slowly, positional, named)
        slow_outcome = outcome(slow, slowly, positional, named)
        same_string = all(sys.intern(name) is name for name in named)
        assert fast_outcome == slow_outcome or not same_string, (positional, named)
        seen[fast_outcome[0]] = seen.get(fast_outcome[0], 0) + 1
    workers = [threading.Thread(target=hammer, args=(fast_entries, kernel, parameters))
               for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(seen)


def hammer(entries, kernel, parameters):
    """Call from many threads at once, making and dropping functions."""
    q, qd, out = map(np.ones, SHAPES)
    for _ in range(50):
        direct = entries.direct_call(kernel, SHAPES, ('out',), parameters, tuple)
        bound = entries.bound_call(kernel, (q, qd, out), parameters, tuple)
        for _ in range(200):
            assert direct(q, qd, out=out) is out and bound() is out


if __name__ == '__main__':
    main(int(sys.argv[1]), int(sys.argv[2]))
