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
Several nodes in one process: ``python -m benchmark.node.fleet --help``.

Nodes share an executor, and with it a thread, and a DDS participant; otherwise each is the node of
the executable.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import signal

from benchmark.node.joint_range import FOR_RANDOM_STATES
import rclpy
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode
from ros2_rnea.node.process import make_executor, Spinning


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the nodes until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--namespaces', nargs='+', required=True)
    parser.add_argument('--joints', nargs='+', required=True)
    options = parser.parse_args(arguments)
    parameters = [Parameter(name, value=value) for name, value in {
        'joints': options.joints, 'state_depth': 10, **FOR_RANDOM_STATES}.items()]
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    nodes = [InverseDynamicsNode(namespace=namespace, parameter_overrides=parameters)
             for namespace in options.namespaces]
    executor = make_executor('automatic')
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.append(number))
    for node in nodes:
        executor.add_node(node)
    spinning = Spinning(nodes[0], executor, lambda: bool(ended))
    while not ended:
        spinning.spin()
    executor.shutdown()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
