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
"""Another effort controller is named while one is known and is sent efforts."""

from controller_node import Controller
from made_parts import made_by
import pytest
from ros2_rnea.node import inverse_dynamics_node
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]


@pytest.fixture
def start(bench):
    """Return a function that starts the arm, with these controllers beside it."""
    started = []

    def start(**controllers):
        arm = bench(joints=JOINTS, state_timeout=10.0, effort_controller='first')
        arm.describe(ARM)
        started.extend(Controller(arm, name, joints=joints)
                       for name, joints in controllers.items())
        arm.until(lambda: arm.sends(JOINTS, Q))
        return arm

    yield start
    for controller in started:
        controller.leave()


def test_answers_of_the_first_do_not_count_for_the_second(start):
    arm = start(first=JOINTS)
    assert arm.set_parameter('effort_controller', 'second').successful
    assert not arm.sends(JOINTS, Q)
    arm.until(lambda: "'second' is not available" in arm.told('effort_controller'))
    assert not arm.sends(JOINTS, Q)


def test_joints_of_the_second_are_compared_though_the_first_fitted(start):
    arm = start(first=JOINTS, second=JOINTS[::-1])
    assert arm.set_parameter('effort_controller', 'second').successful
    assert not arm.sends(JOINTS, Q)
    arm.until(lambda: "'second' has the joints elbow, shoulder" in arm.told('effort_controller'))
    assert not arm.sends(JOINTS, Q)


@pytest.mark.parametrize('name', ['second', ''])
def test_another_name_changes_nothing_of_what_the_receiver_holds(start, name):
    """Another name makes the commands go to nobody else: the topic is the same."""
    arm = start(first=JOINTS, second=JOINTS)
    arm.until(lambda: arm.commands and max(map(abs, arm.commands[-1])) > 1.0)
    before = arm.commands[-1]
    assert arm.set_parameter('blend_time', 60.0).successful
    assert arm.set_parameter('effort_controller', name).successful
    arm.settle()
    count = len(arm.commands)
    arm.until(lambda: arm.sends(JOINTS, Q))
    arm.until(lambda: len(arm.commands) > count)
    assert arm.commands[count] == pytest.approx(before, abs=0.05)


def test_named_back_the_first_is_asked_anew(start, monkeypatch):
    controllers = made_by(monkeypatch, inverse_dynamics_node, 'Controllers')
    arm = start(first=JOINTS)
    assert arm.set_parameter('effort_controller', 'second').successful
    arm.until(lambda: "'second' is not available" in arm.told('effort_controller'))
    # Until then, what the first has told is still known, and efforts may be sent to it.
    arm.until(lambda: controllers[-1].effort_controller.endswith('second'))
    # Without a turn of the executor, in which the answer may come.
    assert arm.node.configuration.set_parameter('effort_controller', 'first').successful
    assert not arm.node.policy.settings.enabled
    arm.until(lambda: arm.sends(JOINTS, Q))
