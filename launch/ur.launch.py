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
"""Start the node for an arm of Universal Robots with ur_robot_driver."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

HERE = Path(__file__).parent
CONFIG = HERE.parent / 'config' / 'ur.yaml'


def generate_launch_description() -> LaunchDescription:
    """Set the defaults that differ from inverse_dynamics.launch.py, and include it."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG),
            description='parameters: a copy of config/ur.yaml'),
        DeclareLaunchArgument(
            'commands', default_value='forward_effort_controller/commands',
            description="topic of the commands: the controller's own"),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(HERE / 'inverse_dynamics.launch.py')))])
