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
The real ros2_control and the node, as processes beside the test.

What is used is what is at hand: ros2_control_node on PATH or in the package controller_manager;
mock hardware, or MuJoCo's where only that is installed; the launch files where the launch system
is, or else the node with the parameters that they give it.
"""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys

import numpy as np
from patience import until
from repository import ROOT
from ros2_rnea.tools.models import panda, with_ros2_control
import yaml

MISSING = ''
try:
    from action_msgs.msg import GoalStatus
    from builtin_interfaces.msg import Duration
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTrajectoryControllerState
    from controller_manager_msgs.srv import (
        ConfigureController,
        LoadController,
        SwitchController,
        UnloadController,
    )
    from rclpy.action import ActionClient
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from ros2_rnea_interfaces.srv import FillTrajectoryEfforts
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray, String
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
except ImportError as error:
    MISSING = str(error)

JOINTS = [f'joint{i}' for i in range(1, 8)]
START = (0.0, -0.3, 0.0, -1.8, 0.0, 1.6, 0.4)
REST = (0.0,) * 7
JTC, EFFORT, STATES = 'joint_trajectory_controller', 'effort_controller', 'joint_state_broadcaster'


def prefixes() -> list[Path]:
    return [Path(path) for path in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
            if path]


def program(name: str) -> str | None:
    """Return where a program of the package controller_manager is."""
    places = [str(prefix / 'lib' / 'controller_manager') for prefix in prefixes()]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))


def manager() -> str | None:
    """Return the program of the controller manager."""
    return program('ros2_control_node')


def has_plugin(package: str, base: str = 'hardware_interface') -> bool:
    """Return whether a package with plugins for another one, by default hardware, is installed."""
    index = Path('share', 'ament_index', 'resource_index', f'{base}__pluginlib__plugin')
    return any((prefix / index / package).exists() for prefix in prefixes())


def reason_to_skip() -> str:
    """Return why the tests cannot run here; empty where they can."""
    if MISSING:
        return MISSING
    if manager() is None:
        return 'the controller manager (ros2_control_node) is not installed'
    if not (has_plugin('hardware_interface') or has_plugin('sim_arm_hw')):
        return 'neither mock hardware nor another for these tests is installed'
    return ''


def description(folder: Path, moves_by_efforts: bool = False) -> str:
    """
    Return the arm with seven drives that take positions and efforts.

    :param moves_by_efforts: which mock hardware does not, so that it has to be MuJoCo's.
    """
    arm = panda()._replace(start=START)
    if has_plugin('hardware_interface') and not moves_by_efforts:
        return with_ros2_control(arm)
    from ros2_rnea.tools.simulated_driver.description import for_mujoco

    model = folder / 'arm.urdf'
    model.write_text(for_mujoco(arm.urdf))
    return with_ros2_control(arm, 'sim_arm_hw/SimArm', {
        'model': model, 'log': folder / 'hardware.csv', 'start': ' '.join(map(str, START)),
        'kp': '600 600 600 600 250 150 50', 'kd': '30 30 25 20 4 3 0.8'})


def trajectory(*points, joints=JOINTS):
    """Return a message from points of (time, positions[, velocities[, accelerations]])."""
    message = JointTrajectory(joint_names=list(joints))
    for at, *fields in points:
        point = JointTrajectoryPoint(
            time_from_start=Duration(sec=int(at), nanosec=round(1e9 * (at - int(at)))))
        for name, values in zip(('positions', 'velocities', 'accelerations'), fields):
            setattr(point, name, [float(value) for value in values])
        message.points.append(point)
    return message


class Rig:
    """
    A controller manager with a ready configuration, and a peer that speaks with all.

    :ivar states: the states that the trajectory controller has published since :meth:`follow`.
    :ivar numbers: of the commands that have been received since :meth:`commands`.
    """

    def __init__(
            self, folder: Path, configuration: Path | str,
            parameters: Mapping[str, Mapping[str, object]] | str = '',
            described: str = '') -> None:
        """
        Start the controller manager with a file, or ``config/CONFIGURATION_controllers.yaml``.

        :param parameters: that are given besides, by node; or their YAML.
        :param described: the robot description; empty: that of :func:`description`.
        """
        self._folder = folder
        self._processes: list[subprocess.Popen] = []
        self.context = Context()
        self.context.init()
        self.peer = Node('peer', context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.peer)
        self.states: list = []
        self.numbers: list[int] = []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self.peer.create_publisher(String, 'robot_description', latched)
        self._description.publish(String(data=described or description(folder)))
        files = [ROOT / 'config' / f'{configuration}_controllers.yaml'
                 if isinstance(configuration, str) else configuration]
        if not isinstance(parameters, str):
            parameters = yaml.safe_dump(
                {node: {'ros__parameters': dict(own)} for node, own in parameters.items()})
        if parameters:
            files.append(folder / 'besides.yaml')
            files[-1].write_text(parameters)
        self.run([manager(), '--ros-args', *(
            word for file in files for word in ('--params-file', str(file)))], 'manager')

    def run(self, command: list[str], name: str) -> subprocess.Popen:
        """Start a process, whose output is kept in the test's folder."""
        with open(self._folder / f'{name}.log', 'ab') as log:
            self._processes.append(subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True))
        return self._processes[-1]

    def start_node(self, configuration: str, **parameters: object) -> subprocess.Popen:
        """
        Start the node by ``launch/CONFIGURATION.launch.py``.

        :param parameters: of the node, besides those in ``config/CONFIGURATION.yaml``; launch
            files ignore what is none of their arguments, so that they go into a file.
        """
        file = ROOT / 'config' / f'{configuration}.yaml'
        if parameters:
            content = yaml.safe_load(file.read_text(encoding='utf-8'))
            for node in content.values():
                node['ros__parameters'].update(parameters)
            file = self._folder / 'node.yaml'
            file.write_text(yaml.safe_dump(content), encoding='utf-8')
        if shutil.which('ros2'):
            return self.run(
                ['ros2', 'launch', 'ros2_rnea', f'{configuration}.launch.py',
                 f'params_file:={file}'], 'node')
        # As the launch file does; test_launch.py compares those with this.
        topics = {'joint_trajectory': f'{JTC}/joint_trajectory',
                  'controller_state': f'{JTC}/controller_state'}
        if configuration in ('forward_command', 'live_feedforward'):
            topics['~/commands'] = f'{EFFORT}/commands'
        words = [word for old, new in topics.items() for word in ('-r', f'{old}:={new}')]
        return self.run(
            [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args',
             '--params-file', str(file), *words], 'node')

    def close(self) -> None:
        """End all processes, the newest first."""
        for process in reversed(self._processes):
            self.end(process)
        self._executor.shutdown()
        self.peer.destroy_node()
        self.context.try_shutdown()

    def end(self, process: subprocess.Popen, number: int = signal.SIGINT) -> None:
        """End a process and its children."""
        if process.poll() is None:
            os.killpg(process.pid, number)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    # ---- what is waited for ---------------------------------------------------------------------

    def until(self, condition) -> None:
        """Wait until a condition holds."""
        until(condition, lambda: self._executor.spin_once(timeout_sec=0.02))

    def call(self, kind, service: str, **fields):
        """Call a service and return its response."""
        client = self.peer.create_client(kind, service)
        self.until(client.service_is_ready)
        future = client.call_async(kind.Request(**fields))
        self.until(future.done)
        self.peer.destroy_client(client)
        return future.result()

    def spawn(self, *controllers: str) -> None:
        """Load, configure and activate controllers, as the spawner does."""
        for name in controllers:
            for kind, verb in ((LoadController, 'load'), (ConfigureController, 'configure')):
                assert self.call(
                    kind, f'controller_manager/{verb}_controller', name=name).ok, (verb, name)
        self.switch(on=controllers)

    def can_configure(self, controller: str) -> bool:
        """Load a controller, and return whether it can be configured."""
        future = self.begin_to_configure(controller)
        self.until(future.done)
        return future.result().ok

    def begin_to_configure(self, controller: str):
        """Load a controller, and return the future response to the request to configure it."""
        assert self.call(
            LoadController, 'controller_manager/load_controller', name=controller).ok
        client = self.peer.create_client(
            ConfigureController, 'controller_manager/configure_controller')
        self.until(client.service_is_ready)
        return client.call_async(ConfigureController.Request(name=controller))

    def configure(self, controller: str) -> bool:
        """Configure a loaded controller, also again; return whether that succeeds."""
        return self.call(
            ConfigureController, 'controller_manager/configure_controller', name=controller).ok

    def switch(self, on=(), off=()) -> None:
        """Activate and deactivate controllers."""
        assert self.can_switch(on, off), (on, off)

    def can_switch(self, on=(), off=()) -> bool:
        """Activate and deactivate controllers; return whether that succeeds."""
        return self.call(
            SwitchController, 'controller_manager/switch_controller', strictness=2,
            activate_controllers=list(on), deactivate_controllers=list(off)).ok

    def unload(self, controller: str) -> None:
        """Deactivate and unload a controller."""
        self.switch(off=[controller])
        assert self.call(
            UnloadController, 'controller_manager/unload_controller', name=controller).ok

    def commands(self) -> list:
        """
        Return a list that grows with the commands of the effort controller, as arrays.

        Their numbers are in :attr:`numbers`: each publisher counts its own from 1.
        """
        received: list = []

        def receive(message: Float64MultiArray, info: dict) -> None:
            received.append(np.array(message.data))
            self.numbers.append(info['publication_sequence_number'])

        self.peer.create_subscription(Float64MultiArray, f'{EFFORT}/commands', receive, 1000)
        return received

    def follow(self) -> None:
        """Record the states of the trajectory controller."""
        self.peer.create_subscription(
            JointTrajectoryControllerState, f'{JTC}/controller_state', self.states.append, 1000)
        self.until(lambda: self.states)

    def joint_states(self) -> list:
        """Return a list that grows with the joint states."""
        received: list = []
        self.peer.create_subscription(JointState, 'joint_states', received.append, 100)
        self.until(lambda: received)
        return received

    # ---- what users do --------------------------------------------------------------------------

    def fill(self, message):
        """Return the response of the node to a request to fill a trajectory."""
        responses: list = []

        def is_answered() -> bool:
            responses.append(self.call(
                FillTrajectoryEfforts, 'inverse_dynamics/fill_trajectory_efforts',
                trajectory=message))
            return 'there is no robot yet' not in responses[-1].message

        self.until(is_answered)
        assert responses[-1].success, responses[-1].message
        return responses[-1]

    def send(self, message):
        """Send a goal as MoveIt does, and return its handle."""
        client = ActionClient(self.peer, FollowJointTrajectory, f'{JTC}/follow_joint_trajectory')
        self.until(client.server_is_ready)
        future = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=message))
        self.until(future.done)
        handle = future.result()
        assert handle.accepted
        return handle

    def succeeds(self, handle) -> bool:
        """Return whether a goal succeeds."""
        future = handle.get_result_async()
        self.until(future.done)
        return future.result().status == GoalStatus.STATUS_SUCCEEDED

    def cancel(self, handle) -> None:
        """Cancel a goal, and wait until it has ended."""
        future = handle.cancel_goal_async()
        self.until(future.done)
        assert not self.succeeds(handle)


REASON = reason_to_skip()
"""Why no test can start the real ros2_control here; empty where they can."""
