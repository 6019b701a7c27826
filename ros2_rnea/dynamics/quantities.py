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

from collections.abc import Collection, Sequence
from dataclasses import replace

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
from ros2_rnea.dynamics.parameters import ARMATURE
from ros2_rnea.dynamics.quantity_definition import (
    ALL,
    DynamicsInputs,
    GRAVITY_FIELD,
    INERTIA,
    matrix,
    Numbers,
    Quantity,
    vector,
    WRENCHES,
)
from ros2_rnea.dynamics.terms import (
    at_rest,
    gravity,
    joint_efforts,
    momentum,
    sum_of,
    TERMS,
)
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Motion, Number

IMPLAUSIBLE_ACCELERATION = 1e12
"""Accelerations beyond this are checked: the mass matrix may be numerically singular."""


def inverse_dynamics(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return the effort that a motion needs, the sum of all ``TERMS``."""
    tau = rnea.inverse_dynamics(
        tree, given.q, given.qd, given.qdd, given.gravity, given.f_ext)
    return sum_of(tau, *joint_efforts(tree, given))


def bias(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return the effort without acceleration and wrenches: C q̇ + g and what joints take."""
    return inverse_dynamics(tree, replace(given, qdd=at_rest(tree), f_ext={}))


def joint_momentum(tree: Tree, given: DynamicsInputs) -> Numbers:
    """
    Return the generalized momentum p = M q̇, and its rate without efforts.

    With efforts τ of the motors and τ_ext of the environment, ṗ = τ + τ_ext + Cᵀ q̇ − g − what
    joints take, because Ṁ = C + Cᵀ.

    A. De Luca and R. Mattone, "Sensorless Robot Collision Detection and Hybrid Force/Motion
    Control", ICRA 2005.

    :return: two rows of nv numbers [Nm s or N s, and Nm or N].
    """
    p, transposed = momentum(tree, given)
    holding = sum_of(gravity(tree, given), *joint_efforts(
        tree, replace(given, qdd=at_rest(tree))))
    return [p, _difference(transposed, holding)]


def effort_derivatives(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ of all ``TERMS``."""
    by_q, by_qd, by_qdd = derivatives.effort_derivatives(
        tree, given.q, given.qd, given.qdd, given.gravity, given.f_ext)
    for term in TERMS:
        for matrix_, slope in ((by_q, term.slope_by_q), (by_qd, term.slope_by_qd)):
            if slope is not None:
                for k, number in enumerate(slope(tree, given)):
                    matrix_[k][k] = matrix_[k][k] + number
    return [by_q, by_qd, by_qdd]


def forward_dynamics(tree: Tree, given: DynamicsInputs) -> Numbers:
    """
    Return the accelerations that efforts cause, what joints take counted against them.

    By articulated bodies; through the mass matrix where mimic joints tie bodies together.
    """
    in_joints = joint_efforts(tree, replace(given, qdd=at_rest(tree)))
    effort = _difference(given.tau, sum_of(*in_joints))
    if not tree.mimics:
        return aba.forward_dynamics(
            tree, given.q, given.qd, effort, given.gravity, given.f_ext)
    held = rnea.inverse_dynamics(
        tree, given.q, given.qd, at_rest(tree), given.gravity, given.f_ext)
    return linear.solve_symmetric(
        crba.mass_matrix(tree, given.q), _difference(effort, held))


def forward_dynamics_with_locked_joints(
        tree: Tree, given: DynamicsInputs, held: Collection[int]) -> Numbers:
    """
    Return the accelerations that efforts cause while some degrees of freedom are held.

    The rows and columns of the free ones in M q̈ = τ − (C q̇ + g + what joints take); a held
    degree of freedom has no acceleration, whatever its effort in τ is.

    :param held: indices of degrees of freedom, 0 to nv − 1.
    """
    free = [i for i in range(tree.nv) if i not in held]
    needed = inverse_dynamics(tree, replace(given, qdd=at_rest(tree)))
    rows = crba.mass_matrix(tree, given.q)
    solved = linear.solve_symmetric(
        [[rows[i][k] for k in free] for i in free], [given.tau[i] - needed[i] for i in free])
    accelerations: list[Number] = [0.0] * tree.nv
    for i, number in zip(free, solved):
        accelerations[i] = number
    return accelerations


LINK_JACOBIAN, WORLD_JACOBIAN = 'jacobian of ', 'world jacobian of '
"""Prefixes of the names of a link's quantities."""


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


def jacobian_in_axes(link: str, axes: str) -> Quantity:
    """Return the Jacobian of a link about its origin, in the axes of another link."""
    return Quantity(
        f'jacobian in the axes of {axes!r} of {link!r}', ('q',), lambda tree: (6, tree.nv),
        lambda tree, given: _rows(jacobian.jacobian_in_axes(tree, given.q, link, axes)))


INVERSE_DYNAMICS = Quantity(
    'inverse_dynamics', ('q', 'qd', 'qdd'), vector, inverse_dynamics, ALL)
BIAS = Quantity(
    'bias', ('q', 'qd'), vector, bias,
    tuple(name for name in ALL if name not in (ARMATURE, WRENCHES)))
MASS_MATRIX = Quantity(
    'mass_matrix', ('q',), matrix, lambda tree, given: crba.mass_matrix(tree, given.q),
    (INERTIA, ARMATURE))
CORIOLIS_MATRIX = Quantity(
    'coriolis_matrix', ('q', 'qd'), matrix,
    lambda tree, given: coriolis.coriolis_matrix(tree, given.q, given.qd), (INERTIA,))
JOINT_MOMENTUM = Quantity(
    'joint_momentum', ('q', 'qd'), lambda tree: (2, tree.nv), joint_momentum,
    tuple(name for name in ALL if name != WRENCHES))
FORWARD_DYNAMICS = Quantity(
    'forward_dynamics', ('q', 'qd', 'tau'), vector, forward_dynamics, ALL,
    largest_plausible=IMPLAUSIBLE_ACCELERATION)
INVERSE_DYNAMICS_DERIVATIVES = Quantity(
    'inverse_dynamics_derivatives', ('q', 'qd', 'qdd'), lambda tree: (3, tree.nv, tree.nv),
    effort_derivatives,
    tuple(name for name in ALL if name not in ('spring_reference', 'friction_offset')))
REGRESSOR = Quantity(
    'regressor', ('q', 'qd', 'qdd'), lambda tree: (tree.nv, 10 * len(tree.bodies)),
    lambda tree, given: regressor.regressor(
        tree, given.q, given.qd, given.qdd, given.gravity),
    (GRAVITY_FIELD,), same_for_equal_efforts=False)

BY_NAME = {quantity.name: quantity for quantity in (
    INVERSE_DYNAMICS, *(term.quantity for term in TERMS), BIAS, MASS_MATRIX, CORIOLIS_MATRIX,
    JOINT_MOMENTUM, FORWARD_DYNAMICS, INVERSE_DYNAMICS_DERIVATIVES, REGRESSOR)}

METHODS = {name: quantity for name, quantity in BY_NAME.items() if quantity.is_method}
"""The quantities for which a robot has a method of the same name."""


def _difference(left: Sequence[Number], right: Sequence[Number]) -> list[Number]:
    return [a - b for a, b in zip(left, right)]


def _rows(columns: Sequence[Motion]) -> Numbers:
    return [list(row) for row in zip(*columns)]
