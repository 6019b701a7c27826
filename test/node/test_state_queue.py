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
"""Joint states that wait in the queue: none is lost, and all of them make one command."""

from time import sleep

from message_times import MessageTimes, TIMES
import numpy as np
import pytest
from ros2_rnea import Robot
from sensor_msgs.msg import JointState
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
WAY = 0.2
"""Time for messages to reach the queue of the node, whose executor does not run meanwhile [s]."""


@pytest.fixture
def times(monkeypatch):
    """Return the times of joint states, which are those of the middleware at first."""
    return MessageTimes(monkeypatch, 'joint_states')


@pytest.fixture
def arm(bench, times):
    """Return an arm at work, whose joints are published one by one."""
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.second = arm.peer.create_publisher(JointState, 'joint_states', 10)
    arm.connect(arm.second)
    arm.answer(JOINTS, [0.0, 0.0])
    return arm


def publish(arm, shoulder, elbow):
    """Let each of two publishers tell of one joint."""
    arm.states.publish(JointState(name=['shoulder'], position=[shoulder]))
    arm.second.publish(JointState(name=['elbow'], position=[elbow]))


def counts(arm):
    return arm.accepted('joint_states'), arm.commands_sent()


def test_all_queued_states_make_one_command_of_the_newest(arm):
    accepted, commands = counts(arm)
    for step in range(1, 5):
        publish(arm, 0.1 * step, -0.2 * step)
    sleep(WAY)
    arm.until(lambda: counts(arm)[0] == accepted + 8)
    arm.settle()
    assert counts(arm) == (accepted + 8, commands + 1)
    np.testing.assert_allclose(
        arm.efforts[-1].effort, Robot.from_urdf(ARM).gravity([0.4, -0.8]), rtol=1e-12)


def test_a_bad_state_in_the_queue_spoils_no_other(arm):
    accepted, commands = counts(arm)
    arm.states.publish(JointState(name=['shoulder'], position=[0.3]))
    arm.states.publish(JointState(name=['shoulder'], position=[]))
    arm.states.publish(JointState(name=['shoulder'], position=[float('nan')]))
    arm.second.publish(JointState(name=['elbow'], position=[0.6]))
    sleep(WAY)
    arm.until(lambda: arm.refused('joint_states') >= 1 and counts(arm)[0] >= accepted + 2)
    arm.settle()
    assert counts(arm)[1] == commands + 1
    np.testing.assert_allclose(
        arm.efforts[-1].effort, Robot.from_urdf(ARM).gravity([0.3, 0.6]), rtol=1e-12)


def test_after_a_full_queue_each_state_is_answered_again(arm):
    for step in range(30):
        publish(arm, 0.01 * step, 0.0)
    sleep(WAY)
    arm.settle()
    for step in range(5):
        effort = arm.answer(JOINTS, [0.1 * step, 0.3], [0.0, 0.0])
        np.testing.assert_allclose(
            effort, Robot.from_urdf(ARM).gravity([0.1 * step, 0.3]), rtol=1e-12)


# ---- the age of states --------------------------------------------------------------------------


@pytest.mark.parametrize('lacking', [
    [], ['received_timestamp'], ['received_timestamp', 'source_timestamp']])
def test_a_state_that_waited_too_long_is_not_answered(arm, times, lacking):
    """Without a time of reception, as with rmw_cyclonedds, the delay since it was sent counts."""
    def wait_for(seconds):
        times.ago = {name: None if name in lacking else seconds for name in TIMES}

    wait_for(0.0)
    begin = arm.ros_time()
    for step in range(3):
        arm.answer(JOINTS, [0.1 * step, 0.3], stamp=begin)
    accepted, commands = counts(arm)
    wait_for(9.5)
    arm.state(JOINTS, [0.4, -0.8], stamp=begin - 9.5)
    arm.until(lambda: arm.refused('joint_states') == 1)
    assert 'longer than state_timeout (9 s)' in arm.told('joint_states')
    arm.settle()
    assert counts(arm) == (accepted, commands)
    wait_for(0.0)
    arm.answer(JOINTS, [0.4, -0.8], stamp=arm.ros_time())
    arm.poll()
    assert bool(lacking) is ('no times of reception' in arm.told('state times'))
