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
"""
A controller that received the last command of an earlier process, and is not there any more.

It may hold that command, so that nobody else may be taken for it; but not for ever.
"""

from math import inf

import numpy as np
import pytest
from ros2_rnea.node.controllers import receivers
from ros2_rnea.node.controllers.receiver_graph import PARTICIPANT_BYTES
from ros2_rnea.node.topics.command_record import CommandRecord, Endpoint, record_path
from simulated_ros2_control import GRAVITY, JOINTS, publish_state

pytestmark = pytest.mark.ros

CONTROLLER = '/robot/effort_controller'


@pytest.fixture
def record(own_records):
    """Return the path of a record that an earlier process has left, of commands to CONTROLLER."""
    path = record_path('/robot/inverse_dynamics')
    record = CommandRecord(path)
    record.begin(JOINTS, frozenset({Endpoint(CONTROLLER, '00' * PARTICIPANT_BYTES)}))
    record.write(np.array([3.0, 4.0]))
    return path


def test_a_driver_of_another_name_is_sent_commands_later(
        record, start_arm, start_controllers, monkeypatch, capfd):
    """Before, the log said for ever that nobody receives the commands."""
    monkeypatch.setattr(receivers, 'DISCOVERY_TIME', inf)
    driver = start_controllers(has_manager=False, name='motor_driver', parameters=None)
    arm = start_arm()
    said = '/robot/motor_driver may be a recorder'  # once its name has been discovered
    arm.until(lambda: publish_state(arm) or said in arm.told('receivers'))
    told = arm.told('receivers')
    assert all(part in told for part in (CONTROLLER, str(record), 'remap ~/commands'))
    assert driver.flush(arm) == 0
    monkeypatch.setattr(receivers, 'DISCOVERY_TIME', 0.0)
    arm.until(lambda: publish_state(arm) or driver.commands)
    arm.until(lambda: not arm.told('receivers'))
    log = capfd.readouterr().err
    assert f'{CONTROLLER} is waited for' in log and 'has not appeared within' in log
    assert driver.commands[0] != [3.0, 4.0]  # which it has not received
    arm.until(lambda: driver.first_command(arm) == pytest.approx(GRAVITY))
