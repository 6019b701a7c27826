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
The replacement of a running trajectory by a new one, without a stop between them.

joint_trajectory_controller does it from 6.8 on with ``allow_trajectory_replacement``.
(Source: ros2_controllers 6.9, ``joint_trajectory_controller.cpp``.)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_rnea.feedforward.reference.trajectory import Trajectory, Waypoint
from ros2_rnea.feedforward.ros_time import RosTime


def joined(old: Trajectory, new: Trajectory, now: RosTime) -> Trajectory:
    """
    Return one motion: the old trajectory until the new one starts, and then the new one.

    A new trajectory whose start time has passed starts now, with its first point.  Where its
    first point is later than its start, the state of the old motion at the start is inserted.
    Joints that the new trajectory omits follow the old one, also after the end of the new one,
    where the other joints are at rest.

    What remains of the old one is not computed again, so that a new trajectory of few points takes
    little time, however many points the old one has.

    :param old: of all joints.
    :param new: of some or all of them, in any order.
    :param now: the time at which the motion begins.
    :raises TrajectoryError: when the new one has a joint that the old one lacks, or no finite
        spline joins the two.
    """
    names = old.joint_names
    new_in_place = new.for_joints(names, np.zeros(len(names)))
    omitted = [i for i, name in enumerate(names) if name not in new.joint_names]
    # All times below are relative to now.
    start = max(new.start - now, 0.0)
    points = [
        _with(point, start + point.time, omitted, old.sample(now + start + point.time))
        for point in new_in_place.waypoints]
    end, end_positions = points[-1].time, np.array(points[-1].positions)
    if start < points[0].time:
        points.insert(0, Waypoint(start, *old.sample(now + start)))
    motion = Trajectory(names, points, now, allow_nonzero_end_velocity=True)
    until_start = old.part(now, 0.0, start)
    if until_start is not None:
        motion = until_start.followed_by(motion)
    rest = old.part(now, end, inf) if omitted else None
    if rest is not None:
        named = [i for i in range(len(names)) if i not in omitted]
        motion = motion.followed_by(rest.with_resting(named, end_positions))
    return motion


def _with(point: Waypoint, time: float, joints: Sequence[int], state: np.ndarray) -> Waypoint:
    """Return a point at another time, in which some joints have the state of another motion."""
    fields = []
    for own, other in zip((point.positions, point.velocities, point.accelerations), state):
        if own is None:
            break
        values = np.array(own)
        values[joints] = other[joints]
        fields.append(values)
    return Waypoint(time, *fields)
