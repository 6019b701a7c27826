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
(Source: ros2_controllers 6.9, ``joint_trajectory_controller.cpp``.)  Where the two meet, that one
takes whole turns of a continuous joint as motion: the joint unwinds by a turn if a driver wraps
positions.  Here it goes the shorter way, as at the start of any other trajectory.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import (
    Array, Trajectory, Waypoint, whole_turns)


def joined(
    old: Trajectory, new: Trajectory, now: RosTime, continuous: ArrayLike = False,
) -> Trajectory:
    """
    Return one motion: the old trajectory until the new one starts, and then the new one.

    A new trajectory whose start time has passed starts now, with its first point.  Where its
    first point is later than its start, the state of the old motion at the start is inserted.
    Joints that the new trajectory omits follow the old one, also after the end of the new one,
    where the other joints are at rest.  The positions of a continuous joint in all new points are
    changed by the whole turns that bring the first of them nearest to the old motion at the start.

    What remains of the old one is not computed again: a new trajectory of few points takes little
    time, however many points the old one has.

    :param old: of all joints.
    :param new: of some or all of them, in any order.
    :param now: the time at which the motion begins.
    :param continuous: true for joints of the old one that turn without end, shape (joints,).
    :raises TrajectoryError: when the new one has a joint that the old one lacks, or no finite
        spline joins the two.
    """
    names = old.joint_names
    new_in_place = new.for_joints(names, np.zeros(len(names)))
    omitted = [i for i, name in enumerate(names) if name not in new.joint_names]
    # All times below are relative to now.
    start = max(new.start - now, 0.0)
    entry, waypoints = old.sample(now + start), new_in_place.waypoints
    turns = whole_turns(waypoints[0].positions - entry[0], continuous)
    points = [
        _with(point, start + point.time, turns, omitted, old.sample(now + start + point.time))
        for point in waypoints]
    end, end_positions = points[-1].time, np.array(points[-1].positions)
    if start < points[0].time:
        points.insert(0, Waypoint(start, *entry))
    motion = Trajectory(names, points, now, allow_nonzero_end_velocity=True)
    until_start = old.part(now, 0.0, start)
    if until_start is not None:
        motion = until_start.followed_by(motion)
    rest = old.part(now, end, inf) if omitted else None
    if rest is not None:
        named = [i for i in range(len(names)) if i not in omitted]
        motion = motion.followed_by(rest.with_resting(named, end_positions))
    return motion


def _with(
    point: Waypoint, time: float, turns: Array, joints: Sequence[int], state: Array,
) -> Waypoint:
    """
    Return a point at another time, turned back, with some joints in the state of another motion.

    :param turns: by how much it is turned back, shape (joints,) [rad].
    :param joints: the indices of those that have another state, of shape (3, joints).
    """
    fields = []
    own_fields = point.positions - turns, point.velocities, point.accelerations
    for own, other in zip(own_fields, state, strict=True):
        if own is None:
            break
        values = np.array(own)
        values[joints] = other[joints]
        fields.append(values)
    return Waypoint(time, *fields)
