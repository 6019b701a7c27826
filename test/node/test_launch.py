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

from pathlib import Path

import pytest
from repository import ROOT
import yaml

launch = pytest.importorskip('launch', reason='the launch system comes with ROS 2 only')
if not hasattr(launch, 'LaunchDescription'):
    pytest.skip('the package named launch here is not that of ROS 2', allow_module_level=True)
pytest.importorskip('launch_ros')
sources = pytest.importorskip('launch.launch_description_sources')


def description_of(name: str):
    """Return what a launch file describes."""
    source = sources.PythonLaunchDescriptionSource(str(ROOT / 'launch' / name))
    return source.get_launch_description(launch.LaunchContext())


@pytest.mark.parametrize('name, arguments, executables', [
    ('inverse_dynamics.launch.py', {
        'params_file', 'namespace', 'robot_description', 'joint_states', 'joint_trajectory',
        'wrench', 'commands', 'use_sim_time', 'log_level'}, ['inverse_dynamics_node']),
    ('demo.launch.py', {'namespace', 'mode'}, ['simulated_driver', 'inverse_dynamics_node']),
])
def test_launch_file_declares_its_arguments_and_nodes(name, arguments, executables):
    described = description_of(name)
    assert {argument.name for argument in described.get_launch_arguments()} == arguments
    nodes = [e for e in described.entities if hasattr(e, 'node_executable')]
    assert [node.node_executable for node in nodes] == executables
    assert all(argument.description for argument in described.get_launch_arguments())


def test_every_launch_file_is_tested_here():
    files = {path.name for path in Path(ROOT, 'launch').iterdir() if path.suffix == '.py'}
    assert files == {'inverse_dynamics.launch.py', 'demo.launch.py'}


def test_the_default_parameter_file_exists():
    assert yaml.safe_load((ROOT / 'config' / 'inverse_dynamics.yaml').read_text())
