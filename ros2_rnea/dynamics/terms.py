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
The terms whose sum is inverse dynamics.  This is the only place that lists them.

Results, messages, policies and documents iterate over ``TERMS``.  Some terms follow from the
motion of the bodies, by the recursion of :mod:`ros2_rnea.dynamics.rnea`; others arise in the
joints, such as friction.  Inverse dynamics computes the former in one run and adds the latter.

To add a term: write its mechanics in a file of its own, add a row to ``TERMS``, and a field to
``EffortTerms.msg``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ros2_rnea.dynamics import rnea
from ros2_rnea.dynamics.friction import FRICTION_NUMBERS, friction_slope, joint_friction
from ros2_rnea.dynamics.joint_momentum import momentum_of_links
from ros2_rnea.dynamics.parameters import ARMATURE
from ros2_rnea.dynamics.quantity_definition import (
    DynamicsInputs,
    GRAVITY_FIELD,
    INERTIA,
    Numbers,
    Quantity,
    vector,
    WRENCHES,
)
from ros2_rnea.dynamics.rotors import rotor_effort
from ros2_rnea.dynamics.springs import spring_effort, spring_slope
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Number, ZERO

JointEffort = Callable[[Tree, DynamicsInputs], Sequence[Number]]
"""A function that returns nv numbers, each of which depends on the motion of its joint alone."""


@dataclass(frozen=True)
class EffortTerm:
    """
    One term of an effort.

    :ivar name: of the term in results and messages.
    :ivar meaning: what the term does, for documents.
    :ivar quantity: the term computed by itself, and what it depends on.
    :ivar in_joints: the part of it that arises in the joints, where there is one [Nm or N].
    :ivar slope_by_q: the derivative of that part by the position of each joint, where it has one;
        ``slope_by_qd``, by the velocity.
    """

    name: str
    meaning: str
    quantity: Quantity
    in_joints: JointEffort | None = None
    slope_by_q: JointEffort | None = None
    slope_by_qd: JointEffort | None = None

    @property
    def acts_at_rest(self) -> bool:
        """Return whether the robot itself needs the term to stand still, like gravity."""
        return self.quantity.inputs == ('q',) and WRENCHES not in self.quantity.depends_on


def at_rest(tree: Tree) -> list[Number]:
    """Return the velocities or accelerations of a robot that stands still."""
    return [0.0] * tree.nv


def sum_of(*vectors: Sequence[Number]) -> list[Number]:
    """Return the sum of vectors of one length."""
    return [sum(numbers[1:], numbers[0]) for numbers in zip(*vectors)]


def gravity(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return g(q), the effort that holds the links against gravity."""
    rest = at_rest(tree)
    return rnea.inverse_dynamics(tree, given.q, rest, rest, given.gravity)


def coriolis_effort(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return C q̇, the Coriolis and centrifugal effort."""
    return rnea.inverse_dynamics(tree, given.q, given.qd, at_rest(tree), ZERO)


def inertial_effort(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return M q̈, rotors included."""
    tau = rnea.inverse_dynamics(tree, given.q, at_rest(tree), given.qdd, ZERO)
    return sum_of(tau, rotor_effort(tree, given.qdd))


def momentum(tree: Tree, given: DynamicsInputs) -> tuple[Numbers, Numbers]:
    """Return the generalized momentum M q̇, rotors included, and Cᵀ q̇."""
    of_links, transposed = momentum_of_links(tree, given.q, given.qd)
    return sum_of(of_links, rotor_effort(tree, given.qd)), transposed


def external_effort(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return −Jᵀ f, the effort that balances external wrenches."""
    rest = at_rest(tree)
    return rnea.inverse_dynamics(tree, given.q, rest, rest, ZERO, given.f_ext)


def friction(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return the effort that overcomes the friction of the joints."""
    return joint_friction(tree, given.qd)


def spring(tree: Tree, given: DynamicsInputs) -> Numbers:
    """Return the effort against the springs of the joints."""
    return spring_effort(tree, given.q)


GRAVITY = Quantity('gravity', ('q',), vector, gravity, (GRAVITY_FIELD, INERTIA))
CORIOLIS_EFFORT = Quantity(
    'coriolis_effort', ('q', 'qd'), vector, coriolis_effort, (INERTIA,))
INERTIAL_EFFORT = Quantity(
    'inertial_effort', ('q', 'qdd'), vector, inertial_effort, (INERTIA, ARMATURE),
    is_method=False)
FRICTION_EFFORT = Quantity('friction', ('qd',), vector, friction, FRICTION_NUMBERS)
SPRING_EFFORT = Quantity(
    'spring', ('q',), vector, spring, ('spring_stiffness', 'spring_reference'))
EXTERNAL_EFFORT = Quantity(
    'external_effort', ('q',), vector, external_effort, (WRENCHES,), is_method=False)

TERMS = (
    EffortTerm('gravity', 'holds the links against gravity', GRAVITY),
    EffortTerm('coriolis', 'Coriolis and centrifugal', CORIOLIS_EFFORT),
    EffortTerm(
        'inertia', 'M(q) times acceleration', INERTIAL_EFFORT,
        in_joints=lambda tree, given: rotor_effort(tree, given.qdd)),
    EffortTerm(
        'friction', 'joint friction and damping', FRICTION_EFFORT,
        in_joints=friction,
        slope_by_qd=lambda tree, given: friction_slope(tree, given.qd)),
    EffortTerm(
        'spring', 'deflects the springs of the joints', SPRING_EFFORT,
        in_joints=spring,
        slope_by_q=lambda tree, given: spring_slope(tree)),
    EffortTerm(
        'external', 'balances the wrenches that the environment applies', EXTERNAL_EFFORT),
)
"""All terms, in the order in which results and messages have them."""

TERM_NAMES = tuple(term.name for term in TERMS)


def joint_efforts(tree: Tree, given: DynamicsInputs) -> list[Sequence[Number]]:
    """Return the parts of all terms that arise in the joints."""
    return [term.in_joints(tree, given) for term in TERMS if term.in_joints is not None]
