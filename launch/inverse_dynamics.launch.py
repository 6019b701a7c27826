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
"""Start the inverse dynamics node for a robot whose driver and controllers are running."""

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from ros2_rnea.node.launch_actions import declare_arguments, declared, node_actions
from ros2_rnea.offline.commands.check_model.source import read_source

TOPICS = {
    'robot_description': 'topic of the URDF',
    'joint_states': "topic of the robot's measured state",
    'joint_trajectory': 'topic of desired trajectories',
    'controller_state': 'topic of the reference that a joint_trajectory_controller publishes',
    'wrench': 'topic of the external wrench, as of a force-torque sensor',
    'imu': 'topic of the IMU, for the parameter gravity_from_imu',
}
OVERRIDES = {
    'joints': "the controlled joints, '[a, b]', in the order of the controller; empty: as in "
              'params_file',
    'mode': 'feedforward, gravity_compensation or computed_torque; empty: as in params_file',
}


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the node."""
    default_params = PathJoinSubstitution(
        [FindPackageShare('ros2_rnea'), 'config', 'inverse_dynamics.yaml'])
    arguments = {
        'params_file': (default_params, 'parameters: a copy of config/inverse_dynamics.yaml'),
        **{name: ('', description) for name, description in OVERRIDES.items()},
        'namespace': ('', "namespace of the node and its topics: that of the robot's driver"),
        **{name: (name, description) for name, description in TOPICS.items()},
        'urdf': ('', 'URDF or xacro file of the robot, if nobody publishes robot_description'),
        'commands': ('effort_controller/commands', "topic of the commands: the controller's own"),
        'use_sim_time': ('false', 'whether to take the time from /clock'),
        'log_level': ('info', 'log level: debug, info, warn or error'),
    }
    return LaunchDescription([
        *declared(arguments),
        *declare_arguments(),
        OpaqueFunction(function=start_node)])


def start_node(context: LaunchContext) -> list[Action]:
    """Describe the node, with the parameters that arguments override."""
    overridden = [name for name in OVERRIDES if LaunchConfiguration(name).perform(context)]
    parameters = {name: LaunchConfiguration(name) for name in ['use_sim_time', *overridden]}
    urdf = LaunchConfiguration('urdf').perform(context)
    if urdf:
        parameters['robot_description'] = ParameterValue(read_source(urdf), value_type=str)
    return node_actions(
        context,
        name='inverse_dynamics',
        namespace=LaunchConfiguration('namespace'),
        parameters=[LaunchConfiguration('params_file'), parameters],
        remappings=[
            *((topic, LaunchConfiguration(topic)) for topic in TOPICS),
            ('~/commands', LaunchConfiguration('commands'))],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')])
