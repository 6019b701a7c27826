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
What can be asked of a robot: each quantity with its inputs, its shape and how it is computed.

The functions take numbers of any kind.  With floats and NumPy columns they are the textbook's
answer; with the symbols of an expression graph they are the trace that kernels are made from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from ros2_rnea.dynamics import (
    aba,
    coriolis,
    crba,
    derivatives,
    jacobian,
    linear,
    regressor,
    rnea,
)
from ros2_rnea.dynamics.friction import friction_slope, joint_friction
from ros2_rnea.dynamics.parameters import ARMATURE, DAMPING, FRICTION, JOINT_PARAMETERS
from ros2_rnea.dynamics.rotors import rotor_effort
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Force, Motion, Number, Vector, ZERO

Numbers = Any
"""Numbers in nested lists: a vector, or a matrix by rows."""

BEYOND_REASON = 1e12
"""Accelerations beyond this are looked into: the mass matrix may be singular but for rounding."""


@dataclass(frozen=True)
class DynamicsInputs:
    """
    What quantities are computed from: joint vectors and what acts from outside.

    :ivar gravity: acceleration of free fall in the base's axes [m/s^2].
    :ivar f_ext: wrenches that the environment applies, by body, in the body's frame.
    """

    q: Sequence[Number] = ()
    qd: Sequence[Number] = ()
    qdd: Sequence[Number] = ()
    tau: Sequence[Number] = ()
    gravity: Vector = ZERO
    f_ext: Mapping[int, Force] = field(default_factory=dict)


@dataclass(frozen=True)
class Quantity:
    """
    Something that can be asked of a robot.

    :ivar inputs: the vectors it depends on, by their names in :class:`DynamicsInputs`.
    :ivar shape: of the result for one state.
    :ivar depends_on: what enters it beside the motion, of ``ALL``.
    :ivar follows_from_efforts: every tree that needs the same efforts gives the same.
    :ivar plausible: results beyond this are worth a second look; NaN then is too.
    """

    name: str
    inputs: tuple[str, ...]
    shape: Callable[[Tree], tuple[int, ...]]
    compute: Callable[[Tree, DynamicsInputs], Numbers]
    depends_on: tuple[str, ...] = ()
    follows_from_efforts: bool = True
    plausible: float = inf

    def __reduce__(self) -> tuple[Callable[[str], Quantity], tuple[str]]:
        """Pickle as a name, for functions without one cannot be pickled."""
        return of_name, (self.name,)


# What may enter a quantity beside the motion and the parameters of joints.
GRAVITY_FIELD = 'gravity'
INERTIA = 'inertia'
WRENCHES = 'f_ext'

ALL = (GRAVITY_FIELD, INERTIA, *JOINT_PARAMETERS, WRENCHES)


def vector(tree: Tree) -> tuple[int]:
    """Return the shape of efforts and accelerations."""
    return (tree.nv,)


def matrix(tree: Tree) -> tuple[int, int]:
    """Return the shape of the mass matrix and its like."""
    return (tree.nv, tree.nv)


def inverse_dynamics(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return the effort that a motion needs, friction and rotors included."""
    tau = rnea.inverse_dynamics(
        tree, given.q, given.qd, given.qdd, given.gravity, given.f_ext)
    return _sum(tau, joint_friction(tree, given.qd), rotor_effort(tree, given.qdd))


def gravity(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return the effort that holds the robot still."""
    rest = _rest(tree)
    return rnea.inverse_dynamics(tree, given.q, rest, rest, given.gravity)


def bias(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return the effort without acceleration: C q̇ + g + friction."""
    tau = rnea.inverse_dynamics(tree, given.q, given.qd, _rest(tree), given.gravity)
    return _sum(tau, joint_friction(tree, given.qd))


def coriolis_effort(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return C q̇, the Coriolis and centrifugal effort."""
    return rnea.inverse_dynamics(tree, given.q, given.qd, _rest(tree), ZERO)


def inertial_effort(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return M q̈, rotors included."""
    tau = rnea.inverse_dynamics(tree, given.q, _rest(tree), given.qdd, ZERO)
    return _sum(tau, rotor_effort(tree, given.qdd))


def external_effort(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return −Jᵀ f, the effort that stands against external wrenches."""
    rest = _rest(tree)
    return rnea.inverse_dynamics(tree, given.q, rest, rest, ZERO, given.f_ext)


def effort_derivatives(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈, friction and rotors included."""
    by_q, by_qd, by_qdd = derivatives.effort_derivatives(
        tree, given.q, given.qd, given.qdd, given.gravity, given.f_ext)
    for k, slope in enumerate(friction_slope(tree, given.qd)):
        by_qd[k][k] = by_qd[k][k] + slope
    return [by_q, by_qd, by_qdd]


def forward_dynamics(tree: Tree, given: DynamicsInputs) -> Numbers:
    """
    Return the accelerations that efforts cause, joint friction counted against them.

    By articulated bodies; through the mass matrix where mimic joints tie bodies together.
    """
    effort = _difference(given.tau, joint_friction(tree, given.qd))
    if not tree.mimics:
        return aba.forward_dynamics(
            tree, given.q, given.qd, effort, given.gravity, given.f_ext)
    held = rnea.inverse_dynamics(
        tree, given.q, given.qd, _rest(tree), given.gravity, given.f_ext)
    return linear.solve_symmetric(
        crba.mass_matrix(tree, given.q), _difference(effort, held))


LINK_JACOBIAN, WORLD_JACOBIAN = 'jacobian of ', 'world jacobian of '
"""What the names of the quantities of a link start with."""


def link_jacobian(link: str) -> Quantity:
    """Return the Jacobian of a link, in its own frame."""
    return Quantity(
        LINK_JACOBIAN + link, ('q',), lambda tree: (6, tree.nv),
        lambda tree, given: _rows(jacobian.link_jacobian(tree, given.q, link)))


def world_jacobian(link: str) -> Quantity:
    """Return the Jacobian of a link, in the world's frame."""
    return Quantity(
        WORLD_JACOBIAN + link, ('q',), lambda tree: (6, tree.nv),
        lambda tree, given: _rows(jacobian.world_jacobian(tree, given.q, link)))


INVERSE_DYNAMICS = Quantity(
    'inverse_dynamics', ('q', 'qd', 'qdd'), vector, inverse_dynamics, ALL)
GRAVITY = Quantity('gravity', ('q',), vector, gravity, (GRAVITY_FIELD, INERTIA))
BIAS = Quantity(
    'bias', ('q', 'qd'), vector, bias, (GRAVITY_FIELD, INERTIA, DAMPING, FRICTION))
CORIOLIS_EFFORT = Quantity(
    'coriolis_effort', ('q', 'qd'), vector, coriolis_effort, (INERTIA,))
INERTIAL_EFFORT = Quantity(
    'inertial_effort', ('q', 'qdd'), vector, inertial_effort, (INERTIA, ARMATURE))
EXTERNAL_EFFORT = Quantity('external_effort', ('q',), vector, external_effort, (WRENCHES,))
FRICTION_EFFORT = Quantity(
    'friction', ('qd',), vector, lambda tree, given: joint_friction(tree, given.qd),
    (DAMPING, FRICTION))
MASS_MATRIX = Quantity(
    'mass_matrix', ('q',), matrix, lambda tree, given: crba.mass_matrix(tree, given.q),
    (INERTIA, ARMATURE))
CORIOLIS_MATRIX = Quantity(
    'coriolis_matrix', ('q', 'qd'), matrix,
    lambda tree, given: coriolis.coriolis_matrix(tree, given.q, given.qd), (INERTIA,))
FORWARD_DYNAMICS = Quantity(
    'forward_dynamics', ('q', 'qd', 'tau'), vector, forward_dynamics, ALL,
    plausible=BEYOND_REASON)
INVERSE_DYNAMICS_DERIVATIVES = Quantity(
    'inverse_dynamics_derivatives', ('q', 'qd', 'qdd'), lambda tree: (3, tree.nv, tree.nv),
    effort_derivatives, ALL)
REGRESSOR = Quantity(
    'regressor', ('q', 'qd', 'qdd'), lambda tree: (tree.nv, 10 * len(tree.bodies)),
    lambda tree, given: regressor.regressor(
        tree, given.q, given.qd, given.qdd, given.gravity),
    (GRAVITY_FIELD,), follows_from_efforts=False)

EFFORT_TERMS = (
    GRAVITY, CORIOLIS_EFFORT, INERTIAL_EFFORT, FRICTION_EFFORT, EXTERNAL_EFFORT)
"""What inverse dynamics is the sum of."""

BY_NAME = {quantity.name: quantity for quantity in (
    INVERSE_DYNAMICS, GRAVITY, BIAS, CORIOLIS_EFFORT, INERTIAL_EFFORT, EXTERNAL_EFFORT,
    FRICTION_EFFORT, MASS_MATRIX, CORIOLIS_MATRIX, FORWARD_DYNAMICS,
    INVERSE_DYNAMICS_DERIVATIVES, REGRESSOR)}

METHODS = {name: quantity for name, quantity in BY_NAME.items()
           if quantity not in (INERTIAL_EFFORT, EXTERNAL_EFFORT)}
"""Those that a robot has a method of the same name for."""


def of_name(name: str) -> Quantity:
    """
    Return a quantity by its name.

    :raises KeyError: where there is none of that name.
    """
    for prefix, of_link in ((LINK_JACOBIAN, link_jacobian), (WORLD_JACOBIAN, world_jacobian)):
        if name.startswith(prefix):
            return of_link(name.removeprefix(prefix))
    return BY_NAME[name]


def _rest(tree: Tree) -> list[Number]:
    return [0.0] * tree.nv


def _sum(*vectors: Sequence[Number]) -> list[Number]:
    return [sum(numbers[1:], numbers[0]) for numbers in zip(*vectors)]


def _difference(left: Sequence[Number], right: Sequence[Number]) -> list[Number]:
    return [a - b for a, b in zip(left, right)]


def _rows(columns: Sequence[Motion]) -> Numbers:
    return [list(row) for row in zip(*columns)]
