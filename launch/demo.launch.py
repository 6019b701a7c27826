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

With ros2_control:=true, the arm is the mock hardware of ros2_control, with the controllers of
config/live_feedforward_controllers.yaml: send a goal to joint_trajectory_controller, and look at
/inverse_dynamics/effort.  This needs the packages ros2_control, ros2_controllers and
robot_state_publisher.
"""

from pathlib import Path

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.node.launch_actions import declare_arguments, node_actions
from ros2_rnea.tools.models import MODELS, with_ros2_control

HERE = Path(__file__).parent
CONTROLLERS = HERE.parent / 'config' / 'live_feedforward_controllers.yaml'
SPAWNED = ['joint_state_broadcaster', 'joint_trajectory_controller', 'effort_controller']


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments, the arm and the node."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'robot', default_value='panda', choices=list(MODELS), description='simulated arm'),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of all nodes and their topics'),
        DeclareLaunchArgument(
            'mode', default_value='gravity_compensation',
            description='gravity_compensation or feedforward; with ros2_control feedforward'),
        DeclareLaunchArgument(
            'ros2_control', default_value='false',
            description='whether the arm is mock hardware of ros2_control (the panda only)'),
        *declare_arguments(),
        GroupAction(
            [OpaqueFunction(function=_simulated)], scoped=False,
            condition=UnlessCondition(LaunchConfiguration('ros2_control'))),
        GroupAction(
            [OpaqueFunction(function=_controlled)], scoped=False,
            condition=IfCondition(LaunchConfiguration('ros2_control')))])


def _simulated(context: LaunchContext) -> list[Action]:
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
            'position_loop': 'present',  # the driver's, which no controller manager knows
            'friction_from': 'description',  # which the simulated joints have
            # The simulated push is known: it does not depend on the effort, as in a contact.
            'wrench_gain': 1.0, 'wrench_time_constant': 0.0, 'wrench_effort_share': 1.0}],
        remappings=[('~/commands', 'effort_controller/commands')])
    return [driver, *node]


def _controlled(context: LaunchContext) -> list[Action]:
    """
    Return the controller manager over mock hardware, its controllers and the node.

    :raises ValueError: for another arm or a namespace, which the controllers' file does not have.
    """
    for name, only in {'robot': 'panda', 'namespace': ''}.items():
        value = LaunchConfiguration(name).perform(context)
        if value != only:
            raise ValueError(f'ros2_control:=true needs {name}:={only or "nothing"}, not {value}')
    description = {'robot_description': with_ros2_control(MODELS['panda']())}
    return [
        Node(package='robot_state_publisher', executable='robot_state_publisher',
             parameters=[description]),
        Node(package='controller_manager', executable='ros2_control_node',
             parameters=[str(CONTROLLERS)], output='screen'),
        Node(package='controller_manager', executable='spawner', arguments=SPAWNED,
             output='screen'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(HERE / 'live_feedforward.launch.py')),
            launch_arguments={'mode': 'feedforward'}.items())]
