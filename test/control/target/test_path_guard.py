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
"""Off the path and back on it, with hysteresis."""

from math import inf, pi

import numpy as np
import pytest
from ros2_rnea.control.target.path_guard import PathGuard

PATH = np.array([1.0, -2.0, 3.0])


@pytest.fixture
def guard():
    one = PathGuard([False, True, False])
    one.set_tolerances(np.array([0.2, 0.2, 0.05]), ('turning', 'turning', 'sliding'))
    return one


def off(guard, *distance):
    deviation = guard.deviation(PATH, PATH + distance)
    return None if deviation is None else deviation.tolist()


@pytest.mark.parametrize('joint, tolerance', enumerate([0.2, 0.2, 0.05]))
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_joint_leaves_at_its_tolerance_and_is_back_at_half_of_it(
        guard, joint, tolerance, sign):
    one = sign * np.eye(3)[joint]
    for share, has_left in (
            (0.99, False), (1.01, True), (0.99, True), (0.51, True), (0.49, False),
            (0.99, False)):
        assert (off(guard, *(share * tolerance * one)) is not None) is has_left
        assert guard.has_left is has_left


def test_joints_count_each_for_itself(guard):
    assert off(guard, 0.19, 0.19, 0.049) is None
    assert off(guard, 0.19, 0.19, 0.051) == pytest.approx([0.19, 0.19, 0.051])
    assert off(guard, 0.09, -0.11, 0.0) == pytest.approx([0.09, -0.11, 0.0])


def test_whole_turns_of_a_continuous_joint_are_no_distance(guard):
    assert off(guard, 0.0, 2.0 * pi + 0.1, 0.0) is None
    assert off(guard, 0.0, 2.0 * pi - 0.3, 0.0) == pytest.approx([0.0, -0.3, 0.0])
    assert off(guard, 2.0 * pi, 0.0, 0.0) is not None


def test_what_has_no_tolerance_may_be_anywhere(guard):
    guard.set_tolerances(np.array([inf, 0.2, inf]), 'abc')
    assert off(guard, 9.0, 0.19, 9.0) is None
    assert off(guard, 9.0, 0.21, 9.0) is not None
    guard.set_tolerances(np.full(3, inf), 'abc')
    assert off(guard, 9.0, 9.0, 9.0) is None
    assert not guard.has_left


def test_on_a_new_path_it_starts_anew(guard):
    assert off(guard, 0.3, 0.0, 0.0)
    guard.reset()
    assert off(guard, 0.15, 0.0, 0.0) is None


def test_it_says_which_tolerance_a_joint_is_not_within(guard):
    assert guard.explain(np.array([0.09, -0.3, 0.03])) == {
        1: 'by -0.300, beyond turning 0.2', 2: 'by +0.030, not yet within half of sliding 0.05'}
