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
    :ivar wrench_timeout: how long a wrench counts [s].
    :ivar wrench_exerted_by_robot: messages tell what the robot does to the environment.
    :ivar wrench_in_gravity_compensation: wrenches count in that mode too.
    :ivar effort_limit_factor: share of the description's effort limits that may be used, 0 to 1.
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
    wrench_timeout: float = 0.1
    wrench_exerted_by_robot: bool = False
    wrench_in_gravity_compensation: bool = False
    effort_limit_factor: float = 1.0
    mimic_tolerance: float = 0.02

    def __post_init__(self) -> None:
        if len(self.gravity) != 3 or not all(map(isfinite, self.gravity)):
            raise ArgumentError(f'gravity is {self.gravity}; it needs 3 finite numbers')
        if not 0.0 <= self.effort_limit_factor <= 1.0:
            raise ArgumentError(
                f'effort_limit_factor is {self.effort_limit_factor}; '
                'it needs a number from 0 to 1')
        for name in ('state_timeout', 'lookahead', 'hold_tolerance', 'wrench_timeout',
                     'mimic_tolerance'):
            value = getattr(self, name)
            if not 0.0 <= value < inf:
                raise ArgumentError(f'{name} is {value}; it needs a finite number from 0 on')
