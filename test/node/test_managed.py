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
"""The managed node: its states, over DDS as a lifecycle manager sees them."""

from functools import partial
from itertools import pairwise
import os
import signal
import subprocess
import sys
from time import monotonic

from builtin_interfaces.msg import Duration
from controller_node import Controller
from idle_worker import answers_held
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from made_parts import efforts_sent, made_by
from node_bench import LATCHED
import numpy as np
from patience import PATIENCE, until
import pytest
from rcl_interfaces.msg import SetParametersResult
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.control.output.rate_limit import effort_rate_limits
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node import inverse_dynamics_node
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from sensor_msgs.msg import JointState
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q, ELSEWHERE = [0.3, -0.8], [0.9, 0.4]
CONFIGURE, CLEAN_UP, ACTIVATE, DEACTIVATE, SHUT_DOWN = (
    Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP, Transition.TRANSITION_ACTIVATE,
    Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVE_SHUTDOWN)
UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = (
    State.PRIMARY_STATE_UNCONFIGURED, State.PRIMARY_STATE_INACTIVE, State.PRIMARY_STATE_ACTIVE,
    State.PRIMARY_STATE_FINALIZED)
LIMITS = [5.0, 3.0]
LIKE_USERS = {
    'mode': 'gravity_compensation', 'blend_time': 0.5, 'effort_rate_limit': 0.0,
    'state_timeout': 0.5, 'joints': JOINTS,
    'effort_limits__shoulder': LIMITS[0], 'effort_limits__elbow': LIMITS[1]}
"""Parameters with which efforts change as slowly as by default."""


def configured(**arguments) -> ManagedInverseDynamicsNode:
    node = ManagedInverseDynamicsNode(**arguments)
    assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    return node


@pytest.fixture
def managed(bench):
    """Return a function that starts an inactive node, beside what a driver is to it."""
    return partial(bench, create=configured, position_loop='present')  # for it never moves


def change(arm, transition: int) -> bool:
    """Ask for a transition as a manager does, and return whether it succeeded."""
    return arm.call(ChangeState, 'change_state', transition=Transition(id=transition)).success


def state(arm) -> int:
    return arm.call(GetState, 'get_state').current_state.id


def received(arm) -> list[list[float]]:
    """Return all efforts that have arrived by now, and forget them."""
    for subscription in arm.peer.subscriptions:
        while True:
            with subscription.handle:
                taken = subscription.handle.take_message(subscription.msg_type, False)
            if taken is None:
                break
            subscription.callback(taken[0])
    efforts = [list(message.effort) for message in arm.efforts]
    arm.efforts.clear()
    arm.commands.clear()
    return efforts


def hold(arm, positions, cycles: int = 40) -> list[list[float]]:
    """Publish joint states for some cycles, and return the efforts that answer them."""
    received(arm)
    for _ in range(cycles):
        arm.sends(JOINTS, positions)
    arm.settle(0.0)
    return [list(message.effort) for message in arm.efforts]


def gravity(positions) -> list[float]:
    return Robot.from_urdf(ARM).gravity(positions)


def moving(arm) -> None:
    """Let the node follow a motion whose effort is not that of gravity."""
    arm.answer(JOINTS, Q)
    arm.send_trajectory(JOINTS, [(60.0, [q + 600.0 for q in Q], [0.0, 0.0])])
    arm.until(lambda: arm.accepted('joint_trajectory'))
    arm.until(lambda: np.abs(np.array(arm.answer(JOINTS, Q)) - gravity(Q)).max() > 0.05)


def active(managed, **parameters):
    """
    Return an arm that follows a motion.

    The effort fades out over the state_timeout, which is cut short where a state is too old.
    """
    arm = managed(**{'joints': JOINTS, 'state_timeout': 0.5, **parameters})
    arm.describe(ARM)
    assert change(arm, ACTIVATE)
    moving(arm)
    received(arm)
    return arm


# ---- what each state does -----------------------------------------------------------------------

def test_an_inactive_node_listens_and_answers_and_sends_nothing(managed, monkeypatch):
    publishers = made_by(monkeypatch, inverse_dynamics_node, 'TermsPublisher')
    arm = managed(joints=JOINTS)
    queries = pytest.importorskip('ros2_rnea_interfaces.srv')
    terms = pytest.importorskip('ros2_rnea_interfaces.msg').EffortTerms
    sent = []
    arm.peer.create_subscription(terms, 'inverse_dynamics/terms', sent.append, 10)
    arm.describe(ARM)
    arm.until(lambda: publishers[-1].has_subscriber)
    assert hold(arm, Q) == arm.commands == sent == []
    answer = arm.call(queries.ComputeGravity, 'compute_gravity', names=JOINTS, positions=Q)
    assert answer.success, answer.message
    assert list(answer.effort.effort) == pytest.approx(gravity(Q), abs=1e-12)
    assert state(arm) == INACTIVE
    assert change(arm, ACTIVATE)
    assert hold(arm, Q)[-1] == pytest.approx(gravity(Q), abs=1e-12)
    assert arm.commands and sent


def test_an_unconfigured_node_has_no_robot_and_sends_nothing(managed):
    arm = managed(joints=JOINTS)
    queries = pytest.importorskip('ros2_rnea_interfaces.srv')
    arm.describe(ARM)
    assert change(arm, ACTIVATE)
    arm.answer(JOINTS, Q)
    assert change(arm, DEACTIVATE)
    assert change(arm, CLEAN_UP)
    assert state(arm) == UNCONFIGURED
    assert arm.node.policy is None
    answer = arm.call(queries.ComputeGravity, 'compute_gravity', names=JOINTS, positions=Q)
    assert not answer.success and 'robot' in answer.message
    assert 'unconfigured' in arm.call(SetBool, 'enable', data=True).message
    received(arm)
    arm.state(JOINTS, Q)
    arm.settle()
    assert arm.efforts == arm.commands == []


def test_the_effort_fades_out_before_the_reply_and_nothing_follows(managed):
    arm = active(managed)
    assert change(arm, DEACTIVATE)
    faded = received(arm)
    assert len(faded) > 5
    assert faded[-1] == pytest.approx(gravity(Q), abs=1e-12)
    assert hold(arm, Q) == arm.commands == []
    assert state(arm) == INACTIVE


def test_a_motion_from_before_the_activation_is_not_followed(managed):
    arm = active(managed)
    assert change(arm, DEACTIVATE)
    received(arm)
    assert change(arm, ACTIVATE)
    assert hold(arm, Q, 3) == [pytest.approx(gravity(Q), abs=1e-12)] * 3


def test_shutdown_fades_out_too_and_keeps_the_node_visible(managed):
    arm = active(managed)
    assert change(arm, SHUT_DOWN)
    assert received(arm)[-1] == pytest.approx(gravity(Q), abs=1e-12)
    arm.state(JOINTS, Q)
    arm.settle()
    assert arm.efforts == arm.commands == []
    assert state(arm) == FINALIZED
    assert arm.told('life cycle') == 'the node is finalized: nothing is sent'
    arm.node.diagnostics.publish()
    arm.until(lambda: 'the node is finalized' in arm.diagnostics[-1].message)
    assert arm.node.policy is None


# ---- the first effort after an activation -------------------------------------------------------

PAUSE = 0.05
"""Longer than between two efforts without a pause [s]."""


def hold_until(arm, positions) -> list[list[float]]:
    """Publish joint states until gravity at these positions answers; return all efforts."""
    efforts = []
    arm.until(lambda: efforts.extend(hold(arm, positions)) or (
        efforts and efforts[-1] == pytest.approx(gravity(positions), abs=1e-9)))
    return efforts


@pytest.mark.parametrize('between', [
    (DEACTIVATE, ACTIVATE), (DEACTIVATE, CLEAN_UP, CONFIGURE, ACTIVATE)])
def test_activations_follow_each_other_without_a_step(managed, monkeypatch, between):
    arm = managed(**LIKE_USERS, start_from='automatic')
    sent = efforts_sent(monkeypatch, arm)
    arm.describe(ARM)
    assert change(arm, ACTIVATE)
    hold_until(arm, Q)
    rates = effort_rate_limits(np.array(LIMITS))
    for positions in (ELSEWHERE, Q, ELSEWHERE):
        del sent[:-1]
        for transition in between:
            assert change(arm, transition)
        arm.until(lambda: arm.node.policy is not None)
        arm.settle(0.0)
        hold_until(arm, positions)
        assert len(sent) > 10
        for (before, one), (after, other) in pairwise(sent):
            elapsed = min(after - before, PAUSE)  # in a pause the rate does not run on
            assert (np.abs(other - one) <= rates * elapsed + 1e-9).all()


# ---- refused transitions ------------------------------------------------------------------------

def test_an_invalid_parameter_is_refused_at_configuration_with_the_reason(capfd):
    node = ManagedInverseDynamicsNode(parameter_overrides=[
        Parameter('mode', value='fast'), Parameter('state_timeout', value=-1.0)])
    try:
        for said, name, better in (('state_timeout out of range', 'state_timeout', 0.1),
                                   ("mode is 'fast'", 'mode', 'gravity_compensation')):
            assert node.trigger_configure() is TransitionCallbackReturn.FAILURE
            line, = (line for line in capfd.readouterr().err.splitlines() if 'ERROR' in line)
            assert 'configure: refused: ' in line and said in line
            assert node.set_parameters([Parameter(name, value=better)])[0].successful
        assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    finally:
        node.destroy_node()


@pytest.mark.parametrize('name, value', [
    ('effort_controller', 'bad name!'), ('trajectory_controller', 'bad name!'),
    ('effort_controller', 5), ('trajectory_controller', 5), ('joints', 3)])
def test_an_unconfigured_node_goes_on_with_an_invalid_parameter(bench, name, value):
    arm = bench(create=ManagedInverseDynamicsNode, **{'joints': JOINTS, name: value})
    arm.poll()
    arm.settle()
    assert not change(arm, CONFIGURE)
    better = JOINTS if name == 'joints' else ''
    assert arm.set_parameter(name, better).successful
    assert change(arm, CONFIGURE)
    arm.describe(ARM)
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)
    assert change(arm, DEACTIVATE)
    assert change(arm, CLEAN_UP)
    result = arm.set_parameter(name, value)
    assert not result.successful and name in result.reason
    arm.poll()
    arm.settle()
    assert change(arm, CONFIGURE)


@pytest.mark.parametrize('name, value', [
    ('state_depth', 'x'), ('state_depth', 0), ('executor', 'nonsense'), ('thread_priority', 200)])
def test_an_invalid_read_only_parameter_is_refused_at_the_start(name, value):
    with pytest.raises(ArgumentError, match=name):
        ManagedInverseDynamicsNode(parameter_overrides=[Parameter(name, value=value)])


class StrictNode(ManagedInverseDynamicsNode):
    """A node with a callback that may refuse changes, after its own have accepted them."""

    may_change, callback = True, None

    def add_on_set_parameters_callback(self, callback):
        if self.callback is None:  # of all, the first that is added is called last
            self.callback = lambda _: SetParametersResult(successful=self.may_change)
            super().add_on_set_parameters_callback(self.callback)
        super().add_on_set_parameters_callback(callback)


def test_an_initial_value_stays_refused_until_it_is_changed():
    node = StrictNode(parameter_overrides=[Parameter('state_timeout', value=-1.0)])
    try:
        node.may_change = False
        assert not node.set_parameters([Parameter('state_timeout', value=0.2)])[0].successful
        assert node.trigger_configure() is TransitionCallbackReturn.FAILURE
    finally:
        node.destroy_node()


@pytest.mark.parametrize('is_simulated', [True, False])
def test_the_clock_that_was_chosen_before_the_configuration_is_used(bench, is_simulated):
    arm = bench(
        create=ManagedInverseDynamicsNode, joints=JOINTS, use_sim_time=not is_simulated)
    assert arm.set_parameter('use_sim_time', is_simulated).successful
    assert change(arm, CONFIGURE)
    assert arm.node.clocks.is_simulated is is_simulated


@pytest.mark.parametrize('last', ['parameter', 'topic'])
def test_the_description_of_the_parameter_outlasts_a_cleanup(managed, last):
    arm = managed()
    arm.describe(ARM)
    assert arm.set_parameter('robot_description', ARM_WITH_GRIPPER).successful
    if last == 'topic':
        arm.describe(ARM)
        assert "'arm'" in arm.told('other robot')
    assert arm.node.policy.robot.name == 'arm_with_gripper'
    assert change(arm, CLEAN_UP)
    assert change(arm, CONFIGURE)
    arm.until(lambda: arm.node.policy is not None and arm.is_settled())
    assert arm.node.policy.robot.name == 'arm_with_gripper'


def test_while_another_robot_is_withheld_the_old_one_is_activated(managed):
    arm = managed(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)
    second = Node('second', namespace='/robot', start_parameter_services=False)
    try:
        arm.executor.add_node(second)
        publisher = second.create_publisher(String, 'robot_description', LATCHED)
        arm.connect(publisher)
        publisher.publish(String(data=ARM.replace('name="arm"', 'name="other_arm"')))
        arm.until(lambda: "'other_arm'" in arm.told('other robot'))
        assert change(arm, DEACTIVATE)
        assert change(arm, ACTIVATE)
        assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)
    finally:
        arm.executor.remove_node(second)
        second.destroy_node()


def test_another_robot_after_a_cleanup(managed):
    arm = managed(joints=JOINTS, start_from='zero')
    arm.describe(ARM)
    assert change(arm, ACTIVATE)
    arm.answer(JOINTS, Q)
    assert change(arm, DEACTIVATE)
    assert change(arm, CLEAN_UP)
    arm.node.set_parameters([Parameter('joints', value=[*JOINTS, 'grip'])])
    arm.description.publish(String(data=ARM_WITH_GRIPPER))
    arm.settle()
    assert arm.node.policy is None
    assert change(arm, CONFIGURE)
    arm.until(lambda: arm.node.policy is not None)
    assert change(arm, ACTIVATE)
    names, q = [*JOINTS, 'grip'], [*Q, 0.02]
    received(arm)
    assert arm.answer([*names, 'thumb_joint'], [*q, 0.08]) == pytest.approx(
        Robot.from_urdf(ARM_WITH_GRIPPER).gravity(q), abs=1e-12)


def test_the_process_runs_also_while_there_is_no_robot(managed, monkeypatch):
    arm = managed(joints=JOINTS, state_timeout=0.1)
    assert change(arm, CLEAN_UP)
    gaps = []
    monkeypatch.setattr(
        arm.node.input_ages['joint_states'], 'note_alive', lambda now, gap: gaps.append(gap))
    arm.until(lambda: 0.1 in gaps)


def test_an_activation_without_a_robot_waits_for_it(managed):
    arm = managed(joints=JOINTS)
    assert change(arm, ACTIVATE)
    arm.describe(ARM)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)


WITHOUT_LIMIT = robot(
    '<link name="base"/>', link('upper'), joint('shoulder', 'base', 'upper', effort=0.0))


@pytest.mark.parametrize('description, joints, start_from, said', [
    ('<robot', JOINTS, 'zero', 'robot_description: refused: the robot description is not XML'),
    (WITHOUT_LIMIT, ['shoulder'], 'zero', 'effort_limits'),
    (ARM, JOINTS, 'measured', 'joint_states have no effort'),
])
def test_an_activation_that_could_send_nothing_is_refused(
        managed, capfd, description, joints, start_from, said):
    arm = managed(joints=joints, start_from=start_from, state_timeout=9.0)
    arm.describe(description)
    arm.state(joints, Q[:len(joints)])
    arm.settle()
    capfd.readouterr()
    assert not change(arm, ACTIVATE)
    line, = (line for line in capfd.readouterr().err.splitlines() if 'activate: refused' in line)
    assert said in line
    assert state(arm) == INACTIVE
    arm.set_parameter('start_from', 'zero')
    arm.describe(ARM)
    arm.set_parameter('joints', JOINTS)
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)


def refusal(arm, capfd) -> str:
    """Try to activate; return why that is refused."""
    capfd.readouterr()
    assert not change(arm, ACTIVATE)
    assert state(arm) == INACTIVE
    line, = (line for line in capfd.readouterr().err.splitlines() if 'activate: refused' in line)
    assert hold(arm, Q, 3) == []
    return line


def test_activation_is_refused_while_the_newest_robot_is_refused(managed, capfd):
    arm = managed(joints=JOINTS)
    arm.describe(ARM)
    arm.describe('<robot')
    assert 'robot_description: refused: the robot description is not XML' in refusal(arm, capfd)
    arm.describe(ARM)
    arm.until(lambda: not arm.told('robot_description'))
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)


def test_the_description_of_another_robot_is_used_after_a_deactivation(managed):
    arm = managed(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)
    other = ARM.replace('name="arm"', 'name="other_arm"').replace(
        'mass value="1.0"', 'mass value="3.0"')
    arm.describe(other)
    assert "'other_arm'" in arm.told('other robot')
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)
    assert change(arm, DEACTIVATE)
    assert change(arm, ACTIVATE)
    arm.until(lambda: arm.node.policy is not None and arm.node.policy.robot.name == 'other_arm')
    needed = Robot.from_urdf(other).gravity(Q)
    arm.until(lambda: arm.sends(JOINTS, Q) and (
        list(arm.efforts[-1].effort) == pytest.approx(needed, abs=1e-12)))


def test_an_activation_sends_nothing_for_the_older_robot(managed):
    arm = managed(joints=JOINTS, start_from='zero')
    arm.describe(ARM)
    with answers_held():
        arm.description.publish(String(data=ARM_WITH_GRIPPER))
        names, q = [*JOINTS, 'thumb_joint', 'grip'], [*Q, 0.08, 0.02]
        arm.until(lambda: arm.node.configuration.description == ARM_WITH_GRIPPER)
        assert change(arm, ACTIVATE)
        received(arm)
        arm.state(JOINTS, Q)
        arm.settle()
        assert received(arm) == []
    arm.until(arm.is_settled)
    assert arm.answer(names, q) == pytest.approx(
        Robot.from_urdf(ARM_WITH_GRIPPER).gravity([*Q, 0.02])[:2], abs=1e-12)


def test_an_activation_with_parameters_of_another_robot_is_refused(managed, capfd):
    arm = managed(joints=JOINTS)
    arm.describe(ARM)
    arm.describe('<robot')
    assert arm.set_parameter('joints', ['wheel']).successful  # it may be meant for the next robot
    arm.describe(ARM)
    arm.until(lambda: not arm.told('robot_description'))
    assert 'the parameters do not fit the robot in use: ' in refusal(arm, capfd)
    assert arm.set_parameter('joints', JOINTS).successful
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)


def test_an_activation_whose_first_cycle_has_an_error_is_refused(managed, capfd, monkeypatch):
    arm = managed(joints=JOINTS)
    arm.describe(ARM)

    def fails(_):
        raise ArgumentError('no decision')

    with monkeypatch.context() as patch:
        patch.setattr(arm.node.policy, 'decide', fails)
        assert 'no decision' in refusal(arm, capfd)
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)


def test_an_activation_beside_a_controller_of_other_joints_is_refused(managed, capfd):
    arm = managed(joints=JOINTS, effort_controller='effort_controller')
    controller = Controller(arm, 'effort_controller', joints=[*reversed(JOINTS)])
    arm.describe(ARM)
    arm.until(lambda: 'elbow, shoulder' in arm.told('effort_controller'))
    assert not change(arm, ACTIVATE)
    assert 'activate: refused' in capfd.readouterr().err
    controller.parameters['joints'] = JOINTS
    arm.until(lambda: not arm.told('effort_controller'))
    assert change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)
    controller.leave()


def test_an_impossible_transition_is_refused_and_the_node_goes_on(managed):
    arm = managed(joints=JOINTS)
    arm.describe(ARM)
    for impossible in (CONFIGURE, DEACTIVATE, 77):
        assert not change(arm, impossible)
    assert state(arm) == INACTIVE
    assert change(arm, ACTIVATE)
    assert not change(arm, ACTIVATE)
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)


@pytest.mark.parametrize('transition', [DEACTIVATE, SHUT_DOWN])
def test_after_a_defect_in_a_transition_it_fades_out(managed, monkeypatch, transition):
    arm = active(managed)
    send_last, calls = arm.node.send_last, []

    def fails_at_first():
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError('a defect')
        send_last()

    monkeypatch.setattr(arm.node, 'send_last', fails_at_first)
    assert not change(arm, transition)
    faded = received(arm)
    assert len(faded) > 5
    assert faded[-1] == pytest.approx(gravity(Q), abs=1e-12)
    assert state(arm) == UNCONFIGURED
    assert arm.node.policy is None
    assert change(arm, CONFIGURE)


# ---- enabled ------------------------------------------------------------------------------------

def test_enable_counts_while_active_and_else_names_the_state(managed):
    arm = managed(joints=JOINTS)
    arm.describe(ARM)
    reply = arm.call(SetBool, 'enable', data=False)
    assert reply.success and 'inactive' in reply.message
    assert change(arm, ACTIVATE)
    assert hold(arm, Q, 5) == []
    reply = arm.call(SetBool, 'enable', data=True)
    assert reply.success and 'inactive' not in reply.message
    assert arm.answer(JOINTS, Q) == pytest.approx(gravity(Q), abs=1e-12)
    assert change(arm, DEACTIVATE)
    assert 'inactive' in arm.call(SetBool, 'enable', data=True).message
    assert hold(arm, Q, 5) == []


# ---- the process --------------------------------------------------------------------------------

CUT_SHORT, TRIES = 'the final fade was cut short', 5
"""What the node says where a busy machine left no time for the fade; it does not each time."""


def test_a_signal_while_active_fades_out_first():
    assert any(fades_out_after_a_signal(attempt) for attempt in range(TRIES))


def fades_out_after_a_signal(attempt) -> bool:
    """Start, activate and interrupt a node; return whether it had the time to fade out."""
    namespace = f'/managed_{os.getpid()}_{attempt}'  # another run may use the same domain
    process = subprocess.Popen(
        [sys.executable, '-m', 'ros2_rnea.node.managed_node', '--ros-args', '-r',
         f'__ns:={namespace}', '-p', f'robot_description:={ARM!r}', '-p',
         'joints:=[shoulder, elbow]', '-p', 'start_from:=zero', '-p', 'blend_time:=0.0', '-p',
         'state_timeout:=10.0', '-p',
         'effort_rate_limit:=.inf', '-p', 'position_loop:=present', '-p',
         'path_tolerance:=0.0'],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    peer = Node('managed_peer', namespace=namespace)
    executor = SingleThreadedExecutor()
    executor.add_node(peer)
    try:
        commands = []
        peer.create_subscription(
            Float64MultiArray, 'inverse_dynamics/commands',
            lambda message: commands.append(list(message.data)), 100)
        states = peer.create_publisher(JointState, 'joint_states', 10)
        trajectory = peer.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        changes = peer.create_client(ChangeState, 'inverse_dynamics/change_state')
        states_of_it = peer.create_client(GetState, 'inverse_dynamics/get_state')

        def turn() -> None:
            states.publish(JointState(name=JOINTS, position=Q, velocity=[0.0, 0.0]))
            executor.spin_once(timeout_sec=0.01)

        def answer(client, request):
            """Ask again now and then: a process does not answer whom it has not discovered."""
            futures, asked = [], -1.0

            def is_answered() -> bool:
                nonlocal asked
                if monotonic() - asked > 1.0:
                    asked = monotonic()
                    futures.append(client.call_async(request))
                return any(future.done() for future in futures)

            until(client.service_is_ready, turn)
            until(is_answered, turn)
            return next(future.result() for future in futures if future.done())

        for transition, goal in ((CONFIGURE, INACTIVE), (ACTIVATE, ACTIVE)):
            assert not commands
            answer(changes, ChangeState.Request(transition=Transition(id=transition)))
            assert answer(states_of_it, GetState.Request()).current_state.id == goal
        until(lambda: commands, turn)

        def turn_in_motion() -> None:
            """Send the motion again, as the node may not have discovered its publisher."""
            trajectory.publish(JointTrajectory(joint_names=JOINTS, points=[JointTrajectoryPoint(
                positions=[q + 600.0 for q in Q], velocities=[0.0, 0.0],
                time_from_start=Duration(sec=60))]))
            turn()

        until(lambda: np.abs(np.array(commands[-1]) - gravity(Q)).max() > 0.05, turn_in_motion)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        until(lambda: CUT_SHORT in errors or commands[-1] == pytest.approx(gravity(Q), abs=1e-12),
              lambda: executor.spin_once(timeout_sec=0.05))
    finally:
        process.kill()
        executor.shutdown()
        peer.destroy_node()
    assert process.returncode == 0, errors
    assert 'Traceback' not in errors
    return CUT_SHORT not in errors
