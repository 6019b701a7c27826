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
"""How blocks become figures, and how the highest rate is found."""

from __future__ import annotations

from benchmark.node.bench import Block
from benchmark.node.figures import climb, ratios, STEP, summarize
import numpy as np
import pytest


def block(processor=0.1, latencies=(1e-3,), sent=1, rate=100.0):
    return Block(rate=rate, seconds=1.0, sent=sent, late=0, processor=processor,
                 latencies=np.array(latencies))


def test_figures_are_medians_of_the_blocks():
    figures = summarize([
        block(0.10, [1e-3, 2e-3], sent=2), block(0.30, [9e-3], sent=2), block(0.20, [3e-3])])
    assert figures.processor == pytest.approx(20.0)
    assert figures.processor_spread == pytest.approx(0.5)
    assert figures.median == pytest.approx(3e-3)
    assert (figures.sent, figures.answered) == (5, 4)


def test_a_silent_subject_has_no_latency():
    figures = summarize([block(latencies=[], sent=7)])
    assert np.isnan(figures.median)
    assert (figures.sent, figures.answered) == (7, 0)


def test_a_ratio_is_of_the_first_to_the_second():
    shares = ratios(summarize([block(0.1, [2e-3])]), summarize([block(0.4, [4e-3])]))
    assert shares['processor'] == pytest.approx(0.25)
    assert shares['median'] == pytest.approx(0.5)


def answering(limits, failures=()):
    """Return what answers everything up to a limit, but for the tries of these numbers."""
    tries = []

    def try_rate(name: str, rate: float) -> Block:
        tries.append((name, rate))
        good = rate <= limits[name] and len(tries) not in failures
        return block(latencies=[1e-3] * (99 if good else 98), sent=100, rate=rate)

    return try_rate, tries


def test_each_subject_climbs_to_the_last_rate_that_it_answers():
    try_rate, tries = answering({'slow': 1100.0, 'fast': 3000.0})
    highest = list(climb(try_rate, ['slow', 'fast'], start=1000.0, end=1e5))[-1]
    assert highest == {'slow': 1000.0, 'fast': pytest.approx(1000.0 * STEP**4)}
    assert max(rate for name, rate in tries if name == 'slow') == 1250.0 * STEP


def test_one_bad_block_does_not_end_the_climb():
    try_rate, _ = answering({'node': 1300.0}, failures=(1,))
    assert list(climb(try_rate, ['node'], start=1000.0, end=1e5))[-1] == {'node': 1250.0}


def test_a_rate_that_fails_for_a_while_is_left_out():
    try_rate, _ = answering({'node': 1600.0}, failures=(2, 3, 4, 5, 6))
    assert list(climb(try_rate, ['node'], start=1000.0, end=1e5))[-1] == {'node': 1562.5}


def test_the_climb_ends_at_the_end():
    try_rate, _ = answering({'node': np.inf})
    assert list(climb(try_rate, ['node'], start=1000.0, end=1300.0))[-1] == {'node': 1250.0}


def test_who_answers_nothing_has_sustained_nothing():
    try_rate, _ = answering({'node': 0.0})
    assert list(climb(try_rate, ['node'], start=1000.0, end=1e5)) == [{'node': 0.0}] * 2
