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
"""
What a program without this library needs to know of a robot: joints, parameters and tapes.

The numbers that may change at run time are one array, the *parameters*.  Whoever runs the tapes
passes it with each call, so that gravity, payloads and friction change by other numbers in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from math import inf

from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS, ParameterLayout
from ros2_rnea.dynamics.quantities import LINK_JACOBIAN, link_jacobian, METHODS
from ros2_rnea.dynamics.quantity_definition import GRAVITY_FIELD, Quantity
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.kernels.tape import Tape, tape_of
from ros2_rnea.kernels.tracing import PARAMETERS, Trace, trace
from ros2_rnea.model.description import JOINT_NUMBERS
from ros2_rnea.model.tree import Body as TreeBody
from ros2_rnea.robots.arguments import check_link
from ros2_rnea.robots.robot import Robot

PAYLOAD = 'payload'
"""The parameters of payloads: ten for each body, see :mod:`ros2_rnea.dynamics.regressor`."""

LARGEST_GRAVITY = 100.0
"""A bound above the gravity on any robot, also one that accelerates [m/s^2]."""

EFFORT = 'Nm or N'

QUANTITIES = {
    'inverse_dynamics': (
        'Effort that a motion needs, friction, springs and rotors included', EFFORT),
    'gravity': ('Effort that holds the robot still against gravity', EFFORT),
    'bias': ('Effort that keeps the velocity: Coriolis, gravity, friction and springs', EFFORT),
    'coriolis_effort': ('Coriolis and centrifugal effort', EFFORT),
    'friction': ('Effort that overcomes the friction of the joints', EFFORT),
    'spring': ('Effort against the springs of the joints', EFFORT),
    'mass_matrix': ('Mass matrix, rotors included', 'kg m^2, kg m or kg'),
    'joint_momentum': (
        'Generalized momentum, and in the second row its rate without efforts',
        'Nm s or N s, and Nm or N'),
    'forward_dynamics': ('Accelerations that efforts cause', 'rad/s^2 or m/s^2'),
}
"""What can be exported besides Jacobians, by the name of a method: its meaning and unit."""


OF_CONTROLLER = (
    'inverse_dynamics', 'gravity', 'coriolis_effort', 'friction', 'joint_momentum')
"""The quantities that a controller in the control loop needs, ros2_rnea_controller."""


@dataclass(frozen=True)
class Joint:
    """
    An independent joint: its coordinates and limits.

    :ivar unit: of its velocity coordinates times s: ``rad`` or ``m`` for each.
    :ivar q: the first of its positions and how many it has; likewise ``v``, of its velocities.
    :ivar limits: lower and upper position, velocity and effort, in SI units; infinite if none.
    """

    name: str
    type: str  # noqa: A003
    unit: str
    q: tuple[int, int]
    v: tuple[int, int]
    limits: tuple[float, float, float, float]


@dataclass(frozen=True)
class Body:
    """
    A body and the joint that carries it, a mimic joint included.

    :ivar moved_by: the index of the independent joint that moves it.
    :ivar takes_payload: whether the tapes read the parameters of a payload on it.
    """

    joint: str
    link: str
    moved_by: int
    takes_payload: bool


@dataclass(frozen=True)
class Parameter:
    """
    Some of the parameters.

    :ivar first: the place of the first of them in the array.
    :ivar width: how many there are for each body; 0 for gravity, which is for all.
    :ivar is_read: whether a tape reads any of them; a change of others has no effect.
    :ivar bounds: what each of them has to be within; infinite if there is no bound.
    """

    name: str
    unit: str
    first: int
    count: int
    width: int
    is_read: bool
    bounds: tuple[float, float]


@dataclass(frozen=True)
class Model:
    """
    A robot to run elsewhere.

    :ivar description_hash: SHA-256 of the robot's description, hexadecimal.
    :ivar writer: the program that made it, and its version.
    :ivar left_out: terms of the effort that the hardware adds by itself, of ``TERM_NAMES``.
    :ivar arm_gravity: the gravity for which it adds them [m/s^2], in the axes of the base; empty:
        the true one.
    :ivar values: the present parameters.
    """

    name: str
    description_hash: str
    writer: str
    left_out: tuple[str, ...]
    arm_gravity: tuple[float, ...]
    nq: int
    nv: int
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    parameters: tuple[Parameter, ...]
    values: tuple[float, ...]
    tapes: tuple[Tape, ...]


def quantities_of(robot: Robot, names: Iterable[str], jacobians: Iterable[str]) -> list[Quantity]:
    """
    Return the quantities to export.

    :param names: of ``QUANTITIES``.
    :param jacobians: links whose Jacobian is wanted, in the link's own axes.
    :raises ArgumentError: where there is no such quantity or link.
    """
    for name in names:
        if name not in QUANTITIES:
            raise ArgumentError(
                f'the quantity {name!r} cannot be exported{did_you_mean(name, QUANTITIES)}; there '
                f'are {", ".join(QUANTITIES)}')
    for link in jacobians:
        check_link(robot.tree, link)
    return [*(METHODS[name] for name in names), *map(link_jacobian, jacobians)]


def meaning(quantity: str) -> tuple[str, str]:
    """Return in words what a quantity is, and its unit."""
    return QUANTITIES.get(quantity, (
        f'J of v = J qd for the {quantity.removeprefix(LINK_JACOBIAN)}: v is [angular; linear], '
        'in its axes', '1 or m'))


def traces_of(
        robot: Robot, quantities: Iterable[Quantity], wrenches: bool = False) -> dict[str, Trace]:
    """
    Return the traces of quantities by their names.

    :param wrenches: whether inverse and forward dynamics take wrenches on the bodies.
    """
    variant = robot.variant._replace(wrenches=wrenches)
    return {quantity.name: trace(robot.tree_without_payloads, quantity, variant)
            for quantity in quantities}


def model_of(
        robot: Robot, description: str, traces: Mapping[str, Trace],
        left_out: tuple[str, ...] = (), arm_gravity: Sequence[float] = ()) -> Model:
    """
    Return the model of a robot.

    :param description: the text that the robot was read from.
    :param traces: see :func:`traces_of`.
    :param left_out: see :class:`Model`; likewise ``arm_gravity``.
    """
    tree, layout = robot.tree, ParameterLayout(len(robot.tree.bodies))
    tapes = tuple(tape_of(name, each) for name, each in traces.items())
    read = {load.place for tape in tapes for load in tape.loads if load.array == PARAMETERS}

    def is_read(places: slice) -> bool:
        return not read.isdisjoint(range(places.start, places.stop))

    carrying = [tree.bodies[index] for index in tree.joints.values()]
    first_v = [body.v_index for body in carrying]
    return Model(
        robot.name, sha256(description.encode()).hexdigest(), _writer(), left_out,
        tuple(map(float, arm_gravity)), tree.nq, tree.nv,
        tuple(_joint(body) for body in carrying),
        tuple(Body(body.joint, body.link, first_v.index(body.v_index),
                   is_read(layout.payload(index)))
              for index, body in enumerate(tree.bodies)),
        tuple(Parameter(name, unit, places.start, places.stop - places.start, width,
                        is_read(places), bounds)
              for name, unit, places, width, bounds in _parameters(layout, len(tree.bodies))),
        tuple(robot.parameter_values.tolist()), tapes)


def _writer() -> str:
    try:
        return f'ros2_rnea {version("ros2_rnea")}'
    except PackageNotFoundError:  # run from its sources
        return 'ros2_rnea'


def _joint(body: TreeBody) -> Joint:
    limits = body.limits
    units = ['m' if name in ('x', 'y', 'z', 'distance') else 'rad'
             for name in body.type.coordinates]
    return Joint(
        body.joint, body.type.label, ' '.join(units), (body.q_index, body.type.nq),
        (body.v_index, body.type.nv),
        (float(limits.lower), float(limits.upper), float(limits.velocity), float(limits.effort)))


def _parameters(
        layout: ParameterLayout, bodies: int,
        ) -> Iterable[tuple[str, str, slice, int, tuple[float, float]]]:
    """Return name, unit, places, width and bounds of the parameters, in their order."""
    numbers = {number.name: number for number in JOINT_NUMBERS}
    yield GRAVITY_FIELD, 'm/s^2', layout.gravity, 0, (-LARGEST_GRAVITY, LARGEST_GRAVITY)
    for name in JOINT_PARAMETERS:
        number = numbers[name]
        bounds = -number.largest if number.is_signed else 0.0, number.largest
        yield name, number.unit, layout.joints(name), 1, bounds
    first, last = layout.payload(0), layout.payload(bodies - 1)
    width = first.stop - first.start
    payloads = slice(first.start, last.stop)  # empty where there is no body
    yield PAYLOAD, 'kg, kg m, kg m^2', payloads, width, (-inf, inf)
