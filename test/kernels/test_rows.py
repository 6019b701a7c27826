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
"""Arrays that are known to suit are computed one by one, or many rows at once."""

import threading

import numpy as np
import pytest
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import machine
from ros2_rnea.kernels.call import LARGE, one_call, rows_call
from tiny_kernel import expected, SHAPES, TOO_LARGE

pytestmark = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')

FACTOR = 10.0


def test_one_call_tells_whether_it_computed(kernel, parameters, arrays):
    q, qd, out = arrays
    one = one_call(kernel, SHAPES, parameters)
    assert one(q, qd, out) is True
    assert out.tolist() == expected(q, qd, FACTOR).tolist()
    q[0] = 2 * TOO_LARGE
    assert one(q, qd, out) is False


@pytest.mark.parametrize('count', [0, 1, 2, 7, LARGE])
def test_rows_are_each_what_one_gives(kernel, parameters, count):
    q, qd, out = (np.random.default_rng(count).random((count, 3)) for _ in range(3))
    assert rows_call(kernel, SHAPES, parameters)(q, qd, out) is True
    assert np.array_equal(out, expected(q, qd, FACTOR))


def test_rows_tell_of_an_angle_that_is_too_large(kernel, parameters):
    q, qd, out = (np.zeros((5, 3)) for _ in range(3))
    q[3, 0] = 2 * TOO_LARGE
    assert rows_call(kernel, SHAPES, parameters)(q, qd, out) is False


@pytest.mark.parametrize('shift', [-3, -1, 0, 1, 3])
def test_rows_may_overlap_the_output(kernel, parameters, shift):
    memory = np.arange(60.0)
    q, out = memory[6:36].reshape(10, 3), memory[6 + shift:36 + shift].reshape(10, 3)
    qd = np.ones((10, 3))
    right = expected(q, qd, FACTOR)
    assert rows_call(kernel, SHAPES, parameters)(q, qd, out)
    assert np.array_equal(out, right)


@pytest.mark.parametrize('call', [one_call, rows_call])
@pytest.mark.parametrize('place', range(3))
def test_arrays_that_do_not_suit_are_refused(kernel, parameters, call, place):
    rows = () if call is one_call else (4,)
    function = call(kernel, SHAPES, parameters)
    for change in (lambda array: np.zeros((*rows, 5)), lambda array: array.astype(int),
                   lambda array: np.zeros((*rows, 6))[..., ::2]):
        arrays = [np.zeros((*rows, 3)) for _ in SHAPES]
        arrays[place] = change(arrays[place])
        with pytest.raises(ArgumentError, match='array'):
            function(*arrays)
    with pytest.raises(ArgumentError, match='3 arrays .* 4'):
        function(*[np.zeros((*rows, 3))] * 2)


WAITING = """
define i64 @rows(i64 %n, DOUBLES* %arrays, DOUBLES %context) nounwind {
start:
  %parameters.data = load DOUBLES, DOUBLES* %arrays
  br label %wait

wait:
  %i = phi i64 [0, %start], [%next, %again]
  %flag = load volatile double, DOUBLES %parameters.data
  %raised = fcmp une double %flag, 0.0
  br i1 %raised, label %done, label %again

again:
  %next = add i64 %i, 1
  %late = icmp eq i64 %next, 20000000000
  br i1 %late, label %refuse, label %wait

done:
  ret i64 0

refuse:
  ret i64 1
}
"""


def test_other_threads_run_while_a_large_batch_is_computed():
    double = machine.pointer('double')
    text = WAITING.replace('DOUBLES*', machine.pointer(double)).replace('DOUBLES', double)
    kernel = machine.load(machine.compile_object(text))
    flag = np.zeros(1)
    timer = threading.Timer(0.05, flag.fill, [1.0])
    timer.start()
    # Its only input is what the other thread writes meanwhile.
    assert rows_call(kernel, ((3,),), flag)(np.zeros((LARGE, 3)))
    timer.join()
