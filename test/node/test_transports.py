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
"""Fast DDS without shared memory, in which a killed process leaves locks that others wait for."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

from patience import PATIENCE
import pytest
from ros2_rnea.node import transports
from ros2_rnea.node.transports import (
    avoid_shared_memory,
    LOCALHOST_PROFILE,
    may_use_shared_memory,
    PROFILE_VARIABLES,
    RANGE,
    stay_on_this_machine,
    TRANSPORTS,
)
from small_robots import ARM

FAST = 'rmw_fastrtps_cpp'
VARIABLES = {
    RANGE, TRANSPORTS, *PROFILE_VARIABLES, 'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS', 'ROS_DISTRO'}
UDP = {TRANSPORTS: 'UDPv4'}
LOCALHOST = {RANGE: 'LOCALHOST'}
OVER_LOOPBACK = {RANGE: 'SYSTEM_DEFAULT', **dict.fromkeys(PROFILE_VARIABLES, LOCALHOST_PROFILE)}

NODE = [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args',
        '-p', 'joints:=[shoulder, elbow]', '-p', 'start_from:=zero',
        '-p', f'robot_description:={ARM!r}']

DRIVER = """
import sys
from time import monotonic
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

rclpy.init()
node = rclpy.create_node('driver')
commands = []
node.create_subscription(
    Float64MultiArray, 'inverse_dynamics/commands', commands.append, 10)
states = node.create_publisher(JointState, 'joint_states', 10)
executor = SingleThreadedExecutor()
executor.add_node(node)
end = monotonic() + float(sys.argv[1])
while not commands and monotonic() < end:
    states.publish(JointState(
        name=['shoulder', 'elbow'], position=[0.3, -0.8], velocity=[0.0, 0.0]))
    executor.spin_once(0.01)
print('commanded' if commands else 'not commanded', flush=True)
sys.stdin.read()
"""
"""A driver that says when the first command has come, and then waits for the end of its input."""


@pytest.fixture
def set_environment(monkeypatch, tmp_path):
    """Return a function that replaces the variables that choose transports."""
    monkeypatch.chdir(tmp_path)

    def replace(variables):
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return replace


def chosen():
    """Return the variables that choose transports."""
    return {name: os.environ[name] for name in VARIABLES & os.environ.keys()}


@pytest.mark.parametrize('before, after', [
    ({}, UDP),
    ({RANGE: 'SUBNET'}, {RANGE: 'SUBNET', **UDP}),
    ({RANGE: 'SUBNET', 'ROS_STATIC_PEERS': '10.0.0.2'},
     {RANGE: 'SUBNET', 'ROS_STATIC_PEERS': '10.0.0.2', **UDP}),
    ({RANGE: 'OFF'}, {RANGE: 'OFF', **UDP}),
    ({RANGE: ''}, {RANGE: '', **UDP}),
    (LOCALHOST, OVER_LOOPBACK),
    ({RANGE: 'localhost'}, OVER_LOOPBACK),  # rcl takes an unknown word for LOCALHOST
    ({**LOCALHOST, 'ROS_LOCALHOST_ONLY': '0'}, OVER_LOOPBACK),
    ({RANGE: 'SUBNET', 'ROS_LOCALHOST_ONLY': '1'}, OVER_LOOPBACK),
    ({**LOCALHOST, TRANSPORTS: ''}, {**OVER_LOOPBACK, TRANSPORTS: ''}),
    ({**LOCALHOST, **UDP}, {**OVER_LOOPBACK, **UDP}),
    (OVER_LOOPBACK, OVER_LOOPBACK),
    ({**OVER_LOOPBACK, **LOCALHOST}, OVER_LOOPBACK)])
def test_shared_memory_is_avoided(set_environment, before, after):
    set_environment(before)
    assert may_use_shared_memory(FAST) is (before != after)
    avoid_shared_memory(FAST)
    assert chosen() == after
    assert not may_use_shared_memory(FAST)


@pytest.mark.parametrize('choice', [
    {TRANSPORTS: 'DEFAULT'},
    {TRANSPORTS: 'SHM', **LOCALHOST},
    *({name: 'robot.xml'} for name in PROFILE_VARIABLES),
    {'ROS_LOCALHOST_ONLY': '1', 'ROS_DISTRO': 'humble'},
    {**LOCALHOST, 'ROS_DISTRO': 'humble'},
    {'ROS_STATIC_PEERS': '10.0.0.2', **LOCALHOST}])
def test_a_choice_of_the_user_remains(set_environment, choice):
    set_environment(choice)
    avoid_shared_memory(FAST)
    assert chosen() == choice
    assert may_use_shared_memory(FAST)


def test_without_its_profile_the_range_is_not_widened(set_environment, monkeypatch):
    set_environment(LOCALHOST)
    monkeypatch.setattr(transports, 'LOCALHOST_PROFILE', 'no_such_profile.xml')
    avoid_shared_memory(FAST)
    assert chosen() == LOCALHOST


@pytest.mark.parametrize('name', transports.PROFILE_FILES)
def test_a_profile_in_the_working_directory_remains(set_environment, name):
    set_environment({})
    Path(name).touch()
    avoid_shared_memory(FAST)
    assert chosen() == {}


def test_other_middleware_is_left_alone(set_environment):
    set_environment(LOCALHOST)
    avoid_shared_memory('rmw_cyclonedds_cpp')
    assert chosen() == LOCALHOST
    assert not may_use_shared_memory('rmw_cyclonedds_cpp')


def test_humble_does_not_know_the_variable_of_transports(set_environment):
    set_environment({'ROS_DISTRO': 'humble', **UDP})
    assert may_use_shared_memory(FAST)


def test_processes_of_this_machine_use_loopback(set_environment, monkeypatch):
    set_environment({RANGE: 'SUBNET'})
    monkeypatch.delenv('RMW_IMPLEMENTATION', raising=False)
    stay_on_this_machine()
    assert chosen() == OVER_LOOPBACK


@pytest.mark.ros
@pytest.mark.skipif(os.environ.get('RMW_IMPLEMENTATION', FAST) != FAST, reason='needs Fast DDS')
@pytest.mark.skipif(os.environ.get('ROS_DISTRO') == 'humble', reason='needs a profile')
@pytest.mark.parametrize('environment', [LOCALHOST, {RANGE: 'SUBNET'}])
def test_the_node_has_no_shared_memory_and_commands_a_driver_that_has(
        set_environment, environment):
    set_environment(environment)
    with subprocess.Popen(NODE, stdout=subprocess.DEVNULL) as node, subprocess.Popen(
            [sys.executable, '-c', DRIVER, str(PATIENCE)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True) as driver:
        try:
            assert driver.stdout.readline() == 'commanded\n'
            assert 'fastrtps' in mapped(driver)
            assert 'fastrtps' not in mapped(node)
        finally:
            node.kill()
            driver.kill()


def mapped(process):
    """Return the files in the folder of shared memory that a process has in its memory."""
    lines = Path(f'/proc/{process.pid}/maps').read_text().splitlines()
    return ' '.join(line for line in lines if '/dev/shm/' in line)
