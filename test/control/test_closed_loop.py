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
"""Computed torque with the shipped gains and a disturbance, in a simulated loop."""

from __future__ import annotations

from math import floor, inf
import re

import numpy as np
import pytest
from ros2_rnea.control.decision import Decision, Instant, State, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM
from unchecked import UNCHECKED

JOINTS = ('shoulder', 'elbow')
START = np.array([0.3, -0.8])
PERIOD = 0.002
SHIPPED = {name: getattr(Settings(), name) for name in (
    'path_tolerance', 'path_tolerance_prismatic', 'plausible_speed_factor', 'hold_tolerance',
    'velocity_limit_factor', 'blend_time')}
GRAVITY = (0.0, 0.0, 0.0)  # all of the effort is left for the disturbance


def arm(size: float) -> Robot:
    """Return an arm whose masses, inertias and effort limits are multiplied by a size."""
    def grown(factor):
        return lambda match: f'{match[1]}"{factor * float(match[2])}"'

    heavy = re.sub(r'(mass value=|i[xyz]{2}=)"([^"]+)"', grown(8.0 * size), ARM)
    return Robot.from_urdf(re.sub(r'(effort=)"([^"]+)"', grown(size), heavy))


def deflection(size: float, tick: float = 0.0, **settings) -> np.ndarray:
    """Return what half the effort limit at each joint does to the positions, shape (N, 2)."""
    return pushed(size, tick, **settings)[0]


def pushed(size: float, tick: float = 0.0, **settings) -> tuple[np.ndarray, list[Decision]]:
    """
    Return what half the effort limit at each joint does to the positions, and all decisions.

    The disturbance begins once feedback has its full weight: efforts lead to gravity for
    ``blend_time``, and the weight of the motion rises for as long again.

    :param tick: of the clock, as of a simulated one [s]; 0: it is read exactly.
    """
    robot = arm(size)
    chosen = Settings(
        joints=JOINTS, mode=Mode.COMPUTED_TORQUE, position_gains=(100.0,),
        velocity_gains=(20.0,), gravity=GRAVITY,
        **{'velocity_limit_factor': inf, 'blend_time': 0.0, 'hold_tolerance': 10.0, **UNCHECKED,
           **settings})
    policy = Policy(robot, chosen)
    disturbance = 0.5 * robot.effort_limits
    begin = 10 + round(2.0 * chosen.blend_time / PERIOD)
    q, qd, positions, decisions = START.copy(), np.zeros(2), [], []
    for count in range(990 + begin):
        time = 10.0 + PERIOD * count
        if tick:
            time = tick * floor(time / tick + 1e-6)
        now = Instant(time, RosTime.from_seconds(time))
        policy.take_joint_state(MeasuredJoints(JOINTS, q.tolist(), qd.tolist()), now)
        if not count:
            policy.take_trajectory(TrajectoryCommand(JOINTS, [Waypoint(0.0, START)]), now)
        decisions.append(policy.decide(now))
        pushing = disturbance if count >= begin else 0.0
        qd += PERIOD * robot.forward_dynamics(
            q, qd, decisions[-1].effort + pushing, gravity=GRAVITY)
        q += PERIOD * qd
        positions.append(q - START)
    return np.array(positions), decisions


def overshoot(positions: np.ndarray) -> float:
    """Return how far the joint that does so most goes beyond where it comes to rest."""
    return float((np.abs(positions).max(axis=0) / np.abs(positions[-1])).max())


@pytest.mark.parametrize('size', [0.1, 1.0, 10.0])
def test_the_rate_limit_does_not_make_it_oscillate(size):
    positions, free = deflection(size), deflection(size, effort_rate_limit=inf)
    assert np.abs(positions[-1]).min() > 0.01
    np.testing.assert_allclose(positions[-1], free[-1], rtol=1e-3)
    assert overshoot(positions) < overshoot(free) + 0.02


@pytest.mark.parametrize('size', [1.0, 10.0])
def test_a_clock_that_ticks_slowly_does_not_either(size):
    positions, free = deflection(size, tick=0.01), deflection(size, effort_rate_limit=inf)
    np.testing.assert_allclose(positions[-1], free[-1], rtol=1e-3)
    assert np.abs(positions).max() < 0.3


def test_one_low_rate_does_not_where_nobody_holds_the_arm():
    """It limits no feedback then.  The first line is what the tests above can see."""
    slow = {'effort_rate_limit': 1000.0}
    assert np.abs(deflection(10.0, **slow, held_by_others=frozenset(JOINTS))).max() > 3.0
    np.testing.assert_allclose(
        deflection(10.0, **slow), deflection(10.0, effort_rate_limit=inf), atol=1e-9)


@pytest.mark.parametrize('size', [0.1, 1.0, 10.0])
def test_with_shipped_tolerances_a_load_within_the_bound_is_held(size):
    """The feedback is that of an error of path_tolerance at most: a larger load moves the arm."""
    free = deflection(size, effort_rate_limit=inf)
    positions = deflection(size, **SHIPPED, trip_deviation=0.0)
    assert np.abs(free[-1]).tolist() == pytest.approx([0.29, 0.12], abs=0.01)
    np.testing.assert_allclose(positions[-1, 1], free[-1, 1], rtol=0.1)  # held
    # At the shoulder the load asks for more than K_p * 0.2 rad, so the damping limits the speed.
    load = (np.abs(free[-1, 0]) - 0.2) * 100.0 / 20.0
    speed = (positions[-1, 0] - positions[-100, 0]) / (99 * PERIOD)
    assert speed == pytest.approx(load, rel=0.2)


def test_a_larger_tolerance_holds_the_larger_load():
    positions = deflection(1.0, **{**SHIPPED, 'path_tolerance': 0.4})
    np.testing.assert_allclose(np.abs(positions[-1]), [0.29, 0.12], atol=0.01)


def test_a_load_that_moves_the_arm_too_far_ends_feedback():
    positions, decisions = pushed(1.0, **SHIPPED, longest_braking=0.5)
    braked = [decision.state is State.BRAKING for decision in decisions].index(True)
    assert 0.4 < positions[braked - 1, 0] < 0.41
    for decision in decisions[braked:]:
        assert decision.state in (State.BRAKING, State.FAULT)
        assert (decision.status, decision.joints) == (Status.TOO_FAR_OFF, ('shoulder',))
    assert decisions[-1].state is State.FAULT
