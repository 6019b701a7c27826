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
"""No effort leaves that exceeds its limit: it is cut, or all are made smaller."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.output.saturation import clamp, scale


@pytest.mark.parametrize('effort, limit, clamped, cut', [
    (0.0, 5.0, 0.0, False),
    (4.9, 5.0, 4.9, False),
    (5.0, 5.0, 5.0, False),
    (-5.0, 5.0, -5.0, False),
    (5.1, 5.0, 5.0, True),
    (-5.1, 5.0, -5.0, True),
    (1e300, 5.0, 5.0, True),
    (0.1, 0.0, 0.0, True),
    (0.0, 0.0, 0.0, False),
    (1e300, inf, 1e300, False),
    (-1e300, inf, -1e300, False),
])
def test_an_effort_is_cut_to_its_limit(effort, limit, clamped, cut):
    values, which = clamp(np.array([effort]), np.array([limit]))
    assert values.tolist() == [clamped]
    assert which.tolist() == [cut]


def test_each_joint_has_its_own_limit():
    values, which = clamp(np.array([-9.0, 9.0, 9.0]), np.array([5.0, 10.0, inf]))
    assert values.tolist() == [-5.0, 9.0, 9.0]
    assert which.tolist() == [True, False, False]


def test_the_effort_given_stays_as_it_is():
    effort = np.array([9.0])
    clamp(effort, np.array([5.0]))
    assert effort.tolist() == [9.0]


@pytest.mark.parametrize('effort, limits, scaled, beyond', [
    ([4.0, -3.0], [5.0, 5.0], [4.0, -3.0], [False, False]),
    ([10.0, -3.0], [5.0, 5.0], [5.0, -1.5], [True, False]),
    ([10.0, -30.0], [5.0, 5.0], [5.0 / 3.0, -5.0], [True, True]),
    ([10.0, -30.0], [5.0, inf], [5.0, -15.0], [True, False]),
    ([0.1, 3.0], [0.0, 5.0], [0.0, 3.0], [True, False]),
    ([0.1, 10.0], [0.0, 5.0], [0.0, 5.0], [True, True]),
    ([0.0, 3.0], [0.0, 5.0], [0.0, 3.0], [False, False]),
    ([1e300, 1.0], [5.0, 5.0], [5.0, 5e-300], [True, False]),
    ([1.0, 3.0], [0.5, 5.0], [0.5, 1.5], [True, False]),
])
def test_a_common_factor_keeps_the_direction(effort, limits, scaled, beyond):
    given = np.array(effort)
    values, which = scale(given, np.array(limits), np.zeros(2))
    np.testing.assert_allclose(values, scaled, rtol=1e-15)
    assert which.tolist() == beyond
    assert given.tolist() == effort


def test_a_scaled_effort_is_exactly_within_the_limit():
    rng = np.random.default_rng(3)
    for effort, limits in rng.uniform(1e-3, 10.0, (1000, 2, 4)):
        held = rng.uniform(-1.0, 1.0, 4) * limits
        assert (np.abs(scale(effort, limits, held)[0]) <= limits).all()
