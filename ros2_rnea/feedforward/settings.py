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
"""What a user decides about the feedforward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import inf, isfinite
from types import MappingProxyType

from ros2_rnea.arguments import STANDARD_GRAVITY
from ros2_rnea.errors import ArgumentError


class Mode(Enum):
    """Where the effort is computed, and with what motion."""

    FEEDFORWARD = 'feedforward'
    """At the desired state, for the desired velocity and acceleration."""

    GRAVITY_COMPENSATION = 'gravity_compensation'
    """At the measured state, for standing still."""


class OnStaleState(Enum):
    """What is sent once the joint states have stopped."""

    STOP = 'stop'
    """Nothing more."""

    DECAY = 'decay'
    """What leads to gravity at the last measured state, and then that."""


class OnShutdown(Enum):
    """Where what is sent last leads to."""

    GRAVITY = 'gravity'
    """To the effort that holds the last measured state."""

    ZERO = 'zero'
    """To no effort."""

    NONE = 'none'
    """Nowhere: nothing more is sent."""


@dataclass(frozen=True)
class Settings:
    """
    The settings of a :class:`~ros2_rnea.feedforward.policy.FeedforwardPolicy`.

    :ivar joints: the controlled joints, in the order of the command.  Empty: every joint of one
        degree of freedom that has no assumed position, and no command.
    :ivar mode: what effort is sent.
    :ivar enabled: whether any is.
    :ivar assumed_positions: by joint name, for joints that nothing measures [rad or m].
    :ivar gravity: acceleration of free fall in the root link's axes [m/s^2].
    :ivar state_timeout: how long a measured state counts [s].
    :ivar lookahead: how far ahead of now the desired motion is read [s].
    :ivar hold_tolerance: how far the robot may be from the end of its trajectory for the effort
        to be that of the end [rad or m].
    :ivar allow_nonzero_velocity_at_trajectory_end: accept trajectories whose last point moves.
    :ivar allow_partial_joints_goal: and those that do not name all joints.
    :ivar allow_trajectory_replacement: a trajectory runs on until its successor's stamp.
    :ivar interpolate_from_desired_state: a trajectory leads in from the desired state.
    :ivar omitted_joints_stay_where_commanded: joints that a trajectory omits stay where they are
        desired to be, and otherwise where they are measured.
    :ivar controller_state_timeout: how long a controller's reference counts [s].
    :ivar wrench_timeout: how long a wrench counts [s].
    :ivar wrench_fade_time: how long it fades afterwards [s].
    :ivar wrench_exerted_by_robot: messages tell what the robot does to the environment.
    :ivar wrench_in_gravity_compensation: wrenches count in that mode too.
    :ivar effort_limit_factor: share of the description's effort limits that may be used, 0 to 1.
    :ivar effort_rate_limit: how fast an effort may change [Nm/s or N/s]; infinite: at once.
    :ivar blend_time: how long the effort takes from what was sent before a start or a change of
        settings or robot to what is right [s].
    :ivar position_limit_margin: how far before the end of its travel a joint is no longer pushed
        towards it [rad or m].
    :ivar velocity_limit_factor: share of the description's velocity limits from which on a joint
        is no longer pushed on.
    :ivar on_stale_state: what is sent once the joint states have stopped.
    :ivar on_shutdown: where what is sent last leads to.
    :ivar mimic_tolerance: how far a mimic joint may be off before it is said [rad or m].
    :raises ArgumentError: naming the setting whose value is out of range.
    """

    joints: tuple[str, ...] = ()
    mode: Mode = Mode.FEEDFORWARD
    enabled: bool = True
    assumed_positions: Mapping[str, tuple[float, ...]] = field(
        default_factory=lambda: MappingProxyType({}))
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    state_timeout: float = 0.1
    lookahead: float = 0.0
    hold_tolerance: float = 0.1
    allow_nonzero_velocity_at_trajectory_end: bool = False
    allow_partial_joints_goal: bool = True
    allow_trajectory_replacement: bool = False
    interpolate_from_desired_state: bool = False
    omitted_joints_stay_where_commanded: bool = True
    controller_state_timeout: float = 0.1
    wrench_timeout: float = 0.1
    wrench_fade_time: float = 0.2
    wrench_exerted_by_robot: bool = False
    wrench_in_gravity_compensation: bool = False
    effort_limit_factor: float = 1.0
    effort_rate_limit: float = 1000.0
    blend_time: float = 0.5
    position_limit_margin: float = 0.0
    velocity_limit_factor: float = 1.0
    on_stale_state: OnStaleState = OnStaleState.STOP
    on_shutdown: OnShutdown = OnShutdown.GRAVITY
    mimic_tolerance: float = 0.02

    def __post_init__(self) -> None:
        if len(self.gravity) != 3 or not all(map(isfinite, self.gravity)):
            raise ArgumentError(f'gravity is {self.gravity}; it needs 3 finite numbers')
        if not 0.0 <= self.effort_limit_factor <= 1.0:
            raise ArgumentError(
                f'effort_limit_factor is {self.effort_limit_factor}; '
                'it needs a number from 0 to 1')
        if not self.effort_rate_limit > 0.0:
            raise ArgumentError(
                f'effort_rate_limit is {self.effort_rate_limit}; it needs a number above 0')
        if not self.velocity_limit_factor > 0.0:
            raise ArgumentError(
                f'velocity_limit_factor is {self.velocity_limit_factor}; '
                'it needs a number above 0')
        for name in ('state_timeout', 'lookahead', 'hold_tolerance', 'wrench_timeout',
                     'controller_state_timeout', 'wrench_fade_time', 'blend_time',
                     'position_limit_margin', 'mimic_tolerance'):
            value = getattr(self, name)
            if not 0.0 <= value < inf:
                raise ArgumentError(f'{name} is {value}; it needs a finite number from 0 on')
