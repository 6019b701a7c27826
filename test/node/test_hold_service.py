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
"""The service ~/hold and hold_after_goal, beside an action that is simulated."""

from threading import Thread
from unittest.mock import Mock

from action_msgs.msg import GoalStatusArray
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.control.target.hold_trigger import DELAY, GoalState
from ros2_rnea.node.controllers import controller_goals
from ros2_rnea.node.controllers.controller_goals import ControllerGoals, STATUS
from ros2_rnea.node.services.background_services import BackgroundServices, ServiceOwner
from ros2_rnea.node.worker.worker_process import WorkerProcess
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros
hold_service = pytest.importorskip('ros2_rnea.node.services.hold_service')

JOINTS = ['shoulder', 'elbow']
POSE = [0.1, -0.2]
WRONG = [-53.0, 7.0]


class Goals:
    """The action of a controller that succeeds at once, or says why not."""

    def __init__(self, node, controller, on_status):
        self.controller, self.on_status = controller, on_status
        self.is_available, self.said, self.sent = True, '', []
        self.are_of_another_process = False

    def send(self, trajectory, on_end):
        self.sent.append(trajectory)
        self.on_end = on_end
        if self.said is not None:
            on_end(self.said)
        return b'own%d' % len(self.sent)

    def close(self):
        """Do nothing."""


class Held:
    """A node with the service, and the controller beside it."""

    def __init__(self, arm):
        self.arm, self.node = arm, arm.node
        owner = ServiceOwner(self.node, lambda: self.node.policy, self.node.clocks.steady,
                             WorkerProcess(pytest.fail), lambda joints: self.why_twice)
        self.why_twice = ''
        self.goals = None
        self.service = hold_service.HoldService(owner, self.node.diagnostics, self.connect)
        self.thread = BackgroundServices(owner, 'holding', self.service.services)
        self.arm.until(lambda: self.goals is not None)
        self.speed = 0.0
        self.timer = self.node.create_timer(0.01, self.publish)
        self.efforts = WRONG
        self.joints = JOINTS
        self.pose = POSE

    def connect(self, *arguments):
        self.goals = Goals(*arguments)
        return self.goals

    def publish(self):
        now = self.node.clocks.steady()
        count = len(self.joints)
        self.pose = [position + 0.01 * self.speed for position in self.pose]
        self.node.policy.take_controller_state(ControllerReference(
            self.joints, [*self.pose, 0.0][:count], [self.speed] * count, [0.0] * count,
            commanded_efforts=[*self.efforts, 0.0][:count] if self.efforts else ()),
            Instant(now, RosTime(0)))

    def hold(self):
        """Call the service, once the controller stands still in the eyes of the node."""
        self.arm.until(lambda: self.speed or self.at_rest())
        return self.arm.call(Trigger, 'hold')

    def close(self):
        self.service.close()
        self.thread.close()

    def at_rest(self):
        return self.node.policy.motion.controller.is_at_rest(self.node.clocks.steady())

    def interrupt(self):
        """Abort a goal."""
        self.interrupted_at = self.node.clocks.steady()
        self.goals.on_status({b'goal': GoalState.EXECUTING})
        self.goals.on_status({b'goal': GoalState.ABORTED})

    def begin_to_hold(self):
        """Let the service send a goal of its own, which does not end."""
        self.goals.said = None
        assert self.arm.set_parameter('hold_after_goal', True).successful
        self.interrupt()
        self.arm.until(lambda: self.goals.sent)


@pytest.fixture
def beside(bench):
    """Return a function that starts a node with the service beside a controller."""
    started = []

    def begin(**parameters):
        arm = bench(**{
            'joints': JOINTS, 'controller_state_timeout': 5.0, 'blend_time': 0.5,
            'trajectory_controller': 'arm_controller', **parameters})
        arm.describe(ARM)
        arm.until(lambda: arm.node.policy is not None)
        started.append(Held(arm))
        return started[-1]
    yield begin
    for held in started:
        held.node.destroy_timer(held.timer)
        held.close()


GRAVITY = Robot.from_urdf(ARM).gravity(POSE)


def test_the_goal_blends_to_the_effort_of_the_reference(beside):
    held = beside()
    reply = held.hold()
    assert reply.success, reply.message
    [trajectory] = held.goals.sent
    assert list(trajectory.joint_names) == JOINTS
    first, last = trajectory.points[0], trajectory.points[-1]
    for point in trajectory.points:
        assert list(point.positions) == POSE
        assert list(point.velocities) == list(point.accelerations) == [0.0, 0.0]
    assert (first.time_from_start.sec, first.time_from_start.nanosec) == (0, 0)
    assert (last.time_from_start.sec, last.time_from_start.nanosec) == (0, 500_000_000)
    assert list(first.effort) == WRONG
    np.testing.assert_allclose(last.effort, GRAVITY, rtol=1e-9)


def test_the_service_waits_for_the_end_of_a_long_blend(beside, monkeypatch):
    monkeypatch.setattr(hold_service, 'LONGEST_ANSWER', 0.1)
    held = beside(blend_time=60.0)
    held.goals.said = None
    held.node.create_timer(
        0.5, lambda: held.goals.sent and held.goals.on_end(''))
    reply = held.hold()
    assert reply.success, reply.message


def test_commanded_efforts_with_feedback_are_not_blended(beside):
    held = beside(omitted_joints_stay_where_commanded=False)
    assert not ControllerRules.from_parameters(
        {'command_interfaces': ['effort']}).omitted_joints_stay_where_commanded
    assert held.hold().success
    for point in held.goals.sent[0].points:
        np.testing.assert_allclose(point.effort, GRAVITY, rtol=1e-9)


@pytest.mark.parametrize('change, said', [
    (lambda held: held.goals.on_status({b'goal': GoalState.EXECUTING}), 'executes a goal'),
    (lambda held: setattr(held, 'speed', 0.5), 'moves'),
    (lambda held: held.arm.set_parameter('enabled', False), 'disabled or inactive'),
    (lambda held: setattr(held, 'why_twice', 'x adds it'), 'x adds it: it holds the pose itself'),
    (lambda held: setattr(held.goals, 'is_available', False), 'not available'),
    (lambda held: setattr(held, 'efforts', None), 'commands no efforts'),
    (lambda held: setattr(held, 'joints', [*JOINTS, 'grip']), "'grip', whose effort is not known"),
    (lambda held: setattr(held.goals, 'said', 'it was preempted'), 'it was preempted'),
    (Held.begin_to_hold, 'already executing'),
])
def test_the_service_refuses_with_the_reason(beside, change, said):
    held = beside()
    held.arm.until(held.at_rest)
    change(held)
    if held.speed:
        held.arm.until(lambda: not held.at_rest())
    held.arm.settle(0.05)  # the state after the change
    reply = held.hold()
    assert not reply.success and said in reply.message


def test_commands_in_drive_units_are_not_replaced_by_efforts(beside):
    held = beside(command_scale__shoulder=0.55)
    reply = held.hold()
    assert not reply.success and 'command_scale' in reply.message


def test_no_goal_is_active_after_a_crash_of_the_controller(beside):
    held = beside()
    held.goals.on_status({b'goal': GoalState.EXECUTING})
    assert not held.hold().success
    held.goals.are_of_another_process = True
    reply = held.hold()
    assert reply.success, reply.message


def test_another_action_server_is_known_before_its_first_status(beside, monkeypatch):
    monkeypatch.setattr(controller_goals, 'ActionClient', Mock())  # may not be installed
    arm = beside().arm
    received = []
    goals = ControllerGoals(arm.node, 'arm_controller', received.append)
    topic = 'arm_controller/follow_joint_trajectory/_action/status'
    first = arm.peer.create_publisher(GoalStatusArray, topic, STATUS)
    arm.until(lambda: arm.node.count_publishers(f'/robot/{topic}') == 1)
    assert not goals.are_of_another_process  # nothing is known of the goals
    first.publish(GoalStatusArray())
    arm.until(lambda: received)
    assert not goals.are_of_another_process
    arm.peer.create_publisher(GoalStatusArray, topic, STATUS)
    arm.until(lambda: goals.are_of_another_process)
    arm.peer.destroy_publisher(first)
    arm.until(lambda: arm.node.count_publishers(f'/robot/{topic}') == 1)
    assert goals.are_of_another_process
    goals.close()


def test_the_node_ends_without_waiting_for_the_controller(beside, monkeypatch):
    monkeypatch.setattr(hold_service, 'LONGEST_ANSWER', 1e6)
    held = beside()
    held.goals.said = None
    held.arm.until(held.at_rest)
    client = held.arm.peer.create_client(Trigger, 'inverse_dynamics/hold')
    held.arm.until(client.service_is_ready)
    client.call_async(Trigger.Request())
    held.arm.until(lambda: held.goals.sent)
    closing = Thread(target=held.close, daemon=True)
    closing.start()
    held.arm.until(lambda: not closing.is_alive())


def test_by_default_nothing_is_sent_after_an_abort(beside):
    held = beside()
    held.arm.until(held.at_rest)
    held.interrupt()
    held.arm.settle(3.0 * hold_service.PERIOD + 0.4)
    assert held.goals.sent == []


def test_an_abort_and_an_activation_replace_the_effort_once(beside):
    held = beside(hold_after_goal=True)
    held.arm.until(lambda: len(held.goals.sent) == 1)  # the activation
    held.interrupt()
    held.arm.until(lambda: len(held.goals.sent) == 2)
    held.arm.settle(0.5)
    assert len(held.goals.sent) == 2
    np.testing.assert_allclose(held.goals.sent[-1].points[-1].effort, GRAVITY, rtol=1e-9)


def test_its_own_goal_is_not_replaced_by_the_next(beside):
    held = beside(hold_after_goal=True)
    held.goals.said = None
    held.arm.until(lambda: len(held.goals.sent) == 1)
    held.interrupt()
    held.arm.settle(0.6)
    assert len(held.goals.sent) == 1
    held.goals.on_end('')
    held.arm.until(lambda: len(held.goals.sent) == 2)


@pytest.mark.parametrize('delay', [0.0, 0.02, 0.05])
def test_a_goal_that_follows_an_abort_is_not_disturbed(beside, delay):
    held = beside(hold_after_goal=True)
    held.arm.until(lambda: len(held.goals.sent) == 1)
    held.interrupt()
    held.arm.settle(delay)
    if held.node.clocks.steady() - held.interrupted_at >= DELAY:
        pytest.skip('the machine is too busy to be this early')
    held.goals.on_status({b'goal': GoalState.ABORTED, b'next': GoalState.EXECUTING})
    held.arm.settle(0.6)
    assert len(held.goals.sent) == 1


def test_a_failure_is_in_the_diagnostics_until_it_works(beside):
    held = beside(hold_after_goal=True)
    held.arm.until(lambda: len(held.goals.sent) == 1)
    held.goals.said = 'it was preempted'
    held.interrupt()
    held.arm.until(lambda: 'it was preempted' in held.arm.told('hold_after_goal'))
    held.goals.said = ''
    held.interrupt()
    held.arm.until(lambda: not held.arm.told('hold_after_goal'))
