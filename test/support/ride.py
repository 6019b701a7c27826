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
A policy in its cycle, to which a test lets things happen, and what it sent meanwhile.

Its arm is the one with two joints of :mod:`small_robots`; vectors are in the order of ``JOINTS``,
in SI units.
"""

from math import inf

import numpy as np
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM
from unchecked import UNCHECKED

ARM_ROBOT = Robot.from_urdf(ARM)
JOINTS = ('shoulder', 'elbow')
Q = (0.3, -0.8)
GRAVITY = ARM_ROBOT.gravity(Q)
PERIOD = 0.002

HELD = {'held_by_others': frozenset(JOINTS)}
"""Another controller holds the arm: a stop only fades, and fast motions are only checked."""

TRAJECTORY = (Waypoint(0.0, Q, (0.0, 0.0), (0.0, 0.0)),
              Waypoint(0.5, (1.3, 0.2), (0.0, 0.0), (0.0, 0.0)))

SLOW = (Waypoint(0.0, Q, (0.0, 0.0), (0.0, 0.0)),
        Waypoint(10.0, (0.9, -0.2), (0.0, 0.0), (0.0, 0.0)))

STEEPEST = 3.01
"""Largest slope of a hand-over, as a multiple of the mean one."""

MOON = {'gravity': (0.0, 0.0, -1.6)}
GUARDED = {'path_tolerance': 0.2, 'path_tolerance_prismatic': 0.05, 'effort_rate_limit': inf}

CORRECTED = {
    'mode': Mode.COMPUTED_TORQUE, 'position_gains': (100.0,), 'velocity_gains': (20.0,),
    'trip_deviation': 0.0}
"""Without the limit that stops the arm, which test_trips.py is about."""


class Ride:
    """
    A policy in a cycle of 2 ms, all that it sent, and its last decision.

    :param robot: that the policy drives.
    :param settings: of the policy, beside ``JOINTS`` and ``UNCHECKED``.
    :ivar time: the present one on the steady clock [s].
    :ivar sent: the efforts of all cycles that sent one [Nm].
    :ivar decision: the last one; None before the first cycle.
    """

    def __init__(self, robot=ARM_ROBOT, **settings):
        self.time, self.sent, self.decision = 10.0, [], None
        self.policy = Policy(
            robot, Settings(**{'joints': JOINTS, **UNCHECKED, **settings}))

    @property
    def now(self):
        """Return the present instant, for which both clocks differ."""
        return Instant(self.time, RosTime.from_seconds(1000.0 + self.time))

    def go(self, seconds, q=Q, qd=(), measured=True, decide='decide'):
        """
        Let time pass, and return the ride.

        :param seconds: how long.
        :param q: the measured positions [rad], or a function that returns them at a time [s].
        :param qd: the measured velocities [rad/s]; empty: none.
        :param measured: whether joint states come.
        :param decide: the method of the policy that is called in each cycle.
        """
        for _ in range(round(seconds / PERIOD)):
            self.time += PERIOD
            if callable(q):
                self.go_on(q(self.time), qd, measured, decide)
            else:
                self.go_on(q, qd, measured, decide)
        return self

    def go_on(self, q, qd, measured, decide):
        """Run the one cycle of the present time; the parameters are those of :meth:`go`."""
        if measured:
            self.policy.take_joint_state(MeasuredJoints(JOINTS, q, qd), self.now)
        self.decision = getattr(self.policy, decide)(self.now)
        if self.decision.effort is not None:
            self.sent.append(self.decision.effort)

    def change(self, robot=ARM_ROBOT, **settings):
        """Put another policy in force, which continues from the present one; return the ride."""
        older = self.policy
        self.policy = Policy(
            robot, Settings(**{'joints': JOINTS, **UNCHECKED, **settings}))
        self.policy.resume(older.memory)
        return self

    def largest_rate(self):
        """Return the largest rate of any effort since the begin [Nm/s]."""
        steps = np.diff([np.zeros(2), *self.sent], axis=0)
        return np.abs(steps).max() / PERIOD

    def is_at(self, effort):
        """Check that this effort was sent last [Nm]."""
        np.testing.assert_allclose(self.sent[-1], effort, rtol=1e-12, atol=1e-12)


def on_path(waypoints=SLOW, **settings):
    """Return a ride that follows a trajectory, and a function that goes on beside the path."""
    ride = Ride(**{**GUARDED, **settings}).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, waypoints), ride.now)
    start = ride.now.ros

    def beside(distance, seconds=PERIOD):
        for _ in range(round(seconds / PERIOD)):
            phase = min((ride.now.ros + PERIOD - start) / waypoints[-1].time, 1.0)
            weight = phase**3 * (10.0 - 15.0 * phase + 6.0 * phase * phase)
            q = Q + weight * np.subtract(waypoints[-1].positions, Q)
            ride.q = (q[0], q[1] + distance)
            ride.go(PERIOD, ride.q, (0.0, 0.0))
        return ride.decision.status

    assert beside(0.0, 0.5) is Status.FOLLOWING
    return ride, beside


def tell_gravity(ride):
    """Let an imu measure that gravity is as usual."""
    ride.policy.take_imu('base', (0.0, 0.0, 9.81), ride.now)


def in_motion(**settings):
    """Return a ride that follows ``TRAJECTORY``, with other efforts than those of gravity."""
    ride = Ride(**{**HELD, **settings})
    if ride.policy.settings.gravity_from_imu:
        tell_gravity(ride)
    ride.go(1.0)
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, TRAJECTORY), ride.now)
    ride.go(0.1)
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 1.0
    return ride
