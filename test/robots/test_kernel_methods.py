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
"""A method that a kernel computes does what its function in Python says, mistakes included."""

import copy
import functools
import gc
import inspect
import pickle
import pydoc
import subprocess
import sys

from many_threads import frequent_switches, together
import numpy as np
from paired_robots import (
    arguments_of,
    ENGINES,
    for_each_engine,
    needs_llvmlite,
    pair,
    STATE,
)
import pytest
from ros2_rnea import Engine, Robot
from ros2_rnea.dynamics.quantities import METHODS
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.kernels.call import KernelCall
from ros2_rnea.kernels.compiled import CompiledKernels
from ros2_rnea.kernels.taped import TapeKernels
from ros2_rnea.robots.evaluator import Evaluator
from small_robots import ARM, ARM_WITH_GRIPPER, FREE_FLYER, link, robot


def refuse(*arguments, **named):
    """Stand in for what must not be called."""
    raise AssertionError('Python computed')


@needs_llvmlite
@pytest.mark.parametrize('name', METHODS)
def test_method_is_compiled_however_it_was_taken(name, monkeypatch):
    ours, textbook = pair(Engine.COMPILED)
    arguments = arguments_of(name)
    expected = getattr(textbook, name)(*arguments)
    monkeypatch.setattr(Evaluator, 'compute', refuse)
    taken = getattr(ours, name)
    partial = functools.partial(taken, *arguments)
    for _ in range(2):
        for result in (taken(*arguments), partial(), getattr(ours, name)(*arguments),
                       taken(*map(np.ndarray.tolist, arguments)),
                       getattr(ours, name)(**dict(zip(METHODS[name].inputs, arguments))),
                       taken(*arguments, out=np.empty_like(expected))):
            np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    assert getattr(ours, name) is taken and isinstance(taken, KernelCall)


@for_each_engine
@pytest.mark.parametrize('name', METHODS)
def test_method_describes_itself(engine, name):
    ours, _ = pair(engine)
    of_class, of_robot = getattr(Robot, name), getattr(ours, name)
    assert inspect.isfunction(of_class)
    assert of_robot.__name__ == of_class.__name__ == name
    assert of_robot.__doc__ == of_class.__doc__
    assert of_robot.__qualname__ == f'Robot.{name}'
    parameters = inspect.signature(of_class).parameters
    assert [*parameters] == ['self', *inspect.signature(of_robot).parameters]
    assert parameters['out'].default is None
    assert inspect.getdoc(of_class).splitlines()[0] in pydoc.render_doc(Robot)


@for_each_engine
@pytest.mark.parametrize('name', METHODS)
def test_help_shows_the_signature_of_a_method(engine, name):
    ours, _ = pair(engine)
    for _ in range(2):  # before and after its first call
        shown = pydoc.render_doc(getattr(ours, name), renderer=pydoc.plaintext)
        assert f'\n{name}(q' in shown, shown
        getattr(ours, name)(*arguments_of(name))


def test_every_quantity_with_a_method_has_its_kernel():
    assert {name for name, value in vars(Robot).items()
            if type(value).__name__ == 'KernelMethod'} == {*METHODS}


@for_each_engine
def test_function_of_the_class_takes_a_robot(engine):
    ours, textbook = pair(engine)
    for _ in range(2):
        np.testing.assert_allclose(
            Robot.gravity(ours, STATE[0]), textbook.gravity(STATE[0]), rtol=1e-12)


@for_each_engine
@pytest.mark.parametrize('copied', [
    copy.copy, copy.deepcopy, lambda method: pickle.loads(pickle.dumps(method))])
def test_method_is_copied_before_and_after_its_first_call(engine, copied):
    ours, textbook = pair(engine)
    expected = textbook.gravity(STATE[0])
    for _ in range(2):
        np.testing.assert_allclose(copied(ours.gravity)(STATE[0]), expected, rtol=1e-12)
        ours.gravity(STATE[0])
    for robot_ in (copied(ours), pickle.loads(pickle.dumps(ours))):
        np.testing.assert_allclose(robot_.gravity(STATE[0]), expected, rtol=1e-12)


@needs_llvmlite
def test_all_methods_are_the_same_to_many_threads():
    arm, _ = pair(Engine.COMPILED)
    names = [*METHODS]

    def look_up(fresh, first):
        return {name: getattr(fresh, name) for name in names[first:] + names[:first]}

    with frequent_switches():
        for _ in range(500):
            fresh = arm.with_gravity([0.0, 0.0, -1.0])
            looked_up = together(*(
                functools.partial(look_up, fresh, first) for first in (0, 0, 2, 4)))
            assert all(methods == looked_up[0] for methods in looked_up)
    together(*[functools.partial(arm.gravity, STATE[0])] * 8)


@needs_llvmlite
def test_wrenches_in_an_array_are_machine_code_too(monkeypatch):
    ours, textbook = pair(Engine.COMPILED)
    wrenches, out = np.arange(24.0).reshape(4, 6), np.empty(3)
    pushed, free = textbook.inverse_dynamics(*STATE, wrenches), textbook.inverse_dynamics(*STATE)
    monkeypatch.setattr(Evaluator, 'compute', refuse)
    for _ in range(2):
        assert ours.inverse_dynamics(*STATE, f_ext=wrenches, out=out) is out
        np.testing.assert_allclose(out, pushed, rtol=1e-12)
        assert ours.inverse_dynamics(*STATE, out=out) is out
        np.testing.assert_allclose(out, free, rtol=1e-12)


def read_only(array):
    array.flags.writeable = False
    return array


q, qd, qdd = STATE
WRENCHES = np.arange(24.0).reshape(4, 6)
BATCH = [np.tile(vector, (3, 1)) for vector in STATE]
CALLS = {
    'arrays': lambda f: f(*STATE),
    'lists': lambda f: f([*q], [*qd], [*qdd]),
    'tuples and an output': lambda f: f((*q,), (*qd,), (*qdd,), out=np.empty(3)),
    'whole numbers': lambda f: f(np.arange(3), np.arange(3), np.arange(3)),
    'other precision': lambda f: f(q.astype('f4'), qd, qdd, out=np.empty(3)),
    'other order of bytes': lambda f: f(q.astype('>f8'), qd, qdd),
    'every second': lambda f: f(np.repeat(q, 2)[::2], qd, qdd, out=np.empty(6)[::2]),
    'backwards': lambda f: f(q[::-1], qd, qdd),
    'not aligned': lambda f: f(np.frombuffer(b'.' + q.tobytes(), offset=1), qd, qdd),
    'of a subclass': lambda f: f(np.ma.array(q), qd, qdd),
    'masked': lambda f: f(np.ma.array(q, mask=[True, False, False]), qd, qdd),
    'read-only': lambda f: f(read_only(q.copy()), qd, qdd, out=np.empty(3)),
    'by name': lambda f: f(q=q, qd=qd, qdd=qdd),
    'by name, in another order': lambda f: f(q, qdd=qdd, qd=qd, out=np.empty(3)),
    'no output': lambda f: f(*STATE, out=None),
    'all by place': lambda f: f(*STATE, WRENCHES, (0.0, 0.0, -1.0), np.empty(3)),
    'rows': lambda f: f(*BATCH),
    'rows, by an output': lambda f: f(*BATCH, out=np.empty((3, 3))),
    'no rows': lambda f: f(*(batch[:0] for batch in BATCH)),
    'gravity': lambda f: f(*STATE, gravity=np.array([1.0, 2.0, 3.0])),
    'gravity, by an output': lambda f: f(*STATE, gravity=[1.0, 2.0, 3.0], out=np.empty(3)),
    'wrenches': lambda f: f(*STATE, WRENCHES),
    'wrenches by name': lambda f: f(*STATE, f_ext={'finger': range(6)}),
    'wrenches by an output': lambda f: f(*STATE, f_ext=WRENCHES, out=np.empty(3)),
    'output first': lambda f: f(*STATE, out=np.empty(3), f_ext=WRENCHES),
    'no wrenches': lambda f: f(*STATE, f_ext=None, out=np.empty(3)),
    # mistakes
    'too short': lambda f: f(q[:2], qd, qdd),
    'too short, with an output': lambda f: f(q, qd, qdd[:2], out=np.empty(3)),
    'two dimensions too many': lambda f: f(q, qd, qdd.reshape(1, 1, 3)),
    'rows and one state': lambda f: f(BATCH[0], qd, qdd),
    'words': lambda f: f('abc', qd, qdd),
    'complex numbers': lambda f: f(q + 1j, qd, qdd),
    'complex numbers in a list': lambda f: f(q, [1j, 0, 0], qdd),
    'objects': lambda f: f(q, qd.astype(object), qdd, out=np.empty(3)),
    'dates': lambda f: f(q, qd, qdd.astype('M8[s]')),
    'texts of numbers': lambda f: f(['1', '2', '3'], qd, qdd),
    'nothing': lambda f: f(),
    'nothing of one': lambda f: f(q, qd),
    'none': lambda f: f(None, qd, qdd),
    'too many': lambda f: f(q, qd, qdd, None, None, None, None),
    'twice': lambda f: f(q, qd, qdd, q=q),
    'unknown name': lambda f: f(q, qd, qdd, tau=q),
    'output too long': lambda f: f(q, qd, qdd, out=np.empty(4)),
    'output in a list': lambda f: f(q, qd, qdd, out=[0.0, 0.0, 0.0]),
    'output of another precision': lambda f: f(q, qd, qdd, out=np.empty(3, 'f4')),
    'output read-only': lambda f: f(q, qd, qdd, out=read_only(np.empty(3))),
    'wrenches of wrong size': lambda f: f(q, qd, qdd, f_ext=WRENCHES[:3], out=np.empty(3)),
    'wrenches in one row': lambda f: f(q, qd, qdd, WRENCHES[0]),
    'wrench on nothing': lambda f: f(q, qd, qdd, f_ext={'nose': range(6)}),
    'no gravity': lambda f: f(q, qd, qdd, gravity=[1.0]),
}


def outcome(call, method):
    """Return what a call returns, or the error that it raises, in words."""
    try:
        return call(method)
    except (RneaError, TypeError) as error:
        return f'{type(error).__name__}: {error}'


def check_same_outcome(call, ours, textbook, name=''):
    """Check that a call of two methods returns the same, or raises the same error."""
    got, expected = outcome(call, ours), outcome(call, textbook)
    assert type(got) is type(expected), f'{name}: {got} for {expected}'
    if isinstance(expected, str):
        assert got == expected, name
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, err_msg=name)


@for_each_engine
@pytest.mark.parametrize('wrenches', [False, True])
def test_calls_mean_the_same_to_machine_code_as_before(engine, wrenches):
    ours, textbook = pair(engine)
    ours.inverse_dynamics(*STATE, f_ext=WRENCHES if wrenches else None)
    for name, call in CALLS.items():
        check_same_outcome(call, ours.inverse_dynamics, textbook.inverse_dynamics, name)


@for_each_engine
@pytest.mark.parametrize('name', METHODS)
def test_mistakes_are_the_same_errors_as_before(engine, name):
    ours, textbook = pair(engine)
    arguments = arguments_of(name)
    out = np.empty_like(getattr(textbook, name)(*arguments))
    for _ in range(2):
        getattr(ours, name)(*arguments)
    for call in (
            lambda f: f(*(array[:2] for array in arguments)),
            lambda f: f(*(array[:2] for array in arguments), out=out),
            lambda f: f(*arguments, out=out),
            lambda f: f(*arguments, out=out[:1]),
            lambda f: f(*(array.astype('f4').tolist() for array in arguments)),
            lambda f: f(*(array.astype('f4') for array in arguments)),
            lambda f: f(*arguments, None),
            lambda f: f(*arguments, *[None] * 5),
            lambda f: f(*arguments[1:])):
        check_same_outcome(call, getattr(ours, name), getattr(textbook, name))


@needs_llvmlite
def test_each_call_without_output_makes_a_new_array():
    ours, _ = pair(Engine.COMPILED)
    results = [ours.mass_matrix(STATE[0]) for _ in range(4)]
    assert len({id(result) for result in results}) == len(results)
    assert not any(np.shares_memory(results[0], other) for other in results[1:])


class Doubled(Robot):
    """Overrides a method that has a kernel."""

    def gravity(self, *arguments, **named):
        """Return twice the effort."""
        return 2.0 * super().gravity(*arguments, **named)


@for_each_engine
def test_method_of_a_subclass_stays_in_force(engine):
    doubled, textbook = Doubled.from_urdf(ARM, engine=engine), Robot.from_urdf(ARM)
    q, out = np.array([0.1, 0.2]), np.empty(2)
    expected = 2.0 * textbook.gravity(q)
    bound = doubled.bind('gravity', q, out=out)
    for _ in range(3):
        for result in (doubled.gravity([0.1, 0.2]), doubled.gravity(q), bound(),
                       copy.copy(doubled).gravity(q)):
            np.testing.assert_allclose(result, expected, rtol=1e-12)
        assert doubled.bias(q, np.zeros(2)).shape == (2,)


@needs_llvmlite
def test_method_of_the_base_is_compiled_in_a_subclass(monkeypatch):
    doubled = Doubled.from_urdf(ARM, engine='compiled')
    monkeypatch.setattr(Evaluator, 'compute', refuse)
    for _ in range(2):
        doubled.gravity(np.zeros(2))


@for_each_engine
def test_robot_that_nothing_moves_is_computed(engine):
    still = Robot.from_urdf(robot(link('base')), engine=engine)
    nothing = np.zeros(0)
    for _ in range(2):
        assert still.inverse_dynamics(nothing, nothing, nothing).shape == (0,)
        assert still.mass_matrix(nothing).shape == (0, 0)
        assert still.inverse_dynamics(*[np.zeros((4, 0))] * 3).shape == (4, 0)
        assert still.jacobian(nothing, 'base').shape == (6, 0)


@pytest.fixture
def no_garbage_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@for_each_engine
def test_robots_are_gone_when_nobody_refers_to_them(engine, no_garbage_collector):
    """Whatever they have been used for: none has to wait for the garbage collector."""
    def used(cls=Robot):
        arm = cls.from_urdf(ARM, engine=engine)
        for _ in range(2):
            for name in METHODS:
                method = getattr(arm, name)
                method(*[np.ones(2)] * len(METHODS[name].inputs))
                method(*[[0.1, 0.2]] * len(METHODS[name].inputs))
            arm.mass_matrix(np.zeros((20, 2)))
            arm.inverse_dynamics(*np.ones((3, 2)), f_ext=np.ones((2, 6)))
            arm.inverse_dynamics(*np.ones((3, 2)), f_ext={'tool': range(6)}, gravity=[0, 0, 1])
            arm.with_gravity([0.0, 0.0, 1.0]).gravity([1.0, 2.0])
        bound = arm.bind('gravity', np.zeros(2), out=np.zeros(2))
        bound()
        if cls is Robot:
            arm.bound = bound  # an object may keep what is bound to it

    def alive():
        kinds = Robot, Doubled, Evaluator, CompiledKernels, TapeKernels
        return sum(type(each) in kinds for each in gc.get_objects())

    before = alive()
    for cls in (Robot, Doubled):
        used(cls)
        assert alive() == before


@needs_llvmlite
def test_method_outlives_its_robot():
    gravity = Robot.from_urdf(ARM, engine='compiled').gravity
    gc.collect()
    expected = Robot.from_urdf(ARM).gravity([0.1, 0.2])
    for q in ([0.1, 0.2], np.array([0.1, 0.2]), np.array([[0.1, 0.2]])):
        np.testing.assert_allclose(gravity(q).ravel(), expected, rtol=1e-12)


@needs_llvmlite
def test_first_call_that_is_refused_compiles_nothing(monkeypatch):
    flyer = Robot.from_urdf(FREE_FLYER, engine='compiled')
    monkeypatch.setattr(CompiledKernels, 'kernel', refuse)
    with pytest.raises(ArgumentError, match='shape'):
        flyer.gravity(np.zeros(3))


@needs_llvmlite
def test_bound_method_outlives_its_robot():
    textbook = Robot.from_urdf(ARM_WITH_GRIPPER)
    state, out = [vector.copy() for vector in STATE], np.empty(3)
    bound = Robot.from_urdf(ARM_WITH_GRIPPER, engine='compiled').bind(
        'inverse_dynamics', *state, out=out)
    gc.collect()
    for angle in (0.1, 1e15):
        state[0][0] = angle
        np.testing.assert_allclose(bound(), textbook.inverse_dynamics(*state), rtol=1e-12)


# ---- bound to arrays --------------------------------------------------------------------------

class Scaled(Robot):
    """Overrides a method by one that reads an attribute."""

    scale = 1.0

    def gravity(self, *arguments, **named):
        """Return the effort times a factor."""
        return self.scale * super().gravity(*arguments, **named)


@for_each_engine
def test_bound_method_of_a_subclass_reads_the_attributes_of_now(engine):
    scaled = Scaled.from_urdf(ARM, engine=engine)
    q = np.array([0.1, 0.2])
    bound = scaled.bind('gravity', q, out=np.empty(2))
    for scaled.scale in (2.0, 3.0):
        np.testing.assert_array_equal(bound(), scaled.gravity(q))


@for_each_engine
@pytest.mark.parametrize('wrong', [
    STATE[1].tolist(), STATE[1][:2], STATE[1].astype('f4'), np.repeat(STATE[1], 2)[::2], None,
    np.ma.array(STATE[1])])
@pytest.mark.parametrize('name', ['q', 'qd', 'f_ext', 'out'])
def test_array_that_cannot_be_bound_is_named(engine, name, wrong):
    ours, _ = pair(engine)
    arrays = {'q': STATE[0], 'qd': STATE[1], 'qdd': STATE[2], 'f_ext': WRENCHES,
              'out': np.full(3, np.nan)}
    written = arrays['out']
    if name == 'f_ext' and wrong is None:
        pytest.skip('no wrenches may be bound')
    arrays[name] = wrong
    with pytest.raises(ArgumentError, match=f'^{name} is a '):
        ours.bind('inverse_dynamics', arrays['q'], arrays['qd'], arrays['qdd'],
                  f_ext=arrays['f_ext'], out=arrays['out'])
    assert np.isnan(written).all()


@for_each_engine
def test_only_methods_with_a_kernel_are_bound(engine):
    ours, _ = pair(engine)
    out = np.empty(3)
    for name in ('effort_terms', 'jacobian', 'joint_wrenches', 'nothing'):
        with pytest.raises(ArgumentError, match=f"{name}' cannot be bound.*, regressor$"):
            ours.bind(name, *STATE, out=out)
    with pytest.raises(ArgumentError, match="did you mean 'gravity'"):
        ours.bind('grvity', STATE[0], out=out)
    with pytest.raises(ArgumentError, match='takes no wrenches'):
        ours.bind('gravity', STATE[0], out=out, f_ext=WRENCHES)


@for_each_engine
@pytest.mark.parametrize('cls', [Robot, Doubled])
def test_bound_method_takes_no_arguments(engine, cls):
    bound = cls.from_urdf(ARM, engine=engine).bind('gravity', np.zeros(2), out=np.empty(2))
    for arguments, named in ((([0, 0],), {}), ((), {'gravity': [0.0, 0.0, 1.0]})):
        with pytest.raises(TypeError, match='bound to arrays takes no arguments'):
            bound(*arguments, **named)


@for_each_engine
@pytest.mark.parametrize('copied', [
    copy.deepcopy, lambda bound: pickle.loads(pickle.dumps(bound))])
def test_copy_of_a_bound_method_is_bound_to_copies(engine, copied):
    ours, textbook = pair(engine)
    q, out = STATE[0].copy(), np.empty(3)
    bound = ours.bind('gravity', q, out=out)
    other = copied(bound)
    assert type(other) is type(bound)
    q[:] = np.nan
    np.testing.assert_allclose(other(), textbook.gravity(STATE[0]), rtol=1e-12)
    assert np.isnan(bound()).any() and not np.isnan(other()).any()


@for_each_engine
def test_shallow_copy_of_a_bound_method_shares_its_arrays(engine):
    ours, textbook = pair(engine)
    q, out = STATE[0].copy(), np.empty(3)
    other = copy.copy(ours.bind('gravity', q, out=out))
    q[:] = STATE[1]
    assert other() is out
    np.testing.assert_allclose(out, textbook.gravity(STATE[1]), rtol=1e-12)


@pytest.mark.parametrize('cls', [Robot, Doubled])
@pytest.mark.parametrize('engine', [Engine.TEXTBOOK, *ENGINES])
def test_binding_does_not_write_the_output(engine, cls):
    arm = cls.from_urdf(ARM, engine=engine)
    out = np.array([123.0, -456.0])
    bound = arm.bind('inverse_dynamics', *[np.ones(2)] * 3, out=out)
    assert out.tolist() == [123.0, -456.0]
    for copied in (copy.copy(bound), pickle.loads(pickle.dumps(bound))):
        assert out.tolist() == [123.0, -456.0]
        assert copied().tolist() == arm.inverse_dynamics(*[np.ones(2)] * 3).tolist()
        out[:] = 123.0, -456.0
    position = np.array([0.5, 0.25])
    in_place = arm.bind('gravity', position, out=position)
    assert position.tolist() == [0.5, 0.25]
    assert in_place().tolist() == arm.gravity([0.5, 0.25]).tolist()


FIRST_EFFORT = """
import sys
from ros2_rnea import Robot
before = {*sys.modules}
Robot.from_urdf(sys.stdin.read()).inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
assert 'numpy.ma' in before or 'numpy.ma' not in sys.modules
"""


def test_first_effort_does_not_import_masked_arrays():
    """Their import, by NumPy at their first use, takes longer than to read a robot."""
    result = subprocess.run(
        [sys.executable, '-c', FIRST_EFFORT], input=ARM, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
