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
"""The stable share of a damping: it decays with the period and the delay, and not much more."""

import numpy as np
import pytest
from ros2_rnea.control.law.braking import Braking
from ros2_rnea.control.law.gain_check import MARGIN_OF_DAMPING
from ros2_rnea.control.law.stable_damping import SAME_PERIOD, StableDamping
from ros2_rnea.robots.robot import Robot
from small_robots import ARM

ARM_ROBOT = Robot.from_urdf(ARM)
Q = np.array([0.3, -0.8])
TIMES = [(0.001, 0.0), (0.001, 0.002), (0.002, 0.001), (0.004, 0.005)]
GROWN = 1e3


class Inertia:
    """What is asked of Braking, for a given mass matrix."""

    def __init__(self, matrix):
        self.matrix = matrix

    def inertia(self, q, accelerations):
        return self.matrix @ accelerations


def random_inertia(rng, count, smallest=0.1):
    """Return a random positive definite matrix with eigenvalues up to 1."""
    turn, _ = np.linalg.qr(rng.normal(size=(count, count)))
    return (turn * rng.uniform(smallest, 1.0, count)) @ turn.T


def share_of(matrix, damping, period, delay):
    return StableDamping(Inertia(matrix), damping, delay).share(np.zeros(len(matrix)), period)


def simulated(matrix, damping, period, delay, steps=4000):
    """
    Return the largest velocity at the end, or when it has grown.

    Each effort acts after the delay, for a period.
    """
    whole = int(delay / period + 1e-9)
    late = delay - whole * period
    gain = np.linalg.solve(matrix, np.diag(-damping))
    velocity = np.linspace(1.0, -1.0, len(matrix)) + 0.1
    efforts = [np.zeros(len(matrix))] * (whole + 2)
    for _ in range(steps):
        efforts = [gain @ velocity, *efforts[:-1]]
        velocity = velocity + (period - late) * efforts[whole] + late * efforts[whole + 1]
        if np.abs(velocity).max() > GROWN:
            break
    return np.abs(velocity).max()


def test_a_damping_that_is_stable_is_sent_in_full():
    matrix = random_inertia(np.random.default_rng(1), 4)
    assert share_of(matrix, np.full(4, 0.5), 0.001, 0.002) == 1.0


def test_without_damping_the_share_is_one():
    assert share_of(np.eye(2), np.zeros(2), 0.001, 0.002) == 1.0


@pytest.mark.parametrize('period, delay', TIMES)
@pytest.mark.parametrize('seed', range(5))
def test_twice_the_reduced_damping_is_the_limit(seed, period, delay):
    rng = np.random.default_rng(seed)
    matrix = random_inertia(rng, int(rng.integers(1, 6)))
    damping = rng.uniform(1.0, 3.0, len(matrix)) * 10.0 / period
    share = share_of(matrix, damping, period, delay)
    assert 0.0 < share < 1.0
    assert simulated(matrix, share * damping, period, delay) < 1e-3
    limit = MARGIN_OF_DAMPING * share * damping
    assert simulated(matrix, 0.98 * limit, period, delay) < 1.0
    assert simulated(matrix, 1.05 * limit, period, delay, 8000) > GROWN


@pytest.mark.parametrize('period, delay', TIMES)
@pytest.mark.parametrize('seed', range(5))
def test_a_joint_without_damping_gives_way_to_a_damped_one(seed, period, delay):
    """A damped joint moves less inertia where its neighbour is free than where it is held."""
    rng = np.random.default_rng(seed)
    matrix, damping = random_inertia(rng, 4, 0.01), rng.uniform(1.0, 3.0, 4) * 10.0 / period
    damping[rng.permutation(4)[:2]] = 0.0
    share = share_of(matrix, damping, period, delay)
    damped = np.flatnonzero(damping)
    limit = MARGIN_OF_DAMPING * share * damping
    held = matrix[np.ix_(damped, damped)]
    assert share < share_of(held, damping[damped], period, delay)
    assert simulated(matrix, 1.05 * limit, period, delay, 8000) > GROWN
    assert simulated(matrix, 0.98 * limit, period, delay) < 10.0  # free joints go on moving


def test_a_joint_without_damping_and_inertia_does_not_matter():
    matrix = np.zeros((3, 3))
    matrix[:2, :2] = [[1.0, 0.2], [0.2, 0.5]]
    share = share_of(matrix, np.array([4000.0, 4000.0, 0.0]), 0.001, 0.0)
    assert share == pytest.approx(
        share_of(matrix[:2, :2], np.full(2, 4000.0), 0.001, 0.0), rel=1e-12)


def test_without_delay_one_joint_has_inertia_over_period():
    share = share_of(np.array([[0.5]]), np.array([1000.0]), 0.001, 0.0)
    assert share == pytest.approx(0.5, rel=1e-3)


def test_a_longer_period_or_delay_leaves_less():
    matrix, damping = random_inertia(np.random.default_rng(2), 3), np.full(3, 2e4)
    shares = [share_of(matrix, damping, *times) for times in (
        (0.001, 0.0), (0.001, 0.002), (0.002, 0.002), (0.002, 0.005))]
    assert all(more > less > 0.0 for more, less in zip(shares, shares[1:]))


def test_the_share_follows_period_and_mass_matrix():
    inertia = Inertia(np.diag([0.5, 0.5, 0.5]))
    one = StableDamping(inertia, np.full(3, 2e3), 0.0)

    def after_three(period):
        return [one.share(np.zeros(3), period) for _ in range(3)][-1]

    assert one.share(np.zeros(3), 0.001) == pytest.approx(0.25, rel=1e-3)
    inertia.matrix = np.diag([0.5, 0.5, 0.2])
    assert after_three(0.001) == pytest.approx(0.1, rel=1e-3)
    assert after_three(0.002) == pytest.approx(0.05, rel=1e-3)
    assert after_three(0.002 * 0.5 * (1.0 + SAME_PERIOD)) == pytest.approx(0.05, rel=1e-3)


def test_of_an_arm_it_is_that_of_its_mass_matrix():
    damping = np.array([0.0, 5e3])
    braking = Braking(ARM_ROBOT, slice(None), np.ones(2, dtype=bool), 0.1, 0.0)
    share = StableDamping(braking, damping, 0.0).share(Q, 0.001)
    alone = 1.0 / np.linalg.inv(ARM_ROBOT.mass_matrix(Q))[1, 1]  # while the shoulder is free
    assert share == pytest.approx(alone / 0.001 / 5e3, rel=1e-3)
