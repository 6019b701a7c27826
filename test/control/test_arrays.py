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
"""Indices and flags of short arrays."""

from itertools import product

from hypothesis import given, strategies
import numpy as np
import pytest
from ros2_rnea.control.arrays import all_set, any_set, as_indices


@pytest.mark.parametrize('flags', [(), *product((False, True), repeat=3)])
def test_any_and_all_are_what_they_are_of_a_list(flags):
    array = np.array(flags, dtype=bool)
    assert (any_set(array), all_set(array)) == (any(flags), all(flags))


def test_shape_and_order_do_not_matter():
    flags = np.zeros((4, 6), dtype=bool)
    flags[2, 3] = True
    for view in (flags, flags.T, flags[:, 1::2], flags[::-1]):
        assert any_set(view)
        assert not all_set(view)
    assert not any_set(flags[:, ::2])
    assert all_set(~flags[:, ::2])


@given(strategies.lists(strategies.integers(0, 19), max_size=8))
def test_indices_take_the_same_items_as_a_list(indices):
    array = np.arange(100.0, 120.0)
    assert array[as_indices(indices)].tolist() == [array[i] for i in indices]


@pytest.mark.parametrize('start', [0, 1, 7])
@pytest.mark.parametrize('count', [1, 2, 6])
def test_indices_without_a_gap_are_a_slice(start, count):
    assert as_indices(range(start, start + count)) == slice(start, start + count)
