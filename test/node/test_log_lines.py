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
"""What stands in the log when messages are refused one after the other."""

import pytest
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]


def send_to(arm, topic, send, *arguments):
    """Publish something that is refused, and wait until it was."""
    refused = arm.refused(topic)
    send(*arguments)
    arm.until(lambda: arm.refused(topic) > refused)


def test_each_refused_description_has_a_log_line_of_its_own(bench, capfd):
    arm = bench(joints=JOINTS)
    arm.describe(ARM.replace('mass value="1.0"', 'mass value="light"', 1))
    arm.describe(ARM.replace('type="revolute"', 'type="elastic"', 1))
    log = capfd.readouterr().err
    assert log.count('robot_description: refused') == 2
    assert log.count('light') == 1
    assert log.count('elastic') == 1


def test_a_robot_that_cannot_be_driven_is_an_error(bench, capfd):
    arm = bench(joints=['shoulder', 'elbw'])
    arm.describe(ARM)
    log = capfd.readouterr().err
    error, = (line for line in log.splitlines() if line.startswith('[ERROR]'))
    assert "joints names 'elbw', which is no moving joint" in error
    assert 'elbow' in error


def test_beside_a_driven_robot_an_unusable_one_is_a_warning(bench, capfd):
    arm = bench(joints=JOINTS)
    arm.describe(ARM)
    arm.describe(ARM.replace('type="revolute"', 'type="elastic"', 1))
    log = capfd.readouterr().err
    assert 'elastic' in log
    assert '[ERROR]' not in log


def test_each_refused_trajectory_has_a_log_line_of_its_own(bench, capfd):
    arm = bench(joints=JOINTS, state_timeout=10.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    capfd.readouterr()
    for name in ('wrist', 'ankle', 'ankle'):
        send_to(arm, 'joint_trajectory', arm.send_trajectory, [name], [(1.0, [0.0])])
    log = capfd.readouterr().err
    assert log.count('wrist') == 1
    assert log.count('ankle') == 1
    assert 'ankle' in arm.told('joint_trajectory')
    arm.send_trajectory(JOINTS, [(1.0, Q)])
    arm.until(lambda: not arm.told('joint_trajectory'))
    assert capfd.readouterr().err.count('joint_trajectory') == 1


def test_states_that_are_refused_at_their_rate_are_said_once(bench, capfd):
    arm = bench(joints=JOINTS)
    arm.describe(ARM)
    capfd.readouterr()
    for count in range(3, 8):  # positions for two joints
        send_to(arm, 'joint_states', arm.state, JOINTS, [0.0] * count)
    assert capfd.readouterr().err.count('joint_states: refused') == 1
    assert '7' in arm.told('joint_states')
    arm.until(lambda: not arm.told('joint_states'))
