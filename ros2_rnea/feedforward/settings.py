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
from typing import NamedTuple

from ros2_rnea.arguments import STANDARD_GRAVITY
from ros2_rnea.dynamics.terms import TERMS
from ros2_rnea.errors import ArgumentError
from ros2_rnea.feedforward.reference.controller_rules import ControllerRules


class Mode(Enum):
    """Where the effort is computed, and with what motion."""

    FEEDFORWARD = 'feedforward'
    """At the desired state, for the desired velocity and acceleration."""

    GRAVITY_COMPENSATION = 'gravity_compensation'
    """At the measured state, for standing still."""

    COMPUTED_TORQUE = 'computed_torque'
    """At the measured state, for the desired acceleration and what corrects the error."""


class Terms(Enum):
    """Which terms of an effort are sent; what else there is, the arm adds by itself."""

    AUTOMATIC = 'automatic'
    """Those that :class:`Arm` does not add."""

    FULL = 'full'
    NO_GRAVITY = 'no_gravity'
    NO_GRAVITY_NO_CORIOLIS = 'no_gravity_no_coriolis'
    GRAVITY_ONLY = 'gravity_only'

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the terms, of those of :class:`.EffortTerms`, that are not sent."""
        return {
            Terms.NO_GRAVITY: ('gravity',),
            Terms.NO_GRAVITY_NO_CORIOLIS: ('gravity', 'coriolis'),
            Terms.GRAVITY_ONLY: tuple(term.name for term in TERMS if not term.acts_at_rest),
        }.get(self, ())


class Arm(Enum):
    """Known arms, by what they add to the efforts that they are commanded."""

    GENERIC = 'generic'
    """Nothing."""

    FRANKA = 'franka'
    """
    Gravity and Coriolis.

    Where it is left to the sender to add Coriolis, as in libfranka's own examples up to 0.21, the
    terms are ``Terms.NO_GRAVITY``.
    """

    UR = 'ur'
    """Gravity."""

    KUKA_FRI = 'kuka_fri'
    """Gravity."""

    @property
    def lacks(self) -> Terms:
        """Return the terms that the arm does not add."""
        if self is Arm.GENERIC:
            return Terms.FULL
        return Terms.NO_GRAVITY_NO_CORIOLIS if self is Arm.FRANKA else Terms.NO_GRAVITY


class BeyondLimits(Enum):
    """What becomes of efforts where one of them exceeds its limit."""

    CLAMP = 'clamp'
    """That one is cut to its limit."""

    SCALE = 'scale'
    """All become smaller by a common factor, so that their directions stay."""


class ExertedBy(Enum):
    """Who does what a wrench message tells."""

    ENVIRONMENT = 'environment'
    ROBOT = 'robot'


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


class WrenchSettings(NamedTuple):
    """
    How measured wrenches are conditioned.

    :ivar timeout: a wrench is used for this long after its reception [s].
    :ivar fade_time: duration of its fade-out afterwards [s], so that the effort does not step.
    :ivar exerted_by: whether messages contain the wrench that the environment applies to the
        robot or its reaction, which the robot applies to the environment.
    :ivar time_constant: of the low-pass filter [s]; 0: no filter.
    :ivar force_deadband: norms of forces below this count as zero [N].
    :ivar moment_deadband: likewise for moments [Nm].
    :ivar tool_mass: of the tool that the sensor carries and the description contains [kg]; it is
        the same for every frame, so that it suits a robot with one sensor only.
    :ivar tool_center: the tool's centre of mass in the wrench's frame [m].
    """

    timeout: float
    fade_time: float = 0.0
    exerted_by: ExertedBy = ExertedBy.ENVIRONMENT
    time_constant: float = 0.0
    force_deadband: float = 0.0
    moment_deadband: float = 0.0
    tool_mass: float = 0.0
    tool_center: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Settings:
    """
    The settings of a :class:`~ros2_rnea.feedforward.policy.FeedforwardPolicy`.

    :ivar joints: the controlled joints, in the order of the command.  Empty: every joint of one
        degree of freedom that has no assumed position, and no command.
    :ivar mode: what effort is computed.
    :ivar terms: which of its terms are sent.
    :ivar arm: what is controlled, for ``Terms.AUTOMATIC``.
    :ivar position_gains: of the computed torque, one for each joint or one for all [1/s^2].
    :ivar velocity_gains: likewise [1/s].
    :ivar enabled: whether any effort is sent.
    :ivar assumed_positions: by joint name, for joints that nothing measures [rad or m].
    :ivar gravity: acceleration of free fall in the root link's axes [m/s^2].
    :ivar gravity_from_imu: whether an accelerometer tells gravity, once it does.
    :ivar gravity_time_constant: of the low-pass filter for an accelerometer's readings [s].
    :ivar state_timeout: how long a measured state counts [s].
    :ivar lookahead: how far ahead of now the desired motion is read [s].
    :ivar hold_tolerance: how far the robot may be from the end of its trajectory for the effort
        to be that of the end [rad or m].
    :ivar rules: by which the controller follows trajectories.
    :ivar controller_state_timeout: how long a controller's reference counts [s].
    :ivar wrench_timeout: how long a wrench counts [s].
    :ivar wrench_fade_time: how long it fades afterwards [s].
    :ivar wrench_exerted_by: whether messages tell what is done to the robot or what it does.
    :ivar wrench_in_gravity_compensation: wrenches count in that mode too.
    :ivar wrench_time_constant: of the low-pass filter for wrenches [s].
    :ivar wrench_force_deadband: what counts of a force is what exceeds this [N].
    :ivar wrench_moment_deadband: likewise of a moment [Nm].
    :ivar wrench_tool_mass: of what is fastened beyond the sensor and part of the robot [kg].
    :ivar wrench_tool_center: its centre of mass in the wrench's frame [m].
    :ivar beyond_limits: what becomes of efforts beyond their limits.
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
    terms: Terms = Terms.AUTOMATIC
    arm: Arm = Arm.GENERIC
    position_gains: tuple[float, ...] = ()
    velocity_gains: tuple[float, ...] = ()
    enabled: bool = True
    assumed_positions: Mapping[str, tuple[float, ...]] = field(
        default_factory=lambda: MappingProxyType({}))
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    gravity_from_imu: bool = False
    gravity_time_constant: float = 0.5
    state_timeout: float = 0.1
    lookahead: float = 0.0
    hold_tolerance: float = 0.1
    rules: ControllerRules = ControllerRules()
    controller_state_timeout: float = 0.1
    wrench_timeout: float = 0.1
    wrench_fade_time: float = 0.2
    wrench_exerted_by: ExertedBy = ExertedBy.ENVIRONMENT
    wrench_in_gravity_compensation: bool = False
    wrench_time_constant: float = 0.0
    wrench_force_deadband: float = 0.0
    wrench_moment_deadband: float = 0.0
    wrench_tool_mass: float = 0.0
    wrench_tool_center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    beyond_limits: BeyondLimits = BeyondLimits.CLAMP
    effort_limit_factor: float = 1.0
    effort_rate_limit: float = 1000.0
    blend_time: float = 0.5
    position_limit_margin: float = 0.0
    velocity_limit_factor: float = 1.0
    on_stale_state: OnStaleState = OnStaleState.STOP
    on_shutdown: OnShutdown = OnShutdown.GRAVITY
    mimic_tolerance: float = 0.02

    def __post_init__(self) -> None:
        for name in ('gravity', 'wrench_tool_center'):
            value = getattr(self, name)
            if len(value) != 3 or not all(map(isfinite, value)):
                raise ArgumentError(f'{name} is {value}; it needs 3 finite numbers')
        if not 0.0 <= self.effort_limit_factor <= 1.0:
            raise ArgumentError(
                f'effort_limit_factor is {self.effort_limit_factor}; '
                'it needs a number from 0 to 1')
        for name in ('effort_rate_limit', 'velocity_limit_factor'):
            value = getattr(self, name)
            if not value > 0.0:
                raise ArgumentError(f'{name} is {value}; it needs a number above 0')
        for name in _FINITE:
            value = getattr(self, name)
            if not 0.0 <= value < inf:
                raise ArgumentError(f'{name} is {value}; it needs a finite number from 0 on')
        for name in ('position_gains', 'velocity_gains'):
            self._check_gains(name, getattr(self, name))
        self._check_terms()

    @property
    def sent_terms(self) -> Terms:
        """Return which terms are sent, whichever way that was said."""
        return self.arm.lacks if self.terms is Terms.AUTOMATIC else self.terms

    @property
    def wrenches(self) -> WrenchSettings:
        """Return the settings for measured wrenches."""
        return WrenchSettings(
            timeout=self.wrench_timeout,
            fade_time=self.wrench_fade_time,
            exerted_by=self.wrench_exerted_by,
            time_constant=self.wrench_time_constant,
            force_deadband=self.wrench_force_deadband,
            moment_deadband=self.wrench_moment_deadband,
            tool_mass=self.wrench_tool_mass,
            tool_center=self.wrench_tool_center)

    def _check_gains(self, name: str, gains: tuple[float, ...]) -> None:
        if not all(0.0 <= gain <= HIGHEST_GAIN for gain in gains):
            raise ArgumentError(
                f'{name} is {list(gains)}; it needs numbers from 0 to {HIGHEST_GAIN:g}')
        if self.mode is Mode.COMPUTED_TORQUE and not gains:
            raise ArgumentError(
                f'{name} is empty; mode computed_torque needs one number for all joints or one '
                'for each')

    def _check_terms(self) -> None:
        twice = self.arm is not Arm.GENERIC and 'gravity' not in self.sent_terms.left_out
        if twice:
            raise ArgumentError(
                f'terms is {self.terms.value}, which has gravity, and arm is {self.arm.value}, '
                'which adds gravity by itself; it needs other terms, or arm: generic')
        if self.mode is Mode.COMPUTED_TORQUE and self.sent_terms is Terms.GRAVITY_ONLY:
            raise ArgumentError(
                'terms is gravity_only, and mode is computed_torque, whose feedback would not be '
                'sent; it needs other terms')


HIGHEST_GAIN = 1e6
"""Beyond this [1/s^2, 1/s], a gain is a mistake."""

_FINITE = (
    'state_timeout', 'lookahead', 'hold_tolerance', 'controller_state_timeout',
    'gravity_time_constant', 'wrench_timeout', 'wrench_fade_time', 'wrench_time_constant',
    'wrench_force_deadband', 'wrench_moment_deadband', 'wrench_tool_mass', 'blend_time',
    'position_limit_margin', 'mimic_tolerance')
