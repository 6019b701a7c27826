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
"""Trajectories that a desired motion is told to follow."""

import numpy as np
from ros2_rnea.control.decision import Instant, State, Status
from ros2_rnea.control.settings import Settings
from ros2_rnea.control.target.motion import Motion, MotionMemory
from ros2_rnea.trajectories.trajectory import TrajectoryCommand


def motion_of(names, continuous, memory=None, **settings):
    """Return the desired motion of some joints, which all turn; no path has a tolerance."""
    return Motion(
        names, continuous, [True] * len(names), Settings(**{'path_tolerance': 0.0, **settings}),
        MotionMemory(tuple(names)) if memory is None else memory)


def target_of(
        motion, now, measured, steady=0.0, state=State.GRAVITY, last=Status.NO_TRAJECTORY):
    """Return what is wanted at a time of a trajectory's clock, and of the steady one."""
    return motion.target(Instant(steady, now), np.array(measured, dtype=float), state, last)


def follow(
        motion, names, waypoints, stamp, now, positions, velocities=None, steady=0.0,
        state=State.GRAVITY, last=Status.NO_TRAJECTORY):
    """Let a desired motion follow a trajectory that is received in a measured state."""
    measured = np.zeros((2, len(positions)))
    measured[0] = positions
    if velocities is not None:
        measured[1] = velocities
    start = motion.start(Instant(steady, now), measured, state, last)
    motion.follow(start.planned(TrajectoryCommand(names, waypoints, stamp)), steady)
