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
"""A clock that is set while the node runs moves no trajectory, and a pause is no such step."""

from math import inf

import pytest
from ros2_rnea.control.decision import Instant
from ros2_rnea.node.timing.clock_steps import ClockSteps, SMALLEST_STEP
from ros2_rnea.trajectories.ros_time import RosTime
from simulated_clock import time_setter
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS, Q, THERE = ['shoulder', 'elbow'], [0.1, 0.2], [0.9, 1.0]


def status(arm) -> str:
    return arm.status().name


def near(effort):
    return pytest.approx(effort, abs=0.05)


@pytest.fixture
def arm(bench):
    """Return an arm that follows a slow trajectory."""
    return follow(bench(joints=JOINTS, state_timeout=9.0, path_tolerance=0.0))


def follow(arm, seconds=60.0):
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    arm.send_trajectory(JOINTS, [(seconds, THERE)])
    arm.until(lambda: arm.answer(JOINTS, Q) and status(arm) == 'FOLLOWING')
    arm.set_parameter('blend_time', 60.0)
    return arm


@pytest.mark.parametrize('step, words', [
    (5.0, 'set forward by 5.000 s'), (-5.0, 'set back by 5.000 s')])
def test_setting_the_clock_makes_no_step_of_the_effort(arm, step, words):
    before = arm.answer(JOINTS, Q)
    arm.clock.set_wall_clock(step)
    assert arm.answer(JOINTS, Q) == near(before)
    assert status(arm) == 'NO_TRAJECTORY'
    assert words in arm.told('system clock')
    assert 'the trajectory in progress is discarded' in arm.told('system clock')


def test_a_pause_of_the_process_is_no_clock_step(arm):
    arm.clock.stand_still(5.0)
    arm.answer(JOINTS, Q)
    assert status(arm) == 'FOLLOWING'
    assert not arm.told('system clock')


def test_a_trajectory_that_has_ended_is_still_held(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, hold_tolerance=9.0, path_tolerance=0.0,
                position_loop='present')
    follow(arm, 0.3)
    arm.until(lambda: arm.answer(JOINTS, Q) and status(arm) == 'HOLDING_END')
    arm.clock.set_wall_clock(5.0)
    arm.answer(JOINTS, Q)
    assert status(arm) == 'HOLDING_END'
    assert 'no trajectory was in progress; a trajectory that is still' in arm.told('system clock')


def test_only_a_large_step_of_simulated_time_is_a_jump(bench):
    arm = bench(
        joints=JOINTS, use_sim_time=True, path_tolerance=0.0, position_loop='present',
        state_timeout=9.0)
    set_time = time_setter(arm)
    set_time(100.0)
    follow(arm)
    set_time(108.0)
    arm.answer(JOINTS, Q)
    assert status(arm) == 'FOLLOWING'
    before = arm.answer(JOINTS, Q)
    set_time(120.0)
    assert arm.answer(JOINTS, Q) == near(before)
    assert status(arm) == 'NO_TRAJECTORY'
    assert not arm.told('system clock')


def test_the_first_simulated_time_is_no_jump(bench, capfd):
    arm = bench(joints=JOINTS, use_sim_time=True)
    set_time = time_setter(arm)
    set_time(1.7e9)
    arm.describe(ARM)
    assert arm.answer(JOINTS, Q)
    assert 'has jumped' not in capfd.readouterr().err


class SetClocks:
    """Clocks that a test sets."""

    def __init__(self):
        self.is_simulated, self.steady, self.wall = False, 1000.0, 1.7e9
        self.pauses = []  # between the readings of both clocks

    def now(self):
        steady = self.steady
        self.go(self.pauses.pop() if self.pauses else 0.0)
        return Instant(steady, RosTime.from_seconds(self.wall))

    def go(self, seconds):
        self.steady += seconds
        self.wall += seconds


@pytest.fixture
def watched():
    """Return clocks, a function that returns the time by them, and the steps that it told."""
    clocks, steps = SetClocks(), []
    watch = ClockSteps(clocks, lambda now, step: steps.append((now, step)))
    watch.now()
    return clocks, watch.now, steps


@pytest.mark.parametrize('step', [-inf, -3600.0, -0.06, 0.06, 10.0])
def test_a_step_is_told_once_before_its_time_is_used(watched, step):
    clocks, now, steps = watched
    clocks.go(0.01)
    step = max(step, 1.0 - clocks.wall)
    clocks.wall += step
    after = now()
    clocks.go(0.01)
    now()
    (told, size), = steps
    assert told is after
    assert size == pytest.approx(step, abs=1e-6)


def test_a_clock_that_is_slewed_is_not_set(watched):
    clocks, now, steps = watched
    for _ in range(1000):
        clocks.go(1.0)
        clocks.wall += 0.0005
        now()
    assert not steps


@pytest.mark.parametrize('pause', [1.2 * SMALLEST_STEP, 5.0])
def test_a_pause_between_reading_both_clocks_is_no_step(watched, pause):
    clocks, now, steps = watched
    clocks.pauses = [pause, pause, pause]
    instant = now()
    assert instant.steady == clocks.steady
    now()
    assert not steps


def test_from_and_to_simulated_time_nothing_is_told(watched):
    clocks, now, steps = watched
    clocks.is_simulated, clocks.steady, clocks.wall = True, 3.0, 3.0
    now()
    clocks.is_simulated, clocks.steady, clocks.wall = False, 1000.0, 1.7e9
    now()
    assert not steps
