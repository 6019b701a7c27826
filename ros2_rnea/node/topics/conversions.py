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
"""Conversions of messages to the arguments of the policy, and of names to text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Wrench, WrenchStamped
import numpy as np
from rclpy.serialization import deserialize_message
from ros2_rnea.errors import ArgumentError, MessageError
from ros2_rnea.node.bounds import MAX_WRENCHES
from ros2_rnea.trajectories.ros_time import NANOSECONDS, RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from trajectory_msgs.msg import JointTrajectory


def deserialized(message: bytes, kind: type) -> Any:
    """
    Return a message of a type.

    :raises MessageError: where it is none.
    """
    try:
        return deserialize_message(message, kind)
    except (RuntimeError, UnicodeError) as error:  # RuntimeError is the base of rclpy's errors
        raise MessageError(f'the message cannot be deserialized: {error}') from error


def seconds(time: Time | Duration) -> float:
    """Return a Time or Duration message in seconds."""
    return nanoseconds(time) / NANOSECONDS


def nanoseconds(time: Time | Duration) -> int:
    """Return a Time or Duration message in nanoseconds, without the rounding of seconds."""
    return NANOSECONDS * time.sec + time.nanosec


def moment_force(wrench: Wrench) -> tuple[float, ...]:
    """Return a wrench in this package's order, [moment; force]; the message has force first."""
    torque, force = wrench.torque, wrench.force
    return (torque.x, torque.y, torque.z, force.x, force.y, force.z)


def wrenches_by_frame(messages: Sequence[WrenchStamped]) -> dict[str, np.ndarray]:
    """
    Return the sum of the wrenches in each frame, six numbers [moment; force].

    :raises ArgumentError: where there are more than :data:`.MAX_WRENCHES`.
    """
    if len(messages) > MAX_WRENCHES:
        raise ArgumentError(
            f'wrenches has {len(messages)} elements; at most {MAX_WRENCHES} are accepted')
    total: dict[str, np.ndarray] = {}
    for message in messages:
        frame = message.header.frame_id
        total[frame] = total.get(frame, np.zeros(6)) + moment_force(message.wrench)
    return total


def waypoints(trajectory: JointTrajectory) -> list[Waypoint]:
    """Return a trajectory's points without their efforts."""
    return [
        Waypoint(
            seconds(point.time_from_start),
            tuple(point.positions),
            tuple(point.velocities) or None,
            tuple(point.accelerations) or None)
        for point in trajectory.points]


def trajectory_command(message: JointTrajectory) -> TrajectoryCommand:
    """Return the content of a JointTrajectory message."""
    stamp = nanoseconds(message.header.stamp)
    return TrajectoryCommand(
        message.joint_names, waypoints(message), RosTime(stamp) if stamp else None)


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return names as text on one line, with the first ones only where there are many."""
    all_names: Sequence[str] = tuple(names)
    shown = ', '.join(all_names[:most])
    return shown if len(all_names) <= most else f'{shown} and {len(all_names) - most} more'
