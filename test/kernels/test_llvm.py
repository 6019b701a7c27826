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
"""Kernels are made for every CPU, run on those at hand, and touch nothing but their arrays."""

import os
import subprocess
import sys

from elf import AARCH64, elf_machine, undefined_symbols, X86_64
import numpy as np
import pytest
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.dynamics import quantities
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS
from ros2_rnea.kernels import llvm, machine
from ros2_rnea.kernels.tracing import Guard, trace, Variant
from small_robots import ARM_WITH_GRIPPER, FREE_FLYER
from written_kernels import (
    code_of,
    NAMED,
    one_of,
    played_by_host,
    rows_of,
    traced,
    values_of,
    with_lanes,
)

if not machine.available():
    pytest.skip('llvmlite is not installed', allow_module_level=True)

LANES = (1, 2, 4, 8)
CPUS = {f'{name}, {lanes} at a time': with_lanes(target, lanes)
        for name, target in played_by_host().items() for lanes in LANES}
for_each_cpu = pytest.mark.parametrize('cpu', CPUS.values(), ids=CPUS)


def everything(a, b, p):
    """Return numbers that take every kind of operation, in all places where it may stand."""
    turned = np.sin(a[0] + p[0]) * b[1] - np.cos(a[1] * 0.5) / (b[0] * b[0] + 2.0)
    root = np.sqrt(a[2] * a[2] + p[1] * p[1])
    both = np.sin(np.sqrt(b[0] * b[0])) * np.cos(np.sqrt(b[1] * b[1]))
    return [turned, -turned, root, -np.sin(root - turned), a[1], -b[1], 2.5, -0.5, 0.0, 1.0 / root,
            p[0], np.cos(a[1] * 0.5), both]


EVERYTHING = traced(everything, 3, 2, 2)


def drawn(trace_, *rows):
    """Return random inputs, the last one the same for all rows, and an output to be written."""
    rng = np.random.default_rng(3)
    *sizes, last = [size for _, size in trace_.inputs]
    return [*(rng.uniform(-2.0, 2.0, (*rows, size)) for size in sizes),
            rng.uniform(-2.0, 2.0, last), np.full((*rows, len(trace_.outputs)), np.nan)]


def assert_right(trace_, call, *rows):
    *inputs, output = drawn(trace_, *rows)
    assert call(*inputs, output) == 0
    np.testing.assert_allclose(output, values_of(trace_, *inputs), rtol=1e-14, atol=1e-14)


# --- code for all

ROBOTS = {'mimics': ARM_WITH_GRIPPER, 'quaternions': FREE_FLYER}
FORWARD = {name: trace(Robot.from_urdf(text).tree, quantities.FORWARD_DYNAMICS,
                       Variant(JOINT_PARAMETERS, (0,), True))
           for name, text in ROBOTS.items()}


@pytest.mark.parametrize('function', ['one', 'rows'])
@pytest.mark.parametrize('lanes', LANES)
@pytest.mark.parametrize('name', NAMED)
@pytest.mark.parametrize('trace_', [EVERYTHING, *FORWARD.values()], ids=['all', *FORWARD])
def test_code_for_every_cpu_expects_nothing_from_elsewhere(trace_, name, lanes, function):
    code = code_of(trace_, function, with_lanes(NAMED[name], lanes))
    assert elf_machine(code) == (AARCH64 if 'Arm' in name else X86_64)
    assert undefined_symbols(code) == set()


@pytest.mark.parametrize('name, register', {
    'x86-64': 'xmm', 'AVX2': 'ymm', 'AVX-512': 'zmm', '64-bit Arm': '.2d'}.items())
def test_rows_are_computed_in_the_widest_registers_of_each_cpu(name, register):
    target = NAMED[name]
    code = machine.assembly(llvm.rows(EVERYTHING, target), target)
    assert register in code
    assert ('mulpd' in code) or ('fmul' in code)


def test_code_is_the_same_each_time():
    assert code_of(EVERYTHING) == code_of(traced(everything, 3, 2, 2))


# --- numbers

@for_each_cpu
def test_one_state_has_the_graphs_values(cpu):
    assert_right(EVERYTHING, one_of(EVERYTHING, cpu))


@for_each_cpu
def test_rows_have_the_graphs_values_in_any_number(cpu):
    rows = rows_of(EVERYTHING, cpu)
    for count in [*range(cpu.width, 3 * cpu.width + 2), 1000]:
        assert_right(EVERYTHING, rows, count)


@for_each_cpu
def test_nan_reaches_what_depends_on_it_and_no_other_row(cpu):
    rows = rows_of(EVERYTHING, cpu)
    *inputs, output = drawn(EVERYTHING, 2 * cpu.width + 1)
    inputs[0][cpu.width] = np.nan
    assert rows(*inputs, output) == 0
    expected = np.isnan(values_of(EVERYTHING, *inputs))
    assert expected.any() and np.array_equal(np.isnan(output), expected)


def test_output_of_one_state_may_be_any_of_its_inputs():
    kernel = traced(lambda a, b, _: [a[2] - b[0], a[1] * b[1], a[0] + b[2]], 3, 3, 0)
    one = one_of(kernel)
    for shared in (0, 1):
        *inputs, _ = drawn(kernel)
        expected = values_of(kernel, *inputs)
        assert one(*inputs, inputs[shared]) == 0
        assert inputs[shared].tolist() == expected.tolist()


def test_kernel_without_inputs_or_outputs_is_one():
    nothing = traced(lambda a, _: [], 0, 0)
    constant = traced(lambda a, _: [2.0], 0, 0)
    width = machine.host().width
    for kernel, size in ((nothing, 0), (constant, 1)):
        for call, shape in ((one_of(kernel), ()), (rows_of(kernel), (width + 1,))):
            output = np.zeros((*shape, size))
            assert call(np.zeros((*shape, 0)), np.zeros(0), output) == 0
            assert np.all(output == 2.0)


# --- guards

GUARDED = traced(
    lambda a, _: [a[0] * 2.0], 2, 0,
    guards=(lambda a, _: Guard(a[0] + a[1], 8.0), lambda a, _: Guard(a[0], 100.0, nan=True)))


@pytest.mark.parametrize('state, status', [
    ((1.0, 2.0), 0), ((4.0, 4.0), 0), ((-4.0, -4.0), 0),
    ((4.0, 4.1), 1), ((-4.0, -4.1), 1), ((1.0, np.inf), 1), ((-101.0, 101.0), 1),
    ((1.0, np.nan), 0), ((np.nan, 1.0), 1)])
@for_each_cpu
def test_number_beyond_its_bound_is_refused(cpu, state, status):
    output = np.full(1, 7.0)
    assert one_of(GUARDED, cpu)(np.array(state), np.zeros(0), output) == status
    if status:
        assert output[0] == 7.0  # nothing is written
    states = np.ones((2 * cpu.width + 1, 2))
    rows = rows_of(GUARDED, cpu)
    for place in range(len(states)):
        others = states.copy()
        others[place] = state
        assert rows(others, np.zeros(0), np.empty((len(states), 1))) == status


# --- memory

@pytest.mark.slow
def test_nothing_around_the_arrays_is_read_or_written():
    program = ROOT / 'test' / 'support' / 'fenced_kernels.py'
    result = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join([str(ROOT), *sys.path])})
    assert result.returncode == 0, result.stderr[-2000:] or f'died of signal {-result.returncode}'
    assert int(result.stdout) > 1600  # all sizes on this CPU alone
