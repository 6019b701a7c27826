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
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike
from ros2_rnea.arguments import Array, Call, check_link, floats, Wrenches
from ros2_rnea.dynamics import configuration, energy, jacobian, regressor, rnea
from ros2_rnea.dynamics.aba import forward_dynamics
from ros2_rnea.dynamics.coriolis import coriolis_matrix
from ros2_rnea.dynamics.crba import mass_matrix
from ros2_rnea.dynamics.friction import joint_friction
from ros2_rnea.dynamics.kinematics import body_transforms, link_transform
from ros2_rnea.dynamics.linear import solve_symmetric
from ros2_rnea.dynamics.rotors import rotor_effort
from ros2_rnea.dynamics.wrenches import Frame, WORLD
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.checks import check_payload
from ros2_rnea.model.description import Inertial, RobotDescription
from ros2_rnea.model.tree import attach, build_tree, Tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.results import EffortTerms, LinkMotion, LinkPose
from ros2_rnea.spatial import Number, Vector


ROUNDING = 1e-15
"""Inertia below this share of the largest in the robot is what rounding leaves of none."""

BEYOND_REASON = 1e12
"""Accelerations beyond this are looked into: the mass matrix may be singular but for rounding."""


class Robot:
    """
    A robot and its dynamics.

    Vectors are in the order of ``joint_names``, which is depth first from the root link with
    children in the description's order; mimic joints have no place of their own.  Revolute,
    continuous, prismatic and helical joints take one position and one velocity, a cylindrical one
    two (turn, slide).  A floating joint takes q = (x, y, z, qx, qy, qz, qw) and v = (angular;
    linear) in body axes, a spherical one the angular part of both, a planar one
    q = (x, y, theta) and v = (vx, vy, omega) in body axes.  SI units.

    Methods of mechanics take one state, or N states as the rows of 2-D arrays; those that add and
    split positions take one.  A robot never changes and may be used by several threads at once.
    """

    def __init__(self, tree: Tree, payloads: Mapping[str, tuple[str, Inertial]] | None = None,
                 ) -> None:
        self._bare = tree
        self._payloads = MappingProxyType(dict(payloads or {}))
        self._tree = attach(tree, self._payloads.values())

    def __reduce__(self) -> tuple[type[Robot], tuple[object, ...]]:
        """Pickle and copy as what it was made from, so that processes can share the work."""
        return type(self), (self._bare, dict(self._payloads))

    @classmethod
    def from_urdf(
            cls,
            text: str,
            floating_base: bool = False,
            massless_links: Iterable[str] = (),
            lump_fixed_joints: bool = True) -> Robot:
        """
        Read a robot from URDF text.

        :param text: URDF, xacro expanded.
        :param floating_base: let the root link move freely; its joint is ``'floating_base'``.
        :param massless_links: links that may move without an ``<inertial>``.
        :param lump_fixed_joints: make one body of links that fixed joints hold together; without
            it, :meth:`joint_wrenches` knows what a fixed joint transmits too.
        :raises DescriptionError: naming the joint or link that leaves the dynamics undefined.
        """
        return cls.from_description(
            parse_urdf(text), floating_base, massless_links, lump_fixed_joints)

    @classmethod
    def from_description(
            cls,
            description: RobotDescription,
            floating_base: bool = False,
            massless_links: Iterable[str] = (),
            lump_fixed_joints: bool = True) -> Robot:
        """Make a robot from a description that was built in code; see :meth:`from_urdf`."""
        return cls(build_tree(description, floating_base, massless_links, lump_fixed_joints))

    def __repr__(self) -> str:
        return f'<Robot {self.name!r}: {len(self.joint_names)} joints, nq {self.nq}, nv {self.nv}>'

    # ---- what there is --------------------------------------------------------------------------

    @property
    def tree(self) -> Tree:
        """Return the tree of rigid bodies behind this robot, payloads included."""
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

    # ---- from motion to effort ------------------------------------------------------------------

    def inverse_dynamics(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Wrenches | None = None,
            gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return the effort that a motion needs, joint friction and rotors included.

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
        with Call(self._tree, gravity, q=q, qd=qd, qdd=qdd) as call:
            tau = rnea.inverse_dynamics(
                self._tree, call.q, call.qd, call.qdd, call.gravity, call.body_forces(f_ext))
            tau = _sum(
                tau, joint_friction(self._tree, call.qd), rotor_effort(self._tree, call.qdd))
            return call.result(tau, self.nv, out=out)

    def gravity(self, q: ArrayLike, gravity: ArrayLike | None = None) -> Array:
        """
        Return the effort that holds the robot still against gravity.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        with Call(self._tree, gravity, q=q) as call:
            return call.result(rnea.inverse_dynamics(
                self._tree, call.q, call.zeros, call.zeros, call.gravity), self.nv)

    def bias(self, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike | None = None) -> Array:
        """
        Return the effort that keeps the velocity as it is: C(q, q̇) q̇ + g(q) + friction.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        with Call(self._tree, gravity, q=q, qd=qd) as call:
            tau = rnea.inverse_dynamics(
                self._tree, call.q, call.qd, call.zeros, call.gravity)
            return call.result(_sum(tau, joint_friction(self._tree, call.qd)), self.nv)

    def effort_terms(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Wrenches | None = None,
            gravity: ArrayLike | None = None) -> EffortTerms:
        """
        Return the terms whose sum is :meth:`inverse_dynamics`, each computed by itself.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        tree, nowhere = self._tree, Vector(0.0, 0.0, 0.0)
        with Call(tree, gravity, q=q, qd=qd, qdd=qdd) as call:
            rest = call.zeros
            by_term = (
                rnea.inverse_dynamics(tree, call.q, rest, rest, call.gravity),
                rnea.inverse_dynamics(tree, call.q, call.qd, rest, nowhere),
                _sum(rnea.inverse_dynamics(tree, call.q, rest, call.qdd, nowhere),
                     rotor_effort(tree, call.qdd)),
                joint_friction(tree, call.qd),
                rnea.inverse_dynamics(
                    tree, call.q, rest, rest, nowhere, call.body_forces(f_ext)))
            terms = [call.result(term, self.nv) for term in by_term]
        return EffortTerms(*terms, np.sum(terms, axis=0))  # type: ignore[call-arg]

    def friction(self, qd: ArrayLike) -> Array:
        """Return the joints' friction, viscous and Coulomb, at velocities (nv,) or (N, nv)."""
        with Call(self._tree, qd=qd) as call:
            return call.result(joint_friction(self._tree, call.qd), self.nv)

    def joint_wrenches(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Wrenches | None = None,
            gravity: ArrayLike | None = None) -> dict[str, Array]:
        """
        Return the whole wrench that each joint passes on, as a force-torque sensor in it reads.

        By joint name, mimics included: [moment; force] that the parent exerts on the child, about
        the child link's origin in its axes, shape (6,) or (N, 6).  Fixed joints are among them
        where the robot was made with ``lump_fixed_joints=False``.  Arguments and errors are those
        of :meth:`inverse_dynamics`.
        """
        with Call(self._tree, gravity, q=q, qd=qd, qdd=qdd) as call:
            forces = rnea.transmitted_forces(
                self._tree, call.q, call.qd, call.qdd, call.gravity, call.body_forces(f_ext))
            return {body.joint: call.result(list(forces[i]), 6)
                    for i, body in enumerate(self._tree.bodies)}

    # ---- from effort to motion ------------------------------------------------------------------

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q), rotors included, shape (nv, nv) or (N, nv, nv); q as elsewhere."""
        with Call(self._tree, q=q) as call:
            return call.result(mass_matrix(self._tree, call.q), self.nv, self.nv)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """
        Return C(q, q̇) of the Christoffel symbols, shape (nv, nv) or (N, nv, nv).

        C q̇ is the Coriolis and centrifugal effort, and Ṁ − 2C is skew-symmetric.
        """
        with Call(self._tree, q=q, qd=qd) as call:
            return call.result(
                coriolis_matrix(self._tree, call.q, call.qd), self.nv, self.nv)

    def forward_dynamics(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            tau: ArrayLike,
            f_ext: Wrenches | None = None,
            gravity: ArrayLike | None = None) -> Array:
        """
        Return the accelerations that efforts cause, joint friction counted against them.

        It inverts :meth:`inverse_dynamics`, whose arguments, shapes and errors these are; by the
        articulated-body algorithm, or through the mass matrix where mimic joints tie bodies.

        :raises ArgumentError: also where a joint moves nothing that has inertia.
        """
        tree = self._tree
        with Call(tree, gravity, q=q, qd=qd, tau=tau) as call:
            forces = call.body_forces(f_ext)
            effort = _difference(call.tau, joint_friction(tree, call.qd))
            if tree.mimics:
                bias = rnea.inverse_dynamics(
                    tree, call.q, call.qd, call.zeros, call.gravity, forces)
                qdd = solve_symmetric(mass_matrix(tree, call.q), _difference(effort, bias))
            else:
                qdd = forward_dynamics(tree, call.q, call.qd, effort, call.gravity, forces)
            accelerations = call.result(qdd, self.nv)
        if not np.all(np.abs(accelerations) < BEYOND_REASON):
            self._check_mass_matrix(q)
        return accelerations

    def _check_mass_matrix(self, q: ArrayLike) -> None:
        """Say so where the mass matrix is singular, and which joint moves nothing."""
        nothing = ROUNDING * np.abs(self.inertial_parameters).max(initial=0.0)
        for M in self.mass_matrix(q).reshape(-1, self.nv, self.nv):
            diagonal = np.diag(M)
            if not np.isfinite(M).all() or np.linalg.eigvalsh(M)[0] > nothing:
                continue
            idle = np.argmin(diagonal)
            joint = next(name for name, index in self._tree.joints.items()
                         if idle in range(*self._tree.bodies[index].v_slice.indices(self.nv)))
            raise ArgumentError(
                f'the accelerations of {self.name!r} are undefined: joint {joint!r} moves an '
                f'inertia of {diagonal[idle]:.3g}; give its link an inertia, or the joint a rotor')

    # ---- links ----------------------------------------------------------------------------------

    def jacobian(self, q: ArrayLike, link: str, frame: Frame | None = None) -> Array:
        """
        Return J with v = J q̇ for a link, shape (6, nv) or (N, 6, nv), rows [angular; linear].

        :param q: positions, shape (nq,) or (N, nq).
        :param frame: None: v is the velocity of the link's origin in the link's axes.  WORLD: of
            what is at the world's origin, in the world's axes.
        """
        check_link(self._tree, link)
        if frame not in (None, WORLD):
            raise ArgumentError(f'the frame of a Jacobian is {frame!r}; it needs None or WORLD')
        with Call(self._tree, q=q) as call:
            columns = (jacobian.link_jacobian if frame is None else jacobian.world_jacobian)(
                self._tree, call.q, link)
            rows = [list(row) for row in zip(*columns)]
            return call.result(rows, 6, self.nv)

    def link_motion(
            self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str) -> LinkMotion:
        """Return how a link moves, physically; with q̈ = 0 its acceleration is J̇ q̇."""
        check_link(self._tree, link)
        with Call(self._tree, q=q, qd=qd, qdd=qdd) as call:
            v, a, linear = jacobian.link_motion(self._tree, call.q, call.qd, call.qdd, link)
            return LinkMotion(
                call.result(list(v), 6), call.result(list(a), 6), call.result(list(linear), 3))

    def link_poses(self, q: ArrayLike) -> dict[str, LinkPose]:
        """
        Return where every link is in the world, by name.

        :param q: positions, shape (nq,) or (N, nq); rotations then have shape (N, 3, 3).
        """
        poses = {}
        with Call(self._tree, q=q) as call:
            X_base_to_body = body_transforms(self._tree, call.q)
            for link in self._tree.links:
                X = link_transform(self._tree, X_base_to_body, link)
                axes = [list(row) for row in X.E.T.rows]
                poses[link] = LinkPose(call.result(axes, 3, 3), call.result(list(X.r), 3))
        return poses

    # ---- the whole robot ------------------------------------------------------------------------

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> float | Array:
        """Return half of q̇ᵀ M q̇ [J], one number or shape (N,)."""
        with Call(self._tree, q=q, qd=qd) as call:
            return call.scalar(energy.kinetic_energy(self._tree, call.q, call.qd))

    def potential_energy(
            self, q: ArrayLike, gravity: ArrayLike | None = None) -> float | Array:
        """Return the energy of the moving weight [J], zero with it at the world's origin."""
        with Call(self._tree, gravity, q=q) as call:
            return call.scalar(energy.potential_energy(self._tree, call.q, call.gravity))

    def center_of_mass(self, q: ArrayLike) -> Array:
        """Return the centre of the moving mass in the world [m], shape (3,) or (N, 3)."""
        with Call(self._tree, q=q) as call:
            return call.result(list(energy.center_of_mass(self._tree, call.q)), 3)

    def momentum(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return [angular; linear] momentum about the world's origin, shape (6,) or (N, 6)."""
        with Call(self._tree, q=q, qd=qd) as call:
            return call.result(list(energy.momentum(self._tree, call.q, call.qd)), 6)

    def regressor(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            gravity: ArrayLike | None = None) -> Array:
        """
        Return Y with Y φ the rigid bodies' effort, shape (nv, 10 bodies) or (N, nv, 10 bodies).

        φ is :attr:`inertial_parameters`; friction and rotors are not in Y φ.  Arguments and errors
        are those of :meth:`inverse_dynamics`.
        """
        with Call(self._tree, gravity, q=q, qd=qd, qdd=qdd) as call:
            return call.result(regressor.regressor(
                self._tree, call.q, call.qd, call.qdd, call.gravity),
                self.nv, 10 * len(self._tree.bodies))

    @property
    def inertial_parameters(self) -> Array:
        """
        Return φ: (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) of each body, shape (10 bodies,).

        They are those of all links lumped in the body, about its frame's origin, in its axes.
        """
        return np.array(regressor.inertial_parameters(self._tree))

    def with_inertial_parameters(self, parameters: ArrayLike) -> Robot:
        """Return this robot with other φ, payloads then being part of it; shape (10 bodies,)."""
        values = floats('the inertial parameters', parameters)
        bodies = self._tree.bodies
        if values.shape != (10 * len(bodies),) or not np.isfinite(values).all():
            raise ArgumentError(
                f'inertial parameters of shape {values.shape} are given; {self.name!r} needs '
                f'{10 * len(bodies)} finite numbers')
        inertias = [regressor.inertia_from(row) for row in values.reshape(-1, 10).tolist()]
        return Robot(replace(self._tree, bodies=tuple(
            replace(body, inertia=inertia) for body, inertia in zip(bodies, inertias))))

    # ---- positions ------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """Return the position at which every joint is at its origin, shape (nq,)."""
        return np.array(configuration.neutral(self._tree))

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return where velocity v (nv,), held for a unit of time, leads from q (nq,)."""
        call = self._single(q=q, qd=v)
        return np.array(configuration.integrate(self._tree, call.q, call.qd))

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        """Return the velocity (nv,) that leads from start to end in a unit of time."""
        one, other = self._single(q=start), self._single(q=end)
        return np.array(configuration.difference(self._tree, one.q, other.q))

    def positions_by_joint(self, q: ArrayLike) -> dict[str, list[float]]:
        """Return each joint's own coordinates from a position vector (nq,)."""
        return configuration.positions_by_joint(self._tree, self._single(q=q).q)

    def velocities_by_joint(self, v: ArrayLike) -> dict[str, list[float]]:
        """Return each joint's own numbers from velocities, accelerations or efforts (nv,)."""
        return configuration.velocities_by_joint(self._tree, self._single(qd=v).qd)

    def flat(self, by_joint: Mapping[str, ArrayLike]) -> Array:
        """
        Return the vector of all joints' own numbers, given by name: positions or velocities.

        :raises ArgumentError: where a joint is missing or unknown, or has not as many as it needs.
        """
        lists = {name: np.atleast_1d(floats(f'joint {name!r}', values)).tolist()
                 for name, values in by_joint.items()}
        return np.array(configuration.flat(self._tree, lists))

    # ---- payloads -------------------------------------------------------------------------------

    @property
    def payloads(self) -> Mapping[str, tuple[str, Inertial]]:
        """Return what is attached: the link and the mass properties in its frame, by name."""
        return self._payloads

    def with_payload(self, name: str, link: str, inertial: Inertial) -> Robot:
        """
        Return this robot with a rigid body attached to a link, in place of one of that name.

        Only the body that carries the link is made anew; all else is shared.  On a link that
        nothing moves it changes no effort.

        :param name: of the payload.
        :param inertial: mass, centre and inertia in the link's frame.
        :raises RneaError: where the link does not exist or a number is not finite or negative.
        """
        check_link(self._bare, link)
        check_payload(name, inertial)
        return Robot(self._bare, {**self._payloads, name: (link, inertial)})

    def without_payload(self, name: str) -> Robot:
        """
        Return this robot without a payload.

        :raises ArgumentError: where there is none of that name.
        """
        if name not in self._payloads:
            there = ', '.join(self._payloads) or 'none'
            raise ArgumentError(f'there is no payload {name!r}; there is {there}')
        return Robot(self._bare, {n: p for n, p in self._payloads.items() if n != name})

    def _single(self, **vectors: ArrayLike) -> Call:
        call = Call(self._tree, **vectors)
        if call.rows is not None:
            raise ArgumentError('positions are added and split one at a time, not in rows')
        return call


def _sum(*vectors: list[Number]) -> list[Number]:
    return [sum(numbers[1:], numbers[0]) for numbers in zip(*vectors)]


def _difference(left: list[Number], right: list[Number]) -> list[Number]:
    return [a - b for a, b in zip(left, right)]
