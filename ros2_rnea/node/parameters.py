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
"""The node's parameters: what each means, what it may be, and the settings they amount to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from math import inf
from typing import Any, NamedTuple

import numpy as np
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.feedforward.reference.controller_rules import ControllerRules
from ros2_rnea.feedforward.settings import Settings
from ros2_rnea.model.description import DynamicsParameter, JOINT_DYNAMICS
from ros2_rnea.node.parameter_specification import Specification
from ros2_rnea.node.process import EXECUTORS

ASSUMED = 'assumed_positions.'
"""Parameters below this name hold one joint's position each."""

PER_JOINT = {
    ASSUMED: (
        'Where joint {!r} stands while nothing measures it [rad or m].',
        'as many numbers as the joint has coordinates'),
    **{parameter.name + '.': (
        f"{parameter.meaning} of joint {{!r}}, over the description's [{parameter.unit}].",
        parameter.needed) for parameter in JOINT_DYNAMICS},
}

_OF_ONE_COORDINATE = {
    parameter.name + '.' for parameter in JOINT_DYNAMICS if parameter.of_one_coordinate}

_DEFAULT = Settings()

SPECIFICATIONS = (
    Specification(
        'robot_description', '',
        'The URDF, where no topic of that name brings it. Xacro must be expanded.'),
    Specification(
        'joints', _DEFAULT.joints,
        'The controlled joints, in the order of ~/commands: that of the controller. Empty: '
        '~/effort names all joints of one degree of freedom and ~/commands stays silent.'),
    Specification(
        'mode', _DEFAULT.mode,
        'feedforward: the effort for the desired motion. gravity_compensation: the effort that '
        'holds the measured state. computed_torque: the effort at the measured state for the '
        'desired acceleration, corrected by the gains times the error.'),
    Specification(
        'arm', _DEFAULT.arm,
        'What is controlled, by what it adds to commanded efforts by itself: generic: nothing. '
        'franka: gravity and friction. ur: gravity.'),
    Specification(
        'arm_gravity', _DEFAULT.arm_gravity,
        "Acceleration of free fall in the root link's axes for which the arm compensates gravity "
        'by itself [m/s^2], if that is not the true one, as for a tilted Franka: 0.0, 0.0, -9.81. '
        'The difference in gravity is sent. Empty: the arm compensates the true gravity.',
        items=float),
    Specification(
        'measured_lacks', _DEFAULT.measured_lacks,
        'The terms that the efforts in joint_states lack, for the residual: automatic (by arm), '
        'none, names such as gravity and friction, or all: they are no efforts but, for example, '
        'motor currents, and no residual is computed.'),
    Specification(
        'terms', _DEFAULT.terms,
        'Which terms of the effort are sent; automatic: those that the arm does not add.'),
    Specification(
        'position_gains', _DEFAULT.position_gains,
        'Gains of computed_torque on the position error [1/s^2]: one for all joints or one each, '
        'in the order of joints.',
        items=float),
    Specification(
        'velocity_gains', _DEFAULT.velocity_gains,
        'Likewise on the velocity error [1/s]; twice the root of the position gain damps '
        'critically.',
        items=float),
    Specification(
        'effort_controller', '',
        'The node that takes ~/commands, such as effort_controller: nothing is sent before its '
        'joints are known to be ours, in their order. Empty: it is not looked at.'),
    Specification(
        'trajectory_controller', '',
        'The joint_trajectory_controller whose rules are taken over, in place of the five '
        'parameters on how trajectories are followed. Empty: they count as they are.'),
    Specification('enabled', _DEFAULT.enabled, 'Whether efforts are published.'),
    Specification(
        'gravity', _DEFAULT.gravity,
        "Acceleration of free fall in the root link's axes [m/s^2]; turn it for a tilted mount.",
        size=3),
    Specification(
        'gravity_from_imu', _DEFAULT.gravity_from_imu,
        'Whether the topic imu tells gravity; its frame_id is the link that it is mounted on.'),
    Specification(
        'gravity_time_constant', _DEFAULT.gravity_time_constant,
        'Of the low-pass filter for what imu tells [s].',
        0.0, 1e3),
    Specification(
        'state_timeout', _DEFAULT.state_timeout,
        'How long the state of the controlled joints counts after its reception [s]; then '
        'on_stale_state says what is sent.',
        1e-3, 10.0),
    Specification(
        'on_stale_state', _DEFAULT.on_stale_state,
        'Once joint states have stopped: stop: nothing more is sent. decay: the effort blends '
        'within state_timeout to gravity at the last state and stays there.'),
    Specification(
        'on_shutdown', _DEFAULT.on_shutdown,
        'What the executable sends last, since controllers hold it for ever: the effort that '
        'holds the last state, zero, or none: nothing more.'),
    Specification(
        'state_depth', 1,
        'Queue depth of joint_states; more than one where several publishers share the topic.',
        1, 1000, read_only=True),
    Specification(
        'rate', 0.0,
        'Commands per second [Hz]; 0: one for each joint state that arrives.',
        0.0, 10000.0),
    Specification(
        'lookahead', _DEFAULT.lookahead,
        'How far ahead of now the desired motion is read [s]; the latency in /diagnostics is the '
        'advice for it.',
        0.0, 1.0),
    Specification(
        'hold_tolerance', _DEFAULT.hold_tolerance,
        'How far a joint may be from the end of its trajectory [rad or m] for the effort to be '
        'that of the end; beyond it, gravity at the measured state.',
        0.0, 1e3),
    Specification(
        'allow_nonzero_velocity_at_trajectory_end',
        _DEFAULT.rules.allow_nonzero_velocity_at_trajectory_end,
        'Whether a trajectory may end in motion, as single points that are streamed do.'),
    Specification(
        'allow_partial_joints_goal', _DEFAULT.rules.allow_partial_joints_goal,
        'Whether a trajectory need not name all joints; as the controller has it.'),
    Specification(
        'allow_trajectory_replacement', _DEFAULT.rules.allow_trajectory_replacement,
        "Whether a trajectory runs on until its successor's stamp; as the controller has it."),
    Specification(
        'interpolate_from_desired_state', _DEFAULT.rules.interpolate_from_desired_state,
        'Whether a trajectory leads in from the desired state; as the controller has it.'),
    Specification(
        'omitted_joints_stay_where_commanded', _DEFAULT.rules.omitted_joints_stay_where_commanded,
        'Whether joints that a trajectory omits stay where they are desired to be, as with a '
        'controller that commands positions, or where they are measured.'),
    Specification(
        'controller_state_timeout', _DEFAULT.controller_state_timeout,
        "How long a controller's reference counts after its reception [s].",
        1e-3, 1e3),
    Specification(
        'wrench_timeout', _DEFAULT.wrench_timeout,
        'How long a wrench counts after its reception [s].',
        1e-3, 1e3),
    Specification(
        'wrench_fade_time', _DEFAULT.wrench_fade_time,
        'How long a wrench fades after that [s].',
        0.0, 1e3),
    Specification(
        'wrench_exerted_by', _DEFAULT.wrench_exerted_by,
        'Whether the wrench topic tells what the environment does to the robot or what the robot '
        'does to it.'),
    Specification(
        'wrench_time_constant', _DEFAULT.wrench_time_constant,
        'Of the low-pass filter for wrenches [s]; 0: none.',
        0.0, 1e3),
    Specification(
        'wrench_force_deadband', _DEFAULT.wrench_force_deadband,
        'Of a force, what exceeds this counts [N].',
        0.0, 1e6),
    Specification(
        'wrench_moment_deadband', _DEFAULT.wrench_moment_deadband,
        'Of a moment, what exceeds this counts [Nm].',
        0.0, 1e6),
    Specification(
        'wrench_tool_mass', _DEFAULT.wrench_tool_mass,
        'Mass beyond the sensor that the description has too [kg]: its weight is taken out of '
        'what the sensor reads.',
        0.0, 1e6),
    Specification(
        'wrench_tool_center', _DEFAULT.wrench_tool_center,
        "The centre of that mass in the wrench's frame [m].",
        size=3),
    Specification(
        'wrench_in_gravity_compensation', _DEFAULT.wrench_in_gravity_compensation,
        'Whether wrenches count in gravity compensation too, where they cancel a guiding hand.'),
    Specification(
        'beyond_limits', _DEFAULT.beyond_limits,
        'Where an effort exceeds its limit: clamp: it is cut. scale: all are made smaller by a '
        'common factor.'),
    Specification(
        'effort_limit_factor', _DEFAULT.effort_limit_factor,
        "Share of the description's effort limits that may be sent.",
        0.0, 1.0),
    Specification(
        'effort_rate_limit', _DEFAULT.effort_rate_limit,
        'How fast an effort may change [Nm/s or N/s]; .inf: at once.',
        1e-3, inf),
    Specification(
        'blend_time', _DEFAULT.blend_time,
        'How long the effort takes [s] from what was sent last to what is right: at the start, '
        'when it is enabled, and with new settings or a new robot.',
        0.0, 60.0),
    Specification(
        'position_limit_margin', _DEFAULT.position_limit_margin,
        'How far before the end of its travel a joint is no longer pushed towards it [rad or m].',
        0.0, 1e3),
    Specification(
        'velocity_limit_factor', _DEFAULT.velocity_limit_factor,
        "Share of the description's velocity limits from which on a joint is no longer pushed on.",
        1e-3, inf),
    Specification(
        'mimic_tolerance', _DEFAULT.mimic_tolerance,
        'How far a measured mimic joint may be off its leader [rad or m] before it is said.',
        0.0, 1e3),
    Specification(
        'massless_links', (),
        'Links that may move without an <inertial>; all others need one.'),
    Specification(
        'payload_links', (),
        'Links whose payload can change at once; a payload on another link comes into force when '
        'the robot has been compiled for it.  Each costs some time in every cycle.'),
    Specification(
        'strict_model', False,
        'Whether a physically impossible inertia is an error rather than a warning.'),
    Specification(
        'executor', EXECUTORS[0],
        "What the executable waits with: rclpy's EventsExecutor, which takes half the processor "
        'time, or its SingleThreadedExecutor; automatic: the first where this rclpy has it.',
        choices=EXECUTORS, read_only=True),
    Specification(
        'thread_priority', 0,
        'Priority of all threads of the executable under SCHED_FIFO; 0: the usual scheduler.',
        0, 99, read_only=True),
    Specification(
        'lock_memory', False,
        'Whether the executable keeps all its memory from being swapped out.',
        read_only=True),
)

BY_NAME = {specification.name: specification for specification in SPECIFICATIONS}


def declare(node: Node) -> None:
    """
    Declare every parameter but those of single joints, which are not known yet.

    :raises ArgumentError: where a value from outside is out of range.
    """
    for specification in SPECIFICATIONS:
        try:
            node.declare_parameter(
                specification.name, specification.initial, specification.descriptor())
        except ParameterException as error:
            raise ArgumentError(str(error)) from error


def declare_for_joints(node: Node, joints: Mapping[str, int]) -> Iterator[None]:
    """
    Declare the parameters that each joint may have, one at a time.

    :param joints: how many degrees of freedom each has, by name.
    """
    for joint, dof in joints.items():
        for family, (description, constraint) in PER_JOINT.items():
            if (dof == 1 or family not in _OF_ONE_COORDINATE) and (
                    not node.has_parameter(family + joint)):
                node.declare_parameter(family + joint, None, ParameterDescriptor(
                    description=description.format(joint),
                    additional_constraints=constraint,
                    dynamic_typing=True))
                yield


class NodeParameters(NamedTuple):
    """
    What all parameters together amount to.

    :ivar own: the values of :data:`SPECIFICATIONS` in their own types, by name.
    :ivar settings: of the policy.
    :ivar joint_parameters: over the description's, such as ``{'damping': {'elbow': 0.1}}``.
    """

    own: Mapping[str, Any]
    settings: Settings
    joint_parameters: Mapping[str, Mapping[str, float]]


def values_of(node: Node) -> dict[str, Any]:
    """
    Return all of the node's parameters by name, as ROS has them.

    Those of single joints count from the start, although they are declared only when the joints
    are known.
    """
    given = {name: parameter.value for name, parameter in overrides(node).items()
             if name.startswith(tuple(PER_JOINT))}
    of_joints = (
        family + name for family in PER_JOINT
        for name in node.get_parameters_by_prefix(family[:-1]))
    return {**given,
            **{name: node.get_parameter(name).value for name in (*BY_NAME, *of_joints)}}


def overrides(node: Node) -> dict[str, Parameter]:
    """Return the parameters in a file or on the command line, declared or not."""
    return getattr(node, '_parameter_overrides', {})


def read(values: Mapping[str, Any]) -> NodeParameters:
    """
    Return what parameter values amount to.

    :raises ArgumentError: naming the first parameter that does not fit.
    """
    own = {name: spec.check(values.get(name)) for name, spec in BY_NAME.items()}
    assumed = {joint: _numbers(ASSUMED + joint, value)
               for joint, value in _of_joints(values, ASSUMED).items()}
    settings = Settings(
        assumed_positions=assumed,
        rules=ControllerRules(**_of_class(ControllerRules, own)),
        **_of_class(Settings, own))
    return NodeParameters(own, settings, {
        kind.name: {joint: _number(kind, f'{kind.name}.{joint}', value)
                    for joint, value in _of_joints(values, f'{kind.name}.').items()}
        for kind in JOINT_DYNAMICS})


def _of_class(kind: type, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a dataclass has fields for."""
    return {field.name: own[field.name] for field in fields(kind) if field.name in own}


def _of_joints(values: Mapping[str, Any], family: str) -> dict[str, Any]:
    return {name[len(family):]: value for name, value in values.items()
            if name.startswith(family) and value is not None}


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    try:
        return tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} is {value!r}; it needs a number or a list of them') from error


def _number(kind: DynamicsParameter, name: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not kind.accepts(value):
        raise ArgumentError(f'{name} is {value!r}; it needs {kind.needed}')
    return float(value)


def not_understood(node: Node) -> list[str]:
    """Return what to say of parameters, in a file or on the command line, that there are not."""
    return [
        f'there is no parameter {name!r}{did_you_mean(name, BY_NAME)}'
        for name in overrides(node)
        if not node.has_parameter(name) and not name.startswith(('qos_overrides', *PER_JOINT))]
