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
from dataclasses import dataclass
from enum import Enum
from math import dist, inf, isfinite
from typing import NamedTuple

from ros2_rnea.control.parameter import (
    by_joint,
    declared_in,
    Group,
    is_not_negative,
    is_not_zero,
    is_positive,
    Level,
    parameter,
)
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
    """Ways to limit efforts where one of them exceeds its limit."""

    CLAMP = 'clamp'
    """Each effort is clipped to its own limit."""

    SCALE = 'scale'
    """All that exceeds the efforts that hold the arm is reduced by one factor for all joints."""


class ExertedBy(Enum):
    """Who exerts the wrench in a wrench message."""

    ENVIRONMENT = 'environment'
    ROBOT = 'robot'


class StartFrom(Enum):
    """
    The effort from which the first command starts.

    It should be the one that the controller holds: then nothing steps.
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
    """Reactions of the node to an external effort above its threshold."""

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
    :ivar fade_time: duration of its fade-out afterwards [s]; without one, the effort would step.
    :ivar exerted_by: whether messages contain the wrench that the environment applies to the
        robot or its reaction, which the robot applies to the environment.
    :ivar time_constant: of the low-pass filter [s]; 0: no filter.
    :ivar force_deadband: norms of forces below this are taken as zero [N].
    :ivar moment_deadband: norms of moments below this are taken as zero [Nm].
    :ivar gain: share of what is left that is compensated, 0 to 1.
    :ivar force_limit: largest norm of a compensated force [N].
    :ivar moment_limit: largest norm of a compensated moment [Nm].
    :ivar tool_mass: of the tool that the sensor carries and the description contains [kg]; it
        applies to every frame, and thus suits a robot with one sensor only.
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


LARGEST_ASSISTANCE = 0.7
"""Largest accepted share of friction that is compensated: with more, a joint moves by itself where
the true friction is 30 % less than that of the model."""


@dataclass(frozen=True)
class Settings:
    """
    The settings of a :class:`~ros2_rnea.control.policy.Policy`.

    Most of them are parameters of the node, and are declared here alone.

    :raises ArgumentError: naming the setting whose value is out of range.
    """

    joints: tuple[str, ...] = parameter(
        (),
        'The controlled joints, in the order of ~/commands. It must be exactly the order of the '
        'parameter joints of the controller that receives ~/commands, and can change only while '
        'nothing is sent. Empty: nothing is published on ~/commands, while ~/effort (by joint '
        'name) and the services work.',
        Group.COMMAND, Level.FIRST)
    mode: Mode = parameter(
        Mode.FEEDFORWARD,
        'feedforward: the effort of the desired motion (topic joint_trajectory); gravity without '
        'one. gravity_compensation: the effort that holds the measured state, as for guiding by '
        'hand. computed_torque: the effort at the measured state, for the desired acceleration '
        'plus feedback (the gains times the errors).',
        Group.COMMAND, Level.FIRST)
    position_gains: tuple[float, ...] = parameter(
        (),
        'Gains of computed_torque for the position error [1/s^2]: one number for all joints, or '
        'one for each in the order of joints. With 100 and a velocity gain of 20 each joint '
        'behaves like a critically damped oscillator of 10 rad/s.',
        Group.COMMAND, Level.FIRST, items=float)
    velocity_gains: tuple[float, ...] = parameter(
        (),
        'Gains of computed_torque for the velocity error [1/s]: one number for all joints, or one '
        'for each in the order of joints. Critical damping needs twice the square root of the '
        'position gain. Gains that would oscillate at the measured period, feedback_delay and '
        'velocity_filter_time are refused, with the largest that would not.',
        Group.COMMAND, Level.FIRST, items=float)
    feedback_delay: float = parameter(
        0.002,
        'Time from a measurement until its effort acts, beside the period of the cycle [s]: of '
        'the bus, the driver and the drives. The gains of computed_torque are checked with it. '
        'The latency in /diagnostics is a first value.',
        Group.COMMAND, Level.EXPERT, 0.0, 1.0)
    velocity_filter_time: float = parameter(
        0.0,
        'Time constant of the low-pass filter from which the measured velocities come [s], as '
        'many drivers have one. The gains of computed_torque are checked with it. 0: there is no '
        'filter.',
        Group.COMMAND, Level.EXPERT, 0.0, 1.0)
    arm: Arm = parameter(
        Arm.GENERIC,
        'The type of arm, by the terms that it adds to commanded efforts by itself: generic '
        '(none), franka (gravity and friction) or ur (gravity). A term that is sent as well would '
        'act twice.',
        Group.COMMAND, Level.FIRST)
    arm_gravity: tuple[float, ...] = parameter(
        (),
        'The gravity that such an arm compensates by itself, if it is not the true one [m/s^2], '
        'in the axes of the root link. For a tilted arm that compensates as if it stood upright: '
        '[0.0, 0.0, -9.81]; the true gravity is the parameter gravity. The difference is sent. '
        'Empty: the arm compensates the true gravity.',
        Group.COMMAND, Level.EXPERT, items=float)
    terms: Terms = parameter(
        Terms.AUTOMATIC,
        'The terms that are sent: automatic (those that the arm does not add), full, no_gravity, '
        'no_gravity_no_friction, no_gravity_no_coriolis or gravity_only.',
        Group.COMMAND, Level.EXPERT)
    measured_lacks: tuple[str, ...] = parameter(
        ('automatic',),
        'The terms that the efforts in joint_states lack; the residual in ~/terms is computed '
        'without them. automatic: by arm. none: they have all terms. Names of terms, such as '
        '[gravity, friction]. all: they are not efforts but, for example, motor currents, so that '
        'there is no residual. The effort of the rotors (armature) is no term of its own: efforts '
        'that are measured on the side of the links lack it, and the residual then contains it.',
        Group.COMMAND, Level.EXPERT)
    enabled: bool = parameter(
        True,
        'Whether efforts are published. The service ~/enable sets it.',
        Group.COMMAND, Level.FIRST)
    gravity: tuple[float, float, float] = parameter(
        STANDARD_GRAVITY,
        'Acceleration of free fall in the axes of the root link [m/s^2]. For a robot on the '
        'ceiling it is [0.0, 0.0, 9.81]; for one on a wall it is along x or y.',
        Group.ROBOT, Level.ARM, size=3)
    gravity_from_imu: bool = parameter(
        False,
        'Whether gravity is taken from the topic imu, for a moving base. The frame_id of its '
        'messages is the link on which the sensor is mounted.',
        Group.ROBOT, Level.ARM)
    gravity_time_constant: float = parameter(
        0.5,
        'Time constant of the low-pass filter for gravity from the IMU [s].',
        Group.ROBOT, Level.EXPERT, 0.0, 1000.0)
    gravity_tolerance: float = parameter(
        1.05,
        'Largest angle between the gravity from the IMU and the parameter gravity [rad]. A '
        'reading beyond it is refused, for example from an IMU whose axes are not those of its '
        'link. 3.15: any reading is used, also that of a base that lies on its back.',
        Group.ROBOT, Level.EXPERT, 0.0, 3.15)
    imu_timeout: float = parameter(
        0.5,
        'How long gravity is taken as known after a message of the IMU [s]. After that its last '
        'direction stays in use, /diagnostics has an error, efforts do not start, and in '
        'computed_torque the arm is braked. It has to be longer than a pause between messages, '
        'and short against the time in which the base tilts.',
        Group.ROBOT, Level.EXPERT, 0.01, 1000.0)
    assumed_positions: Mapping[str, tuple[float, ...]] = by_joint(
        'Assumed positions of joints that are neither controlled nor measured [rad or m], such as '
        'a gripper without feedback; also of joints of type planar (x, y, theta) or floating (x, '
        'y, z, qx, qy, qz, qw).',
        'as many numbers as the joint has coordinates',
        Group.ROBOT, Level.ARM, None, example=0.02)
    mimic_tolerance: float = parameter(
        0.02,
        'Largest deviation of a measured mimic joint from the joint that it follows [rad or m]. '
        'Beyond it, /diagnostics has a warning.',
        Group.ROBOT, Level.EXPERT, 0.0, 1000.0)
    observe_external_effort: bool = parameter(
        False,
        'Whether the effort that the environment exerts on each joint is observed, from measured '
        'efforts and velocities: ~/external_effort, ~/external_wrench and contacts in '
        '/diagnostics. It needs one more kernel, and time in each cycle only while somebody '
        'subscribes or contact_reaction is hold.',
        Group.ROBOT, Level.ARM)
    external_effort_gain: float = parameter(
        50.0,
        'Gain of the momentum observer [1/s]. The external effort is that of a low-pass filter '
        'with the time constant 1 / gain: a larger gain is faster and passes more noise.',
        Group.ROBOT, Level.EXPERT, 0.001, 10000.0)
    external_effort_threshold: Mapping[str, float] = by_joint(
        'Magnitude above which an external effort of a joint is a contact [Nm or N]. It has to be '
        'above what noise and errors of the model cause.',
        'a finite number above 0',
        Group.ROBOT, Level.ARM, is_positive, example=4.0)
    external_wrench_link: str = parameter(
        '',
        'The link whose external wrench is published on ~/external_wrench: the force and moment, '
        'in the frame of the link, that explain the external effort best. Empty: none is '
        'published.',
        Group.ROBOT, Level.ARM)
    contact_reaction: ContactReaction = parameter(
        ContactReaction.NONE,
        'What follows when an external effort exceeds external_effort_threshold of its joint: '
        'none, or hold (the arm is braked, then gravity at the measured state and damping are '
        'sent; no motion is followed and no wrench is compensated until ~/enable is called with '
        'true). hold needs observe_external_effort and a threshold. In mode gravity_compensation, '
        'where people touch the arm, nothing follows.',
        Group.ROBOT, Level.ARM)
    state_timeout: float = parameter(
        0.1,
        'How long the state of the controlled joints is used after its reception [s]. After that '
        'it is stale, and on_stop applies.',
        Group.TIME, Level.ARM, 0.001, 10.0)
    plausible_speed_factor: float = parameter(
        3.0,
        'A measured position is refused if the joint would have moved faster than this times its '
        'velocity limit and than 2 rad/s or m/s, or is far outside its range. Three such messages '
        'that agree are believed, unless they are far outside. A velocity above the same speed is '
        'accepted only if the positions change at that speed. 0: all positions and velocities are '
        'believed.',
        Group.TIME, Level.EXPERT, 0.0, 1000.0)
    lookahead: float = parameter(
        0.0,
        'How far ahead of the present time the desired motion is read [s], to compensate the '
        'delay until the effort acts. The latency in /diagnostics is a first value.',
        Group.TIME, Level.ARM, 0.0, 1.0)
    hold_tolerance: float = parameter(
        0.1,
        'Largest deviation of a joint from the end of its trajectory [rad or m] at which the '
        'effort of the end is sent. Beyond it, gravity at the measured state is sent; in '
        'computed_torque the feedback of an error of this or path_tolerance, whichever is larger. '
        'In computed_torque, and after a contact, the reference of a controller is followed only '
        'after it has been as near as that, but at least 0.01.',
        Group.TIME, Level.ARM, 0.0, 1000.0)
    path_tolerance: float = parameter(
        0.2,
        'Largest deviation of a revolute or continuous joint from its trajectory [rad]. Beyond '
        'it, gravity at the measured state is sent until all joints are within half of it. In '
        'computed_torque the feedback stays, but with an error of at most the tolerance: it does '
        'not hold a load that accelerates the joint by more than position gain times tolerance. '
        '0: the deviation is not checked, and in computed_torque the feedback is not limited '
        'during the motion. While controller_state is followed, only the limit of the feedback '
        'counts, and only until the robot is near the reference.',
        Group.TIME, Level.ARM, 0.0, 1000.0)
    path_tolerance_prismatic: float = parameter(
        0.05,
        'The same for prismatic joints [m].',
        Group.TIME, Level.EXPERT, 0.0, 1000.0)
    trip_deviation: float = parameter(
        2.0,
        'Multiple of path_tolerance (of hold_tolerance at the end of a motion) by which a joint '
        'may deviate in computed_torque. Beyond it, the feedback no longer controls the joint: '
        'the arm is braked, and held until ~/enable is called with true. Only where the node '
        'moves a joint alone. 0: any deviation is allowed.',
        Group.TIME, Level.EXPERT, 1.0, 1000.0, or_zero=True)
    trip_saturation_time: float = parameter(
        0.2,
        'How long the effort of a joint may be at its limit in computed_torque while its '
        'deviation grows [s]. After that, the same follows. 0: for ever.',
        Group.TIME, Level.EXPERT, 0.01, 1000.0, or_zero=True)
    trip_velocity_factor: float = parameter(
        1.5,
        "Multiple of the URDF's velocity limits above which a joint that the node moves alone is "
        'braked: during a motion until ~/enable is called with true, else until it rests. 0: none '
        'is.',
        Group.TIME, Level.EXPERT, 1.0, 1000.0, or_zero=True)
    controller_state_timeout: float = parameter(
        0.1,
        'How long the reference on controller_state is used after its reception [s].',
        Group.TIME, Level.EXPERT, 0.001, 1000.0)
    beyond_limits: BeyondLimits = parameter(
        BeyondLimits.CLAMP,
        'What happens if an effort exceeds its limit: clamp (it is saturated) or scale (the part '
        'of each effort that holds its joint against gravity stays; the rest is reduced by one '
        'factor for all joints, so that its ratios stay).',
        Group.SAFETY, Level.EXPERT)
    effort_limits: Mapping[str, float] = by_joint(
        'Effort limits of joints, in place of those in the URDF [Nm or N]. A controlled joint '
        'needs one if the URDF has none, 0, or a placeholder (above 10000 Nm, or 1000000 N): '
        'until then nothing is sent. Nor is anything sent while a name here is no joint of the '
        'robot.',
        'a number above 0, up to 10000 Nm or 1000000 N',
        Group.SAFETY, Level.FIRST, is_positive, example=87.0)
    effort_limit_factor: float = parameter(
        1.0,
        'Share of the effort limits that may be sent, 0 to 1.',
        Group.SAFETY, Level.ARM, 0.0, 1.0)
    effort_rate_limit: float = parameter(
        0.0,
        'Upper bound of the rate limit, which is how fast an effort may change [Nm/s or N/s]. 0: '
        'each joint may reach its effort limit in 0.05 s, but not faster than 1000 Nm/s; a joint '
        'above 150 Nm may reach it in 0.15 s. Another number: in 0.05 s, but not faster than this '
        'number. .inf: there is no rate limit. Effort limits are those after effort_limit_factor.',
        Group.SAFETY, Level.ARM, 0.0, inf)
    start_from: StartFrom = parameter(
        StartFrom.AUTOMATIC,
        'The effort from which the first command starts, which should be the one that the '
        'controller holds: automatic (by evidence: the last command after a restart of this node; '
        'zero for a new controller manager, or an arm that compensates gravity by itself; else '
        'the measured effort of an arm at rest; without evidence nothing is sent), last, '
        'measured, gravity or zero.',
        Group.SAFETY, Level.EXPERT)
    blend_time: float = parameter(
        0.5,
        'How long the effort is blended [s] from the one that was sent last to the new one: at '
        'the start, when the node is enabled, and after a change of settings or of the robot '
        'model.',
        Group.SAFETY, Level.EXPERT, 0.0, 60.0)
    position_limit_margin: float = parameter(
        0.0,
        'Distance to the position limits of the URDF [rad or m] that a joint keeps: the part of '
        'an effort that would drive it there too fast to be braked in time is taken away. What '
        'holds it against gravity, and what brakes it, stays.',
        Group.SAFETY, Level.ARM, 0.0, 1000.0)
    velocity_limit_factor: float = parameter(
        1.0,
        "Share of the URDF's velocity limits from which on a joint is no longer accelerated "
        'further.',
        Group.SAFETY, Level.ARM, 0.001, inf)
    on_stop: OnStop = parameter(
        OnStop.GRAVITY,
        'The effort to which the last effort leads before the node stops sending: when joint '
        'states stop, when enabled becomes false, and when the node ends. Controllers without a '
        'timeout hold it for ever. gravity (what holds the last measured state) or zero. Joints '
        'that the node moves alone are braked first, until the arm rests; with stale states, and '
        'where another controller holds the arm, the effort fades within state_timeout.',
        Group.SAFETY, Level.ARM)
    braking_time: float = parameter(
        0.1,
        'Time constant with which joints that the node moves alone are braked [s]. A shorter one '
        'stops the arm on a shorter way, with more effort; the damping is limited to what is '
        'stable at the measured period and feedback_delay.',
        Group.SAFETY, Level.EXPERT, 0.01, 10.0)
    longest_braking: float = parameter(
        2.0,
        'After this time nothing is sent any more, also where the arm still moves [s]. It has to '
        'be shorter than the time that a launch file waits between SIGINT and SIGTERM (5 s).',
        Group.SAFETY, Level.EXPERT, 0.01, 60.0)
    friction_assistance: float = parameter(
        0.0,
        'Share of the friction (parameters damping and friction) that is compensated in mode '
        'gravity_compensation at the measured velocity, 0 to 0.7, so that an arm is easier to '
        'guide. Begin with 0.3: if the true friction is less than that of the parameters, a joint '
        'moves on by itself.',
        Group.GUIDING, Level.FIRST, 0.0, LARGEST_ASSISTANCE)
    friction_assistance_deadband: float = parameter(
        0.05,
        'Speed up to which friction_assistance does nothing [rad/s or m/s]; at twice the speed it '
        'has its full share. It has to be above the noise of the measured velocities.',
        Group.GUIDING, Level.EXPERT, 1e-06, 1000.0)
    dead_man_button: int = parameter(
        -1,
        'Index of the button in messages on the topic joy (sensor_msgs/Joy) that has to be '
        'pressed for efforts to be sent. When it is released, the arm is stopped as on_stop says. '
        '-1: no button.',
        Group.GUIDING, Level.ARM, -1, 1000)
    dead_man_timeout: float = parameter(
        0.5,
        'How long a pressed dead_man_button is valid after its message [s]. The driver of the '
        'joystick has to repeat its messages more often.',
        Group.GUIDING, Level.EXPERT, 0.01, 10.0)
    guiding_damping: Mapping[str, float] = by_joint(
        'Damping of joints in mode gravity_compensation, and after a contact with '
        'contact_reaction hold [Nm s/rad or N s/m].',
        'a finite number, 0 or more',
        Group.GUIDING, Level.FIRST, is_not_negative, example=0.5)
    end_stop_stiffness: Mapping[str, float] = by_joint(
        'Stiffness of the end stops of joints in mode gravity_compensation [Nm/rad or N/m]: '
        'springs that begin position_limit_margin before the position limits.',
        'a finite number, 0 or more',
        Group.GUIDING, Level.ARM, is_not_negative, example=20.0)
    command_scale: Mapping[str, float] = by_joint(
        "What one Nm (or N) is on ~/commands in the unit of a joint's drive, such as amperes; "
        'negative for a drive that turns the other way. It cannot change at run time.',
        'a finite number other than 0',
        Group.GUIDING, Level.ARM, is_not_zero, example=0.55)
    wrench_exerted_by: ExertedBy = parameter(
        ExertedBy.ENVIRONMENT,
        'Who exerts the wrench on the topic wrench: environment (it acts on the robot) or robot '
        '(it acts on the environment).',
        Group.WRENCH, Level.ARM)
    wrench_gain: float = parameter(
        0.5,
        'Share of a measured wrench that is compensated, 0 to 1. In contact it is the gain of a '
        'positive feedback loop, in which the force grows to 1 / (1 - gain) times its value '
        'without compensation. 1: only for a wrench that is known and does not depend on the '
        'effort, such as that of a hose or of a planned process force. 0: no compensation.',
        Group.WRENCH, Level.ARM, 0.0, 1.0)
    wrench_force_limit: float = parameter(
        50.0,
        'Largest compensated force [N]. Above it, force and moment are reduced by one factor. The '
        'default is the weight of 5 kg; hoses and cables pull with less.',
        Group.WRENCH, Level.ARM, 0.0, 1000000.0)
    wrench_moment_limit: float = parameter(
        10.0,
        'Largest compensated moment [Nm], likewise. The default is 50 N at a lever of 0.2 m. With '
        '0, most forces are not compensated either, because a force has a moment about the origin '
        'of the frame.',
        Group.WRENCH, Level.EXPERT, 0.0, 1000000.0)
    wrench_effort_share: float = parameter(
        0.2,
        'Largest share of the effort limit of each joint that the compensation of wrenches may '
        'use, 0 to 1. Above it, all wrenches are reduced by one factor.',
        Group.WRENCH, Level.EXPERT, 0.0, 1.0)
    wrench_timeout: float = parameter(
        0.1,
        'How long a wrench is used after its reception [s].',
        Group.WRENCH, Level.EXPERT, 0.001, 1000.0)
    wrench_fade_time: float = parameter(
        0.2,
        'How long a wrench fades out after wrench_timeout [s].',
        Group.WRENCH, Level.EXPERT, 0.0, 1000.0)
    wrench_time_constant: float = parameter(
        0.05,
        'Time constant of the low-pass filter for wrenches [s]. Below 0.02 s, and so with 0 (no '
        'filter), the compensation oscillates in contact with a stiff environment.',
        Group.WRENCH, Level.EXPERT, 0.0, 1000.0)
    wrench_force_deadband: float = parameter(
        0.0,
        'Deadband of the force [N]: only the part above it is used.',
        Group.WRENCH, Level.EXPERT, 0.0, 1000000.0)
    wrench_moment_deadband: float = parameter(
        0.0,
        'Deadband of the moment [Nm]: only the part above it is used.',
        Group.WRENCH, Level.EXPERT, 0.0, 1000000.0)
    wrench_tool_mass: float = parameter(
        0.0,
        'Mass beyond the sensor that the URDF contains too [kg]. Its weight is subtracted from '
        'the measured wrench, as it would be compensated twice otherwise.',
        Group.WRENCH, Level.ARM, 0.0, 1000000.0)
    wrench_tool_center: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0),
        'Centre of mass of the tool beyond the sensor, in the frame of the wrench [m].',
        Group.WRENCH, Level.ARM, size=3)
    wrench_frames: tuple[str, ...] = parameter(
        (),
        'The links whose wrenches act at the same time, such as [left_tool, right_tool]. They '
        'must not measure the same contact, which would be compensated twice. Empty: the wrench '
        'of one link at a time; that of another link is refused until the first has faded out.',
        Group.WRENCH, Level.ARM)
    wrench_in_gravity_compensation: bool = parameter(
        False,
        'Whether wrenches are compensated also where no motion is followed: in mode '
        'gravity_compensation, and before the first trajectory. That would cancel the force of a '
        'hand that guides the arm.',
        Group.WRENCH, Level.EXPERT)
    may_be_enabled: bool = True
    """False where the node and not its user has disabled the efforts, because their receiver is
    not known or the node is not active."""
    may_send_last: bool = True
    """False where not even the effort of ``on_stop`` may be sent, because it could reach other
    joints than those it is meant for."""
    held_by_others: frozenset[str] = frozenset()
    """The controlled joints whose position or velocity another active controller commands, or the
    drives control.  The node moves all others *alone*."""
    rules: ControllerRules = ControllerRules()
    """The rules by which the controller follows trajectories."""

    def __post_init__(self) -> None:
        for each in _DECLARED:
            each.check_field(getattr(self, each.name))
        self._check_observer()
        self._check_guiding()
        for name in ('position_gains', 'velocity_gains'):
            self._check_gains(name, getattr(self, name))
        self._check_terms()
        self._check_arm_gravity()
        self._check_measured()

    def _check_observer(self) -> None:
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

        None: what is measured is not known to be an effort, and has no residual.
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
        if share and 'friction' in self.sent_terms.left_out:
            raise ArgumentError(
                f'friction_assistance is {share}, but friction is not sent, as to an arm that '
                f'compensates it by itself (arm: {self.arm.value}); it needs 0')

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

HIGHEST_GAIN = 1e6
"""Largest accepted gain [1/s^2, 1/s]; a larger one is a mistake."""

_DECLARED = tuple(each for each in declared_in(Settings) if each.has_range)
