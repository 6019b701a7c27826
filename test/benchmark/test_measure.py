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
"""The arithmetic of the benchmark, with contenders that take as long as they are told."""

from __future__ import annotations

from benchmark.measure import measure, order, Settings
from benchmark.statement import Statement
from benchmark.summary import ratio, spread
import numpy as np
import pytest

BLOCK = 10_000


class Clock:
    """Stands still but for those who make it go on; it remembers who did."""

    def __init__(self):
        self.now = 0.0
        self.history = []

    def __call__(self):
        return self.now

    def contender(self, name, cost, rows=4, evaluations=1):
        """Return a statement that takes so long a call: a number, or a function of the call."""
        def call(row):
            own = sum(who == name for who, _ in self.history)
            self.now += cost(own) if callable(cost) else cost
            self.history.append((name, row))
        return Statement('call(row)', '(row,)', [(row,) for row in range(rows)], {'call': call},
                         'None', evaluations=evaluations).compiled()


@pytest.fixture
def clock():
    return Clock()


def turns(history):
    """Return the names in the order in which they took turns."""
    names = [name for name, _ in history]
    return [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]


def test_cost_is_that_of_one_call(clock):
    samples = measure({'a': clock.contender('a', 100), 'b': clock.contender('b', 700)},
                      Settings(rounds=5, block=BLOCK), clock)
    assert samples['a'].tolist() == [100.0] * 5
    assert samples['b'].tolist() == [700.0] * 5


def test_cost_of_a_batch_is_that_of_one_evaluation(clock):
    samples = measure({'a': clock.contender('a', 5_000, rows=1, evaluations=50)},
                      Settings(rounds=3, block=BLOCK), clock)
    assert samples['a'].tolist() == [100.0] * 3


def test_loop_around_the_calls_is_not_counted():
    class TickingClock(Clock):

        def __call__(self):
            self.now += 640  # what any block costs, were it empty
            return self.now

    clock = TickingClock()
    samples = measure({'a': clock.contender('a', 100)}, Settings(rounds=3, block=BLOCK), clock)
    assert samples['a'] == pytest.approx([100.0] * 3)


def test_a_slow_contender_gets_fewer_calls_in_a_block(clock):
    measure({'slow': clock.contender('slow', 10 * BLOCK), 'fast': clock.contender('fast', 100)},
            Settings(rounds=10, block=BLOCK), clock)
    calls = [name for name, _ in clock.history]
    assert calls.count('fast') / calls.count('slow') == pytest.approx(50.0, rel=0.3)


def test_inputs_rotate_over_all_states_even_one_a_block(clock):
    measure({'slow': clock.contender('slow', 10 * BLOCK, rows=4)},
            Settings(rounds=4, block=BLOCK), clock)
    assert {row for _, row in clock.history} == {0, 1, 2, 3}


def test_contenders_take_turns_within_each_round(clock):
    names = ['a', 'b', 'c']
    measure({name: clock.contender(name, 100) for name in names},
            Settings(rounds=3, block=BLOCK), clock)
    preparation = turns(clock.history)[:3]
    assert preparation == names
    rounds = turns(clock.history)[3:]
    assert rounds == ['a', 'b', 'c', 'b', 'c', 'a', 'c', 'a', 'b']


def test_each_round_begins_with_the_next_contender():
    assert [order('abc', number) for number in range(4)] == [
        ['a', 'b', 'c'], ['b', 'c', 'a'], ['c', 'a', 'b'], ['a', 'b', 'c']]


def test_spread_is_the_quartiles():
    assert spread(np.array([5.0, 1.0, 3.0, 2.0, 4.0])) == (2.0, 3.0, 4.0)


def test_ratio_is_formed_within_each_round():
    """A machine that slows down for some rounds slows both sides."""
    machine = np.array([1.0, 1.0, 7.0, 9.0, 1.0])
    reference = 100.0 * machine
    assert ratio(2.0 * reference, reference) == (2.0, 2.0, 2.0)
    assert ratio(np.array([1.0, 9.0, 4.0]), np.array([1.0, 3.0, 2.0])).median == 2.0
