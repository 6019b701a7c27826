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
"""The public face of the library: a robot, its names and its dynamics, on NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.dynamics import rnea
from ros2_rnea.dynamics.friction import joint_friction
from ros2_rnea.dynamics.wrenches import body_forces, Frame, WORLD, Wrench
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.description import JointType, RobotDescription
from ros2_rnea.model.tree import build_tree, Tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Force, Number, Vector

Array = np.ndarray

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the root link's axes [m/s^2], unless another is given."""

QUATERNION_TOLERANCE = 1e-3


class EffortTerms(NamedTuple):
    """Where an effort comes from; each term has shape (nv,) or (N, nv), and total is their sum."""

    gravity: Array
    coriolis: Array
    inertia: Array
    friction: Array
    external: Array
    total: Array


class Robot:
    """
    A robot and its inverse dynamics.

    Vectors are in the order of ``joint_names``, which is depth first from the root link with
    children in the description's order; mimic joints have no place of their own.  Revolute,
    continuous and prismatic joints take one position and one velocity.  A floating joint takes
    q = (x, y, z, qx, qy, qz, qw) and v = (angular; linear) in body axes, a planar one
    q = (x, y, theta) and v = (vx, vy, omega) in body axes.  SI units.

    Each method takes one state, or N states as the rows of 2-D arrays.  A robot never changes
    and may be used by several threads at once.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @classmethod
    def from_urdf(
            cls,
            text: str,
            floating_base: bool = False,
            massless_links: Iterable[str] = ()) -> Robot:
        """
        Read a robot from URDF text.

        :param text: URDF, xacro expanded.
        :param floating_base: let the root link move freely; its joint is ``'floating_base'``.
        :param massless_links: links that may move without an ``<inertial>``.
        :raises DescriptionError: naming the joint or link that leaves the dynamics undefined.
        """
        return cls.from_description(parse_urdf(text), floating_base, massless_links)

    @classmethod
    def from_description(
            cls,
            description: RobotDescription,
            floating_base: bool = False,
            massless_links: Iterable[str] = ()) -> Robot:
        """Make a robot from a description that was built in code; see :meth:`from_urdf`."""
        return cls(build_tree(description, floating_base, massless_links))

    def __repr__(self) -> str:
        return f'<Robot {self.name!r}: {len(self.joint_names)} joints, nq {self.nq}, nv {self.nv}>'

    @property
    def tree(self) -> Tree:
        """Return the tree of rigid bodies behind this robot."""
        return self._tree

    @property
    def name(self) -> str:
        """Return the name that the description gives."""
        return self._tree.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the independent moving joints, in the order of all vectors."""
        return tuple(self._tree.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Return all links, the root link first, depth first."""
        return tuple(self._tree.links)

    @property
    def nq(self) -> int:
        """Return the length of a position vector."""
        return self._tree.nq

    @property
    def nv(self) -> int:
        """Return the length of velocity, acceleration and effort vectors."""
        return self._tree.nv

    @property
    def effort_limits(self) -> Array:
        """Return the largest magnitude of each effort, shape (nv,) [Nm or N]; infinite if none."""
        return self._tree.effort_limits

    def inverse_dynamics(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Mapping[str, ArrayLike | Wrench] | None = None,
            gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return the effort that a motion needs, viscous joint damping included.

        :param q: positions, shape (nq,) or (N, nq) [rad or m].
        :param qd: velocities, shape (nv,) or (N, nv).
        :param qdd: accelerations, shape (nv,) or (N, nv).
        :param f_ext: what the environment does to the robot: by link name, six numbers
            [moment; force] in that link's frame, or a :class:`Wrench` in another; rows allowed.
        :param gravity: acceleration of free fall in the world's axes (those of the root link of
            a robot with a fixed base), shape (3,) [m/s^2]; by default (0, 0, −9.81).
        :param out: written and returned where given, float64 of the result's shape.
        :return: efforts, shape (nv,) or (N, nv) [Nm or N].
        :raises ArgumentError: where a size, name or value does not fit this robot.
        """
        call = _Call(self._tree, gravity, q=q, qd=qd, qdd=qdd)
        rigid = call.rigid_bodies(call.q, call.qd, call.qdd, call.gravity, call.wrenches(f_ext))
        return call.result(_sum(rigid, joint_friction(self._tree, call.qd)), out)

    def gravity(self, q: ArrayLike, gravity: ArrayLike | None = None) -> Array:
        """
        Return the effort that holds the robot still against gravity.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        call = _Call(self._tree, gravity, q=q)
        return call.result(call.rigid_bodies(call.q, call.zeros, call.zeros, call.gravity))

    def bias(self, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike | None = None) -> Array:
        """
        Return the effort that keeps the velocity as it is: C(q, q̇) q̇ + g(q) + damping.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        call = _Call(self._tree, gravity, q=q, qd=qd)
        rigid = call.rigid_bodies(call.q, call.qd, call.zeros, call.gravity)
        return call.result(_sum(rigid, joint_friction(self._tree, call.qd)))

    def effort_terms(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Mapping[str, ArrayLike | Wrench] | None = None,
            gravity: ArrayLike | None = None) -> EffortTerms:
        """
        Return the terms whose sum is :meth:`inverse_dynamics`, each computed by itself.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        call = _Call(self._tree, gravity, q=q, qd=qd, qdd=qdd)
        weightless = Vector(0.0, 0.0, 0.0)
        terms = [call.result(term) for term in (
            call.rigid_bodies(call.q, call.zeros, call.zeros, call.gravity),
            call.rigid_bodies(call.q, call.qd, call.zeros, weightless),
            call.rigid_bodies(call.q, call.zeros, call.qdd, weightless),
            joint_friction(self._tree, call.qd),
            call.rigid_bodies(
                call.q, call.zeros, call.zeros, weightless, call.wrenches(f_ext)))]
        gravity_term, coriolis, inertia, friction, external = terms
        return EffortTerms(
            gravity_term, coriolis, inertia, friction, external, np.sum(terms, axis=0))


class _Call:
    """One call's arguments, checked and split into numbers: floats, or columns of a batch."""

    def __init__(self, tree: Tree, gravity: ArrayLike | None, **vectors: ArrayLike) -> None:
        self._tree = tree
        arrays = {name: _floats(name, value) for name, value in vectors.items()}
        self.rows = len(arrays['q']) if arrays['q'].ndim == 2 else None
        self.zeros: list[Number] = [0.0] * tree.nv
        self.q = self._split('q', arrays, tree.nq)
        self.qd = self._split('qd', arrays, tree.nv)
        self.qdd = self._split('qdd', arrays, tree.nv)
        _check_quaternions(tree, self.q)
        self.gravity = Vector(*_gravity(gravity))

    def _split(self, name: str, arrays: Mapping[str, Array], size: int) -> list[Number]:
        """Return one vector's numbers, in floats or columns; zeros where it is not given."""
        if name not in arrays:
            return self.zeros
        array = arrays[name]
        shape = (size,) if self.rows is None else (self.rows, size)
        if array.shape != shape:
            joints = ', '.join(self._tree.joints)
            raise ArgumentError(
                f'{name} has shape {array.shape}; {self._tree.name!r} needs {shape} '
                f'for its joints {joints}')
        return list(array.T) if array.ndim == 2 else array.tolist()

    def rigid_bodies(
            self,
            q: list[Number],
            qd: list[Number],
            qdd: list[Number],
            gravity: Vector,
            wrenches: dict[str, tuple[Force, str | Frame]] | None = None) -> list[Number]:
        """Return the effort of the rigid bodies alone."""
        with np.errstate(invalid='ignore', over='ignore'):  # the result tells
            f_ext = body_forces(self._tree, q, wrenches) if wrenches else None
            return rnea.inverse_dynamics(self._tree, q, qd, qdd, gravity, f_ext)

    def wrenches(
            self, f_ext: Mapping[str, ArrayLike | Wrench] | None,
            ) -> dict[str, tuple[Force, str | Frame]]:
        """Return f_ext with its names checked and its values split into numbers."""
        checked: dict[str, tuple[Force, str | Frame]] = {}
        for link, given in (f_ext or {}).items():
            wrench = given if isinstance(given, Wrench) else Wrench(given)
            frame = link if wrench.frame is None else wrench.frame
            _check_link(link, self._tree)
            if frame is not WORLD:
                _check_link(frame, self._tree)
            array = _floats(f'the wrench on {link!r}', wrench.value)
            if array.shape not in ((6,), (self.rows, 6)):
                raise ArgumentError(
                    f'the wrench on {link!r} has shape {array.shape}; '
                    'it needs 6 numbers [moment; force], or a row of 6 for each state')
            numbers = list(array.T) if array.ndim == 2 else array.tolist()
            checked[link] = (Force(Vector(*numbers[:3]), Vector(*numbers[3:])), frame)
        return checked

    def result(self, tau: list[Number], out: Array | None = None) -> Array:
        """Return nv numbers as an array, written into ``out`` where that is given."""
        shape = (self._tree.nv,) if self.rows is None else (self.rows, self._tree.nv)
        if out is None:
            out = np.empty(shape)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
            described = f'{getattr(out, "dtype", type(out).__name__)} {getattr(out, "shape", "")}'
            raise ArgumentError(f'out is {described}; it needs to be a float64 array {shape}')
        elif not out.flags.writeable:
            raise ArgumentError('out is read-only; it needs to be writeable')
        for k, effort in enumerate(tau):
            out[..., k] = effort
        return out


def _floats(name: str, value: ArrayLike) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} is not an array of numbers: {error}') from error


def _gravity(value: ArrayLike | None) -> list[float]:
    array = _floats('gravity', STANDARD_GRAVITY if value is None else value)
    if array.shape != (3,) or not np.all(np.isfinite(array)):
        raise ArgumentError(
            f'gravity is {value!r}; it needs 3 finite numbers [m/s^2], such as (0, 0, -9.81)')
    return array.tolist()


def _sum(left: list[Number], right: list[Number]) -> list[Number]:
    return [a + b for a, b in zip(left, right)]


def check_quaternion(joint: str, quaternion: ArrayLike) -> None:
    """
    Check that quaternions (x, y, z, w) have length 1; where one is not a number, nothing is.

    :param quaternion: shape (4,), or (4, N) for a batch.
    :raises ArgumentError: naming the joint and the length that is furthest from 1.
    """
    excess = np.abs(np.linalg.norm(quaternion, axis=0) - 1.0)
    if np.any(excess > QUATERNION_TOLERANCE):
        length = np.ravel(np.linalg.norm(quaternion, axis=0))[np.nanargmax(excess)]
        raise ArgumentError(
            f'the quaternion (x, y, z, w) of joint {joint!r} has length {length:.6g}; '
            'it needs length 1')


def _check_quaternions(tree: Tree, q: list[Number]) -> None:
    for body in tree.bodies:
        if body.type is JointType.FLOATING:
            check_quaternion(body.joint, q[body.q_slice][3:])


def _check_link(name: object, tree: Tree) -> None:
    if not isinstance(name, str) or name not in tree.links:
        hint = did_you_mean(str(name), tree.links) or f'; its links are {", ".join(tree.links)}'
        raise ArgumentError(f'{tree.name!r} has no link {name!r}{hint}')
