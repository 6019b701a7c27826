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
"""Functions over kernels own what they need, leak nothing, and nothing crashes them."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
from repository import ROOT
from ros2_rnea.kernels import machine
from ros2_rnea.kernels.cache import open_cache
from ros2_rnea.kernels.entry import BuiltinEntries, one_call, open_entries, rows_call
from tiny_kernel import fallback, SHAPES, tiny_kernel

pytestmark = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')


def counts(*objects):
    return [sys.getrefcount(each) for each in objects]


def test_reference_counts_do_not_change(entries, kernel, parameters):
    def slow(*arguments, **named):
        return None

    q, qd, out = (np.ones(3) for _ in range(3))
    direct = entries.direct_call(kernel, SHAPES, ('out',), parameters, slow)
    bound = entries.bound_call(kernel, (q, qd, out), parameters, slow)
    watched = (q, qd, out, parameters, kernel, direct, bound, slow, np.ndarray, q.dtype, 'out')
    none = sys.getrefcount(None)
    before = counts(*watched)
    for _ in range(1_000_000 if isinstance(entries, BuiltinEntries) else 3_000):
        direct(q, qd, out=out)
        bound()
        direct(q, qd, out=None)
        direct(q)
    assert counts(*watched) == before
    assert abs(sys.getrefcount(None) - none) < 100


def test_cycle_through_the_fallback_is_collected(entries, kernel, parameters):
    class Robot:

        def __init__(self):
            self.direct = entries.direct_call(kernel, SHAPES, ('out',), parameters, self.slow)
            self.bound = entries.bound_call(
                kernel, [np.zeros(3) for _ in SHAPES], parameters, self.slow)

        def slow(self, *arguments, **named):
            return self

        def __del__(self):
            died.append((self.direct(), self.bound()[0]))

    died = []
    robot = Robot()
    assert robot.direct() is robot
    robot = weakref.ref(robot)
    gc.collect()
    assert robot() is None
    assert [bound for _, bound in died] == [0.0]  # they worked to the last


def test_function_keeps_the_kernel_and_lets_it_go(entries, arrays, parameters):
    q, qd, out = arrays
    kernel = tiny_kernel()
    kept = weakref.ref(kernel)
    functions = [entries.direct_call(kernel, SHAPES, ('out',), parameters, fallback),
                 entries.bound_call(kernel, arrays, parameters, fallback),
                 one_call(kernel, SHAPES, parameters), rows_call(kernel, SHAPES, parameters)]
    del kernel
    for index, arguments in enumerate([((q, qd), {'out': out}), ((), {}), ((q, qd, out), {})]):
        gc.collect()
        functions[index](*arguments[0], **arguments[1])
        assert kept() is not None
    functions.clear()
    gc.collect()
    assert kept() is None


def test_function_keeps_the_code_that_it_is_made_of(builtin_entries, kernel, parameters, arrays):
    entries = open_entries(open_cache(environment={}))
    code = weakref.ref(entries._code)
    q, qd, out = arrays
    direct = entries.direct_call(kernel, SHAPES, ('out',), parameters, fallback)
    del entries
    gc.collect()
    assert direct(q, qd, out=out) is out and code() is not None
    del direct
    gc.collect()
    assert code() is None


def test_what_machine_code_relies_on_cannot_be_set(builtin_entries, kernel, parameters):
    direct = builtin_entries.direct_call(kernel, SHAPES, ('out',), parameters, fallback)
    with pytest.raises(AttributeError):
        direct.__self__._owned = ()
    with pytest.raises(AttributeError):
        del direct.__self__._owned
    with pytest.raises(TypeError):
        direct.__self__[0] = 0


def run(*arguments):
    environment = {**os.environ, 'PYTHONMALLOC': 'debug', 'PYTHONPATH': f'{ROOT}'}
    return subprocess.run(
        [sys.executable, '-X', 'faulthandler', *arguments], cwd=ROOT / 'test' / 'support',
        env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize('seed', range(2))
def test_nothing_that_is_passed_can_crash_it(builtin_entries, seed):
    result = run('fuzz_entries.py', str(seed), '30000')
    assert result.returncode == 0, result.stderr
    assert 'computed' in result.stdout and 'fell back' in result.stdout


SHUTDOWN = """
import atexit, sys, threading
import numpy as np
from ros2_rnea.kernels.cache import open_cache
from ros2_rnea.kernels.entry import open_entries
from tiny_kernel import SHAPES, tiny_kernel

entries = open_entries(open_cache(environment={}))
q, qd, out = (np.ones(3) for _ in SHAPES)
parameters = np.ones(1)

class Last:
    def __init__(self):
        self.direct = entries.direct_call(tiny_kernel(), SHAPES, ('out',), parameters, self.slow)
        self.bound = entries.bound_call(tiny_kernel(), (q, qd, out), parameters, self.slow)
        self.arrays = q, qd, out
        self.write = sys.stdout.write

    def slow(self, *arguments):
        return 'slow'

    def __del__(self):
        q, qd, out = self.arrays
        right = self.direct(q, qd, out=out) is out and self.bound() is out
        self.write(f'{right} {self.direct()}\\n')

def forever():
    while True:
        last.direct(q, qd, out=out)

last = Last()
sys.kept = Last()
np.kept = Last()
atexit.register(Last().__del__)
threading.Thread(target=forever, daemon=True).start()
"""


def test_functions_work_to_the_end_of_the_interpreter():
    result = run('-c', SHUTDOWN)
    assert (result.returncode, result.stderr) == (0, '')
    assert set(result.stdout.splitlines()) == {'True slow'}
