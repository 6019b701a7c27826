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
"""What a decision is unless it says otherwise."""

from ros2_rnea.control.decision import Decision, SentTerms, State, Status


def test_a_status_alone_has_no_joint_and_no_effort():
    alone = Decision(Status.WAITING)
    assert alone.effort is None
    assert alone.detail == ''
    assert alone.joints == ()
    assert alone.limited is None
    assert alone.next_status is None
    assert alone.state is State.OFF


def test_a_motion_is_followed_in_two_states_alone():
    assert [state for state in State if state.follows] == [State.TRACKING, State.HOLDING]


def test_sent_terms_end_with_what_becomes_of_them():
    """Their names are those of the message's fields."""
    assert SentTerms._fields[-8:] == (
        'feedback', 'total', 'sent', 'measured', 'residual', 'saturated', 'rate_limited',
        'restrained')
