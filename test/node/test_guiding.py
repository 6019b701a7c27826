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
"""Arms that are guided by hand: the dead-man switch, drives in another unit, and what helps."""

from message_times import MessageTimes, TIMES
import numpy as np
import pytest
from ros2_rnea import Robot
from sensor_msgs.msg import Joy
from small_robots import ARM

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.2]
GRAVITY = Robot.from_urdf(ARM).gravity(Q)
ENDING = ('STOPPING', 'RELEASED')
GUIDED = {'joints': JOINTS, 'mode': 'gravity_compensation', 'state_timeout': 5.0}


def state_of(arm):
    arm.sends(JOINTS, Q)
    return arm.node.policy.decide(arm.node.clocks.now()).status.name


@pytest.fixture
def joy(request):
    """Return a function that presses buttons, over DDS."""
    def of(arm):
        arm.until(lambda: arm.subscription('joy'))
        publisher = arm.peer.create_publisher(Joy, 'joy', 10)
        arm.connect(publisher)
        return lambda *buttons: publisher.publish(Joy(buttons=buttons))

    return of


def test_efforts_flow_only_while_the_button_is_pressed(bench, joy):
    arm = bench(**GUIDED, dead_man_button=1, dead_man_timeout=10.0)
    arm.describe(ARM)
    press = joy(arm)
    assert not arm.sends(JOINTS, Q)
    assert state_of(arm) == 'RELEASED'

    def sends(*buttons):
        press(*buttons)
        return arm.sends(JOINTS, Q)

    arm.until(lambda: sends(0, 1))
    np.testing.assert_allclose(arm.answer(JOINTS, Q), GRAVITY, rtol=1e-12)
    arm.until(lambda: not sends(1, 0))
    np.testing.assert_allclose(arm.commands[-1], GRAVITY, rtol=1e-9)
    arm.until(lambda: sends(0, 1))


@pytest.fixture
def ago(monkeypatch):
    """Return how long ago each press was sent and received, by the clock of the node [s]."""
    times = MessageTimes(monkeypatch, 'joy')
    times.ago = dict.fromkeys(TIMES, 0.0)
    return times.ago


def test_a_delayed_press_counts_from_its_reception(bench, joy, ago):
    arm = bench(**GUIDED, dead_man_button=1, dead_man_timeout=1.0)
    arm.describe(ARM)
    press = joy(arm)
    arm.until(lambda: press(0, 1) or arm.sends(JOINTS, Q))
    ago.update(source_timestamp=2.0, received_timestamp=2.0)  # the thread was busy
    arm.until(lambda: press(0, 1) or state_of(arm) in ENDING)
    assert 'longer than dead_man_timeout (1 s)' in arm.told('joy')
    ago.update(source_timestamp=0.5, received_timestamp=0.5)
    arm.until(lambda: press(0, 1) or arm.sends(JOINTS, Q))


def test_a_press_before_a_process_stop_does_not_count_afterwards(bench, joy, ago):
    """The thread that notes when messages are received was stopped too."""
    arm = bench(**{**GUIDED, 'state_timeout': 10.0}, dead_man_button=1, dead_man_timeout=1.0)
    arm.describe(ARM)
    press = joy(arm)
    arm.until(lambda: press(0, 1) or arm.sends(JOINTS, Q))
    ago['source_timestamp'] = 4.0
    arm.clock.stand_still(4.0)
    # As a timer of the node does: the turns of the bench might be the first that note the time.
    arm.node.input_ages['joy'].note_alive(arm.clock.monotonic(), 1.0)
    arm.until_answered(lambda: press(0, 1) or arm.refused('joy'))
    assert 'may have waited while this process did not run' in arm.told('joy')
    assert state_of(arm) in ENDING
    ago['source_timestamp'] = 0.0
    arm.until(lambda: press(0, 1) or arm.sends(JOINTS, Q))


def test_a_button_that_does_not_exist_is_refused_and_named(bench, joy):
    arm = bench(**GUIDED, dead_man_button=7)
    arm.describe(ARM)
    press = joy(arm)
    arm.until(lambda: press(1, 1) or arm.refused('joy'))
    assert 'dead_man_button is 7, and the message has 2 buttons' in arm.told('joy')
    assert not arm.sends(JOINTS, Q)


def test_only_commands_are_in_the_unit_of_the_drives(bench):
    arm = bench(**GUIDED, command_scale__elbow=-0.5)
    arm.describe(ARM)
    np.testing.assert_allclose(arm.answer(JOINTS, Q), GRAVITY, rtol=1e-12)
    arm.until(lambda: arm.commands)
    np.testing.assert_allclose(arm.commands[-1], GRAVITY * [1.0, -0.5], rtol=1e-12)
    refused = arm.set_parameter('command_scale.elbow', 2.0)
    assert not refused.successful and 'cannot change at run time' in refused.reason
    arm.answer(JOINTS, Q)
    arm.settle()
    np.testing.assert_allclose(arm.commands[-1], GRAVITY * [1.0, -0.5], rtol=1e-12)


def test_a_guided_arm_is_damped_and_has_end_stops(bench):
    arm = bench(**GUIDED, guiding_damping__shoulder=0.4, end_stop_stiffness__elbow=20.0,
                position_limit_margin=2.9)
    arm.describe(ARM)
    q = [0.0, -0.2]  # the shoulder is within the range, the elbow 0.1 beyond
    held = Robot.from_urdf(ARM).gravity(q)
    for damping in (0.4, 0.8):
        assert arm.set_parameter('guiding_damping.shoulder', damping).successful
        np.testing.assert_allclose(
            arm.answer(JOINTS, q, [0.05, 0.0]), held + [-0.05 * damping, 2.0], rtol=1e-12)
