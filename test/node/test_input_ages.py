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
Inputs that wait until they are read, because the thread is busy or the process is stopped.

Messages are handed to the node as its executor does, with the times that the middleware gives.
"""

from geometry_msgs.msg import WrenchStamped
import pytest
from rclpy.serialization import serialize_message
from ros2_rnea.control.decision import Status
from sensor_msgs.msg import Imu, JointState
from small_robots import ARM
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
TIMEOUT = 1.0
STOP = 2.0
"""For how long the process is stopped, in each of these tests [s]."""


@pytest.fixture
def arm(bench):
    """Return an arm at work, with all inputs."""
    arm = bench(
        joints=JOINTS, state_timeout=TIMEOUT, wrench_timeout=TIMEOUT,
        controller_state_timeout=TIMEOUT, gravity_from_imu=True, imu_timeout=60.0)
    arm.describe(ARM)
    arm.until(lambda: arm.subscription('imu'))
    for _ in range(3):  # by which the delay of their publisher is known
        give(arm, 'joint_states', JointState(name=JOINTS, position=Q))
    return arm


def give(arm, topic, message, since_received=0.0, since_sent=None):
    """Let the node read a message that was received, and sent, some time ago [s]."""
    now = arm.node.clocks.now().ros.nanoseconds
    since_sent = since_received if since_sent is None else since_sent
    info = {'received_timestamp': now - round(1e9 * since_received),
            'source_timestamp': now - round(1e9 * since_sent)}
    arm.subscription(topic).callback(serialize_message(message), info)


def stop(arm):
    """Stop the process for a while: its middleware receives what was sent only afterwards."""
    arm.clock.stand_still(STOP)


def trajectory(stamp=0.0):
    """Return a trajectory that lasts 5 s."""
    message = JointTrajectory(joint_names=JOINTS, points=[JointTrajectoryPoint(positions=Q)])
    message.points[0].time_from_start.sec = 5
    message.header.stamp.sec = int(stamp)
    return message


def wrench():
    message = WrenchStamped()
    message.header.frame_id = 'tool'
    message.wrench.force.y = 3.0
    return message


def imu():
    message = Imu()
    message.header.frame_id = 'base'
    message.linear_acceleration.z = 9.81
    return message


def controller_state():
    messages = pytest.importorskip('control_msgs.msg')
    message = messages.JointTrajectoryControllerState(joint_names=JOINTS)
    message.reference.positions = Q
    return message


def wrench_is_received_at(policy, time):
    """Return whether the wrench begins to count then, and ends to count a timeout later."""
    wrenches = policy.wrenches
    return [wrenches.stale(time + after) for after in (
        -1e-6, 1e-6, TIMEOUT - 1e-6, TIMEOUT + 1e-6)] == [('tool',), (), (), ('tool',)]


SENSED = {
    'wrench': (wrench, 'wrench_timeout', wrench_is_received_at),
    'imu': (imu, 'state_timeout', lambda policy, time: (
        policy.measured_gravity.received == pytest.approx(time, abs=1e-6))),
    'controller_state': (controller_state, 'controller_state_timeout', lambda policy, time: (
        policy.motion.controller.memory.received == pytest.approx(time, abs=1e-6)))}
"""By topic: a message, the parameter for its timeout, and whether it was received at a time."""


@pytest.mark.parametrize('topic', SENSED)
def test_the_age_of_a_message_counts_from_its_reception(arm, topic):
    message, parameter, is_received_at = SENSED[topic]
    give(arm, topic, message(), 0.25)
    assert arm.accepted(topic) == 1
    assert is_received_at(arm.node.policy, arm.clock.monotonic() - 0.25)
    give(arm, topic, message(), 1.25)
    assert arm.refused(topic) == 1
    assert arm.told(topic).endswith(
        f'it has waited for 1.250 s before it was read, longer than {parameter} (1 s)')


@pytest.mark.parametrize('topic', SENSED)
def test_messages_from_before_a_process_stop_are_not_used_afterwards(arm, topic):
    message = SENSED[topic][0]
    for _ in range(3):
        give(arm, topic, message())
    stop(arm)
    give(arm, 'joint_states', JointState(name=JOINTS, position=Q))
    give(arm, topic, message(), 0.0, 1.5)
    assert arm.accepted(topic) == 3
    assert 'may have waited while this process did not run' in arm.told(topic)
    give(arm, topic, message())
    assert arm.accepted(topic) == 4


def begun(arm):
    """Return how long ago the trajectory that is followed has begun [s]."""
    return arm.node.clocks.now().ros - arm.node.policy.motion.memory.path.end + 5.0


@pytest.mark.parametrize('waited', [0.0, 0.25, 1.25])
def test_a_trajectory_begins_at_its_reception(arm, waited):
    give(arm, 'joint_trajectory', trajectory(), waited)
    assert begun(arm) == pytest.approx(waited, abs=1e-6)


def test_a_trajectory_that_arrived_during_a_process_stop_began_then(arm):
    """The controller has started it at once."""
    give(arm, 'imu', imu())  # without which no effort starts
    stop(arm)
    give(arm, 'joint_states', JointState(name=JOINTS, position=Q))
    give(arm, 'joint_trajectory', trajectory(), 0.0, 1.5)
    assert begun(arm) == pytest.approx(1.5, abs=1e-6)
    give(arm, 'joint_states', JointState(name=JOINTS, position=Q))
    assert arm.status() is Status.FOLLOWING


def test_a_trajectory_of_unknown_begin_is_refused(arm):
    """The clock of its publisher's host is another one."""
    stop(arm)
    give(arm, 'joint_states', JointState(name=JOINTS, position=Q))
    give(arm, 'joint_trajectory', trajectory(), 0.0, -60.0)
    assert 'may have waited while this process did not run' in arm.told('joint_trajectory')
    stamp = arm.ros_time() + 7.0
    give(arm, 'joint_trajectory', trajectory(stamp), 0.0, -60.0)
    assert arm.node.policy.motion.memory.path.end.seconds == int(stamp) + 5


def test_simulated_time_is_not_that_of_the_middleware(bench):
    arm = bench(joints=JOINTS, use_sim_time=True, state_timeout=10.0)
    arm.describe(ARM)
    give(arm, 'joint_states', JointState(name=JOINTS, position=Q))
    give(arm, 'joint_trajectory', trajectory(), 0.25)
    assert begun(arm) == 0.0
    give(arm, 'wrench', wrench(), 60.0)
    assert arm.accepted('wrench') == 1
