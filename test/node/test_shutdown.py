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
"""The last efforts of a node that ends, by a clock that the test sets."""

from itertools import chain, repeat

from made_parts import made_by
import numpy as np
from patience import until
import pytest
from rclpy.serialization import serialize_message
from ros2_rnea import Robot
from ros2_rnea.control.decision import Decision, Status
from ros2_rnea.control.transitions import LONGEST_FADE
from ros2_rnea.node import inverse_dynamics_node as module
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.topics.inputs import Inputs
from sensor_msgs.msg import JointState
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]


@pytest.fixture
def inputs(monkeypatch):
    """Return the input topics of the nodes, in the order of their making."""
    return made_by(monkeypatch, module, 'Inputs')


@pytest.fixture
def ending(bench, inputs, monkeypatch):
    """Return an arm that fades to gravity in 0.5 s, and at what times it does what at its end."""
    arm = bench(joints=JOINTS, state_timeout=0.5, on_stop='gravity')
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    now, instants, done = [100.0], [], []

    def sleep(seconds):
        done.append('sleep')
        now[0] += seconds
        arm.clock.stand_still(seconds)

    monkeypatch.setattr(module, 'monotonic', lambda: now[0])
    monkeypatch.setattr(module, 'sleep', sleep)
    decide_last = type(arm.node.policy).decide_last

    def watched(policy, instant):
        instants.append(instant)
        return decide_last(policy, instant)

    monkeypatch.setattr(type(arm.node.policy), 'decide_last', watched)
    send, wait = EffortPublishers.send, EffortPublishers.wait_for_delivery
    monkeypatch.setattr(
        EffortPublishers, 'send', lambda publishers, effort, *more: done.append(
            effort.tolist()) or send(publishers, effort, *more))
    monkeypatch.setattr(
        EffortPublishers, 'wait_for_delivery',
        lambda publishers: done.append('delivered') or wait(publishers))
    return arm, instants, done


def test_it_fades_to_gravity_by_both_clocks_and_awaits_delivery(ending):
    arm, instants, done = ending
    arm.node.send_last()
    first = instants[0]
    for count, instant in enumerate(instants):
        for clock in ('steady', 'ros'):
            assert getattr(instant, clock) - getattr(first, clock) == pytest.approx(
                count * module.SHUTDOWN_PERIOD, abs=1e-5)
    assert instants[-1].steady - first.steady == pytest.approx(
        0.5, abs=2.0 * module.SHUTDOWN_PERIOD)
    assert done[-3] == pytest.approx(Robot.from_urdf(ARM).gravity(Q), abs=1e-12)
    assert done[-2:] == ['sleep', 'delivered']
    assert done.count('delivered') == 1


def test_it_cuts_long_fades_short_and_says_so(ending, capfd):
    arm, instants, done = ending
    assert arm.set_parameter('on_stop', 'zero').successful
    assert arm.set_parameter('effort_rate_limit', 0.5).successful
    arm.node.send_last()
    assert arm.node.policy.states.age(instants[-1].steady) == pytest.approx(
        2.0 * 0.5, abs=2.0 * module.SHUTDOWN_PERIOD)
    assert done[-1] == 'delivered'
    said = capfd.readouterr().err
    assert 'cut short' in said and 'instead of 0.000' in said


def moves(arm, inputs, monkeypatch, speeds):
    """Let joint states come while the node ends, of an arm that moves at these speeds."""
    policy, q = arm.node.policy, np.array(Q)
    handle = next(row.handle for row in inputs[-1].made_with[1] if row.topic == 'joint_states')

    def take(_, topic, of, now):
        assert topic == 'joint_states' and of is policy
        qd = np.full(2, next(speeds))
        q[:] += module.SHUTDOWN_PERIOD * qd
        handle(policy, received(q, qd, now), now)

    monkeypatch.setattr(Inputs, 'take', take)
    return q


def received(q, qd, now):
    """Return a serialized joint state and its MessageInfo, as if it had come now."""
    times = dict.fromkeys(('received_timestamp', 'source_timestamp'), now.ros.nanoseconds)
    return serialize_message(JointState(name=JOINTS, position=q, velocity=qd)), times


def test_it_brakes_a_moving_arm_by_its_newest_states(ending, inputs, monkeypatch):
    arm, instants, done = ending
    moving = 40
    q = moves(arm, inputs, monkeypatch, chain(repeat(0.8, moving), repeat(0.0)))
    arm.node.send_last()
    sent = np.array([each for each in done if isinstance(each, list)])
    robot = Robot.from_urdf(ARM)
    braked = sent[moving - 1] - robot.gravity(np.array(Q) + 0.8 * moving * module.SHUTDOWN_PERIOD)
    assert (braked < -0.5).all()  # against the motion
    assert sent[-1] == pytest.approx(robot.gravity(q), abs=1e-6)
    assert moving < len(instants) and instants[-1].steady - instants[0].steady < 1.0
    assert done[-1] == 'delivered'
    monkeypatch.setattr(
        type(arm.node.policy), 'decide', lambda *_: pytest.fail('a cycle of older states'))
    arm.subscription('joint_states').callback(*received([], [], arm.node.clocks.now()))
    assert arm.refused('joint_states') == 1


def test_it_ends_in_time_though_the_arm_does_not_rest(ending, inputs, monkeypatch):
    arm, instants, done = ending
    assert arm.set_parameter('longest_braking', 0.7).successful
    moves(arm, inputs, monkeypatch, repeat(0.8))
    arm.node.send_last()
    assert instants[-1].steady - instants[0].steady == pytest.approx(
        0.7, abs=5.0 * module.SHUTDOWN_PERIOD)
    assert done[-1] == 'delivered'


def test_it_ends_in_time_though_the_policy_does_not(ending, monkeypatch):
    arm, _, done = ending
    endless = Decision(Status.STOPPING, effort=np.zeros(2))
    started = module.monotonic()
    monkeypatch.setattr(type(arm.node.policy), 'decide_last', lambda *_: endless)
    arm.node.send_last()
    assert module.monotonic() - started == pytest.approx(
        arm.node.policy.settings.longest_braking + LONGEST_FADE, abs=0.01)
    assert done[-1] == 'delivered'


@pytest.mark.parametrize('after', [0, 5])
def test_in_a_hurry_it_ends_at_once(ending, inputs, monkeypatch, capfd, after):
    arm, instants, done = ending
    moves(arm, inputs, monkeypatch, repeat(0.8))
    arm.node.send_last(lambda: len(instants) >= after)
    assert len(instants) == after and 'delivered' not in done
    assert 'ended at once, before the arm was braked' in capfd.readouterr().err


def test_queued_states_are_taken_without_an_executor(bench, inputs):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    before, now = arm.accepted('joint_states'), arm.node.clocks.now()
    for step in (1, 2, 3):
        arm.state(JOINTS, [Q[0], Q[1] + 0.001 * step])
    until(lambda: inputs[-1].take('joint_states', arm.node.policy, now)
          or arm.accepted('joint_states') == before + 3)
    assert arm.node.policy.states.positions.tolist() == pytest.approx([Q[0], Q[1] + 0.003])
    inputs[-1].take('wrench', arm.node.policy, now)  # nothing is queued
    assert holds_after(arm)


def holds_after(arm):
    """Return whether the executor goes on as before."""
    return arm.answer(JOINTS, Q) == pytest.approx(Robot.from_urdf(ARM).gravity(Q).tolist())


def test_a_node_that_sends_nothing_sends_nothing_at_its_end(ending):
    arm, instants, done = ending
    assert arm.set_parameter('enabled', False).successful
    arm.until(lambda: not arm.node.policy.is_sending)
    done.clear()
    arm.node.send_last()
    assert instants == done == []


def test_without_a_robot_there_is_nothing_to_send(bench):
    arm = bench(joints=JOINTS)
    arm.node.send_last()
    arm.settle()
    assert arm.efforts == arm.commands == []
