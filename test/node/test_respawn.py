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
"""The node is killed (kill -9) and started again, as launch files do with ``respawn``."""

from __future__ import annotations

import os
from pathlib import Path
import signal
import subprocess
import sys
from time import monotonic

from diagnostic_msgs.msg import DiagnosticArray
from patience import PATIENCE, until
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from repository import ROOT
from ros2_rnea import Robot
from sensor_msgs.msg import JointState
from small_robots import ARM
from std_msgs.msg import Float64MultiArray
import yaml

pytestmark = pytest.mark.ros

NAMESPACE = '/respawned'
TOPIC = f'{NAMESPACE}/inverse_dynamics/commands'
Q = [0.3, 0.1]

DEPTH = 10
"""Number of messages that are queued."""

TRIES = 3
"""Between two looks, DDS may forget the killed process by chance."""

UNCONNECTED = 60.0
"""
Where no joint state has reached the node for this time [s], none will, and it is a try less.

On a very busy machine, Fast DDS may not connect what takes the place of a killed process, ever.
"""

PARAMETERS = {
    'mode': 'gravity_compensation', 'joints': ['shoulder', 'elbow'], 'blend_time': 0.0,
    'state_timeout': 10.0}

NOT_NEEDED = {
    'asyncio', 'jinja2', 'lxml', 'matplotlib', 'mujoco', 'multiprocessing', 'rich', 'rosbags',
    'scipy', 'toppra'}
"""What takes long to import, and no effort needs; rclpy itself needs yaml and lark."""

TELLS_ITS_MODULES = """
import sys
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode, run
from ros2_rnea.node.topics.effort_publishers import EffortPublishers

send = EffortPublishers.send

def send_and_tell(*arguments):
    has_sent = send(*arguments)
    if has_sent:
        print('modules:', *{name.partition('.')[0] for name in sys.modules}, flush=True)
    return has_sent

EffortPublishers.send = send_and_tell
run(InverseDynamicsNode)
"""

LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService()
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource(sys.argv[1]),
    launch_arguments=[word.split(':=') for word in sys.argv[2:]])]))
sys.exit(service.run())
"""


@pytest.fixture
def start():
    """Return a function that starts the node; it is gone after the test."""
    processes = []

    def start(*program: str) -> subprocess.Popen:
        given = [f'robot_description:={ARM!r}',
                 *(f'{name}:={value}' for name, value in PARAMETERS.items())]
        processes.append(subprocess.Popen([
            sys.executable, *(program or ('-m', 'ros2_rnea.node.inverse_dynamics_node')),
            '--ros-args', '-r', f'__ns:={NAMESPACE}',
            *(word for each in given for word in ('-p', each))], stdout=subprocess.PIPE))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate(timeout=PATIENCE)


class Driver:
    """Receives the commands, and holds the last one for ever."""

    def __init__(self):
        self.node, self._executor = Node('driver', namespace=NAMESPACE), SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.commands, self.efforts = [], []
        self._unconnected_since = None
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._note, DEPTH)
        self.node.create_subscription(
            Float64MultiArray, TOPIC, lambda command: self.commands.append([*command.data]), DEPTH)
        self.node.create_subscription(
            JointState, 'inverse_dynamics/effort', self.efforts.append, DEPTH)
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)

    def turn(self):
        self._states.publish(JointState(
            name=['shoulder', 'elbow'], position=Q, velocity=[0.0, 0.0],
            effort=Robot.from_urdf(ARM).gravity(Q)))
        self._executor.spin_once(timeout_sec=0.01)

    def _note(self, message):
        is_unconnected = 'no joint state yet' in message.status[0].message
        self._unconnected_since = (self._unconnected_since or monotonic()) if (
            is_unconnected) else None

    def is_unconnected(self):
        """Return whether the node says that it still has no joint state."""
        return self._unconnected_since is not None and (
            monotonic() - self._unconnected_since > UNCONNECTED)

    def forget(self):
        """Forget what has come until now, and what was on its way."""
        for _ in range(5 * DEPTH):
            self.turn()
        self.commands.clear()
        self.efforts.clear()
        self._unconnected_since = None

    def lists_killed(self):
        """Return whether DDS still lists the killed process beside the present one."""
        return self.node.count_publishers(TOPIC) > 1

    def end(self):
        self._executor.shutdown()
        self.node.destroy_node()


@pytest.fixture
def driver():
    driver = Driver()
    yield driver
    driver.end()


def test_it_sends_again_while_dds_lists_the_killed_process(start, driver):
    """DDS lists it for some 20 s, for which nothing may wait."""
    process, could_wait = start(), False
    gravity = pytest.approx(Robot.from_urdf(ARM).gravity(Q))
    until(lambda: driver.commands and driver.commands[-1] == gravity, driver.turn)
    for _ in range(TRIES):
        process.kill()
        process.wait()
        driver.forget()
        process = start()
        until(lambda: driver.efforts or driver.commands or driver.is_unconnected(), driver.turn)
        if not driver.efforts and not driver.commands:
            continue
        could_wait = driver.lists_killed()
        until(lambda: driver.commands, driver.turn)
        assert driver.commands[0] == gravity  # which the driver holds
        if could_wait and driver.lists_killed():
            return
    assert driver.commands, 'none of the processes has received a joint state'
    if not could_wait:
        pytest.skip('this machine is so busy that DDS has forgotten the killed process already')
    raise AssertionError('the node waits until DDS has forgotten the killed process')


def test_nothing_that_takes_long_is_imported_before_the_first_effort(start, driver):
    process = start('-c', TELLS_ITS_MODULES)
    until(lambda: driver.efforts, driver.turn)
    # DDS may write lines of its own before
    line = next(line for line in process.stdout if line.startswith(b'modules:'))
    modules = {*line.decode().split()}
    assert {'rclpy', 'numpy', 'ros2_rnea'} <= modules
    assert NOT_NEEDED & modules == set()


def children(process):
    """Return the identifiers of the processes that a process has started."""
    return {int(child) for task in Path(f'/proc/{process.pid}/task').iterdir()
            for child in (task / 'children').read_text().split()}


@pytest.fixture
def launched(tmp_path):
    """Return a process of launch that starts the node, with ``respawn``."""
    pytest.importorskip('launch_ros', reason='the launch system comes with ROS 2 only')
    (tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages').mkdir(parents=True)
    (tmp_path / 'share/ament_index/resource_index/packages/ros2_rnea').touch()
    executable = tmp_path / 'lib' / 'ros2_rnea' / 'inverse_dynamics_node'
    executable.parent.mkdir(parents=True)
    executable.write_text(
        f'#!/bin/sh\nexec {sys.executable} -m ros2_rnea.node.inverse_dynamics_node "$@"\n')
    executable.chmod(0o755)
    (tmp_path / 'arm.urdf').write_text(ARM, encoding='utf-8')
    (tmp_path / 'arm.yaml').write_text(
        yaml.safe_dump({'/**': {'ros__parameters': PARAMETERS}}), encoding='utf-8')
    process = subprocess.Popen(
        [sys.executable, '-c', LAUNCH, str(ROOT / 'launch' / 'inverse_dynamics.launch.py'),
         f'params_file:={tmp_path / "arm.yaml"}', f'urdf:={tmp_path / "arm.urdf"}',
         f'namespace:={NAMESPACE}', f'commands:={TOPIC}', 'respawn:=true'],
        env={**os.environ, 'AMENT_PREFIX_PATH': os.pathsep.join(filter(None, (
            str(tmp_path), os.environ.get('AMENT_PREFIX_PATH', ''))))})
    yield process
    process.send_signal(signal.SIGINT)  # so that it ends the node, too
    process.wait(timeout=PATIENCE)


def test_a_launch_file_with_respawn_starts_it_again(launched, driver):
    gravity = pytest.approx(Robot.from_urdf(ARM).gravity(Q))
    until(lambda: driver.commands and driver.commands[-1] == gravity, driver.turn)
    killed, = children(launched)
    os.kill(killed, signal.SIGKILL)
    until(lambda: children(launched) - {killed}, driver.turn)
    driver.forget()
    until(lambda: driver.commands, driver.turn)
    assert driver.commands[0] == gravity
