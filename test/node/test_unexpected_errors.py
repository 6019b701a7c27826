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
"""Requests and errors that nobody has thought of: the node goes on, and the arm is held."""

from contextlib import ExitStack, nullcontext
from time import monotonic
from types import SimpleNamespace
from unittest.mock import Mock

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from patience import PATIENCE
import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.control.decision import State
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node import guarded_node, inverse_dynamics_node, monitor
from ros2_rnea.node.controllers import receivers
from ros2_rnea.node.controllers.controllers import Controllers
from ros2_rnea.node.controllers.receivers import Receivers
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from ros2_rnea.node.models.configuration import Configuration
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.topics.external_effort_publishers import ExternalEffortPublishers
from ros2_rnea.node.topics.inputs import Inputs
from ros2_rnea.node.topics.terms_publisher import TermsPublisher
from rosgraph_msgs.msg import Clock
from simulated_ros2_control import publish_state, SimulatedRos2Control
from small_robots import ARM
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
GRAVITY = Robot.from_urdf(ARM).gravity(Q)
DOUBLE, UNKNOWN, LARGEST = 3, 10, 255
"""Types of parameters, as messages have them."""

TRIES = 5
"""On a busy machine, DDS has once not connected a new participant with the node for minutes."""


def active(**arguments) -> ManagedInverseDynamicsNode:
    node = ManagedInverseDynamicsNode(**arguments)
    assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() is TransitionCallbackReturn.SUCCESS
    return node


@pytest.fixture(params=[InverseDynamicsNode, active], ids=['plain', 'managed'])
def arm(bench, request, short_fade):
    """Return an arm whose effort is that of gravity."""
    arm = bench(joints=JOINTS, state_timeout=10.0, create=request.param, mode='feedforward')
    arm.describe(ARM)
    arm.until(lambda: holds(arm.answer(JOINTS, Q)))
    return arm


def holds(effort) -> bool:
    return np.allclose(effort, GRAVITY, rtol=1e-9)


class UnheardOfError(Exception):
    """An error that no code expects."""


def fail(*_):
    raise UnheardOfError('nobody has thought of this')


def value(kind: int, **fields) -> ParameterValue:
    """Return the value of a parameter; rclpy's class would refuse an unknown type."""
    return ParameterValue(type=kind, **fields)


# ---- requests to rclpy's own services -----------------------------------------------------------

@pytest.mark.parametrize('kind', [UNKNOWN, LARGEST])
def test_only_the_parameter_of_an_unknown_type_is_refused(arm, kind):
    results = arm.call(SetParameters, 'set_parameters', parameters=[
        ParameterMessage(name='blend_time', value=value(kind)),
        ParameterMessage(name='lookahead', value=value(3, double_value=0.25)),
    ]).results
    assert [result.successful for result in results] == [False, True]
    assert results[0].reason == (
        f'blend_time has a value of type {kind}; the types of rcl_interfaces/ParameterType are 0 '
        'to 9')
    assert arm.node.get_parameter('lookahead').value == 0.25
    assert holds(arm.answer(JOINTS, Q))
    assert arm.node.unexpected_errors == 0


@pytest.mark.parametrize('kind', [UNKNOWN, LARGEST])
def test_parameters_that_are_set_together_are_refused_together(arm, kind):
    result = arm.call(SetParametersAtomically, 'set_parameters_atomically', parameters=[
        ParameterMessage(name='lookahead', value=value(3, double_value=0.25)),
        ParameterMessage(name='blend_time', value=value(kind)),
    ]).result
    assert not result.successful
    assert f'type {kind}' in result.reason
    assert arm.node.get_parameter('lookahead').value == 0.0
    assert holds(arm.answer(JOINTS, Q))


@pytest.mark.parametrize('name', [
    'blend_time', 'joints', 'enabled', 'rate', 'use_sim_time', 'effort_limits.elbow'])
def test_a_parameter_cannot_be_deleted(arm, name):
    if name == 'effort_limits.elbow':
        assert arm.set_parameter(name, 50.0).successful
    (result,) = arm.call(SetParameters, 'set_parameters', parameters=[
        ParameterMessage(name=name, value=value(0))]).results
    assert not result.successful
    assert arm.node.has_parameter(name)
    assert arm.call(SetBool, 'enable', data=True).success
    assert holds(arm.answer(JOINTS, Q))


def test_why_a_parameter_cannot_be_deleted(arm):
    result = arm.node.set_parameters([Parameter('blend_time')])[0]
    assert result.reason == (
        'the parameter blend_time cannot be deleted; set another value')


@pytest.mark.parametrize('rate', [1e-300, 1e-12, 0.999])
def test_a_rate_that_means_nothing_is_refused(arm, rate):
    result = arm.set_parameter('rate', rate)
    assert not result.successful
    assert result.reason == f'rate is {rate}; it needs a number from 1 to 10000, or 0'
    assert holds(arm.answer(JOINTS, Q))


@pytest.mark.parametrize('rate, timeout, words', [
    (5.0, 0.1, ['5 Hz', '0.2 s', '0.1 s', '10 Hz or more']), (99.0, 0.01, ['99 Hz', '100 Hz'])])
def test_a_rate_too_slow_for_the_state_timeout_is_refused(arm, rate, timeout, words):
    assert arm.set_parameter('rate', rate).successful
    result = arm.set_parameter('state_timeout', timeout)
    assert not result.successful
    for word in words:
        assert word in result.reason
    assert arm.node.set_parameters_atomically([
        Parameter('state_timeout', value=timeout), Parameter('rate', value=1.0 / timeout),
        ]).successful
    result = arm.set_parameter('rate', rate)
    assert not result.successful and 'state_timeout' in result.reason


@pytest.mark.parametrize('rate, timeout', [(33.3333, 0.03), (49.0, 1.0 / 49.0), (10.0, 0.1)])
def test_the_rate_that_a_refusal_asks_for_is_set(arm, rate, timeout):
    assert arm.set_parameter('state_timeout', timeout).successful
    result = arm.set_parameter('rate', 0.9 * rate)
    assert f'a rate of {rate:g} Hz or more' in result.reason
    assert arm.set_parameter('rate', rate).successful


@pytest.mark.parametrize('rate', [0.0, 1.0, 10000.0])
def test_the_rates_at_the_bounds_are_set(arm, rate):
    assert arm.set_parameter('rate', rate).successful


def test_a_negative_second_on_clock_is_ignored(bench):
    arm = bench(joints=JOINTS, use_sim_time=True, state_timeout=10.0)
    clock = arm.peer.create_publisher(Clock, '/clock', 10)
    arm.connect(clock)
    for second in (5, -1, 6):
        clock.publish(Clock(clock=Time(sec=second)))
    arm.until(lambda: arm.node.get_clock().now().nanoseconds == 6 * 10 ** 9)
    arm.describe(ARM)
    arm.until(lambda: holds(arm.answer(JOINTS, Q)))


# ---- an unexpected exception in a callback ------------------------------------------------------

def test_an_error_in_a_callback_is_logged_with_its_traceback(arm, monkeypatch, capfd):
    monkeypatch.setattr(arm.node.policy, 'motion_start', fail)
    capfd.readouterr()
    for _ in range(3):
        arm.send_trajectory(JOINTS, [(1.0, Q)])
    arm.until(lambda: arm.node.unexpected_errors == 3)
    log = capfd.readouterr().err
    assert log.count('UnheardOfError: nobody has thought of this') == 1  # not three times
    assert 'Traceback' in log
    assert 'in fail' in log
    assert holds(arm.answer(JOINTS, Q))


def test_a_service_answers_that_it_has_failed(arm, monkeypatch):
    monkeypatch.setattr(arm.node.policy, 'effort_after_stop', fail)
    response = arm.call(SetBool, 'enable', data=False)
    assert not response.success
    assert response.message == 'UnheardOfError: nobody has thought of this'
    assert arm.node.unexpected_errors == 1


def test_setting_a_parameter_answers_that_it_has_failed(arm, monkeypatch):
    monkeypatch.setattr(arm.node, 'set_parameters_atomically', fail)
    one, other = arm.call(SetParameters, 'set_parameters', parameters=[
        ParameterMessage(name=name, value=value(DOUBLE, double_value=0.5))
        for name in ('blend_time', 'lookahead')]).results
    assert not one.successful
    assert 'UnheardOfError' in other.reason


def test_setting_parameters_together_reports_errors_or_sets_them(arm, monkeypatch):
    together = [ParameterMessage(name='lookahead', value=value(3, double_value=0.25))]
    with monkeypatch.context() as broken:
        broken.setattr(arm.node, 'set_parameters_atomically', fail)
        result = arm.call(
            SetParametersAtomically, 'set_parameters_atomically', parameters=together).result
        assert not result.successful
        assert 'UnheardOfError' in result.reason
    assert arm.call(
        SetParametersAtomically, 'set_parameters_atomically', parameters=together,
        ).result.successful
    assert arm.node.get_parameter('lookahead').value == 0.25


def test_a_service_is_guarded_once_and_lets_the_end_pass(arm):
    guarded = [service.callback for service in arm.node.services]
    arm.node.guard_services()
    assert [service.callback for service in arm.node.services] == guarded

    def end(*_):
        raise ExternalShutdownException

    for callback in (arm.node.guarded(end), arm.node.guarded_service(end)):
        with pytest.raises(ExternalShutdownException):
            callback(None, None)
    assert arm.node.unexpected_errors == 0


def test_an_error_of_the_executor_does_not_end_the_node(monkeypatch):
    """Without the executor: it raises where a message cannot be deserialized, for example."""
    node = Mock()
    signals = Mock(have_come=lambda: node.report_unexpected.call_count == 3)
    for name, fake in (
            ('rclpy', Mock()), ('EndSignals', lambda: signals), ('unblocked_log', nullcontext),
            ('shared_memory_warning', lambda _: ''), ('make_executor', Mock()),
            ('Spinning', lambda *_: SimpleNamespace(spin=fail))):
        monkeypatch.setattr(inverse_dynamics_node, name, fake)
    inverse_dynamics_node.run(lambda: node)
    assert [(where, str(error)) for (where, error), _ in node.report_unexpected.call_args_list
            ] == 3 * [('the executor', 'nobody has thought of this')]


@pytest.mark.parametrize('failing', [
    TermsPublisher, ExternalEffortPublishers, Inputs, Configuration, Controllers, Receivers])
def test_what_fails_each_second_keeps_nothing_else_from_being_done(arm, monkeypatch, failing):
    done = []
    for where, name in ((monitor, 'check_publishers'), (monitor, 'check_policy'),
                        (Controllers, 'poll')):
        monkeypatch.setattr(where, name, lambda *_, name=name: done.append(name))
    monkeypatch.setattr(failing, 'poll', fail)
    arm.poll()
    assert arm.node.unexpected_errors == 1
    expected = ['poll', 'check_publishers', 'check_policy']
    assert done == (expected[1:] if failing is Controllers else expected)


def test_a_waiting_robot_keeps_no_state_from_that_in_use(arm, monkeypatch):
    taken = []
    take = arm.node.policy.take_joint_state
    monkeypatch.setattr(
        arm.node.policy, 'take_joint_state', lambda *state: taken.append('in use') or take(*state))
    waiting = SimpleNamespace(take_joint_state=lambda *_: taken.append('waiting') or fail())
    monkeypatch.setattr(Configuration, 'waiting_policy', property(lambda _: waiting))
    assert holds(arm.answer(JOINTS, Q))
    assert taken == ['in use', 'waiting']
    assert arm.node.unexpected_errors == 1
    arm.state(JOINTS, Q[:1])
    arm.until(lambda: arm.refused('joint_states'))
    assert taken == 2 * ['in use', 'waiting']  # though the one in use has refused the state


# ---- an unexpected exception in the cycle -------------------------------------------------------

SAID = 'unexpected error has occurred in the cycle'


def fail_in_the_cycle(arm, monkeypatch):
    """Let one cycle fail."""
    with monkeypatch.context() as broken:
        broken.setattr(arm.node.policy, 'decide', fail)
        arm.state(JOINTS, Q)
        arm.until(lambda: arm.node.unexpected_errors)


@pytest.mark.parametrize('on_stop', ['gravity', 'zero'])
def test_after_a_cycle_error_the_arm_is_held_until_enable(arm, monkeypatch, on_stop):
    assert arm.set_parameter('on_stop', on_stop).successful
    sent = len(arm.commands)
    fail_in_the_cycle(arm, monkeypatch)
    arm.until(lambda: arm.answer(JOINTS, Q) and arm.node.policy.state is State.FAULT)
    for _ in range(3):  # good cycles change nothing
        assert holds(arm.answer(JOINTS, Q))
    assert all(map(holds, arm.commands[sent:]))
    arm.until(lambda: SAID in arm.diagnostics[-1].message
              and 'UnheardOfError: nobody has thought of this' in arm.diagnostics[-1].message
              and arm.diagnostics[-1].level == DiagnosticStatus.ERROR)
    refused = arm.refused('joint_trajectory')
    arm.send_trajectory(JOINTS, [(1.0, [0.9, -0.8])])
    arm.until(lambda: arm.refused('joint_trajectory') > refused)
    assert 'call ~/enable with true' in arm.told('joint_trajectory')
    assert arm.call(SetBool, 'enable', data=True).success
    assert holds(arm.answer(JOINTS, Q)) and arm.node.policy.state is State.GRAVITY


def test_enable_says_what_is_missing_to_leave_the_fault(arm, monkeypatch):
    fail_in_the_cycle(arm, monkeypatch)
    arm.until(lambda: arm.answer(JOINTS, Q, [0.0, 0.0]) and arm.node.policy.state is State.FAULT)
    arm.until(lambda: arm.answer(JOINTS, Q, [0.0, 0.3]) and (
        arm.node.policy.memory.rest.moving_joint() is not None))
    answer = arm.call(SetBool, 'enable', data=True)
    assert not answer.success
    assert SAID in answer.message and "joint 'elbow' still moves" in answer.message
    assert arm.node.policy.state is State.FAULT
    assert arm.call(SetBool, 'enable', data=False).success  # which is never refused
    arm.until(lambda: arm.state(JOINTS, Q, [0.0, 0.0]) or not arm.node.policy.is_sending)
    arm.until(lambda: arm.state(JOINTS, Q, [0.0, 0.0]) or (
        arm.node.policy.memory.rest.moving_joint() is None))
    assert arm.call(SetBool, 'enable', data=True).success
    arm.until(lambda: holds(arm.answer(JOINTS, Q, [0.0, 0.0])))


def test_a_process_that_newly_receives_commands_gets_no_last_effort(arm, monkeypatch):
    """It does not hold the effort before."""
    sent = len(arm.commands)
    monkeypatch.setattr(Receivers, 'have_changed', lambda *_: True)
    fail_in_the_cycle(arm, monkeypatch)
    assert not arm.node.policy.is_sending
    arm.settle()
    assert len(arm.commands) == sent


def test_the_arm_is_held_though_looking_at_the_receivers_fails(arm, monkeypatch):
    sent = len(arm.commands)
    monkeypatch.setattr(Receivers, 'have_changed', fail)
    for _ in range(10):
        arm.answer(JOINTS, Q)
    arm.settle()
    assert len(arm.commands) >= sent + 10 and all(map(holds, arm.commands[sent:]))


@pytest.mark.parametrize('how', ['unexpected', 'refused'])
def test_where_braking_fails_nothing_is_sent_until_enable(arm, monkeypatch, how):
    sent = len(arm.commands)
    with monkeypatch.context() as broken:
        broken.setattr(arm.node.policy, 'decide', fail if how == 'unexpected' else refuse)
        broken.setattr(arm.node.policy, 'decide_last', fail if how == 'unexpected' else refuse)
        arm.state(JOINTS, Q)
        errors = 2 if how == 'unexpected' else 1
        arm.until(lambda: arm.node.unexpected_errors == errors)
        assert not arm.sends(JOINTS, Q)
        assert arm.node.unexpected_errors == errors
    assert not arm.sends(JOINTS, Q)
    assert len(arm.commands) == sent
    assert arm.call(SetBool, 'enable', data=True).success
    arm.until(lambda: holds(arm.answer(JOINTS, Q)))
    assert arm.node.policy.state is State.GRAVITY


def refuse(*_):
    raise ArgumentError('this motion has no effort')


def test_while_no_effort_can_be_computed_on_stop_counts(arm, monkeypatch):
    assert arm.set_parameter('on_stop', 'zero').successful
    assert arm.set_parameter('state_timeout', 1.0).successful
    assert arm.set_parameter('blend_time', 0.05).successful
    with monkeypatch.context() as broken:
        broken.setattr(arm.node.policy, 'decide', refuse)
        arm.until(lambda: arm.state(JOINTS, Q) or not arm.node.policy.is_sending)
        arm.until(lambda: list(arm.commands[-1]) == [0.0, 0.0])
        assert not arm.sends(JOINTS, Q)
        said = 'the effort cannot be computed: nothing is sent; this motion has no effort'
        arm.until(lambda: arm.diagnostics[-1].message == said
                  and arm.diagnostics[-1].level == DiagnosticStatus.ERROR)
        assert arm.told('cycle') == 'refused: this motion has no effort'
    assert arm.node.unexpected_errors == 0
    arm.until(lambda: holds(arm.answer(JOINTS, Q)))


def test_an_effort_whose_time_is_over_counts_as_not_sent(arm, monkeypatch):
    """Otherwise the next one might differ by two cycles from the one that is held."""
    held = arm.node.policy.held_effort()
    send = EffortPublishers.send
    with monkeypatch.context() as late:
        late.setattr(EffortPublishers, 'send', lambda *about: send(*about[:-1], 0.0))
        for _ in range(3):
            taken = arm.accepted('joint_states')
            arm.state(JOINTS, [1.2, 0.4])
            arm.until(lambda taken=taken: arm.accepted('joint_states') > taken)
        assert arm.node.policy.held_effort() == held
    arm.until(lambda: holds(arm.answer(JOINTS, Q)))


def test_an_activation_does_not_leave_a_fault(bench, monkeypatch):
    arm = bench(joints=JOINTS, state_timeout=10.0, create=active)
    arm.describe(ARM)
    arm.until(lambda: holds(arm.answer(JOINTS, Q)))
    fail_in_the_cycle(arm, monkeypatch)
    arm.answer(JOINTS, Q)
    assert arm.node.trigger_deactivate() is TransitionCallbackReturn.SUCCESS
    assert arm.node.trigger_activate() is TransitionCallbackReturn.FAILURE
    assert arm.call(SetBool, 'enable', data=True).success
    assert arm.node.trigger_activate() is TransitionCallbackReturn.SUCCESS
    arm.until(lambda: holds(arm.answer(JOINTS, Q)))


def comes(arm, condition, seconds) -> bool:
    """Return whether a condition holds within so many seconds."""
    end = monotonic() + seconds
    arm.until(lambda: condition() or monotonic() > end)
    return bool(condition())


def test_an_impossible_answer_from_elsewhere_does_not_end_the_node(start_arm, monkeypatch):
    """The executor calls back when it arrives, and EventsExecutor crashes if that raises."""
    # named, since DDS may lose the names of nodes while a process stands still for long
    arm = start_arm(effort_controller='effort_controller')
    with ExitStack() as controllers:
        for _ in range(TRIES):
            controllers.close()
            controller = SimulatedRos2Control(
                has_manager=False, parameters={'joints': ParameterValue(type=LARGEST)})
            controllers.callback(controller.end)
            if comes(arm, lambda: arm.node.unexpected_errors, PATIENCE / TRIES):
                break
        assert arm.node.unexpected_errors
        monkeypatch.setattr(receivers, 'LONGEST_WAIT', 0.2)  # its joints are never known
        assert arm.set_parameter('effort_controller', '').successful
        arm.until(lambda: publish_state(arm) or arm.efforts)


def test_every_callback_is_guarded(arm):
    """One that is called by the executor itself would end the node with its first error."""
    node = arm.node
    for entity in (*node.subscriptions, *node.services, *node.timers):
        assert entity.callback.__code__.co_filename == guarded_node.__file__, entity
