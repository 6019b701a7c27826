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
"""The hand-over of the effort: no step, an end, and no longer for beginning again."""

from math import exp

import numpy as np
import pytest
from ros2_rnea.control.output.hand_over import HandOverMemory, TIME_CONSTANTS


@pytest.fixture
def begun():
    """Return a hand-over of 8 and -4 that begins at 10 s and lasts 2 s."""
    one = HandOverMemory(np.zeros(2))
    one.begin(np.array([8.0, -4.0]), 10.0, 2.0)
    return one


def test_nothing_is_added_before_one_begins():
    one = HandOverMemory(np.zeros(2))
    assert not one.is_active
    assert one.rest(5.0).tolist() == [0.0, 0.0]


def test_it_leads_from_the_whole_difference_to_none(begun):
    assert begun.rest(10.0).tolist() == [8.0, -4.0]
    half = 0.5 * exp(-0.5 * TIME_CONSTANTS)
    assert begun.rest(11.0) == pytest.approx([8.0 * half, -4.0 * half])
    assert begun.is_active
    assert begun.rest(12.0).tolist() == [0.0, 0.0]
    assert not begun.is_active


def test_it_decays_the_same_in_many_cycles_and_in_one(begun):
    many = [begun.rest(10.0 + 0.001 * step) for step in range(1500)][-1]
    one = HandOverMemory(np.zeros(2))
    one.begin(np.array([8.0, -4.0]), 10.0, 2.0)
    assert many == pytest.approx(one.rest(10.0 + 0.001 * 1499))


def test_it_only_ever_decays_and_is_steepest_at_its_begin(begun):
    values = np.array([begun.rest(10.0 + 0.01 * step)[0] for step in range(201)])
    steps = -np.diff(values)
    assert (steps >= 0.0).all()
    assert steps.max() == steps[0] <= (1.0 + TIME_CONSTANTS) * 8.0 * 0.01 / 2.0


@pytest.mark.parametrize('period', [0.001, 0.02, 0.1])
def test_begun_often_it_decays_in_a_third_of_its_duration(period):
    """Gravity that is set at 50 Hz would never be reached otherwise."""
    again = HandOverMemory(np.zeros(1))
    for step in range(round(0.5 / period)):
        now = step * period
        again.begin(again.rest(now) if step else np.array([8.0]), now, 0.5)
        assert again.rest(now)[0] <= 8.0 * exp(-3.0 * now / 0.5) + 1e-12


def test_a_small_change_of_model_hurries_none(begun):
    plain = HandOverMemory(np.zeros(2))
    plain.begin(np.array([8.0, -4.0]), 10.0, 2.0)
    begun.add(np.array([1.0, 0.0]), 10.5, 0.1)
    left = begun.rest(11.5) / (plain.rest(10.5) + [1.0, 0.0])
    plain = HandOverMemory(np.zeros(2))
    plain.begin(np.array([8.0, -4.0]), 10.0, 2.0)
    at_begin = plain.rest(10.5)
    assert left == pytest.approx(plain.rest(11.5) / at_begin)
    assert begun.end == 12.0


def test_any_other_one_takes_its_place(begun):
    begun.begin(begun.rest(10.5), 10.5, 0.1)
    assert begun.end == pytest.approx(10.6)
    assert begun.rest(10.6).tolist() == [0.0, 0.0]


def test_a_duration_of_zero_ends_it(begun):
    begun.begin(np.array([8.0, -4.0]), 10.5, 0.0, of_model=True)
    assert not begun.is_active
    assert begun.rest(10.5).tolist() == [0.0, 0.0]


def test_a_jump_back_neither_changes_nor_lengthens_it(begun):
    before = begun.rest(11.0)
    assert begun.rest(3.0) == pytest.approx(before)
    assert begun.rest(4.0).tolist() == [0.0, 0.0]


def test_it_is_of_the_model_while_it_lasts(begun):
    assert not begun.is_of_model
    begun.begin(begun.rest(10.1), 10.1, 1.0, of_model=True)
    assert begun.is_of_model
    begun.begin(begun.rest(10.2), 10.2, 1.0)  # for another reason
    assert begun.is_of_model
    begun.end_now()
    begun.begin(np.ones(2), 11.0, 1.0)
    assert not begun.is_of_model
