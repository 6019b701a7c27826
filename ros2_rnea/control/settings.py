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
"""The settings of the feedforward, one for each parameter of the node that concerns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import dist, inf, isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.dynamics.terms import TERM_NAMES
from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.arguments import STANDARD_GRAVITY
from ros2_rnea.robots.sent_terms import Arm, Terms


class Mode(Enum):
    """The state at which the effort is computed, and its acceleration."""

    FEEDFORWARD = 'feedforward'
    """At the desired state, for the desired velocity and acceleration."""

    GRAVITY_COMPENSATION = 'gravity_compensation'
    """At the measured positions, for rest."""

    COMPUTED_TORQUE = 'computed_torque'
    """At the measured state, for the desired acceleration plus the state feedback."""


class BeyondLimits(Enum):
    """How efforts are limited where one of them exceeds its limit."""

    CLAMP = 'clamp'
    """Each effort is clipped to its own limit."""

    SCALE = 'scale'
    """What exceeds the efforts that hold the arm is reduced by one factor for all joints."""


class ExertedBy(Enum):
    """Who exerts the wrench in a wrench message."""

    ENVIRONMENT = 'environment'
    ROBOT = 'robot'


class StartFrom(Enum):
    """
    The effort from which the first command starts.

    It should be the one that the controller holds, so that nothing steps.
    """

    AUTOMATIC = 'automatic'
    """
    By evidence: the last command, where the receiver is the same process as then; zero, where the
    receiver is new, or the arm compensates gravity by itself; else the measured effort.
    """

    LAST = 'last'
    """The last recorded command, whoever has received it."""

    MEASURED = 'measured'
    """The measured effort of joints at rest."""

    GRAVITY = 'gravity'
    """The effort that holds the measured state, for an arm that is held already."""

    ZERO = 'zero'
    """Zero, for a receiver that holds nothing."""


class ContactReaction(Enum):
    """What the node does when an external effort exceeds its threshold."""

    NONE = 'none'
    HOLD = 'hold'
    """Follow nothing any more: gravity at the measured state, until ~/enable is called."""


class OnStop(Enum):
    """
    The effort to which the last efforts lead before nothing is sent.

    Nothing is sent when joint states have stopped, when the node is disabled, and after its end.
    """

    GRAVITY = 'gravity'
    """The effort that holds the last measured position."""

    ZERO = 'zero'
    """Zero, for an arm that its brakes hold or that cannot fall."""


class WrenchSettings(NamedTuple):
    """
    How measured wrenches are conditioned.

    :ivar timeout: a wrench is used for this long after its reception [s].
    :ivar fade_time: duration of its fade-out afterwards [s], so that the effort does not step.
    :ivar exerted_by: whether messages contain the wrench that the environment applies to the
        robot or its reaction, which the robot applies to the environment.
    :ivar time_constant: of the low-pass filter [s]; 0: no filter.
    :ivar force_deadband: norms of forces below this are taken as zero [N].
    :ivar moment_deadband: likewise for moments [Nm].
    :ivar gain: share of what is left that is compensated, 0 to 1.
    :ivar force_limit: largest norm of a compensated force [N].
    :ivar moment_limit: likewise of a moment [Nm].
    :ivar tool_mass: of the tool that the sensor carries and the description contains [kg]; it is
        the same for every frame, so that it suits a robot with one sensor only.
    :ivar tool_center: the tool's centre of mass in the wrench's frame [m].
    :ivar frames: whose wrenches are added up; empty: one at a time, whichever it is.
    """

    timeout: float
    fade_time: float = 0.0
    exerted_by: ExertedBy = ExertedBy.ENVIRONMENT
    time_constant: float = 0.0
    force_deadband: float = 0.0
    moment_deadband: float = 0.0
    gain: float = 1.0
    force_limit: float = inf
    moment_limit: float = inf
    tool_mass: float = 0.0
    tool_center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frames: tuple[str, ...] = ()


def _nothing_by_name() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Settings:
    """
    The settings of a :class:`~ros2_rnea.control.policy.Policy`.

    :ivar joints: the controlled joints, in the order of the command.  Empty: every joint with one
        degree of freedom and without an assumed position; then no command is published.
    :ivar mode: how the effort is computed.
    :ivar terms: the terms of the effort that are sent.
    :ivar arm: the controlled arm, for ``Terms.AUTOMATIC`` and ``MEASURED_AS_ARM``.
    :ivar arm_gravity: acceleration of free fall in the root link's axes for which the arm
        compensates gravity by itself, shape (3,) [m/s^2].  The difference between the gravity
        torques for ``gravity`` and for ``arm_gravity`` is then sent.  Empty: the arm compensates
        the true gravity, and nothing of it is sent.
    :ivar measured_lacks: names of the terms that the measured effort lacks, which the residual
        then lacks too; ``MEASURED_AS_ARM``, ``MEASURED_IS_COMPLETE`` or ``MEASURED_IS_NO_EFFORT``
        instead.
    :ivar position_gains: of computed torque, one for each joint or one for all [1/s^2].
    :ivar velocity_gains: likewise [1/s].
    :ivar enabled: whether any effort is sent.
    :ivar may_be_enabled: false where the node and not its user has disabled the efforts, because
        their receiver is not known or the node is not active.
    :ivar may_send_last: false where not even the effort of ``on_stop`` may be sent, because it
        could reach other joints than those it is meant for.
    :ivar held_by_others: the controlled joints whose position or velocity another active
        controller commands, or the drives control.  The node moves all others *alone*.
    :ivar assumed_positions: by name, for joints that no joint state reports [rad or m].
    :ivar gravity: acceleration of free fall in the root link's axes [m/s^2].
    :ivar gravity_from_imu: whether gravity is measured by an accelerometer, from its first
        reading on.
    :ivar imu_timeout: a measured gravity is known for this long after the last reading [s].
    :ivar gravity_time_constant: of the low-pass filter for an accelerometer's readings [s].
    :ivar gravity_tolerance: largest angle between ``gravity`` and an accelerometer's reading
        [rad].
    :ivar state_timeout: a measured state is fresh for this long [s].
    :ivar plausible_speed_factor: multiple of the description's velocity limits beyond which a
        measured motion is not believed; 0: all are.
    :ivar lookahead: how far ahead of now the desired motion is sampled [s].
    :ivar hold_tolerance: largest distance from the end of a motion at which the end is held, and
        not the measured position [rad or m].
    :ivar path_tolerance: largest distance of a revolute or continuous joint from its trajectory at
        which the trajectory is followed [rad]; 0: any.
    :ivar path_tolerance_prismatic: likewise, of a prismatic joint [m].
    :ivar rules: by which the controller follows trajectories.
    :ivar controller_state_timeout: a controller's reference is fresh for this long [s].
    :ivar wrench_timeout: a wrench is fresh for this long [s].
    :ivar wrench_fade_time: duration of its fade-out afterwards [s].
    :ivar wrench_exerted_by: whether messages contain the wrench on the robot or its reaction.
    :ivar wrench_gain: share of a measured wrench that is compensated, 0 to 1.  In contact, the
        wrench grows with the effort, so that the share is the gain of a positive feedback loop.
    :ivar wrench_force_limit: largest norm of a compensated force [N].
    :ivar wrench_moment_limit: likewise of a moment [Nm].
    :ivar wrench_effort_share: largest share of a joint's effort limit that the compensation of
        wrenches may use, 0 to 1.
    :ivar wrench_in_gravity_compensation: whether wrenches are compensated where no motion is
        followed, too.
    :ivar wrench_time_constant: of the low-pass filter for wrenches [s].
    :ivar wrench_force_deadband: norms of forces below this are taken as zero [N].
    :ivar wrench_moment_deadband: likewise for moments [Nm].
    :ivar wrench_tool_mass: of the tool that the sensor carries and the description contains [kg].
    :ivar wrench_tool_center: the tool's centre of mass in the wrench's frame [m].
    :ivar wrench_frames: the links whose wrenches act together; empty: one link at a time.
    :ivar beyond_limits: how efforts beyond their limits are limited.
    :ivar effort_limits: by name, in place of those of the description [Nm or N].
    :ivar effort_limit_factor: share of the effort limits that may be used, 0 to 1; of those in
        ``effort_limits``, too.
    :ivar effort_rate_limit: upper bound of the change of an effort per second [Nm/s or N/s], see
        :func:`.effort_rate_limits`; 0: by joint alone; infinite: no rate limit.
    :ivar start_from: the effort from which the first command starts.
    :ivar blend_time: duration of the blend from the effort sent before a start, or before a
        change of settings or robot [s].
    :ivar position_limit_margin: distance from the end of its range at which a joint is no longer
        pushed further [rad or m].
    :ivar velocity_limit_factor: share of the description's velocity limits above which a joint
        is no longer accelerated.
    :ivar friction_assistance: share of the friction that is compensated while the arm is guided in
        ``Mode.GRAVITY_COMPENSATION``, 0 to :data:`LARGEST_ASSISTANCE`.
    :ivar friction_assistance_deadband: speed up to which it is zero [rad/s or m/s].
    :ivar guiding_damping: damping in the same mode, by name [Nm s/rad or N s/m].
    :ivar end_stop_stiffness: of springs at the ends of the range in the same mode, by name
        [Nm/rad or N/m].
    :ivar command_scale: by name, what one Nm (or N) is on ~/commands in the unit of the drive.
    :ivar dead_man_button: index of the button that has to be pressed for efforts to be sent; −1:
        there is none.
    :ivar dead_man_timeout: a pressed button is valid for this long after its message [s].
    :ivar on_stop: the effort to which the last efforts lead before nothing is sent.
    :ivar braking_time: time constant with which joints that the node moves alone are braked [s].
    :ivar longest_braking: after this time nothing is sent any more, also where the arm still
        moves [s].
    :ivar trip_deviation: multiple of ``path_tolerance`` or ``hold_tolerance``, whichever is
        larger, by which a joint under feedback may deviate before it is braked; 0: any.
    :ivar trip_saturation_time: how long the effort of a joint under feedback may be saturated
        while its deviation grows, before it is braked [s]; 0: for ever.
    :ivar trip_velocity_factor: multiple of the description's velocity limits above which joints
        are braked; 0: none.
    :ivar feedback_delay: from a measurement until its effort acts, beside the period [s], for the
        check of gains.
    :ivar velocity_filter_time: time constant of the filter from which the measured velocities
        come [s]; 0: there is none.
    :ivar mimic_tolerance: deviation of a mimic joint above which it is reported [rad or m].
    :ivar observe_external_effort: whether the effort of the environment is observed.
    :ivar external_effort_gain: of the momentum observer; its inverse is the time constant [1/s].
    :ivar external_effort_threshold: by name, the magnitude above which an external effort is a
        contact [Nm or N]; joints without one have none.
    :ivar external_wrench_link: the link at which the external wrench is estimated; empty: none.
    :ivar contact_reaction: what follows a contact while a motion is followed.
    :raises ArgumentError: naming the setting whose value is out of range.
    """

    joints: tuple[str, ...] = ()
    mode: Mode = Mode.FEEDFORWARD
    terms: Terms = Terms.AUTOMATIC
    arm: Arm = Arm.GENERIC
    arm_gravity: tuple[float, ...] = ()
    measured_lacks: tuple[str, ...] = ('automatic',)
    position_gains: tuple[float, ...] = ()
    velocity_gains: tuple[float, ...] = ()
    enabled: bool = True
    may_be_enabled: bool = True
    may_send_last: bool = True
    held_by_others: frozenset[str] = frozenset()
    assumed_positions: Mapping[str, tuple[float, ...]] = field(default_factory=_nothing_by_name)
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    gravity_from_imu: bool = False
    imu_timeout: float = 0.5
    gravity_time_constant: float = 0.5
    gravity_tolerance: float = 1.05
    state_timeout: float = 0.1
    plausible_speed_factor: float = 3.0
    lookahead: float = 0.0
    hold_tolerance: float = 0.1
    path_tolerance: float = 0.2
    path_tolerance_prismatic: float = 0.05
    rules: ControllerRules = ControllerRules()
    controller_state_timeout: float = 0.1
    wrench_timeout: float = 0.1
    wrench_fade_time: float = 0.2
    wrench_exerted_by: ExertedBy = ExertedBy.ENVIRONMENT
    wrench_gain: float = 0.5
    wrench_force_limit: float = 50.0
    wrench_moment_limit: float = 10.0
    wrench_effort_share: float = 0.2
    wrench_in_gravity_compensation: bool = False
    wrench_time_constant: float = 0.05
    wrench_force_deadband: float = 0.0
    wrench_moment_deadband: float = 0.0
    wrench_tool_mass: float = 0.0
    wrench_tool_center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    wrench_frames: tuple[str, ...] = ()
    beyond_limits: BeyondLimits = BeyondLimits.CLAMP
    effort_limits: Mapping[str, float] = field(default_factory=_nothing_by_name)
    effort_limit_factor: float = 1.0
    effort_rate_limit: float = 0.0
    start_from: StartFrom = StartFrom.AUTOMATIC
    blend_time: float = 0.5
    position_limit_margin: float = 0.0
    velocity_limit_factor: float = 1.0
    friction_assistance: float = 0.0
    friction_assistance_deadband: float = 0.05
    guiding_damping: Mapping[str, float] = field(default_factory=_nothing_by_name)
    end_stop_stiffness: Mapping[str, float] = field(default_factory=_nothing_by_name)
    command_scale: Mapping[str, float] = field(default_factory=_nothing_by_name)
    dead_man_button: int = -1
    dead_man_timeout: float = 0.5
    on_stop: OnStop = OnStop.GRAVITY
    braking_time: float = 0.1
    longest_braking: float = 2.0
    trip_deviation: float = 2.0
    trip_saturation_time: float = 0.2
    trip_velocity_factor: float = 1.5
    feedback_delay: float = 0.002
    velocity_filter_time: float = 0.0
    mimic_tolerance: float = 0.02
    observe_external_effort: bool = False
    external_effort_gain: float = 50.0
    external_effort_threshold: Mapping[str, float] = field(default_factory=_nothing_by_name)
    external_wrench_link: str = ''
    contact_reaction: ContactReaction = ContactReaction.NONE

    def __post_init__(self) -> None:
        for name in ('gravity', 'wrench_tool_center'):
            value = getattr(self, name)
            if len(value) != 3 or not all(map(isfinite, value)):
                raise ArgumentError(f'{name} is {value}; it needs 3 finite numbers')
        for name in _SHARES:
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise ArgumentError(f'{name} is {value}; it needs a number from 0 to 1')
        for joint, limit in self.effort_limits.items():
            if not 0.0 < limit < inf:
                raise ArgumentError(
                    f'effort_limits.{joint} is {limit}; it needs a finite number above 0')
        self._check_observer()
        if not self.velocity_limit_factor > 0.0:
            raise ArgumentError(
                f'velocity_limit_factor is {self.velocity_limit_factor}; '
                'it needs a number above 0')
        if not self.effort_rate_limit >= 0.0:
            raise ArgumentError(
                f'effort_rate_limit is {self.effort_rate_limit}; it needs a number, 0 or more')
        self._check_guiding()
        for name in ('braking_time', 'longest_braking'):
            if not 0.0 < getattr(self, name) < inf:
                raise ArgumentError(
                    f'{name} is {getattr(self, name)}; it needs a finite number above 0')
        for name in _FINITE:
            value = getattr(self, name)
            if not 0.0 <= value < inf:
                raise ArgumentError(f'{name} is {value}; it needs a finite number, 0 or more')
        for name in ('position_gains', 'velocity_gains'):
            self._check_gains(name, getattr(self, name))
        self._check_terms()
        self._check_arm_gravity()
        self._check_measured()

    def _check_observer(self) -> None:
        if not 0.0 < self.external_effort_gain < inf:
            raise ArgumentError(
                f'external_effort_gain is {self.external_effort_gain}; it needs a finite number '
                'above 0')
        for joint, threshold in self.external_effort_threshold.items():
            if not 0.0 < threshold < inf:
                raise ArgumentError(
                    f'external_effort_threshold.{joint} is {threshold}; it needs a finite number '
                    'above 0')
        if self.contact_reaction is ContactReaction.HOLD and not (
                self.observe_external_effort and self.external_effort_threshold):
            raise ArgumentError(
                'contact_reaction is hold, which needs observe_external_effort and an '
                'external_effort_threshold of at least one joint')

    @property
    def shortest_timeout(self) -> float:
        """Return the shorter of the timeouts of joint states and of the dead-man switch [s]."""
        if self.dead_man_button < 0:
            return self.state_timeout
        return min(self.state_timeout, self.dead_man_timeout)

    @property
    def sent_terms(self) -> Terms:
        """Return the terms that are sent, after ``Terms.AUTOMATIC`` is resolved."""
        return self.arm.terms_to_send if self.terms is Terms.AUTOMATIC else self.terms

    @property
    def lacking_terms(self) -> tuple[str, ...] | None:
        """
        Return the names of the terms that the measured effort lacks.

        None: what is measured is not known to be an effort, so that it has no residual.
        """
        if self.measured_lacks == MEASURED_AS_ARM:
            return self.arm.measured_lacks
        if self.measured_lacks == MEASURED_IS_NO_EFFORT:
            return None
        return () if self.measured_lacks == MEASURED_IS_COMPLETE else self.measured_lacks

    @property
    def assumes_other_gravity(self) -> bool:
        """Return whether the arm compensates another gravity than the one that acts on it."""
        return bool(self.arm_gravity) and (
            self.gravity_from_imu or dist(self.arm_gravity, self.gravity) > UPRIGHT_TOLERANCE)

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
            gain=self.wrench_gain,
            force_limit=self.wrench_force_limit,
            moment_limit=self.wrench_moment_limit,
            tool_mass=self.wrench_tool_mass,
            tool_center=self.wrench_tool_center,
            frames=self.wrench_frames)

    def _check_guiding(self) -> None:
        share = self.friction_assistance
        if not 0.0 <= share <= LARGEST_ASSISTANCE:
            raise ArgumentError(
                f'friction_assistance is {share}; it needs a number from 0 to '
                f'{LARGEST_ASSISTANCE}, so that friction still brakes a joint')
        if not 0.0 < self.friction_assistance_deadband < inf:
            raise ArgumentError(
                f'friction_assistance_deadband is {self.friction_assistance_deadband}; it needs a '
                'finite number above 0')
        if share and 'friction' in self.sent_terms.left_out:
            raise ArgumentError(
                f'friction_assistance is {share}, but friction is not sent, as to an arm that '
                f'compensates it by itself (arm: {self.arm.value}); it needs 0')
        for family in ('guiding_damping', 'end_stop_stiffness'):
            for joint, value in getattr(self, family).items():
                if not 0.0 <= value < inf:
                    raise ArgumentError(
                        f'{family}.{joint} is {value}; it needs a finite number, 0 or more')
        for joint, scale in self.command_scale.items():
            if not 0.0 < abs(scale) < inf:
                raise ArgumentError(
                    f'command_scale.{joint} is {scale}; it needs a finite number other than 0')

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

    def _check_arm_gravity(self) -> None:
        given = list(self.arm_gravity)
        if given and (len(given) != 3 or not all(map(isfinite, given))):
            raise ArgumentError(
                f'arm_gravity is {given}; it needs 3 finite numbers, or none where the arm '
                'compensates the true gravity')
        if given and 'gravity' not in self.sent_terms.left_out:
            raise ArgumentError(
                f'arm_gravity is {given}, but the whole gravity is sent, as to an arm that adds '
                'none; it needs an arm, or terms, for which gravity is left out')
        if not given and self.arm.compensates_upright and (
                self.gravity_from_imu or dist(self.gravity, STANDARD_GRAVITY) > UPRIGHT_TOLERANCE):
            used = 'taken from the imu' if self.gravity_from_imu else list(self.gravity)
            raise ArgumentError(
                f'gravity is {used}, and arm is {self.arm.value}, which compensates gravity as if '
                'it stood upright; it needs arm_gravity: the gravity that the arm compensates, in '
                f"the root link's axes, as {list(STANDARD_GRAVITY)} where z of that link points "
                'up along the base of the arm')

    def _check_measured(self) -> None:
        whole = (MEASURED_AS_ARM, MEASURED_IS_COMPLETE, MEASURED_IS_NO_EFFORT)
        if self.measured_lacks in whole:
            return
        for name in self.measured_lacks or ('',):
            if name not in TERM_NAMES:
                raise ArgumentError(
                    f'measured_lacks is {list(self.measured_lacks)}; it needs one of '
                    f'{", ".join(word for (word,) in whole)}, or names of terms out of '
                    f'{", ".join(TERM_NAMES)}')


MEASURED_AS_ARM = ('automatic',)
"""The measured effort lacks what that of the :class:`Arm` lacks."""

MEASURED_IS_COMPLETE = ('none',)
"""The measured effort lacks no term."""

MEASURED_IS_NO_EFFORT = ('all',)
"""The measured effort is something else, such as a motor current; no residual is computed."""

UPRIGHT_TOLERANCE = 0.1
"""Gravity that differs less than this from the standard is not taken as a tilt [m/s^2]."""

LARGEST_ASSISTANCE = 0.7
"""Largest accepted share of friction that is compensated: with more, a joint moves by itself where
the true friction is 30 % less than that of the model."""

HIGHEST_GAIN = 1e6
"""Largest accepted gain [1/s^2, 1/s]; a larger one is a mistake."""

_SHARES = ('effort_limit_factor', 'wrench_gain', 'wrench_effort_share')

_FINITE = (
    'state_timeout', 'plausible_speed_factor', 'lookahead', 'hold_tolerance', 'path_tolerance',
    'path_tolerance_prismatic', 'controller_state_timeout',
    'gravity_time_constant', 'gravity_tolerance',
    'wrench_timeout', 'wrench_fade_time', 'wrench_time_constant',
    'wrench_force_deadband', 'wrench_moment_deadband', 'wrench_force_limit',
    'wrench_moment_limit', 'wrench_tool_mass', 'blend_time',
    'position_limit_margin', 'mimic_tolerance', 'dead_man_timeout', 'imu_timeout',
    'trip_deviation', 'trip_saturation_time', 'trip_velocity_factor', 'feedback_delay',
    'velocity_filter_time')
