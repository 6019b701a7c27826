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
"""A process with a controller manager and controllers, as far as other nodes see it."""

from __future__ import annotations

from threading import Event, Thread

from command_log import CommandLog
from node_bench import Bench, LATCHED
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea.robots.robot import Robot
from small_robots import ARM
from std_msgs.msg import Float64MultiArray

try:
    from controller_manager_msgs.msg import (
        ControllerManagerActivity,
        ControllerState,
        NamedLifecycleState,
    )
    from controller_manager_msgs.srv import ListControllers
except ImportError:
    HAS_MESSAGES = False
else:
    HAS_MESSAGES = True

FORWARD = 'forward_command_controller/ForwardCommandController'
GROUP = 'effort_controllers/JointGroupEffortController'
JTC = 'joint_trajectory_controller/JointTrajectoryController'

TOPIC = '/robot/effort_controller/commands'
JOINTS = ['shoulder', 'elbow']
FITTING = {'joints': JOINTS, 'interface_name': 'effort'}
"""Parameters of a controller that fits the node."""

Q = [0.3, -0.8]
REST = [0.0, 0.0]
GRAVITY = Robot.from_urdf(ARM).gravity(Q).tolist()


def publish_state(arm: Bench, efforts=GRAVITY) -> None:
    """Publish a joint state of the arm at rest."""
    arm.state(JOINTS, Q, REST, efforts=efforts)


class SimulatedRos2Control:
    """
    A participant of its own, which stands for the process of a controller manager.

    :param topic: that the effort controller subscribes to.
    :param has_manager: whether there is a controller manager.
    :param has_activity: whether it publishes ~/activity, as from Jazzy on.
    :param parameters: of the effort controller; None: it has no services for them.
    :ivar types: of controllers, by name; of others it is that of forward_command_controller.
    :ivar interfaces: the command interfaces of controllers, by name; others command all efforts.
    :ivar may_answer: while this is not set, the service does not answer.
    """

    def __init__(
            self, topic=TOPIC, has_manager=True, has_activity=True, parameters=FITTING,
            name='effort_controller'):
        self._log = CommandLog()
        self.states = {}
        self.types = {}
        self.interfaces = {}
        self.may_answer = Event()
        self.may_answer.set()
        self._has_ended = Event()
        self.parameters = parameters
        self._topic = topic
        self._name = name
        self._context = Context()
        rclpy.init(context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._nodes = []
        self._activity = None
        if has_manager:
            manager = self._node('controller_manager')
            manager.create_service(
                ListControllers, 'controller_manager/list_controllers', self._list)
            if has_activity:
                self._activity = manager.create_publisher(
                    ControllerManagerActivity, 'controller_manager/activity', LATCHED)
        self.load()
        self._thread = Thread(target=self._spin, daemon=True)
        self._thread.start()

    @property
    def commands(self) -> list[list[float]]:
        """Return what the effort controller has received, active or not."""
        return self._log.commands

    def flush(self, arm: Bench) -> int:
        """Wait for the answers to all joint states until now, and return their count."""
        return self._log.flush(arm)

    def first_command(self, arm: Bench, efforts=GRAVITY) -> list[float]:
        """Return the first command that answers a joint state which is published from now on."""
        return self._log.first_command(arm, lambda: publish_state(arm, efforts))

    def load(self):
        """Load the effort controller: its node appears, with its subscription."""
        node = self._node(self._name)
        if self.parameters is not None:
            node.create_service(
                ListParameters, f'{self._name}/list_parameters', self._list_parameters)
            node.create_service(GetParameters, f'{self._name}/get_parameters', self._get)
        node.create_subscription(
            Float64MultiArray, self._topic, self._log.receive, 100)

    def unload(self):
        """Unload it again."""
        node = self._nodes.pop()
        self._executor.remove_node(node)
        node.destroy_node()

    def advertise(self):
        """Let the controller's node publish on the topic of the commands as well."""
        self._nodes[-1].create_publisher(Float64MultiArray, self._topic, 1)

    def switch(self, **states):
        """Report the states of all loaded controllers, by name."""
        self.states = states
        if self._activity is not None:
            message = ControllerManagerActivity()
            for name, state in states.items():
                item = NamedLifecycleState(name=name)
                item.state.label = state
                message.controllers.append(item)
            self._activity.publish(message)

    def end(self):
        """Let the process crash."""
        if self._context.ok():
            self.may_answer.set()
            self._has_ended.set()
            self._thread.join()
            self._executor.shutdown()
            for node in self._nodes:
                node.destroy_node()
            rclpy.shutdown(context=self._context)

    def _node(self, name):
        node = Node(name, namespace='/robot', context=self._context,
                    start_parameter_services=False)
        self._nodes.append(node)
        self._executor.add_node(node)
        return node

    def _spin(self):
        while not self._has_ended.is_set():
            self._executor.spin_once(timeout_sec=0.01)

    def _list(self, _, response):
        self.may_answer.wait()
        response.controller = [
            ControllerState(
                name=name, state=state, type=self.types.get(name, FORWARD),
                required_command_interfaces=self.interfaces.get(
                    name, ['shoulder/effort', 'elbow/effort']))
            for name, state in self.states.items()]
        return response

    def _list_parameters(self, _, response):
        response.result.names = list(self.parameters)
        return response

    def _get(self, request, response):
        response.values = [
            value if isinstance(value, ParameterValue)
            else Parameter(name, value=value).get_parameter_value()
            for name, value in ((name, self.parameters[name]) for name in request.names)]
        return response
