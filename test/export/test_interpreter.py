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
"""The interpreter in C: it computes what the reference does, bit by bit, and judges files."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from math import inf, nan
import struct
import zlib

from exported import (
    answer,
    compiled,
    COMPILERS,
    doubles,
    exported,
    exported_robot,
    Interpreter,
    LANGUAGES,
    LIBM,
    random_inputs,
    ROBOTS,
    shared_library,
    symbols,
    TAPE_C,
    worst,
)
import numpy as np
import pytest
from ros2_rnea.export import model_file
from ros2_rnea.export.model_file import encoded
from ros2_rnea.kernels.tape import evaluate

STATES = 50
"""For each of twenty robots."""


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    return shared_library(tmp_path_factory.mktemp('interpreter'), TAPE_C)


@pytest.mark.parametrize('name', ROBOTS)
def test_interpreter_agrees_with_library_and_reference(name, library):
    robot, quantities, _, model = exported(exported_robot(name))
    interpreter = Interpreter(library, encoded(model))
    assert interpreter.error is None
    assert interpreter.registers == max(tape.registers for tape in model.tapes)
    rng = np.random.default_rng(2)
    for state in range(STATES):
        inputs = random_inputs(robot, rng)
        for quantity, tape in zip(quantities, model.tapes):
            ours = interpreter.run(tape.name, inputs, len(tape.outputs))
            assert worst(ours, answer(robot, quantity, inputs)) <= 1e-12, quantity.name
            if state < 2:
                lists = {name: array.tolist() for name, array in inputs.items()}
                assert ours.tolist() == evaluate(tape, lists)


def test_forward_dynamics_divides_and_is_guarded(library):
    robot, quantities, _, model = exported(exported_robot('free flyer'), ['forward_dynamics'])
    interpreter = Interpreter(library, encoded(model))
    inputs = random_inputs(robot, np.random.default_rng(3))
    ours = interpreter.run('forward_dynamics', inputs, robot.nv)
    assert worst(ours, answer(robot, quantities[0], inputs)) <= 1e-12
    for name, place, value, passes in [
            ('tau', 0, 1e16, False), ('tau', 0, nan, False), ('q', 3, 1.5, False),
            ('q', 0, 1e6, True)]:
        changed = {**inputs, name: inputs[name].copy()}
        changed[name][place] = value
        assert (interpreter.run('forward_dynamics', changed, robot.nv) is not None) is passes


def test_what_is_not_finite_stays_so(library):
    robot, _, _, model = exported(exported_robot('ur5'))
    inputs = random_inputs(robot, np.random.default_rng(3))
    inputs['qd'][2] = nan
    ours = Interpreter(library, encoded(model)).run('inverse_dynamics', inputs, robot.nv)
    assert np.isnan(ours).any()


def test_output_may_be_an_input(library):
    robot, _, _, model = exported(exported_robot('ur5'))
    interpreter = Interpreter(library, encoded(model))
    inputs = random_inputs(robot, np.random.default_rng(3))
    apart = interpreter.run('inverse_dynamics', inputs, robot.nv)
    within = interpreter.run('inverse_dynamics', inputs, robot.nv, output=inputs['qdd'])
    assert within is inputs['qdd']
    assert within.tolist() == apart.tolist()


@pytest.mark.parametrize('language', LANGUAGES)
@pytest.mark.parametrize('using', COMPILERS)
def test_interpreter_compiles_without_a_warning(using, language, tmp_path):
    compiled(tmp_path / 'tape.o', *LANGUAGES[language], '-O2', '-Wshadow', '-Wcast-align', '-c',
             TAPE_C, using=using)


def test_interpreter_needs_libm_alone_and_has_no_variable(tmp_path):
    found = symbols(compiled(tmp_path / 'tape.o', '-std=c99', '-O2', '-fno-pic', '-c', TAPE_C))
    needed = {name for name, kind in found.items() if kind == 'U'}
    assert needed <= LIBM | {'memcmp', 'memcpy', 'strcmp'}
    assert {name for name, kind in found.items() if kind == 'T'} == {
        'rnea_load', 'rnea_check', 'rnea_find', 'rnea_run', 'rnea_text'}
    assert {*found.values()} <= set('UTtrR')  # no data that could be written


# ---- files that are refused ---------------------------------------------------------------------


@pytest.fixture(scope='module')
def content():
    return encoded(exported(exported_robot('arm')).model)


@pytest.mark.parametrize('version', [model_file.VERSION - 1, model_file.VERSION + 1])
def test_other_version_is_refused_with_a_sentence(version, content, library):
    other = bytearray(content)
    struct.pack_into('<I', other, 8, version)
    assert Interpreter(library, bytes(other)).error == (
        'the model file has another version than this program: export it again')


def test_what_is_wrong_is_said(content, library):
    for changed, error in [
            (b'', 'no model file'), (b'x' * len(content), 'no model file'),
            (content[:-8], 'not the size'), (content + bytes(8), 'not the size'),
            (content[:-1] + b'x', 'checksum is wrong')]:
        assert error in Interpreter(library, changed).error
    assert 'not aligned to 8' in Interpreter(library, content, shift=4).error


def with_checksum(content):
    """Return a content that was changed, with the checksum that fits it."""
    changed = bytearray(content)
    struct.pack_into('<I', changed, 12, zlib.crc32(changed[model_file.CHECKED_FROM:]))
    return bytes(changed)


def section(content, name):
    """Return the records of a section, which may be changed, and the content with them."""
    changed = bytearray(content)
    header = np.frombuffer(changed, model_file.HEADER, 1)[0]
    records = np.frombuffer(
        changed, model_file.SECTIONS[name], header[name]['count'], header[name]['offset'])
    return records, changed


@pytest.mark.parametrize(('name', 'field', 'value', 'error'), [
    ('joints', 'name', 10**6, 'names a text'), ('joints', 'unit', 10**6, 'names a text'),
    ('joints', 'q', 2, 'other coordinates'), ('joints', 'nq', 3, 'other coordinates'),
    ('joints', 'v', 2, 'other coordinates'), ('joints', 'nv', 3, 'other coordinates'),
    ('bodies', 'link', 10**6, 'names a text or a joint'),
    ('bodies', 'moved_by', 2, 'names a text or a joint'),
    ('parameters', 'unit', 10**6, 'not among its values'),
    ('parameters', 'count', 10**6, 'not among its values'),
    ('parameters', 'width', 7, 'not among its values'),
    ('tapes', 'name', 10**6, 'not inside'), ('tapes', 'rows', 10**6, 'not inside'),
    ('tapes', 'data', 4, 'not inside'), ('tapes', 'data', 0, 'one after the other'),
    ('tapes', 'inputs', 0, 'no input'), ('tapes', 'registers', 10**6, 'than it says'),
    ('text', None, 1, 'names a text that it does not have'),
])
def test_each_wrong_field_is_refused(name, field, value, error, content, library):
    records, changed = section(content, name)
    if field is None:
        records[-1] = value  # the last text has no end
    else:
        records[-1][field] = value
    assert error in Interpreter(library, with_checksum(changed)).error


@pytest.mark.parametrize('field', ['name', 'description_hash', 'writer', 'left_out'])
def test_each_text_of_the_header_is_inside(field, content, library):
    changed = bytearray(content)
    np.frombuffer(changed, model_file.HEADER, 1)[field] = 10**6
    assert 'names a text that' in Interpreter(library, with_checksum(changed)).error


@pytest.mark.parametrize(('gravity', 'is_accepted'), [
    ((nan, nan, nan), True), ((0.0, 1.0, -9.0), True), ((0.0, nan, 0.0), False),
    ((nan, nan, 0.0), False), ((0.0, 0.0, -inf), False)])
def test_gravity_of_the_arm_is_a_vector_or_none(gravity, is_accepted, content, library):
    changed = bytearray(content)
    np.frombuffer(changed, model_file.HEADER, 1)['arm_gravity'] = gravity
    error = Interpreter(library, with_checksum(changed)).error
    assert error is None if is_accepted else 'is no vector' in error


def test_program_finds_what_the_hardware_adds(tmp_path):
    content = encoded(replace(
        exported(exported_robot('arm')).model, left_out=('gravity', 'friction'),
        arm_gravity=(1.0, 2.0, -9.0)))
    source = tmp_path / 'asking.c'
    source.write_text(
        f'#include "{TAPE_C}"\n'
        'const char *left_out(const rnea_model *m, double g[3]) {\n'
        '  memcpy(g, m->header->arm_gravity, 3 * sizeof *g);\n'
        '  return rnea_text(m, m->header->left_out);\n}\n', encoding='utf-8')
    asking = shared_library(tmp_path, source, f'-I{TAPE_C.parent}')
    asking.left_out.restype = ctypes.c_char_p
    model, gravity = Interpreter(asking, content).model, np.zeros(3)
    assert asking.left_out(ctypes.byref(model), doubles(gravity)) == b'gravity friction'
    assert gravity.tolist() == [1.0, 2.0, -9.0]


def test_operands_that_no_operation_uses_are_refused(content, library):
    records, changed = section(content, 'tapes')
    records[0]['operands'] -= 1
    assert 'a tape of the model file' in Interpreter(library, with_checksum(changed)).error


def test_an_operand_is_written_before_it_is_read(content, library):
    model = model_file.decoded(content)
    tape = model.tapes[0]
    first = len(tape.loads) + len(tape.constants)  # the register of the first result
    for register, is_accepted in ((first - 1, True), (first, False)):
        run = tape.runs[0]._replace(operands=(
            (register,) * len(tape.runs[0].operands[0]), *tape.runs[0].operands[1:]))
        other = replace(model, tapes=(replace(tape, runs=(run, *tape.runs[1:])),))
        error = Interpreter(library, encoded(other)).error
        assert (error is None) is is_accepted, error


def test_tapes_that_share_their_data_are_refused(content, library):
    records, changed = section(content, 'tapes')
    records[1:] = records[:1]
    assert 'one after the other' in Interpreter(library, with_checksum(changed)).error


def test_quantity_that_is_not_there_is_not_found(content, library):
    with pytest.raises(LookupError):
        Interpreter(library, content).run('grav', {}, 2)
