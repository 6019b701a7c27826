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
"""Fill a planned trajectory with efforts, and let move_group execute it."""

from __future__ import annotations

from math import isfinite
from typing import Any

from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import RobotTrajectory
import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future
from ros2_rnea_interfaces.srv import FillTrajectoryEfforts
from trajectory_msgs.msg import JointTrajectory

FILL, EXECUTE = '/inverse_dynamics/fill_trajectory_efforts', '/execute_trajectory'
PATIENCE = 10.0  # [s]


def filled(node: Node, planned: JointTrajectory) -> JointTrajectory:
    """Return a trajectory with efforts; raise an error if the robot cannot execute it."""
    client = node.create_client(FillTrajectoryEfforts, FILL)
    if not client.wait_for_service(timeout_sec=PATIENCE):
        raise RuntimeError(f'the service {FILL} is not available')
    reply = _awaited(node, client.call_async(FillTrajectoryEfforts.Request(trajectory=planned)))
    if not reply.success:
        raise RuntimeError(reply.message)
    if not reply.report.within_limits:
        report = reply.report
        is_possible = isfinite(report.time_scaling)  # not where gravity alone is too much
        raise RuntimeError(
            f'the {report.first_break_quantity} of {report.first_break_joint} would be '
            f'{report.first_break_value:.3g}, its limit is {report.first_break_limit:.3g}; the '
            'motion is possible '
            + (f'in {report.time_scaling:.2f} times its duration' if is_possible
               else 'at no speed'))
    if reply.report.motion.velocity_jump_times:
        raise RuntimeError(reply.message)
    return reply.trajectory


def execute(node: Node, trajectory: JointTrajectory) -> int:
    """Let move_group execute a trajectory unchanged; return its error code, 1 for success."""
    client = ActionClient(node, ExecuteTrajectory, EXECUTE)
    if not client.wait_for_server(timeout_sec=PATIENCE):
        raise RuntimeError(f'the action {EXECUTE} is not available')
    goal = ExecuteTrajectory.Goal(trajectory=RobotTrajectory(joint_trajectory=trajectory))
    accepted = _awaited(node, client.send_goal_async(goal))
    return _awaited(node, accepted.get_result_async()).result.error_code.val


def _awaited(node: Node, future: Future) -> Any:
    rclpy.spin_until_future_complete(node, future)
    return future.result()
