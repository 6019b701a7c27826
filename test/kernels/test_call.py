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
"""A call passes arrays to its kernel, and everything else to the general function as it came."""

import copy
from fractions import Fraction
from functools import partial
import gc
from itertools import product
import math
import pickle
import sys
import weakref

from many_threads import frequent_switches, together
import numpy as np
import pytest
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import machine
from ros2_rnea.kernels.call import check_arrays
from tiny_kernel import (
    call_of,
    Called,
    check_handed_on,
    expected,
    general,
    NAMES,
    SHAPES,
    TOO_LARGE,
)

pytestmark = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')

FACTOR = 10.0


@pytest.fixture
def call(call_type, kernel, parameters):
    return call_of(call_type, kernel, parameters, general)


# --- direct

def test_it_computes_into_out_and_returns_it(call, arrays):
    q, qd, out = arrays
    assert call(q, qd, out=out) is out
    assert out.tolist() == expected(q, qd, FACTOR).tolist()


def test_parameters_are_read_at_each_call(call, arrays, parameters):
    q, qd, out = arrays
    parameters[:] = 3.0
    assert call(q, qd, out=out).tolist() == expected(q, qd, 3.0).tolist()


def test_inputs_may_be_read_only(call, arrays):
    q, qd, out = arrays
    q.flags.writeable = qd.flags.writeable = False
    assert call(q, qd, out=out) is out


@pytest.mark.parametrize('alias', [0, 1])
def test_output_may_be_an_input(call, arrays, alias):
    q, qd, _ = arrays
    right = expected(q, qd, FACTOR)
    assert call(q, qd, out=arrays[alias]).tolist() == right.tolist()


def test_what_is_not_a_number_comes_out_as_such(call, arrays):
    q, qd, out = arrays
    q[:2] = math.nan, math.inf
    result = call(q, qd, out=out)
    assert math.isnan(result[0]) and result[1] == math.inf and result[2] == 36.0


def test_output_is_made_where_none_is_given(call, arrays):
    q, qd, _ = arrays
    results = [call(q, qd), call(q, qd, out=None), call(q=q, qd=qd)]
    assert [type(result) for result in results] == [np.ndarray] * 3
    for result in results:
        assert result.tolist() == expected(q, qd, FACTOR).tolist()
    assert len({result.ctypes.data for result in results}) == 3


ACCEPTED = {
    'by name': lambda q, qd, out: ((q,), {'qd': qd, 'out': out}),
    'all by name': lambda q, qd, out: ((), {'q': q, 'qd': qd, 'out': out}),
    'in another order': lambda q, qd, out: ((), {'out': out, 'qd': qd, 'q': q}),
    'a name that is another string': lambda q, qd, out: ((q, qd), {''.join(['o', 'ut']): out}),
}


@pytest.mark.parametrize('make', ACCEPTED.values(), ids=ACCEPTED)
def test_arguments_may_be_given_by_name(call, arrays, make):
    positional, named = make(*arrays)
    assert call(*positional, **named) is arrays[-1]
    assert arrays[-1].tolist() == [14.0, 25.0, 36.0]


OTHER_CALLS = {
    'nothing': lambda q, qd, out: ((), {}),
    'out is positional': lambda q, qd, out: ((q, qd, out), {}),
    'too few': lambda q, qd, out: ((q,), {'out': out}),
    'too many': lambda q, qd, out: ((q, qd, qd), {'out': out}),
    'thousands': lambda q, qd, out: ((q,) * 5000, {'out': out}),
    'an unknown keyword': lambda q, qd, out: ((q, qd), {'into': out}),
    'one keyword more': lambda q, qd, out: ((q, qd), {'out': out, 'gravity': None}),
    'in another order': lambda q, qd, out: ((q, qd), {'gravity': None, 'out': out}),
    'a wrong keyword': lambda q, qd, out: ((q, qd), {'\ud800': out}),
    'one twice': lambda q, qd, out: ((q, qd), {'q': q, 'out': out}),
    'None for an input': lambda q, qd, out: ((q, None), {'out': out}),
}


@pytest.mark.parametrize('make', OTHER_CALLS.values(), ids=OTHER_CALLS)
def test_other_calls_reach_the_general_function_as_they_came(call, arrays, make):
    positional, named = make(*arrays)
    check_handed_on(call, positional, named)
    assert np.isnan(arrays[-1]).all()


class Subclass(np.ndarray):
    """An array that is not exactly an array."""


def read_only(array):
    array.flags.writeable = False
    return array


CONVERTED = {
    'a list': np.ndarray.tolist,
    'a tuple': lambda array: (*array,),
    'a list of whole numbers': lambda array: [*map(int, array)],
    'a list of both': lambda array: [*map(float, array[:-1]), int(array[-1])],
    'a list of NumPy numbers': list,
    'of float16': lambda array: array.astype(np.float16),
    'of float32': lambda array: array.astype(np.float32),
    'of longdouble': lambda array: array.astype(np.longdouble),
    'of integers': lambda array: array.astype(np.int64),
    'of small integers': lambda array: array.astype(np.uint8),
    'byte-swapped': lambda array: array.astype('>f8' if sys.byteorder == 'little' else '<f8'),
    'strided': lambda array: np.repeat(array, 2)[::2],
    'reversed': lambda array: array[::-1].copy()[::-1],
    'misaligned': lambda array: np.frombuffer(b'.' + array.tobytes(), dtype=float, offset=1),
}
OTHER_ARRAYS = {
    'a subclass': lambda array: array.view(Subclass),
    'a masked array': np.ma.array,
    'a number': lambda array: 1.0,
    'the type': type,
    'a text': lambda array: 'abc',
    'a mapping': lambda array: {'link': array},
    'a matrix of one row': lambda array: array.reshape(1, 3),
    '0-dimensional': lambda array: np.array(1.0),
    'empty': lambda array: array[:0],
    'too short': lambda array: array[:2],
    'too long': lambda array: np.zeros(4),
    'a batch': lambda array: np.zeros((5, 3)),
    'a list that is too long': lambda array: [0.0] * 4,
    'a ragged list': lambda array: [[0.0], [0.0, 0.0], 1.0],
    'a list of objects': lambda array: [Fraction(1, 3)] * 3,
    'a list of texts': lambda array: ['1', '2', '3'],
    'a list of complex numbers': lambda array: [1j, 1.0, 1.0],
    'a list of None': lambda array: [None] * 3,
    'of complex numbers': lambda array: array.astype(complex),
    'of objects': lambda array: array.astype(object),
    'of texts': lambda array: array.astype(str),
    'of dates': lambda array: array.astype('M8[s]'),
    'of durations': lambda array: array.astype('m8[s]'),
    'of records': lambda array: array.view([('x', 'f8')]),
}


@pytest.mark.parametrize('change', CONVERTED.values(), ids=CONVERTED)
@pytest.mark.parametrize('place', range(2))
def test_inputs_of_real_numbers_are_converted(call, arrays, change, place):
    right = expected(*arrays[:-1], FACTOR)
    given = list(arrays)
    given[place] = change(arrays[place])
    assert call(*given[:-1], out=arrays[-1]) is arrays[-1]
    assert arrays[-1].tolist() == right.tolist()
    assert call(*given[:-1]).tolist() == right.tolist()


@pytest.mark.filterwarnings('ignore:Creating an ndarray from ragged')
@pytest.mark.parametrize('change', OTHER_ARRAYS.values(), ids=OTHER_ARRAYS)
@pytest.mark.parametrize('place', range(3))
def test_other_arrays_reach_the_general_function_untouched(call, arrays, change, place):
    given = list(arrays)
    given[place] = change(np.nan_to_num(arrays[place]))
    check_handed_on(call, given[:-1], {'out': given[-1]})
    assert np.isnan(arrays[-1]).all()


@pytest.mark.parametrize('change', [*CONVERTED.values(), read_only], ids=[*CONVERTED, 'read-only'])
def test_output_is_not_converted(call, arrays, change):
    q, qd, out = arrays
    check_handed_on(call, (q, qd), {'out': change(np.nan_to_num(out))})


@pytest.mark.parametrize('out', [True, False])
def test_state_that_the_kernel_refuses_reaches_the_general_function(call, arrays, out):
    q, qd, output = arrays
    q[0] = 2 * TOO_LARGE
    check_handed_on(call, (q, qd), {'out': output} if out else {})


def test_error_that_is_no_exception_of_a_program_comes_through(call, arrays):
    class Interrupted:

        def __array__(self, *_, **__):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call([Interrupted()] * 3, arrays[1])


@pytest.mark.parametrize('shape, other', [
    ((), (1,)), ((3, 4), (4, 3)), ((3, 4), (3, 5)), ((3, 4), (2, 4)), ((3, 4), (12,)),
    ((2, 3, 4), (2, 3, 5)), ((2, 3, 4, 5), (2, 3, 5, 4)),
])
def test_every_dimension_counts(call_type, kernel, parameters, arrays, shape, other):
    q, qd, _ = arrays
    call = call_of(call_type, kernel, parameters, lambda *_, **__: 'general',
                   ((3,), (3,), shape))
    out = np.empty(max(math.prod(shape), 3))[:math.prod(shape)].reshape(shape)
    assert call(q, qd, out=out) is out
    assert call(q, qd, out=np.empty(other)) == 'general'


def test_order_of_a_matrix_counts(call_type, kernel, parameters, arrays):
    q, qd, _ = arrays
    call = call_of(call_type, kernel, parameters, general, ((3,), (3,), (3, 4)))
    check_handed_on(call, (q, qd), {'out': np.empty((3, 4), order='F')})


def test_general_function_may_be_any_callable(call_type, kernel, parameters):
    class Robot:

        def slow(self, *arguments, **named):
            return self, arguments, named

    robot = Robot()
    for function in (robot.slow, lambda *a, **k: (robot, a, k)):
        call = call_of(call_type, kernel, parameters, function)
        assert call(1, out=2) == (robot, (1,), {'out': 2})
    assert call_of(call_type, kernel, parameters, max)(1, 2) == 2


def test_general_function_that_calls_again_and_again_ends(call_type, kernel, parameters):
    calls = []
    calls.append(call_of(
        call_type, kernel, parameters, lambda *arguments: calls[0](*arguments)))
    with pytest.raises(RecursionError):
        calls[0](1)


# ---- the first call ---------------------------------------------------------------------------


class Resolving:
    """Resolves as it is told, and counts how often."""

    def __init__(self, kernel, parameters):
        self.target = kernel, kernel.address('one'), kernel.context, parameters
        self.asked = []
        self.then = lambda: None

    def __call__(self, with_optional):
        self.asked.append(with_optional)
        self.then()
        return self.target


@pytest.fixture
def resolve(kernel, parameters):
    return Resolving(kernel, parameters)


@pytest.fixture
def unresolved(call_type, resolve):
    return call_type(NAMES, SHAPES, 2, resolve, general)


def test_kernel_is_asked_for_once_when_it_can_compute(unresolved, resolve, arrays):
    q, qd, out = arrays
    check_handed_on(unresolved, (np.zeros((5, 3)), qd), {})
    check_handed_on(unresolved, (q,), {})
    check_handed_on(unresolved, (q, qd), {'out': np.zeros(4)})
    assert resolve.asked == []
    for _ in range(3):
        assert unresolved(q, qd, out=out) is out
    assert resolve.asked == [False]


def test_optional_input_has_a_kernel_of_its_own(call_type, resolve, kernel, arrays):
    call = call_type(('q', 'qd', 'out'), SHAPES, 1, resolve, general)  # q alone is required
    q, qd, out = arrays
    for _ in range(2):
        assert call(q, qd, out=out) is call(q, out=out, qd=qd) is out
    assert resolve.asked == [True]
    check_handed_on(call, (), {'qd': qd})
    with pytest.raises(ZeroDivisionError):
        resolve.then = lambda: 1 / 0
        call(q)
    with pytest.raises(ZeroDivisionError):
        call(q, None, out=None)
    assert resolve.asked == [True, False, False]


def test_error_of_the_first_call_is_raised_and_not_kept(
        unresolved, resolve, arrays):
    q, qd, out = arrays
    resolve.then = lambda: 1 / 0
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            unresolved(q, qd, out=out)
    resolve.then = lambda: None
    assert unresolved(q, qd, out=out) is out
    assert len(resolve.asked) == 3


def test_resolving_may_call_itself(unresolved, resolve, arrays):
    q, qd, out = arrays

    def once():
        resolve.then = lambda: None
        unresolved(q, qd, out=np.empty(3))

    resolve.then = once
    assert unresolved(q, qd, out=out) is out


@pytest.mark.parametrize('place', range(3))
@pytest.mark.filterwarnings('ignore:Setting the shape:DeprecationWarning')
def test_arrays_are_checked_after_code_that_may_reshape_them(unresolved, resolve, arrays, place):
    def shrink():
        arrays[place].resize((1,), refcheck=False)

    resolve.then = shrink
    with pytest.raises(Called):
        unresolved(*arrays[:-1], out=arrays[-1])


def test_arrays_are_checked_after_a_conversion_that_reshapes_them(call, arrays):
    q, qd, out = arrays

    class Shrinking:

        def __float__(self):
            q.resize((1,), refcheck=False)
            return 0.0

        def __array__(self, *_, **__):
            q.resize((1,), refcheck=False)
            return np.array(0.0)

    with pytest.raises(Called):
        call(q, [Shrinking()] * 3, out=out)


@pytest.mark.parametrize('answer', [
    None, 1, (), (1, 2), ('owner', 1, np.ones(1)), ('owner', 'address', 0, np.ones(1)),
    ('owner', 0, 0, np.ones(1)), ('owner', 1, 0, [1.0]), ('owner', 1, 0, np.ones(2, int)),
    ('owner', 1, 0, np.ones((2, 2))), ('owner', 1, 0, np.ones(4)[::2]),
    ('owner', 1 << 80, 0, np.ones(1)), ('owner', 1, 'context', np.ones(1)),
    ('owner', 1, None, np.ones(1)), ('owner', 1, 1 << 80, np.ones(1))])
def test_wrong_target_is_refused(extension, resolve, arrays, answer):
    resolve.target = answer
    call = extension(NAMES, SHAPES, 2, resolve, general)
    with pytest.raises((TypeError, ValueError, OverflowError)):
        call(*arrays[:-1])


@pytest.mark.parametrize('arguments', [
    ((), (), 0), (('out',), (), 0), (NAMES, SHAPES, 3), (NAMES, SHAPES, -1), (NAMES, SHAPES, 0),
    (('q',) * 9, ((3,),) * 9, 8)])
def test_wrong_construction_is_refused(extension, arguments):
    with pytest.raises(ValueError, match='most'):
        extension(*arguments, general, general)


@pytest.mark.parametrize('arguments', [
    ((1, 2, 3), SHAPES, 2), (NAMES, (3, 3, 3), 2), (NAMES, ((3,), (3,), (-1,)), 2),
    (NAMES, ((3,), (3,), ('a',)), 2), (NAMES, ((3,), (3,), (1,) * 5), 2), (NAMES, 3, 2)])
def test_wrong_names_and_shapes_are_refused(extension, arguments):
    with pytest.raises((TypeError, ValueError)):
        extension(*arguments, general, general)


def test_threads_may_make_the_first_call_at_once(call_type, resolve, arrays):
    q, qd, _ = arrays
    for _ in range(20):
        call = call_type(NAMES, SHAPES, 2, resolve, general)
        results = together(*[partial(call, q, qd)] * 8)
        assert np.array_equal(results, [expected(q, qd, FACTOR)] * 8)


def test_threads_may_share_calls_from_the_first_on(call_type, resolve):
    """They call in all ways, also with a list that one of them changes, and drop the calls."""
    calls = [call_type(NAMES, SHAPES, 2, resolve, lambda *_, **__: None) for _ in range(100)]
    changing = [1.0, 2.0, 3.0]

    def use(number, mine):
        q, qd, out = np.full(3, float(number)), np.ones(3), np.empty(3)
        right = expected(q, qd, FACTOR).tolist()
        while mine:
            call = mine.pop()
            assert call(q, qd, out=out) is out and out.tolist() == right
            assert call(q.tolist(), qd.astype('f4')).tolist() == right
            assert call(q, (1j, 1j, 1j)) is None
            changing[:] = [float(number)] * (2 + number % 3)
            result = call(changing, qd)
            assert result is None or result.shape == (3,)
            call.note, call.__doc__ = number, None
            assert weakref.ref(call)() is call and call.note in range(8)

    shares = [calls[:] for _ in range(8)]
    calls.clear()
    with frequent_switches():
        together(*(partial(use, number, mine) for number, mine in enumerate(shares)))


def test_call_is_copied_and_pickled_as_its_general_function(call_type, resolve):
    call = call_type(NAMES, SHAPES, 2, resolve, 'abc'.join)
    for other in (copy.copy(call), copy.deepcopy(call), pickle.loads(pickle.dumps(call))):
        assert other(['1', '2']) == '1abc2'


def test_call_that_a_class_has_stays_as_it_is(call):
    class Owner:
        method = call

    assert Owner.method is call and Owner().method is call


def test_call_has_attributes(call):
    call.__doc__ = 'Return the efforts.'
    call.__name__ = 'inverse_dynamics'
    assert (call.__doc__, call.__name__) == ('Return the efforts.', 'inverse_dynamics')


# ---- bound to arrays --------------------------------------------------------------------------


@pytest.fixture
def bind(call_type, kernel, parameters):
    def bound(arrays):
        return call_of(call_type, kernel, parameters, general, bound=tuple(arrays))
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


def test_bound_hands_on_a_state_that_the_kernel_refuses(bind, arrays):
    arrays[0][0] = 2 * TOO_LARGE
    check_handed_on(bind(arrays), (), {})


@pytest.mark.parametrize('arguments', [((1,), {}), ((), {'out': None})])
def test_bound_takes_no_arguments(bind, arrays, arguments):
    with pytest.raises(TypeError, match='takes no arguments'):
        bind(arrays)(*arguments[0], **arguments[1])


def resize(array):
    array.resize((2,), refcheck=False)


def reshape(array):
    array.shape = (3, 1)


@pytest.mark.parametrize(
    'place, change', [*product(range(3), (resize, reshape)), (2, read_only)])
@pytest.mark.filterwarnings('ignore:Setting the shape:DeprecationWarning')
def test_bound_notices_what_becomes_of_its_arrays(bind, arrays, place, change):
    bound = bind(arrays)
    change(arrays[place])
    check_handed_on(bound, (), {})


def test_bound_follows_an_array_whose_memory_moves(bind, arrays):
    q, qd, out = arrays
    bound = bind(arrays)
    q.resize((100_000,), refcheck=False)
    q.resize((3,), refcheck=False)
    assert bound().tolist() == expected(q, qd, FACTOR).tolist()


@pytest.mark.parametrize('place', range(3))
@pytest.mark.parametrize('name', sorted({*CONVERTED, *OTHER_ARRAYS}))
def test_arrays_that_machine_code_may_not_access_are_refused(arrays, place, name):
    given = list(map(np.nan_to_num, arrays))
    given[place] = {**CONVERTED, **OTHER_ARRAYS}[name](given[place])
    with pytest.raises(ArgumentError, match=f'array {place} .* float64'):
        check_arrays(given, SHAPES)


def test_read_only_output_and_missing_array_are_refused(arrays):
    check_arrays(arrays, SHAPES)
    with pytest.raises(ArgumentError, match='2 arrays .* 3'):
        check_arrays(arrays[1:], SHAPES)
    read_only(arrays[-1])
    with pytest.raises(ArgumentError, match='writeable'):
        check_arrays(arrays, SHAPES)
