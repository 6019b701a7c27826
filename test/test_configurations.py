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
"""The ready configurations: what the node and the controller beside it are told fits together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
import re
import subprocess
import sys
from typing import Any

from example_robots import example_urdf
import numpy as np
from patience import PATIENCE, until
import pytest
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.command_line.main import COMMANDS
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.tools.models import seven_dof_arm
import yaml

rclpy = pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor  # noqa: E402, I100
from rclpy.node import Node  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from ros2_rnea.node.parameters import (  # noqa: E402, I100
    BY_NAME, OF_JOINTS, read)
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray, String  # noqa: E402

CONFIG, LAUNCH, HOW_TO = ROOT / 'config', ROOT / 'launch', ROOT / 'docs' / 'how-to'
NAMES = [
    'forward_command', 'franka', 'jtc_effort', 'jtc_position_effort', 'live_feedforward', 'ur']
FORWARD = 'forward_command_controller/ForwardCommandController'
JTC = 'joint_trajectory_controller/JointTrajectoryController'

ENOUGH = 50
"""After so many commands, all at the same state, the effort has reached what it leads to."""


def node_parameters(name: str) -> dict[str, Any]:
    """Return what a file tells the node, nested names joined by dots as ROS does."""
    return dict(_flat(_yaml(f'{name}.yaml')['/**']['ros__parameters']))


def controllers(name: str) -> dict[str, Any]:
    """Return what the file beside it tells the controller manager and its controllers, by node."""
    nodes = _yaml(f'{name}_controllers.yaml')
    return {node: content['ros__parameters'] for node, content in nodes.get('/**', nodes).items()}


def controller_of(name: str) -> str:
    """Return the name of the controller that the node looks at."""
    values = node_parameters(name)
    return values.get('effort_controller') or values['trajectory_controller']


def _yaml(file: str) -> dict[str, Any]:
    return yaml.safe_load((CONFIG / file).read_text(encoding='utf-8'))


def _flat(values: Mapping[str, Any], prefix: str = '') -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f'{prefix}{name}.')
        else:
            yield f'{prefix}{name}', value


# ---- the files ------------------------------------------------------------------------------


def test_each_configuration_has_its_three_files():
    configs = {path.stem for path in CONFIG.glob('*.yaml')} - {
        'inverse_dynamics', 'gravity_compensation', 'feedforward'}
    launches = {path.name[:-len('.launch.py')] for path in LAUNCH.glob('*.launch.py')}
    assert configs == {*NAMES, *(f'{name}_controllers' for name in NAMES)}
    assert launches == {*NAMES, 'inverse_dynamics', 'demo'}


@pytest.mark.parametrize('path', sorted(LAUNCH.glob('*.py')), ids=lambda path: path.name)
def test_a_launch_file_names_a_configuration_that_exists(path: Path):
    named = re.findall(r'\w+\.yaml', path.read_text(encoding='utf-8'))
    assert [name for name in named if not (CONFIG / name).exists()] == []
    if path.name == 'demo.launch.py':
        assert named == ['live_feedforward_controllers.yaml'] * 2  # described and used
    else:
        assert set(named) == {path.name.replace('.launch.py', '.yaml')}


@pytest.mark.parametrize('name', NAMES)
def test_the_node_knows_every_parameter_and_takes_its_value(name):
    values = node_parameters(name)
    families = tuple(f'{name}.' for name in OF_JOINTS)
    assert [key for key in values if key not in BY_NAME and not key.startswith(families)] == []
    assert read(values).settings.joints == tuple(values['joints'])
    assert read(values).joint_parameters


@pytest.mark.parametrize('name', ['gravity_compensation', 'feedforward'])
def test_a_starter_file_is_short_and_has_no_defaults(name):
    assert len((CONFIG / f'{name}.yaml').read_text(encoding='utf-8').splitlines()) <= 10
    test_a_file_says_only_what_differs_from_the_default(name)
    assert read(node_parameters(name)).settings.mode.value == name


@pytest.mark.parametrize('name', NAMES)
def test_a_file_says_only_what_differs_from_the_default(name):
    values = node_parameters(name)
    usable = read(values).own
    said = [key for key in values if key in BY_NAME]
    assert [key for key in said if usable[key] == BY_NAME[key].default] == []


@pytest.mark.parametrize('name', ['forward_command', 'franka', 'ur'])
def test_computed_torque_is_ready_where_the_node_steers(name):
    settings = read({**node_parameters(name), 'mode': 'computed_torque'}).settings
    position, velocity = np.array(settings.position_gains), np.array(settings.velocity_gains)
    assert velocity == pytest.approx(2.0 * np.sqrt(position))  # critically damped


# ---- the controller beside it ---------------------------------------------------------------


@pytest.mark.parametrize('name', NAMES)
def test_node_and_controller_list_their_joints_in_one_order(name):
    values, nodes = node_parameters(name), controllers(name)
    assert nodes[controller_of(name)]['joints'] == values['joints']


@pytest.mark.parametrize('name', NAMES)
def test_the_controller_commands_effort(name):
    nodes, controller = controllers(name), controller_of(name)
    kind = nodes['controller_manager'][controller]['type']
    said = nodes[controller]
    assert ('effort_controller' in node_parameters(name)) is (kind == FORWARD)
    if kind == FORWARD:
        assert said.keys() == {'joints', 'interface_name'}
        assert said['interface_name'] == 'effort'
    else:
        assert kind == JTC
        assert said['command_interfaces'] in (['effort'], ['position', 'effort'])
        assert said['state_interfaces'] == ['position', 'velocity']


def test_only_jtc_effort_has_gains_and_none_integrate():
    with_effort = controllers('jtc_effort')['joint_trajectory_controller']
    assert list(with_effort['gains']) == with_effort['joints']
    assert all(gains['i'] == 0.0 for gains in with_effort['gains'].values())
    both = controllers('jtc_position_effort')['joint_trajectory_controller']
    assert 'gains' not in both


@pytest.mark.parametrize('rate', [500.0, 1000.0])
def test_the_gains_are_stable_in_every_pose(rate):
    with_effort = controllers('jtc_effort')['joint_trajectory_controller']
    p, d = (np.diag([gains[which] for gains in with_effort['gains'].values()]) for which in 'pd')
    robot, generator = Robot.from_urdf(seven_dof_arm()), np.random.default_rng(0)
    poses = generator.uniform(-np.pi, np.pi, (400, robot.nq))
    zero, one, period = np.zeros_like(p), np.eye(robot.nv), 1.0 / rate
    for pose in [np.zeros(robot.nq), *poses]:
        # The arm without friction, under the controller's effort of a whole period each.
        acceleration = -np.linalg.solve(robot.mass_matrix(pose), np.hstack([p, d]))
        step = np.block([[one, period * one], [zero, one]]) + np.vstack(
            [0.5 * period**2 * acceleration, period * acceleration])
        assert np.abs(np.linalg.eigvals(step)).max() < 1.0


@pytest.mark.parametrize('name', NAMES)
def test_the_launch_file_connects_the_node_to_its_controller(name):
    controller, follows = controller_of(name), name.startswith('jtc')
    said = (LAUNCH / f'{name}.launch.py').read_text(encoding='utf-8')
    for other in re.findall(r"'(jtc_\w+\.launch\.py)'", said):  # that it starts
        said += (LAUNCH / other).read_text(encoding='utf-8')
    inner = (LAUNCH / 'inverse_dynamics.launch.py').read_text(encoding='utf-8')
    default = said if "'commands'" in said else inner
    topic = re.search(r"'commands': \(\s*'(.+?)'", default)
    assert topic is not None
    assert topic.group(1) == ('~/commands' if follows else f'{controller}/commands')
    assert ('TOPICS_OF_CONTROLLER' in said) is (follows or name == 'live_feedforward')


# ---- the pages that tell how to use them ------------------------------------------------------


def named_in(page: Path, pattern: str) -> set[str]:
    """Return the names in a page that a pattern with one group finds."""
    return set(re.findall(pattern, page.read_text(encoding='utf-8')))


@pytest.mark.parametrize('page', sorted(HOW_TO.glob('*.rst')), ids=lambda page: page.stem)
def test_a_page_names_nothing_that_is_not_there(page: Path):
    nodes = re.findall(
        r"'(\w+) = ros2_rnea", (ROOT / 'setup.py').read_text(encoding='utf-8'))
    definitions = (ROOT / 'ros2_rnea_interfaces' / 'srv').glob('*.srv')
    for pattern, known in (
            (r'ros2 launch ros2_rnea ([\w.]+)', {path.name for path in LAUNCH.glob('*.py')}),
            (r'(?<!/)config/(\w+\.yaml)', {path.name for path in CONFIG.glob('*.yaml')}),
            (r'ros2 run ros2_rnea (\w+)', {*nodes, *COMMANDS}),
            (r'ros2_rnea_interfaces/srv/(\w+)', {path.stem for path in definitions}),
            (r'ros2 param [gs]et /inverse_dynamics (\w+)', set(BY_NAME)),
            (r'mode:=(\w+)', {mode.value for mode in type(BY_NAME['mode'].default)})):
        assert named_in(page, pattern) - known == set()
    assert f'how-to/{page.stem}' in (ROOT / 'docs' / 'index.rst').read_text(encoding='utf-8')


@pytest.mark.parametrize('name', NAMES)
def test_a_page_tells_about_each_configuration(name):
    assert any(f'{name}.yaml' in page.read_text(encoding='utf-8') or
               f'``{name}``' in page.read_text(encoding='utf-8') for page in HOW_TO.glob('*.rst'))


# ---- the node, as it is started ---------------------------------------------------------------


def robot_of(name: str) -> str:
    """Return the description of a robot that the configuration is for, or one much like it."""
    if name == 'franka':
        return example_urdf('panda_description/urdf/panda.urdf').replace('panda_', 'fr3_')
    if name == 'ur':
        return example_urdf('ur_description/urdf/ur5_robot.urdf')
    return seven_dof_arm()


@contextmanager
def ros() -> Iterator[None]:
    """Have ROS, whether or not another test has started it."""
    started = not rclpy.ok()
    if started:
        rclpy.init()
    yield
    if started:
        rclpy.shutdown()


@contextmanager
def node_process(name: str) -> Iterator[subprocess.Popen]:
    """Run the executable with a configuration, its commands mapped to the controller."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args',
         '--params-file', str(CONFIG / f'{name}.yaml'), '-p', 'blend_time:=0.0',
         '-r', f'~/commands:={controller_of(name)}/commands'],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


class Controller(Node):
    """A node that has a controller's name, parameters and topic, and is the robot's driver too."""

    def __init__(self, name: str, urdf: str) -> None:
        super().__init__(
            controller_of(name), automatically_declare_parameters_from_overrides=True,
            cli_args=['--ros-args', '--params-file', str(CONFIG / f'{name}_controllers.yaml')])
        self.commands: list[list[float]] = []
        self.create_subscription(
            Float64MultiArray, '~/commands',
            lambda message: self.commands.append(list(message.data)), 10)
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_publisher(String, 'robot_description', latched).publish(String(data=urdf))

    def publish(self, positions: Mapping[str, float]) -> None:
        """Publish a joint state."""
        zeros = [0.0] * len(positions)  # at rest and supported, from where efforts start at zero
        self._states.publish(JointState(
            name=list(positions), position=list(positions.values()), velocity=zeros,
            effort=zeros))


@pytest.mark.ros
@pytest.mark.parametrize('name', NAMES)
def test_the_node_adds_only_efforts_that_the_arm_lacks(name):
    urdf, joints = robot_of(name), node_parameters(name)['joints']
    robot = Robot.from_urdf(urdf)
    positions = {joint: min(0.1 * (i + 1), joint_body(robot, joint).limits.upper)
                 for i, joint in enumerate(robot.joint_names)}
    gravity = robot.gravity(list(positions.values()))
    needed = dict(zip(robot.joint_names, gravity))
    expected = [0.0 if name in ('franka', 'ur') else needed[joint] for joint in joints]
    assert np.abs(gravity).max() > 1.0
    with ros(), node_process(name) as process:
        controller, executor = Controller(name, urdf), SingleThreadedExecutor()
        executor.add_node(controller)

        def turn() -> None:
            assert process.poll() is None, process.stderr.read()
            controller.publish(positions)
            executor.spin_once(timeout_sec=0.02)

        until(lambda: len(controller.commands) >= ENOUGH, turn)
        executor.shutdown()
        controller.destroy_node()
    assert controller.commands[-1] == pytest.approx(expected, abs=1e-9)
