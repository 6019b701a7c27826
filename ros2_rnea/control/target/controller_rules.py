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
"""The parameters of joint_trajectory_controller that change the motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ros2_rnea.control.parameter import Group, Level, parameter

_RULES = (
    'allow_nonzero_velocity_at_trajectory_end',
    'allow_partial_joints_goal',
    'allow_trajectory_replacement',
    'interpolate_from_desired_state',
    'open_loop_control',
    'command_interfaces',
    'joints',
)
"""Parameters that are understood."""

_DEVIATIONS: dict[str, tuple[tuple[Any, ...], str]] = {
    'interpolation_method': (('splines',), 'it steps from point to point'),
    'positions_upsampling.enable': ((False,), 'it adds velocities to points without any'),
    'allow_integration_in_goal_trajectories': (
        (False,), 'it accepts points without positions too'),
    'speed_scaling.state_interface': (('',), 'the hardware slows it down'),
    'speed_scaling.command_interface': (('',), 'it can be slowed down'),
    'speed_scaling.initial_scaling_factor': ((1.0,), 'it starts at another speed'),
    'cmd_timeout': ((0.0,), 'it gives up the last point after this time'),
    'constraints.goal_time': ((0.0,), 'it gives up a goal that is not reached in this time'),
    'constraints.decelerate_on_cancel': ((False,), 'it moves on after a cancellation'),
}
"""
Parameters with which the controller deviates from the trajectory.

Each has the values with which it does not, and a description of what it does with others.
"""

_JOINT_DEVIATIONS: dict[str, tuple[tuple[Any, ...], str]] = {
    'constraints.{}.trajectory': ((0.0,), 'it gives up a motion that deviates by this'),
    'gains.{}.angle_wraparound': (
        (False,), 'it moves to the first point by the shorter way round'),
    'gains.{}.normalize_error': (
        (False,), 'it moves to the first point by the shorter way round'),
}
"""Parameters of this kind for each joint; the last two are those of Humble."""

WITHOUT_EFFECT = (
    'command_joints',      # names of interfaces
    'state_publish_rate',  # of controller_state, in Humble
    'action_monitor_rate',
    'set_last_command_interface_value_as_state_on_activation',  # where it holds without motion
    'positions_upsampling.policy_frequency',  # only where that is enabled
    'constraints.stopped_velocity_tolerance',
    'constraints.{}.goal',  # only with goal_time
    'constraints.{}.max_deceleration_on_cancel',  # only with decelerate_on_cancel
    *('gains.{}.' + name for name in (  # feedback, which is added to the effort
        'p', 'i', 'd', 'i_clamp', 'i_clamp_max', 'i_clamp_min', 'ff_velocity_scale',
        'u_clamp_max', 'u_clamp_min', 'antiwindup_strategy', 'tracking_time_constant',
        'error_deadband')),
)
"""Parameters that are not read, because no trajectory is executed differently for them."""


def parameters_to_read(joints: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the controller's parameters that change how these joints move."""
    return (*_RULES, 'state_interfaces', *_DEVIATIONS, *(
        name.format(joint) for joint in joints for name in _JOINT_DEVIATIONS))


@dataclass(frozen=True)
class ControllerRules:
    """
    The rules of a controller that its parameters determine.

    The first four have the names of these parameters; an older name of
    ``interpolate_from_desired_state`` is ``open_loop_control``.
    """

    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False,
        'Whether a trajectory may end in motion, as the single points that MoveIt Servo streams '
        'do. The controller that moves the arm has a parameter of the same name.',
        Group.TIME, Level.EXPERT)
    allow_partial_joints_goal: bool = parameter(
        True,
        'Whether a trajectory may omit joints. It must be as in the controller.',
        Group.TIME, Level.EXPERT)
    allow_trajectory_replacement: bool = parameter(
        False,
        'Whether a trajectory continues until the start time of the next one. Otherwise it ends '
        'when the next one is received. It must be as in the controller. Where they meet, a '
        'continuous joint goes the shorter way; the controller turns it by a whole turn if the '
        'driver wraps positions, and the node then sends gravity until they agree.',
        Group.TIME, Level.EXPERT)
    interpolate_from_desired_state: bool = parameter(
        False,
        'Whether a trajectory starts from the desired state. Otherwise it starts from the '
        'measured state. It must be as in the controller.',
        Group.TIME, Level.EXPERT)
    omitted_joints_stay_where_commanded: bool = parameter(
        True,
        'Whether joints that a trajectory omits stay at their desired position, as with a '
        'controller that commands positions. Otherwise they stay at their measured position.',
        Group.TIME, Level.EXPERT)

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> ControllerRules:
        """
        Return the rules of a controller with these parameters.

        :param values: by name; None or absent for parameters that the controller's version does
            not have.
        """
        return cls(
            bool(values.get('allow_nonzero_velocity_at_trajectory_end')),
            bool(values.get('allow_partial_joints_goal')),
            bool(values.get('allow_trajectory_replacement')),
            bool(values.get('interpolate_from_desired_state')
                 or values.get('open_loop_control')),
            'position' in (values.get('command_interfaces') or ()))


def deviations_from_trajectory(values: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the parameters with which a controller deviates from its trajectories.

    Its motion is then known from its controller_state only.

    :param values: as in :meth:`ControllerRules.from_parameters`.
    :returns: by name, a description of the deviation.
    """
    patterns = {**_DEVIATIONS, **{
        pattern.format(joint): row for joint in values.get('joints') or ()
        for pattern, row in _JOINT_DEVIATIONS.items()}}
    found = {name: description for name, (usual, description) in patterns.items()
             if values.get(name) is not None and values[name] not in usual}
    states = values.get('state_interfaces')
    if states and 'velocity' not in states:
        found['state_interfaces'] = (
            'it starts the motion to the first point at zero velocity, whatever velocity is '
            'measured')
    if states and 'acceleration' in states:
        found['state_interfaces'] = (
            'it starts the motion to the first point with the measured acceleration')
    return found
