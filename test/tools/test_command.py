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
"""The simulated driver takes commands as forward_command_controller does."""

from math import inf, nan

import pytest

from ros2_rnea.tools.simulated_driver.command import EffortCommand


@pytest.fixture
def command():
    """Return the command of a two-joint arm, with one command in use."""
    command = EffortCommand(2)
    assert command.accept([1.0, -2.0]) == ''
    return command


def test_before_any_command_the_effort_is_zero():
    assert EffortCommand(3).efforts.tolist() == [0.0, 0.0, 0.0]


def test_a_good_command_comes_into_force(command):
    assert command.accept([3.0, 4.0]) == ''
    assert command.efforts.tolist() == [3.0, 4.0]
    assert (command.accepted, command.refused) == (2, 0)


@pytest.mark.parametrize(('efforts', 'reason'), [
    ([], '0 values, this arm has 2 joints'),
    ([1.0], '1 values, this arm has 2 joints'),
    ([1.0, 2.0, 3.0], '3 values, this arm has 2 joints'),
    ([nan, 5.0], 'not finite'),
    ([5.0, inf], 'not finite'),
    ([5.0, -inf], 'not finite'),
])
def test_a_bad_command_is_refused_and_the_former_held(command, efforts, reason):
    assert reason in command.accept(efforts)
    assert command.efforts.tolist() == [1.0, -2.0]
    assert (command.accepted, command.refused) == (1, 1)


def test_a_command_in_force_does_not_change_with_its_message(command):
    message = [3.0, 4.0]
    command.accept(message)
    message[0] = 99.0
    assert command.efforts.tolist() == [3.0, 4.0]
