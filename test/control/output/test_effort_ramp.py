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

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.output.effort_ramp import (
    effort_rate_limits,
    EffortRamp,
    FIRST_PERIOD,
    PERIODS_OF_CREDIT,
)

RATE = 100.0
MOST = RATE * PERIODS_OF_CREDIT * FIRST_PERIOD


def ramp(rate=RATE, joints=('a', 'b')):
    return EffortRamp(joints, rate)


def sent(ramp, wanted, time):
    effort, late = ramp.limit_rate(ramp.crossfade(np.array(wanted), time), time)
    return effort.tolist(), None if late is None else late.tolist()


def test_the_first_effort_sets_out_from_zero():
    assert sent(ramp(), [5.0, -5.0], 0.0) == ([MOST, -MOST], [True, True])


@pytest.mark.parametrize('period, gap, most', [
    (0.001, 0.0005, 0.05), (0.001, 0.002, 0.2), (0.001, 0.004, 0.2), (0.001, 60.0, 0.2),
    (0.004, 0.004, 0.4), (0.004, 60.0, 0.8), (0.02, 0.02, 1.0), (0.02, 60.0, 1.0),
    (0.004, 0.0, 0.4), (0.004, -5.0, 0.0)])
def test_an_effort_changes_by_the_time_that_has_passed_but_after_a_gap_by_two_periods(
        period, gap, most):
    one, time = ramp(), 7.0
    for _ in range(300):
        time += period
        sent(one, [0.5, 0.0], time)
    effort, late = sent(one, [9.0, 0.0], time + gap)
    assert effort == pytest.approx([0.5 + most, 0.0])
    assert late == [True, False]


LIMITS = np.array([100.0, 0.5])


@pytest.mark.parametrize('limits, highest, fastest', [
    ([1.0, 0.5], 0.0, 1000.0), ([1.0, 0.5], 200.0, 200.0), ([0.0, 0.5], 0.0, 1000.0)])
@pytest.mark.parametrize('comes_from', ['use_effort_limits', 'adopt', 'start_at'])
def test_an_effort_beyond_a_lowered_limit_comes_down_as_fast_as_with_the_old_one(
        limits, highest, fastest, comes_from):
    one = ramp()
    one.use_effort_limits(LIMITS)
    held = np.array([80.0, -0.4])
    one.start_at(held)
    sent(one, held, 1.0)
    if comes_from == 'adopt':
        newer = ramp()
        newer.use_effort_limits(np.array(limits), highest)
        newer.adopt(one)
        one = newer
    else:
        one.use_effort_limits(np.array(limits), highest)
    if comes_from == 'start_at':
        one.start_at(held)
    efforts, time = [held.tolist()], 1.0
    while efforts[-1][0] > -limits[0] and time < 2.0:
        time += 0.001
        efforts.append(sent(one, [-limits[0], 0.0], time)[0])
    steps, usual = np.diff(np.array(efforts)[:, 0]), 0.001 * effort_rate_limits(
        np.array(limits), highest)[0]
    beyond = np.array(efforts)[:-1, 0] > limits[0]
    assert np.abs(steps[beyond]).max() == pytest.approx(0.001 * fastest, rel=0.2)
    assert np.abs(steps[~beyond]).max(initial=0.0) <= usual * (1.0 + 1e-9)
    assert beyond.sum() == pytest.approx(80.0 / (0.001 * fastest), rel=0.1)


def test_an_effort_beyond_a_lowered_limit_does_not_grow_faster_for_that():
    one = ramp()
    one.use_effort_limits(LIMITS)
    one.start_at(np.array([80.0, 0.0]))
    sent(one, [80.0, 0.0], 1.0)
    one.use_effort_limits(np.array([1.0, 0.5]))
    effort, late = sent(one, [90.0, 0.5], 1.001)
    assert effort == pytest.approx([80.02, 0.01])
    assert late == [True, True]


@pytest.mark.parametrize('durations', [(10.0, 0.5), (0.5, 10.0), (60.0, 3.0)])
def test_a_change_of_the_model_that_is_taken_back_leaves_nothing(durations):
    one = ramp(inf)
    one.start_at(np.array([1.0, 2.0]))
    sent(one, [1.0, 2.0], 0.0)
    one.blend(durations[0], of_model=True)
    for time in (0.001, 0.1, 0.2):
        sent(one, [9.0, -7.0], time)
    before = sent(one, [9.0, -7.0], 0.201)[0]
    one.blend(durations[1], of_model=True)
    for time in (0.202, 0.5, 1.0, 5.0, 11.0, 61.0):
        effort, _ = sent(one, [1.0, 2.0], time)
        assert 1.0 - 1e-9 <= effort[0] <= before[0] + 1e-9  # never beyond both
        assert before[1] - 1e-9 <= effort[1] <= 2.0 + 1e-9
    assert effort == [1.0, 2.0]


def test_what_the_efforts_lack_of_a_model_is_known_until_it_is_blended_in():
    one = ramp(inf)
    one.start_at(np.zeros(2))
    sent(one, [0.0, 0.0], 0.0)
    assert one.lack_of_model(0.0).tolist() == [0.0, 0.0]
    one.blend(1.0, of_model=True)
    one.blend(1.0)  # for another reason, before the next effort
    assert one.lack_of_model(0.0).tolist() == [inf, inf]
    sent(one, [4.0, -2.0], 2.0)
    assert one.lack_of_model(2.0).tolist() == [4.0, 2.0]
    assert one.lack_of_model(2.5) == pytest.approx([2.0, 1.0])
    one.blend(0.1)
    sent(one, [4.0, -2.0], 2.5)
    assert one.lack_of_model(2.5) == pytest.approx([2.0, 1.0])
    assert one.lack_of_model(3.0).tolist() == [0.0, 0.0]
    one.blend(5.0, of_model=True)
    sent(one, [4.0, 3.0], 4.0)
    sent(one, [4.0, 3.0], 3.0)  # a simulated clock jumps back
    assert one.lack_of_model(3.0).tolist() == [4.0, 3.0]
    one.blend(0.0, of_model=True)
    assert one.lack_of_model(3.0).tolist() == [inf, inf]
    one.forget()
    assert one.lack_of_model(3.0).tolist() == [0.0, 0.0]


def test_a_model_that_comes_after_a_restart_is_blended_for_a_finite_time():
    for forgets in (True, False):
        one = ramp(inf)
        one.start_at(np.zeros(2))
        one.blend(0.5)
        sent(one, [4.0, -2.0], 2.0)
        if forgets:
            one.forget()
        else:
            one.withdraw()
        assert one.remaining == 0.0
        one.blend(0.5, of_model=True)
        assert one.remaining == 0.5


@pytest.mark.parametrize('times', [
    [0.001 * i for i in range(400)],
    [0.010 * (i // 10) for i in range(400)],                       # simulated time, in ticks
    [0.004 * (i // 4) for i in range(400)],
    [0.010 * (i // 4) + 0.0002 * (i % 4) for i in range(400)],     # publishers of parts
    [0.010 * (i // 7) + 0.0002 * (i % 7) for i in range(400)],
    [0.008 * (i // 8) + 0.0001 * (i % 8) for i in range(400)]])    # bursts
def test_an_effort_reaches_its_limit_as_fast_however_the_cycles_come(times):
    one = ramp(20.0)  # for a limit of 1 Nm, which is 0.05 s
    start = times[200]
    for time in times:
        effort, _ = sent(one, [0.0 if time < start else 1.0, 0.0], time)
        if effort[0] == 1.0:
            break
    assert time - start == pytest.approx(0.05, abs=0.0101)  # or a tick less


def test_an_effort_that_is_withdrawn_changes_no_later_one():
    one, other = ramp(), ramp()
    for each in (one, other):
        each.start_at(np.zeros(2))
        sent(each, [9.0, 9.0], 5.0)
    sent(one, [9.0, 9.0], 5.001)
    one.withdraw()
    assert one.sent.tolist() == other.sent.tolist()
    assert sent(one, [9.0, 9.0], 5.002) == sent(other, [9.0, 9.0], 5.002)


def test_if_the_first_effort_is_withdrawn_none_has_been_sent():
    one = ramp()
    one.start_at(np.array([1.0, 2.0]))
    sent(one, [9.0, 9.0], 5.0)
    one.withdraw()
    assert one.sent.tolist() == [1.0, 2.0]
    assert not one.has_sent
    assert not one.is_sending


def test_cycles_of_one_moment_share_what_may_change_then():
    one = ramp()
    for _ in range(3):
        assert sent(one, [9.0, 0.0], 5.0) == ([MOST, 0.0], [True, False])
    assert sent(one, [-9.0, 0.0], 5.0) == ([-MOST, 0.0], [True, False])
    assert sent(one, [MOST, -MOST], 5.0) == ([MOST, -MOST], None)
    one.start_at(np.array([7.0, 7.0]))
    assert sent(one, [9.0, 0.0], 5.001)[0] == pytest.approx([7.1, 6.9])


def test_two_messages_that_come_together_do_not_lower_the_rate():
    one, time = ramp(), 7.0
    for _ in range(200):
        time += 0.008
        sent(one, [0.5, 0.0], time)
        sent(one, [0.5, 0.0], time)
    assert sent(one, [9.0, 0.0], time + 0.008)[0][0] == pytest.approx(0.5 + 0.8, rel=0.1)


def test_a_gap_does_not_lengthen_the_next_one_s_credit_much():
    one, time = ramp(), 7.0
    for _ in range(300):
        time += 0.001
        sent(one, [0.0, 0.0], time)
    for _ in range(3):
        sent(one, [0.0, 0.0], time := time + 60.0)
        sent(one, [0.0, 0.0], time := time + 0.001)
    assert sent(one, [9.0, 0.0], time + 60.0)[0][0] < 0.8


def test_each_joint_may_have_a_rate_of_its_own():
    one = ramp(np.array([10.0, inf, 1000.0]), 'abc')
    assert sent(one, [9.0, 9.0, -9.0], 1.0) == (
        pytest.approx([0.02, 9.0, -2.0]), [True, False, True])
    assert sent(one, [9.0, 9.0, 9.0], 1.0) == (
        pytest.approx([0.02, 9.0, 2.0]), [True, False, True])
    one.set_rate_limits(inf)
    assert sent(one, [9.0, -9.0, 9.0], 1.0) == ([9.0, -9.0, 9.0], None)


@pytest.mark.parametrize('limit, highest, expected', [
    (1.0, 0.0, 20.0), (12.0, 0.0, 240.0), (87.0, 0.0, 1000.0), (150.0, 0.0, 1000.0),
    (330.0, 0.0, 2200.0), (inf, 0.0, 1000.0), (0.0, 0.0, 1000.0),
    (12.0, 100.0, 100.0), (12.0, 1e4, 240.0), (330.0, 1000.0, 1000.0), (inf, 500.0, 500.0),
    (0.0, 500.0, 500.0), (12.0, inf, inf), (0.0, inf, inf)])
def test_the_rate_of_a_joint_follows_from_its_effort_limit(limit, highest, expected):
    rates = effort_rate_limits(np.array([limit, 1.0]), highest)
    assert rates == pytest.approx([expected, inf if highest == inf else 20.0])


def test_what_is_near_enough_is_sent_as_it_is():
    one = ramp()
    assert sent(one, [0.1, -0.1], 0.0) == ([0.1, -0.1], None)
    assert one.is_settled


def test_each_joint_has_the_rate_for_itself():
    """Together they are further off than one may be."""
    assert sent(ramp(), [MOST, MOST], 0.0) == ([MOST, MOST], None)


def test_after_time_has_jumped_back_it_goes_on():
    one = ramp()
    sent(one, [0.1, 0.0], 100.0)
    assert sent(one, [9.0, 0.0], 1.0)[0] == [0.1, 0.0]
    assert sent(one, [9.0, 0.0], 1.001)[0] == pytest.approx([0.2, 0.0])


def test_without_a_limit_it_is_there_at_once():
    one = ramp(inf)
    for time in (0.0, 0.0, -1.0):
        assert sent(one, [1e150 * (1 + time), 0.0], time) == ([1e150 * (1 + time), 0.0], None)


def test_the_largest_efforts_of_either_sign_make_nothing_that_is_not_finite():
    one = ramp()
    for time, wanted in enumerate([[1e150, -1e150], [-1e150, 1e150]]):
        one.blend(0.5)
        assert np.isfinite(sent(one, wanted, time)[0]).all()


@pytest.mark.parametrize('time, expected', [
    (10.0, 4.0), (10.25, 4.0 + 6.0 * 0.15625), (10.5, 7.0), (11.0, 10.0), (20.0, 10.0)])
def test_a_blend_leads_from_what_was_sent_to_what_is_wanted(time, expected):
    one = ramp(inf)
    sent(one, [4.0, 0.0], 9.0)
    one.blend(1.0)
    sent(one, [10.0, 0.0], 10.0)
    assert sent(one, [10.0, 0.0], time)[0] == pytest.approx([expected, 0.0])
    assert one.is_settled is (time >= 11.0)


def test_what_is_wanted_may_move_during_a_blend_and_its_motion_counts_at_once():
    one = ramp(inf)
    sent(one, [4.0, 0.0], 9.0)
    one.blend(1.0)
    sent(one, [4.0, 0.0], 10.0)
    assert sent(one, [4.7, 0.0], 10.1)[0] == [4.7, 0.0]


def test_a_blend_within_a_blend_sets_out_from_what_was_sent():
    one = ramp(inf)
    one.blend(1.0)
    sent(one, [10.0, 0.0], 0.0)
    sent(one, [10.0, 0.0], 0.5)
    one.blend(1.0)
    assert sent(one, [-10.0, 0.0], 0.6)[0] == [5.0, 0.0]


def test_a_blend_does_not_wait_for_a_time_that_has_jumped_back():
    one = ramp(inf)
    one.blend(1.0)
    sent(one, [10.0, 0.0], 1000.0)
    sent(one, [10.0, 0.0], 3.0)
    assert sent(one, [10.0, 0.0], 4.0)[0] == [10.0, 0.0]
    assert one.is_settled


def test_a_successor_sets_out_from_what_was_sent_to_joints_of_the_same_names():
    older, newer = ramp(inf), ramp(joints=('b', 'c'))
    older.start_at(np.zeros(2))
    sent(older, [4.0, -6.0], 1.0)
    newer.adopt(older)
    assert newer.is_sending
    assert newer.sent.tolist() == [-6.0, 0.0]
    assert sent(newer, [9.0, 9.0], 1.001)[0] == pytest.approx([-5.9, 0.1])


def test_a_start_for_further_joints_leaves_those_that_were_sent_an_effort_where_they_are():
    older, newer = ramp(inf, joints=('b',)), ramp()
    older.start_at(np.zeros(1))
    sent(older, [-6.0], 1.0)
    newer.adopt(older)
    assert not newer.has_start
    newer.start_at(np.array([3.0, 0.0]))
    assert newer.has_start and newer.sent.tolist() == [3.0, -6.0]
    newer.forget()
    newer.start_at(np.array([3.0, 0.0]))
    assert newer.sent.tolist() == [3.0, 0.0]


def test_a_joint_that_was_left_out_for_a_time_sets_out_from_what_it_holds():
    first, second, third = ramp(inf), ramp(joints=('b',)), ramp()
    first.start_at(np.zeros(2))
    sent(first, [4.0, -6.0], 1.0)
    second.adopt(first)
    third.adopt(second)
    assert third.sent.tolist() == [4.0, -6.0]


def test_it_is_settled_when_it_has_caught_up():
    one, settled = ramp(), []
    for time in range(4):
        sent(one, [0.25, 0.0], 0.001 * time)
        settled.append(one.is_settled)
    assert settled == [False, True, True, True]


def test_a_new_one_is_settled_and_has_no_way_to_go():
    one = ramp()
    assert (one.is_settled, one.is_sending, one.remaining) == (True, False, 0.0)


def test_what_remains_of_a_blend_grows_less_with_every_effort_and_never_less_than_none():
    one = ramp(inf)
    sent(one, [4.0, 0.0], 9.0)
    one.blend(1.5)
    assert one.remaining == 1.5
    remaining = []
    for time in (10.0, 10.5, 11.25, 11.5, 60.0):
        sent(one, [10.0, 0.0], time)
        remaining.append(one.remaining)
    assert remaining == [1.5, 1.0, 0.25, 0.0, 0.0]


def test_what_remains_counts_from_the_last_effort_however_late():
    one = ramp()
    one.blend(1.5)
    one.crossfade(np.ones(2), 10.0)
    one.limit_rate(np.ones(2), 20.0)
    assert one.remaining == 0.0


def test_a_blend_of_no_duration_is_none():
    one = ramp(inf)
    one.blend(1.0)
    one.blend(0.0)
    assert (one.is_settled, one.remaining) == (True, 0.0)
    assert sent(one, [4.0, 0.0], 9.0) == ([4.0, 0.0], None)


def test_what_is_wanted_may_change_at_the_time_at_which_a_blend_begins():
    one = ramp(inf)
    one.blend(1.0)
    assert sent(one, [4.0, 0.0], 9.0)[0] == [0.0, 0.0]
    assert sent(one, [4.5, 0.0], 9.0)[0] == [0.5, 0.0]


def test_what_is_forgotten_is_no_start_for_its_successor_either():
    first, second, third = ramp(inf), ramp(), ramp(joints=('b', 'a'))
    first.start_at(np.zeros(2))
    sent(first, [4.0, -6.0], 1.0)
    second.adopt(first)
    assert second.has_start
    second.forget()
    assert not second.is_sending and not second.has_start
    third.adopt(second)
    assert not third.has_start
    third.start_at(np.array([1.0, 2.0]))
    assert third.has_start and third.sent.tolist() == [1.0, 2.0]


def test_a_pause_is_known_and_what_was_sent_is_still_held():
    one = ramp(inf)
    sent(one, [4.0, -6.0], 1.0)
    one.pause()
    assert not one.is_sending
    assert one.sent.tolist() == [4.0, -6.0]
    sent(one, [4.0, -6.0], 1.0)
    assert one.is_sending
