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
Start the node beside a controller of positions and a controller of efforts.

The node follows the reference of the joint_trajectory_controller, and its efforts go to the drives
by the effort_controller, live, so that trajectories need no efforts.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

HERE = Path(__file__).parent
CONFIG = HERE.parent / 'config' / 'live_feedforward.yaml'
CONTROLLER = 'joint_trajectory_controller'


def generate_launch_description() -> LaunchDescription:
    """Set the defaults that differ from inverse_dynamics.launch.py, and include it."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG),
            description='parameters: a copy of config/live_feedforward.yaml with your joints'),
        DeclareLaunchArgument(
            'controller_state', default_value=f'{CONTROLLER}/controller_state',
            description='topic of the reference that the controller publishes'),
        DeclareLaunchArgument(
            'joint_trajectory', default_value=f'{CONTROLLER}/joint_trajectory',
            description='topic of desired trajectories, used without controller_state'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(HERE / 'inverse_dynamics.launch.py')))])
