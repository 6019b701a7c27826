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
"""Robots with closed loops: a tree, and joints or rigid links that close loops in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from ros2_rnea.dynamics import loops as mechanics
from ros2_rnea.dynamics.joints import joint_models
from ros2_rnea.dynamics.loops import LoopJoint
from ros2_rnea.errors import ArgumentError, DescriptionError, did_you_mean
from ros2_rnea.model.description import (
    JointDescription,
    LinkDescription,
    RobotDescription,
)
from ros2_rnea.model.loops import Loop, parse_loops, TOLERANCE
from ros2_rnea.model.tree import build_tree, placement, Tree
from ros2_rnea.robots.arguments import Array, BatchArguments, check_link, floats, Wrenches
from ros2_rnea.robots.robot import Robot

ASSEMBLED = 1e-12
"""Assembly goes on until no loop is open by more than this [rad, m], if rounding lets it."""

MAX_STEPS = 50


class Mobility(NamedTuple):
    """
    What moves and what can be moved at one position.

    :ivar freedoms: number of degrees of freedom: of independent velocities that keep all loops
        closed.
    :ivar redundant: number of directions that loops forbid more than once.  What each of them
        carries there is not determined by rigid bodies; the smallest forces are given.
    :ivar unactuated: joints that can move while no actuator moves; none if all is under control.
    :ivar preload: efforts of the actuated joints that cause strain but no motion, one a column,
        shape (actuated, columns); without columns if there are no more actuators than degrees
        of freedom.
        Any sum of these may be added to efforts without a change of the motion.
    """

    freedoms: int
    redundant: int
    unactuated: tuple[str, ...]
    preload: Array


class ClosedChainEfforts(NamedTuple):
    """
    What a motion needs.

    :ivar efforts: of the actuated joints, in their order [Nm or N]; the smallest (sum of squares)
        where ``mobility.preload`` leaves a choice.
    :ivar loop_wrenches: by loop name what it exerts on link 2, and against link 1: [moment; force]
        about frame 2's origin in its axes, shape (6,).
    """

    efforts: Array
    loop_wrenches: dict[str, Array]
    mobility: Mobility


class ClosedChainMotion(NamedTuple):
    """
    What efforts cause.

    :ivar qdd: accelerations of all joints, shape (nv,).
    :ivar loop_wrenches: as in :class:`ClosedChainEfforts`.
    """

    qdd: Array
    loop_wrenches: dict[str, Array]


class ClosedChain:
    """
    A robot whose links form loops, and its dynamics.

    All joints of the tree have a place in q, q̇ and q̈ as in :class:`Robot`; loops tie them to
    each other.  A call takes one state, which has to keep the loops closed.  A closed chain never
    changes and may be used by several threads at once.

    :param robot: the tree that remains when all loops are cut.
    :param loops: what closes them again.
    :param actuated: names of the joints that have an actuator; by default all.
    :param tolerance: how far a loop may be open [rad, m], and how far a unit of joint motion must
        open it for the direction to count as forbidden.  A model whose axes are parallel but for
        its rounding needs a tolerance above what was rounded.
    :raises RneaError: where a loop or a name does not fit the robot.
    """

    def __init__(
            self,
            robot: Robot,
            loops: Iterable[Loop],
            actuated: Iterable[str] | None = None,
            tolerance: float = TOLERANCE) -> None:
        if not 0.0 < tolerance < 1.0:
            raise ArgumentError(f'tolerance is {tolerance}; it needs to be between 0 and 1')
        self._robot, self._tolerance = robot, tolerance
        self._loops: dict[str, Loop] = {}
        for loop in loops:
            if loop.name in self._loops:
                raise DescriptionError(f'two loops are called {loop.name!r}')
            self._loops[loop.name] = loop
        self._joints = {name: _loop_joint(robot.tree, loop) for name, loop in self._loops.items()}
        self._actuated = tuple(robot.joint_names if actuated is None else actuated)
        self._places = self._places_of('actuated', self._actuated)

    @classmethod
    def from_yaml(cls, robot: Robot, text: str) -> ClosedChain:
        """
        Close the loops that a YAML file next to the URDF lists (:mod:`ros2_rnea.model.loops`).

        :param robot: the tree that remains when all loops are cut.
        :param text: the content of the file.
        :raises RneaError: naming the loop, and the key that is wrong or does not fit the robot.
        """
        description = parse_loops(text)
        return cls(robot, description.loops, description.actuated, description.tolerance)

    @property
    def robot(self) -> Robot:
        """Return the tree that remains when all loops are cut."""
        return self._robot

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Return what closes the loops."""
        return tuple(self._loops.values())

    @property
    def actuated(self) -> tuple[str, ...]:
        """Return the joints that have an actuator, in the order of efforts."""
        return self._actuated

    # ---- states that keep the loops closed ------------------------------------------------------

    def position_error(self, q: ArrayLike) -> dict[str, Array]:
        """
        Return how far each loop is open, by name.

        :param q: positions, shape (nq,) [rad or m].
        :return: the turn and shift of frame 2 against frame 1 that its joint cannot make up for,
            in the axes of frame 1 as the joint has turned them, which are frame 2's where the
            loop is closed, shape (6,) [rad, m].
        """
        call = self._call(q=q)
        return {name: mechanics.position_error(self._robot.tree, call.q, joint)
                for name, joint in self._joints.items()}

    def velocity_error(self, q: ArrayLike, qd: ArrayLike) -> dict[str, Array]:
        """
        Return how fast each loop opens, by name.

        :param q: positions, shape (nq,) [rad or m].
        :param qd: velocities, shape (nv,).
        :return: [angular; linear] velocity of frame 2 against frame 1 in the directions that the
            joint forbids, in frame 2's axes, shape (6,) [rad/s, m/s].
        """
        call = self._call(q=q, qd=qd)
        return {name: mechanics.velocity_error(self._robot.tree, call.q, call.qd, joint)
                for name, joint in self._joints.items()}

    def acceleration_error(
            self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> dict[str, Array]:
        """Return the rate of :meth:`velocity_error` in frame 2, by name, shape (6,)."""
        call = self._call(q=q, qd=qd, qdd=qdd)
        errors = {}
        for name, joint in self._joints.items():
            K, k = mechanics.constraint(self._robot.tree, call.q, call.qd, joint)
            errors[name] = joint.T @ (K @ np.array(call.qdd) - k)
        return errors

    def check_consistent(
            self,
            q: ArrayLike,
            qd: ArrayLike | None = None,
            qdd: ArrayLike | None = None,
            tolerance: float | None = None) -> None:
        """
        Check that a state keeps all loops closed.

        :param q: positions, shape (nq,) [rad or m].
        :param qd: velocities, shape (nv,); not looked at by default.
        :param qdd: accelerations, shape (nv,); looked at together with velocities only.
        :param tolerance: in rad and m; of velocities and accelerations relative to the largest of
            them, where that is above 1.  By default the chain's own.
        :raises ArgumentError: naming the loop and how far it is open.
        """
        most = self._tolerance if tolerance is None else tolerance
        self._refuse(self.position_error(q), 'is open by', ('rad', 'm'), most)
        if qd is None:
            return
        errors = self.velocity_error(q, qd)
        self._refuse(errors, 'opens at', ('rad/s', 'm/s'), most * max(1.0, _largest(qd)))
        if qdd is None:
            return
        errors = self.acceleration_error(q, qd, qdd)
        self._refuse(errors, 'would open with', ('rad/s^2', 'm/s^2'),
                     most * max(1.0, _largest(qdd), _largest(qd)**2))

    def assemble(
            self,
            q: ArrayLike,
            qd: ArrayLike | None = None,
            qdd: ArrayLike | None = None,
            held: Iterable[str] = ()) -> tuple[Array, Array, Array]:
        """
        Return a state near the given one that keeps all loops closed (Newton's method).

        :param q: positions to start from, shape (nq,) [rad or m].
        :param qd: velocities to change as little as possible, shape (nv,); by default none.
        :param qdd: accelerations to change as little as possible, shape (nv,); by default none.
        :param held: joints whose numbers stay as they are given, such as the driven ones.
        :return: q, q̇, q̈.
        :raises ArgumentError: where no such state is found.
        """
        rest = np.zeros(self._robot.nv)
        call = self._call(q=q, qd=rest if qd is None else qd, qdd=rest if qdd is None else qdd)
        q_now, qd_now, qdd_now = np.array(call.q), np.array(call.qd), np.array(call.qdd)
        fixed = self._places_of('held', tuple(held))
        free = [place for place in range(self._robot.nv) if place not in fixed]
        for _ in range(MAX_STEPS):
            error = self._stack(self.position_error(q_now))
            if _largest(error) <= ASSEMBLED:
                break
            K, _ = self._constraints(q_now, rest)
            q_now = self._robot.integrate(q_now, self._least_change(K, -error, free))
        K, _ = self._constraints(q_now, rest)
        qd_now = qd_now + self._least_change(K, -K @ qd_now, free)
        K, k = self._constraints(q_now, qd_now)
        qdd_now = qdd_now + self._least_change(K, k - K @ qdd_now, free)
        self.check_consistent(q_now, qd_now, qdd_now)
        return q_now, qd_now, qdd_now

    def freedoms(self, q: ArrayLike) -> int:
        """Return the number of independent velocities that keep all loops closed at q (nq,)."""
        return self.mobility(q).freedoms

    def mobility(self, q: ArrayLike) -> Mobility:
        """
        Return what moves and what can be moved at a position; it differs where q is singular.

        :param q: positions, shape (nq,) [rad or m].
        :raises ArgumentError: where a loop is open.
        """
        self.check_consistent(q)
        K, _ = self._constraints(q, np.zeros(self._robot.nv))
        return self._mobility(*self._split(K))

    # ---- dynamics -------------------------------------------------------------------------------

    def inverse_dynamics(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Wrenches | None = None,
            gravity: ArrayLike | None = None) -> ClosedChainEfforts:
        """
        Return the efforts of the actuated joints that a motion needs, and what the loops carry.

        :param q: positions, shape (nq,) [rad or m].
        :param qd: velocities, shape (nv,).
        :param qdd: accelerations, shape (nv,).
        :param f_ext: wrenches of the environment, as in :meth:`Robot.inverse_dynamics`.
        :param gravity: acceleration of free fall, as in :meth:`Robot.inverse_dynamics`.
        :raises ArgumentError: where the motion does not keep the loops closed, or needs an effort
            that the actuated joints cannot produce.
        """
        self.check_consistent(q, qd, qdd)
        tau = self._robot.inverse_dynamics(q, qd, qdd, f_ext, gravity)
        K, _ = self._constraints(q, qd)
        constraints, actuation = self._split(K)
        efforts, forces, left = mechanics.closed_inverse_dynamics(
            constraints, actuation, self._places, tau)
        mobility = self._mobility(constraints, actuation)
        if _largest(left) > self._tolerance * max(1.0, _largest(tau)):
            raise ArgumentError(
                f'the motion needs {self._named(left)} beyond what the actuated joints can do '
                f'({", ".join(self._actuated) or "none"}): {", ".join(mobility.unactuated)} can '
                'move without them; actuate one of these, or ask for a motion that needs no '
                'effort of these joints')
        return ClosedChainEfforts(efforts, self._loop_wrenches(forces), mobility)

    def forward_dynamics(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            efforts: ArrayLike,
            f_ext: Wrenches | None = None,
            gravity: ArrayLike | None = None) -> ClosedChainMotion:
        """
        Return the accelerations that efforts cause, and what the loops carry.

        :param q: positions, shape (nq,) [rad or m].
        :param qd: velocities, shape (nv,).
        :param efforts: of the actuated joints, in their order [Nm or N].
        :param f_ext: wrenches of the environment, as in :meth:`Robot.inverse_dynamics`.
        :param gravity: acceleration of free fall, as in :meth:`Robot.inverse_dynamics`.
        :raises ArgumentError: where the state does not keep the loops closed, or a degree of
            freedom moves nothing that has inertia.
        """
        self.check_consistent(q, qd)
        rest = np.zeros(self._robot.nv)
        tau = -self._robot.inverse_dynamics(q, qd, rest, f_ext, gravity)
        tau[self._places] += self._checked_efforts(efforts)
        K, k = self._constraints(q, qd)
        constraints, _ = self._split(K)
        try:
            qdd, forces = mechanics.closed_forward_dynamics(
                constraints, k, self._robot.mass_matrix(q), tau)
        except np.linalg.LinAlgError as error:
            raise ArgumentError(
                f'the accelerations of {self._robot.name!r} are undefined: a degree of freedom of '
                'its loops moves nothing that has inertia; give the links an inertia') from error
        return ClosedChainMotion(qdd, self._loop_wrenches(forces))

    # ---- the parts of these ---------------------------------------------------------------------

    def _call(self, **vectors: ArrayLike) -> BatchArguments:
        call = BatchArguments(self._robot.tree, **vectors).check_quaternions()
        if call.rows is not None:
            raise ArgumentError('a closed chain takes one state at a time, not rows of them')
        for name, vector in vectors.items():
            if not np.isfinite(np.asarray(vector, dtype=float)).all():
                raise ArgumentError(f'{name} is {vector!r}; a closed chain needs finite numbers')
        return call

    def _places_of(self, what: str, names: Sequence[str]) -> list[int]:
        """Return where these joints stand in velocities and efforts."""
        tree, places = self._robot.tree, []
        for name in names:
            if name not in tree.joints:
                raise ArgumentError(
                    f'{what} names {name!r}, which is not an independent joint of {tree.name!r}'
                    f'{did_you_mean(name, tree.joints)}')
            places += list(range(tree.nv)[tree.bodies[tree.joints[name]].v_slice])
        if len(set(places)) < len(places):
            raise ArgumentError(f'{what} names a joint twice: {", ".join(names)}')
        return places

    def _constraints(self, q: ArrayLike, qd: ArrayLike) -> tuple[Array, Array]:
        """Return K and k of all loops, one below the other."""
        call = self._call(q=q, qd=qd)
        pairs = [mechanics.constraint(self._robot.tree, call.q, call.qd, joint)
                 for joint in self._joints.values()]
        return (np.concatenate([np.zeros((0, self._robot.nv)), *(K for K, _ in pairs)]),
                np.concatenate([np.zeros(0), *(k for _, k in pairs)]))

    def _split(self, K: Array) -> tuple[mechanics.SplitMap, mechanics.SplitMap]:  # noqa: N803
        constraints = mechanics.SplitMap(K, self._tolerance)
        return constraints, mechanics.split_actuation(constraints, self._places, self._tolerance)

    def _least_change(
            self, K: Array, right: Array, free: Sequence[int]) -> Array:  # noqa: N803
        """Return the smallest change of the free joints that K takes to ``right``."""
        change = np.zeros(self._robot.nv)
        change[free] = mechanics.SplitMap(K[:, free], self._tolerance).solve(right)
        return change

    def _stack(self, errors: Mapping[str, Array]) -> Array:
        """Return errors by loop in the rows of K."""
        return np.concatenate([np.zeros(0), *(
            self._joints[name].T.T @ error for name, error in errors.items())])

    def _mobility(
            self, constraints: mechanics.SplitMap, actuation: mechanics.SplitMap) -> Mobility:
        loose = constraints.kernel @ actuation.unreached
        names = [name for name, rows in self._robot.velocities_by_joint(
            np.linalg.norm(loose, axis=1)).items() if _largest(rows) > self._tolerance]
        return Mobility(
            freedoms=constraints.kernel.shape[1],
            redundant=constraints.unreached.shape[1],
            unactuated=tuple(names),
            preload=actuation.kernel)

    def _loop_wrenches(self, forces: Array) -> dict[str, Array]:
        wrenches, first = {}, 0
        for name, joint in self._joints.items():
            last = first + joint.T.shape[1]
            wrenches[name] = joint.T @ forces[first:last]
            first = last
        return wrenches

    def _checked_efforts(self, efforts: ArrayLike) -> Array:
        array = floats('efforts', efforts)
        if array.shape != (len(self._places),) or not np.isfinite(array).all():
            raise ArgumentError(
                f'efforts are {efforts!r}; the actuated joints ({", ".join(self._actuated)}) need '
                f'{len(self._places)} finite numbers')
        return array

    def _named(self, efforts: Array) -> str:
        """Return the joints where efforts are not nothing, with these."""
        by_joint = self._robot.velocities_by_joint(efforts)
        return ', '.join(
            f'{" ".join(f"{number:.4g}" for number in numbers)} at {name!r}'
            for name, numbers in by_joint.items()
            if _largest(numbers) > self._tolerance * _largest(efforts))

    def _refuse(
            self,
            errors: Mapping[str, Array],
            happens: str,
            units: tuple[str, str],
            most: float) -> None:
        """Say which loop is open the furthest, if any is."""
        if not errors:
            return
        name = max(errors, key=lambda each: _largest(errors[each]))
        if _largest(errors[name]) <= most:
            return
        loop = self._loops[name]
        turn, shift = (np.linalg.norm(part) for part in np.split(errors[name], 2))
        raise ArgumentError(
            f'loop {name!r} between {loop.link1!r} and {loop.link2!r} {happens} '
            f'{turn:.3g} {units[0]} and {shift:.3g} {units[1]}; at most {most:.3g} would do '
            '(assemble() finds a state near by)')


def _loop_joint(tree: Tree, loop: Loop) -> LoopJoint:
    """Return a loop in the terms of mechanics; checked as the joint of a robot of two links."""
    where = f'loop {loop.name!r}'
    for key, link in (('link1', loop.link1), ('link2', loop.link2)):
        try:
            check_link(tree, link)
        except ArgumentError as error:
            raise ArgumentError(f'{where} has the {key} {link!r}, but {error}') from error
    if tree.links[loop.link1].body == tree.links[loop.link2].body:
        raise DescriptionError(
            f'{where} joins {loop.link1!r} and {loop.link2!r}, which are one rigid body')
    if not loop.type.closes_loops:
        raise DescriptionError(
            f'{where} is {loop.type.label}; a loop can be closed by any other type of joint')
    if not all(map(isfinite, (*loop.origin2.xyz, *loop.origin2.rpy))):
        raise DescriptionError(f'{where} has the origin2 {loop.origin2}; it must be finite')
    links = LinkDescription(loop.link1), LinkDescription(loop.link2)
    joint = JointDescription(
        loop.name, loop.type, loop.link1, loop.link2, loop.origin1, loop.axis)
    try:
        alone = build_tree(
            RobotDescription(where, links, (joint,)),
            massless_links=[loop.link2], lump_fixed_joints=False)
    except DescriptionError as error:
        raise DescriptionError(f'{where}: {error}') from error
    return LoopJoint(
        predecessor=loop.link1,
        successor=loop.link2,
        X_to_1=placement(loop.origin1),
        X_to_2=placement(loop.origin2),
        model=joint_models(alone)[0])


def _largest(numbers: ArrayLike) -> float:
    """Return the largest magnitude; 0 of nothing."""
    return float(np.max(np.abs(np.asarray(numbers, dtype=float)), initial=0.0))
