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
"""What the launch files have in common: how the node is started, and with which defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.conditions import IfCondition
from launch.events import matches_action
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

ARGUMENTS = {
    'managed': ('false', 'whether the node is a managed (lifecycle) node: true or false'),
    'autostart': ('true', 'whether a managed node is configured and activated at once'),
    'respawn': ('false', 'whether the node is started again after a crash: true or false'),
}
"""Default and description of each launch argument that :func:`node_actions` reads."""

RESPAWN_DELAY = 0.1
"""
Pause before the node is started again [s]: a node that cannot start leaves time to others.

The pause is short, because the controller holds the last effort of the node until then, whatever
the arm does.
"""

CONTROLLER = 'joint_trajectory_controller'
TOPICS_OF_CONTROLLER = {
    'controller_state': (
        f'{CONTROLLER}/controller_state', 'topic of the reference that the controller publishes'),
    'joint_trajectory': (
        f'{CONTROLLER}/joint_trajectory',
        'topic of desired trajectories, used without controller_state'),
}
"""Default and description of the launch arguments with which its motion is followed."""


def with_defaults(
        launch_file: Path, params_file: Path, others: Mapping[str, tuple[str, str]] | None = None,
        ) -> LaunchDescription:
    """
    Return what another launch file describes, with other defaults of its arguments.

    :param params_file: the default of the argument of that name.
    :param others: defaults and descriptions of other arguments, by name.
    """
    defaults = {
        'params_file': (
            str(params_file), f'parameters: a copy of config/{params_file.name} with your joints'),
        **(others or {})}
    return LaunchDescription([
        *declared(defaults),
        IncludeLaunchDescription(PythonLaunchDescriptionSource(str(launch_file)))])


def declared(arguments: Mapping[str, tuple[Any, str]]) -> list[DeclareLaunchArgument]:
    """Declare launch arguments, whose defaults and descriptions are given by name."""
    return [DeclareLaunchArgument(name, default_value=default, description=description)
            for name, (default, description) in arguments.items()]


def declare_arguments() -> list[DeclareLaunchArgument]:
    """Declare the launch arguments that :func:`node_actions` reads."""
    return declared(ARGUMENTS)


def node_actions(context: LaunchContext, **arguments: Any) -> list[Action]:
    """
    Return the actions that start the node as the launch arguments say.

    :param arguments: of launch_ros' ``Node``, except for the package and the executable.
    """
    arguments |= {
        'package': 'ros2_rnea', 'output': 'screen', 'respawn': _is_set(context, 'respawn'),
        'respawn_delay': RESPAWN_DELAY}
    if not _is_set(context, 'managed'):
        return [Node(executable='inverse_dynamics_node', **arguments)]
    node = LifecycleNode(executable='managed_inverse_dynamics_node', **arguments)
    if not _is_set(context, 'autostart'):
        return [node]
    # At the end of the first configuration, also where it is refused: later ones are another
    # program's, which may not want the arm to be active.
    activation = RegisterEventHandler(OnStateTransition(
        target_lifecycle_node=node, start_state='configuring', handle_once=True,
        entities=[OpaqueFunction(function=_activate_if_inactive)]))
    return [activation, node, _request(node, Transition.TRANSITION_CONFIGURE)]


def _is_set(context: LaunchContext, argument: str) -> bool:
    return IfCondition(LaunchConfiguration(argument)).evaluate(context)


def _activate_if_inactive(context: LaunchContext) -> list[Action]:
    """Return what follows a transition of a node, which the context's event tells."""
    event = context.locals.event
    is_inactive = event.goal_state == 'inactive'
    return [_request(event.action, Transition.TRANSITION_ACTIVATE)] if is_inactive else []


def _request(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(
        lifecycle_node_matcher=matches_action(node), transition_id=transition))
