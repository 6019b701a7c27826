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
"""
Start the controllers of one configuration beside a joint_state_broadcaster that runs already.

``configuration`` names a file of this package's folder ``config``; ``params_file`` is a copy of it
with your joints.  The node of ros2_rnea, which this starts too, gives the controller its model.
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

CONFIG = Path(__file__).parent.parent / 'config'
CONFIGURATIONS = ('gravity_compensation', 'jtc_feedforward', 'jtc_computed_torque', 'jtc_effort')


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments, and start the node and the controllers."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'configuration', default_value=CONFIGURATIONS[0], choices=CONFIGURATIONS,
            description='what the controllers do: a file of the folder config'),
        DeclareLaunchArgument(
            'params_file', default_value='',
            description='parameters of the controllers; empty: those of the configuration'),
        DeclareLaunchArgument(
            'node_params_file', description='parameters of the node, with its joints'),
        GroupAction([  # else its params_file would be that of the controllers, too
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(
                    [FindPackageShare('ros2_rnea'), '/launch/inverse_dynamics.launch.py']),
                launch_arguments={'params_file': LaunchConfiguration('node_params_file')}.items()),
        ]),
        OpaqueFunction(function=_controllers)])


def _controllers(context: LaunchContext) -> list[Node]:
    configuration = LaunchConfiguration('configuration').perform(context)
    file = (LaunchConfiguration('params_file').perform(context)
            or str(CONFIG / f'{configuration}.yaml'))
    names = ['inverse_dynamics_controller']
    if configuration.startswith('jtc'):
        names.append('joint_trajectory_controller')
    return [Node(
        package='controller_manager', executable='spawner', output='screen',
        arguments=[*names, '--param-file', file, '--activate-as-group'])]
