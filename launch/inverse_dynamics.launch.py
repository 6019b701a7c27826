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
"""Start the inverse dynamics node beside a robot's driver."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the node."""
    default_params = PathJoinSubstitution(
        [FindPackageShare('ros2_rnea'), 'config', 'inverse_dynamics.yaml'])
    arguments = {
        'params_file': (default_params, 'parameters: a copy of config/inverse_dynamics.yaml'),
        'namespace': ('', "namespace of the node and its topics, the driver's own"),
        'robot_description': ('robot_description', 'topic that brings the URDF'),
        'joint_states': ('joint_states', "topic of the robot's measured state"),
        'joint_trajectory': ('joint_trajectory', 'topic of desired trajectories'),
        'wrench': ('wrench', 'topic of the wrench that acts on the robot'),
        'commands': ('effort_controller/commands', 'topic that the effort controller listens to'),
        'use_sim_time': ('false', 'whether time comes from /clock'),
        'log_level': ('info', 'debug, info, warn or error'),
    }
    value = {name: LaunchConfiguration(name) for name in arguments}
    topics = ('robot_description', 'joint_states', 'joint_trajectory', 'wrench')
    node = Node(
        package='ros2_rnea',
        executable='inverse_dynamics_node',
        name='inverse_dynamics',
        namespace=value['namespace'],
        parameters=[value['params_file'], {'use_sim_time': value['use_sim_time']}],
        remappings=[
            *((topic, value[topic]) for topic in topics),
            ('~/commands', value['commands'])],
        arguments=['--ros-args', '--log-level', value['log_level']],
        output='screen')
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=description)
          for name, (default, description) in arguments.items()),
        node])
