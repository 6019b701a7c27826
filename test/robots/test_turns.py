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
"""Tests that need the processor have it, while others of the same run wait."""

from threading import Event, Thread

from patience import PATIENCE
from turns import Turns


def begin(turns, alone, events, name, may_end):
    def have_a_turn():
        with turns.turn(alone):
            events.append(f'{name} begins')
            may_end.wait(PATIENCE)
            events.append(f'{name} ends')

    thread = Thread(target=have_a_turn)
    thread.start()
    return thread


def test_many_share_a_turn_and_one_alone_is_not_passed(tmp_path):
    turns, events, may_end = Turns(tmp_path / 'run'), [], [Event() for _ in range(4)]
    first = begin(turns, False, events, 'first', may_end[0])
    second = begin(turns, False, events, 'second', may_end[1])
    while len(events) < 2:
        first.join(0.01)
    alone = begin(turns, True, events, 'alone', may_end[2])
    alone.join(0.1)
    late = begin(turns, False, events, 'late', may_end[3])
    late.join(0.1)
    assert set(events) == {'first begins', 'second begins'}
    for event, thread in zip(may_end, (first, second, alone, late)):
        event.set()
        thread.join(PATIENCE)
    assert events[-4:] == ['alone begins', 'alone ends', 'late begins', 'late ends']
