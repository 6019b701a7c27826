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
"""The node's parameters: their meaning, type and range, and the settings made from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from math import inf
from typing import Any, NamedTuple

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea.control.settings import LARGEST_ASSISTANCE, Settings
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.description import (
    DynamicsParameter,
    JOINT_DYNAMICS,
    JOINT_NUMBERS,
    OPTIONAL_PARAMETERS,
)
from ros2_rnea.node.bounds import check_parameter
from ros2_rnea.node.migration import former_value, NAMES
from ros2_rnea.node.parameter_specification import are_numbers, Specification
from ros2_rnea.node.process import EXECUTORS

ASSUMED = 'assumed_positions.'
"""Prefix of the parameters that contain the assumed position of one joint each."""


class PositionLoop(Enum):
    """Around which controlled joints others close a position or velocity loop."""

    AUTOMATIC = 'automatic'
    NONE = 'none'
    PRESENT = 'present'


FRICTION_FROM_DESCRIPTION = 'description'
"""Value of the parameter friction_from with which the friction in the URDF is used."""

EFFORT_LIMITS = 'effort_limits.'
"""Prefix of the parameters that contain the effort limit of one joint each."""

GUIDING_DAMPING = 'guiding_damping.'
END_STOP_STIFFNESS = 'end_stop_stiffness.'
COMMAND_SCALE = 'command_scale.'
EXTERNAL_EFFORT_THRESHOLD = 'external_effort_threshold.'
"""Likewise: damping and end stops while the arm is guided, the drive's unit, contacts."""

PER_JOINT = {
    EFFORT_LIMITS: (
        "Effort limit of joint {!r}, in place of the URDF's [Nm or N].",
        'a number above 0, up to 10000 Nm or 1000000 N'),
    GUIDING_DAMPING: (
        'Damping of joint {!r} in mode gravity_compensation, and after a contact with '
        'contact_reaction hold [Nm s/rad or N s/m].',
        'a finite number, 0 or more'),
    END_STOP_STIFFNESS: (
        'Stiffness of the end stops of joint {!r} in mode gravity_compensation [Nm/rad or N/m]: '
        'springs that begin position_limit_margin before the position limits.',
        'a finite number, 0 or more'),
    COMMAND_SCALE: (
        'What one Nm (or N) of joint {!r} is on ~/commands in the unit of its drive, such as '
        'amperes; negative for a drive that turns the other way. It cannot change at run time.',
        'a finite number other than 0'),
    EXTERNAL_EFFORT_THRESHOLD: (
        'Magnitude above which an external effort of joint {!r} is a contact [Nm or N]. It has to '
        'be above what noise and errors of the model cause.',
        'a finite number above 0'),
    ASSUMED: (
        'Assumed position of joint {!r} while it is not measured [rad or m].',
        'as many numbers as the joint has coordinates'),
    **{parameter.name + '.': (
        f"{parameter.meaning} of joint {{!r}}, in place of the URDF's [{parameter.unit}].",
        parameter.needed) for parameter in JOINT_DYNAMICS},
    **{parameter.name + '.': (
        f'{parameter.meaning} of joint {{!r}}, which no URDF has [{parameter.unit}].',
        parameter.needed) for parameter in OPTIONAL_PARAMETERS},
}

_OF_ONE_COORDINATE = {
    EFFORT_LIMITS, GUIDING_DAMPING, END_STOP_STIFFNESS, COMMAND_SCALE, EXTERNAL_EFFORT_THRESHOLD,
    *(number.name + '.' for number in JOINT_NUMBERS if number.of_one_coordinate)}

_DEFAULT = Settings()

_NOT_SET = Parameter.Type.NOT_SET

ROUNDED = 1e-5
"""A rate may be smaller by this share than it has to be, as after rounding to six digits."""

SPECIFICATIONS = (
    Specification(
        'robot_description', '',
        'The URDF (xacro expanded), if it does not come on the topic of the same name.'),
    Specification(
        'joints', _DEFAULT.joints,
        'The controlled joints, in the order of ~/commands. It must be exactly the order of the '
        'parameter joints of the controller that receives ~/commands, and can change only while '
        'nothing is sent. Empty: nothing is published on ~/commands, while ~/effort (by joint '
        'name) and the services work.'),
    Specification(
        'mode', _DEFAULT.mode,
        'feedforward: the effort of the desired motion (topic joint_trajectory); gravity without '
        'one. gravity_compensation: the effort that holds the measured state, as for guiding by '
        'hand. computed_torque: the effort at the measured state, for the desired acceleration '
        'plus feedback (the gains times the errors).'),
    Specification(
        'arm', _DEFAULT.arm,
        'The type of arm, by the terms that it adds to commanded efforts by itself: generic '
        '(none), franka (gravity and friction) or ur (gravity). A term that is sent as well '
        'would act twice.'),
    Specification(
        'arm_gravity', _DEFAULT.arm_gravity,
        'The gravity that such an arm compensates by itself, if it is not the true one [m/s^2], '
        'in the axes of the root link. For a tilted arm that compensates as if it stood upright: '
        '[0.0, 0.0, -9.81]; the true gravity is the parameter gravity. The difference is sent. '
        'Empty: the arm compensates the true gravity.',
        items=float),
    Specification(
        'measured_lacks', _DEFAULT.measured_lacks,
        'The terms that the efforts in joint_states lack; the residual in ~/terms is computed '
        'without them. automatic: by arm. none: they have all terms. Names of terms, such as '
        '[gravity, friction]. all: they are not efforts but, for example, motor currents, so '
        'that there is no residual. The effort of the rotors (armature) is no term of its own: '
        'efforts that are measured on the side of the links lack it, and the residual then '
        'contains it.'),
    Specification(
        'terms', _DEFAULT.terms,
        'The terms that are sent: automatic (those that the arm does not add), full, no_gravity, '
        'no_gravity_no_friction, no_gravity_no_coriolis or gravity_only.'),
    Specification(
        'position_gains', _DEFAULT.position_gains,
        'Gains of computed_torque for the position error [1/s^2]: one number for all joints, or '
        'one for each in the order of joints. With 100 and a velocity gain of 20 each joint '
        'behaves like a critically damped oscillator of 10 rad/s.',
        items=float),
    Specification(
        'velocity_gains', _DEFAULT.velocity_gains,
        'Gains of computed_torque for the velocity error [1/s]: one number for all joints, or '
        'one for each in the order of joints. Critical damping needs twice the square root of '
        'the position gain. Gains that would oscillate at the measured period, feedback_delay and '
        'velocity_filter_time are refused, with the largest that would not.',
        items=float),
    Specification(
        'feedback_delay', _DEFAULT.feedback_delay,
        'Time from a measurement until its effort acts, beside the period of the cycle [s]: of '
        'the bus, the driver and the drives. The gains of computed_torque are checked with it. '
        'The latency in /diagnostics is a first value.',
        0.0, 1.0),
    Specification(
        'velocity_filter_time', _DEFAULT.velocity_filter_time,
        'Time constant of the low-pass filter from which the measured velocities come [s], as '
        'many drivers have one. The gains of computed_torque are checked with it. 0: there is no '
        'filter.',
        0.0, 1.0),
    Specification(
        'effort_controller', '',
        'Name of the controller or driver that receives ~/commands, such as effort_controller. '
        'Nothing is sent before it answers, or while its parameter joints is not the list of this '
        'node, in the same order; a driver without that parameter is not compared. Empty: the '
        'name is taken from the topic (X, if ~/commands is remapped to X/commands), and efforts '
        'are also sent to a receiver that does not answer.'),
    Specification(
        'controller_manager', 'controller_manager',
        'Name of the controller manager, in the namespace of the effort controller. Where it '
        'answers, commands are sent only while that controller is active, or while another '
        'controller, or the arm itself, holds the arm until that controller is activated. Empty: '
        'it is not asked, and commands are sent to an inactive controller, too.'),
    Specification(
        'trajectory_controller', '',
        'Name of a joint_trajectory_controller. Its parameters then replace the five parameters '
        'allow_nonzero_velocity_at_trajectory_end, allow_partial_joints_goal, '
        'allow_trajectory_replacement, interpolate_from_desired_state and '
        'omitted_joints_stay_where_commanded. Empty: those five are used.'),
    Specification(
        'hold_after_goal', False,
        'Whether the node sends trajectory_controller an action goal at its reference, with the '
        'effort that holds it there, after a goal was canceled or aborted and after an '
        'activation: otherwise the controller keeps another effort. The service ~/hold does it '
        'once.'),
    Specification(
        'enabled', _DEFAULT.enabled,
        'Whether efforts are published. The service ~/enable sets it.'),
    Specification(
        'position_loop', PositionLoop.AUTOMATIC,
        'Whether another controller, or the drives, close a position or velocity loop around the '
        'controlled joints. automatic: around those whose position or velocity an active '
        'controller commands, as the controller manager says; where none can be asked, around '
        'none. none: around no joint. present: around all. The node moves the others alone: '
        'wherever an effort ends, it brakes them first, a trajectory that their limits do not '
        'allow is refused, and a motion that gets out of control is stopped.'),
    Specification(
        'gravity', _DEFAULT.gravity,
        'Acceleration of free fall in the axes of the root link [m/s^2]. For a robot on the '
        'ceiling it is [0.0, 0.0, 9.81]; for one on a wall it is along x or y.',
        size=3),
    Specification(
        'gravity_from_imu', _DEFAULT.gravity_from_imu,
        'Whether gravity is taken from the topic imu, for a moving base. The frame_id of its '
        'messages is the link on which the sensor is mounted.'),
    Specification(
        'gravity_time_constant', _DEFAULT.gravity_time_constant,
        'Time constant of the low-pass filter for gravity from the IMU [s].',
        0.0, 1e3),
    Specification(
        'gravity_tolerance', _DEFAULT.gravity_tolerance,
        'Largest angle between the gravity from the IMU and the parameter gravity [rad]. A '
        'reading beyond it is refused, for example from an IMU whose axes are not those of its '
        'link. 3.15: any reading is used, also that of a base that lies on its back.',
        0.0, 3.15),
    Specification(
        'imu_timeout', _DEFAULT.imu_timeout,
        'How long gravity is taken as known after a message of the IMU [s]. After that its last '
        'direction stays in use, /diagnostics has an error, efforts do not start, and in '
        'computed_torque the arm is braked. It has to be longer than a pause between messages, '
        'and short against the time in which the base tilts.',
        1e-2, 1e3),
    Specification(
        'state_timeout', _DEFAULT.state_timeout,
        'How long the state of the controlled joints is used after its reception [s]. After that '
        'it is stale, and on_stop applies.',
        1e-3, 10.0),
    Specification(
        'on_stop', _DEFAULT.on_stop,
        'The effort to which the last effort leads before the node stops sending: when joint '
        'states stop, when enabled becomes false, and when the node ends. Controllers without a '
        'timeout hold it for ever. gravity (what holds the last measured state) or zero. Joints '
        'that the node moves alone are braked first, until the arm rests; with stale states, and '
        'where another controller holds the arm, the effort fades within state_timeout.'),
    Specification(
        'braking_time', _DEFAULT.braking_time,
        'Time constant with which joints that the node moves alone are braked [s]. A shorter one '
        'stops the arm on a shorter way, with more effort; the damping is limited to what is '
        'stable at the measured period and feedback_delay.',
        1e-2, 10.0),
    Specification(
        'longest_braking', _DEFAULT.longest_braking,
        'After this time nothing is sent any more, also where the arm still moves [s]. It has to '
        'be shorter than the time that a launch file waits between SIGINT and SIGTERM (5 s).',
        1e-2, 60.0),
    Specification(
        'plausible_speed_factor', _DEFAULT.plausible_speed_factor,
        'A measured position is refused if the joint would have moved faster than this times its '
        'velocity limit and than 2 rad/s or m/s, or is far outside its range. Three such messages '
        'that agree are believed, unless they are far outside. A velocity above the same speed is '
        'accepted only if the positions change at that speed. 0: all positions and velocities are '
        'believed.',
        0.0, 1e3),
    Specification(
        'state_depth', 10,
        'Queue depth of joint_states. All states that are queued are used for one command, so '
        'that several publishers can share the topic.',
        1, 1000, read_only=True),
    Specification(
        'rate', 0.0,
        'Commands per second [Hz], at least 1, and at least one in each state_timeout. 0: one '
        'command for each joint state that arrives.',
        1.0, 10000.0, or_zero=True),
    Specification(
        'lookahead', _DEFAULT.lookahead,
        'How far ahead of the present time the desired motion is read [s], to compensate the '
        'delay until the effort acts. The latency in /diagnostics is a first value.',
        0.0, 1.0),
    Specification(
        'hold_tolerance', _DEFAULT.hold_tolerance,
        'Largest deviation of a joint from the end of its trajectory [rad or m] at which the '
        'effort of the end is sent. Beyond it, gravity at the measured state is sent; in '
        'computed_torque the feedback of an error of this or path_tolerance, whichever is '
        'larger. In computed_torque, and after a contact, the reference of a controller is '
        'followed only after it has been as near as that, but at least 0.01.',
        0.0, 1e3),
    Specification(
        'path_tolerance', _DEFAULT.path_tolerance,
        'Largest deviation of a revolute or continuous joint from its trajectory [rad]. Beyond '
        'it, gravity at the measured state is sent until all joints are within half of it. In '
        'computed_torque the feedback stays, but with an error of at most the tolerance: it does '
        'not hold a load that accelerates the joint by more than position gain times tolerance. '
        '0: the deviation is not checked, and in computed_torque the feedback is not limited '
        'during the motion. While controller_state is followed, only the limit of the feedback '
        'counts, and only until the robot is near the reference.',
        0.0, 1e3),
    Specification(
        'path_tolerance_prismatic', _DEFAULT.path_tolerance_prismatic,
        'The same for prismatic joints [m].',
        0.0, 1e3),
    Specification(
        'trip_deviation', _DEFAULT.trip_deviation,
        'Multiple of path_tolerance (of hold_tolerance at the end of a motion) by which a joint '
        'may deviate in computed_torque. Beyond it, the feedback no longer controls the joint: '
        'the arm is braked, and held until ~/enable is called with true. Only where the node '
        'moves a joint alone. 0: any deviation is allowed.',
        1.0, 1e3, or_zero=True),
    Specification(
        'trip_saturation_time', _DEFAULT.trip_saturation_time,
        'How long the effort of a joint may be at its limit in computed_torque while its '
        'deviation grows [s]. After that, the same follows. 0: for ever.',
        1e-2, 1e3, or_zero=True),
    Specification(
        'trip_velocity_factor', _DEFAULT.trip_velocity_factor,
        "Multiple of the URDF's velocity limits above which a joint that the node moves alone is "
        'braked: during a motion until ~/enable is called with true, else until it rests. 0: '
        'none is.',
        1.0, 1e3, or_zero=True),
    Specification(
        'allow_nonzero_velocity_at_trajectory_end',
        _DEFAULT.rules.allow_nonzero_velocity_at_trajectory_end,
        'Whether a trajectory may end in motion, as the single points that MoveIt Servo streams '
        'do. The controller that moves the arm has a parameter of the same name.'),
    Specification(
        'allow_partial_joints_goal', _DEFAULT.rules.allow_partial_joints_goal,
        'Whether a trajectory may omit joints. It must be as in the controller.'),
    Specification(
        'allow_trajectory_replacement', _DEFAULT.rules.allow_trajectory_replacement,
        'Whether a trajectory continues until the start time of the next one. Otherwise it ends '
        'when the next one is received. It must be as in the controller. Where they meet, a '
        'continuous joint goes the shorter way; the controller turns it by a whole turn if the '
        'driver wraps positions, and the node then sends gravity until they agree.'),
    Specification(
        'interpolate_from_desired_state', _DEFAULT.rules.interpolate_from_desired_state,
        'Whether a trajectory starts from the desired state. Otherwise it starts from the '
        'measured state. It must be as in the controller.'),
    Specification(
        'omitted_joints_stay_where_commanded', _DEFAULT.rules.omitted_joints_stay_where_commanded,
        'Whether joints that a trajectory omits stay at their desired position, as with a '
        'controller that commands positions. Otherwise they stay at their measured position.'),
    Specification(
        'controller_state_timeout', _DEFAULT.controller_state_timeout,
        'How long the reference on controller_state is used after its reception [s].',
        1e-3, 1e3),
    Specification(
        'wrench_timeout', _DEFAULT.wrench_timeout,
        'How long a wrench is used after its reception [s].',
        1e-3, 1e3),
    Specification(
        'wrench_fade_time', _DEFAULT.wrench_fade_time,
        'How long a wrench fades out after wrench_timeout [s].',
        0.0, 1e3),
    Specification(
        'wrench_exerted_by', _DEFAULT.wrench_exerted_by,
        'Who exerts the wrench on the topic wrench: environment (it acts on the robot) or robot '
        '(it acts on the environment).'),
    Specification(
        'wrench_gain', _DEFAULT.wrench_gain,
        'Share of a measured wrench that is compensated, 0 to 1. In contact it is the gain of a '
        'positive feedback loop, in which the force grows to 1 / (1 - gain) times its value '
        'without compensation. 1: only for a wrench that is known and does not depend on the '
        'effort, such as that of a hose or of a planned process force. 0: no compensation.',
        0.0, 1.0),
    Specification(
        'wrench_force_limit', _DEFAULT.wrench_force_limit,
        'Largest compensated force [N]. Above it, force and moment are reduced by one factor. The '
        'default is the weight of 5 kg; hoses and cables pull with less.',
        0.0, 1e6),
    Specification(
        'wrench_moment_limit', _DEFAULT.wrench_moment_limit,
        'Largest compensated moment [Nm], likewise. The default is 50 N at a lever of 0.2 m. With '
        '0, most forces are not compensated either, because a force has a moment about the origin '
        'of the frame.',
        0.0, 1e6),
    Specification(
        'wrench_effort_share', _DEFAULT.wrench_effort_share,
        'Largest share of the effort limit of each joint that the compensation of wrenches may '
        'use, 0 to 1. Above it, all wrenches are reduced by one factor.',
        0.0, 1.0),
    Specification(
        'wrench_time_constant', _DEFAULT.wrench_time_constant,
        'Time constant of the low-pass filter for wrenches [s]. Below 0.02 s, and so with 0 (no '
        'filter), the compensation oscillates in contact with a stiff environment.',
        0.0, 1e3),
    Specification(
        'wrench_force_deadband', _DEFAULT.wrench_force_deadband,
        'Deadband of the force [N]: only the part above it is used.',
        0.0, 1e6),
    Specification(
        'wrench_moment_deadband', _DEFAULT.wrench_moment_deadband,
        'Deadband of the moment [Nm]: only the part above it is used.',
        0.0, 1e6),
    Specification(
        'wrench_tool_mass', _DEFAULT.wrench_tool_mass,
        'Mass beyond the sensor that the URDF contains too [kg]. Its weight is subtracted from '
        'the measured wrench, as it would be compensated twice otherwise.',
        0.0, 1e6),
    Specification(
        'wrench_tool_center', _DEFAULT.wrench_tool_center,
        'Centre of mass of the tool beyond the sensor, in the frame of the wrench [m].',
        size=3),
    Specification(
        'wrench_frames', _DEFAULT.wrench_frames,
        'The links whose wrenches act at the same time, such as [left_tool, right_tool]. They '
        'must not measure the same contact, which would be compensated twice. Empty: the wrench '
        'of one link at a time; that of another link is refused until the first has faded out.'),
    Specification(
        'wrench_in_gravity_compensation', _DEFAULT.wrench_in_gravity_compensation,
        'Whether wrenches are compensated also where no motion is followed: in mode '
        'gravity_compensation, and before the first trajectory. That would cancel the force of a '
        'hand that guides the arm.'),
    Specification(
        'beyond_limits', _DEFAULT.beyond_limits,
        'What happens if an effort exceeds its limit: clamp (it is saturated) or scale (the part '
        'of each effort that holds its joint against gravity stays; the rest is reduced by one '
        'factor for all joints, so that its ratios stay).'),
    Specification(
        'effort_limit_factor', _DEFAULT.effort_limit_factor,
        'Share of the effort limits that may be sent, 0 to 1.',
        0.0, 1.0),
    Specification(
        'effort_rate_limit', _DEFAULT.effort_rate_limit,
        'Upper bound of the rate limit, which is how fast an effort may change [Nm/s or N/s]. 0: '
        'each joint may reach its effort limit in 0.05 s, but not faster than 1000 Nm/s; a joint '
        'above 150 Nm may reach it in 0.15 s. Another number: in 0.05 s, but not faster than this '
        'number. .inf: there is no rate limit. Effort limits are those after '
        'effort_limit_factor.',
        0.0, inf),
    Specification(
        'start_from', _DEFAULT.start_from,
        'The effort from which the first command starts, which should be the one that the '
        'controller holds: automatic (by evidence: the last command after a restart of this '
        'node; zero for a new controller manager, or an arm that compensates gravity by itself; '
        'else the measured effort of an arm at rest; without evidence nothing is sent), last, '
        'measured, gravity or zero.'),
    Specification(
        'blend_time', _DEFAULT.blend_time,
        'How long the effort is blended [s] from the one that was sent last to the new one: at '
        'the start, when the node is enabled, and after a change of settings or of the robot '
        'model.',
        0.0, 60.0),
    Specification(
        'position_limit_margin', _DEFAULT.position_limit_margin,
        'Distance to the position limits of the URDF [rad or m] that a joint keeps: the part of '
        'an effort that would drive it there too fast to be braked in time is taken away. What '
        'holds it against gravity, and what brakes it, stays.',
        0.0, 1e3),
    Specification(
        'velocity_limit_factor', _DEFAULT.velocity_limit_factor,
        "Share of the URDF's velocity limits from which on a joint is no longer accelerated "
        'further.',
        1e-3, inf),
    Specification(
        'friction_assistance', _DEFAULT.friction_assistance,
        'Share of the friction (parameters damping and friction) that is compensated in mode '
        'gravity_compensation at the measured velocity, 0 to 0.7, so that an arm is easier to '
        'guide. Begin with 0.3: if the true friction is less than that of the parameters, a '
        'joint moves on by itself.',
        0.0, LARGEST_ASSISTANCE),
    Specification(
        'friction_assistance_deadband', _DEFAULT.friction_assistance_deadband,
        'Speed up to which friction_assistance does nothing [rad/s or m/s]; at twice the speed '
        'it has its full share. It has to be above the noise of the measured velocities.',
        1e-6, 1e3),
    Specification(
        'dead_man_button', _DEFAULT.dead_man_button,
        'Index of the button in messages on the topic joy (sensor_msgs/Joy) that has to be '
        'pressed for efforts to be sent. When it is released, the arm is stopped as on_stop says. '
        '-1: no button.',
        -1, 1000),
    Specification(
        'dead_man_timeout', _DEFAULT.dead_man_timeout,
        'How long a pressed dead_man_button is valid after its message [s]. The driver of the '
        'joystick has to repeat its messages more often.',
        1e-2, 10.0),
    Specification(
        'friction_from', 'none',
        'The friction of joints for which the parameters damping and friction are not set: none '
        '(it is zero) or description (that in the URDF). A parameter that is set is always used, '
        'in place of the same number in the URDF. Many URDFs contain values that make a '
        'simulation stable, and not those of the motors.',
        choices=('none', FRICTION_FROM_DESCRIPTION)),
    Specification(
        'mimic_tolerance', _DEFAULT.mimic_tolerance,
        'Largest deviation of a measured mimic joint from the joint that it follows [rad or m]. '
        'Beyond it, /diagnostics has a warning.',
        0.0, 1e3),
    Specification(
        'observe_external_effort', _DEFAULT.observe_external_effort,
        'Whether the effort that the environment exerts on each joint is observed, from measured '
        'efforts and velocities: ~/external_effort, ~/external_wrench and contacts in '
        '/diagnostics. It needs one more kernel, and time in each cycle only while somebody '
        'subscribes or contact_reaction is hold.'),
    Specification(
        'external_effort_gain', _DEFAULT.external_effort_gain,
        'Gain of the momentum observer [1/s]. The external effort is that of a low-pass filter '
        'with the time constant 1 / gain: a larger gain is faster and passes more noise.',
        1e-3, 1e4),
    Specification(
        'external_wrench_link', _DEFAULT.external_wrench_link,
        'The link whose external wrench is published on ~/external_wrench: the force and moment, '
        'in the frame of the link, that explain the external effort best. Empty: none is '
        'published.'),
    Specification(
        'contact_reaction', _DEFAULT.contact_reaction,
        'What follows when an external effort exceeds external_effort_threshold of its joint: '
        'none, or hold (the arm is braked, then gravity at the measured state and damping are '
        'sent; no motion is followed and no wrench is compensated until ~/enable is called with '
        'true). hold needs observe_external_effort and a threshold. In mode gravity_compensation, '
        'where people touch the arm, nothing follows.'),
    Specification(
        'massless_links', (),
        'Links that may move without an <inertial>. Any other moving link without one is an '
        'error.'),
    Specification(
        'payload_links', (),
        'Links whose payload (~/set_payload) can change at once. A payload on another link is '
        'used only when a model has been compiled for it. Each link costs some time in every '
        'cycle.'),
    Specification(
        'strict_model', False,
        'Whether a physically impossible inertia is an error. Otherwise it is a warning.'),
    Specification(
        'executor', EXECUTORS[0],
        'The rclpy executor of the executable: events (EventsExecutor, which needs half the '
        'processor time), single_threaded (which every ROS release has), or automatic (events if '
        'it exists).',
        choices=EXECUTORS, read_only=True),
    Specification(
        'thread_priority', 0,
        'Real-time priority of all threads of the process under the scheduler SCHED_FIFO, 1 to '
        '99. 0: the usual scheduler.',
        0, 99, read_only=True),
    Specification(
        'lock_memory', False,
        'Whether all memory of the process is locked, so that it is never swapped out.',
        read_only=True),
)

_NUMBERS = {number.name + '.': number for number in JOINT_NUMBERS}

BY_NAME = {specification.name: specification for specification in SPECIFICATIONS}


def declare(node: Node) -> dict[str, ArgumentError]:
    """
    Declare all parameters except those of single joints, since the joints are not known yet.

    :return: by parameter, why its value in a file or on the command line is refused: it is out of
        range or too long, or there is none.
    """
    refused = {}
    without_value = _without_value(node)
    for specification in SPECIFICATIONS:
        declaration = specification.name, specification.initial, specification.descriptor()
        given = overrides(node).get(specification.name)
        former = None if given is None else former_value(specification.name, given.value)
        if former is not None and given is not None:  # migration.py reports it
            used = specification.initial if former.use is None else former.use(given.value)
            node.declare_parameter(declaration[0], used, declaration[2], ignore_override=True)
            continue
        if specification.name in without_value:
            node.declare_parameter(*declaration, ignore_override=True)
            if specification.default != ():
                refused[specification.name] = specification.error_without_value()
            continue
        try:
            node.declare_parameter(*declaration)
        except ParameterException as error:
            node.declare_parameter(*declaration, ignore_override=True)
            refused[specification.name] = ArgumentError(str(error))
    for name, parameter in overrides(node).items():
        if name in BY_NAME or _is_of_joint(name):  # others may be meant for other nodes
            try:
                check_parameter(name, parameter.value)
            except ArgumentError as error:
                refused[name] = error
    return refused


def declare_for_joints(node: Node, joints: Mapping[str, int]) -> Iterator[None]:
    """
    Declare the parameters of each joint, one per iteration.

    :param joints: the number of degrees of freedom of each, by name.
    """
    without_value = _without_value(node)
    for joint, dof in joints.items():
        for family, (description, constraint) in PER_JOINT.items():
            if (dof == 1 or family not in _OF_ONE_COORDINATE) and (
                    not node.has_parameter(family + joint)):
                node.declare_parameter(family + joint, None, ParameterDescriptor(
                    description=description.format(joint),
                    additional_constraints=constraint,
                    dynamic_typing=True), ignore_override=family + joint in without_value)
                yield


def check_fixed(node: Node, refused: Mapping[str, ArgumentError]) -> None:
    """
    Check the parameters that cannot be set while the node runs.

    :param refused: what :func:`declare` returned.
    :raises ArgumentError: naming the first parameter with an invalid value.
    """
    for specification in filter(lambda each: each.read_only, SPECIFICATIONS):
        if specification.name in refused:
            raise refused[specification.name]
        specification.check(node.get_parameter(specification.name).value)


def check_each(changed: Sequence[Parameter]) -> dict[str, Any]:
    """
    Check parameters one by one, except for those of single joints.

    :return: their values by name, in the types of their defaults.
    :raises ArgumentError: naming the first parameter with an invalid value.
    """
    return {parameter.name: BY_NAME[parameter.name].check(parameter.value)
            for parameter in changed if parameter.name in BY_NAME}


class NodeParameters(NamedTuple):
    """
    The values of all parameters, checked and converted.

    :ivar own: the parameters in :data:`SPECIFICATIONS`, by name, in the types of their defaults.
    :ivar settings: the settings of the policy.
    :ivar joint_parameters: values that replace those of the description, such as
        ``{'damping': {'elbow': 0.1}}``.
    """

    own: Mapping[str, Any]
    settings: Settings
    joint_parameters: Mapping[str, Mapping[str, float]]


def values_of(node: Node) -> dict[str, Any]:
    """
    Return the node's parameters that have a value by name, in their ROS types.

    They include the parameters of single joints that a file or the command line sets, although
    these are declared only when the joints are known.
    """
    early = {name: parameter.value for name, parameter in overrides(node).items()
             if _is_of_joint(name)}
    # rclpy annotates values, but returns objects of the class Parameter.
    declared: Mapping[str, Any] = node.get_parameters_by_prefix('')
    return {**early, **{
        name: parameter.value for name, parameter in declared.items()
        if parameter.type_ is not _NOT_SET and (name in BY_NAME or _is_of_joint(name))}}


def _is_of_joint(name: str) -> bool:
    """Return whether a parameter is one of a single joint, which its name has to name."""
    family, _, joint = name.partition('.')
    return bool(joint) and family + '.' in PER_JOINT


def overrides(node: Node) -> dict[str, Parameter]:
    """Return the parameters that a file or the command line sets, declared or not."""
    without_value = _without_value(node)
    return {name: parameter for name, parameter in _all_overrides(node).items()
            if name not in without_value}


def _all_overrides(node: Node) -> dict[str, Parameter]:
    return getattr(node, '_parameter_overrides', {})


def _without_value(node: Node) -> set[str]:
    """
    Return the names of parameters to which a file gives no value.

    ``ros2 param dump`` writes empty lists, which ROS reads as no value, and null for unset
    parameters of joints, which it reads as a text.
    """
    return {name for name, parameter in _all_overrides(node).items()
            if parameter.type_ is Parameter.Type.NOT_SET
            or (parameter.value == 'null' and _is_of_joint(name))}


def read(values: Mapping[str, Any]) -> NodeParameters:
    """
    Check and convert parameter values.

    :raises ArgumentError: naming the first parameter with an invalid value.
    """
    own = {name: spec.check(values.get(name)) for name, spec in BY_NAME.items()}
    of_joints = {
        family: {joint: checked_of_joint(family, joint, value) for joint, value in joints.items()}
        for family, joints in _of_joints(values).items()}
    by_joint: dict[str, Any] = {family[:-1]: of_joints[family] for family in (
        ASSUMED, EFFORT_LIMITS, GUIDING_DAMPING, END_STOP_STIFFNESS, COMMAND_SCALE,
        EXTERNAL_EFFORT_THRESHOLD)}
    settings = Settings(
        **by_joint,
        rules=ControllerRules(**_of_class(ControllerRules, own)),
        **_of_class(Settings, own))
    _check_rate(own['rate'], settings.state_timeout)
    return NodeParameters(
        own, settings, {kind.name: of_joints[f'{kind.name}.'] for kind in JOINT_NUMBERS})


def with_changes(known: NodeParameters, changed: Mapping[str, Any]) -> NodeParameters | None:
    """
    Return what :func:`read` returns where some values differ from known ones, in less time.

    :param changed: the other values by name.
    :return: None where one of them is of a single joint, for which all have to be read.
    :raises ArgumentError: naming the first parameter with an invalid value.
    """
    if any(map(_is_of_joint, changed)):
        return None
    values = {name: BY_NAME[name].check(value) for name, value in changed.items()
              if name in BY_NAME}
    own = {**known.own, **values}
    settings = replace(
        known.settings,
        rules=replace(known.settings.rules, **_of_class(ControllerRules, values)),
        **_of_class(Settings, values))
    _check_rate(own['rate'], settings.state_timeout)
    return NodeParameters(own, settings, known.joint_parameters)


def check_alone(name: str, value: Any) -> None:
    """
    Check a value of a parameter, whatever the others are.

    :raises ArgumentError: naming the parameter, the value and the values that are allowed.
    """
    if name in BY_NAME:
        BY_NAME[name].check(value)
    elif value is not None and _is_of_joint(name):
        family, _, joint = name.partition('.')
        checked_of_joint(family + '.', joint, value)


def checked_of_joint(family: str, joint: str, value: Any) -> Any:
    """
    Return the value of a parameter of a single joint, converted.

    :param family: of :data:`PER_JOINT`.
    :raises ArgumentError: naming the parameter, the value and the values that are allowed.
    """
    name = family + joint
    if family == ASSUMED:
        return _numbers(name, value)
    if family in (EFFORT_LIMITS, EXTERNAL_EFFORT_THRESHOLD):
        return _positive(name, value)
    if family in _NUMBERS:
        return _number(_NUMBERS[family], name, value)
    return _finite(name, value)


def _check_rate(rate: float, state_timeout: float) -> None:
    """Check that states do not become stale from one command to the next."""
    if rate and rate * state_timeout < 1.0 - ROUNDED:
        raise ArgumentError(
            f'rate is {rate:g} Hz, which is one command in {1.0 / rate:g} s, and state_timeout is '
            f'{state_timeout:g} s: a state would be stale before the next command. It needs a '
            f'rate of {1.0 / state_timeout:g} Hz or more, 0 for a command with each joint state, '
            'or a longer state_timeout')


def _of_class(kind: type, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a dataclass has fields for."""
    return {field.name: own[field.name] for field in fields(kind) if field.name in own}


def _of_joints(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return by family the values of single joints, by the names of the joints."""
    of_joints: dict[str, dict[str, Any]] = {family: {} for family in PER_JOINT}
    for name, value in values.items():
        if value is not None and _is_of_joint(name):
            family, _, joint = name.partition('.')
            of_joints[family + '.'][joint] = value
    return of_joints


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    items = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if not are_numbers(items):
        raise ArgumentError(f'{name} is {value!r}; it needs a number or a list of numbers')
    return tuple(map(float, items))


def _finite(name: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not -inf < value < inf:
        raise ArgumentError(f'{name} is {value!r}; it needs a finite number')
    return float(value)


def _positive(name: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0.0 < value < inf:
        raise ArgumentError(f'{name} is {value!r}; it needs a finite number above 0')
    return float(value)


def _number(kind: DynamicsParameter, name: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not kind.accepts(value):
        raise ArgumentError(f'{name} is {value!r}; it needs {kind.needed}')
    return float(value)


def unknown_parameters(node: Node) -> list[str]:
    """
    Return a warning for each unknown parameter in a file or on the command line.

    Those of earlier versions are not among them, see :mod:`.migration`.
    """
    return [
        f'there is no parameter {name!r}{did_you_mean(name, BY_NAME)}'
        for name in overrides(node)
        if not node.has_parameter(name) and name not in NAMES
        and not name.startswith(('qos_overrides', *PER_JOINT))]
