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
"""Numbers that no robot has: they are refused or limited, and nothing overflows on the way."""

from math import inf, nan
import warnings

import numpy as np
import pytest
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import RneaError
from ros2_rnea.robots.arguments import LARGEST
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM

ROBOT = Robot.from_urdf(ARM)
JOINTS = ('shoulder', 'elbow')
Q = (0.3, -0.8)
EXTREMES = (0.99 * LARGEST, 1e160, -1e200, -1.7e308, inf, nan)


class Arm:
    """A policy, and the inputs that reach it."""

    def __init__(self, **settings):
        self.time = 10.0
        self.policy = Policy(ROBOT, Settings(joints=JOINTS, **settings))
        for _ in range(3):
            self.state(Q, (0.0, 0.0))
            self.policy.take_imu('base', (0.0, 0.0, 9.81), self.now)
            assert self.policy.decide(self.now).effort is not None

    @property
    def now(self):
        return Instant(self.time, RosTime.from_seconds(1000.0 + self.time))

    def state(self, positions, velocities, stamp=0.0):
        self.time += 0.001
        self.policy.take_joint_state(
            MeasuredJoints(JOINTS, positions, velocities, stamp=stamp), self.now)

    def trajectory(self, *fields, at=1.0):
        self.policy.take_trajectory(
            TrajectoryCommand(JOINTS, [Waypoint(at, *fields)]), self.now)


def one_of(extreme):
    return (0.1, extreme)


INPUTS = {
    'position': lambda arm, x: arm.state(one_of(x), (0.0, 0.0)),
    'positions': lambda arm, x: arm.state((x, -x), (0.0, 0.0)),
    'velocity': lambda arm, x: arm.state(Q, one_of(x)),
    'velocities': lambda arm, x: arm.state(Q, (x, -x)),
    'stamp': lambda arm, x: arm.state(Q, (), stamp=x),
    'trajectory': lambda arm, x: arm.trajectory(one_of(x)),
    'desired velocity': lambda arm, x: arm.trajectory(Q, one_of(x)),
    'desired acceleration': lambda arm, x: arm.trajectory(Q, (0.0, 0.0), one_of(x)),
    'time from start': lambda arm, x: arm.trajectory(Q, at=abs(x)),
    'reference': lambda arm, x: arm.policy.take_controller_state(
        ControllerReference(JOINTS, one_of(x), (0.0, 0.0), (0.0, 0.0)), arm.now),
    'reference velocity': lambda arm, x: arm.policy.take_controller_state(
        ControllerReference(JOINTS, Q, one_of(x), (0.0, 0.0)), arm.now),
    'reference acceleration': lambda arm, x: arm.policy.take_controller_state(
        ControllerReference(JOINTS, Q, (0.0, 0.0), one_of(x)), arm.now),
    'speed scaling': lambda arm, x: arm.policy.take_controller_state(
        ControllerReference(JOINTS, Q, (1.0, 1.0), (1.0, 1.0), speed_scaling=x), arm.now),
    'wrench': lambda arm, x: arm.policy.take_wrench('tool', (0.0, x, 0.0, -x, 0.0, x), arm.now),
    'acceleration of the imu': lambda arm, x: arm.policy.take_imu(
        'base', (0.0, x, 9.81), arm.now),
}

SETTINGS = {
    'feedforward': {},
    'feedforward beside a controller of positions': {'held_by_others': frozenset(JOINTS)},
    'computed torque': {
        'mode': Mode.COMPUTED_TORQUE, 'position_gains': (100.0,), 'velocity_gains': (20.0,)},
    'guided': {'mode': Mode.GRAVITY_COMPENSATION, 'wrench_in_gravity_compensation': True},
    'imu': {'gravity_from_imu': True},
    'unchecked': {'plausible_speed_factor': 0.0},
}


@pytest.mark.parametrize('extreme', EXTREMES)
@pytest.mark.parametrize('given', INPUTS)
@pytest.mark.parametrize('settings', SETTINGS)
def test_no_number_overflows(settings, given, extreme):
    arm = Arm(**SETTINGS[settings])
    limits = ROBOT.effort_limits
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for _ in range(3):
            try:
                INPUTS[given](arm, extreme)
            except RneaError as error:
                assert len(str(error)) < 1000
            effort = arm.policy.decide(arm.now).effort
            assert effort is None or (np.abs(effort) <= limits).all()
        for _ in range(60):  # until nothing of it counts any more
            try:
                arm.state(Q, (0.0, 0.0))
            except RneaError:
                pass
            effort = arm.policy.decide(arm.now).effort
            assert effort is None or (np.abs(effort) <= limits).all()
