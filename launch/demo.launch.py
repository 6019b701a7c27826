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
Start a simulated arm and the inverse dynamics node beside it, to play with.

The arm hangs in gravity compensation: push it on tip_wrench, let it pick something up on tip_load,
tilt it by the driver's parameter gravity, or send it a joint_trajectory after setting the node's
parameter mode to feedforward.  The simulation needs MuJoCo (from PyPI).
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.tools.models import MODELS


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments, and what follows from them."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'robot', default_value='panda', choices=list(MODELS), description='which arm'),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of both and their topics'),
        DeclareLaunchArgument(
            'mode', default_value='gravity_compensation',
            description='gravity_compensation or feedforward'),
        OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Node]:
    """Return the simulated driver and the node, which has to know the names of the joints."""
    robot = LaunchConfiguration('robot').perform(context)
    namespace = LaunchConfiguration('namespace')
    joints = [joint.name for joint in parse_urdf(MODELS[robot]().urdf).joints if joint.type.nv]
    driver = Node(
        package='ros2_rnea',
        executable='simulated_driver',
        namespace=namespace,
        arguments=['--robot', robot],
        output='screen')
    node = Node(
        package='ros2_rnea',
        executable='inverse_dynamics_node',
        name='inverse_dynamics',
        namespace=namespace,
        parameters=[{'joints': joints, 'mode': LaunchConfiguration('mode')}],
        remappings=[('~/commands', 'effort_controller/commands')],
        output='screen')
    return [driver, node]
