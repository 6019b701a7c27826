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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
import functools
from types import MappingProxyType
from typing import Any
import warnings

import numpy as np
from numpy.typing import ArrayLike
from ros2_rnea.dynamics import quantities, regressor, rnea, terms
from ros2_rnea.dynamics.parameters import RobotParameters
from ros2_rnea.dynamics.quantity_definition import GRAVITY_FIELD, Quantity, WRENCHES
from ros2_rnea.dynamics.wrenches import Frame, WORLD
from ros2_rnea.errors import ArgumentError, counted, did_you_mean, ModelWarning
from ros2_rnea.kernels.call import TAKES_NO_ARGUMENTS
from ros2_rnea.kernels.engines import (
    Compilation,
    Engine,
    engine_of,
    Kernels,
    kernels_of,
)
from ros2_rnea.kernels.tracing import Variant
from ros2_rnea.model.checks import check_payload
from ros2_rnea.model.description import Inertial, OPEN_LOOP_EFFECT, RobotDescription
from ros2_rnea.model.tree import attach, build_tree, payload_inertia, Tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robots.arguments import Array, check_link, floats, Wrenches
from ros2_rnea.robots.evaluator import check_mass_matrix, Evaluator, quantities_behind
from ros2_rnea.robots.kernel_method import kernel_method
from ros2_rnea.robots.observables import Observables
from ros2_rnea.robots.results import EffortTerms


COPY = '_copy_for_calls'
"""The attribute with the copy that calls of kernels refer to; see KernelMethod."""


class Robot(Observables):
    """
    A robot and its dynamics.

    Its vectors are those of :class:`.Coordinates`; SI units.  Methods of mechanics take one state,
    or N states as the rows of 2-D arrays; those that add and split positions take one.  A robot
    never changes and may be used by several threads at once.  A subclass takes the same arguments;
    then :meth:`with_gravity` and its like return one of its own.

    How it is computed is its :class:`Engine`.  A compiled robot makes a kernel when a method is
    first called.  For :meth:`inverse_dynamics` that takes from 20 ms (six joints) to seconds
    (forty); the largest kernels, :meth:`coriolis_matrix` and :meth:`regressor`, take 30 to 40 s
    for thirty joints.  It takes 1 ms where the user's cache folder has the kernel from an earlier
    time; :meth:`compile` does it beforehand.
    """

    def __init__(
            self,
            tree: Tree,
            payloads: Mapping[str, tuple[str, Inertial]] | None = None,
            gravity: ArrayLike | None = None,
            engine: Engine | str | None = None,
            kernels: Kernels | None = None) -> None:
        if not isinstance(tree, Tree):
            raise ArgumentError(
                f'a robot is made of a Tree, not of {type(tree).__name__}; Robot.from_urdf reads '
                'the text of a URDF')
        self._tree_without_payloads = tree
        self._payloads = MappingProxyType(dict(payloads or {}))
        payload_inertias = payload_inertia(tree, self._payloads)
        super().__init__(attach(tree, payload_inertias), gravity)
        self._engine = engine_of(engine)
        self._kernels = kernels or kernels_of(tree, self._engine)
        self._parameters = RobotParameters(tree, self._gravity, payload_inertias)
        self._evaluator = Evaluator(
            self._tree, self._parameters, self._variant(payload_inertias), self._kernels)
        self._kernel_calls: dict[str, Callable[..., Any]] = {}  # see KernelMethod

    def __reduce__(self) -> tuple[type[Robot], tuple[object, ...]]:
        """Pickle and copy as what it was made from: processes can share the work."""
        return type(self), (
            self._tree_without_payloads, dict(self._payloads), self._gravity, self._engine)

    @property
    def tree_without_payloads(self) -> Tree:
        """Return the tree with the joint parameters of this robot, but without its payloads."""
        return self._tree_without_payloads

    def _without_calls(self) -> Robot:
        """Return a copy that shares everything with this robot but the calls of its kernels."""
        if COPY not in vars(self):
            copy = object.__new__(type(self))
            vars(copy).update(self._shared(), _kernel_calls={})
            vars(self).setdefault(COPY, copy)  # another thread may have been first
        return vars(self)[COPY]

    def _update_copy(self) -> None:
        """Give the copy for calls the attributes of this robot; for subclasses that change."""
        if COPY in vars(self):
            copy = vars(self)[COPY]
            vars(copy).update(self._shared())
            copy._update_copy()  # a copied method refers to a copy of the copy

    def _shared(self) -> dict[str, Any]:
        own = {*quantities.METHODS, '_kernel_calls', COPY}
        attributes = vars(self).copy()  # in one step: other threads may add kernel calls
        return {name: value for name, value in attributes.items() if name not in own}

    @property
    def variant(self) -> Variant:
        """Return which of :attr:`parameter_values` enter the kernels of this robot."""
        return self._evaluator.variant

    @property
    def parameter_values(self) -> Array:
        """Return a copy of what the kernels read, laid out as :class:`.ParameterLayout` says."""
        return self._parameters.values.copy()

    @classmethod
    def from_urdf(
            cls,
            text: str,
            floating_base: bool = False,
            massless_links: Iterable[str] = (),
            lump_fixed_joints: bool = True,
            engine: Engine | str | None = None) -> Robot:
        """
        Read a robot from URDF text.

        Loops of the text are open in the robot: :class:`~ros2_rnea.errors.ModelWarning` names what
        closes them, and :class:`.ClosedChain` does.

        :param text: URDF, xacro expanded.
        :param floating_base: let the root link move freely; its joint is ``'floating_base'``.
        :param massless_links: links that may move without an ``<inertial>``.
        :param lump_fixed_joints: make one body of links that fixed joints hold together; without
            it, :meth:`joint_wrenches` knows what a fixed joint transmits too.
        :param engine: how to compute, see :class:`Engine`; by default as the environment variable
            ``ROS2_RNEA_ENGINE`` says, or else the fastest that can be had.
        :raises DescriptionError: naming the joint or link that leaves the dynamics undefined.
        """
        description = parse_urdf(text)
        for closing in description.open_loops:
            warnings.warn(
                f'{closing}: {OPEN_LOOP_EFFECT}; ClosedChain closes it', ModelWarning,
                stacklevel=2)
        return cls.from_description(
            description, floating_base, massless_links, lump_fixed_joints, engine)

    @classmethod
    def from_description(
            cls,
            description: RobotDescription,
            floating_base: bool = False,
            massless_links: Iterable[str] = (),
            lump_fixed_joints: bool = True,
            engine: Engine | str | None = None) -> Robot:
        """Make a robot from a description that was built in code; see :meth:`from_urdf`."""
        tree = build_tree(description, floating_base, massless_links, lump_fixed_joints)
        return cls(tree, engine=engine)

    def __repr__(self) -> str:
        joints = counted(len(self.joint_names), 'joint')
        return f'<{type(self).__name__} {self.name!r}: {joints}, nq {self.nq}, nv {self.nv}>'

    # ---- speed ----------------------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """Return how this robot's dynamics is computed."""
        return self._engine

    def compile(  # noqa: A003
            self, *names: str, wrenches: bool = False, rows: bool = False) -> None:
        """
        Make kernels now instead of in the first call.

        :param names: of methods, such as ``'inverse_dynamics'``.
        :param wrenches: for calls with ``f_ext``; otherwise for calls without.
        :param rows: for batches; otherwise for one state.
        :raises ArgumentError: where a name is none of a method that has a kernel.
        """
        for name in names:
            for quantity in quantities_behind(name):
                self._evaluator.prepare(quantity, wrenches, rows)

    def machine_code(
            self, *names: str, on_compile: Callable[[Compilation], None] = lambda _: None,
            ) -> tuple[bytes, ...]:
        """
        Return the code of kernels for another process, which then need not compile them.

        They are those that single states take, with wrenches and without.

        :param names: of methods, as for :meth:`compile`.
        :param on_compile: called before each compilation; not for a kernel from the cache.
        :return: object files, or tapes of the engine ``tape``; empty for ``textbook``, which
            has no kernels.
        """
        return self._evaluator.code(_quantities(names), on_compile)

    def load_machine_code(self, names: Iterable[str], code: Iterable[bytes]) -> None:
        """
        Use what :meth:`machine_code` of the same robot returned, on this machine.

        It is run, so it must come from a process that is trusted.

        :param names: the methods that it was asked for.
        :param code: all that it returned, in the same order.
        :raises CompilerError: where it is not the code of these kernels: another number of them,
            those of other methods or of another robot, or no code at all.
        """
        self._evaluator.load(_quantities(names), code)

    def bind(
            self, name: str, *vectors: Array, out: Array, f_ext: Array | None = None,
            ) -> Callable[[], Array]:
        """
        Return a method bound to arrays: a function that reads and writes them at each call.

        It is the fastest way to compute the same thing again and again.  A deep copy and a pickle
        of it are bound to copies of the arrays, a shallow copy (``copy.copy``) to the same ones.

        :param name: of the method, such as ``'inverse_dynamics'``; one of those with kernels.
        :param vectors: its first arguments, C-contiguous float64 arrays for one state.
        :param out: such an array, written at each call and returned.  Binding does not write it.
        :param f_ext: such an array of shape (bodies, 6), as in :meth:`inverse_dynamics`.
        :raises ArgumentError: where there is no such method, or an array is not of that kind and
            the right shape.
        """
        if name not in quantities.METHODS:
            raise ArgumentError(
                f'{name!r} cannot be bound to arrays{did_you_mean(name, quantities.METHODS)}; '
                f'there are {", ".join(quantities.METHODS)}')
        quantity = quantities.METHODS[name]
        if len(vectors) != len(quantity.inputs):
            raise ArgumentError(
                f'{name!r} is bound to {len(vectors)} arrays; it needs '
                f'{", ".join(quantity.inputs)}')
        arrays = dict(zip(quantity.inputs, vectors))
        if f_ext is not None:
            arrays['f_ext'] = f_ext
        arrays['out'] = out
        self._evaluator.check_arrays(quantity, arrays)
        function = getattr(type(self), name)
        is_own = function is getattr(Robot, name)  # not that of a subclass
        # A subclass's method may read attributes that change.  The others refer to a copy,
        # because this robot may own what is returned, and then only the garbage collector could
        # free the two.
        robot = self._without_calls() if is_own else self
        general = BoundMethod(robot, name, arrays)
        # An error is better now than in the cycle, and the output may be a command in use.
        BoundMethod(robot, name, {**arrays, 'out': np.empty_like(out)})()
        return self._evaluator.bound(quantity, [*arrays.values()], general) if is_own else general

    # ---- from motion to effort ------------------------------------------------------------------

    @kernel_method
    def inverse_dynamics(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Wrenches | ArrayLike | None = None,
            gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return the effort that a motion needs, joint friction, rotors and springs included.

        :param q: positions, shape (nq,) or (N, nq) [rad or m].
        :param qd: velocities, shape (nv,) or (N, nv) [rad/s or m/s].
        :param qdd: accelerations, shape (nv,) or (N, nv) [rad/s^2 or m/s^2].
        :param f_ext: what the environment does to the robot: by link name, six numbers
            [moment; force] in that link's frame, or a :class:`Wrench` in another; rows allowed.
            Or an array with six numbers for each of :attr:`body_names`, shape (bodies, 6) or
            (N, bodies, 6).
        :param gravity: acceleration of free fall in the world's axes (those of the root link of
            a robot with a fixed base), shape (3,) [m/s^2]; by default the robot's, which is
            (0, 0, −9.81) unless it was made :meth:`with_gravity`.
        :param out: written and returned where given, float64 of the result's shape.
        :return: efforts, shape (nv,) or (N, nv) [Nm or N].
        :raises ArgumentError: where a size, name or value does not fit this robot.
        """
        return self._evaluator.compute(
            quantities.INVERSE_DYNAMICS, f_ext, gravity, out, q=q, qd=qd, qdd=qdd)

    @kernel_method
    def gravity(
            self, q: ArrayLike, gravity: ArrayLike | None = None, out: Array | None = None,
            ) -> Array:
        """
        Return the effort that holds the robot still against gravity.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        return self._evaluator.compute(terms.GRAVITY, None, gravity, out, q=q)

    @kernel_method
    def bias(
            self, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return the effort that keeps the velocity: C(q, q̇) q̇ + g(q) + friction + springs.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        return self._evaluator.compute(quantities.BIAS, None, gravity, out, q=q, qd=qd)

    @kernel_method
    def coriolis_effort(self, q: ArrayLike, qd: ArrayLike, out: Array | None = None) -> Array:
        """Return C(q, q̇) q̇; arguments and errors are those of :meth:`inverse_dynamics`."""
        return self._evaluator.compute(terms.CORIOLIS_EFFORT, None, None, out, q=q, qd=qd)

    @kernel_method
    def friction(self, qd: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the effort that overcomes the joints' friction, all its terms together.

        :param qd: velocities, shape (nv,) or (N, nv) [rad/s or m/s].
        :return: efforts of the same shape [Nm or N]; see :mod:`ros2_rnea.dynamics.friction`.
        """
        return self._evaluator.compute(terms.FRICTION_EFFORT, None, None, out, qd=qd)

    @kernel_method
    def spring(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Return the effort against the joints' springs at positions (nq,) or (N, nq)."""
        return self._evaluator.compute(terms.SPRING_EFFORT, None, None, out, q=q)

    def effort_terms(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Wrenches | ArrayLike | None = None,
            gravity: ArrayLike | None = None) -> EffortTerms:
        """
        Return the terms whose sum is :meth:`inverse_dynamics`, each computed by itself.

        Arguments, shapes and errors are those of :meth:`inverse_dynamics`.
        """
        vectors = {'q': q, 'qd': qd, 'qdd': qdd}
        efforts = [
            self._evaluator.compute(
                quantity,
                f_ext if WRENCHES in quantity.depends_on else None,
                gravity if GRAVITY_FIELD in quantity.depends_on else None,
                None,
                **{name: vectors[name] for name in quantity.inputs})
            for quantity in (term.quantity for term in terms.TERMS)]
        return EffortTerms._make([*efforts, np.sum(efforts, axis=0)])

    @kernel_method
    def inverse_dynamics_derivatives(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            f_ext: Wrenches | ArrayLike | None = None,
            gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈, stacked: shape (3, nv, nv) or (N, 3, nv, nv).

        Each has a row for each effort and a column for each of the nv directions in which a
        position changes, see :meth:`integrate`.  The last one is the mass matrix.  Wrenches stay
        as they are in their body's frame.  Arguments and errors are those of
        :meth:`inverse_dynamics`.
        """
        return self._evaluator.compute(
            quantities.INVERSE_DYNAMICS_DERIVATIVES, f_ext, gravity, out, q=q, qd=qd, qdd=qdd)

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
        with self._call(gravity, q=q, qd=qd, qdd=qdd) as call:
            forces = rnea.transmitted_forces(
                self._tree, call.q, call.qd, call.qdd, call.gravity, call.body_forces(f_ext))
            return {body.joint: call.result(list(forces[i]), 6)
                    for i, body in enumerate(self._tree.bodies)}

    # ---- from effort to motion ------------------------------------------------------------------

    @kernel_method
    def mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Return M(q), rotors included, shape (nv, nv) or (N, nv, nv); q as elsewhere."""
        return self._evaluator.compute(quantities.MASS_MATRIX, None, None, out, q=q)

    @kernel_method
    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, out: Array | None = None) -> Array:
        """
        Return C(q, q̇) of the Christoffel symbols, shape (nv, nv) or (N, nv, nv).

        C q̇ is the Coriolis and centrifugal effort, and Ṁ − 2C is skew-symmetric.
        """
        return self._evaluator.compute(quantities.CORIOLIS_MATRIX, None, None, out, q=q, qd=qd)

    @kernel_method
    def joint_momentum(
            self, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return the generalized momentum M q̇ and its rate without efforts, (2, nv) or (N, 2, nv).

        The rate is Cᵀ q̇ − g − friction − springs, to which the efforts of the motors and of the
        environment add: a momentum observer compares it with the change of the momentum.

        Arguments and errors are those of :meth:`inverse_dynamics`.
        """
        return self._evaluator.compute(
            quantities.JOINT_MOMENTUM, None, gravity, out, q=q, qd=qd)

    @kernel_method
    def forward_dynamics(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            tau: ArrayLike,
            f_ext: Wrenches | ArrayLike | None = None,
            gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return the accelerations that efforts cause against joint friction and springs.

        It inverts :meth:`inverse_dynamics`, whose other arguments, shapes and errors these are; by
        the articulated-body algorithm, or through the mass matrix where mimic joints tie bodies.

        :param tau: efforts, shape (nv,) or (N, nv) [Nm or N].
        :return: accelerations, shape (nv,) or (N, nv) [rad/s^2 or m/s^2].
        :raises ArgumentError: also where a joint moves nothing that has inertia.
        """
        accelerations = self._evaluator.compute(
            quantities.FORWARD_DYNAMICS, f_ext, gravity, out, q=q, qd=qd, tau=tau)
        self._check_plausible(q, accelerations)
        return accelerations

    def forward_dynamics_with_locked_joints(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            tau: ArrayLike,
            held: Iterable[str],
            f_ext: Wrenches | None = None,
            gravity: ArrayLike | None = None) -> Array:
        """
        Return the accelerations that efforts cause while some joints are held, as by a brake.

        The acceleration of a held joint is zero, and its effort in ``tau`` is not used.  Always
        computed by the textbook; other arguments, shapes and errors are those of
        :meth:`forward_dynamics`.

        :param held: names of joints.
        :raises ArgumentError: also where the robot has no such moving joint.
        """
        joints = self._tree.joints
        indices: set[int] = set()
        for name in held:
            if name not in joints:
                raise ArgumentError(
                    f'{self.name!r} has no moving joint {name!r}{did_you_mean(name, joints)}')
            body = self._tree.bodies[joints[name]]
            indices.update(range(*body.v_slice.indices(self.nv)))
        with self._call(gravity, q=q, qd=qd, tau=tau) as call:
            accelerations = call.result(quantities.forward_dynamics_with_locked_joints(
                self._tree, call.dynamics_inputs(call.body_forces(f_ext)), indices), self.nv)
        self._check_plausible(q, accelerations)
        return accelerations

    def _check_plausible(self, q: ArrayLike, accelerations: Array) -> None:
        """Check the mass matrix where accelerations are so large that it may be singular."""
        if not np.all(np.abs(accelerations) < quantities.IMPLAUSIBLE_ACCELERATION):
            M = self._evaluator.compute(quantities.MASS_MATRIX, q=q)  # noqa: N806
            check_mass_matrix(self._evaluator.tree, M)

    # ---- links ----------------------------------------------------------------------------------

    def jacobian(
            self, q: ArrayLike, link: str, frame: str | Frame | None = None,
            out: Array | None = None) -> Array:
        """
        Return J with v = J q̇ for a link, shape (6, nv) or (N, 6, nv), rows [angular; linear].

        :param q: positions, shape (nq,) or (N, nq).
        :param frame: None: v is the velocity of the link's origin in the link's axes.  The name of
            a link: the same velocity in the axes of that link, such as the root link.  WORLD: of
            what is at the world's origin, in the world's axes.
        """
        check_link(self._tree, link)
        if frame is None:
            quantity = quantities.link_jacobian(link)
        elif frame is WORLD:
            quantity = quantities.world_jacobian(link)
        elif isinstance(frame, str):
            check_link(self._tree, frame)
            quantity = quantities.jacobian_in_axes(link, frame)
        else:
            raise ArgumentError(
                f'the frame of a Jacobian is {frame!r}; it needs None, WORLD or a link')
        return self._evaluator.compute(quantity, None, None, out, q=q)

    # ---- inertial parameters --------------------------------------------------------------------

    @kernel_method
    def regressor(
            self,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            gravity: ArrayLike | None = None,
            out: Array | None = None) -> Array:
        """
        Return Y with Y φ the rigid bodies' effort, shape (nv, 10 bodies) or (N, nv, 10 bodies).

        φ is :attr:`inertial_parameters`; friction, rotors and springs are not in Y φ.  Arguments
        and errors are those of :meth:`inverse_dynamics`.
        """
        return self._evaluator.compute(
            quantities.REGRESSOR, None, gravity, out, q=q, qd=qd, qdd=qdd)

    def regression(
            self,
            rows: Quantity,
            q: ArrayLike,
            qd: ArrayLike,
            qdd: ArrayLike,
            tau: ArrayLike,
            out: Array | None = None) -> Array:
        """
        Return the rows of a regression, shape (numbers,) or (N, numbers).

        :param rows: which they are, see :func:`ros2_rnea.dynamics.regression.regression`.
        :param tau: measured efforts, shape (nv,) or (N, nv); the others are those of
            :meth:`inverse_dynamics`.
        """
        return self._evaluator.compute(rows, None, None, out, q=q, qd=qd, qdd=qdd, tau=tau)

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
        tree = replace(self._tree, bodies=tuple(
            replace(body, inertia=inertia) for body, inertia in zip(bodies, inertias)))
        return self._with(tree=tree, payloads=None, kernels=None)

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
        :param inertial: mass, centre of mass and inertia in the link's frame, as in
            ``Inertial(1.5, com=(0, 0, 0.1))``.
        :raises RneaError: where the link does not exist, or a number is not finite or negative, or
            too large for the inertia in the body's frame to be finite.
        """
        check_link(self._tree_without_payloads, link)
        check_payload(name, inertial)
        return self._with(payloads={**self._payloads, name: (link, inertial)})

    def without_payload(self, name: str) -> Robot:
        """
        Return this robot without a payload.

        :raises ArgumentError: where there is none of that name.
        """
        return self._with(payloads=self._payloads_without(name))

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """
        Return this robot where the acceleration of free fall is another, shape (3,) [m/s^2].

        It is cheaper than passing gravity to each call.

        :raises ArgumentError: where it is not three finite numbers.
        """
        return self._with(gravity=gravity)

    def _payloads_without(self, name: str) -> dict[str, tuple[str, Inertial]]:
        if name not in self._payloads:
            there = ', '.join(self._payloads) or 'none'
            raise ArgumentError(f'there is no payload {name!r}; there is {there}')
        return {other: payload for other, payload in self._payloads.items() if other != name}

    def _variant(self, payload_bodies: Iterable[int]) -> Variant:
        """Return which parameters the kernels of this robot read."""
        return Variant.of(self._tree_without_payloads, payload_bodies)

    def _with(self, **other: Any) -> Robot:
        """Return this robot, of the class that does not change, with another argument."""
        return self._fixed_class()(**{
            'tree': self._tree_without_payloads, 'payloads': self._payloads,
            'gravity': self._gravity, 'engine': self._engine, 'kernels': self._kernels, **other})

    def _fixed_class(self) -> type[Robot]:
        """Return the class of robots that are made of this one: its own."""
        return type(self)


class BoundMethod:
    """
    A method of a robot that is bound to arrays, computed by its function in Python.

    :param robot: whose class has the function.
    :param arrays: by the names of the arguments.
    """

    def __init__(self, robot: Robot, name: str, arrays: Mapping[str, Array]) -> None:
        self._robot = robot
        self._name = name
        self._call = functools.partial(getattr(type(robot), name), robot, **arrays)

    def __call__(self, *arguments: Any, **named: Any) -> Array:
        """Compute; there are no arguments."""
        if arguments or named:
            raise TypeError(TAKES_NO_ARGUMENTS)
        return self._call()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        """Pickle and copy as a robot and arrays to bind its method to."""
        return _bind, (self._robot, self._name, self._call.keywords)


def _bind(robot: Robot, name: str, arrays: dict[str, Array]) -> Callable[[], Array]:
    vectors = [arrays[vector] for vector in quantities.METHODS[name].inputs]
    return robot.bind(name, *vectors, out=arrays['out'], f_ext=arrays.get('f_ext'))


def _quantities(names: Iterable[str]) -> list[Quantity]:
    return [quantity for name in names for quantity in quantities_behind(name)]
