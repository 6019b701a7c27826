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

from itertools import cycle, pairwise

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Inertia
from made_parts import efforts_sent
import numpy as np
import pytest
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial
from ros2_rnea.node import monitor
from sensor_msgs.msg import JointState
from small_robots import ARM, ARM_WITH_GRIPPER
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
GRAVITY = Robot.from_urdf(ARM).gravity(Q)
BLENDED = {
    'blend_time': 0.3, 'effort_rate_limit': 1000.0, 'wrench_fade_time': 0.3,
    'position_loop': 'present'}  # something holds this arm, which never moves


def close(effort, expected):
    return np.allclose(effort, expected, rtol=1e-9)


@pytest.fixture
def bench(bench, monkeypatch):
    """Return a function that starts an arm, which has the efforts that it sends as ``sent``."""
    def start(**parameters):
        arm = bench(**parameters)
        arm.sent = efforts_sent(monkeypatch, arm)
        return arm

    return start


def arm_at_work(bench, **parameters):
    """Return an arm that has been answered until its effort is that of gravity."""
    arm = bench(**{'joints': JOINTS, 'state_timeout': 0.2, **BLENDED, **parameters})
    arm.describe(ARM)
    arm.until(lambda: close(arm.answer(JOINTS, Q), GRAVITY))
    return arm


def largest_step(arm):
    return max(np.abs(np.subtract(*pair)).max() for pair in pairwise(arm.commands))


def highest_rates(arm, first=0):
    """Return how fast each effort has changed from one of those that were sent on [Nm/s]."""
    return np.max([np.abs(other - one) / (after - before) for (before, one), (after, other) in
                   pairwise(arm.sent[first:]) if after > before], axis=0)


def highest_rate(arm, first=0):
    """Return the highest of them [Nm/s]."""
    return highest_rates(arm, first).max()


def test_a_start_is_blended(bench):
    arm = arm_at_work(bench)
    assert arm.commands[0] == [0.0, 0.0]
    assert len(arm.commands) > 1
    assert largest_step(arm) < 10.1


@pytest.mark.parametrize('name, value, factor', [
    ('gravity', [0.0, 0.0, 9.81], -1.0), ('mode', 'gravity_compensation', 1.0)])
def test_a_changed_setting_is_blended_in(bench, name, value, factor):
    arm = arm_at_work(bench)
    assert arm.set_parameter(name, value).successful
    assert not close(arm.answer(JOINTS, Q), -GRAVITY)
    arm.until(lambda: close(arm.answer(JOINTS, Q), factor * GRAVITY))


def test_a_new_description_is_blended_in(bench):
    arm = arm_at_work(bench)
    arm.describe(ARM.replace('mass value="1.0"', 'mass value="2.0"'))
    assert not close(arm.answer(JOINTS, Q), 2.0 * GRAVITY)
    arm.until(lambda: close(arm.answer(JOINTS, Q), 2.0 * GRAVITY))


@pytest.mark.parametrize('by', ['topic', 'parameter'])
def test_an_identified_model_comes_into_force_within_the_rate_limit(bench, by):
    arm = arm_at_work(bench, blend_time=0.0, effort_rate_limit=20.0)
    before, identified = len(arm.sent), ARM.replace('mass value="1.0"', 'mass value="1.2"')
    expected = Robot.from_urdf(identified).gravity(Q)
    if by == 'topic':
        arm.describe(identified)
    else:
        assert arm.set_parameter('robot_description', identified).successful
    arm.until(lambda: close(arm.answer(JOINTS, Q), expected))
    assert np.abs(arm.sent[-1][1] - arm.sent[before - 1][1]).max() > 0.5
    assert highest_rate(arm, before - 1) <= 20.0 * (1.0 + 1e-9)


def test_a_new_payload_is_blended_in(bench):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    arm = arm_at_work(bench)
    loaded = Robot.from_urdf(ARM).with_payload('box', 'tool', Inertial(2.0)).gravity(Q)
    assert arm.call(
        interfaces.SetPayload, 'set_payload', name='box', link='tool', inertia=Inertia(m=2.0),
        ).success
    assert not close(arm.answer(JOINTS, Q), loaded)
    arm.until(lambda: close(arm.answer(JOINTS, Q), loaded))
    assert largest_step(arm) < 10.1


def test_new_gravity_is_blended_in(bench):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    arm = arm_at_work(bench)
    request = interfaces.SetGravity.Request()
    request.gravity.vector.z = 9.81
    assert arm.call(interfaces.SetGravity, 'set_gravity', gravity=request.gravity).success
    assert not close(arm.answer(JOINTS, Q), -GRAVITY)
    arm.until(lambda: close(arm.answer(JOINTS, Q), -GRAVITY))
    assert largest_step(arm) < 10.1


def test_after_enable_efforts_set_out_from_the_held_command(bench):
    arm = arm_at_work(bench)
    arm.call(SetBool, 'enable', data=False)
    arm.settle()
    arm.call(SetBool, 'enable', data=True)
    first = arm.answer(JOINTS, [1.5, 0.0])
    np.testing.assert_allclose(first, GRAVITY, rtol=1e-6)


def value_of(arm, key):
    """Return a value of the newest diagnostics."""
    return next((v.value for v in arm.diagnostics[-1].values if v.key == key), '')


def test_by_default_the_rate_depends_on_the_size_of_joints(bench):
    """A joint takes 0.05 s to its limit; one of more than 50 Nm has 1000 Nm/s."""
    arm = bench(joints=JOINTS, blend_time=0.0, effort_rate_limit=0.0, position_loop='present')
    arm.describe(ARM.replace('effort="40.0"', 'effort="12.0"'))
    arm.until(lambda: close(arm.answer(JOINTS, Q), GRAVITY))
    rates, moments = pytest.approx([1000.0, 12.0 / 0.05], rel=1e-9), cycle([900.0, -900.0])

    def swing(moment):
        """Push the arm until its elbow is at the limit, or so long that it is on neither way."""
        for _ in range(300):  # a wrench that was reduced meanwhile takes it to no limit
            arm.push('tool', moment=(0.0, moment, 0.0))
            if arm.answer(JOINTS, Q)[1] * moment <= -12.0 * abs(moment):
                break

    def has_both_rates():
        swing(next(moments))
        return highest_rates(arm) == rates

    arm.until(has_both_rates)  # a busy machine may take a whole swing in one step


def test_the_rate_is_held_and_told(bench):
    arm = arm_at_work(bench, blend_time=0.0, effort_rate_limit=20.0)
    arm.answer(JOINTS, [1.5, 0.0])
    assert 'shoulder' in arm.told('effort rate')
    arm.until(lambda: '(0.00%)' not in value_of(arm, 'commands limited in rate'))
    assert highest_rate(arm) <= 20.0 * (1 + 1e-9)


def test_a_wrench_that_stops_fades(bench):
    robot, rest = Robot.from_urdf(ARM), [0.0, 0.0]
    whole = robot.inverse_dynamics(Q, rest, rest, {'tool': [0.0, 0.0, 0.0, 3.0, 0.0, 1.0]})
    arm = arm_at_work(bench, wrench_timeout=0.1)

    def is_compensated():
        arm.push('tool', force=(3.0, 0.0, 1.0))
        return close(arm.answer(JOINTS, Q), whole)

    arm.until(is_compensated)
    arm.commands.clear()
    arm.until(lambda: close(arm.answer(JOINTS, Q), GRAVITY))
    left = np.linalg.norm(np.array(arm.commands) - GRAVITY, axis=1)
    assert any(0.02 < share < 0.98 for share in left / np.linalg.norm(whole - GRAVITY))


def test_a_wrench_in_an_unknown_frame_replaces_none(bench):
    arm = arm_at_work(bench, wrench_timeout=0.3)
    arm.push('tool', force=(3.0, 0.0, 1.0))
    arm.until(lambda: not close(arm.answer(JOINTS, Q), GRAVITY))

    def lost():
        arm.push('tol', force=(3.0, 0.0, 1.0))
        return close(arm.answer(JOINTS, Q), GRAVITY)

    arm.until(lost)
    assert "did you mean 'tool'" in arm.told('wrench')
    assert largest_step(arm) < 10.1


def test_two_publishers_may_share_the_joints(bench):
    """Each joint has one of them, from the start on."""
    arm = bench(joints=JOINTS, state_timeout=9.0, state_depth=10, **BLENDED)
    arm.describe(ARM)
    second = arm.peer.create_publisher(JointState, 'joint_states', 10)
    arm.until(lambda: second.get_subscription_count() and arm.node.count_publishers(
        arm.states.topic_name) == 2)

    def shared():
        second.publish(JointState(name=['elbow', 'gripper'], position=[0.5, 0.0]))
        return close(arm.answer(['shoulder'], [0.3]), Robot.from_urdf(ARM).gravity([0.3, 0.5]))

    arm.until(shared)
    assert all(shared() for _ in range(10))
    assert not arm.refused('joint_states')


def test_of_two_publishers_of_states_the_lagging_is_refused(bench):
    arm = arm_at_work(bench, state_depth=10)
    second = arm.peer.create_publisher(JointState, 'joint_states', 10)
    arm.until(second.get_subscription_count)
    late = JointState(name=JOINTS, position=[1.5, 0.0])
    late.header.stamp.sec = 99

    def refused():
        effort = arm.answer(JOINTS, Q, stamp=100.0)
        second.publish(late)
        return arm.refused('joint_states') > 3 and close(effort, GRAVITY)

    arm.until(refused)
    assert 'older than that of the state in use' in arm.told('joint_states')
    assert close(arm.answer(JOINTS, Q, stamp=100.0), GRAVITY)


def test_a_joint_at_its_end_is_not_pushed_on(bench):
    arm = bench(joints=JOINTS, wrench_timeout=60.0)
    arm.describe(ARM)
    arm.push('tool', moment=(0.0, -30.0, 0.0))
    arm.until(lambda: arm.accepted('wrench') == 1)
    effort = arm.answer(JOINTS, [3.0, 0.0])
    assert effort[0] == pytest.approx(Robot.from_urdf(ARM).gravity([3.0, 0.0])[0])
    assert 'shoulder' in arm.told('joint limits')


# ---- plausible_speed_factor ---------------------------------------------------------------------


def test_impossible_positions_are_refused_until_three_agree(bench):
    arm = arm_at_work(bench, plausible_speed_factor=0.1, state_timeout=5.0)
    far = [Q[0], Q[1] + 1.5]
    for refused in (1, 2):
        arm.state(JOINTS, far)
        arm.until(lambda expected=refused: arm.refused('joint_states') == expected)
    assert "'elbow' is at 0.7" in arm.told('joint_states')
    assert close(arm.answer(JOINTS, Q), GRAVITY)  # so that they were not in succession
    for refused in (3, 4):
        arm.state(JOINTS, far)
        arm.until(lambda expected=refused: arm.refused('joint_states') == expected)
    count = len(arm.commands)
    held = Robot.from_urdf(ARM).gravity(far)
    arm.until(lambda: close(arm.answer(JOINTS, far), held))
    assert close(arm.commands[count], GRAVITY)
    assert arm.refused('joint_states') == 4
    assert largest_step(arm) < 10.1


# ---- path_tolerance -----------------------------------------------------------------------------


@pytest.mark.parametrize('tolerance, status', [(0.2, 'path_deviation'), (0.0, 'following')])
def test_a_robot_that_leaves_its_path_is_held_there(bench, tolerance, status):
    arm = arm_at_work(bench, path_tolerance=tolerance)
    arm.send_trajectory(JOINTS, [(300.0, [0.9, -0.2])])
    arm.until(lambda: arm.answer(JOINTS, Q) and told_state(arm) == 'following')
    away = [0.3, -0.3]
    held = Robot.from_urdf(ARM).gravity(away)
    for _ in range(10):
        arm.answer(JOINTS, away)
    arm.until(lambda: arm.answer(JOINTS, away) and told_state(arm) == status)
    if tolerance:
        arm.until(lambda: close(arm.answer(JOINTS, away), held))
        assert 'elbow by +0.' in arm.diagnostics[-1].message
        arm.until(lambda: arm.answer(JOINTS, Q) and told_state(arm) == 'following')
    assert largest_step(arm) < 10.1


def told_state(arm):
    return value_of(arm, 'reason')


# ---- on_stop ------------------------------------------------------------------------------------


def pushed(bench, **parameters):
    """Return an arm with an effort that is not that of gravity, and this effort."""
    arm = arm_at_work(bench, **{
        'gravity': [0.0, 0.0, -9.81], 'wrench_timeout': 60.0, 'state_timeout': 1.0, **parameters})
    arm.push('tool', force=(9.0, 0.0, 3.0))
    arm.until(lambda: not close(arm.answer(JOINTS, Q), GRAVITY))
    arm.until(lambda: close(arm.answer(JOINTS, Q), arm.answer(JOINTS, Q)))
    effort = arm.answer(JOINTS, Q)
    assert np.abs(effort - GRAVITY).max() > 1.0
    return arm, effort


def joint_states_stop(arm):
    """No message is published any more."""


def the_node_is_disabled(arm):
    return arm.call(SetBool, 'enable', data=False).message


def the_node_ends(arm):
    arm.node.send_last()


@pytest.mark.parametrize('stop', [joint_states_stop, the_node_is_disabled, the_node_ends])
@pytest.mark.parametrize('how, expected', [('gravity', GRAVITY), ('zero', [0.0, 0.0])])
def test_whatever_stops_it_the_effort_fades_out_first(bench, stop, how, expected):
    arm, effort = pushed(bench, on_stop=how)
    before = len(arm.commands)
    reply = stop(arm)
    arm.until(lambda: np.allclose(arm.commands[-1], expected, atol=1e-9))
    led = [effort, *arm.commands[before:]]
    assert len(led) > 5
    if reply:
        assert all(f'{joint} {value:.3f}' in reply for joint, value in zip(JOINTS, expected))
    arm.settle(0.3)
    count = len(arm.commands)
    if stop is the_node_is_disabled:
        arm.state(JOINTS, [1.5, 0.0])
    arm.settle(0.1)
    assert len(arm.commands) == count
    assert largest_step(arm) < 10.1
    if stop is not the_node_ends:
        arm.until(lambda: 'nothing is sent' in arm.diagnostics[-1].message)


def test_the_final_fade_is_told_in_the_diagnostics(bench):
    arm, _ = pushed(bench)
    assert arm.set_parameter('state_timeout', 2.0).successful
    arm.answer(JOINTS, Q)
    arm.until(lambda: any(
        value.value == 'stopping' for value in arm.diagnostics[-1].values))
    assert 'fades to that of on_stop' in arm.diagnostics[-1].message


def test_joint_states_during_the_final_fade_are_followed_smoothly(bench):
    arm, effort = pushed(bench)
    arm.until(lambda: arm.status().name == 'STOPPING')
    arm.until(lambda: close(arm.answer(JOINTS, Q), effort))
    assert largest_step(arm) < 10.1


@pytest.mark.parametrize('limit', ['', 'effort="0"', 'effort="1e30"'])
def test_nothing_is_sent_without_a_usable_effort_limit(bench, limit):
    arm = bench(joints=JOINTS, state_timeout=5.0)
    arm.describe(ARM.replace('effort="100.0"', limit))
    assert not arm.sends(JOINTS, Q)
    arm.until(lambda: any(
        'effort_limits: {shoulder: ...}' in status.message
        and status.level == DiagnosticStatus.ERROR for status in arm.diagnostics))
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    assert arm.call(interfaces.ComputeGravity, 'compute_gravity').success
    assert not arm.set_parameter('effort_limits.shoulder', -1.0).successful
    assert not arm.set_parameter('effort_limits.shoulder', 'strong').successful
    assert arm.set_parameter('effort_limits.shoulder', 50).successful
    assert close(arm.answer(JOINTS, Q), GRAVITY)


def test_effort_limits_in_the_file_count_for_what_is_sent(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0, effort_limits__shoulder=4.0)
    arm.describe(ARM.replace('effort="100.0"', 'effort="0"'))
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    arm.push('tool', moment=(0.0, 9.0, 0.0))
    arm.until(lambda: abs(arm.answer(JOINTS, Q)[0]) == 4.0)


WEAKER = [
    ('effort_limits.shoulder', 0.5), ('effort_limit_factor', 0.0),
    ('gravity', [0.0, 0.0, -981.0]), ('spring_stiffness.shoulder', 1e4)]


@pytest.mark.parametrize('name, value', WEAKER)
def test_a_stop_is_never_refused_and_the_arm_is_held(bench, name, value):
    arm = bench(joints=JOINTS, state_timeout=1.0)
    arm.describe(ARM)
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    result = arm.node.set_parameters_atomically(
        [Parameter('enabled', value=False), Parameter(name, value=value)])
    assert result.successful, result.reason
    arm.until(lambda: not arm.node.policy.is_sending)
    arm.settle(0.0)  # the last command may still be on its way
    assert close(arm.commands[-1], GRAVITY)
    count = len(arm.commands)
    assert arm.set_parameter('enabled', True).successful
    assert not arm.sends(JOINTS, Q)
    arm.settle(0.0)
    assert len(arm.commands) == count


@pytest.mark.parametrize('name, value', WEAKER)
def test_parameters_that_would_drop_the_arm_are_refused_while_sending(bench, name, value):
    arm = bench(joints=JOINTS, state_timeout=1.0)
    arm.describe(ARM)
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    result = arm.set_parameter(name, value)
    assert not result.successful
    assert 'shoulder needs' in result.reason and 'enabled' in result.reason
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    assert arm.set_parameter('enabled', False).successful
    arm.until(lambda: not arm.node.policy.is_sending)
    assert close(arm.commands[-1], GRAVITY)
    assert arm.set_parameter(name, value).successful
    assert arm.set_parameter('enabled', True).successful
    assert not arm.sends(JOINTS, Q)


def test_a_payload_too_heavy_to_hold_is_refused_while_sending(bench):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    arm = bench(joints=JOINTS, state_timeout=1.0, payload_links=['tool'])
    arm.describe(ARM)
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    request = {'name': 'box', 'link': 'tool', 'inertia': Inertia(m=900.0)}
    reply = arm.call(interfaces.SetPayload, 'set_payload', **request)
    assert not reply.success and 'shoulder needs' in reply.message
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    assert not arm.node.policy.robot.payloads
    arm.call(SetBool, 'enable', data=False)
    arm.until(lambda: not arm.node.policy.is_sending)
    assert arm.call(interfaces.SetPayload, 'set_payload', **request).success


@pytest.mark.parametrize('limit, words', [
    ('0', 'effort_limits: {shoulder: ...}'), ('0.5', 'shoulder needs'),
    ('100.0', 'shoulder needs')])
def test_an_undrivable_robot_waits_until_nothing_is_sent(bench, limit, words):
    """The second one is a description with masses in grams, as kilograms."""
    arm = bench(joints=JOINTS, state_timeout=1.0, effort_rate_limit=0.0)
    arm.describe(ARM)
    arm.until(lambda: close(arm.answer(JOINTS, Q), GRAVITY))
    arm.describe(ARM.replace('effort="100.0"', f'effort="{limit}"').replace(
        'mass value="1.0"', 'mass value="1000"'))
    assert words in arm.told('robot_description')
    arm.until(lambda: arm.diagnostics[-1].level == DiagnosticStatus.ERROR)
    for _ in range(30):
        assert close(arm.answer(JOINTS, Q), GRAVITY)
    arm.until(lambda: not arm.node.policy.is_sending)  # joint states have stopped
    assert close(arm.commands[-1], GRAVITY)
    arm.until(lambda: not arm.told('robot_description'))
    arm.settle()  # the last commands have arrived
    count = len(arm.commands)
    assert not arm.sends(JOINTS, Q)
    assert len(arm.commands) == count
    assert not arm.node.diagnostics.errors  # which would be in the message too
    assert words in arm.report().message


def test_a_parameter_can_end_the_wait_of_a_robot(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0)
    arm.describe(ARM)
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    arm.describe(ARM.replace('effort="100.0"', 'effort="0"'))
    assert arm.told('robot_description')
    assert arm.set_parameter('effort_limits.shoulder', 50.0).successful
    arm.until(lambda: not arm.told('robot_description'))
    assert arm.node.policy.robot.effort_limits[0] == 0.0
    assert close(arm.answer(JOINTS, Q), GRAVITY)


def test_a_robot_waits_for_the_position_of_each_joint(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0)
    arm.describe(ARM)
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    arm.describe(ARM_WITH_GRIPPER.replace('name="arm_with_gripper"', 'name="arm"'))
    assert 'assumed_positions.grip' in arm.told('robot_description')
    assert close(arm.answer(JOINTS, Q), GRAVITY)
    held = Robot.from_urdf(ARM_WITH_GRIPPER).gravity([*Q, 0.02])[:2]
    arm.until(lambda: close(arm.answer([*JOINTS, 'grip'], [*Q, 0.02]), held))
    assert not arm.told('robot_description')


@pytest.mark.parametrize('parameters, is_told', [
    ({}, False), ({'friction_from': 'description'}, True), ({'friction__shoulder': 30.0}, True),
    ({'damping__shoulder': 30.0}, True)])
def test_large_friction_is_told_where_it_is_sent(bench, parameters, is_told):
    arm = bench(joints=JOINTS, **{'friction_from': 'none', **parameters})
    arm.describe(ARM.replace('damping="0.5"', 'damping="0.5" friction="30"'))
    monitor.check_policy(arm.node.policy, 0.0, arm.node.diagnostics)
    assert ('at shoulder' in arm.told('friction')) is is_told
    if is_told:
        assert arm.set_parameter('friction.shoulder', 0.0).successful
        assert arm.set_parameter('damping.shoulder', 0.0).successful
        arm.until(lambda: not arm.told('friction'))
    assert not any('friction' in str(finding) for finding in arm.node.diagnostics.findings)


def test_a_limit_for_an_unknown_joint_is_an_error(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0, effort_limits__sholder=5.0)
    arm.describe(ARM)
    assert not arm.sends(JOINTS, Q)
    arm.until(lambda: any(
        "effort_limits.sholder: 'arm' has no such joint; did you mean 'shoulder'" in status.message
        and status.level == DiagnosticStatus.ERROR for status in arm.diagnostics))


def test_raised_limits_count_and_are_told_once_per_change(bench, capfd):
    arm = bench(joints=JOINTS, state_timeout=5.0, effort_limits__shoulder=90.0)
    arm.describe(ARM)
    arm.settle(0.3)
    assert not arm.told('effort limits')
    for limit in (120.0, 150.0):
        assert arm.set_parameter('effort_limits.shoulder', limit).successful
        words = f'{limit:g} instead of 100 at shoulder'
        arm.until(lambda words=words: words in arm.told('effort limits'))
        arm.settle(0.3)
        assert capfd.readouterr().err.count(words) == 1
        assert arm.node.policy.stages.limits[JOINTS.index('shoulder')] == limit
    assert arm.set_parameter('effort_limits.shoulder', 100.0).successful
    arm.until(lambda: not arm.told('effort limits'))


def test_a_limit_in_place_of_a_placeholder_is_not_told(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0, effort_limits__shoulder=9000.0)
    arm.describe(ARM.replace('effort="100.0"', 'effort="0"'))
    arm.settle(0.3)
    assert not arm.told('effort limits')


@pytest.mark.parametrize('limit', [1e30, 1e9])
def test_an_implausible_limit_is_refused_as_a_parameter_too(bench, limit):
    arm = bench(joints=JOINTS, state_timeout=5.0)
    arm.describe(ARM)
    result = arm.set_parameter('effort_limits.shoulder', limit)
    assert not result.successful and 'at most 10000' in result.reason


def test_the_reply_says_roughly_what_is_held_the_log_exactly(bench, capfd):
    arm, _ = pushed(bench)
    reply = the_node_is_disabled(arm)
    assert 'holds about' in reply and 'unless the arm moves' in reply
    arm.until(lambda: not arm.node.policy.is_sending)
    arm.settle()  # the last command arrives
    exactly = 'holds ' + ', '.join(
        f'{joint} {value:.3f}' for joint, value in zip(JOINTS, arm.commands[-1]))
    assert f'nothing is sent any more: a controller without a timeout {exactly}' in (
        capfd.readouterr().err)
    assert the_node_is_disabled(arm) == (
        f'nothing was being sent; a controller without a timeout {exactly} [Nm or N]')


def test_where_nothing_was_sent_nothing_is_said_to_be_held(bench):
    arm = bench(joints=JOINTS)
    arm.describe(ARM)
    assert the_node_is_disabled(arm) == 'nothing was being sent'


def test_an_arm_that_its_motors_cannot_hold_is_not_started(bench):
    arm = bench(joints=JOINTS, state_timeout=5.0, effort_limits__elbow=0.5)
    arm.describe(ARM)
    assert not arm.sends(JOINTS, Q)
    arm.until(lambda: any(
        'elbow needs' in status.message and status.level == DiagnosticStatus.ERROR
        for status in arm.diagnostics))
