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
A rod that presses against a stiff wall, with the real policy compensating the contact force.

A force sensor at the tip measures the contact, the policy compensates its share of it, and this
effort presses harder: a loop of positive feedback with gain ``wrench_gain``.
"""

from __future__ import annotations

from collections import deque
from math import inf

import numpy as np
from pressing_rod import PRESSING, PressingRod, ROD
import pytest
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Settings
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint

pytestmark = pytest.mark.usefixtures('fastest_engine')

PERIOD = 0.002
OUT_OF_REACH = {'wrench_force_limit': 1e6, 'wrench_moment_limit': 1e6, 'wrench_effort_share': 1.0}


@pytest.fixture(scope='module')
def rod():
    """Return the model of the rod; the first one compiles its kernels."""
    return Robot.from_urdf(ROD)


def contact_forces(rod, stiffness, delay, duration, **settings):
    """
    Return the contact force at each cycle, after the tip has touched the wall at rest.

    :param stiffness: of the wall [N/m].
    :param delay: of the force sensor [s].
    """
    policy = Policy(rod, Settings(
        joints=('hinge',), blend_time=0.0, effort_rate_limit=inf, **settings))
    now = Instant(10.0, RosTime.from_seconds(1000.0))
    policy.take_joint_state(MeasuredJoints(('hinge',), (0.0,), (0.0,)), now)
    policy.take_trajectory(
        TrajectoryCommand(('hinge',), [Waypoint(0.0, (0.0,), (0.0,), (0.0,))]), now)
    measured = deque([0.0] * (1 + round(delay / PERIOD)), 1 + round(delay / PERIOD))
    arm = PressingRod(stiffness)
    forces = []
    for cycle in range(round(duration / PERIOD)):
        now = Instant(10.0 + cycle * PERIOD, RosTime.from_seconds(1000.0 + cycle * PERIOD))
        forces.append(arm.force)
        measured.append(arm.force)
        policy.take_joint_state(MeasuredJoints(('hinge',), (arm.q,), (arm.qd,)), now)
        policy.take_wrench('tip', (0.0, 0.0, 0.0, 0.0, -measured[0], 0.0), now)
        decision = policy.decide(now)
        assert decision.status in (Status.FOLLOWING, Status.HOLDING_END)
        arm.move(decision.effort[0], PERIOD)
    return np.array(forces)


def fall(forces):
    """Return the largest fall of a force below a value that it had before [N]."""
    return float((np.maximum.accumulate(forces) - forces).max())


@pytest.mark.parametrize('gain', [0.0, 0.5, 0.9])
@pytest.mark.parametrize('delay', [0.0, 0.006, 0.02])
@pytest.mark.parametrize('stiffness', [1e4, 1e5, 1e6])
def test_a_contact_force_is_bounded_and_does_not_oscillate(rod, stiffness, delay, gain):
    duration = 0.6 + 0.15 / (1.0 - gain)
    forces = contact_forces(
        rod, stiffness, delay, duration, wrench_gain=gain, **OUT_OF_REACH)
    settled = forces[-len(forces) // 3:]
    assert settled.max() <= 1.2 / (1.0 - gain) * PRESSING
    assert settled.min() >= 0.7 / (1.0 - gain) * PRESSING  # the compensation is there
    assert fall(settled) <= 0.02 * settled[-1]


def test_without_the_low_pass_filter_the_contact_would_oscillate(rod):
    forces = contact_forces(
        rod, 1e5, 0.01, 0.6, wrench_gain=0.5, wrench_time_constant=0.0, **OUT_OF_REACH)
    assert fall(forces[-100:]) > PRESSING


def test_with_gain_1_the_limits_alone_bound_the_force(rod):
    forces = contact_forces(rod, 1e5, 0.0, 6.0, wrench_gain=1.0)
    assert 0.9 * (PRESSING + 50.0) < forces[-1] < 1.02 * (PRESSING + 50.0)
