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
"""What the environment exerts on the robot: by joint, as a wrench at a link, and as a contact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.arrays import any_set
from ros2_rnea.control.inputs.momentum_observer import MomentumObserver, ObserverMemory
from ros2_rnea.control.inputs.stamps import StampMemory, Stamps
from ros2_rnea.control.settings import Settings
from ros2_rnea.control.signals import FilterMemory
from ros2_rnea.dynamics.wrenches import wrench_matrix_to_body, wrench_of_effort
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.tree import BASE
from ros2_rnea.robots.joint_index_map import JointIndexMap
from ros2_rnea.robots.robot import Robot

LARGEST_SHARE = 4.0
"""An external effort in one sample is clipped to this multiple of the joint's effort limit."""

DAMPING = 0.01
"""Damping of the least squares for the wrench: smaller singular values are suppressed."""


class MeasuredMotion(NamedTuple):
    """
    What is observed: the joints of the index map, of which the observed ones are the first.

    :ivar positions: of the joints of the index map, shape (mapped joints,) [rad or m].
    :ivar velocities: of these joints, shape (mapped joints,) [rad/s or m/s].
    :ivar efforts: of the observed joints, shape (joints,) [Nm or N]; NaN where not measured.
    :ivar without_velocity: observed joints whose velocity is not measured.
    :ivar time: of the measurement [s], on any clock: only differences are used.
    """

    positions: np.ndarray
    velocities: np.ndarray
    efforts: np.ndarray
    without_velocity: tuple[str, ...]
    time: float


@dataclass
class ExternalMemory:
    """
    What has been observed.

    :ivar names: of the observed joints, in the order of the arrays.
    :ivar observer: the estimate of the external effort.
    :ivar stamps: of the measured states.
    :ivar q: the last measured positions of the robot, shape (nq,); None: there are none.
    :ivar effort: see :class:`ExternalEffort`, as for ``missing`` and ``contacts``.
    """

    names: tuple[str, ...]
    observer: ObserverMemory
    stamps: StampMemory = field(default_factory=StampMemory)
    q: np.ndarray | None = None
    effort: np.ndarray | None = None
    missing: str = ''
    contacts: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Sequence[str]) -> ExternalMemory:
        """Return that of joints on which no external effort acts."""
        return cls(tuple(names), ObserverMemory(FilterMemory(np.zeros(len(names)))))

    def for_joints(self, names: Sequence[str]) -> ExternalMemory:
        """
        Return a copy for other joints, perhaps of another model.

        The estimates of joints of the same names stay, and no external effort acts on others.
        What was observed last is observed again with the next measured state.
        """
        older = self.observer.estimate
        known = dict(zip(self.names, older.value.tolist()))
        estimate = np.array([known.get(name, 0.0) for name in names])
        return ExternalMemory(
            tuple(names), ObserverMemory(FilterMemory(estimate, older.received)),
            StampMemory(**vars(self.stamps)))


class ExternalEffort:
    """
    Observes the external effort of the controlled joints.

    :param robot: the model.
    :param joints: the observed joints.
    :param index_map: the indices of the joints in q and q̇, the observed ones first.
    :param indices: of the observed joints in efforts.
    :param memory: what has been observed of the same joints; None: nothing.
    :ivar effort: shape (joints,) [Nm or N]; NaN where no effort is measured; None: nothing is
        observed.
    :ivar missing: for people: what the joint states lack; empty where they lack nothing.
    :ivar contacts: the joints whose external effort exceeds their threshold, and by which effort.
    """

    def __init__(
            self, robot: Robot, joints: Sequence[str], index_map: JointIndexMap,
            indices: slice | np.ndarray, memory: ExternalMemory | None = None) -> None:
        self._robot = robot
        self._joints = tuple(joints)
        self._index_map = index_map
        self._indices = indices
        self._tree = robot.tree
        self._rest = np.zeros(robot.nv)
        self._observer: MomentumObserver | None = None
        self.memory = memory or ExternalMemory.of(self._joints)
        self._stamps = Stamps(self.memory.stamps)
        if self.memory.q is None or len(self.memory.q) != robot.nq:
            self.memory.q, self.memory.effort = None, None

    @property
    def effort(self) -> np.ndarray | None:
        """Return the external effort, shape (joints,) [Nm or N]; None: nothing is observed."""
        return self.memory.effort

    @property
    def missing(self) -> str:
        """Return what the joint states lack, for people."""
        return self.memory.missing

    @property
    def contacts(self) -> dict[str, float]:
        """Return the joints in contact, each with its external effort."""
        return self.memory.contacts

    @property
    def duration(self) -> float:
        """Return for how long the external effort has been observed without a break [s]."""
        return 0.0 if self._observer is None else self._observer.duration

    def use(self, settings: Settings, limits: np.ndarray) -> None:
        """
        Use other settings from now on.

        :param limits: the effort limits of the joints, shape (joints,); 0: not known.
        """
        bound = LARGEST_SHARE * np.where(limits > 0.0, limits, np.inf)
        self._observer = MomentumObserver(
            self._robot, settings.external_effort_gain, settings.state_timeout, bound,
            self._indices, self.memory.observer)
        self._lacking = settings.lacking_terms
        self._arm_gravity = np.array(settings.arm_gravity) if settings.arm_gravity else None
        self._thresholds = np.array([
            settings.external_effort_threshold.get(name, np.inf) for name in self._joints])
        self._link = settings.external_wrench_link
        self._unit_wrenches = _unit_wrenches(self._robot, self._link)

    def restart(self) -> None:
        """Begin with no external effort."""
        self.memory.effort, self.memory.contacts = None, {}
        if self._observer is not None:
            self._observer.restart()

    def update(self, measured: MeasuredMotion) -> None:
        """Take a measured state; without what this needs, say what is missing."""
        observer, memory = self._observer, self.memory
        memory.missing = self._lacks(measured) or self._stamps.defect(measured.time)
        if memory.missing or observer is None:
            self.restart()
            return
        if self._robot.tree is not self._tree:  # another payload or number of a joint
            self._tree = self._robot.tree
            observer.forget_momentum()
        memory.q = q = self._index_map.positions(measured.positions)
        qd = self._index_map.velocities(measured.velocities)
        effort = measured.efforts.copy()
        memory.missing = self._joints_without_effort(effort)
        for term in self._lacking or ():
            effort += self._term(term, q, qd)[self._indices]
        observer.update(q, qd, effort, measured.time)
        memory.effort = external = np.where(np.isfinite(effort), observer.estimate, np.nan)
        exceeds = np.abs(external) > self._thresholds
        memory.contacts = {} if not any_set(exceeds) else {
            name: float(value) for name, value, is_above in zip(
                self._joints, external, exceeds.tolist()) if is_above}

    def wrench(self) -> np.ndarray | None:
        """
        Return the wrench at the link of the settings that explains the external effort best.

        The Jacobian is that of inverse dynamics by unit wrenches, whose kernel a node has anyway:
        one for the Jacobian of this link would have to be compiled for each change of the link.

        :return: [moment; force] in the link's frame, shape (6,); None where there is no such link,
            or no external effort of all joints.
        """
        effort, q = self.memory.effort, self.memory.q
        if self._unit_wrenches is None or q is None or (
                effort is None or not np.isfinite(effort).all()):
            return None
        robot, rest = self._robot, self._rest
        without = robot.inverse_dynamics(q, rest, rest)
        columns = [(without - robot.inverse_dynamics(q, rest, rest, f_ext=unit))[self._indices]
                   for unit in self._unit_wrenches]
        return np.array(wrench_of_effort(
            np.transpose(columns).tolist(), effort.tolist(), DAMPING))

    def _lacks(self, measured: MeasuredMotion) -> str:
        if self._lacking is None:
            return ('the efforts in joint_states are not the efforts of the joints, as '
                    'measured_lacks or arm says')
        if measured.without_velocity:
            return 'joint_states lack the velocity of ' + ', '.join(measured.without_velocity)
        if not np.isfinite(measured.efforts).any():
            return _lack_of_efforts(self._joints)
        return ''

    def _joints_without_effort(self, efforts: np.ndarray) -> str:
        """Return which joints have a threshold but no effort."""
        names = [name for name, effort, threshold in zip(
            self._joints, efforts.tolist(), self._thresholds.tolist())
            if not isfinite(effort) and threshold < inf]
        return _lack_of_efforts(names) if names else ''

    def _term(self, name: str, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """
        Return a term that the measured efforts lack, at the measured state.

        What they lack of gravity is what the arm adds, which may be for another direction.
        """
        if name == 'gravity':
            return self._robot.gravity(q, self._arm_gravity)
        return getattr(self._robot.effort_terms(q, qd, self._rest), name)


def _lack_of_efforts(names: Iterable[str]) -> str:
    """Return that the efforts of joints are not measured."""
    return 'joint_states lack the efforts of ' + ', '.join(names)


def check_external_wrench_link(robot: Robot, link: str) -> None:
    """
    Check that the link whose external wrench is asked for is one that joints move.

    :raises ArgumentError: naming the link, and one that would do.
    """
    links = {name: frame for name, frame in robot.tree.links.items() if frame.body != BASE}
    if link and link not in links:
        raise ArgumentError(
            f'external_wrench_link is {link!r}, which is no link of {robot.name!r} that joints '
            f'move{did_you_mean(link, links)}')


def _unit_wrenches(robot: Robot, link: str) -> np.ndarray | None:
    """Return six arrays of wrenches on all bodies, one for each component at a link."""
    if link not in robot.tree.links:
        return None
    frame = robot.tree.links[link]
    units = np.zeros((6, len(robot.tree.bodies), 6))
    units[:, frame.body] = np.array(wrench_matrix_to_body(frame), dtype=float).T
    return units
