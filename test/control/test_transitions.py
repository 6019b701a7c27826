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
"""Which changes of the situation are blended."""

from math import inf

import pytest
from ros2_rnea.control.decision import Status
from ros2_rnea.control.transitions import Transitions

FOLLOWING, AT_END, TO_CONTROLLER, LOST = (
    Status.FOLLOWING, Status.HOLDING_END, Status.FOLLOWING_CONTROLLER, Status.CONTROLLER_LOST)
OFF_PATH, OFF_GOAL, NONE, FAR = (
    Status.PATH_DEVIATION, Status.GOAL_DEVIATION, Status.NO_TRAJECTORY, Status.MOTION_TOO_FAR)


@pytest.mark.parametrize('last, status, blended, blended_with_feedback', [
    (NONE, FOLLOWING, False, True),
    (FOLLOWING, AT_END, False, False),
    (AT_END, FOLLOWING, False, False),
    (FOLLOWING, OFF_PATH, True, True),
    (OFF_PATH, FOLLOWING, True, True),
    (OFF_PATH, AT_END, True, True),
    (OFF_PATH, OFF_GOAL, False, False),
    (OFF_GOAL, OFF_PATH, False, False),
    (OFF_GOAL, AT_END, True, True),
    (OFF_GOAL, FOLLOWING, False, True),
    (OFF_GOAL, NONE, True, True),
    (OFF_PATH, TO_CONTROLLER, True, True),
    (OFF_GOAL, LOST, True, True),
    (TO_CONTROLLER, LOST, False, False),
    (TO_CONTROLLER, OFF_GOAL, True, True),
    (FAR, TO_CONTROLLER, False, True),
])
def test_a_new_status_is_blended_where_the_effort_would_step(
        last, status, blended, blended_with_feedback):
    for has_feedback, expected in ((False, blended), (True, blended_with_feedback)):
        transitions = Transitions()
        transitions.last_status = last
        assert transitions.need_blend(status, has_feedback) is expected


def test_a_deviation_that_becomes_another_one_began_as_the_first():
    transitions = Transitions()
    for status in (FOLLOWING, OFF_PATH, OFF_GOAL):
        transitions.need_blend(status, has_feedback=True)
        transitions.last_status = status
    assert transitions.first_deviation is OFF_PATH


@pytest.mark.parametrize('gaps, blended', [
    ([(-inf, 1.0)], [False]),
    ([(9.0, 9.1)], [True]),
    ([(9.0, 9.1), (9.5, 9.6)], [True, False]),
    ([(9.0, 9.1), (9.7, 9.8)], [True, True]),
    ([(9.0, 9.1), (9.1, 9.2), (9.2, 9.3), (9.9, 10.0)], [True, False, False, True]),
    ([(9.0, 9.1), (10.1, 11.1), (11.1, 12.1)], [True, True, False]),
])
def test_a_gap_is_blended_where_states_were_regular_before(gaps, blended):
    transitions = Transitions()
    assert [transitions.end_gap(*gap, blend_time=0.5) for gap in gaps] == blended


def test_a_successor_knows_of_the_last_gap_until_times_are_not_valid_any_more():
    older, newer = Transitions(), Transitions()
    older.end_gap(9.0, 9.1, 0.5)
    newer.adopt(older)
    assert not newer.end_gap(9.2, 9.3, 0.5)
    newer.forget_gaps()
    assert newer.end_gap(1.0, 1.1, 0.5)
