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
"""Which joints the node moves alone: the parameter position_loop, and what follows from it."""

from itertools import cycle

from made_parts import made_by
import pytest
from repository import ROOT
from ros2_rnea.control.decision import State
from ros2_rnea.node import inverse_dynamics_node
from ros2_rnea.node.controllers import effort_controller
from ros2_rnea.node.parameters import BY_NAME
from simulated_ros2_control import HAS_MESSAGES, JTC
from small_robots import ARM
import yaml

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]

needs_messages = pytest.mark.skipif(
    not HAS_MESSAGES, reason='controller_manager_msgs is not installed')


def held(arm):
    return {*arm.node.policy.settings.held_by_others}


def starts(arm):
    """Let the first effort be sent."""
    arm.until(lambda: arm.sends(JOINTS, Q, [0.0, 0.0]))


@pytest.mark.ros
@pytest.mark.parametrize('value, expected, said', [
    ('automatic', set(), [
        'the node moves shoulder, elbow alone: it brakes where the effort ends',
        'position_loop: automatic (no controller manager is asked which controllers are active); '
        'set it to none or present where it is wrong']),
    ('none', set(), ['moves shoulder, elbow alone', 'position_loop: none; set it to automatic']),
    ('present', {*JOINTS}, [
        'another controller or the drives hold shoulder, elbow',
        'position_loop: present; set it to automatic or none'])])
def test_the_parameter_decides_and_is_told_at_the_first_effort(
        bench, capfd, value, expected, said):
    arm = bench(joints=JOINTS, state_timeout=9.0, position_loop=value)
    arm.describe(ARM)
    assert 'position_loop' not in capfd.readouterr().err
    starts(arm)
    for _ in range(3):
        arm.answer(JOINTS, Q, [0.0, 0.0])
    assert held(arm) == expected
    log = capfd.readouterr().err
    assert log.count('position_loop') == 1
    assert all(text in log for text in said)


@pytest.mark.ros
@pytest.mark.parametrize('joints', [JOINTS, []])
def test_it_can_change_while_efforts_are_sent(bench, joints):
    arm = bench(joints=joints, state_timeout=9.0)
    arm.describe(ARM)
    starts(arm)
    assert held(arm) == set()
    for value, expected in (('present', {*JOINTS}), ('none', set()), ('automatic', set())):
        assert arm.set_parameter('position_loop', value).successful
        assert held(arm) == expected and arm.sends(JOINTS, Q, [0.0, 0.0])
    assert not arm.set_parameter('position_loop', 'sometimes').successful


@pytest.mark.ros
@pytest.mark.parametrize('value, state', [('none', State.BRAKING), ('present', State.OFF)])
def test_only_what_is_moved_alone_is_braked(bench, value, state):
    """With velocities that never end, braking goes on; the fade ends with state_timeout."""
    arm = bench(joints=JOINTS, state_timeout=0.5, position_loop=value, blend_time=0.1,
                plausible_speed_factor=0.0, longest_braking=60.0)
    arm.describe(ARM)
    starts(arm)
    assert arm.set_parameter('enabled', False).successful
    after = arm.node.clocks.steady() + 2.0
    noise = cycle([0.0, 1e-9, 2e-9])  # else it would be a driver that repeats its last state
    arm.until(lambda: arm.state(JOINTS, [Q[0] + next(noise), Q[1] + next(noise)], [0.5, 0.5]) or (
        arm.node.clocks.steady() > after) or arm.node.policy.state is State.OFF)
    assert arm.node.policy.state is state


@pytest.mark.ros
@needs_messages
@pytest.mark.parametrize('has_activity', [True, False])
@pytest.mark.parametrize('interfaces, expected', [
    (['shoulder/position', 'elbow/position'], {*JOINTS}),
    (['shoulder/velocity', 'grip/position'], {'shoulder'}),
    (['shoulder/position', 'shoulder/effort'], {'shoulder'}),
    (['pid_controller/elbow/position'], {'elbow'}),
    (['filter/elbow/effort', 'shoulder/stiffness'], set())])
def test_active_controllers_hold_what_they_command(
        start_arm, start_controllers, capfd, has_activity, interfaces, expected):
    controllers = start_controllers(has_activity=has_activity)
    controllers.types['jtc'] = JTC
    controllers.interfaces['jtc'] = interfaces
    controllers.switch(effort_controller='active', jtc='active')
    arm = start_arm(effort_controller='effort_controller', start_from='zero')
    arm.until(lambda: controllers.first_command(arm))
    assert held(arm) == expected
    manager = "the controller manager '/robot/controller_manager'"
    arm.until(lambda: arm.sends(JOINTS, Q, [0.0, 0.0]))
    assert f'by {manager}, ' + (
        'jtc command position or velocity' if expected else
        'no active controller commands a position or velocity') in capfd.readouterr().err
    controllers.switch(effort_controller='active', jtc='inactive')
    arm.until(lambda: held(arm) == set())
    controllers.switch(effort_controller='active', jtc='active')
    arm.until(lambda: held(arm) == expected)
    assert arm.set_parameter('position_loop', 'none').successful and held(arm) == set()


@pytest.mark.ros
@needs_messages
def test_while_the_controller_manager_is_silent_its_last_answer_counts(
        start_arm, start_controllers, monkeypatch):
    made = made_by(monkeypatch, inverse_dynamics_node, 'Controllers')
    managers = made_by(monkeypatch, effort_controller, 'ControllerManager')
    controllers = start_controllers()
    controllers.interfaces['jtc'] = ['shoulder/position', 'elbow/position']
    controllers.switch(effort_controller='active', jtc='active')
    arm = start_arm(effort_controller='effort_controller', start_from='zero')
    arm.until(lambda: held(arm) == {*JOINTS})
    *_, on_report = managers[-1].made_with
    on_report(None)
    assert held(arm) == {*JOINTS}
    assert made[-1].held_joints()[0] >= {*JOINTS}
    assert arm.set_parameter('controller_manager', '').successful
    arm.until(lambda: held(arm) == set())


@pytest.mark.parametrize('configuration, expected', [
    ('jtc_effort', 'present'), ('jtc_position_effort', 'present'),
    ('live_feedforward', 'automatic'), ('forward_command', 'automatic'), ('franka', 'automatic'),
    ('ur', 'automatic')])
def test_ready_configurations_say_where_no_controller_manager_can_be_asked(
        configuration, expected):
    text = (ROOT / 'config' / f'{configuration}.yaml').read_text()
    values = yaml.safe_load(text)['/**']['ros__parameters']
    default = BY_NAME['position_loop'].initial
    assert values.get('position_loop', default) == expected
    assert expected == 'present' or values.get('effort_controller')
