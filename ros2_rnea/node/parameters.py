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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from typing import Any, NamedTuple

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea.control.parameter import (
    declared_in,
    Group,
    JointSpecification,
    Level,
    Specification,
)
from ros2_rnea.control.settings import Settings
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.description import JOINT_DYNAMICS, JOINT_NUMBERS, OPTIONAL_PARAMETERS
from ros2_rnea.node.bounds import check_parameter
from ros2_rnea.node.migration import former_value, NAMES
from ros2_rnea.node.process import EXECUTORS


class PositionLoop(Enum):
    """Around which controlled joints others close a position or velocity loop."""

    AUTOMATIC = 'automatic'
    NONE = 'none'
    PRESENT = 'present'


FRICTION_FROM_DESCRIPTION = 'description'
"""Value of the parameter friction_from with which the friction in the URDF is used."""

_NOT_SET = Parameter.Type.NOT_SET

ROUNDED = 1e-5
"""Share by which a rate may be smaller than required, as after rounding to six digits."""

_OF_NODE = (
    Specification(
        'effort_controller', '',
        'Name of the controller or driver that receives ~/commands, such as effort_controller. '
        'Nothing is sent before it answers, or while its parameter joints is not the list of this '
        'node, in the same order; a driver without that parameter is not compared. Empty: the '
        'name is taken from the topic (X, if ~/commands is remapped to X/commands), and efforts '
        'are also sent to a receiver that does not answer.',
        Group.COMMAND, Level.ARM),
    Specification(
        'controller_manager', 'controller_manager',
        'Name of the controller manager, in the namespace of the effort controller. Where it '
        'answers, commands are sent only while that controller is active, or while another '
        'controller, or the arm itself, holds the arm until that controller is activated. Empty: '
        'it is not asked, and commands are sent to an inactive controller, too.',
        Group.COMMAND, Level.ARM),
    Specification(
        'trajectory_controller', '',
        'Name of a joint_trajectory_controller. Its parameters then replace the five parameters '
        'allow_nonzero_velocity_at_trajectory_end, allow_partial_joints_goal, '
        'allow_trajectory_replacement, interpolate_from_desired_state and '
        'omitted_joints_stay_where_commanded. Empty: those five are used.',
        Group.COMMAND, Level.ARM),
    Specification(
        'hold_after_goal', False,
        'Whether the node sends trajectory_controller an action goal at its reference, with the '
        'effort that holds it there, after a goal was canceled or aborted and after an '
        'activation: otherwise the controller keeps another effort. The service ~/hold does it '
        'once.',
        Group.COMMAND, Level.EXPERT),
    Specification(
        'position_loop', PositionLoop.AUTOMATIC,
        'Whether another controller, or the drives, close a position or velocity loop around the '
        'controlled joints. automatic: around those whose position or velocity an active '
        'controller commands, as the controller manager says; where none can be asked, around '
        'none. none: around no joint. present: around all. The node moves the others alone: '
        'wherever an effort ends, it brakes them first, a trajectory that their limits do not '
        'allow is refused, and a motion that gets out of control is stopped.',
        Group.COMMAND, Level.ARM),
    Specification(
        'robot_description', '',
        'The URDF (xacro expanded), if it does not come on the topic of the same name.',
        Group.ROBOT, Level.ARM),
    Specification(
        'massless_links', (),
        'Links that may move without an <inertial>. Any other moving link without one is an '
        'error.',
        Group.ROBOT, Level.EXPERT),
    Specification(
        'payload_links', (),
        'Links whose payload (~/set_payload) can change at once. A payload on another link is '
        'used only when a model has been compiled for it. Each link costs some time in every '
        'cycle.',
        Group.ROBOT, Level.ARM),
    Specification(
        'strict_model', False,
        'Whether a physically impossible inertia is an error. Otherwise it is a warning.',
        Group.ROBOT, Level.EXPERT),
    Specification(
        'friction_from', 'none',
        'The friction of joints for which the parameters damping and friction are not set: none '
        '(it is zero) or description (that in the URDF). A parameter that is set is always used, '
        'in place of the same number in the URDF. Many URDFs contain values that make a '
        'simulation stable, and not those of the motors.',
        Group.ROBOT, Level.ARM, choices=('none', FRICTION_FROM_DESCRIPTION)),
    Specification(
        'rate', 0.0,
        'Commands per second [Hz], at least 1, and at least one in each state_timeout. 0: one '
        'command for each joint state that arrives.',
        Group.TIME, Level.ARM, 1.0, 10000.0, or_zero=True),
    Specification(
        'state_depth', 10,
        'Queue depth of joint_states. All states that are queued are used for one command, so '
        'that several publishers can share the topic.',
        Group.TIME, Level.EXPERT, 1, 1000, read_only=True),
    Specification(
        'executor', EXECUTORS[0],
        'The rclpy executor of the executable: events (EventsExecutor, which needs half the '
        'processor time), single_threaded (which every ROS release has), or automatic (events if '
        'it exists).',
        Group.PROCESS, Level.EXPERT, choices=EXECUTORS, read_only=True),
    Specification(
        'thread_priority', 0,
        'Real-time priority of all threads of the process under the scheduler SCHED_FIFO, 1 to '
        '99. 0: the usual scheduler.',
        Group.PROCESS, Level.EXPERT, 0, 99, read_only=True),
    Specification(
        'lock_memory', False,
        'Whether all memory of the process is locked, so that it is never swapped out.',
        Group.PROCESS, Level.EXPERT, read_only=True),
)
"""Parameters that the policy does not know."""

_IN_URDF = ', in place of that in the URDF'

_NOTES = {
    'friction': 'See friction_from.',
    'damping': 'See friction_from.',
    'armature': (
        'It multiplies the gains of computed_torque as M does: lower them, if they were tuned '
        'without it. Efforts measured on the side of the links (arm: franka) lack it, so that it '
        'appears in the residual and as an external effort.'),
}
"""Sentences to append to the description of a joint parameter, by its name."""

_DYNAMICS_OF_JOINTS = tuple(
    JointSpecification(
        number.name,
        ' '.join((f'{number.meaning}{where} [{number.unit}].', *notes)),
        number.needed, Group.ROBOT, Level.ARM, number.accepts, example, number.of_one_coordinate)
    for numbers, where, example in (
        (JOINT_DYNAMICS, _IN_URDF, 0.5), (OPTIONAL_PARAMETERS, ', which no URDF has', 0.1))
    for number in numbers
    for notes in [[_NOTES[number.name]] if number.name in _NOTES else []])

_DECLARED = (*declared_in(Settings), *declared_in(ControllerRules), *_OF_NODE)

SPECIFICATIONS = tuple(each for each in _DECLARED if isinstance(each, Specification))
"""All parameters but those of single joints."""

OF_JOINTS = {each.name: each for each in (
    *(each for each in _DECLARED if isinstance(each, JointSpecification)), *_DYNAMICS_OF_JOINTS)}
"""The families of parameters ``NAME.JOINT``, by name."""

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
        declaration = specification.name, specification.initial, descriptor_of(specification)
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
        for family in OF_JOINTS.values():
            name = f'{family.name}.{joint}'
            if (dof == 1 or not family.of_one_coordinate) and not node.has_parameter(name):
                node.declare_parameter(name, None, ParameterDescriptor(
                    description=f'Of joint {joint!r}: {family.description}',
                    additional_constraints=family.needed,
                    dynamic_typing=True), ignore_override=name in without_value)
                yield


def descriptor_of(specification: Specification) -> ParameterDescriptor:
    """Return the descriptor that ``ros2 param describe`` shows."""
    lowest, highest = specification.minimum, specification.maximum
    descriptor = ParameterDescriptor(
        name=specification.name,
        description=specification.description,
        additional_constraints=specification.wanted,
        dynamic_typing=True,
        read_only=specification.read_only)
    if lowest is not None and highest is not None:
        if isinstance(specification.default, float):
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=0.0 if specification.or_zero else lowest, to_value=highest)]
        else:
            descriptor.integer_range = [
                IntegerRange(from_value=int(lowest), to_value=int(highest), step=1)]
    return descriptor


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
    return bool(joint) and family in OF_JOINTS


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
        family: {joint: OF_JOINTS[family].check(joint, value) for joint, value in joints.items()}
        for family, joints in _of_joints(values).items()}
    settings = Settings(
        rules=ControllerRules(**_of_class(ControllerRules, own)),
        **_of_class(Settings, {**own, **of_joints}))
    _check_rate(own['rate'], settings.state_timeout)
    return NodeParameters(
        own, settings, {kind.name: of_joints[kind.name] for kind in JOINT_NUMBERS})


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
        OF_JOINTS[family].check(joint, value)


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
    of_joints: dict[str, dict[str, Any]] = {family: {} for family in OF_JOINTS}
    for name, value in values.items():
        if value is not None and _is_of_joint(name):
            family, _, joint = name.partition('.')
            of_joints[family][joint] = value
    return of_joints


def unknown_parameters(node: Node) -> list[str]:
    """
    Return a warning for each unknown parameter in a file or on the command line.

    Those of earlier versions are not among them, see :mod:`.migration`.
    """
    return [
        f'there is no parameter {name!r}{did_you_mean(name, BY_NAME)}'
        for name in overrides(node)
        if not node.has_parameter(name) and name not in NAMES
        and not _is_of_joint(name) and not name.startswith('qos_overrides')]
