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
"""When cycles run by themselves: which timers there are, by which clock, and when they change."""

from types import SimpleNamespace

import pytest
from ros2_rnea.control.settings import Settings
from ros2_rnea.node.timing.cycle_timers import CycleTimers


class Timers:
    """The timers under test, and the node and the clocks that they are made of."""

    def __init__(self):
        self.clocks = SimpleNamespace(
            is_simulated=False,
            of_timers=lambda: 'simulated' if self.clocks.is_simulated else 'steady')
        self.running = []
        node = SimpleNamespace(create_timer=self._create, destroy_timer=self.running.remove)
        self.under_test = CycleTimers(node, self.clocks, 'on_rate', 'on_watch')

    def _create(self, period, callback, clock):
        self.running.append((callback, period, clock))
        return self.running[-1]

    def restart(self, rate=0.0, **settings):
        self.under_test.restart(rate, Settings(**settings))
        return set(self.running)


@pytest.fixture
def timers():
    return Timers()


def test_without_a_rate_only_the_watch_runs(timers):
    assert not timers.under_test.keeps_rate
    assert timers.restart(state_timeout=0.2) == {('on_watch', 0.05, 'steady')}
    assert not timers.under_test.keeps_rate


def test_a_rate_has_a_timer_of_its_own(timers):
    assert timers.restart(500.0, state_timeout=0.2) == {
        ('on_rate', 0.002, 'steady'), ('on_watch', 0.05, 'steady')}
    assert timers.under_test.keeps_rate
    assert timers.restart(0.0, state_timeout=0.2) == {('on_watch', 0.05, 'steady')}
    assert not timers.under_test.keeps_rate


@pytest.mark.parametrize('timeout, watch, final_fade', [
    (0.2, 0.05, 0.005), (0.04, 0.01, 0.002), (0.002, 0.001, 0.001)])
def test_a_timeout_is_noticed_and_faded_out_in_time(timers, timeout, watch, final_fade):
    assert timers.restart(state_timeout=timeout) == {('on_watch', watch, 'steady')}
    timers.under_test.final_fade(True)
    timers.under_test.final_fade(True)
    assert timers.running == [('on_watch', watch, 'steady'), ('on_rate', final_fade, 'steady')]
    assert not timers.under_test.keeps_rate
    for _ in range(2):
        timers.under_test.final_fade(False)
        assert timers.running == [('on_watch', watch, 'steady')]


def test_timers_go_on_where_nothing_that_they_depend_on_changes(timers):
    timers.restart(100.0, state_timeout=0.2)
    before = [id(timer) for timer in timers.running]
    timers.restart(100.0, state_timeout=0.2, lookahead=0.01)
    assert [id(timer) for timer in timers.running] == before


def test_timers_are_made_anew_where_the_clock_changes(timers):
    timers.restart(100.0, state_timeout=0.2)
    timers.clocks.is_simulated = True
    assert timers.restart(100.0, state_timeout=0.2) == {
        ('on_rate', 0.01, 'simulated'), ('on_watch', 0.05, 'simulated')}
    timers.clocks.is_simulated = False
    assert timers.restart(100.0, state_timeout=0.2) == {
        ('on_rate', 0.01, 'steady'), ('on_watch', 0.05, 'steady')}
