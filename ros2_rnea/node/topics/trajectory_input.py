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
"""Trajectories that are received: short ones are read at once, long ones in another thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from struct import error as StructError
from typing import Any, NamedTuple

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.target.planned_motion import MotionStart, PlannedMotion
from ros2_rnea.errors import RneaError, TrajectoryError
from ros2_rnea.node.bounds import (
    MAX_JOINED_POSITIONS,
    MAX_TRAJECTORY_JOINTS,
    MAX_TRAJECTORY_POINTS,
    SHORT_TRAJECTORY_BYTES,
)
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.conversions import deserialized, trajectory_command
from ros2_rnea.node.topics.inputs import PENDING
from ros2_rnea.node.topics.serialized_fields import FieldReader, STAMP
from ros2_rnea.node.worker.background_thread import BackgroundThread
from trajectory_msgs.msg import JointTrajectory

TOPIC = 'joint_trajectory'

POLL_PERIOD = 0.005
"""Period at which the node checks whether a long trajectory has been read [s]."""


class _Read(NamedTuple):
    """What has become of a long trajectory: its motion, or why there is none."""

    number: int
    motion: PlannedMotion | None
    error: RneaError | None


class TrajectoryInput:
    """
    Reads serialized JointTrajectory messages, and lets the policy follow them.

    A long trajectory takes longer to read than a cycle, and so may one that joins a long one that
    is in progress.  Such a trajectory is read in a thread of its own.  The thread plans the motion
    from where the robot was when the trajectory arrived, as the controller does.  The policy
    follows it as soon as it is planned, unless another trajectory has arrived since.

    :param policy: returns the policy in use, or None while there is no robot.
    :param now: returns the time on both clocks.
    :param age: returns the age of a message [s] from its MessageInfo and the time; infinite: it is
        not known.
    """

    def __init__(
            self,
            node: Node,
            policy: Callable[[], Policy | None],
            now: Callable[[], Instant],
            age: Callable[[Any, Instant], float],
            diagnostics: Diagnostics) -> None:
        self._node = node
        self._policy = policy
        self._now = now
        self._age = age
        self._diagnostics = diagnostics
        self._requests: SimpleQueue[tuple[int, MotionStart, bytes] | None] = SimpleQueue()
        self._results: SimpleQueue[_Read] = SimpleQueue()
        self._newest = 0  # the number of the newest trajectory
        self._pending = 0  # how many are being read
        self._timer: Timer | None = None
        self._thread: BackgroundThread | None = None

    def take(
            self, policy: Policy, taken: tuple[bytes, Any], now: Instant,
            ) -> str | None:
        """
        Follow a trajectory, at once or when it has been read.

        :param taken: the serialized message and its MessageInfo.
        :return: :data:`.PENDING` in the second case.
        :raises RneaError: where it cannot be followed.
        """
        message, info = taken
        check_size(message)
        start = policy.motion_start(now, self._age(info, now))
        if len(message) <= SHORT_TRAJECTORY_BYTES:
            command = trajectory_command(deserialized(message, JointTrajectory))
            if start.positions_to_join(command.joint_names) <= MAX_JOINED_POSITIONS:
                motion = start.planned(command)
                self._newest += 1  # not before, because a refused trajectory supersedes none
                policy.motion.follow(motion, now.steady)
                return None
        self._newest += 1
        if self._thread is None:
            self._thread = BackgroundThread(target=self._run, name=TOPIC, daemon=True)
            self._thread.start()
        self._requests.put((self._newest, start, message))
        self._pending += 1
        if self._timer is None:
            self._timer = self._node.create_timer(
                POLL_PERIOD, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))
        return PENDING

    def close(self) -> None:
        """Stop the thread."""
        if self._thread is not None:
            self._newest += 1  # it skips what waits
            self._requests.put(None)
            self._thread.join()
            self._thread = None

    def _poll(self) -> None:
        """Follow what has been read."""
        while not self._results.empty():
            self._finish(self._results.get())
        if self._timer is not None and not self._pending:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _finish(self, result: _Read) -> None:
        self._pending -= 1
        policy = self._policy()
        if result.error is not None:
            self._diagnostics.refused(TOPIC, result.error)
            return
        if result.number == self._newest and policy is not None:
            policy.motion.follow(result.motion, self._now().steady)
        self._diagnostics.accepted(TOPIC)

    # ---- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        while (request := self._requests.get()) is not None:
            number, start, message = request
            self._results.put(self._read(number, start, message))
            del request, start, message  # or they would be kept until the next one

    def _read(self, number: int, start: MotionStart, message: bytes) -> _Read:
        if number != self._newest:  # another one has arrived
            return _Read(number, None, None)
        try:
            return _Read(number, planned(start, message), None)
        except RneaError as error:
            return _Read(number, None, error)
        except Exception as error:  # noqa: BLE001 (no message may end the thread)
            return _Read(number, None, TrajectoryError(f'{type(error).__name__}: {error}'))


def planned(start: MotionStart, message: bytes) -> PlannedMotion | None:
    """
    Return the motion of a serialized trajectory; None: it is only checked.

    :raises TrajectoryError: where it cannot be followed.
    """
    return start.planned(trajectory_command(deserialized(message, JointTrajectory)))


def check_size(message: bytes) -> None:
    """
    Check the number of joints and points in a serialized trajectory, without reading more.

    :raises TrajectoryError: where there are more than the node accepts.
    """
    fields = FieldReader(message)
    if not fields.is_little_endian:  # the number of bytes is bounded anyway
        return
    with suppress(StructError):  # then rclpy says what is wrong
        fields.skip(STAMP.size)
        fields.skip_text()
        joints = fields.count()
        _check_number('joint_names', joints, MAX_TRAJECTORY_JOINTS)
        for _ in range(joints):
            fields.skip_text()
        _check_number('points', fields.count(), MAX_TRAJECTORY_POINTS)


def _check_number(what: str, number: int, most: int) -> None:
    if number > most:
        raise TrajectoryError(
            f'The trajectory has {number} {what}; at most {most} are accepted.')
