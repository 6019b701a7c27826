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
"""Sines and cosines of kernels are right to a rounding, or refused; on every CPU at hand."""

from math import cos, inf, nan, pi, sin

import numpy as np
import pytest
from ros2_rnea.kernels import machine
from ros2_rnea.kernels.sine import bound
from written_kernels import one_of, played_by_host, rows_of, traced, with_lanes

if not machine.available():
    pytest.skip('llvmlite is not installed', allow_module_level=True)

BOTH = traced(lambda a, _: (np.sin(a[0]), np.cos(a[0])), 1, 0)
NOTHING = np.zeros(1)
ROUNDING = 2.3e-16
"""The last place of numbers just below 1, twice: what C's library and we may each be off."""

LAST_PLACES = 3.0
"""How many units in the last place we may be off, 2.4, and C's library."""

# Narrow, so that the tests are those of all numbers of lanes; what lanes do stands in test_llvm.
CPUS = {
    f'{name}, {lanes} at a time': with_lanes(target, lanes)
    for name, target in played_by_host().items() for lanes in (1, 2, 4)}


@pytest.fixture(scope='module', params=CPUS.values(), ids=CPUS)
def cpu(request):
    return request.param


@pytest.fixture(scope='module')
def rows(cpu):
    return rows_of(BOTH, cpu)


def of(rows, angles):
    """Return sines and cosines, which the kernel must not refuse."""
    angles = np.asarray(angles, dtype=float).reshape(-1, 1)
    result = np.full((len(angles), 2), nan)
    assert rows(angles, NOTHING, result) == 0
    return result


def check(rows, angles):
    expected = np.array([(sin(angle), cos(angle)) for angle in angles])
    error = np.abs(of(rows, angles) - expected)
    assert np.max(error) <= ROUNDING
    assert np.max(error / np.spacing(np.abs(expected))) <= LAST_PLACES


@pytest.mark.parametrize('most', [1.0, 4.0, 1e3, None])
def test_angles_of_all_sizes(rows, cpu, most):
    rng = np.random.default_rng(7)
    most = most or bound(cpu.fused)
    check(rows, rng.uniform(-most, most, 20_000))
    check(rows, most * 10.0**rng.uniform(-12.0, 0.0, 5_000) * rng.choice([-1.0, 1.0], 5_000))


def test_bound_is_a_million_or_a_billion(cpu):
    assert bound(cpu.fused) == (1e9 if cpu.fused else 1e6)


def test_bound_itself_is_computed(rows, cpu):
    check(rows, [bound(cpu.fused), -bound(cpu.fused)] * 4)


def test_angles_next_to_multiples_of_an_eighth_turn(rows, cpu):
    most = int(bound(cpu.fused) / (pi / 4.0)) - 1
    counts = np.unique([*range(-200, 201), *np.random.default_rng(8).integers(-most, most, 3_000)])
    near = counts * (pi / 4.0)
    check(rows, np.concatenate([near, np.nextafter(near, inf), np.nextafter(near, -inf)]))


# The doubles that are closest to a multiple of a quarter turn: 6e-19 to 2e-14 are left over.
CLOSEST = (45.553093477052, 182.212373908208, 3970.9731141374987, 339855.92246901704,
           1176868.8823686189, 146355347.48393348)


def test_remainders_of_quarter_turns_have_all_digits(rows, cpu):
    angles = [angle for angle in CLOSEST if angle <= bound(cpu.fused)]
    assert len(angles) >= 4
    expected = np.array([(sin(angle), cos(angle)) for angle in angles])
    np.testing.assert_allclose(of(rows, angles), expected, rtol=1e-14)


@pytest.mark.parametrize('angle', [0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.3e-308, -1e-200, 1e-9])
def test_small_angles_are_their_own_sines(rows, angle):
    assert of(rows, [angle] * 8).tolist() == [[angle, 1.0]] * 8


def test_nan_gives_nan_and_nothing_else_does(rows):
    angles = np.linspace(-3.0, 3.0, 9)
    angles[[0, 5, 8]] = nan
    assert np.isnan(of(rows, angles)).tolist() == [[angle != angle] * 2 for angle in angles]


TOO_LARGE = [inf, -inf, 1e15, -1e300, 1.7e308]


def test_angles_beyond_the_bound_are_refused_in_any_row(cpu, rows):
    just_beyond = np.nextafter(bound(cpu.fused), inf)
    for angle in (*TOO_LARGE, just_beyond, -just_beyond):
        for place in range(9):
            angles = np.linspace(-3.0, 3.0, 9)[:, np.newaxis]
            angles[place] = angle
            assert rows(angles, NOTHING, np.empty((9, 2))) == 1


SIZE = 5
OF_ROBOT = traced(
    lambda a, _: [function(angle) for angle in a for function in (np.sin, np.cos)], SIZE, 0)


def test_one_state_refuses_each_of_its_angles(cpu):
    one = one_of(OF_ROBOT, cpu)
    for place in range(SIZE):
        for angle in (*TOO_LARGE, 2.0 * bound(cpu.fused)):
            angles, result = np.ones(SIZE), np.full(2 * SIZE, 7.0)
            angles[place] = angle
            assert one(angles, NOTHING, result) == 1
            assert result.tolist() == [7.0] * 2 * SIZE


def test_one_state_has_the_sine_and_cosine_of_each_angle(cpu):
    angles, result = np.array([0.1, -2.0, nan, 700.0, -5e5]), np.empty(2 * SIZE)
    assert one_of(OF_ROBOT, cpu)(angles, NOTHING, result) == 0
    expected = [function(angle) for angle in angles for function in (sin, cos)]
    np.testing.assert_allclose(result, expected, rtol=0.0, atol=ROUNDING)


def test_angles_that_are_computed_from_sines_are_bounded_too(cpu):
    kernel = traced(lambda a, _: [np.sin(np.cos(a[0]) * 1e12)], 1, 0)
    for call, shape in ((one_of(kernel, cpu), ()), (rows_of(kernel, cpu), (cpu.width,))):
        assert call(np.ones((*shape, 1)), NOTHING, np.empty((*shape, 1))) == 1
    kernel = traced(lambda a, _: [np.sin(np.cos(a[0]) * 100.0)], 1, 0)
    for call, shape in ((one_of(kernel, cpu), ()), (rows_of(kernel, cpu), (cpu.width,))):
        result = np.empty((*shape, 1))
        assert call(np.ones((*shape, 1)), NOTHING, result) == 0
        np.testing.assert_allclose(result, sin(100.0 * cos(1.0)), rtol=0.0, atol=1e-13)
