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
"""The delay of efforts, of robots that are larger than those of the other tests."""

import numpy as np
import pytest
from ros2_rnea.offline.identification.effort_delay import effort_delay
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.robots.robot import Robot

BODIES = 70
"""Their regressor has more columns than a third of the instants that are enough for an arm."""

PERIOD = 0.01


def test_many_bodies_need_no_longer_recording_than_their_columns():
    robot = Robot.from_urdf(_pendulums(BODIES), engine='textbook')
    times = PERIOD * np.arange(2 * 3 * (10 * BODIES + 4) - 50)
    q, qd, qdd = np.zeros((3, len(times), BODIES))
    for rate, phase in ((2.0, 0.0), (3.1, 1.0), (5.3, 2.0)):
        q[:, 0] += 0.4 * np.sin(rate * times + phase)
        qd[:, 0] += 0.4 * rate * np.cos(rate * times + phase)
        qdd[:, 0] -= 0.4 * rate * rate * np.sin(rate * times + phase)
    moves = np.zeros((len(times), BODIES), dtype=bool)
    moves[:, 0] = True
    tau = robot.inverse_dynamics(q, qd, qdd)
    late = 2
    tau[late:] = tau[:-late]
    recording = PreparedRecording(
        'swing', times, q, qd, qdd, tau, moves, (slice(late, len(times)),))
    found = effort_delay(robot, recording, {robot.joint_names[0]: 0}, PERIOD, 0.05)
    assert found.seconds == pytest.approx(late * PERIOD, abs=1e-4)
    assert not found.reason


def _pendulums(count):
    parts = [
        f'<link name="link{i}"><inertial><origin xyz="0.1 0 0.2"/><mass value="1"/>'
        '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>'
        f'<joint name="joint{i}" type="continuous"><parent link="base"/><child link="link{i}"/>'
        f'<origin xyz="{i} 0 0"/><axis xyz="0 1 0"/></joint>' for i in range(count)]
    return f'<robot name="pendulums"><link name="base"/>{"".join(parts)}</robot>'
