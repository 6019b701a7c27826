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
"""The measured period of the cycle: of regular, irregular and interrupted cycles."""

from math import inf, nan

import numpy as np
import pytest
from ros2_rnea.control.inputs.cycle_period import (
    CyclePeriod,
    CYCLES_NEEDED,
    FIRST_PERIOD,
    LONGEST_CYCLE,
)

LONGEST = 0.1


def counted(cycles, period=None):
    """Return the period after cycles of these lengths, the first of which begins now."""
    period = period or CyclePeriod()
    now = period.at
    if now == -inf:
        now = 5.0
        period.count(now, LONGEST)
    for length in cycles:
        now += length
        period.count(now, LONGEST)
    return period


def test_before_the_first_cycle_the_period_is_not_known():
    period = CyclePeriod()
    assert period.count(3.0, LONGEST) == period.value == FIRST_PERIOD
    assert period.at == 3.0 and not period.is_known


@pytest.mark.parametrize('length', [1e-4, 0.001, 0.008, 0.09])
def test_of_regular_cycles_it_is_known_after_ten(length):
    period = counted([length] * (CYCLES_NEEDED - 1))
    assert period.value == pytest.approx(length) and not period.is_known
    period = counted([length], period)
    assert period.value == pytest.approx(length) and period.is_known


@pytest.mark.parametrize('before, after', [(0.001, 0.004), (0.004, 0.001)])
def test_it_follows_another_period_within_a_hundred_cycles(before, after):
    period = counted([after] * 100, counted([before] * 50))
    assert period.value == pytest.approx(after, rel=0.02)


def test_short_cycles_beside_a_long_one_do_not_shorten_it():
    """As of two publishers, each of which reports other joints, with the same period."""
    period = counted([2e-5, 0.01] * (CYCLES_NEEDED // 2))
    assert period.is_known and period.value == pytest.approx(0.01, rel=0.02)
    assert counted([2e-5, 0.01] * 200, period).value == pytest.approx(0.01, rel=0.02)


def test_of_irregular_cycles_it_is_the_weighted_mean():
    lengths = np.random.default_rng(3).uniform(0.0008, 0.0014, 4000)
    period, values = counted(lengths[:500]), []
    for length in lengths[500:]:
        values.append(counted([length], period).value)
    assert np.mean(values) == pytest.approx((lengths ** 2).sum() / lengths.sum(), rel=0.02)
    assert min(values) > 0.9 * 0.001 and max(values) < 1.3 * 0.001


def test_one_gap_changes_it_little_however_long_it_is():
    before = counted([0.002] * 50).value
    for gap in (0.02, 0.099):
        after = counted([gap], counted([0.002] * 50)).value
        assert before < after < 1.25 * before
        assert after == pytest.approx(
            counted([LONGEST_CYCLE * 0.002], counted([0.002] * 50)).value)


@pytest.mark.parametrize('elapsed', [0.0, -1.0, 0.1001, 20.0, inf, nan])
def test_a_pause_or_a_clock_that_stands_counts_nothing(elapsed):
    period = counted([0.002] * 5)
    assert period.count(period.at + elapsed, LONGEST) == pytest.approx(0.002)
    assert period.cycles == 5


def test_after_a_pause_it_goes_on():
    period = counted([20.0] + [0.002] * 5, counted([0.002] * 5))
    assert period.value == pytest.approx(0.002) and period.is_known
