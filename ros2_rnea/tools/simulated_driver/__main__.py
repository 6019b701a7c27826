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
"""Run the simulated arm: ``python -m ros2_rnea.tools.simulated_driver --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import signal
import sys
from threading import Event

import rclpy
from rclpy.executors import Executor
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier, remove_ros_args

from ros2_rnea.errors import RneaError
from ros2_rnea.model.regular_file import read_regular_file
from ros2_rnea.node.transports import avoid_shared_memory
from ros2_rnea.tools.executor import lean_executor
from ros2_rnea.tools.models import add_model_options, Model, MODELS
try:
    from ros2_rnea.tools.simulated_driver.driver_node import DriverNode
except ModuleNotFoundError as error:
    if error.name != 'mujoco':
        raise
    sys.exit('simulated_driver: the simulated arm needs MuJoCo: pip install mujoco')

# Ticks to catch up with before looking at messages again.
_TICKS_AT_ONCE = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the driver until SIGINT or SIGTERM.

    rclpy's own signal handlers would invalidate the context in the middle of a tick, whose next
    publication would then raise.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(remove_ros_args(arguments))
    stopping = Event()
    _set_on_signal(stopping)
    avoid_shared_memory(get_rmw_implementation_identifier())
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        model = (Model(read_regular_file(options.urdf).decode()) if options.urdf
                 else MODELS[options.robot]())
        node = DriverNode(model.urdf, model.start, options.friction)
        executor = lean_executor()
        _set_on_signal(stopping)  # again, because the events executor installs its own handlers
        executor.add_node(node)
        _run(node, executor, stopping)
    except (OSError, UnicodeDecodeError, RneaError) as error:
        sys.exit(f'simulated_driver: {error}')
    finally:
        rclpy.try_shutdown()
    return 0


def _set_on_signal(stopping: Event) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())


def _run(node: DriverNode, executor: Executor, stopping: Event) -> None:
    """Simulate each tick when it is due, and handle messages in between."""
    clock = node.get_clock()
    while not stopping.is_set():
        time_left = 0
        for _ in range(_TICKS_AT_ONCE):
            now = clock.now().nanoseconds
            time_left = node.pacer.time_left(now)
            if time_left > 0:
                break
            node.tick(now)
        executor.spin_once(timeout_sec=max(time_left, 0) * 1e-9)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='simulated_driver',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
A simulated arm with the ROS interface of a real one.

  publishes   robot_description, joint_states; wrench, while parameter publish_wrench is true
  subscribes  effort_controller/commands   as forward_command_controller: no timeout
              joint_trajectory             followed by the arm's joint PD loop at 1 kHz
              tip_wrench                   pushes the link that header.frame_id names
              tip_load                     InertiaStamped: payload of that link; m = 0: none
              inverse_dynamics/effort      only to measure the latency of the answers
  serves      ~/report                     figures since the last report, as JSON

Parameters: rate [Hz], publish_wrench, gravity (turn it to tilt the mount), stiffness, damping,
start_positions.  The gains are computed from the inertia at each motor.""",
        epilog='Everything after --ros-args is for ROS: parameters, remaps, log level.')
    add_model_options(parser)
    parser.add_argument(
        '--friction', action='store_true',
        help="simulate the Coulomb friction of the joints' <dynamics>, too (default: only the "
             'viscous)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
