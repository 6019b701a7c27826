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
"""Kernels in Python have the graph's values, for one state and for rows, without LLVM."""

import math
import traceback

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics import quantities
from ros2_rnea.dynamics.parameters import RobotParameters
from ros2_rnea.dynamics.terms import GRAVITY
from ros2_rnea.kernels import python
from ros2_rnea.kernels.python import PythonKernels, source, VOCABULARY
from ros2_rnea.kernels.tracing import Variant
from small_robots import ARM
from written_kernels import traced, values_of

ARM_TREE = Robot.from_urdf(ARM).tree
PARAMETERS = RobotParameters(ARM_TREE, (0.0, 0.0, -9.81), {}).values


def run(trace, *arrays):
    """Return what the text of a trace computes."""
    namespace = dict(VOCABULARY)
    exec(source(trace), namespace)
    return namespace['kernel'](*arrays)


def test_text_is_one_line_for_each_operation_that_is_needed():
    trace = traced(lambda a, p: [-(np.sin(a[0]) * p[0]), a[0] / (a[1] * 2.0), 0.5], 3, 1)
    assert source(trace).splitlines() == [
        'def kernel(a, parameters):',
        '    n0 = a[0]',
        '    n1 = a[1]',
        '    n3 = parameters[0]',
        '    n4 = sin(n0)',
        '    n5 = n3 * n4',
        '    n7 = 2.0 * n1',
        '    n8 = quotient(n0, n7)',
        '    return [-n5, n8, 0.5]']


def test_every_operation_has_its_value():
    trace = traced(
        lambda a, p: [a[0] + p[0], a[0] - p[0], a[0] * p[0], a[0] / p[0], np.sin(a[0]),
                      np.cos(a[0]), np.sqrt(a[0]), -a[0], 1e300, -0.5, a[1]], 2, 1)
    assert run(trace, [3.0, -4.0], [0.75]) == values_of(trace, [3.0, -4.0], [0.75]).tolist()


@pytest.mark.parametrize('number', [math.inf, -math.inf, math.nan])
def test_constants_that_are_not_finite_are_written_too(number):
    trace = traced(lambda a, _: [number, a[0] + number], 1, 0)
    assert repr(run(trace, [1.0], [])) == repr([number, number])


@pytest.mark.parametrize('angle', [math.inf, -math.inf, math.nan])
def test_no_number_is_a_python_error(angle):
    trace = traced(lambda a, _: [
        np.sin(a[0]), np.cos(a[0]), np.sqrt(a[0] - 4.0), a[0] / a[1], 1.0 / a[1]], 2, 0)
    one = run(trace, [angle, 0.0], [])
    assert np.isnan(one[:2] + one[3:]).all()
    assert np.isnan(run(trace, [3.0, 1.0], [])[2])


@pytest.fixture(scope='module')
def kernels():
    return PythonKernels(ARM_TREE)


@pytest.mark.parametrize('count', [0, 1, 2, 7])
def test_rows_are_each_what_one_gives(kernels, count):
    asked = quantities.MASS_MATRIX, Variant(), PARAMETERS
    q, M = np.random.default_rng(5).random((count, 2)), np.empty((count, 2, 2))
    assert kernels.rows(*asked)(q, M) is True
    for row, matrix in zip(q, M):
        one = np.empty((2, 2))
        assert kernels.one(*asked)(row, one) is True
        np.testing.assert_allclose(matrix, one, rtol=1e-15)


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
    np.testing.assert_allclose(q, expected[0], rtol=1e-15)


def test_a_text_is_made_once_for_all_values_of_parameters(kernels, monkeypatch):
    traces = []
    trace = python.trace
    monkeypatch.setattr(python, 'trace', lambda *asked: traces.append(1) or trace(*asked))
    q, tau = np.array([0.1, 0.2]), np.empty(2)
    for factor in (1.0, 2.0):
        kernels.one(quantities.BIAS, Variant(), factor * PARAMETERS)(q, 0.0 * q, tau)
        kernels.rows(quantities.BIAS, Variant(), factor * PARAMETERS)(
            q[np.newaxis], 0.0 * q[np.newaxis], tau[np.newaxis])
    assert traces == [1]


def test_error_in_a_text_names_robot_and_quantity(kernels):
    with pytest.raises(IndexError) as caught:
        kernels.one(GRAVITY, Variant(), PARAMETERS)(np.zeros(1), np.zeros(2))
    assert traceback.extract_tb(caught.tb)[-1].filename == '<gravity of arm>'
