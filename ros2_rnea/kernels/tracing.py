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
From the textbook to a graph: a quantity computed with symbols in the place of numbers.

What may change while a robot runs is an input of its kernels: besides the motion, an array of
*parameters* (:mod:`ros2_rnea.dynamics.parameters`), which all kernels of a robot share.  Which of
them enter a kernel at all is its *variant*: the others count as zero, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS, ParameterLayout
from ros2_rnea.dynamics.quantity_definition import (
    DynamicsInputs,
    INERTIA,
    Quantity,
    WRENCHES,
)
from ros2_rnea.dynamics.regressor import inertia_from
from ros2_rnea.kernels.graph import Expression, Graph, Symbol
from ros2_rnea.model.reduction import reduced
from ros2_rnea.model.tree import Body, Tree
from ros2_rnea.spatial import Force, Vector

PARAMETERS = 'parameters'

QUATERNION_BOUND = 1.99e-3
"""Deviation of a quaternion's squared length from 1 beyond which Python checks the state."""


class Variant(NamedTuple):
    """
    Which options a kernel has.

    :ivar joint_parameters: those of ``JOINT_PARAMETERS`` that enter, in their order.
    :ivar payloads: the bodies that may carry a payload.
    :ivar wrenches: an external wrench on each body.
    """

    joint_parameters: tuple[str, ...] = ()
    payloads: tuple[int, ...] = ()
    wrenches: bool = False

    @classmethod
    def of(cls, tree: Tree, payloads: Iterable[int]) -> Variant:
        """
        Return what a robot needs: the parameters that are not zero in all of its joints.

        :param payloads: the bodies that carry one.
        """
        return cls(
            tuple(name for name in JOINT_PARAMETERS
                  if any(getattr(body, name) for body in tree.bodies)),
            tuple(sorted(payloads)))

    def relevant_to(self, quantity: Quantity) -> Variant:
        """Return this variant without the options that do not enter a quantity."""
        return Variant(
            tuple(name for name in self.joint_parameters if name in quantity.depends_on),
            self.payloads if INERTIA in quantity.depends_on else (),
            self.wrenches and WRENCHES in quantity.depends_on)


class KernelSpec(NamedTuple):
    """
    What a kernel computes.

    :ivar function: ``one`` or ``rows``.
    :ivar variant: without what the quantity does not depend on.
    """

    function: str
    quantity: Quantity
    variant: Variant

    @property
    def name(self) -> tuple[str, str, Variant]:
        """Return what identifies it among the kernels of the same robot."""
        return self.function, self.quantity.name, self.variant


class Guard(NamedTuple):
    """
    A number that a kernel checks: if its magnitude exceeds the bound, Python computes instead.

    :ivar nan: whether NaN is beyond the bound; else it simply passes through to the result.
    """

    value: Expression
    bound: float
    nan: bool = False


@dataclass(frozen=True)
class Trace:
    """
    A quantity as operations on inputs.

    :ivar inputs: names and sizes of the arrays, in the order in which kernels take them.
    :ivar outputs: the result's numbers, row by row.
    :ivar shape: of the result for one state.
    """

    graph: Graph
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[Expression, ...]
    shape: tuple[int, ...]
    guards: tuple[Guard, ...]


def trace(tree: Tree, quantity: Quantity, variant: Variant) -> Trace:
    """
    Return a quantity of a robot as a graph.

    :param tree: of the robot without payloads.  Its joint parameters do not matter: the variant
        says which of them enter, and the array of parameters says their values.
    """
    variant = variant.relevant_to(quantity)
    graph = Graph()
    inputs = tuple(
        (name, input_size(tree, name)) for name in arrays(quantity, variant))
    symbols = {name: graph.inputs(name, size) for name, size in inputs}
    if quantity.same_for_equal_efforts:
        tree = reduced(tree)
    gravity, tree = _with_parameters(tree, variant, symbols[PARAMETERS])
    numbers = quantity.compute(tree, DynamicsInputs(
        **{name: symbols[name] for name in quantity.inputs},
        gravity=gravity,
        f_ext=_body_forces(tree, symbols[WRENCHES]) if variant.wrenches else {}))
    shape = quantity.shape(tree)
    for _ in shape[1:]:
        numbers = [number for row in numbers for number in row]
    guards = [*_quaternion_guards(tree, symbols['q'])] if 'q' in symbols else []
    if quantity.largest_plausible < inf:
        guards += [Guard(number, quantity.largest_plausible, nan=True) for number in numbers]
    return Trace(graph, inputs, tuple(numbers), shape, tuple(guards))


def arrays(quantity: Quantity, variant: Variant) -> tuple[str, ...]:
    """Return the names of a kernel's inputs, in their order."""
    wrenches = (WRENCHES,) if variant.relevant_to(quantity).wrenches else ()
    return (*quantity.inputs, *wrenches, PARAMETERS)


def input_size(tree: Tree, name: str) -> int:
    """Return how many numbers an input of a kernel has."""
    if name == PARAMETERS:
        return ParameterLayout(len(tree.bodies)).size
    return {'q': tree.nq, WRENCHES: 6 * len(tree.bodies)}.get(name, tree.nv)


def _with_parameters(
        tree: Tree, variant: Variant, symbols: Sequence[Symbol]) -> tuple[Vector, Tree]:
    """Return gravity, and the tree with symbols for the parameters of the variant."""
    layout = ParameterLayout(len(tree.bodies))
    bodies = []
    for index, body in enumerate(tree.bodies):
        joint_parameters: dict[str, Any] = {
            name: symbols[layout.joints(name)][index] if name in variant.joint_parameters else 0.0
            for name in JOINT_PARAMETERS}
        bodies.append(replace(body, **joint_parameters))
    for index in variant.payloads:
        body = bodies[index]
        payload = inertia_from(symbols[layout.payload(index)])
        bodies[index] = replace(
            body, inertia=body.inertia + _link_frame(tree, body).to_parent(payload))
    return Vector(*symbols[layout.gravity]), replace(tree, bodies=tuple(bodies))


def _body_forces(tree: Tree, symbols: Sequence[Symbol]) -> dict[int, Force]:
    """Return the wrenches on the bodies, six numbers each in the frame of the body's link."""
    forces = {}
    for index, body in enumerate(tree.bodies):
        numbers = symbols[6 * index:6 * index + 6]
        force = Force(Vector(*numbers[:3]), Vector(*numbers[3:]))
        forces[index] = _link_frame(tree, body).to_parent(force)
    return forces


def _link_frame(tree: Tree, body: Body) -> Any:
    """Return X from a body's frame, which a reduced tree has turned, to its link's."""
    return tree.links[body.link].X_body_to_link


def _quaternion_guards(tree: Tree, q: Sequence[Symbol]) -> Iterator[Guard]:
    for body in tree.bodies:
        if body.type.quaternion is not None:
            x, y, z, w = q[body.q_slice][body.type.quaternion]
            yield Guard(x * x + y * y + z * z + w * w - 1.0, QUATERNION_BOUND)
