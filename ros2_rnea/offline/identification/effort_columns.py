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
What a recording shall tell, as columns of efforts that are linear in what is unknown.

The effort of a motion is a sum of columns, each times an unknown: inertial parameters of bodies
(:mod:`ros2_rnea.dynamics.regressor`), those of a payload, friction and the rotors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ros2_rnea.dynamics.joint_regressor import JOINT_COLUMNS
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.tree import BASE, link_inertia, MASSLESS
from ros2_rnea.offline.identification.unknowns import (
    INERTIAL_UNITS,
    payload_columns,
    unit_of,
    WORDS,
)
from ros2_rnea.robots.arguments import Array, check_link
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot
from ros2_rnea.spatial import Inertia

INERTIA, FRICTION, ROTOR, PAYLOAD = 'inertia', 'friction', 'rotor', 'payload'

_KINDS = (INERTIA, FRICTION, ROTOR, f'{PAYLOAD}:LINK')

_OF_JOINTS = {
    FRICTION: (('viscous', 'Nm s/rad', 'N s/m'), ('coulomb', 'Nm', 'N'), ('offset', 'Nm', 'N')),
    ROTOR: (('rotor_inertia', 'kg m^2', 'kg'),)}
"""By kind, the names among :data:`JOINT_COLUMNS`, and units of joints that turn and that slide."""


class Sought(NamedTuple):
    """
    One number that is to be identified.

    :ivar of: the link or joint that it belongs to.
    :ivar quantity: such as ``m`` or ``viscous friction``.
    :ivar size: how large it may be for the body of the model, whatever its axes, in its unit;
        infinite where no model tells.
    """

    of: str
    quantity: str
    unit: str
    size: float = inf

    @property
    def name(self) -> str:
        """Return how messages and files name it."""
        return f'{self.of}: {self.quantity}'


@dataclass(frozen=True)
class Columns:
    """
    The columns of all that is to be identified.

    :ivar sought: one for each column.
    :ivar at: takes q (N, nq), qd and qdd (N, nv) and returns the columns, shape (N, nv, columns),
        whose sum, each times its number, is the effort [Nm or N].
    """

    sought: tuple[Sought, ...]
    at: Callable[[Array, Array, Array], Array]


def columns_for(robot: Robot, joints: Sequence[str], kinds: Sequence[str]) -> Columns:
    """
    Return the columns of what shall be identified.

    :param joints: those that move; friction and rotors are theirs, and so are the bodies.
    :param kinds: ``inertia`` (of all bodies), ``friction`` (viscous, Coulomb and an offset),
        ``rotor`` (inertia of the motor) or ``payload:LINK`` (a body on a link, in its frame).
    :raises ArgumentError: naming the kind that is none, or the link that no joint moves.
    """
    parts = [_part(robot, joints, kind) for kind in dict.fromkeys(kinds)]
    if not parts:
        raise ArgumentError(f'nothing is to be identified: name some of {", ".join(_KINDS)}')
    return Columns(
        tuple(sought for part in parts for sought in part.sought),
        lambda q, qd, qdd: np.concatenate([part.at(q, qd, qdd) for part in parts], axis=2))


def payload_link(kind: str) -> str:
    """Return the link of ``payload:LINK``; empty: the kind is another one."""
    name, _, link = kind.partition(':')
    return link if name == PAYLOAD else ''


def _part(robot: Robot, joints: Sequence[str], kind: str) -> Columns:
    if payload_link(kind):
        return _payload(robot, joints, payload_link(kind))
    if kind == INERTIA:
        return _inertia(robot, joints)
    if kind in _OF_JOINTS:
        return _of_joints(robot, joints, _OF_JOINTS[kind])
    raise ArgumentError(
        f'{kind!r} cannot be identified{did_you_mean(kind, _KINDS)}; there are '
        f'{", ".join(_KINDS)}')


def _inertia(robot: Robot, joints: Sequence[str]) -> Columns:
    moved = [index for index in range(len(robot.tree.bodies))
             if _is_moved(robot, index, joints)]
    places = np.concatenate([np.arange(10) + 10 * index for index in moved])
    return Columns(
        tuple(sought for index in moved for sought in _of_body(
            robot.body_names[index], robot.tree.bodies[index].inertia)),
        lambda q, qd, qdd: robot.regressor(q, qd, qdd)[:, :, places])


def _payload(robot: Robot, joints: Sequence[str], link: str) -> Columns:
    check_link(robot.tree, link)
    frame = robot.tree.links[link]
    if not _is_moved(robot, frame.body, joints):
        raise ArgumentError(
            f'no joint that moves ({", ".join(joints)}) moves link {link!r}, so a payload on it '
            'changes none of their efforts: name a link that they move')
    to_body = payload_columns(robot.tree, link)
    of_body = slice(10 * frame.body, 10 * frame.body + 10)
    return Columns(
        _of_body(link, sum((link_inertia(inertial) for owner, inertial in robot.payloads.values()
                            if owner == link), start=MASSLESS)),
        lambda q, qd, qdd: robot.regressor(q, qd, qdd)[:, :, of_body] @ to_body)


def _of_body(owner: str, inertia: Inertia) -> tuple[Sought, ...]:
    """Return the ten numbers of a body, whose size its mass and its radius about the axes tell."""
    ten = parameters_of(inertia)
    mass, spread = ten[0], 0.5 * (ten[4] + ten[7] + ten[9])  # of the mass from the origin
    sizes = {'kg': mass, 'kg m': sqrt(mass * spread), 'kg m^2': spread}
    return tuple(Sought(owner, parameter, unit, sizes[unit] if spread > 0.0 else inf)
                 for parameter, unit in INERTIAL_UNITS)


def _is_moved(robot: Robot, body: int, joints: Sequence[str]) -> bool:
    moving = {joint_body(robot, joint).v_index for joint in joints}
    while body != BASE:
        if robot.tree.bodies[body].v_index in moving:
            return True
        body = robot.tree.bodies[body].parent
    return False


def _of_joints(
        robot: Robot, joints: Sequence[str], quantities: Sequence[tuple[str, str, str]],
        ) -> Columns:
    """Return columns of which each changes the effort of one joint only."""
    def at(q: Array, qd: Array, qdd: Array) -> Array:
        columns = np.zeros((len(qd), robot.nv, len(joints), len(quantities)))
        for place, joint in enumerate(joints):
            row = joint_body(robot, joint).v_index
            for which, (name, _, _) in enumerate(quantities):
                columns[:, row, place, which] = JOINT_COLUMNS[name](qd[:, row], qdd[:, row], 0.0)
        return columns.reshape(len(columns), robot.nv, -1)

    return Columns(tuple(Sought(joint, WORDS[name], unit_of(robot.tree, joint, *units))
                         for joint in joints for name, *units in quantities), at)
