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
"""The goals of the trajectory controller: what they are, and one of this node."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalStatusArray
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros2_rnea.control.target.hold_trigger import GoalState
from ros2_rnea.node.guarded_node import call_when_done
from ros2_rnea.node.topics.controller_messages import FollowJointTrajectory, JointTolerance
from ros2_rnea.node.topics.publishers import publishers_of
from trajectory_msgs.msg import JointTrajectory
from unique_identifier_msgs.msg import UUID

STATUS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)

_WITHOUT_TOLERANCE = -1.0
"""The value that erases a tolerance of the controller for one goal."""


class ControllerGoals:
    """
    The action FollowJointTrajectory of a controller.

    All methods are called, and call back, in the control thread.

    :param controller: its name, relative to the namespace of the node.
    :param on_status: called with the state of each goal by its identifier.
    """

    def __init__(
            self, node: Node, controller: str,
            on_status: Callable[[dict[bytes, int]], None]) -> None:
        self.controller = controller
        self._node = node
        action = f'{controller}/follow_joint_trajectory'
        self._client = ActionClient(node, FollowJointTrajectory, action)
        self._on_status = on_status
        self._publishers: Set[bytes] = frozenset()  # of the status, when the last one came
        self._status = node.create_subscription(
            GoalStatusArray, f'{action}/_action/status', self._take_status, STATUS)

    def close(self) -> None:
        """Leave the action; a goal that is executed goes on."""
        self._client.destroy()
        self._node.destroy_subscription(self._status)

    @property
    def is_available(self) -> bool:
        """Return whether the controller's action is known."""
        return self._client.server_is_ready()

    @property
    def are_of_another_process(self) -> bool:
        """
        Return whether the action is offered by another process than that of the last status.

        A controller that was started again after a crash sends none before its first goal.
        """
        present = publishers_of(self._node, self._status.topic_name).keys()
        if not self._publishers:  # it was not discovered yet when its status came
            self._publishers = present
        return not present <= self._publishers

    def _take_status(self, message: GoalStatusArray) -> None:
        self._publishers = publishers_of(self._node, self._status.topic_name).keys()
        self._on_status(_states(message))

    def send(self, trajectory: JointTrajectory, on_end: Callable[[str], None]) -> bytes:
        """
        Send a goal without tolerances, and return its identifier.

        :param on_end: called with the reason where the goal does not succeed, else with an empty
            text.
        """
        identifier = uuid4().bytes
        tolerances = [JointTolerance(
            name=name, position=_WITHOUT_TOLERANCE, velocity=_WITHOUT_TOLERANCE,
            acceleration=_WITHOUT_TOLERANCE) for name in trajectory.joint_names]
        goal = FollowJointTrajectory.Goal(
            trajectory=trajectory, path_tolerance=tolerances, goal_tolerance=tolerances)
        goal.goal_time_tolerance.sec = int(_WITHOUT_TOLERANCE)
        future = self._client.send_goal_async(goal, goal_uuid=UUID(uuid=list(identifier)))
        call_when_done(
            self._node, future, lambda done: self._on_response(done.result(), on_end))
        return identifier

    def _on_response(self, handle: Any, on_end: Callable[[str], None]) -> None:
        if not handle.accepted:
            on_end(f'{self.controller!r} refuses the trajectory; its log has the reason')
            return

        def on_result(done: Any) -> None:
            state = GoalState(done.result().status)
            said = done.result().result.error_string
            on_end('' if state is GoalState.SUCCEEDED else (
                f'{self.controller!r} has {state.name.lower()} the trajectory'
                + (f': {said}' if said else '')))

        call_when_done(self._node, handle.get_result_async(), on_result)


def _states(message: Any) -> dict[bytes, int]:
    return {bytes(each.goal_info.goal_id.uuid): each.status for each in message.status_list}
