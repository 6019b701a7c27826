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
"""A low-pass for irregular readings: exact, within their range, and none counts at once."""

from __future__ import annotations

from math import exp, inf

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from ros2_rnea.control.signals import LowPass, remaining_weight

T = 0.5
NOW = 20.0

pytestmark = pytest.mark.filterwarnings('error')


def after(*readings, time_constant=T, initial=1.0, longest_gap=inf):
    """Return what a filter says after readings (time, number)."""
    low_pass = LowPass(time_constant, np.array([initial]), longest_gap)
    for time, number in readings:
        low_pass.update(np.array([number]), time)
    return low_pass.value.item()


def test_up_to_the_first_reading_the_initial_value_counts():
    assert after() == 1.0
    assert after((NOW, 5.0)) == 1.0


@pytest.mark.parametrize('gap, share', [
    (0.0, 0.0), (1e-12, 2e-12), (0.1, 1.0 - exp(-0.2)), (0.5, 1.0 - exp(-1.0)), (1e300, 1.0)])
def test_a_step_is_answered_as_the_differential_equation_has_it(gap, share):
    found = after((NOW, 11.0), (NOW + gap, 11.0), initial=10.0)
    assert found - 10.0 == pytest.approx(share, abs=4e-15)


def test_how_often_a_level_is_read_changes_nothing():
    often = [(NOW + k / 64.0, 3.0) for k in range(65)]
    seldom = [(NOW, 3.0), (NOW + 0.1, 3.0), (NOW + 0.7, 3.0), (NOW + 1.0, 3.0)]
    expected = 3.0 + (1.0 - 3.0) * exp(-1.0 / T)
    assert after(*often) == pytest.approx(expected, rel=1e-13)
    assert after(*seldom) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize('changes, time, expected', [
    ({}, NOW, 1.0),                                       # no time has passed
    ({}, NOW - 1e-6, 1.0),                                # the clock went back
    ({'longest_gap': 0.1}, NOW + 0.2, 2.0 - exp(-0.2)),   # a gap
    ({'longest_gap': 0.1}, NOW + 0.05, 2.0 - exp(-0.1)),  # none
    ({'time_constant': 0.0}, NOW, 2.0),                   # no filter
    ({'time_constant': 1e-300}, NOW + 1e10, 2.0),
])
def test_no_reading_counts_at_once_unless_there_is_no_filter(changes, time, expected):
    assert after((NOW, 1.0), (time, 2.0), **changes) == pytest.approx(expected, rel=1e-14)


def test_it_goes_on_after_a_step_back_in_time():
    found = after((NOW, 1.0), (1.0, 2.0), (1.0 + T, 3.0))
    assert found == pytest.approx(3.0 - 2.0 * exp(-1.0))


@settings(max_examples=200)
@given(st.lists(st.tuples(
    st.floats(-1.0, 10.0), st.floats(allow_nan=False, allow_infinity=False)), min_size=1),
    st.sampled_from([0.0, 1e-9, T, 1e9]))
def test_it_never_leaves_the_range_of_the_readings(steps, time_constant):
    low_pass, now = LowPass(time_constant, np.array([1.0]), inf), NOW
    for gap, number in steps:
        now += gap
        low_pass.update(np.array([number]), now)
    numbers = [1.0, *(number for _, number in steps)]
    slack = 1e-12 * max(map(abs, numbers))
    assert min(numbers) - slack <= low_pass.value.item() <= max(numbers) + slack


def test_readings_far_apart_do_not_overflow():
    steps = (NOW, -1.7e308), (NOW + 20.0 * T, 1.7e308)
    assert after(*steps, initial=-1.7e308) == pytest.approx(1.7e308)


def test_a_value_does_not_change_with_the_next_one():
    low_pass = LowPass(T, np.array([1.0]), inf)
    first = low_pass.update(np.array([1.0]), NOW)
    second = low_pass.update(np.array([2.0]), NOW + T)
    low_pass.update(np.array([3.0]), NOW + 2.0 * T)
    assert (first.item(), second.item()) == (1.0, pytest.approx(2.0 - exp(-1.0)))


def test_a_successor_goes_on_from_there():
    older = LowPass(T, np.array([1.0]), inf)
    older.update(np.array([1.0]), NOW)
    newer = LowPass(2.0 * T, np.array([9.0]), inf, older.memory)
    assert newer.received == NOW
    assert newer.update(np.array([2.0]), NOW + T).item() == pytest.approx(2.0 - exp(-0.5))


@pytest.mark.parametrize('age, duration, share', [
    (-1.0, 2.0, 1.0), (0.0, 2.0, 1.0), (0.5, 2.0, 0.84375), (1.0, 2.0, 0.5), (2.0, 2.0, 0.0),
    (9.0, 2.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_fade_goes_from_one_to_zero_over_the_duration(age, duration, share):
    assert remaining_weight(age, duration) == share


@pytest.mark.parametrize('age', [0.0, 2.0])
def test_a_fade_begins_and_ends_without_a_kink(age):
    before, after = remaining_weight(age - 1e-6, 2.0), remaining_weight(age + 1e-6, 2.0)
    assert before == pytest.approx(after, abs=1e-11)
