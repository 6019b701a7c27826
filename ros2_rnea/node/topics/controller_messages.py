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
The state of joint_trajectory_controller, in the messages of all versions of control_msgs.

Without that package the node cannot follow the reference of a controller.
"""

from __future__ import annotations

from typing import Any

from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.node.topics.conversions import seconds

try:
    from control_msgs.msg import JointTrajectoryControllerState
except ImportError:
    JointTrajectoryControllerState = None
try:
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTolerance
except ImportError:
    FollowJointTrajectory = JointTolerance = None


def controller_reference(message: Any) -> ControllerReference:
    """
    Return the reference in a JointTrajectoryControllerState message.

    The field is ``reference`` from version 4.4 of control_msgs on, and ``desired`` before.
    """
    point = message.reference if hasattr(message, 'reference') else message.desired
    efforts = message.output.effort if hasattr(message, 'output') else ()
    return ControllerReference(
        message.joint_names, point.positions, point.velocities, point.accelerations,
        seconds(message.header.stamp), speed_scaling_of(message), efforts)


def speed_scaling_of(message: Any) -> float:
    """Return the controller's speed scaling; 0, which means unknown, before version 5.3."""
    return float(getattr(message, 'speed_scaling_factor', 0.0))
