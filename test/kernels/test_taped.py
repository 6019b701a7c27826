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
"""Tapes as kernels: made without a compiler, checked when loaded, run by the extension."""

from functools import partial
import gc
import logging

from many_threads import together
import numpy as np
from paired_robots import needs_extension
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics import quantities
from ros2_rnea.dynamics.parameters import RobotParameters
from ros2_rnea.dynamics.quantities import INVERSE_DYNAMICS, METHODS
from ros2_rnea.dynamics.terms import GRAVITY
from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels import tape, taped
from ros2_rnea.kernels.call import LARGE
from ros2_rnea.kernels.tape import TAPE_FIELDS
from ros2_rnea.kernels.taped import HEADER, LoadedTape, TapeKernels
from ros2_rnea.kernels.tracing import KernelSpec, Variant
from small_robots import ARM, FREE_FLYER

pytestmark = needs_extension

ARM_TREE = Robot.from_urdf(ARM).tree
PARAMETERS = RobotParameters(ARM_TREE, (0.0, 0.0, -9.81), {}).values
WRENCHES = Variant(wrenches=True)


@pytest.fixture(scope='module')
def kernels():
    return TapeKernels(ARM_TREE)


# ---- calls --------------------------------------------------------------------------------------


@pytest.mark.parametrize('count', [0, 1, 2, 7, LARGE // 20])
def test_rows_are_each_what_one_gives(kernels, count):
    asked = INVERSE_DYNAMICS, WRENCHES, PARAMETERS
    rng = np.random.default_rng(5)
    given = [*rng.random((3, count, 2)), rng.random((count, 2, 6))]
    efforts, one = np.empty((count, 2)), np.empty(2)
    assert kernels.rows(*asked)(*given, efforts) is True
    for place, row in enumerate(efforts):
        assert kernels.one(*asked)(*(array[place] for array in given), one) is True
        assert row.tolist() == one.tolist()
    assert len(np.unique(efforts)) == efforts.size


def test_output_may_be_an_input(kernels):
    tau = np.array([[0.1, 0.2], [0.3, 0.4]])
    expected = np.empty((2, 2))
    rows = kernels.rows(GRAVITY, Variant(), PARAMETERS)
    rows(tau.copy(), expected)
    rows(tau, tau)
    assert tau.tolist() == expected.tolist()
    one = kernels.one(GRAVITY, Variant(), PARAMETERS)
    q = np.array([0.1, 0.2])
    one(q, q)
    assert q.tolist() == expected[0].tolist()


def test_a_tape_is_made_once_for_all_values_of_parameters(kernels, monkeypatch):
    traces = []
    trace = taped.trace
    monkeypatch.setattr(taped, 'trace', lambda *asked: traces.append(1) or trace(*asked))
    q, tau = np.array([0.1, 0.2]), np.empty(2)
    for factor in (1.0, 2.0):
        kernels.one(quantities.BIAS, Variant(), factor * PARAMETERS)(q, 0.0 * q, tau)
        kernels.rows(quantities.BIAS, Variant(), factor * PARAMETERS)(
            q[np.newaxis], 0.0 * q[np.newaxis], tau[np.newaxis])
    assert traces == [1]


def test_a_state_beyond_a_bound_is_left_to_the_textbook():
    flyer = Robot.from_urdf(FREE_FLYER)
    kernels, q, tau = TapeKernels(flyer.tree), np.zeros((2, flyer.nq)), np.full((2, flyer.nv), 7.0)
    q[:, 6] = 1.0, 1.5
    one = kernels.one(GRAVITY, Variant(), flyer.parameter_values)
    assert one(q[0], tau[0]) is True and one(q[1], tau[1]) is False
    assert kernels.rows(GRAVITY, Variant(), flyer.parameter_values)(q, tau) is False
    assert tau[1].tolist() == [7.0] * flyer.nv


def test_threads_have_registers_of_their_own():
    """A large batch runs while others do."""
    arm = Robot.from_urdf(ARM, engine='tape')
    batches = np.random.default_rng(3).uniform(-3.0, 3.0, (4, 3, LARGE, 2))
    expected = [arm.inverse_dynamics(*batch) for batch in batches]
    for _ in range(5):
        for ours, right in zip(
                together(*(partial(arm.inverse_dynamics, *each) for each in batches)), expected):
            assert np.array_equal(ours, right)


def test_a_call_keeps_its_tape_and_frees_it():
    def alive():
        gc.collect()
        return sum(type(each) is LoadedTape for each in gc.get_objects())

    before = alive()
    gravity = Robot.from_urdf(ARM, engine='tape').gravity
    expected = gravity([0.1, 0.2])
    assert alive() == before + 1
    assert gravity([0.1, 0.2]).tolist() == expected.tolist()
    del gravity
    assert alive() == before


# ---- a tape that cannot be made -----------------------------------------------------------------


def test_what_takes_too_many_registers_is_computed_by_the_textbook(monkeypatch, caplog):
    monkeypatch.setattr(tape, 'MOST_REGISTERS', 40)
    caplog.set_level(logging.INFO, 'ros2_rnea')
    ours, textbook = (Robot.from_urdf(ARM, engine=engine) for engine in ('tape', 'textbook'))
    states = np.random.default_rng(2).random((3, 4, 2))
    for name in METHODS:
        for vectors in (states[:, 0], states):
            vectors = vectors[:len(METHODS[name].inputs)]
            assert np.allclose(
                getattr(ours, name)(*vectors), getattr(textbook, name)(*vectors), 1e-12, 1e-12)
    said = [record.getMessage() for record in caplog.records]
    assert any('regressor takes' in line and "'arm' computes it without" in line for line in said)
    assert not any('gravity takes' in line for line in said)


# ---- code ---------------------------------------------------------------------------------------

SPEC = KernelSpec('one', INVERSE_DYNAMICS, Variant())


@pytest.fixture
def code(kernels):
    return kernels.code(SPEC)


FIELDS = ('q', 'qd', 'qdd', 'tau', 'f_ext', 'values', *TAPE_FIELDS)
"""Of the header; first the sizes of the arrays."""


def header_of(code):
    return dict(zip(FIELDS, np.frombuffer(code, HEADER, 1)[0].tolist()))


@pytest.mark.parametrize('field, value', [
    ('q', 1), ('qdd', 1), ('values', 2), ('rows', 10**6), ('columns', 2**31), ('inputs', 0),
    ('loads', 10**5), ('constants', 10**5), ('guards', 1), ('runs', 2), ('operands', 3),
    ('registers', 3), ('data', 0), ('data', 76), ('data', 2**31)])
def test_a_damaged_tape_is_not_run(kernels, code, field, value):
    header = np.frombuffer(code, HEADER, 1).copy()
    header[0, FIELDS.index(field)] = value
    with pytest.raises(CompilerError, match='bytes are no tape: '):
        kernels.load(SPEC, header.tobytes() + code[header.nbytes:])


@pytest.mark.parametrize('field, value', [
    ('q', 3), ('f_ext', 12), ('values', 10**4), ('inputs', 63)])
def test_a_tape_for_other_arrays_is_not_run(kernels, code, field, value):
    header = np.frombuffer(code, HEADER, 1).copy()
    header[0, FIELDS.index(field)] = value
    LoadedTape(header.tobytes() + code[header.nbytes:])
    with pytest.raises(CompilerError, match="not those of inverse_dynamics of 'arm'"):
        kernels.load(SPEC, header.tobytes() + code[header.nbytes:])


def test_a_tape_with_more_outputs_is_not_run(kernels, code):
    other = kernels.code(SPEC._replace(quantity=METHODS['inverse_dynamics_derivatives']))
    with pytest.raises(CompilerError, match="not those of inverse_dynamics of 'arm'"):
        kernels.load(SPEC, other + code[code.index(b'kernel_'):])


@pytest.mark.parametrize('part, error', [
    ('loads', 'no input'), ('runs', 'unknown operation'), ('outputs', 'returns no register'),
    ('operands', 'a register before it is written')])
def test_a_damaged_word_is_not_run(kernels, code, part, error):
    header = header_of(code)
    sizes = {'loads': 2 * header['loads'], 'runs': 2 * header['runs'],
             'outputs': header['rows'] * header['columns'], 'operands': header['operands']}
    at = header['data'] + 8 * header['constants'] + 16 * header['guards']
    for name, size in sizes.items():
        if name == part:
            break
        at += 2 * size
    for word in range(0, size, 2 if part in ('loads', 'runs') else 1):
        place = at + 2 * word
        with pytest.raises(CompilerError, match=error):
            kernels.load(SPEC, code[:place] + b'\xff\xff' + code[place + 2:])


def test_a_cut_tape_is_not_run(kernels, code):
    identity = code[code.index(b'kernel_'):]
    for size in (8, 71, 72, 80, len(code) - len(identity) - 8):
        with pytest.raises(CompilerError, match='bytes are no tape: '):
            kernels.load(SPEC, code[:size] + identity)


def test_fewer_bytes_than_the_header_are_not_read(code):
    for size in (0, 1, HEADER.itemsize - 1):
        with pytest.raises(CompilerError, match=f'{size} bytes are no tape: they are too few'):
            LoadedTape(code[:size])


@pytest.mark.parametrize('code', [None, 3, 'text', bytearray(80)])
def test_only_bytes_have_an_address(code):
    with pytest.raises(TypeError, match='has to be bytes'):
        LoadedTape(code)


def test_without_the_extension_no_tape_is_loaded(monkeypatch, code):
    monkeypatch.setattr(taped, 'EXTENSION', None)
    monkeypatch.setattr(taped, 'EXTENSION_ERROR', 'no module')
    with pytest.raises(CompilerError, match='nothing that runs tapes: no module'):
        TapeKernels(ARM_TREE).load(SPEC, code)
