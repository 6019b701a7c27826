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
"""What is sent to the node: hostile messages to any of its topics and services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fuzz.descriptions import descriptions
from fuzz.messages import damaged, INTEGERS, large, messages, nearly, REALS, TEXTS
from geometry_msgs.msg import Inertia, Point, Vector3, WrenchStamped
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from lifecycle_msgs.msg import Transition
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rclpy.duration import Duration
from sensor_msgs.msg import Imu, JointState, Joy
from std_msgs.msg import Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

LONGEST_REPRESENTATION = 600

TRANSITIONS = ('create', 'configure', 'cleanup', 'activate', 'deactivate', 'shutdown')
"""Of a managed node; their numbers count from 0."""


class Input(NamedTuple):
    """
    A topic that the node subscribes to, or a service that it offers.

    :ivar interface: the class of the topic's messages, or of the service.
    """

    name: str
    interface: type

    @property
    def is_service(self) -> bool:
        """Return whether it is a service."""
        return hasattr(self.interface, 'Request')

    @property
    def kind(self) -> type:
        """Return the class of what is sent: messages or requests."""
        return self.interface.Request if self.is_service else self.interface

    @property
    def base(self) -> str:
        """Return the last part of the name."""
        return self.name.rsplit('/', 1)[-1]


class Hostile(NamedTuple):
    """
    Something to send.

    :ivar content: a message, or bytes in its place.
    :ivar times: how often it is sent in succession; three that agree may be believed.
    """

    to: Input
    content: Any
    times: int = 1

    def __repr__(self) -> str:
        """Return the content, shortened if it is long."""
        text = repr(self.content)
        if len(text) > LONGEST_REPRESENTATION:
            text = f'{text[:LONGEST_REPRESENTATION]} ... ({len(text)} characters)'
        return f'{self.times} x {self.to.base}: {text}'


class Honest(NamedTuple):
    """
    What is right for the robot under test, from which hostile content is made.

    :ivar parameters: of the node, by name.
    """

    urdf: str
    joints: Sequence[str]
    positions: Sequence[float]
    links: Sequence[str]
    parameters: Mapping[str, ParameterValue]

    def state(self) -> JointState:
        """Return the joint state of a robot at rest, without a stamp."""
        return JointState(name=list(self.joints), position=list(self.positions),
                          velocity=[0.0] * len(self.joints))

    def trajectory(self, reach: float = 0.0) -> JointTrajectory:
        """Return a trajectory from here by some distance [rad] and back."""
        return JointTrajectory(joint_names=list(self.joints), points=[
            JointTrajectoryPoint(
                positions=[position + offset for position in self.positions],
                velocities=[0.0] * len(self.joints), accelerations=[0.0] * len(self.joints),
                time_from_start=Duration(seconds=seconds).to_msg())
            for seconds, offset in ((0.05, 0.0), (0.2, reach), (0.4, 0.0))])

    def by_base(self) -> dict[str, dict[str, Any]]:
        """Return the fields of honest messages and requests, by the last part of their names."""
        wrench = WrenchStamped(header=Header(frame_id=self.links[-1]))
        wrench.wrench.force.z = 5.0
        up = Imu(header=Header(frame_id=self.links[-1]))
        up.linear_acceleration.z = 9.81
        state, trajectory = self.state(), self.trajectory(0.05)
        names = {'names': list(self.joints), 'positions': list(self.positions)}
        point = trajectory.points[0]
        return {
            'joint_states': _fields(state),
            'joint_trajectory': _fields(trajectory),
            'controller_state': {'joint_names': list(self.joints), 'reference': point,
                                 'feedback': point, 'output': JointTrajectoryPoint(
                                     effort=[1.0] * len(self.joints))},
            'wrench': _fields(wrench),
            'imu': _fields(up),
            'compensated_joints': {'controller': 'in_loop', 'joints': list(self.joints)},
            'joy': _fields(Joy(axes=[0.0] * 4, buttons=[1] * 8)),
            'compute_gravity': names,
            'compute_mass_matrix': names,
            'compute_jacobian': {**names, 'link': self.links[-1]},
            'compute_inverse_dynamics': {
                **names, 'velocities': state.velocity, 'accelerations': state.velocity,
                'wrenches': [wrench]},
            'compute_forward_dynamics': {
                **names, 'velocities': state.velocity, 'efforts': state.velocity,
                'wrenches': [wrench]},
            'fill_trajectory_efforts': {
                'trajectory': trajectory, 'start': state, 'payload_link': self.links[-1]},
            'set_payload': {'name': 'load', 'link': self.links[-1], 'inertia': Inertia(
                m=0.5, com=Point(z=0.05), ixx=0.01, iyy=0.01, izz=0.01)},
            'set_gravity': {'gravity.vector': Vector3(z=-9.81)},
            'enable': {'data': True},
            'change_state': {'transition': Transition(id=Transition.TRANSITION_DEACTIVATE)},
        }


def hostile_messages(inputs: Sequence[Input], honest: Honest) -> SearchStrategy[Hostile]:
    """
    Return a strategy for hostile messages to any of some inputs, each as likely as another.

    One of ten is large, and is sent once.
    """
    ordinary = st.one_of([
        st.builds(Hostile, st.just(each), _content(each, honest), st.sampled_from([1, 1, 3, 30]))
        for each in inputs])
    huge = st.one_of([
        st.builds(Hostile, st.just(each), large(honest_message(each, honest)), st.just(1))
        for each in inputs])
    return st.integers(0, 9).flatmap(lambda number: huge if number == 9 else ordinary)


def _content(each: Input, honest: Honest) -> SearchStrategy:
    if each.kind is String:
        return descriptions(honest.urdf).map(lambda text: String(data=text))
    words = (*honest.joints, *honest.links, 'load')
    if each.kind.__module__.startswith('rcl_interfaces'):
        words = (*honest.parameters, 'no_such.parameter')
        if each.base.startswith('set_parameters'):
            return st.lists(_parameters(honest), min_size=1, max_size=4).map(
                lambda changes: each.kind(parameters=changes))
    if each.base == 'change_state':
        words = TRANSITIONS
    good = honest_message(each, honest)
    ways = [messages(each.kind, words), nearly(good, words), nearly(good, words)]
    if each.base == 'change_state':  # few of all numbers are transitions
        ways += 2 * [st.sampled_from(range(len(TRANSITIONS) + 1)).map(
            lambda number: each.kind(transition=Transition(id=number)))]
    if not each.is_service:  # rclpy sends serialized messages, but no serialized requests
        ways.append(damaged(good))
    return st.one_of(ways)


def honest_message(each: Input, honest: Honest) -> Any:
    """Return the message or request that is right for an input."""
    message = each.kind()
    for path, value in honest.by_base().get(each.base, {}).items():
        *owners, field = path.split('.')
        owner = message
        for name in owners:
            owner = getattr(owner, name)
        if hasattr(owner, field):  # versions of a message have different fields
            setattr(owner, field, value)
    return message


def _fields(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.get_fields_and_field_types()}


def _parameters(honest: Honest) -> SearchStrategy[Parameter]:
    """Return a strategy for parameters: known and unknown names, every type, hostile values."""
    long_lists = st.sampled_from([0, 1, 3, len(honest.joints), 1000])
    words = st.sampled_from((*honest.joints, *honest.links, *TEXTS))

    @st.composite
    def parameter(draw: DrawFn) -> Parameter:
        name = draw(st.sampled_from((*honest.parameters, 'no_such.parameter', '', 'a' * 5000)))
        known = honest.parameters.get(name)
        kind = ParameterType.PARAMETER_DOUBLE if known is None else known.type
        kind = draw(st.sampled_from([kind] * 4 + [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255]))
        double = st.sampled_from(REALS) | st.floats(-20.0, 20.0)
        integer = st.sampled_from([n for n in INTEGERS if -2 ** 63 <= n < 2 ** 63])
        value = ParameterValue(
            type=kind, bool_value=draw(st.booleans()), integer_value=draw(integer),
            double_value=draw(double), string_value=draw(words))
        size = draw(long_lists)
        value.double_array_value = [draw(double)] * size
        value.string_array_value = [draw(words.filter(lambda word: len(word) < 1000))] * size
        value.integer_array_value = [draw(integer)] * size
        return Parameter(name=name, value=value)

    return parameter()
