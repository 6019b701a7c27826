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
"""A controller beside the node under test, as far as its parameters are concerned."""

from __future__ import annotations

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter


class Controller:
    """
    A node with parameters as rclcpp serves them: where one is not declared, all are withheld.

    Without ``command_interfaces`` it is a controller that forwards efforts.

    :ivar asked: how often it was asked for values.
    """

    def __init__(self, arm, name, **parameters):
        self.parameters = {key.replace('__', '.'): value for key, value in parameters.items()}
        if 'command_interfaces' not in parameters:
            self.parameters.setdefault('interface_name', 'effort')
        self.asked = 0
        self._arm = arm
        self._node = Node(name, namespace='/robot', start_parameter_services=False)
        self._node.create_service(ListParameters, f'{name}/list_parameters', self._list)
        self._node.create_service(GetParameters, f'{name}/get_parameters', self._get)
        self._executor = arm.executor
        self._executor.add_node(self._node)

    def _list(self, _, response):
        response.result.names = list(self.parameters)
        return response

    def _get(self, request, response):
        self.asked += 1
        if set(request.names) <= set(self.parameters):
            response.values = [
                Parameter(name, value=self.parameters[name]).get_parameter_value()
                for name in request.names]
        return response

    def pause(self):
        """Answer no more."""
        self._executor.remove_node(self._node)

    def resume(self):
        """
        Answer again.

        That is left to another executor, as the EventsExecutor of rclpy may be told nothing of the
        requests to a node that comes back to it.
        """
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._arm.in_each_turn.append(lambda: self._executor.spin_once(timeout_sec=0.0))

    def leave(self):
        """Be gone, once what is being answered is."""
        if self._node is not None:
            self._executor.remove_node(self._node)
            self._arm.settle(0.1)
            self._node.destroy_node()
            self._node = None
