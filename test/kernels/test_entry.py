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
"""Functions over a kernel compute what suits it, and hand on everything else as it came."""

import gc
import math
import sys

import numpy as np
import pytest
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import entry_text, machine
from tiny_kernel import Called, check_handed_on, expected, fallback, SHAPES, TOO_LARGE

pytestmark = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')

FACTOR = 10.0


@pytest.fixture
def direct(entries, kernel, parameters):
    return entries.direct_call(kernel, SHAPES, ('out',), parameters, fallback)


# --- direct

def test_direct_computes_into_out_and_returns_it(direct, arrays):
    q, qd, out = arrays
    assert direct(q, qd, out=out) is out
    assert out.tolist() == expected(q, qd, FACTOR).tolist()


def test_parameters_are_read_at_each_call(direct, arrays, parameters):
    q, qd, out = arrays
    parameters[:] = 3.0
    assert direct(q, qd, out=out).tolist() == expected(q, qd, 3.0).tolist()


def test_inputs_may_be_read_only(direct, arrays):
    q, qd, out = arrays
    q.flags.writeable = qd.flags.writeable = False
    assert direct(q, qd, out=out) is out


@pytest.mark.parametrize('alias', [0, 1])
def test_output_may_be_an_input(direct, arrays, alias):
    q, qd, _ = arrays
    right = expected(q, qd, FACTOR)
    assert direct(q, qd, out=arrays[alias]).tolist() == right.tolist()


def test_what_is_not_a_number_comes_out_as_such(direct, arrays):
    q, qd, out = arrays
    q[:2] = math.nan, math.inf
    result = direct(q, qd, out=out)
    assert math.isnan(result[0]) and result[1] == math.inf and result[2] == 36.0


OTHER_CALLS = {
    'nothing': lambda q, qd, out: ((), {}),
    'no out': lambda q, qd, out: ((q, qd), {}),
    'out is None': lambda q, qd, out: ((q, qd), {'out': None}),
    'out is positional': lambda q, qd, out: ((q, qd, out), {}),
    'too few': lambda q, qd, out: ((q,), {'out': out}),
    'too many': lambda q, qd, out: ((q, qd, qd), {'out': out}),
    'thousands': lambda q, qd, out: ((q,) * 5000, {'out': out}),
    'an unknown keyword': lambda q, qd, out: ((q, qd), {'into': out}),
    'one keyword more': lambda q, qd, out: ((q, qd), {'out': out, 'gravity': None}),
    'another order': lambda q, qd, out: ((q, qd), {'gravity': None, 'out': out}),
    'all by keyword': lambda q, qd, out: ((), {'q': q, 'qd': qd, 'out': out}),
}


@pytest.mark.parametrize('make', OTHER_CALLS.values(), ids=OTHER_CALLS)
def test_other_calls_reach_the_fallback_as_they_came(direct, arrays, make):
    positional, named = make(*arrays)
    check_handed_on(direct, positional, named)
    assert np.isnan(arrays[-1]).all()


class Subclass(np.ndarray):
    """An array that is not exactly an array."""


def read_only(array):
    array.flags.writeable = False
    return array


OTHER_ARRAYS = {
    'a list': np.ndarray.tolist,
    'a number': lambda array: 1.0,
    'None': lambda array: None,
    'the type': type,
    'a subclass': lambda array: array.view(Subclass),
    'a masked array': np.ma.array,
    'a matrix of one row': lambda array: array.reshape(1, 3),
    '0-dimensional': lambda array: np.array(1.0),
    'empty': lambda array: array[:0],
    'too short': lambda array: array[:2],
    'too long': lambda array: np.zeros(4),
    'a batch': lambda array: np.zeros((5, 3)),
    'of float32': lambda array: array.astype(np.float32),
    'of integers': lambda array: array.astype(np.int64),
    'of objects': lambda array: array.astype(object),
    'byte-swapped': lambda array: array.astype('>f8' if sys.byteorder == 'little' else '<f8'),
    'strided': lambda array: np.zeros(6)[::2],
    'reversed': lambda array: array[::-1],
    'broadcast': lambda array: np.broadcast_to(1.0, 3),
    'with huge strides': lambda array: np.lib.stride_tricks.as_strided(array, strides=(2 ** 60,)),
    'misaligned': lambda array: np.frombuffer(bytearray(25), dtype=float, offset=1),
}


@pytest.mark.parametrize('change', OTHER_ARRAYS.values(), ids=OTHER_ARRAYS)
@pytest.mark.parametrize('place', range(3))
def test_other_arrays_reach_the_fallback_untouched(direct, arrays, change, place):
    given = list(arrays)
    given[place] = change(np.nan_to_num(arrays[place]))
    check_handed_on(direct, given[:-1], {'out': given[-1]})
    assert np.isnan(arrays[-1]).all()


def test_memory_mapped_array_reaches_the_fallback(direct, arrays, tmp_path):
    q, qd, _ = arrays
    out = np.memmap(tmp_path / 'out', dtype=float, shape=3, mode='w+')
    check_handed_on(direct, (q, qd), {'out': out})


def test_read_only_output_reaches_the_fallback(direct, arrays):
    q, qd, out = arrays
    check_handed_on(direct, (q, qd), {'out': read_only(out)})


def test_angle_that_is_too_large_reaches_the_fallback(direct, arrays):
    q, qd, out = arrays
    q[0] = 2 * TOO_LARGE
    check_handed_on(direct, (q, qd), {'out': out})


@pytest.mark.parametrize('shape, other', [
    ((), (1,)), ((3, 4), (4, 3)), ((3, 4), (3, 5)), ((3, 4), (2, 4)), ((3, 4), (12,)),
    ((2, 3, 4), (2, 3, 5)), ((2, 3, 4, 5), (2, 3, 5, 4)), ((1, 2, 3, 2, 1), (1, 2, 3, 2, 2)),
])
def test_every_dimension_counts(entries, kernel, parameters, arrays, shape, other):
    q, qd, _ = arrays
    direct = entries.direct_call(
        kernel, ((3,), (3,), shape), ('out',), parameters, lambda *_, **__: 'fallback')
    out = np.empty(max(math.prod(shape), 3))[:math.prod(shape)].reshape(shape)
    assert direct(q, qd, out=out) is out
    assert direct(q, qd, out=np.empty(other)) == 'fallback'


def test_order_counts(entries, kernel, parameters, arrays):
    q, qd, _ = arrays
    direct = entries.direct_call(kernel, ((3,), (3,), (3, 4)), ('out',), parameters, fallback)
    check_handed_on(direct, (q, qd), {'out': np.empty((3, 4), order='F')})


@pytest.mark.parametrize('keywords', [(), ('out',), ('qd', 'out'), ('q', 'qd', 'out')])
def test_last_arguments_may_be_keywords(entries, kernel, parameters, arrays, keywords):
    direct = entries.direct_call(kernel, SHAPES, keywords, parameters, fallback)
    positional = arrays[:3 - len(keywords)]
    named = dict(zip(keywords, arrays[3 - len(keywords):]))
    assert direct(*positional, **named) is arrays[-1]
    if len(keywords) > 1:
        check_handed_on(direct, positional, dict(reversed(named.items())))


def test_keyword_that_is_another_string_is_understood_by_one_of_both(entries, kernel, arrays):
    q, qd, out = arrays
    direct = entries.direct_call(
        kernel, SHAPES, ('out',), np.ones(1), lambda q, qd, out: out)
    assert direct(q, qd, **{''.join(['o', 'ut']): out}) is out


def test_more_arrays_than_machine_code_takes_are_called_in_python(entries, kernel, parameters):
    shapes = ((3,),) * (entry_text.MOST_ARRAYS + 1)
    direct = entries.direct_call(kernel, shapes, ('out',), parameters, fallback)
    arrays = [np.zeros(3) for _ in shapes]
    assert direct(*arrays[:-1], out=arrays[-1]) is arrays[-1]


def test_error_of_the_fallback_comes_through(direct):
    with pytest.raises(Called):
        direct()


def test_fallback_may_be_a_bound_method_or_any_other_callable(entries, kernel, parameters):
    class Robot:

        def slow(self, *arguments, **named):
            return self, arguments, named

    robot = Robot()
    for call in (robot.slow, lambda *a, **k: (robot, a, k)):
        direct = entries.direct_call(kernel, SHAPES, ('out',), parameters, call)
        assert direct(1, out=2) == (robot, (1,), {'out': 2})
    assert entries.direct_call(kernel, SHAPES, ('out',), parameters, max)(1, 2) == 2


def test_fallback_that_is_the_function_itself_ends(entries, kernel, parameters):
    calls = []
    direct = entries.direct_call(
        kernel, SHAPES, ('out',), parameters, lambda *arguments: calls[0](*arguments))
    calls.append(direct)
    with pytest.raises(RecursionError):
        direct(1)


def test_function_describes_itself(entries, kernel, parameters):
    doc = 'inverse_dynamics(q, qd, *, out=None)\n--\n\nReturn the efforts.'
    direct = entries.direct_call(
        kernel, SHAPES, ('out',), parameters, fallback, 'inverse_dynamics', doc)
    assert direct.__name__ == 'inverse_dynamics'
    assert direct.__doc__ == 'Return the efforts.'


# --- bound

@pytest.fixture
def bind(entries, kernel, parameters):
    def bound(arrays):
        return entries.bound_call(kernel, arrays, parameters, fallback)
    return bound


def test_bound_computes_what_the_arrays_hold_now(bind, arrays, parameters):
    q, qd, out = arrays
    bound = bind(arrays)
    for parameters[0] in (FACTOR, 7.0):
        q += 1.0
        assert bound() is out
        assert out.tolist() == expected(q, qd, parameters[0]).tolist()


def test_bound_keeps_its_arrays(bind):
    bound = bind((np.ones(3), np.ones(3), np.empty(3)))
    gc.collect()
    trash = [np.full(3, 77.0) for _ in range(100)]
    assert bound().tolist() == [11, 11, 11] and trash


def test_bound_hands_on_an_angle_that_is_too_large(bind, arrays):
    arrays[0][0] = 2 * TOO_LARGE
    check_handed_on(bind(arrays), (), {})


def test_bound_takes_no_arguments(bind, arrays):
    with pytest.raises(TypeError):
        bind(arrays)(1)


def resize(array):
    array.resize((2,), refcheck=False)


def reshape(array):
    array.shape = (3, 1)


def retype(array):
    array.dtype = np.int64


@pytest.mark.parametrize('place', range(3))
@pytest.mark.parametrize('change', [resize, reshape, retype])
@pytest.mark.filterwarnings('ignore:Setting the (shape|dtype):DeprecationWarning')
def test_bound_notices_what_becomes_of_its_arrays(bind, arrays, place, change):
    bound = bind(arrays)
    change(arrays[place])
    check_handed_on(bound, (), {})


def test_bound_notices_that_the_output_becomes_read_only(bind, arrays):
    bound = bind(arrays)
    read_only(arrays[-1])
    check_handed_on(bound, (), {})


def test_bound_follows_an_array_whose_memory_moves(bind, arrays):
    q, qd, out = arrays
    bound = bind(arrays)
    q.resize((100_000,), refcheck=False)
    q.resize((3,), refcheck=False)
    assert bound().tolist() == expected(q, qd, FACTOR).tolist()


@pytest.mark.parametrize('place', range(3))
@pytest.mark.parametrize('name', sorted(set(OTHER_ARRAYS) - {
    'a matrix of one row', '0-dimensional', 'empty', 'too short', 'too long', 'a batch'}))
def test_only_arrays_that_suit_are_bound(bind, arrays, place, name):
    given = list(arrays)
    given[place] = OTHER_ARRAYS[name](np.nan_to_num(arrays[place]))
    with pytest.raises(ArgumentError, match='float64'):
        bind(given)


def test_read_only_output_is_not_bound(bind, arrays):
    read_only(arrays[-1])
    with pytest.raises(ArgumentError, match='writeable'):
        bind(arrays)
