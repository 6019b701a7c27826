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
"""Controllers beside the node: whether its parameters fit theirs, before and while they run."""

from controller_node import Controller
from made_parts import calls_of_services, made_by
import numpy as np
import pytest
from rclpy.client import Client
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.control.decision import Status
from ros2_rnea.node import monitor
from ros2_rnea.node.controllers import effort_controller
from ros2_rnea.node.controllers.controllers import Controllers
from ros2_rnea.node.controllers.remote_parameters import RemoteParameters
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
JTC = {
    'joints': JOINTS[::-1], 'command_interfaces': ['position'], 'allow_partial_joints_goal': True,
    'allow_nonzero_velocity_at_trajectory_end': False}


@pytest.fixture
def readers(monkeypatch):
    """Return what reads the parameters of effort controllers, in the order of their making."""
    return made_by(monkeypatch, effort_controller, 'RemoteParameters')


def answer(readers, values):
    """Let the effort controller answer with parameters, or not be there: None."""
    *_, on_answer = readers[-1].made_with
    on_answer(values)


@pytest.fixture
def start(bench):
    """Return functions that start the arm and a controller beside it."""
    controllers = []

    def start_arm(**parameters):
        arm = bench(**{'joints': JOINTS, 'state_timeout': 9.0, **parameters})
        arm.describe(ARM)
        return arm

    def start_controller(arm, name='effort_controller', **parameters):
        controllers.append(Controller(arm, name, **parameters))
        return controllers[-1]

    yield start_arm, start_controller
    for controller in controllers:
        controller.leave()


def sends(arm):
    """Return whether a joint state is answered with a command."""
    count = len(arm.commands)
    is_answered = arm.sends(JOINTS, Q)
    if is_answered:
        arm.until(lambda: len(arm.commands) > count)
    return is_answered


def levels(arm):
    return {status.level for status in arm.diagnostics[-1:]}


# ---- the effort controller ----------------------------------------------------------------------


def test_nothing_is_sent_before_the_controller_tells_its_joints(start):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    arm.until(lambda: arm.told('effort_controller'))
    assert 'is not available' in arm.told('effort_controller')
    assert not sends(arm)
    assert arm.status() is Status.NOT_ALLOWED  # and not disabled
    start_controller(arm, joints=JOINTS, interface_name='effort')
    arm.until(lambda: sends(arm))
    arm.until(lambda: not arm.told('effort_controller'))


@pytest.mark.parametrize('parameters, said', [
    ({'joints': JOINTS[::-1]},
     'has the joints elbow, shoulder; those of this node are shoulder, elbow: nothing is sent; '
     'set   joints: [elbow, shoulder]'),
    ({'joints': [*JOINTS, 'gripper']}, 'joints: [shoulder, elbow, gripper]'),
    ({'joints': JOINTS, 'interface_name': 'position'}, "its interface 'position'"),
    ({'joint': 'shoulder'}, 'has no parameter joints'),
    ({'joints': JOINTS, 'command_interfaces': ['effort']}, 'is not an effort controller'),
])
def test_a_controller_that_does_not_fit_is_an_error(start, parameters, said, capfd):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    controller = start_controller(arm, **parameters)
    arm.until(lambda: said in arm.told('effort_controller'))
    arm.until(lambda: levels(arm) == {b'\x02'})
    assert said in arm.diagnostics[-1].message
    arm.until(lambda: controller.asked > 3)
    assert not sends(arm)
    arm.node.send_last()
    assert not arm.efforts
    assert capfd.readouterr().err.count(said) == 1


def test_what_did_not_fit_is_mended_on_either_side(start):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller', start_from='zero')
    controller = start_controller(arm, joints=JOINTS[::-1])
    arm.until(lambda: 'has the joints' in arm.told('effort_controller'))
    assert arm.set_parameter('joints', JOINTS[::-1]).successful
    assert sends(arm)
    controller.parameters['joints'] = JOINTS
    arm.until(lambda: not sends(arm))
    assert arm.set_parameter('joints', JOINTS).successful
    arm.until(lambda: sends(arm))


def test_a_controller_that_comes_back_is_looked_at_again(start):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    controller = start_controller(arm, joints=JOINTS)
    arm.until(lambda: sends(arm))
    controller.leave()
    arm.until(lambda: 'is not available' in arm.told('effort_controller'))
    arm.until(lambda: not sends(arm))
    start_controller(arm, joints=JOINTS[::-1])
    arm.until(lambda: 'has the joints' in arm.told('effort_controller'))
    assert not sends(arm)


def test_a_controller_loaded_again_still_holds_what_was_sent(start, readers):
    """The hardware keeps the last command when a controller is unloaded and loaded again."""
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    controller = start_controller(arm, joints=JOINTS)
    arm.until(lambda: sends(arm))
    before = arm.commands[-1]
    assert max(map(abs, before)) > 1.0
    controller.leave()
    for _ in range(5):
        answer(readers, None)
    arm.until(lambda: 'is not available' in arm.told('effort_controller'))
    assert arm.set_parameter('blend_time', 60.0).successful
    count = len(arm.commands)
    start_controller(arm, joints=JOINTS)
    arm.until(lambda: sends(arm))
    assert arm.commands[count] == pytest.approx(before)


def test_an_unheard_controller_still_holds_what_was_sent(start, readers, monkeypatch):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    controller = start_controller(arm, joints=JOINTS)
    arm.until(lambda: sends(arm))
    before = arm.commands[-1]
    monkeypatch.setattr(Controllers, 'poll', lambda _: None)
    monkeypatch.setattr(RemoteParameters, 'look_again', lambda _: None)
    arm.settle(0.2)
    answer(readers, None)
    arm.until(lambda: not sends(arm))
    assert arm.set_parameter('blend_time', 60.0).successful
    answer(readers, {'joints': controller.parameters['joints'], 'interface_name': 'effort'})
    count = len(arm.commands)
    arm.until(lambda: sends(arm))
    assert arm.commands[count] == pytest.approx(before)


def pushed(start, monkeypatch):
    """Return an arm that is pushed, its controller, and the effort that gravity needs."""
    start_arm, start_controller = start
    arm = start_arm(
        effort_controller='effort_controller', state_timeout=1.0, wrench_timeout=60.0)
    controller = start_controller(arm, joints=JOINTS)
    arm.until(lambda: sends(arm))
    gravity = Robot.from_urdf(ARM).gravity(Q)
    arm.push('tool', force=(9.0, 0.0, 3.0))
    arm.until(lambda: sends(arm) and np.abs(arm.commands[-1] - gravity).max() > 1.0)
    monkeypatch.setattr(Controllers, 'poll', lambda _: None)
    arm.settle(0.2)
    return arm, controller, gravity


def test_the_effort_fades_out_while_the_controller_is_missing(start, readers, monkeypatch):
    """The one missed look must not leave it with the effort of a motion for ever."""
    arm, _, gravity = pushed(start, monkeypatch)
    monkeypatch.setattr(Client, 'service_is_ready', lambda _: False)
    readers[-1].poll()
    assert 'is not available' in arm.told('effort_controller')
    arm.until(lambda: not arm.node.policy.is_sending)
    arm.until(lambda: arm.commands[-1] == pytest.approx(gravity))  # it may still be on its way


@pytest.mark.parametrize('is_disabled', [False, True])
def test_a_controller_of_other_joints_gets_no_final_fade(start, readers, monkeypatch, is_disabled):
    arm, _, _ = pushed(start, monkeypatch)
    if is_disabled:
        arm.node.set_parameters([Parameter('enabled', value=False)])
        arm.state(JOINTS, Q)
        arm.until(lambda: arm.status() is Status.STOPPING)
    answer(readers, {'joints': JOINTS[::-1], 'interface_name': 'effort'})
    arm.settle()
    count = len(arm.commands)
    assert not sends(arm)
    arm.settle(0.3)
    assert len(arm.commands) == count


@pytest.mark.parametrize('joints', [3, True, [1, 2], 'shoulder'])
def test_a_node_whose_joints_are_no_names_is_no_controller(start, joints):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    start_controller(arm, joints=joints)
    arm.until(lambda: 'has no parameter joints' in arm.told('effort_controller'))
    assert not sends(arm)


def test_the_parameter_can_name_another_controller_or_none(start):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    start_controller(arm, joints=JOINTS[::-1])
    start_controller(arm, 'other_controller', joints=JOINTS)
    arm.until(lambda: 'has the joints' in arm.told('effort_controller'))
    assert arm.set_parameter('effort_controller', 'other_controller').successful
    arm.until(lambda: sends(arm))
    assert arm.set_parameter('effort_controller', 'effort_controller').successful
    arm.until(lambda: not sends(arm))
    arm.until(lambda: 'has the joints' in arm.told('effort_controller'))
    assert arm.set_parameter('effort_controller', '').successful
    assert sends(arm)
    arm.until(lambda: not arm.told('effort_controller'))


@pytest.mark.parametrize('role', ['effort_controller', 'trajectory_controller'])
@pytest.mark.parametrize('name', ['arm controller', '1st', 'arm//controller', 'arm/'])
def test_what_names_no_node_is_refused(start, role, name):
    start_arm, _ = start
    arm = start_arm()
    result = arm.set_parameter(role, name)
    assert not result.successful
    assert f"{role} is '{name}'; it needs the name of a node" in result.reason
    assert sends(arm)


def test_enabled_stays_what_the_user_set(start):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller', enabled=False)
    assert arm.set_parameter('enabled', True).successful
    assert not sends(arm)
    assert arm.node.get_parameter('enabled').value
    assert arm.set_parameter('enabled', False).successful
    controller = start_controller(arm, joints=JOINTS)
    arm.until(lambda: controller.asked > 2)
    assert not sends(arm)


def test_a_controller_that_is_slow_to_answer_stops_nothing(start, monkeypatch):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    controller = start_controller(arm, joints=JOINTS)
    arm.until(lambda: sends(arm))
    controller.pause()
    looks = []
    monkeypatch.setattr(monitor, 'check_publishers', lambda *_: looks.append(1))
    arm.until(lambda: len(looks) > 10)
    assert sends(arm)
    asked = controller.asked
    controller.resume()
    arm.until(lambda: controller.asked > asked)
    controller.parameters['joints'] = JOINTS[::-1]
    arm.until(lambda: not sends(arm))


def test_an_answer_that_is_lost_is_asked_for_again(start, monkeypatch):
    start_arm, start_controller = start
    arm = start_arm(effort_controller='effort_controller')
    controller = start_controller(arm, joints=JOINTS)
    arm.until(lambda: sends(arm))
    controller.pause()
    asked = calls_of_services(monkeypatch)
    arm.until(lambda: '/robot/effort_controller/list_parameters' in asked)
    start_controller(arm, joints=JOINTS[::-1])
    controller.leave()
    arm.until(lambda: 'has the joints' in arm.told('effort_controller'))


# ---- the controller of trajectories -------------------------------------------------------------


def rules(arm):
    """Return the parameters that differ from their defaults."""
    defaults = {
        'allow_nonzero_velocity_at_trajectory_end': False, 'allow_partial_joints_goal': True,
        'allow_trajectory_replacement': False, 'interpolate_from_desired_state': False,
        'omitted_joints_stay_where_commanded': True}
    values = {name: arm.node.get_parameter(name).value for name in defaults}
    return {name: value for name, value in values.items() if value != defaults[name]}


@pytest.mark.parametrize('parameters, expected', [
    ({}, {}),
    ({'allow_partial_joints_goal': False}, {'allow_partial_joints_goal': False}),
    ({'allow_nonzero_velocity_at_trajectory_end': True,
      'allow_trajectory_replacement': True,
      'interpolate_from_desired_state': True},
     {'allow_nonzero_velocity_at_trajectory_end': True,
      'allow_trajectory_replacement': True,
      'interpolate_from_desired_state': True}),
    ({'command_interfaces': ['effort']}, {'omitted_joints_stay_where_commanded': False}),
])
def test_the_rules_of_the_controller_become_ours(start, parameters, expected, capfd):
    start_arm, start_controller = start
    arm = start_arm(trajectory_controller='arm_controller')
    controller = start_controller(arm, 'arm_controller', **{**JTC, **parameters})
    arm.until(lambda: controller.asked > 2)
    arm.until(lambda: not arm.told('trajectory_controller'))
    assert rules(arm) == expected
    said = capfd.readouterr().err
    for rule in expected:
        assert said.count(f'{rule} is now {str(expected[rule]).lower()}, as in') == 1
    assert sends(arm)  # the order of its joints does not matter


def test_a_rule_that_is_set_by_hand_afterwards_stays(start):
    start_arm, start_controller = start
    arm = start_arm(trajectory_controller='arm_controller')
    controller = start_controller(
        arm, 'arm_controller', **{**JTC, 'interpolate_from_desired_state': True})
    arm.until(lambda: rules(arm))
    assert arm.set_parameter('interpolate_from_desired_state', False).successful
    asked = controller.asked
    arm.until(lambda: controller.asked > asked + 2)
    assert rules(arm) == {}


@pytest.mark.parametrize('parameters, said', [
    ({**JTC, 'interpolation_method': 'none'}, 'interpolation_method: it steps from point'),
    ({**JTC, 'speed_scaling__command_interface': 'speed'},
     'let the node receive its controller_state'),
    ({'joints': JOINTS}, 'is not a joint_trajectory_controller'),
])
def test_what_the_rules_do_not_cover_is_said(start, parameters, said):
    start_arm, start_controller = start
    arm = start_arm(trajectory_controller='arm_controller')
    arm.until(lambda: 'is not available' in arm.told('trajectory_controller'))
    start_controller(arm, 'arm_controller', **parameters)
    arm.until(lambda: said in arm.told('trajectory_controller'))
    assert sends(arm)
