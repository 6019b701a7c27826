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
"""The programs in C of the page about microcontrollers: they compile, and do what it says."""

from __future__ import annotations

import ctypes
import re
from textwrap import dedent

from example_robots import example_urdf
from exported import EXAMPLES, exported, shared_library, TAPE_C
import numpy as np
import pytest
from repository import ROOT
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.export.c_code import c_files, Style
from ros2_rnea.export.model_file import encoded
from ros2_rnea.model.description import Inertial, Pose

PAGE = ROOT / 'docs' / 'how-to' / 'microcontroller.rst'
LINK = 'tool0'


@pytest.fixture(scope='module')
def programs():
    """Return the text of each program: one cycle, parameters, the interpreter."""
    text = PAGE.read_text(encoding='utf-8')
    blocks = re.findall(r'\.\. code-block:: c\n\n((?: {3}.*\n|\n)+)', text)
    assert len(blocks) == 3
    return [dedent(block) for block in blocks]


@pytest.fixture(scope='module')
def export():
    robot = Robot.from_urdf(example_urdf(EXAMPLES['ur5'][0]), engine='textbook')
    return exported(
        AdjustableRobot.of(robot, [LINK]), ['inverse_dynamics', 'gravity'], [],
        wrenches=False)


@pytest.fixture
def library(export, tmp_path):
    """Return a function that makes a library of a program and the generated C."""
    def make(program, source):
        for name, text in c_files(export.robot, export.model, export.quantities, export.traces,
                                  Style('arm', is_float=True)).items():
            (tmp_path / name).write_text(text, encoding='utf-8')
        (tmp_path / 'program.c').write_text(
            f'{program}\n#include "{source}"\n', encoding='utf-8')
        return shared_library(tmp_path, tmp_path / 'program.c', f'-I{TAPE_C.parent}')

    return make


def single(*values):
    return (ctypes.c_float * len(values))(*values)


def test_one_cycle_returns_an_effort_within_the_limits(programs, export, library):
    feedforward = library(programs[0], 'arm.c').feedforward
    q, qd, qdd = np.random.default_rng(8).uniform(-1.0, 1.0, (3, 6))
    tau = single(*[0.0] * 6)
    assert feedforward(single(*q), single(*qd), single(*qdd), tau) == 0
    np.testing.assert_allclose(tau, export.robot.inverse_dynamics(q, qd, qdd), atol=1e-3)
    for wrong in (1e4, np.nan):
        assert feedforward(single(*q), single(*qd), single(wrong, *qdd[1:]), tau) == 1


def test_parameters_change_what_is_computed(programs, export, library):
    program = library(
        f'{programs[1]}\nint held(const float *q, float *tau);\n'
        'int held(const float *q, float *tau) { return arm_gravity(q, parameters, tau); }',
        'arm.c')
    robot = AdjustableRobot.of(export.robot, [LINK])
    q, tau = np.random.default_rng(9).uniform(-1.0, 1.0, 6), single(*[0.0] * 6)
    program.begin()
    assert program.held(single(*q), tau) == 0
    np.testing.assert_allclose(tau, robot.gravity(q), atol=1e-3)
    program.tilt()
    body = robot.tree.links[LINK].body
    program.carry(body, *map(ctypes.c_float, (2.0, 0.1, -0.2, 0.3)))
    assert program.held(single(*q), tau) == 0
    robot.set_gravity((9.81, 0.0, 0.0))
    robot.set_payload('load', robot.body_names[body], Inertial(2.0, Pose((0.1, -0.2, 0.3))))
    np.testing.assert_allclose(tau, robot.gravity(q), atol=1e-3)


def test_ten_numbers_of_a_payload_are_those_of_the_library(programs, export, library):
    program = library(
        f'{programs[1]}\nvoid copy(float *to);\n'
        'void copy(float *to) { memcpy(to, parameters, sizeof parameters); }', 'arm.c')
    robot = AdjustableRobot.of(export.robot, [LINK])
    body = robot.tree.links[LINK].body
    robot.set_payload('load', robot.body_names[body], Inertial(2.0, Pose((0.1, -0.2, 0.3))))
    values = single(*[0.0] * len(export.model.values))
    program.begin()
    program.carry(body, *map(ctypes.c_float, (2.0, 0.1, -0.2, 0.3)))
    program.copy(values)
    np.testing.assert_allclose(values, robot.parameter_values, rtol=1e-5)


def test_interpreter_holds_the_arm(programs, export, library):
    program = library(programs[2], 'tape.c')
    program.begin.restype = ctypes.c_char_p
    content = encoded(export.model)
    file = np.frombuffer(content, '<f8').copy()  # aligned
    address = ctypes.c_void_p(file.ctypes.data)
    q = np.random.default_rng(9).uniform(-1.0, 1.0, 6)
    tau = (ctypes.c_double * 6)()
    assert program.begin(address, ctypes.c_size_t(len(content))) is None
    assert program.hold((ctypes.c_double * 6)(*q), tau) == 0
    np.testing.assert_allclose(tau, export.robot.gravity(q), rtol=1e-12, atol=1e-12)
    assert b'not the size' in program.begin(address, ctypes.c_size_t(len(content) - 8))
