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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.feedforward.settings import Mode, OnShutdown, OnStaleState, Settings
from ros2_rnea.node.process import EXECUTORS

ASSUMED = 'assumed_positions.'
"""Parameters below this name hold one joint's position each."""


@dataclass(frozen=True)
class Specification:
    """One parameter: its default also says its type."""

    name: str
    default: Any
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    size: int | None = None
    read_only: bool = False

    def check(self, value: Any) -> Any:
        """
        Return a value in this parameter's own type, a whole number for a float included.

        :raises ArgumentError: naming the parameter, the value and what would do.
        """
        if value is None:
            return self.default
        usable = self._converted(value)
        if usable is None or not self._within(usable):
            raise ArgumentError(f'{self.name} is {_plain(value)!r}; it needs {self._wanted()}')
        return usable

    def descriptor(self) -> ParameterDescriptor:
        """Return what ``ros2 param describe`` shows."""
        descriptor = ParameterDescriptor(
            name=self.name,
            description=self.description,
            additional_constraints=self._wanted(),
            dynamic_typing=True,
            read_only=self.read_only)
        if self.minimum is not None and self.maximum is not None:
            if isinstance(self.default, float):
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=self.minimum, to_value=self.maximum)]
            else:
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=1)]
        return descriptor

    def _converted(self, value: Any) -> Any:
        if isinstance(self.default, bool) or isinstance(value, bool):
            return value if isinstance(value, bool) and isinstance(self.default, bool) else None
        if isinstance(self.default, float):
            return float(value) if isinstance(value, (int, float)) else None
        if isinstance(self.default, tuple):
            return self._converted_sequence(value)
        return value if isinstance(value, type(self.default)) else None

    def _converted_sequence(self, value: Any) -> tuple | None:
        if isinstance(value, (str, bytes)) or not hasattr(value, '__len__'):
            return None
        if self.size is None:
            return tuple(value) if all(isinstance(item, str) for item in value) else None
        numbers = all(isinstance(item, (int, float)) for item in value)
        return tuple(float(item) for item in value) if numbers else None

    def _within(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if self.size is not None:
            return len(value) == self.size and bool(np.isfinite(value).all())
        if self.minimum is not None and self.maximum is not None:
            return self.minimum <= value <= self.maximum
        return True

    def _wanted(self) -> str:
        if self.choices:
            return ' or '.join(self.choices)
        if self.size is not None:
            return f'{self.size} finite numbers'
        if isinstance(self.default, tuple):
            return 'a list of names'
        kind = {bool: 'true or false', str: 'a text', int: 'a whole number', float: 'a number'}
        bounds = '' if self.minimum is None else f' from {self.minimum:g} to {self.maximum:g}'
        return kind[type(self.default)] + bounds


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
        'mode', _DEFAULT.mode.value,
        'feedforward: the effort for the desired motion. gravity_compensation: the effort that '
        'holds the measured state.',
        choices=tuple(mode.value for mode in Mode)),
    Specification('enabled', _DEFAULT.enabled, 'Whether efforts are published.'),
    Specification(
        'gravity', _DEFAULT.gravity,
        "Acceleration of free fall in the root link's axes [m/s^2]; turn it for a tilted mount.",
        size=3),
    Specification(
        'state_timeout', _DEFAULT.state_timeout,
        'How long the state of the controlled joints counts after its reception [s]; then '
        'on_stale_state says what is sent.',
        1e-3, 10.0),
    Specification(
        'on_stale_state', _DEFAULT.on_stale_state.value,
        'Once joint states have stopped: stop: nothing more is sent. decay: the effort blends '
        'within state_timeout to gravity at the last state and stays there.',
        choices=tuple(choice.value for choice in OnStaleState)),
    Specification(
        'on_shutdown', _DEFAULT.on_shutdown.value,
        'What the executable sends last, since controllers hold it for ever: the effort that '
        'holds the last state, zero, or none: nothing more.',
        choices=tuple(choice.value for choice in OnShutdown)),
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
        _DEFAULT.allow_nonzero_velocity_at_trajectory_end,
        'Whether a trajectory may end in motion, as single points that are streamed do.'),
    Specification(
        'allow_partial_joints_goal', _DEFAULT.allow_partial_joints_goal,
        'Whether a trajectory need not name all joints; as the controller has it.'),
    Specification(
        'allow_trajectory_replacement', _DEFAULT.allow_trajectory_replacement,
        "Whether a trajectory runs on until its successor's stamp; as the controller has it."),
    Specification(
        'interpolate_from_desired_state', _DEFAULT.interpolate_from_desired_state,
        'Whether a trajectory leads in from the desired state; as the controller has it.'),
    Specification(
        'omitted_joints_stay_where_commanded', _DEFAULT.omitted_joints_stay_where_commanded,
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
        'wrench_exerted_by', 'environment',
        'Whether the wrench topic tells what the environment does to the robot or what the robot '
        'does to it.',
        choices=('environment', 'robot')),
    Specification(
        'wrench_in_gravity_compensation', _DEFAULT.wrench_in_gravity_compensation,
        'Whether wrenches count in gravity compensation too, where they cancel a guiding hand.'),
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
    Declare every parameter but the assumed positions, whose joints are not known yet.

    :raises ArgumentError: where a value from outside is out of range.
    """
    for specification in SPECIFICATIONS:
        default = specification.default
        initial = list(default) if isinstance(default, tuple) else default
        try:
            node.declare_parameter(specification.name, initial, specification.descriptor())
        except ParameterException as error:
            raise ArgumentError(str(error)) from error


def declare_assumed_positions(node: Node, joints: Iterable[str]) -> None:
    """Declare one parameter for each joint that may need an assumed position."""
    for joint in joints:
        if not node.has_parameter(ASSUMED + joint):
            node.declare_parameter(ASSUMED + joint, None, ParameterDescriptor(
                description=f'Where joint {joint!r} stands while nothing measures it [rad or m].',
                additional_constraints='as many numbers as the joint has coordinates',
                dynamic_typing=True))


def values_of(node: Node) -> dict[str, Any]:
    """Return all of the node's parameters by name, as ROS has them."""
    names = [*BY_NAME, *(ASSUMED + name for name in node.get_parameters_by_prefix(ASSUMED[:-1]))]
    return {name: node.get_parameter(name).value for name in names}


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values of all parameters of :data:`SPECIFICATIONS` in their own types.

    :raises ArgumentError: naming the first parameter that does not fit.
    """
    return {name: spec.check(values.get(name)) for name, spec in BY_NAME.items()}


def settings_from(values: Mapping[str, Any]) -> Settings:
    """
    Return the policy's settings that parameter values amount to.

    :raises ArgumentError: naming the first parameter that does not fit.
    """
    own = checked(values)
    return Settings(
        joints=own['joints'],
        mode=Mode(own['mode']),
        enabled=own['enabled'],
        assumed_positions={
            name[len(ASSUMED):]: _numbers(name, value)
            for name, value in values.items()
            if name.startswith(ASSUMED) and value is not None},
        gravity=own['gravity'],
        state_timeout=own['state_timeout'],
        lookahead=own['lookahead'],
        hold_tolerance=own['hold_tolerance'],
        allow_nonzero_velocity_at_trajectory_end=own[
            'allow_nonzero_velocity_at_trajectory_end'],
        allow_partial_joints_goal=own['allow_partial_joints_goal'],
        allow_trajectory_replacement=own['allow_trajectory_replacement'],
        interpolate_from_desired_state=own['interpolate_from_desired_state'],
        omitted_joints_stay_where_commanded=own['omitted_joints_stay_where_commanded'],
        controller_state_timeout=own['controller_state_timeout'],
        wrench_timeout=own['wrench_timeout'],
        wrench_fade_time=own['wrench_fade_time'],
        wrench_exerted_by_robot=own['wrench_exerted_by'] == 'robot',
        wrench_in_gravity_compensation=own['wrench_in_gravity_compensation'],
        effort_limit_factor=own['effort_limit_factor'],
        effort_rate_limit=own['effort_rate_limit'],
        blend_time=own['blend_time'],
        position_limit_margin=own['position_limit_margin'],
        velocity_limit_factor=own['velocity_limit_factor'],
        on_stale_state=OnStaleState(own['on_stale_state']),
        on_shutdown=OnShutdown(own['on_shutdown']),
        mimic_tolerance=own['mimic_tolerance'])


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    try:
        return tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} is {value!r}; it needs a number or a list of them') from error


def _plain(value: Any) -> Any:
    return list(value) if hasattr(value, '__len__') and not isinstance(value, str) else value


def not_understood(node: Node) -> list[str]:
    """Return what to say of parameters, in a file or on the command line, that there are not."""
    return [
        f'there is no parameter {name!r}{did_you_mean(name, BY_NAME)}'
        for name in getattr(node, '_parameter_overrides', {})
        if not node.has_parameter(name) and not name.startswith(('qos_overrides', ASSUMED))]
