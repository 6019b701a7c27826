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
"""The benchmark of the node: its processes, its messages and its command line."""

from __future__ import annotations

import json
import time

from benchmark.errors import BenchmarkError
from benchmark.node.__main__ import main
from benchmark.node.joint_range import joint_range, JointRange
from benchmark.node.processes import Process, ProcessEndedError
from benchmark.node.publisher import joint_states, slow_trajectory
from benchmark.node.robots import find_robot
from benchmark.node.runs import Effort
from benchmark.node.stamps import read_stamp, write_stamp
from benchmark.robots import EXAMPLES
from example_robots import example_urdf
import numpy as np
from patience import PATIENCE, until
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea import Robot
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.model.description import JointLimits
from ros2_rnea.robots.joint_index_map import joint_body
from sensor_msgs.msg import JointState
from small_robots import ARM

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('stamp', [1, 999_999_999, 1_000_000_000, 1_795_241_479_588_677_123])
def test_a_stamp_comes_back_and_is_one_to_ros(stamp):
    message = bytearray(serialize_message(JointState(name=['shoulder'], position=[1.0])))
    write_stamp(message, stamp)
    assert read_stamp(bytes(message)) == stamp
    read = deserialize_message(bytes(message), JointState).header.stamp
    assert (read.sec, read.nanosec) == divmod(stamp, 1_000_000_000)


@pytest.mark.parametrize('limits, expected', [
    (JointLimits(), JointRange(0.0, 0.5, 0.5)),
    (JointLimits(-3.0, -2.0, 0.2), JointRange(-2.5, 0.25, 0.1)),
    (JointLimits(-1.0, 9.0, 9.0), JointRange(4.0, 0.5, 0.5)),
    (JointLimits(1.0, 1.0, 0.0), JointRange(0.0, 0.5, 0.5)),
    (JointLimits(lower=-1.0), JointRange(0.0, 0.5, 0.5)),
])
def test_the_range_of_a_joint_is_around_its_middle(limits, expected):
    assert joint_range(limits) == expected


@pytest.mark.parametrize('name', ['panda', 'talos'])
def test_no_state_or_trajectory_reaches_the_joint_bounds(name):
    model, robot = Robot.from_urdf(example_urdf(EXAMPLES[name].path)), find_robot(name)

    def are_reached(joints, positions, velocities):
        bounds = JointBounds(
            np.array([joint_body(model, joint).limits.bounds for joint in joints]),
            margin=0.001, velocity_factor=0.9, braking_time=0.1)
        state, pushes = (np.array(positions), np.array(velocities)), np.ones(len(joints))
        return any((bounds.restrained(push, 0.0 * push, *state) != push).any()
                   for push in (pushes, -pushes)) or bounds.excess(*state).any()

    states = joint_states(robot.joints)
    assert len({tuple(state.position) for state in states}) == len(states)
    assert not any(are_reached(state.name, state.position, state.velocity) for state in states)
    trajectory = slow_trajectory(robot.joints)
    assert not any(are_reached(trajectory.joint_names, point.positions, point.velocities)
                   for point in trajectory.points)


def test_an_unknown_robot_is_said(capsys):
    with pytest.raises(BenchmarkError, match="'r2d2' is neither a URDF file nor one of panda"):
        find_robot('r2d2')
    assert main(['r2d2']) == 1
    assert 'r2d2' in capsys.readouterr().out


def test_the_processor_time_of_a_process_is_what_it_used(tmp_path):
    with Process('timeit', ['-n', '1', '-r', '1', 'while True: pass'], tmp_path / 'log') as busy:
        until(lambda: busy.processor_time() >= 0.05)
        start, first = time.monotonic(), busy.processor_time()
        until(lambda: busy.processor_time() >= first + 0.02)
        assert busy.processor_time() - first < 2.0 * (time.monotonic() - start) + 0.02


def test_a_process_that_ends_is_said_with_its_last_words(tmp_path):
    with Process('json.tool', ['/nowhere'], tmp_path / 'log') as process:
        with pytest.raises(ProcessEndedError, match='json.tool ended with exit code') as error:
            process.ask('anything')
    assert '/nowhere' in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize('arguments, key', [
    (['--rates', '100'], 'robots'),
    (['--robots', '2', '--fleet-rate', '50'], 'fleet'),
    (['--respawn'], 'respawns'),
])
def test_it_measures_and_records(tmp_path, capsys, monkeypatch, arguments, key):
    monkeypatch.setattr('benchmark.node.runs.CLIMB_END', 1000.0)
    monkeypatch.setattr('benchmark.node.bench.PATIENCE', PATIENCE)
    monkeypatch.setattr('benchmark.node.bench.LEASE', 0.0)
    monkeypatch.setattr('benchmark.node.__main__.QUICK', Effort(blocks=2, seconds=0.2))
    (tmp_path / 'arm.urdf').write_text(ARM, encoding='utf-8')
    file = tmp_path / 'figures.json'
    records = []

    def is_measured() -> bool:
        assert main([str(tmp_path / 'arm.urdf'), '--quick', '--json', str(file), *arguments]) == 0
        records.append(json.loads(file.read_text()))
        return key != 'robots' or all(  # not if the machine pauses for as long as it is measured
            subject['answered'] for subject in records[-1]['robots']['arm']['cycle'][0].values())

    until(is_measured)
    record = records[-1]
    assert record['machine']['cores'] >= 1
    assert record['versions']['rmw'].startswith('rmw_')
    if key == 'robots':
        by_subject = record['robots']['arm']['cycle'][0]
        for subject in by_subject.values():  # no answer of another one is counted
            assert 0 < subject['answered'] <= subject['sent']
        assert by_subject['node']['processor'] > 0.0
        assert 'ratio' in capsys.readouterr().out
    elif key == 'fleet':
        assert set(record['fleet']['rows']) == {'1', '2'}
    else:
        assert set(record['respawns']['arm']) == {'relay', 'node'}
        for respawns in record['respawns']['arm'].values():
            assert len(respawns) == 2
            assert all(0.0 < each['processor'] and 0.0 < each['gap'] for each in respawns)
