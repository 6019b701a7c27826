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
"""Simulated time follows the clock tick by tick."""

import pytest

from ros2_rnea.tools.simulated_driver.pacer import JUMP, OVERDUE, Pacer

MS = 1_000_000
START = 5_000 * MS


@pytest.fixture
def pacer():
    """Return a pacer with a tick each millisecond from START."""
    return Pacer(MS, START)


@pytest.mark.parametrize(('now', 'left'), [
    (START - MS, MS), (START, 0), (START + 3 * MS, -3 * MS), (START + JUMP, -JUMP)])
def test_time_left_counts_down_to_the_tick(pacer, now, left):
    assert pacer.time_left(now) == left


def test_late_ticks_keep_their_own_times(pacer):
    now = START + 10 * MS
    assert [pacer.take(now) for _ in range(3)] == [START, START + MS, START + 2 * MS]


@pytest.mark.parametrize(('lateness', 'overruns', 'overdue'), [
    (0, 0, 0), (MS, 0, 0), (MS + 1, 1, 0), (OVERDUE, 1, 0), (OVERDUE + 1, 1, 1)])
def test_late_ticks_are_counted(pacer, lateness, overruns, overdue):
    pacer.take(START + lateness)
    assert (pacer.ticks, pacer.overruns, pacer.overdue) == (1, overruns, overdue)
    assert pacer.worst_lateness == lateness


def test_a_long_sleep_starts_a_new_grid_and_counts_ticks(pacer):
    now = START + JUMP + MS
    assert pacer.time_left(now) == 0
    assert pacer.take(now) == now
    assert pacer.ticks == JUMP // MS + 2
    assert pacer.overruns == pacer.overdue == JUMP // MS + 1


def test_after_the_clock_jumped_back_the_grid_starts_anew(pacer):
    now = START - JUMP - MS
    assert pacer.time_left(now) == 0
    assert pacer.take(now) == now
    assert (pacer.ticks, pacer.overruns) == (1, 0)


def test_clear_begins_to_count_anew(pacer):
    pacer.take(START + OVERDUE + 1)
    pacer.clear()
    assert (pacer.ticks, pacer.overruns, pacer.overdue, pacer.worst_lateness) == (0, 0, 0, 0)
