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
"""The trajectory is replaced half-way by a stop, as a controller does when its goal is aborted."""

from __future__ import annotations

import numpy as np

from ros2_rnea.control.output.rate_limit import effort_rate_limits
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import Arm
from ros2_rnea.tools.demo.figures import Episode, FULL_RATE, Section
from ros2_rnea.tools.demo.motion import Motion
from ros2_rnea.tools.demo.stage import Stage, TimedActions
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint

STOPS = 2.6
"""Time since the start of the motion [s]: the arm is in full swing."""

BRAKING = 0.3
"""Time that the arm takes to come to rest [s]."""

DURATION = 5.2
"""Duration of the motion that is given up [s]."""

WATCHED = 1.6
"""Time for which the arm is watched after the stop [s]."""

COMMAND_MARGIN = 1.2
"""Factor on the rate of the commands, as cycle times and measured states vary."""


def play(stage: Stage) -> Episode:
    """Send a trajectory, and half-way one of a single point close ahead."""
    arm, commander = stage.arm, stage.commander
    stage.settle()
    motion = arm.motion(DURATION)
    stopped = motion.at([STOPS])
    (position,), (velocity,), _ = stopped
    place, rest = position + 0.5 * BRAKING * velocity, np.zeros(len(arm.start))
    halt = Motion(*(row[None] for row in (place, rest, rest)))
    start = stage.move(
        motion, TimedActions((STOPS, lambda: commander.send_motion(0, np.array([BRAKING]), halt))),
        until=STOPS + WATCHED)
    log = commander.recorded(start, commander.now())

    desired = motion.at(log.times).positions
    desired[log.times > STOPS] = np.nan  # how the arm brakes is the driver's affair
    desired[log.times > STOPS + 2.0 * BRAKING] = place
    sections = (Section('follows', 0.0, STOPS),
                Section('stopped', STOPS, STOPS + WATCHED))
    return Episode('goal aborted', sections, log, arm.displayed(log.positions - desired),
                   commander.driver_report(), stage.engine.holding_effort(place),
                   limited_commands=limited_commands(arm, stopped, place, stage.rate))


def limited_commands(
        arm: Arm, stopped: Motion, place: np.ndarray, rate: float = FULL_RATE) -> int:
    """
    Return how many commands the rate limit has to hold back after the stop.

    The acceleration of the motion vanishes at once and the arm brakes harder than it moves, while
    the rate limit is close to what the motion needs.  The effort that is wanted then, by inverse
    dynamics on the way of the trajectory controller, is followed here at the rate limit.

    :param stopped: the motion at the moment of the stop, one row each.
    :param place: where the arm comes to rest, shape (n,) [rad or m].
    :param rate: of commands [Hz].
    """
    robot = Robot.from_urdf(arm.urdf, engine='textbook')
    order = [arm.joint_names.index(name) for name in robot.joint_names]
    (position,), (velocity,), _ = stopped
    rest = np.zeros(len(arm.start))
    braking = Trajectory(arm.joint_names, [Waypoint(BRAKING, place, rest, rest)]).entered_from(
        RosTime(0), position, velocity)
    steps = effort_rate_limits(robot.effort_limits, arm.rate_limit) / rate
    (sent,) = robot.inverse_dynamics(*(rows[:, order] for rows in stopped))
    limited = 0
    for time in np.arange(0.0, WATCHED, 1.0 / rate):
        wanted = robot.inverse_dynamics(*braking.at(float(time))[:, order])
        limited += bool((np.abs(wanted - sent) > steps).any())
        sent = np.clip(wanted, sent - steps, sent + steps)
    return round(COMMAND_MARGIN * limited)
