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
"""The books on joint states and their answers."""

import pytest

from ros2_rnea.tools.simulated_driver.latency import LatencyLog, LOST, OVERDUE

MS = 1_000_000


def test_without_answers_there_is_no_latency():
    log = LatencyLog()
    log.published(0, deadline=2 * MS)
    report = log.report(now=LOST + 1)
    assert (report['states_published'], report['states_answered']) == (1, 0)
    assert report['latency_median_ms'] is report['latency_worst_ms'] is None


def test_latencies_are_from_stamp_to_arrival():
    log = LatencyLog()
    for number in range(101):
        stamp = 200 * number * MS
        log.published(stamp, deadline=stamp + 2 * MS)
        log.answered(stamp, stamp + number * MS)
    report = log.report(now=stamp + LOST)
    assert (report['states_answered'], report['states_lost']) == (101, 0)
    assert report['latency_median_ms'] == pytest.approx(50.0)
    assert report['latency_99_percent_ms'] == pytest.approx(99.0)
    assert report['latency_worst_ms'] == pytest.approx(100.0)
    assert report['deadline_misses'] == 98
    assert report['older_than_20_ms'] == 80


@pytest.mark.parametrize(('latency', 'missed', 'overdue'), [
    (2 * MS, 0, 0), (2 * MS + 1, 1, 0), (OVERDUE, 1, 0), (OVERDUE + 1, 1, 1)])
def test_limits_themselves_are_in_time(latency, missed, overdue):
    log = LatencyLog()
    log.published(0, deadline=2 * MS)
    log.answered(0, latency)
    report = log.report(now=latency)
    assert (report['deadline_misses'], report['older_than_20_ms']) == (missed, overdue)


@pytest.mark.parametrize(('arrival', 'overdue'), [(20 * MS, 0), (21 * MS, 1), (23 * MS, 2)])
def test_a_newer_state_s_timely_answer_serves_the_older_ones(arrival, overdue):
    log = LatencyLog()
    for stamp in (0, 2 * MS, 4 * MS):
        log.published(stamp, deadline=stamp + 2 * MS)
    log.answered(4 * MS, arrival)
    report = log.report(now=arrival)
    assert (report['states_answered'], report['states_lost']) == (1, 2)
    assert (report['older_than_20_ms'], report['deadline_misses']) == (overdue, 1)


def test_a_state_that_nothing_answers_is_given_up():
    log = LatencyLog()
    log.published(0, deadline=2 * MS)
    log.published(2 * MS, deadline=4 * MS)
    for now, lost in ((LOST, 0), (LOST + 1, 1), (LOST + 2 * MS, 0), (LOST + 2 * MS + 1, 1)):
        report = log.report(now)
        assert (report['states_lost'], report['older_than_20_ms']) == (lost, lost)


def test_states_that_nothing_answers_do_not_pile_up():
    log = LatencyLog()
    for number in range(1000):
        log.published(2 * number * MS, deadline=2 * number * MS + 2 * MS)
    assert len(log._open) <= LOST // (2 * MS) + 1


def test_a_report_begins_anew():
    log = LatencyLog()
    log.published(0, deadline=2 * MS)
    log.answered(0, 3 * MS)
    log.report(now=4 * MS)
    assert set(log.report(now=5 * MS).values()) == {0, None}
