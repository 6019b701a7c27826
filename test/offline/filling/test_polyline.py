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
"""Straight lines between few samples of curves pass near all the others."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from ros2_rnea.offline.filling.polyline import knots, lines_at

TIMES = np.arange(6.0)


def kept_of(*values, tolerance=0.5):
    curve = np.array(values, dtype=float)[:, np.newaxis]
    return knots(np.arange(float(len(values))), curve, np.array([tolerance]))


@pytest.mark.parametrize('values, kept', [
    ((3,), [0]),
    ((3, 5), [0, 1]),
    ((0, 1, 2, 3, 4), [0, 4]),
    ((0, 0.4, 0, 0.4, 0), [0, 4]),
    ((0, 0.6, 0, 0.6, 0), [0, 3, 4]),
    ((0, 0, 0, 3, 0, 0), [0, 2, 3, 4, 5]),
    ((0, 1, 2, 3, 2, 1, 0), [0, 3, 6]),
])
def test_a_line_goes_as_far_as_it_can(values, kept):
    assert kept_of(*values) == kept


def test_a_sample_no_line_may_lead_to_is_passed():
    # From 0 the line to 1 and to 2 is refused, and the one to 4 passes near both.
    assert kept_of(0, 0.4, -0.4, 0, 0, tolerance=0.45) == [0, 4]


def test_all_curves_have_a_say():
    straight, bent = TIMES, np.array([0.0, 0, 0, 3, 3, 3])
    assert knots(TIMES, np.stack([straight, bent], axis=1), np.array([0.5, 0.5])) == [0, 2, 3, 5]


def test_long_lines_are_found_too():
    times = np.arange(5000.0)
    assert knots(times, np.stack([times, -times], axis=1), np.array([0.5, 0.5])) == [0, 4999]


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=200),
       st.floats(0.01, 5.0))
def test_lines_are_within_the_tolerance_of_all_samples(values, tolerance):
    times, curves = np.arange(float(len(values))), np.array(values)
    kept = knots(times, curves, np.array([tolerance, 2.0 * tolerance]))
    assert kept[0] == 0 and kept[-1] == len(values) - 1
    off = np.abs(lines_at(times, times[kept], curves[kept]) - curves).max(axis=0)
    assert (off <= np.array([tolerance, 2.0 * tolerance]) + 1e-12).all()
