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
from ros2_rnea.arguments import Array, Call, check_link, Wrenches
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
from ros2_rnea.model.checks import check_link as check_link_description
from ros2_rnea.model.description import Inertial, LinkDescription, RobotDescription
from ros2_rnea.model.tree import BASE, build_tree, link_inertia, Tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.results import EffortTerms, LinkMotion, Pose
from ros2_rnea.spatial import Number, Vector


class Robot:
    """
    A robot and its dynamics.

    Vectors are in the order of ``joint_names``, which is depth first from the root link with
    children in the description's order; mimic joints have no place of their own.  Revolute,
    continuous, prismatic and helical joints take one position and one velocity, a cylindrical one
    two (turn, slide).  A floating joint takes q = (x, y, z, qx, qy, qz, qw) and v = (angular;
    linear) in body axes, a spherical one the angular part of both, a planar one
    q = (x, y, theta) and v = (vx, vy, omega) in body axes.  SI units.

    Each method takes one state, or N states as the rows of 2-D arrays.  A robot never changes
    and may be used by several threads at once.
    """

    def __init__(self, tree: Tree, payloads: Mapping[str, tuple[str, Inertial]] | None = None,
                 ) -> None:
        self._bare = tree
        self._payloads = MappingProxyType(dict(payloads or {}))
        self._tree = _loaded(tree, self._payloads)

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
        call = Call(self._tree, gravity, q=q, qd=qd, qdd=qdd)
        with _not_finite_is_the_result():
            tau = rnea.inverse_dynamics(
                self._tree, call.q, call.qd, call.qdd, call.gravity, call.body_forces(f_ext))
            tau = _sum(tau, joint_friction(self._tree, call.qd), rotor_effort(
                self._tree, call.qdd))
        return call.result(tau, out)

    def gravity(self, q: ArrayLike, gravity: ArrayLike | None = None) -> Array:
        """
        Return the effort that holds the robot still against gravity.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        call = Call(self._tree, gravity, q=q)
        with _not_finite_is_the_result():
            return call.result(rnea.inverse_dynamics(
                self._tree, call.q, call.zeros, call.zeros, call.gravity))

    def bias(self, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike | None = None) -> Array:
        """
        Return the effort that keeps the velocity as it is: C(q, q̇) q̇ + g(q) + friction.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        call = Call(self._tree, gravity, q=q, qd=qd)
        with _not_finite_is_the_result():
            tau = rnea.inverse_dynamics(
                self._tree, call.q, call.qd, call.zeros, call.gravity)
            return call.result(_sum(tau, joint_friction(self._tree, call.qd)))

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
        call = Call(self._tree, gravity, q=q, qd=qd, qdd=qdd)
        nowhere, rest = Vector(0.0, 0.0, 0.0), call.zeros
        tree = self._tree
        with _not_finite_is_the_result():
            by_term = (
                rnea.inverse_dynamics(tree, call.q, rest, rest, call.gravity),
                rnea.inverse_dynamics(tree, call.q, call.qd, rest, nowhere),
                _sum(rnea.inverse_dynamics(tree, call.q, rest, call.qdd, nowhere),
                     rotor_effort(tree, call.qdd)),
                joint_friction(tree, call.qd),
                rnea.inverse_dynamics(
                    tree, call.q, rest, rest, nowhere, call.body_forces(f_ext)))
        terms = [call.result(term) for term in by_term]
        return EffortTerms(*terms, np.sum(terms, axis=0))  # type: ignore[call-arg]

    def friction(self, qd: ArrayLike) -> Array:
        """Return the joints' friction, viscous and Coulomb, at velocities (nv,) or (N, nv)."""
        call = Call(self._tree, qd=qd)
        return call.result(joint_friction(self._tree, call.qd))

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
        call = Call(self._tree, gravity, q=q, qd=qd, qdd=qdd)
        with _not_finite_is_the_result():
            _, forces = rnea.transmitted_forces(
                self._tree, call.q, call.qd, call.qdd, call.gravity, call.body_forces(f_ext))
        return {body.joint: call.result(list(forces[i]))
                for i, body in enumerate(self._tree.bodies)}

    # ---- from effort to motion ------------------------------------------------------------------

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q), rotors included, shape (nv, nv) or (N, nv, nv); q as elsewhere."""
        call = Call(self._tree, q=q)
        with _not_finite_is_the_result():
            return call.result(mass_matrix(self._tree, call.q))

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """
        Return C(q, q̇) of the Christoffel symbols, shape (nv, nv) or (N, nv, nv).

        C q̇ is the Coriolis and centrifugal effort, and Ṁ − 2C is skew-symmetric.
        """
        call = Call(self._tree, q=q, qd=qd)
        with _not_finite_is_the_result():
            return call.result(coriolis_matrix(self._tree, call.q, call.qd))

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
        call = Call(self._tree, gravity, q=q, qd=qd, tau=tau)
        tree = self._tree
        with _not_finite_is_the_result():
            f_ext_by_body = call.body_forces(f_ext)
            effort = _difference(call.tau, joint_friction(tree, call.qd))
            if tree.mimics:
                bias = rnea.inverse_dynamics(
                    tree, call.q, call.qd, call.zeros, call.gravity, f_ext_by_body)
                qdd = solve_symmetric(mass_matrix(tree, call.q), _difference(effort, bias))
            else:
                qdd = forward_dynamics(
                    tree, call.q, call.qd, effort, call.gravity, f_ext_by_body)
        accelerations = call.result(qdd)
        _check_accelerations(tree, accelerations, call)
        return accelerations

    # ---- links ----------------------------------------------------------------------------------

    def jacobian(self, q: ArrayLike, link: str, frame: Frame | None = None) -> Array:
        """
        Return J with v = J q̇ for a link, shape (6, nv) or (N, 6, nv), rows [angular; linear].

        :param q: positions, shape (nq,) or (N, nq).
        :param frame: None: v is the velocity of the link's origin in the link's axes.  WORLD: of
            what is at the world's origin, in the world's axes.
        """
        check_link(self._tree, link)
        call = Call(self._tree, q=q)
        columns = (jacobian.world_jacobian if frame is WORLD else jacobian.link_jacobian)(
            self._tree, call.q, link)
        return call.result([list(row) for row in zip(*columns)])

    def link_motion(
            self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str) -> LinkMotion:
        """Return how a link moves, physically; with q̈ = 0 its acceleration is J̇ q̇."""
        check_link(self._tree, link)
        call = Call(self._tree, q=q, qd=qd, qdd=qdd)
        moves = jacobian.link_motion(self._tree, call.q, call.qd, call.qdd, link)
        return LinkMotion(*(call.result(list(vector)) for vector in moves))

    def link_poses(self, q: ArrayLike) -> dict[str, Pose]:
        """
        Return where every link is in the world, by name.

        :param q: positions, shape (nq,) or (N, nq); rotations then have shape (N, 3, 3).
        """
        call = Call(self._tree, q=q)
        X_base_to_body = body_transforms(self._tree, call.q)
        poses = {}
        for link in self._tree.links:
            X = link_transform(self._tree, X_base_to_body, link)
            poses[link] = Pose(
                call.result([list(row) for row in X.E.T.rows]), call.result(list(X.r)))
        return poses

    # ---- the whole robot ------------------------------------------------------------------------

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> float | Array:
        """Return half of q̇ᵀ M q̇ [J], one number or shape (N,)."""
        call = Call(self._tree, q=q, qd=qd)
        return call.scalar(energy.kinetic_energy(self._tree, call.q, call.qd))

    def potential_energy(
            self, q: ArrayLike, gravity: ArrayLike | None = None) -> float | Array:
        """Return the energy of the moving weight [J], zero with it at the world's origin."""
        call = Call(self._tree, gravity, q=q)
        return call.scalar(energy.potential_energy(self._tree, call.q, call.gravity))

    def center_of_mass(self, q: ArrayLike) -> Array:
        """Return the centre of the moving mass in the world [m], shape (3,) or (N, 3)."""
        call = Call(self._tree, q=q)
        return call.result(list(energy.center_of_mass(self._tree, call.q)))

    def momentum(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return [angular; linear] momentum about the world's origin, shape (6,) or (N, 6)."""
        call = Call(self._tree, q=q, qd=qd)
        return call.result(list(energy.momentum(self._tree, call.q, call.qd)))

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
        call = Call(self._tree, gravity, q=q, qd=qd, qdd=qdd)
        return call.result(regressor.regressor(
            self._tree, call.q, call.qd, call.qdd, call.gravity))

    @property
    def inertial_parameters(self) -> Array:
        """
        Return φ: (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) of each body, shape (10 bodies,).

        They are those of all links lumped in the body, about its frame's origin, in its axes.
        """
        return np.array(regressor.inertial_parameters(self._tree))

    def with_inertial_parameters(self, parameters: ArrayLike) -> Robot:
        """Return this robot with other φ, payloads then being part of it; shape (10 bodies,)."""
        values = np.asarray(parameters, dtype=float)
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

        :raises ArgumentError: where a joint is missing, or is not one of this robot's.
        """
        if by_joint.keys() != self._tree.joints.keys():
            odd = sorted(by_joint.keys() ^ self._tree.joints.keys())
            raise ArgumentError(
                f'joint {odd[0]!r} is missing or unknown; the joints of {self.name!r} are '
                f'{", ".join(self.joint_names)}')
        return np.array(configuration.flat(
            self._tree, {name: np.atleast_1d(by_joint[name]).tolist() for name in by_joint}))

    # ---- payloads -------------------------------------------------------------------------------

    @property
    def payloads(self) -> Mapping[str, tuple[str, Inertial]]:
        """Return what is attached: the link and the mass properties in its frame, by name."""
        return self._payloads

    def with_payload(self, name: str, link: str, inertial: Inertial) -> Robot:
        """
        Return this robot with a rigid body attached to a link, in place of one of that name.

        Only the body that carries the link is made anew; all else is shared.

        :param name: of the payload.
        :param inertial: mass, centre and inertia in the link's frame.
        :raises RneaError: where the link does not exist or a number is not finite or negative.
        """
        check_link(self._bare, link)
        check_link_description(LinkDescription(f'payload {name}', inertial))
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


def _loaded(tree: Tree, payloads: Mapping[str, tuple[str, Inertial]]) -> Tree:
    """Return the tree with the payloads' inertia; bodies that carry none are shared."""
    bodies = list(tree.bodies)
    for link, inertial in payloads.values():
        frame = tree.links[link]
        if frame.body != BASE:
            body = bodies[frame.body]
            added = frame.X_body_to_link.to_parent(link_inertia(inertial))
            bodies[frame.body] = replace(body, inertia=body.inertia + added)
    return replace(tree, bodies=tuple(bodies)) if payloads else tree


def _not_finite_is_the_result() -> np.errstate:
    return np.errstate(invalid='ignore', over='ignore', divide='ignore')


def _sum(*vectors: list[Number]) -> list[Number]:
    return [sum(numbers[1:], numbers[0]) for numbers in zip(*vectors)]


def _difference(left: list[Number], right: list[Number]) -> list[Number]:
    return [a - b for a, b in zip(left, right)]


def _check_accelerations(tree: Tree, accelerations: Array, call: Call) -> None:
    """Say which joint has nothing to accelerate, where finite efforts gave what is not finite."""
    if np.isfinite(accelerations).all():
        return
    given = np.array([np.isfinite(value).all() for value in (*call.q, *call.qd, *call.tau)])
    if not given.all():
        return
    massless = [body.joint for body in tree.bodies if body.type.nv and not body.armature
                and not any(regressor.parameters_of(body.inertia))]
    about = f', such as {massless[0]!r},' if massless else ''
    raise ArgumentError(
        f'the accelerations of {tree.name!r} are undefined: a joint{about} moves nothing that '
        'has inertia along it; give the link an inertia, or the joint a rotor')
