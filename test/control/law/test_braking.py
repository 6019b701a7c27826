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
"""Braking takes energy out of every arm, and does not oscillate with the delay of a bus."""

import numpy as np
import pytest
from random_robots import random_tree
from ros2_rnea.control.law.braking import Braking, LEAST_TIMES
from ros2_rnea.robots.robot import Robot
from small_robots import ARM

ARM_ROBOT = Robot.from_urdf(ARM)
Q = np.array([0.3, -0.8])


def braking(robot=ARM_ROBOT, alone=None, time=0.1, delay=0.002):
    alone = np.ones(robot.nv, dtype=bool) if alone is None else np.array(alone)
    return Braking(robot, slice(None), alone, time, delay)


def test_with_the_true_inertia_joints_slow_down_exponentially():
    qd = np.array([0.8, -0.3])
    effort = braking().effort(Q, qd, 0.001)
    np.testing.assert_allclose(
        np.linalg.solve(ARM_ROBOT.mass_matrix(Q), effort), -qd / 0.1, rtol=1e-9)


def test_neither_gravity_nor_friction_is_among_it():
    assert braking().effort(Q, np.zeros(2), 0.001).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(
        braking().inertia(Q, np.array([2.0, -1.0])), ARM_ROBOT.mass_matrix(Q) @ [2.0, -1.0])


def test_a_joint_that_another_controller_holds_is_not_braked():
    one = braking(alone=[True, False])
    assert one.effort(Q, np.array([0.0, 5.0]), 0.001).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(
        one.effort(Q, np.array([1.0, 5.0]), 0.001), one.effort(Q, np.array([1.0, 0.0]), 0.001))


@pytest.mark.parametrize('seed', range(12))
def test_it_takes_energy_out_of_a_branched_robot(seed):
    """The power is q̇ᵀ M(q) (−q̇/T) < 0, since M is positive definite."""
    rng = np.random.default_rng(seed)
    robot = Robot.from_urdf(random_tree(seed, size=int(rng.integers(3, 9))).urdf())
    one = braking(robot)
    for _ in range(20):
        q = rng.uniform(-3.0, 3.0, robot.nq)
        qd = rng.uniform(-3.0, 3.0, robot.nv)
        assert one.effort(q, qd, 0.001) @ qd < 0.0


@pytest.mark.parametrize('period, delay', [
    (0.001, 0.002), (0.01, 0.002), (0.02, 0.01), (0.1, 0.002)])
@pytest.mark.parametrize('ratio', [0.4, 0.7, 1.0, 1.3, 3.0])
def test_it_is_stable_with_delay_and_a_wrong_inertia(period, delay, ratio):
    """An effort is held for a period, and is computed from a velocity of the past."""
    one = braking(delay=delay)
    inertia = ARM_ROBOT.mass_matrix(Q) / ratio
    substeps = 20
    step = period / substeps
    lag = round(delay / step)
    velocities = [np.array([1.0, -0.7])] * (lag + 1)
    effort = np.zeros(2)
    for count in range(round(40.0 * max(0.1, LEAST_TIMES * (period + delay)) / ratio / step)):
        if count % substeps == 0:
            effort = one.effort(Q, velocities[-1 - lag], period)
        velocities.append(velocities[-1] + step * np.linalg.solve(inertia, effort))
    assert np.abs(velocities[-1]).max() < 1e-3


def test_the_time_constant_is_longer_where_the_bus_is_slow():
    fast, slow = (braking().effort(Q, np.ones(2), period) for period in (0.001, 0.1))
    np.testing.assert_allclose(fast, slow * LEAST_TIMES * 0.102 / 0.1)
