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
What may be unknown of a robot, each number as a column of a linear regression.

The effort of a model that is almost the machine is that of the model before, and a column for
each unknown number times what the number has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from ros2_rnea.dynamics.friction import SIGN_WIDTH, sign_width, smooth_sign
from ros2_rnea.dynamics.joint_regressor import JOINT_COLUMNS
from ros2_rnea.dynamics.regression import PLAIN, regression
from ros2_rnea.dynamics.regressor import inertia_from, PARAMETERS, parameters_of
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.description import FRICTION_LAW, Inertial
from ros2_rnea.model.tree import BASE, Body, FLOATING_BASE, Tree
from ros2_rnea.offline.identification.independent_columns import Independent, independent_columns
from ros2_rnea.robots.arguments import check_link
from ros2_rnea.robots.robot import Robot

Names = Sequence[str] | Literal['all']

PAYLOAD = 'payload'
GAIN = 'gain'
STRIBECK_VELOCITIES = 16
"""Number of Stribeck velocities that are tried for each joint."""


@dataclass(frozen=True)
class Unknowns:
    """
    What is unknown of a robot: names of joints or links, or ``'all'``.

    :ivar friction: joints whose viscous and Coulomb friction and offset is unknown.
    :ivar by_direction: whether their viscous friction differs by direction.  Coulomb friction
        does anyway: the offset is half of the difference.
    :ivar stribeck: whether breakaway friction may be added where the data shows it.
    :ivar rotor_inertia: joints whose armature is unknown.
    :ivar links: links whose body's inertial parameters are unknown; fixed joints make one body of
        links.
    :ivar payload: the link that carries something unknown in all recordings.
    :ivar gains: joints whose drive gain, true effort for each unit of measured effort, is unknown.
        At least one recording has to be of a known payload.
    :ivar gravity: whether its direction in the base's axes is unknown.
    """

    friction: Names = 'all'
    by_direction: bool = False
    stribeck: bool = False
    rotor_inertia: Names = ()
    links: Names = 'all'
    payload: str | None = None
    gains: Names = ()
    gravity: bool = False


@dataclass(frozen=True)
class Unknown:
    """
    One unknown number.

    :ivar quantity: such as ``'viscous'``, ``'m'`` or ``'gain'``.
    :ivar owner: the joint or link that it belongs to, or ``'payload'``; empty for gravity.
    :ivar unit: of its value.
    :ivar urdf_value: of the model before.
    :ivar body: its body's index; of gravity, the axis.
    :ivar knee: the speed that belongs to it in :data:`.JOINT_COLUMNS` [rad/s or m/s]; else 0.
    """

    quantity: str
    owner: str
    unit: str
    urdf_value: float
    body: int
    knee: float = 0.0

    @property
    def name(self) -> str:
        """Return what it is called in results."""
        words = WORDS.get(self.quantity, self.quantity)
        return f'{words} of {self.owner}' if self.owner else words

    @property
    def is_inertial(self) -> bool:
        """Return whether it is one of ten of a body."""
        return self.quantity in PARAMETERS

    @property
    def is_signed(self) -> bool:
        """Return whether it may be negative."""
        return self.is_inertial or self.quantity == 'offset' or self.quantity.startswith('gravity')


WORDS = {
    'viscous': 'viscous friction',
    'viscous_forward': 'viscous friction, forward,',
    'viscous_backward': 'viscous friction, backward,',
    'coulomb': 'Coulomb friction',
    'stribeck': 'breakaway friction',
    'offset': 'offset of the friction',
    'rotor_inertia': 'rotor inertia',
    'gravity_x': 'gravity along x',
    'gravity_y': 'gravity along y',
    'gravity_z': 'gravity along z',
}

DRY = ('coulomb', 'stribeck')
"""
Friction that at rest is any effort up to a bound: rows of a joint at rest say nothing where it is
unknown.
"""


class Design:
    """
    The regression that belongs to a robot and its unknowns.

    :param largest_speeds: of each velocity coordinate in the data, below which Stribeck velocities
        are tried, shape (nv,) [rad/s or m/s].
    :param slowest_speeds: of each velocity coordinate while it moves, which says where the sign of
        its velocity is known, shape (nv,) [rad/s or m/s]; without them that is as in the node.
    :ivar robot: the model before, without the payloads of recordings, and with no more than
        viscous and Coulomb friction where that is unknown.
    :ivar unknowns: the linear ones, in the order of the columns, then gains.
    :ivar columns: how many are linear.
    :ivar bodies: for each ten inertial columns, where they begin.
    :ivar of_coordinate: for each velocity coordinate, the columns that its effort may depend on.
    :ivar is_dry: for each velocity coordinate, whether its rows at rest say nothing.
    :ivar parts: for each velocity coordinate, which numbers of :meth:`evaluate` are its own.
    :ivar expansions: for each velocity coordinate, see :meth:`evaluate`.
    :ivar slow_joints: those with slow samples, of which the whole Coulomb friction is taken.
    """

    def __init__(
            self, robot: Robot, unknowns: Unknowns, largest_speeds: np.ndarray,
            slowest_speeds: np.ndarray | None = None) -> None:
        friction = _joints(robot, 'friction', unknowns.friction)
        robot = _with_plain_friction(robot, friction)
        self.robot = robot
        tree = robot.tree
        self._widths = np.full(tree.nv, SIGN_WIDTH)  # where the sign of a velocity is rounded off
        slowest = np.full(tree.nv, np.inf) if slowest_speeds is None else slowest_speeds
        for name in friction:
            own = tree.bodies[tree.joints[name]].v_slice
            self._widths[own] = [*map(sign_width, slowest[own].tolist())]
        self.slow_joints = tuple(name for name in friction if (
            self._widths[tree.bodies[tree.joints[name]].v_slice] < SIGN_WIDTH).any())
        self._coulomb = [  # of the model before
            (v, body.multiplier, body.friction)
            for body in tree.bodies if body.friction for v in sorted(_coordinates(body))]
        rotors = _joints(robot, 'rotor_inertia', unknowns.rotor_inertia)
        gains = _joints(robot, 'gains', unknowns.gains)
        bodies = sorted({_moved_body(tree, 'links', name) for name in _listed(
            'links', unknowns.links, robot.body_names)})
        self.payload_link = unknowns.payload
        payload = _payload(tree, unknowns.payload, bodies)
        if unknowns.gravity and (bodies or unknowns.payload):
            raise ArgumentError(
                'the direction of gravity is to be identified together with masses, whose product '
                'the efforts depend on; identify the direction with links=() and no payload, and '
                'the masses then')
        phi = robot.inertial_parameters
        linear = [
            *_friction(tree, friction, unknowns, largest_speeds, self._widths.tolist()),
            *(Unknown('rotor_inertia', name, unit_of(tree, name, 'kg m^2', 'kg'),
                      tree.bodies[tree.joints[name]].armature, tree.joints[name])
              for name in rotors),
            *(Unknown(f'gravity_{axis}', '', 'm/s^2', value, index)
              for index, (axis, value) in enumerate(zip('xyz', robot.free_fall))
              if unknowns.gravity),
            *(Unknown(quantity, tree.bodies[body].link, unit, float(phi[10 * body + row]), body)
              for body in bodies for row, (quantity, unit) in enumerate(INERTIAL_UNITS)),
            *(Unknown(quantity, PAYLOAD, unit, 0.0, payload)
              for quantity, unit in INERTIAL_UNITS if unknowns.payload)]
        self.columns = len(linear)
        self.unknowns = (*linear, *(
            Unknown(GAIN, name, '', 1.0, tree.joints[name]) for name in gains))
        if not self.unknowns:
            raise ArgumentError(
                'nothing is unknown; name joints in friction, rotor_inertia or gains, or links, '
                'or a payload, or gravity')
        self.bodies = tuple(
            index for index, unknown in enumerate(linear) if unknown.quantity == 'm')
        self.gravity = tuple(
            index for index, one in enumerate(linear) if one.quantity.startswith('gravity'))
        self._payload_columns = (
            np.eye(10) if unknowns.payload is None else payload_columns(tree, unknowns.payload))
        above = _coordinates_above(tree)
        entered = [
            set(range(tree.nv)) if one.quantity.startswith('gravity')
            else above[one.body] if one.is_inertial else _coordinates(tree.bodies[one.body])
            for one in linear]
        self.of_coordinate = tuple(
            np.array([index for index, own in enumerate(entered) if v in own], dtype=int)
            for v in range(tree.nv))
        self.is_dry = np.array([
            any(linear[index].quantity in DRY for index in columns)
            for columns in self.of_coordinate], dtype=bool)
        inertial = independent_columns(robot, [
            tuple(sorted({linear[index].body for index in columns if linear[index].is_inertial}))
            for columns in self.of_coordinate])
        others = [[linear[column] for column in columns if not linear[column].is_inertial]
                  for columns in self.of_coordinate]
        rows = [(columns.taken, tuple(one.quantity for one in own))
                for columns, own in zip(inertial, others)]
        self._quantity = regression(rows)
        ends = np.cumsum([0, *(len(taken) + len(own) + 2 for taken, own in rows)]).tolist()
        self.parts = tuple(map(slice, ends, ends[1:]))
        places = [
            (place, coordinate, one)
            for coordinate, (own, part) in enumerate(zip(others, self.parts))
            for place, one in enumerate(own, start=part.stop - 2 - len(own))]
        self._others = [each for each in places if each[2].quantity not in PLAIN]
        self._signs = [(place, v) for place, v, one in places if one.quantity == 'coulomb']
        self.expansions = tuple(map(self._expansion, inertial, self.of_coordinate))
        self._with_payloads: dict[str, Robot] = {}

    def gained_coordinates(self) -> list[tuple[int, slice]]:
        """Return for each unknown gain its place in the unknowns and its coordinates."""
        return [(index, self.robot.tree.bodies[unknown.body].v_slice)
                for index, unknown in enumerate(self.unknowns) if unknown.quantity == GAIN]

    def loaded(self, payloads: Mapping[str, tuple[str, Inertial]]) -> Robot:
        """Return the robot with the known payloads of a recording."""
        key = repr(payloads)
        if key not in self._with_payloads:
            robot = self.robot
            for name, (link, inertial) in payloads.items():
                robot = robot.with_payload(name, link, inertial)
            self._with_payloads[key] = robot
        return self._with_payloads[key]

    def evaluate(
            self,
            payloads: Mapping[str, tuple[str, Inertial]],
            q: np.ndarray,
            qd: np.ndarray,
            qdd: np.ndarray,
            y: np.ndarray,
            out: np.ndarray | None = None,
            direction: np.ndarray | None = None) -> np.ndarray:
        """
        Return for each coordinate independent columns, the effort of the model before, and y.

        Of a coordinate, ``parts`` says where they are, and ``expansions`` what they are multiplied
        by to give (X, b, y): all of its columns, in the order of ``of_coordinate``, and the same
        efforts.

        :param payloads: of the recording, known.
        :param q: positions, shape (N, nq) [rad or m].
        :param qd: velocities, shape (N, nv), per s; qdd, accelerations, per s^2.
        :param y: measured efforts, shape (N, nv) [Nm or N, or their own unit with a drive gain].
        :param out: written and returned where given.
        :param direction: the columns of Coulomb friction, shape (N, nv); by default the signs of
            the velocities.
        :return: shape (N, numbers of all coordinates).
        """
        robot = self.loaded(payloads)
        numbers = robot.regression(self._quantity, q, qd, qdd, y, out)
        fields = [robot.gravity(q, gravity=axis) for axis in np.eye(3)] if self.gravity else []
        for place, v, unknown in self._others:
            numbers[:, place] = (
                fields[unknown.body][:, v] if unknown.quantity.startswith('gravity')
                else JOINT_COLUMNS[unknown.quantity](qd[:, v], qdd[:, v], unknown.knee))
        if direction is None and not self.slow_joints:
            return numbers
        signs = smooth_sign(qd, self._widths) if direction is None else direction
        for place, v in self._signs:
            numbers[:, place] = signs[:, v]
        for v, multiplier, friction in self._coulomb:  # also in the effort of the model before
            numbers[:, self.parts[v].stop - 2] += friction * (
                abs(multiplier) * signs[:, v] - multiplier * smooth_sign(multiplier * qd[:, v]))
        return numbers

    def _expansion(self, independent: Independent, columns: np.ndarray) -> np.ndarray:
        """Return what the numbers of a coordinate are multiplied by to give (X, b, y)."""
        unknowns, taken = [self.unknowns[column] for column in columns], len(independent.taken)
        others = [place for place, one in enumerate(unknowns) if not one.is_inertial]
        result = np.zeros((taken + len(others) + 2, len(columns) + 2))
        result[taken:, [*others, -2, -1]] = np.eye(len(others) + 2)
        for place, one in enumerate(unknowns):
            if one.is_inertial:
                ten = independent.sums[:, independent.places(one.body)]
                ten = ten @ self._payload_columns if one.owner == PAYLOAD else ten
                result[:taken, place] = ten[:, PARAMETERS.index(one.quantity)]
        return result


INERTIAL_UNITS = tuple(
    (name, 'kg' if name == 'm' else 'kg m' if name.startswith('h') else 'kg m^2')
    for name in PARAMETERS)


def coordinate_names(tree: Tree) -> tuple[str, ...]:
    """Return a name for each velocity coordinate: its joint's, with its own if there are more."""
    names: list[str] = []
    for joint, index in tree.joints.items():
        kind = tree.bodies[index].type
        names += [joint] if kind.nv == 1 else [f'{joint}/{one}' for one in kind.coordinates]
    return tuple(names)


def _joints(robot: Robot, argument: str, names: Names) -> list[str]:
    """Return the joints that are meant, all but that of a floating base."""
    known = [name for name in robot.joint_names if name != FLOATING_BASE]
    names = _listed(argument, names, known)
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known) or f'; its joints are {", ".join(known)}'
            raise ArgumentError(
                f'{argument} names {name!r}, which is no independent joint of {robot.name!r}'
                f'{hint}')
    return [name for name in known if name in names]


def _listed(argument: str, names: Names, known: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str) and names != 'all':
        raise ArgumentError(f"{argument} is {names!r}; it needs a list of names, or 'all'")
    return known if isinstance(names, str) else names


def _moved_body(tree: Tree, argument: str, link: str) -> int:
    """Return the body that carries a link."""
    check_link(tree, link)
    if tree.links[link].body == BASE:
        raise ArgumentError(
            f'{argument} names {link!r}, which nothing moves, so that no effort depends on it; '
            'name a link that a joint moves')
    return tree.links[link].body


def _payload(tree: Tree, link: str | None, bodies: Iterable[int]) -> int:
    """Return the body that carries the unknown payload; BASE where there is none."""
    if link is None:
        return BASE
    body = _moved_body(tree, 'payload', link)
    if body in bodies:
        raise ArgumentError(
            f'both the payload on {link!r} and the inertial parameters of '
            f'{tree.bodies[body].link!r}, to which that link is fixed, are to be identified; '
            'efforts depend on their sum only: identify the arm without payload first')
    return body


def payload_columns(tree: Tree, link: str) -> np.ndarray:
    """Return what ten parameters in a link's frame are in its body's, shape (10, 10)."""
    to_parent = tree.links[link].X_body_to_link.to_parent
    return np.array([
        parameters_of(to_parent(inertia_from(unit))) for unit in np.eye(10).tolist()]).T


def _coordinates_above(tree: Tree) -> list[set[int]]:
    """Return for each body the velocity coordinates that move it."""
    reached: list[set[int]] = []
    for body in tree.bodies:
        above = set() if body.parent == BASE else reached[body.parent]
        reached.append(above | _coordinates(body))
    return reached


def _coordinates(body: Body) -> set[int]:
    return set(range(body.v_slice.start, body.v_slice.stop))


def _friction(
        tree: Tree, names: Sequence[str], unknowns: Unknowns, largest_speeds: np.ndarray,
        widths: Sequence[float]) -> list[Unknown]:
    """Return the unknowns of the friction of joints, Stribeck velocities to choose among too."""
    result = []
    for name in names:
        index = tree.joints[name]
        body = tree.bodies[index]
        viscous = unit_of(tree, name, 'Nm s/rad', 'N s/m')
        effort = unit_of(tree, name, 'Nm', 'N')
        single = body.type.nv == 1
        width = widths[body.v_index]
        if unknowns.by_direction and single:
            result += [
                Unknown('viscous_forward', name, viscous, body.damping, index, width),
                Unknown('viscous_backward', name, viscous, body.damping, index, width)]
        else:
            result.append(Unknown('viscous', name, viscous, body.damping, index))
        result.append(Unknown('coulomb', name, effort, body.friction, index))
        if single:
            result.append(Unknown('offset', name, effort, 0.0, index))
        if unknowns.stribeck and single:
            result += [Unknown('stribeck', name, effort, 0.0, index, knee)
                       for knee in _knees(body, largest_speeds)]
    return result


def _knees(body: Body, largest_speeds: np.ndarray) -> list[float]:
    """Return the Stribeck velocities to try: evenly in logarithm, below the largest speed."""
    fastest = 0.5 * float(largest_speeds[body.v_index])
    slowest = 2.0 * SIGN_WIDTH
    if not fastest > 2.0 * slowest:
        return []
    return np.geomspace(slowest, fastest, STRIBECK_VELOCITIES).tolist()


def unit_of(tree: Tree, joint: str, turning: str, sliding: str) -> str:
    """Return the unit of a number of a joint: one if the joint turns, the other if it slides."""
    kind = tree.bodies[tree.joints[joint]].type
    return sliding if kind.slides_along_axis else turning


def _with_plain_friction(robot: Robot, joints: Sequence[str]) -> Robot:
    """Return the robot with viscous and Coulomb friction only, in these joints."""
    refined: dict[str, Any] = {number.name: 0.0 for number in FRICTION_LAW}
    bodies = tuple(replace(body, **refined) if body.joint in joints else body
                   for body in robot.tree.bodies)
    return robot if bodies == robot.tree.bodies else Robot(
        replace(robot.tree, bodies=bodies), gravity=robot.free_fall, engine=robot.engine)
