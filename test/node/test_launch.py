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
"""The launch files: that they load, and that what they start is what was meant."""

from collections import defaultdict
from pathlib import Path

import pytest
from repository import ROOT
import yaml

Transition = pytest.importorskip('lifecycle_msgs.msg').Transition
TransitionEvent = pytest.importorskip('lifecycle_msgs.msg').TransitionEvent
launch = pytest.importorskip('launch', reason='the launch system comes with ROS 2 only')
if not hasattr(launch, 'LaunchDescription'):
    pytest.skip('the package named launch here is not that of ROS 2', allow_module_level=True)
actions = pytest.importorskip('launch_ros.actions')
StateTransition = pytest.importorskip('launch_ros.events.lifecycle').StateTransition
sources = pytest.importorskip('launch.launch_description_sources')
utilities = pytest.importorskip('launch.utilities')

COMMON = {
    'params_file', 'joints', 'mode', 'namespace', 'robot_description', 'joint_states',
    'joint_trajectory', 'controller_state', 'wrench', 'imu', 'commands', 'use_sim_time',
    'log_level', 'managed', 'autostart', 'respawn', 'urdf'}
OWN_NAME = '~/commands'
CONTROLLER = Path('..', 'ros2_rnea_controller', 'launch', 'controller.launch.py')
JTC = 'joint_trajectory_controller'


def description_of(name: str):
    """Return what a launch file describes."""
    source = sources.PythonLaunchDescriptionSource(str(ROOT / 'launch' / name))
    return source.get_launch_description(launch.LaunchContext())


class Started:
    """The nodes that a launch file would start with some arguments, and their command lines."""

    def __init__(self, name: str, **arguments: str) -> None:
        self._context = launch.LaunchContext()
        self._context.launch_configurations.update(arguments)
        self._context.extend_locals({'ros_specific_arguments': defaultdict(str)})
        self.nodes: list = []
        self.emitted: list = []  # events
        waiting = [description_of(name)]
        while waiting:
            entity = waiting.pop(0)
            if isinstance(entity, launch.actions.EmitEvent):
                self.emitted.append(entity.event)
            elif isinstance(entity, actions.Node):
                entity._perform_substitutions(self._context)
                self.nodes.append(entity)
            else:
                waiting = [*(entity.visit(self._context) or ()), *waiting]

    def words(self) -> list[str]:
        """Return what follows the executable in the command line of the last node."""
        return [utilities.perform_substitutions(self._context, word)
                for word in self.nodes[-1].cmd[1:]]

    def topics(self) -> dict[str, str]:
        """Return where the last node's topics are mapped to."""
        return dict(self.nodes[-1].expanded_remapping_rules)

    def parameters(self) -> dict:
        """Return what the last node's files of parameters come to, the later over the earlier."""
        words, values = self.words(), {}
        for option, file in zip(words, words[1:]):
            if option == '--params-file':
                # launch_ros writes tuples with a tag that safe_load does not know
                content = yaml.full_load(Path(file).read_text(encoding='utf-8'))
                for node in content.values():
                    values.update(node['ros__parameters'])
        return values


@pytest.mark.parametrize('name, arguments, executables', [
    ('inverse_dynamics', COMMON, ['inverse_dynamics_node']),
    ('forward_command', COMMON, ['inverse_dynamics_node']),
    ('jtc_effort', COMMON, ['inverse_dynamics_node']),
    ('jtc_position_effort', COMMON, ['inverse_dynamics_node']),
    ('live_feedforward', COMMON, ['inverse_dynamics_node']),
    ('franka', COMMON, ['inverse_dynamics_node']),
    ('ur', COMMON, ['inverse_dynamics_node']),
    ('demo', {'robot', 'namespace', 'mode', 'ros2_control', 'managed', 'autostart', 'respawn'},
     ['simulated_driver', 'inverse_dynamics_node']),
])
def test_launch_file_declares_its_arguments_and_nodes(name, arguments, executables):
    described = description_of(f'{name}.launch.py').get_launch_arguments()
    assert {argument.name for argument in described} == arguments
    assert all(argument.description for argument in described)
    started = Started(f'{name}.launch.py', params_file='of_mine.yaml')
    assert [node.node_executable for node in started.nodes] == executables


@pytest.mark.parametrize('name, differing', [
    ('forward_command', {OWN_NAME: 'effort_controller/commands'}),
    ('jtc_effort', {
        OWN_NAME: OWN_NAME, 'controller_state': f'{JTC}/controller_state',
        'joint_trajectory': f'{JTC}/joint_trajectory'}),
    ('jtc_position_effort', {
        OWN_NAME: OWN_NAME, 'controller_state': f'{JTC}/controller_state',
        'joint_trajectory': f'{JTC}/joint_trajectory'}),
    ('live_feedforward', {
        OWN_NAME: 'effort_controller/commands', 'controller_state': f'{JTC}/controller_state',
        'joint_trajectory': f'{JTC}/joint_trajectory'}),
    ('franka', {
        OWN_NAME: 'effort_controller/commands', 'joint_states': 'franka/joint_states'}),
    ('ur', {OWN_NAME: 'forward_effort_controller/commands'}),
])
def test_a_configuration_brings_its_parameters_and_topics(name, differing):
    started = Started(f'{name}.launch.py')
    config = ROOT / 'config' / f'{name}.yaml'
    assert str(config) in started.words()
    topics = started.topics()
    assert {topic: to for topic, to in topics.items() if topic != to or topic == OWN_NAME} == (
        differing)


@pytest.mark.parametrize('configuration', [
    'gravity_compensation', 'jtc_feedforward', 'jtc_computed_torque', 'jtc_effort'])
def test_a_controller_is_spawned_with_those_that_its_configuration_has(
        configuration, tmp_path, monkeypatch):
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'ros2_rnea').touch()
    (tmp_path / 'share' / 'ros2_rnea').symlink_to(ROOT)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    started = Started(CONTROLLER, configuration=configuration, node_params_file='of_mine.yaml')
    assert [node.node_executable for node in started.nodes] == [
        'inverse_dynamics_node', 'spawner']
    *names, option, file, group, _ = started.words()  # the last is --ros-args
    assert (option, group) == ('--param-file', '--activate-as-group')
    manager, *controllers = yaml.safe_load(Path(file).read_text(encoding='utf-8'))
    assert (manager, {*names}) == ('controller_manager', {*controllers})


def test_the_demo_starts_ros2_control_over_mock_hardware():
    started = Started('demo.launch.py', ros2_control='true')
    assert [node.node_executable for node in started.nodes] == [
        'robot_state_publisher', 'ros2_control_node', 'spawner', 'inverse_dynamics_node']
    assert started.parameters()['mode'] == 'feedforward'
    assert started.topics()['controller_state'] == f'{JTC}/controller_state'


@pytest.mark.parametrize('arguments', [{'robot': 'ur5'}, {'namespace': 'left'}])
def test_the_ros2_control_demo_has_one_arm_without_namespace(arguments):
    with pytest.raises(ValueError, match=f'ros2_control:=true .*{[*arguments.values()][0]}'):
        Started('demo.launch.py', ros2_control='true', **arguments)


@pytest.mark.parametrize('arguments, overridden', [
    ({}, {}),
    ({'mode': 'computed_torque'}, {'mode': 'computed_torque'}),
    ({'joints': '[a, b]'}, {'joints': ['a', 'b']}),
])
def test_an_argument_counts_over_the_file_and_none_leaves_it(arguments, overridden):
    parameters = Started('ur.launch.py', **arguments).parameters()
    written = yaml.safe_load((ROOT / 'config' / 'ur.yaml').read_text())['/**']['ros__parameters']
    parameters['joints'] = list(parameters['joints'])
    assert parameters == {**written, 'use_sim_time': False, **overridden}


@pytest.mark.parametrize('name', ['inverse_dynamics', 'jtc_position_effort', 'demo'])
def test_the_managed_node_is_started_with_the_same_arguments(name):
    plain = Started(f'{name}.launch.py', params_file='of_mine.yaml', namespace='left')
    managed = Started(
        f'{name}.launch.py', params_file='of_mine.yaml', namespace='left', managed='true')
    assert managed.nodes[-1].node_executable == 'managed_inverse_dynamics_node'
    assert managed.nodes[-1].node_name == plain.nodes[-1].node_name == '/left/inverse_dynamics'
    assert managed.topics() == plain.topics()
    assert managed.parameters() == plain.parameters()


@pytest.mark.parametrize('managed', ['false', 'true'])
def test_the_node_respawns_only_where_that_is_wanted(managed):
    node = Started('ur.launch.py', managed=managed).nodes[-1]
    assert not node._ExecuteLocal__respawn
    node = Started('ur.launch.py', managed=managed, respawn='true').nodes[-1]
    assert node._ExecuteLocal__respawn


def test_a_description_can_come_from_a_file(tmp_path):
    file = tmp_path / 'arm.urdf'
    file.write_text('<robot name="arm: 1"><link name="base"/></robot>', encoding='utf-8')
    parameters = Started('ur.launch.py', urdf=str(file)).parameters()
    assert parameters['robot_description'] == file.read_text(encoding='utf-8')
    assert 'robot_description' not in Started('ur.launch.py').parameters()


@pytest.mark.parametrize('autostart, first', [('true', [Transition.TRANSITION_CONFIGURE]),
                                              ('false', [])])
def test_a_managed_node_is_configured_at_once_unless_told_otherwise(autostart, first):
    started = Started('ur.launch.py', managed='true', autostart=autostart)
    assert [event.transition_id for event in started.emitted] == first


@pytest.mark.parametrize('goal, requested', [
    ('inactive', [Transition.TRANSITION_ACTIVATE]), ('unconfigured', [])])
def test_only_the_first_configuration_is_followed_by_an_activation(goal, requested):
    started = Started('ur.launch.py', managed='true')
    node = started.nodes[-1]
    handler, = (each for each in started._context._event_handlers if each.matches(
        transition_of(node, 'inactive')))
    context, event = started._context, transition_of(node, goal)
    assert handler.matches(event)
    emitted = [each.event for entity in handler.handle(event, context)
               for each in entity.visit(context)]
    assert [each.transition_id for each in emitted] == requested
    assert handler not in context._event_handlers


def transition_of(node, goal: str):
    """Return the event at the end of a configuration."""
    message = TransitionEvent()
    message.start_state.label, message.goal_state.label = 'configuring', goal
    return StateTransition(action=node, msg=message)


def test_every_launch_file_is_tested_here():
    files = {path.name for path in Path(ROOT, 'launch').iterdir() if path.suffix == '.py'}
    names = ['demo', 'forward_command', 'franka', 'inverse_dynamics', 'jtc_effort',
             'jtc_position_effort', 'live_feedforward', 'ur']
    assert files == {f'{name}.launch.py' for name in names}


def test_the_default_parameter_file_exists():
    assert yaml.safe_load((ROOT / 'config' / 'inverse_dynamics.yaml').read_text())
