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
"""Velocities from positions: where they are computed, how fast they follow, and after gaps."""

from __future__ import annotations

from math import exp, nan, pi

import numpy as np
import pytest
from ros2_rnea.control.inputs.joint_states import JointStates, MeasuredJoints
from ros2_rnea.control.inputs.velocity_estimate import (
    EstimateMemory,
    TIME_CONSTANT,
    VelocityEstimate,
)

TIMEOUT = 0.1
NOW = 20.0
NAMES = ('shoulder', 'elbow')


class Driver:
    """A driver that publishes positions, and the states that are made of them."""

    def __init__(self, names=NAMES, continuous=(), memory=None):
        self.states = JointStates(names, [], TIMEOUT, continuous=continuous, memory=memory)
        self.time = NOW

    def tells(self, positions, velocities=(), elapsed=0.005, stamp=0.0, names=None):
        self.time += elapsed
        names = names or self.states.names
        self.states.update(
            MeasuredJoints(names, positions, velocities, stamp=stamp), self.time)
        return self.states.estimated_velocities

    def moves(self, speed, count, elapsed=0.005):
        """Let all joints move at a speed, from where they are."""
        q = np.nan_to_num(self.states.positions)
        for k in range(1, count + 1):
            velocities = self.tells(q + speed * elapsed * k, elapsed=elapsed)
        return velocities


@pytest.mark.parametrize('elapsed', [0.001, 0.005, 0.05])
def test_the_third_sample_gives_a_velocity(elapsed):
    driver = Driver()
    driver.tells((0.0, 0.0))
    assert np.isnan(driver.moves(0.4, 1, elapsed)).all()
    for _ in range(50):
        assert driver.moves(0.4, 1, elapsed) == pytest.approx([0.4, 0.4], rel=1e-9)


@pytest.mark.parametrize('elapsed, constant', [
    (0.001, TIME_CONSTANT), (0.01, TIME_CONSTANT), (0.02, 0.04), (0.05, 0.1)])
def test_it_is_a_filter_of_two_periods_at_least(
        elapsed, constant):
    driver = Driver()
    driver.tells((0.0, 0.0))
    driver.moves(0.0, 200, elapsed)
    for count in range(1, 30):
        expected = 1.0 - exp(-count * elapsed / constant)
        assert driver.moves(1.0, 1, elapsed) == pytest.approx([expected, expected], abs=1e-9)


def test_of_noise_little_is_left():
    driver, random = Driver(), np.random.default_rng(3)
    found = [driver.tells(random.normal(0.0, 1e-4, 2), elapsed=0.001) for _ in range(3000)]
    assert np.nanmax(np.abs(found)) < 0.15  # the differences have 0.14 rad/s rms
    assert np.abs(found[500:]).max() < 0.05


def test_where_a_velocity_is_measured_it_is_that_one():
    driver = Driver()
    for k in range(10):
        velocities = driver.tells((0.01 * k, 0.02 * k), (9.0, nan))
    assert velocities.tolist() == [9.0, pytest.approx(4.0)]
    assert driver.states.without_velocity() == ('elbow',)
    assert driver.tells((0.1, 0.2), (9.0, 8.0)).tolist() == [9.0, 8.0]


def test_nothing_is_computed_while_all_velocities_are_measured(monkeypatch):
    driver = Driver()
    monkeypatch.setattr(VelocityEstimate, 'update', None)
    for k in range(5):
        driver.tells((0.01 * k, 0.0), (1.0, 2.0))
    assert driver.states.estimated_velocities is driver.states.velocities
    with pytest.raises(TypeError):
        driver.tells((0.0, 0.0))


def test_whole_turns_of_a_continuous_joint_are_no_motion():
    driver = Driver(continuous=['elbow'])
    for k in range(100):
        angle = 0.1 * k
        velocities = driver.tells((angle, (angle + pi) % (2.0 * pi) - pi), elapsed=0.01)
    assert velocities == pytest.approx([10.0, 10.0])


@pytest.mark.parametrize('gap', [1.01 * TIMEOUT, -0.5, 1e6])
def test_after_a_gap_three_samples_are_needed_again(gap):
    driver = Driver()
    driver.tells((0.0, 0.0))
    driver.moves(1.0, 10)
    assert np.isnan(driver.tells((5.0, 5.0), elapsed=gap)).all()
    assert np.isnan(driver.moves(0.2, 1)).all()
    assert driver.moves(0.2, 1) == pytest.approx([0.2, 0.2])


def test_stamps_count_where_messages_come_in_a_burst():
    driver = Driver()
    for k in range(40):
        velocities = driver.tells(
            (0.003 * k, 0.0), elapsed=0.01 if k % 4 == 0 else 0.0, stamp=7.0 + 0.0025 * k)
        assert k < 2 or velocities == pytest.approx([1.2, 0.0])


def test_without_stamps_a_burst_counts_as_one_step():
    driver = Driver()
    for k in range(400):
        velocities = driver.tells((0.003 * k, 0.0), elapsed=0.01 if k % 4 == 0 else 0.0)
    assert velocities == pytest.approx([1.2, 0.0])


def test_joints_of_several_publishers_have_their_own_times():
    driver = Driver()
    for k in range(60):
        driver.tells([0.002 * k], elapsed=0.004, names=['shoulder'])
        if k % 3 == 0:
            driver.tells([-0.003 * k], elapsed=0.0, names=['elbow'])
    velocities = driver.states.estimated_velocities
    assert velocities == pytest.approx([0.5, -0.75])


def test_stamps_count_where_joints_have_different_times():
    driver = Driver()
    driver.tells([0.0], names=['shoulder'], stamp=6.99)
    for k in range(40):
        velocities = driver.tells(
            (0.003 * k, 0.006 * k), elapsed=0.01 if k % 4 == 0 else 0.0, stamp=7.0 + 0.0025 * k)
        if k == 1:
            assert np.isnan(velocities).tolist() == [False, True]
    assert velocities[1] == pytest.approx(2.4)
    assert velocities[0] == pytest.approx(1.2, rel=0.05)


def test_a_gap_is_longer_than_the_timeout():
    driver = Driver()
    for k in range(3):
        driver.time = 0.125 * k
        driver.states.timeout = 0.125
        velocities = driver.tells((0.25 * k, 0.0), elapsed=0.0)
    assert velocities == pytest.approx([2.0, 0.0])


def test_a_sample_that_is_repeated_keeps_its_stamp():
    """Receptions vary, so that without the stamp another velocity would come out."""
    driver = Driver()
    for k in range(6):
        stamp = 7.0 + 0.01 * k
        for _ in range(1 + (k == 4)):
            velocities = driver.tells(
                (0.5 * stamp, -stamp), elapsed=0.01 + 0.002 * k, stamp=stamp)
    assert velocities == pytest.approx([0.5, -1.0])


def test_joints_of_different_times_are_filtered_alike():
    random = np.random.default_rng(1)
    turn = np.array([2.0 * pi, np.inf, np.inf])
    one = VelocityEstimate(turn[:2], EstimateMemory.of(NAMES))
    other = VelocityEstimate(turn, EstimateMemory.of((*NAMES, 'wheel')))
    time = 0.0
    for _ in range(500):
        time += random.choice([0.001, 0.004, 0.0, 0.02, 0.2])
        positions = np.array([4.0 * np.sin(time), time, 0.0])
        times = random.choice([0.0, 1.0 + 1.1 * time]), time, TIMEOUT
        one.update(slice(0, 2), positions[:2], *times)
        other.restart(np.array([2]))  # so that joints have samples of different times
        other.update(slice(0, 3), positions, *times)
        np.testing.assert_allclose(one.velocities, other.velocities[:2], rtol=1e-12)


def test_the_samples_are_remembered_by_name():
    driver = Driver()
    driver.tells((0.0, 0.0))
    driver.moves(0.5, 3)
    names = ('elbow', 'wheel')
    after = Driver(names, memory=driver.states.memory.for_joints(names))
    after.time = driver.time
    velocities = after.tells((0.01, 0.0))
    assert velocities[0] == pytest.approx(0.5) and np.isnan(velocities[1])
