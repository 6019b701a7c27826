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
"""The node under use_sim_time: ages and trajectories go by /clock, and a reset is a new start."""

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from ros2_rnea.node.timing import clocks
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from simulated_clock import time_setter
from small_robots import ARM
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
CONFIGURE, ACTIVATE = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE


def arm_in_simulation(bench, **parameters):
    """Return an arm in simulated time, which stands still until the test sets it."""
    arm = bench(joints=JOINTS, use_sim_time=True, **parameters)
    arm.set_time = time_setter(arm)
    arm.set_time(100)
    arm.describe(ARM)
    return arm


@pytest.fixture
def arm(bench):
    return arm_in_simulation(bench)


def status(arm) -> str:
    return arm.status().name


def test_without_a_time_on_clock_nothing_is_sent(bench):
    """Time is 0 then: no state grows old, and no effort is ever blended to the wanted one."""
    arm = bench(joints=JOINTS, use_sim_time=True)
    arm.describe(ARM)
    assert not arm.sends(JOINTS, [0.0, 0.5])
    arm.until(lambda: 'no time but 0 has been received on /clock' in arm.told('clock'))
    assert 'clock' in arm.node.diagnostics.errors
    time_setter(arm)(100)
    assert arm.sends(JOINTS, [0.0, 0.5], stamp=100.0)
    arm.until(lambda: not arm.told('clock'))


@pytest.mark.parametrize('is_reported', [False, True])
def test_a_managed_node_activated_without_a_time_waits_for_one(bench, is_reported):
    arm = bench(create=ManagedInverseDynamicsNode, joints=JOINTS, use_sim_time=True)
    assert arm.call(ChangeState, 'change_state', transition=Transition(id=CONFIGURE)).success
    arm.describe(ARM)
    arm.state(JOINTS, [0.0, 0.5])
    arm.until(lambda: arm.accepted('joint_states'))
    if is_reported:
        arm.until(lambda: arm.told('clock'))
    assert arm.call(ChangeState, 'change_state', transition=Transition(id=ACTIVATE)).success
    assert not arm.sends(JOINTS, [0.0, 0.5]) and not arm.commands and not arm.efforts
    time_setter(arm)(100)
    assert arm.sends(JOINTS, [0.0, 0.5], stamp=100.0)


def test_time_that_stands_still_is_reported_and_efforts_go_on(arm, monkeypatch):
    """A paused simulation goes on later."""
    monkeypatch.setattr(clocks, 'LONGEST_STANDSTILL', -1.0)
    arm.until(lambda: 'has not changed' in arm.told('clock'))
    assert 'clock' not in arm.node.diagnostics.errors
    assert arm.sends(JOINTS, [0.0, 0.5], stamp=100.0)
    monkeypatch.setattr(clocks, 'LONGEST_STANDSTILL', 1e9)
    arm.until(lambda: not arm.told('clock'))


def test_a_state_ages_by_simulated_time(arm):
    arm.answer(JOINTS, [0.0, 0.0])
    arm.settle(0.3)
    assert arm.node.policy.states.is_fresh(arm.node.clocks.steady())
    arm.set_time(101)
    assert not arm.node.policy.states.is_fresh(arm.node.clocks.steady())


def test_after_a_reset_states_count_and_no_trajectory_does(arm):
    arm.answer(JOINTS, [0.0, 0.0], stamp=100.0)
    arm.send_trajectory(JOINTS, [(60.0, [0.3, 0.3])])
    arm.until(lambda: arm.answer(JOINTS, [0.0, 0.0]) and status(arm) == 'FOLLOWING')
    arm.set_time(1)
    arm.answer(JOINTS, [0.0, 0.0], stamp=1.0)
    assert status(arm) == 'NO_TRAJECTORY'


def test_after_a_reset_the_effort_is_blended(bench):
    arm = arm_in_simulation(
        bench, blend_time=0.2, effort_rate_limit=1000.0, hold_tolerance=9.0,
        position_loop='present')
    here, there = [0.0, 0.5], [0.8, 0.5]

    def answer(now):
        arm.set_time(now)
        return arm.answer(JOINTS, here, stamp=now)

    def gravity(q):
        return pytest.approx(Robot.from_urdf(ARM).gravity(q))

    answer(100.0)
    arm.send_trajectory(JOINTS, [(0.01, there)])
    arm.until(lambda: arm.accepted('joint_trajectory'))
    efforts = [answer(100.0 + 0.01 * i) for i in range(80)]
    assert efforts[-1] == gravity(there)
    efforts += [answer(1.0 + 0.01 * i) for i in range(80)]
    assert efforts[80] == pytest.approx(efforts[79])
    assert efforts[-1] == gravity(here)
    assert np.abs(np.diff(efforts, axis=0)).max() < 10.1


def test_after_a_gap_gravity_is_that_of_the_new_position(bench):
    arm = arm_in_simulation(
        bench, blend_time=0.2, plausible_speed_factor=3.0, state_timeout=1.0)
    here, there = [0.0, 0.5], [0.0, 0.9]

    def answer(now, q):
        arm.set_time(now)
        return arm.answer(JOINTS, q, stamp=now)

    for step in range(40):
        before = answer(100.0 + 0.01 * step, here)
    assert before == pytest.approx(Robot.from_urdf(ARM).gravity(here))
    for now in (101.2, 101.3, 101.41):  # at first 0.81 s later
        assert answer(now, there) == pytest.approx(Robot.from_urdf(ARM).gravity(there))


def test_the_cycle_changes_its_clock_with_use_sim_time(bench, monkeypatch):
    """Its timers were made for another clock, which goes on."""
    arm = bench(joints=JOINTS, rate=100.0, state_timeout=10.0)
    arm.describe(ARM)
    arm.state(JOINTS, [0.0, 0.0])
    arm.until(lambda: len(arm.efforts) > 3)
    refused = arm.set_parameter('use_sim_time', True)
    assert not refused.successful and 'while efforts are sent' in refused.reason
    assert arm.call(SetBool, 'enable', data=False).success
    arm.until(lambda: status(arm) == 'DISABLED')
    assert arm.set_parameter('use_sim_time', True).successful
    assert arm.call(SetBool, 'enable', data=True).success
    set_time = time_setter(arm)
    set_time(100.0)
    arm.state(JOINTS, [0.0, 0.0])
    arm.until(lambda: arm.accepted('joint_states') == 2)
    count = len(arm.efforts)
    set_time(100.02)
    arm.until(lambda: len(arm.efforts) > count)
    arm.settle(0.1)
    published = []
    monkeypatch.setattr(EffortPublishers, 'send', lambda *args: published.append(args))
    arm.settle(0.3)
    assert not published  # time stands still
    monkeypatch.undo()
    count = len(arm.efforts)
    set_time(100.04)
    arm.until(lambda: len(arm.efforts) > count)
