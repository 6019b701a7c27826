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
"""Calls own what they refer to and free it, leak nothing, and nothing crashes them."""

import gc
import os
import resource
import subprocess
import sys
import sysconfig
import weakref

import numpy as np
import pytest
from repository import ROOT
from ros2_rnea.kernels import machine
from ros2_rnea.kernels.call import one_call, PythonKernelCall, rows_call
from tiny_kernel import call_of, general, NAMES, SHAPES, tiny_kernel

pytestmark = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')

FREE_THREADED = bool(sysconfig.get_config_var('Py_GIL_DISABLED'))


def counts(*objects):
    return [sys.getrefcount(each) for each in objects]


def use(call, bound, q, qd, out):
    """Call in each way that a call has of its own, and in some of the general function."""
    call(q, qd, out=out)
    call(q, qd)
    call(q=q, qd=qd, out=None)
    call(q.tolist(), (*qd,), out=out)
    call(q.astype('f4'), qd)
    call(['a', 'b', 'c'], qd)
    call([1j] * 3, qd)
    call(q, qd[:2])
    call(q, qd, out=qd[:2])
    call(q)
    bound()


def test_reference_counts_do_not_change(call_type, kernel, parameters):
    def slow(*arguments, **named):
        return None

    q, qd, out = (np.ones(3) for _ in range(3))
    call = call_of(call_type, kernel, parameters, slow)
    bound = call_of(call_type, kernel, parameters, slow, bound=(q, qd, out))
    watched = (q, qd, out, parameters, kernel, call, bound, slow, np.ndarray, 'out')
    use(call, bound, q, qd, out)
    none = sys.getrefcount(None)
    before = counts(*watched)
    for _ in range(300 if call_type is PythonKernelCall else 20_000):
        use(call, bound, q, qd, out)
    assert counts(*watched) == before
    assert abs(sys.getrefcount(None) - none) < 100


def test_memory_does_not_grow(extension, kernel, parameters):
    def megabytes():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def make_and_use():
        q, qd, out = (np.ones(shape) for shape in ((3,), (3,), (100, 100)))
        for _ in range(1000):
            call = call_of(extension, kernel, parameters, lambda *_, **__: None,
                           ((3,), (3,), (100, 100)))
            bound = call_of(extension, kernel, parameters, int, (*SHAPES,), bound=(q, qd, qd))
            use(call, bound, q, qd, out)

    make_and_use()
    before = megabytes()
    make_and_use()  # if each call leaked its output alone, that were 400 MB
    assert megabytes() - before < 20


def test_failed_constructions_and_first_calls_leak_nothing(extension):
    def failing(_):
        raise LookupError

    names, shapes, q = ('q', 'qd', 'out'), SHAPES, np.ones(3)
    watched = failing, names, shapes, q

    def fail():
        with pytest.raises(ValueError, match='shape'):
            extension(names, ((3,), (3,), (1,) * 9), 2, failing, failing)
        with pytest.raises(LookupError):
            extension(names, shapes, 2, failing, failing)(q, q, out=q)
        for answer in (None, (names, 0, q), (names, 1, shapes)):
            with pytest.raises((TypeError, ValueError)):
                extension(names, shapes, 2, lambda _, a=answer: a, failing)(q, [1, 2, 3])

    fail()
    gc.collect()
    before = counts(*watched)
    for _ in range(1000):
        fail()
    gc.collect()
    assert counts(*watched) == before


def test_cycle_through_the_general_function_is_collected(call_type, kernel, parameters):
    class Robot:

        def __init__(self):
            self.call = call_of(call_type, kernel, parameters, self.slow)
            self.bound = call_of(
                call_type, kernel, parameters, self.slow,
                bound=tuple(np.zeros(3) for _ in SHAPES))
            self.bound.owner = self

        def slow(self, *arguments, **named):
            return self

        def __del__(self):
            died.append((self.call(), self.bound()[0]))

    died = []
    robot = Robot()
    assert robot.call() is robot
    robot = weakref.ref(robot)
    gc.collect()
    assert robot() is None
    assert [bound for _, bound in died] == [0.0]  # they worked to the last


def test_call_keeps_the_kernel_and_frees_it(call_type, arrays, parameters):
    q, qd, out = arrays
    kernel = tiny_kernel()
    kept = weakref.ref(kernel)
    functions = [call_of(call_type, kernel, parameters, general),
                 call_of(call_type, kernel, parameters, general, bound=arrays),
                 one_call(kernel, SHAPES, parameters), rows_call(kernel, SHAPES, parameters)]
    del kernel
    for index, arguments in enumerate([((q, qd), {'out': out}), ((), {}), ((q, qd, out), {})]):
        gc.collect()
        functions[index](*arguments[0], **arguments[1])
        assert kept() is not None
    functions.clear()
    assert kept() is None  # without the garbage collector


def test_call_keeps_the_kernel_of_its_first_call(call_type, arrays, parameters):
    q, qd, out = arrays
    kernel = tiny_kernel()
    kept, targets = weakref.ref(kernel), [(kernel, kernel.address('one'), 0, parameters)]
    call = call_type(NAMES, SHAPES, 2, lambda _: targets.pop(), general)
    call(q, qd, out=out)
    del kernel
    gc.collect()
    assert kept() is not None
    del call
    assert kept() is None


def test_first_call_of_the_loser_of_a_race_is_freed(extension, kernel, arrays):
    """A call inside of resolve() makes a target, so that the outer one is not needed."""
    q, qd, out = arrays
    parameters = np.ones(1)

    def resolve(_):
        if len(depth) < 3:
            depth.append(0)
            calls[0](q, qd)
        return kernel, kernel.address('one'), 0, parameters

    depth, calls = [], []
    calls.append(extension(NAMES, SHAPES, 2, resolve, general))
    before = sys.getrefcount(parameters)
    calls[0](q, qd, out=out)
    assert sys.getrefcount(parameters) == before + 1
    calls.clear()
    assert sys.getrefcount(parameters) == before


def run(*arguments, **environment):
    environment = {
        'PYTHONMALLOC': 'debug', **os.environ, 'PYTHONPATH': f'{ROOT}', **environment}
    return subprocess.run(
        [sys.executable, '-X', 'faulthandler', *arguments], cwd=ROOT / 'test' / 'support',
        env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize('seed', range(2))
def test_nothing_that_is_passed_can_crash_it(extension, seed):
    result = run('fuzz_calls.py', str(seed), '20000')
    assert result.returncode == 0, result.stderr
    assert 'computed' in result.stdout and 'general' in result.stdout


HOLDS_ITSELF = """
import gc
import numpy as np
from ros2_rnea import Robot
from small_robots import ARM

class Controller:
    def __init__(self, robot):
        self.state, self.effort = np.zeros((3, 2)), np.zeros(2)
        self.step = robot.bind('inverse_dynamics', *self.state, out=self.effort)
        self.gravity = robot.gravity
        self.step.controller = self

    def __del__(self):
        self.step()
        self.gravity(self.state[0])
        ended.append(0)

ended = []
robot = Robot.from_urdf(ARM, engine='compiled')
for _ in range(300):
    controller = Controller(robot)
    controller.step()
    controller.gravity([0.1, 0.2])
    del controller
    gc.collect()
print('alive', len(ended))
"""


def test_object_that_holds_itself_and_a_bound_method_is_freed():
    """
    Freed memory is overwritten, so that whatever is used after it was freed crashes.

    The controller and its bound method hold each other, and are not freed if the garbage collector
    does not see both references.
    """
    allocator = 'debug' if FREE_THREADED else 'malloc'  # without the GIL only its own is possible
    result = run('-c', HOLDS_ITSELF, PYTHONMALLOC=allocator, MALLOC_PERTURB_='255')
    assert (result.returncode, result.stderr, result.stdout) == (0, '', 'alive 300\n')


SHUTDOWN = """
import atexit, sys, threading
import numpy as np
from ros2_rnea.kernels.call import KernelCall
from tiny_kernel import call_of, tiny_kernel

q, qd, out = (np.ones(3) for _ in range(3))
parameters = np.ones(1)

class Last:
    def __init__(self):
        self.call = call_of(KernelCall, tiny_kernel(), parameters, self.slow)
        self.bound = call_of(
            KernelCall, tiny_kernel(), parameters, self.slow, bound=(q, qd, out))
        self.arrays = q, qd, out
        self.write = sys.stdout.write

    def slow(self, *arguments):
        return 'slow'

    def __del__(self):
        q, qd, out = self.arrays
        right = self.call(q, qd, out=out) is out and self.bound() is out
        self.write(f'{right} {self.call()}\\n')

def forever():
    while True:
        last.call(q, qd, out=out)

last = Last()
last.call(q, qd, out=out)
sys.kept = Last()
np.kept = Last()
atexit.register(Last().__del__)
threading.Thread(target=forever, daemon=True).start()
"""


def test_calls_work_to_the_end_of_the_interpreter(extension):
    result = run('-c', SHUTDOWN)
    assert (result.returncode, result.stderr) == (0, '')
    assert set(result.stdout.splitlines()) == {'True slow'}


@pytest.mark.skipif(not FREE_THREADED, reason='this Python always has a GIL')
def test_the_extension_leaves_the_gil_off(extension):
    result = run(
        '-W', 'error', '-c',
        'import sys; from ros2_rnea.kernels import _call; print(sys._is_gil_enabled())')
    assert (result.stdout, result.stderr) == ('False\n', '')
