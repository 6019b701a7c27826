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
"""The service that fills trajectories with efforts, outside the control thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import pickle
from time import monotonic, sleep

from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.control.policy import Policy
from ros2_rnea.errors import ArgumentError, shortened
from ros2_rnea.node.bounds import MAX_FILLED_POINTS
from ros2_rnea.node.services.background_services import (
    BackgroundService,
    ServiceOwner,
)
from ros2_rnea.node.services.fill_answer import fill_context, FillContext, is_stale
from ros2_rnea.node.worker.channel import Message
from ros2_rnea.robots.adjustable_robot import RobotSnapshot
from ros2_rnea_interfaces.srv import FillTrajectoryEfforts
from trajectory_msgs.msg import JointTrajectory

LONGEST_WAIT = 1.0
"""Longest wait for a fresh state each time that a request is refused for a stale one [s]."""

MAX_REFUSALS = 5
"""Largest number of times that a request may be refused for a stale state."""

ATTEMPTS = 5
"""Largest number of times that the state is read until no message arrives while it is read."""

WAIT_STEP = 0.01
"""Period at which a request that waits looks for a fresh state [s]."""


class FillService:
    """
    ~/fill_trajectory_efforts.

    :param controller_joints: returns the joints of the trajectory controller; none where they are
        not known from its parameters.
    :ivar services: by their names, for :class:`.BackgroundServices`.
    """

    def __init__(
            self,
            owner: ServiceOwner,
            controller_joints: Callable[[], Sequence[str]] = tuple) -> None:
        self._now = owner.now
        self._process = owner.process
        self._why_twice = owner.why_twice
        self._controller_joints = controller_joints
        self.services = {
            'fill_trajectory_efforts': BackgroundService(FillTrajectoryEfforts, self._fill)}

    def _fill(
            self, policy: Policy, request: FillTrajectoryEfforts.Request,
            ) -> FillTrajectoryEfforts.Response:
        points = len(request.trajectory.points)
        if points > MAX_FILLED_POINTS:
            raise ArgumentError(
                f'the trajectory has {points} points; at most {MAX_FILLED_POINTS} are accepted')
        question = serialize_message(request)
        request.trajectory = JointTrajectory()  # frees its objects before the next collection
        refusals = 0
        while True:
            context, was_stale = self._context(policy)
            answer = self._process.ask(fill_request(question, policy.snapshot, context))
            response = deserialize_message(
                answer['response'], FillTrajectoryEfforts.Response)
            refusals += 1
            if (response.success or not was_stale or refusals == MAX_REFUSALS
                    or not self._becomes_fresh(policy)):
                return self._unless_twice(policy, response)

    def _unless_twice(
            self, policy: Policy, response: FillTrajectoryEfforts.Response,
            ) -> FillTrajectoryEfforts.Response:
        """Return a response without its trajectory where a controller adds the efforts, too."""
        filled = [name for name in policy.controlled if name in response.trajectory.joint_names]
        why = self._why_twice(filled)
        if why:
            response.success, response.trajectory = False, JointTrajectory()
            response.message = shortened(f'{why}: execute the trajectory without efforts')
        return response

    def _context(self, policy: Policy) -> tuple[FillContext, bool]:
        """
        Return the context of a request, and whether the state in it is stale.

        A message that the cycle receives during this call is later than the time of the context,
        and would count as stale: another attempt finds the next one in time.
        """
        for _ in range(ATTEMPTS):
            now = self._now()
            context = fill_context(policy, now, self._controller_joints())
            if not is_stale(policy, now):
                return context, False
        return context, True

    def _becomes_fresh(self, policy: Policy) -> bool:
        """Wait for a fresh state, since messages may be late by chance; return whether it came."""
        deadline = monotonic() + LONGEST_WAIT
        while is_stale(policy, self._now()):
            if monotonic() > deadline:
                return False
            sleep(WAIT_STEP)
        return True


def fill_request(question: bytes, robot: RobotSnapshot, context: FillContext) -> Message:
    """Return the message to the worker process: the serialized request and its context."""
    return {'task': 'fill', 'request': question, 'robot': pickle.dumps(robot),
            'context': context}
