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
The node where nothing can be written: temporary files, cache of machine code, record of commands.

It runs in a mount namespace of its own with file systems that are full, which needs root.  Without
root, test_worker.py, test_command_record.py and kernels/test_cache.py have the single faults.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Inertia, Point
import numpy as np
from patience import PATIENCE, until
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial, Pose
from sensor_msgs.msg import JointState
from small_robots import ARM
from std_msgs.msg import Float64MultiArray, String

pytestmark = [pytest.mark.ros, pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which('unshare') is None, reason='needs root and util-linux')]

NAMESPACE = '/full_disk'
JOINTS, POSITIONS = ['shoulder', 'elbow'], [0.3, -0.8]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

ON_FULL_DISKS = """
mount -t tmpfs -o size=4k tmpfs "$TMPDIR" || exit 98
mount -t tmpfs -o size=1m tmpfs /dev/shm || exit 98
head -c 8k /dev/zero >"$TMPDIR/filling" 2>/dev/null
(
  while [ ! -e "$MARKS/fill" ]; do sleep 0.05; done
  head -c 2m /dev/zero >/dev/shm/filling 2>/dev/null
  echo more 2>/dev/null >"$TMPDIR/more" || echo more 2>/dev/null >/dev/shm/more || : >"$MARKS/full"
) &
exec "$@"
"""
"""
Runs a program with a full folder for temporary files, and fills /dev/shm when a file says so.

Not before, since LTTng, with which ROS is traced, ends every process with SIGBUS that starts then.
"""


@pytest.fixture
def node(tmp_path):
    """Start the node, and return its process and the file with its log."""
    folder, log = tmp_path / 'temporary', tmp_path / 'log'
    folder.mkdir()
    environment = {
        **os.environ, 'MARKS': str(tmp_path), 'TMPDIR': str(folder), 'XDG_CACHE_HOME': str(folder),
        'ROS_LOG_DIR': str(tmp_path)}
    environment.pop('ROS2_RNEA_ENGINE')  # so that it compiles, and caches what it has compiled
    with log.open('wb') as file:
        process = subprocess.Popen(
            ['unshare', '--mount', 'sh', '-c', ON_FULL_DISKS, 'sh', sys.executable, '-m',
             'ros2_rnea.node.inverse_dynamics_node', '--ros-args', '-r', f'__ns:={NAMESPACE}',
             '-p', 'joints:=[shoulder, elbow]', '-p', 'start_from:=zero'],
            stdout=file, stderr=subprocess.STDOUT, env=environment)
    yield process, log
    process.kill()
    process.wait()


class Peer:
    """The driver of an arm at rest, which receives the commands and the diagnostics."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = Node('peer', namespace=NAMESPACE, context=self._context)
        self._process = process
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._commands: list[list[float]] = []
        self.values: dict[str, str] = {}
        self.node.create_subscription(
            Float64MultiArray, 'inverse_dynamics/commands',
            lambda message: self._commands.append(list(message.data)), 10)
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._keep, 10)
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)
        self._description = self.node.create_publisher(String, 'robot_description', LATCHED)

    def _keep(self, message: DiagnosticArray) -> None:
        self.values = {value.key: value.value for value in message.status[0].values}

    def describe(self) -> None:
        """Publish the robot's description."""
        self._description.publish(String(data=ARM))

    def until(self, condition) -> None:
        """Publish joint states until a condition holds; the node has to live."""
        def turn() -> None:
            assert self._process.poll() is None
            self._states.publish(
                JointState(name=JOINTS, position=POSITIONS, velocity=[0.0, 0.0]))
            self._executor.spin_once(0.01)

        until(condition, turn)

    def until_sent(self, efforts: np.ndarray) -> None:
        """Wait for a command."""
        self.until(lambda: self._commands and np.allclose(
            self._commands[-1], efforts, rtol=0.0, atol=1e-9))

    def call(self, kind, service: str, /, **fields):
        """Call a service of the node."""
        client = self.node.create_client(kind, f'inverse_dynamics/{service}')
        self.until(client.service_is_ready)
        future = client.call_async(kind.Request(**fields))
        self.until(future.done)
        return future.result()

    def close(self) -> None:
        """End."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


@pytest.fixture
def peer(node):
    """Return a peer of the node."""
    peer = Peer(node[0])
    yield peer
    peer.close()


def test_the_node_works_where_nothing_can_be_written(node, peer, tmp_path):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    process, log = node
    peer.until(lambda: peer.values)  # the node runs
    (tmp_path / 'fill').touch()
    peer.until((tmp_path / 'full').exists)
    peer.describe()
    arm = Robot.from_urdf(ARM)
    peer.until_sent(arm.gravity(POSITIONS))
    inertia = Inertia(m=0.5, com=Point(z=0.1), ixx=0.01, iyy=0.01, izz=0.01)
    response = peer.call(
        interfaces.SetPayload, 'set_payload', name='load', link='tool', inertia=inertia)
    assert response.success, response.message
    loaded = arm.with_payload(
        'load', 'tool', Inertial(0.5, Pose((0.0, 0.0, 0.1)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)))
    peer.until_sent(loaded.gravity(POSITIONS))
    peer.until(lambda: 'No space left on device' in peer.values.get('command record', ''))
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert 'Traceback' not in log.read_text(errors='replace')
