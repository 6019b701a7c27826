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
Start a simulated arm together with the inverse dynamics node, for experiments.

The arm starts in gravity compensation.  Push it with a wrench on the topic tip_wrench, attach a
payload on tip_load, tilt its mount with the parameter gravity of the driver, or set the parameter
mode of the node to feedforward and send a joint_trajectory.  The simulation needs MuJoCo (PyPI).
"""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.tools.launch_actions import declare_arguments, node_actions
from ros2_rnea.tools.models import MODELS


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the two nodes."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'robot', default_value='panda', choices=list(MODELS), description='simulated arm'),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of both nodes and their topics'),
        DeclareLaunchArgument(
            'mode', default_value='gravity_compensation',
            description='gravity_compensation or feedforward'),
        *declare_arguments(),
        OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Action]:
    """Return the simulated driver, and the node with the joint names of that arm."""
    robot = LaunchConfiguration('robot').perform(context)
    namespace = LaunchConfiguration('namespace')
    joints = [joint.name for joint in parse_urdf(MODELS[robot]().urdf).joints if joint.type.nv]
    driver = Node(
        package='ros2_rnea',
        executable='simulated_driver',
        namespace=namespace,
        arguments=['--robot', robot],
        output='screen')
    node = node_actions(
        context,
        name='inverse_dynamics',
        namespace=namespace,
        parameters=[{
            'joints': joints, 'mode': LaunchConfiguration('mode'),
            'friction_from': 'description',  # which the simulated joints have
            # The simulated push is known: it does not depend on the effort, as in a contact.
            'wrench_gain': 1.0, 'wrench_time_constant': 0.0, 'wrench_effort_share': 1.0}],
        remappings=[('~/commands', 'effort_controller/commands')])
    return [driver, *node]
