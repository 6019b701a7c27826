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
The joints of a controller that a trajectory omits.

joint_trajectory_controller holds the positions of such joints, and commands them an effort of
zero, which stays after the goal has succeeded.  A trajectory that is filled with efforts therefore
has to name all joints that the controller holds against gravity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.offline.filling.effort_filler import Plan
from ros2_rnea.trajectories.trajectory import Waypoint


@dataclass(frozen=True)
class Controller:
    """
    The controller that will execute a trajectory, as far as it is known.

    :ivar joints: its joints; empty: they are not known.
    :ivar accepts_partial_goals: whether it executes trajectories that omit some of them.
    :ivar commands_position: whether it commands positions, among others.
    :ivar reference: the positions by joint that it commands now [rad or m]; empty: not known.
    :ivar moving: the joints whose reference moves.
    """

    joints: Sequence[str] = ()
    accepts_partial_goals: bool = True
    commands_position: bool = True
    reference: Mapping[str, float] = field(default_factory=dict)
    moving: Sequence[str] = ()

    def omitted(self, plan: Plan, controlled: Sequence[str]) -> tuple[str, ...]:
        """
        Return the joints to add to a trajectory: those of the controller that it omits.

        :param controlled: the joints whose efforts are filled in; no others are added.
        :raises TrajectoryError: where it is not known which joints the controller has.
        """
        names = [name for name in controlled if name not in plan.joint_names]
        if not names or len(names) == len(controlled) or not self.accepts_partial_goals:
            return ()
        if not self.joints:
            raise TrajectoryError(
                f"the trajectory omits {', '.join(map(repr, names))}, and which of these joints "
                'its controller has is not known: it would command them an effort of zero. '
                'Name the controller in the parameter trajectory_controller, let the node receive '
                'its controller_state, or name all of its joints in the trajectory; if the '
                'controller accepts no partial goals, set allow_partial_joints_goal to false')
        return tuple(name for name in names if name in self.joints)

    def positions_to_hold(
            self, names: Sequence[str], measured: Mapping[str, float]) -> dict[str, float]:
        """
        Return where joints are to be held that a trajectory omits [rad or m].

        That is where the controller commands them to be.  Their measured positions are used only
        where the controller commands no positions: drives sag under the load, and a commanded
        position would step by that.

        :param measured: by joint, as far as the measurement is fresh.
        :raises TrajectoryError: where a joint moves, or its position is not known.
        """
        moving = [name for name in names if name in self.moving]
        if moving:
            raise TrajectoryError(
                f'the trajectory omits joint {moving[0]!r}, which the controller is moving now: '
                'fill it when that joint is at rest, or name the joint in the trajectory')
        if all(name in self.reference for name in names):
            return {name: self.reference[name] for name in names}
        if self.commands_position:
            raise TrajectoryError(
                f'the trajectory omits joint {names[0]!r}, and the position that the controller '
                'commands it is not known, because no fresh controller_state has been received: a '
                'measured position would be a step. Let the node receive controller_state, or '
                'name the joint in the trajectory')
        for name in names:
            if name not in measured:
                raise TrajectoryError(
                    f'the trajectory omits joint {name!r}, and no fresh joint state or '
                    'controller_state says where it is to be held: name it in the trajectory')
        return {name: measured[name] for name in names}


def with_joints_at_rest(plan: Plan, positions: Mapping[str, float]) -> Plan:
    """
    Return a trajectory with more joints, which stand still.

    :param positions: of joints that the trajectory does not name [rad or m].
    """
    if not positions:
        return plan
    held, zeros = list(positions.values()), np.zeros(len(positions))
    waypoints = [Waypoint(
        waypoint.time,
        np.append(waypoint.positions, held),
        *(None if values is None or not len(values) else np.append(values, zeros)
          for values in (waypoint.velocities, waypoint.accelerations)))
        for waypoint in plan.waypoints]
    efforts = [(*effort, *zeros.tolist()) if len(effort) else effort for effort in plan.efforts]
    return Plan([*plan.joint_names, *positions], waypoints, efforts)
