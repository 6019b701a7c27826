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
"""Generated C: it compiles without a warning wherever, and computes what the library does."""

from __future__ import annotations

import ctypes
import subprocess

from exported import (
    answer,
    compiled,
    COMPILERS,
    exported,
    exported_robot,
    LANGUAGES,
    LIBM,
    random_inputs,
    shared_library,
    symbols,
    worst,
)
from float_bound import float_bound
import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.errors import ArgumentError
from ros2_rnea.export.c_code import c_files, identifier, Style
from small_robots import ARM, joint, link, robot

FROM_THE_COMPILER = {'memcpy', 'memset'}
"""Functions that a compiler may call for a loop; each C has them, also without a system."""

HOSTILE = robot(
    link('base'), link('a-b'), link('tool */ #include &quot;x&quot;'),
    joint('*/ int main(void) {', 'base', 'a-b'),
    joint('Gelenk &quot;ü&quot; \\ ??/', 'a-b', 'tool */ #include &quot;x&quot;'),
    name='3 robot */ ??/\\')


def files_of(export, prefix='robot', is_float=False, example=False):
    """Return the generated files by their names."""
    return c_files(export.robot, export.model, export.quantities, export.traces,
                   Style(prefix, is_float), example)


def write(folder, files):
    """Write files, and return the path of the source."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding='utf-8')
    return next(folder / name for name in files
                if name.endswith('.c') and not name.endswith('_example.c'))


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def small(text, *names):
    return exported(AdjustableRobot.of(Robot.from_urdf(text)), names or ['gravity'])


# ---- compilers ----------------------------------------------------------------------------------

EXPORTS = {
    'arm': lambda: exported(exported_robot('arm')),
    'all quantities': lambda: exported(exported_robot('free flyer'), [
        'inverse_dynamics', 'gravity', 'bias', 'coriolis_effort', 'friction', 'spring',
        'mass_matrix', 'joint_momentum', 'forward_dynamics']),
    'real': lambda: exported(exported_robot('panda'), ['inverse_dynamics']),
    'names': lambda: small(HOSTILE),
}


@pytest.mark.parametrize('is_float', [False, True], ids=['double', 'float'])
@pytest.mark.parametrize('language', LANGUAGES)
@pytest.mark.parametrize('using', COMPILERS)
@pytest.mark.parametrize('make', EXPORTS.values(), ids=EXPORTS)
def test_program_compiles_without_a_warning_and_passes_its_test(
        make, using, language, is_float, tmp_path):
    export = make()
    source = write(tmp_path, files_of(export, 'my_robot', is_float, example=True))
    program = compiled(tmp_path / 'program', *LANGUAGES[language], '-O1', '-Wshadow',
                       tmp_path / 'my_robot_example.c', source, using=using)
    result = run(program)
    assert result.returncode == 0, result.stdout
    first, _, *numbers = result.stdout.splitlines()
    assert first.startswith('self-test: largest deviation ')
    assert float(first.split()[-1]) < (1e-3 if is_float else 1e-12)
    expected = answer(export.robot, export.quantities[0], {
        'q': export.robot.neutral(), 'f_ext': np.zeros(6 * len(export.model.bodies)),
        **{name: np.zeros(export.robot.nv) for name in ('qd', 'qdd', 'tau')}})
    assert worst(np.array(numbers, float), expected) < 1e-4


def test_code_needs_libm_alone_and_has_no_variable(tmp_path):
    source = write(tmp_path, files_of(EXPORTS['all quantities'](), 'flyer'))
    found = symbols(compiled(tmp_path / 'o.o', '-std=c99', '-O2', '-fno-pic', '-c', source))
    assert {name for name, kind in found.items() if kind == 'U'} <= LIBM | FROM_THE_COMPILER
    assert {*found.values()} <= set('UTtrR')  # no data that could be written
    assert all(name.startswith('flyer_') for name, kind in found.items() if kind.isupper()
               and kind != 'U')


@pytest.mark.parametrize('language', LANGUAGES)
def test_two_robots_are_linked_together(language, tmp_path):
    sources = [write(tmp_path, files_of(exported(exported_robot(name)), prefix, is_float))
               for name, prefix, is_float in [('arm', 'left', False), ('gripper', 'right', True)]]
    (tmp_path / 'main.c').write_text("""
#include "left.h"
#include "right.h"
#include <stdio.h>
int main(void) {
  printf("%d %d %s %s\\n", LEFT_NV, RIGHT_NV, left_joints[1].name, right_bodies[3]);
  return left_self_test() < 1e-12 && right_self_test() < 1e-4f ? 0 : 1;
}
""", encoding='utf-8')
    result = run(compiled(
        tmp_path / 'both', *LANGUAGES[language], *sources, tmp_path / 'main.c'))
    assert (result.returncode, result.stdout) == (0, '2 3 elbow thumb\n')


# ---- what it computes ---------------------------------------------------------------------------


class Library:
    """Generated code behind ctypes."""

    def __init__(self, folder, export, is_float=False):
        self.real = np.float32 if is_float else np.float64
        self._export = export
        source = write(folder, files_of(export, 'r', is_float))
        self._library = shared_library(folder, source, '-O1')

    def run(self, quantity, inputs):
        """Return the numbers of a quantity, or None where it is refused."""
        trace = self._export.traces[quantity.name]
        arrays = [np.ascontiguousarray(inputs[name], self.real) for name, _ in trace.inputs]
        output = np.full(len(trace.outputs), np.nan, self.real)
        status = getattr(self._library, f'r_{identifier(quantity.name)}')(
            *(ctypes.c_void_p(array.ctypes.data) for array in (*arrays, output)))
        return output if status == 0 else None

    def parameters(self):
        """Return the constant array of parameters."""
        count = len(self._export.model.values)
        kind = (ctypes.c_float if self.real is np.float32 else ctypes.c_double) * count
        return np.array(kind.in_dll(self._library, 'r_parameters'))


NAMES = ('ur5', 'anymal', 'gripper', 'rover', 'free flyer', 'tree 3', 'tree 8')


@pytest.mark.parametrize('name', NAMES)
def test_double_agrees_with_the_library(name, tmp_path):
    export = exported(exported_robot(name))
    library = Library(tmp_path, export)
    assert library.parameters().tolist() == [*export.model.values]
    rng = np.random.default_rng(4)
    for _ in range(20):
        inputs = random_inputs(export.robot, rng)
        for quantity in export.quantities:
            ours = library.run(quantity, inputs)
            assert worst(ours, answer(export.robot, quantity, inputs)) <= 1e-12, quantity.name


@pytest.mark.parametrize('name', NAMES)
def test_float_is_as_near_as_its_rounding_allows(name, tmp_path):
    export = exported(exported_robot(name))
    library = Library(tmp_path, export, is_float=True)
    rng = np.random.default_rng(5)
    largest = 0.0
    for _ in range(10):
        inputs = random_inputs(export.robot, rng)
        for quantity in export.quantities:
            expected = answer(export.robot, quantity, inputs)
            bound = float_bound(export.traces[quantity.name], inputs)
            deviation = np.abs(library.run(quantity, inputs) - expected)
            assert (deviation <= bound + 1e-12 * np.abs(expected).max()).all(), quantity.name
            assert bound.max() <= 1e-2 * np.abs(expected).max(initial=0.1), 'the bound says little'
            largest = max(largest, worst(expected + deviation, expected))
    assert largest > 1e-9, 'it computes in double'


def test_refused_states_leave_the_output(tmp_path):
    export = exported(exported_robot('free flyer'), ['gravity', 'forward_dynamics'])
    library = Library(tmp_path, export)
    gravity, acceleration, _ = export.quantities
    inputs = random_inputs(export.robot, np.random.default_rng(6))
    assert library.run(gravity, inputs) is not None
    assert library.run(acceleration, {**inputs, 'tau': inputs['tau'] * 1e16}) is None
    assert library.run(acceleration, {**inputs, 'tau': inputs['tau'] * np.nan}) is None
    for length, is_accepted in ((1.0009, True), (1.0011, False)):  # its square is checked to 0.2 %
        state = {**inputs, 'q': inputs['q'].copy()}
        state['q'][3:7] *= length
        assert (library.run(gravity, state) is not None) is is_accepted


# ---- the self-test ------------------------------------------------------------------------------

FAULTS = {
    'a sign': ('  out[0] = n', '  out[0] = 0.0 - n'),
    'a parameter': ('const double r_parameters[R_PARAMETERS] = {\n    3.0',
                    'const double r_parameters[R_PARAMETERS] = {\n    3.001'),
    'not a number': ('  out[1] = n', '  out[1] = 0.0 * HUGE_VAL + n'),
    'a status': ('  return 0;\n}', '  return 1;\n}'),
    'the smallest number': ('  out[1] = ', '  out[1] = 1.01 * '),
}


@pytest.mark.parametrize('before, after', FAULTS.values(), ids=FAULTS)
def test_self_test_finds_a_fault(before, after, tmp_path):
    files = files_of(exported(exported_robot('gripper'), ['inverse_dynamics']), 'r', example=True)
    assert before in files['r.c']
    files['r.c'] = files['r.c'].replace(before, after, 1)
    source = write(tmp_path, files)
    assert run(compiled(
        tmp_path / 'p', '-std=c99', source, tmp_path / 'r_example.c')).returncode


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize('text, name', [
    ('ur5e', 'ur5e'), ('My Robot-2', 'my_robot_2'), ('3 arms', 'robot_3_arms'), ('*', 'robot'),
    ('ü', 'robot'), ('jacobian of tool0', 'jacobian_of_tool0')])
def test_names_in_c(text, name):
    assert identifier(text) == name


def test_parameters_that_no_function_reads_are_said():
    header = files_of(small(ARM, 'gravity'), 'r')['r.h']
    lines = {line.split()[0]: line for line in header.splitlines() if 'R_FIRST_' in line}
    assert 'no function reads it' in lines['R_FIRST_DAMPING']
    assert 'no function reads it' not in lines['R_FIRST_GRAVITY']


def test_joints_say_where_their_coordinates_and_limits_are(tmp_path):
    text = robot(
        link('base'), link('cart'), link('tip'),
        joint('planar', 'base', 'cart', kind='planar'), joint('arm', 'cart', 'tip', effort=5.0))
    write(tmp_path, files_of(small(text), 'r'))
    (tmp_path / 'main.c').write_text(
        '#include "r.h"\n#include <stdio.h>\nint main(void) {\n  int i;\n'
        '  for (i = 0; i < R_JOINTS; ++i) {\n    const r_joint *j = &r_joints[i];\n'
        '    printf("%s %d %d %d %d %g %g %g\\n", j->name, j->q, j->nq, j->v, j->nv, j->lower, '
        'j->upper, j->effort);\n  }\n  return 0;\n}\n', encoding='utf-8')
    program = compiled(tmp_path / 'p', '-std=c99', tmp_path / 'r.c', tmp_path / 'main.c')
    assert run(program).stdout.splitlines() == [
        'planar 0 3 0 3 -inf inf 100', 'arm 3 1 3 1 -3 3 5']


def test_names_of_joints_are_texts_as_they_are(tmp_path):
    write(tmp_path, files_of(small(HOSTILE), 'r'))
    (tmp_path / 'main.c').write_text(
        '#include "r.h"\n#include <stdio.h>\nint main(void) {\n  int i;\n'
        '  for (i = 0; i < R_JOINTS; ++i) printf("%s\\n", r_joints[i].name);\n  return 0;\n}\n',
        encoding='utf-8')
    program = compiled(tmp_path / 'p', '-std=c99', tmp_path / 'r.c', tmp_path / 'main.c')
    assert run(program).stdout.splitlines() == ['*/ int main(void) {', 'Gelenk "ü" \\ ??/']


def test_quantities_that_would_have_one_name_are_refused():
    text = ARM.replace('"upper"', '"a-b"').replace('"lower"', '"a_b"')
    arm = AdjustableRobot.of(Robot.from_urdf(text))
    export = exported(arm, ['gravity'], jacobians=['a-b', 'a_b'])
    with pytest.raises(ArgumentError, match=(
            "'jacobian of a-b' and 'jacobian of a_b' would both be r_jacobian_of_a_b in C: "
            'rename a link')):
        files_of(export, 'r')


def test_robot_that_does_not_move_is_refused():
    with pytest.raises(ArgumentError, match="'small' has no joint that moves"):
        files_of(small(robot(link('base'))))


def test_header_says_where_everything_is():
    header = files_of(exported(exported_robot('gripper')), 'r')['r.h']
    for line in ['  R_NQ = 3,', '  R_BODIES = 4,', ' *   grip (prismatic): q[2..2], v[2..2] [m]',
                 'extern const double r_parameters[R_PARAMETERS];', 'double r_self_test(void);',
                 '  R_FIRST_GRAVITY = 0 /* 3 [m/s^2] */,',
                 '  R_FIRST_DAMPING = 3 /* 1 for each body [Nm s/rad or N s/m] */,',
                 ' *   out: 3 x 3 numbers, row by row [kg m^2, kg m or kg]; not one of the inputs',
                 ' * J of v = J qd for the thumb: v is [angular; linear], in its axes.']:
        assert f'\n{line}\n' in header, line
