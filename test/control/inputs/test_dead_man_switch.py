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
"""A press of the dead-man switch counts from its message to its timeout, and never again."""

from math import inf

import pytest
from ros2_rnea.control.inputs.dead_man_switch import DeadManMemory, DeadManSwitch
from ros2_rnea.errors import MessageError


def switch(button=1, timeout=0.5, memory=None):
    return DeadManSwitch(button, timeout, memory)


@pytest.fixture
def pressed():
    """Return a switch that was pressed at 1 s."""
    one = switch()
    one.take((0, 1), 1.0)
    return one


def test_without_a_button_efforts_are_allowed_and_messages_are_ignored():
    for without in (DeadManSwitch(), switch(-1), switch(-2)):
        without.take((), 0.0)
        assert without.allows(0.0)


def test_a_press_counts_up_to_its_timeout():
    pressed = switch()
    assert not pressed.allows(0.0)
    pressed.take((0, 1), 1.0)
    assert pressed.allows(1.0) and pressed.allows(1.5)
    assert not pressed.allows(1.5 + 1e-9)
    assert not pressed.allows(1.2)  # once it is over


def test_a_release_ends_it_at_once():
    pressed = switch()
    pressed.take((1, 1), 1.0)
    assert pressed.allows(1.0)
    pressed.take((1, 0), 1.1)
    assert not pressed.allows(1.1)


def test_another_timeout_of_the_same_button_keeps_the_press(pressed):
    assert switch(1, 9.0, pressed.memory).allows(9.0)


@pytest.mark.parametrize('button, is_known', [(1, True), (0, False)])
def test_the_press_of_the_same_button_alone_is_remembered(button, is_known):
    pressed = switch()
    pressed.take((1, 1), 1.0)
    successor = switch(button, memory=pressed.memory)
    assert successor.allows(1.1) is is_known
    again = switch(1, memory=successor.memory)
    assert again.allows(1.1) is is_known
    assert again.memory == DeadManMemory(1, 1.0 if is_known else -inf)


@pytest.mark.parametrize('buttons', [(), (1,)])
def test_a_message_without_the_button_is_refused(pressed, buttons):
    with pytest.raises(MessageError, match=f'is 1, and the message has {len(buttons)} buttons'):
        pressed.take(buttons, 1.1)
    assert pressed.allows(1.1)


def test_a_press_counts_from_its_reception():
    pressed = switch()
    pressed.take((0, 1), 1.0, age=0.4)
    assert pressed.allows(1.0) and not pressed.allows(1.2)


def test_an_older_press_does_not_shorten_a_newer_one(pressed):
    pressed.take((0, 1), 1.1, age=0.4)
    assert pressed.allows(1.5)


def test_a_press_counts_at_once_after_a_jump_back():
    pressed = switch()
    pressed.take((0, 1), 100.0)
    pressed.take((0, 1), 3.0)
    assert pressed.allows(3.0) and pressed.allows(3.5) and not pressed.allows(3.6)


@pytest.mark.parametrize('age, words', [
    (0.6, r'0.600 s .* dead_man_timeout \(0.5 s\)'), (inf, 'may have waited')])
def test_only_a_press_is_refused_for_its_age(age, words):
    pressed = switch()
    with pytest.raises(MessageError, match=words):
        pressed.take((0, 1), 1.0, age)
    assert not pressed.allows(1.0)
    pressed.take((0, 1), 1.0)
    pressed.take((0, 0), 1.1, age)
    assert not pressed.allows(1.1)
