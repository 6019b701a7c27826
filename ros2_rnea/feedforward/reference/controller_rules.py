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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Parameters with which the controller deviates from the trajectory, and how it does so.
_DEVIATIONS = {
    'interpolation_method': 'it steps from point to point',
    'positions_upsampling.enable': 'it adds velocities to points without any',
    'allow_integration_in_goal_trajectories': 'it accepts points without positions too',
    'speed_scaling.state_interface': 'the hardware slows it down',
    'speed_scaling.command_interface': 'it can be slowed down',
}
_WITHOUT_DEVIATION = (None, False, '', 'splines')

PARAMETERS = (
    'allow_nonzero_velocity_at_trajectory_end',
    'allow_partial_joints_goal',
    'allow_trajectory_replacement',
    'interpolate_from_desired_state',
    'command_interfaces',
    *_DEVIATIONS,
)
"""The controller's parameters that are read."""


@dataclass(frozen=True)
class ControllerRules:
    """
    The rules of a controller that its parameters determine.

    The first four have the names of these parameters.

    :ivar allow_nonzero_velocity_at_trajectory_end: a trajectory's last point may have a velocity.
    :ivar allow_partial_joints_goal: a trajectory need not name all joints.
    :ivar allow_trajectory_replacement: a trajectory continues until the start of its successor,
        and for joints that the successor omits.  Otherwise a successor ends it on reception.
    :ivar interpolate_from_desired_state: a motion starts from the desired state, and otherwise
        from the measured one.
    :ivar omitted_joints_stay_where_commanded: joints that a trajectory omits hold their desired
        position, and otherwise their measured one.
    """

    allow_nonzero_velocity_at_trajectory_end: bool = False
    allow_partial_joints_goal: bool = True
    allow_trajectory_replacement: bool = False
    interpolate_from_desired_state: bool = False
    omitted_joints_stay_where_commanded: bool = True

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
            bool(values.get('interpolate_from_desired_state')),
            'position' in (values.get('command_interfaces') or ()))


def deviations_from_trajectory(values: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the parameters with which a controller deviates from its trajectories.

    Its motion is then known from its controller_state only.

    :param values: as in :meth:`ControllerRules.from_parameters`.
    :returns: by name, a description of the deviation.
    """
    return {
        name: deviation for name, deviation in _DEVIATIONS.items()
        if values.get(name) not in _WITHOUT_DEVIATION}
