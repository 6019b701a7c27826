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
"""The state of the whole robot, composed of measured, requested and assumed joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.tree import Body
from ros2_rnea.robots.arguments import check_quaternion
from ros2_rnea.robots.robot import Robot


def joint_body(robot: Robot, joint: str) -> Body:
    """Return the body that an independent joint moves."""
    return robot.tree.bodies[robot.tree.joints[joint]]


def single_joints(robot: Robot) -> tuple[str, ...]:
    """Return the independent joints with one degree of freedom, as JointState can contain them."""
    return tuple(name for name in robot.joint_names if joint_body(robot, name).type.nv == 1)


def followed_joint(robot: Robot, mimic: str) -> str:
    """Return the independent joint that a mimic joint follows."""
    leader = robot.tree.bodies[robot.tree.mimics[mimic]].q_index
    return next(
        name for name in robot.joint_names if joint_body(robot, name).q_index == leader)


def check_joint_names(robot: Robot, names: Sequence[str], where: str) -> None:
    """
    Check that names are distinct joints with one degree of freedom.

    :param where: the parameter or field that contains the names, for errors.
    :raises ArgumentError: naming the joint that cannot be used, and an alternative.
    """
    known = dict.fromkeys(single_joints(robot))
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ArgumentError(f'{where} names {name!r} twice')
        seen.add(name)
        if name in known:
            continue
        if name in robot.tree.mimics:
            followed = followed_joint(robot, name)
            raise ArgumentError(
                f'{where} names {name!r}, which mimics {followed!r} and has no effort of its '
                f'own: name {followed!r} alone')
        if name in robot.joint_names:
            kind = joint_body(robot, name).type.label
            raise ArgumentError(
                f'{where} names {name!r}, a {kind} joint; only revolute, continuous and '
                'prismatic joints can be commanded')
        hint = did_you_mean(name, known) or f'; its joints are {", ".join(known)}'
        raise ArgumentError(
            f'{where} names {name!r}, which is no moving joint of {robot.name!r}{hint}')


def check_assumed_positions(robot: Robot, assumed: Mapping[str, Sequence[float]]) -> None:
    """
    Check that each assumed position fits its joint; joints of other robots are ignored.

    :raises ArgumentError: naming the joint, its value and what it needs.
    """
    for name, values in assumed.items():
        if name not in robot.tree.joints:
            continue
        kind = joint_body(robot, name).type
        if len(values) != kind.nq or not np.isfinite(values).all():
            raise ArgumentError(
                f'assumed_positions.{name} is {list(values)}; the {kind.label} joint {name!r} '
                f'needs {kind.nq} finite number{"s" if kind.nq > 1 else ""}')
        if kind.quaternion is not None:
            check_quaternion(name, values[kind.quaternion])


class JointIndexMap:
    """
    The indices of joints in the robot's position and velocity vectors.

    It fills these vectors from values by joint; joints without a value get their assumed one.

    :param names: joints with values, each with one degree of freedom.
    :param assumed: positions of joints that no joint state reports, by name.
    :ivar q_index: of each joint's position in q, shape (joints,).
    :ivar v_index: of each joint's velocity in q̇, shape (joints,).
    """

    def __init__(
            self,
            robot: Robot,
            names: Sequence[str],
            assumed: Mapping[str, Sequence[float]]) -> None:
        self.q_index = np.array([joint_body(robot, n).q_index for n in names], dtype=int)
        self.v_index = np.array([joint_body(robot, n).v_index for n in names], dtype=int)
        self._names = tuple(names)
        self._assumed = np.zeros(robot.nq)
        for name in robot.joint_names:
            if name in assumed:
                self._assumed[joint_body(robot, name).q_slice] = assumed[name]
        self.nv = robot.nv
        self._needed = np.array(
            [i for i, name in enumerate(names) if name not in assumed], dtype=int)
        self._unmeasurable = tuple(
            n for n in robot.joint_names if n not in self._names and n not in assumed)

    def positions(self, values: np.ndarray) -> np.ndarray:
        """Return q, shape (nq,), from the joints' values; NaN is replaced by the assumed value."""
        q = self._assumed.copy()
        self.fill_positions(q, values)
        return q

    def fill_positions(self, q: np.ndarray, values: np.ndarray, start: int = 0) -> None:
        """
        Write the joints' values into q where they are not NaN.

        :param q: shape (nq,); its other numbers are not changed.
        :param start: index of the joint that the first value belongs to.
        """
        known = ~np.isnan(values)
        q[self.q_index[start:][known]] = values[known]

    def velocities(self, values: np.ndarray) -> np.ndarray:
        """Return q̇ (or q̈), shape (nv,), from the joints' values; zero for other joints."""
        qd = np.zeros(self.nv)
        qd[self.v_index] = values
        return qd

    def unknown(self, values: np.ndarray) -> tuple[str, ...]:
        """Return the joints of the robot whose position is neither a value here nor assumed."""
        return (*(self._names[i] for i in self._missing(values)), *self._unmeasurable)

    def with_zero_where_unknown(self, values: np.ndarray) -> np.ndarray:
        """Return the joints' values, with 0 in place of NaN where no position is assumed."""
        known = values.copy()
        known[self._missing(values)] = 0.0
        return known

    def _missing(self, values: np.ndarray) -> np.ndarray:
        """Return the indices of the joints that have neither a value here nor an assumed one."""
        return self._needed[np.isnan(values[self._needed])]
