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
"""What follows from the reports of a controller manager, by tables."""

import pytest
from ros2_rnea.control.output.start_effort import Receiver
from ros2_rnea.node.controllers.activation import Activation, ControllerKind, ManagerReport

JOINTS = ('shoulder', 'elbow')
EFFORTS = ('shoulder/effort', 'elbow/effort')
KINDS = {
    'forward': ControllerKind('forward_command_controller/ForwardCommandController', EFFORTS),
    'group': ControllerKind('effort_controllers/JointGroupEffortController', EFFORTS),
    'jtc': ControllerKind('joint_trajectory_controller/JointTrajectoryController', EFFORTS),
    'positions': ControllerKind(
        'joint_trajectory_controller/JointTrajectoryController', ('elbow/position',)),
    'gripper': ControllerKind('position_controllers/GripperActionController', ('grip/position',)),
    'shoulder': ControllerKind(
        'joint_trajectory_controller/JointTrajectoryController', ('shoulder/position',)),
    'stiffness': ControllerKind(
        'forward_command_controller/ForwardCommandController',
        ('shoulder/stiffness', 'elbow/stiffness')),
    'broadcaster': ControllerKind('joint_state_broadcaster/JointStateBroadcaster', ()),
}


KINDS_OF_LOOPS = {
    **KINDS,
    'both': ControllerKind('joint_trajectory_controller/JointTrajectoryController', (
        'shoulder/position', 'shoulder/effort', 'elbow/velocity')),
    'pid': ControllerKind('pid_controller/PidController', ('elbow/effort',)),
    'chained': ControllerKind(  # it commands the reference of another controller
        'forward_command_controller/ForwardCommandController', ('pid/elbow/position',)),
    'chained_forward': ControllerKind(
        'forward_command_controller/ForwardCommandController', ('filter/elbow/effort',)),
}


def reported(name, *reports, hardware=()):
    """Return the activation of a controller after reports, of its state and who is active."""
    activation = Activation(name)
    for index, (state, *active) in enumerate(reports):
        states = dict.fromkeys(active, 'active')
        if state is not None:
            states[name] = state
        activation.take(ManagerReport(states, hardware[index] if hardware else {}))
    return activation


@pytest.mark.parametrize('states, obstacle', [
    (['active'], ''),
    (['inactive'], 'inactive'),
    (['unconfigured'], 'unconfigured'),
    (['finalized'], 'finalized'),
    (['active', 'inactive'], 'inactive'),
    (['inactive', 'active'], ''),
    (['active', None], 'not loaded'),
    ([None], ''),  # it was never listed: a driver, which no controller manager knows
    (['active', 'activating'], ''),
    (['active', ''], ''),
    (['active', 'garbage'], ''),
    (['inactive', 'activating'], 'inactive'),
])
def test_only_what_is_known_to_command_nothing_is_an_obstacle(states, obstacle):
    assert reported('forward', *((state,) for state in states)).obstacle == obstacle


def test_without_controller_manager_nothing_is_known():
    activation = reported('forward', ('inactive',))
    activation.take(None)
    assert activation.obstacle == ''


@pytest.mark.parametrize('name, reports, holder', [
    ('forward', [('active',), ('inactive',), ('active',)], None),
    ('group', [('active',), ('inactive',), ('active',)], Receiver.ZEROED),
    ('group', [('active',), (None,), ('inactive',), ('active',)], Receiver.ZEROED),
    # What was active beside it has other interfaces, whatever they are called.
    ('forward', [('active', 'jtc'), ('inactive', 'jtc'), ('active', 'jtc')], None),
    # Another controller commanded the joints, and was deactivated before or in the same switch.
    ('forward', [('active',), ('inactive', 'jtc'), ('inactive',), ('active',)], Receiver.ZEROED),
    ('group', [('active',), ('inactive', 'forward'), ('inactive',)], Receiver.UNKNOWN),
    ('forward', [('active',), ('inactive', 'positions'), ('inactive',)], Receiver.UNKNOWN),
    ('forward', [('active',), ('inactive', 'jtc'), ('inactive', 'positions'), ('inactive',)],
     Receiver.UNKNOWN),
    ('forward', [('active',), ('inactive', 'never_listed'), ('inactive',)], Receiver.UNKNOWN),
    ('forward', [('active',), ('inactive', 'positions')], Receiver.HANDED_OVER),
    ('forward', [('active',), ('inactive', 'positions'), ('active',)], Receiver.HANDED_OVER),
    ('forward', [('inactive', 'jtc'), ('active',)], Receiver.HANDED_OVER),  # at the start
    ('forward', [('inactive', 'never_listed')], Receiver.HANDED_OVER),
    ('forward', [('active',), ('inactive', 'gripper', 'broadcaster'), ('active',)], None),
    # Only the last time counts.
    ('forward', [('active',), ('inactive', 'jtc'), ('active',), ('inactive',), ('active',)], None),
])
def test_who_holds_the_effort_after_a_controller_was_not_active(name, reports, holder):
    assert reported(name, *reports).holder(JOINTS, KINDS) is holder


@pytest.mark.parametrize('while_inactive, holder', [
    ({'arm': 'inactive', 'camera': 'unconfigured'}, Receiver.UNKNOWN),
    ({'arm': 'active', 'camera': 'unconfigured'}, None),
])
def test_hardware_that_was_switched_off_may_hold_another_effort(while_inactive, holder):
    normal = {'arm': 'active', 'camera': 'unconfigured'}
    activation = reported(
        'forward', ('active',), ('inactive',), ('inactive',), ('active',),
        hardware=(normal, while_inactive, normal, normal))
    assert activation.holder(JOINTS, KINDS) is holder


def test_of_an_unknown_controller_nothing_is_suggested():
    assert reported('own', ('inactive',), ('active',)).holder(JOINTS, KINDS) is None


@pytest.mark.parametrize('companion, reports, holder', [
    ('positions', [('inactive', 'positions')], None),
    ('positions', [('inactive', 'positions'), ('active', 'positions')], None),
    ('positions', [('active',), ('inactive', 'positions'), ('inactive',)], None),
    ('positions', [('inactive', 'positions', 'jtc')], Receiver.HANDED_OVER),
    ('jtc', [('inactive', 'jtc')], Receiver.HANDED_OVER),  # it needs the same interface
    ('never_listed', [('inactive', 'never_listed')], Receiver.HANDED_OVER),
])
def test_a_named_controller_of_positions_stays_and_hands_nothing_over(companion, reports, holder):
    activation = reported('forward', *reports)
    activation.companion = companion
    assert activation.holder(JOINTS, KINDS) is holder


@pytest.mark.parametrize('reports, are_all_known, holder', [
    ([('inactive', 'not_yet_listed')], False, None),
    ([('inactive', 'not_yet_listed')], True, Receiver.HANDED_OVER),
    ([('inactive', 'positions')], False, Receiver.HANDED_OVER),
    ([('active',), ('inactive', 'not_yet_listed'), ('inactive',)], False, None),
])
def test_a_controller_whose_kind_will_be_known_soon_suggests_nothing(
        reports, are_all_known, holder):
    assert reported('forward', *reports).holder(JOINTS, KINDS, are_all_known) is holder


@pytest.mark.parametrize('name, reports, holder', [
    ('forward', [('inactive',)], Receiver.ARM_HOLDS_ITSELF),
    ('forward', [('inactive', 'gripper', 'broadcaster')], Receiver.ARM_HOLDS_ITSELF),
    ('forward', [('inactive',), ('active',)], Receiver.ARM_HOLDS_ITSELF),
    # It has done so since the last controller was deactivated, whatever that one wrote.
    ('group', [('active',), ('inactive',), ('active',)], Receiver.ARM_HOLDS_ITSELF),
    ('forward', [('active',), ('inactive', 'jtc'), ('inactive',)], Receiver.ARM_HOLDS_ITSELF),
    ('forward', [('active', 'positions'), ('inactive',)], Receiver.ARM_HOLDS_ITSELF),
    # Others hold it.
    ('forward', [('inactive', 'jtc')], Receiver.HANDED_OVER),
    ('forward', [('inactive',), ('inactive', 'positions')], Receiver.HANDED_OVER),
    ('forward', [('active', 'positions'), ('inactive', 'positions')], None),
    ('forward', [('active', 'positions'), ('inactive', 'positions'), ('active', 'positions')],
     None),
])
def test_an_arm_holds_itself_while_no_controller_does(name, reports, holder):
    activation = reported(name, *reports)
    assert activation.holder(JOINTS, KINDS, can_arm_hold_itself=True) is holder


def test_an_arm_does_not_hold_itself_where_another_controller_may():
    activation = reported('forward', ('inactive', 'positions'))
    activation.companion = 'positions'
    assert activation.holder(JOINTS, KINDS, can_arm_hold_itself=True) is None
    activation = reported('forward', ('inactive', 'not_yet_listed'))
    assert activation.holder(JOINTS, KINDS, False, can_arm_hold_itself=True) is None


def test_hardware_that_was_switched_off_and_on_holds_itself():
    normal = {'arm': 'active'}
    activation = reported(
        'forward', ('active',), ('inactive',), ('inactive',), ('active',),
        hardware=(normal, {'arm': 'inactive'}, normal, normal))
    assert activation.holder(JOINTS, KINDS, can_arm_hold_itself=True) is Receiver.ARM_HOLDS_ITSELF


@pytest.mark.parametrize('reports, is_supported', [
    ([('active', 'positions', 'shoulder')], True),
    ([('active', 'positions')], False),  # nothing but the last command may hold the shoulder
    ([('active', 'stiffness')], False),  # it makes drives soft, and holds nothing
    ([('active', 'jtc')], False),  # it commands efforts
    ([('active', 'gripper', 'broadcaster')], False),
    ([('active', 'never_listed')], False),
    ([('inactive', 'positions', 'shoulder')], False),
    ([('inactive', 'positions', 'shoulder'), ('active', 'positions', 'shoulder')], True),
    ([('active', 'positions', 'shoulder'), ('active',)], False),
    ([(None, 'positions', 'shoulder')], False),  # a driver of its own, beside ros2_control
])
def test_drives_hold_the_arm_beside_active_controllers_of_positions(reports, is_supported):
    assert reported('forward', *reports).is_supported(JOINTS, KINDS) is is_supported


@pytest.mark.parametrize('active, held', [
    ([], {}),
    (['forward', 'jtc', 'stiffness', 'broadcaster'], {}),
    (['positions'], {'positions': {'elbow'}}),
    (['both'], {'both': {'shoulder', 'elbow'}}),  # also where it commands efforts beside
    (['positions', 'shoulder'], {'positions': {'elbow'}, 'shoulder': {'shoulder'}}),
    (['gripper'], {'gripper': {'grip'}}),
    (['pid'], {}),
    (['pid', 'chained'], {'chained': {'elbow', 'pid/elbow'}}),
    (['chained_forward'], {}),
    (['a controller of an unknown kind'], {}),
])
def test_the_loops_of_others_are_those_of_active_controllers(active, held):
    activation = Activation('forward')
    activation.take(ManagerReport({**dict.fromkeys(active, 'active'), 'shoulder': (
        'active' if 'shoulder' in active else 'inactive')}))
    assert activation.positioned(KINDS_OF_LOOPS) == held
    activation.take(None)
    assert activation.positioned(KINDS_OF_LOOPS) == {}
