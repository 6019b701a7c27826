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
"""A controller in the control loop adds the model to some joints: the node gives way to it."""

from __future__ import annotations

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from ros2_rnea import Robot
from ros2_rnea.control.decision import State
from ros2_rnea.node import bounds
from ros2_rnea.node.controllers import compensating_controllers
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from sensor_msgs.msg import JointState
from small_robots import ARM
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

interfaces = pytest.importorskip('ros2_rnea_interfaces.msg')
services = pytest.importorskip('ros2_rnea_interfaces.srv')
pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q, REST = [0.3, -0.8], [0.0, 0.0]
GRAVITY = Robot.from_urdf(ARM).gravity(Q)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TOPIC = 'compensated_joints'


class Controller:
    """A controller that says which joints it compensates."""

    def __init__(self, arm, name='in_loop'):
        self.arm, self.name = arm, f'/robot/{name}'
        self._node = Node(name, namespace='/robot', start_parameter_services=False)
        self._publisher = self._node.create_publisher(
            interfaces.CompensatedJoints, TOPIC, LATCHED)

    def say(self, *joints, name=None):
        """Say it, and wait until the node has taken or refused it."""
        self.send(interfaces.CompensatedJoints(
            controller=self.name if name is None else name, joints=joints))

    def send(self, message):
        """Send something, also bytes that are no message."""
        def count() -> int:
            return self.arm.accepted(TOPIC) + self.arm.refused(TOPIC)

        self.arm.connect(self._publisher)
        before = count()
        self._publisher.publish(message)
        self.arm.until_answered(lambda: count() > before)

    def vanish(self):
        self._node.destroy_node()  # again does no harm


def holding(bench, **parameters):
    """Return an arm that is held against gravity."""
    arm = bench(**{'joints': JOINTS, 'state_timeout': 0.5, **parameters})
    arm.describe(ARM)
    arm.until(lambda: arm.answer(JOINTS, Q, REST) == pytest.approx(GRAVITY))
    return arm


@pytest.fixture
def arm(bench):
    """Return an arm that is held against gravity."""
    return holding(bench)


@pytest.fixture
def start():
    """Return a function that starts a controller; all are ended afterwards."""
    controllers = []

    def start(arm, *name):
        controllers.append(Controller(arm, *name))
        return controllers[-1]

    yield start
    for controller in controllers:
        controller.vanish()


def until_silent(arm):
    """Publish states until the node sends nothing any more, and return all that it has sent."""
    arm.settle(0.0)
    arm.commands.clear()
    arm.until(lambda: arm.state(JOINTS, Q, REST) or arm.node.policy.state is State.OFF)
    arm.settle()
    return [*arm.commands]


def is_silent(arm):
    return not any(arm.sends(JOINTS, Q, REST) for _ in range(5))


def until_held(arm):
    arm.until(lambda: arm.sends(JOINTS, Q, REST)
              and list(arm.efforts[-1].effort) == pytest.approx(GRAVITY))


# ---- giving way ---------------------------------------------------------------------------------


def test_the_node_gives_way_says_why_and_goes_on(arm, capfd, start):
    controller = start(arm)
    controller.say('elbow', 'shoulder')
    until_silent(arm)
    assert is_silent(arm) and arm.status().name == 'NOT_ALLOWED'
    why = ("'/robot/in_loop' adds the effort of the model to shoulder, elbow, so that gravity "
           'would act twice: nothing is sent')
    assert arm.told('compensated joints') == why
    for _ in range(3):
        arm.poll()
    assert arm.call(services.ComputeGravity, 'compute_gravity').success
    controller.say()
    assert arm.told('compensated joints') == ''
    until_held(arm)
    said = capfd.readouterr().err
    assert said.count(f'compensated joints: {why}') == 1
    assert said.count('compensated joints: resolved') == 1
    assert 'another controller or the drives hold' not in said


def test_an_effort_fades_to_zero_and_is_not_left_behind(bench, start):
    arm = holding(bench, blend_time=0.5, effort_rate_limit=0.0)
    start(arm).say(*JOINTS)
    arm.efforts.clear()
    while arm.node.policy.state is not State.OFF:
        arm.sends(JOINTS, Q, REST)
    assert arm.node.policy.held_effort() == dict.fromkeys(JOINTS, 0.0)
    arm.until(lambda: not any(arm.efforts[-1].effort))
    sent = [GRAVITY.tolist(), *(list(message.effort) for message in arm.efforts)]
    steps = [abs(a - b) for one, other in zip(sent, sent[1:]) for a, b in zip(one, other)]
    assert 0.0 < max(steps) < 0.5 * max(map(abs, GRAVITY))


def test_nothing_is_braked_that_a_controller_moves(bench, start):
    """Damping would work against it, and the arm would never rest."""
    arm = holding(bench, position_loop='none')
    start(arm).say(*JOINTS)
    arm.efforts.clear()
    while arm.node.policy.state is not State.OFF:
        arm.sends(JOINTS, Q, [1.0, 1.0])
    arm.settle()
    assert all(abs(effort) <= abs(held) + 1e-9
               for message in arm.efforts for effort, held in zip(message.effort, GRAVITY))


def test_a_joint_that_no_controller_holds_is_not_dropped(arm, start):
    start(arm).say('elbow')
    assert until_silent(arm)[-1] == pytest.approx(GRAVITY)
    assert is_silent(arm)
    assert 'to elbow,' in arm.told('compensated joints')


def test_a_node_that_starts_later_sends_nothing_at_all(bench):
    other = bench(joints=['none'], state_timeout=9.0)
    said = interfaces.CompensatedJoints(controller='in_loop', joints=JOINTS)
    other.peer.create_publisher(interfaces.CompensatedJoints, TOPIC, LATCHED).publish(said)
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.until(lambda: other.executor.spin_once(timeout_sec=0.0) or arm.accepted(TOPIC))
    arm.describe(ARM)
    assert is_silent(arm) and not arm.commands


def test_a_managed_node_gives_way_from_its_activation_on(bench, start):
    arm = bench(create=ManagedInverseDynamicsNode, joints=JOINTS, state_timeout=9.0)
    controller = start(arm)
    controller.say(*JOINTS)  # to an unconfigured node
    assert arm.node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    arm.describe(ARM)
    assert arm.node.trigger_activate() is TransitionCallbackReturn.SUCCESS
    assert is_silent(arm) and not arm.commands
    arm.until(lambda: arm.told('compensated joints'))
    controller.say()
    until_held(arm)


def test_a_disabled_node_stays_so(arm, start):
    assert arm.call(SetBool, 'enable', data=False).success
    until_silent(arm)
    controller = start(arm)
    controller.say(*JOINTS)
    controller.say()
    assert is_silent(arm) and arm.status().name == 'DISABLED'
    assert arm.call(SetBool, 'enable', data=True).success
    until_held(arm)


def test_the_observation_goes_on(bench, start):
    arm = holding(bench, observe_external_effort=True, state_timeout=9.0)
    heard = []
    arm.peer.create_subscription(
        JointState, 'inverse_dynamics/external_effort', heard.append, 10)
    start(arm).say(*JOINTS)
    until_silent(arm)
    heard.clear()
    stamp = 100.0

    def comes() -> bool:
        nonlocal stamp
        stamp += 0.01
        arm.state(JOINTS, Q, REST, stamp=stamp, efforts=GRAVITY.tolist())
        return bool(heard)

    arm.until(comes)
    assert is_silent(arm)


# ---- who says it --------------------------------------------------------------------------------


@pytest.mark.parametrize('joints', [['wrist'], ['Elbow', 'shoulder_2']], ids=' '.join)
def test_other_joints_do_not_matter(arm, joints, start):
    start(arm).say(*joints)
    until_held(arm)
    assert arm.told('compensated joints') == ''


def test_efforts_by_name_go_on_where_there_are_no_commands(bench, start):
    arm = bench(state_timeout=9.0)
    arm.describe(ARM)
    until_held(arm)
    start(arm).say(*JOINTS)
    until_held(arm)


def test_it_counts_while_its_publisher_is_there(arm, start):
    first, second = start(arm), start(arm, 'second')
    first.say('shoulder')
    second.say('elbow')
    until_silent(arm)
    arm.poll()
    first.vanish()
    arm.until(lambda: 'second' in arm.told('compensated joints')
              and 'in_loop' not in arm.told('compensated joints'))
    assert is_silent(arm)
    second.vanish()
    until_held(arm)


def test_one_without_the_name_of_its_node_counts_while_there_is_any(arm, monkeypatch, start):
    monkeypatch.setattr(compensating_controllers, 'DISCOVERY_TIME', 0.2)
    controller, other = start(arm), start(arm, 'other')
    controller.say(*JOINTS, name='my arm')
    until_silent(arm)
    arm.settle(0.5)
    arm.poll()
    controller.vanish()
    arm.settle(0.5)
    arm.poll()
    assert is_silent(arm), 'nothing tells which of the two has gone'
    other.vanish()
    until_held(arm)


def test_it_counts_before_its_publisher_is_listed(arm, monkeypatch, start):
    monkeypatch.setattr(compensating_controllers, 'DISCOVERY_TIME', 1e6)
    monkeypatch.setattr(compensating_controllers, 'publishers_of', lambda *_: {})
    controller = start(arm)
    controller.say(*JOINTS)
    until_silent(arm)
    for _ in range(3):
        arm.poll()
    assert is_silent(arm)
    monkeypatch.setattr(compensating_controllers, 'DISCOVERY_TIME', 0.0)
    until_held(arm)


def test_a_controller_that_is_started_again_says_it_again(arm, start):
    first = start(arm)
    first.say(*JOINTS)
    until_silent(arm)
    arm.poll()
    again = start(arm)
    arm.settle(0.2)
    arm.poll()
    assert is_silent(arm)
    first.vanish()  # a process that was killed is listed for a while
    until_held(arm)
    again.say('elbow')
    until_silent(arm)
    again.say()
    until_held(arm)


# ---- malformed messages -------------------------------------------------------------------------


def refusal(arm):
    return arm.reported().get(TOPIC, '')


def test_malformed_messages_do_no_harm(arm, start):
    controller = start(arm)
    whole = serialize_message(interfaces.CompensatedJoints(controller='x', joints=JOINTS))
    for message, reason in [
            (interfaces.CompensatedJoints(joints=JOINTS), 'the controller has no name'),
            (interfaces.CompensatedJoints(
                controller='n' * (bounds.MAX_NAME_CHARACTERS + 1), joints=JOINTS),
             'the name of the controller has 1001 characters'),
            (interfaces.CompensatedJoints(controller='x', joints=['elbow'] * 10_000), 'bytes'),
            (whole[:-12], 'deserialized'), (b'', 'deserialized')]:
        refused = arm.refused(TOPIC)
        controller.send(message)
        assert arm.refused(TOPIC) == refused + 1 and reason in refusal(arm)
        until_held(arm)
    assert arm.node.unexpected_errors == 0


@pytest.mark.parametrize('joints', [
    ['elbow', 'elbow', 'shoulder'], ['', 'shoulder', 'elbow'], ['two\nlines', *JOINTS]], ids=repr)
def test_names_that_say_nothing_are_passed_over(arm, joints, start):
    controller = start(arm)
    controller.say(*joints, name='two\nlines')
    until_silent(arm)
    assert arm.told('compensated joints').startswith(
        "'two\\nlines' adds the effort of the model to shoulder, elbow,")
    controller.say(name='two\nlines')
    until_held(arm)


def test_so_many_controllers_and_no_more(arm, monkeypatch, start):
    monkeypatch.setattr(compensating_controllers, 'MAX_CONTROLLERS', 3)
    controller = start(arm)
    for number in range(3):
        controller.say('wrist', name=f'number {number}')
    controller.say(*JOINTS, name='one more')
    assert '3 other controllers compensate joints; at most 3 are accepted' in refusal(arm)
    until_held(arm)
    controller.say('elbow', name='number 1')
    until_silent(arm)
    controller.say(name='number 1')
    until_held(arm)
    controller.say(*JOINTS, name='one more')
    until_silent(arm)


def test_without_the_message_the_node_works(bench, monkeypatch):
    monkeypatch.setattr(compensating_controllers, 'CompensatedJoints', None)
    arm = holding(bench)
    arm.poll()
    assert arm.subscription(TOPIC) is None
    assert arm.node.unexpected_errors == 0


# ---- efforts in trajectories --------------------------------------------------------------------


def filled(arm, *names):
    rest = [0.0] * len(names)
    points = [JointTrajectoryPoint(positions=[position] * len(names), velocities=rest)
              for position in (0.1, 0.3)]
    points[1].time_from_start.sec = 2
    return arm.call(
        services.FillTrajectoryEfforts, 'fill_trajectory_efforts',
        trajectory=JointTrajectory(joint_names=names, points=points))


@pytest.mark.parametrize('joints', [JOINTS, []], ids=['commands', 'by name'])
def test_no_efforts_are_filled_that_would_act_twice(bench, joints, start):
    arm = bench(joints=joints, state_timeout=9.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q, REST)
    whole = filled(arm, *JOINTS)
    assert whole.success, whole.message
    controller = start(arm)
    controller.say('elbow')
    response = filled(arm, *JOINTS)
    assert not response.success
    assert response.message == (
        "'/robot/in_loop' adds the effort of the model to elbow, so that gravity would act "
        'twice: execute the trajectory without efforts')
    assert not response.trajectory.points and not response.trajectory.joint_names
    assert response.report == whole.report, 'it is about the motion, not about who adds what'
    controller.say()
    assert filled(arm, *JOINTS).success


def test_joints_that_are_not_filled_do_not_matter(bench, start):
    arm = bench(joints=['shoulder'], state_timeout=9.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q, REST)
    start(arm).say('elbow')
    assert filled(arm, *JOINTS).success
